// SPDX-License-Identifier: MIT
// lockstep/detail/team/external_team.ipp -- the bodies of external_team.hpp (layer: team)
#ifndef LOCKSTEP_DETAIL_TEAM_EXTERNAL_TEAM_IPP
#define LOCKSTEP_DETAIL_TEAM_EXTERNAL_TEAM_IPP

#include <cstdio>
#include <cstdlib>

#include "placement.hpp"

#include "../../external_team.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {

external_team::external_team(std::size_t members) : external_team(options_for(members)) {}

external_team::external_team(std::size_t members, wait_policy policy)
    : external_team(options_for(members).policy(policy)) {}

external_team::~external_team() {
  if (body_->core.ends_inside() || !door_.shut()) {
    body_.leave();
    return;
  }
  release();
  for (std::size_t rank = 1; rank < size() && !is_child_; ++rank) {
    if (body_->claimed[rank].load(detail::memory_order_relaxed) != 0) {  // 2
      body_->left.acquire();
    }
  }
}

LOCKSTEP_OUT_OF_LINE void external_team::serve(std::size_t rank) {
  detail::checked_rank("lockstep::external_team::serve", "members", rank, size());
  body& at = *body_.operator->();  // another thread may leave it to this one
  if (rank == 0 || at.claimed[rank].exchange(1, detail::memory_order_relaxed) != 0) {  // 1
    if (rank != 0 && at.core.is_closed()) return;
    detail::fail_argument(
        "lockstep::external_team::serve: rank 0 is the caller of run(), and each other rank is "
        "for one thread; give every thread a rank of its own, from 1 on");
  }
  at.core.work(rank);
  at.left.release();
}

void external_team::keep_ledger(bool yes) {
  check_outside("keep_ledger");
  const detail::caller_turn mine(door_.callers());
  body_->core.keep_ledger(yes);
}

void external_team::reset_ledger() {
  check_outside("reset_ledger");
  const detail::caller_turn mine(door_.callers());
  body_->core.reset_ledger();
}

LOCKSTEP_COLD void external_team::check_outside(const char* function) const {
  if (door_.may_wait()) return;
  char message[192];
  std::snprintf(message, sizeof message,
                "lockstep::external_team::%s: called inside a region of this team, or of one that "
                "was made later, and would wait for it; call it after run() has returned",
                function);
  detail::fail_use(message);
}

void external_team::release() { body_->core.close(); }

LOCKSTEP_COLD external_team::external_team(const team_options& options)
    : external_team(detail::resolve(options)) {}

LOCKSTEP_COLD external_team::external_team(const detail::resolved_team& made)
    : door_(made.members, made.policy, "lockstep::external_team", made.name.c_str()),
      body_(made, door_) {}

LOCKSTEP_COLD team_options external_team::options_for(std::size_t members) {
  detail::checked_count("lockstep::external_team", "members", members);
  return team_options().members(members).bind(binding::none()).cpu_separation(false);
}

LOCKSTEP_OUT_OF_LINE bool external_team::run_loop(const detail::loop_request& of, detail::job& what,
                                                  const detail::loop_ends& ends) {
  if (size() > 1) check_parent();
  return detail::team_core::run_loop(door_, &body_->core, body_->servers, of, what, ends);
}

LOCKSTEP_COLD void external_team::in_child(void* self) noexcept {
  external_team& at = *static_cast<external_team*>(self);
  at.is_child_ = true;
  at.body_->core.forget_others();
}

[[noreturn]] LOCKSTEP_COLD void external_team::refuse_child() {
  detail::fail_use(
      "lockstep::external_team::run: this is a child process, which has none of the serving "
      "threads; make a new team");
}

[[noreturn]] LOCKSTEP_COLD void external_team::serving_threads::refuse() {
  detail::fail_use(
      "lockstep::external_team::run: release() was called, nobody serves any more; make a new "
      "team");
}

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_EXTERNAL_TEAM_IPP
