// SPDX-License-Identifier: MIT
// lockstep/detail/wait/wait_engine.hpp -- how a thread waits until something is ready (layer: wait)
//
// One loop for all objects of the library: spin for a time, then wait in the processor where it can, then yield while
// that helps, then sleep in the kernel. What is waited for is a Waitable:
//     bool ready() noexcept              looks, with acquire order; never blocks. It may take what it finds,
//                                        since nobody looks again after it returned true
//     void sleep(deadline until)         announces a sleeper, looks again, sleeps; may return at any time
//     unsigned pauses() noexcept         optional: how long to pause before the next look, if not once. The
//                                        pauses are part of the time that is spun
//     bool is_separated(uint64_t now)    optional: whether the thread that will make it ready runs on another
//                                        CPU. Asked after the spin, unless the policy is crowded
//     const void* line() const noexcept  optional: the word by whose change it usually gets ready, aligned to 4 bytes
//     void describe(wait_subject& to)    optional: what it is, for observers (hooks.hpp)
// published_words.hpp and word_waiter.hpp have the two usual ones, and the notifier's side of each.
//
//   WAIT-1  wait() returns true only after ready() was true, false only after the deadline.
//   WAIT-2  wait() sleeps only through Waitable::sleep, which looks again after it has announced itself:
//           no wake-up can be lost between the last look and the sleep.
//   WAIT-3  Where the processor can wait for a line (processor_wait.hpp), it does so between looks, from spin_budget on
//           to the end of what is spun: it arms, looks, waits, looks again. No such wait lasts longer than what is left
//           to the stage's end or the deadline, nor than longest_line_wait, after which a stop on another line is seen.
//           Waits of a crowd, and for locks that are not queued for, never do.
//   WAIT-4  A thread that has a pulse (wait_pulse) calls it once an interval while it waits, from one interval after it has
//           begun to sleep on. No call is made within sleep(), nor by a wait that the call begins.
//
// What a waiter has learned from its last waits is its wait_history: plain data, one thread uses it at a
// time, and zero bits mean "no doubt". It answers two questions for an adaptive wait:
//   Does spinning pay?  Not when the awaited thread needs our CPU, and not when waits are long.
//   Does yielding pay?  Not when a stranger takes the CPU and keeps it for its whole time slice; nor, in
//                       queues, when waits are long.
// Each is asked anew now and then, because the machine changes.
//
// Cost   ready at once: one look. Uncrowded: polls, no system call for spin_budget, and line_budget. Crowded: a yield is
//        0.5 us alone, 1.4 us with a switch; a sleep and wake 2 us on one CPU, 15 to 35 us across.
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
#ifndef LOCKSTEP_DETAIL_WAIT_WAIT_ENGINE_HPP
#define LOCKSTEP_DETAIL_WAIT_WAIT_ENGINE_HPP

#include <chrono>
#include <cstdint>

#include "../../wait_policy.hpp"
#include "../observe/hooks.hpp"
#include "../platform/config.hpp"
#include "../platform/system.hpp"
#include "any_waitable.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// How far a stage of a wait is trusted: waits that it ended speak for it, other waits against it.
class backoff_trust {
 public:
  /// True if the stage should be tried in this wait: it is trusted, or it is time for another look.
  bool asks() noexcept {
    if (doubt_ < limit) return true;
    skipped_ = static_cast<std::uint8_t>((skipped_ + 1) % probe_interval);
    return skipped_ == 0;
  }
  void paid() noexcept { doubt_ = static_cast<std::uint8_t>(doubt_ / 2); }
  /// The same where it was measured: so many in a row make it sure.
  void paid_measurably() noexcept {
    paid();
    if (doubt_ == 0 && skipped_ < sure) ++skipped_;
  }
  void failed() noexcept {
    if (doubt_ == limit) return;
    ++doubt_;
    skipped_ = 0;
  }
  /// One failure that is as bad as many.
  void failed_badly() noexcept {
    if (doubt_ < limit) skipped_ = 0;  // else it counts the waits until the next probe
    doubt_ = limit;
  }
  /// Whether a wait may go through the stage without a measurement: it is sure to pay, and one wait in 8 is measured.
  bool goes_unmeasured() noexcept {
    if (doubt_ != 0 || skipped_ < sure) return false;
    skipped_ = static_cast<std::uint8_t>(skipped_ + 1);
    if (skipped_ < sure + measure_interval) return true;
    skipped_ = sure;
    return false;
  }

