// SPDX-License-Identifier: MIT
// lockstep/detail/platform/unwinding.hpp -- why the stack of the calling thread is being unwound (layer: platform)
//
// forced_unwind           what passes through a `catch (...)` when the thread is cancelled or calls pthread_exit();
//                         it has to be thrown again. Only where the system unwinds then (glibc with libstdc++);
//                         elsewhere a type that nobody throws.
// exceptions_in_flight()  exceptions that the calling thread has thrown and not caught yet. Before C++17 the
//                         standard library tells only whether there is one: 0 or 1.
#ifndef LOCKSTEP_DETAIL_PLATFORM_UNWINDING_HPP
#define LOCKSTEP_DETAIL_PLATFORM_UNWINDING_HPP

#include <exception>

#include "config.hpp"

#if LOCKSTEP_HAS_EXCEPTIONS && defined(__GLIBCXX__) && defined(__GLIBC__)
#include <cxxabi.h>
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

#if LOCKSTEP_HAS_EXCEPTIONS && defined(__GLIBCXX__) && defined(__GLIBC__)
using forced_unwind = abi::__forced_unwind;
#else
class forced_unwind {
  forced_unwind() = delete;
};
#endif

inline int exceptions_in_flight() noexcept {
#if !LOCKSTEP_HAS_EXCEPTIONS
  return 0;
#elif defined(__cpp_lib_uncaught_exceptions)
  return std::uncaught_exceptions();
#else
  return std::uncaught_exception() ? 1 : 0;
#endif
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_PLATFORM_UNWINDING_HPP
