// SPDX-License-Identifier: MIT
// lockstep/weighted_schedule.hpp -- contiguous blocks by measured speed and lateness (layer: team)
//
// For a loop that is run again and again: members that compute slower, or wake up later, get less of it, so
// that all finish together. Nothing is handed out while the loop runs. For iterations of uneven length
// take dynamic_schedule(); this one takes those of a block for equally long.
//
//   W1  In every loop all members use the same bounds: blocks have neither gap nor overlap, also while rank 0
//       computes new ones, and after a region that was stopped.
//   W2  A loop that any member did not finish teaches nothing.
//   W3  Switched off, or for another number of members: equal blocks.
//   W4  Two sets of bounds, each valid from a loop number on; in loop q everyone takes the newest that is
//       valid in q. Rank 0 overwrites the other one, with a number above q: nobody takes it before the barrier.
//   W5  Samples go with the bounds in use: rank 0 reads those of the other set, which nobody writes in q.
//
// Memory order (# marks the line; each weakening must fail a test)
//   #  access             order    pairs  why it suffices
//   1  valid_from.store   relaxed  2      the barrier between loops orders it; in the same loop either
//                                         value means the same, W4
//   2  valid_from.load    relaxed  1      the other half
//
// Cost   a loop: two looks at the tick clock and one store to an own line per member. Rank 0 reads the samples
//        of all in every loop while shares move, else in every 16th, and learns, some 60 ns per member. It
//        starts its block after that: its own sample counts it as lateness. No read-modify-write.
// Source the idea: seed 002's article, less work for lagging threads.
#ifndef LOCKSTEP_WEIGHTED_SCHEDULE_HPP
#define LOCKSTEP_WEIGHTED_SCHEDULE_HPP

#include <cstddef>
#include <cstdint>

#include "detail/platform/atomic.hpp"
#include "detail/platform/cache_line.hpp"
#include "detail/platform/clock.hpp"
#include "detail/platform/error.hpp"
#include "detail/team/loops.hpp"
#include "detail/team/partition.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {

/// The schedule of one loop, kept by its user from run to run. One team at a time uses it, and every loop
/// that does ends in a barrier or a join of all members. `loop` is a number that all members agree on and
/// that grows from one such loop to the next (modulo 2^32): the phase of the barrier will do. Numbers that
/// begin anew (another team) cost nothing but a loop in equal blocks.
class weighted_schedule {
 public:
  /// For teams of `members`. Fails if that is 0 or above 65536.
  explicit weighted_schedule(std::size_t members)
      : slots_(detail::checked_count("lockstep::weighted_schedule", "members", members)),
        sets_{{members}, {members}},
        partition_(members) {}
  weighted_schedule(const weighted_schedule&) = delete;
  weighted_schedule& operator=(const weighted_schedule&) = delete;

  std::size_t members() const noexcept { return slots_.size(); }

  /// Switched off, blocks are equal and nothing is measured; what was learnt is kept. While no
  /// loop runs that uses this schedule.
  void switch_on() noexcept { is_on_ = true; }
  void switch_off() noexcept { is_on_ = false; }
  bool is_on() const noexcept { return is_on_; }

  /// What has been learnt so far. While no loop runs that uses this schedule.
  const detail::partition& learnt() const noexcept { return partition_; }

  /// The whole part of one member: its block, f(first, last) unless that is empty, its sample.
  template <class Function>
  void run_block(std::uint32_t loop, index_range range, std::size_t rank, std::size_t size,
                 Function&& f) {
    const index_range mine = block(loop, range.first, range.last, rank, size);
    if (rank == 0) update(loop, size);
    const std::uint64_t start = detail::tick_clock::now();
    if (mine.first < mine.last) f(mine.first, mine.last);
    note(loop, rank, size,
         detail::member_sample{start, detail::tick_clock::now(), detail::length_of(mine)});
  }

  /// The block of a member in this loop. Requires rank < size.
  index_range block(std::uint32_t loop, std::size_t first, std::size_t last, std::size_t rank,
                    std::size_t size) const noexcept {
    const int set = applies_to(size) ? set_in(loop) : none;
    return set == none ? static_block(first, last, rank, size)
                       : sets_[set].bounds.block(first, last, rank);
  }

