// SPDX-License-Identifier: MIT
// src/mpi/world.cpp -- mpi/world.hpp, and what world_values.hpp calls (layer: mpi)
#include <cstdio>
#include <cstdlib>
#include <string>

#include <lockstep/mpi/world.hpp>

#include "world_body.hpp"
#include "world_reductions.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace mpi {

LOCKSTEP_INLINE bool meet_ranks(world_body& of, member_state& at, world_construct construct,
                                std::uint32_t argument, void* value, std::size_t bytes,
                                const world_combine& combine) {
  return of.region.meet(at, construct, argument, value, bytes, combine);
}
LOCKSTEP_INLINE bool has_one_rank(world_body& of, const member_state& at,
                                  world_construct construct) {
  return of.region.has_one_rank(at, construct);
}
LOCKSTEP_INLINE bool sync_members(world_body& of, member_state& at, call_site where) {
  return of.region.sync(at, where);
}
LOCKSTEP_INLINE bool is_root(const world_body& of, std::size_t root) {
  return of.core.rank() ==
         checked_rank("lockstep::mpi::world::broadcast", "ranks", root, of.core.size());
}

LOCKSTEP_INLINE bool evaluate_leaves(world_body& of, member_state& at,
                                     const reductions::operations& what,
                                     const reductions::operands& values, std::size_t value_size,
                                     std::size_t length, schedule how,
                                     void (*meet)(void*, rank_reduction&), void* context) {
  rank_reduction all(of.region, at, what, values, value_size, length);
  if (!all.evaluate(how)) return false;
  meet(context, all);
  return true;
}
LOCKSTEP_INLINE bool collect_and_meet(rank_reduction& what, void* whole) {
  return what.collect_and_meet(whole);
}

/// `function`: of a world, called by a member of its region.
[[noreturn]] LOCKSTEP_INLINE void refuse_inside(const char* function) {
  char message[200];
  std::snprintf(message, sizeof message,
                "lockstep::mpi::world::%s: called inside of a region of this world: members call "
                "world.sync_threads(me), world.sync_sum(me, x) and so on",
                function);
  fail_use(message);
}

/// Of a meeting to which ranks came for different things.
[[noreturn]] LOCKSTEP_INLINE void fail_difference(const meeting_record& met) {
  char message[320];
  std::snprintf(message, sizeof message,
                "lockstep::mpi::world: ranks came to different constructs: rank %u to %s (%u "
                "bytes, argument %u), "
                "rank %u to %s (%u bytes, argument %u): all ranks call the same ones in the same "
                "order, with values "
                "of one type",
                met.rank, text_of(met.note.construct), met.note.bytes, met.note.argument, met.other,
                text_of(met.others.construct), met.others.bytes, met.others.argument);
  fail_use(message);
}

[[noreturn]] LOCKSTEP_INLINE void fail_rank(std::size_t rank) {
  char message[160];
  std::snprintf(
      message, sizeof message,
      "lockstep::mpi::world: an exception ended the region on rank %zu, and so on all ranks", rank);
#if LOCKSTEP_HAS_EXCEPTIONS
  throw lockstep::mpi::rank_failed(message, rank);
#else
  print_and_abort(message);
#endif
}

/// What run() returns, or throws.
LOCKSTEP_INLINE bool outcome_of(const meeting_record& met) {
  if (met.state == rank_state::differs) fail_difference(met);
  if (met.state == rank_state::has_failed) fail_rank(met.rank);
  return met.state == rank_state::has_ended;
}

/// The rank's part of a region: it ends for the others also where this one's throws.
class part_of_region {
 public:
  part_of_region(world_body& of, std::size_t members) noexcept : of_(of) {
    of_.region.begin(members);
  }
  ~part_of_region() {
    if (of_.region.is_in_progress()) note(of_.region.end(rank_state::has_failed));
  }
  part_of_region(const part_of_region&) = delete;
  part_of_region& operator=(const part_of_region&) = delete;

  bool end(rank_state how) {
    const meeting_record met = of_.region.end(how);
    note(met);
    return outcome_of(met);
  }

