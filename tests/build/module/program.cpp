// SPDX-License-Identifier: MIT
// A program that imports the library: a team, loops, barriers, a graph, primitives; and a second unit that includes it.
#include <lockstep/trace.hpp>  // for LOCKSTEP_TRACE_SCOPE: a module exports no macros

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

import lockstep;

// second_unit.cpp: includes the headers, and has the same classes.
void included_unit_notifies(lockstep::event& event);
std::size_t included_unit_size(lockstep::team& team);

namespace {

void require(bool good, const char* what) {
  if (!good) throw std::runtime_error(what);
}

void loops_reach_each_index(lockstep::team& team) {
  std::vector<std::size_t> values(1000);
  team.for_each(0, values.size(), [&](std::size_t i) { values[i] = i; });
  team.for_range(0, values.size(), [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i != last; ++i) ++values[i];
  });
  const std::size_t sum = team.reduce_each(
      0, values.size(), std::size_t{0}, [&](std::size_t i) { return values[i]; },
      std::plus<std::size_t>());
  require(sum == 500500, "loops");
}

void barriers_hold(lockstep::team& team) {
  std::vector<unsigned> arrived(team.size());
  std::atomic<bool> complete{true};
  team.run([&](lockstep::member& me) {
    LOCKSTEP_TRACE_SCOPE("barriers");
    for (unsigned phase = 1; phase <= 100; ++phase) {
      arrived[me.rank()] = phase;
      me.sync_threads();
      for (const unsigned other : arrived) {
        if (other != phase) complete = false;
      }
      me.sync_threads();
    }
    me.for_each(lockstep::nowait, 0, 10, [](int) {});
    if (me.sync_sum(1u) != me.size()) complete = false;
  });
  require(complete, "barriers of a team");

  lockstep::barrier<> barrier(2);
  int left = 0, right = 0;
  std::thread other([&] {
    left = 1;
    barrier.arrive_and_wait();
  });
  right = 2;
  barrier.arrive_and_wait();
  require(left + right == 3, "barrier");
  other.join();
}

void graph_repeats(lockstep::team& team) {
  lockstep::graph graph;
  int loaded = 0, left = 0, right = 0, tested = 0;
  const auto load = graph.node("load", [&] { ++loaded; });
  const auto one = graph.node("left", [&] { left += loaded; });
  const auto two = graph.node("right", [&] { right += loaded; });
  const auto test = graph.node("test", [&] { return ++tested < 10; });
  graph.loop(graph.series(load, graph.parallel(one, two), test));
  lockstep::plan plan(graph, team);
  plan.run();
  require(loaded == 10 && left == 55 && right == 55 && tested == 10, "graph");
}

void units_share_objects(lockstep::team& team) {
  lockstep::event event;
  std::thread other([&] { included_unit_notifies(event); });
  require(event.wait(), "event of the other unit");
  other.join();
  require(included_unit_size(team) == team.size(), "team in the other unit");
}

void names_are_there() {
  lockstep::joinable_thread first([] {}), second;
  swap(first, second);
  second.join();
  const lockstep::deadline soon = lockstep::deadline::after(std::chrono::milliseconds(1));
  lockstep::semaphore empty(0);
  require(!empty.try_acquire_until(soon), "deadline");
  require(lockstep::cache_line_size >= 64, "constants");
  require(lockstep::to_string(lockstep::build_info()).find(LOCKSTEP_VERSION) != std::string::npos,
          "version");
}

}  // namespace

int main() try {
  lockstep::team team(3);
  loops_reach_each_index(team);
  barriers_hold(team);
  graph_repeats(team);
  units_share_objects(team);
  names_are_there();
  std::puts("ok");
  return 0;
} catch (const std::exception& error) {
  std::printf("wrong: %s\n", error.what());
  return 1;
}
