// SPDX-License-Identifier: MIT
// tests/trace/names_test.cpp -- NAMED-1 to NAMED-3: names are given, changed, taken away, read meanwhile, and kept
#include <lockstep/named_object.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "fault/child_process.hpp"
#include "trace/names.hpp"

namespace {

using lockstep::name_object;
using lockstep::named_object;
using lockstep::detail::object_name;
using lockstep::detail::object_names;

std::string name_of(const void* object) {
  object_name found = {};
  return object_names::find(object, found) ? found.text : "";
}

TEST(object_names, NAMED_1_a_name_stays_until_it_is_changed_or_taken_away) {
  const int a = 0, b = 0;
  EXPECT_EQ(name_of(&a), "");
  EXPECT_TRUE(name_object(&a, "a"));
  EXPECT_TRUE(name_object(&b, "b"));
  EXPECT_EQ(name_of(&a), "a");
  EXPECT_EQ(name_of(&b), "b");
  EXPECT_TRUE(name_object(&a, "another"));
  EXPECT_EQ(name_of(&a), "another");
  EXPECT_TRUE(name_object(&a, nullptr));
  EXPECT_EQ(name_of(&a), "");
  EXPECT_EQ(name_of(&b), "b");
  EXPECT_TRUE(name_object(&b, ""));
  EXPECT_TRUE(name_object(&b, ""));
  EXPECT_EQ(name_of(&b), "");
}

TEST(object_names, NAMED_1_a_named_object_takes_its_name_away) {
  const int object = 0;
  {
    const named_object named(&object, "for now");
    EXPECT_EQ(name_of(&object), "for now");
  }
  EXPECT_EQ(name_of(&object), "");
}

TEST(object_names, no_object_has_no_name_and_long_names_are_cut) {
  EXPECT_FALSE(name_object(nullptr, "nothing"));
  EXPECT_EQ(name_of(nullptr), "");
  const std::string name(100, 'x');
  const int object = 0;
  const named_object named(&object, name.c_str());
  EXPECT_EQ(name_of(&object), name.substr(0, 47));
}

TEST(object_names, many_objects_have_names_of_their_own_and_places_are_used_again) {
  std::vector<int> objects(1000);
  for (int round = 0; round < 3; ++round) {
    for (std::size_t i = 0; i < objects.size(); ++i) {
      ASSERT_TRUE(name_object(&objects[i], std::to_string(i).c_str()));
    }
    for (std::size_t i = 0; i < objects.size(); ++i) {
      ASSERT_EQ(name_of(&objects[i]), std::to_string(i));
    }
    for (const int& each : objects) name_object(&each, nullptr);
    for (const int& each : objects) ASSERT_EQ(name_of(&each), "");
  }
}

TEST(object_names, NAMED_2_threads_name_and_read_at_the_same_time) {
  const int shared = 0;
  std::atomic<bool> ends{false};
  std::thread reader([&] {
    while (!ends) {
      const std::string name = name_of(&shared);
      EXPECT_TRUE(name == "" || name == "one" || name == "the other") << name;
    }
  });
  std::vector<std::thread> writers;
  for (const char* const name : {"one", "the other"}) {
    writers.emplace_back([&shared, name] {
      for (int i = 0; i < 2000; ++i) {
        const int own = 0;
        const named_object named(&own, name);
        name_object(&shared, i % 3 == 0 ? nullptr : name);
        EXPECT_EQ(name_of(&own), name);
      }
    });
  }
  for (std::thread& each : writers) each.join();
  ends = true;
  reader.join();
  name_object(&shared, nullptr);
}

TEST(object_names,
     NAMED_3_a_child_has_the_names_and_may_change_them_though_another_thread_was_naming) {
  const int object = 0;
  const named_object named(&object, "parent's");
  std::atomic<bool> ends{false};
  std::thread writer([&] {
    const int other = 0;
    while (!ends) const named_object now(&other, "other");
  });
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(lockstep::test::in_child([&] {
                if (name_of(&object) != "parent's") return 1;
                const int own = 0;
                const named_object again(&own, "child's");
                return name_of(&own) == "child's" ? 0 : 2;
              }),
              0);
  }
  ends = true;
  writer.join();
}

}  // namespace
