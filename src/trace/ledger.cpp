// SPDX-License-Identifier: MIT
// src/trace/ledger.cpp -- ledger.hpp: adds up the accounts of all members, as data and as texts (layer: trace)
#include "ledger_board.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include <lockstep/team.hpp>
#include "../platform/system_texts.hpp"
#include "../team/team_core.hpp"
#include "json_writer.hpp"
#include "names.hpp"

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

/// The numbers of decisions, in the order of ledger_count.
struct decided_number {
  const char* name;
  std::uint64_t ledger::decisions::* value;
};
constexpr decided_number decided_numbers[] = {{"shares_taken", &ledger::decisions::shares_taken},
                                              {"anticipated", &ledger::decisions::anticipated},
                                              {"missed", &ledger::decisions::missed},
                                              {"crowded", &ledger::decisions::crowded},
                                              {"inline_runs", &ledger::decisions::inline_runs},
                                              {"inline_loops", &ledger::decisions::inline_loops},
                                              {"separated", &ledger::decisions::separated},
                                              {"spun", &ledger::decisions::spun},
                                              {"yielded", &ledger::decisions::yielded},
                                              {"slept", &ledger::decisions::slept}};

/// The waits of one member, or of all, in ticks.
struct gathered_waits {
  wait_counts counts;
  std::uint64_t count = 0, total = 0, worst = 0;

  void add(const construct_account& of) noexcept {
    counts.add(of.waits);
    count += of.passes.get();
    total += of.waited.get();
    worst = (std::max)(worst, of.longest_wait.get());
  }
  ledger::waits in(double nanosecond) const noexcept {
    const double most = static_cast<double>(worst);
    ledger::waits result;
    result.count = count;
    result.total = static_cast<double>(total) / nanosecond;
    result.worst = most / nanosecond;
    result.median = (std::min)(counts.quantile(0.5), most) / nanosecond;
    result.p99 = (std::min)(counts.quantile(0.99), most) / nanosecond;
    return result;
  }
};

/// A time as a number of at most four characters and a unit: "1.23 us".
LOCKSTEP_INLINE std::string time_text(double nanoseconds) {
  static const char* const units[] = {"ns", "us", "ms", "s"};
  unsigned unit = 0;
  while (unit < 3 && nanoseconds >= 999.5) {
    nanoseconds /= 1000;
    ++unit;
  }
  std::string text;
  append(text,
         nanoseconds < 9.995 && unit > 0   ? "%.2f %s"
         : nanoseconds < 99.95 && unit > 0 ? "%.1f %s"
                                           : "%.0f %s",
         nanoseconds, units[unit]);
  return text;
}

/// "0: 12 %  1: 88 %": the shares of a sum. Small shares are left out, and so are those after the eighth.
template <class Number>
std::string shares_text(const std::vector<Number>& parts) {
  const Number sum = std::accumulate(parts.begin(), parts.end(), Number());
  std::string text;
  unsigned shown = 0;
  for (std::size_t i = 0; i < parts.size() && sum > 0; ++i) {
    const double percent = 100 * static_cast<double>(parts[i]) / static_cast<double>(sum);
    if (percent < 0.5) continue;
    if (++shown > 8) {
      text += "  ...";
      break;
    }
    append(text, "%s%zu: %.0f %%", text.empty() ? "" : "  ", i, percent);
  }
  return text;
}

/// Whole nanoseconds.
inline std::uint64_t rounded(double nanoseconds) {
  return static_cast<std::uint64_t>(nanoseconds + 0.5);
}
inline void put_json(json_writer& to, std::uint64_t number) { to.number(number); }
inline void put_json(json_writer& to, double nanoseconds) { to.number(rounded(nanoseconds)); }
inline void put_json(json_writer& to, const ledger::waits& of) {
  to.put("{").field("count", of.count).field("total", rounded(of.total));
  to.field("median", rounded(of.median)).field("p99", rounded(of.p99));
  to.field("worst", rounded(of.worst)).put("}");
}
template <class Value>
void put_json(json_writer& to, const std::vector<Value>& values) {
  to.put("[");
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) to.put(",");
    put_json(to, values[i]);
  }
  to.put("]");
}

}  // namespace ledger_text

