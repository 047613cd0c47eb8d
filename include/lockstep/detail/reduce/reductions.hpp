// SPDX-License-Identifier: MIT
// lockstep/detail/reduce/reductions.hpp -- values of all members, or of a whole range, become one (layer: reduce)
//
// Values of one per member are combined in the order of ranks; values over a range along the fixed tree of
// reduction_tree.hpp, which gives the same bits for every number of members, schedule and run. Either takes
// one phase of the region's barrier: members put what they have into their cells, arrive, and each combines
// all cells (above 8 members: the last to arrive does, for all). For users: member.hpp.
//
//   REDUCE-1  `op` may run on every member at once, with the same arguments: it must not change shared data.
//   REDUCE-2  All members of the region call the same function with the same range, schedule, and op.
//   REDUCE-3  init is the first argument of the last op on each member; of an empty range it is the result.
//   REDUCE-4  Once the region is stopped a member ends within 1024 more calls of f(i).
//   REDUCE-5  A member's leaves are not its block: it calls f(i) for indices whose data another may write in a loop
//             before that has no wait. So members meet before the leaves, if they have run a construct without a wait
//             since they met. They need not where that was a loop in blocks, over a range of this length, whose blocks
//             are those of the leaves; then nobody takes leaves of others (LOOPS-6), and f(i) sees of that loop what its
//             iteration i wrote, no more. All members decide alike: MEMBER-1.
//             `fast` reductions run by rank or ticket, as loops do.
//
#ifndef LOCKSTEP_DETAIL_REDUCE_REDUCTIONS_HPP
#define LOCKSTEP_DETAIL_REDUCE_REDUCTIONS_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include <lockstep/detail/reduce/member_nodes.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace reductions {

// --- one value of each member ---

/// The result of combine(phase), which has Type. The value at hand where the region was stopped and exceptions are off.
/// All of it is compiled into the caller: behind a call of its own, a sum of two members takes 105 ns in place of 50.
template <class Type, class Combine>
Type meet(member_state& at, const Type& at_hand, const Combine& combine) {
  const std::uint32_t phase = at.next_phase();
  const auto put_result = [&](cell& into) {
    Type result(combine(phase));
    cell_access<Type>::put(cell_access<Type>::prepare(at.shared(), at.kept_result, 1), into,
                           std::move(result));
  };
  cell out = {};
  if (at.meet(out, put_result)) return cell_access<Type>::get(out);
  leave_stopped_region();
  return at_hand;
}

/// This member's value for the next meeting.
template <class Type>
void put_value(member_state& at, Type value) {
  const std::uint32_t phase = at.next_phase();
  cell_access<Type>::put(cell_access<Type>::prepare(at.shared(), at.kept[phase & 1u], 1),
                         at.shared().cell_of(at.rank(), phase, 0), std::move(value));
}

/// op over the values of all members, in the order of ranks.
template <class Type, class Operation>
Type reduce_values(member_state& at, const Type& value, Operation& op) {
  check_operation<Type, Operation>();
  check_copyable<Type>();
  if (!at.goes_on()) leave_stopped_region();
  if (at.is_alone() || !at.goes_on()) return value;
  put_value<Type>(at, value);
  return meet<Type>(at, value, [&](std::uint32_t phase) {
    Type sum(cell_access<Type>::get(at.shared().cell_of(0, phase, 0)));
    for (std::size_t rank = 1; rank < at.size(); ++rank) {
      sum = op(std::move(sum), cell_access<Type>::get(at.shared().cell_of(rank, phase, 0)));
    }
    return sum;
  });
}

/// The value of member `root`.
template <class Type>
Type broadcast(member_state& at, std::size_t root, const Type& value) {
  check_copyable<Type>();
  if (!at.goes_on()) leave_stopped_region();
  if (at.is_alone() || !at.goes_on()) return value;
  if (at.rank() == root) put_value<Type>(at, value);
  return meet<Type>(at, value, [&](std::uint32_t phase) {
    return cell_access<Type>::get(at.shared().cell_of(root, phase, 0));
  });
}

