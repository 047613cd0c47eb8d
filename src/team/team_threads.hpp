// SPDX-License-Identifier: MIT
// src/team/team_threads.hpp -- the threads of a team: those that it starts and keeps, or the user's that serve it (layer: team)
//
//   WORKERS-1  A thread that cannot be started ends make_ready() with std::system_error, after those that were
//              started have ended.
//   WORKERS-2  In a child process the threads are not there: forget() lets go of their handles, unjoined.
//
// Memory order (# marks the line; each weakening must fail a test)
//   #  access            order    pairs  why it suffices
//   1  claimed.exchange  relaxed  -      one thread a rank; the announcement orders the rest
//   2  claimed.load      relaxed  -      at the end, after which nobody may come
#ifndef LOCKSTEP_SRC_TEAM_TEAM_THREADS_HPP
#define LOCKSTEP_SRC_TEAM_TEAM_THREADS_HPP

#include <cstddef>
#include <vector>

#include <lockstep/detail/platform/cache_line.hpp>
#include <lockstep/detail/platform/system.hpp>
#include <lockstep/detail/team/team_host.hpp>
#include <lockstep/semaphore.hpp>
#include <lockstep/team_options.hpp>
#include "team_core.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

class team_threads {
 public:
  /// For the members from 1 on of `core`, which outlives this object.
  team_threads(team_core& core, const resolved_team& made, const team_options& options,
               thread_owner owner);
  /// Ends those of the team; releases the user's, and waits until every one has left.
  ~team_threads();
  team_threads(const team_threads&) = delete;
  team_threads& operator=(const team_threads&) = delete;

  /// Before a region that needs them: starts those of the team. Throws where they cannot be started, or where the user's
  /// are gone.
  void make_ready() {
    if (are_users_) {
      if (are_gone()) refuse();
    } else if (LOCKSTEP_UNLIKELY(last_ == nullptr) && core_.size() > 1) {
      start();
    }
  }
  /// Ends those of the team, if they are there. Requires: no region runs.
  void stop();
  /// For the user's.
  void serve(std::size_t rank);
  void release() { core_.close(); }

  /// In a child process, which has none of the threads.
  void forget() noexcept {
    last_ = nullptr;
    is_child_ = true;
  }
  /// Whether make_ready() fails from now on.
  bool are_gone() const noexcept { return are_users_ && (is_child_ || core_.is_closed()); }

 private:
  struct worker;

  void start();
  [[noreturn]] void refuse() const;

  /// Linux shows 15 characters: the rank is worth more than the end of the team's name.
  void name_thread(std::size_t rank) const;
  /// What the thread of a worker calls.
  static void* run(void* self);
  /// The team may wait for this thread: a call of it must not wait for the team (CORE-4).
  void call_hook(const team_options::hook& hook, std::size_t rank) const;

  team_core& core_;
  const bool are_users_;
  bool is_child_ = false;
  // Of those of the team.
  char name_[16];
  const std::vector<unsigned> cpu_of_rank_;
  const team_options::hook on_start_;
  const team_options::hook on_exit_;
  worker* last_ = nullptr;  ///< that was started
  // Of the user's.
  aligned_array<wait_word> claimed_;
  semaphore left_{0};
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_TEAM_TEAM_THREADS_HPP
