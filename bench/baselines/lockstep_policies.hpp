// SPDX-License-Identifier: MIT
// bench/baselines/lockstep_policies.hpp -- lockstep's primitives, once for each wait policy
#pragma once

#include <chrono>
#include <cstddef>
#include <lockstep/lockstep.hpp>
#include <lockstep/toolbox.hpp>
#include <string_view>
#include <type_traits>

namespace bench::lockstep_policies {

struct spin {
  static constexpr std::string_view name = "lockstep-spin";
  static constexpr std::string_view split_name = "lockstep-split-spin";
  static constexpr lockstep::wait_policy policy = lockstep::wait_policy::spin();
};
struct block {
  static constexpr std::string_view name = "lockstep-block";
  static constexpr std::string_view split_name = "lockstep-split-block";
  static constexpr lockstep::wait_policy policy = lockstep::wait_policy::block();
};
struct hybrid {
  static constexpr std::string_view name = "lockstep-hybrid";
  static constexpr std::string_view split_name = "lockstep-split-hybrid";
  static constexpr lockstep::wait_policy policy =
      lockstep::wait_policy::hybrid(std::chrono::microseconds(2));
};
struct standard_choice {
  static constexpr std::string_view name = "lockstep-default";
  static constexpr std::string_view split_name = "lockstep-split-default";
  static constexpr lockstep::wait_policy policy{};
};

template <class Choice>
struct mechanism {
  static constexpr std::string_view name = Choice::name;

  struct event : lockstep::event {
    event() : lockstep::event(Choice::policy) {}
  };
  struct sleeping_event : lockstep::event {
    sleeping_event() : lockstep::event(lockstep::wait_policy::block()) {}
  };
  // A parent that spins beside a ring of spinners is a participant too many, not part of the ring.
  using parent_event = std::conditional_t<Choice::policy.is_spin(), sleeping_event, event>;

  struct fan_out : lockstep::fan_out {
    explicit fan_out(std::size_t waiters) : lockstep::fan_out(waiters, Choice::policy) {}
  };
  struct fan_in : lockstep::fan_in {
    explicit fan_in(std::size_t notifiers) : lockstep::fan_in(notifiers, Choice::policy) {}
  };
  struct barrier : lockstep::ranked_barrier {
    explicit barrier(std::size_t participants)
        : lockstep::ranked_barrier(participants, Choice::policy) {}
  };
};

}  // namespace bench::lockstep_policies
