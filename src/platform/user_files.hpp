// SPDX-License-Identifier: MIT
// src/platform/user_files.hpp -- writes files that the user has named (layer: platform)
//
//   FILE-1  A file that is replaced is whole: the old one stays until all is written, and also if that fails. The text
//           goes to a new file beside it, which then takes its name. A device, a pipe, or a file behind a link is
//           written in place. So is a file in a directory that the user may not write to.
//   FILE-2  No other user chooses which file is written to. In a directory that all may write to (as /tmp), a link
//           counts only if the user or the directory's owner has made it, as where Linux protects links. A file there
//           is added to only if it is the user's and has no other name.
//   FILE-3  Programs that this one starts do not inherit open files.
//   FILE-4  Opening a file never waits: a pipe that no program reads is an error (ENXIO), as any other.
//   FILE-5  While there is a calm_writes (signals.hpp), a write that fails is an error, not a signal.
//
// Systems other than POSIX have FILE-1 only, and there the name is free for a moment.
#ifndef LOCKSTEP_SRC_PLATFORM_USER_FILES_HPP
#define LOCKSTEP_SRC_PLATFORM_USER_FILES_HPP

#include <cstdio>
#include <string>

#include <lockstep/detail/platform/config.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// A file that is made anew, under a name that may be taken. If a call fails, errno says why.
class replaced_file {
 public:
  explicit replaced_file(const char* path);
  /// Without finish() the file stays as it was, unless it is written in place. A link may lead to a new, empty file.
  ~replaced_file();
  replaced_file(const replaced_file&) = delete;
  replaced_file& operator=(const replaced_file&) = delete;

  /// The stream to write to; null if there is none.
  std::FILE* stream() const noexcept { return stream_; }
  /// Gives the file its name. False if not all could be written.
  bool finish() noexcept;

  /// Whether such a file could be written now.
  static bool is_possible(const char* path);

 private:
  void give_up() noexcept;

  const std::string path_;
  std::string made_;  ///< empty: written in place
  std::FILE* stream_ = nullptr;
};

/// Adds to a file, and makes it if there is none. False if that fails: errno says why.
bool append_to_file(const char* path, const std::string& text);

/// A path that names the same file after the process changes its working directory.
std::string absolute_path(const char* path);

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_PLATFORM_USER_FILES_HPP
