// SPDX-License-Identifier: MIT
// src/region/anticipation.hpp -- a worker predicts when its next region is due (layer: region)
//
// Time steps, frames and blocks repeat. A worker that knows the last gaps between its regions can sleep until shortly
// before the next one is due, and be awake when it comes. It has the speed of a thread that polls, and takes the
// CPU time of a thread that sleeps. Times are nanoseconds since the wait began.
//
//   GAP-1  Gaps that lie close together share one window: from a lead before the shortest of them until a margin after
//          the longest. The worker polls in a window, and sleeps between windows. After the last window it sleeps until
//          it is woken. Two gaps that alternate have a window each. One hiccup of the caller must not spoil the next
//          sixteen waits. So among eight gaps or more, a gap that stands alone has no window. In a window, an eighth of
//          the gaps is ignored at the upper end, and counts little at the lower end.
//   GAP-2  A worker that has waited for t polls for at most 160 us + t / 4, and never for more than 4 ms:
//          longest_poll().
//   GAP-3  Each gap is compared with what was expected, also while anticipation is off. It turns off when misses exceed
//          hits by `most_doubt`, and on again when hits have made up for them. It turns off at once where a thread lost
//          a time slice while it polled, and soon where a thread polls for loops and shares its CPU.
//   GAP-4  The lead is learned from how late the worker woke up: it rises fast and falls slowly. It also falls where
//          the worker polled through a gap. Otherwise a long lead would prevent the sleeps that show it is too long.
//
// Gaps below `shortest_gap` are not counted: every worker polls that long, and one step of a program may consist of
// many short gaps and a long one. Gaps above 4 s count as 4 s. No window opens later than `longest_gap`.
//
// Memory order, of missed_loops (# marks the line)
//   #  access       order    pairs  why it suffices
//   1  time.store   relaxed  -      MISSED-1
//   2  time.load    relaxed  -      MISSED-1
//   3  count.store  relaxed  -      MISSED-1
//   4  count.load   relaxed  -      MISSED-1
#ifndef LOCKSTEP_SRC_REGION_ANTICIPATION_HPP
#define LOCKSTEP_SRC_REGION_ANTICIPATION_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>

#include <lockstep/detail/platform/atomic.hpp>
#include <lockstep/detail/platform/config.hpp>
#include <lockstep/detail/platform/system.hpp>
#include <lockstep/wait_policy.hpp>
#include "../base/numbers.hpp"
#include "../observe/hooks.hpp"
#include "../wait/wait_engine.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

struct wait_step {
  enum class kind : unsigned char { poll, sleep, rest };  // rest: sleep until it comes

  kind what;
  std::uint64_t until;  ///< no meaning for rest
};

class anticipation {
 public:
  static constexpr std::uint64_t shortest_gap = 2000;
  static constexpr std::uint64_t longest_gap = 1000000000;
  /// The worker polls through a shorter sleep: sleeping costs 20 us of CPU time and wakes up 20 us late. With 120 us,
  /// loops of 20 us after pauses of 100 us took 2.0 CPUs and 0.46 of serial; with 50 us 1.5 and 0.50.
  static constexpr std::uint64_t shortest_sleep = 50000;
  static constexpr std::uint64_t first_lead = 80000, least_lead = 20000, most_lead = 300000;
  static constexpr unsigned memory = 16, fewest = 4, most_doubt = 4;

  /// GAP-2.
  static std::uint64_t longest_poll(std::uint64_t elapsed) noexcept {
    return lesser<std::uint64_t>(160000 + elapsed / 4, 4000000);
  }

  /// Whether it is worth asking next_step().
  bool is_on() const noexcept { return count_ >= fewest && doubt_ < most_doubt; }

  /// For a worker that has waited for `elapsed`, and polled for `polled` of it.
  LOCKSTEP_NOINLINE wait_step next_step(std::uint64_t elapsed,
                                        std::uint64_t polled) const noexcept {
    for (unsigned first = 0, end = 0; first < count_; first = end) {
      end = end_of_window(first);
      if (count_ >= most_for_one && end - first == 1) continue;
      const window at = window_of(first, end);
      if (elapsed >= at.closes) continue;
      if (at.opens > longest_gap) break;
      if (elapsed + shortest_sleep < at.opens) {
        return {wait_step::kind::sleep, at.opens};
      }
      const std::uint64_t most = longest_poll(elapsed);
      if (polled + least_poll > most) break;
      const std::uint64_t until = elapsed + (most - polled);
      return {wait_step::kind::poll, until < at.closes ? until : at.closes};
    }
    return {wait_step::kind::rest, 0};
  }

  /// A wait is over after `gap`.
  void came_after(std::uint64_t gap) noexcept {
    if (gap < shortest_gap) return;
    if (count_ >= fewest) judge(would_be_there(gap));
    remember(gap > most_counted ? most_counted : static_cast<std::uint32_t>(gap));
  }

