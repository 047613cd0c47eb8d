// SPDX-License-Identifier: MIT
// tests/trace/trace_environment_test.cpp -- LOCKSTEP_TRACE, TRACE-4, and what is known of threads while nobody watches
//
// Each test starts this program anew, with an argument that says what to do, because a process reads its environment
// once.
#include <lockstep/team.hpp>
#include <lockstep/trace.hpp>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

#include "fault/child_process.hpp"
#include "trace/thread_log.hpp"
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
    LOCKSTEP_TRACE_SCOPE("late");
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
  } else if (task == "many marks") {
    team workers(2);
    for (int i = 0; i < 3000; ++i) lockstep::trace_mark("one");
  } else if (task == "goes elsewhere") {
    team workers(2);
    run_regions(workers);
    return chdir("/") == 0 ? 0 : 8;
  } else if (task == "is killed") {
    team workers(2);
    run_regions(workers);
    _exit(0);
  } else if (task == "off") {
    team workers(2);
    run_regions(workers);
    LOCKSTEP_TRACE_SCOPE("nobody sees it");
    lockstep::trace_mark("nor this");
    return lockstep::detail::thread_log::first() == nullptr && !lockstep::is_tracing() ? 0 : 7;
  } else {
    return 2;
  }
  return 0;
}

struct outcome {
  int status;
  std::string said;
};
std::string content_of(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// `words`: what the shell is to say before the program. The variables are of `env`.
outcome run_with(const std::string& task, const std::string& variables,
                 const std::string& words = "",
                 std::string program = std::filesystem::read_symlink("/proc/self/exe")) {
  const scratch_file errors("stderr");
  const std::string command = words + "env " + variables + " '" + program + "' --child '" + task +
                              "' 2> '" + errors.path() + "'";
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, content_of(errors.path())};
}
outcome run(const std::string& task, const std::string& variable, const std::string& words = "") {
  return run_with(
      task, variable.empty() ? "-u LOCKSTEP_TRACE" : "LOCKSTEP_TRACE='" + variable + "'", words);
}

/// A directory that is gone with this object, and all that is in it.
class scratch_directory {
 public:
  explicit scratch_directory(mode_t mode = 0755)
      : path_(std::filesystem::path(::testing::TempDir()) /
              ("lockstep_files_" + std::to_string(getpid()))) {
    std::filesystem::create_directory(path_);
    chmod(path_.c_str(), mode);
  }
  ~scratch_directory() { std::filesystem::remove_all(path_); }
  std::string of(const std::string& name) const { return (path_ / name).string(); }
  std::size_t files() const {
    std::size_t count = 0;
    for (const auto& each : std::filesystem::directory_iterator(path_)) count += each.exists();
    return count;
  }

 private:
  std::filesystem::path path_;
};

constexpr uid_t somebody = 65534;

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

TEST(trace_environment, TRACE_2_the_number_of_records_may_be_behind_the_name) {
  const scratch_file to;
  EXPECT_EQ(run("many marks", std::string(to.path()) + ",records=1k").said, "");
  const seen_trace few(to.read());
  EXPECT_LE(few.events().size(), 1024u);
  EXPECT_GT(few.file().at("otherData").at("dropped").get<std::size_t>(), 1900u);
  EXPECT_EQ(run("many marks", std::string(to.path()) + ",records=4K").said, "");
  EXPECT_EQ(seen_trace(to.read()).file().at("otherData").at("dropped"), 0);
  for (const char* const bad : {"records=", "records=0", "records=1T", "records=2G", "records=1KK",
                                "records=-1", "records=99999999999999999999"}) {
    const std::string value = std::string(to.path()) + "," + bad;
    const outcome ended = run("regions", value);
    EXPECT_NE(ended.said.find("LOCKSTEP_TRACE='"), std::string::npos) << bad << ended.said;
    EXPECT_NE(ended.said.find("is ignored: must be the name of a file, and perhaps ,records="),
              std::string::npos)
        << bad << ended.said;
  }
}

