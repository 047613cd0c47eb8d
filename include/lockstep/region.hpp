// SPDX-License-Identifier: MIT
// lockstep/region.hpp -- regions that are started and joined later, and threads that work for one (layer: team)
//
//   lockstep::started_region region = team.start(f);   // the other members run f
//   work_of_the_callers();
//   region.join();                                     // the caller's part of f, then waits for all
//
//   START-1  join() is called by the thread that started the region, for the last region that it has started or entered.
//   START-2  A handle that goes joins its region. If it goes because of an exception that was thrown since start(), it
//            stops the region, does not run the caller's part, waits for the others, and drops their exceptions.
//   START-3  A handle that goes where join() would be refused ends the program with a message: the region could never
//            end. That is: on another thread, inside another region, or before the handle of a region that was started
//            later.
//
//   team.run([&](lockstep::member& me) {
//     const lockstep::region_token here = lockstep::this_region();
//     auto half = std::async(std::launch::async, [&, here] {
//       const lockstep::inside_region guest(here);
//       team.parallel_for(0, n, f);              // inline, as in the member itself (T2 of team.hpp)
//     });
//     half.get();
//   });
//
// Without inside_region such a thread is a stranger to the region: its run() of the same team waits for the region's end,
// and the member waits for the thread, for ever. The same goes for the threads of OpenMP, TBB or a pool, and for teams
// from whose regions this one was called.
//
//   GUEST-1  While an inside_region lives, the calling thread counts as inside the token's region, and all that this was
//            called from, besides those that it was in before.
//   GUEST-2  It is no member: it has no rank, and must not use the member object of the thread that started it.
#ifndef LOCKSTEP_REGION_HPP
#define LOCKSTEP_REGION_HPP

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "detail/platform/error.hpp"
#include "detail/platform/unwinding.hpp"
#include "detail/team/nesting.hpp"
#include "detail/team/team_core.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {

/// A region that the caller has started and will join.
class started_region {
 public:
  /// Of none.
  started_region() noexcept = default;
  started_region(started_region&& other) noexcept
      : door_(other.door_),
        core_(other.core_),
        number_(other.number_),
        in_flight_(other.in_flight_) {
    other.core_ = nullptr;
  }
  /// Joins the region that it had (START-2).
  started_region& operator=(started_region&& other) {
    if (this == &other) return *this;
    let_go();
    door_ = other.door_;
    core_ = other.core_;
    number_ = other.number_;
    in_flight_ = other.in_flight_;
    other.core_ = nullptr;
    return *this;
  }
  /// START-2, START-3. Throws as join() does. Where no exception can pass, as in a container, call join() before.
  ~started_region() noexcept(false) { let_go(); }

  /// True while there is a region to be joined.
  explicit operator bool() const noexcept {
    return core_ != nullptr && core_->started() == number_;
  }

  /// Runs the caller's part, and waits for the others. False if the region was stopped; throws as run() does;
  /// either way the handle is of none then. Fails with std::logic_error, and changes nothing, if it is of none
  /// already, or against START-1.
  bool join() {
    if (!*this) {
      detail::fail<std::logic_error>(
          "lockstep::started_region::join: there is no region to be joined: it was joined, or "
          "moved "
          "to another handle");
    }
    if (!core_->can_join()) detail::fail<std::logic_error>(refusal());
    return join_now();
  }

 private:
  friend class team;

  /// Takes over a region, and the caller's turn.
  started_region(detail::team_door& door, detail::team_core& core) noexcept
      : door_(&door),
        core_(&core),
        number_(core.started()),
        in_flight_(detail::exceptions_in_flight()) {}

  void let_go() {
    if (!*this) {
      core_ = nullptr;
      return;
    }
    if (!core_->can_join()) {
      std::fprintf(stderr, "%s; its handle was let go, so that it could never end\n", refusal());
      std::abort();
    }
    if (detail::exceptions_in_flight() > in_flight_) {
      detail::team_core& core = *core_;
      core_ = nullptr;
      const detail::caller_turn mine(door_->callers(), std::adopt_lock);
      core.give_up();
    } else {
      join_now();
    }
  }

  bool join_now() {
    detail::team_core& core = *core_;
    core_ = nullptr;
    const detail::caller_turn mine(door_->callers(), std::adopt_lock);
    return core.join();
  }

  const char* refusal() const noexcept {
    return core_->has_started() ? "lockstep::started_region::join: this thread has started or "
                                  "entered another region "
                                  "since; join those first"
                                : "lockstep::started_region::join: the region was started by "
                                  "another thread, which has "
                                  "to join it";
  }

  detail::team_door* door_ = nullptr;
  detail::team_core* core_ = nullptr;  ///< null: of none
  std::uint32_t number_ = 0;
  int in_flight_ = 0;  ///< exceptions, at start()
};

/// Names a region, for as long as that runs. Small, to be copied into the thread.
class region_token {
 public:
  /// Of none: an inside_region of it changes nothing.
  region_token() noexcept = default;

 private:
  friend class inside_region;
  friend region_token this_region() noexcept;

  explicit region_token(const detail::nesting::region* where) noexcept
      : where_(where), number_(where != nullptr ? detail::nesting::number_of(*where) : 0) {}

  const detail::nesting::region* where_ = nullptr;
  std::uint32_t number_ = 0;
};

/// The innermost region that the calling thread is in; that of a region which runs inline is the one around it. Of
/// none outside.
inline region_token this_region() noexcept { return region_token(detail::nesting::innermost()); }

/// Allocates.
class inside_region {
 public:
  /// Requires: the region runs, and goes on while this object lives: a member waits for this thread. Debug builds end
  /// the program with a message where the region is over.
  explicit inside_region(const region_token& of) : before_(detail::nesting::innermost()) {
    if (of.where_ == nullptr) return;
    if (detail::diagnoses_misuse && detail::nesting::number_of(*of.where_) != of.number_) {
      std::fprintf(
          stderr,
          "lockstep::inside_region: the region of this token is over; a member of it has to wait "
          "for the threads that use the token\n");
      std::abort();
    }
    for (const detail::nesting::region* at = of.where_; at != nullptr; at = at->outer) {
      copies_.push_back(*at);
    }
    for (std::size_t i = 0; i < copies_.size(); ++i) {
      copies_[i].outer = i + 1 < copies_.size() ? &copies_[i + 1] : before_;
    }
    detail::nesting::innermost() = copies_.data();
  }
  /// On the thread that made it, the last one first.
  ~inside_region() { detail::nesting::innermost() = before_; }
  inside_region(const inside_region&) = delete;
  inside_region& operator=(const inside_region&) = delete;

 private:
  const detail::nesting::region* before_;
  std::vector<detail::nesting::region> copies_;
};

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_REGION_HPP
