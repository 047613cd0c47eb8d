// SPDX-License-Identifier: MIT
// lockstep/detail/reduce/team_reductions.hpp -- reductions and scans that are a region by themselves (layer: reduce)
//
// A reduction's tree (reduction_tree.hpp) is cut across at one level into nodes; each is computed by whichever thread
// runs that part of the loop, and the caller combines them when the loop is done. Into how many nodes, and which thread
// computes which, changes no bit. For team_loops.hpp.
//
//   NODES-1  The nodes of one level: a power of two, no more than there are leaves.
//   NODES-2  A small value of a share that is one node travels with its report: one line for both. Small values of other
//            nodes go to cells of the team; larger ones to memory that the caller allocates.
#ifndef LOCKSTEP_DETAIL_REDUCE_TEAM_REDUCTIONS_HPP
#define LOCKSTEP_DETAIL_REDUCE_TEAM_REDUCTIONS_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include <lockstep/detail/loop/loop_share.hpp>
#include <lockstep/detail/reduce/scans.hpp>
#include <lockstep/detail/region/job.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace reductions {

/// In the caller's frame; a loop has a pointer to it. `result`: room for the value of the range.
class range_reduction {
 public:
  range_reduction(const operations& what, const operands& of, std::size_t length,
                  void* result) noexcept
      : what_(what),
        of_(of),
        length_(length),
        leaves_(reduction_tree::leaves_of(length)),
        result_(result) {}

  /// Four words: they travel with the announcement, and where the value travels with the report, nothing else of this
  /// object is read.
  struct loop {
    const operations* what;
    const operands* of;
    std::size_t length;
    range_reduction* whole;

    void operator()(loop_share& me) const { whole->run(me, *what, *of, length); }
  };
  loop work() noexcept { return {&what_, &of_, length_, this}; }
  loop_ends ends() noexcept { return {this, prepare, finish}; }
  /// After the loop: whether the value is in the room.
  bool has_result() const noexcept { return has_result_; }

 private:
  /// NODES-2. From what every share knows.
  static bool is_beside(const operations& what, std::size_t leaves, std::size_t shares,
                        std::uint32_t parts) noexcept {
    return what.type == nullptr && parts == 1 && (shares & (shares - 1)) == 0 && shares <= leaves;
  }

  void run(loop_share& me, const operations& what, const operands& of, std::size_t length);

  void run_nodes(loop_share& me, tree_walk& values);
  static void prepare(void* data, const loop_plan& plan, loop_cells& cells);
  static void finish(void* data, const loop_plan& plan, const loop_values& of_share);

  const operations& what_;
  const operands& of_;
  const std::size_t length_, leaves_;
  std::size_t nodes_ = 1;
  loop_cells* cells_ = nullptr;
  value_room values_;
  void* const result_;
  bool has_result_ = false;
};

/// Values that threads leave for the caller, each at its own number. Allocates for more than `few`.
template <class Type>
class left_values {
 public:
  static constexpr std::size_t few = sizeof(Type) <= 64 ? 8 : 1;

  void make(std::size_t count) {
    if (count > few) many_.reset(new aligned_array<maybe<Type>>(count));
  }
  maybe<Type>& operator[](std::size_t number) noexcept {
    return many_ ? (*many_)[number] : few_[number];
  }

 private:
  maybe<Type> few_[few];
  owner<aligned_array<maybe<Type>>> many_;
};

LOCKSTEP_NOINLINE inline bool fold_parts(loop_share& me, const operations& what, const operands& of,
                                         std::size_t length, schedule how, void* result) {
  folded_parts own(me, what, of, length);
  loops::hand_out_in(me, me, length, how, own.body());
  return own.take(result);
}
/// One value for each share: `fast`. Combined by rank.
template <class Type, class Operation>
class share_reduction {
 public:
  share_reduction(const operations& what, const operands& of, std::size_t length, schedule how,
                  Type&& init, Operation& op)
      : what_(what), of_(of), length_(length), how_(how), init_(std::move(init)), op_(op) {}

  struct loop {
    share_reduction* whole;
    void operator()(loop_share& me) const { whole->run(me); }
  };
  loop work() noexcept { return {this}; }
  loop_ends ends() noexcept { return {this, prepare, finish}; }
  Type take() { return std::move(init_); }

