// SPDX-License-Identifier: MIT
// src/team/basic_team.cpp -- the bodies of basic_team.hpp (layer: team)
#include <lockstep/detail/team/basic_team.hpp>

#include <cstdio>
#include <lockstep/detail/team/placement.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

template <class Threads>
basic_team<Threads>::basic_team(const team_options& options, const resolved_team& made)
    : door_(made.members, made.policy, Threads::kind_of_team(), made.name.c_str()),
      body_(made, door_, options) {}

template <class Threads>
basic_team<Threads>::~basic_team() {
  if (!door_.shut(body_->core.ends_inside())) body_.leave();
}

template <class Threads>
void basic_team<Threads>::request_stop() {
  body_->core.request_stop();
}

template <class Threads>
void basic_team<Threads>::keep_ledger(bool yes) {
  check_outside("keep_ledger");
  const caller_turn mine(door_.callers());
  body_->core.keep_ledger(yes);
}

template <class Threads>
void basic_team<Threads>::reset_ledger() {
  check_outside("reset_ledger");
  const caller_turn mine(door_.callers());
  body_->core.reset_ledger();
}

template <class Threads>
bool basic_team<Threads>::run_loop(const loop_request& of, job& what, const loop_ends& ends) {
  return team_core::run_loop(door_, &body_->core, body_->threads, of, what, ends);
}

template <class Threads>
void basic_team<Threads>::refuse_inside(const char* function) {
  char message[192];
  std::snprintf(message, sizeof message,
                "%s::%s: called inside a region of this team, or of one that was made later, and "
                "would wait for it; call it after run() has returned",
                Threads::kind_of_team(), function);
  fail_use(message);
}

template <class Threads>
void basic_team<Threads>::in_child(void* self) noexcept {
  basic_team& of = *static_cast<basic_team*>(self);
  of.body_->threads.forget();
  if (of.body_->threads.are_gone()) of.door_.close_to_lone_loops();
  of.body_->core.forget_others();
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
