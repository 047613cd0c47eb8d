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

/// It lies in the caller's frame; shares point to it. What they read is on one line.
class alignas(64) reduction_region : public loop_ends {
 public:
  reduction_region(const operations& what, const operands& of, std::size_t length,
                   void* result) noexcept
      : what_(what),
        of_(of),
        length_(length),
        leaves_(reduction_tree::leaves_of(length)),
        result_(result) {}

  void prepare(const loop_plan& plan, cell* cells) override {
    cells_ = cells;
    if (what_.type == nullptr) return;
    kept_ = std::vector<owner<kept_values>>(std::size_t{plan.shares} * plan.parts);
  }

  /// Runs a loop. This object destroys what the loop leaves, unless that is handed over.
  template <class Part>
  outcome run(const as_region& in, schedule how, loop_ends* ends, const Part& part) {
    job work;
    work.carry<loop_share>(part);
    const loop_request request = {length_, what_.pace, grain_of(how), true, in.where};
    const bool goes_on = in.on.run_loop(request, work, ends).is_complete;
    return goes_on && has_result_ ? outcome::done : outcome::stopped;
  }
  /// After the last loop: the caller has the result, if there is one.
  outcome handed_over(outcome how) noexcept {
    if (how == outcome::done) has_result_ = false;
    return how;
  }

 protected:
  ~reduction_region() {
    if (has_result_ && what_.type != nullptr) what_.type->destroy(result_);
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
  cell* cells_ = nullptr;

 private:
  std::vector<owner<kept_values>> kept_;
  void* const result_;
  bool has_result_ = false;
};

/// A reduction along the tree.
class range_reduction final : public reduction_region {
 public:
  using reduction_region::reduction_region;

  void finish(const loop_plan& plan, region_board& beside) override {
    value_stack values(what_, of_);
    reduction_tree::published_nodes nodes({0, leaves_}, plan.shares, plan.parts);
    values.push_published(
        nodes, 0, leaves_, [&](std::size_t block, std::size_t node, std::size_t leaf) {
          const bool is_beside = node == 0 && plan.parts == 1;
          values.push_taken(is_beside ? beside.beside_report(block) : cells_[leaf]);
        });
    leave_result(values);
  }

  void run_part(loop_share& me, const operations& what, const operands& of, std::size_t length) {
    const std::size_t leaves = reduction_tree::leaves_of(length);
    tree_walk values(what, of, run_of(me, length));
    if (me.is_alone()) {
      if (values.push_node(0, leaves) && !me.is_stopped()) leave_result(values);
      return;
    }
    const index_range mine = me.block_of(index_range{0, leaves});
    values.put_nodes(mine,
                     room_for(me, what, (std::min)(length_of(mine), reduction_tree::most_nodes)),
                     [&](std::size_t node, std::size_t leaf) -> cell& {
                       cell* const beside = node == 0 ? me.beside_report() : nullptr;
                       return beside != nullptr ? *beside : cells_[leaf];
                     });
  }
};

/// Two loops: the first sums each leaf, the second stores each leaf's results from its prefix on. Alone: one loop.
class range_scan final : public reduction_region {
 public:
  range_scan(const operations& what, const operands& of, std::size_t length, const void* init,
             void* result) noexcept
      : reduction_region(what, of, length, result), init_(init) {}

  /// After the first loop: whether the second one is needed.
  bool has_more() const noexcept { return cells_ != nullptr; }

  /// Uses its own cells: another region may use the team's after the first loop.
  void prepare(const loop_plan& plan, cell*) override {
    own_cells_.reset(new aligned_array<cell>(leaves_));
    reduction_region::prepare(plan, own_cells_->data());
  }
  void finish(const loop_plan&, region_board&) override {
    scan_walk values(what_, of_, init_);
    values.skip({0, leaves_}, cells_);
    leave_result(values);
  }

  void sum(loop_share& me) {
    const leaf_run mine = run_of(me, length_, me.block_of(index_range{0, leaves_}));
    if (!me.is_alone()) {
      what_.sum_leaves(of_, mine, room_for(me, what_, length_of(mine.leaves)), cells_);
      return;
    }
    scan_walk values(what_, of_, init_);
    if (values.scan_block(mine, nullptr) && !me.is_stopped()) leave_result(values);
  }
  void store(loop_share& me) {
    const leaf_run mine = run_of(me, length_, me.block_of(index_range{0, leaves_}));
    scan_walk(what_, of_, init_).scan_block(mine, cells_);
  }

 private:
  const void* const init_;
  owner<aligned_array<cell>> own_cells_;
};

LOCKSTEP_INLINE outcome reduce(as_region in, const operations& what, const operands& of,
                               std::size_t length, schedule how, void* result) {
  if (length == 0) return outcome::empty;
  range_reduction whole(what, of, length, result);
  // Four words, which travel with the announcement. If the value travels with the report, a share reads no more.
  return whole.handed_over(whole.run(in, how, &whole, [&what, &of, length, &whole](loop_share& me) {
    whole.run_part(me, what, of, length);
  }));
}

LOCKSTEP_INLINE outcome scan(as_region in, const operations& what, const operands& of,
                             std::size_t length, schedule how, const void* init, void* result) {
  if (length == 0) return outcome::empty;
  range_scan whole(what, of, length, init, result);
  const outcome sums = whole.run(in, how, &whole, [&whole](loop_share& me) { whole.sum(me); });
  if (sums != outcome::done || !whole.has_more()) return whole.handed_over(sums);
  return whole.handed_over(
      whole.run(in, how, nullptr, [&whole](loop_share& me) { whole.store(me); }));
}

}  // namespace reductions
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
