// SPDX-License-Identifier: MIT
// tests/trace/watchdog_test.cpp -- staged hangs, each in a child process: the report names the missing threads
//
// A child hangs; its stderr is a pipe. The test waits until the report has said what it must say, and kills the child.
#include <lockstep/lockstep.hpp>
#include <lockstep/toolbox.hpp>

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <initializer_list>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "fault/child_process.hpp"
#include "observe/observers.hpp"
#include "support/effort.hpp"

namespace {

using lockstep::member;
using lockstep::team_options;
using lockstep::wait_policy;
using lockstep::watchdog_options;
using lockstep::test::child_process;
using namespace std::chrono_literals;

constexpr std::chrono::nanoseconds soon = 50ms, never = 1h;

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

/// Two threads take both, in different orders: never returns.
void lock_crosswise(lockstep::mutex& a, lockstep::mutex& b) {
  lockstep::latch both_hold(2);
  const auto take = [&](lockstep::mutex& first, lockstep::mutex& second) {
    first.lock();
    both_hold.arrive_and_wait();
    second.lock();
  };
  std::thread other([&] { take(b, a); });
  take(a, b);
}

/// A child whose stderr can be read.
class told_child {
 public:
  template <class Body>
  explicit told_child(Body body)
      : pipe_(), child_([&] {
          dup2(pipe_.ends[1], 2);
          close(pipe_.ends[0]);
          alarm(30);  // ends a child that says nothing
          return body();
        }) {
    close(pipe_.ends[1]);
  }
  ~told_child() {
    child_.send(SIGKILL);
    child_.wait();
    while (read_more()) continue;
    EXPECT_EQ(text_.find("Sanitizer:"), std::string::npos) << text_;
    close(pipe_.ends[0]);
  }

  /// Reads until all of these were said, in any order; or until the child ends. A wait is reported once, and what a
  /// slow thread does next may not be done by then: a child that has reported and says no more is asked for another
  /// report.
  testing::AssertionResult says(std::initializer_list<const char*> all) {
    while (true) {
      const char* lacks = nullptr;
      for (const char* each : all) {
        if (text_.find(each) == std::string::npos) lacks = each;
      }
      if (lacks == nullptr) return testing::AssertionSuccess();
      if (count(text_, "has waited") > 0 && is_silent()) child_.send(SIGUSR1);
      if (!read_more()) return testing::AssertionFailure() << "no '" << lacks << "' in\n" << text_;
    }
  }
  testing::AssertionResult says_so_often(const char* what, std::size_t times) {
    while (count(text_, what) < times) {
      if (!read_more()) return testing::AssertionFailure() << text_;
    }
    return testing::AssertionSuccess();
  }
  /// All that it says until it ends.
  const std::string& all() {
    while (read_more()) continue;
    return text_;
  }
  const std::string& text() const { return text_; }
  child_process& process() { return child_; }

 private:
  struct both_ends {
    int ends[2];
    both_ends() {
      if (pipe(ends) != 0) std::abort();
    }
  };

  bool is_silent() {
    pollfd from = {pipe_.ends[0], POLLIN, 0};
    return poll(&from, 1, 1000) == 0;
  }
  bool read_more() {
    char part[4096];
    const ssize_t size = read(pipe_.ends[0], part, sizeof part);
    if (size > 0) text_.append(part, static_cast<std::size_t>(size));
    return size > 0;
  }

