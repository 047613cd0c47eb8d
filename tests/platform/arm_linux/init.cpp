// SPDX-License-Identifier: MIT
// tests/platform/arm_linux/init.cpp -- the first process of an emulated machine: runs tests, and switches it off
//
// /tests.program is that of ./do everywhere; each line of /tests is a source and a filter for one run of it.
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

namespace {

int run(const std::string& source, const std::string& filter) {
  const pid_t child = fork();
  if (child == 0) {
    execl("/tests.program", "/tests.program", source.c_str(), filter.c_str(), nullptr);
    _exit(127);
  }
  int status = -1;
  if (child > 0) waitpid(child, &status, 0);
  return status;
}

}  // namespace

int main() {
  mkdir("/proc", 0755);
  mkdir("/sys", 0755);
  mkdir("/dev", 0755);
  mkdir("/tmp", 0777);
  mount("none", "/proc", "proc", 0, nullptr);
  mount("none", "/sys", "sysfs", 0, nullptr);
  mount("none", "/dev", "devtmpfs", 0, nullptr);
  const int console = open("/dev/console", O_RDWR);
  for (int each = 0; each < 3; ++each) dup2(console, each);
  setenv("LOCKSTEP_TEST_BRIEF", "1", 1);
  int failures = 0, runs = 0;
  std::ifstream list("/tests");
  for (std::string source, filter; list >> source >> filter; ++runs)
    failures += run(source, filter) != 0;
  std::puts(failures == 0 && runs > 0 ? "all passed" : "some failed");
  std::fflush(stdout);
  sync();
  reboot(RB_POWER_OFF);
}
