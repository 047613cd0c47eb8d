// SPDX-License-Identifier: MIT
// tests/fault/protected_page_test.cpp -- objects that are destroyed as soon as they may be
//
// Each object lies at the end of a page that is closed to all access as soon as it is destroyed: a thread that touches it
// later, reading or writing, ends the program. The address itself may still be used, as in a late futex wake, also
// where it belongs to another object by then. The atomics delay at random (support/delay_atomic.hpp), so the last
// thread that may touch the object often comes late.
#include <lockstep/lockstep.hpp>
#include <lockstep/toolbox.hpp>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "support/effort.hpp"
#include "support/policies.hpp"
#include "support/threads.hpp"
#include "support/waited.hpp"

namespace {

using lockstep::wait_policy;

/// A page for one object at a time, at its very end.
class page {
 public:
  page()
      : size_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))),
        begin_(mmap(nullptr, size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    if (begin_ == MAP_FAILED) throw std::bad_alloc();
  }
  ~page() { munmap(begin_, size_); }
  page(const page&) = delete;
  page& operator=(const page&) = delete;

  template <class Object, class... Arguments>
  Object* make(Arguments&&... arguments) {
    protect(PROT_READ | PROT_WRITE);
    void* const place = static_cast<unsigned char*>(begin_) + size_ - sizeof(Object);
    return ::new (place) Object(std::forward<Arguments>(arguments)...);
  }
  template <class Object>
  void destroy(Object& object) {
    object.~Object();
    protect(PROT_NONE);
  }

 private:
  void protect(int access) {
    if (mprotect(begin_, size_, access) != 0) throw std::bad_alloc();
  }

  std::size_t size_;
  void* begin_;
};

/// Tells which thread's call returns last.
class countdown {
 public:
  void start(std::size_t count) { left_.store(count, std::memory_order_relaxed); }
  bool is_last() { return left_.fetch_sub(1, std::memory_order_acq_rel) == 1; }

 private:
  std::atomic<std::size_t> left_{0};
};

/// A waiter with this deadline has often left the queue again when the notifier looks for it.
constexpr std::chrono::microseconds soon(20);

/// Per class: how many threads use an object, how many of them count, and what each does with it; true
/// for the one that destroys it.
template <class Object>
struct scenario;

struct plain_scenario {
  static constexpr std::size_t threads = 2, counted = 1;
};

/// One notifies, one waits.
template <class Object>
struct one_to_one : plain_scenario {
  static Object* make(page& at, wait_policy policy) { return at.make<Object>(policy); }
  static bool act(Object& object, std::size_t rank, countdown& returned) {
    if (rank == 0) {
      object.notify();
      return false;
    }
    object.wait();
    return returned.is_last();
  }
};
template <>
struct scenario<lockstep::event> : one_to_one<lockstep::event> {};
template <>
struct scenario<lockstep::auto_reset_event> : one_to_one<lockstep::auto_reset_event> {};

/// One notifies, two wait.
template <>
struct scenario<lockstep::manual_reset_event> : one_to_one<lockstep::manual_reset_event> {
  static constexpr std::size_t threads = 3, counted = 2;
};

template <>
struct scenario<lockstep::latch> {
  static constexpr std::size_t threads = 3, counted = 2;
  static lockstep::latch* make(page& at, wait_policy policy) {
    return at.make<lockstep::latch>(2, policy);
  }
  static bool act(lockstep::latch& latch, std::size_t rank, countdown& returned) {
    if (rank < 2) latch.count_down();
    if (rank == 0) return false;
    latch.wait();
    return returned.is_last();
  }
};

template <>
struct scenario<lockstep::eventual<int>> {
  static constexpr std::size_t threads = 3, counted = 2;
  static lockstep::eventual<int>* make(page& at, wait_policy policy) {
    return at.make<lockstep::eventual<int>>(policy);
  }
  static bool act(lockstep::eventual<int>& value, std::size_t rank, countdown& returned) {
    if (rank == 0) {
      value.set_value(7);
      return false;
    }
    EXPECT_EQ(value.get(), 7);
    return returned.is_last();
  }
};

template <>
struct scenario<lockstep::future_set<int>> {
  static constexpr std::size_t threads = 3, counted = 1;
  static lockstep::future_set<int>* make(page& at, wait_policy policy) {
    return at.make<lockstep::future_set<int>>(2u, nullptr, policy);
  }
  static bool act(lockstep::future_set<int>& set, std::size_t rank, countdown& returned) {
    if (rank < 2) {
      set.contribute(7);
      return false;
    }
    EXPECT_EQ(set.get()[1], 7);
    return returned.is_last();
  }
};

