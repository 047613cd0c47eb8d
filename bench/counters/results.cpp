// SPDX-License-Identifier: MIT
#include "counters/results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "support/json.hpp"
#include "support/text_table.hpp"

namespace bench::counters {
namespace {

const result* find(const std::vector<result>& results, std::string_view method) {
  const auto found = std::find_if(results.begin(), results.end(),
                                  [&](const result& one) { return one.which.method == method; });
  return found == results.end() ? nullptr : &*found;
}

result evaluate_alone(const measured_row& measured, const counting& how) {
  std::vector<double> wall_us, cpu_us;
  std::vector<std::uint64_t> sums;
  for (const counted& taken : measured.samples) {
    wall_us.push_back(taken.time.wall_seconds * 1e6);
    cpu_us.push_back(taken.time.cpu_seconds * 1e6);
    sums.push_back(taken.result);
  }
  const auto [least, most] = std::minmax_element(sums.begin(), sums.end());
  const result one{measured.which,
                   summarize(wall_us),
                   summarize(cpu_us).median,
                   how.threads * how.count,
                   *least,
                   *most,
                   {}};
  if (one.is_exact() || one.which.loses_counts) return one;
  throw std::logic_error(fmt::format("{}: counted {} to {} where {} is right", name(one.which),
                                     one.least, one.most, one.expected));
}

std::string result_text(const result& of) {
  if (of.least == of.most) return fmt::format("{}", of.most);
  return fmt::format("{} to {}", of.least, of.most);
}

std::string note(const result& of) {
  if (of.is_exact()) return "exact";
  const double share = static_cast<double>(of.least) / static_cast<double>(of.expected);
  return fmt::format("lost up to {:.1f} %", 100 * (1 - share));
}

}  // namespace

std::vector<result> evaluate(const std::vector<measured_row>& rows, const counting& how) {
  std::vector<result> results;
  results.reserve(rows.size());
  for (const measured_row& one : rows) results.push_back(evaluate_alone(one, how));
  if (const result* const serial = find(results, "serial")) {
    for (result& one : results) {
      one.to_serial = one.elapsed_us.median / serial->elapsed_us.median;
    }
  }
  return results;
}

std::string to_table(const std::vector<result>& results) {
  using enum text_table::align;
  text_table table({{"Counter", left},
                    {"Elapsed [us]", right},
                    {"Result", right},
                    {"Counts", left},
                    {"To serial", right},
                    {"CPU [us]", right},
                    {"Min [us]", right},
                    {"Max [us]", right}});
  for (const result& one : results) {
    table.add({name(one.which), four_digits(one.elapsed_us.median), result_text(one), note(one),
               one.to_serial ? four_digits(*one.to_serial) : "-", four_digits(one.cpu_us),
               four_digits(one.elapsed_us.min), four_digits(one.elapsed_us.max)});
  }
  return table.to_string();
}

std::string legend() {
  return "Elapsed    median; creating and joining the threads included, as in the document.\n"
         "Result     the smallest and the largest of the samples, if they differ.\n"
         "To serial  time by that of one thread that does all the counting: below 1 is faster.\n"
         "CPU        of all threads of the process together; the threads are dealt out over the "
         "CPUs.\n";
}

nlohmann::ordered_json to_json(const std::vector<result>& results) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const result& one : results) {
    json.push_back({{"name", name(one.which)},
                    {"elapsed_us", bench::to_json(one.elapsed_us)},
                    {"cpu_us", one.cpu_us},
                    {"expected", one.expected},
                    {"least_result", one.least},
                    {"most_result", one.most},
                    {"to_serial", bench::to_json(one.to_serial)}});
  }
  return json;
}

}  // namespace bench::counters
