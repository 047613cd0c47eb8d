// SPDX-License-Identifier: MIT
// bench/primitives/main.cpp -- the three experiments of ThreadSynchronizer's document, for the original
// mechanism, what the system offers, and lockstep
#include "primitives/results.hpp"

int main(int argc, char** argv) {
  using namespace bench::primitives;
  constexpr const char* about =
      "Measures how long threads take to hand on a token (cyclic scheduler), to be woken and "
      "joined\n"
      "(parallel scheduler) and to meet in the middle (syncThread). Samples of all rows take "
      "turns.\n";
  return bench::run_rows("primitives", about, argc, argv, all_rows(), full_operations, run,
                         [](const auto& rows) { return tell(evaluate(rows)); });
}
