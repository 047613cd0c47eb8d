// SPDX-License-Identifier: MIT
// src/team/team_reductions.cpp -- reductions and scans that are a region by themselves (layer: team)
//
// Each share of the loop, or each part of it, has a block of leaves (reduction_tree.hpp). Whichever thread runs it
// evaluates the maximal nodes in the block, and the caller combines them when the loop is done. How the leaves are
// shared out changes no bit of the result.
//
//   NODES-1  If a share has one part, its first node travels with its report: one line for both. Usually there is no
//            other. All others go to cells of the team, each to the cell of its first leaf.
//   NODES-2  Values that do not fit a cell live until the caller has them all.
#include <lockstep/detail/reduce/reductions.hpp>

#include <vector>

#include <lockstep/detail/loop/leaf_loop.hpp>
#include <lockstep/detail/region/job.hpp>
#include <lockstep/detail/team/team_host.hpp>

#include "../loop/loop_crew.hpp"
#include "../reduce/member_nodes.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace reductions {

/// What the parts of a loop hand over. It lies in the caller's frame; parts point to it. What they read is on one line.
struct alignas(64) values_of_parts {
  cell* cells = nullptr;  ///< one for each leaf; null before a loop of several shares begins
  std::vector<kept_values> kept;  ///< of each part: NODES-2

  void prepare(const operations& what, const loop_plan& plan, cell* cells_of_leaves) {
    cells = cells_of_leaves;
    if (what.are_kept) kept = std::vector<kept_values>(std::size_t{plan.shares} * plan.parts);
  }
  /// Reads the object only where values do not fit a cell.
  kept_values* keeps_for(const loop_share& me, const operations& what) {
    return what.are_kept ? &kept[me.number()] : nullptr;
  }
};

/// Calls part(share) for all shares.
template <class Part>
bool run_region(const as_region& in, const operations& what, std::size_t length, schedule how,
                const loop_ends* ends, const Part& part) {
  job work;
  work.carry<loop_share>(part);
  const loop_request wanted(length, what.pace, grain_of(how), true, in.where, ends);
  return in.on.run_loop(wanted, work).is_complete;
}

/// Calls whole(run) with all leaves on the caller alone and without a region, if the range is known to be so short
/// (team_host.cpp). Nobody looks for a stop meanwhile: REDUCE-4 allows a strip.
template <class Whole>
lone_outcome run_short(const as_region& in, const operations& what, std::size_t length,
                       schedule how, const Whole& whole) {
  if (length > reduction_tree::strip_length ||
      !may_run_alone(in.on, *what.pace, length, grain_of(how))) {
    return lone_outcome::refused;
  }
  const index_range all = {0, reduction_tree::leaves_of(length)};
  const leaf_run leaves = {length, reduction_tree::leaf_size(length), all, nullptr, 0};
  return in.on.run_alone([&](std::size_t, std::size_t) { whole(leaves); }, length);
}

LOCKSTEP_INLINE bool reduce(as_region in, const operations& what, const operands& of,
                            std::size_t length, schedule how, result_cell& result) {
  if (length == 0) return true;
  const auto whole = [&](const leaf_run& leaves) {
    what.fold(of, leaves, &result.keeps, result.value);
  };
  const lone_outcome alone = run_short(in, what, length, how, whole);
  if (alone != lone_outcome::refused) return alone == lone_outcome::complete;
  const index_range all = {0, reduction_tree::leaves_of(length)};
  values_of_parts nodes;
  // Five words, which travel with the announcement. If the value travels with the report, a share reads no more.
  const auto part = [&what, &of, length, &nodes, &whole](loop_share& me) {
    const index_range mine = me.block_of(index_range{0, reduction_tree::leaves_of(length)});
    if (me.is_alone()) return whole(run_of(me, length, mine));
    for_nodes(length, mine, [&](std::size_t number, index_range node) {
      cell* const beside = number == 0 ? me.beside_report() : nullptr;
      return what.fold(of, run_of(me, length, node), nodes.keeps_for(me, what),
                       beside != nullptr ? *beside : nodes.cells[node.first]);
    });
  };
  const auto prepare = [&](const loop_plan& plan, cell* cells) {
    nodes.prepare(what, plan, cells);
  };
  const auto finish = [&](const loop_plan& plan, region_board& beside) {
    reduction_tree::published_nodes published(all, plan.shares, plan.parts);
    const auto from = [&](std::size_t a, std::size_t b) -> const cell* {
      if (!published.has(b)) return nullptr;
      const bool is_beside = published.node() == 0 && plan.parts == 1;
      const cell& found = is_beside ? beside.beside_report(published.block()) : nodes.cells[a];
      published.advance(b);
      return &found;
    };
    what.combine(of, all, from, true, &result.keeps, result.value);
  };
  const loop_ends ends = {prepare, finish};
  return run_region(in, what, length, how, &ends, part);
}

/// Two loops: the first sums each leaf, the second stores each leaf's results from its prefix on. Alone: one loop.
LOCKSTEP_INLINE bool scan(as_region in, const operations& what, const operands& of,
                          std::size_t length, schedule how, const void* init, void* total) {
  if (length == 0) return true;
  const index_range all = {0, reduction_tree::leaves_of(length)};
  values_of_parts sums;
  owner<aligned_array<cell>> own_cells;  // another region may use the team's after the first loop
  const auto whole = [&](const leaf_run& leaves) {
    what.scan_leaves(of, 0, leaves, nullptr, init, total);
  };
  const auto sum = [&](loop_share& me) {
    const leaf_run mine = run_of(me, length, me.block_of(all));
    if (me.is_alone()) return whole(mine);
    what.sum_leaves(of, mine, sums.keeps_for(me, what), sums.cells);
  };
  const auto store = [&](loop_share& me) {
    what.scan_leaves(of, 0, run_of(me, length, me.block_of(all)), sums.cells, init, nullptr);
  };
  const auto prepare = [&](const loop_plan& plan, cell*) {
    own_cells.reset(new aligned_array<cell>(all.last));
    sums.prepare(what, plan, own_cells->data());
  };
  const auto finish = [&](const loop_plan&, region_board&) {
    what.scan_leaves(of, 0, {0, 0, {all.last, all.last}, nullptr, 0}, sums.cells, init, total);
  };
  const lone_outcome alone = run_short(in, what, length, how, whole);
  if (alone != lone_outcome::refused) return alone == lone_outcome::complete;
  const loop_ends ends = {prepare, finish};
  const bool is_complete =
      run_region(in, what, length, how, &ends, [&sum](loop_share& me) { sum(me); });
  if (!is_complete || sums.cells == nullptr) return is_complete;
  return run_region(in, what, length, how, nullptr, [&store](loop_share& me) { store(me); });
}

}  // namespace reductions
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
