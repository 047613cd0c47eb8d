// SPDX-License-Identifier: MIT
// tests/model/locks_model_test.cpp -- short_lock, mutex, recursive_mutex, shared_mutex, and the mutexes of
// names, under all schedules
#include <lockstep/detail/team/critical_name.hpp>
#include <lockstep/event.hpp>
#include <lockstep/mutex.hpp>
#include <lockstep/shared_mutex.hpp>

#include <cstring>
#include <mutex>
#include <shared_mutex>

#include "model/scenario.hpp"

namespace lockstep::model {

using namespace detail;

/// Of no module, and defined nowhere.
struct name_of_a_part;

namespace {

class mutex_model : public model_test {};
class shared_mutex_model : public model_test {};
INSTANTIATE_TEST_SUITE_P(policies, mutex_model, testing::ValuesIn(policies()), setting_name);
INSTANTIATE_TEST_SUITE_P(policies, shared_mutex_model, testing::ValuesIn(policies()), setting_name);

/// So many threads add 1 so many times, each time while they have what hold() returns.
template <class Hold>
void count_in_turns(std::size_t many, int rounds, Hold hold) {
  int count = 0;
  const auto counts = [&] {
    times(rounds, [&](int) {
      const auto held = hold();
      ++count;
    });
  };
  threads(std::vector<std::function<void()>>(many, counts));
  check(count == static_cast<int>(many) * rounds, "none is lost");
}

template <class Lock>
void end_with_the_last_that_has_unlocked(wait_policy policy) {
  mortal<Lock> lock(policy);
  int users = 2;
  const auto uses = [&] {
    lock->lock();
    const bool last = --users == 0;
    lock->unlock();
    if (last) lock.destroy();
  };
  threads({uses, uses});
}

TEST(short_lock_model, one_thread_at_a_time_and_nobody_is_forgotten_SHORT_1) {
  plan by;
  by.budgets = middle();
  explore(
      [] {
        short_lock lock;
        count_in_turns(3, 2, [&] { return std::unique_lock<short_lock>(lock); });
      },
      by);
}

TEST_P(mutex_model, of_two_threads_one_at_a_time_holds_it_MUTEX_1) {
  explore_with(small(), [] {
    mutex lock(policy());
    count_in_turns(2, 2, [&] { return std::unique_lock<mutex>(lock); });
    check(lock.try_lock(), "free in the end");
    lock.unlock();
  });
}

TEST_P(mutex_model, of_three_threads_nobody_is_forgotten_MUTEX_2) {
  explore_with(large(), [] {
    mutex lock(policy());
    count_in_turns(3, 1, [&] { return std::unique_lock<mutex>(lock); });
  });
}

TEST_P(mutex_model, a_time_out_leaves_the_queue_to_the_others_MUTEX_3) {
  explore_with(large(), [] {
    mutex lock(policy());
    int count = 0;
    threads({[&] {
               const std::lock_guard<mutex> guard(lock);
               ++count;
             },
             [&] {
               if (!lock.try_lock_for(a_long_time())) return;
               ++count;
               lock.unlock();
             },
             [&] {
               const std::lock_guard<mutex> guard(lock);
               ++count;
             }});
    check(lock.try_lock(), "free in the end");
    lock.unlock();
  });
}

TEST_P(mutex_model, who_gives_up_when_it_was_woken_lets_the_next_go_MUTEX_3) {
  explore_with({{3, 0, 0}, {1, 1, 0}}, [] {
    mutex lock(policy());
    int count = 0;
    threads({[&] {
               times(2, [&](int) {
                 const std::lock_guard<mutex> guard(lock);
                 ++count;
               });
             },
             [&] {
               // Time passes by half a millisecond a look: once in the queue, and not once more.
               if (lock.try_lock_for(std::chrono::microseconds(900))) lock.unlock();
             },
             [&] {
               const std::lock_guard<mutex> guard(lock);
               ++count;
             }});
    check(count == 3, "none is lost");
  });
}

/// Thousands of steps: by one policy and the exhaustive search alone.
TEST(mutex_model_at_length, who_has_left_the_queue_is_not_waited_for_MUTEX_4) {
  plan by;
  by.budgets = {{2, 0, 0}};
  by.searches_at_random = false;
  by.how.most_steps = 40000;
  explore(
      [] {
        mutex lock(wait_policy::block());
        threads({[&] {
                   const std::lock_guard<mutex> guard(lock);
                   detail::yield_thread();
                 },
                 [&] {
                   if (lock.try_lock_for(std::chrono::microseconds(900))) lock.unlock();
                 }});
        // Were it still counted as waiting, the lock would be reserved for it in the end.
        times(mutex::bypass_limit + 2, [&](int) {
          lock.lock();
          lock.unlock();
        });
      },
      by);
}

TEST_P(mutex_model, may_be_destroyed_by_the_last_that_has_unlocked_it_MUTEX_5) {
  explore_with(small(), [] { end_with_the_last_that_has_unlocked<mutex>(policy()); });
}

TEST_P(mutex_model, recursive_or_not) {
  explore_with(small(), [] {
    recursive_mutex lock(policy());
    using guard = std::unique_lock<recursive_mutex>;
    count_in_turns(2, 1, [&] { return std::make_pair(guard(lock), guard(lock)); });
  });
}

TEST_P(shared_mutex_model, a_writer_alone_or_readers_together_SHARED_1) {
  explore_with(middle(), [] {
    shared_mutex lock(policy());
    int value = 0;
    ghost readers;
    const auto reads = [&] {
      const std::shared_lock<shared_mutex> guard(lock);
      readers.add(1);
      check(value % 2 == 0, "no writer is inside");
      readers.add(-1);
    };
    threads({[&] {
               const std::lock_guard<shared_mutex> guard(lock);
               check(readers.value() == 0, "no reader is inside");
               ++value;
               ++value;
             },
             reads, reads});
    check(value == 2 && lock.try_lock(), "free in the end");
    lock.unlock();
  });
}

TEST_P(shared_mutex_model, two_writers_and_a_reader_are_all_served_SHARED_3) {
  explore_with(large(), [] {
    shared_mutex lock(policy());
    int value = 0;
    const auto writes = [&] {
      const std::lock_guard<shared_mutex> guard(lock);
      ++value;
    };
    threads({writes, writes, [&] {
               const std::shared_lock<shared_mutex> guard(lock);
               check(value >= 0, "reads what writers wrote");
             }});
    check(value == 2, "none is lost");
  });
}

TEST_P(shared_mutex_model, who_leaves_at_a_time_out_lets_those_behind_in_SHARED_3) {
  explore_with(large(), [] {
    shared_mutex lock(policy());
    event inside(policy());
    int value = 0;
    lock.lock_shared();
    threads({[&] {
               // A writer that gives up must not leave the reader behind it outside.
               if (!lock.try_lock_for(a_long_time())) return;
               ++value;
               lock.unlock();
             },
             [&] {
               lock.lock_shared();
               check(value >= 0, "reads what the writer wrote");
               lock.unlock_shared();
               inside.notify();
             },
             [&] {
               inside.wait();
               lock.unlock_shared();
             }});
    check(lock.try_lock(), "free in the end");
    lock.unlock();
  });
}

TEST_P(shared_mutex_model, may_be_destroyed_by_the_last_that_has_unlocked_it_SHARED_4) {
  explore_with(small(), [] { end_with_the_last_that_has_unlocked<shared_mutex>(policy()); });
}

/// The process knows no name of a critical part before it, nor afterwards.
class no_names {
 public:
  no_names() { forget(); }
  ~no_names() {
    void* at = process().critical_names.load(memory_order_relaxed);
    forget();
    while (at != nullptr) {
      critical_name::entry* const each = static_cast<critical_name::entry*>(at);
      at = const_cast<critical_name::entry*>(each->next);
      each->~entry();
      ::operator delete(each);
    }
  }
  no_names(const no_names&) = delete;
  no_names& operator=(const no_names&) = delete;

