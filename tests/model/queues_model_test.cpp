// SPDX-License-Identifier: MIT
// tests/model/queues_model_test.cpp -- semaphore and condition_variable under all schedules
#include <lockstep/condition_variable.hpp>
#include <lockstep/mutex.hpp>
#include <lockstep/semaphore.hpp>
#include <lockstep/shared_mutex.hpp>

#include <mutex>
#include <utility>

#include "model/scenario.hpp"
#include "support/parking.hpp"

namespace lockstep::model {

using namespace detail;
namespace {

class semaphore_model : public model_test {};
class fork_model : public model_test {};
INSTANTIATE_TEST_SUITE_P(policies, fork_model, testing::ValuesIn(policies()), setting_name);
class condition_variable_model : public model_test {};
INSTANTIATE_TEST_SUITE_P(policies, semaphore_model, testing::ValuesIn(policies()), setting_name);
INSTANTIATE_TEST_SUITE_P(policies, condition_variable_model, testing::ValuesIn(policies()),
                         setting_name);

TEST_P(semaphore_model, permits_are_neither_lost_nor_made_SEMAPHORE_1) {
  explore_with(large(), [] {
    semaphore permits(1, policy());
    ghost holders;
    int data = 0;
    const auto uses = [&] {
      permits.acquire();
      check(holders.add(1) == 1, "one permit, one holder");
      ++data;
      holders.add(-1);
      permits.release();
    };
    threads({uses, uses, uses});
    check(data == 3 && permits.try_acquire() && !permits.try_acquire(), "one is left");
  });
}

TEST_P(semaphore_model, a_release_of_two_serves_two_SEMAPHORE_2) {
  explore_with(large(), [] {
    semaphore permits(0, policy());
    int data = 0;
    const auto takes = [&] {
      permits.acquire();
      check(data == 7, "sees what came before the release");
    };
    threads({takes, takes, [&] {
               data = 7;
               permits.release(2);
             }});
    check(!permits.try_acquire(), "none is left");
  });
}

TEST_P(semaphore_model, carries_what_all_releasers_did_that_a_permit_passed) {
  explore_with(large(), [] {
    semaphore permits(0, policy());
    int first = 0, second = 0;
    threads({[&] {
               first = 1;
               permits.release();
             },
             [&] {
               second = 1;
               permits.release();
             },
             [&] {
               permits.acquire();
               permits.acquire();
               check(first == 1 && second == 1, "sees what came before both releases");
             }});
  });
}

TEST_P(semaphore_model, two_who_were_handed_permits_together_have_seen_both_releases) {
  explore_with({{1, 0, 0}, {0, 1, 0}}, [] {
    semaphore permits(0, policy());
    detail::wait_word second_has{0};
    int first = 0, second = 0;
    threads({[&] {
               first = 1;
               permits.release();
             },
             [&] {
               second = 1;
               permits.release();
             },
             [&] {
               permits.acquire();
               second_has.store(1, detail::memory_order_release);
             },
             [&] {
               permits.acquire();
               // Two permits were taken: it took both releases.
               if (second_has.load(detail::memory_order_acquire) == 0) return;
               check(first == 1 && second == 1, "sees what came before both releases");
             }});
  });
}

TEST_P(semaphore_model, a_time_out_loses_no_permit) {
  explore_with(huge(), [] {
    semaphore permits(0, policy());
    ghost taken;
    threads({[&] { permits.release(); },
             [&] {
               if (permits.try_acquire_for(a_long_time())) taken.add(1);
             },
             [&] {
               if (permits.try_acquire_for(a_long_time())) taken.add(1);
             }});
    if (permits.try_acquire()) taken.add(1);
    check(taken.value() == 1, "taken once, by one of them or afterwards");
  });
}

TEST_P(semaphore_model, may_be_destroyed_by_who_has_acquired_last_SEMAPHORE_3) {
  explore_with(small(), [] {
    mortal<semaphore> permits(0, policy());
    threads({[&] { permits->release(); },
             [&] {
               permits->acquire();
               permits.destroy();
             }});
  });
}

TEST_P(condition_variable_model, a_notified_waiter_returns_with_the_lock_CONDITION_3) {
  explore_with(large(), [] {
    mutex lock(policy());
    condition_variable changed(policy());
    int data = 0;
    threads({[&] {
               std::unique_lock<mutex> guard(lock);
               changed.wait(guard, [&] { return data == 7; });
               ++data;
             },
             [&] {
               const std::lock_guard<mutex> guard(lock);
               data = 7;
               changed.notify_one();
             }});
    check(data == 8, "the waiter has seen it");
  });
}

/// notify_all() with a lock of this kind.
template <class Lock>
void let_everyone_go(wait_policy policy) {
  Lock lock(policy);
  condition_variable changed(policy);
  int data = 0;
  const auto waits = [&] {
    std::unique_lock<Lock> guard(lock);
    changed.wait(guard, [&] { return data >= 7; });
    ++data;
  };
  threads({waits, waits, [&] {
             {
               const std::lock_guard<Lock> guard(lock);
               data = 7;
             }
             changed.notify_all();
           }});
  check(data == 9, "both have seen it");
}

TEST_P(condition_variable_model, notify_all_lets_everyone_go_who_waits) {
  explore_with(huge(), [] { let_everyone_go<mutex>(policy()); });
}

TEST_P(condition_variable_model,
       works_with_any_lock_and_passes_the_wake_along_the_chain_CONDITION_3) {
  explore_with({{1, 0, 0}, {0, 1, 0}}, [] { let_everyone_go<shared_mutex>(policy()); });
}

TEST_P(condition_variable_model, a_notification_and_a_time_out_never_count_both_CONDITION_2) {
  explore_with(middle(), [] {
    mutex lock(policy());
    condition_variable changed(policy());
    int tokens = 0, taken = 0;
    threads({[&] {
               std::unique_lock<mutex> guard(lock);
               if (changed.wait_for(guard, a_long_time(), [&] { return tokens > 0; })) {
                 --tokens;
                 ++taken;
               }
             },
             [&] {
               std::unique_lock<mutex> guard(lock);
               ++tokens;
               guard.unlock();
               changed.notify_one();
             }});
    check(tokens + taken == 1, "the token is there or was taken");
  });
}

TEST_P(condition_variable_model, one_who_gives_up_does_not_take_a_notification_along_CONDITION_2) {
  explore_with(huge(), [] {
    mutex lock(policy());
    condition_variable changed(policy());
    int tokens = 0;
    threads({[&] {
               std::unique_lock<mutex> guard(lock);
               changed.wait(guard, [&] { return tokens > 0; });
               --tokens;
             },
             [&] {
               // Not interested in tokens: a notification that finds it must find the other, too.
               std::unique_lock<mutex> guard(lock);
               if (changed.wait_for(guard, a_long_time()) == std::cv_status::no_timeout) {
                 changed.notify_one();
               }
             },
             [&] {
               std::unique_lock<mutex> guard(lock);
               ++tokens;
               guard.unlock();
               changed.notify_one();
             }});
    check(tokens == 0, "the token was taken");
  });
}

/// A lock of one thread, on what all share: refuses when it is told to.
struct refusing_lock {
  shared_mutex& of;
  bool refuses_lock = false, refuses_unlock = false;

