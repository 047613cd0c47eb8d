// SPDX-License-Identifier: MIT
// src/graph/plan_body.hpp -- a plan, the team that runs it, and its runs (layer: graph)
//
// There are two kinds of regions. If any thread may run any step of the plan, the region is like a loop with one share
// for each member (team_core.hpp), and does not wait for a member that does not come. A plan with team-wide or pinned
// nodes needs every member.
#ifndef LOCKSTEP_SRC_GRAPH_PLAN_BODY_HPP
#define LOCKSTEP_SRC_GRAPH_PLAN_BODY_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include <lockstep/detail/platform/cache_line.hpp>
#include <lockstep/plan.hpp>
#include <lockstep/region.hpp>
#include "../team/team_core.hpp"
#include "flow_machine.hpp"
#include "plan_stop.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {

namespace detail {

struct plan_body {
  /// `on`: null for a plan to look at.
  plan_body(const graph_body& of, team_host* on, std::size_t members, call_site made_in);
  ~plan_body() {
    misuse::forget(&graph, misuse::role::plan, 0);
    misuse::forget(host, misuse::role::plan, 0);
  }
  plan_body(const plan_body&) = delete;
  plan_body& operator=(const plan_body&) = delete;

  /// Makes the plan of the graph as it is now, with its hints. If that fails, the plan stays as it was.
  void follow_graph();
  owner<flow_machine> made(const graph_model& model, const flow& checked,
                           const std::vector<double>& by) const;
  /// Takes over the times that were measured. False if there are none.
  bool take_times(double nanoseconds_a_tick);
  /// Takes over the times, and makes the plan anew with them. False if there are none.
  bool refine(double nanoseconds_a_tick);
  /// Whether nearly all nodes (99 % of the time) took about the same time, near the one that is assumed where nothing
  /// is known. Then another plan would gain little.
  bool are_times_as_guessed() const noexcept;
  /// Before a run of a plan that learns: has the run timed, or makes the plan anew.
  void learn();
  /// Ends learning: makes `next`, unless that would gain little, or there is no memory.
  bool has_learnt();
  /// The gate of a run that goes on after the iterations that it times: there it ends, if it is to go on with `next`.
  bool ends_here();
  /// A run by several members, or on the calling thread alone.
  bool run(std::uint64_t iterations, const iteration_gate* gate, const char* function,
           bool is_timed = false);
  bool run_shares(std::uint64_t iterations);
  started_region start(std::uint64_t iterations);
  /// A member's part of a run.
  void take_part(loop_share& me, const turn_range& turns);
  void take_part(member& me, const turn_range& turns);
  /// take_part() as a job. The job carries what changes from run to run.
  template <class Argument>
  job part();
  void check_ready(const char* function);
  /// In builds that diagnose misuse: ends the program if graph or team have ended.
  void check_lives(const char* function) const;
  /// Whether a run was started, and is not over.
  bool is_open() const noexcept;
  /// Notes that no run goes on, and puts the lanes in order.
  void end_run(bool& goes_on, bool is_complete);
  /// Before the plan ends. False if members may still use it: then the caller must not delete it.
  bool let_go() noexcept;
  /// A run on the calling thread alone, inside a region. A stop of the region ends the run. A stop of the run does not
  /// end the region.
  void run_on_caller(const stops_with_region& around);

  const graph_body& graph;
  team_host* const host;
  stop_source* const team_stop;
  source_place where;  ///< where the plan was made
  std::size_t most_members;
  std::uint64_t changes;  ///< of the graph, when the plan was made
  std::vector<double> costs;
  owner<flow_machine> machine;
  owner<flow_machine> next;  ///< while a run goes on with a plan that it has made anew
  bool needs_all = false;    ///< every member has to come
  line_gap before_;  // members read what is above, and the caller writes what follows in each run
  bool is_running = false;
  bool has_started = false;
  bool was_alone = false;   ///< the run was on one thread, without the lanes
  bool is_stopped = false;  ///< a run inside a region was stopped
  int in_flight = 0;        ///< how many exceptions were in flight at start()
  plan_stop stop;
  std::uint64_t iterations = 0;
  const iteration_gate* gate = nullptr;

  // If no node has a hint, the plan times its first iterations, and is made anew after them, within a run or before one.
  bool learns = false;
  std::uint64_t iterations_to_time;
  std::uint64_t done = 0;  ///< iterations of this run, before the plan is made anew in it
  std::uint64_t begin_of_ticks, begin_of_time;
  std::uint64_t learnt_from;  ///< from how many runs; 0 for the first plan, and after refine()

  // Measured: the recent time of an iteration on one thread, and the number of runs.
  double time_alone = 0;
  std::uint64_t runs;
  std::uint64_t measured_iterations, measured_time;
};

/// The node whose last run exceeded its earlier mean by the most.
const char* cause_of_delay(const plan_body& of, std::chrono::nanoseconds& excess);
/// What is predicted, what was measured, and where time is lost.
std::string report_of(const plan_body& of);

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_GRAPH_PLAN_BODY_HPP
