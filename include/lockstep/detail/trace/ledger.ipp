// SPDX-License-Identifier: MIT
// lockstep/detail/trace/ledger.ipp -- the bodies of ledger.hpp and ledger_board.hpp (layer: trace)
#ifndef LOCKSTEP_DETAIL_TRACE_LEDGER_IPP
#define LOCKSTEP_DETAIL_TRACE_LEDGER_IPP

#include <cstdio>
#include <cstring>

#include "../../ledger.hpp"
#include "../platform/growing_array.hpp"
#include "../platform/system_texts.hpp"
#include "ledger_board.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

LOCKSTEP_COLD ledger_board::ledger_board(std::size_t members, double ticks_per_second)
    : ticks_per_second_(ticks_per_second), members_(members) {
  const double long_time = 20e-6 + 2e-6 * static_cast<double>(members);
  paces_.meetings.begin(static_cast<std::uint64_t>(long_time * ticks_per_second));
  paces_.regions.begin(static_cast<std::uint64_t>(long_time * ticks_per_second));
  for (std::size_t i = 0; i < members; ++i) members_[i].reset(new member_ledger(members, paces_));
}

LOCKSTEP_COLD void ledger_board::reset() noexcept {
  for (std::size_t i = 0; i < members(); ++i) of(i).reset();
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
  growing_array<account_place> accounts;
};

/// A construct of no known place: what found no room.
inline construct_key key_of_others() noexcept { return {"others", {nullptr, 0}, nullptr}; }

LOCKSTEP_COLD void add_account(growing_array<found_construct>& to, const construct_key& key,
                               account_place at) {
  for (found_construct& each : to) {
    if (!each.key.is_same(key)) continue;
    each.accounts.push_back(at);
    return;
  }
  to.push_back(found_construct{key, growing_array<account_place>(1, at)});
}

LOCKSTEP_COLD ledger::waits waits_of(const construct_account& of, double nanosecond,
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
LOCKSTEP_COLD ledger::construct construct_of(const ledger_board& board, const found_construct& of,
                                             double nanosecond) {
  ledger::construct result;
  result.kind = of.key.kind;
  if (of.key.where.file != nullptr) result.file = of.key.where.file;
  result.line = of.key.where.line;
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
    for (std::size_t i = 0; i < size; ++i) result.last[i] += table.last(at.account, i);
    for (std::size_t k = 0; k <= size; ++k) {
      result.busy[k] += static_cast<double>(table.busy(at.account, k)) / nanosecond;
    }
  }
  const double worst = result.all.worst;
  const double median = all.quantile(0.5) / nanosecond, p99 = all.quantile(0.99) / nanosecond;
  result.all.median = median < worst ? median : worst;
  result.all.p99 = p99 < worst ? p99 : worst;
  return result;
}

}  // namespace ledger_text

LOCKSTEP_COLD ledger ledger_board::gather(const char* team) const {
  using namespace ledger_text;
  const double nanosecond = ticks_per_second_ / 1e9;
  growing_array<found_construct> found;
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
    decided.parted += own.count_of(ledger_count::parted);
    decided.spun += own.count_of(ledger_count::waits_spun);
    decided.yielded += own.count_of(ledger_count::waits_yielded);
    decided.slept += own.count_of(ledger_count::waits_slept);
  }
  return result;
}

namespace ledger_text {

/// In four characters of a number and a unit: "1.23 us".
LOCKSTEP_COLD std::string time_text(double nanoseconds) {
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

/// The name of a file without its directories, and the line.
LOCKSTEP_COLD std::string site_text(const ledger::construct& of) {
  const std::size_t slash = of.file.find_last_of("/\\");
  std::string text = slash == std::string::npos ? of.file : of.file.substr(slash + 1);
  if (!text.empty()) append(text, ":%u", of.line);
  return text;
}

/// "0: 12 %  1: 88 %" for the shares of a sum that are not small; at most eight.
LOCKSTEP_COLD std::string shares_text(const double* parts, std::size_t count) {
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += parts[i];
  std::string text;
  unsigned shown = 0;
  for (std::size_t i = 0; i < count && sum > 0; ++i) {
    const double percent = 100 * parts[i] / sum;
    if (percent < 0.5) continue;
    if (++shown > 8) {
      text += "  ...";
      break;
    }
    append(text, "%s%zu: %.0f %%", text.empty() ? "" : "  ", i, percent);
  }
  return text;
}
LOCKSTEP_COLD std::string shares_text(const std::vector<std::uint64_t>& parts) {
  std::vector<double> values;
  for (const std::uint64_t each : parts) values.push_back(static_cast<double>(each));
  return shares_text(values.data(), values.size());
}

/// A text in quotes, as JSON has it.
LOCKSTEP_COLD std::string json_text(const std::string& of) {
  std::string text = "\"";
  for (const char each : of) {
    const unsigned char code = static_cast<unsigned char>(each);
    if (each == '"' || each == '\\') {
      text += '\\';
      text += each;
    } else if (code < 0x20 || code >= 0x7f) {
      append(text, "\\u%04x", code < 0x20 ? code : unsigned{'?'});  // of an unknown encoding
    } else {
      text += each;
    }
  }
  return text + "\"";
}
LOCKSTEP_COLD std::string json_of(const ledger::waits& of) {
  std::string text;
  append(text, "{\"count\":%llu,\"total\":%.0f,\"median\":%.0f,\"p99\":%.0f,\"worst\":%.0f}",
         static_cast<unsigned long long>(of.count), of.total, of.median, of.p99, of.worst);
  return text;
}
LOCKSTEP_COLD void append_json(std::string& text, std::uint64_t number) {
  append(text, "%llu", static_cast<unsigned long long>(number));
}
/// Without a decimal point, which a locale may change.
LOCKSTEP_COLD void append_json(std::string& text, double number) { append(text, "%.0f", number); }
LOCKSTEP_COLD void append_json(std::string& text, const ledger::waits& of) { text += json_of(of); }
template <class Value>
void append_json(std::string& text, const char* name, const std::vector<Value>& values) {
  append(text, ",\"%s\":[", name);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) text += ',';
    append_json(text, values[i]);
  }
  text += ']';
}
template <class Value>
void append_json(std::string& text, const char* name, const Value& value) {
  append(text, ",\"%s\":", name);
  append_json(text, value);
}

}  // namespace ledger_text
}  // namespace detail

