// SPDX-License-Identifier: MIT
// lockstep/detail/team/team_loops.hpp -- a region that is one loop: behind the loops of team.hpp, TEAMLOOP-1 to TEAMLOOP-4 (layer: team)
//
// Only the leaf (leaf_loop.hpp) or the fold (reduction_operations.hpp) and a call are compiled for each closure.
//
// Cost   on the caller alone: 5 to 10 ns where that is known (LONE-1), else about 20. With members that are
//        awake: an empty region, a claim by each (6 ns), the work. The join is the only wait.
#ifndef LOCKSTEP_DETAIL_TEAM_TEAM_LOOPS_HPP
#define LOCKSTEP_DETAIL_TEAM_TEAM_LOOPS_HPP

#include <cstddef>
#include <utility>

#include <lockstep/detail/loop/leaf_loop.hpp>
#include <lockstep/detail/loop/loops.hpp>
#include <lockstep/detail/reduce/reductions.hpp>
#include <lockstep/detail/team/team_host.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// A loop on the caller alone, without a region, if that may be: LONE-1 of src/team/team_loops.cpp.
lone_outcome run_lone_loop(team_host& on, const range_body& body, std::size_t length);
/// The same in chunks. Apart from the first, which takes 1.2 times as long where it has a schedule.
lone_outcome run_lone_loop(team_host& on, const range_body& body, std::size_t length, schedule how);
/// A loop at a place of the program, as a region. `loop`: a sized_leaf. False if it was stopped.
bool run_loop(team_host& on, loop_place& place, const void* loop, std::size_t length, schedule how,
              source_place where);
/// On all members, in blocks by measured speed.
bool run_by_weights(team_host& on, const range_body& body, std::size_t length,
                    weighted_schedule& how, source_place where);

/// The base of a team's functions.
class team_loops {
 public:
  explicit team_loops(team_host& on) noexcept : on_(on) {}

  /// f(i), or f(first, last), of a leaf.
  template <class Leaf>
  bool run(const Leaf& leaf, std::size_t length, schedule how, source_place where) const {
    const sized_leaf<Leaf> loop = {length, leaf};
    loop_place& place = loop_place_of<Leaf>::at;
    if (needs_nobody(place, length, how)) {
      const range_body body(loop.call, &loop);
      const lone_outcome alone = how.kind() == schedule_kind::static_blocks
                                     ? run_lone_loop(on_, body, length)
                                     : run_lone_loop(on_, body, length, how);
      if (alone != lone_outcome::refused) return alone == lone_outcome::complete;
    }
    return run_loop(on_, place, &loop, length, how, where);
  }
  template <class Leaf>
  bool run(const Leaf& leaf, std::size_t length, weighted_schedule& how, source_place where) const {
    return run_by_weights(on_, leaf, length, how, where);
  }
  template <class... Functions>
  bool invoke(Functions&... functions) const {
    const auto each = [&](std::size_t first, std::size_t last) {
      for (std::size_t k = first; k < last; ++k) loops::call_one(k, functions...);
    };
    const sized_leaf<decltype(each)> loop = {sizeof...(Functions), each};
    return run_loop(on_, loop_place_of<decltype(each)>::at, &loop, loop.length, dynamic_schedule(),
                    call_site::none());
  }

 private:
  /// From the grain of a loop, or from what is known of its place.
  bool needs_nobody(loop_place& place, std::size_t length, schedule how) const noexcept {
    if (on_.size() == 1) return true;
    const std::size_t grain = grain_of(how);
    return grain == 0 ? place.pace.allows(on_.number(), length) : length / 2 < grain;
  }

  team_host& on_;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_TEAM_LOOPS_HPP
