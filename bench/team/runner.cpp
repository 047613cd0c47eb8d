// SPDX-License-Identifier: MIT
// bench/team/runner.cpp -- one sample of one work by one peer, as a line of JSON: the same for all runners
//
// A process takes one sample, or some of each of several cells, so that no peer's idle threads are there when another is measured, and each
// has its environment. run.py runs them, in turns.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "figures/measure.hpp"
#include "support/machine.hpp"
#include "support/program.hpp"
#include "team/catalogue.hpp"
#include "team/competitor.hpp"

namespace {

using namespace team_bench;

struct options {
  request wanted;
  std::string work, peer, competitor;
  std::vector<std::string> cells;
  bool is_list = false, is_about = false, is_probe = false;
};

const entry& find_entry(const catalogue& all, const options& chosen) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const entry& one) {
    return one.work == chosen.work && one.peer == chosen.peer;
  });
  if (found != all.end()) return *found;
  throw bench::argument_error(
      fmt::format("there is no '{}' by '{}': see --list", chosen.work, chosen.peer));
}

nlohmann::ordered_json number(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

/// KIND:SIZE:PAUSE:LOOPS
cell parse_cell(const std::string& text) {
  cell one;
  std::istringstream fields(text);
  char colons[2] = {};
  std::getline(fields, one.kind, ':');
  fields >> one.size >> colons[0] >> one.pause_us >> colons[1] >> one.loops;
  const bool is_good = fields && fields.eof() && colons[0] == ':' && colons[1] == ':' &&
                       one.size <= 1 << 24 && one.pause_us >= 0 && one.pause_us <= 1e7 &&
                       one.loops <= 1'000'000;
  if (!is_good) throw bench::argument_error(fmt::format("--cells: '{}' is no cell", text));
  return one;
}

/// Tenths of nanoseconds: the clock says no more.
nlohmann::ordered_json rounded(const std::vector<std::vector<double>>& samples) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const std::vector<double>& sample : samples) {
    nlohmann::ordered_json times = nlohmann::ordered_json::array();
    for (const double each : sample) times.push_back(std::round(10 * each) / 10);
    all.push_back(std::move(times));
  }
  return all;
}

nlohmann::ordered_json to_json(const cell_times& times) {
  nlohmann::ordered_json record = {{"loops_ns", rounded(times.loops_ns)},
                                   {"serial_ns", rounded(times.serial_ns)},
                                   {"cpus", number(times.cpu_seconds / times.wall_seconds)}};
  for (const auto& [name, value] : times.more) record["more"][name] = number(value);
  return record;
}

/// Must outlive the measurement; made before there are threads.
std::vector<std::unique_ptr<competitor>> start_competitors(const std::string& which) {
  std::vector<std::unique_ptr<competitor>> all;
  const int count = which.empty() ? 0 : which == "two" ? 2 : 1;
  for (int i = 0; i < count; ++i) all.push_back(std::make_unique<competitor>(which == "bound"));
  return all;
}

void print_sample(options& chosen) {
  const catalogue all = all_entries();
  const entry& which = find_entry(all, chosen);
  for (const std::string& text : chosen.cells) chosen.wanted.cells.push_back(parse_cell(text));
  if (which.takes_cells == chosen.wanted.cells.empty()) {
    throw bench::argument_error(
        fmt::format("'{}' takes {} cells", which.work, which.takes_cells ? "one or more" : "no"));
  }
  const auto others = start_competitors(chosen.competitor);
  const measurement sample = which.run(chosen.wanted);
  nlohmann::ordered_json record = {{"work", which.work},
                                   {"peer", which.peer},
                                   {"threads", chosen.wanted.threads},
                                   {"size", chosen.wanted.size},
                                   {"competitor", chosen.competitor},
                                   {"value", number(sample.value)},
                                   {"unit", sample.unit},
                                   {"cpus", number(sample.cpus)}};
  for (const auto& [name, value] : sample.more) record["more"][name] = number(value);
  for (const cell_times& times : sample.cells) record["cells"].push_back(to_json(times));
  fmt::print("{}\n", record.dump());
}

void print_list() {
  for (const entry& one : all_entries()) fmt::print("{} {}\n", one.work, one.peer);
}

void print_about() {
  nlohmann::ordered_json record = bench::describe_machine();
  record["peers"] = peer_versions();
  fmt::print("{}\n", record.dump());
}

void print_probe() {
  const bool can = lockstep::usable_cpus() > 1;
  nlohmann::ordered_json record = {
      {"t1_ns", can ? number(figures::probe_line_transfer()) : number(std::nan(""))}};
  fmt::print("{}\n", record.dump());
}

void add_options(CLI::App& app, options& chosen) {
  app.add_option("work", chosen.work, "what to measure: see --list");
  app.add_option("peer", chosen.peer, "who does it");
  app.add_option("--threads", chosen.wanted.threads, "threads of the team")
      ->check(CLI::Range(1, 1024));
  app.add_option("--size", chosen.wanted.size,
                 "bodies, side of a grid, chunk, or idle milliseconds")
      ->check(CLI::Range(0, 1 << 20));
  app.add_option("--seconds", chosen.wanted.seconds, "length of a sample, about")
      ->check(CLI::Range(1e-4, 100.0));
  app.add_option("--cells", chosen.cells, "KIND:SIZE:PAUSE:LOOPS,..., where the work takes cells")
      ->delimiter(',');
  app.add_option("--samples", chosen.wanted.samples, "of each cell")->check(CLI::Range(1, 1000));
  app.add_option("--seed", chosen.wanted.seed, "of what is random between the loops of a cell");
  app.add_option("--competitor", chosen.competitor,
                 "a process that burns a CPU meanwhile: bound to the first one, or free; or two")
      ->check(CLI::IsMember({"bound", "free", "two"}));
  app.add_flag("--list", chosen.is_list, "print the works, each with a peer");
  app.add_flag("--about", chosen.is_about, "print the machine and the versions of the peers");
  app.add_flag("--probe", chosen.is_probe,
               "print t1, the one-way time of a cache line between two CPUs");
}

}  // namespace

int main(int argc, char** argv) {
  options chosen;
  const auto add = [&](CLI::App& app) { add_options(app, chosen); };
  return bench::run_program("One sample of one work by one peer, as JSON.\n\n", argc, argv, add,
                            [&] {
                              if (chosen.is_list) return print_list();
                              if (chosen.is_about) return print_about();
                              if (chosen.is_probe) return print_probe();
                              if (chosen.peer.empty())
                                throw bench::argument_error("a work and a peer are wanted");
                              print_sample(chosen);
                            });
}
