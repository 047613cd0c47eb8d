// SPDX-License-Identifier: MIT
// src/graph/timed_plan.hpp -- a plan whose runs are timed (layer: graph)
#ifndef LOCKSTEP_SRC_GRAPH_TIMED_PLAN_HPP
#define LOCKSTEP_SRC_GRAPH_TIMED_PLAN_HPP

#include <lockstep/detail/graph/plan_body.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// Runs look at the clock while it lives.
class timed_plan {
 public:
  explicit timed_plan(plan_body& of) : machine_(*of.machine) {
    if (of.is_running || of.has_started) of.check_ready("measure");
    of.learns = false;
    machine_.timed_iterations = machine_.most_samples = ~std::uint64_t{0};
  }
  ~timed_plan() { machine_.timed_iterations = 0; }
  timed_plan(const timed_plan&) = delete;
  timed_plan& operator=(const timed_plan&) = delete;

 private:
  flow_machine& machine_;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_GRAPH_TIMED_PLAN_HPP
