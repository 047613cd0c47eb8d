// SPDX-License-Identifier: MIT
// tests/fork/first_use_test.cpp -- first uses of the library: fork() in the middle of one, and what one may cost
//
// Also: no two threads have the same number, even after a fork().
//
// Each round is a fresh process, because a first use happens once in a process.
#define LOCKSTEP_DIAGNOSE_MISUSE 1
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <dlfcn.h>

#include <lockstep/detail/platform/clock.hpp>
#include <lockstep/lockstep.hpp>
#include "fault/child_process.hpp"

namespace {

using lockstep::test::in_child;

std::atomic<int> files_opened{0};

}  // namespace

/// In place of the library's, for all calls of this program: counts.
extern "C" std::FILE* fopen(const char* name, const char* how) {
  ++files_opened;
  using function = std::FILE* (*)(const char*, const char*);
  // Looked up anew: a guarded static would hang in a child whose parent forked in the middle of making it.
  const function next = reinterpret_cast<function>(dlsym(RTLD_NEXT, "fopen"));
  return next(name, how);
}

namespace {

struct some_name;

/// Everything whose first use makes something.
const std::vector<std::function<void()>>& uses() {
  static const std::vector<std::function<void()>> all = {
      [] {
        lockstep::semaphore semaphore(0, lockstep::wait_policy::block());
        semaphore.try_acquire_for(std::chrono::microseconds(1));
      },
      [] {
        lockstep::mutex mutex;
        const std::lock_guard<lockstep::mutex> held(mutex);
      },
      [] {
        lockstep::mutex mutex;
        lockstep::condition_variable condition;
        std::unique_lock<lockstep::mutex> lock(mutex);
        condition.wait_for(lock, std::chrono::microseconds(1));
      },
      [] { lockstep::detail::usable_cpus(); },
      [] { lockstep::build_info(); },
      [] { lockstep::detail::tick_clock::rate(); },
      [] { lockstep::detail::usable_topology(); },
      [] {
        lockstep::recursive_mutex mutex;
        const std::lock_guard<lockstep::recursive_mutex> held(mutex);
      },
      [] {
        lockstep::team team(2);
        team.run([](lockstep::member& self) {
          self.critical<some_name>([] {});
          self.sync_threads();
        });
      },
      [] { lockstep::team().run([](lockstep::member&) {}); },
  };
  return all;
}

/// Threads use everything for the first time, in orders of their own, while this one forks; the children use
/// everything as well. 0 if all of them end.
int fork_in_the_middle(unsigned round) {
  std::atomic<bool> go{false};
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 3; ++i) {
    threads.emplace_back([&, i] {
      while (!go.load()) continue;
      const std::size_t count = uses().size();
      for (std::size_t at = 0; at < count; ++at) uses()[(at + round + 4 * i) % count]();
    });
  }
  uses();  // made before: its guard is none of the library's
  go = true;
  for (unsigned spins = round * 37 % 2000; spins > 0; --spins)
    lockstep::detail::native::polling_pause();
  int wrong = 0;
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(30);  // what hangs ends by a signal
      for (const auto& use : uses()) use();
      _exit(0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = -1;
    waitpid(child, &status, 0);
    wrong += status != 0;
  }
  for (std::thread& thread : threads) thread.join();
  return wrong;
}

/// A first contended wait of each kind. The number of files opened meanwhile.
int wait_for_the_first_time() {
  lockstep::mutex mutex;
  lockstep::semaphore semaphore(0);
  mutex.lock();
  files_opened = 0;
  std::thread other([&] {
    mutex.lock();
    mutex.unlock();
    semaphore.release();
  });
  std::this_thread::yield();
  mutex.unlock();
  semaphore.acquire();
  other.join();
  semaphore.try_acquire_for(std::chrono::microseconds(100));
  return files_opened;
}

/// In a namespace of processes of its own the system's thread numbers begin again: one of the child's threads gets the
/// number that its main thread had in the parent. Returns 0 if the mutex does not take that thread for its holder; 77
/// if the system does not let us try.
int take_the_number_of_the_parent() {
  lockstep::recursive_mutex mutex;
  const std::lock_guard<lockstep::recursive_mutex> held(mutex);
  const pid_t ours = getpid();
  if (unshare(CLONE_NEWPID) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0) return 77;
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    if (!mutex.try_lock()) _exit(2);  // still that of the thread that has forked
    mutex.unlock();
    for (int tries = 0; tries < 100000; ++tries) {
      std::FILE* const last = std::fopen("/proc/sys/kernel/ns_last_pid", "w");
      if (last == nullptr) _exit(77);
      std::fprintf(last, "%d", ours - 1);
      if (std::fclose(last) != 0) _exit(77);
      pid_t number = 0;
      bool entered = false;
      std::thread([&] {
        number = static_cast<pid_t>(syscall(SYS_gettid));
        entered = mutex.try_lock();
        if (entered) mutex.unlock();
      }).join();
      if (entered) _exit(1);
      if (number == ours) _exit(0);
    }
    _exit(77);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 3;
}

/// A thread of the child may get the memory of a thread of the parent. It must not get that thread's number, too.
bool gives_numbers_once() {
  std::atomic<std::uint64_t> taken{0};
  std::atomic<bool> done{false};
  std::thread other([&] {
    taken = lockstep::detail::number_of_this_thread();
    while (!done) std::this_thread::yield();
  });
  while (taken == 0) std::this_thread::yield();
  const std::uint64_t mine = lockstep::detail::number_of_this_thread();
  const int status = in_child([&] {
    bool fresh = lockstep::detail::number_of_this_thread() == mine;
    for (int i = 0; i < 20; ++i) {
      std::thread([&] {
        const std::uint64_t number = lockstep::detail::number_of_this_thread();
        fresh = fresh && number != taken && number != mine;
      }).join();
    }
    return fresh ? 0 : 1;
  });
  done = true;
  other.join();
  return status == 0;
}

/// This program with one argument, in a process of its own; its exit code.
int called_again(const std::string& argument) {
  return in_child([&] {
    execl("/proc/self/exe", "first_use", argument.c_str(), static_cast<char*>(nullptr));
    return 127;
  });
}

TEST(first_use, a_fork_in_the_middle_of_it_leaves_a_child_that_can_use_all) {
  for (unsigned round = 0; round < 60; ++round) {
    ASSERT_EQ(called_again("--fork=" + std::to_string(round)), 0)
        << "children hung, round " << round;
  }
}

TEST(first_use, of_a_wait_reads_no_files) { EXPECT_EQ(called_again("--wait"), 0); }

TEST(thread_numbers, are_given_once_in_a_process_and_its_children) {
  EXPECT_TRUE(gives_numbers_once());
}

TEST(thread_numbers, a_thread_of_a_child_in_a_namespace_of_its_own_is_no_holder) {
  const int result = called_again("--namespace");
  if (result == 77) GTEST_SKIP() << "the system refuses a namespace of processes";
  EXPECT_EQ(result, 0);
}

}  // namespace

int main(int count, char** arguments) {
  const std::string first = count > 1 ? arguments[1] : "";
  if (first.rfind("--fork=", 0) == 0) {
    return fork_in_the_middle(static_cast<unsigned>(std::atoi(first.c_str() + 7)));
  }
  if (first == "--namespace") return take_the_number_of_the_parent();
  if (first == "--wait") return wait_for_the_first_time();
  testing::InitGoogleTest(&count, arguments);
  return RUN_ALL_TESTS();
}
