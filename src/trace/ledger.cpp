// SPDX-License-Identifier: MIT
// src/trace/ledger.cpp -- ledger.hpp (layer: trace)
#include <cstdio>
#include <cstring>
#include <vector>

#include <lockstep/ledger.hpp>
#include <lockstep/team.hpp>
#include "../platform/system_texts.hpp"
#include "../team/team_core.hpp"

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

/// A text in quotes, as JSON has it.
LOCKSTEP_INLINE std::string json_text(const std::string& of) {
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
LOCKSTEP_INLINE std::string json_of(const ledger::waits& of) {
  std::string text;
  append(text, "{\"count\":%llu,\"total\":%.0f,\"median\":%.0f,\"p99\":%.0f,\"worst\":%.0f}",
         static_cast<unsigned long long>(of.count), of.total, of.median, of.p99, of.worst);
  return text;
}
LOCKSTEP_INLINE void append_json(std::string& text, std::uint64_t number) {
  append(text, "%llu", static_cast<unsigned long long>(number));
}
/// Without a decimal point, which a locale may change.
LOCKSTEP_INLINE void append_json(std::string& text, double number) { append(text, "%.0f", number); }
LOCKSTEP_INLINE void append_json(std::string& text, const ledger::waits& of) {
  text += json_of(of);
}
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
  std::string text = "{\"team\":" + json_text(team);
  append_json(text, "members", std::uint64_t{members});
  append_json(text, "time", time);
  text += ",\"unit\":\"ns\",\"constructs\":[";
  bool is_first = true;
  for (const construct& each : constructs) {
    text += (is_first ? "{\"kind\":" : ",{\"kind\":") + json_text(each.kind);
    is_first = false;
    text += ",\"file\":" + json_text(each.file);
    append_json(text, "line", std::uint64_t{each.line});
    text += ",\"label\":" + json_text(each.label);
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
    append_json(text, "coming", each.coming);
    append_json(text, "after_loops", each.after_loops);
    append_json(text, "coming_after_loops", each.coming_after_loops);
    text += '}';
  }
  text += "],\"decisions\":{\"shares_taken\":";
  append_json(text, decided.shares_taken);
  append_json(text, "anticipated", decided.anticipated);
  append_json(text, "missed", decided.missed);
  append_json(text, "crowded", decided.crowded);
  append_json(text, "inline_runs", decided.inline_runs);
  append_json(text, "inline_loops", decided.inline_loops);
  append_json(text, "separated", decided.separated);
  append_json(text, "spun", decided.spun);
  append_json(text, "yielded", decided.yielded);
  append_json(text, "slept", decided.slept);
  append_json(text, "loops_on", decided.loops_on);
  return text + "}}";
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
