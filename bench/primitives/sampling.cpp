// SPDX-License-Identifier: MIT
#include "primitives/sampling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <stdexcept>

#include "support/progress.hpp"
#include "support/turns.hpp"

namespace bench::primitives {
namespace {

/// Fewer operations than this say little: spinners that wait for a time slice now take 0 ms, now 8.
constexpr std::size_t few = 4;

/// Seconds. What takes longer is not done just to warm up, nor repeated in a trial.
constexpr double slow = 0.12;

/// Runs `operations` in pieces, but no second piece once `limit` seconds have passed: a mechanism that
/// took microseconds in its trial may take a time slice for every operation now, because two of its
/// threads have come to share a CPU.
sample run_until(scheduler& subject, std::size_t operations, std::size_t piece, double limit) {
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

/// A piece is an iteration of the document, at the end of which the parent is told anyway, or a part of
/// the run long enough that telling the parent does not show.
std::size_t piece_of(std::size_t operations, std::size_t full_operations) {
  constexpr std::size_t iterations = 100, parts = 16;
  return std::min({std::max(operations / parts, few), operations, full_operations / iterations});
}

void finish_checked(const row& which, scheduler& subject, std::size_t operations) {
  if (subject.finish(operations)) return;
  throw std::logic_error(fmt::format("{}: the threads did not do the {} operations asked for",
                                     name(which), operations));
}

}  // namespace

sampling_plan make_plan(std::size_t full_operations, double operation_seconds,
                        const time_limits& limits) {
  const auto is_too_long = [&](std::size_t operations) {
    const double limit = operations > few ? limits.longest_scaled : limits.longest_few;
    return operations > 1 && static_cast<double>(operations) * operation_seconds > limit;
  };
  sampling_plan plan;
  plan.operations = full_operations;
  if (static_cast<double>(full_operations) * operation_seconds > limits.longest_full) {
    while (is_too_long(plan.operations)) {
      plan.divisor *= 2;
      plan.operations = std::max<std::size_t>(1, full_operations / plan.divisor);
    }
  }
  plan.piece = piece_of(plan.operations, full_operations);
  plan.warms_up = operation_seconds < slow;
  return plan;
}

double try_out(const row& which, const time_limits& limits) {
  constexpr std::size_t growth = 4;
  const std::unique_ptr<scheduler> subject = make_scheduler(which);
  const std::size_t full = full_operations(which);
  // The threads come up in the first operation; only where that does not matter it is a measurement.
  sample last = run_until(*subject, 1, 1, limits.cut);
  std::size_t done = 1, operations = 1;
  const auto says_enough = [&] {
    const double seconds = last.time.wall_seconds;
    return seconds >= slow || operations == full || seconds >= limits.longest_few ||
           (done > 1 && seconds >= limits.trial && operations >= few);
  };
  while (!says_enough()) {
    if (done > 1) operations = std::min(operations * growth, full);
    last = run_until(*subject, operations, piece_of(operations, full), slow);
    done += last.operations;
  }
  finish_checked(which, *subject, done);
  return last.time.wall_seconds / static_cast<double>(last.operations);
}

sample take_sample(const row& which, const sampling_plan& plan, const time_limits& limits) {
  const std::unique_ptr<scheduler> subject = make_scheduler(which);
  sample warm_up;
  if (plan.warms_up) {
    warm_up = run_until(*subject, plan.operations, plan.piece, limits.warm_up);
  }
  const sample result = run_until(*subject, plan.operations, plan.piece, limits.cut);
  finish_checked(which, *subject, warm_up.operations + result.operations);
  return result;
}

std::vector<measured_row> measure(const std::vector<row>& rows, std::size_t samples,
                                  const time_limits& limits) {
  progress shown(rows.size() * (samples + 1));
  std::vector<measured_row> measured;
  for (const row& which : rows) {
    shown.step(fmt::format("trial of {}", name(which)));
    const double operation_seconds = try_out(which, limits);
    measured.push_back({which, make_plan(full_operations(which), operation_seconds, limits), {}});
  }
  take_turns(measured.size(), samples, [&](std::size_t index, std::size_t round) {
    measured_row& subject = measured[index];
    shown.step(fmt::format("sample {} of {}, {}", round + 1, samples, name(subject.which)));
    subject.samples.push_back(take_sample(subject.which, subject.plan, limits));
  });
  return measured;
}

}  // namespace bench::primitives
