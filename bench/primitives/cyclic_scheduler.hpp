// SPDX-License-Identifier: MIT
// bench/primitives/cyclic_scheduler.hpp -- a token goes round a ring of threads, hop by hop
//
// The first thread counts up, the last compares: at the limit it notifies the parent, else the first
// thread, for a new cycle. The others only pass the token on. Where that would take too long, the token
// stops on its way, at a thread that compares in place of the last, and goes on from there next time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>

#include "baselines/mechanism.hpp"
#include "primitives/scheduler.hpp"
#include "support/crew.hpp"

namespace bench::primitives {

/// The parent is notified after so many cycles.
inline constexpr std::size_t counter_limit = 100;

template <mechanism Mechanism>
class cyclic_scheduler final : public scheduler {
 public:
  /// Requires threads > 1.
  explicit cyclic_scheduler(std::size_t threads)
      : threads_(threads),
        places_(new place[threads]),
        turns_(threads),
        crew_(threads, [this](std::size_t rank) { turns_[rank] = work(rank); }) {}
  ~cyclic_scheduler() override { stop(); }

  void run(std::size_t operations) override {
    while (operations > 0) {
      const std::size_t hops = std::min(operations, counter_limit * threads_);
      send_token(hops);
      operations -= hops;
    }
  }

  bool finish(std::size_t operations) override {
    stop();
    for (std::size_t rank = 0; rank < threads_; ++rank) {
      const std::size_t expected = operations / threads_ + (rank < operations % threads_ ? 1 : 0);
      if (turns_[rank] != expected) return false;
    }
    return true;
  }

 private:
  static constexpr std::size_t line = 64;

  struct alignas(line) place {
    typename Mechanism::event token;
    bool compares = false;
  };

  /// One iteration of the document if it is 100 cycles long, else a part of one.
  void send_token(std::size_t hops) {
    const std::size_t first = next_rank_, end = first + hops;
    place& last = places_[(end - 1) % threads_];
    count_ = 0;
    limit_ = (end - 1) / threads_ + (first == 0 ? 1 : 0);  // how often the first thread will count
    last.compares = true;
    places_[first].token.notify();
    limit_reached_.wait();
    last.compares = false;
    next_rank_ = end % threads_;
  }

  std::size_t work(std::size_t rank) {
    const bool is_first = rank == 0;
    place& mine = places_[rank];
    auto& next = places_[rank + 1 == threads_ ? 0 : rank + 1].token;
    std::size_t turns = 0;
    for (; mine.token.wait(); ++turns) {
      if (is_first) ++count_;
      if (mine.compares && count_ == limit_) {
        limit_reached_.notify();
      } else {
        next.notify();
      }
    }
    return turns;
  }

  void stop() {
    for (std::size_t rank = 0; rank < threads_; ++rank) places_[rank].token.terminate();
    crew_.join();
  }

  const std::size_t threads_;
  // Plain data, as all that a turn touches: it is handed on with the token.
  alignas(line) std::size_t count_ = 0;
  std::size_t limit_ = 0;
  std::size_t next_rank_ = 0;
  alignas(line) typename Mechanism::event limit_reached_;
  std::unique_ptr<place[]> places_;
  turn_counts turns_;
  crew crew_;
};

}  // namespace bench::primitives
