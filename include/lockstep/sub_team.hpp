// SPDX-License-Identifier: MIT
// lockstep/sub_team.hpp -- part of a team that works on its own for a while (layer: team)
//
// Made by member::split() and member::first(). Through it a member has a rank and a size of its own, and every
// construct of member is among the members of the sub-team. The sub-team ends when each of its members has destroyed its
// own object, inside the region. A stopped region stops its sub-teams. Do not use or destroy it after the region: debug
// builds end the program with a message.
//
// Cost   making one: two phases of the outer barrier, and memory, also of each member. Its end: one RMW a member.
// Order  as member's constructs, among the members of the sub-team.
// Errors as member's. To use an empty one, or one after its region: undefined; debug builds end the program.
// Example
//   lockstep::team four(4);
//   four.run([](lockstep::member& me) {
//     lockstep::sub_team half = me.split(me.rank() % 2);
//     half->sync_threads();  // waits for the members of this half only
//   });
#ifndef LOCKSTEP_SUB_TEAM_HPP
#define LOCKSTEP_SUB_TEAM_HPP

#include <cstddef>
#include <cstdint>

#include <lockstep/member.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {

namespace detail {

struct sub_group;

/// A member's part in a sub-team.
struct sub_team_part : member_access {
  sub_team_part(member_state& at, sub_group* group, const void* of_region,
                std::uint32_t number) noexcept
      : member_access(at), of(group), boards(of_region), region(number) {}

  sub_group* const of;       ///< null: of a member that is alone
  const void* const boards;  ///< of the region; null: not checked
  const std::uint32_t region;
};

}  // namespace detail

/// A member's part in a sub-team: a pointer to its member object there.
class sub_team {
 public:
  /// Refers to no sub-team.
  sub_team() noexcept = default;
  sub_team(sub_team&& other) noexcept : part_(other.part_) { other.part_ = nullptr; }
  sub_team& operator=(sub_team&& other) noexcept;
  ~sub_team() { let_go(); }

  /// False if it is empty: of a member that is in no sub-team.
  explicit operator bool() const noexcept { return part_ != nullptr; }
  /// This member, in the sub-team: all constructs of member.hpp. Requires: it is not empty.
  member& operator*() noexcept {
    if (detail::diagnoses_misuse) check_use();
    return part_->self;
  }
  member* operator->() noexcept { return &**this; }

 private:
  friend class member;

  explicit sub_team(detail::sub_team_part* part) noexcept : part_(part) {}
  static sub_team of_color(detail::member_state& at, std::size_t color);

  void check_use() const noexcept;
  void check_region(const char* deed) const noexcept;
  void let_go() noexcept;

  detail::sub_team_part* part_ = nullptr;
};

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SUB_TEAM_HPP
