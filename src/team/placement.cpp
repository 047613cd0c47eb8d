// SPDX-License-Identifier: MIT
// src/team/placement.cpp -- the bodies of placement.hpp (layer: team)
#include "placement.hpp"

#include <cstdio>
#include <cstdlib>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

namespace placement {

LOCKSTEP_INLINE cpu_topology widest_first(const cpu_topology& places) {
  constexpr unsigned count = 3;
  unsigned cpu_place::* numbers[count] = {&cpu_place::package, &cpu_place::node, &cpu_place::cache};
  unsigned last[count] = {0, 0, 0};  // numbers have no gaps
  for (const cpu_place& place : places) {
    for (unsigned i = 0; i < count; ++i) {
      if (place.*numbers[i] > last[i]) last[i] = place.*numbers[i];
    }
  }
  for (unsigned end = count - 1; end > 0; --end) {
    for (unsigned i = 0; i < end; ++i) {
      if (last[i] <= last[i + 1]) continue;
      std::swap(last[i], last[i + 1]);
      std::swap(numbers[i], numbers[i + 1]);
    }
  }
  cpu_topology result(places);
  for (std::size_t i = 0; i < places.size(); ++i) {
    result[i].package = places[i].*numbers[0];
    result[i].node = places[i].*numbers[1];
    result[i].cache = places[i].*numbers[2];
  }
  return result;
}

struct place_key {
  unsigned numbers[6];
};
/// A place in the order of PLACEMENT-3: neighbours share what they can.
LOCKSTEP_INLINE place_key key_by_place(const cpu_place& of) noexcept {
  return {{static_cast<unsigned>(of.kind), of.package, of.node, of.cache, of.core, of.sibling}};
}
LOCKSTEP_INLINE int compare_by_place(const void* left, const void* right) noexcept {
  const place_key a = key_by_place(*static_cast<const cpu_place*>(left)),
                  b = key_by_place(*static_cast<const cpu_place*>(right));
  int i = 0;
  while (i < 5 && a.numbers[i] == b.numbers[i]) ++i;
  return a.numbers[i] < b.numbers[i] ? -1 : a.numbers[i] > b.numbers[i] ? 1 : 0;
}
/// PLACEMENT-1, PLACEMENT-2 of spread and cores: which CPU gets a member first.
LOCKSTEP_INLINE int compare_by_core(const void* left, const void* right) noexcept {
  const unsigned a = static_cast<const cpu_place*>(left)->sibling,
                 b = static_cast<const cpu_place*>(right)->sibling;
  return a < b ? -1 : a > b ? 1 : compare_by_place(left, right);
}

LOCKSTEP_INLINE void deal(const cpu_place* places, std::size_t size, std::size_t count,
                          unsigned level, std::vector<unsigned>& order) {
  static unsigned cpu_place::* const numbers[] = {&cpu_place::package, &cpu_place::node,
                                                  &cpu_place::cache};
  constexpr unsigned levels = 3;
  if (level == levels) {
    for (std::size_t i = 0; i < count; ++i) {
      const unsigned cpu = places[i * size / count].cpu;
      order.push_back(cpu);
    }
    return;
  }
  struct part {
    std::size_t begin, taken, dealt;  // `dealt` begins where its CPUs do in the list of all parts
  };
  std::vector<part> parts;
  for (std::size_t i = 0; i < size; ++i) {
    if (i == 0 || places[i].*numbers[level] != places[i - 1].*numbers[level]) {
      const part begins = {i, 0, 0};
      parts.push_back(begins);
    }
  }
  const auto end_of = [&](std::size_t i) {
    return i + 1 < parts.size() ? parts[i + 1].begin : size;
  };
  for (std::size_t rest = count; rest > 0;) {
    for (std::size_t i = 0; i < parts.size() && rest > 0; ++i) {
      if (parts[i].taken == end_of(i) - parts[i].begin) continue;
      ++parts[i].taken;
      --rest;
    }
  }
  std::vector<unsigned> dealt;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    parts[i].dealt = dealt.size();
    deal(places + parts[i].begin, end_of(i) - parts[i].begin, parts[i].taken, level + 1, dealt);
  }
  const std::size_t end = order.size() + count;
  for (std::size_t turn = 0; order.size() < end; ++turn) {
    for (const part& each : parts) {
      if (turn < each.taken) order.push_back(dealt[each.dealt + turn]);
    }
  }
}

LOCKSTEP_INLINE void spread(const cpu_topology& sorted, std::size_t count,
                            std::vector<unsigned>& order) {
  for (std::size_t i = 0; order.size() < count;) {
    std::size_t end = i + 1;
    while (end < sorted.size() && sorted[end].sibling == sorted[i].sibling &&
           sorted[end].kind == sorted[i].kind) {
      ++end;
    }
    const std::size_t wanted = count - order.size();
    deal(&sorted[i], end - i, wanted < end - i ? wanted : end - i, 0, order);
    i = end;
  }
}

LOCKSTEP_INLINE void part_by_use(const cpu_topology& usable, const std::vector<unsigned>& list,
                                 std::vector<unsigned>& fitting, std::vector<unsigned>& left_out) {
  std::vector<unsigned> known;
  for (const cpu_place& place : usable) known.push_back(place.cpu);
  sort_once(known);
  for (const unsigned& cpu : list) {
    (find_sorted(known, cpu) < known.size() ? fitting : left_out).push_back(cpu);
  }
}

