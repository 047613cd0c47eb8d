// SPDX-License-Identifier: MIT
// examples/inpaint/inpaint.cpp -- fills the holes of a picture on a team, once by publish() and await_step() and once by
// a plan, and checks both results against the serial run, bit for bit
#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "filter5x5/netpbm.hpp"
#include "inpaint/membrane.hpp"
#include "support/error.hpp"
#include "support/files.hpp"
#include "support/program.hpp"
#include "support/timing.hpp"

namespace examples {
namespace {

constexpr const char* about =
    "Fills the holes of a grey picture in PGM format, so that each missing pixel is the mean of "
    "its\n"
    "neighbours. It sweeps over the picture in the order of reading until a sweep changes little.\n"
    "That order is kept by a wavefront: serially, by members that wait for their neighbours, and "
    "by\n"
    "the plan of a graph of tiles whose sweeps overlap. The results are compared bit for bit.\n"
    "Exit status: 0 done, 1 the comparison failed, 2 bad arguments or input, 3 stopped by\n"
    "--max-sweeps (files are written all the same).";

struct inpaint_options {
  common_options common;
  std::string input;
  unsigned hole = 0;
  unsigned tile = 32;
  unsigned most_sweeps = 100'000;
  double relaxation = 1.5;
  double tolerance = 1e-3;
};

/// A membrane, and what was last done with it.
struct filling {
  membrane surface;
  sweep_count count;
};

bool are_identical(const filling& a, const filling& b) {
  return a.surface.values() == b.surface.values() && a.count.sweeps == b.count.sweeps &&
         a.count.change == b.count.change;
}

struct measurement {
  image picture;
  sweep_count count;
  std::size_t tiles = 0;
  bool is_checked = true;
  std::array<double, 3> seconds{};  // serial, bands, plan
};

measurement measure(const membrane& start, const sweep_rule& rule, const inpaint_options& options) {
  lockstep::team team(options.common.members, options.common.policy);
  filling serial{start, {}}, bands{start, {}}, tiled{start, {}};
  tiled_sweeps sweeps(tiled.surface, rule);
  lockstep::plan plan(sweeps.graph(), team);
  measurement result;
  result.tiles = sweeps.graph().size();
  result.seconds =
      median_seconds<3>(options.common.repeat,
                        {[&] { serial.count = fill_serially(serial.surface, rule); },
                         [&] { bands.count = fill_by_bands(bands.surface, rule, team); },
                         [&] { tiled.count = sweeps.fill(plan); }},
                        [&] {
                          result.is_checked = result.is_checked && are_identical(serial, bands) &&
                                              are_identical(serial, tiled);
                          result.picture = tiled.surface.result();
                          result.count = tiled.count;
                          for (filling* each : {&serial, &bands, &tiled}) *each = {start, {}};
                        });
  return result;
}

void describe(const measurement& result, const inpaint_options& options,
              nlohmann::ordered_json& record) {
  const auto [serial, bands, plan] = result.seconds;
  fmt::print("sweeps: {} ({}), the last one changed {:.3e} at most\n", result.count.sweeps,
             result.count.has_converged ? "converged" : "NOT converged", result.count.change);
  fmt::print(
      "time: serial {:.3f} ms, {} members {:.3f} ms by bands, {:.3f} ms by a plan of {} tiles\n",
      serial * 1e3, options.common.members, bands * 1e3, plan * 1e3, result.tiles);
  fmt::print("speed-up: {:.2f} by bands, {:.2f} by the plan\n", serial / bands, serial / plan);
  record["sweeps"] = result.count.sweeps;
  record["converged"] = result.count.has_converged;
  record["largest_change"] = result.count.change;
  record["tiles"] = result.tiles;
  record["serial_seconds"] = serial;
  record["bands_seconds"] = bands;
  record["plan_seconds"] = plan;
}

void check_tiles(const image& picture, std::size_t tile) {
  constexpr std::size_t most_tiles = 20'000;
  const std::size_t down = (picture.height + tile - 1) / tile;
  const std::size_t across = (picture.width + tile - 1) / tile;
  if (down > most_tiles || across > most_tiles || down * across > most_tiles) {
    throw input_error(fmt::format("--tile: {} x {} tiles are too many, there may be {}", down,
                                  across, most_tiles));
  }
}

exit_status run(const inpaint_options& options) {
  if (!(options.relaxation > 0 && options.relaxation < 2)) {
    throw input_error("--relaxation: has to be above 0 and below 2");
  }
  if (options.tolerance < 0) throw input_error("--tolerance: has to be at least 0");
  if (!options.common.output.empty() && !options.common.output.ends_with(".pgm")) {
    throw input_error(
        fmt::format("--output: {} does not end in .pgm", in_quotes(options.common.output)));
  }
  run_outputs outputs(options.common);
  const image picture =
      parse_netpbm(read_file(options.input, std::uint64_t{1} << 30), options.input);
  const membrane start(picture, options.hole, options.relaxation);
  sweep_rule rule;
  rule.tile = options.tile;
  rule.most_sweeps = options.most_sweeps;
  rule.tolerance = options.tolerance;

  check_tiles(picture, options.tile);

  nlohmann::ordered_json record = begin_record("inpaint", options.common);
  record["input"] = options.input;
  record["width"] = picture.width;
  record["height"] = picture.height;
  record["missing"] = start.missing();
  fmt::print("picture: {}, {} x {}, {} pixels are missing\n", one_line(options.input),
             picture.width, picture.height, start.missing());
  const measurement result = measure(start, rule, options);
  describe(result, options, record);
  const exit_status status = report_check(result.is_checked, record);
  outputs.publish(status, to_netpbm(result.picture), record);
  const bool is_done = status != exit_status::success || result.count.has_converged;
  return is_done ? status : exit_status::not_converged;
}

}  // namespace
}  // namespace examples

int main(int argc, char** argv) {
  examples::inpaint_options options;
  const auto add_options = [&](CLI::App& app) {
    examples::add_needed_file(app, "--input", options.input, "the picture, grey");
    examples::add_count(app, "--hole", options.hole, 0, 65'535, "the value of missing samples");
    examples::add_count(app, "--tile", options.tile, 1, 65'536, "rows and columns of a tile");
    examples::add_count(app, "--max-sweeps", options.most_sweeps, 1,
                        std::numeric_limits<unsigned>::max(), "stop after so many sweeps");
    examples::add_real(app, "--relaxation", options.relaxation,
                       "factor of each step: 1 goes to the mean, more goes beyond it");
    examples::add_real(app, "--tolerance", options.tolerance,
                       "stop when a sweep changes no sample by more");
    examples::add_common_options(app, options.common, "write the picture, .pgm");
  };
  return examples::run_program(examples::about, argc, argv, add_options,
                               [&] { return examples::run(options); });
}
