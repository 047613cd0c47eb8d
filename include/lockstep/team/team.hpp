// SPDX-License-Identifier: MIT
// lockstep/team/team.hpp -- persistent threads that run one function together (layer: team)
//
// run(f) calls f(member&) on every member, and returns when all calls have returned. What happens before
// run() happens before every call; every call happens before the return of run(). The caller is member
// 0; the other members are threads that the team starts once and keeps. Between regions they wait by
// the team's policy: with the default they sleep after about 50 us and use no CPU.
// run() allocates nothing and takes no lock. For primitives by themselves see sync/.
//
//   T1  One region at a time: outside threads that call run() together are served in the order of their
//       calls.
//   T2  run() from inside a region of the same team, however deep and on whatever thread, runs f inline
//       as the only member of its region: it would wait for itself otherwise.
//   T3  An exception leaves the team usable: members that wait in sync_threads() are released (it
//       returns false), all calls are awaited, then run() rethrows the exception of the lowest rank.
//   T4  A thread that cannot be started ends the constructor with std::system_error, after those that
//       were started have ended.
//
// Memory order (# marks the line; each weakening must fail a test)
//   #  access             order    pairs  why it suffices
//   1  tickets.fetch_add  relaxed  -      hands out numbers, nothing else
//   2  serving.store      release  3      the next region comes after this one
//   3  serving.load       acquire  2      the other half
//   4  serving.load       relaxed  -      own word while being served
//
// Cost   an empty region of P members: one RMW on a line of the caller's, one store to the job's line,
//        P-1 fetches of it, one store on each member's own line, P-1 fetches by the caller. Two members
//        uncrowded: two line transfers in a row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <system_error>
#include <type_traits>
#include <vector>

#include "../platform/this_thread.hpp"
#include "../sync/phase_board.hpp"
#include "job.hpp"

namespace lockstep {

class team {
 public:
  /// One member per usable CPU.
  team() : team(usable_cpus()) {}

  /// Fails if members is 0 or above 65536.
  explicit team(std::size_t members, wait_policy policy = wait_policy())
      : size_(platform::checked_count("lockstep::team", "members", members)),
        policy_(policy.when_crowded(members > usable_cpus())),
        common_(new barrier(members, policy)),
        errors_(members),
        forks_(1, members - 1, policy_, 0),
        joins_(members - 1, 1, policy_, 0) {
    start_workers();
  }
  /// Requires: no region runs.
  ~team() { stop_workers(); }
  team(const team&) = delete;
  team& operator=(const team&) = delete;

  std::size_t size() const noexcept { return size_; }

  /// Calls f(member&) once on every member; returns when all have returned. See T1 to T3.
  template <class Function>
  void run(Function&& f) {
    if (is_inside()) {
      member alone(0, 1, nullptr);
      f(alone);
      return;
    }
    const turn mine(*this);
    renew_barrier();
    const region nested{this, innermost()};
    order& next = forks_.payload(0);
    next.where = &nested;
    next.what.assign(f);
    forks_.advance(0);
    // Not through the line just published: it is on its way to the others.
    perform(0, nested, f);
    joins_.wait_until(0, 0, size_ - 1, deadline::never());
    rethrow_first_error();
  }

