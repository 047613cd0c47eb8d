// SPDX-License-Identifier: MIT
// src/wait/published_words.hpp -- words that some threads publish and others wait for (layer: wait)
//
// Every board of the library is made of these words. A published word lies on a cache line of its own, with room for
// plain data beside it. The notifier stores the data, then the word, then checks for sleepers. A waiter brings a
// predicate on the word, and a stop that also ends the wait.
//
// What happens before a word is published happens before the return of every wait that finds it.
// Lifetime: the notifier looks at the mark after the change that lets waiters go, so the words must outlive
// every call. Where a waiter may destroy the object at once, the mark must be part of the word: wait_engine.hpp.
//
// The mark of a word says whether a thread sleeps. It lies apart from the word's line, so that the notifier does not
// read the line that it has just published: such a read waits until the store has claimed the line back from the
// threads that poll it. A barrier of 2 takes 1.0 line transfers without such a read, 1.3 with one
// (docs/maintainers/decisions/0002).
//
//   value of a mark  meaning                           set by                       left by
//   even             no thread sleeps                  a notifier, or withdraw()    a sleeper, which adds 1
//   odd              a thread sleeps, or has slept     a sleeper, before it sleeps  a notifier or withdraw(): adds 1
// A mark may be odd with no sleeper: this costs a needless wake. No thread ever sleeps on an even mark.
//
//   PUBLISH-1  A thread sleeps only on an odd mark that it made or found, and only after it has looked at the word
//              and at the stop once more.
//   PUBLISH-2  Exactly one step leads from each odd value to the next even one, and a wake of all follows, except after
//              withdraw(). So a thread that announced itself before the step is woken, or never falls asleep. A plain
//              flag would not do. The sleeper of the next phase sets it again; a thread about to sleep for this
//              phase would find it set and sleep.
//   PUBLISH-3  A thread that requests a stop changes the stop first, and then looks at the marks of all words.
//
//     notifier                          sleeper
//     word.store(value)          (1)    odd = mark.fetch_or(1)         (4)
//     fence                      (6)    fence                          (6)
//     if (mark.load() is odd)    (3)    if (word.load() still fails)   (2)
//       step to even, wake all   (5)      futex::wait(mark, odd)
//
// The two loads must not both miss the other side's store. The object chooses which side pays for the fence: the
// sleeper alone (process_fence.hpp) where sleeping is rare, else both. Both sides must use the same choice. The sleeper
// alone pays 7 to 10 us while other threads run, unless it sleeps for less than a millisecond: then it looks again soon
// in any case. In a crowd of 128 that slept at every barrier it paid 12 us a member, four times what both fences and the
// wakes take.
//
// Memory order (# marks the line; each weakening must fail a test)
//   #  access                 order    pairs  why it suffices
//   1  word.store             release  2      the waiter sees the data, and what came before
//   2  word.load              acquire  1      the other half
//   3  mark.load              relaxed  4      the fences order it after the word, and nothing else is read by it
//   4  mark.fetch_or          relaxed  3      as 3
//   5  mark.compare_exchange  relaxed  4      PUBLISH-2 needs the order of changes to this word only; the kernel
//                                             orders its comparison after the wake's lock
//   6  thread_fence           seq_cst  6      both sides: the loads of the picture come after the stores. A sleeper that
//                                             looks again within a millisecond makes it alone
//   7  word.load              relaxed  -      a look: a thread that goes on comes through 2, or wrote the word itself
//   8  word.store             relaxed  -      while no thread waits: the caller orders it before the next wait
//   9  stop.load              relaxed  -      the waiter looks at the stop again, with acquire, before it reports it
//
// Cost   publish: one store, and one load of a line that is not written while no thread sleeps; no read-modify-write,
//        and no fence where the sleeper pays and the system has a process-wide one. wait: one line fetch.
#ifndef LOCKSTEP_SRC_WAIT_PUBLISHED_WORDS_HPP
#define LOCKSTEP_SRC_WAIT_PUBLISHED_WORDS_HPP

#include <cstddef>
#include <cstdint>

#include <lockstep/detail/observe/observers.hpp>
#include <lockstep/detail/platform/cache_line.hpp>
#include <lockstep/detail/platform/config.hpp>
#include <lockstep/detail/wait/waiters.hpp>
#include <lockstep/wait_policy.hpp>
#include "../platform/intrusive_list.hpp"
#include "../platform/process.hpp"
#include "../platform/system.hpp"
#include "cpu_separation.hpp"
#include "wait_engine.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// Which side pays for the store-load fence between notifiers and sleepers.
enum class fence_payer { sleeper, both };

/// Sleeping is the rule with block() and when crowded, the exception otherwise.
constexpr fence_payer fence_payer_of(wait_policy policy) noexcept {
  return policy.is_block() || policy.is_crowded() ? fence_payer::both : fence_payer::sleeper;
}

