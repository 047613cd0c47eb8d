// SPDX-License-Identifier: MIT
// src/team/environment.cpp -- the bodies of environment.hpp (layer: team)
#include "environment.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "../platform/made_once.hpp"
#include "../platform/user_files.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

LOCKSTEP_INLINE quoted_text::quoted_text(const char* of) noexcept {
  char* to = text;
  *to++ = '\'';
  for (; *of != 0 && to <= text + longest; ++of) {
    const bool is_control = static_cast<unsigned char>(*of) < 0x20 || *of == 0x7f;
    *to++ = is_control ? '?' : *of;
  }
  std::strcpy(to, *of != 0 ? "...'" : "'");
}

namespace environment_text {

LOCKSTEP_INLINE bool parse_members(const char* word, std::size_t& result) noexcept {
  unsigned long long number = 0;
  if (!read_number(word, max_participants, number) || *word != 0 || number == 0) return false;
  result = static_cast<std::size_t>(number);
  return true;
}

LOCKSTEP_INLINE bool parse_policy(const char* word, wait_policy& result) {
  const unsigned long long most =
      static_cast<unsigned long long>(wait_policy::longest_spin().count());
  unsigned long long time = 0;
  if (std::strcmp(word, "default") == 0) {
    result = wait_policy();
  } else if (std::strcmp(word, "spin") == 0) {
    result = wait_policy::spin();
  } else if (std::strcmp(word, "block") == 0) {
    result = wait_policy::block();
  } else if (std::strncmp(word, "hybrid:", 7) == 0 && read_number(word += 7, most, time)) {
    const unsigned long long scale = std::strcmp(word, "ns") == 0   ? 1
                                     : std::strcmp(word, "us") == 0 ? 1000
                                     : std::strcmp(word, "ms") == 0 ? 1000000
                                                                    : 0;
    if (scale == 0 || time * scale > most) return false;
    result = wait_policy::hybrid(
        std::chrono::nanoseconds(static_cast<std::chrono::nanoseconds::rep>(time * scale)));
  } else {
    return false;
  }
  return true;
}

LOCKSTEP_INLINE bool parse_binding(const char* word, binding& result) {
  std::vector<unsigned> cpus;
  if (std::strcmp(word, "none") == 0) {
    result = binding::none();
  } else if (std::strcmp(word, "close") == 0) {
    result = binding::close();
  } else if (std::strcmp(word, "cores") == 0) {
    result = binding::cores();
  } else if (std::strcmp(word, "spread") == 0) {
    result = binding::spread();
  } else if (parse_cpu_list(word, cpus)) {
    result = binding::cpus(std::move(cpus));
  } else {
    return false;
  }
  return true;
}

LOCKSTEP_INLINE bool parse_switch(const char* word, bool& result) noexcept {
  const bool on = std::strcmp(word, "1") == 0 || std::strcmp(word, "true") == 0;
  if (!on && std::strcmp(word, "0") != 0 && std::strcmp(word, "false") != 0) return false;
  result = on;
  return true;
}

LOCKSTEP_INLINE bool is_file_name(const char* word) noexcept {
  return std::strpbrk(word, "./\\") != nullptr;
}

LOCKSTEP_INLINE bool parse_trace(const char* given, std::string& file, std::size_t& records) {
  constexpr unsigned long long most = 1ull << 30;
  const char* const option = ",records=";
  const std::string all(given);
  const std::size_t at = all.rfind(option);
  if (at == std::string::npos) {
    file = all;
    return true;
  }
  const char* word = given + at + std::strlen(option);
  unsigned long long number = 0;
  if (at == 0 || !read_number(word, most, number)) return false;
  const char scale = *word;
  const unsigned shift = scale == 'k' || scale == 'K'   ? 10
                         : scale == 'm' || scale == 'M' ? 20
                         : scale == 'g' || scale == 'G' ? 30
                                                        : 0;
  if (shift != 0) ++word;
  if (*skip_blanks(word) != 0 || number == 0 || number > most >> shift) return false;
  file = all.substr(0, at);
  records = static_cast<std::size_t>(number << shift);
  return true;
}

LOCKSTEP_INLINE void append_policy(std::string& text, wait_policy policy) {
  if (policy.is_adaptive() || policy.is_spin() || policy.is_block()) {
    text.append(policy.is_adaptive() ? "default" : policy.is_spin() ? "spin" : "block");
    return;
  }
  const long long time = policy.spin_time().count();
  const long long scale = time % 1000 != 0 ? 1 : time % 1000000 != 0 ? 1000 : 1000000;
  append(text, "hybrid:%lld%s", time / scale, scale == 1 ? "ns" : scale == 1000 ? "us" : "ms");
}

LOCKSTEP_INLINE void append_binding(std::string& text, const binding& where) {
  append_cpu_list(text, where.list());
  if (!where.is_list()) {
    text.append(where.is_close()    ? "close"
                : where.is_cores()  ? "cores"
                : where.is_spread() ? "spread"
                                    : "none");
  }
}

}  // namespace environment_text

