// SPDX-License-Identifier: MIT
#include "tool/files.hpp"

#include <fmt/format.h>

#include "examples/support/error.hpp"
#include "examples/support/files.hpp"
#include "tool/commands.hpp"
#include "tool/trace_reader.hpp"

namespace tool {
namespace {

std::string text_of(const std::string& path) {
  try {
    return examples::read_file(path);
  } catch (const examples::input_error& failure) {
    throw bad_trace(fmt::format(
        "{}. Give the file that a program has written with LOCKSTEP_TRACE=FILE.", failure.what()));
  }
}

}  // namespace

trace read_trace_file(const std::string& path) {
  const trace read = read_trace(text_of(path), path);
  if (read.dropped > 0) {
    fmt::print(stderr, "{}: {} records were lost, because the rings of the recorder were full.\n",
               path, read.dropped);
  }
  if (read.ignored > 0) {
    fmt::print(stderr, "{}: {} events of kinds that lockstep does not write are left out.\n", path,
               read.ignored);
  }
  if (read.crossing > 0) {
    fmt::print(stderr,
               "{}: {} slices end after the slice that they begin in; they count to its end.\n",
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
