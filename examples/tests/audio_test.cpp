// SPDX-License-Identifier: MIT
// The program audio on the shipped sound.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "audio/effects.hpp"
#include "audio/wave.hpp"
#include "program_runner.hpp"
#include "support/files.hpp"

namespace examples::testing {
namespace {

using words = std::vector<std::string>;

program_run play(const scratch_directory& scratch, const words& more) {
  words arguments = {"--input", data_path("plucked.wav")};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run(AUDIO_PROGRAM, arguments, scratch);
}

TEST(audio_program, writes_what_the_effects_make_of_the_sound) {
  const scratch_directory scratch;
  const std::string output = scratch.path("out.wav");
  ASSERT_EQ(play(scratch, {"--members", "2", "--output", output}).status, 0);
  const wave input = parse_wave(data("plucked.wav"), "");
  effects chain(input, {});
  for (std::size_t block = 0; block < chain.blocks(); ++block) chain.process();
  const wave written = parse_wave(read_file(output), output);
  EXPECT_EQ(written.samples, chain.output().samples);
  EXPECT_NE(written.samples, input.samples);
}

// No block can be done in a time that is over when it begins.
TEST(audio_program, reports_every_block_that_is_late) {
  const scratch_directory scratch;
  const std::string record_path = scratch.path("record.json");
  const program_run played = play(scratch, {"--members", "2", "--block", "480", "--budget", "1e-9",
                                            "--repeat", "2", "--json", record_path});
  ASSERT_EQ(played.status, 0) << played.err;
  EXPECT_NE(played.out.find("late 200 of 200\n"), std::string::npos) << played.out;
  EXPECT_NE(played.out.find("  block 0 late by "), std::string::npos) << played.out;
  const std::string record = read_file(record_path);
  EXPECT_EQ(json_at(record, "/blocks"), "100");
  EXPECT_EQ(json_at(record, "/runs/3"), "");
  const words names = {"serial", "1 member", "2 members"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string run = "/runs/" + std::to_string(i);
    EXPECT_EQ(json_at(record, run + "/name"), '"' + names[i] + '"');
    EXPECT_EQ(json_at(record, run + "/late_blocks"), "200");
    const std::string said = json_at(record, run + "/causes");
    int causes = 0;
    for (std::size_t at = said.find(':'); at != std::string::npos; at = said.find(':', at + 1)) {
      causes += std::stoi(said.substr(at + 1));
    }
    EXPECT_EQ(causes, 200) << "each late block has one cause";
  }
}

TEST(audio_program, with_time_to_spare_no_block_is_late) {
  const scratch_directory scratch;
  const std::string record_path = scratch.path("record.json");
  // Blocks of a second and more, and a thousand times as long for each: a hang would be needed.
  const program_run played =
      play(scratch, {"--block", "65536", "--budget", "1000", "--json", record_path});
  ASSERT_EQ(played.status, 0) << played.err;
  const std::string record = read_file(record_path);
  for (const std::string run : {"/runs/0", "/runs/1"}) {
    EXPECT_EQ(json_at(record, run + "/late_blocks"), "0");
  }
}

TEST(audio_program, takes_blocks_at_their_pace) {
  const scratch_directory scratch;
  const std::string record_path = scratch.path("record.json");
  const program_run played = play(scratch, {"--paced", "--block", "4800", "--json", record_path});
  ASSERT_EQ(played.status, 0) << played.err;
  const std::string record = read_file(record_path);
  EXPECT_EQ(json_at(record, "/paced"), "true");
  EXPECT_EQ(json_at(record, "/check"), R"("ok")");
}

TEST(audio_program, draws_its_graph_and_its_plan) {
  const scratch_directory scratch;
  const std::string graph = scratch.path("graph.dot"), plan = scratch.path("plan.dot");
  ASSERT_EQ(play(scratch, {"--members", "2", "--graph", graph, "--plan", plan}).status, 0);
  for (const std::string& path : {graph, plan}) {
    const std::string drawing = read_file(path);
    EXPECT_EQ(drawing.compare(0, 8, "digraph "), 0) << drawing;
    for (const std::string name : {"input", "low", "reverb right", "limiter", "output"}) {
      EXPECT_NE(drawing.find('"' + name), std::string::npos) << name << " in " << drawing;
    }
  }
}

}  // namespace
}  // namespace examples::testing
