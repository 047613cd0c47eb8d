// SPDX-License-Identifier: MIT
// lockstep/detail/team/loop_reductions.hpp -- reductions and scans that are loops by themselves (layer: team)
//
// A reduction's tree (reduction_tree.hpp) is cut across at one level into nodes; each is computed by whoever runs that
// part of the loop, and the caller combines them when the loop is done. Into how many nodes, and who does
// which, changes no bit. For one_liners.hpp.
//
//   G1  The nodes of one level: a power of two, no more than there are leaves.
//   G2  A small value of a share that is one node travels with its report: one line for both. Small values of other nodes
//       go to cells of the team; larger ones to memory that the caller allocates.
#ifndef LOCKSTEP_DETAIL_TEAM_LOOP_REDUCTIONS_HPP
#define LOCKSTEP_DETAIL_TEAM_LOOP_REDUCTIONS_HPP

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <type_traits>
#include <utility>

#include "job.hpp"
#include "loop_costs.hpp"
#include "loop_share.hpp"
#include "loops.hpp"
#include "scans.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace reductions {

/// Values that threads leave for the caller, each at its own number. Allocates for more than `few`.
template <class T>
class left_values {
 public:
  static constexpr std::size_t few = sizeof(T) <= 64 ? 8 : 1;

  void make(std::size_t count) {
    if (count > few) many_.reset(new detail::aligned_array<maybe<T>>(count));
  }
  maybe<T>& operator[](std::size_t number) noexcept {
    return many_ ? (*many_)[number] : few_[number];
  }

 private:
  maybe<T> few_[few];
  std::unique_ptr<detail::aligned_array<maybe<T>>> many_;
};

/// A value in a cell, for types that fit.
template <class T>
void put_cell(cell& into, const T& value, std::true_type /*fits*/) noexcept {
  cell_access<T>::put({}, into, value);
}
template <class T>
void put_cell(cell&, const T&, std::false_type) noexcept {}
template <class T>
T take_cell(cell& from, std::true_type /*fits*/) noexcept {
  return cell_access<T>::get(from);
}
template <class T>
[[noreturn]] T take_cell(cell&, std::false_type) {
  std::abort();  // has none
}

/// By: f(i) by its offset. In the caller's frame; a loop has a pointer to it.
template <class T, class By, class Op>
class range_reduction {
 public:
  range_reduction(T&& init, const By& by, Op& op)
      : leaves_(reduction_tree::leaves_of(by.span.length)),
        init_(std::move(init)),
        by_(by),
        op_(op) {}

  /// Five words: it travels with the announcement, and where the value travels with the report nothing else is read.
  class loop final : public made_to_travel {
   public:
    explicit loop(range_reduction& of) noexcept : by_(of.by_), op_(&of.op_), of_(&of) {}
    void operator()(loop_share& me) const { of_->run(me, by_, *op_); }

   private:
    By by_;
    Op* op_;
    range_reduction* of_;
  };

  /// `cells`: most_leaves of them, of the team.
  void prepare(const loop_plan& plan, loop_cells& cells) {
    if (plan.shares == 1) return;
    cells_ = &cells;
    if (is_beside(leaves_, plan.shares, plan.parts)) {
      nodes_ = plan.shares;
      return;
    }
    const std::size_t wanted = std::size_t{plan.shares} * (plan.parts > 16 ? plan.parts : 16);
    while (nodes_ < wanted && 2 * nodes_ <= leaves_) nodes_ *= 2;
    if (!fits()) values_.make(nodes_);
  }
  /// value_of_share(rank): the cell beside its report.
  template <class ValueOfShare>
  void finish(const loop_plan& plan, ValueOfShare value_of_share) {
    if (plan.shares == 1) return;
    const bool beside = is_beside(leaves_, plan.shares, plan.parts);
    const auto node = [&](std::size_t number) -> T {
      if (!fits()) return std::move(values_[number].value());
      return take_cell<T>(beside ? value_of_share(number) : (*cells_)[number], fits());
    };
    T whole(combine(0, nodes_, node));
    result_.set(op_(std::move(init_), std::move(whole)));
  }
  T take() { return std::move(result_.has_value() ? result_.value() : init_); }

 private:
  using fits = std::integral_constant<bool, fits_cell<T>()>;

  /// G2. From what every share knows.
  static bool is_beside(std::size_t leaves, std::size_t shares, std::uint32_t parts) noexcept {
    return fits() && parts == 1 && (shares & (shares - 1)) == 0 && shares <= leaves;
  }

