// SPDX-License-Identifier: MIT
// src/wait/member_pace.hpp -- what a member of a team learns of its waits (layer: wait)
//
// Pure: observations in, decisions out, no clock, no thread. Times are nanoseconds of one clock. What is learned of
// loops lies beside it: place_pace of leaf_loop.hpp, a line for each place; loop_pace.hpp, a line for each team.
//
//   observes                                       decides                                asked by
//   gaps between regions, missed loops, how late   when a worker polls for its next       anticipation.hpp
//   sleeps end, time without a CPU                 region, and until when it sleeps
//   stages that ended a wait or failed to          which stages a wait tries              wait_engine.hpp
//   waits and regions that found it on the CPU     when it moves to another CPU           cpu_separation.hpp
//   of the member that it waits for
//   yields of a caller in a crowd                  how long it polls before the next one  wait_engine.hpp
//
// When the next region is due
//   GAP-1  Gaps that lie close together share one window: from a lead before the shortest of them until a margin of
//          100 us and more after the longest: a worker that falls asleep just before a region begins 45 us late.
//          It polls in a window, and sleeps between windows. After the last window it sleeps until it is woken. Two
//          gaps that alternate have a window each. One hiccup of the caller must not spoil the next sixteen waits. So
//          among eight gaps or more, a gap that stands alone has no window, and a window ignores an eighth of its gaps
//          at either end. Long sleeps end later than short ones: the window opens earlier by a 32nd of the gap, by 100
//          us at most.
//   GAP-2  A worker that has waited for t polls for at most 160 us + t / 4, and never for more than 4 ms:
//          longest_poll().
//   GAP-3  Each gap is compared with what was expected, also while nothing is expected any more. Nothing is expected
//          once misses exceed hits by `most_doubt`, until hits have made up for them. After a thread has lost a time
//          slice while it polled, and more threads want to run than there are CPUs, that takes sixty hits: strangers
//          stay, and the next slice costs as much as hundreds of regions gain.
//   GAP-4  The lead follows how late the worker wakes up. A wake-up that comes later than the lead raises it, by a
//          quarter at most: one in a hundred comes ten times as late, and must not cost the next hundred a long poll. Each
//          wait lowers it a little. So it also falls where it is so long that the worker does not sleep at all.
//   GAP-5  The end of a missed loop begins the next gap: a worker that comes too late for one is there for the next.
// Gaps below `shortest_gap` are not counted: every worker polls that long, and one step of a program may consist of
// many short gaps and a long one. Gaps above 4 s count as 4 s. No window opens later than `longest_gap`.
//
// When to leave a CPU
//   SEPARATE-2  A member moves after 192 waits within 1 to 2 ms on the CPU of the awaited member: then switches cost
//               most of the time. Members that work for long between their waits gain nothing where no CPU is free: on
//               the other CPU they would get only a share of the time. Beside strangers on every CPU, yields go to the
//               one on this CPU: members sleep instead, 7 us a wait, and each 64th wait, which probes a yield, takes a
//               time slice. Its time does not count, and it stands for as many waits as were counted before it. A time of
//               8 ms and more is no slice: so waits that are rare and far apart never add up.
//   SEPARATE-3  After a move, or a question whether a CPU is free, the next question waits for a rest of 1 ms. The rest
//               doubles, up to 64 ms, if the last one gained nothing: the member was not found on another CPU since, or
//               was back within four rests. A question takes 4 us, or 20 if its lines are not in a cache: beside a busy
//               process, regions took a sixth longer when every fourth one asked. Only a move puts off the next move of
//               SEPARATE-2.
//   SEPARATE-5  A member also moves after four observations in a row, at any distance in time, if a CPU may be free. If
//               none is free, the member would wait on another CPU for the end of a stranger's time slice, 4 ms, while
//               the CPU of the other member would run it at once. A worker that polls when its region is due, but has
//               no CPU when it comes, shares its CPU with the caller, which slept before, or woke it there, unless the
//               caller has noted another one since: then a stranger, an interrupt or the host took it. If it lost
//               a time slice so, one observation is enough: a loop waits for no member that has not begun, so that
//               the caller keeps the CPU (docs/maintainers/decisions/0081). On an idle machine of two
//               CPUs, Linux 6.18 begins most threads on the CPU of their maker and leaves them there for 4 to 20 ms:
//               short regions took 6 us instead of 0.2, and loops twice their time.
//   SEPARATE-6  A worker that anticipates also moves after four regions in a row of 1 ms and more, whether a CPU is free
//               or not, and without a rest. Of regions between which it did not have to wait, the mean counts. The
//               program's own code may poll in them for another member: on a shared CPU it polls until its time slice
//               ends, 4 ms, in each region. Members that work for so long lose nothing by a move
//               (docs/maintainers/decisions/0074). For 64 ms after the last such move, the worker moves whenever it
//               shares its CPU: the system soon puts it back where the caller sleeps.
//
// When the caller of a crowd yields
//   ROUND-1  In a region of a crowd, each CPU runs its members one after another, each for one turn. A yield of the caller
//            lasts for a round of its own CPU. So a report that is missing after it comes from another CPU, whose round is
//            longer, or not over yet; and no member on the caller's CPU has anything to do. The caller polls for as long
//            as the yield took. With another yield, it would come back only after one more round of its own.
//   ROUND-2  It does not poll if polling has failed lately, as it does beside a stranger that holds up the other CPU.
//            Nor does it poll after a round that a stranger has lengthened to a time slice.
#ifndef LOCKSTEP_SRC_WAIT_MEMBER_PACE_HPP
#define LOCKSTEP_SRC_WAIT_MEMBER_PACE_HPP

