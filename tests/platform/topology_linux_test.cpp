// SPDX-License-Identifier: MIT
// tests/platform/topology_linux_test.cpp -- what /sys may hold, as trees below a directory of the test; whole machines:
// topology_machines_test.cpp
#include "platform/topology.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/system_tree.hpp"

namespace {

using namespace lockstep::detail;
using lockstep::core_kind;
using lockstep::cpu_place;
using numbers = std::vector<unsigned>;
using kinds = std::vector<core_kind>;
constexpr core_kind fast = core_kind::performance, small = core_kind::efficiency,
                    unknown = core_kind::unknown;

TEST(kinds_of_cores, values_are_parted_at_their_largest_step) {
  EXPECT_EQ(fast_from({460, 1024, 460, 1024}), 1024u) << "two kinds";
  EXPECT_EQ(fast_from({1024, 250, 780, 250}), 780u) << "three kinds: the middle is fast";
  EXPECT_EQ(fast_from({100, 125}), 125u) << "as small as a step may be";
}

TEST(kinds_of_cores, values_that_are_nearly_alike_are_not_parted) {
  EXPECT_EQ(fast_from({}), 0u);
  EXPECT_EQ(fast_from({1024}), 0u);
  EXPECT_EQ(fast_from({1024, 1024}), 0u);
  EXPECT_EQ(fast_from({5250000, 5750000, 5700000}), 0u) << "favoured cores";
  EXPECT_EQ(fast_from({0, 1024, 0, 1024}), 0u) << "not known is no step";
}

numbers of_mask(const std::string& text) {
  numbers result = {77};
  const bool is_mask = sysfs::parse_cpu_mask(text.c_str(), result);
  EXPECT_EQ(is_mask, !result.empty());
  return result;
}

TEST(masks, the_lowest_cpu_is_the_last_bit) {
  EXPECT_EQ(of_mask("1\n"), numbers({0}));
  EXPECT_EQ(of_mask("00c0"), numbers({6, 7})) << "a system of 16 CPUs";
  EXPECT_EQ(of_mask("3,00000001\n"), numbers({0, 32, 33}));
  EXPECT_EQ(of_mask("00000000,0000f00f"), numbers({0, 1, 2, 3, 12, 13, 14, 15}));
  EXPECT_EQ(of_mask("80000000,00000000,00000000"), numbers({95}));
}

TEST(masks, what_is_no_mask_or_has_no_cpu_is_refused) {
  for (const char* text :
       {"", "\n", "0", "00000000,00000000", "0-3", "0,2", "1,", ",00000001", "1,,00000001", "g",
        "0x1", "-1", "100000001", "1,000000001", "1 2", "1,0000000G"}) {
    EXPECT_EQ(of_mask(text), numbers()) << text;
  }
}

TEST(masks, no_cpu_is_read_that_no_system_has) {
  std::string zeros;
  for (unsigned group = 0; group < max_cpus / 32; ++group) zeros += ",00000000";
  EXPECT_EQ(of_mask("1" + zeros), numbers());
  EXPECT_EQ(of_mask("1" + zeros.substr(9)), numbers({max_cpus - 32}));
  EXPECT_EQ(of_mask("0" + zeros + ",00000002"), numbers({1})) << "zeros may be there";
}

class cpu_tree : public lockstep::test::system_tree {
 protected:
  cpu_tree() : system_tree("topology") {}

