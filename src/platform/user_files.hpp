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
// On systems other than POSIX only FILE-1 holds, and for a moment no file has the name.
#ifndef LOCKSTEP_SRC_PLATFORM_USER_FILES_HPP
#define LOCKSTEP_SRC_PLATFORM_USER_FILES_HPP

#include <errno.h>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <lockstep/detail/platform/config.hpp>
#include "native_system.hpp"
#include "system_texts.hpp"
#if !defined(_WIN32)
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

#if !defined(_WIN32)

using file_status = struct stat;

/// The directory of a path, with the slash at its end.
inline std::string directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "./" : path.substr(0, slash + 1);
}

/// Reads the status of the directory that a path is in. False if all users may write to it, or it cannot be read.
inline bool is_guarded(const std::string& path, file_status& directory) {
  directory = file_status();
  return stat(directory_of(path).c_str(), &directory) == 0 && (directory.st_mode & S_IWOTH) == 0;
}

/// Whether FILE-2 forbids a link on the way: then errno is ELOOP.
inline bool leads_over_planted_link(const std::string& path) {
  std::size_t end = 0;
  do {
    end = path.find('/', end + 1);
    const std::string part = path.substr(0, end);
    file_status link, directory;
    if (lstat(part.c_str(), &link) != 0 || !S_ISLNK(link.st_mode)) continue;
    if (is_guarded(part, directory) || link.st_uid == geteuid() || link.st_uid == directory.st_uid)
      continue;
    errno = ELOOP;
    return true;
  } while (end != std::string::npos);
  return false;
}

/// Opens a file by FILE-3 and FILE-4. Null if that fails: errno says why.
inline std::FILE* open_stream(const char* path, int how, const char* mode) noexcept {
  const int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | how, 0666);
  if (file < 0) return nullptr;
  const int flags = fcntl(file, F_GETFL);
  const bool waits = flags >= 0 && fcntl(file, F_SETFL, flags & ~O_NONBLOCK) == 0;
  std::FILE* const stream = waits ? fdopen(file, mode) : nullptr;
  if (stream != nullptr) return stream;
  const kept_error kept;
  close(file);
  return nullptr;
}

/// Opens a file that is added to, by FILE-2. Null if that fails: errno says why.
inline std::FILE* open_to_append(const char* path) {
  if (leads_over_planted_link(path)) return nullptr;
  file_status found, directory;
  const bool is_link = lstat(path, &found) == 0 && S_ISLNK(found.st_mode);
  std::FILE* const stream = open_stream(path, O_APPEND | (is_link ? 0 : O_NOFOLLOW), "a");
  if (stream == nullptr || is_link || is_guarded(path, directory)) return stream;
  const bool is_known = fstat(fileno(stream), &found) == 0;
  if (is_known && (!S_ISREG(found.st_mode) || (found.st_nlink == 1 && found.st_uid == geteuid())))
    return stream;
  std::fclose(stream);
  errno = EACCES;
  return nullptr;
}

#endif

/// A file that is made anew, under a name that may be taken. If a call fails, errno says why.
class replaced_file {
 public:
#if !defined(_WIN32)
  explicit replaced_file(const char* path) : path_(path) {
    if (leads_over_planted_link(path_)) return;
    file_status found;
    const bool is_there = lstat(path, &found) == 0;
    if (!is_there || S_ISREG(found.st_mode)) {
      for (unsigned i = 0; stream_ == nullptr && (i == 0 || (errno == EEXIST && i < 100)); ++i) {
        made_ = directory_of(path_);
        append(made_, ".lockstep-%llu-%u.tmp",
               static_cast<unsigned long long>(native_system::process_number()), i);
        stream_ = open_stream(made_.c_str(), O_EXCL | O_NOFOLLOW, "w");
      }
      if (stream_ != nullptr) {
        const auto mode = converted<mode_t>(found.st_mode & 0777u);
        if (is_there && fchmod(fileno(stream_), mode) != 0) give_up();
        return;
      }
      made_.clear();
      // The user may be allowed to write to a file in a directory that he may not write to.
      if (errno != EACCES || !is_there) return;
    }
    stream_ = open_stream(path, S_ISLNK(found.st_mode) ? 0 : O_NOFOLLOW, "w");
  }
#else
  explicit replaced_file(const char* path)
      : path_(path), made_(path_ + ".tmp"), stream_(std::fopen(made_.c_str(), "w")) {
    if (stream_ == nullptr) made_.clear();
  }
#endif
  /// Without finish() the file stays as it was, unless it is written in place. A link may lead to a new, empty file.
  ~replaced_file() { give_up(); }
  replaced_file(const replaced_file&) = delete;
  replaced_file& operator=(const replaced_file&) = delete;

  /// The stream to write to; null if there is none.
  std::FILE* stream() const noexcept { return stream_; }
  /// Gives the file its name. False if not all could be written.
  bool finish() noexcept {
    if (std::fflush(stream_) != 0) return false;
#if !defined(_WIN32)
    // Cuts off what is left of a longer file. A device or a pipe has no length.
    const int file = fileno(stream_);
    file_status found;
    const bool has_length = made_.empty() && fstat(file, &found) == 0 && S_ISREG(found.st_mode);
    if (has_length && ftruncate(file, ftello(stream_)) != 0) return false;
#endif
    const bool is_closed = std::fclose(stream_) == 0;
    stream_ = nullptr;
    if (!is_closed || made_.empty()) return is_closed;
#if defined(_WIN32)
    std::remove(path_.c_str());  // Windows does not rename to a name that is taken
#endif
    const bool is_named = std::rename(made_.c_str(), path_.c_str()) == 0;
    if (is_named) made_.clear();
    return is_named;
  }

  /// Whether such a file could be written now.
  static bool is_possible(const char* path) {
#if !defined(_WIN32)
    file_status found;
    const bool is_other =
        stat(path, &found) == 0 && !S_ISREG(found.st_mode) && !S_ISDIR(found.st_mode);
    // Not opened: a program that reads the pipe would see its end.
    if (is_other) return access(path, W_OK) == 0;
#endif
    return replaced_file(path).stream() != nullptr;
  }

 private:
  void give_up() noexcept {
    const int saved = errno;
    if (stream_ != nullptr) std::fclose(stream_);
    if (!made_.empty()) std::remove(made_.c_str());
    stream_ = nullptr;
    made_.clear();
    errno = saved;
  }

  const std::string path_;
  std::string made_;  ///< empty: written in place
  std::FILE* stream_ = nullptr;
};

/// Adds to a file, and makes it if there is none. False if that fails: errno says why.
inline bool append_to_file(const char* path, const std::string& text) {
#if defined(_WIN32)
  std::FILE* const file = std::fopen(path, "a");
#else
  std::FILE* const file = open_to_append(path);
#endif
  if (file == nullptr) return false;
  // One call, so that lines of processes that end together do not mix.
  std::setvbuf(file, nullptr, _IONBF, 0);
  const bool is_written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const int why = errno;
  const bool is_closed = std::fclose(file) == 0;
  if (!is_written) errno = why;
  return is_written && is_closed;
}

/// A path that names the same file after the process changes its working directory.
inline std::string absolute_path(const char* path) {
  char whole[4096];
#if defined(_WIN32)
  return _fullpath(whole, path, sizeof whole) != nullptr ? whole : path;
#else
  if (path[0] == '/' || getcwd(whole, sizeof whole) == nullptr) return path;
  return std::string(whole) + "/" + path;
#endif
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_PLATFORM_USER_FILES_HPP