#include <algorithm>
#include <cstdint>

#include <lockstep/detail/platform/config.hpp>
#include <lockstep/detail/wait/waiters.hpp>
#include "../base/numbers.hpp"
#include "../platform/cpus.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// When a thread leaves a CPU that it shares: SEPARATE-2 to SEPARATE-6.
class separation_pace {
 public:
  enum class advice : unsigned char { stay, move, move_if_free };
  static constexpr unsigned enough_waits = 192, enough_in_a_row = 4;
  static constexpr std::uint64_t least_rest = 1000000, most_rest = 64 * least_rest;
  static constexpr std::uint64_t long_region = 1000000, longest_slice = 8000000;

  /// Its last regions took it this long, each with the wait before the next one.
  void ran(std::uint64_t time) noexcept {
    long_regions_ = time < long_region ? 0 : long_regions_ + 1;
  }
  /// It was found on the CPU of the member that it waits for.
  advice shares_cpu(std::uint64_t now) noexcept {
    if (long_regions_ >= enough_in_a_row || now < polls_until_) {
      if (long_regions_ != 0) polls_until_ = now + most_rest;
      return advice::move;
    }
    if (now - last_ > backoff_trust::long_yield && now - last_ < longest_slice) {
      first_ += now - last_;
      waits_ *= 2;
    }
    last_ = now;
    if (now - first_ > 2 * least_rest) {
      first_ = now;
      waits_ = 0;
    }
    ++in_a_row_;
    const bool often = ++waits_ >= enough_waits && now - first_ >= least_rest;
    if (often ? now < moves_at_ : in_a_row_ < enough_in_a_row || now < asks_at_)
      return advice::stay;
    const bool was_in_vain = asks_at_ != 0 && (is_stuck_ || now < asks_at_ + 3 * rest_);
    rest_ = was_in_vain ? lesser(2 * rest_, most_rest) : least_rest;
    asks_at_ = now + rest_;
    in_a_row_ = 0;
    is_stuck_ = true;
    return often ? advice::move : advice::move_if_free;
  }
  /// It lost a time slice although a CPU is free.
  void lost_slice() noexcept { in_a_row_ = enough_in_a_row; }
  /// It was found on another one.
  void has_own_cpu() noexcept {
    in_a_row_ = long_regions_ = 0;
    is_stuck_ = false;
  }
  /// It did what it was advised.
  void moved() noexcept {
    waits_ = in_a_row_ = long_regions_ = 0;
    moves_at_ = asks_at_;
  }

 private:
  unsigned waits_ = 0, in_a_row_ = 0, long_regions_ = 0;
  bool is_stuck_ = false;  ///< not found on another CPU since the last advice
  std::uint64_t first_ = 0, last_ = 0, asks_at_ = 0, moves_at_ = 0, rest_ = least_rest;
  std::uint64_t polls_until_ = 0;  ///< regions may poll for other members: SEPARATE-6
};