 private:
  void run(loop_share& me) {
    result_of<Type> result;
    if (!fold_parts(me, what_, of_, length_, how_, result.room())) return;
    Type& sum = result.value_left();
    if (!me.is_alone()) {
      values_[me.rank()].set(std::move(sum));
    } else if (!me.is_stopped()) {
      init_ = op_(std::move(init_), std::move(sum));  // there may be no finish()
    }
  }
  static void prepare(void* data, const loop_plan& plan, loop_cells&) {
    if (plan.shares > 1) static_cast<share_reduction*>(data)->values_.make(plan.shares);
  }
  static void finish(void* data, const loop_plan& plan, const loop_values&) {
    share_reduction& self = *static_cast<share_reduction*>(data);
    for (std::size_t rank = 0; plan.shares > 1 && rank < plan.shares; ++rank) {
      if (!self.values_[rank].has_value()) continue;
      self.init_ = self.op_(std::move(self.init_), std::move(self.values_[rank].value()));
    }
  }

  const operations& what_;
  const operands& of_;
  const std::size_t length_;
  const schedule how_;
  left_values<Type> values_;
  Type init_;
  Operation& op_;
};

/// Two loops: the sums of all leaves, then what each leaf stores from its prefix on. One alone does both in one.
template <class Type, class By, class Operation, class Store>
class range_scan {
 public:
  range_scan(Type&& init, std::size_t length, const By& by, Operation& op, const Store& store)
      : length_(length),
        leaves_(reduction_tree::leaves_of(length)),
        running_(std::move(init)),
        by_(by),
        op_(op),
        store_(store) {
    check_copyable<Type>();
  }

  /// The two loops, to be carried by jobs.
  struct sums {
    range_scan* of;
    void operator()(loop_share& me) const { of->sum(me); }
  };
  struct stores {
    range_scan* of;
    void operator()(loop_share& me) const { of->store(me); }
  };
  sums first() noexcept { return {this}; }
  stores second() noexcept { return {this}; }
  loop_ends ends() noexcept { return {this, prepare, hand_on}; }
  /// After the first loop: whether the second one is needed.
  bool has_more() const noexcept { return has_more_; }
  Type take() { return std::move(running_); }

 private:
  static void prepare(void* data, const loop_plan& plan, loop_cells&) {
    range_scan& self = *static_cast<range_scan*>(data);
    if (plan.shares > 1) self.sums_.make(self.leaves_);
  }
  static void hand_on(void* data, const loop_plan& plan, const loop_values&) {
    range_scan& self = *static_cast<range_scan*>(data);
    if (plan.shares == 1) return;
    for (std::size_t leaf = 0; leaf < self.leaves_; ++leaf) {
      Type sum(std::move(self.sums_[leaf].value()));
      self.sums_[leaf].value() = self.running_;
      self.running_ = self.op_(std::move(self.running_), std::move(sum));
    }
    self.has_more_ = true;
  }
  void sum(loop_share& me) {
    const scan_of<Type, const By, Operation, const Store, loop_share> what = scan(me);
    if (me.is_alone()) {
      running_ = scan_alone<Type>(what, leaves_, std::move(running_));
      return;
    }
    const index_range mine = me.block_of(index_range{0, leaves_});
    for (std::size_t leaf = mine.first; leaf < mine.last; ++leaf)
      sums_[leaf].set(what.sum_of(leaf));
  }
  void store(loop_share& me) {
    const index_range mine = me.block_of(index_range{0, leaves_});
    for (std::size_t leaf = mine.first; leaf < mine.last; ++leaf) {
      scan(me).run_through(leaf, std::move(sums_[leaf].value()));
    }
  }
  scan_of<Type, const By, Operation, const Store, loop_share> scan(const loop_share& me) {
    return {me, index_range{0, length_}, by_, op_, store_};
  }

  const std::size_t length_, leaves_;
  bool has_more_ = false;
  left_values<Type> sums_;
  Type running_;
  const By by_;
  Operation& op_;
  const Store store_;
};

}  // namespace reductions
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_REDUCE_TEAM_REDUCTIONS_HPP
