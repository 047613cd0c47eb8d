// SPDX-License-Identifier: MIT
// src/trace/account_table.hpp -- one member's numbers for each construct that it comes to (layer: trace)
//
// The table has a fixed size. The key of a construct is what it is and where it was called. Constructs that find no
// room share one account, `others`.
//
//   ACCOUNT-1  Only the member's own thread adds. Any thread may read at any time. Each number is right for some
//              moment, but numbers of one account may be of different moments.
//   ACCOUNT-2  A construct keeps its account as long as the table lives, also when the numbers are reset.
//
// Memory order (# marks the line)
//   #  access      order    pairs  why it suffices
//   1  used.load   acquire  2      the key is seen before its account is shown
//   2  used.store  release  1      as 1
//   3  used.load   relaxed  -      in the thread that writes it
//   4  value.load  relaxed  -      a number that stands for itself
//   5  value.store relaxed  -      as 4; one thread writes
//
// Cost   room: 2.4 KiB an account, and 16 bytes more for each member. Time: a comparison if the construct is the same
//        as in the call before, else about 5 ns.
#ifndef LOCKSTEP_SRC_TRACE_ACCOUNT_TABLE_HPP
#define LOCKSTEP_SRC_TRACE_ACCOUNT_TABLE_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include <lockstep/call_site.hpp>
#include <lockstep/detail/platform/atomic.hpp>
#include <lockstep/detail/platform/cache_line.hpp>
#include <lockstep/detail/platform/config.hpp>
#include "names.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// A number that one thread changes, and that others may read at any time.
class tally {
 public:
  std::uint64_t get() const noexcept { return value_.load(memory_order_relaxed); }       // 4
  void set(std::uint64_t value) noexcept { value_.store(value, memory_order_relaxed); }  // 5
  void add(std::uint64_t more) noexcept { set(get() + more); }
  void raise_to(std::uint64_t least) noexcept {
    if (get() < least) set(least);
  }

 private:
  unseamed_atomic<std::uint64_t> value_{0};
};

/// The buckets of times. Each power of two has eight, so a quantile is off by 6 % at most. Values below 8 are exact.
/// Values from 2^40 on count as the longest.
struct wait_buckets {
  static constexpr unsigned per_octave = 8, octaves = 40;
  static constexpr std::size_t count = (octaves - 2) * per_octave;

  /// From the exponent and the first three binary digits of the value as a floating-point number.
  static std::size_t of(std::uint64_t value) noexcept {
    static_assert(std::numeric_limits<double>::is_iec559,
                  "its digits are where they are looked for");
    if (value < per_octave) return converted<std::size_t>(value);
    if (value >= std::uint64_t{1} << octaves) return count - 1;
    const double number = static_cast<double>(static_cast<std::int64_t>(value));
    std::uint64_t digits;
    std::memcpy(&digits, &number, sizeof digits);
    return converted<std::size_t>((digits >> 49) - 1025 * per_octave);
  }
  /// The least value of a bucket.
  static std::uint64_t least_of(std::size_t bucket) noexcept {
    if (bucket < 2 * per_octave) return bucket;
    return (bucket % per_octave + per_octave) << (bucket / per_octave - 1);
  }
  /// The value that differs least, in proportion, from all values of a bucket.
  static double value_of(std::size_t bucket) noexcept {
    const double least = static_cast<double>(least_of(bucket));
    if (bucket < 2 * per_octave) return least;
    const double end = static_cast<double>(least_of(bucket + 1));
    return 2 * least * end / (least + end);
  }
};

class wait_histogram {
 public:
  void add(std::uint64_t value, std::uint64_t times = 1) noexcept {
    counts_[wait_buckets::of(value)].add(times);
  }
  std::uint64_t count_of(std::size_t bucket) const noexcept { return counts_[bucket].get(); }
  void reset() noexcept {
    for (tally& each : counts_) each.set(0);
  }

 private:
  tally counts_[wait_buckets::count];
};

/// The sum of one or several histograms. Plain data.
class wait_counts {
 public:
  /// The largest error of a quantile, in proportion.
  static constexpr double most_error = 1.0 / 17;

