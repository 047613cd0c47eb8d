// SPDX-License-Identifier: MIT
#include "primitives/rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <stdexcept>

#include "baselines/lockstep_mechanism.hpp"
#include "baselines/naive.hpp"
#include "baselines/original.hpp"
#include "baselines/standard.hpp"
#include "primitives/cyclic_scheduler.hpp"
#include "primitives/parallel_scheduler.hpp"

namespace bench::primitives {
namespace {

struct experiment_details {
  std::string_view name;
  std::string_view title;
  std::vector<std::size_t> threads;
};

const experiment_details& details(experiment kind) {
  static const std::array<experiment_details, 3> all{{
      {"cyclic", "cyclic scheduler", {2, 3, 5, 10, 100}},
      {"parallel", "parallel scheduler", {4, 16, 64}},
      {"sync", "parallel scheduler with syncThread", {4, 16, 64}},
  }};
  return all[static_cast<std::size_t>(kind)];
}

/// One maker for each experiment; empty where the mechanism has no part in it.
struct mechanism_entry {
  std::string_view name;
  std::array<scheduler_maker, 3> makers;
};

template <class Scheduler>
std::unique_ptr<scheduler> make(std::size_t threads) {
  return std::make_unique<Scheduler>(threads);
}

template <mechanism Mechanism>
mechanism_entry entry() {
  return {Mechanism::name,
          {make<cyclic_scheduler<Mechanism>>, make<parallel_scheduler<Mechanism, false>>,
           make<parallel_scheduler<Mechanism, true>>}};
}

const std::vector<mechanism_entry>& mechanisms() {
  static const std::vector<mechanism_entry> all{
      entry<original::mechanism>(),
      {naive::name, {scheduler_maker(), make<naive_scheduler>, scheduler_maker()}},
      entry<standard::mechanism>(),
      entry<lockstep_mechanism>(),
  };
  return all;
}

const scheduler_maker& maker_of(const mechanism_entry& entry, experiment kind) {
  return entry.makers[static_cast<std::size_t>(kind)];
}

/// Seconds. New threads stay on one CPU for a while. A mechanism that took microseconds in its trial may take a time slice
/// for every operation later, because two of its threads have come to share a CPU.
constexpr double longest_warm_up = 0.05, longest_sample = 2;

/// Runs `operations` in pieces, but no second piece once `limit` seconds have passed. A piece is an iteration of the
/// document, at the end of which the parent is told anyway, or a part of the run long enough that telling the parent does
/// not show.
sample run_until(scheduler& subject, std::size_t operations, std::size_t full, double limit) {
  constexpr std::size_t few = 4, iterations = 100, parts = 16;
  const std::size_t piece =
      std::min({std::max(operations / parts, few), operations, full / iterations});
  sample done;
  const stopwatch watch;
  do {
    const std::size_t next = std::min(piece, operations - done.operations);
    subject.run(next);
    done.operations += next;
  } while (done.operations < operations && watch.wall_seconds() < limit);
  done.time = watch.elapsed();
  return done;
}

}  // namespace

std::string name(const row& which) {
  return fmt::format("{}/{}/{}", details(which.kind).name, which.threads, which.mechanism);
}

std::string_view title(const row& which) { return details(which.kind).title; }

std::size_t full_operations(const row& which) {
  return which.kind == experiment::cyclic ? full_rounds * which.threads : full_rounds;
}

std::vector<row> all_rows() {
  std::vector<row> rows;
  for (const experiment kind : {experiment::cyclic, experiment::parallel, experiment::sync}) {
    for (const std::size_t threads : details(kind).threads) {
      for (const mechanism_entry& entry : mechanisms()) {
        if (maker_of(entry, kind)) rows.push_back({kind, threads, entry.name});
      }
    }
  }
  return rows;
}

std::unique_ptr<scheduler> make_scheduler(const row& which) {
  const auto entry =
      std::find_if(mechanisms().begin(), mechanisms().end(),
                   [&](const mechanism_entry& e) { return e.name == which.mechanism; });
  return maker_of(*entry, which.kind)(which.threads);
}

sample run(const row& which, std::size_t operations) {
  const std::unique_ptr<scheduler> subject = make_scheduler(which);
  const std::size_t full = full_operations(which);
  const sample warm_up = run_until(*subject, operations, full, longest_warm_up);
  const sample done = run_until(*subject, operations, full, longest_sample);
  if (subject->finish(warm_up.operations + done.operations)) return done;
  throw std::logic_error(fmt::format("{}: the threads did not do the {} operations asked for",
                                     name(which), done.operations));
}

}  // namespace bench::primitives
