// SPDX-License-Identifier: MIT
// examples/support/files.hpp -- whole files in; all or nothing out
#pragma once

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>

namespace examples {

/// The bytes of a regular file; throws input_error, also if there are more than `most`: a sparse file may have
/// any size.
[[nodiscard]] std::string read_file(const std::string& path,
                                    std::uint64_t most = std::uint64_t{8} << 30);

/// A file that appears under its name complete or not at all: the bytes go to a temporary file
/// beside it, which commit_all() renames and the destructor otherwise removes.
/// With an empty path (option not given) every call does nothing.
class output_file {
 public:
  /// Creates the temporary file, so that a path which cannot be written is reported before the
  /// work and not after it. Throws input_error.
  explicit output_file(const std::string& path);
  ~output_file();
  output_file(const output_file&) = delete;
  output_file& operator=(const output_file&) = delete;

  [[nodiscard]] const std::filesystem::path& target() const { return target_; }

  /// Replaces the content. Throws input_error.
  void write(std::string_view bytes);

  /// Gives all files their names; if one of them fails, none stays. Throws input_error.
  friend void commit_all(std::initializer_list<output_file*> files);

 private:
  void commit();
  void remove_quietly(const std::filesystem::path& path) noexcept;

  std::filesystem::path target_;
  std::filesystem::path temporary_;
};

void commit_all(std::initializer_list<output_file*> files);

}  // namespace examples
