// SPDX-License-Identifier: MIT
// tests/support/asleep.hpp -- waiting until another thread sleeps in the kernel, without a guess at time
//
// Linux tells the state of a thread. Elsewhere a thread that has come near the call is given 20 ms: a test that it does
// not reach in this time is right as well, but finds less.
#pragma once

#include <atomic>
#include <chrono>
#include <fstream>
#include <string>
#include <thread>

#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace lockstep::test {

#if defined(__linux__)

/// Where a thread leaves its number for the one that watches it.
class watched_thread {
 public:
  /// Called by the thread itself.
  void enter() noexcept {
    number_.store(static_cast<int>(syscall(SYS_gettid)), std::memory_order_release);
  }

  bool is_asleep() const { return state() == 'S'; }

  /// Returns once the thread has been seen asleep at 20 looks in a row, and so not only in passing; or
  /// once it has ended, as a thread that sleeps for a time may before it has been looked at.
  void wait_until_asleep() const {
    for (int looks = 0; looks < 20;) {
      const char now = state();
      if (now == ended) return;
      looks = now == 'S' ? looks + 1 : 0;
      std::this_thread::yield();
    }
  }

 private:
  static constexpr char unknown = '?', ended = 'E';

  /// The kernel's letter.
  char state() const {
    const int number = number_.load(std::memory_order_acquire);
    if (number == 0) return unknown;
    std::ifstream file("/proc/self/task/" + std::to_string(number) + "/stat");
    if (!file) return ended;
    std::string text;
    std::getline(file, text);
    const std::size_t end_of_name = text.rfind(')');
    if (end_of_name == std::string::npos || end_of_name + 2 >= text.size()) return ended;
    return text[end_of_name + 2];
  }

  std::atomic<int> number_{0};
};

#else

class watched_thread {
 public:
  void enter() noexcept { has_entered_.store(true, std::memory_order_release); }

  bool is_asleep() const {
    wait_until_asleep();
    return true;
  }

  void wait_until_asleep() const {
    while (!has_entered_.load(std::memory_order_acquire)) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }

 private:
  std::atomic<bool> has_entered_{false};
};

#endif

}  // namespace lockstep::test