  /// A sleep with a deadline ended `late` after it. GAP-4.
  void woke_late_by(std::uint64_t late) noexcept {
    late = lesser(late, most_lead);
    if (late > lead_) {
      lead_ += (late - lead_) / 2;
    } else {
      lead_ -= (lead_ - late) / 64;
    }
    lead_ = larger(lead_, least_lead);
  }
  /// The region came, and the worker had not slept since the last one. GAP-4.
  void polled_through() noexcept { lead_ -= (lead_ - least_lead) / 64; }

  /// The polling worker shares its CPU with others, and the region does not need it.
  void note_shared_cpu() noexcept {
    doubt_ = doubt_ + 2 < 2 * most_doubt ? doubt_ + 2 : 2 * most_doubt;
  }
  /// Polling cost a time slice.
  void note_disturbance() noexcept { doubt_ = 2 * most_doubt; }

  std::uint64_t lead() const noexcept { return lead_; }

 private:
  static constexpr std::uint32_t most_counted = 4000000000u;
  static constexpr std::uint64_t least_poll = 5000;
  static constexpr unsigned most_for_one = 8;  // GAP-1

  struct window {
    std::uint64_t opens, closes;
  };

  /// The first of sorted_ that is too far from the one before to share its window.
  unsigned end_of_window(unsigned first) const noexcept {
    unsigned end = first + 1;
    while (end < count_ && sorted_[end] - sorted_[end - 1] <= sorted_[end - 1] / 4 + 20000) ++end;
    return end;
  }
  /// The margin on both sides is a quarter of the range: for gaps that were not among the last ones.
  window window_of(unsigned first, unsigned end) const noexcept {
    const unsigned ignored = (end - first) / most_for_one;
    const std::uint64_t usual = sorted_[first + ignored], most = sorted_[end - 1 - ignored];
    const std::uint64_t least = larger<std::uint64_t>(sorted_[first], usual - usual / 8);
    const std::uint64_t early = (most - least) / 4 + lead_;
    return {least > early ? least - early : 0, most + (most - least) / 4 + most / 16 + 50000};
  }

  /// Whether a worker that follows next_step() polls after `gap`.
  bool would_be_there(std::uint64_t gap) const noexcept {
    std::uint64_t elapsed = 0, polled = 0;
    while (true) {
      const wait_step step = next_step(elapsed, polled);
      if (step.what == wait_step::kind::rest) return false;
      if (gap < step.until) return step.what == wait_step::kind::poll;
      if (step.what == wait_step::kind::poll) polled += step.until - elapsed;
      elapsed = step.until;
    }
  }

  void judge(bool was_right) noexcept {
    if (was_right) {
      if (doubt_ > 0) --doubt_;
    } else if (doubt_ < 2 * most_doubt) {
      ++doubt_;
    }
  }

  LOCKSTEP_NOINLINE void remember(std::uint32_t gap) noexcept {
    unsigned at = count_;  // of a free place in sorted_
    if (count_ == memory) {
      at = 0;
      while (sorted_[at] != gaps_[next_]) ++at;
    } else {
      ++count_;
    }
    for (; at + 1 < count_ && sorted_[at + 1] < gap; ++at) sorted_[at] = sorted_[at + 1];
    for (; at > 0 && sorted_[at - 1] > gap; --at) sorted_[at] = sorted_[at - 1];
    sorted_[at] = gap;
    gaps_[next_] = gap;
    next_ = (next_ + 1) % memory;
  }

  std::uint32_t gaps_[memory] = {};    // in the order in which they came; next_ is the oldest
  std::uint32_t sorted_[memory] = {};  // the same in ascending order
  unsigned next_ = 0, count_ = 0, doubt_ = 0;
  std::uint64_t lead_ = first_lead;
};

/// The times of loops that the workers slept through: a loop shorter than a wake-up runs on its caller alone. The
/// caller notes it here by three stores. A worker that wakes up, for whatever reason, reads what it missed.
//
//   MISSED-1  One thread notes at a time; any thread may read. A reader may see wrong times while a loop is noted, or
//             after more than `capacity` new ones. They change when a worker polls, but no result: nothing is ordered.
class missed_loops {
 public:
  static constexpr std::uint32_t capacity = 16;  // as many gaps as anticipation remembers

  /// On the monotonic clock, in nanoseconds.
  struct span {
    std::uint64_t begin, end;
  };

  void note(const span& loop) noexcept {
    const std::uint32_t before = count();
    entry& at = entries_[before % capacity];
    at.begin.store(loop.begin, memory_order_relaxed);  // 1
    at.end.store(loop.end, memory_order_relaxed);      // 1
    count_.store(before + 1, memory_order_relaxed);    // 3
  }
  /// How many there were so far; wraps.
  std::uint32_t count() const noexcept { return count_.load(memory_order_relaxed); }  // 4
  /// The loop before which count() was this.
  span at(std::uint32_t count) const noexcept {
    const entry& of = entries_[count % capacity];
    return {of.begin.load(memory_order_relaxed), of.end.load(memory_order_relaxed)};  // 2
  }

