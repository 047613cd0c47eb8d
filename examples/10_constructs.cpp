// SPDX-License-Identifier: MIT
// 10_constructs [members] [numbers] -- what members of a region do together
//
// An odd number n becomes 3 n + 1, an even one n / 2. How many steps does each number from 1 on take until it is 1?
// One region answers several questions about that; each of its constructs shares the work in another way.
#include <algorithm>
#include <functional>
#include <future>
#include <lockstep/lockstep.hpp>
#include <string>
#include <vector>

#include "numbered.hpp"

namespace {

std::size_t steps_from(std::size_t number) {
  std::size_t steps = 0;
  for (; number != 1; ++steps) number = number % 2 == 0 ? number / 2 : 3 * number + 1;
  return steps;
}

struct answers {
  std::size_t sum = 0;
  std::size_t longest = 0;
  std::size_t commonest = 0;
  std::size_t different = 0;
};

void ask(lockstep::member& me, std::vector<std::size_t>& steps, std::vector<std::size_t>& how_often,
         answers& result) {
  const std::size_t end = steps.size();

  // Nobody knows in advance which numbers take long, so members ask for chunks. All wait at the end.
  me.for_each(
      1, end, [&](std::size_t i) { steps[i] = steps_from(i); }, lockstep::dynamic_schedule(64));

  // Loop, reduction and wait in one; every member gets the result.
  const std::size_t sum = me.reduce_each(
      1, end, std::size_t{0}, [&](std::size_t i) { return steps[i]; }, std::plus<std::size_t>());
  const std::size_t longest = me.reduce_each(
      1, end, std::size_t{0}, [&](std::size_t i) { return steps[i]; },
      [](std::size_t a, std::size_t b) { return std::max(a, b); });

  // One member makes room; the others wait until it has.
  me.single([&] {
    how_often.assign(longest + 1, 0);
    result.sum = sum;
    result.longest = longest;
  });

  // Each member counts what is in its block and waits for nobody. Then one at a time adds its counts.
  std::vector<std::size_t> mine(longest + 1);
  me.for_range(lockstep::nowait, 1, end, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) ++mine[steps[i]];
  });
  me.critical([&] {
    for (std::size_t k = 0; k <= longest; ++k) how_often[k] += mine[k];
  });
  me.sync_threads();

  // Different work: each part runs once, on the next member that comes.
  me.sections(
      [&] {
        result.commonest = static_cast<std::size_t>(
            std::max_element(how_often.begin(), how_often.end()) - how_often.begin());
      },
      [&] {
        const auto zeros = std::count(how_often.begin(), how_often.end(), std::size_t{0});
        result.different = how_often.size() - static_cast<std::size_t>(zeros);
      });

  // Iterations run in any order; what is inside the turn runs in the order of i.
  me.for_ordered(
      1, std::min(end, std::size_t{10}), [&](std::size_t i, lockstep::ordered_turn& turn) {
        const std::string line = std::to_string(i) + " takes " + std::to_string(steps[i]);
        turn([&] { numbered::print_line(line); });
      });
}

/// A loop on a thread that a member starts: it runs inline there, because the thread says where it is.
std::vector<std::size_t> ask_on_another_thread(lockstep::team& team, std::size_t n) {
  std::vector<std::size_t> steps(n);
  const auto f = [&](std::size_t i) { steps[i] = steps_from(i + 1); };
  // [guest]
  team.run([&](lockstep::member& me) {
    me.single([&] {
      const lockstep::region_token here = lockstep::this_region();
      auto part = std::async(std::launch::async, [&, here] {
        const lockstep::inside_region guest(here);
        team.for_each(0, n, f);  // inline, on this thread alone
      });
      part.get();
    });
  });
  // [/guest]
  return steps;
}

}  // namespace

int main(int argc, char** argv) {
  numbered::arguments given(argc, argv);
  const std::size_t members = given.number("members", 1, 1000, lockstep::usable_cpus());
  const std::size_t numbers = given.number("numbers", 1, 100000, 10000);
  given.end();

  lockstep::team team(members);
  std::vector<std::size_t> steps(numbers + 1);
  std::vector<std::size_t> how_often;
  answers result;
  team.run([&](lockstep::member& me) { ask(me, steps, how_often, result); });

  numbered::print_line("sum " + std::to_string(result.sum));
  numbered::print_line("longest " + std::to_string(result.longest));
  numbered::print_line("commonest " + std::to_string(result.commonest));
  numbered::print_line("different " + std::to_string(result.different));

  const std::vector<std::size_t> again = ask_on_another_thread(team, numbers);
  return std::equal(again.begin(), again.end(), steps.begin() + 1) ? 0 : 1;
}
