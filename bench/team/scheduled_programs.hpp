// SPDX-License-Identifier: MIT
// bench/team/scheduled_programs.hpp -- ForkUnion's two benchmarks, with blocks or with claims
//
// Sizes, types, random numbers and steps are those of scripts/nbody and scripts/propagation of ForkUnion 3.0.2. They
// have each loop in two ways: in blocks, and with claims of one index at a time. Programs as in programs.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "team/kernels.hpp"
#include "team/necklace.hpp"

namespace team_bench {

/// One block of each loop for each thread.
struct in_blocks {
  template <class Executor, class Function>
  static void loop(Executor& on, std::size_t first, std::size_t last, const Function& f) {
    on.loop(first, last, f);
  }
  template <class Executor, class Function>
  static double sum(Executor& on, std::size_t first, std::size_t last, const Function& f) {
    return on.sum(first, last, f);
  }
};

/// Threads take indices when they have time.
struct by_claims {
  template <class Executor, class Function>
  static void loop(Executor& on, std::size_t first, std::size_t last, const Function& f) {
    on.claimed_loop(first, last, f);
  }
  template <class Executor, class Function>
  static double sum(Executor& on, std::size_t first, std::size_t last, const Function& f) {
    return on.claimed_sum(first, last, f);
  }
};

/// Attraction, then movement, in single precision, in a box whose sides are joined.
template <class Schedule>
class bodies_in_box {
 public:
  static constexpr double tolerance = 0;
  struct scalars {};

  explicit bodies_in_box(std::size_t bodies) : bodies_(bodies), forces_(3 * bodies) {
    std::uint64_t counter = 0;
    const auto draw = [&counter] {  // in [0, 1), of 24 bits
      return static_cast<float>(split_mix(counter++) >> 40U) * 0x1p-24F;
    };
    for (body& one : bodies_) {
      for (float& x : one.position) x = draw();
      for (float& v : one.velocity) v = draw();
      one.mass = 1e10F + draw() * (1e15F - 1e10F);
    }
  }

  template <class Executor>
  scalars step(Executor& on, scalars) {
    Schedule::loop(on, 0, bodies_.size(), [this](std::size_t first, std::size_t last) {
      attract_in_box(first, last, bodies_.size(), bodies_.data(), forces_.data());
    });
    Schedule::loop(on, 0, bodies_.size(), [this](std::size_t first, std::size_t last) {
      move_in_box(first, last, forces_.data(), bodies_.data());
    });
    return {};
  }

  std::vector<float> result() const {
    std::vector<float> all;
    for (const body& one : bodies_) {
      all.insert(all.end(), one.position, one.position + 3);
      all.insert(all.end(), one.velocity, one.velocity + 3);
    }
    return all;
  }

 private:
  std::vector<body> bodies_;
  std::vector<float> forces_;
};

/// Connected components: in each step every vertex takes the smallest label among its own and its neighbours'. Begun
/// anew when no label has changed.
template <class Schedule>
class components_of_necklace {
 public:
  static constexpr double tolerance = 0;
  struct scalars {
    std::size_t from = 0;  // the array that is read
    bool has_begun = false;
  };

  explicit components_of_necklace(std::size_t communities)
      : graph_(necklace_of(communities)),
        labels_{std::vector<std::uint32_t>(graph_.vertices()),
                std::vector<std::uint32_t>(graph_.vertices())} {}

  template <class Executor>
  scalars step(Executor& on, scalars now) {
    std::uint32_t* from = labels_[now.from].data();
    std::uint32_t* into = labels_[1 - now.from].data();
    if (!now.has_begun) {
      on.loop(0, graph_.vertices(), [from](std::size_t first, std::size_t last) {
        for (; first < last; ++first) from[first] = static_cast<std::uint32_t>(first);
      });
    }
    const double changes =
        Schedule::sum(on, 0, graph_.vertices(), [&](std::size_t first, std::size_t last) {
          return static_cast<double>(lower_labels(first, last, graph_.begins.data(),
                                                  graph_.neighbours.data(), from, into));
        });
    return {1 - now.from, changes != 0};
  }

  const std::vector<std::uint32_t>& result() const { return labels_[0]; }

 private:
  /// Made once: a runner checks and measures on the same graph.
  static const graph& necklace_of(std::size_t communities) {
    static std::map<std::size_t, graph> made;
    const auto found = made.find(communities);
    if (found != made.end()) return found->second;
    return made.emplace(communities, make_necklace({communities})).first->second;
  }

  const graph& graph_;
  std::vector<std::uint32_t> labels_[2];
};

}  // namespace team_bench
