// SPDX-License-Identifier: MIT
// tests/platform/topology_machines_test.cpp -- the trees of real machines below a directory of the test, read as /sys is
#include <lockstep/topology.hpp>

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "support/recorded_machines.hpp"
#include "support/system_tree.hpp"

namespace {

using lockstep::core_kind;
using lockstep::cpu_place;
using lockstep::topology;
using lockstep::test::recorded_machine;
using numbers = std::vector<unsigned>;

class recorded : public lockstep::test::system_tree,
                 public testing::WithParamInterface<recorded_machine> {
 protected:
  recorded() : system_tree("machine") { GetParam().write(root()); }
  topology read(const numbers& cpus) const {
    return topology(lockstep::detail::sysfs::read(cpus, root()));
  }
};
INSTANTIATE_TEST_SUITE_P(machines, recorded, testing::ValuesIn(recorded_machine::all()),
                         [](const auto& of) { return of.param.name; });

/// What a reader of the published layout expects.
struct expected {
  std::size_t cpus, cores, caches, nodes, packages, fast, small;
};
const std::map<std::string, expected> expectations = {
    {"magny_cours_sparse", {48, 48, 8, 8, 4, 0, 0}},
    {"xeon_offline", {12, 7, 4, 1, 4, 0, 0}},
    {"xeon_interleaved", {80, 40, 2, 2, 2, 0, 0}},
    {"epyc_7543", {128, 64, 16, 2, 2, 0, 0}},
    {"epyc_container", {18, 10, 4, 2, 2, 0, 0}},
    {"ryzen_7950x3d", {32, 16, 2, 1, 1, 0, 0}},
    {"alder_lake", {24, 16, 1, 1, 1, 16, 8}},
    {"dgx_spark", {20, 20, 2, 1, 1, 10, 10}},
    {"rk3399", {6, 6, 2, 1, 1, 2, 4}},
    {"power8_smt8", {160, 20, 20, 2, 2, 0, 0}},
    {"power9_gpus", {32, 8, 4, 2, 2, 0, 0}},
    {"a64fx", {48, 48, 4, 4, 1, 0, 0}},
    {"altra", {80, 80, 80, 1, 1, 0, 0}},
    {"arm_guest", {4, 4, 1, 1, 1, 0, 0}}};

void expect_counts(const recorded_machine& machine, const topology& found) {
  ASSERT_EQ(expectations.count(machine.name), 1u);
  const expected& wanted = expectations.at(machine.name);
  EXPECT_EQ(found.cpus().size(), wanted.cpus);
  EXPECT_EQ(found.cores(), wanted.cores);
  EXPECT_EQ(found.caches(), wanted.caches);
  EXPECT_EQ(found.nodes(), wanted.nodes);
  EXPECT_EQ(found.packages(), wanted.packages);
  std::size_t fast = 0, small = 0;
  for (const cpu_place& place : found.cpus()) {
    fast += place.kind == core_kind::performance;
    small += place.kind == core_kind::efficiency;
  }
  EXPECT_EQ(fast, wanted.fast);
  EXPECT_EQ(small, wanted.small);
  EXPECT_EQ(found.has_kinds(), wanted.fast > 0);
}

void expect_shared_as_written(const recorded_machine& machine, const topology& found) {
  for (const cpu_place& a : found.cpus()) {
    for (const cpu_place& b : found.cpus()) {
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

TEST_P(recorded, is_read_as_its_layout_says) {
  const recorded_machine& machine = GetParam();
  const topology found = read(machine.usable);
  expect_counts(machine, found);
  expect_shared_as_written(machine, found);
  expect_no_gaps(found);
  expect_same(found.cpus(), machine.places());
  numbers some;
  for (std::size_t i = 1; i < machine.usable.size(); i += 3) some.push_back(machine.usable[i]);
  const topology few = read(some);
  expect_shared_as_written(machine, few);
  expect_no_gaps(few);
}

TEST(recorded_machines, say_after_what_they_are_written) {
  EXPECT_GE(recorded_machine::all().size(), 10u);
  EXPECT_EQ(recorded_machine::all().size(), expectations.size());
  for (const recorded_machine& each : recorded_machine::all()) EXPECT_FALSE(each.after.empty());
}

}  // namespace
