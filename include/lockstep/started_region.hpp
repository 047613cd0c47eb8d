// SPDX-License-Identifier: MIT
// lockstep/started_region.hpp -- a region that the caller has started and will join (layer: team)
//
//   lockstep::started_region region = team.start(f);   // the other members run f
//   work_of_the_callers();
//   region.join();                                     // the caller's part of f, then waits for all
//
//   H1  join() is called by the thread that started the region, for the last region that it has started or entered.
//   H2  A handle that goes joins its region. If it goes because of an exception that was thrown since start(), it
//       stops the region, does not run the caller's part, waits for the others, and drops their exceptions.
//   H3  A handle that goes where join() would be refused ends the program with a message: the region could never end.
//       That is: on another thread, inside another region, or before the handle of a region that was started later.
#ifndef LOCKSTEP_STARTED_REGION_HPP
#define LOCKSTEP_STARTED_REGION_HPP

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <stdexcept>

#include "detail/platform/error.hpp"
#include "detail/team/team_core.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {

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
  /// Joins the region that it had (H2).
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
  /// H2, H3. Throws as join() does. Where no exception can pass, as in a container, call join() before.
  ~started_region() noexcept(false) { let_go(); }

  /// True while there is a region to be joined.
  explicit operator bool() const noexcept {
    return core_ != nullptr && core_->started() == number_;
  }

  /// Runs the caller's part, and waits for the others. False if the region was stopped; throws as run() does;
  /// either way the handle is of none then. Fails with std::logic_error, and changes nothing, if it is of none
  /// already, or against H1.
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

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_STARTED_REGION_HPP
