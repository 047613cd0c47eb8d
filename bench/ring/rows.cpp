// SPDX-License-Identifier: MIT
#include "ring/rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ring/places.hpp"

namespace bench::ring {
namespace {

using ring_program = ring_sample (*)(std::size_t threads, std::size_t laps, placement where);

template <class Place, bool CountsAdditions>
ring_sample run_ring(std::size_t threads, std::size_t laps, placement where) {
  return token_ring<Place, CountsAdditions>(threads, laps, where).run();
}

struct mechanism_entry {
  quantity kind;
  std::string_view name;
  bool polls;
  ring_program run;
};

template <class Place>
constexpr mechanism_entry hop(std::string_view name) {
  return {quantity::hop, name, Place::polls, run_ring<Place, false>};
}
template <class Place>
constexpr mechanism_entry slack(std::string_view name) {
  static_assert(Place::polls);
  return {quantity::slack, name, true, run_ring<Place, true>};
}

constexpr std::array mechanisms{
#if defined(__linux__)
    hop<futex_place>("futex"),
#endif
    hop<condition_place>("condition"),   hop<seq_cst_place>("seq_cst"),
    hop<release_place>("release"),       hop<semaphore_place>("semaphore"),
    hop<event_place<false>>("lockstep"), slack<seq_cst_place>("seq_cst"),
    slack<release_place>("release"),     slack<event_place<true>>("lockstep-try_wait"),
};

std::string_view name_of(placement where) {
  switch (where) {
    case placement::free:
    case placement::dealt: return "free";
    case placement::spread: return "two-cpus";
    case placement::one_cpu: return "one-cpu";
  }
  return {};
}

bool is_wanted(const row& which, std::size_t cpus) {
  constexpr std::size_t document_threads = 8;
  if (which.where == placement::spread) return cpus > 1;
  if (which.where == placement::one_cpu || !which.polls) return true;
  return which.kind == quantity::hop ? which.threads <= document_threads : !is_crowded(which, cpus);
}

}  // namespace

std::string name(const row& which) {
  return fmt::format("{}/{}/{}/{}", which.kind == quantity::hop ? "hop" : "slack", which.threads,
                     name_of(which.where), which.mechanism);
}

bool is_crowded(const row& which, std::size_t cpus) {
  return which.threads > (which.where == placement::one_cpu ? 1 : cpus);
}

std::vector<row> all_rows(std::size_t cpus) {
  struct configuration {
    std::size_t threads;
    placement where;
  };
  constexpr std::array configurations{
      configuration{2, placement::spread}, configuration{2, placement::one_cpu},
      configuration{2, placement::dealt},  configuration{3, placement::dealt},
      configuration{4, placement::dealt},  configuration{5, placement::dealt},
      configuration{6, placement::dealt},  configuration{7, placement::dealt},
      configuration{8, placement::dealt},  configuration{100, placement::dealt}};
  std::vector<row> rows;
  for (const quantity kind : {quantity::hop, quantity::slack}) {
    for (const configuration& how : configurations) {
      for (const mechanism_entry& entry : mechanisms) {
        const row candidate{kind, how.threads, how.where, entry.name, entry.polls};
        if (entry.kind == kind && is_wanted(candidate, cpus)) rows.push_back(candidate);
      }
    }
  }
  return rows;
}

ring_sample run(const row& which, std::size_t laps) {
  const auto entry =
      std::find_if(mechanisms.begin(), mechanisms.end(), [&](const mechanism_entry& one) {
        return one.kind == which.kind && one.name == which.mechanism;
      });
  return entry->run(which.threads, laps, which.where);
}

double addition_ns() {
  constexpr std::size_t additions = 4'000'000;
  double sum = 0;
  const stopwatch watch;
  for (std::size_t i = 0; i < additions; ++i) sum += 1.0;
  const double seconds = watch.wall_seconds();
  // Only a sum that was computed has this value; so the optimiser has to keep the loop.
  return sum == static_cast<double>(additions) ? seconds * 1e9 / static_cast<double>(additions) : 0;
}

}  // namespace bench::ring
