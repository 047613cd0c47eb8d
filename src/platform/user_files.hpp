// SPDX-License-Identifier: MIT
// src/platform/user_files.hpp -- writes files that the user has named (layer: platform)
//
//   FILE-1  A file that is replaced is whole: what was there stays until all is written, and comes back if that fails. It
//           is written to a new file beside it, which then takes its name. What is no regular file (a device, a pipe) or
//           is behind a link is written in place.
//   FILE-2  No other user chooses which file is written to. In a directory that all may write to (as /tmp), a link
//           counts only if the user or the directory's owner has made it, as Linux has it where it protects links, and
//           a file is added to only if it is the user's and has no other name.
//   FILE-3  Programs that this one starts do not inherit what is open.
//   FILE-4  Opening waits for nobody: a pipe that no program reads is an error (ENXIO), told as any other.
//   FILE-5  What cannot be written is an error, not a signal, while there are calm_writes (signals.hpp).
//
// Systems other than POSIX's have FILE-1 only, and for a moment no file of that name.
#ifndef LOCKSTEP_SRC_PLATFORM_USER_FILES_HPP
#define LOCKSTEP_SRC_PLATFORM_USER_FILES_HPP

#include <cstdio>
#include <string>

#include <lockstep/detail/platform/config.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// A file that is made anew, under a name that may be taken. Where something fails errno says what.
class replaced_file {
 public:
  explicit replaced_file(const char* path);
  /// Without finish() nothing has happened, but that a link may lead to a new file, which is empty.
  ~replaced_file();
  replaced_file(const replaced_file&) = delete;
  replaced_file& operator=(const replaced_file&) = delete;

  /// The stream to write to; null if there is none.
  std::FILE* stream() const noexcept { return stream_; }
  /// Gives the file its name. False if not all could be written.
  bool finish() noexcept;

  /// Whether there is a way now.
  static bool is_possible(const char* path);

 private:
  void give_up() noexcept;

  const std::string path_;
  std::string made_;  ///< empty: written in place
  std::FILE* stream_ = nullptr;
};

/// Adds to a file, which is made if there is none; false, and errno, if that cannot be.
bool append_to_file(const char* path, const std::string& text);

/// A path that names the same file after the process changes its working directory.
std::string absolute_path(const char* path);

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_PLATFORM_USER_FILES_HPP
