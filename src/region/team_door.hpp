// SPDX-License-Identifier: MIT
// src/region/team_door.hpp -- the part of a team that outlives it, and the owner of the other (layer: region)
//
// A program may end while other threads run regions of a static team. Its destructor cannot wait for them: they may
// go on for ever. So a team is in two parts:
//   the door  what a thread looks at before it has a turn, or runs a loop without one (lone_loops.hpp). It lies in the
//             team itself, and its end does nothing: at the end of the program its words are still there, and say that
//             it is shut.
//   the body  what members use, on the heap: destroyed with the team, or left where it is while a region runs.
//
//   DOOR-1  The destructor of a team shuts the door. No region and no loop begins any more: who comes then, or is queued,
//           waits for ever (TURN-5). Loops that need no turn are sent to the queue.
//   DOOR-2  It destroys the body only if it could have the last turn at once: then no thread is in a region. A loop without
//           a turn uses nothing of the body.
//
//   bits of `lone`  for loops without a turn                              changed by
//   31..1           how often what runs was stopped from outside           stop_lone_loops()
//   0               closed: they are to ask for a turn, which says why     the end of the team; an external_team that has
//                                                                          lost its threads
//
// Memory order (# marks the line; each weakening must fail a test)
//   #  access          order    pairs  why it suffices
//   1  lone.load       relaxed  -      a loop that begins at the same time is one of before
//   2  lone.load       acquire  3      who finds its loop stopped sees what came before the request
//   3  lone.fetch_add  release  2      the other half
//   4  lone.fetch_or   relaxed  -      as 1
//
// Cost   one load more to the body, of a line that nobody writes.
#ifndef LOCKSTEP_SRC_REGION_TEAM_DOOR_HPP
#define LOCKSTEP_SRC_REGION_TEAM_DOOR_HPP

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <new>
#include <type_traits>
#include <utility>

#include <lockstep/detail/platform/cache_line.hpp>
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

  /// For hints: never 0. Teams that live at the same time have different ones, but for 2^24 teams made in between.
  std::uint32_t number() const noexcept {
    const std::uint32_t low = age_ & 0xFFFFFFu;
    return low != 0 ? low : 1;
  }

  /// What a loop without a turn reads before it begins.
  std::uint32_t look_alone() const noexcept { return lone_.load(memory_order_relaxed); }  // 1
  static constexpr bool is_closed(std::uint32_t look) noexcept { return (look & 1u) != 0; }
  /// Whether it was stopped since.
  bool may_stop_alone(std::uint32_t look) const noexcept {
    return (lone_.load(memory_order_relaxed) ^ look) > 1;  // 1
  }
  bool is_stopped_alone(std::uint32_t look) const noexcept {
    return (lone_.load(memory_order_acquire) ^ look) > 1;  // 2
  }
  void stop_lone_loops() noexcept { lone_.fetch_add(2, memory_order_release); }     // 3
  void close_to_lone_loops() noexcept { lone_.fetch_or(1, memory_order_relaxed); }  // 4

  /// For the destructor of the team, which may be called inside a region of it. False where the body has to stay.
  bool shut(bool is_inside) noexcept {
    close_to_lone_loops();
    const bool has_turn = callers_.shut();
    if (is_inside) return false;
    if (!has_turn && diagnoses_misuse) {
      const caller_queue::label& whose = callers_.whose();
      std::fprintf(
          stderr,
          "%s '%s' at %p: destroyed, or its program ended, while another thread runs a region; "
          "its threads are left as they are\n",
          whose.kind, whose.name, whose.team);
    }
    return has_turn;
  }

 private:
  const std::size_t size_;
  const std::uint32_t age_;
  const wait_policy policy_;
  wait_word lone_{0};
  caller_queue callers_;
};
static_assert(std::is_trivially_destructible<caller_queue>::value ||
                  !std::is_trivially_destructible<wait_word>::value,
              "the door stays as it is");

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_REGION_TEAM_DOOR_HPP
