// SPDX-License-Identifier: MIT
// lockstep/external_team.hpp -- a team over threads that the user owns (layer: team)
//
// Regions are those of team: TEAM-1 to TEAM-3, TEAM-5 (in a child process the serving threads are gone: only regions
// of one member are left). In a team of up to 8, run() waits until all threads serve; in a larger one, until those
// serve that it needs and those that watch the same lines (rank_tree.hpp). Loops do not wait for a thread that does not
// serve yet (TEAMLOOP-1).
//
// Cost   that of team; serve() itself nothing.
// Order  as team.
// Errors a bad number of members, a rank that is 0 or taken: std::invalid_argument; a region or loop of several members
//        after release(), and in a child process: std::logic_error. run() throws what a member threw.
// Example
//   lockstep::external_team two(2);
//   std::thread yours([&] { two.serve(1); });  // with the attributes that you give it
//   two.run([](lockstep::member& me) { me.sync_threads(); });  // on this thread: it is member 0
//   two.release();  // serve() returns
//   yours.join();
#ifndef LOCKSTEP_EXTERNAL_TEAM_HPP
#define LOCKSTEP_EXTERNAL_TEAM_HPP

#include <cstddef>

#include <lockstep/team.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {

/// A team whose members are threads of the user's: they call serve(), and leave it after release().
class external_team : private team {
 public:
  /// For `members` threads: the caller of run() and those that serve. Fails if it is 0 or above 65536.
  explicit external_team(std::size_t members);
  external_team(std::size_t members, wait_policy policy);
  /// Releases, and waits until every serving thread has left. Requires: no region runs, and no thread comes to serve
  /// any more. As TEAM-7 and TEAM-8 say, it leaves the serving threads alone if a region of another thread runs at the
  /// program's end.
  ~external_team();

  /// The calling thread is member `rank` of every region until release(). Fails if rank is 0 (the caller of run()),
  /// is not below size(), or is taken. After release() it returns at once.
  void serve(std::size_t rank);
  /// Every serve() returns, also one that is called later. Any thread may call it while no region runs.
  void release();

  // All of these are as in team.

  using team::policy;
  using team::size;

  using team::request_stop;
  using team::run;

  using team::for_each;
  using team::for_ordered;
  using team::for_range;
  using team::reduce_each;
  using team::reduce_range;
  using team::scan_each;
  using team::sections;

  using team::parallel_for;
  using team::parallel_for_2d;
  using team::parallel_for_3d;
  using team::parallel_invoke;
  using team::parallel_reduce;
  using team::parallel_scan;

  using team::keep_ledger;
  using team::ledger;
  using team::reset_ledger;

 private:
  friend struct detail::team_access;

  explicit external_team(const team_options& options);
  /// The owner of the threads binds and moves them; the team does not.
  static team_options options_for(std::size_t members);
};

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_EXTERNAL_TEAM_HPP
