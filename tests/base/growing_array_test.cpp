// SPDX-License-Identifier: MIT
// tests/base/growing_array_test.cpp -- values stay what they were; each is destroyed once; order of heaps and sorts
#include "base/growing_array.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/sanitizer.hpp"

namespace {

using lockstep::detail::growing_array;

static_assert(std::is_nothrow_move_constructible_v<growing_array<std::string>>);

template <class T>
std::vector<T> values_of(const growing_array<T>& of) {
  return std::vector<T>(of.begin(), of.end());
}

TEST(growing_array, holds_what_was_added_in_order) {
  growing_array<std::string> names;
  std::vector<std::string> expected;
  for (int i = 0; i < 1000; ++i) {
    names.push_back(std::to_string(i));
    expected.push_back(std::to_string(i));
    ASSERT_EQ(names.size(), expected.size());
    ASSERT_EQ(names.back(), expected.back());
  }
  EXPECT_EQ(values_of(names), expected);
  names.pop_back();
  expected.pop_back();
  EXPECT_EQ(values_of(names), expected);
  names.clear();
  EXPECT_TRUE(names.empty());
}

TEST(growing_array, adds_a_value_of_its_own) {
  growing_array<std::string> names = {std::string(100, 'a')};
  for (int i = 0; i < 100; ++i) names.push_back(names[0]);
  for (const std::string& each : names) EXPECT_EQ(each, std::string(100, 'a'));
}

TEST(growing_array, copies_share_nothing_and_moves_leave_nothing) {
  growing_array<std::string> first = {"a", "b"};
  growing_array<std::string> second = first;
  second[0] = "c";
  EXPECT_EQ(values_of(first), (std::vector<std::string>{"a", "b"}));
  first = second;
  EXPECT_EQ(values_of(first), (std::vector<std::string>{"c", "b"}));
  const growing_array<std::string> third = std::move(second);
  EXPECT_EQ(values_of(third), (std::vector<std::string>{"c", "b"}));
  EXPECT_TRUE(second.empty());
  const growing_array<std::string>& same = first;
  first = same;
  EXPECT_EQ(values_of(first), (std::vector<std::string>{"c", "b"}));
}

TEST(growing_array, takes_any_size) {
  growing_array<double> numbers(3, 0.5);
  EXPECT_EQ(values_of(numbers), (std::vector<double>{0.5, 0.5, 0.5}));
  numbers.resize(5);
  EXPECT_EQ(values_of(numbers), (std::vector<double>{0.5, 0.5, 0.5, 0, 0}));
  numbers.resize(2);
  EXPECT_EQ(values_of(numbers), (std::vector<double>{0.5, 0.5}));
  numbers.assign(1, 2.0);
  numbers.append(numbers.data(), numbers.data());
  EXPECT_EQ(values_of(numbers), (std::vector<double>{2}));
  EXPECT_TRUE(growing_array<double>(std::size_t{0}).empty());
}

TEST(growing_array, destroys_each_value_once) {
  const auto alive = std::make_shared<int>(0);
  {
    growing_array<std::shared_ptr<int>> all(7, alive);
    for (int i = 0; i < 20; ++i) all.push_back(alive);
    growing_array<std::shared_ptr<int>> copies = all;
    copies.resize(3);
    EXPECT_EQ(alive.use_count(), 1 + 27 + 3);
    all = std::move(copies);
    EXPECT_EQ(alive.use_count(), 1 + 3);
  }
  EXPECT_EQ(alive.use_count(), 1);
}

TEST(growing_array, refuses_more_than_there_is_memory_for) {
  if (lockstep::test::has_own_allocator) GTEST_SKIP() << "the program would end";
  growing_array<double> numbers = {1};
  EXPECT_THROW(numbers.reserve(static_cast<std::size_t>(-1) / 4), std::bad_alloc);
  EXPECT_EQ(values_of(numbers), (std::vector<double>{1}));
}

TEST(growing_array, is_sorted_as_the_standard_sorts) {
  std::minstd_rand random(1);
  const auto less = [](unsigned a, unsigned b) { return a < b; };
  for (std::size_t size = 0; size < 70; ++size) {
    growing_array<unsigned> numbers;
    for (std::size_t i = 0; i < size; ++i) numbers.push_back(static_cast<unsigned>(random() % 50));
    std::vector<unsigned> expected = values_of(numbers);
    std::sort(expected.begin(), expected.end());
    sort_by(numbers, less);
    ASSERT_EQ(values_of(numbers), expected);
  }
}

TEST(growing_array, heaps_give_the_largest_first) {
  std::minstd_rand random(2);
  const auto less = [](unsigned a, unsigned b) { return a < b; };
  growing_array<unsigned> heap;
  std::vector<unsigned> expected;  // sorted
  for (int i = 0; i < 2000; ++i) {
    if (heap.empty() || random() % 2 == 0) {
      const unsigned value = static_cast<unsigned>(random() % 100);
      push_to_heap(heap, value, less);
      expected.insert(std::upper_bound(expected.begin(), expected.end(), value), value);
    } else {
      ASSERT_EQ(pop_from_heap(heap, less), expected.back());
      expected.pop_back();
    }
  }
}

}  // namespace
