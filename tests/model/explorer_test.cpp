// SPDX-License-Identifier: MIT
// tests/model/explorer_test.cpp -- the explorer finds what it is there to find, and says how to see it again
#include "platform/system.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <new>
#include <string>

#include "model/scenario.hpp"

namespace lockstep::model {

using namespace detail;
namespace {

using detail::memory_order_acquire;
using detail::memory_order_relaxed;
using detail::memory_order_release;
using word = detail::wait_word;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

void wait_for_one(word& flag) {
  while (flag.load(memory_order_acquire) == 0) {
    detail::futex::wait(flag, 0, detail::no_deadline);
  }
}
void set_and_wake(word& flag) {
  flag.store(1, memory_order_release);
  detail::futex::wake_all(&flag);
}

TEST(explorer, finds_nothing_wrong_with_a_futex_used_well) {
  EXPECT_EQ(find_failure([] {
              word flag{0};
              int data = 0;
              threads({[&] {
                         data = 7;
                         set_and_wake(flag);
                       },
                       [&] {
                         wait_for_one(flag);
                         check(data == 7, "data");
                       }});
            }),
            "");
}

TEST(explorer, finds_the_wake_that_comes_before_the_sleep) {
  const std::string failure = find_failure([] {
    word flag{0}, sleepers{0};
    threads({[&] {
               flag.store(1, memory_order_release);
               if (sleepers.load(memory_order_relaxed) != 0) detail::futex::wake_all(&sleepers);
             },
             [&] {
               if (flag.load(memory_order_acquire) != 0) return;
               sleepers.store(1, memory_order_relaxed);
               detail::futex::wait(sleepers, 1, detail::no_deadline);
             }});
  });
  EXPECT_TRUE(contains(failure, "a wake-up is lost")) << failure;
  EXPECT_TRUE(contains(failure, "thread 2 sleeps on")) << failure;
  EXPECT_TRUE(contains(failure, "LOCKSTEP_MODEL_TRAIL=")) << failure;
}

TEST(explorer, finds_the_store_buffer_between_a_store_and_a_load) {
  const auto meet = [](bool fenced) {
    return find_failure([fenced] {
      word flag{0}, sleepers{0};
      threads({[&] {
                 flag.store(1, memory_order_release);
                 if (fenced) detail::thread_fence(detail::memory_order_seq_cst);
                 if (sleepers.load(memory_order_relaxed) == 0) return;
                 sleepers.store(2, memory_order_relaxed);
                 detail::futex::wake_all(&sleepers);
               },
               [&] {
                 sleepers.store(1, memory_order_relaxed);
                 if (fenced) detail::thread_fence(detail::memory_order_seq_cst);
                 if (flag.load(memory_order_acquire) != 0) return;
                 detail::futex::wait(sleepers, 1, detail::no_deadline);
               }});
    });
  };
  EXPECT_EQ(meet(true), "");
  EXPECT_TRUE(contains(meet(false), "a wake-up is lost"));
}

TEST(explorer, finds_plain_accesses_that_nothing_orders) {
  const std::string failure = find_failure([] {
    word flag{0};
    int data = 0;
    threads({[&] {
               data = 7;
               flag.store(1, memory_order_relaxed);
             },
             [&] {
               if (flag.load(memory_order_acquire) == 1) check(data == 7, "data");
             }});
  });
  EXPECT_TRUE(contains(failure, "a data race")) << failure;
}

/// Made by the first call in the process, by code: `given` is known then only.
int& kept_from_first_call(int given) {
  struct made_by_code {
    int value;
    explicit made_by_code(int of) : value(of) {}
  };
  static made_by_code all(given);
  return all.value;
}

TEST(explorer, knows_that_the_guard_of_a_static_orders_its_making_but_no_later_change) {
  int seen[2] = {};
  EXPECT_EQ(find_failure([&] {
              threads({[&] { seen[0] = kept_from_first_call(7); },
                       [&] { seen[1] = kept_from_first_call(7); }});
            }),
            "");
  EXPECT_EQ(seen[0] + seen[1], 14);
  const std::string failure = find_failure([] {
    threads({[] { kept_from_first_call(7) = 8; },
             [] { check(kept_from_first_call(7) != 0, "it has been made"); }});
  });
  EXPECT_TRUE(contains(failure, "a data race")) << failure;
}

TEST(explorer, finds_the_use_of_an_object_that_its_waiter_destroys) {
  const std::string failure = find_failure([] {
    mortal<word> flag(0u);
    threads({[&] {
               set_and_wake(*flag);
               flag->load(memory_order_relaxed);
             },
             [&] {
               wait_for_one(*flag);
               flag.destroy();
             }});
  });
  EXPECT_TRUE(contains(failure, "destr")) << failure;
}

TEST(explorer, allows_the_wake_on_the_address_of_an_object_that_is_gone) {
  EXPECT_EQ(find_failure([] {
              mortal<word> flag(0u);
              threads({[&] { set_and_wake(*flag); },
                       [&] {
                         wait_for_one(*flag);
                         flag.destroy();
                       }});
            }),
            "");
}

TEST(explorer, finds_an_object_that_is_passed_on_before_it_is_complete) {
  const std::string failure = find_failure([] {
    word there{0};
    const word* passed = nullptr;
    threads({[&] {
               const word own{3};
               passed = &own;
               there.store(1, memory_order_relaxed);
               while (there.load(memory_order_acquire) != 2) detail::polling_pause();
             },
             [&] {
               while (there.load(memory_order_relaxed) != 1) detail::polling_pause();
               passed->load(memory_order_relaxed);
               there.store(2, memory_order_release);
             }});
  });
  EXPECT_FALSE(failure.empty());
}

TEST(explorer, finds_threads_that_poll_for_ever) {
  const std::string failure = find_failure([] {
    word flag{0};
    threads({[&] {
      while (flag.load(memory_order_acquire) == 0) detail::polling_pause();
    }});
  });
  EXPECT_TRUE(contains(failure, "polls")) << failure;
}

TEST(explorer, lets_a_sleep_end_at_its_deadline_and_for_no_reason) {
  ghost early, on_time;
  EXPECT_EQ(find_failure([&] {
              word flag{0};
              threads({[&] {
                         detail::futex::wait(flag, 0, detail::no_deadline);
                         if (flag.load(memory_order_acquire) == 0) early.add(1);
                       },
                       [&] { set_and_wake(flag); },
                       [&] {
                         const std::uint64_t later = detail::monotonic_nanoseconds() + 1;
                         detail::futex::wait(flag, 0, later);
                         on_time.add(1);
                       }});
            }),
            "");
  EXPECT_GT(early.value(), 0);
  EXPECT_GT(on_time.value(), 0);
}

/// How many executions there are of two threads that change `one` or `other` three times each: 20 orders, each change being
/// a step.
int executions_of_three_steps_each(bool change_the_same) {
  explorer runs;
  exhaustive_search every;
  settings how;
  how.limits = {9, 0, 0};
  int executions = 0;
  for (; every.begin(); ++executions) {
    const outcome came = runs.execute(
        [=] {
          word one{0}, other{0};
          const auto thrice = [](word& own) {
            return [&own] { times(3, [&own](int) { own.fetch_add(1, memory_order_relaxed); }); };
          };
          threads({thrice(one), thrice(change_the_same ? one : other)});
        },
        every, how);
    EXPECT_TRUE(came.good) << came.failure;
  }
  return executions;
}

TEST(explorer, counts_every_interleaving_once) {
  EXPECT_EQ(executions_of_three_steps_each(true), 20);
}

TEST(explorer, does_not_go_on_from_a_state_that_it_knows) {
  EXPECT_LT(executions_of_three_steps_each(false), 20);
}

TEST(explorer, knows_states_that_differ_in_what_only_ghosts_see) {
  // The last of the steps decides, and no atomic tells which one it was.
  const auto last_is = [](int which) {
    plan by;
    by.budgets = {{9, 0, 0}};
    by.searches_at_random = false;
    return find_failure(
        [=] {
          word one{0}, other{0};
          ghost order;
          const auto step = [&order](word& own, int number) {
            return [&own, &order, number] {
              own.fetch_add(1, memory_order_relaxed);
              order.add(number - order.value());
              own.fetch_add(1, memory_order_relaxed);
            };
          };
          threads({step(one, 1), step(other, 2)});
          check(order.value() != which, "another is the last");
        },
        by);
  };
  EXPECT_NE(last_is(1), "");
  EXPECT_NE(last_is(2), "");
}

TEST(explorer, a_trail_is_the_same_as_text_and_repeats_the_failure) {
  const std::vector<std::uint8_t> trail = {0, 0, 0, 2, 1, 0, 5};
  EXPECT_EQ(to_text(trail), "0x3 2 1 0x1 5");
  EXPECT_EQ(to_trail(to_text(trail)), trail);

  const auto scenario = [] {
    word flag{0};
    threads({[&] { flag.fetch_add(1, memory_order_relaxed); },
             [&] { check(flag.load(memory_order_relaxed) == 0, "the load comes first"); }});
  };
  explorer one;
  exhaustive_search every;
  settings how;
  outcome first;
  while (first.good && every.begin()) first = one.execute(scenario, every, how);
  ASSERT_FALSE(first.good);
  for (int i = 0; i < 3; ++i) {
    replay again(every.trail());
    ASSERT_TRUE(again.begin());
    how.records = true;
    const outcome second = one.execute(scenario, again, how);
    EXPECT_EQ(second.failure, first.failure);
    EXPECT_FALSE(second.interleaving.empty());
  }
}

TEST(explorer, reports_a_failure_while_the_lock_of_a_queue_is_held) {
  const std::string failure = find_failure([] {
    const parking_lot::queue held(0);
    check(false, "for the report");
  });
  EXPECT_TRUE(contains(failure, "FAILURE: for the report")) << failure;
  EXPECT_FALSE(contains(failure, "crashed")) << failure;
}

TEST(explorer, reports_a_failure_while_a_thread_that_is_no_more_is_in_a_queue) {
  alignas(parked_thread) static unsigned char stack[sizeof(parked_thread)];
  const std::string failure = find_failure([] {
    {
      parking_lot::queue waiters(0);
      waiters.enter(*::new (stack) parked_thread());
    }
    std::memset(stack, 255, sizeof stack);
    check(false, "for the report");
  });
  EXPECT_TRUE(contains(failure, "FAILURE: for the report")) << failure;
  EXPECT_FALSE(contains(failure, "crashed")) << failure;
}

TEST(explorer, the_same_seed_makes_the_same_schedule) {
  explorer one;
  const auto run = [&one](std::uint64_t seed) {
    random_search some(seed, 1);
    some.begin();
    settings how;
    how.limits = {100, 100, 4};
    one.execute(
        [] {
          word x{0};
          const auto adds = [&x] { times(5, [&x](int) { x.fetch_add(1, memory_order_relaxed); }); };
          threads({adds, adds, adds});
        },
        some, how);
    return some.trail();
  };
  EXPECT_EQ(run(1), run(1));
  EXPECT_EQ(run(7), run(7));
  EXPECT_NE(run(1), run(2));
}

}  // namespace
}  // namespace lockstep::model
