// SPDX-License-Identifier: MIT
// src/trace/ledger.cpp -- ledger.hpp (layer: trace)
#include <cstdio>
#include <cstring>
#include <vector>

#include <lockstep/ledger.hpp>
#include <lockstep/team.hpp>
#include "../platform/system_texts.hpp"
#include "../team/team_core.hpp"
#include "json_writer.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

namespace ledger_text {

/// In four characters of a number and a unit: "1.23 us".
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

/// The name of a file without its directories, and the line. Line 0: the name is that of a function.
LOCKSTEP_INLINE std::string site_text(const ledger::construct& of) {
  const std::size_t slash = of.file.find_last_of("/\\");
  std::string text = slash == std::string::npos ? of.file : of.file.substr(slash + 1);
  if (!text.empty() && of.line != 0) append(text, ":%u", of.line);
  return text;
}

/// "0: 12 %  1: 88 %" for the shares of a sum that are not small; at most eight.
LOCKSTEP_INLINE std::string shares_text(const double* parts, std::size_t count) {
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
LOCKSTEP_INLINE std::string shares_text(const std::vector<std::uint64_t>& parts) {
  std::vector<double> values;
  for (const std::uint64_t each : parts) values.push_back(static_cast<double>(each));
  return shares_text(values.data(), values.size());
}

inline void put_json(json_writer& to, std::uint64_t number) { to.number(number); }
/// Nanoseconds, in whole ones.
inline void put_json(json_writer& to, double number) {
  to.number(static_cast<std::uint64_t>(number + 0.5));
}
inline void put_json(json_writer& to, const std::string& text) { to.text(text.c_str()); }
inline void put_json(json_writer& to, const ledger::waits& of);
template <class Value>
void put_json(json_writer& to, const char* before, const Value& value) {
  to.put(before);
  put_json(to, value);
}
inline void put_json(json_writer& to, const ledger::waits& of) {
  put_json(to, "{\"count\":", of.count);
  put_json(to, ",\"total\":", of.total);
  put_json(to, ",\"median\":", of.median);
  put_json(to, ",\"p99\":", of.p99);
  put_json(to, ",\"worst\":", of.worst);
  to.put("}");
}
template <class Value>
void put_json(json_writer& to, const char* before, const std::vector<Value>& values) {
  to.put(before);
  for (std::size_t i = 0; i < values.size(); ++i) put_json(to, i > 0 ? "," : "[", values[i]);
  to.put(values.empty() ? "[]" : "]");
}

}  // namespace ledger_text
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
  append(text, ", %zu %s", members, members == 1 ? "member" : "members");
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
           site_text(each).c_str(), label_text(one_line(each.label.c_str()).c_str()).c_str(),
           static_cast<unsigned long long>(each.count),
           each.time > 0 ? time_text(each.time).c_str() : "-", share.c_str(),
           time_text(each.all.total).c_str(), time_text(each.all.median).c_str(),
           time_text(each.all.p99).c_str(), time_text(each.all.worst).c_str(),
           each.seen != 0 ? time_text(each.gain).c_str() : "-",
           each.worst_skew > 0 ? time_text(each.skew / passes).c_str() : "-",
           shares_text(each.last).c_str());
  }
  for (const construct& each : constructs) {
    if (each.after_loops == 0) continue;
    append(text, "%s %s needs all members, and came after a loop %llu times: ", each.kind.c_str(),
           site_text(each).c_str(), static_cast<unsigned long long>(each.after_loops));
    append(text, "until the last had come %s, %s each\n",
           time_text(each.coming_after_loops).c_str(),
           time_text(each.coming_after_loops / static_cast<double>(each.after_loops)).c_str());
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
  if ((decided.inline_runs | decided.inline_loops) != 0) {
    append(text, "called inside of a region, and run alone: %llu regions, %llu loops\n",
           number(decided.inline_runs), number(decided.inline_loops));
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
      "gain: if the same work were balanced; median, p99, last, gain, skew and busy\n"
      "are of chosen passes where those are short (one in 128, and all long waits), else of all\n";
  return text;
}

LOCKSTEP_INLINE std::string ledger::json() const {
  using namespace detail;
  using namespace detail::ledger_text;
  json_writer to(nullptr);
  put_json(to, "{\"team\":", team);
  put_json(to, ",\"members\":", std::uint64_t{members});
  put_json(to, ",\"time\":", time);
  to.put(",\"unit\":\"ns\",\"constructs\":[");
  for (const construct& each : constructs) {
    put_json(to, &each != &constructs[0] ? ",{\"kind\":" : "{\"kind\":", each.kind);
    put_json(to, ",\"file\":", each.file);
    put_json(to, ",\"line\":", std::uint64_t{each.line});
    put_json(to, ",\"label\":", each.label);
    put_json(to, ",\"count\":", each.count);
    put_json(to, ",\"waits\":", each.all);
    put_json(to, ",\"members\":", each.members);
    put_json(to, ",\"time\":", each.time);
    put_json(to, ",\"seen\":", each.seen);
    put_json(to, ",\"last\":", each.last);
    put_json(to, ",\"busy\":", each.busy);
    put_json(to, ",\"gain\":", each.gain);
    put_json(to, ",\"skew\":", each.skew);
    put_json(to, ",\"worst_skew\":", each.worst_skew);
    put_json(to, ",\"coming\":", each.coming);
    put_json(to, ",\"after_loops\":", each.after_loops);
    put_json(to, ",\"coming_after_loops\":", each.coming_after_loops);
    to.put("}");
  }
  put_json(to, "],\"decisions\":{\"shares_taken\":", decided.shares_taken);
  put_json(to, ",\"anticipated\":", decided.anticipated);
  put_json(to, ",\"missed\":", decided.missed);
  put_json(to, ",\"crowded\":", decided.crowded);
  put_json(to, ",\"inline_runs\":", decided.inline_runs);
  put_json(to, ",\"inline_loops\":", decided.inline_loops);
  put_json(to, ",\"separated\":", decided.separated);
  put_json(to, ",\"spun\":", decided.spun);
  put_json(to, ",\"yielded\":", decided.yielded);
  put_json(to, ",\"slept\":", decided.slept);
  put_json(to, ",\"loops_on\":", decided.loops_on);
  return to.put("}}").taken();
}

LOCKSTEP_INLINE ledger team::ledger() const {
  const detail::team_core& core = host_.core();
  lockstep::ledger result;
  result.team = core.name();
  result.members = size();
  detail::gather_ledger(core.seen(), result);
  return result;
}

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
