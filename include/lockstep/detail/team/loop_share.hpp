// SPDX-License-Identifier: MIT
// lockstep/detail/team/loop_share.hpp -- what a loop's function sees of the part that it is to run (layer: team)
//
// In a region that is one loop (team_loops.hpp) a thread runs parts of shares, its own or another member's. A part
// knows which share it is of, and nothing of the thread: it uses nothing that belongs to a member.
//
// Memory order (# marks the line)
//   #  access             order    pairs  why it suffices
//   1  tickets.fetch_add  relaxed  -      hands out numbers; set to 0 before the loop is announced
#ifndef LOCKSTEP_DETAIL_TEAM_LOOP_SHARE_HPP
#define LOCKSTEP_DETAIL_TEAM_LOOP_SHARE_HPP

#include <cstddef>
#include <cstdint>

#include "chunks.hpp"
#include "member_state.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// Room for small values of parts; who runs a loop has it until it is over.
using loop_cells = detail::aligned_array<cell>;

/// What the shares of a loop have in common.
struct loop_common {
  stop_source& stop;
  detail::atomic<std::size_t>& tickets;  ///< 0 when the loop begins
  std::uint32_t region;
  std::uint32_t shares;
  std::uint32_t parts;  ///< of each share
};

class loop_share {
 public:
  loop_share(const loop_common& of, std::size_t rank, std::uint32_t part, cell* beside) noexcept
      : of_(of), rank_(rank), part_(part), beside_(beside) {}

  /// Of the member whose share it is.
  std::size_t rank() const noexcept { return rank_; }
  /// How many shares there are.
  std::size_t size() const noexcept { return of_.shares; }
  bool is_alone() const noexcept { return of_.shares == 1; }
  std::uint32_t parts() const noexcept { return of_.parts; }
  std::uint32_t region() const noexcept { return of_.region; }
  bool may_stop() const noexcept { return of_.stop.requested_relaxed(of_.region); }
  bool is_stopped() const noexcept { return of_.stop.requested(of_.region); }

  /// This part of a range.
  index_range block_of(index_range range) const noexcept {
    const index_range mine = static_block(range.first, range.last, rank_, of_.shares);
    return of_.parts == 1 ? mine : static_block(mine.first, mine.last, part_, of_.parts);
  }
  /// The next number from a counter that all shares have in common: 0, 1, ...
  std::size_t take() const noexcept {
    return of_.tickets.fetch_add(1, detail::memory_order_relaxed);  // 1
  }
  /// Travels with the report of this share, if it has one part; else null.
  cell* beside_report() const noexcept { return beside_; }

 private:
  const loop_common& of_;
  std::size_t rank_;
  std::uint32_t part_;
  cell* beside_;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_LOOP_SHARE_HPP
