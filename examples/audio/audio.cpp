// SPDX-License-Identifier: MIT
// examples/audio/audio.cpp -- sends a sound through a graph of effects, block by block, each before its deadline; and
// checks the result against the serial run, bit for bit
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "audio/effects.hpp"
#include "audio/wave.hpp"
#include "support/error.hpp"
#include "support/files.hpp"
#include "support/program.hpp"
#include "support/timing.hpp"

namespace examples {
namespace {

using std::chrono::nanoseconds;
using std::chrono::steady_clock;

constexpr const char* about =
    "Sends a WAV file (PCM of 16 bit, one or two channels) through equaliser, echo, reverb, mixer\n"
    "and limiter, block by block. Each block has to be done before the next one is due. It runs\n"
    "serially, as a plan for one member, and as a plan for --members; the results are compared "
    "bit\n"
    "for bit. Printed are the slowest block, the blocks that were late, and the node that made\n"
    "them late.\n"
    "Exit status: 0 done, 1 the comparison failed, 2 bad arguments or input. Late blocks are no\n"
    "failure.";

struct audio_options {
  common_options common;
  std::string input;
  std::string graph;
  std::string plan;
  unsigned block = 256;
  unsigned combs = 8;
  double budget = 1;
  bool is_paced = false;
};

/// A block that was not done in time.
struct missed_block {
  std::size_t number;
  nanoseconds late;
  std::string cause;  // empty: the time was lost outside of the nodes
  nanoseconds excess;
};

struct performance {
  std::string name;
  std::vector<double> seconds;  // of each block
  std::vector<missed_block> missed;
  wave output;
};

double milliseconds(nanoseconds time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

/// When blocks come, and when they have to be done.
class pace {
 public:
  pace(const audio_options& options, std::uint32_t rate)
      : period_(static_cast<std::int64_t>(1e9 * options.block / rate)),
        budget_(static_cast<std::int64_t>(static_cast<double>(period_.count()) * options.budget)),
        is_paced_(options.is_paced),
        begin_(steady_clock::now()) {}

  /// Waits until the block is there, if blocks come as from a sound card. Returns its deadline.
  [[nodiscard]] steady_clock::time_point next(std::size_t block) const {
    if (!is_paced_) return steady_clock::now() + budget_;
    const steady_clock::time_point due = begin_ + static_cast<std::int64_t>(block) * period_;
    std::this_thread::sleep_until(due);
    return due + budget_;
  }

 private:
  nanoseconds period_;
  nanoseconds budget_;
  bool is_paced_;
  steady_clock::time_point begin_;
};

performance play_serially(effects& chain, const audio_options& options, std::uint32_t rate) {
  performance result;
  result.name = "serial";
  for (unsigned round = 0; round < options.common.repeat; ++round) {
    chain.rewind();
    const pace blocks(options, rate);
    for (std::size_t block = 0; block < chain.blocks(); ++block) {
      const steady_clock::time_point deadline = blocks.next(block);
      const auto begin = steady_clock::now();
      chain.process();
      const auto end = steady_clock::now();
      result.seconds.push_back(std::chrono::duration<double>(end - begin).count());
      if (end > deadline) result.missed.push_back({block, end - deadline, "", nanoseconds(0)});
    }
  }
  result.output = chain.output();
  return result;
}

/// A look at the first blocks tells the plan how long each node takes.
void rehearse(lockstep::plan& plan, effects& chain) {
  constexpr std::size_t most_blocks = 16;
  // [rehearse]
  plan.measure(std::min(most_blocks, chain.blocks()));
  plan.refine();
  // [/rehearse]
}

performance play(lockstep::plan& plan, effects& chain, const audio_options& options,
                 std::uint32_t rate) {
  performance result;
  result.name = fmt::format("{} member{}", plan.members(), plan.members() == 1 ? "" : "s");
  for (unsigned round = 0; round < options.common.repeat; ++round) {
    chain.rewind();
    const pace blocks(options, rate);
    for (std::size_t block = 0; block < chain.blocks(); ++block) {
      const steady_clock::time_point deadline = blocks.next(block);
      // [run_by]
      const lockstep::timed_run run = plan.run_by(deadline);
      result.seconds.push_back(std::chrono::duration<double>(run.took).count());
      if (run.in_time) continue;
      // Not run.late: a deadline may be over before the run begins, if the block before was late.
      result.missed.push_back({block, steady_clock::now() - deadline,
                               run.cause != nullptr ? run.cause : "", run.excess});
      // [/run_by]
    }
  }
  result.output = chain.output();
  return result;
}

void describe(const performance& of, nlohmann::ordered_json& record) {
  constexpr std::size_t most_lines = 5;
  const double worst = *std::max_element(of.seconds.begin(), of.seconds.end());
  const double middle = median(of.seconds);
  fmt::print("{}: worst block {:.3f} ms, median {:.3f} ms, late {} of {}\n", of.name, worst * 1e3,
             middle * 1e3, of.missed.size(), of.seconds.size());
  nlohmann::ordered_json causes = nlohmann::ordered_json::object();
  for (std::size_t i = 0; i < of.missed.size(); ++i) {
    const missed_block& miss = of.missed[i];
    const std::string cause = miss.cause.empty() ? "outside of the nodes" : miss.cause;
    causes[cause] = causes.value(cause, 0) + 1;
    if (i >= most_lines) continue;
    fmt::print("  block {} late by {:.3f} ms", miss.number, milliseconds(miss.late));
    if (!miss.cause.empty()) {
      fmt::print(": '{}' took {:.3f} ms more than usual", miss.cause, milliseconds(miss.excess));
    }
    fmt::print("\n");
  }
  if (of.missed.size() > most_lines) fmt::print("  and {} more\n", of.missed.size() - most_lines);
  record["runs"].push_back({{"name", of.name},
                            {"worst_seconds", worst},
                            {"median_seconds", middle},
                            {"late_blocks", of.missed.size()},
                            {"causes", causes}});
}

exit_status run(const audio_options& options) {
  if (!(options.budget > 0 && options.budget <= 1000)) {
    throw input_error("--budget: has to be above 0 and at most 1000");
  }
  run_outputs outputs(options.common);
  output_file graph_file(options.graph), plan_file(options.plan);
  const wave input = parse_wave(read_file(options.input, std::uint64_t{1} << 30), options.input);
  effects chain(input, {options.block, options.combs});
  const double seconds = static_cast<double>(input.frames()) / input.rate;
  fmt::print("sound: {}, {} channel{}, {} frames a second, {:.3f} s\n", one_line(options.input),
             input.channels, input.channels == 1 ? "" : "s", input.rate, seconds);
  fmt::print("blocks: {} of {} frames, one every {:.3f} ms\n", chain.blocks(), options.block,
             1e3 * options.block / input.rate);

  nlohmann::ordered_json record = begin_record("audio", options.common);
  record["input"] = options.input;
  record["frames"] = input.frames();
  record["block_frames"] = options.block;
  record["blocks"] = chain.blocks();
  record["paced"] = options.is_paced;
  record["runs"] = nlohmann::ordered_json::array();

  const performance serial = play_serially(chain, options, input.rate);
  describe(serial, record);
  const lockstep::graph graph = chain.graph();
  lockstep::team team(options.common.members, options.common.policy);
  bool is_checked = true;
  std::string drawn;
  for (const unsigned members : {1U, options.common.members}) {
    lockstep::plan plan(graph, team, members);
    chain.rewind();
    rehearse(plan, chain);
    drawn = plan.dot();
    const performance shared = play(plan, chain, options, input.rate);
    describe(shared, record);
    is_checked = is_checked && shared.output.samples == serial.output.samples;
    if (options.common.members == 1) break;
  }
  const exit_status status = report_check(is_checked, record);
  graph_file.write(graph.dot());
  plan_file.write(drawn);
  outputs.publish(status, to_wave(chain.output()), record);
  commit_all({&graph_file, &plan_file});
  return status;
}

}  // namespace
}  // namespace examples

int main(int argc, char** argv) {
  examples::audio_options options;
  const auto add_options = [&](CLI::App& app) {
    examples::add_needed_file(app, "--input", options.input, "the sound");
    examples::add_count(app, "--block", options.block, 1, 65'536, "frames of a block");
    examples::add_count(app, "--combs", options.combs, 1, 65'536,
                        "combs of each reverb: more of them are more work");
    examples::add_real(app, "--budget", options.budget,
                       "share of the time between two blocks in which a block has to be done");
    examples::add_flag(
        app, "--paced", options.is_paced,
        "blocks come as from a sound card; else each one right after the one before");
    examples::add_file(app, "--graph", options.graph, "write the graph, for Graphviz");
    examples::add_file(app, "--plan", options.plan, "write the plan, for Graphviz");
    examples::add_common_options(app, options.common, "write the sound, a WAV file");
  };
  return examples::run_program(examples::about, argc, argv, add_options,
                               [&] { return examples::run(options); });
}
