// SPDX-License-Identifier: MIT
// tests/team/team_life_test.cpp -- from the first thread of a team to its last: start and join, pause and
// resume, hooks, names, places, errors, and the end of the program
//
// What a fork() does is in tests/fork/team_test.cpp, threads that cannot be started in team_start_test.cpp.
#include <lockstep/team.hpp>
#include "team/placement.hpp"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/asleep.hpp"
#include "support/message_of.hpp"
#include "support/policies.hpp"
#include "team/placement.hpp"

namespace {

using lockstep::binding;
using lockstep::member;
using lockstep::started_region;
using lockstep::team;
using lockstep::team_options;
using lockstep::test::message_of;
using lockstep::test::watched_thread;

/// The threads of this process whose names begin so.
std::size_t threads_named(const std::string& beginning) {
  std::size_t count = 0;
  std::error_code gone;  // threads end while they are listed
  for (std::filesystem::directory_iterator at("/proc/self/task", gone), end; at != end;
       at.increment(gone)) {
    std::ifstream file(at->path() / "comm");
    std::string name;
    if (std::getline(file, name) && name.compare(0, beginning.size(), beginning) == 0) ++count;
  }
  return count;
}
/// A thread that was joined may still be listed for a moment. If this never comes true, the ctest timeout ends the test.
void wait_for_threads_named(const std::string& beginning, std::size_t count) {
  while (threads_named(beginning) != count) std::this_thread::yield();
}

std::string name_of_this_thread() {
  char name[16] = {};
  pthread_getname_np(pthread_self(), name, sizeof name);
  return name;
}

/// Expects that a region calls every member once, and that its members can meet.
void expect_usable(team& workers) {
  std::vector<int> calls(workers.size());
  EXPECT_TRUE(workers.run([&](member& me) {
    EXPECT_TRUE(me.sync_threads());
    ++calls[me.rank()];
  }));
  EXPECT_EQ(calls, std::vector<int>(workers.size(), 1));
}

using size_and_policy = std::tuple<lockstep::test::named_policy, std::size_t>;

class started_team : public testing::TestWithParam<size_and_policy> {
 protected:
  lockstep::wait_policy policy() const { return std::get<0>(GetParam()).policy; }
  std::size_t members() const { return std::get<1>(GetParam()); }
};

INSTANTIATE_TEST_SUITE_P(sizes, started_team,
                         testing::Combine(testing::ValuesIn(lockstep::test::crowd_safe_policies()),
                                          testing::Values<std::size_t>(1, 2, 3, 9, 17)));

TEST_P(started_team, the_workers_run_before_join_and_the_caller_in_it) {
  team workers(members(), policy());
  for (int region = 0; region < 20; ++region) {
    std::atomic<std::size_t> began{0};
    std::vector<int> calls(members());
    std::thread::id rank_0;
    const auto f = [&](member& me) {
      if (me.rank() == 0) rank_0 = std::this_thread::get_id();
      ++calls[me.rank()];
      ++began;
    };
    started_region started = workers.start(f);
    while (began != members() - 1) std::this_thread::yield();  // hangs if they wait for join()
    EXPECT_EQ(calls[0], 0) << "the caller's part is join()'s";
    EXPECT_TRUE(started.join());
    EXPECT_EQ(calls, std::vector<int>(members(), 1));
    EXPECT_EQ(rank_0, std::this_thread::get_id());
  }
}

TEST_P(started_team, a_small_closure_is_copied_and_a_large_one_is_called_where_it_is) {
  team workers(members(), policy());
  for (int region = 0; region < 20; ++region) {
    std::vector<long> got(members());
    started_region started;
    {
      const long value = region;
      started =
          workers.start([&got, value](member& me) { got[me.rank()] = value; });  // a temporary
    }
    std::array<long, 64> overwritten;  // where the temporary may have been
    overwritten.fill(-1);
    ASSERT_EQ(overwritten[static_cast<std::size_t>(region)], -1);
    EXPECT_TRUE(started.join());
    EXPECT_EQ(got, std::vector<long>(members(), region));

    std::array<long, 64> ballast;
    ballast.fill(region + 1000);
    auto large = [&got, ballast](member& me) { got[me.rank()] = ballast[me.rank()]; };
    static_assert(!lockstep::detail::job::travels_as<decltype(large)>(), "too large to be copied");
    started = workers.start(large);
    EXPECT_TRUE(started.join());
    EXPECT_EQ(got, std::vector<long>(members(), region + 1000));
  }
}

TEST_P(started_team, TEAM_2_regions_between_start_and_join_run_inline) {
  team workers(members(), policy());
  std::vector<int> calls(members());
  started_region started = workers.start([&calls](member& me) { ++calls[me.rank()]; });
  std::size_t inner_size = 0;
  EXPECT_TRUE(workers.run([&](member& me) { inner_size = me.size(); }));
  EXPECT_EQ(inner_size, 1u);
  std::vector<int> visits(50);
  workers.for_each(0, visits.size(), [&](std::size_t i) { ++visits[i]; });
  EXPECT_EQ(visits, std::vector<int>(visits.size(), 1));
  EXPECT_TRUE(started.join());
  EXPECT_EQ(calls, std::vector<int>(members(), 1));
  expect_usable(workers);
}

TEST_P(started_team, TEAM_3_exceptions_come_out_of_join_the_lowest_rank_first) {
  team workers(members(), policy());
  for (std::size_t lowest = 0; lowest < members(); ++lowest) {
    const auto f = [lowest](member& me) {
      if (me.rank() >= lowest) throw std::runtime_error("rank " + std::to_string(me.rank()));
      while (me.sync_threads_unless_stopped()) {
      }
    };
    started_region started = workers.start(f);
    EXPECT_EQ(message_of<std::runtime_error>([&] { started.join(); }),
              "rank " + std::to_string(lowest));
    expect_usable(workers);
  }
}

TEST_P(started_team, request_stop_lets_the_workers_go_and_join_says_false) {
  team workers(members(), policy());
  const auto f = [](member& me) {
    while (me.sync_threads_unless_stopped()) {
    }
  };
  for (int region = 0; region < 10; ++region) {
    started_region started = workers.start(f);
    workers.request_stop();
    EXPECT_FALSE(started.join());
    expect_usable(workers);
  }
}

TEST_P(started_team, TEAM_1_outside_threads_are_served_after_join) {
  team workers(members(), policy());
  for (int region = 0; region < 10; ++region) {
    bool joined = false;  // plain: TEAM-1
    const auto nothing = [](member&) {};
    started_region started = workers.start(nothing);
    watched_thread other_thread;
    std::thread other([&] {
      other_thread.enter();
      workers.run([&](member& me) {
        if (me.rank() == 0) {
          EXPECT_TRUE(joined);
        }
      });
    });
    other_thread.wait_until_asleep();
    const auto mark = [&joined] { joined = true; };
    mark();
    EXPECT_TRUE(started.join());
    other.join();
  }
}

TEST(team_life, started_regions_of_several_teams_are_joined_last_first) {
  team first(2), second(3);
  std::atomic<int> calls{0};
  const auto count = [&calls](member&) { ++calls; };
  started_region of_first = first.start(count), of_second = second.start(count);
  const std::string refusal = message_of<std::logic_error>([&] { of_first.join(); });
  EXPECT_NE(refusal.find("lockstep::started_region::join"), std::string::npos) << refusal;
  EXPECT_NE(refusal.find("join those first"), std::string::npos) << refusal;
  EXPECT_TRUE(of_second.join());
  EXPECT_TRUE(of_first.join());
  EXPECT_EQ(calls.load(), 5);
  expect_usable(first);
  expect_usable(second);
}

TEST(team_life, START_1_join_is_refused_to_other_threads_and_where_there_is_no_region) {
  team workers(3);
  started_region started;
  const auto refused = [&](const char* expected) {
    const std::string text = message_of<std::logic_error>([&] { started.join(); });
    EXPECT_NE(text.find("lockstep::started_region::join"), std::string::npos) << text;
    EXPECT_NE(text.find(expected), std::string::npos) << text;
  };
  EXPECT_FALSE(started);
  refused("there is no region to be joined");
  started = workers.start([](member&) {});
  EXPECT_TRUE(started);
  std::thread([&] { refused("started by another thread"); }).join();
  EXPECT_TRUE(started.join());
  EXPECT_FALSE(started);
  refused("there is no region to be joined");
  expect_usable(workers);
}

TEST(team_life, join_is_refused_to_members_of_the_started_region) {
  team workers(3);
  std::vector<int> refusals(workers.size());
  started_region region;
  std::atomic<bool> started{false};
  std::atomic<std::size_t> refused{0};
  const auto f = [&](member& me) {
    while (!started) std::this_thread::yield();
    try {
      if (me.rank() != 0) region.join();
    } catch (const std::logic_error&) {
      ++refusals[me.rank()];
    }
    ++refused;
  };
  region = workers.start(f);
  started = true;
  while (refused != workers.size() - 1) std::this_thread::yield();  // before this thread joins
  EXPECT_TRUE(region.join());
  EXPECT_EQ(refusals, (std::vector<int>{0, 1, 1}));
  expect_usable(workers);
}

TEST(team_life, join_inside_a_region_of_another_team_is_refused) {
  team workers(2), others(2);
  started_region started = workers.start([](member&) {});
  std::atomic<int> refusals{0};
  others.run([&](member&) {
    refusals += message_of<std::logic_error>([&] { started.join(); }) != "no exception";
  });
  EXPECT_EQ(refusals.load(), 2);
  EXPECT_TRUE(started.join());
  expect_usable(workers);
}

TEST(team_life, TEAM_6_what_is_for_outside_threads_is_refused_inside_a_region_by_name) {
  team workers(3);
  const auto check = [&] {
    const auto refusal = [](const char* function, const std::string& text) {
      EXPECT_NE(text.find(std::string("lockstep::team::") + function + ": called inside a region"),
                std::string::npos)
          << text;
    };
    refusal("start", message_of<std::logic_error>(
                         [&] { static_cast<void>(workers.start([](member&) {})); }));
    refusal("pause", message_of<std::logic_error>([&] { workers.pause(); }));
    refusal("resume", message_of<std::logic_error>([&] { workers.resume(); }));
  };
  EXPECT_TRUE(workers.run([&](member&) { check(); }));
  started_region started = workers.start([](member&) {});
  check();
  EXPECT_TRUE(started.join());
  // By way of another team's thread as well.
  team others(2);
  EXPECT_TRUE(workers.run([&](member& me) {
    if (me.rank() == 1) others.run([&](member&) { check(); });
  }));
  expect_usable(workers);
}

TEST(team_life, a_member_count_out_of_range_is_refused_by_name) {
  team workers(3);
  for (const std::size_t k : {0u, 4u}) {
    const std::string text =
        message_of<std::invalid_argument>([&] { workers.run(k, [](member&) {}); });
    EXPECT_NE(text.find("lockstep::team::run"), std::string::npos) << text;
    EXPECT_NE(text.find("must be 1 to 3"), std::string::npos) << text;
  }
  EXPECT_THROW(team(0), std::invalid_argument);
  EXPECT_THROW(team(65537), std::invalid_argument);
  expect_usable(workers);
}

TEST(team_life, pause_gives_the_threads_back_and_the_next_region_has_new_ones) {
  team workers(team_options().members(4).name("paused"));
  for (int round = 0; round < 5; ++round) {
    expect_usable(workers);
    EXPECT_EQ(threads_named("paused "), 3u);
    workers.pause();
    wait_for_threads_named("paused ", 0);
    workers.pause();  // nothing is left to be done
    wait_for_threads_named("paused ", 0);
  }
  expect_usable(workers);
}

TEST(team_life, resume_starts_the_threads_before_they_are_needed) {
  team workers(team_options().members(4).name("resumed"));
  workers.pause();
  wait_for_threads_named("resumed ", 0);
  workers.resume();
  wait_for_threads_named("resumed ", 3);
  workers.resume();  // they are there
  expect_usable(workers);
  EXPECT_EQ(threads_named("resumed "), 3u);
}

TEST(team_life, a_paused_team_of_which_one_member_is_wanted_stays_paused) {
  team workers(team_options().members(4).name("asleep"));
  workers.pause();
  wait_for_threads_named("asleep ", 0);
  EXPECT_TRUE(workers.run(1, [](member& me) { EXPECT_EQ(me.size(), 1u); }));
  EXPECT_EQ(threads_named("asleep "), 0u);
  workers.request_stop();  // no region runs
  expect_usable(workers);
}

TEST(team_life, start_resumes_a_paused_team) {
  team workers(3);
  workers.pause();
  std::atomic<int> calls{0};
  started_region started = workers.start([&calls](member&) { ++calls; });
  EXPECT_TRUE(started.join());
  EXPECT_EQ(calls.load(), 3);
}

TEST(team_life, a_paused_team_and_a_team_of_one_end_cleanly) {
  for (int i = 0; i < 20; ++i) {
    team paused(3);
    paused.pause();
    team alone(1);
    alone.pause();
    alone.resume();
    expect_usable(alone);
  }
}

TEST(team_life, pause_and_resume_wait_for_their_turn) {
  team workers(3);
  std::atomic<bool> over{false};
  std::thread pauser([&] {
    while (!over) {
      workers.pause();
      workers.resume();
      std::this_thread::yield();
    }
  });
  std::vector<int> calls(workers.size());
  for (int region = 1; region <= 300; ++region) {
    EXPECT_TRUE(workers.run([&](member& me) {
      ++calls[me.rank()];
      me.sync_threads();
    }));
    ASSERT_EQ(calls, std::vector<int>(workers.size(), region));
  }
  over = true;
  pauser.join();
}

/// What the hooks of a team have seen, by rank.
struct hook_log {
  struct of_rank {
    std::vector<std::thread::id> started, exited;  // plain: the team's threads one after the other
  };
  std::vector<of_rank> ranks;
  inline static thread_local std::size_t set_by_hook = 0;

