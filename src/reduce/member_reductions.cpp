// SPDX-License-Identifier: MIT
// src/reduce/member_reductions.cpp -- how the members of a region reduce and scan a range (layer: reduce)
//
// Each member takes its block of the leaves, evaluates the maximal nodes in it, and leaves their values in its cells.
// Whoever reads the cells after the phase finds every node among them, or combines it from its halves, as a walk by one
// thread does (TREE-4). REDUCE-1 to REDUCE-5 are those of reductions.hpp.
#include <lockstep/detail/reduce/reductions.hpp>

#include "../loop/loops.hpp"
#include "value_stack.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace reductions {

/// REDUCE-5, before the leaves of `length` iterations. False once the region is stopped.
inline bool wait_for_data(member_state& at, std::size_t length, schedule how) {
  if (at.has_waited()) return true;
  const bool are_own = how.kind() == schedule_kind::static_blocks &&
                       at.blocks_without_wait == length &&
                       reduction_tree::leaves_keep_blocks(length, at.size());
  return are_own || at.wait_before_construct();
}

class member_nodes {
 public:
  explicit member_nodes(const run_of_leaves& of) noexcept
      : at_(of.at),
        what_(of.what),
        of_(of.of),
        length_(of.length),
        part_(of.leaves),
        phase_(of.phase) {}

  /// The values of the part's leaves, by all members, and the meeting that makes them known: member_state::meet() with
  /// `combine`, which may call push_published(). False once the region is stopped. Requires: this member is not alone.
  bool put(schedule how, cell& out, const cell_combine& combine) {
    if (how.kind() != schedule_kind::static_blocks) return put_own(how) && meet(at_, out, combine);
    phase_ = at_.next_phase();
    return run_claimed(at_, {put_share, this, length_of(part_)}, out, combine);
  }
  /// The same with the coming phase still to be met, by whatever waits for all; no member takes a share of another.
  bool put_own(schedule how) {
    const bool from_leaves = how.kind() != schedule_kind::static_blocks;
    if (from_leaves && !put_leaves(how)) return false;  // its phase is over
    phase_ = at_.next_phase();
    return put_nodes(at_.rank(), from_leaves);
  }

  /// The phase in which the nodes' values are, or will be, there.
  std::uint32_t phase() const noexcept { return phase_; }
  /// Pushes the value of the node [a, b) from the cells of the phase. Nodes are asked for from left to right.
  void push_published(value_stack& values, reduction_tree::published_nodes& nodes, std::size_t a,
                      std::size_t b) const {
    if (nodes.has(b)) {
      values.push_copy(at_.shared().cell_of(nodes.rank(), phase_, nodes.node()));
      return nodes.advance(b);
    }
    const std::size_t middle = reduction_tree::middle_of(a, b);
    push_published(values, nodes, a, middle);
    push_published(values, nodes, middle, b);
    values.combine();
  }

  /// The values of all leaves of the part, handed out by `how`, into the group's cells; after it they are there. False
  /// once the region is stopped.
  bool put_leaves(schedule how);

 protected:
  void* prepare(owner<kept_values>& keeps, std::size_t count) const {
    return what_.type == nullptr ? nullptr : what_.type->prepare(at_.shared(), keeps, count);
  }

  member_state& at_;
  const operations& what_;
  const operands& of_;
  const std::size_t length_;
  const index_range part_;

 private:
  /// The nodes of a rank into its cells of the phase: from the iterations, or from the values of all leaves.
  bool put_nodes(std::size_t rank, bool from_leaves) const {
    group& shared = at_.shared();
    void* const room = prepare(shared.state(rank).kept[phase_ & 1u], reduction_tree::most_nodes);
    const index_range mine = static_block(part_.first, part_.last, rank, at_.size());
    tree_walk walk(at_, what_, of_, length_);
    std::size_t k = 0;
    bool goes_on = true;
    reduction_tree::maximal_nodes(reduction_tree::leaves_of(length_), mine.first, mine.last,
                                  [&](std::size_t a, std::size_t b) {
                                    if (from_leaves) {
                                      push_from_leaves(walk, a, b);
                                    } else if (!goes_on || !walk.push_node(a, b)) {
                                      goes_on = false;
                                      return;
                                    }
                                    walk.put_top(room, shared.cell_of(rank, phase_, k));
                                    ++k;
                                  });
    return goes_on;
  }
  void push_from_leaves(value_stack& values, std::size_t a, std::size_t b) const {
    if (b - a == 1)  // each is in one node
      return values.push_taken(at_.shared().leaves[a - part_.first]);
    const std::size_t middle = reduction_tree::middle_of(a, b);
    push_from_leaves(values, a, middle);
    push_from_leaves(values, middle, b);
    values.combine();
  }
  static bool put_share(const void* data, std::size_t rank) {
    const member_nodes& self = *static_cast<const member_nodes*>(data);
    return self.put_nodes(rank, false);
  }

