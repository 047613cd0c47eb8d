// SPDX-License-Identifier: MIT
// tests/stress/crew.hpp -- the threads of the scenarios
//
// Starts and ends runs by the standard library only, never by the library under test.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <lockstep/detail/platform/atomic.hpp>
#include <lockstep/detail/platform/cache_line.hpp>
#include "stress/actor.hpp"
#include "support/threads.hpp"

namespace lockstep::stress {

using namespace detail;

using actor_body = std::function<void(actor&)>;

class crew {
 public:
  /// on_start(rank) is called on each thread first, unless it is empty.
  explicit crew(std::size_t size, std::function<void(std::size_t)> on_start = {})
      : actors_(size), errors_(size), on_start_(std::move(on_start)) {}

  std::size_t size() const noexcept { return actors_.size(); }
  /// Calls body(actor&) on `count` threads of its own; returns when all calls have returned. An exception
  /// that leaves a call counts as something found broken.
  void run(std::size_t count, std::uint64_t seed, const actor_body& body) {
    for (std::size_t rank = 0; rank < size(); ++rank) actors_[rank].value.begin(rank, seed);
    test::run_threads(count, [&](std::size_t rank) {
      if (on_start_) on_start_(rank);
      call(body, actors_[rank].value, seed);
    });
  }
  /// Of the last run, or of the one that is under way.
  const actor& at(std::size_t rank) const noexcept { return actors_[rank].value; }

 private:
  void call(const actor_body& body, actor& self, std::uint64_t seed) {
#if defined(LOCKSTEP_ATOMIC_SEAM)
    test::seeded_draws::seed_this_thread(mix(seed, ~self.rank()));
#else
    (void)seed;
#endif
    try {
      body(self);
    } catch (const std::exception& error) {
      errors_[self.rank()] = std::string("an exception left the thread: ") + error.what();
      self.require(false, errors_[self.rank()].c_str());
    }
  }

  detail::aligned_array<detail::padded<actor>> actors_;
  std::vector<std::string> errors_;
  std::function<void(std::size_t)> on_start_;
};

}  // namespace lockstep::stress
