// SPDX-License-Identifier: MIT
// tests/platform/cpus_list_test.cpp -- numbers and lists of CPUs: what is taken, and what is refused
#include "platform/cpus.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace lockstep::detail;
using cpus = std::vector<unsigned>;

/// Whether the whole text is a number up to `most`.
bool parse_number(const std::string& text, unsigned long long most, unsigned long long& result) {
  const char* at = text.c_str();
  const bool is_number = read_number(at, most, result);
  EXPECT_TRUE(is_number || at == text.c_str()) << text;
  return is_number && *at == 0;
}
std::string text_of(const cpus& list) {
  std::string text;
  append_ranges(text, list);
  return text;
}

/// What the list holds; a CPU that no list can hold if it is refused.
cpus parsed(const std::string& text) {
  cpus result = {1, 2, 3};
  if (parse_cpu_list(text.c_str(), result)) return result;
  EXPECT_TRUE(result.empty()) << text;
  return {max_cpus};
}
const cpus refused = {max_cpus};

TEST(number, only_digits_up_to_the_limit_are_one) {
  unsigned long long value = 99;
  EXPECT_TRUE(parse_number("0", 0, value) && value == 0);
  EXPECT_TRUE(parse_number("007", 7, value) && value == 7);
  EXPECT_TRUE(parse_number("65536", 65536, value) && value == 65536);
  std::string padded(5000, '0');
  padded += '9';
  EXPECT_TRUE(parse_number(padded, 9, value) && value == 9);
  value = 99;
  for (const char* bad :
       {"", " ", "-1", "+1", "1 ", " 1", "4x", "x4", "1.0", "1e3", "0x10", "65537"}) {
    EXPECT_FALSE(parse_number(bad, 65536, value)) << bad;
  }
  value = 99;
  for (const char* bad : {"", " ", "-1", "+1", " 1", "x4", "65537"}) {
    EXPECT_FALSE(parse_number(bad, 65536, value)) << bad;
    EXPECT_EQ(value, 99u) << bad << " changes nothing";
  }
}

TEST(number, no_length_overflows) {
  constexpr unsigned long long most = std::numeric_limits<unsigned long long>::max();
  const std::string text = std::to_string(most);
  unsigned long long value = 0;
  EXPECT_TRUE(parse_number(text, most, value) && value == most);
  EXPECT_FALSE(parse_number("18446744073709551616", most, value)) << "one more";
  EXPECT_FALSE(parse_number(text + "0", most, value));
  EXPECT_FALSE(parse_number(std::string(100000, '9'), most, value));
  EXPECT_FALSE(parse_number("9", 8, value)) << "a limit below one digit";
  EXPECT_FALSE(parse_number("1", 0, value));
}

TEST(number, every_small_number_is_taken_up_to_each_small_limit_and_refused_above) {
  for (unsigned long long limit = 0; limit <= 130; ++limit) {
    for (unsigned long long number = 0; number <= 1300; ++number) {
      unsigned long long value = 5000;
      ASSERT_EQ(parse_number(std::to_string(number), limit, value), number <= limit);
      ASSERT_EQ(value, number <= limit ? number : 5000);
    }
  }
}

TEST(cpu_list, numbers_ranges_and_strides_stand_in_the_order_of_the_text) {
  EXPECT_EQ(parsed("0"), cpus({0}));
  EXPECT_EQ(parsed("0,2,4-7,8-14:2"), cpus({0, 2, 4, 5, 6, 7, 8, 10, 12, 14}));
  EXPECT_EQ(parsed("3,1,3"), cpus({3, 1, 3}));
  EXPECT_EQ(parsed("5-5"), cpus({5}));
  EXPECT_EQ(parsed("0-9:4"), cpus({0, 4, 8}));
  EXPECT_EQ(parsed("0-9:100"), cpus({0}));
  EXPECT_EQ(parsed("65535"), cpus({65535}));
}

TEST(cpu_list, blanks_may_stand_around_each_part_but_not_in_it) {
  EXPECT_EQ(parsed(" 0 ,\t2-3\n"), cpus({0, 2, 3}));
  for (const char* bad : {"0 1", "2 -3", "2- 3", "0-4 :2", "0-4: 2"}) {
    EXPECT_EQ(parsed(bad), refused) << bad;
  }
}

TEST(cpu_list, what_is_no_list_is_refused_and_leaves_nothing) {
  for (const char* bad : {"",
                          " ",
                          ",",
                          "0,",
                          ",0",
                          "0,,1",
                          "-",
                          "-1",
                          "1-",
                          "3-1",
                          "0--1",
                          "0-1-2",
                          "1:2",
                          "0-4:",
                          "0-4:0",
                          "0-4:-1",
                          "0-4:2:2",
                          ":",
                          "a",
                          "0;1",
                          "0x1",
                          "+1",
                          "65536",
                          "0-65536",
                          "0-4:65537",
                          "4294967296",
                          "18446744073709551617",
                          "0-99999999999999999999999",
                          "max"}) {
    EXPECT_EQ(parsed(bad), refused) << bad;
  }
}

TEST(cpu_list, no_text_makes_more_than_the_most) {
  EXPECT_EQ(parsed("0-65535").size(), max_cpus);
  EXPECT_EQ(parsed("0-65534,7").size(), max_cpus);
  EXPECT_EQ(parsed("0-65535,7"), refused);
  std::string text = "0-65535";
  for (int i = 0; i < 1000; ++i) text += ",0-65535";
  EXPECT_EQ(parsed(text), refused);
}

TEST(cpu_list, text_joins_neighbours_that_ascend) {
  EXPECT_EQ(text_of({}), "");
  EXPECT_EQ(text_of({7}), "7");
  EXPECT_EQ(text_of({0, 1}), "0,1");
  EXPECT_EQ(text_of({0, 1, 2, 5}), "0-2,5");
  EXPECT_EQ(text_of({2, 1, 0, 1, 2, 3, 3}), "2,1,0-3,3");
}

TEST(cpu_list, its_text_is_read_as_the_same_list) {
  const unsigned seed = std::random_device{}();
  std::printf("seed %u\n", seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 2000; ++round) {
    cpus list(1 + random() % 20);
    for (unsigned& cpu : list)
      cpu = static_cast<unsigned>(random() % (round % 2 == 0 ? 5 : max_cpus));
    ASSERT_EQ(parsed(text_of(list)), list) << text_of(list);
  }
}

}  // namespace
