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

#define LOCKSTEP_TEXT_OF(tokens) #tokens
#define LOCKSTEP_DOTTED(a, b, c) LOCKSTEP_TEXT_OF(a.b.c)
#define LOCKSTEP_VERSION \
  LOCKSTEP_DOTTED(LOCKSTEP_VERSION_MAJOR, LOCKSTEP_VERSION_MINOR, LOCKSTEP_VERSION_PATCH)

#if defined(__cpp_exceptions) || defined(__EXCEPTIONS) || defined(_CPPUNWIND)
#define LOCKSTEP_HAS_EXCEPTIONS 1
#else
#define LOCKSTEP_HAS_EXCEPTIONS 0
#endif

/// 1: misuse of synchronisation objects is diagnosed (wait/misuse.hpp), as it is by default in builds
/// without NDEBUG. Must be the same in the whole program.
#if !defined(LOCKSTEP_DIAGNOSE_MISUSE)
#if defined(NDEBUG)
#define LOCKSTEP_DIAGNOSE_MISUSE 0
#else
#define LOCKSTEP_DIAGNOSE_MISUSE 1
#endif
#endif

// Slow paths are kept out of line so that the fast path stays small enough to be inlined.
#if defined(__GNUC__)
#define LOCKSTEP_NOINLINE __attribute__((noinline))
#elif defined(_MSC_VER)
#define LOCKSTEP_NOINLINE __declspec(noinline)
#else
#define LOCKSTEP_NOINLINE
#endif

// Static data of which every module (executable or shared object) has its own.
#if defined(__ELF__) || defined(__APPLE__)
#define LOCKSTEP_MODULE_LOCAL __attribute__((visibility("hidden")))
#else
#define LOCKSTEP_MODULE_LOCAL
#endif

namespace lockstep {
namespace platform {

constexpr bool diagnoses_misuse = LOCKSTEP_DIAGNOSE_MISUSE != 0;

}  // namespace platform
}  // namespace lockstep

#endif  // LOCKSTEP_PLATFORM_CONFIG_HPP
