// SPDX-License-Identifier: MIT
// tests/team/placement_test.cpp -- plans for machines of many shapes; whether program, environment or default decides
#include "team/placement.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/effort.hpp"

namespace {

using lockstep::binding;
using lockstep::core_kind;
using lockstep::cpu_place;
using lockstep::team_options;
using lockstep::wait_policy;
using lockstep::detail::cpu_topology;
using lockstep::detail::environment;
using lockstep::detail::resolve;
using lockstep::detail::resolved_team;
using lockstep::detail::placement::plan;
using numbers = std::vector<unsigned>;

/// Packages of so many cores of so many siblings; CPU numbers as the kernel gives them on such machines:
/// first one CPU of each core, package after package, then their siblings in the same order.
cpu_topology machine(unsigned packages, unsigned cores, unsigned siblings) {
  cpu_topology cpus;
  for (unsigned sibling = 0; sibling < siblings; ++sibling) {
    for (unsigned core = 0; core < packages * cores; ++core) {
      cpus.push_back({static_cast<unsigned>(cpus.size()), core, core / cores, sibling,
                      core_kind::unknown, core / cores, core / cores});
    }
  }
  return cpus;
}

/// One package of two nodes of two caches of two cores each.
cpu_topology chiplets() {
  cpu_topology cpus;
  for (unsigned cpu = 0; cpu < 8; ++cpu) {
    cpus.push_back({cpu, cpu, 0, 0, core_kind::unknown, cpu / 4, cpu / 2});
  }
  return cpus;
}

TEST(placement_close, fills_a_cache_then_a_node) {
  cpu_topology cpus = chiplets();
  for (cpu_place& place : cpus)
    place.cache = (place.cpu / 2) ^ 1;  // the system's numbers say nothing
  EXPECT_EQ(plan(cpus, 8, binding::close()), numbers({2, 3, 0, 1, 6, 7, 4, 5}));
}

TEST(placement_cores, siblings_come_after_all_cores_and_next_to_each_other) {
  const cpu_topology cpus = machine(2, 2, 2);  // CPU 4 to 7 are the siblings of 0 to 3
  EXPECT_EQ(plan(cpus, 4, binding::cores()), numbers({0, 1, 2, 3}));
  EXPECT_EQ(plan(cpus, 5, binding::cores()), numbers({0, 4, 1, 2, 3}));
  EXPECT_EQ(plan(cpus, 8, binding::cores()), numbers({0, 4, 1, 5, 2, 6, 3, 7}));
}

TEST(placement_spread, packages_are_taken_in_turns_and_cores_evenly) {
  const cpu_topology cpus = machine(2, 4, 2);
  EXPECT_EQ(plan(cpus, 2, binding::spread()), numbers({0, 4}));
  EXPECT_EQ(plan(cpus, 4, binding::spread()), numbers({0, 4, 2, 6}));
  EXPECT_EQ(plan(cpus, 8, binding::spread()), numbers({0, 4, 1, 5, 2, 6, 3, 7}));
  EXPECT_EQ(plan(cpus, 10, binding::spread()), numbers({0, 4, 1, 5, 2, 6, 3, 7, 8, 12}));
  EXPECT_EQ(plan(machine(1, 8, 1), 2, binding::spread()), numbers({0, 4}));
  EXPECT_EQ(plan(machine(1, 8, 1), 3, binding::spread()), numbers({0, 2, 5}));
}

TEST(placement_spread, packages_of_unequal_size_are_used_up) {
  cpu_topology cpus = machine(2, 3, 1);
  cpus.erase(cpus.begin() + 1, cpus.begin() + 3);  // package 0 keeps CPU 0, package 1 has 3 to 5
  EXPECT_EQ(plan(cpus, 2, binding::spread()), numbers({0, 3}));
  EXPECT_EQ(plan(cpus, 3, binding::spread()), numbers({0, 3, 4}));
  EXPECT_EQ(plan(cpus, 4, binding::spread()), numbers({0, 3, 4, 5}));
}

TEST(placement, members_beyond_the_cpus_begin_anew) {
  EXPECT_EQ(plan(machine(1, 2, 1), 5, binding::close()), numbers({0, 1, 0, 1, 0}));
  EXPECT_EQ(plan(machine(1, 2, 1), 5, binding::cores()), numbers({0, 1, 0, 1, 0}));
  EXPECT_EQ(plan(machine(2, 1, 1), 5, binding::spread()), numbers({0, 1, 0, 1, 0}));
  EXPECT_EQ(plan(machine(1, 4, 1), 5, binding::cpus({3, 1})), numbers({3, 1, 3, 1, 3}));
}

TEST(placement, nobody_is_bound_where_that_is_not_wanted_or_nothing_is_known) {
  EXPECT_TRUE(plan(machine(1, 2, 1), 2, binding::none()).empty());
  EXPECT_TRUE(plan(machine(1, 2, 1), 2, binding()).empty());
  for (const binding& where :
       {binding::close(), binding::cores(), binding::spread(), binding::cpus({0})}) {
    EXPECT_TRUE(plan(cpu_topology(), 2, where).empty());
  }
}

TEST(placement, a_list_keeps_its_order_without_cpus_that_are_not_usable) {
  const cpu_topology cpus = machine(1, 4, 1);
  EXPECT_EQ(plan(cpus, 3, binding::cpus({2, 0, 2})), numbers({2, 0, 2}));
  EXPECT_EQ(plan(cpus, 3, binding::cpus({9, 2, 65535, 0})), numbers({2, 0, 2}));
  EXPECT_TRUE(plan(cpus, 3, binding::cpus({4, 5})).empty());
  EXPECT_TRUE(plan(cpus, 3, binding::cpus({65536, 4294967295u})).empty()) << "a program may say so";
}

/// How often each CPU is in the plan, by index in `cpus`.
std::vector<std::size_t> loads(const cpu_topology& cpus, const numbers& plan) {
  std::vector<std::size_t> result;
  for (const cpu_place& place : cpus) {
    result.push_back(static_cast<std::size_t>(std::count(plan.begin(), plan.end(), place.cpu)));
  }
  return result;
}

/// PLACEMENT-1 and PLACEMENT-2 for all pairs of CPUs: the better one gets a member no later.
void expect_fair(const cpu_topology& cpus, const numbers& plan, bool by_core) {
  const std::vector<std::size_t> load = loads(cpus, plan);
  ASSERT_EQ(std::accumulate(load.begin(), load.end(), std::size_t{0}), plan.size())
      << "only CPUs of the machine";
  const auto extremes = std::minmax_element(load.begin(), load.end());
  ASSERT_LE(*extremes.second - *extremes.first, 1u) << "PLACEMENT-1: no CPU twice before all once";
  if (plan.size() > cpus.size()) return;
  for (std::size_t a = 0; a < cpus.size(); ++a) {
    for (std::size_t b = 0; b < cpus.size(); ++b) {
      const bool is_better =
          by_core ? cpus[a].sibling < cpus[b].sibling ||
                        (cpus[a].sibling == cpus[b].sibling && cpus[a].kind < cpus[b].kind)
                  : cpus[a].kind < cpus[b].kind;
      ASSERT_TRUE(!is_better || load[a] >= load[b])
          << "CPU " << cpus[a].cpu << " before " << cpus[b].cpu;
    }
  }
}

/// CPUs in any order, of cores and packages of any size and kind.
cpu_topology random_machine(std::mt19937& random) {
  cpu_topology cpus;
  unsigned core = 0, cpu = 0;
  const unsigned packages = 1 + static_cast<unsigned>(random() % 3);
  for (unsigned package = 0; package < packages; ++package) {
    for (std::size_t cores = 1 + random() % 5; cores > 0; --cores, ++core) {
      const auto kind = static_cast<core_kind>(random() % 3);
      const unsigned siblings = 1 + static_cast<unsigned>(random() % 2);
      for (unsigned sibling = 0; sibling < siblings; ++sibling) {
        cpus.push_back(
            {cpu++, core, package, sibling, kind, 2 * package + core % 2, 4 * package + core % 4});
      }
    }
  }
  std::shuffle(cpus.begin(), cpus.end(), random);
  return cpus;
}

TEST(placement, on_any_machine_better_cpus_get_members_first_and_none_twice_before_all) {
  const unsigned seed = std::random_device{}();
  std::printf("seed %u\n", seed);
  std::mt19937 random(seed);
  for (int round = 0; round < lockstep::test::effort(200); ++round) {
    const cpu_topology cpus = random_machine(random);
    for (std::size_t members = 1; members <= 2 * cpus.size() + 1; ++members) {
      for (const binding& where : {binding::close(), binding::cores(), binding::spread()}) {
        const numbers found = plan(cpus, members, where);
        ASSERT_EQ(found.size(), members);
        expect_fair(cpus, found, !where.is_close());
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(placement, on_any_machine_spread_uses_as_many_packages_as_there_are_members_for) {
  const unsigned seed = std::random_device{}();
  std::printf("seed %u\n", seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 200; ++round) {
    cpu_topology cpus = random_machine(random);
    for (cpu_place& place : cpus) place.kind = core_kind::unknown;
    std::map<unsigned, unsigned> package_of;
    unsigned packages = 0;
    for (const cpu_place& place : cpus) {
      package_of[place.cpu] = place.package;
      packages = std::max(packages, place.package + 1);
    }
    const numbers found = plan(cpus, packages, binding::spread());
    for (unsigned rank = 0; rank < packages; ++rank) ASSERT_EQ(package_of[found[rank]], rank);
  }
}

environment variables(const std::map<std::string, std::string>& given) {
  return environment([&](const char* name) -> const char* {
    const auto found = given.find(name);
    return found == given.end() ? nullptr : found->second.c_str();
  });
}

TEST(resolve, by_default_there_is_a_member_for_each_usable_cpu_bound_nowhere) {
  const resolved_team made = resolve(team_options(), variables({}), 3, machine(1, 4, 1));
  EXPECT_EQ(made.members, 3u);
  EXPECT_EQ(made.policy, wait_policy());
  EXPECT_TRUE(made.bind.is_none());
  EXPECT_TRUE(made.cpu_of_rank.empty());
  EXPECT_EQ(made.name, "lockstep");
  EXPECT_FALSE(made.is_crowded);
}

const std::map<std::string, std::string> all_set = {{"LOCKSTEP_NUM_THREADS", "2"},
                                                    {"LOCKSTEP_WAIT_POLICY", "block"},
                                                    {"LOCKSTEP_PROC_BIND", "spread"}};

TEST(resolve, the_environment_beats_the_default) {
  const resolved_team made = resolve(team_options(), variables(all_set), 4, machine(2, 2, 1));
  EXPECT_EQ(made.members, 2u);
  EXPECT_EQ(made.policy, wait_policy::block());
  EXPECT_EQ(made.bind, binding::spread());
  EXPECT_EQ(made.cpu_of_rank, numbers({0, 2}));
}

TEST(resolve, the_program_beats_the_environment_even_with_what_is_the_default) {
  const team_options said =
      team_options().members(3).policy(wait_policy()).bind(binding::none()).name("solver");
  const resolved_team made = resolve(said, variables(all_set), 4, machine(2, 2, 1));
  EXPECT_EQ(made.members, 3u);
  EXPECT_EQ(made.policy, wait_policy());
  EXPECT_TRUE(made.bind.is_none());
  EXPECT_TRUE(made.cpu_of_rank.empty());
  EXPECT_EQ(made.name, "solver");
}

TEST(resolve, each_of_the_three_is_decided_by_itself) {
  const resolved_team made =
      resolve(team_options().policy(wait_policy::spin()),
              variables({{"LOCKSTEP_PROC_BIND", "close"}}), 2, machine(1, 2, 1));
  EXPECT_EQ(made.policy, wait_policy::spin());
  EXPECT_EQ(made.cpu_of_rank, numbers({0, 1}));
}

TEST(resolve, a_variable_that_is_ignored_decides_nothing) {
  const resolved_team made = resolve(
      team_options(), variables({{"LOCKSTEP_NUM_THREADS", "many"}, {"LOCKSTEP_PROC_BIND", "far"}}),
      2, machine(1, 2, 1));
  EXPECT_EQ(made.members, 2u);
  EXPECT_TRUE(made.bind.is_none());
}

TEST(resolve, a_list_of_fewer_cpus_makes_a_smaller_team_unless_members_are_said) {
  const environment listed = variables({{"LOCKSTEP_PROC_BIND", "0,2,2,77"}});
  const resolved_team made = resolve(team_options(), listed, 4, machine(1, 4, 1));
  EXPECT_EQ(made.members, 2u);
  EXPECT_EQ(made.cpu_of_rank, numbers({0, 2}));
  EXPECT_EQ(made.left_out, numbers({77}));
  EXPECT_FALSE(made.is_crowded);
  EXPECT_EQ(resolve(team_options().members(3), listed, 4, machine(1, 4, 1)).cpu_of_rank,
            numbers({0, 2, 2}));
  EXPECT_EQ(resolve(team_options(), listed, 1, machine(1, 4, 1)).members, 1u) << "quota of one";
}

TEST(resolve, a_list_without_a_usable_cpu_binds_nobody) {
  const resolved_team made =
      resolve(team_options().bind(binding::cpus({7, 9})), variables({}), 2, machine(1, 2, 1));
  EXPECT_EQ(made.members, 2u);
  EXPECT_TRUE(made.cpu_of_rank.empty());
  EXPECT_EQ(made.left_out, numbers({7, 9}));
}

TEST(resolve, a_team_is_crowded_when_members_outnumber_the_cpus_they_may_run_on) {
  const cpu_topology cpus = machine(1, 4, 1);
  const auto crowded = [&](const team_options& said, std::size_t usable) {
    const resolved_team made = resolve(said, variables({}), usable, cpus);
    EXPECT_EQ(made.policy.is_crowded(), made.is_crowded);
    return made.is_crowded;
  };
  EXPECT_FALSE(crowded(team_options().members(4), 4));
  EXPECT_TRUE(crowded(team_options().members(5), 4));
  EXPECT_TRUE(crowded(team_options().members(3), 2)) << "quota";
  EXPECT_TRUE(crowded(team_options().members(3).cpus(2), 4)) << "the others are left to others";
  EXPECT_FALSE(crowded(team_options().members(4).cpus(9), 4)) << "no more than there are";
  EXPECT_FALSE(crowded(team_options().members(4).bind(binding::close()), 4));
  EXPECT_TRUE(crowded(team_options().members(2).bind(binding::cpus({1})), 4)) << "both on one";
}

TEST(resolve, as_many_members_can_run_at_once_as_have_a_cpu) {
  const cpu_topology cpus = machine(1, 4, 1);
  const auto at_once = [&](const team_options& said, std::size_t usable) {
    const resolved_team made = resolve(said, variables({}), usable, cpus);
    EXPECT_EQ(made.is_crowded, made.can_run_at_once < made.members);
    return made.can_run_at_once;
  };
  EXPECT_EQ(at_once(team_options().members(1), 4), 1u);
  EXPECT_EQ(at_once(team_options().members(3), 4), 3u);
  EXPECT_EQ(at_once(team_options().members(5), 4), 4u);
  EXPECT_EQ(at_once(team_options().members(65536), 1), 1u);
  EXPECT_EQ(at_once(team_options().members(3), 2), 2u) << "quota";
  EXPECT_EQ(at_once(team_options().members(4).bind(binding::close()), 4), 4u);
  EXPECT_EQ(at_once(team_options().members(4).bind(binding::spread()), 3), 3u) << "quota, bound";
  EXPECT_EQ(at_once(team_options().members(3).bind(binding::cpus({1, 1, 2})), 4), 2u);
  EXPECT_EQ(at_once(team_options().members(2).bind(binding::cpus({1})), 4), 1u) << "both on one";
  EXPECT_EQ(at_once(team_options().members(3).bind(binding::cpus({9})), 4), 3u) << "bound nowhere";
}

TEST(resolve, whether_loops_learn_is_said_by_the_program_else_the_environment_else_they_do) {
  const auto made = [](const team_options& said, const char* learn) {
    return resolve(said, learn == nullptr ? variables({}) : variables({{"LOCKSTEP_LEARN", learn}}),
                   2, machine(1, 2, 1));
  };
  EXPECT_TRUE(made(team_options(), nullptr).learns);
  EXPECT_FALSE(made(team_options(), "0").learns);
  EXPECT_TRUE(made(team_options(), "1").learns);
  EXPECT_TRUE(made(team_options(), "maybe").learns);
  EXPECT_TRUE(made(team_options().learn(true), "0").learns);
  EXPECT_FALSE(made(team_options().learn(false), "1").learns);
  EXPECT_TRUE(made(team_options().learn(true).members(1), nullptr).learns) << "also alone";
}

TEST(resolve, the_most_members_are_65536) {
  EXPECT_EQ(resolve(team_options().members(65536), variables({}), 1, {}).members, 65536u);
  EXPECT_THROW(resolve(team_options().members(65537), variables({}), 1, {}), std::invalid_argument);
  EXPECT_EQ(resolve(team_options(), variables({}), 100000, {}).members, 65536u)
      << "nobody asked for too many";
}

TEST(resolve, on_this_machine_every_member_is_put_on_a_usable_cpu) {
  const numbers usable = lockstep::detail::affinity();
  const std::size_t members = usable.size() + 1;
  const resolved_team made = resolve(team_options().members(members).bind(binding::close()));
  EXPECT_EQ(made.members, members);
  EXPECT_EQ(made.cpu_of_rank.size(), usable.empty() ? 0 : members);
  for (const unsigned cpu : made.cpu_of_rank) {
    EXPECT_TRUE(std::find(usable.begin(), usable.end(), cpu) != usable.end()) << cpu;
  }
  EXPECT_TRUE(usable.empty() || made.is_crowded);
}

TEST(team_options, what_is_set_is_what_is_found) {
  std::size_t started = 0, ended = 0;
  const team_options said = team_options()
                                .members(4)
                                .policy(wait_policy::block())
                                .bind(binding::close())
                                .name("n")
                                .anticipate(false)
                                .learn(false)
                                .on_start([&](std::size_t rank) { started = rank; })
                                .on_exit([&](std::size_t rank) { ended = rank; });
  EXPECT_EQ(said.members(), 4u);
  EXPECT_TRUE(said.has_policy());
  EXPECT_EQ(said.policy(), wait_policy::block());
  EXPECT_EQ(said.bind(), binding::close());
  EXPECT_STREQ(said.name(), "n");
  EXPECT_TRUE(said.has_anticipate() && !said.anticipate());
  EXPECT_TRUE(said.has_learn() && !said.learn());
  said.on_start()(2);
  said.on_exit()(3);
  EXPECT_EQ(started, 2u);
  EXPECT_EQ(ended, 3u);
  EXPECT_FALSE(team_options().has_policy());
  EXPECT_TRUE(!team_options().has_anticipate() && team_options().anticipate());
  EXPECT_TRUE(!team_options().has_learn() && team_options().learn());
  EXPECT_EQ(team_options().members(), 0u);
  EXPECT_TRUE(team_options().bind().is_unset());
  EXPECT_FALSE(team_options().on_start());
  EXPECT_FALSE(team_options().on_exit());
}

}  // namespace
