// SPDX-License-Identifier: MIT
// src/region/group.cpp -- the bodies of group.hpp (layer: region)
#include <lockstep/detail/region/group.hpp>

#include <cstdio>
#include <cstdlib>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

LOCKSTEP_INLINE group::group(std::size_t most, wait_policy policy, stop_source& stop,
                             group* of_region, bool separates_cpus, std::size_t most_flags,
                             const rank_groups& groups)
    : barrier(most, policy, stop, most_flags, separates_cpus, groups),
      loops(policy, stop),
      progress(most, policy, stop),
      claims(most),
      leaves(most_values_of_loop),
      of_region_(of_region != nullptr ? *of_region : *this),
      members_(most) {
  for (std::size_t rank = 0; rank < most; ++rank) state(rank).belong_to(this, &stop, rank);
}

LOCKSTEP_INLINE group::~group() = default;

LOCKSTEP_INLINE bool member_state::sync_seen(const char* kind, call_site where) {
  if (is_alone()) {
    if (kind != nullptr) come_to(kind, where);
    return !is_stopped();
  }
  if (diagnoses_misuse && kind != nullptr) in_construct = {kind, where, 0, 0};
  const meeting_view seen = meeting_begins(*this, kind, where, true);
  const bool goes_on = sync_unseen();
  if (seen != meeting_view::none) meeting_ends(*this, seen, kind, where);
  return goes_on;
}

LOCKSTEP_INLINE void group::destroy_kept_values() {
  if (kept_.load(memory_order_relaxed) == 0) return;  // 1
  for (std::size_t rank = 0; rank < most(); ++rank) state(rank).destroy_kept_values();
  kept_.store(0, memory_order_relaxed);  // 2
}

LOCKSTEP_INLINE void group::forget_kept_values() noexcept {
  for (std::size_t rank = 0; rank < most(); ++rank) state(rank).forget_kept_values();
}

[[noreturn]] LOCKSTEP_INLINE void group::report_constructs(std::size_t low,
                                                           const construct_note& lows,
                                                           std::size_t high,
                                                           const construct_note& highs) {
  char places[2][300] = {};
  for (const bool is_low : {true, false}) {
    const call_site where = (is_low ? lows : highs).where;
    char* const place = places[is_low ? 0 : 1];
    if (where.file == nullptr) continue;
    std::snprintf(place, sizeof places[0], " (%s:%u)", where.file, where.line);
  }
  end_program(
      "lockstep::member: rank %zu is in %s%s, rank %zu is in %s%s%s; all members of a region come "
      "to the same constructs in the same order, with the same arguments",
      low, lows.kind, places[0], high, highs.kind, places[1],
      std::strcmp(lows.kind, highs.kind) == 0 ? ", of another size" : "");
}

LOCKSTEP_INLINE void group::note_return(member_state& self) noexcept {
  if (self.is_alone() || self.is_stopped()) return;
  barrier.stop().note_return(self.region(), self.returned_from);
  barrier.notify_all_sleepers();
  if (progress.used()) progress.notify_all_sleepers();
}

LOCKSTEP_INLINE void group::reset_claims() noexcept {
  claims.reset();
  for (std::size_t rank = 0; rank < most(); ++rank) state(rank).loops = 0;
}

LOCKSTEP_INLINE void group::reset() {
  state(0).phase = 0;
  barrier.reset(0);
  reset_claims();
  loops.reset();
  progress.reset();
  sub_groups_.destroy_all();
}

LOCKSTEP_INLINE void sub_group_list::add(sub_group& one) {
  lock_.lock();
  one.next = first_;
  first_ = &one;
  lock_.unlock();
}

LOCKSTEP_INLINE void sub_group_list::destroy(sub_group& one) {
  lock_.lock();
  sub_group** at = &first_;
  while (*at != &one) at = &(*at)->next;
  *at = one.next;
  lock_.unlock();
  delete &one;
}

LOCKSTEP_INLINE void sub_group_list::destroy_all() {
  while (first_ != nullptr) {
    sub_group* const one = first_;
    first_ = one->next;
    delete one;
  }
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