  std::uint32_t phase_;
};

LOCKSTEP_INLINE bool member_nodes::put_leaves(schedule how) {
  struct leaf_part {
    member_nodes& of;
    void* room;
    bool goes_on;

    static void call(const void* data, std::size_t first, std::size_t last) {
      leaf_part& self = *static_cast<leaf_part*>(const_cast<void*>(data));
      member_nodes& of = self.of;
      tree_walk walk(of.at_, of.what_, of.of_, of.length_);
      for (std::size_t k = first; k < last; ++k) {
        const std::size_t leaf = of.part_.first + k;
        self.goes_on = self.goes_on && walk.push_node(leaf, leaf + 1);
        if (!self.goes_on) return;
        walk.put_top(self.room, of.at_.shared().leaves[k]);
      }
    }
  } part = {*this, prepare(at_.kept_leaves, length_of(part_)), true};
  const std::size_t chunk = (how.chunk() - 1) / reduction_tree::leaf_size(length_) + 1;
  const bool complete = loops::hand_out(at_, length_of(part_), schedule(how.kind(), chunk),
                                        {leaf_part::call, &part});
  return part.goes_on && at_.sync() && complete;
}

/// A reduction over the range, in a region.
class member_reduction : private member_nodes {
 public:
  explicit member_reduction(const run_of_leaves& of) noexcept : member_nodes(of) {}

  /// The same bits for every number of members and schedule.
  outcome reduce(schedule how, void* result) {
    if (part_.last == 0 || !at_.goes_on()) return at_.sync() ? outcome::empty : outcome::stopped;
    if (at_.is_alone()) return reduce_alone(result);
    if (!wait_for_data(at_, length_, how)) return outcome::stopped;
    cell out = {};
    if (!put(how, out, {combine_all, this})) return outcome::stopped;
    take(out, result);
    return outcome::done;
  }

  /// `fast`: each member's parts, folded into one value, by rank.
  outcome reduce_fast(schedule how, const void* init, void* result) {
    folded_parts own(at_, what_, of_, length_);
    loops::hand_out(at_, length_, how, own.body());
    if (at_.may_stop() || !at_.goes_on()) return outcome::stopped;
    if (at_.is_alone()) {
      value_stack sum(what_, of_);
      sum.push_copy_of(init);
      if (own.take(sum.next())) {
        sum.push();
        sum.combine();
      }
      sum.take_top(result);
      return outcome::done;
    }
    const std::uint32_t phase = at_.next_phase();
    if (own.has_value()) {
      own.put(prepare(at_.kept[phase & 1u], 1), at_.shared().cell_of(at_.rank(), phase, 0));
    }
    has_put(at_.rank(), phase) = own.has_value() ? 1 : 0;
    struct combining {
      member_reduction& of;
      const void* init;
      std::uint32_t phase;
    } const all = {*this, init, phase};
    cell out = {};
    if (!meet(at_, out, [&all](cell& into) { all.of.combine_put(all.init, all.phase, into); })) {
      return outcome::stopped;
    }
    take(out, result);
    return outcome::done;
  }

  /// Two passes over the leaves: the sum of each, then the running values in each from its prefix on, which is the left
  /// fold of the sums before it (TREE-5). So f is called twice for each index.
  outcome scan(const void* init, void* result) {
    if (!at_.goes_on()) return outcome::stopped;
    tree_walk values(at_, what_, of_, length_);
    values.push_copy_of(init);
    if (at_.is_alone()) {
      if (!values.scan_alone(part_.last) || !at_.goes_on()) return outcome::stopped;
      values.take_top(result);
      return outcome::done;
    }
    if (!wait_for_data(at_, length_, static_schedule()) || !put_leaves(static_schedule())) {
      return outcome::stopped;
    }
    const index_range mine = at_.block_of(part_);
    for (std::size_t leaf = 0; leaf < part_.last; ++leaf) {
      if (mine.first <= leaf && leaf < mine.last) {
        values.push_copy_of_top();
        if (!values.run_through(leaf)) return outcome::stopped;
      }
      values.push_copy(at_.shared().leaves[leaf]);
      values.combine();
    }
    if (!at_.sync()) return outcome::stopped;
    values.take_top(result);
    return outcome::done;
  }

