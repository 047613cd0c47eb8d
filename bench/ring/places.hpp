// SPDX-License-Identifier: MIT
// bench/ring/places.hpp -- what lies between two threads of the ring: a place for the token
//
// A place is empty or full. Its reader waits until it is full and empties it; its writer, the thread
// before, waits until it is empty and fills it. `idle` is called again and again by a wait that polls.
// A semaphore and an event count, so that their writer need not wait.
#pragma once

#include <atomic>
#include <condition_variable>
#include <lockstep/event.hpp>
#include <mutex>
#include <semaphore>
#if defined(__linux__)
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace bench::ring {

/// The document's slow one.
class condition_place {
 public:
  static constexpr bool polls = false;

  template <class Idle>
  void wait_until_full(Idle) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return is_full_; });
  }
  template <class Idle>
  void wait_until_empty(Idle) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !is_full_; });
  }
  void empty() { set(false); }
  void fill() { set(true); }

 private:
  void set(bool full) {
    {
      const std::lock_guard lock(mutex_);
      is_full_ = full;
    }
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_full_ = false;
};

/// The document's fast ones: the orders of the stores are seq_cst, or release.
template <std::memory_order LoadOrder, std::memory_order StoreOrder>
class flag_place {
 public:
  static constexpr bool polls = true;

  template <class Idle>
  void wait_until_full(Idle idle) {
    while (!is_full_.load(LoadOrder)) idle();
  }
  template <class Idle>
  void wait_until_empty(Idle idle) {
    while (is_full_.load(LoadOrder)) idle();
  }
  void empty() { is_full_.store(false, StoreOrder); }
  void fill() { is_full_.store(true, StoreOrder); }

 private:
  std::atomic<bool> is_full_{false};
};
using seq_cst_place = flag_place<std::memory_order_seq_cst, std::memory_order_seq_cst>;
using release_place = flag_place<std::memory_order_acquire, std::memory_order_release>;

class semaphore_place {
 public:
  static constexpr bool polls = false;

  template <class Idle>
  void wait_until_full(Idle) {
    tokens_.acquire();
  }
  template <class Idle>
  void wait_until_empty(Idle) {}
  void empty() {}
  void fill() { tokens_.release(); }

 private:
  std::counting_semaphore<> tokens_{0};
};

#if defined(__linux__)
/// The least that a sleep and a wake take: a word and two system calls.
class futex_place {
 public:
  static constexpr bool polls = false;

  template <class Idle>
  void wait_until_full(Idle) {
    while (!word_.load(std::memory_order_acquire)) call(FUTEX_WAIT_PRIVATE, 0);
    word_.store(0, std::memory_order_relaxed);
  }
  template <class Idle>
  void wait_until_empty(Idle) {}
  void empty() {}
  void fill() {
    word_.store(1, std::memory_order_release);
    call(FUTEX_WAKE_PRIVATE, 1);
  }

 private:
  void call(int operation, int value) {
    ::syscall(SYS_futex, &word_, operation, value, nullptr, nullptr, 0);
  }

  std::atomic<int> word_{0};
};
#endif

/// With the default policy; Polls: the caller polls, to do something else in the meantime.
template <bool Polls>
class event_place {
 public:
  static constexpr bool polls = Polls;

  template <class Idle>
  void wait_until_full(Idle idle) {
    if constexpr (Polls) {
      while (!tokens_.try_wait()) idle();
    } else {
      tokens_.wait();
    }
  }
  template <class Idle>
  void wait_until_empty(Idle) {}
  void empty() {}
  void fill() { tokens_.notify(); }

 private:
  lockstep::event tokens_;
};

}  // namespace bench::ring
