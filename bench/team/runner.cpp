// SPDX-License-Identifier: MIT
// bench/team/runner.cpp -- one sample of one work by one peer, as a line of JSON: the same for all runners
//
// A process takes one sample, so that no peer's idle threads are there when another is measured, and each
// has its environment. run.py runs them, in turns.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

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

void print_sample(const options& chosen) {
  const catalogue all = all_entries();
  const entry& which = find_entry(all, chosen);
  std::optional<competitor> other;
  if (!chosen.competitor.empty()) other.emplace(chosen.competitor == "bound");
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
  app.add_option("--competitor", chosen.competitor,
                 "a process that burns a CPU meanwhile: bound to the first one, or free")
      ->check(CLI::IsMember({"bound", "free"}));
  app.add_flag("--list", chosen.is_list, "print the works, each with a peer");
  app.add_flag("--about", chosen.is_about, "print the machine and the versions of the peers");
  app.add_flag("--probe", chosen.is_probe,
               "print t1, the one-way time of a cache line between two CPUs");
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("One sample of one work by one peer, as JSON");
  app.footer(bench::about_exit_status);
  options chosen;
  add_options(app, chosen);
  return bench::run_program(app, argc, argv, [&] {
    if (chosen.is_list) return print_list();
    if (chosen.is_about) return print_about();
    if (chosen.is_probe) return print_probe();
    if (chosen.peer.empty()) throw bench::argument_error("a work and a peer are wanted");
    print_sample(chosen);
  });
}
