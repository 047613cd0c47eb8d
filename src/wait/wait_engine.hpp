// SPDX-License-Identifier: MIT
// src/wait/wait_engine.hpp -- how a thread waits until something is ready (layer: wait)
//
// One ladder for all objects of the library: a waiter polls for a time, then yields while that helps, then sleeps in
// the kernel. Only the first look and the first poll are compiled for each kind of wait.
//
//   WAIT-1  wait() returns true only after ready() was true, false only after the deadline `until`: a time of
//           monotonic_nanoseconds(), or no_deadline.
//   WAIT-2  wait() sleeps only through Waitable::sleep, which looks again after it has announced the sleeper:
//           no wake-up can be lost between the last look and the sleep.
//   WAIT-4  A thread with a pulse (wait_pulse) calls it once an interval on the last rung, first one interval after
//           that rung began. The call is made outside of sleep(). A wait within the call makes no such calls.
//
// Cost   ready at once: one look. Uncrowded: polls, no system call for spin_budget. Crowded: a yield is
//        0.5 us alone, 1.4 us with a switch; a sleep and wake 2 us on one CPU, 15 to 35 us across.
//
// Tuning (2 virtual CPUs of an EPYC, kernel 6.18; bench/ring, bench/team)
//   spin_budget   2 us. When both threads share a CPU, each wait loses the whole budget: with 50 us such a
//                 fork/join took 100 us. A longer spin ends few waits more. Locks gain nothing either: 64
//                 threads that hold a mutex for 0.1 us take it in 0.21 us each with 2 us, 0.22 with 10,
//                 0.24 with 50. For 2 and 4 threads it makes no difference (0.20 us).
//   large_budget  200 us, for waits for the next region and for reports in teams of more than 8 that are not crowded. If
//                 one member has no CPU for 0.1 ms, 15 others wait. If they sleep or yield meanwhile, they are woken
//                 onto CPUs that others have, and members that share a CPU make all wait again: regions of 16 took 9 us
//                 and more for 0.2 s (docs/maintainers/decisions/0066). Four longer waits in a row, and it is 2 us.
//   yield_limit   64: about 32 us alone, which is what the sleep would have cost (the 2-competitive
//                 choice); crowded, one to three yields end nearly every wait. Where all members of a large team
//                 wait for the last, their sleeps cost more: each pays for a process-wide fence that interrupts
//                 every CPU (10 us on 16), which makes others late, and they sleep, too. On 16 CPUs some barriers of
//                 16 took 70 to 130 us instead of 0.9. Such a wait has no limit but yield_time; the longest barrier
//                 took 2.1 us then. A spin of 50 us does the same on an idle machine; beside four busy processes
//                 a barrier takes 32 us with it, and 5 with yields.
//                 A thread that is being woken comes after 40 to 80 us, and where the host is slow to give a CPU back
//                 after 500 to 1000. If the thread that woke it sleeps meanwhile, that one has to be woken, too,
//                 and so on for ever: barriers of two took 1.1 ms. So who has woken another yields without a limit
//                 for 2 ms (docs/maintainers/decisions/0075).
//                 A wait that yields for 80 us at most has no such limit. On 16 CPUs a ring of 8 events is a wait of 1.2 us. Once
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
#ifndef LOCKSTEP_SRC_WAIT_WAIT_ENGINE_HPP
#define LOCKSTEP_SRC_WAIT_WAIT_ENGINE_HPP

#include <cstdint>

#include <lockstep/call_site.hpp>
#include <lockstep/detail/observe/wait_kinds.hpp>
#include <lockstep/detail/platform/config.hpp>
#include <lockstep/detail/wait/misuse.hpp>
#include <lockstep/detail/wait/waiters.hpp>
#include <lockstep/wait_policy.hpp>
#include "../base/numbers.hpp"
#include "../observe/hooks.hpp"
#include "../platform/system.hpp"
#include "member_pace.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// What is waited for, and how.
class waitable {
 public:
  /// How long a wait yields at most, in nanoseconds: where one notification releases many waiters, and where it
  /// releases one.
  static constexpr std::uint64_t shared_yield_time = 400000, single_yield_time = 80000;

  explicit waitable(source_place from = source_place(),
                    std::uint64_t most = shared_yield_time) noexcept
      : called_at(from),
        yield_time(most),
        yield_limit(most > single_yield_time ? usual_yield_limit : no_yield_limit) {}

