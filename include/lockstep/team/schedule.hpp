// SPDX-License-Identifier: MIT
// lockstep/team/schedule.hpp -- who does which part of a range: pure functions (layer: team)
#pragma once

#include <cstddef>

namespace lockstep {

/// The half-open range [first, last).
struct index_range {
  std::size_t first;
  std::size_t last;
};

/// The contiguous block of member `rank` of `size`: blocks cover [first, last) in rank order without
/// gap or overlap, and their lengths differ by one at most, the longer ones first. Empty if last <= first.
/// Requires rank < size.
constexpr index_range static_block(std::size_t first, std::size_t last, std::size_t rank,
                                   std::size_t size) noexcept {
  // One expression, as C++11 wants it: quotient * rank + min(rank, remainder) after the start.
  return last <= first
             ? index_range{first, first}
             : index_range{
                   first + (last - first) / size * rank +
                       (rank < (last - first) % size ? rank : (last - first) % size),
                   first + (last - first) / size * (rank + 1) +
                       (rank + 1 < (last - first) % size ? rank + 1 : (last - first) % size)};
}

}  // namespace lockstep
