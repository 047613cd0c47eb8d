// SPDX-License-Identifier: MIT
// lockstep/detail/team/external_team.ipp -- the bodies of external_team.hpp (layer: team)
#ifndef LOCKSTEP_DETAIL_TEAM_EXTERNAL_TEAM_IPP
#define LOCKSTEP_DETAIL_TEAM_EXTERNAL_TEAM_IPP

#include "placement.hpp"

#include "../../external_team.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {

external_team::external_team(std::size_t members) : external_team(options_for(members)) {}

external_team::external_team(std::size_t members, wait_policy policy)
    : external_team(options_for(members).policy(policy)) {}

void external_team::serve(std::size_t rank) { body_->threads.serve(rank); }

void external_team::release() {
  door_.close_to_lone_loops();
  body_->threads.release();
}

LOCKSTEP_COLD external_team::external_team(const team_options& options)
    : basic_team(options, detail::resolve(options)) {}

LOCKSTEP_COLD team_options external_team::options_for(std::size_t members) {
  detail::checked_count("lockstep::external_team", "members", members);
  return team_options().members(members).bind(binding::none()).cpu_separation(false);
}

#if LOCKSTEP_COMPILED
namespace detail {
template class basic_team<serving_threads>;
}  // namespace detail
#endif

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_EXTERNAL_TEAM_IPP
