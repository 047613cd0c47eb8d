// SPDX-License-Identifier: MIT
// src/team/team_host.cpp -- team_host.hpp (layer: team)
#include <lockstep/detail/team/team_host.hpp>

#include <cstdio>
#include <new>

#include <lockstep/region.hpp>
#include <lockstep/team_options.hpp>
#include "../platform/fork.hpp"
#include "../region/team_door.hpp"
#include "display.hpp"
#include "placement.hpp"
#include "team_core.hpp"
#include "team_threads.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// What members use. It lies at a boundary of 256 bytes: which of its parts share a line, or a pair of lines that are
/// fetched together, does not depend on where the heap has room. Elsewhere a barrier of two took up to 1.35 times as
/// long (41 to 55 ns).
struct team_body {
  team_body(const resolved_team& made, team_door& door, const team_options& options,
            thread_owner owner)
      : core(made, door), threads(core, made, options, owner) {
    core.have(threads);
  }
  team_body(const team_body&) = delete;
  team_body& operator=(const team_body&) = delete;

  static void* operator new(std::size_t size) {
    unsigned char* const raw = static_cast<unsigned char*>(::operator new(size + boundary));
    const std::size_t gap = boundary - reinterpret_cast<std::uintptr_t>(raw) % boundary;
    ::new (static_cast<void*>(raw + gap - sizeof(void*))) void*(raw);
    return raw + gap;
  }
  static void operator delete(void* at) noexcept { ::operator delete(static_cast<void**>(at)[-1]); }

  team_core core;
  team_threads threads;  // end before the core

 private:
  static constexpr std::size_t boundary = 256;
  static_assert(alignof(team_core) <= boundary, "it lies as it has to");
};

static_assert(std::is_trivially_destructible<team_door>::value ||
                  !std::is_trivially_destructible<wait_word>::value,
              "the door stays as it is");

LOCKSTEP_INLINE team_host::team_host(const team_options& options, const resolved_team& made,
                                     thread_owner owner)
    : team_host(options, made, owner, unstarted()) {
  if (owner == thread_owner::user) return;
  display_first_team(made);
  body_->threads.make_ready();
}

LOCKSTEP_INLINE team_host::team_host(const team_options& options, const resolved_team& made,
                                     thread_owner owner, unstarted)
    : size_(made.members), policy_(made.policy), owner_(owner) {
  static_assert(sizeof(team_door) <= door_size && alignof(team_door) <= alignof(std::uint64_t),
                "it has room");
  ::new (static_cast<void*>(door_)) team_door(
      size_, policy_, owner == thread_owner::user ? "lockstep::external_team" : "lockstep::team",
      made.name.c_str());
  number_ = door().number();
  body_.reset(new team_body(made, door(), options, owner));
  core_ = &body_->core;
  listener_.reset(new fork_listener(this, in_child));
}

LOCKSTEP_INLINE team_host::~team_host() {
  listener_.reset();
  if (!door().shut(core().ends_inside())) body_.release();
}

LOCKSTEP_INLINE bool team_host::run(std::size_t members, const job& part, source_place where,
                                    const char* kind) {
  return team_core::run({door(), core_}, members, part, where, kind);
}

LOCKSTEP_INLINE bool team_host::run_some(std::size_t members, const job& part, source_place where) {
  checked_range(
      owner_ == thread_owner::user ? "lockstep::external_team::run" : "lockstep::team::run",
      "members", members, 1, size_);
  return run(members, part, where);
}

LOCKSTEP_INLINE bool team_host::run_loop(const loop_request& of, const job& what,
                                         const loop_ends& ends) {
  return team_core::run_loop({door(), core_}, of, what, ends);
}

LOCKSTEP_INLINE shares_outcome team_host::run_shares(const shares_request& of, const job& what) {
  return team_core::run_shares({door(), core_}, of, what);
}

LOCKSTEP_INLINE started_region team_host::start(const job& part, source_place where,
                                                const char* kind) {
  check_outside("start");
  region_turn turn(door().callers(), door().age(), &body_->core);
  body_->threads.make_ready();
  core().start(part, where, kind);
  turn.keep();
  return started_region(door(), core(), exceptions_in_flight());
}

LOCKSTEP_INLINE started_region team_host::started(int in_flight) noexcept {
  if (core().started() == 0 || !core().can_join()) return started_region();
  return started_region(door(), core(), in_flight);
}

LOCKSTEP_INLINE void team_host::request_stop() { core().request_stop(); }

LOCKSTEP_INLINE void team_host::keep_ledger(bool yes) {
  check_outside("keep_ledger");
  const caller_turn mine(door().callers());
  core().keep_ledger(yes);
}

LOCKSTEP_INLINE void team_host::reset_ledger() {
  check_outside("reset_ledger");
  const caller_turn mine(door().callers());
  core().reset_ledger();
}

LOCKSTEP_INLINE void team_host::pause() {
  check_outside("pause");
  const caller_turn mine(door().callers());
  body_->threads.stop();
}

LOCKSTEP_INLINE void team_host::resume() {
  check_outside("resume");
  const caller_turn mine(door().callers());
  body_->threads.make_ready();
}

// A thread may come while exit() in a region destroys a static team: the core stays then, and body_ lets go of it.
LOCKSTEP_INLINE void team_host::serve(std::size_t rank) { core_->threads().serve(rank); }

LOCKSTEP_INLINE void team_host::release() {
  door().close_to_lone_loops();
  body_->threads.release();
}

LOCKSTEP_INLINE void team_host::check_outside(const char* function) {
  if (door().may_wait()) return;
  fail_use(
      "%s::%s: called inside a region of this team, or of one that was made later, and "
      "would wait for it; call it after run() has returned",
      door().callers().whose().kind, function);
}

LOCKSTEP_INLINE void team_host::in_child(void* self) noexcept {
  team_host& of = *static_cast<team_host*>(self);
  of.body_->threads.forget();
  if (of.body_->threads.are_gone()) of.door().close_to_lone_loops();
  of.core().forget_others();
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
