// SPDX-License-Identifier: MIT
// src/trace/ledger_board.hpp -- where the members of a team keep their accounts of waits (layer: trace)
//
// Each member adds to a table of its own, on lines of its own. Which member came last, and what balance would gain,
// needs the times of all members. The member with the lowest rank of those that meet computes it: the others leave the
// times of their last two segments where it can read them.
//
//   LEDGER-1  Only the member itself writes its numbers. Any thread may read them at any time.
//   LEDGER-2  Each arrival is counted, and so is each wait that outlasts its polls. All else is measured only in chosen
//             segments. The first 64 segments are chosen. After them all are, if they last long on average: 20 us, and
//             2 us more for each member. Otherwise one in 128 is chosen, by a hash of its number, which all members
//             know. It counts 128 times.
//   LEDGER-3  A board lives as long as its team, also while the ledger is switched off.
//
// Memory order (# marks the line)
//   #  access      order    pairs  why it suffices
//   1  one_in      relaxed  -      a hint: a segment over which members differ is not looked at
//   2  made.load   acquire  -      the board is made before its address is seen (1 of region_hooks.cpp)
//   3  kept.load   acquire  -      as 2, for a ledger that is on (2 of region_hooks.cpp)
//
// Cost   a construct: some 5 ns. A chosen one: three looks at the tick clock and about 20 stores to the member's own
//        lines; one member fetches a line of each other one. Room: 130 KiB a member, more above 16 members.
#ifndef LOCKSTEP_SRC_TRACE_LEDGER_BOARD_HPP
#define LOCKSTEP_SRC_TRACE_LEDGER_BOARD_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <lockstep/detail/platform/cache_line.hpp>
#include <lockstep/detail/platform/clock.hpp>
#include <lockstep/detail/platform/config.hpp>
#include <lockstep/ledger.hpp>
#include "../observe/hooks.hpp"
#include "account_table.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {

namespace detail {

// A segment ends where all members of a region meet: at a barrier, or at the end of the region. Each member is busy
// from its begin to its arrival. The segment is over when the members are released.

/// One member in one segment. Times are ticks of one clock.
struct busy_time {
  std::uint64_t begin, arrival;
  std::size_t rank;  ///< in the team
};

struct segment_figures {
  std::size_t last;  ///< the member that came last; the first of several
  std::uint64_t
      gain;  ///< the last arrival minus the mean one: the time that balanced work would save
};

/// Requires: count > 0.
inline segment_figures figures_of(const busy_time* of, std::size_t count) noexcept {
  std::size_t last = 0;
  for (std::size_t i = 1; i < count; ++i) {
    if (of[i].arrival > of[last].arrival) last = i;
  }
  std::uint64_t lost = 0;
  for (std::size_t i = 0; i < count; ++i) lost += of[last].arrival - of[i].arrival;
  return {last, lost / count};
}

/// Calls add(k, time) for each stretch of time in which exactly k members were busy, from the first begin to `over`.
/// `scratch` has room for 2 * count values.
template <class Add>
void share_by_busy(const busy_time* of, std::size_t count, std::uint64_t over,
                   std::uint64_t* scratch, Add add) noexcept {
  std::uint64_t *const begins = scratch, *const arrivals = scratch + count;
  for (std::size_t i = 0; i < count; ++i) {
    begins[i] = of[i].begin;
    arrivals[i] = of[i].arrival < of[i].begin ? of[i].begin : of[i].arrival;
  }
  std::sort(begins, begins + count);
  std::sort(arrivals, arrivals + count);
  std::uint64_t now = begins[0];
  std::size_t begun = 0, arrived = 0;
  while (arrived < count) {
    const bool is_begin = begun < count && begins[begun] <= arrivals[arrived];
    const std::uint64_t next = is_begin ? begins[begun] : arrivals[arrived];
    if (next > now) add(begun - arrived, next - now);
    now = next;
    ++(is_begin ? begun : arrived);
  }
  if (over > now) add(std::size_t{0}, over - now);
}

/// Decisions and findings, counted for each member.
enum class ledger_count : unsigned {
  shares_taken,  ///< shares of others that this thread has run
  anticipated,   ///< a region came while the member polled because it was due
  missed,        ///< a region came, and the member slept
  crowded,       ///< regions of more members than CPUs for them
  inline_runs,   ///< regions that were called inside another one, and so ran on their caller alone
  inline_loops,  ///< loops that were called inside another region, and so ran on their caller alone
  separated,     ///< it left a CPU that it shared with a member it waited for
  waits_spun,    ///< waits that ended while it polled
  waits_yielded,  ///< waits that ended while it yielded
  waits_slept,    ///< waits that ended after it had slept
  how_many
};

/// Which segments of meetings, or of regions, are chosen: LEDGER-2. The first member decides, the others follow.
class ledger_pace {
 public:
  static constexpr std::uint32_t first_ones = 64, usual = 128;

