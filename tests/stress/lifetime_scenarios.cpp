// SPDX-License-Identifier: MIT
// tests/stress/lifetime_scenarios.cpp -- destroyed the moment a wait returns
//
// The waiter owns an object on the heap, offers it to a partner, waits, and frees it at once, while the
// partner may still be inside of its notify(): what it touches then is a report of AddressSanitizer or
// ThreadSanitizer.
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

#include <lockstep/barrier.hpp>
#include <lockstep/condition_variable.hpp>
#include <lockstep/event.hpp>
#include <lockstep/eventual.hpp>
#include <lockstep/future_set.hpp>
#include <lockstep/latch.hpp>
#include <lockstep/mutex.hpp>
#include <lockstep/semaphore.hpp>
#include "stress/round.hpp"

namespace lockstep::stress {
namespace {

/// What the partner is asked to do, once, to an object it does not own.
struct request {
  void (*act)(void*);
  void* object;
};

/// From the waiter to its partner: one request for each step, none is overwritten.
struct counter_desk {
  event offered;
  std::vector<request> requests;

  counter_desk(wait_policy policy, std::size_t steps) : offered(policy), requests(steps) {}
  template <class Object>
  void offer(std::size_t step, Object& object, void (*act)(void*)) {
    requests[step] = {act, &object};
    offered.notify();
  }
  void serve(std::size_t step) {
    offered.wait();
    requests[step].act(requests[step].object);
  }
};

template <class Object>
Object& as(void* object) {
  return *static_cast<Object*>(object);
}

/// One object of each kind: made, offered, waited for, freed.
using use = void (*)(counter_desk&, std::size_t step, wait_policy);

template <class Object>
void use_notified(counter_desk& desk, std::size_t step, wait_policy policy) {
  const auto object = std::make_unique<Object>(policy);
  desk.offer(step, *object, [](void* it) { as<Object>(it).notify(); });
  object->wait();
}
void use_latch(counter_desk& desk, std::size_t step, wait_policy policy) {
  const auto object = std::make_unique<latch>(1, policy);
  desk.offer(step, *object, [](void* it) { as<latch>(it).count_down(); });
  object->wait();
}
void use_eventual(counter_desk& desk, std::size_t step, wait_policy policy) {
  const auto object = std::make_unique<eventual<int>>(policy);
  desk.offer(step, *object, [](void* it) { as<eventual<int>>(it).set_value(1); });
  object->wait();
}
void use_semaphore(counter_desk& desk, std::size_t step, wait_policy policy) {
  const auto object = std::make_unique<semaphore>(0, policy);
  desk.offer(step, *object, [](void* it) { as<semaphore>(it).release(); });
  object->acquire();
}
void use_future_set(counter_desk& desk, std::size_t step, wait_policy policy) {
  const auto object = std::make_unique<future_set<void>>(2, std::function<void()>(), policy);
  desk.offer(step, *object, [](void* it) { as<future_set<void>>(it).contribute(); });
  object->contribute();
  object->wait();
}
void use_counted_barrier(counter_desk& desk, std::size_t step, wait_policy policy) {
  using barrier_of_two = barrier<>;
  const auto object = std::make_unique<barrier_of_two>(2, policy);
  desk.offer(step, *object, [](void* it) { as<barrier_of_two>(it).arrive_and_drop(); });
  object->arrive_and_wait();
}

/// Freed by the last of its two users.
struct counted {
  mutex lock;
  int users = 2;

  explicit counted(wait_policy policy) : lock(policy) {}
  static void leave(void* it) {
    counted& object = as<counted>(it);
    object.lock.lock();
    const bool is_last = --object.users == 0;
    object.lock.unlock();
    if (is_last) delete &object;
  }
};
void use_mutex(counter_desk& desk, std::size_t step, wait_policy policy) {
  counted* const object = new counted(policy);
  desk.offer(step, *object, &counted::leave);
  counted::leave(object);
}

struct condition {
  mutex lock;
  condition_variable changed;
  bool is_true = false;

  explicit condition(wait_policy policy) : lock(policy), changed(policy) {}
};
void use_condition_variable(counter_desk& desk, std::size_t step, wait_policy policy) {
  const auto object = std::make_unique<condition>(policy);
  desk.offer(step, *object, [](void* it) {
    const std::lock_guard<mutex> lock(as<condition>(it).lock);
    as<condition>(it).is_true = true;
    as<condition>(it).changed.notify_one();
  });
  std::unique_lock<mutex> lock(object->lock);
  object->changed.wait(lock, [&] { return object->is_true; });
}

void run_lifetime(round& the) {
  static constexpr use uses[] = {use_notified<event>,
                                 use_notified<auto_reset_event>,
                                 use_notified<manual_reset_event>,
                                 use_latch,
                                 use_eventual,
                                 use_semaphore,
                                 use_future_set,
                                 use_counted_barrier,
                                 use_mutex,
                                 use_condition_variable};
  const std::size_t pairs = the.threads() / 2;
  std::deque<counter_desk> desks;
  for (std::size_t i = 0; i < pairs; ++i) desks.emplace_back(the.policy(), the.steps());
  the.run(2 * pairs, 2 * pairs * the.steps(), [&](actor& self) {
    counter_desk& desk = desks[self.rank() / 2];
    for (std::size_t step = 0; step < the.steps(); ++step) {
      if (self.rank() % 2 == 0) {
        uses[self.random.below(std::size(uses))](desk, step, the.policy());
      } else {
        self.pause();
        desk.serve(step);
      }
      self.done();
    }
  });
}

}  // namespace

std::vector<scenario> lifetime_scenarios() {
  return {{"lifetime", "an object may be freed as soon as its wait has returned", run_lifetime}};
}

}  // namespace lockstep::stress
