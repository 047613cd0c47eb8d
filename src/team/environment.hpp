// SPDX-License-Identifier: MIT
// src/team/environment.hpp -- what the user asks of all teams by environment variables (layer: team)
//
//   LOCKSTEP_NUM_THREADS   1 to 65536: members of a team whose program names no number
//   LOCKSTEP_WAIT_POLICY   default | spin | block | hybrid:TIME, TIME as 500ns, 20us, 1ms
//   LOCKSTEP_PROC_BIND     none | close | cores | spread | a list of CPUs: 0,2,4-7,8-14:2
//   LOCKSTEP_ANTICIPATE    0 | 1 | false | true: whether workers learn when the next region is due
//   LOCKSTEP_LEARN         0 | 1 | false | true: whether loops learn on how many members they pay
//   LOCKSTEP_CPU_SEPARATION  0 | 1 | false | true: whether workers leave a CPU that they share with a member they wait
//                          for; also read by cpu_separation.hpp, for threads in a barrier
//   LOCKSTEP_LEDGER        0 | 1 | false | true, or a file, with a dot or a slash in its name: teams keep a ledger, whose
//                          table goes to stderr, or whose JSON is added to the file as a line, when the team ends
//   LOCKSTEP_TRACE         a file: what threads do is recorded from the first team on, and written when the program ends
//                          (trace.hpp); %p in its name is the number of the process. With ,records=1M behind it each
//                          thread keeps so many records, in place of 128K
//   LOCKSTEP_DISPLAY_ENV   0 | 1 | false | true: print what was decided for the first team
// LOCKSTEP_WATCHDOG and LOCKSTEP_DELAY belong to watchdog.hpp: they also work in programs without a team. They are only
// shown here.
//
// Capital or small letters; blanks around a value are allowed; an empty value counts as unset. Any other value is
// ignored, and reported once on stderr with the variable's name. The program's own options beat the environment. A
// program with more rights than its caller (set-user-ID, capabilities of its file) ignores the environment, and reports
// what is set. Reading is pure, except of_process(): the caller passes the function that looks a variable up.
#ifndef LOCKSTEP_SRC_TEAM_ENVIRONMENT_HPP
#define LOCKSTEP_SRC_TEAM_ENVIRONMENT_HPP

#include <cstddef>
#include <string>
#include <utility>

#include <lockstep/detail/base/closures.hpp>
#include <lockstep/detail/platform/config.hpp>
#include <lockstep/detail/platform/error.hpp>
#include <lockstep/team_options.hpp>
#include <lockstep/wait_policy.hpp>
#include "../observe/hooks.hpp"
#include "../platform/cpus.hpp"
#include "../platform/process.hpp"
#include "../platform/system_texts.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

namespace environment_text {

/// The value in the words of LOCKSTEP_WAIT_POLICY and LOCKSTEP_PROC_BIND; "none" for a binding that is unset.
std::string text_of(wait_policy policy);
std::string text_of(const binding& where);

}  // namespace environment_text

/// One variable as it was found.
struct environment_entry {
  const char* name;
  const char* expected;  ///< for messages: the values that are allowed
  std::string given;     ///< in quotes; empty if the variable does not exist or is blank
  bool is_set = false;   ///< to a value that counts

  environment_entry(const char* its_name, const char* it_must_be)
      : name(its_name), expected(it_must_be) {}
  bool is_ignored() const noexcept { return !given.empty() && !is_set; }
};
template <class Value>
struct environment_variable : environment_entry {
  Value value;  ///< the default unless is_set

  environment_variable(const char* its_name, const char* it_must_be, Value by_default = Value())
      : environment_entry(its_name, it_must_be), value(std::move(by_default)) {}
};

/// The rows of the table above: the name, what is allowed, the default.
struct environment {
  environment_variable<std::size_t> members{"LOCKSTEP_NUM_THREADS", "a number from 1 to 65536"};
  environment_variable<wait_policy> policy{
      "LOCKSTEP_WAIT_POLICY",
      "default, spin, block or hybrid:TIME, TIME as 500ns, 20us or 1ms, at most 536ms"};
  environment_variable<binding> bind{
      "LOCKSTEP_PROC_BIND",
      "none, close, cores, spread or a list of CPUs as 0,2,4-7,8-14:2, below 65536"};
  environment_variable<bool> anticipate{"LOCKSTEP_ANTICIPATE", "0, 1, false or true", true};
  environment_variable<bool> learn{"LOCKSTEP_LEARN", anticipate.expected, true};
  environment_variable<bool> cpu_separation{"LOCKSTEP_CPU_SEPARATION", anticipate.expected, true};
  environment_variable<bool> ledger{
      "LOCKSTEP_LEDGER", "0, 1, false, true, or a file with a dot or a slash in its name"};
  std::string ledger_file;  ///< of the process: from the root on; empty: stderr
  environment_variable<std::string> trace{
      "LOCKSTEP_TRACE",
      "the name of a file, and perhaps ,records= with a number as 65536, 256K or 1M, at most 1G"};
  std::size_t trace_records = std::size_t{1} << 17;  ///< the default of trace_options
  environment_entry watchdog{"LOCKSTEP_WATCHDOG", debug_aid_values::watchdog()};
  environment_entry delay{"LOCKSTEP_DELAY", debug_aid_values::delay()};
  environment_variable<bool> display{"LOCKSTEP_DISPLAY_ENV", anticipate.expected};
  const bool is_obeyed;  ///< false: the program has rights that its caller has not

  /// look_up(name) returns the value or null, as std::getenv does.
  /// `obeyed` false: no variable has an effect, and those that are set are reported.
  explicit environment(const function_ref<const char*(const char* name)>& look_up,
                       bool obeyed = true);

  /// A line for each variable, in a fixed order: `before`, then "NAME='value'" and the reason if it is ignored, or
  /// "NAME not set" and whether the program supports it. `only_ignored`: only lines of variables that are ignored, and
  /// that were not reported elsewhere (trace/debug_aids.cpp).
  void describe(std::string& text, const char* before, bool only_ignored) const;

  /// The environment at the first call in the process. That call also prints the complaints, and starts the observers
  /// that are asked for.
  static const environment& of_process();
  /// Where the ledger of a team goes when the team ends.
  ledger_output ledger_goes_to() const noexcept {
    return {ledger.value, ledger_file.c_str(), ledger.name, ledger.given.c_str()};
  }
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_TEAM_ENVIRONMENT_HPP
