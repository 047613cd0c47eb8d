// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "program_runner.hpp"
#include "support/error.hpp"
#include "support/files.hpp"
#include "support/number.hpp"
#include "support/timing.hpp"

namespace examples::testing {
namespace {

TEST(number, accepts_what_programs_write) {
  EXPECT_EQ(parse_number<double>("-1.5").value, -1.5);
  EXPECT_EQ(parse_number<double>("+1.5").value, 1.5);
  EXPECT_EQ(parse_number<double>(".5").value, 0.5);
  EXPECT_EQ(parse_number<double>("5.").value, 5);
  EXPECT_EQ(parse_number<double>("1E-3").value, 1e-3);
  EXPECT_EQ(parse_number<double>("-0").fault, number_fault::none);
  EXPECT_EQ(parse_number<std::uint32_t>("4294967295").value, 4294967295u);
  EXPECT_EQ(parse_number<std::int64_t>("+12").value, 12);
}

TEST(number, names_the_fault_of_everything_else) {
  for (const char* text : {"", "+", "-", "+-1", "++1", "-+1", " 1", "1 ", "1,5", "1.5.2", "0x10",
                           "1e", "e5", "1d0", "nano"}) {
    EXPECT_EQ(parse_number<double>(text).fault, number_fault::malformed) << text;
  }
  for (const char* text : {"1.0", "-1", "1e3", ""}) {
    EXPECT_EQ(parse_number<std::uint32_t>(text).fault, number_fault::malformed) << text;
  }
  for (const char* text : {"nan", "-nan", "inf", "-INF", "infinity", "NaN"}) {
    EXPECT_EQ(parse_number<double>(text).fault, number_fault::not_finite) << text;
  }
  EXPECT_EQ(parse_number<double>("1e999").fault, number_fault::out_of_range);
  EXPECT_EQ(parse_number<std::uint32_t>("4294967296").fault, number_fault::out_of_range);
}

TEST(error, stays_on_one_printable_line) {
  const std::string message = error_at_line("a\nb", 3, "c\r\x1b[31md").what();
  EXPECT_EQ(message,
            "a?b:3: c?"
            "?[31md");
  EXPECT_EQ(in_quotes("\xff-\n"), "'?-?'");
  EXPECT_EQ(in_quotes(std::string(100, 'x')), "'" + std::string(40, 'x') + "...'");
}

TEST(output_file, appears_complete_at_commit_and_not_before) {
  const scratch_directory scratch;
  {
    output_file file(scratch.path("out"));
    file.write("first, and longer");
    file.write("second");
    for (const std::string& name : scratch.names()) EXPECT_NE(name, "out");
    commit_all({&file});
    EXPECT_EQ(scratch.names(), std::vector<std::string>{"out"});
  }
  EXPECT_EQ(read_file(scratch.path("out")), "second");
  EXPECT_EQ(read_file(scratch.path("out"), 6), "second");
  EXPECT_THROW(static_cast<void>(read_file(scratch.path("out"), 5)), input_error);
}

TEST(output_file, leaves_nothing_without_commit) {
  const scratch_directory scratch;
  {
    output_file file(scratch.path("out"));
    file.write("bytes");
    EXPECT_EQ(scratch.names().size(), 1u);
  }
  EXPECT_EQ(scratch.names(), std::vector<std::string>());
}

TEST(output_file, is_taken_back_when_another_of_the_same_commit_fails) {
  const scratch_directory scratch;
  std::filesystem::create_directory(scratch.path("sub"));
  output_file first(scratch.path("first"));
  output_file second(scratch.path("sub/second"));
  std::filesystem::remove_all(scratch.path("sub"));
  EXPECT_THROW(commit_all({&first, &second}), input_error);
  EXPECT_EQ(scratch.names(), std::vector<std::string>());
}

TEST(output_file, writes_to_what_a_link_points_to) {
  const scratch_directory scratch;
  output_file real(scratch.path("real"));
  commit_all({&real});
  std::filesystem::create_symlink(scratch.path("real"), scratch.path("link"));
  output_file linked(scratch.path("link"));
  linked.write("through");
  commit_all({&linked});
  EXPECT_TRUE(std::filesystem::is_symlink(scratch.path("link")));
  EXPECT_EQ(read_file(scratch.path("real")), "through");
}

TEST(output_file, without_a_path_does_nothing) {
  output_file none("");
  none.write("bytes");
  commit_all({&none});
  EXPECT_TRUE(none.target().empty());
}

TEST(median, is_the_middle_or_the_mean_of_the_two_in_the_middle) {
  EXPECT_EQ(median({7}), 7);
  EXPECT_EQ(median({9, 1, 5}), 5);
  EXPECT_EQ(median({9, 1, 5, 3}), 4);
}

TEST(median_seconds, runs_every_candidate_once_per_round_in_turn) {
  std::string order;
  const auto seconds =
      median_seconds<2>(3, {[&] { order += 'a'; }, [&] { order += 'b'; }}, [&] { order += ','; });
  EXPECT_EQ(order, "ab,ab,ab,");
  EXPECT_GE(seconds[0], 0);
}

}  // namespace
}  // namespace examples::testing
