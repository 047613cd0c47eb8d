// SPDX-License-Identifier: MIT
// src/team/workers.hpp -- the threads that a team starts and keeps (layer: team)
//
//   WORKERS-1  A thread that cannot be started ends start() with std::system_error, after those that were
//              started have ended.
//   WORKERS-2  In a child process the threads are not there: forget() lets go of their handles, unjoined.
#ifndef LOCKSTEP_SRC_TEAM_WORKERS_HPP
#define LOCKSTEP_SRC_TEAM_WORKERS_HPP

#include <cstddef>
#include <vector>

#include <lockstep/detail/platform/system.hpp>
#include <lockstep/team_options.hpp>
#include "team_core.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

class worker_threads final : public team_threads {
 public:
  /// For the members from 1 on of `core`, which outlives this object.
  worker_threads(team_core& core, const resolved_team& made, const team_options& options);
  ~worker_threads() override { stop(); }

  /// Starts the threads if they are not there. Throws as start() does.
  void make_ready() override {
    if (last_ == nullptr && core_.size() > 1) start();
  }
  bool are_there() const noexcept { return last_ != nullptr; }

  void start();

  /// Ends the threads, if they are there. Requires: no region runs.
  void stop() {
    if (are_there()) end();
  }

  /// In a child process, which has none of the threads.
  void forget() noexcept override { last_ = nullptr; }
  bool are_gone() const noexcept override { return false; }

 private:
  struct worker;

  void end();

  /// Linux shows 15 characters: the rank is worth more than the end of the team's name.
  void name_thread(std::size_t rank) const;

  /// What the thread of a worker calls.
  static void* run(void* self);

  /// The team may wait for this thread: a call of it must not wait for the team (CORE-4).
  void call_hook(const team_options::hook& hook, std::size_t rank) const;

  team_core& core_;
  char name_[16];
  const std::vector<unsigned> cpu_of_rank_;
  const team_options::hook on_start_;
  const team_options::hook on_exit_;
  worker* last_ = nullptr;  ///< that was started
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_TEAM_WORKERS_HPP
