// SPDX-License-Identifier: MIT
// 09_team [members] [elements] -- a team: threads that are started once and work together
//
// parallel_for() is fork, loop and join in one. run() forks once for many steps: the members divide
// each step with for_range() and meet in sync_threads() where one reads what another has written.
#include <lockstep/lockstep.hpp>
#include <string>
#include <vector>

#include "numbered.hpp"

namespace {

/// Whole numbers, so that the sum is exact whatever the number of members.
double sum_of(lockstep::team& team, const std::vector<double>& values) {
  std::vector<double> sum_of_member(team.size(), 0.0);
  std::vector<double> seen_by_member(team.size(), 0.0);
  team.run([&](lockstep::member& me) {
    me.for_range(0, values.size(), [&](std::size_t first, std::size_t last) {
      double sum = 0.0;
      for (std::size_t i = first; i < last; ++i) sum += values[i];
      sum_of_member[me.rank()] = sum;
    });
    me.sync_threads();
    // From here on every member may read what all have written before.
    for (const double sum : sum_of_member) seen_by_member[me.rank()] += sum;
  });
  for (const double seen : seen_by_member) {
    if (seen != seen_by_member[0]) return -1.0;
  }
  return seen_by_member[0];
}

}  // namespace

int main(int argc, char** argv) {
  numbered::arguments given(argc, argv);
  const std::size_t members = given.number("members", 1, 1000, lockstep::usable_cpus());
  const std::size_t elements = given.number("elements", 0, 10000000, 1000000);
  given.end();

  lockstep::team team(members);
  const double a = 2.0;
  std::vector<double> x(elements);
  std::vector<double> y(elements, 1.0);
  team.parallel_for(0, elements, [&](std::size_t i) { x[i] = static_cast<double>(i); });
  team.parallel_for(0, elements, [&](std::size_t i) { y[i] += a * x[i]; });

  // The sum of 1 + 2 i over all i below n is n squared.
  const double n = static_cast<double>(elements);
  const double sum = sum_of(team, y);
  numbered::print_line(std::to_string(team.size()) + " members");
  numbered::print_line("sum " + std::to_string(sum));
  numbered::print_line(sum == n * n ? "check: ok" : "check: FAILED");
  return sum == n * n ? 0 : 1;
}
