// SPDX-License-Identifier: MIT
// src/trace/wait_texts.cpp -- the bodies of wait_texts.hpp (layer: trace)
#include "wait_texts.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

LOCKSTEP_INLINE const char* text_of(wait_kind kind) noexcept {
  switch (kind) {
    case wait_kind::event: return "lockstep::event";
    case wait_kind::auto_reset_event: return "lockstep::auto_reset_event";
    case wait_kind::manual_reset_event: return "lockstep::manual_reset_event";
    case wait_kind::latch: return "lockstep::latch";
    case wait_kind::eventual: return "lockstep::eventual";
    case wait_kind::barrier: return "lockstep::barrier";
    case wait_kind::ranked_barrier: return "lockstep::ranked_barrier";
    case wait_kind::fan_out: return "lockstep::fan_out";
    case wait_kind::fan_in: return "lockstep::fan_in";
    case wait_kind::fan_in_out: return "lockstep::fan_in_out";
    case wait_kind::mailbox: return "lockstep::mailbox";
    case wait_kind::joinable_thread: return "lockstep::joinable_thread";
    case wait_kind::mutex: return "lockstep::mutex";
    case wait_kind::shared_mutex: return "lockstep::shared_mutex";
    case wait_kind::counting_semaphore: return "lockstep::counting_semaphore";
    case wait_kind::condition_variable: return "lockstep::condition_variable";
    case wait_kind::internal_lock: return "a lock of the library";
    case wait_kind::turn_with_team: return "its turn with a team";
    case wait_kind::next_region: return "the next region";
    case wait_kind::end_of_part: return "the end of a member's part";
    case wait_kind::room_for_construct: return "room for one construct more";
    case wait_kind::turn_in_ordered_loop: return "its turn in an ordered loop";
    case wait_kind::step_of_member: return "a step of another member";
    case wait_kind::step_of_plan: return "a step of a plan";
    case wait_kind::of_construct:
    case wait_kind::how_many: break;
  }
  return nullptr;
}

LOCKSTEP_INLINE const char* text_of(const wait_subject& what) noexcept {
  const char* const text = text_of(what.kind);
  return text != nullptr ? text : what.construct;
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
