// SPDX-License-Identifier: MIT
// lockstep/detail/trace/ledger_board.hpp -- where the members of a team keep their accounts of waits (layer: trace)
//
// Each member adds to a table of its own, on lines of its own. What needs the times of all members, who came last and
// what balance would gain, is made by the member with the lowest rank of those that meet: members leave the times of
// their last two segments where it can read them.
//
//   LEDGER-1  A member's numbers are written by that member only. Any thread may read at any time.
//   LEDGER-2  How often members came, and how long they waited, is counted each time. Segments are looked at for all
//             members when they are long, or among the first 16 of their construct; else one in 16, chosen by a hash of
//             its number, which counts 16 times.
//   LEDGER-3  A board is never freed while its team lives, also when the ledger is switched off.
//
// Cost   a construct: two looks at the tick clock and about 10 stores to lines of the member's own; one in 16: a fetch of
//        a line of each other member, by one member. Room: 130 KiB a member, and more above 16 members.
#ifndef LOCKSTEP_DETAIL_TRACE_LEDGER_BOARD_HPP
#define LOCKSTEP_DETAIL_TRACE_LEDGER_BOARD_HPP

#include <cstddef>
#include <cstdint>

#include "../platform/cache_line.hpp"
#include "../platform/clock.hpp"
#include "../platform/config.hpp"
#include "account_table.hpp"
#include "segment.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {

struct ledger;

namespace detail {

/// What was decided for a member, or found out: counted for each.
enum class ledger_count : unsigned {
  shares_taken,   ///< of others, that this thread has run
  anticipated,    ///< a region came while the member polled because it was due
  missed,         ///< a region came, and the member slept
  parted,         ///< it left a CPU that it shared with a member it waited for
  waits_spun,     ///< waits that were over while it polled,
  waits_yielded,  ///< while it yielded,
  waits_slept,    ///< and when it had slept
  how_many
};

/// One member's accounts.
class member_ledger {
  line_gap before_;

 public:
  explicit member_ledger(std::size_t members)
      : accounts(members),
        of_loops_(members + 1),
        times_(members),
        ranks_(members),
        scratch_(2 * members) {}

  account_table accounts;

  void count(ledger_count what) noexcept { counts_[static_cast<unsigned>(what)].add(1); }
  std::uint64_t count_of(ledger_count what) const noexcept {
    return counts_[static_cast<unsigned>(what)].get();
  }
  /// By the caller of loops: on how many members one was run.
  tally& loops_on(std::size_t members) noexcept { return of_loops_[members]; }
  std::uint64_t loops_on(std::size_t members) const noexcept { return of_loops_[members].get(); }

  /// The last part of a region that this member has run: when it began, when it last came out of a construct, when it
  /// ended.
  tally part_of_region, part_begin, segment_begin, part_end;

  void begin_part(std::uint32_t region) noexcept {
    const std::uint64_t now = tick_clock::now();
    part_begin.set(now);
    segment_begin.set(now);
    part_end.set(now);
    part_of_region.set(region);
  }
  void end_part() noexcept { part_end.set(tick_clock::now()); }

  /// How much the segment counts that ends at this pass of a construct; 0: it is not looked at. LEDGER-2.
  std::uint64_t weight_of(std::uint64_t pass, std::uint64_t ticks,
                          std::size_t members) const noexcept {
    if (pass <= always || ticks >= members * long_for_each) return 1;
    return (static_cast<std::uint32_t>(pass) * 0x9E3779B1u) >> 28 == 0 ? one_in : 0;
  }
  /// Room for the times of the members that meet.
  busy_time* times() noexcept { return times_.data(); }
  std::size_t* ranks() noexcept { return ranks_.data(); }
  /// Notes a segment of `count` members, whose times are in times(), and which was over then. rank_of(i): the rank in
  /// the team of the member whose times are there.
  template <class RankOf>
  void note_segment(std::size_t account, std::size_t count, std::uint64_t over,
                    std::uint64_t weight, RankOf rank_of) noexcept {
    const segment_figures figures = figures_of(times(), count);
    accounts.note_segment(account, figures, rank_of(figures.last), weight);
    share_by_busy(times(), count, over, scratch_.data(), [&](std::size_t k, std::uint64_t time) {
      accounts.busy(account, k).add(weight * time);
    });
  }

  /// From the first begin of a part to the last one.
  void note_skew(std::size_t account, std::uint64_t ticks, std::uint64_t weight) noexcept {
    accounts[account].skew.add(weight * ticks);
    accounts[account].longest_skew.raise_to(ticks);
  }

  void reset() noexcept {
    accounts.reset();
    for (tally& each : counts_) each.set(0);
    for (std::size_t i = 0; i < of_loops_.size(); ++i) of_loops_[i].set(0);
  }

  static constexpr std::uint64_t always = 16, one_in = 16, long_for_each = 30000;

 private:
  tally counts_[static_cast<unsigned>(ledger_count::how_many)];
  aligned_array<tally> of_loops_;
  aligned_array<busy_time> times_;
  aligned_array<std::size_t> ranks_;
  aligned_array<std::uint64_t> scratch_;
  line_gap after_;
};

/// The accounts of a team.
class ledger_board {
 public:
  /// Larger teams keep none.
  static constexpr std::size_t most_members = 1024;

  LOCKSTEP_COLD explicit ledger_board(std::size_t members);
  ledger_board(const ledger_board&) = delete;
  ledger_board& operator=(const ledger_board&) = delete;

  std::size_t members() const noexcept { return members_.size(); }
  member_ledger& of(std::size_t rank) noexcept { return *members_[rank]; }
  const member_ledger& of(std::size_t rank) const noexcept { return *members_[rank]; }

  /// What was gathered; a second has so many ticks.
  LOCKSTEP_COLD ledger gather(const char* team, double ticks_per_second) const;
  /// All numbers begin at 0 again. While no member adds.
  LOCKSTEP_COLD void reset() noexcept;

 private:
  aligned_array<owner<member_ledger>> members_;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TRACE_LEDGER_BOARD_HPP
