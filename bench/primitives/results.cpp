// SPDX-License-Identifier: MIT
#include "primitives/results.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace bench::primitives {
namespace {

const result* find(const std::vector<result>& results, row which, std::string_view mechanism) {
  which.mechanism = mechanism;
  const auto found = std::find_if(results.begin(), results.end(),
                                  [&](const result& r) { return r.which == which; });
  return found == results.end() ? nullptr : &*found;
}

/// Everything that needs no other row.
result evaluate_alone(const measured_row& measured) {
  const auto full = static_cast<double>(full_operations(measured.which));
  result one;
  one.which = measured.which;
  one.plan = measured.plan;
  std::vector<double> wall_ms, cpu_ms;
  for (const sample& taken : measured.samples) {
    const double scale = full / static_cast<double>(taken.operations) * 1e3;
    wall_ms.push_back(taken.time.wall_seconds * scale);
    cpu_ms.push_back(taken.time.cpu_seconds * scale);
    if (taken.operations < measured.plan.operations) ++one.cut_samples;
  }
  one.full_ms = summarize(wall_ms);
  const double us_per_round = 1e3 / static_cast<double>(full_rounds);
  one.round_trip = {one.full_ms.median * us_per_round, summarize(cpu_ms).median * us_per_round};
  return one;
}

std::optional<cost> cost_of_operation(const result& of, const std::vector<result>& all) {
  switch (of.which.kind) {
    case experiment::cyclic: {
      const auto hops = static_cast<double>(of.which.threads);
      return cost{of.round_trip.wall_us / hops, of.round_trip.cpu_us / hops};
    }
    case experiment::parallel: return of.round_trip;
    case experiment::sync: {
      row without = of.which;
      without.kind = experiment::parallel;
      const result* const base = find(all, without, of.which.mechanism);
      if (base == nullptr) return {};
      return cost{of.round_trip.wall_us - base->round_trip.wall_us,
                  of.round_trip.cpu_us - base->round_trip.cpu_us};
    }
  }
  return {};
}

std::optional<double> ratio(std::optional<cost> of, std::optional<cost> to) {
  if (!of || !to || of->wall_us <= 0 || to->wall_us <= 0) return {};
  return of->wall_us / to->wall_us;
}

void compare(result& of, const std::vector<result>& all) {
  if (const result* const original = find(all, of.which, "original")) {
    of.round_trip_ratios.to_original = ratio(of.round_trip, original->round_trip);
    of.operation_ratios.to_original = ratio(of.operation, original->operation);
  }
  if (const result* const standard = find(all, of.which, "std")) {
    of.round_trip_ratios.to_std = ratio(of.round_trip, standard->round_trip);
    of.operation_ratios.to_std = ratio(of.operation, standard->operation);
  }
}

}  // namespace

std::vector<result> evaluate(const std::vector<measured_row>& measured) {
  std::vector<result> results;
  results.reserve(measured.size());
  for (const measured_row& one : measured) results.push_back(evaluate_alone(one));
  for (result& one : results) one.operation = cost_of_operation(one, results);
  for (result& one : results) compare(one, results);
  return results;
}

}  // namespace bench::primitives
