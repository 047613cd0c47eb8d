// SPDX-License-Identifier: MIT
// lockstep/detail/wait/wait_engine.hpp -- how a thread waits until something is ready (layer: wait)
//
// One ladder for all objects of the library: polls for a time, then waits in the processor where it can, then yields while
// that helps, then sleeps in the kernel. Only the first look is compiled for each kind of wait; the ladder, its budgets
// and their figures are in src/wait/wait_engine.cpp.
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
// Cost   ready at once: one look. Uncrowded: polls, no system call for spin_budget, and line_budget. Crowded: a yield is
//        0.5 us alone, 1.4 us with a switch; a sleep and wake 2 us on one CPU, 15 to 35 us across.
#ifndef LOCKSTEP_DETAIL_WAIT_WAIT_ENGINE_HPP
#define LOCKSTEP_DETAIL_WAIT_WAIT_ENGINE_HPP

#include <cstdint>

#include <lockstep/detail/observe/wait_kinds.hpp>
#include <lockstep/detail/platform/config.hpp>
#include <lockstep/detail/platform/system.hpp>
#include <lockstep/detail/wait/wait_history.hpp>
#include <lockstep/wait_policy.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

class observed_wait;

/// What is waited for. A Waitable is derived from this, and hides what it has:
struct waitable {
  // bool ready() noexcept        looks, with acquire order; never blocks. It may take what it finds, since nobody looks
  //                              again after it returned true. Every Waitable has it.

  /// Announces a sleeper, looks again, sleeps; may return at any time. Not called by wait_awake().
  void sleep(deadline) noexcept {}
  /// True: pauses() says how long to pause before the next look, if not once. The pauses are part of the time that is spun.
  static constexpr bool has_pauses = false;
  unsigned pauses() noexcept { return 1; }
  /// The word by whose change it usually gets ready, aligned to 4 bytes; or null.
  const void* line() const noexcept { return nullptr; }
  /// Whether the thread that will make it ready runs on another CPU. Asked after the spin, unless the policy is crowded.
  bool is_separated() noexcept { return false; }
  /// What it is, for observers (hooks.hpp).
  void describe(wait_subject&) const noexcept {}
};

/// What predicates and places tell observers, if they have describe().
template <class Part>
auto describe_part(const Part& part, wait_subject& to, int) noexcept
    -> decltype(part.describe(to)) {
  part.describe(to);
}
template <class Part>
void describe_part(const Part&, wait_subject&, long) noexcept {}

/// A Waitable whose type is forgotten: all but the first look of a wait is there once for all of them. Valid as long as the
/// Waitable.
class any_waitable {
 public:
  template <class Waitable>
  static any_waitable of(Waitable& what) noexcept {
    return any_waitable(&what, functions_of<Waitable>::table);
  }

  bool ready() const { return how_->ready(what_); }
  void sleep(deadline until) const { how_->sleep(what_, until); }
  bool has_pauses() const noexcept { return how_->has_pauses; }
  unsigned pauses() const { return has_pauses() ? how_->pauses(what_) : 1; }
  const void* line() const { return how_->line(what_); }
  bool is_separated() const { return how_->is_separated(what_); }
  /// For observed_wait.
  wait_subject subject() const noexcept {
    wait_subject result = {};
    result.object = result.sleeps_on = what_;
    result.awaited = wait_subject::nobody;
    how_->describe(what_, result);
    return result;
  }

 private:
  struct functions {
    bool (*ready)(void*);
    void (*sleep)(void*, deadline);
    unsigned (*pauses)(void*);
    const void* (*line)(const void*);
    bool (*is_separated)(void*);
    void (*describe)(const void*, wait_subject&);
    bool has_pauses;
  };

  template <class Waitable>
  struct functions_of {
    static Waitable& at(void* what) noexcept { return *static_cast<Waitable*>(what); }
    static const Waitable& at(const void* what) noexcept {
      return *static_cast<const Waitable*>(what);
    }
    static bool ready(void* what) { return at(what).ready(); }
    static void sleep(void* what, deadline until) { at(what).sleep(until); }
    static unsigned pauses(void* what) { return at(what).pauses(); }
    static const void* line(const void* what) { return at(what).line(); }
    static bool is_separated(void* what) { return at(what).is_separated(); }
    static void describe(const void* what, wait_subject& to) { at(what).describe(to); }

