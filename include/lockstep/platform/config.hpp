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

namespace lockstep {
namespace platform {

constexpr bool diagnoses_misuse = LOCKSTEP_DIAGNOSE_MISUSE != 0;

}  // namespace platform
}  // namespace lockstep

#endif  // LOCKSTEP_PLATFORM_CONFIG_HPP
