// SPDX-License-Identifier: MIT
// bench/figures/figures.cpp -- fork/join and barrier of two threads beside std and libgomp, for ./do demo; team and ring have
// all others
//
// Every sample is a process of its own, so that no peer's idle threads disturb another and each has its
// environment; the cases take turns, so that the noise of the machine hits all alike. Before and after
// each sample the one-way time of a cache line (t1) is probed; a sample whose two probes differ by more
// than a quarter gives a time but no ratio to t1.
#include <fmt/core.h>
#include <fmt/ranges.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "cases.hpp"
#include "examples/support/files.hpp"
#include "measure.hpp"
#include "support/machine.hpp"
#include "support/program.hpp"
#include "support/progress.hpp"
#include "support/statistics.hpp"
#include "support/stopwatch.hpp"
#include "support/text_table.hpp"

namespace {

using figures::measured_case;

struct sample {
  double time = 0;
  double cpus = 0;  ///< CPU time over wall time
  double first_probe = 0;
  double last_probe = 0;

  double t1() const { return (first_probe + last_probe) / 2; }
  bool is_stable() const {
    return std::max(first_probe, last_probe) < 1.25 * std::min(first_probe, last_probe);
  }
};

sample take_sample(const measured_case& which) {
  sample result;
  const bool probe = lockstep::usable_cpus() > 1;
  if (probe) result.first_probe = figures::probe_line_transfer();
  const bench::stopwatch watch;
  result.time = which.run();
  const bench::elapsed_time time = watch.elapsed();
  result.cpus = time.cpu_seconds / time.wall_seconds;
  if (probe) result.last_probe = figures::probe_line_transfer();
  return result;
}

void set_environment(const std::string& variable) {
  const std::size_t equals = variable.find('=');
  if (equals == std::string::npos) return;
  setenv(variable.substr(0, equals).c_str(), variable.substr(equals + 1).c_str(), 1);
}

/// Runs this program again for one case: libraries read their environment when they are loaded.
sample sample_in_child(const char* program, std::size_t index, const measured_case& which) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("figures: no pipe");
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("figures: no process");
  if (child == 0) {
    set_environment(which.environment);
    dup2(ends[1], STDOUT_FILENO);
    execl(program, program, "--child", std::to_string(index).c_str(), nullptr);
    _exit(127);
  }
  close(ends[1]);
  sample result;
  const bool complete = read(ends[0], &result, sizeof result) == sizeof result;
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (!complete) throw std::runtime_error("figures: the process of '" + which.name() + "' failed");
  return result;
}

struct row {
  const measured_case* which;
  bench::summary time, cpus, in_t1;
  std::size_t stable = 0;
  double t1 = 0;
};

row summarize(const measured_case& which, const std::vector<sample>& samples) {
  std::vector<double> times, cpus, ratios, probes;
  for (const sample& one : samples) {
    times.push_back(one.time);
    cpus.push_back(one.cpus);
    if (one.first_probe <= 0 || !one.is_stable()) continue;
    ratios.push_back(one.time / one.t1());
    probes.push_back(one.t1());
  }
  row result{&which, bench::summarize(times), bench::summarize(cpus), {}, ratios.size(), 0};
  if (!ratios.empty()) {
    result.in_t1 = bench::summarize(ratios);
    result.t1 = bench::summarize(probes).median;
  }
  return result;
}

std::string to_table(const std::vector<row>& rows) {
  using align = bench::text_table::align;
  bench::text_table table({{"work", align::left},
                           {"peer", align::left},
                           {"median [ns]", align::right},
                           {"min", align::right},
                           {"max", align::right},
                           {"x t1", align::right},
                           {"t1 [ns]", align::right},
                           {"CPUs", align::right},
                           {"lockstep / peer", align::right}});
  std::map<std::string, double> ours;
  for (const row& one : rows) {
    if (one.which->peer == "lockstep") ours[one.which->work] = one.time.median;
  }
  for (const row& one : rows) {
    const bool is_peer = one.which->peer != "lockstep" && ours.count(one.which->work) != 0;
    table.add({one.which->work, one.which->peer, bench::four_digits(one.time.median),
               bench::four_digits(one.time.min), bench::four_digits(one.time.max),
               one.stable > 0 ? fmt::format("{:.2f}", one.in_t1.median) : "-",
               one.stable > 0 ? fmt::format("{:.0f}", one.t1) : "-",
               fmt::format("{:.2f}", one.cpus.median),
               is_peer ? fmt::format("{:.2f}", ours[one.which->work] / one.time.median) : "-"});
  }
  return table.to_string();
}

nlohmann::ordered_json to_json(const std::vector<row>& rows) {
  nlohmann::ordered_json result;
  result["machine"] = bench::describe_machine();
  for (const row& one : rows) {
    result["rows"].push_back({{"work", one.which->work},
                              {"peer", one.which->peer},
                              {"environment", one.which->environment},
                              {"median", one.time.median},
                              {"min", one.time.min},
                              {"max", one.time.max},
                              {"in_t1", one.in_t1.median},
                              {"stable_samples", one.stable},
                              {"t1_ns", one.t1},
                              {"cpus", one.cpus.median}});
  }
  return result;
}

std::vector<row> measure(const char* program, const std::vector<measured_case>& cases,
                         const std::vector<std::size_t>& chosen, unsigned samples) {
  std::vector<std::vector<sample>> taken(cases.size());
  bench::progress progress(samples * chosen.size());
  for (unsigned round = 0; round < samples; ++round) {
    for (const std::size_t i : chosen) {
      progress.step(cases[i].name());
      taken[i].push_back(sample_in_child(program, i, cases[i]));
    }
  }
  std::vector<row> rows;
  for (const std::size_t i : chosen) rows.push_back(summarize(cases[i], taken[i]));
  std::stable_sort(rows.begin(), rows.end(),
                   [](const row& a, const row& b) { return a.which->work < b.which->work; });
  return rows;
}

void run_all(const bench::common_options& chosen) {
  const std::vector<measured_case> cases = figures::all_cases();
  std::vector<std::size_t> wanted(cases.size());
  std::iota(wanted.begin(), wanted.end(), std::size_t{0});
  bench::keep_matching(wanted, chosen.filter, [&](std::size_t i) { return cases[i].name(); });
  if (chosen.is_list) {
    for (const std::size_t i : wanted) fmt::print("{}\n", cases[i].name());
    return;
  }
  examples::output_file output(chosen.json);
  const std::vector<row> rows =
      measure("/proc/self/exe", cases, wanted, chosen.samples_or_default());
  fmt::print("{}\n\n{}", bench::on_one_line(bench::describe_machine()), to_table(rows));
  output.write(to_json(rows).dump(2) + "\n");
  examples::commit_all({&output});
}

/// What sample_in_child() runs.
int take_one(std::size_t index) {
  const sample result = take_sample(figures::all_cases().at(index));
  return write(STDOUT_FILENO, &result, sizeof result) == sizeof result ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::string(argv[1]) == "--child") return take_one(std::stoul(argv[2]));
  bench::common_options chosen;
  return bench::run_program("Fork/join and barrier of two threads, by lockstep and its peers.\n",
                            chosen, argc, argv, [&] { run_all(chosen); });
}
