// SPDX-License-Identifier: MIT
// lockstep/detail/observe/points.hpp -- what small objects tell those who watch (layer: observe)
//
// HOOK-1 of hooks.hpp, which has the rest.
#ifndef LOCKSTEP_DETAIL_OBSERVE_POINTS_HPP
#define LOCKSTEP_DETAIL_OBSERVE_POINTS_HPP

#include <lockstep/detail/platform/config.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// Sleepers on a word are woken.
void note_wake(const void* word) noexcept;
/// A lock was taken, or is about to be given up.
void note_lock(const void* object, bool is_taken) noexcept;

/// Where threads may be delayed: before what others may wait for. In builds that do not diagnose misuse, this and
/// notify_point() are nothing: a look at the observers takes 1 to 3 % of a notify.
void pass_sync_point() noexcept;
inline void sync_point() noexcept {
  if (diagnoses_misuse) pass_sync_point();
}
/// The same before a thread lets those go that wait for `word`, the one that waiters name as their object or sleep on,
/// of an object that has no other hook.
void pass_notify_point(const void* word) noexcept;
inline void notify_point(const void* word) noexcept {
  if (diagnoses_misuse) pass_notify_point(word);
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_OBSERVE_POINTS_HPP
