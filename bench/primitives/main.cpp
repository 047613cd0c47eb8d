// SPDX-License-Identifier: MIT
// bench/primitives/main.cpp -- the three experiments of ThreadSynchronizer's document, for the original
// mechanism, what the system offers, and lockstep
#include "primitives/rows.hpp"

int main(int argc, char** argv) {
  constexpr const char* about =
      "Measures how long threads take to hand on a token (cyclic scheduler), to be woken and "
      "joined\n"
      "(parallel scheduler) and to meet in the middle (syncThread). Samples of all rows take "
      "turns.\n";
  constexpr const char* operation =
      "Operations cyclic: a hop, notify to wake. parallel: a round of fork and join, as the parent "
      "sees\n           it. sync: the same with syncThreads in the middle.\n";
  return bench::run_rows("primitives", about, operation, argc, argv, bench::primitives::all_rows());
}
