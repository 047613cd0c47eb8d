// SPDX-License-Identifier: MIT
// lockstep/detail/wait/wait_engine.hpp -- how a thread waits until something is ready (layer: wait)
//
// One loop for all objects of the library: spin for a time, then yield while that helps, then sleep in
// the kernel. What is waited for is a Waitable:
//     bool ready() noexcept              looks, with acquire order; never blocks. It may take what it finds,
//                                        since nobody looks again after it returned true
//     void sleep(deadline until)         announces a sleeper, looks again, sleeps; may return at any time
//     unsigned pauses() noexcept         optional: how long to pause before the next look, if not once. The
//                                        pauses are part of the time that is spun
//     bool is_elsewhere(uint64_t now)    optional: whether the thread that will make it ready runs on another
//                                        CPU. Asked after the spin, unless the policy is crowded
// published_words.hpp and word_waiter.hpp have the two usual ones, and the notifier's side of each.
//
//   WAIT-1  wait() returns true only after ready() was true, false only after the deadline.
//   WAIT-2  wait() sleeps only through Waitable::sleep, which looks again after it has announced itself:
//           no wake-up can be lost between the last look and the sleep.
//
// What a waiter has learned from its last waits is its wait_history: plain data, one thread uses it at a
// time, and zero bits mean "no doubt". It answers two questions for an adaptive wait:
//   Does spinning pay?  Not when the awaited thread needs our CPU, and not when waits are long.
//   Does yielding pay?  Not when a stranger takes the CPU and keeps it for its whole time slice; nor, in
//                       queues, when waits are long.
// Each is asked anew now and then, because the machine changes.
//
// Cost   ready at once: one look. Uncrowded: polls, no system call for spin_budget. Crowded: a yield is
//        0.5 us alone, 1.4 us with a switch; a sleep and wake 2 us on one CPU, 15 to 35 us across.
//
// Tuning (2 virtual CPUs of an EPYC, kernel 6.18; bench/sync, bench/team)
//   spin_budget   2 us: longer spins cost a whole budget a wait when both threads share a CPU, and end
//                 few waits more; a 50 us spin made such a fork/join 100 us. Nor do locks want more: 64
//                 threads that hold a mutex for 0.1 us take it in 0.21 us each with 2 us, 0.22 with 10,
//                 0.24 with 50; 2 and 4 threads do not care (0.20 us).
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
//   far_budget    50 us, in place of yields where those went to a stranger, while the other thread is known to
//                 have a CPU of its own. It is more than a wake-up takes: two threads that have begun to sleep and
//                 wake each other stop doing so. Beside two busy processes a fork/join of 2 takes 0.4 us so and
//                 15 without, a barrier 0.17 and 40.
#ifndef LOCKSTEP_DETAIL_WAIT_WAIT_ENGINE_HPP
#define LOCKSTEP_DETAIL_WAIT_WAIT_ENGINE_HPP

#include <cstdint>

#include "../../wait_policy.hpp"
#include "../platform/config.hpp"
#include "../platform/system.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// How far a stage of a wait is trusted: waits that it ended speak for it, other waits against it.
class stage_trust {
 public:
  /// True if the stage should be tried in this wait: it is trusted, or it is time for another look.
  bool asks() noexcept {
    if (doubt_ < limit) return true;
    skipped_ = static_cast<std::uint8_t>((skipped_ + 1) % probe_interval);
    return skipped_ == 0;
  }
  void paid() noexcept { doubt_ = static_cast<std::uint8_t>(doubt_ / 2); }
  void failed() noexcept {
    if (doubt_ < limit) ++doubt_;
  }
  /// One failure that is as bad as many.
  void failed_badly() noexcept { doubt_ = limit; }

 private:
  // 4 failures in a row stop a stage, one success in a probe starts it again. A probe that fails costs
  // at most spin_budget (2 us) in 64 waits, 30 ns a wait.
  static constexpr std::uint8_t limit = 4;
  static constexpr std::uint8_t probe_interval = 64;

  std::uint8_t doubt_ = 0;
  std::uint8_t skipped_ = 0;
};

struct wait_history {
  stage_trust spinning;
  stage_trust yielding;
};

/// What the calling thread has learned, for objects that keep no history of each waiter.
inline wait_history& this_thread_history() noexcept {
  return detail::per_thread<wait_history, struct name_of_history>();
}

/// The same for its waits in queues (parking_lot.hpp). There a wait that ends in a sleep speaks against
/// yielding. A wait on a word does not: in a crowd, barriers and rings need their yields all the same.
inline wait_history& this_thread_history_in_queues() noexcept {
  return detail::per_thread<wait_history, struct name_of_queue_history>();
}