LOCKSTEP_INLINE std::vector<unsigned> plan(const cpu_topology& usable, std::size_t members,
                                           const binding& where) {
  std::vector<unsigned> order, left_out;
  if (where.is_list()) {
    part_by_use(usable, where.list(), order, left_out);
  } else if (!usable.empty() && (where.is_close() || where.is_spread() || where.is_cores())) {
    const std::size_t count = members < usable.size() ? members : usable.size();
    cpu_topology sorted = widest_first(usable);
    std::qsort(sorted.data(), sorted.size(), sizeof(cpu_place),
               where.is_close() ? compare_by_place : compare_by_core);
    if (where.is_spread()) {
      spread(sorted, count, order);
    } else {
      std::qsort(sorted.data(), count, sizeof(cpu_place), compare_by_place);
      for (std::size_t i = 0; i < count; ++i) order.push_back(sorted[i].cpu);
    }
  }
  // Members beyond the CPUs begin anew.
  const std::size_t found = order.size();
  for (std::size_t rank = found; found > 0 && rank < members; ++rank) {
    const unsigned cpu = order[rank - found];
    order.push_back(cpu);
  }
  while (order.size() > members) order.pop_back();
  return order;
}

LOCKSTEP_INLINE rank_groups groups_of(const cpu_topology& usable,
                                      const std::vector<unsigned>& cpu_of_rank) {
  std::vector<unsigned> known;
  for (const cpu_place& place : usable) known.push_back(place.cpu);
  sort_once(known);
  const cpu_topology ordered = widest_first(usable);
  std::vector<std::size_t> index(known.size());
  for (std::size_t i = 0; i < usable.size(); ++i) index[find_sorted(known, usable[i].cpu)] = i;
  std::vector<rank_groups::place> places;
  for (const unsigned cpu : cpu_of_rank) {
    const std::size_t at = find_sorted(known, cpu);
    if (at == known.size()) return rank_groups();
    const cpu_place& on = ordered[index[at]];
    const rank_groups::place shared = {{on.package, on.node, on.cache}};
    places.push_back(shared);
  }
  return rank_groups(places);
}

LOCKSTEP_INLINE decided_by who(bool is_programs, bool is_environments) noexcept {
  return is_programs       ? decided_by::program
         : is_environments ? decided_by::environment
                           : decided_by::nobody;
}

LOCKSTEP_INLINE const binding& binding_of(const team_options& options,
                                          const environment& variables) noexcept {
  return options.bind().is_unset() ? variables.bind.value : options.bind();
}

}  // namespace placement

LOCKSTEP_INLINE resolved_team resolve(const team_options& options, const environment& variables,
                                      std::size_t usable, const cpu_topology& cpus) {
  using placement::who;
  if (options.cpus() != 0 && options.cpus() < usable) usable = options.cpus();
  resolved_team result;
  result.name = options.name();
  const binding& where = placement::binding_of(options, variables);
  result.bind = where.is_unset() ? binding::none() : where;
  result.bind_by = who(!options.bind().is_unset(), variables.bind.is_set);
  // The CPUs of a list that are usable, each once: at most one member for each by default.
  std::vector<unsigned> different;
  placement::part_by_use(cpus, where.list(), different, result.left_out);
  sort_once(different);
  const std::size_t most =
      different.empty() || usable < different.size() ? usable : different.size();

  result.members_by = who(options.members() != 0, variables.members.is_set);
  result.members = options.members() != 0     ? options.members()
                   : variables.members.is_set ? variables.members.value
                   : most < max_participants  ? most
                                              : max_participants;
  checked_count("lockstep::team", "members", result.members);

  result.cpu_of_rank = placement::plan(cpus, result.members, where);
  result.groups = placement::groups_of(cpus, result.cpu_of_rank);
  different = result.cpu_of_rank;
  sort_once(different);
  const std::size_t at_once =
      different.empty() || usable < different.size() ? usable : different.size();
  result.can_run_at_once = result.members < at_once ? result.members : at_once;
  result.is_crowded = result.members > result.can_run_at_once;

  result.policy_by = who(options.has_policy(), variables.policy.is_set);
  result.policy = options.has_policy() ? options.policy() : variables.policy.value;
  result.policy = result.policy.when_crowded(result.is_crowded);
  result.learns_by = who(options.has_learn(), variables.learn.is_set);
  result.learns = options.has_learn() ? options.learn() : variables.learn.value;
  const bool can_adapt = result.members > 1 && result.policy.is_adaptive() && !result.is_crowded;
  result.anticipates_by = who(options.has_anticipate(), variables.anticipate.is_set);
  result.anticipates =
      can_adapt && (options.has_anticipate() ? options.anticipate() : variables.anticipate.value);
  result.cpu_separation_by = who(options.has_cpu_separation(), variables.cpu_separation.is_set);
  result.separates_cpus =
      can_adapt && result.cpu_of_rank.empty() &&
      (options.has_cpu_separation() ? options.cpu_separation() : variables.cpu_separation.value);
  result.keeps_ledger = options.has_ledger() ? options.ledger() : variables.ledger.value;
  return result;
}

LOCKSTEP_INLINE resolved_team resolve(const team_options& options) {
  const environment& variables = environment::of_process_with_observers();
  const binding& where = placement::binding_of(options, variables);
  const bool binds = !where.is_unset() && !where.is_none();
  const cpu_topology none;
  resolved_team result =
      resolve(options, variables, usable_cpus(), binds ? usable_topology() : none);
  // Which CPUs of LOCKSTEP_PROC_BIND are not usable is said once.
  if (result.bind_by == decided_by::environment && !result.left_out.empty() &&
      is_first_to_print(message::unusable_cpus)) {
    std::string text;
    append_cpu_list(text, result.left_out);
    std::fprintf(stderr, "lockstep: %s=%s: this process may not use CPU %s\n", variables.bind.name,
                 variables.bind.given.text, text.c_str());
  }
  return result;
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