  both_ends pipe_;
  child_process child_;
  std::string text_;
};

void watch(std::chrono::nanoseconds after = soon) {
  if (!lockstep::start_watchdog(watchdog_options().after(after).on_signal(true))) std::abort();
}
/// A child that watches itself and gets stuck in `body` says all of these.
template <class Body>
void expect_said(std::initializer_list<const char*> all, Body body) {
  told_child child([&] {
    watch();
    body();
    return 0;
  });
  EXPECT_TRUE(child.says(all)) << child.text();
}
[[noreturn]] void work_for_ever() {
  static std::atomic<unsigned> work{0};
  while (true) work.fetch_add(1, std::memory_order_relaxed);
}
TEST(watchdog, a_missing_notify_is_a_wait_for_the_event) {
  expect_said({"lockstep watchdog: thread", "has waited ", "for lockstep::event at 0x", ", asleep"},
              [] {
                lockstep::event never_notified;
                never_notified.wait();
              });
}

TEST(watchdog, an_object_is_called_by_its_name_also_if_it_was_named_before_the_watch) {
  told_child child([] {
    lockstep::mutex a, b;
    const lockstep::named_object name_a(&a, "first lock"), name_b(&b, "it's \"two\"");
    watch();
    lock_crosswise(a, b);
    return 0;
  });
  EXPECT_TRUE(child.says({"for lockstep::mutex 'first lock' at 0x", " 'first lock'\n",
                          "for lockstep::mutex 'it's \"two\"' at 0x",
                          "deadlock: these wait for each other\n    thread ",
                          " waits for lockstep::mutex 'first lock' at "}));
}

/// What the watchdog says of a thread that waits in `wait`, once it does; then `release` lets it go.
std::string said_of(const std::string& kind, std::function<void()> wait,
                    std::function<void()> release) {
  std::thread waiter(wait);
  std::string said;
  while (said.find(kind) == std::string::npos) {
    std::this_thread::yield();
    said = lockstep::who_waits();
  }
  release();
  waiter.join();
  return said.substr(said.find(kind), said.find('\n', said.find(kind)) - said.find(kind));
}

// The line of a wait must be that of its here().
#define EXPECT_HERE(kind, wait, release)                                                      \
  do {                                                                                        \
    const std::string at = "watchdog_test.cpp:" + std::to_string(__LINE__) + ")";             \
    const std::string said = said_of("for lockstep::" kind, [&] { wait; }, [&] { release; }); \
    EXPECT_NE(said.find(at), std::string::npos) << said << ", not at " << at;                 \
  } while (false)

TEST(watchdog, a_wait_outside_of_constructs_names_the_line_of_its_call) {
  lockstep::test::expect_in_child([] {
    watch(never);
    lockstep::event done;
    EXPECT_HERE("event", done.wait(), done.notify());
    EXPECT_HERE("event", done.wait_for(1h), done.notify());
    EXPECT_HERE("event", done.wait_until(lockstep::deadline::never()), done.notify());
    lockstep::auto_reset_event one;
    EXPECT_HERE("auto_reset_event", one.wait(), one.notify());
    EXPECT_HERE("auto_reset_event", one.wait_for(1h), one.notify());
    lockstep::manual_reset_event gate;
    EXPECT_HERE("manual_reset_event", gate.wait(), gate.notify());
    lockstep::latch once(1), twice(2);
    EXPECT_HERE("latch", once.wait(), once.count_down());
    EXPECT_HERE("latch", twice.arrive_and_wait(), twice.count_down());
    lockstep::semaphore permits(0);
    EXPECT_HERE("counting_semaphore", permits.acquire(), permits.release());
    EXPECT_HERE("counting_semaphore", permits.try_acquire_for(1h), permits.release());
    lockstep::eventual<int> value;
    EXPECT_HERE("eventual", value.get(), value.set_value(1));
    lockstep::eventual<void> nothing;
    EXPECT_HERE("eventual", nothing.take(), nothing.set_value());
    lockstep::future_set<int> set(1);
    EXPECT_HERE("eventual", set.get(), set.contribute(1));
    lockstep::fan_out out(1);
    EXPECT_HERE("fan_out", out.wait(0), out.notify());
    lockstep::fan_in in(1);
    EXPECT_HERE("fan_in", in.wait(), in.notify(0));
    lockstep::fan_in_out both(1, 1);
    EXPECT_HERE("fan_in_out", both.wait(0), both.notify(0));
    lockstep::ranked_barrier ranked(2);
    EXPECT_HERE("ranked_barrier", ranked.arrive_and_wait(0), ranked.arrive_and_wait(1));
    lockstep::barrier<> split(2);
    EXPECT_HERE("barrier", split.arrive_and_wait(), static_cast<void>(split.arrive()));
    lockstep::mailbox box(2);
    EXPECT_HERE("mailbox", box.wait_and_run(), box.post([] {}));
    lockstep::event ends;
    lockstep::joinable_thread thread([&] { ends.wait(); });
    EXPECT_HERE("joinable_thread", thread.join(), ends.notify());
    {
      lockstep::mutex lock;
      lockstep::condition_variable object;
      bool is_ready = false;
      const auto tell = [&] {
        const std::lock_guard<lockstep::mutex> held(lock);
        is_ready = true;
        object.notify_all();
      };
      const auto is_it = [&] { return is_ready; };
      const auto locked = [&](auto f) {
        std::unique_lock<lockstep::mutex> held(lock);
        f(held);
      };
      EXPECT_HERE("condition_variable", locked([&](auto& l) { object.wait(l, is_it); }), tell());
      is_ready = false;
      EXPECT_HERE("condition_v", locked([&](auto& l) { object.wait_for(l, 1h, is_it); }), tell());
    }
    lockstep::stop_watchdog();
  });
}

TEST(watchdog, a_lock_says_no_place_rather_than_that_of_a_guard) {
  lockstep::test::expect_in_child([] {
    watch(never);
    lockstep::mutex object;
    object.lock();
    const std::string said = said_of(
        "for lockstep::mutex", [&] { const std::lock_guard<lockstep::mutex> held(object); },
        [&] { object.unlock(); });
    EXPECT_EQ(said.find(".h:"), std::string::npos) << said;
    EXPECT_EQ(said.find(".hpp:"), std::string::npos) << said;
    EXPECT_EQ(said.find(".cpp:"), std::string::npos) << said;
    lockstep::stop_watchdog();
  });
}

TEST(watchdog, a_wait_inside_of_a_construct_names_both_places) {
  expect_said({"for single (", ": lockstep::event 'told' at 0x"}, [] {
    lockstep::event never_notified;
    const lockstep::named_object name(&never_notified, "told");
    lockstep::team team(team_options().members(2));
    team.run([&](member& me) { me.single([&] { never_notified.wait(); }); });
  });
}

TEST(watchdog, mismatched_sync_threads_are_named_with_both_places) {
  expect_said({"come: rank 0; missing: rank 1", "    missing: rank 1, thread ",
               "watchdog_test.cpp:", "missing: rank 1, thread ", "its part of the region ended",
               "different places in phase ", ": rank 0 was at sync_threads (",
               ", rank 1 at sync_threads ("},
              [] {
                lockstep::team team(team_options().members(2));
                team.run([](member& me) {
                  if (me.rank() == 0) me.sync_threads();
                  me.sync_threads();
                });
              });
}

TEST(watchdog, a_thread_that_joins_one_that_waits_for_its_lock_is_in_a_deadlock) {
  expect_said({" for lockstep::joinable_thread at 0x", "; that is up to thread",
               "deadlock: these wait for each other\n    thread ",
               " waits for lockstep::joinable_thread at ", " waits for lockstep::mutex at "},
              [] {
                lockstep::mutex lock;
                const std::lock_guard<lockstep::mutex> held(lock);
                lockstep::joinable_thread other([&] { lock.lock(); });
                other.join();
              });
}

TEST(watchdog, a_member_that_swallowed_its_exception_is_missing_at_the_place_that_it_skipped) {
  expect_said({"come: rank 0; missing: rank 1", "missing: rank 1, thread ",
               "for lockstep::event at 0x", "it was last in sync_threads ("},
              [] {
                lockstep::team team(team_options().members(2));
                lockstep::event told;
                team.run([&](member& me) {
                  try {
                    me.sync_threads();
                    if (me.rank() == 1) throw std::runtime_error("swallowed");
                    me.sync_threads();
                  } catch (const std::runtime_error&) {
                  }
                  if (me.rank() == 1) told.wait();
                });
              });
}

TEST(watchdog, a_member_of_an_external_team_that_never_serves_is_nobody) {
  expect_said({"the end of a member's part", ": rank 2, which no thread is known to be"}, [] {
    lockstep::external_team team(3);
    std::thread first([&] { team.serve(1); });
    team.run([](member&) {});
  });
}

TEST(watchdog, a_node_that_does_not_end_is_named) {
  expect_said({"in node 'stuck' for ", "a step of a plan", "that is up to thread"}, [] {
    lockstep::team team(team_options().members(2));
    lockstep::graph g;
    const auto begin = g.node("begin", [] {});
    const auto stuck = g.node("stuck", [] { work_for_ever(); }).pin(1);
    const auto end = g.node("end", [] {}).pin(0);
    g.edge(begin, stuck).edge(stuck, end);
    lockstep::plan plan(g, team);
    plan.run();
  });
}

TEST(watchdog, a_member_in_an_endless_loop_is_said_to_run) {
  expect_said({"missing: rank 1", "rank 1 of 2 in region ", "waits for nothing that lockstep knows",
               "it was last in sync_threads ("},
              [] {
                lockstep::team team(team_options().members(2));
                team.run([](member& me) {
                  me.sync_threads();
                  if (me.rank() == 1) work_for_ever();
                  me.sync_threads();
                });
              });
}

TEST(watchdog, a_member_that_waits_for_a_stopped_process_is_said_to_sleep_in_the_system) {
  told_child child([] {
    int ends[2];
    if (pipe(ends) != 0) return 1;
    // It would write, but it is stopped.
    child_process writer([&] {
      char one = 1;
      raise(SIGSTOP);
      return write(ends[1], &one, 1) == 1 ? 0 : 1;
    });
    watch();
    lockstep::team team(team_options().members(2));
    team.run([&](member& me) {
      char one = 0;
      if (me.rank() == 1 && read(ends[0], &one, 1) != 1) std::abort();
      me.sync_threads();
    });
    return 0;
  });
  EXPECT_TRUE(child.says(
      {"missing: rank 1", "(it sleeps in a call of the system)", "its part of the region began"}));
}

TEST(watchdog, a_step_in_a_sub_team_is_up_to_a_member_of_the_sub_team) {
  expect_said({"of rank 1, asleep; that is up to thread ", " 'lockstep 3'; "}, [] {
    lockstep::team team(team_options().members(4));
    team.run([](member& me) {
      lockstep::sub_team half = me.split(me.rank() % 2);
      half->sync_threads();
      if (me.rank() == 1) half->await_step(1, 1);
      if (me.rank() == 3) work_for_ever();
    });
  });
}

TEST(watchdog, the_end_of_a_nested_region_is_up_to_a_member_of_that) {
  told_child child([] {
    watch();
    lockstep::team outer(team_options().members(2).name("outer"));
    outer.run([](member& me) {
      if (me.rank() != 0) return;
      lockstep::team inner(team_options().members(2).name("inner"));
      inner.run([](member& one) {
        if (one.rank() == 1) work_for_ever();
      });
    });
    return 0;
  });
  EXPECT_TRUE(child.says(
      {"for the end of a member's part of rank 1", "; that is up to thread ", " 'inner 1'; "}));
  EXPECT_EQ(child.text().find("up to thread 'outer"), std::string::npos) << child.text();
}

TEST(watchdog, a_barrier_of_its_own_says_who_has_come_and_who_is_missing) {
  for (const wait_policy policy : {wait_policy(), wait_policy::block()}) {
    told_child child([policy] {
      constexpr std::size_t size = 5;  // with block() by a tree
      watch();
      lockstep::ranked_barrier object(size, policy);
      const lockstep::named_object name(&object, "step");
      lockstep::latch all_were_there(size);
      std::vector<std::thread> threads;
      for (std::size_t rank = 0; rank < size; ++rank) {
        threads.emplace_back([&, rank] {
          lockstep::name_this_thread(("rank " + std::to_string(rank)).c_str());
          all_were_there.arrive_and_wait();
          object.arrive_and_wait(rank);
          if (rank != 3) object.arrive_and_wait(rank);
        });
      }
      for (std::thread& each : threads) each.join();
      return 0;
    });
    EXPECT_TRUE(
        child.says({"for lockstep::ranked_barrier 'step' at 0x", ", phase 2, as rank 4 of 5, ",
                    "  lockstep::ranked_barrier 'step' at 0x",
                    ", phase 2: 4 wait; 4 of 5 have come: ranks 0-2, 4; missing: rank 3\n"}))
        << child.text();
  }
}

TEST(watchdog, a_missing_rank_of_a_barrier_is_the_thread_that_waited_there_before) {
  expect_said({": 1 waits; 1 of 2 have come: rank 0; missing: rank 1\n",
               "    missing: rank 1, who was last thread ",
               "'the late one': waits for nothing that lockstep knows"},
              [] {
                lockstep::ranked_barrier object(2);
                std::thread other([&] {
                  lockstep::name_this_thread("the late one");
                  object.arrive_and_wait(1);
                  work_for_ever();
                });
                // The other one waits for long, so that it is seen.
                while (lockstep::who_waits().find("as rank 1 of 2") == std::string::npos) {
                  std::this_thread::yield();
                }
                object.arrive_and_wait(0);
                object.arrive_and_wait(0);
              });
}

TEST(watchdog, latches_barriers_and_fans_say_what_lacks) {
  expect_said(
      {"  lockstep::latch at 0x", ": 1 waits; when the last one began to, 2 more were to come\n",
       "  lockstep::barrier at 0x",
       ", phase 1: 1 waits; when the last one began to, 3 more were to come\n",
       "  lockstep::fan_in_out at 0x",
       ": 1 waits; 1 of 3 have notified: rank 1; missing: ranks 0, 2\n"},
      [] {
        lockstep::latch count(3);
        lockstep::barrier<> split(4);
        lockstep::fan_in_out both(3, 1);
        both.notify(1);
        std::thread a([&] { count.arrive_and_wait(); }), b([&] { split.arrive_and_wait(); });
        both.wait(0);
        a.join();
        b.join();
      });
}

/// What a child says of a wait that a stop has made too long; nothing if the child was so slow before or after the stop
/// that the wait was too long without it.
std::string said_after_a_stop(std::chrono::nanoseconds limit) {
  using clock = std::chrono::steady_clock;
  int go[2];
  if (pipe(go) != 0) std::abort();
  const clock::time_point begin = clock::now();
  told_child child([&] {
    lockstep::event ready, never_notified;
    const lockstep::named_object first(&ready, "short"), second(&never_notified, "long");
    watch(limit);
    std::thread notifier([&] {
      while (lockstep::who_waits().find("'short'") == std::string::npos) {
        std::this_thread::yield();
      }
      std::fputs("it waits\n", stderr);
      char one = 0;
      if (read(go[0], &one, 1) != 1) std::abort();
      ready.notify();
    });
    ready.wait();
    std::fputs("it ended\n", stderr);
    never_notified.wait();
    notifier.join();
    return 0;
  });
  EXPECT_TRUE(child.says({"it waits\n"}));
  EXPECT_TRUE(child.process().stop());
  const bool stops_early = clock::now() - begin < limit / 2;
  // What ends the wait is there when the process goes on, after the wait was too long by far. Time has to pass.
  EXPECT_EQ(write(go[1], "g", 1), 1);
  std::this_thread::sleep_for(2 * limit);
  const clock::time_point goes_on = clock::now();
  child.process().send(SIGCONT);
  EXPECT_TRUE(child.says({"it ended\n"}));
  const bool ends_soon = clock::now() - goes_on < limit / 4;  // stop_excuse::time_of()
  if (stops_early && ends_soon) {
    EXPECT_TRUE(child.says({"for lockstep::event 'long' at 0x"}));
  }
  close(go[0]);
  close(go[1]);
  return stops_early && ends_soon ? child.text() : std::string();
}

TEST(watchdog, waits_that_last_only_because_the_process_was_stopped_are_not_reported) {
  std::string said;
  while (said.empty() && !HasFailure()) said = said_after_a_stop(800ms);
  EXPECT_EQ(said.find("'short'"), std::string::npos) << said;
}

TEST(watchdog, threads_are_read_while_they_run) {
  told_child child([] {
    watch(never);
    std::atomic<bool> ends{false};
    std::thread reader([&] {
      for (int i = 0; i < 300; ++i) static_cast<void>(lockstep::who_waits());
      ends = true;
    });
    lockstep::team team(team_options().members(3));
    lockstep::mutex lock;
    std::size_t sum = 0;
    while (!ends) {
      team.run([&](member& me) {
        me.sync_threads();
        lock.lock();
        ++sum;
        lock.unlock();
        me.sync_threads();
      });
      team.for_each(0, 100, [&](std::size_t) {});
    }
    reader.join();
    return sum % 3 == 0 ? 0 : 1;
  });
  EXPECT_EQ(child.process().wait(), 0);
}

TEST(watchdog, begins_while_members_return_from_a_region_or_a_sub_team) {
  EXPECT_EQ(lockstep::test::in_child([] {
              using namespace lockstep::detail;
              lockstep::team team(team_options().members(2));
              for (int round = 0; round < 10; ++round) {
                team.run([](member& me) {
                  me.split(0)->sync_threads();  // the other lets go meanwhile
                  if (me.rank() != 0) return;
                  for (int i = 0; i < 20; ++i) std::this_thread::yield();
                  begin_to_observe(observer::watches);
                });
                team.run([](member& me) { me.sync_threads(); });
                end_to_observe(observer::watches);
              }
              return 0;
            }),
            0);
}

TEST(watchdog, each_stuck_wait_is_reported_once) {
  int go[2];
  ASSERT_EQ(pipe(go), 0);
  told_child child([&] {
    watch(5ms);
    lockstep::event never_notified[3];
    for (lockstep::event& each : never_notified) {
      std::thread([&] { each.wait(); }).detach();
      char next = 0;
      if (read(go[0], &next, 1) != 1) return 1;
    }
    return 0;
  });
  for (std::size_t reports = 1; reports <= 3; ++reports) {
    ASSERT_TRUE(child.says_so_often("has waited", reports));
    EXPECT_EQ(write(go[1], "g", 1), 1);
  }
  child.all();
  EXPECT_EQ(count(child.text(), "has waited"), 3u) << child.text();
  close(go[0]);
  close(go[1]);
}

TEST(watchdog, a_signal_asks_for_a_report_of_all_threads) {
  told_child child([] {
    lockstep::start_watchdog(watchdog_options().after(never).on_signal(true));
    lockstep::event never_notified;
    std::thread waits([&] { never_notified.wait(); });
    while (lockstep::who_waits().find("lockstep::event") == std::string::npos) {
      std::this_thread::yield();
    }
    std::fputs("it waits\n", stderr);
    waits.join();
    return 0;
  });
  ASSERT_TRUE(child.says({"it waits\n"}));
  child.process().send(SIGUSR1);
  EXPECT_TRUE(child.says(
      {"lockstep watchdog: a signal asks what threads wait for\n", "for lockstep::event at"}));
}

TEST(watchdog, signals_do_not_put_off_the_report_of_a_wait_that_is_too_long) {
  told_child child([] {
    lockstep::start_watchdog(watchdog_options().after(200ms).on_signal(true));
    lockstep::event never_notified;
    // ThreadSanitizer puts off a handler until its thread calls a function that it knows: the one that joins.
    std::thread waits([&] {
      sigset_t all;
      sigfillset(&all);
      pthread_sigmask(SIG_BLOCK, &all, nullptr);
      never_notified.wait();
    });
    std::fputs("it watches\n", stderr);
    waits.join();
    return 0;
  });
  ASSERT_TRUE(child.says({"it watches\n"}));
  // Each signal is answered well before the time is up.
  for (std::size_t asked = 1; count(child.text(), "has waited") == 0; ++asked) {
    child.process().send(SIGUSR1);
    ASSERT_TRUE(child.says_so_often("a signal asks", asked)) << "no report of its own";
  }
}

TEST(watchdog, it_aborts_if_asked_to) {
  told_child child([] {
    lockstep::start_watchdog(watchdog_options().after(soon).aborts(true));
    lockstep::event never_notified;
    never_notified.wait();
    return 0;
  });
  EXPECT_EQ(count(child.all(), "has waited"), 1u) << child.text();
  EXPECT_EQ(child.process().wait(), -SIGABRT);
}

TEST(watchdog, idle_workers_are_not_stuck) {
  told_child child([] {
    watch(1ms);
    lockstep::team team(team_options().members(3));
    team.run([](member&) {});
    // This wait begins later and is reported: if idle threads were reported, they would have been by then.
    lockstep::event never_notified;
    never_notified.wait();
    return 0;
  });
  ASSERT_TRUE(child.says({"for lockstep::event", "idle, waits for the next region"}));
  // That of the caller for the end of the region may have lasted as long.
  EXPECT_EQ(count(child.text(), "'lockstep 1' has waited"), 0u) << child.text();
  EXPECT_EQ(count(child.text(), "'lockstep 2' has waited"), 0u) << child.text();
}

TEST(watchdog, it_ends_with_the_program_and_may_be_started_and_stopped_at_any_time) {
  EXPECT_EQ(lockstep::test::in_child([] {
              for (int i = 0; i < 20; ++i) {
                watch(never);
                if (lockstep::who_waits().empty()) return 1;
                if (i % 2 == 0) lockstep::stop_watchdog();
                if (i % 2 == 0 && !lockstep::who_waits().empty()) return 2;
              }
              lockstep::stop_watchdog();
              lockstep::stop_watchdog();
              watch(never);
              std::exit(7);  // with the watchdog running
            }),
            7);
}

TEST(watchdog, a_child_of_fork_has_none_and_may_start_its_own) {
  if (lockstep::test::is_sanitized) GTEST_SKIP() << "sanitizers start no threads there";
  EXPECT_EQ(lockstep::test::in_child([] {
              watch(never);
              const int inner = lockstep::test::in_child([] {
                if (!lockstep::who_waits().empty()) return 1;
                lockstep::stop_watchdog();
                watch(never);
                if (lockstep::who_waits().empty()) return 2;
                lockstep::stop_watchdog();
                return 3;
              });
              if (lockstep::who_waits().empty()) return 4;
              lockstep::stop_watchdog();
              return inner;
            }),
            3);
}

TEST(watchdog, the_handler_that_was_there_before_is_back_after_it) {
  EXPECT_EQ(lockstep::test::in_child([] {
              static int calls = 0;
              signal(SIGUSR1, [](int) { ++calls; });
              lockstep::start_watchdog(watchdog_options().after(never).on_signal(true));
              raise(SIGUSR1);
              lockstep::stop_watchdog();
              raise(SIGUSR1);
              return calls;
            }),
            1);
}

}  // namespace
