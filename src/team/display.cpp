// SPDX-License-Identifier: MIT
// src/team/display.cpp -- the bodies of display.hpp (layer: team)
#include "display.hpp"

#include <cstdio>

#include "../platform/cgroup.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

LOCKSTEP_INLINE std::string describe(const resolved_team& made, const environment& variables,
                                     const granted_cpus& machine, const build_information& build) {
  std::string text;
  append(text, "lockstep %s, the first team:\n", build.version);
  append(text, "  usable CPUs: %zu: affinity ", machine.usable);
  if (machine.cpus.empty()) {
    text.append("unknown");
  } else {
    append(text, "%zu (", machine.cpus.size());
    append_ranges(text, machine.cpus);
    text.append(")");
  }
  append(text, machine.quota >= 0 ? ", quota %.2f\n" : ", no quota\n", machine.quota);
  append(text, "  team: %s, %zu %s%s\n", quoted_text(made.name.c_str()).c_str(), made.members,
         made.members == 1 ? "member" : "members",
         made.is_crowded ? "; crowded: more members than CPUs for them" : "");
  append(text, "  wait policy: %s\n  anticipation: %s\n",
         environment_text::text_of(made.policy).c_str(),
         made.anticipates ? "on; a worker polls for 160 us and a quarter of the time between two "
                            "regions at most, and 4 ms after the last"
                          : "off");
  append(
      text,
      made.learns ? "  loops: on as many members as pay, up to %zu\n" : "  loops: on %zu members\n",
      made.can_run_at_once);
  append(text, "  CPU separation: %s\n  binding: %s",
         made.separates_cpus ? "on; a worker leaves a CPU that it shares with a member it waits for"
                             : "off",
         environment_text::text_of(made.bind).c_str());
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
    append_ranges(text, made.left_out);
  }
  append(text, "\n  futex: %s\n  process fence: %s\n", build.futex, build.process_fence);
  variables.describe(text, "  ", false);
  return text;
}

LOCKSTEP_INLINE void display_first_team(const resolved_team& made) {
  const environment& variables = environment::of_process();
  if (!variables.display.value || !is_first_to_print(message::first_team)) return;
  granted_cpus machine{usable_cpus(), cgroup::quota(), {}};
  for (const cpu_place& place : usable_topology()) machine.cpus.push_back(place.cpu);
  std::fputs(describe(made, variables, machine, build_info()).c_str(), stderr);
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
