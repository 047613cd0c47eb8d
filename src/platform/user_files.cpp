// SPDX-License-Identifier: MIT
// src/platform/user_files.cpp -- the bodies of user_files.hpp (layer: platform)
#include "user_files.hpp"

#include <errno.h>
#include <cstdlib>
#include <initializer_list>
#include "process.hpp"
#include "system_texts.hpp"
#if !defined(_WIN32)
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// With what comes before the last part of a path, up to and with the slash.
LOCKSTEP_INLINE std::string beside(const std::string& path, const char* name) {
  const std::size_t slash = path.find_last_of("/\\");
  return (slash == std::string::npos ? std::string() : path.substr(0, slash + 1)) + name;
}

#if !defined(_WIN32)

/// Takes back one that waits for this thread.
LOCKSTEP_INLINE void take_back_signal(int signal) noexcept {
  sigset_t only;
  sigemptyset(&only);  // a macro on some systems
  sigaddset(&only, signal);
#if defined(__APPLE__) || defined(__OpenBSD__)
  int taken = 0;
  sigwait(&only, &taken);
#elif !defined(__wasm__)
  timespec now;
  now.tv_sec = 0;
  now.tv_nsec = 0;
  while (sigtimedwait(&only, nullptr, &now) < 0 && errno == EINTR) continue;
#endif
}

LOCKSTEP_INLINE calm_writes::calm_writes() noexcept {
  sigset_t raised;
  sigemptyset(&raised);
  for (const int each : {SIGXFSZ, SIGPIPE}) sigaddset(&raised, each);
  sigpending(&pending_);
  pthread_sigmask(SIG_BLOCK, &raised, &before_);
}

LOCKSTEP_INLINE calm_writes::~calm_writes() {
  const int saved = errno;
  sigset_t now;
  sigpending(&now);
  for (const int each : {SIGXFSZ, SIGPIPE}) {
    const bool is_ours = sigismember(&now, each) == 1 && sigismember(&pending_, each) == 0;
    if (is_ours) take_back_signal(each);
  }
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  errno = saved;
}

/// For writing; waits for no reader, and writes wait as they do elsewhere. Negative: errno says why.
LOCKSTEP_INLINE int open_for_writing(const char* path, int how) noexcept {
  const int file = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | how, 0666);
  if (file < 0) return file;
  const int flags = fcntl(file, F_GETFL);
  if (flags >= 0 && fcntl(file, F_SETFL, flags & ~O_NONBLOCK) == 0) return file;
  const int why = errno;
  close(file);
  errno = why;
  return -1;
}

namespace file_trust {

using status = struct stat;

LOCKSTEP_INLINE bool is_open_to_all(const std::string& directory, status& of) {
  return stat(directory.c_str(), &of) != 0 || (of.st_mode & S_IWOTH) != 0;
}

/// Checks FILE-2 for each link on the way.
LOCKSTEP_INLINE bool leads_over_planted_link(const std::string& path) {
  std::size_t end = 0;
  do {
    end = path.find('/', end + 1);
    const std::string part = path.substr(0, end);
    status link, directory;
    if (lstat(part.c_str(), &link) != 0 || !S_ISLNK(link.st_mode)) continue;
    const bool is_at_risk = is_open_to_all(beside(part, "."), directory);
    if (is_at_risk && link.st_uid != geteuid() && link.st_uid != directory.st_uid) return true;
  } while (end != std::string::npos);
  return false;
}

LOCKSTEP_INLINE bool is_planted_file(const std::string& path, const status& file) {
  status directory;
  if (!S_ISREG(file.st_mode) || !is_open_to_all(beside(path, "."), directory)) return false;
  return file.st_nlink > 1 || file.st_uid != geteuid();
}

/// How to write to a path; none: errno says why.
enum class way { none, anew, in_place, through_link };
LOCKSTEP_INLINE way way_to(const std::string& path, status& found) {
  if (leads_over_planted_link(path)) {
    errno = ELOOP;
    return way::none;
  }
  if (lstat(path.c_str(), &found) != 0) {
    found.st_mode = 0;
    return errno == ENOENT ? way::anew : way::none;
  }
  if (S_ISDIR(found.st_mode)) {
    errno = EISDIR;
    return way::none;
  }
  return S_ISREG(found.st_mode)   ? way::anew
         : S_ISLNK(found.st_mode) ? way::through_link
                                  : way::in_place;
}

}  // namespace file_trust

LOCKSTEP_INLINE void replaced_file::make_beside(unsigned mode) {
  const int how = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  for (unsigned i = 0; i < 100; ++i) {
    char name[64];
    std::snprintf(name, sizeof name, ".lockstep-%llu-%u.tmp",
                  static_cast<unsigned long long>(process_number()), i);
    made_ = beside(path_, name);
    const int file = open(made_.c_str(), how, 0666);
    if (file < 0 && errno == EEXIST) continue;
    if (file < 0) break;
    const bool is_right = mode == 0 || fchmod(file, converted<mode_t>(mode & 0777u)) == 0;
    stream_ = is_right ? fdopen(file, "w") : nullptr;
    if (stream_ != nullptr) return;
    close(file);
    unlink(made_.c_str());
    break;
  }
  made_.clear();
}

