// SPDX-License-Identifier: MIT
// lockstep/detail/trace/ledger_slot.hpp -- whether a team keeps a ledger, and where (layer: trace)
//
//   SLOT-1  A board is made when the ledger is first switched on. It lives as long as the slot: a thread that has seen it
//           may use it until its team ends.
//   SLOT-2  observer::accounts is on as long as a ledger of the process is.
//
// Memory order (# marks the line)
//   #  access            order    pairs  why it suffices
//   1  made.load         acquire  2      the board is made before its address is seen
//   2  made.store        release  1      as 1
//   3  is_on.load        relaxed  -      a hint: a member that is late counts one region more, or one less
//   4  is_on.store       relaxed  -      as 3
//   5  ledgers.fetch_add relaxed  -      a count that stands for itself
//   6  ledgers.fetch_sub relaxed  -      as 5
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
  ledger_slot() noexcept = default;
  ~ledger_slot() {
    switch_off();
    delete made();
  }
  ledger_slot(const ledger_slot&) = delete;
  ledger_slot& operator=(const ledger_slot&) = delete;

  /// The board, also when the ledger is off; null: never made.
  ledger_board* made() const noexcept { return made_.load(memory_order_acquire); }  // 1
  /// Where to keep accounts; null: nowhere.
  ledger_board* if_on() const noexcept { return is_on() ? made() : nullptr; }
  bool is_on() const noexcept { return is_on_.load(memory_order_relaxed) != 0; }  // 3

  /// By one thread at a time. Throws std::bad_alloc. Larger teams than ledger_board::most_members keep none.
  void switch_on(std::size_t members) {
    if (is_on() || members > ledger_board::most_members) return;
    if (made() == nullptr)
      made_.store(new ledger_board(members, tick_clock::rate()), memory_order_release);  // 2
    is_on_.store(1, memory_order_relaxed);                                               // 4
    if (process().ledgers.fetch_add(1, memory_order_relaxed) == 0) {                     // 5
      begin_to_observe(observer::accounts);
    }
  }
  void switch_off() noexcept {
    if (!is_on()) return;
    is_on_.store(0, memory_order_relaxed);                            // 4
    if (process().ledgers.fetch_sub(1, memory_order_relaxed) == 1) {  // 6
      end_to_observe(observer::accounts);
    }
  }

 private:
  unseamed_atomic<ledger_board*> made_{nullptr};
  unseamed_atomic<std::uint32_t> is_on_{0};
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TRACE_LEDGER_SLOT_HPP
