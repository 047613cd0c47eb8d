// SPDX-License-Identifier: MIT
// src/graph/plan.cpp -- plan.hpp (layer: graph)
#include <algorithm>
#include <chrono>

#include <lockstep/external_team.hpp>
#include <lockstep/plan.hpp>
#include "plan_body.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

LOCKSTEP_INLINE plan_body* make_plan(const graph& of, const plan_team& on, std::size_t members,
                                     call_site where) {
  checked_range("lockstep::plan", "members", members, 1,
                on.team != nullptr ? on.size : std::size_t{max_participants});
  return new plan_body(graph_access::body_of(of), on, members, where);
}

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

LOCKSTEP_INLINE plan::plan(const graph& of, team& on, call_site where)
    : plan(of, on, on.size(), where) {}
LOCKSTEP_INLINE plan::plan(const graph& of, team& on, std::size_t members, call_site where)
    : body_(detail::make_plan(of, detail::plan_team(detail::team_access::host_of(on)), members,
                              where)) {}
LOCKSTEP_INLINE plan::plan(const graph& of, external_team& on, call_site where)
    : plan(of, on, on.size(), where) {}
LOCKSTEP_INLINE plan::plan(const graph& of, external_team& on, std::size_t members, call_site where)
    : body_(detail::make_plan(of, detail::plan_team(detail::team_access::host_of(on)), members,
                              where)) {}
LOCKSTEP_INLINE plan::plan(const graph& of, std::size_t members)
    : body_(detail::make_plan(of, detail::plan_team(), members, call_site{nullptr, 0})) {}
LOCKSTEP_INLINE plan::~plan() {
  if (body_ && !body_->let_go()) static_cast<void>(body_.release());
}
LOCKSTEP_INLINE plan::plan(plan&& other) noexcept = default;

LOCKSTEP_INLINE detail::plan_body& plan::body() const {
  if (LOCKSTEP_UNLIKELY(!body_)) {
    detail::fail_use("lockstep::plan: this object is of no plan: that was moved to another one");
  }
  return *body_;
}

LOCKSTEP_INLINE bool plan::run(std::size_t iterations) {
  return body().run(iterations, nullptr, "run");
}
LOCKSTEP_INLINE bool plan::run_until(void* stop, bool (*asks)(void* stop)) {
  const detail::iteration_gate gate = {stop, asks};
  return body().run(1, &gate, "run_until");
}
LOCKSTEP_INLINE started_region plan::start(std::size_t iterations) {
  return body().start(iterations);
}
LOCKSTEP_INLINE std::size_t plan::max_ahead() const noexcept {
  return body_ ? detail::converted<std::size_t>(body_->machine->ahead) : 0;
}
LOCKSTEP_INLINE std::size_t plan::members() const noexcept {
  return body_ ? body_->machine->plan.members : 0;
}

LOCKSTEP_INLINE bool plan::measure(std::size_t iterations) {
  const detail::timed_plan here(body());
  const std::uint64_t begin = detail::monotonic_nanoseconds();
  const bool completed = body().run(iterations, nullptr, "measure");
  if (!completed) return false;  // how many there were is not known
  body().measured_time += detail::monotonic_nanoseconds() - begin;
  body().measured_iterations += iterations;
  return true;
}

LOCKSTEP_INLINE timed_run plan::run_by(deadline until) {
  const std::uint64_t begin = detail::monotonic_nanoseconds();
  timed_run made = timed_run();
  {
    const detail::timed_plan here(body());
    made.completed = body().run(1, nullptr, "run_by");
  }
  const std::uint64_t end = detail::monotonic_nanoseconds();
  body().measured_time += end - begin;
  ++body().measured_iterations;
  made.took = std::chrono::nanoseconds(end - begin);
  made.in_time = end <= until.nanoseconds();
  if (made.in_time) return made;
  // A deadline keeps no time before it was made.
  made.late = std::chrono::nanoseconds(end - (std::max)(until.nanoseconds(), begin));
  made.cause = detail::cause_of_delay(body(), made.excess);
  return made;
}

LOCKSTEP_INLINE bool plan::refine() {
  if (body().is_running || body().has_started) body().check_ready("refine");
  body().learns = false;
  const bool is_new = body().refine(1e9 / detail::tick_clock::rate());
  if (is_new) body().learnt_from = 0;
  return is_new;
}

LOCKSTEP_INLINE std::chrono::nanoseconds plan::critical_path() const {
  return std::chrono::nanoseconds(body().machine->plan.critical_path);
}
LOCKSTEP_INLINE std::chrono::nanoseconds plan::serial_time() const {
  return std::chrono::nanoseconds(body().machine->plan.serial_time);
}
LOCKSTEP_INLINE std::chrono::nanoseconds plan::predicted_time() const {
  return std::chrono::nanoseconds(body().machine->plan.predicted_time);
}

LOCKSTEP_INLINE std::string plan::report() const { return detail::report_of(body()); }

LOCKSTEP_INLINE std::string plan::dot() const {
  return detail::dot_of(body().model, body().checked, body().machine->plan);
}

LOCKSTEP_INLINE std::string plan::text() const {
  return detail::text_of(body().model, body().machine->plan);
}

LOCKSTEP_INLINE void plan::request_stop() {
  detail::plan_body& of = body();
  if (of.host.stop != nullptr) of.stop.request(*of.host.stop);
}

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
