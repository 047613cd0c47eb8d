// SPDX-License-Identifier: MIT
// tests/team/placement_machines_test.cpp -- where members go on real machines, and which trees they get there
#include "base/rank_tree.hpp"
#include "team/placement.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "support/known_machines.hpp"

namespace {

using lockstep::binding;
using lockstep::core_kind;
using lockstep::cpu_place;
using lockstep::team_options;
using lockstep::detail::cpu_topology;
using lockstep::detail::environment;
using lockstep::detail::rank_tree;
using lockstep::detail::resolved_team;
using lockstep::detail::placement::groups_of;
using lockstep::detail::placement::plan;
using lockstep::test::known_machine;
using numbers = std::vector<unsigned>;

cpu_topology machine(const std::string& name) { return known_machine::named(name).places(); }

TEST(placed, close_fills_cores_caches_and_nodes_one_after_the_other) {
  EXPECT_EQ(plan(machine("epyc_7451"), 10, binding::close()),
            numbers({0, 48, 1, 49, 2, 50, 3, 51, 4, 52}));
  EXPECT_EQ(plan(machine("xeon_l5640"), 4, binding::close()), numbers({1, 13, 3, 15}))
      << "its first package has the odd CPUs";
  EXPECT_EQ(plan(machine("power8_smt8"), 9, binding::close()),
            numbers({0, 1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(plan(machine("opteron_job"), 6, binding::close()), numbers({0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(plan(machine("dunnington"), 7, binding::close()), numbers({1, 5, 9, 13, 17, 21, 0}));
  EXPECT_EQ(plan(machine("xeon_offline"), 7, binding::close()), numbers({0, 8, 4, 12, 1, 9, 6}));
}

TEST(placed, cores_gives_each_core_one_member_before_any_gets_two) {
  EXPECT_EQ(plan(machine("epyc_7451"), 5, binding::cores()), numbers({0, 1, 2, 3, 4}));
  EXPECT_EQ(plan(machine("xeon_l5640"), 3, binding::cores()), numbers({1, 3, 5}));
  EXPECT_EQ(plan(machine("power8_smt8"), 3, binding::cores()), numbers({0, 8, 16}));
}

TEST(placed, spread_takes_packages_nodes_and_caches_in_turns) {
  EXPECT_EQ(plan(machine("epyc_7451"), 4, binding::spread()), numbers({0, 24, 6, 30}));
  EXPECT_EQ(plan(machine("epyc_7451"), 18, binding::spread()),
            numbers({0, 24, 6, 30, 12, 36, 18, 42, 3, 27, 9, 33, 15, 39, 21, 45, 1, 25}));
  EXPECT_EQ(plan(machine("magny_cours_sparse"), 8, binding::spread()),
            numbers({0, 12, 24, 36, 6, 18, 30, 42}));
  EXPECT_EQ(plan(machine("a64fx"), 6, binding::spread()), numbers({0, 12, 24, 36, 6, 18}));
  EXPECT_EQ(plan(machine("power9_gpus"), 4, binding::spread()), numbers({0, 88, 8, 96}));
}

TEST(placed, spread_takes_nodes_first_where_a_node_has_several_packages) {
  EXPECT_EQ(plan(machine("dunnington"), 4, binding::spread()), numbers({1, 24, 48, 72}));
  EXPECT_EQ(plan(machine("dunnington"), 8, binding::spread()),
            numbers({1, 24, 48, 72, 0, 25, 49, 73}));
  EXPECT_EQ(plan(machine("xeon_x7550"), 3, binding::spread()), numbers({0, 1, 3}));
  EXPECT_EQ(plan(machine("xeon_x7550"), 6, binding::spread()), numbers({0, 1, 3, 2, 17, 19}));
  EXPECT_EQ(plan(machine("power7_780"), 8, binding::spread()),
            numbers({0, 32, 64, 96, 128, 160, 192, 224}));
}

TEST(placed, big_cores_come_first) {
  EXPECT_EQ(plan(machine("alder_lake"), 3, binding::close()), numbers({0, 1, 2}));
  EXPECT_EQ(plan(machine("alder_lake"), 10, binding::cores()),
            numbers({0, 2, 4, 6, 8, 10, 12, 14, 16, 17}));
  EXPECT_EQ(plan(machine("dgx_spark"), 11, binding::close()),
            numbers({5, 6, 7, 8, 9, 15, 16, 17, 18, 19, 0}));
  EXPECT_EQ(plan(machine("dgx_spark"), 4, binding::spread()), numbers({5, 15, 7, 17}));
  EXPECT_EQ(plan(machine("snapdragon_8_gen_2"), 6, binding::close()), numbers({3, 4, 5, 6, 7, 0}));
  EXPECT_EQ(plan(machine("rk3399"), 3, binding::close()), numbers({4, 5, 0}));
  EXPECT_EQ(plan(machine("ryzen_7950x3d"), 2, binding::cores()), numbers({0, 1})) << "one kind";
}

/// By rank: a number (of the core, the cache, ...) of the CPU that the rank is on.
std::vector<unsigned> shared_by_rank(const cpu_topology& cpus, const numbers& cpu_of_rank,
                                     unsigned cpu_place::* number) {
  std::vector<unsigned> result;
  for (const unsigned cpu : cpu_of_rank) {
    for (const cpu_place& place : cpus) {
      if (place.cpu == cpu) result.push_back(place.*number);
    }
  }
  return result;
}

std::size_t hops(const rank_tree& tree, std::size_t rank) {
  std::size_t count = 0;
  for (; rank != 0; rank = tree.line_at(tree.watched_by(rank)).leader) ++count;
  return count;
}

class trees : public testing::TestWithParam<known_machine> {};
INSTANTIATE_TEST_SUITE_P(machines, trees, testing::ValuesIn(known_machine::all()),
                         [](const auto& of) { return of.param.name; });

TEST_P(trees, a_cache_a_node_and_a_package_hear_of_a_region_once_from_outside) {
  const cpu_topology cpus = machine(GetParam().name);
  for (const binding& where : {binding::close(), binding::cores(), binding::spread()}) {
    for (const std::size_t members : {cpus.size(), cpus.size() / 2, std::size_t{12}}) {
      if (members <= rank_tree::usual_width) continue;
      const numbers cpu_of_rank = plan(cpus, members, where);
      const rank_tree tree(members, rank_tree::usual_width, groups_of(cpus, cpu_of_rank));
      for (unsigned cpu_place::* number :
           {&cpu_place::cache, &cpu_place::node, &cpu_place::package}) {
        const std::vector<unsigned> on = shared_by_rank(cpus, cpu_of_rank, number);
        ASSERT_EQ(on.size(), members);
        std::size_t crossings = 0;
        for (std::size_t rank = 1; rank < members; ++rank) {
          crossings += on[rank] != on[tree.line_at(tree.watched_by(rank)).leader];
        }
        EXPECT_EQ(crossings, std::set<unsigned>(on.begin(), on.end()).size() - 1) << members;
      }
    }
  }
}

TEST(placed, trees_are_no_deeper_than_one_level_for_each_kind_of_group) {
  const auto deepest = [&](const char* name) {
    const cpu_topology cpus = machine(name);
    const rank_tree tree(cpus.size(), rank_tree::usual_width,
                         groups_of(cpus, plan(cpus, cpus.size(), binding::close())));
    std::size_t most = 0;
    for (std::size_t rank = 1; rank < cpus.size(); ++rank) most = std::max(most, hops(tree, rank));
    return most;
  };
  EXPECT_EQ(deepest("epyc_7451"), 4u) << "package, node, cache, 6 CPUs";
  EXPECT_EQ(deepest("magny_cours_sparse"), 3u) << "package, node, 6 CPUs; 2 by rank alone";
  EXPECT_EQ(deepest("a64fx"), 3u) << "node, 12 CPUs in two levels";
  EXPECT_EQ(deepest("altra"), 3u) << "private caches make no groups";
  EXPECT_EQ(deepest("alder_lake"), 2u) << "one cache: by rank alone";
}

TEST(placed, a_team_knows_its_groups_where_it_is_bound_and_only_there) {
  const cpu_topology cpus = machine("opteron_job");
  const environment none([](const char*) -> const char* { return nullptr; });
  const auto made = [&](const binding& where) {
    return lockstep::detail::resolve(team_options().bind(where), none, cpus.size(), cpus);
  };
  EXPECT_TRUE(made(binding::close()).groups.has_groups());
  EXPECT_TRUE(made(binding::spread()).groups.has_groups());
  EXPECT_TRUE(made(binding::cpus({0, 4})).groups.has_groups());
  EXPECT_FALSE(made(binding::cpus({0, 1})).groups.has_groups()) << "one cache";
  EXPECT_FALSE(made(binding::none()).groups.has_groups());
  EXPECT_FALSE(made(binding()).groups.has_groups());
}

}  // namespace
