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
  return run.stop->requested(run.region);
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
LOCKSTEP_INLINE outcome reduce(by_members in, const operations& what, const operands& of,
                               std::size_t length, schedule how, result_room& result) {
  member_state& at = in.at;
  const index_range all = {0, reduction_tree::leaves_of(length)};
  if (all.last == 0 || !at.goes_on()) return at.sync() ? outcome::empty : outcome::stopped;
  if (!at.is_alone() && !wait_for_data(at, length, how)) return outcome::stopped;
  const without_constructs mark(at, "a reduction");
  if (at.is_alone()) {
    tree_walk walk(what, of, run_of(at, length));
    if (!walk.push_node(0, all.last) || !at.goes_on()) return outcome::stopped;
    walk.leave_top(result);
    return outcome::done;
  }

  member_nodes nodes(at, what, of, length, all);
  const auto combine_all = [&](cell& into) {
    void* const room = prepare(at, what, at.kept[member_state::result], 1);
    value_stack values(what, of);
    reduction_tree::published_nodes published(all, at.size());
    nodes.push_published(values, published, 0, all.last);
    values.put_top(room, into);
  };
  cell out = {};
  if (!nodes.put(how, out, combine_all)) return outcome::stopped;
  if (what.type == nullptr) {
    std::memcpy(result.at, out.bytes, cell::size);
  } else {
    what.type->copy(result.at, value_stack::address_in(out));
  }
  result.has_value = true;
  return outcome::done;
}

/// Two passes over the leaves, so f is called twice for each index. The first sums each leaf. The second starts at a
/// leaf's prefix, the left fold of the sums before it (TREE-5), and stores the running values.
LOCKSTEP_INLINE outcome scan(by_members in, const operations& what, const operands& of,
                             std::size_t length, schedule, const void* init, result_room& result) {
  member_state& at = in.at;
  if (!at.goes_on()) return outcome::stopped;
  if (!at.is_alone() && !wait_for_data(at, length, static_schedule())) return outcome::stopped;
  const without_constructs mark(at, "a scan");
  const index_range all = {0, reduction_tree::leaves_of(length)};
  value_stack values(what, of, init);
  if (at.is_alone()) {
    if (!what.scan_leaves(of, 0, run_of(at, length, all), nullptr, values.top()) || !at.goes_on()) {
      return outcome::stopped;
    }
  } else {
    const leaf_run mine = run_of(at, length, at.block_of(all));
    void* const room = prepare(at, what, at.kept[member_state::leaves], length_of(mine.leaves));
    cell* const sums = &at.shared().leaves[0];
    if (!what.sum_leaves(of, mine, room, sums) || !at.sync() ||
        !what.scan_leaves(of, 0, mine, sums, values.top())) {
      return outcome::stopped;
    }
    const leaf_run rest = run_of(at, length, {all.last, all.last});
    what.scan_leaves(of, mine.leaves.last, rest, sums, values.top());
    if (!at.sync()) return outcome::stopped;
  }
  values.leave_top(result);
  return outcome::done;
}

}  // namespace reductions
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
