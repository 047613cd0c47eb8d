// SPDX-License-Identifier: MIT
// What programs see of thread_synchronizer.h besides the handshakes.
#include <thread_synchronizer.h>

// With std injected into the global namespace these names would be ambiguous where they are used,
// in no_name_of_std_is_injected.
struct vector {};
struct mutex {};
struct thread {};

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "compat/original_style.hpp"

namespace {

using std::size_t;

template <class Class>
class counted : public testing::Test {};
using counted_classes = testing::Types<WaitNotifyMultipleWaiters, WaitNotifyMultipleNotifiers,
                                       WaitNotifyNxN, WaitNotifyEachOther>;
TYPED_TEST_SUITE(counted, counted_classes);

TYPED_TEST(counted, a_number_below_one_is_refused) {
  EXPECT_THROW(TypeParam(0), std::invalid_argument);
  EXPECT_THROW(TypeParam(-1), std::invalid_argument);
}

TYPED_TEST(counted, is_made_from_an_int_without_ceremony_and_is_not_copied) {
  static_assert(std::is_convertible<int, TypeParam>::value, "the constructor is not explicit");
  static_assert(!std::is_copy_constructible<TypeParam>::value, "");
  static_assert(!std::is_copy_assignable<TypeParam>::value, "");
}

TEST(WaitNotifySingle, is_made_from_nothing_and_is_not_copied) {
  static_assert(!std::is_copy_constructible<WaitNotifySingle>::value, "");
  static_assert(!std::is_copy_assignable<WaitNotifySingle>::value, "");
  WaitNotifySingle plain, braced{}, copied_braces = {};
  const std::unique_ptr<WaitNotifySingle> on_the_heap(new WaitNotifySingle);
  std::vector<WaitNotifySingle> many(3);
  for (WaitNotifySingle& each : many) EXPECT_FALSE(each.isTerminating());
  for (WaitNotifySingle* each : {&plain, &braced, &copied_braces, on_the_heap.get()}) {
    EXPECT_FALSE(each->isTerminating());
  }
}

template <class Object, class Call>
void expect_out_of_range(Call call) {
  for (const int id : {-1, 3, 1000}) {
    Object object(3);
    EXPECT_THROW(call(object, id), std::out_of_range) << id;
  }
}

TEST(thread_id, outside_of_the_group_is_refused) {
  expect_out_of_range<WaitNotifyMultipleWaiters>([](auto& object, int id) { object.wait(id); });
  expect_out_of_range<WaitNotifyNxN>([](auto& object, int id) { object.wait(id); });
  expect_out_of_range<WaitNotifyEachOther>([](auto& object, int id) { object.syncThreads(id); });
}

TEST(namespaces, no_name_of_std_is_injected) {
  const vector own_vector{};
  const mutex own_mutex{};
  const thread own_thread{};
  (void)own_vector, (void)own_mutex, (void)own_thread;
}

TEST(original_style, binary_oscillator_alternates) {
  const std::vector<std::string> lines = original_style::binary_oscillator(20);
  ASSERT_EQ(lines.size(), 40u);
  for (size_t i = 0; i < lines.size(); ++i) EXPECT_EQ(lines[i], i % 2 == 0 ? "task 1" : "task 2");
}

TEST(original_style, cycle_scheduler_runs_its_tasks_in_turn) {
  const std::vector<std::string> lines = original_style::cycle_scheduler(5, 10);
  ASSERT_EQ(lines.size(), 50u);
  for (size_t i = 0; i < lines.size(); ++i) {
    EXPECT_EQ(lines[i], "task " + std::to_string(i % 5) + " cycle  " + std::to_string(i / 5));
  }
}

TEST(original_style, parallel_scheduler_aligns_its_tasks_at_both_parts) {
  const std::vector<std::string> lines = original_style::parallel_scheduler(3, 10);
  ASSERT_EQ(lines.size(), 10u * 4 * 2 * 3);
  for (size_t i = 0; i < lines.size(); ++i) {
    const size_t part = i / 3 % 2 + 1, inner = i / 6 % 4, outer = i / 24;
    const std::string where = " part " + std::to_string(part) + " inner " + std::to_string(inner) +
                              " outer " + std::to_string(outer);
    EXPECT_NE(lines[i].find(where), std::string::npos) << lines[i] << " at " << i;
  }
}

}  // namespace
