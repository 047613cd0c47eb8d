// SPDX-License-Identifier: MIT
// lockstep/detail/team/basic_team.hpp -- what team and external_team have in common (layer: team)
//
// A template over who has the threads: worker_threads, which the team starts, or serving_threads, which come by
// themselves. Threads has, beside a constructor:
//   make_ready()  before a region that needs them; fails where they are not there and cannot be started
//   forget()      in a child process, which has none of them
//   are_gone()    whether make_ready() fails from now on
//   a destructor  that lets them go, and waits until all have left
// What a user may expect is in team.hpp (TEAM-1 to TEAM-8).
#ifndef LOCKSTEP_DETAIL_TEAM_BASIC_TEAM_HPP
#define LOCKSTEP_DETAIL_TEAM_BASIC_TEAM_HPP

#include <cstddef>
#include <type_traits>

#include <lockstep/detail/platform/fork.hpp>
#include <lockstep/detail/region/team_door.hpp>
#include <lockstep/detail/team/team_core.hpp>
#include <lockstep/detail/team/team_loops.hpp>
#include <lockstep/region.hpp>
#include <lockstep/team_options.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {

class team;
class external_team;

namespace detail {

struct resolved_team;   ///< of placement.hpp
class worker_threads;   ///< of workers.hpp
class serving_threads;  ///< of serving_threads.hpp

struct plan_team;
/// The ledger of a team that is never destroyed is shown when the program ends, if LOCKSTEP_LEDGER says so.
void show_ledger_at_exit(lockstep::team& of);

template <class Threads>
class basic_team : public team_loops<basic_team<Threads>> {
 public:
  basic_team(const basic_team&) = delete;
  basic_team& operator=(const basic_team&) = delete;

  std::size_t size() const noexcept { return door_.size(); }
  wait_policy policy() const noexcept { return door_.policy(); }

  /// Calls f(member&), or f() if it takes no member, once on every member. Returns when all have returned: false if the
  /// region was stopped by request_stop(). See TEAM-1 to TEAM-3.
  template <class Function>
  bool run(Function&& f, call_site where = {}) {
    return run_as("run", size(), f, where);
  }
  /// On the first k members only. Up to 7 others that watch the same line as one of them are woken too
  /// (region_tree.hpp). Fails if k is 0 or above size().
  template <class Function>
  bool run(std::size_t k, Function&& f, call_site where = {}) {
    checked_range(Threads::name_of_run(), "members", k, 1, size());
    return run_as("run", k, f, where);
  }

  /// Ends the region that runs, if one does: see MEMBER-3 of member.hpp; and, outside of regions of this team, the loops that
  /// run beside it (LONE-3 of lone_loops.hpp). With a region ends what runs alone inside it (ALONE-2 of lone_region.hpp).
  /// Any thread may call it.
  void request_stop();

  /// Who waited where, how long, and for whom, since keep_ledger(true) or reset_ledger(): see ledger.hpp, which defines
  /// the result. Empty if no ledger was ever kept, and in teams of more than 1024 members. Any thread may call it at any
  /// time; while a region runs, the numbers of one construct may be of different moments.
  template <class Ledger = lockstep::ledger>
  Ledger ledger() const {
    return body_->core.template ledger_so_far<Ledger>();
  }
  /// Switches the ledger on or off, as team_options::ledger() and LOCKSTEP_LEDGER do. What was counted stays. Waits for
  /// its turn.
  void keep_ledger(bool yes);
  /// All numbers begin at 0 again. Waits for its turn.
  void reset_ledger();

 private:
  friend class lockstep::team;
  friend class lockstep::external_team;
  friend class team_loops<basic_team<Threads>>;
  friend struct plan_team;
  friend void show_ledger_at_exit(lockstep::team&);

  /// The threads end before the core.
  struct body {
    body(const resolved_team& made, team_door& door, const team_options& options)
        : core(made, door), threads(core, made, options) {}

    team_core core;
    Threads threads;
  };

  basic_team(const team_options& options, const resolved_team& made);
  /// Where the calling thread is in a region of it, or another thread runs one, the body is left.
  ~basic_team();

  /// `kind`: what observers call the region.
  template <class Function>
  bool run_as(const char* kind, std::size_t k, Function& f, source_place where) {
    check_region_function<Function>();
    region_function<Function> part(f);
    return team_core::run(door_, &body_->core, body_->threads, k, part.function(), where, kind);
  }
  template <class Function>
  started_region start_as(const char* kind, Function& f, source_place where) {
    check_outside("start");
    region_turn turn(door_.callers(), door_.age(), &body_->core);
    body_->threads.make_ready();
    region_function<Function> part(f);
    body_->core.start(part.function(), where, kind);
    turn.keep();
    return started_region(door_, body_->core);
  }
  lone_team alone() const noexcept { return body_->core.alone(door_); }
  /// As team_core's.
  bool run_loop(const loop_request& of, job& what, const loop_ends& ends);

  /// For what only an outside thread may call: TEAM-6.
  void check_outside(const char* function) const {
    if (!door_.may_wait()) refuse_inside(function);
  }
  [[noreturn]] static void refuse_inside(const char* function);

  /// Of `self`, a basic_team.
  static void in_child(void* self) noexcept;

  team_door door_;
  owned_body<body> body_;
  fork_listener fork_listener_{this, in_child};  // the last: see fork.hpp
};

/// A condition: Team is a team or an external_team.
template <class Team>
using if_team =
    typename std::enable_if<std::is_base_of<basic_team<worker_threads>, Team>::value ||
                            std::is_base_of<basic_team<serving_threads>, Team>::value>::type;

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_BASIC_TEAM_HPP
