// SPDX-License-Identifier: MIT
// lockstep/detail/reduce/scans.hpp -- every prefix of a range's values combined (layer: reduce)
//
// Two passes over the leaves of reduction_tree.hpp: the sum of each leaf, then the running values in each
// leaf from its prefix on, which is the left fold of the sums before it. So the same bits for every number
// of members; f is called twice for each index. For users: member.hpp.
#ifndef LOCKSTEP_DETAIL_REDUCE_SCANS_HPP
#define LOCKSTEP_DETAIL_REDUCE_SCANS_HPP

#include <cstddef>
#include <utility>

#include <lockstep/detail/reduce/reductions.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace reductions {

/// Whether the region is not stopped: what a fold asks. Where it is, the member leaves from here.
template <class At>
struct watch_of {
  const At& at;

  bool operator()() const {
    if (!at.may_stop()) return true;
    leave_stopped_region();
    return false;
  }
};

// Whether an int may become the unsigned argument of a function is its author's business.
LOCKSTEP_BEGIN_SIGN_CONVERSIONS
/// f(i) by its offset.
template <class Index, class Function>
struct value_at {
  static_assert(is_callable<Function&, Index>::value,
                "lockstep: the function of parallel_scan, or of scan_each, must be callable with "
                "one index, f(i): of the common type of the bounds, or the iterator");
  Index first;
  Function& f;

  auto operator()(std::size_t offset) const
      -> decltype(std::declval<Function&>()(std::declval<Index>())) {
    return f(index_at(first, offset));
  }
};
/// store(i, value) by its offset.
template <class Index, class Store>
struct store_at {
  Index first;
  Store& store;

  template <class Type>
  void operator()(std::size_t offset, Type& value) const {
    store(index_at(first, offset), value);
  }
};
LOCKSTEP_END_SIGN_CONVERSIONS
template <class Index, class Function>
value_at<Index, Function> by_offset(const index_span<Index>& span, Function& f) {
  return {span.first, f};
}
template <class Index, class Store>
store_at<Index, Store> store_by_offset(const index_span<Index>& span, Store& store) {
  return {span.first, store};
}

/// What a scan works on: f(i) are the values, store(i, value) takes the results.
template <class Type, class Function, class Operation, class Store, class At = member_state>
struct scan_of {
  const At& at;
  index_range range;
  Function& f;
  Operation& op;
  Store& store;

  Type sum_of(std::size_t leaf) const {
    // A look takes as long as a short leaf: all that are due in a strip look once.
    const std::size_t size = reduction_tree::leaf_size(length_of(range));
    if (size >= 64 || leaf % 16 == 0) watch_of<At>{at}();
    const index_range part = reduction_tree::leaf_range(range.first, range.last, leaf);
    return size <= reduction_tree::strip_length
               ? reduction_tree::fold<Type>(part, f, op)
               : reduction_tree::fold<Type>(part, f, op, watch_of<At>{at});
  }

  /// The second pass over a leaf; what its last index gets is not the next prefix, but near it.
  void run_through(std::size_t leaf, Type running) const {
    const index_range part = reduction_tree::leaf_range(range.first, range.last, leaf);
    for (std::size_t i = part.first; watch_of<At>{at}() && i < part.last;) {
      constexpr std::size_t strip = reduction_tree::strip_length;
      const std::size_t end = part.last - i > strip ? i + strip : part.last;
      for (; i < end; ++i) {
        running = op(std::move(running),
                     static_cast<reduction_tree::as_value<Type, decltype(f(i))>>(f(i)));
        store(i, running);
      }
    }
  }
};

/// The values of all leaves into the group's cells; after it they are there. False once the region is stopped.
template <class Type, class LeafValue>
bool put_leaves(member_state& at, std::size_t leaves, const LeafValue& leaf_value) {
  auto&& kept = cell_access<Type>::prepare(at.shared(), at.kept_leaves, leaves);
  const auto part = [&](std::size_t first, std::size_t last) {
    for (std::size_t leaf = first; leaf < last; ++leaf) {
      cell_access<Type>::put(kept, at.shared().leaves[leaf], leaf_value(leaf));
    }
  };
  const bool complete = loops::hand_out(at, leaves, static_schedule(), body_of(part));
  return at.sync() && complete;
}

template <class Type, class Scan>
Type scan_alone(const Scan& what, std::size_t leaves, Type prefix) {
  for (std::size_t leaf = 0; leaf < leaves; ++leaf) {
    Type sum(what.sum_of(leaf));
    what.run_through(leaf, prefix);
    prefix = what.op(std::move(prefix), std::move(sum));
  }
  return prefix;
}

/// Returns op(init, all values), on all members, when all are done.
template <class Type, class Scan>
Type scan_leaves(member_state& at, const Scan& what, const Type& init) {
  check_copyable<Type>();
  const std::size_t leaves = reduction_tree::leaves_of(length_of(what.range));
  if (!at.goes_on()) {
    leave_stopped_region();
    return init;
  }
  if (at.is_alone()) {
    Type whole(scan_alone<Type>(what, leaves, init));
    if (!at.goes_on()) leave_stopped_region();
    return whole;
  }
  const auto sum_of = [&](std::size_t leaf) { return what.sum_of(leaf); };
  if (!wait_for_data(at, length_of(what.range), static_schedule()) ||
      !put_leaves<Type>(at, leaves, sum_of)) {
    leave_stopped_region();
    return init;
  }
  const auto handed_out = [&](std::size_t leaf) {
    return cell_access<Type>::get(at.shared().leaves[leaf]);
  };
  const index_range mine = static_block(0, leaves, at.rank(), at.size());
  Type prefix(reduction_tree::exclusive_prefix<Type>(mine.first, init, handed_out, what.op));
  for (std::size_t leaf = mine.first; leaf < mine.last; ++leaf) {
    what.run_through(leaf, prefix);
    prefix = what.op(std::move(prefix), handed_out(leaf));
  }
  for (std::size_t leaf = mine.last; leaf < leaves; ++leaf) {
    prefix = what.op(std::move(prefix), handed_out(leaf));
  }
  if (!at.sync()) leave_stopped_region();
  return prefix;
}

}  // namespace reductions
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_REDUCE_SCANS_HPP
