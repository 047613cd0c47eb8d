// SPDX-License-Identifier: MIT
// tests/litmus/litmus_test.cpp -- the explorer's memory is that of the C++ model
//
// The classic small programs, each with exactly the outcomes that it may have. An outcome that the explorer wrongly
// forbids hides faults; one that it wrongly allows reports faults that are none. Left out are outcomes that need a load
// of a value stored later, or a store that enters the modification order before an older one (memory.hpp). Source
// [ALGLAVE14] for the programs and their names.
#include "platform/system.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "model/explorer/explore.hpp"

namespace lockstep::model {

using namespace detail;
namespace {

using detail::memory_order_acq_rel;
using detail::memory_order_acquire;
using detail::memory_order_relaxed;
using detail::memory_order_release;
using detail::memory_order_seq_cst;
using detail::thread_fence;
using word = detail::wait_word;
using outcomes = std::set<std::string>;

/// What the threads of a program share, and what they have found.
struct memory {
  word x{0}, y{0};
  unsigned a = 9, b = 9, c = 9, d = 9;
};
using part = std::function<void(memory&)>;

/// All that a program of these threads may find in a and b, or in the first `found` of a to d, over all its schedules.
outcomes all_of(const std::vector<part>& parts, std::size_t found = 2,
                process_fence_kind fence = process_fence_kind::asymmetric) {
  outcomes all;
  plan by;
  by.budgets = {{6, 6, 1}};
  by.how.fence = fence;
  explore(
      [&] {
        memory of;
        std::vector<std::function<void()>> bodies;
        for (const part& each : parts) bodies.push_back([&] { each(of); });
        threads(bodies);
        std::string text;
        for (const unsigned each : {of.a, of.b, of.c, of.d}) text += std::to_string(each);
        all.insert(text.substr(0, found));
      },
      by);
  return all;
}

void nothing() {}
void full() { thread_fence(memory_order_seq_cst); }
void light() { detail::fence_light(); }
void heavy() { detail::fence_heavy(); }

/// Store buffering: each thread stores to one word and then loads the other.
outcomes store_buffering(void (*between_first)(), void (*between_second)(),
                         process_fence_kind fence = process_fence_kind::asymmetric) {
  return all_of({[=](memory& m) {
                   m.x.store(1, memory_order_release);
                   between_first();
                   m.a = m.y.load(memory_order_acquire);
                 },
                 [=](memory& m) {
                   m.y.store(1, memory_order_release);
                   between_second();
                   m.b = m.x.load(memory_order_acquire);
                 }},
                2, fence);
}

const outcomes all_four = {"00", "01", "10", "11"};
const outcomes not_both_stale = {"01", "10", "11"};
const outcomes in_order = {"00", "01", "11"};

TEST(litmus, store_buffering_may_miss_both_stores) {
  EXPECT_EQ(store_buffering(nothing, nothing), all_four);
}
TEST(litmus, store_buffering_with_one_fence_may_miss_both_stores) {
  EXPECT_EQ(store_buffering(full, nothing), all_four);
}
TEST(litmus, store_buffering_with_two_fences_does_not_miss_both) {
  EXPECT_EQ(store_buffering(full, full), not_both_stale);
}
TEST(litmus, store_buffering_with_the_asymmetric_pair_does_not_miss_both_FENCE_1) {
  EXPECT_EQ(store_buffering(light, heavy), not_both_stale);
  EXPECT_EQ(store_buffering(light, heavy, process_fence_kind::symmetric), not_both_stale);
}
TEST(litmus, store_buffering_with_two_light_fences_may_miss_both_stores) {
  EXPECT_EQ(store_buffering(light, light), all_four);
}
TEST(litmus, store_buffering_with_a_refused_heavy_fence_may_miss_both_stores) {
  EXPECT_EQ(store_buffering(light, heavy, process_fence_kind::refused), all_four);
}
TEST(litmus, a_seq_cst_read_modify_write_is_no_fence) {
  EXPECT_EQ(all_of({[](memory& m) {
                      m.x.exchange(1, memory_order_seq_cst);
                      m.a = m.y.load(memory_order_relaxed);
                    },
                    [](memory& m) {
                      m.y.fetch_add(1, memory_order_seq_cst);
                      m.b = m.x.load(memory_order_acquire);
                    }}),
            all_four);
}

/// Message passing, with x for the data and y for the flag: the flag is a, the data b.
part writes(std::memory_order store) {
  return [store](memory& m) {
    m.x.store(1, memory_order_relaxed);
    m.y.store(1, store);
  };
}
part reads(std::memory_order load) {
  return [load](memory& m) {
    m.a = m.y.load(load);
    m.b = m.x.load(memory_order_relaxed);
  };
}

TEST(litmus, message_passing_needs_release_and_acquire) {
  EXPECT_EQ(all_of({writes(memory_order_release), reads(memory_order_acquire)}), in_order);
  EXPECT_EQ(all_of({writes(memory_order_relaxed), reads(memory_order_acquire)}), all_four);
  EXPECT_EQ(all_of({writes(memory_order_release), reads(memory_order_relaxed)}), all_four);
}

TEST(litmus, message_passing_by_fences_works_as_well) {
  EXPECT_EQ(all_of({[](memory& m) {
                      m.x.store(1, memory_order_relaxed);
                      thread_fence(memory_order_release);
                      m.y.store(1, memory_order_relaxed);
                    },
                    [](memory& m) {
                      m.a = m.y.load(memory_order_relaxed);
                      thread_fence(memory_order_acquire);
                      m.b = m.x.load(memory_order_relaxed);
                    }}),
            in_order);
}

TEST(litmus, a_read_modify_write_hands_on_what_the_release_before_it_carried) {
  const outcomes found = all_of({writes(memory_order_release),
                                 [](memory& m) { m.y.fetch_add(2, memory_order_relaxed); },
                                 reads(memory_order_acquire)});
  EXPECT_EQ(found.count("30"), 0u);
  EXPECT_EQ(found.count("31"), 1u);
}

TEST(litmus, a_relaxed_store_ends_the_release_sequence) {
  const outcomes found = all_of({[](memory& m) {
                                   writes(memory_order_release)(m);
                                   m.y.store(2, memory_order_relaxed);
                                 },
                                 reads(memory_order_acquire)});
  EXPECT_EQ(found.count("10"), 0u);
  EXPECT_EQ(found.count("20"), 1u);
}

TEST(litmus, loads_of_one_word_never_go_back_in_time) {
  EXPECT_EQ(all_of({[](memory& m) { m.x.store(1, memory_order_relaxed); },
                    [](memory& m) {
                      m.a = m.x.load(memory_order_relaxed);
                      m.b = m.x.load(memory_order_relaxed);
                    }}),
            in_order);
}

TEST(litmus, what_is_passed_on_by_a_third_thread_stays_ordered) {
  const outcomes found = all_of({[](memory& m) { m.x.store(1, memory_order_relaxed); },
                                 [](memory& m) {
                                   m.a = m.x.load(memory_order_relaxed);
                                   m.y.store(1, memory_order_release);
                                 },
                                 [](memory& m) {
                                   m.b = m.y.load(memory_order_acquire);
                                   m.c = m.x.load(memory_order_relaxed);
                                 }},
                                3);
  EXPECT_EQ(found.count("110"), 0u);
  EXPECT_EQ(found.count("111"), 1u);
  EXPECT_EQ(found.count("010"), 1u);
}

outcomes independent_reads(void (*between)()) {
  return all_of({[](memory& m) { m.x.store(1, memory_order_release); },
                 [](memory& m) { m.y.store(1, memory_order_release); },
                 [=](memory& m) {
                   m.a = m.x.load(memory_order_acquire);
                   between();
                   m.b = m.y.load(memory_order_acquire);
                 },
                 [=](memory& m) {
                   m.c = m.y.load(memory_order_acquire);
                   between();
                   m.d = m.x.load(memory_order_acquire);
                 }},
                4);
}

TEST(litmus, two_readers_may_see_two_stores_in_different_orders_unless_they_fence) {
  EXPECT_EQ(independent_reads(nothing).count("1010"), 1u);
  EXPECT_EQ(independent_reads(full).count("1010"), 0u);
}

}  // namespace
}  // namespace lockstep::model
