// SPDX-License-Identifier: MIT
// tests/edges/callbacks_test.cpp -- the user's code that a busy team runs may call that team (TEAM-2)
//
// Operations, copies, moves, ends of values, thrown objects and hooks: each calls the team that it runs in, which then
// runs inline. If it did not, the program would wait for itself, and ctest would end it.
#include <lockstep/external_team.hpp>
#include <lockstep/team.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

namespace {

using lockstep::external_team;
using lockstep::member;
using lockstep::schedule;
using lockstep::team;

std::vector<schedule> schedules() {
  using namespace lockstep;
  return {static_schedule(), static_schedule(1), dynamic_schedule(), guided_schedule()};
}

/// Calls every form that takes a T and an op, over [0, 40); `zero` is T(0). Returns how many results are wrong.
template <class T, class Team, class Op>
int wrong_results(Team& workers, const T& zero, Op op) {
  const auto one = [](std::size_t) { return T(1); };
  const auto ones = [](std::size_t a, std::size_t b) { return T(static_cast<int>(b - a)); };
  const auto store = [](std::size_t, const T&) {};
  const T expected(40);
  std::atomic<int> wrong{0};
  wrong += !(workers.reduce_each(0, 40, zero, one, op) == expected);
  wrong += !(workers.scan_each(0, 40, zero, one, op, store) == expected);
  for (const schedule how : schedules()) {
    wrong += !(workers.reduce_each(0, 40, zero, one, op, how) == expected);
  }
  workers.run([&](member& me) {
    for (const schedule how : schedules()) {
      wrong += !(me.reduce_each(0, 40, zero, one, op, how) == expected);
      wrong += !(me.reduce_range(0, 40, zero, ones, op, how) == expected);
    }
    wrong += !(me.scan_each(0, 40, zero, one, op, store) == expected);
    wrong += !(me.sync_reduce(T(1), op) == T(static_cast<int>(me.size())));
    wrong += !(me.broadcast(me.size() - 1, expected) == expected);
  });
  return wrong.load();
}

class callbacks : public testing::TestWithParam<std::size_t> {
 protected:
  std::size_t members() const { return GetParam(); }
};
INSTANTIATE_TEST_SUITE_P(sizes, callbacks, testing::Values<std::size_t>(1, 2, 3, 9));

TEST_P(callbacks, an_operation_that_calls_the_team_runs_inline_there) {
  team workers(members());
  std::atomic<int> inner{0}, outside{0};
  const auto op = [&](int a, int b) {
    workers.run([&](member& me) {
      ++inner;
      outside += me.size() != 1;
    });
    return a + b;
  };
  EXPECT_EQ(wrong_results(workers, 0, op), 0);
  EXPECT_GT(inner.load(), 0);
  // reduce_each combines with init when its loop is over: that call has the whole team.
  const std::size_t combined_with_init = 1 + schedules().size();
  EXPECT_EQ(static_cast<std::size_t>(outside.load()),
            members() > 1 ? combined_with_init * members() : 0)
      << "in a region of its own, the caller is alone";
}

TEST_P(callbacks, an_operation_that_reduces_on_the_team_gets_the_result) {
  team workers(members());
  const auto add = [&](long a, long b) {
    return a + b +
           workers.reduce_each(0, 3, -3L, [](std::size_t) { return 1L; }, std::plus<long>());
  };
  EXPECT_EQ(workers.reduce_each(0, 100, 5L, [](std::size_t) { return 1L; }, add), 105);
}

TEST_P(callbacks, an_operation_may_call_an_older_and_a_younger_team) {
  team older(members());
  team workers(members());
  team younger(members());
  const auto op = [&](int a, int b) {
    older.run([](member&) {});
    younger.run([](member&) {});
    return a + b;
  };
  EXPECT_EQ(wrong_results(workers, 0, op), 0);
}

TEST_P(callbacks, an_operation_of_a_team_of_lent_threads_may_call_it) {
  external_team workers(members());
  std::vector<std::thread> lent;
  for (std::size_t rank = 1; rank < members(); ++rank) {
    lent.emplace_back([&, rank] { workers.serve(rank); });
  }
  const auto op = [&](int a, int b) {
    workers.run([](member&) {});
    return a + b;
  };
  EXPECT_EQ(wrong_results(workers, 0, op), 0);
  workers.release();
  for (std::thread& each : lent) each.join();
}

/// Each operation on one (copy, move, end) calls the team.
struct caller {
  static inline team* called = nullptr;
  static void call() {
    if (called != nullptr) called->run([](member&) {});
  }

