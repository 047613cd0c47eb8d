// SPDX-License-Identifier: MIT
// lockstep/detail/team/team.ipp -- the bodies of team.hpp (layer: team)
#ifndef LOCKSTEP_DETAIL_TEAM_TEAM_IPP
#define LOCKSTEP_DETAIL_TEAM_TEAM_IPP

#include <cstdlib>

#include "display.hpp"
#include "placement.hpp"

#include "../../team.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {

team::team() : team(team_options()) {}

team::team(std::size_t members)
    : team(team_options().members(detail::checked_count("lockstep::team", "members", members))) {}

team::team(std::size_t members, wait_policy policy)
    : team(team_options()
               .members(detail::checked_count("lockstep::team", "members", members))
               .policy(policy)) {}

team::team(const team_options& options) : team(options, detail::resolve(options)) {}

void team::pause() {
  check_outside("pause");
  const detail::caller_turn mine(door_.callers());
  body_->threads.stop();
}

void team::resume() {
  check_outside("resume");
  const detail::caller_turn mine(door_.callers());
  body_->threads.make_ready();
}

LOCKSTEP_COLD team::team(const team_options& options, const detail::resolved_team& made)
    : basic_team(options, made) {
  detail::display_first_team(made);
  body_->threads.make_ready();
}

namespace detail {

LOCKSTEP_COLD void show_ledger_at_exit(team&) {
  if (!environment::of_process().ledger.value) return;
  std::atexit([] {
    void* const made = process().default_team.load(memory_order_acquire);  // 1
    if (made != nullptr) static_cast<const team*>(made)->body_->core.print_ledger();
  });
}

}  // namespace detail

#if LOCKSTEP_COMPILED
namespace detail {
template class basic_team<worker_threads>;
}  // namespace detail
#endif

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_TEAM_IPP
