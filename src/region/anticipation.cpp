// SPDX-License-Identifier: MIT
// src/region/anticipation.cpp -- the bodies of anticipation.hpp (layer: region)
#include "anticipation.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

LOCKSTEP_INLINE void anticipating_wait::wait_long(waitable& what, wait_policy policy,
                                                  wait_history& history) {
  observed_wait seen(what);
  start_ = now_ = monotonic_nanoseconds();
  const bool is_resumed = resumes_at_ != 0;
  if (is_resumed) {
    start_ = resumes_at_;
    resumes_at_ = 0;
    catch_up();
  }
  if (is_resumed || history.spinning.asks()) {
    const bool came = poll_until(what, is_resumed ? row_gap : anticipation::shortest_gap);
    if (came && !is_resumed) history.spinning.paid();
    if (came) return;
    if (!is_resumed) history.spinning.failed();
  }
  if (gap_ != 0) known_.came_after(gap_);  // learned only now, when there is time
  catch_up();
  if (known_.is_on()) {
    follow(what, seen);
  } else if (is_resumed) {  // the loop that it was woken for is over
    sleep_for_good(what, seen);
  } else {
    // It has polled already.
    if (!what.ready()) {
      wait_engine::climb(what, policy, history, deadline::never(), wait_engine::shared_yield_time,
                         wait_engine::rung::yield, wait_engine::rung::sleep, seen);
    }
    now_ = monotonic_nanoseconds();
  }
  if (catch_up()) {  // it was woken only to learn of them
    gap_ = 0;
    resumes_at_ = start_;
  } else {
    gap_ = now_ - start_;
  }
}

LOCKSTEP_INLINE bool anticipating_wait::catch_up() noexcept {
  if (!has_missed_some()) return false;
  const std::uint32_t count = missed_->count();
  std::uint64_t since = start_;
  if (count - heard_ > missed_loops::capacity) {
    heard_ = count - missed_loops::capacity;
    since = 0;
  }
  for (; heard_ != count; ++heard_) {
    const missed_loops::span loop = missed_->at(heard_);
    if (since != 0 && loop.begin > since) known_.came_after(loop.begin - since);
    if (loop.end > since) since = loop.end;
  }
  start_ = since;
  if (now_ < start_) now_ = start_;
  return true;
}

LOCKSTEP_INLINE void anticipating_wait::follow(waitable& what, observed_wait& seen) {
  std::uint64_t polled = now_ - start_;
  bool has_slept = false;
  while (known_.is_on()) {
    if (catch_up()) polled = 0;
    const std::uint64_t elapsed = now_ - start_;
    const wait_step step = known_.next_step(elapsed, polled);
    if (step.what == wait_step::kind::rest) {
      seen.enter(wait_stage::sleep);
      if (look_now_and_then(what)) return tell(mark_kind::missed_wake_up, "missed wake-up");
      if (!has_missed_some()) break;
      continue;
    }
    if (step.what == wait_step::kind::poll) {
      seen.enter(wait_stage::spin);
      if (poll_until(what, step.until)) {
        if (!has_slept) known_.polled_through();
        return tell(mark_kind::anticipated, "anticipated");
      }
      polled += now_ - start_ - elapsed;
    } else {
      seen.enter(wait_stage::sleep);
      has_slept = true;
      if (sleep_until(what, step.until)) return tell(mark_kind::missed_wake_up, "missed wake-up");
    }
  }
  sleep_for_good(what, seen);
  tell(mark_kind::missed_wake_up, "missed wake-up");
}

LOCKSTEP_INLINE void anticipating_wait::sleep_for_good(waitable& what, observed_wait& seen) {
  seen.enter(wait_stage::sleep);
  while (!what.ready()) what.sleep(deadline::never());
  now_ = monotonic_nanoseconds();
}

LOCKSTEP_INLINE bool anticipating_wait::look_now_and_then(waitable& what) {
  if (missed_ == nullptr || missed_->count() == 0) return false;  // none was missed
  for (std::uint64_t until = 2 * (now_ - start_); until <= anticipation::longest_gap; until *= 2) {
    if (sleep_until(what, until)) return true;
    if (has_missed_some()) return false;
  }
  return false;
}

LOCKSTEP_INLINE bool anticipating_wait::poll_until(waitable& what, std::uint64_t until) {
  const bool was_on = known_.is_on();
  std::uint64_t has_cpu_since = now_;
  while (now_ - start_ < until) {
    const bool is_ready = wait_engine::poll(what);
    const std::uint64_t before = now_;
    now_ = monotonic_nanoseconds();
    if (is_ready) {
      had_no_cpu_ = now_ - before > lost_time;
      return true;
    }
    if (now_ - has_cpu_since < time_between_yields) continue;
    what.is_separated();
    yield_thread();
    has_cpu_since = monotonic_nanoseconds();
    if (has_cpu_since - now_ > long_yield) known_.note_disturbance();
    had_no_cpu_ = has_cpu_since - now_ > lost_time;
    if (had_no_cpu_ && heard_ != 0) known_.note_shared_cpu();
    now_ = has_cpu_since;
    if (what.ready()) return true;
    had_no_cpu_ = false;
    if (known_.is_on() != was_on || has_missed_some()) return false;
  }
  return false;
}

LOCKSTEP_INLINE bool anticipating_wait::sleep_until(waitable& what, std::uint64_t until) {
  const std::uint64_t slack = shorten_timer_slack(short_slack);
  what.sleep(deadline::after(
      std::chrono::nanoseconds(static_cast<std::int64_t>(until - (now_ - start_)))));
  if (slack != 0) set_timer_slack(slack);
  now_ = monotonic_nanoseconds();
  const std::uint64_t end = start_ + until;
  const bool is_late = now_ >= end;
  if (is_late) known_.woke_late_by(now_ - end);
  if (!what.ready()) return false;
  // The region may have come while this thread overslept: count the gap as no longer than expected.
  if (is_late) now_ = end;
  return true;
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
