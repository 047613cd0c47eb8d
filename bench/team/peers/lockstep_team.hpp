// SPDX-License-Identifier: MIT
// bench/team/peers/lockstep_team.hpp -- lockstep::team behind the benchmarks' interface
#pragma once

#include <cstddef>
#include <functional>
#include <lockstep/lockstep.hpp>

#include "team/executors.hpp"

namespace team_bench {

class lockstep_team : public loops_by_fork<lockstep_team> {
 public:
  explicit lockstep_team(std::size_t threads)
      : loops_by_fork<lockstep_team>(threads), team_(threads) {}

  std::size_t size() const { return team_.size(); }
  lockstep::team& itself() { return team_; }

  template <class Function>
  void fork(const Function& f) {
    team_.run([&f](lockstep::member& self) { f(self.rank()); });
  }

  class member {
   public:
    explicit member(lockstep::member& self) : self_(self) {}
    std::size_t rank() const { return self_.rank(); }
    std::size_t size() const { return self_.size(); }
    void barrier() { self_.sync_threads(); }
    double sum(double value) { return self_.sync_sum(value); }
    template <class Function>
    void claimed_loop(std::size_t first, std::size_t last, const Function& f) {
      self_.for_each(
          first, last, [&f](std::size_t i) { f(i, i + 1); }, lockstep::dynamic_schedule());
    }
    template <class Function>
    double claimed_sum(std::size_t first, std::size_t last, const Function& f) {
      double mine = 0;
      self_.for_each(
          lockstep::nowait, first, last, [&](std::size_t i) { mine += f(i, i + 1); },
          lockstep::dynamic_schedule());
      return self_.sync_sum(mine);
    }

   private:
    lockstep::member& self_;
  };

  template <class Function>
  void region(const Function& f) {
    team_.run([&f](lockstep::member& self) {
      member mine(self);
      f(mine);
    });
  }

 private:
  lockstep::team team_;
};

/// The same team by its loops, without regions.
class lockstep_team_by_loops : public lockstep_team {
 public:
  using lockstep_team::lockstep_team;

  template <class Function>
  void loop(std::size_t first, std::size_t last, const Function& f) {
    itself().for_range(first, last, f);
  }
  template <class Function>
  double sum(std::size_t first, std::size_t last, const Function& f) {
    return itself().reduce_range(first, last, 0.0, f, std::plus<double>());
  }
  template <class Function>
  void claimed_loop(std::size_t first, std::size_t last, const Function& f) {
    itself().for_range(first, last, f, lockstep::dynamic_schedule());
  }
  template <class Function>
  double claimed_sum(std::size_t first, std::size_t last, const Function& f) {
    return itself().reduce_range(first, last, 0.0, f, std::plus<double>());
  }
};

}  // namespace team_bench