  /// Calls f(i) for every i of [first, last), in contiguous blocks by rank.
  template <class Function>
  void parallel_for(std::size_t first, std::size_t last, Function&& f) {
    run([&](member& self) {
      self.for_range(first, last, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) f(i);
      });
    });
  }

 private:
  /// Outside threads that want to run a region. On a line of its own: callers write it, members do not
  /// need it.
  struct caller_queue {
    platform::wait_word tickets{0};
    platform::wait_word serving{0};
    sleeper_mark mark;
  };

  /// A place in the queue of outside threads, kept while the region runs.
  class turn {
   public:
    explicit turn(team& of) : team_(of) {
      number_ = queue().tickets.fetch_add(1, platform::memory_order_relaxed);  // 1
      wait_history history = {};
      wait_engine::wait(*this, of.policy_, history);
    }
    ~turn() {
      const std::uint32_t next = queue().serving.load(platform::memory_order_relaxed) + 1;  // 4
      queue().serving.store(next, platform::memory_order_release);                          // 2
      queue().mark.notify(fence_payer_of(team_.policy_));
    }
    turn(const turn&) = delete;
    turn& operator=(const turn&) = delete;

    bool ready() const noexcept {
      return queue().serving.load(platform::memory_order_acquire) == number_;  // 3
    }
    void sleep(deadline until) { queue().mark.sleep(*this, until, fence_payer_of(team_.policy_)); }

   private:
    caller_queue& queue() const noexcept { return team_.queue_[0].value; }

    team& team_;
    std::uint32_t number_;
  };

  /// A region and the one it was called from: a list on the callers' stacks, the same for all members.
  struct region {
    const team* owner;
    const region* outer;
  };
  /// What travels on the line of the fork's phase.
  struct order {
    const region* where = nullptr;
    job what;
  };
  static_assert(sizeof(order) <= 64 - alignof(order), "phase, region and job share a cache line");

  /// The region the calling thread is in, if any.
  static const region*& innermost() noexcept {
    return platform::per_thread<const region*, struct name_of_innermost>();
  }
  bool is_inside() const noexcept {
    const region* at = innermost();
    while (at != nullptr && at->owner != this) at = at->outer;
    return at != nullptr;
  }

  /// This member's part of a region.
  template <class Function>
  void perform(std::size_t rank, const region& where, Function& f) {
    const region* const before = innermost();
    innermost() = &where;
    member self(rank, size_, common_.get());
#if LOCKSTEP_HAS_EXCEPTIONS
    try {
      f(self);
    } catch (...) {
      errors_[rank] = std::current_exception();
      common_->terminate();
    }
#else
    f(self);
#endif
    innermost() = before;
  }

  void rethrow_first_error() {
#if LOCKSTEP_HAS_EXCEPTIONS
    if (!common_->terminated()) return;
    std::exception_ptr first;
    for (std::exception_ptr& error : errors_) {
      if (error && !first) first = error;
      error = nullptr;
    }
    std::rethrow_exception(first);
#endif
  }

  /// After a region that an exception has ended. Not at its end, where there may be no memory for it.
  void renew_barrier() {
    if (common_->terminated()) common_.reset(new barrier(size_, common_->policy()));
  }

  void work(std::size_t rank) {
    char name[32];
    std::snprintf(name, sizeof name, "lockstep %zu", rank);
    platform::name_this_thread(name);
    while (forks_.wait_until(rank - 1, 0, 1, deadline::never()) == wait_status::ready) {
      order& given = forks_.payload(0);
      perform(rank, *given.where, given.what);
      joins_.advance(rank - 1);
    }
  }

  void start_workers() {
    workers_.reserve(size_ - 1);
#if LOCKSTEP_HAS_EXCEPTIONS
    try {
      start_each_worker();
    } catch (const std::system_error& error) {
      const std::size_t started = workers_.size();
      stop_workers();
      char message[160];
      std::snprintf(
          message, sizeof message,
          "lockstep::team: the system refused thread %zu of %zu; ask for fewer members or "
          "raise the limit on threads",
          started + 1, size_ - 1);
      throw std::system_error(error.code(), message);
    } catch (...) {  // no memory for a thread
      stop_workers();
      throw;
    }
#else
    start_each_worker();
#endif
  }
  void start_each_worker() {
    for (std::size_t rank = 1; rank < size_; ++rank) {
      workers_.emplace_back([this, rank] { work(rank); });
    }
  }
  void stop_workers() {
    forks_.terminate();
    for (platform::thread& worker : workers_) worker.join();
    workers_.clear();
  }

  platform::line_gap before_;  // joins_ brings the gap behind
  const std::size_t size_;
  const wait_policy policy_;
  std::unique_ptr<barrier> common_;
  std::vector<std::exception_ptr> errors_;
  std::vector<platform::thread> workers_;
  platform::aligned_array<platform::padded<caller_queue>> queue_{1};
  basic_phase_board<order> forks_;
  phase_board joins_;
};

}  // namespace lockstep
