// SPDX-License-Identifier: MIT
// tests/model/regions_model_test.cpp -- how regions begin, end and are stopped, under all schedules
//
// The parts of a team by themselves, on threads of the scenario: an execution of a whole team costs ten
// times as much. Trees are narrow here, so that three members make one.
#include <lockstep/member.hpp>
#include "loop/loop_crew.hpp"
#include "region/region_board.hpp"
#include "region/stop_source.hpp"
#include "region/turns.hpp"

#include <functional>
#include <mutex>

#include "model/bare_region.hpp"
#include "model/scenario.hpp"

namespace lockstep::model {

using namespace detail;
namespace {

class region_board_model : public model_test {};
class caller_queue_model : public model_test {};
class kept_turns_model : public model_test {};
class stop_source_model : public model_test {};
class sub_team_model : public model_test {};
class kept_values_model : public model_test {};
INSTANTIATE_TEST_SUITE_P(policies, region_board_model, testing::ValuesIn(sleeping_policies()),
                         setting_name);
INSTANTIATE_TEST_SUITE_P(policies, caller_queue_model, testing::ValuesIn(sleeping_policies()),
                         setting_name);
INSTANTIATE_TEST_SUITE_P(policies, kept_turns_model,
                         testing::Values(setting{"block", wait_policy::block()},
                                         setting{"adaptive", wait_policy()},
                                         setting{"adaptive_without_membarrier", wait_policy(),
                                                 process_fence_kind::symmetric}),
                         setting_name);
INSTANTIATE_TEST_SUITE_P(policies, stop_source_model, testing::ValuesIn(sleeping_policies()),
                         setting_name);
INSTANTIATE_TEST_SUITE_P(policies, sub_team_model, testing::ValuesIn(sleeping_policies()),
                         setting_name);
INSTANTIATE_TEST_SUITE_P(policies, kept_values_model, testing::ValuesIn(sleeping_policies()),
                         setting_name);

rank_tree direct_tree(std::size_t members, std::size_t width) {
  return rank_tree(members, width, lockstep::detail::rank_groups(), rank_tree::way::direct);
}

/// Runs loops as they are told, and learns nothing.
struct told_crew : loop_crew {
  told_crew(region_board& forks, stop_source& stop, first_error& errors, bool is_crowded = false)
      : loop_crew(forks, stop, errors, {2, 2, is_crowded, false, 1}) {}

  /// As if members were woken: a short wait would only change which member comes first.
  void begin(std::uint32_t shares, std::uint32_t parts) {
    plan({1, nullptr, 0, false, call_site::none()});
    plan_.shares = shares;
    plan_.parts = parts;
    plan_.wakes = is_asleep_ = true;
  }
  void wake_after_a_part() {
    plan_.is_timed = true;
    may_wake_ = plan_.shares;
    start_ -= 1000000000;  // so long that the rest is worth it
  }
  using loop_crew::announce;
  using loop_crew::run_unannounced;
};

/// Does what team_core does with a region_board, and nothing else. One thread plays all ranks below `played`: the ranks
/// that are told last need no thread each.
class crew {
 public:
  crew(rank_tree tree, wait_policy policy, std::uint32_t first_phase = 0, std::size_t played = 1,
       bool is_crowded = false, std::uint64_t most_age = region_board::usual_most_age)
      : separation_(tree.members(), false),
        board_(tree, policy, separation_, first_phase, false, most_age),
        loops_(board_, stop_, error_, is_crowded),
        members_(tree.members()),
        played_(played) {}
  /// A crew whose first worker expects a region after a gap of 200 ms, and sleeps until then. The others sleep for
  /// good.
  struct anticipating {};
  crew(anticipating, rank_tree tree, wait_policy policy, std::uint32_t first_phase)
      : separation_(tree.members(), false),
        board_(tree, policy, separation_, first_phase, true),
        loops_(board_, stop_, error_),
        members_(tree.members()),
        played_(1) {
    for (unsigned i = 0; i < member_pace::fewest; ++i) separation_.pace_of(1).came_after(200000000);
  }

  enum class waking {
    at_once,
    after_a_part,
    never,
    after_a_probe,  // of one part
    awaited         // after the announcement; shares have one part, and each member runs its own
  };
  struct region {
    std::uint32_t size;
    std::uint32_t parts = 0;  // of a share; 0: a run
    waking wakes = waking::at_once;

