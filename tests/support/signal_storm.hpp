// SPDX-License-Identifier: MIT
// tests/support/signal_storm.hpp -- sends signals to threads all the time, to disturb their waits (POSIX)
#pragma once

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "support/effort.hpp"

namespace lockstep::test {

/// While it lives, SIGUSR1 is sent to each target in turn. Its handler only counts, and is installed
/// without SA_RESTART: system calls that sleep return with EINTR. One storm at a time.
class signal_storm {
 public:
  /// 10,000 as in Argobots; in brief few of them: there are 72 storms.
  static long enough() { return is_brief() ? 300 : 10'000; }

  signal_storm() {
    received_.store(0, std::memory_order_relaxed);
    struct sigaction action = {};
    action.sa_handler = [](int) { received_.fetch_add(1, std::memory_order_relaxed); };
    sigaction(SIGUSR1, &action, &before_);
    sender_ = std::thread([this] { send(); });
  }
  ~signal_storm() {
    stop_.store(true, std::memory_order_relaxed);
    sender_.join();
    sigaction(SIGUSR1, &before_, nullptr);
  }
  signal_storm(const signal_storm&) = delete;
  signal_storm& operator=(const signal_storm&) = delete;

  /// Whether enough() signals have been handled.
  bool is_over() const noexcept { return received_.load(std::memory_order_relaxed) >= enough(); }

  /// The calling thread gets signals while this lives.
  class target {
   public:
    explicit target(signal_storm& storm) : storm_(storm), self_(pthread_self()) {
      const std::lock_guard<std::mutex> lock(storm_.mutex_);
      storm_.targets_.push_back(self_);
    }
    ~target() {
      const std::lock_guard<std::mutex> lock(storm_.mutex_);
      storm_.targets_.erase(std::find(storm_.targets_.begin(), storm_.targets_.end(), self_));
    }
    target(const target&) = delete;
    target& operator=(const target&) = delete;

   private:
    signal_storm& storm_;
    pthread_t self_;
  };

 private:
  void send() {
    while (!stop_.load(std::memory_order_relaxed)) {
      // In bursts: beside spinners a yield may last for a time slice.
      for (int i = 0; i < 64 && !is_over(); ++i) {
        const std::lock_guard<std::mutex> lock(mutex_);
        for (const pthread_t each : targets_) pthread_kill(each, SIGUSR1);
      }
      std::this_thread::yield();
    }
  }

  inline static std::atomic<long> received_{0};

  struct sigaction before_ = {};
  std::mutex mutex_;
  std::vector<pthread_t> targets_;
  std::atomic<bool> stop_{false};
  std::thread sender_;
};

}  // namespace lockstep::test