 private:
  static void forget() {
    process().critical_names.store(nullptr, memory_order_relaxed);
    critical_name::in_module<name_of_a_part>::known.store(nullptr, memory_order_relaxed);
  }
};

/// As a module does that meets the name for the first time.
mutex& found_by_a_module(const char* name) {
  return critical_name::find_or_add({name, std::strlen(name), false});
}

TEST(critical_name_model, a_name_is_one_mutex_whichever_module_asks_first_NAME_1) {
  plan by;
  by.budgets = small();
  explore(
      [] {
        const no_names none;
        count_in_turns(2, 1, [] { return std::unique_lock<mutex>(found_by_a_module("a")); });
      },
      by);
}

TEST(critical_name_model, a_name_is_found_behind_those_that_came_later_NAME_1) {
  plan by;
  by.budgets = large();
  explore(
      [] {
        const no_names none;
        int a = 0, b = 0;
        const auto counts = [&](const char* name, int& count) {
          const std::lock_guard<mutex> guard(found_by_a_module(name));
          ++count;
        };
        threads({[&] { counts("a", a); }, [&] { counts("b", b); },
                 [&] {
                   counts("b", b);
                   counts("a", a);
                 }});
        check(a == 2 && b == 2, "none is lost");
      },
      by);
}

TEST(critical_name_model, who_finds_what_another_thread_of_the_module_knows_may_lock_it) {
  plan by;
  by.budgets = small();
  explore(
      [] {
        const no_names none;
        count_in_turns(2, 1, [] {
          return std::unique_lock<mutex>(critical_name::mutex_of<name_of_a_part>());
        });
      },
      by);
}

}  // namespace
}  // namespace lockstep::model
