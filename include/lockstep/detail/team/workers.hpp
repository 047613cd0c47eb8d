// SPDX-License-Identifier: MIT
// lockstep/detail/team/workers.hpp -- the threads that a team starts and keeps (layer: team)
//
//   WORKERS-1  A thread that cannot be started ends start() with std::system_error, after those that were
//              started have ended.
//   WORKERS-2  In a child process the threads are not there: forget() lets go of their handles, unjoined.
#ifndef LOCKSTEP_DETAIL_TEAM_WORKERS_HPP
#define LOCKSTEP_DETAIL_TEAM_WORKERS_HPP

#include <cstddef>
#include <vector>

#include "../../team_options.hpp"
#include "../platform/system.hpp"
#include "team_core.hpp"

#if LOCKSTEP_HAS_BODIES
#include "placement.hpp"
#endif

#if LOCKSTEP_HAS_BODIES
#include <cstdio>
#include <system_error>
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

struct resolved_team;  ///< of placement.hpp

class worker_threads {
 public:
  static constexpr const char* kind_of_team() noexcept { return "lockstep::team"; }
  /// For started_region.
  static constexpr bool starts_regions() noexcept { return true; }
  static constexpr const char* name_of_run() noexcept { return "lockstep::team::run"; }

  /// For the members from 1 on of `core`, which outlives this object.
  LOCKSTEP_COLD worker_threads(team_core& core, const resolved_team& made,
                               const team_options& options);
  ~worker_threads() { stop(); }
  worker_threads(const worker_threads&) = delete;
  worker_threads& operator=(const worker_threads&) = delete;

  /// Starts the threads if they are not there. Throws as start() does.
  void make_ready() {
    if (last_ == nullptr && core_.size() > 1) start();
  }
  bool are_there() const noexcept { return last_ != nullptr; }

  LOCKSTEP_COLD void start();

  /// Ends the threads, if they are there. Requires: no region runs.
  void stop() {
    if (are_there()) end();
  }

  /// In a child process, which has none of the threads.
  void forget() noexcept { last_ = nullptr; }
  static constexpr bool are_gone() noexcept { return false; }

 private:
  struct worker;

  LOCKSTEP_COLD void end();

  /// Linux shows 15 characters: the rank is worth more than the end of the team's name.
  LOCKSTEP_COLD void name_thread(std::size_t rank) const;

  /// What the thread of a worker calls.
  LOCKSTEP_ONCE static void* run(void* self);

  /// The team may wait for this thread: a call of it must not wait for the team (CORE-4).
  LOCKSTEP_COLD void call_hook(const team_options::hook& hook, std::size_t rank) const;

  team_core& core_;
  char name_[16];
  const std::vector<unsigned> cpu_of_rank_;
  const team_options::hook on_start_;
  const team_options::hook on_exit_;
  worker* last_ = nullptr;  ///< that was started
};

#if LOCKSTEP_HAS_BODIES

struct worker_threads::worker {
  worker_threads& all;
  std::size_t rank;
  worker* before;
  plain_thread thread;
};

LOCKSTEP_COLD worker_threads::worker_threads(team_core& core, const resolved_team& made,
                                             const team_options& options)
    : core_(core),
      cpu_of_rank_(made.cpu_of_rank),
      on_start_(options.on_start()),
      on_exit_(options.on_exit()) {
  std::snprintf(name_, sizeof name_, "%.15s", made.name.c_str());
}

LOCKSTEP_COLD void worker_threads::start() {
  /// Ends those that were started if that were not all.
  struct all_or_none {
    worker_threads& threads;
    bool are_all;
    ~all_or_none() {
      if (!are_all) threads.end();
    }
  };
  core_.reopen();
  std::size_t rank = 1;
  int error = 0;
  {
    all_or_none started = {*this, false};
    for (; rank < core_.size(); ++rank) {
      owner<worker> next(new worker{*this, rank, last_, plain_thread()});
      error = next->thread.start(run, next.get());
      if (error != 0) break;
      last_ = next.release();
    }
    started.are_all = error == 0;
  }
  if (error == 0) return;
  char message[160];
  std::snprintf(message, sizeof message,
                "lockstep::team: the system refused thread %zu of %zu; ask for fewer members "
                "or raise the limit on threads",
                rank, core_.size() - 1);
#if LOCKSTEP_HAS_EXCEPTIONS
  throw std::system_error(error, std::generic_category(), message);
#else
  print_and_abort(message);
#endif
}

LOCKSTEP_COLD void worker_threads::end() {
  core_.close();
  while (last_ != nullptr) {
    worker* const before = last_->before;
    last_->thread.join();
    delete last_;
    last_ = before;
  }
}

LOCKSTEP_COLD void worker_threads::name_thread(std::size_t rank) const {
  char number[24];
  const int length = std::snprintf(number, sizeof number, " %zu", rank);
  char name[48];
  std::snprintf(name, sizeof name, "%.*s%s", 15 - length, name_, number);
  name_this_thread(name);
}

void* worker_threads::run(void* self) {
  worker_threads& all = static_cast<const worker*>(self)->all;
  const std::size_t rank = static_cast<const worker*>(self)->rank;
  all.name_thread(rank);
  if (!all.cpu_of_rank_.empty()) pin_this_thread(all.cpu_of_rank_[rank]);
  all.call_hook(all.on_start_, rank);
  all.core_.work(rank);
  all.call_hook(all.on_exit_, rank);
  return nullptr;
}

LOCKSTEP_COLD void worker_threads::call_hook(const team_options::hook& hook,
                                             std::size_t rank) const {
  if (!hook) return;
  const nesting::region where = core_.hook_region();
  const nesting::inside here(where);
  hook(rank);
}

#endif

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_WORKERS_HPP