/// The first only arrives.
template <>
struct scenario<lockstep::barrier<>> {
  static constexpr std::size_t threads = 3, counted = 2;
  static lockstep::barrier<>* make(page& at, wait_policy policy) {
    return at.make<lockstep::barrier<>>(3, policy);
  }
  static bool act(lockstep::barrier<>& all, std::size_t rank, countdown& returned) {
    auto arrival = all.arrive();
    if (rank == 0) return false;
    all.wait(std::move(arrival));
    return returned.is_last();
  }
};

template <>
struct scenario<lockstep::semaphore> {
  static constexpr std::size_t threads = 3, counted = 2;
  static lockstep::semaphore* make(page& at, wait_policy policy) {
    return at.make<lockstep::semaphore>(0, policy);
  }
  static bool act(lockstep::semaphore& permits, std::size_t rank, countdown& returned) {
    if (rank == 0) {
      permits.release(2);
      return false;
    }
    if (rank == 1) {
      permits.acquire();
    } else {
      while (!permits.try_acquire_for(soon)) continue;
    }
    return returned.is_last();
  }
};

/// The last to hold the lock destroys it, though others may still be in unlock().
template <class Lock>
struct last_holder {
  static constexpr std::size_t threads = 3, counted = 3;
  static Lock* make(page& at, wait_policy policy) { return at.make<Lock>(policy); }
  static bool act(Lock& lock, std::size_t rank, countdown& holders) {
    if (rank == 1) {
      lock.lock();
    } else {
      while (!lock.try_lock_for(soon)) continue;
    }
    const bool last = holders.is_last();
    lock.unlock();
    return last;
  }
};
template <>
struct scenario<lockstep::mutex> : last_holder<lockstep::mutex> {};
template <>
struct scenario<lockstep::recursive_mutex> : last_holder<lockstep::recursive_mutex> {};

template <>
struct scenario<lockstep::shared_mutex> : last_holder<lockstep::shared_mutex> {
  static bool act(lockstep::shared_mutex& lock, std::size_t rank, countdown& holders) {
    if (rank == 0) return last_holder::act(lock, rank, holders);
    while (!lock.try_lock_shared_for(soon)) continue;
    // Two readers may both hold it: the one that counts first may unlock last, hence the writer's turn, too.
    const bool last = holders.is_last();
    lock.unlock_shared();
    return last && (lock.lock(), lock.unlock(), true);
  }
};

/// The notifier destroys it when both waiters have been notified, though they have not returned.
template <>
struct scenario<lockstep::condition_variable> {
  static constexpr std::size_t threads = 3, counted = 2;
  static lockstep::condition_variable* make(page& at, wait_policy policy) {
    waiting() = 0;
    return at.make<lockstep::condition_variable>(policy);
  }
  static bool act(lockstep::condition_variable& changed, std::size_t rank, countdown&) {
    static lockstep::mutex mutex;
    std::unique_lock<lockstep::mutex> lock(mutex);
    if (rank != 0) {
      ++waiting();
      changed.wait(lock);
      return false;
    }
    while (waiting() < 2) {
      lock.unlock();
      std::this_thread::yield();
      lock.lock();
    }
    lock.unlock();
    changed.notify_all();
    return true;
  }

 private:
  static int& waiting() {
    static int count = 0;  // under the mutex
    return count;
  }
};

template <class Object>
class on_a_protected_page : public testing::Test {};

using classes =
    testing::Types<lockstep::event, lockstep::auto_reset_event, lockstep::manual_reset_event,
                   lockstep::latch, lockstep::eventual<int>, lockstep::future_set<int>,
                   lockstep::barrier<>, lockstep::semaphore, lockstep::mutex,
                   lockstep::recursive_mutex, lockstep::shared_mutex, lockstep::condition_variable>;
TYPED_TEST_SUITE(on_a_protected_page, classes);

