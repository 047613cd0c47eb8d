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

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

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
                         const std::string& filter, unsigned samples) {
  const auto is_wanted = bench::parse_filter(filter);
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (is_wanted(cases[i].name())) chosen.push_back(i);
  }
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

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Fork/join and barrier of two threads, by lockstep and its peers");
  unsigned samples = 9;
  int child = -1;
  std::string filter, json_file;
  app.add_option("--samples", samples, "samples of each case")->check(CLI::Range(1, 1000));
  app.add_option("--filter", filter, "only cases whose 'work / peer' matches this expression");
  app.add_option("--json", json_file, "write the results to this file");
  app.add_option("--child", child, "take one sample of this case, for the program itself")
      ->group("");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }

  try {
    const std::vector<measured_case> cases = figures::all_cases();
    if (child >= 0) {
      const sample result = take_sample(cases.at(static_cast<std::size_t>(child)));
      return write(STDOUT_FILENO, &result, sizeof result) == sizeof result ? 0 : 1;
    }
    examples::output_file output(json_file);
    const std::vector<row> rows = measure("/proc/self/exe", cases, filter, samples);
    fmt::print("{}\n\n{}", bench::on_one_line(bench::describe_machine()), to_table(rows));
    output.write(to_json(rows).dump(2) + "\n");
    examples::commit_all({&output});
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
}
