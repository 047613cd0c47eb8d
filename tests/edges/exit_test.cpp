// SPDX-License-Identifier: MIT
// tests/edges/exit_test.cpp -- the end of a program, with teams in every state: it ends, with its status
//
// Each end runs in a process of its own, 20 times. The ctest timeout ends what hangs.
#include <lockstep/lockstep.hpp>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include "fault/child_process.hpp"
#include "support/effort.hpp"

namespace {

using lockstep::external_team;
using lockstep::member;
using lockstep::started_region;
using lockstep::team;
using lockstep::test::told_end;

const int rounds = lockstep::test::effort(20);

/// The end of a process that calls f() and leaves main(). This process has one thread while it forks.
template <class Function>
told_end end_of(Function f) {
  return lockstep::test::end_of_child([&]() -> int {
    f();
    std::exit(0);
  });
}

template <class Function>
void expect_ends(Function f, int status = 0) {
  for (int round = 0; round < rounds; ++round) {
    const told_end found = end_of(f);
    ASSERT_EQ(found.status, status) << found.said;
  }
}

template <class Function>
void expect_exit_7(Function f) {
  expect_ends(f, 7);
}

/// A team that is destroyed after main.
team& static_team() {
  static team workers(4);
  return workers;
}

/// Another thread runs regions for ever. Returns when it has begun.
template <class Team, class Function>
void run_elsewhere(Team& workers, Function f) {
  static std::atomic<int> regions{0};
  std::thread([&workers, f] {
    for (;;) {
      workers.run(f);
      ++regions;
    }
  }).detach();
  while (regions < 8) std::this_thread::yield();
}

void many_barriers(member& me) {
  for (int i = 0; i < 10; ++i) me.sync_threads();
}

TEST(exit_edges, while_another_thread_runs_region_after_region) {
  expect_ends([] { run_elsewhere(static_team(), many_barriers); });
  expect_ends([] { run_elsewhere(static_team(), [](member&) {}); });
  expect_exit_7([] {
    run_elsewhere(static_team(), many_barriers);
    std::exit(7);
  });
}

TEST(exit_edges, while_several_threads_queue_for_a_team_each_policy) {
  for (const lockstep::wait_policy policy :
       {lockstep::wait_policy::block(), lockstep::wait_policy()}) {
    expect_ends([policy] {
      static team workers(3, policy);
      run_elsewhere(workers, many_barriers);
      run_elsewhere(workers, [](member&) {});
      std::thread([] { workers.pause(), workers.resume(); }).detach();
    });
  }
}

TEST(exit_edges, by_a_stranger_while_the_first_thread_runs_regions) {
  expect_exit_7([] {
    std::atomic<int> regions{0};
    std::thread([&] {
      while (regions < 8) std::this_thread::yield();
      std::exit(7);
    }).detach();
    for (;; ++regions) static_team().run(many_barriers);
  });
}

TEST(exit_edges, while_a_region_of_another_thread_never_ends) {
  expect_ends([] {
    static std::atomic<bool> is_in{false};
    std::thread([] {
      static_team().run([](member& me) {
        is_in = true;
        if (me.rank() == 1) {
          for (;;) pause();
        }
        me.sync_threads();
      });
    }).detach();
    while (!is_in) std::this_thread::yield();
  });
}

TEST(exit_edges, while_another_thread_has_started_a_region) {
  expect_ends([] {
    static std::atomic<bool> is_open{false};
    std::thread([] {
      const started_region open = static_team().start([](member& me) { me.sync_threads(); });
      is_open = true;
      for (;;) pause();
    }).detach();
    while (!is_open) std::this_thread::yield();
  });
}

TEST(exit_edges, while_threads_serve_and_one_runs_regions_of_an_external_team) {
  expect_ends([] {
    static external_team lent(3);
    for (const std::size_t rank : {1u, 2u}) std::thread([rank] { lent.serve(rank); }).detach();
    run_elsewhere(lent, many_barriers);
  });
  expect_ends([] {
    static external_team lent(3);
    for (const std::size_t rank : {1u, 2u}) std::thread([rank] { lent.serve(rank); }).detach();
    lent.run(many_barriers);
  });
}

TEST(exit_edges,
     a_caller_that_comes_after_the_end_of_a_static_team_waits_for_the_end_of_the_process) {
  expect_ends([] {
    // Destroyed after the team: by then the caller waits for a team that has ended.
    static struct last {
      std::atomic<bool> team_is_gone{false};
      std::atomic<bool> came{false};
      ~last() {
        team_is_gone = true;
        while (!came) std::this_thread::yield();
        for (int i = 0; i < 100; ++i) std::this_thread::yield();
      }
    } end;
    static team workers(3);
    workers.run([](member&) {});
    std::thread([] {
      while (!end.team_is_gone) std::this_thread::yield();
      end.came = true;
      workers.run([](member&) { std::abort(); });
      std::abort();
    }).detach();
  });
}

TEST(exit_edges, the_thread_that_ended_a_static_team_does_not_wait_for_itself_TURN_5) {
  const told_end found = end_of([] {
    static team* of_all = nullptr;
    static const struct last {
      ~last() {
        of_all->run([](member&) {});
      }
    } end;
    static team workers(2);
    of_all = &workers;
  });
  EXPECT_NE(found.status, 0);
  EXPECT_NE(found.said.find("used after its end; a team outlives its last call"), std::string::npos)
      << found.said;
}

/// Destroyed after the static team that is made after it: meanwhile threads may come to the team. (Whether one does is not
/// known: all may wait there already.)
struct after_the_team {
  std::atomic<bool> is_gone{false};
  ~after_the_team() {
    is_gone = true;
    for (int i = 0; i < 100; ++i) std::this_thread::yield();
  }
};

/// Runs loops for ever on several threads; returns when each has run some.
template <class Team>
void loop_elsewhere(Team& workers, after_the_team& end, int threads) {
  static std::atomic<int> busy{0};
  for (int i = 0; i < threads; ++i) {
    std::thread([&] {
      for (int loops = 0;; ++loops) {
        const bool is_late = end.is_gone;
        workers.for_each(0, 16, [is_late](int) {
          if (is_late) std::abort();
        });
        if (loops == 100) ++busy;
      }
    }).detach();
  }
  while (busy < threads) std::this_thread::yield();
}

TEST(exit_edges, no_loop_of_a_static_team_begins_after_its_end_DOOR_1) {
  for (const std::size_t members : {1u, 2u, 3u}) {
    for (const bool learns : {true, false}) {
      expect_ends([members, learns] {
        static after_the_team end;
        static team workers(lockstep::team_options().members(members).learn(learns));
        loop_elsewhere(workers, end, 2);
      });
    }
  }
  expect_ends([] {
    static after_the_team end;
    static external_team lent(3);
    loop_elsewhere(lent, end, 2);
  });
}

TEST(exit_edges, no_loop_begins_after_an_exit_in_a_loop_DOOR_1) {
  for (const std::size_t members : {1u, 2u}) {
    expect_exit_7([members] {
      static after_the_team end;
      static team workers(members);
      loop_elsewhere(workers, end, 1);
      workers.for_each(0, 4, [](int i) {
        if (i == 0) std::exit(7);
      });
    });
  }
}

TEST(exit_edges, a_thread_in_the_queue_begins_no_region_after_the_end_TURN_5) {
  expect_ends([] {
    static after_the_team end;
    static team workers(2);
    static std::atomic<bool> is_in{false}, queues{false};
    std::thread([] {
      workers.run([](member& me) {
        is_in = true;
        while (me.rank() == 0 && !end.is_gone) std::this_thread::yield();
      });
    }).detach();
    while (!is_in) std::this_thread::yield();
    std::thread([] {
      queues = true;
      workers.run([](member&) { std::abort(); });
      std::abort();
    }).detach();
    while (!queues) std::this_thread::yield();
  });
}

TEST(exit_edges, who_would_run_alone_begins_no_region_after_the_end_TURN_5) {
  expect_ends([] {
    static after_the_team end;
    static team workers(2);
    static std::atomic<bool> is_in{false};
    std::thread([] {
      team younger(2);
      younger.run([](member& me) {
        is_in = true;
        while (!end.is_gone) std::this_thread::yield();
        if (me.rank() == 0) workers.run([](member&) { std::abort(); });
        workers.for_each(0, 2, [](int) { std::abort(); });
      });
    }).detach();
    while (!is_in) std::this_thread::yield();
  });
}

TEST(exit_edges, while_all_sleep_while_paused_and_in_a_hurry) {
  expect_ends([] {
    static team workers(3, lockstep::wait_policy::block());
    workers.run([](member& me) { me.sync_threads(); });
  });
  expect_ends([] {
    static_team().run([](member&) {});
    static_team().pause();
  });
  expect_ends(
      [] {
        run_elsewhere(static_team(), many_barriers);
        std::quick_exit(5);
      },
      5);
  expect_ends(
      [] {
        static_team().run([](member& me) {
          if (me.rank() == 1) _exit(6);
          me.sync_threads();
        });
      },
      6);
}

TEST(exit_edges, a_team_first_used_while_static_objects_are_destroyed) {
  expect_ends([] {
    static struct user {
      ~user() {
        std::atomic<int> calls{0};
        static_team().run([&](member& me) {
          me.sync_threads();
          ++calls;
        });
        if (calls != 4) std::abort();
      }
    } const at_the_end;
  });
}

TEST(exit_edges, handles_of_static_and_thread_duration) {
  expect_ends([] {
    static std::atomic<int> calls{0};
    static struct counted {
      ~counted() {
        if (calls != 8) std::abort();
      }
    } const checked;
    static_team();
    static team second(4);
    const auto count = [](member& me) {
      me.sync_threads();
      ++calls;
    };
    static started_region open = static_team().start(count);
    static thread_local started_region of_thread;  // goes before all statics
    of_thread = second.start(count);
  });
}

/// Calls end() on the thread of the caller, or on another; if none comes soon, on that of the caller all the same.
class on_one_thread {
 public:
  explicit on_one_thread(bool is_caller) : is_caller_(is_caller) {}

