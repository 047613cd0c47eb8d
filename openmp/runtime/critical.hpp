// SPDX-License-Identifier: MIT
// openmp/runtime/critical.hpp -- the lock for atomic operations that the processor does not have
#ifndef LOCKSTEP_OPENMP_RUNTIME_CRITICAL_HPP
#define LOCKSTEP_OPENMP_RUNTIME_CRITICAL_HPP

#include <lockstep/mutex.hpp>

namespace lockstep::openmp {

inline constinit lockstep::mutex atomic_lock;

/// Lets one thread at a time in the process through, as long as it lives. Programs of two compilers may change one
/// variable.
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
