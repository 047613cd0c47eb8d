// SPDX-License-Identifier: MIT
// bench/support/turns.hpp -- the order in which rows are sampled
#pragma once

#include <cstddef>

namespace bench {

/// Calls visit(row, round) for every row in every round: a slow spell of the machine hits all rows
/// alike. There and back again, so that nobody always runs right after the same neighbour.
template <class Visit>
void take_turns(std::size_t rows, std::size_t rounds, Visit visit) {
  for (std::size_t round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < rows; ++i) visit(round % 2 == 0 ? i : rows - 1 - i, round);
  }
}

}  // namespace bench
