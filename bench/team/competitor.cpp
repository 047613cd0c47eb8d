// SPDX-License-Identifier: MIT
#include "team/competitor.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>
#include <vector>

#include "support/placement.hpp"

namespace team_bench {
namespace {

[[noreturn]] void burn(pid_t parent, bool is_bound) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(0);  // it ended before the line above
  const std::vector<unsigned> cpus = bench::affinity();
  if (is_bound && !cpus.empty()) bench::bind_this_thread(cpus[0]);
  while (true) asm volatile("" ::: "memory");
}

}  // namespace

competitor::competitor(bool is_bound_to_first_cpu) {
  const pid_t parent = getpid();
  process_ = fork();
  if (process_ < 0) throw std::runtime_error("no process for the competitor");
  if (process_ == 0) burn(parent, is_bound_to_first_cpu);
}

competitor::~competitor() {
  kill(process_, SIGKILL);
  waitpid(process_, nullptr, 0);
}

}  // namespace team_bench
