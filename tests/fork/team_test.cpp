// SPDX-License-Identifier: MIT
// tests/fork/team_test.cpp -- TEAM-5: teams in the child processes of a program that has threads
//
// Every test runs in a child of its own (expect_in_child), and makes grandchildren.
#include <lockstep/build_info.hpp>
#include <lockstep/external_team.hpp>
#include <lockstep/team.hpp>

#include <gtest/gtest.h>
#include <sched.h>

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

#include "fault/child_process.hpp"
#include "support/asleep.hpp"
#include "support/effort.hpp"

namespace {

using lockstep::external_team;
using lockstep::member;
using lockstep::started_region;
using lockstep::team;
using lockstep::team_options;
using lockstep::wait_policy;
using lockstep::test::expect_in_child;
using lockstep::test::in_child;
using lockstep::test::watched_thread;

std::size_t threads_named(const std::string& beginning) {
  std::size_t count = 0;
  for (const auto& each : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream file(each.path() / "comm");
    std::string name;
    if (std::getline(file, name) && name.compare(0, beginning.size(), beginning) == 0) ++count;
  }
  return count;
}

/// Regions of every kind: all members, some, sub-teams, an exception, a stop.
void expect_usable(team& workers) {
  for (std::size_t k = 1; k <= workers.size(); ++k) {
    std::vector<int> calls(workers.size());
    EXPECT_TRUE(workers.run(k, [&](member& me) {
      EXPECT_EQ(me.sync_sum(std::size_t{1}), k);
      ++calls[me.rank()];
      lockstep::sub_team half = me.split(me.rank() % 2);
      half->sync_threads();
    }));
    for (std::size_t rank = 0; rank < calls.size(); ++rank) EXPECT_EQ(calls[rank], rank < k);
  }
  EXPECT_FALSE(workers.run([](member& me) {
    if (me.rank() + 1 == me.size()) me.request_stop();
    while (me.sync_threads_unless_stopped()) {
    }
  }));
  EXPECT_THROW(workers.run([](member& me) {
    if (me.rank() + 1 == me.size()) throw std::runtime_error("a member");
    while (me.sync_threads_unless_stopped()) {
    }
  }),
               std::runtime_error);
}

int status() { return testing::Test::HasFailure() ? 1 : 0; }

/// In the child: the team as it was made, on threads of the child's.
void expect_usable_in_child(team& workers) {
  expect_in_child([&] { expect_usable(workers); });
}

class team_fork : public testing::TestWithParam<std::size_t> {
 protected:
  std::size_t members() const { return GetParam(); }
};
INSTANTIATE_TEST_SUITE_P(sizes, team_fork, testing::Values<std::size_t>(1, 2, 4, 9, 17));

TEST_P(team_fork, TEAM_5_a_child_runs_regions_on_threads_of_its_own) {
  expect_in_child([&] {
    for (const wait_policy policy : {wait_policy(), wait_policy::block()}) {
      team workers(team_options().members(members()).policy(policy).name("forked"));
      for (int i = 0; i < 3; ++i) {
        expect_usable(workers);
        expect_in_child([&] {
          EXPECT_EQ(threads_named("forked "), 0u) << "only the forking thread is there";
          expect_usable(workers);
          EXPECT_EQ(threads_named("forked "), members() - 1);
        });
      }
      expect_usable(workers);
    }
  });
}

TEST_P(team_fork, TEAM_5_a_team_that_has_never_run_is_usable_in_a_child) {
  expect_in_child([&] {
    team workers(members());
    expect_usable_in_child(workers);
    expect_usable(workers);
  });
}

TEST_P(team_fork, TEAM_5_children_of_children_have_threads_of_their_own) {
  expect_in_child([&] {
    team workers(members());
    expect_usable(workers);
    expect_in_child([&] {
      expect_usable(workers);
      expect_usable_in_child(workers);
      expect_in_child([&] {  // without a region of its own first
        expect_usable_in_child(workers);
        expect_usable(workers);
      });
      expect_usable(workers);
    });
    expect_usable(workers);
  });
}

TEST_P(team_fork, TEAM_5_a_team_that_was_paused_is_usable_in_a_child) {
  expect_in_child([&] {
    team workers(members());
    workers.pause();
    expect_usable_in_child(workers);
    expect_in_child([&] {
      workers.pause();
      workers.resume();
      expect_usable(workers);
      workers.pause();
      expect_usable(workers);
    });
    expect_usable(workers);
  });
}

TEST_P(team_fork, TEAM_5_a_team_ends_in_a_child_whether_it_was_used_there_or_not) {
  expect_in_child([&] {
    for (const bool is_used : {false, true}) {
      auto workers = std::make_unique<team>(members());
      expect_usable(*workers);
      expect_in_child([&] {
        if (is_used) expect_usable(*workers);
        workers.reset();
        team another(members());
        expect_usable(another);
      });
      expect_usable(*workers);
    }
  });
}

TEST_P(team_fork, TEAM_5_a_child_ends_by_exit_with_a_static_team) {
  expect_in_child([&] {
    // One for each of these tests: each runs once in this process, which ends after it.
    static std::unique_ptr<team> at_exit;
    at_exit = std::make_unique<team>(members());
    team* const workers = at_exit.get();
    expect_usable(*workers);
    for (const bool is_used : {false, true}) {
      lockstep::test::child_process child([&] {
        if (is_used) expect_usable(*workers);
        std::exit(status() + 40);
        return 0;
      });
      EXPECT_EQ(child.wait(), 40);
    }
    expect_usable(*workers);
  });
}

TEST_P(team_fork, TEAM_5_a_region_that_member_0_forks_in_is_stopped_in_the_child) {
  expect_in_child([&] {
    team workers(members());
    for (int i = 0; i < 3; ++i) {
      pid_t child = -1;
      int waits = 0, values = 0;
      bool wrong_sync = false;
      const bool complete = workers.run([&](member& me) {
        me.sync_threads();
        if (me.rank() == 0) {
          child = fork();
          if (child == 0) prctl(PR_SET_PDEATHSIG, SIGKILL);
        }
        if (me.rank() == 0 && child == 0) {
          EXPECT_TRUE(me.stop_requested());
          waits += !me.sync_threads_unless_stopped();
          waits += !me.for_each_unless_stopped(0, 10, [](std::size_t) {});
          if (me.size() == 1) return;
          waits += !me.await_step_unless_stopped(me.size() - 1, 5);
          static_cast<void>(me.sync_sum(1));  // throws region_stopped
          ++values;
          return;
        }
        if (!me.sync_threads_unless_stopped() && me.rank() == 0) wrong_sync = true;
      });
      if (child == 0) {
        EXPECT_FALSE(complete);
        EXPECT_EQ(waits, members() == 1 ? 2 : 3);
        EXPECT_EQ(values, 0);
        expect_usable(workers);
        std::_Exit(status());
      }
      EXPECT_TRUE(complete);
      EXPECT_FALSE(wrong_sync);
      int how = 0;
      waitpid(child, &how, 0);
      EXPECT_TRUE(WIFEXITED(how) && WEXITSTATUS(how) == 0) << how;
      expect_usable(workers);
    }
  });
}

TEST_P(team_fork, TEAM_5_a_region_that_was_started_and_not_joined_is_stopped_in_the_child) {
  expect_in_child([&] {
    team workers(members());
    std::vector<int> calls(members());
    const auto f = [&](member& me) {
      while (me.stop_requested()) return;
      ++calls[me.rank()];
      me.sync_threads();
    };
    started_region started = workers.start(f);
    expect_in_child([&] {
      EXPECT_FALSE(started.join());
      expect_usable(workers);
    });
    expect_in_child([&] {
      workers.run([](member& me) { EXPECT_EQ(me.size(), 1u); });  // TEAM-2
      EXPECT_FALSE(started.join());
      EXPECT_THROW(started.join(), std::logic_error);
      expect_usable(workers);
    });
    EXPECT_TRUE(started.join());
    EXPECT_EQ(calls, std::vector<int>(members(), 1));
    expect_usable(workers);
  });
}

/// Runs f(stop) on another thread while this object lives; f returns once stop is true.
class meanwhile {
 public:
  template <class Function>
  explicit meanwhile(Function f) : thread_([this, f] { f(over_); }) {}
  ~meanwhile() {
    over_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> over_{false};
  std::thread thread_;
};

TEST_P(team_fork, TEAM_5_a_child_may_use_a_team_whose_regions_another_thread_was_running) {
  expect_in_child([&] {
    team workers(members());
    std::atomic<long> regions{0};
    const meanwhile runner([&](const std::atomic<bool>& over) {
      while (!over) {
        workers.run([&](member& me) {
          lockstep::sub_team half = me.split(me.rank() % 2);
          half->sync_threads();
          lockstep::sub_team one = me.first(1);
          me.for_each(0, 40, [](std::size_t) {}, lockstep::dynamic_schedule());
          me.publish(1);
          me.sync_sum(std::vector<int>(3, 1).size());
        });
        ++regions;
      }
    });
    for (int i = 0; i < 20; ++i) {
      const long before = regions;
      while (regions == before) std::this_thread::yield();
      expect_usable_in_child(workers);
    }
  });
}

TEST_P(team_fork, TEAM_5_a_child_may_use_a_team_that_another_thread_has_started_a_region_of) {
  expect_in_child([&] {
    team workers(members());
    std::atomic<bool> is_started{false};
    started_region started;
    const meanwhile starter([&](const std::atomic<bool>& over) {
      started = workers.start([](member&) {});
      is_started = true;
      while (!over) std::this_thread::yield();
      started.join();
    });
    while (!is_started) std::this_thread::yield();
    expect_in_child([&] {
      EXPECT_THROW(started.join(), std::logic_error);
      expect_usable(workers);
    });
  });
}

TEST_P(team_fork, TEAM_5_threads_that_were_queued_for_the_team_are_not_waited_for) {
  expect_in_child([&] {
    team workers(members(), wait_policy::block());
    std::vector<watched_thread> watched(3);
    std::vector<std::thread> queued;
    started_region started = workers.start([](member&) {});
    for (watched_thread& each : watched) {
      queued.emplace_back([&] {
        each.enter();
        workers.run([](member&) {});
      });
      each.wait_until_asleep();
    }
    expect_in_child([&] {
      EXPECT_FALSE(started.join());
      expect_usable(workers);
    });
    EXPECT_TRUE(started.join());
    for (std::thread& each : queued) each.join();
    expect_usable(workers);
  });
}

TEST_P(team_fork,
       TEAM_5_an_exception_of_a_region_of_another_thread_does_not_come_out_in_the_child) {
  if (members() == 1) GTEST_SKIP() << "the member that throws is another than the one that stays";
  expect_in_child([&] {
    team workers(members());
    std::atomic<bool> has_thrown{false};
    const meanwhile runner([&](const std::atomic<bool>& over) {
      EXPECT_THROW(workers.run([&](member& me) {
        if (me.rank() == 1) throw std::runtime_error("of the parent");
        if (me.rank() != 0) return;
        while (!me.stop_requested()) std::this_thread::yield();
        has_thrown = true;
        while (!over) std::this_thread::yield();
      }),
                   std::runtime_error);
    });
    while (!has_thrown) std::this_thread::yield();
    expect_in_child([&] {
      EXPECT_FALSE(workers.run([](member& me) { me.request_stop(); }));
      expect_usable(workers);
    });
  });
}

TEST(team_fork, TEAM_5_a_child_may_be_made_while_another_thread_makes_and_destroys_teams) {
  expect_in_child([] {
    team workers(3);
    std::atomic<long> made{0};
    const meanwhile maker([&](const std::atomic<bool>& over) {
      while (!over) {
        team one(2);
        external_team other(2);
        ++made;
      }
    });
    for (int i = 0; i < 150; ++i) {
      const long before = made;
      while (made == before) std::this_thread::yield();
      expect_in_child([&] {
        team another(2);
        expect_usable(another);
        expect_usable(workers);
      });
      if (testing::Test::HasFailure()) break;
    }
  });
}

/// Calls f with another place on the stack for each depth.
template <class Function>
void at_depth(int depth, const Function& f) {
  volatile char room[8] = {};
  if (depth > 0) {
    at_depth(depth - 1, f);
  } else {
    f();
  }
  static_cast<void>(room[0]);
}

// Threads of the child get the stacks of threads that it does not have, with teams on them.
TEST(team_fork,
     PROCESS_9_nobody_writes_to_the_place_of_a_team_on_the_stack_of_a_thread_that_is_gone) {
  for (int depth = 0; depth < 60; ++depth) {
    SCOPED_TRACE(depth);
    std::atomic<bool> has_team{false};
    const meanwhile owner([&](const std::atomic<bool>& over) {
      at_depth(depth, [&] {
        team one(2);
        has_team = true;
        while (!over) std::this_thread::yield();
      });
    });
    while (!has_team) std::this_thread::yield();
    expect_in_child([&] {
      team of_child(3);
      expect_usable(of_child);
    });
    if (testing::Test::HasFailure()) break;
  }
}

TEST(team_fork, TEAM_5_a_child_may_be_made_while_another_thread_pauses_and_resumes) {
  expect_in_child([] {
    team workers(3);
    std::atomic<long> rounds{0};
    const meanwhile pauser([&](const std::atomic<bool>& over) {
      while (!over) {
        workers.pause();
        workers.resume();
        ++rounds;
      }
    });
    for (int i = 0; i < lockstep::test::effort(50); ++i) {
      const long before = rounds;
      while (rounds == before) std::this_thread::yield();
      expect_usable_in_child(workers);
    }
  });
}

TEST(team_fork, TEAM_5_regions_of_two_teams_that_the_forking_thread_is_in_are_both_stopped) {
  expect_in_child([] {
    team outer(2), inner(3);
    pid_t child = -1;
    bool inner_complete = false;
    const bool outer_complete = outer.run([&](member& mine) {
      if (mine.rank() != 0) return;
      inner_complete = inner.run([&](member& theirs) {
        if (theirs.rank() != 0) return;
        child = fork();
        if (child == 0) prctl(PR_SET_PDEATHSIG, SIGKILL);
        EXPECT_EQ(theirs.stop_requested(), child == 0);
      });
      EXPECT_EQ(mine.stop_requested(), child == 0);
    });
    EXPECT_EQ(outer_complete, child != 0);
    EXPECT_EQ(inner_complete, child != 0);
    expect_usable(outer);
    expect_usable(inner);
    if (child == 0) std::_Exit(status());
    int how = 0;
    waitpid(child, &how, 0);
    EXPECT_TRUE(WIFEXITED(how) && WEXITSTATUS(how) == 0) << how;
  });
}

TEST(team_fork, TEAM_5_a_worker_that_forks_and_returns_in_the_child_is_told_why_it_cannot) {
  expect_in_child([] {
    team workers(3);
    int ends[2] = {};
    ASSERT_EQ(pipe(ends), 0);
    pid_t child = -1;
    EXPECT_TRUE(workers.run([&](member& me) {
      if (me.rank() != 1) return;
      const pid_t pid = fork();
      if (pid != 0) {
        child = pid;
        return;
      }
      dup2(ends[1], STDERR_FILENO);
    }));
    close(ends[1]);
    std::string text(1000, ' ');
    const ssize_t length = read(ends[0], text.data(), text.size());
    text.resize(length < 0 ? 0 : static_cast<std::size_t>(length));
    EXPECT_NE(text.find("by a member other than 0"), std::string::npos) << text;
    int how = 0;
    waitpid(child, &how, 0);
    EXPECT_TRUE(WIFSIGNALED(how) && WTERMSIG(how) == SIGABRT) << how;
    expect_usable(workers);
  });
}

TEST(team_fork, TEAM_5_a_worker_may_end_the_child_that_it_forks) {
  expect_in_child([] {
    team workers(3);
    for (int i = 0; i < 5; ++i) {
      std::vector<int> ends(workers.size(), -1);
      EXPECT_TRUE(workers.run([&](member& me) {
        ends[me.rank()] = in_child([&] {
          EXPECT_TRUE(me.stop_requested());
          return status() + 30;
        });
        EXPECT_TRUE(me.sync_threads());
      }));
      EXPECT_EQ(ends, std::vector<int>(workers.size(), 30));
    }
    expect_usable(workers);
  });
}

TEST(team_fork, TEAM_5_hooks_are_called_for_the_threads_of_the_child) {
  expect_in_child([] {
    std::atomic<int> started{0};
    team workers(team_options().members(3).on_start([&](std::size_t) { ++started; }));
    expect_usable(workers);
    EXPECT_EQ(started.load(), 2);
    expect_in_child([&] {
      expect_usable(workers);
      EXPECT_EQ(started.load(), 4);
    });
  });
}

TEST(team_fork, TEAM_5_an_external_team_has_only_its_caller_in_a_child) {
  expect_in_child([] {
    external_team workers(3);
    std::vector<std::thread> threads;
    for (std::size_t rank : {1u, 2u}) threads.emplace_back([&, rank] { workers.serve(rank); });
    std::vector<int> calls(3);
    const auto count = [&](member& me) { ++calls[me.rank()]; };
    EXPECT_TRUE(workers.run(count));
    const auto loop = [&] { return workers.for_each(0, 3, [](int) {}); };
    for (int i = 0; i < 200; ++i) EXPECT_TRUE(loop());
    expect_in_child([&] {
      for (int i = 0; i < 20; ++i) EXPECT_THROW(loop(), std::logic_error) << "known place";
      std::string text;
      try {
        workers.run(count);
      } catch (const std::logic_error& error) {
        text = error.what();
      }
      EXPECT_NE(text.find("lockstep::external_team::run: this is a child process"),
                std::string::npos)
          << text;
      EXPECT_TRUE(workers.run(1, count));
      EXPECT_EQ(calls, (std::vector<int>{2, 1, 1}));
    });
    EXPECT_TRUE(workers.run(count));
    EXPECT_EQ(calls, std::vector<int>(3, 2));
    workers.release();
    for (std::thread& each : threads) each.join();
  });
}

TEST(team_fork, TEAM_5_an_external_team_ends_in_a_child) {
  expect_in_child([] {
    auto workers = std::make_unique<external_team>(3);
    std::vector<std::thread> threads;
    for (std::size_t rank : {1u, 2u}) threads.emplace_back([&, rank] { workers->serve(rank); });
    EXPECT_TRUE(workers->run([](member&) {}));
    expect_in_child([&] {
      workers.reset();  // does not wait for threads that are not there
    });
    workers->release();
    for (std::thread& each : threads) each.join();
  });
}

// A process that begins with a variable set: this program again, with one of the tests below, which end it
// with a status that no other run has.
constexpr int as_expected = 50;

int in_new_process(const char* variable, const char* value, const char* test) {
  return in_child([&] {
    setenv(variable, value, 1);
    const std::string filter = std::string("--gtest_filter=team_environment.DISABLED_") + test;
    execl("/proc/self/exe", "team_fork_test", filter.c_str(), "--gtest_also_run_disabled_tests",
          "--gtest_brief=1", static_cast<char*>(nullptr));
    return 3;
  });
}
[[noreturn]] void end_of_new_process() {
  std::fflush(nullptr);
  std::_Exit(as_expected + status());
}

TEST(team_environment, DISABLED_has_five_members) {
  {
    team workers;
    EXPECT_EQ(workers.size(), 5u);
    expect_usable(workers);
    EXPECT_EQ(team(3).size(), 3u) << "what the program says comes first";
  }
  end_of_new_process();
}
TEST(team_environment, DISABLED_blocks) {
  EXPECT_TRUE(team(2).policy().is_block());
  EXPECT_TRUE(team(2, wait_policy::spin()).policy().is_spin()) << "what the program says";
  end_of_new_process();
}
TEST(team_environment, DISABLED_is_as_without) {
  EXPECT_EQ(team().size(), lockstep::usable_cpus());
  EXPECT_TRUE(team(2).policy().is_adaptive());
  end_of_new_process();
}
TEST(team_environment, DISABLED_is_bound) {
  team workers(3);
  std::vector<int> cpus(3);
  workers.run([&](member& me) {
    cpu_set_t mask;
    CPU_ZERO(&mask);
    sched_getaffinity(0, sizeof mask, &mask);
    cpus[me.rank()] = CPU_COUNT(&mask);
  });
  EXPECT_EQ(cpus[1], 1);
  EXPECT_EQ(cpus[2], 1);
  end_of_new_process();
}

TEST(team_environment, the_variables_of_the_process_decide_where_the_program_does_not) {
  EXPECT_EQ(in_new_process("LOCKSTEP_NUM_THREADS", "5", "has_five_members"), as_expected);
  EXPECT_EQ(in_new_process("LOCKSTEP_WAIT_POLICY", "block", "blocks"), as_expected);
  EXPECT_EQ(in_new_process("LOCKSTEP_NUM_THREADS", "none", "is_as_without"), as_expected);
  EXPECT_EQ(in_new_process("LOCKSTEP_WAIT_POLICY", "never", "is_as_without"), as_expected);
  EXPECT_EQ(in_new_process("LOCKSTEP_PROC_BIND", "close", "is_bound"), as_expected);
}

}  // namespace
