// SPDX-License-Identifier: MIT
// src/reduce/member_reductions.cpp -- how the members of a region reduce and scan a range (layer: reduce)
//
// For REDUCE-1 to REDUCE-5 see reductions.hpp.
#include "member_nodes.hpp"

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

/// A reduction over the range, in a region.
class member_reduction : private member_nodes {
 public:
  member_reduction(member_state& at, const operations& what, const operands& of,
                   std::size_t length) noexcept
      : member_nodes(at, what, of, length, index_range{0, reduction_tree::leaves_of(length)}) {}

  /// Gives the same bits for every number of members and every schedule.
  outcome reduce(schedule how, void* result) {
    if (part_.last == 0 || !at_.goes_on()) return at_.sync() ? outcome::empty : outcome::stopped;
    if (at_.is_alone()) return reduce_alone(result);
    if (!wait_for_data(at_, length_, how)) return outcome::stopped;
    cell out = {};
    if (!put(how, out, {combine_all, this})) return outcome::stopped;
    take(out, result);
    return outcome::done;
  }

  /// `fast`: each member folds its parts into one value; these are combined by rank.
  outcome reduce_fast(schedule how, const void* init, void* result) {
    folded_parts own(at_, what_, of_, length_);
    loops::hand_out(at_, length_, how, own.body());
    if (at_.may_stop() || !at_.goes_on()) return outcome::stopped;
    if (at_.is_alone()) {
      value_stack sum(what_, of_);
      sum.push_copy_of(init);
      if (own.has_value()) what_.combine(of_, sum.top(), own.value());
      sum.take_top(result);
      return outcome::done;
    }
    const std::uint32_t phase = at_.next_phase();
    cell mine = {};
    if (own.has_value()) own.put(prepare(at_.kept[phase & 1u], 1), mine);
    has_put(at_.rank(), phase, mine) = own.has_value() ? 1 : 0;
    const fast_sum all = {*this, init, phase};
    cell values[most_met_by_cells];
    const meeting how_met = at_.meet(mine, {fast_sum::put, &all}, values);
    if (how_met == meeting::stopped) return outcome::stopped;
    if (how_met == meeting::by_value) {
      take(values[0], result);
    } else if (what_.type == nullptr) {
      std::memcpy(result, init, cell::size);
      for (std::size_t rank = 0; rank < at_.size(); ++rank) {
        if (has_put(rank, phase, values[rank]) != 0) {
          what_.combine(of_, result, values[rank].bytes);
        }
      }
    } else {
      value_stack sum(what_, of_);
      all.combine({values[0].bytes, sizeof(cell)}, sum);
      sum.take_top(result);
    }
    return outcome::done;
  }

  /// Two passes over the leaves, so f is called twice for each index. The first sums each leaf. The second starts at a
  /// leaf's prefix, the left fold of the sums before it (TREE-5), and stores the running values.
  outcome scan(const void* init, void* result) {
    if (!at_.goes_on()) return outcome::stopped;
    value_stack values(what_, of_);
    values.push_copy_of(init);
    const auto pass = [&](std::size_t first, std::size_t last, scan_pass how) {
      return what_.scan_leaves(of_, run_of(at_, length_, index_range{first, last}), how,
                               &at_.shared().leaves[0], values.top());
    };
    if (at_.is_alone()) {
      if (!scan_alone(values.top()) || !at_.goes_on()) return outcome::stopped;
      values.take_top(result);
      return outcome::done;
    }
    if (!wait_for_data(at_, length_, static_schedule())) return outcome::stopped;
    const index_range mine = at_.block_of(part_);
    void* const room = prepare(at_.kept_leaves, length_of(mine));
    if (!what_.sum_leaves(of_, run_of(at_, length_, mine), room, &at_.shared().leaves[0]) ||
        !at_.sync() || !pass(0, mine.first, scan_pass::skips) ||
        !pass(mine.first, mine.last, scan_pass::stores) ||
        !pass(mine.last, part_.last, scan_pass::skips) || !at_.sync()) {
      return outcome::stopped;
    }
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
  /// The sum of init and the values that members have put in a phase.
  struct fast_sum {
    member_reduction& of;
    const void* init;
    std::uint32_t phase;

    void combine(cells_of_ranks values, value_stack& sum) const {
      sum.push_copy_of(init);
      for (std::size_t rank = 0; rank < of.at_.size(); ++rank) {
        if (of.has_put(rank, phase, const_cast<cell&>(values[rank])) == 0) continue;
        sum.push_copy(values[rank]);
        sum.combine();
      }
    }
    static void put(const void* data, cell& into) {
      const fast_sum& self = *static_cast<const fast_sum*>(data);
      void* const room = self.of.prepare(self.of.at_.kept_result, 1);
      value_stack sum(self.of.what_, self.of.of_);
      self.combine(self.of.at_.values_of(self.phase), sum);
      sum.put_top(room, into);
    }
  };
  /// The byte that says whether a member has put a value: the last one of the cell, unless the value fills the cell.
  unsigned char& has_put(std::size_t rank, std::uint32_t phase, cell& first) const noexcept {
    static_assert(sizeof(void*) < cell::size, "a pointer leaves the last byte of its cell free");
    return what_.fills_cell ? at_.shared().cell_of(rank, phase, 1).bytes[0]
                            : first.bytes[cell::size - 1];
  }
  bool scan_alone(void* value) const {
    return what_.scan_leaves(of_, run_of(at_, length_, part_), scan_pass::does_all, nullptr, value);
  }

  void take(const cell& from, void* result) const {
    if (what_.type == nullptr) {
      std::memcpy(result, from.bytes, cell::size);
    } else {
      what_.type->copy(result, value_stack::address_in(from));
    }
  }
};

LOCKSTEP_INLINE outcome reduce(by_members in, const operations& what, const operands& of,
                               std::size_t length, schedule how, void* result) {
  return member_reduction(in.at, what, of, length).reduce(how, result);
}

LOCKSTEP_INLINE outcome reduce_fast(member_state& at, const operations& what, const operands& of,
                                    std::size_t length, schedule how, const void* init,
                                    void* result) {
  return member_reduction(at, what, of, length).reduce_fast(how, init, result);
}

LOCKSTEP_INLINE outcome scan(by_members in, const operations& what, const operands& of,
                             std::size_t length, schedule, const void* init, void* result) {
  return member_reduction(in.at, what, of, length).scan(init, result);
}

}  // namespace reductions
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
