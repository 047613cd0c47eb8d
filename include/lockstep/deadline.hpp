// SPDX-License-Identifier: MIT
// lockstep/deadline.hpp -- when to stop waiting, and how a wait ended (layer: wait)
//
// Deadlines are points on the monotonic clock: setting the wall clock moves none of them. Times that
// overflow mean "never", negative times mean "now".
#ifndef LOCKSTEP_DEADLINE_HPP
#define LOCKSTEP_DEADLINE_HPP

#include <chrono>
#include <cstdint>

#include "detail/platform/system.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {

/// How a timed wait ended.
enum class wait_status {
  ready,      ///< what was waited for has happened (and was taken)
  timed_out,  ///< it has not happened in time; nothing was taken
  terminated  ///< terminate() was called; no wait on the object blocks any more
};

class deadline {
 public:
  static constexpr deadline never() noexcept { return deadline(detail::no_deadline); }

  template <class Rep, class Period>
  static deadline after(std::chrono::duration<Rep, Period> time) {
    using std::chrono::nanoseconds;
    // Compared in floating point, where no duration overflows; exact enough for a range check.
    const double wished = std::chrono::duration<double, std::nano>(time).count();
    if (!(wished > 0)) return deadline(0);
    if (wished > 9.0e18) return never();
    const std::uint64_t now = detail::monotonic_nanoseconds();
    const std::uint64_t length =
        static_cast<std::uint64_t>(std::chrono::duration_cast<nanoseconds>(time).count());
    return length < detail::no_deadline - now ? deadline(now + length) : never();
  }

  /// A point of any clock. That of a clock other than the steady one is taken as its distance from now:
  /// setting that clock later moves it no more.
  template <class Clock, class Duration>
  static deadline at(std::chrono::time_point<Clock, Duration> point) {
    const typename Clock::time_point now = Clock::now();
    // As above: where the difference would overflow, it is known before it is taken.
    using floating = std::chrono::duration<double, std::nano>;
    const double distance =
        floating(point.time_since_epoch()).count() - floating(now.time_since_epoch()).count();
    if (distance < -1e9) return deadline(0);
    return distance > 9.0e18 ? never() : after(point - now);
  }

  constexpr bool is_never() const noexcept { return nanoseconds_ == detail::no_deadline; }
  constexpr std::uint64_t nanoseconds() const noexcept { return nanoseconds_; }
  bool is_past(std::uint64_t now) const noexcept { return now >= nanoseconds_; }

 private:
  explicit constexpr deadline(std::uint64_t nanoseconds) noexcept : nanoseconds_(nanoseconds) {}

  std::uint64_t nanoseconds_;
};

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DEADLINE_HPP
