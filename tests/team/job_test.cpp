// SPDX-License-Identifier: MIT
// tests/team/job_test.cpp -- closures that travel by value, and those that stay where they are
#include <lockstep/team/job.hpp>
#include <lockstep/team/member.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <string>
#include <vector>

namespace {

using lockstep::job;
using lockstep::member;

/// A member of eight that shares nothing: for functions that only ask for its rank.
struct lone_member {
  explicit lone_member(std::size_t rank, std::size_t size = 8) {
    own.place.rank = rank;
    own.place.size = size;
  }
  lockstep::stop_source stop;
  lockstep::member_state own;
  member self{lockstep::seat(own, stop)};
};

/// Calls a copy of the job made after the closure's own storage has been overwritten.
template <class Function>
void call_copy(Function& f, std::size_t rank) {
  job original;
  original.assign(f);
  job copy = original;
  lone_member who(rank);
  copy(who.self);
}

TEST(job, a_small_closure_travels_by_value) {
  std::size_t seen = 0;
  job travelling;
  {
    auto small = [&seen, add = std::size_t{100}](member& self) { seen = self.rank() + add; };
    travelling.assign(small);
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

}  // namespace
