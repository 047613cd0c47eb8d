// SPDX-License-Identifier: MIT
// tests/base/index_span_test.cpp -- SPAN-1 to SPAN-4 without a loop: types, lengths, limits, refusals
#include <lockstep/detail/base/index_span.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <list>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using lockstep::detail::are_numbers;
using lockstep::detail::are_positions;
using lockstep::detail::index_at;
using lockstep::detail::index_between;
using lockstep::detail::span_of;

enum small_enum : unsigned char { zero, four = 4 };
struct converts {
  operator int() const { return 5; }
};

template <class First, class Last, class Index>
constexpr bool counts_in = std::is_same<index_between<First, Last>, Index>::value;

TEST(index_span, SPAN_1_counts_in_the_common_type_of_the_bounds) {
  EXPECT_TRUE((counts_in<int, int, int>));
  EXPECT_TRUE((counts_in<int, std::size_t, std::size_t>));
  EXPECT_TRUE((counts_in<std::int64_t, std::int64_t, std::int64_t>));
  EXPECT_TRUE((counts_in<signed char, signed char, signed char>));
  EXPECT_TRUE((counts_in<int*, int*, int*>));
  EXPECT_TRUE((counts_in<std::vector<int>::iterator, std::vector<int>::iterator,
                         std::vector<int>::iterator>));
  EXPECT_TRUE((counts_in<int, small_enum, int>)) << "an enumeration as its promoted type";
  EXPECT_TRUE((counts_in<int, converts, int>)) << "an object as the number that it converts to";
}

TEST(index_span, SPAN_1_knows_numbers_from_positions_and_from_the_rest) {
  EXPECT_TRUE((are_numbers<int, unsigned>::value));
  EXPECT_FALSE((are_numbers<int*, int*>::value));
  EXPECT_TRUE((are_positions<int*, int*>::value));
  EXPECT_TRUE((are_positions<std::string::iterator, std::string::iterator>::value));
  EXPECT_FALSE((are_positions<std::list<int>::iterator, std::list<int>::iterator>::value));
  EXPECT_FALSE((are_positions<int, int>::value));
}

TEST(index_span, SPAN_2_is_empty_where_the_end_is_not_above_the_beginning_as_numbers) {
  EXPECT_EQ(span_of(3, 3).length, 0u);
  EXPECT_EQ(span_of(3, -3).length, 0u);
  EXPECT_EQ(span_of(0u, -3).length, 0u) << "not 2^32 - 3";
  EXPECT_EQ(span_of(std::size_t{7}, 2).length, 0u);
  std::vector<int> values(4);
  EXPECT_EQ(span_of(values.end(), values.begin()).length, 0u);
}

TEST(index_span, SPAN_3_reaches_the_limits_of_its_type) {
  using limits = std::numeric_limits<int>;
  const auto all = span_of(limits::min(), limits::max());
  EXPECT_EQ(all.first, limits::min());
  EXPECT_EQ(all.length, std::size_t{0xFFFFFFFF});
  EXPECT_EQ(index_at(all.first, all.length), limits::max());
  EXPECT_EQ(index_at(all.first, 0x80000000u), 0);

  using bytes = std::numeric_limits<signed char>;
  const auto small = span_of(bytes::min(), bytes::max());
  EXPECT_EQ(small.length, 255u);
  EXPECT_EQ(index_at(small.first, 255), bytes::max());

  const std::size_t most = std::numeric_limits<std::size_t>::max();
  EXPECT_EQ(span_of(most - most / 2, most).length, most / 2);
}

TEST(index_span, SPAN_6_says_that_an_unsigned_bound_has_passed_zero) {
  if (!lockstep::detail::diagnoses_misuse) GTEST_SKIP() << "misuse is not diagnosed";
  const std::vector<int> empty;
  EXPECT_THROW(span_of(std::size_t{0}, empty.size() - 1), std::invalid_argument);
}

TEST(index_span, SPAN_3_counts_positions_by_their_distance) {
  int numbers[5] = {};
  const auto span = span_of(numbers + 1, numbers + 5);
  EXPECT_EQ(span.length, 4u);
  EXPECT_EQ(index_at(span.first, 4), numbers + 5);
}

TEST(index_span, SPAN_4_refuses_a_first_below_0_with_an_end_of_an_unsigned_type) {
  EXPECT_THROW(span_of(-1, std::size_t{5}), std::invalid_argument);
  EXPECT_THROW(span_of(-1, 5u), std::invalid_argument);
  EXPECT_EQ(span_of(std::int64_t{-1}, 5u).length, 6u) << "the common type has that number";
  EXPECT_EQ(span_of(0, std::size_t{5}).length, 5u);
}

}  // namespace
