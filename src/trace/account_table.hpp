// SPDX-License-Identifier: MIT
// src/trace/account_table.hpp -- one member's numbers for each construct that it comes to (layer: trace)
//
// A table of fixed size. A construct is found by what it is and where it was called. Constructs that find no room share
// one account, `others`.
//
//   ACCOUNT-1  Only the member's own thread adds. Any thread may read at any time: each number is one that was there,
//              but numbers of one account may be of different moments.
//   ACCOUNT-2  A construct keeps its place as long as the table lives, also when the numbers are reset.
//
// Memory order (# marks the line)
//   #  access      order    pairs  why it suffices
//   1  used.load   acquire  2      the key is seen before its account is shown
//   2  used.store  release  1      as 1
//   3  used.load   relaxed  -      by the thread that writes it
//
// Cost   room: 2.4 KiB for an account and 8 bytes more for each two members. Time: a comparison for the construct of
//        before, about 5 ns for another.
#ifndef LOCKSTEP_SRC_TRACE_ACCOUNT_TABLE_HPP
#define LOCKSTEP_SRC_TRACE_ACCOUNT_TABLE_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <lockstep/call_site.hpp>
#include <lockstep/detail/platform/atomic.hpp>
#include <lockstep/detail/platform/cache_line.hpp>
#include <lockstep/detail/platform/config.hpp>
#include "kept_texts.hpp"
#include "segment.hpp"
#include "wait_histogram.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// What identifies a construct. The texts belong to the calling modules, except the label, which lives for ever.
struct construct_key {
  const char* kind;    ///< the name of its function
  source_place where;  ///< no file: not known
  const void* place;   ///< tells apart what has no call site; may be null
  const char* label;   ///< of the user's region around it; null: none

  /// As one thread meets it again and again: by addresses.
  bool is(const construct_key& other) const noexcept {
    return where.line == other.where.line && where.file == other.where.file && kind == other.kind &&
           place == other.place && label == other.label;
  }
  /// The same with texts that live for ever.
  construct_key kept() const noexcept {
    return {keep_text(kind),
            {where.file != nullptr ? keep_text(where.file) : nullptr, where.line},
            place,
            label};
  }
  /// As different units of a program spell it.
  bool is_same(const construct_key& other) const noexcept {
    return where.line == other.where.line && place == other.place &&
           is_same_text(kind, other.kind) && is_same_text(where.file, other.where.file) &&
           is_same_text(label, other.label);
  }
  std::size_t hash() const noexcept {
    const std::uint64_t file = reinterpret_cast<std::uintptr_t>(where.file);
    const std::uint64_t what = reinterpret_cast<std::uintptr_t>(kind);
    const std::uint64_t at = reinterpret_cast<std::uintptr_t>(place);
    const std::uint64_t in = reinterpret_cast<std::uintptr_t>(label);
    const std::uint64_t mixed =
        (file ^ (what << 21) ^ (at << 7) ^ (in << 13)) + where.line * std::uint64_t{41};
    return converted<std::size_t>((mixed * 0x9E3779B97F4A7C15u) >> 40);
  }

 private:
  static bool is_same_text(const char* a, const char* b) noexcept {
    return a == b || (a != nullptr && b != nullptr && std::strcmp(a, b) == 0);
  }
};

/// The numbers of one construct on one member. Times are ticks.
struct construct_account {
  tally passes;                ///< how often the member came
  tally waited, longest_wait;  ///< all waits together; the longest
  tally regions_time;  ///< of regions and loops: from the begin to the end, for their caller
  wait_histogram waits;
  // Of segments that this member has looked at, for all; each counts `weight` times.
  tally seen;                ///< how many
  tally gain;                ///< the last arrival less the mean one, together
  tally skew, longest_skew;  ///< from the first begin to the last
  // Of regions; see ledger.hpp.
  tally coming, after_loops, coming_after_loops;

  void reset() noexcept {
    for (tally* each : {&passes, &waited, &longest_wait, &regions_time, &seen, &gain, &skew,
                        &longest_skew, &coming, &after_loops, &coming_after_loops}) {
      each->set(0);
    }
    waits.reset();
  }
  /// One that stands for `weight` waits.
  void note_wait(std::uint64_t ticks, std::uint64_t weight) noexcept {
    waited.add(weight * ticks);
    longest_wait.raise_to(ticks);
    waits.add(ticks, weight);
  }
};