LOCKSTEP_COLD std::vector<double> ledger::busy() const {
  std::vector<double> sums(members + 1);
  for (const construct& each : constructs) {
    for (std::size_t k = 0; k < each.busy.size(); ++k) sums[k] += each.busy[k];
  }
  return sums;
}

LOCKSTEP_COLD std::string ledger::table() const {
  using namespace detail;
  using namespace detail::ledger_text;
  std::string text = "lockstep ledger of team " + team;
  append(text, ", %zu %s\n", members, members == 1 ? "member" : "members");
  append(text, "%-14s %-20s %9s %9s %9s %9s %9s %9s %9s  %s\n", "construct", "called at", "count",
         "waited", "median", "p99", "worst", "gain", "skew", "last, by rank");
  for (const construct& each : constructs) {
    const double passes = each.seen != 0 ? static_cast<double>(each.seen) : 1;
    append(text, "%-14s %-20s %9llu %9s %9s %9s %9s %9s %9s  %s\n", each.kind.c_str(),
           site_text(each).c_str(), static_cast<unsigned long long>(each.count),
           time_text(each.all.total).c_str(), time_text(each.all.median).c_str(),
           time_text(each.all.p99).c_str(), time_text(each.all.worst).c_str(),
           each.seen != 0 ? time_text(each.gain).c_str() : "-",
           each.worst_skew > 0 ? time_text(each.skew / passes).c_str() : "-",
           shares_text(each.last).c_str());
  }
  const std::vector<double> shares = busy();
  const std::string busy_shares = shares_text(shares.data(), shares.size());
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
  append(
      text,
      "shares taken over %llu; regions anticipated %llu, missed %llu; moves to another CPU %llu\n",
      number(decided.shares_taken), number(decided.anticipated), number(decided.missed),
      number(decided.parted));
  append(text, "long waits over while spinning %llu, yielding %llu, asleep %llu\n",
         number(decided.spun), number(decided.yielded), number(decided.slept));
  text +=
      "waited: by all members; gain: if the same work were balanced; median, p99, last, gain, skew "
      "and busy\n"
      "are of chosen passes where those are short (one in 32, and all long waits), else of all\n";
  return text;
}

LOCKSTEP_COLD std::string ledger::json() const {
  using namespace detail;
  using namespace detail::ledger_text;
  std::string text = "{\"team\":" + json_text(team);
  append_json(text, "members", std::uint64_t{members});
  text += ",\"unit\":\"ns\",\"constructs\":[";
  bool is_first = true;
  for (const construct& each : constructs) {
    text += (is_first ? "{\"kind\":" : ",{\"kind\":") + json_text(each.kind);
    is_first = false;
    text += ",\"file\":" + json_text(each.file);
    append_json(text, "line", std::uint64_t{each.line});
    append_json(text, "count", each.count);
    append_json(text, "waits", each.all);
    append_json(text, "members", each.members);
    append_json(text, "time", each.time);
    append_json(text, "seen", each.seen);
    append_json(text, "last", each.last);
    append_json(text, "busy", each.busy);
    append_json(text, "gain", each.gain);
    append_json(text, "skew", each.skew);
    append_json(text, "worst_skew", each.worst_skew);
    text += '}';
  }
  text += "],\"decisions\":{\"shares_taken\":";
  append_json(text, decided.shares_taken);
  append_json(text, "anticipated", decided.anticipated);
  append_json(text, "missed", decided.missed);
  append_json(text, "parted", decided.parted);
  append_json(text, "spun", decided.spun);
  append_json(text, "yielded", decided.yielded);
  append_json(text, "slept", decided.slept);
  append_json(text, "loops_on", decided.loops_on);
  return text + "}}";
}

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TRACE_LEDGER_IPP