  /// Looks, with acquire order; never blocks. It may take what it finds: after true, the engine does not look again.
  virtual bool ready() = 0;
  /// Announces a sleeper, looks again, sleeps; may return at any time. The engine never calls it with spin().
  virtual void sleep(std::uint64_t /*until*/) {}
  /// Whether the awaited thread runs on another CPU. Called after the spin if the policy adapts and is not crowded.
  virtual bool is_separated() noexcept { return false; }
  /// If only the caller of a crowd waits for it: what is known of its rounds (member_pace.hpp).
  virtual round_pace* rounds() noexcept { return nullptr; }
  /// What it is, for observers (hooks.hpp).
  virtual void describe(wait_subject&) const noexcept {}

  /// For observers.
  wait_subject subject() const noexcept {
    wait_subject result = {};
    result.object = result.sleeps_on = this;
    result.awaited = wait_subject::nobody;
    result.where = called_at;
    describe(result);
    return result;
  }

  const source_place called_at;
  std::uint64_t yield_time;
  /// The same in yields, for long times: reached first where no other thread wants the CPU.
  static constexpr unsigned usual_yield_limit = 64, no_yield_limit = ~0u;
  unsigned yield_limit;
  /// Before the next look. More than one: twice as many before each further look, up to `most_pauses`.
  unsigned pauses = 1;
  static constexpr unsigned most_pauses = 64;

 protected:
  ~waitable() = default;
};

/// What the calling thread has learned, for objects that keep no history of each waiter. In queues (parking_lot.hpp) a
/// wait that ends in a sleep counts against yielding. A sleep on a word does not: in a crowd, barriers and rings need
/// their yields all the same.
struct thread_history {
  wait_history on_words, in_queues;
  std::uint64_t woke_at = 0;  ///< when it last woke threads that slept on a published word
};
inline thread_history& this_thread_history() noexcept {
  return per_thread<thread_history, struct name_of_history>();
}

class wait_engine {
 public:
  /// How far a wait goes.
  enum class rung : unsigned char { poll, yield, sleep };

  /// For waits in regions of so many members. The adaptive policy polls for longer in large teams: large_budget.
  static wait_policy for_region(wait_policy policy, std::size_t members) noexcept {
    if (policy != wait_policy() || members <= small_team) return policy;
    return wait_policy(policy_kind::adaptive, large_budget);
  }
  /// Waits until `what.ready()`. Returns false if `until` came first.
  template <class Waitable>
  static bool wait(Waitable& what, wait_policy policy, wait_history& history,
                   std::uint64_t until = no_deadline) {
    return is_ready(what) || wait_slowly(what, policy, history, until);
  }
  /// The same after a failed first look, up to the rung `last`. Also false if that rung ends without success. Locks
  /// stop before the sleep, because their waiters queue up first. Then block() does not look again, and spin() polls as
  /// long as the default policy.
  template <class Waitable>
  LOCKSTEP_NOINLINE static bool wait_slowly(Waitable& what, wait_policy policy,
                                            wait_history& history,
                                            std::uint64_t until = no_deadline,
                                            rung last = rung::sleep) {
    const policy_kind kind = policy.kind();
    const bool polls = begins_with_polls(kind, history);
    if (polls && what.pauses == 1 && poll(what)) {
      if (kind == policy_kind::adaptive) history.spinning.paid();
      return true;
    }
    return climb(what, policy, history, until, polls ? rung::poll : rung::yield, last);
  }

  /// Polls for the time between two looks at the clock, which costs as much as one pause. The first poll ends most waits
  /// that the first look does not end, so it is compiled for each kind of wait, and does not read the clock. Its first
  /// looks have no pause: where a line transfer takes 20 ns, barrier and latch of 2 threads then take 0.8 of the time.
  template <class Waitable>
  static bool poll(Waitable& what) {
    for (unsigned i = what.pauses == 1 ? 0 : looks_at_once; i < looks_at_once; ++i) {
      if (is_ready(what)) return true;
    }
    for (unsigned paused = 0; paused < pauses_per_poll;) {
      const unsigned pauses = what.pauses;
      for (unsigned i = 0; i < pauses; ++i) polling_pause();
      if (is_ready(what)) return true;
      paused += pauses;
      if (pauses > 1 && pauses < waitable::most_pauses) what.pauses *= 2;
    }
    return false;
  }