  template <class End>
  void operator()(End end) const {
    if ((std::this_thread::get_id() == caller_) != is_caller_) {
      for (int i = 0; i < 1000; ++i) std::this_thread::yield();
    }
    end();
  }

 private:
  const bool is_caller_;
  const std::thread::id caller_ = std::this_thread::get_id();
};

void exit_7() { std::exit(7); }
void quick_exit_7() { std::quick_exit(7); }

/// Calls end(), which leads to exit(), in each kind of function of the user's that a region calls. exit() destroys the
/// team.
template <class Team>
void expect_ends_inside(Team& (*all)(), void (*end)()) {
  for (const std::size_t rank : {0u, 1u, 3u}) {
    expect_exit_7([=] {
      all().run([=](member& me) {
        if (me.rank() == rank % me.size()) end();
        for (;;) me.sync_threads();
      });
    });
    expect_exit_7([=] {
      all().run([=](member& me) {
        me.for_each(0, 100, [&](int i) {
          if (i == 50) end();
        });
        for (;;) me.sync_threads();
      });
    });
    expect_exit_7([=] {
      all().run([=](member& me) {
        lockstep::sub_team half = me.split(me.rank() % 2);
        if (me.rank() == rank % me.size()) end();
        half->sync_threads();
      });
    });
    expect_exit_7([=] {
      team others(2);
      all().run([&](member& me) {
        if (me.rank() != rank % me.size()) return;
        others.run([&](member& inner) {
          if (inner.rank() == 1) all().run([=](member&) { end(); });
          inner.sync_threads();
        });
      });
    });
  }
  for (const bool is_caller : {true, false}) {
    const on_one_thread there(is_caller);
    const auto value = [=](int i) {
      if (i > 2) there(end);
      return i;
    };
    const lockstep::schedule dealt = lockstep::dynamic_schedule();
    expect_exit_7([=] { all().for_each(0, 100, value); });
    expect_exit_7([=] { all().for_each(0, 100, value, dealt); });
    expect_exit_7([=] { all().reduce_each(0, 100, 0, value, std::plus<int>()); });
    expect_exit_7([=] { all().scan_each(0, 100, 0, value, std::plus<int>(), [](int, int) {}); });
  }
}

team& unlearned_team() {
  static team workers(lockstep::team_options().members(4).learn(false));
  return workers;
}
team& team_on_the_heap() {
  static const auto workers = std::make_unique<team>(4);
  return *workers;
}

TEST(exit_edges, inside_a_region_ends_the_program_with_its_status) {
  expect_ends_inside(static_team, exit_7);
  expect_ends_inside(unlearned_team, exit_7);
}

TEST(exit_edges, inside_a_region_of_a_team_that_a_static_owns_or_nobody_destroys) {
  expect_ends_inside(team_on_the_heap, exit_7);
  expect_ends_inside(lockstep::default_team, exit_7);
  expect_ends_inside(static_team, quick_exit_7);
}

TEST(exit_edges, inside_a_region_after_others_and_between_start_and_join) {
  expect_exit_7([] {
    for (int i = 0; i < 10; ++i) static_team().run(many_barriers);
    static_team().for_each(0, 1000, [](int) {});
    const started_region open = static_team().start(many_barriers);
    std::exit(7);
  });
  expect_exit_7([] {
    const started_region open = static_team().start([](member& me) {
      if (me.rank() == 2) std::exit(7);
      me.sync_threads();
    });
    for (;;) pause();
  });
}

TEST(exit_edges, inside_a_loop_that_runs_without_a_region) {
  expect_exit_7([] {
    bool is_last = false;
    const auto loop = [&] {
      static_team().for_each(0, 20, [&](int i) {
        if (i == 7 && is_last) std::exit(7);
      });
    };
    for (int i = 0; i < 1000; ++i) loop();
    is_last = true;
    for (;;) loop();
  });
  expect_exit_7([] {
    static team alone(1);
    alone.for_each(0, 20, [](int) { std::exit(7); });
  });
  const told_end found = end_of([] {
    auto* const alone = new team(1);
    alone->for_each(0, 20, [&](int i) {
      if (i == 7) delete alone;
    });
  });
  EXPECT_EQ(found.status, -SIGABRT);
  EXPECT_NE(found.said.find("inside its own region; leave the region first"), std::string::npos)
      << found.said;
}

TEST(exit_edges, inside_a_region_of_an_external_team) {
  for (const std::size_t rank : {0u, 1u}) {
    expect_exit_7([rank] {
      static external_team lent(3);
      for (const std::size_t each : {1u, 2u}) {
        std::thread([each] { lent.serve(each); }).detach();
      }
      lent.run([rank](member& me) {
        if (me.rank() == rank) std::exit(7);
        me.sync_threads();
      });
    });
  }
}

TEST(exit_edges, by_a_guest_of_a_region_and_by_a_hook) {
  expect_exit_7([] {
    static_team().run([](member& me) {
      if (me.rank() == 1) {
        const lockstep::region_token here = lockstep::this_region();
        std::thread([here] {
          const lockstep::inside_region guest(here);
          std::exit(7);
        }).join();
      }
      me.sync_threads();
    });
  });
  expect_exit_7([] {
    static std::atomic<bool> ends{false};
    static team workers(lockstep::team_options().members(2).on_start([](std::size_t) {
      while (!ends) std::this_thread::yield();
      std::exit(7);
    }));
    ends = true;
    workers.run([](member& me) { me.sync_threads(); });
  });
}

TEST(exit_edges, while_statics_that_use_the_team_are_destroyed_inside_its_region) {
  for (const std::size_t rank : {0u, 1u}) {
    expect_exit_7([rank] {
      static_team();
      static struct user {
        ~user() {
          int calls = 0;
          static_team().run([&](member&) { ++calls; });
          static_team().for_each(0, 5, [&](int) { ++calls; });
          if (calls != 6) std::abort();
        }
      } const before_the_team;
      static_team().run([rank](member& me) {
        if (me.rank() == rank) std::exit(7);
        me.sync_threads();
      });
    });
  }
}

TEST(exit_edges, in_a_node_of_a_plan) {
  for (const bool is_caller : {true, false}) {
    const on_one_thread there(is_caller);
    expect_exit_7([there] {
      lockstep::graph g;
      const auto first = g.node("first", [] {});
      for (const char* const name : {"a", "b", "c", "d"}) {
        g.edge(first, g.node(name, [there] { there(exit_7); }));
      }
      lockstep::plan all(g, static_team());
      all.run();
    });
  }
}

TEST(exit_edges, debug_builds_say_that_a_team_was_left_to_its_threads) {
  const told_end found = end_of([] {
    static std::atomic<bool> is_in{false};
    std::thread([] {
      static_team().run([](member&) {
        is_in = true;
        for (;;) std::this_thread::yield();
      });
    }).detach();
    while (!is_in) std::this_thread::yield();
  });
  EXPECT_EQ(found.status, 0);
  const bool says = found.said.find("while another thread runs a region") != std::string::npos;
  EXPECT_EQ(says, lockstep::detail::diagnoses_misuse) << found.said;
}

TEST(exit_edges, a_team_on_the_heap_that_is_destroyed_while_another_thread_is_in_run_says_so) {
  const told_end found = end_of([] {
    static std::atomic<bool> is_in{false};
    static std::atomic<int> stage{0};
    static auto workers =
        std::make_unique<team>(lockstep::team_options().members(3).name("solver"));
    std::thread([] {
      workers->run([](member&) {
        is_in = true;
        while (stage == 0) std::this_thread::yield();
        stage = 2;
        for (;;) pause();
      });
    }).detach();
    while (!is_in) std::this_thread::yield();
    workers.reset();
    stage = 1;  // what the members use is still there
    while (stage != 2) std::this_thread::yield();
  });
  EXPECT_EQ(found.status, 0);
  const bool says = found.said.find("lockstep::team 'solver' at ") != std::string::npos &&
                    found.said.find("while another thread runs a region") != std::string::npos;
  EXPECT_EQ(says, lockstep::detail::diagnoses_misuse) << found.said;
}

TEST(exit_edges, a_thread_forks_as_a_guest_and_uses_the_team_in_the_child) {
  expect_ends([] {
    team workers(3);
    int in_child = -1;
    workers.run([&](member& me) {
      if (me.rank() != 1) return;
      const lockstep::region_token here = lockstep::this_region();
      std::thread([&, here] {
        {
          const lockstep::inside_region guest(here);
          in_child = fork();
        }
        if (in_child != 0) return;
        std::atomic<int> calls{0};
        workers.run([&](member& each) {
          each.sync_threads();
          ++calls;
        });
        _exit(calls == 3 ? 0 : 1);
      }).join();
    });
    int how = 0;
    waitpid(in_child, &how, 0);
    if (!WIFEXITED(how) || WEXITSTATUS(how) != 0) std::abort();
  });
}

}  // namespace
