// SPDX-License-Identifier: MIT
#include "objects/rows.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "baselines/lockstep_objects.hpp"
#include "baselines/posix_objects.hpp"
#include "baselines/std_objects.hpp"
#include "objects/unit_program.hpp"
#if defined(LOCKSTEP_BENCH_ABSEIL)
#include "baselines/abseil_objects.hpp"
#endif
#if defined(LOCKSTEP_BENCH_NSYNC)
#include "baselines/nsync_objects.hpp"
#endif
#if defined(LOCKSTEP_BENCH_BOOST)
#include "baselines/boost_objects.hpp"
#endif

namespace bench::objects {
namespace {

constexpr std::array<std::string_view, 3> modes{"mutex", "condition", "barrier"};

using program = elapsed_time (*)(std::size_t threads, std::size_t repeats);

/// A program for each mode; null where the library has no such object.
struct library_entry {
  std::string_view name;
  std::array<program, modes.size()> programs{};
};

template <sync_objects Library>
library_entry entry() {
  library_entry made{Library::name, {}};
  if constexpr (has_mutex<Library>) made.programs[0] = run_unit_program<mutex_mode<Library>>;
  if constexpr (has_condition<Library>)
    made.programs[1] = run_unit_program<condition_mode<Library>>;
  if constexpr (has_barrier<Library>) made.programs[2] = run_unit_program<barrier_mode<Library>>;
  return made;
}

std::vector<library_entry> libraries() {
  std::vector<library_entry> all{entry<posix_objects>(), entry<std_objects>()};
#if defined(LOCKSTEP_BENCH_ABSEIL)
  all.push_back(entry<abseil_objects>());
#endif
#if defined(LOCKSTEP_BENCH_NSYNC)
  all.push_back(entry<nsync_objects>());
#endif
#if defined(LOCKSTEP_BENCH_BOOST)
  all.push_back(entry<boost_objects>());
#endif
  all.push_back(entry<lockstep_objects>());
  all.push_back(entry<lockstep_split_objects>());
  return all;
}

/// The crowd of the document's third picture, and one beyond it.
constexpr std::size_t some_crowd = 4, large_crowd = 32;

/// Little contention, all CPUs, 4 and 32 threads on each; ascending.
std::vector<std::size_t> thread_counts(std::string_view mode, std::size_t cpus) {
  std::vector<std::size_t> counts{mode == "mutex" ? 1u : 2u};
  for (const std::size_t more : {cpus, some_crowd * cpus, large_crowd * cpus}) {
    if (more > counts.back()) counts.push_back(more);
  }
  return counts;
}

}  // namespace

std::vector<row> all_rows(std::size_t cpus) {
  constexpr std::size_t most_repeats = 10'000'000;
  std::vector<row> rows;
  for (std::size_t mode = 0; mode < modes.size(); ++mode) {
    for (const std::size_t threads : thread_counts(modes[mode], cpus)) {
      for (const library_entry& library : libraries()) {
        const program run = library.programs[mode];
        if (run == nullptr) continue;
        rows.push_back({fmt::format("{}/{}", modes[mode], threads), std::string(library.name),
                        most_repeats, 1, [run, threads](std::size_t repeats) {
                          return sample{repeats, run(threads, repeats)};
                        }});
      }
    }
  }
  return rows;
}

}  // namespace bench::objects
