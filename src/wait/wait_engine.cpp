// SPDX-License-Identifier: MIT
// src/wait/wait_engine.cpp -- the ladder that a waiting thread climbs: polls, waits in the processor, yields, sleeps (layer: wait)
//
// Tuning (2 virtual CPUs of an EPYC, kernel 6.18; bench/ring, bench/team)
//   spin_budget   2 us: longer spins cost a whole budget a wait when both threads share a CPU, and end
//                 few waits more; a 50 us spin made such a fork/join 100 us. Nor do locks want more: 64
//                 threads that hold a mutex for 0.1 us take it in 0.21 us each with 2 us, 0.22 with 10,
//                 0.24 with 50; 2 and 4 threads do not care (0.20 us).
//   line_budget   8 us more, for words whose lines the processor can watch. Not measured: no machine of ours can. It is
//                 a quarter of what yields take alone, and as a spin in vain it speaks against spinning: then it costs
//                 10 us in 64 waits at most. far_budget and hybrid(time) are as long with it as without.
//   yield_limit   64: about 32 us alone, which is what the sleep would have cost (the 2-competitive
//                 choice); crowded, one to three yields end nearly every wait.
//   yield_time    crowded, a wait that is not over after this time is better slept, but the time before
//                 pays: it keeps the CPUs from halting while the notification comes round. Rings of 30 to
//                 127 events take 4 to 6 us a hop with 80 us, 5 to 6 with 20 or 40, 4 to 12 with 200,
//                 9 to 21 without a limit and 10 if all sleep. Where one notification lets many go,
//                 waking them in turn costs more than their yields: barriers of 128 take 110 us with
//                 400 us, 150 with 80. Hence event has the shorter one.
//   long_yield    a yield that took longer than this went to a stranger's time slice (3 ms here), and
//                 is a failure even if the wait is over after it: a sleeper woken for the notification
//                 preempts the stranger. With 8 busy strangers an event hop takes 11 to 165 us so, and
//                 1.9 to 4.4 ms if such yields count as successes. Our own crowd of 256 returns within
//                 0.3 ms.
//   unmeasured_yields  the clock and the long part of a wait take 0.1 us of the 1.3 us of a yield that ends a wait.
//                 So in a crowd, once 16 waits in a row have ended in yields that were measured and short, 7 in 8
//                 begin with so many yields and no look at the clock: fork/join of 4 and 16 takes 0.91 and 0.90 of
//                 the time.
//   far_budget    50 us, in place of yields where those went to a stranger, while the other thread is known to
//                 have a CPU of its own. It is more than a wake-up takes: two threads that have begun to sleep and
//                 wake each other stop doing so. Beside two busy processes a fork/join of 2 takes 0.4 us so and
//                 15 without, a barrier 0.17 and 40.
#include <lockstep/detail/wait/wait_engine.hpp>

#include <chrono>

#include <lockstep/detail/platform/system.hpp>
#include "../observe/hooks.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

// What waiters learn.

struct trust_limits {
  // 4 failures in a row stop a stage, one success in a probe starts it again. A probe that fails costs
  // at most spin_budget (2 us) in 64 waits, 30 ns a wait.
  static constexpr std::uint8_t limit = 4;
  static constexpr std::uint8_t probe_interval = 64;
  static constexpr std::uint8_t sure = 16;
  static constexpr std::uint8_t measure_interval = 8;
};

LOCKSTEP_INLINE bool backoff_trust::asks() noexcept {
  if (doubt_ < trust_limits::limit) return true;
  skipped_ = static_cast<std::uint8_t>((skipped_ + 1) % trust_limits::probe_interval);
  return skipped_ == 0;
}

LOCKSTEP_INLINE void backoff_trust::paid_measurably() noexcept {
  paid();
  if (doubt_ == 0 && skipped_ < trust_limits::sure) ++skipped_;
}

LOCKSTEP_INLINE void backoff_trust::failed() noexcept {
  if (doubt_ == trust_limits::limit) return;
  ++doubt_;
  skipped_ = 0;
}

LOCKSTEP_INLINE void backoff_trust::failed_badly() noexcept {
  if (doubt_ < trust_limits::limit) skipped_ = 0;  // else it counts the waits until the next probe
  doubt_ = trust_limits::limit;
}

