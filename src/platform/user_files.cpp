// SPDX-License-Identifier: MIT
// src/platform/user_files.cpp -- the bodies of user_files.hpp (layer: platform)
#include "user_files.hpp"

#include <errno.h>
#include <cstdlib>
#include "process.hpp"
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
LOCKSTEP_INLINE std::string directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "./" : path.substr(0, slash + 1);
}

/// Reads the status of the directory that a path is in. False if all users may write to it, or it cannot be read.
LOCKSTEP_INLINE bool is_guarded(const std::string& path, file_status& directory) {
  directory = file_status();
  return stat(directory_of(path).c_str(), &directory) == 0 && (directory.st_mode & S_IWOTH) == 0;
}

/// Whether FILE-2 forbids a link on the way: then errno is ELOOP.
LOCKSTEP_INLINE bool leads_over_planted_link(const std::string& path) {
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
LOCKSTEP_INLINE std::FILE* open_stream(const char* path, int how, const char* mode) noexcept {
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

LOCKSTEP_INLINE replaced_file::replaced_file(const char* path) : path_(path) {
  if (leads_over_planted_link(path_)) return;
  file_status found;
  const bool is_there = lstat(path, &found) == 0;
  if (!is_there || S_ISREG(found.st_mode)) {
    for (unsigned i = 0; stream_ == nullptr && (i == 0 || (errno == EEXIST && i < 100)); ++i) {
      made_ = directory_of(path_);
      append(made_, ".lockstep-%llu-%u.tmp", static_cast<unsigned long long>(process_number()), i);
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

LOCKSTEP_INLINE bool replaced_file::is_possible(const char* path) {
  file_status found;
  const bool is_other =
      stat(path, &found) == 0 && !S_ISREG(found.st_mode) && !S_ISDIR(found.st_mode);
  // Not opened: a program that reads the pipe would see its end.
  return is_other ? access(path, W_OK) == 0 : replaced_file(path).stream() != nullptr;
}

LOCKSTEP_INLINE std::FILE* open_to_append(const char* path) {
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

LOCKSTEP_INLINE std::string absolute_path(const char* path) {
  char here[4096];
  if (path[0] == '/' || getcwd(here, sizeof here) == nullptr) return path;
  return std::string(here) + "/" + path;
}

#else

LOCKSTEP_INLINE replaced_file::replaced_file(const char* path)
    : path_(path), made_(path_ + ".tmp"), stream_(std::fopen(made_.c_str(), "w")) {
  if (stream_ == nullptr) made_.clear();
}
LOCKSTEP_INLINE bool replaced_file::is_possible(const char* path) {
  return replaced_file(path).stream() != nullptr;
}
LOCKSTEP_INLINE std::FILE* open_to_append(const char* path) { return std::fopen(path, "a"); }

LOCKSTEP_INLINE std::string absolute_path(const char* path) {
  char whole[4096];
  return _fullpath(whole, path, sizeof whole) != nullptr ? whole : path;
}

#endif

LOCKSTEP_INLINE bool append_to_file(const char* path, const std::string& text) {
  std::FILE* const file = open_to_append(path);
  if (file == nullptr) return false;
  // One call, so that lines of processes that end together do not mix.
  std::setvbuf(file, nullptr, _IONBF, 0);
  const bool is_written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const int why = errno;
  const bool is_closed = std::fclose(file) == 0;
  if (!is_written) errno = why;
  return is_written && is_closed;
}

LOCKSTEP_INLINE bool replaced_file::finish() noexcept {
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

LOCKSTEP_INLINE void replaced_file::give_up() noexcept {
  const int saved = errno;
  if (stream_ != nullptr) std::fclose(stream_);
  if (!made_.empty()) std::remove(made_.c_str());
  stream_ = nullptr;
  made_.clear();
  errno = saved;
}
LOCKSTEP_INLINE replaced_file::~replaced_file() { give_up(); }

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
