// SPDX-License-Identifier: MIT
// lockstep/detail/wait/wait_history.hpp -- what a waiter has learned from its last waits (layer: wait)
#ifndef LOCKSTEP_DETAIL_WAIT_WAIT_HISTORY_HPP
#define LOCKSTEP_DETAIL_WAIT_WAIT_HISTORY_HPP

#include <cstdint>

#include <lockstep/detail/platform/config.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// How far a stage of a wait is trusted: waits that it ended speak for it, other waits against it.
class backoff_trust {
 public:
  /// True if the stage should be tried in this wait: it is trusted, or it is time for another look.
  bool asks() noexcept;
  void paid() noexcept { doubt_ = static_cast<std::uint8_t>(doubt_ / 2); }
  /// The same where it was measured: so many in a row make it sure.
  void paid_measurably() noexcept;
  void failed() noexcept;
  /// One failure that is as bad as many.
  void failed_badly() noexcept;
  /// Whether a wait may go through the stage without a measurement: it is sure to pay, and one wait in 8 is measured.
  bool goes_unmeasured() noexcept;

 private:
  std::uint8_t doubt_ = 0;
  /// Trusted: successes in a row, up to `sure`, and waits since a measurement. Else waits since the last probe.
  std::uint8_t skipped_ = 0;
};

/// What a waiter has learned from its last waits: plain data, one thread uses it at a time, and zero bits mean "no doubt".
/// Does spinning pay? Not when the awaited thread needs our CPU, and not when waits are long. Does yielding pay? Not when a
/// stranger takes the CPU and keeps it for its whole time slice; nor, in queues, when waits are long. Each is asked anew
/// now and then, because the machine changes.
struct wait_history {
  backoff_trust spinning;
  backoff_trust yielding;
};
static_assert(sizeof(wait_history) == 4, "small objects hold a history");

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_WAIT_WAIT_HISTORY_HPP
