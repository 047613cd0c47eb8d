// SPDX-License-Identifier: MIT
#include "objects/rows.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace bench::objects {
namespace {

/// Of the rows of a library.
std::set<std::string> groups(std::size_t cpus, const std::string& library) {
  std::set<std::string> found;
  for (const row& one : all_rows(cpus)) {
    if (one.contender != library) continue;
    EXPECT_TRUE(found.insert(one.group).second) << name(one);
  }
  return found;
}

TEST(Rows, ThreadsAreFewOneForEachCpuAndCrowdsWithoutDoubles) {
  const std::set<std::string> on_one = {"mutex/1",     "mutex/4",     "mutex/32",
                                        "condition/2", "condition/4", "condition/32",
                                        "barrier/2",   "barrier/4",   "barrier/32"};
  EXPECT_EQ(groups(1, "std"), on_one);
  const std::set<std::string> on_two = {"mutex/1",     "mutex/2",     "mutex/8",      "mutex/64",
                                        "condition/2", "condition/8", "condition/64", "barrier/2",
                                        "barrier/8",   "barrier/64"};
  EXPECT_EQ(groups(2, "std"), on_two);
  EXPECT_TRUE(groups(56, "std").contains("condition/1792"));
}

TEST(Rows, ALibraryHasRowsOfTheObjectsThatItHas) {
  EXPECT_TRUE(groups(2, "lockstep-default").contains("condition/64"));
  EXPECT_EQ(groups(2, "lockstep-split-default"),
            (std::set<std::string>{"barrier/2", "barrier/8", "barrier/64"}));
}

}  // namespace
}  // namespace bench::objects
