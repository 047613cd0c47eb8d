// SPDX-License-Identifier: MIT
// src/trace/wait_histogram.hpp -- the distribution of times, in a fixed amount of room (layer: trace)
//
// Eight buckets for each power of two: a quantile differs from the value that it stands for by 6 % at most
// (wait_counts::most_error). Values below 8 are exact, those from 2^40 on are counted as the longest.
// One thread adds; any thread may read meanwhile, and finds each count as it was at some time (tally).
//
// Memory order (# marks the line)
//   #  access       order    pairs  why it suffices
//   1  value.load   relaxed  -      a number that stands for itself
//   2  value.store  relaxed  -      as 1; one thread writes
#ifndef LOCKSTEP_SRC_TRACE_WAIT_HISTOGRAM_HPP
#define LOCKSTEP_SRC_TRACE_WAIT_HISTOGRAM_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include <lockstep/detail/platform/atomic.hpp>
#include <lockstep/detail/platform/config.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// A number that one thread changes, and that others may read at any time.
class tally {
 public:
  std::uint64_t get() const noexcept { return value_.load(memory_order_relaxed); }       // 1
  void set(std::uint64_t value) noexcept { value_.store(value, memory_order_relaxed); }  // 2
  void add(std::uint64_t more) noexcept { set(get() + more); }
  void raise_to(std::uint64_t least) noexcept {
    if (get() < least) set(least);
  }

 private:
  unseamed_atomic<std::uint64_t> value_{0};
};

/// The buckets of times.
struct wait_buckets {
  static constexpr unsigned per_octave = 8, octaves = 40;
  static constexpr std::size_t count = (octaves - 2) * per_octave;

  /// From the exponent and the first three digits of the value as a floating-point number.
  static std::size_t of(std::uint64_t value) noexcept {
    static_assert(std::numeric_limits<double>::is_iec559,
                  "its digits are where they are looked for");
    if (value < per_octave) return converted<std::size_t>(value);
    if (value >= std::uint64_t{1} << octaves) return count - 1;
    const double number = static_cast<double>(static_cast<std::int64_t>(value));
    std::uint64_t digits;
    std::memcpy(&digits, &number, sizeof digits);
    return converted<std::size_t>((digits >> 49) - 1025 * per_octave);
  }
  /// The least value of a bucket.
  static std::uint64_t least_of(std::size_t bucket) noexcept {
    if (bucket < 2 * per_octave) return bucket;
    return (bucket % per_octave + per_octave) << (bucket / per_octave - 1);
  }
  /// The value that differs least, in proportion, from all that a bucket may hold.
  static double value_of(std::size_t bucket) noexcept {
    const double least = static_cast<double>(least_of(bucket));
    if (bucket < 2 * per_octave) return least;
    const double end = static_cast<double>(least_of(bucket + 1));
    return 2 * least * end / (least + end);
  }
};

class wait_histogram {
 public:
  void add(std::uint64_t value, std::uint64_t times = 1) noexcept {
    counts_[wait_buckets::of(value)].add(times);
  }
  std::uint64_t count_of(std::size_t bucket) const noexcept { return counts_[bucket].get(); }
  void reset() noexcept {
    for (tally& each : counts_) each.set(0);
  }

 private:
  tally counts_[wait_buckets::count];
};

/// What one or several histograms say together. Plain data.
class wait_counts {
 public:
  /// Of a quantile, in proportion.
  static constexpr double most_error = 1.0 / 17;

  void add(const wait_histogram& of) noexcept {
    for (std::size_t i = 0; i < wait_buckets::count; ++i) counts_[i] += of.count_of(i);
  }
  std::uint64_t total() const noexcept {
    std::uint64_t sum = 0;
    for (const std::uint64_t each : counts_) sum += each;
    return sum;
  }
  /// The smallest value that is not below a `share` of all; 0 of none.
  double quantile(double share) const noexcept {
    const std::uint64_t all = total();
    if (all == 0) return 0;
    const double wanted = share * static_cast<double>(all);
    std::uint64_t seen = 0;
    std::size_t bucket = 0;
    for (; bucket + 1 < wait_buckets::count; ++bucket) {
      seen += counts_[bucket];
      if (seen > 0 && static_cast<double>(seen) >= wanted) break;
    }
    return wait_buckets::value_of(bucket);
  }

 private:
  std::uint64_t counts_[wait_buckets::count] = {};
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_TRACE_WAIT_HISTOGRAM_HPP
