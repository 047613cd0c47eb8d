// SPDX-License-Identifier: MIT
// lockstep/detail/platform/config.hpp -- the version and what the compiler gives us (layer: platform)
//
// The library defines its LOCKSTEP_ macros in this directory only. No setting changes the layout of a class, but some
// change what functions do: NDEBUG or LOCKSTEP_DIAGNOSE_MISUSE, -fno-exceptions, ThreadSanitizer,
// LOCKSTEP_FORCE_PORTABLE_FUTEX, and the seams (atomic.hpp, system.hpp). So everything lives in an inline namespace
// that names these settings, LOCKSTEP_ABI:
//   - Units with different settings may be linked together: each has its own functions.
//   - A function of one such unit that takes an object of the library cannot be called from another: the linker reports
//     an error that shows the name, as lockstep::v0c::mutex.
//   - An object inside a type of the user's may be passed between such units, because the layout is the same, but not
//     between different futexes or seams. Its owner is diagnosed only if all units of the process are checked.
#ifndef LOCKSTEP_DETAIL_PLATFORM_CONFIG_HPP
#define LOCKSTEP_DETAIL_PLATFORM_CONFIG_HPP

// This check comes first: compilers whose default is C++98, as Apple's long was, stop after twenty errors.
#if __cplusplus < 201103L && !defined(_MSVC_LANG)
#error "lockstep needs C++11: compile with -std=c++11 or later"
#endif

#if defined(__wasm__) && !defined(_REENTRANT)
#error "lockstep needs threads: compile and link with -pthread"
#elif defined(__wasm__) && defined(__clang__) && !defined(__wasm_atomics__)
#error \
    "lockstep needs atomics and memory that threads share: compile and link with -pthread, or -matomics -mbulk-memory"
#endif

#define LOCKSTEP_VERSION_MAJOR 0
#define LOCKSTEP_VERSION_MINOR 9
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

/// 1: misuse of synchronisation objects is diagnosed (detail/wait/misuse.hpp). This is the default in builds without
/// NDEBUG.
#if !defined(LOCKSTEP_DIAGNOSE_MISUSE)
#if defined(NDEBUG)
#define LOCKSTEP_DIAGNOSE_MISUSE 0
#else
#define LOCKSTEP_DIAGNOSE_MISUSE 1
#endif
#endif

// The bodies of functions that are no templates are in src/, which the library compiles. The single header has them
// too, as inline functions: there LOCKSTEP_HEADER_ONLY is 1.
#if !defined(LOCKSTEP_HEADER_ONLY)
#define LOCKSTEP_HEADER_ONLY 0
#endif
/// 1: the unit is the library itself, src/lockstep.cpp.
#if !defined(LOCKSTEP_BUILDS_LIBRARY)
#define LOCKSTEP_BUILDS_LIBRARY 0
#endif

/// In front of the body of a function in src/.
#if LOCKSTEP_HEADER_ONLY
#define LOCKSTEP_INLINE inline
#else
#define LOCKSTEP_INLINE
#endif

/// 1: threads sleep in the portable futex, on every POSIX system. Must be the same in the whole program.
#if !defined(LOCKSTEP_FORCE_PORTABLE_FUTEX)
#define LOCKSTEP_FORCE_PORTABLE_FUTEX 0
#endif

#if defined(__SANITIZE_THREAD__)
#define LOCKSTEP_HAS_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define LOCKSTEP_HAS_TSAN 1
#endif
#endif
#if !defined(LOCKSTEP_HAS_TSAN)
#define LOCKSTEP_HAS_TSAN 0
#endif

#if LOCKSTEP_HAS_TSAN && defined(LOCKSTEP_WITHOUT_THREAD_SANITIZER) && !LOCKSTEP_BUILDS_LIBRARY && \
    !LOCKSTEP_HEADER_ONLY
#error \
    "this build of the library does not serve ThreadSanitizer: build lockstep with LOCKSTEP_THREAD_SANITIZER=ON and BUILD_SHARED_LIBS=OFF, or use lockstep::header_only"
#endif