LOCKSTEP_INLINE bool backoff_trust::goes_unmeasured() noexcept {
  if (doubt_ != 0 || skipped_ < trust_limits::sure) return false;
  skipped_ = static_cast<std::uint8_t>(skipped_ + 1);
  if (skipped_ < trust_limits::sure + trust_limits::measure_interval) return true;
  skipped_ = trust_limits::sure;
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

// The ladder.

/// One wait that its first look has not ended.
class wait_ladder {
 public:
  wait_ladder(any_waitable what, wait_policy policy, wait_history& history, deadline until,
              std::uint64_t yield_time) noexcept
      : what_(what), policy_(policy), history_(history), until_(until), yield_time_(yield_time) {}

  /// What follows the first poll; `spins` says whether there was one, or was to be.
  bool climb(bool spins, bool sleeps, observed_wait& seen) {
    if (policy_.is_spin()) return sleeps ? spin_for_good() : spin(spin_budget);
    if (!policy_.is_block()) {
      if (spins && spin(spin_time())) return note_spin();
      if (spins && policy_.is_adaptive()) history_.spinning.failed();
      const bool is_separated =
          policy_.is_adaptive() && !policy_.is_crowded() && what_.is_separated();
      if (policy_.is_hybrid() || history_.yielding.asks()) {
        seen.enter(wait_stage::yield);
        if (yield()) return true;
      } else if (is_separated) {
        if ((!what_.has_pauses() && wait_engine::poll(what_)) || spin(far_budget)) return true;
      }
    }
    if (!sleeps) return false;
    seen.enter(wait_stage::sleep);
    if (LOCKSTEP_UNLIKELY(wait_pulse::of_this_thread() != nullptr)) return wait_with_pulse(false);
    while (!what_.ready()) {
      if (!until_.is_never() && until_.is_past(monotonic_nanoseconds())) return what_.ready();
      what_.sleep(until_);
    }
    return true;
  }

  static constexpr std::uint64_t longest_line_wait = 10000;
  static constexpr unsigned unmeasured_yields = 6;
  static std::uint64_t smaller(std::uint64_t a, std::uint64_t b) noexcept { return a < b ? a : b; }

 private:
  static constexpr std::uint64_t spin_budget = 2000;
  static constexpr std::uint64_t far_budget = 50000;
  static constexpr std::uint64_t line_budget = 8000;
  static constexpr unsigned yield_limit = 64;
  static constexpr std::uint64_t long_yield = 2000000;

  bool note_spin() noexcept {
    if (policy_.is_adaptive()) history_.spinning.paid();
    return true;
  }
  std::uint64_t spin_time() const {
    if (policy_.is_hybrid()) return static_cast<std::uint64_t>(policy_.spin_time().count());
    return shortest_line_wait() < line_budget && what_.line() != nullptr ? spin_budget + line_budget
                                                                         : spin_budget;
  }

  /// Polls for `budget` nanoseconds, and at most one poll longer: with pauses for spin_budget, then by poll_for().
  bool spin(std::uint64_t budget) { return spin(budget, until_); }
  bool spin(std::uint64_t budget, deadline until) {
    if (budget == no_deadline && until.is_never() && shortest_line_wait() == no_deadline) {
      while (!wait_engine::poll(what_)) continue;
      return true;
    }
    const std::uint64_t start = monotonic_nanoseconds();
    std::uint64_t now = start;
    while (now - start < budget && !until.is_past(now)) {
      const std::uint64_t spun = now - start;
      const std::uint64_t left = smaller(budget - spun, until.nanoseconds() - now);
      if (spun < spin_budget ? wait_engine::poll(what_) : wait_engine::poll_for(what_, left)) {
        return true;
      }
      now = monotonic_nanoseconds();
    }
    return false;
  }
  bool spin_for_good() {
    if (wait_pulse::of_this_thread() != nullptr) return wait_with_pulse(true);
    return spin(no_deadline) || what_.ready();
  }

  /// Gives the CPU to others while that helps.
  bool yield() {
    const std::uint64_t start = monotonic_nanoseconds();
    std::uint64_t before = start;
    for (unsigned i = 0; i < yield_limit && !until_.is_past(before); ++i) {
      yield_thread();
      const std::uint64_t after = monotonic_nanoseconds();
      if (after - before > long_yield) {
        history_.yielding.failed_badly();
        return what_.ready();
      }
      if (what_.ready()) {
        history_.yielding.paid_measurably();
        return true;
      }
      if (after - start > yield_time_) return false;
      before = after;
    }
    return false;
  }

  /// The sleep of a thread that has a pulse; with spin() the whole wait.
  bool wait_with_pulse(bool spins) {
    const wait_pulse*& own = wait_pulse::of_this_thread();
    const wait_pulse* const pulse = own;
    std::uint64_t now = monotonic_nanoseconds();
    while (!what_.ready()) {
      if (until_.is_past(now)) return what_.ready();
      const deadline next =
          deadline::after(std::chrono::nanoseconds(static_cast<std::int64_t>(pulse->interval)));
      const deadline end = next.nanoseconds() < until_.nanoseconds() ? next : until_;
      while (!what_.ready() && !end.is_past(now)) {
        if (!spins) {
          what_.sleep(end);
        } else if (spin(no_deadline, end)) {
          return true;
        }
        now = monotonic_nanoseconds();
      }
      if (!next.is_past(now)) continue;
      own = nullptr;  // the call may wait, too
      pulse->call(pulse->context);
      own = pulse;
      now = monotonic_nanoseconds();
    }
    return true;
  }

  const any_waitable what_;
  const wait_policy policy_;
  wait_history& history_;
  const deadline until_;
  const std::uint64_t yield_time_;
};

LOCKSTEP_INLINE bool begins_with_spin(wait_policy policy, wait_history& history) {
  if (policy.is_crowded() || policy.is_block()) return false;
  return !policy.is_adaptive() || (cpus_for_waits() > 1 && history.spinning.asks());
}

LOCKSTEP_INLINE wait_engine::way wait_engine::begin(wait_policy policy, deadline until,
                                                    wait_history& history) {
  if (policy.is_crowded()) {
    const bool is_sure = until.is_never() && observers() == 0 && history.yielding.goes_unmeasured();
    return is_sure ? way::yields_unmeasured : way::neither;
  }
  return begins_with_spin(policy, history) ? way::polls : way::neither;
}

LOCKSTEP_INLINE bool wait_engine::wait_long(any_waitable what, wait_policy policy,
                                            wait_history& history, deadline until,
                                            std::uint64_t yield_time, way now) {
  if (now == way::yields_unmeasured) {
    for (unsigned i = 0; i < wait_ladder::unmeasured_yields; ++i) {
      yield_thread();
      if (what.ready()) return true;
    }
  }
  observed_wait seen(what);
  return wait_ladder(what, policy, history, until, yield_time).climb(now == way::polls, true, seen);
}

LOCKSTEP_INLINE bool wait_engine::wait_awake(any_waitable what, wait_policy policy,
                                             wait_history& history, deadline until,
                                             std::uint64_t yield_time) {
  if (policy.is_block()) return false;
  const bool spins = begins_with_spin(policy, history);
  if (spins && !what.has_pauses() && poll(what)) return note_poll(policy, history);
  observed_wait seen(what);
  return wait_ladder(what, policy, history, until, yield_time).climb(spins, false, seen);
}

LOCKSTEP_INLINE bool wait_engine::wait_without_spin(any_waitable what, wait_policy policy,
                                                    wait_history& history, observed_wait& seen) {
  return what.ready() ||
         wait_ladder(what, policy.when_crowded(true), history, deadline::never(), shared_yield_time)
             .climb(false, true, seen);
}

LOCKSTEP_INLINE bool wait_engine::poll(any_waitable what) {
  for (unsigned paused = 0; paused < pauses_per_poll;) {
    const unsigned pauses = what.pauses();
    for (unsigned i = 0; i < pauses; ++i) polling_pause();
    if (what.ready()) return true;
    paused += pauses;
  }
  return false;
}

LOCKSTEP_INLINE bool wait_engine::poll_for(any_waitable what, std::uint64_t most) {
  if (LOCKSTEP_UNLIKELY(shortest_line_wait() < most)) {
    if (const void* const line = what.line()) {
      arm_line(line);
      if (what.ready()) return true;
      wait_on_line(wait_ladder::smaller(most, wait_ladder::longest_line_wait));
      return what.ready();
    }
  }
  return poll(what);
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
