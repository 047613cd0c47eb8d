// SPDX-License-Identifier: MIT
#include "objects/rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

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

constexpr std::array modes{mode::mutex, mode::condition, mode::barrier};
constexpr std::array<std::string_view, modes.size()> mode_names{"mutex", "condition", "barrier"};

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

std::vector<library_entry> make_libraries() {
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

const std::vector<library_entry>& libraries() {
  static const std::vector<library_entry> all = make_libraries();
  return all;
}

program program_of(const library_entry& library, mode kind) {
  return library.programs[static_cast<std::size_t>(kind)];
}

}  // namespace

std::string name(const row& which) {
  return fmt::format("{}/{}/{}", mode_names[static_cast<std::size_t>(which.kind)], which.threads,
                     which.library);
}

std::vector<std::size_t> thread_counts(mode kind, std::size_t cpus) {
  const std::size_t fewest = kind == mode::mutex ? 1 : 2;
  std::vector<std::size_t> counts{fewest};
  for (const std::size_t more : {cpus, some_crowd * cpus, large_crowd * cpus}) {
    if (more > counts.back()) counts.push_back(more);
  }
  return counts;
}

std::vector<row> all_rows(std::size_t cpus) {
  std::vector<row> rows;
  for (const mode kind : modes) {
    for (const std::size_t threads : thread_counts(kind, cpus)) {
      for (const library_entry& library : libraries()) {
        if (program_of(library, kind) == nullptr) continue;
        rows.push_back({kind, threads, library.name});
      }
    }
  }
  return rows;
}

elapsed_time run(const row& which, std::size_t repeats) {
  const auto library =
      std::find_if(libraries().begin(), libraries().end(),
                   [&](const library_entry& entry) { return entry.name == which.library; });
  return program_of(*library, which.kind)(which.threads, repeats);
}

}  // namespace bench::objects
