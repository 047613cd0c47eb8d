// SPDX-License-Identifier: MIT
// openmp/runtime/critical.hpp -- what atomic operations exclude each other by that the processor does not have
#ifndef LOCKSTEP_OPENMP_RUNTIME_CRITICAL_HPP
#define LOCKSTEP_OPENMP_RUNTIME_CRITICAL_HPP

#include <lockstep/mutex.hpp>

namespace lockstep::openmp {

inline constinit lockstep::mutex atomic_lock;

/// One at a time in the process, as long as it lives: a variable may be changed by programs of two compilers.
class atomic_section {
 public:
  atomic_section() noexcept { begin(); }
  ~atomic_section() { end(); }
  atomic_section(const atomic_section&) = delete;
  atomic_section& operator=(const atomic_section&) = delete;

  static void begin() noexcept { atomic_lock.lock(); }
  static void end() noexcept { atomic_lock.unlock(); }
};

}  // namespace lockstep::openmp

#endif  // LOCKSTEP_OPENMP_RUNTIME_CRITICAL_HPP
