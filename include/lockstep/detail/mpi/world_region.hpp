// SPDX-License-Identifier: MIT
// lockstep/detail/mpi/world_region.hpp -- a region of all ranks, and what its members do together (layer: mpi)
//
// Each rank runs a region of its team. In a construct across ranks the members of a rank meet, member 0 meets the other
// ranks while they wait, and its arrival lets them go: one phase of the team where members meet by flags, else two.
//
//   WREGION-1  A region of all ranks ends with one meeting at which not all ranks go on. That is the end, to which all come;
//              or the first construct to which a rank comes whose region is over already.
//   WREGION-2  A member 0 that learns there that the region is over stops the region of its rank.
//   WREGION-3  No stop ends a meeting of ranks: the other ranks come to it, or to their end.
//   WREGION-4  Where members wait for other ranks by other means, such as halos, an early_end_listener ends these waits: it
//              learns that this rank's region is over early before others can, and then that it is over on all.
#ifndef LOCKSTEP_DETAIL_MPI_WORLD_REGION_HPP
#define LOCKSTEP_DETAIL_MPI_WORLD_REGION_HPP

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <lockstep/detail/mpi/world_core.hpp>
#include <lockstep/detail/reduce/reductions.hpp>
#include <lockstep/member.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace mpi {

/// op as the ranks' meeting calls it.
template <class Type, class Operation>
struct combine_of {
  static void call(const void* context, void* into, const void* next) {
    Operation& op = *static_cast<Operation*>(const_cast<void*>(context));
    Type a, b;
    std::memcpy(&a, into, sizeof(Type));
    std::memcpy(&b, next, sizeof(Type));
    const Type result(op(std::move(a), std::move(b)));
    std::memcpy(into, &result, sizeof(Type));
  }
  static world_combine with(Operation& op) noexcept {
    return {call, const_cast<void*>(static_cast<const void*>(&op)),
            number_type(static_cast<const Type*>(nullptr))};
  }
};

/// What one rank sends and another keeps.
template <class Type>
struct sent_value {
  Type value;
  bool is_there;

  /// The one of two that is there.
  static void call(const void*, void* into, const void* next) {
    sent_value from;
    std::memcpy(&from, next, sizeof from);
    if (from.is_there) std::memcpy(into, &from, sizeof from);
  }
};

template <class Type>
inline void check_travels() noexcept {
  static_assert(
      std::is_trivially_copyable<Type>::value && std::is_default_constructible<Type>::value,
      "lockstep::mpi: values that go from rank to rank are trivially copyable, and have a default "
      "constructor");
  static_assert(sizeof(Type) + 16 <= node_board::most_bytes,
                "lockstep::mpi: a value that goes from rank to rank has 8 kB at most: send larger "
                "ones by MPI, on "
                "world.comm()");
}

/// What the list needs. By itself: of a class with a friend, GCC says that its destructor is not virtual.
class early_end_listener;
class early_end_link {
  friend class world_region;
  early_end_listener* next_ = nullptr;
};

/// What has messages under way in regions of all ranks, beside the meetings: WREGION-4. Called by the thread that runs the
/// regions.
class early_end_listener : public early_end_link {
 public:
  /// This rank's region is over early; the other ranks may wait for messages of it.
  virtual void leave() = 0;
  /// The region is over early on all ranks. Comes to all of them, after leave() or without.
  virtual void settle() = 0;
  /// As those of messages_beside. By member 0 of the region as well.
  virtual bool is_under_way() const noexcept = 0;
  virtual void progress() noexcept = 0;

 protected:
  early_end_listener() = default;
  ~early_end_listener() = default;
};

