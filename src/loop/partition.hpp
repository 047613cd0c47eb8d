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
#include <lockstep/detail/platform/cache_line.hpp>
#include <lockstep/detail/platform/clock.hpp>
#include <lockstep/detail/platform/error.hpp>
#include <lockstep/weighted_schedule.hpp>
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

  aligned_array<std::uint64_t> begins_;  // on lines of its own
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
    for (const record& one : members_) from_equal = larger(from_equal, std::fabs(one.target - 1));
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

// How the members of a team use a partition in one loop after another. Each member runs its block and leaves a sample. When
// all have done so, and before one goes on, one thread learns from the samples.
//
//   WEIGHTED-1  In every loop all members use the same bounds, so that blocks have neither gap nor overlap: bounds change
//               only between the last sample of a loop and the end of the wait that follows.
//   WEIGHTED-2  A loop that was stopped teaches nothing.
//   WEIGHTED-3  In a team of another size blocks are equal, and nothing is learned.
class weighted_blocks {
 public:
  explicit weighted_blocks(std::size_t members)
      : samples_(checked_count("lockstep::weighted_schedule", "members", members)),
        bounds_(members),
        partition_(members) {}

  static weighted_blocks& of(weighted_schedule& schedule) noexcept { return *schedule.blocks_; }

  std::size_t members() const noexcept { return samples_.size(); }
  double weight(std::size_t rank) const noexcept { return partition_.weight(rank); }

  /// What a member does in a loop: calls body(first, last) for its block unless that is empty, and leaves its sample.
  void run_block(std::size_t length, std::size_t rank, std::size_t size, const range_body& body) {
    const index_range mine = block(length, rank, size);
    const std::uint64_t start = tick_clock::now();
    if (mine.first < mine.last) body(mine.first, mine.last);
    note(rank, size, {start, tick_clock::now(), length_of(mine)});
  }
  /// When all have run their blocks, and before one goes on. If weights stay, the next loops teach nothing.
  void learn(std::size_t size) noexcept {
    if (!applies_to(size)) return;
    if (rest_ > 0) {
      --rest_;
      return;
    }
    if (partition_.learn([this](std::size_t rank) { return samples_[rank].value; })) {
      bounds_.set([this](std::size_t rank) { return weight(rank); });
      pause_ = 0;
    } else {
      pause_ = lesser(2 * pause_ + 1, most_pause);
    }
    rest_ = pause_;
  }

  /// The two halves of run_block(). Requires rank < size.
  index_range block(std::size_t length, std::size_t rank, std::size_t size) const noexcept {
    return applies_to(size) ? bounds_.block(0, length, rank) : static_block(0, length, rank, size);
  }
  void note(std::size_t rank, std::size_t size, const member_sample& sample) noexcept {
    if (applies_to(size)) samples_[rank].value = sample;
  }

 private:
  /// The most loops between two looks at samples, while these change nothing.
  static constexpr unsigned most_pause = 15;

  bool applies_to(std::size_t size) const noexcept { return size > 1 && size == members(); }

  aligned_array<padded<member_sample>> samples_;  ///< of the last loop
  weighted_bounds bounds_;
  line_gap between_;  ///< all members read what is before; what follows is written between loops
  partition partition_;
  unsigned pause_ = 0;  ///< how many loops to rest after a look at samples
  unsigned rest_ = 0;   ///< how many of those are left
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_LOOP_PARTITION_HPP