TEST(trace_environment, a_name_is_of_the_directory_in_which_the_program_starts) {
  const scratch_directory here;
  const outcome ended = run_with("goes elsewhere", "LOCKSTEP_TRACE=t.json LOCKSTEP_LEDGER=./l.json",
                                 "cd '" + here.of("") + "' && ");
  EXPECT_EQ(ended.status, 0);
  EXPECT_EQ(ended.said, "");
  const seen_trace seen(nlohmann::json::parse(content_of(here.of("t.json"))));
  EXPECT_EQ(nlohmann::json::parse(content_of(here.of("l.json"))).at("members"), 2);
  EXPECT_EQ(here.files(), 2u);
}

TEST(trace_environment, what_was_there_stays_until_all_is_written) {
  const scratch_directory here;
  const std::string file = here.of("trace.json");
  std::ofstream(file) << "of before";
  EXPECT_EQ(run("is killed", file).status, 0);
  EXPECT_EQ(content_of(file), "of before");
  EXPECT_EQ(here.files(), 1u);
  EXPECT_EQ(run("regions", file).status, 0);
  const seen_trace seen(nlohmann::json::parse(content_of(file)));
  EXPECT_EQ(here.files(), 1u);
}

TEST(trace_environment, a_link_of_the_users_is_followed_and_stays) {
  const scratch_directory here(01777);
  std::filesystem::create_symlink("real.json", here.of("link.json"));
  EXPECT_EQ(run("regions", here.of("link.json")).said, "");
  EXPECT_TRUE(std::filesystem::is_symlink(here.of("link.json")));
  const seen_trace seen(nlohmann::json::parse(content_of(here.of("real.json"))));
}

TEST(trace_environment, what_cannot_be_written_whole_is_told) {
  const outcome ended = run("regions", "/dev/full");
  EXPECT_NE(ended.said.find("the trace cannot be written to '/dev/full'"), std::string::npos)
      << ended.said;
}

TEST(trace_environment, FILE_5_the_limit_of_a_file_is_told_and_ends_no_program) {
  const scratch_directory here;
  const std::string trace = here.of("trace.json"), ledger = here.of("ledger.json");
  std::ofstream(trace) << "of before";
  // Of 512 or 1024 bytes, by the shell: room for the messages, not for the files.
  const outcome ended =
      run_with("regions", "LOCKSTEP_TRACE='" + trace + "' LOCKSTEP_LEDGER='" + ledger + "'",
               "ulimit -f 1; ");
  EXPECT_EQ(ended.status, 0);
  EXPECT_NE(ended.said.find("the trace cannot be written to '" + trace + "': File too large"),
            std::string::npos)
      << ended.said;
  EXPECT_NE(ended.said.find("the ledger cannot be written there: File too large"),
            std::string::npos)
      << ended.said;
  EXPECT_EQ(content_of(trace), "of before");
}

TEST(trace_environment, FILE_4_a_pipe_is_written_to_if_somebody_reads_it_and_nobody_is_waited_for) {
  const scratch_directory here;
  const std::string pipe = here.of("pipe"), link = here.of("link");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  std::filesystem::create_symlink(pipe, link);
  for (const std::string& path : {pipe, link}) {
    const std::string variables = "LOCKSTEP_TRACE='" + path + "' LOCKSTEP_LEDGER='" + path + "'";
    const outcome unread = run_with("regions", variables);
    EXPECT_EQ(unread.status, 0);
    EXPECT_NE(unread.said.find("the trace cannot be written to '" + path + "': No such device"),
              std::string::npos)
        << unread.said;
    EXPECT_NE(unread.said.find("the ledger cannot be written there: No such device"),
              std::string::npos)
        << unread.said;
    const int reader = open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
    ASSERT_GE(reader, 0);
    const outcome read_by_us = run("regions", path);
    EXPECT_EQ(read_by_us.said, "");
    std::string text(1 << 16, ' ');
    const ssize_t length = read(reader, &text[0], text.size());
    close(reader);
    ASSERT_GT(length, 0);
    text.resize(static_cast<std::size_t>(length));
    const seen_trace seen(nlohmann::json::parse(text));
    EXPECT_EQ(seen.of("region").size(), 10u);
  }
}

