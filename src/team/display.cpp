// SPDX-License-Identifier: MIT
// src/team/display.cpp -- the bodies of display.hpp (layer: team)
#include "display.hpp"

#include <cstdio>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

namespace display_text {

/// The lines that show what the machine grants.
LOCKSTEP_INLINE void append_machine(std::string& text, const granted_cpus& machine) {
  std::size_t cores = 0, packages = 0, nodes = 0, caches = 0, of_kind[3] = {};
  std::vector<unsigned> cpus;
  for (const cpu_place& place : machine.cpus) {
    cpus.push_back(place.cpu);
    if (place.sibling != 0) continue;
    ++cores;
    ++of_kind[static_cast<std::size_t>(place.kind)];
    if (place.package >= packages) packages = place.package + std::size_t{1};
    if (place.node >= nodes) nodes = place.node + std::size_t{1};
    if (place.cache >= caches) caches = place.cache + std::size_t{1};
  }
  append(text, "  usable CPUs: %zu: affinity ", machine.usable);
  if (cpus.empty()) {
    text.append("unknown");
  } else {
    append(text, "%zu (", cpus.size());
    append_cpu_list(text, cpus);
    text.append(")");
  }
  append(text, machine.quota >= 0 ? ", quota %.2f\n" : ", no quota\n", machine.quota);
  append(text, "  cores: %zu in %zu %s, %zu NUMA %s, %zu last-level %s", cores, packages,
         packages == 1 ? "package" : "packages", nodes, nodes == 1 ? "node" : "nodes", caches,
         caches == 1 ? "cache" : "caches");
  const char* separator = ", by kind: ";
  static const core_kind kinds[] = {core_kind::performance, core_kind::efficiency,
                                    core_kind::unknown};
  for (const core_kind kind : kinds) {
    const std::size_t count = of_kind[static_cast<std::size_t>(kind)];
    if (count == 0) continue;
    append(text, "%s%zu %s", separator, count, text_of(kind));
    separator = ", ";
  }
  text.append("\n");
}

/// Whether the program, the environment or the default decided.
LOCKSTEP_INLINE void append_reason(std::string& text, decided_by who, const char* variable) {
  if (who == decided_by::environment) {
    append(text, ", by %s", variable);
  } else {
    text.append(who == decided_by::program ? ", said by the program" : ", by default");
  }
}

/// Whether a team does something that only some teams can.
LOCKSTEP_INLINE void append_ability(std::string& text, const char* what, bool does, bool could,
                                    decided_by who, const char* variable, const char* cannot,
                                    const char* how) {
  text.append(what);
  if (!does && !could) {
    text.append(cannot);
  } else {
    text.append(does ? "on" : "off");
    append_reason(text, who, variable);
    if (does) text.append(how);
  }
  text.append("\n");
}

}  // namespace display_text

LOCKSTEP_INLINE std::string describe(const resolved_team& made, const environment& variables,
                                     const granted_cpus& machine, const build_information& build) {
  using namespace display_text;
  std::string text;
  append(text, "lockstep %s, the first team:\n", build.version);
  append_machine(text, machine);

  append(text, "  team: %s, %zu %s", quoted_text(made.name.c_str()).c_str(), made.members,
         made.members == 1 ? "member" : "members");
  if (made.members_by == decided_by::nobody) {
    text.append(", one for each CPU");
  } else {
    append_reason(text, made.members_by, variables.members.name);
  }
  text.append(made.is_crowded ? "; crowded: more members than CPUs for them\n" : "\n");

  text.append("  wait policy: " + environment_text::text_of(made.policy));
  append_reason(text, made.policy_by, variables.policy.name);
  text.append("\n");

  const bool could = made.members > 1 && made.policy.is_adaptive() && !made.is_crowded;
  append_ability(text, "  anticipation: ", made.anticipates, could, made.anticipates_by,
                 variables.anticipate.name, "off, not with this size or policy, or not in a crowd",
                 "; a worker polls for 160 us and a quarter of the time between two regions at "
                 "most, and 4 ms after the last");
  append(text,
         made.learns ? "  loops: on as many members as pay, up to %zu" : "  loops: on %zu members",
         made.can_run_at_once);
  append_reason(text, made.learns_by, variables.learn.name);
  text.append("\n");
  append_ability(text, "  CPU separation: ", made.separates_cpus, could && made.cpu_of_rank.empty(),
                 made.cpu_separation_by, variables.cpu_separation.name,
                 "off, not with this size or policy, or not in a crowd, or bound",
                 "; a worker leaves a CPU that it shares with a member it waits for");

  text.append("  binding: " + environment_text::text_of(made.bind));
  append_reason(text, made.bind_by, variables.bind.name);
  if (!made.bind.is_none()) {
    text.append(made.cpu_of_rank.empty() ? "\n  CPU of each rank: none usable"
                                         : "\n  CPU of each rank:");
  }
  constexpr std::size_t most = 256;
  for (std::size_t rank = 0; rank < made.cpu_of_rank.size() && rank < most; ++rank) {
    append(text, " %u", made.cpu_of_rank[rank]);
  }
  if (made.cpu_of_rank.size() > most) text.append(" ...");
  if (!made.left_out.empty()) {
    text.append("\n  not usable, left out: ");
    append_cpu_list(text, made.left_out);
  }
  append(text, "\n  futex: %s\n  process fence: %s\n", build.futex, build.process_fence);
  variables.describe(text, "  ", false);
  return text;
}

LOCKSTEP_INLINE void display_first_team(const resolved_team& made) {
  const environment& variables = environment::of_process();
  if (!variables.display.value || !is_first_to_print(message::first_team)) return;
  const granted_cpus machine{usable_cpus(), cgroup::quota(), usable_topology()};
  std::fputs(describe(made, variables, machine, build_info()).c_str(), stderr);
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
