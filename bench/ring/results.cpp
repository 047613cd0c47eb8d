// SPDX-License-Identifier: MIT
#include "ring/results.hpp"

#include <fmt/format.h>

#include <utility>

namespace bench::ring {
namespace {

/// From fewer than so many, the 99th percentile would be the maximum by another name.
constexpr std::size_t enough_for_p99 = 100;

result evaluate_alone(const measured_row& measured, std::size_t cpus) {
  std::vector<double> values, cpu_ns, stretches;
  for (const ring_sample& taken : measured.samples) {
    const bool is_hop = measured.which.kind == quantity::hop;
    const auto hops = static_cast<double>(taken.operations * measured.which.threads);
    values.push_back(is_hop ? taken.time.wall_seconds * 1e9 / hops : taken.additions);
    cpu_ns.push_back(taken.time.cpu_seconds * 1e9 / hops);
    stretches.insert(stretches.end(), taken.stretches_ns.begin(), taken.stretches_ns.end());
  }
  result one;
  one.which = measured.which;
  one.laps = measured.operations;
  one.cut_samples = measured.cut_samples();
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

std::string hops(const result& of) { return fmt::format("{}", of.laps * of.which.threads); }
std::string median(const result& of) { return four_digits(of.value.median); }
std::string min(const result& of) { return four_digits(of.value.min); }
std::string max(const result& of) { return four_digits(of.value.max); }

/// Of those results that are of the kind; empty if none is.
std::string table_of(std::vector<result> results, quantity kind, double addition_ns) {
  using enum text_table::align;
  std::erase_if(results, [kind](const result& one) { return one.which.kind != kind; });
  if (results.empty()) return {};
  const auto title = [](const result& of) { return name(of.which); };
  if (kind == quantity::hop) {
    const auto cpu = [](const result& of) { return four_digits(of.cpu_ns); };
    return to_table<result>(
        results, {{"Hop", left, title},
                  {"Median [ns]", right, median},
                  {"Min [ns]", right, min},
                  {"Max [ns]", right, max},
                  {"p99 [ns]", right, [](const result& of) { return or_dash(of.p99); }},
                  {"CPU [ns]", right, cpu},
                  {"To best peer", right, [](const result& of) { return or_dash(of.to_best); }},
                  {"Hops in a sample", right, hops},
                  {"Note", left, note}});
  }
  const auto take = [=](const result& of) { return four_digits(of.value.median * addition_ns); };
  return to_table<result>(results, {{"Slack", left, title},
                                    {"Additions in a wait", right, median},
                                    {"Min", right, min},
                                    {"Max", right, max},
                                    {"These take [ns]", right, take},
                                    {"Hops in a sample", right, hops},
                                    {"Note", left, note}});
}

constexpr const char* legend =
    "Names      quantity/threads/placement/mechanism; two-cpus and one-cpu are bound, free is "
    "only\n           dealt out over the CPUs at the start.\n"
    "Median     of samples, each the mean of its hops; min and max likewise.\n"
    "p99        of stretches of 64 hops and more, of all samples; '-' if these are fewer than "
    "100.\n"
    "Note       how many samples were 'cut': they took much longer than a trial had "
    "promised.\n"
    "CPU        of all threads of the process together, for a hop; rough in short samples.\n"
    "Additions  floating-point, each depending on the one before, done by a thread between "
    "passing\n"
    "           the token on and getting it again: what a wait leaves time for.\n"
    "           One takes {} ns.\n";

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

report<result> tell(std::vector<result> results, double addition_ns) {
  const std::string hop = table_of(results, quantity::hop, addition_ns);
  const std::string slack = table_of(results, quantity::slack, addition_ns);
  return {std::move(results),
          hop + (hop.empty() || slack.empty() ? "" : "\n") + slack,
          fmt::format(legend, four_digits(addition_ns)),
          {{"addition_ns", addition_ns}}};
}

nlohmann::ordered_json to_json(const result& of) {
  return {{"name", name(of.which)},
          {"threads", of.which.threads},
          {"mechanism", of.which.mechanism},
          {"unit", of.which.kind == quantity::hop ? "ns" : "additions"},
          {"laps", of.laps},
          {"cut_samples", of.cut_samples},
          {"value", bench::to_json(of.value)},
          {"p99", bench::to_json(of.p99)},
          {"cpu_ns", of.cpu_ns},
          {"to_best_peer", bench::to_json(of.to_best)},
          {"crowded", of.is_crowded}};
}

}  // namespace bench::ring
