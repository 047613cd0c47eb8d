// SPDX-License-Identifier: MIT
// lockstep/detail/base/range_parts.hpp -- how the ranges of loops are cut into parts (layer: base)
//
// Pure functions:
//   static_block    one contiguous block per member: schedule.hpp
//   known_chunk     chunks of one length: dealt out by rank, or taken by ticket (loops.hpp)
//   guided_cursor   chunks taken by ticket that shrink with what is left
//   iterations_of   nested ranges count as one range, the last one fastest
// How the ranges of reductions are cut: reduction_tree.hpp.
//
//   CHUNKS-1  The blocks, chunks or tickets of a loop cover [first, last) without gap or overlap, in the order of
//             ranks, numbers or tickets.
//   CHUNKS-2  What a ticket stands for depends on range, chunk and size alone: every member computes the same.
//   CHUNKS-3  No sum exceeds `last`, which may be the largest std::size_t. A backward range is empty.
//   CHUNKS-4  A ticket past the end is an empty range.
//   CHUNKS-5  iterations_of() is the product of the lengths, or an error if that does not fit in std::size_t.
#ifndef LOCKSTEP_DETAIL_BASE_RANGE_PARTS_HPP
#define LOCKSTEP_DETAIL_BASE_RANGE_PARTS_HPP

#include <cstddef>

#include <lockstep/detail/platform/error.hpp>
#include <lockstep/schedule.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// The number of indices; 0 for a backward range.
constexpr std::size_t length_of(index_range range) noexcept {
  return range.last <= range.first ? 0 : range.last - range.first;
}

/// The number of chunks of `chunk` iterations in [first, last), the last one perhaps shorter: the number of tickets of a
/// dynamic loop. Each member that finds no chunk moves the counter of tickets one further past it; the caller makes sure
/// that a counter of fewer bits than std::size_t does not wrap. Requires chunk > 0.
constexpr std::size_t chunks_of(std::size_t first, std::size_t last, std::size_t chunk) noexcept {
  return last <= first ? 0 : (last - first - 1) / chunk + 1;
}

/// Chunk number `number` (0, 1, ...) of [first, last). Requires number < chunks_of(first, last, chunk). The test that
/// the caller has made saves a division here, which costs more than a short iteration.
constexpr index_range known_chunk(std::size_t first, std::size_t last, std::size_t chunk,
                                  std::size_t number) noexcept {
  return index_range{first + number * chunk, last - (first + number * chunk) <= chunk
                                                 ? last
                                                 : first + number * chunk + chunk};
}

/// The tickets of a guided loop, for one member. Where `left` iterations are left, the next chunk has
/// max(least, ceil(left / (2 * size))) of them, and at most `left`. The cursor replays the sequence up to the ticket
/// asked for, so members share nothing but a counter of tickets. A loop has about 2 * size * (1 + ln(n / (2 * size *
/// least))) tickets. All replays of one member together take one division for each ticket.
class guided_cursor {
 public:
  /// Requires least > 0, 0 < size <= 65536.
  constexpr guided_cursor(std::size_t first, std::size_t last, std::size_t least,
                          std::size_t size) noexcept
      : next_(first), last_(last < first ? first : last), least_(least), parts_(2 * size) {}

  /// What ticket number `ticket` (0, 1, ...) stands for; empty past the end.
  /// Requires: `ticket` is not less than in the calls before.
  index_range advance_to(std::size_t ticket) noexcept {
    while (ticket_ < ticket && next_ < last_) {
      next_ += length();
      ++ticket_;
    }
    return index_range{next_, next_ + length()};
  }

 private:
  std::size_t length() const noexcept {
    const std::size_t left = last_ - next_;
    if (left <= least_) return left;
    const std::size_t share = (left - 1) / parts_ + 1;
    return share < least_ ? least_ : share;
  }

  std::size_t next_;
  std::size_t last_;
  std::size_t least_;
  std::size_t parts_;
  std::size_t ticket_ = 0;
};

/// `planes`: 0 where there are only two ranges.
[[noreturn]] std::size_t fail_collapse(std::size_t planes, std::size_t rows, std::size_t columns);

/// Whether a product of positive numbers fits in std::size_t.
constexpr bool product_fits(std::size_t a, std::size_t b) noexcept {
  return b <= static_cast<std::size_t>(-1) / a;
}
constexpr bool product_fits(std::size_t a, std::size_t b, std::size_t c) noexcept {
  return product_fits(a, b) && product_fits(a * b, c);
}

/// The number of pairs; 0 if a range is empty or backward. Fails (std::invalid_argument) if std::size_t cannot hold it.
constexpr std::size_t iterations_of(const index_range_2& of) {
  return length_of(of.rows) == 0 || length_of(of.columns) == 0 ? 0
         : product_fits(length_of(of.rows), length_of(of.columns))
             ? length_of(of.rows) * length_of(of.columns)
             : fail_collapse(0, length_of(of.rows), length_of(of.columns));
}

/// The number of triples; otherwise as for two ranges.
constexpr std::size_t iterations_of(const index_range_3& of) {
  return length_of(of.planes) == 0 || length_of(of.rows) == 0 || length_of(of.columns) == 0 ? 0
         : product_fits(length_of(of.planes), length_of(of.rows), length_of(of.columns))
             ? length_of(of.planes) * length_of(of.rows) * length_of(of.columns)
             : fail_collapse(length_of(of.planes), length_of(of.rows), length_of(of.columns));
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_BASE_RANGE_PARTS_HPP
