// SPDX-License-Identifier: MIT
// 12_sub_teams [members] [limit] -- parts of a team that work by themselves for a while
//
// Two questions about the numbers below a limit: how many are prime, and what is the sum of all divisors?
// split() divides the team into halves. Each half works on one question, with its own loops, reductions and barriers;
// then all meet again. It starts no threads.
#include <functional>
#include <lockstep/lockstep.hpp>
#include <string>
#include <vector>

#include "numbered.hpp"

namespace {

/// Strikes out the multiples of each small prime; the members share the multiples.
std::size_t count_primes(lockstep::member& me, std::vector<char>& is_composite) {
  const std::size_t limit = is_composite.size();
  for (std::size_t p = 2; p * p < limit; ++p) {
    if (is_composite[p] != 0) continue;
    const std::size_t multiples = (limit - 1) / p + 1;
    // At its end the members of this sub-team wait for each other, and for nobody else.
    me.for_range(p, multiples, [&](std::size_t first, std::size_t last) {
      for (std::size_t k = first; k < last; ++k) is_composite[k * p] = 1;
    });
  }
  return me.reduce_each(
      2, limit, std::size_t{0}, [&](std::size_t i) { return is_composite[i] == 0 ? 1u : 0u; },
      std::plus<std::size_t>());
}

/// Of the numbers from 1 to limit - 1, d divides (limit - 1) / d.
std::size_t sum_divisors(lockstep::member& me, std::size_t limit) {
  return me.reduce_each(
      1, limit, std::size_t{0}, [&](std::size_t d) { return (limit - 1) / d * d; },
      std::plus<std::size_t>());
}

struct answers {
  std::size_t primes = 0;
  std::size_t divisors = 0;
};

}  // namespace

int main(int argc, char** argv) {
  numbered::arguments given(argc, argv);
  const std::size_t members = given.number("members", 1, 1000, lockstep::usable_cpus());
  const std::size_t limit = given.number("limit", 2, 10000000, 100000);
  given.end();

  lockstep::team team(members);
  std::vector<char> is_composite(limit);
  answers result;
  team.run([&](lockstep::member& me) {
    const bool is_first_half = me.rank() < (me.size() + 1) / 2;
    lockstep::sub_team half = me.split(is_first_half ? 0 : 1);
    // A team of one has one half, which does it all.
    if (is_first_half) {
      const std::size_t primes = count_primes(*half, is_composite);
      half->masked([&] { result.primes = primes; });
    }
    if (!is_first_half || me.size() == 1) {
      const std::size_t divisors = sum_divisors(*half, limit);
      half->masked([&] { result.divisors = divisors; });
    }
    me.sync_threads();  // both halves: from here on all may read both answers
    me.masked([&] {
      numbered::print_line("primes " + std::to_string(result.primes));
      numbered::print_line("divisors " + std::to_string(result.divisors));
    });
  });
  return 0;
}
