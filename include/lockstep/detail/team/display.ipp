// SPDX-License-Identifier: MIT
// lockstep/detail/team/display.ipp -- the bodies of display.hpp (layer: team)
#ifndef LOCKSTEP_DETAIL_TEAM_DISPLAY_IPP
#define LOCKSTEP_DETAIL_TEAM_DISPLAY_IPP

#include "display.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

namespace display_text {

LOCKSTEP_COLD std::string counted(std::size_t count, const char* one, const char* several) {
  return std::to_string(count) + " " + (count == 1 ? one : several);
}

LOCKSTEP_COLD std::string usable_line(const granted_cpus& machine) {
  std::vector<unsigned> cpus;
  for (const detail::cpu_place& place : machine.cpus) cpus.push_back(place.cpu);
  char quota[48] = "no quota";
  if (machine.quota >= 0) std::snprintf(quota, sizeof quota, "quota %.2f", machine.quota);
  const std::string affinity =
      cpus.empty() ? "unknown"
                   : std::to_string(cpus.size()) + " (" + detail::cpu_list_text(cpus) + ")";
  return "usable CPUs: " + std::to_string(machine.usable) + ": affinity " + affinity + ", " + quota;
}

LOCKSTEP_COLD std::string cores_line(const detail::cpu_topology& cpus) {
  std::size_t cores = 0, packages = 0, of_kind[3] = {};
  for (const detail::cpu_place& place : cpus) {
    if (place.sibling != 0) continue;
    ++cores;
    ++of_kind[static_cast<std::size_t>(place.kind)];
    if (place.package + std::size_t{1} > packages) packages = place.package + std::size_t{1};
  }
  std::string text =
      "cores: " + std::to_string(cores) + " in " + counted(packages, "package", "packages");
  const detail::core_kind kinds[] = {detail::core_kind::performance, detail::core_kind::efficiency,
                                     detail::core_kind::unknown};
  const char* separator = ", by kind: ";
  for (const detail::core_kind kind : kinds) {
    const std::size_t count = of_kind[static_cast<std::size_t>(kind)];
    if (count == 0) continue;
    text += separator + std::to_string(count) + " " + detail::text_of(kind);
    separator = ", ";
  }
  return text;
}

LOCKSTEP_COLD std::string reason(decided_by who, const char* variable) {
  return who == decided_by::program       ? ", said by the program"
         : who == decided_by::environment ? std::string(", by ") + variable
                                          : std::string(", by default");
}

LOCKSTEP_COLD std::string anticipation_line(const resolved_team& made,
                                            const environment& variables) {
  const std::string said = reason(made.anticipates_by, variables.anticipate.name);
  if (made.anticipates) {
    return "anticipation: on" + said +
           "; a worker polls for 160 us and a quarter of the time between two regions at most, "
           "and 4 ms after the last";
  }
  const bool could = made.members > 1 && made.policy.is_adaptive() && !made.is_crowded;
  return "anticipation: off" + (could ? said : ", not with this size or policy, or not in a crowd");
}

LOCKSTEP_COLD std::string learning_line(const resolved_team& made, const environment& variables) {
  const std::string said = reason(made.learns_by, variables.learn.name);
  return made.learns ? "loops: on as many members as pay, up to " +
                           std::to_string(made.can_run_at_once) + said
                     : "loops: on " + std::to_string(made.can_run_at_once) + " members" + said;
}

LOCKSTEP_COLD std::string parting_line(const resolved_team& made, const environment& variables) {
  const std::string said = reason(made.finds_cpu_by, variables.find_cpu.name);
  if (made.finds_cpu) {
    return "parting: on" + said +
           "; a worker leaves a CPU that it shares with a member it waits for";
  }
  const bool could =
      made.members > 1 && made.policy.is_adaptive() && !made.is_crowded && made.cpu_of_rank.empty();
  return "parting: off" +
         (could ? said : ", not with this size or policy, or not in a crowd, or bound");
}

LOCKSTEP_COLD std::string cpus_by_rank(const std::vector<unsigned>& cpus) {
  constexpr std::size_t most = 256;
  std::string text;
  for (std::size_t rank = 0; rank < cpus.size() && rank < most; ++rank) {
    text += " " + std::to_string(cpus[rank]);
  }
  return cpus.size() > most ? text + " ..." : text;
}

}  // namespace display_text

LOCKSTEP_COLD std::string describe(const resolved_team& made, const environment& variables,
                                   const granted_cpus& machine, const build_information& build) {
  using namespace display_text;
  using environment_text::text_of;
  std::string text = std::string("lockstep ") + build.version + ", the first team:\n";
  const auto add = [&text](const std::string& line) { text += "  " + line + "\n"; };
  add(usable_line(machine));
  add(cores_line(machine.cpus));
  add("team: " + environment_text::quoted(made.name) + ", " +
      counted(made.members, "member", "members") +
      (made.members_by == decided_by::nobody ? ", one for each CPU"
                                             : reason(made.members_by, variables.members.name)) +
      (made.is_crowded ? "; crowded: more members than CPUs for them" : ""));
  add("wait policy: " + text_of(made.policy) + reason(made.policy_by, variables.policy.name));
  add(anticipation_line(made, variables));
  add(learning_line(made, variables));
  add(parting_line(made, variables));
  add("binding: " + text_of(made.bind) + reason(made.bind_by, variables.bind.name));
  if (!made.cpu_of_rank.empty()) add("CPU of each rank:" + cpus_by_rank(made.cpu_of_rank));
  if (made.cpu_of_rank.empty() && !made.bind.is_none()) add("CPU of each rank: none usable");
  if (!made.left_out.empty()) {
    add("not usable, left out: " + detail::cpu_list_text(made.left_out));
  }
  add(std::string("futex: ") + build.futex);
  add(std::string("process fence: ") + build.process_fence);
  for (const std::string& line : variables.descriptions()) add(line);
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
