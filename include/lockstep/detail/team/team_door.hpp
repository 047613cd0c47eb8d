// SPDX-License-Identifier: MIT
// lockstep/detail/team/team_door.hpp -- the two parts of a team, for the end of static ones (layer: team)
//
// A program may end while other threads run regions of a static team. Its destructor cannot wait for them: they may
// go on for ever. So a team is in two parts:
//   the door  what an outside thread looks at before it has a turn. It lies in the team itself, and its end does
//             nothing: at the end of the program its words are still there, and say that a turn is taken for good.
//   the body  what members use, on the heap: destroyed with the team, or left where it is while a region runs.
//
//   D1  The destructor of a team takes a turn and never ends it. Threads that come later wait for ever.
//   D2  It destroys the body only if it could have that turn at once: then nobody is in a region, nor queued.
//
// Cost   one load more to the body, of a line that nobody writes.
#ifndef LOCKSTEP_DETAIL_TEAM_TEAM_DOOR_HPP
#define LOCKSTEP_DETAIL_TEAM_TEAM_DOOR_HPP

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <type_traits>
#include <utility>

#include "caller_queue.hpp"
#include "nesting.hpp"
#include "placement.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

class team_door {
 public:
  team_door(const resolved_team& made, const char* kind)
      : size_(made.members),
        age_(nesting::next_age()),
        policy_(made.policy),
        callers_(made.policy, caller_queue::label(this, kind, made.name.c_str())) {}
  team_door(const team_door&) = delete;
  team_door& operator=(const team_door&) = delete;

  std::size_t size() const noexcept { return size_; }
  std::uint32_t age() const noexcept { return age_; }
  wait_policy policy() const noexcept { return policy_; }
  caller_queue& callers() noexcept { return callers_; }
  /// Whether the calling thread may wait for its turn: see nesting.hpp.
  bool may_wait() const noexcept { return nesting::may_wait_for(age_); }

  /// For the destructor of the team: D1. False where the body has to stay.
  bool shut() noexcept {
    if (callers_.try_begin()) return true;
    if (detail::diagnoses_misuse) {
      const caller_queue::label& whose = callers_.whose();
      std::fprintf(
          stderr,
          "%s '%s' at %p: destroyed, or its program ended, while another thread runs a region; "
          "its threads are left as they are\n",
          whose.kind, whose.name, whose.team);
    }
    return false;
  }

 private:
  const std::size_t size_;
  const std::uint32_t age_;
  const wait_policy policy_;
  caller_queue callers_;
};
static_assert(std::is_trivially_destructible<caller_queue>::value ||
                  !std::is_trivially_destructible<detail::wait_word>::value,
              "the door stays as it is");

/// Owns a team's body, until it has to be left.
template <class Body>
class owned_body {
 public:
  template <class... Arguments>
  explicit owned_body(Arguments&&... arguments)
      : body_(new Body(std::forward<Arguments>(arguments)...)) {}
  ~owned_body() {
    if (!is_left_) delete body_;
  }
  owned_body(const owned_body&) = delete;
  owned_body& operator=(const owned_body&) = delete;

  void leave() noexcept { is_left_ = true; }
  Body* operator->() const noexcept { return body_; }

 private:
  static_assert(alignof(Body) <= alignof(std::max_align_t), "C++11 `new` honours no more");
  Body* const body_;
  bool is_left_ = false;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_TEAM_DOOR_HPP
