// SPDX-License-Identifier: MIT
// bench/baselines/lockstep_objects.hpp -- lockstep's mutex, condition variable and barriers, with the default wait policy
#pragma once

#include <cstddef>
#include <lockstep/barrier.hpp>
#include <lockstep/condition_variable.hpp>
#include <lockstep/mutex.hpp>
#include <lockstep/ranked_barrier.hpp>
#include <string_view>

#include "baselines/std_objects.hpp"

namespace bench {

struct lockstep_objects {
  static constexpr std::string_view name = "lockstep-default";
  using mutex = lockstep::mutex;
  using condition = adopted_condition<lockstep::condition_variable, lockstep::mutex>;
  using barrier = lockstep::ranked_barrier;
};

/// The barrier whose members have no rank, as std::barrier and pthread_barrier_t.
struct lockstep_split_objects {
  static constexpr std::string_view name = "lockstep-split-default";

  class barrier {
   public:
    explicit barrier(std::size_t participants) : all_(static_cast<std::ptrdiff_t>(participants)) {}
    bool arrive_and_wait(std::size_t) {
      all_.arrive_and_wait();
      return true;
    }

   private:
    lockstep::barrier<> all_;
  };
};

}  // namespace bench