LOCKSTEP_INLINE replaced_file::replaced_file(const char* path) : path_(path) {
  file_trust::status found;
  const file_trust::way how = file_trust::way_to(path_, found);
  if (how == file_trust::way::none) return;
  if (how == file_trust::way::anew) {
    make_beside(found.st_mode);
    // In a directory that the user may not write to there may be a file that he may.
    if (stream_ != nullptr || errno != EACCES || found.st_mode == 0) return;
  }
  const bool follows = how == file_trust::way::through_link;
  const bool empties = how != file_trust::way::in_place;
  const int file =
      open_for_writing(path, (follows ? O_CREAT : O_NOFOLLOW) | (empties ? O_TRUNC : 0));
  if (file < 0) return;
  stream_ = fdopen(file, "w");
  if (stream_ == nullptr) close(file);
}

LOCKSTEP_INLINE bool replaced_file::is_possible(const char* path) {
  file_trust::status found;
  const file_trust::way how = file_trust::way_to(path, found);
  if (how == file_trust::way::anew) {
    replaced_file probe(path, nullptr);
    probe.make_beside(0);
    if (probe.stream() != nullptr) return true;
    if (errno != EACCES || found.st_mode == 0) return false;
  }
  if (how == file_trust::way::none) return false;
  return access(path, W_OK) == 0 || (how == file_trust::way::through_link && errno == ENOENT);
}

LOCKSTEP_INLINE bool append_to_file(const char* path, const std::string& text) {
  if (file_trust::leads_over_planted_link(path)) {
    errno = ELOOP;
    return false;
  }
  file_trust::status found;
  const bool is_link = lstat(path, &found) == 0 && S_ISLNK(found.st_mode);
  const int file = open_for_writing(path, O_APPEND | O_CREAT | (is_link ? 0 : O_NOFOLLOW));
  if (file < 0) return false;
  bool is_right = fstat(file, &found) == 0;
  if (is_right && !is_link && file_trust::is_planted_file(path, found)) {
    errno = EACCES;
    is_right = false;
  }
  // One call: lines of processes that end together do not mix.
  for (std::size_t done = 0; is_right && done < text.size();) {
    const ssize_t now = write(file, text.data() + done, text.size() - done);
    if (now < 0 && errno == EINTR) continue;
    is_right = now > 0;
    done += is_right ? static_cast<std::size_t>(now) : 0;
  }
  const int why = errno;
  const bool is_closed = close(file) == 0;
  if (!is_right) errno = why;
  return is_right && is_closed;
}

LOCKSTEP_INLINE std::string absolute_path(const char* path) {
  char here[4096];
  if (path[0] == '/' || getcwd(here, sizeof here) == nullptr) return path;
  return std::string(here) + "/" + path;
}

#else

LOCKSTEP_INLINE calm_writes::calm_writes() noexcept {}
LOCKSTEP_INLINE calm_writes::~calm_writes() {}

LOCKSTEP_INLINE void replaced_file::make_beside(unsigned) {
  made_ = path_ + ".tmp";
  stream_ = std::fopen(made_.c_str(), "w");
  if (stream_ == nullptr) made_.clear();
}

LOCKSTEP_INLINE replaced_file::replaced_file(const char* path) : path_(path) { make_beside(0); }

LOCKSTEP_INLINE bool replaced_file::is_possible(const char* path) {
  return replaced_file(path).stream() != nullptr;
}

LOCKSTEP_INLINE bool append_to_file(const char* path, const std::string& text) {
  std::FILE* const file = std::fopen(path, "a");
  if (file == nullptr) return false;
  const bool is_written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  return std::fclose(file) == 0 && is_written;
}

LOCKSTEP_INLINE std::string absolute_path(const char* path) {
  char whole[4096];
  return _fullpath(whole, path, sizeof whole) != nullptr ? whole : path;
}

#endif

LOCKSTEP_INLINE bool replaced_file::finish() noexcept {
  const bool is_written = std::fclose(stream_) == 0;
  stream_ = nullptr;
  if (!is_written || made_.empty()) return is_written;
#if defined(_WIN32)
  std::remove(path_.c_str());  // there a name that is taken cannot be taken over
#endif
  const bool is_named = std::rename(made_.c_str(), path_.c_str()) == 0;
  if (is_named) made_.clear();
  return is_named;
}

LOCKSTEP_INLINE replaced_file::~replaced_file() {
  const int saved = errno;
  if (stream_ != nullptr) std::fclose(stream_);
  if (!made_.empty()) std::remove(made_.c_str());
  errno = saved;
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
