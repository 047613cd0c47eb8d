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
//   2  observers.fetch_or  relaxed  -      as 1
//   3  observers.fetch_and relaxed  -      as 1
//   4  observers.fetch_add relaxed  -      as 1
//   5  observers.fetch_sub relaxed  -      as 1
//   6  word.load           relaxed  -      what it points to was made before the program began
//   7  word.store          relaxed  -      as 6
//
// Cost   nobody watches: two loads, of lines that nobody writes, and a branch.
#ifndef LOCKSTEP_DETAIL_OBSERVE_OBSERVERS_HPP
#define LOCKSTEP_DETAIL_OBSERVE_OBSERVERS_HPP

#include <cstdint>

#include <lockstep/detail/platform/process.hpp>

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

#if LOCKSTEP_MODULES_HAVE_NOTES

/// Where this module looks for who watches: at a word that stays 0, or from its load on at that of the process. So a
/// look needs no test whether the process is known.
template <class Name>
struct __attribute__((visibility("hidden"))) observers_of_module {
  using word = observer_atomic<std::uint32_t>;

  static word none;
  static unseamed_atomic<const word*> at;
};
template <class Name>
typename observers_of_module<Name>::word observers_of_module<Name>::none{0};
template <class Name>
unseamed_atomic<const typename observers_of_module<Name>::word*> observers_of_module<Name>::at{
    &observers_of_module<Name>::none};
using watched_module = observers_of_module<struct whole_module>;

LOCKSTEP_AT_LOAD see_observers_at_load() {
  watched_module::at.store(&process().observers, memory_order_relaxed);  // 7
}

/// Who watches now.
inline std::uint32_t observers() noexcept {
  return watched_module::at.load(memory_order_relaxed)->load(memory_order_relaxed);  // 1, 6
}

#else

inline std::uint32_t observers() noexcept {
  return process().observers.load(memory_order_relaxed);  // 1
}

#endif

/// Whether somebody watches beside the ledger, which counts most meetings and looks closely at few.
inline bool watch_others_than_ledger(std::uint32_t on) noexcept {
  return (on & ~std::uint32_t{observer::accounts}) != 0;
}
inline bool is_observed_by(observer::bit one) noexcept { return (observers() & one) != 0; }

inline void begin_to_observe(observer::bit one) noexcept {
  process().observers.fetch_or(one, memory_order_relaxed);  // 2
}
inline void end_to_observe(observer::bit one) noexcept {
  process().observers.fetch_and(~std::uint32_t{one}, memory_order_relaxed);  // 3
}
inline void one_ledger_more() noexcept {
  process().observers.fetch_add(observer::one_ledger, memory_order_relaxed);  // 4
}
inline void one_ledger_less() noexcept {
  process().observers.fetch_sub(observer::one_ledger, memory_order_relaxed);  // 5
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_OBSERVE_OBSERVERS_HPP
