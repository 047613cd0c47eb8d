// SPDX-License-Identifier: MIT
// lockstep/ledger.hpp -- who waited where, how long, and for whom: the ledger of a team (layer: trace)
//
// Plain data: a copy of what the members of a team have counted since the ledger was switched on, or reset. Times are
// nanoseconds. Quantiles differ by 6 % at most from the times that they stand for.
//
// `count` is exact, and so are waits that outlast their first polls, about 0.4 us. All else is exact for the first 64
// meetings of the members, and as long as 20 us or more lie between two meetings on average. Else one meeting in 128 is
// measured and counts 128 times: then the sums are estimates. The same holds for regions, apart from meetings. `seen`
// is the number of passes for which the figures stand.
//
// Order  none. While a region runs, the numbers of one construct may be of different moments.
// Errors std::bad_alloc.
// Cost   kept: two looks at the tick clock, 20 to 30 ns, in each construct in which a member meets others; with
//        members that work for 1 us in between 0.1 to 3.6 % (decision 0020). Not kept: nothing.
// Example
//   lockstep::team two(lockstep::team_options().members(2).ledger(true));  // or LOCKSTEP_LEDGER=1 in the environment
//   two.run([](lockstep::member& me) { me.sync_threads(); });
//   std::fputs(two.ledger().table().c_str(), stderr);
#ifndef LOCKSTEP_LEDGER_HPP
#define LOCKSTEP_LEDGER_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <lockstep/detail/platform/config.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {

/// What the members of a team waited for: a copy of their counts.
struct ledger {
  /// Waits of one member, or of all.
  struct waits {
    std::uint64_t count = 0;  ///< how often it came
    double total = 0, median = 0, p99 = 0, worst = 0;
  };

  /// What members come to together: a function of member, a region, a loop or a plan that is a region; and a node of a
  /// plan, which counts only where a member had to wait for it.
  struct construct {
    std::string kind;  ///< the name of the function; "others": all that found no room
    std::string file;  ///< where it was called, of plans where they were made; empty: not known
    unsigned line = 0;
    /// The innermost trace_scope or LOCKSTEP_TRACE_SCOPE that it is in: of the member's part, or else of the region's caller.
    /// Of a node: its name.
    std::string label;

    std::uint64_t count = 0;  ///< how often members came to it together
    waits all;                ///< of all members
    std::vector<waits> members;
    /// Sum over all passes. Of regions and loops: from beginning to end. Of what members meet at in a region: from its
    /// beginning, or from the meeting before, until they were let go.
    double time = 0;

    std::uint64_t seen = 0;           ///< how many passes the figures below stand for
    std::vector<std::uint64_t> last;  ///< how often the member of that rank came last
    /// [k]: how long exactly k members were busy before it: let go, and not here yet. In a plan that includes waits for
    /// nodes.
    std::vector<double> busy;
    double gain = 0;  ///< sum of last arrival less mean arrival: what perfect balance would save
    double skew = 0;  ///< of a region: from the first member's start to the last one's, summed
    double worst_skew = 0;
  };

  /// What was decided, or found out, for all members together.
  struct decisions {
    std::vector<std::uint64_t>
        loops_on;  ///< [k]: loops that were run on k members; [1]: by the caller alone
    std::uint64_t shares_taken = 0;  ///< parts of other members' shares that a thread has run
    std::uint64_t anticipated =
        0;                      ///< regions that came while a worker polled because they were due
    std::uint64_t missed = 0;   ///< and while a worker slept
    std::uint64_t crowded = 0;  ///< regions and loops on more members than CPUs for them
    std::uint64_t inline_runs = 0,
                  inline_loops = 0;  ///< called by members inside of a region: each ran alone
    std::uint64_t separated = 0;     ///< moves of a worker to another CPU
    std::uint64_t spun = 0, yielded = 0, slept = 0;  ///< waits by the stage in which they were over
  };

  std::string team;  ///< its name
  std::size_t members = 0;
  double time = 0;                    ///< for how long it was kept
  std::vector<construct> constructs;  ///< those with the longest waits first
  decisions decided;

  /// How long exactly k members were busy, k = 0 to `members`, in all constructs together.
  std::vector<double> busy() const;
  /// For terminals. Several lines, each with a newline.
  std::string table() const;
  /// One object, on one line without a newline.
  std::string json() const;
};

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_LEDGER_HPP
