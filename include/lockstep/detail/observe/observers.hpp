// SPDX-License-Identifier: MIT
// lockstep/detail/observe/observers.hpp -- which observers are on in this process (layer: observe)
//
// Four observers see what threads do: the recorder of the timeline, the ledger of waits, the watchdog, and the one that
// delays threads. One word of the process says which are on. All that they see goes through hooks (hooks.hpp) of the
// form
//     if (LOCKSTEP_UNLIKELY(observers() != 0)) hook(...);
//
//   OBSERVE-1  An observer that is switched on sees what begins from then on. After one is switched off, hooks that are
//              under way may still reach it: what an observer writes to is never freed.
//
// Memory order (# marks the line)
//   #  access              order    pairs  why it suffices
//   1  observers.load      relaxed  -      a hint: a hook finds what it needs by orders of its own
//   2  word.load           relaxed  -      what it points to was made before the program began
//   3  word.store          relaxed  -      as 2
//
// Cost   with no observer on: two loads, of lines that no thread writes, and a branch.
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
    accounts = 0xFFFFFF00u  ///< a count of ledgers that are on, because each team has its own
  };
};

using observers_word = observer_atomic<std::uint32_t>;

/// The word of the process. `is_unchecked`: for a unit that does not diagnose misuse. Such a unit may lock what other
/// units unlock.
const observers_word& find_observers(bool is_unchecked) noexcept;

/// Points to the word at which this module looks: until the module is loaded one that stays 0, then that of the
/// process. So a look need not test whether the word of the process is known.
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

// At load, so that no wait has to look for the process. The library's own units lock nothing of the user's.
LOCKSTEP_AT_LOAD find_observers_at_load() {
  watched_module::at.store(&find_observers(!diagnoses_misuse && !builds_library),  // 3
                           memory_order_relaxed);                                  // 3
}

/// The observers that are on now.
LOCKSTEP_ALWAYS_INLINE std::uint32_t observers() noexcept {
  if (!calls_at_load) return find_observers(false).load(memory_order_relaxed);       // 1
  return watched_module::at.load(memory_order_relaxed)->load(memory_order_relaxed);  // 1, 2
}

/// Whether an observer besides the ledger is on. The ledger only counts most meetings, and looks closely at few.
inline bool watch_others_than_ledger(std::uint32_t on) noexcept {
  return (on & ~std::uint32_t{observer::accounts}) != 0;
}
inline bool is_observed_by(observer::bit one) noexcept { return (observers() & one) != 0; }

// Hooks of small objects. HOOK-1 of src/observe/hooks.hpp holds, which has all other hooks.

/// Sleepers on a word are woken.
void note_wake(const void* word) noexcept;
/// A lock was taken, or is about to be given up.
void note_lock(const void* object, bool is_taken) noexcept;
/// The calling thread has begun. The thread that joins it waits for `word`.
void note_thread(const void* word) noexcept;

/// A point at which a thread may be delayed, before it does what others may wait for. In builds that do not diagnose
/// misuse, this and notify_point() do nothing: a look at the observers takes 1 to 3 % of a notify.
void pass_sync_point() noexcept;
inline void sync_point() noexcept {
  if (diagnoses_misuse) pass_sync_point();
}
/// The same before a thread releases those that wait for `word`: the object that waiters name, or the word that they
/// sleep on. For objects that have no other hook.
void pass_notify_point(const void* word) noexcept;
inline void notify_point(const void* word) noexcept {
  if (diagnoses_misuse) pass_notify_point(word);
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_OBSERVE_OBSERVERS_HPP
