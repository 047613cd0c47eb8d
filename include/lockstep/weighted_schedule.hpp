// SPDX-License-Identifier: MIT
// lockstep/weighted_schedule.hpp -- contiguous blocks by measured speed and lateness (layer: loop)
//
// For a loop that is run again and again. Members that compute slowly, or that wake up late, get less of it, so that all
// finish together. Nothing is handed out while the loop runs. It takes all iterations of a block for equally long: for
// iterations of uneven length choose dynamic_schedule(). How it learns: WEIGHTED-1 to WEIGHTED-5 of
// detail/loop/partition.hpp.
//
// Cost   a loop: two looks at the tick clock and one store to an own line per member. Rank 0 reads the samples of all
//        members and learns from them, some 60 ns per member: in every loop while shares move, else in every 16th. Its
//        block starts after that; its own sample counts this as lateness. No read-modify-write.
// Source the idea: seed 002's article, less work for lagging threads.
// Order  none of its own: each loop that uses it ends with a wait of all its members.
// Errors a bad number of members: std::invalid_argument. Two teams that use it at a time: undefined.
// Example
//   lockstep::team two(2);
//   lockstep::weighted_schedule how(2);
//   std::vector<double> x(100000);
//   for (int step = 0; step < 10; ++step) {
//     two.parallel_for(0, x.size(), [&](std::size_t i) { x[i] += 1; }, how);
//   }
#ifndef LOCKSTEP_WEIGHTED_SCHEDULE_HPP
#define LOCKSTEP_WEIGHTED_SCHEDULE_HPP

#include <cstddef>
#include <cstdint>
#include <utility>

#include <lockstep/detail/loop/loops.hpp>
#include <lockstep/detail/loop/partition.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {

/// The schedule of one loop, which its user keeps from run to run. One team at a time uses it.
class weighted_schedule {
 public:
  /// For teams of `members`. Fails if that is 0 or above 65536.
  explicit weighted_schedule(std::size_t members) : blocks_(members) {}

  std::size_t members() const noexcept { return blocks_.members(); }

  // The next four: while no loop runs that uses this schedule.

  /// Switched off, blocks are equal and nothing is measured. What was learned is kept.
  void switch_on() noexcept { blocks_.switch_to(true); }
  void switch_off() noexcept { blocks_.switch_to(false); }
  bool is_on() const noexcept { return blocks_.is_on(); }
  /// How much of a long loop a member gets, in units of an equal block: 1 while nothing was learned, 0.25 to 4 later.
  /// Requires rank < members().
  double weight(std::size_t rank) const noexcept { return blocks_.weight(rank); }

  /// For threads of your own: the part of one of them. Calls f(first, last) for its block of the range, unless that is
  /// empty. All `size` threads call it in each loop, and every loop ends with a barrier or a join of all of them. `loop`
  /// is a number that all agree on, and that grows from one loop to the next (modulo 2^32). Where the numbers begin
  /// anew, one loop has equal blocks.
  template <class Function>
  void run_block(std::uint32_t loop, index_range range, std::size_t rank, std::size_t size,
                 Function&& f) {
    blocks_.run_block(loop, range, rank, size, std::forward<Function>(f));
  }

 private:
  detail::weighted_blocks blocks_;
};

namespace detail {

inline bool run_weighted(member_state& at, std::size_t length, const range_body& body,
                         weighted_schedule& how) {
  if (at.is_stopped()) return false;
  how.run_block(at.next_phase(), index_range{0, length}, at.rank(), at.size(), body);
  return at.sync();
}
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_WEIGHTED_SCHEDULE_HPP
