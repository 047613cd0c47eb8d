// SPDX-License-Identifier: MIT
// bench/team/break_even.hpp -- from which size on several threads win (pure but for the question asked)
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace team_bench {

/// Sizes from `first` to at most `last`, each about `factor` times the one before, without repetition.
/// Requires 0 < first <= last and factor > 1.
[[nodiscard]] inline std::vector<std::size_t> ladder_of_sizes(std::size_t first, std::size_t last,
                                                              double factor) {
  std::vector<std::size_t> sizes{first};
  double exact = static_cast<double>(first);
  while ((exact *= factor) < static_cast<double>(last) + 0.5) {
    const auto size = static_cast<std::size_t>(exact);
    if (size > sizes.back()) sizes.push_back(size);
  }
  return sizes;
}

/// The smallest size of the ladder from which on wins(size) is true, if it is true anywhere; found by halving,
/// then upwards until two neighbours agree, because a single answer near the break-even is
/// chance. Requires an ascending ladder, not empty.
template <class Wins>
[[nodiscard]] std::optional<std::size_t> break_even(const std::vector<std::size_t>& ladder,
                                                    Wins wins) {
  std::size_t low = 0, high = ladder.size();  // all below low lose; high wins, or there is none
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (wins(ladder[middle])) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  const auto win = [&](std::size_t i) { return i == ladder.size() || wins(ladder[i]); };
  while (high < ladder.size() && !(win(high) && win(high + 1))) ++high;
  return high < ladder.size() ? std::optional<std::size_t>(ladder[high]) : std::nullopt;
}

}  // namespace team_bench
