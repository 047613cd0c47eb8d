// SPDX-License-Identifier: MIT
// lockstep/detail/wait/waiters.hpp -- what objects know of their waiters: what these learned, and that they sleep (layer: wait)
#ifndef LOCKSTEP_DETAIL_WAIT_WAITERS_HPP
#define LOCKSTEP_DETAIL_WAIT_WAITERS_HPP

#include <chrono>
#include <cstdint>

#include <lockstep/detail/platform/atomic.hpp>
#include <lockstep/detail/platform/config.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// The phase, count or position that an object begins with. For protected constructors: a test derives from the object
/// and begins shortly before the wrap-around.
struct first_phase {
  std::uint32_t value;
};

/// Set in the lowest bit of a word: a thread may sleep on it. The changer's side of WORD-2; the waiter's side and the proof
/// are in src/wait/wait_engine.hpp.
constexpr std::uint32_t sleeping_bit = 1;

/// Wakes all threads that sleep on the word, or one. The object may be gone already.
void wake_all_sleepers(const wait_word* word);
void wake_one_sleeper(const wait_word* word);

/// Called after a change of the word from `old`.
inline void wake_sleepers(const wait_word* word, std::uint32_t old) {
  if (LOCKSTEP_UNLIKELY((old & sleeping_bit) != 0)) wake_all_sleepers(word);
}

/// How far a stage of a wait is trusted. Waits that it ended count for it; failures count against it.
class backoff_trust {
 public:
  /// A yield that takes longer, in nanoseconds, gave the CPU to a stranger for its time slice (3 ms).
  static constexpr std::uint64_t long_yield = 2000000;

  /// True if this wait should try the stage: it is trusted, or it is time for a probe.
  bool asks() noexcept { return doubt_ < limit || ++counted_ % probe_interval == 0; }
  void paid() noexcept { doubt_ = static_cast<std::uint8_t>(doubt_ / 2); }
  /// The same for a measured success: enough of them in a row make the stage sure.
  void paid_measurably() noexcept;
  void failed() noexcept { doubt_ = static_cast<std::uint8_t>(doubt_ + (doubt_ < limit ? 1 : 0)); }
  /// Whether it is tried only for probes.
  bool is_stopped() const noexcept { return doubt_ == limit; }
  void learn(bool has_paid) noexcept { has_paid ? paid() : failed(); }
  /// One failure that counts as many.
  void failed_badly() noexcept { doubt_ = limit; }
  /// Whether this wait may use the stage without a measurement. If the stage is sure to pay, one wait in 8 is measured.
  bool goes_unmeasured() noexcept;

 private:
  // 4 failures in a row stop a stage. Then 1 wait in 64 probes it, and one success starts it again. A probe of the
  // spin that fails costs spin_budget (2 us), 30 ns a wait.
  static constexpr std::uint8_t limit = 4, probe_interval = 64, sure = 16, measure_interval = 8;

  std::uint8_t doubt_ = 0;
  /// Without doubt: measured successes in a row, up to `sure`, plus waits since a measurement. Stopped: counts waits.
  std::uint8_t counted_ = 0;
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
  std::chrono::nanoseconds interval;  ///< the first begins with the last rung of the wait

  /// The pulse of the calling thread; null if it has none. Requires: the pulse outlives the thread's waits.
  static const wait_pulse*& of_this_thread() noexcept;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_WAIT_WAITERS_HPP
