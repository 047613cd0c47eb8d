// SPDX-License-Identifier: MIT
// lockstep/team/member.hpp -- what a team's function sees of itself: OpenMP's constructs and more (layer: team)
//
// One object per member and region; only the member itself uses it, and not after the region. Which to use:
//   all wait for all            sync_threads; with a value in the same phase: sync_sum and its like, broadcast
//   share the work of a loop    for_range (blocks, waits for nobody), for_each (iterations, waits at its end)
//   loop and reduction in one   reduce_range, reduce_each: the same bits for every team size and schedule
//   one does it                 single (others wait), master (they do not), critical (one at a time)
//   different work              sections, split, first
//   step by step in a chain     publish and wait_for, for_ordered
// Constructs that members share wait at their end unless called with `nowait`; for_range and master never do.
//
//   M1  All members of a region call the constructs that wait, and those with tickets (dynamic and guided
//       loops, sections, single(nowait)), in the same order, with the same range and schedule.
//   M2  What happens before any member's arrival in a construct that waits happens before every return from it.
//   M3  Once the region is stopped (an exception in a member, request_stop) nobody waits any more: functions
//       that return bool return false; those that return a value throw region_stopped, which run() catches
//       (without exceptions: they return the value at hand, and an empty sub_team). Chunks are handed out no
//       more, but a block is run to its end: ask stop_requested() in a long one.
#ifndef LOCKSTEP_TEAM_MEMBER_HPP
#define LOCKSTEP_TEAM_MEMBER_HPP

#include <cstddef>
#include <utility>

#include "../platform/error.hpp"
#include "../sync/mutex.hpp"
#include "critical_name.hpp"
#include "scans.hpp"
#include "weighted_schedule.hpp"

namespace lockstep {

/// First argument of a construct that is not to wait at its end.
struct nowait_t {};
constexpr nowait_t nowait = {};

/// First argument of a reduction whose last bits may differ from one team size to another.
struct fast_t {};
constexpr fast_t fast = {};

class sub_team;

class member {
 public:
  explicit member(const seat& at) noexcept : at_(at) {}
  member& operator=(const member&) = delete;

  /// 0 to size() - 1; the thread that called run() is 0.
  std::size_t rank() const noexcept { return at_.rank(); }
  std::size_t size() const noexcept { return at_.size(); }

  // --- all wait for all ---

  /// Blocks until every member of the region has called it as often as this one; M2. False if the region is
  /// stopped: leave it too.
  bool sync_threads() { return at_.sync(); }

  /// op over the values of all members, in the order of ranks: the same on each, and in every run. One
  /// phase. Values above 16 bytes, or not trivially copyable, are copied to the heap.
  template <class T, class Op>
  T sync_reduce(T value, Op op) {
    return reductions::reduce_values<T>(at_, value, op);
  }
  template <class T>
  T sync_sum(T value) {
    return sync_reduce(value, [](const T& a, const T& b) { return static_cast<T>(a + b); });
  }
  template <class T>
  T sync_min(T value) {
    return sync_reduce(value, [](const T& a, const T& b) { return b < a ? b : a; });
  }
  template <class T>
  T sync_max(T value) {
    return sync_reduce(value, [](const T& a, const T& b) { return a < b ? b : a; });
  }
  /// How many members said true.
  std::size_t sync_count(bool condition) { return sync_sum<std::size_t>(condition ? 1 : 0); }
  bool sync_and(bool condition) { return sync_count(condition) == size(); }
  bool sync_or(bool condition) { return sync_count(condition) != 0; }

  /// The value of member `root`, on all. One phase. Fails if root >= size().
  template <class T>
  T broadcast(std::size_t root, T value) {
    platform::checked_rank("lockstep::member::broadcast", "members", root, size());
    return reductions::broadcast<T>(at_, root, value);
  }

  // --- one does it ---

  /// Member 0 calls f(), the others wait until it has. Costs a barrier, no more.
  template <class Function>
  bool single(Function&& f) {
    if (rank() == 0) f();
    return sync_threads();
  }
  /// The member that comes first calls f(); the others go on.
  template <class Function>
  bool single(nowait_t, Function&& f) {
    return loops::first_come(at_, f);
  }
  /// Member 0 calls f(); nobody waits.
  template <class Function>
  void master(Function&& f) {
    if (rank() == 0) f();
  }
  /// Calls f() while no other thread of the program is in a critical part of the same name, a type:
  /// me.critical<struct log_file>([&] { ... }). Fair. Not to be nested with itself.
  template <class Name = void, class Function>
  void critical(Function&& f) {
    struct held {
      mutex& lock;
      explicit held(mutex& m) : lock(m) { lock.lock(); }
      ~held() { lock.unlock(); }
    } const here(critical_name::mutex_of<Name>());
    f();
  }

