// SPDX-License-Identifier: MIT
// src/team/team.cpp -- team.hpp (layer: team)
#include <cstdlib>

#include <lockstep/detail/team/placement.hpp>
#include "display.hpp"

#include <lockstep/team.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {

LOCKSTEP_INLINE team::team() : team(team_options()) {}

LOCKSTEP_INLINE team::team(std::size_t members)
    : team(team_options().members(detail::checked_count("lockstep::team", "members", members))) {}

LOCKSTEP_INLINE team::team(std::size_t members, wait_policy policy)
    : team(team_options()
               .members(detail::checked_count("lockstep::team", "members", members))
               .policy(policy)) {}

LOCKSTEP_INLINE team::team(const team_options& options) : team(options, detail::resolve(options)) {}

LOCKSTEP_INLINE void team::pause() {
  check_outside("pause");
  const detail::caller_turn mine(door_.callers());
  body_->threads.stop();
}

LOCKSTEP_INLINE void team::resume() {
  check_outside("resume");
  const detail::caller_turn mine(door_.callers());
  body_->threads.make_ready();
}

LOCKSTEP_INLINE team::team(const team_options& options, const detail::resolved_team& made)
    : basic_team(options, made) {
  detail::display_first_team(made);
  body_->threads.make_ready();
}

namespace detail {

LOCKSTEP_INLINE void show_ledger_at_exit(team&) {
  if (!environment::of_process().ledger.value) return;
  std::atexit([] {
    void* const made = process().default_team.load(memory_order_acquire);  // 1
    if (made != nullptr) static_cast<const team*>(made)->body_->core.print_ledger();
  });
}

}  // namespace detail

#if !LOCKSTEP_HEADER_ONLY
namespace detail {
template class basic_team<worker_threads>;
}  // namespace detail
#endif

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