/// The sums for one construct, from the tables of all members. `nanosecond`: how many ticks it has.
LOCKSTEP_INLINE ledger::construct ledger_board::gather(const construct_key& key,
                                                       double nanosecond) const {
  const auto time = [nanosecond](std::uint64_t ticks) {
    return static_cast<double>(ticks) / nanosecond;
  };
  ledger::construct made;
  made.kind = key.kind;
  if (key.where.file != nullptr) made.file = key.where.file;
  made.line = static_cast<unsigned>(key.where.line);
  if (key.label != nullptr) made.label = key.label;
  made.last.resize(members());
  made.busy.resize(members() + 1);
  ledger_text::gathered_waits all;
  for (std::size_t rank = 0; rank < members(); ++rank) {
    const account_table& table = of(rank).accounts;
    ledger_text::gathered_waits own;
    table.for_each([&](const construct_key& its_key, std::size_t i) {
      if (!its_key.is_same(key)) return;
      const construct_account& account = table[i];
      all.add(account);
      own.add(account);
      made.time += time(account.regions_time.get());
      made.seen += account.seen.get();
      made.gain += time(account.gain.get());
      made.skew += time(account.skew.get());
      made.worst_skew = (std::max)(made.worst_skew, time(account.longest_skew.get()));
      for (std::size_t k = 0; k < members(); ++k) made.last[k] += table.last(i, k);
      for (std::size_t k = 0; k <= members(); ++k) made.busy[k] += time(table.busy(i, k));
    });
    made.members.push_back(own.in(nanosecond));
    made.count = (std::max)(made.count, own.count);
  }
  made.all = all.in(nanosecond);
  // Without a region, this is the time of the work that comes before the construct.
  if (made.time == 0) made.time = std::accumulate(made.busy.begin(), made.busy.end(), 0.0);
  return made;
}

LOCKSTEP_INLINE ledger ledger_board::gather(const char* team) const {
  const double nanosecond = ticks_per_second_ / 1e9;
  ledger result;
  result.team = team;
  result.members = members();
  const std::uint64_t since = kept_since_.get();
  const std::uint64_t kept = kept_before_.get() + (since != 0 ? tick_clock::now() - since : 0);
  result.time = static_cast<double>(kept) / nanosecond;
  std::vector<construct_key> keys;
  for (std::size_t rank = 0; rank < members(); ++rank) {
    of(rank).accounts.for_each([&](const construct_key& key, std::size_t) {
      const auto is_it = [&](const construct_key& each) { return each.is_same(key); };
      if (std::any_of(keys.begin(), keys.end(), is_it)) return;
      keys.push_back(key);
      ledger::construct made = gather(key, nanosecond);
      auto at = result.constructs.begin();  // the longest waits first
      while (at != result.constructs.end() && at->all.total >= made.all.total) ++at;
      result.constructs.insert(at, std::move(made));
    });
  }
  ledger::decisions& decided = result.decided;
  decided.loops_on.resize(members() + 1);
  for (std::size_t rank = 0; rank < members(); ++rank) {
    const member_ledger& own = of(rank);
    for (std::size_t k = 0; k <= members(); ++k) decided.loops_on[k] += own.loops_on(k);
    for (unsigned i = 0; i < static_cast<unsigned>(ledger_count::how_many); ++i) {
      decided.*ledger_text::decided_numbers[i].value += own.count_of(static_cast<ledger_count>(i));
    }
  }
  return result;
}

}  // namespace detail

LOCKSTEP_INLINE std::vector<double> ledger::busy() const {
  std::vector<double> sums(members + 1);
  for (const construct& each : constructs) {
    for (std::size_t k = 0; k < each.busy.size(); ++k) sums[k] += each.busy[k];
  }
  return sums;
}

