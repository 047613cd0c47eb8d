// SPDX-License-Identifier: MIT
// bench/support/rows.hpp -- a program whose rows are measured in turns: from its arguments to table and record
//
// Each benchmark has a struct row with ==, name(row), and a struct result with to_json(result), found by their argument.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "support/calibration.hpp"
#include "support/json.hpp"
#include "support/machine.hpp"
#include "support/program.hpp"
#include "support/progress.hpp"
#include "support/stopwatch.hpp"
#include "support/text_table.hpp"
#include "support/turns.hpp"

namespace bench {

struct sample {
  std::size_t operations = 0;  // fewer than asked for if it was cut
  elapsed_time time;
};

template <class Row, class Sample>
struct measured {
  Row which;
  std::size_t operations = 0;  // in a sample
  std::vector<Sample> samples;

  [[nodiscard]] std::size_t cut_samples() const {
    return static_cast<std::size_t>(
        std::count_if(samples.begin(), samples.end(),
                      [&](const Sample& taken) { return taken.operations < operations; }));
  }
};

/// Finds out how many operations fill a sample of each row, most(row) at most, then takes the samples. run(row, operations)
/// takes one.
template <class Row, class Most, class Run>
auto measure(const std::vector<Row>& rows, std::size_t samples, sample_length length, Most most,
             Run run) {
  using sample_type = decltype(run(rows.front(), std::size_t{1}));
  progress shown(rows.size() * (samples + 1));
  std::vector<measured<Row, sample_type>> all;
  for (const Row& which : rows) {
    shown.step(fmt::format("trial of {}", name(which)));
    length.most = most(which);
    const auto seconds = [&](std::size_t tried) { return run(which, tried).time.wall_seconds; };
    all.push_back({which, calibrate(length, seconds), {}});
  }
  take_turns(all.size(), samples, [&](std::size_t index, std::size_t round) {
    auto& one = all[index];
    shown.step(fmt::format("sample {} of {}, {}", round + 1, samples, name(one.which)));
    one.samples.push_back(run(one.which, one.operations));
  });
  return all;
}

/// The result of that row, or null.
template <class Result, class Row>
const Result* find(const std::vector<Result>& results, const Row& which) {
  const auto found = std::find_if(results.begin(), results.end(),
                                  [&](const Result& one) { return one.which == which; });
  return found == results.end() ? nullptr : &*found;
}

template <class Result>
struct result_column {
  std::string title;
  text_table::align side;
  std::function<std::string(const Result&)> cell;
};

template <class Result>
std::string to_table(const std::vector<Result>& results,
                     const std::vector<result_column<Result>>& columns) {
  std::vector<text_table::column> titles;
  for (const auto& column : columns) titles.push_back({column.title, column.side});
  text_table table(std::move(titles));
  for (const Result& one : results) {
    std::vector<std::string> cells;
    for (const auto& column : columns) cells.push_back(column.cell(one));
    table.add(std::move(cells));
  }
  return table.to_string();
}

[[nodiscard]] inline std::string or_dash(std::optional<double> value) {
  return value ? four_digits(*value) : "-";
}

/// What a program says about its samples. `more` stands in the record before the rows.
template <class Result>
struct report {
  std::vector<Result> results;
  std::string table, legend;
  nlohmann::ordered_json more = nlohmann::ordered_json::object();
};

/// The main() of such a program; most and run as for measure(), tell(measured rows) gives the report.
template <class Row, class Most, class Run, class Tell>
int run_rows(const char* program, const std::string& about, int argc, char** argv,
             std::vector<Row> rows, Most most, Run run, Tell tell) {
  timed_options chosen;
  return run_program(about, chosen, argc, argv, [&] {
    keep_matching(rows, chosen.filter, [](const Row& one) { return name(one); });
    const sample_length length = chosen.length();
    if (chosen.is_list) {
      for (const Row& one : rows) fmt::print("{}\n", name(one));
      return;
    }
    examples::output_file json(chosen.json);
    const auto told = tell(measure(rows, chosen.samples_or_default(), length, most, run));
    const nlohmann::ordered_json machine = describe_machine();
    print_results(chosen, machine, told.table, told.legend);
    nlohmann::ordered_json record{{"program", program},
                                  {"quick", chosen.is_quick},
                                  {"samples", chosen.samples_or_default()},
                                  {"machine", machine}};
    record.update(told.more);
    for (const auto& one : told.results) record["rows"].push_back(to_json(one));
    publish(json, record);
  });
}

}  // namespace bench
