// SPDX-License-Identifier: MIT
// src/reduce/member_reductions.cpp -- how the members of a region reduce and scan a range (layer: reduce)
//
// For REDUCE-1 to REDUCE-5 see reductions.hpp.
#include "member_nodes.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

namespace reductions {

LOCKSTEP_INLINE bool is_stopped(const leaf_run& run) noexcept {
  return run.stop != nullptr && run.stop->requested(run.region);
}

/// REDUCE-5, before the leaves of `length` iterations. False once the region is stopped.
inline bool wait_for_data(member_state& at, std::size_t length, schedule how) {
  if (at.has_waited()) return true;
  const bool are_own = how.kind() == schedule_kind::static_blocks &&
                       at.blocks_without_wait == length &&
                       reduction_tree::leaves_keep_blocks(length, at.size());
  return are_own || at.wait_before_construct();
}

/// Gives the same bits for every number of members and every schedule.
LOCKSTEP_INLINE bool reduce(by_members in, const operations& what, const operands& of,
                            std::size_t length, schedule how, result_cell& result) {
  member_state& at = in.at;
  const index_range all = {0, reduction_tree::leaves_of(length)};
  if (all.last == 0 || !at.goes_on()) return at.sync();
  if (!at.is_alone() && !wait_for_data(at, length, how)) return false;
  const without_constructs mark(at, "a reduction");
  if (at.is_alone()) {
    return what.fold(of, run_of(at, length, all), &result.keeps, result.value) && at.goes_on();
  }

  member_nodes nodes(at, what, of, length, all);
  const auto combine_all = [&](cell& into) {
    reduction_tree::published_nodes published(all, at.size());
    nodes.combine(published, all, at.memory_for(member_state::result, what.are_kept), into);
  };
  cell out = {};
  if (!nodes.put(how, out, combine_all)) return false;
  if (what.are_kept) {
    const auto copied = [&out](std::size_t, std::size_t) { return &out; };
    what.combine(of, all, copied, false, &result.keeps, result.value);
  } else {
    result.value = out;
  }
  return true;
}

/// Two passes over the leaves, so f is called twice for each index. The first sums each leaf. The second starts at a
/// leaf's prefix, the left fold of the sums before it (TREE-5), and stores the running values.
LOCKSTEP_INLINE bool scan(by_members in, const operations& what, const operands& of,
                          std::size_t length, schedule, const void* init, void* total) {
  member_state& at = in.at;
  if (!at.goes_on()) return false;
  if (!at.is_alone() && !wait_for_data(at, length, static_schedule())) return false;
  const without_constructs mark(at, "a scan");
  const index_range all = {0, reduction_tree::leaves_of(length)};
  if (at.is_alone()) {
    return what.scan_leaves(of, 0, run_of(at, length, all), nullptr, init, total) && at.goes_on();
  }
  const leaf_run mine = run_of(at, length, at.block_of(all));
  const leaf_run rest = run_of(at, length, {all.last, all.last});
  kept_values* const keeps = at.memory_for(member_state::leaves, what.are_kept);
  cell* const sums = &at.shared().leaves[0];
  return what.sum_leaves(of, mine, keeps, sums) && at.sync() &&
         what.scan_leaves(of, 0, mine, sums, init, total) &&
         what.scan_leaves(of, mine.leaves.last, rest, sums, total, total) && at.sync();
}

}  // namespace reductions
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