#if LOCKSTEP_DIAGNOSE_MISUSE
#define LOCKSTEP_ABI_CHECKS v0c
#else
#define LOCKSTEP_ABI_CHECKS v0
#endif
#if LOCKSTEP_HAS_EXCEPTIONS
#define LOCKSTEP_ABI_ERRORS
#else
#define LOCKSTEP_ABI_ERRORS _no_exceptions
#endif
#if defined(LOCKSTEP_ATOMIC_SEAM) || defined(LOCKSTEP_SYSTEM_SEAM)
#define LOCKSTEP_ABI_SYSTEM _seam
#elif LOCKSTEP_FORCE_PORTABLE_FUTEX
#define LOCKSTEP_ABI_SYSTEM _portable
#else
#define LOCKSTEP_ABI_SYSTEM
#endif
#if LOCKSTEP_HAS_TSAN
#define LOCKSTEP_ABI_SANITIZER _tsan
#else
#define LOCKSTEP_ABI_SANITIZER
#endif
#define LOCKSTEP_ABI_JOINED(checks, errors, system, sanitizer) checks##errors##system##sanitizer
#define LOCKSTEP_ABI_NAME(checks, errors, system, sanitizer) \
  LOCKSTEP_ABI_JOINED(checks, errors, system, sanitizer)
/// The inline namespace of everything. It names the version, and the settings that change what functions do.
#define LOCKSTEP_ABI                                                               \
  LOCKSTEP_ABI_NAME(LOCKSTEP_ABI_CHECKS, LOCKSTEP_ABI_ERRORS, LOCKSTEP_ABI_SYSTEM, \
                    LOCKSTEP_ABI_SANITIZER)
#define LOCKSTEP_ABI_TEXT_OF(name) LOCKSTEP_TEXT_OF(name)

// NOINLINE: a slow path, kept out of the fast one. HOT: a function on the way through each region or loop; the linker
// puts them side by side (docs/maintainers/decisions/0081). ALWAYS_INLINE: a call would cost more than the function.
// AT_LOAD: where calls_at_load is true, a module calls the function when it is loaded, in the order of its units. UNLIKELY: a
// condition that is nearly always false. FUNCTION_NAME: the name of the function that it is used in, with its template
// arguments if the compiler prints them. Between the two SIGN_CONVERSIONS an int may become an unsigned argument of the
// user's function without a warning.
#if defined(__GNUC__)
#define LOCKSTEP_NOINLINE __attribute__((noinline))
#define LOCKSTEP_HOT __attribute__((noinline, hot))
#define LOCKSTEP_ALWAYS_INLINE __attribute__((always_inline)) inline
#define LOCKSTEP_AT_LOAD __attribute__((constructor)) static void
#define LOCKSTEP_UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#define LOCKSTEP_FUNCTION_NAME __PRETTY_FUNCTION__
#define LOCKSTEP_BEGIN_SIGN_CONVERSIONS \
  _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wsign-conversion\"")
#define LOCKSTEP_END_SIGN_CONVERSIONS _Pragma("GCC diagnostic pop")
#else
#if defined(_MSC_VER)
#define LOCKSTEP_NOINLINE __declspec(noinline)
#else
#define LOCKSTEP_NOINLINE
#endif
#define LOCKSTEP_HOT LOCKSTEP_NOINLINE
#define LOCKSTEP_ALWAYS_INLINE inline
#define LOCKSTEP_AT_LOAD inline void
#define LOCKSTEP_UNLIKELY(condition) (condition)
#define LOCKSTEP_FUNCTION_NAME __func__
#define LOCKSTEP_BEGIN_SIGN_CONVERSIONS
#define LOCKSTEP_END_SIGN_CONVERSIONS
#endif

/// Before a loop whose iterations may run at the same time.
#if defined(__clang__)
#define LOCKSTEP_INDEPENDENT_ITERATIONS _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define LOCKSTEP_INDEPENDENT_ITERATIONS _Pragma("GCC ivdep")
#else
#define LOCKSTEP_INDEPENDENT_ITERATIONS
#endif
/// Between these two the compiler does not warn of loops in which it cannot do so.
#if defined(__clang__)
#define LOCKSTEP_BEGIN_ATTEMPTS \
  _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wpass-failed\"")
