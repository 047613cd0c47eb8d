// SPDX-License-Identifier: MIT
// src/region/turns.cpp -- the bodies of turns.hpp (layer: region)
#include "turns.hpp"
#include "../platform/this_thread.hpp"

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

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
