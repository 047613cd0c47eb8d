// SPDX-License-Identifier: MIT
// Without exceptions a bad argument must print its message and abort.
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include <lockstep/lockstep.hpp>

static void report_abort(int) {
  std::puts("aborted");
  std::fflush(stdout);
  std::_Exit(0);
}

int main() {
  std::signal(SIGABRT, report_abort);
  lockstep::ranked_barrier without_participants(0);
  std::puts("went on");
  return 1;
}