  /// If segments last `long_ticks` on average, all are chosen.
  void begin(std::uint64_t long_ticks) noexcept {
    long_ = long_ticks;
    reset();
  }
  void reset() noexcept {
    left_ = first_ones;
    mean_ = 0;
    one_in_.store(1, memory_order_relaxed);  // 1
  }
  /// How often the segment of that number counts; 0 if it is not chosen.
  std::uint32_t weight_of(std::uint32_t number) const noexcept {
    const std::uint32_t one_in = one_in_.load(memory_order_relaxed);  // 1
    return one_in == 1 || is_chosen(number) ? one_in : 0;
  }
  /// Whether that segment is not chosen, nor the next one, which begins where it ends.
  bool leaves_out(std::uint32_t number) const noexcept {
    const std::uint32_t one_in = one_in_.load(memory_order_relaxed);  // 1
    return one_in != 1 && !is_chosen(number) && !is_chosen(number + 1);
  }
  /// Only for the first member: a segment that was chosen took so long.
  void took(std::uint64_t ticks) noexcept {
    if (ticks > 8 * long_) ticks = 8 * long_;
    mean_ = mean_ - mean_ / 8 + ticks / 8;
    if (left_ > 0) {
      --left_;
      return;
    }
    const std::uint32_t one_in = mean_ >= long_ ? 1 : usual;
    if (one_in_.load(memory_order_relaxed) == one_in) return;  // 1
    one_in_.store(one_in, memory_order_relaxed);               // 1
  }

 private:
  static bool is_chosen(std::uint32_t number) noexcept {
    static_assert(usual == 1u << 7, "so many bits");
    return (number * 0x9E3779B1u) >> (32 - 7) == 0;
  }

  observer_atomic<std::uint32_t> one_in_{1};  ///< read by all, written rarely
  line_gap apart_;
  std::uint32_t left_ = first_ones;
  std::uint64_t long_ = 0, mean_ = 0;
};

/// What the members of a team agree on.
struct ledger_paces {
  line_gap before;
  ledger_pace meetings;
  line_gap between;
  ledger_pace regions;
  const char* label = nullptr;  ///< of the user's region around the caller of the region that runs
  std::size_t cpus = 0;         ///< how many the members have
  line_gap after;
};

/// One member's accounts.
class member_ledger {
  line_gap before_;

 public:
  member_ledger(std::size_t members, ledger_paces& all)
      : accounts(members),
        paces(all),
        of_loops_(members + 1),
        times_(members),
        scratch_(2 * members) {}

  account_table accounts;
  ledger_paces& paces;

  void count(ledger_count what) noexcept { counts_[static_cast<unsigned>(what)].add(1); }
  std::uint64_t count_of(ledger_count what) const noexcept {
    return counts_[static_cast<unsigned>(what)].get();
  }
  /// For the caller of loops: how many loops ran on so many members.
  tally& loops_on(std::size_t members) noexcept { return of_loops_[members]; }
  std::uint64_t loops_on(std::size_t members) const noexcept { return of_loops_[members].get(); }

  /// The last part of a chosen region that this member has run: its region, when it began, when the member last came
  /// out of a construct (0: not known), when it ended.
  tally part_of_region, part_begin, part_segment, part_end;

  // The member's own.
  std::uint64_t segment_begin = 0;  ///< 0: not known
  std::uint64_t long_wait =
      0;  ///< ticks in waits that outlasted their first polls, since the last arrival
  std::uint32_t region_weight = 0, meeting_weight = 0;  ///< of the region, and of the next meeting
  bool is_meeting = false;                              ///< in one that is not only counted
  std::size_t at = 0;                                   ///< the account of the last construct
  std::uint32_t stands_for = 0;                         ///< and how often its meeting counts
  std::uint32_t loop = 0;                               ///< the last region that was a loop
  std::uint32_t known_releases =
      0;                        ///< it takes the time after this many more meetings of the region
  const char* label = nullptr;  ///< of the user's region that the member is in