TEST(trace_environment, a_link_that_another_user_left_in_a_directory_for_all_leads_nowhere) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can make what belongs to others";
  const scratch_directory here(01777);
  const std::string victim = here.of("victim");
  std::ofstream(victim) << "precious";
  std::filesystem::create_symlink(victim, here.of("link.json"));
  std::filesystem::create_symlink("/", here.of("directory"));
  std::ofstream(here.of("of others.json")) << "theirs";
  for (const char* const each : {"link.json", "directory", "of others.json"}) {
    ASSERT_EQ(lchown(here.of(each).c_str(), somebody, somebody), 0);
  }
  for (const std::string& name : {here.of("link.json"), here.of("directory") + victim}) {
    const outcome ended = run("regions", name);
    EXPECT_NE(ended.said.find("LOCKSTEP_TRACE='" + name + "' is ignored: "), std::string::npos)
        << ended.said;
    const outcome ledger = run_with("regions", "LOCKSTEP_LEDGER='" + name + "'");
    EXPECT_NE(ledger.said.find("the ledger cannot be written there"), std::string::npos)
        << ledger.said;
    EXPECT_EQ(content_of(victim), "precious");
  }
  const std::string theirs = here.of("of others.json");
  EXPECT_NE(run_with("regions", "LOCKSTEP_LEDGER='" + theirs + "'").said, "");
  EXPECT_EQ(content_of(theirs), "theirs");
}

TEST(trace_environment,
     a_program_with_more_rights_than_its_caller_takes_nothing_from_the_environment) {
  const scratch_directory here(0777);
  struct statvfs system = {};
  if (geteuid() != 0 || statvfs(here.of("").c_str(), &system) != 0 ||
      (system.f_flag & ST_NOSUID) != 0 ||
      std::system("setpriv --reuid 65534 --regid 65534 --clear-groups true 2> /dev/null") != 0) {
    GTEST_SKIP() << "needs root, setpriv and a file system with set-user-ID programs";
  }
  const std::string program = here.of("program"), file = here.of("made.json");
  std::filesystem::copy_file(std::filesystem::read_symlink("/proc/self/exe"), program);
  ASSERT_EQ(chmod(program.c_str(), 04755), 0);
  const outcome ended =
      run_with("off",
               "LOCKSTEP_TRACE='" + file + "' LOCKSTEP_LEDGER='" + file +
                   "' LOCKSTEP_WATCHDOG=1,signal LOCKSTEP_DELAY=7 LOCKSTEP_NUM_THREADS=3",
               "setpriv --reuid 65534 --regid 65534 --clear-groups ", program);
  EXPECT_EQ(ended.status, 0) << "nobody watches";
  EXPECT_FALSE(std::filesystem::exists(file));
  for (const char* const each : {"TRACE", "LEDGER", "WATCHDOG", "DELAY", "NUM_THREADS"}) {
    EXPECT_NE(ended.said.find(std::string("LOCKSTEP_") + each + "="), std::string::npos) << each;
  }
  EXPECT_NE(ended.said.find("is ignored: the program may do what its caller may not"),
            std::string::npos)
      << ended.said;
  // The same program, started by its owner.
  EXPECT_EQ(run_with("regions", "LOCKSTEP_TRACE='" + file + "'", "", program).said, "");
  EXPECT_TRUE(std::filesystem::exists(file));
}

TEST(trace_environment, nothing_is_known_of_any_thread_while_nobody_watches) {
  EXPECT_EQ(run("off", "").status, 0);
}

TEST(trace_in_child, a_child_does_not_record_also_where_its_thread_was_known_before_the_recorder) {
  lockstep::trace_mark("of a thread that is known from now on");
  ASSERT_TRUE(lockstep::start_trace());
  lockstep::trace_mark("recorded");
  EXPECT_EQ(lockstep::test::in_child([] { return lockstep::is_tracing() ? 1 : 0; }), 0);
  EXPECT_TRUE(lockstep::is_tracing());
  EXPECT_TRUE(lockstep::stop_trace("/dev/null"));
}

}  // namespace

int main(int count, char** words) {
  if (count == 3 && std::string(words[1]) == "--child") return child_of(words[2]);
  ::testing::InitGoogleTest(&count, words);
  return RUN_ALL_TESTS();
}
