// SPDX-License-Identifier: MIT
// tests/edges/shared_objects/plugin.cpp -- one shared object; built twice, with hidden symbols
#include "plugin.hpp"

#include <mutex>

struct log_file;

namespace {

bool run(lockstep::team& team, bool (*f)(void*), void* context) {
  lockstep::mutex guard;
  bool all = true;
  team.run([&](lockstep::member&) {
    const bool here = f(context);
    const std::lock_guard<lockstep::mutex> held(guard);
    all = all && here;
  });
  return all;
}

void wait(lockstep::condition_variable& condition, lockstep::mutex& mutex, bool& done) {
  std::unique_lock<lockstep::mutex> lock(mutex);
  while (!done) condition.wait(lock);
}

void be_seen(lockstep::team& team) {
  LOCKSTEP_TRACE_SCOPE("a region of the plug-in");
  team.run([](lockstep::member& me) {
    LOCKSTEP_TRACE_SCOPE("a part of the plug-in");
    me.sync_threads();
    me.single([] { lockstep::trace_mark("a mark of the plug-in"); });
  });
  team.for_each(0, 100, [](int) {});
  lockstep::graph graph;
  const auto first = graph.node("a node of the plug-in", [] {});
  graph.edge(first, graph.node("another node of the plug-in", [] {}));
  lockstep::plan plan(graph, team);
  plan.run();
  lockstep::name_this_thread("named by the plug-in");
}

const plugin offered = {
    [](lockstep::mutex& mutex) { mutex.lock(); },
    [](lockstep::mutex& mutex) { mutex.unlock(); },
    [](lockstep::semaphore& semaphore) { semaphore.acquire(); },
    [](lockstep::semaphore& semaphore) { semaphore.release(); },
    wait,
    [](lockstep::condition_variable& condition) { condition.notify_all(); },
    run,
    [](lockstep::member& self, void (*f)(void*), void* context) {
      self.critical<log_file>([&] { f(context); });
    },
    [](lockstep::recursive_mutex& mutex) { mutex.lock(); },
    [](lockstep::recursive_mutex& mutex) { mutex.unlock(); },
    [] { return lockstep::detail::number_of_this_thread(); },
    [] { return lockstep::detail::usable_cpus(); },
    []() -> const void* { return &lockstep::detail::find_observers(false); },
    [] { return new lockstep::team(2); },
    [](lockstep::team* team) { delete team; },
    []() -> lockstep::team& { return lockstep::default_team(); },
    be_seen,
};

}  // namespace

extern "C" __attribute__((visibility("default"))) const plugin* PLUGIN() { return &offered; }
