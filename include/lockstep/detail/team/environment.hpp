// SPDX-License-Identifier: MIT
// lockstep/detail/team/environment.hpp -- what the user asks of all teams by environment variables (layer: team)
//
//   LOCKSTEP_NUM_THREADS   1 to 65536: members of a team whose program names no number
//   LOCKSTEP_WAIT_POLICY   default | spin | block | hybrid:TIME, TIME as 500ns, 20us, 1ms
//   LOCKSTEP_PROC_BIND     none | close | cores | spread | a list of CPUs: 0,2,4-7,8-14:2
//   LOCKSTEP_ANTICIPATE    0 | 1 | false | true: whether workers learn when the next region is due
//   LOCKSTEP_LEARN         0 | 1 | false | true: whether loops learn on how many members they pay
//   LOCKSTEP_CPU_SEPARATION  0 | 1 | false | true: whether workers leave a CPU that they share with a member they wait
//                          for; also read by cpu_separation.hpp, for threads in a barrier
//   LOCKSTEP_PROCESSOR_WAIT  0 | 1 | false | true: whether polls wait by the processor's own instructions for that, where
//                          it has them; read by processor_wait.hpp, here only shown and checked
//   LOCKSTEP_LEDGER        0 | 1 | false | true, or a file, with a dot or a slash in its name: teams keep a ledger, whose
//                          table goes to stderr, or whose JSON is added to the file as a line, when the team ends
//   LOCKSTEP_TRACE         a file: what threads do is recorded from the first team on, and written when the program ends
//                          (trace.hpp); %p in its name is the number of the process. With ,records=1M behind it each
//                          thread keeps so many records, in place of 256K
//   LOCKSTEP_DISPLAY_ENV   0 | 1 | false | true: print what was decided for the first team, and why
// LOCKSTEP_WATCHDOG and LOCKSTEP_DELAY are of watchdog.hpp: they count for programs without a team, too. Here they are
// only shown.
//
// Capital or small letters; blanks around are allowed; an empty value is as none. Of any other the user
// is told once, on stderr, with the variable's name, and it is ignored. What the program says beats the
// environment. A program with more rights than its caller (set-user-ID, capabilities of its file) takes
// nothing from the environment, and says so.
// Reading is pure but for of_process(): it is given the function that looks a variable up.
#ifndef LOCKSTEP_DETAIL_TEAM_ENVIRONMENT_HPP
#define LOCKSTEP_DETAIL_TEAM_ENVIRONMENT_HPP

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "../../team_options.hpp"
#include "../../wait_policy.hpp"
#include "../observe/hooks.hpp"
#include "../platform/config.hpp"
#include "../platform/cpus.hpp"
#include "../platform/error.hpp"
#include "../platform/process.hpp"
#include "../platform/system_texts.hpp"

#if LOCKSTEP_HAS_BODIES
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "../platform/made_once.hpp"
#include "../platform/user_files.hpp"
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// A text in quotes, fit for one line of a message: cut, and without control characters.
struct quoted_text {
  static constexpr std::size_t longest = 60;
  char text[longest + 6];

  /// Nothing, not even quotes.
  quoted_text() noexcept { text[0] = 0; }
  LOCKSTEP_COLD explicit quoted_text(const char* of) noexcept;
};

namespace environment_text {

// Each parse_ function takes a word in small letters; it returns false, and leaves `result` as it was, if that is
// no value of its kind.

LOCKSTEP_COLD bool parse_members(const char* word, std::size_t& result) noexcept;

/// The time is at most wait_policy::longest_spin().
LOCKSTEP_COLD bool parse_policy(const char* word, wait_policy& result);

LOCKSTEP_COLD bool parse_binding(const char* word, binding& result);

LOCKSTEP_COLD bool parse_switch(const char* word, bool& result) noexcept;

/// Whether that looks like a file and not like a word: it has a dot or a slash.
LOCKSTEP_COLD bool is_file_name(const char* word) noexcept;

/// FILE[,records=NUMBER[K|M|G]], in its own letters.
LOCKSTEP_COLD bool parse_trace(const char* given, std::string& file, std::size_t& records);

/// The policy as LOCKSTEP_WAIT_POLICY would name it.
LOCKSTEP_COLD void append_policy(std::string& text, wait_policy policy);

/// The binding as LOCKSTEP_PROC_BIND would name it; "none" if unset.
LOCKSTEP_COLD void append_binding(std::string& text, const binding& where);

}  // namespace environment_text

/// One variable as it was found.
struct environment_entry {
  const char* name;
  const char* expected;  ///< what a message says that it must be
  bool is_set;           ///< to a value that counts
  quoted_text given;     ///< nothing if the variable does not exist or is blank

  environment_entry(const char* its_name, const char* it_must_be) noexcept
      : name(its_name), expected(it_must_be), is_set(false) {}

  bool is_ignored() const noexcept { return given.text[0] != 0 && !is_set; }
};
template <class Value>
struct environment_variable : environment_entry {
  Value value;  ///< as it is by default unless is_set

  environment_variable(const char* its_name, const char* it_must_be, Value by_default)
      : environment_entry(its_name, it_must_be), value(std::move(by_default)) {}
};

struct environment {
  environment_variable<std::size_t> members;
  environment_variable<wait_policy> policy;
  environment_variable<binding> bind;
  environment_variable<bool> anticipate, learn, cpu_separation, processor_wait, ledger, display;
  environment_variable<std::string> trace;
  std::size_t trace_records = std::size_t{1} << 18;  ///< as trace_options has it
  environment_entry watchdog, delay;
  std::string ledger_file;  ///< of the process: from the root on; empty: stderr
  bool is_obeyed = true;    ///< false: has_rights_of_others()

