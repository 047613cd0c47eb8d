// SPDX-License-Identifier: MIT
// src/graph/plan.cpp -- plan.hpp, and the bodies of plan_body.hpp (layer: graph)
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <utility>

#include <lockstep/external_team.hpp>
#include <lockstep/plan.hpp>
#include "../platform/system_texts.hpp"
#include "flow_plan.hpp"
#include "flow_walk.hpp"
#include "plan_body.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

LOCKSTEP_INLINE plan_body::plan_body(const graph_body& of, team_host* on, std::size_t members,
                                     call_site made_in)
    : graph(of),
      host(on),
      team_stop(on != nullptr ? &on->core().stop() : nullptr),
      where(made_in),
      most_members(members) {
  follow_graph();
  misuse::note(&graph, misuse::role::plan);
  misuse::note(host, misuse::role::plan);
}

LOCKSTEP_INLINE void plan_body::follow_graph() {
  const graph_model& model = graph.model;
  const flow checked = make_flow(model);
  if (!checked.problem.empty()) fail_argument("lockstep::plan: %s", checked.problem.c_str());
  std::vector<double> hints;
  bool has_hints = false, is_bound = false;
  for (const model_node& each : model.nodes) {
    hints.push_back(each.cost);
    is_bound |= each.is_wide || each.pin != no_node;
    has_hints |= each.cost >= 0;
  }
  machine = made(model, checked, hints);
  needs_all = is_bound;
  costs = std::move(hints);
  learns = !has_hints && !needs_all && host != nullptr && machine->plan.members > 1;
  iterations_to_time = flow_machine::first_timed;
  begin_of_ticks = learnt_from = runs = measured_iterations = measured_time = 0;
  time_alone = 0;
  changes = graph.changes;
}

LOCKSTEP_INLINE owner<flow_machine> plan_body::made(const graph_model& model, const flow& checked,
                                                    const std::vector<double>& by) const {
  flow_plan plan = make_flow_plan(model, checked, by, most_members);
  if (!plan.problem.empty()) fail_argument("lockstep::plan: %s", plan.problem.c_str());
  const wait_policy policy = host != nullptr ? host->policy() : wait_policy();
  owner<flow_machine> with(
      new flow_machine(model, checked, std::move(plan), graph.functions, policy, team_stop));
  with->where = where;
  return with;
}

LOCKSTEP_INLINE bool plan_body::take_times(double nanoseconds_a_tick) {
  bool has_some = false;
  const std::uint64_t clock = time_of_nothing();
  for (std::size_t i = 0; i < costs.size(); ++i) {
    const node_times& of = machine->times[i];
    if (of.count == 0) continue;
    has_some = true;
    double ticks = detail::usual_time(of, clock);
    // With few samples, several may have been preempted.
    if (learns) ticks = (std::min)(ticks, 2 * static_cast<double>(of.least));
    costs[i] = nanoseconds_a_tick * ticks;
  }
  return has_some;
}

LOCKSTEP_INLINE bool plan_body::refine(double nanoseconds_a_tick) {
  const bool has_some = take_times(nanoseconds_a_tick);
  if (!has_some) return false;
  machine = made(machine->model, machine->checked, costs);
  measured_iterations = measured_time = 0;  // of the plan before
  return true;
}

LOCKSTEP_INLINE bool plan_body::are_times_as_guessed() const noexcept {
  constexpr double about = 1.5, most = 0.01;
  const auto time_of = [](double cost) {
    return cost < 0 ? static_cast<double>(usual_node_time) : cost;
  };
  const auto is_about = [](double time, double other, double factor) {
    return time < factor * other && factor * time > other;
  };
  double sum = 0, wrong = 0;
  for (const double each : costs) sum += time_of(each);
  const double mean = sum / static_cast<double>(costs.size());
  for (const double each : costs) {
    if (!is_about(time_of(each), mean, about)) wrong += std::fabs(time_of(each) - mean);
  }
  return is_about(mean, static_cast<double>(usual_node_time), 2) && wrong <= most * sum;
}

LOCKSTEP_INLINE bool plan_body::has_learnt() {
  const std::uint64_t ticks = tick_clock::now() - begin_of_ticks,
                      time = detail::monotonic_nanoseconds() - begin_of_time;
  const bool is_new = ticks != 0 &&
                      take_times(static_cast<double>(time) / static_cast<double>(ticks)) &&
                      !are_times_as_guessed() &&
                      has_memory_for([&] { next = made(machine->model, machine->checked, costs); });
  if (is_new) learnt_from = runs;
  machine->timed_iterations = 0;
  learns = false;
  return is_new;
}

