// SPDX-License-Identifier: MIT
// examples/tests/program_runner.hpp -- runs the example programs as a user does
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace examples::testing {

struct program_run {
  int status = -1;  // -1 if it was ended by a signal
  std::string out;
  std::string err;
};

/// A directory that disappears with this object.
class scratch_directory {
 public:
  scratch_directory();
  ~scratch_directory();
  scratch_directory(const scratch_directory&) = delete;
  scratch_directory& operator=(const scratch_directory&) = delete;

  [[nodiscard]] std::string path(const std::string& name) const { return (path_ / name).string(); }
  /// The names of what is in it, sorted.
  [[nodiscard]] std::vector<std::string> names() const;

 private:
  std::filesystem::path path_;
};

/// Requires: `program` is the path of an executable. Its output goes through files in `scratch`
/// while it runs; they are gone afterwards.
[[nodiscard]] program_run run(const std::string& program, const std::vector<std::string>& arguments,
                              const scratch_directory& scratch);

/// Whether the extended regular expression fits a part of the text, as grep -E has it: std::regex takes 3 s to compile.
[[nodiscard]] bool matches(const std::string& text, const std::string& expression);

/// What the JSON in `text` has at the pointer, as "/runs/0/name", written as JSON; "" where it has nothing there.
/// Compared as texts: each type that is compared with nlohmann's takes a second to compile.
[[nodiscard]] std::string json_at(const std::string& text, const std::string& pointer);

/// A file that scripts/make/example_data.py makes, as a path and as its bytes.
[[nodiscard]] std::string data_path(const std::string& name);
[[nodiscard]] std::string data(const std::string& name);

}  // namespace examples::testing
