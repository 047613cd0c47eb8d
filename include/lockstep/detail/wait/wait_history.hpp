// SPDX-License-Identifier: MIT
// lockstep/detail/wait/wait_history.hpp -- what a thread brings to its waits (layer: wait)
#ifndef LOCKSTEP_DETAIL_WAIT_WAIT_HISTORY_HPP
#define LOCKSTEP_DETAIL_WAIT_WAIT_HISTORY_HPP

#include <cstdint>

#include <lockstep/detail/platform/config.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// How far a stage of a wait is trusted. Waits that it ended count for it; failures count against it.
class backoff_trust {
 public:
  /// A yield that takes longer, in nanoseconds, gave the CPU to a stranger for its time slice (3 ms).
  static constexpr std::uint64_t long_yield = 2000000;

  /// True if this wait should try the stage: it is trusted, or it is time for a probe.
  bool asks() noexcept;
  void paid() noexcept { doubt_ = static_cast<std::uint8_t>(doubt_ / 2); }
  /// The same for a measured success: enough of them in a row make the stage sure.
  void paid_measurably() noexcept;
  void failed() noexcept;
  /// Whether it is tried only for probes.
  bool is_stopped() const noexcept;
  void learn(bool has_paid) noexcept { has_paid ? paid() : failed(); }
  /// One failure that counts as many.
  void failed_badly() noexcept;
  /// Whether this wait may use the stage without a measurement. If the stage is sure to pay, one wait in 8 is measured.
  bool goes_unmeasured() noexcept;

 private:
  std::uint8_t doubt_ = 0;
  /// Trusted: successes in a row, up to `sure`, plus waits since a measurement. Else: waits since the last probe.
  std::uint8_t skipped_ = 0;
};

/// What a waiter has learned from its last waits. Plain data; one thread uses it at a time; zero bits mean "no doubt".
/// Spinning does not pay when the awaited thread needs our CPU, or when waits are long. Yielding does not pay when a
/// stranger takes the CPU and keeps it for its whole time slice, or, in queues, when waits are long. Each is tried
/// again now and then, because the load of the machine changes.
struct wait_history {
  backoff_trust spinning;
  backoff_trust yielding;
};
static_assert(sizeof(wait_history) == 4, "small objects hold a history");

/// A call that a thread makes now and then during each long wait. The call may stop the region in which the thread
/// waits. For languages that handle signals on one thread: lockstep_poll_while_waiting of the C interface. See WAIT-4 of
/// src/wait/wait_engine.hpp.
struct wait_pulse {
  void (*call)(void* context);
  void* context;
  std::uint64_t interval;  ///< in nanoseconds; the first begins with the last rung of the wait

  /// The pulse of the calling thread; null if it has none. Requires: the pulse outlives the thread's waits.
  static const wait_pulse*& of_this_thread() noexcept;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_WAIT_WAIT_HISTORY_HPP