  explicit hook_log(std::size_t members) : ranks(members) {}
  team_options options() {
    return team_options()
        .members(ranks.size())
        .on_start([this](std::size_t rank) {
          ranks.at(rank).started.push_back(std::this_thread::get_id());
          set_by_hook = rank + 100;
        })
        .on_exit([this](std::size_t rank) {
          ranks.at(rank).exited.push_back(std::this_thread::get_id());
        });
  }
};

TEST(team_life, hooks_are_called_once_on_each_thread_before_its_first_region_and_after_its_last) {
  constexpr std::size_t members = 5;
  hook_log log(members);
  std::vector<std::thread::id> thread_of(members);
  {
    team workers(log.options());
    for (int region = 0; region < 3; ++region) {
      workers.run([&](member& me) {
        thread_of[me.rank()] = std::this_thread::get_id();
        EXPECT_EQ(hook_log::set_by_hook, me.rank() == 0 ? 0 : me.rank() + 100);
        EXPECT_TRUE(log.ranks[me.rank()].exited.empty());
      });
    }
  }
  EXPECT_TRUE(log.ranks[0].started.empty() && log.ranks[0].exited.empty()) << "the caller's";
  for (std::size_t rank = 1; rank < members; ++rank) {
    const std::vector<std::thread::id> expected = {thread_of[rank]};
    EXPECT_EQ(log.ranks[rank].started, expected) << rank;
    EXPECT_EQ(log.ranks[rank].exited, expected) << rank;
  }
}

TEST(team_life, hooks_are_called_again_for_the_threads_after_a_pause) {
  constexpr std::size_t members = 3;
  hook_log log(members);
  {
    team workers(log.options());
    expect_usable(workers);
    workers.pause();
    for (std::size_t rank = 1; rank < members; ++rank) {
      EXPECT_EQ(log.ranks[rank].exited.size(), 1u);
    }
    workers.resume();
  }
  for (std::size_t rank = 1; rank < members; ++rank) {
    EXPECT_EQ(log.ranks[rank].started.size(), 2u);
    EXPECT_EQ(log.ranks[rank].exited.size(), 2u);
  }
}

TEST(team_life, threads_are_named_after_the_team_and_the_rank_but_for_the_callers) {
  const std::string mine = name_of_this_thread();
  for (const std::string& name : {std::string("lockstep"), std::string("solver")}) {
    team_options options = team_options().members(12);
    if (name != "lockstep") options.name(name);
    team workers(options);
    std::vector<std::string> names(workers.size());
    workers.run([&](member& me) { names[me.rank()] = name_of_this_thread(); });
    EXPECT_EQ(names[0], mine);
    for (std::size_t rank = 1; rank < names.size(); ++rank) {
      EXPECT_EQ(names[rank], name + " " + std::to_string(rank));
    }
  }
}

std::vector<unsigned> cpus_of_this_thread() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  sched_getaffinity(0, sizeof mask, &mask);
  std::vector<unsigned> cpus;
  for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &mask)) cpus.push_back(cpu);
  }
  return cpus;
}

