// SPDX-License-Identifier: MIT
#include "ring/rows.hpp"

#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>

#include "ring/places.hpp"
#include "ring/ring.hpp"

namespace bench::ring {
namespace {

using ring_program = sample (*)(std::size_t threads, std::size_t laps, placement where);

template <class Place, bool CountsAdditions>
sample run_ring(std::size_t threads, std::size_t laps, placement where) {
  return token_ring<Place, CountsAdditions>(threads, laps, where).run();
}

struct mechanism_entry {
  std::string_view name;
  bool polls;  // without ever giving the CPU up
  bool counts_additions;
  ring_program run;
};

template <class Place>
constexpr mechanism_entry hop(std::string_view name) {
  return {name, Place::polls, false, run_ring<Place, false>};
}
template <class Place>
constexpr mechanism_entry slack(std::string_view name) {
  static_assert(Place::polls);
  return {name, true, true, run_ring<Place, true>};
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

struct configuration {
  std::size_t threads;
  placement where;
  std::string_view name;
};
constexpr std::array configurations{configuration{2, placement::spread, "two-cpus"},
                                    configuration{2, placement::one_cpu, "one-cpu"},
                                    configuration{2, placement::dealt, "free"},
                                    configuration{3, placement::dealt, "free"},
                                    configuration{4, placement::dealt, "free"},
                                    configuration{5, placement::dealt, "free"},
                                    configuration{6, placement::dealt, "free"},
                                    configuration{7, placement::dealt, "free"},
                                    configuration{8, placement::dealt, "free"},
                                    configuration{100, placement::dealt, "free"}};

bool is_wanted(const configuration& how, const mechanism_entry& with, std::size_t cpus) {
  constexpr std::size_t document_threads = 8;
  if (how.where == placement::spread) return cpus > 1;
  if (how.where == placement::one_cpu || !with.polls) return true;
  return how.threads <= (with.counts_additions ? cpus : document_threads);
}

row make_row(const configuration& how, const mechanism_entry& with) {
  constexpr std::size_t most_laps = 5'000'000;
  const std::string_view quantity = with.counts_additions ? "slack" : "hop";
  return {fmt::format("{}/{}/{}", quantity, how.threads, how.name),
          std::string(with.name),
          most_laps,
          how.threads,
          [how, run = with.run](std::size_t laps) { return run(how.threads, laps, how.where); },
          with.counts_additions ? "additions" : "ns"};
}

}  // namespace

std::vector<row> all_rows(std::size_t cpus) {
  std::vector<row> rows;
  for (const bool counts_additions : {false, true}) {
    for (const configuration& how : configurations) {
      for (const mechanism_entry& with : mechanisms) {
        if (with.counts_additions == counts_additions && is_wanted(how, with, cpus)) {
          rows.push_back(make_row(how, with));
        }
      }
    }
  }
  return rows;
}

}  // namespace bench::ring
