// SPDX-License-Identifier: MIT
// lockstep/detail/trace/ledger_slot.hpp -- whether a team keeps a ledger, and where (layer: trace)
//
//   KEEP-1  A board is made when the ledger is first switched on. It lives as long as the slot: who has seen it
//           may use it until its team ends.
//   KEEP-2  observer::accounts is on as long as a ledger of the process is.
//
// Memory order (# marks the line)
//   #  access            order    pairs  why it suffices
//   1  made.load         acquire  2      the board is made before its address is seen
//   2  made.store        release  1      as 1
//   3  on.load           acquire  4      as 1: the board, where one is to be kept
//   4  on.store          release  3      as 1
//   5  on.store          relaxed  -      null: nothing to see there
//
// Cost   off: none but the look at observers().
#ifndef LOCKSTEP_DETAIL_TRACE_LEDGER_SLOT_HPP
#define LOCKSTEP_DETAIL_TRACE_LEDGER_SLOT_HPP

#include <cstddef>
#include <cstdint>

#include "../platform/atomic.hpp"
#include "../platform/config.hpp"
#include "ledger_board.hpp"
#include "observers.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

class ledger_slot {
 public:
  /// Of a team whose members have so many CPUs.
  explicit ledger_slot(std::size_t cpus) noexcept : cpus_(cpus) {}
  ~ledger_slot() {
    if (LOCKSTEP_UNLIKELY(made() != nullptr)) destroy();
  }
  ledger_slot(const ledger_slot&) = delete;
  ledger_slot& operator=(const ledger_slot&) = delete;

  /// The board, also when the ledger is off; null: never made.
  ledger_board* made() const noexcept { return made_.load(memory_order_acquire); }  // 1
  /// Where to keep accounts; null: nowhere.
  ledger_board* if_on() const noexcept { return on_.load(memory_order_acquire); }  // 3

  /// By one thread at a time. Throws std::bad_alloc. Larger teams than ledger_board::most_members keep none.
  void switch_on(std::size_t members) {
    if (if_on() != nullptr || members > ledger_board::most_members) return;
    if (made() == nullptr)
      made_.store(new ledger_board(members, tick_clock::rate(), cpus_), memory_order_release);  // 2
    made()->begin_to_keep(tick_clock::now());
    on_.store(made(), memory_order_release);  // 4
    one_ledger_more();
  }
  void switch_off() noexcept {
    if (if_on() == nullptr) return;
    on_.store(nullptr, memory_order_relaxed);  // 5
    made()->end_to_keep(tick_clock::now());
    one_ledger_less();
  }

 private:
  LOCKSTEP_OBSERVER void destroy() noexcept;

  const std::size_t cpus_;
  observer_atomic<ledger_board*> made_{nullptr};
  observer_atomic<ledger_board*> on_{nullptr};
};

#if LOCKSTEP_HAS_OBSERVERS
LOCKSTEP_OBSERVER void ledger_slot::destroy() noexcept {
  switch_off();
  delete made();
}
#endif

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TRACE_LEDGER_SLOT_HPP
