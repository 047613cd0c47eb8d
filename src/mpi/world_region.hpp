// SPDX-License-Identifier: MIT
// src/mpi/world_region.hpp -- a region of all ranks, and what its members do together (layer: mpi)
//
// Each rank runs a region of its team. In a construct across ranks (world_values.hpp) member 0 meets the other ranks.
//
//   WREGION-1  A region of all ranks ends with one meeting at which not all ranks go on. All ranks have come to their
//              end there; or some are in a construct, and for another one the region is over already.
//   WREGION-2  If member 0 learns there that the region is over, it stops the region of its rank.
//   WREGION-3  No stop ends a meeting of ranks: the other ranks come to it, or to their end.
//   WREGION-4  Members may wait for other ranks by other means, such as halos. An early_end_listener ends these waits.
//              It is called when this rank's region is over early, before others can know, and when it is over on all.
#ifndef LOCKSTEP_SRC_MPI_WORLD_REGION_HPP
#define LOCKSTEP_SRC_MPI_WORLD_REGION_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <lockstep/member.hpp>
#include <lockstep/mpi/world.hpp>

#include "world_core.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace mpi {

/// Has messages beside the meetings, in regions of all ranks: WREGION-4. The thread that runs the regions calls it.
class early_end_listener : public messages_beside {
 public:
  /// This rank's region is over early; the other ranks may wait for its messages.
  virtual void leave() = 0;
  /// The region is over early on all ranks. Called on all of them, also without leave().
  virtual void settle() = 0;

 protected:
  early_end_listener() = default;
  ~early_end_listener() = default;
};

/// A region of one rank, as part of one of all ranks.
class world_region {
 public:
  explicit world_region(world_core& ranks) noexcept : ranks_(ranks) {}
  world_region(const world_region&) = delete;
  world_region& operator=(const world_region&) = delete;

  world_core& ranks() const noexcept { return ranks_; }
  bool is_in_progress() const noexcept { return is_in_progress_; }
  void begin(std::size_t members) noexcept {
    is_in_progress_ = true;
    is_over_ = false;
    first_ = nullptr;
    policy_ = ranks_.policy(members);
  }
  /// By member 0, before the first meeting.
  void belongs_to(const member_state& first) noexcept { first_ = &first; }

  /// The rank's region is over. Returns the meeting that ended it on all.
  const meeting_record& end(rank_state how) {
    is_in_progress_ = false;
    if (!is_over_) {
      if (how != rank_state::has_ended) tell_listeners(&early_end_listener::leave);
      end_ = ranks_.meet({how, world_construct::end_of_region, 0, 0}, nullptr, world_combine(),
                         policy_);
    }
    is_over_ = true;
    if (end_.state != rank_state::has_ended) tell_listeners(&early_end_listener::settle);
    return end_;
  }
  /// Outside of regions. Listeners are called in the order in which they were added: the same on all ranks.
  void add(early_end_listener& one) {
    listeners_.push_back(&one);
    ranks_.add(one);
  }
  void remove(early_end_listener& one) {
    listeners_.erase(std::find(listeners_.begin(), listeners_.end(), &one));
    ranks_.remove(one);
  }

  /// By member 0 of the region: meets the other ranks. False if the region is over.
  bool meet(member_state& at, world_construct construct, std::uint32_t argument, void* value,
            std::size_t bytes, const world_combine& combine) {
    check_region(at, construct);
    const meeting_note note = {rank_state::goes_on, construct, static_cast<std::uint16_t>(bytes),
                               argument};
    const meeting_record met = ranks_.meet(note, value, combine, policy_);
    if (met.state == rank_state::goes_on) return true;
    end_ = met;
    is_over_ = true;
    at.request_stop();
    return false;
  }

  bool sync(member_state& at, call_site where) {
    at.come_to("sync_threads(world)", where);
    if (has_one_rank(at, world_construct::sync_threads)) return at.sync();
    return at.meet_at_first(
        [&] { meet(at, world_construct::sync_threads, 0, nullptr, 0, world_combine()); });
  }