  void run(loop_share& me, const By& by, Op& op) {
    const index_range all = {0, by.span.length};
    const std::size_t leaves = reduction_tree::leaves_of(by.span.length);
    const leaf_of_each<T, const By, Op, loop_share> leaf{me, all, by, op};
    if (me.is_alone()) {
      T whole(reduction_tree::reduce_node<T>(0, leaves, leaf, op));
      if (!me.is_stopped()) result_.set(op(std::move(init_), std::move(whole)));
      return;
    }
    const bool beside = is_beside(leaves, me.size(), me.parts());
    const std::size_t nodes = beside ? me.size() : nodes_;
    const index_range mine = me.block_of(index_range{0, nodes});
    for (std::size_t number = mine.first; number < mine.last && !me.may_stop(); ++number) {
      const index_range node = reduction_tree::node_at(leaves, nodes, number);
      T value(reduction_tree::reduce_node<T>(node.first, node.last, leaf, op));
      if (fits()) {
        put_cell<T>(beside ? *me.beside_report() : (*cells_)[number], value, fits());
      } else {
        values_[number].set(std::move(value));
      }
    }
  }

  template <class Node>
  T combine(std::size_t first, std::size_t last, const Node& node) {
    if (last - first == 1) return node(first);
    const std::size_t middle = first + (last - first) / 2;
    T left(combine(first, middle, node));
    T right(combine(middle, last, node));
    return op_(std::move(left), std::move(right));
  }

  const std::size_t leaves_;
  std::size_t nodes_ = 1;
  loop_cells* cells_ = nullptr;
  left_values<T> values_;
  T init_;
  maybe<T> result_;
  const By by_;
  Op& op_;
};

/// One value for each share: `fast`. Each: each(me, sum) adds the share's values to a maybe<T>.
template <class T, class Each, class Op>
class share_reduction {
 public:
  share_reduction(T&& init, Each each, Op& op) : init_(std::move(init)), each_(each), op_(op) {}

  void operator()(loop_share& me) {
    if (!me.is_alone()) {
      each_(me, values_[me.rank()]);
      return;
    }
    maybe<T> sum;  // there may be no finish()
    each_(me, sum);
    if (!sum.has_value() || me.is_stopped()) return;
    init_ = op_(std::move(init_), std::move(sum.value()));
  }
  void prepare(const loop_plan& plan, loop_cells&) {
    if (plan.shares > 1) values_.make(plan.shares);
  }
  void finish(const loop_plan& plan) {
    if (plan.shares == 1) return;
    for (std::size_t rank = 0; rank < plan.shares; ++rank) {
      if (!values_[rank].has_value()) continue;
      init_ = op_(std::move(init_), std::move(values_[rank].value()));
    }
  }
  T take() { return std::move(init_); }

 private:
  left_values<T> values_;
  T init_;
  Each each_;
  Op& op_;
};

/// Two loops: the sums of all leaves, then what each leaf stores from its prefix on. One alone does both in one.
template <class T, class By, class Op, class Store>
class range_scan {
 public:
  range_scan(T&& init, const By& by, Op& op, const Store& store)
      : leaves_(reduction_tree::leaves_of(by.span.length)),
        running_(std::move(init)),
        by_(by),
        op_(op),
        store_(store) {
    check_copyable<T>();
  }

  struct sums {
    range_scan& of;
    void operator()(loop_share& me) { of.sum(me); }
  };
  struct stores {
    range_scan& of;
    void operator()(loop_share& me) { of.store(me); }
  };
  sums first() noexcept { return {*this}; }
  stores second() noexcept { return {*this}; }

  void prepare(const loop_plan& plan, loop_cells&) {
    if (plan.shares > 1) sums_.make(leaves_);
  }
  /// After the first loop. False if that was all.
  bool hand_on(const loop_plan& plan) {
    if (plan.shares == 1) return false;
    for (std::size_t leaf = 0; leaf < leaves_; ++leaf) {
      T sum(std::move(sums_[leaf].value()));
      sums_[leaf].value() = running_;
      running_ = op_(std::move(running_), std::move(sum));
    }
    return true;
  }
  T take() { return std::move(running_); }

 private:
  void sum(loop_share& me) {
    const scan_of<T, const By, Op, const Store, loop_share> what = scan(me);
    if (me.is_alone()) {
      running_ = scan_alone<T>(what, leaves_, std::move(running_));
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
  scan_of<T, const By, Op, const Store, loop_share> scan(const loop_share& me) {
    return {me, index_range{0, by_.span.length}, by_, op_, store_};
  }

  const std::size_t leaves_;
  left_values<T> sums_;
  T running_;
  const By by_;
  Op& op_;
  const Store store_;
};

}  // namespace reductions
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_LOOP_REDUCTIONS_HPP
