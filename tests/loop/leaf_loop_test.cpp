// SPDX-License-Identifier: MIT
// tests/loop/leaf_loop_test.cpp -- LEAF-1 and LEAF-2: which function is called, with what, and on which object
#include <lockstep/detail/loop/leaf_loop.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace {

namespace leaf {
/// f(i) for all of [first, last), by a leaf.
template <class Index, class Function>
void loop(Index first, Index last, Function& f) {
  const auto span = lockstep::detail::span_of(first, last);
  const auto each = lockstep::detail::each_of(span, f);
  const lockstep::detail::range_body body(each);
  body(0, span.length);
}
}  // namespace leaf

template <class Index, class Function>
std::vector<Index> visited(Index first, Index last, Function note) {
  std::vector<Index> seen;
  const auto f = [&](Index i) {
    seen.push_back(i);
    note();
  };
  leaf::loop(first, last, f);
  return seen;
}

TEST(leaf_loop, calls_with_every_index_in_order_up_to_the_limits_of_its_type_LL1) {
  const auto nothing = [] {};
  EXPECT_EQ(visited(3, 6, nothing), (std::vector<int>{3, 4, 5}));
  EXPECT_EQ(visited(-2, 1, nothing), (std::vector<int>{-2, -1, 0}));
  EXPECT_TRUE(visited(5, 5, nothing).empty());
  EXPECT_TRUE(visited(5, 4, nothing).empty());
  constexpr std::int8_t most = std::numeric_limits<std::int8_t>::max();
  EXPECT_EQ(visited<std::int8_t>(most - 2, most, nothing), (std::vector<std::int8_t>{125, 126}));
}

struct constant {
  int value = 0;
  void operator()(int) const {}
};

struct counting {
  std::size_t calls = 0;
  void operator()(std::size_t) { ++calls; }
};

TEST(leaf_loop, an_object_of_the_users_class_is_called_itself_LL2) {
  counting f;
  leaf::loop(std::size_t{0}, std::size_t{10}, f);
  EXPECT_EQ(f.calls, 10u);
}

TEST(leaf_loop, a_closure_that_changes_itself_is_called_itself_LL2) {
  std::size_t last = 0;
  auto f = [calls = std::size_t{0}, &last](std::size_t) mutable { last = ++calls; };
  leaf::loop(std::size_t{0}, std::size_t{4}, f);
  leaf::loop(std::size_t{0}, std::size_t{4}, f);
  EXPECT_EQ(last, 8u);
}

TEST(leaf_loop, closures_of_any_size_are_called_LL2) {
  const std::array<int, 64> large = {7};
  int sum = 0;
  const auto f = [large, &sum](int i) { sum += large[0] + i; };
  leaf::loop(0, 3, f);
  EXPECT_EQ(sum, 24);
}

int calls_of_function = 0;
void plain_function(int) { ++calls_of_function; }

TEST(leaf_loop, plain_functions_are_called) {
  leaf::loop(0, 5, plain_function);
  EXPECT_EQ(calls_of_function, 5);
}

TEST(leaf_loop, an_exception_ends_it) {
  int calls = 0;
  const auto f = [&](int i) {
    ++calls;
    if (i == 2) throw i;
  };
  EXPECT_THROW(leaf::loop(0, 5, f), int);
  EXPECT_EQ(calls, 3);
}

TEST(leaf_loop, independent_iterations_are_each_run_once_whatever_the_compiler_makes_of_them_IN1) {
  std::vector<int> x(1000), y(1000, -1);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<int>(i);
  for (const std::size_t n : {0u, 1u, 7u, 64u, 999u}) {
    std::vector<int> expected = y;
    for (std::size_t i = 0; i < n; ++i) expected[i] = 3 * x[i] + expected[i];
    const auto f = lockstep::independent(
        [from = x.data(), to = y.data()](std::size_t i) { to[i] = 3 * from[i] + to[i]; });
    leaf::loop(std::size_t{0}, n, f);
    EXPECT_EQ(y, expected) << n;
  }
}

TEST(leaf_loop, independent_functions_are_copied_where_they_would_be_without_it_IN2) {
  const auto small = [](int) {};
  const auto independent = lockstep::independent(small);
  static_assert(lockstep::detail::may_be_copied<decltype(independent)>::value, "a closure inside");
  static_assert(!lockstep::detail::may_be_copied<lockstep::independent_iterations<constant>>::value,
                "an object of the user's class is called itself");
  int calls = 0;
  const auto counts = lockstep::independent([&calls](int) { ++calls; });
  leaf::loop(0, 5, counts);
  EXPECT_EQ(calls, 5);
}

}  // namespace
