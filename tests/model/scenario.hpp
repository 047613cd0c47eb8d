// SPDX-License-Identifier: MIT
// tests/model/scenario.hpp -- what the model tests share: policies and systems as parameters, helpers
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include <lockstep/wait_policy.hpp>
#include "model/explorer/explore.hpp"
#include "wait/parking_lot.hpp"

namespace lockstep::model {

using namespace detail;

/// A policy, and the process-wide fence that the system has.
struct setting {
  const char* name;
  wait_policy policy;
  process_fence_kind fence = process_fence_kind::asymmetric;
};

/// For objects whose sleepers are marked in the word itself.
inline std::vector<setting> policies() {
  return {
      {"block", wait_policy::block()}, {"adaptive", wait_policy()}, {"spin", wait_policy::spin()}};
}

/// For objects with a mark beside the state: the policy decides which side pays for the fence, the system what fence it
/// is.
inline std::vector<setting> policies_and_fences() {
  return {{"block", wait_policy::block()},
          {"crowded", wait_policy().when_crowded(true)},
          {"adaptive", wait_policy()},
          {"adaptive_without_membarrier", wait_policy(), process_fence_kind::symmetric},
          {"adaptive_with_membarrier_refused", wait_policy(), process_fence_kind::refused},
          {"spin", wait_policy::spin()}};
}

inline std::string setting_name(const testing::TestParamInfo<setting>& info) {
  return info.param.name;
}

/// A model test with a setting.
class model_test : public testing::TestWithParam<setting> {
 protected:
  static wait_policy policy() { return GetParam().policy; }
  /// Longer than anything takes; but spinners look at the clock until it is over.
  static std::chrono::nanoseconds a_long_time() {
    return policy().is_spin() ? std::chrono::milliseconds(3) : std::chrono::hours(1);
  }

  /// Explores; `cpus` below the number of participants makes them crowded.
  static void explore_with(std::vector<budget> budgets, const std::function<void()>& scenario) {
    plan by;
    by.budgets = std::move(budgets);
    by.how.fence = GetParam().fence;
    by.how.cpus = policy().is_crowded() ? 1 : 64;
    explore(scenario, by);
  }
};

/// For scenarios of two threads and few operations, and so on up to those of several threads and many.
inline std::vector<budget> small() { return {{4, 1, 0}, {3, 1, 1}}; }
inline std::vector<budget> middle() { return {{3, 1, 0}, {2, 1, 1}}; }
inline std::vector<budget> large() { return {{3, 0, 0}, {2, 1, 0}, {1, 1, 1}}; }
inline std::vector<budget> huge() { return {{2, 0, 0}, {1, 1, 0}, {0, 1, 1}}; }

/// `brief` where LOCKSTEP_MODEL_BRIEF is set: for scenarios of more threads or phases that say the same as smaller
/// ones.
inline std::vector<budget> by_day(std::vector<budget> brief, std::vector<budget> at_night) {
  return std::getenv("LOCKSTEP_MODEL_BRIEF") != nullptr ? std::move(brief) : std::move(at_night);
}

/// The table of queues is constant-initialised in the shipped library, but not on modelled atomics, whose
/// constructors run: before the first execution, not in it.
inline const bool queues_are_made = [] {
  const parking_lot::queue first_use(0);
  empty_queues = [] {
    for (parking_bucket& each : process().parking) ::new (&each) parking_bucket();
  };
  return first_use.empty();
}();

/// Counts what happens in an execution, unseen by the search for races: for what the scenario alone knows.
class ghost {
 public:
  __attribute__((noinline, no_sanitize("thread"))) int add(int n) {
    explorer::unseen(static_cast<std::uint64_t>(value_ += n));
    return value_;
  }
  __attribute__((noinline, no_sanitize("thread"))) int value() const {
    explorer::unseen(static_cast<std::uint64_t>(value_));
    return value_;
  }

 private:
  int value_ = 0;
};

/// An object that is destroyed while others may be about to use it: a use that is not ordered before its
/// end is found, of its atomics and of its other members.
template <class T>
class mortal {
 public:
  template <class... Arguments>
  explicit mortal(Arguments&&... arguments) {
    ::new (static_cast<void*>(storage_)) T(std::forward<Arguments>(arguments)...);
  }
  ~mortal() {
    if (alive_) destroy();
  }
  mortal(const mortal&) = delete;
  mortal& operator=(const mortal&) = delete;

  T& operator*() { return *std::launder(reinterpret_cast<T*>(storage_)); }
  T* operator->() { return &**this; }
  void destroy() {
    alive_ = false;
    (**this).~T();
    explorer::plain_access(reinterpret_cast<std::uintptr_t>(storage_), sizeof(T), true);
  }

 private:
  alignas(T) unsigned char storage_[sizeof(T)];
  bool alive_ = true;
};

/// A thread that finds `object` terminated, without waiting on it, sees what came before the call.
template <class Object>
void look_whether_terminated(Object& object) {
  int data = 0;
  threads({[&] {
             data = 7;
             object.terminate();
           },
           [&] {
             if (object.terminated()) check(data == 7, "sees what came before terminate");
           }});
}

/// Calls f `count` times.
template <class Function>
void times(int count, Function f) {
  for (int i = 0; i < count; ++i) f(i);
}

}  // namespace lockstep::model
