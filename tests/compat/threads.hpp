// SPDX-License-Identifier: MIT
// compat/threads.hpp -- what the tests of the handshakes need besides the classes under test
#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace compat_test {

/// Threads which are joined, and their functions destroyed, at the end of a test.
class crew {
 public:
  void start(int count, const std::function<void(int)>& body) {
    for (int i = 0; i < count; ++i) threads_.emplace_back(body, i);
  }
  void join() {
    for (std::thread& each : threads_) each.join();
    threads_.clear();
  }
  ~crew() { join(); }

 private:
  std::vector<std::thread> threads_;
};

/// Gives the others an occasion to do what they must not do. Nothing depends on their using it; the
/// limit is for machines where each yield goes to a stranger's time slice.
inline void let_others_run() {
  const auto enough = std::chrono::steady_clock::now() + std::chrono::milliseconds(2);
  for (int i = 0; i < 200 && std::chrono::steady_clock::now() < enough; ++i) {
    std::this_thread::yield();
  }
}

/// Counts across threads. Waiting blocks: on a machine under load each yield costs time slices.
class counter {
 public:
  void add_one() {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++value_;
    changed_.notify_all();
  }
  int value() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return value_;
  }
  void wait_for(int at_least) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return value_ >= at_least; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int value_ = 0;
};

/// Plain memory of each participant for this phase and the next.
class two_buffers {
 public:
  explicit two_buffers(int participants) : cells_(static_cast<std::size_t>(participants)) {}
  void write(int who, int phase) { cell(who, phase) = phase; }
  bool all_hold(int phase) {
    bool all = true;
    for (auto& pair : cells_) all = all && pair[static_cast<std::size_t>(phase % 2)] == phase;
    return all;
  }

 private:
  int& cell(int who, int phase) {
    return cells_[static_cast<std::size_t>(who)][static_cast<std::size_t>(phase % 2)];
  }
  std::vector<std::array<int, 2>> cells_;
};

}  // namespace compat_test
