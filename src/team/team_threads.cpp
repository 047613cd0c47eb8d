// SPDX-License-Identifier: MIT
// src/team/team_threads.cpp -- the threads of a team: those that it starts and keeps, or the user's that serve it (layer: team)
//
//   WORKERS-1  If a thread cannot be started, make_ready() ends those that were started, and then throws
//              std::system_error.
//   WORKERS-2  A child process has none of the threads: forget_others() drops their handles without a join.
//
// Memory order (# marks the line; each weakening must fail a test)
//   #  access            order    pairs  why it suffices
//   1  claimed.exchange  relaxed  -      one thread a rank; the announcement orders the rest
//   2  claimed.load      relaxed  -      at the end, after which nobody may come
#include "team_core.hpp"

#include <cstdio>
#include <system_error>

#include <lockstep/detail/platform/error.hpp>
#include "../platform/process.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

struct team_core::worker {
  team_core* all;
  std::size_t rank;
  plain_thread thread;
};

LOCKSTEP_INLINE team_core::~team_core() {
  stop_threads();
  if (owner_ == thread_owner::user) {
    close();
    for (std::size_t rank = 1; !is_child_ && rank < size_; ++rank) {
      if (claimed_[rank].load(memory_order_relaxed) != 0) left_.acquire();  // 2
    }
  }
  print_ledger();
}

LOCKSTEP_INLINE void team_core::start_threads() {
  board_.reset();
  workers_ = new worker[size_];  // by rank; that of the caller is not used
  int error = 0;
  std::size_t rank = 1;
  for (; error == 0 && rank < size_; ++rank) {
    worker& next = workers_[rank];
    next.all = this;
    next.rank = rank;
    error = next.thread.start(run_worker, &next);
    if (error == 0) started_threads_ = rank;
  }
  if (error == 0) return;
  stop_threads();
  char message[160];
  std::snprintf(message, sizeof message,
                "lockstep::team: the system refused thread %zu of %zu; ask for fewer members "
                "or raise the limit on threads",
                rank - 1, size_ - 1);
#if LOCKSTEP_HAS_EXCEPTIONS
  throw std::system_error(error, std::generic_category(), message);
#else
  print_and_abort(message);
#endif
}

LOCKSTEP_INLINE void team_core::make_ready() {
  if (!lacks_threads()) return;
  if (owner_ == thread_owner::user) refuse();
  if (size_ > 1) start_threads();
}

LOCKSTEP_INLINE void team_core::stop_threads() {
  if (workers_ != nullptr) close();
  for (; started_threads_ > 0; --started_threads_) workers_[started_threads_].thread.join();
  delete[] workers_;
  workers_ = nullptr;
}

LOCKSTEP_INLINE void team_core::serve(std::size_t rank) {
  checked_rank("lockstep::external_team::serve", "members", rank, size_);
  if (rank == 0 || claimed_[rank].exchange(1, memory_order_relaxed) != 0) {  // 1
    if (rank != 0 && board_.is_closed()) return;
    fail_argument(
        "lockstep::external_team::serve: rank 0 is the caller of run(), and each other rank is "
        "for one thread; give every thread a rank of its own, from 1 on");
  }
  work(rank);
  left_.release();
}

[[noreturn]] LOCKSTEP_INLINE void team_core::refuse() const {
  fail_use(is_child_ ? "lockstep::external_team::run: this is a child process, which has none of "
                       "the serving threads; make a new team"
                     : "lockstep::external_team::run: release() was called, nobody serves any "
                       "more; make a new team");
}

/// Linux shows 15 characters: the end of the team's name is cut rather than the rank.
LOCKSTEP_INLINE void team_core::name_thread(std::size_t rank) const {
  char number[24];
  const int length = std::snprintf(number, sizeof number, " %zu", rank);
  char text[48];
  std::snprintf(text, sizeof text, "%.*s%s", 15 - length, name(), number);
  name_this_thread(text);
}

LOCKSTEP_INLINE void* team_core::run_worker(void* self) {
  team_core& all = *static_cast<const worker*>(self)->all;
  const std::size_t rank = static_cast<const worker*>(self)->rank;
  all.name_thread(rank);
  if (!all.cpu_of_rank_.empty()) pin_this_thread(all.cpu_of_rank_[rank]);
  all.call_hook(all.on_start_, rank);
  all.work(rank);
  all.call_hook(all.on_exit_, rank);
  return nullptr;
}

/// CORE-4: no team is younger than what marks the thread, so it waits for none.
LOCKSTEP_INLINE void team_core::call_hook(const team_options::hook& hook, std::size_t rank) const {
  if (!hook) return;
  const nesting::region where = {this, region_.age + nesting::most_age_apart, nullptr, nullptr,
                                 nullptr};
  const nesting::inside here(where);
  hook(rank);
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
