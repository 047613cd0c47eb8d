// SPDX-License-Identifier: MIT
// Places: reading lists of them, dealing them out to the members of a region, and binding threads.
#include "affinity.hpp"

#include <algorithm>
#include <vector>

#include "platform/native_system.hpp"

#include "message.hpp"
#include "text_reader.hpp"

namespace lockstep::openmp::affinity {
namespace {

using place = std::vector<unsigned>;
using place_list = std::vector<place>;

struct known {
  place_list places;
  place usable;  ///< the CPUs that this process could use when it started
  bool is_bound = false, is_reset = false;
};
// Never destroyed, as the settings.
known& state() noexcept {
  static known* const kept = new known{{}, detail::affinity()};
  return *kept;
}

// --- the machine ---

place_list units_of_machine(level which) {
  place_list result;
  std::vector<unsigned> keys;
  for (const cpu_place& each : detail::read_topology(state().usable))
    add_by_key(result, keys, key_of(each, which), each.cpu);
  return result;
}

/// Reads ":length" and ":length:stride"; both are optional. A length of 0 is refused.
bool take_interval(text_reader& from, unsigned& length, int& stride) noexcept {
  length = 1;
  stride = 1;
  if (!from.take(':')) return true;
  return from.take_number(length) && length > 0 && (!from.take(':') || from.take_signed(stride));
}

/// Reads a place in braces, or a number alone.
bool take_place(text_reader& from, place& result) {
  if (from.take('{')) return take_rest_of_place(from, result);
  result.resize(1);
  return from.take_number(result[0]);
}

/// The place with its numbers moved by `by`. False if a number leaves the range.
bool moved(const place& from, long by, place& result) {
  result.clear();
  for (const unsigned cpu : from) {
    const long number = static_cast<long>(cpu) + by;
    if (number < 0 || number >= static_cast<long>(detail::max_cpus)) return false;
    result.push_back(static_cast<unsigned>(number));
  }
  return true;
}

bool take_explicit_list(text_reader& from, place_list& result) {
  do {
    const bool is_excluded = from.take('!');
    place first;
    unsigned length = 1;
    int stride = 1;
    if (!take_place(from, first) || !take_interval(from, length, stride)) return false;
    for (unsigned i = 0; i < length; ++i) {
      place next;
      if (!moved(first, static_cast<long>(i) * stride, next)) return false;
      if (!is_excluded) {
        if (result.size() == detail::max_cpus) return false;
        result.push_back(next);
        continue;
      }
      detail::sort_once(next);
      const auto at = std::find_if(result.begin(), result.end(), [&](place each) {
        detail::sort_once(each);
        return each == next;
      });
      if (at == result.end()) return false;  // excludes what is not there
      result.erase(at);
    }
  } while (from.take(','));
  return true;
}

/// Reads "cores" or "sockets(2)".
bool take_units(text_reader& from, place_list& result, bool& is_named) {
  level which = thread;
  is_named = take_level(from, which);
  if (!is_named) return true;
  unsigned most = detail::max_cpus;
  if (from.take('(') && (!from.take_number(most) || most == 0 || !from.take(')'))) return false;
  result = units_of_machine(which);
  if (result.size() > most) result.resize(most);
  return true;
}

thread_places in_one(int which) noexcept { return thread_places{which, which, 1}; }

}  // namespace

bool take_rest_of_place(text_reader& from, place& result) {
  do {
    const bool is_excluded = from.take('!');
    unsigned first = 0, length = 1;
    int stride = 1;
    if (!from.take_number(first) || !take_interval(from, length, stride)) return false;
    for (unsigned i = 0; i < length; ++i) {
      const long cpu = static_cast<long>(first) + static_cast<long>(i) * stride;
      if (cpu < 0 || cpu >= static_cast<long>(detail::max_cpus)) return false;
      const unsigned number = static_cast<unsigned>(cpu);
      if (is_excluded) {
        std::erase(result, number);
      } else if (std::find(result.begin(), result.end(), number) == result.end()) {
        result.push_back(number);
      }
    }
  } while (from.take(','));
  return from.take('}');
}

bool take_range(text_reader& from, place_list& result) {
  unsigned first = 0, stride = 1;
  if (!from.take_number(first)) return false;
  unsigned last = first;
  if (from.take('-') && (!from.take_number(last) || last < first)) return false;
  if (from.take(':') && (!from.take_number(stride) || stride == 0)) return false;
  for (unsigned cpu = first; cpu <= last && result.size() < detail::max_cpus; cpu += stride)
    result.push_back({cpu});
  return true;
}

void add_by_key(place_list& to, std::vector<unsigned>& keys, unsigned key, unsigned cpu) {
  std::size_t at = 0;
  while (at < keys.size() && keys[at] != key) ++at;
  if (at == keys.size()) {
    keys.push_back(key);
    to.emplace_back();
  }
  to[at].push_back(cpu);
}

bool use_places(const place_list& list, const char* variable) noexcept {
  place_list usable;
  for (place each : list) {
    std::erase_if(each, [](unsigned cpu) { return !may_use(cpu); });
    if (!each.empty()) usable.push_back(each);
  }
  if (usable.empty()) {
    say("%s: this process may use none of these CPUs", variable);
    return false;
  }
  if (usable.size() < list.size()) {
    say("%s: %zu of %zu places have CPUs that this process may use; the others are left out",
        variable, usable.size(), list.size());
  }
  state().places = usable;
  return true;
}

const std::vector<unsigned>& usable_cpus() noexcept { return state().usable; }

void use_only(const std::vector<unsigned>& cpus) noexcept {
  state().usable = cpus;
  bind_to(cpus);
}

bool bind_to([[maybe_unused]] const std::vector<unsigned>& cpus) noexcept {
#if defined(__linux__)
  detail::linux_cpus mask = {};
  for (const unsigned cpu : cpus) mask.add(cpu);
  return mask.write();
#else
  return false;
#endif
}

void reset_after_regions() noexcept { state().is_reset = true; }

bool resets() noexcept { return state().is_reset; }

bool read_places(const char* text) noexcept {
  text_reader from(text);
  place_list list;
  bool is_named = false;
  if (!take_units(from, list, is_named) || (!is_named && !take_explicit_list(from, list)) ||
      !from.is_at_end()) {
    return false;
  }
  return use_places(list, "OMP_PLACES");
}

bool read_cpu_affinity(const char* text) noexcept {
  // "0 3 1-2 4-15:2": CPUs or ranges, separated by blanks or commas. Each CPU is a place.
  text_reader from(text);
  place_list list;
  do {
    if (!take_range(from, list)) return false;
    from.take(',');
  } while (!from.is_at_end());
  return use_places(list, "GOMP_CPU_AFFINITY");
}

void use_each_cpu() noexcept { state().places = units_of_machine(thread); }

void turn_on() noexcept { state().is_bound = !state().places.empty(); }

bool is_on() noexcept { return state().is_bound; }

bool may_use(unsigned cpu) noexcept {
  return detail::find_sorted(state().usable, cpu) < state().usable.size();
}

int available_cpus() noexcept {
  const process_variables& settings = process_settings();
  const int now = is_on() ? 0 : static_cast<int>(detail::read_affinity(nullptr));
  if (now == 0) return settings.usable_cpus;
  return now < settings.cpus_of_quota ? now : settings.cpus_of_quota;
}

int count() noexcept { return static_cast<int>(state().places.size()); }

const std::vector<unsigned>& cpus_of(int which) noexcept {
  return state().places[static_cast<std::size_t>(which)];
}

thread_places initial_places() noexcept {
  return is_on() ? thread_places{this_record.bound_place, 0, count()} : thread_places();
}

//   primary  All members are where the encountering thread is.
//   close    Members follow each other from place to place, beginning with the caller's place. If there are more
//            members than places, each place gets as many members in a row as divide evenly. The rest go round once
//            more, one to a place.
//   spread   The partition is cut into as many parts as there are members; if they do not divide evenly, the first
//            parts have one place more. The caller has the part with its place and stays there. The other members
//            follow, each at the first place of its part. If there are more members than places: as close, in parts of
//            one place.
thread_places places_of_member(const thread_places& parent, unsigned rank, unsigned size,
                               proc_bind how) noexcept {
  const unsigned places = static_cast<unsigned>(parent.count);
  if (places == 0 || how == proc_bind::no) return parent;
  const unsigned origin =
      parent.place < parent.first ? 0 : static_cast<unsigned>(parent.place - parent.first);
  const auto number = [&](unsigned offset) {
    return parent.first + static_cast<int>(offset % places);
  };
  if (how == proc_bind::primary) return thread_places{number(origin), parent.first, parent.count};
  if (size > places) {
    const unsigned even = size / places;
    const unsigned step = rank < even * places ? rank / even : rank - even * places;
    const int where = number(origin + step);
    return how == proc_bind::spread ? in_one(where)
                                    : thread_places{where, parent.first, parent.count};
  }
  if (how != proc_bind::spread)
    return thread_places{number(origin + rank), parent.first, parent.count};
  const unsigned even = places / size, larger = places % size;
  const unsigned own = origin < larger * (even + 1)
                           ? origin / (even + 1)
                           : larger + (origin - larger * (even + 1)) / even;
  const unsigned part = (own + rank) % size;
  const unsigned first = part * even + (part < larger ? part : larger);
  const int length = static_cast<int>(even + (part < larger ? 1 : 0));
  return thread_places{number(rank == 0 ? origin : first), parent.first + static_cast<int>(first),
                       length};
}

void place_initial_thread(part& of) noexcept {
  if (!is_on() || of.outer != nullptr || of.places.place >= 0) return;
  bind_this_thread(of.places.first);
  of.places.place = of.places.first;
}

void bind_this_thread(int which) noexcept {
  if (this_record.bound_place == which) return;
  this_record.bound_place = which;
  bind_to(which < 0 ? state().usable : cpus_of(which));
}

}  // namespace lockstep::openmp::affinity
