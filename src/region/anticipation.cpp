// SPDX-License-Identifier: MIT
// src/region/anticipation.cpp -- the bodies of anticipation.hpp (layer: region)
#include "anticipation.hpp"

#include <chrono>

#include "../observe/hooks.hpp"
#include "../platform/system.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

LOCKSTEP_INLINE void anticipating_wait::wait_long(waitable& what, wait_policy policy) {
  using rung = wait_engine::rung;
  observed_wait seen(what);
  const auto climb = [&](rung first, rung last) {
    return wait_engine::climb(what, policy, pace_.regions, deadline::never(), first, last, seen);
  };
  const std::uint64_t start = monotonic_nanoseconds();
  if (pace_.take_had_no_cpu()) all_.shares_cpu(rank_, start);  // now, when there is time
  if (pace_.regions.spinning.asks() && climb(rung::poll, rung::poll)) return;
  pace_.wait_begins(start);
  now_ = monotonic_nanoseconds();
  hears();
  bool is_ready = what.ready(), was_expected = false;
  rung next = rung::yield;
  while (!is_ready && pace_.expects()) {
    next = rung::sleep;
    const member_pace::step step = pace_.next_step(now_);
    if (step.what == member_pace::step::kind::rest) break;
    was_expected = step.what == member_pace::step::kind::poll;
    seen.enter(was_expected ? wait_stage::spin : wait_stage::sleep);
    is_ready = was_expected ? poll_until(what, step.until) : sleep_until(what, step.until);
    if (!is_ready) hears();
  }
  if (!is_ready) {
    was_expected = false;
    climb(next, rung::sleep);
    now_ = monotonic_nanoseconds();
  }
  if (LOCKSTEP_UNLIKELY(observers() != 0) && next == rung::sleep) {
    note_mark(was_expected ? mark_kind::anticipated : mark_kind::missed_wake_up,
              was_expected ? "anticipated" : "missed wake-up", nullptr, 0);
  }
  pace_.wait_ends(now_, !hears());
}

LOCKSTEP_INLINE bool anticipating_wait::hears() noexcept {
  const std::uint32_t before = heard_;
  missed_.for_each_since(
      heard_, [this](std::uint64_t begin, std::uint64_t end) { pace_.missed(begin, end); });
  return heard_ != before;
}

LOCKSTEP_INLINE bool anticipating_wait::poll_until(waitable& what, std::uint64_t until) {
  for (std::uint64_t yields_at = now_ + time_between_yields; now_ < until;) {
    const std::uint64_t before = now_;
    bool is_ready = wait_engine::poll(what);
    if (!is_ready && before >= yields_at) {
      what.is_separated();
      yield_thread();
      is_ready = what.ready();
    }
    now_ = monotonic_nanoseconds();
    if (before >= yields_at) yields_at = now_ + time_between_yields;
    pace_.looked_after(now_ - before);
    if (is_ready) return true;
    if (!pace_.expects() || missed_.count() != heard_) return false;
  }
  return false;
}

LOCKSTEP_INLINE bool anticipating_wait::sleep_until(waitable& what, std::uint64_t until) {
  const std::uint64_t slack = shorten_timer_slack(short_slack);
  what.sleep(deadline::after(std::chrono::nanoseconds(static_cast<std::int64_t>(until - now_))));
  if (slack != 0) set_timer_slack(slack);
  now_ = monotonic_nanoseconds();
  return what.ready();
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
