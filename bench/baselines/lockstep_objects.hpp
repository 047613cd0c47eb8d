// SPDX-License-Identifier: MIT
// bench/baselines/lockstep_objects.hpp -- lockstep's mutex, condition variable and barriers, once for
// each wait policy
#pragma once

#include <cstddef>
#include <lockstep/barrier.hpp>
#include <lockstep/condition_variable.hpp>
#include <lockstep/mutex.hpp>
#include <lockstep/ranked_barrier.hpp>
#include <string_view>

#include "baselines/lockstep_policies.hpp"
#include "baselines/std_objects.hpp"

namespace bench {

/// `Choice` is one of lockstep_policies.
template <class Choice>
struct lockstep_objects {
  static constexpr std::string_view name = Choice::name;

  struct mutex : lockstep::mutex {
    mutex() : lockstep::mutex(Choice::policy) {}
  };
  // Of lockstep::mutex, not of the type above: the lock that the condition variable knows.
  struct condition : adopted_condition<lockstep::condition_variable, lockstep::mutex> {
    condition() : adopted_condition(Choice::policy) {}
  };
  using barrier = typename lockstep_policies::mechanism<Choice>::barrier;
};

/// The barrier whose members have no rank, as std::barrier and pthread_barrier_t.
template <class Choice>
struct lockstep_split_objects {
  static constexpr std::string_view name = Choice::split_name;

  class barrier {
   public:
    explicit barrier(std::size_t participants)
        : all_(static_cast<std::ptrdiff_t>(participants), Choice::policy) {}
    bool arrive_and_wait(std::size_t) {
      all_.arrive_and_wait();
      return true;
    }

   private:
    lockstep::barrier<> all_;
  };
};

}  // namespace bench
