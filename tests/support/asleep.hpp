// SPDX-License-Identifier: MIT
// tests/support/asleep.hpp -- waiting until another thread sleeps in the kernel, without a guess at time
//
// Linux only: asks the kernel for the state of the thread.
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <string>
#include <thread>

namespace lockstep::test {

/// Where a thread leaves its number for the one that watches it.
class watched_thread {
 public:
  /// Called by the thread itself.
  void enter() noexcept {
    number_.store(static_cast<int>(syscall(SYS_gettid)), std::memory_order_release);
  }

  bool is_asleep() const {
    const int number = number_.load(std::memory_order_acquire);
    if (number == 0) return false;
    std::ifstream file("/proc/self/task/" + std::to_string(number) + "/stat");
    std::string text;
    std::getline(file, text);
    const std::size_t end_of_name = text.rfind(')');
    return end_of_name != std::string::npos && text.compare(end_of_name, 3, ") S") == 0;
  }

  /// Returns once the thread has been seen asleep at 20 looks in a row, and so not only in passing.
  void wait_until_asleep() const {
    for (int looks = 0; looks < 20; looks = is_asleep() ? looks + 1 : 0) std::this_thread::yield();
  }

 private:
  std::atomic<int> number_{0};
};

}  // namespace lockstep::test
