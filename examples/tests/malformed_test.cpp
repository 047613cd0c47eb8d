// SPDX-License-Identifier: MIT
// Bad input: status 2, one line on stderr that says where, nothing on stdout, and no file is left. What is no number:
// support_test.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "audio/wave.hpp"
#include "filter5x5/netpbm.hpp"
#include "hostile_input.hpp"
#include "program_runner.hpp"
#include "support/files.hpp"
#include "support/linear_system.hpp"

namespace examples::testing {
namespace {

using words = std::vector<std::string>;

/// What a reader is given, and a regular expression for what its message has behind the name.
struct malformed {
  std::string input;
  const char* message;
};

template <class Parse>
void expect_refused(const std::vector<malformed>& all, const Parse& parse) {
  for (const malformed& each : all) {
    const std::string said = refusal(parse, each.input);
    EXPECT_TRUE(matches(said, std::string("^(.*[^a-z])?input") + each.message))
        << said << " is not " << each.message;
  }
}

const std::string symmetric = "%%MatrixMarket matrix coordinate real symmetric\n",
                  general = "%%MatrixMarket matrix coordinate real general\n",
                  array = "%%MatrixMarket matrix array real general\n";

TEST(malformed, a_matrix_is_refused_with_its_line) {
  expect_refused(
      {
          {symmetric + "% no more\n", ":2: the text ends before the size line"},
          {symmetric + "-2 -2 3\n1 1 2\n", ":2: number of rows -2 is not in the range"},
          {symmetric + "2.5 2 3\n1 1 2\n",
           ":2: number of rows '2.5' is not a number of the expected kind"},
          {symmetric + "2 2\n1 1 2\n", ":2: number of entries is missing"},
          {symmetric + "2000000000 2000000000 1000000000000\n1 1 2\n",
           ":2: .*1000000000000 entries cannot stand in the 6 bytes"},
          {symmetric + "2 2 -3\n1 1 2\n", ":2: number of entries -3 is not in the range 0 to 3"},
          {symmetric + "2 2 4\n1 1 2\n2 1 -1\n2 2 2\n2 2 2\n",
           ":2: number of entries 4 is not in the range 0 to 3"},
          {symmetric + "2000000000 2000000000 3\n1 1 2\n2 1 -1\n2 2 2\n",
           ":2: 3 entries for 2000000000 rows"},
          {symmetric + "2 2 3\n1 1 2.000000\n2 1 -1.000000\n",
           ":4: the text ends after 2 of 3 entries"},
          {symmetric + "2 2 3\n1 1 2\n2 1 -1\n2      2", ":5: value is missing"},
          {symmetric + "2 2 3\n1 1 2\n2 1 -1\n2 2 2\n2 2 2\n", ":6: text after the last entry"},
          {symmetric + "2 2 3\n1 1 2\n2 1 -1 0\n2 2 2\n", ":4: '0' is one word too many"},
          {symmetric + "2 2 3\n1 1 2\n2 1 nan\n2 2 2\n", ":4: value 'nan' is not finite"},
          {symmetric + "2 2 3\n1 1 2\n2 0 -1\n2 2 2\n", ":4: column 0 is not in the range 1 to 2"},
          {symmetric + "2 2 3\n1 1 2\n3 1 -1\n2 2 2\n", ":4: row 3 is not in the range 1 to 2"},
          {symmetric + "2 2 3\n1 1 2\n1 2 -1\n2 2 2\n",
           ":4: entry \\(1, 2\\) is above the diagonal"},
          {symmetric + "2 2 3\n1 1 2\n1 1 2\n2 2 2\n",
           ":4: entry \\(1, 1\\) was given on line 3 already"},
          {symmetric + "3 3 3\n1 1 2\n2 1 -1\n3 3 2\n",
           ":2: the diagonal entry of row 2 is missing"},
          {symmetric + "2 2 3\n1 1 2\n2 1 -1\n2 2 0\n", ":5: the diagonal entry of row 2 is zero"},
          {symmetric + "2 2 3\n1 1 2\n2 1 -1\n2 2 -2\n",
           ":5: the diagonal entry of row 2 is negative"},
          {symmetric + "2 2 3\n1 1 2\n2 1 -3\n2 2 4\n",
           ":3: .*not diagonally dominant: .*row 1 is 2, .* add up to 3"},
          {symmetric + "3 3 4\n1 1 2\n2 2 1\n3 2 -1\n3 3 1\n",
           ":4: row 2 is connected with no strictly"},
          {symmetric + "2 3 3\n1 1 2\n2 1 -1\n2 2 2\n", ":2: a symmetric matrix cannot be 2 x 3"},
          {"%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 2\n2 1 -1\n2 2 2\n",
           ":1: .*does not begin with %%MatrixMarket"},
          {"%%MatrixMarket matrix coordinate\n2 2 3\n1 1 2\n2 1 -1\n2 2 2\n",
           ":1: field '' is not supported"},
          {"%%MatrixMarket vector coordinate real general\n2 2 3\n1 1 2\n2 1 -1\n2 2 2\n",
           ":1: object 'vector' is not supported"},
          {"%%MatrixMarket matrix coordinate complex symmetric\n2 2 3\n1 1 2\n2 1 -1\n2 2 2\n",
           ":1: field 'complex' is not supported, only real or integer"},
          {"%%MatrixMarket matrix coordinate pattern symmetric\n2 2 3\n1 1 2\n2 1 -1\n2 2 2\n",
           ":1: field 'pattern' is not supported, only real or integer"},
          {"%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 3\n1 1 2\n2 1 -1\n2 2 2\n",
           ":1: symmetry 'skew-symmetric' is not supported"},
          {"%%MatrixMarket matrix coordinate integer symmetric\n2 2 3\n1 1 2\n2 1 -0.5\n2 2 2\n",
           ":4: value '-0.5' is not a number of the expected kind"},
          {"", ":1: .*does not begin with %%MatrixMarket"},
          {general + "2 3 2\n1 1 2\n2 2 2\n", ":2: the matrix is not square: 2 x 3"},
          {general + "2 2 3\n1 1 2\n2 1 -1\n2 2 2\n",
           ":4: the matrix is not symmetric: entry \\(2, 1\\) is -1"},
          {array + "2000000000 2000000000\n1\n",
           ":2: .*4000000000000000000 entries cannot stand in the 2 bytes"},
          {array + "2 2\n2.0\n-1.0\n-1.0\n", ":5: the text ends after 3 of 4 entries"},
          {array + "2 2\n2.0\n-1.0 -1.0\n-1.0\n2.0\n", ":4: '-1.0' is one word too many"},
          {array + "1 1\n2\nend\n", ":4: text after the last entry"},
      },
      [](std::string_view bytes, const char* name) {
        return make_linear_system(parse_matrix_market(bytes, name), std::nullopt);
      });
}

TEST(malformed, a_right_hand_side_is_refused_with_its_line) {
  const market_matrix matrix = parse_matrix_market(data("dense_12.mtx"), "matrix");
  expect_refused(
      {
          {array + "11 1\n1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n",
           ":2: .*array of 12 x 1, not an array of 11 x 1"},
          {array + "6 2\n1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n",
           ":2: .*array of 12 x 1, not an array of 6 x 2"},
          {general + "12 1 1\n1 1 1\n", ":2: .*array of 12 x 1, not a coordinate matrix"},
          {array + "12 1\n1\n2\n3\n4\n5\n6\nNaN\n8\n9\n10\n11\n12\n",
           ":9: value 'NaN' is not finite"},
          {array + "12 1\n1.5\n1\n2\n3\n4\n5\n6\n7\n8\n9\n1",
           ":13: the text ends after 11 of 12 entries"},
      },
      [&](std::string_view bytes, const char* name) {
        return make_linear_system(matrix, parse_matrix_market(bytes, name));
      });
}

TEST(malformed, a_picture_is_refused_with_its_line_or_offset) {
  expect_refused(
      {
          {"", ":1: the file begins with ''"},
          {"Q2\n3 2\n255\n1 2 3\n4 5 6\n", ":1: the file begins with 'Q2'"},
          {"P1\n3 2\n255\n1 2 3\n4 5 6\n", ":1: the file begins with 'P1'"},
          {"P2\n3 2\n", ":3: the text ends where maxval should be"},
          {"P2\n-3 2\n255\n1 2 3\n4 5 6\n", ":2: width -3 is not in the range"},
          {"P2\n3 0\n255\n1 2 3\n4 5 6\n", ":2: height 0 is not in the range"},
          {"P2\n2000000000 2000000000\n255\n1 2 3\n4 5 6\n",
           ":3: .*4000000000000000000 samples cannot stand in the 12 bytes"},
          {"P6\n2000000000 2000000000\n255\nabc",
           ": byte 32: truncated: 12000000000000000000 samples"},
          {"P2\n3 2\n0\n1 2 3\n4 5 6\n", ":3: maxval 0 is not in the range"},
          {"P2\n3 2\n65536\n1 2 3\n4 5 6\n", ":3: maxval 65536 is not in the range 1 to 65535"},
          {"P2\n3 2\n255\n100 200 30\n4   5\n", ":6: the text ends where sample should be"},
          {"P5\n3 2\n255\nabcd", ": byte 15: truncated: 6 samples"},
          {"P5\n3 2\n255", ":3: no white space after maxval"},
          {"P2\n3 2\n255\n1 2 3\n4 nan 6\n", ":5: sample 'nan' is not a number"},
          {"P2\n3 2\n255\n1 2 3\n4 5 256\n", ":5: sample 256 is not in the range 0 to 255"},
          {"P5\n3 2\n100\nabcdef", ": byte 15: sample 101 is not in the range 0 to 100"},
          {"P2\n3 2\n255\n1 2 3\n4 5 6\n7\n", ":6: text after the last sample: '7'"},
          {"P5\n3 2\n255\nabcdefg", ": byte 17: data after the last sample"},
      },
      parse_netpbm);
}

std::string number(std::uint32_t value, int bytes) {
  std::string text;
  for (; bytes > 0; --bytes, value >>= 8) text.push_back(static_cast<char>(value));
  return text;
}
std::string chunk(const std::string& name, const std::string& content) {
  return name + number(static_cast<std::uint32_t>(content.size()), 4) + content +
         std::string(content.size() % 2, '\0');
}
std::string riff(const std::string& chunks) { return chunk("RIFF", "WAVE" + chunks); }
std::string format(unsigned kind = 1, unsigned channels = 1, unsigned rate = 48'000,
                   std::optional<unsigned> second = {}, std::optional<unsigned> frame = {},
                   unsigned bits = 16) {
  const unsigned bytes = frame.value_or(2 * channels);
  return number(kind, 2) + number(channels, 2) + number(rate, 4) +
         number(second.value_or(rate * bytes), 4) + number(bytes, 2) + number(bits, 2);
}

TEST(malformed, a_sound_is_refused_with_its_offset) {
  const std::string form = chunk("fmt ", format()), data = chunk("data", "abcdef"),
                    good = riff(form + data);
  ASSERT_EQ(refusal(parse_wave, good), "");
  expect_refused(
      {
          {riff(chunk("fmt ", format().substr(0, 14)) + data),
           ": byte 20: a format takes 16 bytes, not 14"},
          {riff(chunk("fmt ", format(3)) + data),
           ": byte 20: sound of kind 3 is not supported, only PCM"},
          {riff(chunk("fmt ", format(1, 0)) + data), ": byte 22: 0 channels are not supported"},
          {riff(chunk("fmt ", format(1, 3)) + data),
           ": byte 22: 3 channels are not supported, only one or two"},
          {riff(chunk("fmt ", format(1, 1, 1'000'000'000, 0)) + data),
           ": byte 24: 1000000000 frames a second are not in the range 8000 to 192000"},
          {riff(chunk("fmt ", format(1, 1, 48'000, 96'000, 2, 8)) + data),
           ": byte 34: samples of 8 bit are not supported, only 16"},
          {riff(chunk("fmt ", format(1, 1, 48'000, 192'000, 4)) + data),
           ": byte 32: 4 bytes a frame, must be 2"},
          {riff(chunk("fmt ", format(1, 1, 48'000, 48'000)) + data),
           ": byte 28: 48000 bytes a second, must be 96000"},
          {"", ": byte 0: the file does not begin with RIFF"},
          {good.substr(0, 10), ": byte 10: truncated: the file ends in its header"},
          {good.substr(0, good.size() - 3),
           ": byte 4: truncated: 50 bytes announced, but the file has 47"},
          {good + "more", ": byte 50: data after the announced end"},
          {chunk("RIFF", "AVI " + form + data), ": byte 8: the file holds no WAVE"},
          {riff(form + "data\xff\xff\xff\x7f" + "abcdef"),
           ": byte 40: truncated: chunk 'data' announces 2147483647 bytes, 6 are"},
          {riff(form + "data"), ": byte 36: truncated: the file ends in the header of a chunk"},
          {riff(data), ": byte 20: data before the format"},
          {riff(form + form + data), ": byte 44: a second format"},
          {riff(form), ": byte 36: the file has no sound"},
          {riff(form + chunk("data", "")), ": byte 44: the sound is empty"},
          {riff(form + chunk("data", "abcde")),
           ": byte 44: 5 bytes are no whole number of frames of 2"},
          {riff(form + data + data), ": byte 58: more data"},
      },
      parse_wave);
}

/// Runs with --output and --json and expects what the head of this file says.
void expect_refusal(const std::string& program, words arguments, const std::string& ending,
                    const std::string& message) {
  SCOPED_TRACE(message);
  const scratch_directory scratch;
  arguments.insert(arguments.end(), {"--output", scratch.path("out." + ending), "--json",
                                     scratch.path("record.json")});
  const program_run refused = run(program, arguments, scratch);
  EXPECT_EQ(refused.status, 2);
  EXPECT_EQ(refused.out, "");
  EXPECT_EQ(std::count(refused.err.begin(), refused.err.end(), '\n'), 1) << refused.err;
  EXPECT_TRUE(matches(refused.err, message)) << refused.err;
  EXPECT_EQ(scratch.names(), words());
}

TEST(malformed, a_file_is_refused_by_its_name_and_nothing_is_left) {
  const scratch_directory scratch;
  const std::string bad = scratch.path("bad");
  std::ofstream(bad) << "P2\n3 x\n";
  for (const auto& [program, option, ending] :
       {std::tuple{JACOBI_PROGRAM, "--matrix", "mtx"}, std::tuple{FILTER_PROGRAM, "--input", "pgm"},
        std::tuple{AUDIO_PROGRAM, "--input", "wav"},
        std::tuple{INPAINT_PROGRAM, "--input", "pgm"}}) {
    expect_refusal(program, {option, bad}, ending, "^error: .*bad:([0-9]+| byte [0-9]+): .");
  }
  expect_refusal(JACOBI_PROGRAM, {"--matrix", data_path("dense_12.mtx"), "--rhs", bad}, "mtx",
                 "^error: .*bad:1: .");
}

TEST(malformed, a_bad_argument_of_jacobi_is_refused_by_its_name) {
  const std::string matrix = data_path("dense_12.mtx");
  const std::vector<std::pair<words, std::string>> cases = {
      {{}, "--matrix is required"},
      {{"--matrix", data_path("absent.mtx")}, "absent.mtx: cannot read: No such file"},
      {{"--matrix", data_path("")}, "is not a regular file"},
      {{"--matrix", matrix, "--rhs", "absent"}, "absent: cannot read: No such file"},
      {{"--matrix", matrix, "--members", "0"}, "--members: '0' is not in the range 1 to"},
      {{"--matrix", matrix, "--repeat", "0"}, "--repeat: '0' is not in the range 1 to"},
      {{"--matrix", matrix, "--tolerance", "nan"}, "--tolerance: 'nan' is not finite"},
      {{"--matrix", matrix, "--tolerance", "1"}, "--tolerance: has to be at least 0 and below 1"},
      {{"--matrix", matrix, "--tolerance", "-1"}, "--tolerance: has to be at least 0"},
      {{"--matrix", matrix, "--max-iterations", "1.5"}, "--max-iterations: '1.5' is not a number"},
      {{"--matrix", matrix, "--policy", "busy"}, "--policy: 'busy' is none of"},
      {{"--matrix", matrix, "--policy", "hybrid:"}, "--policy: '' is not a number"},
      {{"--matrix", matrix, "--frobnicate"}, "--frobnicate"},
      {{"--matrix", "line\nbreak"}, "line\\?break: cannot read"},
  };
  for (const auto& [arguments, message] : cases) {
    expect_refusal(JACOBI_PROGRAM, arguments, "mtx", "^error: .*" + message);
  }
}

TEST(malformed, a_bad_argument_of_filter5x5_is_refused_by_its_name) {
  const std::string picture = data_path("deep_ramp.pgm");
  std::string numbers = "1";
  for (int i = 0; i < 23; ++i) numbers += ",1";
  const std::vector<std::pair<words, std::string>> cases = {
      {{}, "--input is required"},
      {{"--input", data_path("absent.pgm")}, "absent.pgm: cannot read: No such file"},
      {{"--input", picture, "--kernel", "smudge"}, "--kernel: 'smudge' is none of"},
      {{"--input", picture, "--kernel", ""}, "--kernel"},
      {{"--input", picture, "--kernel", numbers}, "--kernel: .* is none of"},
      {{"--input", picture, "--kernel", numbers + ",1,1"}, "--kernel: .* is none of"},
      {{"--input", picture, "--kernel", numbers + ",nan"}, "--kernel: 'nan' is not finite"},
      {{"--input", picture, "--kernel", numbers + ",1e38"}, "the numbers are too large"},
      {{"--input", picture, "--scale", "1e300"}, "the numbers are too large"},
      {{"--input", picture, "--simd", "maybe"}, "--simd: 'maybe' is neither on nor off"},
  };
  for (const auto& [arguments, message] : cases) {
    expect_refusal(FILTER_PROGRAM, arguments, "pgm", "^error: .*" + message);
  }
}

TEST(malformed, a_bad_argument_of_audio_is_refused_by_its_name) {
  const std::string sound = data_path("plucked.wav");
  const std::vector<std::pair<words, std::string>> cases = {
      {{}, "--input is required"},
      {{"--input", data_path("absent.wav")}, "absent.wav: cannot read: No such file"},
      {{"--input", sound, "--block", "0"}, "--block: '0' is not in the range 1 to 65536"},
      {{"--input", sound, "--combs", "0"}, "--combs: '0' is not in the range 1 to"},
      {{"--input", sound, "--budget", "0"}, "--budget: has to be above 0 and at most 1000"},
      {{"--input", sound, "--graph", "absent/g.dot"}, "absent/g.dot: cannot write: No such file"},
      {{"--input", sound, "--plan", "absent/p.dot"}, "absent/p.dot: cannot write: No such file"},
  };
  for (const auto& [arguments, message] : cases) {
    expect_refusal(AUDIO_PROGRAM, arguments, "wav", "^error: .*" + message);
  }
}

TEST(malformed, a_bad_argument_of_inpaint_is_refused_by_its_name) {
  const std::string picture = data_path("scattered.pgm");
  const std::vector<std::pair<words, std::string>> cases = {
      {{}, "--input is required"},
      {{"--input", data_path("absent.pgm")}, "absent.pgm: cannot read: No such file"},
      {{"--input", data_path("gradient.ppm")}, "the picture is in colour"},
      {{"--input", picture, "--hole", "65536"}, "--hole: '65536' is not in the range 0 to 65535"},
      {{"--input", picture, "--tile", "0"}, "--tile: '0' is not in the range 1 to"},
      {{"--input", picture, "--tile", "2"}, "--tile: 128 x 192 tiles are too many"},
      {{"--input", picture, "--relaxation", "2"}, "--relaxation: has to be above 0 and below 2"},
      {{"--input", picture, "--tolerance", "-1"}, "--tolerance: has to be at least 0"},
      {{"--input", picture, "--max-sweeps", "0"}, "--max-sweeps: '0' is not in the range 1 to"},
  };
  for (const auto& [arguments, message] : cases) {
    expect_refusal(INPAINT_PROGRAM, arguments, "pgm", "^error: .*" + message);
  }
  expect_refusal(INPAINT_PROGRAM, {"--input", picture}, "png", "--output: .*does not end in .pgm");
}

// It takes no room on the disk, and would take all memory.
TEST(malformed, a_sparse_file_of_any_size_is_refused_by_its_size) {
  const scratch_directory scratch;
  const std::string sparse = scratch.path("sparse");
  std::FILE* const file = std::fopen(sparse.c_str(), "wb");
  ASSERT_NE(file, nullptr);
  std::fclose(file);
  std::error_code failure;
  std::filesystem::resize_file(sparse, std::uintmax_t{1} << 40, failure);
  if (failure) GTEST_SKIP() << "no sparse files here: " << failure.message();
  for (const auto& [program, option] :
       {std::pair{JACOBI_PROGRAM, "--matrix"}, std::pair{FILTER_PROGRAM, "--input"},
        std::pair{AUDIO_PROGRAM, "--input"}, std::pair{INPAINT_PROGRAM, "--input"}}) {
    const program_run refused = run(program, {option, sparse}, scratch);
    EXPECT_EQ(refused.status, 2);
    EXPECT_TRUE(matches(refused.err, "sparse: too large: 1099511627776 bytes")) << refused.err;
  }
}

TEST(malformed, a_picture_that_the_output_format_cannot_hold_is_refused) {
  const std::string grey = data_path("rings.pgm");
  const std::string colour = data_path("gradient.ppm");
  expect_refusal(FILTER_PROGRAM, {"--input", grey}, "ppm", "--output: .*into .pgm, not into .ppm");
  expect_refusal(FILTER_PROGRAM, {"--input", colour}, "pgm", "into .ppm, not into .pgm");
  expect_refusal(FILTER_PROGRAM, {"--input", grey}, "jpg", "does not end in .pgm or .ppm");
}

TEST(malformed, an_output_that_cannot_be_written_is_refused_and_the_other_one_is_not_left) {
  const scratch_directory scratch;
  const words arguments = {"--matrix", data_path("dense_12.mtx")};
  const auto refuse = [&](const std::string& output, const std::string& record) {
    words all = arguments;
    all.insert(all.end(), {"--output", output, "--json", record});
    const program_run refused = run(JACOBI_PROGRAM, all, scratch);
    EXPECT_EQ(refused.status, 2);
    EXPECT_EQ(std::count(refused.err.begin(), refused.err.end(), '\n'), 1) << refused.err;
    EXPECT_EQ(scratch.names(), words());
  };
  refuse(scratch.path("absent/x.mtx"), scratch.path("record.json"));
  refuse(scratch.path("x.mtx"), scratch.path("absent/record.json"));
  refuse(scratch.path("same"), scratch.path("same"));
  refuse(scratch.path("x.mtx"), "/dev/null");
}

TEST(malformed, a_standard_output_that_is_full_is_reported) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no device that is always full";
  for (const std::string program :
       {JACOBI_PROGRAM, FILTER_PROGRAM, AUDIO_PROGRAM, INPAINT_PROGRAM}) {
    const std::string command = "'" + program + "' --help >/dev/full 2>/dev/null";
    EXPECT_NE(std::system(command.c_str()), 0) << command;
  }
}

TEST(malformed, a_file_from_an_earlier_run_survives_a_refused_one) {
  const scratch_directory scratch;
  const std::string output = scratch.path("x.mtx");
  const auto solve = [&](const std::string& matrix) {
    return run(JACOBI_PROGRAM, {"--matrix", data_path(matrix), "--output", output}, scratch);
  };
  ASSERT_EQ(solve("dense_12.mtx").status, 0);
  const std::string before = read_file(output);
  EXPECT_EQ(solve("rings.pgm").status, 2);
  EXPECT_EQ(read_file(output), before);
  EXPECT_EQ(scratch.names(), words{"x.mtx"});
}

}  // namespace
}  // namespace examples::testing
