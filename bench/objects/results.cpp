// SPDX-License-Identifier: MIT
#include "objects/results.hpp"

#include <fmt/format.h>

#include <utility>

namespace bench::objects {
namespace {

result evaluate_alone(const measured_row& measured) {
  std::vector<double> wall_us, cpu_us;
  for (const sample& taken : measured.samples) {
    const double scale = 1e6 / static_cast<double>(measured.operations);
    wall_us.push_back(taken.time.wall_seconds * scale);
    cpu_us.push_back(taken.time.cpu_seconds * scale);
  }
  return {measured.which, measured.operations, summarize(wall_us), summarize(cpu_us).median, {}};
}

constexpr const char* legend =
    "Unit execution time is that of a run by the repeats of one thread: with N threads on a "
    "mutex,\nN locks and unlocks; in the condition chain, one count and broadcast; one "
    "barrier.\n"
    "CPU        of all threads of the process together, for the same; rough in short "
    "samples.\n"
    "Threads    are dealt out over the CPUs at the start.\n"
    "To pthread time by that of pthread with as many threads: below 1 is faster.\n";

}  // namespace

std::vector<result> evaluate(const std::vector<measured_row>& rows) {
  std::vector<result> results;
  results.reserve(rows.size());
  for (const measured_row& one : rows) results.push_back(evaluate_alone(one));
  for (result& one : results) {
    const result* const posix = find(results, row{one.which.kind, one.which.threads, "pthread"});
    if (posix != nullptr) one.to_posix = one.unit_us.median / posix->unit_us.median;
  }
  return results;
}

std::string document_line(const result& of) {
  return fmt::format("Unit execution time: {:.6f} [us]", of.unit_us.median);
}

report<result> tell(std::vector<result> results) {
  using enum text_table::align;
  std::string table = to_table<result>(
      results,
      {{"Mode/threads/library", left, [](const result& of) { return name(of.which); }},
       {"Median", right, document_line},
       {"To pthread", right, [](const result& of) { return or_dash(of.to_posix); }},
       {"CPU [us]", right, [](const result& of) { return four_digits(of.cpu_us); }},
       {"Min [us]", right, [](const result& of) { return four_digits(of.unit_us.min); }},
       {"Max [us]", right, [](const result& of) { return four_digits(of.unit_us.max); }},
       {"Repeats", right, [](const result& of) { return fmt::format("{}", of.repeats); }}});
  return {std::move(results), std::move(table), legend};
}

nlohmann::ordered_json to_json(const result& of) {
  return {{"name", name(of.which)},
          {"threads", of.which.threads},
          {"library", of.which.library},
          {"repeats", of.repeats},
          {"unit_us", bench::to_json(of.unit_us)},
          {"cpu_us", of.cpu_us},
          {"to_pthread", bench::to_json(of.to_posix)}};
}

}  // namespace bench::objects
