// SPDX-License-Identifier: MIT
// tests/model/constructs_model_test.cpp -- what members of a region do together, under all schedules
//
// The boards by themselves where they have few places here, else members of a region without a team.
#include <lockstep/detail/reduce/reduction_operations.hpp>
#include <lockstep/event.hpp>
#include <lockstep/member.hpp>
#include "region/loop_board.hpp"
#include "region/team_barrier.hpp"

#include <functional>

#include "model/bare_region.hpp"
#include "model/scenario.hpp"

namespace lockstep::model {

using namespace detail;
namespace {

class team_barrier_model : public model_test {};
class loop_board_model : public model_test {};
class steps_model : public model_test {};
class late_shares_model : public model_test {};
INSTANTIATE_TEST_SUITE_P(policies, team_barrier_model, testing::ValuesIn(sleeping_policies()),
                         setting_name);
INSTANTIATE_TEST_SUITE_P(policies, loop_board_model, testing::ValuesIn(sleeping_policies()),
                         setting_name);
INSTANTIATE_TEST_SUITE_P(policies, steps_model, testing::ValuesIn(sleeping_policies()),
                         setting_name);
INSTANTIATE_TEST_SUITE_P(policies, late_shares_model, testing::ValuesIn(sleeping_policies()),
                         setting_name);

member_state place_of(std::size_t rank, std::size_t size, std::uint32_t phase = 0,
                      stop_source* stop = nullptr) {
  member_state self;
  self.belong_to(nullptr, stop, rank);
  self.phase = phase;
  self.enter(size, 1);
  return self;
}

/// `size` members meet `phases` times after `phase`, each with a value of its own, and sum them.
void reduce(team_barrier& all, std::size_t size, std::uint32_t phase, int phases) {
  std::vector<std::function<void()>> bodies;
  for (std::size_t rank = 0; rank < size; ++rank) {
    bodies.push_back([&all, size, phase, phases, rank] {
      member_state self = place_of(rank, size, phase);
      for (int step = 1; step <= phases; ++step) {
        const auto value_of = [&](std::size_t of) { return step * (static_cast<int>(of) + 1); };
        cell_access<int>::put(nullptr, all.value_of(rank, self.phase + 1), value_of(rank));
        cell out = {};
        const bool complete = all.meet(self, out, [&](cell& into) {
          for (std::size_t other = 0; other < size; ++other) {
            const int found = cell_access<int>::get(all.value_of(other, self.phase));
            check(found == value_of(other), "each value is that of this phase");
          }
          cell_access<int>::put(nullptr, into, step);
        });
        check(complete, "nobody stopped it");
        check(cell_access<int>::get(out) == step, "what was combined in this phase");
      }
    });
  }
  threads(bodies);
}

TEST_P(team_barrier_model, values_travel_with_the_flags_and_are_not_overwritten_early_MEET_1) {
  explore_with({{2, 0, 0}, {1, 1, 0}, {1, 0, 1}}, [] {
    stop_source stop;
    team_barrier all(2, policy(), stop);
    all.reset(0xFFFFFFFE);
    reduce(all, 2, 0xFFFFFFFE, 3);
  });
}

TEST_P(team_barrier_model, of_three_values_travel_with_the_flags_MEET_1) {
  explore_with({{1, 0, 0}, {0, 1, 0}}, [] {
    stop_source stop;
    team_barrier all(3, policy(), stop);
    reduce(all, 3, 0, 2);
  });
}

TEST_P(team_barrier_model, with_a_tree_the_last_combines_for_all_MEET_2_MEET_3) {
  explore_with({{2, 0, 0}, {1, 1, 0}, {1, 0, 1}}, [] {
    stop_source stop;
    team_barrier all(2, policy(), stop, 1);
    reduce(all, 2, 0, 3);
  });
}

TEST_P(team_barrier_model, with_a_tree_of_three_the_last_combines_for_all_MEET_2_MEET_3) {
  explore_with({{1, 0, 0}, {0, 1, 0}}, [] {
    stop_source stop;
    team_barrier all(3, policy(), stop, 2);
    reduce(all, 3, 0, 2);
  });
}

struct callable_arrival : usual_arrival {
  static constexpr bool may_be_called = true;

  wait_word& call;
  event& helped;