  void add(const wait_histogram& of) noexcept {
    for (std::size_t i = 0; i < wait_buckets::count; ++i) counts_[i] += of.count_of(i);
  }
  std::uint64_t total() const noexcept {
    std::uint64_t sum = 0;
    for (const std::uint64_t each : counts_) sum += each;
    return sum;
  }
  /// The smallest value that is not below a `share` of all values; 0 if there are none.
  double quantile(double share) const noexcept {
    const std::uint64_t all = total();
    if (all == 0) return 0;
    const double wanted = share * static_cast<double>(all);
    std::uint64_t seen = 0;
    std::size_t bucket = 0;
    for (; bucket + 1 < wait_buckets::count; ++bucket) {
      seen += counts_[bucket];
      if (seen > 0 && static_cast<double>(seen) >= wanted) break;
    }
    return wait_buckets::value_of(bucket);
  }

 private:
  std::uint64_t counts_[wait_buckets::count] = {};
};

/// The key of a construct. The texts belong to the calling modules, except the label, which lives for ever.
struct construct_key {
  const char* kind;    ///< the name of its function
  source_place where;  ///< no file: not known
  const void* place;   ///< tells apart what has no call site; may be null
  const char* label;   ///< of the user's region around it; null: none

  /// Compares by addresses: enough for one thread that comes again and again.
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
  /// Compares the texts: different units of a program have different copies.
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
  tally regions_time;  ///< of regions and loops: from the begin to the end, as their caller sees it
  wait_histogram waits;
  // Of segments that this member has looked at, for all members. Each counts `weight` times.
  tally seen;                ///< how many
  tally gain;                ///< the last arrival minus the mean one, summed up
  tally skew, longest_skew;  ///< from the first begin to the last, summed up; the longest

  void reset() noexcept {
    for (tally* each :
         {&passes, &waited, &longest_wait, &regions_time, &seen, &gain, &skew, &longest_skew}) {
      each->set(0);
    }
    waits.reset();
  }
  /// Notes a wait that stands for `weight` waits.
  void note_wait(std::uint64_t ticks, std::uint64_t weight) noexcept {
    waited.add(weight * ticks);
    longest_wait.raise_to(ticks);
    waits.add(ticks, weight);
  }
};

class account_table {
 public:
  static constexpr std::size_t most = 48;
  static constexpr std::size_t others = most;  ///< the account of all constructs that found no room

  /// For a team of so many members.
  explicit account_table(std::size_t members)
      : members_(members), accounts_(most + 1), counts_((most + 1) * (2 * members + 1)) {}
  account_table(const account_table&) = delete;
  account_table& operator=(const account_table&) = delete;

  std::size_t members() const noexcept { return members_; }

  /// A region begins. A module may have been unloaded since the last region, so texts are compared again.
  void compare_again() noexcept { compared_ = 0; }
  /// The account of a construct. It gets one if there is room. Only for the thread that adds.
  std::size_t find(const construct_key& key) noexcept {
    if (last_ < most && given_[last_].is(key)) return last_;
    return last_ = find_slowly(key, most);
  }
  /// The same, but there is room only as long as fewer than `few` constructs have accounts.
  std::size_t find_if_few(const construct_key& key, std::size_t few) noexcept {
    return find_slowly(key, few);
  }
  construct_account& operator[](std::size_t account) noexcept { return accounts_[account]; }
  const construct_account& operator[](std::size_t account) const noexcept {
    return accounts_[account];
  }
  /// How often the member `rank` came last, and how long exactly `members` of them were busy, in segments looked at.
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

  /// How many constructs have an account of their own. Their accounts are the first ones.
  std::size_t used() const noexcept { return used_.load(memory_order_acquire); }  // 1
  /// The key of an account, with texts that live for ever.
  const construct_key& key(std::size_t account) const noexcept { return keys_[account]; }
  /// Calls f(key, account) for each account with a pass.
  template <class Function>
  void for_each(Function f) const {
    const std::size_t all = used();
    for (std::size_t i = 0; i < all; ++i) {
      if (accounts_[i].passes.get() != 0) f(key(i), i);
    }
    const construct_key without_room = {"others", {nullptr, 0}, nullptr, nullptr};
    if (accounts_[others].passes.get() != 0) f(without_room, others);
  }

  /// Sets all numbers to 0. Requires: no thread adds meanwhile.
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
      // Other texts may lie where a module that was unloaded had its texts. It is not unloaded while its code runs.
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
  unsigned char slots_[slot_count] = {};  ///< the number of an account plus 1; 0: free
  aligned_array<construct_account> accounts_;
  aligned_array<tally> counts_;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_TRACE_ACCOUNT_TABLE_HPP