  /// A part of a region begins. Its first phase is `first_phase`.
  void begin_part(std::uint32_t region, std::uint32_t first_phase) noexcept {
    meeting_weight = paces.meetings.weight_of(first_phase);
    begin_to_time(region, meeting_weight);
    known_releases = region_weight != 0 ? most_known_releases : 0;
    label = paces.label;
    accounts.compare_again();
  }
  /// The same for a loop: one thread runs its parts one after the other.
  void begin_loop(std::uint32_t region) noexcept {
    loop = region;
    begin_to_time(region, 0);
  }
  /// The member had to wait for a node of a plan. The name lives for ever. Nodes get at most half of the accounts.
  void note_node(const char* name, source_place plan, std::uint64_t ticks) noexcept {
    const construct_key key = {"node", plan, nullptr, name};
    construct_account& to = accounts[accounts.find_if_few(key, account_table::most / 2)];
    to.passes.add(1);
    to.note_wait(ticks, 1);
  }
  /// Whether the meeting in that phase is only to be counted: it is not chosen, and its end need not be known.
  bool passes_lightly(std::uint32_t phase) const noexcept {
    return (known_releases | long_wait) == 0 && paces.meetings.leaves_out(phase);
  }
  /// Counts a meeting that is over.
  void count_meeting(const char* kind, source_place where) noexcept {
    at = accounts.find({kind != nullptr ? kind : "barrier", where, nullptr, label});
    accounts[at].passes.add(1);
    segment_begin = 0;
  }
  /// The same for a meeting that is only counted. A long wait in it is counted as well.
  void count_light(const char* kind, source_place where) noexcept {
    count_meeting(kind, where);
    meeting_weight = 0;
    if (LOCKSTEP_UNLIKELY(long_wait != 0)) {
      accounts[at].note_wait(long_wait, 1);
      long_wait = 0;
    }
  }
  void begin_meeting() noexcept {
    long_wait = 0;
    is_meeting = true;
  }
  void end_part() noexcept {
    // No store if there is nothing to note: it would delay the report.
    if ((region_weight | long_wait) == 0) return;
    long_wait = 0;
    if (region_weight == 0) return;
    part_segment.set(segment_begin);
    part_end.set(tick_clock::now());
  }
  /// Notes a long wait, or the wait at a chosen construct: `ticks`, with its `weight`. The weight is 0 if it is not
  /// chosen.
  void note_wait(construct_account& to, std::uint64_t ticks, std::uint64_t weight) const noexcept {
    if (long_wait != 0) {
      to.note_wait(weight != 0 ? ticks : long_wait, 1);
    } else if (weight != 0) {
      to.note_wait(ticks, weight);
    }
  }

  /// Room for the times of the members that meet.
  busy_time* times() noexcept { return times_.data(); }
  /// Notes a segment of `count` members, which was over at the tick `over`. Their times are in times().
  void note_segment(std::size_t account, std::size_t count, std::uint64_t over,
                    std::uint64_t weight) noexcept {
    const segment_figures figures = figures_of(times(), count);
    accounts[account].seen.add(weight);
    accounts[account].gain.add(weight * figures.gain);
    accounts.last(account, times()[figures.last].rank).add(weight);
    share_by_busy(times(), count, over, scratch_.data(), [&](std::size_t k, std::uint64_t time) {
      accounts.busy(account, k).add(weight * time);
    });
  }
  /// Notes the time from the first begin of a part to the last one.
  void note_skew(std::size_t account, std::uint64_t ticks, std::uint64_t weight) noexcept {
    accounts[account].skew.add(weight * ticks);
    accounts[account].longest_skew.raise_to(ticks);
  }

  void reset() noexcept {
    accounts.reset();
    for (tally& each : counts_) each.set(0);
    for (std::size_t i = 0; i < of_loops_.size(); ++i) of_loops_[i].set(0);
  }

 private:
  static constexpr std::uint32_t most_known_releases = 16;

  /// `others`: the weight of anything else that begins now.
  void begin_to_time(std::uint32_t region, std::uint32_t others) noexcept {
    region_weight = paces.regions.weight_of(region);
    if ((region_weight | others) == 0) return;
    segment_begin = tick_clock::now();
    if (region_weight == 0) return;
    part_begin.set(segment_begin);
    part_of_region.set(region);
  }

  tally counts_[static_cast<unsigned>(ledger_count::how_many)];
  aligned_array<tally> of_loops_;
  aligned_array<busy_time> times_;
  aligned_array<std::uint64_t> scratch_;
  line_gap after_;
};

/// The accounts of a team.
class ledger_board {
 public:
  /// Larger teams keep none.
  static constexpr std::size_t most_members = 1024;

  /// `cpus`: how many the members have.
  ledger_board(std::size_t members, double ticks_per_second, std::size_t cpus = ~std::size_t{0});
  ledger_board(const ledger_board&) = delete;
  ledger_board& operator=(const ledger_board&) = delete;

  std::size_t members() const noexcept { return members_.size(); }
  member_ledger& of(std::size_t rank) noexcept { return *members_[rank]; }
  const member_ledger& of(std::size_t rank) const noexcept { return *members_[rank]; }

  /// begin_to_keep() switches the ledger on, end_to_keep() switches it off.
  void begin_to_keep(std::uint64_t now) noexcept { kept_since_.set(now); }
  void end_to_keep(std::uint64_t now) noexcept {
    kept_before_.add(now - kept_since_.get());
    kept_since_.set(0);
  }
  /// A copy of all numbers.
  ledger gather(const char* team) const;
  /// Sets all numbers to 0. Requires: no member adds.
  void reset() noexcept;

 private:
  ledger::construct gather(const construct_key& key, double nanosecond) const;

  const double ticks_per_second_;
  tally kept_since_, kept_before_;  ///< on since that tick, or 0: off; ticks that it was on before
  ledger_paces paces_;
  aligned_array<owner<member_ledger>> members_;
};

/// The board of a team, also when its ledger is off; null if it was never on.
inline ledger_board* made_board(const team_view& of) noexcept {
  return of.made.load(memory_order_acquire);  // 2
}
/// The board of a team whose ledger is on; else null.
inline ledger_board* kept_board(const team_view& of) noexcept {
  return of.kept.load(memory_order_acquire);  // 3
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_TRACE_LEDGER_BOARD_HPP
