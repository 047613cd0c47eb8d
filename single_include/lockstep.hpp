// SPDX-License-Identifier: MIT
// lockstep.hpp -- all of <lockstep/lockstep.hpp> in one file
//
// Made by scripts/amalgamate.py from include/lockstep; change the headers there, then run
// './do single'.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <climits>
#include <cmath>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <errno.h>
#include <exception>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

// lockstep/detail/platform/config.hpp -- the version and what the compiler gives us (layer: platform)
//
// Every LOCKSTEP_ macro that is *defined* by the library is defined in this directory. None of them changes the
// layout of a class, but some change what functions do: NDEBUG or LOCKSTEP_DIAGNOSE_MISUSE, -fno-exceptions,
// LOCKSTEP_FORCE_PORTABLE_FUTEX, and the seams (atomic.hpp, system.hpp). So everything lives in an inline
// namespace that names them, LOCKSTEP_ABI:
//   - Units with different settings may be linked together; each has its own functions.
//   - To pass an object of the library from one such unit to another by its type is an error of the linker, which
//     shows both names: lockstep::abi_1_checked_exceptions::mutex.
//   - An object inside a type of the user's may be passed, for the layout is the same, but not between different
//     futexes or seams. Who owns it is diagnosed only if all units of the process are checked.
#ifndef LOCKSTEP_DETAIL_PLATFORM_CONFIG_HPP
#define LOCKSTEP_DETAIL_PLATFORM_CONFIG_HPP

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

/// 1: misuse of synchronisation objects is diagnosed (detail/wait/misuse.hpp), as it is by default in builds
/// without NDEBUG.
#if !defined(LOCKSTEP_DIAGNOSE_MISUSE)
#if defined(NDEBUG)
#define LOCKSTEP_DIAGNOSE_MISUSE 0
#else
#define LOCKSTEP_DIAGNOSE_MISUSE 1
#endif
#endif

#if LOCKSTEP_DIAGNOSE_MISUSE
#define LOCKSTEP_ABI_CHECKS checked
#else
#define LOCKSTEP_ABI_CHECKS unchecked
#endif
#if LOCKSTEP_HAS_EXCEPTIONS
#define LOCKSTEP_ABI_ERRORS exceptions
#else
#define LOCKSTEP_ABI_ERRORS no_exceptions
#endif
#if defined(LOCKSTEP_ATOMIC_SEAM) || defined(LOCKSTEP_SYSTEM_SEAM)
#define LOCKSTEP_ABI_SYSTEM _seam
#elif defined(LOCKSTEP_FORCE_PORTABLE_FUTEX) && LOCKSTEP_FORCE_PORTABLE_FUTEX
#define LOCKSTEP_ABI_SYSTEM _portable
#else
#define LOCKSTEP_ABI_SYSTEM
#endif
#define LOCKSTEP_ABI_JOINED(checks, errors, system) abi_1_##checks##_##errors##system
#define LOCKSTEP_ABI_NAME(checks, errors, system) LOCKSTEP_ABI_JOINED(checks, errors, system)
/// The inline namespace of everything: its version, and the settings that change what functions do.
#define LOCKSTEP_ABI \
  LOCKSTEP_ABI_NAME(LOCKSTEP_ABI_CHECKS, LOCKSTEP_ABI_ERRORS, LOCKSTEP_ABI_SYSTEM)

// Two ways to take the library. Header-only, the default: each unit has the cold code that it uses. Compiled:
// LOCKSTEP_COMPILED is 1 in each unit, as the CMake target lockstep::compiled defines it; the cold code is in that
// library. A header with cold code declares it LOCKSTEP_COLD, and has the bodies, LOCKSTEP_COLD as well, and the
// headers that only they need in
//   #if LOCKSTEP_HAS_BODIES
//   #endif
// Where they would make it too long, and in public headers, the bodies are in a file X.ipp, which is included there at
// the end. The library itself (src/) is the unit with LOCKSTEP_BUILDS_LIBRARY 1. Units of both ways may be linked: the
// code is the same, and the linker takes one.
#if !defined(LOCKSTEP_COMPILED)
#define LOCKSTEP_COMPILED 0
#endif
#if !defined(LOCKSTEP_BUILDS_LIBRARY)
#define LOCKSTEP_BUILDS_LIBRARY 0
#endif
#if !LOCKSTEP_COMPILED || LOCKSTEP_BUILDS_LIBRARY
#define LOCKSTEP_HAS_BODIES 1
#else
#define LOCKSTEP_HAS_BODIES 0
#endif

// Rarely run: compiled for size, and where calls of it are, the compiler expects to go the other way. Not noinline,
// which GCC warns of in a declaration that is inline; it does not inline cold code into other code.
#if defined(__GNUC__) && !LOCKSTEP_COMPILED
#define LOCKSTEP_COLD __attribute__((cold)) inline
#elif defined(__GNUC__) && (defined(__ELF__) || defined(__APPLE__))
#define LOCKSTEP_COLD __attribute__((cold, visibility("default")))
#elif LOCKSTEP_COMPILED
#define LOCKSTEP_COLD
#else
#define LOCKSTEP_COLD inline
#endif

// Rare, but called by functions of the user that need not be rare: a loop of regions follows the constructor of its
// team. GCC takes a function that calls cold code on every way for cold itself, and its callers too as far as it sees
// the bodies, and compiles them for size. So these are not cold, and noipa (which GCC has from version 8 on) hides what
// they call; a compiler without it must at least not inline them. At the declaration only; the body has none: GCC warns
// where noinline and inline come one after the other.
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 8 && !LOCKSTEP_COMPILED
#define LOCKSTEP_ENTRY __attribute__((noipa)) inline
#elif defined(__GNUC__) && !LOCKSTEP_COMPILED
#define LOCKSTEP_ENTRY __attribute__((noinline)) inline
#elif defined(__GNUC__) && (defined(__ELF__) || defined(__APPLE__))
#define LOCKSTEP_ENTRY __attribute__((visibility("default")))
#elif LOCKSTEP_COMPILED
#define LOCKSTEP_ENTRY
#else
#define LOCKSTEP_ENTRY inline
#endif

// Not rare, but no part of a user's loop either: compiled once in the library, for speed.
#if !LOCKSTEP_COMPILED
#define LOCKSTEP_OUT_OF_LINE inline
#elif defined(__GNUC__) && (defined(__ELF__) || defined(__APPLE__))
#define LOCKSTEP_OUT_OF_LINE __attribute__((visibility("default")))
#else
#define LOCKSTEP_OUT_OF_LINE
#endif

// Slow paths are kept out of line so that the fast path stays small enough to be inlined.
#if defined(__GNUC__)
#define LOCKSTEP_NOINLINE __attribute__((noinline))
#elif defined(_MSC_VER)
#define LOCKSTEP_NOINLINE __declspec(noinline)
#else
#define LOCKSTEP_NOINLINE
#endif

/// Before a loop whose iterations may run several at once.
#if defined(__clang__)
#define LOCKSTEP_INDEPENDENT_ITERATIONS _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define LOCKSTEP_INDEPENDENT_ITERATIONS _Pragma("GCC ivdep")
#else
#define LOCKSTEP_INDEPENDENT_ITERATIONS
#endif
/// Between these two a compiler that cannot do so does not complain.
#if defined(__clang__)
#define LOCKSTEP_BEGIN_ATTEMPTS \
  _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wpass-failed\"")
#define LOCKSTEP_END_ATTEMPTS _Pragma("clang diagnostic pop")
#else
#define LOCKSTEP_BEGIN_ATTEMPTS
#define LOCKSTEP_END_ATTEMPTS
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

/// Between these two an aggregate may be made from fewer values than it has members without a warning.
#if defined(__GNUC__)
// clang-format off: it would cut the string
#define LOCKSTEP_BEGIN_MISSING_INITIALIZERS \
  _Pragma("GCC diagnostic push") \
  _Pragma("GCC diagnostic ignored \"-Wmissing-field-initializers\"")
// clang-format on
#define LOCKSTEP_END_MISSING_INITIALIZERS _Pragma("GCC diagnostic pop")
#else
#define LOCKSTEP_BEGIN_MISSING_INITIALIZERS
#define LOCKSTEP_END_MISSING_INITIALIZERS
#endif

// Default arguments that are the place of the call, for the messages of builds that diagnose misuse.
#if LOCKSTEP_DIAGNOSE_MISUSE && \
    (defined(__GNUC__) || defined(__clang__) || (defined(_MSC_VER) && _MSC_VER >= 1926))
#define LOCKSTEP_CALLER_FILE __builtin_FILE()
#define LOCKSTEP_CALLER_LINE __builtin_LINE()
#else
#define LOCKSTEP_CALLER_FILE nullptr
#define LOCKSTEP_CALLER_LINE 0
#endif

// Static data of which every module (executable or shared object) has its own.
#if defined(__ELF__) || defined(__APPLE__)
#define LOCKSTEP_MODULE_LOCAL __attribute__((visibility("hidden")))
#else
#define LOCKSTEP_MODULE_LOCAL
#endif

// Static data which the modules have in common, also where they hide their symbols: with GNU's linker and compiler for
// all modules, else for those that see each other's symbols.
#if defined(__ELF__) || defined(__APPLE__)
#define LOCKSTEP_SHARED_BY_MODULES __attribute__((visibility("default")))
#else
#define LOCKSTEP_SHARED_BY_MODULES
#endif

#if defined(_MSC_VER) && (defined(_M_X64) || defined(_M_IX86) || defined(_M_ARM64))
#include <intrin.h>
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

constexpr bool diagnoses_misuse = LOCKSTEP_DIAGNOSE_MISUSE != 0;
constexpr bool builds_library = LOCKSTEP_BUILDS_LIBRARY != 0;

/// The polite pause of a polling loop. Lets a hyper-thread sibling run and keeps the memory pipeline from guessing
/// ahead. It costs 4 to 140 cycles depending on the processor (26 ns on the EPYC the project is measured on), so never
/// use a count of pauses as a measure of time.
inline void cpu_relax() noexcept {
#if defined(_MSC_VER) && (defined(_M_X64) || defined(_M_IX86))
  _mm_pause();
#elif defined(_MSC_VER) && defined(_M_ARM64)
  __yield();
#elif defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  // ISB waits for about as long as x86's PAUSE; YIELD is a no-op on most cores.
  __asm__ __volatile__("isb" ::: "memory");
#elif defined(__arm__)
  __asm__ __volatile__("yield" ::: "memory");
#elif defined(__riscv)
  __asm__ __volatile__(".insn i 0x0F, 0, x0, x0, 0x010" ::: "memory");
#elif defined(__powerpc64__)
  __asm__ __volatile__("or 27,27,27" ::: "memory");
#endif
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_PLATFORM_CONFIG_HPP

// lockstep/detail/platform/error.hpp -- how the library refuses bad input (layer: platform)
//
// With exceptions: throws std::invalid_argument (a count) or std::out_of_range (a rank). Without
// (-fno-exceptions): prints the same message to stderr and aborts. Every message names the class, the
// value that was given, and the values that would have been right.
#ifndef LOCKSTEP_DETAIL_PLATFORM_ERROR_HPP
#define LOCKSTEP_DETAIL_PLATFORM_ERROR_HPP

#if LOCKSTEP_HAS_EXCEPTIONS && defined(__GLIBCXX__) && defined(__GLIBC__)
#include <cxxabi.h>
#endif

#if LOCKSTEP_HAS_BODIES
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// The most participants any object takes; more is taken for a wrong argument, not for a wish.
constexpr std::size_t max_participants = 65536;

/// Throw std::invalid_argument, std::logic_error, std::out_of_range; or print and abort.
[[noreturn]] LOCKSTEP_COLD void fail_argument(const char* message);
[[noreturn]] LOCKSTEP_COLD void fail_use(const char* message);
[[noreturn]] LOCKSTEP_COLD void fail_range(const char* object, const char* what, std::size_t value,
                                           std::size_t least, std::size_t most);
[[noreturn]] LOCKSTEP_COLD void fail_rank(const char* object, const char* what, std::size_t rank,
                                          std::size_t count);
/// The same for other exceptions. Requires: the caller includes what defines them.
[[noreturn]] LOCKSTEP_COLD void print_and_abort(const char* message) noexcept;
template <class Exception>
[[noreturn]] LOCKSTEP_NOINLINE void fail(const char* message) {
#if LOCKSTEP_HAS_EXCEPTIONS
  throw Exception(message);
#else
  print_and_abort(message);
#endif
}

/// Returns `value` if it is from `least` to `most`, else fails naming `object`.
inline std::size_t checked_range(const char* object, const char* what, std::size_t value,
                                 std::size_t least, std::size_t most) {
  if (value < least || value > most) fail_range(object, what, value, least, most);
  return value;
}

/// Returns `count` if it is a possible number of participants, else fails naming `object`.
inline std::size_t checked_count(const char* object, const char* what, std::size_t count) {
  return checked_range(object, what, count, 1, max_participants);
}

/// Returns `rank` if it is below `count`, else fails naming `object`.
inline std::size_t checked_rank(const char* object, const char* what, std::size_t rank,
                                std::size_t count) {
  if (rank >= count) fail_rank(object, what, rank, count);
  return rank;
}

// Why the stack of the calling thread is being unwound.

/// What passes through a `catch (...)` when the thread is cancelled or calls pthread_exit(); it has to be thrown again.
/// Only where the system unwinds then (glibc with libstdc++); elsewhere a type that nobody throws.
#if LOCKSTEP_HAS_EXCEPTIONS && defined(__GLIBCXX__) && defined(__GLIBC__)
using forced_unwind = abi::__forced_unwind;
#else
class forced_unwind {
  forced_unwind() = delete;
};
#endif

/// Exceptions that the calling thread has thrown and not caught yet. Before C++17 the standard library tells only
/// whether there is one: 0 or 1.
inline int exceptions_in_flight() noexcept {
#if !LOCKSTEP_HAS_EXCEPTIONS
  return 0;
#elif defined(__cpp_lib_uncaught_exceptions)
  return std::uncaught_exceptions();
#else
  return std::uncaught_exception() ? 1 : 0;
#endif
}

#if LOCKSTEP_HAS_BODIES

[[noreturn]] LOCKSTEP_COLD void print_and_abort(const char* message) noexcept {
  std::fprintf(stderr, "%s\n", message);
  std::abort();
}

[[noreturn]] LOCKSTEP_COLD void fail_argument(const char* message) {
  fail<std::invalid_argument>(message);
}
[[noreturn]] LOCKSTEP_COLD void fail_use(const char* message) { fail<std::logic_error>(message); }

[[noreturn]] LOCKSTEP_COLD void fail_range(const char* object, const char* what, std::size_t value,
                                           std::size_t least, std::size_t most) {
  char message[160];
  std::snprintf(message, sizeof message, "%s: %zu %s given, must be %zu to %zu", object, value,
                what, least, most);
  fail_argument(message);
}

[[noreturn]] LOCKSTEP_COLD void fail_rank(const char* object, const char* what, std::size_t rank,
                                          std::size_t count) {
  char message[160];
  std::snprintf(message, sizeof message, "%s: rank %zu of %zu %s is out of range, must be 0 to %zu",
                object, rank, count, what, count - 1);
  fail<std::out_of_range>(message);
}

#endif

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_PLATFORM_ERROR_HPP

// lockstep/detail/platform/cache_line.hpp -- keeping words of different writers apart (layer: platform)
//
// padded<T>        a T that shares its cache line with nothing else
// aligned_array<T> a fixed number of T on the heap, each at its own alignment
//
// C++11 `new` does not honour alignments above that of max_align_t, hence the array of our own.
//
// The constant is 128 where hardware fetches lines in pairs (x86 since Nehalem) or has lines of 128
// bytes (Apple's and some server AArch64 cores, POWER): there, 64 lets neighbours disturb each other.
#ifndef LOCKSTEP_DETAIL_PLATFORM_CACHE_LINE_HPP
#define LOCKSTEP_DETAIL_PLATFORM_CACHE_LINE_HPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

#if defined(__x86_64__) || defined(_M_X64) || defined(__aarch64__) || defined(_M_ARM64) || \
    defined(__powerpc64__)
constexpr std::size_t cache_line_size = 128;
#elif defined(__s390x__)
constexpr std::size_t cache_line_size = 256;
#else
constexpr std::size_t cache_line_size = 64;
#endif

/// A gap as long as a cache line. Between such gaps lie the fields that other threads read, in an object
/// that its user may place beside hot data of his own: a team on the stack of the thread that runs it
/// took 2.8 to 3.4 t1 a region without, 1.8 with. Works at any alignment of the object, which
/// alignas does not before C++17's `new`.
struct line_gap {
  unsigned char bytes[cache_line_size];
  line_gap() noexcept {}  // not initialised: never read
};

/// A T alone on its cache line. Use in static or automatic storage, as a member, or in aligned_array.
template <class T>
struct alignas(cache_line_size) padded {
  T value;

  padded() : value() {}
  /// A T made from these arguments; one at least, so that copying a padded stays a copy.
  template <class First, class... Rest,
            class = typename std::enable_if<
                !std::is_same<typename std::decay<First>::type, padded>::value>::type>
  explicit padded(First&& first, Rest&&... rest)
      : value(std::forward<First>(first), std::forward<Rest>(rest)...) {}
};

/// Owns what `new` has made, or nothing. As std::unique_ptr, without the rest of <memory>.
template <class T>
class owner {
 public:
  constexpr owner() noexcept : made_(nullptr) {}
  explicit owner(T* made) noexcept : made_(made) {}
  owner(owner&& other) noexcept : made_(other.release()) {}
  owner& operator=(owner&& other) noexcept {
    reset(other.release());
    return *this;
  }
  ~owner() { delete made_; }

  explicit operator bool() const noexcept { return made_ != nullptr; }
  T* get() const noexcept { return made_; }
  T& operator*() const noexcept { return *made_; }
  T* operator->() const noexcept { return made_; }
  void reset(T* other = nullptr) noexcept {
    T* const before = made_;
    made_ = other;
    delete before;
  }
  T* release() noexcept {
    T* const made = made_;
    made_ = nullptr;
    return made;
  }

 private:
  T* made_;
};

/// What is to know of a type to make an array of it.
struct element_type {
  std::size_t size, alignment;
  void (*make)(void* at);     ///< value-initialises it
  void (*destroy)(void* at);  ///< null: there is nothing to do

  template <class T>
  struct of {
    static void make(void* at) { ::new (at) T(); }
    static void destroy(void* at) { static_cast<T*>(at)->~T(); }
    static const element_type value;
  };
};
template <class T>
const element_type element_type::of<T>::value = {
    sizeof(T), alignof(T) > cache_line_size ? alignof(T) : cache_line_size, &of::make,
    std::is_trivially_destructible<T>::value ? nullptr : &of::destroy};

/// The body of aligned_array, once for all types: a team has a dozen.
class any_aligned_array {
 public:
  /// Destroys what was made if an element throws.
  LOCKSTEP_ENTRY any_aligned_array(std::size_t size, const element_type& type);
  LOCKSTEP_ENTRY ~any_aligned_array();
  any_aligned_array(const any_aligned_array&) = delete;
  any_aligned_array& operator=(const any_aligned_array&) = delete;

  void* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return count_; }

 private:
  LOCKSTEP_ENTRY any_aligned_array(const element_type& type, std::size_t room);
  void* at(std::size_t index) const noexcept {
    return static_cast<unsigned char*>(data_) + index * type_.size;
  }

  const element_type& type_;
  void* raw_;
  void* data_;
  std::size_t count_ = 0;
};

#if LOCKSTEP_HAS_BODIES

/// Enough for the values and a line on each side. More than there are addresses stays more than `new` can give.
any_aligned_array::any_aligned_array(const element_type& type, std::size_t room) : type_(type) {
  constexpr std::size_t most = static_cast<std::size_t>(-1) / 2;
  const std::size_t line = type.alignment;
  raw_ = ::operator new(room > (most - 2 * line) / type.size ? most : room * type.size + 2 * line);
  const std::uintptr_t mask = line - 1;
  data_ = reinterpret_cast<void*>((reinterpret_cast<std::uintptr_t>(raw_) + mask) & ~mask);
}

any_aligned_array::any_aligned_array(std::size_t size, const element_type& type)
    : any_aligned_array(type, size) {
  for (; count_ < size; ++count_) type.make(at(count_));
}

any_aligned_array::~any_aligned_array() {
  while (type_.destroy != nullptr && count_ > 0) type_.destroy(at(--count_));
  ::operator delete(raw_);
}

#endif

/// A fixed number of value-initialised T on cache lines of their own: no foreign data begins or ends on
/// them. Throws std::bad_alloc as `new` does.
template <class T>
class aligned_array {
 public:
  explicit aligned_array(std::size_t size)
      : elements_(size, element_type::of<T>::value), data_(static_cast<T*>(elements_.data())) {}

  T& operator[](std::size_t index) noexcept { return data_[index]; }
  const T& operator[](std::size_t index) const noexcept { return data_[index]; }
  std::size_t size() const noexcept { return elements_.size(); }
  T* data() const noexcept { return data_; }

 private:
  any_aligned_array elements_;
  T* data_;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_PLATFORM_CACHE_LINE_HPP

// lockstep/detail/platform/atomic.hpp -- the seam through which all atomics go (layer: platform)
//
// The library uses no std::atomic and no fence but through these names. In production they *are* the
// standard ones. A test program may define LOCKSTEP_ATOMIC_SEAM to a header of its own, in quotes,
// which declares the same names in the same namespace; the shipped code then runs, unchanged, on
// atomics that delay, record or reorder. Units with another seam share no objects with others (config.hpp).
//
// A seam supplies: template <class T> class atomic with load, store, exchange, fetch_add, fetch_sub,
// fetch_or, fetch_and, compare_exchange_strong/weak (explicit orders only), thread_fence, signal_fence.
#ifndef LOCKSTEP_DETAIL_PLATFORM_ATOMIC_HPP
#define LOCKSTEP_DETAIL_PLATFORM_ATOMIC_HPP

#if defined(LOCKSTEP_ATOMIC_SEAM)
#include LOCKSTEP_ATOMIC_SEAM
#else

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

template <class T>
using atomic = std::atomic<T>;

inline void thread_fence(std::memory_order order) noexcept { std::atomic_thread_fence(order); }
inline void signal_fence(std::memory_order order) noexcept { std::atomic_signal_fence(order); }

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// For what is found out or made once, and is no part of a protocol: no seam replaces it.
template <class T>
using unseamed_atomic = std::atomic<T>;

using std::memory_order_acq_rel;
using std::memory_order_acquire;
using std::memory_order_relaxed;
using std::memory_order_release;
using std::memory_order_seq_cst;

/// The word that threads wait on: 32 bits on every system that has a futex.
using wait_word = atomic<std::uint32_t>;

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_PLATFORM_ATOMIC_HPP

// lockstep/detail/platform/clock.hpp -- the two clocks (layer: platform)
//
// monotonic_nanoseconds()  never jumps, is what timeouts use, 25 ns a call here
// tick_clock               the processor's counter, 10 ns a call, for stamps that are many and close;
//                          rate() tells how many ticks a second has (measured once, in 2 ms, where the
//                          system does not say)
//
// Ticks of different CPUs are comparable where the counter is invariant and synchronised, which holds
// for x86 processors of the last 15 years and by definition for AArch64. Elsewhere the tick clock *is*
// the monotonic clock.
//
// Memory order (# marks the line)
//   #  access         order    pairs  why it suffices
//   1  measured       relaxed  -      a number that stands for itself; the first one stays
#ifndef LOCKSTEP_DETAIL_PLATFORM_CLOCK_HPP
#define LOCKSTEP_DETAIL_PLATFORM_CLOCK_HPP

#if defined(_MSC_VER) && (defined(_M_X64) || defined(_M_IX86))
#include <intrin.h>
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// The point of the monotonic clock that never comes.
constexpr std::uint64_t no_deadline = ~std::uint64_t{0};

inline std::uint64_t steady_nanoseconds() noexcept {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                        std::chrono::steady_clock::now().time_since_epoch())
                                        .count());
}

class tick_clock {
 public:
  static std::uint64_t now() noexcept {
#if defined(_MSC_VER) && (defined(_M_X64) || defined(_M_IX86))
    return __rdtsc();
#elif defined(__x86_64__) || defined(__i386__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    std::uint64_t ticks;
    __asm__ __volatile__("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    return steady_nanoseconds();
#endif
  }

  /// Ticks per second. The first call may take 2 ms.
  static double rate() {
    // Not a guarded static: a child of fork() would wait for a thread that measures no more.
    static unseamed_atomic<double> measured{0};
    double known = measured.load(memory_order_relaxed);  // 1
    if (known > 0) return known;
    const double rate = measure_rate();
    return measured.compare_exchange_strong(known, rate, memory_order_relaxed,  // 1
                                            memory_order_relaxed)               // 1
               ? rate
               : known;
  }

  /// A difference of two stamps in nanoseconds.
  static double nanoseconds(std::uint64_t ticks) {
    return static_cast<double>(ticks) * 1e9 / rate();
  }

 private:
  struct both_clocks {
    std::uint64_t time;
    std::uint64_t tick;
  };

  /// The closest of a few readings: one that was preempted in the middle is not the closest.
  static both_clocks read_both() noexcept {
    both_clocks best = {0, 0};
    std::uint64_t closest = ~std::uint64_t{0};
    for (int i = 0; i < 8; ++i) {
      const std::uint64_t before = now(), time = steady_nanoseconds(), after = now();
      if (after - before >= closest) continue;
      closest = after - before;
      best.time = time;
      best.tick = before + closest / 2;
    }
    return best;
  }

  static double measure_rate() {
#if defined(__aarch64__) && !defined(_MSC_VER)
    std::uint64_t frequency;
    __asm__ __volatile__("mrs %0, cntfrq_el0" : "=r"(frequency));
    return static_cast<double>(frequency);
#else
    constexpr std::uint64_t window = 2000000;
    const both_clocks first = read_both();
    while (steady_nanoseconds() - first.time < window) continue;
    const both_clocks last = read_both();
    return static_cast<double>(last.tick - first.tick) * 1e9 /
           static_cast<double>(last.time - first.time);
#endif
  }
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_PLATFORM_CLOCK_HPP

// lockstep/detail/platform/fork.hpp -- what a child process has to put right (layer: platform)
//
// fork() copies the memory, but only the calling thread: tables of threads must forget the others.
//
//   ATFORK-1  Every module that uses a table registers for itself, because a registration ends with its module
//       (dlclose). So one fork() may call the same handlers several times: a fork_section tells the first
//       and the last.
//   ATFORK-2  A fork() in the middle of a registration leaves nothing half done that a child would wait for:
//       the child registers again.
//
// Memory order (# marks the line)
//   #  access        order    pairs  why it suffices
//   1  done.load     acquire  2      who sees it set uses the table: the registration came before
//   2  done.store    release  1      as 1
//   3  holder.load   relaxed  -      only our own number says anything, and we wrote it ourselves
//   4  holder.store  relaxed  -      as 3; written under the lock
#ifndef LOCKSTEP_DETAIL_PLATFORM_FORK_HPP
#define LOCKSTEP_DETAIL_PLATFORM_FORK_HPP

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#else
#include <mutex>
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// From now on, around every fork(): before() and after() on the thread that calls it, child() on the
/// child's only thread; nullptr for nothing. False if the system has no such call, or refuses. Not cold: the
/// registration belongs to the module whose code makes this call.
inline bool call_at_fork(void (*before)(), void (*after)(), void (*child)()) noexcept {
#if defined(__unix__) || defined(__APPLE__)
  return pthread_atfork(before, after, child) == 0;
#else
  (void)before, (void)after, (void)child;
  return false;
#endif
}

/// A lock that begins as zeros: a std::mutex, without what that includes where the system has one of its own.
#if defined(__unix__) || defined(__APPLE__)
class system_mutex {
 public:
  constexpr system_mutex() noexcept = default;
  system_mutex(const system_mutex&) = delete;
  system_mutex& operator=(const system_mutex&) = delete;

  void lock() noexcept { pthread_mutex_lock(&native_); }
  void unlock() noexcept { pthread_mutex_unlock(&native_); }

 private:
  pthread_mutex_t native_ = PTHREAD_MUTEX_INITIALIZER;
};
#else
using system_mutex = std::mutex;
#endif

/// Holds a lock as long as it lives.
template <class Lock>
class holding {
 public:
  explicit holding(Lock& lock) : lock_(lock) { lock_.lock(); }
  ~holding() { lock_.unlock(); }
  holding(const holding&) = delete;
  holding& operator=(const holding&) = delete;

 private:
  Lock& lock_;
};

template <class Handlers>
struct LOCKSTEP_MODULE_LOCAL fork_registration {
  static unseamed_atomic<bool> done;
};
template <class Handlers>
unseamed_atomic<bool> fork_registration<Handlers>::done{false};

/// From the return of this call on, Handlers::before(), after() and child() are called at every fork(), as in
/// call_at_fork(), once or more often (ATFORK-1).
template <class Handlers>
void watch_forks() noexcept {
  unseamed_atomic<bool>& done = fork_registration<Handlers>::done;
  if (done.load(memory_order_acquire)) return;  // 1
  if (call_at_fork(&Handlers::before, &Handlers::after, &Handlers::child)) {
    done.store(true, memory_order_release);  // 2
  }
}

/// A lock that the thread that forks holds meanwhile, for handlers that are called more than once.
class fork_section {
 public:
  constexpr fork_section() noexcept : holder_(0), depth_(0) {}
  fork_section(const fork_section&) = delete;
  fork_section& operator=(const fork_section&) = delete;

  /// For other uses of what is guarded.
  system_mutex& lock() noexcept { return lock_; }

  /// In before(): true in the first call.
  bool enter() {
    if (holder_.load(memory_order_relaxed) == self()) {  // 3
      ++depth_;
      return false;
    }
    lock_.lock();
    holder_.store(self(), memory_order_relaxed);  // 4
    depth_ = 1;
    return true;
  }
  /// In after() and child(): true in the last call, which has to leave().
  bool is_last() noexcept {
    return holder_.load(memory_order_relaxed) == self() && --depth_ == 0;  // 3
  }
  void leave() {
    holder_.store(0, memory_order_relaxed);  // 4
    lock_.unlock();
  }

 private:
  /// No other living thread has this; it is the same in every module, and in the child.
  static std::uintptr_t self() noexcept { return reinterpret_cast<std::uintptr_t>(&errno); }

  system_mutex lock_;
  unseamed_atomic<std::uintptr_t> holder_;
  unsigned depth_;  // the holder's own
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_PLATFORM_FORK_HPP

// lockstep/detail/platform/intrusive_list.hpp -- a list through nodes that belong to others (layer: platform)
//
// The nodes are members of the objects that are listed: the list allocates nothing and owns nothing. Two pointers of
// zero are an empty list, so that lists of static storage need no initialisation. Not locked: each list has a lock
// of its own.
//
//   LIST-1  A node is in one list at most, and stays where it is in memory as long.
//   LIST-2  A node that is in no list has two null links. So has the only node of a list.
//
// Cost   each operation touches at most three nodes and the list.
#ifndef LOCKSTEP_DETAIL_PLATFORM_INTRUSIVE_LIST_HPP
#define LOCKSTEP_DETAIL_PLATFORM_INTRUSIVE_LIST_HPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

template <class Node>
class intrusive_list;

/// The base of `Node`, for intrusive_list<Node>.
template <class Node>
class list_node {
 public:
  constexpr list_node() noexcept : next_(nullptr), previous_(nullptr) {}
  list_node(const list_node&) = delete;
  list_node& operator=(const list_node&) = delete;

  /// The neighbours in the list, or null.
  Node* next() const noexcept { return next_; }
  Node* previous() const noexcept { return previous_; }

 private:
  friend class intrusive_list<Node>;
  Node* next_;
  Node* previous_;
};

/// `Node` may be incomplete where the list is declared.
template <class Node>
class intrusive_list {
 public:
  constexpr intrusive_list() noexcept : first_(nullptr), last_(nullptr) {}

  bool empty() const noexcept { return first_ == nullptr; }
  Node* first() const noexcept { return first_; }
  Node* last() const noexcept { return last_; }

  /// Requires of both: `node` is in no list.
  void push_front(Node& node) noexcept {
    links(node).next_ = first_;
    (first_ != nullptr ? links(*first_).previous_ : last_) = &node;
    first_ = &node;
  }
  void push_back(Node& node) noexcept {
    links(node).previous_ = last_;
    (last_ != nullptr ? links(*last_).next_ : first_) = &node;
    last_ = &node;
  }

  /// Requires: `node` is in this list.
  void remove(Node& node) noexcept {
    list_node<Node>& self = links(node);
    (self.previous_ != nullptr ? links(*self.previous_).next_ : first_) = self.next_;
    (self.next_ != nullptr ? links(*self.next_).previous_ : last_) = self.previous_;
    self.next_ = self.previous_ = nullptr;
  }
  /// For nodes that remain linked when their list is gone.
  static void remove_from_the_rest(Node& node) noexcept {
    list_node<Node>& self = links(node);
    if (self.previous_ != nullptr) links(*self.previous_).next_ = self.next_;
    if (self.next_ != nullptr) links(*self.next_).previous_ = self.previous_;
    self.next_ = self.previous_ = nullptr;
  }
  /// Takes the first node out; null if there is none.
  Node* pop_front() noexcept {
    Node* const node = first_;
    if (node != nullptr) remove(*node);
    return node;
  }

 private:
  static list_node<Node>& links(Node& node) noexcept { return node; }

  Node* first_;
  Node* last_;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_PLATFORM_INTRUSIVE_LIST_HPP

// lockstep/detail/platform/process.hpp -- what there is once in a process, and how its modules find it (layer: platform)
//
// A waiter may sleep in one module (executable or shared object) and be woken by another. So the tables
// that they meet in are one for the process, whatever the visibility of symbols and the flags of dlopen().
// All of it is words and locks that begin as zeros: no guard variables, no order of initialisation, no
// destruction; usable before main() and after it, and in a child of fork().
//
//   PROCESS-1  The layout is part of what modules agree on: a change of it raises LOCKSTEP_PROCESS_LAYOUT.
//   PROCESS-2  It holds no address of code nor of a module's static data, which end with their module, but in
//              what its owner takes out again (fork_listener).
//   PROCESS-3  Units whose seams or futexes differ do not share it: they could not wake each other.
//
// The linker does not find it: a symbol that an executable does not export, that is hidden, or that lies in a
// module loaded by dlopen(RTLD_LOCAL) is not found by others. So on Linux every module carries a note,
// which the program headers lead to, with the place of a word of its own. When a module is loaded it looks at
// the notes of all modules, in a walk that the dynamic linker locks, and takes over the address that it
// finds in one of the words; if there is none, it makes the state. So:
//
//   PROCESS-4  Modules loaded at the same time have the same state, whatever their visibility and flags.
//   PROCESS-5  The state lies on the heap and is never freed: it stays when the module that made it is unloaded.
//
// Elsewhere there is one state for all modules that the linker gives one symbol.
//
// Memory order (# marks the line)
//   #  access               order    pairs  why it suffices
//   1  word.load            acquire  -      the state is made before its address is seen: 2 of process.ipp
//   2  unchecked.store      relaxed  -      only ever set, before the unit runs; see misuse.hpp
//   3  value.load           acquire  4      the value is made before its address is seen
//   4  value.compare_exch   release  3      as 3
//
// Cost   process(): a load and a branch. Once a module, when it is loaded: about 1 us for each module there is.
#ifndef LOCKSTEP_DETAIL_PLATFORM_PROCESS_HPP
#define LOCKSTEP_DETAIL_PLATFORM_PROCESS_HPP

#if defined(__GXX_RTTI)
#include <typeinfo>
#endif

#if defined(__linux__) && defined(__ELF__) && defined(__GNUC__) && \
    !defined(LOCKSTEP_ATOMIC_SEAM) && !defined(LOCKSTEP_SYSTEM_SEAM)
#define LOCKSTEP_MODULES_HAVE_NOTES 1
#else
#define LOCKSTEP_MODULES_HAVE_NOTES 0
#endif

// Of process_state; and a number for each futex, because who sleeps in one is not woken through another.
#define LOCKSTEP_PROCESS_LAYOUT 3
#if defined(LOCKSTEP_FORCE_PORTABLE_FUTEX) && LOCKSTEP_FORCE_PORTABLE_FUTEX
#define LOCKSTEP_PROCESS_KIND "6"
#define LOCKSTEP_PROCESS_WORD "lockstep_process_3_portable"
#else
#define LOCKSTEP_PROCESS_KIND "5"
#define LOCKSTEP_PROCESS_WORD "lockstep_process_3_native"
#endif

#if LOCKSTEP_MODULES_HAVE_NOTES

#if __SIZEOF_POINTER__ == 8
#define LOCKSTEP_PROCESS_ADDRESS ".quad "
#else
#define LOCKSTEP_PROCESS_ADDRESS ".long "
#endif

// The word and the note, once a module: the group is one for all units. The note says how far it is from
// itself to the word, which needs no help from the dynamic linker.
__asm__(".ifndef " LOCKSTEP_PROCESS_WORD
        "\n"
        ".pushsection .bss." LOCKSTEP_PROCESS_WORD ",\"awG\",%nobits," LOCKSTEP_PROCESS_WORD
        ",comdat\n"
        ".balign 8\n"
        ".weak " LOCKSTEP_PROCESS_WORD
        "\n"
        ".hidden " LOCKSTEP_PROCESS_WORD
        "\n"
        ".type " LOCKSTEP_PROCESS_WORD
        ", %object\n"
        ".size " LOCKSTEP_PROCESS_WORD ", 8\n" LOCKSTEP_PROCESS_WORD
        ":\n"
        ".zero 8\n"
        ".popsection\n"
        ".pushsection .note.lockstep,\"aG\",%note," LOCKSTEP_PROCESS_WORD
        ",comdat\n"
        ".balign 4\n"
        ".long 9, 8, " LOCKSTEP_PROCESS_KIND
        "\n"
        ".asciz \"lockstep\"\n"
        ".balign 4\n" LOCKSTEP_PROCESS_ADDRESS LOCKSTEP_PROCESS_WORD
        " - .\n"
        ".balign 8\n"
        ".popsection\n"
        ".endif\n");

#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// A region that a thread is in: detail/team/nesting.hpp.
struct nested_region {
  const void* owner;      ///< the team
  std::uint32_t age;      ///< of the team: later ones have larger numbers
  const void* boards;     ///< the group of its members
  const wait_word* runs;  ///< the number of the team's region that runs, or 0; null: of no region
  const nested_region* outer;  ///< where it was called from
};

/// What a thread has in all modules alike: this_thread.hpp.
struct thread_slot {
  const nested_region* innermost;
  std::uint64_t number;
  std::uintptr_t place;
  thread_slot* next;
};

/// For detail/wait/parking_lot.hpp.
class parked_thread;
struct alignas(cache_line_size) parking_bucket {
  wait_word lock;
  intrusive_list<parked_thread> waiting, on_their_way;

  constexpr parking_bucket() noexcept : lock(0), waiting(), on_their_way() {}
};

/// For detail/wait/misuse.hpp: its own kind of list.
struct misuse_bucket {
  system_mutex lock;
  void* entries;

  constexpr misuse_bucket() noexcept : entries(nullptr) {}
};

/// The first of a list that only grows.
struct growing_list {
  unseamed_atomic<void*> first;

  constexpr growing_list() noexcept : first(nullptr) {}
};

/// Messages that are printed once.
enum class message : std::uint32_t { environment = 1, unusable_cpus = 2, first_team = 4 };

struct process_state {
  static constexpr unsigned parking_bits = 8;
  static constexpr std::size_t misuse_size = 64, slots_size = 64;

  fork_section parking_forks;
  parking_bucket parking[std::size_t{1} << parking_bits];

  fork_section fork_listeners;  // and its lock guards the list
  void* first_fork_listener;

  fork_section misuse_forks;
  misuse_bucket misuse[misuse_size];

  fork_section futex_forks;
  unseamed_atomic<void*> portable_futex;  // its table, once made
  void* futex_held;                       // of the thread that forks

  growing_list thread_slots[slots_size];
  unseamed_atomic<std::uint64_t> threads;     // the last number that was given
  unseamed_atomic<std::uint32_t> thread_key;  // the key plus one; zero: not made yet

  atomic<void*> critical_names;                             // the first of a list that only grows
  unseamed_atomic<std::uint32_t> usable_cpus, affine_cpus;  // zero: not counted yet
  unseamed_atomic<std::uint32_t> messages;
  unseamed_atomic<std::uint32_t> unchecked_units;
  wait_word team_ages;
  atomic<void*> default_team;  // once made

  constexpr process_state() noexcept
      : first_fork_listener(nullptr),
        portable_futex(nullptr),
        futex_held(nullptr),
        threads(0),
        thread_key(0),
        critical_names(nullptr),
        usable_cpus(0),
        affine_cpus(0),
        messages(0),
        unchecked_units(0),
        team_ages(0),
        default_team(nullptr) {}
};

#if LOCKSTEP_MODULES_HAVE_NOTES

using process_word = unseamed_atomic<process_state*>;

extern process_word process_word_of_module __asm__(LOCKSTEP_PROCESS_WORD)
    __attribute__((visibility("hidden")));

/// The state of the process, which the module of `word` knows from now on.
LOCKSTEP_COLD process_state& find_process(process_word& word) noexcept;

inline process_state& process() noexcept {
  process_state* const known = process_word_of_module.load(memory_order_acquire);  // 1
  return known != nullptr ? *known : find_process(process_word_of_module);
}

// When the module is loaded, so that no wait has to walk. A unit that diagnoses nothing says so: it may lock
// what others unlock. The library's own units lock nothing of the user's.
__attribute__((constructor)) static void find_process_at_load() {
  process_state& all = process();
  if (!diagnoses_misuse && !builds_library)
    all.unchecked_units.store(1, memory_order_relaxed);  // 2
}

#else

template <class Name>
struct process_holder {
  static process_state instance;
};
template <class Name>
process_state process_holder<Name>::instance;

inline process_state& process() noexcept { return process_holder<struct whole_process>::instance; }

#endif

/// True for the first that asks about this message.
LOCKSTEP_COLD bool is_first_to_print(message which) noexcept;

/// Is an object part of a program or library file? Objects of static storage are: they are destroyed when the
/// program ends, but their memory stays. What lies on the heap, on a stack or in a thread's own storage is not.
/// Systems that do not tell say no. A walk over all loaded files, a microsecond or more: for messages.
LOCKSTEP_COLD bool is_static(const void* object) noexcept;

/// An object that is told when it has been copied into a child. One that owns threads has a fork_listener as its last
/// member; in the child, the function of each is called, while no other thread exists yet.
///
///   PROCESS-6  The list is locked around every fork(), so that it is whole in the child.
///   PROCESS-7  The list is one for the process.
///   PROCESS-8  Where the system has no such call, in_child() is never called.
///   PROCESS-9  The list is on the heap, not in its owners. These may be on the stack of a thread that the child does not
///              have; new threads of the child get that memory for their own stacks, and the list must not reach into it.
class fork_listener {
 public:
  /// From now on, until its end, in_child(owner) is called in the child, before fork() returns there. It must not
  /// start threads nor allocate. The owner must be whole that long: another thread may fork at any time.
  LOCKSTEP_COLD fork_listener(void* owner, void (*in_child)(void*));
  LOCKSTEP_COLD ~fork_listener();
  fork_listener(const fork_listener&) = delete;
  fork_listener& operator=(const fork_listener&) = delete;

 private:
  struct all;
  struct entry {
    void* owner;
    void (*in_child)(void*);
    entry *next, *previous;
  };

  entry* entry_ = nullptr;
};

/// A type as a text that is the same in all modules, as the compiler spells it. For types that may be incomplete, and
/// where there is no type information. Clang spells a type of a function without the function: only type
/// information tells it from others there.
struct type_name {
  const char* text;
  std::size_t length;
  /// Other modules may spell it the same and mean another type: it is of a function, in an unnamed namespace,
  /// or of a lambda.
  bool is_of_module;
};
/// Of what the compiler calls the function, and of the name in the type information, or null.
LOCKSTEP_COLD type_name type_name_in(const char* function, const char* information) noexcept;

template <class Name>
type_name name_of_type() noexcept {
#if defined(__GXX_RTTI)
  const char* const information = typeid(Name*).name();
#else
  const char* const information = nullptr;
#endif
#if defined(_MSC_VER)
  return type_name_in(__FUNCSIG__, information);
#else
  return type_name_in(__PRETTY_FUNCTION__, information);
#endif
}

/// A value that is found out at first use, in place of a function-local static, whose guard a child of fork() would
/// wait for if the thread that made the value is not there. Threads that come first at the same time may each make
/// it; one of them is used by all. Never destroyed: a static object's destructor may still want it.
template <class T>
class made_once {
 public:
  constexpr made_once() noexcept : value_(nullptr) {}
  made_once(const made_once&) = delete;
  made_once& operator=(const made_once&) = delete;

  /// The value that make() returned to the first.
  template <class Make>
  const T& get(Make make) {
    const T* known = value_.load(memory_order_acquire);  // 3
    if (known != nullptr) return *known;
    const T* const made = new T(make());
    if (value_.compare_exchange_strong(known, made, memory_order_acq_rel,  // 3, 4
                                       memory_order_acquire)) {            // 3
      return *made;
    }
    delete made;
    return *known;
  }

 private:
  unseamed_atomic<const T*> value_;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_PLATFORM_PROCESS_HPP

// lockstep/detail/platform/system_texts.hpp -- what the system tells in files: numbers, CPU quotas (layer: platform)
//
// Of control groups, version 1 and 2, every group from the process's own up to the mount is looked at, and the smallest
// quota counts. Mount points come from mountinfo, so systems that mount elsewhere, or bind-mount a sub-tree into a
// container, are read rightly.
//
// Texts are read in place with the functions of C: those of std::string cost several times as much to compile. `root`
// is a directory put before every path, for tests.
// Source [CGROUP-V1], [CGROUP-V2]
#ifndef LOCKSTEP_DETAIL_PLATFORM_SYSTEM_TEXTS_HPP
#define LOCKSTEP_DETAIL_PLATFORM_SYSTEM_TEXTS_HPP

#if LOCKSTEP_HAS_BODIES
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// Appends what std::printf would print, at most 500 characters.
LOCKSTEP_COLD void append(std::string& text, const char* format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;

/// The content of a file, whose path is what std::printf would print; empty if it cannot be read.
LOCKSTEP_COLD std::string file_text(const char* path, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 1, 2)))
#endif
    ;

/// What of the text is behind blanks.
LOCKSTEP_COLD const char* skip_blanks(const char* text) noexcept;

/// Reads decimal digits only, all that stand at `at`, and moves behind them. False, and nothing changed, where there
/// is none, or if the number is above `most`.
LOCKSTEP_COLD bool read_number(const char*& at, unsigned long long most,
                               unsigned long long& result) noexcept;

namespace cgroup {

/// CPUs granted per unit of time; `unlimited` means no quota.
constexpr double unlimited = -1.0;

/// The next part of `text` between separators, cut out by a zero byte; empty at the end. `at` moves behind it.
LOCKSTEP_COLD char* next_part(char*& at, const char* separators) noexcept;

/// quota / period, or `unlimited` where either is not a positive number.
LOCKSTEP_COLD double ratio(const char* quota, const char* period) noexcept;

/// The content of a version 2 `cpu.max` file: "max 100000" or "150000 100000".
LOCKSTEP_COLD double parse_cpu_max(const char* text) noexcept;

/// The tighter of two quotas.
LOCKSTEP_COLD double tighter(double a, double b) noexcept;

/// Whether "cpu" is one of the words parted by commas in the `size` characters of the list.
LOCKSTEP_COLD bool has_cpu(const char* list, std::size_t size) noexcept;

/// The group of the process in /proc/self/cgroup's text: version 2 has an empty controller list.
LOCKSTEP_COLD std::string find_group(const char* text, bool version_2);

/// One mounted hierarchy: where it is, and which group its top directory shows. The texts are parts of the line.
struct mount {
  const char* point = "";
  const char* shown_group = "";
  bool version_2 = false;
};

/// mountinfo writes blank, tab, newline and backslash as a backslash and three octal digits: decodes it in place.
LOCKSTEP_COLD char* decode_octal(char* text) noexcept;

/// Reads one line of mountinfo, and cuts it to pieces; false if it is no hierarchy with CPU quotas.
LOCKSTEP_COLD bool parse_mount(char* line, mount& result) noexcept;

/// `group` as seen below a mount whose top directory is `shown`: its last part, perhaps nothing.
LOCKSTEP_COLD char* relative_group(char* group, const char* shown) noexcept;

/// The tightest quota from the process's group up to the top of one mounted hierarchy.
LOCKSTEP_COLD double quota_of_mount(const char* root, const mount& where, const char* groups);

/// The quota in force for the calling process, in CPUs, or `unlimited`.
LOCKSTEP_COLD double quota(const char* root = "");

}  // namespace cgroup

#if LOCKSTEP_HAS_BODIES

LOCKSTEP_COLD void append(std::string& text, const char* format, ...) {
  char buffer[501];
  std::va_list arguments;
  va_start(arguments, format);
  const int length = std::vsnprintf(buffer, sizeof buffer, format, arguments);
  va_end(arguments);
  if (length > 0) text.append(buffer);
}

LOCKSTEP_COLD std::string file_text(const char* path, ...) {
  char part[4096];  // no path is longer
  std::va_list arguments;
  va_start(arguments, path);
  const int length = std::vsnprintf(part, sizeof part, path, arguments);
  va_end(arguments);
  std::string text;
  std::FILE* const file =
      length > 0 && length < static_cast<int>(sizeof part) ? std::fopen(part, "r") : nullptr;
  if (file == nullptr) return text;
  for (std::size_t size = 0; (size = std::fread(part, 1, sizeof part, file)) > 0;) {
    text.append(part, size);
  }
  std::fclose(file);
  return text;
}

LOCKSTEP_COLD const char* skip_blanks(const char* text) noexcept {
  return text + std::strspn(text, " \t\r\n\v\f");
}

LOCKSTEP_COLD bool read_number(const char*& at, unsigned long long most,
                               unsigned long long& result) noexcept {
  const char* digit = at;
  unsigned long long value = 0;
  for (; *digit >= '0' && *digit <= '9'; ++digit) {
    const unsigned next = static_cast<unsigned>(*digit - '0');
    if (next > most || value > (most - next) / 10) return false;
    value = value * 10 + next;
  }
  if (digit == at) return false;
  at = digit;
  result = value;
  return true;
}

namespace cgroup {

LOCKSTEP_COLD char* next_part(char*& at, const char* separators) noexcept {
  char* const part = at + std::strspn(at, separators);
  at = part + std::strcspn(part, separators);
  if (*at != 0) *at++ = 0;
  return part;
}

LOCKSTEP_COLD double ratio(const char* quota, const char* period) noexcept {
  const double numerator = std::strtod(quota, nullptr);
  const double denominator = std::strtod(period, nullptr);
  // Beyond that stands infinity, which strtod() reads as well.
  constexpr double most = 1e18;
  const bool are_numbers =
      numerator > 0 && numerator <= most && denominator > 0 && denominator <= most;
  return are_numbers ? numerator / denominator : unlimited;
}

LOCKSTEP_COLD double parse_cpu_max(const char* text) noexcept {
  const char* const period = skip_blanks(text);
  return ratio(text, period + std::strcspn(period, " \t\n"));
}

LOCKSTEP_COLD double tighter(double a, double b) noexcept {
  return a < 0 || (b >= 0 && b < a) ? b : a;
}

LOCKSTEP_COLD bool has_cpu(const char* list, std::size_t size) noexcept {
  for (const char *word = list, *at = list;; ++at) {
    const bool is_end = at == list + size;
    if (!is_end && *at != ',') continue;
    if (at - word == 3 && std::memcmp(word, "cpu", 3) == 0) return true;
    if (is_end) return false;
    word = at + 1;
  }
}

LOCKSTEP_COLD std::string find_group(const char* text, bool version_2) {
  std::string group;
  while (*text != 0) {
    // "number:controllers:group"
    const std::size_t length = std::strcspn(text, "\n"), first = std::strcspn(text, ":\n");
    const std::size_t second =
        first < length ? first + 1 + std::strcspn(text + first + 1, ":\n") : length;
    const std::size_t size = second - first - 1;
    if (second < length && (version_2 ? size == 0 : has_cpu(text + first + 1, size))) {
      group.assign(text + second + 1, length - second - 1);
      break;
    }
    text += length;
    if (*text != 0) ++text;
  }
  return group;
}

LOCKSTEP_COLD char* decode_octal(char* text) noexcept {
  char* to = text;
  for (const char* at = text; *at != 0; ++at) {
    unsigned code = 0, digits = 0;
    while (*at == '\\' && digits < 3 && at[digits + 1] >= '0' && at[digits + 1] <= '7') {
      code = code * 8 + static_cast<unsigned>(at[++digits] - '0');
    }
    const bool is_code = digits == 3 && code != 0;
    *to++ = is_code ? static_cast<char>(code) : *at;
    if (is_code) at += 3;
  }
  *to = 0;
  return text;
}

LOCKSTEP_COLD bool parse_mount(char* line, mount& result) noexcept {
  const char* const blanks = " \t\n";
  char* right = std::strstr(line, " - ");
  if (right == nullptr) return false;
  *right = 0;
  right += 3;
  for (int skipped = 0; skipped < 3; ++skipped) next_part(line, blanks);  // numbers
  result.shown_group = decode_octal(next_part(line, blanks));
  result.point = decode_octal(next_part(line, blanks));
  const char* const type = next_part(right, blanks);
  next_part(right, blanks);  // the source
  const char* const options = next_part(right, blanks);
  result.version_2 = std::strcmp(type, "cgroup2") == 0;
  return result.version_2 ||
         (std::strcmp(type, "cgroup") == 0 && has_cpu(options, std::strlen(options)));
}

LOCKSTEP_COLD char* relative_group(char* group, const char* shown) noexcept {
  const std::size_t length = std::strcmp(shown, "/") == 0 ? 0 : std::strlen(shown);
  const bool is_below = std::strncmp(group, shown, length) == 0 &&
                        (length == 0 || group[length] == 0 || group[length] == '/');
  return is_below && std::strcmp(group + length, "/") != 0 ? group + length
                                                           : group + std::strlen(group);
}

LOCKSTEP_COLD double quota_of_mount(const char* root, const mount& where, const char* groups) {
  std::string group = find_group(groups, where.version_2);
  char* const below = relative_group(&group[0], where.shown_group);
  double result = unlimited;
  while (true) {
    const char* const file = where.version_2 ? "cpu.max" : "cpu.cfs_quota_us";
    const std::string quota = file_text("%s%s%s/%s", root, where.point, below, file);
    const std::string period =
        where.version_2 ? std::string()
                        : file_text("%s%s%s/cpu.cfs_period_us", root, where.point, below);
    result = tighter(result, where.version_2 ? parse_cpu_max(quota.c_str())
                                             : ratio(quota.c_str(), period.c_str()));
    char* const slash = std::strrchr(below, '/');
    if (slash == nullptr) return result;
    *slash = 0;
  }
}

LOCKSTEP_COLD double quota(const char* root) {
  const std::string groups = file_text("%s/proc/self/cgroup", root);
  std::string mounts = file_text("%s/proc/self/mountinfo", root);
  double result = unlimited;
  for (char* at = &mounts[0]; *at != 0;) {
    mount where;
    if (parse_mount(next_part(at, "\n"), where)) {
      result = tighter(result, quota_of_mount(root, where, groups.c_str()));
    }
  }
  return result;
}

}  // namespace cgroup

#endif

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_PLATFORM_SYSTEM_TEXTS_HPP

// lockstep/detail/platform/cpus.hpp -- how many CPUs there are for this process, and what they are (layer: platform)
//
// What is usable is the affinity mask, cut by the quota of control groups (rounded down, at least one): a container
// with a quota of 2 CPUs on a machine of 64 has 2. More runnable threads than that are *crowded*: spinning then takes
// time from the very thread one waits for.
// `root` is a directory put before every path, for tests.
// Source [SYSFS-CPU]
#ifndef LOCKSTEP_DETAIL_PLATFORM_CPUS_HPP
#define LOCKSTEP_DETAIL_PLATFORM_CPUS_HPP

#if LOCKSTEP_HAS_BODIES
#include <cstdlib>
#if defined(__linux__)
#include <sched.h>
#endif
#if defined(__unix__) || defined(__APPLE__)
#include <unistd.h>
#else
#include <thread>
#endif
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

// Lists of CPUs as text, "0,2,4-7,8-14:2": the form in which Linux writes sets of CPUs, and users write where threads
// shall run; a range may have a stride. Strict: what is not wholly right is refused, and no text makes a list of more
// than `max_cpus`, however it is written. Independent of the locale.

/// The most CPUs of a list, and above the highest number of one.
constexpr unsigned max_cpus = 65536;

/// Reads a list, in the order of the text; blanks may stand around each part. False, and `cpus` empty,
/// if the text is no list, names no CPU, names a CPU from `max_cpus` on, or more than that many.
LOCKSTEP_COLD bool parse_cpu_list(const char* text, std::vector<unsigned>& cpus);

/// Appends the list as text, neighbours that ascend by one joined: {0, 1, 2, 5} is "0-2,5".
LOCKSTEP_COLD void append_cpu_list(std::string& text, const std::vector<unsigned>& cpus);

/// In ascending order, each value once. The sort of <algorithm> costs ten times as much to compile.
LOCKSTEP_COLD void sort_once(std::vector<unsigned>& values);

/// The place of `value` in what sort_once() has sorted; its size if it is not there.
LOCKSTEP_COLD std::size_t find_sorted(const std::vector<unsigned>& values, unsigned value) noexcept;

/// The numbers of the CPUs in the affinity mask of the calling thread, ascending; empty if unknown.
LOCKSTEP_COLD std::vector<unsigned> affinity();

/// How many CPUs the affinity mask of the calling thread has; 2 if unknown: a guess that may be wrong. Fails
/// never, allocates nothing, reads no file.
LOCKSTEP_COLD unsigned count_affine_cpus() noexcept;

/// Looks afresh; about 100 us.
LOCKSTEP_COLD unsigned count_usable_cpus();

// Which core and package each usable CPU belongs to.
//
// Never fails: a CPU of which nothing can be read is a core of its own, in the first package, of unknown
// kind; so is every CPU where the system has no /sys. Reads some six small files for each CPU, 20 us
// each: for those who place threads, not for every program.
//
// Kinds of core come from the first of these that tells CPUs apart:
//   1. Intel's hybrids list them: /sys/devices/cpu_core, cpu_atom, cpu_lowpower
//   2. cpu_capacity, as ARM has it   3. the highest clock rate
// In 2 and 3 the CPUs are parted where the ratio between two neighbouring values is largest, if that is
// 5/4 at least: cores of one kind differ by up to a tenth (favoured cores, a larger cache).

/// In the order of preference: what is not told stands between.
enum class core_kind : unsigned char { performance, unknown, efficiency };

LOCKSTEP_COLD const char* text_of(core_kind kind) noexcept;

/// Cores and packages are numbered from 0, those only that have a usable CPU, by the lowest number that
/// the system gives them. Siblings are the usable CPUs of one core, numbered from 0.
struct cpu_place {
  unsigned cpu;
  unsigned core;
  unsigned package;
  unsigned sibling;
  core_kind kind;
};

/// One entry for each CPU, in the order in which they were asked for.
using cpu_topology = std::vector<cpu_place>;

namespace topology {

/// The number in a file of a CPU; `otherwise` if it holds none, or one above 2^32 - 1.
LOCKSTEP_COLD unsigned number_in(const char* root, unsigned cpu, const char* file,
                                 unsigned otherwise);

/// The lowest CPU of the core that `cpu` is on.
LOCKSTEP_COLD unsigned first_of_core(const char* root, unsigned cpu);

/// Replaces each number of that kind by its place among the different ones: 7, 3, 7 become 1, 0, 1.
LOCKSTEP_COLD void number_anew(cpu_topology& places, unsigned cpu_place::* number);

/// The lowest value of the faster kind, where the largest step between `values` parts them; 0 if they
/// are all alike. A value of 0 is not known and says nothing.
LOCKSTEP_COLD unsigned fast_from(std::vector<unsigned> values);

/// By the lists of Intel's hybrids; false if there are none.
LOCKSTEP_COLD bool set_kinds_by_list(const char* root, cpu_topology& places);

/// By a number that each CPU has in `file`; false if that does not tell them apart.
LOCKSTEP_COLD bool set_kinds_by_number(const char* root, const char* file, cpu_topology& places);

}  // namespace topology

/// What the system tells about `cpus`; looks afresh.
LOCKSTEP_COLD cpu_topology read_topology(const std::vector<unsigned>& cpus, const char* root = "");

/// The topology of the CPUs that the thread that asked first might run on. Kept: that thread may be
/// bound to one of them later.
LOCKSTEP_COLD const cpu_topology& usable_topology();

#if LOCKSTEP_HAS_BODIES

LOCKSTEP_COLD bool parse_cpu_list(const char* text, std::vector<unsigned>& cpus) {
  cpus.clear();
  for (const char* at = text;; ++at) {
    unsigned long long first = 0, last = 0, stride = 1;
    at = skip_blanks(at);
    bool is_right = read_number(at, max_cpus - 1, first);
    last = first;
    if (is_right && *at == '-') {
      is_right = read_number(++at, max_cpus - 1, last);
      if (is_right && *at == ':') is_right = read_number(++at, max_cpus, stride) && stride > 0;
    }
    at = skip_blanks(at);
    is_right = is_right && (*at == ',' || *at == 0) && last >= first &&
               (last - first) / stride + 1 <= max_cpus - cpus.size();
    if (!is_right) {
      cpus.clear();
      return false;
    }
    for (; first <= last; first += stride) {
      const unsigned cpu = static_cast<unsigned>(first);
      cpus.push_back(cpu);
    }
    if (*at == 0) return true;
  }
}

LOCKSTEP_COLD void append_cpu_list(std::string& text, const std::vector<unsigned>& cpus) {
  for (std::size_t i = 0; i < cpus.size();) {
    std::size_t last = i;
    while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) ++last;
    append(text, i == 0 ? "%u" : ",%u", cpus[i]);
    if (last > i) append(text, last > i + 1 ? "-%u" : ",%u", cpus[last]);
    i = last + 1;
  }
}

LOCKSTEP_COLD int compare_numbers(const void* a, const void* b) noexcept {
  const unsigned left = *static_cast<const unsigned*>(a), right = *static_cast<const unsigned*>(b);
  return left < right ? -1 : left > right ? 1 : 0;
}
LOCKSTEP_COLD void sort_once(std::vector<unsigned>& values) {
  if (values.empty()) return;
  std::qsort(values.data(), values.size(), sizeof(unsigned), compare_numbers);
  std::size_t kept = 1;
  for (const unsigned value : values) {
    if (value != values[kept - 1]) values[kept++] = value;
  }
  while (values.size() > kept) values.pop_back();
}
LOCKSTEP_COLD std::size_t find_sorted(const std::vector<unsigned>& values,
                                      unsigned value) noexcept {
  if (values.empty()) return 0;
  const void* const at =
      std::bsearch(&value, values.data(), values.size(), sizeof value, compare_numbers);
  if (at == nullptr) return values.size();
  return static_cast<std::size_t>(static_cast<const unsigned*>(at) - values.data());
}

/// Counts the CPUs of the affinity mask of the calling thread, and appends them to the list, if there is one. 0 if
/// they are not known.
LOCKSTEP_COLD unsigned read_affinity(std::vector<unsigned>* cpus) {
  unsigned count = 0;
#if defined(__linux__)
  // The kernel refuses a mask smaller than its own: this is enough.
  constexpr unsigned bits = 8 * sizeof(unsigned long);
  unsigned long mask[max_cpus / bits] = {};
  if (sched_getaffinity(0, sizeof mask, reinterpret_cast<cpu_set_t*>(mask)) != 0) return 0;
  for (unsigned first = 0; first < max_cpus; first += bits) {
    for (unsigned long rest = mask[first / bits]; rest != 0; rest &= rest - 1, ++count) {
      const unsigned cpu = first + static_cast<unsigned>(__builtin_ctzl(rest));
      if (cpus != nullptr) cpus->push_back(cpu);
    }
  }
#else
  (void)cpus;
#endif
  return count;
}

LOCKSTEP_COLD std::vector<unsigned> affinity() {
  std::vector<unsigned> cpus;
  read_affinity(&cpus);
  return cpus;
}

LOCKSTEP_COLD unsigned count_affine_cpus() noexcept {
  const unsigned count = read_affinity(nullptr);
  return count > 0 ? count : 2;
}

LOCKSTEP_COLD unsigned count_usable_cpus() {
  unsigned count = read_affinity(nullptr);
#if defined(__unix__) || defined(__APPLE__)
  if (count == 0) count = static_cast<unsigned>(sysconf(_SC_NPROCESSORS_ONLN));
#else
  if (count == 0) count = std::thread::hardware_concurrency();
#endif
#if defined(__linux__)
  const double quota = cgroup::quota();
  if (quota >= 0 && quota < count) count = static_cast<unsigned>(quota);
#endif
  return count > 0 ? count : 1;
}

LOCKSTEP_COLD const char* text_of(core_kind kind) noexcept {
  return kind == core_kind::performance  ? "performance"
         : kind == core_kind::efficiency ? "efficiency"
                                         : "unknown";
}

namespace topology {

LOCKSTEP_COLD unsigned number_in(const char* root, unsigned cpu, const char* file,
                                 unsigned otherwise) {
  const std::string text = file_text("%s/sys/devices/system/cpu/cpu%u/%s", root, cpu, file);
  const char* at = skip_blanks(text.c_str());
  unsigned long long number = 0;
  return read_number(at, 0xffffffffu, number) && *skip_blanks(at) == 0
             ? static_cast<unsigned>(number)
             : otherwise;
}

LOCKSTEP_COLD unsigned first_of_core(const char* root, unsigned cpu) {
  // The first name is that of newer systems.
  static const char* const files[] = {"core_cpus_list", "thread_siblings_list"};
  for (const char* file : files) {
    std::vector<unsigned> siblings;
    parse_cpu_list(
        file_text("%s/sys/devices/system/cpu/cpu%u/topology/%s", root, cpu, file).c_str(),
        siblings);
    sort_once(siblings);
    if (find_sorted(siblings, cpu) < siblings.size()) return siblings[0];
  }
  return cpu;
}

LOCKSTEP_COLD void number_anew(cpu_topology& places, unsigned cpu_place::* number) {
  std::vector<unsigned> numbers;
  for (const cpu_place& place : places) numbers.push_back(place.*number);
  sort_once(numbers);
  for (cpu_place& place : places) {
    place.*number = static_cast<unsigned>(find_sorted(numbers, place.*number));
  }
}

LOCKSTEP_COLD unsigned fast_from(std::vector<unsigned> values) {
  sort_once(values);
  double largest = 1.25;
  unsigned result = 0;
  for (std::size_t i = 1; i < values.size(); ++i) {
    if (values[i - 1] == 0) continue;
    const double step = static_cast<double>(values[i]) / values[i - 1];
    if (step < largest) continue;
    largest = step;
    result = values[i];
  }
  return result;
}

LOCKSTEP_COLD bool set_kinds_by_list(const char* root, cpu_topology& places) {
  static const struct {
    const char* file;
    core_kind kind;
  } lists[] = {{"lowpower", core_kind::efficiency},
               {"atom", core_kind::efficiency},
               {"core", core_kind::performance}};
  bool is_known = false;
  for (const auto& list : lists) {
    std::vector<unsigned> cpus;
    if (!parse_cpu_list(file_text("%s/sys/devices/cpu_%s/cpus", root, list.file).c_str(), cpus))
      continue;
    is_known = true;
    sort_once(cpus);
    for (cpu_place& place : places) {
      if (find_sorted(cpus, place.cpu) < cpus.size()) place.kind = list.kind;
    }
  }
  return is_known;
}

LOCKSTEP_COLD bool set_kinds_by_number(const char* root, const char* file, cpu_topology& places) {
  std::vector<unsigned> values;
  for (const cpu_place& place : places) {
    const unsigned value = number_in(root, place.cpu, file, 0);
    values.push_back(value);
  }
  const unsigned fast = fast_from(values);
  for (std::size_t i = 0; fast != 0 && i < values.size(); ++i) {
    if (values[i] == 0) continue;
    places[i].kind = values[i] >= fast ? core_kind::performance : core_kind::efficiency;
  }
  return fast != 0;
}

}  // namespace topology

LOCKSTEP_COLD cpu_topology read_topology(const std::vector<unsigned>& cpus, const char* root) {
  cpu_topology result(cpus.size());
  for (std::size_t i = 0; i < cpus.size(); ++i) {
    // Where the system does not know it says -1, which is no number here.
    const unsigned package = topology::number_in(root, cpus[i], "topology/physical_package_id", 0);
    result[i] = {cpus[i], topology::first_of_core(root, cpus[i]), package, 0, core_kind::unknown};
  }
  topology::number_anew(result, &cpu_place::core);
  topology::number_anew(result, &cpu_place::package);
  std::vector<unsigned> siblings(cpus.size());
  for (cpu_place& place : result) place.sibling = siblings[place.core]++;
  if (!topology::set_kinds_by_list(root, result) &&
      !topology::set_kinds_by_number(root, "cpu_capacity", result)) {
    topology::set_kinds_by_number(root, "cpufreq/cpuinfo_max_freq", result);
  }
  return result;
}

LOCKSTEP_COLD const cpu_topology& usable_topology() {
  static made_once<cpu_topology> known;
  return known.get([] { return read_topology(affinity()); });
}

#endif

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_PLATFORM_CPUS_HPP

// lockstep/detail/platform/futex.hpp -- sleeping until a word changes: the contract (layer: platform)
//
//   FUTEX-1  futex_wait(word, expected, deadline) returns at once if word != expected. Otherwise it may put
//       the thread to sleep; it returns after a wake on that word, at the deadline, after a signal, or
//       for no reason. It reports nothing: the caller looks at its condition again.
//   FUTEX-2  futex_wake_one / futex_wake_all on a word let at least one / every thread return that sleeps in
//       futex_wait on it. They only use the address: the word may be gone already.
//   FUTEX-3  The comparison in FUTEX-1 and the falling asleep are one step with respect to FUTEX-2: if the word is
//       changed and a wake follows, no waiter that compared before the change stays asleep.
//   FUTEX-4  Deadlines are monotonic nanoseconds as of steady_nanoseconds(); no_deadline (clock.hpp) never comes.
//   FUTEX-5  Nothing is ordered by these calls for the C++ memory model; order comes from the atomics.
//
// LOCKSTEP_FORCE_PORTABLE_FUTEX=1 chooses the portable one (mutex and condition variable) where a native one exists; it
// must be the same in the whole program.
//
//   PORTABLE-1  The waiter compares and enters the condition variable under the bucket's mutex, the waker
//               takes the same mutex before it notifies: that is FUTEX-3.
//   PORTABLE-2  In a child process of fork() the table is as new: whoever held or waited is not there.
//
// Memory order (# marks the line), of the portable one
//   #  access      order    pairs  why it suffices
//   1  word.load   relaxed  -      FUTEX-5 promises no order; the mutex of PORTABLE-1 makes the last change visible
//   2  table.load  acquire  3      the table is made before its address is seen
//   3  table.comp  release  2      as 2; two threads may make one, and one of them is used
//
// Cost   wait that must sleep: one call and a context switch. Wake: one call, about 0.23 us with nobody
//        there, 7 us with a sleeper on a halted virtual CPU (measured on 2 CPUs of an EPYC, 6.18).
//        The portable one: lock, condition variable wait; wake: lock, and a system call when the bucket has waiters.
#ifndef LOCKSTEP_DETAIL_PLATFORM_FUTEX_HPP
#define LOCKSTEP_DETAIL_PLATFORM_FUTEX_HPP

#if defined(__linux__) && !(defined(LOCKSTEP_FORCE_PORTABLE_FUTEX) && LOCKSTEP_FORCE_PORTABLE_FUTEX)
#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#else
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <new>

#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

#if defined(__linux__) && !(defined(LOCKSTEP_FORCE_PORTABLE_FUTEX) && LOCKSTEP_FORCE_PORTABLE_FUTEX)

/// FUTEX_WAIT_BITSET, because it takes an absolute time of CLOCK_MONOTONIC, so that a spurious return cannot lengthen a
/// deadline; private to the process.
///
/// A kernel or sandbox that refuses the call (ENOSYS, EPERM from a filter) is answered by a short real
/// sleep: the waiter polls every 50 us, slower but never stuck, and wakes have nobody to miss.
struct linux_futex {
  static const char* name() noexcept { return "linux futex"; }
  /// Nothing of it has to be put right in a child process.
  static void prepare_for_fork() noexcept {}

  static void wait(const wait_word& word, std::uint32_t expected, std::uint64_t deadline) noexcept {
    timespec until = {};
    const timespec* timeout = nullptr;
    if (deadline != no_deadline) {
      until = to_timespec(deadline);
      timeout = &until;
    }
    const int saved = errno;
    if (call(&word, FUTEX_WAIT_BITSET_PRIVATE, expected, timeout) != 0 && refused(errno)) {
      const timespec pause = {0, 50000};
      nanosleep(&pause, nullptr);
    }
    errno = saved;
  }

  static void wake_one(const wait_word* word) noexcept { wake(word, 1); }
  static void wake_all(const wait_word* word) noexcept { wake(word, INT_MAX); }

 private:
  static_assert(sizeof(wait_word) == sizeof(std::uint32_t), "a futex is a plain 32-bit word");

  static void wake(const wait_word* word, int count) noexcept {
    const int saved = errno;
    call(word, FUTEX_WAKE_PRIVATE, static_cast<std::uint32_t>(count), nullptr);
    errno = saved;
  }

  static long call(const wait_word* word, int operation, std::uint32_t value,
                   const timespec* timeout) noexcept {
    return syscall(SYS_futex, word, operation, value, timeout, nullptr, FUTEX_BITSET_MATCH_ANY);
  }

  static bool refused(int error) noexcept { return error == ENOSYS || error == EPERM; }

  static timespec to_timespec(std::uint64_t nanoseconds) noexcept {
    constexpr std::uint64_t second = 1000000000;
    constexpr std::uint64_t longest = std::uint64_t{INT_MAX} * second;
    if (nanoseconds > longest) nanoseconds = longest;
    timespec result = {};
    result.tv_sec = static_cast<time_t>(nanoseconds / second);
    result.tv_nsec = static_cast<long>(nanoseconds % second);
    return result;
  }
};
using native_futex = linux_futex;

#else

/// A table of mutex and condition variable pairs, chosen by a hash of the word's address. A wake wakes the whole bucket,
/// so that a neighbour of the same bucket may return spuriously, which FUTEX-1 allows.
///
/// The table is one for the process, made at first use and never destroyed: objects in static storage may wait
/// and notify before main and while the program exits.
struct portable_futex {
  static const char* name() noexcept { return "mutex and condition variable"; }
  /// What is told of forks after this call finds the table put right in the child: see fork.hpp.
  static void prepare_for_fork() { table(); }

  static void wait(const wait_word& word, std::uint32_t expected, std::uint64_t deadline) {
    bucket& home = bucket_of(&word);
    std::unique_lock<std::mutex> lock(home.mutex);
    if (word.load(memory_order_relaxed) != expected) return;  // 1
    ++home.waiters;
    if (deadline == no_deadline) {
      home.changed.wait(lock);
    } else {
      home.changed.wait_until(lock, to_time_point(deadline));
    }
    --home.waiters;
  }

  static void wake_one(const wait_word* word) { wake_all(word); }

  static void wake_all(const wait_word* word) {
    bucket& home = bucket_of(word);
    std::lock_guard<std::mutex> lock(home.mutex);
    if (home.waiters > 0) home.changed.notify_all();
  }

 private:
  struct bucket {
    std::mutex mutex;
    std::condition_variable changed;
    std::size_t waiters = 0;
  };

  static constexpr unsigned bits_ = 8;
  static constexpr std::size_t size_ = std::size_t{1} << bits_;

  static bucket* table() {
    watch_forks<around_fork>();
    void* const known = process().portable_futex.load(memory_order_acquire);  // 2
    return known != nullptr ? static_cast<bucket*>(known) : make();
  }
  static bucket* make() {
    bucket* const made = new bucket[size_];
    void* known = nullptr;
    if (process().portable_futex.compare_exchange_strong(known, made, memory_order_acq_rel,  // 2, 3
                                                         memory_order_acquire)) {            // 2
      return made;
    }
    delete[] made;
    return static_cast<bucket*>(known);
  }

  // No bucket is half changed in the child. A table that is made meanwhile is not held.
  struct around_fork {
    static void before() {
      process_state& all = process();
      if (!all.futex_forks.enter()) return;
      all.futex_held = all.portable_futex.load(memory_order_acquire);  // 2
      bucket* const held = static_cast<bucket*>(all.futex_held);
      for (std::size_t i = 0; held != nullptr && i < size_; ++i) held[i].mutex.lock();
    }
    static void after() {
      process_state& all = process();
      if (!all.futex_forks.is_last()) return;
      bucket* const held = static_cast<bucket*>(all.futex_held);
      for (std::size_t i = 0; held != nullptr && i < size_; ++i) held[i].mutex.unlock();
      all.futex_forks.leave();
    }
    static void child() {
      process_state& all = process();
      if (!all.futex_forks.is_last()) return;
      void* const made = all.portable_futex.load(memory_order_acquire);  // 2
      bucket* const renewed = static_cast<bucket*>(made);
      // Not destroyed: a condition variable waits for its waiters, which are not there.
      for (std::size_t i = 0; renewed != nullptr && i < size_; ++i) {
        ::new (static_cast<void*>(&renewed[i])) bucket;
      }
      all.futex_forks.leave();
    }
  };

  static bucket& bucket_of(const wait_word* word) {
    // Fibonacci hashing: the high bits of the product depend on all bits of the address.
    const std::uint64_t address = reinterpret_cast<std::uintptr_t>(word);
    return table()[static_cast<std::size_t>((address * 0x9E3779B97F4A7C15u) >> (64 - bits_))];
  }

  static std::chrono::steady_clock::time_point to_time_point(std::uint64_t nanoseconds) {
    using std::chrono::steady_clock;
    const std::uint64_t longest = ~std::uint64_t{0} >> 2;
    const std::chrono::nanoseconds since(
        static_cast<std::int64_t>(nanoseconds < longest ? nanoseconds : longest));
    return steady_clock::time_point(std::chrono::duration_cast<steady_clock::duration>(since));
  }
};
using native_futex = portable_futex;

#endif

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_PLATFORM_FUTEX_HPP

// lockstep/detail/platform/process_fence.hpp -- a full fence of which one side pays all (layer: platform)
//
// "Publish, then look for sleepers" meets "announce sleep, then look again". Both sides need a full
// fence between their store and their load:
//
//     notifier                          sleeper
//     phase = p + 1                     mark = 1
//     light()                           heavy()
//     if (mark) wake                    if (phase still p) sleep
//
//   FENCE-1  If one thread calls light() and another heavy(), then the loads after the two calls cannot both
//       miss the stores before them.
//
// Where the system has a process-wide barrier (Linux: membarrier, private expedited), light() is a
// compiler fence and heavy() makes every running thread of the process execute a full fence. Where it
// has none, both are a seq_cst fence. A thread that still reads `unknown` fences for itself, so that
// light() is right before prepare() as well, only slower.
//
// heavy() returns false if the barrier was granted and later refused (a filter installed in between):
// then FENCE-1 does not hold for this call, and the caller must not sleep without a time limit.
//
// Memory order (# marks the line; model: tests/model)
//   #  access             order    pairs  why it suffices
//   1  mode.load          relaxed  -      any value is safe in light(): see `unknown` above
//   2  signal_fence       seq_cst  4      FENCE-1 by the system's barrier; keeps the compiler from reordering
//   3  thread_fence       seq_cst  3, 4   FENCE-1 by the C++ model
//   4  barrier            seq_cst  2, 3   own full fence, and the system's on all other threads
//   5  mode.store         relaxed  -      the mode is decided by the system, every writer writes the same
//
// Cost   light: one load of a read-mostly line. heavy: 0.35 us alone, 7 to 10 us when another thread of
//        the process runs (2 virtual CPUs, 6.18).
// Source [DICE01], [SYS-MEMBARRIER]
#ifndef LOCKSTEP_DETAIL_PLATFORM_PROCESS_FENCE_HPP
#define LOCKSTEP_DETAIL_PLATFORM_PROCESS_FENCE_HPP

#if defined(__linux__)
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

class process_fence {
 public:
  enum class kind : std::uint32_t { unknown = 0, asymmetric = 1, symmetric = 2 };

  /// Asks the system once for its barrier. Objects whose notifiers use light() call it when they are
  /// made, so that no notifier pays for an `unknown`.
  static kind prepare() noexcept {
    kind found = static_cast<kind>(mode().load(memory_order_relaxed));  // 1
    if (found == kind::unknown) {
      found = register_with_system() ? kind::asymmetric : kind::symmetric;
      mode().store(static_cast<std::uint32_t>(found), memory_order_relaxed);  // 5
    }
    return found;
  }

  /// What the system gave: for reports.
  static const char* name() noexcept {
    return prepare() == kind::asymmetric ? "membarrier, the sleeper pays"
                                         : "seq_cst fence, both pay";
  }

  static void light() noexcept {
    if (static_cast<kind>(mode().load(memory_order_relaxed)) == kind::asymmetric) {  // 1
      signal_fence(memory_order_seq_cst);                                            // 2
    } else {
      thread_fence(memory_order_seq_cst);  // 3
    }
  }

  static bool heavy() noexcept {
    thread_fence(memory_order_seq_cst);  // 3, 4
    return prepare() == kind::symmetric || system_barrier();
  }

 private:
  // A function-local static of constant initialisation: no guard, no order of initialisation.
  static atomic<std::uint32_t>& mode() noexcept {
    static atomic<std::uint32_t> instance{0};
    return instance;
  }

#if defined(__linux__) && defined(SYS_membarrier)
  // From linux/membarrier.h, which older distributions lack.
  enum : int { private_expedited = 1 << 3, register_private_expedited = 1 << 4 };

  static bool call(int command) noexcept {
    const int saved = errno;
    const bool done = syscall(SYS_membarrier, command, 0, 0) == 0;
    errno = saved;
    return done;
  }
  static bool register_with_system() noexcept { return call(register_private_expedited); }
  static bool system_barrier() noexcept { return call(private_expedited); }
#else
  static bool register_with_system() noexcept { return false; }
  static bool system_barrier() noexcept { return false; }
#endif
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_PLATFORM_PROCESS_FENCE_HPP

// lockstep/detail/platform/this_thread.hpp -- placing, naming and telling the calling thread (layer: platform)
//
// Placing and naming are wishes: where the system has no such call, or refuses, they return false and nothing changes.
//
// A thread_local of a header is one for each module. this_thread_slot() is one for each thread: found through a key of
// the system, then remembered in a thread_local of the module.
//
//   SLOT-1  Two threads that live at the same time have different slots.
//   SLOT-2  No two threads ever have the same number, in the process, in its children, and after a thread's end.
//           A thread that forks keeps its number and its slot.
//
// The system reuses the memory of threads. A slot belongs to such a place and is used again with it, so that
// there are about as many slots as there were threads at a time. The key has no destructor, which would be
// code of a module that may be gone; it is empty in a new thread, and so tells it from the one before it.
//
// Memory order (# marks the line)
//   #  access             order    pairs  why it suffices
//   1  first.load         acquire  2      a slot is whole before it is in the list
//   2  first.compare_exch release  1      as 1
//   3  threads.fetch_add  relaxed  -      hands out numbers, nothing else
//   4  key.load           relaxed  -      a key is a number that the system gave, ready to be used
//   5  key.compare_exch   relaxed  -      as 4
//
// Cost   this_thread_slot(): a thread_local and a branch. The first time in a thread and module: about 50 ns.
#ifndef LOCKSTEP_DETAIL_PLATFORM_THIS_THREAD_HPP
#define LOCKSTEP_DETAIL_PLATFORM_THIS_THREAD_HPP

#if defined(__unix__) || defined(__APPLE__)
#include <sched.h>
#else
#include <thread>
#endif

#if LOCKSTEP_HAS_BODIES
#include <errno.h>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif
#if defined(__linux__)
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// What the calling thread has in all modules: looked up, and made if there is none.
LOCKSTEP_COLD thread_slot* find_thread_slot() noexcept;

inline thread_slot& this_thread_slot() noexcept {
  static thread_local thread_slot* known = nullptr;
  if (known == nullptr) known = find_thread_slot();
  return *known;
}

/// Lets another runnable thread have this CPU.
inline void yield_native_thread() noexcept {
#if defined(__unix__) || defined(__APPLE__)
  sched_yield();
#else
  std::this_thread::yield();
#endif
}

/// Binds the calling thread to one CPU.
LOCKSTEP_COLD bool pin_this_thread(unsigned cpu) noexcept;

/// The CPU that the calling thread runs on, or did a moment ago; -1 if unknown.
inline int native_current_cpu() noexcept {
#if defined(__linux__)
  return sched_getcpu();
#else
  return -1;
#endif
}

/// Moves the calling thread to another CPU of its affinity mask, if there is one: takes `cpu` out of the mask for a
/// moment. The mask is then as it was before, or as somebody else has made it meanwhile. False if nothing was changed.
LOCKSTEP_COLD bool leave_native_cpu(unsigned cpu) noexcept;

/// Gives the calling thread a name that debuggers and `top -H` show; cut to what the system takes.
LOCKSTEP_COLD bool name_this_thread(const char* name) noexcept;

/// How late timers of the calling thread may be, in nanoseconds, so that several can come together. set: not 0.
LOCKSTEP_COLD void set_native_timer_slack(std::uint64_t nanoseconds) noexcept;
/// Makes it `nanoseconds` if it is longer. What it was before, for set_timer_slack(); 0 if nothing was changed.
LOCKSTEP_COLD std::uint64_t shorten_native_timer_slack(std::uint64_t nanoseconds) noexcept;

/// A number of the calling thread that no other thread of the process or of its children ever has. Not the
/// system's, which a child of fork() in a namespace of its own may meet again. The rest of the library asks
/// number_of_this_thread() of system.hpp.
inline std::uint64_t system_thread_number() noexcept { return this_thread_slot().number; }

/// What debuggers and `top -H` call the calling thread: for messages.
LOCKSTEP_COLD std::uint64_t shown_thread_number() noexcept;

/// What a message calls a thread: "thread 4711 'lockstep 3'". The number is not the one in the text.
struct thread_label {
  std::uint64_t number;
  char text[48];
};

LOCKSTEP_COLD thread_label label_of_this_thread() noexcept;

#if LOCKSTEP_HAS_BODIES

class thread_slot_table {
 public:
  /// Of the calling thread.
  LOCKSTEP_COLD static thread_slot* find() noexcept {
    process_state& all = process();
    if (thread_slot* const mine = in_key(all)) return mine;
    thread_slot* slot = at_this_place(all);
    if (slot == nullptr) slot = add(all);
    if (slot != nullptr && put_in_key(all, slot)) {
      // The thread is new, the slot perhaps not: whoever had it is gone.
      slot->innermost = nullptr;
      slot->number = next_number(all);
    }
    return slot != nullptr ? slot : of_module(all);
  }

 private:
  static std::uintptr_t place() noexcept { return reinterpret_cast<std::uintptr_t>(&errno); }

  static std::uint64_t next_number(process_state& all) noexcept {
    return all.threads.fetch_add(1, memory_order_relaxed) + 1;  // 3
  }

  static growing_list& list_of(process_state& all, std::uintptr_t place) noexcept {
    const std::uint64_t product = std::uint64_t{place} * 0x9E3779B97F4A7C15u;
    return all.thread_slots[static_cast<std::size_t>(product >> 32) % process_state::slots_size];
  }

  static thread_slot* at_this_place(process_state& all) noexcept {
    if (!reuses) return nullptr;
    void* const first = list_of(all, place()).first.load(memory_order_acquire);  // 1
    thread_slot* slot = static_cast<thread_slot*>(first);
    while (slot != nullptr && slot->place != place()) slot = slot->next;
    return slot;
  }

  static thread_slot* add(process_state& all) noexcept {
    void* const raw = std::malloc(sizeof(thread_slot));
    if (raw == nullptr) return nullptr;
    unseamed_atomic<void*>& first = list_of(all, place()).first;
    void* next = first.load(memory_order_acquire);  // 1
    thread_slot* const slot = ::new (raw)
        thread_slot{nullptr, next_number(all), place(), static_cast<thread_slot*>(next)};
    while (!first.compare_exchange_weak(next, slot, memory_order_release,  // 2
                                        memory_order_acquire)) {           // 1
      slot->next = static_cast<thread_slot*>(next);
    }
    return slot;
  }

  /// Without memory: not shared with other modules, but right within this one.
  static thread_slot* of_module(process_state& all) noexcept {
    static thread_local thread_slot spare = {nullptr, 0, 0, nullptr};
    if (spare.number == 0) spare.number = next_number(all);
    return &spare;
  }

  // ThreadSanitizer does not know that a thread's memory is used again only after its end.
#if defined(__SANITIZE_THREAD__)
  static constexpr bool reuses = false;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
  static constexpr bool reuses = false;
#else
  static constexpr bool reuses = true;
#endif
#else
  static constexpr bool reuses = true;
#endif

#if defined(__unix__) || defined(__APPLE__)
  /// 0 if the system has no more.
  static std::uint32_t key_of(process_state& all) noexcept {
    static_assert(sizeof(pthread_key_t) <= sizeof(std::uint32_t), "a key fits");
    std::uint32_t known = all.thread_key.load(memory_order_relaxed);  // 4
    pthread_key_t made = 0;
    if (known != 0 || pthread_key_create(&made, nullptr) != 0) return known;
    const std::uint32_t mine = static_cast<std::uint32_t>(made) + 1;
    if (all.thread_key.compare_exchange_strong(known, mine, memory_order_relaxed,  // 5
                                               memory_order_relaxed)) {            // 4
      return mine;
    }
    pthread_key_delete(made);
    return known;
  }
  static thread_slot* in_key(process_state& all) noexcept {
    const std::uint32_t key = key_of(all);
    if (key == 0) return nullptr;
    return static_cast<thread_slot*>(pthread_getspecific(static_cast<pthread_key_t>(key - 1)));
  }
  static bool put_in_key(process_state& all, thread_slot* slot) noexcept {
    const std::uint32_t key = key_of(all);
    return key != 0 && pthread_setspecific(static_cast<pthread_key_t>(key - 1), slot) == 0;
  }
#else
  static thread_slot* in_key(process_state&) noexcept { return nullptr; }
  static bool put_in_key(process_state&, thread_slot*) noexcept { return false; }
#endif
};

LOCKSTEP_COLD thread_slot* find_thread_slot() noexcept { return thread_slot_table::find(); }

LOCKSTEP_COLD bool pin_this_thread(unsigned cpu) noexcept {
#if defined(__linux__)
  // A mask as large as needed: a machine may have more CPUs than the fixed one.
  if (cpu >= (1u << 20)) return false;
  cpu_set_t* const mask = CPU_ALLOC(cpu + std::size_t{1});
  if (mask == nullptr) return false;
  const std::size_t size = CPU_ALLOC_SIZE(cpu + std::size_t{1});
  CPU_ZERO_S(size, mask);
  CPU_SET_S(cpu, size, mask);
  const bool is_pinned = sched_setaffinity(0, size, mask) == 0;
  CPU_FREE(mask);
  return is_pinned;
#else
  (void)cpu;
  return false;
#endif
}

LOCKSTEP_COLD bool leave_native_cpu(unsigned cpu) noexcept {
#if defined(__linux__)
  // The kernel refuses a mask smaller than its own: this is enough for 65536 CPUs.
  constexpr std::size_t size = 8192;
  alignas(cpu_set_t) unsigned char before[size] = {}, without[size] = {}, found[size] = {};
  const auto mask = [](unsigned char* bytes) { return reinterpret_cast<cpu_set_t*>(bytes); };
  const int saved = errno;
  bool has_left = sched_getaffinity(0, size, mask(before)) == 0 && cpu < 8 * size &&
                  CPU_ISSET_S(cpu, size, mask(before));
  if (has_left) {
    std::memcpy(without, before, size);
    CPU_CLR_S(cpu, size, mask(without));
    has_left =
        CPU_COUNT_S(size, mask(without)) > 0 && sched_setaffinity(0, size, mask(without)) == 0;
  }
  const bool is_still_ours = has_left && (sched_getaffinity(0, size, mask(found)) != 0 ||
                                          std::memcmp(found, without, size) == 0);
  if (is_still_ours && sched_setaffinity(0, size, mask(before)) != 0) {
    // None of its CPUs is there any more: then any will do.
    std::memset(found, 0xff, size);
    sched_setaffinity(0, size, mask(found));
  }
  errno = saved;
  return has_left;
#else
  (void)cpu;
  return false;
#endif
}

LOCKSTEP_COLD bool name_this_thread(const char* name) noexcept {
#if defined(__linux__)
  char short_name[16] = {};
  for (std::size_t i = 0; i + 1 < sizeof short_name && name[i] != 0; ++i) short_name[i] = name[i];
  return pthread_setname_np(pthread_self(), short_name) == 0;
#else
  (void)name;
  return false;
#endif
}

LOCKSTEP_COLD void set_native_timer_slack(std::uint64_t nanoseconds) noexcept {
#if defined(__linux__)
  prctl(PR_SET_TIMERSLACK, static_cast<unsigned long>(nanoseconds), 0, 0, 0);
#else
  (void)nanoseconds;
#endif
}

LOCKSTEP_COLD std::uint64_t shorten_native_timer_slack(std::uint64_t nanoseconds) noexcept {
#if defined(__linux__)
  const int saved = errno;
  const int before = prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);
  const bool is_longer = before > 0 && static_cast<std::uint64_t>(before) > nanoseconds;
  if (is_longer) set_native_timer_slack(nanoseconds);
  errno = saved;
  return is_longer ? static_cast<std::uint64_t>(before) : 0;
#else
  (void)nanoseconds;
  return 0;
#endif
}

LOCKSTEP_COLD std::uint64_t shown_thread_number() noexcept {
#if defined(__linux__)
  return static_cast<std::uint64_t>(syscall(SYS_gettid));
#else
  return system_thread_number();
#endif
}

LOCKSTEP_COLD thread_label label_of_this_thread() noexcept {
  thread_label label;
  label.number = system_thread_number();
  char name[16] = {};
#if defined(__linux__)
  pthread_getname_np(pthread_self(), name, sizeof name);
#endif
  std::snprintf(label.text, sizeof label.text, "thread %llu '%s'",
                static_cast<unsigned long long>(shown_thread_number()), name);
  return label;
}

#endif

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_PLATFORM_THIS_THREAD_HPP

// lockstep/detail/platform/system.hpp -- the seam for what the system does for us (layer: platform)
//
// Sleeping, waking, yielding, the clock, the process-wide fence, the number of CPUs, threads and what
// each has for itself: the rest of the library asks the system for these only through the names below. A
// test program may define LOCKSTEP_SYSTEM_SEAM to a header of its own, in quotes, which declares the
// same names in the same namespace; with the atomic seam it puts the shipped code under a controlled
// scheduler (tests/model). Units with another seam do not share objects with others (config.hpp).
//
// Memory order (# marks the line)
//   #  access         order    pairs  why it suffices
//   1  count.load     relaxed  -      a number that stands for itself
//   2  count changes  relaxed  -      as 1
#ifndef LOCKSTEP_DETAIL_PLATFORM_SYSTEM_HPP
#define LOCKSTEP_DETAIL_PLATFORM_SYSTEM_HPP

#if defined(LOCKSTEP_SYSTEM_SEAM)
#include LOCKSTEP_SYSTEM_SEAM

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

inline unsigned cpus_for_waits() { return usable_cpus(); }
inline const nested_region*& innermost_region() noexcept {
  return per_thread<const nested_region*, struct name_of_innermost>();
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
#else

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// The futex contract FUTEX-1 to FUTEX-5 of futex.hpp.
inline void futex_wait(const wait_word& word, std::uint32_t expected, std::uint64_t deadline) {
  native_futex::wait(word, expected, deadline);
}
inline void futex_wake_one(const wait_word* word) { native_futex::wake_one(word); }
inline void futex_wake_all(const wait_word* word) { native_futex::wake_all(word); }

/// Lets another runnable thread have this CPU, if there is one.
inline void yield_thread() noexcept { yield_native_thread(); }

/// Between two looks of a loop that polls: other threads have to go on for the next look to differ.
inline void polling_pause() noexcept { cpu_relax(); }

/// The clock of all deadlines and budgets.
inline std::uint64_t monotonic_nanoseconds() noexcept { return steady_nanoseconds(); }

/// The two sides of the process-wide fence (process_fence.hpp).
inline void fence_light() noexcept { process_fence::light(); }
inline bool fence_heavy() noexcept { return process_fence::heavy(); }

/// count_usable_cpus() as it was when the process first asked. Asks the system at that time: waits do not,
/// they take cpus_for_waits().
LOCKSTEP_OUT_OF_LINE unsigned usable_cpus();

/// The same if it is known, else the CPUs of the affinity mask.
LOCKSTEP_COLD unsigned count_cpus_for_waits() noexcept;
inline unsigned cpus_for_waits() noexcept {
  const std::uint32_t usable = process().usable_cpus.load(memory_order_relaxed);  // 1
  return usable != 0 ? usable : count_cpus_for_waits();
}

/// How late the calling thread's timed sleeps may end (this_thread.hpp).
inline std::uint64_t shorten_timer_slack(std::uint64_t nanoseconds) noexcept {
  return shorten_native_timer_slack(nanoseconds);
}
inline void set_timer_slack(std::uint64_t nanoseconds) noexcept {
  set_native_timer_slack(nanoseconds);
}

/// Where the calling thread runs, and how it gets elsewhere (this_thread.hpp).
inline int current_cpu() noexcept { return native_current_cpu(); }
inline bool leave_cpu(unsigned cpu) noexcept { return leave_native_cpu(cpu); }

inline std::uint64_t number_of_this_thread() noexcept { return system_thread_number(); }

/// The region that the calling thread is in, for all modules; null at first.
inline const nested_region*& innermost_region() noexcept { return this_thread_slot().innermost; }

/// The T of that name that belongs to the calling thread, in this module; all zero bits at first.
template <class T, class Name>
T& per_thread() noexcept {
  static thread_local T value = T();
  return value;
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif

#if (defined(__unix__) || defined(__APPLE__)) && !defined(LOCKSTEP_SYSTEM_SEAM)
#include <pthread.h>
#else
#include <system_error>
#include <thread>
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// A thread that calls a plain function: what a team starts its workers with. A std::thread, without what that includes
/// where the system has threads of its own.
#if (defined(__unix__) || defined(__APPLE__)) && !defined(LOCKSTEP_SYSTEM_SEAM)
class plain_thread {
 public:
  /// f(of). Returns 0, or the number of the system's error.
  int start(void* (*f)(void*), void* of) noexcept {
    return pthread_create(&native_, nullptr, f, of);
  }
  void join() noexcept { pthread_join(native_, nullptr); }

 private:
  pthread_t native_ = pthread_t();
};
#else
class plain_thread {
#if defined(LOCKSTEP_SYSTEM_SEAM)
  using thread = system_thread;
#else
  using thread = std::thread;
#endif

 public:
  int start(void* (*f)(void*), void* of) {
#if LOCKSTEP_HAS_EXCEPTIONS
    try {
      native_.reset(new thread(f, of));
    } catch (const std::system_error& error) {
      return error.code().value();
    }
#else
    native_.reset(new thread(f, of));
#endif
    return 0;
  }
  void join() { native_->join(); }

 private:
  owner<thread> native_;
};
#endif

#if LOCKSTEP_HAS_BODIES

// A listener needs both the process's state and the futex, which itself needs that state.
struct fork_listener::all {
  static entry* first() noexcept { return static_cast<entry*>(process().first_fork_listener); }

  static void before() { process().fork_listeners.enter(); }
  static void after() {
    fork_section& section = process().fork_listeners;
    if (section.is_last()) section.leave();
  }
  static void child() {
    fork_section& section = process().fork_listeners;
    if (!section.is_last()) return;
    for (entry* at = first(); at != nullptr; at = at->next) at->in_child(at->owner);
    section.leave();
  }
};

LOCKSTEP_COLD fork_listener::fork_listener(void* owner, void (*in_child)(void*)) {
  // in_child() may wake: the tables that this needs are put right before.
  native_futex::prepare_for_fork();
  watch_forks<all>();
  entry_ = new entry{owner, in_child, nullptr, nullptr};
  const holding<system_mutex> held(process().fork_listeners.lock());
  entry* const next = entry_->next = all::first();
  if (next != nullptr) next->previous = entry_;
  process().first_fork_listener = entry_;
}

LOCKSTEP_COLD fork_listener::~fork_listener() {
  {
    const holding<system_mutex> held(process().fork_listeners.lock());
    entry *const next = entry_->next, *const previous = entry_->previous;
    if (next != nullptr) next->previous = previous;
    if (previous != nullptr) {
      previous->next = next;
    } else {
      process().first_fork_listener = next;
    }
  }
  delete entry_;
}

#if !defined(LOCKSTEP_SYSTEM_SEAM)

LOCKSTEP_OUT_OF_LINE unsigned usable_cpus() {
  unseamed_atomic<std::uint32_t>& counted = process().usable_cpus;
  std::uint32_t known = counted.load(memory_order_relaxed);  // 1
  if (known != 0) return known;
  const std::uint32_t count = count_usable_cpus();
  const bool is_first = counted.compare_exchange_strong(known, count, memory_order_relaxed,  // 2
                                                        memory_order_relaxed);               // 1
  return is_first ? count : known;
}

LOCKSTEP_COLD unsigned count_cpus_for_waits() noexcept {
  const std::uint32_t affine = process().affine_cpus.load(memory_order_relaxed);  // 1
  if (affine != 0) return affine;
  const std::uint32_t count = count_affine_cpus();
  process().affine_cpus.store(count, memory_order_relaxed);  // 2
  return count;
}

#endif

#endif

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_PLATFORM_SYSTEM_HPP

// lockstep/wait_policy.hpp -- how a thread waits, for how long, and how the wait ended (layer: wait)
//
//   wait_policy   spin, yield or sleep. Every object takes one when it is made.
//   deadline      a point on the monotonic clock. Every timed wait takes one.
//   wait_status   what every timed wait returns.
//
// Which policy to choose:
//   wait_policy()      the default. Spins for at most 2 us, and not at all when crowded or when spinning has
//                      not paid lately. Then yields while that helps, then sleeps. Right nearly always.
//   spin()             never enters the kernel. For one thread per CPU that you own alone, and real time.
//                      When crowded, a single wait costs whole time slices (milliseconds).
//   block()            sleeps at once. For waits that are known to be long. A wake costs 2 to 35 us.
//   hybrid(time)       spins for `time`, but not where the object knows that it is crowded. Then yields a
//                      while, then sleeps. It does not learn. (With the spin, a barrier of 64 on 2 CPUs
//                      takes 150 us, without it 60.)
#ifndef LOCKSTEP_WAIT_POLICY_HPP
#define LOCKSTEP_WAIT_POLICY_HPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {

/// How a timed wait ended.
enum class wait_status {
  ready,      ///< what the thread waited for has happened (and was taken)
  timed_out,  ///< it has not happened in time; nothing was taken
  terminated  ///< terminate() was called; no wait on the object blocks any more
};

/// When a wait gives up. Waits take a std::chrono::time_point of any clock, which becomes a deadline.
/// Setting the wall clock moves no deadline. A time that overflows means "never", a negative one "now".
class deadline {
 public:
  static constexpr deadline never() noexcept { return deadline(detail::no_deadline); }

  /// A point of a clock other than the steady one is taken as its distance from now: setting that clock
  /// later does not move it.
  template <class Clock, class Duration>
  deadline(std::chrono::time_point<Clock, Duration> point) : deadline(at(point)) {}

  template <class Rep, class Period>
  static deadline after(std::chrono::duration<Rep, Period> time) {
    using std::chrono::nanoseconds;
    // Compared in floating point, where no duration overflows; exact enough for a range check.
    const double wished = std::chrono::duration<double, std::nano>(time).count();
    if (!(wished > 0)) return deadline(0);
    if (wished > 9.0e18) return never();
    const std::uint64_t now = detail::monotonic_nanoseconds();
    const std::uint64_t length =
        static_cast<std::uint64_t>(std::chrono::duration_cast<nanoseconds>(time).count());
    return length < detail::no_deadline - now ? deadline(now + length) : never();
  }

  constexpr bool is_never() const noexcept { return nanoseconds_ == detail::no_deadline; }
  constexpr std::uint64_t nanoseconds() const noexcept { return nanoseconds_; }
  bool is_past(std::uint64_t now) const noexcept { return now >= nanoseconds_; }

 private:
  explicit constexpr deadline(std::uint64_t nanoseconds) noexcept : nanoseconds_(nanoseconds) {}

  template <class Clock, class Duration>
  static deadline at(std::chrono::time_point<Clock, Duration> point) {
    const typename Clock::time_point now = Clock::now();
    // As above: a difference that would overflow is known before it is taken.
    using floating = std::chrono::duration<double, std::nano>;
    const double distance =
        floating(point.time_since_epoch()).count() - floating(now.time_since_epoch()).count();
    if (distance < -1e9) return deadline(0);
    return distance > 9.0e18 ? never() : after(point - now);
  }

  std::uint64_t nanoseconds_;
};

/// A value of 4 bytes. All zero bits are the default, so that zero-initialised storage is a valid policy.
class wait_policy {
 public:
  /// The adaptive default.
  constexpr wait_policy() noexcept : bits_(0) {}

  static constexpr wait_policy spin() noexcept { return wait_policy(spin_kind, 0); }
  static constexpr wait_policy block() noexcept { return wait_policy(block_kind, 0); }

  /// Spins for `time`, cut to the range 0 to longest_spin().
  static constexpr wait_policy hybrid(std::chrono::nanoseconds time) noexcept {
    return wait_policy(hybrid_kind, time.count() < 0                 ? 0
                                    : time.count() > longest_spin_ns ? longest_spin_ns
                                                                     : time.count());
  }

  static constexpr std::chrono::nanoseconds longest_spin() noexcept {
    return std::chrono::nanoseconds(std::int64_t{longest_spin_ns});  // a value: not odr-used
  }

  constexpr bool is_adaptive() const noexcept { return (bits_ & kind_mask) <= crowded_kind; }
  constexpr bool is_spin() const noexcept { return (bits_ & kind_mask) == spin_kind; }
  constexpr bool is_block() const noexcept { return (bits_ & kind_mask) == block_kind; }
  constexpr bool is_hybrid() const noexcept { return (bits_ & kind_mask) >= hybrid_kind; }

  /// True for an adaptive or hybrid policy that was told it is crowded.
  constexpr bool is_crowded() const noexcept {
    return (bits_ & kind_mask) == crowded_kind || (bits_ & kind_mask) == crowded_hybrid_kind;
  }

  /// The time hybrid() was given; zero for the others.
  constexpr std::chrono::nanoseconds spin_time() const noexcept {
    return std::chrono::nanoseconds(bits_ >> kind_bits);
  }

  /// This policy, told whether the object's participants outnumber the CPUs. spin() and block() do not
  /// listen.
  constexpr wait_policy when_crowded(bool crowded) const noexcept {
    return is_adaptive() ? wait_policy(crowded ? crowded_kind : adaptive_kind, 0)
           : is_hybrid()
               ? wait_policy(crowded ? crowded_hybrid_kind : hybrid_kind, spin_time().count())
               : *this;
  }

  friend constexpr bool operator==(wait_policy a, wait_policy b) noexcept {
    return a.bits_ == b.bits_;
  }
  friend constexpr bool operator!=(wait_policy a, wait_policy b) noexcept { return !(a == b); }

 private:
  enum : std::uint32_t {
    adaptive_kind = 0,
    crowded_kind = 1,
    spin_kind = 2,
    block_kind = 3,
    hybrid_kind = 4,
    crowded_hybrid_kind = 5,
    kind_bits = 3,
    kind_mask = (1u << kind_bits) - 1
  };
  static constexpr std::int64_t longest_spin_ns = (std::int64_t{1} << (32 - kind_bits)) - 1;

  constexpr wait_policy(std::uint32_t kind, std::int64_t nanoseconds) noexcept
      : bits_(kind | static_cast<std::uint32_t>(nanoseconds) << kind_bits) {}

  std::uint32_t bits_;
};

static_assert(sizeof(wait_policy) == 4, "objects hold a policy each: keep it small");

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_WAIT_POLICY_HPP

// lockstep/detail/wait/wait_engine.hpp -- how a thread waits until something is ready (layer: wait)
//
// One loop for all objects of the library: spin for a time, then yield while that helps, then sleep in
// the kernel. What is waited for is a Waitable:
//     bool ready() noexcept              looks, with acquire order; never blocks. It may take what it finds,
//                                        since nobody looks again after it returned true
//     void sleep(deadline until)         announces a sleeper, looks again, sleeps; may return at any time
//     unsigned pauses() noexcept         optional: how long to pause before the next look, if not once. The
//                                        pauses are part of the time that is spun
//     bool is_elsewhere(uint64_t now)    optional: whether the thread that will make it ready runs on another
//                                        CPU. Asked after the spin, unless the policy is crowded
// published_words.hpp and word_waiter.hpp have the two usual ones, and the notifier's side of each.
//
//   WAIT-1  wait() returns true only after ready() was true, false only after the deadline.
//   WAIT-2  wait() sleeps only through Waitable::sleep, which looks again after it has announced itself:
//           no wake-up can be lost between the last look and the sleep.
//
// What a waiter has learned from its last waits is its wait_history: plain data, one thread uses it at a
// time, and zero bits mean "no doubt". It answers two questions for an adaptive wait:
//   Does spinning pay?  Not when the awaited thread needs our CPU, and not when waits are long.
//   Does yielding pay?  Not when a stranger takes the CPU and keeps it for its whole time slice; nor, in
//                       queues, when waits are long.
// Each is asked anew now and then, because the machine changes.
//
// Cost   ready at once: one look. Uncrowded: polls, no system call for spin_budget. Crowded: a yield is
//        0.5 us alone, 1.4 us with a switch; a sleep and wake 2 us on one CPU, 15 to 35 us across.
//
// Tuning (2 virtual CPUs of an EPYC, kernel 6.18; bench/sync, bench/team)
//   spin_budget   2 us: longer spins cost a whole budget a wait when both threads share a CPU, and end
//                 few waits more; a 50 us spin made such a fork/join 100 us. Nor do locks want more: 64
//                 threads that hold a mutex for 0.1 us take it in 0.21 us each with 2 us, 0.22 with 10,
//                 0.24 with 50; 2 and 4 threads do not care (0.20 us).
//   yield_limit   64: about 32 us alone, which is what the sleep would have cost (the 2-competitive
//                 choice); crowded, one to three yields end nearly every wait.
//   yield_time    crowded, a wait that is not over after this time is better slept, but the time before
//                 pays: it keeps the CPUs from halting while the notification comes round. Rings of 30 to
//                 127 events take 4 to 6 us a hop with 80 us, 5 to 6 with 20 or 40, 4 to 12 with 200,
//                 9 to 21 without a limit and 10 if all sleep. Where one notification lets many go,
//                 waking them in turn costs more than their yields: barriers of 128 take 110 us with
//                 400 us, 150 with 80. Hence event has the shorter one.
//   long_yield    a yield that took longer than this went to a stranger's time slice (3 ms here), and
//                 is a failure even if the wait is over after it: a sleeper woken for the notification
//                 preempts the stranger. With 8 busy strangers an event hop takes 11 to 165 us so, and
//                 1.9 to 4.4 ms if such yields count as successes. Our own crowd of 256 returns within
//                 0.3 ms.
//   far_budget    50 us, in place of yields where those went to a stranger, while the other thread is known to
//                 have a CPU of its own. It is more than a wake-up takes: two threads that have begun to sleep and
//                 wake each other stop doing so. Beside two busy processes a fork/join of 2 takes 0.4 us so and
//                 15 without, a barrier 0.17 and 40.
#ifndef LOCKSTEP_DETAIL_WAIT_WAIT_ENGINE_HPP
#define LOCKSTEP_DETAIL_WAIT_WAIT_ENGINE_HPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// How far a stage of a wait is trusted: waits that it ended speak for it, other waits against it.
class stage_trust {
 public:
  /// True if the stage should be tried in this wait: it is trusted, or it is time for another look.
  bool asks() noexcept {
    if (doubt_ < limit) return true;
    skipped_ = static_cast<std::uint8_t>((skipped_ + 1) % probe_interval);
    return skipped_ == 0;
  }
  void paid() noexcept { doubt_ = static_cast<std::uint8_t>(doubt_ / 2); }
  void failed() noexcept {
    if (doubt_ < limit) ++doubt_;
  }
  /// One failure that is as bad as many.
  void failed_badly() noexcept { doubt_ = limit; }

 private:
  // 4 failures in a row stop a stage, one success in a probe starts it again. A probe that fails costs
  // at most spin_budget (2 us) in 64 waits, 30 ns a wait.
  static constexpr std::uint8_t limit = 4;
  static constexpr std::uint8_t probe_interval = 64;

  std::uint8_t doubt_ = 0;
  std::uint8_t skipped_ = 0;
};

struct wait_history {
  stage_trust spinning;
  stage_trust yielding;
};

/// What the calling thread has learned, for objects that keep no history of each waiter.
inline wait_history& this_thread_history() noexcept {
  return per_thread<wait_history, struct name_of_history>();
}

/// The same for its waits in queues (parking_lot.hpp). There a wait that ends in a sleep speaks against
/// yielding. A wait on a word does not: in a crowd, barriers and rings need their yields all the same.
inline wait_history& this_thread_history_in_queues() noexcept {
  return per_thread<wait_history, struct name_of_queue_history>();
}

static_assert(sizeof(wait_history) == 4, "small objects hold a history");

/// What a Waitable need not have.
struct optional_parts {
  template <class Waitable>
  static auto sleep(Waitable& what, deadline until, int) -> decltype(what.sleep(until)) {
    what.sleep(until);
  }
  template <class Waitable>
  static void sleep(Waitable&, deadline, long) {
  }  // of one that only wait_awake() takes: not called

  template <class Waitable>
  static auto pauses(Waitable& what, int) -> decltype(what.pauses()) {
    return what.pauses();
  }
  template <class Waitable>
  static constexpr unsigned pauses(Waitable&, long) {
    return 1;
  }

  template <class Waitable>
  static constexpr auto has_pauses(int) -> decltype(std::declval<Waitable&>().pauses(), bool()) {
    return true;
  }
  template <class Waitable>
  static constexpr bool has_pauses(long) {
    return false;
  }

  template <class Waitable>
  static auto ask_where(Waitable& what, int) -> decltype(what.is_elsewhere(std::uint64_t())) {
    return what.is_elsewhere(monotonic_nanoseconds());
  }
  template <class Waitable>
  static constexpr bool ask_where(Waitable&, long) {
    return false;
  }
};

/// A Waitable whose type is forgotten, so that the long part of a wait is there once for all of them. Valid as long as
/// the Waitable.
class any_waitable {
 public:
  template <class Waitable>
  static any_waitable of(Waitable& what) noexcept {
    return any_waitable(&what, functions_of<Waitable>::table);
  }

  bool ready() const { return how_->ready(what_); }
  void sleep(deadline until) const { how_->sleep(what_, until); }
  bool has_pauses() const noexcept { return how_->has_pauses; }
  unsigned pauses() const { return how_->pauses(what_); }
  bool ask_where() const { return how_->ask_where(what_); }

 private:
  struct functions {
    bool (*ready)(void*);
    void (*sleep)(void*, deadline);
    unsigned (*pauses)(void*);
    bool (*ask_where)(void*);
    bool has_pauses;
  };

  template <class Waitable>
  struct functions_of {
    static Waitable& at(void* what) noexcept { return *static_cast<Waitable*>(what); }
    static bool ready(void* what) { return at(what).ready(); }
    static void sleep(void* what, deadline until) { optional_parts::sleep(at(what), until, 0); }
    static unsigned pauses(void* what) { return optional_parts::pauses(at(what), 0); }
    static bool ask_where(void* what) { return optional_parts::ask_where(at(what), 0); }

    static const functions table;
  };

  any_waitable(void* what, const functions& how) noexcept : what_(what), how_(&how) {}

  void* what_;
  const functions* how_;
};

template <class Waitable>
const any_waitable::functions any_waitable::functions_of<Waitable>::table = {
    &functions_of::ready, &functions_of::sleep, &functions_of::pauses, &functions_of::ask_where,
    optional_parts::has_pauses<Waitable>(0)};

class wait_engine {
 public:
  /// How long a wait yields at most, in nanoseconds, where it shares its notification with others, and
  /// where it has one for itself.
  static constexpr std::uint64_t shared_yield_time = 400000;
  static constexpr std::uint64_t single_yield_time = 80000;

  /// Waits until `what.ready()`. Returns false if `until` came first.
  template <class Waitable>
  static bool wait(Waitable& what, wait_policy policy, wait_history& history,
                   deadline until = deadline::never(),
                   std::uint64_t yield_time = shared_yield_time) {
    return what.ready() || wait_slowly(what, policy, history, until, yield_time);
  }

  /// The stages of wait() before the sleep; true if it got ready in them. For locks, whose waiters then queue
  /// up. block() skips these stages. spin() spins for the default's time.
  template <class Waitable>
  static bool wait_awake(Waitable& what, wait_policy policy, wait_history& history,
                         deadline until = deadline::never(),
                         std::uint64_t yield_time = single_yield_time) {
    if (what.ready()) return true;
    return !policy.is_block() && wait_awake_slowly(what, policy, history, until, yield_time);
  }

  /// For waits that spin in a way of their own: wait() without a spin, for a crowded policy.
  LOCKSTEP_ENTRY static bool wait_without_spin(any_waitable what, wait_policy policy,
                                               wait_history& history);

  /// Looks for the time between two looks at the clock.
  template <class Waitable>
  static bool poll(Waitable& what) {
    for (unsigned paused = 0; paused < pauses_per_look_at_clock;) {
      const unsigned pauses = optional_parts::pauses(what, 0);
      for (unsigned i = 0; i < pauses; ++i) polling_pause();
      if (what.ready()) return true;
      paused += pauses;
    }
    return false;
  }

 private:
  static constexpr std::uint64_t spin_budget = 2000;
  static constexpr std::uint64_t far_budget = 50000;
  static constexpr unsigned yield_limit = 64;
  static constexpr std::uint64_t long_yield = 2000000;
  static constexpr unsigned pauses_per_look_at_clock = 16;

  template <class Waitable>
  LOCKSTEP_NOINLINE static bool wait_slowly(Waitable& what, wait_policy policy,
                                            wait_history& history, deadline until,
                                            std::uint64_t yield_time) {
    const bool spins = begins_with_spin(policy, history);
    return (spins && ends_in_first_poll(what, policy, history)) ||
           wait_long(any_waitable::of(what), policy, history, until, yield_time, spins);
  }
  template <class Waitable>
  LOCKSTEP_NOINLINE static bool wait_awake_slowly(Waitable& what, wait_policy policy,
                                                  wait_history& history, deadline until,
                                                  std::uint64_t yield_time) {
    const bool spins = begins_with_spin(policy, history);
    return (spins && ends_in_first_poll(what, policy, history)) ||
           wait_long_awake(any_waitable::of(what), policy, history, until, yield_time, spins);
  }

  /// The first poll, which ends most waits that a look does not, knows the type of what it looks at. It goes without a
  /// look at the clock, which costs as much as one pause; but not where a poll may last.
  template <class Waitable>
  static bool ends_in_first_poll(Waitable& what, wait_policy policy, wait_history& history) {
    return !optional_parts::has_pauses<Waitable>(0) && poll(what) && note_spin(policy, history);
  }
  LOCKSTEP_NOINLINE LOCKSTEP_OUT_OF_LINE static bool begins_with_spin(wait_policy policy,
                                                                      wait_history& history);
  static bool note_spin(wait_policy policy, wait_history& history) noexcept {
    if (policy.is_adaptive()) history.spinning.paid();
    return true;
  }

  /// What follows the first poll; `spins` says whether there was one, or was to be.
  LOCKSTEP_ENTRY static bool wait_long(any_waitable what, wait_policy policy, wait_history& history,
                                       deadline until, std::uint64_t yield_time, bool spins);
  LOCKSTEP_ENTRY static bool wait_long_awake(any_waitable what, wait_policy policy,
                                             wait_history& history, deadline until,
                                             std::uint64_t yield_time, bool spins);
  /// Polls for `budget` nanoseconds, and at most one poll longer.
  LOCKSTEP_ENTRY static bool spin(any_waitable what, std::uint64_t budget, deadline until);
  /// Gives the CPU to others while that helps.
  LOCKSTEP_ENTRY static bool yield(any_waitable what, stage_trust& trust, deadline until,
                                   std::uint64_t yield_time);
};

#if LOCKSTEP_HAS_BODIES

bool wait_engine::begins_with_spin(wait_policy policy, wait_history& history) {
  if (policy.is_crowded() || policy.is_block()) return false;
  return !policy.is_adaptive() || (cpus_for_waits() > 1 && history.spinning.asks());
}

bool wait_engine::wait_without_spin(any_waitable what, wait_policy policy, wait_history& history) {
  return what.ready() || wait_long(what, policy.when_crowded(true), history, deadline::never(),
                                   shared_yield_time, false);
}

bool wait_engine::wait_long(any_waitable what, wait_policy policy, wait_history& history,
                            deadline until, std::uint64_t yield_time, bool spins) {
  if (policy.is_spin()) return spin(what, no_deadline, until) || what.ready();
  if (!policy.is_block() && wait_long_awake(what, policy, history, until, yield_time, spins)) {
    return true;
  }
  while (!what.ready()) {
    if (!until.is_never() && until.is_past(monotonic_nanoseconds())) return what.ready();
    what.sleep(until);
  }
  return true;
}

bool wait_engine::wait_long_awake(any_waitable what, wait_policy policy, wait_history& history,
                                  deadline until, std::uint64_t yield_time, bool spins) {
  if (policy.is_spin()) return spin(what, spin_budget, until);
  if (policy.is_hybrid()) {
    const std::uint64_t budget = static_cast<std::uint64_t>(policy.spin_time().count());
    return (spins && spin(what, budget, until)) || yield(what, history.yielding, until, yield_time);
  }
  if (spins) {
    if (spin(what, spin_budget, until)) return note_spin(policy, history);
    history.spinning.failed();
  }
  const bool is_elsewhere = !policy.is_crowded() && what.ask_where();
  if (history.yielding.asks()) return yield(what, history.yielding, until, yield_time);
  return is_elsewhere && ((!what.has_pauses() && poll(what)) || spin(what, far_budget, until));
}

bool wait_engine::spin(any_waitable what, std::uint64_t budget, deadline until) {
  if (budget == no_deadline && until.is_never()) {
    while (!poll(what)) continue;
    return true;
  }
  const std::uint64_t start = monotonic_nanoseconds();
  std::uint64_t now = start;
  while (now - start < budget && !until.is_past(now)) {
    if (poll(what)) return true;
    now = monotonic_nanoseconds();
  }
  return false;
}

bool wait_engine::yield(any_waitable what, stage_trust& trust, deadline until,
                        std::uint64_t yield_time) {
  const std::uint64_t start = monotonic_nanoseconds();
  std::uint64_t before = start;
  for (unsigned i = 0; i < yield_limit && !until.is_past(before); ++i) {
    yield_thread();
    const std::uint64_t after = monotonic_nanoseconds();
    if (after - before > long_yield) {
      trust.failed_badly();
      return what.ready();
    }
    if (what.ready()) {
      trust.paid();
      return true;
    }
    if (after - start > yield_time) return false;
    before = after;
  }
  return false;
}

#endif

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_WAIT_WAIT_ENGINE_HPP

// lockstep/detail/wait/published_words.hpp -- words that some threads publish and others wait for (layer: wait)
//
// What every board of the library is made of. A published word lies on a cache line of its own, with room for
// plain data beside it. Whoever publishes stores the data, then the word, then looks whether anybody sleeps.
// Whoever waits names a predicate on the word, and a stop that ends the wait otherwise.
//
// What happens before a word is published happens before the return of every wait that finds it.
// Lifetime: the notifier looks at the mark after the change that lets waiters go, so the words must outlive
// every call. Where a waiter may destroy the object at once, the mark must be part of the word: word_waiter.hpp.
//
// The mark of a word says whether somebody sleeps. It lies apart from the word's line: a thread never reads a
// line that it has just published, for the read waits until the store has claimed the line back from the threads
// that poll it. A barrier of 2 takes 1.0 line transfers without such a read, 1.3 with one (docs/decisions/0002).
//
//   value of a mark  meaning                           set by                       left by
//   even             nobody sleeps                     whoever wakes                a sleeper, which adds 1
//   odd              somebody sleeps, or has slept     a sleeper, before it sleeps  whoever wakes, which adds 1
// A mark may be odd with no sleeper: that costs a wake for nobody. No thread ever sleeps on an even mark.
//
//   PUBLISH-1  A thread sleeps only on an odd mark that it made or found, and only after it has looked at the word
//              and at the stop once more.
//   PUBLISH-2  Every odd value is left by exactly one step to the next even one, and a wake of all follows. So a
//              thread that announced itself before the step never falls asleep, or is woken. A plain flag would
//              not do: the sleeper of the next phase sets it again, and one about to sleep for this phase would
//              find it set.
//   PUBLISH-3  Whoever requests a stop changes the stop first, and then looks at the marks of all words.
//
//     notifier                          sleeper
//     word.store(value)          (1)    odd = mark.fetch_or(1)         (4)
//     fence                      (6)    fence                          (6)
//     if (mark.load() is odd)    (3)    if (word.load() still fails)   (2)
//       step to even, wake all   (5)      futex_wait(mark, odd)
//
// The two loads must not both miss the other side's store. Who pays for that is the object's choice, the same
// for both sides: the sleeper alone (process_fence.hpp) where sleeping is rare, else both. A sleeper that
// pays alone pays 7 to 10 us while other threads run: a crowd of 128 that slept at every barrier spent 12 us
// a member so, four times what both fences and the wakes take.
//
// Memory order (# marks the line; each weakening must fail a test)
//   #  access                 order    pairs  why it suffices
//   1  word.store             release  2      the waiter sees the data, and what came before
//   2  word.load              acquire  1      the other half
//   3  mark.load              relaxed  4      the fences order it after the word, and nothing else is read by it
//   4  mark.fetch_or          relaxed  3      as 3
//   5  mark.compare_exchange  relaxed  4      PUBLISH-2 needs the order of changes to this word only; the kernel
//                                             orders its comparison after the wake's lock
//   6  thread_fence           seq_cst  6      both sides: the loads of the picture come after the stores
//   7  word.load              relaxed  -      a look: whoever goes on comes through 2, or wrote the word itself
//   8  word.store             relaxed  -      while nobody waits: the caller orders it before the next wait
//   9  stop.load              acquire  -      pairs with the release of whoever sets the stop
//
// Cost   publish: one store, and one load of a line that nobody writes while nobody sleeps; no read-modify-write,
//        and no fence where the sleeper pays and the system has a process-wide one. wait: one line fetch.
#ifndef LOCKSTEP_DETAIL_WAIT_PUBLISHED_WORDS_HPP
#define LOCKSTEP_DETAIL_WAIT_PUBLISHED_WORDS_HPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// Who pays for the store-load fence between notifiers and sleepers.
enum class fence_payer { sleeper, both };

/// Sleeping is the rule with block() and when crowded, the exception otherwise.
constexpr fence_payer fence_payer_of(wait_policy policy) noexcept {
  return policy.is_block() || policy.is_crowded() ? fence_payer::both : fence_payer::sleeper;
}

/// Whether somebody sleeps until a word changes.
class sleeper_mark {
 public:
  /// To be called after the change that lets waiters go. Wakes all sleepers of this mark; true if somebody may
  /// have slept. Requires: the same payer in every call on one mark.
  bool notify(fence_payer payer = fence_payer::sleeper) {
    if (payer == fence_payer::both) {
      thread_fence(memory_order_seq_cst);  // 6
    } else {
      fence_light();
    }
    if ((mark_.load(memory_order_relaxed) & 1u) == 0) return false;  // 3
    wake();
    return true;
  }

  /// Whether somebody may sleep at this moment. Promises nothing.
  bool has_sleeper() const noexcept {
    return (mark_.load(memory_order_relaxed) & 1u) != 0;  // 3
  }

  /// Sleeps unless `what.ready()` when looked at after the announcement. May return for no reason.
  template <class Waitable>
  void sleep(const Waitable& what, deadline until, fence_payer payer = fence_payer::sleeper) {
    const announced_sleep now = announce(payer);
    if (!what.ready()) sleep_on(now, until);
  }

  /// For a thread whose sleep came to its deadline: the notifier need not wake it. Requires that no other thread
  /// ever sleeps on this mark: one that does would be forgotten.
  LOCKSTEP_ENTRY void withdraw() noexcept;

 private:
  struct announced_sleep {
    std::uint32_t odd;
    bool fenced;
  };

  LOCKSTEP_ENTRY void wake();
  LOCKSTEP_ENTRY announced_sleep announce(fence_payer payer);
  LOCKSTEP_ENTRY void sleep_on(announced_sleep now, deadline until);

  /// The sleeper's side; false if the system refused its part.
  static bool fence(fence_payer payer) {
    if (payer == fence_payer::sleeper) return fence_heavy();
    thread_fence(memory_order_seq_cst);  // 6
    return true;
  }

  /// Without the fence a notifier may have missed the announcement: look again in a millisecond.
  static std::uint64_t soon(deadline until) {
    const std::uint64_t limit = monotonic_nanoseconds() + 1000000;
    return limit < until.nanoseconds() ? limit : until.nanoseconds();
  }

  wait_word mark_{0};
};

#if LOCKSTEP_HAS_BODIES

void sleeper_mark::withdraw() noexcept {
  std::uint32_t odd = mark_.load(memory_order_relaxed);  // 3
  if ((odd & 1u) == 0) return;
  mark_.compare_exchange_strong(odd, odd + 1u, memory_order_relaxed,  // 5
                                memory_order_relaxed);                // 5
}

void sleeper_mark::wake() {
  std::uint32_t odd = mark_.load(memory_order_relaxed);  // 3
  if ((odd & 1u) == 0) return;
  if (mark_.compare_exchange_strong(odd, odd + 1u, memory_order_relaxed,  // 5
                                    memory_order_relaxed)) {              // 5
    futex_wake_all(&mark_);
  }
}

sleeper_mark::announced_sleep sleeper_mark::announce(fence_payer payer) {
  const std::uint32_t odd = mark_.fetch_or(1u, memory_order_relaxed) | 1u;  // 4
  return {odd, fence(payer)};
}

void sleeper_mark::sleep_on(announced_sleep now, deadline until) {
  futex_wait(mark_, now.odd, now.fenced ? until.nanoseconds() : soon(until));
}

#endif

/// The stop of waits that nothing else ends.
struct never_stops {
  static constexpr bool requested() noexcept { return false; }
};

/// Stopped once another word is not 0: terminate(), close().
struct stops_when_set {
  const wait_word& word;

  bool requested() const noexcept {
    return word.load(memory_order_acquire) != 0;  // 9
  }
};

/// Where the thread runs that is awaited: not known.
struct anywhere {};

/// The predicate of a wait for a phase: true from that phase on, modulo 2^32.
struct phase_reached {
  std::uint32_t target;

  bool operator()(std::uint32_t phase) const noexcept {
    return static_cast<std::int32_t>(phase - target) >= 0;
  }
};

/// What the wait engine looks at. Done: bool(Word). Stop: bool requested(), with acquire order. Where: nothing, or
/// bool is_elsewhere(std::uint64_t now) as the engine has it.
template <class Word, class Done, class Stop, class Where>
class awaited_word {
 public:
  awaited_word(const atomic<Word>& word, sleeper_mark& mark, fence_payer payer, Done done,
               Stop stop, Where where) noexcept
      : word_(word), mark_(mark), payer_(payer), done_(done), stop_(stop), where_(where) {}

  bool ready() const noexcept {
    return done_(word_.load(memory_order_acquire)) || stop_.requested();  // 2
  }
  void sleep(deadline until) { mark_.sleep(*this, until, payer_); }
  /// After a sleep that came to its deadline: see sleeper_mark.
  void withdraw() noexcept { mark_.withdraw(); }

  template <class Known = Where>
  auto is_elsewhere(std::uint64_t now) noexcept
      -> decltype(std::declval<Known&>().is_elsewhere(now)) {
    return where_.is_elsewhere(now);
  }

 private:
  const atomic<Word>& word_;
  sleeper_mark& mark_;
  const fence_payer payer_;
  Done done_;
  Stop stop_;
  Where where_;
};

/// One published word: a handle on the word, its mark, and how its waiters wait.
template <class Word>
class published_word {
 public:
  published_word(atomic<Word>& word, sleeper_mark& mark, wait_policy policy,
                 fence_payer payer) noexcept
      : word_(word), mark_(mark), policy_(policy), payer_(payer) {}

  /// Stores the word, and wakes those that sleep until it changes.
  void publish(Word value) const {
    publish_quietly(value);
    wake();
  }
  /// The two halves, for a wake that comes later or not at all.
  void publish_quietly(Word value) const noexcept {
    word_.store(value, memory_order_release);  // 1
  }
  void wake() const { mark_.notify(payer_); }
  bool has_sleeper() const noexcept { return mark_.has_sleeper(); }

  /// The word, and what came before it was published.
  Word value() const noexcept { return word_.load(memory_order_acquire); }  // 2
  /// The word alone.
  Word peek() const noexcept { return word_.load(memory_order_relaxed); }  // 7
  /// While nobody waits.
  void reset(Word value) const noexcept { word_.store(value, memory_order_relaxed); }  // 8

  /// Waits until done(word), or the stop. False if `until` came first.
  template <class Done, class Stop, class Where = anywhere>
  bool wait(Done done, Stop stop, wait_history& history, deadline until = deadline::never(),
            Where where = Where()) const {
    auto what = awaited(done, stop, where);
    return wait_engine::wait(what, policy_, history, until);
  }
  /// For waiters that wait in a way of their own.
  template <class Done, class Stop, class Where = anywhere>
  awaited_word<Word, Done, Stop, Where> awaited(Done done, Stop stop,
                                                Where where = Where()) const noexcept {
    return {word_, mark_, payer_, done, stop, where};
  }

 private:
  atomic<Word>& word_;
  sleeper_mark& mark_;
  const wait_policy policy_;
  const fence_payer payer_;
};

/// The lines of published_words, whatever is on them, and their marks.
struct lines_with_marks {
  LOCKSTEP_ENTRY lines_with_marks(std::size_t count, wait_policy its_policy,
                                  const element_type& line);
  LOCKSTEP_ENTRY void wake_all() const;

  const any_aligned_array lines;
  const aligned_array<sleeper_mark> mark_array;
  void* const data;
  sleeper_mark* const marks;
  const wait_policy policy;
  const fence_payer payer;
};

#if LOCKSTEP_HAS_BODIES

lines_with_marks::lines_with_marks(std::size_t count, wait_policy its_policy,
                                   const element_type& line)
    : lines(count, line),
      mark_array(count),
      data(lines.data()),
      marks(mark_array.data()),
      policy(its_policy),
      payer(fence_payer_of(its_policy)) {
  process_fence::prepare();
}

void lines_with_marks::wake_all() const {
  for (std::size_t i = 0; i < lines.size(); ++i) marks[i].notify(payer);
}

#endif

/// No data beside a word.
struct nothing_beside {};

/// A fixed number of published words, each on a line of its own with some data beside it: written before the word is
/// published, read by threads that have found the word.
template <class Word, class Beside = nothing_beside>
class published_words {
 public:
  published_words(std::size_t count, wait_policy policy)
      : all_(count, policy, element_type::of<padded<line>>::value) {}

  std::size_t size() const noexcept { return all_.lines.size(); }
  wait_policy policy() const noexcept { return all_.policy; }

  published_word<Word> operator[](std::size_t i) const noexcept {
    return {lines()[i].value.word, all_.marks[i], all_.policy, all_.payer};
  }
  Beside& beside(std::size_t i) noexcept { return lines()[i].value.beside; }

  /// After a stop was requested.
  void wake_all() const { all_.wake_all(); }
  /// The first `count` words, while nobody waits.
  void reset(Word value, std::size_t count) const noexcept {
    for (std::size_t i = 0; i < count; ++i) (*this)[i].reset(value);
  }

 private:
  struct line {
    atomic<Word> word{0};
    Beside beside;
  };

  padded<line>* lines() const noexcept { return static_cast<padded<line>*>(all_.data); }

  const lines_with_marks all_;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_WAIT_PUBLISHED_WORDS_HPP

// lockstep/detail/wait/ranked_barrier.hpp -- all wait for all: the barrier behind all barriers (layer: wait)
//
// Participants have ranks from 0. Each keeps the number of the phase that it is in and passes it along: a phase
// begins when the last one is over. A value may travel with each arrival, on its line. How a participant waits, and
// what ends its wait otherwise, is up to the owner.
//
// Two ways, chosen by the number of participants of a phase:
//   flags  up to `most_flags`: each publishes the phase on its own line, and looks at the lines of all others
//   tree   above: each counts itself in at a leaf of a tree of counters; the last one publishes the phase of all
// A counter for all is the tree whose root is its only node.
//
// Crossover, microseconds a phase in a crowd on 2 virtual CPUs of an EPYC, medians of 9 to 15 runs in turns:
//   policy    participants     4     5     6     8    16    32    64
//   default   flags          7.4   9.0  11.4  16.0    35    76   163     (one counter for all: as the tree, +- 2 %)
//             tree of 4s     8.6   9.0  11.3  16.0    35    74   159
//   block()   flags         12.5  17.6  22.4  34.3   108   262   850     (a waiter may sleep once for each flag)
//             tree of 4s    12.2  16.0  20.3  26.9    60   117   260
// So flags end at 4 participants with block(). Else the limit is 8, by the costs on paper of participants with a CPU
// each: all flags are fetched in parallel, while the counters of the tree are taken in turn.
//
//   RANKED-1  Nobody is through phase p before all have arrived in it. While anybody is in phase p, every published
//             phase is p - 1 or p.
//   RANKED-2  Every rank arrives at one leaf. The last to arrive at a node goes on to its parent, and the last at
//             the root ends the phase: exactly one each phase, after all others have arrived.
//   RANKED-3  A counter is 0 whenever no phase is under way, and below its node's width between arrivals.
//   RANKED-4  Whoever ends a phase by the tree does not wait for it: it would read the line that it has just published.
//
// Memory order (# marks the line; each weakening must fail a test; published_words.hpp has the rest)
//   #  access             order    pairs  why it suffices
//   1  counter.fetch_add  acq_rel  1      the last at a node has seen all arrivals below it, and takes
//                                         them along to the parent
//   2  counter.store      relaxed  -      published by 1 at the parent or with the phase after it; the
//                                         next arrivals, which have waited for that phase, come later
//   3  counter.store      relaxed  -      nobody arrives: the caller orders it before the next arrival
//
// Cost   flags: one store on one's own line, participants - 1 fetches in parallel; two participants pay one line
//        transfer each, at the same time. tree: one RMW for each participant and node, log(participants) in a
//        row at most, 4 on one line at most; then participants - 1 fetches of the line of the phase. One line
//        for 3 participants. No system call unless somebody sleeps.
// Source flags: all-to-all dissemination [MCS91]; the combining tree [YTL87], in barriers [MCS91].
#ifndef LOCKSTEP_DETAIL_WAIT_RANKED_BARRIER_HPP
#define LOCKSTEP_DETAIL_WAIT_RANKED_BARRIER_HPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// Where the nodes of a combining tree lie in an array: the leaves first, level by level, the root last.
/// A pure function of the number of participants and the fan-in, which is at least 2.
class tree_shape {
 public:
  struct node {
    std::size_t index;   ///< in the array
    std::size_t width;   ///< how many arrive here
    std::size_t parent;  ///< index; the node's own for the root
  };

  constexpr tree_shape(std::size_t participants, std::size_t fan_in) noexcept
      : participants_(participants), fan_in_(fan_in) {}

  std::size_t nodes() const noexcept {
    std::size_t sum = 0, level = participants_;
    do {
      level = parents_of(level);
      sum += level;
    } while (level > 1);
    return sum;
  }

  /// Calls f(node) for each node from the rank's leaf up while f returns true. Returns whether f
  /// returned true at the root as well.
  template <class F>
  bool climb(std::size_t rank, F f) const {
    std::size_t below = participants_, first = 0, at = rank;
    while (true) {
      const std::size_t level = parents_of(below);
      at /= fan_in_;
      const std::size_t rest = below - at * fan_in_;
      const std::size_t index = first + at;
      first += level;
      const bool root = level == 1;
      const node here = {index, rest < fan_in_ ? rest : fan_in_,
                         root ? index : first + at / fan_in_};
      if (!f(here)) return false;
      if (root) return true;
      below = level;
    }
  }

 private:
  std::size_t parents_of(std::size_t level) const noexcept {
    return (level + fan_in_ - 1) / fan_in_;
  }

  std::size_t participants_;
  std::size_t fan_in_;
};

/// The counters of a combining tree: tells the last of all participants that it is the last.
class arrival_tree {
 public:
  /// The fan-in of [MCS91]'s arrival tree.
  static constexpr std::size_t usual_fan_in = 4;

  /// `most_participants` may be 0: then nobody arrives here.
  explicit arrival_tree(std::size_t most_participants, std::size_t fan_in = usual_fan_in)
      : participants_(most_participants),
        fan_in_(fan_in),
        counters_(tree_shape(most_participants, fan_in).nodes()) {}

  /// True for the last of all; every counter is 0 again then. Never blocks.
  bool arrive(std::size_t rank) noexcept { return arrive(rank, participants_); }

  /// The same in a phase of fewer: the ranks below `participants`, all of whom pass that number.
  bool arrive(std::size_t rank, std::size_t participants) noexcept {
    return tree_shape(participants, fan_in_)
        .climb(rank, [this](const tree_shape::node& at) noexcept {
          detail::wait_word& counter = counters_[at.index].value;
          const std::size_t before = counter.fetch_add(1, detail::memory_order_acq_rel);  // 1
          if (before + 1 < at.width) return false;
          counter.store(0, detail::memory_order_relaxed);  // 2
          return true;
        });
  }

  /// As new, after a phase that was given up. While nobody arrives.
  void reset() noexcept {
    for (std::size_t i = 0; i < counters_.size(); ++i) {
      counters_[i].value.store(0, detail::memory_order_relaxed);  // 3
    }
  }

 private:
  std::size_t participants_;
  std::size_t fan_in_;
  detail::aligned_array<detail::padded<detail::wait_word>> counters_;
};

/// The most participants that meet by flags: see the crossover above.
constexpr std::size_t most_flags_for(wait_policy policy) noexcept {
  return policy.is_block() ? 4 : 8;
}

template <class Value = nothing_beside>
class ranked_barrier {
 public:
  using words = published_words<std::uint32_t, Value>;

  /// For phases of up to `most` participants, with that many lines at least. Tests pass a smaller limit for flags.
  ranked_barrier(std::size_t most, wait_policy policy, std::size_t lines, std::size_t most_flags)
      : flags_(lines, policy),
        end_(1, policy),
        tree_(most > most_flags ? most : 0),
        most_flags_(most_flags) {}

  wait_policy policy() const noexcept { return end_.policy(); }
  bool has_flags(std::size_t size) const noexcept { return size <= most_flags_; }

  /// What travels with a rank's arrival, or with the end of a phase by the tree: to be written before.
  Value& value_of(std::size_t rank) noexcept { return flags_.beside(rank); }
  Value& value_of_all() noexcept { return end_.beside(0); }

  /// Tells the others that `rank` has arrived in `phase`, one of `size` participants. Never blocks. By the tree the
  /// last to arrive calls finish() and ends the phase: true for that one.
  template <class Finish>
  bool arrive(std::size_t rank, std::size_t size, std::uint32_t phase, Finish finish) {
    if (has_flags(size)) {
      flags_[rank].publish(phase);
      return false;
    }
    if (!tree_.arrive(rank, size)) return false;
    finish();
    end_[0].publish(phase);
    return true;
  }

  /// Waits until all others have arrived, unless arrive() has returned true: wait(word, other) waits for one word, a
  /// flag of participant `other`, or the end of the phase, where `other` is `size`. Stops where it returns false.
  template <class Wait>
  bool wait_for_others(std::size_t rank, std::size_t size, Wait wait) {
    if (!has_flags(size)) return wait(end_[0], size);
    // Readers that begin with different writers disturb each other less.
    for (std::size_t i = 1, other = rank; i < size; ++i) {
      if (++other == size) other = 0;
      if (!wait(flags_[other], other)) return false;
    }
    return true;
  }
  /// The flag of a participant.
  published_word<std::uint32_t> flag(std::size_t rank) const noexcept { return flags_[rank]; }

  /// Whether all others have arrived; never blocks. Acquires what came before.
  bool have_others_arrived(std::size_t rank, std::size_t size, phase_reached phase) noexcept {
    return wait_for_others(rank, size, [&](const published_word<std::uint32_t>& word, std::size_t) {
      return phase(word.value());
    });
  }
  /// By a participant that is in a phase: whether another has arrived in it; by the tree, whether all have.
  bool has_arrived(std::size_t rank, std::size_t size, phase_reached phase) const noexcept {
    return phase(has_flags(size) ? flags_[rank].peek() : end_[0].peek());
  }

  /// The next phase is the one after `phase`. While nobody arrives or waits.
  void reset(std::uint32_t phase) noexcept {
    flags_.reset(phase, flags_.size() < most_flags_ ? flags_.size() : most_flags_);
    end_[0].reset(phase);
    tree_.reset();
  }

  /// After a stop was requested.
  void wake_all() const {
    flags_.wake_all();
    end_.wake_all();
  }

 private:
  words flags_;
  words end_;
  arrival_tree tree_;
  const std::size_t most_flags_;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_WAIT_RANKED_BARRIER_HPP

// lockstep/detail/platform/growing_array.hpp -- values in a row that can become more (layer: platform)
//
// As std::vector, whose names it uses, for code that every unit compiles: a std::vector of one type takes 10 to 20 ms of
// the compiler, this a tenth. Likewise sort_by() and the heap. A T moves without throwing.
#ifndef LOCKSTEP_DETAIL_PLATFORM_GROWING_ARRAY_HPP
#define LOCKSTEP_DETAIL_PLATFORM_GROWING_ARRAY_HPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

template <class T>
class growing_array {
 public:
  growing_array() noexcept = default;
  explicit growing_array(std::size_t count) : growing_array() { resize(count); }
  growing_array(std::size_t count, const T& value) : growing_array() { assign(count, value); }
  growing_array(const T* first, const T* last) : growing_array() { append(first, last); }
  growing_array(std::initializer_list<T> values) : growing_array(values.begin(), values.end()) {}
  growing_array(const growing_array& other) : growing_array(other.begin(), other.end()) {}
  growing_array(growing_array&& other) noexcept { swap(other); }
  growing_array& operator=(growing_array other) noexcept {
    swap(other);
    return *this;
  }
  ~growing_array() {
    clear();
    ::operator delete(data_);
  }

  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  T* data() noexcept { return data_; }
  const T* data() const noexcept { return data_; }
  T* begin() noexcept { return data_; }
  T* end() noexcept { return data_ + size_; }
  const T* begin() const noexcept { return data_; }
  const T* end() const noexcept { return data_ + size_; }
  T& operator[](std::size_t index) noexcept { return data_[index]; }
  const T& operator[](std::size_t index) const noexcept { return data_[index]; }
  T& front() noexcept { return data_[0]; }
  T& back() noexcept { return data_[size_ - 1]; }
  const T& back() const noexcept { return data_[size_ - 1]; }

  void push_back(T value) {
    if (size_ == capacity_) reserve(size_ < 4 ? 4 : 2 * size_);
    ::new (static_cast<void*>(data_ + size_)) T(std::move(value));
    ++size_;
  }
  void pop_back() noexcept { data_[--size_].~T(); }
  void clear() noexcept {
    while (size_ > 0) pop_back();
  }
  /// Copies of values that are none of these.
  void append(const T* first, const T* last) {
    for (; first != last; ++first) push_back(*first);
  }
  /// `value` is none of these.
  void assign(std::size_t count, const T& value) {
    clear();
    reserve(count);
    while (size_ < count) push_back(value);
  }
  void resize(std::size_t count) {
    while (size_ > count) pop_back();
    reserve(count);
    while (size_ < count) push_back(T());
  }
  void reserve(std::size_t count) {
    if (count <= capacity_) return;
    constexpr std::size_t most = static_cast<std::size_t>(-1) / 2;
    T* const made =
        static_cast<T*>(::operator new(count > most / sizeof(T) ? most : count * sizeof(T)));
    for (std::size_t i = 0; i < size_; ++i) {
      ::new (static_cast<void*>(made + i)) T(std::move(data_[i]));
      data_[i].~T();
    }
    ::operator delete(data_);
    data_ = made;
    capacity_ = count;
  }
  void swap(growing_array& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

 private:
  static_assert(alignof(T) <= alignof(std::max_align_t), "growing_array: see aligned_array");

  T* data_ = nullptr;
  std::size_t size_ = 0, capacity_ = 0;
};

/// In a heap no value is less than those below it: that at i has those at 2i + 1 and 2i + 2 below. Moves the value at
/// `at` down to its place.
template <class T, class Less>
void sift_down(T* heap, std::size_t count, std::size_t at, Less less) {
  for (std::size_t below = 2 * at + 1; below < count; below = 2 * at + 1) {
    if (below + 1 < count && less(heap[below], heap[below + 1])) ++below;
    if (!less(heap[at], heap[below])) return;
    std::swap(heap[at], heap[below]);
    at = below;
  }
}
template <class T, class Less>
void push_to_heap(growing_array<T>& heap, const T& value, Less less) {
  std::size_t at = heap.size();
  heap.push_back(value);
  while (at > 0 && less(heap[(at - 1) / 2], heap[at])) {
    std::swap(heap[(at - 1) / 2], heap[at]);
    at = (at - 1) / 2;
  }
}
template <class T, class Less>
T pop_from_heap(growing_array<T>& heap, Less less) {
  const T first = heap.front();
  heap.front() = heap.back();
  heap.pop_back();
  sift_down(heap.data(), heap.size(), 0, less);
  return first;
}

/// Equal values may change places.
template <class T, class Less>
void sort_by(T* values, std::size_t count, Less less) {
  for (std::size_t i = count / 2; i-- > 0;) sift_down(values, count, i, less);
  for (std::size_t left = count; left-- > 1;) {
    std::swap(values[0], values[left]);
    sift_down(values, left, 0, less);
  }
}
template <class T, class Less>
void sort_by(growing_array<T>& values, Less less) {
  detail::sort_by(values.data(), values.size(), less);
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_PLATFORM_GROWING_ARRAY_HPP

// lockstep/detail/wait/misuse.hpp -- tells who did what wrong, in debug builds (layer: wait)
//
// Where LOCKSTEP_DIAGNOSE_MISUSE is 1 (the default without NDEBUG), objects register who owns them and
// who waits on them in a table beside them, so that their layout is the same in every build. Misuse ends
// the program with a message that names the object's kind and address and both threads. Elsewhere every
// function here is empty.
// Objects of static storage are destroyed without a word: a detached thread may wait on one, or hold it, when
// the program ends.
//
// The table is behind locks, which order more than the objects themselves promise: look for missing
// order (ThreadSanitizer) with the diagnosis switched off.
//
// If any unit of the process is compiled without, nothing is diagnosed: it may have locked what is unlocked here.
//
// Memory order (# marks the line)
//   #  access          order    pairs  why it suffices
//   1  unchecked.load  relaxed  -      set before the unit that it stands for runs
//
// Cost   with diagnosis: a lock and a search, about 100 ns a call. Without: nothing.
#ifndef LOCKSTEP_DETAIL_WAIT_MISUSE_HPP
#define LOCKSTEP_DETAIL_WAIT_MISUSE_HPP

#if LOCKSTEP_HAS_BODIES
#include <cstddef>
#include <cstdio>
#include <cstdlib>

#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace misuse {

constexpr bool diagnosed = detail::diagnoses_misuse;

/// Prints "kind at address: text" and aborts.
[[noreturn]] LOCKSTEP_COLD void report(const void* object, const char* kind, const char* text);

#if LOCKSTEP_DIAGNOSE_MISUSE

/// Before the calling thread waits to own `object`.
LOCKSTEP_COLD void locking(const void* object, const char* kind);
/// The calling thread owns `object` now.
LOCKSTEP_COLD void locked(const void* object);
/// Before the calling thread unlocks `object`, once or for good.
LOCKSTEP_COLD void check_owner(const void* object, const char* kind);
/// Before the calling thread gives `object` up.
LOCKSTEP_COLD void unlocking(const void* object, const char* kind);

/// As locked() and unlocking(), for one of several readers.
LOCKSTEP_COLD void locked_shared(const void* object);
LOCKSTEP_COLD void unlocking_shared(const void* object, const char* kind);
/// Before the calling thread waits for `object`, as owner or reader: it may wait for itself.
LOCKSTEP_COLD void check_no_reader(const void* object, const char* kind);

/// The calling thread waits on `object` from now on; that thread does not any more.
LOCKSTEP_COLD void waiting(const void* object);
LOCKSTEP_COLD void let_go(const void* object, std::uint64_t thread);

/// In the destructor of `object`. A thread may wait on an object of static storage when the program ends, if
/// nobody joins it: it ends with the program, and never finds the object gone.
LOCKSTEP_COLD void destroying(const void* object, const char* kind);
/// As destroying(), of an object that can be owned.
LOCKSTEP_COLD void destroying_lock(const void* object, const char* kind);

#else

inline void locking(const void*, const char*) {}
inline void locked(const void*) {}
inline void check_owner(const void*, const char*) {}
inline void unlocking(const void*, const char*) {}
inline void locked_shared(const void*) {}
inline void unlocking_shared(const void*, const char*) {}
inline void check_no_reader(const void*, const char*) {}
inline void waiting(const void*) {}
inline void let_go(const void*, std::uint64_t) {}
inline void destroying(const void*, const char*) {}
inline void destroying_lock(const void*, const char*) {}

#endif

/// The calling thread waits on `object` while this lives.
class waiting_scope {
 public:
  explicit waiting_scope(const void* object) : object_(object) { waiting(object_); }
  ~waiting_scope() {
    if (diagnosed) let_go(object_, detail::number_of_this_thread());
  }
  waiting_scope(const waiting_scope&) = delete;
  waiting_scope& operator=(const waiting_scope&) = delete;

 private:
  const void* object_;
};

/// A base for objects of one word, registered under their own address: its destructor calls destroying().
/// Where nothing is diagnosed it is trivial, so that objects of static storage need no guard and no call
/// at exit. It has no members in either build.
template <class Object, bool Diagnosed = diagnosed>
class watched {
 protected:
  constexpr watched() noexcept = default;
  ~watched() { destroying(this, Object::kind); }
};
template <class Object>
class watched<Object, false> {};

#if LOCKSTEP_HAS_BODIES

[[noreturn]] LOCKSTEP_COLD void report(const void* object, const char* kind, const char* text) {
  std::fprintf(stderr, "%s at %p: %s\n", kind, object, text);
  std::abort();
}

#if LOCKSTEP_DIAGNOSE_MISUSE

/// Who has to do with which object. One table for the process.
class registry {
 public:
  enum class role { owner, reader, waiter };

  LOCKSTEP_COLD static void add(const void* object, role as) {
    bucket& home = bucket_of(object);
    const holding<system_mutex> lock(home.lock);
    if (home.entries == nullptr) home.entries = new list;
    entries_of(home).push_back(entry{object, as, detail::label_of_this_thread()});
  }

  /// Takes one entry of that thread out; false if there is none.
  LOCKSTEP_COLD static bool remove(const void* object, role as,
                                   std::uint64_t thread = detail::number_of_this_thread()) {
    bucket& home = bucket_of(object);
    const holding<system_mutex> lock(home.lock);
    if (home.entries == nullptr) return false;
    list& entries = entries_of(home);
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const entry& each = entries[i];
      if (each.object != object || each.as != as || each.who.number != thread) continue;
      entries[i] = entries.back();
      entries.pop_back();
      return true;
    }
    return false;
  }

  /// Any thread in that role; its number is 0 if there is none.
  LOCKSTEP_COLD static detail::thread_label find(const void* object, role as) {
    bucket& home = bucket_of(object);
    const holding<system_mutex> lock(home.lock);
    if (home.entries == nullptr) return detail::thread_label();
    for (const entry& each : entries_of(home)) {
      if (each.object == object && each.as == as) return each.who;
    }
    return detail::thread_label();
  }

 private:
  struct entry {
    const void* object;
    role as;
    detail::thread_label who;
  };
  using list = growing_array<entry>;
  using bucket = detail::misuse_bucket;

  static list& entries_of(bucket& home) noexcept { return *static_cast<list*>(home.entries); }

  // One table for the process, never destroyed: static objects may be used until the very end.
  static bucket& bucket_of(const void* object) {
    detail::watch_forks<around_fork>();
    const std::size_t place = reinterpret_cast<std::uintptr_t>(object) / 8;
    return detail::process().misuse[place % detail::process_state::misuse_size];
  }

  /// The table is whole in the child, and tells of the thread that is left only.
  struct around_fork {
    static void before() {
      if (!detail::process().misuse_forks.enter()) return;
      for (bucket& each : detail::process().misuse) each.lock.lock();
    }
    static void after() {
      if (!detail::process().misuse_forks.is_last()) return;
      for (bucket& each : detail::process().misuse) each.lock.unlock();
      detail::process().misuse_forks.leave();
    }
    static void child() {
      if (!detail::process().misuse_forks.is_last()) return;
      for (bucket& each : detail::process().misuse) {
        if (each.entries != nullptr) forget_others(entries_of(each));
        each.lock.unlock();
      }
      detail::process().misuse_forks.leave();
    }
    static void forget_others(list& entries) {
      for (std::size_t at = entries.size(); at-- > 0;) {
        if (entries[at].who.number == detail::number_of_this_thread()) continue;
        entries[at] = entries.back();
        entries.pop_back();
      }
    }
  };
};

/// "... by thread 1 'a', but <relation> thread 2 'b'".
[[noreturn]] LOCKSTEP_COLD void report_two(const void* object, const char* kind, const char* deed,
                                           const char* relation,
                                           const detail::thread_label& other) {
  char text[240];
  std::snprintf(text, sizeof text, "%s by %s, but %s %s", deed, detail::label_of_this_thread().text,
                relation, other.text);
  report(object, kind, text);
}

/// Whether the table tells the truth: units that diagnose nothing do not write to it, and may lock, unlock or
/// wake what others complain of.
LOCKSTEP_COLD bool table_is_whole() noexcept {
  return detail::process().unchecked_units.load(detail::memory_order_relaxed) == 0;  // 1
}

LOCKSTEP_COLD void locked(const void* object) { registry::add(object, registry::role::owner); }
LOCKSTEP_COLD void locked_shared(const void* object) {
  registry::add(object, registry::role::reader);
}
LOCKSTEP_COLD void waiting(const void* object) { registry::add(object, registry::role::waiter); }

LOCKSTEP_COLD void locking(const void* object, const char* kind) {
  if (!table_is_whole()) return;
  const detail::thread_label owner = registry::find(object, registry::role::owner);
  if (owner.number != detail::number_of_this_thread()) return;
  report_two(object, kind, "locked", "it is held already by the same", owner);
}

LOCKSTEP_COLD void check_owner(const void* object, const char* kind) {
  if (!table_is_whole()) return;
  const detail::thread_label owner = registry::find(object, registry::role::owner);
  if (owner.number == 0) report(object, kind, "unlocked, but nobody has locked it");
  if (owner.number != detail::number_of_this_thread()) {
    report_two(object, kind, "unlocked", "it is held by", owner);
  }
}

LOCKSTEP_COLD void unlocking(const void* object, const char* kind) {
  check_owner(object, kind);
  registry::remove(object, registry::role::owner);
}

LOCKSTEP_COLD void check_no_reader(const void* object, const char* kind) {
  if (!table_is_whole() || !registry::remove(object, registry::role::reader)) return;
  report_two(object, kind, "locked", "it is read already by the same",
             detail::label_of_this_thread());
}

LOCKSTEP_COLD void unlocking_shared(const void* object, const char* kind) {
  if (registry::remove(object, registry::role::reader) || !table_is_whole()) return;
  const detail::thread_label reader = registry::find(object, registry::role::reader);
  if (reader.number == 0) report(object, kind, "unlocked by a reader, but no reader holds it");
  report_two(object, kind, "unlocked", "it is held by", reader);
}

LOCKSTEP_COLD void let_go(const void* object, std::uint64_t thread) {
  registry::remove(object, registry::role::waiter, thread);
}

LOCKSTEP_COLD void destroying(const void* object, const char* kind) {
  if (!table_is_whole()) return;
  const detail::thread_label waiter = registry::find(object, registry::role::waiter);
  if (waiter.number == 0 || detail::is_static(object)) return;
  report_two(object, kind, "destroyed", "there waits on it", waiter);
}

LOCKSTEP_COLD void destroying_lock(const void* object, const char* kind) {
  destroying(object, kind);
  if (!table_is_whole()) return;
  const detail::thread_label owner = registry::find(object, registry::role::owner);
  const detail::thread_label reader = registry::find(object, registry::role::reader);
  if ((owner.number == 0 && reader.number == 0) || detail::is_static(object)) return;
  report_two(object, kind, "destroyed", "it is held by", owner.number != 0 ? owner : reader);
}

#endif

#endif

}  // namespace misuse
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_WAIT_MISUSE_HPP

// lockstep/detail/wait/word_waiter.hpp -- many threads wait until one word is as they want it (layer: wait)
//
// For objects whose whole state is one word with a bit that says "a thread sleeps", so that a waiter may
// destroy the object as soon as its wait has returned. A waiter brings a predicate on the word. It returns
// after it has seen a word that satisfies the predicate, or at its deadline.
// Where the structure guarantees the lifetime, a mark beside the state is cheaper: published_words.hpp.
//
//   WORD-1  A waiter sleeps only on a word that has the sleeping bit and does not satisfy its predicate.
//   WORD-2  A change that may make a sleeper's predicate true looks for the bit in the old value, and
//           wakes all sleepers if it was set. The change may clear the bit, because it wakes every thread
//           that has slept on it. After the change the changer touches nothing but the address.
//   WORD-3  The bit may be set with no sleeper. It is never clear with one, except for those sleepers
//           that the thread that cleared it is about to wake.
//
// So no wake-up is lost. A waiter that announced itself before the change is woken by it, or finds the
// word changed when it falls asleep (FUTEX-3 of futex.hpp). A waiter that comes later sees the new word.
//
//   bits   name      meaning                set by                       cleared by
//   0      sleeping  a waiter may be asleep a waiter, before it sleeps   the change that wakes; the object
//   1..31  -         the state of the object that has the word: see there
// Legal to be set too long: sleeping (costs a wake that finds no sleeper). Illegal to be missing: WORD-3.
//
// Memory order (# marks the line; each weakening must fail a test)
//   #  access            order    pairs     why it suffices
//   1  word.load         acquire  changer's what came before a change with release order is seen
//   2  word.compare_exch relaxed  -         the bit and the state are one word: the order of changes
//                                           suffices; as a read-modify-write it keeps the release
//                                           sequence of the changes before it
//   3  word.load         relaxed  -         whether to sleep; the engine looks again by 1
//
// Cost   ready at once: one load. To sleep: one RMW for the first sleeper, one system call for each.
// Source [DREPPER] for the bit in the word.
#ifndef LOCKSTEP_DETAIL_WAIT_WORD_WAITER_HPP
#define LOCKSTEP_DETAIL_WAIT_WORD_WAITER_HPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// The bit of each word that is this header's.
constexpr std::uint32_t sleeping_bit = 1;

/// What the wait engine looks at. Done: bool(std::uint32_t word), which ignores the sleeping bit.
template <class Done>
class word_waiter {
 public:
  word_waiter(wait_word& word, Done done) noexcept : word_(word), done_(done), announced_(false) {}

  bool ready() const noexcept {
    return done_(word_.load(memory_order_acquire));  // 1
  }

  void sleep(deadline until) {
    std::uint32_t word = word_.load(memory_order_relaxed);  // 3
    if (done_(word)) return;
    announced_ = true;
    if ((word & sleeping_bit) == 0 &&
        !word_.compare_exchange_strong(word, word | sleeping_bit, memory_order_relaxed,  // 2
                                       memory_order_relaxed)) {                          // 2
      return;
    }
    futex_wait(word_, word | sleeping_bit, until.nanoseconds());
  }

  /// True if this waiter may have set the sleeping bit.
  bool has_announced() const noexcept { return announced_; }

 private:
  wait_word& word_;
  Done done_;
  bool announced_;
};

/// As wait_engine::wait. Where misuse is diagnosed, the thread is registered as a waiter on `object`.
template <class Waitable>
bool wait_watched(Waitable& what, const void* object, wait_policy policy, wait_history& history,
                  deadline until, std::uint64_t yield_time) {
  if (!misuse::diagnosed) return wait_engine::wait(what, policy, history, until, yield_time);
  if (what.ready()) return true;
  const misuse::waiting_scope waiting(object);
  return wait_engine::wait(what, policy, history, until, yield_time);
}

/// The same with the history of the calling thread. Out of line: looking that up is not worth inlining.
template <class Waitable>
LOCKSTEP_NOINLINE bool wait_watched(Waitable& what, const void* object, wait_policy policy,
                                    deadline until, std::uint64_t yield_time) {
  return wait_watched(what, object, policy, this_thread_history(), until, yield_time);
}

/// Waits until done(word); false if `until` came first. `object` is what the word belongs to.
template <class Done>
bool wait_until_word(wait_word& word, Done done, const void* object, wait_policy policy,
                     deadline until = deadline::never(),
                     std::uint64_t yield_time = wait_engine::shared_yield_time) {
  word_waiter<Done> what(word, done);
  return what.ready() || wait_watched(what, object, policy, until, yield_time);
}

/// The changer's side of WORD-2. `old` is the word before the change. The object may be gone already.
inline void wake_sleepers(const wait_word* word, std::uint32_t old) {
  if ((old & sleeping_bit) != 0) futex_wake_all(word);
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_WAIT_WORD_WAITER_HPP

// lockstep/barrier.hpp -- all wait for all: reusable barrier of ranked threads (layer: sync)
//
// No thread returns from arrive_and_wait(rank) before all participants have called it. It is CUDA's
// __syncthreads() between CPU threads. What happens before any arrival in a phase happens before every
// return from that phase. arrive() and wait() are its two halves, for work in between.
// The participants must be fixed, and each must know its rank; else take split_barrier.
//
// The barrier chooses how arrivals are counted by the number of participants: see ranked_barrier.hpp.
//
//   BARRIER-1  While any thread is between arrive and wait of phase p, every published phase is p - 1 or p.
//   BARRIER-2  Each rank has a line of its own for what it alone reads and writes: the phases in which it has
//              arrived, and has waited.
// Lifetime: destroy only after every call has returned.
//
// Memory order (# marks the line; ranked_barrier.hpp and published_words.hpp have the rest)
//   #  access            order    pairs  why it suffices
//   1  terminated.store  release  2      the released waiter sees what came before terminate()
//   2  terminated.load   acquire  1      the other half
//
// Cost   two participants pay one line transfer each, at the same time; see ranked_barrier.hpp.
#ifndef LOCKSTEP_BARRIER_HPP
#define LOCKSTEP_BARRIER_HPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {

class barrier {
 public:
  /// Fails if participants is 0 or above 65536. Tests pass `first_phase` to start next to wrap-around.
  explicit barrier(std::size_t participants, wait_policy policy = wait_policy(),
                   std::uint32_t first_phase = 0)
      : barrier(participants, policy, first_phase, detail::most_flags_for(policy)) {}
  /// For tests: with a smaller limit for flags.
  barrier(std::size_t participants, wait_policy policy, std::uint32_t first_phase,
          std::size_t most_flags)
      : rank_array_(detail::checked_count("lockstep::barrier", "participants", participants)),
        ranks_(&rank_array_[0]),
        participants_(participants),
        phases_(participants, policy.when_crowded(participants > detail::usable_cpus()),
                participants <= most_flags ? participants : 0, most_flags) {
    phases_.reset(first_phase);
    for (std::size_t rank = 0; rank < participants; ++rank) {
      ranks_[rank].value.arrived = ranks_[rank].value.waited = first_phase;
    }
  }
  barrier(const barrier&) = delete;
  barrier& operator=(const barrier&) = delete;
  ~barrier() { detail::misuse::destroying(this, "lockstep::barrier"); }

  std::size_t participants() const noexcept { return participants_; }
  wait_policy policy() const noexcept { return phases_.policy(); }

  /// Blocks until all participants have arrived; false once terminated.
  /// Requires: each rank used by one thread at a time. Fails if rank >= participants().
  bool arrive_and_wait(std::size_t rank) {
    arrive(rank);
    return wait_for_others(rank, nullptr) == wait_status::ready;
  }

  /// The first half: tells the others that this thread is here. Never blocks.
  /// Requires: the rank's previous arrival has been waited for.
  void arrive(std::size_t rank) {
    own_state& self = ranks_[checked(rank)].value;
    self.was_last = phases_.arrive(rank, participants(), ++self.arrived, [] {});
  }

  /// The second half: blocks until all have arrived; false once terminated.
  /// Requires: arrive(rank) was called before.
  bool wait(std::size_t rank) {
    return wait_for_others(checked(rank), nullptr) == wait_status::ready;
  }
  /// As wait() if all are there, else false; never blocks.
  bool try_wait(std::size_t rank) {
    own_state& self = ranks_[checked(rank)].value;
    if (terminated() || self.arrived == self.waited) return false;
    if (!self.was_last && !phases_.have_others_arrived(rank, participants(), {self.arrived})) {
      return false;
    }
    self.waited = self.arrived;
    return true;
  }
  /// As wait(), for at most `time`; after a time-out the arrival still counts: wait again.
  template <class Rep, class Period>
  wait_status wait_for(std::size_t rank, std::chrono::duration<Rep, Period> time) {
    return wait_until(rank, deadline::after(time));
  }
  wait_status wait_until(std::size_t rank, deadline until) {
    return wait_for_others(checked(rank), &until);
  }

  /// Releases everybody; from now on every wait returns at once. Any thread may call it.
  void terminate() {
    terminated_.store(1, detail::memory_order_release);  // 1
    phases_.wake_all();
  }
  bool terminated() const noexcept {
    return terminated_.load(detail::memory_order_acquire) != 0;  // 2
  }

 private:
  using phases = detail::ranked_barrier<>;

  struct own_state {
    std::uint32_t arrived = 0, waited = 0;  ///< the last phases
    bool was_last = false;                  ///< to arrive: the phase is over
    detail::wait_history history = {};
  };

  using phase_word = detail::published_word<std::uint32_t>;

  /// `until`: null is never.
  wait_status wait_for_others(std::size_t rank, const deadline* until) {
    own_state& self = ranks_[rank].value;
    const auto wait_for = [&](const phase_word& word, std::size_t) {
      auto what =
          word.awaited(detail::phase_reached{self.arrived}, detail::stops_when_set{terminated_});
      return what.ready() || detail::wait_watched(what, this, policy(), self.history,
                                                  until != nullptr ? *until : deadline::never(),
                                                  detail::wait_engine::shared_yield_time);
    };
    if (!self.was_last && !phases_.wait_for_others(rank, participants(), wait_for)) {
      return wait_status::timed_out;
    }
    if (terminated()) return wait_status::terminated;
    self.waited = self.arrived;
    return wait_status::ready;
  }
  std::size_t checked(std::size_t rank) const {
    if (rank < participants_) return rank;
    detail::fail_rank("lockstep::barrier", "participants", rank, participants_);
  }

  detail::line_gap before_;
  detail::aligned_array<detail::padded<own_state>> rank_array_;
  detail::padded<own_state>* const ranks_;
  const std::size_t participants_;
  phases phases_;
  detail::wait_word terminated_{0};
  detail::line_gap after_;
};

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_BARRIER_HPP

// lockstep/build_info.hpp -- how the library was built and what it found here (layer: wait)
//
// For bug reports, and for programs that refuse to run without a native futex: static facts, and what the
// system granted. How a team is set up: LOCKSTEP_DISPLAY_ENV.
//
//   usable_cpus()   on how many CPUs the process may run: affinity, cut by a container's quota, at least 1. As it
//                   was when the process first asked.
// The macros LOCKSTEP_VERSION (a text), LOCKSTEP_VERSION_MAJOR, _MINOR and _PATCH are the version.
#ifndef LOCKSTEP_BUILD_INFO_HPP
#define LOCKSTEP_BUILD_INFO_HPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {

using detail::usable_cpus;

/// The texts live for ever.
struct build_information {
  const char* version;
  const char* futex;          ///< what sleeping threads sleep in
  const char* process_fence;  ///< who pays between notifiers and sleepers, and what with
  std::size_t cache_line_size;
  const char* default_policy;
  unsigned usable_cpus;  ///< what the function of that name returns
  bool diagnoses_misuse;
};

LOCKSTEP_COLD build_information build_info();

/// One line per item, "name: value\n".
LOCKSTEP_COLD std::string to_string(const build_information& info);

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_BUILD_INFO_HPP

// lockstep/call_site.hpp -- where a function of member was called (layer: team)
#ifndef LOCKSTEP_CALL_SITE_HPP
#define LOCKSTEP_CALL_SITE_HPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {

/// Where a construct was called, for messages: the default argument of the functions of member. A function of yours
/// that calls them for others takes one too, with the same default, and passes it on: then messages name its callers.
struct call_site {
  const char* file;
  unsigned line;

  static constexpr call_site here(const char* in_file = LOCKSTEP_CALLER_FILE,
                                  unsigned at_line = LOCKSTEP_CALLER_LINE) noexcept {
    return {in_file, at_line};
  }
};

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_CALL_SITE_HPP

// lockstep/detail/wait/short_lock.hpp -- guards a few instructions of the library's own (layer: wait)
//
// For the queues of parking_lot.hpp. Not for users: it is not fair; see mutex.hpp.
//
//   SHORT-1  A thread that has slept takes the lock as slept_on, because others may sleep still; the thread that
//            frees a slept_on wakes one. So nobody is left asleep.
//   SHORT-2  What happens before unlock() happens before the return of the next lock().
//
// word_: a value, not bits
//   value  name      meaning                         set by
//   0      free      nobody holds it                 unlock
//   1      held      held, and nobody sleeps         lock, by CAS from free
//   2      slept_on  held, and somebody may sleep    a waiter before it sleeps, or that takes it after a sleep
// Legal to be too high: slept_on with no sleeper (costs a wake for nobody). Held with a sleeper loses a wake-up.
//
// Memory order (# marks the line)
//   #  access            order    pairs  why it suffices
//   1  word.compare_exch acquire  3      SHORT-2
//   2  word.exchange     acquire  3      SHORT-2, where the 0 was found by the sleeper's announcement
//   3  word.exchange     release  1, 2   SHORT-2
//   4  word.load         relaxed  -      a hint whether 1 is worth the try
//   5  word.compare_exch relaxed  -      where it fails, nothing was read
//
// Cost   uncontended: two read-modify-writes. Contended: see wait_engine.hpp.
// Source [DREPPER], the second mutex.
#ifndef LOCKSTEP_DETAIL_WAIT_SHORT_LOCK_HPP
#define LOCKSTEP_DETAIL_WAIT_SHORT_LOCK_HPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

class short_lock {
 public:
  constexpr short_lock() noexcept : word_(0) {}
  short_lock(const short_lock&) = delete;
  short_lock& operator=(const short_lock&) = delete;

  void lock() { lock(word_); }
  void unlock() { unlock(word_); }

  /// The same for a word that lies elsewhere; 0 is free.
  static void lock(detail::wait_word& word) {
    attempt now{word, held_, false};
    wait_engine::wait(now, wait_policy(), this_thread_history());
  }
  static void unlock(detail::wait_word& word) {
    if (word.exchange(free_, detail::memory_order_release) == slept_on_) {  // 3
      detail::futex_wake_one(&word);
    }
  }

 private:
  enum : std::uint32_t { free_ = 0, held_ = 1, slept_on_ = 2 };

  /// What the wait engine looks at: takes the lock when it is free.
  struct attempt {
    detail::wait_word& word;
    std::uint32_t take_as;
    bool taken;

    bool ready() noexcept {
      std::uint32_t expected = free_;
      return taken || (word.load(detail::memory_order_relaxed) == free_ &&           // 4
                       word.compare_exchange_strong(expected, take_as,               //
                                                    detail::memory_order_acquire,    // 1
                                                    detail::memory_order_relaxed));  // 5
    }
    void sleep(deadline until) {
      take_as = slept_on_;
      taken = word.exchange(slept_on_, detail::memory_order_acquire) == free_;  // 2
      if (!taken) detail::futex_wait(word, slept_on_, until.nanoseconds());
    }
  };

  detail::wait_word word_;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_WAIT_SHORT_LOCK_HPP

// lockstep/detail/wait/parking_lot.hpp -- queues of waiting threads, beside the objects they wait on (layer: wait)
//
// Objects of 4 bytes have no room for a queue. A thread that has to wait puts a node of its own stack into a table
// under the object's key, and waits until another thread takes the node out and notifies it. So waiters are served
// in the order of their arrival, only the intended waiters wake up, a waiter can be moved from one object's queue to
// another's without waking, and a waiter can leave the queue at its deadline. queued_word.hpp is what locks use.
//
//   PARKING-1  A node is notified once, after it has left its queue; until then it stays where it is. After the
//              notification the node is its thread's again and may be gone: notify() returns what to wake, an
//              address that is used as an address only.
//   PARKING-2  Under the lock of a key's queue, a node in it proves that its thread has not returned, hence that
//              the object it waits on exists. A thread that finds the queue empty must not touch the object: the
//              key may belong to nothing, or to another object by now.
//   PARKING-3  What happens before notify() happens before the return of the node's wait().
//   PARKING-4  A child of fork() finds the queues empty and the words as if nobody had ever queued. fork() is
//              called with all queues locked. In the child each node that is in a list proves that its object
//              exists (PARKING-2), so the object's word is stripped of what it says of waiters. If a word tells of
//              a thread that has left the queue, that thread is in the list of those on their way.
//
// word_ of parked_thread
//   value  name      meaning                           set by
//   0      -         not notified, its thread is awake its thread, before the node is in a queue
//   1      sleeping  not notified, its thread sleeps   its thread, by CAS from 0, before it sleeps
//   2      notified  it may return                     the thread that took the node out
// Legal to be left: sleeping, after a sleep that ended early (costs a wake for nobody). Notified is never undone but
// by the node's own thread, which then uses the node again.
//
// Memory order (# marks the line)
//   #  access             order    pairs  why it suffices
//   1  word.exchange      release  2      PARKING-3
//   2  word.load          acquire  1      PARKING-3
//   3  word.compare_exch  relaxed  1      the mark and the notification are one word: its change order
//                                         suffices; the load 2 follows
//   4  word.store         relaxed  -      no other thread knows the node at that time
//   5  word.fetch_and     relaxed  -      the only thread of the child
//
// Cost   the table is 32 KiB of zeros. A queue operation is a lock (2 RMWs) and a walk past the nodes of
//        other keys in the same bucket. fork() takes and frees the 256 locks, 5 us.
// Source [PARKING-LOT]; the queue on the stacks of its threads is that of [MCS91], section 2.
#ifndef LOCKSTEP_DETAIL_WAIT_PARKING_LOT_HPP
#define LOCKSTEP_DETAIL_WAIT_PARKING_LOT_HPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// A thread in a queue.
class parked_thread : public list_node<parked_thread> {
 public:
  constexpr explicit parked_thread(std::uint32_t purpose = 0) noexcept
      : word_(0), purpose_(purpose) {}
  parked_thread(const parked_thread&) = delete;
  parked_thread& operator=(const parked_thread&) = delete;

  /// What it waits for, in its object's terms.
  std::uint32_t purpose() const noexcept { return purpose_; }

  /// Waits for the notification; false if `until` came first.
  bool wait(wait_policy policy, deadline until = deadline::never(),
            wait_history& history = this_thread_history_in_queues()) {
    slept_ = false;
    const bool notified =
        wait_engine::wait(*this, policy, history, until, wait_engine::single_yield_time);
    if (slept_) history.yielding.failed();
    return notified;
  }

  /// To be used again, by its own thread, after it was notified.
  void renew() noexcept { word_.store(0, detail::memory_order_relaxed); }  // 4

  /// True once it was let go ahead of its turn (queue::send_ahead). For its own thread after that notification, and
  /// for the thread that holds the lock of its queue.
  bool was_ahead() const noexcept { return was_ahead_; }
  /// True once it was taken out of the queue without what it waits for: it goes back to the front.
  bool goes_first() const noexcept { return goes_first_; }

  bool ready() const noexcept {
    return word_.load(detail::memory_order_acquire) == notified_;  // 2
  }
  void sleep(deadline until) {
    slept_ = true;
    std::uint32_t word = 0;
    if (!word_.compare_exchange_strong(word, sleeping_, detail::memory_order_relaxed,  // 3
                                       detail::memory_order_relaxed) &&                // 3
        word != sleeping_) {
      return;
    }
    detail::futex_wait(word_, sleeping_, until.nanoseconds());
  }

 private:
  friend class parking_lot;
  friend class wake_list;
  enum : std::uint32_t { sleeping_ = 1, notified_ = 2 };

  /// Lets the thread go; returns what to wake, or nothing if it does not sleep.
  const detail::wait_word* notify() noexcept {
    const detail::wait_word* const word = &word_;
    const bool sleeps = word_.exchange(notified_, detail::memory_order_release) == sleeping_;  // 1
    return sleeps ? word : nullptr;
  }

  detail::wait_word word_;
  std::uint32_t purpose_;
  bool slept_ = false;
  bool was_ahead_ = false;
  bool goes_first_ = false;
  bool is_on_its_way_ = false;
  std::uintptr_t key_ = 0;
};

/// Threads on the way between two queues, in order.
using parked_chain = intrusive_list<parked_thread>;

/// Notifies threads at once and wakes them when it goes out of scope: outside of the queue's lock if the wake_list was
/// made before the lock was taken.
class wake_list {
 public:
  wake_list() noexcept : count_(0) {}
  ~wake_list() { flush(); }
  wake_list(const wake_list&) = delete;
  wake_list& operator=(const wake_list&) = delete;

  void notify(parked_thread& thread) {
    const detail::wait_word* const word = thread.notify();
    if (word == nullptr) return;
    if (count_ == capacity) flush();
    words_[count_++] = word;
  }

 private:
  static constexpr std::size_t capacity = 32;

  void flush() {
    for (std::size_t i = 0; i < count_; ++i) detail::futex_wake_one(words_[i]);
    count_ = 0;
  }

  const detail::wait_word* words_[capacity];
  std::size_t count_;
};

/// The table is one for the process (process.hpp): waiters and wakers may be of different modules.
class parking_lot {
  using bucket = detail::parking_bucket;
  using list = intrusive_list<parked_thread>;

 public:
  /// Which queue: the object's address and one of four kinds, so that a late look at the queue of an
  /// object that is gone does not mistake the waiters of another kind of object for its own (PARKING-2).
  enum class kind : std::uintptr_t { mutex, semaphore, shared_mutex, condition_variable };
  static std::uintptr_t key(const detail::wait_word& word, kind of) noexcept {
    static_assert(alignof(detail::wait_word) >= 4, "two bits are free");
    return reinterpret_cast<std::uintptr_t>(&word) + static_cast<std::uintptr_t>(of);
  }

  /// The bits of an object's word that do not tell of its waiters (PARKING-4).
  static constexpr std::uint32_t without_waiters(kind of) noexcept {
    return of == kind::mutex          ? 1u
           : of == kind::semaphore    ? ~1u
           : of == kind::shared_mutex ? ~2u
                                      : 0u;
  }

  /// The queue of one key, locked while this lives.
  class queue {
   public:
    explicit queue(std::uintptr_t key) : bucket_(bucket_of(key)), key_(key) {
      // A lock that is contended sleeps: the portable futex's own locks are taken after ours.
      detail::native_futex::prepare_for_fork();
      detail::watch_forks<around_fork>();
      short_lock::lock(bucket_.lock);
    }
    ~queue() { short_lock::unlock(bucket_.lock); }
    queue(const queue&) = delete;
    queue& operator=(const queue&) = delete;

    /// The waiter that waits longest, or none.
    parked_thread* front() const noexcept { return from(bucket_.waiting.first()); }
    /// The waiter behind `thread`, or none.
    parked_thread* behind(const parked_thread& thread) const noexcept {
      return from(thread.next());
    }
    bool empty() const noexcept { return front() == nullptr; }

    bool contains(const parked_thread& thread) const noexcept {
      const parked_thread* each = front();
      while (each != nullptr && each != &thread) each = behind(*each);
      return each != nullptr;
    }

    void push_back(parked_thread& thread) noexcept {
      thread.key_ = key_;
      bucket_.waiting.push_back(thread);
    }
    void push_front(parked_thread& thread) noexcept {
      thread.key_ = key_;
      bucket_.waiting.push_front(thread);
    }
    /// Requires: it is in this queue.
    void remove(parked_thread& thread) noexcept { bucket_.waiting.remove(thread); }
    /// For a waiter that gives up: false if another thread has taken it out.
    bool withdraw(parked_thread& thread) noexcept {
      if (!contains(thread)) return false;
      remove(thread);
      return true;
    }

    /// From the queue to those on their way: let go, but the object's word still tells of it (PARKING-4).
    void send_out(parked_thread& thread) noexcept {
      remove(thread);
      thread.goes_first_ = thread.is_on_its_way_ = true;
      bucket_.on_their_way.push_front(thread);
    }
    /// Out of the queue before its turn, at most once for each thread: the object's word does not tell of it
    /// any more, and it goes on as one that has just come.
    void send_ahead(parked_thread& thread) noexcept {
      remove(thread);
      thread.goes_first_ = thread.was_ahead_ = true;
    }
    /// Out of the list of those on their way, if it is there.
    void arrive(parked_thread& thread) noexcept {
      if (!thread.is_on_its_way_) return;
      thread.is_on_its_way_ = false;
      bucket_.on_their_way.remove(thread);
    }
    /// True if a child of a fork() at this moment would put the object's word right (PARKING-4); for tests.
    bool is_known() const noexcept {
      return !empty() || from(bucket_.on_their_way.first()) != nullptr;
    }

   private:
    parked_thread* from(parked_thread* thread) const noexcept {
      while (thread != nullptr && thread->key_ != key_) thread = thread->next();
      return thread;
    }

    bucket& bucket_;
    std::uintptr_t key_;
  };

  /// What is done around a fork() (PARKING-4): before it and after it in the parent, and in the child.
  static void lock_all() {
    for (bucket& each : detail::process().parking) short_lock::lock(each.lock);
  }
  static void unlock_all() {
    for (bucket& each : detail::process().parking) short_lock::unlock(each.lock);
  }
  static void forget_all() noexcept {
    for (bucket& each : detail::process().parking) {
      forget(each.waiting);
      forget(each.on_their_way);
      ::new (&each) bucket();
    }
  }

 private:
  /// The nodes lie on stacks of threads that are not there: they are read, and then forgotten.
  static void forget(const list& of) noexcept {
    for (const parked_thread* each = of.first(); each != nullptr; each = each->next()) {
      const std::uintptr_t which = each->key_ & 3u;
      detail::wait_word& word = *reinterpret_cast<detail::wait_word*>(each->key_ - which);
      word.fetch_and(without_waiters(static_cast<kind>(which)),
                     detail::memory_order_relaxed);  // 5
    }
  }

  static bucket& bucket_of(std::uintptr_t key) noexcept {
    // Fibonacci hashing: the high bits of the product depend on all bits of the key.
    const std::uint64_t product = std::uint64_t{key} * 0x9E3779B97F4A7C15u;
    constexpr unsigned bits = detail::process_state::parking_bits;
    return detail::process().parking[static_cast<std::size_t>(product >> (64 - bits))];
  }

  struct around_fork {
    static void before() {
      if (detail::process().parking_forks.enter()) lock_all();
    }
    static void after() {
      if (!detail::process().parking_forks.is_last()) return;
      unlock_all();
      detail::process().parking_forks.leave();
    }
    static void child() {
      if (!detail::process().parking_forks.is_last()) return;
      forget_all();
      detail::process().parking_forks.leave();
    }
  };
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_WAIT_PARKING_LOT_HPP

// lockstep/detail/wait/queued_word.hpp -- a word that threads take from, with a queue beside it (layer: wait)
//
// What mutex, shared_mutex and semaphore share: to take by compare-exchange, to poll, to queue up, to leave the queue
// at a deadline, and to hand over to the front of the queue. What the bits mean is the object's Rules:
//     queue                     which kind of queue: parking_lot::kind
//     backs_off                 true: a thread that polls looks less and less often
//     may_take(word, as)        whether a thread that is not in the queue may take now what it wants
//     taken(word, as)           the word after that
//     marked(word, as)          the word while such a thread is in the queue
//     without_waiters(word)     the word once the queue is empty
//     may_be_given(word, as)    handed_word only: as may_take(), for the front of the queue
// `as` says what the thread wants: parked_thread::purpose().
//
//   QUEUED-1  A thread that queues up has found, under the queue's lock, that it may not take, and marked the word in
//             the same compare-exchange. So whoever makes the word free later finds the mark.
//   QUEUED-2  Of the queue's lock and the word: the mark is cleared under the lock, when the queue is empty. While a
//             thread may be in the queue, the word is changed by others too, but they leave the mark.
//   QUEUED-3  A thread leaves the queue by its own hand, or is taken out by another: the queue's lock decides. In the
//             second case it has what it waited for, or is notified to try again; its deadline counts no more.
//
// Memory order (# marks the line)
//   #  access            order    pairs     why it suffices
//   1  word.compare_exch acquire  object's  we see what the threads did that gave up what we take: their change has
//                                           release order, and all changes here keep the release sequence
//   2  word.load         relaxed  -         a guess for the compare-exchange that follows
//   3  word.compare_exch relaxed  -         takes nothing; the queue's lock orders the marks (QUEUED-2)
//   4  word.compare_exch acquire  object's  takes for others: they see what we saw, through their notification (1 of
//                                           parking_lot.hpp)
//
// Cost   to take what is free: one read-modify-write. To queue up: the queue's lock and one read-modify-write.
#ifndef LOCKSTEP_DETAIL_WAIT_QUEUED_WORD_HPP
#define LOCKSTEP_DETAIL_WAIT_QUEUED_WORD_HPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// The base of an object: its only data. The object is registered under this address (misuse.hpp).
template <class Rules>
class queued_word {
 public:
  wait_policy policy() const noexcept { return policy_; }

 protected:
  constexpr queued_word(std::uint32_t word, wait_policy how) noexcept : word_(word), policy_(how) {}

  std::uintptr_t key() const noexcept { return parking_lot::key(word_, Rules::queue); }

  /// Takes, if that may be now.
  bool try_take(std::uint32_t as) noexcept {
    std::uint32_t word = word_.load(memory_order_relaxed);  // 2
    while (Rules::may_take(word, as)) {
      if (take(word, Rules::taken(word, as))) return true;
    }
    return false;
  }

  /// As try_take(), for the time that `policy` waits awake.
  bool poll(std::uint32_t as, deadline until) {
    attempt now(*this, as);
    return wait_engine::wait_awake(now, policy_, this_thread_history(), until);
  }

  /// Queues the thread up, unless it could take after all: then false. A thread that was let go in vain goes to the
  /// front.
  bool enqueue(parked_thread& self, std::uint32_t as) {
    parking_lot::queue waiters(key());
    waiters.arrive(self);
    if (take_or(as, [as](std::uint32_t word) { return Rules::marked(word, as); })) return false;
    if (!self.goes_first()) {
      waiters.push_back(self);
    } else {
      self.renew();
      waiters.push_front(self);
    }
    return true;
  }

  /// Takes, or makes the word wanted(word) in a moment in which it may not take; false then. Requires: the queue is
  /// locked.
  template <class Wanted>
  bool take_or(std::uint32_t as, Wanted wanted) noexcept {
    std::uint32_t word = word_.load(memory_order_relaxed);  // 2
    while (true) {
      if (Rules::may_take(word, as)) {
        if (take(word, Rules::taken(word, as))) return true;
      } else if (change(word, wanted(word))) {
        return false;
      }
    }
  }

  /// For a waiter at its deadline: false if another thread has taken it out of the queue.
  bool withdraw(parking_lot::queue& waiters, parked_thread& self) noexcept {
    if (!waiters.withdraw(self)) return false;
    unmark_if_empty(waiters);
    return true;
  }
  /// After a waiter has left the queue.
  void unmark_if_empty(const parking_lot::queue& waiters) noexcept {
    if (!waiters.empty()) return;
    std::uint32_t word = word_.load(memory_order_relaxed);  // 2
    while (!change(word, Rules::without_waiters(word))) continue;
  }

  bool take(std::uint32_t& old, std::uint32_t wanted) noexcept {
    return word_.compare_exchange_strong(old, wanted, memory_order_acquire,  // 1
                                         memory_order_relaxed);              // 2
  }
  bool change(std::uint32_t& old, std::uint32_t wanted) noexcept {
    return word_.compare_exchange_strong(old, wanted, memory_order_relaxed,  // 3
                                         memory_order_relaxed);              // 2
  }

  wait_word word_;
  wait_policy policy_;

 private:
  /// What the wait engine looks at before a thread queues up.
  struct plain_attempt {
    queued_word& owner;
    std::uint32_t as;

    plain_attempt(queued_word& of, std::uint32_t purpose) noexcept : owner(of), as(purpose) {}
    bool ready() noexcept { return owner.try_take(as); }
  };
  /// Each look takes the word's line away from the holder.
  struct backing_off_attempt : plain_attempt {
    unsigned pause = 8;
    static constexpr unsigned longest_pause = 64;

    backing_off_attempt(queued_word& of, std::uint32_t purpose) noexcept
        : plain_attempt(of, purpose) {}
    unsigned pauses() noexcept {
      const unsigned now = pause;
      if (pause < longest_pause) pause *= 2;
      return now;
    }
  };
  using attempt =
      typename std::conditional<Rules::backs_off, backing_off_attempt, plain_attempt>::type;
};

/// A queued_word whose waiters are handed what they wait for, in their order: nobody overtakes the queue. A thread that
/// was notified has what it wanted.
template <class Rules>
class handed_word : protected queued_word<Rules> {
  using base = queued_word<Rules>;

 public:
  using base::policy;

 protected:
  constexpr handed_word(std::uint32_t word, wait_policy how) noexcept : base(word, how) {}

  /// Waits its turn and takes; false if `until` came first.
  LOCKSTEP_NOINLINE bool take_slowly(std::uint32_t as, deadline until) {
    const misuse::waiting_scope waiting(this);
    if (this->poll(as, until)) return true;
    parked_thread self(as);
    return !this->enqueue(self, as) || self.wait(this->policy_, until) || !leave(self);
  }

  /// Hands the front of the queue what there is. After a change that may let waiters go.
  LOCKSTEP_NOINLINE void hand_over() {
    wake_list woken;
    parking_lot::queue waiters(this->key());
    hand_over(waiters, woken);
  }

 private:
  /// At the deadline; false if it was handed what it waits for before that. Those behind it may go, if it was what
  /// held them up.
  bool leave(parked_thread& self) {
    wake_list woken;
    parking_lot::queue waiters(this->key());
    if (!this->withdraw(waiters, self)) return false;
    hand_over(waiters, woken);
    return true;
  }

  void hand_over(parking_lot::queue& waiters, wake_list& woken) {
    if (waiters.empty()) return;
    std::uint32_t word = this->word_.load(memory_order_relaxed);  // 2
    std::uint32_t served = 0, wanted = 0;
    do {
      wanted = word;
      served = 0;
      parked_thread* next = waiters.front();
      for (; next != nullptr && Rules::may_be_given(wanted, next->purpose()); ++served) {
        wanted = Rules::taken(wanted, next->purpose());
        next = waiters.behind(*next);
      }
      if (served == 0) return;
      if (next == nullptr) wanted = Rules::without_waiters(wanted);
    } while (!this->word_.compare_exchange_strong(word, wanted, memory_order_acquire,  // 4
                                                  memory_order_relaxed));  // 2
    for (; served > 0; --served) {
      parked_thread& next = *waiters.front();
      waiters.remove(next);
      woken.notify(next);
    }
  }
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_WAIT_QUEUED_WORD_HPP

// lockstep/mutex.hpp -- mutual exclusion, fair under contention; recursive or not (layer: sync)
//
// mutex, timed_mutex                      one thread at a time is between lock() and unlock(). A std::timed_mutex by its
//                                         operations: works with std::unique_lock and std::scoped_lock.
// recursive_mutex, recursive_timed_mutex  its holder may lock it again. Prefer a plain mutex: code that locks twice
//                                         usually does not know what state it finds.
// For many readers see shared_mutex.hpp.
//
// What happens before an unlock happens before the return of the next lock.
#ifndef LOCKSTEP_MUTEX_HPP
#define LOCKSTEP_MUTEX_HPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

// word_ of mutex
//   bit    name      meaning                         set by                               cleared by
//   0      locked    a thread holds it               lock                                 unlock
//   1      waiting   the queue may have a waiter     a waiter, as it queues up            the last to leave the queue
//   2      waking    a waiter was woken and is on    an unlock that wakes                 that waiter, as it takes the
//                    its way                                                              lock, queues up or gives up
//   3..31  bypasses  how often the waiters were      a lock that overtakes counts; the    as waking, and the last to
//                    overtaken                       waiter on its way, in vain: limit    leave the queue
// Legal to be set too long: waiting, under the queue's lock (costs a look at the queue). None may be missing: without
// waiting an unlock wakes nobody, without waking it wakes a second waiter.

/// What the bits of a mutex mean (queued_word.hpp).
struct mutex_rules {
  static constexpr parking_lot::kind queue = parking_lot::kind::mutex;
  static constexpr bool backs_off = true;

  static constexpr std::uint32_t locked = 1, waiting = 2, waking = 4, one_bypass = 8;
  /// It takes 20 to 50 us to wake up on another CPU, 1000 to 2500 acquisitions of 20 ns: a smaller limit would leave
  /// the lock idle for the rest of that time.
  static constexpr std::uint32_t bypass_limit = 4096;

  enum purpose : std::uint32_t { newcomer, woken };

  static bool reserved(std::uint32_t word) noexcept { return word >= bypass_limit * one_bypass; }

  static bool may_take(std::uint32_t word, std::uint32_t as) noexcept {
    return (word & locked) == 0 && (as == woken || !reserved(word));
  }
  static std::uint32_t taken(std::uint32_t word, std::uint32_t as) noexcept {
    if (as == woken) return (word & waiting) | locked;
    return (word | locked) + ((word & (waiting | waking)) != 0 ? one_bypass : 0);
  }
  static std::uint32_t marked(std::uint32_t word, std::uint32_t as) noexcept {
    return as == woken ? locked | waiting | bypass_limit * one_bypass : word | waiting;
  }
  /// The bypasses count from zero again when no thread waits any more.
  static std::uint32_t without_waiters(std::uint32_t word) noexcept {
    return (word & waking) != 0 ? word & ~waiting : word & locked;
  }
  static std::uint32_t without_woken(std::uint32_t word) noexcept {
    return (word & waiting) != 0 ? word & ~waking : locked;
  }
};
static_assert(parking_lot::without_waiters(mutex_rules::queue) == mutex_rules::locked, "PARKING-4");

}  // namespace detail

// Invariants
//   MUTEX-1  At most one thread holds the lock; only that thread clears `locked`.
//   MUTEX-2  A thread that queues up has found the lock held or reserved, and marks the word (QUEUED-1): a later unlock
//            finds `waiting`.
//   MUTEX-3  `waking` is set from the moment an unlock takes a waiter out of the queue to wake it, until that waiter
//            has the lock, is back in the queue, or has given up. One waiter at most is on its way at a time. As long it
//            is in the list of those on their way, so that a child of fork() can clear the bit (PARKING-4).
//   MUTEX-4  Bounded bypass. While a thread waits or is on its way, every acquisition by another is counted; after
//            bypass_limit the lock is reserved for the waiter that is woken. It is also reserved once a woken waiter
//            has found the lock taken. So a thread that is queued behind p others is overtaken at most
//            (p + 1) * (bypass_limit + 1) times, where p includes those that MUTEX-6 lets go. Before it queues up it
//            polls for a bounded time: 2 us and the pause that is under way then (1.7 us), and 80 us of yields.
//   MUTEX-5  The mutex may be destroyed by the thread that has locked and unlocked it last: an unlock touches nothing
//            after its change of the word, unless the queue has a waiter (PARKING-2).
//   MUTEX-6  A thread that goes to sleep on a condition leaves its CPU to one more waiter: it lets the first in the
//            queue go ahead of its turn, beside the one that is on its way. That waiter leaves the queue as at a
//            deadline and tries as a newcomer; in vain, it goes back to the front. It is let go so once, and no other
//            is while it is the first. With one on its way at a time, a chain of broadcasts to 64 threads on 2 CPUs
//            had a CPU halt and be woken at every second thread: 320 us, 80 so.
//
// Memory order (# marks the line; each weakening must fail a test)
//   #  access            order    pairs  why it suffices
//   1  word.compare_exch acquire  2      we see what the last holder did
//   2  word.fetch_sub    release  1      the other half; so for row 1 of queued_word.hpp
//   3  word.load         relaxed  -      a guess for the compare-exchange that follows, or a hint
//   4  word.fetch_or     relaxed  -      takes nothing; the queue's lock orders it (QUEUED-2)
//
// Cost   lock and unlock: one read-modify-write each. No system call unless a thread sleeps. 8 bytes.
// Source the queue beside the word: [PARKING-LOT]; letting others in while a waiter wakes, and ending that after a
//        while: [GO-MUTEX]; here by a count instead of a time.
class mutex : private detail::queued_word<detail::mutex_rules> {
  using rules = detail::mutex_rules;

 public:
  /// How many acquisitions may overtake a waiter that has been woken and is on its way.
  static constexpr std::uint32_t bypass_limit = rules::bypass_limit;

  explicit constexpr mutex(wait_policy policy = wait_policy()) noexcept : queued_word(0, policy) {}
  ~mutex() { detail::misuse::destroying_lock(this, kind()); }
  mutex(const mutex&) = delete;
  mutex& operator=(const mutex&) = delete;

  /// Blocks until the calling thread holds the lock. Requires: it does not hold it yet.
  void lock() {
    detail::misuse::locking(this, kind());
    std::uint32_t free = 0;
    if (!word_.compare_exchange_strong(free, rules::locked, detail::memory_order_acquire,  // 1
                                       detail::memory_order_relaxed)) {                    // 3
      lock_slowly(deadline::never());
    }
    detail::misuse::locked(this);
  }

  /// Takes the lock if it is free and not reserved; never blocks.
  bool try_lock() noexcept {
    const bool taken = try_take(rules::newcomer);
    if (taken) detail::misuse::locked(this);
    return taken;
  }

  /// As lock(), for at most `time`; false if the lock was not to be had.
  template <class Rep, class Period>
  bool try_lock_for(std::chrono::duration<Rep, Period> time) {
    return try_lock_until(deadline::after(time));
  }
  bool try_lock_until(deadline until) {
    detail::misuse::locking(this, kind());
    const bool taken = try_take(rules::newcomer) || lock_slowly(until);
    if (taken) detail::misuse::locked(this);
    return taken;
  }

  /// Requires: the calling thread holds the lock.
  void unlock() {
    detail::misuse::unlocking(this, kind());
    const std::uint32_t old = word_.fetch_sub(rules::locked, detail::memory_order_release);  // 2
    if ((old & (rules::waiting | rules::waking)) == rules::waiting) wake_next();
  }

  using queued_word::policy;

 private:
  friend class condition_variable;

  static const char* kind() noexcept { return "lockstep::mutex"; }

  LOCKSTEP_NOINLINE bool lock_slowly(deadline until) {
    const detail::misuse::waiting_scope waiting(this);
    if (poll(rules::newcomer, until)) return true;
    detail::parked_thread self;
    return !enqueue(self, rules::newcomer) || finish(self, until);
  }

  /// From the queue to the lock; false if `until` came first.
  bool finish(detail::parked_thread& self, deadline until) {
    if (!self.wait(policy_, until) && leave(self)) return false;
    if (self.was_ahead()) {
      if (poll(rules::newcomer, until)) return true;
      if (is_over(until)) return false;
      if (!enqueue(self, rules::newcomer)) return true;
      if (!self.wait(policy_, until) && leave(self)) return false;
    }
    return finish_woken(self, until);
  }

  /// As finish(), for a waiter that is on its way.
  bool finish_woken(detail::parked_thread& self, deadline until) {
    while (true) {
      if (poll(rules::woken, until)) return arrive(self);
      if (is_over(until)) return give_up(self);
      if (!enqueue(self, rules::woken)) return true;
      if (!self.wait(policy_, until) && leave(self)) return false;
    }
  }

  static bool is_over(deadline until) {
    return !until.is_never() && until.is_past(detail::monotonic_nanoseconds());
  }

  /// Is on its way no more.
  bool arrive(detail::parked_thread& self) {
    detail::parking_lot::queue(key()).arrive(self);
    return true;
  }

  /// Leaves the queue; false if the thread was taken out of it.
  bool leave(detail::parked_thread& self) {
    detail::parking_lot::queue waiters(key());
    return withdraw(waiters, self);
  }

  /// A waiter on its way goes without the lock, or takes it at the last moment.
  bool give_up(detail::parked_thread& self) {
    detail::parking_lot::queue waiters(key());
    waiters.arrive(self);
    return take_or(rules::woken, rules::without_woken);
  }

  /// Sends the next waiter on its way, unless one is already.
  LOCKSTEP_NOINLINE void wake_next() {
    detail::wake_list woken;
    detail::parking_lot::queue waiters(key());
    detail::parked_thread* const next = waiters.front();
    if (next == nullptr) return;
    const std::uint32_t left = waiters.behind(*next) != nullptr ? rules::waiting : 0u;
    std::uint32_t word = word_.load(detail::memory_order_relaxed);  // 3
    do {
      if ((word & rules::waking) != 0) return;
    } while (!change(word, (word & ~rules::waiting) | left | rules::waking));
    waiters.send_out(*next);
    woken.notify(*next);
  }

  /// True if a thread waits behind one that is on its way. A hint, for the holder: its unlock will wake nobody.
  bool has_more_waiters() const noexcept {
    constexpr std::uint32_t both = rules::waiting | rules::waking;
    return (word_.load(detail::memory_order_relaxed) & both) == both;  // 3
  }
  /// For a thread that is about to sleep, after its unlock (MUTEX-6).
  LOCKSTEP_NOINLINE void let_one_go_ahead() {
    detail::wake_list woken;
    detail::parking_lot::queue waiters(key());
    detail::parked_thread* const next = waiters.front();
    if (next == nullptr || next->was_ahead()) return;
    waiters.send_ahead(*next);
    unmark_if_empty(waiters);
    woken.notify(*next);
  }

  /// Queues up threads that a condition_variable has let go; they come back with finish(). Lets the first one go if the
  /// lock is free.
  void adopt(detail::parked_chain& threads) {
    bool is_idle = false;
    {
      detail::parking_lot::queue waiters(key());
      while (detail::parked_thread* const next = threads.pop_front()) waiters.push_back(*next);
      const std::uint32_t old = word_.fetch_or(rules::waiting, detail::memory_order_relaxed);  // 4
      is_idle = (old & (rules::locked | rules::waking)) == 0;
    }
    if (is_idle) wake_next();
  }
};

static_assert(sizeof(mutex) == 8, "a word of state and a policy");

/// For programs that change a type: the timed operations are there.
using timed_mutex = mutex;

//   RECURSIVE-1  owner_ is the number of the holder while depth_ > 0, else 0; only the holder writes either. So a
//                thread that finds its own number there holds the lock, whatever others do meanwhile.
//
// Memory order (# marks the line)
//   #  access       order    pairs  why it suffices
//   1  owner.load   relaxed  -      only our own number says anything, and we wrote it ourselves (RECURSIVE-1)
//   2  owner.store  relaxed  -      as 1; the mutex orders the rest
//
// Cost   the first lock and the last unlock: those of mutex, and a store. Others: a load. 24 bytes.
class recursive_mutex {
 public:
  explicit constexpr recursive_mutex(wait_policy policy = wait_policy()) noexcept
      : mutex_(policy), depth_(0), owner_(0) {}
  ~recursive_mutex() {
    detail::misuse::destroying_lock(&mutex_, kind());
  }  // before mutex's, by its own name
  recursive_mutex(const recursive_mutex&) = delete;
  recursive_mutex& operator=(const recursive_mutex&) = delete;

  /// Blocks until the calling thread holds the lock once more.
  void lock() {
    if (enter_again()) return;
    mutex_.lock();
    enter();
  }

  /// As lock(), but false where it would block.
  bool try_lock() { return enter_again() || (mutex_.try_lock() && enter()); }

  /// As lock(), for at most `time`; false if the lock was not to be had.
  template <class Rep, class Period>
  bool try_lock_for(std::chrono::duration<Rep, Period> time) {
    return try_lock_until(deadline::after(time));
  }
  bool try_lock_until(deadline until) {
    return enter_again() || (mutex_.try_lock_until(until) && enter());
  }

  /// Requires: the calling thread holds the lock. It is free when it was unlocked as often as locked.
  void unlock() {
    detail::misuse::check_owner(&mutex_, kind());
    if (--depth_ > 0) return;
    owner_.store(0, detail::memory_order_relaxed);  // 2
    mutex_.unlock();
  }

  wait_policy policy() const noexcept { return mutex_.policy(); }

 private:
  static const char* kind() noexcept { return "lockstep::recursive_mutex"; }

  bool is_mine() const noexcept {
    return owner_.load(detail::memory_order_relaxed) == detail::number_of_this_thread();  // 1
  }
  bool enter() {
    owner_.store(detail::number_of_this_thread(), detail::memory_order_relaxed);  // 2
    depth_ = 1;
    return true;
  }
  bool enter_again() {
    if (!is_mine()) return false;
    ++depth_;
    return true;
  }

  mutex mutex_;
  std::uint32_t depth_;
  detail::atomic<std::uint64_t> owner_;
};

/// For programs that change a type: the timed operations are there.
using recursive_timed_mutex = recursive_mutex;

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_MUTEX_HPP

// lockstep/condition_variable.hpp -- waiting under a lock until another thread says so (layer: sync)
//
// std::condition_variable_any by its operations, but without spurious wake-ups: wait() returns only for a notification
// that came after it, at its deadline, or for a stop request. (The predicate may be false again, because another thread
// was faster: use the forms that take one.) Works with any BasicLockable. Notified threads take the lock one by one: with
// lockstep::mutex they move to the mutex's queue; with others each wakes the next when it has got the lock.
// To wait for one thing that happens once, latch, eventual and the events need no lock and are faster.
//
// Invariants
//   CONDITION-1  word_ is the number of threads in the queue; it changes under the queue's lock.
//   CONDITION-2  A thread is taken out of the queue by exactly one notification, or leaves it at its deadline or for
//                a stop request, under the queue's lock: a notification never counts for a thread that left for
//                another reason, and is not lost to it.
//   CONDITION-3  A thread that was notified is in its mutex's queue, or in the chain behind a notified thread, or has
//                its turn. Its deadline and stop requests no longer count: all it waits for is the lock.
//   CONDITION-4  Waits that begin after a notification are not reached by it: they are not in the queue then.
//   CONDITION-5  It may be destroyed when no thread is in the queue, although its waiters have not returned.
//   CONDITION-6  A chain changes under the queue's lock. If lock() throws, the chain is passed on before the exception
//                leaves wait(); if unlock() throws, the thread leaves queue or chain before. So the others do not miss
//                it. After an exception of lock() the thread does not hold the lock.
//   CONDITION-7  A stop request is seen by every wait that has its token: the waiter queues up before it registers the
//                callback, which takes it out of the queue. A request that came before runs the callback at once.
//
// Requires of threads that wait at the same time: the same lock, whose order holds for wait() too.
// word_ may be read too early: a notifier without the lock then misses a thread that begins to wait (CONDITION-4).
//
// Memory order (# marks the line)
//   #  access          order    pairs  why it suffices
//   1  word.load       acquire  3      a waiter has counted itself before it gave up the lock under which the notifier
//                                      changed the predicate; at zero, the threads that left have done so (CONDITION-5)
//   2  word.fetch_add  relaxed  -      as 1; the queue's lock orders the changes
//   3  word.fetch_sub  release  1      as 1, of a thread that leaves by its own hand or is stopped
//   4  word.fetch_sub  relaxed  -      of threads that are notified after it, and see it before they return
//
// Cost   notify with no thread waiting: one load. wait: a queue operation and the lock's own; no system call
//        unless it sleeps. With a stop token, in addition: to register a callback. 8 bytes.
// Source moving waiters to the mutex's queue: [BIRRELL89], [PARKING-LOT].
#ifndef LOCKSTEP_CONDITION_VARIABLE_HPP
#define LOCKSTEP_CONDITION_VARIABLE_HPP

#if __cplusplus >= 202002L
#include <version>
#endif
#if defined(__cpp_lib_jthread)
#include <stop_token>
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// What calls a function once a stop is requested. `known` is there for the tokens that users may pass.
template <class Token>
struct stop_tokens {};

#if defined(__cpp_lib_jthread)
template <>
struct stop_tokens<std::stop_token> {
  using known = void;
  template <class Function>
  using callback = std::stop_callback<Function>;
};
#endif

/// For waits without a token.
struct no_stop_token {};
template <>
struct stop_tokens<no_stop_token> {
  template <class Function>
  struct callback {
    callback(no_stop_token, const Function&) noexcept {}
  };
};

}  // namespace detail

class condition_variable {
 public:
  explicit constexpr condition_variable(wait_policy policy = wait_policy()) noexcept
      : word_(0), policy_(policy) {}
  ~condition_variable() { detail::misuse::destroying(this, "lockstep::condition_variable"); }
  condition_variable(const condition_variable&) = delete;
  condition_variable& operator=(const condition_variable&) = delete;

  /// Lets the thread go that waits longest. The caller need not hold the lock.
  void notify_one() { notify(1); }
  /// Lets every thread go that waits now.
  void notify_all() { notify(~std::uint32_t{0}); }

  /// Gives `lock` up, waits for a notification, takes `lock` again. Requires: the thread holds `lock`.
  /// A std::unique_lock that does not own throws std::system_error, operation_not_permitted.
  template <class Lock>
  void wait(Lock& lock) {
    block(lock, deadline::never(), detail::no_stop_token());
  }
  template <class Lock, class Predicate>
  void wait(Lock& lock, Predicate predicate) {
    while (!predicate()) wait(lock);
  }
  /// As wait(), for at most `time`, and then until it has `lock` again.
  template <class Lock, class Rep, class Period>
  std::cv_status wait_for(Lock& lock, std::chrono::duration<Rep, Period> time) {
    return wait_until(lock, deadline::after(time));
  }
  template <class Lock, class Rep, class Period, class Predicate>
  bool wait_for(Lock& lock, std::chrono::duration<Rep, Period> time, Predicate predicate) {
    return wait_until(lock, deadline::after(time), predicate);
  }
  template <class Lock>
  std::cv_status wait_until(Lock& lock, deadline until) {
    return block(lock, until, detail::no_stop_token()) ? std::cv_status::no_timeout
                                                       : std::cv_status::timeout;
  }
  /// Returns what the predicate says in the end.
  template <class Lock, class Predicate>
  bool wait_until(Lock& lock, deadline until, Predicate predicate) {
    while (!predicate()) {
      if (!block(lock, until, detail::no_stop_token())) return predicate();
    }
    return true;
  }

  /// The same with a std::stop_token (C++20): also returns, with what the predicate says, once a stop is requested.
  template <class Lock, class StopToken, class Predicate,
            class = typename detail::stop_tokens<StopToken>::known>
  bool wait(Lock& lock, StopToken token, Predicate predicate) {
    return wait_until(lock, token, deadline::never(), predicate);
  }
  template <class Lock, class StopToken, class Rep, class Period, class Predicate,
            class = typename detail::stop_tokens<StopToken>::known>
  bool wait_for(Lock& lock, StopToken token, std::chrono::duration<Rep, Period> time,
                Predicate predicate) {
    return wait_until(lock, token, deadline::after(time), predicate);
  }
  template <class Lock, class StopToken, class Predicate,
            class = typename detail::stop_tokens<StopToken>::known>
  bool wait_until(Lock& lock, StopToken token, deadline until, Predicate predicate) {
    while (!token.stop_requested()) {
      if (predicate()) return true;
      if (!block(lock, until, token)) break;
    }
    return predicate();
  }

  wait_policy policy() const noexcept { return policy_; }

 private:
  /// A waiting thread. `target` is the mutex in whose queue it goes on waiting, if it can. On one line: broadcasts between
  /// two threads take 195 ns so, and 222 wherever the stack has it.
  struct alignas(detail::cache_line_size) waiter : detail::parked_thread {
    mutex* target;
    const std::uint64_t number;  // of the thread; for the diagnosis of misuse only, as the next
    bool is_let_go = false;
    bool stopped = false;  // taken out of the queue by a stop request

    explicit waiter(mutex* of) noexcept
        : target(of), number(detail::misuse::diagnosed ? detail::number_of_this_thread() : 0) {}
  };

  /// Threads that were taken out of the queue at one time: those that go to their mutex, and those that form a chain,
  /// of which each notifies the next. The chain remains when this is gone.
  struct taken_out {
    detail::parked_chain moved, chain;
    mutex* target = nullptr;

    void append(waiter& next) noexcept {
      if (next.target == nullptr) return chain.push_back(next);
      target = next.target;
      moved.push_back(next);
    }
  };

  std::uintptr_t key() const noexcept {
    return detail::parking_lot::key(word_, detail::parking_lot::kind::condition_variable);
  }
  static_assert(
      detail::parking_lot::without_waiters(detail::parking_lot::kind::condition_variable) == 0,
      "PARKING-4");

  static mutex* target_of(mutex& lock) noexcept { return &lock; }
  static mutex* target_of(std::unique_lock<mutex>& lock) noexcept { return lock.mutex(); }
  template <class Lock>
  static mutex* target_of(Lock&) noexcept {
    return nullptr;
  }

  /// The mutex was taken for this thread; its lock object has to learn of it.
  static void adopt(std::unique_lock<mutex>& lock) {
    mutex* const owned = lock.release();
    lock = std::unique_lock<mutex>(*owned, std::adopt_lock);
  }
  template <class Lock>
  static void adopt(Lock&) noexcept {}

  template <class Mutex>
  static bool is_owner(const std::unique_lock<Mutex>& lock) noexcept {
    return lock.owns_lock();
  }
  template <class Lock>
  static bool is_owner(const Lock&) noexcept {
    return true;  // it cannot be asked
  }

  /// Lets a waiter go for a stop request, on whatever thread that is made.
  struct stopper {
    condition_variable* owner;
    waiter* stopped;

    void operator()() const noexcept {
      if (!owner->leave(*stopped)) return;
      stopped->stopped = true;
      detail::wake_list().notify(*stopped);
    }
  };

  /// One wait; false if it came to its deadline or was stopped.
  template <class Lock, class StopToken>
  bool block(Lock& lock, deadline until, const StopToken& token) {
    if (!is_owner(lock)) lock.unlock();  // throws
    waiter self(target_of(lock));
    const std::uintptr_t queue = key();
    detail::misuse::waiting(this);
    {
      detail::parking_lot::queue waiters(queue);
      word_.fetch_add(1, detail::memory_order_relaxed);  // 2
      waiters.push_back(self);
    }
    const bool notified = unlock_and_wait(lock, self, until, token) && !self.stopped;
    if (notified && self.target != nullptr) {
      self.target->finish(self, deadline::never());
      detail::misuse::locked(self.target);
      adopt(lock);
      return true;
    }
    const passes_on chain{queue, self, notified};
    lock.lock();
    return notified;
  }

  /// True if the thread was taken out of the queue; after that nothing of the condition variable is touched
  /// (CONDITION-5). The callback has gone before the lock is taken again.
  template <class Lock, class StopToken>
  bool unlock_and_wait(Lock& lock, waiter& self, deadline until, const StopToken& token) {
    using callback = typename detail::stop_tokens<StopToken>::template callback<stopper>;
    const wait_policy policy = policy_;
    const callback on_stop(token, stopper{this, &self});
    // Asked before the unlock, after which the mutex's line is another thread's: 40 ns of a chain of two.
    const bool leaves_cpu = self.target != nullptr && self.target->has_more_waiters();
    unlock(lock, self);
    if (leaves_cpu) self.target->let_one_go_ahead();
    if (self.wait(policy, until, history())) return true;
    if (leave(self)) return false;
    return self.wait(policy, deadline::never(), history());
  }

  /// What a thread's waits for conditions have taught it: they are long where those for locks are short.
  static detail::wait_history& history() noexcept {
    return detail::per_thread<detail::wait_history, struct name_of_condition_history>();
  }

  /// Unlocks; if that throws, the thread does not wait (CONDITION-6).
  template <class Lock>
  void unlock(Lock& lock, waiter& self) {
    struct withdrawal {
      condition_variable* owner;
      waiter& self;
      ~withdrawal() {
        if (owner != nullptr) owner->withdraw(self);
      }
    } unless_done{this, self};
    lock.unlock();
    unless_done.owner = nullptr;
  }

  LOCKSTEP_NOINLINE void withdraw(waiter& self) {
    if (leave(self)) return;
    const std::uintptr_t queue = key();
    if (is_out_of_chain(queue, self)) return;
    // Its notification is there or under way, and no thread waits for our lock before that.
    self.wait(policy_);
    const passes_on chain{queue, self, true};
  }

  /// True if it was in a chain and its predecessor had not notified it yet: it will not.
  static bool is_out_of_chain(std::uintptr_t queue, waiter& self) {
    const detail::parking_lot::queue waiters(queue);
    if (self.target != nullptr || self.previous() == nullptr) return false;
    detail::parked_chain::remove_from_the_rest(self);
    return true;
  }

  /// Notifies the next of a chain in the end, with the lock or without.
  struct passes_on {
    const std::uintptr_t queue;
    waiter& self;
    const bool notified;

    ~passes_on() {
      if (!notified) return;
      detail::wake_list woken;
      const detail::parking_lot::queue waiters(queue);
      detail::parked_thread* const next = self.next();
      if (next == nullptr) return;
      detail::parked_chain::remove_from_the_rest(self);
      woken.notify(*next);
    }
  };

  /// Takes the thread out of the queue; false if another thread has. The object may be gone then (PARKING-2).
  bool leave(waiter& self) {
    // First: once it is out of the queue, the object may be destroyed.
    detail::misuse::let_go(this, self.number);
    detail::parking_lot::queue waiters(key());
    if (!waiters.withdraw(self)) return false;
    word_.fetch_sub(1, detail::memory_order_release);  // 3
    return true;
  }

  void notify(std::uint32_t most) {
    // Those that begin to wait while we work are not ours to notify (CONDITION-4).
    const std::uint32_t there = word_.load(detail::memory_order_acquire);  // 1
    if (there == 0) return;
    taken_out all;
    {
      detail::parking_lot::queue waiters(key());
      const std::uint32_t wanted = there < most ? there : most;
      std::uint32_t taken = 0;
      for (; taken < wanted && !waiters.empty(); ++taken) {
        waiter& next = static_cast<waiter&>(*waiters.front());
        waiters.remove(next);
        check_same(all, next);
        all.append(next);
      }
      if (taken > 0) word_.fetch_sub(taken, detail::memory_order_relaxed);  // 4
    }
    if (detail::misuse::diagnosed) let_go(all);
    if (all.target != nullptr) all.target->adopt(all.moved);
    if (!all.chain.empty()) detail::wake_list().notify(*all.chain.first());
  }

  /// Not under the queue's lock: at a fork() the locks of the diagnosis may be taken before it.
  void let_go(const taken_out& all) const {
    for (detail::parked_thread* each = all.moved.first(); each != nullptr; each = each->next()) {
      detail::misuse::let_go(this, static_cast<waiter*>(each)->number);
    }
    while (const std::uint64_t number = take_number(all.chain.first())) {
      detail::misuse::let_go(this, number);
    }
  }
  /// Of the first in the chain that has not been let go, or 0. From the front each time: the others may leave it (CONDITION-6).
  std::uint64_t take_number(detail::parked_thread* first) const {
    const detail::parking_lot::queue waiters(key());
    waiter* at = static_cast<waiter*>(first);
    while (at != nullptr && at->is_let_go) at = static_cast<waiter*>(at->next());
    if (at == nullptr) return 0;
    at->is_let_go = true;
    return at->number;
  }

  void check_same(const taken_out& all, const waiter& next) const {
    if (detail::misuse::diagnosed && all.target != nullptr && next.target != nullptr &&
        all.target != next.target) {
      detail::misuse::report(this, "lockstep::condition_variable",
                             "waited on with two mutexes at a time");
    }
  }

  detail::wait_word word_;
  wait_policy policy_;
};

static_assert(sizeof(condition_variable) == 8, "a word of state and a policy");

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_CONDITION_VARIABLE_HPP

// lockstep/event.hpp -- one thread tells another that something has happened (layer: sync)
//
//   event               counts: every notification lets exactly one wait return. One notifier at a time,
//                       one waiter. The fastest of the three. It can be terminated.
//   auto_reset_event    remembers one notification: it lets one of many waiters return. A notification that
//                       finds one pending merges with it. Many notifiers, many waiters.
//   manual_reset_event  is a gate: open from notify() until reset(); every wait on an open gate returns.
//
// For one notifier and many waiters, or the reverse, see fan_out and fan_in. To count with many waiters use
// counting_semaphore; for a gate that opens once, latch; for a value, eventual.
//
// Each of the three is small, zero-initialised but for its policy, and constexpr. The state is one word with
// the mark "a thread sleeps" in it: a waiter may destroy the object as soon as its wait has returned
// (auto_reset_event, manual_reset_event: when all waits have returned). notify() touches nothing after its
// change of the word but the address, in a futex wake.
//
// All timed waits return a wait_status. wait_until() takes a time_point of any clock (wait_policy.hpp).
// What happens before a notify() happens before the return of every wait that it lets through.
#ifndef LOCKSTEP_EVENT_HPP
#define LOCKSTEP_EVENT_HPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {

/// One thread notifies, one other waits. Notifications are counted: none is lost, none merges with another,
/// and a wait may come before or after its notification. After terminate() every wait returns at once.
///
/// Invariants, n = count in word_, t = taken_
///   EVENT-1  0 <= n - t < 2^30 (modulo 2^30): a notifier may be that far ahead. Wrap-around is harmless.
///   EVENT-2  The waiter sleeps only on a word that has the sleeping bit and whose count is t. Every change
///            of the word finds the bit in the old value and wakes.
///   EVENT-3  The notifier touches nothing after its change of the word but the address: the waiter may
///            destroy the event as soon as its wait has returned.
///
///   word_: bits  name        meaning                        set by               cleared by
///          0     sleeping    the waiter may be asleep       the waiter           the waiter, when it goes on
///          1     terminated  every wait returns at once     terminate            -
///          2..   count       notifications, modulo 2^30     notify               -
///   Legal to be set too long: sleeping (costs a wake that finds no sleeper). Illegal to be missing: EVENT-2.
///
/// Memory order (# marks the line; each weakening must fail a test)
///   #  access           order    pairs  why it suffices
///   1  word.fetch_add   release  2, 4   the waiter sees what came before notify()
///   2  word.load        acquire  1, 3   the other half
///   3  word.fetch_or    release  2, 4   as 1, for terminate()
///   4  wait for word    acquire  1, 3   as 2 (1 of word_waiter.hpp)
///   5  word.fetch_and   relaxed  -      clears the waiter's own bit; keeps the release sequence of 1
///
/// Cost   notify: one RMW. wait: one load if notified before, else a refetch of the line. No system call
///        unless the waiter sleeps. 16 bytes: 8 of state, 4 of policy, 4 of history.
class event : detail::misuse::watched<event> {
 public:
  /// Tests pass `first_count` to start next to wrap-around.
  explicit constexpr event(wait_policy policy = wait_policy(),
                           std::uint32_t first_count = 0) noexcept
      : word_(first_count * one_), taken_(first_count * one_), policy_(policy), history_() {}
  event(const event&) = delete;
  event& operator=(const event&) = delete;

  /// Lets one wait() return. Requires: one notifier at a time, fewer than 2^30 notifications pending.
  void notify() {
    const std::uint32_t old = word_.fetch_add(one_, detail::memory_order_release);  // 1
    detail::wake_sleepers(&word_, old);
  }

  /// Takes a notification if one is there; never blocks.
  bool try_wait() noexcept {
    const std::uint32_t word = word_.load(detail::memory_order_acquire);  // 2
    if ((word & terminated_) != 0 || (word & count_) == taken_) return false;
    taken_ += one_;
    return true;
  }

  /// Blocks until a notification is there and takes it; false once terminated.
  /// Requires: one waiter at a time.
  bool wait() { return wait_until(deadline::never()) == wait_status::ready; }

  /// As wait(), for at most `time`. Nothing was taken unless it says ready.
  template <class Rep, class Period>
  wait_status wait_for(std::chrono::duration<Rep, Period> time) {
    return wait_until(deadline::after(time));
  }
  wait_status wait_until(deadline until) {
    detail::word_waiter<is_over> what(word_, is_over{taken_});
    const bool in_time = detail::wait_watched(what, this, policy_, history_, until,  // 4
                                              detail::wait_engine::single_yield_time);
    if (what.has_announced()) {
      word_.fetch_and(~detail::sleeping_bit, detail::memory_order_relaxed);  // 5
    }
    if (!in_time) return wait_status::timed_out;
    if (terminated()) return wait_status::terminated;
    taken_ += one_;
    return wait_status::ready;
  }

  /// Releases the waiter. From now on every wait returns at once. Any thread may call it.
  void terminate() {
    const std::uint32_t old = word_.fetch_or(terminated_, detail::memory_order_release);  // 3
    detail::wake_sleepers(&word_, old);
  }
  bool terminated() const noexcept {
    return (word_.load(detail::memory_order_acquire) & terminated_) != 0;  // 2
  }

  wait_policy policy() const noexcept { return policy_; }

 private:
  friend class detail::misuse::watched<event>;
  static constexpr const char* kind = "lockstep::event";
  static constexpr std::uint32_t terminated_ = 2, one_ = 4, count_ = ~std::uint32_t{3};

  /// The predicate of a wait that begins with `taken` notifications taken.
  struct is_over {
    std::uint32_t taken;
    bool operator()(std::uint32_t word) const noexcept {
      return (word & terminated_) != 0 || (word & count_) != taken;
    }
  };

  detail::wait_word word_;
  std::uint32_t taken_;  // the waiter's own
  wait_policy policy_;
  detail::wait_history history_;
};

/// A notification is pending or it is not. notify() makes one pending, one wait takes it and returns. A
/// notify() that finds one pending adds nothing, but what happens before it, too, happens before the return
/// of the wait that takes the notification. Any number of notifiers and waiters, in no order.
///
/// Invariants, s = announced sleepers in word_
///   AUTO-1  A pending notification is taken by exactly one wait: by the compare-exchange that clears its bit.
///   AUTO-2  s >= number of threads asleep: a waiter counts itself in before it sleeps, and out in the same
///           change in which it takes, or when it gives up.
///   AUTO-3  No thread falls asleep while a notification is pending: sleepers expect a word without the bit.
///   AUTO-4  The notifier that makes a notification pending with s > 0 wakes one sleeper. That is enough:
///           every sleeper fell asleep before (AUTO-3). The one that is woken looks again, even if its time
///           is up, and takes the notification unless another waiter has taken it. Then the next
///           notification wakes again.
///   AUTO-5  notify() touches nothing after its change of the word but the address: the last waiter may
///           destroy the event as soon as its wait has returned.
///
///   word_: bits  name      meaning                          set by              cleared by
///          0     notified  a notification is pending        notify              the wait that takes it
///          1..   sleepers  how many waiters may be asleep   a waiter, +1 once   the same waiter, -1, in taking
///                                                           before it sleeps    or in giving up
///   Legal to be too large: sleepers (costs a wake that finds no sleeper). Illegal to be too small: AUTO-2.
///
/// Memory order (# marks the line; each weakening must fail a test)
///   #  access            order    pairs  why it suffices
///   1  word.fetch_or     release  3      the taker sees what came before notify(). All changes are
///                                        read-modify-writes, so it sees merged notifiers, too
///   2  word.load         relaxed  -      a hint: 3 decides
///   3  word.compare_exch acquire  1      the other half of 1; the taker publishes nothing: no release
///   4  word.fetch_add    relaxed  -      count and bit are one word: the order of changes suffices
///   5  word.fetch_sub    relaxed  -      as 4
///
/// Cost   notify: one RMW, and a wake of one thread if any sleeps. wait: one RMW if notified before, two if
///        it has slept. 8 bytes: 4 of state, 4 of policy.
class auto_reset_event : detail::misuse::watched<auto_reset_event> {
 public:
  explicit constexpr auto_reset_event(wait_policy policy = wait_policy()) noexcept
      : word_(0), policy_(policy) {}
  auto_reset_event(const auto_reset_event&) = delete;
  auto_reset_event& operator=(const auto_reset_event&) = delete;

  /// Makes a notification pending, if none is; never blocks.
  void notify() {
    const std::uint32_t old = word_.fetch_or(notified_, detail::memory_order_release);  // 1
    if ((old & notified_) == 0 && old >= sleeper_) detail::futex_wake_one(&word_);
  }

  /// Takes the notification if one is pending; never blocks.
  bool try_wait() noexcept { return take(0); }

  /// Blocks until a notification is there and takes it.
  void wait() { wait_until(deadline::never()); }

  /// As wait(), for at most `time`: ready or timed_out. Nothing was taken unless it says ready.
  template <class Rep, class Period>
  wait_status wait_for(std::chrono::duration<Rep, Period> time) {
    return wait_until(deadline::after(time));
  }
  wait_status wait_until(deadline until) {
    if (take(0)) return wait_status::ready;
    taker what{*this};
    if (detail::wait_watched(what, this, policy_, until, detail::wait_engine::single_yield_time)) {
      return wait_status::ready;
    }
    if (what.announced != 0) word_.fetch_sub(sleeper_, detail::memory_order_relaxed);  // 5
    return wait_status::timed_out;
  }

  wait_policy policy() const noexcept { return policy_; }

 private:
  friend class detail::misuse::watched<auto_reset_event>;
  static constexpr const char* kind = "lockstep::auto_reset_event";
  static constexpr std::uint32_t notified_ = 1, sleeper_ = 2;

  /// What the wait engine looks at. To be ready is to have taken: it is true once, and the engine ends with
  /// it. So a waiter that is overtaken continues where it was, and does not begin to spin anew. A sleeper is
  /// counted, not marked, because only one is woken: hence no word_waiter.
  struct taker {
    auto_reset_event& owner;
    std::uint32_t announced;  // what this waiter has added to the word

    explicit taker(auto_reset_event& of) noexcept : owner(of), announced(0) {}

    bool ready() const noexcept { return owner.take(announced); }

    void sleep(deadline until) {
      const std::uint32_t word =
          announced == 0
              ? owner.word_.fetch_add(sleeper_, detail::memory_order_relaxed) + sleeper_  // 4
              : owner.word_.load(detail::memory_order_relaxed);                           // 2
      announced = sleeper_;
      if ((word & notified_) == 0) detail::futex_wait(owner.word_, word, until.nanoseconds());
    }
  };

  /// Takes a notification and the waiter's own announcement off the word in one change.
  bool take(std::uint32_t announced) noexcept {
    std::uint32_t word = word_.load(detail::memory_order_relaxed);  // 2
    while ((word & notified_) != 0) {
      if (word_.compare_exchange_weak(word, word - notified_ - announced,
                                      detail::memory_order_acquire,     // 3
                                      detail::memory_order_relaxed)) {  // 2
        return true;
      }
    }
    return false;
  }

  detail::wait_word word_;
  wait_policy policy_;
};

/// A gate. While it is open every wait returns at once. Every wait that began before a notify() returns,
/// even if a reset() follows at once. Any number of notifiers and waiters. What happens before a notify()
/// also happens before the return of the reset() that closes the gate again. So where one thread resets,
/// the sequence reset(), look at the data, wait() misses nothing.
///
/// There is no pulse() (Windows's PulseEvent: releases the threads that wait at this moment and leaves the
/// gate closed). Which threads wait "at this moment" cannot be known: a waiter that is about to wait misses
/// the pulse for ever. Call notify() and then reset(), which releases every thread that has begun to wait,
/// or use a condition_variable.
///
/// Invariants, r = number of resets that closed the gate, in word_
///   MANUAL-1  A waiter that found the gate closed at r returns when the gate is open or r has changed. Both
///             come from a notify() after its first look.
///   MANUAL-2  The sleeping bit is set only on a closed gate. notify() wakes only if it opened the gate.
///   MANUAL-3  notify() touches nothing after its change of the word but the address: when all waits have
///             returned the event may be destroyed.
///   Limit: r has 30 bits. A waiter that does not run while exactly a multiple of 2^30 openings pass takes
///   them for none, and waits for the next.
///
///   word_: bits  name      meaning                              set by         cleared by
///          0     sleeping  waiters may be asleep                a waiter       reset
///          1     open      every wait returns                   notify         reset
///          2..   resets    how often it was closed, mod 2^30    reset, +1      -
///   Legal to be set too long: sleeping (costs a wake that finds no sleeper). Illegal to be missing: WORD-3 of
///   word_waiter.hpp.
///
/// Memory order (# marks the line; each weakening must fail a test)
///   #  access            order    pairs  why it suffices
///   1  word.fetch_or     release  2, 3   the waiter sees what came before notify(), also if the gate was
///                                        open: every notify() is a read-modify-write
///   2  word.load         acquire  1      the other half; reset() keeps the release sequence of 1
///   3  word.compare_exch acquire  1      the thread that resets sees what was notified; see above
///   4  wait for word     acquire  1      as 2 (1 of word_waiter.hpp)
///   5  word.load         relaxed  -      a guess for 3; found closed, this reset does nothing
///
/// Cost   notify: one RMW. reset: one RMW if open. wait: one load if open. No system call unless a waiter
///        sleeps; then one, for the notify() that opens. 8 bytes: 4 of state, 4 of policy.
class manual_reset_event : detail::misuse::watched<manual_reset_event> {
 public:
  /// Closed. Tests pass `first_reset` to start next to wrap-around.
  explicit constexpr manual_reset_event(wait_policy policy = wait_policy(),
                                        std::uint32_t first_reset = 0) noexcept
      : word_(first_reset * reset_), policy_(policy) {}
  manual_reset_event(const manual_reset_event&) = delete;
  manual_reset_event& operator=(const manual_reset_event&) = delete;

  /// Opens the gate and releases all waiters.
  void notify() {
    const std::uint32_t old = word_.fetch_or(open_, detail::memory_order_release);  // 1
    if ((old & open_) == 0) detail::wake_sleepers(&word_, old);
  }

  /// Closes the gate; does nothing if it is closed.
  void reset() noexcept {
    std::uint32_t word = word_.load(detail::memory_order_relaxed);  // 5
    // The open bit plus itself carries into the count: one addition closes and counts. The sleeping bit
    // belongs to waiters that notify() has woken.
    while ((word & open_) != 0 &&
           !word_.compare_exchange_weak(word, (word & ~detail::sleeping_bit) + open_,
                                        detail::memory_order_acquire,     // 3
                                        detail::memory_order_relaxed)) {  // 5
    }
  }

  bool is_open() const noexcept {
    return (word_.load(detail::memory_order_acquire) & open_) != 0;  // 2
  }

  /// True if wait() would return at once; never blocks.
  bool try_wait() const noexcept { return is_open(); }

  /// Blocks until the gate is open, or was opened since the call began.
  void wait() { wait_until(deadline::never()); }

  /// As wait(), for at most `time`: ready or timed_out.
  template <class Rep, class Period>
  wait_status wait_for(std::chrono::duration<Rep, Period> time) {
    return wait_until(deadline::after(time));
  }
  wait_status wait_until(deadline until) {
    const std::uint32_t word = word_.load(detail::memory_order_acquire);  // 2
    if ((word & open_) != 0) return wait_status::ready;
    const std::uint32_t first = word | detail::sleeping_bit;
    const auto was_opened = [first](std::uint32_t now) noexcept {
      return (now | detail::sleeping_bit) != first;
    };
    return detail::wait_until_word(word_, was_opened, this, policy_, until)  // 4
               ? wait_status::ready
               : wait_status::timed_out;
  }

  wait_policy policy() const noexcept { return policy_; }

 private:
  friend class detail::misuse::watched<manual_reset_event>;
  static constexpr const char* kind = "lockstep::manual_reset_event";
  static constexpr std::uint32_t open_ = 2, reset_ = 4;

  detail::wait_word word_;
  wait_policy policy_;
};

static_assert(sizeof(event) == 16, "two words of state, one of policy, one of history");
static_assert(sizeof(auto_reset_event) == 8 && sizeof(manual_reset_event) == 8,
              "a word of state, one of policy");

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_EVENT_HPP

// lockstep/eventual.hpp -- one value, set once, read by many (layer: sync)
//
// get() blocks until the value is set and returns it, or throws the exception that was set in its place.
// take() moves the value out, once. What happens before set_value() happens before every return from get(),
// take() and wait(). This is Argobots' eventual. Unlike std::promise and std::future it is one object, uses
// no heap, and has any number of readers.
// Ready after several contributions: future_set. No value and several notifiers: latch.
//
// Invariants
//   EVENTUAL-1  Of all setters, one sets the claim bit; the others fail. Only the claimer writes the content.
//   EVENTUAL-2  An outcome bit is set after the content is complete, and stays until reset().
//   EVENTUAL-3  If the constructor of T throws, the claim is given back and the eventual is empty as before.
//               The setter gets the exception and decides, for instance to call set_exception().
//   EVENTUAL-4  A setter touches nothing after it has set the outcome bit but the address, in a futex wake.
//               When all waits have returned the last reader may destroy the eventual.
//   EVENTUAL-5  Of all takers, one sets the taken bit and moves the value. The others fail, and every get()
//               that comes later. If that move throws, the bit is given back. An exception is not taken: every
//               reader gets it.
//
//   word_: bit  name      meaning                      set by                    cleared by
//          0    sleeping  readers may be asleep        a reader                  reset
//          1    claimed   a thread sets the content    set_value, set_exception  EVENTUAL-3; reset
//          2    ready     the value is there           set_value                 reset
//          3    failed    the exception is there       set_exception             reset
//          4    taken     the value was moved out      take, after ready         EVENTUAL-5; reset
// Legal to be set too long: sleeping (costs a wake that finds no sleeper). A taken value is destroyed with the
// eventual or by reset().
//
// Memory order (# marks the line; each weakening must fail a test)
//   #  access           order    pairs  why it suffices
//   1  word.fetch_or    acquire  2      the claimer writes after what a failed claimer wrote
//   2  word.fetch_and   release  1      the other half
//   3  word.fetch_or    release  4, 9   the readers see the content; later changes are all RMWs
//   4  wait for word    acquire  3      the other half (1 of word_waiter.hpp)
//   5  word.load        relaxed  -      after 4: the outcome does not change any more. In the destructor and
//                                       in reset() no other thread uses the eventual
//   6  word.store       relaxed  -      reset() requires that no other thread uses the eventual
//   7  word.fetch_or    acquire  8      the taker moves what a failed taker left; 4 has seen the content
//   8  word.fetch_and   release  7      the other half
//   9  word.load        acquire  3      as 4
//
// Cost   set: two RMWs. get: one load when set; take: an RMW more. No system call unless a reader sleeps. 8
//        bytes, 4 of state and 4 of policy, and the value or a std::exception_ptr in one place.
#ifndef LOCKSTEP_EVENTUAL_HPP
#define LOCKSTEP_EVENTUAL_HPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {

namespace detail {

/// What eventual<T> and eventual<void> have in common.
template <class Content>
class eventual_base {
 public:
  eventual_base(const eventual_base&) = delete;
  eventual_base& operator=(const eventual_base&) = delete;

  /// Sets an exception in place of the value: get() throws it. Fails if the eventual is set already, or
  /// if there is no exception.
  void set_exception(std::exception_ptr error) {
    if (error == nullptr) {
      detail::fail<std::invalid_argument>("lockstep::eventual: set_exception without an exception");
    }
    claim ours(*this);
    ::new (static_cast<void*>(&error_)) std::exception_ptr(std::move(error));
    ours.publish(failed_);
  }

  /// True if a value or an exception is there; never blocks.
  bool is_ready() const noexcept {
    return is_settled(word_.load(detail::memory_order_acquire));  // 9
  }
  bool try_wait() const noexcept { return is_ready(); }

  /// Blocks until a value or an exception is there; throws nothing of it.
  void wait() const { wait_until(deadline::never()); }

  /// As wait(), for at most `time`: ready or timed_out.
  template <class Rep, class Period>
  wait_status wait_for(std::chrono::duration<Rep, Period> time) const {
    return wait_until(deadline::after(time));
  }
  wait_status wait_until(deadline until) const {
    return detail::wait_until_word(word_, is_settled, &word_, policy_, until)  // 4
               ? wait_status::ready
               : wait_status::timed_out;
  }

  /// Destroys value or exception; the eventual can be set anew.
  /// Requires: no thread waits, reads or sets, and what such threads did happens before this call.
  void reset() noexcept {
    destroy_content();
    word_.store(0, detail::memory_order_relaxed);  // 6
  }

  wait_policy policy() const noexcept { return policy_; }

 protected:
  explicit constexpr eventual_base(wait_policy policy) noexcept
      : word_(0), policy_(policy), nothing_(0) {}
  ~eventual_base() {
    detail::misuse::destroying(&word_, "lockstep::eventual");
    destroy_content();
  }

  template <class... Arguments>
  void set(Arguments&&... arguments) {
    claim ours(*this);
    ::new (static_cast<void*>(&content_)) Content(std::forward<Arguments>(arguments)...);
    ours.publish(ready_);
  }

  const Content& get_content() const {
    wait();
    const std::uint32_t word = word_.load(detail::memory_order_relaxed);  // 5
    if ((word & (failed_ | taken_)) != 0) fail_get(word);
    return content_;
  }

  Content take_content() {
    wait();
    const std::uint32_t word = word_.load(detail::memory_order_relaxed);  // 5
    if ((word & failed_) != 0) fail_get(word);
    removal ours(*this);
    Content content(std::move(content_));
    ours.owner = nullptr;
    return content;
  }

 private:
  static constexpr std::uint32_t claimed_ = 2, ready_ = 4, failed_ = 8, taken_ = 16;

  static bool is_settled(std::uint32_t word) noexcept { return word >= ready_; }

  /// The right to write the content; given back unless used.
  class claim {
   public:
    explicit claim(eventual_base& of) : owner_(&of) {
      if ((of.word_.fetch_or(claimed_, detail::memory_order_acquire) & claimed_) != 0) {  // 1
        detail::fail<std::logic_error>("lockstep::eventual: set, but it is set already");
      }
    }
    ~claim() {
      if (owner_ != nullptr) owner_->word_.fetch_and(~claimed_, detail::memory_order_release);  // 2
    }
    claim(const claim&) = delete;
    claim& operator=(const claim&) = delete;

    void publish(std::uint32_t outcome) {
      detail::wait_word& word = owner_->word_;
      owner_ = nullptr;
      detail::wake_sleepers(&word, word.fetch_or(outcome, detail::memory_order_release));  // 3
    }

   private:
    eventual_base* owner_;
  };

  /// The right to move the content out; given back unless done (EVENTUAL-5).
  struct removal {
    eventual_base* owner;

    explicit removal(eventual_base& of) : owner(&of) {
      const std::uint32_t old = of.word_.fetch_or(taken_, detail::memory_order_acquire);  // 7
      if ((old & taken_) != 0) of.fail_get(old);
    }
    ~removal() {
      if (owner != nullptr) owner->word_.fetch_and(~taken_, detail::memory_order_release);  // 8
    }
    removal(const removal&) = delete;
    removal& operator=(const removal&) = delete;
  };

  [[noreturn]] LOCKSTEP_NOINLINE void fail_get(std::uint32_t word) const {
    if ((word & taken_) != 0) {
      detail::fail<std::logic_error>("lockstep::eventual: get or take, but its value is taken");
    }
#if LOCKSTEP_HAS_EXCEPTIONS
    std::rethrow_exception(error_);
#else
    detail::fail<std::runtime_error>("lockstep::eventual: get, but it holds an exception");
#endif
  }

  void destroy_content() noexcept {
    const std::uint32_t word = word_.load(detail::memory_order_relaxed);  // 5
    if ((word & ready_) != 0) content_.~Content();
    if ((word & failed_) != 0) error_.~exception_ptr();
  }

  mutable detail::wait_word word_;
  wait_policy policy_;
  union {
    unsigned char nothing_;
    Content content_;
    std::exception_ptr error_;  // in every build: the layout is the same without exceptions
  };
};

/// Stands for the value of an eventual<void>.
struct no_value {};

}  // namespace detail

template <class T>
class eventual : public detail::eventual_base<T> {
  static_assert(std::is_object<T>::value && !std::is_const<T>::value,
                "an eventual holds an object: no reference, no const");

 public:
  explicit constexpr eventual(wait_policy policy = wait_policy()) noexcept
      : detail::eventual_base<T>(policy) {}

  /// Sets the value and releases all readers. Fails if the eventual is set already, or is being set.
  void set_value(const T& value) { this->set(value); }
  void set_value(T&& value) { this->set(std::move(value)); }
  template <class... Arguments>
  void emplace(Arguments&&... arguments) {
    this->set(std::forward<Arguments>(arguments)...);
  }

  /// Blocks until the value is set. It lives until reset() or the end of the eventual. Fails if it was
  /// taken.
  const T& get() const { return this->get_content(); }

  /// Blocks until the value is set and moves it out, once for all threads: fails if it was taken already.
  /// Requires: no thread reads what get() has returned while this moves it.
  T take() { return this->take_content(); }
};

template <>
class eventual<void> : public detail::eventual_base<detail::no_value> {
 public:
  explicit constexpr eventual(wait_policy policy = wait_policy()) noexcept
      : detail::eventual_base<detail::no_value>(policy) {}

  void set_value() { set(); }
  void get() const { get_content(); }
  /// As get(), once for all threads: fails if another thread has taken it.
  void take() { take_content(); }
};

static_assert(sizeof(eventual<std::uint32_t>) <= 8 + sizeof(std::exception_ptr) &&
                  sizeof(eventual<void>) == 8 + sizeof(std::exception_ptr),
              "a word of state, one of policy, and the content");

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_EVENTUAL_HPP

// lockstep/detail/team/critical_name.hpp -- one mutex for each name, in all modules of the process (layer: team)
//
// A name is a type, often incomplete and with hidden symbols, so the linker does not make its mutex one. Modules
// meet in the text of the name instead, as the compiler spells it.
//
//   NAME-1  The same name is the same mutex, whichever module asks, once and for ever.
//   NAME-2  A name of a function or in an unnamed namespace belongs to its module: others may spell it the same and
//       mean another.
//
// Memory order (# marks the line)
//   #  access             order    pairs  why it suffices
//   1  known.load         acquire  2      the mutex is made before a thread finds it by the way of another
//   2  known.store        release  1      every writer writes the same
//   3  first.load         acquire  4      an entry is whole before it is in the list
//   4  first.compare_exch release  3      as 3
//
// Cost   a load and a branch. Once a name and module: a walk through all names, once a name an allocation.
#ifndef LOCKSTEP_DETAIL_TEAM_CRITICAL_NAME_HPP
#define LOCKSTEP_DETAIL_TEAM_CRITICAL_NAME_HPP

#if LOCKSTEP_HAS_BODIES
#include <cstring>
#include <new>
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

namespace critical_name {

/// In the list of the process; never destroyed. The text is a copy: a module's own would go with it.
struct entry {
  mutex lock;
  const entry* next;
  std::size_t length;
  char text[1];  // and what was allocated behind it
};

/// The lock of that name, for all modules. Throws std::bad_alloc as `new` does.
LOCKSTEP_COLD mutex& find_or_add(const type_name& name);

/// What this module knows of a name.
template <class Name>
struct LOCKSTEP_MODULE_LOCAL in_module {
  static mutex own;
  static detail::atomic<mutex*> known;
};
template <class Name>
mutex in_module<Name>::own;
template <class Name>
detail::atomic<mutex*> in_module<Name>::known{nullptr};

template <class Name>
LOCKSTEP_NOINLINE mutex& find() {
  const detail::type_name name = detail::name_of_type<Name>();
  mutex& found = name.is_of_module ? in_module<Name>::own : find_or_add(name);
  in_module<Name>::known.store(&found, detail::memory_order_release);  // 2
  return found;
}

template <class Name>
mutex& mutex_of() {
  mutex* const known = in_module<Name>::known.load(detail::memory_order_acquire);  // 1
  return known != nullptr ? *known : find<Name>();
}

#if LOCKSTEP_HAS_BODIES

LOCKSTEP_COLD entry* find_among(void* first, const type_name& name) noexcept {
  entry* at = static_cast<entry*>(first);
  while (at != nullptr &&
         (at->length != name.length || std::memcmp(name.text, at->text, at->length) != 0)) {
    at = const_cast<entry*>(at->next);
  }
  return at;
}

LOCKSTEP_COLD entry* make(const type_name& name) {
  entry* const made = ::new (::operator new(sizeof(entry) + name.length)) entry();
  made->length = name.length;
  std::memcpy(made->text, name.text, name.length);
  return made;
}

LOCKSTEP_COLD mutex& find_or_add(const type_name& name) {
  detail::atomic<void*>& list = detail::process().critical_names;
  void* first = list.load(detail::memory_order_acquire);  // 3
  entry* found = find_among(first, name);
  if (found != nullptr) return found->lock;
  entry* const made = make(name);
  do {
    found = find_among(first, name);
    if (found != nullptr) {
      made->~entry();
      ::operator delete(made);
      return found->lock;
    }
    made->next = static_cast<entry*>(first);
  } while (!list.compare_exchange_weak(first, made, detail::memory_order_release,  // 4
                                       detail::memory_order_acquire));  // 3
  return made->lock;
}

#endif

}  // namespace critical_name
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_CRITICAL_NAME_HPP

// lockstep/detail/team/cells.hpp -- values of any type that members hand to each other (layer: team)
//
// A cell has 16 bytes. A value that is trivially copyable and fits lies in the cell. Of any other value the cell has
// the address, and its writer keeps the value until nobody can read the cell any more. What is left when the region
// ends is destroyed by its caller (GROUP-3 of group.hpp).
//
// Cost   small values: a copy. Others: an allocation for each hand-over.
#ifndef LOCKSTEP_DETAIL_TEAM_CELLS_HPP
#define LOCKSTEP_DETAIL_TEAM_CELLS_HPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

class group;
/// Has to be called before a member keeps a value: in group.hpp.
void note_kept_values(group& shared) noexcept;

struct cell {
  static constexpr std::size_t size = 16;
  alignas(8) unsigned char bytes[size];
};

/// Owns the values that cells point to.
struct kept_values {
  virtual ~kept_values() = default;
};

template <class T>
constexpr bool fits_cell() noexcept {
  return std::is_trivially_copyable<T>::value && sizeof(T) <= cell::size &&
         alignof(T) <= cell::size;
}

/// A T, or nothing yet. Of T it needs a move constructor only.
template <class T>
class maybe {
 public:
  // Never read before set(), which GCC does not see. Larger values are not worth the time.
  maybe() noexcept {
    if (sizeof(T) <= 64) std::memset(storage_, 0, sizeof storage_);
  }
  ~maybe() {
    if (has_value_) value().~T();
  }
  maybe(const maybe&) = delete;
  maybe& operator=(const maybe&) = delete;

  bool has_value() const noexcept { return has_value_; }
  /// Requires: has none.
  void set(T&& value) {
    ::new (static_cast<void*>(storage_)) T(std::move(value));
    has_value_ = true;
  }
  /// Requires: has one.
  T& value() noexcept { return *reinterpret_cast<T*>(storage_); }

 private:
  alignas(T) unsigned char storage_[sizeof(T)];
  bool has_value_ = false;
};

/// Writes values of T into cells, and reads them.
template <class T, bool InTheCell = fits_cell<T>()>
struct cell_access {
  /// What put() needs beside the cell.
  struct room {};
  /// Makes room for `count` values that put() brings; the values that `keeps` had before are destroyed.
  static room prepare(group&, owner<kept_values>&, std::size_t) noexcept { return room(); }

  static void put(room, cell& into, const T& value) noexcept {
    std::memcpy(into.bytes, &value, sizeof(T));
  }
  static T get(const cell& from) noexcept {
    typename std::aligned_storage<sizeof(T), alignof(T)>::type storage;
    std::memcpy(&storage, from.bytes, sizeof(T));
    return std::move(*reinterpret_cast<T*>(&storage));
  }
  /// The same for the only one that reads this cell.
  static T take(const cell& from) noexcept { return get(from); }
};

template <class T>
struct cell_access<T, false> {
  /// On lines of their own, at their own alignment, which C++11's `new` does not honour.
  class values final : public kept_values {
   public:
    explicit values(std::size_t most) : storage_(most) {}
    ~values() override {
      while (count_ > 0) reinterpret_cast<T*>(storage_[--count_].bytes)->~T();
    }
    T* add(T&& value) {
      T* const address = ::new (static_cast<void*>(storage_[count_].bytes)) T(std::move(value));
      ++count_;
      return address;
    }

   private:
    struct storage {
      storage() noexcept {}  // not initialised
      alignas(T) unsigned char bytes[sizeof(T)];
    };
    aligned_array<storage> storage_;
    std::size_t count_ = 0;
  };
  using room = values&;

  static room prepare(group& shared, owner<kept_values>& keeps, std::size_t count) {
    note_kept_values(shared);
    values* const made = new values(count);
    keeps.reset(made);
    return *made;
  }
  static void put(room here, cell& into, T value) {
    T* const address = here.add(std::move(value));
    std::memcpy(into.bytes, &address, sizeof address);
  }
  static T get(const cell& from) { return static_cast<const T&>(value_in(from)); }
  static T take(const cell& from) { return std::move(value_in(from)); }

 private:
  static T& value_in(const cell& from) noexcept {
    T* address;
    std::memcpy(&address, from.bytes, sizeof address);
    return *address;
  }
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_CELLS_HPP

// lockstep/detail/team/closures.hpp -- what can be called, and what may be copied for that (layer: team)
//
// A user's function is called by reference: on every member the same object, through the overload that the
// user's own expression would choose. Only a closure (what a lambda makes) may be copied, and only if it has one call
// operator, which is const, and is trivially copied. What a lambda captured by value and changes all the same (an
// object with mutable members) is its own in each copy.
#ifndef LOCKSTEP_DETAIL_TEAM_CLOSURES_HPP
#define LOCKSTEP_DETAIL_TEAM_CLOSURES_HPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// Whether f(arguments...) compiles; Function and Arguments with their const and reference.
template <class Function, class... Arguments>
struct is_callable {
  template <class F>
  static auto test(int)
      -> decltype(static_cast<void>(std::declval<F>()(std::declval<Arguments>()...)),
                  std::true_type());
  template <class F>
  static std::false_type test(...);
  static constexpr bool value = decltype(test<Function>(0))::value;
};

/// Whether a Class can be made from one to eight values of any types: it has constructors, or is an
/// aggregate. A closure can not.
template <class Class>
struct is_made_from_values {
  template <class T>
  using if_other =
      typename std::enable_if<!std::is_same<typename std::remove_cv<T>::type, Class>::value>::type;
  struct variable {
    template <class T, class = if_other<T>>
    operator T&() const;
  };
  struct temporary {
    template <class T, class = if_other<T>>
    operator T&&() const;
  };
  template <class Value, std::size_t>
  using one = Value;

  LOCKSTEP_BEGIN_MISSING_INITIALIZERS
  template <class C, std::size_t... Numbers>
  static auto test(int)
      -> decltype(static_cast<void>(C{one<variable, Numbers>()...}), std::true_type());
  template <class C, std::size_t... Numbers>
  static auto test(long)
      -> decltype(static_cast<void>(C{one<temporary, Numbers>()...}), std::true_type());
  LOCKSTEP_END_MISSING_INITIALIZERS
  template <class C, std::size_t... Numbers>
  static std::false_type test(...);
  static constexpr bool value =
      decltype(test<Class, 0>(0))::value || decltype(test<Class, 0, 1>(0))::value ||
      decltype(test<Class, 0, 1, 2>(0))::value || decltype(test<Class, 0, 1, 2, 3>(0))::value ||
      decltype(test<Class, 0, 1, 2, 3, 4>(0))::value ||
      decltype(test<Class, 0, 1, 2, 3, 4, 5>(0))::value ||
      decltype(test<Class, 0, 1, 2, 3, 4, 5, 6>(0))::value ||
      decltype(test<Class, 0, 1, 2, 3, 4, 5, 6, 7>(0))::value;
};

/// Whether a Class is a closure, as far as it shows: without captures an empty class with one call operator
/// that is no template; else one that nobody can make. (So is one with private constructors only. To ask
/// whether it can be assigned to would tell more, but with GCC 12 that makes is_trivially_copyable false.)
template <class Class, bool IsEmpty = std::is_empty<Class>::value>
struct is_closure {
  static constexpr bool value =
      !std::is_default_constructible<Class>::value && !is_made_from_values<Class>::value;
};
template <class Class>
struct is_closure<Class, true> {
  template <class C>
  static auto test(int) -> decltype(static_cast<void>(&C::operator()), std::true_type());
  template <class C>
  static std::false_type test(...);
  static constexpr bool value = decltype(test<Class>(0))::value;
};

/// Whether nobody can tell a copy of such an object from itself by calling it.
template <class Function, bool IsClass = std::is_class<Function>::value>
struct may_be_copied : std::false_type {};
template <class Function>
struct may_be_copied<const Function, true> : may_be_copied<Function, true> {};
template <class Function>
struct may_be_copied<Function, true> {
  static constexpr bool value = std::is_trivially_copy_constructible<Function>::value &&
                                std::is_trivially_destructible<Function>::value &&
                                is_closure<Function>::value;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_CLOSURES_HPP

// lockstep/detail/team/index_span.hpp -- the indices of a loop, of any integer or iterator type (layer: team)
//
// Schedules and boards count in std::size_t from 0. Users count in any type, as in a `for` loop.
//
//   SPAN-1  A loop calls its function with the common type of its bounds: int for (0, 10), std::size_t for
//           (0, v.size()), std::int64_t for two of those, the iterator for (v.begin(), v.end()), a pointer for two
//           pointers. What is no number but converts to one counts as std::size_t.
//   SPAN-2  It is empty where last <= first, compared as numbers: (0u, -3) is empty.
//   SPAN-3  No index outside [first, last] is computed: loops may go right up to the limits of their type.
//   SPAN-4  A first below 0 with a common type that has no such number fails (std::invalid_argument): (-1, v.size()).
#ifndef LOCKSTEP_DETAIL_TEAM_INDEX_SPAN_HPP
#define LOCKSTEP_DETAIL_TEAM_INDEX_SPAN_HPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// The integers, without bool and characters. std::int8_t and std::uint8_t are integers.
template <class T>
struct is_index
    : std::integral_constant<
          bool, std::is_same<T, signed char>::value || std::is_same<T, unsigned char>::value ||
                    std::is_same<T, short>::value || std::is_same<T, unsigned short>::value ||
                    std::is_same<T, int>::value || std::is_same<T, unsigned>::value ||
                    std::is_same<T, long>::value || std::is_same<T, unsigned long>::value ||
                    std::is_same<T, long long>::value ||
                    std::is_same<T, unsigned long long>::value> {};

/// Pointers to objects, and iterators with random access.
template <class T>
struct is_position {
  // By what can be done with it: <iterator>, which has the category, takes a tenth of what this header's users cost
  // to compile.
  template <class U, class Distance = decltype(std::declval<const U&>() - std::declval<const U&>()),
            class = decltype(*std::declval<const U&>()),
            class = decltype(std::declval<U&>() += std::declval<Distance>())>
  static std::is_integral<Distance> test(int);
  template <class U>
  static std::false_type test(...);
  static constexpr bool value = decltype(test<T>(0))::value;
};
template <class T>
struct is_position<T*> : std::is_object<T> {};

/// What a bound counts in.
template <class Bound>
using index_of_bound =
    typename std::conditional<std::is_arithmetic<Bound>::value || is_position<Bound>::value, Bound,
                              std::size_t>::type;
/// What a loop between two bounds calls its function with.
template <class First, class Last>
using index_between = typename std::common_type<index_of_bound<First>, index_of_bound<Last>>::type;

template <class First, class Last>
struct are_numbers
    : std::integral_constant<bool, std::is_convertible<First, std::size_t>::value &&
                                       std::is_convertible<Last, std::size_t>::value> {};
template <class First, class Last>
struct are_positions
    : std::integral_constant<bool, is_position<First>::value && is_position<Last>::value> {};

/// `Result` if both can be bounds of a loop; else the overload that asks is none.
template <class First, class Last, class Result = bool>
using if_bounds =
    typename std::enable_if<are_numbers<First, Last>::value || are_positions<First, Last>::value,
                            Result>::type;

/// The indices first, first + 1, ... of a loop; `length` of them.
template <class Index>
struct index_span {
  Index first;
  std::size_t length;
};

/// first + offset. Requires: that is an index of the span, or its end.
template <class Index>
Index index_at(const Index& first, std::size_t offset, std::true_type /*number*/) noexcept {
  using word = typename std::make_unsigned<Index>::type;  // in which sums wrap
  return static_cast<Index>(static_cast<word>(first) + static_cast<word>(offset));
}
template <class Index>
Index index_at(const Index& first, std::size_t offset, std::false_type /*position*/) {
  return first + static_cast<decltype(first - first)>(offset);
}
template <class Index>
Index index_at(const Index& first, std::size_t offset) {
  return index_at(first, offset, std::is_integral<Index>());
}

template <class T>
constexpr bool is_below_zero(T value, std::true_type /*signed*/) noexcept {
  return value < 0;
}
template <class T>
constexpr bool is_below_zero(T, std::false_type /*unsigned*/) noexcept {
  return false;
}
template <class T>
constexpr bool is_below_zero(T value) noexcept {
  return is_below_zero(value, std::is_signed<T>());
}

[[noreturn]] LOCKSTEP_NOINLINE inline void fail_first_index(long long first) {
  char message[160];
  std::snprintf(message, sizeof message,
                "lockstep: a loop from %lld to an end of an unsigned type; give both bounds a "
                "signed type",
                first);
  detail::fail<std::invalid_argument>(message);
}
[[noreturn]] LOCKSTEP_NOINLINE inline void fail_length() {
  detail::fail<std::invalid_argument>(
      "lockstep: a loop has more iterations than std::size_t has numbers");
}

/// SPAN-1, SPAN-2 and SPAN-4.
template <class First, class Last>
index_span<index_between<First, Last>> span_of(First first, Last last, std::false_type) {
  using from = index_of_bound<First>;
  using to = index_of_bound<Last>;
  static_assert(is_index<from>::value && is_index<to>::value,
                "lockstep: the bounds of a loop are integers (int, std::size_t, std::int8_t, ...), "
                "pointers or iterators with random access, not bool, characters, floating point "
                "or __int128");
  using index = index_between<First, Last>;
  using word = typename std::make_unsigned<index>::type;
  const from a = static_cast<from>(first);
  const to b = static_cast<to>(last);
  if (is_below_zero(a) != is_below_zero(b)) {
    if (is_below_zero(b)) return {index(), 0};
    if (!std::is_signed<index>::value) fail_first_index(static_cast<long long>(a));
  } else if (static_cast<index>(b) <= static_cast<index>(a)) {
    return {index(), 0};
  }
  const word length = static_cast<word>(static_cast<word>(static_cast<index>(b)) -
                                        static_cast<word>(static_cast<index>(a)));
  if (sizeof(word) > sizeof(std::size_t) && length > static_cast<std::size_t>(-1)) fail_length();
  return {static_cast<index>(a), static_cast<std::size_t>(length)};
}
template <class First, class Last>
index_span<index_between<First, Last>> span_of(First first, Last last, std::true_type) {
  using index = index_between<First, Last>;
  const index a = first;
  const index b = last;
  const auto length = b - a;
  return {a, length <= 0 ? std::size_t{0} : static_cast<std::size_t>(length)};
}
template <class First, class Last>
index_span<index_between<First, Last>> span_of(First first, Last last) {
  return span_of(first, last, std::integral_constant<bool, are_positions<First, Last>::value>());
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_INDEX_SPAN_HPP

// lockstep/schedule.hpp -- ranges of indices, and how loops hand them out (layer: team)
//
//   schedule      static (blocks or chunks by rank), dynamic and guided (chunks to whichever member asks)
//   static_block  the block of one member, for loops of your own
//   grain         blocks of a least length, for loops that are a region by themselves
//   index_range   [first, last); index_range_2 and index_range_3 are nested ranges (OpenMP's collapse)
//   independent   a loop's function whose iterations the compiler need not prove independent
//   nowait        the first argument of a construct of member that is not to wait at its end
//   ordered_turn  the right of an iteration of member::for_ordered() to run a part of itself in order
//
// For blocks by measured speed see weighted_schedule.hpp.
#ifndef LOCKSTEP_SCHEDULE_HPP
#define LOCKSTEP_SCHEDULE_HPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {

namespace detail {
[[noreturn]] LOCKSTEP_NOINLINE inline std::size_t fail_index_range() {
  detail::fail<std::invalid_argument>(
      "lockstep::index_range: begins below 0, must begin at 0 or more");
}
}  // namespace detail

/// The half-open range [first, last). From bounds of any integer types, compared as numbers: {0, -3} is empty.
/// Fails if it holds an index below 0.
struct index_range {
  std::size_t first;
  std::size_t last;

  constexpr index_range() noexcept : first(0), last(0) {}
  constexpr index_range(std::size_t from, std::size_t to) noexcept : first(from), last(to) {}
  template <class First, class Last, class = detail::if_bounds<First, Last>>
  constexpr index_range(First from, Last to)
      : first(!detail::is_below_zero(from)                          ? static_cast<std::size_t>(from)
              : detail::is_below_zero(to) && are_reversed(from, to) ? 0
                                                                    : detail::fail_index_range()),
        last(detail::is_below_zero(to) ? 0 : static_cast<std::size_t>(to)) {
    static_assert(detail::is_index<First>::value && detail::is_index<Last>::value,
                  "lockstep: the bounds of a range are integers (int, std::size_t, ...), not bool, "
                  "characters or floating point");
  }

 private:
  template <class First, class Last>
  static constexpr bool are_reversed(First from, Last to) noexcept {
    return static_cast<detail::index_between<First, Last>>(to) <=
           static_cast<detail::index_between<First, Last>>(from);
  }
};

/// Two nested ranges, the outer one first.
struct index_range_2 {
  index_range rows;
  index_range columns;
};

/// Three nested ranges, the outermost one first.
struct index_range_3 {
  index_range planes;
  index_range rows;
  index_range columns;
};

/// How the iterations of a loop are handed out.
enum class schedule_kind : std::uint8_t {
  static_blocks,  ///< one contiguous block per member: no shared word, best reuse of caches
  static_chunks,  ///< chunks in turn: no shared word, evens out work that grows along the range
  dynamic,        ///< a chunk to whoever asks: one read-modify-write each, for uneven work
  guided          ///< as dynamic, large chunks first: fewer of them
};

/// A value: kind and chunk. Made by the four functions below; OpenMP's schedule clause.
class schedule {
 public:
  constexpr schedule() noexcept : chunk_(0), kind_(schedule_kind::static_blocks) {}
  /// Refuses a chunk of 0, except for static_blocks, where it has no meaning.
  constexpr schedule(schedule_kind kind, std::size_t chunk)
      : chunk_(kind == schedule_kind::static_blocks ? 0 : checked_chunk(chunk)), kind_(kind) {}

  constexpr schedule_kind kind() const noexcept { return kind_; }
  /// Iterations per chunk, the fewest for guided; for static_blocks the grain, 0 if none was given.
  constexpr std::size_t chunk() const noexcept { return chunk_; }

  friend constexpr bool operator==(schedule a, schedule b) noexcept {
    return a.kind_ == b.kind_ && a.chunk_ == b.chunk_;
  }
  friend constexpr bool operator!=(schedule a, schedule b) noexcept { return !(a == b); }

 private:
  friend constexpr schedule grain(std::size_t iterations);
  struct with_grain {};
  constexpr schedule(with_grain, std::size_t iterations)
      : chunk_(checked_chunk(iterations)), kind_(schedule_kind::static_blocks) {}

  static constexpr std::size_t checked_chunk(std::size_t chunk) {
    return chunk != 0 ? chunk : refuse_chunk();
  }
  [[noreturn]] LOCKSTEP_NOINLINE static std::size_t refuse_chunk() {
    detail::fail<std::invalid_argument>(
        "lockstep::schedule: a chunk of 0 iterations given, must be 1 or more");
  }

  std::size_t chunk_;
  schedule_kind kind_;
};

/// One contiguous block per member; the default of every loop.
constexpr schedule static_schedule() noexcept { return schedule(); }
/// Blocks of `iterations` or more, on fewer members if there is not enough: for a parallel_for and its like, which learn
/// by themselves how many members pay where this is not said. Inside a region: static_schedule(). Refuses 0.
constexpr schedule grain(std::size_t iterations) {
  return schedule(schedule::with_grain(), iterations);
}
/// Chunks of `chunk` iterations, dealt out in turn. Refuses 0.
constexpr schedule static_schedule(std::size_t chunk) {
  return schedule(schedule_kind::static_chunks, chunk);
}
/// Chunks of `chunk` iterations to whoever asks. Refuses 0.
constexpr schedule dynamic_schedule(std::size_t chunk = 1) {
  return schedule(schedule_kind::dynamic, chunk);
}
/// Chunks that shrink with what is left, `least` iterations or more, but for the last. Refuses 0.
constexpr schedule guided_schedule(std::size_t least = 1) {
  return schedule(schedule_kind::guided, least);
}

/// The contiguous block of member `rank` of `size`: blocks cover [first, last) in rank order without
/// gap or overlap, and their lengths differ by one at most, the longer ones first. Empty if last <= first.
/// Requires rank < size.
constexpr index_range static_block(std::size_t first, std::size_t last, std::size_t rank,
                                   std::size_t size) noexcept {
  // One expression, as C++11 wants it: quotient * rank + min(rank, remainder) after the start.
  return last <= first
             ? index_range{first, first}
             : index_range{
                   first + (last - first) / size * rank +
                       (rank < (last - first) % size ? rank : (last - first) % size),
                   first + (last - first) / size * (rank + 1) +
                       (rank + 1 < (last - first) % size ? rank + 1 : (last - first) % size)};
}

// Whether an int may become the unsigned argument of a function is its author's business.
LOCKSTEP_BEGIN_SIGN_CONVERSIONS

template <class Function>
class independent_iterations {
 public:
  explicit independent_iterations(Function of) : f_(std::move(of)) {}

  template <class... Arguments>
  auto operator()(Arguments&&... with) const
      -> decltype(std::declval<const Function&>()(std::forward<Arguments>(with)...)) {
    return f_(std::forward<Arguments>(with)...);
  }

 private:
  Function f_;
};

LOCKSTEP_END_SIGN_CONVERSIONS

/// f with the promise that no iteration reads or writes what another one writes, so that the compiler may run several
/// at once (SIMD) where it cannot prove it: GCC's ivdep, OpenMP's simd.
///   team.parallel_for(0, n, lockstep::independent([=](std::size_t i) { y[i] = a * x[i + k]; }));
/// Parallel loops demand nearly that anyway. What it adds: neighbours on one thread do not depend on their order. For
/// the loops that call f(i), with every schedule. Elsewhere it calls the function and no more.
///   INDEPENDENT-1  Calls the function as the caller would, through a const operator.
///   INDEPENDENT-2  Is copied where the function would be (closures.hpp).
template <class Function>
independent_iterations<typename std::decay<Function>::type> independent(Function&& f) {
  return independent_iterations<typename std::decay<Function>::type>(std::forward<Function>(f));
}

namespace detail {

template <class Function>
struct has_independent_iterations : std::false_type {};
template <class Function>
struct has_independent_iterations<const Function> : has_independent_iterations<Function> {};
template <class Function>
struct has_independent_iterations<independent_iterations<Function>> : std::true_type {};

template <class Function>
struct may_be_copied<independent_iterations<Function>, true> : may_be_copied<Function> {};

/// The turns of an ordered loop, for one member: member_loops.hpp.
class ordered_iterations;
inline bool take_turn(ordered_iterations& of);
inline void pass_turn(ordered_iterations& of);

}  // namespace detail

/// First argument of a construct that is not to wait at its end: me.for_each(lockstep::nowait, 0, n, f).
struct nowait_t {};
constexpr nowait_t nowait = {};

/// The second argument of the function of member::for_ordered(): the right of an iteration to run a part of itself after
/// that part of all iterations before it.
class ordered_turn {
 public:
  /// Calls f() when it is this iteration's turn; at most once an iteration. Once the region is stopped it does not call
  /// it: it throws region_stopped, or returns false in try_for_ordered().
  template <class Function>
  bool operator()(Function&& f) {
    if (!detail::take_turn(of_)) return false;
    f();
    detail::pass_turn(of_);
    return true;
  }

  ordered_turn(const ordered_turn&) = delete;
  ordered_turn& operator=(const ordered_turn&) = delete;

 private:
  friend class detail::ordered_iterations;

  explicit ordered_turn(detail::ordered_iterations& of) noexcept : of_(of) {}

  detail::ordered_iterations& of_;
};

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SCHEDULE_HPP

// lockstep/detail/team/range_parts.hpp -- how ranges are cut: chunks of loops, leaves of reductions (layer: team)
//
// Pure functions. What there is for loops:
//   static_block    one contiguous block per member: schedule.hpp
//   known_chunk     chunks of one length: dealt out by rank, or taken by ticket (loops.hpp)
//   guided_cursor   chunks taken by ticket that shrink with what is left
//   iterations_of   nested ranges count as one range, the last one fastest
//
//   CHUNKS-1  The blocks, chunks or tickets of a loop cover [first, last) without gap or overlap, in the order of
//             ranks, numbers or tickets.
//   CHUNKS-2  What a ticket stands for depends on range, chunk and size alone: every member computes the same.
//   CHUNKS-3  No sum exceeds `last`: right up to the largest std::size_t. A backward range is an empty one.
//   CHUNKS-4  A ticket past the end is an empty range.
//   CHUNKS-5  iterations_of() is the product of the lengths, or an error if that does not fit in std::size_t.
#ifndef LOCKSTEP_DETAIL_TEAM_RANGE_PARTS_HPP
#define LOCKSTEP_DETAIL_TEAM_RANGE_PARTS_HPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// The number of indices; 0 for a backward range.
constexpr std::size_t length_of(index_range range) noexcept {
  return range.last <= range.first ? 0 : range.last - range.first;
}

/// The number of chunks of `chunk` iterations in [first, last), the last one perhaps shorter: the number
/// of tickets of a dynamic loop. Requires chunk > 0.
constexpr std::size_t chunks_of(std::size_t first, std::size_t last, std::size_t chunk) noexcept {
  return last <= first ? 0 : (last - first - 1) / chunk + 1;
}

/// Chunk number `number` (0, 1, ...) of [first, last). Requires number < chunks_of(first, last, chunk): so it
/// does without the division that finds this out, which costs more than a short iteration.
constexpr index_range known_chunk(std::size_t first, std::size_t last, std::size_t chunk,
                                  std::size_t number) noexcept {
  return index_range{first + number * chunk, last - (first + number * chunk) <= chunk
                                                 ? last
                                                 : first + number * chunk + chunk};
}

/// What ticket number `ticket` (0, 1, ...) of a dynamic loop stands for; empty past the end.
/// Requires chunk > 0. A counter of tickets passes chunks_of() by one for each member that looks in vain;
/// if it has fewer bits than std::size_t, the caller sees to it that it does not wrap.
constexpr index_range chunk_of_ticket(std::size_t first, std::size_t last, std::size_t chunk,
                                      std::size_t ticket) noexcept {
  return ticket >= chunks_of(first, last, chunk) ? index_range{last, last}
                                                 : known_chunk(first, last, chunk, ticket);
}

/// The tickets of a guided loop, for one member. The chunk at a point of the range where `left` iterations
/// are left has max(least, ceil(left / (2 * size))) of them, but not more than `left`. The cursor replays
/// the sequence up to the ticket asked for, so that one counter of tickets is all that is shared. All
/// replays of one member together take one division per ticket of the loop, of which there are about
/// 2 * size * (1 + ln(n / (2 * size * least))).
class guided_cursor {
 public:
  /// Requires least > 0, 0 < size <= 65536.
  constexpr guided_cursor(std::size_t first, std::size_t last, std::size_t least,
                          std::size_t size) noexcept
      : next_(first), last_(last < first ? first : last), least_(least), parts_(2 * size) {}

  /// What ticket number `ticket` (0, 1, ...) stands for; empty past the end.
  /// Requires: not less than in the calls before.
  index_range advance_to(std::size_t ticket) noexcept {
    while (ticket_ < ticket && next_ < last_) {
      next_ += length();
      ++ticket_;
    }
    return index_range{next_, next_ + length()};
  }

 private:
  std::size_t length() const noexcept {
    const std::size_t left = last_ - next_;
    if (left <= least_) return left;
    const std::size_t share = (left - 1) / parts_ + 1;
    return share < least_ ? least_ : share;
  }

  std::size_t next_;
  std::size_t last_;
  std::size_t least_;
  std::size_t parts_;
  std::size_t ticket_ = 0;
};

/// `planes`: 0 where there are only two ranges.
[[noreturn]] LOCKSTEP_NOINLINE inline std::size_t fail_collapse(std::size_t planes,
                                                                std::size_t rows,
                                                                std::size_t columns) {
  char outermost[32] = "", message[160];
  if (planes != 0) std::snprintf(outermost, sizeof outermost, "%zu x ", planes);
  std::snprintf(
      message, sizeof message,
      "lockstep: a loop over %s%zu x %zu iterations is too long, must be %zu in all at most",
      outermost, rows, columns, static_cast<std::size_t>(-1));
  detail::fail<std::invalid_argument>(message);
}

/// Whether a product of positive numbers fits in std::size_t.
constexpr bool product_fits(std::size_t a, std::size_t b) noexcept {
  return b <= static_cast<std::size_t>(-1) / a;
}
constexpr bool product_fits(std::size_t a, std::size_t b, std::size_t c) noexcept {
  return product_fits(a, b) && product_fits(a * b, c);
}

/// The number of pairs; 0 if a range is empty or backward. Fails (std::invalid_argument) if it is above
/// what std::size_t holds.
constexpr std::size_t iterations_of(const index_range_2& of) {
  return length_of(of.rows) == 0 || length_of(of.columns) == 0 ? 0
         : product_fits(length_of(of.rows), length_of(of.columns))
             ? length_of(of.rows) * length_of(of.columns)
             : fail_collapse(0, length_of(of.rows), length_of(of.columns));
}

/// The number of triples; otherwise as for two ranges.
constexpr std::size_t iterations_of(const index_range_3& of) {
  return length_of(of.planes) == 0 || length_of(of.rows) == 0 || length_of(of.columns) == 0 ? 0
         : product_fits(length_of(of.planes), length_of(of.rows), length_of(of.columns))
             ? length_of(of.planes) * length_of(of.rows) * length_of(of.columns)
             : fail_collapse(length_of(of.planes), length_of(of.rows), length_of(of.columns));
}

// The fixed order of reductions.
//
// A reduction over n iterations is bitwise the same for every team size, schedule and run. The range is cut into leaves
// that depend on n alone. Each leaf is folded from the left, and the leaves are combined along a binary tree that
// depends on their number alone. Which member computes what changes nothing. The operation is applied to neighbours in
// the order of their indices, so it must be associative, but not commutative. The result is that of a left fold only
// where the operation is truly associative. The compiler must not reorder either: no -ffast-math.
//
//   TREE-1  leaves_of(n) <= n, <= 1024; leaf_range() cuts [first, last) without gap or overlap.
//   TREE-2  A node [a, b) of the tree with b - a > 1 has the children [a, m), [m, b), m = middle_of(a, b). The root is
//           [0, leaves). Depth 10 at most. The root's children are the blocks of a team of 2.
//   TREE-3  The maximal nodes inside a run of leaves are unique, most_nodes at most.
//   TREE-4  Whatever the number of members, the operation is applied as by one that evaluates the root.
//   TREE-5  A scan's prefix before a leaf is the left fold of init and the sums of all leaves before it.
//
// How a team reduces: member r takes the leaves static_block(0, leaves, r, size), evaluates the maximal_nodes() in it,
// and publishes their values in order; published_nodes finds them again. A schedule that hands out single leaves
// publishes leaf values. The values themselves: reductions.hpp.
namespace reduction_tree {

/// What a value of type R is given to an operation on T as: a T itself where it is one, else converted first.
template <class T, class R>
using as_value =
    typename std::conditional<std::is_same<T, typename std::decay<R>::type>::value, R&&, T>::type;

/// The most leaves of any range, and the most maximal nodes inside a run of them.
constexpr std::size_t most_leaves = 1024, most_nodes = 18;

/// Iterations per leaf of a range of n, the last leaf perhaps shorter: 1 for short ranges, so that a few
/// expensive iterations can be spread, and at least 64 where there are many, so that combining costs little.
constexpr std::size_t leaf_size(std::size_t n) noexcept {
  return n <= 128 ? 1 : n <= 8192 ? (n - 1) / 128 + 1 : n <= 65536 ? 64 : (n - 1) / most_leaves + 1;
}

/// The number of leaves of a range of n iterations: 0 to most_leaves.
constexpr std::size_t leaves_of(std::size_t n) noexcept {
  return n == 0 ? 0 : (n - 1) / leaf_size(n) + 1;
}

/// The iterations of leaf number `leaf` (0, 1, ...) of [first, last); empty past the last leaf.
constexpr index_range leaf_range(std::size_t first, std::size_t last, std::size_t leaf) noexcept {
  return chunk_of_ticket(first, last, leaf_size(length_of(index_range{first, last})), leaf);
}

/// Where the node [a, b) splits; the left half is the longer one. Requires b - a > 1.
constexpr std::size_t middle_of(std::size_t a, std::size_t b) noexcept {
  return a + (b - a + 1) / 2;
}

/// Iterations between two looks whether the rest is still wanted: a leaf may have 2^54 of them.
constexpr std::size_t strip_length = 1024;

/// op(...op(sum, value(first))..., value(last - 1)), each value as a T. Asks goes_on() once in every strip, and ends
/// early, with a value of no use, where that says no; where the looks are does not change the bits.
template <class T, class Value, class Op, class GoesOn>
T fold_on(T sum, index_range range, Value&& value, Op&& op, GoesOn&& goes_on) {
  for (std::size_t i = range.first; goes_on() && i < range.last;) {
    const std::size_t end = range.last - i > strip_length ? i + strip_length : range.last;
    for (; i < end; ++i) {
      sum = op(std::move(sum), static_cast<as_value<T, decltype(value(i))>>(value(i)));
    }
  }
  return sum;
}

/// value(i) of a non-empty range, folded from the left: the value of a leaf.
template <class T, class Value, class Op, class GoesOn>
T fold(index_range range, Value&& value, Op&& op, GoesOn&& goes_on) {
  return fold_on<T>(value(range.first), index_range{range.first + 1, range.last}, value, op,
                    goes_on);
}
template <class T, class Value, class Op>
T fold(index_range range, Value&& value, Op&& op) {
  return fold<T>(range, value, op, [] { return true; });
}

/// The order of combining in a node of `count` leaves: four bits for each leaf, from the lowest on, say how many nodes end
/// with it. Requires 0 < count <= most_leaves_at_once.
constexpr std::size_t most_leaves_at_once = 16;
constexpr std::uint64_t combines_of(std::size_t count) noexcept {
  return count == 1 ? 0
                    : combines_of(middle_of(0, count)) |
                          (combines_of(count - middle_of(0, count)) +
                           (std::uint64_t{1} << 4 * (count - middle_of(0, count) - 1)))
                              << 4 * middle_of(0, count);
}
inline std::uint64_t known_combines(std::size_t count) noexcept {
  static constexpr std::uint64_t all[most_leaves_at_once + 1] = {0,
                                                                 combines_of(1),
                                                                 combines_of(2),
                                                                 combines_of(3),
                                                                 combines_of(4),
                                                                 combines_of(5),
                                                                 combines_of(6),
                                                                 combines_of(7),
                                                                 combines_of(8),
                                                                 combines_of(9),
                                                                 combines_of(10),
                                                                 combines_of(11),
                                                                 combines_of(12),
                                                                 combines_of(13),
                                                                 combines_of(14),
                                                                 combines_of(15),
                                                                 combines_of(16)};
  return all[count];
}

/// The walk from the root, through nodes that straddle an end of `block`, to those inside it.
template <class Function>
void visit_maximal_nodes(index_range node, index_range block, Function& f) {
  if (node.last <= block.first || block.last <= node.first) return;
  if (block.first <= node.first && node.last <= block.last) {
    f(node.first, node.last);
    return;
  }
  const std::size_t middle = middle_of(node.first, node.last);
  visit_maximal_nodes(index_range{node.first, middle}, block, f);
  visit_maximal_nodes(index_range{middle, node.last}, block, f);
}

/// The leaves of node number `number`, of the `nodes` that one level of the tree has. Requires: nodes is a power of two,
/// and not above leaves: then the level is complete, as the halves of a node differ by one leaf at most.
inline index_range node_at(std::size_t leaves, std::size_t nodes, std::size_t number) noexcept {
  index_range at = {0, leaves};
  for (std::size_t half = nodes / 2; half > 0; half /= 2) {
    const std::size_t middle = middle_of(at.first, at.last);
    at = (number & half) != 0 ? index_range{middle, at.last} : index_range{at.first, middle};
  }
  return at;
}

/// Calls f(first, last) for the nodes of the tree over `leaves` leaves that lie in [a, b) while their
/// parents do not, from left to right: at most most_nodes, together all of [a, b).
/// Requires b <= leaves. An empty run has none.
template <class Function>
void maximal_nodes(std::size_t leaves, std::size_t a, std::size_t b, Function&& f) {
  if (a < b) visit_maximal_nodes(index_range{0, leaves}, index_range{a, b}, f);
}

/// Finds the published values in the order of the tree: value number `node` of member `rank`.
class published_nodes {
 public:
  published_nodes(std::size_t leaves, std::size_t size) noexcept
      : leaves_(leaves), size_(size), block_(static_block(0, leaves, 0, size)) {}

  /// Whether the node that ends at leaf b is, or lies in, a published one.
  bool has(std::size_t b) const noexcept { return b <= block_.last; }
  std::size_t rank() const noexcept { return rank_; }
  std::size_t node() const noexcept { return node_; }
  /// After the value of the node that ends at b. Nodes come from left to right, so what is not beyond the block's end
  /// is inside the block, and the first such node on the way down is maximal.
  void advance(std::size_t b) noexcept {
    ++node_;
    if (b == block_.last && b < leaves_) {
      block_ = static_block(0, leaves_, ++rank_, size_);
      node_ = 0;
    }
  }

 private:
  const std::size_t leaves_;
  const std::size_t size_;
  index_range block_;  ///< of member rank_, whose next value is number node_
  std::size_t rank_ = 0;
  std::size_t node_ = 0;
};

/// What a scan starts leaf number `leaf` with: op(...op(op(init, sum_of(0)), sum_of(1))..., sum_of(leaf - 1)).
/// That of leaf + 1 is op(that of leaf, sum_of(leaf)), with the same bits: a member computes the first
/// of its leaves so, and goes on from there.
template <class T, class SumOf, class Op>
T exclusive_prefix(std::size_t leaf, T init, SumOf&& sum_of, Op&& op) {
  for (std::size_t before = 0; before < leaf; ++before) init = op(std::move(init), sum_of(before));
  return init;
}

}  // namespace reduction_tree
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_RANGE_PARTS_HPP

// lockstep/region_stopped.hpp -- what a construct throws in a region that was stopped (layer: team)
#ifndef LOCKSTEP_REGION_STOPPED_HPP
#define LOCKSTEP_REGION_STOPPED_HPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {

/// Thrown by the functions of member in a region that was stopped: by request_stop(), or by the exception of
/// another member. Let it pass: run() catches it. It is no std::exception, so that `catch (const
/// std::exception&)` in a member's loop does not swallow the end of the region. A `catch (...)` there has to
/// throw it again.
class region_stopped {
 public:
  const char* what() const noexcept { return "lockstep: the region was stopped"; }
};

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_REGION_STOPPED_HPP

// lockstep/detail/team/stop_source.hpp -- the early end of a region: by a request, or by an exception (layer: team)
//
// Regions have numbers. A request names the region that it ends; a request that comes after the end of its region
// does nothing to the next one. For users: member::request_stop, team::request_stop.
//
//   STOP-1  The word is the number of the last region that was stopped. It only moves forward (differences
//           modulo 2^32), so that a late request cannot take back one for a later region.
//   STOP-2  A thread that waits in a region looks at the word after it has announced itself. Every mark on which a
//           thread may sleep is in the list: a request notifies all of them after its change.
//   STOP-3  begin(region) keeps the word within 2^30 of the region, so that the differences of STOP-1 have a
//           meaning for requests that are late by less than 2^31 regions.
//   STOP-4  Of several exceptions the caller gets the one with the lowest position: a member's rank, or in a loop the
//           share and its part. Any thread of the region may note one; the reports order that before the region's end.
//
// Memory order (# marks the line; each weakening must fail a test)
//   #  access              order    pairs  why it suffices
//   1  word.load           relaxed  -      a guess, which 2 tests; or the caller's own look in STOP-3
//   2  word.compare_exch   release  3      a released thread sees what came before the request
//   3  word.load           acquire  2      the other half
//   4  word.compare_exch   relaxed  -      between regions: nobody waits
//   5  word.load           relaxed  -      the caller reads no other data of the thread that stopped it
//
// Cost   to look: one load of a line that is written when a region is stopped, which is rare.
#ifndef LOCKSTEP_DETAIL_TEAM_STOP_SOURCE_HPP
#define LOCKSTEP_DETAIL_TEAM_STOP_SOURCE_HPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {

namespace detail {

/// Leaves a region that was stopped. Built without exceptions it returns: the caller goes on with `false`, or with
/// the value at hand.
#if LOCKSTEP_HAS_EXCEPTIONS
[[noreturn]] LOCKSTEP_NOINLINE inline void leave_stopped_region() { throw region_stopped(); }
#else
inline void leave_stopped_region() noexcept {}
#endif

/// An object with marks on which threads sleep. It is in the list of a stop_source while it lives. A class of this
/// kind is final: it adds itself last, and removes itself before it does anything else at its end.
class stoppable {
 public:
  /// To be called after the change that lets the sleepers go.
  virtual void notify_all_sleepers() = 0;

 protected:
  stoppable() = default;
  ~stoppable() = default;

 private:
  friend class stop_source;
  stoppable* next_ = nullptr;
};

class stop_source {
 public:
  stop_source() = default;
  stop_source(const stop_source&) = delete;
  stop_source& operator=(const stop_source&) = delete;

  LOCKSTEP_COLD void add(stoppable& place);
  LOCKSTEP_COLD void remove(stoppable& place);

  /// Before the first member of the region starts. Requires region != 0.
  void begin(std::uint32_t region) noexcept {
    std::uint32_t seen = word_.load(memory_order_relaxed);  // 1
    if (region - seen > (std::uint32_t{1} << 30)) {
      word_.compare_exchange_strong(seen, region - 1, memory_order_relaxed,  // 4
                                    memory_order_relaxed);                   // 4
    }
  }

  /// Stops the region, or does nothing if it is over. Any thread may call it.
  LOCKSTEP_COLD void request(std::uint32_t region);

  /// In a child process: a thread that held the lock is not there.
  void forget_others() noexcept { ::new (static_cast<void*>(&lock_)) short_lock(); }

  /// True once the region was stopped; what came before the request is seen.
  bool requested(std::uint32_t region) const noexcept {
    return word_.load(memory_order_acquire) == region;  // 3
  }
  /// The same for a caller that reads nothing of what came before the request.
  bool requested_relaxed(std::uint32_t region) const noexcept {
    return word_.load(memory_order_relaxed) == region;  // 5
  }

 private:
  wait_word word_{0};
  short_lock lock_;
  stoppable* first_ = nullptr;
};

/// Of the exceptions of a region, the one that its caller gets.
class first_error {
 public:
  static constexpr std::uint64_t position_of(std::size_t rank, std::uint32_t part) noexcept {
    return std::uint64_t{rank} << 16 | part;
  }

  /// Keeps the exception that is being handled.
  LOCKSTEP_COLD void note(std::uint64_t position);
  /// Throws what was noted, if anything was. When the region is over.
  LOCKSTEP_COLD void rethrow();

  /// In a child process: a thread that held the lock is not there.
  void forget_others() noexcept { ::new (static_cast<void*>(&lock_)) short_lock(); }
  void forget() noexcept { error_ = nullptr; }

 private:
  short_lock lock_;
  std::uint64_t position_ = 0;
  std::exception_ptr error_;
};

/// For a thread that is cancelled, or has called pthread_exit(), in a region.
[[noreturn]] LOCKSTEP_NOINLINE inline void end_of_lost_member() {
  std::fprintf(
      stderr,
      "lockstep::team: the thread of a member was cancelled, or called pthread_exit(), inside "
      "a region, which then cannot end; return from the function instead\n");
  std::abort();
}
/// For a worker that has called fork() in a region, and returned from there in the child.
[[noreturn]] LOCKSTEP_NOINLINE inline void end_of_lone_child() {
  std::fprintf(stderr,
               "lockstep::team: fork() was called inside a region by a member other than 0; in the "
               "child process that member has nowhere to return to: call exec or _exit there\n");
  std::abort();
}

/// Calls the user's part(with) of a region. An exception that leaves it is noted at `position`, and stops the region.
template <class Part, class Argument>
void call_guarded(stop_source& stop, std::uint32_t region, first_error& errors,
                  std::uint64_t position, Part& part, Argument& with) {
#if LOCKSTEP_HAS_EXCEPTIONS
  const auto fail = [&] {
    errors.note(position);
    stop.request(region);
  };
  try {
    part(with);
  } catch (const region_stopped&) {
    if (!stop.requested(region)) fail();  // that of another region
  } catch (const forced_unwind&) {
    end_of_lost_member();
  } catch (...) {
    fail();
  }
#else
  static_cast<void>(stop), static_cast<void>(region), static_cast<void>(errors);
  static_cast<void>(position);
  part(with);
#endif
}

/// The same on the caller alone, in region 1 of `stop`: exceptions pass. False if the region was stopped.
template <class Part, class Argument>
bool call_alone(stop_source& stop, Part& part, Argument& with) {
#if LOCKSTEP_HAS_EXCEPTIONS
  try {
    part(with);
  } catch (const region_stopped&) {
    if (!stop.requested(1)) throw;  // that of another region
  }
#else
  part(with);
#endif
  return !stop.requested(1);
}

#if LOCKSTEP_HAS_BODIES

LOCKSTEP_COLD void stop_source::add(stoppable& place) {
  lock_.lock();
  place.next_ = first_;
  first_ = &place;
  lock_.unlock();
}

LOCKSTEP_COLD void stop_source::remove(stoppable& place) {
  lock_.lock();
  stoppable** at = &first_;
  while (*at != &place) at = &(*at)->next_;
  *at = place.next_;
  lock_.unlock();
}

LOCKSTEP_COLD void stop_source::request(std::uint32_t region) {
  std::uint32_t seen = word_.load(memory_order_relaxed);  // 1
  while (static_cast<std::int32_t>(region - seen) > 0 &&
         !word_.compare_exchange_strong(seen, region, memory_order_release,  // 2
                                        memory_order_relaxed)) {             // 1
  }
  lock_.lock();
  for (stoppable* at = first_; at != nullptr; at = at->next_) at->notify_all_sleepers();
  lock_.unlock();
}

LOCKSTEP_COLD void first_error::note(std::uint64_t position) {
  std::exception_ptr now = std::current_exception();
  lock_.lock();
  if (!error_ || position < position_) {
    position_ = position;
    std::swap(error_, now);
  }
  lock_.unlock();
}

LOCKSTEP_COLD void first_error::rethrow() {
  if (!error_) return;
  std::exception_ptr now;
  std::swap(error_, now);
  std::rethrow_exception(std::move(now));
}

#endif

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_STOP_SOURCE_HPP

// lockstep/detail/team/member_state.hpp -- what a member knows of itself and of its region (layer: team)
//
// One object for each member of a group, on lines of its own; only the member's thread uses it while a region runs,
// but for the values that it hands to others. The boards of the group, the loops and the reductions take it; `member`
// is the user's handle on it.
#ifndef LOCKSTEP_DETAIL_TEAM_MEMBER_STATE_HPP
#define LOCKSTEP_DETAIL_TEAM_MEMBER_STATE_HPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {

namespace detail {

/// How often a member looks whether others come before it runs their shares: 1.5 us. A member that is in time comes
/// within two line transfers, at most 0.5 us.
constexpr unsigned polls_for_late_members = 48;

/// The construct that a member is in.
struct construct_note {
  const char* kind;  ///< the name of its function; null: not known
  call_site where;
  std::size_t extent;  ///< the iterations of a loop, the size of a value: the same on all members
};

class member_state {
 public:
  static constexpr std::size_t no_rank = ~std::size_t{0};

 private:
  // Before the public data, so that what every construct reads lies on one line.
  group* shared_ = nullptr;
  stop_source* stop_ = nullptr;
  std::size_t rank_ = 0, size_ = 1;
  std::uint32_t region_ = 0;
  std::size_t rank_in_team_ = no_rank;

 public:
  member_state() noexcept = default;
  /// Of a member that is alone in its region, which is number 1 of `stop`.
  explicit member_state(stop_source& stop) noexcept : stop_(&stop), region_(1) {}
  member_state(member_state&&) = default;
  member_state& operator=(member_state&&) = default;

  /// Once, by the group that has it. (Tests of single boards have none.)
  void belong_to(group* shared, stop_source* stop, std::size_t rank) noexcept {
    shared_ = shared;
    stop_ = stop;
    rank_ = rank_in_team_ = rank;
  }
  /// Of a sub-team's member.
  void set_rank_in_team(std::size_t rank) noexcept { rank_in_team_ = rank; }
  /// The member begins its part of a region of `size` members, after `phase_before` of the barrier. In group.hpp.
  void enter(std::size_t size, std::uint32_t region, std::uint32_t phase_before) noexcept;

  std::size_t rank() const noexcept { return rank_; }
  /// Of the region: its members are the ranks below it.
  std::size_t size() const noexcept { return size_; }
  bool is_alone() const noexcept { return size_ == 1; }
  /// Of this member in its team's region, also where this is a sub-team; no_rank for a member that runs alone inside
  /// another region.
  std::size_t rank_in_team() const noexcept { return rank_in_team_; }
  /// The number of the region.
  std::uint32_t region() const noexcept { return region_; }
  /// What the members share. Requires: !is_alone().
  group& shared() const noexcept { return *shared_; }

  /// This member's block of a range.
  index_range block_of(index_range range) const noexcept {
    return static_block(range.first, range.last, rank_, size_);
  }

  const stop_source& stop() const noexcept { return *stop_; }
  /// True once the region was stopped; what came before the request is seen.
  bool is_stopped() const noexcept { return stop_->requested(region_); }
  /// The same for a member that only ends its part early.
  bool may_stop() const noexcept { return stop_->requested_relaxed(region_); }
  /// False once this member knows that the region is stopped, so that values of others may be gone.
  bool goes_on() const noexcept { return is_alone() ? !is_stopped() : !has_left; }
  void request_stop() const { stop_->request(region_); }

  /// Begins a construct that all members come to, in builds that diagnose misuse: see check_constructs() of group.hpp.
  void come_to(const char* kind, call_site where, std::size_t extent = 0) noexcept {
    if (!diagnoses_misuse) return;
    in_construct = {kind, where, extent};
    tell_construct();
  }
  /// Before the member arrives in the next phase: as the cells of that phase.
  void tell_construct() noexcept {
    if (diagnoses_misuse) told[next_phase() & 1u] = in_construct;
  }

  /// Blocks until all have arrived; false once the region is stopped. This and those below are in group.hpp.
  bool sync();
  /// The same with values, as team_barrier::meet(). Requires: !is_alone().
  template <class Combine>
  bool meet(cell& out, Combine combine);
  template <class Combine, class Arrival>
  bool meet(cell& out, Combine combine, Arrival& arrival);
  /// The phase in which this member arrives next: that of the cells which it writes before.
  std::uint32_t next_phase() const noexcept { return phase + 1; }

  /// This member runs a loop by rank, and does not wait at its end: see loops.hpp.
  void note_loop_by_rank() noexcept { last_by_rank = phase; }
  /// The number of the next construct that members share.
  std::uint32_t next_construct() noexcept;

  void destroy_kept_values() {
    for (owner<kept_values>& each : kept) each.reset();
    kept_result.reset();
    kept_leaves.reset();
  }
  void forget_kept_values() noexcept {
    for (owner<kept_values>& each : kept) static_cast<void>(each.release());
    static_cast<void>(kept_result.release());
    static_cast<void>(kept_leaves.release());
  }

  // For the barrier.
  std::uint32_t phase = 0;  ///< the last phase this member has arrived in
  bool has_left = false;    ///< released because the region is stopped: it meets nobody any more
  wait_history history = {};

  // For loops.
  bool has_construct = false;      ///< it has come to a shared construct in this region
  std::uint32_t construct = 0;     ///< if so, the number of the next one
  std::uint32_t loops = 0;         ///< whose shares were claimed (loop_claims.hpp)
  std::uint32_t last_by_rank = 0;  ///< the phase in which it ran a loop by rank last
  stage_trust looks;     ///< whether looks at the claims of others have found any that were late
  stage_trust patience;  ///< whether the others came while it polled for them

  // For reductions: more cells than the barrier has, and the values that do not fit.
  cell nodes[2][reduction_tree::most_nodes - 1];
  owner<kept_values> kept[2];  ///< for the cells of two phases
  owner<kept_values> kept_result;
  owner<kept_values> kept_leaves;

  // For messages.
  construct_note in_construct = {};
  construct_note told[2] = {};  ///< to the others, in two phases
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_MEMBER_STATE_HPP

// lockstep/detail/team/team_barrier.hpp -- how the members of a team meet: with values, until a stop (layer: team)
//
// What a team's sync functions are made of: all members wait for all, and see a value of up to 16 bytes from each.
// It is the barrier of ranked_barrier.hpp for the members of a region: it takes their private state from outside,
// follows the region's size and number, and ends with the region (stop_source.hpp). Members that share a CPU with
// the one they wait for part.
#ifndef LOCKSTEP_DETAIL_TEAM_TEAM_BARRIER_HPP
#define LOCKSTEP_DETAIL_TEAM_TEAM_BARRIER_HPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

// Parting. On a busy machine the system may put two members on one CPU and leave them there for seconds: three
// runnable threads on two CPUs count as balanced. Then each wait costs a switch, 1 us and more, where a member on a
// CPU of its own would answer in 0.1 us. A member whose wait outlasts its spin notes on which CPU it runs, and
// learns whether the member that it waits for runs there as well.
//
//   PARTING-1  Only a thread that the team has started moves, never that of member 0, and only where the board may
//              move threads (`moves`): not where the user has bound members.
//   PARTING-2  It moves when 64 waits in a row shared their CPU, over 1 ms at least and 2 ms at most: then the
//              switches take most of the time. Members that work for long between their waits gain nothing: on the
//              other CPU they would get a share of the time only.
//   PARTING-3  After a move it stays for 1 ms at least. A move that was in vain doubles that, up to 64 ms.
//   PARTING-4  Its affinity is afterwards as it was before (leave_native_cpu() of this_thread.hpp).
//   PARTING-5  A worker that polls when its region is due, but does not run when it comes, for 4 regions in a row,
//              shares its CPU with the caller of the regions, which slept before: it moves. A move that was in vain
//              doubles the 4, up to 256; each region that finds it running takes back one of them.
//
// A word here is a hint: one that is old or missing costs a needless move or a poll, never a wake-up.
//
// Memory order (# marks the line)
//   #  access      order    pairs  why it suffices
//   1  word.store  relaxed  -      a hint that stands for itself
//   2  word.load   relaxed  -      as 1
//
// Cost   nothing for waits that end while they spin. Else one store and one load on lines that nobody else looks at,
//        3 ns alone. A move takes some 10 us.

/// When to part: PARTING-2 and PARTING-3. Plain data of one thread.
class parting_pace {
 public:
  static constexpr unsigned enough_waits = 64;
  static constexpr std::uint64_t least_time = 1000000;
  static constexpr std::uint64_t most_rest = 64 * least_time;

  /// A wait at the time `now` shares its CPU with what it waits for. True if it is time to part.
  bool shared(std::uint64_t now) noexcept {
    if (now - first_ > 2 * least_time) {
      first_ = now;
      waits_ = 0;
    }
    if (++waits_ < enough_waits || now - first_ < least_time) return false;
    waits_ = 0;
    if (has_parted_ && now - parted_ < rest_) return false;
    const bool was_in_vain = has_parted_ && now - parted_ < 4 * rest_;
    rest_ = !was_in_vain ? least_time : 2 * rest_ < most_rest ? 2 * rest_ : most_rest;
    has_parted_ = true;
    parted_ = now;
    return true;
  }

 private:
  unsigned waits_ = 0;
  bool has_parted_ = false;
  std::uint64_t first_ = 0, parted_ = 0;
  std::uint64_t rest_ = least_time;
};

class parting_board {
 public:
  parting_board(std::size_t members, bool moves) : sightings_(members), moves_(moves) {}

  /// Called by member `rank` in a wait for member `other` that outlasts its spin. True if `other` ran on another CPU
  /// when it last said so. False if that is not known, and after a move.
  LOCKSTEP_NOINLINE bool is_elsewhere(std::size_t rank, std::size_t other,
                                      std::uint64_t now) noexcept {
    const int cpu = current_cpu();
    if (cpu < 0) return false;
    sighting& own = sightings_[rank].value;
    const std::uint32_t here = (static_cast<std::uint32_t>(cpu) + 1) & cpu_bits;
    own.turn += one_turn;
    own.word.store(own.turn | here, memory_order_relaxed);                                 // 1
    const std::uint32_t theirs = sightings_[other].value.word.load(memory_order_relaxed);  // 2
    const std::uint32_t there = theirs & cpu_bits;
    if (there != here) return there != 0;
    const bool is_news = theirs != own.seen;  // else the other one may have left since
    own.seen = theirs;
    if (is_news && own.pace.shared(now)) leave(rank);
    return false;
  }
  /// Moves the calling thread, that of member `rank`, to another CPU.
  LOCKSTEP_COLD void leave(std::size_t rank) noexcept {
    const int cpu = current_cpu();
    if (moves_ && rank != 0 && cpu >= 0) leave_cpu(static_cast<unsigned>(cpu));
  }

 private:
  // word of a member: who may change what
  //   bits     name  meaning                                       set by
  //   0..16    cpu   the CPU that it ran on, and 1; 0: not said    its member
  //   17..31   turn  how often it has said so, modulo 2^15         its member
  // Either may be old: the system moves threads without a word.
  static constexpr std::uint32_t one_turn = 1u << 17;
  static constexpr std::uint32_t cpu_bits = one_turn - 1;

  struct sighting {
    wait_word word{0};
    // Its member's own.
    std::uint32_t turn = 0, seen = 0;
    parting_pace pace;
  };

  aligned_array<padded<sighting>> sightings_;
  const bool moves_;
};

/// For waits: whether the member that is awaited runs elsewhere. Without a board that is not known.
struct whereabouts {
  parting_board* board;
  std::size_t self, other;

  bool is_elsewhere(std::uint64_t now) noexcept {
    return board != nullptr && board->is_elsewhere(self, other, now);
  }
};

/// For waits: stopped once the region is.
struct stops_with_region {
  const stop_source& source;
  std::uint32_t region;

  bool requested() const noexcept { return source.requested(region); }
};

/// What a participant does in a phase, usually: it arrives by itself, and does nothing else until it waits.
struct usual_arrival {
  static constexpr bool arrives() noexcept { return true; }
  static void meanwhile() noexcept {}
};

// The barrier.
//
//   MEET-1  A value is written before its phase is published, and not again before all have read it: there are
//           two cells for it, used in turn, and nobody is two phases ahead of anybody (RANKED-1).
//   MEET-2  The combined value of the last to arrive is read by all before anybody can arrive again.
//   MEET-3  A member that was released by a stop, and arrives all the same, is not counted and writes nothing: others
//           may still read what it wrote before.
//   MEET-4  With the tree, combine() runs once, on the last to arrive; else on every member, with the same values.
//   MEET-5  A participant that has come may leave its arrival to another (arrive_for), and waits for it as all
//           others do.
//
// Cost   as ranked_barrier.hpp. With flags a reduction costs no more: values travel with the phases. With the tree the
//        last to arrive fetches the lines of all.
// Source values on the flags' lines: ours.
class team_barrier final : public stoppable {
 public:
  static constexpr std::size_t usual_most_flags = 8;

  /// For regions of up to `most` participants, which `stop` ends. Tests pass a smaller limit for flags.
  /// `finds_cpu`: members part, see above.
  LOCKSTEP_COLD team_barrier(std::size_t most, wait_policy policy, stop_source& stop,
                             std::size_t most_flags = usual_most_flags, bool finds_cpu = false)
      : stop_(stop),
        phases_(most, policy, most, most_flags),
        parting_(most < most_flags ? most : most_flags, finds_cpu) {
    stop_.add(*this);
  }
  LOCKSTEP_COLD ~team_barrier() { stop_.remove(*this); }
  team_barrier(const team_barrier&) = delete;
  team_barrier& operator=(const team_barrier&) = delete;

  wait_policy policy() const noexcept { return phases_.policy(); }
  stop_source& stop() const noexcept { return stop_; }

  /// Where the value of a participant that has arrived in this phase lies, or is to be put before.
  cell& value_of(std::size_t rank, std::uint32_t phase) noexcept {
    return phases_.value_of(rank).of_phase[phase & 1u];
  }

  /// Blocks until all have arrived. False once the region is stopped: nobody waits for anybody any more.
  bool arrive_and_wait(member_state& self) {
    usual_arrival usual;
    const auto nothing = [](cell&) {};
    return phases_.has_flags(self.size()) ? pass_by_flags(self, usual)
                                          : pass_by_tree(self, nothing, usual);
  }

  /// The same, and `out` gets what combine(out) makes of the values of all, which are at
  /// value_of(rank, self.phase) then. Requires: each participant has put its own into
  /// value_of(its rank, self.phase + 1) before the call.
  template <class Combine>
  bool meet(member_state& self, cell& out, const Combine& combine) {
    usual_arrival usual;
    return meet(self, out, combine, usual);
  }
  /// With `arrival` in place of usual_arrival: while arrives() is false another participant arrives for this one.
  template <class Combine, class Arrival>
  bool meet(member_state& self, cell& out, const Combine& combine, Arrival& arrival) {
    if (phases_.has_flags(self.size())) {
      if (!pass_by_flags(self, arrival)) return false;
      combine(out);
    } else {
      if (!pass_by_tree(self, combine, arrival)) return false;
      out = phases_.value_of_all().of_phase[0];
    }
    return true;
  }

  /// By a participant that is in a phase: whether another has arrived in it; with the tree, whether all have.
  bool has_arrived(const member_state& self, std::size_t rank) const noexcept {
    return phases_.has_arrived(rank, self.size(), {self.phase});
  }
  bool have_all_arrived(const member_state& self) const noexcept {
    if (!phases_.has_flags(self.size())) return has_arrived(self, self.rank());
    std::size_t rank = 0;
    while (rank < self.size() && (rank == self.rank() || has_arrived(self, rank))) ++rank;
    return rank == self.size();
  }
  /// By a participant that is in a phase: the arrival of another, which has come and left it to this one.
  template <class Combine>
  void arrive_for(const member_state& self, std::size_t rank, const Combine& combine) {
    arrive(self, rank, combine);
  }

  /// Between regions: the next one begins after `phase`, whatever has been before.
  void reset(std::uint32_t phase) noexcept { phases_.reset(phase); }

  LOCKSTEP_COLD void notify_all_sleepers() override { phases_.wake_all(); }

 private:
  struct values {
    cell of_phase[2];
  };
  using word = published_word<std::uint32_t>;

  template <class Arrival>
  bool pass_by_flags(member_state& self, Arrival& arrival) {
    if (self.has_left) return false;
    ++self.phase;
    if (arrival.arrives()) phases_.flag(self.rank()).publish(self.phase);
    arrival.meanwhile();
    wait_for_others(self);
    if (!arrival.arrives()) wait(self, phases_.flag(self.rank()), self.rank());
    return goes_on(self);
  }
  template <class Combine, class Arrival>
  LOCKSTEP_NOINLINE bool pass_by_tree(member_state& self, const Combine& combine,
                                      Arrival& arrival) {
    if (self.has_left) return false;
    ++self.phase;
    if (!arrival.arrives() || !arrive(self, self.rank(), combine)) {
      arrival.meanwhile();
      wait_for_others(self);
    }
    return goes_on(self);
  }
  template <class Combine>
  bool arrive(const member_state& self, std::size_t rank, const Combine& combine) {
    return phases_.arrive(rank, self.size(), self.phase,
                          [&] { combine(phases_.value_of_all().of_phase[0]); });
  }
  bool goes_on(member_state& self) const noexcept {
    self.has_left = stop_.requested(self.region());
    return !self.has_left;
  }
  void wait_for_others(member_state& self) {
    phases_.wait_for_others(self.rank(), self.size(), [&](const word& at, std::size_t other) {
      return wait(self, at, other);
    });
  }
  bool wait(member_state& self, const word& at, std::size_t other) {
    parting_board* const known = other < self.size() ? &parting_ : nullptr;
    return at.wait(phase_reached{self.phase}, stops_with_region{stop_, self.region()}, self.history,
                   deadline::never(), whereabouts{known, self.rank(), other});
  }

  line_gap before_;
  stop_source& stop_;
  ranked_barrier<values> phases_;
  parting_board parting_;
  line_gap after_;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_TEAM_BARRIER_HPP

// lockstep/detail/team/construct_boards.hpp -- chunks, turns and steps that members share (layer: team)
//
// Two boards: loop_board hands out what loops, sections and singles share; progress_board has what members tell each
// other point to point. Waits on either end with the region (stop_source.hpp).
#ifndef LOCKSTEP_DETAIL_TEAM_CONSTRUCT_BOARDS_HPP
#define LOCKSTEP_DETAIL_TEAM_CONSTRUCT_BOARDS_HPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

// The constructs of a region. Every member comes through the same shared constructs (loops, sections, singles
// without waiting) in the same order, but not at the same time: nobody waits for anybody between them. So each
// construct has a slot of its own, which is free for another one, `slot_count` further on, when all have left it.
// The number of tickets is without limit; a member that gets one past the end leaves.
//
//   CHUNK-1  A slot holds construct s when its `open` is s. The last to leave makes the slot as new, and then sets
//            `open` to s + slot_count. So nobody is in a slot with anybody of another construct.
//   CHUNK-2  Each ticket of a construct is given to exactly one member, in ascending order. Where the members of a
//            construct agree to deal, they have a hand of tickets each, from which others take when their own is used
//            up; the same holds for each hand.
//   CHUNK-3  Turns: the part of position i runs after the part of position i - 1, whoever runs them. What
//            happens before the end of one happens before the beginning of the next.
//
// Memory order (# marks the line; published_words.hpp has that of `open` and of the turns)
//   #  access             order    pairs  why it suffices
//   1  tickets.fetch_add  relaxed  -      hands out numbers, nothing else
//   2  left.fetch_add     acq_rel  2      the last to leave comes after all that others did in the slot
//   3  store              relaxed  -      published with `open`, or by whoever resets the board
//   4  hand.fetch_add     relaxed  -      as 1
//   5  hand.load          relaxed  -      a hint whether 4 is worth the try
//
// Cost   entering and leaving: one fetch and one RMW a member. A ticket: one RMW on a line of its own, which
//        is at hand where only its owner takes from it: 5 ns in place of 40 to 50.
// Source the ring of dispatch buffers: [LIBOMP]; tickets instead of bounds: one RMW in place of a CAS loop.
class loop_board final : public stoppable {
 public:
  /// How many constructs the fastest member may be ahead of the slowest.
  static constexpr std::uint32_t usual_slots = 8;
  /// Above this many members a look at all hands at the end costs more than one counter. A guess: not measured.
  static constexpr std::size_t most_hands = 8;

  /// Requires: slot_count is a power of two, so that numbers may wrap. Tests pass fewer.
  LOCKSTEP_COLD loop_board(wait_policy policy, stop_source& stop,
                           std::uint32_t slot_count = usual_slots)
      : stop_(stop),
        open_(slot_count, policy),
        turns_(slot_count, policy),
        handed_out_(slot_count) {
    reset();
    stop_.add(*this);
  }
  LOCKSTEP_COLD ~loop_board() { stop_.remove(*this); }
  loop_board(const loop_board&) = delete;
  loop_board& operator=(const loop_board&) = delete;

  /// The first construct of the next region. Members read it when they need it; whoever runs the regions
  /// sets it in between.
  std::uint32_t first_construct() const noexcept { return first_; }
  void set_first_construct(std::uint32_t construct) noexcept { first_ = construct; }

  /// Waits until the slot of the construct is free of the one before. False once the region is stopped.
  bool enter(member_state& self, std::uint32_t construct) {
    return wait(self, open_[slot_of(construct)],
                [construct](std::uint32_t holds) { return holds == construct; });
  }

  std::size_t take_ticket(std::uint32_t construct) noexcept {
    return of(construct).tickets.fetch_add(1, memory_order_relaxed);  // 1
  }

  /// The same of the hand of member `owner`, below most_hands.
  std::size_t take_from_hand(std::uint32_t construct, std::size_t owner) noexcept {
    return of(construct).hands[owner].value.fetch_add(1, memory_order_relaxed);  // 4
  }
  /// How many were taken from it, at least.
  std::size_t taken_from_hand(std::uint32_t construct, std::size_t owner) noexcept {
    return of(construct).hands[owner].value.load(memory_order_relaxed);  // 5
  }

  /// This member needs the slot no more. Requires: it has entered. All members say the same of the hands.
  void leave(const member_state& self, std::uint32_t construct, bool has_hands = false) {
    const std::size_t slot = slot_of(construct);
    const std::uint32_t before = open_.beside(slot).left.fetch_add(1, memory_order_acq_rel);  // 2
    if (before + 1 != self.size()) return;
    if (has_hands) renew_hands(slot, self.size());
    open(slot, construct + slot_count());
  }

  /// Waits for the turn of `position`, counted from 0. False once the region is stopped.
  bool wait_for_turn(member_state& self, std::uint32_t construct, std::size_t position) {
    return wait(self, turns_[slot_of(construct)],
                [position](std::size_t turn) { return turn == position; });
  }
  /// Requires: it was this thread's turn.
  void pass_turn(std::uint32_t construct) {
    const published_word<std::size_t> turn = turns_[slot_of(construct)];
    turn.publish(turn.peek() + 1);
  }

  /// As new. Between regions.
  LOCKSTEP_COLD void reset() {
    for (std::uint32_t slot = 0; slot < slot_count(); ++slot) {
      renew_hands(slot, most_hands);
      open(slot, slot);
    }
    first_ = 0;
  }

  LOCKSTEP_COLD void notify_all_sleepers() override {
    open_.wake_all();
    turns_.wake_all();
  }

 private:
  /// Who has left, beside the word that says for whom the slot is open.
  struct leavers {
    wait_word left{0};
  };
  struct numbers {
    atomic<std::size_t> tickets{0};
    padded<atomic<std::size_t>> hands[most_hands];
  };

  std::uint32_t slot_count() const noexcept { return static_cast<std::uint32_t>(open_.size()); }
  std::size_t slot_of(std::uint32_t construct) const noexcept { return construct % slot_count(); }
  numbers& of(std::uint32_t construct) noexcept { return handed_out_[slot_of(construct)].value; }

  template <class Word, class Done>
  bool wait(member_state& self, const published_word<Word>& word, Done done) {
    word.wait(done, stops_with_region{stop_, self.region()}, self.history);
    return !stop_.requested(self.region());
  }

  void renew_hands(std::size_t slot, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      handed_out_[slot].value.hands[i].value.store(0, memory_order_relaxed);  // 3
    }
  }
  void open(std::size_t slot, std::uint32_t construct) {
    handed_out_[slot].value.tickets.store(0, memory_order_relaxed);  // 3
    open_.beside(slot).left.store(0, memory_order_relaxed);          // 3
    turns_[slot].reset(0);
    open_[slot].publish(construct);
  }

  stop_source& stop_;
  published_words<std::uint32_t, leavers> open_;
  published_words<std::size_t> turns_;
  aligned_array<padded<numbers>> handed_out_;
  std::uint32_t first_ = 0;
};

// The steps of a region. Each member publishes the number of the step that it has finished; any other may wait until
// it has come to a given step. For wavefronts and halos, where a barrier would wait for everybody. Steps begin at
// 0 in every region and only grow.
//
//   STEP-1  What a member does before publish(s) happens before the return of every wait for s or less.
//   STEP-2  used() is true from the first publish() of a region on, for whoever runs the regions, which makes the
//           board as new before the next one.
//
// Memory order (# marks the line; published_words.hpp has that of the steps)
//   #  access      order    pairs  why it suffices
//   1  used.load   relaxed  -      the end of the region orders it after 2
//   2  used.store  relaxed  -      as 1
//
// Cost   publish: one store on one's own line. wait: one line fetch.
class progress_board final : public stoppable {
 public:
  LOCKSTEP_COLD progress_board(std::size_t most, wait_policy policy, stop_source& stop)
      : stop_(stop), steps_(most, policy) {
    stop_.add(*this);
  }
  LOCKSTEP_COLD ~progress_board() { stop_.remove(*this); }
  progress_board(const progress_board&) = delete;
  progress_board& operator=(const progress_board&) = delete;

  /// The member has finished this step, and all before it.
  void publish(std::size_t rank, std::size_t step) {
    if (!used()) used_.store(1, memory_order_relaxed);  // 2
    steps_[rank].publish(step);
  }

  /// Blocks until the member `rank` has published `step` or more. False once the region is stopped.
  bool wait_for(member_state& self, std::size_t rank, std::size_t step) {
    steps_[rank].wait([step](std::size_t finished) { return finished >= step; },
                      stops_with_region{stop_, self.region()}, self.history);
    return !stop_.requested(self.region());
  }

  bool used() const noexcept { return used_.load(memory_order_relaxed) != 0; }  // 1

  /// As new. Between regions.
  void reset() noexcept {
    steps_.reset(0, steps_.size());
    used_.store(0, memory_order_relaxed);  // 2
  }

  LOCKSTEP_COLD void notify_all_sleepers() override { steps_.wake_all(); }

 private:
  stop_source& stop_;
  published_words<std::size_t> steps_;
  wait_word used_{0};
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_CONSTRUCT_BOARDS_HPP

// lockstep/detail/team/fork_lines.hpp -- by which lines members hear of a region, and what these say (layer: team)
//
// Members hear of a region by lines: one member publishes a line, up to width - 1 others watch it. The members of a
// team form a tree of that width over their ranks: rank r is the leader of ranks r + 1 to r + width - 1
// if width divides r, of r + width, r + 2 width, ... too if width^2 divides r, and so on; rank 0 leads
// at every level. A team of up to `width` members has a single line. Pure functions and plain data.
//
// A line says which region begins, and what is to be done: a job, which calls f(member&), or f(loop_share&) in a loop.
// A small closure is copied into the job, if nobody can tell the copy from the original (closures.hpp): a thread that
// fetches the line has all it needs. Any other function is called through a pointer, at the cost of one more line, and
// must live until the last call has returned. No allocation either way.
//
// Source [MCS91] sec. 3.3, a wake-up tree of fixed shape, with wide nodes: readers of one line fetch it
// from each other faster than level follows level.
#ifndef LOCKSTEP_DETAIL_TEAM_FORK_LINES_HPP
#define LOCKSTEP_DETAIL_TEAM_FORK_LINES_HPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {
class member;

namespace detail {

class loop_share;

class fork_tree {
 public:
  /// As wide as the flags of a barrier: above 8 readers, fetches of one line queue up.
  static constexpr std::size_t usual_width = 8;

  /// Requires members > 0, width > 1.
  explicit constexpr fork_tree(std::size_t members, std::size_t width = usual_width) noexcept
      : members_(members), width_(width) {}

  constexpr std::size_t members() const noexcept { return members_; }
  constexpr std::size_t width() const noexcept { return width_; }

  /// A line: the leader and the step between its watchers.
  struct line {
    std::size_t index;   ///< among all lines of the team
    std::size_t leader;  ///< rank
    std::size_t step;    ///< watchers are leader + step, leader + 2 step, ...; width - 1 at most

    constexpr std::size_t first_watcher() const noexcept { return leader + step; }
  };

  /// How many lines there are.
  std::size_t lines() const noexcept {
    std::size_t sum = 0;
    for (std::size_t step = 1; step < members_; step *= width_) sum += lines_of_level(step);
    return sum;
  }

  /// The line that rank watches. Requires 0 < rank < members.
  line watched_by(std::size_t rank) const noexcept {
    std::size_t step = 1, before = 0;
    while (rank % (step * width_) == 0) {
      before += lines_of_level(step);
      step *= width_;
    }
    const std::size_t group = rank / (step * width_);
    return {before + group, group * step * width_, step};
  }

  /// Calls f(line) for the lines that rank leads and a region of `size` members needs, those with the
  /// most behind them first.
  template <class Function>
  void for_each_led(std::size_t rank, std::size_t size, Function f) const {
    for_each_level([&](std::size_t step, std::size_t before) {
      const std::size_t group = rank / (step * width_);
      if (rank % (step * width_) == 0 && rank + step < size) f(line{before + group, rank, step});
    });
  }

  /// The same for all leaders: for a member that publishes every line itself.
  template <class Function>
  void for_each_needed(std::size_t size, Function f) const {
    for_each_level([&](std::size_t step, std::size_t before) {
      for (std::size_t group = 0; group * step * width_ + step < size; ++group) {
        f(line{before + group, group * step * width_, step});
      }
    });
  }

 private:
  std::size_t lines_of_level(std::size_t step) const noexcept {
    return (members_ - 1) / (step * width_) + 1;
  }

  /// Calls f(step, lines before this level) for each level from the top down.
  template <class Function>
  void for_each_level(Function f) const {
    std::size_t step = 1, before = 0;
    while (step * width_ < members_) {
      before += lines_of_level(step);
      step *= width_;
    }
    while (true) {
      f(step, before);
      if (step == 1) return;
      step /= width_;
      before -= lines_of_level(step);
    }
  }

  std::size_t members_;
  std::size_t width_;
};

/// What the members of a region have to know before they start.
struct region_head {
  std::uint32_t region;  ///< its number, never 0
  std::uint32_t size;    ///< members that take part: ranks below it
  std::uint32_t phase;   ///< of the barrier when it begins
};

/// Which members a region needs.
enum class region_kind : std::uint32_t {
  run = 0,  ///< every member
  loop = 1  ///< those who are there: each share is run by its member unless that is late
};

/// The word that announces a region: a value. It says all that a member must know before it has claimed a part of a
/// loop (loop_claims.hpp); the rest of the line it may read only after that.
//
//   bits    of the word         set by the member that announces the region
//   63..32  its phase           the lowest bit is the kind of region: 1 for a loop
//   31..16  its size less 1     ranks from that on have no share of a loop
//   15..0   parts of a share    0 for a `run`
class announcement {
 public:
  static constexpr std::uint32_t most_parts = 0xFFFF;

  constexpr explicit announcement(std::uint64_t word = 0) noexcept : word_(word) {}
  /// Requires 0 < size <= 65536; parts is 0 for a `run`, 1 to most_parts for a loop.
  constexpr announcement(std::uint32_t phase, std::uint32_t size, std::uint32_t parts) noexcept
      : word_(std::uint64_t{phase} << 32 | std::uint64_t{size - 1} << 16 | parts) {}

  constexpr std::uint64_t word() const noexcept { return word_; }
  constexpr std::uint32_t phase() const noexcept { return static_cast<std::uint32_t>(word_ >> 32); }
  constexpr region_kind kind() const noexcept { return static_cast<region_kind>(phase() & 1u); }
  constexpr bool is_loop() const noexcept { return kind() == region_kind::loop; }
  constexpr std::uint32_t size() const noexcept {
    return static_cast<std::uint32_t>(word_ >> 16 & 0xFFFF) + 1;
  }
  constexpr std::uint32_t parts() const noexcept {
    return static_cast<std::uint32_t>(word_) & 0xFFFF;
  }

 private:
  std::uint64_t word_;
};

/// What a region is told to run for a function that takes no member.
template <class Held>
struct part_without_member final {
  explicit part_without_member(Held of) noexcept : f(of) {}
  void operator()(member&) const { f(); }

  Held f;  ///< a closure that may be copied, or a reference to a function
};
template <class Held>
struct may_be_copied<part_without_member<Held>, true> : std::true_type {};

class job {
 public:
  /// With a phase and a pointer before it, a job fills one cache line of 64 bytes.
  static constexpr std::size_t closure_size = 40;

  /// Argument: member or loop_share.
  template <class Argument, class Function>
  void assign(Function& f) noexcept {
    static_assert(is_callable<Function&, Argument&>::value,
                  "lockstep: the function of a region cannot be called as f(me) with a "
                  "lockstep::member&");
    put<Argument>(f, std::integral_constant<bool, travels<Argument, Function>::value>());
  }
  /// For what is compiled once: call(closure, argument), with a copy of the closure. Requires: nobody can tell a copy
  /// of it from itself.
  template <class Argument, class Closure>
  void carry(const Closure& closure) noexcept {
    static_assert(sizeof(Closure) <= closure_size && alignof(Closure) <= alignof(void*), "it fits");
    ::new (static_cast<void*>(closure_)) Closure(closure);
    set<Argument>([](job& self, Argument& with) {
      (*reinterpret_cast<const Closure*>(self.closure_))(with);
    });
  }
  /// A number for the function's type.
  const void* place() const noexcept { return reinterpret_cast<const void*>(call_); }
  /// Calls the function. Requires: it was assigned for this Argument.
  template <class Argument>
  void operator()(Argument& with) {
    reinterpret_cast<caller<Argument>>(call_)(*this, with);
  }

  /// Whether a Function is copied into the job.
  template <class Function, class Argument = member>
  static constexpr bool travels_as() noexcept {
    return travels<Argument, Function>::value;
  }

 private:
  template <class Argument>
  using caller = void (*)(job&, Argument&);

  template <class Argument, class Function, bool IsClass = std::is_class<Function>::value>
  struct travels : std::false_type {};
  template <class Argument, class Function>
  struct travels<Argument, Function, true> {
    static constexpr bool value =
        may_be_copied<Function>::value && is_callable<const Function&, Argument&>::value &&
        sizeof(Function) <= closure_size && alignof(Function) <= alignof(void*);
  };

  template <class Argument, class Function>
  void put(Function& f, std::true_type /*travels*/) noexcept {
    using closure = typename std::remove_const<Function>::type;
    ::new (static_cast<void*>(closure_)) closure(f);
    set<Argument>([](job& self, Argument& with) {
      (*reinterpret_cast<const closure*>(self.closure_))(with);
    });
  }
  template <class Argument, class Function>
  void put(Function& f, std::false_type /*stays*/) noexcept {
    using pointer = Function*;
    ::new (static_cast<void*>(closure_)) pointer(&f);
    set<Argument>(
        [](job& self, Argument& with) { (**reinterpret_cast<pointer*>(self.closure_))(with); });
  }
  template <class Argument>
  void set(caller<Argument> how) noexcept {
    call_ = reinterpret_cast<void (*)()>(how);
  }

  void (*call_)() = nullptr;
  alignas(void*) unsigned char closure_[closure_size];
};

template <class Function>
void check_part() noexcept {
  static_assert(is_callable<Function&, member&>::value || is_callable<Function&>::value,
                "lockstep: the function of a region can be called neither as f(me), with a "
                "lockstep::member&, nor as f()");
}

/// The function of a region as f(member&), whether it takes a member or nothing.
template <class Function, bool TakesMember = is_callable<Function&, member&>::value>
class part_of {
 public:
  static constexpr bool is_copied() noexcept { return job::travels_as<Function>(); }

  explicit part_of(Function& f) noexcept : f_(f) {}
  Function& function() noexcept { return f_; }

 private:
  Function& f_;
};
template <class Function>
class part_of<Function, false> {
  template <class F, bool MayBeCopied = may_be_copied<F>::value>
  struct held {
    static constexpr bool is_copy = is_callable<const F&>::value &&
                                    sizeof(F) <= job::closure_size && alignof(F) <= alignof(void*);
  };
  template <class F>
  struct held<F, false> {
    static constexpr bool is_copy = false;
  };
  using kept =
      typename std::conditional<held<Function>::is_copy,
                                const typename std::remove_const<Function>::type, Function&>::type;

 public:
  static constexpr bool is_copied() noexcept { return held<Function>::is_copy; }

  explicit part_of(Function& f) noexcept : part_(f) {}
  part_without_member<kept>& function() noexcept { return part_; }

 private:
  part_without_member<kept> part_;
};

/// What lies beside the word on its line.
struct announced_region {
  std::uint32_t region = 0;
  std::uint32_t barrier_phase = 0;
  job what;

  region_head head(announcement as) const noexcept { return {region, as.size(), barrier_phase}; }
};
static_assert(sizeof(announced_region) <= 64 - sizeof(std::uint64_t),
              "the word, the region and its job share a cache line");

/// What a worker is to do: the region of its line, and which part of a share if that is a loop. Valid until the
/// worker has reported, or finished the part.
struct order {
  announced_region* line = nullptr;
  announcement announced{};
  std::uint32_t part = 0;

  bool is_loop() const noexcept { return announced.is_loop(); }
  region_head head() const noexcept { return line->head(announced); }
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_FORK_LINES_HPP

// lockstep/detail/team/loop_claims.hpp -- who runs which share of a loop: each is claimed first (layer: team)
//
// The function of a loop does not see which member runs which iterations. So each member has a share of the loop, and
// the thread that claims a share runs it: the member itself as long as it is in time, another thread where the member is
// late, has lost its CPU, or is slow. Nobody waits for a thread that has not begun. There are two protocols:
//   share_board   for loops that are regions of their own: shares are cut into parts, and each part is claimed
//   share_claims  for loops inside a region, which end with a phase of the barrier: whole shares are claimed
#ifndef LOCKSTEP_DETAIL_TEAM_LOOP_CLAIMS_HPP
#define LOCKSTEP_DETAIL_TEAM_LOOP_CLAIMS_HPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

// The parts of loops that are regions.
//
//   bits of a share's word  name   meaning                                       changed by
//   63..32                  phase  of the loop whose parts were claimed last     the first claim in each loop
//   31..0                   left   how many parts of the share nobody has        each claim: one less
//                                  claimed yet in that loop
// Both may lag behind: before the first claim in a loop the word is still of an earlier one. Then all parts are left.
//
//   bits of `finished`      meaning                                              changed by
//   31..0                   how many parts of the share have been run in this    each finished part: one more; the last
//                           loop; 0 where shares have one part                   one of the share: 0
//
//   PART-1  In every loop each part is claimed once: by a compare-and-swap from the word that was read before. No word
//           comes again (FORK-5 of fork_board.hpp), so a claim from an old word fails.
//   PART-2  A loop ends only when all its shares were reported. A share is reported when all its parts have been run.
//           So a loop goes on from the claim of a part until finish() of that part. In between its thread may read
//           what belongs to the region, and at no other time.
//   PART-3  A thread that claims reads the word first, and then the line that announces the loop. If the claim
//           succeeds, the word has not changed in between, and the line was that of the loop. For if the word has
//           parts left, its loop goes on, and no other loop is announced. If it has none, it is of a loop before.
//   PART-4  The thread that finishes the last part of a share reports the share. What was done for the share before
//           happens before the report.
//
// Memory order (# marks the line; each weakening must fail a test)
//   #  access              order    pairs  why it suffices
//   1  word.load           acquire  2      PART-3: the line that is read next is not behind the word
//   2  word.compare_exch   release  1      the other half. What the part needs was ordered by the announcement, and
//                                          what it does will be by the report
//   3  word.compare_exch   relaxed  -      it failed: 1 comes again
//   4  finished.fetch_add  acq_rel  4      PART-4: the last comes after all others
//   5  finished.store      relaxed  -      the report orders it before the next loop's
//   6  word.store          relaxed  -      while no worker lives, or by the caller for its own, between loops
//   7  came.store          relaxed  -      a time, for statistics
//   8  came.load           relaxed  -      as 7
//
// Cost   one RMW on a line that only its member touches, 6 ns, while it is in time; two for each part where there
//        are several. The word has a line of its own: reports are polled by the member that collects them, and a
//        claim beside a report would have to take the line back from there before the share can begin.
class share_board {
 public:
  enum class outcome { claimed, none_left, changed };

  explicit share_board(std::size_t members) : shares_(members) {}

  /// The word of a share. To be read before the announcement that it is claimed by.
  std::uint64_t look(std::size_t rank) const noexcept {
    return shares_[rank].value.word.load(detail::memory_order_acquire);  // 1
  }
  /// Claims the next part of a share, after look() and the announcement of a loop that has this rank: `part` is its
  /// number. `changed`: another thread has claimed meanwhile; look again.
  outcome try_claim(std::size_t rank, std::uint64_t seen, announcement of,
                    std::uint32_t& part) noexcept {
    const bool is_first = phase_of(seen) != of.phase();
    if (!is_first && left_of(seen) == 0) return outcome::none_left;
    const std::uint64_t next = is_first ? word_of(of.phase(), of.parts() - 1) : seen - 1;
    if (!shares_[rank].value.word.compare_exchange_strong(seen, next,
                                                          detail::memory_order_release,     // 2
                                                          detail::memory_order_relaxed)) {  // 3
      return outcome::changed;
    }
    part = of.parts() - 1 - left_of(next);
    return outcome::claimed;
  }

  /// After a claimed part was run. True for the thread that finishes the share: it must report it.
  bool finish(std::size_t rank, announcement of) noexcept {
    if (of.parts() == 1) return true;
    share& at = shares_[rank].value;
    const std::uint32_t before = at.finished.fetch_add(1, detail::memory_order_acq_rel);  // 4
    if (before + 1 != of.parts()) return false;
    at.finished.store(0, detail::memory_order_relaxed);  // 5
    return true;
  }

  /// As if the share had been claimed in `phase`. While no worker lives, or by the caller of loops for rank 0.
  void reset(std::size_t rank, std::uint32_t phase) noexcept {
    shares_[rank].value.word.store(word_of(phase, 0), detail::memory_order_relaxed);  // 6
    shares_[rank].value.finished.store(0, detail::memory_order_relaxed);              // 5
  }

  /// When the member last came out of a sleep to a region, by the clock.
  void note_coming(std::size_t rank, std::uint64_t now) noexcept {
    shares_[rank].value.came.store(now, detail::memory_order_relaxed);  // 7
  }
  std::uint64_t last_coming(std::size_t rank) const noexcept {
    return shares_[rank].value.came.load(detail::memory_order_relaxed);  // 8
  }

 private:
  struct share {
    detail::atomic<std::uint64_t> word{0};
    detail::atomic<std::uint64_t> came{0};
    detail::wait_word finished{0};
  };

  static constexpr std::uint64_t word_of(std::uint32_t phase, std::uint32_t left) noexcept {
    return std::uint64_t{phase} << 32 | left;
  }
  static constexpr std::uint32_t phase_of(std::uint64_t word) noexcept {
    return static_cast<std::uint32_t>(word >> 32);
  }
  static constexpr std::uint32_t left_of(std::uint64_t word) noexcept {
    return static_cast<std::uint32_t>(word);
  }

  detail::aligned_array<detail::padded<share>> shares_;
};

// The shares of loops inside a region. All members come to the same loops in the same order, and each loop ends with a
// phase of the barrier. So the share of a member that has not come yet may be run by one that waits there. One word
// for each rank says how far its shares are. Loops are counted, and each moves each word on by one.
//
//   bits of a rank's word  meaning
//   31..2                  the number of a loop, modulo 2^30
//   1..0                   the state in that loop:
//
//   state    bits  meaning                                set by                             from
//   settled  00    the member has claimed the share, or   the member, or the one that has    settled of the loop
//                  the share is done                      run the share in its place         before, taken, awaited
//   taken    01    another member runs the share          that member, before it begins      settled of the loop before
//   awaited  10    another member runs it, and the        the member that comes late         taken
//                  member itself has come
// A word may be of the loop before: then nobody has claimed the share in this one. It is never older (SHARE-2).
//
//   SHARE-1  When the phase at the end of loop n is over, every word is settled for n. Either the member has found its
//            word settled, and has arrived; or another member took the share, and has arrived for it when the share
//            was done.
//   SHARE-2  While any member is in loop n, each word is settled for n - 1 or is of n, because nobody leaves loop n
//            before all have arrived. So the change from `settled for n - 1` happens once in each loop. Words are
//            compared for equality only, so their numbers may wrap.
//   SHARE-3  A region of another size, or one that was stopped, leaves words that lag behind. Then all words, and the
//            counts of all members, begin at 0 again (group.hpp).
//
// Memory order (# marks the line; each weakening must fail a test)
//   #  access              order    pairs  why it suffices
//   1  word.compare_exch   relaxed  -      a claim hands over nothing: what a share needs, and what its member wrote in
//                                          earlier phases, is ordered by the barrier
//   2  word.compare_exch   release  5      what the member did before is in the arrival that another makes for it
//   3  word.load           acquire  4      what was done in the share is in the arrival of its member
//   4  word.compare_exch   release  3      the other half
//   5  word.load           acquire  2      the other half
//   6  word.store          relaxed  -      the arrival that follows publishes it, or the next region
//   7  word.load           relaxed  -      a look, so that a claim in vain does not take the line away
//
// Cost   one RMW on a line that only its member touches, 6 ns, while it is in time.
class share_claims {
 public:
  explicit share_claims(std::size_t members) : words_(members) {}

  /// What a member finds of its share when it comes: nobody has it, so that it is its own now; it is done; or
  /// another runs it and will arrive for this member.
  enum class found { free, done, running };

  /// By the member, once a loop.
  found claim(std::size_t rank, std::uint32_t loop) noexcept {
    detail::wait_word& word = words_[rank].value;
    std::uint32_t seen = settled(loop - 1);
    if (word.compare_exchange_strong(seen, settled(loop), detail::memory_order_relaxed,  // 1
                                     detail::memory_order_relaxed)) {                    // 1
      return found::free;
    }
    seen = taken(loop);
    if (word.compare_exchange_strong(seen, awaited(loop), detail::memory_order_release,  // 2
                                     detail::memory_order_relaxed)) {                    // 1
      return found::running;
    }
    static_cast<void>(word.load(detail::memory_order_acquire));  // 3
    return found::done;
  }

  /// By another member, in the loop. If true it runs the share, and calls finish().
  bool try_take(std::size_t rank, std::uint32_t loop) noexcept {
    detail::wait_word& word = words_[rank].value;
    std::uint32_t seen = settled(loop - 1);
    return word.load(detail::memory_order_relaxed) == seen &&                             // 7
           word.compare_exchange_strong(seen, taken(loop), detail::memory_order_relaxed,  // 1
                                        detail::memory_order_relaxed);                    // 1
  }
  /// The share that was taken is done. True if its member has come meanwhile: the caller has to arrive for it.
  bool finish(std::size_t rank, std::uint32_t loop) noexcept {
    detail::wait_word& word = words_[rank].value;
    std::uint32_t seen = taken(loop);
    if (word.compare_exchange_strong(seen, settled(loop), detail::memory_order_release,  // 4
                                     detail::memory_order_relaxed)) {                    // 1
      return false;
    }
    static_cast<void>(word.load(detail::memory_order_acquire));  // 5
    word.store(settled(loop), detail::memory_order_relaxed);     // 6
    return true;
  }

  /// The next loop is number 1. Between regions.
  void reset() noexcept {
    for (std::size_t rank = 0; rank < words_.size(); ++rank) {
      words_[rank].value.store(settled(0), detail::memory_order_relaxed);  // 6
    }
  }

 private:
  static constexpr std::uint32_t settled(std::uint32_t loop) noexcept { return loop << 2; }
  static constexpr std::uint32_t taken(std::uint32_t loop) noexcept { return loop << 2 | 1u; }
  static constexpr std::uint32_t awaited(std::uint32_t loop) noexcept { return loop << 2 | 2u; }

  detail::aligned_array<detail::padded<detail::wait_word>> words_;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_LOOP_CLAIMS_HPP

// lockstep/detail/team/group.hpp -- what the members of a region or a sub-team share (layer: team)
//
// A group is made once and used by region after region. Each member has a state in it, on lines of its own. The
// boards do the waiting. The caller of the regions calls begin() and end(). For users: member.hpp.
//
//   GROUP-1  Between end() and begin() every board is at rest: phases equal, constructs empty, steps 0. After a
//            region that was stopped they are made so by force: nobody is in it any more.
//   GROUP-2  A member writes its cells of phase p + 1 before it arrives in that phase, and those of p + 3 after all
//            have read them (MEET-1 of team_barrier.hpp). So does a member that runs the share of another
//            (loops.hpp): it has seen all arrive in phase p.
//   GROUP-3  When a region is over, whether it was stopped or not, no value is left that a cell points to. The
//            values of a sub-team end with it, inside the region.
//
// Memory order (# marks the line; each weakening must fail a test)
//   #  access           order    pairs  why it suffices
//   1  kept.load        relaxed  -      the end of the region orders it after 2
//   2  kept.store       relaxed  -      as 1
//   3  users.fetch_sub  acq_rel  3      the destroyer comes after all that others did in the sub-team
//
// Cost   about 2 KiB a member and 20 KiB, once.
#ifndef LOCKSTEP_DETAIL_TEAM_GROUP_HPP
#define LOCKSTEP_DETAIL_TEAM_GROUP_HPP

#if LOCKSTEP_HAS_BODIES
#include <cstdio>
#include <cstdlib>
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// The sub-teams of a region. Members make them together, and the last to let go destroys them. Where a region is
/// stopped, some members may never let go: its caller destroys what is left.
struct sub_group;
class sub_group_list {
 public:
  sub_group_list() = default;
  ~sub_group_list() { destroy_all(); }
  sub_group_list(const sub_group_list&) = delete;
  sub_group_list& operator=(const sub_group_list&) = delete;

  /// Takes over what `new` has made.
  LOCKSTEP_COLD void add(sub_group& one);
  LOCKSTEP_COLD void destroy(sub_group& one);
  /// While nobody else uses this object.
  LOCKSTEP_COLD void destroy_all();
  /// In a child process: a thread that held the lock is not there.
  void forget_others() noexcept { ::new (static_cast<void*>(&lock_)) short_lock(); }

 private:
  short_lock lock_;
  sub_group* first_ = nullptr;
};

class group {
 public:
  /// Sub-teams pass the group of the region, which their own sub-teams end with as well. `finds_cpu`: see
  /// team_barrier.hpp. Tests pass a smaller limit for flags.
  LOCKSTEP_COLD group(std::size_t most, wait_policy policy, stop_source& stop,
                      group* of_region = nullptr, bool finds_cpu = false,
                      std::size_t most_flags = team_barrier::usual_most_flags);
  LOCKSTEP_COLD ~group();
  group(const group&) = delete;
  group& operator=(const group&) = delete;

  team_barrier barrier;
  loop_board loops;
  progress_board progress;
  share_claims claims;
  aligned_array<cell> leaves;  ///< of reductions whose leaves are handed out

  group& of_region() noexcept { return of_region_; }
  /// Of the region, at whatever depth.
  sub_group_list& sub_groups() noexcept { return of_region_.sub_groups_; }

  std::size_t most() const noexcept { return members_.size(); }
  member_state& state(std::size_t rank) noexcept { return members_[rank].value; }

  /// The k-th cell of a member for the phase in which it arrives next, or has arrived.
  cell& cell_of(std::size_t rank, std::uint32_t phase, std::size_t k) noexcept {
    return k == 0 ? barrier.value_of(rank, phase) : state(rank).nodes[phase & 1u][k - 1];
  }

  /// Before a region of `size` members: the phase that they begin after. By the caller of the region.
  std::uint32_t begin(std::size_t size) noexcept {
    const std::uint32_t phase = state(0).phase;
    if (size == 1 || size == size_) return phase;  // a member that is alone meets nobody
    // Members that were in no region meanwhile are behind, and so is the other kind of barrier.
    barrier.reset(phase);
    reset_claims();
    size_ = size;
    return phase;
  }

  /// A member begins its part.
  member_state& enter(std::size_t rank, std::size_t size, std::uint32_t region,
                      std::uint32_t phase) noexcept {
    member_state& self = state(rank);
    self.enter(size, region, phase);
    return self;
  }

  /// After a region, when every member has ended its part.
  void end(bool was_stopped) {
    if (was_stopped) return reset();
    if (state(0).has_construct) loops.set_first_construct(state(0).construct);
    if (progress.used()) progress.reset();
  }

  /// After a phase: whether all have arrived in it from the same construct. Else ends the program with a message that
  /// names both. A member reads what the others told for this phase as it reads their cells: GROUP-2.
  void check_constructs(const member_state& self) {
    if (!diagnoses_misuse) return;
    const construct_note& mine = self.told[self.phase & 1u];
    for (std::size_t rank = 0; rank < self.size(); ++rank) {
      const construct_note& theirs = state(rank).told[self.phase & 1u];
      if (is_same(mine, theirs)) continue;
      const bool is_first = self.rank() < rank;
      report_constructs(is_first ? self.rank() : rank, is_first ? mine : theirs,
                        is_first ? rank : self.rank(), is_first ? theirs : mine);
    }
  }

  /// A member keeps a value in its member_state.
  void note_kept_values() noexcept {
    if (kept_.load(memory_order_relaxed) == 0) {  // 1
      kept_.store(1, memory_order_relaxed);       // 2
    }
  }
  /// Destroys the values that members keep, when every member has ended its part, and nobody reads them any
  /// more. Regions that kept none pay for a look. By the caller of the region, marked as inside (nesting.hpp).
  LOCKSTEP_OUT_OF_LINE void destroy_kept_values();
  /// In a child process: a value that another thread was about to make or end is nothing to touch.
  LOCKSTEP_COLD void forget_kept_values() noexcept;

 private:
  static bool is_same(const construct_note& a, const construct_note& b) noexcept {
    if (a.kind == nullptr || b.kind == nullptr) return true;
    return a.extent == b.extent && (a.kind == b.kind || std::strcmp(a.kind, b.kind) == 0);
  }
  [[noreturn]] LOCKSTEP_COLD static void report_constructs(std::size_t low,
                                                           const construct_note& lows,
                                                           std::size_t high,
                                                           const construct_note& highs);

  /// After a region that was stopped.
  LOCKSTEP_COLD void reset();
  LOCKSTEP_COLD void reset_claims() noexcept;

  group& of_region_;
  sub_group_list sub_groups_;
  aligned_array<padded<member_state>> members_;
  std::size_t size_ = 0;
  wait_word kept_{0};
};

/// What the members of a sub-team share; made by the member that is to have rank 0.
struct sub_group {
  sub_group(std::size_t size, group& of)
      : shared(size, of.barrier.policy(), of.barrier.stop(), &of.of_region()),
        users(static_cast<std::uint32_t>(size)) {}

  /// A member lets go: the last one destroys the group.
  void let_go() {
    if (users.fetch_sub(1, memory_order_acq_rel) == 1) {  // 3
      shared.sub_groups().destroy(*this);
    }
  }

  group shared;
  wait_word users;
  sub_group* next = nullptr;
};

inline void note_kept_values(group& shared) noexcept { shared.note_kept_values(); }

inline void member_state::enter(std::size_t size, std::uint32_t region,
                                std::uint32_t phase_before) noexcept {
  size_ = size;
  region_ = region;
  phase = phase_before;
  has_left = false;
  has_construct = false;
  last_by_rank = phase_before - 1;  // in no phase of this region
  if (diagnoses_misuse) in_construct = told[0] = told[1] = construct_note();
}
inline bool member_state::sync() {
  if (is_alone()) return !is_stopped();
  tell_construct();
  const bool goes_on = shared_->barrier.arrive_and_wait(*this);
  if (goes_on) shared_->check_constructs(*this);
  return goes_on;
}
/// Combines after it has seen that all are in the same construct: the cells of another may hold anything.
template <class Combine>
struct checked_combine {
  member_state& self;
  Combine& combine;

  void operator()(cell& into) const {
    self.shared().check_constructs(self);
    combine(into);
  }
};
template <class Combine>
bool member_state::meet(cell& out, Combine combine) {
  tell_construct();
  return shared_->barrier.meet(*this, out, checked_combine<Combine>{*this, combine});
}
template <class Combine, class Arrival>
bool member_state::meet(cell& out, Combine combine, Arrival& arrival) {
  tell_construct();
  return shared_->barrier.meet(*this, out, checked_combine<Combine>{*this, combine}, arrival);
}
inline std::uint32_t member_state::next_construct() noexcept {
  if (!has_construct) {
    has_construct = true;
    construct = shared_->loops.first_construct();
  }
  return construct++;
}

#if LOCKSTEP_HAS_BODIES

LOCKSTEP_COLD group::group(std::size_t most, wait_policy policy, stop_source& stop,
                           group* of_region, bool finds_cpu, std::size_t most_flags)
    : barrier(most, policy, stop, most_flags, finds_cpu),
      loops(policy, stop),
      progress(most, policy, stop),
      claims(most),
      leaves(reduction_tree::most_leaves),
      of_region_(of_region != nullptr ? *of_region : *this),
      members_(most) {
  for (std::size_t rank = 0; rank < most; ++rank) state(rank).belong_to(this, &stop, rank);
}

LOCKSTEP_COLD group::~group() = default;

LOCKSTEP_OUT_OF_LINE void group::destroy_kept_values() {
  if (kept_.load(memory_order_relaxed) == 0) return;  // 1
  for (std::size_t rank = 0; rank < most(); ++rank) state(rank).destroy_kept_values();
  kept_.store(0, memory_order_relaxed);  // 2
}

LOCKSTEP_COLD void group::forget_kept_values() noexcept {
  for (std::size_t rank = 0; rank < most(); ++rank) state(rank).forget_kept_values();
}

[[noreturn]] LOCKSTEP_COLD void group::report_constructs(std::size_t low,
                                                         const construct_note& lows,
                                                         std::size_t high,
                                                         const construct_note& highs) {
  std::fprintf(stderr, "lockstep::member: ");
  for (const bool is_low : {true, false}) {
    const construct_note& what = is_low ? lows : highs;
    std::fprintf(stderr, "%srank %zu is in %s", is_low ? "" : ", ", is_low ? low : high, what.kind);
    if (what.where.file == nullptr) continue;
    std::fprintf(stderr, " (%s:%u)", what.where.file, what.where.line);
  }
  std::fprintf(stderr,
               "%s; all members of a region come to the same constructs in the same order, with "
               "the same arguments\n",
               std::strcmp(lows.kind, highs.kind) == 0 ? ", of another size" : "");
  std::abort();
}

LOCKSTEP_COLD void group::reset_claims() noexcept {
  claims.reset();
  for (std::size_t rank = 0; rank < most(); ++rank) state(rank).loops = 0;
}

LOCKSTEP_COLD void group::reset() {
  state(0).phase = 0;
  barrier.reset(0);
  reset_claims();
  loops.reset();
  progress.reset();
  sub_groups_.destroy_all();
}

LOCKSTEP_COLD void sub_group_list::add(sub_group& one) {
  lock_.lock();
  one.next = first_;
  first_ = &one;
  lock_.unlock();
}

LOCKSTEP_COLD void sub_group_list::destroy(sub_group& one) {
  lock_.lock();
  sub_group** at = &first_;
  while (*at != &one) at = &(*at)->next;
  *at = one.next;
  lock_.unlock();
  delete &one;
}

LOCKSTEP_COLD void sub_group_list::destroy_all() {
  while (first_ != nullptr) {
    sub_group* const one = first_;
    first_ = one->next;
    delete one;
  }
}

#endif

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_GROUP_HPP

// lockstep/detail/team/leaf_loop.hpp -- the innermost loop: all that is compiled for each closure (layer: team)
//
// The code that hands out parts of a range is compiled once for the program. It calls a leaf through one function
// pointer, once for each part: the leaf calls the user's function for every index of it.
//
// A user's iteration is to run as fast as in a serial loop. In the middle of other code the compiler must assume that
// each store of the iteration may change what the closure holds, and GCC keeps neither constants nor addresses in
// registers: with g++ -O2 daxpy took 1.5 to 2 times as long. So the leaf has the closure as a copy of its own that
// nothing else can change.
//
//   LEAF-1  f is called with first, first + 1, ... before last, in order; no index beyond last is computed.
//   LEAF-2  A closure is copied where nobody can tell (closures.hpp) and it is small. Any other function is called
//           where it is. What a closure holds by reference is read anew after each store that could change it, as the
//           language demands: capture numbers and pointers by value.
//   LEAF-3  Of nested ranges f is called once per tuple, in row-major order; and calls for consecutive parts do
//           together what one call for all of them does. One division per nesting for each part; from there on the
//           indices step with carry, the innermost range in a plain loop that the compiler may vectorise.
//
// Cost   a call, 1 to 2 ns a part.
#ifndef LOCKSTEP_DETAIL_TEAM_LEAF_LOOP_HPP
#define LOCKSTEP_DETAIL_TEAM_LEAF_LOOP_HPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// What is done with the parts of a range of offsets, its type erased. A reference: `data` outlives the loop.
struct range_body {
  void (*call)(const void* data, std::size_t first, std::size_t last);
  const void* data;

  void operator()(std::size_t first, std::size_t last) const { call(data, first, last); }
};
/// A number for the type of a function's data: loops with the same one are learned about together (loop_steering.hpp).
template <class Function>
const void* place_of(Function* of) noexcept {
  return reinterpret_cast<const void*>(of);
}
/// The range_body of an object with operator()(first, last) const.
template <class Body>
void call_body(const void* data, std::size_t first, std::size_t last) {
  (*static_cast<const Body*>(data))(first, last);
}
template <class Body>
range_body body_of(const Body& of) noexcept {
  return {call_body<Body>, &of};
}

// Whether an int may become the unsigned argument of a function is its author's business.
LOCKSTEP_BEGIN_SIGN_CONVERSIONS
LOCKSTEP_BEGIN_ATTEMPTS

/// f(i) for the offsets [begin, end) from `first` on. IsIndependent: the compiler may run several at once.
template <class Index, bool IsIndependent>
struct each_index {
  Index first;

  template <class Function>
  static constexpr bool calls() noexcept {
    return is_callable<Function&, Index&>::value;
  }
  template <class Function>
  void operator()(std::size_t begin, std::size_t end, Function& f) const {
    const Index last = index_at(first, end);
    if (IsIndependent) {
      LOCKSTEP_INDEPENDENT_ITERATIONS
      for (Index i = index_at(first, begin); i < last; ++i) f(i);
    } else {
      for (Index i = index_at(first, begin); i < last; ++i) f(i);
    }
  }
};

/// f(i, j) for the iterations number [begin, end). Requires end <= iterations_of(ranges).
struct each_pair {
  index_range_2 ranges;

  template <class Function>
  static constexpr bool calls() noexcept {
    return is_callable<Function&, std::size_t&, std::size_t&>::value;
  }
  template <class Function>
  void operator()(std::size_t begin, std::size_t end, Function& f) const {
    if (begin >= end) return;
    const std::size_t first = ranges.columns.first, last = ranges.columns.last;
    std::size_t i = ranges.rows.first + begin / (last - first);
    std::size_t j = first + begin % (last - first);
    for (std::size_t left = end - begin; left > 0; ++i, j = first) {
      const std::size_t stop = left < last - j ? j + left : last;
      left -= stop - j;
      for (; j < stop; ++j) f(i, j);
    }
  }
};
/// f(i, j, k) for them.
struct each_triple {
  index_range_3 ranges;

  template <class Function>
  static constexpr bool calls() noexcept {
    return is_callable<Function&, std::size_t&, std::size_t&, std::size_t&>::value;
  }
  template <class Function>
  void operator()(std::size_t begin, std::size_t end, Function& f) const {
    if (begin >= end) return;
    const std::size_t first = ranges.columns.first, last = ranges.columns.last;
    const std::size_t line = begin / (last - first), lines = length_of(ranges.rows);
    std::size_t i = ranges.planes.first + line / lines;
    std::size_t j = ranges.rows.first + line % lines;
    std::size_t k = first + begin % (last - first);
    for (std::size_t left = end - begin; left > 0; k = first) {
      const std::size_t stop = left < last - k ? k + left : last;
      left -= stop - k;
      for (; k < stop; ++k) f(i, j, k);
      if (++j == ranges.rows.last) {
        j = ranges.rows.first;
        ++i;
      }
    }
  }
};

LOCKSTEP_END_ATTEMPTS
LOCKSTEP_END_SIGN_CONVERSIONS

/// Whether a leaf has a copy of the Function: 64 bytes are copied faster than a line is fetched.
template <class Function, class Loop, bool MayBeCopied = may_be_copied<Function>::value>
struct is_copied_to_leaf : std::false_type {};
template <class Function, class Loop>
struct is_copied_to_leaf<Function, Loop, true>
    : std::integral_constant<bool,
                             sizeof(Function) <= 64 && Loop::template calls<const Function>()> {};

/// A loop, and a copy of a function or a reference to one. Calls loop(first, last, f).
template <class Loop, class Function>
class copying_leaf {
 public:
  copying_leaf(const Loop& loop, Function& f) noexcept : loop_(loop), f_(f) {}
  void operator()(std::size_t first, std::size_t last) const {
    const copying_leaf own(*this);
    own.loop_(first, last, own.f_);
  }

 private:
  const Loop loop_;
  const typename std::remove_const<Function>::type f_;
};
template <class Loop, class Function>
class referring_leaf {
 public:
  referring_leaf(const Loop& loop, Function& f) noexcept : loop_(loop), f_(f) {}
  void operator()(std::size_t first, std::size_t last) const { loop_(first, last, f_); }

 private:
  const Loop loop_;
  Function& f_;
};
template <class Loop, class Function>
using leaf =
    typename std::conditional<is_copied_to_leaf<Function, Loop>::value,
                              copying_leaf<Loop, Function>, referring_leaf<Loop, Function>>::type;

/// The leaf of a loop that calls f(i).
template <class Index, class Function>
using leaf_of_each = leaf<each_index<Index, has_independent_iterations<Function>::value>, Function>;
template <class Index, class Function>
leaf_of_each<Index, Function> each_of(const index_span<Index>& span, Function& f) {
  static_assert(is_callable<Function&, Index&>::value,
                "lockstep: the function of parallel_for, or of for_each, must be callable with one "
                "index, f(i): of the common type of the bounds, or the iterator");
  return {{span.first}, f};
}

// Whether an int may become the unsigned argument of a function is its author's business.
LOCKSTEP_BEGIN_SIGN_CONVERSIONS
/// f(first, last) for each part.
template <class Index, class Function>
class leaf_of_blocks {
 public:
  leaf_of_blocks(const Index& first, Function& f) noexcept : first_(first), f_(f) {}
  void operator()(std::size_t first, std::size_t last) const {
    f_(index_at(first_, first), index_at(first_, last));
  }

 private:
  const Index first_;
  Function& f_;
};
LOCKSTEP_END_SIGN_CONVERSIONS
template <class Index, class Function>
leaf_of_blocks<Index, Function> blocks_of(const index_span<Index>& span, Function& f) {
  static_assert(is_callable<Function&, Index, Index>::value,
                "lockstep: the function of for_range must be callable with two indices, "
                "f(first, last): of the common type of the bounds, or iterators");
  return {span.first, f};
}

/// Whether a type is one of the nested ranges, and what runs a part of them.
template <class Ranges>
struct nested_loop {};
template <>
struct nested_loop<index_range_2> {
  using type = each_pair;
};
template <>
struct nested_loop<index_range_3> {
  using type = each_triple;
};
template <class Ranges, class Result = bool>
using if_nested = typename std::conditional<true, Result, typename nested_loop<Ranges>::type>::type;
template <class Ranges, class Function>
leaf<typename nested_loop<Ranges>::type, Function> each_of_nested(const Ranges& ranges,
                                                                  Function& f) {
  static_assert(nested_loop<Ranges>::type::template calls<Function>(),
                "lockstep: the function of this loop must be callable with two indices, f(i, j), "
                "or f(i, j, k) for three ranges, of type std::size_t");
  return {{ranges}, f};
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_LEAF_LOOP_HPP

// lockstep/detail/team/loops.hpp -- the members of a region share the work of a range (layer: team)
//
// The rules are range_parts.hpp's; here members come for their parts. Nothing here depends on the user's function but
// through range_body: it is compiled once. For users: member.hpp.
//
//   LOOPS-1  Each iteration is done once, by one member, or not at all where the region is stopped.
//   LOOPS-2  Static schedules share nothing. Dynamic and guided ones take tickets from a place of the loop board,
//            which every member enters and leaves, also one that finds nothing left to do.
//   LOOPS-3  A member that is alone takes the same chunks, in order, with tickets that it counts itself.
//            Dynamic loops of up to 8 members with two chunks each are dealt: member r of n takes chunks r, r + n,
//            r + 2n, ..., and then what is left of the others' hands. So the first chunk that nobody has begun is
//            the next one of some member: an iteration may wait for those before it, if all members come to the
//            loop without waiting for it. for_ordered, sections and single have one counter.
//   LOOPS-4  Before each block or chunk a member looks whether the region was stopped; in it, it does not.
//
// A static share belongs to a rank. In a loop that waits at its end, a member claims its share, runs it and arrives.
// Then, while it waits, it takes the shares of members that have not come to the loop: they are asleep or have no CPU.
// When such a member comes it finds its share done and arrives, or finds it running; then the member that runs it
// arrives for it.
//
//   LOOPS-5  Each share is run once, and its member's arrival comes after it and after the member has come. So the
//            barrier is none the weaker: no member is passed by, and the cells of a phase are read before they are
//            written again (GROUP-2), whichever member writes them.
//   LOOPS-6  A member that has run a loop by rank in this phase, without a wait after it, takes nothing: a late member
//            does the same, and its share may need its own part of that loop.
//   LOOPS-7  In a stopped region no share is taken. A share that was taken and ends with an exception stops the
//            region: its member will never have arrived.
//
// A look at the claim of a member that is in time takes the line away from it for its next loop. So a member polls the
// barrier for a moment first, as it would anyway; and where looks find nothing it stops looking, but for one loop
// in 64. In a crowd, and where waits sleep at once, it looks at once.
//
// Cost   a loop with a wait, in step: one RMW on a line of one's own (loop_claims.hpp), one look at the barrier.
#ifndef LOCKSTEP_DETAIL_TEAM_LOOPS_HPP
#define LOCKSTEP_DETAIL_TEAM_LOOPS_HPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

// --- shares that other members may run ---

/// The shares of a loop: ranks from `count` on have none. A call is false where the region was stopped, and the share is
/// not done.
struct rank_shares {
  bool (*call)(const void* data, std::size_t rank);
  const void* data;
  std::size_t count;

  bool operator()(std::size_t rank) const { return call(data, rank); }
};
/// Makes one value of the cells of a phase: see team_barrier::meet().
struct cell_combine {
  void (*call)(const void* data, cell& into);
  const void* data;

  void operator()(cell& into) const {
    if (call != nullptr) call(data, into);
  }
};

/// What a member does at the end of a loop: see team_barrier::meet().
class late_shares {
 public:
  late_shares(member_state& at, std::uint32_t loop, bool arrives, const rank_shares& shares,
              const cell_combine& combine) noexcept
      : at_(at), loop_(loop), arrives_(arrives), shares_(shares), combine_(combine) {}

  /// For team_barrier: whether this member arrives by itself.
  bool arrives() const noexcept { return arrives_; }
  /// For team_barrier, after the arrival.
  void meanwhile() {
    if (!barrier().have_all_arrived(at_)) take_when_late();
  }

 private:
  LOCKSTEP_NOINLINE void take_when_late() {
    if (at_.last_by_rank + 1 == at_.phase || !at_.looks.asks() || come_in_time()) return;
    if (take_all()) {
      at_.looks.paid();
    } else {
      at_.looks.failed();
    }
  }

  bool come_in_time() {
    const wait_policy policy = barrier().policy();
    if (policy.is_crowded() || policy.is_block() || cpus_for_waits() == 1) return false;
    if (!at_.patience.asks()) return false;
    for (unsigned polls = polls_for_late_members; polls > 0; --polls) {
      polling_pause();
      if (barrier().have_all_arrived(at_)) {
        at_.patience.paid();
        return true;
      }
    }
    at_.patience.failed();
    return false;
  }

  bool take_all() {
    bool took = false;
    for (std::size_t i = 1, other = at_.rank(); i < at_.size() && !at_.may_stop(); ++i) {
      if (++other == at_.size()) other = 0;
      if (barrier().has_arrived(at_, other) || other >= shares_.count) continue;
      if (!at_.shared().claims.try_take(other, loop_)) continue;
      took = true;
      run_for(other);
    }
    return took;
  }
  void run_for(std::size_t late) {
    struct watch {
      member_state& at;
      bool is_done;
      ~watch() {
        if (!is_done) at.request_stop();
      }
    } share = {at_, false};
    if (!shares_(late)) return;
    share.is_done = true;
    if (at_.shared().claims.finish(late, loop_)) {
      barrier().arrive_for(at_, late, combine_);
    }
  }

  team_barrier& barrier() const noexcept { return at_.shared().barrier; }

  member_state& at_;
  const std::uint32_t loop_;
  const bool arrives_;
  const rank_shares& shares_;
  const cell_combine& combine_;
};

/// Runs this member's share unless another has, and meets the others; `out` gets what combine(out) makes. Requires:
/// this member is not alone. False once the region is stopped.
LOCKSTEP_NOINLINE inline bool run_claimed(member_state& at, const rank_shares& shares, cell& out,
                                          const cell_combine& combine) {
  const std::uint32_t loop = ++at.loops;
  const share_claims::found mine = at.shared().claims.claim(at.rank(), loop);
  if (mine == share_claims::found::free && !shares(at.rank())) return false;
  late_shares late(at, loop, mine != share_claims::found::running, shares, combine);
  return at.meet(out, combine, late);
}

// --- handing out ---

namespace loops {

/// Where the tickets of one construct come from. A member that is alone counts them itself.
class ticket_source {
 public:
  /// Enters the construct, with all members.
  explicit ticket_source(member_state& at) : at_(at) {
    if (at.is_stopped()) return;
    if (!at.is_alone()) {
      board_ = &at.shared().loops;
      construct_ = at.next_construct();
      if (!board_->enter(at, construct_)) return;
    }
    has_entered_ = true;
  }
  ticket_source(const ticket_source&) = delete;
  ticket_source& operator=(const ticket_source&) = delete;

  /// False where the region is stopped.
  bool has_entered() const noexcept { return has_entered_; }
  /// Leaves it. False once the region is stopped.
  bool leave(bool has_hands = false) {
    if (!has_entered_) return false;
    if (board_ != nullptr) board_->leave(at_, construct_, has_hands);
    return !at_.is_stopped();
  }

  std::size_t take() noexcept {
    return board_ != nullptr ? board_->take_ticket(construct_) : next_++;
  }
  /// Null for a member that is alone.
  loop_board* board() const noexcept { return board_; }
  std::uint32_t construct() const noexcept { return construct_; }

 private:
  member_state& at_;
  loop_board* board_ = nullptr;
  std::uint32_t construct_ = 0;
  std::size_t next_ = 0;
  bool has_entered_ = false;
};

// At: member_state or loop_share.

/// The chunks number rank, rank + size, ... are the share of a rank.
template <class At>
void deal_chunks(const At& at, std::size_t rank, std::size_t length, std::size_t chunk,
                 const range_body& body) {
  const std::size_t chunks = chunks_of(0, length, chunk);
  for (std::size_t c = rank; c < chunks && !at.may_stop(); c += at.size()) {
    const index_range mine = known_chunk(0, length, chunk, c);
    body(mine.first, mine.last);
    if (chunks - c <= at.size()) return;  // before c + size can wrap
  }
}

/// Calls body for what each ticket stands for, until one stands for nothing.
template <class At, class Tickets>
void take_chunks(const At& at, Tickets& tickets, std::size_t length, std::size_t chunk,
                 const range_body& body) {
  const std::size_t chunks = chunks_of(0, length, chunk);
  while (!at.may_stop()) {
    const std::size_t ticket = tickets.take();
    if (ticket >= chunks) return;
    const index_range mine = known_chunk(0, length, chunk, ticket);
    body(mine.first, mine.last);
  }
}
template <class At, class Tickets>
void take_shrinking_chunks(const At& at, Tickets& tickets, std::size_t length, std::size_t least,
                           const range_body& body) {
  guided_cursor cursor(0, length, least, at.size());
  while (!at.may_stop()) {
    const index_range mine = cursor.advance_to(tickets.take());
    if (mine.first == mine.last) return;
    body(mine.first, mine.last);
  }
}

/// This member's or share's parts of a range, in a construct that was entered where the schedule takes tickets.
template <class At, class Tickets>
void hand_out_in(const At& at, Tickets& tickets, std::size_t length, schedule how,
                 const range_body& body) {
  if (how.kind() == schedule_kind::static_blocks) {
    const index_range mine = at.block_of(index_range{0, length});
    if (mine.first < mine.last) body(mine.first, mine.last);
  } else if (how.kind() == schedule_kind::static_chunks) {
    deal_chunks(at, at.rank(), length, how.chunk(), body);
  } else if (how.kind() == schedule_kind::dynamic) {
    take_chunks(at, tickets, length, how.chunk(), body);
  } else {
    take_shrinking_chunks(at, tickets, length, how.chunk(), body);
  }
}

inline bool takes_tickets(schedule how) noexcept {
  return how.kind() == schedule_kind::dynamic || how.kind() == schedule_kind::guided;
}
inline bool is_dealt(const member_state& at, std::size_t length, schedule how) noexcept {
  return how.kind() == schedule_kind::dynamic && !at.is_alone() &&
         at.size() <= loop_board::most_hands && chunks_of(0, length, how.chunk()) / 2 >= at.size();
}

/// Dealt dynamic chunks (LOOPS-3), of this member's hand first. Requires: is_dealt().
inline void take_from_hands(const member_state& at, ticket_source& tickets, std::size_t length,
                            std::size_t chunk, const range_body& body) {
  const std::size_t size = at.size(), chunks = chunks_of(0, length, chunk);
  for (std::size_t i = 0, owner = at.rank(); i < size;
       ++i, owner = owner + 1 < size ? owner + 1 : 0) {
    const std::size_t hand = (chunks - owner - 1) / size + 1;
    while (!at.may_stop() && tickets.board()->taken_from_hand(tickets.construct(), owner) < hand) {
      const std::size_t taken = tickets.board()->take_from_hand(tickets.construct(), owner);
      if (taken >= hand) break;
      const index_range mine = known_chunk(0, length, chunk, taken * size + owner);
      body(mine.first, mine.last);
    }
  }
}

/// As hand_out(), with one counter for all members. Requires: takes_tickets(how).
LOCKSTEP_NOINLINE inline bool hand_out_by_ticket(member_state& at, std::size_t length, schedule how,
                                                 const range_body& body) {
  ticket_source tickets(at);
  if (tickets.has_entered()) hand_out_in(at, tickets, length, how, body);
  return tickets.leave();
}
LOCKSTEP_NOINLINE inline bool hand_out_by_hand(member_state& at, std::size_t length, schedule how,
                                               const range_body& body) {
  ticket_source tickets(at);
  if (tickets.has_entered()) take_from_hands(at, tickets, length, how.chunk(), body);
  return tickets.leave(true);
}

/// The share of a rank by a static schedule.
inline void run_share(const member_state& at, std::size_t rank, std::size_t length, schedule how,
                      const range_body& body) {
  if (how.kind() == schedule_kind::static_blocks) {
    const index_range part = static_block(0, length, rank, at.size());
    if (part.first < part.last) body(part.first, part.last);
  } else {
    deal_chunks(at, rank, length, how.chunk(), body);
  }
}

/// Calls body(first, last) for this member's parts of [0, length); waits for nobody, but for a place of the board.
/// False, and nothing is called any more, once the region is stopped.
LOCKSTEP_NOINLINE inline bool hand_out(member_state& at, std::size_t length, schedule how,
                                       const range_body& body) {
  if (is_dealt(at, length, how)) return hand_out_by_hand(at, length, how, body);
  if (takes_tickets(how)) return hand_out_by_ticket(at, length, how, body);
  if (at.is_stopped()) return false;
  at.note_loop_by_rank();
  run_share(at, at.rank(), length, how, body);
  return !at.is_stopped();
}

/// As hand_out(), then waits for all; meanwhile calls body for the shares of members that have not come.
LOCKSTEP_NOINLINE inline bool hand_out_and_wait(member_state& at, std::size_t length, schedule how,
                                                const range_body& body) {
  if (at.is_alone() || takes_tickets(how)) return hand_out(at, length, how, body) && at.sync();
  if (at.is_stopped()) return false;
  struct static_loop {
    const member_state& at;
    std::size_t length;
    schedule how;
    const range_body& body;

    static bool run(const void* data, std::size_t rank) {
      const static_loop& of = *static_cast<const static_loop*>(data);
      run_share(of.at, rank, of.length, of.how, of.body);
      return true;
    }
  } const loop = {at, length, how, body};
  cell nothing;
  return run_claimed(at, {static_loop::run, &loop, length}, nothing, {nullptr, nullptr});
}

/// Calls f() on the first member that comes, and on no other.
template <class Function>
bool first_come(member_state& at, Function& f) {
  const auto call = [&f](std::size_t, std::size_t) { f(); };
  return hand_out_by_ticket(at, 1, dynamic_schedule(), body_of(call));
}

/// Calls the k-th of some functions.
inline void call_one(std::size_t) noexcept {}
template <class Function, class... Others>
void call_one(std::size_t k, Function& f, Others&... others) {
  static_assert(is_callable<Function&>::value,
                "lockstep: the function of a section cannot be called as f()");
  if (k == 0) {
    f();
  } else {
    call_one(k - 1, others...);
  }
}

}  // namespace loops
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_LOOPS_HPP

// lockstep/detail/team/member_loops.hpp -- the loops and sections of a member (layer: team)
//
// Part of member's interface: see member.hpp for which to use, and for MEMBER-1 to MEMBER-3. The bounds of a loop are
// of any integer types, as in a `for` loop, and f is called with their common type (index_span.hpp). f itself is called
// by reference.
//
// Each construct has a try_ form, which returns false in a stopped region, where the plain form throws.
//   LOOPS-8  In a region that was stopped before the construct begins, f is not called at all. One that is stopped
//       while the construct runs is noticed between chunks. A block that was begun is run to its end: ask
//       stop_requested() in a long one, or take chunks.
#ifndef LOCKSTEP_DETAIL_TEAM_MEMBER_LOOPS_HPP
#define LOCKSTEP_DETAIL_TEAM_MEMBER_LOOPS_HPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {
class weighted_schedule;

namespace detail {

/// In weighted_schedule.hpp: a loop with blocks by what was measured. False once the region is stopped.
inline bool run_weighted(member_state& at, std::size_t length, const range_body& body,
                         weighted_schedule& how);

/// The turns of an ordered loop's iterations, for one member.
class ordered_iterations {
 public:
  ordered_iterations(member_state& at, const loops::ticket_source& of, bool throws) noexcept
      : at_(at), board_(of.board()), construct_(of.construct()), throws_(throws), turn_(*this) {}
  ordered_iterations(const ordered_iterations&) = delete;
  ordered_iterations& operator=(const ordered_iterations&) = delete;

  /// For the function of the iteration at hand.
  ordered_turn& turn() noexcept { return turn_; }

  void begin(std::size_t position) noexcept {
    position_ = position;
    has_passed_ = false;
  }
  /// An iteration that has not taken its turn passes it all the same.
  void end() {
    if (!has_passed_ && wait()) pass();
  }

  /// False once the region is stopped.
  bool take() {
    if (wait()) return true;
    if (throws_) leave_stopped_region();
    return false;
  }
  void pass() {
    has_passed_ = true;
    if (board_ != nullptr) board_->pass_turn(construct_);
  }

 private:
  bool wait() {
    return board_ == nullptr ? !at_.is_stopped()
                             : board_->wait_for_turn(at_, construct_, position_);
  }

  member_state& at_;
  loop_board* const board_;
  const std::uint32_t construct_;
  const bool throws_;
  bool has_passed_ = false;
  std::size_t position_ = 0;
  ordered_turn turn_;
};
inline bool take_turn(ordered_iterations& of) { return of.take(); }
inline void pass_turn(ordered_iterations& of) { of.pass(); }

class member_loops {
 public:
  /// Calls f(first, last) for this member's parts of the range, with the default schedule its block, none if
  /// that is empty. Waits for nobody (with tickets: only for a member that is 8 constructs behind): where the
  /// next step reads what others wrote, sync_threads() first.
  template <class First, class Last, class Function>
  LOCKSTEP_NODISCARD_UNLESS_THROWN if_bounds<First, Last> for_range(
      First first, Last last, Function&& f, schedule how = static_schedule()) {
    return or_leave(try_for_range(first, last, f, how));
  }
  template <class First, class Last, class Function>
  LOCKSTEP_NODISCARD if_bounds<First, Last> try_for_range(First first, Last last, Function&& f,
                                                          schedule how = static_schedule()) {
    const auto span = span_of(first, last);
    const auto blocks = blocks_of(span, f);
    return loops::hand_out(at_, span.length, how, body_of(blocks));
  }

  /// Calls f(i) once for every i of [first, last), on some member, then waits for all. With static schedules that is
  /// the member of for_range, but the share of one that has not come yet may be run by another that waits
  /// (loops.hpp): iterations that need what their member did by itself since the last wait belong in
  /// for_range, or after a loop without a wait, which keeps the shares of the next loop where they are.
  template <class First, class Last, class Function>
  LOCKSTEP_NODISCARD_UNLESS_THROWN if_bounds<First, Last> for_each(
      First first, Last last, Function&& f, schedule how = static_schedule(),
      call_site where = call_site::here()) {
    return or_leave(try_for_each(first, last, f, how, where));
  }
  template <class First, class Last, class Function>
  LOCKSTEP_NODISCARD if_bounds<First, Last> try_for_each(First first, Last last, Function&& f,
                                                         schedule how = static_schedule(),
                                                         call_site where = call_site::here()) {
    const auto span = span_of(first, last);
    at_.come_to("for_each", where, span.length);
    const auto each = each_of(span, f);
    return loops::hand_out_and_wait(at_, span.length, how, body_of(each));
  }
  template <class First, class Last, class Function>
  LOCKSTEP_NODISCARD_UNLESS_THROWN if_bounds<First, Last> for_each(
      nowait_t, First first, Last last, Function&& f, schedule how = static_schedule()) {
    return or_leave(try_for_each(nowait, first, last, f, how));
  }
  template <class First, class Last, class Function>
  LOCKSTEP_NODISCARD if_bounds<First, Last> try_for_each(nowait_t, First first, Last last,
                                                         Function&& f,
                                                         schedule how = static_schedule()) {
    const auto span = span_of(first, last);
    const auto each = each_of(span, f);
    return loops::hand_out(at_, span.length, how, body_of(each));
  }

  /// f(i, j) over two nested ranges, or f(i, j, k) over three, as one: OpenMP's collapse. The schedule counts
  /// in the last one first. Fails if there are more iterations than std::size_t has numbers.
  template <class Ranges, class Function>
  LOCKSTEP_NODISCARD_UNLESS_THROWN if_nested<Ranges> for_each(const Ranges& ranges, Function&& f,
                                                              schedule how = static_schedule(),
                                                              call_site where = call_site::here()) {
    return or_leave(try_for_each(ranges, f, how, where));
  }
  template <class Ranges, class Function>
  LOCKSTEP_NODISCARD if_nested<Ranges> try_for_each(const Ranges& ranges, Function&& f,
                                                    schedule how = static_schedule(),
                                                    call_site where = call_site::here()) {
    const auto each = each_of_nested(ranges, f);
    at_.come_to("for_each", where, iterations_of(ranges));
    return loops::hand_out_and_wait(at_, iterations_of(ranges), how, body_of(each));
  }
  template <class Ranges, class Function>
  LOCKSTEP_NODISCARD_UNLESS_THROWN if_nested<Ranges> for_each(nowait_t, const Ranges& ranges,
                                                              Function&& f,
                                                              schedule how = static_schedule()) {
    return or_leave(try_for_each(nowait, ranges, f, how));
  }
  template <class Ranges, class Function>
  LOCKSTEP_NODISCARD if_nested<Ranges> try_for_each(nowait_t, const Ranges& ranges, Function&& f,
                                                    schedule how = static_schedule()) {
    const auto each = each_of_nested(ranges, f);
    return loops::hand_out(at_, iterations_of(ranges), how, body_of(each));
  }

  /// Blocks by what was measured in the loops before that used the same schedule (weighted_schedule.hpp).
  /// Its members are those of the region, else the blocks are equal. Always waits.
  template <class First, class Last, class Function>
  LOCKSTEP_NODISCARD_UNLESS_THROWN if_bounds<First, Last> for_each(
      First first, Last last, Function&& f, weighted_schedule& how,
      call_site where = call_site::here()) {
    return or_leave(try_for_each(first, last, f, how, where));
  }
  template <class First, class Last, class Function>
  LOCKSTEP_NODISCARD if_bounds<First, Last> try_for_each(First first, Last last, Function&& f,
                                                         weighted_schedule& how,
                                                         call_site where = call_site::here()) {
    const auto span = span_of(first, last);
    at_.come_to("for_each", where, span.length);
    const auto each = each_of(span, f);
    return run_weighted(at_, span.length, body_of(each), how);
  }

  /// As for_each, with f(i, turn): turn([&] { ... }) runs that part of the iteration after the same part of all
  /// iterations before. An iteration need not call it. Choose a schedule with small chunks: with
  /// blocks the last member waits for all others.
  template <class First, class Last, class Function>
  LOCKSTEP_NODISCARD_UNLESS_THROWN if_bounds<First, Last> for_ordered(
      First first, Last last, Function&& f, schedule how = static_schedule(1),
      call_site where = call_site::here()) {
    return or_leave(run_ordered(span_of(first, last), how, f, where, true));
  }
  template <class First, class Last, class Function>
  LOCKSTEP_NODISCARD if_bounds<First, Last> try_for_ordered(First first, Last last, Function&& f,
                                                            schedule how = static_schedule(1),
                                                            call_site where = call_site::here()) {
    return run_ordered(span_of(first, last), how, f, where, false);
  }

  /// Calls each of the functions once, on whoever comes, then waits for all.
  template <class... Functions>
  LOCKSTEP_NODISCARD_UNLESS_THROWN bool sections(Functions&&... functions) {
    return or_leave(try_sections(functions...));
  }
  template <class... Functions>
  LOCKSTEP_NODISCARD bool try_sections(Functions&&... functions) {
    at_.come_to("sections", {nullptr, 0}, sizeof...(Functions));
    return try_sections(nowait, functions...) && at_.sync();
  }
  template <class... Functions>
  LOCKSTEP_NODISCARD_UNLESS_THROWN bool sections(nowait_t, Functions&&... functions) {
    return or_leave(try_sections(nowait, functions...));
  }
  template <class... Functions>
  LOCKSTEP_NODISCARD bool try_sections(nowait_t, Functions&&... functions) {
    const auto each = [&](std::size_t first, std::size_t last) {
      for (std::size_t k = first; k < last; ++k) loops::call_one(k, functions...);
    };
    return loops::hand_out_by_ticket(at_, sizeof...(Functions), dynamic_schedule(), body_of(each));
  }

 protected:
  explicit member_loops(member_state& at) noexcept : at_(at) {}
  member_loops(const member_loops&) = default;
  member_loops& operator=(const member_loops&) = delete;
  ~member_loops() = default;

  /// What a plain form returns.
  static bool or_leave(bool goes_on) {
    if (!goes_on) leave_stopped_region();
    return goes_on;
  }

  member_state& at_;

 private:
  LOCKSTEP_BEGIN_SIGN_CONVERSIONS
  template <class Index, class Function>
  bool run_ordered(const index_span<Index>& span, schedule how, Function& f, call_site where,
                   bool throws) {
    static_assert(is_callable<Function&, Index&, ordered_turn&>::value,
                  "lockstep: the function of for_ordered must be callable as f(i, turn), with an "
                  "index and a lockstep::ordered_turn&");
    at_.come_to("for_ordered", where, span.length);
    loops::ticket_source tickets(at_);
    ordered_iterations iterations(at_, tickets, throws);
    const auto part = [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end && !at_.may_stop(); ++i) {
        iterations.begin(i);
        Index index = index_at(span.first, i);
        f(index, iterations.turn());
        iterations.end();
      }
    };
    if (tickets.has_entered()) {
      loops::hand_out_in(at_, tickets, span.length, how, body_of(part));
    }
    return tickets.leave() && at_.sync();
  }
  LOCKSTEP_END_SIGN_CONVERSIONS
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_MEMBER_LOOPS_HPP

// lockstep/detail/team/reduction_operations.hpp -- what is compiled for the types of a reduction (layer: team)
//
// One function that folds iterations, for each closure; one that combines two values, for each type and operation. The
// rest of a reduction knows them by a table of pointers.
//
// What is asked of the types:
//   init, of type T   movable, by construction and by assignment. Copyable where every member gets the result;
//                     the forms that are a region by themselves (parallel_reduce) do with moves.
//   f                 returns what converts to T; a T, or a reference to one, is passed on as it is
//   op                takes two T, each by value or by const&, and returns what converts to T
// Floating point is not cut off to a whole number: parallel_reduce(0, n, 0, f, op), where 0.0 was meant,
// does not compile. A narrower floating point type for init is a wish (0.0f: sums are rounded to float), and so
// is a narrower whole number.
#ifndef LOCKSTEP_DETAIL_TEAM_REDUCTION_OPERATIONS_HPP
#define LOCKSTEP_DETAIL_TEAM_REDUCTION_OPERATIONS_HPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace reductions {

/// What op makes of two T; void if it does not take them.
template <class T, class Op>
struct result_of_op {
  template <class F>
  static auto test(int) -> decltype(std::declval<F&>()(std::declval<T>(), std::declval<T>()));
  template <class F>
  static void test(...);
  using type = decltype(test<Op>(0));
};

template <class From, class To>
constexpr bool cuts_off() noexcept {
  return std::is_floating_point<typename std::decay<From>::type>::value &&
         std::is_integral<To>::value;
}

/// Says what a reduction asks of its types, before the compiler says it in its way.
template <class T, class Op>
inline void check_operation() noexcept {
  using result = typename result_of_op<T, Op>::type;
  static_assert(!std::is_const<T>::value && !std::is_reference<T>::value,
                "lockstep: the type of a result must not be const, nor a reference; leave the "
                "template argument away");
  static_assert(std::is_move_constructible<T>::value && std::is_move_assignable<T>::value,
                "lockstep: the type of init must be movable, by construction and by assignment");
  static_assert(!std::is_void<result>::value,
                "lockstep: op must take two values of init's type, each by value or by const& (not "
                "by &), and return their combination");
  static_assert(!cuts_off<result, T>(),
                "lockstep: op returns floating point, but init is a whole number, and every sum "
                "would be cut off; write 0.0 for 0");
  static_assert(std::is_void<result>::value || std::is_convertible<result, T>::value,
                "lockstep: what op returns must convert to the type of init");
}
/// Value: what f returns.
template <class T, class Value, class Op>
inline void check_types() noexcept {
  static_assert(!cuts_off<Value, T>(),
                "lockstep: f returns floating point, but init is a whole number, and every value "
                "would be cut off; write 0.0 for 0, or convert in f");
  static_assert(std::is_convertible<Value, T>::value,
                "lockstep: what f returns must convert to the type of init");
  check_operation<T, Op>();
}
/// Where the result goes to every member.
template <class T>
inline void check_copyable() noexcept {
  static_assert(std::is_copy_constructible<T>::value,
                "lockstep: every member gets a copy of the result, so the type must be copyable; "
                "one that can only be moved is for team::parallel_reduce");
}

// --- the table ---

/// What is to be known of values that do not fit a cell.
struct value_type {
  std::size_t size, alignment;
  void (*destroy)(void* value);
  void (*move)(void* to, void* from);        ///< constructs `to`; `from` is still to be destroyed
  void (*copy)(void* to, const void* from);  ///< constructs `to`
  /// As those of cell_access. Put: moves from `value`.
  void* (*prepare)(group& shared, owner<kept_values>& keeps, std::size_t count);
  void (*put)(void* room, cell& into, void* value);
};
template <class T>
struct value_type_of {
  using access = cell_access<T>;

  static void destroy(void* value) { static_cast<T*>(value)->~T(); }
  static void move(void* to, void* from) { ::new (to) T(std::move(*static_cast<T*>(from))); }
  static void copy_value(void* to, const void* from, std::true_type /*copyable*/) {
    ::new (to) T(*static_cast<const T*>(from));
  }
  static void copy_value(void*, const void*, std::false_type) noexcept {}
  static void copy(void* to, const void* from) {
    copy_value(to, from, std::is_copy_constructible<T>());
  }
  static void* prepare(group& shared, owner<kept_values>& keeps, std::size_t count) {
    return &access::prepare(shared, keeps, count);
  }
  static void put(void* room, cell& into, void* value) {
    access::put(*static_cast<typename std::remove_reference<typename access::room>::type*>(room),
                into, std::move(*static_cast<T*>(value)));
  }

  static const value_type* get(std::true_type /*fits a cell*/) noexcept { return nullptr; }
  static const value_type* get(std::false_type) noexcept {
    static const value_type all = {sizeof(T), alignof(T), destroy, move, copy, prepare, put};
    return &all;
  }
  static const value_type* get() noexcept {
    return get(std::integral_constant<bool, fits_cell<T>()>());
  }
};

/// What the functions of a table are called with: the object that it belongs to.
struct operands {
  void* operation;
};
/// What is compiled for a reduction's types.
struct operations {
  /// Makes the value of the iterations [first, last): leaves of leaf_size, combined as `combines` says
  /// (reduction_tree::combines_of); only one leaf where values do not fit a cell. With a leaf_size of 0: goes on from
  /// the value that is there.
  void (*fold)(const operands& of, void* value, std::size_t first, std::size_t last,
               std::size_t leaf_size, std::uint64_t combines);
  void (*combine)(const operands& of, void* left, void* right);  ///< left gets the value of both
  const value_type* type;                                        ///< null: values fit a cell
  bool in_strips;  ///< long leaves by several calls of fold
};

// --- what is in it ---

// Values: start(i, end) makes the value of iteration i, and moves i on; go_on(sum, i, end, op) adds those from i on.

/// Of values that fit a cell: they stay in registers, but for those of nodes whose right halves are still to come.
template <class T, class Values, class Op>
void fold_values(const Values& own, Op& op, void* value, std::size_t first, std::size_t last,
                 std::size_t leaf_size, std::uint64_t combines, std::true_type /*fits a cell*/) {
  constexpr std::size_t most_pending = 4;  // levels below a node of 16 leaves
  alignas(T) unsigned char pending[most_pending * sizeof(T)];
  std::size_t size = 0;
  const bool goes_on = leaf_size == 0;
  for (std::size_t i = first;; ++size) {
    const std::size_t end = !goes_on && last - i > leaf_size ? i + leaf_size : last;
    T sum(goes_on ? T(std::move(*static_cast<T*>(value))) : own.start(i, end));
    own.go_on(sum, i, end, op);
    for (; (combines & 15u) != 0; --combines) {
      --size;
      sum = op(std::move(*reinterpret_cast<T*>(pending + size * sizeof(T))), std::move(sum));
    }
    if (end == last) {
      ::new (value) T(std::move(sum));
      return;
    }
    ::new (static_cast<void*>(pending + size * sizeof(T))) T(std::move(sum));
    combines >>= 4;
    i = end;
  }
}
/// Of others: one leaf at a time, where its value is to be.
template <class T, class Values, class Op>
void fold_values(const Values& own, Op& op, void* value, std::size_t first, std::size_t last,
                 std::size_t leaf_size, std::uint64_t, std::false_type) {
  struct started {
    T* value;
    ~started() {
      if (value != nullptr) value->~T();
    }
  } sum = {nullptr};
  T* const out = static_cast<T*>(value);
  std::size_t i = first;
  if (leaf_size != 0) sum.value = ::new (value) T(own.start(i, last));
  own.go_on(*out, i, last, op);
  sum.value = nullptr;
}
template <class T, class Values, class Op>
void fold_range(const operands& of, void* value, std::size_t first, std::size_t last,
                std::size_t leaf_size, std::uint64_t combines) {
  const Values own(static_cast<const Values&>(of));
  fold_values<T>(own, *static_cast<Op*>(of.operation), value, first, last, leaf_size, combines,
                 std::integral_constant<bool, fits_cell<T>()>());
}
template <class T, class Op>
void combine_values(const operands& of, void* left, void* right) {
  T& sum = *static_cast<T*>(left);
  sum = (*static_cast<Op*>(of.operation))(std::move(sum), std::move(*static_cast<T*>(right)));
}

// Whether an int may become the unsigned argument of a function is its author's business.
LOCKSTEP_BEGIN_SIGN_CONVERSIONS

/// Whether a fold has a copy of the Function: see leaf_loop.hpp.
template <class Index, class Function, bool MayBeCopied = may_be_copied<Function>::value>
struct has_copy : std::false_type {};
template <class Index, class Function>
struct has_copy<Index, Function, true>
    : std::integral_constant<bool, sizeof(Function) <= 64 &&
                                       is_callable<const Function&, Index>::value> {};

/// f(i) by its offset; a closure that may be copied and is small is.
template <class T, class Index, class Function>
class each_value : public operands {
  static_assert(is_callable<Function&, Index>::value,
                "lockstep: the function of parallel_reduce, or of reduce_each, must be callable "
                "with one index, f(i): of the common type of the bounds, or the iterator");

 public:
  each_value(void* op, const Index& first, Function& f) noexcept
      : operands{op}, first_(first), f_(f) {}
  using value = decltype(std::declval<Function&>()(std::declval<Index>()));

  T start(std::size_t& i, std::size_t) const { return static_cast<T>(f_(index_at(first_, i++))); }
  template <class Op>
  void go_on(T& sum, std::size_t i, std::size_t end, Op& op) const {
    for (; i < end; ++i) sum = op(std::move(sum), as_given(f_(index_at(first_, i))));
  }

 private:
  using given = reduction_tree::as_value<T, value>;
  static given as_given(value&& v) { return static_cast<given>(v); }

  const Index first_;
  typename std::conditional<has_copy<Index, Function>::value,
                            const typename std::remove_const<Function>::type, Function&>::type f_;
};
/// f(first, last) of a leaf.
template <class T, class Index, class Function>
class block_value : public operands {
  static_assert(is_callable<Function&, Index, Index>::value,
                "lockstep: the function of reduce_range must be callable with two indices, "
                "f(first, last): of the common type of the bounds, or iterators");

 public:
  block_value(void* op, const Index& first, Function& f) noexcept
      : operands{op}, first_(first), f_(f) {}
  using value = decltype(std::declval<Function&>()(std::declval<Index>(), std::declval<Index>()));

  T start(std::size_t& i, std::size_t end) const {
    const std::size_t first = i;
    i = end;
    return f_(index_at(first_, first), index_at(first_, end));
  }
  template <class Op>
  void go_on(T&, std::size_t, std::size_t, Op&) const noexcept {}

 private:
  const Index first_;
  Function& f_;
};

LOCKSTEP_END_SIGN_CONVERSIONS

template <class T, class Index, class Function, class Op>
each_value<T, Index, Function> values_of(const index_span<Index>& span, Function& f, Op& op) {
  return {&op, span.first, f};
}
template <class T, class Index, class Function, class Op>
block_value<T, Index, Function> block_values_of(const index_span<Index>& span, Function& f,
                                                Op& op) {
  return {&op, span.first, f};
}

/// Values: one of these two.
template <class T, class Op, class Values>
const operations& operations_for(const Values&, bool in_strips) noexcept {
  static const operations all[2] = {
      {fold_range<T, Values, Op>, combine_values<T, Op>, value_type_of<T>::get(), false},
      {fold_range<T, Values, Op>, combine_values<T, Op>, value_type_of<T>::get(), true}};
  return all[in_strips ? 1 : 0];
}

}  // namespace reductions
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_REDUCTION_OPERATIONS_HPP

// lockstep/detail/team/value_stack.hpp -- evaluates a reduction's tree without its types (layer: team)
//
// The walk along the tree of range_parts.hpp is compiled once for the program. What depends on the user's types is
// called through a table: `fold` evaluates a node of up to 16 leaves, or 1024 iterations, by one call; `combine` makes
// one value of two.
//
//   STACK-1  Values are destroyed once, also where the user's code throws.
//   STACK-2  Values of up to 16 trivially copyable bytes lie in the stack itself; others in memory of their own.
#ifndef LOCKSTEP_DETAIL_TEAM_VALUE_STACK_HPP
#define LOCKSTEP_DETAIL_TEAM_VALUE_STACK_HPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace reductions {

/// Room for values on lines of their own. Destroys those that are in it.
class value_room {
 public:
  value_room() noexcept = default;
  ~value_room() {
    if (memory_ != nullptr) clear();
  }
  value_room(const value_room&) = delete;
  value_room& operator=(const value_room&) = delete;

  /// Once. Before each value: the byte that says whether it is there.
  LOCKSTEP_COLD void make(const value_type& type, std::size_t count) {
    const std::size_t line = type.alignment > 64 ? type.alignment : 64;
    stride_ = (type.size + line - 1) / line * line + line;
    memory_ = ::operator new(stride_ * count + line);
    const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(memory_);
    first_ = static_cast<unsigned char*>(memory_) + (line - begin % line);
    gap_ = line;
    type_ = &type;
    for (; count_ < count; ++count_) note(count_, false);
  }
  void* operator[](std::size_t k) const noexcept { return first_ + k * stride_ + gap_; }
  std::size_t stride() const noexcept { return stride_; }
  bool is_set(std::size_t k) const noexcept { return first_[k * stride_] != 0; }
  /// A value has been made there, or destroyed.
  void note(std::size_t k, bool is_set) noexcept { first_[k * stride_] = is_set ? 1 : 0; }

 private:
  LOCKSTEP_COLD void clear() {
    for (std::size_t k = 0; k < count_; ++k) {
      if (is_set(k)) type_->destroy((*this)[k]);
    }
    ::operator delete(memory_);
  }

  const value_type* type_ = nullptr;
  void* memory_ = nullptr;
  unsigned char* first_ = nullptr;
  std::size_t stride_ = 0, gap_ = 0, count_ = 0;
};

/// The values of nodes whose right halves are still to come.
class value_stack {
 public:
  value_stack(const operations& what, const operands& of) : what_(what), of_(of) {
    if (what.type != nullptr) make_large();
  }
  value_stack(const value_stack&) = delete;
  value_stack& operator=(const value_stack&) = delete;

  void* top() noexcept { return at(size_ - 1); }
  /// Where the next value is to be made; then push().
  void* next() noexcept { return at(size_); }
  void push() noexcept {
    if (what_.type != nullptr) large_.note(size_, true);
    ++size_;
  }
  void pop() {
    --size_;
    if (what_.type != nullptr) destroy_large();
  }
  void combine() {
    what_.combine(of_, at(size_ - 2), at(size_ - 1));
    pop();
  }

  /// Moves the top to where no value is.
  void take_top(void* to) {
    if (what_.type == nullptr) {
      std::memcpy(to, at(--size_), cell::size);
    } else {
      take_large(to);
    }
  }
  /// Pushes what a cell has: a copy, or that of which this is the only reader.
  void push_copy(const cell& from) {
    if (what_.type == nullptr) {
      std::memcpy(at(size_++), from.bytes, cell::size);
    } else {
      push_large_copy(from);
    }
  }
  void push_taken(const cell& from) {
    if (what_.type == nullptr) return push_copy(from);
    push_moved(address_in(from));
  }
  /// Requires: values do not fit a cell.
  LOCKSTEP_COLD void push_moved(void* from) {
    what_.type->move(next(), from);
    push();
  }
  /// Moves the top into a cell, where `room` is that of prepare().
  void put_top(void* room, cell& into) {
    if (what_.type == nullptr) {
      std::memcpy(into.bytes, at(--size_), cell::size);
    } else {
      put_large(room, into);
    }
  }

  static void* address_in(const cell& from) noexcept {
    void* address;
    std::memcpy(&address, from.bytes, sizeof address);
    return address;
  }

 protected:
  const operations& what_;
  const operands& of_;

 private:
  /// That of the tree, and one.
  static constexpr std::size_t depth = 12;

  void* at(std::size_t k) noexcept { return first_ + k * stride_; }

  LOCKSTEP_COLD void make_large() {
    large_.make(*what_.type, depth);
    first_ = static_cast<unsigned char*>(large_[0]);
    stride_ = large_.stride();
  }
  LOCKSTEP_COLD void destroy_large() {
    large_.note(size_, false);
    what_.type->destroy(next());
  }
  LOCKSTEP_COLD void take_large(void* to) {
    what_.type->move(to, top());
    pop();
  }
  LOCKSTEP_COLD void put_large(void* room, cell& into) {
    what_.type->put(room, into, top());
    pop();
  }
  LOCKSTEP_COLD void push_large_copy(const cell& from) {
    what_.type->copy(next(), address_in(from));
    push();
  }

  std::size_t size_ = 0;
  alignas(cell::size) unsigned char small_[depth * cell::size];
  unsigned char* first_ = small_;
  std::size_t stride_ = cell::size;
  value_room large_;
};

/// Evaluates nodes, for a member or a share of a loop.
class tree_walk final : public value_stack {
 public:
  /// At: member_state or loop_share.
  template <class At>
  tree_walk(const At& at, const operations& what, const operands& of, std::size_t length)
      : tree_walk(at.stop(), at.region(), what, of, length) {}

  /// Pushes the value of the node [a, b). False once the region is stopped.
  LOCKSTEP_NOINLINE bool push_node(std::size_t a, std::size_t b) {
    if (b - a <= at_once_) return push_leaves(a, b);
    const std::size_t middle = reduction_tree::middle_of(a, b);
    if (!push_node(a, middle) || !push_node(middle, b)) return false;
    combine();
    return true;
  }
  /// Adds the iterations [first, last) to the top, or pushes their value. False once the region is stopped.
  LOCKSTEP_NOINLINE bool fold(std::size_t first, std::size_t last, bool goes_on) {
    if (!what_.in_strips) {
      if (may_stop()) return false;
      what_.fold(of_, next(), first, last, last - first, 0);
      push();
      if (goes_on) combine();
      return true;
    }
    for (std::size_t i = first; i < last; goes_on = true) {
      if (may_stop()) return false;
      const std::size_t end =
          last - i > reduction_tree::strip_length ? i + reduction_tree::strip_length : last;
      if (goes_on) {
        what_.fold(of_, top(), i, end, 0, 0);
      } else {
        what_.fold(of_, next(), i, end, end - i, 0);
        push();
      }
      i = end;
    }
    return true;
  }

 private:
  LOCKSTEP_NOINLINE tree_walk(const stop_source& stop, std::uint32_t region, const operations& what,
                              const operands& of, std::size_t length)
      : value_stack(what, of),
        stop_(stop),
        region_(region),
        length_(length),
        leaf_size_(reduction_tree::leaf_size(length)),
        at_once_(what.type != nullptr ? 1
                 : leaf_size_ <= 64   ? reduction_tree::most_leaves_at_once
                                      : (reduction_tree::strip_length - 1) / leaf_size_ + 1) {}

  bool push_leaves(std::size_t a, std::size_t b) {
    const std::size_t first = a * leaf_size_;
    const std::size_t last = length_ - first <= (b - a) * leaf_size_ ? length_ : b * leaf_size_;
    if (b - a == 1) return fold(first, last, false);
    if (may_stop()) return false;
    what_.fold(of_, next(), first, last, leaf_size_, reduction_tree::known_combines(b - a));
    push();
    return true;
  }

  bool may_stop() const noexcept { return stop_.requested_relaxed(region_); }

  const stop_source& stop_;
  const std::uint32_t region_;
  const std::size_t length_, leaf_size_, at_once_;
};

}  // namespace reductions
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_VALUE_STACK_HPP

// lockstep/detail/team/reductions.hpp -- values of all members, or of a whole range, become one (layer: team)
//
// Values of one per member are combined in the order of ranks; values over a range along the fixed tree of
// range_parts.hpp, which gives the same bits for every number of members, schedule and run. Either takes
// one phase of the region's barrier: members put what they have into their cells, arrive, and each combines
// all cells (above 8 members: the last to arrive does, for all). For users: member.hpp.
//
//   REDUCE-1  `op` may run on every member at once, with the same arguments: it must not change shared data.
//   REDUCE-2  All members of the region call the same function with the same range, schedule, and op.
//   REDUCE-3  init is the first argument of the last op on each member; of an empty range it is the result.
//   REDUCE-4  Once the region is stopped a member ends within 1024 more calls of f(i).
//
#ifndef LOCKSTEP_DETAIL_TEAM_REDUCTIONS_HPP
#define LOCKSTEP_DETAIL_TEAM_REDUCTIONS_HPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace reductions {

// --- one value of each member ---

/// The result of combine(phase), which has T. The value at hand where the region was stopped and exceptions are off.
/// All of it is compiled into the caller: behind a call of its own, a sum of two members takes 105 ns in place of 50.
template <class T, class Combine>
T meet(member_state& at, const T& at_hand, const Combine& combine) {
  const std::uint32_t phase = at.next_phase();
  const auto put_result = [&](cell& into) {
    T result(combine(phase));
    cell_access<T>::put(cell_access<T>::prepare(at.shared(), at.kept_result, 1), into,
                        std::move(result));
  };
  cell out = {};
  if (at.meet(out, put_result)) return cell_access<T>::get(out);
  leave_stopped_region();
  return at_hand;
}

/// This member's value for the next meeting.
template <class T>
void put_value(member_state& at, T value) {
  const std::uint32_t phase = at.next_phase();
  cell_access<T>::put(cell_access<T>::prepare(at.shared(), at.kept[phase & 1u], 1),
                      at.shared().cell_of(at.rank(), phase, 0), std::move(value));
}

/// op over the values of all members, in the order of ranks.
template <class T, class Op>
T reduce_values(member_state& at, const T& value, Op& op) {
  check_operation<T, Op>();
  check_copyable<T>();
  if (!at.goes_on()) leave_stopped_region();
  if (at.is_alone() || !at.goes_on()) return value;
  put_value<T>(at, value);
  return meet<T>(at, value, [&](std::uint32_t phase) {
    T sum(cell_access<T>::get(at.shared().cell_of(0, phase, 0)));
    for (std::size_t rank = 1; rank < at.size(); ++rank) {
      sum = op(std::move(sum), cell_access<T>::get(at.shared().cell_of(rank, phase, 0)));
    }
    return sum;
  });
}

/// The value of member `root`.
template <class T>
T broadcast(member_state& at, std::size_t root, const T& value) {
  check_copyable<T>();
  if (!at.goes_on()) leave_stopped_region();
  if (at.is_alone() || !at.goes_on()) return value;
  if (at.rank() == root) put_value<T>(at, value);
  return meet<T>(at, value, [&](std::uint32_t phase) {
    return cell_access<T>::get(at.shared().cell_of(root, phase, 0));
  });
}

// --- a range, along the tree ---

/// What became of a reduction.
enum class outcome { done, empty, stopped };

/// The parts of one member or share, folded into one value.
class folded_parts {
 public:
  /// At: member_state or loop_share.
  template <class At>
  folded_parts(const At& at, const operations& what, const operands& of, std::size_t length)
      : walk_(at, what, of, length) {}

  /// Folds the parts that it is called with.
  range_body body() noexcept { return {fold, this}; }
  /// After the parts. False if there were none, or the region was stopped.
  bool take(void* result) {
    if (!has_value_ || !goes_on_) return false;
    walk_.take_top(result);
    return true;
  }

 private:
  static void fold(const void* data, std::size_t first, std::size_t last) {
    folded_parts& self = *static_cast<folded_parts*>(const_cast<void*>(data));
    if (!self.goes_on_) return;
    self.goes_on_ = self.walk_.fold(first, last, self.has_value_);
    self.has_value_ = true;
  }

  tree_walk walk_;
  bool has_value_ = false, goes_on_ = true;
};
LOCKSTEP_NOINLINE inline bool fold_parts(member_state& at, const operations& what,
                                         const operands& of, std::size_t length, schedule how,
                                         void* result) {
  folded_parts own(at, what, of, length);
  loops::hand_out(at, length, how, own.body());
  return own.take(result);
}

/// A reduction over [0, length) in a region. `result`: room for a value, aligned as a cell at least.
class member_reduction {
 public:
  member_reduction(member_state& at, const operations& what, const operands& of,
                   std::size_t length) noexcept
      : at_(at),
        what_(what),
        of_(of),
        length_(length),
        leaves_(reduction_tree::leaves_of(length)) {}

  /// The same bits for every number of members and schedule.
  LOCKSTEP_NOINLINE outcome reduce(schedule how, void* result) {
    if (length_ == 0 || !at_.goes_on()) return at_.sync() ? outcome::empty : outcome::stopped;
    if (at_.is_alone()) return reduce_alone(result);
    phase_ = at_.next_phase();
    cell out = {};
    const cell_combine all = {combine_all, this};
    bool goes_on = false;
    if (how.kind() == schedule_kind::static_blocks) {
      goes_on = run_claimed(at_, {put_share, this, leaves_}, out, all);
    } else if (put_leaves(how)) {
      // The phase of the leaves is over.
      phase_ = at_.next_phase();
      goes_on = put_nodes(at_.rank(), true) && at_.meet(out, all);
    }
    if (!goes_on) return outcome::stopped;
    take(out, result);
    return outcome::done;
  }

 private:
  outcome reduce_alone(void* result) {
    tree_walk walk(at_, what_, of_, length_);
    if (!walk.push_node(0, leaves_) || !at_.goes_on()) return outcome::stopped;
    walk.take_top(result);
    return outcome::done;
  }

  void* prepare(owner<kept_values>& keeps, std::size_t count) const {
    return what_.type == nullptr ? nullptr : what_.type->prepare(at_.shared(), keeps, count);
  }

  /// The nodes of a rank into its cells of the phase: from the iterations, or from the values of all leaves.
  bool put_nodes(std::size_t rank, bool from_leaves) const {
    group& shared = at_.shared();
    void* const room = prepare(shared.state(rank).kept[phase_ & 1u], reduction_tree::most_nodes);
    const index_range part = static_block(0, leaves_, rank, at_.size());
    tree_walk walk(at_, what_, of_, length_);
    std::size_t k = 0;
    bool goes_on = true;
    reduction_tree::maximal_nodes(leaves_, part.first, part.last,
                                  [&](std::size_t a, std::size_t b) {
                                    if (from_leaves) {
                                      push_from_leaves(walk, a, b);
                                    } else if (!goes_on || !walk.push_node(a, b)) {
                                      goes_on = false;
                                      return;
                                    }
                                    walk.put_top(room, shared.cell_of(rank, phase_, k));
                                    ++k;
                                  });
    return goes_on;
  }
  void push_from_leaves(value_stack& values, std::size_t a, std::size_t b) const {
    if (b - a == 1) return values.push_taken(at_.shared().leaves[a]);  // each is in one node
    const std::size_t middle = reduction_tree::middle_of(a, b);
    push_from_leaves(values, a, middle);
    push_from_leaves(values, middle, b);
    values.combine();
  }
  static bool put_share(const void* data, std::size_t rank) {
    const member_reduction& self = *static_cast<const member_reduction*>(data);
    return self.put_nodes(rank, false);
  }

  /// The values of all leaves, handed out by `how`, into the group's cells; after it they are there. False once the
  /// region is stopped.
  bool put_leaves(schedule how) {
    struct leaf_part {
      member_reduction& of;
      void* room;
      bool goes_on;

      static void call(const void* data, std::size_t first, std::size_t last) {
        leaf_part& self = *static_cast<leaf_part*>(const_cast<void*>(data));
        member_reduction& of = self.of;
        tree_walk walk(of.at_, of.what_, of.of_, of.length_);
        for (std::size_t leaf = first; leaf < last; ++leaf) {
          self.goes_on = self.goes_on && walk.push_node(leaf, leaf + 1);
          if (!self.goes_on) return;
          walk.put_top(self.room, of.at_.shared().leaves[leaf]);
        }
      }
    } part = {*this, prepare(at_.kept_leaves, leaves_), true};
    const std::size_t chunk = (how.chunk() - 1) / reduction_tree::leaf_size(length_) + 1;
    const bool complete =
        loops::hand_out(at_, leaves_, schedule(how.kind(), chunk), {leaf_part::call, &part});
    return part.goes_on && at_.sync() && complete;
  }

  static void combine_all(const void* data, cell& into) {
    const member_reduction& self = *static_cast<const member_reduction*>(data);
    void* const room = self.prepare(self.at_.kept_result, 1);
    reduction_tree::published_nodes nodes(self.leaves_, self.at_.size());
    tree_walk values(self.at_, self.what_, self.of_, self.length_);
    self.push_published(values, nodes, 0, self.leaves_);
    values.put_top(room, into);
  }
  void push_published(value_stack& values, reduction_tree::published_nodes& nodes, std::size_t a,
                      std::size_t b) const {
    if (nodes.has(b)) {
      values.push_copy(at_.shared().cell_of(nodes.rank(), phase_, nodes.node()));
      return nodes.advance(b);
    }
    const std::size_t middle = reduction_tree::middle_of(a, b);
    push_published(values, nodes, a, middle);
    push_published(values, nodes, middle, b);
    values.combine();
  }

  void take(const cell& from, void* result) const {
    if (what_.type == nullptr) {
      std::memcpy(result, from.bytes, cell::size);
    } else {
      what_.type->copy(result, value_stack::address_in(from));
    }
  }

  member_state& at_;
  const operations& what_;
  const operands& of_;
  const std::size_t length_, leaves_;
  std::uint32_t phase_ = 0;
};

/// Room for a result that a reduction leaves: destroyed here.
template <class T>
class result_of {
 public:
  result_of() noexcept {}
  ~result_of() {
    if (has_value_) value().~T();
  }
  result_of(const result_of&) = delete;
  result_of& operator=(const result_of&) = delete;

  void* room() noexcept { return storage_; }
  /// A value was left in the room.
  T& value_left() noexcept {
    has_value_ = true;
    return value();
  }

 private:
  T& value() noexcept { return *reinterpret_cast<T*>(storage_); }

  static constexpr std::size_t least = fits_cell<T>() ? cell::size : 1;
  alignas(T) alignas(least) unsigned char storage_[sizeof(T) < least ? least : sizeof(T)];
  bool has_value_ = false;
};

/// op(init, the tree over the range) on every member.
template <class T, class Op, class Values>
T reduce(member_state& at, const Values& values, bool in_strips, std::size_t length, const T& init,
         Op& op, schedule how) {
  check_types<T, typename Values::value, Op>();
  check_copyable<T>();
  result_of<T> result;
  member_reduction reduction(at, operations_for<T, Op>(values, in_strips), values, length);
  const outcome how_it_ended = reduction.reduce(how, result.room());
  if (how_it_ended == outcome::done) {
    T& whole =
        result.value_left();  // before the copy of init, which may throw: now it is destroyed then
    return op(T(init), std::move(whole));
  }
  if (how_it_ended == outcome::stopped) leave_stopped_region();
  return init;
}

// --- a range, by members: `fast` ---

/// Where a member says that it has put a value: the last byte of the cell unless the value is there.
template <class T>
unsigned char& has_put(group& shared, std::size_t rank, std::uint32_t phase) noexcept {
  return fits_cell<T>() && sizeof(T) == cell::size
             ? shared.cell_of(rank, phase, 1).bytes[0]
             : shared.cell_of(rank, phase, 0).bytes[cell::size - 1];
}
static_assert(sizeof(void*) < cell::size, "a pointer leaves the last byte of its cell free");

/// This member's value for the next meeting, if it has one.
template <class T>
void put_maybe(member_state& at, maybe<T>& mine) {
  if (mine.has_value()) put_value<T>(at, std::move(mine.value()));
  has_put<T>(at.shared(), at.rank(), at.next_phase()) = mine.has_value() ? 1 : 0;
}

/// What init and the values that were put in a phase make together, in the order of ranks.
template <class T, class Op>
T combine_put(group& shared, std::size_t size, std::uint32_t phase, T init, Op& op) {
  for (std::size_t rank = 0; rank < size; ++rank) {
    if (has_put<T>(shared, rank, phase) == 0) continue;
    init = op(std::move(init), cell_access<T>::get(shared.cell_of(rank, phase, 0)));
  }
  return init;
}

/// op(init, the values of those members that have one), on every member.
template <class T, class Op>
T reduce_put(member_state& at, const T& init, maybe<T>& mine, Op& op) {
  check_copyable<T>();
  if (!at.goes_on()) leave_stopped_region();
  if (!at.goes_on() || (at.is_alone() && !mine.has_value())) return init;
  if (at.is_alone()) return op(T(init), std::move(mine.value()));
  put_maybe<T>(at, mine);
  return meet<T>(at, init, [&](std::uint32_t phase) {
    return combine_put<T>(at.shared(), at.size(), phase, init, op);
  });
}

template <class T, class Op, class Values>
T reduce_fast(member_state& at, const Values& values, bool in_strips, std::size_t length,
              const T& init, Op& op, schedule how) {
  check_types<T, typename Values::value, Op>();
  result_of<T> result;
  maybe<T> mine;
  if (fold_parts(at, operations_for<T, Op>(values, in_strips), values, length, how,
                 result.room())) {
    mine.set(std::move(result.value_left()));
  }
  if (at.may_stop()) leave_stopped_region();
  return reduce_put<T>(at, init, mine, op);
}

}  // namespace reductions
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_REDUCTIONS_HPP

// lockstep/detail/team/scans.hpp -- every prefix of a range's values combined (layer: team)
//
// Two passes over the leaves of range_parts.hpp: the sum of each leaf, then the running values in each
// leaf from its prefix on, which is the left fold of the sums before it. So the same bits for every number
// of members; f is called twice for each index. For users: member.hpp.
#ifndef LOCKSTEP_DETAIL_TEAM_SCANS_HPP
#define LOCKSTEP_DETAIL_TEAM_SCANS_HPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace reductions {

/// Whether the region is not stopped: what a fold asks. Where it is, the member leaves from here.
template <class At>
struct watch_of {
  const At& at;

  bool operator()() const {
    if (!at.may_stop()) return true;
    leave_stopped_region();
    return false;
  }
};

// Whether an int may become the unsigned argument of a function is its author's business.
LOCKSTEP_BEGIN_SIGN_CONVERSIONS
/// f(i) by its offset.
template <class Index, class Function>
struct value_at {
  static_assert(is_callable<Function&, Index>::value,
                "lockstep: the function of parallel_scan, or of scan_each, must be callable with "
                "one index, f(i): of the common type of the bounds, or the iterator");
  Index first;
  Function& f;

  auto operator()(std::size_t offset) const
      -> decltype(std::declval<Function&>()(std::declval<Index>())) {
    return f(index_at(first, offset));
  }
};
/// store(i, value) by its offset.
template <class Index, class Store>
struct store_at {
  Index first;
  Store& store;

  template <class T>
  void operator()(std::size_t offset, T& value) const {
    store(index_at(first, offset), value);
  }
};
LOCKSTEP_END_SIGN_CONVERSIONS
template <class Index, class Function>
value_at<Index, Function> by_offset(const index_span<Index>& span, Function& f) noexcept {
  return {span.first, f};
}
template <class Index, class Store>
store_at<Index, Store> store_by_offset(const index_span<Index>& span, Store& store) noexcept {
  return {span.first, store};
}

/// What a scan works on: f(i) are the values, store(i, value) takes the results.
template <class T, class Function, class Op, class Store, class At = member_state>
struct scan_of {
  const At& at;
  index_range range;
  Function& f;
  Op& op;
  Store& store;

  T sum_of(std::size_t leaf) const {
    // A look takes as long as a short leaf: all that are due in a strip look once.
    const std::size_t size = reduction_tree::leaf_size(length_of(range));
    if (size >= 64 || leaf % 16 == 0) watch_of<At>{at}();
    const index_range part = reduction_tree::leaf_range(range.first, range.last, leaf);
    return size <= reduction_tree::strip_length
               ? reduction_tree::fold<T>(part, f, op)
               : reduction_tree::fold<T>(part, f, op, watch_of<At>{at});
  }

  /// The second pass over a leaf; what its last index gets is not the next prefix, but near it.
  void run_through(std::size_t leaf, T running) const {
    const index_range part = reduction_tree::leaf_range(range.first, range.last, leaf);
    for (std::size_t i = part.first; watch_of<At>{at}() && i < part.last;) {
      constexpr std::size_t strip = reduction_tree::strip_length;
      const std::size_t end = part.last - i > strip ? i + strip : part.last;
      for (; i < end; ++i) {
        running =
            op(std::move(running), static_cast<reduction_tree::as_value<T, decltype(f(i))>>(f(i)));
        store(i, running);
      }
    }
  }
};

/// The values of all leaves into the group's cells; after it they are there. False once the region is stopped.
template <class T, class LeafValue>
bool put_leaves(member_state& at, std::size_t leaves, const LeafValue& leaf_value) {
  auto&& kept = cell_access<T>::prepare(at.shared(), at.kept_leaves, leaves);
  const auto part = [&](std::size_t first, std::size_t last) {
    for (std::size_t leaf = first; leaf < last; ++leaf) {
      cell_access<T>::put(kept, at.shared().leaves[leaf], leaf_value(leaf));
    }
  };
  const bool complete = loops::hand_out(at, leaves, static_schedule(), body_of(part));
  return at.sync() && complete;
}

template <class T, class Scan>
T scan_alone(const Scan& what, std::size_t leaves, T prefix) {
  for (std::size_t leaf = 0; leaf < leaves; ++leaf) {
    T sum(what.sum_of(leaf));
    what.run_through(leaf, prefix);
    prefix = what.op(std::move(prefix), std::move(sum));
  }
  return prefix;
}

/// Returns op(init, all values), on all members, when all are done.
template <class T, class Scan>
T scan_leaves(member_state& at, const Scan& what, const T& init) {
  check_copyable<T>();
  const std::size_t leaves = reduction_tree::leaves_of(length_of(what.range));
  if (!at.goes_on()) {
    leave_stopped_region();
    return init;
  }
  if (at.is_alone()) {
    T whole(scan_alone<T>(what, leaves, init));
    if (!at.goes_on()) leave_stopped_region();
    return whole;
  }
  const auto sum_of = [&](std::size_t leaf) { return what.sum_of(leaf); };
  if (!put_leaves<T>(at, leaves, sum_of)) {
    leave_stopped_region();
    return init;
  }
  const auto handed_out = [&](std::size_t leaf) {
    return cell_access<T>::get(at.shared().leaves[leaf]);
  };
  const index_range mine = static_block(0, leaves, at.rank(), at.size());
  T prefix(reduction_tree::exclusive_prefix<T>(mine.first, init, handed_out, what.op));
  for (std::size_t leaf = mine.first; leaf < mine.last; ++leaf) {
    what.run_through(leaf, prefix);
    prefix = what.op(std::move(prefix), handed_out(leaf));
  }
  for (std::size_t leaf = mine.last; leaf < leaves; ++leaf) {
    prefix = what.op(std::move(prefix), handed_out(leaf));
  }
  if (!at.sync()) leave_stopped_region();
  return prefix;
}

}  // namespace reductions
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_SCANS_HPP

// lockstep/member.hpp -- what a team's function sees of itself: OpenMP's constructs and more (layer: team)
//
// One object per member and region; only the member itself uses it, and not after the region. Which to use:
//   all wait for all            sync_threads; with a value in the same phase: sync_sum and its like, broadcast
//   share the work of a loop    for_range (blocks, waits for nobody), for_each (iterations, waits at its end)
//   loop and reduction in one   reduce_range, reduce_each: the same bits for every team size and schedule
//   one does it                 single (others wait), master (they do not), critical (one at a time)
//   different work              sections, split, first
//   step by step in a chain     publish and wait_for, for_ordered
// The last parameter, `where`, is for messages of debug builds: leave it out.
// Constructs that members share wait at their end unless called with `nowait`; for_range and master never do.
//
//   MEMBER-1  All members of a region call the constructs that wait, and those with tickets (dynamic and guided
//       loops, sections, single(nowait)), in the same order, with the same range and schedule.
//       Debug builds end the program where members meet from different ones, with a message that names both places.
//   MEMBER-2  What happens before any member's arrival in a construct that waits happens before every return from it.
//   MEMBER-3  Once the region is stopped (an exception in a member, request_stop) nobody waits any more. A construct
//       that begins or ends in a stopped region throws region_stopped, which run() catches: the member
//       that stopped it itself as well as the others. Its try_ form returns false in place of that; those
//       that return a value have none. Built without exceptions, the plain forms return false
//       as the try_ forms do, or the value at hand, or an empty sub_team. rank, size, master, critical,
//       publish, stop_requested and request_stop never throw region_stopped. Reductions and scans look every
//       thousand calls of f(i). See also LOOPS-8 of member_loops.hpp.
#ifndef LOCKSTEP_MEMBER_HPP
#define LOCKSTEP_MEMBER_HPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {

/// First argument of a reduction whose last bits may differ from one team size to another.
struct fast_t {};
constexpr fast_t fast = {};

class sub_team;
namespace detail {
struct member_access;
}  // namespace detail

class member : public detail::member_loops {
 public:
  member& operator=(const member&) = delete;

  /// 0 to size() - 1; the thread that called run() is 0.
  std::size_t rank() const noexcept { return at_.rank(); }
  std::size_t size() const noexcept { return at_.size(); }

  // --- all wait for all ---

  /// Blocks until every member of the region has called it as often as this one; MEMBER-2, MEMBER-3.
  LOCKSTEP_NODISCARD_UNLESS_THROWN bool sync_threads(call_site where = call_site::here()) {
    return or_leave(try_sync_threads(where));
  }
  LOCKSTEP_NODISCARD bool try_sync_threads(call_site where = call_site::here()) {
    at_.come_to("sync_threads", where);
    return at_.sync();
  }

  /// op over the values of all members, in the order of ranks: the same on each, and in every run. One
  /// phase. Values above 16 bytes, or not trivially copyable, are copied to the heap; of them nothing is left
  /// when run() returns.
  template <class T, class Op>
  T sync_reduce(T value, Op op, call_site where = call_site::here()) {
    return reduce_as("sync_reduce", where, value, op);
  }
  template <class T>
  T sync_sum(T value, call_site where = call_site::here()) {
    return reduce_as("sync_sum", where, value, sum_of<T>());
  }
  template <class T>
  T sync_min(T value, call_site where = call_site::here()) {
    return reduce_as("sync_min", where, value,
                     [](const T& a, const T& b) { return b < a ? b : a; });
  }
  template <class T>
  T sync_max(T value, call_site where = call_site::here()) {
    return reduce_as("sync_max", where, value,
                     [](const T& a, const T& b) { return a < b ? b : a; });
  }
  /// How many members said true.
  std::size_t sync_count(bool condition, call_site where = call_site::here()) {
    return reduce_as<std::size_t>("sync_count", where, condition ? 1 : 0, sum_of<std::size_t>());
  }
  bool sync_and(bool condition, call_site where = call_site::here()) {
    return sync_count(condition, where) == size();
  }
  bool sync_or(bool condition, call_site where = call_site::here()) {
    return sync_count(condition, where) != 0;
  }

  /// The value of member `root`, on all. One phase. Fails if root >= size().
  template <class T>
  T broadcast(std::size_t root, T value, call_site where = call_site::here()) {
    detail::checked_rank("lockstep::member::broadcast", "members", root, size());
    at_.come_to("broadcast", where, sizeof(T));
    return detail::reductions::broadcast<T>(at_, root, value);
  }

  // --- one does it ---

  /// Member 0 calls f(), the others wait until it has. Costs a barrier, no more. f is not called in a
  /// region that was stopped before.
  template <class Function>
  LOCKSTEP_NODISCARD_UNLESS_THROWN bool single(Function&& f, call_site where = call_site::here()) {
    return or_leave(try_single(f, where));
  }
  template <class Function>
  LOCKSTEP_NODISCARD bool try_single(Function&& f, call_site where = call_site::here()) {
    check_plain<Function>();
    if (at_.is_stopped()) return false;
    at_.come_to("single", where);
    if (rank() == 0) f();
    return at_.sync();
  }
  /// The member that comes first calls f(); the others go on.
  template <class Function>
  LOCKSTEP_NODISCARD_UNLESS_THROWN bool single(nowait_t, Function&& f) {
    return or_leave(try_single(nowait, f));
  }
  template <class Function>
  LOCKSTEP_NODISCARD bool try_single(nowait_t, Function&& f) {
    check_plain<Function>();
    return detail::loops::first_come(at_, f);
  }
  /// Member 0 calls f(); nobody waits.
  template <class Function>
  void master(Function&& f) {
    check_plain<Function>();
    if (rank() == 0) f();
  }
  /// Calls f() while no other thread of the program is in a critical part of the same name, a type:
  /// me.critical<struct log_file>([&] { ... }). Fair. Not to be nested with itself. Waits for no member of its region,
  /// so a stop does not end it: f is called, to put in order what others look at afterwards.
  template <class Name = void, class Function>
  void critical(Function&& f) {
    check_plain<Function>();
    struct held {
      mutex& lock;
      explicit held(mutex& m) : lock(m) { lock.lock(); }
      ~held() { lock.unlock(); }
    } const here(detail::critical_name::mutex_of<Name>());
    f();
  }

  // --- reductions over a range ---

  /// op(init, all values of f(first, last) over parts of the range, in order), on all members. The same bits for every
  /// team size, schedule and run: op is applied along a tree that depends on the length alone
  /// (range_parts.hpp), so it must be associative. Waits for all; one phase with the default schedule, else two.
  /// With the default schedule members that wait run the shares of those that have not come, as in for_each.
  template <class T, class First, class Last, class Function, class Op>
  detail::if_bounds<First, Last, T> reduce_range(First first, Last last, T init, Function&& f,
                                                 Op op, schedule how = static_schedule(),
                                                 call_site where = call_site::here()) {
    const auto span = detail::span_of(first, last);
    at_.come_to("reduce_range", where, span.length);
    return detail::reductions::reduce<T, Op>(at_,
                                             detail::reductions::block_values_of<T>(span, f, op),
                                             false, span.length, init, op, how);
  }
  /// The same with f(i).
  template <class T, class First, class Last, class Function, class Op>
  detail::if_bounds<First, Last, T> reduce_each(First first, Last last, T init, Function&& f, Op op,
                                                schedule how = static_schedule(),
                                                call_site where = call_site::here()) {
    const auto span = detail::span_of(first, last);
    at_.come_to("reduce_each", where, span.length);
    return detail::reductions::reduce<T, Op>(at_, detail::reductions::values_of<T>(span, f, op),
                                             true, span.length, init, op, how);
  }
  /// Not the same for every team size: each member folds its parts, and init and the results are combined by
  /// rank. Requires op to commute unless the schedule is static_schedule().
  template <class T, class First, class Last, class Function, class Op>
  detail::if_bounds<First, Last, T> reduce_range(fast_t, First first, Last last, T init,
                                                 Function&& f, Op op,
                                                 schedule how = static_schedule(),
                                                 call_site where = call_site::here()) {
    const auto span = detail::span_of(first, last);
    at_.come_to("reduce_range", where, span.length);
    return detail::reductions::reduce_fast<T, Op>(
        at_, detail::reductions::block_values_of<T>(span, f, op), false, span.length, init, op,
        how);
  }
  template <class T, class First, class Last, class Function, class Op>
  detail::if_bounds<First, Last, T> reduce_each(fast_t, First first, Last last, T init,
                                                Function&& f, Op op,
                                                schedule how = static_schedule(),
                                                call_site where = call_site::here()) {
    const auto span = detail::span_of(first, last);
    at_.come_to("reduce_each", where, span.length);
    return detail::reductions::reduce_fast<T, Op>(
        at_, detail::reductions::values_of<T>(span, f, op), true, span.length, init, op, how);
  }

  /// store(i, op(init, f(first), ..., f(i))) for every i of the range: see team::parallel_scan. Waits for all.
  template <class T, class First, class Last, class Function, class Op, class Store>
  detail::if_bounds<First, Last, T> scan_each(First first, Last last, T init, Function&& f, Op op,
                                              Store&& store, call_site where = call_site::here()) {
    const auto span = detail::span_of(first, last);
    at_.come_to("scan_each", where, span.length);
    const auto by = detail::reductions::by_offset(span, f);
    const auto into = detail::reductions::store_by_offset(span, store);
    detail::reductions::check_types<T, decltype(by(std::size_t())), Op>();
    const detail::reductions::scan_of<T, decltype(by), Op, decltype(into)> what{
        at_, index_range{0, span.length}, by, op, into};
    return detail::reductions::scan_leaves<T>(at_, what, init);
  }

  // --- parts of the team ---

  // In sub_team.hpp.

  /// Members that give the same colour form a sub-team, ranked as here; no_color: in none. Two phases; allocates.
  sub_team split(std::size_t color, call_site where = call_site::here());
  /// The first k members form a sub-team; the others get an empty one. One phase; allocates. Fails if k is
  /// 0 or above size().
  sub_team first(std::size_t k, call_site where = call_site::here());
  static constexpr std::size_t no_color = ~std::size_t{0};

  // --- step by step ---

  /// This member has finished `step`, and all before it: what it has done is seen by who waits for it.
  /// Steps only grow; they begin at 0 in every region.
  void publish(std::size_t step) {
    published_ = step;
    if (!at_.is_alone()) at_.shared().progress.publish(rank(), step);
  }
  /// Blocks until member `rank` has published `step` or more. Fails if rank >= size(), and with std::logic_error
  /// for a step of this member's own beyond what it has published: nobody else can publish that.
  LOCKSTEP_NODISCARD_UNLESS_THROWN bool wait_for(std::size_t rank, std::size_t step) {
    return or_leave(try_wait_for(rank, step));
  }
  LOCKSTEP_NODISCARD bool try_wait_for(std::size_t rank, std::size_t step) {
    detail::checked_rank("lockstep::member::wait_for", "members", rank, size());
    if (rank != this->rank()) return at_.shared().progress.wait_for(at_, rank, step);
    if (step > published_) fail_own_step(step, published_);
    return !at_.is_stopped();
  }

  // --- the early end ---

  /// True once the region is stopped: time to return.
  bool stop_requested() const noexcept { return at_.is_stopped(); }
  /// Ends the region: MEMBER-3. run() returns false then.
  void request_stop() { at_.request_stop(); }

 private:
  friend class sub_team;
  friend struct detail::member_access;

  explicit member(detail::member_state& at) noexcept : member_loops(at) {}
  member(const member&) = default;

  template <class T>
  struct sum_of {
    T operator()(const T& a, const T& b) const { return static_cast<T>(a + b); }
  };
  template <class T, class Op>
  T reduce_as(const char* kind, call_site where, const T& value, Op op) {
    at_.come_to(kind, where, sizeof(T));
    return detail::reductions::reduce_values<T>(at_, value, op);
  }
  template <class Function>
  static void check_plain() noexcept {
    static_assert(detail::is_callable<Function&>::value,
                  "lockstep::member: this construct's function cannot be called as f()");
  }

  [[noreturn]] LOCKSTEP_NOINLINE static void fail_own_step(std::size_t step,
                                                           std::size_t published) {
    char message[160];
    std::snprintf(message, sizeof message,
                  "lockstep::member::wait_for: this member waits for its own step %zu, and has "
                  "published %zu: it would wait for ever",
                  step, published);
    detail::fail<std::logic_error>(message);
  }

  std::size_t published_ = 0;  ///< the last step of this member
};

namespace detail {

/// Makes the member object of a state, for the code that runs regions, and for constructs beyond those of member.
struct member_access {
  explicit member_access(member_state& of) noexcept : self(of) {}
  static member_state& state_of(const member& of) noexcept { return of.at_; }

  member self;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_MEMBER_HPP

// lockstep/detail/team/anticipation.hpp -- how a worker waits for its next region: when does it expect it (layer: team)
//
// Time steps, frames and blocks repeat. A worker that knows how long the last gaps between its regions were
// can sleep until shortly before the next one is due, and be there when it comes: the speed of threads
// that poll for the CPU time of threads that sleep. Times are nanoseconds since the wait began.
//
//   GAP-1  Gaps that lie close together make one window, in which the worker polls: from a lead before the
//          shortest of them until a margin after the longest. Between windows it sleeps, after the last
//          one it sleeps for good. So two gaps in turns have a window each. Among eight gaps or more, one
//          that stands alone has no window, and an eighth of those in a window does not count at either
//          end, or little: else one hiccup of the caller would spoil the next sixteen waits.
//   GAP-2  A worker that has waited for t polls for 160 us + t / 4 at most, and never for more than 4 ms:
//          longest_poll().
//   GAP-3  Each gap is compared with what was expected, also while nobody acts on it: `most_doubt` more misses than
//          hits turn anticipation off, until the gaps can be told again. A thread that lost a time
//          slice while it polled turns it off at once.
//   GAP-4  The lead is learned from how late the worker woke up: it rises fast and falls slowly.
//
// Gaps below `shortest_gap` are not counted: every worker polls that long, and a step of a program may be many
// short gaps and a long one. Gaps above 4 s are taken as 4 s, and no window opens for them.
#ifndef LOCKSTEP_DETAIL_TEAM_ANTICIPATION_HPP
#define LOCKSTEP_DETAIL_TEAM_ANTICIPATION_HPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// What to do next in a wait.
struct wait_step {
  enum class kind : unsigned char { poll, sleep, rest };  // rest: sleep until it comes

  kind what;
  std::uint64_t until;  ///< no meaning for rest
};

class anticipation {
 public:
  static constexpr std::uint64_t shortest_gap = 2000;
  static constexpr std::uint64_t longest_gap = 1000000000;
  /// A sleep shorter than `usual_sleep` is polled through where GAP-2 allows it, one shorter than `shortest_sleep`
  /// always: falling asleep and waking up late can take as long. With 50 us for both one region in
  /// ten came 20 us before its worker woke up where gaps were 200 us.
  static constexpr std::uint64_t usual_sleep = 120000, shortest_sleep = 50000;
  static constexpr std::uint64_t first_lead = 80000, least_lead = 20000, most_lead = 300000;
  static constexpr unsigned memory = 16, fewest = 4, most_doubt = 4;

  /// GAP-2.
  static std::uint64_t longest_poll(std::uint64_t elapsed) noexcept {
    const std::uint64_t share = 160000 + elapsed / 4;
    return share < 4000000 ? share : 4000000;
  }

  /// Whether it is worth asking next_step().
  bool is_on() const noexcept { return count_ >= fewest && doubt_ < most_doubt; }

  /// For a worker that has waited for `elapsed`, and polled for `polled` of it.
  LOCKSTEP_NOINLINE wait_step next_step(std::uint64_t elapsed,
                                        std::uint64_t polled) const noexcept {
    for (unsigned first = 0, end = 0; first < count_; first = end) {
      end = end_of_window(first);
      if (count_ >= most_for_one && end - first == 1) continue;
      const window at = window_of(first, end);
      if (elapsed >= at.closes) continue;
      if (at.opens > longest_gap) break;
      const std::uint64_t longest = sorted_[end - 1];
      const bool can_poll_through = polled + longest <= elapsed + longest_poll(longest);
      if (elapsed + (can_poll_through ? usual_sleep : shortest_sleep) < at.opens) {
        return {wait_step::kind::sleep, at.opens};
      }
      const std::uint64_t most = longest_poll(elapsed);
      if (polled + least_poll > most) break;
      const std::uint64_t until = elapsed + (most - polled);
      return {wait_step::kind::poll, until < at.closes ? until : at.closes};
    }
    return {wait_step::kind::rest, 0};
  }

  /// A wait is over after `gap`.
  void came_after(std::uint64_t gap) noexcept {
    if (gap < shortest_gap) return;
    if (count_ >= fewest) judge(would_be_there(gap));
    remember(gap > most_counted ? most_counted : static_cast<std::uint32_t>(gap));
  }

  /// A sleep with an end was over so long after its end. GAP-4.
  void woke_late_by(std::uint64_t late) noexcept {
    if (late > most_lead) late = most_lead;
    if (late > lead_) {
      lead_ += (late - lead_) / 2;
    } else {
      lead_ -= (lead_ - late) / 64;
    }
    if (lead_ < least_lead) lead_ = least_lead;
  }

  /// Polling cost a time slice.
  void was_disturbed() noexcept { doubt_ = 2 * most_doubt; }

  std::uint64_t lead() const noexcept { return lead_; }

 private:
  static constexpr std::uint32_t most_counted = 4000000000u;
  static constexpr std::uint64_t least_poll = 5000;
  static constexpr unsigned most_for_one = 8;  // GAP-1

  struct window {
    std::uint64_t opens, closes;
  };

  /// The first of sorted_ that is too far from the one before to share its window.
  unsigned end_of_window(unsigned first) const noexcept {
    unsigned end = first + 1;
    while (end < count_ && sorted_[end] - sorted_[end - 1] <= sorted_[end - 1] / 4 + 20000) ++end;
    return end;
  }
  /// A quarter of the range on both sides, for gaps that were not among the last ones.
  window window_of(unsigned first, unsigned end) const noexcept {
    const unsigned ignored = (end - first) / most_for_one;
    const std::uint64_t usual = sorted_[first + ignored], most = sorted_[end - 1 - ignored];
    const std::uint64_t least = larger(sorted_[first], usual - usual / 8);
    const std::uint64_t early = (most - least) / 4 + lead_;
    return {least > early ? least - early : 0, most + (most - least) / 4 + most / 16 + 50000};
  }

  /// Whether a worker that follows next_step() polls after `gap`.
  bool would_be_there(std::uint64_t gap) const noexcept {
    std::uint64_t elapsed = 0, polled = 0;
    while (true) {
      const wait_step step = next_step(elapsed, polled);
      if (step.what == wait_step::kind::rest) return false;
      if (gap < step.until) return step.what == wait_step::kind::poll;
      if (step.what == wait_step::kind::poll) polled += step.until - elapsed;
      elapsed = step.until;
    }
  }

  static std::uint64_t larger(std::uint64_t a, std::uint64_t b) noexcept { return a < b ? b : a; }

  void judge(bool was_right) noexcept {
    if (was_right) {
      if (doubt_ > 0) --doubt_;
    } else if (doubt_ < 2 * most_doubt) {
      ++doubt_;
    }
  }

  LOCKSTEP_NOINLINE void remember(std::uint32_t gap) noexcept {
    unsigned at = count_;  // of a free place in sorted_
    if (count_ == memory) {
      at = 0;
      while (sorted_[at] != gaps_[next_]) ++at;
    } else {
      ++count_;
    }
    for (; at + 1 < count_ && sorted_[at + 1] < gap; ++at) sorted_[at] = sorted_[at + 1];
    for (; at > 0 && sorted_[at - 1] > gap; --at) sorted_[at] = sorted_[at - 1];
    sorted_[at] = gap;
    gaps_[next_] = gap;
    next_ = (next_ + 1) % memory;
  }

  std::uint32_t gaps_[memory] = {};    // in the order in which they came; next_ is the oldest
  std::uint32_t sorted_[memory] = {};  // the same in ascending order
  unsigned next_ = 0, count_ = 0, doubt_ = 0;
  std::uint64_t lead_ = first_lead;
};

/// A wait by what is known of the gaps before: it polls while the next region may come at any moment, sleeps while it
/// cannot, and sleeps for good when what it expected has not come. Where it has learned nothing, or was wrong too
/// often, it waits as everything else does (wait_engine.hpp). For the adaptive policy of a team that is not crowded.
/// One thread uses an object at a time.
//
//   EXPECT-1  wait() returns only after ready() was true. It sleeps only through Waitable::sleep, which looks again
//             after it has announced itself, and may end at its deadline: so no wake-up is lost (WAIT-2).
//   EXPECT-2  It polls for anticipation::longest_poll() at most, and yields the CPU now and then meanwhile. A worker
//             that does not get it back within 2 ms has lost it to others, and polls no more for a while.
//   EXPECT-3  The timer slack of the thread is short during a sleep with an end, and as it was before after it.
//
// Cost   a region that comes within 0.4 us: polls, no look at the clock. Before a sleep with an end, and after it:
//        2 system calls; the fence of the mark, see published_words.hpp.
class anticipating_wait {
 public:
  template <class Waitable>
  void wait(Waitable& what, wait_policy policy, wait_history& history) {
    had_no_cpu_ = false;
    if (!what.ready()) wait_slowly(what, policy, history);
  }
  /// For tests: as after waits that were over after so many nanoseconds.
  void expect(std::uint64_t gap) noexcept {
    for (unsigned i = 0; i < anticipation::fewest; ++i) known_.came_after(gap);
  }
  /// The wait that ends now was none between two regions.
  void forget_gap() noexcept { gap_ = 0; }
  /// Whether what was awaited came while the thread polled and had no CPU.
  bool had_no_cpu() const noexcept { return had_no_cpu_; }

 private:
  static constexpr std::uint64_t lost_time = 10000;
  static constexpr std::uint64_t time_between_yields = 3000;
  static constexpr std::uint64_t long_yield = 2000000;  // as in wait_engine.hpp
  static constexpr std::uint64_t short_slack = 1000;

  template <class Waitable>
  LOCKSTEP_NOINLINE void wait_slowly(Waitable& what, wait_policy policy, wait_history& history) {
    if (!wait_engine::poll(what)) wait_long(any_waitable::of(what), policy, history);
  }
  /// What follows the first poll.
  LOCKSTEP_ENTRY void wait_long(any_waitable what, wait_policy policy, wait_history& history);
  LOCKSTEP_OUT_OF_LINE void follow(any_waitable what);
  /// Whether it got ready before the wait had lasted `until`.
  LOCKSTEP_ENTRY bool poll_until(any_waitable what, std::uint64_t until);
  /// As poll_until(), asleep.
  LOCKSTEP_OUT_OF_LINE bool sleep_until(any_waitable what, std::uint64_t until);

  anticipation known_;
  std::uint64_t gap_ = 0;  ///< the last one, if it has not been learned yet
  std::uint64_t start_ = 0, now_ = 0;
  bool had_no_cpu_ = false;
};

/// When a worker that polls for its regions has to leave the CPU of their caller: PARTING-5 of team_barrier.hpp. Plain
/// data of one thread.
class stacked_regions {
 public:
  static constexpr unsigned enough = 4, most = 256;

  /// A region came; `had_no_cpu`: the worker polled for it, but was not running.
  void came(bool had_no_cpu) noexcept {
    if (!had_no_cpu) {
      stacked_ = 0;
      if (wanted_ > enough) --wanted_;
    } else {
      ++stacked_;
    }
  }
  /// True if it is time to move.
  bool must_part() noexcept {
    if (stacked_ < wanted_) return false;
    stacked_ = 0;
    if (wanted_ < most) wanted_ *= 2;
    return true;
  }

 private:
  unsigned stacked_ = 0, wanted_ = enough;
};

/// How a worker watches for regions: what it has seen, and what it has learned of waiting.
struct region_watch {
  std::uint64_t seen = 0;  ///< the last word on the line
  bool has_begun = false;  ///< it has seen a region: what it waits for next comes after a gap
  wait_history history = {};
  anticipating_wait anticipating = {};

  template <class Waitable>
  void wait(Waitable& next, wait_policy policy, bool anticipates) {
    if (!anticipates) {
      wait_engine::wait(next, policy, history);
      return;
    }
    anticipating.wait(next, policy, history);
    if (!has_begun) anticipating.forget_gap();
    has_begun = true;
  }
  /// After a wait. Where regions went by unseen, it was longer than a gap.
  void note(std::uint64_t word, bool has_missed_some) noexcept {
    if (has_missed_some) anticipating.forget_gap();
    seen = word;
  }
};

#if LOCKSTEP_HAS_BODIES

void anticipating_wait::wait_long(any_waitable what, wait_policy policy, wait_history& history) {
  start_ = now_ = monotonic_nanoseconds();
  if (history.spinning.asks()) {
    if (poll_until(what, anticipation::shortest_gap)) {
      history.spinning.paid();
      return;
    }
    history.spinning.failed();
  }
  if (gap_ != 0) known_.came_after(gap_);  // only now: there is time
  if (known_.is_on()) {
    follow(what);
  } else {
    what.ask_where();
    wait_engine::wait_without_spin(what, policy, history);  // it has spun already
    now_ = monotonic_nanoseconds();
  }
  gap_ = now_ - start_;
}

LOCKSTEP_OUT_OF_LINE void anticipating_wait::follow(any_waitable what) {
  std::uint64_t polled = now_ - start_;
  while (known_.is_on()) {
    const std::uint64_t elapsed = now_ - start_;
    const wait_step step = known_.next_step(elapsed, polled);
    if (step.what == wait_step::kind::rest) break;
    if (step.what == wait_step::kind::poll) {
      if (poll_until(what, step.until)) return;
      polled += now_ - start_ - elapsed;
    } else if (sleep_until(what, step.until)) {
      return;
    }
  }
  while (!what.ready()) what.sleep(deadline::never());
  now_ = monotonic_nanoseconds();
}

bool anticipating_wait::poll_until(any_waitable what, std::uint64_t until) {
  std::uint64_t has_cpu_since = now_;
  while (now_ - start_ < until) {
    const bool is_ready = wait_engine::poll(what);
    const std::uint64_t before = now_;
    now_ = monotonic_nanoseconds();
    if (is_ready) {
      had_no_cpu_ = now_ - before > lost_time;
      return true;
    }
    if (now_ - has_cpu_since < time_between_yields) continue;
    what.ask_where();
    yield_thread();
    has_cpu_since = monotonic_nanoseconds();
    if (has_cpu_since - now_ > long_yield) known_.was_disturbed();
    had_no_cpu_ = has_cpu_since - now_ > lost_time;
    now_ = has_cpu_since;
    if (what.ready()) return true;
    had_no_cpu_ = false;
    if (!known_.is_on()) return false;
  }
  return false;
}

LOCKSTEP_OUT_OF_LINE bool anticipating_wait::sleep_until(any_waitable what, std::uint64_t until) {
  const std::uint64_t slack = shorten_timer_slack(short_slack);
  what.sleep(deadline::after(
      std::chrono::nanoseconds(static_cast<std::int64_t>(until - (now_ - start_)))));
  if (slack != 0) set_timer_slack(slack);
  now_ = monotonic_nanoseconds();
  const std::uint64_t end = start_ + until;
  const bool is_late = now_ >= end;
  if (is_late) known_.woke_late_by(now_ - end);
  if (!what.ready()) return false;
  // It may have come while this thread overslept: no longer gap than was expected.
  if (is_late) now_ = end;
  return true;
}

#endif

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_ANTICIPATION_HPP

// lockstep/detail/team/fork_board.hpp -- tells the workers of a team what to do, and when all are done (layer: team)
//
// A region is announced on lines (fork_lines.hpp). A member that watches an announced line takes the region's
// order from it, and reports back on a line of its own. Two ways, chosen when the board is made:
//   direct   member 0 publishes every line and collects every report: one hop, for up to `width` members,
//            and for crowds, where a leader that is not running would hold up all behind it
//   relayed  each leader publishes its lines when it has read its own, and collects their reports before
//            it reports: log(members) hops, each of few fetches, for large teams with a CPU each
//
//   FORK-1  A region's phase is the same on all lines that announce it, and greater than those before; its lowest
//           bit is the kind of region. A watcher misses no phase of a `run`, since the next one comes only
//           after its report. It may miss phases of loops: then others have done its share.
//   FORK-2  In a `run` every watcher takes part and reports the phase that it has seen. In a loop the parts of its
//           share are claimed (loop_claims.hpp): the member that claims the first one relays, the one that finishes
//           the last one collects and reports. Either way a report has caught up with the line exactly when the
//           share is done. Members that were not announced to, and in loops those above the size, are not looked at.
//   FORK-3  Whatever is done for a member in a region, and below it in the tree, happens before its report, and
//           that before the return of collect() by the member that collects it.
//   FORK-4  A line is not written again before all reports of its phase have been collected. Until a member has claimed
//           a part, it reads nothing of a loop's line but the word.
//   FORK-5  No line and no claim is older than 2^31 phases: then an empty loop renews them all. So nobody takes a
//           phase that comes again for the old one.
//   FORK-6  A `run` and the end wake all sleepers. A loop may leave them asleep, and end without them.
//
// A worker whose sleep came to its deadline (anticipation.hpp) takes its mark back if nobody else sleeps on it.
//
// Memory order (# marks the line; published_words.hpp has that of lines and reports)
//   #  access        order    pairs  why it suffices
//   1  closed.store  relaxed  -      while no worker lives
//   2  closed.store  release  3      a worker that is let go sees what came before close()
//   3  closed.load   acquire  2      the other half
//
// Cost   two members: two line transfers in a row, no system call unless somebody sleeps. No RMW in a `run`; in a
//        loop one for each member, on a line of its own.
// Source the order on the line of the phase: [LIBOMP] keeps a flag only, and a second fetch for the rest.
#ifndef LOCKSTEP_DETAIL_TEAM_FORK_BOARD_HPP
#define LOCKSTEP_DETAIL_TEAM_FORK_BOARD_HPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

class fork_board {
 public:
  enum class way { direct, relayed };

  /// After how many phases lines and claims are renewed (FORK-5): half of all that a line tells apart.
  static constexpr std::uint64_t usual_most_age = std::uint64_t{1} << 31;

  /// Tests pass `first_phase` to start next to wrap-around, narrow trees, and lines that are renewed often.
  /// `anticipates` counts for the adaptive policy of a team that is not crowded; `finds_cpu`: see team_barrier.hpp.
  LOCKSTEP_COLD fork_board(fork_tree tree, wait_policy policy, way how,
                           std::uint32_t first_phase = 0, bool anticipates = false,
                           std::uint64_t most_age = usual_most_age, bool finds_cpu = false);

  bool is_relayed() const noexcept { return how_ == way::relayed; }
  bool anticipates() const noexcept { return anticipates_; }
  /// Whether this worker tells others of regions, and collects their reports.
  bool is_leader(std::size_t rank) const noexcept {
    return how_ == way::relayed && rank % tree_.width() == 0;
  }

  /// Member 0: announces f(member&) to every worker that the region needs. Requires head.size > 1.
  template <class Function>
  void announce(const region_head& head, Function& f) {
    announce<member>(head, f, 0, true);
  }
  /// The same for a loop, f(loop_share&), in so many parts a share. Sleepers are woken now, or by wake(), or not at
  /// all: a loop needs nobody.
  void announce_loop(const region_head& head, const job& what, std::uint32_t parts, bool wakes) {
    const announcement now = begin(head, parts);
    if (lines_.size() == 1) {
      lines_.beside(0).what = what;
      publish(0, head, now, wakes);
    } else {
      publish_lines(0, head, what, now, wakes);
    }
  }
  /// Wakes the members that hear of regions of this size.
  LOCKSTEP_OUT_OF_LINE void wake(std::size_t size);
  /// Whether one of them may sleep.
  LOCKSTEP_OUT_OF_LINE bool has_sleepers(std::size_t size) const noexcept;

  /// A worker waits for the next region that it is needed for: a `run`, or a loop in which it has claimed a part
  /// of its share. False once closed.
  LOCKSTEP_OUT_OF_LINE bool next(std::size_t rank, order& out);

  /// Claims the next part of a share in the loop that runs, if there is one. By any thread of the team. Where shares
  /// have one part, the caller runs its own, and nobody claims that.
  LOCKSTEP_OUT_OF_LINE bool claim(std::size_t rank, order& out);
  /// A claimed part was run. True if the caller must now complete the share, and report it.
  bool finish_part(std::size_t rank, const order& of) { return shares_.finish(rank, of.announced); }

  /// A leader tells those it leads; nothing for the others. Before the first part of its own.
  LOCKSTEP_OUT_OF_LINE void relay(std::size_t rank, const order& from, bool wakes);

  /// Waits for the reports of all to whom this member has announced the region, as far as the region needs them.
  LOCKSTEP_OUT_OF_LINE void collect(std::size_t rank, announcement of);
  /// The same for at most `polls` looks: whether all have come.
  LOCKSTEP_OUT_OF_LINE bool collect_shortly(std::size_t rank, announcement of, unsigned polls);
  /// Those to whom `rank` has announced the region, as far as the region needs them, in ascending order; of a loop
  /// whose shares have several parts, the caller as well. Not below members() if there is none. They are gone through by
  ///     for (std::size_t at = first_told(rank, of); at < members(); at = next_told(rank, of, at))
  std::size_t first_told(std::size_t rank, announcement of) const noexcept {
    return rank == 0 && of.parts() > 1 ? 0 : next_told(rank, of, rank);
  }
  std::size_t next_told(std::size_t rank, announcement of, std::size_t after) const noexcept {
    const std::size_t next = after + 1;
    if (next >= members()) return next;
    return how_ == way::direct && rank == 0 && next < of.size() ? next : find_told(rank, of, after);
  }
  std::size_t members() const noexcept { return tree_.members(); }

  /// By a member that takes part: whether a share was reported.
  bool has_reported(std::size_t rank, announcement of) const noexcept {
    return is_phase{of.phase()}(reports_[rank].value());
  }
  /// For the caller, which does not look at a line that it has just published.
  announcement current() const noexcept { return announcement(caller_[0].value.announced); }

  /// A worker, or the member that has taken its share, is done with the region.
  void report(std::size_t rank, announcement of) { reports_[rank].publish(of.phase()); }

  /// Travels with a report: 16 bytes for the member that makes it, before it, and for the caller after it.
  cell& beside_report(std::size_t rank) noexcept { return reports_.beside(rank); }
  /// When a member last came out of a sleep to a region.
  std::uint64_t last_coming(std::size_t rank) const noexcept { return shares_.last_coming(rank); }

  /// Lets all workers go: next() returns false.
  LOCKSTEP_COLD void close();

  /// For tests: worker `rank` begins as if its last regions had come after gaps of so many nanoseconds.
  void expect(std::size_t rank, std::uint64_t gap) noexcept {
    histories_[rank].value.regions.anticipating.expect(gap);
  }

  bool is_closed() const noexcept {
    return closed_.load(memory_order_acquire) != 0;  // 3
  }

  /// As new. While no worker lives: before they are started, or where a fork() has left them behind. There the
  /// caller may be in a share: it finds that all shares have been claimed and reported.
  LOCKSTEP_COLD void reset(std::uint32_t first_phase = 0) noexcept;

 private:
  /// A member's own.
  struct private_state {
    region_watch regions = {};
    stacked_regions stacked = {};
    wait_history reports = {};
  };

  /// Of the caller of regions. More bits than a line has: phases come again there, here they do not.
  struct caller_state {
    std::uint64_t phase = 0;  ///< the last one announced
    std::uint64_t renewed = 0;
    std::uint64_t announced = 0;
  };

  struct is_news {
    std::uint64_t seen;
    bool operator()(std::uint64_t word) const noexcept { return word != seen; }
  };
  struct is_phase {
    std::uint32_t phase;
    bool operator()(std::uint32_t reported) const noexcept { return reported == phase; }
  };

  /// What a worker waits for: news on its line, or the end.
  struct watched_line : awaited_word<std::uint64_t, is_news, stops_when_set, whereabouts> {
    using awaited = awaited_word<std::uint64_t, is_news, stops_when_set, whereabouts>;

    watched_line(const awaited& what, bool sleeps_alone) noexcept
        : awaited(what), is_alone(sleeps_alone) {}

    const bool is_alone;  ///< nobody else watches this line
    bool has_slept = false;

    void sleep(deadline until) {
      has_slept = true;
      awaited::sleep(until);
      if (!until.is_never() && is_alone) awaited::withdraw();
    }
  };

  void read_line(std::size_t line, order& out) noexcept {
    out.line = &lines_.beside(line);
    out.announced = announcement(lines_[line].value());
  }
  /// Looks at the announcement on a line, and claims a part of a share if it is a loop that has one left for it.
  LOCKSTEP_OUT_OF_LINE bool claim_on(std::size_t line, std::size_t rank, order& out);

  template <class Argument, class Function>
  void announce(const region_head& head, Function& f, std::uint32_t parts, bool wakes) {
    const announcement now = begin(head, parts);
    if (lines_.size() == 1) {  // written in place
      lines_.beside(0).what.template assign<Argument>(f);
      publish(0, head, now, wakes);
      return;
    }
    job what;
    what.template assign<Argument>(f);
    publish_lines(0, head, what, now, wakes);
  }
  announcement begin(const region_head& head, std::uint32_t parts) {
    caller_state& own = caller_[0].value;
    if (own.phase - own.renewed > most_age_) renew();
    own.phase = (own.phase | 1u) + 1u + (parts > 0 ? 1u : 0u);
    const announcement now(static_cast<std::uint32_t>(own.phase), head.size, parts);
    own.announced = now.word();
    return now;
  }
  /// The lines that are published by this member.
  LOCKSTEP_ENTRY void publish_lines(std::size_t rank, const region_head& head, const job& what,
                                    announcement as, bool wakes);

  /// next_told() where it is not simply the next rank.
  LOCKSTEP_ENTRY std::size_t find_told(std::size_t rank, announcement of,
                                       std::size_t after) const noexcept;
  /// All lines are gone through by `for (fork_tree::line at{0, 0, 1}; at.index < lines_.size(); at = line_after(at))`.
  fork_tree::line line_after(const fork_tree::line& at) const noexcept {
    const std::size_t leader = at.leader + at.step * tree_.width();
    if (leader < members()) return {at.index + 1, leader, at.step};
    return {at.index + 1, 0, at.step * tree_.width()};
  }

  /// A loop in which nothing is done, of which all hear, and whose shares are claimed here.
  LOCKSTEP_COLD void renew();
  LOCKSTEP_COLD void renew_below(std::size_t rank);

  void publish(std::size_t line, const region_head& head, announcement as, bool wakes) {
    announced_region& beside = lines_.beside(line);
    beside.region = head.region;
    beside.barrier_phase = head.phase;
    lines_[line].publish_quietly(as.word());
    if (wakes) lines_[line].wake();
  }
  bool has_one_worker() const noexcept { return members() == 2; }

  line_gap before_;
  const fork_tree tree_;
  published_words<std::uint64_t, announced_region> lines_;
  published_words<std::uint32_t, cell> reports_;
  share_board shares_;
  aligned_array<padded<private_state>> histories_;
  aligned_array<padded<caller_state>> caller_;
  parting_board parting_;
  wait_word closed_{0};
  const way how_;
  const std::uint64_t most_age_;
  const bool anticipates_;
  line_gap after_;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_FORK_BOARD_HPP

// lockstep/detail/team/loop_crew.hpp -- how the threads of a team run the parts of a loop (layer: team)
//
// In a region that is one loop (team_loops.hpp) each member has a share, and a share has one or several parts. A thread
// that comes claims parts (loop_claims.hpp): first of its own share, then of shares that are late. The loop's function
// sees a part as a loop_share. A part knows which share it is of, and nothing of the thread that runs it. For
// team_core.hpp.
//
//   CREW-1  A member runs its own share as long as it is in time, so that data stay where they are.
//   CREW-2  When its own share is done, the caller takes parts of every share that has some left: after a moment, where
//           members may be just coming. It waits only for threads that have begun a part.
//   CREW-3  Workers take parts of others where shares have several, or members have to share CPUs.
//   CREW-4  In a loop that was stopped, parts are claimed and not run.
//   CREW-5  In a child process, after a fork() in a part, nothing of the loop is left to do for the caller; another
//           thread cannot go on there.
//
// Memory order (# marks the line)
//   #  access             order    pairs  why it suffices
//   1  tickets.fetch_add  relaxed  -      hands out numbers
//   2  tickets.store      relaxed  -      between loops; the announcement orders it
#ifndef LOCKSTEP_DETAIL_TEAM_LOOP_CREW_HPP
#define LOCKSTEP_DETAIL_TEAM_LOOP_CREW_HPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// Room for small values of parts. Whoever calls a loop has it until the loop is over.
using loop_cells = detail::aligned_array<cell>;

/// What the shares of a loop have in common.
struct loop_common {
  stop_source& stop;
  detail::atomic<std::size_t>& tickets;  ///< 0 when the loop begins
  std::uint32_t region;
  std::uint32_t shares;
  std::uint32_t parts;  ///< of each share
};

class loop_share {
 public:
  loop_share(const loop_common& of, std::size_t rank, std::uint32_t part, cell* beside) noexcept
      : of_(of), rank_(rank), part_(part), beside_(beside) {}

  /// The rank of the member whose share it is.
  std::size_t rank() const noexcept { return rank_; }
  /// How many shares there are.
  std::size_t size() const noexcept { return of_.shares; }
  bool is_alone() const noexcept { return of_.shares == 1; }
  std::uint32_t parts() const noexcept { return of_.parts; }
  std::uint32_t region() const noexcept { return of_.region; }
  const stop_source& stop() const noexcept { return of_.stop; }
  bool may_stop() const noexcept { return of_.stop.requested_relaxed(of_.region); }
  bool is_stopped() const noexcept { return of_.stop.requested(of_.region); }

  /// This part of a range.
  index_range block_of(index_range range) const noexcept {
    const index_range mine = static_block(range.first, range.last, rank_, of_.shares);
    return of_.parts == 1 ? mine : static_block(mine.first, mine.last, part_, of_.parts);
  }
  /// The next number from a counter that all shares have in common: 0, 1, ...
  std::size_t take() const noexcept {
    return of_.tickets.fetch_add(1, detail::memory_order_relaxed);  // 1
  }
  /// Travels with the report of this share, if it has one part; else null.
  cell* beside_report() const noexcept { return beside_; }

 private:
  const loop_common& of_;
  std::size_t rank_;
  std::uint32_t part_;
  cell* beside_;
};

/// What travelled with the reports of a loop, for its caller.
class loop_values {
 public:
  explicit loop_values(fork_board& of) noexcept : of_(of) {}
  cell& operator()(std::size_t rank) const noexcept { return of_.beside_report(rank); }

 private:
  fork_board& of_;
};

/// What the caller of a loop asks for.
struct loop_request {
  std::size_t iterations;
  const void* place;  ///< a number for the closure type
  std::size_t grain;  ///< the fewest iterations of a share; 0: to be learned
  bool can_split;     ///< shares may have several parts
  bool is_fixed;      ///< a share for every member, whatever was learned
};

/// How a loop is to be run: by loop_steering.hpp.
struct loop_plan {
  std::uint32_t shares = 1;  ///< 1: by the caller alone
  std::uint32_t parts = 1;   ///< of each share
  bool wakes = true;      ///< sleepers at once; else only when the loop has turned out to be long
  bool is_timed = false;  ///< the caller measures it
  double missed = 0;      ///< the time that members that sleep would take off the caller
};

/// Shares that are no loop's: by how many nanoseconds members that come shorten them; and what became of them.
struct shares_request {
  std::uint32_t shares;
  double gain;
};
struct shares_outcome {
  bool is_complete;  ///< not stopped
  bool all_came;     ///< each share was begun by its member
};

/// What the caller of a loop does before it and, unless it was stopped, after it. Null functions: nothing.
struct loop_ends {
  void* data;
  void (*prepare)(void* data, const loop_plan& plan, loop_cells& cells);
  void (*finish)(void* data, const loop_plan& plan, const loop_values& values);
};

/// Is told of each part that the caller of a loop has run: of its own share, or of another.
class part_listener {
 public:
  virtual void after_part(bool is_own) = 0;

 protected:
  ~part_listener() = default;
};

class loop_crew {
 public:
  loop_crew(fork_board& forks, stop_source& stop, first_error& errors, bool is_crowded)
      : forks_(forks), stop_(stop), errors_(errors), is_crowded_(is_crowded) {}
  loop_crew(const loop_crew&) = delete;
  loop_crew& operator=(const loop_crew&) = delete;

  /// The caller runs a loop that it has announced. Every share is done when it returns. True if every other member came
  /// in time. `listener` may be null.
  LOCKSTEP_NOINLINE bool lead(const region_head& head, job& what, bool is_woken,
                              part_listener* listener) {
    const announcement at = forks_.current();
    if (at.parts() == 1) {
      // Not through the line just published: it is on its way to the others.
      run_part(common_of(head, at), 0, 0, what);
      if (listener != nullptr) listener->after_part(true);
      const bool has_patience = !is_crowded_ && !is_woken && patience_.asks();
      if (has_patience && forks_.collect_shortly(0, forks_.current(), polls_for_late_members)) {
        patience_.paid();
        return true;
      }
    }
    const bool took = take_told(0, 0, at, listener);
    if (took) {
      patience_.failed();
    } else {
      patience_.paid();
    }
    forks_.collect(0, forks_.current());
    return !took;
  }
  /// The caller runs it as the only one.
  void run_alone(const region_head& head, job& what) {
    run_part(common_of(head, announcement(1, 1, 1)), 0, 0, what);
  }

  /// A worker runs a part that it has claimed, and what it can claim after it.
  void serve(std::size_t self, order claimed) {
    const announcement at = claimed.announced;
    play(self, self, claimed, true);
    if (at.parts() == 1 && !is_crowded_) return;
    while (forks_.claim(self, claimed)) play(self, self, claimed, true);
    const std::size_t looks = is_crowded_ || at.size() <= 9 ? at.size() - 1 : 8;
    std::size_t other = self;
    for (std::size_t i = 0; i < looks; ++i) {
      if (++other >= at.size()) other = at.parts() > 1 ? 0 : 1;
      if (other == self) return;
      while (forks_.claim(other, claimed)) play(self, other, claimed, true);
    }
  }

  /// Before a loop with tickets.
  void reset_tickets() noexcept {
    tickets_[0].value.store(0, detail::memory_order_relaxed);  // 2
  }
  /// In a child process, inside a region; and when that ends.
  void be_alone(bool alone) noexcept { is_alone_ = alone; }
  bool is_alone() const noexcept { return is_alone_; }

 private:
  loop_common common_of(const region_head& head, announcement at) noexcept {
    return {stop_, tickets_[0].value, head.region, head.size, at.parts()};
  }

  /// `self` runs a claimed part of the share of `rank`.
  LOCKSTEP_NOINLINE void play(std::size_t self, std::size_t rank, const order& claimed,
                              bool wakes) {
    if (claimed.part == 0 && rank != 0) forks_.relay(rank, claimed, wakes);
    run_part(common_of(claimed.head(), claimed.announced), rank, claimed.part, claimed.line->what);
    if (is_alone_) {
      if (self != 0) end_of_lone_child();
      return;
    }
    if (!forks_.finish_part(rank, claimed)) return;
    if (rank != 0 && forks_.is_leader(rank)) {
      take_told(self, rank, claimed.announced, nullptr);
      if (is_alone_) return;
      forks_.collect(rank, claimed.announced);
    }
    forks_.report(rank, claimed.announced);
  }

  /// Claims and runs what is left of the shares of the members that `rank` has told of the loop. True if there was
  /// something left in another share than that of `self`.
  LOCKSTEP_NOINLINE bool take_told(std::size_t self, std::size_t rank, announcement at,
                                   part_listener* listener) {
    bool took = false;
    for (std::size_t watcher = forks_.first_told(rank, at); watcher < forks_.members();
         watcher = forks_.next_told(rank, at, watcher)) {
      if (take_share(self, watcher, at, listener)) took |= watcher != self;
    }
    return took;
  }
  /// The same for one share.
  LOCKSTEP_NOINLINE bool take_share(std::size_t self, std::size_t watcher, announcement at,
                                    part_listener* listener) {
    bool took = false;
    order claimed;
    while (!is_alone_ && !forks_.has_reported(watcher, at) && forks_.claim(watcher, claimed)) {
      play(self, watcher, claimed, false);
      took = true;
      if (listener != nullptr) listener->after_part(watcher == self);
    }
    return took;
  }

  LOCKSTEP_NOINLINE void run_part(const loop_common& common, std::size_t rank, std::uint32_t part,
                                  job& what) {
    if (common.shares > 1 && stop_.requested_relaxed(common.region)) return;
    loop_share me(common, rank, part, common.parts == 1 ? &forks_.beside_report(rank) : nullptr);
    call_guarded(stop_, common.region, errors_, first_error::position_of(rank, part), what, me);
  }

  fork_board& forks_;
  stop_source& stop_;
  first_error& errors_;
  const bool is_crowded_;
  bool is_alone_ = false;
  detail::aligned_array<detail::padded<detail::atomic<std::size_t>>> tickets_{1};
  detail::line_gap callers_apart_;
  stage_trust patience_;  // of the caller
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_LOOP_CREW_HPP

// lockstep/team_options.hpp -- what a program says about a team that it makes: a value (layer: team)
//
//   lockstep::team team(lockstep::team_options().members(4).bind(lockstep::binding::close()));
//
// What is not said here is taken from the environment (environment.hpp), and what is not said there either has its
// default; see resolve() in placement.hpp.
#ifndef LOCKSTEP_TEAM_OPTIONS_HPP
#define LOCKSTEP_TEAM_OPTIONS_HPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {

/// Where a team's members shall run: a value.
///   binding()          nothing said: the environment decides, else none
///   binding::none()    members run where the system puts them
///   binding::close()   one member on each core, on neighbouring cores, fast ones first; then the cores'
///                      siblings. For members that share data
///   binding::spread()  as close(), but as far apart as it goes. For members that need memory bandwidth
///   binding::cpus({})  rank i on the i-th of these CPUs
/// In all of them the CPUs are taken in turns when there are more members than CPUs.
class binding {
 public:
  binding() = default;
  static binding none() { return binding(kind::none); }
  static binding close() { return binding(kind::close); }
  static binding spread() { return binding(kind::spread); }
  /// CPUs by the system's numbers, in the order of ranks; one may stand there several times. An empty
  /// list is none().
  static binding cpus(std::vector<unsigned> list) {
    binding result(list.empty() ? kind::none : kind::list);
    result.list_ = std::move(list);
    return result;
  }

  bool is_unset() const noexcept { return kind_ == kind::unset; }
  bool is_none() const noexcept { return kind_ == kind::none; }
  bool is_close() const noexcept { return kind_ == kind::close; }
  bool is_spread() const noexcept { return kind_ == kind::spread; }
  bool is_list() const noexcept { return kind_ == kind::list; }
  /// What cpus() was given; empty for all others.
  const std::vector<unsigned>& list() const noexcept { return list_; }

  friend bool operator==(const binding& a, const binding& b) {
    return a.kind_ == b.kind_ && a.list_ == b.list_;
  }
  friend bool operator!=(const binding& a, const binding& b) { return !(a == b); }

 private:
  enum class kind : unsigned char { unset, none, close, spread, list };

  explicit binding(kind which) : kind_(which) {}

  kind kind_ = kind::unset;
  std::vector<unsigned> list_;
};

class team_options {
 public:
  /// What threads call with their rank: made from any function that can be copied; a null pointer or an empty
  /// std::function is none. As std::function<void(std::size_t)>, without the rest of <functional>.
  class hook {
   public:
    hook() noexcept = default;
    hook(std::nullptr_t) noexcept {}
    template <class Function,
              class = typename std::enable_if<!std::is_same<Function, hook>::value>::type>
    hook(Function f) {
      if (!is_none(f, is_pointer_like<Function>())) held_ = new held<Function>(std::move(f));
    }
    hook(const hook& other) : held_(other.held_ != nullptr ? other.held_->copy() : nullptr) {}
    hook(hook&& other) noexcept : held_(other.held_) { other.held_ = nullptr; }
    hook& operator=(hook other) noexcept {
      std::swap(held_, other.held_);
      return *this;
    }
    ~hook() { delete held_; }

    explicit operator bool() const noexcept { return held_ != nullptr; }
    void operator()(std::size_t rank) const { held_->call(rank); }

   private:
    struct any {
      virtual ~any() = default;
      virtual any* copy() const = 0;
      virtual void call(std::size_t rank) = 0;
    };
    template <class Function>
    struct held final : any {
      explicit held(Function f) : function(std::move(f)) {}
      any* copy() const override { return new held(function); }
      void call(std::size_t rank) override { function(rank); }

      Function function;
    };
    /// What can be asked whether it is null: pointers, and classes that are no plain functions themselves.
    template <class Function>
    using is_pointer_like =
        std::integral_constant<bool,
                               std::is_pointer<Function>::value ||
                                   (std::is_constructible<bool, const Function&>::value &&
                                    !std::is_convertible<Function, void (*)(std::size_t)>::value)>;
    template <class Function>
    static bool is_none(const Function& f, std::true_type) {
      return !static_cast<bool>(f);
    }
    template <class Function>
    static bool is_none(const Function&, std::false_type) {
      return false;
    }

    any* held_ = nullptr;
  };

  /// Members including the caller, 1 to 65536; 0: not said, one for each usable CPU.
  team_options& members(std::size_t count) {
    members_ = count;
    return *this;
  }
  /// How members wait. wait_policy() said here beats the environment as any other.
  team_options& policy(wait_policy how) {
    policy_ = how;
    has_policy_ = true;
    return *this;
  }
  /// Whether workers learn when the next region is due, and poll shortly before it: for a quarter of the time between
  /// regions at most, and 4 ms after the last. True by default; counts for wait_policy() in teams that are
  /// not crowded.
  team_options& anticipate(bool yes) {
    anticipate_ = yes;
    has_anticipate_ = true;
    return *this;
  }
  /// Whether parallel_for and its like learn what their iterations cost, and run on as many members as pay
  /// (team_loops.hpp). True by default; false: always on all members that have a CPU.
  team_options& learn(bool yes) {
    learn_ = yes;
    has_learn_ = true;
    return *this;
  }
  /// Whether a worker that shares its CPU with a member that it keeps waiting for moves to another CPU, on which its
  /// affinity lets it run. True by default; counts as anticipate() does, where members are not bound.
  team_options& find_cpu(bool yes) {
    find_cpu_ = yes;
    has_find_cpu_ = true;
    return *this;
  }
  /// Where members run; binding(): not said.
  team_options& bind(binding where) {
    bind_ = std::move(where);
    return *this;
  }
  /// What debuggers and messages call the team; the rank is added to the names of its threads.
  team_options& name(std::string text) {
    name_ = std::move(text);
    return *this;
  }
  /// Called on each thread that the team starts, with its rank, before its first region: for thread
  /// local state. Not for rank 0, whose thread is the caller's.
  team_options& on_start(hook function) {
    on_start_ = std::move(function);
    return *this;
  }
  /// As on_start(), after the last region.
  team_options& on_exit(hook function) {
    on_exit_ = std::move(function);
    return *this;
  }

  std::size_t members() const noexcept { return members_; }
  bool has_policy() const noexcept { return has_policy_; }
  wait_policy policy() const noexcept { return policy_; }
  bool has_anticipate() const noexcept { return has_anticipate_; }
  bool anticipate() const noexcept { return anticipate_; }
  bool has_learn() const noexcept { return has_learn_; }
  bool learn() const noexcept { return learn_; }
  bool has_find_cpu() const noexcept { return has_find_cpu_; }
  bool find_cpu() const noexcept { return find_cpu_; }
  const binding& bind() const noexcept { return bind_; }
  const std::string& name() const noexcept { return name_; }
  const hook& on_start() const noexcept { return on_start_; }
  const hook& on_exit() const noexcept { return on_exit_; }

 private:
  std::size_t members_ = 0;
  wait_policy policy_;
  bool has_policy_ = false;
  bool anticipate_ = true;
  bool has_anticipate_ = false;
  bool learn_ = true;
  bool has_learn_ = false;
  bool find_cpu_ = true;
  bool has_find_cpu_ = false;
  binding bind_;
  std::string name_ = "lockstep";
  hook on_start_;
  hook on_exit_;
};

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_TEAM_OPTIONS_HPP

// lockstep/detail/team/environment.hpp -- what the user asks of all teams by environment variables (layer: team)
//
//   LOCKSTEP_NUM_THREADS   1 to 65536: members of a team whose program names no number
//   LOCKSTEP_WAIT_POLICY   default | spin | block | hybrid:TIME, TIME as 500ns, 20us, 1ms
//   LOCKSTEP_PROC_BIND     none | close | spread | a list of CPUs: 0,2,4-7,8-14:2
//   LOCKSTEP_ANTICIPATE    0 | 1 | false | true: whether workers learn when the next region is due
//   LOCKSTEP_LEARN         0 | 1 | false | true: whether loops learn on how many members they pay
//   LOCKSTEP_FIND_CPU      0 | 1 | false | true: whether workers leave a CPU that they share with a member they wait for
//   LOCKSTEP_DISPLAY_ENV   0 | 1 | false | true: print what was decided for the first team, and why
//
// Capital or small letters; blanks around are allowed; an empty value is as none. Of any other the user
// is told once, on stderr, with the variable's name, and it is ignored. What the program says beats the
// environment.
// Reading is pure but for of_process(): it is given the function that looks a variable up.
#ifndef LOCKSTEP_DETAIL_TEAM_ENVIRONMENT_HPP
#define LOCKSTEP_DETAIL_TEAM_ENVIRONMENT_HPP

#if LOCKSTEP_HAS_BODIES
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// A text in quotes, fit for one line of a message: cut, and without control characters.
struct quoted_text {
  static constexpr std::size_t longest = 60;
  char text[longest + 6];

  /// Nothing, not even quotes.
  quoted_text() noexcept { text[0] = 0; }
  LOCKSTEP_COLD explicit quoted_text(const char* of) noexcept;
};

namespace environment_text {

// Each parse_ function takes a word in small letters; it returns false, and leaves `result` as it was, if that is
// no value of its kind.

LOCKSTEP_COLD bool parse_members(const char* word, std::size_t& result) noexcept;

/// The time is at most wait_policy::longest_spin().
LOCKSTEP_COLD bool parse_policy(const char* word, wait_policy& result);

LOCKSTEP_COLD bool parse_binding(const char* word, binding& result);

LOCKSTEP_COLD bool parse_switch(const char* word, bool& result) noexcept;

/// The policy as LOCKSTEP_WAIT_POLICY would name it.
LOCKSTEP_COLD void append_policy(std::string& text, wait_policy policy);

/// The binding as LOCKSTEP_PROC_BIND would name it; "none" if unset.
LOCKSTEP_COLD void append_binding(std::string& text, const binding& where);

}  // namespace environment_text

/// One variable as it was found.
struct environment_entry {
  const char* name;
  const char* expected;  ///< what a message says that it must be
  bool is_set;           ///< to a value that counts
  quoted_text given;     ///< nothing if the variable does not exist or is blank

  environment_entry(const char* its_name, const char* it_must_be) noexcept
      : name(its_name), expected(it_must_be), is_set(false) {}

  bool is_ignored() const noexcept { return given.text[0] != 0 && !is_set; }
};
template <class Value>
struct environment_variable : environment_entry {
  Value value;  ///< as it is by default unless is_set

  environment_variable(const char* its_name, const char* it_must_be, Value by_default)
      : environment_entry(its_name, it_must_be), value(std::move(by_default)) {}
};

struct environment {
  environment_variable<std::size_t> members;
  environment_variable<wait_policy> policy;
  environment_variable<binding> bind;
  environment_variable<bool> anticipate, learn, find_cpu, display;

  /// look_up(name) returns the value or null, as std::getenv does.
  template <class Lookup>
  static environment read(const Lookup& look_up) {
    return environment([](const void* with,
                          const char* name) { return (*static_cast<const Lookup*>(with))(name); },
                       &look_up);
  }

  /// A line for each variable, in a fixed order: `before`, "NAME='value'", and why it is ignored if it is; or "NAME not
  /// set". If wanted, only for those that are ignored, which the user has to be told.
  LOCKSTEP_COLD void describe(std::string& text, const char* before, bool only_ignored) const;

  /// The environment as it was when the process first asked, which is when it hears the complaints.
  LOCKSTEP_COLD static const environment& of_process();

 private:
  using lookup = const char*(const void* with, const char* name);
  LOCKSTEP_COLD environment(lookup* look_up, const void* with);
  LOCKSTEP_COLD void complain() const;
};

#if LOCKSTEP_HAS_BODIES

LOCKSTEP_COLD quoted_text::quoted_text(const char* of) noexcept {
  char* to = text;
  *to++ = '\'';
  for (; *of != 0 && to <= text + longest; ++of) {
    const bool is_control = static_cast<unsigned char>(*of) < 0x20 || *of == 0x7f;
    *to++ = is_control ? '?' : *of;
  }
  std::strcpy(to, *of != 0 ? "...'" : "'");
}

namespace environment_text {

LOCKSTEP_COLD bool parse_members(const char* word, std::size_t& result) noexcept {
  unsigned long long number = 0;
  if (!read_number(word, max_participants, number) || *word != 0 || number == 0) return false;
  result = static_cast<std::size_t>(number);
  return true;
}

LOCKSTEP_COLD bool parse_policy(const char* word, wait_policy& result) {
  const unsigned long long most =
      static_cast<unsigned long long>(wait_policy::longest_spin().count());
  unsigned long long time = 0;
  if (std::strcmp(word, "default") == 0) {
    result = wait_policy();
  } else if (std::strcmp(word, "spin") == 0) {
    result = wait_policy::spin();
  } else if (std::strcmp(word, "block") == 0) {
    result = wait_policy::block();
  } else if (std::strncmp(word, "hybrid:", 7) == 0 && read_number(word += 7, most, time)) {
    const unsigned long long scale = std::strcmp(word, "ns") == 0   ? 1
                                     : std::strcmp(word, "us") == 0 ? 1000
                                     : std::strcmp(word, "ms") == 0 ? 1000000
                                                                    : 0;
    if (scale == 0 || time * scale > most) return false;
    result = wait_policy::hybrid(
        std::chrono::nanoseconds(static_cast<std::chrono::nanoseconds::rep>(time * scale)));
  } else {
    return false;
  }
  return true;
}

LOCKSTEP_COLD bool parse_binding(const char* word, binding& result) {
  std::vector<unsigned> cpus;
  if (std::strcmp(word, "none") == 0) {
    result = binding::none();
  } else if (std::strcmp(word, "close") == 0) {
    result = binding::close();
  } else if (std::strcmp(word, "spread") == 0) {
    result = binding::spread();
  } else if (parse_cpu_list(word, cpus)) {
    result = binding::cpus(std::move(cpus));
  } else {
    return false;
  }
  return true;
}

LOCKSTEP_COLD bool parse_switch(const char* word, bool& result) noexcept {
  const bool on = std::strcmp(word, "1") == 0 || std::strcmp(word, "true") == 0;
  if (!on && std::strcmp(word, "0") != 0 && std::strcmp(word, "false") != 0) return false;
  result = on;
  return true;
}

LOCKSTEP_COLD void append_policy(std::string& text, wait_policy policy) {
  if (policy.is_adaptive() || policy.is_spin() || policy.is_block()) {
    text.append(policy.is_adaptive() ? "default" : policy.is_spin() ? "spin" : "block");
    return;
  }
  const long long time = policy.spin_time().count();
  const long long scale = time % 1000 != 0 ? 1 : time % 1000000 != 0 ? 1000 : 1000000;
  append(text, "hybrid:%lld%s", time / scale, scale == 1 ? "ns" : scale == 1000 ? "us" : "ms");
}

LOCKSTEP_COLD void append_binding(std::string& text, const binding& where) {
  append_cpu_list(text, where.list());
  if (!where.is_list()) {
    text.append(where.is_close() ? "close" : where.is_spread() ? "spread" : "none");
  }
}

}  // namespace environment_text

/// The value of that variable, without the blanks around it, in small letters of ASCII whatever the locale. Keeps what
/// a message shows of it.
LOCKSTEP_COLD const char* plain_word(const char* value, environment_entry& entry,
                                     std::string& word) {
  const char* const text = skip_blanks(value != nullptr ? value : "");
  std::size_t size = std::strlen(text);
  if (size > 0) entry.given = quoted_text(value);
  while (size > 0 && std::strchr(" \t\r\n\v\f", text[size - 1]) != nullptr) --size;
  word.assign(text, size);
  for (std::size_t i = 0; i < size; ++i) {
    if (word[i] >= 'A' && word[i] <= 'Z') word[i] = static_cast<char>(word[i] - 'A' + 'a');
  }
  return word.c_str();
}

LOCKSTEP_COLD environment::environment(lookup* look_up, const void* with)
    : members("LOCKSTEP_NUM_THREADS", "a number from 1 to 65536", 0),
      policy("LOCKSTEP_WAIT_POLICY",
             "default, spin, block or hybrid:TIME, TIME as 500ns, 20us or 1ms, at most 536ms",
             wait_policy()),
      bind("LOCKSTEP_PROC_BIND",
           "none, close, spread or a list of CPUs as 0,2,4-7,8-14:2, below 65536", binding()),
      anticipate("LOCKSTEP_ANTICIPATE", "0, 1, false or true", true),
      learn("LOCKSTEP_LEARN", anticipate.expected, true),
      find_cpu("LOCKSTEP_FIND_CPU", anticipate.expected, true),
      display("LOCKSTEP_DISPLAY_ENV", anticipate.expected, false) {
  using namespace environment_text;
  std::string word;
  const auto word_of = [&](environment_entry& entry) {
    return plain_word(look_up(with, entry.name), entry, word);
  };
  members.is_set = parse_members(word_of(members), members.value);
  policy.is_set = parse_policy(word_of(policy), policy.value);
  bind.is_set = parse_binding(word_of(bind), bind.value);
  environment_variable<bool>* const switches[] = {&anticipate, &learn, &find_cpu, &display};
  for (environment_variable<bool>* each : switches) {
    each->is_set = parse_switch(word_of(*each), each->value);
  }
}

LOCKSTEP_COLD void environment::describe(std::string& text, const char* before,
                                         bool only_ignored) const {
  const environment_entry* const all[] = {&members, &policy,   &bind,   &anticipate,
                                          &learn,   &find_cpu, &display};
  for (const environment_entry* each : all) {
    if (only_ignored && !each->is_ignored()) continue;
    append(text, "%s%s%s%s", before, each->name, each->given.text[0] != 0 ? "=" : " not set",
           each->given.text);
    if (each->is_ignored()) append(text, " is ignored: must be %s", each->expected);
    text.append("\n");
  }
}

LOCKSTEP_COLD const environment& environment::of_process() {
  static made_once<environment> known;
  return known.get([] {
    environment result = read([](const char* name) -> const char* { return std::getenv(name); });
    result.complain();
    return result;
  });
}

LOCKSTEP_COLD void environment::complain() const {
  std::string lines;
  describe(lines, "lockstep: ", true);
  if (lines.empty() || !is_first_to_print(message::environment)) return;
  std::fputs(lines.c_str(), stderr);
}

#endif

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_ENVIRONMENT_HPP

// lockstep/detail/team/placement.hpp -- how many members a team has, and on which CPUs: pure plans (layer: team)
//
// What the program says (team_options) beats the environment, the environment beats the default. Nothing
// here starts or binds a thread: resolve() says what the team has to do.
//
//   PLACEMENT-1  A core gets a second member when all cores have one, a CPU when all CPUs have one.
//   PLACEMENT-2  Fast cores get members before efficient ones, and those before any core's sibling.
//   PLACEMENT-3  close fills a package before the next, and numbers the ranks so that neighbours are close.
//       spread takes packages in turns, and in each the cores evenly; so neighbours are apart.
//   PLACEMENT-4  A list is taken as it is, but for CPUs that are not usable.
#ifndef LOCKSTEP_DETAIL_TEAM_PLACEMENT_HPP
#define LOCKSTEP_DETAIL_TEAM_PLACEMENT_HPP

#if LOCKSTEP_HAS_BODIES
#include <cstdio>
#include <cstdlib>
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// Who had the say.
enum class decided_by : unsigned char { nobody, environment, program };

/// A team as it is to be made.
struct resolved_team {
  std::size_t members = 1;  ///< 1 to 65536
  wait_policy policy;       ///< when_crowded(is_crowded) already
  bool is_crowded = false;  ///< more members than the CPUs that they may run on at once
  binding bind;             ///< never unset
  /// The CPU of each rank, `members` of them; empty: bind nobody. That of rank 0 is the caller's.
  std::vector<unsigned> cpu_of_rank;
  std::vector<unsigned> left_out;  ///< CPUs of a list that this process may not use
  std::string name;
  std::size_t can_run_at_once = 1;  ///< members, on the CPUs they may use
  bool learns = true;               ///< whether loops learn on how many members they pay
  decided_by learns_by = decided_by::nobody;
  bool anticipates = false;  ///< whether workers learn when the next region is due
  decided_by anticipates_by = decided_by::nobody;
  bool finds_cpu =
      false;  ///< whether workers leave a CPU that they share with a member they wait for
  decided_by finds_cpu_by = decided_by::nobody;
  decided_by members_by = decided_by::nobody;
  decided_by policy_by = decided_by::nobody;
  decided_by bind_by = decided_by::nobody;
};

namespace placement {

/// Appends `count` of the CPUs of one level, which are sorted by package.
LOCKSTEP_COLD void deal(const cpu_place* level, std::size_t size, std::size_t count,
                        std::vector<unsigned>& order);

/// Appends `count` of the CPUs, which are sorted by PLACEMENT-1 and PLACEMENT-2, in the order of ranks.
LOCKSTEP_COLD void spread(const cpu_topology& sorted, std::size_t count,
                          std::vector<unsigned>& order);

/// Parts a list into CPUs that are usable and others.
LOCKSTEP_COLD void part_by_use(const cpu_topology& usable, const std::vector<unsigned>& list,
                               std::vector<unsigned>& fitting, std::vector<unsigned>& left_out);

/// The CPU of each rank; empty if nobody is to be bound, or there is no usable CPU for it.
LOCKSTEP_COLD std::vector<unsigned> plan(const cpu_topology& usable, std::size_t members,
                                         const binding& where);

/// Who decides what both may say.
LOCKSTEP_COLD decided_by who(bool is_programs, bool is_environments) noexcept;

/// Where the members of a team run; unset if nobody has said it.
LOCKSTEP_COLD const binding& binding_of(const team_options& options,
                                        const environment& variables) noexcept;

}  // namespace placement

/// The team that `options` and the environment ask for, on a machine with that many CPUs usable at once
/// and that topology; `cpus` may be empty where nobody is to be bound. Pure. Fails if options.members()
/// is above 65536.
LOCKSTEP_COLD resolved_team resolve(const team_options& options, const environment& variables,
                                    std::size_t usable, const cpu_topology& cpus);

/// The same for this process and machine; looks at the machine's topology only where members are bound. Says once which
/// CPUs of LOCKSTEP_PROC_BIND are not usable.
LOCKSTEP_COLD resolved_team resolve(const team_options& options);

#if LOCKSTEP_HAS_BODIES

namespace placement {

/// Compares by the first of four numbers in which two places differ.
LOCKSTEP_COLD int compare_four(const unsigned* a, const unsigned* b) noexcept {
  int i = 0;
  while (i < 3 && a[i] == b[i]) ++i;
  return a[i] < b[i] ? -1 : a[i] > b[i] ? 1 : 0;
}
/// PLACEMENT-1, PLACEMENT-2: who gets a member first.
LOCKSTEP_COLD int compare_taken(const void* left, const void* right) noexcept {
  const cpu_place &a = *static_cast<const cpu_place*>(left),
                  &b = *static_cast<const cpu_place*>(right);
  const unsigned first[] = {a.sibling, static_cast<unsigned>(a.kind), a.package, a.core};
  const unsigned second[] = {b.sibling, static_cast<unsigned>(b.kind), b.package, b.core};
  return compare_four(first, second);
}
/// PLACEMENT-3: who has the lower rank.
LOCKSTEP_COLD int compare_ranked(const void* left, const void* right) noexcept {
  const cpu_place &a = *static_cast<const cpu_place*>(left),
                  &b = *static_cast<const cpu_place*>(right);
  const unsigned first[] = {a.package, static_cast<unsigned>(a.kind), a.core, a.sibling};
  const unsigned second[] = {b.package, static_cast<unsigned>(b.kind), b.core, b.sibling};
  return compare_four(first, second);
}

LOCKSTEP_COLD void deal(const cpu_place* level, std::size_t size, std::size_t count,
                        std::vector<unsigned>& order) {
  std::vector<unsigned> begins;  // of each package, and the end
  for (unsigned i = 0; i <= size; ++i) {
    if (i == 0 || i == size || level[i].package != level[i - 1].package) begins.push_back(i);
  }
  const std::size_t packages = begins.size() - 1;
  std::vector<unsigned> taken(packages);
  for (std::size_t rest = count; rest > 0;) {
    for (std::size_t i = 0; i < packages && rest > 0; ++i) {
      if (taken[i] == begins[i + 1] - begins[i]) continue;
      ++taken[i];
      --rest;
    }
  }
  const std::size_t end = order.size() + count;
  for (std::size_t turn = 0; order.size() < end; ++turn) {
    for (std::size_t i = 0; i < packages; ++i) {
      if (turn >= taken[i]) continue;
      const std::size_t all = begins[i + 1] - begins[i];
      const unsigned& cpu = level[begins[i] + turn * all / taken[i]].cpu;
      order.push_back(cpu);
    }
  }
}

LOCKSTEP_COLD void spread(const cpu_topology& sorted, std::size_t count,
                          std::vector<unsigned>& order) {
  for (std::size_t i = 0; order.size() < count;) {
    std::size_t end = i + 1;
    while (end < sorted.size() && sorted[end].sibling == sorted[i].sibling &&
           sorted[end].kind == sorted[i].kind) {
      ++end;
    }
    const std::size_t wanted = count - order.size();
    deal(&sorted[i], end - i, wanted < end - i ? wanted : end - i, order);
    i = end;
  }
}

LOCKSTEP_COLD void part_by_use(const cpu_topology& usable, const std::vector<unsigned>& list,
                               std::vector<unsigned>& fitting, std::vector<unsigned>& left_out) {
  std::vector<unsigned> known;
  for (const cpu_place& place : usable) known.push_back(place.cpu);
  sort_once(known);
  for (const unsigned& cpu : list) {
    (find_sorted(known, cpu) < known.size() ? fitting : left_out).push_back(cpu);
  }
}

LOCKSTEP_COLD std::vector<unsigned> plan(const cpu_topology& usable, std::size_t members,
                                         const binding& where) {
  std::vector<unsigned> order, left_out;
  if (where.is_list()) {
    part_by_use(usable, where.list(), order, left_out);
  } else if (!usable.empty() && (where.is_close() || where.is_spread())) {
    const std::size_t count = members < usable.size() ? members : usable.size();
    cpu_topology sorted(usable);
    std::qsort(sorted.data(), sorted.size(), sizeof(cpu_place), compare_taken);
    if (where.is_spread()) {
      spread(sorted, count, order);
    } else {
      std::qsort(sorted.data(), count, sizeof(cpu_place), compare_ranked);
      for (std::size_t i = 0; i < count; ++i) order.push_back(sorted[i].cpu);
    }
  }
  // Members beyond the CPUs begin anew.
  const std::size_t found = order.size();
  for (std::size_t rank = found; found > 0 && rank < members; ++rank) {
    const unsigned cpu = order[rank - found];
    order.push_back(cpu);
  }
  while (order.size() > members) order.pop_back();
  return order;
}

LOCKSTEP_COLD decided_by who(bool is_programs, bool is_environments) noexcept {
  return is_programs       ? decided_by::program
         : is_environments ? decided_by::environment
                           : decided_by::nobody;
}

LOCKSTEP_COLD const binding& binding_of(const team_options& options,
                                        const environment& variables) noexcept {
  return options.bind().is_unset() ? variables.bind.value : options.bind();
}

}  // namespace placement

LOCKSTEP_COLD resolved_team resolve(const team_options& options, const environment& variables,
                                    std::size_t usable, const cpu_topology& cpus) {
  using placement::who;
  resolved_team result;
  result.name = options.name();
  const binding& where = placement::binding_of(options, variables);
  result.bind = where.is_unset() ? binding::none() : where;
  result.bind_by = who(!options.bind().is_unset(), variables.bind.is_set);
  // The CPUs of a list that are usable, each once: at most one member for each by default.
  std::vector<unsigned> different;
  placement::part_by_use(cpus, where.list(), different, result.left_out);
  sort_once(different);
  const std::size_t most =
      different.empty() || usable < different.size() ? usable : different.size();

  result.members_by = who(options.members() != 0, variables.members.is_set);
  result.members = options.members() != 0     ? options.members()
                   : variables.members.is_set ? variables.members.value
                   : most < max_participants  ? most
                                              : max_participants;
  checked_count("lockstep::team", "members", result.members);

  result.cpu_of_rank = placement::plan(cpus, result.members, where);
  different = result.cpu_of_rank;
  sort_once(different);
  const std::size_t at_once =
      different.empty() || usable < different.size() ? usable : different.size();
  result.can_run_at_once = result.members < at_once ? result.members : at_once;
  result.is_crowded = result.members > result.can_run_at_once;

  result.policy_by = who(options.has_policy(), variables.policy.is_set);
  result.policy = options.has_policy() ? options.policy() : variables.policy.value;
  result.policy = result.policy.when_crowded(result.is_crowded);
  result.learns_by = who(options.has_learn(), variables.learn.is_set);
  result.learns = options.has_learn() ? options.learn() : variables.learn.value;
  const bool can_adapt = result.members > 1 && result.policy.is_adaptive() && !result.is_crowded;
  result.anticipates_by = who(options.has_anticipate(), variables.anticipate.is_set);
  result.anticipates =
      can_adapt && (options.has_anticipate() ? options.anticipate() : variables.anticipate.value);
  result.finds_cpu_by = who(options.has_find_cpu(), variables.find_cpu.is_set);
  result.finds_cpu = can_adapt && result.cpu_of_rank.empty() &&
                     (options.has_find_cpu() ? options.find_cpu() : variables.find_cpu.value);
  return result;
}

LOCKSTEP_COLD resolved_team resolve(const team_options& options) {
  const environment& variables = environment::of_process();
  const binding& where = placement::binding_of(options, variables);
  const bool binds = !where.is_unset() && !where.is_none();
  const cpu_topology none;
  resolved_team result =
      resolve(options, variables, usable_cpus(), binds ? usable_topology() : none);
  // Which CPUs of LOCKSTEP_PROC_BIND are not usable is said once.
  if (result.bind_by == decided_by::environment && !result.left_out.empty() &&
      is_first_to_print(message::unusable_cpus)) {
    std::string text;
    append_cpu_list(text, result.left_out);
    std::fprintf(stderr, "lockstep: %s=%s: this process may not use CPU %s\n", variables.bind.name,
                 variables.bind.given.text, text.c_str());
  }
  return result;
}

#endif

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_PLACEMENT_HPP

// lockstep/detail/team/loop_steering.hpp -- decides how a loop is run, and learns what loops cost (layer: team)
//
// loop_costs is pure: it makes a plan of what it has learned. loop_steering measures, and looks whether members sleep.
// For team_core.hpp: the caller that has the turn uses both, in one loop after another.
//
// A loop pays on several members if what they take off the caller is more than what it costs to have them. Both are
// learned: what an iteration costs at each place in the program (one closure type, in one team), what it costs to
// join members that are awake, and what it takes to wake them. Times are nanoseconds.
//
//   COST-1   A loop of an unknown place begins on all members that get an iteration each. It wakes nobody: the caller
//            measures its own parts, and wakes the others when what is left is worth it.
//   COST-2   A known loop that would not gain runs on the caller alone. One that would gain with members that are
//            awake, but not with a wake-up, is announced and wakes nobody: members that come by themselves join. The
//            plan says what the sleepers would have gained, so that the caller can add it up.
//   COST-3   A long share has several parts of about `part_time`: what its member loses when others take parts of it.
//   COST-4   One strange sample moves what is known by a factor of two at most.
//   COST-5   A place that is not used for long can lose its slot to another place: then it is unknown again.
//   STEER-1  A loop that wakes nobody at its beginning wakes its members as soon as the caller has seen, after a part
//            of it, that what is left is worth a wake-up.
//   STEER-2  Loops that follow each other closely without members that sleep wake them when all of them together have
//            missed as much as a wake-up takes: at most twice the time is lost that way.
//   STEER-3  Where workers may anticipate, and slept through loops that were worth joining, they are woken after the
//            loop, a few times in a row now and then: so they learn when the next ones are due.
//
// Cost   a loop that is not measured: none. Else two or three looks at the clock, 20 to 25 ns each: the first loops of
//        a place, then one in 16, and all that last longer than 10 us. What only those run is compiled for size.
#ifndef LOCKSTEP_DETAIL_TEAM_LOOP_STEERING_HPP
#define LOCKSTEP_DETAIL_TEAM_LOOP_STEERING_HPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

class loop_costs {
 public:
  static constexpr double part_time = 8000;
  static constexpr std::uint32_t most_parts = 64, first_parts = 16;

  /// For a team of `members`, of whom `most` can run at once. `learns`: false for always all of those, at once.
  loop_costs(std::size_t members, std::size_t most, bool is_crowded, bool learns) noexcept
      : members_(members),
        most_(most),
        learns_(learns),
        join_(is_crowded ? 2000.0 : 150.0 + 25.0 * static_cast<double>(most)) {}

  std::size_t most_shares() const noexcept { return most_; }

  /// The plan of a loop; `asleep`: whether members sleep that it could use.
  loop_plan plan(const loop_request& of, bool asleep) noexcept {
    if (of.is_fixed || of.grain != 0 || !learns_) return by_request(of);
    if (!asleep) {
      place& at = at_place(of.place);
      if (at.is_as_before(of.iterations)) return at.before;
    }
    return by_costs(of, asleep);
  }

  /// Whether `left` nanoseconds of work are worth a wake-up.
  bool is_worth_waking(double left) const noexcept { return pays(left, most_, wake_); }

  /// So much time of the caller's went into so many iterations at the place.
  LOCKSTEP_COLD void learn_iterations(const void* place_key, std::size_t iterations,
                                      double time) noexcept {
    if (iterations == 0) return;
    place& at = at_place(place_key);
    const double now = larger(time - clock_time, 1.0) / static_cast<double>(iterations);
    at.steady = 0;
    if (at.samples == 0) {
      at.iteration = now;
    } else if (now > 2 * at.iteration) {
      at.iteration *= 2;
    } else if (2 * now < at.iteration) {
      at.iteration /= 2;
    } else {
      at.iteration += (now - at.iteration) / 4;
      at.steady = 1;
    }
    if (at.samples < young) ++at.samples;
    at.skipped = 0;
    at.iterations = 0;
  }
  /// So long the caller waited for members that were awake, after its own share.
  LOCKSTEP_COLD void learn_join(double time) noexcept {
    const double now = lesser(time + clock_time, 4 * join_);
    join_ += (now - join_) / (now < join_ ? 4 : 32);
    join_ = between(least_join, join_, most_join);
  }
  /// So long a member took to come from when the caller began to wake it.
  LOCKSTEP_COLD void learn_wake(double time) noexcept {
    const double now = lesser(time, 2 * wake_);
    wake_ += (now - wake_) / 8;
    wake_ = between(least_wake, wake_, most_wake);
  }

  double wake() const noexcept { return wake_; }

 private:
  friend struct learned_costs;  // of tests

  static constexpr double clock_time = 20, least_join = 40, most_join = 50000;
  static constexpr double least_wake = 5000, most_wake = 1000000, least_for_late_members = 3000;
  static constexpr double always_timed = 10000;
  static constexpr unsigned places = 64, young = 4, loops_per_sample = 16;

  struct place {
    const void* key = nullptr;
    double iteration = 0;
    std::uint8_t samples = 0;
    std::uint8_t skipped = 0;
    std::uint8_t steady = 0;
    std::size_t iterations = 0;  ///< of the loop before, if it was planned by what is known
    loop_plan before;

    /// Whether `before` is right for so many iterations, and it is not time to measure.
    bool is_as_before(std::size_t now) noexcept {
      return now == iterations && steady != 0 && ++skipped < loops_per_sample;
    }
    void remember(std::size_t now, double work, const loop_plan& plan) noexcept {
      const bool is_short =
          work <= always_timed && plan.parts == 1 && plan.wakes && plan.missed <= 0;
      iterations = is_short && samples == young ? now : 0;
      before = plan;
      before.is_timed = false;
    }
    bool is_due(double work) noexcept {
      if (samples < young || steady == 0 || work > always_timed || skipped >= loops_per_sample)
        return true;
      ++skipped;
      return false;
    }
  };

  // <algorithm> takes a tenth of the time that this library's headers take to compile.
  template <class T>
  static T lesser(T a, T b) noexcept {
    return b < a ? b : a;
  }
  template <class T>
  static T larger(T a, T b) noexcept {
    return a < b ? b : a;
  }
  static double between(double least, double value, double most) noexcept {
    return value < least ? least : value > most ? most : value;
  }
  static bool pays(double work, std::size_t shares, double cost) noexcept {
    return work - work / static_cast<double>(shares) > cost;
  }
  /// All of them, or fewer where a share would be less than what it costs to have a member more.
  std::size_t shares_for(double work, std::size_t most) const noexcept {
    if (!pays(work, most, join_)) return 1;
    const double least_share = join_ / static_cast<double>(most_);
    const double wanted = work / least_share;
    return wanted < static_cast<double>(most)
               ? larger(std::size_t{2}, static_cast<std::size_t>(wanted))
               : most;
  }
  static std::uint32_t parts_of(const loop_request& of, std::size_t shares,
                                double wanted) noexcept {
    const double each = static_cast<double>(of.iterations / shares);
    const double parts = lesser(lesser(wanted, each), static_cast<double>(most_parts));
    return parts < 1 ? 1 : static_cast<std::uint32_t>(parts);
  }
  LOCKSTEP_COLD loop_plan by_costs(const loop_request& of, bool asleep) noexcept {
    loop_plan result;
    const std::size_t most = lesser(most_, of.iterations);
    place& at = at_place(of.place);
    const double work = at.iteration * static_cast<double>(of.iterations);
    result.is_timed = at.is_due(work);
    if (most < 2) return result;
    if (at.samples == 0) {
      result.shares = static_cast<std::uint32_t>(most);
      result.parts = of.can_split ? parts_of(of, most, first_parts) : 1;
      result.wakes = !asleep || !of.can_split;
      return result;
    }
    const std::size_t shares = shares_for(work, most);
    if (shares < 2) {
      if (result.is_timed) join_ -= (join_ - least_join) / 64;  // so that it is tried again
      at.remember(of.iterations, work, result);
      return result;
    }
    if (asleep && !pays(work, most, wake_)) {
      result.missed = work - work / static_cast<double>(shares);
      result.is_timed = true;
      if (work < least_for_late_members) return result;
    }
    result.shares = static_cast<std::uint32_t>(shares);
    const double share = work / static_cast<double>(shares);
    if (of.can_split && share > 2 * part_time) {
      result.parts = parts_of(of, shares, share / part_time);
    }
    if (result.missed > 0) {
      result.wakes = false;
      if (of.can_split) result.parts = larger(result.parts, parts_of(of, shares, 4));
    }
    at.remember(of.iterations, work, result);
    return result;
  }
  /// Without what was learned.
  LOCKSTEP_NOINLINE loop_plan by_request(const loop_request& of) const noexcept {
    loop_plan result;
    if (of.is_fixed) {
      result.shares =
          static_cast<std::uint32_t>(larger(std::size_t{1}, lesser(members_, of.iterations)));
      return result;
    }
    const std::size_t most = lesser(most_, of.iterations);
    const std::size_t grain = of.grain != 0 ? of.grain : 1;
    const std::size_t shares = larger(std::size_t{1}, lesser(most, of.iterations / grain));
    result.shares = static_cast<std::uint32_t>(shares);
    const std::size_t share = of.iterations / shares;
    if (of.can_split && shares > 1) {
      result.parts = static_cast<std::uint32_t>(
          of.grain != 0   ? larger(std::size_t{1}, lesser<std::size_t>(share / grain, most_parts))
          : share >= 1024 ? 8
                          : 1);
    }
    return result;
  }

  static std::size_t slot_of(const void* key) noexcept {
    const std::uint64_t mixed =
        static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(key)) * 0x9E3779B97F4A7C15u;
    return static_cast<std::size_t>(mixed >> 32) % places;
  }
  /// A place is in one of two slots.
  place& at_place(const void* key) noexcept {
    const std::size_t slot = slot_of(key);
    if (places_[slot].key == key) return places_[slot];
    if (places_[slot ^ 1u].key == key) return places_[slot ^ 1u];
    return new_place(slot, key);
  }
  /// The place that was in the first slot moves to the second one, and drives out what was there.
  LOCKSTEP_COLD place& new_place(std::size_t slot, const void* key) noexcept {
    place& first = places_[slot];
    places_[slot ^ 1u] = first;
    first = place();
    first.key = key;
    return first;
  }

  const std::size_t members_, most_;
  const bool learns_;
  double join_;
  double wake_ = 50000;
  place places_[places];
};

class loop_steering final : public part_listener {
 public:
  loop_steering(fork_board& forks, const resolved_team& made) noexcept
      : forks_(forks), costs_(made.members, made.can_run_at_once, made.is_crowded, made.learns) {}
  loop_steering(const loop_steering&) = delete;
  loop_steering& operator=(const loop_steering&) = delete;

  /// Before a loop: how to run it.
  LOCKSTEP_NOINLINE const loop_plan& begin(const loop_request& of) {
    of_ = of;
    is_asleep_ = costs_.most_shares() > 1 && forks_.has_sleepers(costs_.most_shares());
    plan_ = costs_.plan(of, is_asleep_);
    may_wake_ = is_asleep_ && plan_.shares > 1 && !plan_.wakes;
    if (!is_asleep_ && plan_.shares > 1) pause_ = 0;
    if (plan_.is_timed) begin_to_measure();
    return plan_;
  }
  /// What after_part() is to be called for; null: nothing.
  part_listener* listener() noexcept { return plan_.is_timed ? this : nullptr; }

  /// Requires: the loop is measured.
  void after_part(bool is_own) override {
    ++parts_;
    if (is_own) {
      ++own_parts_;
      own_end_ = now();
    }
    if (may_wake_) wake_if_long(is_own ? own_end_ : now());
  }

  /// Every share is done; `all_came`: each was begun by its member.
  void end(bool all_came) {
    if (plan_.is_timed) learn(all_came, now());
  }

  /// Before shares that are no loop's: whether to wake members that sleep.
  bool begin_shares(const shares_request& of) {
    is_asleep_ = forks_.has_sleepers(of.shares);
    plan_ = loop_plan();
    plan_.shares = of.shares;
    if (is_asleep_) {
      plan_sleepers(of.gain);
    } else {
      pause_ = 0;
    }
    return plan_.wakes;
  }
  /// They are done.
  void end_shares() {
    if (!is_asleep_) return;
    own_end_ = now();
    if (plan_.missed > least_worth_joining / 2) teach();
  }

  /// Whether members slept when this loop began.
  bool were_asleep() const noexcept { return is_asleep_; }

 private:
  static constexpr double least_worth_joining = 2000;
  static constexpr std::uint64_t awake_time = 50000;
  static constexpr unsigned lessons = 8, first_pause = 16, most_pause = 128;

  static std::uint64_t now() { return detail::monotonic_nanoseconds(); }

  LOCKSTEP_COLD void begin_to_measure() {
    parts_ = own_parts_ = 0;
    last_end_ = own_end_;
    start_ = own_end_ = now();
    if (plan_.missed > 0 && has_missed_enough()) {
      plan_ = costs_.plan(of_, false);
      plan_.is_timed = true;
      may_wake_ = false;
    }
    if (woken_at_ != 0) learn_wake_up();
    if (is_asleep_ && plan_.shares > 1 && plan_.wakes) woken_at_ = start_;
  }
  LOCKSTEP_COLD void plan_sleepers(double gain) {
    last_end_ = own_end_;
    start_ = now();
    if (woken_at_ != 0) learn_wake_up();
    plan_.missed = gain > costs_.wake() ? 0 : gain;
    if (plan_.missed > 0 && has_missed_enough()) plan_.missed = 0;
    plan_.wakes = plan_.missed <= 0;
    if (plan_.wakes) woken_at_ = start_;
  }
  LOCKSTEP_COLD void learn(bool all_came, std::uint64_t end) {
    const double own_time = static_cast<double>(own_end_ - start_);
    costs_.learn_iterations(of_.place, iterations_of_own(), own_time);
    if (plan_.shares > 1 && plan_.parts == 1 && of_.can_split && all_came && !is_asleep_) {
      costs_.learn_join(static_cast<double>(end - own_end_));
    }
    if (may_wake_ && own_time > least_worth_joining) teach();
  }

  std::size_t iterations_of_own() const noexcept {
    const std::size_t parts = std::size_t{plan_.shares} * plan_.parts;
    return own_parts_ == parts ? of_.iterations : of_.iterations / parts * own_parts_;
  }

  /// STEER-2. Members that are awake poll for some 50 us.
  bool has_missed_enough() noexcept {
    missed_ = start_ - last_end_ < awake_time ? missed_ + plan_.missed : plan_.missed;
    if (missed_ < costs_.wake()) return false;
    missed_ = 0;
    return true;
  }
  LOCKSTEP_COLD void wake_if_long(std::uint64_t at) {
    const double each = static_cast<double>(at - start_) / static_cast<double>(parts_);
    const std::size_t left = std::size_t{plan_.shares} * plan_.parts - parts_;
    if (!costs_.is_worth_waking(each * static_cast<double>(left))) return;
    may_wake_ = false;
    woken_at_ = at;
    forks_.wake(plan_.shares);
  }
  void learn_wake_up() {
    const std::uint64_t came = forks_.last_coming(1);
    if (came <= woken_at_) return;
    costs_.learn_wake(static_cast<double>(came - woken_at_));
    woken_at_ = 0;
  }
  /// STEER-3. The pauses between such rows grow, until members have come by themselves again.
  void teach() {
    if (!forks_.anticipates()) return;
    if (pause_ == 0) {
      pause_ = first_pause;
      lessons_left_ = lessons;
    }
    if (lessons_left_ == 0 && --rest_ > 0) return;
    if (lessons_left_ == 0) lessons_left_ = lessons;
    if (--lessons_left_ == 0) {
      rest_ = pause_;
      pause_ = 2 * pause_ < most_pause ? 2 * pause_ : most_pause;
    }
    forks_.wake(plan_.shares);
  }

  fork_board& forks_;
  loop_costs costs_;
  loop_request of_ = {0, nullptr, 0, true, false};
  loop_plan plan_;
  bool is_asleep_ = false;
  bool may_wake_ = false;
  std::size_t parts_ = 0, own_parts_ = 0;
  std::uint64_t start_ = 0, own_end_ = 0, last_end_ = 0;
  std::uint64_t woken_at_ = 0;  ///< 0: not, or it is known how long that took
  double missed_ = 0;
  unsigned pause_ = 0, rest_ = 0, lessons_left_ = 0;  ///< in loops; no pause: members were there
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_LOOP_STEERING_HPP

// lockstep/detail/team/nesting.hpp -- the regions that a thread is in, and its turn with a team (layer: team)
//
// A region and the one it was called from form a list, the same for all its members, so that a way back
// through another team's threads is seen as well. All modules see the same list (this_thread.hpp).
//
// A program may end while other threads run regions of a static team. Its destructor cannot wait for them: they may
// go on for ever. So a team is in two parts:
//   the door  what a thread looks at before it has a turn. It lies in the team itself, and its end does nothing:
//             at the end of the program its words are still there, and say that a turn is taken for good.
//   the body  what members use, on the heap: destroyed with the team, or left where it is while a region runs.
//
//   TURN-1  A thread inside a region waits for its turn with a team only if that team is younger than all whose regions
//           the thread is in. Otherwise it takes a turn at once, or runs alone. So regions of several teams, called
//           from each other, never wait in a circle.
//   TURN-2  The destructor of a team takes a turn and never ends it. Threads that come later wait for ever.
//   TURN-3  It destroys the body only if it could have that turn at once: then no thread is in a region, nor queued.
//
// Memory order (# marks the line; each weakening must fail a test)
//   #  access          order    pairs  why it suffices
//   1  ages.fetch_add  relaxed  -      hands out numbers, nothing else
//   2  runs.load       relaxed  -      a thread inside the region asks, which is ordered after its begin
//
// Cost   a turn: see caller_queue below. The two parts: one load more to the body, of a line that nobody writes.
#ifndef LOCKSTEP_DETAIL_TEAM_NESTING_HPP
#define LOCKSTEP_DETAIL_TEAM_NESTING_HPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace nesting {

using region = nested_region;

/// Ages of teams that live at the same time differ by less than this.
constexpr std::uint32_t most_age_apart = std::uint32_t{1} << 30;

/// The number of a team that is being made.
inline std::uint32_t next_age() noexcept {
  return process().team_ages.fetch_add(1, memory_order_relaxed);  // 1
}

/// The region the calling thread is in, if any.
inline const region*& innermost() noexcept { return innermost_region(); }

inline bool is_inside(const void* owner) noexcept {
  const region* at = innermost();
  while (at != nullptr && at->owner != owner) at = at->outer;
  return at != nullptr;
}

/// 0 for what marks a hook: it is in no region.
inline std::uint32_t number_of(const region& of) noexcept {
  return of.runs != nullptr ? of.runs->load(memory_order_relaxed) : 0;  // 2
}
/// Whether the calling thread is in region `number` of the team with these boards.
inline bool is_in_region(const void* boards, std::uint32_t number) noexcept {
  const region* at = innermost();
  while (at != nullptr && at->boards != boards) at = at->outer;
  return at != nullptr && number_of(*at) == number;
}

/// Whether the calling thread is in this region itself, and not as a guest, which has a copy of it.
inline bool contains(const region& what) noexcept {
  const region* at = innermost();
  while (at != nullptr && at != &what) at = at->outer;
  return at != nullptr;
}

/// Whether the calling thread may wait for its turn with a team: TURN-1.
inline bool may_wait_for(std::uint32_t age) noexcept {
  for (const region* at = innermost(); at != nullptr; at = at->outer) {
    if (static_cast<std::int32_t>(age - at->age) <= 0) return false;
  }
  return true;
}

/// The calling thread is in a region while this object lives.
class inside {
 public:
  explicit inside(const region& where) noexcept : before_(innermost()) { innermost() = &where; }
  ~inside() { innermost() = before_; }
  inside(const inside&) = delete;
  inside& operator=(const inside&) = delete;

 private:
  const region* before_;
};

}  // namespace nesting

// Outside threads take turns with a team.
//
//   CALLER-1  Turns are given in the order of the calls of begin().
//   CALLER-2  What a thread does in its turn happens before the next one's begin() returns.
//   CALLER-3  In debug builds the first caller that has waited for long says so, once for each queue, and waits on.
//
// Memory order (# marks the line; each weakening must fail a test; published_words.hpp has that of the turns)
//   #  access             order    pairs  why it suffices
//   1  tickets.fetch_add  relaxed  -      hands out numbers, nothing else
//   2  store              relaxed  -      in a child process: the only thread
//   3  tickets.cmp_exch   relaxed  -      as 1; the turn before was seen by the load before it
//   4  holder.store       relaxed  -      for a message only
//   5  holder.load        relaxed  -      as 4
//   6  said.exchange      relaxed  -      the first of several speaks
//
// Cost   uncontended: one RMW and one store on a line of the callers.
class caller_queue {
 public:
  /// What a message calls the team: "lockstep::team 'name' at 0x...".
  struct label {
    const void* team;
    const char* kind;
    char name[32];

    LOCKSTEP_COLD label(const void* of, const char* its_kind, const char* its_name) noexcept;
  };

  /// Tests pass a short patience.
  explicit caller_queue(wait_policy policy, const label& whose = label(nullptr, "a queue", ""),
                        std::chrono::milliseconds patience = std::chrono::seconds(10)) noexcept
      : policy_(policy), whose_(whose), patience_(patience) {}

  /// Blocks until it is the caller's turn.
  void begin() {
    const std::uint32_t number = tickets_.fetch_add(1, memory_order_relaxed);  // 1
    wait_history history = {};
    if (diagnoses_misuse) wait_and_say(number, history);
    serving().wait(is_turn_of{number}, never_stops(), history);
    note_holder();
  }
  /// Takes a turn if it can be had at once.
  bool try_begin() noexcept {
    std::uint32_t next = serving().value();
    if (!tickets_.compare_exchange_strong(next, next + 1,           //
                                          memory_order_relaxed,     // 3
                                          memory_order_relaxed)) {  // 3
      return false;
    }
    note_holder();
    return true;
  }
  void end() { serving().publish(serving().peek() + 1); }

  /// In a child process: as new, but for the calling thread's turn if it has one.
  LOCKSTEP_COLD void forget_others(bool has_turn) noexcept;

  const label& whose() const noexcept { return whose_; }

 private:
  struct is_turn_of {
    std::uint32_t number;
    bool operator()(std::uint32_t serving) const noexcept { return serving == number; }
  };
  /// The number that is served.
  published_word<std::uint32_t> serving() noexcept {
    return {serving_, mark_, policy_, fence_payer_of(policy_)};
  }

  /// Asked for once a thread: it costs a system call. In a child of fork() a message shows the parent's.
  static LOCKSTEP_COLD std::uint64_t shown_number() noexcept;
  void note_holder() noexcept {
    if (!diagnoses_misuse) return;
    holder_.store(static_cast<std::uint32_t>(shown_number()),
                  memory_order_relaxed);  // 4
  }

  /// Waits for the turn for a while; then says that it takes long, unless another has.
  LOCKSTEP_COLD void wait_and_say(std::uint32_t number, wait_history& history);

  // Callers write these lines, members do not need them.
  line_gap before_;
  wait_word tickets_{0};
  wait_word serving_{0};
  sleeper_mark mark_;
  const wait_policy policy_;
  // For the message.
  wait_word holder_{0};
  wait_word said_{0};
  const label whose_;
  const std::chrono::milliseconds patience_;
  line_gap after_;
};

/// Says that a turn has begun already.
struct has_begun_t {};

/// A turn of the calling thread, as long as this object lives.
class caller_turn {
 public:
  explicit caller_turn(caller_queue& of) : of_(of) { of_.begin(); }
  /// One that has begun.
  caller_turn(caller_queue& of, has_begun_t) noexcept : of_(of) {}
  ~caller_turn() { of_.end(); }
  caller_turn(const caller_turn&) = delete;
  caller_turn& operator=(const caller_turn&) = delete;

 private:
  caller_queue& of_;
};

class team_door {
 public:
  team_door(std::size_t members, wait_policy policy, const char* kind, const char* name)
      : size_(members),
        age_(nesting::next_age()),
        policy_(policy),
        callers_(policy, caller_queue::label(this, kind, name)) {}
  team_door(const team_door&) = delete;
  team_door& operator=(const team_door&) = delete;

  std::size_t size() const noexcept { return size_; }
  std::uint32_t age() const noexcept { return age_; }
  wait_policy policy() const noexcept { return policy_; }
  caller_queue& callers() noexcept { return callers_; }
  bool may_wait() const noexcept { return nesting::may_wait_for(age_); }

  /// For the destructor of the team: TURN-2. False where the body has to stay.
  bool shut() noexcept {
    if (callers_.try_begin()) return true;
    if (diagnoses_misuse) {
      const caller_queue::label& whose = callers_.whose();
      std::fprintf(
          stderr,
          "%s '%s' at %p: destroyed, or its program ended, while another thread runs a region; "
          "its threads are left as they are\n",
          whose.kind, whose.name, whose.team);
    }
    return false;
  }

 private:
  const std::size_t size_;
  const std::uint32_t age_;
  const wait_policy policy_;
  caller_queue callers_;
};
static_assert(std::is_trivially_destructible<caller_queue>::value ||
                  !std::is_trivially_destructible<wait_word>::value,
              "the door stays as it is");

/// Owns a team's body, until it has to be left.
template <class Body>
class owned_body {
 public:
  template <class... Arguments>
  explicit owned_body(Arguments&&... arguments)
      : body_(new Body(std::forward<Arguments>(arguments)...)) {}
  ~owned_body() {
    if (!is_left_) delete body_;
  }
  owned_body(const owned_body&) = delete;
  owned_body& operator=(const owned_body&) = delete;

  void leave() noexcept { is_left_ = true; }
  Body* operator->() const noexcept { return body_; }

 private:
  static_assert(alignof(Body) <= alignof(std::max_align_t), "C++11 `new` honours no more");
  Body* const body_;
  bool is_left_ = false;
};

/// The calling thread's turn with a team while this object lives, or none: then its region runs on it alone. The thread
/// has none if it is inside a region of this team already, or may not wait (TURN-1) and cannot have a turn at once.
class region_turn {
 public:
  /// `owner`: that of the team's regions. It is not looked at before the turn.
  region_turn(team_door& door, const void* owner) : callers_(door.callers()) {
    if (nesting::is_inside(owner)) return;
    if (door.may_wait()) {
      callers_.begin();
      is_mine_ = true;
    } else {
      is_mine_ = callers_.try_begin();
    }
  }
  ~region_turn() {
    if (is_mine_) callers_.end();
  }
  region_turn(const region_turn&) = delete;
  region_turn& operator=(const region_turn&) = delete;

  explicit operator bool() const noexcept { return is_mine_; }
  /// The turn goes on after this object: a caller_turn is to take it over.
  void keep() noexcept { is_mine_ = false; }

 private:
  caller_queue& callers_;
  bool is_mine_ = false;
};

#if LOCKSTEP_HAS_BODIES

LOCKSTEP_COLD caller_queue::label::label(const void* of, const char* its_kind,
                                         const char* its_name) noexcept
    : team(of), kind(its_kind) {
  std::snprintf(name, sizeof name, "%s", its_name);
}

LOCKSTEP_COLD std::uint64_t caller_queue::shown_number() noexcept {
  std::uint64_t& known = per_thread<std::uint64_t, struct name_of_shown_number>();
  if (known == 0) known = shown_thread_number();
  return known;
}

LOCKSTEP_COLD void caller_queue::wait_and_say(std::uint32_t number, wait_history& history) {
  const is_turn_of mine{number};
  if (mine(serving().value())) return;
  if (serving().wait(mine, never_stops(), history, deadline::after(patience_))) return;
  if (said_.exchange(1, memory_order_relaxed) != 0) return;  // 6
  std::fprintf(
      stderr,
      "%s '%s' at %p: %s has waited %.3g s for its turn, which thread %u has. This may be "
      "harmless: regions of other threads may take so long. But if that region waits for this "
      "thread, they wait for ever: a thread that a member starts and waits for is to get "
      "lockstep::this_region() from the member, and to make a lockstep::inside_region of it\n",
      whose_.kind, whose_.name, whose_.team, label_of_this_thread().text,
      std::chrono::duration<double>(patience_).count(),
      static_cast<unsigned>(holder_.load(memory_order_relaxed)));  // 5
}

LOCKSTEP_COLD void caller_queue::forget_others(bool has_turn) noexcept {
  serving().reset(0);
  tickets_.store(has_turn ? 1 : 0, memory_order_relaxed);  // 2
}

#endif

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_NESTING_HPP

// lockstep/detail/team/team_core.hpp -- the life of a region, from its caller's call to the return (layer: team)
//
// What team and external_team have in common: run() and run_loop() below are a region from top to bottom. The caller
// takes a turn (nesting.hpp), begins the region, announces it (fork_board.hpp), performs its own part, collects the
// reports, and finishes. work() is the other side, what a worker does. For users: team.hpp.
//
//   CORE-1  A region has a number, never 0; running_ is it from before the first member starts until after the
//           last has reported, else 0.
//   CORE-2  Between regions the group's boards are at rest (GROUP-1 of group.hpp).
//   CORE-3  In a child process there are no workers; a region that the forking thread was in is stopped there.
//           A guest (inside_region of region.hpp) was in none.
//   CORE-4  All code of the user that runs while the caller has the turn, on any thread, runs marked as inside: it
//           may call the team, and is alone then. Hooks of threads never wait for a turn with any team.
//   CORE-5  A loop uses nothing that belongs to a member (loop_crew.hpp): any thread may run any part of it.
//
// Memory order (# marks the line; each weakening must fail a test)
//   #  access         order    pairs  why it suffices
//   1  running.store  relaxed  -      request_stop() takes a number from it; what it does with a number
//                                     that is old is harmless (STOP-1 of stop_source.hpp)
//   2  running.load   relaxed  -      as 1
//
// Cost   see team.hpp.
#ifndef LOCKSTEP_DETAIL_TEAM_TEAM_CORE_HPP
#define LOCKSTEP_DETAIL_TEAM_TEAM_CORE_HPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

class team_core {
 public:
  /// The door outlives the last thread that uses this object, or is not touched.
  LOCKSTEP_COLD team_core(const resolved_team& made, team_door& door);
  LOCKSTEP_COLD ~team_core();
  team_core(const team_core&) = delete;
  team_core& operator=(const team_core&) = delete;

  std::size_t size() const noexcept { return size_; }
  wait_policy policy() const noexcept { return group_.barrier.policy(); }
  bool is_inside() const noexcept { return nesting::is_inside(this); }

  /// f(member&) on the first `size` members. False if the region was stopped. `workers` has make_ready(), which is
  /// called where others are needed. Before the turn nothing of the core is looked at: TURN-3 of nesting.hpp.
  template <class Workers, class Function>
  static bool run(team_door& door, team_core* core, Workers& workers, std::size_t size,
                  Function& f) {
    const region_turn turn(door, core);
    if (!turn) return run_alone(f);
    if (size > 1) workers.make_ready();
    const region_head head = core->begin(size, core->group_.begin(size));
    const nesting::inside here(core->region_);  // up to the last of the user's code
    if (size > 1) core->forks_.announce(head, f);
    // Not through the line just published: it is on its way to the others.
    core->perform(0, head, f);
    if (size > 1) core->forks_.collect(0, core->forks_.current());
    return core->finish(head);
  }

  /// what(loop_share&) for all shares of a loop. False if it was stopped.
  template <class Workers>
  LOCKSTEP_NOINLINE static bool run_loop(team_door& door, team_core* core, Workers& workers,
                                         const loop_request& of, job& what, const loop_ends& ends) {
    const region_turn turn(door, core);
    if (!turn) return run_loop_alone(what, ends);
    if (core->size_ > 1) workers.make_ready();
    const loop_plan& plan = core->steering_.begin(of);
    if (ends.prepare != nullptr) ends.prepare(ends.data, plan, core->group_.leaves);
    const region_head head = core->begin(plan.shares, 0);
    const nesting::inside here(core->region_);
    core->run_shares(plan, head, what);
    if (!core->end_of_region(head)) {
      core->error_.rethrow();
      return false;
    }
    if (ends.finish != nullptr) ends.finish(ends.data, plan, loop_values(core->forks_));
    return true;
  }

  /// what(loop_share&) for so many shares, each once: by its member, or by a thread that waits for it and finds that
  /// it has not begun.
  template <class Workers>
  LOCKSTEP_NOINLINE static shares_outcome run_shares(team_door& door, team_core* core,
                                                     Workers& workers, const shares_request& of,
                                                     job& what) {
    const region_turn turn(door, core);
    if (!turn) return {run_loop_alone(what, loop_ends{nullptr, nullptr, nullptr}), false};
    workers.make_ready();
    const bool wakes = core->steering_.begin_shares(of);
    const region_head head = core->begin(of.shares, 0);
    const nesting::inside here(core->region_);
    core->crew_.reset_tickets();
    core->forks_.announce_loop(head, what, 1, wakes);
    const bool all_came =
        core->crew_.lead(head, what, wakes && core->steering_.were_asleep(), nullptr);
    core->steering_.end_shares();
    if (core->end_of_region(head)) return {true, all_came};
    core->error_.rethrow();
    return {false, all_came};
  }

  /// A region of one member, the calling thread.
  template <class Function>
  static bool run_alone(Function& f) {
    stop_source stop;
    member_state own(stop);
    member_access alone(own);
    return call_alone(stop, f, alone.self);
  }
  /// The same for a loop.
  static bool run_loop_alone(job& what, const loop_ends& ends) {
    stop_source stop;
    atomic<std::size_t> tickets{0};
    loop_cells none(0);
    if (ends.prepare != nullptr) ends.prepare(ends.data, loop_plan(), none);
    const loop_common alone = {stop, tickets, 1, 1, 1};
    loop_share all(alone, 0, 0, nullptr);
    return call_alone(stop, what, all);
  }

  /// run() in two halves, for f on all members: a region that is open between them. In a turn of the caller.
  /// For users: started_region of region.hpp.
  template <class Function>
  void start(Function& f) {
    started_.what.assign<member>(f);
    started_.head = begin(size_, group_.begin(size_));
    if (size_ > 1) forks_.announce(started_.head, f);
    between_.outer = nesting::innermost();
    nesting::innermost() = &between_;
  }
  LOCKSTEP_OUT_OF_LINE bool join();
  /// In place of join(): stops the region, and waits for the others. The caller's part is not run; errors are dropped.
  LOCKSTEP_COLD void give_up();
  /// The number of the region that is open, or 0.
  std::uint32_t started() const noexcept { return started_.head.region; }
  /// Whether it was the calling thread that started it; and whether that has entered no other since.
  bool has_started() const noexcept { return nesting::contains(between_); }
  bool can_join() const noexcept { return nesting::innermost() == &between_; }

  /// Stops the region that runs, if any. Any thread.
  LOCKSTEP_COLD void request_stop();
  /// For objects in which members of regions wait.
  stop_source& stop() noexcept { return stop_; }

  /// What a worker does until close().
  LOCKSTEP_OUT_OF_LINE void work(std::size_t rank);
  void close() { forks_.close(); }
  bool is_closed() const noexcept { return forks_.is_closed(); }
  /// While no worker lives: those that are started next begin at the beginning.
  void reopen() noexcept { forks_.reset(); }
  /// What marks a thread of this team that runs the user's hooks: no team is younger, so none is waited for.
  nesting::region hook_region() const noexcept {
    return {this, region_.age + nesting::most_age_apart, nullptr, nullptr, nullptr};
  }

  /// In a child process, which has none of the workers. A region that the calling thread is in is stopped;
  /// any other has ended.
  LOCKSTEP_COLD void forget_others() noexcept;

 private:
  static LOCKSTEP_COLD fork_board::way way_of(const resolved_team& made) noexcept;

  /// Destroys the values of a region, whether its end throws or not.
  class values_until_end {
   public:
    explicit values_until_end(group& of) noexcept : of_(of) {}
    ~values_until_end() { of_.destroy_kept_values(); }
    values_until_end(const values_until_end&) = delete;
    values_until_end& operator=(const values_until_end&) = delete;

   private:
    group& of_;
  };

  /// `phase`: of the barrier when the region begins.
  region_head begin(std::size_t size, std::uint32_t phase) noexcept {
    if (++number_ == 0) number_ = 1;
    stop_.begin(number_);
    running_.store(number_, memory_order_relaxed);  // 1
    if (region_.outer != nesting::innermost()) region_.outer = nesting::innermost();
    return region_head{number_, static_cast<std::uint32_t>(size), phase};
  }
  /// A member's part of a region. Requires: the calling thread is marked as inside it.
  template <class Function>
  void perform(std::size_t rank, const region_head& head, Function& f) {
    member_access here(group_.enter(rank, head.size, head.region, head.phase));
    call_guarded(stop_, head.region, error_, first_error::position_of(rank, 0), f, here.self);
  }
  /// The caller's part of a loop; every share is done when it returns.
  void run_shares(const loop_plan& plan, const region_head& head, job& what) {
    crew_.reset_tickets();
    bool all_came = true;
    if (plan.shares > 1) {
      forks_.announce_loop(head, what, plan.parts, plan.wakes);
      all_came =
          crew_.lead(head, what, plan.wakes && steering_.were_asleep(), steering_.listener());
    } else {
      crew_.run_alone(head, what);
      if (plan.is_timed) steering_.after_part(true);
    }
    steering_.end(all_came);
  }
  /// No thread is in the region any more. False if it was stopped.
  bool end_of_region(const region_head& head) noexcept {
    running_.store(0, memory_order_relaxed);      // 1
    if (crew_.is_alone()) crew_.be_alone(false);  // members read that line
    return !stop_.requested(head.region);
  }
  /// The same, with what a `run` leaves. Throws the exception of a member, if there is one.
  bool finish(const region_head& head) {
    const bool goes_on = end_of_region(head);
    group_.end(!goes_on);
    const values_until_end values(group_);
    if (!goes_on) error_.rethrow();
    return goes_on;
  }

  /// What a worker has to do in a `run`.
  LOCKSTEP_OUT_OF_LINE void play(std::size_t rank, const order& what);

  region_head leave_between() noexcept {
    const region_head head = started_.head;
    started_.head.region = 0;
    nesting::innermost() = between_.outer;
    return head;
  }

  struct open_region {
    region_head head;
    job what;
  };

  line_gap before_;
  const std::size_t size_;
  team_door& door_;
  stop_source stop_;
  group group_;
  fork_board forks_;
  first_error error_;
  loop_crew crew_;
  // The caller's own.
  loop_steering steering_;
  nesting::region region_;
  nesting::region between_;  // of the caller that has started a region: its workers are not in it
  std::uint32_t number_ = 0;
  wait_word running_{0};
  open_region started_ = {};
  line_gap after_;
};

#if LOCKSTEP_HAS_BODIES

LOCKSTEP_COLD team_core::team_core(const resolved_team& made, team_door& door)
    : size_(made.members),
      door_(door),
      group_(size_, made.policy, stop_, nullptr, made.finds_cpu),
      forks_(fork_tree(size_), made.policy, way_of(made), 0, made.anticipates,
             fork_board::usual_most_age, made.finds_cpu),
      crew_(forks_, stop_, error_, made.is_crowded),
      steering_(forks_, made),
      region_{this, door.age(), &group_, &running_, nullptr},
      between_(region_) {}

LOCKSTEP_COLD team_core::~team_core() = default;

LOCKSTEP_OUT_OF_LINE bool team_core::join() {
  const region_head head = leave_between();
  const nesting::inside here(region_);
  perform(0, head, started_.what);
  if (head.size > 1) forks_.collect(0, forks_.current());
  return finish(head);
}

LOCKSTEP_OUT_OF_LINE void team_core::work(std::size_t rank) {
  const nesting::inside here(region_);  // whatever it runs of the user's is in one
  order what;
  while (forks_.next(rank, what)) {
    if (what.is_loop()) {
      crew_.serve(rank, what);
    } else {
      play(rank, what);
    }
  }
}

LOCKSTEP_COLD void team_core::give_up() {
  const region_head head = leave_between();
  const nesting::inside here(region_);
  stop_.request(head.region);
  if (head.size > 1) forks_.collect(0, forks_.current());
  error_.forget();
  finish(head);
}

LOCKSTEP_COLD void team_core::forget_others() noexcept {
  const bool in_region = nesting::contains(region_) || nesting::contains(between_);
  door_.callers().forget_others(in_region);
  forks_.reset();
  stop_.forget_others();
  error_.forget_others();
  group_.sub_groups().forget_others();
  group_.forget_kept_values();
  if (in_region) {
    crew_.be_alone(true);
    request_stop();
  } else {
    running_.store(0, memory_order_relaxed);  // 1
    started_.head.region = 0;
    error_.forget();  // of a region that has ended here
    group_.end(true);
  }
}

LOCKSTEP_COLD fork_board::way team_core::way_of(const resolved_team& made) noexcept {
  return made.members > fork_tree::usual_width && !made.is_crowded ? fork_board::way::relayed
                                                                   : fork_board::way::direct;
}

LOCKSTEP_COLD void team_core::request_stop() {
  const std::uint32_t region = running_.load(memory_order_relaxed);  // 2
  if (region != 0) stop_.request(region);
}

LOCKSTEP_OUT_OF_LINE void team_core::play(std::size_t rank, const order& what) {
  forks_.relay(rank, what, true);
  const region_head head = what.head();
  if (rank < head.size) perform(rank, head, what.line->what);
  if (crew_.is_alone()) end_of_lone_child();
  if (forks_.is_leader(rank)) forks_.collect(rank, what.announced);
  forks_.report(rank, what.announced);
}

#endif

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_TEAM_CORE_HPP

// lockstep/detail/team/team_reductions.hpp -- reductions and scans that are a region by themselves (layer: team)
//
// A reduction's tree (range_parts.hpp) is cut across at one level into nodes; each is computed by whichever thread
// runs that part of the loop, and the caller combines them when the loop is done. Into how many nodes, and which thread
// computes which, changes no bit. For team_loops.hpp.
//
//   NODES-1  The nodes of one level: a power of two, no more than there are leaves.
//   NODES-2  A small value of a share that is one node travels with its report: one line for both. Small values of other
//            nodes go to cells of the team; larger ones to memory that the caller allocates.
#ifndef LOCKSTEP_DETAIL_TEAM_TEAM_REDUCTIONS_HPP
#define LOCKSTEP_DETAIL_TEAM_TEAM_REDUCTIONS_HPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace reductions {

/// In the caller's frame; a loop has a pointer to it. `result`: room for the value of the range.
class range_reduction {
 public:
  range_reduction(const operations& what, const operands& of, std::size_t length,
                  void* result) noexcept
      : what_(what),
        of_(of),
        length_(length),
        leaves_(reduction_tree::leaves_of(length)),
        result_(result) {}

  /// Four words: they travel with the announcement, and where the value travels with the report, nothing else of this
  /// object is read.
  struct loop {
    const operations* what;
    const operands* of;
    std::size_t length;
    range_reduction* whole;

    void operator()(loop_share& me) const { whole->run(me, *what, *of, length); }
  };
  loop work() noexcept { return {&what_, &of_, length_, this}; }
  loop_ends ends() noexcept { return {this, prepare, finish}; }
  /// After the loop: whether the value is in the room.
  bool has_result() const noexcept { return has_result_; }

 private:
  /// NODES-2. From what every share knows.
  static bool is_beside(const operations& what, std::size_t leaves, std::size_t shares,
                        std::uint32_t parts) noexcept {
    return what.type == nullptr && parts == 1 && (shares & (shares - 1)) == 0 && shares <= leaves;
  }

  LOCKSTEP_OUT_OF_LINE void run(loop_share& me, const operations& what, const operands& of,
                                std::size_t length);

  LOCKSTEP_COLD void run_nodes(loop_share& me, tree_walk& values);
  static LOCKSTEP_OUT_OF_LINE void prepare(void* data, const loop_plan& plan, loop_cells& cells);
  static LOCKSTEP_OUT_OF_LINE void finish(void* data, const loop_plan& plan,
                                          const loop_values& of_share);

  const operations& what_;
  const operands& of_;
  const std::size_t length_, leaves_;
  std::size_t nodes_ = 1;
  loop_cells* cells_ = nullptr;
  value_room values_;
  void* const result_;
  bool has_result_ = false;
};

#if LOCKSTEP_HAS_BODIES
LOCKSTEP_OUT_OF_LINE void range_reduction::run(loop_share& me, const operations& what,
                                               const operands& of, std::size_t length) {
  const std::size_t leaves = reduction_tree::leaves_of(length);
  tree_walk values(me, what, of, length);
  if (me.is_alone()) {
    if (!values.push_node(0, leaves) || me.is_stopped()) return;
    values.take_top(result_);
    has_result_ = true;
    return;
  }
  if (is_beside(what, leaves, me.size(), me.parts())) {
    const index_range node = reduction_tree::node_at(leaves, me.size(), me.rank());
    if (values.push_node(node.first, node.last)) values.put_top(nullptr, *me.beside_report());
    return;
  }
  run_nodes(me, values);
}

/// Of a share in parts, or of a number of shares that is no power of two.
LOCKSTEP_COLD void range_reduction::run_nodes(loop_share& me, tree_walk& values) {
  const index_range mine = me.block_of(index_range{0, nodes_});
  for (std::size_t number = mine.first; number < mine.last; ++number) {
    const index_range node = reduction_tree::node_at(leaves_, nodes_, number);
    if (!values.push_node(node.first, node.last)) return;
    if (what_.type == nullptr) {
      values.put_top(nullptr, (*cells_)[number]);
    } else {
      values.take_top(values_[number]);
      values_.note(number, true);
    }
  }
}

LOCKSTEP_OUT_OF_LINE void range_reduction::prepare(void* data, const loop_plan& plan,
                                                   loop_cells& cells) {
  range_reduction& self = *static_cast<range_reduction*>(data);
  if (plan.shares == 1) return;
  self.cells_ = &cells;
  if (is_beside(self.what_, self.leaves_, plan.shares, plan.parts)) {
    self.nodes_ = plan.shares;
    return;
  }
  const std::size_t wanted = std::size_t{plan.shares} * (plan.parts > 16 ? plan.parts : 16);
  while (self.nodes_ < wanted && 2 * self.nodes_ <= self.leaves_) self.nodes_ *= 2;
  if (self.what_.type != nullptr) self.values_.make(*self.what_.type, self.nodes_);
}

LOCKSTEP_OUT_OF_LINE void range_reduction::finish(void* data, const loop_plan& plan,
                                                  const loop_values& of_share) {
  range_reduction& self = *static_cast<range_reduction*>(data);
  if (plan.shares == 1) return;
  const bool beside = is_beside(self.what_, self.leaves_, plan.shares, plan.parts);
  value_stack values(self.what_, self.of_);
  for (std::size_t number = 0; number < self.nodes_; ++number) {
    if (self.what_.type != nullptr) {
      values.push_moved(self.values_[number]);
    } else {
      values.push_copy(beside ? of_share(number) : (*self.cells_)[number]);
    }
    // The nodes are those of one level, a power of two: each second one completes its parent, and so on.
    for (std::size_t done = number; (done & 1u) != 0; done >>= 1) values.combine();
  }
  values.take_top(self.result_);
  self.has_result_ = true;
}
#endif

/// Values that threads leave for the caller, each at its own number. Allocates for more than `few`.
template <class T>
class left_values {
 public:
  static constexpr std::size_t few = sizeof(T) <= 64 ? 8 : 1;

  void make(std::size_t count) {
    if (count > few) many_.reset(new aligned_array<maybe<T>>(count));
  }
  maybe<T>& operator[](std::size_t number) noexcept {
    return many_ ? (*many_)[number] : few_[number];
  }

 private:
  maybe<T> few_[few];
  owner<aligned_array<maybe<T>>> many_;
};

LOCKSTEP_NOINLINE inline bool fold_parts(loop_share& me, const operations& what, const operands& of,
                                         std::size_t length, schedule how, void* result) {
  folded_parts own(me, what, of, length);
  loops::hand_out_in(me, me, length, how, own.body());
  return own.take(result);
}
/// One value for each share: `fast`. Combined by rank.
template <class T, class Op>
class share_reduction {
 public:
  share_reduction(const operations& what, const operands& of, std::size_t length, schedule how,
                  T&& init, Op& op)
      : what_(what), of_(of), length_(length), how_(how), init_(std::move(init)), op_(op) {}

  struct loop {
    share_reduction* whole;
    void operator()(loop_share& me) const { whole->run(me); }
  };
  loop work() noexcept { return {this}; }
  loop_ends ends() noexcept { return {this, prepare, finish}; }
  T take() { return std::move(init_); }

 private:
  void run(loop_share& me) {
    result_of<T> result;
    if (!fold_parts(me, what_, of_, length_, how_, result.room())) return;
    T& sum = result.value_left();
    if (!me.is_alone()) {
      values_[me.rank()].set(std::move(sum));
    } else if (!me.is_stopped()) {
      init_ = op_(std::move(init_), std::move(sum));  // there may be no finish()
    }
  }
  static void prepare(void* data, const loop_plan& plan, loop_cells&) {
    if (plan.shares > 1) static_cast<share_reduction*>(data)->values_.make(plan.shares);
  }
  static void finish(void* data, const loop_plan& plan, const loop_values&) {
    share_reduction& self = *static_cast<share_reduction*>(data);
    for (std::size_t rank = 0; plan.shares > 1 && rank < plan.shares; ++rank) {
      if (!self.values_[rank].has_value()) continue;
      self.init_ = self.op_(std::move(self.init_), std::move(self.values_[rank].value()));
    }
  }

  const operations& what_;
  const operands& of_;
  const std::size_t length_;
  const schedule how_;
  left_values<T> values_;
  T init_;
  Op& op_;
};

/// Two loops: the sums of all leaves, then what each leaf stores from its prefix on. One alone does both in one.
template <class T, class By, class Op, class Store>
class range_scan {
 public:
  range_scan(T&& init, std::size_t length, const By& by, Op& op, const Store& store)
      : length_(length),
        leaves_(reduction_tree::leaves_of(length)),
        running_(std::move(init)),
        by_(by),
        op_(op),
        store_(store) {
    check_copyable<T>();
  }

  /// The two loops, to be carried by jobs.
  struct sums {
    range_scan* of;
    void operator()(loop_share& me) const { of->sum(me); }
  };
  struct stores {
    range_scan* of;
    void operator()(loop_share& me) const { of->store(me); }
  };
  sums first() noexcept { return {this}; }
  stores second() noexcept { return {this}; }
  loop_ends ends() noexcept { return {this, prepare, hand_on}; }
  /// After the first loop: whether the second one is needed.
  bool has_more() const noexcept { return has_more_; }
  T take() { return std::move(running_); }

 private:
  static void prepare(void* data, const loop_plan& plan, loop_cells&) {
    range_scan& self = *static_cast<range_scan*>(data);
    if (plan.shares > 1) self.sums_.make(self.leaves_);
  }
  static void hand_on(void* data, const loop_plan& plan, const loop_values&) {
    range_scan& self = *static_cast<range_scan*>(data);
    if (plan.shares == 1) return;
    for (std::size_t leaf = 0; leaf < self.leaves_; ++leaf) {
      T sum(std::move(self.sums_[leaf].value()));
      self.sums_[leaf].value() = self.running_;
      self.running_ = self.op_(std::move(self.running_), std::move(sum));
    }
    self.has_more_ = true;
  }
  void sum(loop_share& me) {
    const scan_of<T, const By, Op, const Store, loop_share> what = scan(me);
    if (me.is_alone()) {
      running_ = scan_alone<T>(what, leaves_, std::move(running_));
      return;
    }
    const index_range mine = me.block_of(index_range{0, leaves_});
    for (std::size_t leaf = mine.first; leaf < mine.last; ++leaf)
      sums_[leaf].set(what.sum_of(leaf));
  }
  void store(loop_share& me) {
    const index_range mine = me.block_of(index_range{0, leaves_});
    for (std::size_t leaf = mine.first; leaf < mine.last; ++leaf) {
      scan(me).run_through(leaf, std::move(sums_[leaf].value()));
    }
  }
  scan_of<T, const By, Op, const Store, loop_share> scan(const loop_share& me) {
    return {me, index_range{0, length_}, by_, op_, store_};
  }

  const std::size_t length_, leaves_;
  bool has_more_ = false;
  left_values<T> sums_;
  T running_;
  const By by_;
  Op& op_;
  const Store store_;
};

}  // namespace reductions
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_TEAM_REDUCTIONS_HPP

// lockstep/detail/team/team_loops.hpp -- a region that is one loop: the parallel_ functions (layer: team)
//
// Part of team's and external_team's interface; those that return bool return false if the region was stopped. Called
// from inside a region of the same team they run on the caller alone. The bounds are of any integer types, or pointers
// or iterators with random access (index_span.hpp).
//
//   TEAMLOOP-1  A loop does not wait for a member that has not begun: its share is run by others (loop_crew.hpp).
//               Members that come in time run the same share every time.
//   TEAMLOOP-2  Which thread runs an iteration is not said, nor on how many members a loop runs: where it costs more
//               than it gains, on the caller alone (loop_steering.hpp). So iterations must not wait for each other; run()
//               is for that.
//   TEAMLOOP-3  Where the loop is stopped, parts that have not begun are left out. Of several exceptions that of the
//               lowest part is thrown.
//   TEAMLOOP-4  What a closure's iteration costs is learned by its type: each place in the program with a lambda of its
//               own is known by itself. grain() says by hand how much a member should get at least.
//
// What is compiled for each closure is its leaf (leaf_loop.hpp), or its fold (reduction_operations.hpp), and a call.
//
// Cost   on the caller alone: about 20 ns. With members that are awake: an empty region, a claim by each (6 ns), the
//        work. The join is the only wait.
#ifndef LOCKSTEP_DETAIL_TEAM_TEAM_LOOPS_HPP
#define LOCKSTEP_DETAIL_TEAM_TEAM_LOOPS_HPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// In weighted_schedule.hpp: a share of a loop with blocks by what was measured.
inline void run_weighted(loop_share& me, std::size_t length, const range_body& body,
                         weighted_schedule& how);

// What the jobs of loops carry.

/// One block for each share, and a leaf that travels with it.
LOCKSTEP_NOINLINE inline index_range block_of_loop(const loop_share& me,
                                                   std::size_t length) noexcept {
  return me.block_of(index_range{0, length});
}
template <class Leaf>
struct carried_blocks {
  static constexpr bool fits = sizeof(Leaf) + sizeof(std::size_t) <= job::closure_size &&
                               alignof(Leaf) <= alignof(void*) &&
                               std::is_trivially_copy_constructible<Leaf>::value &&
                               std::is_trivially_destructible<Leaf>::value;

  std::size_t length;
  Leaf leaf;

  void operator()(loop_share& me) const {
    const index_range mine = block_of_loop(me, length);
    if (mine.first < mine.last) leaf(mine.first, mine.last);
  }
};
/// Parts by a schedule.
struct scheduled_parts {
  std::size_t length;
  schedule how;
  const range_body* body;

  void operator()(loop_share& me) const { run(me, length, how, *body); }
  LOCKSTEP_NOINLINE static void run(loop_share& me, std::size_t length, schedule how,
                                    const range_body& body) {
    loops::hand_out_in(me, me, length, how, body);
  }
};
struct weighted_parts {
  std::size_t length;
  weighted_schedule* how;
  const range_body* body;
  void (*run)(loop_share& me, std::size_t length, const range_body& body, weighted_schedule& how);

  void operator()(loop_share& me) const { run(me, length, *body, *how); }
};

/// Team: has run_loop(request, work, ends) and size().
template <class Team>
class team_loops {
 public:
  /// Calls f(i) for every i of [first, last), in contiguous blocks by rank.
  template <class First, class Last, class Function>
  if_bounds<First, Last> parallel_for(First first, Last last, Function&& f) {
    const auto span = span_of(first, last);
    return run_blocks(each_of(span, f), span.length, 0);
  }
  template <class First, class Last, class Function>
  if_bounds<First, Last> parallel_for(First first, Last last, Function&& f, schedule how) {
    const auto span = span_of(first, last);
    return run_parts(each_of(span, f), span.length, how);
  }
  /// With blocks by what was measured in the runs before: weighted_schedule.hpp. On all members.
  template <class First, class Last, class Function>
  if_bounds<First, Last> parallel_for(First first, Last last, Function&& f,
                                      weighted_schedule& how) {
    const auto span = span_of(first, last);
    const auto each = each_of(span, f);
    const range_body body = body_of(each);
    job work;
    work.carry<loop_share>(weighted_parts{span.length, &how, &body, run_weighted});
    return team().run_loop({team().size(), nullptr, 0, false, true}, work, no_ends());
  }

  /// Calls f(i, j) for every pair, and f(i, j, k) for every triple, as one range; the last index moves fastest.
  template <class Function>
  bool parallel_for_2d(index_range rows, index_range columns, Function&& f,
                       schedule how = static_schedule()) {
    const index_range_2 ranges = {rows, columns};
    return run_parts(each_of_nested(ranges, f), iterations_of(ranges), how);
  }
  template <class Function>
  bool parallel_for_3d(index_range planes, index_range rows, index_range columns, Function&& f,
                       schedule how = static_schedule()) {
    const index_range_3 ranges = {planes, rows, columns};
    return run_parts(each_of_nested(ranges, f), iterations_of(ranges), how);
  }

  /// op(init, all f(i)): see member::reduce_each. The same bits for every team size, schedule and run. If the
  /// region is stopped there is no result: throws region_stopped (without exceptions: init).
  /// T needs to be movable only. Of the schedule, only a grain has a meaning: the values come from a tree of blocks.
  template <class T, class First, class Last, class Function, class Op>
  if_bounds<First, Last, T> parallel_reduce(First first, Last last, T init, Function&& f, Op op,
                                            schedule how = static_schedule()) {
    const auto span = span_of(first, last);
    const auto values = reductions::values_of<T>(span, f, op);
    reductions::check_types<T, typename decltype(values)::value, Op>();
    if (span.length == 0) return init;
    reductions::result_of<T> result;
    const std::size_t grain = how.kind() == schedule_kind::static_blocks ? how.chunk() : 0;
    const reductions::operations& what = reductions::operations_for<T, Op>(values, true);
    if (!run_reduction(what, values, span.length, grain, result.room())) {
      leave_stopped_region();
      return init;
    }
    T& whole = result.value_left();  // before init moves, which may throw: now it is destroyed then
    return op(std::move(init), std::move(whole));
  }
  /// Faster by a little; the last bits differ from one team size to another. Requires of op what
  /// member::reduce_range(fast, ...) does. On all members.
  template <class T, class First, class Last, class Function, class Op>
  if_bounds<First, Last, T> parallel_reduce(fast_t, First first, Last last, T init, Function&& f,
                                            Op op, schedule how = static_schedule()) {
    const auto span = span_of(first, last);
    const auto values = reductions::values_of<T>(span, f, op);
    reductions::check_types<T, typename decltype(values)::value, Op>();
    reductions::share_reduction<T, Op> whole(reductions::operations_for<T, Op>(values, true),
                                             values, span.length, how, std::move(init), op);
    job work;
    work.carry<loop_share>(whole.work());
    if (!team().run_loop({span.length, nullptr, 0, false, true}, work, whole.ends())) {
      leave_stopped_region();
    }
    return whole.take();
  }

  /// Calls each of the functions once, on whichever thread comes.
  template <class... Functions>
  bool parallel_invoke(Functions&&... functions) {
    const auto each = [&](std::size_t first, std::size_t last) {
      for (std::size_t k = first; k < last; ++k) loops::call_one(k, functions...);
    };
    return run_scheduled(body_of(each), sizeof...(Functions), dynamic_schedule());
  }
  bool parallel_invoke() noexcept { return true; }

  /// store(i, op(init, f(first), ..., f(i))) for every i: an inclusive scan. Returns op(init, all f(i)). f is
  /// called twice for each i. The same bits for every team size and run; not those of a left fold (scans.hpp).
  /// Two loops; allocates room for 1024 values.
  template <class T, class First, class Last, class Function, class Op, class Store>
  if_bounds<First, Last, T> parallel_scan(First first, Last last, T init, Function&& f, Op op,
                                          Store&& store) {
    const auto span = span_of(first, last);
    const auto by = reductions::by_offset(span, f);
    const auto to = reductions::store_by_offset(span, store);
    using values = typename std::decay<decltype(by)>::type;
    using stored = typename std::decay<decltype(to)>::type;
    reductions::check_types<T, decltype(by(std::size_t())), Op>();
    if (span.length == 0) return init;
    reductions::range_scan<T, values, Op, stored> whole(std::move(init), span.length, by, op, to);
    job work;
    work.carry<loop_share>(whole.first());
    bool goes_on = team().run_loop({span.length, work.place(), 0, true, false}, work, whole.ends());
    if (goes_on && whole.has_more()) {
      work.carry<loop_share>(whole.second());
      goes_on = team().run_loop({span.length, work.place(), 0, true, false}, work, no_ends());
    }
    if (!goes_on) leave_stopped_region();
    return whole.take();
  }

 private:
  Team& team() noexcept { return static_cast<Team&>(*this); }

  static constexpr loop_ends no_ends() noexcept { return {nullptr, nullptr, nullptr}; }

  /// A leaf that travels with the loop, or a reference to it.
  template <class Leaf>
  typename std::enable_if<carried_blocks<Leaf>::fits, bool>::type run_blocks(const Leaf& leaf,
                                                                             std::size_t length,
                                                                             std::size_t grain) {
    job work;
    work.carry<loop_share>(carried_blocks<Leaf>{length, leaf});
    return team().run_loop({length, work.place(), grain, true, false}, work, no_ends());
  }
  template <class Leaf>
  typename std::enable_if<!carried_blocks<Leaf>::fits, bool>::type run_blocks(const Leaf& leaf,
                                                                              std::size_t length,
                                                                              std::size_t grain) {
    return run_scheduled(body_of(leaf), length,
                         grain == 0 ? static_schedule() : lockstep::grain(grain));
  }
  template <class Leaf>
  bool run_parts(const Leaf& leaf, std::size_t length, schedule how) {
    if (how.kind() == schedule_kind::static_blocks) return run_blocks(leaf, length, how.chunk());
    return run_scheduled(body_of(leaf), length, how);
  }
  LOCKSTEP_NOINLINE bool run_scheduled(const range_body& body, std::size_t length, schedule how) {
    const bool is_blocks = how.kind() == schedule_kind::static_blocks;
    job work;
    work.carry<loop_share>(scheduled_parts{length, how, &body});
    return team().run_loop(
        {length, place_of(body.call), is_blocks ? how.chunk() : 0, is_blocks, false}, work,
        no_ends());
  }
  /// False if it was stopped.
  LOCKSTEP_NOINLINE bool run_reduction(const reductions::operations& what,
                                       const reductions::operands& of, std::size_t length,
                                       std::size_t grain, void* result) {
    reductions::range_reduction whole(what, of, length, result);
    job work;
    work.carry<loop_share>(whole.work());
    return team().run_loop({length, place_of(what.fold), grain, true, false}, work, whole.ends()) &&
           whole.has_result();
  }
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_TEAM_LOOPS_HPP

// lockstep/semaphore.hpp -- a number of permits that threads take and give (layer: sync)
//
// std::counting_semaphore by its operations. Permits go to waiters in the order of their arrival, and while a thread
// waits no other overtakes it. What happens before a release() happens before the return of every acquire() that needed
// it. For one notifier and one waiter event.hpp is faster.
//
// Invariants
//   SEMAPHORE-1  0 <= permits <= max(); a release beyond is refused and changes nothing.
//   SEMAPHORE-2  `waiting` is set exactly while the queue is not empty. Then permits are taken only by hand_over(), for
//                the front of the queue, under the queue's lock.
//   SEMAPHORE-3  The semaphore may be destroyed by a thread whose acquire() has returned, although the release() that
//                let it go has not: that touches nothing after its change of the word, unless the queue has a waiter
//                (PARKING-2), and not the word after the last waiter was notified.
//
// word_
//   bit    name     meaning                  set by                               cleared by
//   0      waiting  the queue has a waiter   a waiter, as it queues up            the last to leave the queue
//   1..31  permits  how many are to be had   release counts up                    acquire, or hand_over(), counts down
// None may be wrong outside of the queue's lock: without waiting a release serves nobody and others overtake; with
// waiting and no waiter nobody gets a permit any more.
//
// Memory order (# marks the line)
//   #  access            order    pairs  why it suffices
//   1  word.compare_exch release  -      for rows 1 and 4 of queued_word.hpp: a permit carries what its releaser did,
//                                        and those before it, because all changes keep the release sequence
//   2  word.load         relaxed  -      a guess for the compare-exchange that follows
//
// Cost   acquire and release: one read-modify-write each; no system call unless a thread sleeps. 8 bytes.
// Source [DIJKSTRA65] for what it is, [PARKING-LOT] for the queue.
#ifndef LOCKSTEP_SEMAPHORE_HPP
#define LOCKSTEP_SEMAPHORE_HPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// What the bits of a semaphore mean (queued_word.hpp). All threads want the same: a permit.
struct semaphore_rules {
  static constexpr parking_lot::kind queue = parking_lot::kind::semaphore;
  static constexpr bool backs_off = false;

  static constexpr std::uint32_t waiting = 1, one_permit = 2;

  static bool may_take(std::uint32_t word, std::uint32_t) noexcept {
    return word >= one_permit && (word & waiting) == 0;
  }
  static bool may_be_given(std::uint32_t word, std::uint32_t) noexcept {
    return word >= one_permit;
  }
  static std::uint32_t taken(std::uint32_t word, std::uint32_t) noexcept {
    return word - one_permit;
  }
  static std::uint32_t marked(std::uint32_t word, std::uint32_t) noexcept { return word | waiting; }
  static std::uint32_t without_waiters(std::uint32_t word) noexcept { return word & ~waiting; }
};
static_assert(parking_lot::without_waiters(semaphore_rules::queue) == ~semaphore_rules::waiting,
              "PARKING-4");

}  // namespace detail

template <std::ptrdiff_t LeastMax = 0x3FFFFFFF>
class counting_semaphore : private detail::handed_word<detail::semaphore_rules> {
  static_assert(LeastMax >= 1 && LeastMax <= 0x3FFFFFFF, "a maximum of 1 to 2^30 - 1 permits");
  using rules = detail::semaphore_rules;

 public:
  static constexpr std::ptrdiff_t(max)() noexcept { return LeastMax; }

  /// Requires: 0 <= permits <= max().
  explicit constexpr counting_semaphore(std::ptrdiff_t permits, wait_policy policy = wait_policy())
      : handed_word(static_cast<std::uint32_t>(checked(permits)) * rules::one_permit, policy) {}
  ~counting_semaphore() { detail::misuse::destroying(this, kind()); }
  counting_semaphore(const counting_semaphore&) = delete;
  counting_semaphore& operator=(const counting_semaphore&) = delete;

  /// Blocks until a permit is there and takes it.
  void acquire() { try_acquire_until(deadline::never()); }

  /// Takes a permit if one is there that no thread waits for; never blocks.
  bool try_acquire() noexcept { return try_take(0); }

  /// As acquire(), for at most `time`; false if no permit was to be had.
  template <class Rep, class Period>
  bool try_acquire_for(std::chrono::duration<Rep, Period> time) {
    return try_acquire_until(deadline::after(time));
  }
  bool try_acquire_until(deadline until) { return try_acquire() || take_slowly(0, until); }

  /// Gives `count` permits. Fails, and gives none, if there were more than max() then.
  void release(std::ptrdiff_t count = 1) {
    if (count < 0) fail_release(count, 0);
    std::uint32_t word = word_.load(detail::memory_order_relaxed);  // 2
    do {
      const std::ptrdiff_t there = static_cast<std::ptrdiff_t>(word / rules::one_permit);
      if (count > (max)() - there) fail_release(count, there);
    } while (!word_.compare_exchange_strong(
        word, word + static_cast<std::uint32_t>(count) * rules::one_permit,
        detail::memory_order_release,  // 1
        detail::memory_order_relaxed));  // 2
    if ((word & rules::waiting) != 0) hand_over();
  }

  using handed_word::policy;

 private:
  static const char* kind() noexcept { return "lockstep::counting_semaphore"; }

  static constexpr std::ptrdiff_t checked(std::ptrdiff_t permits) {
    return permits >= 0 && permits <= (max)() ? permits : fail_permits(permits);
  }
  [[noreturn]] static std::ptrdiff_t fail_permits(std::ptrdiff_t permits) {
    char message[120];
    std::snprintf(message, sizeof message, "%s: %td permits given, must be 0 to %td", kind(),
                  permits, (max)());
    detail::fail<std::invalid_argument>(message);
  }
  [[noreturn]] LOCKSTEP_NOINLINE void fail_release(std::ptrdiff_t count, std::ptrdiff_t there) {
    char message[160];
    std::snprintf(message, sizeof message,
                  "%s: release of %td permits by %s, but there are %td and at most %td may be",
                  kind(), count, detail::label_of_this_thread().text, there, (max)());
    if (detail::misuse::diagnosed) detail::misuse::report(this, kind(), message);
    detail::fail<std::invalid_argument>(message);
  }
};

using semaphore = counting_semaphore<>;
using binary_semaphore = counting_semaphore<1>;

static_assert(sizeof(semaphore) == 8, "a word of state and a policy");

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SEMAPHORE_HPP

// lockstep/sub_team.hpp -- part of a team that works on its own for a while (layer: team)
//
//   lockstep::sub_team half = me.split(me.rank() % 2);
//   half->sync_threads();                          // waits for the members of this half only
//
// Made by member::split() and member::first(). Through it a member has a rank and a size of its own, and every
// construct of member is among the members of the sub-team. It ends when all of them have destroyed
// theirs, inside the region. A stopped region stops its sub-teams. After the region it must neither be used nor
// let go: debug builds end the program with a message then.
//
// Cost   making one: two phases of the outer barrier (first: one), and memory. Its end: one RMW a member.
#ifndef LOCKSTEP_SUB_TEAM_HPP
#define LOCKSTEP_SUB_TEAM_HPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {

class sub_team {
 public:
  /// Of nobody.
  sub_team() noexcept = default;
  sub_team(sub_team&& other) noexcept { take_over(other); }
  sub_team& operator=(sub_team&& other) noexcept {
    if (this == &other) return *this;
    let_go();
    take_over(other);
    return *this;
  }
  ~sub_team() { let_go(); }

  /// False for a member that has no part in it.
  explicit operator bool() const noexcept { return has_part_; }
  /// This member, in the sub-team. Requires: it has a part in it.
  member& operator*() noexcept {
    check_region("used");
    return self();
  }
  member* operator->() noexcept { return &**this; }

 private:
  friend class member;

  /// Of a member that is alone in its region.
  explicit sub_team(detail::member_state& alone) noexcept { set_self(member(alone)); }
  /// `outer`: the same member in what the sub-team is part of.
  sub_team(detail::sub_group& of, std::size_t rank, const detail::member_state& outer) noexcept
      : of_(&of) {
    const std::uint32_t region = outer.region();
    detail::member_state& inner = of.shared.enter(rank, of.shared.most(), region, 0);
    inner.set_rank_in_team(outer.rank_in_team());
    set_self(member(inner));
    const void* const boards = &of.shared.of_region();
    if (!detail::nesting::is_in_region(boards, region)) return;  // one without a team
    boards_ = boards;
    region_ = region;
  }

  member& self() noexcept { return *reinterpret_cast<member*>(self_); }
  void set_self(const member& as) noexcept {
    ::new (static_cast<void*>(self_)) member(as);
    has_part_ = true;
  }
  void take_over(sub_team& other) noexcept {
    if (other.has_part_) set_self(other.self());
    of_ = other.of_;
    boards_ = other.boards_;
    region_ = other.region_;
    other.forget();
  }
  void forget() noexcept {
    has_part_ = false;
    of_ = nullptr;
    boards_ = nullptr;
  }
  /// What the region had may be gone: only what the calling thread has for itself is looked at.
  void check_region(const char* deed) const noexcept {
    if (!detail::diagnoses_misuse || boards_ == nullptr) return;
    if (detail::nesting::is_in_region(boards_, region_)) return;
    std::fprintf(
        stderr,
        "lockstep::sub_team at %p: %s after its region, or by a thread that is not in it; a "
        "sub_team ends before its region does\n",
        static_cast<const void*>(this), deed);
    std::abort();
  }
  void let_go() noexcept {
    if (of_ != nullptr) {
      check_region("let go");
      of_->let_go();
    }
    forget();
  }

  /// The member that is to be rank 0 makes the group; `leader` is its rank in the region.
  static sub_team among(detail::member_state& at, std::size_t leader, std::size_t rank,
                        std::size_t size) {
    if (at.goes_on() && rank == 0 && size > 0) {
      detail::sub_group* const made = new detail::sub_group(size, at.shared());
      at.shared().sub_groups().add(*made);
      detail::reductions::put_value(at, made);
    }
    if (!at.sync()) {
      detail::leave_stopped_region();
      return sub_team();
    }
    if (size == 0) return sub_team();
    const detail::cell& from = at.shared().cell_of(leader, at.phase, 0);
    return sub_team(*detail::cell_access<detail::sub_group*>::get(from), rank, at);
  }

  alignas(member) unsigned char self_[sizeof(member)];
  bool has_part_ = false;
  detail::sub_group* of_ = nullptr;  ///< null: of nobody, or of a member that is alone
  const void* boards_ = nullptr;     ///< of the region; null: not checked
  std::uint32_t region_ = 0;
};
static_assert(std::is_trivially_destructible<member>::value, "sub_team never destroys its own");

inline sub_team member::split(std::size_t color, call_site where) {
  at_.come_to("split", where);
  if (!at_.goes_on()) detail::leave_stopped_region();
  if (at_.is_alone()) return color == no_color ? sub_team() : sub_team(at_);
  if (at_.goes_on()) detail::reductions::put_value(at_, color);
  if (!at_.sync()) {
    detail::leave_stopped_region();
    return sub_team();
  }
  std::size_t leader = size(), rank_there = 0, size_there = 0;
  for (std::size_t other = 0; other < size() && color != no_color; ++other) {
    const detail::cell& theirs = at_.shared().cell_of(other, at_.phase, 0);
    if (detail::cell_access<std::size_t>::get(theirs) != color) continue;
    if (size_there == 0) leader = other;
    if (other < rank()) ++rank_there;
    ++size_there;
  }
  return sub_team::among(at_, leader, rank_there, size_there);
}

inline sub_team member::first(std::size_t k, call_site where) {
  detail::checked_range("lockstep::member::first", "members", k, 1, size());
  at_.come_to("first", where, k);
  if (!at_.goes_on()) detail::leave_stopped_region();
  if (at_.is_alone()) return sub_team(at_);
  return rank() < k ? sub_team::among(at_, 0, rank(), k) : sub_team::among(at_, 0, 0, 0);
}

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SUB_TEAM_HPP

// lockstep/external_team.hpp -- a team over threads that the user owns (layer: team)
//
//   lockstep::external_team team(3);
//   // on two threads of yours, with the attributes you gave them:  team.serve(1);  and  team.serve(2);
//   team.run([](lockstep::member& me) { ... });    // on a third: it is member 0
//   team.release();                                // serve() returns
//
// Regions are those of team: TEAM-1 to TEAM-3, TEAM-5 (in a child process the serving threads are gone: only regions
// of one member are left). run() waits until those serve who hear of it: the members that it needs, and
// those who watch the same lines (fork_lines.hpp): in a team of up to 8, all. Loops wait for nobody who does not
// serve yet (team_loops.hpp).
//
// Memory order (# marks the line; each weakening must fail a test)
//   #  access            order    pairs  why it suffices
//   1  claimed.exchange  relaxed  -      one thread a rank; the fork orders the rest
//   2  claimed.load      relaxed  -      in the destructor, after which nobody may come
//
// Cost   that of team; serve() itself nothing.
#ifndef LOCKSTEP_EXTERNAL_TEAM_HPP
#define LOCKSTEP_EXTERNAL_TEAM_HPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {

namespace detail {
struct plan_access;
}  // namespace detail

class external_team : public detail::team_loops<external_team> {
 public:
  /// For `members` threads: the caller of run() and those that serve. Fails if it is 0 or above 65536.
  LOCKSTEP_ENTRY explicit external_team(std::size_t members);
  LOCKSTEP_ENTRY external_team(std::size_t members, wait_policy policy);
  /// Releases, and waits until every serving thread has left. Requires: no region runs, nobody comes to
  /// serve any more.
  /// TEAM-7 goes for it as well: while a region of another thread runs, the serving threads are left as they are.
  LOCKSTEP_ENTRY ~external_team();
  external_team(const external_team&) = delete;
  external_team& operator=(const external_team&) = delete;

  std::size_t size() const noexcept { return door_.size(); }
  wait_policy policy() const noexcept { return door_.policy(); }

  /// The calling thread is member `rank` of every region until release(). Fails if rank is 0 (that is who calls run()),
  /// is not below size(), or is taken. After release() it returns at once, whoever had the rank.
  LOCKSTEP_OUT_OF_LINE void serve(std::size_t rank);

  /// Every serve() returns, now and in future. Any thread may call it while no region runs.
  LOCKSTEP_ENTRY void release();

  /// As team's.
  template <class Function>
  bool run(Function&& f) {
    return run_on(size(), f);
  }
  template <class Function>
  bool run(std::size_t k, Function&& f) {
    detail::checked_range("lockstep::external_team::run", "members", k, 1, size());
    return run_on(k, f);
  }
  void request_stop() { body_->core.request_stop(); }

 private:
  friend class detail::team_loops<external_team>;
  friend struct detail::plan_access;

  /// The threads that serve, in the place of a team's workers.
  struct serving_threads {
    const detail::team_core& core;

    void make_ready() const {
      if (core.is_closed()) refuse();
    }
    [[noreturn]] LOCKSTEP_COLD static void refuse();
  };
  struct body {
    body(const detail::resolved_team& made, detail::team_door& door)
        : core(made, door), servers{core}, claimed(made.members) {}

    detail::team_core core;
    serving_threads servers;
    detail::aligned_array<detail::wait_word> claimed;
    semaphore left{0};
  };

  LOCKSTEP_COLD explicit external_team(const team_options& options);
  LOCKSTEP_COLD explicit external_team(const detail::resolved_team& made);

  /// Who owns the threads binds and moves them.
  static LOCKSTEP_COLD team_options options_for(std::size_t members);

  template <class Function>
  bool run_on(std::size_t k, Function& f) {
    if (k > 1) check_parent();
    detail::check_part<Function>();
    detail::part_of<Function> part(f);
    return detail::team_core::run(door_, &body_->core, body_->servers, k, part.function());
  }
  /// As team_core's.
  LOCKSTEP_OUT_OF_LINE bool run_loop(const detail::loop_request& of, detail::job& what,
                                     const detail::loop_ends& ends);

  void check_parent() const {
    if (is_child_ && !detail::nesting::is_inside(&body_->core)) refuse_child();
  }
  [[noreturn]] LOCKSTEP_COLD static void refuse_child();

  /// Of `self`, an external_team.
  static LOCKSTEP_COLD void in_child(void* self) noexcept;

  detail::team_door door_;
  detail::owned_body<body> body_;
  bool is_child_ = false;
  detail::fork_listener fork_listener_{this, in_child};  // the last: see fork.hpp
};

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_EXTERNAL_TEAM_HPP

// lockstep/detail/wait/phase_board.hpp -- writers publish phases, readers wait for all of them (layer: wait)
//
// The common part of fan_out, fan_in and rendezvous; use those. Every writer has a phase number that it alone
// advances. Every reader remembers the phase that it has reached. A wait blocks until *each* writer is beyond
// that phase: a fast writer cannot stand in for a slow one, and may run ahead without losing a notification.
//
// What happens before an advance happens before the return of every wait that needs it.
// Lifetime: destroy only after every call on the board has returned. Waiters are registered under the board's
// address (misuse.hpp): the object that holds the board asks for it in its destructor.
//
//   BOARD-1  A phase only ever grows by one, by its writer. Differences are taken modulo 2^32: a writer may be
//            2^31 - 1 phases ahead of a reader, and wrap-around is harmless.
//   BOARD-2  The phase that a writer has published is kept once more as plain data of that writer, which therefore
//            never reads its published line.
//   BOARD-3  terminated_ is set once and never cleared; a wait that finds it set returns `terminated`.
//
// Memory order (# marks the line; published_words.hpp has the rest)
//   #  access            order    pairs  why it suffices
//   1  terminated.store  release  2      the released waiter sees what came before terminate()
//   2  terminated.load   acquire  1      the other half
//
// Cost   advance: one store, one load of a read-mostly line. Wait for W writers: W line fetches, in parallel
//        where they have all arrived.
#ifndef LOCKSTEP_DETAIL_WAIT_PHASE_BOARD_HPP
#define LOCKSTEP_DETAIL_WAIT_PHASE_BOARD_HPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

class phase_board {
 public:
  phase_board(std::size_t writers, std::size_t readers, wait_policy policy,
              std::uint32_t first_phase)
      : phases_(writers, policy), written_(writers), readers_(readers) {
    phases_.reset(first_phase, writers);
    for (std::size_t i = 0; i < writers; ++i) written_[i].value = first_phase;
    for (std::size_t i = 0; i < readers; ++i) readers_[i].value.phase = first_phase;
  }

  std::size_t writers() const noexcept { return written_.size(); }
  std::size_t readers() const noexcept { return readers_.size(); }
  wait_policy policy() const noexcept { return phases_.policy(); }

  /// Publishes the writer's next phase.
  void advance(std::size_t writer) { phases_[writer].publish(++written_[writer].value); }

  /// Waits until every writer is beyond the reader's phase, then moves the reader on. Begins with writer `first`:
  /// readers that begin with different writers disturb each other less.
  wait_status wait_until(std::size_t reader, std::size_t first, deadline until) {
    reader_state& self = readers_[reader].value;
    const phase_reached next{self.phase + 1};
    for (std::size_t i = 0, writer = first; i < writers(); ++i, ++writer) {
      if (writer == writers()) writer = 0;
      auto what = phases_[writer].awaited(next, stops_when_set{terminated_});
      if (!wait_watched(what, this, policy(), self.history, until, wait_engine::shared_yield_time))
        return wait_status::timed_out;
    }
    if (terminated()) return wait_status::terminated;
    self.phase = next.target;
    return wait_status::ready;
  }

  /// True, and moves the reader on, if a wait would return at once; never blocks.
  bool try_wait(std::size_t reader) noexcept {
    reader_state& self = readers_[reader].value;
    const phase_reached next{self.phase + 1};
    if (terminated()) return false;
    for (std::size_t writer = 0; writer < writers(); ++writer) {
      if (!next(phases_[writer].value())) return false;
    }
    self.phase = next.target;
    return true;
  }

  void terminate() {
    terminated_.store(1, detail::memory_order_release);  // 1
    phases_.wake_all();
  }
  bool terminated() const noexcept {
    return terminated_.load(detail::memory_order_acquire) != 0;  // 2
  }

 private:
  struct reader_state {
    std::uint32_t phase = 0;
    wait_history history = {};
  };

  detail::line_gap before_;
  published_words<std::uint32_t> phases_;
  detail::aligned_array<detail::padded<std::uint32_t>> written_;
  detail::aligned_array<detail::padded<reader_state>> readers_;
  detail::wait_word terminated_{0};
  detail::line_gap after_;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_WAIT_PHASE_BOARD_HPP

// lockstep/fan.hpp -- some threads notify, others wait: fan_out (1:N), fan_in (N:1), rendezvous (N:M) (layer: sync)
//
// Notifiers and waiters are different roles, each with ranks from 0. A wait takes one notification of *each*
// notifier. Notifications are counted: none is lost, whichever side comes first; a fast notifier that notifies
// twice does not stand in for a slow one, and its second notification serves the second wait. No notifier waits.
// What happens before a notification happens before the return of every wait that takes it.
//
//   fan_out     one notifier, N waiters   every notify() lets each waiter return from one wait(rank)
//   fan_in      N notifiers, one waiter   a wait() returns when each notifier has called notify(rank) once more
//   rendezvous  N notifiers, M waiters    the same for each of M waiters
// For one notifier and one waiter take event; where every thread is both, take barrier.
//
// Lifetime: destroy only after every call has returned.
// Cost   notify: one store on the notifier's own line, and one load of a read-mostly line. wait: one line fetch
//        for each notifier, in parallel. No read-modify-write; no system call unless somebody sleeps.
#ifndef LOCKSTEP_FAN_HPP
#define LOCKSTEP_FAN_HPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {

class fan_out {
 public:
  /// Fails if waiters is 0 or more than 65536. Tests pass `first_phase` to start next to wrap-around.
  explicit fan_out(std::size_t waiters, wait_policy policy = wait_policy(),
                   std::uint32_t first_phase = 0)
      : board_(1, detail::checked_count("lockstep::fan_out", "waiters", waiters),
               policy.when_crowded(waiters + 1 > detail::usable_cpus()), first_phase) {}
  fan_out(const fan_out&) = delete;
  fan_out& operator=(const fan_out&) = delete;
  ~fan_out() { detail::misuse::destroying(&board_, "lockstep::fan_out"); }

  std::size_t waiters() const noexcept { return board_.readers(); }

  /// Requires: one notifier at a time.
  void notify() { board_.advance(0); }

  /// Blocks until the next notification for this rank; false once terminated.
  /// Requires: each rank used by one thread at a time. Fails if rank >= waiters().
  bool wait(std::size_t rank) { return wait_until(rank, deadline::never()) == wait_status::ready; }
  /// Takes a notification if one is there; never blocks.
  bool try_wait(std::size_t rank) { return board_.try_wait(checked(rank)); }
  /// As wait(), for at most `time`; nothing is taken at a time-out.
  template <class Rep, class Period>
  wait_status wait_for(std::size_t rank, std::chrono::duration<Rep, Period> time) {
    return wait_until(rank, deadline::after(time));
  }
  wait_status wait_until(std::size_t rank, deadline until) {
    return board_.wait_until(checked(rank), 0, until);
  }

  /// Releases every waiter; from now on every wait returns at once. Any thread may call it.
  void terminate() { board_.terminate(); }
  bool terminated() const noexcept { return board_.terminated(); }

 private:
  std::size_t checked(std::size_t rank) const {
    return detail::checked_rank("lockstep::fan_out", "waiters", rank, waiters());
  }

  detail::phase_board board_;
};

class fan_in {
 public:
  /// Fails if notifiers is 0 or more than 65536. Tests pass `first_phase` to start next to wrap-around.
  explicit fan_in(std::size_t notifiers, wait_policy policy = wait_policy(),
                  std::uint32_t first_phase = 0)
      : board_(detail::checked_count("lockstep::fan_in", "notifiers", notifiers), 1,
               policy.when_crowded(notifiers + 1 > detail::usable_cpus()), first_phase) {}
  fan_in(const fan_in&) = delete;
  fan_in& operator=(const fan_in&) = delete;
  ~fan_in() { detail::misuse::destroying(&board_, "lockstep::fan_in"); }

  std::size_t notifiers() const noexcept { return board_.writers(); }

  /// Requires: each rank used by one thread at a time. Fails if rank >= notifiers().
  void notify(std::size_t rank) {
    board_.advance(detail::checked_rank("lockstep::fan_in", "notifiers", rank, notifiers()));
  }

  /// Blocks until every notifier has notified once more; false once terminated.
  /// Requires: one waiter at a time.
  bool wait() { return wait_until(deadline::never()) == wait_status::ready; }
  /// Takes one notification of each notifier if all are there; never blocks.
  bool try_wait() { return board_.try_wait(0); }
  /// As wait(), for at most `time`; nothing is taken at a time-out.
  template <class Rep, class Period>
  wait_status wait_for(std::chrono::duration<Rep, Period> time) {
    return wait_until(deadline::after(time));
  }
  wait_status wait_until(deadline until) { return board_.wait_until(0, 0, until); }

  /// Releases the waiter; from now on every wait returns at once. Any thread may call it.
  void terminate() { board_.terminate(); }
  bool terminated() const noexcept { return board_.terminated(); }

 private:
  detail::phase_board board_;
};

class rendezvous {
 public:
  /// Fails if a count is 0 or above 65536. Tests pass `first_phase` to start next to wrap-around.
  rendezvous(std::size_t notifiers, std::size_t waiters, wait_policy policy = wait_policy(),
             std::uint32_t first_phase = 0)
      : board_(detail::checked_count("lockstep::rendezvous", "notifiers", notifiers),
               detail::checked_count("lockstep::rendezvous", "waiters", waiters),
               policy.when_crowded(notifiers + waiters > detail::usable_cpus()), first_phase) {}
  rendezvous(const rendezvous&) = delete;
  rendezvous& operator=(const rendezvous&) = delete;
  ~rendezvous() { detail::misuse::destroying(&board_, "lockstep::rendezvous"); }

  std::size_t notifiers() const noexcept { return board_.writers(); }
  std::size_t waiters() const noexcept { return board_.readers(); }

  /// Requires: each rank used by one thread at a time. Fails if rank >= notifiers().
  void notify(std::size_t rank) {
    board_.advance(detail::checked_rank("lockstep::rendezvous", "notifiers", rank, notifiers()));
  }

  /// Blocks until every notifier has notified once more; false once terminated.
  /// Requires: each rank used by one thread at a time. Fails if rank >= waiters().
  bool wait(std::size_t rank) { return wait_until(rank, deadline::never()) == wait_status::ready; }
  /// As wait() if it would return true at once, else false; never blocks.
  bool try_wait(std::size_t rank) { return board_.try_wait(checked(rank)); }
  /// As wait(), for at most `time`; nothing is taken at a time-out.
  template <class Rep, class Period>
  wait_status wait_for(std::size_t rank, std::chrono::duration<Rep, Period> time) {
    return wait_until(rank, deadline::after(time));
  }
  wait_status wait_until(std::size_t rank, deadline until) {
    return board_.wait_until(checked(rank), rank % notifiers(), until);
  }

  /// Releases every waiter; from now on every wait returns at once. Any thread may call it.
  void terminate() { board_.terminate(); }
  bool terminated() const noexcept { return board_.terminated(); }

 private:
  std::size_t checked(std::size_t rank) const {
    return detail::checked_rank("lockstep::rendezvous", "waiters", rank, waiters());
  }

  detail::phase_board board_;
};

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_FAN_HPP

// lockstep/future_set.hpp -- ready after n contributions from any threads (layer: sync)
//
// The last of n contributions runs the callback, with all values at hand, and then releases all waiters.
// What happens before any contribution happens before the callback, and the callback happens before every
// return from a wait. This is Argobots' future. One value: eventual. No values and no callback: latch, which
// is smaller.
//
// Invariants, n = contributions()
//   FUTURES-1  Each contribution has an index of its own from 0 to n - 1. One more fails and changes nothing.
//   FUTURES-2  The callback runs once, on the thread of the last contribution, before any waiter is released.
//   FUTURES-3  The set is ready when all have contributed, never earlier, not even after an exception. So a
//              waiter that has returned knows that no contributor uses the set any more. It may destroy the
//              set when the other waits have returned, too.
//   FUTURES-4  If a contribution is an exception, or a value's assignment or the callback throws, the waiters
//              get the first one. The callback does not run after an exception.
//   FUTURES-5  The callback must neither wait for the set nor contribute nor destroy it: it is not ready yet.
// With n = 0 the set is ready at once: constructor and reset() run the callback.
//
// Memory order (# marks the line; each weakening must fail a test)
//   #  access              order    pairs  why it suffices
//   1  tickets.fetch_add   relaxed  -      only gives out different numbers
//   2  failures.fetch_add  relaxed  -      only chooses one; what it writes is published by 3
//   3  arrived.fetch_add   acq_rel  3      the last to arrive sees what all have written; the eventual
//                                          passes that on to the waiters
//   4  store               relaxed  -      reset() requires that no other thread uses the set
//
// Cost   contribute: two RMWs on one line; the last one also the callback and an eventual's set. wait:
//        one load when ready. When the set is made: an allocation for the values, one for the callback. Values
//        lie side by side: contributors may share their lines.
#ifndef LOCKSTEP_FUTURE_SET_HPP
#define LOCKSTEP_FUTURE_SET_HPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {

namespace detail {

/// Who has contributed, and the first error.
class future_counts {
 public:
  future_counts(const future_counts&) = delete;
  future_counts& operator=(const future_counts&) = delete;

  std::size_t contributions() const noexcept { return contributions_; }

  /// Blocks until all have contributed; throws the exception that is carried.
  void wait() const { done_.get(); }

  /// True if all have contributed; never blocks. Neither this nor a timed wait throws what is carried.
  bool is_ready() const noexcept { return done_.is_ready(); }
  bool try_wait() const noexcept { return done_.is_ready(); }
  template <class Rep, class Period>
  wait_status wait_for(std::chrono::duration<Rep, Period> time) const {
    return done_.wait_for(time);
  }
  wait_status wait_until(deadline until) const { return done_.wait_until(until); }

  wait_policy policy() const noexcept { return done_.policy(); }

 protected:
  future_counts(std::size_t contributions, wait_policy policy)
      : done_(policy),
        contributions_(contributions),
        tickets_(0),
        arrived_(0),
        failures_(0),
        error_() {}
  ~future_counts() { detail::misuse::destroying(&done_, "lockstep::future_set"); }

  std::size_t take_ticket() {
    const std::size_t index = tickets_.fetch_add(1, detail::memory_order_relaxed);  // 1
    if (index >= contributions_) fail_contribution(contributions_);
    return index;
  }

  /// Keeps the first error; nullptr is none.
  void note(std::exception_ptr error) noexcept {
    if (error == nullptr) return;
    const std::size_t before = failures_.fetch_add(1, detail::memory_order_relaxed);  // 2
    if (before == 0) error_ = std::move(error);
  }

  /// The last call completes the set. The caller touches nothing of the set afterwards.
  template <class Callback>
  void arrive(const Callback& callback) {
    // Read first: an arrival that is not the last must not touch the set any more (FUTURES-3).
    const std::size_t last = contributions_ - 1;
    if (arrived_.fetch_add(1, detail::memory_order_acq_rel) == last) {  // 3
      complete(callback);
    }
  }

  template <class Callback>
  void complete(const Callback& callback) {
    if (error_ == nullptr) error_ = error_of(callback);
    if (error_ == nullptr) {
      done_.set_value();
    } else {
      done_.set_exception(std::move(error_));
    }
  }

  template <class Function>
  static std::exception_ptr error_of(const Function& f) {
#if LOCKSTEP_HAS_EXCEPTIONS
    try {
      f();
    } catch (...) {
      return std::current_exception();
    }
#else
    f();
#endif
    return std::exception_ptr();
  }

  void reset_counts() noexcept {
    done_.reset();
    error_ = std::exception_ptr();
    tickets_.store(0, detail::memory_order_relaxed);   // 4
    arrived_.store(0, detail::memory_order_relaxed);   // 4
    failures_.store(0, detail::memory_order_relaxed);  // 4
  }

  static std::exception_ptr checked(std::exception_ptr error) {
    if (error == nullptr) {
      detail::fail<std::invalid_argument>(
          "lockstep::future_set: contribute_exception without an exception");
    }
    return error;
  }

 private:
  [[noreturn]] LOCKSTEP_NOINLINE static void fail_contribution(std::size_t contributions) {
    char message[128];
    std::snprintf(message, sizeof message,
                  "lockstep::future_set: contributed, but all %zu contributions are made",
                  contributions);
    detail::fail<std::logic_error>(message);
  }

  eventual<void> done_;
  const std::size_t contributions_;
  detail::atomic<std::size_t> tickets_;
  detail::atomic<std::size_t> arrived_;
  detail::atomic<std::size_t> failures_;
  std::exception_ptr error_;  // of the first failure; read by the last to arrive
};

/// What future_set<T> and future_set<void> have in common. Set: one of them; set.pass_to(f) calls f with the values.
/// The callback is not a std::function, because <functional> costs a tenth of what lockstep.hpp does to compile.
template <class Set>
class future_set_base : public future_counts {
 public:
  ~future_set_base() { delete on_ready_; }

  /// In place of a value; returns its index. Fails if all have contributed, or if there is no exception.
  std::size_t contribute_exception(std::exception_ptr error) {
    std::exception_ptr ours = checked(std::move(error));
    const std::size_t index = take_ticket();
    note(std::move(ours));
    arrive(run_callback{*this});
    return index;
  }

  /// Begins anew, even if not all have contributed.
  /// Requires: no thread waits, reads or contributes, and what such threads did happens before this call.
  void reset() {
    reset_counts();
    begin();
  }

 protected:
  future_set_base(std::size_t contributions, wait_policy policy, std::nullptr_t)
      : future_counts(contributions, policy), on_ready_(nullptr) {}
  template <class Function>
  future_set_base(std::size_t contributions, wait_policy policy, Function&& on_ready)
      : future_counts(contributions, policy),
        on_ready_(is_empty(on_ready) ? nullptr
                                     : new holder<typename std::decay<Function>::type>(
                                           std::forward<Function>(on_ready))) {}

  /// Once the set is made.
  void begin() {
    if (contributions() == 0) complete(run_callback{*this});
  }

  /// Contributes what `store(index)` stores.
  template <class Store>
  std::size_t put(const Store& store) {
    const std::size_t index = take_ticket();
    note(error_of([&store, index] { store(index); }));
    arrive(run_callback{*this});
    return index;
  }

 private:
  struct any_callback {
    virtual ~any_callback() = default;
    virtual void call(const Set& set) = 0;
  };
  template <class Function>
  struct holder final : any_callback {
    Function function;

    template <class From>
    explicit holder(From&& f) : function(std::forward<From>(f)) {}
    void call(const Set& set) override { set.pass_to(function); }
  };
  struct run_callback {
    const future_set_base& owner;
    void operator()() const {
      if (owner.on_ready_ != nullptr) owner.on_ready_->call(static_cast<const Set&>(owner));
    }
  };

  /// A null pointer and an empty std::function are no callback.
  template <class Function>
  static bool is_empty(const Function& f) {
    constexpr bool is_explicit = std::is_constructible<bool, const Function&>::value &&
                                 !std::is_convertible<const Function&, bool>::value;
    return is_empty(
        f, std::integral_constant<bool, is_explicit || std::is_pointer<Function>::value>());
  }
  template <class Function>
  static bool is_empty(const Function& f, std::true_type /*can be asked*/) {
    return !static_cast<bool>(f);
  }
  template <class Function>
  static bool is_empty(const Function&, std::false_type) noexcept {
    return false;
  }

  any_callback* const on_ready_;
};

}  // namespace detail

/// Requires: T can be made without arguments and assigned. A slot whose contribution was an exception
/// keeps the value it had.
template <class T>
class future_set : public detail::future_set_base<future_set<T>> {
  using base = detail::future_set_base<future_set<T>>;

 public:
  /// The contributed values by index. The set owns them.
  class values {
   public:
    std::size_t size() const noexcept { return slots_->size(); }
    const T& operator[](std::size_t index) const noexcept { return (*slots_)[index]; }
    const T* begin() const noexcept { return size() == 0 ? nullptr : &(*slots_)[0]; }
    const T* end() const noexcept { return size() == 0 ? nullptr : begin() + size(); }

   private:
    friend class future_set;
    explicit values(const detail::aligned_array<T>& of) noexcept : slots_(&of) {}

    const detail::aligned_array<T>* slots_;
  };

  explicit future_set(std::size_t contributions, std::nullptr_t = nullptr,
                      wait_policy policy = wait_policy())
      : base(contributions, policy, nullptr), slots_(contributions) {
    this->begin();
  }
  /// Calls on_ready(values) when all have contributed.
  template <class Function>
  future_set(std::size_t contributions, Function&& on_ready, wait_policy policy = wait_policy())
      : base(contributions, policy, std::forward<Function>(on_ready)), slots_(contributions) {
    this->begin();
  }

  /// Stores the value and returns its index. Fails if all have contributed.
  std::size_t contribute(const T& value) {
    return this->put([this, &value](std::size_t index) { slots_[index] = value; });
  }
  std::size_t contribute(T&& value) {
    return this->put([this, &value](std::size_t index) { slots_[index] = std::move(value); });
  }

  /// As wait(). The values live until they are contributed anew, or to the end of the set.
  values get() const {
    this->wait();
    return values(slots_);
  }

 private:
  friend base;

  template <class Function>
  void pass_to(Function& f) const {
    f(values(slots_));
  }

  detail::aligned_array<T> slots_;
};

template <>
class future_set<void> : public detail::future_set_base<future_set<void>> {
  using base = detail::future_set_base<future_set<void>>;

 public:
  explicit future_set(std::size_t contributions, std::nullptr_t = nullptr,
                      wait_policy policy = wait_policy())
      : base(contributions, policy, nullptr) {
    begin();
  }
  template <class Function>
  future_set(std::size_t contributions, Function&& on_ready, wait_policy policy = wait_policy())
      : base(contributions, policy, std::forward<Function>(on_ready)) {
    begin();
  }

  std::size_t contribute() {
    return put([](std::size_t) {});
  }
  void get() const { wait(); }

 private:
  friend base;

  template <class Function>
  void pass_to(Function& f) const {
    f();
  }
};

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_FUTURE_SET_HPP

// lockstep/detail/graph/graph_model.hpp -- a graph as plain data: what the user has said, unchecked (layer: graph)
//
// The pure parts take it: flow.hpp checks it, flow_plan.hpp schedules it. The functions of the nodes lie beside it.
#ifndef LOCKSTEP_DETAIL_GRAPH_GRAPH_MODEL_HPP
#define LOCKSTEP_DETAIL_GRAPH_GRAPH_MODEL_HPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

using node_index = std::uint32_t;
using node_list = growing_array<node_index>;

constexpr node_index no_node = ~node_index{0};

struct model_node {
  std::string name;
  double cost = -1;           ///< nanoseconds; below 0: not known
  node_index pin = no_node;   ///< the rank of its member, or of none
  std::uint32_t width = 1;    ///< how many members run it together; 0: all
  bool is_wide = false;       ///< its function takes a member
  bool returns_bool = false;  ///< so others may ask it
};

enum class edge_kind : std::uint8_t { plain, if_true, if_false };

struct model_edge {
  node_index from, to;
  edge_kind kind;
};

struct model_feedback {
  static constexpr std::uint32_t while_true = ~std::uint32_t{0};

  node_index from, to;
  std::uint32_t delay;  ///< in iterations; while_true: `to` comes again while `from` returns true

  bool is_loop() const noexcept { return delay == std::uint32_t{while_true}; }
};

struct graph_model {
  growing_array<model_node> nodes;
  growing_array<model_edge> edges;
  growing_array<model_feedback> feedbacks;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_GRAPH_GRAPH_MODEL_HPP

// lockstep/detail/graph/node_function.hpp -- a node's function of any type, as a pointer and a call (layer: graph)
//
// Owns a copy of the user's function on the heap, at the alignment of its type, and calls it through one pointer. What
// it is called with is the same for all: the iteration, and the member that runs it where the node is team-wide.
#ifndef LOCKSTEP_DETAIL_GRAPH_NODE_FUNCTION_HPP
#define LOCKSTEP_DETAIL_GRAPH_NODE_FUNCTION_HPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// How a node's function takes its arguments: the first of these that compiles.
template <class Function>
struct node_form {
  template <class... Arguments>
  using takes = std::integral_constant<bool, is_callable<Function&, Arguments...>::value>;

  static constexpr bool plain = takes<>::value;
  static constexpr bool counted = takes<std::size_t>::value;
  static constexpr bool wide = takes<member&>::value;
  static constexpr bool wide_counted = takes<member&, std::size_t>::value;
  using alone = std::integral_constant<int, plain ? 0 : counted ? 1 : -1>;
  using in_team = std::integral_constant<int, wide ? 2 : wide_counted ? 3 : -1>;
};

/// True also for functions that return nothing: they have nothing against whatever depends on it.
template <class Result>
struct node_result {
  static_assert(std::is_same<Result, bool>::value,
                "lockstep::graph::node: the function has to return bool or nothing");
  template <class Call>
  static bool of(const Call& call) {
    return call();
  }
};
template <>
struct node_result<void> {
  template <class Call>
  static bool of(const Call& call) {
    call();
    return true;
  }
};

class node_function {
 public:
  node_function() noexcept = default;
  node_function(node_function&& other) noexcept
      : call_(other.call_), destroy_(other.destroy_), held_(other.held_), memory_(other.memory_) {
    other.memory_ = nullptr;
  }
  node_function& operator=(node_function&& other) noexcept {
    std::swap(call_, other.call_);
    std::swap(destroy_, other.destroy_);
    std::swap(held_, other.held_);
    std::swap(memory_, other.memory_);
    return *this;
  }
  ~node_function() {
    if (memory_ == nullptr) return;
    destroy_(held_);
    ::operator delete(memory_);
  }

  /// Form: one of those of node_form.
  template <class Form, class Function>
  static node_function of(Function&& f) {
    using kept = typename std::decay<Function>::type;
    using result = decltype(invoke(std::declval<kept&>(), 0, nullptr, Form()));
    node_function made;
    made.allocate(sizeof(kept), alignof(kept));
    room unused(made.memory_);
    ::new (made.held_) kept(std::forward<Function>(f));
    unused.memory = nullptr;
    made.destroy_ = [](void* held) { static_cast<kept*>(held)->~kept(); };
    made.call_ = [](void* held, std::size_t iteration, member* me) -> bool {
      kept& function = *static_cast<kept*>(held);
      return node_result<result>::of([&] { return invoke(function, iteration, me, Form()); });
    };
    return made;
  }

  template <class Form, class Kept>
  static constexpr bool returns_bool() noexcept {
    return std::is_same<decltype(invoke(std::declval<Kept&>(), 0, nullptr, Form())), bool>::value;
  }

  /// Requires: it holds a function. `me`: of team-wide nodes.
  bool operator()(std::size_t iteration, member* me) const { return call_(held_, iteration, me); }
  explicit operator bool() const noexcept { return memory_ != nullptr; }

  using caller = bool (*)(void* held, std::size_t iteration, member* me);
  caller call() const noexcept { return call_; }
  void* held() const noexcept { return held_; }

 private:
  /// Given back if the user's copy throws.
  struct room {
    explicit room(void*& of) noexcept : memory(of), owner(of) {}
    ~room() {
      if (memory == nullptr) return;
      ::operator delete(memory);
      owner = nullptr;
    }
    room(const room&) = delete;
    room& operator=(const room&) = delete;

    void* memory;
    void*& owner;
  };

  void allocate(std::size_t size, std::size_t alignment) {
    memory_ = ::operator new(size + alignment);
    const std::uintptr_t at = reinterpret_cast<std::uintptr_t>(memory_);
    held_ = reinterpret_cast<void*>((at + alignment - 1) & ~(std::uintptr_t{alignment} - 1));
  }

  template <class Function>
  static auto invoke(Function& f, std::size_t, member*, std::integral_constant<int, 0>)
      -> decltype(f()) {
    return f();
  }
  template <class Function>
  static auto invoke(Function& f, std::size_t iteration, member*, std::integral_constant<int, 1>)
      -> decltype(f(iteration)) {
    return f(iteration);
  }
  template <class Function>
  static auto invoke(Function& f, std::size_t, member* me, std::integral_constant<int, 2>)
      -> decltype(f(*me)) {
    return f(*me);
  }
  template <class Function>
  static auto invoke(Function& f, std::size_t iteration, member* me, std::integral_constant<int, 3>)
      -> decltype(f(*me, iteration)) {
    return f(*me, iteration);
  }

  caller call_ = nullptr;
  void (*destroy_)(void* held) = nullptr;
  void* held_ = nullptr;
  void* memory_ = nullptr;  ///< null: it holds none
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_GRAPH_NODE_FUNCTION_HPP

// lockstep/graph.hpp -- nodes that run one after the other, beside each other, and again (layer: graph)
//
//   lockstep::graph g;
//   auto load = g.node("load", [&] { ... });
//   auto left = g.node("left", [&] { ... }), right = g.node("right", [&] { ... });
//   auto test = g.node("test", [&] { return residual > tolerance; });
//   g.edge(load, left).edge(load, right).edge(left, test).edge(right, test);
//   g.feedback(test, load);                  // again while test returns true
//   lockstep::plan plan(g, team);            // plan.hpp
//   plan.run();
//
// The same in blocks: g.loop(g.series(load, g.parallel(left, right), test)).
//
// A graph says which node comes before which; a plan says which member runs which node when. Data between nodes are the
// user's own variables:
//
//   GRAPH-1  What a node does happens before every node that it has an edge to, through others as well. Nodes that no
//            way of edges leads between may run at the same time. A node never runs beside itself.
//   GRAPH-2  An iteration runs every node once: but for loops, for nodes that are skipped, and for what is stopped.
//   GRAPH-3  Without counted feedback, iterations do not overlap: every node of one happens before every node of the
//            next.
//   GRAPH-4  With counted feedback they do. Then only feedback orders nodes of different iterations: iteration i of
//            `to` comes after iteration i - delay of `from`. The first `delay` iterations of a run do not wait for it.
//   GRAPH-5  feedback(from, to) makes a loop of all nodes on ways from `to` to `from`. They run again while `from`
//            returns true, and nothing of the loop runs beside what `from` decides. A node outside that depends on
//            one inside runs once, after the loop's last turn; a node outside that one inside depends on runs before
//            its first.
//   GRAPH-6  A node is skipped in an iteration (or a loop's turn) if an edge_if or edge_unless to it fails, or if all
//            the nodes that it depends on were skipped. What a skipped node would have returned counts for neither.
//
// A graph is not for threads: one thread at a time builds it. It must outlive its plans, which see nothing of what is
// added after they were made.
//
// Cost   a node is one object on the heap, and its function another. Building is linear, but for validate().
#ifndef LOCKSTEP_GRAPH_HPP
#define LOCKSTEP_GRAPH_HPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {

class graph;
namespace detail {

/// What a graph owns, and its handles point to.
struct graph_body {
  graph_model model;
  growing_array<node_function> functions;  // as many as nodes; empty: nothing to do
};
struct graph_access;

}  // namespace detail

/// A handle on a node. Copies are of the same node. Valid while the graph lives, also after that was moved.
class graph_node {
 public:
  /// Of none.
  graph_node() noexcept = default;

  /// How long the node takes: a hint for the plan, until it has measured (plan.hpp). Without one: 1 us.
  LOCKSTEP_COLD graph_node cost(std::chrono::nanoseconds time) const;
  /// Only the member of this rank runs it. Nobody takes it over when that member is late. A team-wide node cannot be
  /// pinned.
  LOCKSTEP_COLD graph_node pin(std::size_t rank) const;

  LOCKSTEP_COLD const std::string& name() const;
  /// In the order of node(), from 0.
  std::size_t number() const noexcept { return index_; }

 private:
  friend class graph;
  friend class graph_block;

  graph_node(detail::graph_body* of, detail::node_index index) noexcept : of_(of), index_(index) {}
  LOCKSTEP_COLD void refuse_unless_of_graph(const char* function) const;

  detail::graph_body* of_ = nullptr;
  detail::node_index index_ = detail::no_node;
};

/// Part of a graph: where it begins, and where it ends. What series(), parallel() and loop() take and return.
class graph_block {
 public:
  /// Of nothing.
  graph_block() = default;
  /// A node is a block.
  LOCKSTEP_COLD graph_block(const graph_node& only);

  bool empty() const noexcept { return firsts_.empty(); }

 private:
  friend class graph;

  detail::graph_body* of_ = nullptr;
  detail::node_list firsts_, lasts_;
};

class graph {
 public:
  /// The width of a team-wide node that all members of the plan's team run.
  static constexpr std::size_t whole_team = 0;

  LOCKSTEP_COLD graph();
  LOCKSTEP_COLD ~graph();
  LOCKSTEP_COLD graph(graph&& other) noexcept;
  LOCKSTEP_COLD graph& operator=(graph&& other) noexcept;

  // --- nodes ---

  /// Calls f(), or f(iteration) if it takes a number: that of the iteration, from 0 in each run. f returns nothing or
  /// bool. It is copied or moved into the graph. Names are for messages and pictures; no two nodes have the same.
  template <class Function>
  graph_node node(std::string name, Function&& f) {
    using form = detail::node_form<typename std::decay<Function>::type>;
    static_assert(form::alone::value >= 0,
                  "lockstep::graph::node: the function can be called neither as f() nor as "
                  "f(iteration), with a std::size_t");
    return add(std::move(name),
               detail::node_function::of<typename form::alone>(std::forward<Function>(f)),
               returns_bool<typename form::alone, Function>(), 1, false);
  }
  /// Nothing to do: where ways meet.
  LOCKSTEP_COLD graph_node node(std::string name);

  /// A team-wide node: `width` members call f(me), or f(me, iteration), together, and use all of member.hpp among them:
  /// me.sync_threads(), me.sync_sum(x), me.for_each(...). It begins for each when all that it depends on is done, and
  /// is done when all have returned. Of a bool, that of rank 0 counts. A plan for fewer members is refused; in a region
  /// of one member (T2 of team.hpp) the node runs on that one.
  template <class Function>
  graph_node node(std::string name, std::size_t width, Function&& f) {
    using form = detail::node_form<typename std::decay<Function>::type>;
    static_assert(form::in_team::value >= 0,
                  "lockstep::graph::node: a team-wide function can be called neither as f(me), "
                  "with a lockstep::member&, nor as f(me, iteration)");
    return add(std::move(name),
               detail::node_function::of<typename form::in_team>(std::forward<Function>(f)),
               returns_bool<typename form::in_team, Function>(), width, true);
  }

  // --- edges ---

  /// GRAPH-1. Between blocks: from each end of the one to each beginning of the other. Fails if it joins a node with
  /// itself, or is given a node of another graph; then nothing has changed.
  LOCKSTEP_COLD graph& edge(const graph_block& from, const graph_block& to);
  /// The same, and `to` is skipped where `test` returns false, or true. See GRAPH-6. `test` returns bool.
  LOCKSTEP_COLD graph& edge_if(const graph_node& test, const graph_block& to);
  LOCKSTEP_COLD graph& edge_unless(const graph_node& test, const graph_block& to);

  /// GRAPH-5. `test` returns bool, and is reached from `to`. Loops lie inside each other or apart.
  LOCKSTEP_COLD graph& feedback(const graph_node& test, const graph_node& to);
  /// GRAPH-4. With delay 0 an edge. Between nodes of one loop it adds nothing: its turns do not overlap. A node in a
  /// loop that another outside waits for, or that waits for one outside, does so as its loop does.
  LOCKSTEP_COLD graph& feedback(const graph_node& from, const graph_node& to, std::size_t delay);

  // --- blocks ---

  /// Each after the one before. Takes nodes and blocks; empty blocks do not count.
  template <class... Blocks>
  graph_block series(const graph_block& first, const Blocks&... rest) {
    return series(std::vector<graph_block>{first, graph_block(rest)...});
  }
  LOCKSTEP_COLD graph_block series(const std::vector<graph_block>& parts);

  /// Beside each other.
  template <class... Blocks>
  graph_block parallel(const graph_block& first, const Blocks&... rest) {
    return parallel(std::vector<graph_block>{first, graph_block(rest)...});
  }
  LOCKSTEP_COLD graph_block parallel(const std::vector<graph_block>& parts);

  /// The block again while its last node returns true. Fails if it has no single last node. Of a block with several
  /// beginnings an empty node becomes the first: it is called "loop of" and the name of the last.
  LOCKSTEP_COLD graph_block loop(const graph_block& body);

  // --- looks ---

  std::size_t size() const noexcept { return body_->model.nodes.size(); }

  /// What is wrong with the graph, with the names of the nodes on the way; empty if nothing is. A plan fails with this
  /// text, as std::invalid_argument. It finds: a cycle without feedback; feedback that no iteration can satisfy; loops
  /// that cross; a node that no iteration can reach; two nodes of one name; who is asked and returns nothing.
  LOCKSTEP_COLD std::string validate() const;

  /// Where the graph stops being series-parallel: a sentence with names; empty if it does not. Such graphs are allowed.
  /// Loops count as one node outside, and are looked into; counted feedback does not count.
  LOCKSTEP_COLD std::string not_series_parallel() const;

  /// For Graphviz: loops are boxes, feedback is dashed, conditions are labels.
  LOCKSTEP_COLD std::string dot() const;

 private:
  friend struct detail::graph_access;

  template <class Form, class Function>
  static constexpr bool returns_bool() noexcept {
    return detail::node_function::returns_bool<Form, typename std::decay<Function>::type>();
  }

  LOCKSTEP_COLD graph_node add(std::string name, detail::node_function f, bool returns_bool,
                               std::size_t width, bool is_wide);
  LOCKSTEP_COLD void check_join(const char* function, const graph_block& from,
                                const graph_block& to) const;
  LOCKSTEP_COLD void join(const graph_block& from, const graph_block& to, detail::edge_kind kind);
  LOCKSTEP_COLD void check_own(const char* function, const detail::graph_body* of) const;

  detail::owner<detail::graph_body> body_;
};

namespace detail {

struct graph_access {
  static const graph_body& body_of(const graph& of) noexcept { return *of.body_; }
};

}  // namespace detail

/// A value for each of `depth` iterations that overlap: what iteration i writes with buffer[i] stays until iteration
/// i + depth. Nodes take the iteration as an argument. The graph says that nobody writes too early:
///   g.edge(producer, consumer).feedback(consumer, producer, buffer.depth());
/// Each value has cache lines of its own.
template <class T, std::size_t Depth>
class buffer {
 public:
  static_assert(Depth > 0, "lockstep::buffer: a buffer holds at least one value");

  buffer() = default;
  /// All slots hold a copy of this.
  explicit buffer(const T& value) {
    for (detail::padded<T>& each : slots_) each.value = value;
  }

  static constexpr std::size_t depth() noexcept { return Depth; }

  T& operator[](std::size_t iteration) noexcept { return slots_[iteration % Depth].value; }
  const T& operator[](std::size_t iteration) const noexcept {
    return slots_[iteration % Depth].value;
  }

 private:
  detail::padded<T> slots_[Depth];
};

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_GRAPH_HPP

// lockstep/latch.hpp -- opens once, when it has been counted down to zero (layer: sync)
//
// No wait returns before the count is zero. From then on every wait returns at once, for ever. What happens
// before any count_down() happens before every return from a wait.
// The shape is that of std::latch. For phase after phase see barrier; to close again, manual_reset_event.
//
// Invariants, n = count in word_
//   LATCH-1  n only falls, and opens the latch when it reaches 0.
//   LATCH-2  A waiter sleeps on a word with the sleeping bit and n > 0 (WORD-1 of word_waiter.hpp). The change
//            that makes n zero finds the bit in the old value and wakes all. Other changes wake nobody,
//            because they end no wait.
//   LATCH-3  count_down() touches nothing after its change of the word but the address, in a futex wake. When
//            all waits have returned, the last of these threads may destroy the latch.
//
//   word_: bits  name      meaning                    set by              cleared by
//          0     sleeping  waiters may be asleep      a waiter            -
//          1..   count     what is left to count      the constructor     count_down, down to 0
// Legal to be set too long: sleeping (nobody looks at it once the count is 0).
//
// Memory order (# marks the line; each weakening must fail a test)
//   #  access          order    pairs  why it suffices
//   1  word.fetch_sub  release  2, 3   every later change is a read-modify-write and keeps the release
//                                      sequence, so the waiter acquires from all that counted down
//   2  word.load       acquire  1      the other half
//   3  wait for word   acquire  1      as 2 (1 of word_waiter.hpp)
//
// Cost   count_down: one RMW. wait: one load when open, else a refetch of the line for each change. No
//        system call unless a waiter sleeps. 8 bytes: 4 of state, 4 of policy.
#ifndef LOCKSTEP_LATCH_HPP
#define LOCKSTEP_LATCH_HPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {

class latch : detail::misuse::watched<latch> {
 public:
  static constexpr std::ptrdiff_t(max)() noexcept { return 0x7FFFFFFF; }

  /// Open from the start if expected is 0. Fails if it is negative or above max().
  explicit constexpr latch(std::ptrdiff_t expected, wait_policy policy = wait_policy())
      : word_(checked(expected) * one_), policy_(policy) {}
  latch(const latch&) = delete;
  latch& operator=(const latch&) = delete;

  /// Takes `n` off the count; never blocks. Requires: 0 <= n <= what is left of the count.
  void count_down(std::ptrdiff_t n = 1) {
    const std::uint32_t change = static_cast<std::uint32_t>(n) * one_;
    const std::uint32_t old = word_.fetch_sub(change, detail::memory_order_release);  // 1
    if (detail::misuse::diagnosed) diagnose(&word_, n, static_cast<std::ptrdiff_t>(old / one_));
    if (is_open(old - change)) detail::wake_sleepers(&word_, old);
  }

  /// True if the latch is open; never blocks.
  bool try_wait() const noexcept { return is_open(word_.load(detail::memory_order_acquire)); }  // 2

  /// Blocks until the latch is open.
  void wait() const { wait_until(deadline::never()); }

  void arrive_and_wait(std::ptrdiff_t n = 1) {
    count_down(n);
    wait();
  }

  /// As wait(), for at most `time`: ready or timed_out.
  template <class Rep, class Period>
  wait_status wait_for(std::chrono::duration<Rep, Period> time) const {
    return wait_until(deadline::after(time));
  }
  wait_status wait_until(deadline until) const {
    return detail::wait_until_word(word_, is_open, this, policy_, until)  // 3
               ? wait_status::ready
               : wait_status::timed_out;
  }

  wait_policy policy() const noexcept { return policy_; }

 private:
  friend class detail::misuse::watched<latch>;
  static constexpr const char* kind = "lockstep::latch";
  static constexpr std::uint32_t one_ = 2;

  static bool is_open(std::uint32_t word) noexcept { return word < one_; }

  static constexpr std::uint32_t checked(std::ptrdiff_t expected) {
    return expected >= 0 && expected <= (max)() ? static_cast<std::uint32_t>(expected)
                                                : (fail_expected(expected), 0u);
  }
  [[noreturn]] LOCKSTEP_NOINLINE static void fail_expected(std::ptrdiff_t expected) {
    char message[128];
    std::snprintf(message, sizeof message, "lockstep::latch: count %td given, must be 0 to %td",
                  expected, (max)());
    detail::fail<std::invalid_argument>(message);
  }

  static void diagnose(const void* object, std::ptrdiff_t n, std::ptrdiff_t left) {
    if (n >= 0 && n <= left) return;
    char text[128];
    std::snprintf(text, sizeof text, "count_down(%td), but %td left to count", n, left);
    detail::misuse::report(object, "lockstep::latch", text);
  }

  mutable detail::wait_word word_;
  wait_policy policy_;
};

static_assert(sizeof(latch) == 8, "a word of state, one of policy");

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_LATCH_HPP

// lockstep/mailbox.hpp -- calls queued to a thread, which runs them when it chooses (layer: sync)
//
// Any thread posts a call. One thread, the owner, runs the calls: at a point of its choice (run_pending), or
// while it waits. Calls of one poster run in the order of their posts. What happens before post() happens
// before the call runs. post() never blocks, allocates nothing, and is lock-free: a poster that is stopped in
// the middle holds up the calls behind its own, but no other poster.
// Not for many threads that share the work; for a bare notification use event.
//
// Invariants, positions counted modulo 2^31, capacity C (a power of two, at least 2)
//   MAILBOX-1  head_ <= tail <= head_ + C. A position is given once, to the poster that moves tail_.
//   MAILBOX-2  A slot's sequence is p (free for the poster of position p), then p + 1 (holds the call of
//              position p), then p + C. A poster writes the slot only while it is p, the owner only while it
//              is p + 1.
//   MAILBOX-3  After terminate() no post succeeds. The owner's next waits still run the calls posted before,
//              and say "terminated" only when none is left. The destructor destroys the calls that never ran.
//   MAILBOX-4  A call is out of its slot before it runs. It may post, call run_pending(), and throw; an
//              exception leaves by the owner's function, and the calls behind it stay queued. It must not
//              destroy the mailbox.
// Lifetime: by structure; destroy only after every post() and terminate() has returned.
//
//   tail_:     bits  name        meaning                            set by                  cleared by
//              0     terminated  no post succeeds any more          terminate               -
//              1..   tail        the next position to give, mod 2^31  a poster, by CAS, +1  -
//   sequence:  0     -           always 0
//              1..   sequence    MAILBOX-2                          poster, then owner      -
//
// Memory order (# marks the line; each weakening must fail a test)
//   #  access              order    pairs  why it suffices
//   1  tail.load           relaxed  -      a guess, which 3 tests; or a bound for one run
//   2  sequence.load       acquire  6      the owner has taken the old call out
//   3  tail.compare_exch   relaxed  -      gives positions; the data is ordered by 2 and 4
//   4  sequence.store      release  5      the owner sees the call, and what came before the post
//   5  sequence.load       acquire  4      the other half
//   6  sequence.store      release  2      the next poster writes after the owner has read
//   7  tail.fetch_or       release  8      the owner sees what came before terminate()
//   8  tail.load           acquire  7      the other half
//   9  sequence.store      relaxed  -      before the mailbox is given to other threads
//
// The store 4 (or the change 7) and the look at the mark that follows are the notifier's side of
// published_words.hpp; ready() after the announcement is the sleeper's side.
//
// Cost   post: one RMW on the line of tail_, one line of the slot; no system call unless the owner
//        sleeps. run: one line a call, no read-modify-write. 64 bytes a slot.
// Source [VYUKOV] bounded MPMC queue, with a single consumer.
#ifndef LOCKSTEP_MAILBOX_HPP
#define LOCKSTEP_MAILBOX_HPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {

class mailbox {
 public:
  /// The largest closure that fits a slot. Capture pointers or references to more.
  static constexpr std::size_t closure_size = 48;

  /// Room for `capacity` calls, rounded up to a power of two, at least 2. Fails if it is 0 or above
  /// 65536. Tests pass `first_position` to start next to wrap-around (at 2^31).
  explicit mailbox(std::size_t capacity, wait_policy policy = wait_policy(),
                   std::uint32_t first_position = 0)
      : slots_(round_up(detail::checked_count("lockstep::mailbox", "slots", capacity))),
        policy_(policy),
        head_(first_position * one_) {
    detail::process_fence::prepare();
    tail_.store(head_, detail::memory_order_relaxed);  // 9
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      const std::uint32_t position = head_ + static_cast<std::uint32_t>(i) * one_;
      slot_of(position).sequence.store(position, detail::memory_order_relaxed);  // 9
    }
  }
  ~mailbox() {
    detail::misuse::destroying(this, "lockstep::mailbox");
    while (is_posted(head_)) take_next(fate::destroyed);
  }
  mailbox(const mailbox&) = delete;
  mailbox& operator=(const mailbox&) = delete;

  std::size_t capacity() const noexcept { return slots_.size(); }
  wait_policy policy() const noexcept { return policy_; }

  /// Queues f() for the owner; false, and f is as it was, if the mailbox is full or terminated. Any
  /// thread may call it, also from inside a posted call.
  template <class Function>
  bool post(Function&& f) {
    using closure = typename std::decay<Function>::type;
    static_assert(
        sizeof(closure) <= closure_size,
        "lockstep::mailbox::post: the closure is larger than 48 bytes; capture a pointer");
    static_assert(alignof(closure) <= alignof(std::max_align_t),
                  "lockstep::mailbox::post: the closure needs more alignment than a slot has");
    static_assert(std::is_nothrow_move_constructible<closure>::value,
                  "lockstep::mailbox::post: the closure must be movable without exceptions");
    return post_as<closure>(std::forward<Function>(f),
                            std::is_nothrow_constructible<closure, Function&&>());
  }

  // What follows is for the owner, one thread.

  /// Runs the calls that are there now, in order, and returns how many; never blocks. A call that posts
  /// again does not prolong it: that call is left for the next time.
  std::size_t run_pending() {
    const std::uint32_t end = tail_.load(detail::memory_order_relaxed) & ~terminated_;  // 1
    std::size_t count = 0;
    // A call may have called run_pending() itself: head_ may be beyond `end`.
    while (static_cast<std::int32_t>(end - head_) > 0 && is_posted(head_)) {
      take_next(fate::run);
      ++count;
    }
    return count;
  }

  /// Blocks until a call is there, then runs what is there; false once terminated and empty.
  bool wait_and_run() { return wait_and_run_until(deadline::never()) == wait_status::ready; }

  /// The same, but waits for at most `time`.
  template <class Rep, class Period>
  wait_status wait_and_run_for(std::chrono::duration<Rep, Period> time) {
    return wait_and_run_until(deadline::after(time));
  }
  wait_status wait_and_run_until(deadline until) {
    const wait_status status = wait_for_call(until);
    if (status == wait_status::ready) run_pending();
    return status;
  }

  /// Runs calls as they come, one by one, until done(). Asks done() before each call; only calls may change
  /// its answer. Returns false if terminated and empty before done().
  template <class Predicate>
  bool serve_until(Predicate done) {
    while (!done()) {
      if (wait_for_call(deadline::never()) != wait_status::ready) return false;
      take_next(fate::run);
    }
    return true;
  }

  /// From now on no post succeeds, and the owner does not block. Any thread may call it. See MAILBOX-3.
  void terminate() {
    tail_.fetch_or(terminated_, detail::memory_order_release);  // 7
    mark_.notify(detail::fence_payer_of(policy_));
  }
  bool terminated() const noexcept {
    return (tail_.load(detail::memory_order_acquire) & terminated_) != 0;  // 8
  }

 private:
  static constexpr std::uint32_t terminated_ = 1, one_ = 2;

  enum class fate { run, destroyed };

  struct slot {
    detail::wait_word sequence{0};
    void (*take)(mailbox&, std::uint32_t, fate) = nullptr;
    alignas(std::max_align_t) unsigned char closure[closure_size];

    slot() noexcept {}
  };

  /// What the wait engine looks at.
  struct call_or_end {
    mailbox& owner;

    bool ready() const noexcept { return owner.is_posted(owner.head_) || owner.is_over(); }
    void sleep(deadline until) {
      owner.mark_.sleep(*this, until, detail::fence_payer_of(owner.policy_));
    }
  };

  static std::size_t round_up(std::size_t capacity) noexcept {
    // With one slot, "free for the next" and "posted" would be the same sequence.
    std::size_t power = 2;
    while (power < capacity) power *= 2;
    return power;
  }

  slot& slot_of(std::uint32_t position) noexcept {
    return slots_[position / one_ & (slots_.size() - 1)];
  }
  bool is_posted(std::uint32_t position) noexcept {
    return slot_of(position).sequence.load(detail::memory_order_acquire) ==  // 5
           position + one_;
  }
  /// Terminated, and every position given is behind the owner.
  bool is_over() const noexcept {
    return tail_.load(detail::memory_order_acquire) == (head_ | terminated_);  // 8
  }

  template <class Closure, class Function>
  bool post_as(Function&& f, std::true_type /*cannot throw*/) {
    std::uint32_t position = 0;
    if (!claim(position)) return false;
    slot& mine = slot_of(position);
    ::new (static_cast<void*>(mine.closure)) Closure(std::forward<Function>(f));
    mine.take = &take_as<Closure>;
    mine.sequence.store(position + one_, detail::memory_order_release);  // 4
    mark_.notify(detail::fence_payer_of(policy_));
    return true;
  }
  /// Copies first: a copy that throws while its poster holds a position would leave the position empty.
  template <class Closure, class Function>
  bool post_as(const Function& f, std::false_type) {
    return post_as<Closure>(Closure(f), std::true_type());
  }

  bool claim(std::uint32_t& position) noexcept {
    std::uint32_t tail = tail_.load(detail::memory_order_relaxed);  // 1
    while ((tail & terminated_) == 0) {
      const std::uint32_t sequence =
          slot_of(tail).sequence.load(detail::memory_order_acquire);  // 2
      if (sequence == tail) {
        if (tail_.compare_exchange_strong(tail, tail + one_, detail::memory_order_relaxed,  // 3
                                          detail::memory_order_relaxed)) {                  // 3
          position = tail;
          return true;
        }
      } else if (static_cast<std::int32_t>(sequence - tail) < 0) {
        return false;
      } else {
        tail = tail_.load(detail::memory_order_relaxed);  // 1
      }
    }
    return false;
  }

  wait_status wait_for_call(deadline until) {
    call_or_end what{*this};
    if (!detail::wait_watched(what, this, policy_, history_, until,
                              detail::wait_engine::single_yield_time)) {
      return wait_status::timed_out;
    }
    return is_posted(head_) ? wait_status::ready : wait_status::terminated;
  }

  /// Requires: the call at head_ is posted. See MAILBOX-4.
  void take_next(fate then) {
    const std::uint32_t position = head_;
    head_ += one_;
    slot_of(position).take(*this, position, then);
  }

  template <class Closure>
  static void take_as(mailbox& owner, std::uint32_t position, fate then) {
    slot& from = owner.slot_of(position);
    Closure* const stored = reinterpret_cast<Closure*>(from.closure);
    Closure call(std::move(*stored));
    stored->~Closure();
    const std::uint32_t next = position + static_cast<std::uint32_t>(owner.slots_.size()) * one_;
    from.sequence.store(next, detail::memory_order_release);  // 6
    if (then == fate::run) call();
  }

  detail::line_gap before_;
  detail::wait_word tail_{0};
  detail::line_gap between_;
  detail::aligned_array<slot> slots_;
  detail::sleeper_mark mark_;
  wait_policy policy_;
  detail::line_gap owners_;
  std::uint32_t head_;
  detail::wait_history history_ = {};
  detail::line_gap after_;
};

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_MAILBOX_HPP

// lockstep/padded.hpp -- a T that shares its cache line with nothing else (layer: platform)
//
// For data of several threads side by side: a std::vector<lockstep::padded<double>> with one element per
// member, or two mutexes in one object. A write to one element does not disturb the others.
//
//   padded<T>         `value` is the T. At least cache_line_size bytes, aligned so.
//   cache_line_size   128 where hardware fetches lines in pairs or has lines of 128 bytes, 256 on s390x, else
//                     64.
// In C++11 and C++14 `new` and std::vector do not honour the alignment: T keeps its size, but may share the
// first and the last line.
#ifndef LOCKSTEP_PADDED_HPP
#define LOCKSTEP_PADDED_HPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {

using detail::cache_line_size;
using detail::padded;

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_PADDED_HPP

// lockstep/per_member.hpp -- a value for each member of a team, which outlives regions (layer: team)
//
//   lockstep::per_member<std::vector<int>> found(team);            // one for each member, on lines of its own
//   team.run([&](lockstep::member& me) { found.local(me).push_back(7); });
//   for (std::vector<int>& each : found) ...                       // in the order of ranks
//   std::size_t all = found.combine(std::size_t{0}, [](std::size_t sum, const std::vector<int>& each) {
//     return sum + each.size();
//   });
//
// OpenMP's threadprivate, TBB's enumerable_thread_specific; but by rank, not by thread: what a member finds is what the
// member of that rank left in the region before, and iterating and combining have one order. For values that live
// as long as one region, a local variable of the region's function is simpler, and faster.
//
//   OWN-1  local(me) is the value of the rank that the thread has in the team's region: also where `me` is its member
//          of a sub-team, at any depth.
//   OWN-2  A member of a region that runs alone, inside another one (TEAM-2 of team.hpp), has no value: the thread is
//          another member of a region that runs already. There local() fails with std::logic_error; use the member of
//          the outer region.
//   OWN-3  In a region a member uses its own value. Other threads use it when the region orders that: outside regions
//          the thread that runs them may use all, by rank or by iterating.
//
// Cost   local(): an index. Memory: a line or two for each value.
#ifndef LOCKSTEP_PER_MEMBER_HPP
#define LOCKSTEP_PER_MEMBER_HPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {

template <class T>
class per_member {
  static_assert(std::is_object<T>::value && !std::is_const<T>::value,
                "lockstep::per_member<T>: T must be an object type, and not const");

  /// A value alone on its lines.
  struct line {
    line() noexcept {}  // not initialised
    alignas(T) alignas(detail::cache_line_size) unsigned char bytes[sizeof(T)];
  };

  template <class Made>
  using if_maker =
      typename std::enable_if<detail::is_callable<Made&, std::size_t>::value &&
                              !std::is_convertible<const Made&, const T&>::value>::type;

  /// In rank order. Element: T, or const T.
  template <class Element>
  class rank_iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using pointer = Element*;
    using reference = Element&;

    rank_iterator() noexcept = default;
    Element& operator*() const noexcept { return *reinterpret_cast<Element*>(at_->bytes); }
    Element* operator->() const noexcept { return &**this; }
    rank_iterator& operator++() noexcept {
      ++at_;
      return *this;
    }
    rank_iterator operator++(int) noexcept {
      const rank_iterator before = *this;
      ++at_;
      return before;
    }
    friend bool operator==(rank_iterator a, rank_iterator b) noexcept { return a.at_ == b.at_; }
    friend bool operator!=(rank_iterator a, rank_iterator b) noexcept { return a.at_ != b.at_; }

   private:
    friend class per_member;
    using line_of =
        typename std::conditional<std::is_const<Element>::value, const line, line>::type;

    explicit rank_iterator(line_of* at) noexcept : at_(at) {}

    line_of* at_ = nullptr;
  };

 public:
  using iterator = rank_iterator<T>;
  using const_iterator = rank_iterator<const T>;

  /// One T() for each of `members`, made here, in the order of ranks. Fails if that is 0 or above 65536.
  explicit per_member(std::size_t members) : all_(members) {
    all_.make([](void* at, std::size_t) { ::new (at) T(); });
  }
  /// Copies of a value.
  per_member(std::size_t members, const T& value) : all_(members) {
    all_.make([&](void* at, std::size_t) { ::new (at) T(value); });
  }
  /// What make(rank) returns.
  template <class Maker, class = if_maker<Maker>>
  per_member(std::size_t members, Maker make) : all_(members) {
    all_.make([&](void* at, std::size_t rank) { ::new (at) T(make(rank)); });
  }
  /// The same for the members of a team, or of whatever has a size(); the team is not kept.
  template <class Team, class... More,
            class = typename std::enable_if<
                !std::is_same<Team, per_member>::value,
                decltype(static_cast<void>(std::declval<const Team&>().size()))>::type>
  explicit per_member(const Team& team, More&&... value_or_maker)
      : per_member(static_cast<std::size_t>(team.size()), std::forward<More>(value_or_maker)...) {}
  per_member(const per_member&) = delete;
  per_member& operator=(const per_member&) = delete;

  std::size_t size() const noexcept { return all_.lines.size(); }

  /// The calling member's value: OWN-1. Fails if its rank is not below size(), and with std::logic_error in a region
  /// that runs alone: OWN-2.
  T& local(const member& me) {
    const std::size_t rank = detail::member_access::state_of(me).rank_in_team();
    if (rank >= size()) fail_local(rank);
    return (*this)[rank];
  }
  /// The value of a rank. Requires rank < size(), and OWN-3.
  T& operator[](std::size_t rank) noexcept { return *reinterpret_cast<T*>(all_.lines[rank].bytes); }
  const T& operator[](std::size_t rank) const noexcept {
    return *reinterpret_cast<const T*>(all_.lines[rank].bytes);
  }

  iterator begin() noexcept { return iterator(&all_.lines[0]); }
  iterator end() noexcept { return iterator(&all_.lines[0] + size()); }
  const_iterator begin() const noexcept { return const_iterator(&all_.lines[0]); }
  const_iterator end() const noexcept { return const_iterator(&all_.lines[0] + size()); }

  /// op(... op(op(init, value 0), value 1) ..., value n - 1). The values stay as they are, and may be move-only.
  template <class Result, class Op>
  Result combine(Result init, Op op) const {
    static_assert(
        detail::is_callable<Op&, Result, const T&>::value,
        "lockstep::per_member::combine: op cannot be called as op(result, value), with a value "
        "by const reference");
    for (const T& each : *this) init = op(std::move(init), each);
    return init;
  }
  /// The same without an init: that is a copy of value 0.
  template <class Op>
  T combine(Op op) const {
    static_assert(std::is_copy_constructible<T>::value,
                  "lockstep::per_member::combine: the values cannot be copied; give an init");
    static_assert(detail::is_callable<Op&, T, const T&>::value,
                  "lockstep::per_member::combine: op cannot be called as op(T, const T&)");
    T result((*this)[0]);
    for (std::size_t rank = 1; rank < size(); ++rank) {
      result = op(std::move(result), (*this)[rank]);
    }
    return result;
  }

 private:
  /// Destroys what was made, also where the next one throws.
  struct values {
    explicit values(std::size_t members)
        : lines(detail::checked_count("lockstep::per_member", "members", members)) {}
    ~values() {
      while (made > 0) reinterpret_cast<T*>(lines[--made].bytes)->~T();
    }
    values(const values&) = delete;
    values& operator=(const values&) = delete;

    template <class Make>
    void make(Make make_at) {
      for (; made < lines.size(); ++made) {
        make_at(static_cast<void*>(lines[made].bytes), made);
      }
    }

    detail::aligned_array<line> lines;
    std::size_t made = 0;
  };

  [[noreturn]] LOCKSTEP_NOINLINE void fail_local(std::size_t rank) const {
    if (rank == detail::member_state::no_rank) {
      detail::fail<std::logic_error>(
          "lockstep::per_member::local: this region runs alone, inside another region, and its "
          "member has no value; use the member of the outer region");
    }
    detail::fail_rank("lockstep::per_member::local", "members", rank, size());
  }

  values all_;
};

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_PER_MEMBER_HPP

// lockstep/region.hpp -- regions that are started and joined later, and threads that work for one (layer: team)
//
//   lockstep::started_region region = team.start(f);   // the other members run f
//   work_of_the_callers();
//   region.join();                                     // the caller's part of f, then waits for all
//
//   START-1  join() is called by the thread that started the region, for the last region that it has started or
//            entered.
//   START-2  A handle that goes joins its region. If it goes because of an exception that was thrown since start(), it
//            stops the region, does not run the caller's part, waits for the others, and drops their exceptions.
//   START-3  A handle that goes where join() would be refused ends the program with a message: the region could never
//            end. That is: on another thread, inside another region, or before the handle of a region that was started
//            later.
//
//   team.run([&](lockstep::member& me) {
//     const lockstep::region_token here = lockstep::this_region();
//     auto half = std::async(std::launch::async, [&, here] {
//       const lockstep::inside_region guest(here);
//       team.parallel_for(0, n, f);              // inline, as in the member itself (TEAM-2 of team.hpp)
//     });
//     half.get();
//   });
//
// Without inside_region such a thread is a stranger to the region: its run() of the same team waits for the region's
// end, and the member waits for the thread, for ever. The same goes for the threads of OpenMP, TBB or a pool, and for
// teams from whose regions this one was called.
//
//   GUEST-1  While an inside_region lives, the calling thread counts as inside the token's region, and all that this
//            was called from, besides those that it was in before.
//   GUEST-2  It is no member: it has no rank, and must not use the member object of the thread that started it.
#ifndef LOCKSTEP_REGION_HPP
#define LOCKSTEP_REGION_HPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {

/// A region that the caller has started and will join.
class started_region {
 public:
  /// Of none.
  started_region() noexcept = default;
  started_region(started_region&& other) noexcept
      : door_(other.door_),
        core_(other.core_),
        number_(other.number_),
        in_flight_(other.in_flight_) {
    other.core_ = nullptr;
  }
  /// Joins the region that it had (START-2).
  LOCKSTEP_ENTRY started_region& operator=(started_region&& other);
  /// START-2, START-3. Throws as join() does. Where no exception can pass, as in a container, call join() before.
  LOCKSTEP_ENTRY ~started_region() noexcept(false);

  /// True while there is a region to be joined.
  explicit operator bool() const noexcept {
    return core_ != nullptr && core_->started() == number_;
  }

  /// Runs the caller's part, and waits for the others. False if the region was stopped; throws as run() does;
  /// either way the handle is of none then. Fails with std::logic_error, and changes nothing, if it is of none
  /// already, or against START-1.
  LOCKSTEP_OUT_OF_LINE bool join();

 private:
  friend class team;

  /// Takes over a region, and the caller's turn.
  started_region(detail::team_door& door, detail::team_core& core) noexcept
      : door_(&door),
        core_(&core),
        number_(core.started()),
        in_flight_(detail::exceptions_in_flight()) {}

  LOCKSTEP_COLD void let_go();

  LOCKSTEP_OUT_OF_LINE bool join_now();

  LOCKSTEP_COLD const char* refusal() const noexcept;

  detail::team_door* door_ = nullptr;
  detail::team_core* core_ = nullptr;  ///< null: of none
  std::uint32_t number_ = 0;
  int in_flight_ = 0;  ///< exceptions, at start()
};

/// Names a region, for as long as that runs. Small, to be copied into the thread.
class region_token {
 public:
  /// Of none: an inside_region of it changes nothing.
  region_token() noexcept = default;

 private:
  friend class inside_region;
  friend region_token this_region() noexcept;

  explicit region_token(const detail::nesting::region* where) noexcept
      : where_(where), number_(where != nullptr ? detail::nesting::number_of(*where) : 0) {}

  const detail::nesting::region* where_ = nullptr;
  std::uint32_t number_ = 0;
};

/// The innermost region that the calling thread is in; that of a region which runs inline is the one around it. Of
/// none outside.
inline region_token this_region() noexcept { return region_token(detail::nesting::innermost()); }

/// Allocates.
class inside_region {
 public:
  /// Requires: the region runs, and goes on while this object lives: a member waits for this thread. Debug builds end
  /// the program with a message where the region is over.
  LOCKSTEP_ENTRY explicit inside_region(const region_token& of);
  /// On the thread that made it, the last one first.
  LOCKSTEP_ENTRY ~inside_region();
  inside_region(const inside_region&) = delete;
  inside_region& operator=(const inside_region&) = delete;

 private:
  const detail::nesting::region* before_;
  detail::nesting::region* copies_ = nullptr;
};

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_REGION_HPP

// lockstep/detail/graph/flow_board.hpp -- how far each lane of a plan is, and who runs its next step (layer: graph)
//
// A lane has two words, on lines of their own. Both count steps since the plan was made, over all turns and runs:
//   claimed   steps that somebody has begun. Who begins one moves it on by one.
//   done      steps that are done, with all before them. The member itself may leave it behind, as long as nobody waits
//             for it: it stores it before it waits, and where others wait.
// Beside the `done` of the lane that decides a loop lies the decision.
//
//   CLAIM-1  Each step is begun once: by a compare-and-swap of `claimed` from its number, or by a store of the lane's
//            own member where only that may run it.
//   CLAIM-2  Another member's thread claims step n only after it has found `done` at n, and all that n waits for.
//            Both stay so until n is claimed. The lane's member claims n when it has done n - 1 itself, or found it
//            done.
//   CLAIM-3  Whoever has begun step n moves `done` to n + 1, alone: so it only grows. What the thread did or found
//            before, and all earlier steps of the lane, happen before the return of every wait for n + 1.
//   CLAIM-4  No count comes again: 2^64 steps are not done in a lifetime.
//   DECIDE-1 A decision says how many turns of the loop were decided, and how many times the loop was over, modulo
//            2^32. It changes once a turn, when all steps of the turn are done; all lanes must have begun the next
//            turn, or left the loop, before it changes again. So nobody misses one.
//
// Memory order (# marks the line; published_words.hpp has that of `done`; each weakening must fail a test)
//   #  access                order    pairs  why it suffices
//   1  claimed.load          relaxed  -      what it says is tested by 2, or by `done`
//   2  claimed.compare_exch  relaxed  -      a claim hands over nothing: CLAIM-2 orders what the step needs
//   3  claimed.store         relaxed  -      nobody else may claim this step; or between runs
//   4  decision.store        release  5      what was done in the turn
//   5  decision.load         acquire  4      the other half
//   6  decision.store        relaxed  -      between runs
//
// Cost   a step: one RMW on a line that only its member touches, 6 ns, unless others wait for long; and one store where
//        others wait for it. A wait: one line fetch, none if the member has seen enough before.
#ifndef LOCKSTEP_DETAIL_GRAPH_FLOW_BOARD_HPP
#define LOCKSTEP_DETAIL_GRAPH_FLOW_BOARD_HPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// Of a loop: a value.
class loop_decision {
 public:
  constexpr explicit loop_decision(std::uint64_t word = 0) noexcept : word_(word) {}
  constexpr loop_decision(std::uint64_t ends, std::uint64_t turns) noexcept
      : word_(ends << 32 | (turns & 0xFFFFFFFFu)) {}

  constexpr std::uint64_t word() const noexcept { return word_; }
  /// Whether the loop has been over so often, and whether so many turns were decided; modulo 2^32.
  constexpr bool has_ended(std::uint64_t times) const noexcept {
    return static_cast<std::uint32_t>(word_ >> 32) == static_cast<std::uint32_t>(times);
  }
  constexpr bool has_decided(std::uint64_t turns) const noexcept {
    return static_cast<std::uint32_t>(word_) == static_cast<std::uint32_t>(turns);
  }

 private:
  std::uint64_t word_;
};

class flow_board final : public stoppable {
 public:
  /// `stop`: of the team. Null for tests that stop nothing.
  flow_board(std::size_t lanes, wait_policy policy, stop_source* stop)
      : stop_(stop), done_(lanes, policy), claimed_(lanes), gate_(1, policy) {
    if (stop_ != nullptr) stop_->add(*this);
  }
  ~flow_board() {
    if (stop_ != nullptr) stop_->remove(*this);
  }
  flow_board(const flow_board&) = delete;
  flow_board& operator=(const flow_board&) = delete;

  wait_policy policy() const noexcept { return done_.policy(); }

  published_word<std::uint64_t> done(std::size_t lane) const noexcept { return done_[lane]; }

  std::uint64_t claimed(std::size_t lane) const noexcept {
    return claimed_[lane].value.load(detail::memory_order_relaxed);  // 1
  }
  /// CLAIM-1. False if another thread has begun the step.
  bool try_claim(std::size_t lane, std::uint64_t step) noexcept {
    return claimed_[lane].value.compare_exchange_strong(
        step, step + 1, detail::memory_order_relaxed, detail::memory_order_relaxed);  // 2
  }
  /// By the lane's member, of a step that nobody else may run.
  void claim_own(std::size_t lane, std::uint64_t step) noexcept {
    claimed_[lane].value.store(step + 1, detail::memory_order_relaxed);  // 3
  }

  /// On the lane that decides a loop.
  void decide(std::size_t lane, loop_decision what) noexcept {
    done_.beside(lane).decision.store(what.word(), detail::memory_order_release);  // 4
  }
  loop_decision decided(std::size_t lane) noexcept {
    return loop_decision(done_.beside(lane).decision.load(detail::memory_order_acquire));  // 5
  }

  /// How many iterations may begin: twice their number, and 1 when there are no more.
  published_word<std::uint64_t> gate() const noexcept { return gate_[0]; }

  /// Between runs.
  void reset(std::size_t lane, std::uint64_t steps, loop_decision what) noexcept {
    done_[lane].reset(steps);
    claimed_[lane].value.store(steps, detail::memory_order_relaxed);               // 3
    done_.beside(lane).decision.store(what.word(), detail::memory_order_relaxed);  // 6
  }

  void notify_all_sleepers() override {
    done_.wake_all();
    gate_.wake_all();
  }

 private:
  struct decision_beside {
    detail::atomic<std::uint64_t> decision{0};
  };

  stop_source* const stop_;
  published_words<std::uint64_t, decision_beside> done_;
  detail::aligned_array<detail::padded<detail::atomic<std::uint64_t>>> claimed_;
  published_words<std::uint64_t> gate_;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_GRAPH_FLOW_BOARD_HPP

// lockstep/detail/graph/flow.hpp -- a graph that was checked: its order, its loops, who may be skipped (layer: graph)
//
// Pure. make_flow() takes what the user has said, and finds what is wrong with it, or its structure:
//   FLOW-1  `order` is an order of all nodes in which each edge goes forward.
//   FLOW-2  Blocks lie inside each other or apart. Block 0 is the graph; each other is a loop, after the block that
//           it is in. All nodes of a loop come after its `to` and before its `from`, which lies in no loop further
//           inside.
//   FLOW-3  `delayed` has counted feedback between nodes that are not of one loop, and what makes sure that no node
//           is asked for an iteration when it is in the next one already. Without counted feedback it is empty.
#ifndef LOCKSTEP_DETAIL_GRAPH_FLOW_HPP
#define LOCKSTEP_DETAIL_GRAPH_FLOW_HPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// For each node the numbers of the edges that leave it, or reach it.
struct adjacency {
  growing_array<std::uint32_t> begin;  // one more than there are nodes
  growing_array<std::uint32_t> edges;

  const std::uint32_t* first(std::size_t node) const noexcept { return edges.data() + begin[node]; }
  const std::uint32_t* last(std::size_t node) const noexcept {
    return edges.data() + begin[node + 1];
  }
};

struct flow_block {
  std::uint32_t parent = 0;
  std::uint32_t depth = 0;
  node_index from = no_node, to = no_node;  ///< of a loop
};

struct flow {
  std::string problem;  ///< empty, or else the rest is of no use
  growing_array<model_edge> edges;
  adjacency out, in;
  node_list order;
  growing_array<flow_block> blocks;
  growing_array<std::uint32_t> block_of;   ///< the innermost block of each node
  growing_array<std::uint32_t> loop_from;  ///< of each node: the loop that it decides, or 0
  growing_array<model_feedback> delayed;
  bool overlaps = false;  ///< iterations do
  std::uint32_t most_delay = 0;
  growing_array<bool> may_be_skipped;
  growing_array<bool> is_asked;  ///< what it returns, or whether it ran, is looked at by others

  /// Whether the node at its end may be skipped because of this edge.
  bool tells(const model_edge& edge) const {
    return edge.kind != edge_kind::plain || may_be_skipped[edge.from];
  }
  bool is_inside(std::uint32_t block, std::uint32_t of) const noexcept {
    while (blocks[block].depth > blocks[of].depth) block = blocks[block].parent;
    return block == of;
  }
};

LOCKSTEP_COLD flow make_flow(const graph_model& of);

LOCKSTEP_COLD std::string quoted(const graph_model& of, node_index node);

/// Of the edges between so many nodes, by their beginning or their end.
LOCKSTEP_COLD adjacency edges_by(const growing_array<model_edge>& edges, std::size_t nodes,
                                 bool by_end);

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_GRAPH_FLOW_HPP

// lockstep/detail/graph/flow_plan.hpp -- who runs which node, and what has to be waited for (layer: graph)
//
// Pure: the same flow, costs and members give the same plan. Each block (the graph, and each loop in it) has a lane for
// each member that takes part in it: a list of steps. A member goes down its lane of the graph again and again, and
// where it comes to a loop, down its lane of the loop, turn after turn. How many steps of a lane are done is one
// number.
//
//   FPLAN-1  A step begins when the lane's steps before it are done, and for each of its waits the lane that it names
//            has done so many steps in the same turn, or `delay` turns before. Steps of a lane are done in order.
//   FPLAN-2  So every edge, counted feedback, and GRAPH-3 hold. A wait that others imply is left out.
//   FPLAN-3  All lanes follow one order of the nodes (`line`), and waits in one turn go back in it. So no run of a
//            plan can get stuck; simulate() looks once more.
//   FPLAN-4  In a loop every lane waits at the end of a turn for the lane that has `from`, and that has waited for
//            all of them. Who waits for a loop waits for the member of that lane to have left it.
#ifndef LOCKSTEP_DETAIL_GRAPH_FLOW_PLAN_HPP
#define LOCKSTEP_DETAIL_GRAPH_FLOW_PLAN_HPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

constexpr std::uint32_t no_lane = ~std::uint32_t{0};
/// What an edge between members costs, in nanoseconds, and a node of which nothing is known.
constexpr double crossing_time = 100, usual_node_time = 1000;

struct plan_wait {
  std::uint32_t lane;
  std::uint32_t steps;  ///< so many of the lane's must be done
  std::uint32_t delay;  ///< in turns
};

struct plan_call {
  node_index node;
  std::uint32_t rank;  ///< of a team-wide node
};

struct plan_step {
  std::uint32_t first_call, last_call;
  std::uint32_t first_wait, last_wait;
  std::uint32_t loop;  ///< the block that is run here, or 0
  bool is_open;        ///< any member may run it
  bool is_awaited;     ///< somebody waits for it
  bool decides;        ///< it has the loop's `from`
  bool
      is_followed;  ///< it decides, and if the loop goes on the lane's first step tells: all others wait for that
};

struct plan_lane {
  std::uint32_t block, member;
  std::uint32_t first_step, steps;
  std::uint32_t parent;       ///< the same member's lane of the block around
  std::uint32_t parent_step;  ///< where that has this loop
};

struct flow_plan {
  std::string problem;  ///< empty, or else the rest is of no use
  std::uint32_t members = 1;
  growing_array<plan_lane> lanes;
  growing_array<plan_step> steps;
  growing_array<plan_wait> waits;
  growing_array<plan_call> calls;
  growing_array<std::uint32_t> lane_at;  ///< of a block and a member, or none
  growing_array<std::uint32_t> decider;  ///< of each loop: the lane that has its `from`
  node_list from;                        ///< of each loop
  node_list line;                        ///< the order for one member
  growing_array<std::uint32_t>
      again;  ///< for each place in it: where its loop begins, if it decides one, else none
  growing_array<std::uint32_t> member_of;  ///< of each node; of a team-wide one the first
  growing_array<std::uint32_t> width_of;
  growing_array<double> costs;
  growing_array<double> start;  ///< of each node, in the first turn
  double critical_path = 0, serial_time = 0, predicted_time = 0;

  std::uint32_t lane(std::uint32_t block, std::uint32_t member) const noexcept {
    return lane_at[block * members + member];
  }
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_GRAPH_FLOW_PLAN_HPP

// lockstep/detail/graph/flow_machine.hpp -- a plan with its functions, ready to be run (layer: graph)
//
// What the members of a run share, and what each has for itself. The caller of runs prepares it, the members walk
// through it (flow_walk.hpp), and it is at rest in between: each lane has done all that it has claimed, and every
// lane of the graph as many turns.
#ifndef LOCKSTEP_DETAIL_GRAPH_FLOW_MACHINE_HPP
#define LOCKSTEP_DETAIL_GRAPH_FLOW_MACHINE_HPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// A call of a node, with all that is needed for it in one place.
struct bound_call {
  enum : std::uint16_t { is_wide = 1, may_be_skipped = 2, is_asked = 4 };

  node_function::caller call;
  void* held;
  node_index node;
  std::uint16_t rank;
  std::uint16_t flags;
};

/// What a node that may be skipped asks another.
struct bound_question {
  node_index node;  ///< none: one that always runs
  edge_kind kind;
};

/// What is known of the times of a node. Written by whoever runs it: its runs follow each other.
struct node_times {
  std::uint64_t count = 0, sum = 0, most = 0, least = ~std::uint64_t{0};  ///< ticks
  std::uint64_t last_begin = 0, last_end = 0;
};

/// What a node takes that does nothing, with two looks at the clock, in ticks.
LOCKSTEP_COLD std::uint64_t time_of_nothing() noexcept;
/// The mean in ticks, without the clock's own time. The longest of several runs may have been preempted, and does not
/// count. Of a node that takes little it is the shortest run, for a cache miss would take as long as the node; and what
/// takes less than the clock itself counts as nothing.
LOCKSTEP_COLD double usual_time(const node_times& of, std::uint64_t clock) noexcept;

/// Whether another iteration begins: asked on the caller's thread.
struct iteration_gate {
  void* stop;
  bool (*call)(void* stop);

  template <class Stop>
  static iteration_gate asking(Stop& stop) noexcept {
    return {const_cast<void*>(static_cast<const void*>(&stop)),
            [](void* held) -> bool { return (*static_cast<Stop*>(held))(); }};
  }
};

/// Whether a run on one thread is to end.
struct stop_question {
  const void* held;
  bool (*call)(const void* held);

  template <class Region>
  static stop_question of(const Region& region) noexcept {
    return {&region, [](const void* held) -> bool {
              return static_cast<const Region*>(held)->is_stopped();
            }};
  }
  bool operator()() const { return call(held); }
};

/// A team-wide node: what its members share.
struct wide_part {
  wide_part(std::size_t width, wait_policy policy, stop_source& stop)
      : shared(width, policy, stop) {}

  group shared;
  std::uint32_t phase = 0;  ///< of its barrier when the run begins
};

/// Where a member stands in a lane.
struct lane_place {
  std::uint32_t lane = no_lane;
  std::uint32_t at = 0;    ///< the step of the turn
  std::uint64_t step = 0;  ///< since the plan was made
  std::uint64_t turn = 0;
  bool is_behind = false;  ///< `done` is not stored yet
};

/// A member's own.
struct walker_state {
  wait_history history = {};
  stage_trust patience = {};          ///< whether others come while it polls for them
  growing_array<std::uint64_t> seen;  ///< of each lane: how far it was
  growing_array<lane_place> places;   ///< in the graph, and in the loops that the member is in
  growing_array<std::uint32_t>
      entered;  ///< of each team-wide node: the region in which the member came to it last
};

class flow_machine {
 public:
  /// `stop` and `policy`: of the team; without a team it only runs alone.
  LOCKSTEP_COLD flow_machine(const graph_model& of, const flow& checked, flow_plan plan,
                             const growing_array<node_function>& functions, wait_policy policy,
                             stop_source* stop);
  flow_machine(const flow_machine&) = delete;
  flow_machine& operator=(const flow_machine&) = delete;
  LOCKSTEP_COLD ~flow_machine();

  /// Before a run of many members: `iterations` of them, or as many as the gate lets through.
  LOCKSTEP_OUT_OF_LINE void begin(std::uint64_t iterations, const iteration_gate* gate);
  /// After it. What was stopped leaves lanes anywhere: they are put in order.
  LOCKSTEP_OUT_OF_LINE void end(bool was_stopped);

  /// Whether all lanes have done what the run was for.
  LOCKSTEP_COLD bool is_done() const noexcept;

  /// A run on the calling thread alone. `me`: for team-wide nodes. False if it was stopped.
  LOCKSTEP_OUT_OF_LINE bool run_alone(std::uint64_t iterations, const iteration_gate* gate,
                                      member* me, const stop_question& stop);

  /// Calls a node, unless it is to be skipped.
  void run(const bound_call& what, std::uint64_t iteration, member* me) {
    if (iteration >= timed_iterations) {
      what.call(what.held, static_cast<std::size_t>(iteration), me);
    } else {
      run_timed(what, iteration, me);
    }
  }
  LOCKSTEP_OUT_OF_LINE void run_asked(const bound_call& what, std::uint64_t iteration, member* me);
  /// What a node has returned last; false if it was skipped.
  bool answer(node_index node) const noexcept { return answers_[node] == (ran | said_true); }

  const flow_plan plan;
  flow_board board;
  growing_array<bound_call> calls;  ///< as in the plan; then those of the line
  growing_array<bound_call> line;
  growing_array<wide_part*> wide_of;  ///< of each node, or null
  growing_array<std::uint32_t> wide_number;
  growing_array<node_times> times;
  aligned_array<padded<walker_state>> walkers;
  // Which of the next run's calls look at the clock: in its first iterations, until a node has so many samples.
  std::uint64_t timed_iterations = 0, most_samples = 0;

  // Of the run: written by its caller before it.
  std::uint64_t first = 0, last = 0;  ///< turns of the graph
  const iteration_gate* gate = nullptr;
  std::uint64_t ahead = 0;  ///< how many turns the gate may be ahead of the slowest lane

 private:
  enum : std::uint8_t { ran = 1, said_true = 2 };

  LOCKSTEP_COLD bound_call bind(const graph_model& of, const flow& checked,
                                const growing_array<node_function>& functions,
                                plan_call what) const;
  bool is_timed(const bound_call& what, std::uint64_t iteration) const noexcept {
    return iteration < timed_iterations && times[what.node].count < most_samples;
  }
  LOCKSTEP_OUT_OF_LINE bool run_plain(std::uint64_t iterations, const stop_question& stop);
  LOCKSTEP_OUT_OF_LINE void run_timed(const bound_call& what, std::uint64_t iteration, member* me);
  LOCKSTEP_COLD void note_time(const bound_call& what, std::uint64_t begin) noexcept;
  LOCKSTEP_COLD bool is_skipped(node_index node) const noexcept;
  LOCKSTEP_COLD void reset() noexcept;

  bool is_plain_ = true;  ///< all nodes of the line are only called
  growing_array<std::uint32_t> questions_begin_;
  growing_array<bound_question> questions_;
  growing_array<std::uint8_t> answers_;
  growing_array<owner<wide_part>> wide_parts_;
  std::uint64_t origin_;  ///< the first turn of all: so that delays reach back
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_GRAPH_FLOW_MACHINE_HPP

// lockstep/detail/graph/plan_body.hpp -- a plan, the team that runs it, and its runs (layer: graph)
//
// Two kinds of region. A plan that any thread may run any step of is run like a loop of as many shares as it has
// members (team_core.hpp): a member that does not come is not waited for. A plan with team-wide or pinned nodes needs
// every member.
#ifndef LOCKSTEP_DETAIL_GRAPH_PLAN_BODY_HPP
#define LOCKSTEP_DETAIL_GRAPH_PLAN_BODY_HPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {

class team;
class external_team;

namespace detail {

struct plan_body;

/// A member's part of a run: what the region is given.
struct plan_part {
  plan_body* of;
  LOCKSTEP_OUT_OF_LINE void operator()(member& me) const;
};

/// What a plan needs of its team. Null functions: there is no team.
struct plan_host {
  void* team;
  std::size_t size;
  wait_policy policy;
  stop_source* stop;
  bool (*run)(void* team, std::size_t members, plan_part& part);
  shares_outcome (*run_shares)(void* team, const shares_request& of, job& what);
  started_region (*start)(void* team, plan_part& part);
  void (*request_stop)(void* team);
  bool (*is_open)(void* team);  ///< a region was started and not joined
};

/// The way into team and external_team.
struct plan_access {
  static LOCKSTEP_COLD plan_host doors_of(lockstep::team& of);
  static LOCKSTEP_COLD plan_host doors_of(lockstep::external_team& of);
};

struct plan_body {
  LOCKSTEP_COLD plan_body(const graph_body& of, const plan_host& on, std::size_t members);

  LOCKSTEP_COLD void make();
  /// Takes over the times that were measured. False if there are none.
  LOCKSTEP_COLD bool take_times(double nanoseconds_a_tick);
  /// The same, and makes the plan anew with them.
  LOCKSTEP_COLD bool refine(double nanoseconds_a_tick);
  /// Whether all times but a hundredth are about the same, and not far from what is taken where nothing is known: another
  /// plan would gain little.
  LOCKSTEP_COLD bool are_times_as_guessed() const noexcept;
  /// Before a run of a plan that learns: looks at the clock in it, or makes the plan anew.
  LOCKSTEP_COLD void learn();
  /// A run: of many members, or alone.
  LOCKSTEP_OUT_OF_LINE bool run(std::uint64_t iterations, const iteration_gate* gate,
                                const char* function);
  LOCKSTEP_OUT_OF_LINE bool run_shares(std::uint64_t iterations);
  LOCKSTEP_OUT_OF_LINE started_region start(std::uint64_t iterations);
  LOCKSTEP_OUT_OF_LINE void take_part(loop_share& me);
  LOCKSTEP_COLD void check_ready(const char* function);
  /// A run that was started, and has been joined since.
  LOCKSTEP_COLD void end_started();

  graph_model model;
  flow checked;
  const growing_array<node_function>& functions;
  plan_host host;
  std::size_t most_members;
  growing_array<double> costs;
  owner<flow_machine> machine;
  bool needs_all = false;  ///< every member has to come
  bool is_running = false;
  bool has_started = false;
  bool was_alone = false;  ///< the run: on one thread, without the lanes
  std::uint64_t iterations = 0;
  const iteration_gate* gate = nullptr;
  plan_part part{this};

  // Of a graph whose nodes have no hints: the plan times the first iterations, and is made anew before the run after.
  bool learns = false;
  std::uint64_t iterations_to_time = 5;
  std::uint64_t begin_of_ticks = 0, begin_of_time = 0;
  std::uint64_t learnt_from = 0;  ///< runs; 0 if the plan is the first one, or that of refine()

  // Measured: how long an iteration takes one thread of late, and how many runs there were.
  double time_alone = 0;
  std::uint64_t runs = 0;
  std::uint64_t measured_iterations = 0, measured_time = 0;
};

LOCKSTEP_COLD plan_body* make_plan(const graph& of, const plan_host& on, std::size_t members);
LOCKSTEP_OUT_OF_LINE bool run_plan(plan_body& of, std::size_t iterations);
LOCKSTEP_OUT_OF_LINE bool run_plan_until(plan_body& of, const iteration_gate& gate);
LOCKSTEP_OUT_OF_LINE started_region start_plan(plan_body& of, std::size_t iterations);
LOCKSTEP_COLD std::size_t max_ahead_of(const plan_body& of) noexcept;
LOCKSTEP_COLD std::size_t members_of(const plan_body& of) noexcept;

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_GRAPH_PLAN_BODY_HPP

// lockstep/detail/team/display.hpp -- what LOCKSTEP_DISPLAY_ENV=1 prints: what was decided, and why (layer: team)
#ifndef LOCKSTEP_DETAIL_TEAM_DISPLAY_HPP
#define LOCKSTEP_DETAIL_TEAM_DISPLAY_HPP

#if LOCKSTEP_HAS_BODIES
#include <cstdio>
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// What a machine grants to a process.
struct granted_cpus {
  std::size_t usable;  ///< at once: affinity cut by the quota
  double quota;        ///< in CPUs; negative: none
  cpu_topology cpus;   ///< those of the affinity; empty if unknown
};

/// Several lines, each with a newline; pure. `made` came from these variables and this machine.
LOCKSTEP_COLD std::string describe(const resolved_team& made, const environment& variables,
                                   const granted_cpus& machine, const build_information& build);

/// Prints the description of the first team that comes here to stderr, if LOCKSTEP_DISPLAY_ENV asks.
LOCKSTEP_COLD void display_first_team(const resolved_team& made);

#if LOCKSTEP_HAS_BODIES

namespace display_text {

/// The lines on what the machine grants.
LOCKSTEP_COLD void append_machine(std::string& text, const granted_cpus& machine) {
  std::size_t cores = 0, packages = 0, of_kind[3] = {};
  std::vector<unsigned> cpus;
  for (const cpu_place& place : machine.cpus) {
    cpus.push_back(place.cpu);
    if (place.sibling != 0) continue;
    ++cores;
    ++of_kind[static_cast<std::size_t>(place.kind)];
    if (place.package + std::size_t{1} > packages) packages = place.package + std::size_t{1};
  }
  append(text, "  usable CPUs: %zu: affinity ", machine.usable);
  if (cpus.empty()) {
    text.append("unknown");
  } else {
    append(text, "%zu (", cpus.size());
    append_cpu_list(text, cpus);
    text.append(")");
  }
  append(text, machine.quota >= 0 ? ", quota %.2f\n" : ", no quota\n", machine.quota);
  append(text, "  cores: %zu in %zu %s", cores, packages, packages == 1 ? "package" : "packages");
  const char* separator = ", by kind: ";
  static const core_kind kinds[] = {core_kind::performance, core_kind::efficiency,
                                    core_kind::unknown};
  for (const core_kind kind : kinds) {
    const std::size_t count = of_kind[static_cast<std::size_t>(kind)];
    if (count == 0) continue;
    append(text, "%s%zu %s", separator, count, text_of(kind));
    separator = ", ";
  }
  text.append("\n");
}

/// Who had the say.
LOCKSTEP_COLD void append_reason(std::string& text, decided_by who, const char* variable) {
  if (who == decided_by::environment) {
    append(text, ", by %s", variable);
  } else {
    text.append(who == decided_by::program ? ", said by the program" : ", by default");
  }
}

/// Whether a team does what only some can.
LOCKSTEP_COLD void append_ability(std::string& text, const char* what, bool does, bool could,
                                  decided_by who, const char* variable, const char* cannot,
                                  const char* how) {
  text.append(what);
  if (!does && !could) {
    text.append(cannot);
  } else {
    text.append(does ? "on" : "off");
    append_reason(text, who, variable);
    if (does) text.append(how);
  }
  text.append("\n");
}

}  // namespace display_text

LOCKSTEP_COLD std::string describe(const resolved_team& made, const environment& variables,
                                   const granted_cpus& machine, const build_information& build) {
  using namespace display_text;
  std::string text;
  append(text, "lockstep %s, the first team:\n", build.version);
  append_machine(text, machine);

  append(text, "  team: %s, %zu %s", quoted_text(made.name.c_str()).text, made.members,
         made.members == 1 ? "member" : "members");
  if (made.members_by == decided_by::nobody) {
    text.append(", one for each CPU");
  } else {
    append_reason(text, made.members_by, variables.members.name);
  }
  text.append(made.is_crowded ? "; crowded: more members than CPUs for them\n" : "\n");

  text.append("  wait policy: ");
  environment_text::append_policy(text, made.policy);
  append_reason(text, made.policy_by, variables.policy.name);
  text.append("\n");

  const bool could = made.members > 1 && made.policy.is_adaptive() && !made.is_crowded;
  append_ability(text, "  anticipation: ", made.anticipates, could, made.anticipates_by,
                 variables.anticipate.name, "off, not with this size or policy, or not in a crowd",
                 "; a worker polls for 160 us and a quarter of the time between two regions at "
                 "most, and 4 ms after the last");
  append(text,
         made.learns ? "  loops: on as many members as pay, up to %zu" : "  loops: on %zu members",
         made.can_run_at_once);
  append_reason(text, made.learns_by, variables.learn.name);
  text.append("\n");
  append_ability(text, "  parting: ", made.finds_cpu, could && made.cpu_of_rank.empty(),
                 made.finds_cpu_by, variables.find_cpu.name,
                 "off, not with this size or policy, or not in a crowd, or bound",
                 "; a worker leaves a CPU that it shares with a member it waits for");

  text.append("  binding: ");
  environment_text::append_binding(text, made.bind);
  append_reason(text, made.bind_by, variables.bind.name);
  if (!made.bind.is_none()) {
    text.append(made.cpu_of_rank.empty() ? "\n  CPU of each rank: none usable"
                                         : "\n  CPU of each rank:");
  }
  constexpr std::size_t most = 256;
  for (std::size_t rank = 0; rank < made.cpu_of_rank.size() && rank < most; ++rank) {
    append(text, " %u", made.cpu_of_rank[rank]);
  }
  if (made.cpu_of_rank.size() > most) text.append(" ...");
  if (!made.left_out.empty()) {
    text.append("\n  not usable, left out: ");
    append_cpu_list(text, made.left_out);
  }
  append(text, "\n  futex: %s\n  process fence: %s\n", build.futex, build.process_fence);
  variables.describe(text, "  ", false);
  return text;
}

LOCKSTEP_COLD void display_first_team(const resolved_team& made) {
  const environment& variables = environment::of_process();
  if (!variables.display.value || !is_first_to_print(message::first_team)) return;
  const granted_cpus machine{usable_cpus(), cgroup::quota(), usable_topology()};
  std::fputs(describe(made, variables, machine, build_info()).c_str(), stderr);
}

#endif

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_DISPLAY_HPP

// lockstep/detail/team/workers.hpp -- the threads that a team starts and keeps (layer: team)
//
//   WORKERS-1  A thread that cannot be started ends start() with std::system_error, after those that were
//              started have ended.
//   WORKERS-2  In a child process the threads are not there: forget() lets go of their handles, unjoined.
#ifndef LOCKSTEP_DETAIL_TEAM_WORKERS_HPP
#define LOCKSTEP_DETAIL_TEAM_WORKERS_HPP

#if LOCKSTEP_HAS_BODIES
#include <cstdio>
#include <system_error>
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

class worker_threads {
 public:
  /// For the members from 1 on of `core`, which outlives this object.
  LOCKSTEP_COLD worker_threads(team_core& core, const resolved_team& made,
                               const team_options& options);
  ~worker_threads() { stop(); }
  worker_threads(const worker_threads&) = delete;
  worker_threads& operator=(const worker_threads&) = delete;

  /// Starts the threads if they are not there. Throws as start() does.
  void make_ready() {
    if (last_ == nullptr && core_.size() > 1) start();
  }
  bool are_there() const noexcept { return last_ != nullptr; }

  LOCKSTEP_COLD void start();

  /// Ends the threads, if they are there. Requires: no region runs.
  void stop() {
    if (are_there()) end();
  }

  /// In a child process, which has none of the threads.
  void forget() noexcept { last_ = nullptr; }

 private:
  struct worker;

  LOCKSTEP_COLD void end();

  /// Linux shows 15 characters: the rank is worth more than the end of the team's name.
  LOCKSTEP_COLD void name_thread(std::size_t rank) const;

  /// What the thread of a worker calls.
  LOCKSTEP_OUT_OF_LINE static void* run(void* self);

  /// The team may wait for this thread: a call of it must not wait for the team (CORE-4).
  LOCKSTEP_COLD void call_hook(const team_options::hook& hook, std::size_t rank) const;

  team_core& core_;
  char name_[16];
  const std::vector<unsigned> cpu_of_rank_;
  const team_options::hook on_start_;
  const team_options::hook on_exit_;
  worker* last_ = nullptr;  ///< that was started
};

#if LOCKSTEP_HAS_BODIES

struct worker_threads::worker {
  worker_threads& all;
  std::size_t rank;
  worker* before;
  plain_thread thread;
};

LOCKSTEP_COLD worker_threads::worker_threads(team_core& core, const resolved_team& made,
                                             const team_options& options)
    : core_(core),
      cpu_of_rank_(made.cpu_of_rank),
      on_start_(options.on_start()),
      on_exit_(options.on_exit()) {
  std::snprintf(name_, sizeof name_, "%.15s", made.name.c_str());
}

LOCKSTEP_COLD void worker_threads::start() {
  /// Ends those that were started if that were not all.
  struct all_or_none {
    worker_threads& threads;
    bool are_all;
    ~all_or_none() {
      if (!are_all) threads.end();
    }
  };
  core_.reopen();
  std::size_t rank = 1;
  int error = 0;
  {
    all_or_none started = {*this, false};
    for (; rank < core_.size(); ++rank) {
      owner<worker> next(new worker{*this, rank, last_, plain_thread()});
      error = next->thread.start(run, next.get());
      if (error != 0) break;
      last_ = next.release();
    }
    started.are_all = error == 0;
  }
  if (error == 0) return;
  char message[160];
  std::snprintf(message, sizeof message,
                "lockstep::team: the system refused thread %zu of %zu; ask for fewer members "
                "or raise the limit on threads",
                rank, core_.size() - 1);
#if LOCKSTEP_HAS_EXCEPTIONS
  throw std::system_error(error, std::generic_category(), message);
#else
  print_and_abort(message);
#endif
}

LOCKSTEP_COLD void worker_threads::end() {
  core_.close();
  while (last_ != nullptr) {
    worker* const before = last_->before;
    last_->thread.join();
    delete last_;
    last_ = before;
  }
}

LOCKSTEP_COLD void worker_threads::name_thread(std::size_t rank) const {
  char number[24];
  const int length = std::snprintf(number, sizeof number, " %zu", rank);
  char name[48];
  std::snprintf(name, sizeof name, "%.*s%s", 15 - length, name_, number);
  name_this_thread(name);
}

LOCKSTEP_OUT_OF_LINE void* worker_threads::run(void* self) {
  worker_threads& all = static_cast<const worker*>(self)->all;
  const std::size_t rank = static_cast<const worker*>(self)->rank;
  all.name_thread(rank);
  if (!all.cpu_of_rank_.empty()) pin_this_thread(all.cpu_of_rank_[rank]);
  all.call_hook(all.on_start_, rank);
  all.core_.work(rank);
  all.call_hook(all.on_exit_, rank);
  return nullptr;
}

LOCKSTEP_COLD void worker_threads::call_hook(const team_options::hook& hook,
                                             std::size_t rank) const {
  if (!hook) return;
  const nesting::region where = core_.hook_region();
  const nesting::inside here(where);
  hook(rank);
}

#endif

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_WORKERS_HPP

// lockstep/team.hpp -- persistent threads that run one function together (layer: team)
//
// run(f) calls f(member&) on every member, and returns when all calls have returned. What happens before
// run() happens before every call; every call happens before the return of run(). The caller is member
// 0; the other members are threads that the team starts once and keeps. Between regions they wait by
// the team's policy: with the default they sleep after about 50 us, unless they have learned when the next region
// is due (anticipation.hpp): then they sleep until shortly before it. 4 ms after the last region they use no CPU.
// run() allocates nothing and takes no lock. What members can do is in member.hpp. For threads of your own see
// external_team.hpp.
//
//   TEAM-1  One region at a time: outside threads that call run() together are served in the order of their
//       calls.
//   TEAM-2  run() from inside a region of the same team, however deep and on whatever thread, runs f inline
//       as the only member of its region: it would wait for itself otherwise. So do the parallel_ functions.
//       From inside a region of another team it waits for its turn if that team was made before this one;
//       else, if this one is busy, it runs inline as well: two teams could wait for each other otherwise.
//   TEAM-3  An exception leaves the team usable: members that wait in the region are released, all calls are
//       awaited, then run() rethrows the exception of the lowest rank.
//   TEAM-4  A thread that cannot be started ends the constructor (or the run() that resumes) with
//       std::system_error, after those that were started have ended.
//   TEAM-5  In a child process of fork() the team starts its threads anew for its first region. A region
//       that the forking thread was in is stopped there: see docs/faq.md.
//   TEAM-6  What only an outside thread may call fails, from inside a region, with std::logic_error.
//   TEAM-7  A static team may end, with its program, while other threads run regions of it: those go on until the
//       process ends; threads that come later wait for that (nesting.hpp). Debug builds say so.
//
// Threads that a member starts, and that use the team: inside_region of region.hpp.
//
// Memory order (# marks the line), of default_team()
//   #  access              order    pairs  why it suffices
//   1  slot.load           acquire  2      the team is made before its address is seen
//   2  slot.compare_exch   release  1      as 1
//
// Cost   an empty region of P members: one RMW on a line of the caller's, one store to the job's line,
//        P-1 fetches of it, one store on each member's own line, P-1 fetches by the caller; above 8
//        members along a tree (fork_board.hpp). Two members uncrowded: two line transfers in a row.
#ifndef LOCKSTEP_TEAM_HPP
#define LOCKSTEP_TEAM_HPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {

namespace detail {
struct plan_access;
}  // namespace detail

class team : public detail::team_loops<team> {
 public:
  /// As the environment says (LOCKSTEP_NUM_THREADS, ...), else one member per usable CPU.
  LOCKSTEP_ENTRY team();

  /// Fails if members is 0 or above 65536.
  LOCKSTEP_ENTRY explicit team(std::size_t members);
  LOCKSTEP_ENTRY team(std::size_t members, wait_policy policy);
  LOCKSTEP_ENTRY explicit team(const team_options& options);

  /// Requires: no region runs, but for TEAM-7. From inside one of its own regions, also one that was started and
  /// not joined, it ends the program with a message: it would wait for itself.
  LOCKSTEP_ENTRY ~team();
  team(const team&) = delete;
  team& operator=(const team&) = delete;

  std::size_t size() const noexcept { return door_.size(); }
  wait_policy policy() const noexcept { return door_.policy(); }

  /// Calls f(member&), or f() if it takes no member, once on every member. Returns when all have returned: false if the
  /// region was stopped by request_stop(). See TEAM-1 to TEAM-3.
  template <class Function>
  bool run(Function&& f) {
    return run_on(size(), f);
  }
  /// On the first k members only; of the others, up to 7 hear of it, where they watch a line with one of
  /// those (fork_lines.hpp). Fails if k is 0 or above size().
  template <class Function>
  bool run(std::size_t k, Function&& f) {
    detail::checked_range("lockstep::team::run", "members", k, 1, size());
    return run_on(k, f);
  }

  /// Starts a region on the other members and returns a handle, which is to be kept: its join(), or its end, runs
  /// the caller's part and waits (region.hpp). In between the caller is inside the region (TEAM-2). The
  /// function must live until then; a temporary is taken only where it is copied (closures.hpp). Fails if called from
  /// inside a region.
  template <class Function>
  LOCKSTEP_NODISCARD started_region start(Function&& f) {
    detail::check_part<Function>();
    static_assert(
        std::is_lvalue_reference<Function>::value || detail::part_of<Function>::is_copied(),
        "lockstep::team::start: keep this function in a variable until join(): it is too large "
        "to be copied, or not trivially copyable");
    check_outside("start");
    detail::region_turn turn(door_, &body_->core);
    body_->threads.make_ready();
    detail::part_of<typename std::remove_reference<Function>::type> part(f);
    body_->core.start(part.function());
    turn.keep();
    return started_region(door_, body_->core);
  }

  /// Ends the region that runs, if one does: see MEMBER-3 of member.hpp. Any thread may call it.
  LOCKSTEP_ENTRY void request_stop();

  /// Gives the threads back to the system, until resume() or the next region. Waits for its turn.
  LOCKSTEP_ENTRY void pause();
  /// Starts the threads again now, so that the next region does not have to.
  LOCKSTEP_ENTRY void resume();

 private:
  friend class detail::team_loops<team>;
  friend struct detail::plan_access;

  /// The threads end before the core.
  struct body {
    body(const detail::resolved_team& made, detail::team_door& door, const team_options& options)
        : core(made, door), threads(core, made, options) {}

    detail::team_core core;
    detail::worker_threads threads;
  };

  LOCKSTEP_COLD team(const team_options& options, const detail::resolved_team& made);

  template <class Function>
  bool run_on(std::size_t k, Function& f) {
    detail::check_part<Function>();
    detail::part_of<Function> part(f);
    return detail::team_core::run(door_, &body_->core, body_->threads, k, part.function());
  }
  /// As team_core's.
  LOCKSTEP_OUT_OF_LINE bool run_loop(const detail::loop_request& of, detail::job& what,
                                     const detail::loop_ends& ends);

  void check_outside(const char* function) const {
    if (!door_.may_wait()) refuse_inside(function);
  }
  [[noreturn]] static LOCKSTEP_COLD void refuse_inside(const char* function);
  [[noreturn]] static LOCKSTEP_COLD void end_of_program(const char* why);

  /// Of `self`, a team.
  static LOCKSTEP_COLD void in_child(void* self) noexcept;

  detail::team_door door_;
  detail::owned_body<body> body_;
  detail::fork_listener fork_listener_{this, in_child};  // the last: see fork.hpp
};

namespace detail {

/// What the first of all callers made. Never destroyed.
template <class T>
T& made_by_the_first(detail::atomic<void*>& slot) {
  void* known = slot.load(detail::memory_order_acquire);  // 1
  if (known != nullptr) return *static_cast<T*>(known);
  static_assert(alignof(T) <= alignof(std::max_align_t), "C++11 `new` honours no more");
  T* const made = new T;
  if (slot.compare_exchange_strong(known, made, detail::memory_order_release,  // 2
                                   detail::memory_order_acquire)) {            // 1
    return *made;
  }
  delete made;
  return *static_cast<T*>(known);
}

}  // namespace detail

/// One team for all parts of a program that need no options of their own: team(), made by the first call. Two callers
/// that come first at once may each make one; one of them is used by all, the other ends at once. Throws as team()
/// does, and the next call tries again.
/// It is never destroyed: objects of static storage may use it in their constructors and destructors, and a thread that
/// outlives main() may. Its workers sleep when the program ends. In a child of fork() it starts its threads anew (TEAM-5).
/// It is one for all modules that share the state of the process (process.hpp). The module whose call made it must stay
/// loaded.
inline team& default_team() {
  return detail::made_by_the_first<team>(detail::process().default_team);
}

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_TEAM_HPP

// lockstep/plan.hpp -- a graph on a team: who runs which node when, and the run itself (layer: graph)
//
//   lockstep::plan plan(g, team);
//   plan.run();                                    // one iteration
//   plan.run(1000);                                // a thousand, without a look at the caller in between
//   plan.run_until([&] { return frames == wanted; });
//
// A plan gives each node to a member, and finds which waits are needed between members. The same graph and team give the
// same plan. What lies on one member needs no wait; a wait that others imply is left out. Each member counts on a line
// of its own how far it is; that is all that runs share. To run allocates nothing, takes no lock, and has no queue.
//
// If no node has a hint (graph_node::cost) and none is pinned or team-wide, the plan learns: it looks at the clock in
// its first five iterations (or fewer, of a graph with loops), and makes itself anew, once, at the beginning of the run
// after them. That run allocates. A plan with a hint never does so; nor does one after measure(), run_by() or refine().
// report() says what was done.
//
//   PLAN-1  What happens before run() happens before every node, and every node before its return.
//   PLAN-2  A member that is late does not hold up what others can do: who would wait for a node that nobody has
//           begun, and that could begin, runs it. Not those that are pinned or team-wide. So a node may run on any
//           member's thread.
//   PLAN-3  The first exception of a node ends the run: who waits is released, and when all members have come back,
//           run() rethrows it. request_stop() does the same without an exception: run() returns false. Nodes that
//           have begun end. Others may still begin as long as they need not wait, but none that comes after a
//           team-wide node, which its members may have left early. The plan can be run again. Without exceptions
//           (-fno-exceptions) only request_stop() is left.
//   PLAN-4  Inside a region of the same team (T2 of team.hpp) a plan runs on the calling thread alone, in an order
//           that the graph allows. So does a plan that needs one member only.
//   PLAN-5  One thread at a time uses a plan. A node must not run the plan that it is part of: std::logic_error.
//
// The team must outlive its plans; so must the graph.
//
// Cost   a node after another on the same member: a call through a pointer. An edge between members: one line
//        transfer. A node that waits: one RMW on a line of its member's. A run: a region of the team on as many
//        members as are needed.
#ifndef LOCKSTEP_PLAN_HPP
#define LOCKSTEP_PLAN_HPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {

/// What run_by() says of an iteration.
struct timed_run {
  bool completed;                 ///< false: it was stopped
  bool in_time;                   ///< it was over before the deadline
  std::chrono::nanoseconds took;  ///< from the call to the return
  std::chrono::nanoseconds late;  ///< by which it missed the deadline, or 0; at most `took`
  /// Of a run that was late: the node that took longest beyond what it usually takes; null if none did, so that the
  /// time was lost before or between nodes. Valid while the graph lives.
  const char* cause;
  std::chrono::nanoseconds excess;  ///< how much longer that node took
};

class plan {
 public:
  /// Fails with std::invalid_argument and the text of graph::validate() if the graph is wrong, or if it needs a member
  /// that the team does not have. With `members` it uses the first so many of the team.
  plan(const graph& of, team& on) : plan(of, on, on.size()) {}
  plan(const graph& of, team& on, std::size_t members)
      : body_(detail::make_plan(of, detail::plan_access::doors_of(on), members)) {}
  plan(const graph& of, external_team& on) : plan(of, on, on.size()) {}
  plan(const graph& of, external_team& on, std::size_t members)
      : body_(detail::make_plan(of, detail::plan_access::doors_of(on), members)) {}
  /// For a look: a plan for so many members, without a team. To run it fails with std::logic_error.
  LOCKSTEP_COLD plan(const graph& of, std::size_t members);

  LOCKSTEP_COLD ~plan();
  LOCKSTEP_COLD plan(plan&& other) noexcept;
  plan& operator=(plan&&) = delete;

  // --- runs ---

  /// PLAN-1 to PLAN-4. False if it was stopped.
  bool run(std::size_t iterations = 1) { return detail::run_plan(*body_, iterations); }

  /// Iterations until stop() returns true. It is asked on the calling thread, before each iteration; without counted
  /// feedback after all of the one before is done, with it at most max_ahead() iterations ahead of the slowest member.
  /// False if the run was stopped otherwise.
  template <class Stop>
  bool run_until(Stop&& stop) {
    detail::iteration_gate gate = detail::iteration_gate::asking(stop);
    return detail::run_plan_until(*body_, gate);
  }
  std::size_t max_ahead() const noexcept { return detail::max_ahead_of(*body_); }

  /// Starts a run on the other members, and returns a handle that is to be joined (region.hpp): then the caller takes
  /// its part. Meanwhile the others take over what they can of it. Of a plan on a team only.
  LOCKSTEP_NODISCARD started_region start(std::size_t iterations = 1) {
    return detail::start_plan(*body_, iterations);
  }

  /// One iteration, with a look at the clock before and after each node (20 ns a node). Ends when it is done, in time
  /// or not.
  LOCKSTEP_OUT_OF_LINE timed_run run_by(deadline until);

  /// Ends the run, if there is one: PLAN-3. Any thread may call it, as long as the plan lives.
  LOCKSTEP_COLD void request_stop();

  // --- measurements ---

  /// As run(), with a look at the clock before and after each node, for refine() and report().
  LOCKSTEP_OUT_OF_LINE bool measure(std::size_t iterations);
  /// Makes the plan anew with the mean times that measure() and run_by() have found. What was not run keeps its hint.
  /// False if nothing was measured since the last time.
  LOCKSTEP_COLD bool refine();

  // --- looks ---

  /// How many members it uses: the first of the team.
  std::size_t members() const noexcept { return detail::members_of(*body_); }

  /// By hints or measured times: the longest way through an iteration, all nodes one after the other, and how long
  /// an iteration will take. Loops count as one turn.
  LOCKSTEP_COLD std::chrono::nanoseconds critical_path() const;
  LOCKSTEP_COLD std::chrono::nanoseconds serial_time() const;
  LOCKSTEP_COLD std::chrono::nanoseconds predicted_time() const;

  /// The plan, line by line: for each member its nodes and waits.
  LOCKSTEP_COLD std::string text() const;
  /// What is predicted, what was measured, and where time is lost.
  LOCKSTEP_COLD std::string report() const;
  /// For Graphviz: a lane for each member, edges between members are bold.
  LOCKSTEP_COLD std::string dot() const;

 private:
  detail::owner<detail::plan_body> body_;
};

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_PLAN_HPP

// lockstep/reduction.hpp -- operations for reductions: a value with its index, several values at once (layer: team)
//
//   auto best = team.parallel_reduce(0, n, lockstep::no_index<double>(),
//                                    [=](std::size_t i) { return lockstep::with_index(x[i], i); },
//                                    lockstep::min_with_index());          // best.value == x[best.index]
//
//   auto both = team.parallel_reduce(0, n, std::make_tuple(0.0, lockstep::no_index<double>()),
//                                    [=](std::size_t i) { return std::make_tuple(x[i], lockstep::with_index(x[i], i)); },
//                                    lockstep::together(lockstep::plus(), lockstep::max_with_index()));
//
// For parallel_reduce, member::reduce_each, member::reduce_range and member::sync_reduce. Any function of two values
// will do as well, where it is associative; these are for what is tedious to write.
//
//   REDUCER-1  Ties go to the lowest index, whatever the order in which values are combined.
//   REDUCER-2  A value without an index is no value: it loses to every other. So is the value of an empty range.
//   REDUCER-3  Values that cannot be ordered (NaN) tie with all others: the result has the same bits for every team
//              size, as those of all reductions over a range, but which value it is depends on where NaN stand.
#ifndef LOCKSTEP_REDUCTION_HPP
#define LOCKSTEP_REDUCTION_HPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {

/// A value, and the index where it was found. Of 16 bytes for a double and a std::size_t: it travels as a double does.
template <class T, class Index = std::size_t>
struct value_and_index {
  static_assert(std::is_integral<Index>::value,
                "lockstep: the index of a value_and_index is an integer; of iterators take the "
                "distance to the first");

  T value;
  Index index;

  /// False for no_index().
  constexpr bool has_value() const noexcept { return index != (std::numeric_limits<Index>::max)(); }

  friend constexpr bool operator==(const value_and_index& a, const value_and_index& b) {
    return a.index == b.index && a.value == b.value;
  }
  friend constexpr bool operator!=(const value_and_index& a, const value_and_index& b) {
    return !(a == b);
  }
};

/// Requires: index is not the largest of its type.
template <class T, class Index>
constexpr value_and_index<typename std::decay<T>::type, Index> with_index(T&& value, Index index) {
  return {std::forward<T>(value), index};
}
/// The init of min_with_index and max_with_index: loses to every other.
template <class T, class Index = std::size_t>
constexpr value_and_index<T, Index> no_index() {
  return {T(), (std::numeric_limits<Index>::max)()};
}

/// a + b, of any type.
struct plus {
  template <class T>
  constexpr T operator()(const T& a, const T& b) const {
    return static_cast<T>(a + b);
  }
};
/// The lesser one; of equal ones the first.
struct minimum {
  template <class T>
  constexpr T operator()(const T& a, const T& b) const {
    return b < a ? b : a;
  }
};
/// The greater one; of equal ones the first.
struct maximum {
  template <class T>
  constexpr T operator()(const T& a, const T& b) const {
    return a < b ? b : a;
  }
};

/// The lesser value, of two value_and_index; of equal values that with the lower index.
struct min_with_index {
  template <class T, class Index>
  constexpr value_and_index<T, Index> operator()(const value_and_index<T, Index>& a,
                                                 const value_and_index<T, Index>& b) const {
    return !b.has_value()                              ? a
           : !a.has_value() || b.value < a.value       ? b
           : !(a.value < b.value) && b.index < a.index ? b
                                                       : a;
  }
};
/// The greater value; of equal values that with the lower index.
struct max_with_index {
  template <class T, class Index>
  constexpr value_and_index<T, Index> operator()(const value_and_index<T, Index>& a,
                                                 const value_and_index<T, Index>& b) const {
    return !b.has_value()                              ? a
           : !a.has_value() || a.value < b.value       ? b
           : !(b.value < a.value) && b.index < a.index ? b
                                                       : a;
  }
};

/// Combines tuples, or pairs: the k-th values by the k-th operation. Made by together().
template <class... Ops>
class together_of {
 public:
  constexpr explicit together_of(Ops... ops) : ops_(std::move(ops)...) {}

  template <class Tuple>
  Tuple operator()(Tuple a, const Tuple& b) const {
    static_assert(std::tuple_size<Tuple>::value == sizeof...(Ops),
                  "lockstep: together() takes one operation for each value of the tuple");
    combine(a, b, std::integral_constant<std::size_t, 0>());
    return a;
  }

 private:
  template <class Tuple>
  void combine(Tuple&, const Tuple&, std::integral_constant<std::size_t, sizeof...(Ops)>) const {}
  template <class Tuple, std::size_t K>
  void combine(Tuple& a, const Tuple& b, std::integral_constant<std::size_t, K>) const {
    std::get<K>(a) = std::get<K>(ops_)(std::get<K>(a), std::get<K>(b));
    combine(a, b, std::integral_constant<std::size_t, K + 1>());
  }

  std::tuple<Ops...> ops_;
};
template <class... Ops>
constexpr together_of<Ops...> together(Ops... ops) {
  return together_of<Ops...>(std::move(ops)...);
}

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_REDUCTION_HPP

// lockstep/shared_mutex.hpp -- one writer or many readers (layer: sync)
//
// std::shared_timed_mutex by its operations: works with std::shared_lock and std::unique_lock. Threads that have to
// queue are served in the order of their arrival, neighbouring readers together, and nobody overtakes the queue: neither
// writers nor readers starve. What happens before an unlock happens before the return of the next lock; what happens
// before an unlock_shared, before that of the next lock by a writer.
// A reader must not lock again while it holds the lock: with a writer queued in between, or as a writer, it would wait
// for itself (diagnosed in debug builds where it has to wait). For short sections mutex.hpp is faster, also for readers:
// each reader writes the word.
//
// Invariants
//   SHARED-1  `writer` is set or readers > 0, never both.
//   SHARED-2  `waiting` is set exactly while the queue is not empty; then a thread gets in only by hand_over(), on
//             behalf of the queue: a thread that was notified holds the lock.
//   SHARED-3  A thread that makes the lock free while `waiting` is set hands over. So does a thread that leaves the
//             queue: its place may have been what held up those behind it.
//   SHARED-4  The object may be destroyed by the thread that has held and unlocked it last (as MUTEX-5).
//
// word_
//   bit    name     meaning                   set by                               cleared by
//   0      writer   a writer holds it         lock, or hand_over() for the writer  unlock
//   1      waiting  the queue has a waiter    a waiter, as it queues up            the last to leave the queue
//   2..31  readers  how many readers hold it  lock_shared, or hand_over(), counts  unlock_shared counts down
// None may be wrong outside of the queue's lock: without waiting an unlock lets nobody in and others overtake; with
// waiting and no waiter nobody gets in any more.
//
// Memory order (# marks the line)
//   #  access          order    pairs  why it suffices
//   1  word.fetch_sub  release  -      for rows 1 and 4 of queued_word.hpp; later readers' changes keep the release
//                                      sequence
//
// Cost   each operation one read-modify-write; no system call unless a thread sleeps. 8 bytes.
// Source [PARKING-LOT] for the queue; the order of service is that of [MCS91b].
#ifndef LOCKSTEP_SHARED_MUTEX_HPP
#define LOCKSTEP_SHARED_MUTEX_HPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// What the bits of a shared_mutex mean (queued_word.hpp).
struct shared_mutex_rules {
  static constexpr parking_lot::kind queue = parking_lot::kind::shared_mutex;
  static constexpr bool backs_off = false;

  static constexpr std::uint32_t writer = 1, waiting = 2, one_reader = 4;
  enum purpose : std::uint32_t { to_read, to_write };

  static bool may_take(std::uint32_t word, std::uint32_t as) noexcept {
    return (word & waiting) == 0 && may_be_given(word, as);
  }
  static bool may_be_given(std::uint32_t word, std::uint32_t as) noexcept {
    return as == to_read ? (word & writer) == 0 : (word & ~waiting) == 0;
  }
  static std::uint32_t taken(std::uint32_t word, std::uint32_t as) noexcept {
    return word + (as == to_read ? one_reader : writer);
  }
  static std::uint32_t marked(std::uint32_t word, std::uint32_t) noexcept { return word | waiting; }
  static std::uint32_t without_waiters(std::uint32_t word) noexcept { return word & ~waiting; }
};
static_assert(parking_lot::without_waiters(shared_mutex_rules::queue) ==
                  ~shared_mutex_rules::waiting,
              "PARKING-4");

}  // namespace detail

class shared_mutex : private detail::handed_word<detail::shared_mutex_rules> {
  using rules = detail::shared_mutex_rules;

 public:
  explicit constexpr shared_mutex(wait_policy policy = wait_policy()) noexcept
      : handed_word(0, policy) {}
  ~shared_mutex() { detail::misuse::destroying_lock(this, kind()); }
  shared_mutex(const shared_mutex&) = delete;
  shared_mutex& operator=(const shared_mutex&) = delete;

  /// Blocks until the calling thread alone holds the lock. Requires: it does not hold it yet.
  void lock() { try_lock_until(deadline::never()); }
  /// Takes the lock if no thread holds it or waits for it; never blocks.
  bool try_lock() noexcept {
    const bool taken = try_take(rules::to_write);
    if (taken) detail::misuse::locked(this);
    return taken;
  }
  /// As lock(), for at most `time`; false if the lock was not to be had.
  template <class Rep, class Period>
  bool try_lock_for(std::chrono::duration<Rep, Period> time) {
    return try_lock_until(deadline::after(time));
  }
  bool try_lock_until(deadline until) {
    detail::misuse::locking(this, kind());
    const bool taken = try_take(rules::to_write) || lock_slowly(rules::to_write, until);
    if (taken) detail::misuse::locked(this);
    return taken;
  }
  /// Requires: the calling thread holds the lock alone.
  void unlock() {
    detail::misuse::unlocking(this, kind());
    const std::uint32_t old = word_.fetch_sub(rules::writer, detail::memory_order_release);  // 1
    if ((old & rules::waiting) != 0) hand_over();
  }

  /// Blocks until the calling thread holds the lock, perhaps with other readers. Requires: it does not
  /// hold it yet.
  void lock_shared() { try_lock_shared_until(deadline::never()); }
  /// Takes the lock if no writer holds it and no thread waits for it; never blocks.
  bool try_lock_shared() noexcept {
    const bool taken = try_take(rules::to_read);
    if (taken) detail::misuse::locked_shared(this);
    return taken;
  }
  /// As lock_shared(), for at most `time`; false if the lock was not to be had.
  template <class Rep, class Period>
  bool try_lock_shared_for(std::chrono::duration<Rep, Period> time) {
    return try_lock_shared_until(deadline::after(time));
  }
  bool try_lock_shared_until(deadline until) {
    detail::misuse::locking(this, kind());
    const bool taken = try_take(rules::to_read) || lock_slowly(rules::to_read, until);
    if (taken) detail::misuse::locked_shared(this);
    return taken;
  }
  /// Requires: the calling thread holds the lock as a reader.
  void unlock_shared() {
    detail::misuse::unlocking_shared(this, kind());
    const std::uint32_t old =
        word_.fetch_sub(rules::one_reader, detail::memory_order_release);  // 1
    if ((old & rules::waiting) != 0 && old < 2 * rules::one_reader) hand_over();
  }

  using handed_word::policy;

 private:
  static const char* kind() noexcept { return "lockstep::shared_mutex"; }

  LOCKSTEP_NOINLINE bool lock_slowly(rules::purpose as, deadline until) {
    detail::misuse::check_no_reader(this, kind());
    return take_slowly(as, until);
  }
};

static_assert(sizeof(shared_mutex) == 8, "a word of state and a policy");

/// For programs that change a type: the timed operations are there.
using shared_timed_mutex = shared_mutex;

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SHARED_MUTEX_HPP

// lockstep/split_barrier.hpp -- std::barrier's shape: no ranks, arrivals may be dropped (layer: sync)
//
// A phase is over when as many arrivals as expected have been made, by whichever threads. No wait for the
// phase returns before. What happens before any arrival in a phase happens before the completion function,
// and that happens before every return from a wait for the phase.
// Threads that know their rank: barrier is faster (no read-modify-write up to 8, a tree of counters above).
//
// Invariants, for phase p
//   SPLIT-1  Between phases remaining_ is expected_. In a phase it is what is still to arrive.
//   SPLIT-2  The completion function runs once a phase, on the last thread to arrive, before any is released.
//   SPLIT-3  A wait for p returns once the phase is another one, however far the other threads have gone on.
//   SPLIT-4  The last arrival touches nothing after its change of phase_ but the address, in a futex wake.
//            Every other arrival touches nothing after its change of remaining_. So the barrier may be
//            destroyed when the waits for the last completed phase have returned.
//   SPLIT-5  A waiter sleeps only on a word with its own phase and the sleeping bit. The change to the next
//            phase finds the bit in the old value, clears it, and wakes.
//
//   phase_: bits  name      meaning                     set by                    cleared by
//           0     sleeping  waiters may be asleep       a waiter                  the last arrival of a phase
//           1..   phase     its number, modulo 2^31     the last arrival, +1      -
// Legal to be set too long: sleeping (costs a wake that finds no sleeper). Illegal to be missing: SPLIT-5.
//
// Memory order (# marks the line; each weakening must fail a test)
//   #  access               order    pairs  why it suffices
//   1  phase.load           relaxed  -      no phase ends before the caller's own arrival in it
//   2  dropped.fetch_add    relaxed  -      published by 3 of the same thread
//   3  remaining.fetch_sub  acq_rel  3      the last to arrive has seen all arrivals, and publishes them
//   4  dropped.load, store  relaxed  -      ordered by 3, and by 6 for the next phase
//   5  remaining.store      relaxed  -      published by 6; the next arrivals come after 7
//   6  phase.exchange       release  7, 9   the waiters see all arrivals and the completion
//   7  wait for the phase   acquire  6      the other half, in word_waiter.hpp
//   8  remaining.load       relaxed  -      for a message
//   9  phase.load           acquire  6      as 7
//
// Cost   per phase: one RMW per arrival on one line, one exchange and a refetch per waiter of another;
//        no system call unless a waiter sleeps. No heap.
// Source [MCS91] sec. 3.1, with a phase for the sense.
#ifndef LOCKSTEP_SPLIT_BARRIER_HPP
#define LOCKSTEP_SPLIT_BARRIER_HPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {

namespace detail {

/// The completion function that does nothing.
struct no_completion {
  void operator()() const noexcept {}
};

}  // namespace detail

/// CompletionFunction is called without arguments. It must not use the barrier. If it throws,
/// std::terminate is called: the phase could neither be ended nor taken back.
template <class CompletionFunction = detail::no_completion>
class split_barrier {
 public:
  /// The phase that an arrival was made in; wait() takes it.
  class arrival_token {
   public:
    arrival_token(arrival_token&&) = default;
    arrival_token& operator=(arrival_token&&) = default;

   private:
    friend class split_barrier;
    explicit arrival_token(std::uint32_t phase) noexcept : phase_(phase) {}
    std::uint32_t phase_;
  };

  /// The most arrivals a phase can expect.
  static constexpr std::ptrdiff_t(max)() noexcept { return 0x7FFFFFFF; }

  /// Fails if expected is negative or above max(). Tests pass `first_phase` to start next to
  /// wrap-around (at 2^31).
  explicit split_barrier(std::ptrdiff_t expected,
                         CompletionFunction completion = CompletionFunction(),
                         wait_policy policy = wait_policy(), std::uint32_t first_phase = 0)
      : remaining_(checked(expected)),
        dropped_(0),
        expected_(static_cast<std::uint32_t>(expected)),
        completion_(std::move(completion)),
        phase_(first_phase * one_),
        policy_(policy.when_crowded(static_cast<std::size_t>(expected) > detail::usable_cpus())) {}
  split_barrier(std::ptrdiff_t expected, wait_policy policy)
      : split_barrier(expected, CompletionFunction(), policy) {}
  split_barrier(const split_barrier&) = delete;
  split_barrier& operator=(const split_barrier&) = delete;
  ~split_barrier() { detail::misuse::destroying(this, kind); }

  wait_policy policy() const noexcept { return policy_; }

  /// Makes `n` arrivals; runs the completion function if they are the last. Never blocks. Keep the
  /// token for the wait.
  /// Requires: 1 <= n <= the arrivals still expected in this phase (diagnosed in debug builds).
  arrival_token arrive(std::ptrdiff_t n = 1) {
    const std::uint32_t phase =
        phase_.load(detail::memory_order_relaxed) & ~detail::sleeping_bit;  // 1
    take_off(n);
    return arrival_token(phase);
  }

  /// Blocks until the phase of the token is over.
  void wait(arrival_token&& arrival) const { wait_until(arrival, deadline::never()); }

  void arrive_and_wait() { wait(arrive()); }

  /// Arrives. From the next phase on one arrival less is expected. When all have dropped, the barrier is of
  /// no more use, except for waits for the last phase.
  void arrive_and_drop() {
    dropped_.fetch_add(1, detail::memory_order_relaxed);  // 2
    take_off(1);
  }

  /// True if the phase of the token is over; never blocks.
  bool try_wait(const arrival_token& arrival) const noexcept {
    return is_over{arrival.phase_}(phase_.load(detail::memory_order_acquire));  // 9
  }

  /// As wait(), for at most `time`; after a time-out the arrival still counts: wait again.
  template <class Rep, class Period>
  wait_status wait_for(const arrival_token& arrival,
                       std::chrono::duration<Rep, Period> time) const {
    return wait_until(arrival, deadline::after(time));
  }
  wait_status wait_until(const arrival_token& arrival, deadline until) const {
    return detail::wait_until_word(phase_, is_over{arrival.phase_}, this, policy_, until)  // 7
               ? wait_status::ready
               : wait_status::timed_out;
  }

 private:
  static constexpr std::uint32_t one_ = 2;
  static constexpr const char* kind = "lockstep::split_barrier";

  /// The predicate of a wait: any phase but that of the arrival will do (SPLIT-3).
  struct is_over {
    std::uint32_t phase;
    bool operator()(std::uint32_t word) const noexcept {
      return (word & ~detail::sleeping_bit) != phase;
    }
  };

  static std::uint32_t checked(std::ptrdiff_t expected) {
    if (expected < 0 || expected > (max)()) {
      char message[120];
      std::snprintf(message, sizeof message, "%s: %td arrivals expected, must be 0 to %td", kind,
                    expected, (max)());
      detail::fail<std::invalid_argument>(message);
    }
    return static_cast<std::uint32_t>(expected);
  }

  void take_off(std::ptrdiff_t n) {
    if (detail::misuse::diagnosed && (n < 1 || n > (max)())) {
      report_arrivals(n, remaining_.load(detail::memory_order_relaxed));  // 8
    }
    const std::uint32_t count = static_cast<std::uint32_t>(n);
    const std::uint32_t before = remaining_.fetch_sub(count, detail::memory_order_acq_rel);  // 3
    if (detail::misuse::diagnosed && count > before) report_arrivals(n, before);
    if (before == count) complete();
  }

  [[noreturn]] LOCKSTEP_NOINLINE void report_arrivals(std::ptrdiff_t n, std::uint32_t left) const {
    char text[160];
    std::snprintf(text, sizeof text, "%td arrivals by %s, but %lu are expected in this phase", n,
                  detail::label_of_this_thread().text, static_cast<unsigned long>(left));
    detail::misuse::report(this, kind, text);
  }

  /// Runs on the last thread to arrive. The others use nothing but phase_ meanwhile. An exception would
  /// leave the phase neither ended nor running: noexcept makes it std::terminate.
  void complete() noexcept {
    completion_();
    expected_ -= dropped_.load(detail::memory_order_relaxed);   // 4
    dropped_.store(0, detail::memory_order_relaxed);            // 4
    remaining_.store(expected_, detail::memory_order_relaxed);  // 5
    // Only this thread changes the number of the phase. The exchange clears the bit if it is set.
    const std::uint32_t next =
        (phase_.load(detail::memory_order_relaxed) | detail::sleeping_bit) + 1;     // 1
    const std::uint32_t old = phase_.exchange(next, detail::memory_order_release);  // 6
    detail::wake_sleepers(&phase_, old);
  }

  detail::line_gap before_;
  detail::wait_word remaining_;
  detail::wait_word dropped_;
  std::uint32_t expected_;
  CompletionFunction completion_;
  detail::line_gap between_;
  mutable detail::wait_word phase_;
  wait_policy policy_;
  detail::line_gap after_;
};

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SPLIT_BARRIER_HPP

// lockstep/detail/platform/system_thread.hpp -- a std::thread, or what the seam has in its place (layer: platform)
//
// Part of the system seam (system.hpp); by itself, because <thread> costs more to compile than all else there.
#ifndef LOCKSTEP_DETAIL_PLATFORM_SYSTEM_THREAD_HPP
#define LOCKSTEP_DETAIL_PLATFORM_SYSTEM_THREAD_HPP

#if !defined(LOCKSTEP_SYSTEM_SEAM)
namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

using system_thread = std::thread;

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
#endif

#endif  // LOCKSTEP_DETAIL_PLATFORM_SYSTEM_THREAD_HPP

// lockstep/thread.hpp -- a thread whose join waits by policy, and may time out (layer: sync)
//
// The shape is that of std::jthread: the destructor requests a stop and joins. Everything the thread did
// happens before the return of join(), or of a join_for() that says ready. An exception that leaves the
// thread's function calls std::terminate, as for std::thread. There is no detach(): a thread that cannot be
// joined outlives what it uses, and at the end of the program the statics too.
// Where the standard has std::jthread, the thread's function may take a std::stop_token first, and the object
// has request_stop(), get_stop_token() and get_stop_source(). Elsewhere the destructor only joins.
// For threads that work together again and again use team. Like std::thread, an object of this class is for
// one thread at a time: two threads must not join the same one at once.
//
//   THREAD-1  The done bit is set as the last thing before the thread's thread-local objects are destroyed.
//             join() waits for the bit by policy, then joins natively, which waits for those few destructors.
//   THREAD-2  A thread that cannot be started leaves nothing behind: std::system_error, as for std::thread.
//   THREAD-3  To join an empty object, or a thread by itself, is refused with std::system_error
//             (invalid_argument, resource_deadlock_would_occur) and changes nothing.
//   THREAD-4  Units compiled for different standards may pass an object to each other: what depends on the
//             standard is called through the heap block, and the unit that made the block has filled it in.
//
//   word: bits  name      meaning                      set by                         cleared by
//         0     sleeping  the joiner may be asleep     the joiner                     -
//         1     done      the function has returned    the thread, at its end         -
// Legal to be set too long: sleeping (nobody looks at it once the thread is done).
//
// Memory order (# marks the line; each weakening must fail a test)
//   #  access          order    pairs     why it suffices
//   1  word.fetch_or   relaxed  -         ends the wait; the native join after it orders what the thread did
//
// Cost   one heap block beside the thread's own, with std::stop_token two. To join a thread that has ended:
//        one load, native join.
#ifndef LOCKSTEP_THREAD_HPP
#define LOCKSTEP_THREAD_HPP

#if defined(__cpp_lib_jthread)
#include <stop_token>
#endif
#if !defined(__cpp_lib_apply)
#include <functional>
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

constexpr std::uint32_t thread_is_done = 2;

/// Sets the done bit also where the system ends the thread by unwinding it (pthread_exit).
struct end_of_thread {
  wait_word& word;
  ~end_of_thread() {
    detail::wake_sleepers(&word, word.fetch_or(thread_is_done, memory_order_relaxed));  // 1
  }
};

/// What the new thread calls, with its own copies of function and arguments.
struct thread_body {
  wait_word* word;

  static thread_body of(wait_word& word) noexcept { return thread_body{&word}; }

  template <class Function, class... Arguments>
  void operator()(Function&& f, Arguments&&... arguments) const {
    const end_of_thread at_end{*word};
    call(std::forward<Function>(f), std::forward<Arguments>(arguments)...);
  }

  // As std::invoke, but without <functional>, a tenth of what lockstep.hpp costs to compile.
#if defined(__cpp_lib_apply)
  template <class Function, class... Arguments>
  static void call(Function&& f, Arguments&&... arguments) {
    std::apply(std::forward<Function>(f),
               std::forward_as_tuple(std::forward<Arguments>(arguments)...));
  }
#else
  template <class Function, class... Arguments>
  static void call(Function&& f, Arguments&&... arguments) {
    std::forward<Function>(f)(std::forward<Arguments>(arguments)...);
  }
  template <class Class, class Member, class... Arguments>
  static void call(Member Class::* f, Arguments&&... arguments) {
    std::mem_fn(f)(std::forward<Arguments>(arguments)...);
  }
#endif
};

/// What a joinable_thread owns: joined before it is freed, so that the thread may use it to its end.
struct thread_block {
  wait_word word;
  wait_policy policy;
  void (*request_stop)(thread_block&);  // null in a block without a std::stop_source
  void (*free)(thread_block*);
  system_thread thread;  // the last to be made

  template <class Block, class Body, class... Callable>
  thread_block(Block* /*of this type*/, Body /*of the thread*/, wait_policy by,
               Callable&&... callable)
      : word(0),
        policy(by),
        request_stop(Block::stop()),
        free(&Block::destroy),
        thread(Body::of(word), std::forward<Callable>(callable)...) {}
};

#if defined(__cpp_lib_jthread)

/// As thread_body, for a function that may take a std::stop_token first.
struct stoppable_body {
  thread_body body;

  static stoppable_body of(wait_word& word) noexcept { return {{&word}}; }

  template <class Function, class... Arguments>
  void operator()(Function&& f, std::stop_token token, Arguments&&... arguments) const {
    if constexpr (std::is_invocable_v<Function, std::stop_token, Arguments...>) {
      body(std::forward<Function>(f), std::move(token), std::forward<Arguments>(arguments)...);
    } else {
      body(std::forward<Function>(f), std::forward<Arguments>(arguments)...);
    }
  }
};

struct stoppable_block : thread_block {
  std::stop_source source;

  template <class Function, class... Arguments>
  explicit stoppable_block(wait_policy by, Function&& f, Arguments&&... arguments)
      : stoppable_block(std::stop_source(), by, std::forward<Function>(f),
                        std::forward<Arguments>(arguments)...) {}

  static void (*stop())(thread_block&) { return &request; }
  static void destroy(thread_block* of) { delete static_cast<stoppable_block*>(of); }

 private:
  // The thread starts before `source` is made: its token comes from the argument.
  template <class Function, class... Arguments>
  stoppable_block(std::stop_source from, wait_policy by, Function&& f, Arguments&&... arguments)
      : thread_block(this, stoppable_body(), by, std::forward<Function>(f), from.get_token(),
                     std::forward<Arguments>(arguments)...),
        source(std::move(from)) {}

  static void request(thread_block& of) { static_cast<stoppable_block&>(of).source.request_stop(); }
};
using started_block = stoppable_block;

#else

struct plain_block : thread_block {
  template <class... Callable>
  explicit plain_block(wait_policy by, Callable&&... callable)
      : thread_block(this, thread_body(), by, std::forward<Callable>(callable)...) {}

  static void (*stop())(thread_block&) { return nullptr; }
  static void destroy(thread_block* of) { delete static_cast<plain_block*>(of); }
};
using started_block = plain_block;

#endif

struct no_thread : std::system_error {
  explicit no_thread(const char* message)
      : std::system_error(std::make_error_code(std::errc::invalid_argument), message) {}
};
struct own_thread : std::system_error {
  explicit own_thread(const char* message)
      : std::system_error(std::make_error_code(std::errc::resource_deadlock_would_occur), message) {
  }
};

}  // namespace detail

class joinable_thread {
 public:
  using id = std::thread::id;

  /// No thread.
  joinable_thread() noexcept = default;

  /// Starts a thread that calls f(arguments...) on copies of its own, as std::thread does; or
  /// f(token, arguments...) if it can be called so, as std::jthread does.
  // The last parameter makes the constructors of different standards different functions (THREAD-4).
  template <class Function, class... Arguments,
            class Block = typename std::enable_if<
                !std::is_same<typename std::decay<Function>::type, joinable_thread>::value &&
                    !std::is_same<typename std::decay<Function>::type, wait_policy>::value,
                detail::started_block>::type>
  explicit joinable_thread(Function&& f, Arguments&&... arguments)
      : joinable_thread(wait_policy(), std::forward<Function>(f),
                        std::forward<Arguments>(arguments)...) {}

  /// The same, to be joined by `policy`.
  template <class Function, class... Arguments, class Block = detail::started_block>
  joinable_thread(wait_policy policy, Function&& f, Arguments&&... arguments)
      : block_(
            new Block(policy, std::forward<Function>(f), std::forward<Arguments>(arguments)...)) {}

  joinable_thread(joinable_thread&& other) noexcept : block_(other.block_) {
    other.block_ = nullptr;
  }
  /// Stops and joins the thread that it had, if any.
  joinable_thread& operator=(joinable_thread&& other) noexcept {
    if (this == &other) return *this;
    end();
    std::swap(block_, other.block_);
    return *this;
  }
  ~joinable_thread() { end(); }

  void swap(joinable_thread& other) noexcept { std::swap(block_, other.block_); }

  /// True until the thread has been joined.
  bool joinable() const noexcept { return block_ != nullptr; }
  /// That of no thread if not joinable().
  id get_id() const noexcept { return joinable() ? block_->thread.get_id() : id(); }

#if defined(__cpp_lib_jthread)
  /// Asks the thread's function to return. False if it was asked before, or if there is none to ask: no
  /// thread, or one that a unit of an older standard has started.
  bool request_stop() noexcept { return get_stop_source().request_stop(); }
  std::stop_token get_stop_token() const noexcept { return get_stop_source().get_token(); }
  std::stop_source get_stop_source() const noexcept {
    const bool has_source = joinable() && block_->request_stop != nullptr;
    return has_source ? static_cast<detail::stoppable_block&>(*block_).source
                      : std::stop_source(std::nostopstate);
  }
#endif

  /// Blocks until the thread has ended. See THREAD-3.
  void join() { join_until(deadline::never()); }

  /// As join(), for at most `time` (but see THREAD-1): ready if joined, timed_out if it still runs.
  template <class Rep, class Period>
  wait_status join_for(std::chrono::duration<Rep, Period> time) {
    return join_until(deadline::after(time));
  }
  wait_status join_until(deadline until) {
    check_joinable();
    const auto is_done = [](std::uint32_t word) noexcept {
      return (word & detail::thread_is_done) != 0;
    };
    if (!detail::wait_until_word(block_->word, is_done, block_, block_->policy, until,
                                 detail::wait_engine::single_yield_time)) {
      return wait_status::timed_out;
    }
    block_->thread.join();
    block_->free(block_);
    block_ = nullptr;
    return wait_status::ready;
  }

 private:
  void check_joinable() const {
    if (!joinable()) {
      detail::fail<detail::no_thread>("lockstep::joinable_thread: join without a thread");
    }
    if (get_id() == std::this_thread::get_id()) {
      detail::fail<detail::own_thread>("lockstep::joinable_thread: a thread cannot join itself");
    }
  }

  void end() {
    if (!joinable()) return;
    if (block_->request_stop != nullptr) block_->request_stop(*block_);
    join();
  }

  detail::thread_block* block_ = nullptr;  // owned
};

inline void swap(joinable_thread& a, joinable_thread& b) noexcept { a.swap(b); }

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_THREAD_HPP

// lockstep/detail/team/partition.hpp -- learns how much of a range each member should get (layer: team)
//
//   weighted_bounds  cuts a range into one block for each member, by weights: pure
//   partition        learns the weights from what the members did: pure
//   weighted_blocks  lets the members of a team use and teach a partition from loop to loop
//
// The model: a member starts `lateness` after the first one, and then needs iterations / speed. Weights are chosen so
// that all members end at the same time. In a long loop lateness matters little. For users: weighted_schedule.hpp.
//
//   PARTITION-1  Blocks cover every range in rank order, without gap or overlap, whatever the weights are.
//   PARTITION-2  A weight is 1/4 to 4 times the equal weight. One step moves it by at most 1/4 of the equal weight.
//   PARTITION-3  A loop without a sensible measurement changes nothing, nor do differences that are only noise.
//   PARTITION-4  Equal weights make the blocks of static_block(), so that data stay where other loops have put them.
#ifndef LOCKSTEP_DETAIL_TEAM_PARTITION_HPP
#define LOCKSTEP_DETAIL_TEAM_PARTITION_HPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// What one member did in one loop, by one clock for all members. Without iterations, or without time: not measured.
struct member_sample {
  std::uint64_t start;
  std::uint64_t end;
  std::size_t iterations;
};

/// Contiguous blocks by weight. Bounds are kept as fractions of a range, in units of 2^-32.
class weighted_bounds {
 public:
  /// Equal blocks. Requires 0 < size <= 65536.
  explicit weighted_bounds(std::size_t size) : begins_(size) {}

  std::size_t size() const noexcept { return begins_.size(); }

  /// The block of a member; with equal weights that of static_block(). Requires rank < size().
  index_range block(std::size_t first, std::size_t last, std::size_t rank) const noexcept {
    if (are_equal_ || last <= first) return static_block(first, last, rank, size());
    const std::size_t length = last - first;
    return index_range{first + part_of(length, begins_[rank]),
                       rank + 1 == size() ? last : first + part_of(length, begins_[rank + 1])};
  }

  void set_equal() noexcept { are_equal_ = true; }
  /// Blocks in proportion to weight_of(rank) > 0.
  template <class WeightOf>
  void set(WeightOf weight_of) noexcept {
    double all = 0, before = 0;
    for (std::size_t rank = 0; rank < size(); ++rank) all += weight_of(rank);
    for (std::size_t rank = 0; rank < size(); ++rank) {
      // `before` adds the same numbers as `all` in the same order, so the quotient is never above 1.
      begins_[rank] = static_cast<std::uint64_t>(before / all * static_cast<double>(whole));
      before += weight_of(rank);
    }
    are_equal_ = false;
  }
  /// Allocates nothing. Requires the same size.
  void copy_from(const weighted_bounds& other) noexcept {
    for (std::size_t rank = 0; rank < size(); ++rank) begins_[rank] = other.begins_[rank];
    are_equal_ = other.are_equal_;
  }

 private:
  static constexpr std::uint64_t whole = std::uint64_t{1} << 32;

  /// length * fraction / 2^32, rounded up, so that the first iterations go to the first members.
  static std::size_t part_of(std::size_t length, std::uint64_t fraction) noexcept {
    const std::uint64_t n = length;
    return static_cast<std::size_t>((n >> 32) * fraction +
                                    (((n & (whole - 1)) * fraction + (whole - 1)) >> 32));
  }

  aligned_array<std::uint64_t> begins_;  // on lines of its own: rank 0 writes elsewhere meanwhile
  bool are_equal_ = true;
};

/// What was learned of the members of a team, and the weights that follow. The same samples make the same weights.
/// Only the constructor allocates.
class partition {
 public:
  /// In units of the equal weight: PARTITION-2.
  static constexpr double least_weight = 0.25, most_weight = 4, most_step = 0.25;

  /// Equal weights. Requires 0 < size <= 65536.
  explicit partition(std::size_t size) : members_(size), bounds_(size) {}

  std::size_t size() const noexcept { return members_.size(); }
  /// In units of the equal weight. The sum of all weights is size(), to six digits.
  double weight(std::size_t rank) const noexcept { return members_[rank].weight; }
  const weighted_bounds& bounds() const noexcept { return bounds_; }

  /// Learns from one loop: sample_of(rank) is what the member did in it. True if weights have changed.
  template <class SampleOf>
  bool learn(SampleOf sample_of) noexcept {
    const overview all = look_at(sample_of);
    if (all.measured == 0) return false;
    for (std::size_t rank = 0; rank < size(); ++rank)
      add_sample(members_[rank], sample_of(rank), all);
    aim(all.iterations);
    return targets_add_up() && move();
  }

 private:
  // All three were chosen by the simulations of partition_test.cpp, with noise of 10 percent. Weights that differ from
  // their targets by less than `noise` stay, because moved bounds move cache lines between CPUs. `near_equal` is less
  // than that, so that weights do not alternate between equal and almost equal.
  static constexpr double smoothing = 0.25, noise = 1.0 / 32, near_equal = 1.0 / 64;

  struct record {
    double speed = 0;  ///< iterations per unit of time; 0: not known
    double lateness = 0;
    double weight = 1;
    double target = 1;
    bool is_limited = false;
  };
  /// What the sensible samples of a loop say together.
  struct overview {
    std::size_t measured = 0;
    std::uint64_t first_start = 0;
    double longest = 0;
    double iterations = 0;
    double speeds = 0;  ///< the sum of all speeds
  };

  static bool is_sensible(const member_sample& of) noexcept {
    return of.iterations > 0 && of.end > of.start;
  }
  static double time_of(const member_sample& of) noexcept {
    return static_cast<double>(of.end - of.start);
  }
  static double speed_of(const member_sample& of) noexcept {
    return static_cast<double>(of.iterations) / time_of(of);
  }

  template <class SampleOf>
  overview look_at(SampleOf& sample_of) const noexcept {
    overview all;
    for (std::size_t rank = 0; rank < size(); ++rank) {
      const member_sample one = sample_of(rank);
      if (!is_sensible(one)) continue;
      all.first_start = all.measured == 0 ? one.start : (std::min)(all.first_start, one.start);
      all.longest = (std::max)(all.longest, time_of(one));
      all.iterations += static_cast<double>(one.iterations);
      all.speeds += speed_of(one);
      ++all.measured;
    }
    return all;
  }

  /// Adds one sample to what is known of a member. One that was interrupted looks slow or late once: a sample counts as
  /// half to twice the known speed, and as late by no more than the longest part.
  static void add_sample(record& of, const member_sample& seen, const overview& all) noexcept {
    const double average = all.speeds / static_cast<double>(all.measured);
    const bool sensible = is_sensible(seen);
    if (of.speed <= 0) {
      of.speed = sensible ? speed_of(seen) : average;
    } else if (sensible || seen.iterations == 0) {
      // A member that had nothing to do moves towards the average speed. Otherwise it would never get work again.
      const double speed = sensible ? speed_of(seen) : average;
      const double believed = (std::min)((std::max)(speed, of.speed / 2), of.speed * 2);
      of.speed += smoothing * (believed - of.speed);
    }
    if (!sensible) return;
    const double late = static_cast<double>(seen.start - all.first_start);
    of.lateness += smoothing * ((std::min)(late, all.longest) - of.lateness);
  }

  /// Sets the targets: each member gets speed * (end - lateness) iterations, with the one `end` for which all get
  /// `iterations` together. If targets lie beyond the limits, those on the side that is further out are set to their
  /// limit, and the others share the rest; again, until none is beyond.
  void aim(double iterations) noexcept {
    const double equal = iterations / static_cast<double>(size());
    for (record& one : members_) one.is_limited = false;
    for (std::size_t limited = 0; limited < size();) {
      set_targets(iterations, equal);
      double below = 0, above = 0;
      for (const record& one : members_) {
        below += (std::max)(0.0, least_weight - one.target);
        above += (std::max)(0.0, one.target - most_weight);
      }
      if (below <= 0 && above <= 0) return;
      for (record& one : members_) {
        const bool out = below > above ? one.target < least_weight : one.target > most_weight;
        if (!out) continue;
        one.target = below > above ? least_weight : most_weight;
        one.is_limited = true;
        ++limited;
      }
    }
  }
  void set_targets(double iterations, double equal) noexcept {
    double rest = iterations, speeds = 0;
    for (const record& one : members_) {
      rest += one.is_limited ? -one.target * equal : one.speed * one.lateness;
      speeds += one.is_limited ? 0 : one.speed;
    }
    for (record& one : members_) {
      if (!one.is_limited) one.target = one.speed * (rest / speeds - one.lateness) / equal;
    }
  }

  /// The absolute value. <cmath> takes longer to compile than this header.
  static double magnitude(double value) noexcept { return value < 0 ? -value : value; }

  /// False if the samples were so absurd that the targets consist of rounding errors.
  bool targets_add_up() const noexcept {
    double sum = 0;
    for (const record& one : members_) sum += one.target;
    return magnitude(sum / static_cast<double>(size()) - 1) < 1e-6;
  }

  /// Moves the weights one step towards the targets. All move by the same fraction of their way. The sum and the limits
  /// hold for the weights and for the targets, so they hold for everything in between. False if nothing has moved.
  bool move() noexcept {
    double from_equal = 0, way = 0;
    for (const record& one : members_) {
      from_equal = (std::max)(from_equal, magnitude(one.target - 1));
    }
    const bool to_equal = from_equal <= near_equal;
    for (record& one : members_) {
      if (to_equal) one.target = 1;
      way = (std::max)(way, magnitude(one.target - one.weight));
    }
    if (way <= (to_equal ? 0 : noise)) return false;
    const double fraction = way > most_step ? most_step / way : 1;
    for (record& one : members_) {
      one.weight = fraction < 1 ? one.weight + fraction * (one.target - one.weight) : one.target;
    }
    if (to_equal && fraction >= 1) {
      bounds_.set_equal();
    } else {
      bounds_.set([this](std::size_t rank) { return members_[rank].weight; });
    }
    return true;
  }

  growing_array<record> members_;
  weighted_bounds bounds_;
};

// How the members of a team use a partition in one loop after another. Each loop has a number that all members agree on,
// and that grows from one such loop to the next (modulo 2^32); each ends with a barrier or a join of all members. Rank 0
// learns while the others compute. So there are two sets of bounds: one is in use, the other is written.
//
//   WEIGHTED-1  In every loop all members use the same bounds, so that blocks have neither gap nor overlap: also while
//               rank 0 computes new bounds, and after a region that was stopped.
//   WEIGHTED-2  A loop that some member did not finish teaches nothing.
//   WEIGHTED-3  Blocks are equal while the schedule is switched off, and in a team of another size.
//   WEIGHTED-4  Each set of bounds is valid from a certain loop on. In loop q every member uses the set with the highest
//               such number that is not above q. In loop q rank 0 writes the set that is not in use, and makes it valid
//               from loop q + 1 on: nobody uses it before the barrier at the end of q.
//   WEIGHTED-5  A member writes its sample into the slot that belongs to the set in use. Rank 0 reads the slots of the
//               other set, which nobody writes in that loop.
//
// Memory order (# marks the line)
//   #  access             order    pairs  why it suffices
//   1  valid_from.store   relaxed  2      the barrier between loops orders it. In the same loop the old and the new
//                                         number both mean "not in use" (WEIGHTED-4)
//   2  valid_from.load    relaxed  1      the other half
class weighted_blocks {
 public:
  explicit weighted_blocks(std::size_t members)
      : slots_(checked_count("lockstep::weighted_schedule", "members", members)),
        sets_{{members}, {members}},
        partition_(members) {}

  std::size_t members() const noexcept { return slots_.size(); }
  void switch_to(bool on) noexcept { is_on_ = on; }
  bool is_on() const noexcept { return is_on_; }
  double weight(std::size_t rank) const noexcept { return partition_.weight(rank); }

  /// What a member does in a loop: calls f(first, last) for its block unless that is empty, and leaves its sample.
  template <class Function>
  void run_block(std::uint32_t loop, index_range range, std::size_t rank, std::size_t size,
                 Function&& f) {
    const index_range mine = block(loop, range.first, range.last, rank, size);
    if (rank == 0) update(loop, size);
    const std::uint64_t start = tick_clock::now();
    if (mine.first < mine.last) f(mine.first, mine.last);
    note(loop, rank, size, {start, tick_clock::now(), length_of(mine)});
  }

  /// The block of a member in this loop. Requires rank < size.
  index_range block(std::uint32_t loop, std::size_t first, std::size_t last, std::size_t rank,
                    std::size_t size) const noexcept {
    const int set = applies_to(size) ? set_in(loop) : none;
    return set == none ? static_block(first, last, rank, size)
                       : sets_[set].bounds.block(first, last, rank);
  }

  /// Each member calls it in the loop, after its block.
  void note(std::uint32_t loop, std::size_t rank, std::size_t size,
            const member_sample& sample) noexcept {
    if (!applies_to(size)) return;
    const int set = set_in(loop);
    noted& into = slots_[rank].value.of[set == none ? 0 : set];
    into.loop = loop;
    into.sample = sample;
  }

  /// Rank 0 alone calls it, in the loop: learns from an earlier one. The new bounds are in use from the next one on.
  void update(std::uint32_t loop, std::size_t size) noexcept {
    if (!applies_to(size)) return;
    const int in_use = set_in(loop), other = in_use == 1 ? 0 : 1;
    if (in_use == none) {  // loop numbers have begun anew: the samples carry old ones
      is_sampled_ = false;
      rest_ = 0;
    }
    if (is_sampled_) {
      is_sampled_ = false;
      pause_ = learn(other) ? 0 : pause_ < most_pause ? 2 * pause_ + 1 : most_pause;
      rest_ = pause_;
    }
    if (rest_ > 0) {
      --rest_;
      return;
    }
    // From the next loop on members write into the other slots. Then the samples of this loop can be read.
    is_sampled_ = true;
    sampled_ = loop;
    sets_[other].bounds.copy_from(partition_.bounds());
    sets_[other].valid_from.store(loop + 1, memory_order_relaxed);  // 1
  }

 private:
  static constexpr int none = -1;
  /// The most loops between two looks at samples, while these change nothing.
  static constexpr std::uint32_t most_pause = 15;

  struct bounds_set {
    atomic<std::uint32_t> valid_from;
    weighted_bounds bounds;

    bounds_set(std::size_t size) : valid_from(0), bounds(size) {}
  };
  struct noted {
    std::uint32_t loop;
    member_sample sample;
  };
  /// What one member writes.
  struct slot {
    noted of[2];  ///< for each set of bounds
  };

  bool applies_to(std::size_t size) const noexcept {
    return is_on_ && size > 1 && size == members();
  }

  /// How many loops ago a set became valid. From 2^31 on: it is not valid yet, or has a number of another sequence.
  std::uint32_t age_in(std::uint32_t loop, int set) const noexcept {
    return loop - sets_[set].valid_from.load(memory_order_relaxed);  // 2
  }
  /// The set that is in use in a loop: WEIGHTED-4. `none`: equal blocks.
  int set_in(std::uint32_t loop) const noexcept {
    constexpr std::uint32_t future = std::uint32_t{1} << 31;
    const std::uint32_t age0 = age_in(loop, 0), age1 = age_in(loop, 1);
    if (age0 >= future && age1 >= future) return none;
    return age0 <= age1 ? 0 : 1;
  }

  /// Learns from the samples of a set, if all are of the loop `sampled_`: else a member was stopped in it.
  bool learn(int set) noexcept {
    for (std::size_t rank = 0; rank < members(); ++rank) {
      if (slots_[rank].value.of[set].loop != sampled_) return false;
    }
    return partition_.learn(
        [this, set](std::size_t rank) { return slots_[rank].value.of[set].sample; });
  }

  // All members read these; rank 0 writes the bounds now and then.
  line_gap before_;
  bool is_on_ = true;
  aligned_array<padded<slot>> slots_;
  bounds_set sets_[2];
  line_gap between_;
  // Only rank 0 uses the rest.
  partition partition_;
  std::uint32_t sampled_ = 0;  ///< the loop whose samples can be read in later loops
  std::uint32_t pause_ = 0;    ///< how many loops to rest after a look at samples
  std::uint32_t rest_ = 0;     ///< how many of those are left
  bool is_sampled_ = false;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_PARTITION_HPP

// lockstep/weighted_schedule.hpp -- contiguous blocks by measured speed and lateness (layer: team)
//
// For a loop that is run again and again. Members that compute slowly, or that wake up late, get less of it, so that all
// finish together. Nothing is handed out while the loop runs. It takes all iterations of a block for equally long: for
// iterations of uneven length choose dynamic_schedule(). How it learns: WEIGHTED-1 to WEIGHTED-5 of
// detail/team/partition.hpp.
//
// Cost   a loop: two looks at the tick clock and one store to an own line per member. Rank 0 reads the samples of all
//        members and learns from them, some 60 ns per member: in every loop while shares move, else in every 16th. Its
//        block starts after that; its own sample counts this as lateness. No read-modify-write.
// Source the idea: seed 002's article, less work for lagging threads.
#ifndef LOCKSTEP_WEIGHTED_SCHEDULE_HPP
#define LOCKSTEP_WEIGHTED_SCHEDULE_HPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {

/// The schedule of one loop, which its user keeps from run to run. One team at a time uses it.
class weighted_schedule {
 public:
  /// For teams of `members`. Fails if that is 0 or above 65536.
  explicit weighted_schedule(std::size_t members) : blocks_(members) {}

  std::size_t members() const noexcept { return blocks_.members(); }

  // The next four: while no loop runs that uses this schedule.

  /// Switched off, blocks are equal and nothing is measured. What was learned is kept.
  void switch_on() noexcept { blocks_.switch_to(true); }
  void switch_off() noexcept { blocks_.switch_to(false); }
  bool is_on() const noexcept { return blocks_.is_on(); }
  /// How much of a long loop a member gets, in units of an equal block: 1 while nothing was learned, 0.25 to 4 later.
  /// Requires rank < members().
  double weight(std::size_t rank) const noexcept { return blocks_.weight(rank); }

  /// For threads of your own: the part of one of them. Calls f(first, last) for its block of the range, unless that is
  /// empty. All `size` threads call it in each loop, and every loop ends with a barrier or a join of all of them. `loop`
  /// is a number that all agree on, and that grows from one loop to the next (modulo 2^32). Where the numbers begin
  /// anew, one loop has equal blocks.
  template <class Function>
  void run_block(std::uint32_t loop, index_range range, std::size_t rank, std::size_t size,
                 Function&& f) {
    blocks_.run_block(loop, range, rank, size, std::forward<Function>(f));
  }

 private:
  detail::weighted_blocks blocks_;
};

namespace detail {

inline bool run_weighted(member_state& at, std::size_t length, const range_body& body,
                         weighted_schedule& how) {
  if (at.is_stopped()) return false;
  how.run_block(at.next_phase(), index_range{0, length}, at.rank(), at.size(), body);
  return at.sync();
}
inline void run_weighted(loop_share& me, std::size_t length, const range_body& body,
                         weighted_schedule& how) {
  how.run_block(me.region(), index_range{0, length}, me.rank(), me.size(), body);
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_WEIGHTED_SCHEDULE_HPP

// lockstep/lockstep.hpp -- all public headers (tests/build/public_names.py checks that)
#ifndef LOCKSTEP_LOCKSTEP_HPP
#define LOCKSTEP_LOCKSTEP_HPP

#endif  // LOCKSTEP_LOCKSTEP_HPP

#if LOCKSTEP_HAS_BODIES

// lockstep/detail/platform/process.ipp -- the bodies of process.hpp (layer: platform)
//
// Memory order (# marks the line)
//   #  access             order    pairs  why it suffices
//   1  word.load          acquire  2      the state is made before its address is seen
//   2  word.store         release  1      as 1
//   3  messages.fetch_or  relaxed  -      hands out the right to print, nothing else
#ifndef LOCKSTEP_DETAIL_PLATFORM_PROCESS_IPP
#define LOCKSTEP_DETAIL_PLATFORM_PROCESS_IPP

#if defined(__linux__) || defined(__FreeBSD__)
#include <link.h>
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

#if LOCKSTEP_MODULES_HAVE_NOTES

/// The walk over the modules.
struct process_modules {
  // Within a walk nothing is loaded or unloaded, and no other thread walks. So the search and what is made
  // if it finds nothing are one step.
  LOCKSTEP_COLD static int find_or_make(dl_phdr_info*, std::size_t, void* to) noexcept {
    process_state* found = nullptr;
    dl_iterate_phdr(look_into, &found);
    if (found == nullptr) found = make();
    static_cast<process_word*>(to)->store(found, memory_order_release);  // 2
    return 1;
  }

  LOCKSTEP_COLD static process_state* make() noexcept {
    constexpr std::size_t line = alignof(process_state);
    void* const raw = std::calloc(1, sizeof(process_state) + line);
    if (raw == nullptr) return nullptr;
    const std::uintptr_t aligned = (reinterpret_cast<std::uintptr_t>(raw) + line - 1) / line * line;
    return ::new (reinterpret_cast<void*>(aligned)) process_state();
  }

  LOCKSTEP_COLD static int look_into(dl_phdr_info* module, std::size_t, void* found) noexcept {
    process_state*& result = *static_cast<process_state**>(found);
    for (unsigned i = 0; i < module->dlpi_phnum && result == nullptr; ++i) {
      const ElfW(Phdr)& part = module->dlpi_phdr[i];
      if (part.p_type != PT_NOTE) continue;
      const char* const notes = reinterpret_cast<const char*>(module->dlpi_addr + part.p_vaddr);
      result = read_notes(notes, part.p_memsz, part.p_align == 8 ? 8 : 4);
    }
    return result != nullptr ? 1 : 0;
  }

  LOCKSTEP_COLD static process_state* read_notes(const char* notes, std::size_t size,
                                                 std::size_t alignment) noexcept {
    const auto rounded = [alignment](std::size_t n) {
      return (n + alignment - 1) / alignment * alignment;
    };
    constexpr char name[] = "lockstep";
    for (std::size_t at = 0; at + sizeof(ElfW(Nhdr)) <= size;) {
      ElfW(Nhdr) head;
      std::memcpy(&head, notes + at, sizeof head);
      const std::size_t text = at + sizeof head, description = rounded(text + head.n_namesz);
      if (head.n_type == LOCKSTEP_PROCESS_KIND[0] - '0' && head.n_namesz == sizeof name &&
          description + sizeof(std::intptr_t) <= size &&
          std::memcmp(notes + text, name, sizeof name) == 0) {
        std::intptr_t distance = 0;
        std::memcpy(&distance, notes + description, sizeof distance);
        const auto* const word =
            reinterpret_cast<const process_word*>(notes + description + distance);
        if (process_state* const found = word->load(memory_order_acquire)) return found;  // 1
      }
      at = rounded(description + head.n_descsz);
    }
    return nullptr;
  }
};

LOCKSTEP_COLD process_state& find_process(process_word& word) noexcept {
  dl_iterate_phdr(process_modules::find_or_make, &word);
  process_state* const found = word.load(memory_order_acquire);  // 1
  if (found == nullptr) {
    std::fputs("lockstep: no memory for the state of the process\n", stderr);
    std::abort();
  }
  return *found;
}

#endif

LOCKSTEP_COLD bool is_first_to_print(message which) noexcept {
  const std::uint32_t bit = static_cast<std::uint32_t>(which);
  return (process().messages.fetch_or(bit, memory_order_relaxed) & bit) == 0;  // 3
}

LOCKSTEP_COLD type_name type_name_in(const char* function, const char* information) noexcept {
  type_name result = {function, std::strlen(function),
                      information != nullptr && information[1] == 'Z'};
  if (const char* const start = std::strstr(function, "Name = ")) {
    result.text = start + 7;
    result.length = std::strcspn(result.text, ";]");
  }
  for (const char* sign : {"anonymous", "unnamed", "lambda", ")::"}) {
    const char* const found = std::strstr(result.text, sign);
    if (found != nullptr && found + std::strlen(sign) <= result.text + result.length)
      result.is_of_module = true;
  }
  return result;
}

#if defined(__linux__) || defined(__FreeBSD__)

struct loaded_files {
  std::uintptr_t address;

  /// Not 0 if the address is in one of the file's parts in memory: then no other file is looked at.
  static int holds(dl_phdr_info* file, std::size_t, void* search) {
    const std::uintptr_t address = static_cast<const loaded_files*>(search)->address;
    for (int i = 0; i < file->dlpi_phnum; ++i) {
      const auto& part = file->dlpi_phdr[i];
      if (part.p_type != PT_LOAD) continue;
      if (address - (file->dlpi_addr + part.p_vaddr) < part.p_memsz) return 1;
    }
    return 0;
  }
};

LOCKSTEP_COLD bool is_static(const void* object) noexcept {
  loaded_files search = {reinterpret_cast<std::uintptr_t>(object)};
  return dl_iterate_phdr(loaded_files::holds, &search) != 0;
}

#else

LOCKSTEP_COLD bool is_static(const void*) noexcept { return false; }

#endif

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_PLATFORM_PROCESS_IPP

#endif

#if LOCKSTEP_HAS_BODIES

// lockstep/detail/wait/build_info.ipp -- the bodies of build_info.hpp (layer: wait)
#ifndef LOCKSTEP_DETAIL_WAIT_BUILD_INFO_IPP
#define LOCKSTEP_DETAIL_WAIT_BUILD_INFO_IPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {

LOCKSTEP_COLD build_information build_info() {
  build_information info;
  info.version = LOCKSTEP_VERSION;
  info.futex = detail::native_futex::name();
  info.process_fence = detail::process_fence::name();
  info.cache_line_size = detail::cache_line_size;
  info.default_policy = "adaptive: spin while that pays, yield while that helps, sleep";
  info.usable_cpus = detail::usable_cpus();
  info.diagnoses_misuse = detail::diagnoses_misuse;
  return info;
}

LOCKSTEP_COLD std::string to_string(const build_information& info) {
  std::string text;
  detail::append(text, "version: %s\nfutex: %s\nprocess fence: %s\n", info.version, info.futex,
                 info.process_fence);
  detail::append(text, "cache line size: %zu\ndefault policy: %s\nusable cpus: %u\n",
                 info.cache_line_size, info.default_policy, info.usable_cpus);
  detail::append(text, "diagnoses misuse: %s\n", info.diagnoses_misuse ? "yes" : "no");
  return text;
}

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_WAIT_BUILD_INFO_IPP

#endif

#if LOCKSTEP_HAS_BODIES

// lockstep/detail/team/external_team.ipp -- the bodies of external_team.hpp (layer: team)
#ifndef LOCKSTEP_DETAIL_TEAM_EXTERNAL_TEAM_IPP
#define LOCKSTEP_DETAIL_TEAM_EXTERNAL_TEAM_IPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {

external_team::external_team(std::size_t members) : external_team(options_for(members)) {}

external_team::external_team(std::size_t members, wait_policy policy)
    : external_team(options_for(members).policy(policy)) {}

external_team::~external_team() {
  if (body_->core.is_inside()) {
    std::fprintf(stderr,
                 "lockstep::external_team: destroyed, or its program ended, inside its own region; "
                 "leave the region first\n");
    std::abort();
  }
  if (!door_.shut()) {
    body_.leave();
    return;
  }
  release();
  for (std::size_t rank = 1; rank < size() && !is_child_; ++rank) {
    if (body_->claimed[rank].load(detail::memory_order_relaxed) != 0) {  // 2
      body_->left.acquire();
    }
  }
}

LOCKSTEP_OUT_OF_LINE void external_team::serve(std::size_t rank) {
  detail::checked_rank("lockstep::external_team::serve", "members", rank, size());
  body& at = *body_.operator->();  // another thread may leave it to this one
  if (rank == 0 || at.claimed[rank].exchange(1, detail::memory_order_relaxed) != 0) {  // 1
    if (rank != 0 && at.core.is_closed()) return;
    detail::fail_argument(
        "lockstep::external_team::serve: rank 0 is the caller of run(), and each other rank is "
        "for one thread; give every thread a rank of its own, from 1 on");
  }
  at.core.work(rank);
  at.left.release();
}

void external_team::release() { body_->core.close(); }

LOCKSTEP_COLD external_team::external_team(const team_options& options)
    : external_team(detail::resolve(options)) {}

LOCKSTEP_COLD external_team::external_team(const detail::resolved_team& made)
    : door_(made.members, made.policy, "lockstep::external_team", made.name.c_str()),
      body_(made, door_) {}

LOCKSTEP_COLD team_options external_team::options_for(std::size_t members) {
  detail::checked_count("lockstep::external_team", "members", members);
  return team_options().members(members).bind(binding::none()).find_cpu(false);
}

LOCKSTEP_OUT_OF_LINE bool external_team::run_loop(const detail::loop_request& of, detail::job& what,
                                                  const detail::loop_ends& ends) {
  if (size() > 1) check_parent();
  return detail::team_core::run_loop(door_, &body_->core, body_->servers, of, what, ends);
}

LOCKSTEP_COLD void external_team::in_child(void* self) noexcept {
  external_team& at = *static_cast<external_team*>(self);
  at.is_child_ = true;
  at.body_->core.forget_others();
}

[[noreturn]] LOCKSTEP_COLD void external_team::refuse_child() {
  detail::fail_use(
      "lockstep::external_team::run: this is a child process, which has none of the serving "
      "threads; make a new team");
}

[[noreturn]] LOCKSTEP_COLD void external_team::serving_threads::refuse() {
  detail::fail_use(
      "lockstep::external_team::run: release() was called, nobody serves any more; make a new "
      "team");
}

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_EXTERNAL_TEAM_IPP

#endif

#if LOCKSTEP_HAS_BODIES

// lockstep/detail/team/fork_board.ipp -- the bodies of fork_board.hpp (layer: team)
#ifndef LOCKSTEP_DETAIL_TEAM_FORK_BOARD_IPP
#define LOCKSTEP_DETAIL_TEAM_FORK_BOARD_IPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

LOCKSTEP_COLD fork_board::fork_board(fork_tree tree, wait_policy policy, way how,
                                     std::uint32_t first_phase, bool anticipates,
                                     std::uint64_t most_age, bool finds_cpu)
    : tree_(tree),
      lines_(tree_.lines(), policy),
      reports_(tree.members(), policy),
      shares_(tree.members()),
      histories_(tree.members()),
      caller_(1),
      parting_(tree.members(), finds_cpu),
      how_(how),
      most_age_(most_age),
      anticipates_(anticipates && policy.is_adaptive() && !policy.is_crowded()) {
  reset(first_phase);
}

LOCKSTEP_OUT_OF_LINE bool fork_board::next(std::size_t rank, order& out) {
  const std::size_t line = tree_.watched_by(rank).index;
  region_watch& own = histories_[rank].value.regions;
  stacked_regions& stacked = histories_[rank].value.stacked;
  while (true) {
    if (stacked.must_part()) parting_.leave(rank);
    watched_line what(lines_[line].awaited(is_news{own.seen}, stops_when_set{closed_},
                                           whereabouts{&parting_, rank, 0}),
                      has_one_worker());
    own.wait(what, lines_.policy(), anticipates_);
    if (is_closed()) return false;
    if (what.has_slept) shares_.note_coming(rank, monotonic_nanoseconds());
    read_line(line, out);
    // Meanwhile the loop may have ended, and a `run` have begun.
    const bool is_needed = !out.is_loop() || claim_on(line, rank, out) || !out.is_loop();
    const std::uint32_t phases = out.announced.phase() - announcement(own.seen).phase();
    stacked.came(own.anticipating.had_no_cpu());
    own.note(out.announced.word(), phases > 3);
    if (is_needed) return true;
  }
}

LOCKSTEP_OUT_OF_LINE void fork_board::relay(std::size_t rank, const order& from, bool wakes) {
  if (!is_leader(rank)) return;
  publish_lines(rank, from.head(), from.line->what, from.announced, wakes);
}

void fork_board::publish_lines(std::size_t rank, const region_head& head, const job& what,
                               announcement as, bool wakes) {
  const auto tell = [&](const fork_tree::line& at) {
    lines_.beside(at.index).what = what;
    publish(at.index, head, as, wakes);
  };
  if (how_ == way::relayed) {
    tree_.for_each_led(rank, head.size, tell);
  } else if (rank == 0) {
    tree_.for_each_needed(head.size, tell);
  }
}

std::size_t fork_board::find_told(std::size_t rank, announcement of,
                                  std::size_t after) const noexcept {
  const std::size_t end = of.is_loop() ? of.size() : members(), width = tree_.width();
  std::size_t step = 1, next = after + 1;
  if (how_ == way::direct) {
    if (rank != 0) return members();
    // Of a line that is announced, all watchers hear.
    while (next < end && tree_.watched_by(next).first_watcher() >= of.size()) ++next;
    return next < end ? next : members();
  }
  if (after != rank) {
    while (step * width <= after - rank) step *= width;  // of the line by which `after` was told
    next = after + step;
    if (next - rank == step * width) step *= width;  // the line above that has the next one
  }
  const bool is_announced = rank % (step * width) == 0 && rank + step < of.size();
  return is_announced && next < end ? next : members();
}

LOCKSTEP_OUT_OF_LINE void fork_board::collect(std::size_t rank, announcement of) {
  // Others may wait for reports in place of a member that waits elsewhere.
  parting_board* const known = rank == 0 ? &parting_ : nullptr;
  for (std::size_t watcher = first_told(rank, of); watcher < members();
       watcher = next_told(rank, of, watcher)) {
    reports_[watcher].wait(is_phase{of.phase()}, never_stops(), histories_[rank].value.reports,
                           deadline::never(), whereabouts{known, 0, watcher});
  }
}

LOCKSTEP_OUT_OF_LINE bool fork_board::collect_shortly(std::size_t rank, announcement of,
                                                      unsigned polls) {
  bool all = true;
  for (std::size_t at = first_told(rank, of); at < members(); at = next_told(rank, of, at)) {
    bool has_come = has_reported(at, of);
    for (; !has_come && polls > 0; --polls) {
      polling_pause();
      has_come = has_reported(at, of);
    }
    all &= has_come;
  }
  return all;
}

LOCKSTEP_OUT_OF_LINE void fork_board::wake(std::size_t size) {
  for (fork_tree::line at{0, 0, 1}; at.index < lines_.size(); at = line_after(at)) {
    if (at.first_watcher() < size) lines_[at.index].wake();
  }
}

LOCKSTEP_OUT_OF_LINE bool fork_board::has_sleepers(std::size_t size) const noexcept {
  bool found = false;
  for (fork_tree::line at{0, 0, 1}; at.index < lines_.size(); at = line_after(at)) {
    found |= at.first_watcher() < size && lines_[at.index].has_sleeper();
  }
  return found;
}

LOCKSTEP_COLD void fork_board::close() {
  closed_.store(1, memory_order_release);  // 2
  lines_.wake_all();
}

LOCKSTEP_COLD void fork_board::reset(std::uint32_t first_phase) noexcept {
  closed_.store(0, memory_order_relaxed);  // 1
  const announcement none(first_phase, 1, 1);
  lines_.reset(none.word(), lines_.size());
  reports_.reset(first_phase, reports_.size());
  caller_[0].value.phase = caller_[0].value.renewed = first_phase;
  caller_[0].value.announced = none.word();
  for (std::size_t rank = 0; rank < tree_.members(); ++rank) {
    shares_.reset(rank, first_phase);
    histories_[rank].value.regions.seen = none.word();
    histories_[rank].value.regions.has_begun = false;
  }
}

LOCKSTEP_COLD void fork_board::renew() {
  caller_[0].value.renewed = caller_[0].value.phase;
  const region_head head{0, static_cast<std::uint32_t>(tree_.members()), 0};
  const auto nothing = [](loop_share&) {};
  announce<loop_share>(head, nothing, 1, true);
  shares_.reset(0, current().phase());
  renew_below(0);
}

LOCKSTEP_COLD void fork_board::renew_below(std::size_t rank) {
  const announcement now = current();
  for (std::size_t at = first_told(rank, now); at < members(); at = next_told(rank, now, at)) {
    order claimed;
    if (!claim(at, claimed)) continue;
    relay(at, claimed, true);
    renew_below(at);
    report(at, claimed.announced);
  }
  collect(rank, now);
}

LOCKSTEP_OUT_OF_LINE bool fork_board::claim(std::size_t rank, order& out) {
  return claim_on(rank == 0 ? 0 : tree_.watched_by(rank).index, rank, out);
}

LOCKSTEP_OUT_OF_LINE bool fork_board::claim_on(std::size_t line, std::size_t rank, order& out) {
  while (true) {
    const std::uint64_t known = shares_.look(rank);
    read_line(line, out);
    if (!out.is_loop() || rank >= out.announced.size()) return false;
    if (rank == 0 && out.announced.parts() == 1) return false;  // the caller runs it, unclaimed
    const share_board::outcome how = shares_.try_claim(rank, known, out.announced, out.part);
    if (how != share_board::outcome::changed) return how == share_board::outcome::claimed;
  }
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_FORK_BOARD_IPP

#endif

// lockstep/detail/graph/plan_text.hpp -- graphs and plans as text, and as pictures for Graphviz (layer: graph)
#ifndef LOCKSTEP_DETAIL_GRAPH_PLAN_TEXT_HPP
#define LOCKSTEP_DETAIL_GRAPH_PLAN_TEXT_HPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

LOCKSTEP_COLD std::string dot_of(const graph_model& of);
LOCKSTEP_COLD std::string dot_of(const graph_model& of, const flow& checked, const flow_plan& plan);
LOCKSTEP_COLD std::string text_of(const graph_model& of, const flow_plan& plan);

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_GRAPH_PLAN_TEXT_HPP

// lockstep/detail/graph/series_parallel.hpp -- where a graph stops being series-parallel (layer: graph)
//
// Pure. A graph is series-parallel if it is made from nodes by "after each other" and "beside each other". It is so
// exactly if no four nodes form an N: a and b come before c, b before d, and nothing else holds among them [VTL82].
// Each loop is looked at by itself, and counts as one node outside.
#ifndef LOCKSTEP_DETAIL_GRAPH_SERIES_PARALLEL_HPP
#define LOCKSTEP_DETAIL_GRAPH_SERIES_PARALLEL_HPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// A sentence, or nothing if the graph is series-parallel. Takes time and memory as the square of the nodes.
LOCKSTEP_COLD std::string where_not_series_parallel(const graph_model& of, const flow& checked);

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_GRAPH_SERIES_PARALLEL_HPP

#if LOCKSTEP_HAS_BODIES

// lockstep/detail/graph/graph.ipp -- the bodies of graph.hpp (layer: graph)
#ifndef LOCKSTEP_DETAIL_GRAPH_GRAPH_IPP
#define LOCKSTEP_DETAIL_GRAPH_GRAPH_IPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {

LOCKSTEP_COLD graph_node graph_node::cost(std::chrono::nanoseconds time) const {
  refuse_unless_of_graph("cost");
  of_->model.nodes[index_].cost = time.count() < 0 ? 0 : static_cast<double>(time.count());
  return *this;
}
LOCKSTEP_COLD graph_node graph_node::pin(std::size_t rank) const {
  refuse_unless_of_graph("pin");
  detail::checked_range("lockstep::graph_node::pin", "as the rank", rank, 0,
                        detail::max_participants - 1);
  of_->model.nodes[index_].pin = static_cast<detail::node_index>(rank);
  return *this;
}
LOCKSTEP_COLD const std::string& graph_node::name() const {
  refuse_unless_of_graph("name");
  return of_->model.nodes[index_].name;
}
LOCKSTEP_COLD void graph_node::refuse_unless_of_graph(const char* function) const {
  if (of_ != nullptr) return;
  const std::string text =
      std::string("lockstep::graph_node::") + function + ": a node of no graph";
  detail::fail_argument(text.c_str());
}

LOCKSTEP_COLD graph_block::graph_block(const graph_node& only)
    : of_(only.of_), firsts_(1, only.index_), lasts_(1, only.index_) {}

LOCKSTEP_COLD graph::graph() : body_(new detail::graph_body()) {}
LOCKSTEP_COLD graph::~graph() = default;
LOCKSTEP_COLD graph::graph(graph&& other) noexcept = default;
LOCKSTEP_COLD graph& graph::operator=(graph&& other) noexcept = default;

LOCKSTEP_COLD graph_node graph::node(std::string name) {
  return add(std::move(name), detail::node_function(), false, 1, false);
}

LOCKSTEP_COLD graph_node graph::add(std::string name, detail::node_function f, bool returns_bool,
                                    std::size_t width, bool is_wide) {
  detail::checked_range("lockstep::graph::node", "as the width", width, 0,
                        detail::max_participants);
  detail::model_node made;
  made.name = std::move(name);
  made.width = static_cast<std::uint32_t>(width);
  made.is_wide = is_wide;
  made.returns_bool = returns_bool;
  body_->model.nodes.push_back(std::move(made));
  body_->functions.push_back(std::move(f));
  return graph_node(body_.get(), static_cast<detail::node_index>(body_->model.nodes.size() - 1));
}

LOCKSTEP_COLD void graph::check_own(const char* function, const detail::graph_body* of) const {
  if (of == body_.get()) return;
  const std::string text =
      std::string("lockstep::graph::") + function +
      (of == nullptr ? ": was given a node of no graph" : ": was given a node of another graph");
  detail::fail_argument(text.c_str());
}

LOCKSTEP_COLD void graph::check_join(const char* function, const graph_block& from,
                                     const graph_block& to) const {
  check_own(function, from.of_);
  check_own(function, to.of_);
  for (const detail::node_index a : from.lasts_) {
    if (std::find(to.firsts_.begin(), to.firsts_.end(), a) == to.firsts_.end()) continue;
    detail::fail_argument((std::string("lockstep::graph::") + function + ": an edge from " +
                           detail::quoted(body_->model, a) + " to itself")
                              .c_str());
  }
}

LOCKSTEP_COLD void graph::join(const graph_block& from, const graph_block& to,
                               detail::edge_kind kind) {
  for (const detail::node_index a : from.lasts_) {
    for (const detail::node_index b : to.firsts_) body_->model.edges.push_back({a, b, kind});
  }
}

LOCKSTEP_COLD graph& graph::edge(const graph_block& from, const graph_block& to) {
  check_join("edge", from, to);
  join(from, to, detail::edge_kind::plain);
  return *this;
}
LOCKSTEP_COLD graph& graph::edge_if(const graph_node& test, const graph_block& to) {
  check_join("edge_if", test, to);
  join(test, to, detail::edge_kind::if_true);
  return *this;
}
LOCKSTEP_COLD graph& graph::edge_unless(const graph_node& test, const graph_block& to) {
  check_join("edge_unless", test, to);
  join(test, to, detail::edge_kind::if_false);
  return *this;
}

LOCKSTEP_COLD graph& graph::feedback(const graph_node& test, const graph_node& to) {
  check_own("feedback", test.of_);
  check_own("feedback", to.of_);
  body_->model.feedbacks.push_back(
      {test.index_, to.index_, std::uint32_t{detail::model_feedback::while_true}});
  return *this;
}
LOCKSTEP_COLD graph& graph::feedback(const graph_node& from, const graph_node& to,
                                     std::size_t delay) {
  constexpr std::size_t most_delay = 1000000;
  check_own("feedback", from.of_);
  check_own("feedback", to.of_);
  detail::checked_range("lockstep::graph::feedback", "as the delay", delay, 0, most_delay);
  if (delay == 0) return edge(from, to);
  body_->model.feedbacks.push_back({from.index_, to.index_, static_cast<std::uint32_t>(delay)});
  return *this;
}

LOCKSTEP_COLD graph_block graph::series(const std::vector<graph_block>& parts) {
  std::vector<const graph_block*> all;
  for (const graph_block& each : parts) {
    if (each.empty()) continue;
    check_own("series", each.of_);
    if (!all.empty()) check_join("series", *all.back(), each);
    all.push_back(&each);
  }
  if (all.empty()) return graph_block();
  for (std::size_t i = 1; i < all.size(); ++i) join(*all[i - 1], *all[i], detail::edge_kind::plain);
  graph_block whole = *all.front();
  whole.lasts_ = all.back()->lasts_;
  return whole;
}

LOCKSTEP_COLD graph_block graph::parallel(const std::vector<graph_block>& parts) {
  graph_block whole;
  for (const graph_block& each : parts) {
    if (each.empty()) continue;
    check_own("parallel", each.of_);
    whole.of_ = each.of_;
    whole.firsts_.append(each.firsts_.begin(), each.firsts_.end());
    whole.lasts_.append(each.lasts_.begin(), each.lasts_.end());
  }
  return whole;
}

LOCKSTEP_COLD graph_block graph::loop(const graph_block& body) {
  check_own("loop", body.of_);
  if (body.lasts_.size() != 1) {
    detail::fail_argument(
        "lockstep::graph::loop: the block has no single last node, which says whether it runs "
        "again");
  }
  graph_block whole = body;
  const graph_node last(body_.get(), body.lasts_[0]);
  graph_node first(body_.get(), body.firsts_[0]);
  if (body.firsts_.size() > 1) {
    first = node("loop of " + last.name());
    edge(first, body);
    whole.firsts_.assign(1, first.index_);
  }
  feedback(last, first);
  return whole;
}

LOCKSTEP_COLD std::string graph::not_series_parallel() const {
  const detail::flow checked = detail::make_flow(body_->model);
  if (!checked.problem.empty()) detail::fail_argument(checked.problem.c_str());
  return detail::where_not_series_parallel(body_->model, checked);
}

LOCKSTEP_COLD std::string graph::dot() const { return detail::dot_of(body_->model); }
LOCKSTEP_COLD std::string graph::validate() const {
  return detail::make_flow(body_->model).problem;
}

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_GRAPH_GRAPH_IPP

#endif

#if LOCKSTEP_HAS_BODIES

// lockstep/detail/graph/flow.ipp -- the bodies of flow.hpp (layer: graph)
#ifndef LOCKSTEP_DETAIL_GRAPH_FLOW_IPP
#define LOCKSTEP_DETAIL_GRAPH_FLOW_IPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

LOCKSTEP_COLD std::string quoted(const graph_model& of, node_index node) {
  return "'" + of.nodes[node].name + "'";
}

LOCKSTEP_COLD adjacency edges_by(const growing_array<model_edge>& edges, std::size_t nodes,
                                 bool by_end) {
  adjacency made;
  made.begin.assign(nodes + 1, 0);
  made.edges.resize(edges.size());
  for (const model_edge& each : edges) ++made.begin[(by_end ? each.to : each.from) + 1];
  for (std::size_t i = 0; i < nodes; ++i) made.begin[i + 1] += made.begin[i];
  growing_array<std::uint32_t> next(made.begin.begin(), made.begin.end() - 1);
  for (std::uint32_t i = 0; i < edges.size(); ++i) {
    made.edges[next[by_end ? edges[i].to : edges[i].from]++] = i;
  }
  return made;
}

/// Finds the structure of a graph, step by step, until something is wrong.
class flow_builder {
 public:
  LOCKSTEP_COLD explicit flow_builder(const graph_model& of) : of_(of) {}

  LOCKSTEP_COLD flow make() {
    made_.problem = find();
    return std::move(made_);
  }

 private:
  std::size_t size() const noexcept { return of_.nodes.size(); }
  std::string name(node_index node) const { return quoted(of_, node); }

  LOCKSTEP_COLD std::string find() {
    std::string wrong = same_names();
    if (wrong.empty()) wrong = silent_tests();
    if (!wrong.empty()) return wrong;
    take_edges();
    wrong = sort();
    if (wrong.empty()) wrong = find_loops();
    if (!wrong.empty()) return wrong;
    find_skips();
    wrong = contradictions();
    if (wrong.empty()) take_delays();
    return wrong;
  }

  LOCKSTEP_COLD std::string same_names() const {
    growing_array<const std::string*> names;
    for (const model_node& each : of_.nodes) names.push_back(&each.name);
    sort_by(names, [](const std::string* a, const std::string* b) { return *a < *b; });
    for (std::size_t i = 1; i < names.size(); ++i) {
      if (*names[i - 1] == *names[i]) return "two nodes are called '" + *names[i] + "'";
    }
    return std::string();
  }

  LOCKSTEP_COLD std::string silent_tests() const {
    for (const model_edge& each : of_.edges) {
      if (each.kind == edge_kind::plain || of_.nodes[each.from].returns_bool) continue;
      return "the edge from " + name(each.from) + " to " + name(each.to) +
             " has a condition, but " + name(each.from) + " does not return bool";
    }
    for (const model_feedback& each : of_.feedbacks) {
      if (!each.is_loop() || of_.nodes[each.from].returns_bool) continue;
      return "feedback from " + name(each.from) + " to " + name(each.to) + ": " + name(each.from) +
             " does not return bool, and so cannot say whether the loop goes on";
    }
    return std::string();
  }

  /// Counted feedback without delay is an edge.
  LOCKSTEP_COLD void take_edges() {
    made_.edges = of_.edges;
    for (const model_feedback& each : of_.feedbacks) {
      if (each.delay == 0) made_.edges.push_back({each.from, each.to, edge_kind::plain});
    }
    made_.out = edges_by(made_.edges, size(), false);
    made_.in = edges_by(made_.edges, size(), true);
  }

  LOCKSTEP_COLD std::string sort() {
    growing_array<std::uint32_t> missing(size());
    for (node_index i = 0; i < size(); ++i) {
      missing[i] = made_.in.begin[i + 1] - made_.in.begin[i];
      if (missing[i] == 0) made_.order.push_back(i);
    }
    for (std::size_t at = 0; at < made_.order.size(); ++at) {
      const node_index node = made_.order[at];
      for (const std::uint32_t* e = made_.out.first(node); e != made_.out.last(node); ++e) {
        if (--missing[made_.edges[*e].to] == 0) made_.order.push_back(made_.edges[*e].to);
      }
    }
    return made_.order.size() == size() ? std::string() : cycle(missing);
  }

  /// Among nodes that miss another one for ever: backwards, until one comes again.
  LOCKSTEP_COLD std::string cycle(const growing_array<std::uint32_t>& missing) const {
    node_index at = 0;
    while (missing[at] == 0) ++at;
    growing_array<std::uint32_t> back(size(), no_node);  // the edge by which it was left
    growing_array<bool> seen(size(), false);
    while (!seen[at]) {
      seen[at] = true;
      const std::uint32_t* e = made_.in.first(at);
      while (missing[made_.edges[*e].from] == 0) ++e;
      back[made_.edges[*e].from] = *e;
      at = made_.edges[*e].from;
    }
    bool has_feedback = false;
    std::string way = name(at);
    node_index next = at;
    do {
      has_feedback |= back[next] >= of_.edges.size();
      next = made_.edges[back[next]].to;
      way += " -> " + name(next);
    } while (next != at);
    return has_feedback ? "feedback with delay 0 that no iteration can satisfy: " + way
                        : "a cycle without feedback: " + way;
  }

  // --- loops ---

  struct found_loop {
    node_index from, to;
    node_list nodes;
  };

  LOCKSTEP_COLD std::string find_loops() {
    growing_array<found_loop> loops;  // the longest first
    for (const model_feedback& each : of_.feedbacks) {
      if (!each.is_loop()) continue;
      found_loop made = {each.from, each.to, body_of(each)};
      if (made.nodes.empty()) {
        return "feedback from " + name(each.from) + " to " + name(each.to) +
               " can never be satisfied: no way of edges leads from " + name(each.to) + " to " +
               name(each.from);
      }
      loops.push_back(std::move(made));
      for (std::size_t i = loops.size() - 1; i > 0; --i) {
        if (loops[i].nodes.size() <= loops[i - 1].nodes.size()) break;
        std::swap(loops[i], loops[i - 1]);
      }
    }
    made_.blocks.resize(1);
    made_.block_of.assign(size(), 0);
    made_.loop_from.assign(size(), 0);
    for (const found_loop& each : loops) {
      const std::string wrong = add_loop(each);
      if (!wrong.empty()) return wrong;
    }
    return std::string();
  }

  /// The nodes on ways from `to` to `from`, in order.
  LOCKSTEP_COLD node_list body_of(const model_feedback& loop) const {
    growing_array<bool> ahead(size(), false), behind(size(), false);
    ahead[loop.to] = behind[loop.from] = true;
    node_list body;
    for (const node_index node : made_.order) {
      if (!ahead[node]) continue;
      for (const std::uint32_t* e = made_.out.first(node); e != made_.out.last(node); ++e) {
        ahead[made_.edges[*e].to] = true;
      }
    }
    for (std::size_t i = size(); i-- > 0;) {
      const node_index node = made_.order[i];
      if (!behind[node]) continue;
      for (const std::uint32_t* e = made_.in.first(node); e != made_.in.last(node); ++e) {
        behind[made_.edges[*e].from] = true;
      }
    }
    for (const node_index node : made_.order) {
      if (ahead[node] && behind[node]) body.push_back(node);
    }
    return body;
  }

  std::string loop_name(node_index from, node_index to) const {
    return "the loop from " + name(to) + " to " + name(from);
  }

  LOCKSTEP_COLD std::string add_loop(const found_loop& loop) {
    const std::uint32_t parent = made_.block_of[loop.nodes[0]];
    for (const node_index node : loop.nodes) {
      if (made_.block_of[node] == parent) continue;
      std::uint32_t other = made_.block_of[node];
      if (made_.blocks[other].depth < made_.blocks[parent].depth) other = parent;
      return loop_name(loop.from, loop.to) + " crosses " +
             loop_name(made_.blocks[other].from, made_.blocks[other].to) + ": " + name(node) +
             " and " + name(loop.nodes[0]) + " are not both in it";
    }
    if (made_.loop_from[loop.from] != 0) {
      const flow_block& other = made_.blocks[made_.loop_from[loop.from]];
      return "feedback from " + name(loop.from) + " to " + name(other.to) +
             " can never be satisfied: " + name(loop.from) + " also ends the loop to " +
             name(loop.to) + ", by returning false";
    }
    const std::uint32_t block = static_cast<std::uint32_t>(made_.blocks.size());
    made_.blocks.push_back(flow_block());
    made_.blocks.back().parent = parent;
    made_.blocks.back().depth = made_.blocks[parent].depth + 1;
    made_.blocks.back().from = loop.from;
    made_.blocks.back().to = loop.to;
    made_.loop_from[loop.from] = block;
    for (const node_index node : loop.nodes) made_.block_of[node] = block;
    return std::string();
  }

  // --- conditions ---

  bool tells(const model_edge& edge) const { return made_.tells(edge); }

  LOCKSTEP_COLD void find_skips() {
    made_.may_be_skipped.assign(size(), false);
    made_.is_asked.assign(size(), false);
    for (const node_index node : made_.order) {
      bool all = made_.in.first(node) != made_.in.last(node), one = false;
      for (const std::uint32_t* e = made_.in.first(node); e != made_.in.last(node); ++e) {
        all &= made_.may_be_skipped[made_.edges[*e].from];
        one |= made_.edges[*e].kind != edge_kind::plain;
      }
      made_.may_be_skipped[node] = all || one;
      if (!all && !one) continue;
      for (const std::uint32_t* e = made_.in.first(node); e != made_.in.last(node); ++e) {
        if (tells(made_.edges[*e])) made_.is_asked[made_.edges[*e].from] = true;
      }
    }
  }

  /// What must have been answered where a node runs: twice the number of the node that was asked, and 1 for true.
  using answers = growing_array<std::uint32_t>;

  /// What one of them has, or both have. All are sorted.
  LOCKSTEP_COLD static answers merged(const answers& a, const answers& b, bool only_common) {
    answers made;
    for (std::size_t i = 0, k = 0; i < a.size() || k < b.size();) {
      const bool of_a = k == b.size() || (i < a.size() && a[i] <= b[k]);
      const bool of_b = i == a.size() || (k < b.size() && b[k] <= a[i]);
      if (!only_common || (of_a && of_b)) made.push_back(of_a ? a[i] : b[k]);
      i += of_a ? 1 : 0;
      k += of_b ? 1 : 0;
    }
    return made;
  }
  static void add(answers& to, const answers& more) { to = merged(to, more, false); }

  LOCKSTEP_COLD std::string contradictions() {
    growing_array<answers> known(size());  // nothing of a node that is never skipped
    for (const node_index node : made_.order) {
      if (!made_.may_be_skipped[node]) continue;
      answers here, common;
      bool is_first = true;
      for (const std::uint32_t* e = made_.in.first(node); e != made_.in.last(node); ++e) {
        const model_edge& each = made_.edges[*e];
        if (each.kind != edge_kind::plain) {
          add(here, known[each.from]);
          add(here, {2 * each.from + (each.kind == edge_kind::if_true ? 1u : 0u)});
        }
        common = is_first ? known[each.from] : merged(common, known[each.from], true);
        is_first = false;
      }
      add(here, common);
      for (std::size_t i = 1; i < here.size(); ++i) {
        // A node in a loop may be asked in one turn and seen in another.
        const node_index asked = here[i] / 2;
        if (here[i - 1] / 2 != asked || here[i] == here[i - 1]) continue;
        return "no iteration can reach " + name(node) + ": " + name(asked) +
               " would have to return both true and false";
      }
      known[node].swap(here);
    }
    return std::string();
  }

  // --- counted feedback ---

  LOCKSTEP_COLD void take_delays() {
    for (const model_feedback& each : of_.feedbacks) {
      if (each.is_loop() || each.delay == 0) continue;
      made_.overlaps = true;
      made_.most_delay = (std::max)(made_.most_delay, each.delay);
      add_delay(each);
    }
    if (!made_.overlaps) return;
    made_.most_delay = (std::max)(made_.most_delay, std::uint32_t{1});
    for (const model_edge& each : made_.edges) {
      if (made_.may_be_skipped[each.to] && tells(each)) add_delay({each.to, each.from, 1});
    }
    // The members of a team-wide node do not follow each other by themselves.
    for (node_index i = 0; i < size(); ++i) {
      if (of_.nodes[i].is_wide) add_delay({i, i, 1});
    }
  }
  LOCKSTEP_COLD void add_delay(const model_feedback& each) {
    std::uint32_t a = made_.block_of[each.from];
    while (a != 0 && !made_.is_inside(made_.block_of[each.to], a)) a = made_.blocks[a].parent;
    if (a == 0) made_.delayed.push_back(each);
  }

  const graph_model& of_;
  flow made_;
};

LOCKSTEP_COLD flow make_flow(const graph_model& of) { return flow_builder(of).make(); }

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_GRAPH_FLOW_IPP

#endif

#if LOCKSTEP_HAS_BODIES

// lockstep/detail/graph/plan_text.ipp -- the bodies of plan_text.hpp (layer: graph)
#ifndef LOCKSTEP_DETAIL_GRAPH_PLAN_TEXT_IPP
#define LOCKSTEP_DETAIL_GRAPH_PLAN_TEXT_IPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

LOCKSTEP_COLD std::string dot_text(const std::string& of) {
  std::string text = "\"";
  for (const char each : of) {
    if (each == '"' || each == '\\') text += '\\';
    text += each;
  }
  return text + '"';
}

LOCKSTEP_COLD std::string dot_node(const graph_model& of, node_index node) {
  return dot_text(of.nodes[node].name);
}

LOCKSTEP_COLD std::string dot_edges(const graph_model& of) {
  std::string text;
  for (const model_edge& each : of.edges) {
    text += "  " + dot_node(of, each.from) + " -> " + dot_node(of, each.to);
    if (each.kind == edge_kind::if_true) text += " [label=\"if\"]";
    if (each.kind == edge_kind::if_false) text += " [label=\"unless\"]";
    text += ";\n";
  }
  for (const model_feedback& each : of.feedbacks) {
    text += "  " + dot_node(of, each.from) + " -> " + dot_node(of, each.to) +
            " [style=dashed, constraint=false, label=\"" +
            (each.is_loop() ? std::string("again") : std::to_string(each.delay)) + "\"];\n";
  }
  return text;
}

/// The nodes of a block, and of the loops in it as boxes.
LOCKSTEP_COLD std::string dot_block(const graph_model& of, const flow& checked,
                                    std::uint32_t block) {
  std::string text;
  for (node_index i = 0; i < of.nodes.size(); ++i) {
    if (checked.block_of[i] == block) text += "  " + dot_node(of, i) + ";\n";
  }
  for (std::uint32_t inner = 1; inner < checked.blocks.size(); ++inner) {
    if (checked.blocks[inner].parent != block) continue;
    text += "  subgraph cluster_" + std::to_string(inner) + " {\n" + dot_block(of, checked, inner) +
            "  }\n";
  }
  return text;
}

LOCKSTEP_COLD std::string dot_of(const graph_model& of) {
  std::string text = "digraph flow {\n  rankdir=LR;\n  node [shape=box, style=rounded];\n";
  const flow checked = make_flow(of);
  if (checked.problem.empty()) {
    text += dot_block(of, checked, 0);
  } else {
    for (node_index i = 0; i < of.nodes.size(); ++i) text += "  " + dot_node(of, i) + ";\n";
  }
  return text + dot_edges(of) + "}\n";
}

LOCKSTEP_COLD std::string dot_of(const graph_model& of, const flow& checked,
                                 const flow_plan& plan) {
  std::string text = "digraph plan {\n  rankdir=LR;\n  node [shape=box, style=rounded];\n";
  for (std::uint32_t m = 0; m < plan.members; ++m) {
    text += "  subgraph cluster_" + std::to_string(m) + " {\n    label=\"member " +
            std::to_string(m) + "\";\n";
    std::string last;
    for (const node_index node : plan.line) {
      if (plan.member_of[node] != m) continue;
      const std::string name = dot_node(of, node);
      text += "    " + name + ";\n";
      if (!last.empty()) text += "    " + last + " -> " + name + " [style=invis];\n";
      last = name;
    }
    text += "  }\n";
  }
  for (const model_edge& each : checked.edges) {
    const bool crosses = plan.member_of[each.from] != plan.member_of[each.to] ||
                         plan.width_of[each.from] > 1 || plan.width_of[each.to] > 1;
    text += "  " + dot_node(of, each.from) + " -> " + dot_node(of, each.to) +
            (crosses ? " [style=bold, color=red]" : "") + ";\n";
  }
  for (const model_feedback& each : of.feedbacks) {
    text += "  " + dot_node(of, each.from) + " -> " + dot_node(of, each.to) +
            " [style=dashed, constraint=false];\n";
  }
  return text + "}\n";
}

LOCKSTEP_COLD std::string text_of(const graph_model& of, const flow_plan& plan) {
  std::string text;
  for (const plan_lane& lane : plan.lanes) {
    text += "member " + std::to_string(lane.member);
    if (lane.block != 0) {
      text += ", in the loop that '" + of.nodes[plan.from[lane.block]].name + "' decides";
    }
    text += ":\n";
    for (std::uint32_t s = lane.first_step; s < lane.first_step + lane.steps; ++s) {
      const plan_step& step = plan.steps[s];
      text += "  " + std::to_string(s - lane.first_step + 1) + ".";
      for (std::uint32_t w = step.first_wait; w < step.last_wait; ++w) {
        const plan_wait& wait = plan.waits[w];
        text += " [waits for step " + std::to_string(wait.steps) + " of member " +
                std::to_string(plan.lanes[wait.lane].member);
        if (wait.delay > 0) text += ", " + std::to_string(wait.delay) + " turns before";
        text += "]";
      }
      if (step.loop != 0) {
        text += " the loop that '" + of.nodes[plan.from[step.loop]].name + "' decides";
      }
      for (std::uint32_t c = step.first_call; c < step.last_call; ++c) {
        text += " '" + of.nodes[plan.calls[c].node].name + "'";
      }
      if (step.decides) text += step.first_call == step.last_call ? " decides" : " (decides)";
      if (step.is_awaited) text += " [is waited for]";
      if (!step.is_open && step.loop == 0) text += " [by this member only]";
      text += "\n";
    }
  }
  return text;
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_GRAPH_PLAN_TEXT_IPP

#endif

#if LOCKSTEP_HAS_BODIES

// lockstep/detail/graph/series_parallel.ipp -- the bodies of series_parallel.hpp (layer: graph)
#ifndef LOCKSTEP_DETAIL_GRAPH_SERIES_PARALLEL_IPP
#define LOCKSTEP_DETAIL_GRAPH_SERIES_PARALLEL_IPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// Which items of a block come before which, and how the block falls into parts.
class block_order {
 public:
  /// `before(a, b)`: edges; items are numbered so that edges go forward.
  LOCKSTEP_COLD block_order(std::size_t count, const growing_array<model_edge>& edges)
      : count_(count), words_((count + 63) / 64), before_(count * words_, 0) {
    const adjacency in = edges_by(edges, count, true);
    for (std::size_t i = 0; i < count; ++i) {
      for (const std::uint32_t* e = in.first(i); e != in.last(i); ++e) {
        const std::size_t from = edges[*e].from;
        for (std::size_t w = 0; w < words_; ++w) row(i)[w] |= row(from)[w];
        row(i)[from / 64] |= std::uint64_t{1} << (from % 64);
      }
    }
  }

  bool comes_before(std::size_t a, std::size_t b) const noexcept {
    return (before_[b * words_ + a / 64] >> (a % 64) & 1u) != 0;
  }
  bool is_ordered(std::size_t a, std::size_t b) const noexcept {
    return comes_before(a, b) || comes_before(b, a);
  }

  /// a, b, c, d of an N; empty if there is none.
  LOCKSTEP_COLD growing_array<std::uint32_t> find_n() const {
    growing_array<growing_array<std::uint32_t>> open(1);
    for (std::uint32_t i = 0; i < count_; ++i) open[0].push_back(i);
    while (!open.empty()) {
      const growing_array<std::uint32_t> part = open.back();
      open.pop_back();
      if (part.size() < 4) continue;
      const std::size_t before = open.size();
      if (fall_apart(part, true, open) || fall_apart(part, false, open)) continue;
      open.resize(before);
      return n_in(part);
    }
    return growing_array<std::uint32_t>();
  }

 private:
  std::uint64_t* row(std::size_t of) noexcept { return &before_[of * words_]; }

  /// The parts that are connected by pairs that are ordered, or that are not. False if there is only one.
  LOCKSTEP_COLD bool fall_apart(const growing_array<std::uint32_t>& part, bool by_order,
                                growing_array<growing_array<std::uint32_t>>& into) const {
    growing_array<std::uint32_t> left = part;
    const std::size_t before = into.size();
    while (!left.empty()) {
      growing_array<std::uint32_t> found(1, left.back());
      left.pop_back();
      for (std::size_t at = 0; at < found.size(); ++at) {
        for (std::size_t i = 0; i < left.size();) {
          if (is_ordered(found[at], left[i]) != by_order) {
            ++i;
            continue;
          }
          found.push_back(left[i]);
          left[i] = left.back();
          left.pop_back();
        }
      }
      into.push_back(found);
    }
    if (into.size() > before + 1) return true;
    into.resize(before);
    return false;
  }

  LOCKSTEP_COLD growing_array<std::uint32_t> n_in(const growing_array<std::uint32_t>& part) const {
    for (const std::uint32_t c : part) {
      for (const std::uint32_t d : part) {
        if (c == d || is_ordered(c, d)) continue;
        for (const std::uint32_t b : part) {
          if (!comes_before(b, c) || !comes_before(b, d)) continue;
          for (const std::uint32_t a : part) {
            if (comes_before(a, c) && !is_ordered(a, d) && !is_ordered(a, b)) return {a, b, c, d};
          }
        }
      }
    }
    return growing_array<std::uint32_t>();
  }

  const std::size_t count_, words_;
  growing_array<std::uint64_t> before_;
};

LOCKSTEP_COLD std::string where_not_series_parallel(const graph_model& of, const flow& checked) {
  const std::uint32_t nodes = static_cast<std::uint32_t>(of.nodes.size());
  for (std::uint32_t block = 0; block < checked.blocks.size(); ++block) {
    // The items of the block, by their first node in the order.
    growing_array<std::uint32_t> number(nodes + checked.blocks.size(), no_node);
    growing_array<std::string> names;
    const auto item_of = [&](node_index node) {
      std::uint32_t at = checked.block_of[node], item = node;
      while (at != block && at != 0) {
        item = nodes + at;
        at = checked.blocks[at].parent;
      }
      return at == block ? item : no_node;
    };
    for (const node_index node : checked.order) {
      const std::uint32_t item = item_of(node);
      if (item == no_node || number[item] != no_node) continue;
      number[item] = 0;  // known; the order of items is found below
    }
    growing_array<model_edge> edges;
    for (const model_edge& each : checked.edges) {
      const std::uint32_t from = item_of(each.from), to = item_of(each.to);
      if (from == no_node || to == no_node || from == to) continue;
      edges.push_back({from, to, edge_kind::plain});
    }
    // Items in an order of their own: a loop comes after all that one of its nodes comes after.
    const adjacency out = edges_by(edges, number.size(), false),
                    in = edges_by(edges, number.size(), true);
    growing_array<std::uint32_t> order, missing(number.size(), 0);
    for (std::uint32_t item = 0; item < number.size(); ++item) {
      missing[item] = in.begin[item + 1] - in.begin[item];
      if (number[item] == 0 && missing[item] == 0) order.push_back(item);
    }
    for (std::size_t at = 0; at < order.size(); ++at) {
      number[order[at]] = static_cast<std::uint32_t>(at);
      names.push_back(order[at] < nodes
                          ? quoted(of, order[at])
                          : "the loop that " + quoted(of, checked.blocks[order[at] - nodes].from) +
                                " decides");
      for (const std::uint32_t* e = out.first(order[at]); e != out.last(order[at]); ++e) {
        if (--missing[edges[*e].to] == 0) order.push_back(edges[*e].to);
      }
    }
    for (model_edge& each : edges) each = {number[each.from], number[each.to], each.kind};
    const growing_array<std::uint32_t> n = block_order(order.size(), edges).find_n();
    if (n.empty()) continue;
    return names[n[0]] + " and " + names[n[1]] + " come before " + names[n[2]] + ", and " +
           names[n[1]] + " before " + names[n[3]] + ", but " + names[n[0]] + " does not";
  }
  return std::string();
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_GRAPH_SERIES_PARALLEL_IPP

#endif

// lockstep/detail/graph/flow_planner.hpp -- makes a plan of a graph (layer: graph)
//
// Scheduling: of the nodes that could begin, the one with the longest way to the end is next; it goes to the member
// where it can begin first, where what comes from another member is there `crossing` later. [KA99]
#ifndef LOCKSTEP_DETAIL_GRAPH_FLOW_PLANNER_HPP
#define LOCKSTEP_DETAIL_GRAPH_FLOW_PLANNER_HPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// `costs`: of each node in nanoseconds, below 0 where it is not known.
LOCKSTEP_COLD flow_plan make_flow_plan(const graph_model& of, const flow& checked,
                                       const growing_array<double>& costs, std::size_t members);

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_GRAPH_FLOW_PLANNER_HPP

// lockstep/detail/graph/flow_walk.hpp -- a member goes through its lanes, and helps where it would wait (layer: graph)
//
// walk() is a member's part of a run. At each step it waits for what the plan says, claims the step, runs its nodes,
// and tells those who wait (flow_board.hpp).
//
//   WALK-1  A member that waits looks, now and then, for the step that it waits for, through those which that one
//           waits for: if it finds one that could begin and nobody has begun, it runs that for the other member.
//   WALK-2  So a member may find its own steps done, or being done. It learns that where a claim fails, and begins at
//           the top to find out where it is.
//   WALK-3  Every wait ends with the region's stop (stop_source.hpp).
//   WALK-4  It helps only with what could begin, so help never waits.
//   WALK-5  A member tells all that it has done before it waits or helps. So while it is late, perhaps preempted, others
//           see what its next step waits for, and can run that step.
#ifndef LOCKSTEP_DETAIL_GRAPH_FLOW_WALK_HPP
#define LOCKSTEP_DETAIL_GRAPH_FLOW_WALK_HPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

class flow_walk {
 public:
  /// For member `rank`, in region `region` of `stop`.
  flow_walk(flow_machine& of, std::size_t rank, stop_source& stop, std::uint32_t region) noexcept
      : of_(of),
        plan_(of.plan),
        own_(of.walkers[rank].value),
        rank_(static_cast<std::uint32_t>(rank)),
        stop_{stop, region},
        looks_each_(of.board.policy().is_crowded() ? 1 : 16) {}

  LOCKSTEP_OUT_OF_LINE void walk();

 private:
  /// A step that another thread may run.
  struct found_step {
    std::uint32_t lane;
    std::uint64_t step, turn, outer_turn, iteration;
    const plan_step* what;  ///< null: the lane's member is to leave a loop that is over
  };
  struct watched_lane;

  lane_place& here() noexcept { return own_.places[depth_]; }
  const plan_lane& lane_of(const lane_place& at) const noexcept { return plan_.lanes[at.lane]; }
  const plan_step& step_of(const lane_place& at) const noexcept {
    return plan_.steps[lane_of(at).first_step + at.at];
  }
  std::uint64_t iteration() const noexcept { return own_.places[0].turn - of_.first; }
  std::uint64_t steps_for(const plan_wait& wait, std::uint64_t turn) const noexcept {
    return (turn - wait.delay) * plan_.lanes[wait.lane].steps + wait.steps;
  }

  /// Waits until a lane has done so many steps. False once the region is stopped.
  bool await(std::uint32_t lane, std::uint64_t steps) {
    if (own_.seen[lane] >= steps) return true;
    own_.seen[lane] = of_.board.done(lane).value();
    return own_.seen[lane] >= steps || await_slowly(lane, steps);
  }
  LOCKSTEP_OUT_OF_LINE bool await_slowly(std::uint32_t lane, std::uint64_t steps);
  /// Stores what this member has left behind: before others may have to wait for it.
  LOCKSTEP_OUT_OF_LINE void catch_up();

  LOCKSTEP_OUT_OF_LINE bool find_place(std::uint32_t lane, lane_place& at);
  LOCKSTEP_OUT_OF_LINE bool start();
  LOCKSTEP_OUT_OF_LINE bool begin_iteration();
  LOCKSTEP_OUT_OF_LINE bool ask_gate(std::uint64_t turn);
  LOCKSTEP_OUT_OF_LINE bool enter(const plan_step& step);
  LOCKSTEP_OUT_OF_LINE bool begin_turn();
  LOCKSTEP_OUT_OF_LINE bool leave();
  LOCKSTEP_OUT_OF_LINE bool end_turn();
  LOCKSTEP_OUT_OF_LINE bool run_step(const plan_step& step);
  LOCKSTEP_OUT_OF_LINE void run_wide(const bound_call& what);
  LOCKSTEP_OUT_OF_LINE bool perform(const plan_step& step, std::uint64_t iteration);
  LOCKSTEP_OUT_OF_LINE bool decide(std::uint32_t lane, std::uint64_t turn,
                                   std::uint64_t outer_turn);
  LOCKSTEP_OUT_OF_LINE void finish(lane_place& at, bool is_awaited);
  LOCKSTEP_OUT_OF_LINE void finish_run();

  // Help.
  LOCKSTEP_OUT_OF_LINE bool find(std::uint32_t member, found_step& out);
  enum class look { found, nothing, elsewhere };
  LOCKSTEP_OUT_OF_LINE look find_on(std::uint32_t& member, found_step& out);
  LOCKSTEP_OUT_OF_LINE void help(const found_step& with);

  flow_machine& of_;
  const flow_plan& plan_;
  walker_state& own_;
  const std::uint32_t rank_;
  const stops_with_region stop_;
  const unsigned looks_each_;
  std::size_t depth_ = 0;
  // What this member has decided itself: it does not read the line that it has just published.
  std::uint32_t decided_lane_ = no_lane;
  loop_decision decided_{};
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_GRAPH_FLOW_WALK_HPP

// lockstep/detail/graph/plan_report.hpp -- what a plan says of the runs that it has measured (layer: graph)
#ifndef LOCKSTEP_DETAIL_GRAPH_PLAN_REPORT_HPP
#define LOCKSTEP_DETAIL_GRAPH_PLAN_REPORT_HPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// The node whose last run took longest beyond its mean of before.
LOCKSTEP_COLD const char* cause_of_delay(const plan_body& of, std::chrono::nanoseconds& excess);

/// What is predicted, what was measured, and where time is lost.
LOCKSTEP_COLD std::string report_of(const plan_body& of);

#if LOCKSTEP_HAS_BODIES

LOCKSTEP_COLD const char* cause_of_delay(const plan_body& of, std::chrono::nanoseconds& excess) {
  const char* cause = nullptr;
  double most = 0;
  for (std::size_t i = 0; i < of.model.nodes.size(); ++i) {
    const node_times& at = of.machine->times[i];
    if (at.count == 0) continue;
    const double last = static_cast<double>(at.last_end - at.last_begin);
    const double usual =
        at.count > 1 ? (static_cast<double>(at.sum) - last) / static_cast<double>(at.count - 1)
                     : of.machine->plan.costs[i] * tick_clock::rate() / 1e9;
    if (last - usual <= most) continue;
    most = last - usual;
    cause = of.model.nodes[i].name.c_str();
  }
  excess = std::chrono::nanoseconds(
      static_cast<std::chrono::nanoseconds::rep>(most * 1e9 / tick_clock::rate()));
  return cause;
}

LOCKSTEP_COLD std::string in_microseconds(double nanoseconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f us", nanoseconds / 1000);
  return text;
}

LOCKSTEP_COLD std::string report_of(const plan_body& of) {
  const flow_machine& machine = *of.machine;
  const flow_plan& plan = machine.plan;
  std::string text = std::to_string(of.model.nodes.size()) + " nodes on " +
                     std::to_string(plan.members) + " members, " +
                     std::to_string(plan.waits.size()) + " waits\n";
  text += "predicted: serial " + in_microseconds(plan.serial_time) + ", critical path " +
          in_microseconds(plan.critical_path) + ", an iteration " +
          in_microseconds(plan.predicted_time) + "\n";
  if (of.learnt_from != 0) {
    text += "made anew after " + std::to_string(of.learnt_from) +
            (of.learnt_from == 1 ? " run" : " runs") + ", with the times that nodes took\n";
  }
  if (of.measured_iterations == 0) return text + "not measured yet\n";
  const double each =
      static_cast<double>(of.measured_time) / static_cast<double>(of.measured_iterations);
  text += "measured: an iteration " + in_microseconds(each) + "\n";
  growing_array<double> busy(plan.members, 0);
  for (std::size_t i = 0; i < of.model.nodes.size(); ++i) {
    const node_times& at = machine.times[i];
    const double sum = tick_clock::nanoseconds(at.sum);
    busy[plan.member_of[i]] += sum / static_cast<double>(of.measured_iterations);
    text += "  " + quoted(of.model, static_cast<node_index>(i)) + " on member " +
            std::to_string(plan.member_of[i]) + ": ";
    if (at.count == 0) {
      text += "not measured\n";
      continue;
    }
    text += std::to_string(at.count) + " times, mean " +
            in_microseconds(sum / static_cast<double>(at.count)) + ", most " +
            in_microseconds(tick_clock::nanoseconds(at.most)) + ", planned " +
            in_microseconds(plan.costs[i]) + "\n";
  }
  for (std::uint32_t m = 0; m < plan.members; ++m) {
    text += "member " + std::to_string(m) + ": in nodes " + in_microseconds(busy[m]) +
            " an iteration, lost " + in_microseconds(each > busy[m] ? each - busy[m] : 0) + "\n";
  }
  return text;
}

#endif

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_GRAPH_PLAN_REPORT_HPP

#if LOCKSTEP_HAS_BODIES

// lockstep/detail/graph/plan.ipp -- the bodies of plan.hpp and plan_body.hpp (layer: graph)
#ifndef LOCKSTEP_DETAIL_GRAPH_PLAN_IPP
#define LOCKSTEP_DETAIL_GRAPH_PLAN_IPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

template <class Team>
struct plan_doors {
  static bool run(void* held, std::size_t members, plan_part& part) {
    return static_cast<Team*>(held)->run(members, part);
  }
  static void request_stop(void* held) { static_cast<Team*>(held)->request_stop(); }
};

LOCKSTEP_COLD plan_host plan_access::doors_of(lockstep::team& of) {
  return {
      &of,
      of.size(),
      of.body_->core.policy(),
      &of.body_->core.stop(),
      plan_doors<lockstep::team>::run,
      [](void* held, const shares_request& wanted, job& what) {
        lockstep::team& on = *static_cast<lockstep::team*>(held);
        return team_core::run_shares(on.door_, &on.body_->core, on.body_->threads, wanted, what);
      },
      [](void* held, plan_part& part) { return static_cast<lockstep::team*>(held)->start(part); },
      plan_doors<lockstep::team>::request_stop,
      [](void* held) { return static_cast<lockstep::team*>(held)->body_->core.started() != 0; }};
}

LOCKSTEP_COLD plan_host plan_access::doors_of(lockstep::external_team& of) {
  return {&of,
          of.size(),
          of.body_->core.policy(),
          &of.body_->core.stop(),
          plan_doors<lockstep::external_team>::run,
          [](void* held, const shares_request& wanted, job& what) {
            lockstep::external_team& on = *static_cast<lockstep::external_team*>(held);
            on.check_parent();
            return team_core::run_shares(on.door_, &on.body_->core, on.body_->servers, wanted,
                                         what);
          },
          nullptr,
          plan_doors<lockstep::external_team>::request_stop,
          nullptr};
}

LOCKSTEP_COLD plan_body::plan_body(const graph_body& of, const plan_host& on, std::size_t members)
    : model(of.model),
      checked(make_flow(of.model)),
      functions(of.functions),
      host(on),
      most_members(members) {
  if (!checked.problem.empty()) fail_argument(("lockstep::plan: " + checked.problem).c_str());
  bool has_hints = false;
  for (const model_node& each : model.nodes) {
    costs.push_back(each.cost);
    needs_all |= each.is_wide || each.pin != no_node;
    has_hints |= each.cost >= 0;
  }
  make();
  learns = !has_hints && !needs_all && host.team != nullptr && machine->plan.members > 1;
}

LOCKSTEP_COLD void plan_body::make() {
  flow_plan made = make_flow_plan(model, checked, costs, most_members);
  if (!made.problem.empty()) fail_argument(("lockstep::plan: " + made.problem).c_str());
  owner<flow_machine> fresh(
      new flow_machine(model, checked, std::move(made), functions, host.policy, host.stop));
  machine = std::move(fresh);
}

LOCKSTEP_COLD bool plan_body::take_times(double nanoseconds_a_tick) {
  bool has_some = false;
  const std::uint64_t clock = time_of_nothing();
  for (std::size_t i = 0; i < model.nodes.size(); ++i) {
    const node_times& of = machine->times[i];
    if (of.count == 0) continue;
    has_some = true;
    double ticks = detail::usual_time(of, clock);
    // Of few samples several may have been preempted.
    if (learns) ticks = (std::min)(ticks, 2 * static_cast<double>(of.least));
    costs[i] = nanoseconds_a_tick * ticks;
  }
  return has_some;
}

LOCKSTEP_COLD bool plan_body::refine(double nanoseconds_a_tick) {
  const bool has_some = take_times(nanoseconds_a_tick);
  if (has_some) make();
  return has_some;
}

LOCKSTEP_COLD bool plan_body::are_times_as_guessed() const noexcept {
  constexpr double about = 1.5, most = 0.01;
  const auto time_of = [](double cost) { return cost < 0 ? usual_node_time : cost; };
  const auto is_about = [](double time, double other, double factor) {
    return time < factor * other && factor * time > other;
  };
  double sum = 0, wrong = 0;
  for (const double each : costs) sum += time_of(each);
  const double mean = sum / static_cast<double>(costs.size());
  for (const double each : costs) {
    if (!is_about(time_of(each), mean, about)) wrong += std::fabs(time_of(each) - mean);
  }
  return is_about(mean, usual_node_time, 2) && wrong <= most * sum;
}

LOCKSTEP_COLD void plan_body::learn() {
  constexpr std::uint64_t most_samples = 16, enough = 5;
  iterations_to_time -= machine->timed_iterations;
  // Loops take many samples in an iteration.
  std::uint64_t samples = 0;
  for (const node_times& each : machine->times) samples += each.count;
  if (iterations_to_time == 0 || samples >= enough * machine->times.size()) {
    const std::uint64_t ticks = tick_clock::now() - begin_of_ticks,
                        time = detail::monotonic_nanoseconds() - begin_of_time;
    if (ticks != 0 && take_times(static_cast<double>(time) / static_cast<double>(ticks)) &&
        !are_times_as_guessed()) {
      make();
      learnt_from = runs;
    }
    learns = false;
    return;
  }
  if (begin_of_ticks == 0) {
    begin_of_ticks = tick_clock::now();
    begin_of_time = detail::monotonic_nanoseconds();
  }
  machine->timed_iterations =
      gate != nullptr || iterations > iterations_to_time ? iterations_to_time : iterations;
  machine->most_samples = most_samples;
}

LOCKSTEP_COLD plan_body* make_plan(const graph& of, const plan_host& on, std::size_t members) {
  checked_range("lockstep::plan", "members", members, 1,
                on.team != nullptr ? on.size : std::size_t{max_participants});
  return new plan_body(graph_access::body_of(of), on, members);
}

LOCKSTEP_COLD void plan_body::check_ready(const char* function) {
  const char* why = nullptr;
  if (host.team == nullptr) why = "the plan was made without a team, to look at";
  if (is_running) why = "the plan runs; a node cannot run the plan that it is part of";
  if (has_started && host.is_open(host.team)) why = "a run was started, and not joined";
  if (why != nullptr) {
    fail_use((std::string("lockstep::plan::") + function + ": " + why).c_str());
  }
  if (has_started) end_started();
}

LOCKSTEP_COLD void plan_body::end_started() {
  has_started = false;
  if (!was_alone) machine->end(!machine->is_done());
}

/// Marks a plan as running, and puts its lanes in order afterwards.
class plan_run {
 public:
  explicit plan_run(plan_body& of) noexcept : of_(of) {
    of_.is_running = true;
    of_.was_alone = false;
  }
  ~plan_run() {
    of_.is_running = false;
    if (!of_.was_alone) of_.machine->end(!is_complete);
  }
  plan_run(const plan_run&) = delete;
  plan_run& operator=(const plan_run&) = delete;

  bool is_complete = false;

 private:
  plan_body& of_;
};

LOCKSTEP_OUT_OF_LINE bool plan_body::run(std::uint64_t count, const iteration_gate* asks,
                                         const char* function) {
  if (is_running || has_started || host.team == nullptr) check_ready(function);
  if (count == 0) return true;
  iterations = count;
  gate = asks;
  if (learns) learn();
  machine->begin(count, asks);
  plan_run here(*this);
  here.is_complete = machine->plan.members == 1 || needs_all
                         ? host.run(host.team, machine->plan.members, part)
                         : run_shares(count);
  return here.is_complete;
}

/// What members that come are worth is learned from how long runs take: the first ones, then one in 16, and all that
/// last.
LOCKSTEP_OUT_OF_LINE bool plan_body::run_shares(std::uint64_t count) {
  constexpr double worth_a_look = 10000;
  const flow_plan& plan = machine->plan;
  const double times = static_cast<double>(count);
  const bool is_timed = runs < 4 || runs % 16 == 0 || time_alone * times > worth_a_look;
  ++runs;
  const double speed_up =
      plan.predicted_time > 0 ? (std::max)(plan.serial_time / plan.predicted_time, 1.0) : 1.0;
  const bool is_known = gate == nullptr && runs > 1;
  const shares_request wanted = {
      static_cast<std::uint32_t>(plan.members),
      is_known ? time_alone * times * (1 - 1 / speed_up) : std::numeric_limits<double>::infinity()};
  const std::uint64_t begin = is_timed ? detail::monotonic_nanoseconds() : 0;
  job what;
  const auto share = [this](loop_share& me) { take_part(me); };
  what.assign<loop_share>(share);
  const shares_outcome made = host.run_shares(host.team, wanted, what);
  if (is_timed && gate == nullptr && made.is_complete) {
    const double took = static_cast<double>(detail::monotonic_nanoseconds() - begin);
    const double each = took / times * (made.all_came ? speed_up : 1);
    time_alone = runs == 1 ? each : (time_alone + each) / 2;
  }
  return made.is_complete;
}

LOCKSTEP_OUT_OF_LINE started_region plan_body::start(std::uint64_t count) {
  if (is_running || has_started || host.team == nullptr) check_ready("start");
  if (host.start == nullptr) {
    fail_use("lockstep::plan::start: an external_team cannot start a region without its caller");
  }
  iterations = count;
  gate = nullptr;
  was_alone = false;
  if (learns) learn();
  machine->begin(count, nullptr);
  // Before the region: its nodes may ask. Taken back where the team refuses.
  struct mark {
    bool& is_set;
    bool is_kept;
    ~mark() {
      if (!is_kept) is_set = false;
    }
  } started = {has_started, false};
  has_started = true;
  started_region made = host.start(host.team, part);
  started.is_kept = true;
  return made;
}

LOCKSTEP_OUT_OF_LINE void plan_body::take_part(loop_share& me) {
  if (me.is_alone()) {
    was_alone = true;
    machine->run_alone(iterations, gate, nullptr, stop_question::of(me));
  } else {
    flow_walk(*machine, me.rank(), *host.stop, me.region()).walk();
  }
}

LOCKSTEP_OUT_OF_LINE void plan_part::operator()(member& me) const {
  const member_state& state = member_access::state_of(me);
  if (me.size() == 1) {
    of->was_alone = true;
    of->machine->run_alone(of->iterations, of->gate, &me, stop_question::of(state));
  } else if (me.rank() < of->machine->plan.members) {
    flow_walk(*of->machine, me.rank(), *of->host.stop, state.region()).walk();
  }
}

/// Runs look at the clock while it lives.
class timed_plan {
 public:
  explicit timed_plan(plan_body& of) : machine_(*of.machine) {
    if (of.is_running || of.has_started) of.check_ready("measure");
    of.learns = false;
    machine_.timed_iterations = machine_.most_samples = ~std::uint64_t{0};
  }
  ~timed_plan() { machine_.timed_iterations = 0; }
  timed_plan(const timed_plan&) = delete;
  timed_plan& operator=(const timed_plan&) = delete;

 private:
  flow_machine& machine_;
};

LOCKSTEP_COLD std::chrono::nanoseconds whole_nanoseconds(double time) {
  return std::chrono::nanoseconds(static_cast<std::chrono::nanoseconds::rep>(time));
}

LOCKSTEP_OUT_OF_LINE bool run_plan(plan_body& of, std::size_t iterations) {
  return of.run(iterations, nullptr, "run");
}
LOCKSTEP_OUT_OF_LINE bool run_plan_until(plan_body& of, const iteration_gate& gate) {
  return of.run(1, &gate, "run_until");
}
LOCKSTEP_OUT_OF_LINE started_region start_plan(plan_body& of, std::size_t iterations) {
  return of.start(iterations);
}
LOCKSTEP_COLD std::size_t max_ahead_of(const plan_body& of) noexcept {
  return static_cast<std::size_t>(of.machine->ahead);
}
LOCKSTEP_COLD std::size_t members_of(const plan_body& of) noexcept {
  return of.machine->plan.members;
}

}  // namespace detail

LOCKSTEP_COLD plan::plan(const graph& of, std::size_t members)
    : body_(detail::make_plan(of, detail::plan_host(), members)) {}
LOCKSTEP_COLD plan::~plan() {
  if (body_ && body_->has_started) body_->end_started();
}
LOCKSTEP_COLD plan::plan(plan&& other) noexcept = default;

LOCKSTEP_OUT_OF_LINE bool plan::measure(std::size_t iterations) {
  const detail::timed_plan here(*body_);
  const std::uint64_t begin = detail::monotonic_nanoseconds();
  const bool completed = body_->run(iterations, nullptr, "measure");
  body_->measured_time += detail::monotonic_nanoseconds() - begin;
  body_->measured_iterations += iterations;
  return completed;
}

LOCKSTEP_OUT_OF_LINE timed_run plan::run_by(deadline until) {
  const std::uint64_t begin = detail::monotonic_nanoseconds();
  timed_run made = timed_run();
  {
    const detail::timed_plan here(*body_);
    made.completed = body_->run(1, nullptr, "run_by");
  }
  const std::uint64_t end = detail::monotonic_nanoseconds();
  body_->measured_time += end - begin;
  ++body_->measured_iterations;
  made.took = std::chrono::nanoseconds(end - begin);
  made.in_time = end <= until.nanoseconds();
  if (made.in_time) return made;
  // A deadline keeps no time before it was made.
  made.late = std::chrono::nanoseconds(end - (std::max)(until.nanoseconds(), begin));
  made.cause = detail::cause_of_delay(*body_, made.excess);
  return made;
}

LOCKSTEP_COLD bool plan::refine() {
  if (body_->is_running || body_->has_started) body_->check_ready("refine");
  body_->learns = false;
  const bool is_new = body_->refine(1e9 / detail::tick_clock::rate());
  if (is_new) body_->learnt_from = 0;
  return is_new;
}

LOCKSTEP_COLD std::chrono::nanoseconds plan::critical_path() const {
  return detail::whole_nanoseconds(body_->machine->plan.critical_path);
}
LOCKSTEP_COLD std::chrono::nanoseconds plan::serial_time() const {
  return detail::whole_nanoseconds(body_->machine->plan.serial_time);
}
LOCKSTEP_COLD std::chrono::nanoseconds plan::predicted_time() const {
  return detail::whole_nanoseconds(body_->machine->plan.predicted_time);
}

LOCKSTEP_COLD std::string plan::report() const { return detail::report_of(*body_); }

LOCKSTEP_COLD std::string plan::dot() const {
  return detail::dot_of(body_->model, body_->checked, body_->machine->plan);
}

LOCKSTEP_COLD std::string plan::text() const {
  return detail::text_of(body_->model, body_->machine->plan);
}

LOCKSTEP_COLD void plan::request_stop() {
  if (body_->host.team != nullptr) body_->host.request_stop(body_->host.team);
}

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_GRAPH_PLAN_IPP

#endif

#if LOCKSTEP_HAS_BODIES

// lockstep/detail/team/region.ipp -- the bodies of region.hpp (layer: team)
#ifndef LOCKSTEP_DETAIL_TEAM_REGION_IPP
#define LOCKSTEP_DETAIL_TEAM_REGION_IPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {

started_region& started_region::operator=(started_region&& other) {
  if (this == &other) return *this;
  let_go();
  door_ = other.door_;
  core_ = other.core_;
  number_ = other.number_;
  in_flight_ = other.in_flight_;
  other.core_ = nullptr;
  return *this;
}

started_region::~started_region() noexcept(false) { let_go(); }

LOCKSTEP_OUT_OF_LINE bool started_region::join() {
  if (!*this) {
    detail::fail_use(
        "lockstep::started_region::join: there is no region to be joined: it was joined, or moved "
        "to another handle");
  }
  if (!core_->can_join()) detail::fail_use(refusal());
  return join_now();
}

LOCKSTEP_COLD void started_region::let_go() {
  if (!*this) {
    core_ = nullptr;
    return;
  }
  if (!core_->can_join()) {
    std::fprintf(stderr, "%s; its handle was let go, so that it could never end\n", refusal());
    std::abort();
  }
  if (detail::exceptions_in_flight() > in_flight_) {
    detail::team_core& core = *core_;
    core_ = nullptr;
    const detail::caller_turn mine(door_->callers(), detail::has_begun_t());
    core.give_up();
  } else {
    join_now();
  }
}

LOCKSTEP_OUT_OF_LINE bool started_region::join_now() {
  detail::team_core& core = *core_;
  core_ = nullptr;
  const detail::caller_turn mine(door_->callers(), detail::has_begun_t());
  return core.join();
}

LOCKSTEP_COLD const char* started_region::refusal() const noexcept {
  return core_->has_started() ? "lockstep::started_region::join: this thread has started or "
                                "entered another region "
                                "since; join those first"
                              : "lockstep::started_region::join: the region was started by "
                                "another thread, which has "
                                "to join it";
}

inside_region::inside_region(const region_token& of) : before_(detail::nesting::innermost()) {
  if (of.where_ == nullptr) return;
  if (detail::diagnoses_misuse && detail::nesting::number_of(*of.where_) != of.number_) {
    std::fprintf(
        stderr,
        "lockstep::inside_region: the region of this token is over; a member of it has to wait "
        "for the threads that use the token\n");
    std::abort();
  }
  std::size_t count = 0;
  for (const detail::nesting::region* at = of.where_; at != nullptr; at = at->outer) ++count;
  copies_ = new detail::nesting::region[count];
  std::size_t i = 0;
  for (const detail::nesting::region* at = of.where_; at != nullptr; at = at->outer, ++i) {
    copies_[i] = *at;
    copies_[i].outer = i + 1 < count ? &copies_[i + 1] : before_;
  }
  detail::nesting::innermost() = copies_;
}

inside_region::~inside_region() {
  detail::nesting::innermost() = before_;
  delete[] copies_;
}

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_REGION_IPP

#endif

#if LOCKSTEP_HAS_BODIES

// lockstep/detail/graph/flow_machine.ipp -- the bodies of flow_machine.hpp (layer: graph)
#ifndef LOCKSTEP_DETAIL_GRAPH_FLOW_MACHINE_IPP
#define LOCKSTEP_DETAIL_GRAPH_FLOW_MACHINE_IPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

LOCKSTEP_COLD flow_machine::flow_machine(const graph_model& of, const flow& checked, flow_plan made,
                                         const growing_array<node_function>& functions,
                                         wait_policy policy, stop_source* stop)
    : plan(std::move(made)),
      board(plan.lanes.size(), policy, stop),
      wide_of(of.nodes.size(), nullptr),
      wide_number(of.nodes.size(), 0),
      times(of.nodes.size()),
      walkers(plan.members),
      questions_begin_(1, 0),
      answers_(of.nodes.size(), 0),
      origin_(checked.most_delay) {
  for (std::size_t i = 0; i < of.nodes.size(); ++i) {
    for (const std::uint32_t* e = checked.in.first(i); e != checked.in.last(i); ++e) {
      if (!checked.may_be_skipped[i]) continue;
      const model_edge& edge = checked.edges[*e];
      questions_.push_back({checked.tells(edge) ? edge.from : no_node, edge.kind});
    }
    questions_begin_.push_back(static_cast<std::uint32_t>(questions_.size()));
    if (!of.nodes[i].is_wide || stop == nullptr) continue;
    wide_parts_.push_back(owner<wide_part>(new wide_part(plan.width_of[i], policy, *stop)));
    wide_of[i] = wide_parts_.back().get();
    wide_number[i] = static_cast<std::uint32_t>(wide_parts_.size() - 1);
  }
  for (const plan_call& each : plan.calls) calls.push_back(bind(of, checked, functions, each));
  for (const node_index each : plan.line) {
    line.push_back(bind(of, checked, functions, plan_call{each, 0}));
    is_plain_ = is_plain_ && line.back().flags == 0;
  }
  for (std::size_t rank = 0; rank < plan.members; ++rank) {
    walker_state& own = walkers[rank].value;
    // What members write all the time is not to share lines with what others do: some room after it.
    own.seen.reserve(plan.lanes.size() + 2 * cache_line_size / sizeof(std::uint64_t));
    own.seen.assign(plan.lanes.size(), 0);
    own.entered.assign(wide_parts_.size(), 0);
    std::size_t most = 0;
    for (const flow_block& each : checked.blocks) most = each.depth > most ? each.depth : most;
    own.places.reserve(most + 1 + 2 * cache_line_size / sizeof(lane_place));
    own.places.resize(most + 1);
  }
  first = last = origin_;
  ahead = checked.overlaps ? std::uint64_t{checked.most_delay} + 1 : 0;
  reset();
}

LOCKSTEP_COLD flow_machine::~flow_machine() = default;

LOCKSTEP_COLD bound_call flow_machine::bind(const graph_model& of, const flow& checked,
                                            const growing_array<node_function>& functions,
                                            plan_call what) const {
  const node_function* const f = what.node < functions.size() ? &functions[what.node] : nullptr;
  bound_call made = bound_call();
  made.call = [](void*, std::size_t, member*) -> bool { return true; };
  if (f != nullptr && *f) {
    made.call = f->call();
    made.held = f->held();
  }
  made.node = what.node;
  made.rank = static_cast<std::uint16_t>(what.rank);
  const bool is_asked = checked.is_asked[what.node] || checked.loop_from[what.node] != 0;
  made.flags = static_cast<std::uint16_t>(
      (of.nodes[what.node].is_wide ? bound_call::is_wide : 0) |
      (checked.may_be_skipped[what.node] ? bound_call::may_be_skipped : 0) |
      (is_asked ? bound_call::is_asked : 0));
  return made;
}

LOCKSTEP_COLD void flow_machine::reset() noexcept {
  for (std::size_t lane = 0; lane < plan.lanes.size(); ++lane) {
    const plan_lane& of = plan.lanes[lane];
    // A loop in the graph is over as often as the graph has turns.
    const bool is_outer = of.block != 0 && plan.lanes[of.parent].block == 0;
    board.reset(lane, of.block == 0 ? first * of.steps : 0, loop_decision(is_outer ? first : 0, 0));
  }
  for (std::size_t rank = 0; rank < plan.members; ++rank) {
    walker_state& own = walkers[rank].value;
    for (std::uint64_t& each : own.seen) each = 0;
    for (lane_place& each : own.places) each.is_behind = false;
  }
}

LOCKSTEP_OUT_OF_LINE void flow_machine::begin(std::uint64_t iterations,
                                              const iteration_gate* asks) {
  gate = asks;
  last = asks != nullptr ? ~std::uint64_t{0} : first + iterations;
  if (asks != nullptr) board.gate().reset(first << 1);
  for (const owner<wide_part>& each : wide_parts_) {
    each->phase = each->shared.begin(each->shared.most());
  }
}

LOCKSTEP_OUT_OF_LINE void flow_machine::end(bool was_stopped) {
  for (const owner<wide_part>& each : wide_parts_) {
    each->shared.end(was_stopped);
    each->shared.destroy_kept_values();
  }
  if (gate != nullptr) last = board.gate().peek() >> 1;
  gate = nullptr;
  if (!was_stopped) {
    first = last;
    return;
  }
  first = last = origin_;
  reset();
}

LOCKSTEP_COLD bool flow_machine::is_done() const noexcept {
  for (std::size_t lane = 0; lane < plan.lanes.size(); ++lane) {
    const plan_lane& of = plan.lanes[lane];
    if (of.block == 0 && board.done(lane).value() != last * of.steps) return false;
  }
  return true;
}

LOCKSTEP_COLD bool flow_machine::is_skipped(node_index node) const noexcept {
  bool one_ran = false;
  for (std::uint32_t q = questions_begin_[node]; q < questions_begin_[node + 1]; ++q) {
    if (questions_[q].node == no_node) {
      one_ran = true;
      continue;
    }
    const std::uint8_t said = answers_[questions_[q].node];
    one_ran |= (said & ran) != 0;
    if (questions_[q].kind == edge_kind::if_true && said != (ran | said_true)) return true;
    if (questions_[q].kind == edge_kind::if_false && said != ran) return true;
  }
  return !one_ran;
}

LOCKSTEP_OUT_OF_LINE void flow_machine::run_asked(const bound_call& what, std::uint64_t iteration,
                                                  member* me) {
  std::uint8_t said = 0;
  if ((what.flags & bound_call::may_be_skipped) == 0 || !is_skipped(what.node)) {
    bool result;
    if (is_timed(what, iteration)) {
      const std::uint64_t begin = tick_clock::now();
      result = what.call(what.held, static_cast<std::size_t>(iteration), me);
      note_time(what, begin);
    } else {
      result = what.call(what.held, static_cast<std::size_t>(iteration), me);
    }
    said = static_cast<std::uint8_t>(result ? ran | said_true : ran);
  }
  if (what.rank == 0) answers_[what.node] = said;
}

LOCKSTEP_OUT_OF_LINE void flow_machine::run_timed(const bound_call& what, std::uint64_t iteration,
                                                  member* me) {
  const bool notes = is_timed(what, iteration);
  const std::uint64_t begin = tick_clock::now();
  what.call(what.held, static_cast<std::size_t>(iteration), me);
  if (notes) note_time(what, begin);
}

LOCKSTEP_COLD void flow_machine::note_time(const bound_call& what, std::uint64_t begin) noexcept {
  if (what.rank != 0) return;
  node_times& at = times[what.node];
  at.last_begin = begin;
  at.last_end = tick_clock::now();
  const std::uint64_t took = at.last_end - begin;
  ++at.count;
  at.sum += took;
  if (took > at.most) at.most = took;
  if (took < at.least) at.least = took;
}

/// Where no node has to be asked anything. A loop as short as it can be: nodes may take as little as a nanosecond.
LOCKSTEP_OUT_OF_LINE bool flow_machine::run_plain(std::uint64_t iterations,
                                                  const stop_question& stop) {
  const bound_call *const begin = line.data(), *const end = begin + line.size();
  for (std::uint64_t i = 0; i < iterations; ++i) {
    if (stop()) return false;
    if (i < timed_iterations) {
      for (const bound_call& each : line) run_timed(each, i, nullptr);
      continue;
    }
    for (const bound_call* at = begin; at != end; ++at) {
      at->call(at->held, static_cast<std::size_t>(i), nullptr);
    }
  }
  return !stop();
}

LOCKSTEP_OUT_OF_LINE bool flow_machine::run_alone(std::uint64_t iterations,
                                                  const iteration_gate* asks, member* me,
                                                  const stop_question& stop) {
  if (is_plain_ && asks == nullptr) return run_plain(iterations, stop);
  for (std::uint64_t i = 0; asks != nullptr || i < iterations; ++i) {
    if (stop()) return false;
    if (asks != nullptr && asks->call(asks->stop)) return true;
    for (std::size_t at = 0; at < line.size();) {
      const bound_call& what = line[at];
      if (what.flags == 0) {
        run(what, i, nullptr);
        ++at;
        continue;
      }
      run_asked(what, i, me);
      if ((what.flags & bound_call::is_wide) != 0 && stop()) return false;
      if (plan.again[at] != no_lane && answer(what.node)) {
        if (stop()) return false;
        at = plan.again[at];
      } else {
        ++at;
      }
    }
  }
  return !stop();
}

/// The median: two looks that follow each other at once may see the same tick now and then.
LOCKSTEP_COLD std::uint64_t time_of_nothing() noexcept {
  constexpr std::size_t count = 31;
  const node_function::caller volatile nothing = [](void*, std::size_t, member*) -> bool {
    return true;
  };
  std::uint64_t took[count];
  for (std::uint64_t& each : took) {
    const std::uint64_t begin = tick_clock::now();
    nothing(nullptr, 0, nullptr);
    each = tick_clock::now() - begin;
  }
  sort_by(took, count, [](std::uint64_t x, std::uint64_t y) { return x < y; });
  return took[count / 2];
}

LOCKSTEP_COLD double usual_time(const node_times& of, std::uint64_t clock) noexcept {
  const bool has_many = of.count > 2;
  const std::uint64_t count = has_many ? of.count - 1 : of.count;
  const std::uint64_t sum = has_many ? of.sum - of.most : of.sum;
  constexpr std::uint64_t little = 10;  // times the clock
  if (sum < little * clock * count) {
    return of.least < 2 * clock ? 0 : static_cast<double>(of.least - clock);
  }
  return static_cast<double>(sum - clock * count) / static_cast<double>(count);
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_GRAPH_FLOW_MACHINE_IPP

#endif

#if LOCKSTEP_HAS_BODIES

// lockstep/detail/team/team.ipp -- the bodies of team.hpp (layer: team)
#ifndef LOCKSTEP_DETAIL_TEAM_TEAM_IPP
#define LOCKSTEP_DETAIL_TEAM_TEAM_IPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {

team::team() : team(team_options()) {}

team::team(std::size_t members)
    : team(team_options().members(detail::checked_count("lockstep::team", "members", members))) {}

team::team(std::size_t members, wait_policy policy)
    : team(team_options()
               .members(detail::checked_count("lockstep::team", "members", members))
               .policy(policy)) {}

team::team(const team_options& options) : team(options, detail::resolve(options)) {}

team::~team() {
  if (body_->core.is_inside()) {
    end_of_program("destroyed, or its program ended, inside its own region");
  }
  if (!door_.shut()) body_.leave();
}

void team::pause() {
  check_outside("pause");
  const detail::caller_turn mine(door_.callers());
  body_->threads.stop();
}

void team::resume() {
  check_outside("resume");
  const detail::caller_turn mine(door_.callers());
  body_->threads.make_ready();
}

void team::request_stop() { body_->core.request_stop(); }

LOCKSTEP_COLD team::team(const team_options& options, const detail::resolved_team& made)
    : door_(made.members, made.policy, "lockstep::team", made.name.c_str()),
      body_(made, door_, options) {
  detail::display_first_team(made);
  body_->threads.make_ready();
}

[[noreturn]] LOCKSTEP_COLD void team::refuse_inside(const char* function) {
  char message[192];
  std::snprintf(message, sizeof message,
                "lockstep::team::%s: called inside a region of this team, or of one that was "
                "made later, and "
                "would wait for it; call it after run() has returned",
                function);
  detail::fail_use(message);
}

[[noreturn]] LOCKSTEP_COLD void team::end_of_program(const char* why) {
  std::fprintf(stderr, "lockstep::team: %s; leave the region first\n", why);
  std::abort();
}

LOCKSTEP_COLD void team::in_child(void* self) noexcept {
  body& at = *static_cast<team*>(self)->body_.operator->();
  at.threads.forget();
  at.core.forget_others();
}

LOCKSTEP_OUT_OF_LINE bool team::run_loop(const detail::loop_request& of, detail::job& what,
                                         const detail::loop_ends& ends) {
  return detail::team_core::run_loop(door_, &body_->core, body_->threads, of, what, ends);
}

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_TEAM_IPP

#endif

// lockstep/detail/graph/flow_simulation.hpp -- goes through a plan without threads (layer: graph)
//
// Pure. As the members will (flow_walk.hpp), but one after the other, each as far as it comes: so a plan that could get
// stuck does so here. Times are counted along, to predict how long an iteration takes.
#ifndef LOCKSTEP_DETAIL_GRAPH_FLOW_SIMULATION_HPP
#define LOCKSTEP_DETAIL_GRAPH_FLOW_SIMULATION_HPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// Goes through some iterations, each loop twice. Empty, or where the plan would get stuck. Sets predicted_time.
LOCKSTEP_COLD std::string simulate(const flow& checked, flow_plan& of);

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_GRAPH_FLOW_SIMULATION_HPP

// lockstep/detail/graph/flow_schedule.hpp -- list scheduling of a block, loops as one item (layer: graph)
//
// Pure, for flow_planner.ipp. The items of a block are its nodes and the loops in it. A loop is scheduled first, for
// members that are numbers only; the block around chooses which members they are, and these are in the loop until it
// ends. Where a node is pinned, they are as they are numbered.
#ifndef LOCKSTEP_DETAIL_GRAPH_FLOW_SCHEDULE_HPP
#define LOCKSTEP_DETAIL_GRAPH_FLOW_SCHEDULE_HPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// A node is an item by its number; a loop by its block's, after all nodes.
struct placed_item {
  std::uint32_t item;
  double start;
  std::uint32_t first_member, last_member;  ///< in block_schedule::members
};

struct item_edge {
  std::uint32_t from, to;
};

struct block_schedule {
  growing_array<std::uint32_t> items;
  growing_array<item_edge> edges;
  growing_array<placed_item> placed;  ///< in order
  growing_array<std::uint32_t> members;
  std::uint32_t used = 0;  ///< how many members
  bool is_bound = false;   ///< to their numbers
  double length = 0;
  double critical_path = 0;
};

class flow_scheduler {
 public:
  LOCKSTEP_COLD flow_scheduler(const graph_model& of, const flow& checked,
                               const growing_array<double>& costs, std::uint32_t members);

  growing_array<block_schedule> blocks;

 private:
  struct arrival {
    double latest, second;  ///< when the last value is there; the last from another member
    std::uint32_t home;
  };

  LOCKSTEP_COLD void collect();
  LOCKSTEP_COLD void schedule(std::uint32_t block);
  LOCKSTEP_COLD void choose(block_schedule& in, std::uint32_t item, const arrival& at,
                            std::uint32_t next, growing_array<double>& free, placed_item& place);
  double start_on(const arrival& at, double free, std::uint32_t member) const noexcept {
    const double there =
        member == at.home || at.home == no_lane
            ? (at.latest > at.second + crossing_time || at.second < 0 ? at.latest
                                                                      : at.second + crossing_time)
            : at.latest + crossing_time;
    return there > free ? there : free;
  }
  double length_of(std::uint32_t item) const noexcept {
    return item < nodes_ ? costs_[item] : blocks[item - nodes_].length;
  }

  const graph_model& of_;
  const flow& flow_;
  const growing_array<double>& costs_;
  const std::uint32_t nodes_, members_;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_GRAPH_FLOW_SCHEDULE_HPP

// lockstep/detail/graph/flow_waits.hpp -- which operations of a plan have to wait for which (layer: graph)
//
// Pure, for flow_planner.ipp. For each lane it is known, operation by operation, how far every other lane must be when
// this one is there. What is known already needs no wait.
#ifndef LOCKSTEP_DETAIL_GRAPH_FLOW_WAITS_HPP
#define LOCKSTEP_DETAIL_GRAPH_FLOW_WAITS_HPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// What a lane has at one place, before operations are joined to steps.
struct lane_operation {
  std::uint32_t item;
  std::uint32_t rank;   ///< of a team-wide node
  std::uint32_t order;  ///< of its item in the block
  std::uint32_t first_wait, last_wait;
  std::uint32_t step;
  bool is_awaited;
  bool is_decision;  ///< nothing else
};
struct lane_spot {
  std::uint32_t lane, at;
};
struct spot_range {
  std::uint32_t first, last;
};

/// The lanes of a schedule.
struct flow_layout {
  growing_array<growing_array<lane_operation>> operations;  ///< of each lane
  growing_array<lane_spot> spots;
  growing_array<spot_range> place_of;  ///< of each item, in `spots`
  growing_array<plan_wait> waits;      ///< `steps` is the place of an operation
};

/// Finds the waits of each block.
class flow_waits {
 public:
  LOCKSTEP_COLD flow_waits(const graph_model& of, const flow& checked,
                           const flow_scheduler& schedule, const flow_plan& made,
                           flow_layout& layout)
      : of_(of),
        flow_(checked),
        schedule_(schedule),
        made_(made),
        layout_(layout),
        nodes_(static_cast<std::uint32_t>(of.nodes.size())) {}

  LOCKSTEP_COLD void find() {
    for (std::uint32_t block = 0; block < flow_.blocks.size(); ++block) find_waits(block);
  }

 private:
  struct need {
    lane_spot what;
    std::uint32_t delay;
    std::int64_t order;

    /// The latest first.
    static bool comes_before(const need& a, const need& b) noexcept {
      return a.order > b.order || (a.order == b.order && a.what.lane < b.what.lane);
    }
  };
  /// How far a lane is known to be: operations done, counted from the beginning of this turn.
  using knowledge = growing_array<std::int64_t>;

  lane_operation& operation_at(const lane_spot& at) const {
    return layout_.operations[at.lane][at.at];
  }

  /// In `block` or further inside: the item of the block that has the node.
  std::uint32_t item_in(std::uint32_t block, node_index node) const noexcept {
    std::uint32_t at = flow_.block_of[node];
    if (at == block) return node;
    while (flow_.blocks[at].parent != block) at = flow_.blocks[at].parent;
    return nodes_ + at;
  }
  std::int64_t order_of(std::uint32_t item) const {
    const lane_spot& at = layout_.spots[layout_.place_of[item].first];
    return operation_at(at).order;
  }
  std::int64_t length(std::uint32_t lane) const {
    return static_cast<std::int64_t>(layout_.operations[lane].size());
  }

  /// What has to be done for the item to be: a loop is over when the member that decides has left it.
  LOCKSTEP_COLD void need_item(std::uint32_t item, std::uint32_t delay,
                               growing_array<need>& needs) {
    const spot_range& place = layout_.place_of[item];
    const std::int64_t order =
        order_of(item) - std::int64_t{delay} * (std::numeric_limits<std::int32_t>::max)();
    for (std::uint32_t k = place.first; k < place.last; ++k) {
      if (item >= nodes_) {
        const std::uint32_t decider = made_.decider[item - nodes_];
        if (made_.lanes[layout_.spots[k].lane].member != made_.lanes[decider].member) continue;
      }
      needs.push_back({layout_.spots[k], delay, order});
    }
  }
  bool decides(std::uint32_t block, std::uint32_t item) const noexcept {
    return block != 0 && item == flow_.blocks[block].from;
  }
  /// The end of each lane. All nodes come before the one that decides; but who is in a loop further inside has to
  /// leave it.
  LOCKSTEP_COLD void need_turn(growing_array<need>& needs) {
    for (const std::uint32_t lane : own_) {
      const std::uint32_t last = static_cast<std::uint32_t>(layout_.operations[lane].size() - 1);
      needs.push_back({{lane, last}, 0, layout_.operations[lane][last].order});
    }
  }
  /// Whether the member of this lane runs the first node of the item, or all of it.
  LOCKSTEP_COLD bool enters(std::uint32_t item, std::uint32_t lane) const {
    if (item < nodes_) return true;
    const spot_range& place = layout_.place_of[flow_.blocks[item - nodes_].to];
    for (std::uint32_t k = place.first; k < place.last; ++k) {
      if (made_.lanes[layout_.spots[k].lane].member == made_.lanes[lane].member) return true;
    }
    return false;
  }
  LOCKSTEP_COLD void find_waits(std::uint32_t block) {
    const block_schedule& of = schedule_.blocks[block];
    growing_array<model_edge> edges;
    for (const item_edge& each : of.edges) {
      edges.push_back({each.from, each.to, edge_kind::plain});
    }
    const adjacency in = edges_by(edges, layout_.place_of.size(), true),
                    out = edges_by(edges, layout_.place_of.size(), false);
    growing_array<model_edge> delays;
    if (block == 0) {
      for (std::uint32_t i = 0; i < flow_.delayed.size(); ++i) {
        delays.push_back({i, item_in(0, flow_.delayed[i].to), edge_kind::plain});
      }
    }
    const adjacency delayed = edges_by(delays, layout_.place_of.size(), true);

    // Lanes of a block were made one by one, between those of loops: by their own numbers here.
    number_.assign(made_.lanes.size(), no_lane);
    own_.clear();
    for (std::uint32_t m = 0; m < made_.members; ++m) {
      const std::uint32_t lane = made_.lane(block, m);
      if (lane == no_lane) continue;
      number_[lane] = static_cast<std::uint32_t>(own_.size());
      own_.push_back(lane);
    }
    lanes_ = own_.size();
    const bool knows_turn_before = block != 0 || !flow_.overlaps;
    known_.assign(lanes_ * lanes_, knows_turn_before ? 0 : std::int64_t{least});
    for (std::uint32_t k = 0; k < lanes_; ++k) known_[k * lanes_ + k] = 0;
    keeps_all_ = of.placed.size() * lanes_ <= most_kept;
    after_.clear();
    if (keeps_all_) after_.resize(own_.size());

    growing_array<need> needs;
    for (const placed_item& each : of.placed) {
      const spot_range place = layout_.place_of[each.item];
      for (std::uint32_t k = place.first; k < place.last; ++k) {
        const lane_spot here = layout_.spots[k];
        needs.clear();
        if (enters(each.item, here.lane)) {
          for (const std::uint32_t* e = in.first(each.item); e != in.last(each.item); ++e) {
            need_item(edges[*e].from, 0, needs);
          }
          for (const std::uint32_t* e = delayed.first(each.item); e != delayed.last(each.item);
               ++e) {
            const model_feedback& what = flow_.delayed[delays[*e].from];
            need_item(item_in(0, what.from), what.delay, needs);
          }
        }
        if (decides(block, each.item) && !of_.nodes[each.item].is_wide) need_turn(needs);
        wait_for(here, needs);
      }
      if (each.item >= nodes_) meet(place);
      for (std::uint32_t k = place.first; k < place.last; ++k) pass(layout_.spots[k]);
      if (!decides(block, each.item) || !of_.nodes[each.item].is_wide) continue;
      needs.clear();
      need_turn(needs);
      const lane_spot decision = {layout_.spots[place.first].lane,
                                  layout_.spots[place.first].at + 1};
      wait_for(decision, needs);
      pass(decision);
    }
    if (block == 0 && !flow_.overlaps) wait_for_iteration(of, in, out);
  }

  std::int64_t* known_on(std::uint32_t lane) { return &known_[number_[lane] * lanes_]; }

  /// Adds the waits that nothing known implies; the latest first, since they imply others.
  LOCKSTEP_COLD void wait_for(const lane_spot& here, growing_array<need>& needs) {
    lane_operation& own = operation_at(here);
    own.first_wait = own.last_wait = static_cast<std::uint32_t>(layout_.waits.size());
    sort_by(needs, need::comes_before);
    std::int64_t* const known = known_on(here.lane);
    for (const need& each : needs) {
      const std::uint32_t k = number_[each.what.lane];
      const std::int64_t reach =
          each.what.at + 1 - std::int64_t{each.delay} * length(each.what.lane);
      if (known[k] >= reach || each.what.lane == here.lane) continue;
      layout_.waits.push_back({each.what.lane, each.what.at, each.delay});
      operation_at(each.what).is_awaited = true;
      own.last_wait = static_cast<std::uint32_t>(layout_.waits.size());
      if (each.delay == 0) learn(known, each.what);
      known[k] = (std::max)(known[k], reach);
    }
  }
  /// What was known after that operation.
  LOCKSTEP_COLD void learn(std::int64_t* known, const lane_spot& from) {
    if (!keeps_all_) return;
    const growing_array<std::int64_t>& rows = after_[number_[from.lane]];
    for (std::uint32_t k = 0; k < lanes_; ++k) {
      known[k] = (std::max)(known[k], rows[from.at * lanes_ + k]);
    }
  }
  /// At the end of a loop all know what one of them knew.
  LOCKSTEP_COLD void meet(const spot_range& place) {
    knowledge all(lanes_, std::int64_t{least});
    for (std::uint32_t k = place.first; k < place.last; ++k) {
      const std::int64_t* const known = known_on(layout_.spots[k].lane);
      for (std::uint32_t i = 0; i < lanes_; ++i) all[i] = (std::max)(all[i], known[i]);
    }
    for (std::uint32_t k = place.first; k < place.last; ++k) {
      std::int64_t* const known = known_on(layout_.spots[k].lane);
      for (std::uint32_t i = 0; i < lanes_; ++i) known[i] = all[i];
    }
  }
  LOCKSTEP_COLD void pass(const lane_spot& here) {
    std::int64_t* const known = known_on(here.lane);
    known[number_[here.lane]] = here.at + 1;
    if (!keeps_all_) return;
    growing_array<std::int64_t>& rows = after_[number_[here.lane]];
    rows.append(known, known + lanes_);
  }

  /// GRAPH-3: what depends on nothing waits for all of the iteration before, where it is the first of its lane.
  /// Whatever else comes first on a lane waits for such a node.
  LOCKSTEP_COLD void wait_for_iteration(const block_schedule& of, const adjacency& in,
                                        const adjacency& out) {
    growing_array<need> ends;
    for (const placed_item& each : of.placed) {
      if (out.first(each.item) == out.last(each.item)) need_item(each.item, 1, ends);
    }
    for (const placed_item& each : of.placed) {
      if (in.first(each.item) != in.last(each.item)) continue;
      const spot_range place = layout_.place_of[each.item];
      for (std::uint32_t k = place.first; k < place.last; ++k) {
        const lane_spot here = layout_.spots[k];
        if (here.at != 0 || !enters(each.item, here.lane)) continue;
        // What the lane knew at the end of the iteration before; then the last of each lane first.
        knowledge known(known_on(here.lane), known_on(here.lane) + lanes_);
        sort_by(ends, need::comes_before);
        lane_operation& own = operation_at(here);
        own.first_wait = static_cast<std::uint32_t>(layout_.waits.size());
        for (const need& end : ends) {
          if (known[number_[end.what.lane]] > end.what.at) continue;
          layout_.waits.push_back({end.what.lane, end.what.at, 1});
          operation_at(end.what).is_awaited = true;
          learn(known.data(), end.what);
          known[number_[end.what.lane]] = end.what.at + 1;
        }
        own.last_wait = static_cast<std::uint32_t>(layout_.waits.size());
      }
    }
  }

  static constexpr std::int64_t least = (std::numeric_limits<std::int64_t>::min)() / 4;
  static constexpr std::size_t most_kept = std::size_t{1} << 22;

  const graph_model& of_;
  const flow& flow_;
  const flow_scheduler& schedule_;
  const flow_plan& made_;
  flow_layout& layout_;
  const std::uint32_t nodes_;

  // Of the block whose waits are sought.
  std::size_t lanes_ = 0;
  growing_array<std::uint32_t> number_, own_;
  knowledge known_;  // of each lane at its present end
  bool keeps_all_ = true;
  growing_array<knowledge> after_;  // the same after each of its operations
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_GRAPH_FLOW_WAITS_HPP

#if LOCKSTEP_HAS_BODIES

// lockstep/detail/graph/flow_planner.ipp -- the bodies of flow_planner.hpp (layer: graph)
#ifndef LOCKSTEP_DETAIL_GRAPH_FLOW_PLANNER_IPP
#define LOCKSTEP_DETAIL_GRAPH_FLOW_PLANNER_IPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// Makes lanes of a schedule, then the waits between them, then steps.
class plan_assembler {
 public:
  LOCKSTEP_COLD plan_assembler(const graph_model& of, const flow& checked,
                               const flow_scheduler& schedule, flow_plan& made)
      : of_(of),
        flow_(checked),
        schedule_(schedule),
        made_(made),
        nodes_(static_cast<std::uint32_t>(of.nodes.size())) {
    layout_.place_of.resize(nodes_ + checked.blocks.size());
  }

  LOCKSTEP_COLD void assemble() {
    const block_schedule& top = schedule_.blocks[0];
    growing_array<std::uint32_t> members(top.used);
    for (std::uint32_t m = 0; m < top.used; ++m) members[m] = m;
    made_.members = (std::max)(top.used, std::uint32_t{1});
    made_.lane_at.assign(flow_.blocks.size() * made_.members, std::uint32_t{no_lane});
    made_.decider.assign(flow_.blocks.size(), std::uint32_t{no_lane});
    for (const flow_block& each : flow_.blocks) made_.from.push_back(each.from);
    made_.member_of.assign(nodes_, 0);
    made_.width_of.assign(nodes_, 1);
    made_.start.assign(nodes_, 0);
    lay(0, members, 0);
    flow_waits(of_, flow_, schedule_, made_, layout_).find();
    cut();
  }

 private:
  // --- lanes ---

  LOCKSTEP_COLD std::uint32_t lane(std::uint32_t block, std::uint32_t member) {
    std::uint32_t& at = made_.lane_at[block * made_.members + member];
    if (at != no_lane) return at;
    at = static_cast<std::uint32_t>(made_.lanes.size());
    made_.lanes.push_back({block, member, 0, 0, no_lane, 0});
    layout_.operations.push_back(growing_array<lane_operation>());
    return at;
  }

  LOCKSTEP_COLD void lay(std::uint32_t block, const growing_array<std::uint32_t>& members,
                         double begin) {
    const block_schedule& from = schedule_.blocks[block];
    const std::size_t begin_of_line = made_.line.size();
    std::uint32_t order = 0;
    for (const placed_item& each : from.placed) {
      growing_array<std::uint32_t> own;
      for (std::uint32_t k = each.first_member; k < each.last_member; ++k) {
        own.push_back(members[from.members[k]]);
      }
      const bool is_loop = each.item >= nodes_;
      growing_array<std::uint32_t> sorted = own;
      sort_by(sorted, [](std::uint32_t a, std::uint32_t b) { return a < b; });
      spot_range& place = layout_.place_of[each.item];
      place.first = static_cast<std::uint32_t>(layout_.spots.size());
      std::uint32_t rank = 0;
      for (const std::uint32_t member : sorted) {
        const std::uint32_t at = lane(block, member);
        layout_.spots.push_back({at, static_cast<std::uint32_t>(operations(at).size())});
        lane_operation made = lane_operation();
        made.item = each.item;
        made.rank = rank++;
        made.order = order;
        operations(at).push_back(made);
      }
      place.last = static_cast<std::uint32_t>(layout_.spots.size());
      ++order;
      if (is_loop) {
        lay_loop(each, own, place, begin + each.start);
        continue;
      }
      made_.member_of[each.item] = sorted[0];
      made_.width_of[each.item] = static_cast<std::uint32_t>(sorted.size());
      made_.start[each.item] = begin + each.start;
      made_.line.push_back(each.item);
      made_.again.push_back(
          flow_.loop_from[each.item] != 0 ? static_cast<std::uint32_t>(begin_of_line) : no_lane);
      if (flow_.loop_from[each.item] != 0) add_decision(block, each.item);
    }
  }
  /// The node that decides a loop. If it is team-wide, the decision is an operation of its own: after all members.
  LOCKSTEP_COLD void add_decision(std::uint32_t block, std::uint32_t item) {
    const std::uint32_t lane = layout_.spots[layout_.place_of[item].first].lane;
    made_.decider[block] = lane;
    if (!of_.nodes[item].is_wide) return;
    lane_operation made = operations(lane).back();
    made.is_decision = true;
    operations(lane).push_back(made);
  }
  LOCKSTEP_COLD void lay_loop(const placed_item& each, const growing_array<std::uint32_t>& own,
                              const spot_range& place, double begin) {
    const std::uint32_t inner = each.item - nodes_;
    // A bound loop's members are known by their own numbers.
    growing_array<std::uint32_t> members = own;
    if (schedule_.blocks[inner].is_bound) {
      members.resize(schedule_.blocks[inner].used);
      for (std::uint32_t m = 0; m < members.size(); ++m) members[m] = m;
    }
    lay(inner, members, begin);
    for (std::uint32_t k = place.first; k < place.last; ++k) {
      plan_lane& of_inner =
          made_.lanes[made_.lane(inner, made_.lanes[layout_.spots[k].lane].member)];
      of_inner.parent = layout_.spots[k].lane;
    }
  }

  // --- steps ---

  bool is_open(const lane_operation& of) const {
    return of.item < nodes_ && !of_.nodes[of.item].is_wide && of_.nodes[of.item].pin == no_node;
  }

  /// Operations that nobody waits for in between become one step.
  LOCKSTEP_COLD void cut() {
    for (std::uint32_t lane = 0; lane < made_.lanes.size(); ++lane) {
      plan_lane& of = made_.lanes[lane];
      of.first_step = static_cast<std::uint32_t>(made_.steps.size());
      bool goes_on = false;
      for (lane_operation& each : operations(lane)) {
        const bool is_loop = each.item >= nodes_,
                   is_single = is_loop || of_.nodes[each.item].is_wide;
        goes_on = goes_on && !is_single && each.first_wait == each.last_wait &&
                  made_.steps.back().is_open == is_open(each);
        if (!goes_on) add_step(each);
        each.step = static_cast<std::uint32_t>(made_.steps.size()) - of.first_step - 1;
        if (is_loop) {
          made_.lanes[made_.lane(each.item - nodes_, of.member)].parent_step = each.step;
        } else {
          if (!each.is_decision) made_.calls.push_back({each.item, each.rank});
          made_.steps.back().decides = flow_.loop_from[each.item] != 0 &&
                                       (each.is_decision || !of_.nodes[each.item].is_wide);
        }
        made_.steps.back().last_call = static_cast<std::uint32_t>(made_.calls.size());
        made_.steps.back().is_awaited =
            each.is_awaited || (made_.steps.back().decides && lanes_in(of.block) > 1);
        goes_on = !is_single && !each.is_awaited;
      }
      of.steps = static_cast<std::uint32_t>(made_.steps.size()) - of.first_step;
      const plan_step& first = made_.steps[of.first_step];
      made_.steps.back().is_followed =
          made_.steps.back().decides && of.steps > 1 && first.is_awaited && first.loop == 0 &&
          first.first_wait == first.last_wait &&
          made_.calls[first.first_call].node == flow_.blocks[of.block].to &&
          !of_.nodes[flow_.blocks[of.block].to].is_wide;
    }
    for (plan_wait& each : made_.waits) {
      each.steps = operations(each.lane)[each.steps].step + 1;
    }
  }
  LOCKSTEP_COLD std::size_t lanes_in(std::uint32_t block) const {
    std::size_t count = 0;
    for (std::uint32_t m = 0; m < made_.members; ++m) count += made_.lane(block, m) != no_lane;
    return count;
  }
  LOCKSTEP_COLD void add_step(const lane_operation& first) {
    plan_step made = plan_step();
    made.first_call = made.last_call = static_cast<std::uint32_t>(made_.calls.size());
    made.first_wait = static_cast<std::uint32_t>(made_.waits.size());
    made_.waits.append(layout_.waits.begin() + first.first_wait,
                       layout_.waits.begin() + first.last_wait);
    made.last_wait = static_cast<std::uint32_t>(made_.waits.size());
    made.loop = first.item >= nodes_ ? first.item - nodes_ : 0;
    made.is_open = is_open(first);
    made_.steps.push_back(made);
  }

  const graph_model& of_;
  const flow& flow_;
  const flow_scheduler& schedule_;
  flow_plan& made_;
  flow_layout layout_;
  const std::uint32_t nodes_;
  growing_array<lane_operation>& operations(std::uint32_t lane) { return layout_.operations[lane]; }
};

LOCKSTEP_COLD flow_plan make_flow_plan(const graph_model& of, const flow& checked,
                                       const growing_array<double>& costs, std::size_t members) {
  flow_plan made;
  for (std::size_t i = 0; i < of.nodes.size(); ++i) {
    const model_node& node = of.nodes[i];
    const std::string name = quoted(of, static_cast<node_index>(i));
    if (node.is_wide && node.width > members) {
      made.problem = "the team-wide node " + name + " is for " + std::to_string(node.width) +
                     " members, the plan for " + std::to_string(members);
    } else if (node.pin != no_node && node.is_wide) {
      made.problem = "the team-wide node " + name + " cannot be pinned to a member";
    } else if (node.pin != no_node && node.pin >= members) {
      made.problem = "the node " + name + " is pinned to member " + std::to_string(node.pin) +
                     ", the plan is for members 0 to " + std::to_string(members - 1);
    }
    if (!made.problem.empty()) return made;
    const double cost = i < costs.size() ? costs[i] : -1;
    made.costs.push_back(cost >= 0 ? cost : double{usual_node_time});
    made.serial_time += made.costs.back();
  }
  const flow_scheduler schedule(of, checked, made.costs, static_cast<std::uint32_t>(members));
  made.critical_path = schedule.blocks[0].critical_path;
  plan_assembler(of, checked, schedule, made).assemble();
  made.problem = simulate(checked, made);
  return made;
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_GRAPH_FLOW_PLANNER_IPP

#endif

#if LOCKSTEP_HAS_BODIES

// lockstep/detail/graph/flow_simulation.ipp -- the bodies of flow_simulation.hpp (layer: graph)
#ifndef LOCKSTEP_DETAIL_GRAPH_FLOW_SIMULATION_IPP
#define LOCKSTEP_DETAIL_GRAPH_FLOW_SIMULATION_IPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

class plan_simulation {
 public:
  LOCKSTEP_COLD plan_simulation(const flow& checked, flow_plan& of)
      : flow_(checked), of_(of), lanes_(of.lanes.size()), decided_(checked.blocks.size()) {}

  LOCKSTEP_COLD std::string run() {
    // Longer delays hold up nobody that shorter ones do not.
    iterations_ = (std::min)(flow_.most_delay, std::uint32_t{64}) + 2;
    growing_array<member> members(of_.members);
    for (std::uint32_t m = 0; m < of_.members; ++m) members[m].lane = of_.lane(0, m);
    end_.assign(iterations_, 0);
    bool moves = true;
    while (moves) {
      moves = false;
      for (member& each : members) {
        while (go(each)) moves = true;
      }
    }
    for (std::uint32_t m = 0; m < of_.members; ++m) {
      if (members[m].lane == no_lane) continue;
      if (lanes_[of_.lane(0, m)].turn < iterations_) {
        return "the plan gets stuck at member " + std::to_string(m);
      }
    }
    of_.predicted_time = end_[iterations_ - 1] - end_[iterations_ - 2];
    return std::string();
  }

 private:
  static constexpr std::uint32_t turns_of_loops = 2;

  struct member {
    std::uint32_t lane = no_lane;
    double now = 0;
  };
  struct lane_state {
    std::uint32_t turn = 0, at = 0;
    growing_array<double> done;  ///< when, of each step of each turn
  };
  struct decision {
    std::uint32_t turns;
    double when;
  };

  /// One step of a member. False if it cannot go on.
  LOCKSTEP_COLD bool go(member& self) {
    if (self.lane == no_lane) return false;
    lane_state& at = lanes_[self.lane];
    const plan_lane& of = of_.lanes[self.lane];
    if (of.block == 0 && at.turn == iterations_) return false;
    if (at.at == of.steps) return end_turn(self);
    const plan_step& step = of_.steps[of.first_step + at.at];
    double begin = self.now;
    for (std::uint32_t w = step.first_wait; w < step.last_wait; ++w) {
      const plan_wait& wait = of_.waits[w];
      if (at.turn < wait.delay) continue;
      const std::size_t which =
          std::size_t{at.turn - wait.delay} * of_.lanes[wait.lane].steps + wait.steps - 1;
      if (lanes_[wait.lane].done.size() <= which) return false;
      begin = (std::max)(begin, lanes_[wait.lane].done[which] + crossing_time);
    }
    self.now = begin;
    if (step.loop != 0) {
      self.lane = of_.lane(step.loop, of.member);
      return true;
    }
    for (std::uint32_t c = step.first_call; c < step.last_call; ++c) {
      self.now += of_.costs[of_.calls[c].node];
    }
    if (step.decides) decided_[of.block] = {at.turn + 1, self.now};
    finish(self, at);
    return true;
  }
  void finish(member& self, lane_state& at) {
    at.done.push_back(self.now);
    ++at.at;
  }
  LOCKSTEP_COLD bool end_turn(member& self) {
    lane_state& at = lanes_[self.lane];
    const plan_lane& of = of_.lanes[self.lane];
    if (of.block == 0) {
      end_[at.turn] = (std::max)(end_[at.turn], self.now);
      at.at = 0;
      ++at.turn;
      return true;
    }
    const decision& last = decided_[of.block];
    if (last.turns <= at.turn) return false;
    if (of_.lanes[of_.decider[of.block]].member != of.member) {
      self.now = (std::max)(self.now, last.when + crossing_time);
    }
    at.at = 0;
    ++at.turn;
    if (at.turn % turns_of_loops != 0) return true;
    self.lane = of.parent;
    finish(self, lanes_[self.lane]);
    return true;
  }

  const flow& flow_;
  flow_plan& of_;
  growing_array<lane_state> lanes_;
  growing_array<decision> decided_;
  growing_array<double> end_;
  std::uint32_t iterations_ = 0;
};

LOCKSTEP_COLD std::string simulate(const flow& checked, flow_plan& of) {
  return plan_simulation(checked, of).run();
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_GRAPH_FLOW_SIMULATION_IPP

#endif

#if LOCKSTEP_HAS_BODIES

// lockstep/detail/graph/flow_schedule.ipp -- the bodies of flow_schedule.hpp (layer: graph)
#ifndef LOCKSTEP_DETAIL_GRAPH_FLOW_SCHEDULE_IPP
#define LOCKSTEP_DETAIL_GRAPH_FLOW_SCHEDULE_IPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

LOCKSTEP_COLD flow_scheduler::flow_scheduler(const graph_model& of, const flow& checked,
                                             const growing_array<double>& costs,
                                             std::uint32_t members)
    : blocks(checked.blocks.size()),
      of_(of),
      flow_(checked),
      costs_(costs),
      nodes_(static_cast<std::uint32_t>(of.nodes.size())),
      members_(members) {
  collect();
  for (std::size_t block = blocks.size(); block-- > 0;) {
    schedule(static_cast<std::uint32_t>(block));
  }
}

/// Which items a block has, and which edges there are between them.
LOCKSTEP_COLD void flow_scheduler::collect() {
  for (const node_index node : flow_.order) blocks[flow_.block_of[node]].items.push_back(node);
  for (std::uint32_t block = 1; block < blocks.size(); ++block) {
    blocks[flow_.blocks[block].parent].items.push_back(nodes_ + block);
  }
  for (const model_edge& each : flow_.edges) {
    std::uint32_t a = flow_.block_of[each.from], b = flow_.block_of[each.to];
    std::uint32_t from = each.from, to = each.to;
    while (a != b) {
      const std::uint32_t depth_a = flow_.blocks[a].depth, depth_b = flow_.blocks[b].depth;
      if (depth_a >= depth_b) {
        from = nodes_ + a;
        a = flow_.blocks[a].parent;
      }
      if (depth_b >= depth_a) {
        to = nodes_ + b;
        b = flow_.blocks[b].parent;
      }
    }
    blocks[a].edges.push_back({from, to});
  }
  for (const node_index node : flow_.order) {
    if (of_.nodes[node].pin == no_node) continue;
    std::uint32_t block = flow_.block_of[node];
    while (!blocks[block].is_bound) {
      blocks[block].is_bound = true;
      block = flow_.blocks[block].parent;
    }
  }
  blocks[0].is_bound = true;
}

LOCKSTEP_COLD void flow_scheduler::schedule(std::uint32_t block) {
  block_schedule& in = blocks[block];
  const std::size_t count = in.items.size();
  // By their place in `items`.
  growing_array<std::uint32_t> local(nodes_ + blocks.size(), 0);
  for (std::uint32_t i = 0; i < count; ++i) local[in.items[i]] = i;
  growing_array<model_edge> edges;
  edges.reserve(in.edges.size());
  for (const item_edge& each : in.edges) {
    edges.push_back({local[each.from], local[each.to], edge_kind::plain});
  }
  const adjacency out = edges_by(edges, count, false), incoming = edges_by(edges, count, true);

  growing_array<std::uint32_t> missing(count);
  node_list order;
  order.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    missing[i] = incoming.begin[i + 1] - incoming.begin[i];
    if (missing[i] == 0) order.push_back(i);
  }
  for (std::size_t at = 0; at < order.size(); ++at) {
    for (const std::uint32_t* e = out.first(order[at]); e != out.last(order[at]); ++e) {
      if (--missing[edges[*e].to] == 0) order.push_back(edges[*e].to);
    }
  }
  // How far it is to the end: with and without what edges between members cost.
  growing_array<double> way(count, 0), bare(count, 0);
  for (std::size_t k = count; k-- > 0;) {
    const std::uint32_t i = order[k];
    for (const std::uint32_t* e = out.first(i); e != out.last(i); ++e) {
      way[i] = (std::max)(way[i], way[edges[*e].to] + crossing_time);
      bare[i] = (std::max)(bare[i], bare[edges[*e].to]);
    }
    way[i] += length_of(in.items[i]);
    bare[i] +=
        in.items[i] < nodes_ ? costs_[in.items[i]] : blocks[in.items[i] - nodes_].critical_path;
    in.critical_path = (std::max)(in.critical_path, bare[i]);
  }

  struct entry {
    double key;
    std::uint32_t item;
  };
  // The first of the heap: the longest way; the earliest arrival. Then the lower number.
  const auto shorter_way = [](const entry& a, const entry& b) {
    return a.key < b.key || (!(b.key < a.key) && a.item > b.item);
  };
  const auto later = [](const entry& a, const entry& b) {
    return b.key < a.key || (!(a.key < b.key) && a.item > b.item);
  };
  growing_array<entry> ready, coming;
  growing_array<arrival> arrivals(count, arrival{0, -1, no_lane});
  growing_array<double> free(members_, 0), finish(count, 0);
  growing_array<std::uint32_t> home(count, no_lane);
  for (std::uint32_t i = 0; i < count; ++i) {
    missing[i] = incoming.begin[i + 1] - incoming.begin[i];
    if (missing[i] == 0) push_to_heap(coming, entry{0, i}, later);
  }
  in.placed.reserve(count);
  while (!ready.empty() || !coming.empty()) {
    double now = free[0];
    for (const double each : free) now = (std::min)(now, each);
    if (ready.empty()) now = (std::max)(now, coming.front().key);
    while (!coming.empty() && coming.front().key <= now) {
      const std::uint32_t next = pop_from_heap(coming, later).item;
      push_to_heap(ready, entry{way[next], next}, shorter_way);
    }
    const std::uint32_t i = pop_from_heap(ready, shorter_way).item;

    placed_item place = {in.items[i], 0, 0, 0};
    // What ends a turn, or an iteration, is best where the next one begins.
    const bool is_end = block != 0 ? in.items[i] == flow_.blocks[block].from
                                   : !flow_.overlaps && out.first(i) == out.last(i);
    const std::uint32_t next = is_end && !in.members.empty() ? in.members[0] : no_lane;
    choose(in, in.items[i], arrivals[i], next, free, place);
    in.placed.push_back(place);
    finish[i] = place.start + length_of(in.items[i]);
    in.length = (std::max)(in.length, finish[i]);
    const bool is_wide = in.items[i] < nodes_ && of_.nodes[in.items[i]].is_wide;
    home[i] = is_wide ? no_lane : in.members[place.first_member];
    for (const std::uint32_t* e = out.first(i); e != out.last(i); ++e) {
      const std::uint32_t to = edges[*e].to;
      arrival& at = arrivals[to];
      if (at.home == no_lane && at.second < 0 && at.latest <= 0) {
        at = {finish[i], -1, home[i]};
      } else if (finish[i] > at.latest) {
        if (home[i] != at.home) at.second = at.latest;
        at.latest = finish[i];
        at.home = home[i];
      } else if (home[i] != at.home && finish[i] > at.second) {
        at.second = finish[i];
      }
      if (--missing[to] > 0) continue;
      push_to_heap(coming, entry{start_on(at, 0, at.home), to}, later);
    }
  }
  for (const std::uint32_t member : in.members) in.used = (std::max)(in.used, member + 1);
}

/// `next`: the member that has to hear of this item for the next turn, or none. (A loop's first item is placed first.)
LOCKSTEP_COLD void flow_scheduler::choose(block_schedule& in, std::uint32_t item, const arrival& at,
                                          std::uint32_t next, growing_array<double>& free,
                                          placed_item& place) {
  const auto lower = [](std::uint32_t a, std::uint32_t b) { return a < b; };
  place.first_member = static_cast<std::uint32_t>(in.members.size());
  const bool is_loop = item >= nodes_;
  std::uint32_t width = is_loop ? blocks[item - nodes_].used : 1;
  if (!is_loop && of_.nodes[item].is_wide) {
    width = of_.nodes[item].width == 0 ? members_ : of_.nodes[item].width;
  }
  if (is_loop && blocks[item - nodes_].is_bound) {
    growing_array<std::uint32_t> taken = blocks[item - nodes_].members;
    sort_by(taken, lower);
    for (const std::uint32_t each : taken) {
      const bool is_first = in.members.size() == place.first_member;
      if (is_first || in.members.back() != each) in.members.push_back(each);
    }
  } else if (!is_loop && of_.nodes[item].pin != no_node) {
    in.members.push_back(of_.nodes[item].pin);
  } else if (width == 1) {
    std::uint32_t best = next != no_lane ? next : at.home != no_lane ? at.home : 0;
    const auto start_for_next = [&](std::uint32_t m) {
      return start_on(at, free[m], m) + (next != no_lane && m != next ? crossing_time : 0);
    };
    double soonest = start_for_next(best);
    for (std::uint32_t m = 0; m < members_; ++m) {
      const double start = start_for_next(m);
      if (start >= soonest) continue;
      soonest = start;
      best = m;
    }
    in.members.push_back(best);
  } else {
    growing_array<std::uint32_t> all(members_);
    for (std::uint32_t m = 0; m < members_; ++m) all[m] = m;
    sort_by(all, [&](std::uint32_t a, std::uint32_t b) {
      const double start_a = start_on(at, free[a], a), start_b = start_on(at, free[b], b);
      return start_a < start_b || (!(start_b < start_a) && a < b);
    });
    all.resize(width);
    sort_by(all, lower);
    in.members.append(all.begin(), all.end());
  }
  place.last_member = static_cast<std::uint32_t>(in.members.size());
  for (std::uint32_t k = place.first_member; k < place.last_member; ++k) {
    place.start = (std::max)(place.start, start_on(at, free[in.members[k]], in.members[k]));
  }
  for (std::uint32_t k = place.first_member; k < place.last_member; ++k) {
    free[in.members[k]] = place.start + length_of(item);
  }
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_GRAPH_FLOW_SCHEDULE_IPP

#endif

#if LOCKSTEP_HAS_BODIES

// lockstep/detail/graph/flow_walk.ipp -- the bodies of flow_walk.hpp (layer: graph)
#ifndef LOCKSTEP_DETAIL_GRAPH_FLOW_WALK_IPP
#define LOCKSTEP_DETAIL_GRAPH_FLOW_WALK_IPP

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// What a member waits for: a lane, the stop, or something to do for another member.
struct flow_walk::watched_lane {
  watched_lane(flow_walk& walk, std::uint32_t lane, std::uint64_t so_many) noexcept
      : self(walk),
        word(walk.of_.board.done(lane)),
        steps(so_many),
        member(walk.plan_.lanes[lane].member) {}
  watched_lane(const watched_lane&) = delete;
  watched_lane& operator=(const watched_lane&) = delete;

  struct is_far {
    std::uint64_t steps;
    bool operator()(std::uint64_t done) const noexcept { return done >= steps; }
  };

  flow_walk& self;
  const published_word<std::uint64_t> word;
  const std::uint64_t steps;
  const std::uint32_t member;
  found_step found = found_step();
  bool has_found = false;
  unsigned looks = 0;

  bool is_ready() const noexcept { return word.value() >= steps || self.stop_.requested(); }
  bool ready() {
    if (is_ready()) return true;
    if (++looks % self.looks_each_ != 0) return false;
    has_found = self.find(member, found);
    return has_found;
  }
  /// Wakes up now and then: a member that has not begun may never come.
  void sleep(deadline until) {
    const deadline soon = deadline::after(std::chrono::milliseconds(2));
    word.awaited(is_far{steps}, self.stop_)
        .sleep(soon.nanoseconds() < until.nanoseconds() ? soon : until);
    looks = self.looks_each_ - 1;
  }
};

LOCKSTEP_OUT_OF_LINE bool flow_walk::await_slowly(std::uint32_t lane, std::uint64_t steps) {
  catch_up();
  const published_word<std::uint64_t> word = of_.board.done(lane);
  const bool has_patience = looks_each_ > 1 && own_.patience.asks();
  for (unsigned i = 0; has_patience && i < polls_for_late_members; ++i) {
    detail::polling_pause();
    own_.seen[lane] = word.value();
    if (own_.seen[lane] < steps) continue;
    own_.patience.paid();
    return true;
  }
  if (stop_.requested()) return false;  // before it helps
  const std::uint32_t member = plan_.lanes[lane].member;
  found_step found;
  bool helped = false;
  while (find(member, found)) {
    help(found);
    if (has_patience && !helped) own_.patience.failed();
    helped = true;
    own_.seen[lane] = word.value();
    if (own_.seen[lane] >= steps) return true;
    if (stop_.requested()) return false;
  }
  for (;;) {
    watched_lane what(*this, lane, steps);
    wait_engine::wait(what, of_.board.policy(), own_.history);
    own_.seen[lane] = word.value();
    if (own_.seen[lane] >= steps) return true;
    if (stop_.requested()) return false;
    if (what.has_found) help(what.found);
  }
}

LOCKSTEP_OUT_OF_LINE void flow_walk::catch_up() {
  for (std::size_t i = 0; i <= depth_; ++i) {
    lane_place& at = own_.places[i];
    if (!at.is_behind) continue;
    at.is_behind = false;
    of_.board.done(at.lane).publish(at.step);
  }
}

// --- where the member is ---

/// Where a lane is, when nobody runs a step of it. False once the region is stopped.
LOCKSTEP_OUT_OF_LINE bool flow_walk::find_place(std::uint32_t lane, lane_place& at) {
  std::uint64_t step = of_.board.claimed(lane);
  while (of_.board.done(lane).value() < step) {
    if (!await(lane, step)) return false;
    step = of_.board.claimed(lane);
  }
  const std::uint64_t steps = plan_.lanes[lane].steps;
  at.lane = lane;
  at.step = step;
  at.turn = step / steps;
  at.at = static_cast<std::uint32_t>(step - at.turn * steps);
  at.is_behind = false;
  return true;
}

/// At the beginning, and where a claim has failed.
LOCKSTEP_OUT_OF_LINE bool flow_walk::start() {
  catch_up();
  depth_ = 0;
  own_.places[0].is_behind = false;
  return find_place(plan_.lane(0, rank_), own_.places[0]) && (here().at != 0 || begin_iteration());
}

/// False when there is no other iteration, or once the region is stopped.
LOCKSTEP_OUT_OF_LINE bool flow_walk::begin_iteration() {
  const std::uint64_t turn = own_.places[0].turn;
  if (turn < of_.last && of_.gate == nullptr) return !stop_.source.requested_relaxed(stop_.region);
  if (of_.gate == nullptr) return false;
  return ask_gate(turn);
}

LOCKSTEP_OUT_OF_LINE bool flow_walk::ask_gate(std::uint64_t turn) {
  const published_word<std::uint64_t> gate = of_.board.gate();
  if (rank_ != 0) {
    const auto is_known = [turn](std::uint64_t word) {
      return (word >> 1) > turn || (word & 1u) != 0;
    };
    if (!is_known(gate.value())) {
      catch_up();
      gate.wait(is_known, stop_, own_.history);
    }
    return (gate.value() >> 1) > turn && !stop_.requested();
  }
  if ((gate.value() >> 1) > turn) return true;
  const std::uint64_t slowest = turn - of_.first < of_.ahead ? of_.first : turn - of_.ahead;
  for (std::uint32_t m = 1; m < plan_.members; ++m) {
    const std::uint32_t lane = plan_.lane(0, m);
    if (lane != no_lane && !await(lane, slowest * plan_.lanes[lane].steps)) return false;
  }
  if (stop_.requested()) return false;
  const bool is_over = of_.gate->call(of_.gate->stop);
  gate.publish(is_over ? turn << 1 | 1u : (turn + 1) << 1);
  return !is_over;
}

LOCKSTEP_OUT_OF_LINE bool flow_walk::enter(const plan_step& step) {
  const std::uint32_t lane = plan_.lane(step.loop, rank_);
  if (of_.board.decided(plan_.decider[step.loop]).has_ended(here().turn + 1)) return leave();
  own_.places[depth_ + 1].is_behind = false;
  if (!find_place(lane, own_.places[depth_ + 1])) return false;
  // If this loop was not left, that was a place in it; or it is over, which begin_turn() finds.
  if (of_.board.claimed(here().lane) != here().step) return start();
  ++depth_;
  return here().at != 0 || begin_turn();
}

/// In a loop, after a turn or before the first: whether there is another.
LOCKSTEP_OUT_OF_LINE bool flow_walk::begin_turn() {
  const std::uint32_t decider = plan_.decider[lane_of(here()).block];
  const std::uint64_t turn = here().turn, outer = own_.places[depth_ - 1].turn;
  for (;;) {
    const loop_decision last = decided_lane_ == decider ? decided_ : of_.board.decided(decider);
    decided_lane_ = no_lane;
    if (!last.has_ended(outer)) break;
    if (last.has_decided(turn)) return !stop_.source.requested_relaxed(stop_.region);
    if (of_.board.claimed(here().lane) != here().step) return start();  // others are further
    if (!await(decider, turn * plan_.lanes[decider].steps)) return false;
  }
  catch_up();
  --depth_;
  return leave();
}

/// The loop is over in which the member is.
LOCKSTEP_OUT_OF_LINE bool flow_walk::leave() {
  lane_place& at = here();
  const plan_step& step = step_of(at);
  if (!of_.board.try_claim(at.lane, at.step)) return start();
  finish(at, step.is_awaited);
  return true;
}

LOCKSTEP_OUT_OF_LINE bool flow_walk::end_turn() {
  lane_place& at = here();
  at.at = 0;
  ++at.turn;
  return depth_ == 0 ? begin_iteration() : begin_turn();
}

// --- the walk ---

LOCKSTEP_OUT_OF_LINE void flow_walk::walk() {
  if (plan_.lane(0, rank_) == no_lane) {
    if (rank_ != 0 || of_.gate == nullptr) return finish_run();
    for (std::uint64_t turn = of_.first; ask_gate(turn); ++turn) continue;
    return finish_run();
  }
  bool goes_on = start();
  while (goes_on) {
    const lane_place& at = here();
    if (at.at == lane_of(at).steps) {
      goes_on = end_turn();
      continue;
    }
    const plan_step& step = step_of(at);
    for (std::uint32_t w = step.first_wait; w < step.last_wait && goes_on; ++w) {
      const plan_wait& wait = plan_.waits[w];
      goes_on = await(wait.lane, steps_for(wait, at.turn));
    }
    if (goes_on) goes_on = step.loop != 0 ? enter(step) : run_step(step);
  }
  finish_run();
}

LOCKSTEP_OUT_OF_LINE bool flow_walk::run_step(const plan_step& step) {
  lane_place& at = here();
  if (!step.is_open) {
    of_.board.claim_own(at.lane, at.step);
  } else if (!of_.board.try_claim(at.lane, at.step)) {
    return start();
  }
  if (!perform(step, iteration())) return false;
  bool tells = step.is_awaited;
  if (step.decides) {
    const bool again = decide(at.lane, at.turn, own_.places[depth_ - 1].turn);
    if (again && step.is_followed) tells = false;
    decided_lane_ = at.lane;
  }
  finish(at, tells);
  return true;
}

/// False if a team-wide node was stopped: its members may have left it anywhere.
LOCKSTEP_OUT_OF_LINE bool flow_walk::perform(const plan_step& step, std::uint64_t iteration) {
  for (std::uint32_t c = step.first_call; c < step.last_call; ++c) {
    const bound_call& what = of_.calls[c];
    if (what.flags == 0) {
      of_.run(what, iteration, nullptr);
    } else if ((what.flags & bound_call::is_wide) == 0) {
      of_.run_asked(what, iteration, nullptr);
    } else {
      run_wide(what);
      if (stop_.requested()) return false;
    }
  }
  return true;
}

LOCKSTEP_OUT_OF_LINE void flow_walk::run_wide(const bound_call& what) {
  wide_part& part = *of_.wide_of[what.node];
  std::uint32_t& entered = own_.entered[of_.wide_number[what.node]];
  member_state& state = part.shared.state(what.rank);
  if (entered != stop_.region) {
    entered = stop_.region;
    part.shared.enter(what.rank, part.shared.most(), stop_.region, part.phase);
    state.set_rank_in_team(rank_);
  } else if (!state.is_alone() && part.shared.progress.used()) {
    // Steps begin at 0 in each run of the node, as in a region. All see that they were used before one resets them.
    if (!state.sync()) return;
    if (what.rank == 0) part.shared.progress.reset();
    if (!state.sync()) return;
  }
  member_access access(state);
  of_.run_asked(what, iteration(), &access.self);
}

LOCKSTEP_OUT_OF_LINE bool flow_walk::decide(std::uint32_t lane, std::uint64_t turn,
                                            std::uint64_t outer_turn) {
  const bool again = of_.answer(of_.plan.from[plan_.lanes[lane].block]);
  decided_ = loop_decision(again ? outer_turn : outer_turn + 1, turn + 1);
  of_.board.decide(lane, decided_);
  return again;
}

LOCKSTEP_OUT_OF_LINE void flow_walk::finish(lane_place& at, bool is_awaited) {
  ++at.at;
  ++at.step;
  at.is_behind = !is_awaited;
  if (is_awaited) of_.board.done(at.lane).publish(at.step);
}

/// Member 0, which is to wait for the others anyway, waits for their lanes, and so helps.
LOCKSTEP_OUT_OF_LINE void flow_walk::finish_run() {
  catch_up();
  if (rank_ != 0) return;
  const std::uint64_t last = of_.gate != nullptr ? of_.board.gate().peek() >> 1 : of_.last;
  for (std::uint32_t m = 1; m < plan_.members; ++m) {
    const std::uint32_t lane = plan_.lane(0, m);
    if (lane != no_lane && !await(lane, last * plan_.lanes[lane].steps)) return;
  }
}

// --- help ---

LOCKSTEP_OUT_OF_LINE bool flow_walk::find(std::uint32_t member, found_step& out) {
  constexpr unsigned most_hops = 8;
  for (unsigned i = 0; i < most_hops; ++i) {
    const look seen = find_on(member, out);
    if (seen != look::elsewhere) return seen == look::found;
  }
  return false;
}

/// Looks for the next step of a member. If that waits for another member, goes on with that one.
LOCKSTEP_OUT_OF_LINE flow_walk::look flow_walk::find_on(std::uint32_t& member, found_step& out) {
  std::uint32_t lane = plan_.lane(0, member), outer_lane = no_lane;
  std::uint64_t outer = 0, outer_step = 0;
  while (lane != no_lane) {
    const plan_lane& on = plan_.lanes[lane];
    const std::uint64_t step = of_.board.claimed(lane);
    if (of_.board.done(lane).value() < step) return look::nothing;
    const std::uint64_t turn = step / on.steps, at = step - turn * on.steps;
    if (on.block == 0) {
      out.iteration = turn - of_.first;
      if (turn >= (of_.gate != nullptr ? of_.board.gate().value() >> 1 : of_.last)) {
        return look::nothing;
      }
    } else if (at == 0) {
      const std::uint32_t decider = plan_.decider[on.block];
      const loop_decision last = of_.board.decided(decider);
      if (!last.has_ended(outer)) return look::nothing;
      if (!last.has_decided(turn)) {
        member = plan_.lanes[decider].member;
        return look::elsewhere;
      }
    }
    // As in enter().
    if (on.block != 0 && of_.board.claimed(outer_lane) != outer_step) return look::nothing;
    const plan_step& what = plan_.steps[on.first_step + at];
    for (std::uint32_t w = what.first_wait; w < what.last_wait; ++w) {
      const plan_wait& wait = plan_.waits[w];
      if (of_.board.done(wait.lane).value() >= steps_for(wait, turn)) continue;
      member = plan_.lanes[wait.lane].member;
      return look::elsewhere;
    }
    out.lane = lane;
    out.step = step;
    out.turn = turn;
    out.outer_turn = outer;
    out.what = nullptr;
    if (what.loop == 0) {
      out.what = &what;
      return what.is_open ? look::found : look::nothing;
    }
    if (of_.board.decided(plan_.decider[what.loop]).has_ended(turn + 1)) return look::found;
    outer = turn;
    outer_lane = lane;
    outer_step = step;
    lane = plan_.lane(what.loop, member);
  }
  return look::nothing;
}

LOCKSTEP_OUT_OF_LINE void flow_walk::help(const found_step& with) {
  if (!of_.board.try_claim(with.lane, with.step)) return;
  if (with.what != nullptr) {
    static_cast<void>(perform(*with.what, with.iteration));  // none is team-wide
    if (with.what->decides) decide(with.lane, with.turn, with.outer_turn);
  }
  of_.board.done(with.lane).publish(with.step + 1);
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_GRAPH_FLOW_WALK_IPP

#endif
