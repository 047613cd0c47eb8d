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
#include <mutex>

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

    label(const void* of, const char* its_kind, const char* its_name) noexcept
        : team(of), kind(its_kind) {
      std::snprintf(name, sizeof name, "%s", its_name);
    }
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
  void forget_others(bool has_turn) noexcept {
    serving().reset(0);
    tickets_.store(has_turn ? 1 : 0, detail::memory_order_relaxed);  // 2
  }

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
  static std::uint64_t shown_number() noexcept {
    std::uint64_t& known = detail::per_thread<std::uint64_t, struct name_of_shown_number>();
    if (known == 0) known = detail::shown_thread_number();
    return known;
  }
  void note_holder() noexcept {
    if (!detail::diagnoses_misuse) return;
    holder_.store(static_cast<std::uint32_t>(shown_number()),
                  detail::memory_order_relaxed);  // 4
  }

  /// Waits for the turn for a while; then says that it takes long, unless another has.
  void wait_and_say(std::uint32_t number, wait_history& history) {
    const is_turn_of mine{number};
    if (mine(serving().value())) return;
    if (serving().wait(mine, never_stops(), history, deadline::after(patience_))) return;
    if (said_.exchange(1, detail::memory_order_relaxed) != 0) return;  // 6
    std::fprintf(
        stderr,
        "%s '%s' at %p: %s has waited %.3g s for its turn, which thread %u has. This may be "
        "harmless: regions of other threads may take so long. But if that region waits for this "
        "thread, they wait for ever: a thread that a member starts and waits for is to get "
        "lockstep::this_region() from the member, and to make a lockstep::inside_region of it\n",
        whose_.kind, whose_.name, whose_.team, detail::label_of_this_thread().text,
        std::chrono::duration<double>(patience_).count(),
        static_cast<unsigned>(holder_.load(detail::memory_order_relaxed)));  // 5
  }

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

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_CALLER_QUEUE_HPP
