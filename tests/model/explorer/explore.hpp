// SPDX-License-Identifier: MIT
// tests/model/explorer/explore.hpp -- what a model test is written with
//
//   TEST(event_model, no_notification_is_lost) {
//     explore([] {
//       event ready;
//       int data;
//       threads({[&] { data = 1; ready.notify(); },
//                [&] { ready.wait(); check(data == 1, "sees what came before"); }});
//     });
//   }
//
// explore() runs the scenario under all schedules within each budget of the plan, then under seeded random
// ones, and fails the test with a trail and the interleaving if one goes wrong. The environment says more:
//
//   LOCKSTEP_MODEL_SCHEDULES=N  random schedules per scenario (default 3000)
//   LOCKSTEP_MODEL_SEED=S       the first seed (default 1)
//   LOCKSTEP_MODEL_BRIEF=N      at most N preemptions in each exhaustive search
//   LOCKSTEP_MODEL_DEEPER=N     after them further exhaustive searches, with that many preemptions more (default 0)
//   LOCKSTEP_MODEL_MOST=N       a further search, or one in brief, that needs more schedules than that is cut, and the
//                               report says so (default 5000000; in brief none is cut)
//   LOCKSTEP_MODEL_TRAIL=T      the one schedule of that trail, with its interleaving
//   LOCKSTEP_MODEL_MUTATION     see site.hpp
#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include "explorer.hpp"

namespace lockstep::model {

/// Which searches a scenario is put through.
struct plan {
  std::vector<budget> budgets = {{3, 0, 0}, {2, 1, 0}, {1, 1, 1}};
  bool searches_at_random = true;
  settings how = {};
};

/// Fails the running GoogleTest test if any schedule goes wrong.
void explore(const std::function<void()>& scenario, const plan& by = plan());

/// As explore(), but returns what went wrong, or nothing: for the tests of the explorer.
std::string find_failure(const std::function<void()>& scenario, const plan& by = plan());

/// Called before a failed execution is repeated in a child process: makes the library's queues as new. The execution has
/// left locks, which the handlers of fork() would wait for, and nodes on stacks that are no more, which they would read.
/// scenario.hpp sets it.
inline void (*empty_queues)() = nullptr;

// For use in scenarios.

/// Runs the bodies as threads of the model, until all have ended.
void threads(std::initializer_list<std::function<void()>> bodies);
void threads(const std::vector<std::function<void()>>& bodies);

/// Ends the execution as failed unless `holds`.
void check(bool holds, const char* why);

}  // namespace lockstep::model
