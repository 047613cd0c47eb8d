// SPDX-License-Identifier: MIT
// tests/region/job_test.cpp -- closures that travel by value, and those that stay where they are
#include <lockstep/detail/region/job.hpp>
#include <lockstep/member.hpp>
#include "loop/loop_crew.hpp"
#include "region/group.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace {

using lockstep::member;
using lockstep::detail::job;
using lockstep::detail::loop_share;

/// A member of eight that shares nothing: for functions that only ask for its rank.
struct lone_member {
  explicit lone_member(std::size_t rank, std::size_t size = 8) {
    own.belong_to(nullptr, &stop, rank);
    own.enter(size, 1);
  }
  lockstep::detail::stop_source stop;
  lockstep::detail::member_state own;
  lockstep::detail::member_access handle{own};
  member& self = handle.self;
};

/// A part of a loop that nobody else runs.
struct lone_share {
  explicit lone_share(std::size_t rank, std::uint32_t part = 0, std::uint32_t parts = 1)
      : which{1, 8, parts, rank, part}, self(stop, tickets, which) {}

  lockstep::detail::stop_source stop;
  lockstep::detail::atomic<std::size_t> tickets{0};
  lockstep::detail::loop_part which;
  loop_share self;
};

/// Calls a copy of the job made after the closure's own storage has been overwritten.
template <class Function>
void call_copy(Function& f, std::size_t rank) {
  job original = job::of<member>(f);
  job copy = original;
  lone_member who(rank);
  copy(who.self);
}

TEST(job, a_small_closure_travels_by_value) {
  std::size_t seen = 0;
  job travelling;
  {
    auto small = [&seen, add = std::size_t{100}](member& self) { seen = self.rank() + add; };
    travelling = job::of<member>(small);
    auto* const bytes = reinterpret_cast<unsigned char*>(&small);
    std::fill(bytes, bytes + sizeof small, static_cast<unsigned char>(0));
  }
  lone_member who(3);
  travelling(who.self);
  EXPECT_EQ(seen, 103u);
}

TEST(job, a_closure_that_fills_the_room_to_the_last_byte_travels_whole) {
  std::array<unsigned char, job::closure_size - sizeof(void*)> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<unsigned char>(i * 7);
  unsigned sum = 0;
  auto exact = [bytes, &sum](member&) {
    for (const unsigned char byte : bytes) sum += byte;
  };
  static_assert(sizeof exact == job::closure_size, "this test is about the exact fit");
  call_copy(exact, 0);
  unsigned expected = 0;
  for (const unsigned char byte : bytes) expected += byte;
  EXPECT_EQ(sum, expected);
}

TEST(job, a_closure_that_is_too_large_is_called_in_place) {
  std::array<std::size_t, 32> large{};
  large[31] = 5;
  std::size_t seen = 0;
  auto closure = [large, &seen](member& self) { seen = large[31] + self.rank(); };
  call_copy(closure, 2);
  EXPECT_EQ(seen, 7u);
}

TEST(job, a_mutable_closure_keeps_its_state_with_the_caller) {
  auto counting = [count = 0](member&) mutable { return ++count; };
  call_copy(counting, 0);
  call_copy(counting, 0);
  lone_member who(0, 1);
  EXPECT_EQ(counting(who.self), 3);
}

TEST(job, a_closure_with_a_destructor_is_called_in_place) {
  const std::string text = "a string too long for any small buffer of the library";
  std::size_t length = 0;
  auto closure = [text, &length](member&) { length = text.size(); };
  call_copy(closure, 0);
  EXPECT_EQ(length, text.size());
}

std::size_t last_rank = 0;
void plain_function(member& self) { last_rank = self.rank(); }

TEST(job, a_plain_function_and_a_const_closure_are_jobs_too) {
  call_copy(plain_function, 6);
  EXPECT_EQ(last_rank, 6u);
  const auto closure = [](member& self) { last_rank = self.rank() + 1; };
  call_copy(closure, 6);
  EXPECT_EQ(last_rank, 7u);
}

TEST(job, a_loop_travels_as_a_region_does) {
  std::size_t seen = 0;
  job copy;
  {
    auto small = [&seen](loop_share& me) { seen = me.block_of({0, 64}).first; };
    job original = job::of<loop_share>(small);
    copy = original;
    auto* const bytes = reinterpret_cast<unsigned char*>(&small);
    std::fill(bytes, bytes + sizeof small, static_cast<unsigned char>(0));
  }
  lone_share third_part_of_two(2, 3, 4);
  copy(third_part_of_two.self);
  EXPECT_EQ(seen, 22u) << "of 8 blocks of 8, cut in 4";
}

TEST(job, a_loop_that_does_not_travel_is_called_in_place) {
  struct counter {
    int calls = 0;
    void operator()(loop_share&) { ++calls; }
  } counting;
  job original = job::of<loop_share>(counting);
  job copy = original;
  lone_share who(0);
  copy(who.self);
  original(who.self);
  EXPECT_EQ(counting.calls, 2);
}

TEST(job, it_is_for_one_kind_of_region_or_the_other_by_what_it_was_assigned_for) {
  struct both {
    int* regions;
    int* loops;
    both(int* r, int* l) : regions(r), loops(l) {}
    void operator()(member&) const { ++*regions; }
    void operator()(loop_share&) const { ++*loops; }
  };
  int regions = 0, loops = 0;
  both f(&regions, &loops);
  job what;
  what.carry<loop_share>(f);
  lone_share share(1);
  what(share.self);
  what.carry<member>(f);
  lone_member who(1);
  what(who.self);
  EXPECT_EQ(regions, 1);
  EXPECT_EQ(loops, 1);
}

TEST(job, what_is_called_with_a_share_travels_by_the_same_rules) {
  const auto for_shares = [](loop_share&) {};
  const auto for_members = [](member&) {};
  using shares = decltype(for_shares);
  using members = decltype(for_members);
  static_assert(job::travels_as<shares, loop_share>() && !job::travels_as<shares, member>(), "");
  static_assert(job::travels_as<members>() && !job::travels_as<members, loop_share>(), "");
  std::array<unsigned char, job::closure_size + 1> bytes{};
  const auto large = [bytes](loop_share&) { return bytes[0]; };
  static_assert(!job::travels_as<decltype(large), loop_share>(), "");
  const auto counting = [count = 0](loop_share&) mutable { return ++count; };
  static_assert(!job::travels_as<decltype(counting), loop_share>(), "");
}

}  // namespace
