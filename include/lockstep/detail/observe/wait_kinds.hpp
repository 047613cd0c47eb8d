// SPDX-License-Identifier: MIT
// lockstep/detail/observe/wait_kinds.hpp -- what hooks tell observers: waits, marks, members (layer: observe)
//
// A kind of wait is a number. The text for it is in src/trace/thread_log.hpp.
#ifndef LOCKSTEP_DETAIL_OBSERVE_WAIT_KINDS_HPP
#define LOCKSTEP_DETAIL_OBSERVE_WAIT_KINDS_HPP

#include <cstdint>

#include <lockstep/call_site.hpp>
#include <lockstep/detail/platform/config.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

enum class wait_kind : std::uint8_t {
  of_construct,  ///< not given: it is for the construct that the thread is in, or for a word
  // For an object.
  event,
  auto_reset_event,
  manual_reset_event,
  latch,
  eventual,
  barrier,
  ranked_barrier,
  fan_out,
  fan_in,
  fan_in_out,
  mailbox,
  joinable_thread,
  mutex,
  shared_mutex,
  counting_semaphore,
  condition_variable,
  internal_lock,  ///< of the library
  // In a team and its regions.
  turn_with_team,
  next_region,  ///< a worker that has nothing to do
  end_of_part,
  room_for_construct,
  turn_in_ordered_loop,
  step_of_member,
  step_of_plan,
  how_many
};

enum class wait_stage : std::uint32_t { spin, yield, sleep };

/// A wait. The texts live as long as the module whose code waits.
struct wait_subject {
  static constexpr std::uint32_t nobody = ~std::uint32_t{0};

  wait_kind kind;
  const char* construct;     ///< observers fill it in: the construct that the thread is in, or null
  const void* object;        ///< the address of the object, or of the word that is awaited
  const void* sleeps_on;     ///< the word that a waiter sleeps on: tells wakes apart
  source_place where;        ///< of the call; file is null: not known
  std::uint32_t phase;       ///< the phase that is awaited
  std::uint32_t rank, size;  ///< of the thread that waits; size is 0 outside of regions
  std::uint32_t awaited;     ///< the rank of the member that is waited for, or nobody
  std::uint32_t region;      ///< with `team`
  const void* team;  ///< the team of `rank`, as in observed_member; null: that of the thread's part
  // For an object at which threads arrive or notify. The waiter is one of them, with `rank`, or nobody.
  std::uint32_t expected;  ///< how many are to arrive or notify; 0: not known
  std::uint32_t left;      ///< how many were missing when the wait began; 0: not known
  std::uint64_t come;      ///< the ranks below 64 that had come when the wait began, a bit each
};

/// Something that was decided, or found out.
enum class mark_kind : std::uint8_t {
  decision,
  woken,
  anticipated,
  missed_wake_up,
  share_taken_over,
  separated,
  crowded,
  user
};

/// A member, as observers know it.
struct observed_member {
  const void* team;      ///< what its members share: the same for all members of the region
  std::uint32_t region;  ///< the number of the region
  std::uint32_t rank, size;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_OBSERVE_WAIT_KINDS_HPP
