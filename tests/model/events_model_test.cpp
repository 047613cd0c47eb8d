// SPDX-License-Identifier: MIT
// tests/model/events_model_test.cpp -- event, manual_reset_event, auto_reset_event under all schedules
#include <lockstep/event.hpp>

#include "model/scenario.hpp"
#include "support/starting_at.hpp"

namespace lockstep::model {

using namespace detail;
namespace {

class event_model : public model_test {};
class manual_reset_event_model : public model_test {};
class auto_reset_event_model : public model_test {};
INSTANTIATE_TEST_SUITE_P(policies, event_model, testing::ValuesIn(policies()), setting_name);
INSTANTIATE_TEST_SUITE_P(policies, manual_reset_event_model, testing::ValuesIn(policies()),
                         setting_name);
INSTANTIATE_TEST_SUITE_P(policies, auto_reset_event_model, testing::ValuesIn(policies()),
                         setting_name);

TEST_P(event_model, every_notification_lets_one_wait_return_and_carries_what_came_before_EVENT_2) {
  explore_with(small(), [] {
    event ready(policy());
    int data[3] = {};
    threads({[&] {
               for (int& each : data) {
                 each = 7;
                 ready.notify();
               }
             },
             [&] {
               for (const int& each : data) {
                 check(ready.wait(), "wait says that it was notified");
                 check(each == 7, "sees what came before the notification");
               }
             }});
    check(!ready.try_wait(), "no notification is left over");
  });
}

TEST_P(event_model, try_wait_takes_what_is_there_and_sees_what_came_before) {
  explore_with(small(), [] {
    event ready(policy());
    int data = 0;
    threads({[&] {
               data = 7;
               ready.notify();
             },
             [&] {
               if (ready.try_wait()) {
                 check(data == 7, "sees what came before the notification");
               } else {
                 check(ready.wait(), "the notification is still there");
               }
             }});
  });
}

TEST_P(event_model, two_events_hand_a_token_to_and_fro) {
  explore_with(middle(), [] {
    event ping(policy()), pong(policy());
    int token = 0;
    threads({[&] {
               times(2, [&](int i) {
                 check(token == 2 * i, "the token is back");
                 ++token;
                 ping.notify();
                 pong.wait();
               });
             },
             [&] {
               times(2, [&](int i) {
                 ping.wait();
                 check(token == 2 * i + 1, "the token is here");
                 ++token;
                 pong.notify();
               });
             }});
  });
}

TEST_P(event_model, terminate_releases_the_waiter_and_carries_what_came_before) {
  explore_with(small(), [] {
    event ready(policy());
    int data = 0;
    threads({[&] {
               ready.notify();
               data = 7;
               ready.terminate();
             },
             [&] {
               while (ready.wait()) continue;
               check(data == 7, "sees what came before terminate");
               check(!ready.wait(), "stays terminated");
             }});
  });
}

TEST_P(event_model, a_time_out_takes_nothing_and_loses_nothing) {
  explore_with(small(), [] {
    event ready(policy());
    int data = 0, taken = 0;
    threads({[&] {
               data = 7;
               ready.notify();
             },
             [&] {
               if (ready.wait_for(a_long_time()) == wait_status::ready) {
                 ++taken;
                 check(data == 7, "sees what came before the notification");
               }
               if (ready.wait_for(std::chrono::nanoseconds(0)) == wait_status::ready) ++taken;
             }});
    if (ready.try_wait()) ++taken;
    check(taken == 1, "the notification was taken once");
  });
}

TEST_P(event_model, the_waiter_may_destroy_it_as_soon_as_its_wait_has_returned_EVENT_3) {
  explore_with(small(), [] {
    mortal<event> ready(policy());
    threads({[&] { ready->notify(); },
             [&] {
               ready->wait();
               ready.destroy();
             }});
  });
}

TEST_P(event_model, counts_on_across_the_wrap_around_EVENT_1) {
  explore_with({{2, 1, 1}}, [] {
    lockstep::test::starting_at<event> ready(0x3FFFFFFF, policy());
    threads({[&] { times(3, [&](int) { ready.notify(); }); },
             [&] { times(3, [&](int) { ready.wait(); }); }});
    check(!ready.try_wait(), "no notification is left over");
  });
}

TEST_P(manual_reset_event_model, lets_everyone_through_who_began_to_wait_before_MANUAL_1) {
  explore_with(middle(), [] {
    manual_reset_event gate(policy());
    int data = 0;
    const auto pass = [&] {
      gate.wait();
      check(data == 7, "sees what came before the notification");
    };
    threads({[&] {
               data = 7;
               gate.notify();
             },
             pass, pass});
    check(gate.is_open(), "stays open");
  });
}

TEST_P(manual_reset_event_model, reset_sees_what_was_notified_and_loses_no_opening) {
  explore_with(middle(), [] {
    manual_reset_event gate(policy());
    int data[2] = {};
    threads({[&] {
               data[0] = 7;
               gate.notify();
               data[1] = 7;
               gate.notify();
             },
             [&] {
               gate.wait();
               check(data[0] == 7, "sees what came before the first notification");
               gate.reset();
               // reset, look, wait: nothing is missed.
               if (gate.is_open()) check(data[1] == 7, "open again: by the second notification");
             }});
  });
}

/// After the reset: what a notification before it carried is there, or the gate will be open again.
void look_or_wait(manual_reset_event& gate, const detail::wait_word& data) {
  gate.reset();
  if (data.load(detail::memory_order_relaxed) == 0) gate.wait();
}

TEST_P(manual_reset_event_model, reset_look_wait_misses_nothing) {
  for (const bool open : {false, true}) {
    explore_with(small(), [open] {
      manual_reset_event gate(policy());
      detail::wait_word data{0};
      if (open) gate.notify();
      threads({[&] {
                 data.store(1, detail::memory_order_relaxed);
                 gate.notify();
               },
               [&] { look_or_wait(gate, data); }});
    });
  }
}

TEST_P(manual_reset_event_model, a_notification_wakes_though_a_reset_follows_at_once) {
  explore_with(middle(), [] {
    manual_reset_event gate(policy());
    threads({[&] {
               gate.notify();
               gate.reset();
               gate.notify();
             },
             [&] {
               gate.wait();
               gate.wait();
             }});
  });
}

TEST_P(manual_reset_event_model, two_who_notify_and_one_who_resets_do_not_lose_the_gate) {
  explore_with(middle(), [] {
    manual_reset_event gate(policy());
    ghost come;
    threads({[&] {
               come.add(1);
               gate.notify();
             },
             [&] {
               come.add(1);
               gate.notify();
               gate.reset();
             },
             [&] {
               if (gate.wait_for(a_long_time()) == wait_status::timed_out) return;
               check(come.value() > 0, "one of them has come");
             }});
    gate.notify();
    check(gate.try_wait(), "open");
    check(come.value() == 2, "both have come");
  });
}

TEST_P(manual_reset_event_model, may_be_destroyed_when_all_waits_have_returned_MANUAL_3) {
  explore_with(small(), [] {
    mortal<manual_reset_event> gate(policy());
    threads({[&] { gate->notify(); },
             [&] {
               gate->wait();
               gate.destroy();
             }});
  });
}

TEST_P(auto_reset_event_model, a_notification_is_taken_once_and_carries_what_came_before_AUTO_1) {
  explore_with(middle(), [] {
    auto_reset_event ready(policy());
    int turn = 0;
    const auto take = [&] {
      ready.wait();
      ++turn;
      ready.notify();
    };
    threads({[&] { ready.notify(); }, take, take});
    check(turn == 2, "each took it once");
    check(ready.try_wait() && !ready.try_wait(), "one is left");
  });
}

TEST_P(auto_reset_event_model, two_notifications_for_two_waiters_reach_both_or_merge_AUTO_4) {
  explore_with(large(), [] {
    auto_reset_event ready(policy());
    auto_reset_event taken(policy());
    threads({[&] {
               ready.notify();
               taken.wait();
               ready.notify();
             },
             [&] {
               ready.wait();
               taken.notify();
             },
             [&] {
               ready.wait();
               taken.notify();
             }});
  });
}

TEST_P(auto_reset_event_model, a_time_out_loses_no_notification_AUTO_4) {
  explore_with(middle(), [] {
    auto_reset_event ready(policy());
    ghost taken;
    threads({[&] { ready.notify(); },
             [&] {
               if (ready.wait_for(a_long_time()) == wait_status::ready) taken.add(1);
             },
             [&] {
               if (ready.wait_for(a_long_time()) == wait_status::ready) taken.add(1);
             }});
    if (ready.try_wait()) taken.add(1);
    check(taken.value() == 1, "taken once, by one of them or afterwards");
  });
}

TEST_P(auto_reset_event_model, one_who_waits_for_ever_gets_what_one_who_gives_up_leaves) {
  explore_with(middle(), [] {
    auto_reset_event ready(policy());
    threads({[&] { ready.notify(); }, [&] { ready.wait(); },
             [&] {
               // If it gets a notification, it passes it on.
               if (ready.wait_for(a_long_time()) == wait_status::ready) ready.notify();
             }});
  });
}

TEST_P(auto_reset_event_model, the_last_waiter_may_destroy_it_AUTO_5) {
  explore_with(small(), [] {
    mortal<auto_reset_event> ready(policy());
    threads({[&] { ready->notify(); },
             [&] {
               ready->wait();
               ready.destroy();
             }});
  });
}

}  // namespace
}  // namespace lockstep::model
