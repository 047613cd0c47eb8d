// SPDX-License-Identifier: MIT
// lockstep/detail/team/environment.ipp -- the bodies of environment.hpp (layer: team)
#ifndef LOCKSTEP_DETAIL_TEAM_ENVIRONMENT_IPP
#define LOCKSTEP_DETAIL_TEAM_ENVIRONMENT_IPP

#include <cstdio>
#include <cstdlib>
#include <initializer_list>

#include "../platform/cpus.hpp"
#include "../platform/error.hpp"
#include "../platform/process.hpp"
#include "environment.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

namespace environment_text {

LOCKSTEP_COLD std::string quoted(const std::string& text) {
  constexpr std::size_t longest = 60;
  std::string result = "'";
  for (std::size_t i = 0; i < text.size() && i < longest; ++i) {
    const bool is_control = static_cast<unsigned char>(text[i]) < 0x20 || text[i] == 0x7f;
    result += is_control ? '?' : text[i];
  }
  return result.append(text.size() > longest ? "...'" : "'");
}

LOCKSTEP_COLD std::string plain_word(const std::string& text) {
  std::string word = detail::without_blanks(text);
  for (char& c : word) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return word;
}

LOCKSTEP_COLD bool parse_members(const std::string& word, std::size_t& result) {
  unsigned long long number = 0;
  if (!detail::parse_number(word, detail::max_participants, number) || number == 0) {
    return false;
  }
  result = static_cast<std::size_t>(number);
  return true;
}

LOCKSTEP_COLD bool parse_spin_time(const std::string& word, std::chrono::nanoseconds& result) {
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

LOCKSTEP_COLD bool parse_policy(const std::string& word, wait_policy& result) {
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

LOCKSTEP_COLD bool parse_binding(const std::string& word, binding& result) {
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

LOCKSTEP_COLD bool parse_switch(const std::string& word, bool& result) {
  const bool on = word == "1" || word == "true";
  if (!on && word != "0" && word != "false") return false;
  result = on;
  return true;
}

LOCKSTEP_COLD std::string text_of(wait_policy policy) {
  if (policy.is_adaptive()) return "default";
  if (policy.is_spin()) return "spin";
  if (policy.is_block()) return "block";
  const long long time = policy.spin_time().count();
  std::string text;
  if (time % 1000 != 0) {
    append(text, "hybrid:%lldns", time);
  } else if (time % 1000000 != 0) {
    append(text, "hybrid:%lldus", time / 1000);
  } else {
    append(text, "hybrid:%lldms", time / 1000000);
  }
  return text;
}

LOCKSTEP_COLD std::string text_of(const binding& where) {
  return where.is_close()    ? "close"
         : where.is_spread() ? "spread"
         : where.is_list()   ? detail::cpu_list_text(where.list())
                             : "none";
}

}  // namespace environment_text

LOCKSTEP_COLD std::string environment_entry::description() const {
  std::string text = name;
  if (given.empty()) return text.append(" not set");
  text.append("=").append(given);
  if (!is_set) text.append(" is ignored: must be ").append(expected);
  return text;
}

LOCKSTEP_COLD environment::environment(lookup* look_up, const void* with) {
  // The value of that variable as a plain_word(), empty for none; keeps what a message shows of it.
  const auto word_of = [&](environment_entry& entry) {
    const char* const text = look_up(with, entry.name);
    std::string word = environment_text::plain_word(text == nullptr ? "" : text);
    if (!word.empty()) entry.given = environment_text::quoted(text);
    return word;
  };
  using namespace environment_text;
  members.is_set = parse_members(word_of(members), members.value);
  policy.is_set = parse_policy(word_of(policy), policy.value);
  bind.is_set = parse_binding(word_of(bind), bind.value);
  for (environment_variable<bool>* each : {&anticipate, &learn, &find_cpu, &display}) {
    each->is_set = parse_switch(word_of(*each), each->value);
  }
}

LOCKSTEP_COLD std::vector<std::string> environment::descriptions() const {
  std::vector<std::string> result;
  const environment_entry* const all[] = {&members, &policy,   &bind,   &anticipate,
                                          &learn,   &find_cpu, &display};
  for (const environment_entry* each : all) result.push_back(each->description());
  return result;
}

LOCKSTEP_COLD std::vector<std::string> environment::complaints() const {
  std::vector<std::string> result;
  const environment_entry* const all[] = {&members, &policy,   &bind,   &anticipate,
                                          &learn,   &find_cpu, &display};
  for (const environment_entry* each : all) {
    if (each->is_ignored()) result.push_back(each->description());
  }
  return result;
}

LOCKSTEP_COLD const environment& environment::of_process() {
  static made_once<environment> known;
  return known.get([] {
    environment result = read([](const char* name) -> const char* { return std::getenv(name); });
    result.complain();
    return result;
  });
}

LOCKSTEP_COLD void environment::complain() const {
  const std::vector<std::string> lines = complaints();
  if (lines.empty() || !is_first_to_print(message::environment)) return;
  for (const std::string& line : lines) std::fprintf(stderr, "lockstep: %s\n", line.c_str());
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_ENVIRONMENT_IPP
