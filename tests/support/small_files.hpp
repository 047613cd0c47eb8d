// SPDX-License-Identifier: MIT
// tests/support/small_files.hpp -- a process whose files may not grow, and the signals that it gets
#pragma once

#include <signal.h>
#include <sys/resource.h>

#include <atomic>

namespace lockstep::test {

/// While it exists, no file of the process may have a byte more: also no output of the test.
class small_files {
 public:
  small_files() {
    getrlimit(RLIMIT_FSIZE, &before_);
    rlimit none = before_;
    none.rlim_cur = 0;
    setrlimit(RLIMIT_FSIZE, &none);
  }
  ~small_files() { setrlimit(RLIMIT_FSIZE, &before_); }
  small_files(const small_files&) = delete;
  small_files& operator=(const small_files&) = delete;

 private:
  rlimit before_ = {};
};

/// Counts a signal in place of what it does otherwise. One at a time.
class counted_signals {
 public:
  explicit counted_signals(int signal) : signal_(signal) {
    seen() = 0;
    struct sigaction counts = {};
    counts.sa_handler = [](int) { seen().fetch_add(1, std::memory_order_relaxed); };
    sigaction(signal, &counts, &before_);
  }
  ~counted_signals() { sigaction(signal_, &before_, nullptr); }
  counted_signals(const counted_signals&) = delete;
  counted_signals& operator=(const counted_signals&) = delete;

  int count() const { return seen().load(std::memory_order_relaxed); }

 private:
  static std::atomic<int>& seen() {
    static std::atomic<int> count{0};
    return count;
  }

  const int signal_;
  struct sigaction before_ = {};
};

}  // namespace lockstep::test
