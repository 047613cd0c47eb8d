// SPDX-License-Identifier: MIT
// src/team/placement.cpp -- the bodies of placement.hpp (layer: team)
#include "placement.hpp"

#include <algorithm>
#include <cstdio>
#include <tuple>

#include "../base/numbers.hpp"
#include "../platform/cgroup.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

namespace placement {

/// The same places, but with the widest of their three numbers as `package`, and the narrowest as `cache`. A number is
/// narrower if it divides the CPUs into more groups. Numbers with equally many groups keep the order package, node,
/// cache.
LOCKSTEP_INLINE cpu_topology widest_first(const cpu_topology& places) {
  unsigned cpu_place::* levels[] = {&cpu_place::package, &cpu_place::node, &cpu_place::cache};
  const auto last_of = [&](unsigned cpu_place::* level) {  // numbers have no gaps
    unsigned last = 0;
    for (const cpu_place& place : places) last = (std::max)(last, place.*level);
    return last;
  };
  for (const int i : {0, 1, 0}) {  // sorts three, equal ones stay in order
    if (last_of(levels[i + 1]) < last_of(levels[i])) std::swap(levels[i], levels[i + 1]);
  }
  cpu_topology result(places);
  for (std::size_t i = 0; i < places.size(); ++i) {
    result[i].package = places[i].*levels[0];
    result[i].node = places[i].*levels[1];
    result[i].cache = places[i].*levels[2];
  }
  return result;
}

/// In the order of PLACEMENT-3: neighbours share what they can.
LOCKSTEP_INLINE bool is_before_by_place(const cpu_place& a, const cpu_place& b) noexcept {
  return std::tie(a.kind, a.package, a.node, a.cache, a.core, a.sibling) <
         std::tie(b.kind, b.package, b.node, b.cache, b.core, b.sibling);
}
/// PLACEMENT-1 and PLACEMENT-2 for spread and cores: which CPU gets a member first.
LOCKSTEP_INLINE bool is_before_by_core(const cpu_place& a, const cpu_place& b) noexcept {
  return a.sibling != b.sibling ? a.sibling < b.sibling : is_before_by_place(a, b);
}

/// `count` of `size` places, which are sorted by the place: packages in turns, in each the nodes, in each the caches,
/// and the cores of a cache evenly. `level`: 0 for packages. Requires count <= size.
LOCKSTEP_INLINE std::vector<unsigned> deal(const cpu_place* places, std::size_t size,
                                           std::size_t count, unsigned level) {
  static unsigned cpu_place::* const numbers[] = {&cpu_place::package, &cpu_place::node,
                                                  &cpu_place::cache};
  std::vector<unsigned> order;
  if (level == 3) {
    for (std::size_t i = 0; i < count; ++i) order.push_back(places[i * size / count].cpu);
    return order;
  }
  struct part {
    const cpu_place* places;
    std::size_t size, taken;
  };
  std::vector<part> parts;
  for (const cpu_place* at = places; at != places + size; ++at) {
    if (at == places || at->*numbers[level] != at[-1].*numbers[level]) parts.push_back({at, 0, 0});
    ++parts.back().size;
  }
  for (std::size_t turn = 0, rest = count; rest > 0; ++turn) {
    part& next = parts[turn % parts.size()];
    if (next.taken == next.size) continue;
    ++next.taken;
    --rest;
  }
  std::vector<std::vector<unsigned>> dealt;
  for (const part& each : parts) {
    dealt.push_back(deal(each.places, each.size, each.taken, level + 1));
  }
  for (std::size_t turn = 0; order.size() < count; ++turn) {
    for (const std::vector<unsigned>& part : dealt) {
      if (turn < part.size()) order.push_back(part[turn]);
    }
  }
  return order;
}

/// `count` of the CPUs, which are sorted as cores are taken, in the order of ranks.
LOCKSTEP_INLINE std::vector<unsigned> spread(const cpu_topology& sorted, std::size_t count) {
  std::vector<unsigned> order;
  for (std::size_t i = 0, end = 0; order.size() < count; i = end) {
    while (end < sorted.size() && sorted[end].sibling == sorted[i].sibling &&
           sorted[end].kind == sorted[i].kind) {
      ++end;
    }
    const std::size_t wanted = lesser(count - order.size(), end - i);
    for (const unsigned cpu : deal(&sorted[i], end - i, wanted, 0)) order.push_back(cpu);
  }
  return order;
}

/// Null for a CPU that is not usable.
LOCKSTEP_INLINE const cpu_place* place_of(const cpu_topology& usable, unsigned cpu) noexcept {
  for (const cpu_place& place : usable)
    if (place.cpu == cpu) return &place;
  return nullptr;
}
/// The CPUs of a list that are usable, or those that are not.
LOCKSTEP_INLINE std::vector<unsigned> select(const cpu_topology& usable,
                                             const std::vector<unsigned>& list, bool are_usable) {
  std::vector<unsigned> result;
  for (const unsigned cpu : list) {
    if ((place_of(usable, cpu) != nullptr) == are_usable) result.push_back(cpu);
  }
  return result;
}

LOCKSTEP_INLINE std::vector<unsigned> plan(const cpu_topology& usable, std::size_t members,
                                           const binding& where) {
  std::vector<unsigned> order;
  if (where.is_list()) {
    order = select(usable, where.list(), true);
  } else if (!usable.empty() && (where.is_close() || where.is_spread() || where.is_cores())) {
    const std::size_t count = lesser(members, usable.size());
    cpu_topology sorted = widest_first(usable);
    std::sort(sorted.begin(), sorted.end(),
              where.is_close() ? is_before_by_place : is_before_by_core);
    if (where.is_spread()) {
      order = spread(sorted, count);
    } else {
      sorted.resize(count);
      std::sort(sorted.begin(), sorted.end(), is_before_by_place);
      for (const cpu_place& each : sorted) order.push_back(each.cpu);
    }
  }
  // With more members than CPUs, start again at the first CPU.
  const std::size_t found = order.size();
  if (found > 0) order.resize(members);
  for (std::size_t rank = found; rank < order.size(); ++rank) order[rank] = order[rank - found];
  return order;
}

LOCKSTEP_INLINE rank_groups groups_of(const cpu_topology& usable,
                                      const std::vector<unsigned>& cpu_of_rank) {
  const cpu_topology ordered = widest_first(usable);
  std::vector<rank_groups::place> places;
  for (const unsigned cpu : cpu_of_rank) {
    const cpu_place* const on = place_of(ordered, cpu);
    if (on == nullptr) return rank_groups();
    places.push_back({{on->package, on->node, on->cache}});
  }
  return rank_groups(places);
}

/// How many of the `usable` CPUs are in a list, each counted once; all if the list is empty.
LOCKSTEP_INLINE std::size_t fewer_of(std::size_t usable, std::vector<unsigned> list) {
  sort_once(list);
  return list.empty() || usable < list.size() ? usable : list.size();
}

}  // namespace placement