  /// look_up(name) returns the value or null, as std::getenv does.
  /// Not obeyed: nothing counts, and what is set is told.
  template <class Lookup>
  static environment read(const Lookup& look_up, bool obeyed = true) {
    return environment([](const void* with,
                          const char* name) { return (*static_cast<const Lookup*>(with))(name); },
                       &look_up, obeyed);
  }

  /// A line for each variable, in a fixed order: `before`, "NAME='value'", and why it is ignored if it is; or "NAME not
  /// set", and whether the program could serve it. If wanted, only for those that are ignored, which the user has to be
  /// told, and has not been by others (debug_aids.hpp).
  LOCKSTEP_COLD void describe(std::string& text, const char* before, bool only_ignored) const;

  /// The environment as it was when the process first asked, which is when it hears the complaints.
  LOCKSTEP_COLD static const environment& of_process();
  /// Where the ledger of a team goes when the team ends.
  ledger_output ledger_goes_to() const noexcept {
    return {ledger.value, ledger_file.c_str(), ledger.name, ledger.given.text};
  }
  /// The same for the first team: starts the observers that it asks for, once.
  LOCKSTEP_COLD static const environment& of_process_with_observers();

 private:
  using lookup = const char*(const void* with, const char* name);
  LOCKSTEP_COLD environment(lookup* look_up, const void* with, bool obeyed);
  LOCKSTEP_COLD void complain() const;
};

#if LOCKSTEP_HAS_BODIES

LOCKSTEP_COLD quoted_text::quoted_text(const char* of) noexcept {
  char* to = text;
  *to++ = '\'';
  for (; *of != 0 && to <= text + longest; ++of) {
    const bool is_control = static_cast<unsigned char>(*of) < 0x20 || *of == 0x7f;
    *to++ = is_control ? '?' : *of;
  }
  std::strcpy(to, *of != 0 ? "...'" : "'");
}

namespace environment_text {

LOCKSTEP_COLD bool parse_members(const char* word, std::size_t& result) noexcept {
  unsigned long long number = 0;
  if (!read_number(word, max_participants, number) || *word != 0 || number == 0) return false;
  result = static_cast<std::size_t>(number);
  return true;
}

LOCKSTEP_COLD bool parse_policy(const char* word, wait_policy& result) {
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

LOCKSTEP_COLD bool parse_binding(const char* word, binding& result) {
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

LOCKSTEP_COLD bool parse_switch(const char* word, bool& result) noexcept {
  const bool on = std::strcmp(word, "1") == 0 || std::strcmp(word, "true") == 0;
  if (!on && std::strcmp(word, "0") != 0 && std::strcmp(word, "false") != 0) return false;
  result = on;
  return true;
}

LOCKSTEP_COLD bool is_file_name(const char* word) noexcept {
  return std::strpbrk(word, "./\\") != nullptr;
}

LOCKSTEP_COLD bool parse_trace(const char* given, std::string& file, std::size_t& records) {
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

LOCKSTEP_COLD void append_policy(std::string& text, wait_policy policy) {
  if (policy.is_adaptive() || policy.is_spin() || policy.is_block()) {
    text.append(policy.is_adaptive() ? "default" : policy.is_spin() ? "spin" : "block");
    return;
  }
  const long long time = policy.spin_time().count();
  const long long scale = time % 1000 != 0 ? 1 : time % 1000000 != 0 ? 1000 : 1000000;
  append(text, "hybrid:%lld%s", time / scale, scale == 1 ? "ns" : scale == 1000 ? "us" : "ms");
}

LOCKSTEP_COLD void append_binding(std::string& text, const binding& where) {
  append_cpu_list(text, where.list());
  if (!where.is_list()) {
    text.append(where.is_close()    ? "close"
                : where.is_cores()  ? "cores"
                : where.is_spread() ? "spread"
                                    : "none");
  }
}

}  // namespace environment_text

/// The value of that variable, without the blanks around it, in small letters of ASCII whatever the locale. Keeps what
/// a message shows of it.
LOCKSTEP_COLD const char* plain_word(const char* value, environment_entry& entry,
                                     std::string& word) {
  const char* const text = skip_blanks(value != nullptr ? value : "");
  std::size_t size = std::strlen(text);
  if (size > 0) entry.given = quoted_text(value);
  while (size > 0 && std::strchr(" \t\r\n\v\f", text[size - 1]) != nullptr) --size;
  word.assign(text, size);
  for (std::size_t i = 0; i < size; ++i) {
    if (word[i] >= 'A' && word[i] <= 'Z') word[i] = static_cast<char>(word[i] - 'A' + 'a');
  }
  return word.c_str();
}

LOCKSTEP_COLD environment::environment(lookup* look_up, const void* with, bool obeyed)
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
    plain_word(look_up(with, entry.name), entry, word);
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

LOCKSTEP_COLD void environment::describe(std::string& text, const char* before,
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

LOCKSTEP_COLD const environment& environment::of_process() {
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

LOCKSTEP_COLD const environment& environment::of_process_with_observers() {
  const environment& here = of_process();
  if (here.trace.is_set && is_first_to_print(message::trace)) {
    start_trace_of_program(here.trace.value.c_str(), here.trace.name, here.trace_records);
  }
  return here;
}

LOCKSTEP_COLD void environment::complain() const {
  std::string lines;
  describe(lines, "lockstep: ", true);
  if (lines.empty() || !is_first_to_print(message::environment)) return;
  std::fputs(lines.c_str(), stderr);
}

#endif

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_ENVIRONMENT_HPP
