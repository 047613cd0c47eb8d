// SPDX-License-Identifier: MIT
// lockstep/detail/toolbox/phase_board.hpp -- writers publish phases, readers wait for all of them (layer: toolbox)
//
// The common part of fan_out, fan_in and fan_in_out; use those. Every writer has a phase number that it alone
// advances. Every reader remembers the phase that it has reached. A wait blocks until *each* writer is beyond
// that phase: a fast writer cannot stand in for a slow one, and may run ahead without losing a notification.
//
// What happens before an advance happens before the return of every wait that needs it.
// Lifetime: destroy only after every call on the board has returned.
//
// Cost   advance: one store, one load of a read-mostly line. Wait for W writers: W line fetches, in parallel
//        if all writers have advanced.
#ifndef LOCKSTEP_DETAIL_TOOLBOX_PHASE_BOARD_HPP
#define LOCKSTEP_DETAIL_TOOLBOX_PHASE_BOARD_HPP

#include <cstddef>
#include <cstdint>

#include <lockstep/call_site.hpp>
#include <lockstep/detail/observe/wait_kinds.hpp>
#include <lockstep/detail/platform/config.hpp>
#include <lockstep/detail/wait/misuse.hpp>
#include <lockstep/wait_policy.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

class phase_board {
 public:
  /// `kind`: what observers know it by. The policy takes into account whether writers and readers are crowded.
  phase_board(std::size_t writers, std::size_t readers, wait_policy policy,
              std::uint32_t first_phase, wait_kind kind = wait_kind::of_construct);
  ~phase_board();
  phase_board(const phase_board&) = delete;
  phase_board& operator=(const phase_board&) = delete;

  std::size_t writers() const noexcept;
  std::size_t readers() const noexcept;
  wait_policy policy() const noexcept;

  /// Publishes the writer's next phase.
  void advance(std::size_t writer);

  /// Waits until every writer is beyond the reader's phase, then moves the reader on. Begins with writer `first`:
  /// readers that begin with different writers disturb each other less.
  wait_status wait_until(std::size_t reader, std::size_t first, deadline until,
                         call_site where = call_site::none());

  /// True, and moves the reader on, if a wait would return at once; never blocks.
  bool try_wait(std::size_t reader) noexcept;

  void terminate();
  bool terminated() const noexcept;

 private:
  struct state;
  struct next_phase;

  state* const state_;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TOOLBOX_PHASE_BOARD_HPP
