// SPDX-License-Identifier: MIT
#include "primitives/report.hpp"

#include <fmt/format.h>

#include "primitives/cyclic_scheduler.hpp"
#include "support/json.hpp"
#include "support/text_table.hpp"

namespace bench::primitives {
namespace {

constexpr const char* not_available = "N/A";

std::string or_dash(std::optional<double> value) { return value ? four_digits(*value) : "-"; }

std::string counter_text(const row& which) {
  return which.kind == experiment::cyclic ? fmt::format("{}", counter_limit) : not_available;
}

std::size_t iterations(const row& which) {
  return which.kind == experiment::cyclic ? full_rounds / counter_limit : full_rounds;
}

std::string note(const result& of) {
  std::string text;
  if (of.plan.divisor > 1) text += fmt::format("scaled 1/{}", of.plan.divisor);
  if (of.cut_samples > 0) text += fmt::format("{}{} cut", text.empty() ? "" : ", ", of.cut_samples);
  return text;
}

std::vector<std::string> cells(const result& of) {
  const bool is_cyclic = of.which.kind == experiment::cyclic;
  const std::optional<cost>& operation = of.operation;
  return {std::string(title(of.which)),
          fmt::format("{}", of.which.threads),
          counter_text(of.which),
          fmt::format("{}", iterations(of.which)),
          four_digits(of.full_ms.mean),
          four_digits(of.full_ms.stddev),
          std::string(of.which.mechanism),
          operation ? four_digits(operation->wall_us) : "-",
          operation ? four_digits(operation->cpu_us) : "-",
          is_cyclic ? not_available : four_digits(of.round_trip.wall_us),
          or_dash(of.operation_ratios.to_original),
          or_dash(of.operation_ratios.to_std),
          four_digits(of.full_ms.median),
          four_digits(of.full_ms.min),
          four_digits(of.full_ms.max),
          note(of)};
}

using bench::to_json;

nlohmann::ordered_json to_json(const ratios& of) {
  return {{"to_original", to_json(of.to_original)}, {"to_std", to_json(of.to_std)}};
}

nlohmann::ordered_json to_json(const cost& of) {
  return {{"wall_us", of.wall_us}, {"cpu_us", of.cpu_us}};
}

nlohmann::ordered_json to_json(const result& of) {
  nlohmann::ordered_json json{{"name", name(of.which)},
                              {"type", title(of.which)},
                              {"threads", of.which.threads},
                              {"mechanism", of.which.mechanism},
                              {"full_operations", full_operations(of.which)},
                              {"scale_divisor", of.plan.divisor},
                              {"operations_per_sample", of.plan.operations},
                              {"cut_samples", of.cut_samples},
                              {"full_ms", to_json(of.full_ms)},
                              {"round_trip", to_json(of.round_trip)},
                              {"round_trip_ratio", to_json(of.round_trip_ratios)}};
  json["operation"] = of.operation ? to_json(*of.operation) : nlohmann::ordered_json(nullptr);
  json["operation_ratio"] = to_json(of.operation_ratios);
  return json;
}

}  // namespace

std::string to_table(const std::vector<result>& results) {
  using enum text_table::align;
  text_table table({{"Type", left},
                    {"Num Threads", right},
                    {"Counter", right},
                    {"Num Iterations", right},
                    {"Mean Time [ms]", right},
                    {"Stddev. [ms]", right},
                    {"Mechanism", left},
                    {"Per op [us]", right},
                    {"CPU per op [us]", right},
                    {"Round trip [us]", right},
                    {"To original", right},
                    {"To std", right},
                    {"Median [ms]", right},
                    {"Min [ms]", right},
                    {"Max [ms]", right},
                    {"Note", left}});
  for (const result& one : results) table.add(cells(one));
  return table.to_string();
}

std::string legend() {
  return "Times in ms are those of a run of full size, extrapolated where the note says 'scaled', "
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
}

nlohmann::ordered_json to_json(const std::vector<result>& results) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const result& one : results) json.push_back(to_json(one));
  return json;
}

}  // namespace bench::primitives