 private:
  // 4 failures in a row stop a stage, one success in a probe starts it again. A probe that fails costs
  // at most spin_budget (2 us) in 64 waits, 30 ns a wait.
  static constexpr std::uint8_t limit = 4;
  static constexpr std::uint8_t probe_interval = 64;
  static constexpr std::uint8_t sure = 16;
  static constexpr std::uint8_t measure_interval = 8;

  std::uint8_t doubt_ = 0;
  /// Trusted: successes in a row, up to `sure`, and waits since a measurement. Else waits since the last probe.
  std::uint8_t skipped_ = 0;
};

struct wait_history {
  backoff_trust spinning;
  backoff_trust yielding;
};

/// What the calling thread has learned, for objects that keep no history of each waiter.
inline wait_history& this_thread_history() noexcept {
  return per_thread<wait_history, struct name_of_history>();
}

/// The same for its waits in queues (parking_lot.hpp). There a wait that ends in a sleep speaks against
/// yielding. A wait on a word does not: in a crowd, barriers and rings need their yields all the same.
inline wait_history& this_thread_history_in_queues() noexcept {
  return per_thread<wait_history, struct name_of_queue_history>();
}

static_assert(sizeof(wait_history) == 4, "small objects hold a history");

/// What the calling thread does now and then while it waits for anything, in a wait that lasts: for languages that look for
/// signals on one thread (the C interface has lockstep_poll_while_waiting). It may stop the region that it waits in.
struct wait_pulse {
  void (*call)(void* context);
  void* context;
  std::uint64_t interval;  ///< in nanoseconds, from the time at which the wait begins to sleep

  /// Null: none. It outlives the waits of the thread.
  static const wait_pulse*& of_this_thread() noexcept {
    return per_thread<const wait_pulse*, struct name_of_pulse>();
  }
};

class wait_engine {
 public:
  /// How long a wait yields at most, in nanoseconds, where it shares its notification with others, and
  /// where it has one for itself.
  static constexpr std::uint64_t shared_yield_time = 400000;
  static constexpr std::uint64_t single_yield_time = 80000;

  /// Waits until `what.ready()`. Returns false if `until` came first.
  template <class Waitable>
  static bool wait(Waitable& what, wait_policy policy, wait_history& history,
                   deadline until = deadline::never(),
                   std::uint64_t yield_time = shared_yield_time) {
    return what.ready() || wait_slowly(what, policy, history, until, yield_time);
  }
  /// The same for a caller that has looked, in vain.
  template <class Waitable>
  LOCKSTEP_NOINLINE static bool wait_slowly(Waitable& what, wait_policy policy,
                                            wait_history& history,
                                            deadline until = deadline::never(),
                                            std::uint64_t yield_time = shared_yield_time) {
    if (policy.is_crowded() && until.is_never() && ends_in_first_yields(what, history)) return true;
    const bool spins = begins_with_spin(policy, history);
    return (spins && ends_in_first_poll(what, policy, history)) ||
           wait_long(any_waitable::of(what), policy, history, until, yield_time, spins);
  }

  /// The stages of wait() before the sleep; true if it got ready in them. For locks, whose waiters then queue
  /// up. block() skips these stages. spin() spins for the default's time.
  template <class Waitable>
  static bool wait_awake(Waitable& what, wait_policy policy, wait_history& history,
                         deadline until = deadline::never(),
                         std::uint64_t yield_time = single_yield_time) {
    if (what.ready()) return true;
    return !policy.is_block() && wait_awake_slowly(what, policy, history, until, yield_time);
  }

  /// For waits that spin in a way of their own: wait() without a spin, for a crowded policy.
  LOCKSTEP_ONCE static bool wait_without_spin(any_waitable what, wait_policy policy,
                                              wait_history& history, observed_wait& seen);

  /// Looks for a time of `most` nanoseconds or less, and once at least: where the processor waits for lines, and `most`
  /// is enough for that, by such a wait, else by poll().
  LOCKSTEP_ONCE static bool poll_for(any_waitable what, std::uint64_t most);

  /// Looks for the time between two looks at the clock.
  template <class Waitable>
  static bool poll(Waitable& what) {
    for (unsigned paused = 0; paused < pauses_per_look_at_clock;) {
      const unsigned pauses = optional_parts::pauses(what, 0);
      for (unsigned i = 0; i < pauses; ++i) polling_pause();
      if (what.ready()) return true;
      paused += pauses;
    }
    return false;
  }

