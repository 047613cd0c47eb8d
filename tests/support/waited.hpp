// SPDX-License-Identifier: MIT
// tests/support/waited.hpp -- one object of each class that threads wait on, all with the same face
//
//   waited<lockstep::latch> one(policy);   // nothing has happened: wait() blocks, wait_for() times out
//   one.notify();                          // on any thread: lets one wait() return
//
// A wait() that has returned leaves the object as it was made, for the next notify(). One thread waits at a time. Locks
// are not here: they belong to the thread that has them.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <utility>

#include <lockstep/lockstep.hpp>
#include <lockstep/toolbox.hpp>

namespace lockstep::test {

/// Waits at an object, as rank `Rank` if it has ranks.
template <class Object, std::size_t... Rank>
struct waited_object {
  Object object;

  void wait() { object.wait(Rank...); }
  auto wait_for(auto time) { return object.wait_for(Rank..., time); }
  auto wait_until(auto time) { return object.wait_until(Rank..., time); }
};

/// Of an event or an auto_reset_event. The other classes are below.
template <class Object>
struct waited : waited_object<Object> {
  /// As messages have it.
  static constexpr const char* name = std::is_same_v<Object, event> ? "event" : "auto_reset_event";

  explicit waited(wait_policy policy = {}) : waited_object<Object>{Object(policy)} {}
  void notify() { this->object.notify(); }
};

/// Of what stays open.
template <class Object>
struct waited_until_reset : waited_object<Object> {
  void wait() {
    this->object.wait();
    this->object.reset();
  }
};

template <>
struct waited<manual_reset_event> : waited_until_reset<manual_reset_event> {
  static constexpr const char* name = "manual_reset_event";
  explicit waited(wait_policy policy = {}) : waited_until_reset{{manual_reset_event(policy)}} {}
  void notify() { object.notify(); }
};

template <class Value>
struct waited<eventual<Value>> : waited_until_reset<eventual<Value>> {
  static constexpr const char* name = "eventual";
  explicit waited(wait_policy policy = {})
      : waited_until_reset<eventual<Value>>{{eventual<Value>(policy)}} {}
  void notify() {
    if constexpr (std::is_void_v<Value>) {
      this->object.set_value();
    } else {
      this->object.set_value(1);
    }
  }
};

template <>
struct waited<future_set<int>> : waited_until_reset<future_set<int>> {
  static constexpr const char* name = "future_set";
  explicit waited(wait_policy policy = {})
      : waited_until_reset{{future_set<int>(1, nullptr, policy)}} {}
  void notify() { object.contribute(1); }
};

/// A latch opens once: the next one is made at its place.
template <>
struct waited<latch> : waited_object<latch> {
  static constexpr const char* name = "latch";
  explicit waited(wait_policy policy = {}) : waited_object{latch(1, policy)} {}
  void notify() { object.count_down(); }
  void wait() {
    object.wait();
    const wait_policy policy = object.policy();
    std::destroy_at(&object);
    std::construct_at(&object, 1, policy);
  }
};

template <>
struct waited<fan_out> : waited_object<fan_out, 0> {
  static constexpr const char* name = "fan_out";
  explicit waited(wait_policy policy = {}) : waited_object{fan_out(1, policy)} {}
  void notify() { object.notify(); }
};

template <>
struct waited<fan_in> : waited_object<fan_in> {
  static constexpr const char* name = "fan_in";
  explicit waited(wait_policy policy = {}) : waited_object{fan_in(1, policy)} {}
  void notify() { object.notify(0); }
};

template <>
struct waited<fan_in_out> : waited_object<fan_in_out, 0> {
  static constexpr const char* name = "fan_in_out";
  explicit waited(wait_policy policy = {}) : waited_object{fan_in_out(1, 1, policy)} {}
  void notify() { object.notify(0); }
};

/// The other rank notifies. What each needs of a phase: to come to it once, then to wait for its end.
template <>
struct waited<ranked_barrier> : waited_object<ranked_barrier, 0> {
  static constexpr const char* name = "ranked_barrier";
  explicit waited(wait_policy policy = {}) : waited_object{ranked_barrier(2, policy)} {
    object.arrive(0);
  }
  void notify() { object.arrive(1); }
  void wait() {
    object.wait(0);
    object.wait(1);  // is over as well
    object.arrive(0);
  }
};

template <>
struct waited<barrier<>> {
  barrier<> object;
  barrier<>::arrival_token token = object.arrive();
  static constexpr const char* name = "barrier";
  explicit waited(wait_policy policy = {}) : object(2, {}, policy) {}
  void notify() { static_cast<void>(object.arrive()); }
  void wait() {
    object.wait(std::move(token));
    token = object.arrive();
  }
  auto wait_for(auto time) { return object.wait_for(token, time); }
  auto wait_until(auto time) { return object.wait_until(token, time); }
};

template <>
struct waited<mailbox> {
  mailbox object;
  static constexpr const char* name = "mailbox";
  explicit waited(wait_policy policy = {}) : object(2, policy) {}
  void notify() {
    object.post([] {});
  }
  void wait() { object.wait_and_run(); }
  auto wait_for(auto time) { return object.wait_and_run_for(time); }
  auto wait_until(auto time) { return object.wait_and_run_until(time); }
};

inline wait_status status_of(bool is_ready) {
  return is_ready ? wait_status::ready : wait_status::timed_out;
}

template <>
struct waited<semaphore> {
  semaphore object;
  static constexpr const char* name = "counting_semaphore";
  explicit waited(wait_policy policy = {}) : object(0, policy) {}
  void notify() { object.release(); }
  void wait() { object.acquire(); }
  auto wait_for(auto time) { return status_of(object.try_acquire_for(time)); }
};

/// Its timed waits have no predicate: none may return for no reason.
template <>
struct waited<condition_variable> {
  mutex lock;
  condition_variable object;
  bool is_told = false;
  static constexpr const char* name = "condition_variable";
  explicit waited(wait_policy policy = {}) : lock(policy), object(policy) {}
  void notify() {
    {
      const std::lock_guard<mutex> held(lock);
      is_told = true;
    }
    object.notify_one();
  }
  void wait() {
    std::unique_lock<mutex> held(lock);
    object.wait(held, [this] { return is_told; });
    is_told = false;
  }
  auto wait_for(auto time) {
    std::unique_lock<mutex> held(lock);
    return status_of(object.wait_for(held, time) == std::cv_status::no_timeout);
  }
};

/// The end of a thread; it cannot be waited for once more.
template <>
struct waited<joinable_thread> {
  std::atomic<bool> may_end{false};
  joinable_thread object;
  static constexpr const char* name = "joinable_thread";
  explicit waited(wait_policy policy = {})
      : object(policy, [this] {
          while (!may_end) std::this_thread::yield();
        }) {}
  ~waited() { may_end = true; }
  void notify() { may_end = true; }
  void wait() { object.join(); }
  auto wait_for(auto time) { return object.join_for(time); }
  auto wait_until(auto time) { return object.join_until(time); }
};

/// Of the classes of a list.
template <class... Face>
struct face_list {
  /// Calls f(std::type_identity<face>()) for each.
  template <class Function>
  static void for_each_type(Function f) {
    (f(std::type_identity<Face>()), ...);
  }
  /// Calls f(face) for each, with a new object.
  template <class Function>
  static void for_each(wait_policy policy, Function f) {
    (f(*std::make_unique<Face>(policy)), ...);
  }
};

/// Of all classes whose notify() takes no lock of a queue, and then of others.
template <template <class...> class List, class... Others>
using faces =
    List<waited<event>, waited<auto_reset_event>, waited<manual_reset_event>, waited<latch>,
         waited<eventual<int>>, waited<future_set<int>>, waited<fan_out>, waited<fan_in>,
         waited<fan_in_out>, waited<ranked_barrier>, waited<barrier<>>, waited<mailbox>, Others...>;

}  // namespace lockstep::test
