// SPDX-License-Identifier: MIT
// src/wait/wait_engine.cpp -- the bodies of wait_engine.hpp (layer: wait)
#include <lockstep/detail/wait/wait_engine.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

LOCKSTEP_INLINE bool wait_engine::begins_with_spin(wait_policy policy, wait_history& history) {
  if (policy.is_crowded() || policy.is_block()) return false;
  return !policy.is_adaptive() || (cpus_for_waits() > 1 && history.spinning.asks());
}

LOCKSTEP_INLINE bool wait_engine::wait_without_spin(any_waitable what, wait_policy policy,
                                                    wait_history& history, observed_wait& seen) {
  return what.ready() || wait_seen(what, policy.when_crowded(true), history, deadline::never(),
                                   shared_yield_time, false, seen);
}

LOCKSTEP_INLINE bool wait_engine::wait_long(any_waitable what, wait_policy policy,
                                            wait_history& history, deadline until,
                                            std::uint64_t yield_time, bool spins) {
  observed_wait seen(what);
  return wait_seen(what, policy, history, until, yield_time, spins, seen);
}

LOCKSTEP_INLINE bool wait_engine::wait_long_awake(any_waitable what, wait_policy policy,
                                                  wait_history& history, deadline until,
                                                  std::uint64_t yield_time, bool spins) {
  observed_wait seen(what);
  return wait_seen_awake(what, policy, history, until, yield_time, spins, seen);
}

LOCKSTEP_INLINE bool wait_engine::wait_seen(any_waitable what, wait_policy policy,
                                            wait_history& history, deadline until,
                                            std::uint64_t yield_time, bool spins,
                                            observed_wait& seen) {
  if (policy.is_spin()) {
    return wait_pulse::of_this_thread() != nullptr ? wait_with_pulse(what, true, until)
                                                   : spin(what, no_deadline, until) || what.ready();
  }
  if (!policy.is_block() &&
      wait_seen_awake(what, policy, history, until, yield_time, spins, seen)) {
    return true;
  }
  seen.enter(wait_stage::sleep);
  if (LOCKSTEP_UNLIKELY(wait_pulse::of_this_thread() != nullptr)) {
    return wait_with_pulse(what, false, until);
  }
  while (!what.ready()) {
    if (!until.is_never() && until.is_past(monotonic_nanoseconds())) return what.ready();
    what.sleep(until);
  }
  return true;
}

LOCKSTEP_INLINE bool wait_engine::wait_with_pulse(any_waitable what, bool spins, deadline until) {
  const wait_pulse*& own = wait_pulse::of_this_thread();
  const wait_pulse* const pulse = own;
  std::uint64_t now = monotonic_nanoseconds();
  while (!what.ready()) {
    if (until.is_past(now)) return what.ready();
    const deadline next =
        deadline::after(std::chrono::nanoseconds(static_cast<std::int64_t>(pulse->interval)));
    const deadline end = next.nanoseconds() < until.nanoseconds() ? next : until;
    while (!what.ready() && !end.is_past(now)) {
      if (!spins) {
        what.sleep(end);
      } else if (spin(what, no_deadline, end)) {
        return true;
      }
      now = monotonic_nanoseconds();
    }
    if (!next.is_past(now)) continue;
    own = nullptr;  // the call may wait, too
    pulse->call(pulse->context);
    own = pulse;
    now = monotonic_nanoseconds();
  }
  return true;
}

LOCKSTEP_INLINE bool wait_engine::wait_seen_awake(any_waitable what, wait_policy policy,
                                                  wait_history& history, deadline until,
                                                  std::uint64_t yield_time, bool spins,
                                                  observed_wait& seen) {
  if (policy.is_spin()) return spin(what, spin_budget, until);
  if (policy.is_hybrid()) {
    const std::uint64_t budget = static_cast<std::uint64_t>(policy.spin_time().count());
    if (spins && spin(what, budget, until)) return true;
    seen.enter(wait_stage::yield);
    return yield(what, history.yielding, until, yield_time);
  }
  if (spins) {
    if (spin(what, budget_of(what), until)) return note_spin(policy, history);
    history.spinning.failed();
  }
  const bool is_separated = !policy.is_crowded() && what.ask_where();
  if (history.yielding.asks()) {
    seen.enter(wait_stage::yield);
    return yield(what, history.yielding, until, yield_time);
  }
  return is_separated && ((!what.has_pauses() && poll(what)) || spin(what, far_budget, until));
}

LOCKSTEP_INLINE bool wait_engine::poll_for(any_waitable what, std::uint64_t most) {
  if (LOCKSTEP_UNLIKELY(shortest_line_wait() < most)) {
    if (const void* const line = what.line()) {
      arm_line(line);
      if (what.ready()) return true;
      wait_on_line(smaller(most, longest_line_wait));
      return what.ready();
    }
  }
  return poll(what);
}

LOCKSTEP_INLINE bool wait_engine::spin(any_waitable what, std::uint64_t budget, deadline until) {
  if (budget == no_deadline && until.is_never() && shortest_line_wait() == no_deadline) {
    while (!poll(what)) continue;
    return true;
  }
  const std::uint64_t start = monotonic_nanoseconds();
  std::uint64_t now = start;
  while (now - start < budget && !until.is_past(now)) {
    const std::uint64_t spun = now - start;
    const std::uint64_t left = smaller(budget - spun, until.nanoseconds() - now);
    if (spun < spin_budget ? poll(what) : poll_for(what, left)) return true;
    now = monotonic_nanoseconds();
  }
  return false;
}

LOCKSTEP_INLINE bool wait_engine::yield(any_waitable what, backoff_trust& trust, deadline until,
                                        std::uint64_t yield_time) {
  const std::uint64_t start = monotonic_nanoseconds();
  std::uint64_t before = start;
  for (unsigned i = 0; i < yield_limit && !until.is_past(before); ++i) {
    yield_thread();
    const std::uint64_t after = monotonic_nanoseconds();
    if (after - before > long_yield) {
      trust.failed_badly();
      return what.ready();
    }
    if (what.ready()) {
      trust.paid_measurably();
      return true;
    }
    if (after - start > yield_time) return false;
    before = after;
  }
  return false;
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