/// How long the caller of a crowd polls for reports before it yields: ROUND-1, ROUND-2.
class round_pace {
 public:
  /// It has announced a region, and no member of its CPU has had a turn yet.
  void announced() noexcept { polls_until_ = 0; }
  /// It has yielded. Reports may still be missing, even if the one that it waited for has come.
  void yielded(std::uint64_t before, std::uint64_t after) noexcept {
    const std::uint64_t round = after - before;
    polls_until_ = round < backoff_trust::long_yield ? after + round : 0;
  }
  bool should_poll(std::uint64_t now) noexcept { return now < polls_until_ && polling_.asks(); }
  std::uint64_t polls_until() const noexcept { return polls_until_; }
  void polled(bool has_come) noexcept { polling_.learn(has_come); }

 private:
  std::uint64_t polls_until_ = 0;
  backoff_trust polling_;
};

class member_pace {
 public:
  struct step {
    enum class kind : unsigned char { poll, sleep, rest };  // rest: sleep until it comes

    kind what;
    std::uint64_t until;  ///< no meaning for rest
  };

  static constexpr std::uint64_t shortest_gap = 2000, longest_gap = 1000000000;
  /// Instead of a shorter sleep the worker polls: a sleep costs 6 to 20 us of CPU time, and ends late by as much
  /// (docs/maintainers/decisions/0067).
  static constexpr std::uint64_t shortest_sleep = 15000;
  static constexpr std::uint64_t first_lead = 30000, most_lateness = 100000, least_lead = 5000,
                                 most_lead = 300000;
  static constexpr unsigned memory = 16, fewest = 4, most_doubt = 4, doubt_after_slice = 64;

  wait_history regions, reports;  ///< its waits for regions, and for the reports of others
  separation_pace separation;
  round_pace rounds;

  /// GAP-2.
  static std::uint64_t longest_poll(std::uint64_t elapsed) noexcept {
    return lesser<std::uint64_t>(160000 + elapsed / 4, 4000000);
  }

  /// The region of this phase has ended for it. Not every region is noted: the mean counts.
  void region_ends(std::uint64_t now, std::uint32_t phase) noexcept {
    if (at_ != 0 && phase != phase_) separation.ran((now - at_) / (phase - phase_));
    phase_ = phase;
    at_ = now;
  }
  /// It has seen the region of this phase. Waits that a first poll has ended were not noted.
  void wait_begins(std::uint64_t now, std::uint32_t phase) noexcept {
    region_ends(now, phase);
    if (gap_ != 0) came_after(gap_);  // learned only now, when there is time
    start_ = now;
    gap_ = polled_ = 0;
    doing_ = {step::kind::rest, 0};
  }
  /// Whether it is worth asking next_step().
  bool expects() const noexcept { return count_ >= fewest && doubt_ < most_doubt; }
  /// What to do next in a wait that has lasted until now.
  step next_step(std::uint64_t now) noexcept {
    account(now);
    doing_ = step_after(now > start_ ? now - start_ : 0, polled_);
    doing_.until += start_;
    had_no_cpu_ = false;
    return doing_;
  }
  /// The member slept through a loop. GAP-5.
  void missed(std::uint64_t begin, std::uint64_t end) noexcept {
    if (begin > start_) came_after(begin - start_);
    start_ = larger(start_, end);
    polled_ = 0;
  }
  /// This much time passed between two looks of a poll. If it is long, another thread had the CPU. True if that is a time
  /// slice.
  bool looked_after(std::uint64_t time) noexcept {
    had_no_cpu_ = time > lost_time;
    return time > backoff_trust::long_yield;
  }
  /// It lost a time slice in a poll: to a stranger unless a CPU is free, GAP-3, else to the caller, SEPARATE-5.
  void lost_slice(machine_load load) noexcept {
    if (load == machine_load::has_room) return separation.lost_slice();
    regions.yielding.failed_badly();
    doubt_ = doubt_after_slice;
  }
  /// The region came. `is_gap`: the member waited for nothing else.
  void wait_ends(std::uint64_t now, bool is_gap) noexcept {
    account(now);
    // It may have come while this thread overslept: then the gap counts as no longer than expected.
    if (doing_.what == step::kind::sleep) now = lesser(now, doing_.until);
    if (doing_.what == step::kind::poll && !had_no_cpu_) separation.has_own_cpu();
    lead_ = larger(lead_ - lead_ / 64, least_lead);
    gap_ = is_gap && now > start_ ? now - start_ : 0;
  }
  /// The wait that just ended was not a gap between two regions.
  void forget_gap() noexcept { gap_ = 0; }
  /// Whether the region came while the member polled, and had no CPU. Says so once.
  bool take_had_no_cpu() noexcept {
    const bool result = had_no_cpu_;
    had_no_cpu_ = false;
    return result;
  }

