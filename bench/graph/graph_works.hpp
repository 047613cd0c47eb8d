// SPDX-License-Identifier: MIT
// bench/graph/graph_works.hpp -- the time of a graph's iteration, in turns with that of serial calls
//
// A peer of graphs, Peer<Node>, is made from (request, shape, make), where make(number) gives a Node, a function without
// arguments. It has run(iterations). A peer of loops is made from (request, left, right, again): left and right run beside
// each other, then again() says whether they run once more. It has run(), which is one loop.
#pragma once

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include "graph/node_work.hpp"
#include "graph/shapes.hpp"
#include "support/calibration.hpp"
#include "support/stopwatch.hpp"
#include "team/catalogue.hpp"
#include "team/sampling.hpp"

namespace graph_bench {

using team_bench::catalogue;
using team_bench::measurement;
using team_bench::request;

/// The time of a node, and its name in works.
struct node_time {
  const char* name;
  double hundreds;  ///< of nanoseconds
};
inline constexpr node_time node_times[] = {{"0", 0}, {"100ns", 1}, {"1us", 10}, {"10us", 100}};

inline std::size_t rounds_of(const node_time& time) {
  return static_cast<std::size_t>(time.hundreds * static_cast<double>(team_bench::delay_rounds()));
}

/// Sums over the turns of a sample.
struct turns_taken {
  bench::elapsed_time peer{};
  double serial_seconds = 0;
};

/// Serial and peer take turns, so that a slow spell hits both; the peer is warmed up before each of its own.
template <class Serial, class Perform>
turns_taken take_turns(std::size_t turns, const Serial& serial, const Perform& warm_up,
                       const Perform& perform) {
  turns_taken sum;
  for (std::size_t i = 0; i < turns; ++i) {
    const bench::stopwatch alone;
    serial();
    sum.serial_seconds += alone.wall_seconds();
    warm_up();
    const bench::stopwatch watch;
    perform();
    const bench::elapsed_time time = watch.elapsed();
    sum.peer.wall_seconds += time.wall_seconds;
    sum.peer.cpu_seconds += time.cpu_seconds;
  }
  return sum;
}

/// `units`: of all turns together.
inline measurement result_of(const turns_taken& sum, double units) {
  measurement result;
  result.value = sum.peer.wall_seconds * 1e9 / units;
  result.cpus = sum.peer.cpu_seconds / sum.peer.wall_seconds;
  result.more["serial_ns"] = sum.serial_seconds * 1e9 / units;
  result.more["speed_up"] = sum.serial_seconds / sum.peer.wall_seconds;
  return result;
}

template <template <class> class Peer>
void check_graph(const request& wanted, const shape& of, const std::string& who) {
  constexpr std::size_t runs = 3;
  run_log log(of);
  Peer<checked_node> peer(wanted, of,
                          [&log](std::size_t node) { return checked_node{&log, node}; });
  peer.run(runs);
  peer.run(1);
  log.check(peer.runs_before() + runs + 1, who);
}

template <template <class> class Peer>
measurement measure_graph(const request& wanted, const shape& of, const node_time& time,
                          const std::string& who) {
  check_graph<Peer>(wanted, of, who);
  const working_node node{rounds_of(time)};
  Peer<working_node> peer(wanted, of, [node](std::size_t) { return node; });
  const auto seconds_of = [&](std::size_t iterations) {
    const bench::stopwatch watch;
    peer.run(iterations);
    return watch.wall_seconds();
  };
  // Threads that were just made may share a CPU for a while; what settles is seen by the second look.
  (void)bench::calibrate({wanted.seconds, wanted.seconds / 4, 1'000'000}, seconds_of);
  const std::size_t fitting =
      bench::calibrate({wanted.seconds, wanted.seconds / 16, 100'000'000}, seconds_of);
  const std::size_t turns = std::min<std::size_t>(fitting, 5);
  const std::size_t each = fitting / turns;

  // As many of serial calls as take about as long: it counts for the ratio only.
  const std::vector<working_node> nodes(of.size(), node);
  const auto serial = [&] {
    for (std::size_t i = 0; i < each; ++i) {
      for (const working_node& one : nodes) one();
    }
  };
  struct runs {
    Peer<working_node>& peer;
    std::size_t count;
    void operator()() const { peer.run(count); }
  };
  const turns_taken sum = take_turns(turns, serial, runs{peer, each / 4 + 1}, runs{peer, each});
  measurement result = result_of(sum, static_cast<double>(turns * each * of.units));
  result.more["nodes"] = static_cast<double>(of.size());
  result.more["iterations"] = static_cast<double>(turns * each);
  return result;
}

template <template <class> class Peer>
void add_graphs(catalogue& to, const std::string& peer, const std::vector<std::string>& shapes) {
  for (const std::string& name : shapes) {
    for (const node_time& time : node_times) {
      to.push_back({name + "/" + time.name, peer, [=](const request& wanted) {
                      return measure_graph<Peer>(wanted, make_shape(name, wanted.size), time, peer);
                    }});
    }
  }
}

inline const std::vector<std::string>& all_shapes() {
  static const std::vector<std::string> names = {"chain", "twins",     "lattice", "fork",
                                                 "tree",  "wavefront", "random"};
  return names;
}

/// One run with --size turns, after one with a hundredth.
template <class Peer>
measurement measure_loop(const request& wanted, const node_time& time, const std::string& who) {
  // On lines of their own: the sides run on different CPUs.
  struct alignas(128) padded_counts {
    loop_counts test;
    alignas(128) std::size_t left = 0;
    alignas(128) std::size_t right = 0;
  } counts;
  const working_node node{rounds_of(time)};
  const loop_side left{node, &counts.left}, right{node, &counts.right};
  const loop_test again{&counts.test};
  Peer peer(wanted, left, right, again);
  const std::size_t turns = std::max<std::size_t>(wanted.size, 100);
  const auto run = [&](std::size_t count) {
    counts.test = {};
    counts.left = counts.right = 0;
    counts.test.turns = count;
    peer.run();
    if (counts.left != count || counts.right != count || counts.test.tested != count) {
      throw std::runtime_error(who + " does not keep to the loop");
    }
  };
  const auto serial = [&] {
    counts.test = {};
    counts.test.turns = turns;
    do {
      left();
      right();
    } while (again());
  };
  struct runs {
    const decltype(run)& with;
    std::size_t count;
    void operator()() const { with(count); }
  };
  const turns_taken sum = take_turns(1, serial, runs{run, turns / 100}, runs{run, turns});
  measurement result = result_of(sum, static_cast<double>(turns));
  result.more["iterations"] = static_cast<double>(turns);
  return result;
}

template <class Peer>
void add_loops(catalogue& to, const std::string& peer) {
  for (const node_time& time : node_times) {
    to.push_back({std::string("loop/") + time.name, peer,
                  [=](const request& wanted) { return measure_loop<Peer>(wanted, time, peer); }});
  }
}

}  // namespace graph_bench
