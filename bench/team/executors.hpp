// SPDX-License-Identifier: MIT
// bench/team/executors.hpp -- different ways to run the loops of a program
//
// A program is written once, as steps made of loop(first, last, f) and sum(first, last, f), where
// f(begin, end) does a part; after each everybody may read what anybody wrote. claimed_loop() and claimed_sum() are the
// same with claims of one index, by the peer's own schedule. Its scalars are values that
// every executor has of its own, so that the same text is the serial program, the one of each member in one
// long region, and the one of a caller that forks for every loop.
#pragma once

#include <algorithm>
#include <cstddef>
#include <lockstep/lockstep.hpp>
#include <utility>
#include <vector>

namespace team_bench {

class serial_executor {
 public:
  template <class Function>
  void loop(std::size_t first, std::size_t last, Function f) {
    f(first, last);
  }
  template <class Function>
  double sum(std::size_t first, std::size_t last, Function f) {
    return f(first, last);
  }
  template <class Function>
  void claimed_loop(std::size_t first, std::size_t last, Function f) {
    f(first, last);
  }
  template <class Function>
  double claimed_sum(std::size_t first, std::size_t last, Function f) {
    return f(first, last);
  }
};

/// Inside a region: `Member` has rank(), size(), barrier() and sum(value); for the loops with claims, which wait at
/// their end, claimed_loop() and claimed_sum().
template <class Member>
class region_executor {
 public:
  explicit region_executor(Member& member) : member_(member) {}

  template <class Function>
  void loop(std::size_t first, std::size_t last, Function f) {
    const lockstep::index_range mine = block(first, last);
    f(mine.first, mine.last);
    member_.barrier();
  }
  template <class Function>
  double sum(std::size_t first, std::size_t last, Function f) {
    const lockstep::index_range mine = block(first, last);
    return member_.sum(f(mine.first, mine.last));
  }
  template <class Function>
  void claimed_loop(std::size_t first, std::size_t last, Function f) {
    member_.claimed_loop(first, last, f);
  }
  template <class Function>
  double claimed_sum(std::size_t first, std::size_t last, Function f) {
    return member_.claimed_sum(first, last, f);
  }

 private:
  lockstep::index_range block(std::size_t first, std::size_t last) const {
    return lockstep::static_block(first, last, member_.rank(), member_.size());
  }

  Member& member_;
};

/// A number of each thread on a line of its own.
class slots {
 public:
  explicit slots(std::size_t threads) : values_(threads) {}
  double& operator[](std::size_t rank) { return values_[rank].value; }
  void clear() {
    for (slot& one : values_) one.value = 0;
  }
  [[nodiscard]] double total() const {
    double sum = 0;
    for (const slot& one : values_) sum += one.value;
    return sum;
  }
  [[nodiscard]] double earliest() const { return ends().first->value; }
  [[nodiscard]] double latest() const { return ends().second->value; }

 private:
  using slot = lockstep::padded<double>;

  std::pair<std::vector<slot>::const_iterator, std::vector<slot>::const_iterator> ends() const {
    return std::minmax_element(values_.begin(), values_.end(),
                               [](const slot& a, const slot& b) { return a.value < b.value; });
  }

  std::vector<slot> values_;
};

/// loop() and sum() of a peer that has fork(f), calling f(rank) on each of size() threads.
template <class Peer>
class loops_by_fork {
 public:
  explicit loops_by_fork(std::size_t threads) : partial_(threads) {}

  template <class Function>
  void loop(std::size_t first, std::size_t last, const Function& f) {
    const std::size_t size = self().size();
    self().fork([&f, first, last, size](std::size_t rank) {
      const lockstep::index_range mine = lockstep::static_block(first, last, rank, size);
      f(mine.first, mine.last);
    });
  }
  template <class Function>
  double sum(std::size_t first, std::size_t last, const Function& f) {
    const std::size_t size = self().size();
    self().fork([this, &f, first, last, size](std::size_t rank) {
      const lockstep::index_range mine = lockstep::static_block(first, last, rank, size);
      partial_[rank] = f(mine.first, mine.last);
    });
    return partial_.total();
  }

 private:
  Peer& self() { return static_cast<Peer&>(*this); }

  slots partial_;
};

/// sum() for members that have a barrier and nothing else: one barrier, because two sets of slots take
/// turns. Before a member writes a set again, it has met all members that read it.
class sum_board {
 public:
  explicit sum_board(std::size_t threads) : sets_{slots(threads), slots(threads)} {}

  template <class Barrier>
  double sum(std::size_t rank, std::size_t turn, double value, Barrier barrier) {
    sets_[turn % 2][rank] = value;
    barrier();
    return sets_[turn % 2].total();
  }

 private:
  slots sets_[2];
};

}  // namespace team_bench