 private:
  void note(const meeting_record& met) noexcept {
    const bool is_early =
        met.state == rank_state::was_stopped || met.state == rank_state::has_failed;
    of_.ended_by = is_early ? met.rank : of_.core.size();
  }

  world_body& of_;
};

}  // namespace mpi
}  // namespace detail

namespace mpi {

LOCKSTEP_INLINE world::world(MPI_Comm of, const world_options& options)
    : body_(new detail::mpi::world_body(of, options)) {}
LOCKSTEP_INLINE world::world(int& argc, char**& argv, const world_options& options)
    : body_(new detail::mpi::world_body(argc, argv, options)) {}
LOCKSTEP_INLINE world::~world() = default;

LOCKSTEP_INLINE std::size_t world::rank() const noexcept { return body_->core.rank(); }
LOCKSTEP_INLINE std::size_t world::size() const noexcept { return body_->core.size(); }
LOCKSTEP_INLINE std::size_t world::node_rank() const noexcept { return body_->core.node_rank(); }
LOCKSTEP_INLINE std::size_t world::node_size() const noexcept { return body_->core.node_size(); }
LOCKSTEP_INLINE std::size_t world::nodes() const noexcept { return body_->core.nodes(); }
LOCKSTEP_INLINE MPI_Comm world::comm() const noexcept { return body_->core.comm(); }
LOCKSTEP_INLINE int world::thread_level() const noexcept { return body_->core.level(); }
LOCKSTEP_INLINE std::size_t world::members() const noexcept { return body_->core.cpus(); }
LOCKSTEP_INLINE std::size_t world::ended_by() const noexcept { return body_->ended_by; }

LOCKSTEP_INLINE team_options world::options() const {
  team_options result;
  result.cpus(members()).name("rank " + std::to_string(rank()));
  if (std::getenv("LOCKSTEP_NUM_THREADS") == nullptr) result.members(members());
  return result;
}
LOCKSTEP_INLINE wait_policy world::policy(std::size_t members) const noexcept {
  return body_->core.policy(members);
}
LOCKSTEP_INLINE bool world::is_crowded(std::size_t members) const noexcept {
  return policy(members).is_crowded();
}

LOCKSTEP_INLINE bool world::run_part(team& on, void* f, void (*runs)(void* f, member& me),
                                     call_site where) {
  using detail::mpi::rank_state;
  detail::mpi::world_region& region = body_->region;
  if (region.is_in_progress()) detail::mpi::refuse_inside("run");
  detail::mpi::check_may_call(thread_level(), "lockstep::mpi::world::run");
  detail::mpi::part_of_region part(*body_, on.size());
  const bool is_complete = on.run(
      [&](member& me) {
        if (me.rank() == 0) region.belongs_to(detail::member_access::state_of(me));
        runs(f, me);
      },
      where);
  return part.end(is_complete ? rank_state::has_ended : rank_state::was_stopped);
}

LOCKSTEP_INLINE index_range world::part_of(std::size_t length, std::size_t rank) const noexcept {
  return detail::mpi::part_of_rank(length, rank, size());
}

LOCKSTEP_INLINE void world::sync() {
  meet("sync", kinds::sync_threads, 0, nullptr, 0, {nullptr, nullptr, MPI_DATATYPE_NULL});
}
LOCKSTEP_INLINE void world::check_root(std::size_t root) const {
  detail::checked_rank("lockstep::mpi::world::broadcast", "ranks", root, size());
}
LOCKSTEP_INLINE void world::meet(const char* function, kinds kind, std::uint32_t argument,
                                 void* value, std::size_t bytes,
                                 const detail::mpi::world_combine& combine) {
  using detail::mpi::rank_state;
  if (body_->region.is_in_progress()) detail::mpi::refuse_inside(function);
  detail::mpi::check_may_call(thread_level(), "lockstep::mpi::world");
  const detail::mpi::meeting_note note = {rank_state::goes_on, kind,
                                          static_cast<std::uint16_t>(bytes), argument};
  const detail::mpi::meeting_record met = body_->core.meet(note, value, combine, policy(1));
  if (met.state == rank_state::goes_on) return;
  detail::mpi::outcome_of(met);
  detail::mpi::fail_rank(met.rank);  // it ended a region of its own meanwhile
}

}  // namespace mpi
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