  explicit caller(int v) : value(v) { call(); }
  caller(const caller& other) : value(other.value) { call(); }
  caller(caller&& other) noexcept : value(other.value) { call(); }
  caller& operator=(const caller& other) {
    value = other.value;
    call();
    return *this;
  }
  caller& operator=(caller&& other) noexcept {
    value = other.value;
    call();
    return *this;
  }
  ~caller() { call(); }
  bool operator==(const caller& other) const { return value == other.value; }

  int value;
};

TEST_P(callbacks, a_value_whose_copies_moves_and_end_call_the_team_is_reduced) {
  team workers(members());
  caller::called = &workers;
  const auto op = [](const caller& a, const caller& b) { return caller(a.value + b.value); };
  EXPECT_EQ(wrong_results(workers, caller(0), op), 0);
  caller::called = nullptr;
}

TEST_P(callbacks, a_conversion_to_the_result_may_call_the_team) {
  team workers(members());
  struct convertible {
    team* of;
    operator int() const {
      of->run([](member&) {});
      return 1;
    }
  };
  const auto value = [&](std::size_t) { return convertible{&workers}; };
  const auto add = [](int a, int b) { return a + b; };
  EXPECT_EQ(workers.reduce_each(0, 40, 2, value, add), 42);
}

TEST_P(callbacks, a_thrown_object_whose_end_calls_the_team_is_let_go) {
  team workers(members());
  struct thrown {
    team* of;
    explicit thrown(team* t) : of(t) {}
    thrown(const thrown&) = default;
    ~thrown() {
      of->run([](member&) {});
    }
  };
  int caught = 0;
  try {
    workers.run([&](member&) { throw thrown(&workers); });  // all throw, one is rethrown
  } catch (const thrown&) {
    ++caught;
  }
  EXPECT_EQ(caught, 1);
  EXPECT_TRUE(workers.run([](member&) {}));
}

TEST_P(callbacks, hooks_that_call_their_team_and_make_another_run_inline) {
  std::atomic<std::size_t> alone{0}, others{0};
  team* made = nullptr;
  std::atomic<team*> known{nullptr};
  const auto hook = [&](std::size_t) {
    while (known.load() == nullptr) std::this_thread::yield();
    known.load()->run([&](member& me) { alone += me.size() == 1; });
    team own(2);
    own.run([&](member& me) {
      me.sync_threads();
      if (me.rank() == 0) others += me.size();
    });
  };
  const std::size_t workers = members() - 1;
  {
    made = new team(lockstep::team_options().members(members()).on_start(hook).on_exit(hook));
    known = made;
    std::atomic<std::size_t> ran{0};
    for (int round = 0; round < 3; ++round) made->run([&](member&) { ++ran; });
    made->pause();
    EXPECT_EQ(alone.load(), 2 * workers);
    made->run([&](member&) { ++ran; });
    EXPECT_EQ(ran.load(), 4 * members());
    delete made;
  }
  EXPECT_EQ(alone.load(), 4 * workers);
  EXPECT_EQ(others.load(), 2 * 4 * workers);
}

TEST(callbacks_of_hooks, a_hook_never_waits_for_a_team_whose_region_waits_for_the_hook) {
  team outer(2);
  std::atomic<int> ran{0};
  outer.run([&](member& me) {
    if (me.rank() != 0) return;
    team inner(lockstep::team_options().members(2).on_start(
        [&](std::size_t) { outer.run([&](member&) { ++ran; }); }));
    inner.run([&](member&) { ++ran; });
  });
  EXPECT_EQ(ran.load(), 3);
}

}  // namespace
