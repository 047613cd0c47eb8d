// SPDX-License-Identifier: MIT
// src/wait/wait_engine.cpp -- the ladder that a waiting thread climbs: polls, yields, sleeps (layer: wait)
//
// Tuning (2 virtual CPUs of an EPYC, kernel 6.18; bench/ring, bench/team)
//   spin_budget   2 us. When both threads share a CPU, each wait loses the whole budget: with 50 us such a
//                 fork/join took 100 us. A longer spin ends few waits more. Locks gain nothing either: 64
//                 threads that hold a mutex for 0.1 us take it in 0.21 us each with 2 us, 0.22 with 10,
//                 0.24 with 50. For 2 and 4 threads it makes no difference (0.20 us).
//   yield_limit   64: about 32 us alone, which is what the sleep would have cost (the 2-competitive
//                 choice); crowded, one to three yields end nearly every wait. Where all members of a large team
//                 wait for the last, their sleeps cost more: each pays for a process-wide fence that interrupts
//                 every CPU (10 us on 16), which makes others late, and they sleep, too. On 16 CPUs some barriers of
//                 16 took 70 to 130 us instead of 0.9. Such a wait has no limit but yield_time; the longest barrier
//                 took 2.1 us then. A spin of 50 us does the same on an idle machine; beside four busy processes
//                 a barrier takes 32 us with it, and 5 with yields.
//                 A member that is being woken comes after 40 to 80 us: a caller that sleeps meanwhile has to be
//                 woken, too, 20 us more (docs/maintainers/decisions/0075). No limit there either.
//                 Nor has a wait that yields for 80 us at most. On 16 CPUs a ring of 8 events is a wait of 1.2 us. Once
//                 a hop woke a sleeper (7 us) all eight waits took longer than 64 yields, and all slept for good: 4.7 to
//                 5.0 us a hop in place of 0.15.
//   yield_time    crowded, a wait should yield for this time and then sleep. The yields keep the CPUs from
//                 halting until the notification comes. Rings of 30 to 127 events take 4 to 6 us a hop with
//                 80 us, 5 to 6 with 20 or 40, 4 to 12 with 200, 9 to 21 without a limit and 10 if all
//                 sleep. Where one notification lets many go, waking them in turn costs more than their
//                 yields: barriers of 128 take 110 us with 400 us, 150 with 80. Hence event has the shorter
//                 time.
//   long_yield    a yield that took longer than this gave the CPU to a stranger for its time slice (3 ms
//                 here). It counts as a failure even if the wait is over after it: a thread that sleeps
//                 instead preempts the stranger when it is woken. With 8 busy strangers an event hop takes
//                 11 to 165 us, and 1.9 to 4.4 ms if such yields count as successes. In a crowd of 256
//                 threads of our own, a yield returns within 0.3 ms.
//   unmeasured_yields  a yield that ends a wait takes 1.3 us; 0.1 us of this is for the clock and the way to it.
//                 So in a crowd, after 16 waits in a row that ended in short, measured yields, 7 in 8 waits
//                 begin with so many yields without the clock: fork/join of 4 and 16 takes 0.91 and 0.90 of
//                 the time.
//   far_budget    50 us. A wait polls for this time before it yields if yields went to a stranger and the
//                 other thread is known to have another CPU: a yield that only probes would cost the rest of the
//                 time slice. It is more than a wake-up takes, so two threads
//                 that sleep and wake each other stop doing so. Beside two busy processes a fork/join of 2
//                 takes 0.4 us, and 15 without this; a barrier 0.17 and 40.
#include "wait_engine.hpp"

#include "member_pace.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

// What waiters learn.

LOCKSTEP_INLINE bool backoff_trust::asks() noexcept {
  if (doubt_ < limit) return true;
  skipped_ = static_cast<std::uint8_t>((skipped_ + 1) % probe_interval);
  return skipped_ == 0;
}

LOCKSTEP_INLINE void backoff_trust::paid_measurably() noexcept {
  paid();
  if (doubt_ == 0 && skipped_ < sure) ++skipped_;
}

LOCKSTEP_INLINE void backoff_trust::failed() noexcept {
  if (doubt_ == limit) return;
  ++doubt_;
  skipped_ = 0;
}

LOCKSTEP_INLINE void backoff_trust::failed_badly() noexcept {
  if (doubt_ < limit) skipped_ = 0;  // else it counts the waits until the next probe
  doubt_ = limit;
}

LOCKSTEP_INLINE bool backoff_trust::goes_unmeasured() noexcept {
  if (doubt_ != 0 || skipped_ < sure) return false;
  skipped_ = static_cast<std::uint8_t>(skipped_ + 1);
  if (skipped_ < sure + measure_interval) return true;
  skipped_ = sure;
  return false;
}

LOCKSTEP_INLINE wait_history& this_thread_history() noexcept {
  return per_thread<wait_history, struct name_of_history>();
}
LOCKSTEP_INLINE wait_history& this_thread_history_in_queues() noexcept {
  return per_thread<wait_history, struct name_of_queue_history>();
}
LOCKSTEP_INLINE const wait_pulse*& wait_pulse::of_this_thread() noexcept {
  return per_thread<const wait_pulse*, struct name_of_pulse>();
}

// The rungs.

struct wait_rungs {
  static constexpr std::uint64_t spin_budget = 2000, far_budget = 50000;
  static constexpr unsigned unmeasured_yields = 6;

  static bool is_over(std::uint64_t until) {
    return until != no_deadline && monotonic_nanoseconds() >= until;
  }