/// Whether a thread sleeps until a word changes.
class sleeper_mark {
 public:
  /// Called after the change that lets waiters go. Wakes all sleepers of this mark; false if there are none. Requires:
  /// the same payer in every call on one mark.
  LOCKSTEP_HOT bool notify(fence_payer payer = fence_payer::sleeper) {
    if (payer == fence_payer::both) {
      thread_fence(memory_order_seq_cst);  // 6
    } else {
      fence_light();
    }
    if (!has_sleeper()) return false;
    wake();
    return true;
  }

  /// Whether a thread may sleep at this moment: a hint.
  bool has_sleeper() const noexcept {
    return (mark_.load(memory_order_relaxed) & 1u) != 0;  // 3
  }

  /// Announces the sleeper, then sleeps unless `what.ready()`. May return at any time.
  LOCKSTEP_NOINLINE void sleep(waitable& what, std::uint64_t until,
                               fence_payer payer = fence_payer::sleeper) {
    const std::uint32_t odd = mark_.fetch_or(1u, memory_order_relaxed) | 1u;  // 4
    // Without the fence of both sides a notifier may miss the announcement. Then this thread looks again in a millisecond,
    // and one that does so anyway does not pay for the notifier.
    const std::uint64_t soon = monotonic_nanoseconds() + 1000000;
    if (payer == fence_payer::both || until <= soon) {
      thread_fence(memory_order_seq_cst);  // 6
    } else if (!fence_heavy()) {
      until = soon;
    }
    if (what.ready()) return;
    futex::wait(mark_, odd, until);
  }

  /// After a sleep that reached its deadline: the notifier need not wake this thread. Requires: no other thread ever
  /// sleeps on this mark. It would lose its wake-up.
  void withdraw() noexcept { step(); }

 private:
  LOCKSTEP_NOINLINE void wake() {
    if (!step()) return;
    wake_all_sleepers(&mark_);
    this_thread_history().woke_at = monotonic_nanoseconds();
  }
  /// From an odd value to the next even one. False if it is even, or another thread was faster (PUBLISH-2).
  bool step() noexcept {
    std::uint32_t odd = mark_.load(memory_order_relaxed);  // 3
    return (odd & 1u) != 0 &&
           mark_.compare_exchange_strong(odd, odd + 1u, memory_order_relaxed,  // 5
                                         memory_order_relaxed);                // 5
  }

  wait_word mark_{0};
};

/// Where threads sleep, to wake them all: what a request to stop does (stop_source.hpp).
class sleeping_places {
 public:
  /// Some marks. They are in the list while this lives; if that is null, in no list.
  class place : public list_node<place> {
   public:
    place(sleeping_places* of, sleeper_mark* marks, std::size_t count, fence_payer payer)
        : of_(of), marks_(marks), count_(count), payer_(payer) {
      if (of_ == nullptr) return;
      const holding<short_lock> here(of_->lock_);
      of_->places_.push_front(*this);
    }
    ~place() {
      if (of_ == nullptr) return;
      const holding<short_lock> here(of_->lock_);
      of_->places_.remove(*this);
    }
    /// After a change that lets all go.
    void wake_all() const {
      for (std::size_t i = 0; i < count_; ++i) marks_[i].notify(payer_);
    }

   private:
    sleeping_places* const of_;
    sleeper_mark* const marks_;
    const std::size_t count_;
    const fence_payer payer_;
  };

  void wake_all() {
    const holding<short_lock> here(lock_);
    for (const place* at = places_.first(); at != nullptr; at = at->next()) at->wake_all();
  }
  /// In a child process.
  void forget_others() noexcept { lock_.forget_holder(); }

 private:
  short_lock lock_;
  intrusive_list<place> places_;
};

/// The stop of waits that only the word ends.
struct never_stops {
  static constexpr bool requested() noexcept { return false; }
};

/// A stop by another word, which becomes non-zero, for terminate() and close(). The waiter reads that word again, with
/// acquire.
struct stops_when_set {
  const wait_word& word;

  bool requested() const noexcept {
    return word.load(memory_order_relaxed) != 0;  // 9
  }
};

/// The predicate of a wait for a phase: true from that phase on, modulo 2^32.
struct phase_reached {
  std::uint32_t target;

  bool operator()(std::uint32_t phase) const noexcept {
    return static_cast<std::int32_t>(phase - target) >= 0;
  }
  void describe(wait_subject& to) const noexcept { to.phase = target; }
};

template <class Word, class Done, class Stop>
class awaited_word;

/// One published word: a handle on the word, its mark, and how its waiters wait.
template <class Word>
class published_word {
 public:
  published_word(atomic<Word>& word, sleeper_mark& mark, wait_policy policy,
                 fence_payer payer) noexcept
      : word_(word), mark_(mark), policy_(policy), payer_(payer) {}

