// SPDX-License-Identifier: MIT
// Bad input: status 2, one line on stderr that says where, nothing on stdout, and no file is left.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "program_runner.hpp"
#include "support/files.hpp"

namespace examples::testing {
namespace {

using words = std::vector<std::string>;

struct malformed_file {
  const char* name;     // in data/malformed
  const char* message;  // regular expression for what follows the name
};

const malformed_file malformed_matrices[] = {
    {"array_absurd.mtx", ":2: .*4000000000000000000 entries cannot stand in the 2 bytes"},
    {"array_trailing.mtx", ":4: text after the last entry"},
    {"array_truncated.mtx", ":5: the text ends after 3 of 4 entries"},
    {"array_two_values.mtx", ":4: '-1.0' is one word too many"},
    {"banner_short.mtx", ":1: field '' is not supported"},
    {"banner_wrong.mtx", ":1: .*does not begin with %%MatrixMarket"},
    {"diagonal_missing.mtx", ":2: the diagonal entry of row 2 is missing"},
    {"diagonal_negative.mtx", ":5: the diagonal entry of row 2 is negative"},
    {"diagonal_zero.mtx", ":5: the diagonal entry of row 2 is zero"},
    {"duplicate.mtx", ":4: entry \\(1, 1\\) was given on line 3 already"},
    {"empty.mtx", ":1: .*does not begin with %%MatrixMarket"},
    {"entries_absurd.mtx", ":2: .*1000000000000 entries cannot stand in the 6 bytes"},
    {"entries_negative.mtx", ":2: number of entries -3 is not in the range 0 to 3"},
    {"entries_too_many.mtx", ":2: number of entries 4 is not in the range 0 to 3"},
    {"field_complex.mtx", ":1: field 'complex' is not supported, only real or integer"},
    {"field_pattern.mtx", ":1: field 'pattern' is not supported, only real or integer"},
    {"index_above_diagonal.mtx", ":4: entry \\(1, 2\\) is above the diagonal"},
    {"index_outside.mtx", ":4: row 3 is not in the range 1 to 2"},
    {"index_zero.mtx", ":4: column 0 is not in the range 1 to 2"},
    {"integer_fraction.mtx", ":4: value '-0.5' is not a number of the expected kind"},
    {"not_dominant.mtx", ":3: .*not diagonally dominant: .*row 1 is 2, .* add up to 3"},
    {"not_square.mtx", ":2: the matrix is not square: 2 x 3"},
    {"not_symmetric.mtx", ":4: the matrix is not symmetric: entry \\(2, 1\\) is -1"},
    {"object_vector.mtx", ":1: object 'vector' is not supported"},
    {"rows_absurd.mtx", ":2: 3 entries for 2000000000 rows"},
    {"singular.mtx", ":4: row 2 is connected with no strictly"},
    {"size_missing.mtx", ":2: the text ends before the size line"},
    {"size_negative.mtx", ":2: number of rows -2 is not in the range"},
    {"size_not_whole.mtx", ":2: number of rows '2.5' is not a number of the expected kind"},
    {"size_overflow.mtx", ":2: number of rows '9{20}' is out of range"},
    {"size_word_missing.mtx", ":2: number of entries is missing"},
    {"size_zero.mtx", ":2: number of rows 0 is not in the range"},
    {"symmetric_not_square.mtx", ":2: a symmetric matrix cannot be 2 x 3"},
    {"symmetry_skew.mtx", ":1: symmetry 'skew-symmetric' is not supported"},
    {"trailing_text.mtx", ":6: text after the last entry"},
    {"truncated.mtx", ":4: the text ends after 2 of 3 entries"},
    {"truncated_line.mtx", ":5: value is missing"},
    {"value_bad.mtx", ":4: value '-1,5' is not a number"},
    {"value_hex.mtx", ":4: value '0x1p0' is not a number"},
    {"value_inf.mtx", ":4: value '-inf' is not finite"},
    {"value_nan.mtx", ":4: value 'nan' is not finite"},
    {"value_overflow.mtx", ":4: value '1e999' is out of range"},
    {"word_too_many.mtx", ":4: '0' is one word too many"},
};

const malformed_file malformed_right_sides[] = {
    {"rhs_coordinate.mtx", ":2: .*array of 12 x 1, not a coordinate matrix"},
    {"rhs_nan.mtx", ":9: value 'NaN' is not finite"},
    {"rhs_too_short.mtx", ":2: .*array of 12 x 1, not an array of 11 x 1"},
    {"rhs_truncated.mtx", ":13: the text ends after 11 of 12 entries"},
    {"rhs_two_columns.mtx", ":2: .*array of 12 x 1, not an array of 6 x 2"},
};

const malformed_file malformed_pictures[] = {
    {"empty.pgm", ":1: the file begins with ''"},
    {"header_truncated.pgm", ":3: the text ends where maxval should be"},
    {"height_zero.pgm", ":2: height 0 is not in the range"},
    {"magic_bitmap.pgm", ":1: the file begins with 'P1'"},
    {"magic_wrong.pgm", ":1: the file begins with 'Q2'"},
    {"maxval_too_large.pgm", ":3: maxval 65536 is not in the range 1 to 65535"},
    {"maxval_zero.pgm", ":3: maxval 0 is not in the range"},
    {"sample_above_maxval.pgm", ":5: sample 256 is not in the range 0 to 255"},
    {"sample_above_maxval_binary.pgm", ": byte 15: sample 101 is not in the range 0 to 100"},
    {"sample_nan.pgm", ":5: sample 'nan' is not a number"},
    {"sample_negative.pgm", ":5: sample -5 is not in the range"},
    {"size_absurd.pgm", ":3: .*4000000000000000000 samples cannot stand in the 12 bytes"},
    {"size_absurd_binary.ppm", ": byte 32: truncated: 12000000000000000000 samples"},
    {"trailing_binary.pgm", ": byte 17: data after the last sample"},
    {"trailing_plain.pgm", ":6: text after the last sample: '7'"},
    {"truncated_binary.pgm", ": byte 15: truncated: 6 samples"},
    {"truncated_header_binary.pgm", ":3: no white space after maxval"},
    {"truncated_plain.pgm", ":6: the text ends where sample should be"},
    {"width_negative.pgm", ":2: width -3 is not in the range"},
    {"width_overflow.pgm", ":2: width '9{20}' is out of range"},
};

const malformed_file malformed_sounds[] = {
    {"bits_eight.wav", ": byte 34: samples of 8 bit are not supported, only 16"},
    {"channels_none.wav", ": byte 22: 0 channels are not supported"},
    {"channels_three.wav", ": byte 22: 3 channels are not supported, only one or two"},
    {"chunk_header_truncated.wav", ": byte 36: truncated: the file ends in the header of a chunk"},
    {"chunk_too_long.wav", ": byte 40: truncated: chunk 'data' announces 2147483647 bytes, 6 are"},
    {"data_empty.wav", ": byte 44: the sound is empty"},
    {"data_missing.wav", ": byte 36: the file has no sound"},
    {"data_odd.wav", ": byte 44: 5 bytes are no whole number of frames of 2"},
    {"data_twice.wav", ": byte 58: more data"},
    {"empty.wav", ": byte 0: the file does not begin with RIFF"},
    {"format_missing.wav", ": byte 20: data before the format"},
    {"format_short.wav", ": byte 20: a format takes 16 bytes, not 14"},
    {"format_twice.wav", ": byte 44: a second format"},
    {"frame_wrong.wav", ": byte 32: 4 bytes a frame, must be 2"},
    {"header_truncated.wav", ": byte 10: truncated: the file ends in its header"},
    {"kind_float.wav", ": byte 20: sound of kind 3 is not supported, only PCM"},
    {"not_a_wave.wav", ": byte 8: the file holds no WAVE"},
    {"rate_absurd.wav",
     ": byte 24: 1000000000 frames a second are not in the range 8000 to 192000"},
    {"second_wrong.wav", ": byte 28: 48000 bytes a second, must be 96000"},
    {"trailing.wav", ": byte 50: data after the announced end"},
    {"truncated.wav", ": byte 4: truncated: 50 bytes announced, but the file has 47"},
};

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

std::string malformed_path(const malformed_file& file) {
  return data_path(std::string("malformed/") + file.name);
}
std::string full_message(const malformed_file& file) {
  return std::string("^error: .*") + file.name + file.message;
}

TEST(malformed, a_matrix_is_refused_with_its_line) {
  for (const malformed_file& file : malformed_matrices) {
    expect_refusal(JACOBI_PROGRAM, {"--matrix", malformed_path(file)}, "mtx", full_message(file));
  }
}

TEST(malformed, a_right_hand_side_is_refused_with_its_line) {
  for (const malformed_file& file : malformed_right_sides) {
    expect_refusal(JACOBI_PROGRAM,
                   {"--matrix", data_path("dense_12.mtx"), "--rhs", malformed_path(file)}, "mtx",
                   full_message(file));
  }
}

TEST(malformed, a_picture_is_refused_with_its_line_or_offset) {
  for (const malformed_file& file : malformed_pictures) {
    expect_refusal(FILTER_PROGRAM, {"--input", malformed_path(file)}, "pgm", full_message(file));
  }
}

TEST(malformed, a_sound_is_refused_with_its_offset) {
  for (const malformed_file& file : malformed_sounds) {
    expect_refusal(AUDIO_PROGRAM, {"--input", malformed_path(file)}, "wav", full_message(file));
  }
}

TEST(malformed, every_shipped_file_is_in_a_table) {
  std::set<std::string> listed;
  for (const malformed_file& file : malformed_matrices) listed.insert(file.name);
  for (const malformed_file& file : malformed_right_sides) listed.insert(file.name);
  for (const malformed_file& file : malformed_pictures) listed.insert(file.name);
  for (const malformed_file& file : malformed_sounds) listed.insert(file.name);
  std::set<std::string> shipped;
  for (const auto& entry : std::filesystem::directory_iterator(data_path("malformed"))) {
    shipped.insert(entry.path().filename().string());
  }
  EXPECT_EQ(listed, shipped);
}

TEST(malformed, a_bad_argument_of_jacobi_is_refused_by_its_name) {
  const std::string matrix = data_path("dense_12.mtx");
  const std::vector<std::pair<words, std::string>> cases = {
      {{}, "--matrix is required"},
      {{"--matrix", data_path("absent.mtx")}, "absent.mtx: cannot read: No such file"},
      {{"--matrix", data_path("malformed")}, "malformed: is not a regular file"},
      {{"--matrix", matrix, "--rhs", "absent"}, "absent: cannot read: No such file"},
      {{"--matrix", matrix, "--members", "0"}, "--members: '0' is not in the range 1 to"},
      {{"--matrix", matrix, "--members", "-1"}, "--members: '-1' is not a number"},
      {{"--matrix", matrix, "--members", "2x"}, "--members: '2x' is not a number"},
      {{"--matrix", matrix, "--members", "99999999999"}, "--members: '9{11}' is out of range"},
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
      {{"--input", picture, "--kernel", numbers + ","}, "--kernel: '' is not a number"},
      {{"--input", picture, "--kernel", numbers + ",x"}, "--kernel: 'x' is not a number"},
      {{"--input", picture, "--kernel", numbers + ",nan"}, "--kernel: 'nan' is not finite"},
      {{"--input", picture, "--kernel", numbers + ",1e99"}, "--kernel: '1e99' is out of range"},
      {{"--input", picture, "--kernel", numbers + ",1e38"}, "the numbers are too large"},
      {{"--input", picture, "--scale", "1e300"}, "the numbers are too large"},
      {{"--input", picture, "--bias", "inf"}, "--bias: 'inf' is not finite"},
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
      {{"--input", sound, "--budget", "nan"}, "--budget: 'nan' is not finite"},
      {{"--input", sound, "--graph", "absent/g.dot"}, "absent/g.dot: cannot write: No such file"},
      {{"--input", sound, "--plan", "absent/p.dot"}, "absent/p.dot: cannot write: No such file"},
      {{"--input", sound, "--members", "0"}, "--members: '0' is not in the range 1 to"},
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
      {{"--input", data_path("malformed/sample_nan.pgm")}, "sample 'nan' is not a number"},
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
  EXPECT_EQ(solve("malformed/value_nan.mtx").status, 2);
  EXPECT_EQ(read_file(output), before);
  EXPECT_EQ(scratch.names(), words{"x.mtx"});
}

}  // namespace
}  // namespace examples::testing
