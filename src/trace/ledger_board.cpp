// SPDX-License-Identifier: MIT
// src/trace/ledger_board.cpp -- the bodies of ledger_board.hpp (layer: trace)
#include "ledger_board.hpp"

#include <cstdio>
#include <cstring>
#include <vector>

#include <lockstep/ledger.hpp>

#include "../platform/system_texts.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

LOCKSTEP_INLINE ledger_board::ledger_board(std::size_t members, double ticks_per_second,
                                           std::size_t cpus)
    : ticks_per_second_(ticks_per_second), members_(members) {
  const double long_time = 20e-6 + 2e-6 * static_cast<double>(members);
  paces_.meetings.begin(static_cast<std::uint64_t>(long_time * ticks_per_second));
  paces_.cpus = cpus;
  paces_.regions.begin(static_cast<std::uint64_t>(long_time * ticks_per_second));
  for (std::size_t i = 0; i < members; ++i) members_[i].reset(new member_ledger(members, paces_));
}

LOCKSTEP_INLINE void ledger_board::reset() noexcept {
  for (std::size_t i = 0; i < members(); ++i) of(i).reset();
  kept_before_.set(0);
  if (kept_since_.get() != 0) kept_since_.set(tick_clock::now());
  paces_.meetings.reset();
  paces_.regions.reset();
}

namespace ledger_text {

/// The account of one member that is part of a construct.
struct account_place {
  std::size_t rank, account;
};

/// All that belongs to one construct, from the tables of all members.
struct found_construct {
  construct_key key;
  std::vector<account_place> accounts;
};

/// A construct of no known place: what found no room.
inline construct_key key_of_others() noexcept { return {"others", {nullptr, 0}, nullptr, nullptr}; }

LOCKSTEP_INLINE void add_account(std::vector<found_construct>& to, const construct_key& key,
                                 account_place at) {
  for (found_construct& each : to) {
    if (!each.key.is_same(key)) continue;
    each.accounts.push_back(at);
    return;
  }
  to.push_back(found_construct{key, std::vector<account_place>(1, at)});
}

LOCKSTEP_INLINE ledger::waits waits_of(const construct_account& of, double nanosecond,
                                       wait_counts& all) {
  wait_counts counts;
  counts.add(of.waits);
  all.add(of.waits);
  ledger::waits result;
  result.count = of.passes.get();
  result.total = static_cast<double>(of.waited.get()) / nanosecond;
  result.worst = static_cast<double>(of.longest_wait.get()) / nanosecond;
  const auto at_most_worst = [&](double ticks) {
    return ticks / nanosecond < result.worst ? ticks / nanosecond : result.worst;
  };
  result.median = at_most_worst(counts.quantile(0.5));
  result.p99 = at_most_worst(counts.quantile(0.99));
  return result;
}

/// `nanosecond`: in ticks.
LOCKSTEP_INLINE ledger::construct construct_of(const ledger_board& board, const found_construct& of,
                                               double nanosecond) {
  ledger::construct result;
  result.kind = of.key.kind;
  if (of.key.where.file != nullptr) result.file = of.key.where.file;
  result.line = of.key.where.line;
  if (of.key.label != nullptr) result.label = of.key.label;
  const std::size_t size = board.members();
  result.members.resize(size);
  result.last.resize(size);
  result.busy.resize(size + 1);
  wait_counts all;
  for (const account_place& at : of.accounts) {
    const account_table& table = board.of(at.rank).accounts;
    const construct_account& account = table[at.account];
    const ledger::waits own = waits_of(account, nanosecond, all);
    ledger::waits& member = result.members[at.rank];
    // The same construct twice on one member: spelled differently in two units.
    member.median = own.count > member.count ? own.median : member.median;
    member.p99 = own.p99 > member.p99 ? own.p99 : member.p99;
    member.worst = own.worst > member.worst ? own.worst : member.worst;
    member.count += own.count;
    member.total += own.total;
    result.all.total += own.total;
    result.all.count += own.count;
    if (own.worst > result.all.worst) result.all.worst = own.worst;
    if (member.count > result.count) result.count = member.count;
    result.time += static_cast<double>(account.regions_time.get()) / nanosecond;
    result.seen += account.seen.get();
    result.gain += static_cast<double>(account.gain.get()) / nanosecond;
    result.skew += static_cast<double>(account.skew.get()) / nanosecond;
    const double worst_skew = static_cast<double>(account.longest_skew.get()) / nanosecond;
    if (worst_skew > result.worst_skew) result.worst_skew = worst_skew;
    result.coming += static_cast<double>(account.coming.get()) / nanosecond;
    result.after_loops += account.after_loops.get();
    result.coming_after_loops += static_cast<double>(account.coming_after_loops.get()) / nanosecond;
    for (std::size_t i = 0; i < size; ++i) result.last[i] += table.last(at.account, i);
    for (std::size_t k = 0; k <= size; ++k) {
      result.busy[k] += static_cast<double>(table.busy(at.account, k)) / nanosecond;
    }
  }
  if (result.time == 0) {  // no region: what lies before it
    for (const double each : result.busy) result.time += each;
  }
  const double worst = result.all.worst;
  const double median = all.quantile(0.5) / nanosecond, p99 = all.quantile(0.99) / nanosecond;
  result.all.median = median < worst ? median : worst;
  result.all.p99 = p99 < worst ? p99 : worst;
  return result;
}

}  // namespace ledger_text

