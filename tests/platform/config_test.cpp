// SPDX-License-Identifier: MIT
// tests/platform/config_test.cpp -- the version in the header is that of the project
#include <lockstep/detail/platform/config.hpp>

#include <gtest/gtest.h>

#include <string>

namespace {

TEST(config, version_is_that_of_the_project) {
  const std::string version = std::to_string(LOCKSTEP_VERSION_MAJOR) + "." +
                              std::to_string(LOCKSTEP_VERSION_MINOR) + "." +
                              std::to_string(LOCKSTEP_VERSION_PATCH);
  EXPECT_EQ(version, LOCKSTEP_TEST_PROJECT_VERSION);
}

TEST(config, exceptions_are_known_to_be_there) { EXPECT_EQ(LOCKSTEP_HAS_EXCEPTIONS, 1); }

}  // namespace
