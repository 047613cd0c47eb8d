// SPDX-License-Identifier: MIT
// src/loop/partition.hpp -- learns how much of a range each member should get (layer: loop)
//
//   weighted_bounds  cuts a range into one block for each member, by weights: pure
//   partition        learns the weights from what the members did: pure
//   weighted_blocks  lets the members of a team use and teach a partition from loop to loop
//
// The model: a member starts `lateness` after the first one, and then needs iterations / speed. Weights are chosen so
// that all members end at the same time. In a long loop lateness matters little. For users: weighted_schedule.hpp.
//
//   PARTITION-1  Blocks cover every range in rank order, without gap or overlap, whatever the weights are.
//   PARTITION-2  A weight is 1/4 to 4 times the equal weight. One step moves it by at most 1/4 of the equal weight.
//   PARTITION-3  A loop without a sensible measurement changes nothing. Nor do differences that are only noise.
//   PARTITION-4  Equal weights make the blocks of static_block(), so that data stay where other loops have put them.
#ifndef LOCKSTEP_SRC_LOOP_PARTITION_HPP
#define LOCKSTEP_SRC_LOOP_PARTITION_HPP

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <lockstep/detail/base/range_parts.hpp>
#include <lockstep/detail/loop/leaf_loop.hpp>
#include <lockstep/detail/platform/atomic.hpp>
#include <lockstep/detail/platform/cache_line.hpp>
#include <lockstep/detail/platform/clock.hpp>
#include <lockstep/detail/platform/error.hpp>
#include "../base/numbers.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// What one member did in one loop, by one clock for all members. Not measured if it has no iterations, or no time.
struct member_sample {
  std::uint64_t start;
  std::uint64_t end;
  std::size_t iterations;

  bool is_sensible() const noexcept { return iterations > 0 && end > start; }
  double time() const noexcept { return static_cast<double>(end - start); }
  double speed() const noexcept { return static_cast<double>(iterations) / time(); }
};

/// Contiguous blocks by weight. Bounds are kept as fractions of a range, in units of 2^-32.
class weighted_bounds {
 public:
  /// Equal blocks. Requires 0 < size <= 65536.
  explicit weighted_bounds(std::size_t size) : begins_(size) {}

  std::size_t size() const noexcept { return begins_.size(); }

  /// The block of a member; with equal weights that of static_block(). Requires rank < size().
  index_range block(std::size_t first, std::size_t last, std::size_t rank) const noexcept {
    if (are_equal_ || last <= first) return static_block(first, last, rank, size());
    const std::size_t length = last - first;
    return index_range{first + part_of(length, begins_[rank]),
                       rank + 1 == size() ? last : first + part_of(length, begins_[rank + 1])};
  }

  /// Blocks in proportion to weight_of(rank) > 0. If all are 1, they are equal.
  template <class WeightOf>
  void set(WeightOf weight_of) noexcept {
    double all = 0, before = 0;
    are_equal_ = true;
    for (std::size_t rank = 0; rank < size(); ++rank) {
      all += weight_of(rank);
      are_equal_ &= std::fabs(weight_of(rank) - 1) <= 0;
    }
    for (std::size_t rank = 0; rank < size(); ++rank) {
      // `before` adds the same numbers as `all` in the same order, so the quotient is never above 1.
      begins_[rank] = static_cast<std::uint64_t>(before / all * static_cast<double>(whole));
      before += weight_of(rank);
    }
  }

 private:
  static constexpr std::uint64_t whole = std::uint64_t{1} << 32;

  /// length * fraction / 2^32, rounded up, so that the first iterations go to the first members.
  static std::size_t part_of(std::size_t length, std::uint64_t fraction) noexcept {
    const std::uint64_t n = length;
    return converted<std::size_t>((n >> 32) * fraction +
                                  (((n & (whole - 1)) * fraction + (whole - 1)) >> 32));
  }

  aligned_array<std::uint64_t> begins_;  // on lines of its own: rank 0 writes elsewhere meanwhile
  bool are_equal_ = true;
};

/// What was learned of the members of a team, and the weights that follow. The same samples make the same weights.
/// Only the constructor allocates.
class partition {
 public:
  /// In units of the equal weight: PARTITION-2.
  static constexpr double least_weight = 0.25, most_weight = 4, most_step = 0.25;

  /// Equal weights. Requires 0 < size <= 65536.
  explicit partition(std::size_t size) : members_(size) {}

  std::size_t size() const noexcept { return members_.size(); }
  /// In units of the equal weight. The sum of all weights is size(), to six digits.
  double weight(std::size_t rank) const noexcept { return members_[rank].weight; }

