// SPDX-License-Identifier: MIT
// src/team/external_team.cpp -- external_team.hpp (layer: team)
#include <lockstep/detail/team/placement.hpp>

#include <lockstep/external_team.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {

LOCKSTEP_INLINE external_team::external_team(std::size_t members)
    : external_team(options_for(members)) {}

LOCKSTEP_INLINE external_team::external_team(std::size_t members, wait_policy policy)
    : external_team(options_for(members).policy(policy)) {}

LOCKSTEP_INLINE void external_team::serve(std::size_t rank) { body_->threads.serve(rank); }

LOCKSTEP_INLINE void external_team::release() {
  door_.close_to_lone_loops();
  body_->threads.release();
}

LOCKSTEP_INLINE external_team::external_team(const team_options& options)
    : basic_team(options, detail::resolve(options)) {}

LOCKSTEP_INLINE team_options external_team::options_for(std::size_t members) {
  detail::checked_count("lockstep::external_team", "members", members);
  return team_options().members(members).bind(binding::none()).cpu_separation(false);
}

#if !LOCKSTEP_HEADER_ONLY
namespace detail {
template class basic_team<serving_threads>;
}  // namespace detail
#endif

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