    region(std::uint32_t members) : size(members) {}
    region(std::uint32_t members, std::uint32_t parts_of_share, waking how = waking::at_once)
        : size(members), parts(parts_of_share), wakes(how) {}
  };

  /// These regions, one after the other, then the end.
  void run(std::initializer_list<region> regions) {
    std::vector<std::function<void()>> bodies = {[this, regions] { lead(regions); }};
    for (std::size_t rank = played_; rank < members_; ++rank) {
      bodies.push_back([this, rank] { serve(rank); });
    }
    threads(bodies);
  }

 private:
  void lead(std::initializer_list<region> regions) {
    std::uint32_t number = 0;
    for (const region& each : regions) {
      given_ = ++number;
      const region_head head = {number, each.size};
      if (each.parts == 0) {
        lead_run(head);
      } else {
        lead_loop(head, each);
      }
      const std::uint32_t parts = each.parts == 0 ? 1 : each.parts;
      for (std::size_t rank = 0; rank < each.size; ++rank) {
        for (std::uint32_t part = 0; part < parts; ++part) {
          check(found_[rank][part] == number, "every part has been awaited");
        }
      }
    }
    board_.close();
  }
  void lead_run(const region_head& head) {
    const auto all = [this](member& me) { find(me.rank(), 0); };
    board_.announce(head, job::of<member>(all));
    found_[0][0] = head.region;
    for (std::size_t rank = 1; rank < played_; ++rank) serve_once(rank);
    board_.collect(0, board_.current());
  }
  void lead_loop(const region_head& head, const region& of) {
    const auto part = [this](loop_share& me) { find(me.rank(), part_number(me)); };
    job work = job::of<loop_share>(part);
    loops_.begin(of.size, of.parts);
    if (of.wakes == waking::after_a_probe) {
      loops_.run_unannounced(head.region, work, 0, 0, 1);
      loops_.announce(head.region, work, 1, true);
    } else {
      board_.announce(head, work, of.parts, of.wakes == waking::at_once);
    }
    if (of.wakes == waking::awaited) {
      board_.wake(of.size);
      found_[0][0] = head.region;
      return board_.collect(0, board_.current());
    }
    if (of.wakes == waking::after_a_part) loops_.wake_after_a_part();
    loops_.lead(head.region, work);
  }
  /// From the range that it stands for.
  static std::uint32_t part_number(const loop_share& me) {
    const std::size_t all = me.size() * me.parts();
    return static_cast<std::uint32_t>(me.block_of(index_range{0, all}).first % me.parts());
  }
  void find(std::size_t rank, std::uint32_t part) {
    check(found_[rank][part] != given_, "a part is run once");
    found_[rank][part] = given_;
  }

  void serve(std::size_t rank) {
    while (serve_once(rank)) continue;
  }
  bool serve_once(std::size_t rank) {
    assignment what;
    if (!board_.next(rank, what)) return false;
    if (what.is_loop()) {
      loops_.serve(rank, what);
      return true;
    }
    check(what.head().region == given_, "the order is that of the region");
    board_.relay(rank, what, true);
    if (rank < what.head().size) {
      stop_source stop;
      member_state own;
      own.belong_to(nullptr, &stop, rank);
      own.enter(1, 1);
      member_access here(own);
      what.line->what(here.self);
    }
    board_.collect(rank, what.announced);
    board_.report(rank, what.announced);
    return true;
  }

