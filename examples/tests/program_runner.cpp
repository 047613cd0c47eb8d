// SPDX-License-Identifier: MIT
#include "program_runner.hpp"

#include <fcntl.h>
#include <regex.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <random>
#include <stdexcept>
#include <system_error>

#include "support/files.hpp"

extern char** environ;

namespace examples::testing {
namespace {

/// stdout and stderr of the child, each to a file.
class redirections {
 public:
  redirections(const std::string& out, const std::string& err) {
    posix_spawn_file_actions_init(&actions_);
    redirect(STDOUT_FILENO, out);
    redirect(STDERR_FILENO, err);
  }
  ~redirections() { posix_spawn_file_actions_destroy(&actions_); }
  redirections(const redirections&) = delete;
  redirections& operator=(const redirections&) = delete;

  [[nodiscard]] const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  void redirect(int descriptor, const std::string& path) {
    posix_spawn_file_actions_addopen(&actions_, descriptor, path.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
  }

  posix_spawn_file_actions_t actions_{};
};

int wait_for_exit(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "waitpid");
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::string take_file(const std::string& path) {
  std::string bytes = read_file(path);
  std::filesystem::remove(path);
  return bytes;
}

}  // namespace

scratch_directory::scratch_directory() {
  std::random_device seed;
  do {
    path_ =
        std::filesystem::temp_directory_path() / ("lockstep-examples-" + std::to_string(seed()));
  } while (!std::filesystem::create_directory(path_));
}

scratch_directory::~scratch_directory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::vector<std::string> scratch_directory::names() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path_)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

program_run run(const std::string& program, const std::vector<std::string>& arguments,
                const scratch_directory& scratch) {
  std::vector<std::string> words = {program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);

  const std::string out = scratch.path("stdout");
  const std::string err = scratch.path("stderr");
  const redirections files(out, err);
  pid_t child = 0;
  const int failure =
      posix_spawn(&child, program.c_str(), files.get(), nullptr, pointers.data(), environ);
  if (failure != 0) throw std::system_error(failure, std::generic_category(), program);
  program_run result;
  result.status = wait_for_exit(child);
  result.out = take_file(out);
  result.err = take_file(err);
  return result;
}

bool matches(const std::string& text, const std::string& expression) {
  regex_t compiled;
  if (regcomp(&compiled, expression.c_str(), REG_EXTENDED | REG_NOSUB | REG_NEWLINE) != 0) {
    throw std::invalid_argument(expression);
  }
  const bool found = regexec(&compiled, text.c_str(), 0, nullptr, 0) == 0;
  regfree(&compiled);
  return found;
}

std::string json_at(const std::string& text, const std::string& pointer) {
  const nlohmann::json record = nlohmann::json::parse(text);
  const nlohmann::json::json_pointer place(pointer);
  return record.contains(place) ? record.at(place).dump() : "";
}

std::string data_path(const std::string& name) {
  return (std::filesystem::path(LOCKSTEP_EXAMPLE_DATA) / name).string();
}

std::string data(const std::string& name) { return read_file(data_path(name)); }

}  // namespace examples::testing
