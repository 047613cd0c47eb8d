// SPDX-License-Identifier: MIT
// bench/primitives/parallel_scheduler.hpp -- a parent wakes N workers and waits for all, round by round
//
// The workers do nothing, or meet once in the middle of the round: syncThreads. The naive kind has no
// workers to wake; it creates and joins them in every round.
#pragma once

#include <algorithm>
#include <cstddef>

#include "baselines/mechanism.hpp"
#include "baselines/naive.hpp"
#include "primitives/scheduler.hpp"
#include "support/crew.hpp"

namespace bench::primitives {

[[nodiscard]] inline bool are_all(const turn_counts& turns, std::size_t rounds) {
  return std::all_of(turns.begin(), turns.end(),
                     [=](std::size_t count) { return count == rounds; });
}

template <mechanism Mechanism, bool WithSyncThreads>
class parallel_scheduler final : public scheduler {
 public:
  explicit parallel_scheduler(std::size_t workers)
      : fork_(workers),
        join_(workers),
        middle_(workers),
        turns_(workers),
        crew_(workers, [this](std::size_t rank) { turns_[rank] = work(rank); }) {}
  ~parallel_scheduler() override { stop(); }

  void run(std::size_t operations) override {
    for (std::size_t round = 0; round < operations; ++round) {
      fork_.notify();
      join_.wait();
    }
  }

  bool finish(std::size_t operations) override {
    stop();
    return are_all(turns_, operations);
  }

 private:
  std::size_t work(std::size_t rank) {
    std::size_t turns = 0;
    for (; fork_.wait(rank); ++turns) {
      if constexpr (WithSyncThreads) middle_.arrive_and_wait(rank);
      join_.notify(rank);
    }
    return turns;
  }

  void stop() {
    if (is_stopped_) return;
    is_stopped_ = true;
    fork_.terminate();
    crew_.join();
  }

  typename Mechanism::fan_out fork_;
  typename Mechanism::fan_in join_;
  typename Mechanism::barrier middle_;
  turn_counts turns_;
  bool is_stopped_ = false;
  crew crew_;
};

class naive_scheduler final : public scheduler {
 public:
  explicit naive_scheduler(std::size_t workers) : turns_(workers) {}

  void run(std::size_t operations) override {
    for (std::size_t round = 0; round < operations; ++round) {
      naive::fork_join(turns_.size(), [this](std::size_t rank) { ++turns_[rank]; });
    }
  }

  bool finish(std::size_t operations) override { return are_all(turns_, operations); }

 private:
  turn_counts turns_;
};

}  // namespace bench::primitives
