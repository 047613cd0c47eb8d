// SPDX-License-Identifier: MIT
// tests/platform/user_files_test.cpp -- FILE-4, FILE-5; the others in trace/trace_environment_test.cpp
#include "platform/user_files.hpp"

#include <gtest/gtest.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <string>

#include "platform/signals.hpp"
#include "support/small_files.hpp"

namespace {

using lockstep::detail::append_to_file;
using lockstep::detail::calm_writes;
using lockstep::detail::replaced_file;
using lockstep::test::counted_signals;
using lockstep::test::small_files;

class user_files : public ::testing::Test {
 protected:
  user_files()
      : directory_(std::filesystem::path(::testing::TempDir()) /
                   ("lockstep_user_files_" + std::to_string(getpid()))) {
    std::filesystem::create_directory(directory_);
  }
  ~user_files() override { std::filesystem::remove_all(directory_); }
  std::string of(const char* name) const { return (directory_ / name).string(); }

 private:
  const std::filesystem::path directory_;
};

/// What went wrong, or 0.
int error_of_replacing(const std::string& path) {
  const calm_writes calm;
  errno = 0;
  replaced_file to(path.c_str());
  if (to.stream() == nullptr) return errno;
  std::fputs("text", to.stream());
  return to.finish() ? 0 : errno;
}
int error_of_appending(const std::string& path) {
  const calm_writes calm;
  errno = 0;
  return append_to_file(path.c_str(), "text") ? 0 : errno;
}

TEST_F(user_files, FILE_5_a_file_that_may_not_grow_is_an_error_and_the_handler_is_not_called) {
  counted_signals handler(SIGXFSZ);
  int replacing = 0, appending = 0;
  {
    const small_files limit;
    replacing = error_of_replacing(of("replaced"));
    appending = error_of_appending(of("appended"));
  }
  EXPECT_EQ(replacing, EFBIG);
  EXPECT_EQ(appending, EFBIG);
  EXPECT_EQ(handler.count(), 0);
  EXPECT_FALSE(std::filesystem::exists(of("replaced")));
}

TEST_F(user_files, FILE_5_signals_are_as_before_and_those_of_the_program_are_left) {
  counted_signals handler(SIGXFSZ);
  sigset_t one, before;
  sigemptyset(&one);
  sigaddset(&one, SIGXFSZ);
  pthread_sigmask(SIG_BLOCK, &one, &before);
  raise(SIGXFSZ);
  {
    const small_files limit;
    error_of_replacing(of("replaced"));
  }
  EXPECT_EQ(handler.count(), 0);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  EXPECT_EQ(handler.count(), 1) << "the program's own was taken back";
  bool is_refused = false;
  {
    const small_files limit;
    std::FILE* const own = std::fopen(of("own").c_str(), "w");
    std::fputs("text", own);
    is_refused = std::fclose(own) != 0;
  }
  EXPECT_TRUE(is_refused);
  EXPECT_EQ(handler.count(), 2) << "and what it writes itself raises it";
}

TEST_F(user_files, FILE_5_a_pipe_whose_reader_is_gone_is_an_error) {
  counted_signals handler(SIGPIPE);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  close(ends[0]);
  {
    const calm_writes calm;
    EXPECT_EQ(write(ends[1], "x", 1), -1);
    EXPECT_EQ(errno, EPIPE);
  }
  EXPECT_EQ(handler.count(), 0);
  EXPECT_EQ(write(ends[1], "x", 1), -1);
  EXPECT_EQ(handler.count(), 1);
  close(ends[1]);
}

TEST_F(user_files, FILE_4_a_pipe_is_written_to_if_somebody_reads_it) {
  const std::string pipe = of("pipe"), link = of("link");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  std::filesystem::create_symlink(pipe, link);
  for (const std::string& path : {pipe, link}) {
    EXPECT_EQ(error_of_replacing(path), ENXIO);
    EXPECT_EQ(error_of_appending(path), ENXIO);
    const int reader = open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
    ASSERT_GE(reader, 0);
    EXPECT_EQ(error_of_replacing(path), 0);
    EXPECT_EQ(error_of_appending(path), 0);
    char text[9] = {};
    EXPECT_EQ(read(reader, text, 8), 8);
    EXPECT_STREQ(text, "texttext");
    close(reader);
  }
}

}  // namespace
