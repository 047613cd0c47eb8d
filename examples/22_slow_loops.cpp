// SPDX-License-Identifier: MIT
// 22_slow_loops [case] [mended] [steps] -- three parallel loops that are slow, and what mends them
//
// 1: members have unequal work; 2: there are more members than CPUs; 3: members wait for each other after too little
// work. With `mended` 1 the cause is gone. LOCKSTEP_TRACE=FILE records each: docs/visibility.md shows the
// pictures.
#include <lockstep/lockstep.hpp>
#include <string>
#include <vector>

#include "numbered.hpp"

namespace {

using numbers = std::vector<unsigned>;

// --- case 1: the sums of the rows of a triangle; row i has i numbers ---

unsigned row_sum(std::size_t row) {
  unsigned sum = 0;
  for (std::size_t i = 0; i < row; ++i) sum += static_cast<unsigned>(i * i) % 7;
  return sum;
}

void sum_rows_unequal(lockstep::team& team, numbers& sums, std::size_t steps) {
  LOCKSTEP_TRACE_SCOPE("rows, a block each");
  team.run([&](lockstep::member& me) {
    for (std::size_t step = 0; step < steps; ++step) {
      // [unequal]
      me.for_range(0, sums.size(), [&](std::size_t first, std::size_t last) {
        for (std::size_t row = first; row < last; ++row) sums[row] += row_sum(row);
      });  // all wait here for the member that has the long rows
      // [/unequal]
    }
  });
}

void sum_rows_mended(lockstep::team& team, numbers& sums, std::size_t steps) {
  LOCKSTEP_TRACE_SCOPE("rows, as members come");
  team.run([&](lockstep::member& me) {
    for (std::size_t step = 0; step < steps; ++step) {
      // [unequal_mended]
      me.for_each(
          0, sums.size(), [&](std::size_t row) { sums[row] += row_sum(row); },
          lockstep::dynamic_schedule(8));
      // [/unequal_mended]
    }
  });
}

// --- cases 2 and 3: rods whose cells take the mean of their neighbours ---

struct rod {
  explicit rod(std::size_t cells) : now(cells), next(cells) {
    for (std::size_t i = 0; i < cells; ++i) now[i] = static_cast<unsigned>(i * i % 1000);
  }

  void smooth(std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      const unsigned left = now[i == 0 ? i : i - 1], right = now[i + 1 == now.size() ? i : i + 1];
      next[i] = (left + 2 * now[i] + right) / 4;
    }
  }

  numbers now, next;
};

/// All members share each rod, and wait for each other after each step.
void smooth_together(lockstep::team& team, std::vector<rod>& rods, std::size_t steps) {
  LOCKSTEP_TRACE_SCOPE("rods, shared");
  team.run([&](lockstep::member& me) {
    // [too_small]
    for (rod& each : rods) {
      for (std::size_t step = 0; step < steps; ++step) {
        me.for_range(0, each.now.size(),
                     [&](std::size_t first, std::size_t last) { each.smooth(first, last); });
        me.single([&] { each.now.swap(each.next); });
      }
    }
    // [/too_small]
  });
}

/// Each rod is one member's.
void smooth_apart(lockstep::team& team, std::vector<rod>& rods, std::size_t steps) {
  LOCKSTEP_TRACE_SCOPE("rods, one a member");
  // [too_small_mended]
  team.for_each(0, rods.size(), [&](std::size_t i) {
    for (std::size_t step = 0; step < steps; ++step) {
      rods[i].smooth(0, rods[i].now.size());
      rods[i].now.swap(rods[i].next);
    }
  });
  // [/too_small_mended]
}

bool are_smooth(const std::vector<rod>& rods, std::size_t steps) {
  rod alone(rods[0].now.size());
  for (std::size_t step = 0; step < steps; ++step) {
    alone.smooth(0, alone.now.size());
    alone.now.swap(alone.next);
  }
  for (const rod& each : rods) {
    if (each.now != alone.now) return false;
  }
  return true;
}

// --- the cases ---

bool unequal(bool is_mended, std::size_t steps) {
  lockstep::team team;
  numbers sums(800);
  (is_mended ? sum_rows_mended : sum_rows_unequal)(team, sums, steps);
  for (std::size_t row = 0; row < sums.size(); ++row) {
    if (sums[row] != static_cast<unsigned>(steps) * row_sum(row)) return false;
  }
  return true;
}

bool crowded(bool is_mended, std::size_t steps) {
  // [crowded]
  lockstep::team team(is_mended ? lockstep::usable_cpus() : 4 * lockstep::usable_cpus());
  // [/crowded]
  std::vector<rod> rods(1, rod(40000));
  smooth_together(team, rods, steps);
  return are_smooth(rods, steps);
}

bool too_small(bool is_mended, std::size_t steps) {
  constexpr std::size_t rounds = 10;
  lockstep::team team;
  std::vector<rod> rods(16, rod(200));
  for (std::size_t i = 0; i < rounds; ++i) {
    (is_mended ? smooth_apart : smooth_together)(team, rods, steps);
  }
  return are_smooth(rods, rounds * steps);
}

}  // namespace

int main(int argc, char** argv) {
  numbered::arguments given(argc, argv);
  const unsigned long which = given.number("case", 1, 3, 1);
  const bool is_mended = given.number("mended", 0, 1, 0) == 1;
  const std::size_t steps = given.number("steps", 1, 100000, 50);
  given.end();

  const bool is_right = which == 1   ? unequal(is_mended, steps)
                        : which == 2 ? crowded(is_mended, steps)
                                     : too_small(is_mended, steps);
  numbered::print_line(is_right ? "check: ok" : "check: FAILED");
  return is_right ? 0 : 1;
}
