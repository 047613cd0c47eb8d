// SPDX-License-Identifier: MIT
// tests/everywhere/no_death_tests.hpp -- included before all else where GoogleTest has no death tests
#pragma once

#include <gtest/gtest.h>

#if !defined(EXPECT_DEATH)
#define EXPECT_DEATH(statement, text) GTEST_SKIP() << "no death tests on this system"
#endif
