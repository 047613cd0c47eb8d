// SPDX-License-Identifier: MIT
// bench/baselines/mechanism.hpp -- what a way to wait and notify must offer to be measured
//
// Each file of this directory adapts one mechanism to this shape; each experiment is written once.
// Waits return false after terminate(), which the experiments call while everybody waits in an event
// or a fan_out and nobody else calls the object.
#pragma once

#include <concepts>
#include <cstddef>
#include <string_view>

namespace bench {

template <class Event>
concept one_to_one = std::default_initializable<Event> && requires(Event& event) {
  event.notify();
  { event.wait() } -> std::same_as<bool>;
  event.terminate();
};

template <class FanOut>
concept one_to_many =
    std::constructible_from<FanOut, std::size_t> && requires(FanOut& fork, std::size_t rank) {
      fork.notify();
      { fork.wait(rank) } -> std::same_as<bool>;
      fork.terminate();
    };

template <class FanIn>
concept many_to_one =
    std::constructible_from<FanIn, std::size_t> && requires(FanIn& join, std::size_t rank) {
      join.notify(rank);
      { join.wait() } -> std::same_as<bool>;
    };

template <class Barrier>
concept all_with_all =
    std::constructible_from<Barrier, std::size_t> && requires(Barrier& barrier, std::size_t rank) {
      { barrier.arrive_and_wait(rank) } -> std::same_as<bool>;
    };

template <class Mechanism>
concept mechanism =
    one_to_one<typename Mechanism::event> && one_to_many<typename Mechanism::fan_out> &&
    many_to_one<typename Mechanism::fan_in> && all_with_all<typename Mechanism::barrier> &&
    requires {
      { Mechanism::name } -> std::convertible_to<std::string_view>;
    };

}  // namespace bench
