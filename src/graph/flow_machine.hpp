// SPDX-License-Identifier: MIT
// src/graph/flow_machine.hpp -- a plan with its functions, ready to be run (layer: graph)
//
// What the members of a run share, and what each has for itself. The caller of runs prepares it, the members walk
// through it (flow_walk.hpp), and it is at rest in between: each lane has done all that it has claimed, and every
// lane of the graph as many turns.
#ifndef LOCKSTEP_SRC_GRAPH_FLOW_MACHINE_HPP
#define LOCKSTEP_SRC_GRAPH_FLOW_MACHINE_HPP

#include <cstddef>
#include <cstdint>

#include <lockstep/detail/graph/node_function.hpp>
#include <lockstep/member.hpp>
#include "../region/group.hpp"
#include "flow_board.hpp"
#include "flow_plan.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// A call of a node, with all that is needed for it in one place.
struct bound_call {
  enum : std::uint16_t { is_wide = 1, may_be_skipped = 2, is_asked = 4 };

  node_function::caller call;
  void* held;
  node_index node;
  std::uint16_t rank;
  std::uint16_t flags;
};

/// The question of a node that may be skipped to another node.
struct bound_question {
  node_index node;  ///< none: one that always runs
  edge_kind kind;
};

/// The measured times of a node. Written by the thread that runs it: its runs follow each other.
struct node_times {
  std::uint64_t count = 0, sum = 0, most = 0, least = ~std::uint64_t{0};  ///< ticks
  std::uint64_t last_begin = 0, last_end = 0;
};

/// How long an empty node takes with two looks at the clock, in ticks.
std::uint64_t time_of_nothing() noexcept;
/// The mean in ticks, without the clock's own time. The longest of several runs does not count: it may have been
/// preempted. For a short node it is the shortest run, because a cache miss would take as long as the node. A node that
/// takes less than the clock itself counts as 0.
double usual_time(const node_times& of, std::uint64_t clock) noexcept;

/// Whether to stop, as the user or a region answers.
struct stop_question {
  void* held;
  bool (*call)(void* held);

  bool operator()() const { return call(held); }
};
/// Whether no other iteration begins: asked on the caller's thread.
using iteration_gate = stop_question;

/// The turns of the graph that a run makes.
struct turn_range {
  std::uint64_t first, last;
};

/// A team-wide node: what its members share.
struct wide_part {
  wide_part(std::size_t width, wait_policy policy, stop_source& stop)
      : shared(width, policy, stop) {}

  group shared;
  std::uint32_t phase = 0;  ///< of its barrier when the run begins
};

/// Where a member stands in a lane.
struct lane_place {
  std::uint32_t lane = no_lane;
  std::uint32_t at = 0;    ///< the step of the turn
  std::uint64_t step = 0;  ///< since the plan was made
  std::uint64_t turn = 0;
  bool is_behind = false;  ///< `done` is not stored yet
};

/// A member's own.
struct walker_state {
  wait_history history = {};
  backoff_trust patience = {};      ///< whether others come while it polls for them
  std::vector<std::uint64_t> seen;  ///< of each lane: how far it was
  std::vector<lane_place> places;   ///< in the graph, and in the loops that the member is in
  std::vector<std::uint32_t>
      entered;  ///< of each team-wide node: the region in which the member came to it last
};

class flow_machine {
 public:
  /// `stop` and `policy`: of the team; without a team it only runs alone.
  flow_machine(const graph_model& of, const flow& checked, flow_plan plan,
               const std::vector<node_function>& functions, wait_policy policy, stop_source* stop);
  flow_machine(const flow_machine&) = delete;
  flow_machine& operator=(const flow_machine&) = delete;
  ~flow_machine();

  /// Before a run of many members: `iterations` of them, or as many as the gate lets through.
  void begin(std::uint64_t iterations, const iteration_gate* gate);
  /// After the run. A stopped run leaves lanes anywhere: puts them in order.
  void end(bool was_stopped);

  /// Whether all lanes have done all iterations of the run.
  bool is_done() const noexcept;

  /// A run on the calling thread alone. `me`: for team-wide nodes. False if it was stopped.
  bool run_alone(std::uint64_t iterations, const iteration_gate* gate, member* me,
                 const stop_question& stop);

  /// Calls a node.
  bool run(const bound_call& what, std::uint64_t iteration, member* me) {
    return iteration >= looked_at ? what.call(what.held, converted<std::size_t>(iteration), me)
                                  : run_watched(what, iteration, me);
  }
  /// The same, unless it is to be skipped; keeps what it returns.
  void run_asked(const bound_call& what, std::uint64_t iteration, member* me);
  /// What a node has returned last; false if it was skipped.
  bool answer(node_index node) const noexcept { return answers_[node] == (ran | said_true); }

  const flow_plan plan;
  flow_board board;
  std::vector<bound_call> calls;  ///< as in the plan; then those of the line
  std::vector<bound_call> line;
  std::vector<wide_part*> wide_of;  ///< of each node, or null
  std::vector<std::uint32_t> wide_number;
  std::vector<node_times> times;
  aligned_array<padded<walker_state>> walkers;
  // Which of the next run's calls look at the clock: in its first iterations, until a node has so many samples.
  std::uint64_t timed_iterations = 0, most_samples = 0;
  const graph_model* model = nullptr;  ///< for the names of nodes; null: not known
  source_place where = {nullptr, 0};   ///< the plan was made, for the ledger
  /// For observers.
  const char* name_of(node_index node) const noexcept;

  // Of the run: written by its caller before it, and only where it changes, since members read these lines.
  std::uint64_t looked_at = 0;  ///< timed_iterations, or all while nodes are watched
  const iteration_gate* gate = nullptr;
  std::uint64_t ahead = 0;  ///< how many turns the gate may be ahead of the slowest lane

 private:
  enum : std::uint8_t { ran = 1, said_true = 2 };

  bound_call bind(const graph_model& of, const flow& checked,
                  const std::vector<node_function>& functions, plan_call what) const;
  void look_at_run() noexcept {
    const bool are_watched = LOCKSTEP_UNLIKELY(watch_others_than_ledger(observers()));
    const std::uint64_t now = are_watched ? ~std::uint64_t{0} : timed_iterations;
    if (looked_at != now) looked_at = now;
  }
  bool run_plain(std::uint64_t iterations, const stop_question& stop);
  bool run_watched(const bound_call& what, std::uint64_t iteration, member* me);
  void note_time(const bound_call& what, std::uint64_t begin) noexcept;
  bool is_skipped(node_index node) const noexcept;
  void reset() noexcept;

  bool is_plain_ = true;  ///< all nodes of the line are only called
  std::vector<std::uint32_t> questions_begin_;
  std::vector<bound_question> questions_;
  std::vector<std::uint8_t> answers_;
  std::vector<owner<wide_part>> wide_parts_;
  std::uint64_t origin_;      ///< the first turn of all: so that delays reach back
  std::uint64_t most_turns_;  ///< whose steps can be counted: "for ever" is as many

 public:
  line_gap before_turns;
  turn_range turns;  ///< of the run: its caller's own, which tells them to the members with the job
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_GRAPH_FLOW_MACHINE_HPP
