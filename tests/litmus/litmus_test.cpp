// SPDX-License-Identifier: MIT
// tests/litmus/litmus_test.cpp -- the explorer's memory is that of the C++ model
//
// The classic small programs, each with exactly the outcomes that it may have. An outcome that the explorer wrongly
// forbids hides faults; one that it wrongly allows reports faults that are none. Left out are outcomes that need a load
// of a value stored later, or a store that enters the modification order before an older one (memory.hpp). Source
// [ALGLAVE14] for the programs and their names.
#include "platform/system.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

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

/// Everything that the program may return, over all its schedules.
outcomes all_of(const std::function<std::string()>& program,
                process_fence_kind fence = process_fence_kind::asymmetric) {
  outcomes found;
  plan by;
  by.budgets = {{6, 6, 1}};
  by.how.fence = fence;
  explore([&] { found.insert(program()); }, by);
  return found;
}

std::string text(unsigned a, unsigned b) { return std::to_string(a) + std::to_string(b); }

/// Store buffering: each thread stores to one word and then loads the other.
template <class First, class Second>
outcomes store_buffering(First between_first, Second between_second,
                         process_fence_kind fence = process_fence_kind::asymmetric) {
  return all_of(
      [&] {
        word x{0}, y{0};
        unsigned a = 9, b = 9;
        threads({[&] {
                   x.store(1, memory_order_release);
                   between_first();
                   a = y.load(memory_order_acquire);
                 },
                 [&] {
                   y.store(1, memory_order_release);
                   between_second();
                   b = x.load(memory_order_acquire);
                 }});
        return text(a, b);
      },
      fence);
}

void nothing() {}
void full() { thread_fence(memory_order_seq_cst); }
void light() { detail::fence_light(); }
void heavy() { detail::fence_heavy(); }

const outcomes all_four = {"00", "01", "10", "11"};
const outcomes not_both_stale = {"01", "10", "11"};

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
  const outcomes found = all_of([] {
    word x{0}, y{0};
    unsigned a = 9, b = 9;
    threads({[&] {
               x.exchange(1, memory_order_seq_cst);
               a = y.load(memory_order_relaxed);
             },
             [&] {
               y.fetch_add(1, memory_order_seq_cst);
               b = x.load(memory_order_acquire);
             }});
    return text(a, b);
  });
  EXPECT_EQ(found, all_four);
}

outcomes message_passing(std::memory_order store, std::memory_order load) {
  return all_of([&] {
    word data{0}, flag{0};
    unsigned a = 9, b = 9;
    threads({[&] {
               data.store(1, memory_order_relaxed);
               flag.store(1, store);
             },
             [&] {
               a = flag.load(load);
               b = data.load(memory_order_relaxed);
             }});
    return text(a, b);
  });
}

TEST(litmus, message_passing_needs_release_and_acquire) {
  EXPECT_EQ(message_passing(memory_order_release, memory_order_acquire),
            (outcomes{"00", "01", "11"}));
  EXPECT_EQ(message_passing(memory_order_relaxed, memory_order_acquire), all_four);
  EXPECT_EQ(message_passing(memory_order_release, memory_order_relaxed), all_four);
}

TEST(litmus, message_passing_by_fences_works_as_well) {
  const outcomes found = all_of([] {
    word data{0}, flag{0};
    unsigned a = 9, b = 9;
    threads({[&] {
               data.store(1, memory_order_relaxed);
               thread_fence(memory_order_release);
               flag.store(1, memory_order_relaxed);
             },
             [&] {
               a = flag.load(memory_order_relaxed);
               thread_fence(memory_order_acquire);
               b = data.load(memory_order_relaxed);
             }});
    return text(a, b);
  });
  EXPECT_EQ(found, (outcomes{"00", "01", "11"}));
}

TEST(litmus, a_read_modify_write_hands_on_what_the_release_before_it_carried) {
  const outcomes found = all_of([] {
    word data{0}, flag{0};
    unsigned a = 9, b = 9;
    threads({[&] {
               data.store(1, memory_order_relaxed);
               flag.store(1, memory_order_release);
             },
             [&] { flag.fetch_add(2, memory_order_relaxed); },
             [&] {
               a = flag.load(memory_order_acquire);
               b = data.load(memory_order_relaxed);
             }});
    return text(a, b);
  });
  EXPECT_EQ(found.count("30"), 0u);
  EXPECT_EQ(found.count("31"), 1u);
}

TEST(litmus, a_relaxed_store_ends_the_release_sequence) {
  const outcomes found = all_of([] {
    word data{0}, flag{0};
    unsigned a = 9, b = 9;
    threads({[&] {
               data.store(1, memory_order_relaxed);
               flag.store(1, memory_order_release);
               flag.store(2, memory_order_relaxed);
             },
             [&] {
               a = flag.load(memory_order_acquire);
               b = data.load(memory_order_relaxed);
             }});
    return text(a, b);
  });
  EXPECT_EQ(found.count("10"), 0u);
  EXPECT_EQ(found.count("20"), 1u);
}

TEST(litmus, loads_of_one_word_never_go_back_in_time) {
  const outcomes found = all_of([] {
    word x{0};
    unsigned a = 9, b = 9;
    threads({[&] { x.store(1, memory_order_relaxed); },
             [&] {
               a = x.load(memory_order_relaxed);
               b = x.load(memory_order_relaxed);
             }});
    return text(a, b);
  });
  EXPECT_EQ(found, (outcomes{"00", "01", "11"}));
}

TEST(litmus, what_is_passed_on_by_a_third_thread_stays_ordered) {
  const outcomes found = all_of([] {
    word x{0}, y{0};
    unsigned a = 9, b = 9, c = 9;
    threads({[&] { x.store(1, memory_order_relaxed); },
             [&] {
               a = x.load(memory_order_relaxed);
               y.store(1, memory_order_release);
             },
             [&] {
               b = y.load(memory_order_acquire);
               c = x.load(memory_order_relaxed);
             }});
    return std::to_string(a) + text(b, c);
  });
  EXPECT_EQ(found.count("110"), 0u);
  EXPECT_EQ(found.count("111"), 1u);
  EXPECT_EQ(found.count("010"), 1u);
}

outcomes independent_reads(void (*between)()) {
  return all_of([&] {
    word x{0}, y{0};
    unsigned a = 9, b = 9, c = 9, d = 9;
    threads({[&] { x.store(1, memory_order_release); }, [&] { y.store(1, memory_order_release); },
             [&] {
               a = x.load(memory_order_acquire);
               between();
               b = y.load(memory_order_acquire);
             },
             [&] {
               c = y.load(memory_order_acquire);
               between();
               d = x.load(memory_order_acquire);
             }});
    return text(a, b) + text(c, d);
  });
}

TEST(litmus, two_readers_may_see_two_stores_in_different_orders_unless_they_fence) {
  EXPECT_EQ(independent_reads(nothing).count("1010"), 1u);
  EXPECT_EQ(independent_reads(full).count("1010"), 0u);
}

}  // namespace
}  // namespace lockstep::model