 private:
  outcome reduce_alone(void* result) {
    tree_walk walk(at_, what_, of_, length_);
    if (!walk.push_node(0, part_.last) || !at_.goes_on()) return outcome::stopped;
    walk.take_top(result);
    return outcome::done;
  }

  static void combine_all(const void* data, cell& into) {
    const member_reduction& self = *static_cast<const member_reduction*>(data);
    void* const room = self.prepare(self.at_.kept_result, 1);
    reduction_tree::published_nodes nodes(self.part_, self.at_.size());
    value_stack values(self.what_, self.of_);
    self.push_published(values, nodes, 0, self.part_.last);
    values.put_top(room, into);
  }
  void combine_put(const void* init, std::uint32_t phase, cell& into) {
    void* const room = prepare(at_.kept_result, 1);
    value_stack sum(what_, of_);
    sum.push_copy_of(init);
    for (std::size_t rank = 0; rank < at_.size(); ++rank) {
      if (has_put(rank, phase) == 0) continue;
      sum.push_copy(at_.shared().cell_of(rank, phase, 0));
      sum.combine();
    }
    sum.put_top(room, into);
  }
  /// Where a member says that it has put a value: the last byte of the cell unless the value is there.
  unsigned char& has_put(std::size_t rank, std::uint32_t phase) const noexcept {
    static_assert(sizeof(void*) < cell::size, "a pointer leaves the last byte of its cell free");
    return what_.fills_cell ? at_.shared().cell_of(rank, phase, 1).bytes[0]
                            : at_.shared().cell_of(rank, phase, 0).bytes[cell::size - 1];
  }

  void take(const cell& from, void* result) const {
    if (what_.type == nullptr) {
      std::memcpy(result, from.bytes, cell::size);
    } else {
      what_.type->copy(result, value_stack::address_in(from));
    }
  }
};

inline run_of_leaves all_leaves(member_state& at, const operations& what, const operands& of,
                                std::size_t length) {
  return {at, what, of, length, {0, reduction_tree::leaves_of(length)}, 0};
}

LOCKSTEP_INLINE outcome reduce(member_state& at, const operations& what, const operands& of,
                               std::size_t length, schedule how, void* result) {
  return member_reduction(all_leaves(at, what, of, length)).reduce(how, result);
}

LOCKSTEP_INLINE outcome reduce_fast(member_state& at, const operations& what, const operands& of,
                                    std::size_t length, schedule how, const void* init,
                                    void* result) {
  return member_reduction(all_leaves(at, what, of, length)).reduce_fast(how, init, result);
}

LOCKSTEP_INLINE outcome scan(member_state& at, const operations& what, const operands& of,
                             std::size_t length, const void* init, void* result) {
  return member_reduction(all_leaves(at, what, of, length)).scan(init, result);
}

LOCKSTEP_INLINE bool evaluate(run_of_leaves& part, schedule how) {
  member_state& at = part.at;
  if (at.is_alone() || length_of(part.leaves) == 0) return at.goes_on();
  if (!at.has_waited() && !at.wait_before_construct()) return false;
  member_nodes nodes(part);
  const bool goes_on = nodes.put_own(how);
  part.phase = nodes.phase();
  return goes_on;
}

LOCKSTEP_INLINE bool collect(const run_of_leaves& part, void* into,
                             void (*append)(void* into, const void* value)) {
  const member_nodes members(part);
  tree_walk values(part.at, part.what, part.of, part.length);
  reduction_tree::published_nodes nodes(part.leaves, part.at.size());
  bool goes_on = true;
  reduction_tree::maximal_nodes(reduction_tree::leaves_of(part.length), part.leaves.first,
                                part.leaves.last, [&](std::size_t a, std::size_t b) {
                                  if (!part.at.is_alone()) {
                                    members.push_published(values, nodes, a, b);
                                  } else if (!goes_on || !values.push_node(a, b)) {
                                    goes_on = false;
                                    return;
                                  }
                                  append(into, values.top());
                                  values.pop();
                                });
  return goes_on;
}

}  // namespace reductions
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
