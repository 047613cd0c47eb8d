// SPDX-License-Identifier: MIT
#include "objects/results.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "support/json.hpp"
#include "support/text_table.hpp"

namespace bench::objects {
namespace {

const result* find(const std::vector<result>& results, row which, std::string_view library) {
  which.library = library;
  const auto found = std::find_if(results.begin(), results.end(),
                                  [&](const result& one) { return one.which == which; });
  return found == results.end() ? nullptr : &*found;
}

result evaluate_alone(const measured_row& measured) {
  std::vector<double> wall_us, cpu_us;
  for (const sample& taken : measured.samples) {
    const double scale = 1e6 / static_cast<double>(measured.operations);
    wall_us.push_back(taken.time.wall_seconds * scale);
    cpu_us.push_back(taken.time.cpu_seconds * scale);
  }
  return {measured.which, measured.operations, summarize(wall_us), summarize(cpu_us).median, {}};
}

double ratio(const result& of, const result& to) { return of.unit_us.median / to.unit_us.median; }

std::vector<std::string> cells(const result& of) {
  return {name(of.which),
          document_line(of),
          of.to_posix ? four_digits(*of.to_posix) : "-",
          four_digits(of.cpu_us),
          four_digits(of.unit_us.min),
          four_digits(of.unit_us.max),
          fmt::format("{}", of.repeats)};
}

}  // namespace

std::vector<result> evaluate(const std::vector<measured_row>& rows) {
  std::vector<result> results;
  results.reserve(rows.size());
  for (const measured_row& one : rows) results.push_back(evaluate_alone(one));
  for (result& one : results) {
    const result* const posix = find(results, one.which, "pthread");
    if (posix != nullptr) one.to_posix = ratio(one, *posix);
  }
  return results;
}

std::string document_line(const result& of) {
  return fmt::format("Unit execution time: {:.6f} [us]", of.unit_us.median);
}

std::string to_table(const std::vector<result>& results) {
  using enum text_table::align;
  text_table table({{"Mode/threads/library", left},
                    {"Median", right},
                    {"To pthread", right},
                    {"CPU [us]", right},
                    {"Min [us]", right},
                    {"Max [us]", right},
                    {"Repeats", right}});
  for (const result& one : results) table.add(cells(one));
  return table.to_string();
}

std::string legend() {
  return "Unit execution time is that of a run by the repeats of one thread: with N threads on a "
         "mutex,\nN locks and unlocks; in the condition chain, one count and broadcast; one "
         "barrier.\n"
         "CPU        of all threads of the process together, for the same; rough in short "
         "samples.\n"
         "Threads    are dealt out over the CPUs at the start.\n"
         "To pthread time by that of pthread with as many threads: below 1 is faster.\n";
}

nlohmann::ordered_json to_json(const std::vector<result>& results) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const result& one : results) {
    json.push_back({{"name", name(one.which)},
                    {"threads", one.which.threads},
                    {"library", one.which.library},
                    {"repeats", one.repeats},
                    {"unit_us", bench::to_json(one.unit_us)},
                    {"cpu_us", one.cpu_us},
                    {"to_pthread", bench::to_json(one.to_posix)}});
  }
  return json;
}

}  // namespace bench::objects
