// SPDX-License-Identifier: MIT
// lockstep/detail/team/environment.hpp -- what the user asks of all teams by environment variables (layer: team)
//
//   LOCKSTEP_NUM_THREADS   1 to 65536: members of a team whose program names no number
//   LOCKSTEP_WAIT_POLICY   default | spin | block | hybrid:TIME, TIME as 500ns, 20us, 1ms
//   LOCKSTEP_PROC_BIND     none | close | spread | a list of CPUs: 0,2,4-7,8-14:2
//   LOCKSTEP_ANTICIPATE    0 | 1 | false | true: whether workers learn when the next region is due
//   LOCKSTEP_LEARN         0 | 1 | false | true: whether loops learn on how many members they pay
//   LOCKSTEP_FIND_CPU      0 | 1 | false | true: whether workers leave a CPU that they share with a member they wait for
//   LOCKSTEP_DISPLAY_ENV   0 | 1 | false | true: print what was decided for the first team, and why
//
// Capital or small letters; blanks around are allowed; an empty value is as none. Of any other the user
// is told once, on stderr, with the variable's name, and it is ignored. What the program says beats the
// environment.
// Reading is pure but for of_process(): it is given the function that looks a variable up.
#ifndef LOCKSTEP_DETAIL_TEAM_ENVIRONMENT_HPP
#define LOCKSTEP_DETAIL_TEAM_ENVIRONMENT_HPP

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "../../team_options.hpp"
#include "../../wait_policy.hpp"
#include "../platform/cpu_list.hpp"
#include "../platform/error.hpp"
#include "../platform/made_once.hpp"
#include "../platform/process_state.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace environment_text {

/// `text` in quotes, fit for one line of a message: cut, and without control characters.
inline std::string quoted(const std::string& text) {
  constexpr std::size_t longest = 60;
  std::string result = "'";
  for (std::size_t i = 0; i < text.size() && i < longest; ++i) {
    const bool is_control = static_cast<unsigned char>(text[i]) < 0x20 || text[i] == 0x7f;
    result += is_control ? '?' : text[i];
  }
  return result.append(text.size() > longest ? "...'" : "'");
}

/// Without blanks around, in small letters of ASCII whatever the locale.
inline std::string plain_word(const std::string& text) {
  std::string word = detail::without_blanks(text);
  for (char& c : word) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return word;
}

// Each parse_ function takes a plain_word(); it returns false, and leaves `result` as it was, if that is
// no value of its kind.

inline bool parse_members(const std::string& word, std::size_t& result) {
  unsigned long long number = 0;
  if (!detail::parse_number(word, detail::max_participants, number) || number == 0) {
    return false;
  }
  result = static_cast<std::size_t>(number);
  return true;
}

/// "500ns", "20us", "1ms": at most wait_policy::longest_spin().
inline bool parse_spin_time(const std::string& word, std::chrono::nanoseconds& result) {
  const std::size_t digits = word.find_first_not_of("0123456789");
  if (digits == std::string::npos) return false;
  const std::string unit = word.substr(digits);
  const unsigned long long scale = unit == "ns"   ? 1
                                   : unit == "us" ? 1000
                                   : unit == "ms" ? 1000000
                                                  : 0;
  if (scale == 0) return false;
  const auto most = static_cast<unsigned long long>(wait_policy::longest_spin().count()) / scale;
  unsigned long long number = 0;
  if (!detail::parse_number(word.substr(0, digits), most, number)) return false;
  result = std::chrono::nanoseconds(static_cast<std::chrono::nanoseconds::rep>(number * scale));
  return true;
}

inline bool parse_policy(const std::string& word, wait_policy& result) {
  const std::string hybrid = "hybrid:";
  std::chrono::nanoseconds time(0);
  if (word == "default") {
    result = wait_policy();
  } else if (word == "spin") {
    result = wait_policy::spin();
  } else if (word == "block") {
    result = wait_policy::block();
  } else if (word.compare(0, hybrid.size(), hybrid) == 0 &&
             parse_spin_time(word.substr(hybrid.size()), time)) {
    result = wait_policy::hybrid(time);
  } else {
    return false;
  }
  return true;
}

inline bool parse_binding(const std::string& word, binding& result) {
  std::vector<unsigned> cpus;
  if (word == "none") {
    result = binding::none();
  } else if (word == "close") {
    result = binding::close();
  } else if (word == "spread") {
    result = binding::spread();
  } else if (detail::parse_cpu_list(word, cpus)) {
    result = binding::cpus(std::move(cpus));
  } else {
    return false;
  }
  return true;
}

inline bool parse_switch(const std::string& word, bool& result) {
  const bool on = word == "1" || word == "true";
  if (!on && word != "0" && word != "false") return false;
  result = on;
  return true;
}