LOCKSTEP_INLINE std::string ledger::table() const {
  using namespace detail;
  using namespace detail::ledger_text;
  std::string text = "lockstep ledger of team " + one_line(team.c_str());
  text += ", " + counted(members, "member");
  if (time > 0) append(text, ", kept for %s", time_text(time).c_str());
  text += "\n";
  std::size_t widest = 0;
  for (const construct& each : constructs) {
    widest = each.label.size() > widest ? each.label.size() : widest;
  }
  if (widest != 0 && widest < 8) widest = 8;
  const int room = static_cast<int>(widest < 24 ? widest : 24);
  const auto label_text = [room](const char* label) {
    std::string of;
    if (room != 0) append(of, "%-*.*s ", room, room, label);
    return of;
  };
  append(text, "%-14s %-20s %s%9s %9s %6s %9s %9s %9s %9s %9s %9s  %s\n", "construct", "called at",
         label_text("in, node").c_str(), "count", "time", "of all", "waited", "median", "p99",
         "worst", "gain", "skew", "last, by rank");
  for (const construct& each : constructs) {
    const double passes = each.seen != 0 ? static_cast<double>(each.seen) : 1;
    std::string share = "-";
    if (each.time > 0 && time > 0) {
      share.clear();
      append(share, "%.0f %%", 100 * each.time / time);
    }
    append(text, "%-14s %-20s %s%9llu %9s %6s %9s %9s %9s %9s %9s %9s  %s\n", each.kind.c_str(),
           site_text(each.file.c_str(), each.line).c_str(),
           label_text(one_line(each.label.c_str()).c_str()).c_str(),
           static_cast<unsigned long long>(each.count),
           each.time > 0 ? time_text(each.time).c_str() : "-", share.c_str(),
           time_text(each.all.total).c_str(), time_text(each.all.median).c_str(),
           time_text(each.all.p99).c_str(), time_text(each.all.worst).c_str(),
           each.seen != 0 ? time_text(each.gain).c_str() : "-",
           each.worst_skew > 0 ? time_text(each.skew / passes).c_str() : "-",
           shares_text(each.last).c_str());
  }
  const std::string busy_shares = shares_text(busy());
  if (!busy_shares.empty())
    text += "share of time with so many members busy: " + busy_shares + "\n";
  std::string loops;
  for (std::size_t k = 1; k < decided.loops_on.size(); ++k) {
    if (decided.loops_on[k] == 0) continue;
    append(loops, "%s%llu on %zu%s", loops.empty() ? "" : ", ",
           static_cast<unsigned long long>(decided.loops_on[k]), k, k == 1 ? " (inline)" : "");
  }
  if (!loops.empty()) text += "loops: " + loops + "\n";
  const auto number = [](std::uint64_t value) { return static_cast<unsigned long long>(value); };
  if ((decided.inline_runs | decided.inline_loops) != 0) {
    text += "called inside of a region, and run alone: " + counted(decided.inline_runs, "region") +
            ", " + counted(decided.inline_loops, "loop") + "\n";
  }
  if (decided.crowded != 0) {
    append(text, "regions and loops on more members than CPUs for them: %llu\n",
           number(decided.crowded));
  }
  append(
      text,
      "shares taken over %llu; regions anticipated %llu, missed %llu; moves to another CPU %llu\n",
      number(decided.shares_taken), number(decided.anticipated), number(decided.missed),
      number(decided.separated));
  append(text, "long waits over while spinning %llu, yielding %llu, asleep %llu\n",
         number(decided.spun), number(decided.yielded), number(decided.slept));
  text +=
      "time: of regions all of them, of others what lies before, with the wait; waited: by all "
      "members;\n"
      "gain: if the same work were balanced; busy: in plans also members that wait for a node;\n"
      "median, p99, last, gain, skew and busy are of chosen passes where those are short (one in\n"
      "128, and all long waits), else of all\n";
  return text;
}

LOCKSTEP_INLINE std::string ledger::json() const {
  using namespace detail;
  using namespace detail::ledger_text;
  json_writer to;
  to.put("{").field("team", team.c_str()).field("members", members);
  to.field("time", rounded(time)).field("unit", "ns").field("constructs").put("[");
  for (const construct& each : constructs) {
    if (&each != &constructs[0]) to.put(",");
    to.put("{").field("kind", each.kind.c_str()).field("file", each.file.c_str());
    to.field("line", each.line).field("label", each.label.c_str()).field("count", each.count);
    put_json(to.field("waits"), each.all);
    put_json(to.field("members"), each.members);
    to.field("time", rounded(each.time)).field("seen", each.seen);
    put_json(to.field("last"), each.last);
    put_json(to.field("busy"), each.busy);
    to.field("gain", rounded(each.gain)).field("skew", rounded(each.skew));
    to.field("worst_skew", rounded(each.worst_skew)).put("}");
  }
  to.put("]").field("decisions").put("{");
  for (const decided_number& each : decided_numbers) to.field(each.name, decided.*each.value);
  put_json(to.field("loops_on"), decided.loops_on);
  return to.put("}}").taken();
}

LOCKSTEP_INLINE ledger team::ledger() const {
  detail::team_core& core = host_.core();
  lockstep::ledger result;
  result.team = core.name();
  result.members = size();
  detail::gather_ledger(core.seen(), result);
  return result;
}

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
