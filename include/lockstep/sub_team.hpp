// SPDX-License-Identifier: MIT
// lockstep/sub_team.hpp -- part of a team that works on its own for a while (layer: team)
//
// Made by member::split() and member::first(). Through it a member has a rank and a size of its own, and every
// construct of member is among the members of the sub-team. It ends when all of them have destroyed
// theirs, inside the region. A stopped region stops its sub-teams. Do not use or destroy it after the region: debug
// builds end the program with a message.
//
// Cost   making one: two phases of the outer barrier (first: one), and memory. Its end: one RMW a member.
// Order  as member's constructs, among the members of the sub-team.
// Errors as member's. To use one that has no part, or one after its region: undefined; debug builds end the program for
//        the latter.
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
}

/// A member's part in a sub-team: points to the member that it is there.
class sub_team {
 public:
  /// Refers to no sub-team.
  sub_team() noexcept = default;
  sub_team(sub_team&& other) noexcept;
  sub_team& operator=(sub_team&& other) noexcept;
  ~sub_team();

  /// False for a member that has no part in it.
  explicit operator bool() const noexcept { return has_part_; }
  /// This member, in the sub-team: all constructs of member.hpp. Requires: it has a part in it.
  member& operator*() noexcept {
    if (detail::diagnoses_misuse) check_use();
    return self();
  }
  member* operator->() noexcept { return &**this; }

 private:
  friend class member;

  /// For a member that is alone in its region.
  explicit sub_team(detail::member_state& alone) noexcept;
  /// `outer`: the same member in what the sub-team is part of.
  sub_team(detail::sub_group& of, std::size_t rank, const detail::member_state& outer) noexcept;
  static sub_team among(detail::member_state& at, std::size_t leader, std::size_t rank,
                        std::size_t size);

  member& self() noexcept { return *reinterpret_cast<member*>(self_); }
  void set_self(const member& as) noexcept;
  void take_over(sub_team& other) noexcept;
  void forget() noexcept;
  void check_use() const noexcept;
  void check_region(const char* deed) const noexcept;
  void let_go() noexcept;

  alignas(member) unsigned char self_[sizeof(member)];
  bool has_part_ = false;
  detail::sub_group* of_ = nullptr;  ///< null: of nobody, or of a member that is alone
  const void* boards_ = nullptr;     ///< of the region; null: not checked
  std::uint32_t region_ = 0;
};

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SUB_TEAM_HPP
