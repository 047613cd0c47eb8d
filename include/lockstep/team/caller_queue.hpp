// SPDX-License-Identifier: MIT
// lockstep/team/caller_queue.hpp -- outside threads take turns with a team (layer: team)
//
//   K1  Turns are given in the order of the calls of begin().
//   K2  What a thread does in its turn happens before the next one's begin() returns.
//
// Memory order (# marks the line; each weakening must fail a test)
//   #  access             order    pairs  why it suffices
//   1  tickets.fetch_add  relaxed  -      hands out numbers, nothing else
//   2  serving.store      release  3      K2
//   3  serving.load       acquire  2      K2
//   4  serving.load       relaxed  -      own word while being served
//   5  store              relaxed  -      in a child process: the only thread
//   6  tickets.cmp_exch   relaxed  -      as 1; 3 has seen the turn before, K2
//
// Cost   uncontended: one RMW and one store on a line of the callers.
#ifndef LOCKSTEP_TEAM_CALLER_QUEUE_HPP
#define LOCKSTEP_TEAM_CALLER_QUEUE_HPP

#include <cstdint>
#include <mutex>

#include "../platform/cache_line.hpp"
#include "../wait/sleeper_mark.hpp"
#include "../wait/wait_engine.hpp"

namespace lockstep {

class caller_queue {
 public:
  explicit caller_queue(wait_policy policy) noexcept : policy_(policy) {}

  /// Blocks until it is the caller's turn.
  void begin() {
    served condition{*this, tickets_.fetch_add(1, platform::memory_order_relaxed)};  // 1
    wait_history history = {};
    wait_engine::wait(condition, policy_, history);
  }
  /// Takes a turn if it can be had at once.
  bool try_begin() noexcept {
    std::uint32_t next = serving_.load(platform::memory_order_acquire);       // 3
    return tickets_.compare_exchange_strong(next, next + 1,                   //
                                            platform::memory_order_relaxed,   // 6
                                            platform::memory_order_relaxed);  // 6
  }
  void end() {
    const std::uint32_t next = serving_.load(platform::memory_order_relaxed) + 1;  // 4
    serving_.store(next, platform::memory_order_release);                          // 2
    mark_.notify(fence_payer_of(policy_));
  }

  /// In a child process: as new, but for the calling thread's turn if it has one.
  void forget_others(bool has_turn) noexcept {
    serving_.store(0, platform::memory_order_relaxed);                 // 5
    tickets_.store(has_turn ? 1 : 0, platform::memory_order_relaxed);  // 5
  }

 private:
  /// What the wait engine looks at.
  struct served {
    caller_queue& queue;
    std::uint32_t number;

    bool ready() const noexcept {
      return queue.serving_.load(platform::memory_order_acquire) == number;  // 3
    }
    void sleep(deadline until) { queue.mark_.sleep(*this, until, fence_payer_of(queue.policy_)); }
  };

  // Callers write these lines, members do not need them.
  platform::line_gap before_;
  platform::wait_word tickets_{0};
  platform::wait_word serving_{0};
  sleeper_mark mark_;
  const wait_policy policy_;
  platform::line_gap after_;
};

/// A turn of the calling thread, as long as this object lives.
class caller_turn {
 public:
  explicit caller_turn(caller_queue& of) : of_(of) { of_.begin(); }
  /// One that has begun.
  caller_turn(caller_queue& of, std::adopt_lock_t) noexcept : of_(of) {}
  ~caller_turn() { of_.end(); }
  caller_turn(const caller_turn&) = delete;
  caller_turn& operator=(const caller_turn&) = delete;

 private:
  caller_queue& of_;
};

}  // namespace lockstep

#endif  // LOCKSTEP_TEAM_CALLER_QUEUE_HPP
