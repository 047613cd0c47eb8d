// SPDX-License-Identifier: MIT
// lockstep/detail/team/team_host.hpp -- what a team is made of: its door, and its core on the heap (layer: team)
//
// Each team has one. The door is what a thread reads before it has a turn: it lies here, and stays as it is when the
// team ends. The core is what members use (turns.hpp).
#ifndef LOCKSTEP_DETAIL_TEAM_TEAM_HOST_HPP
#define LOCKSTEP_DETAIL_TEAM_TEAM_HOST_HPP

#include <cstddef>
#include <cstdint>

#include <lockstep/call_site.hpp>
#include <lockstep/detail/loop/leaf_loop.hpp>
#include <lockstep/detail/loop/loops.hpp>
#include <lockstep/detail/platform/atomic.hpp>
#include <lockstep/detail/platform/cache_line.hpp>
#include <lockstep/detail/region/job.hpp>
#include <lockstep/wait_policy.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {

class started_region;
class team_options;

namespace detail {

// Of src/team, src/region, src/loop.
struct resolved_team;
class team_core;
class team_door;
class fork_listener;
struct loop_outcome;
struct loop_request;

/// Whose threads serve it: the team's own; the user's; or those of other code that calls team_core::work().
enum class thread_owner : unsigned char { team, user, others };

class team_host {
 public:
  /// Starts the threads, if the team has them.
  team_host(const team_options& options, const resolved_team& made, thread_owner owner);
  /// If the calling thread is in a region of the team, or another thread runs one, the core is not destroyed.
  ~team_host();

  std::size_t size() const noexcept { return size_; }
  wait_policy policy() const noexcept { return policy_; }
  bool has_own_threads() const noexcept { return owner_ == thread_owner::team; }
  /// For hints: never 0. Different for teams that live at the same time, unless 2^24 teams were made in between.
  std::uint32_t number() const noexcept { return number_; }

  // A region, from its caller's call to the return. The arguments are few enough to fit in registers: a place that is
  // written to the stack in halves and read as a whole costs 6 ns, an argument on the stack and a call 2.

  /// part(member&) on the first `members` members. False if the region was stopped. `kind`: for observers.
  bool run(std::size_t members, const job& part, source_place where, const char* kind = "run");
  /// The same on as many members as the user asks for: fails if the team has fewer.
  bool run_some(std::size_t members, const job& part, source_place where);
  /// what(loop_share&) for all shares of a loop. Each is run once: by its member, or by a thread that waits for it and
  /// finds that it has not begun.
  loop_outcome run_loop(const loop_request& of, const job& what);
  /// A region of all members that is open until it is joined.
  started_region start(const job& part, source_place where, const char* kind = "started region");
  /// The handle of the region that the calling thread has started, if it can join that. `in_flight`: as the handle
  /// has it.
  started_region started(int in_flight) noexcept;

  // A region that is one loop: TEAMLOOP-1 to TEAMLOOP-4. For users: run_leaf() of leaf_loop.hpp.

  /// A loop on the caller alone, without a region, if that may be: LONE-1 of src/team/team_host.cpp.
  lone_outcome run_alone(const range_body& body, std::size_t length);
  /// The same in chunks. A function apart from the first, which takes 1.2 times as long with a schedule.
  lone_outcome run_alone(const range_body& body, std::size_t length, schedule how);
  /// A loop at a place of the program, as a region. `loop`: a sized_leaf. False if it was stopped.
  bool run_place(loop_place& place, const void* loop, std::size_t length, schedule how,
                 source_place where);
  /// On all members, in blocks by measured speed.
  bool run_by_weights(const range_body& body, std::size_t length, weighted_schedule& how,
                      source_place where);
  template <class... Functions>
  bool run_sections(Functions&... functions) {
    const auto each = [&](std::size_t first, std::size_t last) {
      for (std::size_t k = first; k < last; ++k) loops::call_one(k, functions...);
    };
    const sized_leaf<decltype(each)> loop = {sizeof...(Functions), each};
    return run_place(loop.place, &loop, loop.length, dynamic_schedule(), call_site::none());
  }

  /// For what only an outside thread may call: TEAM-6.
  void check_outside(const char* function);
  team_door& door() noexcept { return *reinterpret_cast<team_door*>(door_); }
  team_core& core() const noexcept { return *core_; }

 private:
  friend class team_core;
  /// Where misuse is diagnosed: ends the program if the team has ended; its number is 0 then.
  void check_lives() const;

  const std::size_t size_;
  std::uint32_t number_ = 0;
  const wait_policy policy_;
  const thread_owner owner_;
  // A team_door, which needs no destructor.
  static constexpr std::size_t door_size = 2 * sizeof(line_gap) + 192 + 16 * sizeof(wait_word);
  alignas(8) unsigned char door_[door_size];
  team_core* core_ = nullptr;
  owner<fork_listener> listener_;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_TEAM_HOST_HPP
