// SPDX-License-Identifier: MIT
// bench/graph/peers/by_hand.hpp -- graphs wired by hand: publish and wait_for in one region for all iterations, and events
//
// What a user who knows the graph would write: the yardstick for the cost of the plan.
#pragma once

#include <cstddef>
#include <lockstep/lockstep.hpp>
#include <memory>
#include <vector>

#include "graph/node_work.hpp"
#include "graph/peers/lockstep_plan.hpp"
#include "graph/shapes.hpp"
#include "team/catalogue.hpp"

namespace graph_bench {

template <class Node>
class hand_wired {
 public:
  template <class Make>
  hand_wired(const team_bench::request& wanted, const shape& of, Make make)
      : team_(wanted.threads) {
    for (std::size_t i = 0; i < of.size(); ++i) nodes_.push_back(make(i));
    deal_out(team_);
  }
  [[nodiscard]] std::size_t runs_before() const { return 0; }

 protected:
  void call(std::size_t first, std::size_t last) const {
    for (std::size_t i = first; i < last; ++i) nodes_[i]();
  }

  lockstep::team team_;
  std::vector<Node> nodes_;
};

/// On the calling thread: what a chain is.
template <class Node>
class hand_chain : public hand_wired<Node> {
 public:
  using hand_wired<Node>::hand_wired;
  void run(std::size_t iterations) {
    for (std::size_t i = 0; i < iterations; ++i) this->call(0, this->nodes_.size());
  }
};

/// Each node waits for what the other member has published last.
template <class Node>
class hand_crossing : public hand_wired<Node> {
 public:
  using hand_wired<Node>::hand_wired;
  void run(std::size_t iterations) {
    this->team_.run([&](lockstep::member& me) {
      const std::size_t count = this->nodes_.size();
      if (me.rank() > 1) return;
      for (std::size_t i = 0; i < iterations; ++i) {
        for (std::size_t node = me.rank(); node < count; node += 2) {
          const std::size_t before = i * count + node;
          if (before > 0) me.await_step(1 - me.rank(), before);
          this->nodes_[node]();
          me.publish(before + 1);
        }
      }
    });
  }
};

/// The same with a lockstep::event in each direction.
template <class Node>
class event_crossing : public hand_wired<Node> {
 public:
  using hand_wired<Node>::hand_wired;
  void run(std::size_t iterations) {
    alignas(128) lockstep::event ping;
    alignas(128) lockstep::event pong;
    this->team_.run([&](lockstep::member& me) {
      if (me.rank() > 1) return;
      lockstep::event& mine = me.rank() == 0 ? ping : pong;
      lockstep::event& other = me.rank() == 0 ? pong : ping;
      for (std::size_t i = 0; i < iterations; ++i) {
        for (std::size_t node = me.rank(); node < this->nodes_.size(); node += 2) {
          if (i + node > 0) other.wait();
          this->nodes_[node]();
          mine.notify();
        }
      }
      // No node waits for the last one.
    });
  }
};

/// Member 0 begins and ends; in between each has a block.
template <class Node>
class hand_fork : public hand_wired<Node> {
 public:
  using hand_wired<Node>::hand_wired;
  void run(std::size_t iterations) {
    this->team_.run([&](lockstep::member& me) {
      const std::size_t last = this->nodes_.size() - 1;
      const lockstep::index_range mine =
          lockstep::static_block(std::size_t{1}, last, me.rank(), me.size());
      for (std::size_t i = 0; i < iterations; ++i) {
        if (me.rank() == 0) {
          this->nodes_[0]();
          me.publish(i + 1);
          this->call(mine.first, mine.last);
          for (std::size_t other = 1; other < me.size(); ++other) me.await_step(other, i + 1);
          this->nodes_[last]();
        } else {
          me.await_step(0, i + 1);
          this->call(mine.first, mine.last);
          me.publish(i + 1);
        }
      }
    });
  }
};

/// A node of each level for each of two members.
template <class Node>
class hand_lattice : public hand_wired<Node> {
 public:
  using hand_wired<Node>::hand_wired;
  void run(std::size_t iterations) {
    this->team_.run([&](lockstep::member& me) {
      if (me.rank() > 1) return;
      const std::size_t levels = this->nodes_.size() / 2;
      std::size_t step = 0;
      for (std::size_t i = 0; i < iterations; ++i) {
        for (std::size_t level = 0; level < levels; ++level) {
          if (step > 0) me.await_step(1 - me.rank(), step);
          this->nodes_[2 * level + me.rank()]();
          me.publish(++step);
        }
      }
    });
  }
};

/// Member 0 has the top, as many levels as it takes to have a subtree for each member.
template <class Node>
class hand_tree : public hand_wired<Node> {
 public:
  using hand_wired<Node>::hand_wired;
  void run(std::size_t iterations) {
    this->team_.run([&](lockstep::member& me) {
      std::size_t roots = 1;
      while (roots < me.size() && 2 * roots <= this->nodes_.size()) roots *= 2;
      for (std::size_t i = 0; i < iterations; ++i) {
        if (me.rank() == 0) {
          this->call(0, roots - 1);
          me.publish(i + 1);
        } else {
          me.await_step(0, i + 1);
        }
        for (std::size_t root = me.rank(); root < roots; root += me.size())
          subtree(roots - 1 + root);
        me.sync_threads();
      }
    });
  }

 private:
  void subtree(std::size_t root) const {
    for (std::size_t first = root, count = 1; first < this->nodes_.size();
         first = 2 * first + 1, count *= 2) {
      this->call(first, std::min(first + count, this->nodes_.size()));
    }
  }
};

/// Each member has a band of columns, and goes down the rows one behind its left neighbour.
template <class Node>
class hand_wavefront : public hand_wired<Node> {
 public:
  template <class Make>
  hand_wavefront(const team_bench::request& wanted, const shape& of, Make make)
      : hand_wired<Node>(wanted, of, make) {
    while (side_ * side_ < of.size()) ++side_;
  }
  void run(std::size_t iterations) {
    this->team_.run([&](lockstep::member& me) {
      const lockstep::index_range band =
          lockstep::static_block(std::size_t{0}, side_, me.rank(), me.size());
      std::size_t step = 0;
      for (std::size_t i = 0; i < iterations; ++i) {
        for (std::size_t row = 0; row < side_; ++row) {
          ++step;
          if (me.rank() > 0) me.await_step(me.rank() - 1, step);
          this->call(row * side_ + band.first, row * side_ + band.last);
          me.publish(step);
        }
        me.sync_threads();
      }
    });
  }

 private:
  std::size_t side_ = 1;
};

class hand_loop {
 public:
  hand_loop(const team_bench::request& wanted, loop_side left, loop_side right, loop_test again)
      : team_(wanted.threads), left_(left), right_(right), again_(again) {
    deal_out(team_);
  }

  void run() {
    team_.run([this](lockstep::member& me) {
      if (me.rank() > 1) return;
      bool goes_on = true;
      alignas(128) static bool told;
      for (std::size_t turn = 1; goes_on; ++turn) {
        if (me.rank() == 0) {
          left_();
          me.await_step(1, turn);
          told = goes_on = again_();
          me.publish(turn);
        } else {
          right_();
          me.publish(turn);
          me.await_step(0, turn);
          goes_on = told;
        }
      }
    });
  }

 private:
  lockstep::team team_;
  loop_side left_, right_;
  loop_test again_;
};

}  // namespace graph_bench