#define LOCKSTEP_END_ATTEMPTS _Pragma("clang diagnostic pop")
#else
#define LOCKSTEP_BEGIN_ATTEMPTS
#define LOCKSTEP_END_ATTEMPTS
#endif

/// Before a function whose result must be used.
#if (__cplusplus >= 201703L) || (defined(_MSVC_LANG) && _MSVC_LANG >= 201703L)
#define LOCKSTEP_NODISCARD [[nodiscard]]
#elif defined(__GNUC__)
#define LOCKSTEP_NODISCARD __attribute__((warn_unused_result))
#else
#define LOCKSTEP_NODISCARD
#endif
/// The same for a function that throws instead of returning false: there is a result to use only without exceptions.
#if LOCKSTEP_HAS_EXCEPTIONS
#define LOCKSTEP_NODISCARD_UNLESS_THROWN
#else
#define LOCKSTEP_NODISCARD_UNLESS_THROWN LOCKSTEP_NODISCARD
#endif

/// Before a function that will be removed. The text says what to write instead.
#if defined(__GNUC__)
#define LOCKSTEP_DEPRECATED(text) __attribute__((deprecated(text)))
#elif defined(_MSC_VER)
#define LOCKSTEP_DEPRECATED(text) __declspec(deprecated(text))
#else
#define LOCKSTEP_DEPRECATED(text)
#endif

/// A public constant. From C++17 on there is one for the whole program, and a module can export it.
#if defined(__cpp_inline_variables)
#define LOCKSTEP_CONSTANT inline constexpr
#else
#define LOCKSTEP_CONSTANT constexpr
#endif

/// After a declaration: the argument of that number is a format of std::printf, and those after it are what it prints.
#if defined(__GNUC__) && !defined(__MINGW32__)  // MinGW has two kinds of printf
#define LOCKSTEP_PRINTS(number) __attribute__((format(printf, number, (number) + 1)))
#else
#define LOCKSTEP_PRINTS(number)
#endif

// Default arguments that give the place of the call, for messages and observers.
#if defined(__GNUC__) || defined(__clang__) || (defined(_MSC_VER) && _MSC_VER >= 1926)
#define LOCKSTEP_CALLER_FILE __builtin_FILE()
#define LOCKSTEP_CALLER_LINE __builtin_LINE()
#else
#define LOCKSTEP_CALLER_FILE nullptr
#define LOCKSTEP_CALLER_LINE 0
#endif

// Static data that every module (executable or shared object) has for itself. Without this, static data of a class
// template would be unique symbols, which keep a plug-in from being unloaded.
#if defined(__ELF__) || defined(__APPLE__)
#define LOCKSTEP_MODULE_LOCAL __attribute__((visibility("hidden")))
#else
#define LOCKSTEP_MODULE_LOCAL
#endif

/// Shows the rest of the enclosing scope on the timeline, under this name, by a trace_scope (trace.hpp).
#define LOCKSTEP_TRACE_SCOPE(name) LOCKSTEP_TRACE_SCOPE_AT(name, __LINE__)
#define LOCKSTEP_TRACE_SCOPE_AT(name, line) LOCKSTEP_TRACE_SCOPE_OF(name, line)
#define LOCKSTEP_TRACE_SCOPE_OF(name, line) \
  const ::lockstep::trace_scope lockstep_trace_scope_##line(name)

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

constexpr bool diagnoses_misuse = LOCKSTEP_DIAGNOSE_MISUSE != 0;
constexpr bool builds_library = LOCKSTEP_BUILDS_LIBRARY != 0;
#if defined(__GNUC__)
constexpr bool calls_at_load = true;
#else
constexpr bool calls_at_load = false;
#endif

/// Converts a number to a type that is its own type on some systems. There GCC warns that a plain cast is useless.
template <class To, class From>
constexpr To converted(From number) noexcept {
  return static_cast<To>(number);
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_PLATFORM_CONFIG_HPP