static_assert(sizeof(wait_history) == 4, "small objects hold a history");

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

  /// The stages of wait() before the sleep; true if it got ready in them. For locks, whose waiters then queue
  /// up. block() skips these stages. spin() spins for the default's time.
  template <class Waitable>
  static bool wait_awake(Waitable& what, wait_policy policy, wait_history& history,
                         deadline until = deadline::never(),
                         std::uint64_t yield_time = single_yield_time) {
    if (what.ready()) return true;
    if (policy.is_block()) return false;
    if (policy.is_spin()) return spin(what, spin_budget, until);
    return wait_awake_slowly(what, policy, history, until, yield_time);
  }

  /// For waits that yield in a way of their own: to be called before.
  template <class Waitable>
  static bool ask_where(Waitable& what) {
    return ask_where(what, 0);
  }

 private:
  static constexpr std::uint64_t spin_budget = 2000;
  static constexpr std::uint64_t far_budget = 50000;
  static constexpr unsigned yield_limit = 64;
  static constexpr std::uint64_t long_yield = 2000000;
  static constexpr unsigned pauses_per_look_at_clock = 16;

  template <class Waitable>
  LOCKSTEP_NOINLINE static bool wait_slowly(Waitable& what, wait_policy policy,
                                            wait_history& history, deadline until,
                                            std::uint64_t yield_time) {
    if (policy.is_spin()) return spin(what, detail::no_deadline, until) || what.ready();
    if (!policy.is_block() && wait_awake_slowly(what, policy, history, until, yield_time))
      return true;
    return sleep(what, until);
  }

  template <class Waitable>
  static bool wait_awake_slowly(Waitable& what, wait_policy policy, wait_history& history,
                                deadline until, std::uint64_t yield_time) {
    if (policy.is_hybrid()) {
      const std::uint64_t budget = static_cast<std::uint64_t>(policy.spin_time().count());
      return (!policy.is_crowded() && spin(what, budget, until)) ||
             yield(what, history.yielding, until, yield_time);
    }
    const bool may_spin = !policy.is_crowded() && detail::cpus_for_waits() > 1;
    if (may_spin && history.spinning.asks()) {
      if (spin(what, spin_budget, until)) {
        history.spinning.paid();
        return true;
      }
      history.spinning.failed();
    }
    const bool is_elsewhere = !policy.is_crowded() && ask_where(what);
    if (history.yielding.asks()) return yield(what, history.yielding, until, yield_time);
    return is_elsewhere && spin(what, far_budget, until);
  }

  /// Polls for `budget` nanoseconds, and at most one poll longer. The first poll goes without a look at
  /// the clock, which costs as much as one pause; but not where a poll may last.
  template <class Waitable>
  static bool spin(Waitable& what, std::uint64_t budget, deadline until) {
    if (polls_first(what, 0) && poll(what)) return true;
    if (budget == detail::no_deadline && until.is_never()) {
      while (!poll(what)) continue;
      return true;
    }
    const std::uint64_t start = detail::monotonic_nanoseconds();
    std::uint64_t now = start;
    while (now - start < budget && !until.is_past(now)) {
      if (poll(what)) return true;
      now = detail::monotonic_nanoseconds();
    }
    return false;
  }

  template <class Waitable>
  static bool poll(Waitable& what) {
    for (unsigned paused = 0; paused < pauses_per_look_at_clock;) {
      const unsigned pauses = pauses_before_look(what, 0);
      for (unsigned i = 0; i < pauses; ++i) detail::polling_pause();
      if (what.ready()) return true;
      paused += pauses;
    }
    return false;
  }

  template <class Waitable>
  static auto ask_where(Waitable& what, int) -> decltype(what.is_elsewhere(std::uint64_t())) {
    return what.is_elsewhere(detail::monotonic_nanoseconds());
  }
  template <class Waitable>
  static constexpr bool ask_where(Waitable&, long) {
    return false;
  }

  template <class Waitable>
  static constexpr auto polls_first(Waitable& what, int) -> decltype(what.pauses(), bool()) {
    return false;
  }
  template <class Waitable>
  static constexpr bool polls_first(Waitable&, long) {
    return true;
  }

  template <class Waitable>
  static auto pauses_before_look(Waitable& what, int) -> decltype(what.pauses()) {
    return what.pauses();
  }
  template <class Waitable>
  static constexpr unsigned pauses_before_look(Waitable&, long) {
    return 1;
  }

  /// Gives the CPU to others while that helps.
  template <class Waitable>
  static bool yield(Waitable& what, stage_trust& trust, deadline until, std::uint64_t yield_time) {
    const std::uint64_t start = detail::monotonic_nanoseconds();
    std::uint64_t before = start;
    for (unsigned i = 0; i < yield_limit && !until.is_past(before); ++i) {
      detail::yield_thread();
      const std::uint64_t after = detail::monotonic_nanoseconds();
      if (after - before > long_yield) {
        trust.failed_badly();
        return what.ready();
      }
      if (what.ready()) {
        trust.paid();
        return true;
      }
      if (after - start > yield_time) return false;
      before = after;
    }
    return false;
  }

  template <class Waitable>
  static bool sleep(Waitable& what, deadline until) {
    while (!what.ready()) {
      if (!until.is_never() && until.is_past(detail::monotonic_nanoseconds())) return what.ready();
      what.sleep(until);
    }
    return true;
  }
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_WAIT_WAIT_ENGINE_HPP