  stop_source stop_;
  first_error error_;
  cpu_separation separation_;
  region_board board_;
  told_crew loops_;
  const std::size_t members_, played_;
  std::uint32_t given_ = 0, found_[4][3] = {};
};
constexpr std::uint32_t run = 0, loop = 1;  // parts
constexpr crew::waking late = crew::waking::after_a_part, never = crew::waking::never,
                       probe = crew::waking::after_a_probe, awaited = crew::waking::awaited;

TEST_P(region_board_model, of_two_orders_two_regions_and_ends_ANNOUNCE_1_ANNOUNCE_3) {
  explore_with({{2, 0, 0}, {1, 1, 0}, {1, 0, 1}},
               [] { crew(rank_tree(2), policy(), 0xFFFFFFFF).run({2, 2}); });
}

TEST_P(region_board_model, direct_by_one_line_leaves_out_who_is_beyond_the_size_ANNOUNCE_2) {
  explore_with({{1, 0, 0}, {0, 1, 0}}, [] { crew(rank_tree(3), policy()).run({2, 3}); });
}

TEST_P(region_board_model, direct_by_several_lines_wakes_who_stood_still_ANNOUNCE_2) {
  explore_with({{1, 0, 0}, {0, 1, 0}}, [] { crew(direct_tree(3, 2), policy()).run({2, 3}); });
}

TEST_P(region_board_model, relayed_reaches_every_member_and_awaits_it_ANNOUNCE_3) {
  explore_with({{1, 0, 0}, {0, 1, 0}}, [] { crew(rank_tree(4, 2), policy(), 0, 2).run({4}); });
}

TEST_P(region_board_model, relayed_wakes_who_stood_still_ANNOUNCE_2) {
  explore_with({{0, 0, 0}}, [] { crew(rank_tree(4, 2), policy(), 0, 2).run({3, 4}); });
}

TEST_P(region_board_model,
       each_share_of_a_loop_is_run_once_by_its_member_or_for_it_ANNOUNCE_2_PART_1) {
  explore_with({{3, 0, 0}, {2, 1, 0}, {1, 1, 1}},
               [] { crew(rank_tree(2), policy()).run({{2, loop}}); });
}

TEST_P(region_board_model,
       a_member_that_missed_loops_disturbs_none_and_comes_to_the_next_run_ANNOUNCE_1_PART_3) {
  explore_with({{2, 0, 0}, {1, 1, 0}, {1, 0, 1}}, [] {
    crew(rank_tree(2), policy(), 0xFFFFFFFD).run({{2, loop}, {2, loop}, {2, run}});
  });
}

TEST_P(region_board_model, a_late_member_reads_no_line_that_is_written_again_ANNOUNCE_4_PART_3) {
  explore_with({{2, 0, 0}, {1, 1, 0}},
               [] { crew(rank_tree(2), policy()).run({{2, loop}, {2, run}, {2, loop}}); });
}

TEST_P(region_board_model,
       who_watches_a_line_beyond_the_size_of_a_loop_is_kept_off_it_too_ANNOUNCE_4) {
  explore_with({{1, 0, 0}, {0, 1, 0}},
               [] { crew(rank_tree(3), policy()).run({{2, loop}, {3, loop}}); });
}

TEST_P(region_board_model, direct_by_several_lines_loops_of_changing_sizes_ANNOUNCE_2) {
  explore_with({{1, 0, 0}, {0, 1, 0}},
               [] { crew(direct_tree(3, 2), policy()).run({{2, loop}, {3, loop}, {3, run}}); });
}

TEST_P(region_board_model, direct_workers_of_a_crowd_take_shares_of_other_lines_PART_2) {
  explore_with({{1, 0, 0}, {0, 1, 0}},
               [] { crew(direct_tree(3, 2), policy(), 0, 1, true).run({{3, loop}, {3, loop}}); });
}

TEST_P(region_board_model, each_part_of_a_share_is_run_once_by_whoever_claims_it_PART_1_PART_4) {
  explore_with({{2, 0, 0}, {1, 1, 0}}, [] { crew(rank_tree(2), policy()).run({{2, 2}}); });
}

TEST_P(region_board_model,
       a_late_member_helps_with_parts_of_its_loop_and_of_no_other_PART_2_PART_3) {
  explore_with({{2, 0, 0}, {1, 1, 0}},
               [] { crew(rank_tree(2), policy(), 0xFFFFFFFB).run({{2, 2}, {2, loop}, {2, 2}}); });
}

TEST_P(region_board_model, parts_then_a_run_then_parts_of_another_size_PART_2_ANNOUNCE_4) {
  explore_with({{1, 0, 0}, {0, 1, 0}},
               [] { crew(rank_tree(3), policy()).run({{3, 2}, {2, run}, {2, 2}}); });
}

TEST_P(region_board_model,
       relayed_parts_of_a_leaders_share_are_finished_before_it_reports_PART_4_ANNOUNCE_3) {
  explore_with({{0, 0, 0}}, [] { crew(rank_tree(3, 2), policy()).run({{3, 2}}); });
}

TEST_P(region_board_model, a_loop_that_wakes_nobody_ends_and_the_next_region_wakes_all_ANNOUNCE_6) {
  explore_with({{2, 0, 0}, {1, 1, 0}, {1, 0, 1}},
               [] { crew(rank_tree(2), policy()).run({{2, loop, never}, {2, run}}); });
}

TEST_P(region_board_model, after_a_loop_that_wakes_nobody_the_end_lets_all_go_ANNOUNCE_6) {
  explore_with({{2, 0, 0}, {1, 1, 0}, {1, 0, 1}},
               [] { crew(rank_tree(2), policy()).run({{2, 2, never}}); });
}

TEST_P(region_board_model, who_is_woken_in_the_middle_of_a_loop_joins_it_or_not_ANNOUNCE_6_PART_3) {
  explore_with({{2, 0, 0}, {1, 1, 0}, {1, 0, 1}},
               [] { crew(rank_tree(2), policy()).run({{2, 2, late}, {2, loop, never}}); });
}

TEST_P(region_board_model, who_is_woken_after_the_announcement_of_a_loop_comes_to_it_ANNOUNCE_6) {
  explore_with({{2, 0, 0}, {1, 1, 0}, {1, 0, 1}},
               [] { crew(rank_tree(2), policy()).run({{2, loop, awaited}, {2, loop, awaited}}); });
}

TEST_P(region_board_model, what_the_caller_ran_before_the_announcement_is_not_run_again_CREW_6) {
  explore_with({{2, 0, 0}, {1, 1, 0}, {1, 0, 1}},
               [] { crew(rank_tree(2), policy()).run({{2, 2, probe}, {2, 2}}); });
}

TEST_P(region_board_model, who_is_late_in_a_loop_disturbs_no_probe_CREW_6_PART_3) {
  explore_with({{2, 0, 0}, {1, 1, 0}}, [] {
    crew(rank_tree(2), policy(), 0xFFFFFFFB).run({{2, 2}, {2, 2, probe}, {2, loop}});
  });
}

TEST_P(region_board_model, lines_and_claims_are_renewed_beside_late_members_ANNOUNCE_5) {
  explore_with({{1, 0, 0}, {0, 1, 0}}, [] {
    crew(direct_tree(3, 2), policy(), 0xFFFFFFF9, 1, false, 2)
        .run({{3, loop}, {2, loop}, {3, run}});
  });
}

TEST_P(region_board_model, relayed_lines_and_claims_are_renewed_beside_late_leaders_ANNOUNCE_5) {
  explore_with({{0, 0, 0}}, [] {
    crew(rank_tree(4, 2), policy(), 0xFFFFFFF9, 1, false, 2).run({{2, loop}, {2, loop}, {4, loop}});
  });
}

TEST_P(region_board_model,
       relayed_the_share_of_a_late_leader_is_taken_with_all_below_it_ANNOUNCE_2) {
  explore_with({{1, 0, 0}, {0, 1, 0}}, [] { crew(rank_tree(4, 2), policy()).run({{4, loop}}); });
}

TEST_P(region_board_model,
       who_sleeps_until_a_region_is_due_hears_of_it_before_and_after_ANNOUNCE_1) {
  if (!policy().is_adaptive()) GTEST_SKIP() << "only the adaptive policy anticipates";
  explore_with({{3, 0, 0}, {2, 1, 0}, {1, 1, 1}},
               [] { crew(crew::anticipating(), rank_tree(2), policy(), 0xFFFFFFFD).run({2, 2}); });
}

TEST_P(region_board_model, who_sleeps_until_a_region_is_due_may_miss_a_loop_ANNOUNCE_1_PART_3) {
  if (!policy().is_adaptive()) GTEST_SKIP() << "only the adaptive policy anticipates";
  explore_with({{2, 0, 0}, {1, 1, 0}}, [] {
    crew(crew::anticipating(), rank_tree(2), policy(), 0xFFFFFFFD).run({{2, loop}, {2, run}});
  });
}

TEST_P(region_board_model, of_two_who_share_a_line_each_may_wake_up_by_itself_ANNOUNCE_1) {
  if (!policy().is_adaptive()) GTEST_SKIP() << "only the adaptive policy anticipates";
  explore_with({{2, 0, 0}, {0, 1, 0}, {0, 0, 1}},
               [] { crew(crew::anticipating(), rank_tree(3), policy(), 0xFFFFFFFD).run({3}); });
}

TEST_P(region_board_model, close_lets_every_worker_go_and_carries_what_came_before) {
  explore_with({{2, 0, 0}, {1, 1, 0}, {1, 0, 1}}, [] {
    cpu_separation separation(3, false);
    region_board board(direct_tree(3, 2), policy(), separation);
    int data = 0;
    const auto serves = [&](std::size_t rank) {
      assignment none;
      check(!board.next(rank, none), "says that it was closed");
      check(data == 7, "sees what came before close");
    };
    threads({[&] {
               data = 7;
               board.close();
             },
             [&] { serves(1); }, [&] { serves(2); }});
  });
}

TEST_P(region_board_model, who_wakes_up_to_a_loop_and_finds_the_end_sees_what_came_before_it) {
  explore_with({{2, 0, 0}, {0, 1, 0}}, [] {
    cpu_separation separation(2, false);
    region_board board(rank_tree(2), policy(), separation);
    int data = 0;
    const auto nothing = [](loop_share&) {};
    const job work = job::of<loop_share>(nothing);
    threads({[&] {
               board.announce(region_head{1, 2}, work, 1);
               data = 7;
               board.close();
             },
             [&] {
               assignment what;
               while (board.next(1, what)) continue;
               check(data == 7, "sees what came before close");
             }});
  });
}

TEST_P(region_board_model, after_a_reset_workers_begin_anew) {
  explore_with({{1, 1, 0}}, [] {
    cpu_separation separation(2, false);
    region_board board(rank_tree(2), policy(), separation);
    int found = 0;
    times(2, [&](int round) {
      stop_source stop;
      first_error error;
      told_crew loops(board, stop, error);
      const auto part = [&](loop_share& me) {
        if (me.rank() == 1) ++found;  // the caller's share touches nothing
      };
      job work = job::of<loop_share>(part);
      threads({[&] {
                 loops.begin(2, 1);
                 board.announce(region_head{1, 2}, work, 1);
                 loops.lead(1, work);
                 check(found == round + 1, "the share has been awaited");
                 board.close();
               },
               [&] {
                 assignment what;
                 while (board.next(1, what)) loops.serve(1, what);
               }});
      board.reset();
    });
  });
}

TEST_P(caller_queue_model, one_turn_at_a_time_each_after_the_one_before_TURN_1_TURN_2) {
  explore_with({{2, 0, 0}, {1, 1, 0}, {1, 0, 1}}, [] {
    caller_queue callers(policy());
    int turns = 0;
    const auto calls = [&] {
      const caller_turn mine(callers);
      ++turns;
    };
    threads({calls, calls, calls});
    check(turns == 3, "each had its turn");
  });
}

TEST_P(caller_queue_model, a_turn_that_can_be_had_at_once_is_after_the_one_before_TURN_2) {
  explore_with(small(), [] {
    caller_queue callers(policy());
    int turns = 0;
    threads({[&] {
               const caller_turn mine(callers);
               ++turns;
             },
             [&] {
               if (!callers.try_take_turn()) return;
               const caller_turn mine(callers, lockstep::detail::has_begun_t());
               ++turns;
             }});
    check(turns >= 1, "who waits gets its turn");
    check(callers.try_take_turn(), "all turns have ended");
  });
}

/// A thread that takes so many turns.
std::function<void()> takes(caller_queue& callers, int count, int& turns) {
  return [&callers, count, &turns] {
    for (int i = 0; i < count; ++i) {
      const caller_turn mine(callers);
      ++turns;
    }
  };
}

TEST_P(kept_turns_model, a_turn_that_is_kept_and_one_that_comes_meanwhile_TURN_6) {
  explore_with(small(), [] {
    caller_queue callers(policy());
    int turns = 0;
    threads({takes(callers, 3, turns), takes(callers, 1, turns)});
    check(turns == 4, "each had its turn");
  });
}

TEST_P(kept_turns_model, only_the_first_thread_keeps_turns_TURN_6) {
  explore_with(middle(), [] {
    caller_queue callers(policy());
    int turns = 0;
    threads({takes(callers, 2, turns), takes(callers, 2, turns)});
    check(turns == 4, "each had its turn");
  });
}

TEST_P(kept_turns_model, a_turn_that_is_kept_and_who_does_not_wait_for_it_TURN_6) {
  explore_with(small(), [] {
    caller_queue callers(policy());
    int turns = 0;
    threads({takes(callers, 3, turns), [&] {
               if (!callers.try_take_turn()) return;
               const caller_turn mine(callers, lockstep::detail::has_begun_t());
               ++turns;
             }});
    check(turns >= 3, "who waits gets its turn");
    check(callers.try_take_turn(), "all turns have ended");
  });
}

TEST_P(kept_turns_model, a_keeper_that_does_not_wait_and_one_that_comes_meanwhile_TURN_6) {
  explore_with(small(), [] {
    caller_queue callers(policy());
    int turns = 0;
    threads({[&] {
               for (int i = 0; i < 3; ++i) {
                 if (i != 1) callers.take_turn();
                 if (i == 1 && !callers.try_take_turn()) continue;
                 const caller_turn mine(callers, lockstep::detail::has_begun_t());
                 ++turns;
               }
             },
             takes(callers, 1, turns)});
    check(turns >= 3, "who waits gets its turn");
  });
}

TEST_P(stop_source_model, a_request_for_an_earlier_region_takes_nothing_back_STOP_1) {
  explore_with(small(), [] {
    stop_source stop;
    threads({[&] { stop.request(1); }, [&] { stop.request(2); }});
    check(stop.requested(2) && !stop.requested(1), "the last region is what counts");
  });
}

TEST_P(stop_source_model, a_late_request_leaves_the_next_region_alone_however_long_after_STOP_3) {
  explore_with(small(), [] {
    stop_source stop;
    stop.request(5);
    stop.keep_near(0x50000000);
    stop.request(5);
    check(!stop.requested(0x50000000), "its region was not meant");
    stop.keep_near(0x90000000);
    threads({[&] { stop.request(0x50000000); },
             [&] {
               stop.request(0x90000000);
               check(stop.requested(0x90000000), "it was meant, however far on it is");
             }});
    check(stop.requested(0x90000000), "nothing was taken back");
  });
}

TEST_P(stop_source_model, who_sees_the_request_sees_what_came_before) {
  explore_with(small(), [] {
    stop_source stop;
    int data = 0;
    threads({[&] {
               data = 7;
               stop.request(1);
             },
             [&] {
               if (stop.requested(1)) check(data == 7, "sees what came before the request");
             }});
  });
}

TEST_P(stop_source_model, releases_who_waits_in_a_barrier_STOP_2) {
  explore_with({{2, 0, 0}, {1, 1, 0}, {1, 0, 1}}, [] {
    bare_region all(2, policy());
    int data = 0;
    const bool complete = all.run([&](member& me) {
      if (me.rank() == 1) {
        data = 7;
        me.request_stop();
      } else {
        check(!me.sync_threads_unless_stopped(), "says that it was stopped");
        check(data == 7, "sees what came before the request");
      }
    });
    check(!complete, "run says so");
  });
}

TEST_P(stop_source_model, releases_who_waits_for_a_step_STOP_2) {
  explore_with({{2, 1, 0}, {1, 0, 1}}, [] {
    bare_region all(2, policy());
    all.run([&](member& me) {
      if (me.rank() == 0) {
        me.request_stop();
      } else {
        check(!me.await_step_unless_stopped(0, 1), "says that it was stopped");
      }
    });
  });
}

TEST_P(stop_source_model, releases_who_waits_for_its_turn_STOP_2) {
  explore_with({{2, 1, 0}}, [] {
    bare_region all(2, policy());
    int ran = 0;
    all.run([&](member& me) {
      me.for_ordered(
          0, 2,
          [&](std::size_t i, ordered_turn& turn) {
            if (i == 0) {
              me.request_stop();
            } else if (turn([&] { ++ran; })) {
              check(false, "it was never its turn");
            }
          },
          static_schedule(1));
    });
    check(ran == 0, "no turn after the request");
  });
}

TEST_P(stop_source_model, ends_members_that_look_at_no_answer_MEMBER_3) {
  explore_with({{1, 0, 0}, {0, 1, 0}}, [] {
    bare_region all(2, policy());
    const bool complete = all.run([&](member& me) {
      if (me.rank() == 0) {
        me.request_stop();
        me.single([] { check(false, "not in a region that was stopped"); });
      }
      while (true) {
        me.single(nowait, [] {});
        me.for_each(0, 2, [](int) {}, dynamic_schedule());
      }
    });
    check(!complete, "run says so");
    int after[2] = {};
    check(all.run([&](member& me) {
      me.for_each(0, 2, [&](int i) { ++after[i]; }, dynamic_schedule());
    }) && after[0] == 1 &&
              after[1] == 1,
          "the boards are as new");
  });
}

TEST_P(stop_source_model, ends_a_lone_member_in_its_next_construct_or_chunk_MEMBER_3) {
  explore_with({{1, 0, 0}, {0, 1, 0}}, [] {
    bare_region all(1, policy());
    const std::uint32_t region = all.next_region();
    int before = 0;
    const bool complete = all.run_beside(
        [&](member& me) {
          times(2, [&](int) {
            me.for_range(
                nowait, 0, 5,
                [&](int first, int last) {
                  check(last - first <= 2, "no more than a chunk");
                  ++before;
                },
                dynamic_schedule(2));
          });
        },
        [&] { all.stop().request(region); });
    check(!complete && before <= 6, "run says so");
  });
}

TEST_P(stop_source_model, against_a_barrier_leaves_nobody_asleep_and_the_next_region_alone_STOP_1) {
  explore_with({{1, 0, 0}, {0, 1, 0}}, [] {
    bare_region all(2, policy());
    const auto two_phases = [](member& me) {
      me.sync_threads();
      me.sync_threads();
    };
    const std::uint32_t region = all.next_region();
    all.run_beside(two_phases, [&] { all.stop().request(region); });
    int after[2] = {};
    const bool complete = all.run([&](member& me) {
      after[me.rank()] = 1;
      check(me.sync_threads(), "the next region was not meant");
      check(after[0] + after[1] == 2, "sees what came before the others' calls");
    });
    check(complete, "run says so");
  });
}

/// Does not fit a cell: the others read it where its member keeps it.
struct wide {
  int value;
  char more[cell::size];
};

TEST_P(stop_source_model, who_goes_on_in_a_stopped_region_disturbs_nobodys_values_MEET_3) {
  explore_with({{1, 0, 0}, {0, 1, 0}}, [] {
    bare_region all(2, policy());
    const std::uint32_t region = all.next_region();
    all.run_beside(
        [](member& me) {
          times(3, [&](int step) {
            try {
              const auto add = [](const wide& a, const wide& b) {
                return wide{a.value + b.value, {}};
              };
              check(me.sync_reduce(wide{step, {}}, add).value == 2 * step, "the sum of this step");
            } catch (const region_stopped&) {  // as no program should do
            }
          });
        },
        [&] { all.stop().request(region); });
  });
}

TEST_P(sub_team_model, has_a_barrier_of_its_own_and_ends_when_all_have_let_go) {
  explore_with({{1, 0, 0}, {0, 1, 0}}, [] {
    bare_region all(2, policy());
    int done[2] = {};
    const bool complete = all.run([&](member& me) {
      sub_team part = me.split(5);
      check(part->size() == 2 && part->rank() == me.rank(), "ranked as in the region");
      done[me.rank()] = 1;
      check(part->sync_threads(), "nobody has left");
      check(done[0] + done[1] == 2, "sees what came before the others' calls");
    });
    check(complete, "nobody stopped it");
  });
}

TEST_P(sub_team_model, several_are_made_and_ended_at_the_same_time) {
  explore_with({{1, 0, 0}, {0, 1, 0}}, [] {
    bare_region all(2, policy());
    all.run([](member& me) {
      sub_team alone = me.split(me.rank());
      check(alone->size() == 1 && alone->sync_threads(), "waits for nobody else");
    });
  });
}

TEST_P(sub_team_model, of_some_lets_the_others_go_on) {
  explore_with({{0, 1, 0}}, [] {
    bare_region all(3, policy());
    int done[3] = {};
    all.run([&](member& me) {
      {
        sub_team part = me.first(2);
        check(static_cast<bool>(part) == (me.rank() < 2), "the first two have a part");
        if (part) {
          done[me.rank()] = 1;
          check(part->sync_threads(), "nobody has left");
          check(done[0] + done[1] == 2, "sees what came before the others' calls");
        }
      }
      check(me.sync_threads(), "the region's barrier is another");
    });
  });
}

TEST_P(stop_source_model, a_member_that_finds_its_region_stopped_sees_what_came_before) {
  explore_with(small(), [] {
    bare_region all(2, policy());
    int data = 0;  // plain
    all.run([&](member& me) {
      if (me.rank() == 0) {
        data = 7;
        me.request_stop();
      } else if (me.stop_requested()) {
        check(data == 7, "sees it");
      }
    });
  });
}

TEST_P(sub_team_model, ends_with_a_region_that_is_stopped) {
  explore_with({{1, 0, 0}, {0, 1, 0}}, [] {
    bare_region all(2, policy());
    const std::uint32_t region = all.next_region();
    all.run_beside(
        [&](member& me) {
          sub_team part = me.split(0);
          check(static_cast<bool>(part), "who has a colour has a part, or has left");
          part->sync_threads();
        },
        [&] { all.stop().request(region); });
    check(all.run([](member& me) { check(me.sync_threads(), "works again"); }), "works again");
  });
}

/// A value that does not fit a cell; counts those that live. What it has is plain: a copy that is not ordered
/// before its end is found.
class kept_value {
 public:
  kept_value(int value, ghost& alive) : value_(value), alive_(&alive) { alive_->add(1); }
  kept_value(const kept_value& other) : kept_value(other.value_, *other.alive_) {}
  kept_value& operator=(const kept_value& other) {
    value_ = other.value_;
    return *this;
  }
  ~kept_value() {
    value_ = -1;
    alive_->add(-1);
  }
  int value() const { return value_; }
  friend kept_value operator+(const kept_value& a, const kept_value& b) {
    return kept_value(a.value_ + b.value_, *a.alive_);
  }

