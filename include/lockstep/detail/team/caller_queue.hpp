// SPDX-License-Identifier: MIT
// lockstep/detail/team/caller_queue.hpp -- outside threads take turns with a team (layer: team)
//
//   CALLER-1  Turns are given in the order of the calls of begin().
//   CALLER-2  What a thread does in its turn happens before the next one's begin() returns.
//   CALLER-3  In debug builds the first caller that has waited for long says so, once for each queue, and waits on.
//
// Memory order (# marks the line; each weakening must fail a test; published_words.hpp has that of the turns)
//   #  access             order    pairs  why it suffices
//   1  tickets.fetch_add  relaxed  -      hands out numbers, nothing else
//   2  store              relaxed  -      in a child process: the only thread
//   3  tickets.cmp_exch   relaxed  -      as 1; the turn before was seen by the load before it
//   4  holder.store       relaxed  -      for a message only
//   5  holder.load        relaxed  -      as 4
//   6  said.exchange      relaxed  -      the first of several speaks
//
// Cost   uncontended: one RMW and one store on a line of the callers.
#ifndef LOCKSTEP_DETAIL_TEAM_CALLER_QUEUE_HPP
#define LOCKSTEP_DETAIL_TEAM_CALLER_QUEUE_HPP

#include <chrono>
#include <cstdint>
#include <cstdio>

#include "../platform/cache_line.hpp"
#include "../platform/this_thread.hpp"
#include "../wait/published_words.hpp"

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

    LOCKSTEP_COLD label(const void* of, const char* its_kind, const char* its_name) noexcept;
  };

  /// Tests pass a short patience.
  explicit caller_queue(wait_policy policy, const label& whose = label(nullptr, "a queue", ""),
                        std::chrono::milliseconds patience = std::chrono::seconds(10)) noexcept
      : policy_(policy), whose_(whose), patience_(patience) {}

  /// Blocks until it is the caller's turn.
  void begin() {
    const std::uint32_t number = tickets_.fetch_add(1, detail::memory_order_relaxed);  // 1
    wait_history history = {};
    if (detail::diagnoses_misuse) wait_and_say(number, history);
    serving().wait(is_turn_of{number}, never_stops(), history);
    note_holder();
  }
  /// Takes a turn if it can be had at once.
  bool try_begin() noexcept {
    std::uint32_t next = serving().value();
    if (!tickets_.compare_exchange_strong(next, next + 1,                   //
                                          detail::memory_order_relaxed,     // 3
                                          detail::memory_order_relaxed)) {  // 3
      return false;
    }
    note_holder();
    return true;
  }
  void end() { serving().publish(serving().peek() + 1); }

  /// In a child process: as new, but for the calling thread's turn if it has one.
  LOCKSTEP_COLD void forget_others(bool has_turn) noexcept;

  const label& whose() const noexcept { return whose_; }

 private:
  struct is_turn_of {
    std::uint32_t number;
    bool operator()(std::uint32_t serving) const noexcept { return serving == number; }
  };
  /// The number that is served.
  published_word<std::uint32_t> serving() noexcept {
    return {serving_, mark_, policy_, fence_payer_of(policy_)};
  }

  /// Asked for once a thread: it costs a system call. In a child of fork() a message shows the parent's.
  static LOCKSTEP_COLD std::uint64_t shown_number() noexcept;
  void note_holder() noexcept {
    if (!detail::diagnoses_misuse) return;
    holder_.store(static_cast<std::uint32_t>(shown_number()),
                  detail::memory_order_relaxed);  // 4
  }

  /// Waits for the turn for a while; then says that it takes long, unless another has.
  LOCKSTEP_COLD void wait_and_say(std::uint32_t number, wait_history& history);

  // Callers write these lines, members do not need them.
  detail::line_gap before_;
  detail::wait_word tickets_{0};
  detail::wait_word serving_{0};
  sleeper_mark mark_;
  const wait_policy policy_;
  // For the message.
  detail::wait_word holder_{0};
  detail::wait_word said_{0};
  const label whose_;
  const std::chrono::milliseconds patience_;
  detail::line_gap after_;
};

/// Says that a turn has begun already.
struct has_begun_t {};

/// A turn of the calling thread, as long as this object lives.
class caller_turn {
 public:
  explicit caller_turn(caller_queue& of) : of_(of) { of_.begin(); }
  /// One that has begun.
  caller_turn(caller_queue& of, has_begun_t) noexcept : of_(of) {}
  ~caller_turn() { of_.end(); }
  caller_turn(const caller_turn&) = delete;
  caller_turn& operator=(const caller_turn&) = delete;

 private:
  caller_queue& of_;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#if LOCKSTEP_HAS_BODIES
#include "caller_queue.ipp"
#endif

#endif  // LOCKSTEP_DETAIL_TEAM_CALLER_QUEUE_HPP