class account_table {
 public:
  static constexpr std::size_t most = 48;
  static constexpr std::size_t others = most;  ///< the account of all that found no room

  /// For a team of so many members.
  explicit account_table(std::size_t members)
      : members_(members), accounts_(most + 1), counts_((most + 1) * (2 * members + 1)) {}
  account_table(const account_table&) = delete;
  account_table& operator=(const account_table&) = delete;

  std::size_t members() const noexcept { return members_; }

  /// A region begins: the code of constructs may be another than before.
  void compare_again() noexcept { compared_ = 0; }
  /// The account of a construct, which gets one if there is room. By the thread that adds.
  std::size_t find(const construct_key& key) noexcept {
    if (last_ < most && given_[last_].is(key)) return last_;
    return last_ = find_slowly(key, most);
  }
  /// The same; there is room as long as fewer than so many constructs have accounts.
  std::size_t find_if_few(const construct_key& key, std::size_t few) noexcept {
    return find_slowly(key, few);
  }
  construct_account& operator[](std::size_t account) noexcept { return accounts_[account]; }
  const construct_account& operator[](std::size_t account) const noexcept {
    return accounts_[account];
  }
  /// How often a member came last, and how long exactly so many members were busy; of segments that were looked at.
  tally& last(std::size_t account, std::size_t rank) noexcept {
    return counts_[account * (2 * members_ + 1) + rank];
  }
  tally& busy(std::size_t account, std::size_t members) noexcept {
    return counts_[account * (2 * members_ + 1) + members_ + members];
  }
  std::uint64_t last(std::size_t account, std::size_t rank) const noexcept {
    return counts_[account * (2 * members_ + 1) + rank].get();
  }
  std::uint64_t busy(std::size_t account, std::size_t members) const noexcept {
    return counts_[account * (2 * members_ + 1) + members_ + members].get();
  }

  /// How many constructs have an account of their own: the first ones.
  std::size_t used() const noexcept { return used_.load(memory_order_acquire); }  // 1
  /// With texts that live for ever.
  const construct_key& key(std::size_t account) const noexcept { return keys_[account]; }

  /// A segment that ended at this construct, looked at for all. `ranks`: of the members in the team.
  void note_segment(std::size_t account, const segment_figures& of, std::size_t last_rank,
                    std::uint64_t weight) noexcept {
    construct_account& to = accounts_[account];
    to.seen.add(weight);
    to.gain.add(weight * of.gain);
    last(account, last_rank).add(weight);
  }

  /// The numbers begin at 0 again. While nobody adds.
  void reset() noexcept {
    for (std::size_t i = 0; i <= most; ++i) accounts_[i].reset();
    for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i].set(0);
  }

 private:
  static constexpr std::size_t slot_count = 128;
  static_assert(slot_count > most + most, "a search finds a free slot soon");
  static_assert(most <= 64, "a bit each");

  LOCKSTEP_NOINLINE std::size_t find_slowly(const construct_key& key, std::size_t room) noexcept {
    std::size_t slot = key.hash() % slot_count;
    for (; slots_[slot] != 0; slot = (slot + 1) % slot_count) {
      const std::size_t account = slots_[slot] - 1u;
      if (!given_[account].is(key)) continue;
      // A module that was unloaded may have left its addresses to other texts: not while its code runs.
      const std::uint64_t bit = std::uint64_t{1} << account;
      if ((compared_ & bit) == 0 && !keys_[account].is_same(key)) continue;
      compared_ |= bit;
      return account;
    }
    const std::size_t next = used_.load(memory_order_relaxed);  // 3
    if (next >= room) return others;
    given_[next] = key;
    keys_[next] = key.kept();
    slots_[slot] = static_cast<unsigned char>(next + 1);
    used_.store(next + 1, memory_order_release);  // 2
    return next;
  }

  const std::size_t members_;
  std::size_t last_ = most;
  observer_atomic<std::size_t> used_{0};
  construct_key given_[most];  ///< as they were found first; for comparison
  construct_key keys_[most];
  std::uint64_t compared_ = 0;  ///< accounts whose texts were compared in this region, a bit each
  unsigned char slots_[slot_count] = {};  ///< of an account, and 1; 0: free
  aligned_array<construct_account> accounts_;
  aligned_array<tally> counts_;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_TRACE_ACCOUNT_TABLE_HPP
