// SPDX-License-Identifier: MIT
// lockstep/detail/observe/observers.hpp -- who watches this process (layer: observe)
//
// Four observers see what threads do: the recorder of the timeline, the ledger of waits, the watchdog, and the one that
// delays threads. Which are on is one word for the process. All that is to be seen goes through hooks (hooks.hpp) of
// the form
//     if (LOCKSTEP_UNLIKELY(observers() != 0)) hook(...);
//
//   OBSERVE-1  An observer that is switched on sees what begins from now on. A hook that is under way when one is
//              switched off may still reach it: what an observer writes to is never freed.
//
// Memory order (# marks the line)
//   #  access              order    pairs  why it suffices
//   1  observers.load      relaxed  -      a hint; who acts on it finds what it needs by orders of its own
//   2  word.load           relaxed  -      what it points to was made before the program began
//   3  word.store          relaxed  -      as 2
//
// Cost   nobody watches: two loads, of lines that nobody writes, and a branch.
#ifndef LOCKSTEP_DETAIL_OBSERVE_OBSERVERS_HPP
#define LOCKSTEP_DETAIL_OBSERVE_OBSERVERS_HPP

#include <cstdint>
#include <lockstep/detail/platform/atomic.hpp>
#include <lockstep/detail/platform/config.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// Bits of the word.
struct observer {
  enum bit : std::uint32_t {
    records = 1,  ///< the timeline
    watches = 4,  ///< the watchdog
    delays = 8,   ///< seeded delays
    one_ledger = 0x100,
    accounts = 0xFFFFFF00u  ///< how many ledgers are on: teams switch theirs at the same time
  };
};

using observers_word = observer_atomic<std::uint32_t>;

/// The word of the process. `is_unchecked`: of a unit that diagnoses no misuse, so that it may lock what others unlock.
const observers_word& find_observers(bool is_unchecked) noexcept;

/// Where this module looks for who watches: at a word that stays 0, or from its load on at that of the process. So a
/// look needs no test whether the process is known.
template <class Name>
struct LOCKSTEP_MODULE_LOCAL observers_of_module {
  static observers_word none;
  static unseamed_atomic<const observers_word*> at;
};
template <class Name>
observers_word observers_of_module<Name>::none{0};
template <class Name>
unseamed_atomic<const observers_word*> observers_of_module<Name>::at{
    &observers_of_module<Name>::none};
using watched_module = observers_of_module<struct whole_module>;

// So that no wait has to look for the process. The library's own units lock nothing of the user's.
LOCKSTEP_AT_LOAD find_observers_at_load() {
  watched_module::at.store(&find_observers(!diagnoses_misuse && !builds_library),  // 3
                           memory_order_relaxed);                                  // 3
}

/// Who watches now.
LOCKSTEP_ALWAYS_INLINE std::uint32_t observers() noexcept {
  if (!calls_at_load) return find_observers(false).load(memory_order_relaxed);       // 1
  return watched_module::at.load(memory_order_relaxed)->load(memory_order_relaxed);  // 1, 2
}

/// Whether somebody watches beside the ledger, which counts most meetings and looks closely at few.
inline bool watch_others_than_ledger(std::uint32_t on) noexcept {
  return (on & ~std::uint32_t{observer::accounts}) != 0;
}
inline bool is_observed_by(observer::bit one) noexcept { return (observers() & one) != 0; }

// What small objects tell: HOOK-1 of src/observe/hooks.hpp, which has the rest.

/// Sleepers on a word are woken.
void note_wake(const void* word) noexcept;
/// A lock was taken, or is about to be given up.
void note_lock(const void* object, bool is_taken) noexcept;

/// Where threads may be delayed: before what others may wait for. In builds that do not diagnose misuse, this and
/// notify_point() are nothing: a look at the observers takes 1 to 3 % of a notify.
void pass_sync_point() noexcept;
inline void sync_point() noexcept {
  if (diagnoses_misuse) pass_sync_point();
}
/// The same before a thread lets those go that wait for `word`, the one that waiters name as their object or sleep on,
/// of an object that has no other hook.
void pass_notify_point(const void* word) noexcept;
inline void notify_point(const void* word) noexcept {
  if (diagnoses_misuse) pass_notify_point(word);
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_OBSERVE_OBSERVERS_HPP