 private:
  struct entry {
    unseamed_atomic<std::uint64_t> begin{0}, end{0};
  };

  entry entries_[capacity];
  unseamed_atomic<std::uint32_t> count_{0};
};

/// A wait that uses what is known of the gaps before. It polls while the next region may come at any moment, and sleeps
/// while it cannot come. If what it expected does not come, it sleeps until it is woken. If it has learned nothing, or
/// was wrong too often, it waits like any other wait (wait_engine.hpp). For the adaptive policy of a team that is not
/// crowded. One thread at a time uses an object.
//
//   EXPECT-1  wait() returns only after ready() was true. It sleeps only through Waitable::sleep, which announces the
//             sleeper and then looks again, and may end at its deadline: so no wake-up is lost (WAIT-2).
//   EXPECT-2  It polls for at most anticipation::longest_poll(), and yields the CPU now and then. A worker that does
//             not get the CPU back within 2 ms has lost a time slice, and stops polling for a while.
//   EXPECT-3  The timer slack of the thread is short during a sleep with a deadline, and restored after it.
//   EXPECT-4  A worker learns the gaps of loops that it slept through as if it had been awake. It expects the next loop
//             relative to the last of them. If that one has just ended, more may follow at once, and the worker polls.
//
// Cost   a region that comes within 0.4 us: polls, no look at the clock. A sleep with a deadline: 2 system calls around
//        it, and the fence of the mark (published_words.hpp).
class anticipating_wait {
 public:
  template <class Waitable>
  void wait(Waitable& what, wait_policy policy, wait_history& history) {
    had_no_cpu_ = false;
    if (!what.ready()) wait_slowly(what, policy, history);
  }
  /// EXPECT-4. Before the first wait.
  void listen_to(const missed_loops& of) noexcept { missed_ = &of; }
  /// The region came, and this thread took part in it: the next gap begins now.
  void took_part() noexcept { resumes_at_ = 0; }
  /// For tests: sets the state that waits of `gap` nanoseconds leave behind.
  void expect(std::uint64_t gap) noexcept {
    for (unsigned i = 0; i < anticipation::fewest; ++i) known_.came_after(gap);
  }
  /// The wait that just ended was not a gap between two regions.
  void forget_gap() noexcept { gap_ = 0; }
  /// Whether the region came while the thread was polling, but was not on a CPU.
  bool had_no_cpu() const noexcept { return had_no_cpu_; }

 private:
  static constexpr std::uint64_t lost_time = 10000;
  static constexpr std::uint64_t time_between_yields = 3000;
  static constexpr std::uint64_t long_yield = 2000000;  // as in wait_engine.hpp
  static constexpr std::uint64_t short_slack = 1000;
  /// Shorter than a wake-up: a worker that was woken after a loop, only to learn of it, does not poll again.
  static constexpr std::uint64_t row_gap = 30000;

  template <class Waitable>
  LOCKSTEP_NOINLINE void wait_slowly(Waitable& what, wait_policy policy, wait_history& history) {
    if (!wait_engine::first_poll(what)) wait_long(what, policy, history);
  }
  /// What follows the first poll.
  void wait_long(waitable& what, wait_policy policy, wait_history& history);
  void follow(waitable& what, observed_wait& seen);
  /// For observers: how an anticipated wait ended.
  static void tell(mark_kind kind, const char* text) noexcept {
    if (LOCKSTEP_UNLIKELY(observers() != 0)) note_mark(kind, text, nullptr, 0);
  }
  /// Whether `what` became ready before the wait had lasted `until`.
  bool poll_until(waitable& what, std::uint64_t until);
  /// The same, but it sleeps.
  bool sleep_until(waitable& what, std::uint64_t until);
  bool has_missed_some() const noexcept { return missed_ != nullptr && missed_->count() != heard_; }
  /// EXPECT-4. Whether it missed any loops. The wait goes on as if it had begun at the end of the last of them.
  bool catch_up() noexcept;
  void sleep_for_good(waitable& what, observed_wait& seen);
  /// The expected region did not come. Sleeps, and doubles the time of the wait with each sleep, until `what` is ready
  /// (true), or the worker has missed a loop, or the gap is too long to be expected.
  bool look_now_and_then(waitable& what);

  anticipation known_;
  std::uint64_t gap_ = 0;  ///< the last one, if it is not learned yet
  std::uint64_t start_ = 0, now_ = 0;
  std::uint64_t resumes_at_ = 0;  ///< when the next wait began, if this one woke up for no region
  const missed_loops* missed_ = nullptr;
  std::uint32_t heard_ = 0;  ///< missed loops that were learned
  bool had_no_cpu_ = false;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_REGION_ANTICIPATION_HPP
