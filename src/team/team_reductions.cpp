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

#include <algorithm>
#include <vector>

#include <lockstep/detail/loop/leaf_loop.hpp>
#include <lockstep/detail/region/job.hpp>
#include <lockstep/detail/team/team_host.hpp>

#include "../loop/loop_crew.hpp"
#include "../loop/loops.hpp"
#include "../reduce/value_stack.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace reductions {

/// What the parts of a loop hand over. It lies in the caller's frame; parts point to it. What they read is on one line.
struct alignas(64) values_of_parts {
  cell* cells = nullptr;  ///< one for each leaf; null before a loop of several shares begins
  std::vector<owner<kept_values>> kept;  ///< of each part: NODES-2

  void prepare(const operations& what, const loop_plan& plan, cell* cells_of_leaves) {
    cells = cells_of_leaves;
    if (what.type != nullptr) {
      kept = std::vector<owner<kept_values>>(std::size_t{plan.shares} * plan.parts);
    }
  }
  /// Room for values that do not fit a cell. Reads the object only where they need it.
  void* room_for(const loop_share& me, const operations& what, std::size_t count) {
    return what.type != nullptr ? make_room(*what.type, kept[me.number()], count) : nullptr;
  }
};

/// Runs a loop that leaves a result, or has one.
template <class Part>
outcome run(const as_region& in, const operations& what, std::size_t length, schedule how,
            const loop_ends* ends, const Part& part, const result_room& result) {
  job work;
  work.carry<loop_share>(part);
  const loop_request request = {length, what.pace, grain_of(how), true, in.where};
  const bool goes_on = in.on.run_loop(request, work, ends).is_complete;
  return goes_on && result.has_value ? outcome::done : outcome::stopped;
}

LOCKSTEP_INLINE outcome reduce(as_region in, const operations& what, const operands& of,
                               std::size_t length, schedule how, result_room& result) {
  if (length == 0) return outcome::empty;
  values_of_parts nodes;
  // Five words, which travel with the announcement. If the value travels with the report, a share reads no more.
  const auto part = [&what, &of, length, &nodes, &result](loop_share& me) {
    const index_range all = {0, reduction_tree::leaves_of(length)};
    tree_walk values(what, of, run_of(me, length));
    if (me.is_alone()) {
      if (values.push_node(0, all.last) && !me.is_stopped()) values.leave_top(result);
      return;
    }
    const index_range mine = me.block_of(all);
    const std::size_t most = (std::min)(length_of(mine), reduction_tree::most_nodes);
    values.put_nodes(mine, nodes.room_for(me, what, most),
                     [&](std::size_t node, std::size_t leaf) -> cell& {
                       cell* const beside = node == 0 ? me.beside_report() : nullptr;
                       return beside != nullptr ? *beside : nodes.cells[leaf];
                     });
  };
  const auto prepare = [&](const loop_plan& plan, cell* cells) {
    nodes.prepare(what, plan, cells);
  };
  const auto finish = [&](const loop_plan& plan, region_board& beside) {
    const std::size_t leaves = reduction_tree::leaves_of(length);
    value_stack values(what, of);
    reduction_tree::published_nodes published({0, leaves}, plan.shares, plan.parts);
    values.push_published(
        published, 0, leaves, [&](std::size_t block, std::size_t node, std::size_t leaf) {
          const bool is_beside = node == 0 && plan.parts == 1;
          values.push_taken(is_beside ? beside.beside_report(block) : nodes.cells[leaf]);
        });
    values.leave_top(result);
  };
  const loop_ends ends = {prepare, finish};
  return run(in, what, length, how, &ends, part, result);
}

/// Two loops: the first sums each leaf, the second stores each leaf's results from its prefix on. Alone: one loop.
LOCKSTEP_INLINE outcome scan(as_region in, const operations& what, const operands& of,
                             std::size_t length, schedule how, const void* init,
                             result_room& result) {
  if (length == 0) return outcome::empty;
  const index_range all = {0, reduction_tree::leaves_of(length)};
  values_of_parts sums;
  owner<aligned_array<cell>> own_cells;  // another region may use the team's after the first loop
  const auto sum = [&](loop_share& me) {
    const leaf_run mine = run_of(me, length, me.block_of(all));
    if (!me.is_alone()) {
      what.sum_leaves(of, mine, sums.room_for(me, what, length_of(mine.leaves)), sums.cells);
      return;
    }
    value_stack values(what, of, init);
    if (what.scan_leaves(of, 0, mine, nullptr, values.top()) && !me.is_stopped()) {
      values.leave_top(result);
    }
  };
  const auto store = [&](loop_share& me) {
    value_stack values(what, of, init);
    what.scan_leaves(of, 0, run_of(me, length, me.block_of(all)), sums.cells, values.top());
  };
  const auto prepare = [&](const loop_plan& plan, cell*) {
    own_cells.reset(new aligned_array<cell>(all.last));
    sums.prepare(what, plan, own_cells->data());
  };
  const auto finish = [&](const loop_plan&, region_board&) {
    value_stack values(what, of, init);
    what.scan_leaves(of, 0, {0, 0, {all.last, all.last}, nullptr, 0}, sums.cells, values.top());
    values.leave_top(result);
  };
  const loop_ends ends = {prepare, finish};
  const outcome first =
      run(in, what, length, how, &ends, [&sum](loop_share& me) { sum(me); }, result);
  if (first != outcome::done || sums.cells == nullptr) return first;
  return run(in, what, length, how, nullptr, [&store](loop_share& me) { store(me); }, result);
}

}  // namespace reductions
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
