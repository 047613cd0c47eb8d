// SPDX-License-Identifier: MIT
// tests/model/boards_model_test.cpp -- fan_out, fan_in, fan_in_out and the barriers under all schedules
#include <lockstep/barrier.hpp>
#include <lockstep/event.hpp>
#include <lockstep/fan.hpp>
#include <lockstep/ranked_barrier.hpp>

#include <array>
#include <functional>

#include "model/scenario.hpp"
#include "support/ranked_barriers.hpp"

namespace lockstep::model {
namespace {

class fan_out_model : public model_test {};
class fan_in_model : public model_test {};
class fan_in_out_model : public model_test {};
class barrier_model : public model_test {};
class barrier_of_three_model : public model_test {};
class barrier_by_tree_model : public model_test {};
class counted_barrier_model : public model_test {};
INSTANTIATE_TEST_SUITE_P(policies, fan_out_model, testing::ValuesIn(policies_and_fences()),
                         setting_name);
INSTANTIATE_TEST_SUITE_P(policies, fan_in_model, testing::ValuesIn(policies_and_fences()),
                         setting_name);
INSTANTIATE_TEST_SUITE_P(policies, fan_in_out_model, testing::ValuesIn(policies_and_fences()),
                         setting_name);
INSTANTIATE_TEST_SUITE_P(policies, barrier_model, testing::ValuesIn(policies_and_fences()),
                         setting_name);
INSTANTIATE_TEST_SUITE_P(policies, barrier_of_three_model,
                         testing::Values(setting{"block", wait_policy::block()},
                                         setting{"adaptive", wait_policy()}),
                         setting_name);
INSTANTIATE_TEST_SUITE_P(policies, barrier_by_tree_model, testing::ValuesIn(policies_and_fences()),
                         setting_name);
INSTANTIATE_TEST_SUITE_P(policies, counted_barrier_model, testing::ValuesIn(policies()),
                         setting_name);

TEST_P(fan_out_model, every_waiter_gets_every_notification_and_what_came_before) {
  explore_with(huge(), [] {
    fan_out all(2, policy());
    int data[2] = {};
    const auto waits = [&](std::size_t rank) {
      for (const int& each : data) {
        check(all.wait(rank), "wait says that it was notified");
        check(each == 7, "sees what came before the notification");
      }
    };
    threads({[&] {
               for (int& each : data) {
                 each = 7;
                 all.notify();
               }
             },
             [&] { waits(0); }, [&] { waits(1); }});
    check(!all.try_wait(0) && !all.try_wait(1), "no notification is left over");
  });
}

TEST_P(fan_out_model, terminate_releases_everyone_who_waits) {
  explore_with(huge(), [] {
    fan_out all(2, policy());
    int data = 0;
    const auto waits = [&](std::size_t rank) {
      check(!all.wait(rank), "wait says that it was terminated");
      check(data == 7, "sees what came before terminate");
    };
    threads({[&] {
               data = 7;
               all.terminate();
             },
             [&] { waits(0); }, [&] { waits(1); }});
  });
}

TEST_P(fan_out_model, who_finds_it_terminated_without_waiting_sees_what_came_before) {
  explore_with(small(), [] {
    fan_out all(1, policy());
    look_whether_terminated(all);
  });
}

TEST_P(fan_in_model, needs_every_notifier_and_sees_what_each_did) {
  explore_with(huge(), [] {
    fan_in all(2, policy());
    int data[2][2] = {};
    const auto notifies = [&](std::size_t rank) {
      times(2, [&](int round) {
        data[round][rank] = 7;
        all.notify(rank);
      });
    };
    threads({[&] { notifies(0); }, [&] { notifies(1); },
             [&] {
               times(2, [&](int round) {
                 check(all.wait(), "wait says that it was notified");
                 check(data[round][0] == 7 && data[round][1] == 7, "sees what each did");
               });
             }});
    check(!all.try_wait(), "no notification is left over");
  });
}

TEST_P(fan_in_model, try_wait_and_time_outs_take_nothing_by_half) {
  explore_with(huge(), [] {
    fan_in all(2, policy());
    int data[2] = {}, taken = 0;
    const auto notifies = [&](std::size_t rank) {
      data[rank] = 7;
      all.notify(rank);
    };
    threads({[&] { notifies(0); }, [&] { notifies(1); },
             [&] {
               const bool now = all.try_wait();
               if (now || all.wait_for(a_long_time()) == wait_status::ready) {
                 ++taken;
                 check(data[0] == 7 && data[1] == 7, "sees what each did");
               }
             }});
    if (all.try_wait()) ++taken;
    check(taken == 1, "both notifications were taken together, once");
  });
}

TEST_P(fan_in_out_model, every_waiter_needs_every_notifier) {
  explore_with(huge(), [] {
    fan_in_out all(2, 2, policy());
    int data[2] = {};
    const auto notifies = [&](std::size_t rank) {
      data[rank] = 7;
      all.notify(rank);
    };
    const auto waits = [&](std::size_t rank) {
      check(all.wait(rank), "wait says that it was notified");
      check(data[0] == 7 && data[1] == 7, "sees what each did");
    };
    threads({[&] { notifies(0); }, [&] { notifies(1); }, [&] { waits(0); }, [&] { waits(1); }});
  });
}

/// `Ranks` participants on that many threads, each of which plays some of the ranks; as many phases.
template <std::size_t Ranks>
void meet(ranked_barrier& all, std::size_t playing, std::size_t phases) {
  int done[4][Ranks] = {};
  std::vector<std::function<void()>> bodies;
  for (std::size_t player = 0; player < playing; ++player) {
    bodies.push_back([&all, &done, player, playing, phases] {
      for (std::size_t phase = 0; phase < phases; ++phase) {
        for (std::size_t rank = player; rank < Ranks; rank += playing) {
          done[phase][rank] = 1;
          all.arrive(rank);
        }
        for (std::size_t rank = player; rank < Ranks; rank += playing) {
          check(all.wait(rank), "wait says that all have arrived");
        }
        for (const int each : done[phase]) check(each == 1, "sees what came before each arrival");
      }
    });
  }
  threads(bodies);
}

TEST_P(barrier_model, of_two_holds_everyone_until_all_have_arrived_for_three_phases) {
  explore_with(large(), [] {
    ranked_barrier all(2, policy());
    meet<2>(all, 2, 3);
  });
}

TEST_P(barrier_of_three_model, holds_everyone_until_all_have_arrived_for_two_phases) {
  explore_with(by_day({{1, 1, 0}}, {{2, 0, 0}, {1, 1, 0}}), [] {
    ranked_barrier all(3, policy());
    meet<3>(all, 3, 2);
  });
}

TEST_P(barrier_of_three_model, holds_everyone_until_all_have_arrived) {
  explore_with(large(), [] {
    ranked_barrier all(3, policy());
    meet<3>(all, 3, 1);
  });
}

TEST_P(barrier_model, with_a_counter_holds_everyone_until_all_have_arrived_RANKED_1) {
  explore_with(huge(), [] {
    test::barrier_by_tree all(3, policy());
    meet<3>(all, 2, 2);
  });
}

TEST_P(barrier_model, terminate_releases_who_waits_for_one_that_never_comes) {
  explore_with(huge(), [] {
    ranked_barrier all(3, policy());
    int data = 0;
    const auto waits = [&](std::size_t rank) {
      check(!all.arrive_and_wait(rank), "says that it was terminated");
      check(data == 7, "sees what came before terminate");
    };
    threads({[&] { waits(0); }, [&] { waits(1); },
             [&] {
               data = 7;
               all.terminate();
             }});
  });
}

TEST_P(barrier_model, who_finds_it_terminated_without_waiting_sees_what_came_before) {
  explore_with(small(), [] {
    ranked_barrier all(2, policy());
    look_whether_terminated(all);
  });
}

TEST_P(barrier_by_tree_model, holds_everyone_until_all_have_arrived_RANKED_2) {
  explore_with({{3, 0, 0}, {2, 1, 0}}, [] {
    test::barrier_by_tree all(5, policy());
    meet<5>(all, 2, 2);
  });
}

TEST_P(barrier_by_tree_model, of_three_threads_holds_everyone_until_all_have_arrived_RANKED_2) {
  explore_with({{1, 1, 0}}, [] {
    test::barrier_by_tree all(5, policy());
    meet<5>(all, 3, 2);
  });
}

TEST_P(counted_barrier_model, who_finds_the_phase_over_without_waiting_sees_what_came_before) {
  explore_with(small(), [] {
    barrier<> all(2, policy());
    int data = 0;
    threads({[&] {
               data = 1;
               static_cast<void>(all.arrive());
             },
             [&] {
               const barrier<>::arrival_token mine = all.arrive();
               if (all.try_wait(mine)) check(data == 1, "over and data");
             }});
  });
}

TEST_P(counted_barrier_model, completes_once_a_phase_and_everyone_sees_it_BARRIER_2) {
  explore_with(by_day({{1, 1, 0}}, {{1, 1, 0}, {2, 0, 0}}), [] {
    int done[3] = {}, completed = 0;
    const auto complete = [&]() noexcept { ++completed; };
    barrier<decltype(complete)> all(3, complete, policy());
    const auto comes = [&](std::size_t rank) {
      done[rank] = 1;
      all.arrive_and_wait();
      for (const int each : done) check(each == 1, "sees what came before each arrival");
      check(completed == 1, "the completion has run");
      all.arrive_and_wait();
    };
    threads({[&] { comes(0); }, [&] { comes(1); }, [&] { comes(2); }});
    check(completed == 2, "once a phase");
  });
}

TEST_P(counted_barrier_model, a_slow_waiter_returns_though_the_others_have_gone_on_BARRIER_3) {
  explore_with(huge(), [] {
    barrier<> all(2, policy());
    event begun(policy());
    threads({[&] {
               all.arrive_and_wait();
               begun.notify();
               all.arrive_and_wait();
             },
             [&] {
               auto first = all.arrive();
               all.wait(std::move(first));
             },
             [&] {
               begun.wait();
               all.arrive_and_wait();
             }});
  });
}

TEST_P(counted_barrier_model, who_drops_is_expected_no_more) {
  explore_with(large(), [] {
    barrier<> all(3, policy());
    int left = 0;
    threads({[&] {
               left = 1;
               all.arrive_and_drop();
             },
             [&] {
               all.arrive_and_wait();
               check(left == 1, "sees what came before the other left");
               all.arrive_and_wait();
             },
             [&] {
               all.arrive_and_wait();
               all.arrive_and_wait();
             }});
  });
}

TEST_P(counted_barrier_model, may_be_destroyed_when_the_waits_have_returned_BARRIER_4) {
  explore_with(small(), [] {
    mortal<barrier<>> all(2, policy());
    threads({[&] { static_cast<void>(all->arrive()); },
             [&] {
               all->arrive_and_wait();
               all.destroy();
             }});
  });
}

}  // namespace
}  // namespace lockstep::model