  /// Whether there is no other rank. Then the members meet as without a world, each by its own arrival. It is faster:
  /// where member 0 arrives for all, as it does to meet other ranks, members see the last arrival one line transfer
  /// later.
  bool has_one_rank(const member_state& at, world_construct construct) const {
    if (ranks_.size() != 1) return false;
    if (at.rank() == 0) check_region(at, construct);
    return true;
  }

 private:
  /// Fails with std::logic_error if member 0 is that of another region, or of a sub-team.
  void check_region(const member_state& at, world_construct construct) const {
    if (is_in_progress_ && first_ == &at) return;
    fail_use(
        is_in_progress_
            ? "lockstep::member::%s(world): called by a sub-team or in a region inside of the "
              "world's: call it "
              "by all members of the region that world.run began"
            : "lockstep::member::%s(world): the region was not begun by the world: begin it by "
              "world.run(team, f), on every rank",
        text_of(construct));
  }

  void tell_listeners(void (early_end_listener::*what)()) {
    for (early_end_listener* each : listeners_) (each->*what)();
  }

  world_core& ranks_;
  std::vector<early_end_listener*> listeners_;
  bool is_in_progress_ = false;
  bool is_over_ = false;  ///< the meeting that ends it has been
  const member_state* first_ = nullptr;
  wait_policy policy_;
  meeting_record end_ = {};
};

/// Begins and ends MPI, if the world has to.
class session {
 public:
  /// For a program that begins and ends MPI itself.
  session() noexcept = default;
  session(int& argc, char**& argv) : is_ours_(true) {
    int has_begun = 0, level = MPI_THREAD_SINGLE;
    MPI_Initialized(&has_begun);
    if (has_begun != 0) {
      fail_use(
          "lockstep::mpi::world: MPI is initialised already: make the world from a communicator, "
          "such as "
          "MPI_COMM_WORLD");
    }
    checked(MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level), "MPI_Init_thread");
  }
  /// Not while the stack is unwound: then this rank is about to fail, and other ranks may wait for it.
  ~session() {
    if (is_ours_ && exceptions_in_flight() == 0) MPI_Finalize();
  }
  session(const session&) = delete;
  session& operator=(const session&) = delete;

 private:
  bool is_ours_ = false;
};

struct world_body {
  world_body(MPI_Comm of, std::size_t ranks_per_node) : core(of, ranks_per_node), region(core) {}
  world_body(int& argc, char**& argv, std::size_t ranks_per_node)
      : mpi(argc, argv), core(MPI_COMM_WORLD, ranks_per_node), region(core) {}

  session mpi;  // the first: MPI ends last
  world_core core;
  world_region region;
  std::size_t ended_by = core.size();
};

/// An exception has ended the region or run on that rank. `node`: in which node, if it is known.
[[noreturn]] void fail_rank(std::size_t rank, const std::string& node = "");
/// What a region or run of all ranks returns, or throws.
bool outcome_of(const meeting_record& met);

/// Calls part() for this rank, and then end(how), which ends the region or run on all ranks. end() is called even if
/// the part throws, because the other ranks wait for this one. Returns what end() returns, or throws what the part has
/// thrown. If MPI fails in end(), that error takes its place.
template <class Part, class End>
meeting_record run_and_end(const Part& part, const End& end) {
#if LOCKSTEP_HAS_EXCEPTIONS
  bool is_complete = false;
  try {
    is_complete = part();
  } catch (...) {
    end(rank_state::has_failed);
    throw;
  }
#else
  const bool is_complete = part();
#endif
  return end(is_complete ? rank_state::has_ended : rank_state::was_stopped);
}

struct world_access {
  static world_body& body_of(const lockstep::mpi::world& of) noexcept { return *of.body_; }
};

}  // namespace mpi
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_MPI_WORLD_REGION_HPP
