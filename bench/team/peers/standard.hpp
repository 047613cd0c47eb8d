// SPDX-License-Identifier: MIT
// bench/team/peers/standard.hpp -- what the standard library gives: std::barrier, std::thread
#pragma once

#include <barrier>
#include <cstddef>
#include <thread>
#include <vector>

#include "team/executors.hpp"

namespace team_bench {

/// Threads that are kept; a std::barrier starts them, another one ends the region.
class std_barrier_team : public loops_by_fork<std_barrier_team> {
 public:
  explicit std_barrier_team(std::size_t threads)
      : loops_by_fork(threads),
        size_(threads),
        start_(static_cast<std::ptrdiff_t>(threads)),
        inside_(static_cast<std::ptrdiff_t>(threads)),
        end_(static_cast<std::ptrdiff_t>(threads)),
        sums_(threads) {
    for (std::size_t rank = 1; rank < threads; ++rank) {
      threads_.emplace_back([this, rank] { work(rank); });
    }
  }
  ~std_barrier_team() {
    call_ = nullptr;
    start_.arrive_and_wait();
  }

  std::size_t size() const { return size_; }

  template <class Function>
  void fork(const Function& f) {
    function_ = &f;
    call_ = [](const void* function, std::size_t rank) {
      (*static_cast<const Function*>(function))(rank);
    };
    start_.arrive_and_wait();
    f(std::size_t{0});
    end_.arrive_and_wait();
  }

  class member {
   public:
    member(std_barrier_team& team, std::size_t rank) : team_(team), rank_(rank) {}
    std::size_t rank() const { return rank_; }
    std::size_t size() const { return team_.size(); }
    void barrier() { team_.inside_.arrive_and_wait(); }
    double sum(double value) {
      return team_.sums_.sum(rank_, turn_++, value, [this] { barrier(); });
    }

   private:
    std_barrier_team& team_;
    std::size_t rank_;
    std::size_t turn_ = 0;
  };

  template <class Function>
  void region(const Function& f) {
    fork([this, &f](std::size_t rank) {
      member mine(*this, rank);
      f(mine);
    });
  }

 private:
  void work(std::size_t rank) {
    while (true) {
      start_.arrive_and_wait();
      if (call_ == nullptr) return;
      call_(function_, rank);
      end_.arrive_and_wait();
    }
  }

  std::size_t size_;
  const void* function_ = nullptr;
  void (*call_)(const void*, std::size_t) = nullptr;
  std::barrier<> start_, inside_, end_;
  sum_board sums_;
  std::vector<std::jthread> threads_;  // joined before the barriers go
};

/// New threads for every fork.
class std_thread_team : public loops_by_fork<std_thread_team> {
 public:
  explicit std_thread_team(std::size_t threads) : loops_by_fork(threads), size_(threads) {}

  std::size_t size() const { return size_; }

  template <class Function>
  void fork(const Function& f) {
    std::vector<std::jthread> threads;
    threads.reserve(size_ - 1);
    for (std::size_t rank = 1; rank < size_; ++rank) {
      threads.emplace_back([&f, rank] { f(rank); });
    }
    f(std::size_t{0});
  }

 private:
  std::size_t size_;
};

}  // namespace team_bench
