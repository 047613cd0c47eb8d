// SPDX-License-Identifier: MIT
// thread_synchronizer.h -- the five classes of ThreadSynchronizer, as a thin layer over lockstep
//
// Programs written for ThreadSynchronizer compile and mean the same. New ones should use lockstep's
// own classes: their notify() does not wait, their waits tell how they ended and may have a limit.
//
//   COMPAT-1  notify() returns only after the waiter (of N: every waiter) has come to the wait() that it
//             ends. So a second notify() waits until the first was taken. A thread that calls notify()
//             and then wait() on the same object waits for ever, as with the original.
//   COMPAT-2  What happens before notify() happens before the return of the wait() that it ends. What
//             happens before that wait() happens before the return of notify().
//   COMPAT-3  After terminate() every call returns at once, blocked ones too; isTerminating() is true.
//   COMPAT-4  Where N threads notify, each notifies once in a phase; a second call belongs to the next
//             phase. (With the original a fast thread that called twice stood in for a slow one.) They
//             need not be the same N threads in every phase.
//
// Memory order (# marks the line)
//   #  access            order    pairs  why it suffices
//   1  threads.fetch_add relaxed  -      hands out numbers, nothing else
//
// Cost   two lockstep notifications for one of the original; two short locks more where N notify.
// Source [TS] for the interface and what it means; no code.
#ifndef LOCKSTEP_THREAD_SYNCHRONIZER_H
#define LOCKSTEP_THREAD_SYNCHRONIZER_H

#include <cstddef>
#include <cstdint>

// The original included these, and its users have come to rely on them.
#include <atomic>
#include <condition_variable>
#include <iomanip>
#include <iostream>
#include <mutex>
#include <thread>
#include <vector>

#include <lockstep/detail/platform/atomic.hpp>
#include <lockstep/detail/platform/this_thread.hpp>
#include <lockstep/event.hpp>
#include <lockstep/fan.hpp>
#include <lockstep/ranked_barrier.hpp>

#if defined(LOCKSTEP_COMPAT_USING_NAMESPACE_STD)
using namespace std;
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// Two primitives in opposite directions: waiters say that they have come, notifiers release them.
/// Their waits get no call_site: it would be a line of this header.
template <class Waiting, class Going>
class compat_handshake {
 public:
  /// going_ comes first in both functions: its message is the one that fits a bad count, and a
  /// notifier that waiting_ has released must find isTerminating() true.
  template <class... Counts>
  explicit compat_handshake(Counts... counts) : going_(counts...), waiting_(counts...) {}

  void terminate() {
    going_.terminate();
    waiting_.terminate();
  }
  bool isTerminating() const { return going_.terminated(); }

 protected:
  Going going_;
  Waiting waiting_;
};

/// Finds ranks for threads that notify without saying who they are.
///
///   PLACES-1  The phases in which one thread notifies strictly increase; so the N notifications of a
///             phase come from N threads. For a thread keeps its place until a new thread takes it. A new
///             thread takes one with the fewest calls: then the next call at every place is for a later
///             phase than the last call of the thread that lost its place.
class compat_places {
 public:
  explicit compat_places(int count) : places_(static_cast<std::size_t>(count)) {}

  /// One notification of the calling thread.
  template <class Waiting, class Going>
  void notify(Waiting& waiting, Going& going) {
    const std::size_t rank = take();
    if (waiting.wait(rank, call_site::none())) going.notify(rank);
    give_back(rank);
  }

 private:
  struct place {
    std::uint64_t holder;
    std::uint64_t calls;
    bool in_use;
  };

  /// Unlike std::thread::id, never used again for another thread.
  static std::uint64_t this_thread() {
    static detail::atomic<std::uint64_t> threads(0);
    static thread_local const std::uint64_t number =
        threads.fetch_add(1, detail::memory_order_relaxed) + 1;  // 1
    return number;
  }

