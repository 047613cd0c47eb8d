// SPDX-License-Identifier: MIT
// lockstep/external_team.hpp -- a team over threads that the user owns (layer: team)
//
// Regions are those of team: TEAM-1 to TEAM-3, TEAM-5 (in a child process the serving threads are gone: only regions
// of one member are left). run() waits until the threads serve that it announces to: the members that it
// needs, and those that watch the same lines (region_tree.hpp): in a team of up to 8, all. Loops do not wait for a
// thread that does not serve yet (team_loops.hpp).
//
// Memory order (# marks the line; each weakening must fail a test)
//   #  access            order    pairs  why it suffices
//   1  claimed.exchange  relaxed  -      one thread a rank; the fork orders the rest
//   2  claimed.load      relaxed  -      in the destructor, after which nobody may come
//
// Cost   that of team; serve() itself nothing.
// Order  as team.
// Errors a bad number of members, a rank that is 0 or taken: std::invalid_argument; run() after release(), and in a child
//        process: std::logic_error. run() throws what a member threw.
// Example
//   lockstep::external_team two(2);
//   std::thread yours([&] { two.serve(1); });  // with the attributes that you give it
//   two.run([](lockstep::member& me) { me.sync_threads(); });  // on this thread: it is member 0
//   two.release();  // serve() returns
//   yours.join();
#ifndef LOCKSTEP_EXTERNAL_TEAM_HPP
#define LOCKSTEP_EXTERNAL_TEAM_HPP

#include <cstddef>

#include "detail/platform/fork.hpp"
#include "detail/team/team_core.hpp"
#include "detail/team/team_loops.hpp"
#include "semaphore.hpp"
#include "sub_team.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {

namespace detail {
struct plan_access;
}  // namespace detail

/// A team whose members are threads of the user's: they call serve(), and leave it after release().
class external_team : public detail::team_loops<external_team> {
 public:
  /// For `members` threads: the caller of run() and those that serve. Fails if it is 0 or above 65536.
  LOCKSTEP_ENTRY explicit external_team(std::size_t members);
  LOCKSTEP_ENTRY external_team(std::size_t members, wait_policy policy);
  /// Releases, and waits until every serving thread has left. Requires: no region runs, and no thread comes to
  /// serve any more.
  /// TEAM-7 and TEAM-8 go for it as well: while a region of another thread runs, the serving threads are left as they are.
  LOCKSTEP_ENTRY ~external_team();
  external_team(const external_team&) = delete;
  external_team& operator=(const external_team&) = delete;

  std::size_t size() const noexcept { return door_.size(); }
  wait_policy policy() const noexcept { return door_.policy(); }

  /// The calling thread is member `rank` of every region until release(). Fails if rank is 0 (that is who calls run()),
  /// is not below size(), or is taken. After release() it returns at once, whoever had the rank.
  LOCKSTEP_OUT_OF_LINE void serve(std::size_t rank);

  /// Every serve() returns, now and in future. Any thread may call it while no region runs.
  LOCKSTEP_ENTRY void release();

  /// As team's.
  template <class Function>
  bool run(Function&& f, call_site where = call_site::here()) {
    return run_on(size(), f, where);
  }
  template <class Function>
  bool run(std::size_t k, Function&& f, call_site where = call_site::here()) {
    detail::checked_range("lockstep::external_team::run", "members", k, 1, size());
    return run_on(k, f, where);
  }
  void request_stop() { body_->core.request_stop(); }

  /// Who waited where, how long, and for whom, since keep_ledger(true) or reset_ledger(): see ledger.hpp, which defines
  /// the result. Empty if no ledger was ever kept, and in teams of more than 1024 members. Any thread may call it at any
  /// time; while a region runs, the numbers of one construct may be of different moments.
  template <class Ledger = lockstep::ledger>
  Ledger ledger() const {
    return body_->core.template ledger_so_far<Ledger>();
  }
  /// Switches the ledger on or off, as team_options::ledger() and LOCKSTEP_LEDGER do. What was counted stays. Waits for
  /// its turn.
  LOCKSTEP_ENTRY void keep_ledger(bool yes);
  /// All numbers begin at 0 again. Waits for its turn.
  LOCKSTEP_ENTRY void reset_ledger();

 private:
  friend class detail::team_loops<external_team>;
  friend struct detail::plan_access;

  /// The threads that serve, in the place of a team's workers.
  struct serving_threads {
    const detail::team_core& core;

    void make_ready() const {
      if (core.is_closed()) refuse();
    }
    [[noreturn]] LOCKSTEP_COLD static void refuse();
  };
  struct body {
    body(const detail::resolved_team& made, detail::team_door& door)
        : core(made, door), servers{core}, claimed(made.members) {}

    detail::team_core core;
    serving_threads servers;
    detail::aligned_array<detail::wait_word> claimed;
    semaphore left{0};
  };

  LOCKSTEP_COLD explicit external_team(const team_options& options);
  LOCKSTEP_COLD explicit external_team(const detail::resolved_team& made);

  /// The owner of the threads binds and moves them; the team does not.
  static LOCKSTEP_COLD team_options options_for(std::size_t members);

  template <class Function>
  bool run_on(std::size_t k, Function& f, call_site where) {
    detail::check_region_function<Function>();
    return run_as("run", k, f, where);
  }
  /// `kind`: what observers call the region.
  template <class Function>
  bool run_as(const char* kind, std::size_t k, Function& f, call_site where) {
    if (k > 1) check_parent();
    detail::region_function<Function> part(f);
    return detail::team_core::run(door_, &body_->core, body_->servers, k, part.function(), where,
                                  kind);
  }
  detail::lone_team alone() const noexcept { return body_->core.alone(door_); }
  /// As team_core's.
  LOCKSTEP_OUT_OF_LINE bool run_loop(const detail::loop_request& of, detail::job& what,
                                     const detail::loop_ends& ends);

  LOCKSTEP_COLD void check_outside(const char* function) const;
  void check_parent() const {
    if (is_child_ && !detail::nesting::is_inside(&body_->core)) refuse_child();
  }
  [[noreturn]] LOCKSTEP_COLD static void refuse_child();

  /// Of `self`, an external_team.
  static LOCKSTEP_COLD void in_child(void* self) noexcept;

  detail::team_door door_;
  detail::owned_body<body> body_;
  bool is_child_ = false;
  detail::fork_listener fork_listener_{this, in_child};  // the last: see fork.hpp
};

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#if LOCKSTEP_HAS_BODIES
#include "detail/team/external_team.ipp"
#endif

#endif  // LOCKSTEP_EXTERNAL_TEAM_HPP