/// A region of one rank, as part of one of all ranks.
class world_region final : private messages_beside {
 public:
  explicit world_region(world_core& ranks) noexcept : ranks_(ranks) { ranks_.watch(*this); }
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
      end_ =
          ranks_.meet({how, world_construct::end_of_region, 0, 0}, nullptr, no_combine(), policy_);
    }
    is_over_ = true;
    if (end_.state != rank_state::has_ended) tell_listeners(&early_end_listener::settle);
    return end_;
  }
  /// Outside of regions. Listeners are told in the order in which they were added: on all ranks the same.
  void add(early_end_listener& one) noexcept {
    early_end_listener** at = &listeners_;
    while (*at != nullptr) at = &(*at)->next_;
    *at = &one;
  }
  void remove(early_end_listener& one) noexcept {
    early_end_listener** at = &listeners_;
    while (*at != &one) at = &(*at)->next_;
    *at = one.next_;
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
    const auto meets = [&] {
      return meet(at, world_construct::sync_threads, 0, nullptr, 0, no_combine());
    };
    if (at.is_alone()) return !at.is_stopped() && meets();
    if (at.shared().barrier.has_flags(at.size())) return at.meet_at_first(meets);
    if (!at.sync()) return false;
    if (at.rank() == 0) meets();
    return at.sync();
  }

  /// op over the values of all members of all ranks.
  template <class Type, class Operation>
  Type reduce(member_state& at, world_construct construct, call_site where, Type value,
              Operation& op) {
    check_travels<Type>();
    reductions::check_operation<Type, Operation>();
    at.come_to(text_of(construct), where, sizeof(Type));
    if (has_one_rank(at, construct)) return reductions::reduce_values<Type>(at, value, op);
    const auto meets = [&](Type& mine) {
      return meet(at, construct, 0, &mine, sizeof(Type), combine_of<Type, Operation>::with(op));
    };
    if (!meets_by_cells<Type>(at)) {
      Type mine = reductions::reduce_values<Type>(at, value, op);
      return from_first<Type>(at, mine, meets);
    }
    reductions::put_value<Type>(at, value);
    return meet_in_cells<Type>(at, value, [&](std::uint32_t phase) {
      Type mine(cell_access<Type>::get(at.shared().cell_of(0, phase, 0)));
      for (std::size_t rank = 1; rank < at.size(); ++rank) {
        mine = op(std::move(mine), cell_access<Type>::get(at.shared().cell_of(rank, phase, 0)));
      }
      meets(mine);
      return mine;
    });
  }

  /// The value of member 0 of rank `root`.
  template <class Type>
  Type broadcast(member_state& at, std::size_t root, const Type& value, call_site where) {
    check_travels<Type>();
    checked_rank("lockstep::member::broadcast(world)", "ranks", root, ranks_.size());
    at.come_to("broadcast(world)", where, sizeof(Type));
    if (has_one_rank(at, world_construct::broadcast))
      return reductions::broadcast<Type>(at, 0, value);
    const auto meets = [&](Type& mine) {
      sent_value<Type> sent = {mine, ranks_.rank() == root};
      const bool goes_on =
          meet(at, world_construct::broadcast, static_cast<std::uint32_t>(root), &sent, sizeof sent,
               {sent_value<Type>::call, nullptr, MPI_DATATYPE_NULL});
      mine = sent.value;
      return goes_on;
    };
    if (!meets_by_cells<Type>(at)) {
      Type mine(value);
      return from_first<Type>(at, mine, meets);
    }
    return meet_in_cells<Type>(at, value, [&](std::uint32_t) {
      Type mine(value);
      meets(mine);
      return mine;
    });
  }

  /// The members meet; then member 0 calls meets(mine), which may change `mine`, a copy of `at_hand`, and all get what it is
  /// then. In one phase where members meet by flags and values lie in cells.
  template <class Type, class Meets>
  Type meet_by_first(member_state& at, const Type& at_hand, const Meets& meets) {
    Type mine(at_hand);
    if (!meets_by_cells<Type>(at)) {
      if (!at.is_alone() && !at.sync()) leave_stopped_region();
      return from_first<Type>(at, mine, meets);
    }
    return meet_in_cells<Type>(at, at_hand, [&](std::uint32_t) {
      meets(mine);
      return mine;
    });
  }

  /// The members' way where their values do not travel with their arrivals: member 0 calls meets(mine), which may change
  /// `mine`, and all get what it is then. Requires: all have met before, or bring nothing.
  template <class Type, class Meets>
  Type from_first(member_state& at, Type& mine, const Meets& meets) {
    if (!at.goes_on() || at.is_stopped()) leave_stopped_region();
    if (at.rank() == 0 && !at.is_stopped() && !meets(mine)) leave_stopped_region();
    return reductions::broadcast<Type>(at, 0, mine);
  }

 private:
  static world_combine no_combine() noexcept { return {nullptr, nullptr, MPI_DATATYPE_NULL}; }

  template <class Type>
  static bool meets_by_cells(const member_state& at) noexcept {
    return fits_cell<Type>() && !at.is_alone() && at.goes_on() &&
           at.shared().barrier.has_flags(at.size());
  }
  /// One phase: rank 0 makes the value of all when the others have arrived.
  template <class Type, class Make>
  Type meet_in_cells(member_state& at, const Type& at_hand, const Make& make) {
    const std::uint32_t phase = at.next_phase();
    cell& result = at.shared().cell_of(0, phase, 0);
    const bool goes_on = at.meet_at_first([&] {
      cell_access<Type>::put(cell_access<Type>::prepare(at.shared(), at.kept_result, 1), result,
                             make(phase));
    });
    if (goes_on) return cell_access<Type>::get(result);
    leave_stopped_region();
    return at_hand;
  }

  /// Whether there is no other rank: then the members meet as without a world, each by its own arrival. Where member 0 arrived
  /// for all, as it does to meet other ranks, the last arrival would be seen one line transfer later.
  bool has_one_rank(const member_state& at, world_construct construct) const {
    if (ranks_.size() != 1) return false;
    if (at.rank() == 0) check_region(at, construct);
    return true;
  }

  /// Fails with std::logic_error where member 0 is that of another region, or of a sub-team.
  void check_region(const member_state& at, world_construct construct) const {
    if (is_in_progress_ && first_ == &at) return;
    char message[240];
    std::snprintf(
        message, sizeof message,
        is_in_progress_
            ? "lockstep::member::%s(world): called by a sub-team or in a region inside of the "
              "world's: call it "
              "by all members of the region that world.run began"
            : "lockstep::member::%s(world): the region was not begun by the world: begin it by "
              "world.run(team, f), on every rank",
        text_of(construct));
    fail_use(message);
  }

  bool are_under_way() const noexcept override {
    const early_end_listener* at = listeners_;
    while (at != nullptr && !at->is_under_way()) at = at->next_;
    return at != nullptr;
  }
  void progress() noexcept override {
    for (early_end_listener* at = listeners_; at != nullptr; at = at->next_) at->progress();
  }

  void tell_listeners(void (early_end_listener::*what)()) {
    for (early_end_listener* at = listeners_; at != nullptr; at = at->next_) (at->*what)();
  }

  world_core& ranks_;
  early_end_listener* listeners_ = nullptr;
  bool is_in_progress_ = false;
  bool is_over_ = false;  ///< the meeting that ends it has been
  const member_state* first_ = nullptr;
  wait_policy policy_;
  meeting_record end_ = {};
};

}  // namespace mpi
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_MPI_WORLD_REGION_HPP
