// SPDX-License-Identifier: MIT
// src/platform/plain_thread.hpp -- a thread that calls a plain function; teams start their workers so (layer: platform)
//
// It is part of the system seam (system.hpp). Unless a test replaces it, it is the thread of posix.hpp or windows.hpp.
#ifndef LOCKSTEP_SRC_PLATFORM_PLAIN_THREAD_HPP
#define LOCKSTEP_SRC_PLATFORM_PLAIN_THREAD_HPP

#include <lockstep/detail/platform/cache_line.hpp>
#include <lockstep/detail/platform/system.hpp>

#if defined(LOCKSTEP_SYSTEM_SEAM)
#include <system_error>
#else
#include "posix.hpp"
#include "windows.hpp"
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

#if defined(LOCKSTEP_SYSTEM_SEAM)
class plain_thread {
 public:
  /// Starts a thread that calls f(of). Returns 0, or the number of the system's error.
  int start(void* (*f)(void*), void* of) {
#if LOCKSTEP_HAS_EXCEPTIONS
    try {
      native_.reset(new system_thread(f, of));
    } catch (const std::system_error& error) {
      return error.code().value();
    }
#else
    native_.reset(new system_thread(f, of));
#endif
    return 0;
  }
  void join() { native_->join(); }

 private:
  owner<system_thread> native_;
};
#else
using plain_thread = native_thread;
#endif

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_PLATFORM_PLAIN_THREAD_HPP
