// SPDX-License-Identifier: MIT
// tests/platform/topology_machines_test.cpp -- the trees of real machines below a directory of the test, read as /sys is
#include <lockstep/topology.hpp>

#include "platform/topology.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "support/effort.hpp"
#include "support/known_machines.hpp"
#include "support/system_tree.hpp"

namespace {

using lockstep::core_kind;
using lockstep::cpu_place;
using lockstep::topology;
using lockstep::test::known_machine;
using numbers = std::vector<unsigned>;

class known : public lockstep::test::system_tree,
              public testing::WithParamInterface<known_machine> {
 protected:
  known() : system_tree("machine") { GetParam().write(root()); }
  topology read(const numbers& cpus) const {
    return topology(lockstep::detail::sysfs::read(cpus, root()));
  }
};
INSTANTIATE_TEST_SUITE_P(machines, known, testing::ValuesIn(known_machine::all()),
                         [](const auto& of) { return of.param.name; });

/// What a reader of the published layout expects of the written ones.
struct expected {
  std::size_t cpus, cores, caches, nodes, packages;
};
const std::map<std::string, expected> expectations = {
    {"ryzen_7950x3d", {32, 16, 2, 1, 1}}, {"alder_lake", {24, 16, 1, 1, 1}},
    {"dgx_spark", {20, 20, 2, 1, 1}},     {"rk3399", {6, 6, 2, 1, 1}},
    {"power8_smt8", {160, 20, 20, 2, 2}}, {"a64fx", {48, 48, 4, 4, 1}},
    {"altra", {80, 80, 80, 1, 1}}};

/// Of those that have two kinds of cores: how many CPUs are of each. The names of the cores tell it.
struct kinds_expected {
  std::size_t fast, small;
};
const std::map<std::string, kinds_expected> expected_kinds = {{"alder_lake", {16, 8}},
                                                              {"dgx_spark", {10, 10}},
                                                              {"rk3399", {2, 4}},
                                                              {"snapdragon_8_gen_2", {5, 3}}};

void expect_counts(const known_machine& machine, const topology& found) {
  ASSERT_EQ(expectations.count(machine.name), 1u);
  const expected& wanted = expectations.at(machine.name);
  EXPECT_EQ(found.cpus().size(), wanted.cpus);
  EXPECT_EQ(found.cores(), wanted.cores);
  EXPECT_EQ(found.caches(), wanted.caches);
  EXPECT_EQ(found.nodes(), wanted.nodes);
  EXPECT_EQ(found.packages(), wanted.packages);
}

void expect_kinds(const known_machine& machine, const topology& found) {
  const auto listed = expected_kinds.find(machine.name);
  const kinds_expected wanted = listed == expected_kinds.end() ? kinds_expected{} : listed->second;
  std::size_t fast = 0, small = 0;
  for (const cpu_place& place : found.cpus()) {
    fast += place.kind == core_kind::performance;
    small += place.kind == core_kind::efficiency;
  }
  EXPECT_EQ(fast, wanted.fast);
  EXPECT_EQ(small, wanted.small);
  EXPECT_EQ(found.has_kinds(), wanted.fast > 0);
}

/// How many groups of each size there are.
std::map<std::size_t, std::size_t> sizes(const topology& of, unsigned cpu_place::* number) {
  std::map<unsigned, std::size_t> groups;
  for (const cpu_place& place : of.cpus()) ++groups[place.*number];
  std::map<std::size_t, std::size_t> result;
  for (const auto& [group, size] : groups) ++result[size];
  return result;
}

/// The sizes that the recording's package states, which it did not get from us.
void expect_sizes_as_said(const known_machine& machine, const topology& found) {
  const std::map<std::string, unsigned cpu_place::*> numbers_of = {
      {"packages", &cpu_place::package},
      {"cores", &cpu_place::core},
      {"caches", &cpu_place::cache},
      {"nodes", &cpu_place::node}};
  EXPECT_EQ(machine.said.count("cores"), 1u);
  EXPECT_EQ(machine.said.count("packages"), 1u);
  for (const auto& [key, said] : machine.said) {
    const auto instead = machine.read_instead.find(key);
    const bool is_said = instead == machine.read_instead.end();
    EXPECT_EQ(sizes(found, numbers_of.at(key)), is_said ? said : instead->second) << key;
    EXPECT_TRUE(is_said || said != instead->second) << key << ": no need for a line `read`";
  }
}

void expect_shared_as_written(const known_machine& machine, const topology& found) {
  // In brief, each CPU with every fifth of the others.
  const std::size_t step = lockstep::test::is_brief() ? 5 : 1;
  for (const cpu_place& a : found.cpus()) {
    for (std::size_t i = a.cpu % step; i < found.cpus().size(); i += step) {
      const cpu_place& b = found.cpus()[i];
      ASSERT_EQ(a.core == b.core, machine.share_core(a.cpu, b.cpu)) << a.cpu << " and " << b.cpu;
      ASSERT_EQ(a.cache == b.cache, machine.share_cache(a.cpu, b.cpu)) << a.cpu << " and " << b.cpu;
      ASSERT_EQ(a.node == b.node, machine.share_node(a.cpu, b.cpu)) << a.cpu << " and " << b.cpu;
      ASSERT_EQ(a.package == b.package, machine.share_package(a.cpu, b.cpu))
          << a.cpu << " and " << b.cpu;
    }
  }
}

void expect_no_gaps(const topology& found) {
  std::set<unsigned> cores, caches, nodes, packages;
  std::set<std::tuple<unsigned, unsigned>> siblings;
  for (const cpu_place& place : found.cpus()) {
    cores.insert(place.core);
    caches.insert(place.cache);
    nodes.insert(place.node);
    packages.insert(place.package);
    siblings.insert({place.core, place.sibling});
    EXPECT_TRUE(place.sibling == 0 || siblings.count({place.core, place.sibling - 1}) == 1);
  }
  EXPECT_EQ(cores.size(), found.cores());
  EXPECT_EQ(caches.size(), found.caches());
  EXPECT_EQ(nodes.size(), found.nodes());
  EXPECT_EQ(packages.size(), found.packages());
  EXPECT_EQ(siblings.size(), found.cpus().size());
}

void expect_same(const lockstep::detail::cpu_topology& found,
                 const lockstep::detail::cpu_topology& wanted) {
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    const cpu_place &a = found[i], &b = wanted[i];
    EXPECT_TRUE(a.cpu == b.cpu && a.core == b.core && a.package == b.package &&
                a.sibling == b.sibling && a.kind == b.kind && a.node == b.node &&
                a.cache == b.cache)
        << "CPU " << b.cpu;
  }
}

TEST_P(known, is_read_as_it_stands_there) {
  const known_machine& machine = GetParam();
  const topology found = read(machine.usable);
  if (machine.is_recorded) {
    expect_sizes_as_said(machine, found);
  } else {
    expect_counts(machine, found);
  }
  expect_kinds(machine, found);
  expect_shared_as_written(machine, found);
  expect_no_gaps(found);
  expect_same(found.cpus(), machine.places());
  numbers some;
  for (std::size_t i = 1; i < machine.usable.size(); i += 3) some.push_back(machine.usable[i]);
  const topology few = read(some);
  expect_shared_as_written(machine, few);
  expect_no_gaps(few);
}

TEST(known_machines, ten_and_more_are_recorded_and_all_name_their_source) {
  std::size_t recorded = 0;
  for (const known_machine& each : known_machine::all()) {
    recorded += each.is_recorded;
    EXPECT_FALSE(each.source.empty()) << each.name;
    EXPECT_EQ(each.is_recorded, expectations.count(each.name) == 0) << each.name;
  }
  EXPECT_GE(recorded, 10u);
  EXPECT_EQ(known_machine::all().size(), recorded + expectations.size());
}

}  // namespace
