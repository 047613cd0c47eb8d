// SPDX-License-Identifier: MIT
// lockstep/wait_policy.hpp -- how a thread waits, for how long, and how the wait ended (layer: base)
//
//   wait_policy   spin, yield or sleep. Every object takes one when it is made.
//   deadline      a point on the monotonic clock. Every timed wait takes one.
//   wait_status   what every timed wait returns.
//
// Which policy to choose:
//   wait_policy()      the default. Spins for at most 2 us (200 us for the regions of teams of more than 8), and not at
//                      all when crowded or when spinning has not paid lately. Then yields while that helps, then
//                      sleeps. Right nearly always.
//   spin()             never enters the kernel. For one thread per CPU that you own alone, and real time.
//                      When crowded, a single wait costs whole time slices (milliseconds).
//   block()            sleeps at once. For waits that are known to be long. A wake costs 2 to 35 us.
//   hybrid(time)       spins for `time`, unless the object knows that it is crowded. Then yields a while, then
//                      sleeps. It does not learn. (With the spin, a barrier of 64 on 2 CPUs takes 150 us, without 60.)
//
// Order  none: the object orders.
// Errors none.
// Cost   a policy is 4 bytes in each object, a deadline 8. A yield takes 0.5 us alone, 1.4 us with a switch; a
//        sleep and its wake 2 us on one CPU, 15 to 35 us across CPUs (wait_engine.hpp).
// Example
//   lockstep::event ready(lockstep::wait_policy::block());
//   if (ready.wait_for(std::chrono::milliseconds(5)) == lockstep::wait_status::timed_out) std::puts("not yet");
#ifndef LOCKSTEP_WAIT_POLICY_HPP
#define LOCKSTEP_WAIT_POLICY_HPP

#include <chrono>
#include <cstdint>

#include <lockstep/detail/platform/clock.hpp>
#include <lockstep/detail/platform/config.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

class wait_engine;
enum class policy_kind : std::uint32_t { adaptive, crowded, spin, block, hybrid, crowded_hybrid };

/// The point of the monotonic clock this many nanoseconds from now; the largest number if that overflows.
std::uint64_t time_in(std::uint64_t nanoseconds) noexcept;

}  // namespace detail

/// How a timed wait ended.
enum class wait_status {
  ready,      ///< what the thread waited for has happened (and was taken)
  timed_out,  ///< it has not happened in time; nothing was taken
  terminated  ///< terminate() was called; no wait on the object blocks any more
};

/// When a wait gives up. Waits take a std::chrono::time_point of any clock, which becomes a deadline.
/// Setting the wall clock moves no deadline. A time that overflows means "never", a negative one "now".
class deadline {
 public:
  /// A wait with it ends only when what it waits for has happened.
  static constexpr deadline never() noexcept { return deadline(detail::no_deadline); }

  /// A point of a clock other than the steady one is taken as its distance from now: setting that clock
  /// later does not move it.
  template <class Clock, class Duration>
  deadline(std::chrono::time_point<Clock, Duration> point) : deadline(at(point)) {}

  /// This long from now.
  template <class Rep, class Period>
  static deadline after(std::chrono::duration<Rep, Period> time) {
    using std::chrono::nanoseconds;
    // Compared in floating point, where no duration overflows; exact enough for a range check.
    const double wished = std::chrono::duration<double, std::nano>(time).count();
    if (!(wished > 0)) return deadline(0);
    if (wished > 9.0e18) return never();
    return deadline(detail::time_in(
        static_cast<std::uint64_t>(std::chrono::duration_cast<nanoseconds>(time).count())));
  }

  constexpr bool is_never() const noexcept { return nanoseconds_ == detail::no_deadline; }
  constexpr std::uint64_t nanoseconds() const noexcept { return nanoseconds_; }
  bool is_past(std::uint64_t now) const noexcept { return now >= nanoseconds_; }

 private:
  explicit constexpr deadline(std::uint64_t nanoseconds) noexcept : nanoseconds_(nanoseconds) {}

