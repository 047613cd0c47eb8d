// SPDX-License-Identifier: MIT
// src/region/turns.hpp -- outside threads take turns with a team (layer: region)
//
//   TURN-1  Turns are given in the order of the calls of take_turn().
//   TURN-2  What a thread does in its turn happens before the next one's take_turn() returns.
//   TURN-3  In debug builds the first caller that has waited for long says so, once for each queue, and waits on.
//   TURN-4  A thread inside a region waits for its turn with a team only if that team is younger than all whose regions
//           the thread is in. Otherwise it takes a turn at once, or runs alone. So regions of several teams, called
//           from each other, never wait in a circle.
//   TURN-5  After shut() no turn begins. Threads that come wait for ever; so do those in the queue, and those that would
//           run alone because they may not wait.
//
// Memory order (# marks the line; each weakening must fail a test; published_words.hpp has that of the turns)
//   #  access             order    pairs  why it suffices
//   1  tickets.fetch_add  relaxed  -      hands out numbers, nothing else
//   2  store              relaxed  -      in a child process: the only thread
//   3  tickets.cmp_exch   relaxed  -      as 1; the turn before was seen by the load before it
//   4  holder.store       relaxed  -      for a message only
//   5  holder.load        relaxed  -      as 4
//   6  said.exchange      relaxed  -      the first of several speaks
//   7  shut.store         relaxed  -      a turn that begins at the same time is one of before
//   8  shut.load          relaxed  -      as 7
//
// Cost   uncontended: one RMW and one store on a line of the callers.
#ifndef LOCKSTEP_SRC_REGION_TURNS_HPP
#define LOCKSTEP_SRC_REGION_TURNS_HPP

#include <chrono>
#include <cstdint>
#include <cstdio>

#include <lockstep/detail/platform/cache_line.hpp>
#include <lockstep/detail/platform/system.hpp>
#include <lockstep/detail/platform/this_thread.hpp>
#include "../wait/published_words.hpp"
#include "nesting.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

class caller_queue {
 public:
  /// What a message calls the team: "lockstep::team 'name' at 0x...".
  struct label {
    const void* team;
    const char* kind;
    char name[32];

    label(const void* of, const char* its_kind, const char* its_name) noexcept;
  };

  /// `patience`: where misuse is diagnosed, a wait for the turn that is longer than this is reported, once.
  caller_queue(wait_policy policy, const label& whose,
               std::chrono::milliseconds patience = std::chrono::seconds(10)) noexcept
      : policy_(policy), payer_(fence_payer_of(policy)), whose_(whose), patience_(patience) {}

  /// Blocks until it is the caller's turn. What a wait needs is put together only where it is not.
  LOCKSTEP_ALWAYS_INLINE void take_turn() {
    const std::uint32_t number = tickets_.fetch_add(1, memory_order_relaxed);  // 1
    if (LOCKSTEP_UNLIKELY(!turn_of(number)(serving().value()))) wait_for(number);
    note_holder();
  }
  /// Takes a turn if it can be had at once.
  bool try_take_turn() noexcept { return !is_shut() && try_take(); }
  void end_turn() { serving().publish(serving().peek() + 1); }

  /// TURN-5. Takes the last turn, if it can be had at once: else a thread has one now, and may never end it.
  bool shut() noexcept {
    shut_.store(1, memory_order_relaxed);  // 7
    return try_take();
  }
  bool is_shut() const noexcept { return shut_.load(memory_order_relaxed) != 0; }  // 8

  /// In a child process: as new, but for the calling thread's turn if it has one.
  void forget_others(bool has_turn) noexcept;

  const label& whose() const noexcept { return whose_; }

 private:
  struct is_turn_of {
    std::uint32_t number;
    const caller_queue& queue;
    bool operator()(std::uint32_t serving) const noexcept {
      return serving == number && !queue.is_shut();
    }
    void describe(wait_subject& to) const noexcept {
      to.kind = wait_kind::turn_with_team;
      to.phase = number;
    }
  };
  is_turn_of turn_of(std::uint32_t number) const noexcept { return {number, *this}; }
  bool try_take() noexcept {
    std::uint32_t next = serving().value();
    if (!tickets_.compare_exchange_strong(next, next + 1,           //
                                          memory_order_relaxed,     // 3
                                          memory_order_relaxed)) {  // 3
      return false;
    }
    note_holder();
    return true;
  }

  /// The number that is served.
  published_word<std::uint32_t> serving() noexcept { return {serving_, mark_, policy_, payer_}; }

  /// Asked for once a thread: it costs a system call. In a child of fork() a message shows the parent's.
  static std::uint64_t shown_number() noexcept;
  void note_holder() noexcept {
    if (!diagnoses_misuse) return;
    holder_.store(static_cast<std::uint32_t>(shown_number()),
                  memory_order_relaxed);  // 4
  }

  LOCKSTEP_NOINLINE void wait_for(std::uint32_t number) {
    wait_history history = {};
    if (diagnoses_misuse) wait_and_say(number, history);
    serving().wait(turn_of(number), never_stops(), history);
  }
  /// Waits for the turn for a while; then says that it takes long, unless another has.
  void wait_and_say(std::uint32_t number, wait_history& history);

  // Callers write these lines, members do not need them.
  line_gap before_;
  wait_word tickets_{0};
  wait_word serving_{0};
  wait_word shut_{0};
  sleeper_mark mark_;
  const wait_policy policy_;
  const fence_payer payer_;
  // For the message.
  wait_word holder_{0};
  wait_word said_{0};
  const label whose_;
  const std::chrono::milliseconds patience_;
  line_gap after_;
};

/// Says that a turn has begun already.
struct has_begun_t {};

/// A turn of the calling thread, as long as this object lives.
class caller_turn {
 public:
  explicit caller_turn(caller_queue& of) : of_(of) { of_.take_turn(); }
  /// One that has begun.
  caller_turn(caller_queue& of, has_begun_t) noexcept : of_(of) {}
  ~caller_turn() { of_.end_turn(); }
  caller_turn(const caller_turn&) = delete;
  caller_turn& operator=(const caller_turn&) = delete;

 private:
  caller_queue& of_;
};

/// The calling thread's turn with a team while this object lives, or none: then its region runs on it alone. The thread
/// has none if it is inside a region of this team already, or may not wait (TURN-1) and cannot have a turn at once.
class region_turn {
 public:
  /// `age` and `owner`: those of the team's regions. The owner is not looked at before the turn.
  LOCKSTEP_ALWAYS_INLINE region_turn(caller_queue& callers, std::uint32_t age, const void* owner)
      : callers_(callers) {
    if (nesting::is_inside(owner)) return;
    if (nesting::may_wait_for(age)) {
      callers_.take_turn();
      is_mine_ = true;
    } else {
      is_mine_ = callers_.try_take_turn();
      if (!is_mine_ && LOCKSTEP_UNLIKELY(callers_.is_shut())) callers_.take_turn();
    }
  }
  /// Inlined for certain: then nothing of this object is in memory.
  LOCKSTEP_ALWAYS_INLINE ~region_turn() {
    if (is_mine_) callers_.end_turn();
  }
  region_turn(const region_turn&) = delete;
  region_turn& operator=(const region_turn&) = delete;

  explicit operator bool() const noexcept { return is_mine_; }
  /// The turn goes on after this object: a caller_turn is to take it over.
  void keep() noexcept { is_mine_ = false; }

 private:
  caller_queue& callers_;
  bool is_mine_ = false;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_REGION_TURNS_HPP
