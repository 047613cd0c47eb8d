// SPDX-License-Identifier: MIT
// tests/model/once_model_test.cpp -- latch, eventual, future_set under all schedules
#include <lockstep/eventual.hpp>
#include <lockstep/future_set.hpp>
#include <lockstep/latch.hpp>

#include "model/scenario.hpp"

namespace lockstep::model {
namespace {

class latch_model : public model_test {};
class eventual_model : public model_test {};
class future_set_model : public model_test {};
INSTANTIATE_TEST_SUITE_P(policies, latch_model, testing::ValuesIn(policies()), setting_name);
INSTANTIATE_TEST_SUITE_P(policies, eventual_model, testing::ValuesIn(policies()), setting_name);
INSTANTIATE_TEST_SUITE_P(policies, future_set_model, testing::ValuesIn(policies()), setting_name);

TEST_P(latch_model, opens_when_all_have_counted_down_and_carries_what_came_before_LATCH_2) {
  explore_with(middle(), [] {
    latch all(2, policy());
    int first = 0, second = 0;
    threads({[&] {
               first = 1;
               all.count_down();
             },
             [&] {
               second = 1;
               all.arrive_and_wait();
               check(first == 1, "sees what came before the other's arrival");
             },
             [&] {
               all.wait();
               check(first == 1 && second == 1, "sees what came before both arrivals");
             }});
    check(all.try_wait(), "stays open");
  });
}

TEST_P(latch_model, a_time_out_changes_nothing) {
  explore_with(middle(), [] {
    latch all(1, policy());
    int data = 0;
    const auto look = [&] {
      if (all.wait_for(a_long_time()) == wait_status::ready) check(data == 1, "open and data");
      all.wait();
      check(data == 1, "sees what came before the arrival");
    };
    threads({[&] {
               data = 1;
               all.count_down();
             },
             look});
  });
}

TEST_P(latch_model, who_finds_it_open_without_waiting_sees_what_came_before) {
  explore_with(small(), [] {
    latch all(1, policy());
    int data = 0;
    threads({[&] {
               data = 1;
               all.count_down();
             },
             [&] {
               if (all.try_wait()) check(data == 1, "open and data");
             }});
  });
}

TEST_P(latch_model, the_last_to_return_may_destroy_it_LATCH_3) {
  explore_with(small(), [] {
    mortal<latch> all(2, policy());
    threads({[&] { all->count_down(); },
             [&] {
               all->count_down();
               all->wait();
               all.destroy();
             }});
  });
}

TEST_P(eventual_model, readers_see_the_value_that_was_set_once_EVENTUAL_2) {
  explore_with(middle(), [] {
    eventual<int> result(policy());
    const auto read = [&] { check(result.get() == 7, "the value"); };
    threads({[&] { result.set_value(7); }, read, read});
  });
}

TEST_P(eventual_model, who_finds_it_ready_without_waiting_sees_what_came_before) {
  explore_with(small(), [] {
    eventual<void> result(policy());
    int data = 0;
    threads({[&] {
               data = 1;
               result.set_value();
             },
             [&] {
               if (result.is_ready()) check(data == 1, "ready and data");
             }});
  });
}

TEST_P(eventual_model, one_of_two_setters_wins_EVENTUAL_1) {
  explore_with(middle(), [] {
    eventual<int> result(policy());
    ghost refused;
    const auto set = [&](int value) {
      try {
        result.set_value(value);
      } catch (const std::logic_error&) {
        refused.add(1);
      }
    };
    int seen = 0;
    threads({[&] { set(1); }, [&] { set(2); }, [&] { seen = result.get(); }});
    check(refused.value() == 1, "one was refused");
    check(seen == result.get() && (seen == 1 || seen == 2), "the value of the other");
  });
}

struct throws_once {
  explicit throws_once(int* plain, bool now) : value(plain) {
    ++*plain;
    if (now) throw std::runtime_error("refuses");
  }
  int* value;
};

TEST_P(eventual_model, a_claim_given_back_hands_on_what_its_owner_wrote_EVENTUAL_3) {
  explore_with(middle(), [] {
    eventual<throws_once> result(policy());
    int tries = 0;
    const auto set = [&](bool fails) {
      try {
        result.emplace(&tries, fails);
      } catch (const std::exception&) {
      }
    };
    threads({[&] { set(true); }, [&] { set(true); }});
    set(false);
    check(*result.get().value >= 2, "the last try has set it");
  });
}

/// Its move counts, plainly, in the source; the first throws.
struct moves_once {
  int moves = 0;

  moves_once() = default;
  moves_once(moves_once&& from) : moves(++from.moves) {
    if (moves == 1) throw std::runtime_error("refuses");
  }
};

TEST_P(eventual_model, one_of_two_takers_moves_the_value_and_a_failed_one_hands_it_on_EVENTUAL_5) {
  explore_with(middle(), [] {
    eventual<moves_once> result(policy());
    ghost taken, failed;
    const auto take = [&] {
      try {
        const moves_once mine = result.take();
        taken.add(1);
        check(mine.moves == 2, "sees the first try");
      } catch (const std::exception&) {
        failed.add(1);
      }
    };
    threads({[&] { result.emplace(); }, take, take});
    if (taken.value() == 0) take();
    check(taken.value() == 1 && failed.value() >= 1, "one has it");
  });
}

TEST_P(eventual_model, an_exception_comes_to_the_readers_instead) {
  explore_with(small(), [] {
    eventual<void> result(policy());
    int data = 0;
    threads({[&] {
               data = 7;
               result.set_exception(std::make_exception_ptr(std::runtime_error("as set")));
             },
             [&] {
               try {
                 result.get();
                 check(false, "get throws");
               } catch (const std::runtime_error&) {
                 check(data == 7, "sees what came before");
               }
             }});
  });
}

TEST_P(eventual_model, the_last_reader_may_destroy_it_EVENTUAL_4) {
  explore_with(small(), [] {
    mortal<eventual<int>> result(policy());
    threads({[&] { result->set_value(7); },
             [&] {
               check(result->get() == 7, "the value");
               result.destroy();
             }});
  });
}

TEST_P(future_set_model,
       the_last_contribution_runs_the_callback_before_anybody_is_let_go_FUTURES_2) {
  explore_with(middle(), [] {
    int sum = 0;
    future_set<int> all(
        2, [&](const future_set<int>::values& values) { sum = values[0] + values[1]; }, policy());
    threads({[&] { all.contribute(3); }, [&] { all.contribute(4); },
             [&] {
               const auto values = all.get();
               check(sum == 7, "the callback has run");
               check(values[0] + values[1] == 7, "all values are there");
             }});
  });
}

TEST_P(future_set_model, the_first_exception_reaches_the_waiter_FUTURES_4) {
  explore_with(middle(), [] {
    future_set<void> all(2, {}, policy());
    const auto fail = [&](const char* as) {
      all.contribute_exception(std::make_exception_ptr(std::runtime_error(as)));
    };
    threads({[&] { fail("one"); }, [&] { fail("two"); },
             [&] {
               try {
                 all.get();
                 check(false, "get throws");
               } catch (const std::runtime_error&) {
               }
             }});
  });
}

TEST_P(future_set_model, may_be_destroyed_by_the_last_waiter_FUTURES_3) {
  explore_with(small(), [] {
    mortal<future_set<int>> all(std::size_t{2}, nullptr, policy());
    threads({[&] { all->contribute(1); },
             [&] {
               all->contribute(2);
               all->wait();
               all.destroy();
             }});
  });
}

}  // namespace
}  // namespace lockstep::model
