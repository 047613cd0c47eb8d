// SPDX-License-Identifier: MIT
// src/mpi/world.cpp -- mpi/world.hpp, what world_values.hpp calls, and ranges that ranks reduce (layer: mpi)
//
// The members of each rank evaluate the nodes of its block of leaves, as those of one process evaluate all. Member 0
// collects them into a record (world_tree.hpp) and meets the other ranks; the meeting merges the records. So the result
// has the bits of team::reduce_range of one process over the same range, whatever the number of ranks and members.
//
//   WREDUCE-1  f is called for the rank's part of the range only, each index by one member of one rank.
//   WREDUCE-2  No exception of op leaves a meeting, because the other ranks would wait. The record gets a mark instead,
//              and each rank throws after the meeting.
//   WREDUCE-3  As REDUCE-5: members meet before the leaves, if they have run a construct without a wait since they met.
//
// Cost   one phase of the team with the meeting of ranks in it, if members meet by flags; else two. The record of a
//        double has 176 bytes.
#include <cstdlib>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>
#include <utility>

#include <lockstep/mpi/world.hpp>

#include "../reduce/member_nodes.hpp"
#include "world_region.hpp"
#include "world_tree.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace mpi {

/// How a meeting merges records.
struct record_merge {
  world_combine combine_values;
  std::size_t value_size;
  std::exception_ptr thrown;  ///< by op, on this rank

  world_combine combine() noexcept { return {call, this}; }

 private:
  /// An operation that keeps WREDUCE-2.
  static void call(const void* context, void* into, const void* next) {
    record_merge& self = *static_cast<record_merge*>(const_cast<void*>(context));
    const node_record left(into, self.value_size);
    const node_record right(const_cast<void*>(next), self.value_size);
#if LOCKSTEP_HAS_EXCEPTIONS
    try {
      merge(left, right, self.combine_values);
    } catch (...) {
      self.thrown = std::current_exception();
      left.head().fault = record_fault::operation_threw;
    }
#else
    merge(left, right, self.combine_values);
#endif
  }
};

/// Fails if a record has no values.
LOCKSTEP_NOINLINE inline void check_merged(const record_head& head, std::exception_ptr& thrown) {
  if (head.fault == record_fault::none) return;
#if LOCKSTEP_HAS_EXCEPTIONS
  if (thrown) std::rethrow_exception(std::move(thrown));
#else
  static_cast<void>(thrown);
#endif
  if (head.fault == record_fault::operation_threw) {
    fail<std::runtime_error>(
        "lockstep::mpi::world::reduce_range: op threw on another rank, while it combined values "
        "of ranks");
  }
  fail_argument(
      "lockstep::mpi::world::reduce_range: ranks gave ranges of different lengths: all ranks "
      "give the whole range, "
      "first and last of all, and each is called for its part (world::part_of)");
}

/// A rank's block of the leaves, evaluated by its members.
class rank_reduction : private reductions::member_nodes {
 public:
  rank_reduction(world_region& region, member_state& at, const reductions::operations& what,
                 const reductions::operands& of, std::size_t length,
                 const world_combine& combine_values, std::size_t value_size) noexcept
      : member_nodes(at, what, of, length,
                     leaves_of_rank(length, region.ranks().rank(), region.ranks().size())),
        region_(region),
        combine_values_(combine_values),
        value_size_(value_size) {}

  /// By all members. The phase that makes the values known is still to come. False once the region is stopped.
  bool evaluate(schedule how) {
    if (at_.is_alone() || length_of(part_) == 0) return at_.goes_on();
    return (at_.has_waited() || at_.wait_before_construct()) && put_own(how);
  }
  /// By member 0, when all have arrived. False once the region is stopped.
  bool collect_and_meet(void* whole) {
    alignas(node_record::most_alignment) unsigned char bytes[node_board::most_bytes];
    const node_record mine(bytes, value_size_);
    if (!collect(mine)) return false;
    record_merge merge = {combine_values_, value_size_, nullptr};
    if (!region_.meet(at_, world_construct::reduce_range, 0, bytes, node_record::size(value_size_),
                      merge.combine())) {
      return false;
    }
    check_merged(mine.head(), merge.thrown);
    if (mine.head().count != 0) std::memcpy(whole, mine.value(0), value_size_);
    return true;
  }

 private:
  static_assert(node_record::size(448) <= node_board::most_bytes, "check_reducible() says so");

  bool collect(const node_record& into) {
    into.begin(length_, part_);
    reduction_tree::published_nodes nodes(part_, at_.size());
    bool goes_on = true;
    reduction_tree::maximal_nodes(
        reduction_tree::leaves_of(length_), part_.first, part_.last,
        [&](std::size_t a, std::size_t b) {
          reductions::result_cell node;
          if (!at_.is_alone()) {
            combine(nodes, {a, b}, &node.keeps, node.value);
          } else if (!goes_on || !what_.fold(of_, reductions::run_of(at_, length_, {a, b}),
                                             &node.keeps, node.value)) {
            goes_on = false;
            return;
          }
          into.append(what_.are_kept ? node.value.address() : node.value.bytes);
        });
    return goes_on;
  }

