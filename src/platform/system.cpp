// SPDX-License-Identifier: MIT
// src/platform/system.cpp -- the bodies of system.hpp, process_fence.hpp and this_thread.hpp (layer: platform)
//
// They call the system that native_system.hpp has chosen.
//
// Memory order (# marks the line)
//   #  access         order    pairs  why it suffices
//   1  count.load     relaxed  -      a number that stands for itself
//   2  count changes  relaxed  -      as 1
//   3  thread_fence   seq_cst  3      FENCE-1 by the C++ model: with 3 of process_fence.hpp
//   4  barrier        seq_cst  2, 3   a full fence here, and by the system on all other threads: with 2 and 3 there
#include <lockstep/detail/platform/system.hpp>

#include <cstring>

#include "native_system.hpp"
#include "once.hpp"
#include "process.hpp"
#include "this_thread.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

#if defined(_WIN32)
using futex_of_system = native_system::futex;
inline bool is_futex_portable() noexcept { return false; }
#else
#if LOCKSTEP_FORCE_PORTABLE_FUTEX
using futex_of_system = portable_futex;
#else
using futex_of_system = native_system::futex;
#endif
/// Some systems find out at run time that they have no futex of their own.
inline bool is_futex_portable() noexcept {
  return std::strcmp(futex_of_system::name(), portable_futex::name()) == 0;
}
#endif

LOCKSTEP_INLINE const char* native_futex::name() noexcept { return futex_of_system::name(); }
LOCKSTEP_INLINE void native_futex::prepare_for_fork() {
#if !defined(_WIN32)
  if (is_futex_portable()) portable_futex::prepare_for_fork();
#endif
}
LOCKSTEP_INLINE void native_futex::wait(const wait_word& word, std::uint32_t expected,
                                        std::uint64_t deadline) {
  futex_of_system::wait(word, expected, deadline);
}
LOCKSTEP_INLINE void native_futex::wake(const wait_word* word, bool all) {
  futex_of_system::wake(word, all);
}

LOCKSTEP_INLINE process_fence::kind process_fence::ask_system() noexcept {
  // One answer for all modules that use this library: the system might grant it to one and refuse it to another.
  static found_once<kind> decided;
  return decided.get(
      [] { return native_system::barrier::is_granted() ? kind::asymmetric : kind::symmetric; });
}
LOCKSTEP_INLINE bool process_fence::heavy() noexcept {
  thread_fence(memory_order_seq_cst);  // 3, 4
  return prepare() == kind::symmetric || native_system::barrier::pass();
}
LOCKSTEP_INLINE const char* process_fence::name() noexcept {
  return prepare() == kind::asymmetric ? native_system::barrier::name() : "seq_cst fence, both pay";
}

LOCKSTEP_INLINE void yield_native_thread() noexcept { native_system::yield(); }
LOCKSTEP_INLINE void set_native_timer_slack(std::uint64_t nanoseconds) noexcept {
  native_system::set_timer_slack(nanoseconds);
}
LOCKSTEP_INLINE std::uint64_t shorten_native_timer_slack(std::uint64_t nanoseconds) noexcept {
  const std::uint64_t before = native_system::timer_slack();
  if (before <= nanoseconds) return 0;
  native_system::set_timer_slack(nanoseconds);
  return before;
}
LOCKSTEP_INLINE int native_current_cpu() noexcept { return native_system::current_cpu(); }
LOCKSTEP_INLINE bool move_off_native_cpu(unsigned cpu) noexcept {
  return native_system::move_off(cpu);
}
LOCKSTEP_INLINE bool is_native_machine_full() noexcept { return native_system::is_machine_full(); }

LOCKSTEP_INLINE bool name_this_thread(const char* name) noexcept {
  return native_system::set_name(name);
}
LOCKSTEP_INLINE std::uint64_t shown_thread_number() noexcept {
  return native_system::thread_number();
}
LOCKSTEP_INLINE std::uint64_t process_number() noexcept { return native_system::process_number(); }
LOCKSTEP_INLINE const char* program_name() noexcept { return native_system::program_name(); }
LOCKSTEP_INLINE bool has_rights_of_others() noexcept {
  return native_system::has_rights_of_others();
}

#if defined(LOCKSTEP_SYSTEM_SEAM)

/// A test's system is one process.
LOCKSTEP_INLINE void shared_futex::wait(const wait_word& word, std::uint32_t expected,
                                        std::uint64_t deadline) {
  futex_wait(word, expected, deadline);
}
LOCKSTEP_INLINE void shared_futex::wake_all(const wait_word* word) { futex_wake_all(word); }

#else

LOCKSTEP_INLINE void shared_futex::wait(const wait_word& word, std::uint32_t expected,
                                        std::uint64_t deadline) {
  native_system::shared_futex::wait(word, expected, deadline);
}
LOCKSTEP_INLINE void shared_futex::wake_all(const wait_word* word) {
  native_system::shared_futex::wake_all(word);
}

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
  const struct {
    bool is_there;
    const char* what;
  } things[] = {
      {!is_futex_portable(), "sleeping on a word"},
      {process_fence::prepare() == process_fence::kind::asymmetric, "process-wide fence"},
      {native_system::binds_threads, "binding of threads"},
      {native_system::names_threads, "names of threads"},
      {native_system::tells_of_quotas, "quotas of CPU time"},
      {native_system::has_fine_timers, "timers finer than a millisecond"},
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
