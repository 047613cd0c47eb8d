// SPDX-License-Identifier: MIT
#include "tool/files.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "examples/support/error.hpp"
#include "examples/support/files.hpp"
#include "tool/commands.hpp"
#include "tool/text.hpp"
#include "tool/trace_reader.hpp"

namespace tool {
namespace {

trace read_from(const std::string& path) {
  std::error_code failure;
  const std::filesystem::file_status status = std::filesystem::status(path, failure);
  const bool is_other =
      std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
  std::ifstream file;
  if (!is_other) file.open(path, std::ios::binary);
  if (file.is_open()) return read_trace(file, path);
  const std::string why =
      is_other ? "is not a regular file" : "cannot read: " + std::generic_category().message(errno);
  throw bad_trace(fmt::format(
      "{}: {}. Give the file that a program has written with LOCKSTEP_TRACE=FILE.", path, why));
}

/// Makes writing too large a file an error with a message; otherwise a signal would end the program.
void take_no_signal_for_large_files() {
#if defined(SIGXFSZ)
  std::signal(SIGXFSZ, SIG_IGN);
#endif
}

}  // namespace

trace read_trace_file(const std::string& path) {
  take_no_signal_for_large_files();  // for the files that follow: the page, the tables
  const trace read = read_from(path);
  if (read.dropped > 0) {
    fmt::print(stderr, "{}: {} lost, because the rings of the recorder were full.\n", path,
               counted(read.dropped, "record"));
  }
  if (read.ignored > 0) {
    fmt::print(stderr, "{}: events of kinds that lockstep does not write are left out: {}.\n", path,
               read.ignored);
  }
  if (read.crossing > 0) {
    fmt::print(stderr,
               "{}: slices that end after the slice that they begin in count to its end: {}.\n",
               path, read.crossing);
  }
  return read;
}

void write_file(const std::string& path, std::string_view text) {
  try {
    examples::output_file file(path);
    file.write(text);
    examples::commit_all({&file});
  } catch (const examples::input_error& failure) {
    throw system_failure(failure.what());
  }
}

}  // namespace tool