  world_region& region_;
  const world_combine combine_values_;
  const std::size_t value_size_;
};

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
         checked_rank("lockstep::mpi::world::broadcast", "rank", root, of.core.size());
}

LOCKSTEP_INLINE bool evaluate_leaves(world_body& of, member_state& at,
                                     const reductions::operations& what,
                                     const reductions::operands& values, std::size_t length,
                                     schedule how, const world_combine& combine_values,
                                     std::size_t value_size, void (*meet)(void*, rank_reduction&),
                                     void* context) {
  rank_reduction all(of.region, at, what, values, length, combine_values, value_size);
  if (!all.evaluate(how)) return false;
  meet(context, all);
  return true;
}
LOCKSTEP_INLINE bool collect_and_meet(rank_reduction& what, void* whole) {
  return what.collect_and_meet(whole);
}

/// `function`: of a world, called by a member of its region.
[[noreturn]] LOCKSTEP_INLINE void refuse_inside(const char* function) {
  fail_use(
      "lockstep::mpi::world::%s: called inside of a region of this world: members call "
      "world.sync_threads(me), world.sync_sum(me, x) and so on",
      function);
}

/// For a meeting to which ranks came in different constructs.
[[noreturn]] LOCKSTEP_INLINE void fail_difference(const meeting_record& met) {
  fail_use(
      "lockstep::mpi::world: ranks came to different constructs: rank %u to %s (%u "
      "bytes, argument %u), "
      "rank %u to %s (%u bytes, argument %u): all ranks call the same ones in the same "
      "order, with values "
      "of one type",
      met.rank, text_of(met.note.construct), met.note.bytes, met.note.argument, met.other,
      text_of(met.others.construct), met.others.bytes, met.others.argument);
}

[[noreturn]] LOCKSTEP_INLINE void fail_rank(std::size_t rank, const std::string& node) {
  const std::string text = "lockstep::mpi::world: an exception ended the region on rank " +
                           std::to_string(rank) + node + ", and so on all ranks";
#if LOCKSTEP_HAS_EXCEPTIONS
  throw lockstep::mpi::rank_failed(text.c_str(), rank);
#else
  print_and_abort(text.c_str());
#endif
}

LOCKSTEP_INLINE bool outcome_of(const meeting_record& met) {
  if (met.state == rank_state::differs) fail_difference(met);
  if (met.state == rank_state::has_failed) fail_rank(met.rank);
  return met.state == rank_state::has_ended;
}

}  // namespace mpi
}  // namespace detail

namespace mpi {

LOCKSTEP_INLINE world::world(MPI_Comm of, std::size_t ranks_per_node)
    : body_(new detail::mpi::world_body(of, ranks_per_node)) {}
LOCKSTEP_INLINE world::world(int& argc, char**& argv, std::size_t ranks_per_node)
    : body_(new detail::mpi::world_body(argc, argv, ranks_per_node)) {}
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

LOCKSTEP_INLINE bool world::run_part(team& on, void* f, void (*runs)(void* f, member& me),
                                     call_site where) {
  using detail::mpi::rank_state;
  detail::mpi::world_region& region = body_->region;
  if (region.is_in_progress()) detail::mpi::refuse_inside("run");
  detail::mpi::check_may_call(thread_level(), "lockstep::mpi::world::run");
  region.begin(on.size());
  const auto part = [&] {
    return on.run(
        [&](member& me) {
          if (me.rank() == 0) region.belongs_to(detail::member_access::state_of(me));
          runs(f, me);
        },
        where);
  };
  const auto end = [&](rank_state how) {
    const detail::mpi::meeting_record met = region.end(how);
    const bool is_early =
        met.state == rank_state::was_stopped || met.state == rank_state::has_failed;
    body_->ended_by = is_early ? met.rank : size();
    return met;
  };
  return detail::mpi::outcome_of(detail::mpi::run_and_end(part, end));
}

LOCKSTEP_INLINE index_range world::part_of(std::size_t length, std::size_t rank) const noexcept {
  return detail::mpi::part_of_rank(length, rank, size());
}

LOCKSTEP_INLINE void world::sync() {
  meet("sync", kinds::sync_threads, 0, nullptr, 0, detail::mpi::world_combine());
}
LOCKSTEP_INLINE void world::check_root(std::size_t root) const {
  detail::checked_rank("lockstep::mpi::world::broadcast", "rank", root, size());
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
  detail::mpi::fail_rank(met.rank);  // that rank ended a region meanwhile
}

}  // namespace mpi
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
