// SPDX-License-Identifier: MIT
// src/trace/ledger_slot.hpp -- whether a team keeps a ledger, and where (layer: trace)
//
//   KEEP-1  A board is made when the ledger is first switched on. It lives as long as the team_view: who has seen it
//           may use it until its team ends.
//   KEEP-2  observer::accounts is on as long as a ledger of the process is.
//
// Memory order (# marks the line)
//   #  access            order    pairs  why it suffices
//   1  made.load         acquire  2      the board is made before its address is seen
//   2  made.store        release  1      as 1
//   3  kept.load         acquire  4      as 1: the board, where one is to be kept
//   4  kept.store        release  3      as 1
//   5  kept.store        relaxed  -      null: nothing to see there
#ifndef LOCKSTEP_SRC_TRACE_LEDGER_SLOT_HPP
#define LOCKSTEP_SRC_TRACE_LEDGER_SLOT_HPP

#include "../observe/hooks.hpp"
#include "../observe/observers.hpp"
#include "ledger_board.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// Whether a team keeps a ledger, and where.
class ledger_slot {
 public:
  explicit ledger_slot(team_view& of) noexcept : of_(of) {}

  /// The board, also when the ledger is off; null: never made.
  static ledger_board* made(const team_view& of) noexcept {
    return of.made.load(memory_order_acquire);  // 1
  }
  /// Where to keep accounts; null: nowhere.
  static ledger_board* if_on(const team_view& of) noexcept {
    return of.kept.load(memory_order_acquire);  // 3
  }
  ledger_board* made() const noexcept { return made(of_); }
  ledger_board* if_on() const noexcept { return if_on(of_); }

  /// By one thread at a time. Throws std::bad_alloc. Larger teams than ledger_board::most_members keep none.
  void switch_on() {
    if (if_on() != nullptr || of_.members > ledger_board::most_members) return;
    if (made() == nullptr) {
      of_.made.store(new ledger_board(of_.members, tick_clock::rate(), of_.cpus),
                     memory_order_release);  // 2
    }
    made()->begin_to_keep(tick_clock::now());
    of_.kept.store(made(), memory_order_release);  // 4
    one_ledger_more();
  }
  void switch_off() noexcept {
    if (if_on() == nullptr) return;
    of_.kept.store(nullptr, memory_order_relaxed);  // 5
    made()->end_to_keep(tick_clock::now());
    one_ledger_less();
  }

 private:
  team_view& of_;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_TRACE_LEDGER_SLOT_HPP
