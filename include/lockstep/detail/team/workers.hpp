// SPDX-License-Identifier: MIT
// lockstep/detail/team/workers.hpp -- the threads that a team starts and keeps (layer: team)
//
//   WORKERS-1  A thread that cannot be started ends start() with std::system_error, after those that were
//              started have ended.
//   WORKERS-2  In a child process the threads are not there: forget() lets go of their handles, unjoined.
#ifndef LOCKSTEP_DETAIL_TEAM_WORKERS_HPP
#define LOCKSTEP_DETAIL_TEAM_WORKERS_HPP

#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "../platform/system.hpp"
#include "../platform/this_thread.hpp"
#include "placement.hpp"
#include "team_core.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

class worker_threads {
 public:
  /// For the members from 1 on of `core`, which outlives this object.
  worker_threads(team_core& core, std::string name, std::vector<unsigned> cpu_of_rank,
                 team_options::hook on_start, team_options::hook on_exit)
      : core_(core),
        name_(std::move(name)),
        cpu_of_rank_(std::move(cpu_of_rank)),
        on_start_(std::move(on_start)),
        on_exit_(std::move(on_exit)) {}
  ~worker_threads() { stop(); }
  worker_threads(const worker_threads&) = delete;
  worker_threads& operator=(const worker_threads&) = delete;

  /// Starts the threads if they are not there. Throws as start() does.
  void make_ready() {
    if (!are_there() && core_.size() > 1) start();
  }
  bool are_there() const noexcept { return threads_ != nullptr; }

  void start() {
    core_.reopen();
    threads_.reset(new std::vector<system_thread>);
    threads_->reserve(core_.size() - 1);
#if LOCKSTEP_HAS_EXCEPTIONS
    try {
      start_each();
    } catch (const std::system_error& error) {
      const std::size_t started = threads_->size();
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
    start_each();
#endif
  }

  /// Ends the threads, if they are there. Requires: no region runs.
  void stop() {
    if (!are_there()) return;
    core_.close();
    for (system_thread& each : *threads_) each.join();
    threads_.reset();
  }

  void forget() noexcept { threads_.release(); }

 private:
  void start_each() {
    for (std::size_t rank = 1; rank < core_.size(); ++rank) {
      threads_->emplace_back([this, rank] { run(rank); });
    }
  }

  /// Linux shows 15 characters: the rank is worth more than the end of the team's name.
  void name_thread(std::size_t rank) const {
    const std::string number = ' ' + std::to_string(rank);
    name_this_thread((name_.substr(0, 15 - number.size()) + number).c_str());
  }

  void run(std::size_t rank) {
    name_thread(rank);
    if (!cpu_of_rank_.empty()) pin_this_thread(cpu_of_rank_[rank]);
    call_hook(on_start_, rank);
    core_.work(rank);
    call_hook(on_exit_, rank);
  }

  /// The team may wait for this thread: a call of it must not wait for the team (CORE-4).
  void call_hook(const team_options::hook& hook, std::size_t rank) const {
    if (!hook) return;
    const nesting::region where = core_.hook_region();
    const nesting::inside here(where);
    hook(rank);
  }

  team_core& core_;
  const std::string name_;
  const std::vector<unsigned> cpu_of_rank_;
  const team_options::hook on_start_;
  const team_options::hook on_exit_;
  std::unique_ptr<std::vector<system_thread>> threads_;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_WORKERS_HPP