LOCKSTEP_INLINE resolved_team resolve(const team_options& options, const environment& variables,
                                      std::size_t usable, const cpu_topology& cpus) {
  if (options.cpus() != 0) usable = lesser(usable, options.cpus());
  resolved_team result;
  result.name = options.name();
  result.bind = options.bind().is_unset() ? variables.bind.value : options.bind();
  if (result.bind.is_unset()) result.bind = binding::none();
  const std::vector<unsigned>& list = result.bind.list();
  result.left_out = placement::select(cpus, list, false);
  result.members = options.members() != 0 ? options.members() : variables.members.value;
  if (result.members == 0) {  // at most one for each CPU of a list
    const std::size_t wanted = placement::fewer_of(usable, placement::select(cpus, list, true));
    result.members = lesser(wanted, max_participants);
  }
  checked_count("lockstep::team", "members", result.members);

  result.cpu_of_rank = placement::plan(cpus, result.members, result.bind);
  result.groups = placement::groups_of(cpus, result.cpu_of_rank);
  result.can_run_at_once = lesser(result.members, placement::fewer_of(usable, result.cpu_of_rank));
  result.is_crowded = result.members > result.can_run_at_once;

  result.policy = (options.has_policy() ? options.policy() : variables.policy.value)
                      .when_crowded(result.is_crowded);
  result.learns = options.has_learn() ? options.learn() : variables.learn.value;
  const bool can_adapt = result.members > 1 && result.policy.is_adaptive() && !result.is_crowded;
  result.anticipates =
      can_adapt && (options.has_anticipate() ? options.anticipate() : variables.anticipate.value);
  result.separates_cpus =
      can_adapt && result.cpu_of_rank.empty() &&
      (options.has_cpu_separation() ? options.cpu_separation() : variables.cpu_separation.value);
  result.keeps_ledger = options.has_ledger() ? options.ledger() : variables.ledger.value;
  return result;
}

LOCKSTEP_INLINE resolved_team resolve(const team_options& options) {
  const environment& variables = environment::of_process();
  const binding& where = options.bind().is_unset() ? variables.bind.value : options.bind();
  const bool binds = !where.is_unset() && !where.is_none();
  resolved_team result =
      resolve(options, variables, usable_cpus(), binds ? usable_topology() : cpu_topology());
  // Which CPUs of LOCKSTEP_PROC_BIND are not usable is said once.
  if (options.bind().is_unset() && !result.left_out.empty() &&
      is_first_to_print(message::unusable_cpus)) {
    std::string text;
    append_ranges(text, result.left_out);
    std::fprintf(stderr, "lockstep: %s=%s: this process may not use CPU %s\n", variables.bind.name,
                 variables.bind.given.c_str(), text.c_str());
  }
  return result;
}

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
  append(text, "  team: %s, %s%s\n", quoted_text(made.name.c_str()).c_str(),
         counted(made.members, "member").c_str(),
         made.is_crowded ? "; crowded: more members than CPUs for them" : "");
  append(text, "  wait policy: %s\n  anticipation: %s\n",
         environment_text::text_of(made.policy).c_str(),
         made.anticipates ? "on; a worker polls for 160 us and a quarter of the time between two "
                            "regions at most, and 4 ms after the last"
                          : "off");
  text += "  loops: on " +
          (made.learns ? "as many members as pay, up to " + std::to_string(made.can_run_at_once)
                       : counted(made.can_run_at_once, "member")) +
          "\n";
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
