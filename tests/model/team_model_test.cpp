// SPDX-License-Identifier: MIT
// tests/model/team_model_test.cpp -- mailbox, team and joinable_thread under all schedules
#include <lockstep/event.hpp>
#include <lockstep/external_team.hpp>
#include <lockstep/mailbox.hpp>
#include <lockstep/team.hpp>
#include <lockstep/thread.hpp>

#include <stdexcept>

#include "model/bare_region.hpp"
#include "model/scenario.hpp"
#include "region/turns.hpp"
#include "support/starting_at.hpp"

namespace lockstep::model {

using namespace detail;
namespace {

class mailbox_model : public model_test {};
class team_model : public model_test {};
class team_in_short_model : public model_test {};
class joinable_thread_model : public model_test {};
INSTANTIATE_TEST_SUITE_P(policies, mailbox_model, testing::ValuesIn(policies_and_fences()),
                         setting_name);
INSTANTIATE_TEST_SUITE_P(policies, team_model, testing::ValuesIn(policies_and_fences()),
                         setting_name);
INSTANTIATE_TEST_SUITE_P(policies, team_in_short_model, testing::ValuesIn(sleeping_policies()),
                         setting_name);
INSTANTIATE_TEST_SUITE_P(policies, joinable_thread_model, testing::ValuesIn(policies()),
                         setting_name);

/// No loop learns: what a place has learned in one execution would change the next one.
const schedule shared = grain(1);

TEST_P(mailbox_model, every_call_runs_once_in_its_posters_order_MAILBOX_2) {
  explore_with({{2, 0, 0}, {1, 1, 0}, {1, 0, 1}}, [] {
    mailbox calls(2, policy());
    int data[2] = {}, ran = 0;
    threads({[&] {
               times(2, [&](int call) {
                 data[call] = 7;
                 check(calls.post([&ran, &data, call] {
                   check(ran == call, "the calls of a poster run in their order");
                   check(data[call] == 7, "sees what came before the post");
                   ++ran;
                 }),
                       "there is room for two");
               });
             },
             [&] {
               while (ran < 2) check(calls.wait_and_run(), "not terminated");
             }});
  });
}

TEST_P(mailbox_model, two_posters_do_not_take_each_others_slots_MAILBOX_1) {
  explore_with({{2, 0, 0}, {1, 1, 0}}, [] {
    lockstep::test::starting_at<mailbox> calls(0x7FFFFFFF, 2u, policy());
    int ran = 0, given[2] = {};
    const auto posts = [&](int poster) {
      given[poster] = 7;
      const auto run = [&ran, &given, poster] {
        check(given[poster] == 7, "sees what came before the post");
        ++ran;
      };
      check(calls.post(run), "there is room for two");
    };
    threads({[&] { posts(0); }, [&] { posts(1); },
             [&] {
               while (ran < 2) check(calls.wait_and_run(), "not terminated");
             }});
    check(calls.run_pending() == 0, "none is left");
  });
}

TEST_P(mailbox_model, a_slot_is_written_again_only_after_its_call_was_taken_MAILBOX_2) {
  explore_with({{2, 1, 0}}, [] {
    mailbox calls(2, policy());
    int sum = 0;
    threads({[&] {
               times(4, [&](int call) {
                 while (!calls.post([&sum, call] { sum += call; })) detail::yield_thread();
               });
               calls.terminate();
             },
             [&] {
               while (calls.wait_and_run()) continue;
             }});
    check(sum == 6, "all calls ran");
  });
}

TEST_P(mailbox_model, terminate_releases_the_owner_and_carries_what_came_before_MAILBOX_3) {
  explore_with(middle(), [] {
    mailbox calls(2, policy());
    int data = 0;
    threads({[&] {
               data = 7;
               calls.terminate();
             },
             [&] {
               check(!calls.wait_and_run(), "says that it was terminated");
               check(data == 7, "sees what came before terminate");
             }});
  });
}

TEST_P(mailbox_model, who_sees_that_it_is_terminated_sees_what_came_before) {
  explore_with(small(), [] {
    mailbox calls(2, policy());
    look_whether_terminated(calls);
  });
}

TEST_P(team_model, runs_every_member_and_orders_the_regions) {
  explore_with({{2, 0, 0}, {1, 1, 0}, {1, 0, 1}}, [] {
    team all(2, policy());
    int given = 0, found[2] = {};
    times(2, [&](int region) {
      given = region + 1;
      all.run([&](member& me) {
        check(given == region + 1, "sees what came before run");
        found[me.rank()] += given;
      });
      check(found[0] + found[1] == (region + 1) * (region + 2), "run has awaited every member");
    });
  });
}

TEST_P(team_in_short_model, of_three_runs_every_member_and_ends) {
  explore_with({{1, 0, 0}, {0, 1, 0}}, [] {
    team all(3, policy());
    int found[3] = {};
    all.run([&](member& me) { found[me.rank()] = 1; });
    check(found[0] + found[1] + found[2] == 3, "run has awaited every member");
  });
}

TEST_P(team_in_short_model, a_team_that_never_ran_ends) {
  explore_with(large(), [] { team all(3, policy()); });
}

TEST_P(team_model, sync_threads_orders_the_steps_of_a_region) {
  explore_with({{2, 0, 0}, {1, 1, 0}}, [] {
    team all(2, policy());
    int slots[2][2] = {};
    all.run([&](member& me) {
      times(2, [&](int step) {
        slots[step][me.rank()] = 1;
        check(me.sync_threads(), "nobody has left");
        check(slots[step][0] + slots[step][1] == 2, "sees what came before the others' calls");
      });
    });
  });
}

TEST_P(team_in_short_model, an_exception_releases_who_waits_and_leaves_the_team_usable_TEAM_3) {
  explore_with({{2, 0, 0}, {1, 1, 0}}, [] {
    team all(2, policy());
    int released = 0;
    bool caught = false;
    try {
      all.run([&](member& me) {
        if (me.rank() == 1) throw std::runtime_error("as thrown");
        if (!me.sync_threads_unless_stopped()) ++released;
      });
    } catch (const std::runtime_error&) {
      caught = true;
    }
    check(caught && released == 1, "released and rethrown");
    int found[2] = {};
    all.run([&](member& me) {
      check(me.sync_threads(), "waits again");
      found[me.rank()] = 1;
    });
    check(found[0] + found[1] == 2, "works again");
  });
}

TEST_P(team_in_short_model, outside_threads_take_turns_TEAM_1) {
  explore_with({{1, 0, 0}, {0, 1, 0}}, [] {
    team all(2, policy());
    int regions = 0;
    const auto calls = [&] {
      all.run([&](member& me) {
        if (me.rank() == 0) ++regions;
      });
    };
    threads({calls, calls});
    check(regions == 2, "each had its region");
  });
}

TEST_P(team_in_short_model, a_nested_region_runs_inline_TEAM_2) {
  explore_with({{2, 0, 0}}, [] {
    team all(2, policy());
    int found[2] = {};
    all.run([&](member& outer) {
      all.run([&](member& inner) {
        check(inner.size() == 1, "alone");
        found[outer.rank()] = 1;
      });
    });
    check(found[0] + found[1] == 2, "ran on each member");
  });
}

TEST_P(team_in_short_model, who_sees_a_lone_region_stopped_sees_what_came_before_ALONE_2) {
  explore_with({{1, 0, 0}, {0, 1, 0}}, [] {
    team all(2, policy());
    int data = 0;
    all.run([&](member& outer) {
      if (outer.rank() != 0) return;
      all.run([&](member& inner) {
        threads({[&] {
                   data = 7;
                   inner.request_stop();
                 },
                 [&] {
                   if (inner.stop_requested())
                     check(data == 7, "sees what came before the request");
                 }});
      });
    });
  });
}

TEST_P(team_in_short_model, a_nested_region_in_an_iteration_runs_inline_whoever_runs_that_TEAM_2) {
  explore_with({{1, 0, 0}, {0, 1, 0}}, [] {
    team all(2, policy());
    int found[2] = {};
    all.run([&](member& me) {
      me.for_each(0, 2, [&](int i) {
        all.run([&](member& inner) {
          check(inner.size() == 1, "alone");
          inner.for_each(i, i + 1, [&](int k) { ++found[k]; });
        });
      });
      check(found[0] == 1 && found[1] == 1, "each iteration was run once");
    });
  });
}

TEST_P(team_in_short_model,
       an_operation_that_calls_the_team_after_the_loop_has_a_region_of_its_own) {
  explore_with({{1, 0, 0}, {0, 1, 0}}, [] {
    team all(2, policy());
    int inner = 0;
    const auto op = [&](int a, int b) {
      if (a == 100) {  // init: by the caller
        all.run([&](member& me) {
          check(me.size() == 2, "its turn is over");
          if (me.rank() == 0) ++inner;
        });
      }
      return a + b;
    };
    const auto one = [](std::size_t) { return 1; };
    check(all.reduce_each(0, 2, 100, one, op, shared) == 102, "each counted once");
    check(inner == 1, "ran");
  });
}

TEST_P(team_in_short_model, a_region_of_fewer_leaves_the_others_alone_until_they_are_needed_again) {
  explore_with({{1, 0, 0}, {0, 1, 0}}, [] {
    team all(2, policy());
    int found[2] = {};
    const auto part = [&](member& me) {
      ++found[me.rank()];
      check(me.sync_threads(), "nobody has left");
      check(me.size() == 1 || found[0] > found[1], "sees what came before the others' calls");
    };
    all.run(1, part);
    all.run(part);
    check(found[0] == 2 && found[1] == 1, "as many as asked for");
  });
}

TEST_P(team_in_short_model, the_caller_works_between_start_and_join) {
  explore_with({{1, 1, 0}}, [] {
    team all(2, policy());
    int found[2] = {}, between = 0;
    const auto part = [&](member& me) { found[me.rank()] = 1; };
    started_region started = all.start(part);
    between = 1;
    started.join();
    check(found[0] + found[1] + between == 3, "join has awaited every member");
  });
}

TEST_P(team_in_short_model, an_exception_after_start_stops_the_region_and_awaits_it_START_2) {
  explore_with({{1, 1, 0}}, [] {
    team all(2, policy());
    int found[2] = {};
    const auto part = [&](member& me) {
      while (!me.stop_requested()) detail::yield_thread();
      found[me.rank()] = 1;
    };
    bool caught = false;
    try {
      const started_region open = all.start(part);
      throw std::runtime_error("between");
    } catch (const std::runtime_error&) {
      caught = true;
    }
    check(caught && found[0] == 0 && found[1] == 1,
          "the others were awaited, the caller's part not run");
    check(all.run([&](member& me) { found[me.rank()] = 2; }), "works again");
    check(found[0] + found[1] == 4, "run has awaited every member");
  });
}

/// What threads in a region use: its end is seen by the search for races.
struct used_body {
  explicit used_body(int& use) : data(use) {}
  ~used_body() { data = -1; }
  int& data;
};

TEST_P(team_in_short_model, a_body_is_destroyed_after_the_turns_before_or_left_DOOR_2) {
  explore_with(small(), [] {
    int data = 0;
    team_door door(policy(), "a team", "");
    used_body* const body =
        new used_body(data);  // a team has the address beside its owner, as here
    threads({[&] {
               if (!door.callers().try_take_turn()) return;
               const caller_turn mine(door.callers(), lockstep::detail::has_begun_t());
               check(body->data == 0, "the body is there");
               body->data = 1;
               check(body->data == 1, "and stays there");
               body->data = 0;
             },
             [&] {
               if (door.shut(false)) delete body;
             }});
    check(!door.callers().try_take_turn() || data == 0, "nobody has a turn after the end");
  });
}

TEST_P(team_in_short_model, a_loop_without_a_turn_sees_what_came_before_its_stop_LONE_3) {
  explore_with(small(), [] {
    int data = 0;
    team_door door(policy(), "a team", "");
    const std::uint32_t look = door.look_alone();
    threads({[&] {
               data = 1;
               door.stop_lone_loops();
             },
             [&] { check(!door.is_stopped_alone(look) || data == 1, "it is there"); }});
    check(door.is_stopped_alone(look), "stopped");
    check(!door.is_stopped_alone(door.look_alone()), "the next one was not meant");
  });
}

TEST_P(team_in_short_model, a_lone_region_that_a_guest_stops_sees_what_came_before_ALONE_3) {
  explore_with(small(), [] {
    int data = 0, owner = 0;
    stop_source unused;
    team_door door(policy(), "a team", "");
    const lone_team of = {&owner, unused, door};
    const lone_region here(of, nullptr, door.look_alone());
    threads({[&] {
               const nesting::region copy = here.where();
               const nesting::inside guest(copy);
               data = 1;
               check(lone_region::end(&owner, lone_region::stopped), "it is in that region");
             },
             [&] { check(!here.is_stopped() || data == 1, "it is there"); }});
    check(here.is_stopped(), "stopped");
  });
}

TEST_P(team_in_short_model,
       a_body_is_left_where_a_thread_has_a_turn_and_none_begins_after_that_TURN_5) {
  explore_with(small(), [] {
    int data = 0;
    team_door door(policy(), "a team", "");
    bool is_left = false;
    threads({[&] {
               if (!door.callers().try_take_turn()) return;
               const caller_turn mine(door.callers(), lockstep::detail::has_begun_t());
               ++data;
             },
             [&] { is_left = !door.shut(false); }});
    check(!door.callers().try_take_turn(), "it is shut");
    check(is_left || team_door::is_closed(door.look_alone()), "to loops without a turn as well");
  });
}

TEST_P(team_in_short_model, a_paused_team_starts_its_threads_anew) {
  explore_with({{1, 0, 0}, {0, 1, 0}}, [] {
    team all(2, policy());
    int found = 0;
    const auto part = [&](member& me) {
      if (me.rank() == 1) ++found;
    };
    all.run(part);
    all.pause();
    all.run(part);
    check(found == 2, "run has awaited every member");
  });
}

TEST_P(team_in_short_model, a_request_from_outside_ends_one_region_at_most_and_nobody_sleeps_on) {
  explore_with({{1, 0, 0}, {0, 1, 0}}, [] {
    team all(2, policy());
    int stopped = 0;
    const auto part = [](member& me) { me.sync_threads(); };
    threads({[&] { all.request_stop(); },
             [&] { times(2, [&](int) { stopped += all.run(part) ? 0 : 1; }); }});
    check(stopped <= 1, "the next region was not meant");
    check(all.run(part), "nor one that began later");
  });
}

TEST_P(team_in_short_model, a_member_that_stops_the_region_releases_who_waits_for_it_alone) {
  explore_with({{1, 0, 0}, {0, 1, 0}}, [] {
    team all(2, policy());
    const bool complete = all.run([](member& me) {
      if (me.rank() == 0) return me.request_stop();
      check(!me.sync_threads_unless_stopped(), "says that it was stopped");
    });
    int found[2] = {};
    const auto meet = [&](member& me) {
      found[me.rank()] = 1;
      check(me.sync_threads(), "nobody stopped this one");
      check(found[0] + found[1] == 2, "sees what came before the others' calls");
    };
    check(!complete && all.run(meet), "stopped, and usable");
  });
}

TEST_P(team_model, a_loop_runs_each_iteration_once_whoever_comes) {
  explore_with({{2, 0, 0}, {1, 1, 0}, {1, 0, 1}}, [] {
    team all(2, policy());
    int given = 0, found[2] = {};
    times(2, [&](int loop) {
      given = loop + 1;
      all.for_each(
          0, 2,
          [&](std::size_t i) {
            check(given == loop + 1, "sees what came before the loop");
            ++found[i];
          },
          shared);
      check(found[0] == given && found[1] == given, "the loop has awaited every share");
    });
  });
}

TEST_P(team_in_short_model, a_member_that_was_late_for_loops_comes_to_the_next_region) {
  explore_with({{2, 0, 0}, {1, 1, 0}}, [] {
    team all(2, policy());
    int found[2] = {}, members[2] = {};
    const auto loop = [&] { all.for_each(0, 2, [&](std::size_t i) { ++found[i]; }, shared); };
    times(2, [&](int) { loop(); });
    all.run([&](member& me) {
      members[me.rank()] = 1;
      check(me.sync_threads(), "both are there");
    });
    loop();
    check(found[0] == 3 && found[1] == 3 && members[0] + members[1] == 2, "each did its part");
  });
}

TEST_P(team_in_short_model, a_loop_does_not_wait_for_a_thread_that_never_comes) {
  explore_with(small(), [] {
    external_team all(3, policy());
    int found[3] = {};
    times(2, [&](int) { all.for_each(0, 3, [&](std::size_t i) { ++found[i]; }, shared); });
    check(found[0] + found[1] + found[2] == 6, "the caller ran all shares");
  });
}

TEST_P(team_in_short_model,
       a_thread_that_comes_to_serve_in_the_middle_of_a_loop_takes_part_or_not) {
  explore_with({{2, 0, 0}, {1, 1, 0}}, [] {
    external_team all(2, policy());
    int found[2] = {};
    threads({[&] { all.serve(1); },
             [&] {
               times(2,
                     [&](int) { all.for_each(0, 2, [&](std::size_t i) { ++found[i]; }, shared); });
               all.release();
             }});
    check(found[0] == 2 && found[1] == 2, "each share ran once");
  });
}

TEST_P(team_in_short_model, an_exception_in_a_share_is_rethrown_whoever_ran_it_TEAM_3) {
  explore_with({{2, 0, 0}, {1, 1, 0}}, [] {
    team all(2, policy());
    bool caught = false;
    try {
      all.for_each(
          0, 2,
          [](std::size_t i) {
            if (i == 1) throw std::runtime_error("as thrown");
          },
          shared);
    } catch (const std::runtime_error&) {
      caught = true;
    }
    int found[2] = {};
    all.for_each(0, 2, [&](std::size_t i) { ++found[i]; }, shared);
    check(caught && found[0] + found[1] == 2, "rethrown, and works again");
  });
}

TEST_P(team_in_short_model, a_loop_that_is_stopped_ends_and_the_next_one_is_whole) {
  explore_with({{1, 0, 0}, {0, 1, 0}}, [] {
    team all(2, policy());
    int found[2] = {};
    const auto loop = [&] {
      return all.for_each(0, 2, [&](std::size_t i) { ++found[i]; }, shared);
    };
    int complete = 0;
    threads({[&] { all.request_stop(); }, [&] { times(2, [&](int) { complete += loop(); }); }});
    check(complete >= 1 && found[0] >= complete && found[1] >= complete, "one was stopped at most");
    check(loop(), "nor one that began later");
  });
}

TEST_P(team_in_short_model, a_region_inside_a_share_runs_inline_whoever_runs_the_share_TEAM_2) {
  explore_with({{2, 0, 0}}, [] {
    team all(2, policy());
    int found[2] = {};
    all.for_each(
        0, 2,
        [&](std::size_t i) {
          all.run([&](member& inner) {
            check(inner.size() == 1, "alone");
            found[i] = 1;
          });
        },
        shared);
    check(found[0] + found[1] == 2, "ran in each share");
  });
}

TEST_P(team_in_short_model, a_reduction_is_that_of_all_shares_whoever_ran_them) {
  explore_with({{2, 0, 0}, {1, 1, 0}}, [] {
    team all(2, policy());
    times(2, [&](int) {
      const int sum = all.reduce_each(
          0, 3, 0, [](std::size_t i) { return 1 << i; }, [](int a, int b) { return a + b; },
          shared);
      check(sum == 7, "each value once");
    });
  });
}

TEST_P(team_model, a_loop_of_a_crowd_awaits_the_shares_that_members_run_for_each_other) {
  explore_with({{1, 0, 0}, {0, 1, 0}}, [] {
    team all(3, policy());
    int found[3] = {};
    all.for_each(0, 3, [&](int i) { ++found[i]; }, shared);
    check(found[0] + found[1] + found[2] == 3, "the loop has awaited every share");
  });
}

TEST_P(joinable_thread_model, join_sees_what_the_thread_did_THREAD_1) {
  explore_with(small(), [] {
    int data = 0;
    joinable_thread worker(policy(), [&] { data = 7; });
    worker.join();
    check(data == 7, "sees what the thread did");
  });
}

TEST_P(joinable_thread_model, a_join_that_timed_out_may_be_made_again_THREAD_1) {
  explore_with(middle(), [] {
    int data = 0;
    event go;
    joinable_thread worker(policy(), [&] {
      go.wait();
      data = 7;
    });
    if (worker.join_for(a_long_time()) == wait_status::ready) check(false, "it cannot have ended");
    go.notify();
    worker.join();
    check(data == 7, "sees what the thread did");
  });
}

}  // namespace
}  // namespace lockstep::model
