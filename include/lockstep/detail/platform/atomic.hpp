// SPDX-License-Identifier: MIT
// lockstep/detail/platform/atomic.hpp -- the seam through which all atomics go (layer: platform)
//
// The library uses atomics and fences through these names only. In production they *are* the standard ones. A test
// program may define LOCKSTEP_ATOMIC_SEAM as a header of its own, in quotes, which declares the same names in the same
// namespace. The shipped code then runs, unchanged, on atomics that delay, record or reorder. Units with different
// seams share no objects (config.hpp).
//
// A seam supplies: template <class Type> class atomic with load, store, exchange, fetch_add, fetch_sub,
// fetch_or, fetch_and, compare_exchange_strong/weak (explicit orders only), thread_fence, signal_fence.
#ifndef LOCKSTEP_DETAIL_PLATFORM_ATOMIC_HPP
#define LOCKSTEP_DETAIL_PLATFORM_ATOMIC_HPP

#include <atomic>
#include <cstdint>

#include <lockstep/detail/platform/config.hpp>

#if defined(_LIBCPP_HAS_NO_THREADS) || (defined(_LIBCPP_HAS_THREADS) && !_LIBCPP_HAS_THREADS)
#error "lockstep needs threads: this C++ library was built without"
#endif
/// 1: the C++ library has std::thread, std::mutex and what belongs to them. GCC 12 for Windows with the system's own
/// threads ("win32") has none of it: there, lockstep lacks thread.hpp and condition_variable.hpp.
#if !defined(__GLIBCXX__) || defined(_GLIBCXX_HAS_GTHREADS)
#define LOCKSTEP_HAS_STANDARD_THREADS 1
#elif defined(_WIN32)
#define LOCKSTEP_HAS_STANDARD_THREADS 0
#else
#error "lockstep needs threads: this C++ library was built without"
#endif

// GCC and Clang say 1, "sometimes", where they call a library. The library takes a lock, except on Linux for ARMv5,
// where the kernel helps.
#if ATOMIC_INT_LOCK_FREE != 2 && !(defined(__arm__) && defined(__linux__))
#error \
    "lockstep needs lock-free atomics of 32 bits: choose a processor that has them, as with -march"
#endif

#if defined(LOCKSTEP_ATOMIC_SEAM)
#include LOCKSTEP_ATOMIC_SEAM
#else

// Under ThreadSanitizer GCC turns each fence into this call, and warns at the place where the fence is inlined, which
// no pragma reaches. So the call is written here. ThreadSanitizer need not understand fences: the library publishes by
// release and acquire.
#if LOCKSTEP_HAS_TSAN && !defined(__clang__)
extern "C" void __tsan_atomic_thread_fence(int order);
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

template <class Type>
using atomic = std::atomic<Type>;

inline void thread_fence(std::memory_order order) noexcept {
#if LOCKSTEP_HAS_TSAN && !defined(__clang__)
  __tsan_atomic_thread_fence(static_cast<int>(order));
#else
  std::atomic_thread_fence(order);
#endif
}
inline void signal_fence(std::memory_order order) noexcept { std::atomic_signal_fence(order); }

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// For values that are found out or made once and are no part of a protocol. No seam replaces it.
template <class Type>
using unseamed_atomic = std::atomic<Type>;

/// For what observers know of threads (src/trace). It is on the seam only if a test defines LOCKSTEP_SEAM_OBSERVERS.
/// Other tests that replace the atomics explore what is observed, not the observers.
#if defined(LOCKSTEP_SEAM_OBSERVERS)
template <class Type>
using observer_atomic = atomic<Type>;
#else
template <class Type>
using observer_atomic = std::atomic<Type>;
#endif

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
