// SPDX-License-Identifier: MIT
// lockstep/detail/team/group.ipp -- the bodies of group.hpp (layer: team)
#ifndef LOCKSTEP_DETAIL_TEAM_GROUP_IPP
#define LOCKSTEP_DETAIL_TEAM_GROUP_IPP

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "group.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

LOCKSTEP_COLD group::group(std::size_t most, wait_policy policy, stop_source& stop,
                           group* of_region, bool finds_cpu, std::size_t most_flags)
    : barrier(most, policy, stop, most_flags, finds_cpu),
      loops(policy, stop),
      progress(most, policy, stop),
      claims(most),
      leaves(reduction_tree::most_leaves),
      of_region_(of_region != nullptr ? *of_region : *this),
      members_(most) {
  for (std::size_t rank = 0; rank < most; ++rank) state(rank).belong_to(this, &stop, rank);
}

LOCKSTEP_COLD group::~group() = default;

LOCKSTEP_OUT_OF_LINE void group::destroy_kept_values() {
  if (kept_.load(detail::memory_order_relaxed) == 0) return;  // 1
  for (std::size_t rank = 0; rank < most(); ++rank) state(rank).destroy_kept_values();
  kept_.store(0, detail::memory_order_relaxed);  // 2
}

LOCKSTEP_COLD void group::forget_kept_values() noexcept {
  for (std::size_t rank = 0; rank < most(); ++rank) state(rank).forget_kept_values();
}

[[noreturn]] LOCKSTEP_COLD void group::report_constructs(std::size_t low,
                                                         const construct_note& lows,
                                                         std::size_t high,
                                                         const construct_note& highs) {
  std::fprintf(stderr, "lockstep::member: ");
  for (const bool is_low : {true, false}) {
    const construct_note& what = is_low ? lows : highs;
    std::fprintf(stderr, "%srank %zu is in %s", is_low ? "" : ", ", is_low ? low : high, what.kind);
    if (what.where.file == nullptr) continue;
    std::fprintf(stderr, " (%s:%u)", what.where.file, what.where.line);
  }
  std::fprintf(stderr,
               "%s; all members of a region come to the same constructs in the same order, with "
               "the same arguments\n",
               std::strcmp(lows.kind, highs.kind) == 0 ? ", of another size" : "");
  std::abort();
}

LOCKSTEP_COLD void group::reset_claims() noexcept {
  claims.reset();
  for (std::size_t rank = 0; rank < most(); ++rank) state(rank).loops = 0;
}

LOCKSTEP_COLD void group::reset() {
  state(0).phase = 0;
  barrier.reset(0);
  reset_claims();
  loops.reset();
  progress.reset();
  sub_groups_.destroy_all();
}

LOCKSTEP_COLD void sub_group_list::add(sub_group& one) {
  lock_.lock();
  one.next = first_;
  first_ = &one;
  lock_.unlock();
}

LOCKSTEP_COLD void sub_group_list::destroy(sub_group& one) {
  lock_.lock();
  sub_group** at = &first_;
  while (*at != &one) at = &(*at)->next;
  *at = one.next;
  lock_.unlock();
  delete &one;
}

LOCKSTEP_COLD void sub_group_list::destroy_all() {
  while (first_ != nullptr) {
    sub_group* const one = first_;
    first_ = one->next;
    delete one;
  }
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_GROUP_IPP
