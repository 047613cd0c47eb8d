// SPDX-License-Identifier: MIT
// lockstep/detail/trace/observers.hpp -- who watches this process (layer: trace)
//
// Four observers see what threads do: the recorder of the timeline, the ledger of waits, the watchdog, and the one that
// delays threads. Which are on is one word for the process. All that is to be seen goes through hooks of the form
//     if (LOCKSTEP_UNLIKELY(observers() != 0)) cold_function(...);
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
#ifndef LOCKSTEP_DETAIL_TRACE_OBSERVERS_HPP
#define LOCKSTEP_DETAIL_TRACE_OBSERVERS_HPP

#include <cstdint>
#include <cstdio>

#include "../platform/error.hpp"
#include "../platform/process.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// Bits of the word.
struct observer {
  enum bit : std::uint32_t {
    records = 1,  ///< recorder.hpp
    watches = 4,  ///< the watchdog
    delays = 8,   ///< seeded delays
    one_ledger = 0x100,
    accounts = 0xFFFFFF00u  ///< how many ledgers are on: teams switch theirs at the same time
  };
};

/// Is where the module has the code of the observers.
LOCKSTEP_OBSERVER void observers_are_here() noexcept;
#if LOCKSTEP_HAS_OBSERVERS
LOCKSTEP_OBSERVER void observers_are_here() noexcept {}
#endif

#if LOCKSTEP_OBSERVERS_ON_DEMAND

// The settings of a unit of this module that has them, if there is one: a name without a namespace, which units with
// other settings find too. They have no other use for that unit: its functions are not theirs.
extern const char settings_of_observers[] __asm__("lockstep_settings_of_observers")
    __attribute__((weak, visibility("hidden")));
#if LOCKSTEP_HAS_OBSERVERS
const char settings_of_observers[] = LOCKSTEP_ABI_TEXT;
#endif

inline bool has_observers() noexcept {
  void (*volatile mark)() =
      &observers_are_here;  // volatile: a unit that has it is not to take it for granted
  return mark != nullptr;
}

/// Why this unit has none: a text of at most so many characters.
inline void tell_why_without_observers(char* text, std::size_t size) {
  const char* const volatile others = settings_of_observers;  // volatile: as above
  if (others == nullptr) {
    std::snprintf(
        text, size, "the program has no code for that; %s",
        "define LOCKSTEP_OBSERVABLE as 1 in one unit, before it includes lockstep, or link "
        "lockstep::lockstep");
    return;
  }
  std::snprintf(
      text, size,
      "the unit that defines LOCKSTEP_OBSERVABLE is compiled with other settings (%s) than "
      "this one (%s): NDEBUG or LOCKSTEP_DIAGNOSE_MISUSE, exceptions, and "
      "LOCKSTEP_FORCE_PORTABLE_FUTEX must be the same; or define it in one unit of each kind",
      others, LOCKSTEP_ABI_TEXT);
}

#else
inline bool has_observers() noexcept { return true; }
inline void tell_why_without_observers(char* text, std::size_t) { *text = 0; }
#endif

/// For functions that are of no use without: fails if this module has no observers.
inline void need_observers(const char* function) {
  if (has_observers()) return;
  char why[400], text[500];
  tell_why_without_observers(why, sizeof why);
  std::snprintf(text, sizeof text, "lockstep::%s: %s", function, why);
  fail_use(text);
}

#if LOCKSTEP_MODULES_HAVE_NOTES

/// Where this module looks for who watches: at a word that stays 0, or from the load of a unit that has the code of the
/// observers on at that of the process. So a look needs no test whether the process is known, nor whether code is there.
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

#if LOCKSTEP_HAS_OBSERVERS || !LOCKSTEP_OBSERVERS_ON_DEMAND
LOCKSTEP_AT_LOAD see_observers_at_load() {
  watched_module::at.store(&process().observers, memory_order_relaxed);  // 7
}
#endif

/// Who watches now, as far as this module can serve them.
inline std::uint32_t observers() noexcept {
  return watched_module::at.load(memory_order_relaxed)->load(memory_order_relaxed);  // 1, 6
}

#else

inline std::uint32_t observers() noexcept {
  const std::uint32_t all = process().observers.load(memory_order_relaxed);  // 1
  return LOCKSTEP_UNLIKELY(all != 0) && has_observers() ? all : 0;
}

#endif

/// Whether somebody watches beside the ledger, which has ways of its own through constructs and regions.
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

#endif  // LOCKSTEP_DETAIL_TRACE_OBSERVERS_HPP
