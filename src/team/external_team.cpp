// SPDX-License-Identifier: MIT
// src/team/external_team.cpp -- external_team.hpp (layer: team)
#include <lockstep/external_team.hpp>

#include <lockstep/detail/platform/error.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {

namespace detail {
/// The owner of the threads binds and moves them; the team does not.
LOCKSTEP_INLINE team_options options_for_external(std::size_t members) {
  checked_count("lockstep::external_team", "members", members);
  return team_options().members(members).bind(binding::none()).cpu_separation(false);
}
}  // namespace detail

LOCKSTEP_INLINE external_team::external_team(std::size_t members)
    : team(detail::options_for_external(members), detail::thread_owner::user) {}

LOCKSTEP_INLINE external_team::external_team(std::size_t members, wait_policy policy)
    : team(detail::options_for_external(members).policy(policy), detail::thread_owner::user) {}

LOCKSTEP_INLINE external_team::~external_team() = default;

LOCKSTEP_INLINE void external_team::serve(std::size_t rank) { host_.serve(rank); }

LOCKSTEP_INLINE void external_team::release() { host_.release(); }

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