TEST(team_life, members_run_where_the_plan_has_bound_them_and_the_caller_where_it_was) {
  const std::vector<unsigned> mine = cpus_of_this_thread();
  const std::vector<unsigned> backwards(mine.rbegin(), mine.rend());
  for (const binding& where : {binding::none(), binding::close(), binding::spread(),
                               binding::cpus({mine.back()}), binding::cpus(backwards)}) {
    const team_options options = team_options().members(5).bind(where);
    const std::vector<unsigned> plan = lockstep::detail::resolve(options).cpu_of_rank;
    ASSERT_EQ(plan.empty(), where.is_none());
    team workers(options);
    std::vector<std::vector<unsigned>> found(workers.size());
    workers.run([&](member& me) { found[me.rank()] = cpus_of_this_thread(); });
    EXPECT_EQ(found[0], mine);
    for (std::size_t rank = 1; rank < found.size(); ++rank) {
      EXPECT_EQ(found[rank], where.is_none() ? mine : std::vector<unsigned>{plan[rank]}) << rank;
    }
  }
}

TEST(team_life, TEAM_2_teams_that_are_called_from_each_others_regions_do_not_wait_in_a_circle) {
  team first(2), second(2), third(2);
  team* const teams[] = {&first, &second, &third};
  std::atomic<long> calls{0}, inner_calls{0};
  constexpr int regions = 300;
  std::vector<std::thread> callers;
  for (std::size_t k = 0; k < 3; ++k) {
    callers.emplace_back([&, k] {
      for (int region = 0; region < regions; ++region) {
        teams[k]->run([&](member& outer) {
          ++calls;
          if (outer.rank() != static_cast<std::size_t>(region) % 2) return;
          EXPECT_TRUE(teams[(k + 1) % 3]->run([&](member& inner) {
            if (inner.rank() == 0) ++inner_calls;
            EXPECT_TRUE(inner.sync_threads());
          }));
        });
      }
    });
  }
  for (std::thread& each : callers) each.join();
  EXPECT_EQ(calls.load(), 3 * 2 * regions);
  EXPECT_EQ(inner_calls.load(), 3 * regions);
}

