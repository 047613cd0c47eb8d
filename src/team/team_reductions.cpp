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

/// The base of all of them. It lies in the caller's frame; shares point to it. What they read is on one line.
class alignas(64) reduction_region {
 public:
  /// After the loop: whether the result was written.
  bool has_result() const noexcept { return has_result_; }

 protected:
  reduction_region(const operations& what, const operands& of, std::size_t length,
                   void* result) noexcept
      : what_(what),
        of_(of),
        length_(length),
        leaves_(reduction_tree::leaves_of(length)),
        result_(result) {}

  void have_cells(const loop_plan& plan, loop_cells& cells) {
    cells_ = &cells;
    if (what_.type == nullptr) return;
    kept_ = std::vector<owner<kept_values>>(std::size_t{plan.shares} * plan.parts);
  }
  /// Instead of the team's cells, which another region may use after this one.
  void have_own_cells(std::size_t count) {
    own_cells_.reset(new loop_cells(count));
    cells_ = own_cells_.get();
  }
  /// Room for the values that a part of a share hands over in cells. Reads the object only where they need it.
  void* room_for(const loop_share& me, const operations& what, std::size_t count) {
    return what.type != nullptr ? make_room(*what.type, kept_[me.number()], count) : nullptr;
  }
  void leave_result(value_stack& values) {
    values.take_top(result_);
    has_result_ = true;
  }

  const operations& what_;
  const operands& of_;
  const std::size_t length_, leaves_;
  loop_cells* cells_ = nullptr;

 private:
  owner<loop_cells> own_cells_;
  std::vector<owner<kept_values>> kept_;
  void* const result_;
  bool has_result_ = false;
};

/// What the caller does before the loop and after it, where it is not alone.
template <class Reduction>
loop_ends ends_of(Reduction& whole) noexcept {
  return {&whole,
          [](void* data, const loop_plan& plan, loop_cells& cells) {
            if (plan.shares > 1) static_cast<Reduction*>(data)->prepare(plan, cells);
          },
          [](void* data, const loop_plan& plan, region_board& reports) {
            if (plan.shares > 1) static_cast<Reduction*>(data)->finish(plan, reports);
          }};
}

/// A reduction along the tree.
class range_reduction : public reduction_region {
 public:
  range_reduction(const operations& what, const operands& of, std::size_t length,
                  void* result) noexcept
      : reduction_region(what, of, length, result) {}

  void prepare(const loop_plan& plan, loop_cells& cells) { have_cells(plan, cells); }
  void finish(const loop_plan& plan, region_board& reports) {
    value_stack values(what_, of_);
    reduction_tree::published_nodes nodes({0, leaves_}, plan.shares, plan.parts);
    values.push_published(
        nodes, 0, leaves_, [&](std::size_t block, std::size_t node, std::size_t leaf) {
          const bool is_beside = node == 0 && plan.parts == 1;
          values.push_taken(is_beside ? reports.beside_report(block) : (*cells_)[leaf]);
        });
    leave_result(values);
  }

  void run(loop_share& me, const operations& what, const operands& of, std::size_t length) {
    const std::size_t leaves = reduction_tree::leaves_of(length);
    tree_walk values(me, what, of, length);
    if (me.is_alone()) {
      if (values.push_node(0, leaves) && !me.is_stopped()) leave_result(values);
      return;
    }
    const index_range mine = me.block_of(index_range{0, leaves});
    values.put_nodes(mine,
                     room_for(me, what, (std::min)(length_of(mine), reduction_tree::most_nodes)),
                     [&](std::size_t node, std::size_t leaf) -> cell& {
                       cell* const beside = node == 0 ? me.beside_report() : nullptr;
                       return beside != nullptr ? *beside : (*cells_)[leaf];
                     });
  }
};