/// The policy as LOCKSTEP_WAIT_POLICY would name it.
inline std::string text_of(wait_policy policy) {
  if (policy.is_adaptive()) return "default";
  if (policy.is_spin()) return "spin";
  if (policy.is_block()) return "block";
  const long long time = policy.spin_time().count();
  if (time % 1000 != 0) return "hybrid:" + std::to_string(time) + "ns";
  if (time % 1000000 != 0) return "hybrid:" + std::to_string(time / 1000) + "us";
  return "hybrid:" + std::to_string(time / 1000000) + "ms";
}

/// The binding as LOCKSTEP_PROC_BIND would name it; "none" if unset.
inline std::string text_of(const binding& where) {
  return where.is_close()    ? "close"
         : where.is_spread() ? "spread"
         : where.is_list()   ? detail::cpu_list_text(where.list())
                             : "none";
}

}  // namespace environment_text

/// One variable as it was found.
template <class Value>
struct environment_variable {
  const char* name;
  const char* expected;  ///< what a message says that it must be
  Value value;           ///< as it is by default unless is_set
  bool is_set;           ///< to a value that counts
  std::string given;     ///< in quotes, cut; empty if the variable does not exist or is empty
  bool is_ignored() const { return !given.empty() && !is_set; }

  environment_variable(const char* its_name, const char* it_must_be, Value by_default)
      : name(its_name), expected(it_must_be), value(std::move(by_default)), is_set(false) {}

  void read(const char* text, bool (*parse)(const std::string&, Value&)) {
    const std::string word = environment_text::plain_word(text == nullptr ? "" : text);
    if (word.empty()) return;
    given = environment_text::quoted(text);
    is_set = parse(word, value);
  }
  /// "NAME='value'", and why it is ignored if it is; "NAME not set".
  std::string description() const {
    if (given.empty()) return std::string(name) + " not set";
    const std::string text = std::string(name) + "=" + given;
    return is_set ? text : text + " is ignored: must be " + expected;
  }
};

struct environment {
  environment_variable<std::size_t> members{"LOCKSTEP_NUM_THREADS", "a number from 1 to 65536", 0};
  environment_variable<wait_policy> policy{
      "LOCKSTEP_WAIT_POLICY",
      "default, spin, block or hybrid:TIME, TIME as 500ns, 20us or 1ms, at most 536ms",
      wait_policy()};
  environment_variable<binding> bind{
      "LOCKSTEP_PROC_BIND", "none, close, spread or a list of CPUs as 0,2,4-7,8-14:2, below 65536",
      binding()};
  environment_variable<bool> anticipate{"LOCKSTEP_ANTICIPATE", "0, 1, false or true", true};
  environment_variable<bool> learn{"LOCKSTEP_LEARN", "0, 1, false or true", true};
  environment_variable<bool> find_cpu{"LOCKSTEP_FIND_CPU", "0, 1, false or true", true};
  environment_variable<bool> display{"LOCKSTEP_DISPLAY_ENV", "0, 1, false or true", false};

  /// look_up(name) returns the value or null, as std::getenv does.
  template <class Lookup>
  static environment read(const Lookup& look_up) {
    environment result;
    result.members.read(look_up(result.members.name), environment_text::parse_members);
    result.policy.read(look_up(result.policy.name), environment_text::parse_policy);
    result.bind.read(look_up(result.bind.name), environment_text::parse_binding);
    result.anticipate.read(look_up(result.anticipate.name), environment_text::parse_switch);
    result.learn.read(look_up(result.learn.name), environment_text::parse_switch);
    result.find_cpu.read(look_up(result.find_cpu.name), environment_text::parse_switch);
    result.display.read(look_up(result.display.name), environment_text::parse_switch);
    return result;
  }

  /// One line for each variable, in a fixed order.
  std::vector<std::string> descriptions() const {
    return {members.description(),    policy.description(), bind.description(),
            anticipate.description(), learn.description(),  find_cpu.description(),
            display.description()};
  }

  /// What the user has to be told: the descriptions of those that are ignored.
  std::vector<std::string> complaints() const {
    const bool ignored[] = {members.is_ignored(),    policy.is_ignored(), bind.is_ignored(),
                            anticipate.is_ignored(), learn.is_ignored(),  find_cpu.is_ignored(),
                            display.is_ignored()};
    const std::vector<std::string> all = descriptions();
    std::vector<std::string> result;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (ignored[i]) result.push_back(all[i]);
    }
    return result;
  }

  /// The environment as it was when the process first asked, which is when it hears the complaints.
  static const environment& of_process() {
    static detail::made_once<environment> known;
    return known.get([] {
      environment result = read([](const char* name) -> const char* { return std::getenv(name); });
      result.complain();
      return result;
    });
  }

 private:
  void complain() const {
    const std::vector<std::string> lines = complaints();
    if (lines.empty() || !detail::is_first_to_print(detail::message::environment)) return;
    for (const std::string& line : lines) std::fprintf(stderr, "lockstep: %s\n", line.c_str());
  }
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_ENVIRONMENT_HPP
