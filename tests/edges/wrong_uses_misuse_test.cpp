// SPDX-License-Identifier: MIT
// tests/edges/wrong_uses_misuse_test.cpp -- each row of docs/misuse.md: the wrong use ends with the message of the row
#if !defined(LOCKSTEP_DIAGNOSE_MISUSE)
#define LOCKSTEP_DIAGNOSE_MISUSE 1
#endif
#include <lockstep/lockstep.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <lockstep/toolbox.hpp>
#include "support/asleep.hpp"

namespace {

using namespace lockstep;

const auto nothing = [] {};
const auto nothing_at = [](std::size_t) {};
const auto visit = [](int) {};

/// In a region of two.
template <class Function>
void in_two(Function part) {
  team two(2);
  two.run(part);
}
/// Runs a plan of the graph that `build` makes, with two members, `iterations` times.
template <class Build>
void plan_of_two(Build build, std::size_t iterations = 1) {
  team two(2);
  graph g;
  build(g);
  plan(g, two).run(iterations);
}
/// Another thread does `wait`, and is asleep in it when this one does `deed`.
template <class Wait, class Deed>
void while_another(Wait wait, Deed deed) {
  test::watched_thread other;
  std::thread waiter([&] {
    other.enter();
    wait();
  });
  other.wait_until_asleep();
  deed();
  waiter.join();
}
template <class Function>
void on_another_thread(Function f) {
  std::thread(f).join();
}

/// The wrong uses, by the names that the page gives them.
const std::map<std::string, void (*)()> wrong_uses = {
    {"a member does not come to a barrier",
     [] { in_two([](member& me) { me.rank() == 0 ? me.sync_threads() : false; }); }},
    {"a member leaves early",
     [] {
       in_two([](member& me) {
         for (int step = 0; step < 3 && (step == 0 || me.rank() == 0); ++step) {
           me.for_each(0, 9, visit);
         }
       });
     }},
    {"members call different things",
     [] { in_two([](member& me) { me.rank() == 0 ? me.single(nothing) : me.sync_threads(); }); }},
    {"members give different ranges",
     [] { in_two([](member& me) { me.for_each(0, me.rank() == 0 ? 9 : 8, visit); }); }},
    {"a member gives the bounds of its own part",
     [] {
       in_two([](member& me) {
         const std::size_t mine = 9 * me.rank();
         me.for_each(mine, mine + 9, nothing_at);
       });
     }},
    {"a barrier inside a loop",
     [] { in_two([](member& me) { me.for_range(0, 9, [&](int, int) { me.sync_threads(); }); }); }},
    {"`single` inside a loop",
     [] { in_two([](member& me) { me.for_each(0, 8, [&](int) { me.single(nothing); }); }); }},
    {"a loop inside a loop of the same region",
     [] { in_two([](member& me) { me.for_each(0, 8, [&](int) { me.for_each(0, 8, visit); }); }); }},
    {"a sum inside a loop",
     [] { in_two([](member& me) { me.for_each(nowait, 0, 8, [&](int) { me.sync_sum(1); }); }); }},
    {"a barrier inside a reduction",
     [] {
       in_two([](member& me) {
         me.reduce_each(0, 9, 0, [&](int i) { return me.sync_threads() ? i : 0; }, plus());
       });
     }},
    {"a loop inside a scan",
     [] {
       in_two([](member& me) {
         const auto loop = [&](int i) { return me.for_each(0, 9, visit) ? i : 0; };
         me.scan_each(0, 9, 0, loop, plus(), [](int, int) {});
       });
     }},
    {"a barrier inside `single`",
     [] { in_two([](member& me) { me.single([&] { me.sync_threads(); }); }); }},
    {"a loop inside `masked`",
     [] { in_two([](member& me) { me.masked([&] { me.for_each(0, 8, visit); }); }); }},
    {"a barrier inside `critical`",
     [] { in_two([](member& me) { me.critical([&] { me.sync_threads(); }); }); }},
    {"`critical` inside `critical`",
     [] { in_two([](member& me) { me.critical([&] { me.critical(nothing); }); }); }},
    {"one member alone calls a loop with `nowait`",
     [] {
       in_two([](member& me) {
         if (me.rank() == 0) me.for_each(nowait, 0, 9, visit);
         me.sync_threads();
       });
     }},
    {"one member alone comes to `for_ordered`, the others return",
     [] {
       in_two([](member& me) {
         if (me.rank() == 0) me.for_ordered(0, 9, [](int, ordered_turn& turn) { turn(nothing); });
       });
     }},
    {"one member alone comes to `for_ordered`, the others go on",
     [] {
       in_two([](member& me) {
         if (me.rank() == 0) me.for_ordered(0, 9, [](int, ordered_turn& turn) { turn(nothing); });
         me.sync_threads();
       });
     }},
    {"one member alone calls many constructs with `nowait`",
     [] {
       in_two([](member& me) {
         for (int i = 0; i < 9 && me.rank() == 0; ++i) me.single(nowait, nothing);
         me.sync_threads();
       });
     }},
    {"a member never publishes a step that another awaits",
     [] { in_two([](member& me) { me.rank() == 0 ? me.await_step(1, 1) : me.sync_threads(); }); }},
    {"another thread uses `me`",
     [] {
       in_two([](member& me) {
         if (me.rank() == 0) on_another_thread([&] { me.sync_threads(); });
         me.sync_threads();
       });
     }},
    {"another thread uses the `me` of a region that runs alone",
     [] {
       team two(2);
       two.run([&] { two.run([](member& me) { on_another_thread([&] { me.sync_threads(); }); }); });
     }},
    {"a member without a part in a sub-team uses it",
     [] { in_two([](member& me) { me.first(1)->sync_threads(); }); }},
    {"a sub-team is used after its region",
     [] {
       sub_team kept;
       in_two([&](member& me) {
         sub_team mine = me.split(0);
         if (me.rank() == 0) kept = std::move(mine);
       });
       kept->sync_threads();
     }},
    {"a turn is taken twice",
     [] {
       in_two([](member& me) {
         me.for_ordered(0, 9, [](int, ordered_turn& turn) {
           turn(nothing);
           turn(nothing);
         });
       });
     }},
    {"an unsigned bound passes zero",
     [] {
       const std::vector<int> v;
       team(2).for_each(std::size_t{1}, v.size() - 1, nothing_at);
     }},
    {"a chunk of 0", [] { team(2).for_each(0, 9, visit, dynamic_schedule(0)); }},
    {"a team of nobody", [] { team(std::size_t{0}); }},
    {"a region of more members than there are", [] { team(2).run(3, [](member&) {}); }},
    {"a value from a member that is not there",
     [] { in_two([](member& me) { me.broadcast(2, 1); }); }},
    {"a value of a member that is not there",
     [] {
       team two(2);
       per_member<int> values(two);
       ++values[2];
     }},
    {"a team ends inside its own region",
     [] {
       auto two = std::make_unique<team>(2);
       two->run([&](member& me) { me.masked([&] { two.reset(); }); });
     }},
    {"a team is used after its end",
     [] {
       alignas(team) unsigned char room[sizeof(team)];
       team* const two = new (room) team(2);
       two->~team();
       two->run([](member&) {});
     }},
    {"a region is started inside another",
     [] {
       team two(2);
       started_region first = two.start([](member&) {});
       started_region second = two.start([](member&) {});
     }},
    {"a team has no name",
     [] {
       const char* const none = nullptr;
       team(team_options().members(2).name(none));
     }},
    {"edges form a cycle",
     [] {
       plan_of_two([](graph& g) {
         const graph_node a = g.node("a", nothing), b = g.node("b", nothing);
         g.edge(a, b).edge(b, a);
       });
     }},
    {"channels form a cycle",
     [] {
       buffer<int, 4> there, back;
       plan_of_two([&](graph& g) {
         const graph_node a = g.node("a", nothing), b = g.node("b", nothing);
         g.channel(a, b, there).channel(b, a, back);
       });
     }},
    {"a node of another graph",
     [] {
       graph g, other;
       g.edge(g.node("a", nothing), other.node("b", nothing));
     }},
    {"a condition that returns nothing",
     [] { plan_of_two([](graph& g) { g.edge_if(g.node("a", nothing), g.node("b", nothing)); }); }},
    {"a node on a member that is not there",
     [] { plan_of_two([](graph& g) { g.node("a", nothing).pin(5); }); }},
    {"iterations overlap without a bound",
     [] {
       plan_of_two([](graph& g) {
         g.overlap();
         g.edge(g.node("a", nothing), g.node("b", nothing));
       });
     }},
    {"a buffer is too small for those that use it",
     [] {
       buffer<int, 2> values;
       plan_of_two(
           [&](graph& g) { g.node("a", [&](std::size_t i) { values[i] = values[i + 2]; }); }, 9);
     }},
    {"a value is read before it is written",
     [] {
       buffer<int, 4> values;
       plan_of_two(
           [&](graph& g) {
             g.node("a", [&](std::size_t i) {
               if (i > 0) ++values[i - 1];
             });
           },
           9);
     }},
    {"a value is read before its iteration",
     [] {
       buffer<int, 4> values;
       plan_of_two([&](graph& g) {
         const graph_node a = g.node("a", [&](std::size_t i) { values[i] = 1; });
         g.channel(a, g.node("b", [&](std::size_t i) { return values[i + 1] != 0; }), values);
       });
     }},
    {"a member leaves a team-wide node early",
     [] {
       plan_of_two([](graph& g) {
         g.node("a", graph::whole_team,
                [](member& me) { me.rank() == 0 ? me.sync_threads() : false; });
       });
     }},
    {"a node runs its own plan",
     [] {
       team two(2);
       graph g;
       plan* self = nullptr;
       g.node("a", [&] { self->run(); });
       plan whole(g, two);
       self = &whole;
       whole.run();
     }},
    {"a graph ends before its plan",
     [] {
       team two(2);
       auto g = std::make_unique<graph>();
       g->node("a", nothing);
       plan whole(*g, two);
       g.reset();
       whole.run();
     }},
    {"a mutex is unlocked by another thread",
     [] {
       mutex lock;
       lock.lock();
       on_another_thread([&] { lock.unlock(); });
     }},
    {"a mutex is locked twice",
     [] {
       mutex lock;
       lock.lock();
       lock.lock();
     }},
    {"a condition is waited for without the lock",
     [] {
       mutex lock;
       condition_variable changed;
       changed.wait(lock);
     }},
    {"an object ends while a thread waits on it",
     [] {
       auto gate = std::make_unique<manual_reset_event>();
       while_another([&] { gate->wait(); }, [&] { gate.reset(); });
     }},
    {"two threads wait on an event",
     [] {
       event done;
       while_another([&] { done.wait(); }, [&] { done.wait(); });
     }},
    {"two threads have the same rank",
     [] {
       ranked_barrier both(2);
       while_another([&] { both.arrive_and_wait(0); }, [&] { both.arrive_and_wait(0); });
     }},
    {"a rank that is not there", [] { ranked_barrier(2).arrive(2); }},
    {"more arrivals than a barrier is for", [] { static_cast<void>(barrier<>(2).arrive(3)); }},
    {"a latch goes below zero", [] { latch(1).count_down(2); }},
    {"a semaphore goes above its maximum", [] { binary_semaphore(1).release(); }},
    {"a value is set twice",
     [] {
       eventual<int> value;
       value.set_value(1);
       value.set_value(2);
     }},
};

/// The rows of the page: what is wrong, and the message, in which … stands for anything.
std::vector<std::pair<std::string, std::string>> rows_of_page() {
  std::ifstream from(LOCKSTEP_TEST_PAGE);
  std::vector<std::pair<std::string, std::string>> rows;
  for (std::string line; std::getline(from, line);) {
    const std::size_t middle = line.find(" | `lockstep");
    if (line.compare(0, 2, "| ") != 0 || middle == std::string::npos) continue;
    rows.emplace_back(line.substr(2, middle - 2),
                      line.substr(middle + 4, line.rfind("` |") - middle - 4));
  }
  return rows;
}
std::string pattern_of(const std::string& message) {
  std::string pattern;
  for (std::size_t i = 0; i < message.size(); ++i) {
    if (message.compare(i, 3, "…") == 0) {
      pattern += ".*";
      i += 2;
    } else if (std::string("()[]{}.*+?|^$\\").find(message[i]) != std::string::npos) {
      pattern += std::string("\\") + message[i];
    } else {
      pattern += message[i];
    }
  }
  return pattern + "\n";
}

void use(const std::string& wrong) {
  try {
    wrong_uses.at(wrong)();
  } catch (const std::exception& said) {
    std::fprintf(stderr, "%s\n", said.what());
    std::abort();
  }
}

TEST(wrong_uses_misuse, each_says_what_the_page_says) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  std::set<std::string> on_page;
  for (const auto& row : rows_of_page()) {
    on_page.insert(row.first);
    ASSERT_EQ(wrong_uses.count(row.first), 1u) << row.first;
    EXPECT_DEATH(use(row.first), pattern_of(row.second)) << row.first;
  }
  for (const auto& each : wrong_uses) EXPECT_EQ(on_page.count(each.first), 1u) << each.first;
}

}  // namespace