  /// A region came after `gap`.
  void came_after(std::uint64_t gap) noexcept {
    if (gap < shortest_gap) return;
    if (count_ >= fewest) judge(would_be_there(gap));
    remember(gap > most_counted ? most_counted : static_cast<std::uint32_t>(gap));
  }
  /// The step for a wait that has lasted for `elapsed`, `polled` of it in polls. Its time counts from the begin of the
  /// wait.
  LOCKSTEP_NOINLINE step step_after(std::uint64_t elapsed, std::uint64_t polled) const noexcept {
    for (unsigned first = 0, end = 0; first < count_; first = end) {
      end = end_of_window(first);
      if (count_ >= most_for_one && end - first == 1) continue;
      const window at = window_of(first, end);
      if (elapsed >= at.closes) continue;
      if (at.opens > longest_gap) break;
      if (elapsed + shortest_sleep < at.opens) return {step::kind::sleep, at.opens};
      const std::uint64_t most = longest_poll(elapsed);
      if (polled + least_poll > most) break;
      return {step::kind::poll, lesser(elapsed + (most - polled), at.closes)};
    }
    return {step::kind::rest, 0};
  }
  std::uint64_t lead() const noexcept { return lead_; }

 private:
  static constexpr std::uint32_t most_counted = 4000000000u;
  static constexpr std::uint64_t least_poll = 5000, lost_time = 10000;
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
  /// A quarter of the range on both sides is for gaps that were not among the last ones.
  window window_of(unsigned first, unsigned end) const noexcept {
    const unsigned ignored = (end - first) / most_for_one;
    const std::uint64_t least = sorted_[first + ignored], most = sorted_[end - 1 - ignored];
    const std::uint64_t early = (most - least) / 4 + lesser(least / 32, most_lateness) + lead_;
    return {least > early ? least - early : 0, most + (most - least) / 4 + most / 16 + 100000};
  }

  /// Whether a worker that follows its steps polls after `gap`.
  bool would_be_there(std::uint64_t gap) const noexcept {
    std::uint64_t elapsed = 0, polled = 0;
    while (true) {
      const step next = step_after(elapsed, polled);
      if (next.what == step::kind::rest) return false;
      if (gap < next.until) return next.what == step::kind::poll;
      if (next.what == step::kind::poll) polled += next.until - elapsed;
      elapsed = next.until;
    }
  }
  void judge(bool was_right) noexcept {
    if (was_right && doubt_ > 0) --doubt_;
    if (!was_right && doubt_ < 2 * most_doubt) ++doubt_;
  }
  /// What the last step has taken until now. GAP-4.
  void account(std::uint64_t now) noexcept {
    if (doing_.what == step::kind::poll && now > start_) polled_ += now - larger(at_, start_);
    if (doing_.what == step::kind::sleep && now >= doing_.until) {
      const std::uint64_t late = lesser(now - doing_.until, most_lead);
      if (late > lead_) lead_ += lesser(late - lead_, lead_) / 4;
    }
    at_ = now;
  }

  LOCKSTEP_NOINLINE void remember(std::uint32_t gap) noexcept {
    gaps_[next_] = gap;
    next_ = (next_ + 1) % memory;
    if (count_ < memory) ++count_;
    std::copy(gaps_, gaps_ + count_, sorted_);
    std::sort(sorted_, sorted_ + count_);
  }

  std::uint32_t phase_ = 0;            // when the last wait began
  std::uint32_t gaps_[memory] = {};    // in the order in which they came; next_ is the oldest
  std::uint32_t sorted_[memory] = {};  // the same in ascending order
  unsigned next_ = 0, count_ = 0, doubt_ = 0;
  std::uint64_t lead_ = first_lead;
  std::uint64_t gap_ = 0;                          ///< the last one, if it is not learned yet
  std::uint64_t start_ = 0, at_ = 0, polled_ = 0;  ///< of this wait
  step doing_ = {step::kind::rest, 0};
  bool had_no_cpu_ = false;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_WAIT_MEMBER_PACE_HPP
