// SPDX-License-Identifier: MIT
// src/team/sub_team.cpp -- sub_team.hpp, and the bodies of member.hpp (layer: team)
#include <lockstep/sub_team.hpp>

#include <lockstep/detail/platform/error.hpp>
#include "../region/group.hpp"
#include "../region/turns.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {

LOCKSTEP_INLINE sub_team& sub_team::operator=(sub_team&& other) noexcept {
  if (this == &other) return *this;
  let_go();
  part_ = other.part_;
  other.part_ = nullptr;
  return *this;
}

LOCKSTEP_INLINE void sub_team::check_use() const noexcept {
  if (part_ != nullptr) return check_region("used");
  detail::end_program(
      "lockstep::sub_team at %p: used by a member that has no part in it; test it first: if (part)",
      static_cast<const void*>(this));
}

/// The objects of the region may be gone: reads only what belongs to the calling thread.
LOCKSTEP_INLINE void sub_team::check_region(const char* deed) const noexcept {
  if (!detail::diagnoses_misuse || part_->boards == nullptr) return;
  if (detail::nesting::is_in_region(part_->boards, part_->region)) return;
  detail::end_program(
      "lockstep::sub_team at %p: %s after its region, or by a thread that is not in it; a "
      "sub_team ends before its region does",
      static_cast<const void*>(this), deed);
}

LOCKSTEP_INLINE void sub_team::let_go() noexcept {
  if (part_ == nullptr) return;
  if (part_->of != nullptr) {
    check_region("let go");
    // An exception in flight is about to stop the region: then no wait of others needs a message.
    if (detail::diagnoses_misuse && detail::exceptions_in_flight() == 0)
      part_->of->shared.note_return(detail::member_access::state_of(part_->self));
    part_->of->let_go();
  }
  delete part_;
  part_ = nullptr;
}

/// Among the members with this color, in a construct that all have come to. The first of them makes the group.
LOCKSTEP_INLINE sub_team sub_team::of_color(detail::member_state& at, std::size_t color) {
  if (!at.goes_on()) detail::leave_stopped_region();
  if (at.is_alone()) {
    return color == member::no_color ? sub_team()
                                     : sub_team(new detail::sub_team_part(at, nullptr, nullptr, 0));
  }
  if (at.goes_on()) {
    at.value_of(at.rank(), at.next_phase()) = detail::reductions::cell_with(at, color);
  }
  if (!at.sync()) {
    detail::leave_stopped_region();
    return sub_team();
  }
  std::size_t leader = at.size(), rank = 0, size = 0;
  for (std::size_t other = 0; other < at.size() && color != member::no_color; ++other) {
    const detail::cell& theirs = at.shared().cell_of(other, at.phase, 0);
    if (detail::cell_access<std::size_t>::get(theirs) != color) continue;
    if (size == 0) leader = other;
    if (other < at.rank()) ++rank;
    ++size;
  }
  if (leader == at.rank()) {
    detail::sub_group* const made = new detail::sub_group(size, at.shared());
    at.value_of(leader, at.next_phase()) = detail::reductions::cell_with(at, made);
  }
  if (!at.sync()) {
    detail::leave_stopped_region();
    return sub_team();
  }
  if (size == 0) return sub_team();
  const detail::cell& from = at.shared().cell_of(leader, at.phase, 0);
  detail::sub_group& of = *detail::cell_access<detail::sub_group*>::get(from);
  detail::member_state& inner = of.shared.state(rank);
  inner.enter(size, at.region());
  inner.set_rank_in_team(at.rank_in_team());
  inner.accounts = at.accounts;
  const void* const boards = &of.shared.of_region();
  const bool is_of_team = detail::nesting::is_in_region(boards, at.region());
  return sub_team(
      new detail::sub_team_part(inner, &of, is_of_team ? boards : nullptr, at.region()));
}

LOCKSTEP_INLINE sub_team member::split(std::size_t color, call_site where) {
  at_.come_to("split", where);
  return sub_team::of_color(at_, color);
}

LOCKSTEP_INLINE sub_team member::first(std::size_t k, call_site where) {
  detail::checked_range("lockstep::member::first", "members", k, 1, size());
  at_.come_to("first", where, k);
  return sub_team::of_color(at_, rank() < k ? 0 : no_color);
}

LOCKSTEP_INLINE bool member::await_step_unless_stopped(std::size_t rank, std::size_t step) {
  detail::checked_rank("lockstep::member::await_step", "member", rank, size());
  if (rank != this->rank()) return at_.wait_for_step(rank, step);
  if (step <= published_) return !at_.is_stopped();
  detail::fail_use(
      "lockstep::member::await_step: this member would wait for ever: for its own step %zu, while "
      "it has published %zu",
      step, published_);
}

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