LOCKSTEP_INLINE void plan_body::learn() {
  constexpr std::uint64_t most_samples = 16, enough = flow_machine::first_timed;
  iterations_to_time -= machine->timed_iterations;
  machine->timed_iterations = 0;
  // A node in a loop has several samples in one iteration.
  std::uint64_t samples = 0;
  for (const node_times& each : machine->times) samples += each.count;
  if (iterations_to_time == 0 || samples >= enough * machine->times.size()) {
    if (has_learnt()) machine = std::move(next);
    return;
  }
  if (begin_of_ticks == 0) {
    begin_of_ticks = tick_clock::now();
    begin_of_time = detail::monotonic_nanoseconds();
  }
  machine->timed_iterations =
      gate != nullptr || iterations > iterations_to_time ? iterations_to_time : iterations;
  machine->most_samples = most_samples;
}

LOCKSTEP_INLINE bool plan_body::ends_here() {
  constexpr std::uint64_t most_at_once = std::uint64_t{1} << 32;  // far from what can be counted
  const std::uint64_t timed = machine->timed_iterations;
  if (learns && done == timed && has_learnt()) {
    next->prepare(iterations - done, gate);
    return true;
  }
  if (gate != nullptr ? (*gate)() : done == iterations) return true;
  if (gate == nullptr) {
    machine->opens = learns ? timed : (std::min)(iterations - done, most_at_once);
  }
  done += machine->opens;
  return false;
}

LOCKSTEP_INLINE void plan_body::check_ready(const char* function) {
  const char* why = nullptr;
  if (host == nullptr) why = "the plan was made without a team, to look at";
  if (is_running) {
    why =
        "the plan runs; a node cannot run the plan that it is part of, and each thread needs a "
        "plan of its own";
  }
  if (is_open()) {
    why = "a run was started, and not joined; a node cannot run the plan that it is part of";
  }
  if (why != nullptr) fail_use("lockstep::plan::%s: %s", function, why);
  if (has_started) end_run(has_started, machine->is_done());
}

LOCKSTEP_INLINE void plan_body::check_lives(const char* function) const {
  if (!diagnoses_misuse) return;
  const bool has_graph = misuse::is_noted(&graph, misuse::role::plan);
  if (!has_graph || !misuse::is_noted(host, misuse::role::plan)) {
    end_program("lockstep::plan::%s: its %s was destroyed; graph and team outlive their plans",
                function, has_graph ? "team" : "graph");
  }
}

/// Also true while the caller joins the run, because the caller's part belongs to it. While the region is not known,
/// the run counts as open: start() may not have returned.
LOCKSTEP_INLINE bool plan_body::is_open() const noexcept {
  if (!has_started) return false;
  const std::uint32_t region = stop.region();
  return region == 0 || host->core().running() == region;
}

LOCKSTEP_INLINE bool plan_body::let_go() noexcept {
  // The program may end inside a node, by exit() or on another thread.
  if (is_running) return false;
  if (is_open() && !host->started(in_flight)) return false;  // joins it, or gives it up
  if (has_started) end_run(has_started, machine->is_done());
  return true;
}

LOCKSTEP_INLINE void plan_body::end_run(bool& goes_on, bool is_complete) {
  goes_on = false;
  stop.end();
  if (next) machine = std::move(next);
  if (!was_alone) machine->come_to_rest(!is_complete);
}

/// Begins a run, and puts the lanes in order after it. `goes_on`: is_running, or has_started. `learning`: the gate of one
/// that outlasts what it times, if the plan may be made anew within it.
class plan_run {
 public:
  plan_run(plan_body& of, bool& goes_on, std::uint64_t iterations, const iteration_gate* gate,
           const char* function, bool is_timed = false, const iteration_gate* learning = nullptr)
      : of_(of), goes_on_(goes_on), is_timed_(is_timed) {
    if (of.is_running || of.has_started || of.host == nullptr) of.check_ready(function);
    of.check_lives(function);
    if (of.changes != of.graph.changes) of.follow_graph();
    of.iterations = iterations;
    of.gate = gate;
    if (is_timed) {
      of.learns = false;
      of.machine->timed_iterations = of.machine->most_samples = ~std::uint64_t{0};
    }
    if (of.learns) of.learn();
    of.done = 0;
    const bool outlasts =
        of.learns && (gate != nullptr || of.machine->timed_iterations < iterations);
    of.machine->prepare(iterations, outlasts && learning != nullptr ? learning : gate);
    of.was_alone = of.is_stopped = false;
    of.stop.begin();
    goes_on = true;
  }
  ~plan_run() {
    if (is_kept) return;
    if (is_timed_) of_.machine->timed_iterations = 0;
    of_.end_run(goes_on_, is_complete);
  }
  plan_run(const plan_run&) = delete;
  plan_run& operator=(const plan_run&) = delete;

