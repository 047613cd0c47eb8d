// SPDX-License-Identifier: MIT
// bench/baselines/original.hpp -- the mechanism of ThreadSynchronizer, from its document
//
// Mutex and condition variable. To lose no notification, the notifier first spins until the waiter has
// arrived; a flag keeps a spurious wake-up from counting. For several waiters or notifiers, counters
// take the place of the flags. The document describes the case 1:1 in full and the others as the same
// idea with internal counters; where it leaves a choice, this file takes the faster way: notifying
// outside of the lock, waking the waiter of N notifiers once, not N times, and letting the last thread
// of syncThreads() notify the others in one step.
//
// One difference in behaviour: several waiters wait for a number to change. With a bare count of
// wake-ups left, a fast waiter that comes round again could take the wake-up of a slow one.
// As in the original, N:1 cannot tell one notifier from another; the experiments never let a notifier
// notify twice in a round.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string_view>

namespace bench::original {

class event {
 public:
  void notify() {
    while (!is_waiting_ && !is_terminated_) continue;
    {
      const std::lock_guard lock(mutex_);
      is_waiting_ = false;
      is_notified_ = true;
    }
    changed_.notify_one();
  }

  bool wait() {
    std::unique_lock lock(mutex_);
    is_waiting_ = true;
    changed_.wait(lock, [this] { return is_notified_ || is_terminated_; });
    is_notified_ = false;
    return !is_terminated_;
  }

  void terminate() {
    {
      const std::lock_guard lock(mutex_);
      is_terminated_ = true;
    }
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<bool> is_waiting_{false};
  std::atomic<bool> is_notified_{false};
  std::atomic<bool> is_terminated_{false};
};

class fan_out {
 public:
  explicit fan_out(std::size_t waiters) : waiters_(waiters) {}

  void notify() {
    while (waiting_ != waiters_ && !is_terminated_) continue;
    {
      const std::lock_guard lock(mutex_);
      waiting_ = 0;
      ++phase_;
    }
    changed_.notify_all();
  }

  bool wait(std::size_t) {
    std::unique_lock lock(mutex_);
    const std::uint64_t phase = phase_;
    ++waiting_;
    changed_.wait(lock, [&] { return phase_ != phase || is_terminated_; });
    return !is_terminated_;
  }

  void terminate() {
    {
      const std::lock_guard lock(mutex_);
      is_terminated_ = true;
    }
    changed_.notify_all();
  }

 private:
  const std::size_t waiters_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<std::size_t> waiting_{0};
  std::uint64_t phase_ = 0;
  std::atomic<bool> is_terminated_{false};
};

class fan_in {
 public:
  explicit fan_in(std::size_t notifiers) : notifiers_(notifiers) {}

  void notify(std::size_t) {
    while (!is_waiting_) continue;
    {
      const std::lock_guard lock(mutex_);
      if (++notified_ != notifiers_) return;
      is_waiting_ = false;
    }
    changed_.notify_one();
  }

  bool wait() {
    std::unique_lock lock(mutex_);
    is_waiting_ = true;
    changed_.wait(lock, [this] { return notified_ == notifiers_; });
    notified_ = 0;
    return true;
  }

 private:
  const std::size_t notifiers_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<bool> is_waiting_{false};
  std::size_t notified_ = 0;
};

/// syncThreads(): the last to arrive is the notifier, the others are its waiters.
class barrier {
 public:
  explicit barrier(std::size_t participants) : participants_(participants) {}

  bool arrive_and_wait(std::size_t) {
    if (++arrived_ == participants_) {
      notify_others();
    } else {
      wait();
    }
    return true;
  }

 private:
  void notify_others() {
    while (waiting_ != participants_ - 1) continue;
    {
      const std::lock_guard lock(mutex_);
      arrived_ = 0;
      waiting_ = 0;
      ++phase_;
    }
    changed_.notify_all();
  }

  void wait() {
    std::unique_lock lock(mutex_);
    const std::uint64_t phase = phase_;
    ++waiting_;
    changed_.wait(lock, [&] { return phase_ != phase; });
  }

  const std::size_t participants_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<std::size_t> arrived_{0};
  std::atomic<std::size_t> waiting_{0};
  std::uint64_t phase_ = 0;
};

struct mechanism {
  static constexpr std::string_view name = "original";
  using event = original::event;
  using fan_out = original::fan_out;
  using fan_in = original::fan_in;
  using barrier = original::barrier;
};

}  // namespace bench::original
