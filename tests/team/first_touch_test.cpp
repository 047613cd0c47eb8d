// SPDX-License-Identifier: MIT
// tests/team/first_touch_test.cpp -- TOUCH-1 to TOUCH-3: which member makes which element, once, and what an exception
// leaves
#include <lockstep/first_touch.hpp>

#include <lockstep/external_team.hpp>
#include <lockstep/team.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/effort.hpp"

namespace {

using lockstep::first_touch;
using lockstep::first_touch_array;
using lockstep::index_range;
using lockstep::member;
using lockstep::static_block;
using lockstep::team;

static_assert(!std::is_copy_constructible<first_touch_array<int>>::value, "not copyable");
static_assert(std::is_nothrow_move_constructible<first_touch_array<int>>::value, "movable");
static_assert(std::is_nothrow_move_assignable<first_touch_array<int>>::value, "movable");

/// Notes which thread made it.
struct stamped {
  std::thread::id by = std::this_thread::get_id();
  int value = 7;
};

std::vector<std::thread::id> threads_of(team& of) {
  std::vector<std::thread::id> ids(of.size());
  of.run([&](member& me) { ids[me.rank()] = std::this_thread::get_id(); });
  return ids;
}

TEST(first_touch, each_element_is_made_by_the_member_that_has_it_in_static_loops_TOUCH_1) {
  for (const std::size_t members : {1u, 2u, 3u, 9u}) {
    team some(members);
    const std::vector<std::thread::id> ids = threads_of(some);
    for (const std::size_t count : {0u, 1u, 2u, 8u, 1000u}) {
      const first_touch_array<stamped> all(some, count);
      ASSERT_EQ(all.size(), count);
      for (std::size_t rank = 0; rank < members; ++rank) {
        const index_range mine = static_block(0, count, rank, members);
        for (std::size_t i = mine.first; i < mine.last; ++i) {
          ASSERT_EQ(all[i].by, ids[rank]) << i << " of " << count << ", " << members << " members";
        }
      }
      some.run([&](member& me) {
        me.for_each(0, count, [&](std::size_t) {});  // the loop itself has the same blocks
        me.for_range(lockstep::nowait, 0, count, [&](std::size_t first, std::size_t last) {
          const index_range mine = static_block(0, count, me.rank(), me.size());
          EXPECT_TRUE(first == mine.first && last == mine.last);
        });
      });
    }
  }
}

TEST(first_touch, elements_are_value_initialised_or_copies) {
  team three(3);
  const first_touch_array<int> zeros(three, 100);
  const first_touch_array<int> sevens(three, 100, 7);
  const first_touch_array<std::string> texts(three, 5, std::string(40, 'x'));
  for (const int each : zeros) EXPECT_EQ(each, 0);
  for (const int each : sevens) EXPECT_EQ(each, 7);
  for (const std::string& each : texts) EXPECT_EQ(each, std::string(40, 'x'));
  std::vector<double> raw(10, 1.0);  // no objects that need a destructor
  first_touch(three, raw.data(), raw.size());
  EXPECT_EQ(raw, std::vector<double>(10, 0.0));
  first_touch(three, raw.data(), 5, 2.5);
  EXPECT_EQ(raw[4], 2.5);
  EXPECT_EQ(raw[5], 0.0);
}

TEST(first_touch, types_need_no_more_than_a_constructor) {
  struct alignas(512) wide {
    wide() = default;
    wide(const wide&) = delete;
    unsigned char bytes[600] = {1};
  };
  team two(2);
  const first_touch_array<wide> all(two, 7);
  for (const wide& each : all) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&each) % alignof(wide), 0u);
    EXPECT_EQ(each.bytes[0], 1);
  }
  first_touch_array<std::unique_ptr<int>> owners(two, 3);
  owners[2].reset(new int(3));
  const first_touch_array<char> chars(two, 3);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(chars.data()) % lockstep::detail::cache_line_size, 0u);
}

TEST(first_touch, an_array_without_elements_has_no_memory) {
  team two(2);
  first_touch_array<std::string> none(two, 0);
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(none.data(), nullptr);
  EXPECT_EQ(none.begin(), none.end());
  EXPECT_TRUE(first_touch_array<int>().empty());
  first_touch(two, static_cast<int*>(nullptr), 0);
}