  void lock() {
    if (refuses_lock) throw refused();
    of.lock();
  }
  void unlock() {
    if (refuses_unlock) throw refused();
    of.unlock();
  }
  struct refused {};
};

/// A thread whose lock refuses something in its wait, another waiter, and who notifies. The other waiter sees it.
template <class Wait>
void refuse_beside_a_waiter(wait_policy policy, Wait wait, void (condition_variable::*notify)()) {
  shared_mutex lock(policy);
  condition_variable changed(policy);
  bool said = false;
  int seen = 0;
  threads({[&] {
             refusing_lock mine{lock};
             mine.lock();
             wait(mine, changed, said);
           },
           [&] {
             std::unique_lock<shared_mutex> guard(lock);
             changed.wait(guard, [&] { return said; });
             ++seen;
           },
           [&] {
             {
               const std::lock_guard<shared_mutex> guard(lock);
               said = true;
             }
             (changed.*notify)();
           }});
  check(seen == 1, "the other waiter has seen it");
}

TEST_P(condition_variable_model, a_lock_that_throws_keeps_no_other_waiter_CONDITION_3) {
  explore_with({{1, 0, 0}, {0, 1, 0}}, [] {
    const auto wait = [](refusing_lock& mine, condition_variable& changed, const bool& said) {
      mine.refuses_lock = true;
      try {
        while (!said) changed.wait(mine);
        mine.unlock();
      } catch (const refusing_lock::refused&) {  // not locked
      }
    };
    refuse_beside_a_waiter(policy(), wait, &condition_variable::notify_all);
  });
}

TEST_P(condition_variable_model, an_unlock_that_throws_leaves_nobody_in_the_queue_CONDITION_1) {
  explore_with({{1, 0, 0}, {0, 1, 0}}, [] {
    const auto wait = [](refusing_lock& mine, condition_variable& changed, const bool& said) {
      mine.refuses_unlock = true;
      try {
        if (!said) changed.wait(mine);
      } catch (const refusing_lock::refused&) {  // still locked
      }
      mine.refuses_unlock = false;
      mine.unlock();
    };
    refuse_beside_a_waiter(policy(), wait,
                           &condition_variable::notify_one);  // a dead node would take it
  });
}

/// The sleeper unlocks once before it waits: so the first of the others is on its way, if both have queued up,
/// and the second is let go ahead of its turn.
template <class Lock>
void sleeps_behind_one_on_its_way(Lock& lock, condition_variable& changed, const int& count) {
  lock.lock();
  lock.unlock();
  std::unique_lock<Lock> guard(lock);
  while (count < 2) changed.wait(guard);
}

TEST_P(condition_variable_model, a_waiter_that_is_let_go_ahead_of_its_turn_is_not_lost_MUTEX_6) {
  explore_with(large(), [] {
    mutex lock(policy());
    condition_variable changed(policy());
    int count = 0;
    const auto counts = [&] {
      const std::lock_guard<mutex> guard(lock);
      if (++count == 2) changed.notify_all();
    };
    threads({[&] { sleeps_behind_one_on_its_way(lock, changed, count); }, counts, counts});
    check(count == 2 && lock.try_lock(), "free in the end");
    lock.unlock();
  });
}

TEST_P(condition_variable_model, a_waiter_that_is_let_go_ahead_may_give_up_MUTEX_6) {
  explore_with(huge(), [] {
    mutex lock(policy());
    condition_variable changed(policy());
    int count = 0;
    const auto counts = [&] {
      const std::lock_guard<mutex> guard(lock);
      if (++count == 2) changed.notify_all();
    };
    threads({[&] { sleeps_behind_one_on_its_way(lock, changed, count); }, counts,
             [&] {
               if (lock.try_lock_for(std::chrono::microseconds(900))) lock.unlock();
               counts();
             }});
    check(count == 2 && lock.try_lock(), "free in the end");
    lock.unlock();
  });
}

TEST(condition_variable_model_at_length, who_was_let_go_ahead_is_not_waited_for_MUTEX_6) {
  plan by;
  by.budgets = {{1, 0, 0}};
  by.searches_at_random = false;
  by.how.most_steps = 40000;
  explore(
      [] {
        mutex lock(wait_policy::block());
        condition_variable changed(wait_policy::block());
        const auto uses = [&] { const std::lock_guard<mutex> guard(lock); };
        threads({[&] {
                   lock.lock();
                   lock.unlock();
                   std::unique_lock<mutex> guard(lock);
                   // No thread notifies it: it comes back without a place in the mutex's queue.
                   static_cast<void>(changed.wait_for(guard, std::chrono::microseconds(900)));
                 },
                 uses, uses});
        // Were it still counted as waiting, the lock would be reserved for it in the end.
        times(mutex::bypass_limit + 2, [&](int) {
          lock.lock();
          lock.unlock();
        });
      },
      by);
}

// std::stop_token is not made of modelled atomics: here is one that is, by the same rules. The end of a callback waits
// for a call of it by another thread; a callback that comes after the request is called at once.
class model_stop {
 public:
  class callback_base {
   protected:
    explicit callback_base(model_stop& of) : of_(of) {}
    ~callback_base() = default;
    virtual void call() = 0;