TYPED_TEST(on_a_protected_page, nobody_touches_it_after_it_may_be_destroyed) {
  using plan = scenario<TypeParam>;
  const int rounds =
      lockstep::test::effort(plan::counted == plan::threads ? 6000 : 1500);  // locks are quick
  for (const auto& named : lockstep::test::crowd_safe_policies()) {
    SCOPED_TRACE(named.name);
    page home;
    TypeParam* object = nullptr;
    countdown returned;
    lockstep::test::start_gate gate(plan::threads);
    lockstep::test::run_threads(plan::threads, [&](std::size_t rank) {
      for (int round = 0; round < rounds; ++round) {
        if (rank == 0) {
          returned.start(plan::counted);
          object = plan::make(home, named.policy);
        }
        gate.arrive_and_wait();
        if (plan::act(*object, rank, returned)) home.destroy(*object);
        gate.arrive_and_wait();
      }
    });
  }
}

constexpr std::size_t room = 64;

/// A class whose object is waited for once, by one thread, and notified once, by another.
struct one_shot {
  void (*make)(void* at, wait_policy policy);
  void (*notify)(void* at);
  void (*wait_and_destroy)(void* at);
};

template <class Object>
one_shot notified_object() {
  using face = lockstep::test::waited<Object>;
  static_assert(sizeof(face) <= room && alignof(face) <= 16);
  return {[](void* at, wait_policy policy) { ::new (at) face(policy); },
          [](void* at) { static_cast<face*>(at)->notify(); },
          [](void* at) {
            static_cast<face*>(at)->wait();
            static_cast<face*>(at)->~face();
          }};
}

/// The waiter makes the next object where the last one was, while the notifier of the last one may still
/// be about to wake. Two notifiers take turns, so that nothing holds up the next notification.
TEST(reused_address, a_late_wake_does_no_harm_to_the_next_object_at_the_same_place) {
  const std::vector<one_shot> kinds = {notified_object<lockstep::event>(),
                                       notified_object<lockstep::manual_reset_event>(),
                                       notified_object<lockstep::auto_reset_event>(),
                                       notified_object<lockstep::latch>(),
                                       notified_object<lockstep::semaphore>(),
                                       notified_object<lockstep::eventual<int>>()};
  for (const auto& named : lockstep::test::crowd_safe_policies()) {
    SCOPED_TRACE(named.name);
    alignas(16) unsigned char place[room];
    constexpr std::size_t steps = 10000;
    std::atomic<std::size_t> made{0};
    std::size_t data = 0, wrong = 0;  // plain: the notification hands them over
    lockstep::test::run_threads(3, [&](std::size_t rank) {
      for (std::size_t step = 0; step < steps; ++step) {
        const one_shot& kind = kinds[step % kinds.size()];
        if (rank == 2) {
          kind.make(place, named.policy);
          made.store(step + 1, std::memory_order_release);
          kind.wait_and_destroy(place);
          wrong += data != step + 1;
        } else if (rank == step % 2) {
          while (made.load(std::memory_order_acquire) <= step) std::this_thread::yield();
          data = step + 1;
          kind.notify(place);
        }
      }
    });
    EXPECT_EQ(wrong, 0u);
  }
}

/// As above for a lock, whose late unlock looks into the queue of the address.
template <class Lock>
void expect_reusable_place(wait_policy policy) {
  alignas(Lock) unsigned char place[sizeof(Lock)];
  ::new (place) Lock(policy);
  Lock& lock = *std::launder(reinterpret_cast<Lock*>(place));
  constexpr std::size_t threads = 3, steps = 2000;
  std::atomic<std::size_t> made{1};
  countdown holders;
  holders.start(threads);
  std::size_t sum = 0;  // plain
  lockstep::test::run_threads(threads, [&](std::size_t) {
    for (std::size_t step = 0; step < steps; ++step) {
      while (made.load(std::memory_order_acquire) <= step) std::this_thread::yield();
      lock.lock();
      ++sum;
      const bool last = holders.is_last();
      lock.unlock();
      if (!last) continue;
      lock.~Lock();
      holders.start(threads);
      ::new (place) Lock(policy);
      made.store(step + 2, std::memory_order_release);
    }
  });
  lock.~Lock();
  EXPECT_EQ(sum, threads * steps);
}

TEST(reused_address, a_late_unlock_does_no_harm_to_the_next_lock_at_the_same_place) {
  for (const auto& named : lockstep::test::crowd_safe_policies()) {
    SCOPED_TRACE(named.name);
    expect_reusable_place<lockstep::mutex>(named.policy);
    expect_reusable_place<lockstep::shared_mutex>(named.policy);
  }
}

}  // namespace
