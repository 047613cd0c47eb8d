// SPDX-License-Identifier: MIT
// src/team/team_threads.cpp -- the bodies of team_threads.hpp (layer: team)
#include "team_threads.hpp"

#include <cstdio>
#include <system_error>

#include <lockstep/detail/platform/error.hpp>
#include "../platform/plain_thread.hpp"
#include "../platform/this_thread.hpp"
#include "placement.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

struct team_threads::worker {
  team_threads& all;
  std::size_t rank;
  worker* before;
  plain_thread thread;
};

LOCKSTEP_INLINE team_threads::team_threads(team_core& core, const resolved_team& made,
                                           const team_options& options, thread_owner owner)
    : core_(core),
      are_users_(owner == thread_owner::user),
      cpu_of_rank_(made.cpu_of_rank),
      on_start_(options.on_start()),
      on_exit_(options.on_exit()),
      claimed_(are_users_ ? core.size() : 0) {
  std::snprintf(name_, sizeof name_, "%.15s", made.name.c_str());
}

LOCKSTEP_INLINE team_threads::~team_threads() {
  stop();
  if (are_users_) release();
  for (std::size_t rank = 1; are_users_ && !is_child_ && rank < core_.size(); ++rank) {
    if (claimed_[rank].load(memory_order_relaxed) != 0) left_.acquire();  // 2
  }
}

LOCKSTEP_INLINE void team_threads::start() {
  /// Ends those that were started if that were not all.
  struct all_or_none {
    team_threads& threads;
    bool are_all;
    ~all_or_none() {
      if (!are_all) threads.stop();
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

LOCKSTEP_INLINE void team_threads::stop() {
  if (last_ != nullptr) core_.close();
  while (last_ != nullptr) {
    worker* const before = last_->before;
    last_->thread.join();
    delete last_;
    last_ = before;
  }
}

LOCKSTEP_INLINE void team_threads::serve(std::size_t rank) {
  checked_rank("lockstep::external_team::serve", "members", rank, core_.size());
  if (rank == 0 || claimed_[rank].exchange(1, memory_order_relaxed) != 0) {  // 1
    if (rank != 0 && core_.is_closed()) return;
    fail_argument(
        "lockstep::external_team::serve: rank 0 is the caller of run(), and each other rank is "
        "for one thread; give every thread a rank of its own, from 1 on");
  }
  core_.work(rank);
  left_.release();
}

[[noreturn]] LOCKSTEP_INLINE void team_threads::refuse() const {
  fail_use(is_child_ ? "lockstep::external_team::run: this is a child process, which has none of "
                       "the serving threads; make a new team"
                     : "lockstep::external_team::run: release() was called, nobody serves any "
                       "more; make a new team");
}

LOCKSTEP_INLINE void team_threads::name_thread(std::size_t rank) const {
  char number[24];
  const int length = std::snprintf(number, sizeof number, " %zu", rank);
  char name[48];
  std::snprintf(name, sizeof name, "%.*s%s", 15 - length, name_, number);
  name_this_thread(name);
}

LOCKSTEP_INLINE void* team_threads::run(void* self) {
  team_threads& all = static_cast<const worker*>(self)->all;
  const std::size_t rank = static_cast<const worker*>(self)->rank;
  all.name_thread(rank);
  if (!all.cpu_of_rank_.empty()) pin_this_thread(all.cpu_of_rank_[rank]);
  all.call_hook(all.on_start_, rank);
  all.core_.work(rank);
  all.call_hook(all.on_exit_, rank);
  return nullptr;
}

LOCKSTEP_INLINE void team_threads::call_hook(const team_options::hook& hook,
                                             std::size_t rank) const {
  if (!hook) return;
  const nesting::region where = core_.hook_region();
  const nesting::inside here(where);
  hook(rank);
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
