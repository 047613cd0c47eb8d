// SPDX-License-Identifier: MIT
// tests/support/scripted_system.hpp -- a system seam that plays a script on a clock of its own
//
// For LOCKSTEP_SYSTEM_SEAM (src/platform/system.hpp), in tests of one thread. Every call is recorded and runs the
// action that the test has attached to it. The action stands for what other threads do at that moment. Time passes only
// by calls: a look at the clock takes 25 ns, a pause 26 ns, a yield 500 ns, a sleep lasts until its deadline unless an
// action ends it.
//
// A sleep that nothing will ever end throws `stranded` where real threads would hang.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "support/native_threads.hpp"

namespace lockstep::test {

using namespace detail;

struct stranded : std::logic_error {
  using std::logic_error::logic_error;
};

enum class call { futex_wait, wake_one, wake_all, yield, clock, fence_light, fence_heavy };

/// A futex_wait as it was asked for; `slept` if the word had the expected value, as FUTEX-1 demands.
struct futex_sleep {
  const detail::wait_word* word;
  std::uint32_t expected;
  std::uint64_t deadline;
  bool slept;
};

struct scripted_system {
  // What happened, in order.
  std::vector<call> calls;
  std::vector<futex_sleep> sleeps;

  // What shall happen.
  std::function<void()> on_yield, on_clock, on_wake, on_fence_light, on_fence_heavy;
  std::function<void()> on_sleep;  // in a sleep, which then ends
  bool heavy_result = true;
  std::uint64_t now = 1000000000;
  std::uint64_t clock_cost = 25;
  std::uint64_t yield_cost = 500;
  std::uint64_t pause_cost = 26;
  int cpu = -1;                // that the thread runs on; -1: unknown
  std::vector<unsigned> left;  // CPUs that it has left
  bool is_full = false;        // no CPU of the machine is free

  static scripted_system& instance() {
    static scripted_system the_one;
    return the_one;
  }
  /// Begins a new script.
  static scripted_system& reset() { return instance() = scripted_system(); }

  std::size_t count(call what) const {
    return static_cast<std::size_t>(std::count(calls.begin(), calls.end(), what));
  }
  std::size_t wakes() const { return count(call::wake_one) + count(call::wake_all); }

  void note(call what, const std::function<void()>& action) {
    calls.push_back(what);
    if (action) action();
  }

  void sleep(const detail::wait_word& word, std::uint32_t expected, std::uint64_t deadline) {
    const bool sleeping = word.load(detail::memory_order_relaxed) == expected;
    calls.push_back(call::futex_wait);
    sleeps.push_back({&word, expected, deadline, sleeping});
    if (!sleeping) return;
    if (on_sleep) return on_sleep();
    if (deadline == detail::no_deadline) throw stranded("asleep for ever");
    now = std::max(now, deadline);
  }
};

}  // namespace lockstep::test

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

struct futex {
  static void wait(const wait_word& word, std::uint32_t expected, std::uint64_t deadline) {
    test::scripted_system::instance().sleep(word, expected, deadline);
  }
  static void wake_one(const wait_word*) {
    test::scripted_system& system = test::scripted_system::instance();
    system.note(test::call::wake_one, system.on_wake);
  }
  static void wake_all(const wait_word*) {
    test::scripted_system& system = test::scripted_system::instance();
    system.note(test::call::wake_all, system.on_wake);
  }
};
inline void yield_thread() {
  test::scripted_system& system = test::scripted_system::instance();
  system.now += system.yield_cost;
  system.note(test::call::yield, system.on_yield);
}
inline std::uint64_t monotonic_nanoseconds() {
  test::scripted_system& system = test::scripted_system::instance();
  system.now += system.clock_cost;
  system.note(test::call::clock, system.on_clock);
  return system.now;
}
inline void fence_light() {
  test::scripted_system& system = test::scripted_system::instance();
  system.note(test::call::fence_light, system.on_fence_light);
}
inline bool fence_heavy() {
  test::scripted_system& system = test::scripted_system::instance();
  system.note(test::call::fence_heavy, system.on_fence_heavy);
  return system.heavy_result;
}
inline void polling_pause() {
  test::scripted_system& system = test::scripted_system::instance();
  system.now += system.pause_cost;
}
inline unsigned usable_cpus() {
  static const unsigned count = count_usable_cpus();
  return count;
}
inline int current_cpu() { return test::scripted_system::instance().cpu; }
inline bool move_off_cpu(unsigned cpu) {
  test::scripted_system::instance().left.push_back(cpu);
  return true;
}
inline machine_load load_of_machine() {
  return test::scripted_system::instance().is_full ? machine_load::full : machine_load::has_room;
}
using system_thread = std::thread;

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#include "support/plain_thread.hpp"
