// SPDX-License-Identifier: MIT
// lockstep/detail/team/scans.hpp -- every prefix of a range's values combined (layer: team)
//
// Two passes over the leaves of reduction_tree.hpp: the sum of each leaf, then the running values in each
// leaf from its prefix on, which is the left fold of the sums before it. So the same bits for every number
// of members; f is called twice for each index. For users: member.hpp.
#ifndef LOCKSTEP_DETAIL_TEAM_SCANS_HPP
#define LOCKSTEP_DETAIL_TEAM_SCANS_HPP

#include <cstddef>
#include <utility>

#include "reductions.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace reductions {

/// What a scan works on: f(i) are the values, store(i, value) takes the results.
template <class T, class Function, class Op, class Store, class At = member_state>
struct scan_of {
  const At& at;
  index_range range;
  Function& f;
  Op& op;
  Store& store;

  T sum_of(std::size_t leaf) const {
    return leaf_of_each<T, Function, Op, At>{at, range, f, op}(leaf);
  }

  /// The second pass over a leaf; what its last index gets is not the next prefix, but near it.
  void run_through(std::size_t leaf, T running) const {
    const index_range part = reduction_tree::leaf_range(range.first, range.last, leaf);
    for (std::size_t i = part.first; watch_of<At>{at}() && i < part.last;) {
      constexpr std::size_t strip = reduction_tree::strip_length;
      const std::size_t end = part.last - i > strip ? i + strip : part.last;
      for (; i < end; ++i) {
        running =
            op(std::move(running), static_cast<reduction_tree::as_value<T, decltype(f(i))>>(f(i)));
        store(i, running);
      }
    }
  }
};

template <class T, class Scan>
T scan_alone(const Scan& what, std::size_t leaves, T prefix) {
  for (std::size_t leaf = 0; leaf < leaves; ++leaf) {
    T sum(what.sum_of(leaf));
    what.run_through(leaf, prefix);
    prefix = what.op(std::move(prefix), std::move(sum));
  }
  return prefix;
}

/// Returns op(init, all values), on all members, when all are done.
template <class T, class Scan>
T scan_leaves(member_state& at, const Scan& what, const T& init) {
  check_copyable<T>();
  const std::size_t leaves = reduction_tree::leaves_of(length_of(what.range));
  if (!at.goes_on()) {
    leave_stopped_region();
    return init;
  }
  if (at.is_alone()) {
    T whole(scan_alone<T>(what, leaves, init));
    if (!at.goes_on()) leave_stopped_region();
    return whole;
  }
  const auto sum_of = [&](std::size_t leaf) { return what.sum_of(leaf); };
  if (!put_leaves<T>(at, leaves, static_schedule(), sum_of)) {
    leave_stopped_region();
    return init;
  }
  const auto handed_out = [&](std::size_t leaf) {
    return cell_access<T>::get(at.shared().leaves[leaf]);
  };
  const index_range mine = static_block(0, leaves, at.rank(), at.size());
  T prefix(reduction_tree::exclusive_prefix<T>(mine.first, init, handed_out, what.op));
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

#endif  // LOCKSTEP_DETAIL_TEAM_SCANS_HPP