  /// By each member, in the loop, after its part.
  void note(std::uint32_t loop, std::size_t rank, std::size_t size,
            const detail::member_sample& sample) noexcept {
    if (!applies_to(size)) return;
    const int set = set_in(loop);
    noted& into = slots_[rank].value.of[set == none ? 0 : set];
    into.loop = loop;
    into.sample = sample;
  }

  /// By rank 0 alone, in the loop, before it arrives at its end: looks at the samples of the loop
  /// before; what follows from them is in use from the next loop on.
  void update(std::uint32_t loop, std::size_t size) noexcept {
    if (!applies_to(size)) return;
    const int in_use = set_in(loop), other = in_use == 1 ? 0 : 1;
    if (in_use == none) {  // numbers have begun anew: what was sampled is of the old ones
      is_sampled_ = false;
      rest_ = 0;
    }
    if (is_sampled_) {
      is_sampled_ = false;
      pause_ = learn(other) ? 0 : pause_ < most_pause ? 2 * pause_ + 1 : most_pause;
      rest_ = pause_;
    }
    if (rest_ > 0) {
      --rest_;
      return;
    }
    // From the next loop on the others write their samples to the other place, and these can be read.
    is_sampled_ = true;
    sampled_ = loop;
    sets_[other].bounds.copy_from(partition_.bounds());
    sets_[other].valid_from.store(loop + 1, detail::memory_order_relaxed);  // 1
  }

 private:
  static constexpr int none = -1;
  /// Loops between two looks at samples while these change nothing.
  static constexpr std::uint32_t most_pause = 15;

  struct bounds_set {
    detail::atomic<std::uint32_t> valid_from;
    detail::weighted_bounds bounds;

    bounds_set(std::size_t size) : valid_from(0), bounds(size) {}
  };
  struct noted {
    std::uint32_t loop;
    detail::member_sample sample;
  };
  /// What one member writes: a place for each set of bounds.
  struct slot {
    noted of[2];
  };

  bool applies_to(std::size_t size) const noexcept {
    return is_on_ && size > 1 && size == members();
  }

  /// How many loops ago a set became valid; above 2^31: it is not yet, or belongs to other numbers.
  std::uint32_t age_in(std::uint32_t loop, int set) const noexcept {
    return loop - sets_[set].valid_from.load(detail::memory_order_relaxed);  // 2
  }
  /// The set that is in use in a loop (W4).
  int set_in(std::uint32_t loop) const noexcept {
    constexpr std::uint32_t future = std::uint32_t{1} << 31;
    const std::uint32_t age0 = age_in(loop, 0), age1 = age_in(loop, 1);
    if (age0 >= future && age1 >= future) return none;
    return age0 <= age1 ? 0 : 1;
  }

  /// Learns from the samples of one place if all are of the loop that was meant: no member was stopped.
  bool learn(int place) noexcept {
    for (std::size_t rank = 0; rank < members(); ++rank) {
      if (slots_[rank].value.of[place].loop != sampled_) return false;
    }
    return partition_.learn(
        [this, place](std::size_t rank) { return slots_[rank].value.of[place].sample; });
  }

  // What all read, and rank 0 changes now and then.
  detail::line_gap before_;
  bool is_on_ = true;
  detail::aligned_array<detail::padded<slot>> slots_;
  bounds_set sets_[2];
  detail::line_gap between_;
  // Of rank 0.
  detail::partition partition_;
  std::uint32_t sampled_ = 0;  ///< the loop whose samples can be read in those after it
  std::uint32_t pause_ = 0;
  std::uint32_t rest_ = 0;
  bool is_sampled_ = false;
};

namespace detail {

inline bool run_weighted(member_state& at, std::size_t length, const range_body& body,
                         weighted_schedule& how) {
  if (at.is_stopped()) return false;
  how.run_block(at.next_phase(), index_range{0, length}, at.rank(), at.size(), body);
  return at.sync();
}
inline void run_weighted(loop_share& me, std::size_t length, const range_body& body,
                         weighted_schedule& how) {
  how.run_block(me.region(), index_range{0, length}, me.rank(), me.size(), body);
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_WEIGHTED_SCHEDULE_HPP
