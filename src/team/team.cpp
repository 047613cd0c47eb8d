// SPDX-License-Identifier: MIT
// src/team/team.cpp -- team.hpp (layer: team)
#include <lockstep/team.hpp>

#include <cstdlib>

#include <lockstep/detail/platform/error.hpp>
#include "../platform/process.hpp"
#include "default_team.hpp"
#include "environment.hpp"
#include "placement.hpp"
#include "team_core.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {

LOCKSTEP_INLINE team::team() : team(team_options()) {}

LOCKSTEP_INLINE team::team(std::size_t members)
    : team(team_options().members(detail::checked_count("lockstep::team", "members", members))) {}

LOCKSTEP_INLINE team::team(std::size_t members, wait_policy policy)
    : team(team_options()
               .members(detail::checked_count("lockstep::team", "members", members))
               .policy(policy)) {}

LOCKSTEP_INLINE team::team(const team_options& options)
    : team(options, detail::resolve(options), detail::thread_owner::team) {}

LOCKSTEP_INLINE team::team(const team_options& options, const detail::resolved_team& made,
                           detail::thread_owner owner)
    : host_(options, made, owner) {}

LOCKSTEP_INLINE team::~team() = default;

LOCKSTEP_INLINE void team::request_stop() { host_.request_stop(); }

LOCKSTEP_INLINE void team::keep_ledger(bool yes) { host_.keep_ledger(yes); }

LOCKSTEP_INLINE void team::reset_ledger() { host_.reset_ledger(); }

LOCKSTEP_INLINE void team::pause() { host_.pause(); }

LOCKSTEP_INLINE void team::resume() { host_.resume(); }

LOCKSTEP_INLINE team& default_team() {
  return detail::made_by_the_first<team>(detail::process().default_team, [](team&) {
    if (!detail::environment::of_process().ledger.value) return;
    std::atexit([] {
      team* const made = detail::made_so_far<team>(detail::process().default_team);
      if (made != nullptr) detail::team_access::host_of(*made).core().print_ledger();
    });
  });
}

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