TEST(first_touch, arrays_move_and_swap) {
  team two(2);
  first_touch_array<std::string> a(two, 3, "a"), b(two, 2, "b");
  const std::string* const first = a.data();
  first_touch_array<std::string> c(std::move(a));
  EXPECT_EQ(c.data(), first);
  EXPECT_TRUE(a.empty());
  a = std::move(c);
  EXPECT_EQ(a.size(), 3u);
  swap(a, b);
  EXPECT_EQ(a.size(), 2u);
  EXPECT_EQ(b[2], "a");
  b = first_touch_array<std::string>();
  EXPECT_TRUE(b.empty());
}

/// Counts the living objects. Construction throws at one index, or at two.
struct fragile {
  static std::atomic<int> living, made;
  static std::atomic<const fragile*> first, second;

  fragile() {
    if (this == first.load() || this == second.load()) throw std::runtime_error("fragile");
    ++living;
    ++made;
  }
  ~fragile() { --living; }
  int ballast = 1;
};
std::atomic<int> fragile::living{0}, fragile::made{0};
std::atomic<const fragile*> fragile::first{nullptr}, fragile::second{nullptr};

TEST(first_touch, after_an_exception_no_element_is_left_TOUCH_2) {
  constexpr std::size_t count = 50;
  const auto memory = std::make_unique<unsigned char[]>((count + 1) * sizeof(fragile));
  fragile* const raw = reinterpret_cast<fragile*>(memory.get());
  for (const std::size_t members : {1u, 2u, 3u, 9u}) {
    team some(members);
    for (std::size_t at = 0; at < count; at += 7) {
      fragile::first = raw + at;
      fragile::second = raw + count - 1 - at;
      EXPECT_THROW(first_touch(some, raw, count), std::runtime_error);
      ASSERT_EQ(fragile::living.load(), 0) << at << ", " << members << " members";
    }
    fragile::first = fragile::second = nullptr;
    fragile::made = 0;
    {
      const first_touch_array<fragile> whole(some, count);
      EXPECT_EQ(fragile::living.load(), static_cast<int>(count));
    }
    EXPECT_EQ(fragile::made.load(), static_cast<int>(count)) << "the team is usable, TOUCH-1";
    EXPECT_EQ(fragile::living.load(), 0);
  }
}

struct stopping {
  static team* stopped;
  static std::atomic<int> made;
  stopping() {
    if (made++ == 3) stopped->request_stop();
  }
};
team* stopping::stopped = nullptr;
std::atomic<int> stopping::made{0};

TEST(first_touch, a_stop_of_the_region_leaves_nothing_out_TOUCH_1) {
  for (const std::size_t members : {1u, 2u, 9u}) {
    team some(members);
    stopping::stopped = &some;
    stopping::made = 0;
    const first_touch_array<stopping> all(some, 100);
    EXPECT_EQ(stopping::made.load(), 100);
  }
}

TEST(first_touch, inside_a_region_of_the_team_the_caller_makes_all) {
  team two(2);
  two.run([&](member& me) {
    const std::thread::id own = std::this_thread::get_id();
    const first_touch_array<stamped> all(two, 10 + me.rank());
    for (const stamped& each : all) EXPECT_EQ(each.by, own);
  });
}

TEST(first_touch, threads_of_the_users_touch_as_well) {
  lockstep::external_team two(2);
  std::thread::id other;
  std::thread yours([&] {
    other = std::this_thread::get_id();
    two.serve(1);
  });
  const first_touch_array<stamped> all(two, 4);
  two.release();
  yours.join();
  EXPECT_EQ(all[1].by, std::this_thread::get_id());
  EXPECT_EQ(all[2].by, other);
}

TEST(first_touch, elements_are_destroyed_the_last_one_first_TOUCH_3) {
  static std::vector<int> order;
  struct noted {
    int number = 0;
    ~noted() { order.push_back(number); }
  };
  team two(2);
  {
    first_touch_array<noted> all(two, 4);
    for (int i = 0; i < 4; ++i) all[static_cast<std::size_t>(i)].number = i;
  }
  EXPECT_EQ(order, (std::vector<int>{3, 2, 1, 0}));
}

TEST(first_touch, more_elements_than_memory_are_bad_alloc) {
  if (lockstep::test::is_sanitized) GTEST_SKIP() << "it ends the program instead";
  team two(2);
  EXPECT_THROW(first_touch_array<double>(two, SIZE_MAX / 4), std::bad_alloc);
  EXPECT_THROW(first_touch_array<double>(two, SIZE_MAX), std::bad_alloc);
}

}  // namespace
