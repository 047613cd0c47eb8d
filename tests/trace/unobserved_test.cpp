// SPDX-License-Identifier: MIT
// tests/trace/unobserved_test.cpp -- a header-only program that has not asked for the code of the observers says so
#include <lockstep/ledger.hpp>
#include <lockstep/team.hpp>
#include <lockstep/trace.hpp>
#include <lockstep/watchdog.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <stdexcept>
#include <string>

namespace {

using lockstep::team;
using lockstep::detail::environment;

/// The compiled library has them always.
bool is_missing() {
  EXPECT_TRUE(!lockstep::detail::has_observers() || LOCKSTEP_COMPILED)
      << "they are here although nobody asked for them";
  return !lockstep::detail::has_observers();
}

TEST(unobserved, functions_that_are_of_no_use_without_observers_fail_with_the_remedy) {
  if (!is_missing()) GTEST_SKIP();
  team workers(2);
  for (void (*function)(team&) : {
           +[](team&) { lockstep::start_trace(); },
           +[](team&) { lockstep::write_trace("trace.json"); },
           +[](team&) { lockstep::start_watchdog(); },
           +[](team& of) { of.keep_ledger(true); },
       }) {
    try {
      function(workers);
      FAIL() << "nobody said that there are no observers";
    } catch (const std::logic_error& error) {
      EXPECT_NE(std::string(error.what()).find("LOCKSTEP_OBSERVABLE"), std::string::npos)
          << error.what();
    }
  }
}

TEST(unobserved, all_else_does_nothing_and_the_program_goes_on) {
  if (!is_missing()) GTEST_SKIP();
  team workers(2);
  int parts[2] = {};
  {
    LOCKSTEP_TRACE_SCOPE("here");
    lockstep::trace_mark("mark");
    lockstep::trace_counter("counter", 1);
    lockstep::name_this_thread("name");
    workers.run([&](lockstep::member& me) {
      ++parts[me.rank()];
      me.sync_threads();
    });
  }
  EXPECT_EQ(parts[0] + parts[1], 2);
  EXPECT_FALSE(lockstep::is_tracing());
  EXPECT_FALSE(lockstep::stop_trace());
  EXPECT_EQ(lockstep::trace_summary(), "");
  EXPECT_EQ(lockstep::who_waits(), "");
  lockstep::stop_watchdog();
  EXPECT_TRUE(workers.ledger().constructs.empty());
  workers.keep_ledger(false);
  workers.reset_ledger();
}

TEST(unobserved, variables_that_are_set_in_vain_are_reported) {
  if (!is_missing()) GTEST_SKIP();
  const environment here = environment::read([](const char* name) -> const char* {
    const std::string wanted = name;
    const bool is_number =
        wanted == "LOCKSTEP_LEDGER" || wanted == "LOCKSTEP_WATCHDOG" || wanted == "LOCKSTEP_DELAY";
    return wanted == "LOCKSTEP_TRACE" ? "trace.json" : is_number ? "1" : nullptr;
  });
  std::string text;
  here.describe(text, "", true);
  for (const char* const name : {"LOCKSTEP_TRACE", "LOCKSTEP_LEDGER", "LOCKSTEP_WATCHDOG",
                                 "LOCKSTEP_DELAY", "LOCKSTEP_OBSERVABLE"}) {
    EXPECT_NE(text.find(name), std::string::npos) << text;
  }
}

}  // namespace
