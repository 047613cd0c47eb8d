// SPDX-License-Identifier: MIT
// tests/team/placement_display_test.cpp -- what the user reads about the first team, and when
#include "team/placement.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "platform/cgroup.hpp"

namespace {

using namespace lockstep;
using namespace lockstep::detail;
using detail::cpu_topology;

environment variables(const std::map<std::string, std::string>& given) {
  return environment([&](const char* name) -> const char* {
    const auto found = given.find(name);
    return found == given.end() ? nullptr : found->second.c_str();
  });
}

struct machine_with_topology {
  std::size_t usable;
  double quota;
  detail::cpu_topology cpus;
};
std::string described(const team_options& said, const environment& found,
                      const machine_with_topology& machine) {
  const build_information build = {"1.2.3",    "a futex", "a fence", 64,
                                   "a policy", 5,         true,      "nothing"};
  granted_cpus granted = {machine.usable, machine.quota, {}};
  for (const lockstep::cpu_place& place : machine.cpus) granted.cpus.push_back(place.cpu);
  return describe(resolve(said, found, machine.usable, machine.cpus), found, granted, build);
}

/// What is on by default, off by the variable, and on again where the program says so (`told_on`).
void expect_on_unless_told(const team_options& told_on, const char* variable, const char* on,
                           const char* off) {
  const machine_with_topology machine = {4, -1, {}};
  const team_options two = team_options().members(2);
  for (const auto& [text, line] :
       {std::pair(described(two, variables({}), machine), on),
        std::pair(described(two, variables({{variable, "0"}}), machine), off),
        std::pair(described(told_on, variables({{variable, "false"}}), machine), on)}) {
    EXPECT_NE(text.find(line), std::string::npos) << text;
  }
}

const std::string no_other_variables =
    "  LOCKSTEP_ANTICIPATE not set\n"
    "  LOCKSTEP_LEARN not set\n"
    "  LOCKSTEP_CPU_SEPARATION not set\n"
    "  LOCKSTEP_LEDGER not set\n"
    "  LOCKSTEP_TRACE not set\n"
    "  LOCKSTEP_WATCHDOG not set\n"
    "  LOCKSTEP_DELAY not set\n"
    "  LOCKSTEP_DISPLAY_ENV not set\n";

TEST(display, it_says_what_was_decided) {
  const machine_with_topology machine = {2,
                                         2.5,
                                         {{0, 0, 0, 0, core_kind::performance, 0, 0},
                                          {1, 0, 0, 1, core_kind::performance, 0, 0},
                                          {2, 1, 0, 0, core_kind::efficiency, 0, 1},
                                          {5, 2, 1, 0, core_kind::efficiency, 1, 2}}};
  const environment found = variables({{"LOCKSTEP_WAIT_POLICY", "hybrid:20us"},
                                       {"LOCKSTEP_PROC_BIND", "5,0,9"},
                                       {"LOCKSTEP_NUM_THREADS", "4x"}});
  EXPECT_EQ(described(team_options().members(3).name("solver"), found, machine),
            "lockstep 1.2.3, the first team:\n"
            "  usable CPUs: 2: affinity 4 (0-2,5), quota 2.50\n"
            "  team: 'solver', 3 members; crowded: more members than CPUs for them\n"
            "  wait policy: hybrid:20us\n"
            "  anticipation: off\n"
            "  loops: on as many members as pay, up to 2\n"
            "  CPU separation: off\n"
            "  binding: 5,0,9\n"
            "  CPU of each rank: 5 0 5\n"
            "  not usable, left out: 9\n"
            "  futex: a futex\n"
            "  process fence: a fence\n"
            "  LOCKSTEP_NUM_THREADS='4x' is ignored: must be a number from 1 to 65536\n"
            "  LOCKSTEP_WAIT_POLICY='hybrid:20us'\n"
            "  LOCKSTEP_PROC_BIND='5,0,9'\n" +
                no_other_variables);
}

TEST(display, it_says_what_is_so_when_nothing_is_said) {
  const machine_with_topology machine = {
      1, detail::cgroup::unlimited, {{0, 0, 0, 0, core_kind::unknown, 0, 0}}};
  EXPECT_EQ(described(team_options(), variables({}), machine),
            "lockstep 1.2.3, the first team:\n"
            "  usable CPUs: 1: affinity 1 (0), no quota\n"
            "  team: 'lockstep', 1 member\n"
            "  wait policy: default\n"
            "  anticipation: off\n"
            "  loops: on as many members as pay, up to 1\n"
            "  CPU separation: off\n"
            "  binding: none\n"
            "  futex: a futex\n"
            "  process fence: a fence\n"
            "  LOCKSTEP_NUM_THREADS not set\n"
            "  LOCKSTEP_WAIT_POLICY not set\n"
            "  LOCKSTEP_PROC_BIND not set\n" +
                no_other_variables);
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
  expect_on_unless_told(team_options().members(2).anticipate(true), "LOCKSTEP_ANTICIPATE",
                        "anticipation: on; a worker polls for 160 us and a quarter of the time "
                        "between two regions at most, and 4 ms after the last\n",
                        "anticipation: off\n");
  for (const lockstep::wait_policy policy :
       {lockstep::wait_policy::spin(), lockstep::wait_policy::block(),
        lockstep::wait_policy::hybrid(std::chrono::microseconds(2))}) {
    EXPECT_FALSE(
        resolve(team_options().members(2).policy(policy), variables({}), 4, {}).anticipates);
  }
  EXPECT_FALSE(resolve(team_options().members(5), variables({}), 4, {}).anticipates) << "a crowd";
}

TEST(display, it_says_on_how_many_members_loops_run) {
  const machine_with_topology machine = {4, -1, {}};
  const auto text = [&](const team_options& said, const char* learn) {
    return described(
        said, learn == nullptr ? variables({}) : variables({{"LOCKSTEP_LEARN", learn}}), machine);
  };
  const auto has = [](const std::string& all, const char* line) {
    return all.find(line) != std::string::npos;
  };
  const team_options three = team_options().members(3);
  EXPECT_TRUE(has(text(three, nullptr), "  loops: on as many members as pay, up to 3\n"));
  EXPECT_TRUE(has(text(three, "0"), "  loops: on 3 members\n"));
  EXPECT_TRUE(has(text(three, "0"), "  LOCKSTEP_LEARN='0'\n"));
  EXPECT_TRUE(has(text(three, "1"), "  loops: on as many members as pay, up to 3\n"));
  EXPECT_TRUE(has(text(team_options(three).learn(false), "1"), "  loops: on 3 members\n"));
  EXPECT_TRUE(has(text(team_options(three).learn(true), "0"),
                  "  loops: on as many members as pay, up to 3\n"));
  EXPECT_TRUE(has(text(team_options().members(9), nullptr), "up to 4\n"))
      << "a crowd: no more than there are CPUs";
}

TEST(display, it_says_whether_workers_part_which_bound_and_crowded_ones_do_not) {
  expect_on_unless_told(
      team_options().members(2).cpu_separation(true), "LOCKSTEP_CPU_SEPARATION",
      "CPU separation: on; a worker leaves a CPU that it shares with a member it waits for\n",
      "CPU separation: off\n");
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
  EXPECT_NE(text.find("binding: close\n"), std::string::npos) << text;
  EXPECT_NE(text.find("CPU of each rank: none usable\n"), std::string::npos) << text;
}

TEST(display, the_cpus_of_very_many_members_are_cut) {
  const machine_with_topology machine = {1, -1, {{7, 0, 0, 0, core_kind::unknown, 0, 0}}};
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
                  "  team: 'first', 3 members.*\n"
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
