// SPDX-License-Identifier: MIT
// lockstep/detail/team/placement.ipp -- the bodies of placement.hpp (layer: team)
#ifndef LOCKSTEP_DETAIL_TEAM_PLACEMENT_IPP
#define LOCKSTEP_DETAIL_TEAM_PLACEMENT_IPP

#include <cstdio>
#include <cstdlib>

#include "placement.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

namespace placement {

LOCKSTEP_COLD bool is_taken_before(const cpu_place& a, const cpu_place& b) {
  if (a.sibling != b.sibling) return a.sibling < b.sibling;
  if (a.kind != b.kind) return a.kind < b.kind;
  return a.package != b.package ? a.package < b.package : a.core < b.core;
}

LOCKSTEP_COLD bool is_same_level(const cpu_place& a, const cpu_place& b) {
  return a.sibling == b.sibling && a.kind == b.kind;
}

LOCKSTEP_COLD bool is_ranked_before(const cpu_place& a, const cpu_place& b) {
  if (a.package != b.package) return a.package < b.package;
  if (a.kind != b.kind) return a.kind < b.kind;
  return a.core != b.core ? a.core < b.core : a.sibling < b.sibling;
}

template <bool (*is_before)(const cpu_place&, const cpu_place&)>
int compare_places(const void* a, const void* b) {
  const cpu_place& left = *static_cast<const cpu_place*>(a);
  const cpu_place& right = *static_cast<const cpu_place*>(b);
  return is_before(left, right) ? -1 : is_before(right, left) ? 1 : 0;
}
LOCKSTEP_COLD void sort_places(cpu_topology& places, int (*compare)(const void*, const void*)) {
  if (!places.empty()) std::qsort(places.data(), places.size(), sizeof(cpu_place), compare);
}

LOCKSTEP_COLD cpu_topology close(cpu_topology usable, std::size_t count) {
  sort_places(usable, compare_places<is_taken_before>);
  usable.resize(count, cpu_place());
  sort_places(usable, compare_places<is_ranked_before>);
  return usable;
}

LOCKSTEP_COLD void deal(const cpu_place* first, const cpu_place* last, std::size_t count,
                        cpu_topology& result) {
  std::vector<package_share> packages;
  for (const cpu_place* at = first; at != last; ++at) {
    if (at == first || at->package != at[-1].package) packages.push_back({at, 0, 0});
    ++packages.back().size;
  }
  for (std::size_t rest = count; rest > 0;) {
    for (package_share& package : packages) {
      const bool gets_one = rest > 0 && package.taken < package.size;
      package.taken += gets_one ? 1 : 0;
      rest -= gets_one ? 1 : 0;
    }
  }
  const std::size_t end = result.size() + count;
  for (std::size_t turn = 0; result.size() < end; ++turn) {
    for (const package_share& package : packages) {
      if (turn >= package.taken) continue;
      result.push_back(package.first[turn * package.size / package.taken]);
    }
  }
}

LOCKSTEP_COLD cpu_topology spread(cpu_topology usable, std::size_t count) {
  sort_places(usable, compare_places<is_taken_before>);
  cpu_topology result;
  result.reserve(count);
  for (std::size_t i = 0; result.size() < count;) {
    std::size_t end = i + 1;
    while (end < usable.size() && is_same_level(usable[i], usable[end])) ++end;
    const std::size_t wanted = count - result.size();
    deal(&usable[i], usable.data() + end, wanted < end - i ? wanted : end - i, result);
    i = end;
  }
  return result;
}

LOCKSTEP_COLD parted_list part_by_use(const cpu_topology& usable,
                                      const std::vector<unsigned>& list) {
  std::vector<char> is_usable(detail::max_cpus, 0);
  for (const cpu_place& place : usable) {
    if (place.cpu < is_usable.size()) is_usable[place.cpu] = 1;
  }
  parted_list result;
  for (const unsigned cpu : list) {
    const bool fits = cpu < is_usable.size() && is_usable[cpu] != 0;
    (fits ? result.usable : result.left_out).push_back(cpu);
  }
  return result;
}

LOCKSTEP_COLD std::vector<unsigned> plan(const cpu_topology& usable, std::size_t members,
                                         const binding& where) {
  std::vector<unsigned> order;
  if (where.is_list()) {
    order = part_by_use(usable, where.list()).usable;
  } else if (where.is_close() || where.is_spread()) {
    const std::size_t count = members < usable.size() ? members : usable.size();
    for (const cpu_place& place : where.is_close() ? close(usable, count) : spread(usable, count)) {
      order.push_back(place.cpu);
    }
  }
  if (order.empty()) return order;
  std::vector<unsigned> result(members);
  for (std::size_t rank = 0; rank < members; ++rank) result[rank] = order[rank % order.size()];
  return result;
}

LOCKSTEP_COLD std::size_t count_different(std::vector<unsigned> values) {
  sort_once(values);
  return values.size();
}

LOCKSTEP_COLD decided_by who_binds(const team_options& options, const environment& variables) {
  if (!options.bind().is_unset()) return decided_by::program;
  return variables.bind.is_set ? decided_by::environment : decided_by::nobody;
}

LOCKSTEP_COLD binding binding_of(const team_options& options, const environment& variables) {
  const decided_by who = who_binds(options, variables);
  return who == decided_by::program       ? options.bind()
         : who == decided_by::environment ? variables.bind.value
                                          : binding::none();
}

LOCKSTEP_COLD std::size_t default_members(std::size_t usable, const std::vector<unsigned>& list) {
  const std::size_t listed = list.empty() ? usable : count_different(list);
  const std::size_t count = listed < usable ? listed : usable;
  return count < detail::max_participants ? count : detail::max_participants;
}

}  // namespace placement