  /// Stores the word, and wakes the threads that sleep until it changes; false if there are none.
  LOCKSTEP_ALWAYS_INLINE bool publish(Word value) const {
    publish_quietly(value);
    return wake();
  }
  /// The two halves, for a wake that comes later or not at all.
  void publish_quietly(Word value) const noexcept {
    notify_point(&mark_);
    word_.store(value, memory_order_release);  // 1
  }
  bool wake() const { return mark_.notify(payer_); }
  bool has_sleeper() const noexcept { return mark_.has_sleeper(); }

  /// The word, and what came before it was published.
  Word value() const noexcept { return word_.load(memory_order_acquire); }  // 2
  /// The word alone.
  Word peek() const noexcept { return word_.load(memory_order_relaxed); }  // 7
  /// While no thread waits.
  void reset(Word value) const noexcept { word_.store(value, memory_order_relaxed); }  // 8

  /// Waits until done(word), or the stop. Only a failed first look builds the waitable.
  template <class Done, class Stop>
  void wait(Done done, Stop stop, wait_history& history, whereabouts whom = {}) const {
    if (done(value()) || stop.requested()) return;
    awaited_word<Word, Done, Stop> what(*this, done, stop, whom);
    wait_engine::wait_slowly(what, policy_, history);
  }

 private:
  template <class, class, class>
  friend class awaited_word;

  atomic<Word>& word_;
  sleeper_mark& mark_;
  const wait_policy policy_;
  const fence_payer payer_;
};

/// A wait for a word. Done: bool(Word), and describe() as a waitable's. Stop: bool requested().
template <class Word, class Done, class Stop>
class awaited_word : public waitable {
 public:
  awaited_word(const published_word<Word>& at, Done done, Stop stop, whereabouts whom = {},
               source_place from = source_place()) noexcept
      : waitable(from), at_(at), done_(done), stop_(stop), whom_(whom) {
    if (whom.other == whereabouts::everybody) yield_limit = no_yield_limit;
  }

  bool ready() noexcept override { return done_(at_.value()) || stop_.requested(); }
  void sleep(std::uint64_t until) override { at_.mark_.sleep(*this, until, at_.payer_); }
  /// After a sleep that reached its deadline: see sleeper_mark.
  void withdraw() noexcept { at_.mark_.withdraw(); }
  bool is_separated() noexcept override { return whom_.is_separated(); }
  round_pace* rounds() noexcept override { return whom_.rounds; }
  void describe(wait_subject& to) const noexcept override {
    to.object = &at_.word_;
    to.sleeps_on = &at_.mark_;
    whom_.describe(to);
    done_.describe(to);
  }

 private:
  const published_word<Word> at_;
  Done done_;
  Stop stop_;
  const whereabouts whom_;
};

/// No data beside a word.
struct nothing_beside {};

/// A fixed number of published words, each on a line of its own with some data beside it: written before the word is
/// published, read by threads that have found the word.
template <class Word, class Beside = nothing_beside>
class published_words {
 public:
  /// `stop`: wakes all sleepers, too.
  published_words(std::size_t count, wait_policy policy, sleeping_places* stop = nullptr)
      : lines_(count),
        marks_(count),
        policy_(policy),
        payer_(fence_payer_of(policy)),
        place_(stop, marks_.data(), count, payer_) {
    process_fence::prepare();
  }

  std::size_t size() const noexcept { return lines_.size(); }
  wait_policy policy() const noexcept { return policy_; }

  published_word<Word> operator[](std::size_t i) const noexcept {
    return {lines_.data()[i].value.word, marks_.data()[i], policy_, payer_};
  }
  /// On the line of the word.
  Beside& beside(std::size_t i) noexcept { return lines_[i].value.beside; }

  /// For observers: a bit for each of the first words, up to 64 of them, that satisfies the predicate.
  template <class Done>
  std::uint64_t those_that(const Done& done) const noexcept {
    std::uint64_t found = 0;
    for (std::size_t i = 0; i < size() && i < 64; ++i) {
      if (done((*this)[i].peek())) found |= std::uint64_t{1} << i;
    }
    return found;
  }

  /// After a change that lets all go.
  void wake_all() const { place_.wake_all(); }
  /// Sets the first `count` words, while no thread waits.
  void reset(Word value, std::size_t count) const noexcept {
    for (std::size_t i = 0; i < count; ++i) (*this)[i].reset(value);
  }

 private:
  struct line {
    atomic<Word> word{0};
    Beside beside;
  };

  aligned_array<padded<line>> lines_;
  aligned_array<sleeper_mark> marks_;
  const wait_policy policy_;
  const fence_payer payer_;
  sleeping_places::place place_;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_WAIT_PUBLISHED_WORDS_HPP
