// SPDX-License-Identifier: MIT
// lockstep/platform/config.hpp -- the version and what the compiler gives us (layer: platform)
//
// Every LOCKSTEP_ macro that is *defined* by the library is defined in this directory. None of them
// changes the layout of a class, so units compiled with different settings may be linked together,
// except for the two seam macros (atomic.hpp, system.hpp), which replace types and must be the same
// in the whole program.
#ifndef LOCKSTEP_PLATFORM_CONFIG_HPP
#define LOCKSTEP_PLATFORM_CONFIG_HPP

#define LOCKSTEP_VERSION_MAJOR 0
#define LOCKSTEP_VERSION_MINOR 1
#define LOCKSTEP_VERSION_PATCH 0

#if defined(__cpp_exceptions) || defined(__EXCEPTIONS) || defined(_CPPUNWIND)
#define LOCKSTEP_HAS_EXCEPTIONS 1
#else
#define LOCKSTEP_HAS_EXCEPTIONS 0
#endif

// Slow paths are kept out of line so that the fast path stays small enough to be inlined.
/// 1: misuse of synchronisation objects is diagnosed (wait/misuse.hpp), as it is by default in builds
/// without NDEBUG. Must be the same in the whole program.
#if !defined(LOCKSTEP_DIAGNOSE_MISUSE)
#if defined(NDEBUG)
#define LOCKSTEP_DIAGNOSE_MISUSE 0
#else
#define LOCKSTEP_DIAGNOSE_MISUSE 1
#endif
#endif

#if defined(__GNUC__)
#define LOCKSTEP_NOINLINE __attribute__((noinline))
#elif defined(_MSC_VER)
#define LOCKSTEP_NOINLINE __declspec(noinline)
#else
#define LOCKSTEP_NOINLINE
#endif

/// Before a function whose answer must be looked at.
#if (__cplusplus >= 201703L) || (defined(_MSVC_LANG) && _MSVC_LANG >= 201703L)
#define LOCKSTEP_NODISCARD [[nodiscard]]
#elif defined(__GNUC__)
#define LOCKSTEP_NODISCARD __attribute__((warn_unused_result))
#else
#define LOCKSTEP_NODISCARD
#endif
/// The same, of a function that throws where it would answer false: only without exceptions.
#if LOCKSTEP_HAS_EXCEPTIONS
#define LOCKSTEP_NODISCARD_UNLESS_THROWN
#else
#define LOCKSTEP_NODISCARD_UNLESS_THROWN LOCKSTEP_NODISCARD
#endif

/// Between these two an int may become an unsigned argument of the user's function without a warning.
#if defined(__GNUC__)
#define LOCKSTEP_BEGIN_SIGN_CONVERSIONS \
  _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wsign-conversion\"")
#define LOCKSTEP_END_SIGN_CONVERSIONS _Pragma("GCC diagnostic pop")
#else
#define LOCKSTEP_BEGIN_SIGN_CONVERSIONS
#define LOCKSTEP_END_SIGN_CONVERSIONS
#endif

namespace lockstep {
namespace platform {

constexpr bool diagnoses_misuse = LOCKSTEP_DIAGNOSE_MISUSE != 0;

}  // namespace platform
}  // namespace lockstep

#endif  // LOCKSTEP_PLATFORM_CONFIG_HPP
