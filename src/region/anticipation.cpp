// SPDX-License-Identifier: MIT
// src/region/anticipation.cpp -- the bodies of anticipation.hpp (layer: region)
#include "anticipation.hpp"

#include <chrono>

#include "../observe/hooks.hpp"
#include "../platform/system.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

struct expected_region {
  static constexpr std::uint64_t time_between_yields = 3000;
  static constexpr std::uint64_t short_slack = 1000;

  waitable& what;
  member_pace& pace;
  const missed_loops& missed;
  std::uint32_t& heard;  ///< how many missed loops were learned
  std::uint64_t now;

  /// Whether the worker has missed loops.
  bool hears() noexcept {
    const std::uint32_t before = heard;
    missed.for_each_since(
        heard, [this](std::uint64_t begin, std::uint64_t end) { pace.missed(begin, end); });
    return heard != before;
  }
  /// Whether it became ready.
  bool poll(std::uint64_t until) {
    for (std::uint64_t yields_at = now + time_between_yields; now < until;) {
      const std::uint64_t before = now;
      bool is_ready = wait_engine::poll(what);
      if (!is_ready && before >= yields_at) {
        what.is_separated();
        yield_thread();
        is_ready = what.ready();
      }
      now = monotonic_nanoseconds();
      if (before >= yields_at) yields_at = now + time_between_yields;
      pace.looked_after(now - before);
      if (is_ready) return true;
      if (!pace.expects() || missed.count() != heard) return false;
    }
    return false;
  }
  bool sleep(std::uint64_t until) {
    const std::uint64_t slack = shorten_timer_slack(short_slack);
    what.sleep(deadline::after(std::chrono::nanoseconds(static_cast<std::int64_t>(until - now))));
    if (slack != 0) set_timer_slack(slack);
    now = monotonic_nanoseconds();
    return what.ready();
  }
};

LOCKSTEP_INLINE void wait_for_region(waitable& what, wait_policy policy, cpu_separation& all,
                                     std::size_t rank, const missed_loops& missed,
                                     std::uint32_t& heard) {
  using rung = wait_engine::rung;
  member_pace& pace = all.pace_of(rank);
  observed_wait seen(what);
  const auto climb = [&](rung first, rung last) {
    return wait_engine::climb(what, policy, pace.regions, deadline::never(), first, last, seen);
  };
  const std::uint64_t start = monotonic_nanoseconds();
  if (pace.take_had_no_cpu()) all.shares_cpu(rank, start);  // now, when there is time
  if (pace.regions.spinning.asks() && climb(rung::poll, rung::poll)) return;
  pace.wait_begins(start);
  expected_region due{what, pace, missed, heard, monotonic_nanoseconds()};
  due.hears();
  bool is_ready = what.ready(), was_expected = false;
  rung next = rung::yield;
  while (!is_ready && pace.expects()) {
    next = rung::sleep;
    const member_pace::step step = pace.next_step(due.now);
    if (step.what == member_pace::step::kind::rest) break;
    was_expected = step.what == member_pace::step::kind::poll;
    seen.enter(was_expected ? wait_stage::spin : wait_stage::sleep);
    is_ready = was_expected ? due.poll(step.until) : due.sleep(step.until);
    if (!is_ready) due.hears();
  }
  if (!is_ready) {
    was_expected = false;
    climb(next, rung::sleep);
    due.now = monotonic_nanoseconds();
  }
  if (LOCKSTEP_UNLIKELY(observers() != 0) && next == rung::sleep) {
    note_mark(was_expected ? mark_kind::anticipated : mark_kind::missed_wake_up,
              was_expected ? "anticipated" : "missed wake-up", nullptr, 0);
  }
  pace.wait_ends(due.now, !due.hears());
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