    void begin() {
      of_.lock_.lock();
      const bool late = of_.requested_.load(memory_order_relaxed) != 0;
      if (!late) of_.first_ = this;
      of_.lock_.unlock();
      if (late) call();
    }
    void end() {
      of_.lock_.lock();
      if (of_.first_ == this) of_.first_ = nullptr;
      while (of_.running_ == this) {
        of_.lock_.unlock();
        detail::yield_thread();
        of_.lock_.lock();
      }
      of_.lock_.unlock();
    }

   private:
    friend class model_stop;
    model_stop& of_;
  };

  void request() {
    lock_.lock();
    requested_.store(1, memory_order_release);
    running_ = std::exchange(first_, nullptr);
    callback_base* const found = running_;
    lock_.unlock();
    if (found == nullptr) return;
    found->call();
    lock_.lock();
    running_ = nullptr;
    lock_.unlock();
  }
  bool requested() const { return requested_.load(memory_order_acquire) != 0; }

 private:
  detail::short_lock lock_;
  wait_word requested_{0};
  callback_base* first_ = nullptr;
  callback_base* running_ = nullptr;
};

struct model_token {
  model_stop* of;
  bool stop_requested() const { return of->requested(); }
};

template <class Function>
class model_callback final : model_stop::callback_base {
 public:
  model_callback(model_token token, Function f) : callback_base(*token.of), f_(f) { begin(); }
  ~model_callback() { end(); }