LOCKSTEP_COLD resolved_team resolve(const team_options& options, const environment& variables,
                                    std::size_t usable, const detail::cpu_topology& cpus) {
  resolved_team result;
  result.name = options.name();
  result.bind = placement::binding_of(options, variables);
  result.bind_by = placement::who_binds(options, variables);
  placement::parted_list parts = placement::part_by_use(cpus, result.bind.list());
  result.left_out = std::move(parts.left_out);

  if (options.members() != 0) {
    result.members = detail::checked_count("lockstep::team", "members", options.members());
    result.members_by = decided_by::program;
  } else if (variables.members.is_set) {
    result.members = variables.members.value;
    result.members_by = decided_by::environment;
  } else {
    result.members = placement::default_members(usable, parts.usable);
  }

  result.cpu_of_rank = placement::plan(cpus, result.members, result.bind);
  result.can_run_at_once = result.members < usable ? result.members : usable;
  if (!result.cpu_of_rank.empty()) {
    const std::size_t cpus_bound_to = placement::count_different(result.cpu_of_rank);
    if (cpus_bound_to < result.can_run_at_once) result.can_run_at_once = cpus_bound_to;
  }
  result.is_crowded = result.members > result.can_run_at_once;
  if (options.has_policy() || variables.policy.is_set) {
    result.policy = options.has_policy() ? options.policy() : variables.policy.value;
    result.policy_by = options.has_policy() ? decided_by::program : decided_by::environment;
  }
  result.policy = result.policy.when_crowded(result.is_crowded);
  result.learns = options.has_learn() ? options.learn() : variables.learn.value;
  result.learns_by = options.has_learn()      ? decided_by::program
                     : variables.learn.is_set ? decided_by::environment
                                              : decided_by::nobody;
  const bool is_said = options.has_anticipate() || variables.anticipate.is_set;
  if (is_said) {
    result.anticipates_by =
        options.has_anticipate() ? decided_by::program : decided_by::environment;
  }
  const bool wanted = options.has_anticipate() ? options.anticipate() : variables.anticipate.value;
  result.anticipates =
      wanted && result.members > 1 && result.policy.is_adaptive() && !result.is_crowded;
  result.finds_cpu_by = options.has_find_cpu()      ? decided_by::program
                        : variables.find_cpu.is_set ? decided_by::environment
                                                    : decided_by::nobody;
  result.finds_cpu = (options.has_find_cpu() ? options.find_cpu() : variables.find_cpu.value) &&
                     result.members > 1 && result.policy.is_adaptive() && !result.is_crowded &&
                     result.cpu_of_rank.empty();
  return result;
}

namespace placement {

LOCKSTEP_COLD void complain_once(const resolved_team& made, const environment& variables) {
  if (made.bind_by != decided_by::environment || made.left_out.empty()) return;
  if (!detail::is_first_to_print(detail::message::unusable_cpus)) return;
  std::fprintf(stderr, "lockstep: %s=%s: this process may not use CPU %s\n", variables.bind.name,
               variables.bind.given.c_str(), detail::cpu_list_text(made.left_out).c_str());
}

}  // namespace placement

LOCKSTEP_COLD resolved_team resolve(const team_options& options) {
  const environment& variables = environment::of_process();
  const bool binds = !placement::binding_of(options, variables).is_none();
  resolved_team result = resolve(options, variables, usable_cpus(),
                                 binds ? detail::usable_topology() : detail::cpu_topology());
  placement::complain_once(result, variables);
  return result;
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_PLACEMENT_IPP