  /// The ladder from the rung `first` on, after a failed look. `seen`: if observers know of this wait already.
  LOCKSTEP_NOINLINE static bool climb(waitable& what, wait_policy policy, wait_history& history,
                                      std::uint64_t until, rung first, rung last,
                                      observed_wait* seen = nullptr) {
    if (LOCKSTEP_UNLIKELY(observers() != 0) && seen == nullptr) {
      observed_wait here(what.subject());
      return climb(what, policy, history, until, first, last, &here);
    }
    const policy_kind kind = policy.kind();
    const bool adapts = kind == policy_kind::adaptive, spins = kind == policy_kind::spin;

    if (policy.is_crowded() && last == rung::sleep && until == no_deadline && seen == nullptr &&
        what.rounds() == nullptr && history.yielding.goes_unmeasured()) {
      for (unsigned i = 0; i < unmeasured_yields; ++i) {
        yield_thread();
        if (what.ready()) return true;
      }
    }

    if (first == rung::poll && !(spins && last == rung::sleep)) {
      std::uint64_t budget = policy.bits_ >> wait_policy::kind_bits;  // spin_time()
      if (budget == 0 && kind != policy_kind::hybrid) budget = spin_budget;
      const bool has_come = spin(what, budget, until);
      if (adapts) history.spinning.learn(has_come);
      if (has_come) return true;
    }

    if (last == rung::poll) return false;
    if (first <= rung::yield && !spins && kind != policy_kind::block) {
      if (adapts && what.is_separated() && history.yielding.is_stopped() &&
          spin(what, far_budget, until)) {
        return true;
      }
      if (kind >= policy_kind::hybrid || history.yielding.asks()) {
        if (LOCKSTEP_UNLIKELY(seen != nullptr)) seen->enter(wait_stage::yield);
        if (yield(what, history.yielding, until)) return true;
      }
    }

    if (last != rung::sleep) return false;
    if (LOCKSTEP_UNLIKELY(seen != nullptr) && !spins) seen->enter(wait_stage::sleep);
    return stay(what, until, !spins);
  }

 private:
  static constexpr unsigned pauses_per_poll = 16, looks_at_once = 4, unmeasured_yields = 6,
                            small_team = 8;
  static constexpr std::uint64_t spin_budget = 2000, large_budget = 200000, far_budget = 50000;

  static bool begins_with_polls(policy_kind kind, wait_history& history) {
    return kind == policy_kind::spin || kind == policy_kind::hybrid ||
           (kind == policy_kind::adaptive && cpus_for_waits() > 1 && history.spinning.asks());
  }
  template <class Waitable>
  static bool is_ready(Waitable& what) {
    return what.Waitable::ready();
  }
  static bool is_ready(waitable& what) { return what.ready(); }

  static bool is_over(std::uint64_t until) {
    return until != no_deadline && monotonic_nanoseconds() >= until;
  }

  /// Polls for `budget` nanoseconds, and at most one poll longer.
  static bool spin(waitable& what, std::uint64_t budget, std::uint64_t until) {
    if (budget == no_deadline && until == no_deadline) {
      while (!poll(what)) continue;
      return true;
    }
    const std::uint64_t start = monotonic_nanoseconds();
    for (std::uint64_t now = start; now - start < budget && now < until;) {
      if (poll(what)) return true;
      now = monotonic_nanoseconds();
    }
    return false;
  }

  /// Gives the CPU to others while that helps.
  static bool yield(waitable& what, backoff_trust& trust, std::uint64_t until) {
    const std::uint64_t start = monotonic_nanoseconds();
    std::uint64_t before = start;
    const bool wakes_up = what.yield_limit == waitable::usual_yield_limit &&
                          start - this_thread_history().woke_at < backoff_trust::long_yield;
    round_pace* const round = what.rounds();
    for (unsigned i = 0; (i < what.yield_limit || wakes_up) && before < until; ++i) {
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
      if (after - start > (wakes_up ? backoff_trust::long_yield : what.yield_time)) return false;
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
      if (!sleeps && spin(what, no_deadline, next)) return true;
      if (sleeps) what.sleep(next);
      if (!is_over(beat)) continue;
      own = nullptr;  // the call may wait, too
      pulse->call(pulse->context);
      own = pulse;
      beat = next_beat(pulse);
    }
    return true;
  }
};

/// The call that wakes those who sleep on a word, or one of them.
inline void wake(const wait_word* word, bool all) {
  if (LOCKSTEP_UNLIKELY(observers() != 0)) note_wake(word);
  if (all) {
    futex::wake_all(word);
  } else {
    futex::wake_one(word);
  }
}

