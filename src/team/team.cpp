// SPDX-License-Identifier: MIT
// src/team/team.cpp -- team.hpp, external_team.hpp and region.hpp (layer: team)
#include <lockstep/external_team.hpp>
#include <lockstep/team.hpp>

#include <cstdlib>

#include <lockstep/detail/platform/error.hpp>
#include <lockstep/region.hpp>
#include "../platform/process.hpp"
#include "../region/turns.hpp"
#include "environment.hpp"
#include "placement.hpp"
#include "team_core.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// Calls a function between regions.
template <class Function>
void call_in_turn(team_host& of, const char* name, const Function& function) {
  of.check_outside(name);
  const caller_turn mine(of.door().callers());
  function(of.core());
}

}  // namespace detail

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

LOCKSTEP_INLINE void team::request_stop() { host_.core().request_stop(); }

LOCKSTEP_INLINE void team::keep_ledger(bool yes) {
  call_in_turn(host_, "keep_ledger",
               [=](detail::team_core& core) { detail::keep_ledger(core.seen(), yes); });
}

LOCKSTEP_INLINE void team::reset_ledger() {
  call_in_turn(host_, "reset_ledger",
               [](detail::team_core& core) { detail::reset_ledger(core.seen()); });
}

LOCKSTEP_INLINE void team::pause() {
  call_in_turn(host_, "pause", [](detail::team_core& core) { core.stop_threads(); });
}

LOCKSTEP_INLINE void team::resume() {
  call_in_turn(host_, "resume", [](detail::team_core& core) { core.make_ready(); });
}

LOCKSTEP_INLINE started_region::started_region(detail::team_core& core, int in_flight) noexcept
    : core_(&core), number_(core.started()), in_flight_(in_flight) {}

LOCKSTEP_INLINE started_region::operator bool() const noexcept {
  return core_ != nullptr && core_->started() == number_;
}

LOCKSTEP_INLINE started_region& started_region::operator=(started_region&& other) noexcept {
  if (this == &other) return *this;
  let_go();
  core_ = other.core_;
  number_ = other.number_;
  in_flight_ = other.in_flight_;
  other.core_ = nullptr;
  return *this;
}

LOCKSTEP_INLINE started_region::~started_region() { let_go(); }

LOCKSTEP_INLINE bool started_region::join() {
  if (!*this) {
    detail::fail_use(
        "lockstep::started_region::join: there is no region to be joined: it was joined, or moved "
        "to another handle");
  }
  if (!core_->can_join()) detail::fail_use("%s", refusal());
  return join_now();
}

LOCKSTEP_INLINE void started_region::let_go() noexcept {
  if (!*this) return;
  if (!core_->can_join()) {
    detail::end_program("%s; its handle was let go, so that it could never end", refusal());
  }
  const bool gives_up = detail::exceptions_in_flight() > in_flight_;
#if LOCKSTEP_HAS_EXCEPTIONS
  try {
    join_now(gives_up);
  } catch (...) {  // START-2
  }
#else
  join_now(gives_up);
#endif
}

LOCKSTEP_INLINE bool started_region::join_now(bool gives_up) {
  detail::team_core& core = *core_;
  core_ = nullptr;
  const detail::caller_turn mine(core.door().callers(), detail::has_begun_t());
  return core.join(gives_up);
}

LOCKSTEP_INLINE const char* started_region::refusal() const noexcept {
  return core_->has_started()
             ? "lockstep::started_region::join: this thread has started or entered another region "
               "since; join those first"
             : "lockstep::started_region::join: the region was started by another thread, which "
               "has to join it";
}

LOCKSTEP_INLINE region_token::region_token(const detail::nested_region* where) noexcept
    : where_(where), number_(where != nullptr ? detail::nesting::number_of(*where) : 0) {}

LOCKSTEP_INLINE region_token this_region() noexcept {
  const detail::nesting::region* at = detail::innermost_region();
  while (at != nullptr && at->boards == nullptr && at->outer != nullptr) at = at->outer;
  return region_token(at);
}

LOCKSTEP_INLINE inside_region::inside_region(const region_token& of)
    : before_(detail::innermost_region()) {
  if (of.where_ == nullptr) return;
  if (detail::diagnoses_misuse && detail::nesting::number_of(*of.where_) != of.number_) {
    detail::end_program(
        "lockstep::inside_region: the region of this token is over; a member of it has to wait "
        "for the threads that use the token");
  }
  std::size_t count = 0;
  for (const detail::nesting::region* at = of.where_; at != nullptr; at = at->outer) ++count;
  copies_ = new detail::nesting::region[count];
  std::size_t i = 0;
  for (const detail::nesting::region* at = of.where_; at != nullptr; at = at->outer, ++i) {
    copies_[i] = *at;
    copies_[i].outer = i + 1 < count ? &copies_[i + 1] : before_;
  }
  detail::innermost_region() = copies_;
}

LOCKSTEP_INLINE inside_region::~inside_region() {
  detail::innermost_region() = before_;
  delete[] copies_;
}

LOCKSTEP_INLINE team& default_team() {
  detail::found_once<void*>& slot = detail::process().default_team;
  if (void* const known = slot.known()) return *static_cast<team*>(known);
  static_assert(alignof(team) <= alignof(std::max_align_t), "C++11 `new` honours no more");
  team* const made = new team;
  team* const kept = static_cast<team*>(slot.keep(made));
  if (kept != made) {
    delete made;
  } else if (detail::environment::of_process().ledger.value) {
    std::atexit([] {
      void* const known = detail::process().default_team.known();
      detail::team_access::host_of(*static_cast<team*>(known)).core().print_ledger();
    });
  }
  return *kept;
}

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

LOCKSTEP_INLINE void external_team::serve(std::size_t rank) { host_.core().serve(rank); }

LOCKSTEP_INLINE void external_team::release() {
  host_.door().close_to_lone_loops();
  host_.core().close();
}

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