// A static team: used before main, ended after it.
int calls_before_main = 0;
team before_main(3);
const bool used_before_main = [] {
  std::atomic<int> calls{0};
  before_main.run([&](member&) { ++calls; });
  calls_before_main = calls;
  return true;
}();

TEST(team_life, a_static_team_is_usable_before_main_and_in_it) {
  EXPECT_TRUE(used_before_main);
  EXPECT_EQ(calls_before_main, 3);
  expect_usable(before_main);
}

// The end of the program: each test runs in a process of its own, which starts the program anew.
class team_life_death : public testing::Test {
 protected:
  team_life_death() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }

  inline static std::atomic<int> threads_ended{0};
  static void print_threads_ended() {
    std::fprintf(stderr, "%d threads ended\n", threads_ended.load());
  }
  /// A static team of three whose threads are counted as they end.
  static team& static_team() {
    std::atexit(print_threads_ended);  // called after the team's end
    static team workers(team_options().members(3).on_exit([](std::size_t) { ++threads_ended; }));
    return workers;
  }
};

TEST_F(team_life_death, exit_while_a_static_team_idles_ends_its_threads) {
  EXPECT_EXIT(
      {
        expect_usable(static_team());
        std::exit(7);
      },
      testing::ExitedWithCode(7), "2 threads ended");
  EXPECT_EXIT(
      {
        static_team();  // no region ever
        std::exit(7);
      },
      testing::ExitedWithCode(7), "2 threads ended");
}

TEST_F(team_life_death, exit_while_a_static_team_is_paused_ends_the_program) {
  EXPECT_EXIT(
      {
        expect_usable(static_team());
        static_team().pause();
        std::exit(7);
      },
      testing::ExitedWithCode(7), "2 threads ended");
}

TEST_F(team_life_death, a_team_that_is_destroyed_inside_its_own_region_says_so) {
  const char* const message = "lockstep::team: .*inside its own region; leave the region first";
  for (const std::size_t rank : {0u, 1u}) {
    EXPECT_DEATH(
        {
          auto workers = std::make_unique<team>(2);
          workers->run([&](member& me) {
            if (me.rank() == rank) workers.reset();
            me.sync_threads();
          });
        },
        message);
  }
  EXPECT_DEATH(
      {
        started_region started;  // outlives the team
        team workers(2);
        started = workers.start([](member&) {});
      },
      message);
}

}  // namespace