LOCKSTEP_INLINE ledger ledger_board::gather(const char* team) const {
  using namespace ledger_text;
  const double nanosecond = ticks_per_second_ / 1e9;
  std::vector<found_construct> found;
  for (std::size_t rank = 0; rank < members(); ++rank) {
    const account_table& table = of(rank).accounts;
    for (std::size_t i = 0; i < table.used(); ++i) {
      if (table[i].passes.get() != 0) add_account(found, table.key(i), {rank, i});
    }
    if (table[account_table::others].passes.get() != 0) {
      add_account(found, key_of_others(), {rank, account_table::others});
    }
  }
  ledger result;
  result.team = team;
  result.members = members();
  const std::uint64_t since = kept_since_.get();
  const std::uint64_t kept = kept_before_.get() + (since != 0 ? tick_clock::now() - since : 0);
  result.time = static_cast<double>(kept) / nanosecond;
  for (const found_construct& each : found) {
    result.constructs.push_back(construct_of(*this, each, nanosecond));
  }
  // The longest waits first.
  std::vector<ledger::construct>& all = result.constructs;
  for (std::size_t i = 1; i < all.size(); ++i) {
    for (std::size_t at = i; at > 0 && all[at - 1].all.total < all[at].all.total; --at) {
      std::swap(all[at - 1], all[at]);
    }
  }
  ledger::decisions& decided = result.decided;
  decided.loops_on.resize(members() + 1);
  for (std::size_t rank = 0; rank < members(); ++rank) {
    const member_ledger& own = of(rank);
    for (std::size_t k = 0; k <= members(); ++k) decided.loops_on[k] += own.loops_on(k);
    decided.shares_taken += own.count_of(ledger_count::shares_taken);
    decided.anticipated += own.count_of(ledger_count::anticipated);
    decided.missed += own.count_of(ledger_count::missed);
    decided.crowded += own.count_of(ledger_count::crowded);
    decided.inline_runs += own.count_of(ledger_count::inline_runs);
    decided.inline_loops += own.count_of(ledger_count::inline_loops);
    decided.separated += own.count_of(ledger_count::separated);
    decided.spun += own.count_of(ledger_count::waits_spun);
    decided.yielded += own.count_of(ledger_count::waits_yielded);
    decided.slept += own.count_of(ledger_count::waits_slept);
  }
  return result;
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
