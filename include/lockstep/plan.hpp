// SPDX-License-Identifier: MIT
// lockstep/plan.hpp -- a graph on a team: which member runs which node when, and the run itself (layer: graph)
//
// A plan gives each node to a member, and finds which waits are needed between members. The same graph and team give the
// same plan. An edge between nodes of one member needs no wait; a wait that others imply is left out. A run allocates
// nothing, takes no lock, and has no queue.
//
// If no node has a hint (graph_node::cost) and none is pinned or team-wide, the plan learns: it looks at the clock in
// its first five iterations (or fewer, of a graph with loops). Then it is made anew, once, and allocates: between two
// iterations of a run() or run_until() that goes on, else when the next run begins. Without memory it stays as it is. A
// plan does not learn after measure(), run_by() or refine(). report() says what was done.
//
// If nodes, edges or hints were added to the graph since, the next run makes the plan anew first, as its constructor
// did: it allocates, it may fail as the constructor does, and what was measured is lost. A node may add to its own graph.
//
//   PLAN-1  What happens before run() happens before every node, and every node before its return.
//   PLAN-2  A member that is late does not hold up what others can do. A member that would wait for a node runs it itself
//           if the node can begin, unless it is pinned or team-wide. So a node may run on any member's thread.
//   PLAN-3  The first exception of a node ends the run: waiting members are released, and when all members have come
//           back, run() rethrows it. After request_stop() run() returns false. Nodes that have begun are run to their end.
//           Others may still begin if they need not wait, but none that comes after a team-wide node. The plan can be run
//           again.
//   PLAN-4  Inside a region of the same team (TEAM-2 of team.hpp) a plan runs on the calling thread alone, in an order
//           that the graph allows. So does a plan that needs one member only.
//   PLAN-5  One thread at a time uses a plan. A node must not run the plan that it is part of, nor one that was started:
//           std::logic_error.
//
// The team must outlive its plans; so must the graph.
//
// Cost   a node that follows another on the same member: a call through a pointer. An edge between members: one line
//        transfer. A node that waits: one RMW on a line of its member. A run: a region of the team on as many members as
//        are needed. A chain on one member takes 1.4 ns a node, one that crosses between two members at each edge 52 ns
//        (docs/performance.md); to plan 10 000 nodes 7 to 9 ms (decision 0019).
// Order  PLAN-1; between nodes that of graph.hpp.
// Errors a graph that makes no sense, and one that needs more members: std::invalid_argument with a text that names the
//        nodes; from a run, if the graph has become so. PLAN-5: std::logic_error. run() throws what a node threw (PLAN-3).
// Example
//   int frames = 0;
//   lockstep::graph g;
//   g.edge(g.node("read", [] {}), g.node("draw", [&] { ++frames; }));
//   lockstep::team two(2);
//   lockstep::plan plan(g, two);
//   plan.run();      // one iteration
//   plan.run(1000);  // a thousand, without a look at the caller in between
//   plan.run_until([&] { return frames == 5000; });
#ifndef LOCKSTEP_PLAN_HPP
#define LOCKSTEP_PLAN_HPP

#include <chrono>
#include <cstddef>
#include <string>
#include <type_traits>

#include <lockstep/graph.hpp>
#include <lockstep/team.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {

class external_team;
namespace detail {
struct plan_body;  // src/graph/plan_body.hpp
}  // namespace detail

/// What run_by() says of an iteration.
struct timed_run {
  bool completed;                 ///< false: it was stopped
  bool in_time;                   ///< it ended before the deadline
  std::chrono::nanoseconds took;  ///< from the call to the return
  std::chrono::nanoseconds late;  ///< by which it missed the deadline, or 0; at most `took`
  /// In a run that was late, the node that took longest beyond what it usually takes. Null if none did: then the time
  /// was lost before or between nodes. Valid until the plan ends or is made anew.
  const char* cause;
  std::chrono::nanoseconds excess;  ///< how much longer that node took
};

/// A graph, and which member of a team runs which of its nodes when.
class plan {
 public:
  /// Fails with std::invalid_argument and the text of graph::validate() if the graph is wrong, or if it needs a member
  /// that the team does not have. With `members` it uses that many of the team, the first ones.
  /// The team's ledger names the plan by `where`.
  plan(const graph& of, team& on, call_site where = {});
  plan(const graph& of, team& on, std::size_t members, call_site where = {});
  plan(const graph& of, external_team& on, call_site where = {});
  plan(const graph& of, external_team& on, std::size_t members, call_site where = {});
  /// A plan without a team, for this number of members, to look at. run() fails with std::logic_error.
  plan(const graph& of, std::size_t members);

  /// Joins a run that was started and not joined (START-2 of region.hpp), and drops what its nodes throw. If that run
  /// cannot be joined here, or the plan runs (as when a node ends the program), the plan's memory is not freed.
  ~plan();
  /// After that members() and max_ahead() of `other` are 0, and its other functions fail with std::logic_error.
  plan(plan&& other) noexcept;
  plan& operator=(plan&&) = delete;

  // --- runs ---

  /// PLAN-1 to PLAN-4. False if it was stopped.
  bool run(std::size_t iterations = 1);

  /// Runs iterations until stop() returns true. It calls stop() on the calling thread before each iteration: when the one
  /// before is done or, if iterations overlap, at most max_ahead() iterations ahead of the slowest member. False if the run
  /// was stopped otherwise.
  template <class Stop>
  bool run_until(Stop&& stop) {
    using held = typename std::remove_reference<Stop>::type;
    return run_until(const_cast<void*>(static_cast<const void*>(&stop)),
                     [](void* of) -> bool { return (*static_cast<held*>(of))(); });
  }
  std::size_t max_ahead() const noexcept;

  /// Starts a run on the other members, and returns a handle to join (region.hpp): join() runs the caller's part.
  /// Meanwhile the others take over what they can of it. Requires a plan on a team.
  LOCKSTEP_NODISCARD started_region start(std::size_t iterations = 1);

  /// One iteration, with a look at the clock before and after each node (20 ns a node). Ends when it is done, in time
  /// or not.
  timed_run run_by(deadline until);

  /// Ends the run of this plan, if there is one (PLAN-3), and no other run or region. Any thread may call it, as long
  /// as the plan lives.
  void request_stop();

  // --- measurements ---

  /// As run(), with a look at the clock before and after each node, for refine() and report().
  bool measure(std::size_t iterations);
  /// Makes the plan anew with the mean times that measure() and run_by() have found. What was not run keeps its hint. The
  /// new plan is not measured yet. False if nothing was measured since the last time.
  bool refine();

  // --- looks ---

  /// How many members it uses: the first of the team.
  std::size_t members() const noexcept;

  /// By hints or measured times: the longest way through an iteration, all nodes one after the other, and how long an
  /// iteration will take. A loop counts as one turn.
  std::chrono::nanoseconds critical_path() const;
  std::chrono::nanoseconds serial_time() const;
  std::chrono::nanoseconds predicted_time() const;

  /// The plan, line by line: for each member its nodes and waits.
  std::string text() const;
  /// What is predicted, what was measured, and where time is lost.
  std::string report() const;
  /// For Graphviz: a lane for each member, edges between members are bold.
  std::string dot() const;

 private:
  bool run_until(void* stop, bool (*asks)(void* stop));
  detail::plan_body& body() const;

  detail::owner<detail::plan_body> body_;
};

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_PLAN_HPP