 private:
  static constexpr std::uint64_t spin_budget = 2000;
  static constexpr std::uint64_t far_budget = 50000;
  static constexpr std::uint64_t line_budget = 8000;
  static constexpr std::uint64_t longest_line_wait = 10000;
  static constexpr unsigned yield_limit = 64;
  static constexpr unsigned unmeasured_yields = 6;
  static constexpr std::uint64_t long_yield = 2000000;
  static constexpr unsigned pauses_per_look_at_clock = 16;

  template <class Waitable>
  LOCKSTEP_NOINLINE static bool wait_awake_slowly(Waitable& what, wait_policy policy,
                                                  wait_history& history, deadline until,
                                                  std::uint64_t yield_time) {
    const bool spins = begins_with_spin(policy, history);
    return (spins && ends_in_first_poll(what, policy, history)) ||
           wait_long_awake(any_waitable::of(what), policy, history, until, yield_time, spins);
  }

  /// The first poll, which ends most waits that a look does not, knows the type of what it looks at. It goes without a
  /// look at the clock, which costs as much as one pause; but not where a poll may last.
  template <class Waitable>
  static bool ends_in_first_poll(Waitable& what, wait_policy policy, wait_history& history) {
    return !optional_parts::has_pauses<Waitable>(0) && poll(what) && note_spin(policy, history);
  }
  /// The first yields of a crowd, which end most of its waits, in the same way.
  template <class Waitable>
  static bool ends_in_first_yields(Waitable& what, wait_history& history) {
    if (observers() != 0 || !history.yielding.goes_unmeasured()) return false;
    for (unsigned i = 0; i < unmeasured_yields; ++i) {
      yield_thread();
      if (what.ready()) return true;
    }
    return false;
  }
  LOCKSTEP_NOINLINE LOCKSTEP_ONCE static bool begins_with_spin(wait_policy policy,
                                                               wait_history& history);
  static bool note_spin(wait_policy policy, wait_history& history) noexcept {
    if (policy.is_adaptive()) history.spinning.paid();
    return true;
  }

  /// What follows the first poll; `spins` says whether there was one, or was to be.
  LOCKSTEP_ONCE static bool wait_long(any_waitable what, wait_policy policy, wait_history& history,
                                      deadline until, std::uint64_t yield_time, bool spins);
  LOCKSTEP_ONCE static bool wait_long_awake(any_waitable what, wait_policy policy,
                                            wait_history& history, deadline until,
                                            std::uint64_t yield_time, bool spins);
  LOCKSTEP_ONCE static bool wait_seen(any_waitable what, wait_policy policy, wait_history& history,
                                      deadline until, std::uint64_t yield_time, bool spins,
                                      observed_wait& seen);
  LOCKSTEP_ONCE static bool wait_seen_awake(any_waitable what, wait_policy policy,
                                            wait_history& history, deadline until,
                                            std::uint64_t yield_time, bool spins,
                                            observed_wait& seen);
  /// Polls for `budget` nanoseconds, and at most one poll longer: with pauses for spin_budget, then by poll_for().
  LOCKSTEP_ONCE static bool spin(any_waitable what, std::uint64_t budget, deadline until);
  /// How long an adaptive wait spins.
  static std::uint64_t budget_of(any_waitable what) {
    return shortest_line_wait() < line_budget && what.line() != nullptr ? spin_budget + line_budget
                                                                        : spin_budget;
  }
  static std::uint64_t smaller(std::uint64_t a, std::uint64_t b) noexcept { return a < b ? a : b; }
  /// The sleep of a thread that has a pulse; with spin() the whole wait.
  LOCKSTEP_ONCE static bool wait_with_pulse(any_waitable what, bool spins, deadline until);
  /// Gives the CPU to others while that helps.
  LOCKSTEP_ONCE static bool yield(any_waitable what, backoff_trust& trust, deadline until,
                                  std::uint64_t yield_time);
};

#if LOCKSTEP_HAS_BODIES

bool wait_engine::begins_with_spin(wait_policy policy, wait_history& history) {
  if (policy.is_crowded() || policy.is_block()) return false;
  return !policy.is_adaptive() || (cpus_for_waits() > 1 && history.spinning.asks());
}

bool wait_engine::wait_without_spin(any_waitable what, wait_policy policy, wait_history& history,
                                    observed_wait& seen) {
  return what.ready() || wait_seen(what, policy.when_crowded(true), history, deadline::never(),
                                   shared_yield_time, false, seen);
}

bool wait_engine::wait_long(any_waitable what, wait_policy policy, wait_history& history,
                            deadline until, std::uint64_t yield_time, bool spins) {
  observed_wait seen(what);
  return wait_seen(what, policy, history, until, yield_time, spins, seen);
}