/// Polls until have_come(), for 1.5 us at most: before a member does what others are late for. A member that is in time
/// comes within two line transfers, at most 0.5 us.
template <class Come>
bool come_in_time(const Come& have_come) {
  for (unsigned polls = 48; !have_come(); --polls) {
    if (polls == 0) return false;
    polling_pause();
  }
  return true;
}

namespace misuse {

/// The calling thread waits on `object` while this lives.
class waiting_scope {
 public:
  explicit waiting_scope(const void* object, role as = role::waiter) : object_(object), as_(as) {
    note(object_, as_);
  }
  ~waiting_scope() {
    if (diagnosed) forget(object_, as_, number_of_this_thread());
  }
  waiting_scope(const waiting_scope&) = delete;
  waiting_scope& operator=(const waiting_scope&) = delete;

 private:
  const void* const object_;
  const role as_;
};

}  // namespace misuse

/// As wait_engine::wait. Where misuse is diagnosed, the thread is registered as a waiter on `object`.
template <class Waitable>
bool wait_watched(Waitable& what, const void* object, wait_policy policy, wait_history& history,
                  std::uint64_t until) {
  if (what.Waitable::ready()) return true;
  const misuse::waiting_scope waiting(object);
  return wait_engine::wait_slowly(what, policy, history, until);
}

// A wait for a word, for objects that keep their whole state in one word, with a bit that says "a thread sleeps". So a waiter
// may destroy the object as soon as its wait has returned. A waiter brings a predicate on the word. Where the structure
// guarantees the lifetime, a mark beside the state is cheaper: published_words.hpp.
//
//   WORD-1  A waiter sleeps only on a word that has the sleeping bit and does not satisfy its predicate.
//   WORD-2  A change that may make a sleeper's predicate true looks for the bit in the old value, and
//           wakes all sleepers if it was set. The change may clear the bit, because it wakes every thread
//           that has slept on it. Where one sleeper can use the change, and passes the bit on (SHORT-1, PARKING-2), it
//           wakes one. After the change the changer touches nothing but the address.
//   WORD-3  The bit may be set with no sleeper. It is clear with a sleeper only while the thread that cleared it
//           is about to wake that sleeper.
//
// So no wake-up is lost. A waiter that announced itself before the change is woken by it, or finds the
// word changed when it falls asleep (FUTEX-3 of system.hpp). A waiter that comes later sees the new word.
//
//   bits   name      meaning                set by                       cleared by
//   0      sleeping  a waiter may be asleep a waiter, before it sleeps   the change that wakes; the object
//   1..31  -         the state of the object that has the word: see there
// Sleeping may stay set too long: this costs a wake that finds no sleeper. It must not be missing: WORD-3.
//
// Memory order (# marks the line; each weakening must fail a test)
//   #  access            order    pairs     why it suffices
//   1  word.load         acquire  changer's we see what came before a change with release order
//   2  word.compare_exch relaxed  -         the bit and the state are one word: the order of changes
//                                           suffices; as a read-modify-write it keeps the release
//                                           sequence of the changes before it
//   3  word.load         relaxed  -         whether to sleep; the engine looks again by 1
//
// Cost   ready at once: one load. To sleep: one RMW for the first sleeper, one system call for each.
// Source [DREPPER] for the bit in the word.

/// A wait for a word. Done: bool(std::uint32_t word), which ignores the sleeping bit, and describe() as in waitable.
template <class Done>
class word_waiter : public waitable {
 public:
  word_waiter(wait_word& word, Done done, call_site from = call_site::none(),
              std::uint64_t most_yields = shared_yield_time) noexcept
      : waitable(from, most_yields), word_(word), done_(done), announced_(false) {}

  bool ready() noexcept override {
    return done_(word_.load(memory_order_acquire));  // 1
  }

  void sleep(std::uint64_t until) override {
    std::uint32_t word = word_.load(memory_order_relaxed);  // 3
    if (done_(word)) return;
    announced_ = true;
    if ((word & sleeping_bit) == 0 &&
        !word_.compare_exchange_strong(word, word | sleeping_bit, memory_order_relaxed,  // 2
                                       memory_order_relaxed)) {                          // 2
      return;
    }
    futex::wait(word_, word | sleeping_bit, until);
  }

  /// The word is the first of its object.
  void describe(wait_subject& to) const noexcept override {
    to.object = to.sleeps_on = &word_;
    done_.describe(to);
  }

