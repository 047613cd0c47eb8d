// SPDX-License-Identifier: MIT
// src/loop/loop_share.hpp -- a part of a loop as the loop's function sees it (layer: loop)
//
// A part knows its share, and not the thread that runs it. loop_ends is what the caller of a loop does before and after
// the loop.
//
// Memory order (# marks the line)
//   #  access             order    pairs  why it suffices
//   1  tickets.fetch_add  relaxed  -      hands out numbers
#ifndef LOCKSTEP_SRC_LOOP_LOOP_SHARE_HPP
#define LOCKSTEP_SRC_LOOP_LOOP_SHARE_HPP

#include <cstddef>
#include <cstdint>

#include <lockstep/detail/base/cells.hpp>
#include <lockstep/detail/platform/atomic.hpp>
#include <lockstep/detail/platform/cache_line.hpp>
#include <lockstep/schedule.hpp>
#include "../region/stop_source.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// Room for small values of parts. The caller of a loop keeps it until the loop is over.
using loop_cells = aligned_array<cell>;

/// What the shares of a loop have in common.
struct loop_common {
  stop_source& stop;
  atomic<std::size_t>& tickets;  ///< 0 when the loop begins
  std::uint32_t region;
  std::uint32_t shares;
  std::uint32_t parts;  ///< of each share
};

class loop_share {
 public:
  loop_share(const loop_common& of, std::size_t rank, std::uint32_t part, cell* beside) noexcept
      : of_(of), rank_(rank), part_(part), beside_(beside) {}

  /// The rank of the member whose share it is.
  std::size_t rank() const noexcept { return rank_; }
  /// How many shares there are.
  std::size_t size() const noexcept { return of_.shares; }
  bool is_alone() const noexcept { return of_.shares == 1; }
  std::uint32_t parts() const noexcept { return of_.parts; }
  /// This part's number among the parts of all shares.
  std::size_t number() const noexcept { return rank_ * of_.parts + part_; }
  std::uint32_t region() const noexcept { return of_.region; }
  const stop_source& stop() const noexcept { return of_.stop; }
  bool may_stop() const noexcept { return of_.stop.requested_relaxed(of_.region); }
  bool is_stopped() const noexcept { return of_.stop.requested(of_.region); }

  /// This part of a range.
  index_range block_of(index_range range) const noexcept {
    const index_range mine = static_block(range.first, range.last, rank_, of_.shares);
    return of_.parts == 1 ? mine : static_block(mine.first, mine.last, part_, of_.parts);
  }
  /// The next number (0, 1, ...) from a counter that all shares use.
  std::size_t take() const noexcept {
    return of_.tickets.fetch_add(1, memory_order_relaxed);  // 1
  }
  /// A cell that travels with the report of this share; null if the share has several parts.
  cell* beside_report() const noexcept { return beside_; }

 private:
  const loop_common& of_;
  std::size_t rank_;
  std::uint32_t part_;
  cell* beside_;
};

struct loop_plan;
class region_board;

/// What the caller does before a loop, and after one that was not stopped. `reports` holds the cells that travelled
/// with the reports. A null function does nothing.
struct loop_ends {
  void* data;
  void (*prepare)(void* data, const loop_plan& plan, loop_cells& cells);
  void (*finish)(void* data, const loop_plan& plan, region_board& reports);
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_LOOP_LOOP_SHARE_HPP
