// SPDX-License-Identifier: MIT
// examples/filter5x5/filter5x5.cpp -- filters a picture on a team and checks the result against the
// serial scalar run, bit for bit
#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "filter5x5/convolve.hpp"
#include "filter5x5/kernel.hpp"
#include "filter5x5/netpbm.hpp"
#include "support/error.hpp"
#include "support/files.hpp"
#include "support/program.hpp"
#include "support/timing.hpp"

namespace examples {
namespace {

constexpr const char* about =
    "Filters a picture with 5x5 weights. Reads PGM (P2, P5) and PPM (P3, P6) with 8 or 16 bit\n"
    "samples. Writes binary PGM and PPM.\n"
    "Pictures of up to 100 million samples (a grey pixel is one, a coloured one three), border\n"
    "included, are read: they take 2.4 GB.\n"
    "Border: neighbours outside the picture are those on its edge (clamp to edge).\n"
    "The filter runs serially in scalar code and on a team, and the results are compared bit for\n"
    "bit. Exit status: 0 done, 1 the comparison failed, 2 bad arguments or input.";

struct filter_options {
  common_options common;
  std::string input;
  std::string kernel = "blur";
  std::optional<double> scale;
  double bias = 0;
  simd mode = has_simd() ? simd::on : simd::off;
};

struct measurement {
  image picture;
  bool is_checked = false;
  std::array<double, 3> seconds{};  // serial scalar, serial in the mode of the team, team
};

/// Whether a picture of this kind can be written to the file that --output names; found out before
/// the work is done. Throws input_error.
void check_output(const image& picture, const std::string& path) {
  if (path.empty()) return;
  const std::string ending = std::filesystem::path(path).extension().string();
  if (ending != ".pgm" && ending != ".ppm") {
    throw input_error(fmt::format("--output: {} does not end in .pgm or .ppm", in_quotes(path)));
  }
  const std::string_view needed = picture.channels == 1 ? ".pgm" : ".ppm";
  if (ending != needed) {
    throw input_error(
        fmt::format("--output: this picture fits into {}, not into {}", needed, ending));
  }
}

image read_picture(const std::string& path) {
  // Enough for most_samples in the longest text.
  return parse_netpbm(read_file(path, std::uint64_t{1} << 30), path);
}

measurement measure(const image& source, const kernel5x5& kernel, const filter_options& options) {
  lockstep::team team(options.common.members, options.common.policy);
  convolution scalar(source, kernel, simd::off);
  convolution serial(source, kernel, options.mode);
  convolution shared(source, kernel, options.mode);
  measurement result;
  result.is_checked = true;
  const auto check = [&] {
    result.picture = shared.result();
    result.is_checked = result.is_checked && result.picture.samples == scalar.result().samples &&
                        serial.result().samples == scalar.result().samples;
    // Otherwise a row that a later round leaves out would still hold its result of this round, and pass.
    for (convolution* const filter : {&scalar, &serial, &shared}) filter->clear();
  };
  result.seconds =
      median_seconds<3>(options.common.repeat,
                        {[&] { filter_serially(scalar); }, [&] { filter_serially(serial); },
                         [&] { filter_on_team(shared, team); }},
                        check);
  return result;
}

std::string_view name_of(simd mode) { return mode == simd::on ? "on" : "off"; }

void describe(const measurement& result, const filter_options& options,
              nlohmann::ordered_json& record) {
  const auto [scalar, serial, shared] = result.seconds;
  const std::string_view mode = name_of(options.mode);
  fmt::print("time: serial scalar {:.3f} ms, serial simd {} {:.3f} ms, {} members {:.3f} ms\n",
             scalar * 1e3, mode, serial * 1e3, options.common.members, shared * 1e3);
  fmt::print("speed-up: {:.2f} by the team, {:.2f} altogether\n", serial / shared, scalar / shared);
  record["simd"] = mode;
  record["serial_scalar_seconds"] = scalar;
  record["serial_seconds"] = serial;
  record["team_seconds"] = shared;
  record["speed_up"] = serial / shared;
}

exit_status run(const filter_options& options) {
  const kernel5x5 kernel = parse_kernel(options.kernel, options.scale, options.bias);
  run_outputs outputs(options.common);
  const image source = read_picture(options.input);
  check_output(source, options.common.output);
  nlohmann::ordered_json record = begin_record("filter5x5", options.common);
  record["input"] = options.input;
  record["width"] = source.width;
  record["height"] = source.height;
  record["channels"] = source.channels;
  record["max_value"] = source.max_value;
  record["kernel"] = options.kernel;
  record["border"] = "clamp";
  fmt::print("picture: {}, {} x {}, {}, maxval {}\n", one_line(options.input), source.width,
             source.height, source.channels == 1 ? "grey" : "colour", source.max_value);
  fmt::print("kernel: {}, border: clamp to edge\n", one_line(options.kernel));
  const measurement result = measure(source, kernel, options);
  describe(result, options, record);
  const exit_status status = report_check(result.is_checked, record);
  outputs.publish(status, to_netpbm(result.picture), record);
  return status;
}

simd simd_argument(const std::string& text) {
  if (text != "on" && text != "off") {
    throw input_error(fmt::format("--simd: {} is neither on nor off", in_quotes(text)));
  }
  if (text == "on" && !has_simd()) {
    throw input_error("--simd: this compiler has no vectors that the program knows");
  }
  return text == "on" ? simd::on : simd::off;
}

}  // namespace
}  // namespace examples

int main(int argc, char** argv) {
  examples::filter_options options;
  std::string mode(examples::name_of(options.mode));
  const auto add_options = [&](CLI::App& app) {
    examples::add_needed_file(app, "--input", options.input, "the picture");
    examples::add_name(app, "--kernel", options.kernel,
                       "blur, sharpen, edge or 25 numbers parted by commas");
    examples::add_real(app, "--scale", options.scale, "that of the named kernel",
                       "factor of the sum; 1 for numbers");
    examples::add_real(app, "--bias", options.bias,
                       "added to the scaled sum, in units of a sample");
    examples::add_name(app, "--simd", mode, "vectors in the inner loop: on or off");
    examples::add_common_options(app, options.common, "write the picture, .pgm or .ppm");
  };
  return examples::run_program(examples::about, argc, argv, add_options, [&] {
    options.mode = examples::simd_argument(mode);
    return examples::run(options);
  });
}