  /// Waits only while N other threads are in notify(). They may stay there for long, and may have a lower priority than
  /// this thread: so it sleeps.
  std::size_t take() {
    const std::uint64_t self = this_thread();
    std::unique_lock<std::mutex> lock(mutex_);
    std::size_t rank = place_for(self);
    while (places_[rank].in_use) {
      given_back_.wait(lock);
      rank = place_for(self);
    }
    places_[rank] = {self, places_[rank].calls + 1, true};
    return rank;
  }
  void give_back(std::size_t rank) {
    const std::lock_guard<std::mutex> lock(mutex_);
    places_[rank].in_use = false;
    given_back_.notify_all();
  }

  std::size_t place_for(std::uint64_t thread) const {
    std::size_t rank = 0;
    while (rank < places_.size() && places_[rank].holder != thread) ++rank;
    return rank < places_.size() ? rank : fewest_calls();
  }
  /// Of the places with the fewest calls one that is not in use, if there is one.
  std::size_t fewest_calls() const {
    std::size_t best = 0;
    for (std::size_t rank = 1; rank < places_.size(); ++rank) {
      const place& here = places_[rank];
      if (here.calls < places_[best].calls ||
          (here.calls == places_[best].calls && places_[best].in_use)) {
        best = rank;
      }
    }
    return best;
  }

  std::mutex mutex_;
  std::condition_variable given_back_;
  std::vector<place> places_;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

/// One notifier, one waiter.
class WaitNotifySingle
    : public lockstep::detail::compat_handshake<lockstep::event, lockstep::event> {
 public:
  WaitNotifySingle() : compat_handshake() {}

  void notify() {
    if (waiting_.wait(lockstep::call_site::none())) going_.notify();
  }
  void wait() {
    waiting_.notify();
    going_.wait(lockstep::call_site::none());
  }
};

/// One notifier, N waiters, which call wait() with 0 to N - 1.
class WaitNotifyMultipleWaiters
    : public lockstep::detail::compat_handshake<lockstep::fan_in, lockstep::fan_out> {
 public:
  WaitNotifyMultipleWaiters(const int num_waiters)
      : compat_handshake(static_cast<std::size_t>(num_waiters)) {}

  void notify() {
    if (waiting_.wait(lockstep::call_site::none())) going_.notify();
  }
  void wait(const int thread_id) {
    const std::size_t rank = static_cast<std::size_t>(thread_id);
    waiting_.notify(rank);
    going_.wait(rank, lockstep::call_site::none());
  }
};

/// N notifiers, one waiter.
class WaitNotifyMultipleNotifiers
    : public lockstep::detail::compat_handshake<lockstep::fan_out, lockstep::fan_in> {
 public:
  WaitNotifyMultipleNotifiers(const int num_notifiers)
      : compat_handshake(static_cast<std::size_t>(num_notifiers)), places_(num_notifiers) {}

  void notify() { places_.notify(waiting_, going_); }
  void wait() {
    waiting_.notify();
    going_.wait(lockstep::call_site::none());
  }

 private:
  lockstep::detail::compat_places places_;
};

/// N notifiers, N other threads as waiters, which call wait() with 0 to N - 1.
class WaitNotifyNxN
    : public lockstep::detail::compat_handshake<lockstep::fan_in_out, lockstep::fan_in_out> {
 public:
  WaitNotifyNxN(const int num_participants)
      : compat_handshake(static_cast<std::size_t>(num_participants),
                         static_cast<std::size_t>(num_participants)),
        places_(num_participants) {}

  void notify() { places_.notify(waiting_, going_); }
  void wait(const int thread_id) {
    const std::size_t rank = static_cast<std::size_t>(thread_id);
    waiting_.notify(rank);
    going_.wait(rank, lockstep::call_site::none());
  }

 private:
  lockstep::detail::compat_places places_;
};

/// N threads which all wait for each other, and call syncThreads() with 0 to N - 1.
class WaitNotifyEachOther {
 public:
  WaitNotifyEachOther(const int num_participants)
      : barrier_(static_cast<std::size_t>(num_participants)) {}

  void syncThreads(const int thread_id) {
    barrier_.arrive_and_wait(static_cast<std::size_t>(thread_id), lockstep::call_site::none());
  }
  void terminate() { barrier_.terminate(); }
  bool isTerminating() const { return barrier_.terminated(); }

 private:
  lockstep::ranked_barrier barrier_;
};

#endif  // LOCKSTEP_THREAD_SYNCHRONIZER_H
