// SPDX-License-Identifier: MIT
#include "cases.hpp"

#include <barrier>
#include <lockstep/lockstep.hpp>
#include <thread>

#include "measure.hpp"

namespace figures {

std::vector<measured_case> all_cases() {
  constexpr std::size_t members = 2;
  std::vector<measured_case> cases = {
      {"barrier of 2", "lockstep", "",
       [] {
         lockstep::ranked_barrier all(members);
         return time_per_operation(members, 50000, placement::spread,
                                   [&](std::size_t rank) { all.arrive_and_wait(rank); });
       }},
      {"barrier of 2", "std::barrier", "",
       [] {
         std::barrier<> all(members);
         return time_per_operation(members, 20000, placement::spread,
                                   [&](std::size_t) { all.arrive_and_wait(); });
       }},
      {"fork/join of 2", "lockstep", "",
       [] {
         lockstep::team team(members);
         return time_per_call(100000, [&] { team.run([](lockstep::member&) {}); });
       }},
      {"fork/join of 2", "std::thread", "",
       [] { return time_per_call(500, [] { std::thread([] {}).join(); }); }}};
  for (measured_case& more : openmp_cases()) cases.push_back(std::move(more));
  return cases;
}

}  // namespace figures
