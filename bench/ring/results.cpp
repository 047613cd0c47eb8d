// SPDX-License-Identifier: MIT
#include "ring/results.hpp"

#include <fmt/format.h>

#include "support/json.hpp"
#include "support/text_table.hpp"

namespace bench::ring {
namespace {

/// From fewer than so many, the 99th percentile would be the maximum by another name.
constexpr std::size_t enough_for_p99 = 100;

result evaluate_alone(const measured_row& measured, std::size_t cpus) {
  std::size_t cut = 0;
  std::vector<double> values, cpu_ns, stretches;
  for (const ring_sample& taken : measured.samples) {
    const bool is_hop = measured.which.kind == quantity::hop;
    const auto hops = static_cast<double>(taken.laps * measured.which.threads);
    if (taken.laps < measured.operations) ++cut;
    values.push_back(is_hop ? taken.time.wall_seconds * 1e9 / hops : taken.additions);
    cpu_ns.push_back(taken.time.cpu_seconds * 1e9 / hops);
    stretches.insert(stretches.end(), taken.stretches_ns.begin(), taken.stretches_ns.end());
  }
  result one;
  one.which = measured.which;
  one.laps = measured.operations;
  one.cut_samples = cut;
  one.value = summarize(values);
  one.cpu_ns = summarize(cpu_ns).median;
  one.is_crowded = is_crowded(measured.which, cpus);
  if (stretches.size() >= enough_for_p99) one.p99 = percentile(stretches, 0.99);
  return one;
}

/// Same threads and placement.
const result* best_peer(const std::vector<result>& results, const row& which) {
  const result* best = nullptr;
  for (const result& one : results) {
    if (one.which.kind != which.kind || one.which.threads != which.threads) continue;
    if (one.which.where != which.where || one.which.mechanism.starts_with("lockstep")) continue;
    if (best == nullptr || one.value.median < best->value.median) best = &one;
  }
  return best;
}

std::string note(const result& of) {
  std::string text = of.cut_samples > 0 ? fmt::format("{} cut", of.cut_samples) : "";
  if (of.which.polls && of.is_crowded) {
    text += (text.empty() ? "" : ", ") + std::string("polls in a crowd: waits for time slices");
  }
  return text;
}

text_table::column right(std::string title) { return {std::move(title), text_table::align::right}; }
text_table::column left(std::string title) { return {std::move(title), text_table::align::left}; }

std::string hop_table(const std::vector<result>& results) {
  text_table table({left("Hop"), right("Median [ns]"), right("Min [ns]"), right("Max [ns]"),
                    right("p99 [ns]"), right("CPU [ns]"), right("To best peer"),
                    right("Hops in a sample"), left("Note")});
  for (const result& one : results) {
    if (one.which.kind != quantity::hop) continue;
    table.add({name(one.which), four_digits(one.value.median), four_digits(one.value.min),
               four_digits(one.value.max), one.p99 ? four_digits(*one.p99) : "-",
               four_digits(one.cpu_ns), one.to_best ? four_digits(*one.to_best) : "-",
               fmt::format("{}", one.laps * one.which.threads), note(one)});
  }
  return table.to_string();
}

std::string slack_table(const std::vector<result>& results, double addition_ns) {
  text_table table({left("Slack"), right("Additions in a wait"), right("Min"), right("Max"),
                    right("These take [ns]"), right("Hops in a sample"), left("Note")});
  for (const result& one : results) {
    if (one.which.kind != quantity::slack) continue;
    table.add({name(one.which), four_digits(one.value.median), four_digits(one.value.min),
               four_digits(one.value.max), four_digits(one.value.median * addition_ns),
               fmt::format("{}", one.laps * one.which.threads), note(one)});
  }
  return table.to_string();
}

}  // namespace

std::vector<result> evaluate(const std::vector<measured_row>& rows, std::size_t cpus) {
  std::vector<result> results;
  results.reserve(rows.size());
  for (const measured_row& one : rows) results.push_back(evaluate_alone(one, cpus));
  for (result& one : results) {
    if (one.which.kind != quantity::hop) continue;
    const result* const best = best_peer(results, one.which);
    if (best != nullptr) one.to_best = one.value.median / best->value.median;
  }
  return results;
}

std::string to_table(const std::vector<result>& results, quantity kind, double addition_ns) {
  return kind == quantity::hop ? hop_table(results) : slack_table(results, addition_ns);
}

std::string legend() {
  return "Names      quantity/threads/placement/mechanism; two-cpus and one-cpu are bound, free is "
         "only\n           dealt out over the CPUs at the start.\n"
         "Median     of samples, each the mean of its hops; min and max likewise.\n"
         "p99        of stretches of 64 hops and more, of all samples; '-' if these are fewer than "
         "100.\n"
         "Note       how many samples were 'cut': they took much longer than a trial had "
         "promised.\n"
         "CPU        of all threads of the process together, for a hop; rough in short samples.\n"
         "Additions  floating-point, each depending on the one before, done by a thread between "
         "passing\n"
         "           the token on and getting it again: what a wait leaves time for.\n";
}

nlohmann::ordered_json to_json(const std::vector<result>& results) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const result& one : results) {
    json.push_back({{"name", name(one.which)},
                    {"threads", one.which.threads},
                    {"mechanism", one.which.mechanism},
                    {"unit", one.which.kind == quantity::hop ? "ns" : "additions"},
                    {"laps", one.laps},
                    {"cut_samples", one.cut_samples},
                    {"value", bench::to_json(one.value)},
                    {"p99", bench::to_json(one.p99)},
                    {"cpu_ns", one.cpu_ns},
                    {"to_best_peer", bench::to_json(one.to_best)},
                    {"crowded", one.is_crowded}});
  }
  return json;
}

}  // namespace bench::ring