    static const functions table;
  };

  any_waitable(void* what, const functions& how) noexcept : what_(what), how_(&how) {}

  void* what_;
  const functions* how_;
};

template <class Waitable>
const any_waitable::functions any_waitable::functions_of<Waitable>::table = {
    &functions_of::ready, &functions_of::sleep,        &functions_of::pauses,
    &functions_of::line,  &functions_of::is_separated, &functions_of::describe,
    Waitable::has_pauses};

/// What the calling thread has learned, for objects that keep no history of each waiter.
wait_history& this_thread_history() noexcept;
/// The same for its waits in queues (parking_lot.hpp). There a wait that ends in a sleep speaks against
/// yielding. A wait on a word does not: in a crowd, barriers and rings need their yields all the same.
wait_history& this_thread_history_in_queues() noexcept;

/// What the calling thread does now and then while it waits for anything, in a wait that lasts: for languages that look for
/// signals on one thread (the C interface has lockstep_poll_while_waiting). It may stop the region that it waits in.
struct wait_pulse {
  void (*call)(void* context);
  void* context;
  std::uint64_t interval;  ///< in nanoseconds, from the time at which the wait begins to sleep

  /// Null: none. It outlives the waits of the thread.
  static const wait_pulse*& of_this_thread() noexcept;
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
  /// The same after the first look.
  template <class Waitable>
  LOCKSTEP_NOINLINE static bool wait_slowly(Waitable& what, wait_policy policy,
                                            wait_history& history,
                                            deadline until = deadline::never(),
                                            std::uint64_t yield_time = shared_yield_time) {
    const way now = begin(policy, until, history);
    if (!Waitable::has_pauses && now == way::polls && first_poll(what)) {
      return note_poll(policy, history);
    }
    return wait_long(any_waitable::of(what), policy, history, until, yield_time, now);
  }
  /// Looks for the time between two looks at the clock. The first poll ends most waits that a look does not, so it is
  /// compiled for each kind of them. It goes without a look at the clock, which costs as much as one pause. It begins with
  /// some looks without a pause: where a line takes 20 ns, barrier and latch of 2 threads take 0.8 of the time so.
  template <class Waitable>
  static bool first_poll(Waitable& what) {
    for (unsigned i = 0; i < looks_at_once; ++i) {
      if (what.ready()) return true;
    }
    for (unsigned i = 0; i < pauses_per_poll; ++i) {
      polling_pause();
      if (what.ready()) return true;
    }
    return false;
  }

  /// The stages of wait() before the sleep, after a look in vain; true if it got ready in them. For locks, whose waiters
  /// then queue up. block() skips these stages. spin() spins for the default's time.
  static bool wait_awake(any_waitable what, wait_policy policy, wait_history& history,
                         deadline until = deadline::never(),
                         std::uint64_t yield_time = single_yield_time);

  /// For waits that spin in a way of their own: wait() without a spin, for a crowded policy.
  static bool wait_without_spin(any_waitable what, wait_policy policy, wait_history& history,
                                observed_wait& seen);
  /// Looks for the time between two looks at the clock.
  static bool poll(any_waitable what);
  /// Looks for a time of `most` nanoseconds or less, and once at least: where the processor waits for lines, and `most`
  /// is enough for that, by such a wait, else by poll().
  static bool poll_for(any_waitable what, std::uint64_t most);

 private:
  static constexpr unsigned pauses_per_poll = 16, looks_at_once = 4;
  /// How a wait begins.
  enum class way { polls, yields_unmeasured, neither };

  static way begin(wait_policy policy, deadline until, wait_history& history);
  static bool note_poll(wait_policy policy, wait_history& history) noexcept {
    if (policy.is_adaptive()) history.spinning.paid();
    return true;
  }
  static bool wait_long(any_waitable what, wait_policy policy, wait_history& history,
                        deadline until, std::uint64_t yield_time, way now);
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_WAIT_WAIT_ENGINE_HPP