  bool is_complete = false;
  bool is_kept = false;  ///< it goes on when this object ends

 private:
  plan_body& of_;
  bool& goes_on_;
  const bool is_timed_;
};

template <class Argument>
job plan_body::part() {
  struct carried {
    plan_body* of;
    turn_range turns;
  };
  const carried bytes = {this, machine->turns};
  job made;
  made.carry<Argument>(
      [](const job& self, Argument& me) {
        carried part;
        std::memcpy(&part, self.carried(), sizeof part);
        part.of->take_part(me, part.turns);
      },
      &bytes, sizeof bytes);
  return made;
}

LOCKSTEP_INLINE bool plan_body::run(std::uint64_t count, const iteration_gate* asks,
                                    const char* function, bool is_timed) {
  const iteration_gate learning = {
      this, [](void* of) -> bool { return static_cast<plan_body*>(of)->ends_here(); }};
  plan_run here(*this, is_running, count, asks, function, is_timed, &learning);
  here.is_complete =
      count == 0 || (machine->plan.members == 1 || needs_all
                         ? host->run(machine->plan.members, part<member>(), where, "plan")
                         : run_shares(count));
  if (was_alone && is_stopped) here.is_complete = false;
  return here.is_complete;
}

/// The plan times runs to learn what more members gain: the first 4 runs, then one in 16, and all long ones.
LOCKSTEP_INLINE bool plan_body::run_shares(std::uint64_t count) {
  constexpr double worth_a_look = 10000;
  const flow_plan& plan = machine->plan;
  const double times = static_cast<double>(count);
  const bool is_timed =
      machine->gate == nullptr && (runs < 4 || runs % 16 == 0 || time_alone * times > worth_a_look);
  ++runs;
  const double speed_up = plan.predicted_time > 0
                              ? (std::max)(static_cast<double>(plan.serial_time) /
                                               static_cast<double>(plan.predicted_time),
                                           1.0)
                              : 1.0;
  const bool is_known = gate == nullptr && time_alone > 0;
  loop_request wanted(plan.members, nullptr, 1, false, where);
  wanted.is_plan = true;
  if (is_known) wanted.gain = time_alone * times * (1 - 1 / speed_up);
  const std::uint64_t begin = is_timed ? detail::monotonic_nanoseconds() : 0;
  const loop_outcome made = host->run_loop(wanted, part<loop_share>());
  if (is_timed && made.is_complete) {
    const double took = static_cast<double>(detail::monotonic_nanoseconds() - begin);
    const double each = took / times * (made.all_came ? speed_up : 1);
    time_alone = time_alone > 0 ? (time_alone + each) / 2 : each;
  }
  return made.is_complete;
}

LOCKSTEP_INLINE started_region plan_body::start(std::uint64_t count) {
  if (host != nullptr && !host->has_own_threads()) {
    fail_use("lockstep::plan::start: an external_team cannot start a region without its caller");
  }
  // It begins before the region, because its nodes may ask, and ends here if the team refuses.
  plan_run here(*this, has_started, count, nullptr, "start");
  in_flight = exceptions_in_flight();
  started_region made = host->start(part<member>(), where, "plan");
  here.is_kept = true;
  stop.enter(*team_stop, host->core().running());
  return made;
}

LOCKSTEP_INLINE void plan_body::run_on_caller(const stops_with_region& around) {
  was_alone = true;
  stop_source& own_stop = stop.alone_source();
  struct both {
    stops_with_region own, around;
  } stops = {{own_stop, stop.enter_alone()}, around};
  const stop_question question = {&stops, [](void* held) -> bool {
                                    const both& of = *static_cast<both*>(held);
                                    return of.own.requested() || of.around.requested();
                                  }};
  if (!needs_all) {
    is_stopped = !machine->run_line(0, iterations, nullptr, question) ||
                 (next && !next->run_line(done, iterations, nullptr, question));
    return;
  }
  member_state state(own_stop);
  state.enter(1, stops.own.region);
  member_access alone(state);
  const auto run_all = [&](member& me) { machine->run_line(0, iterations, &me, question); };
  is_stopped = !call_alone(own_stop, run_all, alone.self, stops.own.region);
}

