// SPDX-License-Identifier: MIT
// tests/support/main.cpp -- main() of test programs that are made of many sources
//
//   PROGRAM [--from=SOURCE]... [GoogleTest's flags]
//
// Runs the tests that these sources define; without --from, all. So each entry of ctest has a process of its own
// for one source, though many sources share a program. A filter that names tests, as death tests give it to their
// children, is obeyed instead; one that only excludes tests applies as well.
#include <gtest/gtest.h>

#include <iostream>
#include <set>
#include <string>

namespace {

std::set<std::string> wanted_sources(int count, char** arguments) {
  const std::string flag = "--from=";
  std::set<std::string> sources;
  for (int i = 1; i < count; ++i) {
    const std::string argument = arguments[i];
    if (argument.rfind(flag, 0) == 0) sources.insert(argument.substr(flag.size()));
  }
  return sources;
}

/// The patterns of the suite's tests that come from the sources.
std::string patterns(const testing::TestSuite& suite, const std::set<std::string>& sources) {
  std::string some;
  int found = 0;
  for (int i = 0; i < suite.total_test_count(); ++i) {
    const testing::TestInfo& each = *suite.GetTestInfo(i);
    if (sources.count(each.file()) == 0) continue;
    some += std::string(suite.name()) + "." + each.name() + ":";
    ++found;
  }
  return found == suite.total_test_count() ? std::string(suite.name()) + ".*:" : some;
}

std::string patterns(const std::set<std::string>& sources) {
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  std::string text;
  for (int i = 0; i < all.total_test_suite_count(); ++i)
    text += patterns(*all.GetTestSuite(i), sources);
  return text;
}

}  // namespace

int main(int count, char** arguments) {
  testing::InitGoogleTest(&count, arguments);
  const std::set<std::string> sources = wanted_sources(count, arguments);
  const std::string filter = GTEST_FLAG_GET(filter);
  if (!sources.empty() && (filter == "*" || filter.rfind('-', 0) == 0)) {
    const std::string wanted = patterns(sources);
    if (wanted.empty()) {
      std::cerr << "no tests in " << *sources.begin() << '\n';
      return 1;
    }
    GTEST_FLAG_SET(filter, filter == "*" ? wanted : wanted + filter);
  }
  return RUN_ALL_TESTS();
}
