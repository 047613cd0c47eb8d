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

/// Cycles of the ring (counter 100 x 100 iterations) or rounds of fork and join in the document.
constexpr std::size_t full_rounds = 10'000;

constexpr std::array<std::string_view, 3> names{"cyclic", "parallel", "sync"};
constexpr std::size_t cyclic = 0;

std::vector<std::size_t> thread_counts(std::size_t which) {
  if (which == cyclic) return {2, 3, 5, 10, 100};
  return {4, 16, 64};
}

/// One maker for each experiment; empty where the mechanism has no part in it.
struct mechanism_entry {
  std::string_view name;
  std::array<scheduler_maker, names.size()> makers;
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

std::vector<mechanism_entry> mechanisms() {
  return {
      entry<original::mechanism>(),
      {naive::name, {scheduler_maker(), make<naive_scheduler>, scheduler_maker()}},
      entry<standard::mechanism>(),
      entry<lockstep_mechanism>(),
  };
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

sample run(const experiment& which, std::size_t operations, std::size_t full) {
  const std::unique_ptr<scheduler> subject = which.maker(which.threads);
  const sample warm_up = run_until(*subject, operations, full, longest_warm_up);
  const sample done = run_until(*subject, operations, full, longest_sample);
  if (subject->finish(warm_up.operations + done.operations)) return done;
  throw std::logic_error(fmt::format("{}/{}/{}: the threads did not do the {} operations asked for",
                                     which.name, which.threads, which.mechanism, done.operations));
}

}  // namespace

std::vector<experiment> all_experiments() {
  std::vector<experiment> all;
  for (std::size_t which = 0; which < names.size(); ++which) {
    for (const std::size_t threads : thread_counts(which)) {
      for (const mechanism_entry& one : mechanisms()) {
        if (one.makers[which]) all.push_back({names[which], threads, one.name, one.makers[which]});
      }
    }
  }
  return all;
}

std::vector<row> all_rows() {
  std::vector<row> rows;
  for (const experiment& one : all_experiments()) {
    const std::size_t full = one.name == names[cyclic] ? full_rounds * one.threads : full_rounds;
    const auto take = [one, full](std::size_t operations) { return run(one, operations, full); };
    rows.push_back(
        {fmt::format("{}/{}", one.name, one.threads), std::string(one.mechanism), full, 1, take});
  }
  return rows;
}

}  // namespace bench::primitives
