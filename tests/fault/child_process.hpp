// SPDX-License-Identifier: MIT
// tests/fault/child_process.hpp -- a copy of the test program to which things are done (POSIX)
//
// A child ends with the test: it is killed when the thread that made it ends.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/prctl.h>
#endif

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>
#include <system_error>

namespace lockstep::test {

/// The exit status of a child whose system lacks what the test needs.
constexpr int cannot_be_tested = 99;

class child_process {
 public:
  /// Calls body() in the child, whose exit status it returns. Make children while there is one thread,
  /// unless forking with more is what is tested.
  template <class Body>
  explicit child_process(Body body) : pid_(fork()) {
    if (pid_ != 0) return;
#if defined(__linux__)
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    const int status = body();
    std::fflush(nullptr);
    std::_Exit(status);
  }
  child_process(const child_process&) = delete;
  child_process& operator=(const child_process&) = delete;

  pid_t pid() const noexcept { return pid_; }
  void send(int signal) const noexcept { kill(pid_, signal); }

  /// Sends SIGSTOP and waits until the child has stopped; false if it has ended.
  bool stop() {
    send(SIGSTOP);
    int status = 0;
    waitpid(pid_, &status, WUNTRACED);
    if (WIFSTOPPED(status)) return true;
    note(status);
    return false;
  }

  /// The exit status, or minus the signal that ended it.
  int wait() {
    int status = 0;
    if (!ended_ && waitpid(pid_, &status, 0) == pid_) note(status);
    return result_;
  }

 private:
  void note(int status) noexcept {
    ended_ = true;
    result_ = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

  const pid_t pid_;
  bool ended_ = false;
  int result_ = -1;
};

/// Calls body() in a child; its exit status, or minus the signal that ended it.
template <class Body>
int in_child(Body body) {
  return child_process(body).wait();
}

/// How a child has ended, as child_process::wait() has it, and what it has written to its standard error.
struct told_end {
  int status = 0;
  std::string said;
};

/// Calls body() in a child.
template <class Body>
told_end end_of_child(Body body) {
  int ends[2];
  if (pipe(ends) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  std::fflush(nullptr);
  child_process child([&] {
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    close(ends[1]);
    return body();
  });
  close(ends[1]);
  told_end found;
  char piece[256];
  for (ssize_t size; (size = read(ends[0], piece, sizeof piece)) > 0;) {
    found.said.append(piece, static_cast<std::size_t>(size));
  }
  close(ends[0]);
  found.status = child.wait();
  return found;
}

/// Runs the body of a test in a child: for tests that leave behind what the program learns once, as the
/// number of its CPUs, while others need a program that has not asked yet.
template <class Body>
void expect_in_child(Body body) {
  EXPECT_EQ(in_child([&] {
              body();
              return testing::Test::HasFailure() ? 1 : 0;
            }),
            0);
}

/// A T in memory that parent and child share.
template <class T>
class shared_with_child {
 public:
  template <class... Arguments>
  explicit shared_with_child(Arguments... arguments)
      : at_(mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    if (at_ == MAP_FAILED) throw std::bad_alloc();
    ::new (at_) T(arguments...);
  }
  ~shared_with_child() {
    (**this).~T();
    munmap(at_, sizeof(T));
  }
  shared_with_child(const shared_with_child&) = delete;
  shared_with_child& operator=(const shared_with_child&) = delete;

  T& operator*() const noexcept { return *static_cast<T*>(at_); }
  T* operator->() const noexcept { return static_cast<T*>(at_); }

 private:
  void* at_;
};

}  // namespace lockstep::test
