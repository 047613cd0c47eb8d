// SPDX-License-Identifier: MIT
// tests/stress/round.hpp -- one run of a scenario, with what it is given and what it has to prove
//
// A scenario is a function of a round. It makes its objects, runs bodies on the round's threads, and says
// what must have come out: how many operations, and which sums. Everything it draws follows from the
// round's seed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <lockstep/wait_policy.hpp>
#include "stress/actor.hpp"
#include "stress/crew.hpp"

namespace lockstep::stress {

/// An invariant did not hold.
struct broken : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class round {
 public:
  random_source random;

  round(crew& workers, wait_policy policy, std::uint64_t seed, std::size_t most_steps = 200)
      : random(seed), crew_(workers), policy_(policy), seed_(seed), most_steps_(most_steps) {}

  wait_policy policy() const noexcept { return policy_; }
  std::size_t threads() const noexcept { return crew_.size(); }
  std::uint64_t seed() const noexcept { return seed_; }
  /// How often each thread does what the scenario is about: less, the more threads there are, so that
  /// rounds take milliseconds.
  std::size_t steps() const noexcept {
    const std::size_t share = 1600 / threads();
    return std::min<std::size_t>(share < 16 ? 16 : share, most_steps_);
  }

  /// Calls body(actor&) on `count` threads and waits for them. Together they must do `expected` operations.
  void run(std::size_t count, std::uint64_t expected, const actor_body& body) {
    crew_.run(count, mix(seed_, ++runs_), body);
    std::uint64_t sum = 0;
    for (std::size_t rank = 0; rank < count; ++rank) {
      const actor& each = crew_.at(rank);
      if (each.first_broken() != nullptr)
        throw broken("thread " + std::to_string(rank) + ": " + each.first_broken());
      sum += each.operations();
    }
    operations_ += sum;
    require_equal(sum, expected, "operations");
  }
  void run(std::uint64_t expected, const actor_body& body) { run(threads(), expected, body); }

  void require_equal(std::uint64_t found, std::uint64_t expected, const char* what) const {
    if (found == expected) return;
    throw broken(std::string(what) + ": " + std::to_string(found) + " instead of " +
                 std::to_string(expected));
  }

  std::uint64_t operations() const noexcept { return operations_; }

 private:
  crew& crew_;
  wait_policy policy_;
  std::uint64_t seed_;
  std::size_t most_steps_;
  std::uint64_t runs_ = 0, operations_ = 0;
};

struct scenario {
  const char* name;
  const char* what;  // the invariant
  void (*run)(round&);
};

// One unit each: notify_, barrier_, lock_, opening_ and team_scenarios.cpp.
std::vector<scenario> notify_scenarios();
std::vector<scenario> barrier_scenarios();
std::vector<scenario> lock_scenarios();
std::vector<scenario> opening_scenarios();
std::vector<scenario> team_scenarios();

/// Waits by one of an object's ways, mostly the plain one: a timed wait that is repeated would hide a lost
/// wake-up. A timed wait that was in vain leaves its traces to the plain one.
template <class TryWait, class WaitFor, class Wait>
void wait_some_way(actor& self, TryWait try_wait, WaitFor wait_for, Wait wait) {
  const std::size_t draw = self.random.below(8);
  if (draw == 0 && try_wait()) return;
  if (draw <= 2 && draw > 0 && wait_for(self.random.short_time()) == wait_status::ready) return;
  wait();
}

}  // namespace lockstep::stress
