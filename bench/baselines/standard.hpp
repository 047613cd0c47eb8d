// SPDX-License-Identifier: MIT
// bench/baselines/standard.hpp -- what the system offers: condition variable 1:1, pthread_barrier_t else
//
// Fork and join are a barrier each, of the workers and the parent: the plain way to write them.
#pragma once

#include <pthread.h>

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string_view>
#include <system_error>

namespace bench::standard {

/// Notifications are counted, so nobody has to wait for the waiter to arrive.
class event {
 public:
  void notify() {
    {
      const std::lock_guard lock(mutex_);
      ++notified_;
    }
    changed_.notify_one();
  }

  bool wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return notified_ > 0 || is_terminated_; });
    if (is_terminated_) return false;
    --notified_;
    return true;
  }

  void terminate() {
    {
      const std::lock_guard lock(mutex_);
      is_terminated_ = true;
    }
    changed_.notify_one();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t notified_ = 0;
  bool is_terminated_ = false;
};

class barrier {
 public:
  explicit barrier(std::size_t participants) {
    const int error = pthread_barrier_init(&handle_, nullptr, static_cast<unsigned>(participants));
    if (error != 0) throw std::system_error(error, std::generic_category(), "pthread_barrier_init");
  }
  ~barrier() { pthread_barrier_destroy(&handle_); }
  barrier(const barrier&) = delete;
  barrier& operator=(const barrier&) = delete;

  bool arrive_and_wait(std::size_t) {
    pthread_barrier_wait(&handle_);
    return true;
  }

 private:
  pthread_barrier_t handle_;
};

class fan_out {
 public:
  explicit fan_out(std::size_t waiters) : all_(waiters + 1) {}

  void notify() { all_.arrive_and_wait(0); }
  bool wait(std::size_t rank) {
    all_.arrive_and_wait(rank);
    return !is_terminated_;
  }
  /// The barrier itself makes the plain flag visible to the waiters it lets go.
  void terminate() {
    is_terminated_ = true;
    notify();
  }

 private:
  barrier all_;
  bool is_terminated_ = false;
};

class fan_in {
 public:
  explicit fan_in(std::size_t notifiers) : all_(notifiers + 1) {}

  void notify(std::size_t rank) { all_.arrive_and_wait(rank); }
  bool wait() { return all_.arrive_and_wait(0); }

 private:
  barrier all_;
};

struct mechanism {
  static constexpr std::string_view name = "std";
  using event = standard::event;
  using fan_out = standard::fan_out;
  using fan_in = standard::fan_in;
  using barrier = standard::barrier;
};

}  // namespace bench::standard
