// SPDX-License-Identifier: MIT
// tests/team/environment_test.cpp -- every variable, every way to get it wrong, and what the user is told
#include "team/environment.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "support/environment_texts.hpp"

namespace {

using lockstep::binding;
using lockstep::wait_policy;
using lockstep::detail::environment;
using lockstep::test::complaints;
using lockstep::test::descriptions;
using lockstep::test::text_of;
using namespace std::chrono_literals;
using variables = std::map<std::string, std::string>;

environment read(const variables& given) {
  return environment([&](const char* name) -> const char* {
    const auto found = given.find(name);
    return found == given.end() ? nullptr : found->second.c_str();
  });
}
std::string quoted(const std::string& text) { return lockstep::detail::quoted_text(text.c_str()); }
environment with_members(const std::string& text) { return read({{"LOCKSTEP_NUM_THREADS", text}}); }
environment with_policy(const std::string& text) { return read({{"LOCKSTEP_WAIT_POLICY", text}}); }
environment with_bind(const std::string& text) { return read({{"LOCKSTEP_PROC_BIND", text}}); }
environment with_display(const std::string& text) { return read({{"LOCKSTEP_DISPLAY_ENV", text}}); }
environment with_learn(const std::string& text) { return read({{"LOCKSTEP_LEARN", text}}); }

TEST(environment, nothing_is_set_where_there_is_no_variable) {
  const environment none = read({});
  EXPECT_FALSE(none.members.is_set || none.policy.is_set || none.bind.is_set ||
               none.anticipate.is_set || none.learn.is_set || none.display.is_set);
  EXPECT_TRUE(none.anticipate.value);
  EXPECT_TRUE(none.learn.value);
  EXPECT_FALSE(none.display.value);
  EXPECT_TRUE(none.bind.value.is_unset());
  EXPECT_EQ(none.policy.value, wait_policy());
  EXPECT_TRUE(complaints(none).empty());
}

TEST(environment, an_empty_or_blank_value_is_as_none) {
  for (const char* blank : {"", " ", "\t \n"}) {
    const environment found = read({{"LOCKSTEP_NUM_THREADS", blank},
                                    {"LOCKSTEP_WAIT_POLICY", blank},
                                    {"LOCKSTEP_PROC_BIND", blank},
                                    {"LOCKSTEP_ANTICIPATE", blank},
                                    {"LOCKSTEP_LEARN", blank},
                                    {"LOCKSTEP_DISPLAY_ENV", blank}});
    EXPECT_EQ(descriptions(found), descriptions(read({})));
    EXPECT_TRUE(complaints(found).empty());
  }
}

TEST(environment, the_number_of_threads_is_1_to_65536) {
  for (const std::size_t number : {1u, 2u, 64u, 65536u}) {
    EXPECT_TRUE(with_members(std::to_string(number)).members.is_set);
    EXPECT_EQ(with_members(std::to_string(number)).members.value, number);
  }
  EXPECT_EQ(with_members(" 4\t").members.value, 4u);
  for (const std::string& bad :
       {std::string("0"), std::string("65537"), std::string("-1"), std::string("+4"),
        std::string("4x"), std::string("4 4"), std::string("4,2"), std::string("0x4"),
        std::string("1e2"), std::string("four"), std::string("18446744073709551617"),
        std::string(100000, '9')}) {
    const environment found = with_members(bad);
    EXPECT_FALSE(found.members.is_set) << bad;
    EXPECT_EQ(found.members.value, 0u) << bad;
    EXPECT_EQ(complaints(found).size(), 1u) << bad;
  }
}

TEST(environment, the_wait_policy_is_one_of_four_in_capital_or_small_letters) {
  EXPECT_EQ(with_policy("default").policy.value, wait_policy());
  EXPECT_TRUE(with_policy("default").policy.is_set) << "it can be said as well";
  EXPECT_EQ(with_policy("spin").policy.value, wait_policy::spin());
  EXPECT_EQ(with_policy(" BLOCK ").policy.value, wait_policy::block());
  EXPECT_EQ(with_policy("Hybrid:20US").policy.value, wait_policy::hybrid(20us));
  EXPECT_EQ(with_policy("hybrid:0ns").policy.value, wait_policy::hybrid(0ns));
  EXPECT_EQ(with_policy("hybrid:1ms").policy.value, wait_policy::hybrid(1ms));
  EXPECT_EQ(with_policy("hybrid:536ms").policy.value, wait_policy::hybrid(536ms));
  EXPECT_EQ(with_policy("hybrid:536870911ns").policy.value,
            wait_policy::hybrid(wait_policy::longest_spin()));
}

TEST(environment, a_wait_policy_that_is_none_of_them_is_refused) {
  for (const char* bad :
       {"active", "spin:20us", "hybrid", "hybrid:", "hybrid:20", "hybrid:us", "hybrid:20s",
        "hybrid:20 us", "hybrid: 20us", "hybrid:-20us", "hybrid:1.5us", "hybrid:20usx",
        "hybrid:537ms", "hybrid:536871us", "hybrid:536870912ns", "hybrid:18446744073709551617ns",
        "hybrid:18446744073709552ms", "spin,block"}) {
    const environment found = with_policy(bad);
    EXPECT_FALSE(found.policy.is_set) << bad;
    EXPECT_EQ(found.policy.value, wait_policy()) << bad;
    EXPECT_EQ(complaints(found).size(), 1u) << bad;
  }
}

TEST(environment, the_binding_is_a_word_or_a_list) {
  EXPECT_EQ(with_bind("none").bind.value, binding::none());
  EXPECT_TRUE(with_bind("none").bind.is_set);
  EXPECT_EQ(with_bind("Close").bind.value, binding::close());
  EXPECT_EQ(with_bind("SPREAD ").bind.value, binding::spread());
  EXPECT_EQ(with_bind("0, 2,4-7,8-14:2").bind.value,
            binding::cpus({0, 2, 4, 5, 6, 7, 8, 10, 12, 14}));
  for (const char* bad : {"true", "close,spread", "3-1", "0-65536", "0-4:0", "-1", "0,", "{0,1}"}) {
    const environment found = with_bind(bad);
    EXPECT_FALSE(found.bind.is_set) << bad;
    EXPECT_TRUE(found.bind.value.is_unset()) << bad;
    EXPECT_EQ(complaints(found).size(), 1u) << bad;
  }
}

TEST(environment, display_is_a_switch) {
  for (const char* on : {"1", "true", " TRUE "}) EXPECT_TRUE(with_display(on).display.value) << on;
  for (const char* off : {"0", "false", "False"}) {
    EXPECT_TRUE(with_display(off).display.is_set) << off;
    EXPECT_FALSE(with_display(off).display.value) << off;
  }
  for (const char* bad : {"yes", "2", "01", "-1", "t"}) {
    EXPECT_FALSE(with_display(bad).display.is_set) << bad;
    EXPECT_EQ(complaints(with_display(bad)).size(), 1u) << bad;
  }
}

TEST(environment, a_complaint_says_name_value_and_what_would_be_right) {
  EXPECT_EQ(complaints(with_members("4x")),
            std::vector<std::string>{
                "LOCKSTEP_NUM_THREADS='4x' is ignored: must be a number from 1 to 65536"});
  EXPECT_EQ(complaints(with_display("yes")),
            std::vector<std::string>{
                "LOCKSTEP_DISPLAY_ENV='yes' is ignored: must be 0, 1, false or true"});
  EXPECT_EQ(
      complaints(with_policy("active"))
          .at(0)
          .find(
              "LOCKSTEP_WAIT_POLICY='active' is ignored: must be default, spin, block or hybrid:"),
      0u);
  EXPECT_EQ(
      complaints(with_bind("near"))
          .at(0)
          .find(
              "LOCKSTEP_PROC_BIND='near' is ignored: must be none, close, cores, spread or a list"),
      0u);
}

TEST(environment, one_bad_value_does_not_spoil_the_others) {
  const environment found = read({{"LOCKSTEP_NUM_THREADS", "0"},
                                  {"LOCKSTEP_WAIT_POLICY", "block"},
                                  {"LOCKSTEP_PROC_BIND", "?"},
                                  {"LOCKSTEP_DISPLAY_ENV", "1"}});
  EXPECT_EQ(complaints(found).size(), 2u);
  EXPECT_EQ(found.policy.value, wait_policy::block());
  EXPECT_TRUE(found.display.value);
  EXPECT_EQ(descriptions(found)[1], "LOCKSTEP_WAIT_POLICY='block'");
}

TEST(environment, whether_loops_learn_is_a_switch) {
  for (const char* on : {"1", "true", " TRUE "}) {
    EXPECT_TRUE(with_learn(on).learn.is_set && with_learn(on).learn.value) << on;
  }
  for (const char* off : {"0", "false", "False\t"}) {
    EXPECT_TRUE(with_learn(off).learn.is_set && !with_learn(off).learn.value) << off;
  }
  for (const char* bad : {"2", "-1", "on", "never", "00", "1 1"}) {
    const environment found = with_learn(bad);
    EXPECT_TRUE(!found.learn.is_set && found.learn.value) << bad << ": as by default";
    EXPECT_EQ(complaints(found),
              std::vector<std::string>{"LOCKSTEP_LEARN='" + std::string(bad) +
                                       "' is ignored: must be 0, 1, false or true"});
  }
}

TEST(environment, a_message_is_one_short_line_whatever_the_value) {
  for (const std::string& value : {std::string("a\nlockstep: b\x1b[31m\x7f"),
                                   std::string(1000000, 'x'), std::string(1000000, ',')}) {
    const std::string line = complaints(with_bind(value)).at(0);
    EXPECT_LT(line.size(), 250u);
    EXPECT_EQ(line.find_first_of("\n\x1b\x7f"), std::string::npos) << line;
  }
  EXPECT_EQ(quoted(std::string(60, 'x')), "'" + std::string(60, 'x') + "'");
  EXPECT_EQ(quoted(std::string(61, 'x')), "'" + std::string(60, 'x') + "...'");
}

TEST(environment, the_texts_of_policies_and_bindings_are_read_as_the_same) {
  for (const wait_policy policy :
       {wait_policy(), wait_policy::spin(), wait_policy::block(), wait_policy::hybrid(0ns),
        wait_policy::hybrid(1ns), wait_policy::hybrid(20us), wait_policy::hybrid(3ms),
        wait_policy::hybrid(wait_policy::longest_spin())}) {
    EXPECT_EQ(with_policy(text_of(policy)).policy.value, policy);
  }
  for (const binding& where :
       {binding::none(), binding::close(), binding::spread(), binding::cpus({3, 0, 1, 2})}) {
    EXPECT_EQ(with_bind(text_of(where)).bind.value, where);
  }
}

TEST(binding, what_is_said_can_be_told_from_what_is_not) {
  EXPECT_TRUE(binding().is_unset());
  EXPECT_FALSE(binding().is_none());
  EXPECT_TRUE(binding::none().is_none());
  EXPECT_TRUE(binding::cpus({}).is_none());
  EXPECT_TRUE(binding::cpus({4}).is_list());
  EXPECT_NE(binding::cpus({4}), binding::cpus({5}));
  EXPECT_NE(binding(), binding::none());
}

/// Reads the environment on several threads, and ends this process.
[[noreturn]] void read_on_several_threads() {
  setenv("LOCKSTEP_NUM_THREADS", "none", 1);
  setenv("LOCKSTEP_WAIT_POLICY", "block", 1);
  setenv("LOCKSTEP_PROC_BIND", "5-3", 1);
  unsetenv("LOCKSTEP_DISPLAY_ENV");
  bool right[4] = {};
  std::vector<std::thread> threads;
  for (bool& is_right : right) {
    threads.emplace_back(
        [&is_right] { is_right = environment::of_process().policy.value == wait_policy::block(); });
  }
  for (std::thread& thread : threads) thread.join();
  setenv("LOCKSTEP_WAIT_POLICY", "spin", 1);
  const bool is_kept = environment::of_process().policy.value == wait_policy::block();
  std::exit(right[0] && right[1] && right[2] && right[3] && is_kept ? 0 : 1);
}

TEST(environment_of_process, it_is_read_once_and_each_bad_value_is_reported_once) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      read_on_several_threads(), testing::ExitedWithCode(0),
      testing::Eq(std::string("lockstep: LOCKSTEP_NUM_THREADS='none' is ignored: must be a number "
                              "from 1 to 65536\n"
                              "lockstep: LOCKSTEP_PROC_BIND='5-3' is ignored: must be none, close, "
                              "cores, spread or a list of CPUs as 0,2,4-7,8-14:2, below 65536\n")));
}

}  // namespace