bool wait_engine::wait_long_awake(any_waitable what, wait_policy policy, wait_history& history,
                                  deadline until, std::uint64_t yield_time, bool spins) {
  observed_wait seen(what);
  return wait_seen_awake(what, policy, history, until, yield_time, spins, seen);
}

bool wait_engine::wait_seen(any_waitable what, wait_policy policy, wait_history& history,
                            deadline until, std::uint64_t yield_time, bool spins,
                            observed_wait& seen) {
  if (policy.is_spin()) {
    return wait_pulse::of_this_thread() != nullptr ? wait_with_pulse(what, true, until)
                                                   : spin(what, no_deadline, until) || what.ready();
  }
  if (!policy.is_block() &&
      wait_seen_awake(what, policy, history, until, yield_time, spins, seen)) {
    return true;
  }
  seen.enter(wait_stage::sleep);
  if (LOCKSTEP_UNLIKELY(wait_pulse::of_this_thread() != nullptr)) {
    return wait_with_pulse(what, false, until);
  }
  while (!what.ready()) {
    if (!until.is_never() && until.is_past(monotonic_nanoseconds())) return what.ready();
    what.sleep(until);
  }
  return true;
}

bool wait_engine::wait_with_pulse(any_waitable what, bool spins, deadline until) {
  const wait_pulse*& own = wait_pulse::of_this_thread();
  const wait_pulse* const pulse = own;
  std::uint64_t now = monotonic_nanoseconds();
  while (!what.ready()) {
    if (until.is_past(now)) return what.ready();
    const deadline next =
        deadline::after(std::chrono::nanoseconds(static_cast<std::int64_t>(pulse->interval)));
    const deadline end = next.nanoseconds() < until.nanoseconds() ? next : until;
    while (!what.ready() && !end.is_past(now)) {
      if (!spins) {
        what.sleep(end);
      } else if (spin(what, no_deadline, end)) {
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

bool wait_engine::wait_seen_awake(any_waitable what, wait_policy policy, wait_history& history,
                                  deadline until, std::uint64_t yield_time, bool spins,
                                  observed_wait& seen) {
  if (policy.is_spin()) return spin(what, spin_budget, until);
  if (policy.is_hybrid()) {
    const std::uint64_t budget = static_cast<std::uint64_t>(policy.spin_time().count());
    if (spins && spin(what, budget, until)) return true;
    seen.enter(wait_stage::yield);
    return yield(what, history.yielding, until, yield_time);
  }
  if (spins) {
    if (spin(what, budget_of(what), until)) return note_spin(policy, history);
    history.spinning.failed();
  }
  const bool is_separated = !policy.is_crowded() && what.ask_where();
  if (history.yielding.asks()) {
    seen.enter(wait_stage::yield);
    return yield(what, history.yielding, until, yield_time);
  }
  return is_separated && ((!what.has_pauses() && poll(what)) || spin(what, far_budget, until));
}

bool wait_engine::poll_for(any_waitable what, std::uint64_t most) {
  if (LOCKSTEP_UNLIKELY(shortest_line_wait() < most)) {
    if (const void* const line = what.line()) {
      arm_line(line);
      if (what.ready()) return true;
      wait_on_line(smaller(most, longest_line_wait));
      return what.ready();
    }
  }
  return poll(what);
}

bool wait_engine::spin(any_waitable what, std::uint64_t budget, deadline until) {
  if (budget == no_deadline && until.is_never() && shortest_line_wait() == no_deadline) {
    while (!poll(what)) continue;
    return true;
  }
  const std::uint64_t start = monotonic_nanoseconds();
  std::uint64_t now = start;
  while (now - start < budget && !until.is_past(now)) {
    const std::uint64_t spun = now - start;
    const std::uint64_t left = smaller(budget - spun, until.nanoseconds() - now);
    if (spun < spin_budget ? poll(what) : poll_for(what, left)) return true;
    now = monotonic_nanoseconds();
  }
  return false;
}

bool wait_engine::yield(any_waitable what, backoff_trust& trust, deadline until,
                        std::uint64_t yield_time) {
  const std::uint64_t start = monotonic_nanoseconds();
  std::uint64_t before = start;
  for (unsigned i = 0; i < yield_limit && !until.is_past(before); ++i) {
    yield_thread();
    const std::uint64_t after = monotonic_nanoseconds();
    if (after - before > long_yield) {
      trust.failed_badly();
      return what.ready();
    }
    if (what.ready()) {
      trust.paid_measurably();
      return true;
    }
    if (after - start > yield_time) return false;
    before = after;
  }
  return false;
}

#endif

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_WAIT_WAIT_ENGINE_HPP
