// SPDX-License-Identifier: MIT
// src/team/environment.cpp -- the bodies of environment.hpp (layer: team)
#include "environment.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "../platform/native_system.hpp"
#include "../platform/once.hpp"
#include "../platform/user_files.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

namespace environment_text {

/// 1000 to the power of `power` nanoseconds.
LOCKSTEP_INLINE const char* time_unit(unsigned power) noexcept {
  static const char* const names[] = {"ns", "us", "ms"};
  return names[power];
}

LOCKSTEP_INLINE std::string text_of(wait_policy policy) {
  if (policy.is_adaptive()) return "default";
  if (policy.is_spin()) return "spin";
  if (policy.is_block()) return "block";
  unsigned long long time = static_cast<unsigned long long>(policy.spin_time().count());
  unsigned power = 0;
  for (; power < 2 && time % 1000 == 0; ++power) time /= 1000;
  std::string text;
  append(text, "hybrid:%llu%s", time, time_unit(power));
  return text;
}

LOCKSTEP_INLINE std::string text_of(const binding& where) {
  std::string text = where.is_close()    ? "close"
                     : where.is_cores()  ? "cores"
                     : where.is_spread() ? "spread"
                     : where.is_list()   ? ""
                                         : "none";
  append_ranges(text, where.list());
  return text;
}

// Each parse() takes a word in small letters. If the word is no value of its kind, it returns false and leaves `result`
// as it was.

LOCKSTEP_INLINE bool parse(const std::string& word, std::size_t& result) {
  const char* at = word.c_str();
  unsigned long long number = 0;
  if (!read_number(at, max_participants, number) || *at != 0 || number == 0) return false;
  result = static_cast<std::size_t>(number);
  return true;
}

/// The time is at most wait_policy::longest_spin().
LOCKSTEP_INLINE bool parse(const std::string& word, wait_policy& result) {
  for (const wait_policy each : {wait_policy(), wait_policy::spin(), wait_policy::block()}) {
    if (word != text_of(each)) continue;
    result = each;
    return true;
  }
  const char* at = word.c_str() + std::strlen("hybrid:");
  unsigned long long most = static_cast<unsigned long long>(wait_policy::longest_spin().count());
  unsigned long long time = 0;
  if (word.compare(0, 7, "hybrid:") != 0 || !read_number(at, most, time)) return false;
  for (unsigned power = 0; power < 3; ++power, time *= 1000) {
    if (std::strcmp(at, time_unit(power)) != 0) continue;
    if (time <= most) result = wait_policy::hybrid(std::chrono::nanoseconds(time));
    return time <= most;
  }
  return false;
}

LOCKSTEP_INLINE bool parse(const std::string& word, binding& result) {
  for (const binding& each :
       {binding::none(), binding::close(), binding::cores(), binding::spread()}) {
    if (word != text_of(each)) continue;
    result = each;
    return true;
  }
  std::vector<unsigned> cpus;
  if (!parse_cpu_list(word.c_str(), cpus)) return false;
  result = binding::cpus(std::move(cpus));
  return true;
}

LOCKSTEP_INLINE bool parse(const std::string& word, bool& result) noexcept {
  const bool on = word == "1" || word == "true";
  if (!on && word != "0" && word != "false") return false;
  result = on;
  return true;
}

/// FILE[,records=NUMBER[K|M|G]], in its own letters.
LOCKSTEP_INLINE bool parse_trace(const std::string& given, std::string& file,
                                 std::size_t& records) {
  constexpr unsigned long long most = 1ull << 30;
  const char* const option = ",records=";
  const std::size_t at = given.rfind(option);
  if (at == std::string::npos) {
    file = given;
    return true;
  }
  const char* word = given.c_str() + at + std::strlen(option);
  unsigned long long number = 0;
  if (at == 0 || !read_number(word, most, number)) return false;
  const char scale = *word;
  const unsigned shift = scale == 'k' || scale == 'K'   ? 10
                         : scale == 'm' || scale == 'M' ? 20
                         : scale == 'g' || scale == 'G' ? 30
                                                        : 0;
  if (shift != 0) ++word;
  if (*skip_blanks(word) != 0 || number == 0 || number > most >> shift) return false;
  file = given.substr(0, at);
  records = static_cast<std::size_t>(number << shift);
  return true;
}

}  // namespace environment_text

LOCKSTEP_INLINE environment::environment(const function_ref<const char*(const char*)>& look_up,
                                         bool obeyed)
    : is_obeyed(obeyed) {
  using namespace environment_text;
  const auto word_of = [&](environment_entry& entry) {
    const char* const value = look_up(entry.name);
    std::string word = plain_word(value);
    if (!word.empty()) entry.given = quoted_text(value);
    if (!obeyed) word.clear();
    return word;
  };
  members.is_set = parse(word_of(members), members.value);
  policy.is_set = parse(word_of(policy), policy.value);
  bind.is_set = parse(word_of(bind), bind.value);
  for (environment_variable<bool>* each :
       {&anticipate, &learn, &cpu_separation, &ledger, &display}) {
    each->is_set = parse(word_of(*each), each->value);
  }
  const std::string file = word_of(ledger);
  if (!ledger.is_set && file.find_first_of("./\\") != std::string::npos) {
    ledger_file.assign(skip_blanks(look_up(ledger.name)), file.size());
    ledger.is_set = ledger.value = true;
  }
  trace.is_set =
      !word_of(trace).empty() && parse_trace(look_up(trace.name), trace.value, trace_records);
  // Without observers nobody can tell whether their values are right.
  const std::string patience = word_of(watchdog), seed = word_of(delay);
  watchdog.is_set = !patience.empty() && is_watchdog_value(patience.c_str());
  delay.is_set = !seed.empty() && is_delay_value(seed.c_str());
}

LOCKSTEP_INLINE void environment::describe(std::string& text, const char* before,
                                           bool only_ignored) const {
  const environment_entry* const all[] = {&members,  &policy,         &bind,   &anticipate,
                                          &learn,    &cpu_separation, &ledger, &trace,
                                          &watchdog, &delay,          &display};
  for (const environment_entry* each : all) {
    const bool is_debug_aid = each == &watchdog || each == &delay;
    if (only_ignored && (!each->is_ignored() || (is_debug_aid && is_obeyed))) continue;
    append(text, "%s%s%s%s", before, each->name, each->given.empty() ? " not set" : "=",
           each->given.c_str());
    if (each->is_ignored() && !is_obeyed) {
      text.append(" is ignored: the program may do what its caller may not");
    } else if (each->is_ignored()) {
      append(text, " is ignored: must be %s", each->expected);
    }
    text.append("\n");
  }
}

LOCKSTEP_INLINE const environment& environment::of_process() {
  static made_once<environment> known;
  return known.get([] {
    start_debug_aids();
    environment result([](const char* name) -> const char* { return std::getenv(name); },
                       !native_system::has_rights_of_others());
    if (!result.ledger_file.empty()) result.ledger_file = absolute_path(result.ledger_file.c_str());
    std::string complaints;
    result.describe(complaints, "lockstep: ", true);
    if (!complaints.empty() && is_first_to_print(message::environment)) {
      std::fputs(complaints.c_str(), stderr);
    }
    if (result.trace.is_set && is_first_to_print(message::trace)) {
      start_trace_of_program(result.trace.value.c_str(), result.trace.name, result.trace_records);
    }
    return result;
  });
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