  /// Polls for `budget` nanoseconds, and at most one poll longer.
  static bool spin(waitable& what, std::uint64_t budget, std::uint64_t until) {
    if (budget == no_deadline && until == no_deadline) {
      while (!wait_engine::poll(what)) continue;
      return true;
    }
    const std::uint64_t start = monotonic_nanoseconds();
    for (std::uint64_t now = start; now - start < budget && now < until;) {
      if (wait_engine::poll(what)) return true;
      now = monotonic_nanoseconds();
    }
    return false;
  }

  /// Gives the CPU to others while that helps.
  static bool yield(waitable& what, backoff_trust& trust, std::uint64_t until) {
    const std::uint64_t start = monotonic_nanoseconds();
    std::uint64_t before = start;
    round_pace* const round = what.rounds();
    for (unsigned i = 0; i < what.yield_limit && before < until; ++i) {
      if (round != nullptr && round->should_poll(before)) {
        const bool has_come = spin(what, round->polls_until() - before, until);
        round->polled(has_come);
        if (has_come) return true;
        before = monotonic_nanoseconds();
      }
      yield_thread();
      const std::uint64_t after = monotonic_nanoseconds();
      if (round != nullptr) round->yielded(before, after);
      if (after - before > backoff_trust::long_yield) {
        trust.failed_badly();
        return what.ready();
      }
      if (what.ready()) {
        trust.paid_measurably();
        return true;
      }
      if (after - start > what.yield_time) return false;
      before = after;
    }
    return false;
  }

  static std::uint64_t next_beat(const wait_pulse* pulse) {
    return pulse == nullptr ? no_deadline : deadline::after(pulse->interval).nanoseconds();
  }
  /// Sleeps until it is ready, or polls with spin(). Meanwhile it calls the thread's pulse, if it has one.
  static bool stay(waitable& what, std::uint64_t until, bool sleeps) {
    const wait_pulse*& own = wait_pulse::of_this_thread();
    const wait_pulse* const pulse = own;
    for (std::uint64_t beat = next_beat(pulse); !what.ready();) {
      if (is_over(until)) return what.ready();
      const std::uint64_t next = lesser(beat, until);
      if (sleeps) {
        what.sleep(next);
      } else if (spin(what, no_deadline, next)) {
        return true;
      }
      if (!is_over(beat)) continue;
      own = nullptr;  // the call may wait, too
      pulse->call(pulse->context);
      own = pulse;
      beat = next_beat(pulse);
    }
    return true;
  }
};

LOCKSTEP_INLINE bool wait_engine::poll(waitable& what) {
  for (unsigned paused = 0; paused < pauses_per_poll;) {
    const unsigned pauses = what.pauses;
    for (unsigned i = 0; i < pauses; ++i) polling_pause();
    if (what.ready()) return true;
    paused += pauses;
    if (pauses > 1 && pauses < waitable::most_pauses) what.pauses *= 2;
  }
  return false;
}

// The ladder.

LOCKSTEP_INLINE bool wait_engine::begins_with_polls(policy_kind kind, wait_history& history) {
  return kind == policy_kind::spin || kind == policy_kind::hybrid ||
         (kind == policy_kind::adaptive && cpus_for_waits() > 1 && history.spinning.asks());
}

LOCKSTEP_INLINE bool wait_engine::climb(waitable& what, wait_policy policy, wait_history& history,
                                        std::uint64_t until, rung first, rung last,
                                        observed_wait* seen) {
  if (LOCKSTEP_UNLIKELY(observers() != 0) && seen == nullptr) {
    observed_wait here(what.subject());
    return climb(what, policy, history, until, first, last, &here);
  }
  const policy_kind kind = policy.kind();
  const bool adapts = kind == policy_kind::adaptive, spins = kind == policy_kind::spin;

  if (policy.is_crowded() && last == rung::sleep && until == no_deadline && seen == nullptr &&
      what.rounds() == nullptr && history.yielding.goes_unmeasured()) {
    for (unsigned i = 0; i < wait_rungs::unmeasured_yields; ++i) {
      yield_thread();
      if (what.ready()) return true;
    }
  }

  if (first == rung::poll && !(spins && last == rung::sleep)) {
    std::uint64_t budget = wait_rungs::spin_budget;
    if (kind == policy_kind::hybrid) budget = converted<std::uint64_t>(policy.spin_time().count());
    const bool is_ready = wait_rungs::spin(what, budget, until);
    if (adapts) history.spinning.learn(is_ready);
    if (is_ready) return true;
  }

  if (last == rung::poll) return false;
  if (first <= rung::yield && !spins && kind != policy_kind::block) {
    const bool is_separated = adapts && what.is_separated();
    if (is_separated && history.yielding.is_stopped() &&
        wait_rungs::spin(what, wait_rungs::far_budget, until)) {
      return true;
    }
    if (kind >= policy_kind::hybrid || history.yielding.asks()) {
      if (LOCKSTEP_UNLIKELY(seen != nullptr)) seen->enter(wait_stage::yield);
      if (wait_rungs::yield(what, history.yielding, until)) return true;
    }
  }

  if (last != rung::sleep) return false;
  if (LOCKSTEP_UNLIKELY(seen != nullptr) && !spins) seen->enter(wait_stage::sleep);
  return wait_rungs::stay(what, until, !spins);
}

LOCKSTEP_INLINE void wake_all_sleepers(const wait_word* word) {
  if (LOCKSTEP_UNLIKELY(observers() != 0)) note_wake(word);
  futex::wake_all(word);
}
LOCKSTEP_INLINE void wake_one_sleeper(const wait_word* word) {
  if (LOCKSTEP_UNLIKELY(observers() != 0)) note_wake(word);
  futex::wake_one(word);
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
