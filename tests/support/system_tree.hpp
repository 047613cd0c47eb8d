// SPDX-License-Identifier: MIT
// tests/support/system_tree.hpp -- a directory of the test that plays the root of a system
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

namespace lockstep::test {

class system_tree : public testing::Test {
 protected:
  /// `subject`: a part of the directory's name.
  explicit system_tree(const std::string& subject)
      : root_(place() / ("lockstep_" + subject + "_" + std::to_string(getpid()) + "_" +
                         testing::UnitTest::GetInstance()->current_test_info()->name())) {}
  ~system_tree() override {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }

  const char* root() const { return root_.c_str(); }
  void file(const std::string& path, const std::string& text) {
    const std::filesystem::path whole = root_.string() + path;
    std::filesystem::create_directories(whole.parent_path());
    std::ofstream(whole) << text;
  }

 private:
  /// In memory where the system has such a place: some trees have a thousand files.
  static std::filesystem::path place() {
    return access("/dev/shm", W_OK | X_OK) == 0 ? std::filesystem::path("/dev/shm")
                                                : std::filesystem::temp_directory_path();
  }

  std::filesystem::path root_;
};

}  // namespace lockstep::test
