// SPDX-License-Identifier: MIT
// lockstep/detail/team/team.ipp -- the bodies of team.hpp (layer: team)
#ifndef LOCKSTEP_DETAIL_TEAM_TEAM_IPP
#define LOCKSTEP_DETAIL_TEAM_TEAM_IPP

#include <cstdio>
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

team::~team() {
  if (body_->core.ends_inside() || !door_.shut()) body_.leave();
}

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

void team::keep_ledger(bool yes) {
  check_outside("keep_ledger");
  const detail::caller_turn mine(door_.callers());
  body_->core.keep_ledger(yes);
}

void team::reset_ledger() {
  check_outside("reset_ledger");
  const detail::caller_turn mine(door_.callers());
  body_->core.reset_ledger();
}

void team::request_stop() { body_->core.request_stop(); }

LOCKSTEP_COLD team::team(const team_options& options, const detail::resolved_team& made)
    : door_(made.members, made.policy, "lockstep::team", made.name.c_str()),
      body_(made, door_, options) {
  detail::display_first_team(made);
  body_->threads.make_ready();
}

[[noreturn]] LOCKSTEP_COLD void team::refuse_inside(const char* function) {
  char message[192];
  std::snprintf(message, sizeof message,
                "lockstep::team::%s: called inside a region of this team, or of one that was "
                "made later, and "
                "would wait for it; call it after run() has returned",
                function);
  detail::fail_use(message);
}

LOCKSTEP_COLD void team::in_child(void* self) noexcept {
  body& at = *static_cast<team*>(self)->body_.operator->();
  at.threads.forget();
  at.core.forget_others();
}

namespace detail {

LOCKSTEP_COLD void show_ledger_at_exit(team&) {
  if (!has_observers() || !environment::of_process().ledger.value) return;
  std::atexit([] {
    void* const made = process().default_team.load(memory_order_acquire);  // 1
    if (made != nullptr) static_cast<const team*>(made)->body_->core.print_ledger();
  });
}

}  // namespace detail

LOCKSTEP_OUT_OF_LINE bool team::run_loop(const detail::loop_request& of, detail::job& what,
                                         const detail::loop_ends& ends) {
  return detail::team_core::run_loop(door_, &body_->core, body_->threads, of, what, ends);
}

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_TEAM_IPP