  void cpu_file(unsigned cpu, const std::string& name, const std::string& text) {
    file("/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/" + name, text);
  }
  void place(unsigned cpu, const std::string& siblings, const std::string& package) {
    cpu_file(cpu, "topology/core_cpus_list", siblings + "\n");
    cpu_file(cpu, "topology/physical_package_id", package + "\n");
  }
  void cache(unsigned cpu, unsigned index, const std::string& level, const std::string& type,
             const std::string& sharing) {
    const std::string at = "cache/index" + std::to_string(index) + "/";
    cpu_file(cpu, at + "level", level + "\n");
    cpu_file(cpu, at + "type", type + "\n");
    cpu_file(cpu, at + "shared_cpu_list", sharing + "\n");
  }
  cpu_topology read(const numbers& cpus) const { return sysfs::read(cpus, root()); }
};

template <class Member>
auto column(const cpu_topology& cpus, Member member) {
  std::vector<std::decay_t<decltype(cpus[0].*member)>> result;
  for (const cpu_place& place : cpus) result.push_back(place.*member);
  return result;
}
numbers cores(const cpu_topology& cpus) { return column(cpus, &cpu_place::core); }
numbers packages(const cpu_topology& cpus) { return column(cpus, &cpu_place::package); }
numbers nodes(const cpu_topology& cpus) { return column(cpus, &cpu_place::node); }
numbers caches(const cpu_topology& cpus) { return column(cpus, &cpu_place::cache); }
numbers siblings(const cpu_topology& cpus) { return column(cpus, &cpu_place::sibling); }
kinds kinds_in(const cpu_topology& cpus) { return column(cpus, &cpu_place::kind); }

/// One core for each CPU, one package, node and cache, kind unknown.
void expect_nothing_known(const cpu_topology& cpus, const numbers& asked) {
  EXPECT_EQ(column(cpus, &cpu_place::cpu), asked);
  for (std::size_t i = 0; i < cpus.size(); ++i) EXPECT_EQ(cpus[i].core, i);
  EXPECT_EQ(packages(cpus), numbers(asked.size(), 0));
  EXPECT_EQ(nodes(cpus), numbers(asked.size(), 0));
  EXPECT_EQ(caches(cpus), numbers(asked.size(), 0));
  EXPECT_EQ(siblings(cpus), numbers(asked.size(), 0));
  EXPECT_EQ(kinds_in(cpus), kinds(asked.size(), unknown));
}

TEST_F(cpu_tree, a_system_that_tells_nothing_has_one_core_per_cpu_in_one_package) {
  expect_nothing_known(read({0, 1, 5, 700}), {0, 1, 5, 700});
  expect_nothing_known(read({}), {});
}

TEST_F(cpu_tree, garbage_in_any_file_is_as_nothing) {
  const std::string big(5000, '9');
  for (const std::string& garbage :
       {std::string("\x01\xff%s%n"), std::string("-1"), std::string("3-1"), std::string("0,"),
        std::string("0-4294967295"), big, std::string()}) {
    for (const unsigned cpu : {0u, 1u, 2u}) {
      place(cpu, garbage, garbage);
      cpu_file(cpu, "topology/thread_siblings_list", garbage);
      cpu_file(cpu, "topology/thread_siblings", garbage);
      cpu_file(cpu, "cpu_capacity", garbage);
      cpu_file(cpu, "cpufreq/cpuinfo_max_freq", garbage);
      cache(cpu, 0, "1", "Data", garbage);
      cache(cpu, 1, garbage, garbage, garbage);
    }
    file("/sys/devices/system/node/online", garbage);
    file("/sys/devices/system/node/node0/cpulist", garbage);
    file("/sys/devices/system/node/node0/cpumap", garbage);
    file("/sys/devices/system/node/node3/cpulist", garbage);
    file("/sys/devices/cpu_core/cpus", garbage);
    file("/sys/devices/cpu_atom/cpus", garbage);
    expect_nothing_known(read({0, 1, 2}), {0, 1, 2});
  }
}

TEST_F(cpu_tree, siblings_that_do_not_name_the_cpu_itself_are_not_believed) {
  place(0, "1-3", "0");
  place(1, "1", "0");
  EXPECT_EQ(cores(read({0, 1})), numbers({0, 1}));
}

TEST_F(cpu_tree, cores_and_packages_are_numbered_from_zero_whatever_the_system_calls_them) {
  // Two packages called 3 and 36; siblings are half the machine apart.
  for (const unsigned cpu : {0u, 1u, 2u, 3u}) {
    const std::string text = std::to_string(cpu) + "," + std::to_string(cpu + 4);
    place(cpu, text, cpu < 2 ? "3" : "36");
    place(cpu + 4, text, cpu < 2 ? "3" : "36");
  }
  const cpu_topology cpus = read({0, 1, 2, 3, 4, 5, 6, 7});
  EXPECT_EQ(cores(cpus), numbers({0, 1, 2, 3, 0, 1, 2, 3}));
  EXPECT_EQ(packages(cpus), numbers({0, 0, 1, 1, 0, 0, 1, 1}));
  EXPECT_EQ(siblings(cpus), numbers({0, 0, 0, 0, 1, 1, 1, 1}));
}

TEST_F(cpu_tree, siblings_are_counted_among_the_usable_cpus_only) {
  for (const unsigned cpu : {0u, 1u, 2u, 3u}) place(cpu, cpu < 2 ? "0-1" : "2-3", "0");
  const cpu_topology cpus = read({1, 2, 3});
  EXPECT_EQ(cores(cpus), numbers({0, 1, 1}));
  EXPECT_EQ(siblings(cpus), numbers({0, 0, 1})) << "CPU 1 has its core for itself";
}

TEST_F(cpu_tree, the_older_name_of_the_list_of_siblings_is_read_too) {
  cpu_file(0, "topology/thread_siblings_list", "0,2\n");
  cpu_file(2, "topology/thread_siblings_list", "0,2\n");
  EXPECT_EQ(cores(read({0, 1, 2})), numbers({0, 1, 0}));
}

TEST_F(cpu_tree, masks_are_read_where_lists_are_missing) {
  for (const unsigned cpu : {0u, 1u, 2u, 3u}) {
    const std::string mask = cpu % 2 == 0 ? "00000005\n" : "0000000a\n";
    cpu_file(cpu, "topology/thread_siblings", mask);
    cpu_file(cpu, "cache/index0/level", "2\n");
    cpu_file(cpu, "cache/index0/type", "Unified\n");
    cpu_file(cpu, "cache/index0/shared_cpu_map", mask);
  }
  file("/sys/devices/system/node/online", "0-2\n");
  file("/sys/devices/system/node/node0/cpumap", "00000003\n");
  file("/sys/devices/system/node/node1/cpumap", "0000000c\n");
  file("/sys/devices/system/node/node2/cpumap", "00000000\n");
  const cpu_topology cpus = read({0, 1, 2, 3});
  EXPECT_EQ(cores(cpus), numbers({0, 1, 0, 1}));
  EXPECT_EQ(caches(cpus), numbers({0, 1, 0, 1}));
  EXPECT_EQ(nodes(cpus), numbers({0, 0, 1, 1}));
  cpu_file(0, "cache/index0/shared_cpu_list", "0-3\n");
  EXPECT_EQ(caches(read({0, 1, 2, 3})), numbers({0, 0, 0, 0})) << "a list goes before a mask";
  cpu_file(0, "cache/index0/shared_cpu_list", "1-3\n");
  cpu_file(0, "cache/index0/shared_cpu_map", "0000000e\n");
  EXPECT_EQ(caches(read({0, 1, 3})), numbers({1, 0, 0})) << "nor is a mask believed without itself";
}

TEST_F(cpu_tree, a_package_that_the_system_does_not_know_is_the_first) {
  place(0, "0", "-1");
  place(1, "1", "-1");
  EXPECT_EQ(packages(read({0, 1})), numbers({0, 0}));
}

TEST_F(cpu_tree, intels_hybrids_list_the_kinds) {
  file("/sys/devices/cpu_core/cpus", "0-3\n");
  file("/sys/devices/cpu_atom/cpus", "4-5\n");
  file("/sys/devices/cpu_lowpower/cpus", "6\n");
  // What the other sources say does not count then.
  for (const unsigned cpu : {0u, 4u}) cpu_file(cpu, "cpu_capacity", cpu == 4 ? "1024" : "100");
  EXPECT_EQ(kinds_in(read({0, 3, 4, 5, 6, 7})), kinds({fast, fast, small, small, small, unknown}));
}

TEST_F(cpu_tree, capacities_tell_the_kinds_where_there_are_no_lists) {
  for (const unsigned cpu : {0u, 1u, 2u, 3u}) {
    cpu_file(cpu, "cpu_capacity", cpu < 2 ? "460\n" : "1024\n");
    cpu_file(cpu, "cpufreq/cpuinfo_max_freq", cpu < 2 ? "3000000\n" : "1000000\n");
  }
  EXPECT_EQ(kinds_in(read({0, 1, 2, 3})), kinds({small, small, fast, fast}));
  EXPECT_EQ(kinds_in(read({0, 1})), kinds({unknown, unknown})) << "alike among the usable";
}

TEST_F(cpu_tree, clock_rates_tell_the_kinds_where_capacities_do_not) {
  for (const unsigned cpu : {0u, 1u, 2u}) {
    cpu_file(cpu, "cpu_capacity", "1024\n");
    cpu_file(cpu, "cpufreq/cpuinfo_max_freq", cpu == 2 ? "3300000\n" : "5100000\n");
  }
  EXPECT_EQ(kinds_in(read({0, 1, 2})), kinds({fast, fast, small}));
  EXPECT_EQ(kinds_in(read({0, 3, 2})), kinds({fast, unknown, small})) << "3 has no file";
}

TEST_F(cpu_tree, the_last_cache_is_that_of_the_highest_level_which_is_not_for_instructions_alone) {
  for (const unsigned cpu : {0u, 1u, 2u, 3u}) {
    cache(cpu, 0, "1", "Data", std::to_string(cpu));
    cache(cpu, 1, "1", "Instruction", "0-3");
    cache(cpu, 2, "2", "Unified", cpu < 2 ? "0-1" : "2-3");
    cache(cpu, 3, "3", "Instruction", "0-3");
  }
  EXPECT_EQ(caches(read({0, 1, 2, 3})), numbers({0, 0, 1, 1}));
  EXPECT_EQ(caches(read({3, 0})), numbers({1, 0})) << "numbered by CPU, not by the order asked for";
  EXPECT_EQ(caches(read({2, 3})), numbers({0, 0}));
}

TEST_F(cpu_tree, cpus_without_a_known_cache_share_one_with_those_of_their_package_and_node) {
  for (const unsigned cpu : {0u, 1u, 2u, 3u, 4u})
    place(cpu, std::to_string(cpu), cpu < 3 ? "0" : "1");
  file("/sys/devices/system/node/online", "0-1\n");
  file("/sys/devices/system/node/node0/cpulist", "0-1,3-4\n");
  file("/sys/devices/system/node/node1/cpulist", "2\n");
  EXPECT_EQ(caches(read({0, 1, 2, 3, 4})), numbers({0, 0, 1, 2, 2}));
  cache(1, 0, "2", "Unified", "1");
  EXPECT_EQ(caches(read({0, 1, 2, 3, 4})), numbers({1, 0, 2, 3, 3})) << "known ones come first";
  cache(0, 0, "2", "Unified", "2-3");
  EXPECT_EQ(caches(read({0, 1, 2, 3, 4})), numbers({1, 0, 2, 3, 3})) << "a list without itself";
}

TEST_F(cpu_tree, nodes_without_cpus_and_gaps_between_nodes_do_not_count) {
  file("/sys/devices/system/node/online", "0,8,252-255\n");
  file("/sys/devices/system/node/node0/cpulist", "0-1\n");
  file("/sys/devices/system/node/node8/cpulist", "2-3\n");
  for (const char* node : {"252", "253", "254", "255"}) {
    file(std::string("/sys/devices/system/node/node") + node + "/cpulist", "\n");
  }
  EXPECT_EQ(nodes(read({0, 1, 2, 3})), numbers({0, 0, 1, 1}));
  EXPECT_EQ(nodes(read({2, 3})), numbers({0, 0}));
}

}  // namespace
