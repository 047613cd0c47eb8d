// SPDX-License-Identifier: MIT
// src/platform/system.cpp -- the bodies of system.hpp that the process has once (layer: platform)
//
// Memory order (# marks the line)
//   #  access         order    pairs  why it suffices
//   1  count.load     relaxed  -      a number that stands for itself
//   2  count changes  relaxed  -      as 1
#include <lockstep/detail/platform/system.hpp>

#include "cpus.hpp"
#include "made_once.hpp"
#include "process.hpp"
#include "this_thread.hpp"
#if defined(_WIN32)
#include "timed_sleep_windows.hpp"
#endif
#if !defined(__linux__) && !defined(LOCKSTEP_SYSTEM_SEAM)
#if defined(_WIN32)
#include "windows.hpp"
#else
#include <chrono>
#include <thread>
#endif
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

#if defined(LOCKSTEP_SYSTEM_SEAM)

/// A test's system is one process.
LOCKSTEP_INLINE void shared_futex::wait(const wait_word& word, std::uint32_t expected,
                                        std::uint64_t deadline) {
  futex_wait(word, expected, deadline);
}
LOCKSTEP_INLINE void shared_futex::wake_all(const wait_word* word) { futex_wake_all(word); }

#else

#if !defined(__linux__)
LOCKSTEP_INLINE void shared_futex::wait(const wait_word&, std::uint32_t, std::uint64_t) {
#if defined(_WIN32)
  ::Sleep(1);
#else
  std::this_thread::sleep_for(std::chrono::microseconds(50));
#endif
}
LOCKSTEP_INLINE void shared_futex::wake_all(const wait_word*) {}
#endif

LOCKSTEP_INLINE unsigned usable_cpus() {
  unseamed_atomic<std::uint32_t>& counted = process().usable_cpus;
  std::uint32_t known = counted.load(memory_order_relaxed);  // 1
  if (known != 0) return known;
  const std::uint32_t count = count_usable_cpus();
  const bool is_first = counted.compare_exchange_strong(known, count, memory_order_relaxed,  // 2
                                                        memory_order_relaxed);               // 1
  return is_first ? count : known;
}

LOCKSTEP_INLINE unsigned cpus_for_waits() noexcept {
  const std::uint32_t usable = process().usable_cpus.load(memory_order_relaxed);  // 1
  if (usable != 0) return usable;
  const std::uint32_t affine = process().affine_cpus.load(memory_order_relaxed);  // 1
  if (affine != 0) return affine;
  const std::uint32_t count = count_affine_cpus();
  process().affine_cpus.store(count, memory_order_relaxed);  // 2
  return count;
}

#endif

LOCKSTEP_INLINE std::string list_missing() {
#if defined(__linux__)
  constexpr bool tells_of_quotas = true, fine_timers = true;
#elif defined(_WIN32)
  constexpr bool tells_of_quotas = false;
  const bool fine_timers = has_fine_timers();
#elif defined(__OpenBSD__) || defined(__NetBSD__)
  // Sleeps end on a tick of the system, 10 ms apart.
  constexpr bool tells_of_quotas = false, fine_timers = false;
#else
  constexpr bool tells_of_quotas = false, fine_timers = true;
#endif
  const struct {
    bool is_there;
    const char* what;
  } things[] = {
      {native_futex::name() != std::string("mutex and condition variable"), "sleeping on a word"},
      {process_fence::prepare() == process_fence::kind::asymmetric, "process-wide fence"},
      {can_bind_threads, "binding of threads"},
      {can_name_threads, "names of threads"},
      {tells_of_quotas, "quotas of CPU time"},
      {fine_timers, "timers finer than a millisecond"},
  };
  std::string text;
  for (const auto& thing : things) {
    if (thing.is_there) continue;
    if (!text.empty()) text += ", ";
    text += thing.what;
  }
  return text.empty() ? "nothing" : text;
}

LOCKSTEP_INLINE const char* text_of_missing() {
  static made_once<std::string> known;
  return known.get([] { return list_missing(); }).c_str();
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
