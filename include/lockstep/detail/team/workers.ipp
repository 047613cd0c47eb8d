// SPDX-License-Identifier: MIT
// lockstep/detail/team/workers.ipp -- the bodies of workers.hpp (layer: team)
#ifndef LOCKSTEP_DETAIL_TEAM_WORKERS_IPP
#define LOCKSTEP_DETAIL_TEAM_WORKERS_IPP

#include <cstdio>
#include <new>
#include <string>
#include <system_error>
#include <vector>

#include "../platform/system_thread.hpp"
#include "../platform/this_thread.hpp"

#include "workers.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

struct worker_threads::all_threads {
  std::vector<system_thread> each;
};

LOCKSTEP_COLD worker_threads::worker_threads(team_core& core, std::string name,
                                             std::vector<unsigned> cpu_of_rank,
                                             team_options::hook on_start,
                                             team_options::hook on_exit)
    : core_(core),
      name_(std::move(name)),
      cpu_of_rank_(std::move(cpu_of_rank)),
      on_start_(std::move(on_start)),
      on_exit_(std::move(on_exit)) {}

LOCKSTEP_COLD void worker_threads::start() {
  core_.reopen();
  threads_ = new all_threads;
#if LOCKSTEP_HAS_EXCEPTIONS
  try {
    threads_->each.reserve(core_.size() - 1);
    start_each();
  } catch (const std::system_error& error) {
    const std::size_t started = threads_->each.size();
    stop();
    char message[160];
    std::snprintf(message, sizeof message,
                  "lockstep::team: the system refused thread %zu of %zu; ask for fewer members "
                  "or raise the limit on threads",
                  started + 1, core_.size() - 1);
    throw std::system_error(error.code(), message);
  } catch (...) {  // no memory for a thread
    stop();
    throw;
  }
#else
  threads_->each.reserve(core_.size() - 1);
  start_each();
#endif
}

LOCKSTEP_COLD void worker_threads::stop() {
  if (!are_there()) return;
  core_.close();
  for (system_thread& each : threads_->each) each.join();
  delete threads_;
  threads_ = nullptr;
}

LOCKSTEP_COLD void worker_threads::start_each() {
  for (std::size_t rank = 1; rank < core_.size(); ++rank) {
    threads_->each.emplace_back([this, rank] { run(rank); });
  }
}

LOCKSTEP_COLD void worker_threads::name_thread(std::size_t rank) const {
  char number[24];
  const int length = std::snprintf(number, sizeof number, " %zu", rank);
  char name[48];
  std::snprintf(name, sizeof name, "%.*s%s", 15 - length, name_.c_str(), number);
  name_this_thread(name);
}

LOCKSTEP_OUT_OF_LINE void worker_threads::run(std::size_t rank) {
  name_thread(rank);
  if (!cpu_of_rank_.empty()) pin_this_thread(cpu_of_rank_[rank]);
  call_hook(on_start_, rank);
  core_.work(rank);
  call_hook(on_exit_, rank);
}

LOCKSTEP_COLD void worker_threads::call_hook(const team_options::hook& hook,
                                             std::size_t rank) const {
  if (!hook) return;
  const nesting::region where = core_.hook_region();
  const nesting::inside here(where);
  hook(rank);
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_WORKERS_IPP