  /// True if this waiter may have set the sleeping bit.
  bool has_announced() const noexcept { return announced_; }

 protected:
  wait_word& word_;

 private:
  Done done_;
  bool announced_;
};

/// The predicate of a wait for one value of a word; the rest is for observers.
template <class Word>
struct word_is {
  const Word value;
  const wait_kind kind;
  const std::uint32_t phase, awaited;

  constexpr word_is(Word wanted, wait_kind of, std::uint32_t in_phase = 0,
                    std::uint32_t member = wait_subject::nobody) noexcept
      : value(wanted), kind(of), phase(in_phase), awaited(member) {}
  bool operator()(Word word) const noexcept { return word == value; }
  void describe(wait_subject& to) const noexcept {
    to.kind = kind;
    to.phase = phase;
    to.awaited = awaited;
  }
};

/// Waits until done(word); false if `until` came first. The word belongs to `object`.
template <class Done>
bool wait_until_word(wait_word& word, Done done, const void* object, wait_policy policy,
                     std::uint64_t until = no_deadline, call_site where = call_site::none(),
                     std::uint64_t yield_time = waitable::shared_yield_time) {
  word_waiter<Done> what(word, done, where, yield_time);
  return wait_watched(what, object, policy, this_thread_history().on_words, until);
}

// A lock of one word. It is not fair, so it is not for users: see mutex.hpp.
//
//   SHORT-1  A thread that has slept takes the lock as slept_on, because others may still sleep. The thread that
//            frees a slept_on lock wakes one sleeper. So no thread is left asleep.
//   SHORT-2  What happens before unlock() happens before the return of the next lock().
//
// word_
//   value  name      meaning                         set by
//   0      free      no thread holds it              unlock
//   2      held      held, and no thread sleeps      lock, by CAS from free
//   3      slept_on  held, and a thread may sleep    a waiter, before a sleep or as it takes the lock after one
// So slept_on is held with the sleeping bit (WORD-1). With no sleeper it is legal: it costs a needless
// wake. Held with a sleeper would lose a wake-up.
//
// Memory order (# marks the line)
//   #  access            order    pairs  why it suffices
//   4  word.compare_exch acquire  5      SHORT-2
//   5  word.exchange     release  4      SHORT-2
//   6  word.load         relaxed  -      a hint whether to try 4
//   7  word.compare_exch relaxed  -      where 4 fails, nothing was read
//   8  word.store        relaxed  -      the only thread of the child
// A sleeper: 2 and 3.
//
// Cost   uncontended: two read-modify-writes.
// Source [DREPPER], the second mutex.

/// A lock for a few instructions inside the library.
class short_lock {
 public:
  constexpr short_lock() noexcept : word_(0) {}

  void lock() { lock(word_); }
  void unlock() { unlock(word_); }
  /// In a child of fork(): a thread that held it is not there.
  void forget_holder() noexcept { word_.store(is_free, memory_order_relaxed); }  // 8

  /// The same for a word that lies elsewhere; 0 is free. Observers see the wait as one of that kind.
  static bool try_lock(wait_word& word) noexcept { return take(word, held); }
  static void lock(wait_word& word) {
    if (LOCKSTEP_UNLIKELY(!try_lock(word))) lock_slowly(word);
  }
  LOCKSTEP_NOINLINE static void lock_slowly(wait_word& word, wait_policy policy = wait_policy(),
                                            wait_kind kind = wait_kind::internal_lock) {
    attempt now(word, kind);
    wait_engine::wait_slowly(now, policy, this_thread_history().on_words);
  }
  static void unlock(wait_word& word) {
    if (word.exchange(is_free, memory_order_release) == slept_on) futex::wake_one(&word);  // 5
  }

 private:
  enum : std::uint32_t { is_free = 0, held = 2, slept_on = held | sleeping_bit };

  static bool take(wait_word& word, std::uint32_t as) noexcept {
    std::uint32_t expected = is_free;
    return word.compare_exchange_strong(expected, as, memory_order_acquire,  // 4
                                        memory_order_relaxed);               // 7
  }

  struct attempt final : word_waiter<word_is<std::uint32_t>> {
    attempt(wait_word& of, wait_kind kind) noexcept : word_waiter(of, {is_free, kind}) {}
    bool ready() noexcept override {
      return word_.load(memory_order_relaxed) == is_free &&  // 6
             take(word_, has_announced() ? slept_on : held);
    }
  };

  wait_word word_;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_WAIT_WAIT_ENGINE_HPP
