// SPDX-License-Identifier: MIT
#include "primitives/results.hpp"

#include <fmt/format.h>

#include <utility>

#include "primitives/cyclic_scheduler.hpp"

namespace bench::primitives {
namespace {

/// Everything that needs no other row.
result evaluate_alone(const measured_row& measured) {
  const auto full = static_cast<double>(full_operations(measured.which));
  result one;
  one.which = measured.which;
  one.operations = measured.operations;
  one.cut_samples = measured.cut_samples();
  std::vector<double> wall_ms, cpu_ms;
  for (const sample& taken : measured.samples) {
    const double scale = full / static_cast<double>(taken.operations) * 1e3;
    wall_ms.push_back(taken.time.wall_seconds * scale);
    cpu_ms.push_back(taken.time.cpu_seconds * scale);
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
      const result* const base =
          find(all, row{experiment::parallel, of.which.threads, of.which.mechanism});
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
  const auto to = [&](std::string_view mechanism, std::optional<double> ratios::* which) {
    const result* const peer = find(all, row{of.which.kind, of.which.threads, mechanism});
    if (peer == nullptr) return;
    of.round_trip_ratios.*which = ratio(of.round_trip, peer->round_trip);
    of.operation_ratios.*which = ratio(of.operation, peer->operation);
  };
  to("original", &ratios::to_original);
  to("std", &ratios::to_std);
}

constexpr const char* not_available = "N/A";

std::string counter_text(const result& of) {
  return of.which.kind == experiment::cyclic ? fmt::format("{}", counter_limit) : not_available;
}

std::size_t iterations(const row& which) {
  return which.kind == experiment::cyclic ? full_rounds / counter_limit : full_rounds;
}

std::string round_trip_text(const result& of) {
  return of.which.kind == experiment::cyclic ? not_available : four_digits(of.round_trip.wall_us);
}

std::string note(const result& of) {
  std::string text;
  const std::size_t full = full_operations(of.which);
  if (of.operations < full) {
    text += fmt::format("scaled 1/{:.0f}",
                        static_cast<double>(full) / static_cast<double>(of.operations));
  }
  if (of.cut_samples > 0) text += fmt::format("{}{} cut", text.empty() ? "" : ", ", of.cut_samples);
  return text;
}

std::optional<double> operation(const result& of, double cost::* what) {
  return of.operation ? std::optional<double>((*of.operation).*what) : std::nullopt;
}

constexpr const char* legend =
    "Times in ms are those of a run of full size, extrapolated where the note says 'scaled', "
    "or\n"
    "how many samples were 'cut' because they took much longer than a trial had promised.\n"
    "Per op    from medians. cyclic: one hop, notify to wake, time / (threads x 10000).\n"
    "          parallel: one round of fork and join. with syncThread: syncThreads alone, "
    "which is\n"
    "          the round trip with it minus the same mechanism's without it; below 0 where "
    "the\n"
    "          noise is larger than the difference.\n"
    "CPU       of all threads of the process together.\n"
    "To ...    time per op by that of the original, and of std (condition variable or\n"
    "          pthread_barrier_t): below 1 is faster.\n";

nlohmann::ordered_json to_json(const ratios& of) {
  return {{"to_original", bench::to_json(of.to_original)}, {"to_std", bench::to_json(of.to_std)}};
}

nlohmann::ordered_json to_json(const cost& of) {
  return {{"wall_us", of.wall_us}, {"cpu_us", of.cpu_us}};
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

report<result> tell(std::vector<result> results) {
  using enum text_table::align;
  using of = const result&;
  std::string table = to_table<result>(
      results,
      {{"Type", left, [](of one) { return std::string(title(one.which)); }},
       {"Num Threads", right, [](of one) { return fmt::format("{}", one.which.threads); }},
       {"Counter", right, counter_text},
       {"Num Iterations", right, [](of one) { return fmt::format("{}", iterations(one.which)); }},
       {"Mean Time [ms]", right, [](of one) { return four_digits(one.full_ms.mean); }},
       {"Stddev. [ms]", right, [](of one) { return four_digits(one.full_ms.stddev); }},
       {"Mechanism", left, [](of one) { return std::string(one.which.mechanism); }},
       {"Per op [us]", right, [](of one) { return or_dash(operation(one, &cost::wall_us)); }},
       {"CPU per op [us]", right, [](of one) { return or_dash(operation(one, &cost::cpu_us)); }},
       {"Round trip [us]", right, round_trip_text},
       {"To original", right, [](of one) { return or_dash(one.operation_ratios.to_original); }},
       {"To std", right, [](of one) { return or_dash(one.operation_ratios.to_std); }},
       {"Median [ms]", right, [](of one) { return four_digits(one.full_ms.median); }},
       {"Min [ms]", right, [](of one) { return four_digits(one.full_ms.min); }},
       {"Max [ms]", right, [](of one) { return four_digits(one.full_ms.max); }},
       {"Note", left, note}});
  return {std::move(results), std::move(table), legend};
}

nlohmann::ordered_json to_json(const result& of) {
  nlohmann::ordered_json json{{"name", name(of.which)},
                              {"type", title(of.which)},
                              {"threads", of.which.threads},
                              {"mechanism", of.which.mechanism},
                              {"full_operations", full_operations(of.which)},
                              {"operations_per_sample", of.operations},
                              {"cut_samples", of.cut_samples},
                              {"full_ms", bench::to_json(of.full_ms)},
                              {"round_trip", to_json(of.round_trip)},
                              {"round_trip_ratio", to_json(of.round_trip_ratios)}};
  json["operation"] = of.operation ? to_json(*of.operation) : nlohmann::ordered_json(nullptr);
  json["operation_ratio"] = to_json(of.operation_ratios);
  return json;
}

}  // namespace bench::primitives