  callable_arrival(wait_word& word, event& told) : call(word), helped(told) {}
  bool is_called() const noexcept { return call.load(memory_order_acquire) != 0; }
  void help() noexcept {
    call.store(0, memory_order_relaxed);
    helped.notify();
  }
};

void call_who_waits(team_barrier& all) {
  wait_word call{0};
  event helped;
  int data = 0;
  threads({[&] {
             member_state self = place_of(0, 2);
             callable_arrival arrival(call, helped);
             check(all.arrive_and_wait(self, arrival), "nobody stopped it");
             check(data == 7, "the other has arrived");
           },
           [&] {
             member_state self = place_of(1, 2);
             call.store(1, memory_order_release);
             all.wake_all();
             helped.wait();
             data = 7;
             check(all.arrive_and_wait(self), "nobody stopped it");
           }});
}

TEST_P(team_barrier_model, who_is_called_away_waits_on_MEET_6) {
  explore_with({{2, 0, 0}, {1, 1, 0}}, [] {
    stop_source stop;
    team_barrier all(2, policy(), stop);
    call_who_waits(all);
  });
}

TEST_P(team_barrier_model, with_a_tree_who_is_called_away_waits_on_MEET_6) {
  explore_with({{2, 0, 0}, {1, 1, 0}}, [] {
    stop_source stop;
    team_barrier all(2, policy(), stop, 1);
    call_who_waits(all);
  });
}

TEST_P(team_barrier_model, sizes_of_regions_change_between_flags_and_tree_RANKED_1) {
  explore_with({{1, 0, 0}, {0, 1, 0}}, [] {
    stop_source stop;
    team_barrier all(3, policy(), stop, 2);
    reduce(all, 2, 0, 1);
    all.reset(1);
    reduce(all, 3, 1, 1);
    all.reset(2);
    reduce(all, 2, 2, 1);
  });
}

TEST_P(team_barrier_model, with_a_tree_a_stop_releases_who_waits_and_a_reset_makes_it_as_new) {
  explore_with({{1, 0, 0}, {0, 1, 0}}, [] {
    stop_source stop;
    team_barrier all(3, policy(), stop, 2);
    const auto waits = [&](std::size_t rank) {
      member_state self = place_of(rank, 3);
      check(!all.arrive_and_wait(self), "says that it was stopped");
    };
    threads({[&] { waits(0); }, [&] { waits(1); }, [&] { stop.request(1); }});
    all.reset(0);
    int done[3] = {};
    const auto waits_again = [&](std::size_t rank) {
      member_state self = place_of(rank, 3);
      self.enter(self.size(), 2);
      done[rank] = 1;
      check(all.arrive_and_wait(self), "the next region was not meant");
      check(done[0] + done[1] + done[2] == 3, "sees what came before each arrival");
    };
    threads({[&] { waits_again(0); }, [&] { waits_again(1); }, [&] { waits_again(2); }});
  });
}

/// Two members, two constructs in one place: each ticket of take(rank, board, construct, given) is given once.
template <class Take>
void give_every_ticket_once(wait_policy policy, bool by_hands, Take take) {
  stop_source stop;
  loop_board board(policy, stop, 1);
  int given[2][2] = {};
  const auto takes = [&](std::size_t rank) {
    member_state self = place_of(rank, 2, 0, &stop);
    for (std::uint32_t construct = 0; construct < 2; ++construct) {
      check(board.enter(self, construct), "nobody stopped it");
      take(rank, board, construct, given[construct]);
      board.leave(self, construct, by_hands);
    }
  };
  threads({[&] { takes(0); }, [&] { takes(1); }});
  for (const auto& construct : given) {
    for (const int each : construct) check(each == 1, "each ticket is given once");
  }
}

TEST_P(loop_board_model, every_ticket_is_given_once_and_places_are_used_again_CHUNK_1_CHUNK_2) {
  explore_with({{2, 0, 0}, {1, 1, 0}, {1, 0, 1}}, [] {
    give_every_ticket_once(
        policy(), false,
        [](std::size_t, loop_board& board, std::uint32_t construct, int(&given)[2]) {
          while (true) {
            const std::size_t ticket = board.take_ticket(construct);
            if (ticket >= 2) break;
            ++given[ticket];
          }
        });
  });
}

TEST_P(loop_board_model,
       every_ticket_of_each_hand_is_given_once_and_hands_are_full_again_CHUNK_1_CHUNK_2) {
  explore_with({{2, 0, 0}, {1, 1, 0}, {1, 0, 1}}, [] {
    give_every_ticket_once(
        policy(), true,
        [](std::size_t rank, loop_board& board, std::uint32_t construct, int(&given)[2]) {
          for (const std::size_t owner : {rank, 1 - rank}) {
            const std::size_t hand = loop_board::hand_of(owner);
            if (board.tickets_taken(construct, hand) > 0) continue;
            if (board.take_ticket(construct, hand) == 0) ++given[owner];
          }
        });
  });
}

TEST_P(loop_board_model, after_a_stop_a_reset_fills_the_hands_CHUNK_2) {
  explore_with({{2, 1, 0}, {1, 0, 1}}, [] {
    stop_source stop;
    loop_board board(policy(), stop, 1);
    const auto comes = [&](member_state self) {
      if (!board.enter(self, 0)) return;
      board.take_ticket(0, loop_board::hand_of(1));
      board.leave(self, 0, true);
      check(!board.enter(self, 1), "the place was never left by the other");
    };
    threads({[&] { comes(place_of(0, 2, 0, &stop)); }, [&] { stop.request(1); }});
    board.reset();
    check(board.tickets_taken(0, loop_board::hand_of(1)) == 0, "as new");
  });
}

TEST_P(loop_board_model, what_was_done_in_a_place_comes_before_its_next_construct_CHUNK_1) {
  explore_with({{2, 0, 0}, {1, 1, 0}, {1, 0, 1}}, [] {
    stop_source stop;
    loop_board board(policy(), stop, 2);
    int done[3][2] = {};
    const auto comes = [&](std::size_t rank) {
      member_state self = place_of(rank, 2, 0, &stop);
      for (std::uint32_t construct = 0; construct < 3; ++construct) {
        check(board.enter(self, construct), "nobody stopped it");
        if (construct == 2) check(done[0][1 - rank] == 1, "all have left construct 0");
        done[construct][rank] = 1;
        board.leave(self, construct);
      }
    };
    threads({[&] { comes(0); }, [&] { comes(1); }});
  });
}

TEST_P(loop_board_model, parts_run_in_the_order_of_their_positions_CHUNK_3) {
  explore_with({{2, 0, 0}, {1, 1, 0}, {1, 0, 1}}, [] {
    stop_source stop;
    loop_board board(policy(), stop, 1);
    int parts = 0;
    const auto takes_turns = [&](std::size_t rank) {
      member_state self = place_of(rank, 2, 0, &stop);
      for (std::uint32_t construct = 0; construct < 2; ++construct) {
        check(board.enter(self, construct), "nobody stopped it");
        const std::size_t position = (rank + construct) % 2;
        check(board.wait_for_turn(self, construct, position), "nobody stopped it");
        check(parts == static_cast<int>(2 * construct + position), "after all before it");
        ++parts;
        board.pass_turn(construct);
        board.leave(self, construct);
      }
    };
    threads({[&] { takes_turns(0); }, [&] { takes_turns(1); }});
    check(parts == 4, "each had its turn");
  });
}

TEST_P(loop_board_model, a_stop_releases_who_waits_for_a_place_and_a_reset_makes_it_as_new) {
  explore_with({{2, 1, 0}, {1, 0, 1}}, [] {
    stop_source stop;
    loop_board board(policy(), stop, 1);
    const auto comes = [&](member_state self) {
      if (!board.enter(self, 0)) return;
      board.take_ticket(0);
      board.leave(self, 0);
      check(!board.enter(self, 1), "the place was never left by the other");
    };
    threads({[&] { comes(place_of(0, 2, 0, &stop)); }, [&] { stop.request(1); }});
    board.reset();
    member_state next = place_of(0, 1, 0, &stop);
    next.enter(1, 2);
    check(board.enter(next, 0) && board.take_ticket(0) == 0, "as new");
  });
}

TEST_P(loop_board_model, a_member_may_be_ahead_by_as_many_constructs_as_there_are_places_CHUNK_1) {
  explore_with({{1, 0, 0}, {0, 1, 0}}, [] {
    bare_region all(2, policy());
    ghost ran;
    constexpr int constructs = static_cast<int>(loop_board::usual_slots) + 1;
    times(2, [&](int region) {
      const bool complete = all.run([&](member& me) {
        times(constructs, [&](int) { me.single(nowait, [&] { ran.add(1); }); });
      });
      check(complete && ran.value() == (region + 1) * constructs, "each ran once");
    });
  });
}

TEST_P(loop_board_model, an_ordered_loop_runs_each_part_after_the_one_before_CHUNK_3) {
  explore_with({{1, 0, 0}, {0, 1, 0}}, [] {
    bare_region all(2, policy());
    std::size_t next = 0;
    const bool complete = all.run([&](member& me) {
      me.for_ordered(0, 4, [&](std::size_t i, ordered_turn& turn) {
        if (i == 1) return;  // its turn passes all the same
        turn([&] {
          check(next == i, "in the order of the loop");
          next = i == 0 ? 2 : i + 1;
        });
      });
    });
    check(complete && next == 4, "all have run");
  });
}

TEST_P(steps_model, who_waits_for_a_step_sees_what_came_before_it_STEP_1) {
  explore_with({{2, 0, 0}, {1, 1, 0}, {1, 0, 1}}, [] {
    bare_region all(2, policy());
    int data[2] = {};
    all.run([&](member& me) {
      for (std::size_t step = 1; step <= 2; ++step) {
        if (me.rank() == 0) {
          data[step - 1] = 7;
          me.publish(step);
        } else {
          check(me.await_step(0, step), "nobody stopped it");
          check(data[step - 1] == 7, "sees what came before the step");
        }
      }
    });
  });
}

TEST_P(steps_model, one_step_lets_all_go_who_wait_for_it_STEP_1) {
  explore_with({{1, 0, 0}, {0, 1, 0}}, [] {
    bare_region all(3, policy());
    int data = 0;
    all.run([&](member& me) {
      if (me.rank() == 0) {
        data = 7;
        me.publish(1);
      } else {
        check(me.await_step(0, 1), "nobody stopped it");
        check(data == 7, "sees what came before the step");
      }
    });
  });
}

TEST_P(steps_model, steps_begin_again_in_every_region_STEP_2) {
  explore_with({{1, 0, 0}, {0, 1, 0}}, [] {
    bare_region all(2, policy());
    int data = 0;
    times(2, [&](int region) {
      all.run([&](member& me) {
        if (me.rank() == 0) {
          data = region + 1;
          me.publish(1);
        } else {
          check(me.await_step(0, 1), "nobody stopped it");
          check(data == region + 1, "the step of this region");
        }
      });
    });
  });
}

TEST_P(team_barrier_model, with_a_tree_who_was_released_by_a_stop_is_not_counted_again_MEET_3) {
  explore_with({{1, 0, 0}, {0, 1, 0}}, [] {
    stop_source stop;
    team_barrier all(3, policy(), stop, 2);
    const auto meets = [&](std::size_t rank) {
      member_state self = place_of(rank, 3);
      cell_access<int>::put(nullptr, all.value_of(rank, 1), 7);
      cell out = {};
      all.meet(self, out, [&](cell&) {
        for (std::size_t other = 0; other < 3; other += 2) {
          check(cell_access<int>::get(all.value_of(other, 1)) == 7,
                "all have brought their values");
        }
      });
    };
    threads({[&] { meets(0); },
             [&] {
               member_state self = place_of(1, 3);
               times(2, [&](int) { all.arrive_and_wait(self); });
             },
             [&] {
               stop.request(1);
               meets(2);
             }});
  });
}

TEST_P(team_barrier_model, who_stood_still_for_half_of_all_phases_is_awaited_RANKED_1) {
  explore_with({{0, 1, 0}}, [] {
    bare_region all(3, policy());
    int found[3] = {};
    const auto meet = [&](member& me) {
      ++found[me.rank()];
      check(me.sync_threads(), "nobody stopped it");
    };
    all.run_first(2, meet);
    all.shared().state(0).phase = 0x80000000;  // as if they had met that often
    all.run([&](member& me) {
      meet(me);
      check(found[0] + found[1] + found[2] == 5, "sees what came before each arrival");
    });
  });
}

TEST_P(late_shares_model, of_two_each_share_is_run_once_and_all_have_come_after_the_loop_LOOPS_5) {
  explore_with({{3, 0, 0}, {2, 1, 0}, {1, 0, 1}}, [] {
    bare_region all(2, policy());
    int before[2] = {}, runs[2] = {};
    all.run([&](member& me) {
      before[me.rank()] = 1;
      check(me.for_each(0, 2, [&](int i) { ++runs[i]; }), "nobody stopped it");
      check(runs[0] == 1 && runs[1] == 1, "each share has been run once");
      check(before[0] + before[1] == 2, "sees what came before each arrival");
    });
  });
}

TEST_P(late_shares_model, loops_in_a_row_and_the_regions_after_find_every_claim_in_step_PART_5) {
  explore_with({{2, 0, 0}, {1, 1, 0}}, [] {
    bare_region all(2, policy());
    int runs[2] = {};
    times(2, [&](int region) {
      all.run([&](member& me) {
        times(2, [&](int) { me.for_each(0, 2, [&](int i) { ++runs[i]; }); });
      });
      check(runs[0] == 2 * region + 2 && runs[1] == runs[0], "once in each loop");
    });
  });
}

TEST_P(late_shares_model, of_three_takers_and_claimers_meet_at_each_share_PART_5) {
  explore_with({{1, 0, 0}, {0, 1, 0}}, [] {
    bare_region all(3, policy());
    int before[3] = {}, runs[3] = {};
    all.run([&](member& me) {
      before[me.rank()] = 1;
      me.for_each(0, 3, [&](int i) { ++runs[i]; }, static_schedule(1));
      for (int i = 0; i < 3; ++i) check(runs[i] == 1 && before[i] == 1, "all have come, once each");
    });
  });
}

TEST_P(late_shares_model,
       with_a_tree_who_runs_the_last_share_may_be_the_last_to_arrive_MEET_4_MEET_5) {
  explore_with({{2, 0, 0}, {1, 1, 0}, {1, 0, 1}}, [] {
    bare_region all(2, policy(), 1);
    int before[2] = {};
    all.run([&](member& me) {
      times(2, [&](int step) {
        before[me.rank()] = step + 1;
        const int sum = me.reduce_each(0, 2, step, [](int i) { return i + 1; }, std::plus<int>());
        check(sum == step + 3, "the sum of this step");
        check(before[0] > step && before[1] > step, "sees what came before each arrival");
        me.sync_threads();
      });
    });
  });
}

TEST_P(late_shares_model, values_of_shares_are_not_overwritten_early_whoever_puts_them_GROUP_2) {
  explore_with({{2, 0, 0}, {1, 1, 0}, {1, 0, 1}}, [] {
    bare_region all(2, policy());
    all.run([&](member& me) {
      times(3, [&](int step) {
        const auto value = [&](int i) { return step * (i + 1); };
        check(me.reduce_each(0, 2, step, value, std::plus<int>()) == 4 * step,
              "the sum of this step");
      });
    });
  });
}

TEST_P(late_shares_model, after_a_loop_by_rank_a_member_finds_its_own_block_LOOPS_6) {
  explore_with({{2, 0, 0}, {1, 1, 0}, {1, 0, 1}}, [] {
    bare_region all(2, policy());
    int by_rank[2] = {}, runs[2] = {};
    all.run([&](member& me) {
      me.for_each(0, 2, [&](int i) { ++runs[i]; });
      me.for_range(lockstep::nowait, 0, 2, [&](int first, int last) {
        for (int i = first; i < last; ++i) by_rank[i] = static_cast<int>(me.rank()) + 1;
      });
      me.for_each(0, 2, [&](int i) {
        check(by_rank[i] == i + 1, "what its member has written by rank is there");
        ++runs[i];
      });
      check(runs[0] == 2 && runs[1] == 2, "each share has been run once in each loop");
    });
  });
}

int sum_of(member& me, const int (&of)[2]) {
  return me.reduce_each(0, 2, 0, [&of](int i) { return of[i]; }, std::plus<int>());
}

TEST_P(late_shares_model, a_reduction_sees_what_loops_without_a_wait_wrote_REDUCE_5) {
  explore_with({{2, 0, 0}, {1, 1, 0}, {1, 0, 1}}, [] {
    bare_region all(2, policy());
    int of_ticket[2] = {}, of_rank[2] = {};
    all.run([&](member& me) {
      me.for_range(lockstep::nowait, 0, 2, [&](int first, int last) {
        for (int i = first; i < last; ++i) of_rank[i] = i + 1;
      });
      check(sum_of(me, of_rank) == 3, "each member's own");
      me.single(nowait, [&] { of_ticket[0] = of_ticket[1] = 2; });
      check(sum_of(me, of_ticket) == 4, "whoever has written it");
    });
  });
}

TEST_P(late_shares_model, who_stood_still_finds_its_claims_in_step_PART_5) {
  explore_with({{1, 0, 0}, {0, 1, 0}}, [] {
    bare_region all(3, policy());
    const auto loop = [](member& me) { me.for_each(0, static_cast<int>(me.size()), [](int) {}); };
    all.run_first(2, loop);
    int runs[3] = {};
    all.run([&](member& me) {
      me.for_each(0, 3, [&](int i) { ++runs[i]; });
      check(runs[0] + runs[1] + runs[2] == 3, "each share has been run once");
    });
  });
}

TEST_P(loop_board_model, who_stood_still_comes_to_the_construct_of_the_others_CHUNK_1) {
  explore_with({{1, 0, 0}, {0, 1, 0}}, [] {
    bare_region all(3, policy());
    int runs = 0;
    const auto once = [&](member& me) { check(me.single([&] { ++runs; }), "nobody stopped it"); };
    all.run_first(2, once);
    all.run(once);
    check(runs == 2, "one member for each construct");
  });
}

TEST_P(late_shares_model,
       an_exception_in_a_taken_share_stops_the_region_even_if_it_is_caught_LOOPS_7) {
  explore_with({{2, 0, 0}, {1, 1, 0}, {1, 0, 1}}, [] {
    bare_region all(2, policy());
    const bool complete = all.run([&](member& me) {
      try {
        me.for_each(std::size_t{0}, std::size_t{2}, [](std::size_t i) {
          if (i == 1) throw i;
        });
        check(false, "no member goes on");
      } catch (const std::size_t& share) {
        if (share == me.rank()) me.request_stop();  // as a team does
      }
    });
    check(!complete, "run says so");
    int runs[2] = {};
    check(all.run([&](member& me) { me.for_each(0, 2, [&](int i) { ++runs[i]; }); }) &&
              runs[0] == 1 && runs[1] == 1,
          "claims are as new");
  });
}

TEST_P(late_shares_model,
       a_stop_at_any_time_leaves_nobody_waiting_and_the_next_region_alone_LOOPS_7) {
  explore_with({{1, 0, 0}, {0, 1, 0}}, [] {
    bare_region all(2, policy());
    int runs[2] = {}, after[2] = {};
    const std::uint32_t region = all.next_region();
    const bool complete = all.run_beside(
        [&](member& me) { times(2, [&](int) { me.for_each(0, 2, [&](int i) { ++runs[i]; }); }); },
        [&] { all.stop().request(region); });
    check(runs[0] <= 2 && runs[1] <= 2, "no share is run twice");
    check(!complete || runs[0] + runs[1] == 4, "none is left out where nobody stopped it");
    check(all.run([&](member& me) { me.for_each(0, 2, [&](int i) { ++after[i]; }); }) &&
              after[0] == 1 && after[1] == 1,
          "the next region was not meant");
  });
}

TEST_P(late_shares_model, with_a_tree_a_share_that_was_left_is_not_combined_LOOPS_7) {
  explore_with({{1, 0, 0}, {0, 1, 0}}, [] {
    bare_region all(2, policy(), 1);
    const std::uint32_t region = all.next_region();
    const auto add = [](int a, int b) {
      check(a > 0 && b > 0, "each share has its value");
      return a + b;
    };
    all.run_beside([&](member& me) { me.reduce_each(0, 2, 1, [](int i) { return i + 1; }, add); },
                   [&] { all.stop().request(region); });
  });
}

TEST_P(late_shares_model, a_sub_team_has_claims_of_its_own) {
  explore_with({{1, 0, 0}, {0, 1, 0}}, [] {
    bare_region all(2, policy());
    int runs[2] = {};
    all.run([&](member& me) {
      me.for_each(0, 2, [&](int i) { ++runs[i]; });
      sub_team part = me.split(0);
      part->for_each(0, 2, [&](int i) { ++runs[i]; });
      check(runs[0] == 2 && runs[1] == 2, "each share has been run once in each loop");
    });
  });
}

TEST_P(team_barrier_model, reductions_of_members_agree_phase_by_phase) {
  explore_with({{1, 0, 0}, {0, 1, 0}}, [] {
    bare_region all(2, policy());
    all.run([&](member& me) {
      const int mine = static_cast<int>(me.rank()) + 1;
      check(me.sync_sum(mine) == 3, "the sum");
      check(me.sync_max(mine) == 2, "the largest");
      check(me.broadcast(1, mine) == 2, "what member 1 has");
    });
  });
}

}  // namespace
}  // namespace lockstep::model
