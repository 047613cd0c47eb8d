// SPDX-License-Identifier: MIT
// tests/edges/shared_objects/shared_objects_test.cpp -- the state of the process is one for all its modules
//
// An executable and two shared objects, all with hidden symbols. Built twice: the shared objects are linked,
// or loaded by dlopen(RTLD_LOCAL). What one module starts another ends; a hang is caught by the timeout.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <thread>

#include "fault/child_process.hpp"
#include "plugin.hpp"
#include "support/asleep.hpp"

struct log_file;

#if defined(PLUGINS_LINKED)
extern "C" const plugin* first_plugin();
extern "C" const plugin* second_plugin();
#endif

namespace {

using lockstep::test::watched_thread;

template <class Function>
bool is_true_in_child(const Function& f) {
  return lockstep::test::in_child([&] { return f() ? 0 : 1; }) == 0;
}

/// A shared object, loaded while this lives.
class loaded {
 public:
  explicit loaded(bool second) {
#if defined(PLUGINS_LINKED)
    found_ = second ? second_plugin() : first_plugin();
#else
    handle_ = dlopen(second ? SECOND_PLUGIN : FIRST_PLUGIN, RTLD_NOW | RTLD_LOCAL);
    if (handle_ == nullptr) throw std::runtime_error(dlerror());
    const char* const name = second ? "second_plugin" : "first_plugin";
    found_ = reinterpret_cast<plugin_of>(dlsym(handle_, name))();
#endif
  }
  ~loaded() {
    if (handle_ != nullptr) dlclose(handle_);
  }
  loaded(const loaded&) = delete;
  loaded& operator=(const loaded&) = delete;

  const plugin* operator->() const { return found_; }