  /// Learns from one loop: sample_of(rank) is what the member did in it. True if weights have changed.
  template <class SampleOf>
  bool learn(SampleOf sample_of) noexcept {
    std::size_t measured = 0;
    std::uint64_t first_start = 0;
    double longest = 0, iterations = 0, speeds = 0;
    for (std::size_t rank = 0; rank < size(); ++rank) {
      const member_sample one = sample_of(rank);
      if (!one.is_sensible()) continue;
      first_start = measured == 0 ? one.start : lesser(first_start, one.start);
      longest = larger(longest, one.time());
      iterations += static_cast<double>(one.iterations);
      speeds += one.speed();
      ++measured;
    }
    if (measured == 0) return false;
    for (std::size_t rank = 0; rank < size(); ++rank) {
      members_[rank].add(sample_of(rank), speeds / static_cast<double>(measured), first_start,
                         longest);
    }
    return aim(iterations) && move();
  }

 private:
  // All three were chosen by the simulations of partition_test.cpp, with noise of 10 percent. Weights that differ from
  // their targets by less than `noise` stay, because moved bounds move cache lines between CPUs. `near_equal` is less
  // than that, so that weights do not alternate between equal and almost equal.
  static constexpr double smoothing = 0.25, noise = 1.0 / 32, near_equal = 1.0 / 64;

  struct record {
    double speed = 0;  ///< iterations per unit of time; 0: not known
    double lateness = 0;
    double weight = 1;
    double target = 1;

    /// A member that was interrupted looks slow or late once. So a sample counts as half to twice the known speed, and
    /// its lateness as the longest part at most. A member that had nothing to do moves towards the average speed.
    /// Otherwise it would never get work again.
    void add(const member_sample& seen, double average, std::uint64_t first_start,
             double longest) noexcept {
      const double now = seen.is_sensible() ? seen.speed() : average;
      if (speed <= 0) {
        speed = now;
      } else if (seen.is_sensible() || seen.iterations == 0) {
        speed += smoothing * (between(speed / 2, now, speed * 2) - speed);
      }
      if (!seen.is_sensible()) return;
      const double late = static_cast<double>(seen.start - first_start);
      lateness += smoothing * (lesser(late, longest) - lateness);
    }
  };

  /// Sets the targets: each member gets speed * (end - lateness) iterations, within the limits. `end` is found by
  /// halving, so that all get `iterations` together. False if absurd samples leave no such `end`.
  bool aim(double iterations) noexcept {
    const double all = static_cast<double>(size()), equal = iterations / all;
    double early = 0, late = 0;
    for (const record& one : members_) {
      late = larger(late, one.lateness + most_weight * equal / one.speed);
    }
    for (unsigned step = 0; step < 100; ++step) {
      const double end = (early + late) / 2;
      double sum = 0;
      for (record& one : members_) {
        one.target = between(least_weight, one.speed * (end - one.lateness) / equal, most_weight);
        sum += one.target;
      }
      if (std::fabs(sum / all - 1) < 1e-7) return true;
      (sum < all ? early : late) = end;
    }
    return false;
  }

  /// Moves the weights one step towards the targets. All move by the same fraction of their way. The sum and the limits
  /// hold for the weights and for the targets, so they hold for everything in between. False if nothing has moved.
  bool move() noexcept {
    double from_equal = 0, way = 0;
    for (const record& one : members_) {
      from_equal = larger(from_equal, std::fabs(one.target - 1));
    }
    const bool to_equal = from_equal <= near_equal;
    for (record& one : members_) {
      if (to_equal) one.target = 1;
      way = larger(way, std::fabs(one.target - one.weight));
    }
    if (way <= (to_equal ? 0 : noise)) return false;
    const double fraction = way > most_step ? most_step / way : 1;
    for (record& one : members_) {
      one.weight = fraction < 1 ? one.weight + fraction * (one.target - one.weight) : one.target;
    }
    return true;
  }

  std::vector<record> members_;
};

// How the members of a team use a partition in one loop after another. Each loop has a number that all members agree
// on, and that grows from one such loop to the next (modulo 2^32); each ends with a barrier or a join of all members.
// Rank 0 learns while the others compute. So there are two sets of bounds: one is in use, the other is written.
//
//   WEIGHTED-1  In every loop all members use the same bounds, so that blocks have neither gap nor overlap: also while
//               rank 0 computes new bounds, and after a region that was stopped.
//   WEIGHTED-2  A loop that some member did not finish teaches nothing.
//   WEIGHTED-3  Blocks are equal while the schedule is switched off, and in a team of another size.
//   WEIGHTED-4  One word says which set is the newer one, and from which loop on it is valid. Before that loop the other
//               set is in use. In loop q rank 0 writes the set that is not in use, and makes it valid from loop q + 1 on:
//               nobody uses it before the barrier at the end of q.
//   WEIGHTED-5  A member writes its sample into the slot that belongs to the set in use. Rank 0 reads the slots of the
//               other set, which nobody writes in that loop.
//
// Memory order (# marks the line)
//   #  access             order    pairs  why it suffices
//   1  newest.store       relaxed  2      the barrier between loops orders it. In the same loop the old and the new
//                                         word name the same set (WEIGHTED-4)
//   2  newest.load        relaxed  1      the other half
class weighted_blocks {
 public:
  explicit weighted_blocks(std::size_t members)
      : sets_{{checked_count("lockstep::weighted_schedule", "members", members)}, {members}},
        partition_(members) {}

