// SPDX-License-Identifier: MIT
// lockstep/external_team.hpp -- a team over threads that the user owns (layer: team)
//
//   lockstep::external_team team(3);
//   // on two threads of yours, with the attributes you gave them:  team.serve(1);  and  team.serve(2);
//   team.run([](lockstep::member& me) { ... });    // on a third: it is member 0
//   team.release();                                // serve() returns
//
// Regions are those of team: TEAM-1 to TEAM-3, TEAM-5 (in a child process the serving threads are gone: only regions
// of one member are left). run() waits until those serve who hear of it: the members that it needs, and
// those who watch the same lines (region_tree.hpp): in a team of up to 8, all. Loops wait for nobody who does not
// serve yet (team_loops.hpp).
//
// Cost   that of team; serve() itself nothing.
#ifndef LOCKSTEP_EXTERNAL_TEAM_HPP
#define LOCKSTEP_EXTERNAL_TEAM_HPP

#include <cstddef>

#include "detail/team/basic_team.hpp"
#include "sub_team.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {

class external_team : public detail::basic_team<detail::serving_threads> {
 public:
  /// For `members` threads: the caller of run() and those that serve. Fails if it is 0 or above 65536.
  LOCKSTEP_ENTRY explicit external_team(std::size_t members);
  LOCKSTEP_ENTRY external_team(std::size_t members, wait_policy policy);
  /// Releases, and waits until every serving thread has left. Requires: no region runs, nobody comes to
  /// serve any more.
  /// TEAM-7 and TEAM-8 go for it as well: while a region of another thread runs, the serving threads are left as they are.
  ~external_team() = default;

  // size, policy, run, the parallel_ functions, request_stop, ledger: detail/team/basic_team.hpp and team_loops.hpp.

  /// The calling thread is member `rank` of every region until release(). Fails if rank is 0 (that is who calls run()),
  /// is not below size(), or is taken. After release() it returns at once, whoever had the rank.
  LOCKSTEP_OUT_OF_LINE void serve(std::size_t rank);

  /// Every serve() returns, now and in future. Any thread may call it while no region runs.
  LOCKSTEP_ENTRY void release();

 private:
  LOCKSTEP_COLD explicit external_team(const team_options& options);

  /// Who owns the threads binds and moves them.
  static LOCKSTEP_COLD team_options options_for(std::size_t members);
};

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#if LOCKSTEP_HAS_BODIES
#include "detail/team/external_team.ipp"
#endif

#endif  // LOCKSTEP_EXTERNAL_TEAM_HPP
