// SPDX-License-Identifier: MIT
// lockstep/detail/team/partition.hpp -- learns how much of a range each member should get: pure (layer: team)
//
// Each member is taken to need lateness + iterations / speed from the moment the first one starts. The
// weights aimed at make all end together; lateness counts the less the longer the loop is. For users:
// weighted_schedule.hpp.
//
//   Q1  Blocks cover every range without gap or overlap in rank order, whatever the weights.
//   Q2  A weight is 1/4 to 4 times the equal one, and moves by 1/4 of the equal one at most per step.
//   Q3  What was not measured, or not sensibly, and differences that are noise, change nothing.
//   Q4  Equal weights make the blocks of static_block(): data stay where other loops put them.
#ifndef LOCKSTEP_DETAIL_TEAM_PARTITION_HPP
#define LOCKSTEP_DETAIL_TEAM_PARTITION_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "../platform/cache_line.hpp"
#include "chunks.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// Not that of <cmath>, which costs more to compile than this header.
inline double magnitude(double value) noexcept { return value < 0 ? -value : value; }

/// What one member did in one loop. Stamps of one clock for all members, in any unit. No iterations, or an
/// end that is not after the start: no measurement.
struct member_sample {
  std::uint64_t start;
  std::uint64_t end;
  std::size_t iterations;
};

/// Contiguous blocks by weight: bounds in 2^-32 of any range.
class weighted_bounds {
 public:
  /// Equal blocks. Requires 0 < size <= 65536.
  explicit weighted_bounds(std::size_t size) : begins_(size) {}

  std::size_t size() const noexcept { return begins_.size(); }

  /// As static_block(), which it is for equal weights. Requires rank < size().
  index_range block(std::size_t first, std::size_t last, std::size_t rank) const noexcept {
    if (are_equal_ || last <= first) return static_block(first, last, rank, size());
    const std::size_t length = last - first;
    return index_range{first + part_of(length, begins_[rank]),
                       rank + 1 == size() ? last : first + part_of(length, begins_[rank + 1])};
  }

  void set_equal() noexcept { are_equal_ = true; }
  /// Blocks in proportion to weight_of(rank) > 0.
  template <class WeightOf>
  void set(WeightOf weight_of) noexcept {
    double all = 0, before = 0;
    for (std::size_t rank = 0; rank < size(); ++rank) all += weight_of(rank);
    for (std::size_t rank = 0; rank < size(); ++rank) {
      // The same sums in the same order: never above 1.
      begins_[rank] = static_cast<std::uint64_t>(before / all * static_cast<double>(whole));
      before += weight_of(rank);
    }
    are_equal_ = false;
  }
  /// Without allocation. Requires the same size.
  void copy_from(const weighted_bounds& other) noexcept {
    for (std::size_t rank = 0; rank < size(); ++rank) begins_[rank] = other.begins_[rank];
    are_equal_ = other.are_equal_;
  }

 private:
  static constexpr std::uint64_t whole = std::uint64_t{1} << 32;

  /// length * fraction / 2^32, rounded up, so that the first iterations go to the first members.
  static std::size_t part_of(std::size_t length, std::uint64_t fraction) noexcept {
    const std::uint64_t n = length;
    return static_cast<std::size_t>((n >> 32) * fraction +
                                    (((n & (whole - 1)) * fraction + (whole - 1)) >> 32));
  }

  detail::aligned_array<std::uint64_t> begins_;  // members read it while rank 0 writes elsewhere
  bool are_equal_ = true;
};

/// What has been learnt of the members of a team, and the weights that follow from it. The same samples
/// make the same weights. Allocates only when it is made.
class partition {
 public:
  /// In units of the equal share (Q2).
  static constexpr double least_weight = 0.25, most_weight = 4, most_step = 0.25;

  /// Equal weights. Requires 0 < size <= 65536.
  explicit partition(std::size_t size) : members_(size), bounds_(size) {}

  std::size_t size() const noexcept { return members_.size(); }
  /// In units of the equal weight; the sum is size(), to six digits.
  double weight(std::size_t rank) const noexcept { return members_[rank].weight; }
  const weighted_bounds& bounds() const noexcept { return bounds_; }

  /// Takes in one loop: sample_of(rank) is what the member did in it. True if weights have changed.
  template <class SampleOf>
  bool learn(SampleOf sample_of) noexcept {
    const overview all = look_at(sample_of);
    if (all.measured == 0) return false;
    for (std::size_t rank = 0; rank < size(); ++rank) note(members_[rank], sample_of(rank), all);
    aim(all.iterations);
    return targets_add_up() && move();
  }

 private:
  // All chosen by the simulations of partition_test.cpp, with noise of 10 percent. Weights within
  // `noise` of the target stay: moved bounds move cache lines between CPUs. `near_equal` is less, so
  // that shares do not go to and fro between equal and almost equal.
  static constexpr double smoothing = 0.25, noise = 1.0 / 32, near_equal = 1.0 / 64;