 private:
  void call() override { f_(); }
  Function f_;
};

}  // namespace
}  // namespace lockstep::model

template <>
struct lockstep::detail::stop_tokens<lockstep::model::model_token> {
  using known = void;
  template <class Function>
  using callback = lockstep::model::model_callback<Function>;
};

namespace lockstep::model {
namespace {

/// Waits with a token while another thread requests the stop.
template <class Lock>
void a_stop_request_is_never_missed(wait_policy policy) {
  Lock lock(policy);
  condition_variable changed(policy);
  model_stop stop;
  bool left = false;
  threads({[&] {
             std::unique_lock<Lock> guard(lock);
             check(!changed.wait(guard, model_token{&stop}, [] { return false; }), "nothing came");
             left = true;
           },
           [&] { stop.request(); }});
  check(left && lock.try_lock(), "free in the end");
  lock.unlock();
}

TEST_P(condition_variable_model, a_stop_request_is_never_missed_CONDITION_7) {
  explore_with(middle(), [] { a_stop_request_is_never_missed<mutex>(policy()); });
  explore_with(middle(), [] { a_stop_request_is_never_missed<shared_mutex>(policy()); });
}

TEST_P(condition_variable_model, a_stopped_thread_does_not_take_a_notification_along_CONDITION_2) {
  explore_with(huge(), [] {
    mutex lock(policy());
    condition_variable changed(policy());
    model_stop stop;
    int tokens = 0, taken = 0;
    const auto take = [&] {
      --tokens;
      ++taken;
    };
    threads({[&] {
               std::unique_lock<mutex> guard(lock);
               // Not interested in tokens: a notification that finds it must find the other, too.
               bool notified = false;
               changed.wait(guard, model_token{&stop},
                            [&] { return std::exchange(notified, true); });
               if (tokens > 0) changed.notify_one();
             },
             [&] {
               std::unique_lock<mutex> guard(lock);
               changed.wait(guard, [&] { return tokens > 0; });
               take();
             },
             [&] {
               std::unique_lock<mutex> guard(lock);
               ++tokens;
               changed.notify_one();
               guard.unlock();
               stop.request();
             }});
    check(tokens == 0 && taken == 1, "the token was taken");
  });
}

TEST_P(condition_variable_model, a_stop_a_notification_and_a_time_out_let_go_once_CONDITION_2) {
  explore_with(huge(), [] {
    mutex lock(policy());
    condition_variable changed(policy());
    model_stop stop;
    bool left = false, said = false;
    threads({[&] {
               std::unique_lock<mutex> guard(lock);
               changed.wait_for(guard, model_token{&stop}, std::chrono::microseconds(900),
                                [&] { return said; });
               left = true;
             },
             [&] {
               const std::lock_guard<mutex> guard(lock);
               said = true;
               changed.notify_all();
             },
             [&] { stop.request(); }});
    check(left && lock.try_lock(), "free in the end");
    lock.unlock();
  });
}

TEST_P(condition_variable_model,
       a_stop_request_touches_nothing_of_it_once_its_queue_is_empty_CONDITION_5) {
  explore_with(huge(), [] {
    mutex lock(policy());
    mortal<condition_variable> changed(policy());
    model_stop stop;
    bool waits = false, said = false;
    threads({[&] {
               std::unique_lock<mutex> guard(lock);
               waits = true;
               changed->wait(guard, model_token{&stop}, [&] { return said; });
             },
             [&] {
               const auto notified = [&] {
                 const std::lock_guard<mutex> guard(lock);
                 if (waits) {
                   said = true;
                   changed->notify_all();
                 }
                 return waits;
               };
               while (!notified()) detail::yield_thread();
               changed.destroy();
             },
             [&] { stop.request(); }});
  });
}

TEST_P(condition_variable_model, may_be_destroyed_when_its_waiters_have_been_notified_CONDITION_5) {
  explore_with(huge(), [] {
    mutex lock(policy());
    mortal<condition_variable> changed(policy());
    bool waits = false;
    threads({[&] {
               std::unique_lock<mutex> guard(lock);
               waits = true;
               changed->wait(guard);
             },
             [&] {
               const auto notified = [&] {
                 const std::lock_guard<mutex> guard(lock);
                 if (waits) changed->notify_all();
                 return waits;
               };
               while (!notified()) detail::yield_thread();
               changed.destroy();
             }});
  });
}

// fork() takes the locks of all queues. Whatever others do at that moment: if the word tells of waiters, there
// is a thread in the queue, or on its way from it, by which the child finds the object. (What the child
// does then is tests/wait/parking_lot_test.cpp's; the threads of a model cannot vanish.)

/// A fork() by a thread that need not hold the object, whose first member is its word.
template <class Object>
void may_fork(Object& object, wait_kind kind) {
  detail::wait_word& word = reinterpret_cast<detail::wait_word&>(object);
  const std::uintptr_t key = queue_key::of(word, kind);
  const parking_lot::queue waiters(key);
  // A change that changes nothing: it sees the newest value, as the child does.
  const std::uint32_t now = word.fetch_or(0, detail::memory_order_relaxed);
  check((now & ~parking_lot::without_waiters(kind)) == 0 || test::is_known(key),
        "the child finds the object");
}

TEST_P(fork_model, PARKING4_a_mutex_that_tells_of_waiters_is_found) {
  explore_with(large(), [] {
    mutex lock(policy());
    int data = 0;
    const auto locks = [&] {
      lock.lock();
      ++data;
      lock.unlock();
    };
    threads({locks, locks, [&] {
               lock.lock();
               may_fork(lock, wait_kind::mutex);
               lock.unlock();
               may_fork(lock, wait_kind::mutex);
             }});
    check(data == 2, "both had it");
  });
}

TEST_P(fork_model, PARKING4_a_mutex_whose_waiters_give_up_is_found) {
  explore_with(huge(), [] {
    mutex lock(policy());
    const auto tries = [&] {
      if (lock.try_lock_for(a_long_time())) lock.unlock();
    };
    threads({tries, tries, [&] {
               lock.lock();
               lock.unlock();
               may_fork(lock, wait_kind::mutex);
             }});
  });
}

TEST_P(fork_model, PARKING4_a_shared_mutex_and_a_semaphore_that_tell_of_waiters_are_found) {
  explore_with(huge(), [] {
    shared_mutex lock(policy());
    threads({[&] {
               lock.lock();
               lock.unlock();
             },
             [&] {
               if (!lock.try_lock_shared_for(a_long_time())) return;
               lock.unlock_shared();
             },
             [&] { may_fork(lock, wait_kind::shared_mutex); }});
  });
  explore_with(huge(), [] {
    semaphore permits(1, policy());
    const auto uses = [&] {
      if (permits.try_acquire_for(a_long_time())) permits.release();
    };
    threads({uses, uses, [&] { may_fork(permits, wait_kind::counting_semaphore); }});
  });
}

TEST_P(fork_model, PARKING4_a_condition_variable_that_counts_waiters_is_found) {
  explore_with(huge(), [] {
    mutex lock(policy());
    condition_variable changed(policy());
    bool said = false;
    threads({[&] {
               std::unique_lock<mutex> guard(lock);
               if (!said) changed.wait_for(guard, a_long_time());
             },
             [&] {
               const std::lock_guard<mutex> guard(lock);
               said = true;
               changed.notify_one();
             },
             [&] {
               may_fork(changed, wait_kind::condition_variable);
               may_fork(lock, wait_kind::mutex);
             }});
  });
}

}  // namespace
}  // namespace lockstep::model
