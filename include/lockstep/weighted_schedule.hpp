// SPDX-License-Identifier: MIT
// lockstep/weighted_schedule.hpp -- contiguous blocks by measured speed and lateness (layer: loop)
//
// For a loop that is run again and again. Members that compute slowly, or that wake up late, get less of it, so that all
// finish together. Nothing is handed out while the loop runs. It assumes that all iterations take equally long: if they
// do not, choose dynamic_schedule(). How it learns: src/loop/partition.hpp.
//
// Cost   a loop: two looks at the tick clock and one store to an own line per member. When all are done, one thread reads
//        the samples of all and learns from them, some 60 ns per member: in every loop while shares move, else in every
//        16th. Inside a region the others wait for that: one line transfer more, and above 8 members one more barrier.
// Source the idea: seed 002's article, less work for lagging threads.
// Order  none of its own: each loop that uses it ends with a wait of all its members.
// Errors a bad number of members: std::invalid_argument. Two teams that use it at a time: undefined.
// Example
//   lockstep::team two(2);
//   lockstep::weighted_schedule how(2);
//   std::vector<double> x(100000);
//   for (int step = 0; step < 10; ++step) {
//     two.for_each(0, x.size(), [&](std::size_t i) { x[i] += 1; }, how);
//   }
#ifndef LOCKSTEP_WEIGHTED_SCHEDULE_HPP
#define LOCKSTEP_WEIGHTED_SCHEDULE_HPP

#include <cstddef>

#include <lockstep/detail/platform/config.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {

namespace detail {
class weighted_blocks;
}  // namespace detail

/// The schedule of one loop, which its user keeps from run to run. One team at a time uses it.
class weighted_schedule {
 public:
  /// For teams of `members`. Fails if that is 0 or above 65536.
  explicit weighted_schedule(std::size_t members);
  ~weighted_schedule();
  weighted_schedule(const weighted_schedule&) = delete;
  weighted_schedule& operator=(const weighted_schedule&) = delete;

  std::size_t members() const noexcept;

  /// How much of a long loop a member gets, in units of an equal block: 1 while nothing was learned, 0.25 to 4 later.
  /// Requires: rank < members(), and no loop runs that uses this schedule.
  double weight(std::size_t rank) const noexcept;

 private:
  friend class detail::weighted_blocks;

  detail::weighted_blocks* const blocks_;
};

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_WEIGHTED_SCHEDULE_HPP
