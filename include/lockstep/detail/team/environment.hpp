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
#include <string>
#include <utility>
#include <vector>

#include "../../team_options.hpp"
#include "../../wait_policy.hpp"
#include "../platform/config.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace environment_text {

/// `text` in quotes, fit for one line of a message: cut, and without control characters.
LOCKSTEP_COLD std::string quoted(const std::string& text);

/// Without blanks around, in small letters of ASCII whatever the locale.
LOCKSTEP_COLD std::string plain_word(const std::string& text);

// Each parse_ function takes a plain_word(); it returns false, and leaves `result` as it was, if that is
// no value of its kind.

LOCKSTEP_COLD bool parse_members(const std::string& word, std::size_t& result);

/// "500ns", "20us", "1ms": at most wait_policy::longest_spin().
LOCKSTEP_COLD bool parse_spin_time(const std::string& word, std::chrono::nanoseconds& result);

LOCKSTEP_COLD bool parse_policy(const std::string& word, wait_policy& result);

LOCKSTEP_COLD bool parse_binding(const std::string& word, binding& result);

LOCKSTEP_COLD bool parse_switch(const std::string& word, bool& result);

/// The policy as LOCKSTEP_WAIT_POLICY would name it.
LOCKSTEP_COLD std::string text_of(wait_policy policy);

/// The binding as LOCKSTEP_PROC_BIND would name it; "none" if unset.
LOCKSTEP_COLD std::string text_of(const binding& where);

}  // namespace environment_text

/// One variable as it was found.
struct environment_entry {
  const char* name;
  const char* expected;  ///< what a message says that it must be
  bool is_set;           ///< to a value that counts
  std::string given;     ///< in quotes, cut; empty if the variable does not exist or is empty
  bool is_ignored() const noexcept { return !given.empty() && !is_set; }

  environment_entry(const char* its_name, const char* it_must_be) noexcept
      : name(its_name), expected(it_must_be), is_set(false) {}

  /// "NAME='value'", and why it is ignored if it is; "NAME not set".
  LOCKSTEP_COLD std::string description() const;
};
template <class Value>
struct environment_variable : environment_entry {
  Value value;  ///< as it is by default unless is_set

  environment_variable(const char* its_name, const char* it_must_be, Value by_default)
      : environment_entry(its_name, it_must_be), value(std::move(by_default)) {}
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
    return environment([](const void* with,
                          const char* name) { return (*static_cast<const Lookup*>(with))(name); },
                       &look_up);
  }

  /// One line for each variable, in a fixed order.
  LOCKSTEP_COLD std::vector<std::string> descriptions() const;

  /// What the user has to be told: the descriptions of those that are ignored.
  LOCKSTEP_COLD std::vector<std::string> complaints() const;

  /// The environment as it was when the process first asked, which is when it hears the complaints.
  LOCKSTEP_COLD static const environment& of_process();

 private:
  using lookup = const char*(const void* with, const char* name);
  LOCKSTEP_COLD environment(lookup* look_up, const void* with);
  LOCKSTEP_COLD void complain() const;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#if LOCKSTEP_HAS_BODIES
#include "environment.ipp"
#endif

#endif  // LOCKSTEP_DETAIL_TEAM_ENVIRONMENT_HPP
