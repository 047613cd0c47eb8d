// SPDX-License-Identifier: MIT
// src/region/turns.cpp -- the bodies of turns.hpp (layer: region)
#include "turns.hpp"

#include <lockstep/detail/platform/error.hpp>
#include "../platform/this_thread.hpp"
#include "stop_source.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

LOCKSTEP_INLINE caller_queue::label::label(const void* of, const char* its_kind,
                                           const char* its_name) noexcept
    : team(of), kind(its_kind) {
  std::snprintf(name, sizeof name, "%s", its_name);
}

LOCKSTEP_INLINE std::uint64_t caller_queue::shown_number() noexcept {
  std::uint64_t& known = per_thread<std::uint64_t, struct name_of_shown_number>();
  if (known == 0) known = shown_thread_number();
  return known;
}

LOCKSTEP_INLINE void caller_queue::take_number() {
  const std::uint32_t number = tickets_.fetch_add(1, memory_order_relaxed);  // 1
  if (!turn_of(number)(serving().value())) {
    wait_history history = {};
    if (diagnoses_misuse) wait_and_say(number, history);
    serving().wait(turn_of(number), never_stops(), history);
  }
  take_right_back();
  if (!is_let_go()(kept().value())) {
    wait_history history = {};
    kept().wait(is_let_go(), never_stops(), history);
  }
  begin_numbered();
}

LOCKSTEP_INLINE bool caller_queue::try_take() {
  std::uint32_t next = serving().value();
  if (!tickets_.compare_exchange_strong(next, next + 1,           //
                                        memory_order_relaxed,     // 3
                                        memory_order_relaxed)) {  // 3
    return false;
  }
  take_right_back();
  if (!is_let_go()(kept().value())) {
    serving().publish(serving().peek() + 1);
    return false;
  }
  begin_numbered();
  return true;
}

LOCKSTEP_INLINE void caller_queue::take_right_back() {
  if (keeper_.load(memory_order_relaxed) == 0) return;  // 19
  keeper_.store(0, memory_order_relaxed);               // 20
  if (fence_heavy()) return;
  // Without a heavy fence: waits until the store of the keeper must have become visible.
  const std::uint64_t end = monotonic_nanoseconds() + 1000000;
  while (monotonic_nanoseconds() < end) yield_thread();
}

LOCKSTEP_INLINE void caller_queue::begin_numbered() noexcept {
  is_numbered_ = true;
  if (!diagnoses_misuse) return;
  holder_.store(static_cast<std::uint32_t>(shown_number()),
                memory_order_relaxed);  // 4
}

LOCKSTEP_INLINE void caller_queue::end_numbered() {
  if (row_ != 0) {
    const std::uint64_t me = number_of_this_thread();
    if (first_ == 0) first_ = me;
    in_a_row_ = me == first_ ? in_a_row_ + 1 : 0;
    if (in_a_row_ == row_) {
      in_a_row_ = 0;
      keeper_.store(me, memory_order_relaxed);  // 20
    }
  }
  is_numbered_ = false;
  serving().publish(serving().peek() + 1);
}

LOCKSTEP_INLINE void caller_queue::wait_and_say(std::uint32_t number, wait_history& history) {
  const is_turn_of mine = turn_of(number);
  if (mine(serving().value())) return;
  if (serving().wait(mine, never_stops(), history, deadline::after(patience_))) return;
  if (said_.exchange(1, memory_order_relaxed) != 0) return;  // 6
  std::fprintf(
      stderr,
      "%s '%s' at %p: %s has waited %.3g s for its turn, which thread %u has. This may be "
      "harmless: regions of other threads may take so long. But if that region waits for this "
      "thread, they wait for ever: a thread that a member starts and waits for is to get "
      "lockstep::this_region() from the member, and to make a lockstep::inside_region of it\n",
      whose_.kind, whose_.name, whose_.team, label_of_this_thread().text,
      std::chrono::duration<double>(patience_).count(),
      converted<unsigned>(holder_.load(memory_order_relaxed)));  // 5
}

LOCKSTEP_INLINE void caller_queue::forget_others(bool has_turn) noexcept {
  serving().reset(0);
  kept_.store(0, memory_order_relaxed);    // 21
  keeper_.store(0, memory_order_relaxed);  // 20
  first_ = 0;
  is_numbered_ = has_turn;
  tickets_.store(has_turn ? 1 : 0, memory_order_relaxed);  // 2
}

[[noreturn]] LOCKSTEP_INLINE void fail_destroyed_inside(const char* kind) noexcept {
  end_program("%s: destroyed inside its own region; leave the region first", kind);
}

LOCKSTEP_INLINE bool lone_region::is_stopped() const noexcept {
  const wait_word* outermost = state_;
  for (const nesting::region* at = &where_; at != nullptr; at = at->outer) {
    if (at->owner != where_.owner || at->runs == nullptr) continue;
    if (at->boards != nullptr) {
      const std::uint32_t region =
          nesting::number_of(*at);  // 0 once the region is over, while its values are combined
      return region != 0 && of_.stop.requested(region);
    }
    outermost = at->runs;
    if (outermost[ended].load(memory_order_acquire) != 0) return true;  // 17
  }
  return of_.door.is_stopped_alone(outermost[begun].load(memory_order_relaxed));  // 18
}

LOCKSTEP_INLINE bool lone_region::has_own_stop() const noexcept {
  if (is_ended()) return true;
  for (const nesting::region* at = where_.outer; at != nullptr; at = at->outer) {
    if (at->owner == where_.owner && at->runs != nullptr) return false;
  }
  return is_stopped();
}

LOCKSTEP_INLINE bool stop_source::has_own_stop(std::uint32_t region) const noexcept {
  return alone_ != nullptr ? alone_->has_own_stop() : requested(region);
}

LOCKSTEP_INLINE bool stop_source::is_alone_stopped() const noexcept { return alone_->is_stopped(); }

LOCKSTEP_INLINE void stop_source::request_alone() noexcept { alone_->request_stop(); }

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