  std::size_t members() const noexcept { return partition_.size(); }
  void switch_to(bool on) noexcept { is_on_ = on; }
  bool is_on() const noexcept { return is_on_; }
  double weight(std::size_t rank) const noexcept { return partition_.weight(rank); }

  /// What a member does in a loop: calls body(first, last) for its block unless that is empty, and leaves its sample.
  void run_block(std::uint32_t loop, index_range range, std::size_t rank, std::size_t size,
                 const range_body& body) {
    const index_range mine = block(loop, range.first, range.last, rank, size);
    if (rank == 0) update(loop, size);
    const std::uint64_t start = tick_clock::now();
    if (mine.first < mine.last) body(mine.first, mine.last);
    note(loop, rank, size, {start, tick_clock::now(), length_of(mine)});
  }

  /// The block of a member in this loop. Requires rank < size.
  index_range block(std::uint32_t loop, std::size_t first, std::size_t last, std::size_t rank,
                    std::size_t size) const noexcept {
    return applies_to(size) ? sets_[set_in(loop)].bounds.block(first, last, rank)
                            : static_block(first, last, rank, size);
  }

  /// Each member calls it in the loop, after its block.
  void note(std::uint32_t loop, std::size_t rank, std::size_t size,
            const member_sample& sample) noexcept {
    if (applies_to(size)) sets_[set_in(loop)].samples[rank].value = {loop, sample};
  }

  /// Rank 0 alone calls it, in the loop: learns from an earlier one. The new bounds are in use from the next one on.
  void update(std::uint32_t loop, std::size_t size) noexcept {
    if (!applies_to(size)) return;
    const unsigned unused = 1 - set_in(loop);
    if (is_sampled_) {
      is_sampled_ = false;
      pause_ = learn(sets_[unused]) ? 0 : pause_ < most_pause ? 2 * pause_ + 1 : most_pause;
      rest_ = pause_;
    }
    if (rest_ > 0) {
      --rest_;
      return;
    }
    // From the next loop on members write their samples to the other set. Then those of this loop can be read.
    is_sampled_ = true;
    sampled_ = loop;
    sets_[unused].bounds.set([this](std::size_t rank) { return weight(rank); });
    newest_.store(std::uint64_t{loop + 1} << 1 | unused, memory_order_relaxed);  // 1
  }

 private:
  /// The most loops between two looks at samples, while these change nothing.
  static constexpr std::uint32_t most_pause = 15;

  /// What a member did in the last loop in which it used the set.
  struct noted {
    std::uint32_t loop;
    member_sample sample;
  };
  struct set {
    set(std::size_t members) : samples(members), bounds(members) {}

    aligned_array<padded<noted>> samples;
    weighted_bounds bounds;
  };

  bool applies_to(std::size_t size) const noexcept {
    return is_on_ && size > 1 && size == members();
  }

  /// The set that is in use in a loop: WEIGHTED-4.
  unsigned set_in(std::uint32_t loop) const noexcept {
    const std::uint64_t newest = newest_.load(memory_order_relaxed);  // 2
    const std::uint32_t age = loop - static_cast<std::uint32_t>(newest >> 1);
    const bool is_valid = static_cast<std::int32_t>(age) >= 0;
    return static_cast<unsigned>(newest & 1u) ^ (is_valid ? 0u : 1u);
  }

  /// Learns from the samples of a set, if all of them come from the loop `sampled_`. If not, a member was stopped in
  /// it.
  bool learn(const set& from) noexcept {
    for (std::size_t rank = 0; rank < members(); ++rank) {
      if (from.samples[rank].value.loop != sampled_) return false;
    }
    return partition_.learn([&](std::size_t rank) { return from.samples[rank].value.sample; });
  }

  // All members read these; rank 0 writes the bounds now and then.
  line_gap before_;
  bool is_on_ = true;
  atomic<std::uint64_t> newest_{0};  ///< from << 1 | the set
  set sets_[2];
  line_gap between_;
  // Only rank 0 uses the rest.
  partition partition_;
  std::uint32_t sampled_ = 0;  ///< the loop whose samples can be read in later loops
  std::uint32_t pause_ = 0;    ///< how many loops to rest after a look at samples
  std::uint32_t rest_ = 0;     ///< how many of those are left
  bool is_sampled_ = false;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_LOOP_PARTITION_HPP
