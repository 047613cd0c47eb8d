// SPDX-License-Identifier: MIT
// src/reduce/member_reductions.cpp -- how the members of a region reduce and scan a range (layer: reduce)
//
// For REDUCE-1 to REDUCE-5 see reductions.hpp.
#include "member_nodes.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// Values on lines of their own. They have the alignment of their type, which C++11's `new` need not respect.
class kept_array final : public kept_values {
 public:
  kept_array(const value_type& type, std::size_t most) : type_(type), memory_(most, type.room) {}
  ~kept_array() override {
    while (count_ > 0) type_.destroy(at(--count_));
  }
  void* add(void* value) {
    type_.move(at(count_), value);
    return at(count_++);
  }

 private:
  void* at(std::size_t k) const noexcept {
    return static_cast<unsigned char*>(memory_.data()) + k * type_.room.size;
  }

  const value_type& type_;
  any_aligned_array memory_;
  std::size_t count_ = 0;
};

LOCKSTEP_INLINE void* make_room(const value_type& type, owner<kept_values>& keeps,
                                std::size_t count) {
  kept_array* const made = new kept_array(type, count);
  keeps.reset(made);
  return made;
}
LOCKSTEP_INLINE void put_value(void* room, cell& into, void* value) {
  const void* const address = static_cast<kept_array*>(room)->add(value);
  std::memcpy(into.bytes, &address, sizeof address);
}

namespace reductions {

LOCKSTEP_INLINE bool is_stopped(const leaf_run& run) noexcept {
  return run.stop->requested_relaxed(run.region);
}

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
    if (!at_.is_alone() && !wait_for_data(at_, length_, how)) return outcome::stopped;
    const without_constructs mark(at_, "a reduction");
    if (at_.is_alone()) return reduce_alone(result);
    cell out = {};
    if (!put(how, out, [this](cell& into) { combine_all(into); })) return outcome::stopped;
    take(out, result);
    return outcome::done;
  }

  /// Two passes over the leaves, so f is called twice for each index. The first sums each leaf. The second starts at a
  /// leaf's prefix, the left fold of the sums before it (TREE-5), and stores the running values.
  outcome scan(const void* init, void* result) {
    if (!at_.goes_on()) return outcome::stopped;
    if (!at_.is_alone() && !wait_for_data(at_, length_, static_schedule())) return outcome::stopped;
    const without_constructs mark(at_, "a scan");
    scan_walk values(what_, of_, init);
    if (at_.is_alone()) {
      if (!values.scan_all(run_of(at_, length_, part_)) || !at_.goes_on()) return outcome::stopped;
    } else {
      const leaf_run mine = run_of(at_, length_, at_.block_of(part_));
      void* const room = prepare(at_.kept[member_state::leaves], length_of(mine.leaves));
      cell* const sums = &at_.shared().leaves[0];
      if (!what_.sum_leaves(of_, mine, room, sums) || !at_.sync() ||
          !values.scan_block(mine, sums)) {
        return outcome::stopped;
      }
      values.skip({mine.leaves.last, part_.last}, sums);
      if (!at_.sync()) return outcome::stopped;
    }
    values.take_top(result);
    return outcome::done;
  }

 private:
  outcome reduce_alone(void* result) {
    tree_walk walk(what_, of_, run_of(at_, length_));
    if (!walk.push_node(0, part_.last) || !at_.goes_on()) return outcome::stopped;
    walk.take_top(result);
    return outcome::done;
  }

  void combine_all(cell& into) const {
    void* const room = prepare(at_.kept[member_state::result], 1);
    reduction_tree::published_nodes nodes(part_, at_.size());
    value_stack values(what_, of_);
    push_published(values, nodes, 0, part_.last);
    values.put_top(room, into);
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

LOCKSTEP_INLINE outcome scan(by_members in, const operations& what, const operands& of,
                             std::size_t length, schedule, const void* init, void* result) {
  return member_reduction(in.at, what, of, length).scan(init, result);
}

}  // namespace reductions
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