  // --- loops ---

  /// Calls f(first, last) for this member's parts of the range, with the default schedule its block, none if that is
  /// empty. Waits for nobody (with tickets: only for who is 8
  /// constructs behind): where the next step reads what others wrote, sync_threads() first.
  template <class Function>
  bool for_range(std::size_t first, std::size_t last, Function&& f,
                 schedule how = static_schedule()) {
    return loops::hand_out(at_, index_range{first, last}, how, f);
  }

  /// Calls f(i) once for every i of [first, last), on some member, then waits for all.
  template <class Function>
  bool for_each(std::size_t first, std::size_t last, Function&& f,
                schedule how = static_schedule()) {
    for_each(nowait, first, last, f, how);
    return sync_threads();
  }
  template <class Function>
  bool for_each(nowait_t, std::size_t first, std::size_t last, Function&& f,
                schedule how = static_schedule()) {
    return loops::hand_out(at_, index_range{first, last}, how,
                           [&](std::size_t begin, std::size_t end) {
                             for (std::size_t i = begin; i < end; ++i) f(i);
                           });
  }
  /// f(i, j) over two nested ranges, or f(i, j, k) over three, as one: OpenMP's collapse. The schedule counts
  /// in the last one first. Fails if there are more iterations than std::size_t has numbers.
  template <class Ranges, class Function>
  bool for_each(const Ranges& ranges, Function&& f, schedule how = static_schedule()) {
    for_each(nowait, ranges, f, how);
    return sync_threads();
  }
  template <class Ranges, class Function>
  bool for_each(nowait_t, const Ranges& ranges, Function&& f, schedule how = static_schedule()) {
    return loops::hand_out(
        at_, index_range{0, iterations_of(ranges)}, how,
        [&](std::size_t begin, std::size_t end) { for_each_in(ranges, begin, end, f); });
  }
  /// Blocks by what was measured in the loops before that used the same schedule (weighted_schedule.hpp).
  /// Its members are those of the region, else the blocks are equal. Always waits.
  template <class Function>
  bool for_each(std::size_t first, std::size_t last, Function&& f, weighted_schedule& how) {
    if (!at_.goes_on()) return false;
    how.run_block(at_.next_phase(), index_range{first, last}, rank(), size(),
                  [&](std::size_t begin, std::size_t end) {
                    for (std::size_t i = begin; i < end; ++i) f(i);
                  });
    return sync_threads();
  }

  /// As for_each, with f(i, turn): turn([&] { ... }) runs that part of the iteration after the same part of all
  /// iterations before. An iteration need not call it. Choose a schedule with small chunks: with
  /// blocks the last member waits for all others.
  template <class Function>
  bool for_ordered(std::size_t first, std::size_t last, Function&& f,
                   schedule how = static_schedule(1)) {
    const std::uint32_t construct = at_.is_alone() ? 0 : at_.next_construct();
    if (!at_.is_alone() && !at_.shared().loops.enter(at_.place(), construct)) return false;
    ordered_turn turn(at_, construct);
    const auto part = [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end && !at_.may_stop(); ++i) {
        turn.begin(i - first);
        f(i, turn);
        turn.end();
      }
    };
    if (at_.is_alone()) {
      part(first, last);
    } else {
      loops::hand_out_in(at_, construct, index_range{first, last}, how, part);
      at_.shared().loops.leave(at_.place(), construct);
    }
    return sync_threads();
  }

  /// Calls each of the functions once, on whoever comes, then waits for all.
  template <class... Functions>
  bool sections(Functions&&... functions) {
    sections(nowait, functions...);
    return sync_threads();
  }
  template <class... Functions>
  bool sections(nowait_t, Functions&&... functions) {
    return loops::hand_out(at_, index_range{0, sizeof...(Functions)}, dynamic_schedule(),
                           [&](std::size_t first, std::size_t last) {
                             for (std::size_t k = first; k < last; ++k) {
                               loops::call_one(k, functions...);
                             }
                           });
  }

  // --- reductions over a range ---

