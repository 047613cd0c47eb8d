// SPDX-License-Identifier: MIT
// tests/base/closures_test.cpp -- which functions may be copied to the members, and which are called where they are
#include <lockstep/detail/base/closures.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <memory>

namespace {

using lockstep::detail::is_callable;
using lockstep::detail::is_closure;
using lockstep::detail::may_be_copied;

int add_one(int i) { return i + 1; }

struct functor {
  int offset = 0;
  int operator()(int i) const { return i + offset; }
};
struct empty_functor {
  int operator()(int i) const { return i; }
  int operator()(double) const { return 0; }
};
struct with_constructor {
  explicit with_constructor(int by) : offset(by) {}
  int operator()(int i) const { return i + offset; }
  int offset;
};
/// Only its friends can make one: it is taken for a closure by mistake, as closures.hpp says.
class made_by_friends {
 public:
  int operator()(int i) const { return i + number_; }

 private:
  made_by_friends() = default;
  int number_ = 0;
};

template <class Function>
constexpr bool copied(const Function&) {
  return may_be_copied<Function>::value;
}

TEST(closures, may_be_copied_if_their_captures_are_trivially_copied) {
  int number = 3;
  EXPECT_TRUE(copied([] {}));
  EXPECT_TRUE(copied([number](int i) { return i + number; }));
  EXPECT_TRUE(copied([&number](int i) { return i + number; }));
  const auto constant = [number] { return number; };
  EXPECT_TRUE((may_be_copied<decltype(constant)>::value)) << "also if it is const";
}

TEST(closures, stay_where_they_are_if_a_copy_has_a_life_of_its_own) {
  const auto shared = std::make_shared<int>(1);
  EXPECT_FALSE(copied([shared] { return *shared; }));
  EXPECT_FALSE(copied([unique = std::make_unique<int>(1)] { return *unique; }));
}

TEST(closures, are_told_from_functors_functions_and_wrappers) {
  EXPECT_FALSE(copied(functor{1}));
  EXPECT_FALSE(copied(empty_functor{})) << "of several overloads the user's expression chooses";
  EXPECT_FALSE(copied(with_constructor(1)));
  EXPECT_FALSE(copied(&add_one));
  EXPECT_FALSE(copied(std::function<int(int)>(add_one)));
  EXPECT_FALSE((is_closure<functor>::value));
  EXPECT_TRUE((is_closure<made_by_friends>::value)) << "the one kind of type that is taken for one";
}

TEST(closures, is_callable_looks_at_const_reference_and_arguments) {
  const auto plain = [](int) {};
  auto changing = [n = 0]() mutable { return ++n; };
  EXPECT_TRUE((is_callable<decltype(plain)&, int>::value));
  EXPECT_FALSE((is_callable<decltype(plain)&>::value));
  EXPECT_FALSE((is_callable<decltype(plain)&, const char*>::value));
  EXPECT_TRUE((is_callable<decltype(changing)&>::value));
  EXPECT_FALSE((is_callable<const decltype(changing)&>::value));
  EXPECT_TRUE((is_callable<int (*)(int), short>::value));
}

}  // namespace