LOCKSTEP_INLINE std::string plain_word(const char* value) {
  std::string word = skip_blanks(value != nullptr ? value : "");
  while (!word.empty() && std::strchr(" \t\r\n\v\f", word.back()) != nullptr) word.pop_back();
  for (char& each : word) {
    if (each >= 'A' && each <= 'Z') each = static_cast<char>(each - 'A' + 'a');
  }
  return word;
}

LOCKSTEP_INLINE environment::environment(lookup* look_up, const void* with, bool obeyed)
    : members("LOCKSTEP_NUM_THREADS", "a number from 1 to 65536", 0),
      policy("LOCKSTEP_WAIT_POLICY",
             "default, spin, block or hybrid:TIME, TIME as 500ns, 20us or 1ms, at most 536ms",
             wait_policy()),
      bind("LOCKSTEP_PROC_BIND",
           "none, close, cores, spread or a list of CPUs as 0,2,4-7,8-14:2, below 65536",
           binding()),
      anticipate("LOCKSTEP_ANTICIPATE", "0, 1, false or true", true),
      learn("LOCKSTEP_LEARN", anticipate.expected, true),
      cpu_separation("LOCKSTEP_CPU_SEPARATION", anticipate.expected, true),
      processor_wait("LOCKSTEP_PROCESSOR_WAIT", anticipate.expected, true),
      ledger("LOCKSTEP_LEDGER", "0, 1, false, true, or a file with a dot or a slash in its name",
             false),
      display("LOCKSTEP_DISPLAY_ENV", anticipate.expected, false),
      trace("LOCKSTEP_TRACE",
            "the name of a file, and perhaps ,records= with a number as 65536, 256K or 1M, at most "
            "1G",
            std::string()),
      watchdog("LOCKSTEP_WATCHDOG", debug_aid_values::watchdog()),
      delay("LOCKSTEP_DELAY", debug_aid_values::delay()),
      is_obeyed(obeyed) {
  using namespace environment_text;
  std::string word;
  const auto word_of = [&](environment_entry& entry) {
    const char* const value = look_up(with, entry.name);
    word = plain_word(value);
    if (!word.empty()) entry.given = quoted_text(value);
    if (!obeyed) word.clear();
    return word.c_str();
  };
  members.is_set = parse_members(word_of(members), members.value);
  policy.is_set = parse_policy(word_of(policy), policy.value);
  bind.is_set = parse_binding(word_of(bind), bind.value);
  environment_variable<bool>* const switches[] = {&anticipate, &learn, &cpu_separation,
                                                  &processor_wait, &display};
  for (environment_variable<bool>* each : switches) {
    each->is_set = parse_switch(word_of(*each), each->value);
  }
  ledger.is_set = parse_switch(word_of(ledger), ledger.value);
  if (!ledger.is_set && is_file_name(word.c_str())) {
    const char* const given = skip_blanks(look_up(with, ledger.name));
    ledger_file.assign(given, word.size());
    ledger.is_set = ledger.value = true;
  }
  word_of(trace);
  const char* const file = look_up(with, trace.name);
  trace.is_set = !word.empty() && parse_trace(file, trace.value, trace_records);
  // Without observers nobody can tell whether their values are right.
  watchdog.is_set = is_watchdog_value(word_of(watchdog)) && !word.empty();
  delay.is_set = is_delay_value(word_of(delay)) && !word.empty();
}

LOCKSTEP_INLINE void environment::describe(std::string& text, const char* before,
                                           bool only_ignored) const {
  const environment_entry* const all[] = {&members, &policy,         &bind,           &anticipate,
                                          &learn,   &cpu_separation, &processor_wait, &ledger,
                                          &trace,   &watchdog,       &delay,          &display};
  for (const environment_entry* each : all) {
    const bool is_debug_aid = each == &watchdog || each == &delay;
    if (only_ignored && (!each->is_ignored() || (is_debug_aid && is_obeyed))) continue;
    append(text, "%s%s%s%s", before, each->name, each->given.text[0] != 0 ? "=" : " not set",
           each->given.text);
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
    environment result =
        read([](const char* name) { return given_variable(name); }, !has_rights_of_others());
    if (!result.ledger_file.empty()) {
      result.ledger_file = absolute_path(result.ledger_file.c_str());
    }
    result.complain();
    return result;
  });
}

LOCKSTEP_INLINE const environment& environment::of_process_with_observers() {
  const environment& here = of_process();
  if (here.trace.is_set && is_first_to_print(message::trace)) {
    start_trace_of_program(here.trace.value.c_str(), here.trace.name, here.trace_records);
  }
  return here;
}

LOCKSTEP_INLINE void environment::complain() const {
  std::string lines;
  describe(lines, "lockstep: ", true);
  if (lines.empty() || !is_first_to_print(message::environment)) return;
  std::fputs(lines.c_str(), stderr);
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