  /// op(init, all values of f(first, last) over parts of the range, in order), on all members. The same bits for every
  /// team size, schedule and run: op is applied along a tree that depends on the length alone
  /// (reduction_tree.hpp), so it must be associative. Waits for all; one phase with the default schedule, else two.
  template <class T, class Function, class Op>
  T reduce_range(std::size_t first, std::size_t last, T init, Function&& f, Op op,
                 schedule how = static_schedule()) {
    using leaf = reductions::leaf_of_blocks<T, Function>;
    return reductions::reduce_leaves<T>(at_, length_of(index_range{first, last}), init,
                                        leaf{first, last, f}, op, how);
  }
  /// The same with f(i).
  template <class T, class Function, class Op>
  T reduce_each(std::size_t first, std::size_t last, T init, Function&& f, Op op,
                schedule how = static_schedule()) {
    using leaf = reductions::leaf_of_each<T, Function, Op>;
    return reductions::reduce_leaves<T>(at_, length_of(index_range{first, last}), init,
                                        leaf{first, last, f, op}, op, how);
  }
  /// Not the same for every team size: each member folds its parts, and the results are combined by rank.
  /// Requires init to be op's neutral element, and op to commute unless
  /// the schedule is static_schedule().
  template <class T, class Function, class Op>
  T reduce_range(fast_t, std::size_t first, std::size_t last, T init, Function&& f, Op op,
                 schedule how = static_schedule()) {
    T sum(init);
    for_range(
        first, last, [&](std::size_t begin, std::size_t end) { sum = op(sum, f(begin, end)); },
        how);
    return reductions::reduce_values<T>(at_, sum, op);
  }
  template <class T, class Function, class Op>
  T reduce_each(fast_t, std::size_t first, std::size_t last, T init, Function&& f, Op op,
                schedule how = static_schedule()) {
    return reductions::reduce_values<T>(at_, fold_each(first, last, init, f, op, how), op);
  }
  /// This member's parts of such a reduction: init, and f(i) for its indices. Waits for nobody, as for_range.
  template <class T, class Function, class Op>
  T fold_each(std::size_t first, std::size_t last, T init, Function&& f, Op& op, schedule how) {
    for_range(
        first, last,
        [&](std::size_t begin, std::size_t end) {
          for (std::size_t i = begin; i < end; ++i) init = op(std::move(init), f(i));
        },
        how);
    return init;
  }

  /// store(i, op(init, f(first), ..., f(i))) for every i of the range: see team::parallel_scan. Waits for all.
  template <class T, class Function, class Op, class Store>
  T scan_each(std::size_t first, std::size_t last, T init, Function&& f, Op op, Store&& store) {
    const reductions::scan_of<T, Function, Op, Store> what{first, last, f, op, store};
    return reductions::scan_leaves<T>(at_, what, init);
  }

  // --- parts of the team ---

  /// Members that give the same colour form a sub-team, ranked as here; no_color: in none. Two phases; allocates.
  sub_team split(std::size_t color);
  /// The first k members form a sub-team; the others get an empty one. One phase; allocates. Fails if k is
  /// 0 or above size().
  sub_team first(std::size_t k);
  static constexpr std::size_t no_color = ~std::size_t{0};

  // --- step by step ---

  /// This member has finished `step`, and all before it: what it has done is seen by who waits for it.
  /// Steps only grow; they begin at 0 in every region.
  void publish(std::size_t step) {
    if (!at_.is_alone()) at_.shared().progress.publish(rank(), step);
  }
  /// Blocks until member `rank` has published `step` or more. Fails if rank >= size().
  bool wait_for(std::size_t rank, std::size_t step) {
    platform::checked_rank("lockstep::member::wait_for", "members", rank, size());
    return at_.is_alone() ? !at_.is_stopped()
                          : at_.shared().progress.wait_for(at_.place(), rank, step);
  }

  // --- the early end ---

  /// True once the region is stopped: time to return.
  bool stop_requested() const noexcept { return at_.is_stopped(); }
  /// Ends the region: M3. run() returns false then.
  void request_stop() { at_.request_stop(); }

  /// What constructs beyond these are made from.
  const seat& at() const noexcept { return at_; }

 private:
  friend class sub_team;
  member(const member&) = default;

  seat at_;
};

}  // namespace lockstep

#include "sub_team.hpp"

#endif  // LOCKSTEP_TEAM_MEMBER_HPP
