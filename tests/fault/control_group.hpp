// SPDX-License-Identifier: MIT
// tests/fault/control_group.hpp -- a control group of the test's own, where the system lets it make one
//
// Linux, version 1 hierarchies only: in those of version 2 a group that has members may have no limits.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>

namespace lockstep::test {

class control_group {
 public:
  /// A new group below the caller's own, in the hierarchy of that controller.
  explicit control_group(const std::string& controller) {
    const std::string root = mount_point_of(controller);
    if (root.empty()) return;
    home_ = root + own_group_in(controller);
    const std::string wanted = home_ + "/lockstep-test-" + std::to_string(getpid());
    rmdir(wanted.c_str());  // of a test that was killed
    if (mkdir(wanted.c_str(), 0755) == 0) path_ = wanted;
  }
  ~control_group() {
    if (!exists()) return;
    std::ifstream left(path_ + "/tasks");
    for (std::string task; left >> task;) write_to(home_ + "/tasks", task);
    rmdir(path_.c_str());
  }
  control_group(const control_group&) = delete;
  control_group& operator=(const control_group&) = delete;

  bool exists() const { return !path_.empty(); }

  /// Writes `value` to one of the group's files; false if the system refuses.
  bool write(const std::string& file, const std::string& value) const {
    return exists() && write_to(path_ + "/" + file, value);
  }

  /// Moves a thread into the group, and back to where the group was made.
  bool add(pid_t task) const { return write("tasks", std::to_string(task)); }
  bool give_back(pid_t task) const { return write_to(home_ + "/tasks", std::to_string(task)); }

  /// The number behind `key` in one of the group's files; -1 if there is none.
  long read(const std::string& file, const std::string& key) const {
    std::ifstream in(path_ + "/" + file);
    long value = -1;
    for (std::string name; in >> name >> value;) {
      if (name == key) return value;
    }
    return -1;
  }

 private:
  static bool write_to(const std::string& file, const std::string& value) {
    std::ofstream out(file);
    out << value << std::flush;
    return out.good();
  }

  static bool has_word(const std::string& list, const std::string& word) {
    return ("," + list + ",").find("," + word + ",") != std::string::npos;
  }

  static std::string mount_point_of(const std::string& controller) {
    std::ifstream mounts("/proc/self/mounts");
    for (std::string line; std::getline(mounts, line);) {
      std::istringstream fields(line);
      std::string device, point, type, options;
      fields >> device >> point >> type >> options;
      if (type == "cgroup" && has_word(options, controller)) return point;
    }
    return {};
  }

  static std::string own_group_in(const std::string& controller) {
    std::ifstream groups("/proc/self/cgroup");
    for (std::string line; std::getline(groups, line);) {
      const std::size_t first = line.find(':'), second = line.find(':', first + 1);
      if (second == std::string::npos) continue;
      if (has_word(line.substr(first + 1, second - first - 1), controller)) {
        const std::string group = line.substr(second + 1);
        return group == "/" ? "" : group;
      }
    }
    return {};
  }

  std::string home_, path_;
};

}  // namespace lockstep::test