  struct member_state {
    double speed = 0;  ///< iterations per unit of time; 0: not known
    double lateness = 0;
    double weight = 1;
    double target = 1;
    bool is_limited = false;
  };
  /// Of the sensible samples of a loop.
  struct overview {
    std::size_t measured = 0;
    std::uint64_t first_start = 0;
    double longest = 0;
    double iterations = 0;
    double speeds = 0;  ///< their sum
  };

  static bool is_sensible(const member_sample& of) noexcept {
    return of.iterations > 0 && of.end > of.start;
  }
  static double time_of(const member_sample& of) noexcept {
    return static_cast<double>(of.end - of.start);
  }
  static double speed_of(const member_sample& of) noexcept {
    return static_cast<double>(of.iterations) / time_of(of);
  }

  template <class SampleOf>
  overview look_at(SampleOf& sample_of) const noexcept {
    overview all;
    for (std::size_t rank = 0; rank < size(); ++rank) {
      const member_sample one = sample_of(rank);
      if (!is_sensible(one)) continue;
      all.first_start = all.measured == 0 ? one.start : (std::min)(all.first_start, one.start);
      all.longest = (std::max)(all.longest, time_of(one));
      all.iterations += static_cast<double>(one.iterations);
      all.speeds += speed_of(one);
      ++all.measured;
    }
    return all;
  }

  /// A single sample counts as half or twice the known speed at most, and as late as the loop was long: it
  /// may have been interrupted.
  static void note(member_state& of, const member_sample& seen, const overview& all) noexcept {
    const double average = all.speeds / static_cast<double>(all.measured);
    const bool sensible = is_sensible(seen);
    if (of.speed <= 0) {
      of.speed = sensible ? speed_of(seen) : average;
    } else if (sensible || seen.iterations == 0) {
      // Who had nothing to do is trusted again bit by bit, or it would never get anything.
      const double speed = sensible ? speed_of(seen) : average;
      const double believed = (std::min)((std::max)(speed, of.speed / 2), of.speed * 2);
      of.speed += smoothing * (believed - of.speed);
    }
    if (!sensible) return;
    const double late = static_cast<double>(seen.start - all.first_start);
    of.lateness += smoothing * ((std::min)(late, all.longest) - of.lateness);
  }

  /// Targets: speed * (end - lateness) iterations, with the end that makes their sum right. Where some are
  /// beyond a limit, those on the side that is further out stay on it, and the others share the rest.
  void aim(double iterations) noexcept {
    const double equal = iterations / static_cast<double>(size());
    for (member_state& one : members_) one.is_limited = false;
    for (std::size_t limited = 0; limited < size();) {
      set_targets(iterations, equal);
      double below = 0, above = 0;
      for (const member_state& one : members_) {
        below += (std::max)(0.0, least_weight - one.target);
        above += (std::max)(0.0, one.target - most_weight);
      }
      if (below <= 0 && above <= 0) return;
      for (member_state& one : members_) {
        const bool out = below > above ? one.target < least_weight : one.target > most_weight;
        if (!out) continue;
        one.target = below > above ? least_weight : most_weight;
        one.is_limited = true;
        ++limited;
      }
    }
  }
  void set_targets(double iterations, double equal) noexcept {
    double rest = iterations, speeds = 0;
    for (const member_state& one : members_) {
      rest += one.is_limited ? -one.target * equal : one.speed * one.lateness;
      speeds += one.is_limited ? 0 : one.speed;
    }
    for (member_state& one : members_) {
      if (!one.is_limited) one.target = one.speed * (rest / speeds - one.lateness) / equal;
    }
  }

  /// They do not where samples are so absurd that rounding errors are all that is left.
  bool targets_add_up() const noexcept {
    double sum = 0;
    for (const member_state& one : members_) sum += one.target;
    return magnitude(sum / static_cast<double>(size()) - 1) < 1e-6;
  }

  /// One step towards the targets: all by the same fraction of their way, so that the sum and the limits,
  /// which hold at both ends, hold in between.
  bool move() noexcept {
    double from_equal = 0, way = 0;
    for (const member_state& one : members_) {
      from_equal = (std::max)(from_equal, magnitude(one.target - 1));
    }
    const bool to_equal = from_equal <= near_equal;
    for (member_state& one : members_) {
      if (to_equal) one.target = 1;
      way = (std::max)(way, magnitude(one.target - one.weight));
    }
    if (way <= (to_equal ? 0 : noise)) return false;
    const double fraction = way > most_step ? most_step / way : 1;
    for (member_state& one : members_) {
      one.weight = fraction < 1 ? one.weight + fraction * (one.target - one.weight) : one.target;
    }
    if (to_equal && fraction >= 1) {
      bounds_.set_equal();
    } else {
      bounds_.set([this](std::size_t rank) { return members_[rank].weight; });
    }
    return true;
  }

  std::vector<member_state> members_;
  weighted_bounds bounds_;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_PARTITION_HPP
