// SPDX-License-Identifier: MIT
// bench/support/crew.hpp -- threads that begin together and are joined at the end
//
// The gate keeps threads that spin from taking the CPUs while others are still being created. If one
// of them cannot be created, those that exist end without having begun.
#pragma once

#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace bench {

class crew {
 public:
  /// Calls body(rank) on `count` new threads.
  template <class Body>
  crew(std::size_t count, Body body) {
    threads_.reserve(count);
    try {
      for (std::size_t rank = 0; rank < count; ++rank) {
        threads_.emplace_back([this, body, rank] {
          gate_.wait(closed);
          if (gate_.load() == opened) body(rank);
        });
      }
    } catch (...) {
      set_gate(cancelled);
      throw;
    }
    set_gate(opened);
  }
  crew(const crew&) = delete;
  crew& operator=(const crew&) = delete;

  /// Returns when every thread has returned from its body. The destructor does the same.
  void join() { threads_.clear(); }

 private:
  enum state { closed, opened, cancelled };

  void set_gate(state to) {
    gate_.store(to);
    gate_.notify_all();
  }

  std::atomic<int> gate_{closed};
  std::vector<std::jthread> threads_;
};

}  // namespace bench
