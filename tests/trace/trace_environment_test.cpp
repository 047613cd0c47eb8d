// SPDX-License-Identifier: MIT
// tests/trace/trace_environment_test.cpp -- LOCKSTEP_TRACE, TRACE-4, and what is left of it all while nobody watches
//
// The program starts itself anew, with a word that says what to do: what a process does once, it does once.
#include <lockstep/team.hpp>
#include <lockstep/trace.hpp>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

#include "trace/traced.hpp"

namespace {

using lockstep::member;
using lockstep::team;
using lockstep::test::scratch_file;
using lockstep::test::seen_event;
using lockstep::test::seen_trace;

void run_regions(team& on) {
  for (int i = 0; i < 10; ++i) on.run([](member& me) { me.sync_threads(); });
}

/// Runs when everything else has ended.
struct late_user {
  ~late_user() {
    LOCKSTEP_REGION("late");
    lockstep::trace_mark("late");
    lockstep::detail::note_wake(this);
  }
};

int child_of(const std::string& task) {
  static const late_user later;
  if (task == "regions") {
    team workers(2);
    run_regions(workers);
    std::thread([] { lockstep::trace_mark("of a thread that ended"); }).join();
  } else if (task == "static") {
    static team workers(2);
    run_regions(workers);
  } else if (task == "default team") {
    team& workers = *new team(2);  // its threads are there until the end
    run_regions(workers);
  } else if (task == "fork") {
    team workers(2);
    run_regions(workers);
    const pid_t child = fork();
    if (child == 0) {
      if (lockstep::is_tracing()) return 3;
      run_regions(workers);
      const bool starts = lockstep::start_trace();
      run_regions(workers);
      return starts && lockstep::stop_trace("/dev/null") ? 0 : 4;  // with all that happens at exit
    }
    int status = 0;
    waitpid(child, &status, 0);
    run_regions(workers);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 5;
  } else if (task == "stopped by the program") {
    team workers(2);
    run_regions(workers);
    if (!lockstep::stop_trace()) return 6;
    run_regions(workers);
  } else if (task == "off") {
    team workers(2);
    run_regions(workers);
    LOCKSTEP_REGION("nobody sees it");
    lockstep::trace_mark("nor this");
    return lockstep::detail::thread_logs::first() == nullptr && !lockstep::is_tracing() ? 0 : 7;
  } else {
    return 2;
  }
  return 0;
}

struct outcome {
  int status;
  std::string said;
};
outcome run(const std::string& task, const std::string& variable) {
  const scratch_file errors("stderr");
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  const std::string set =
      variable.empty() ? "-u LOCKSTEP_TRACE" : "LOCKSTEP_TRACE='" + variable + "'";
  const std::string command =
      "env " + set + " '" + self + "' --child '" + task + "' 2> '" + errors.path() + "'";
  const int status = std::system(command.c_str());
  std::stringstream text;
  text << std::ifstream(errors.path()).rdbuf();
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text.str()};
}

TEST(trace_environment, a_file_is_written_when_the_program_ends_whatever_is_left_of_it) {
  for (const char* const task : {"regions", "static", "default team", "fork"}) {
    SCOPED_TRACE(task);
    const scratch_file to;
    const outcome ended = run(task, to.path());
    EXPECT_EQ(ended.status, 0);
    EXPECT_EQ(ended.said, "");
    const seen_trace seen(to.read());
    EXPECT_EQ(seen.of("region").size(), std::string(task) == "fork" ? 20u : 10u);
    if (std::string(task) == "regions") {
      EXPECT_EQ(seen.named("of a thread that ended").size(), 1u);
    }
  }
}

TEST(trace_environment, the_number_of_the_process_may_be_in_the_name) {
  const std::filesystem::path directory =
      std::filesystem::path(::testing::TempDir()) / ("lockstep_traces_" + std::to_string(getpid()));
  std::filesystem::create_directory(directory);
  EXPECT_EQ(run("regions", (directory / "of_%p.json").string()).status, 0);
  std::size_t files = 0;
  for (const auto& each : std::filesystem::directory_iterator(directory)) {
    ++files;
    EXPECT_EQ(each.path().string().find('%'), std::string::npos);
    std::ifstream from(each.path());
    const seen_trace seen(nlohmann::json::parse(from));
  }
  EXPECT_EQ(files, 1u);
  std::filesystem::remove_all(directory);
}

TEST(trace_environment, a_file_that_cannot_be_made_is_told_by_its_name_and_ignored) {
  const outcome ended = run("regions", "/no such directory/trace.json");
  EXPECT_EQ(ended.status, 0);
  EXPECT_NE(ended.said.find("LOCKSTEP_TRACE='/no such directory/trace.json' is ignored"),
            std::string::npos)
      << ended.said;
  EXPECT_EQ(ended.said.find('\n'), ended.said.size() - 1) << "told once: " << ended.said;
}

TEST(trace_environment, what_the_program_stops_is_written_then_and_not_again_at_its_end) {
  const scratch_file to;
  EXPECT_EQ(run("stopped by the program", to.path()).status, 0);
  const seen_trace seen(to.read());
  EXPECT_EQ(seen.of("region").size(), 10u);
}

TEST(trace_environment, nothing_is_known_of_any_thread_while_nobody_watches) {
  EXPECT_EQ(run("off", "").status, 0);
}

}  // namespace

int main(int count, char** words) {
  if (count == 3 && std::string(words[1]) == "--child") return child_of(words[2]);
  ::testing::InitGoogleTest(&count, words);
  return RUN_ALL_TESTS();
}
