// SPDX-License-Identifier: MIT
// tests/team/display_test.cpp -- what the user reads about the first team, and when
#include "team/display.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

namespace {

using namespace lockstep;
using namespace lockstep::detail;
using detail::cpu_topology;

environment variables(const std::map<std::string, std::string>& given) {
  return environment::read([&](const char* name) -> const char* {
    const auto found = given.find(name);
    return found == given.end() ? nullptr : found->second.c_str();
  });
}

std::string described(const team_options& said, const environment& found,
                      const granted_cpus& machine) {
  const build_information build = {"1.2.3",    "a futex", "a fence", 64,
                                   "a policy", 5,         true,      "nothing"};
  return describe(resolve(said, found, machine.usable, machine.cpus), found, machine, build);
}

TEST(display, it_says_what_was_decided_and_by_whom) {
  const granted_cpus machine = {2,
                                2.5,
                                {{0, 0, 0, 0, core_kind::performance, 0, 0},
                                 {1, 0, 0, 1, core_kind::performance, 0, 0},
                                 {2, 1, 0, 0, core_kind::efficiency, 0, 1},
                                 {5, 2, 1, 0, core_kind::efficiency, 1, 2}}};
  const environment found = variables({{"LOCKSTEP_WAIT_POLICY", "hybrid:20us"},
                                       {"LOCKSTEP_PROC_BIND", "5,0,9"},
                                       {"LOCKSTEP_NUM_THREADS", "4x"}});
  EXPECT_EQ(
      described(team_options().members(3).name("solver"), found, machine),
      "lockstep 1.2.3, the first team:\n"
      "  usable CPUs: 2: affinity 4 (0-2,5), quota 2.50\n"
      "  cores: 3 in 2 packages, 2 NUMA nodes, 3 last-level caches, by kind: 1 performance, 2 "
      "efficiency\n"
      "  team: 'solver', 3 members, said by the program; crowded: more members than CPUs for "
      "them\n"
      "  wait policy: hybrid:20us, by LOCKSTEP_WAIT_POLICY\n"
      "  anticipation: off, not with this size or policy, or not in a crowd\n"
      "  loops: on as many members as pay, up to 2, by default\n"
      "  CPU separation: off, not with this size or policy, or not in a crowd, or bound\n"
      "  binding: 5,0,9, by LOCKSTEP_PROC_BIND\n"
      "  CPU of each rank: 5 0 5\n"
      "  not usable, left out: 9\n"
      "  futex: a futex\n"
      "  process fence: a fence\n"
      "  LOCKSTEP_NUM_THREADS='4x' is ignored: must be a number from 1 to 65536\n"
      "  LOCKSTEP_WAIT_POLICY='hybrid:20us'\n"
      "  LOCKSTEP_PROC_BIND='5,0,9'\n"
      "  LOCKSTEP_ANTICIPATE not set\n"
      "  LOCKSTEP_LEARN not set\n"
      "  LOCKSTEP_CPU_SEPARATION not set\n"
      "  LOCKSTEP_LEDGER not set\n"
      "  LOCKSTEP_TRACE not set\n"
      "  LOCKSTEP_WATCHDOG not set\n"
      "  LOCKSTEP_DELAY not set\n"
      "  LOCKSTEP_DISPLAY_ENV not set\n");
}

TEST(display, it_says_what_is_so_by_default) {
  const granted_cpus machine = {
      1, detail::cgroup::unlimited, {{0, 0, 0, 0, core_kind::unknown, 0, 0}}};
  EXPECT_EQ(described(team_options(), variables({}), machine),
            "lockstep 1.2.3, the first team:\n"
            "  usable CPUs: 1: affinity 1 (0), no quota\n"
            "  cores: 1 in 1 package, 1 NUMA node, 1 last-level cache, by kind: 1 unknown\n"
            "  team: 'lockstep', 1 member, one for each CPU\n"
            "  wait policy: default, by default\n"
            "  anticipation: off, not with this size or policy, or not in a crowd\n"
            "  loops: on as many members as pay, up to 1, by default\n"
            "  CPU separation: off, not with this size or policy, or not in a crowd, or bound\n"
            "  binding: none, by default\n"
            "  futex: a futex\n"
            "  process fence: a fence\n"
            "  LOCKSTEP_NUM_THREADS not set\n"
            "  LOCKSTEP_WAIT_POLICY not set\n"
            "  LOCKSTEP_PROC_BIND not set\n"
            "  LOCKSTEP_ANTICIPATE not set\n"
            "  LOCKSTEP_LEARN not set\n"
            "  LOCKSTEP_CPU_SEPARATION not set\n"
            "  LOCKSTEP_LEDGER not set\n"
            "  LOCKSTEP_TRACE not set\n"
            "  LOCKSTEP_WATCHDOG not set\n"
            "  LOCKSTEP_DELAY not set\n"
            "  LOCKSTEP_DISPLAY_ENV not set\n");
}

TEST(display, variables_of_observers_are_shown) {
  const environment found = variables({{"LOCKSTEP_LEDGER", "1"},
                                       {"LOCKSTEP_TRACE", "a.json"},
                                       {"LOCKSTEP_WATCHDOG", "2,abort"},
                                       {"LOCKSTEP_DELAY", "7"}});
  const std::string text = described(team_options(), found, {2, -1, {}});
  for (const char* const line : {"  LOCKSTEP_LEDGER='1'", "  LOCKSTEP_TRACE='a.json'",
                                 "  LOCKSTEP_WATCHDOG='2,abort'", "  LOCKSTEP_DELAY='7'"}) {
    EXPECT_NE(text.find(std::string(line) + "\n"), std::string::npos) << line << " in\n" << text;
  }
  const environment bad = variables({{"LOCKSTEP_WATCHDOG", "soon"}, {"LOCKSTEP_DELAY", "x"}});
  const std::string complaints = described(team_options(), bad, {2, -1, {}});
  for (const char* const line :
       {"  LOCKSTEP_WATCHDOG='soon' is ignored: ", "  LOCKSTEP_DELAY='x' is ignored: "}) {
    EXPECT_NE(complaints.find(line), std::string::npos) << complaints;
  }
}

TEST(display, it_says_whether_workers_anticipate_and_what_that_may_burn) {
  const granted_cpus machine = {4, -1, {}};
  const std::string on = described(team_options().members(2), variables({}), machine);
  EXPECT_NE(
      on.find("anticipation: on, by default; a worker polls for 160 us and a quarter of the time "
              "between two regions at most, and 4 ms after the last\n"),
      std::string::npos)
      << on;
  const std::string off =
      described(team_options().members(2), variables({{"LOCKSTEP_ANTICIPATE", "0"}}), machine);
  EXPECT_NE(off.find("anticipation: off, by LOCKSTEP_ANTICIPATE\n"), std::string::npos) << off;
  const std::string said = described(team_options().members(2).anticipate(true),
                                     variables({{"LOCKSTEP_ANTICIPATE", "false"}}), machine);
  EXPECT_NE(said.find("anticipation: on, said by the program;"), std::string::npos) << said;
  for (const lockstep::wait_policy policy :
       {lockstep::wait_policy::spin(), lockstep::wait_policy::block(),
        lockstep::wait_policy::hybrid(std::chrono::microseconds(2))}) {
    EXPECT_FALSE(
        resolve(team_options().members(2).policy(policy), variables({}), 4, {}).anticipates);
  }
  EXPECT_FALSE(resolve(team_options().members(5), variables({}), 4, {}).anticipates) << "a crowd";
}

TEST(display, it_says_on_how_many_members_loops_run_and_by_whose_wish) {
  const granted_cpus machine = {4, -1, {}};
  const auto text = [&](const team_options& said, const char* learn) {
    return described(
        said, learn == nullptr ? variables({}) : variables({{"LOCKSTEP_LEARN", learn}}), machine);
  };
  const auto has = [](const std::string& all, const char* line) {
    return all.find(line) != std::string::npos;
  };
  const team_options three = team_options().members(3);
  EXPECT_TRUE(
      has(text(three, nullptr), "  loops: on as many members as pay, up to 3, by default\n"));
  EXPECT_TRUE(has(text(three, "0"), "  loops: on 3 members, by LOCKSTEP_LEARN\n"));
  EXPECT_TRUE(has(text(three, "0"), "  LOCKSTEP_LEARN='0'\n"));
  EXPECT_TRUE(
      has(text(three, "1"), "  loops: on as many members as pay, up to 3, by LOCKSTEP_LEARN\n"));
  EXPECT_TRUE(has(text(team_options(three).learn(false), "1"),
                  "  loops: on 3 members, said by the program\n"));
  EXPECT_TRUE(has(text(team_options(three).learn(true), "0"),
                  "  loops: on as many members as pay, up to 3, said by the program\n"));
  EXPECT_TRUE(has(text(team_options().members(9), nullptr), "up to 4, by default\n"))
      << "a crowd: no more than there are CPUs";
}

TEST(display, it_says_whether_workers_part_which_bound_and_crowded_ones_do_not) {
  const granted_cpus machine = {4, -1, {}};
  const std::string on = described(team_options().members(2), variables({}), machine);
  EXPECT_NE(
      on.find("CPU separation: on, by default; a worker leaves a CPU that it shares with a member "
              "it waits for\n"),
      std::string::npos)
      << on;
  const std::string off =
      described(team_options().members(2), variables({{"LOCKSTEP_CPU_SEPARATION", "0"}}), machine);
  EXPECT_NE(off.find("CPU separation: off, by LOCKSTEP_CPU_SEPARATION\n"), std::string::npos)
      << off;
  const std::string said = described(team_options().members(2).cpu_separation(true),
                                     variables({{"LOCKSTEP_CPU_SEPARATION", "false"}}), machine);
  EXPECT_NE(said.find("CPU separation: on, said by the program;"), std::string::npos) << said;
  const detail::cpu_topology two = {{0, 0, 0, 0, core_kind::unknown, 0, 0},
                                    {1, 1, 0, 0, core_kind::unknown, 0, 0}};
  const auto parts = [&](const team_options& options) {
    return resolve(options, variables({}), 2, two).separates_cpus;
  };
  EXPECT_TRUE(parts(team_options().members(2)));
  EXPECT_FALSE(parts(team_options().members(1)));
  EXPECT_FALSE(parts(team_options().members(3))) << "a crowd";
  EXPECT_FALSE(parts(team_options().members(2).cpu_separation(false)));
  EXPECT_FALSE(parts(team_options().members(2).bind(lockstep::binding::close()))) << "bound";
  for (const lockstep::wait_policy policy :
       {lockstep::wait_policy::spin(), lockstep::wait_policy::block(),
        lockstep::wait_policy::hybrid(std::chrono::microseconds(2))}) {
    EXPECT_FALSE(parts(team_options().members(2).policy(policy)));
  }
}

TEST(display, a_machine_that_tells_nothing_is_described_as_such) {
  const std::string text =
      described(team_options().bind(binding::close()), variables({}), {3, -1, {}});
  EXPECT_NE(text.find("usable CPUs: 3: affinity unknown, no quota\n"), std::string::npos) << text;
  EXPECT_NE(text.find("binding: close, said by the program\n"), std::string::npos) << text;
  EXPECT_NE(text.find("CPU of each rank: none usable\n"), std::string::npos) << text;
}

TEST(display, the_cpus_of_very_many_members_are_cut) {
  const granted_cpus machine = {1, -1, {{7, 0, 0, 0, core_kind::unknown, 0, 0}}};
  const team_options said = team_options().bind(binding::close());
  EXPECT_EQ(described(team_options(said).members(256), variables({}), machine).find(" ..."),
            std::string::npos);
  const std::string text = described(team_options(said).members(257), variables({}), machine);
  EXPECT_NE(text.find(" 7 7 ...\n"), std::string::npos);
  EXPECT_LT(described(team_options(said).members(65536), variables({}), machine).size(), 2000u);
}

[[noreturn]] void make_two_teams(const char* display) {
  setenv("LOCKSTEP_DISPLAY_ENV", display, 1);
  setenv("LOCKSTEP_NUM_THREADS", "3", 1);
  unsetenv("LOCKSTEP_WAIT_POLICY");
  setenv("LOCKSTEP_PROC_BIND", "65535", 1);
  display_first_team(resolve(team_options().name("first")));
  std::fputs("the second team\n", stderr);
  display_first_team(resolve(team_options().name("second")));
  std::exit(0);
}

TEST(display, the_first_team_of_a_process_is_displayed_if_that_is_asked_for) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(make_two_teams("1"), testing::ExitedWithCode(0),
              testing::ContainsRegex(
                  "^lockstep: LOCKSTEP_PROC_BIND='65535': this process may not use CPU 65535\n"
                  "lockstep [0-9.]+, the first team:\n"
                  "  usable CPUs: .*\n"
                  "  team: 'first', 3 members, by LOCKSTEP_NUM_THREADS.*\n"
                  "  LOCKSTEP_DISPLAY_ENV='1'\n"
                  "the second team\n$"));
}

TEST(display, nothing_is_displayed_unless_that_is_asked_for) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(make_two_teams("0"), testing::ExitedWithCode(0),
              testing::Eq(std::string("lockstep: LOCKSTEP_PROC_BIND='65535': this process may not "
                                      "use CPU 65535\nthe second team\n")));
}

}  // namespace