/// Two loops: the first sums each leaf, the second stores each leaf's results from its prefix on. Alone: one loop.
class range_scan : public reduction_region {
 public:
  range_scan(const operations& what, const operands& of, std::size_t length, const void* init,
             void* result) noexcept
      : reduction_region(what, of, length, result), init_(init) {}

  /// After the first loop: whether the second one is needed.
  bool has_more() const noexcept { return has_result() && cells_ != nullptr; }

  void prepare(const loop_plan& plan, loop_cells& cells) {
    have_cells(plan, cells);
    have_own_cells(leaves_);
  }
  void finish(const loop_plan&, region_board&) {
    value_stack values(what_, of_);
    values.push_copy_of(init_);
    const leaf_run all = {length_, 0, {0, leaves_}, nullptr, nullptr};
    what_.scan_leaves(of_, all, scan_pass::skips, &(*cells_)[0], values.top());
    leave_result(values);
  }

  void sum(loop_share& me) {
    if (me.is_alone()) {
      value_stack values(what_, of_);
      values.push_copy_of(init_);
      if (scan(me, {0, leaves_}, scan_pass::does_all, values) && !me.is_stopped()) {
        leave_result(values);
      }
      return;
    }
    const index_range mine = me.block_of(index_range{0, leaves_});
    what_.sum_leaves(of_, run_of(me, length_, mine), room_for(me, what_, length_of(mine)),
                     &(*cells_)[0]);
  }
  void store(loop_share& me) {
    const index_range mine = me.block_of(index_range{0, leaves_});
    value_stack values(what_, of_);
    values.push_copy_of(init_);
    if (scan(me, {0, mine.first}, scan_pass::skips, values)) {
      scan(me, mine, scan_pass::stores, values);
    }
  }

 private:
  bool scan(const loop_share& me, index_range leaves, scan_pass how, value_stack& values) const {
    return what_.scan_leaves(of_, run_of(me, length_, leaves), how,
                             cells_ != nullptr ? &(*cells_)[0] : nullptr, values.top());
  }

  const void* const init_;
};

template <class Reduction, class Part>
bool run_region(team_host& on, const loop_request& request, Reduction& whole, const Part& part) {
  job work;
  work.carry<loop_share>(part);
  return on.run_loop(request, work, ends_of(whole)).is_complete;
}

/// If the loop was stopped after it had a result, the result is destroyed.
inline outcome outcome_of(bool goes_on, bool has_result, const operations& what,
                          void* result) noexcept {
  if (goes_on && has_result) return outcome::done;
  if (has_result && what.type != nullptr) what.type->destroy(result);
  return outcome::stopped;
}

LOCKSTEP_INLINE outcome reduce(as_region in, const operations& what, const operands& of,
                               std::size_t length, schedule how, void* result) {
  if (length == 0) return outcome::empty;
  range_reduction whole(what, of, length, result);
  // Four words, which travel with the announcement. If the value travels with the report, a share reads no more.
  const auto part = [&what, &of, length, &whole](loop_share& me) {
    whole.run(me, what, of, length);
  };
  const loop_request request = {length, what.pace, grain_of(how), true, in.where};
  const bool goes_on = run_region(in.on, request, whole, part);
  return outcome_of(goes_on, whole.has_result(), what, result);
}

LOCKSTEP_INLINE outcome scan(as_region in, const operations& what, const operands& of,
                             std::size_t length, schedule how, const void* init, void* result) {
  if (length == 0) return outcome::empty;
  range_scan whole(what, of, length, init, result);
  const loop_request request = {length, what.pace, grain_of(how), true, in.where};
  bool goes_on = run_region(in.on, request, whole, [&whole](loop_share& me) { whole.sum(me); });
  if (goes_on && whole.has_more()) {
    job work;
    work.carry<loop_share>([&whole](loop_share& me) { whole.store(me); });
    goes_on = in.on.run_loop(request, work, loop_ends()).is_complete;
  }
  return outcome_of(goes_on, whole.has_result(), what, result);
}

}  // namespace reductions
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
