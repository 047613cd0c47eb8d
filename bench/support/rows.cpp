// SPDX-License-Identifier: MIT
#include "support/rows.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "support/machine.hpp"
#include "support/program.hpp"
#include "support/progress.hpp"
#include "support/text_table.hpp"
#include "support/turns.hpp"

namespace bench {
namespace {

constexpr const char* legend =
    "Median     of samples, each the mean of its operations; min and max likewise.\n"
    "CPU        of all threads of the process together; rough in short samples.\n"
    "To best    time by that of the fastest of its group that is not lockstep's: below 1 is "
    "faster.\n"
    "Cut        samples that took much longer than a trial had promised, and were ended.\n"
    "Threads    are dealt out over the CPUs at the start.\n";

result evaluate_alone(const measured_row& measured) {
  result one{measured.which, measured.operations, 0, {}, 0, {}};
  const bool is_time = one.which.unit == "ns";
  std::vector<double> values, cpu_ns;
  for (const sample& taken : measured.samples) {
    const double scale = 1e9 / static_cast<double>(taken.operations * one.which.parts);
    values.push_back(is_time ? taken.time.wall_seconds * scale : taken.counted);
    cpu_ns.push_back(taken.time.cpu_seconds * scale);
    one.cut_samples += taken.operations < measured.operations;
  }
  one.value = summarize(values);
  one.cpu_ns = summarize(cpu_ns).median;
  return one;
}

/// The median of the fastest of the group that is not lockstep's.
std::optional<double> best_of(const std::string& group, const std::vector<result>& results) {
  std::optional<double> best;
  for (const result& one : results) {
    if (one.which.group != group || one.which.contender.starts_with("lockstep")) continue;
    best = std::min(best.value_or(one.value.median), one.value.median);
  }
  return best;
}

std::string to_table(const std::vector<result>& results) {
  using enum text_table::align;
  text_table table({{"Row", left},
                    {"Unit", left},
                    {"Median", right},
                    {"Min", right},
                    {"Max", right},
                    {"CPU [ns]", right},
                    {"To best", right},
                    {"Operations", right},
                    {"Cut", right}});
  for (const result& one : results) {
    table.add({name(one.which), one.which.unit, four_digits(one.value.median),
               four_digits(one.value.min), four_digits(one.value.max), four_digits(one.cpu_ns),
               one.to_best ? four_digits(*one.to_best) : "-", fmt::format("{}", one.operations),
               fmt::format("{}", one.cut_samples)});
  }
  return table.to_string();
}

nlohmann::ordered_json to_json(const result& of) {
  const summary& value = of.value;
  nlohmann::ordered_json row{{"name", name(of.which)},
                             {"unit", of.which.unit},
                             {"operations", of.operations},
                             {"cut_samples", of.cut_samples},
                             {"value",
                              {{"median", value.median},
                               {"min", value.min},
                               {"max", value.max},
                               {"mean", value.mean},
                               {"stddev", value.stddev}}},
                             {"cpu_ns", of.cpu_ns},
                             {"to_best", nullptr}};
  if (of.to_best) row["to_best"] = *of.to_best;
  return row;
}

}  // namespace

std::string name(const row& which) { return which.group + "/" + which.contender; }

std::vector<measured_row> measure(const std::vector<row>& rows, std::size_t samples,
                                  sample_length length) {
  progress shown(rows.size() * (samples + 1));
  std::vector<measured_row> all;
  for (const row& which : rows) {
    shown.step(fmt::format("trial of {}", name(which)));
    length.most = which.most;
    const auto seconds = [&](std::size_t tried) { return which.run(tried).time.wall_seconds; };
    all.push_back({which, calibrate(length, seconds), {}});
  }
  take_turns(all.size(), samples, [&](std::size_t index, std::size_t round) {
    measured_row& one = all[index];
    shown.step(fmt::format("sample {} of {}, {}", round + 1, samples, name(one.which)));
    one.samples.push_back(one.which.run(one.operations));
  });
  return all;
}

std::vector<result> evaluate(const std::vector<measured_row>& rows) {
  std::vector<result> results;
  results.reserve(rows.size());
  for (const measured_row& one : rows) results.push_back(evaluate_alone(one));
  for (result& one : results) {
    const std::optional<double> best = best_of(one.which.group, results);
    if (best && one.which.unit == "ns") one.to_best = one.value.median / *best;
  }
  return results;
}

int run_rows(const std::string& program, const std::string& about, const std::string& operation,
             int argc, char** argv, std::vector<row> rows) {
  timed_options chosen;
  return run_program(about, chosen, argc, argv, [&] {
    keep_matching(rows, chosen.filter, [](const row& one) { return name(one); });
    const sample_length length = chosen.length();
    if (chosen.is_list) {
      for (const row& one : rows) fmt::print("{}\n", name(one));
      return;
    }
    examples::output_file json(chosen.json);
    const std::vector<result> results =
        evaluate(measure(rows, chosen.samples_or_default(), length));
    const nlohmann::ordered_json machine = describe_machine();
    print_results(chosen, machine, to_table(results), legend + operation);
    nlohmann::ordered_json record{{"program", program},
                                  {"quick", chosen.is_quick},
                                  {"samples", chosen.samples_or_default()},
                                  {"machine", machine}};
    for (const result& one : results) record["rows"].push_back(to_json(one));
    publish(json, record);
  });
}

}  // namespace bench
