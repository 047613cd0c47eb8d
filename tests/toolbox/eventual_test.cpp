// SPDX-License-Identifier: MIT
// tests/toolbox/eventual_test.cpp -- one value, set once, read by many
#include <lockstep/eventual.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "support/message_of.hpp"
#include "support/policies.hpp"

namespace {

using lockstep::eventual;
using lockstep::wait_status;
using lockstep::test::message_of;

static_assert(sizeof(eventual<void>) == 8 + sizeof(std::exception_ptr), "packed");
static_assert(!std::is_copy_constructible<eventual<int>>::value, "not copyable");
static_assert(!std::is_move_constructible<eventual<int>>::value, "not movable");

constinit eventual<std::string> static_eventual;

std::exception_ptr error_with(const char* text) {
  return std::make_exception_ptr(std::runtime_error(text));
}

TEST(eventual, a_static_one_is_empty_until_set_and_again_after_reset) {
  for (const char* text : {"first", "second, too long to be stored in the string itself"}) {
    EXPECT_FALSE(static_eventual.is_ready());
    EXPECT_FALSE(static_eventual.try_wait());
    EXPECT_EQ(static_eventual.wait_for(std::chrono::nanoseconds(1)), wait_status::timed_out);
    EXPECT_EQ(static_eventual.wait_until(std::chrono::system_clock::now()), wait_status::timed_out);
    static_eventual.set_value(text);
    EXPECT_TRUE(static_eventual.is_ready());
    EXPECT_TRUE(static_eventual.try_wait());
    EXPECT_EQ(static_eventual.wait_for(std::chrono::seconds(0)), wait_status::ready);
    EXPECT_EQ(static_eventual.get(), text);
    static_eventual.reset();
  }
}

TEST(eventual, EVENTUAL_1_setting_it_again_fails_by_name_and_changes_nothing) {
  const std::string text = "lockstep::eventual: set a second time; call reset() between two values";
  eventual<int> value;
  value.set_value(1);
  EXPECT_EQ(message_of([&] { value.set_value(2); }), text);
  EXPECT_EQ(message_of([&] { value.emplace(2); }), text);
  EXPECT_EQ(message_of([&] { value.set_exception(error_with("late")); }), text);
  EXPECT_EQ(value.get(), 1);
  eventual<void> failed;
  failed.set_exception(error_with("first"));
  EXPECT_THROW(failed.set_value(), std::logic_error);
  EXPECT_EQ(message_of([&] { failed.get(); }), "first");
}

TEST(eventual, an_exception_is_thrown_by_every_get_and_by_no_wait) {
  eventual<std::string> value;
  EXPECT_THROW(value.set_exception(nullptr), std::invalid_argument);
  EXPECT_FALSE(value.is_ready());
  value.set_exception(error_with("bad"));
  value.wait();
  EXPECT_EQ(message_of([&] { value.get(); }), "bad");
  EXPECT_EQ(message_of([&] { value.get(); }), "bad");
  value.reset();
  value.set_value("good");
  EXPECT_EQ(value.get(), "good");
}

struct throws_on_zero {
  explicit throws_on_zero(int of) : value(of) {
    if (of == 0) throw std::runtime_error("zero");
  }
  int value;
};

TEST(eventual, EVENTUAL_3_a_constructor_that_throws_leaves_it_empty_for_the_next_setter) {
  eventual<throws_on_zero> value;
  EXPECT_EQ(message_of([&] { value.emplace(0); }), "zero");
  EXPECT_FALSE(value.is_ready());
  value.emplace(7);
  EXPECT_EQ(value.get().value, 7);
}

TEST(eventual, the_value_is_destroyed_once_by_reset_or_with_the_eventual) {
  const auto watched = std::make_shared<int>(1);
  {
    eventual<std::shared_ptr<int>> value;
    value.set_value(watched);
    EXPECT_EQ(watched.use_count(), 2);
    value.reset();
    EXPECT_EQ(watched.use_count(), 1);
    value.emplace(watched);
  }
  EXPECT_EQ(watched.use_count(), 1);
}

/// Can only be moved, and throws at a move when it is told to.
struct heavy {
  std::unique_ptr<int> value;
  static inline bool refuses = false;

  explicit heavy(int of) : value(new int(of)) {}
  heavy(heavy&& other) : value() {
    if (refuses) throw std::runtime_error("refused");
    value = std::move(other.value);
  }
};

TEST(eventual, EVENTUAL_5_a_value_is_taken_once_and_not_read_afterwards) {
  eventual<std::unique_ptr<int>> box;
  for (int i = 0; i < 3; ++i) {
    box.set_value(std::make_unique<int>(i));
    EXPECT_EQ(*box.get(), i);
    const std::unique_ptr<int> taken = box.take();
    EXPECT_EQ(*taken, i);
    EXPECT_THROW(box.take(), std::logic_error);
    EXPECT_THROW(box.get(), std::logic_error);
    EXPECT_THROW(box.set_value(nullptr), std::logic_error);
    EXPECT_TRUE(box.is_ready());
    box.wait();
    box.reset();
  }
  EXPECT_EQ(message_of([&] {
              box.set_value(nullptr);
              box.take();
              box.get();
            }),
            "lockstep::eventual: get or take after its value was taken; one thread takes, any "
            "number get");
}

TEST(eventual, EVENTUAL_5_nothing_is_taken_once_as_well) {
  eventual<void> signal;
  signal.set_value();
  signal.get();
  signal.take();
  EXPECT_THROW(signal.take(), std::logic_error);
  EXPECT_THROW(signal.get(), std::logic_error);
}

TEST(eventual, EVENTUAL_5_an_exception_is_thrown_by_every_take) {
  eventual<std::unique_ptr<int>> box;
  box.set_exception(error_with("no value"));
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(message_of([&] { box.take(); }), "no value");
    EXPECT_EQ(message_of([&] { box.get(); }), "no value");
  }
}

TEST(eventual, EVENTUAL_5_a_move_that_throws_leaves_the_value_for_the_next_taker) {
  eventual<heavy> box;
  box.emplace(7);
  heavy::refuses = true;
  EXPECT_EQ(message_of([&] { box.take(); }), "refused");
  heavy::refuses = false;
  EXPECT_EQ(*box.get().value, 7);
  EXPECT_EQ(*box.take().value, 7);
}

}  // namespace