  template <class Clock, class Duration>
  static deadline at(std::chrono::time_point<Clock, Duration> point) {
    const typename Clock::time_point now = Clock::now();
    // As above: a difference that would overflow is known before it is taken.
    using floating = std::chrono::duration<double, std::nano>;
    const double distance =
        floating(point.time_since_epoch()).count() - floating(now.time_since_epoch()).count();
    if (distance < -1e9) return deadline(0);
    return distance > 9.0e18 ? never() : after(point - now);
  }

  std::uint64_t nanoseconds_;
};

/// How threads wait for an object. All zero bits are the default, so that zero-initialised storage is a valid policy.
class wait_policy {
 public:
  /// The adaptive default.
  constexpr wait_policy() noexcept : bits_(0) {}

  /// Never enters the kernel.
  static constexpr wait_policy spin() noexcept { return wait_policy(kinds::spin, 0); }
  /// Sleeps at once.
  static constexpr wait_policy block() noexcept { return wait_policy(kinds::block, 0); }

  /// Spins for `time`, cut to the range 0 to longest_spin().
  static constexpr wait_policy hybrid(std::chrono::nanoseconds time) noexcept {
    return wait_policy(kinds::hybrid, time.count() < 0                   ? 0
                                      : time.count() > longest_spin_ns() ? longest_spin_ns()
                                                                         : time.count());
  }

  static constexpr std::chrono::nanoseconds longest_spin() noexcept {
    return std::chrono::nanoseconds(longest_spin_ns());
  }

  constexpr bool is_adaptive() const noexcept { return kind() <= kinds::crowded; }
  constexpr bool is_spin() const noexcept { return kind() == kinds::spin; }
  constexpr bool is_block() const noexcept { return kind() == kinds::block; }
  constexpr bool is_hybrid() const noexcept { return kind() >= kinds::hybrid; }

  /// True for an adaptive or hybrid policy that was told it is crowded.
  constexpr bool is_crowded() const noexcept {
    return kind() == kinds::crowded || kind() == kinds::crowded_hybrid;
  }

  /// The time hybrid() was given; zero for the others.
  constexpr std::chrono::nanoseconds spin_time() const noexcept {
    return std::chrono::nanoseconds(bits_ >> kind_bits);
  }

  /// This policy, told whether the object's participants outnumber the CPUs. spin() and block() ignore it.
  constexpr wait_policy when_crowded(bool crowded) const noexcept {
    return is_adaptive() ? wait_policy(crowded ? kinds::crowded : kinds::adaptive, 0)
           : is_hybrid()
               ? wait_policy(crowded ? kinds::crowded_hybrid : kinds::hybrid, spin_time().count())
               : *this;
  }

  friend constexpr bool operator==(wait_policy a, wait_policy b) noexcept {
    return a.bits_ == b.bits_;
  }
  friend constexpr bool operator!=(wait_policy a, wait_policy b) noexcept { return !(a == b); }

 private:
  friend class detail::wait_engine;
  using kinds = detail::policy_kind;
  enum : std::uint32_t { kind_bits = 3, kind_mask = (1u << kind_bits) - 1 };

  constexpr kinds kind() const noexcept { return static_cast<kinds>(bits_ & kind_mask); }
  // A function: a 64-bit constant of the class changes how GCC 7 and later pass a policy on ARM, and they warn of that.
  static constexpr std::int64_t longest_spin_ns() noexcept {
    return (std::int64_t{1} << (32 - kind_bits)) - 1;
  }

  constexpr wait_policy(kinds kind, std::int64_t nanoseconds) noexcept
      : bits_(static_cast<std::uint32_t>(kind) | static_cast<std::uint32_t>(nanoseconds)
                                                     << kind_bits) {}

  std::uint32_t bits_;
};

static_assert(sizeof(wait_policy) == 4, "objects hold a policy each: keep it small");

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_WAIT_POLICY_HPP
