// SPDX-License-Identifier: MIT
// src/region/lone_region.hpp -- a region or a loop that its caller runs alone (layer: region)
//
// A loop that needs nobody else (lone_loops.hpp), and the region or loop of a thread that has no turn with the team
// (region_turn of turns.hpp): it is in a region of the team already, or may not wait for one.
//
//   ALONE-1  Meanwhile the thread counts as inside a region of the team: what it calls of the team runs alone as well.
//   ALONE-2  It is stopped by itself, and together with each region of the team that the thread is in. One that is in no
//            other is stopped, too, by a request of a thread that is in no region of the team (team_door.hpp).
//   ALONE-3  request_stop() of the team, by a thread that is in regions of it, is for the outermost of them. So it stops
//            all of them. In a child process, after a fork() in a region, that is done for the thread that forked.
//   ALONE-4  region_stopped passes through a region that is stopped with the one around it, and ends at that one.
//
//   words of the state  meaning
//   0                   the number of the region: 1
//   1                   how it was ended: 0 not, 1 stopped, 2 the team was destroyed in it
//   2                   what the door said when it began
//
// Memory order (# marks the line; each weakening must fail a test)
//   #  access       order    pairs  why it suffices
//   1  state.store  relaxed  -      before the thread is marked as inside
//   2  state.store  release  3      who finds the region stopped sees what came before the request
//   3  state.load   acquire  2      the other half
//   4  state.load   relaxed  -      the thread reads no other data of the one that stopped it; or what 1 has stored
//
// Cost   to begin and to end: 1 ns. A look at whether one inside others is stopped: about 3 ns.
#ifndef LOCKSTEP_SRC_REGION_LONE_REGION_HPP
#define LOCKSTEP_SRC_REGION_LONE_REGION_HPP

#include <cstdint>

#include <lockstep/detail/platform/error.hpp>
#include "nesting.hpp"
#include "stop_source.hpp"
#include "team_door.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// The team whose region it is.
struct lone_team {
  const void* owner;        ///< of its regions
  const stop_source& stop;  ///< of those that are not alone
  const team_door& door;
};

/// For a team that was destroyed in a region of its own.
[[noreturn]] void fail_destroyed_inside(const char* kind) noexcept;

/// The calling thread runs a region alone while this object lives, and a nesting::inside of it.
class lone_region {
 public:
  /// `outer`: the region that the thread is in. `look`: at the door, before.
  lone_region(const lone_team& of, const nesting::region* outer, std::uint32_t look) noexcept
      : of_(of), where_{of.owner, of.door.age(), nullptr, state_, outer} {
    state_[number].store(1, memory_order_relaxed);    // 1
    state_[ended].store(0, memory_order_relaxed);     // 1
    state_[begun].store(look, memory_order_relaxed);  // 1
  }
  lone_region(const lone_region&) = delete;
  lone_region& operator=(const lone_region&) = delete;

  const nesting::region& where() const noexcept { return where_; }
  /// ALONE-2; what came before the request is seen.
  bool is_stopped() const noexcept;
  /// The same, and not because the region around it is.
  bool has_own_stop() const noexcept;
  /// By itself, or by a request of the team in it.
  bool is_ended() const noexcept {
    return state_[ended].load(memory_order_relaxed) != 0;  // 4
  }
  /// Stops this one.
  void request_stop() noexcept { state_[ended].store(stopped, memory_order_release); }  // 2
  /// At its end: CORE-6 of team_core.hpp.
  void check_team() const noexcept {
    if (LOCKSTEP_UNLIKELY(state_[ended].load(memory_order_relaxed) == destroyed)) {  // 4
      fail_destroyed_inside("lockstep::team");
    }
  }

  /// ALONE-3. False if the calling thread is in no region of the team, or the outermost has members.
  static bool request_stop(const void* owner) noexcept { return end(owner, stopped); }
  /// The same because the team is destroyed: by mistake, if the region ends; or by exit() (CORE-6).
  static bool end_team(const void* owner) noexcept { return end(owner, destroyed); }

 private:
  enum word { number, ended, begun };
  static constexpr std::uint32_t stopped = 1, destroyed = 2;

  static bool end(const void* owner, std::uint32_t how) noexcept {
    const nesting::region* outermost = nullptr;
    for (const nesting::region* at = nesting::innermost(); at != nullptr; at = at->outer) {
      if (at->owner == owner && at->runs != nullptr) outermost = at;
    }
    if (outermost == nullptr || outermost->boards != nullptr) return false;
    const_cast<wait_word*>(outermost->runs)[ended].store(how, memory_order_release);  // 2
    return true;
  }

  const lone_team& of_;
  wait_word state_[3];
  const nesting::region where_;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_REGION_LONE_REGION_HPP
