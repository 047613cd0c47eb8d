// SPDX-License-Identifier: MIT
// lockstep/detail/team/display.ipp -- the bodies of display.hpp (layer: team)
#ifndef LOCKSTEP_DETAIL_TEAM_DISPLAY_IPP
#define LOCKSTEP_DETAIL_TEAM_DISPLAY_IPP

#include <cstdio>
#include <initializer_list>

#include "../platform/cpus.hpp"
#include "display.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

namespace display_text {

LOCKSTEP_COLD std::string counted(std::size_t count, const char* one, const char* several) {
  std::string text;
  append(text, "%zu %s", count, count == 1 ? one : several);
  return text;
}

LOCKSTEP_COLD std::string usable_line(const granted_cpus& machine) {
  std::vector<unsigned> cpus;
  for (const detail::cpu_place& place : machine.cpus) cpus.push_back(place.cpu);
  std::string text;
  append(text, "usable CPUs: %zu: affinity ", machine.usable);
  if (cpus.empty()) {
    text.append("unknown");
  } else {
    append(text, "%zu (", cpus.size());
    text.append(cpu_list_text(cpus)).append(")");
  }
  if (machine.quota >= 0) {
    append(text, ", quota %.2f", machine.quota);
  } else {
    text.append(", no quota");
  }
  return text;
}

LOCKSTEP_COLD std::string cores_line(const detail::cpu_topology& cpus) {
  std::size_t cores = 0, packages = 0, of_kind[3] = {};
  for (const detail::cpu_place& place : cpus) {
    if (place.sibling != 0) continue;
    ++cores;
    ++of_kind[static_cast<std::size_t>(place.kind)];
    if (place.package + std::size_t{1} > packages) packages = place.package + std::size_t{1};
  }
  std::string text;
  append(text, "cores: %zu in %zu %s", cores, packages, packages == 1 ? "package" : "packages");
  const char* separator = ", by kind: ";
  for (const core_kind kind : {core_kind::performance, core_kind::efficiency, core_kind::unknown}) {
    const std::size_t count = of_kind[static_cast<std::size_t>(kind)];
    if (count == 0) continue;
    append(text, "%s%zu %s", separator, count, text_of(kind));
    separator = ", ";
  }
  return text;
}

LOCKSTEP_COLD std::string reason(decided_by who, const char* variable) {
  if (who == decided_by::program) return ", said by the program";
  if (who == decided_by::nobody) return ", by default";
  std::string text = ", by ";
  return text.append(variable);
}

LOCKSTEP_COLD std::string anticipation_line(const resolved_team& made,
                                            const environment& variables) {
  std::string text = "anticipation: ";
  const bool could = made.members > 1 && made.policy.is_adaptive() && !made.is_crowded;
  if (!made.anticipates && !could) {
    return text.append("off, not with this size or policy, or not in a crowd");
  }
  text.append(made.anticipates ? "on" : "off");
  text.append(reason(made.anticipates_by, variables.anticipate.name));
  if (made.anticipates) {
    text.append(
        "; a worker polls for 160 us and a quarter of the time between two regions at most, "
        "and 4 ms after the last");
  }
  return text;
}

LOCKSTEP_COLD std::string learning_line(const resolved_team& made, const environment& variables) {
  std::string text;
  append(text,
         made.learns ? "loops: on as many members as pay, up to %zu" : "loops: on %zu members",
         made.can_run_at_once);
  return text.append(reason(made.learns_by, variables.learn.name));
}

LOCKSTEP_COLD std::string parting_line(const resolved_team& made, const environment& variables) {
  std::string text = "parting: ";
  const bool could =
      made.members > 1 && made.policy.is_adaptive() && !made.is_crowded && made.cpu_of_rank.empty();
  if (!made.finds_cpu && !could) {
    return text.append("off, not with this size or policy, or not in a crowd, or bound");
  }
  text.append(made.finds_cpu ? "on" : "off");
  text.append(reason(made.finds_cpu_by, variables.find_cpu.name));
  if (made.finds_cpu) {
    text.append("; a worker leaves a CPU that it shares with a member it waits for");
  }
  return text;
}

LOCKSTEP_COLD std::string cpus_by_rank(const std::vector<unsigned>& cpus) {
  constexpr std::size_t most = 256;
  std::string text;
  for (std::size_t rank = 0; rank < cpus.size() && rank < most; ++rank) {
    append(text, " %u", cpus[rank]);
  }
  if (cpus.size() > most) text.append(" ...");
  return text;
}

}  // namespace display_text

LOCKSTEP_COLD std::string describe(const resolved_team& made, const environment& variables,
                                   const granted_cpus& machine, const build_information& build) {
  using namespace display_text;
  using environment_text::text_of;
  std::string text;
  append(text, "lockstep %s, the first team:\n", build.version);
  const auto add = [&text](const char* what, const std::string& line, const std::string& why) {
    text.append("  ").append(what).append(line).append(why).append("\n");
  };
  const std::string nothing;
  add("", usable_line(machine), nothing);
  add("", cores_line(machine.cpus), nothing);
  std::string members = environment_text::quoted(made.name);
  members.append(", ").append(counted(made.members, "member", "members"));
  members.append(made.members_by == decided_by::nobody
                     ? ", one for each CPU"
                     : reason(made.members_by, variables.members.name));
  add("team: ", members, made.is_crowded ? "; crowded: more members than CPUs for them" : nothing);
  add("wait policy: ", text_of(made.policy), reason(made.policy_by, variables.policy.name));
  add("", anticipation_line(made, variables), nothing);
  add("", learning_line(made, variables), nothing);
  add("", parting_line(made, variables), nothing);
  add("binding: ", text_of(made.bind), reason(made.bind_by, variables.bind.name));
  if (!made.cpu_of_rank.empty()) add("CPU of each rank:", cpus_by_rank(made.cpu_of_rank), nothing);
  if (made.cpu_of_rank.empty() && !made.bind.is_none())
    add("CPU of each rank: none usable", nothing, nothing);
  if (!made.left_out.empty()) add("not usable, left out: ", cpu_list_text(made.left_out), nothing);
  add("futex: ", build.futex, nothing);
  add("process fence: ", build.process_fence, nothing);
  for (const std::string& line : variables.descriptions()) add("", line, nothing);
  return text;
}

LOCKSTEP_COLD void display_first_team(const resolved_team& made) {
  const environment& variables = environment::of_process();
  if (!variables.display.value) return;
  if (!detail::is_first_to_print(detail::message::first_team)) return;
  const granted_cpus machine{usable_cpus(), detail::cgroup::quota(), detail::usable_topology()};
  const std::string text = describe(made, variables, machine, build_info());
  std::fputs(text.c_str(), stderr);
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_DISPLAY_IPP
