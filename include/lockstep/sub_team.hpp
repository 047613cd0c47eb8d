// SPDX-License-Identifier: MIT
// lockstep/sub_team.hpp -- part of a team that works on its own for a while (layer: team)
//
//   lockstep::sub_team half = me.split(me.rank() % 2);
//   half->sync_threads();                          // waits for the members of this half only
//
// Made by member::split() and member::first(). Through it a member has a rank and a size of its own, and every
// construct of member is among the members of the sub-team. It ends when all of them have destroyed
// theirs, inside the region. A stopped region stops its sub-teams. After the region it must neither be used nor
// let go: debug builds end the program with a message then.
//
// Memory order (# marks the line; each weakening must fail a test)
//   #  access           order    pairs  why it suffices
//   1  users.fetch_sub  acq_rel  1      who destroys comes after all that others did in it
//
// Cost   making one: two phases of the outer barrier (first: one), and memory. Its end: one RMW a member.
#ifndef LOCKSTEP_SUB_TEAM_HPP
#define LOCKSTEP_SUB_TEAM_HPP

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "detail/team/nesting.hpp"
#include "member.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {

/// What the members of a sub-team share; made by the one that is to have rank 0.
struct sub_group final : detail::dependant {
  sub_group(std::size_t size, const detail::seat& of)
      : shared(size, of.shared().barrier.policy(), of.shared().barrier.stop(),
               &of.shared().of_region()),
        users(static_cast<std::uint32_t>(size)) {}

  detail::group shared;
  detail::wait_word users;
};

class sub_team {
 public:
  /// Of nobody.
  sub_team() noexcept : self_(detail::seat()) {}
  sub_team(sub_team&& other) noexcept
      : of_(other.of_), self_(other.self_), boards_(other.boards_), region_(other.region_) {
    other.forget();
  }
  sub_team& operator=(sub_team&& other) noexcept {
    if (this == &other) return *this;
    let_go();
    of_ = other.of_;
    self_.at_ = other.self_.at_;
    self_.published_ = other.self_.published_;
    boards_ = other.boards_;
    region_ = other.region_;
    other.forget();
    return *this;
  }
  ~sub_team() { let_go(); }

  /// False for who has no part in it.
  explicit operator bool() const noexcept { return !self_.at_.is_nobodys(); }
  /// This member, in the sub-team. Requires: it has a part in it.
  member& operator*() noexcept {
    check_region("used");
    return self_;
  }
  member* operator->() noexcept { return &**this; }

 private:
  friend class member;

  explicit sub_team(const detail::seat& alone) noexcept : self_(alone) {}
  sub_team(sub_group& of, std::size_t rank, std::uint32_t region) noexcept
      : of_(&of),
        self_(detail::seat(of.shared.enter(rank, of.shared.most(), region, 0), of.shared)) {
    const void* const boards = &of.shared.of_region();
    if (!detail::nesting::is_in_region(boards, region)) return;  // one without a team
    boards_ = boards;
    region_ = region;
  }

  void forget() noexcept {
    of_ = nullptr;
    self_.at_ = detail::seat();
    self_.published_ = 0;
    boards_ = nullptr;
  }
  /// What the region had may be gone: only what the calling thread has for itself is looked at.
  void check_region(const char* deed) const noexcept {
    if (!detail::diagnoses_misuse || boards_ == nullptr) return;
    if (detail::nesting::is_in_region(boards_, region_)) return;
    std::fprintf(
        stderr,
        "lockstep::sub_team at %p: %s after its region, or by a thread that is not in it; a "
        "sub_team ends before its region does\n",
        static_cast<const void*>(this), deed);
    std::abort();
  }
  void let_go() noexcept {
    if (of_ != nullptr) check_region("let go");
    if (of_ != nullptr && of_->users.fetch_sub(1, detail::memory_order_acq_rel) == 1) {  // 1
      of_->shared.sub_groups().destroy(*of_);
    }
    forget();
  }

  /// Whoever is to be rank 0 makes the group; `leader` is its rank in the region.
  static sub_team among(const detail::seat& at, std::size_t leader, std::size_t rank,
                        std::size_t size) {
    if (at.goes_on() && rank == 0 && size > 0) {
      sub_group* const made = new sub_group(size, at);
      at.shared().sub_groups().add(*made);
      detail::reductions::put_value(at, made);
    }
    if (!at.sync()) {
      detail::leave_stopped_region();
      return sub_team();
    }
    if (size == 0) return sub_team();
    const detail::cell& from = at.shared().cell_of(leader, at.next_phase() - 1, 0);
    return sub_team(*detail::cargo<sub_group*>::get(from), rank, at.region());
  }

  sub_group* of_ = nullptr;
  member self_;
  const void* boards_ = nullptr;  ///< of the region; null: not checked
  std::uint32_t region_ = 0;
};

inline sub_team member::split(std::size_t color) {
  if (!at_.goes_on()) detail::leave_stopped_region();
  if (at_.is_alone()) return color == no_color ? sub_team() : sub_team(at_);
  if (at_.goes_on()) detail::reductions::put_value(at_, color);
  if (!at_.sync()) {
    detail::leave_stopped_region();
    return sub_team();
  }
  std::size_t leader = size(), rank_there = 0, size_there = 0;
  for (std::size_t other = 0; other < size() && color != no_color; ++other) {
    const detail::cell& theirs = at_.shared().cell_of(other, at_.next_phase() - 1, 0);
    if (detail::cargo<std::size_t>::get(theirs) != color) continue;
    if (size_there == 0) leader = other;
    if (other < rank()) ++rank_there;
    ++size_there;
  }
  return sub_team::among(at_, leader, rank_there, size_there);
}

inline sub_team member::first(std::size_t k) {
  detail::checked_range("lockstep::member::first", "members", k, 1, size());
  if (!at_.goes_on()) detail::leave_stopped_region();
  if (at_.is_alone()) return sub_team(at_);
  return rank() < k ? sub_team::among(at_, 0, rank(), k) : sub_team::among(at_, 0, 0, 0);
}

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SUB_TEAM_HPP
