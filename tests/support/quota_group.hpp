// SPDX-License-Identifier: MIT
// tests/support/quota_group.hpp -- a control group with a quota of CPU time, below the process's own (Linux)
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "platform/cgroup.hpp"

namespace lockstep::test {

/// Not made where the system does not let us.
class quota_group {
 public:
  /// `quota`: microseconds of 100 000.
  explicit quota_group(const std::string& quota) {
    std::ifstream mounts("/proc/self/mountinfo");
    detail::cgroup::mount where;
    for (std::string line; !made() && std::getline(mounts, line);) {
      if (detail::cgroup::parse_mount(line, where)) make(where, quota);
    }
  }
  ~quota_group() {
    if (made()) rmdir(group_.c_str());
  }
  quota_group(const quota_group&) = delete;
  quota_group& operator=(const quota_group&) = delete;

  bool made() const { return !group_.empty(); }

  /// Moves the calling process into the group, or back; false if the system refuses.
  bool enter() const { return write(group_ + "/cgroup.procs", "0"); }
  bool leave() const { return write(home_ + "/cgroup.procs", "0"); }

 private:
  static bool write(const std::string& path, const std::string& text) {
    std::ofstream file(path);
    file << text << std::flush;
    return file.good();
  }

  void make(const detail::cgroup::mount& where, const std::string& quota) {
    const std::string group =
        detail::cgroup::find_group(detail::file_text("/proc/self/cgroup"), where.version_2);
    home_ = where.point + detail::cgroup::relative_group(group, where.shown_group);
    const std::string wanted = home_ + "/lockstep_test_" + std::to_string(getpid());
    rmdir(wanted.c_str());  // of one that crashed
    if (mkdir(wanted.c_str(), 0755) != 0) return;
    const bool is_set = where.version_2 ? write(wanted + "/cpu.max", quota + " 100000")
                                        : write(wanted + "/cpu.cfs_period_us", "100000") &&
                                              write(wanted + "/cpu.cfs_quota_us", quota);
    if (is_set) {
      group_ = wanted;
    } else {
      rmdir(wanted.c_str());
    }
  }

  std::string home_, group_;
};

}  // namespace lockstep::test