// --- a range, along the tree ---

/// REDUCE-5, before the leaves of `length` iterations. False once the region is stopped.
inline bool wait_for_data(member_state& at, std::size_t length, schedule how) {
  if (at.has_waited()) return true;
  const bool are_own = how.kind() == schedule_kind::static_blocks &&
                       at.blocks_without_wait == length &&
                       reduction_tree::leaves_keep_blocks(length, at.size());
  return are_own || at.wait_before_construct();
}

/// What became of a reduction.
enum class outcome { done, empty, stopped };

/// The parts of one member or share, folded into one value.
class folded_parts {
 public:
  /// At: member_state or loop_share.
  template <class At>
  folded_parts(const At& at, const operations& what, const operands& of, std::size_t length)
      : walk_(at, what, of, length) {}

  /// Folds the parts that it is called with.
  range_body body() noexcept { return {fold, this}; }
  /// After the parts. False if there were none, or the region was stopped.
  bool take(void* result) {
    if (!has_value_ || !goes_on_) return false;
    walk_.take_top(result);
    return true;
  }

 private:
  static void fold(const void* data, std::size_t first, std::size_t last) {
    folded_parts& self = *static_cast<folded_parts*>(const_cast<void*>(data));
    if (!self.goes_on_) return;
    self.goes_on_ = self.walk_.fold(first, last, self.has_value_);
    self.has_value_ = true;
  }

  tree_walk walk_;
  bool has_value_ = false, goes_on_ = true;
};
LOCKSTEP_NOINLINE inline bool fold_parts(member_state& at, const operations& what,
                                         const operands& of, std::size_t length, schedule how,
                                         void* result) {
  folded_parts own(at, what, of, length);
  loops::hand_out(at, length, how, own.body());
  return own.take(result);
}

/// A reduction over [0, length) in a region. `result`: room for a value, aligned as a cell at least.
class member_reduction : private member_nodes {
 public:
  member_reduction(member_state& at, const operations& what, const operands& of,
                   std::size_t length) noexcept
      : member_nodes(at, what, of, length, index_range{0, reduction_tree::leaves_of(length)}) {}

  /// The same bits for every number of members and schedule.
  LOCKSTEP_NOINLINE outcome reduce(schedule how, void* result) {
    if (part_.last == 0 || !at_.goes_on()) return at_.sync() ? outcome::empty : outcome::stopped;
    if (at_.is_alone()) return reduce_alone(result);
    if (!wait_for_data(at_, length_, how)) return outcome::stopped;
    cell out = {};
    if (!put(how, out, {combine_all, this})) return outcome::stopped;
    take(out, result);
    return outcome::done;
  }

 private:
  outcome reduce_alone(void* result) {
    tree_walk walk(at_, what_, of_, length_);
    if (!walk.push_node(0, part_.last) || !at_.goes_on()) return outcome::stopped;
    walk.take_top(result);
    return outcome::done;
  }

  static void combine_all(const void* data, cell& into) {
    const member_reduction& self = *static_cast<const member_reduction*>(data);
    void* const room = self.prepare(self.at_.kept_result, 1);
    reduction_tree::published_nodes nodes(self.part_, self.at_.size());
    tree_walk values(self.at_, self.what_, self.of_, self.length_);
    self.push_published(values, nodes, 0, self.part_.last);
    values.put_top(room, into);
  }

  void take(const cell& from, void* result) const {
    if (what_.type == nullptr) {
      std::memcpy(result, from.bytes, cell::size);
    } else {
      what_.type->copy(result, value_stack::address_in(from));
    }
  }
};

/// Room for a result that a reduction leaves: destroyed here.
template <class Type>
class result_of {
 public:
  result_of() noexcept {}
  ~result_of() {
    if (has_value_) value().~Type();
  }
  result_of(const result_of&) = delete;
  result_of& operator=(const result_of&) = delete;

