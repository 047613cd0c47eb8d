// SPDX-License-Identifier: MIT
// src/team/external_team.cpp -- external_team.hpp (layer: team)
#include <lockstep/external_team.hpp>

#include <lockstep/detail/platform/error.hpp>
#include "placement.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {

LOCKSTEP_INLINE external_team::external_team(std::size_t members)
    : external_team(options_for(members)) {}

LOCKSTEP_INLINE external_team::external_team(std::size_t members, wait_policy policy)
    : external_team(options_for(members).policy(policy)) {}

LOCKSTEP_INLINE external_team::external_team(const team_options& options)
    : team(options, detail::resolve(options), detail::thread_owner::user) {}

LOCKSTEP_INLINE team_options external_team::options_for(std::size_t members) {
  detail::checked_count("lockstep::external_team", "members", members);
  return team_options().members(members).bind(binding::none()).cpu_separation(false);
}

LOCKSTEP_INLINE external_team::~external_team() = default;

LOCKSTEP_INLINE void external_team::serve(std::size_t rank) { host_.serve(rank); }

LOCKSTEP_INLINE void external_team::release() { host_.release(); }

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
