// SPDX-License-Identifier: MIT
// What pages call solver and program: a few steps of a team (scripts/run/page_commands.py).
#include <lockstep/lockstep.hpp>

#include <cstddef>

int main() {
  lockstep::team team(2);
  double values[64] = {};
  team.run([&](lockstep::member& me) {
    for (int step = 0; step < 3; ++step) {
      me.for_each(0, 64, [&](std::size_t i) { values[i] += 1; });
      me.sync_sum(1);
    }
  });
  return values[63] == 3 ? 0 : 1;
}