  void* room() noexcept { return storage_; }
  /// A value was left in the room.
  Type& value_left() noexcept {
    has_value_ = true;
    return value();
  }

 private:
  Type& value() noexcept { return *reinterpret_cast<Type*>(storage_); }

  static constexpr std::size_t least = fits_cell<Type>() ? cell::size : 1;
  alignas(Type) alignas(least) unsigned char storage_[sizeof(Type) < least ? least : sizeof(Type)];
  bool has_value_ = false;
};

/// op(init, the tree over the range) on every member.
template <class Type, class Operation, class Values>
Type reduce(member_state& at, const Values& values, bool in_strips, std::size_t length,
            const Type& init, Operation& op, schedule how) {
  check_types<Type, typename Values::value, Operation>();
  check_copyable<Type>();
  result_of<Type> result;
  member_reduction reduction(at, operations_for<Type, Operation>(values, in_strips), values,
                             length);
  const outcome how_it_ended = reduction.reduce(how, result.room());
  if (how_it_ended == outcome::done) {
    Type& whole =
        result.value_left();  // before the copy of init, which may throw: now it is destroyed then
    return op(Type(init), std::move(whole));
  }
  if (how_it_ended == outcome::stopped) leave_stopped_region();
  return init;
}

// --- a range, by members: `fast` ---

/// Where a member says that it has put a value: the last byte of the cell unless the value is there.
template <class Type>
unsigned char& has_put(group& shared, std::size_t rank, std::uint32_t phase) noexcept {
  return fits_cell<Type>() && sizeof(Type) == cell::size
             ? shared.cell_of(rank, phase, 1).bytes[0]
             : shared.cell_of(rank, phase, 0).bytes[cell::size - 1];
}
static_assert(sizeof(void*) < cell::size, "a pointer leaves the last byte of its cell free");

/// This member's value for the next meeting, if it has one.
template <class Type>
void put_maybe(member_state& at, maybe<Type>& mine) {
  if (mine.has_value()) put_value<Type>(at, std::move(mine.value()));
  has_put<Type>(at.shared(), at.rank(), at.next_phase()) = mine.has_value() ? 1 : 0;
}

/// What init and the values that were put in a phase make together, in the order of ranks.
template <class Type, class Operation>
Type combine_put(group& shared, std::size_t size, std::uint32_t phase, Type init, Operation& op) {
  for (std::size_t rank = 0; rank < size; ++rank) {
    if (has_put<Type>(shared, rank, phase) == 0) continue;
    init = op(std::move(init), cell_access<Type>::get(shared.cell_of(rank, phase, 0)));
  }
  return init;
}

/// op(init, the values of those members that have one), on every member.
template <class Type, class Operation>
Type reduce_put(member_state& at, const Type& init, maybe<Type>& mine, Operation& op) {
  check_copyable<Type>();
  if (!at.goes_on()) leave_stopped_region();
  if (!at.goes_on() || (at.is_alone() && !mine.has_value())) return init;
  if (at.is_alone()) return op(Type(init), std::move(mine.value()));
  put_maybe<Type>(at, mine);
  return meet<Type>(at, init, [&](std::uint32_t phase) {
    return combine_put<Type>(at.shared(), at.size(), phase, init, op);
  });
}

template <class Type, class Operation, class Values>
Type reduce_fast(member_state& at, const Values& values, bool in_strips, std::size_t length,
                 const Type& init, Operation& op, schedule how) {
  check_types<Type, typename Values::value, Operation>();
  result_of<Type> result;
  maybe<Type> mine;
  if (fold_parts(at, operations_for<Type, Operation>(values, in_strips), values, length, how,
                 result.room())) {
    mine.set(std::move(result.value_left()));
  }
  if (at.may_stop()) leave_stopped_region();
  return reduce_put<Type>(at, init, mine, op);
}

}  // namespace reductions
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_REDUCE_REDUCTIONS_HPP
