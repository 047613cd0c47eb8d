// SPDX-License-Identifier: MIT
// lockstep/detail/team/workers.hpp -- the threads that a team starts and keeps (layer: team)
//
//   WORKERS-1  A thread that cannot be started ends start() with std::system_error, after those that were
//              started have ended.
//   WORKERS-2  In a child process the threads are not there: forget() lets go of their handles, unjoined.
#ifndef LOCKSTEP_DETAIL_TEAM_WORKERS_HPP
#define LOCKSTEP_DETAIL_TEAM_WORKERS_HPP

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "../platform/system.hpp"
#include "placement.hpp"
#include "team_core.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

class worker_threads {
 public:
  /// For the members from 1 on of `core`, which outlives this object.
  LOCKSTEP_COLD worker_threads(team_core& core, std::string name, std::vector<unsigned> cpu_of_rank,
                               team_options::hook on_start, team_options::hook on_exit);
  ~worker_threads() { stop(); }
  worker_threads(const worker_threads&) = delete;
  worker_threads& operator=(const worker_threads&) = delete;

  /// Starts the threads if they are not there. Throws as start() does.
  void make_ready() {
    if (!are_there() && core_.size() > 1) start();
  }
  bool are_there() const noexcept { return threads_ != nullptr; }

  LOCKSTEP_COLD void start();

  /// Ends the threads, if they are there. Requires: no region runs.
  LOCKSTEP_COLD void stop();

  /// In a child process, which has none of the threads.
  void forget() noexcept { threads_ = nullptr; }

 private:
  struct all_threads;

  LOCKSTEP_COLD void start_each();

  /// Linux shows 15 characters: the rank is worth more than the end of the team's name.
  LOCKSTEP_COLD void name_thread(std::size_t rank) const;

  LOCKSTEP_OUT_OF_LINE void run(std::size_t rank);

  /// The team may wait for this thread: a call of it must not wait for the team (CORE-4).
  LOCKSTEP_COLD void call_hook(const team_options::hook& hook, std::size_t rank) const;

  team_core& core_;
  const std::string name_;
  const std::vector<unsigned> cpu_of_rank_;
  const team_options::hook on_start_;
  const team_options::hook on_exit_;
  all_threads* threads_ = nullptr;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#if LOCKSTEP_HAS_BODIES
#include "workers.ipp"
#endif

#endif  // LOCKSTEP_DETAIL_TEAM_WORKERS_HPP
