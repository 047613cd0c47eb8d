// SPDX-License-Identifier: MIT
// lockstep/detail/region/team_door.hpp -- the part of a team that outlives it, and the owner of the other (layer: region)
//
// A program may end while other threads run regions of a static team. Its destructor cannot wait for them: they may
// go on for ever. So a team is in two parts:
//   the door  what a thread looks at before it has a turn. It lies in the team itself, and its end does nothing:
//             at the end of the program its words are still there, and say that a turn is taken for good.
//   the body  what members use, on the heap: destroyed with the team, or left where it is while a region runs.
//
//   DOOR-1  The destructor of a team takes a turn and never ends it. Threads that come later wait for ever.
//   DOOR-2  It destroys the body only if it could have that turn at once: then no thread is in a region, nor queued.
//
// Cost   one load more to the body, of a line that nobody writes.
#ifndef LOCKSTEP_DETAIL_REGION_TEAM_DOOR_HPP
#define LOCKSTEP_DETAIL_REGION_TEAM_DOOR_HPP

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <new>
#include <type_traits>
#include <utility>

#include "../platform/cache_line.hpp"
#include "nesting.hpp"
#include "turns.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

class team_door {
 public:
  team_door(std::size_t members, wait_policy policy, const char* kind, const char* name)
      : size_(members),
        age_(nesting::next_age()),
        policy_(policy),
        callers_(policy, caller_queue::label(this, kind, name)) {}
  team_door(const team_door&) = delete;
  team_door& operator=(const team_door&) = delete;

  std::size_t size() const noexcept { return size_; }
  std::uint32_t age() const noexcept { return age_; }
  wait_policy policy() const noexcept { return policy_; }
  caller_queue& callers() noexcept { return callers_; }
  bool may_wait() const noexcept { return nesting::may_wait_for(age_); }

  /// For the destructor of the team: TURN-2. False where the body has to stay.
  bool shut() noexcept {
    if (callers_.try_begin()) return true;
    if (diagnoses_misuse) {
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
                  !std::is_trivially_destructible<wait_word>::value,
              "the door stays as it is");

/// Owns a team's body, until it has to be left. The body lies at a boundary of 256 bytes: which of its members share a
/// line, or a pair of lines that are fetched together, does not depend on where the heap has room. Elsewhere a barrier
/// of two took up to 1.35 times as long (41 to 55 ns).
template <class Body>
class owned_body {
 public:
  template <class... Arguments>
  explicit owned_body(Arguments&&... arguments)
      : body_(::new(static_cast<void*>(memory_.rooms->data()))
                  Body(std::forward<Arguments>(arguments)...)) {}
  ~owned_body() {
    if (!memory_.is_left) body_->~Body();
  }
  owned_body(const owned_body&) = delete;
  owned_body& operator=(const owned_body&) = delete;

  void leave() noexcept { memory_.is_left = true; }
  Body* operator->() const noexcept { return body_; }

 private:
  struct alignas(256) room {
    unsigned char bytes[sizeof(Body)];
  };
  struct memory {
    aligned_array<room>* const rooms;
    bool is_left = false;

    // Not as an initial value of the member: GCC 12 forgets to free that where it throws.
    memory() : rooms(new aligned_array<room>(1)) {}
    memory(const memory&) = delete;
    memory& operator=(const memory&) = delete;
    ~memory() {
      if (!is_left) delete rooms;
    }
  };

  memory memory_;
  Body* const body_;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_REGION_TEAM_DOOR_HPP