 private:
  int value_;
  ghost* alive_;
};

TEST_P(kept_values_model, are_read_while_they_live_and_none_is_left_after_the_region_GROUP_3) {
  explore_with({{1, 0, 0}, {0, 1, 0}}, [] {
    bare_region all(2, policy());
    ghost alive;
    all.run([&](member& me) {
      times(3, [&](int step) {
        const kept_value sum = me.sync_reduce(kept_value(step, alive), std::plus<kept_value>());
        check(sum.value() == 2 * step, "the sum of this step");
      });
    });
    check(alive.value() == 0, "none is left");
  });
}

TEST_P(kept_values_model, none_is_left_of_a_region_that_is_stopped_at_any_time_GROUP_3) {
  explore_with({{1, 0, 0}, {0, 1, 0}}, [] {
    bare_region all(2, policy());
    ghost alive;
    const std::uint32_t region = all.next_region();
    all.run_beside(
        [&](member& me) {
          times(2, [&](int step) {
            const kept_value sum = me.sync_reduce(kept_value(step, alive), std::plus<kept_value>());
            check(sum.value() == 2 * step, "the sum of this step");
          });
        },
        [&] { all.stop().request(region); });
    check(alive.value() == 0, "none is left");
    check(all.run([](member& me) { check(me.sync_threads(), "works again"); }), "works again");
  });
}

TEST_P(kept_values_model,
       of_a_share_that_another_has_run_live_as_long_as_those_of_its_member_GROUP_3) {
  explore_with({{1, 0, 0}, {0, 1, 0}}, [] {
    bare_region all(2, policy());
    ghost alive;
    all.run([&](member& me) {
      times(3, [&](int step) {
        const kept_value sum = me.reduce_each(
            0, 2, kept_value(step, alive), [&](int i) { return kept_value(step * i, alive); },
            std::plus<kept_value>());
        check(sum.value() == 2 * step, "the sum of this step");
      });
    });
    check(alive.value() == 0, "none is left");
  });
}

TEST_P(kept_values_model, of_a_reduction_without_an_end_are_read_after_the_join_and_none_is_left) {
  explore_with({{1, 0, 0}, {0, 1, 0}}, [] {
    bare_region all(2, policy());
    ghost alive;
    all.run([&](member& me) {
      if (me.rank() != 1) return;
      member_state& self = member_access::state_of(me);
      self.value_of(1, self.next_phase()) = reductions::cell_with(self, kept_value(7, alive));
    });
    check(alive.value() == 0, "none is left");
  });
}

}  // namespace
}  // namespace lockstep::model
