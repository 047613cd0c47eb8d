// SPDX-License-Identifier: MIT
// lockstep/detail/team/anticipating_wait.hpp -- how a worker waits for its next region (layer: team)
//
// By what it has learned of the gaps before (anticipation.hpp): it polls while the next region may come any
// moment, sleeps while it cannot, and sleeps for good when what it expected has not come. Where it has
// learned nothing, or was wrong too often, it waits as everything else does (wait_engine.hpp).
//
// For the adaptive policy of a team that is not crowded. One thread uses an object at a time.
//
//   Y1  wait() returns only after ready() was true. It sleeps only through Waitable::sleep, which looks again
//       after it has announced itself, and may end at its deadline: so no wake-up is lost (W2).
//   Y2  It polls for anticipation::longest_poll() at most, and gives the CPU away now and then meanwhile. Who
//       is not given it back within 2 ms has lost it to others, and polls no more for a while.
//   Y3  The timer slack of the thread is short during a sleep with an end, and as it was before after it.
//
// Cost   a region that comes within 0.4 us: polls, no look at the clock. Before a sleep with an end, and after it:
//        2 system calls; the fence of the mark, see sleeper_mark.hpp.
#ifndef LOCKSTEP_DETAIL_TEAM_ANTICIPATING_WAIT_HPP
#define LOCKSTEP_DETAIL_TEAM_ANTICIPATING_WAIT_HPP

#include <chrono>
#include <cstdint>

#include "../../wait_policy.hpp"
#include "../platform/config.hpp"
#include "../platform/system.hpp"
#include "../wait/wait_engine.hpp"
#include "anticipation.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

class anticipating_wait {
 public:
  template <class Waitable>
  void wait(Waitable& what, wait_policy policy, wait_history& history) {
    if (!what.ready()) wait_slowly(what, policy, history);
  }
  /// For tests: as after waits that were over after so many nanoseconds.
  void expect(std::uint64_t gap) noexcept {
    for (unsigned i = 0; i < anticipation::fewest; ++i) known_.came_after(gap);
  }
  /// The wait that ends now was none between two regions.
  void forget_gap() noexcept { gap_ = 0; }

 private:
  static constexpr unsigned polls_per_look_at_clock = 16;
  static constexpr std::uint64_t time_between_yields = 3000;
  static constexpr std::uint64_t long_yield = 2000000;  // as in wait_engine.hpp
  static constexpr std::uint64_t short_slack = 1000;

  template <class Waitable>
  LOCKSTEP_NOINLINE void wait_slowly(Waitable& what, wait_policy policy, wait_history& history) {
    if (poll(what)) return;
    start_ = now_ = detail::monotonic_nanoseconds();
    if (history.spinning.asks()) {
      if (poll_until(what, anticipation::shortest_gap)) {
        history.spinning.paid();
        return;
      }
      history.spinning.failed();
    }
    if (gap_ != 0) known_.came_after(gap_);  // only now: there is time
    if (known_.is_on()) {
      follow(what);
    } else {
      wait_engine::ask_where(what);
      wait_engine::wait(what, policy.when_crowded(true),
                        history);  // as ever, but it has spun already
      now_ = detail::monotonic_nanoseconds();
    }
    gap_ = now_ - start_;
  }

  template <class Waitable>
  void follow(Waitable& what) {
    std::uint64_t polled = now_ - start_;
    while (known_.is_on()) {
      const std::uint64_t elapsed = now_ - start_;
      const wait_step step = known_.next_step(elapsed, polled);
      if (step.what == wait_step::kind::rest) break;
      if (step.what == wait_step::kind::poll) {
        if (poll_until(what, step.until)) return;
        polled += now_ - start_ - elapsed;
      } else if (sleep_until(what, step.until)) {
        return;
      }
    }
    while (!what.ready()) what.sleep(deadline::never());
    now_ = detail::monotonic_nanoseconds();
  }

  template <class Waitable>
  static bool poll(Waitable& what) {
    for (unsigned i = 0; i < polls_per_look_at_clock; ++i) {
      detail::polling_pause();
      if (what.ready()) return true;
    }
    return false;
  }

  /// Whether it got ready before the wait had lasted `until`.
  template <class Waitable>
  bool poll_until(Waitable& what, std::uint64_t until) {
    std::uint64_t has_cpu_since = now_;
    while (now_ - start_ < until) {
      if (poll(what)) return true;
      now_ = detail::monotonic_nanoseconds();
      if (now_ - has_cpu_since < time_between_yields) continue;
      wait_engine::ask_where(what);
      detail::yield_thread();
      has_cpu_since = detail::monotonic_nanoseconds();
      if (has_cpu_since - now_ > long_yield) known_.was_disturbed();
      now_ = has_cpu_since;
      if (!known_.is_on()) return what.ready();
    }
    return false;
  }

  /// As poll_until(), asleep.
  template <class Waitable>
  bool sleep_until(Waitable& what, std::uint64_t until) {
    const std::uint64_t slack = detail::shorten_timer_slack(short_slack);
    what.sleep(deadline::after(
        std::chrono::nanoseconds(static_cast<std::int64_t>(until - (now_ - start_)))));
    if (slack != 0) detail::set_timer_slack(slack);
    now_ = detail::monotonic_nanoseconds();
    const std::uint64_t end = start_ + until;
    const bool is_late = now_ >= end;
    if (is_late) known_.woke_late_by(now_ - end);
    if (!what.ready()) return false;
    if (is_late)
      now_ = end;  // it may have come while this thread overslept: no longer gap than was expected
    return true;
  }

  anticipation known_;
  std::uint64_t gap_ = 0;  ///< the last one, if it has not been learned yet
  std::uint64_t start_ = 0, now_ = 0;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_ANTICIPATING_WAIT_HPP
