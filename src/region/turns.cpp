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
          nesting::number_of(*at);  // 0 once it is over, where values are combined
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