LOCKSTEP_INLINE void plan_body::take_part(loop_share& me, const turn_range& turns) {
  if (&me.stop() != team_stop) return run_on_caller({me.stop(), me.region()});
  const part_of_plan here(stop, me.region());
  if (me.rank() == 0) stop.enter(*team_stop, me.region());
  flow_walk(*machine, turns, me.rank(), *team_stop, me.region()).walk();
  stops_with_region stops = {*team_stop, me.region()};
  // A walk that was not stopped has found the gate shut, and so sees `next`.
  if (stops.requested() || !next) return;
  if (next->plan.members > 1) {
    if (me.rank() >= next->plan.members) return;
    const turn_range rest = {next->turns.first - done, next->turns.last};
    flow_walk(*next, rest, me.rank(), *team_stop, me.region()).walk();
  } else if (me.rank() == 0) {
    was_alone = true;
    next->run_line(done, iterations, nullptr,
                   {&stops, [](void* of) -> bool {
                      return static_cast<stops_with_region*>(of)->requested();
                    }});
  }
}

LOCKSTEP_INLINE void plan_body::take_part(member& me, const turn_range& turns) {
  const member_state& state = member_access::state_of(me);
  if (&state.stop() != team_stop) return run_on_caller({state.stop(), state.region()});
  const part_of_plan here(stop, state.region());
  if (me.rank() == 0) stop.enter(*team_stop, state.region());
  if (me.size() == 1) {
    was_alone = true;
    machine->run_line(0, iterations, &me,
                      {&me, [](void* of) -> bool {
                         return member_access::state_of(*static_cast<member*>(of)).is_stopped();
                       }});
  } else if (me.rank() < machine->plan.members) {
    flow_walk(*machine, turns, me.rank(), *team_stop, state.region()).walk();
  }
}

LOCKSTEP_INLINE plan_body* make_plan(const graph& of, team_host* on, std::size_t members,
                                     call_site where) {
  checked_range("lockstep::plan", "members", members, 1,
                on != nullptr ? on->size() : std::size_t{max_participants});
  return new plan_body(graph_access::body_of(of), on, members, where);
}

}  // namespace detail

LOCKSTEP_INLINE plan::plan(const graph& of, team& on, call_site where)
    : plan(of, on, on.size(), where) {}
LOCKSTEP_INLINE plan::plan(const graph& of, team& on, std::size_t members, call_site where)
    : body_(detail::make_plan(of, &detail::team_access::host_of(on), members, where)) {}
LOCKSTEP_INLINE plan::plan(const graph& of, external_team& on, call_site where)
    : plan(of, on, on.size(), where) {}
LOCKSTEP_INLINE plan::plan(const graph& of, external_team& on, std::size_t members, call_site where)
    : body_(detail::make_plan(of, &detail::team_access::host_of(on), members, where)) {}
LOCKSTEP_INLINE plan::plan(const graph& of, std::size_t members)
    : body_(detail::make_plan(of, nullptr, members, call_site{nullptr, 0})) {}
LOCKSTEP_INLINE plan::~plan() {
  if (body_ && !body_->let_go()) static_cast<void>(body_.release());
}
LOCKSTEP_INLINE plan::plan(plan&& other) noexcept = default;

LOCKSTEP_INLINE detail::plan_body& plan::body() const {
  if (LOCKSTEP_UNLIKELY(!body_)) {
    detail::fail_use("lockstep::plan: this plan was moved to another object; use that one");
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
  const std::uint64_t begin = detail::monotonic_nanoseconds();
  const bool completed = body().run(iterations, nullptr, "measure", true);
  if (!completed) return false;  // the number of iterations is not known
  body().measured_time += detail::monotonic_nanoseconds() - begin;
  body().measured_iterations += iterations;
  return true;
}

LOCKSTEP_INLINE timed_run plan::run_by(deadline until) {
  const std::uint64_t begin = detail::monotonic_nanoseconds();
  timed_run made = timed_run();
  made.completed = body().run(1, nullptr, "run_by", true);
  const std::uint64_t end = detail::monotonic_nanoseconds();
  body().measured_time += end - begin;
  ++body().measured_iterations;
  made.took = std::chrono::nanoseconds(end - begin);
  made.in_time = end <= until.nanoseconds();
  if (made.in_time) return made;
  // A deadline that was past when it was made counts as made at `begin`. So the run is late by its own length at most.
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
  const detail::flow_machine& of = *body().machine;
  return detail::dot_of(of.model, of.checked, of.plan);
}

LOCKSTEP_INLINE std::string plan::text() const {
  const detail::flow_machine& of = *body().machine;
  return detail::text_of(of.model, of.checked, of.plan);
}

LOCKSTEP_INLINE void plan::request_stop() {
  detail::plan_body& of = body();
  if (of.team_stop != nullptr) of.stop.request(*of.team_stop);
}

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