 private:
  void* handle_ = nullptr;
  const plugin* found_ = nullptr;
};

class shared_objects : public testing::Test {
 protected:
  loaded a{false}, b{true};
};

TEST_F(shared_objects, the_state_of_the_process_is_one) {
  EXPECT_EQ(a->process(), &lockstep::detail::find_observers(false));
  EXPECT_EQ(b->process(), &lockstep::detail::find_observers(false));
  EXPECT_EQ(a->usable_cpus(), lockstep::detail::usable_cpus());
}

TEST_F(shared_objects, a_mutex_awaited_in_one_is_unlocked_in_another) {
  lockstep::mutex mutex(lockstep::wait_policy::block());
  watched_thread waiter;
  a->lock(mutex);
  std::thread other([&] {
    waiter.enter();
    b->lock(mutex);
    b->unlock(mutex);
  });
  waiter.wait_until_asleep();
  a->unlock(mutex);
  other.join();
}

TEST_F(shared_objects, a_semaphore_awaited_in_one_is_released_in_another) {
  lockstep::semaphore semaphore(0, lockstep::wait_policy::block());
  watched_thread waiter;
  std::thread other([&] {
    waiter.enter();
    b->acquire(semaphore);
  });
  waiter.wait_until_asleep();
  a->release(semaphore);
  other.join();
}

TEST_F(shared_objects, a_condition_awaited_in_one_is_notified_in_another) {
  lockstep::mutex mutex(lockstep::wait_policy::block());
  lockstep::condition_variable condition;
  bool done = false;
  watched_thread waiter;
  std::thread other([&] {
    waiter.enter();
    a->wait(condition, mutex, done);
  });
  waiter.wait_until_asleep();
  a->lock(mutex);
  done = true;
  a->unlock(mutex);
  b->notify(condition);
  other.join();
}

TEST_F(shared_objects, a_team_is_called_again_through_another_from_inside_its_region) {
  lockstep::team team(2);
  struct way {
    const plugin* through;
    lockstep::team* team;
  } way{b.operator->(), &team};
  EXPECT_TRUE(a->run(
      team,
      [](void* context) {
        const auto& next = *static_cast<struct way*>(context);
        std::atomic<int> calls{0};
        next.through->run(
            *next.team, [](void* count) { return ++*static_cast<std::atomic<int>*>(count) > 0; },
            &calls);
        return calls == 1;  // inline, by one member
      },
      &way));
}

TEST_F(shared_objects, a_critical_name_is_one_mutex) {
  lockstep::team team(3);
  int inside = 0, most = 0, calls = 0;  // plain: what the name guards
  const auto part = [&] {
    most = ++inside > most ? inside : most;
    ++calls;
    std::this_thread::yield();
    --inside;
  };
  const auto call = [](void* context) { (*static_cast<decltype(part)*>(context))(); };
  team.run([&](lockstep::member& self) {
    for (int i = 0; i < 300; ++i) {
      void* const context = const_cast<void*>(static_cast<const void*>(&part));
      if (self.rank() == 0) a->critical(self, call, context);
      if (self.rank() == 1) b->critical(self, call, context);
      if (self.rank() == 2) self.critical<log_file>(part);
    }
  });
  EXPECT_EQ(most, 1);
  EXPECT_EQ(calls, 900);
}

TEST_F(shared_objects, a_thread_has_one_number_and_holds_a_recursive_mutex_in_all) {
  const std::uint64_t here = lockstep::detail::number_of_this_thread();
  EXPECT_EQ(a->thread_number(), here);
  EXPECT_EQ(b->thread_number(), here);
  lockstep::recursive_mutex mutex;
  a->lock_recursive(mutex);
  b->lock_recursive(mutex);
  mutex.lock();
  mutex.unlock();
  a->unlock_recursive(mutex);
  b->unlock_recursive(mutex);
  std::thread([&] { EXPECT_NE(a->thread_number(), here); }).join();
}

#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
// In child processes: the module that makes the team must stay loaded.
TEST_F(shared_objects, the_default_team_is_one_and_has_its_threads_in_a_child_process) {
  const auto is_one = [&] {
    lockstep::team* const first = &b->default_team();
    return &a->default_team() == first && &lockstep::default_team() == first;
  };
  const auto all_come = [](lockstep::team& team) {
    std::atomic<std::size_t> calls{0};
    const bool ran = team.run([&](lockstep::member& me) {
      me.sync_threads();
      ++calls;
    });
    return ran && calls == team.size();
  };
  EXPECT_TRUE(is_true_in_child([&] {
    return is_one() && all_come(a->default_team()) &&
           is_true_in_child([&] { return is_one() && all_come(b->default_team()); }) &&
           all_come(lockstep::default_team());
  }));
}

TEST_F(shared_objects, a_child_process_is_told_of_teams_of_all) {
  lockstep::team ours(2);
  lockstep::team* const theirs = a->make_team();
  const auto member = [](void*) { return true; };
  EXPECT_TRUE(b->run(*theirs, member, nullptr));
  EXPECT_TRUE(b->run(ours, member, nullptr));
  EXPECT_TRUE(is_true_in_child(
      [&] { return b->run(*theirs, member, nullptr) && a->run(ours, member, nullptr); }));
  a->destroy_team(theirs);
}
#endif

TEST(unloaded, what_is_left_goes_on_after_a_dlclose_of_the_one_that_came_first) {
  for (int round = 0; round < 3; ++round) {
    loaded b(true);
    {
      loaded a(false);
      lockstep::mutex mutex;
      a->lock(mutex);
      std::thread other([&] {
        b->lock(mutex);
        b->unlock(mutex);
      });
      a->unlock(mutex);
      other.join();
      EXPECT_EQ(a->thread_number(), b->thread_number());
    }
    lockstep::mutex mutex(lockstep::wait_policy::block());
    watched_thread waiter;
    b->lock(mutex);
    std::thread other([&] {
      waiter.enter();
      mutex.lock();
      mutex.unlock();
    });
    waiter.wait_until_asleep();
    b->unlock(mutex);
    other.join();
    lockstep::team team(2);
    EXPECT_TRUE(b->run(team, [](void*) { return true; }, nullptr));
    EXPECT_TRUE(
        is_true_in_child([&] { return b->run(team, [](void*) { return true; }, nullptr); }));
  }
}

TEST(unloaded, what_observers_have_seen_of_it_stays_whole) {
  lockstep::team team(lockstep::team_options().members(2).ledger(true));
  ASSERT_TRUE(lockstep::start_watchdog(lockstep::watchdog_options().after(std::chrono::hours(1))));
  ASSERT_TRUE(lockstep::start_trace());
  for (int round = 0; round < 3; ++round) {
    {
      loaded other(round == 1);
      other->be_seen(team);
    }
    const std::string table = team.ledger().table(), report = lockstep::who_waits(),
                      trace = lockstep::trace_summary();
    for (const char* const each : {"sync_threads   plugin.cpp:", "single", "loop", "plan",
                                   "a region of the plug-in", "a part of the plug-in"}) {
      EXPECT_NE(table.find(each), std::string::npos) << each << " in\n" << table;
    }
    EXPECT_NE(report.find("plugin.cpp:"), std::string::npos) << report;
    EXPECT_NE(report.find("named by the plug-in"), std::string::npos) << report;
    EXPECT_NE(trace.find("a mark of the plug-in"), std::string::npos) << trace;
  }
  EXPECT_TRUE(lockstep::stop_trace());
  lockstep::stop_watchdog();
}

}  // namespace
