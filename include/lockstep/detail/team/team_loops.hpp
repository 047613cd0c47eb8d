// SPDX-License-Identifier: MIT
// lockstep/detail/team/team_loops.hpp -- a region that is one loop: the parallel_ functions (layer: team)
//
// Part of team's and external_team's interface; those that return bool return false if the region was stopped. Called
// from inside a region of the same team they run on the caller alone, and are stopped with that region. The bounds are of
// any integer types, or pointers or iterators with random access (index_span.hpp).
//
//   TEAMLOOP-1  A loop does not wait for a member that has not begun: its share is run by others (loop_crew.hpp).
//               Members that come in time run the same share every time.
//   TEAMLOOP-2  Which thread runs an iteration is not said, nor on how many members a loop runs: where it costs more
//               than it gains, on the caller alone (loop_steering.hpp). So iterations must not wait for each other; run()
//               is for that.
//   TEAMLOOP-3  Where the loop is stopped, parts that have not begun are left out. Of several exceptions that of the
//               lowest part is thrown.
//   TEAMLOOP-4  What a closure's iteration costs is learned by its type: each place in the program with a lambda of its
//               own is known by itself. grain() says by hand how much a member should get at least.
//
// What f of a loop returns is ignored.
//
// What is compiled for each closure is its leaf (leaf_loop.hpp), or its fold (reduction_operations.hpp), and a call.
//
// Cost   on the caller alone: 5 to 10 ns where that is known (lone_loops.hpp), else about 20. With members that are
//        awake: an empty region, a claim by each (6 ns), the work. The join is the only wait.
#ifndef LOCKSTEP_DETAIL_TEAM_TEAM_LOOPS_HPP
#define LOCKSTEP_DETAIL_TEAM_TEAM_LOOPS_HPP

#include <cstddef>
#include <type_traits>
#include <utility>

#include <lockstep/detail/loop/lone_loops.hpp>
#include <lockstep/detail/loop/loop_share.hpp>
#include <lockstep/detail/reduce/team_reductions.hpp>
#include <lockstep/detail/region/job.hpp>
#include <lockstep/member.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// In weighted_schedule.hpp: a share of a loop with blocks by what was measured.
inline void run_weighted(loop_share& me, std::size_t length, const range_body& body,
                         weighted_schedule& how);

// What the jobs of loops carry.

/// One block for each share, and a leaf that travels with it.
LOCKSTEP_NOINLINE inline index_range block_of_loop(const loop_share& me,
                                                   std::size_t length) noexcept {
  return me.block_of(index_range{0, length});
}
template <class Leaf>
struct carried_blocks {
  static constexpr bool fits = sizeof(Leaf) + sizeof(std::size_t) <= job::closure_size &&
                               alignof(Leaf) <= alignof(void*) &&
                               std::is_trivially_copy_constructible<Leaf>::value &&
                               std::is_trivially_destructible<Leaf>::value;

  std::size_t length;
  Leaf leaf;

  void operator()(loop_share& me) const {
    const index_range mine = block_of_loop(me, length);
    if (mine.first < mine.last) call_body<Leaf>(&leaf, mine.first, mine.last);
  }
};
/// Parts by a schedule.
struct scheduled_parts {
  std::size_t length;
  schedule how;
  const range_body* body;

  void operator()(loop_share& me) const { run(me, length, how, *body); }
  LOCKSTEP_NOINLINE static void run(loop_share& me, std::size_t length, schedule how,
                                    const range_body& body) {
    loops::hand_out_in(me, me, length, how, body);
  }
};
struct weighted_parts {
  std::size_t length;
  weighted_schedule* how;
  const range_body* body;
  void (*run)(loop_share& me, std::size_t length, const range_body& body, weighted_schedule& how);

  void operator()(loop_share& me) const { run(me, length, *body, *how); }
};

/// Team: has run_loop(request, work, ends) and size().
template <class Team>
class team_loops {
 public:
  /// Calls f(i) for every i of [first, last), in contiguous blocks by rank.
  template <class First, class Last, class Function>
  if_bounds<First, Last> parallel_for(First first, Last last, Function&& f, call_site where = {}) {
    const auto span = span_of(first, last);
    return run_blocks(each_of(span, f), span.length, 0, where);
  }
  template <class First, class Last, class Function>
  if_bounds<First, Last> parallel_for(First first, Last last, Function&& f, schedule how,
                                      call_site where = {}) {
    const auto span = span_of(first, last);
    return run_parts(each_of(span, f), span.length, how, where);
  }
  /// With blocks by what was measured in the runs before: weighted_schedule.hpp. On all members.
  template <class First, class Last, class Function>
  if_bounds<First, Last> parallel_for(First first, Last last, Function&& f, weighted_schedule& how,
                                      call_site where = {}) {
    const auto span = span_of(first, last);
    const auto each = each_of(span, f);
    return run_by_weights(body_of(each), span.length, how, where);
  }

  /// Calls f(first, last) for contiguous parts that make up the range, each index in one of them: for loops that are
  /// written or vectorised by hand. A member has one part or several; how many there are is not said, but none is empty.
  /// Otherwise as parallel_for. Where the schedule has chunks each is a part, also on one member: a kernel may rely on
  /// their length. A part is not cut short where the loop is stopped.
  ///   team.for_range(0, n, [=](int first, int last) { daxpy(last - first, a, x + first, y + first); });
  template <class First, class Last, class Function>
  if_bounds<First, Last> for_range(First first, Last last, Function&& f, call_site where = {}) {
    const auto span = span_of(first, last);
    return run_blocks(blocks_of(span, f), span.length, 0, where);
  }
  template <class First, class Last, class Function>
  if_bounds<First, Last> for_range(First first, Last last, Function&& f, schedule how,
                                   call_site where = {}) {
    const auto span = span_of(first, last);
    return run_parts(blocks_of(span, f), span.length, how, where);
  }
  template <class First, class Last, class Function>
  if_bounds<First, Last> for_range(First first, Last last, Function&& f, weighted_schedule& how,
                                   call_site where = {}) {
    const auto span = span_of(first, last);
    const auto blocks = blocks_of(span, f);
    return run_by_weights(body_of(blocks), span.length, how, where);
  }

  /// Calls f(i, j) for every pair, and f(i, j, k) for every triple, as one range; the last index moves fastest.
  template <class Function>
  bool parallel_for_2d(index_range rows, index_range columns, Function&& f,
                       schedule how = static_schedule(), call_site where = {}) {
    const index_range_2 ranges = {rows, columns};
    return run_parts(each_of_nested(ranges, f), iterations_of(ranges), how, where);
  }
  template <class Function>
  bool parallel_for_3d(index_range planes, index_range rows, index_range columns, Function&& f,
                       schedule how = static_schedule(), call_site where = {}) {
    const index_range_3 ranges = {planes, rows, columns};
    return run_parts(each_of_nested(ranges, f), iterations_of(ranges), how, where);
  }

  /// op(init, all f(i)): see member::reduce_each. The same bits for every team size, schedule and run. If the
  /// region is stopped there is no result: throws region_stopped (without exceptions: init).
  /// Type needs to be movable only. Of the schedule, only a grain (or only_if) has a meaning: the values come from a
  /// tree of blocks.
  template <class Type, class First, class Last, class Function, class Operation>
  if_bounds<First, Last, Type> parallel_reduce(First first, Last last, Type init, Function&& f,
                                               Operation op, schedule how = static_schedule(),
                                               call_site where = {}) {
    const auto span = span_of(first, last);
    return reduce<Type>(reductions::values_of<Type>(span, f, op), true, span.length,
                        std::move(init), op, how, where);
  }
  /// Faster by a little; the last bits differ from one team size to another. Requires of op what
  /// member::reduce_range(fast, ...) does. On all members, unless a grain or only_if says otherwise.
  template <class Type, class First, class Last, class Function, class Operation>
  if_bounds<First, Last, Type> parallel_reduce(fast_t, First first, Last last, Type init,
                                               Function&& f, Operation op,
                                               schedule how = static_schedule(),
                                               call_site where = {}) {
    const auto span = span_of(first, last);
    return reduce_by_share<Type>(reductions::values_of<Type>(span, f, op), true, span.length,
                                 std::move(init), op, how, where);
  }

  /// op(init, all f(first, last) over parts of the range, in order): parallel_reduce for loops that are written or
  /// vectorised by hand, as for_range is. The parts depend on the length alone, so the bits are the same for every team
  /// size and run; they are those of parallel_reduce where f folds its part from the left. None is empty, and none is
  /// long: of n indices up to n / 128, or 64, or n / 1024, whichever is the middle one. For longer ones: fast.
  template <class Type, class First, class Last, class Function, class Operation>
  if_bounds<First, Last, Type> reduce_range(First first, Last last, Type init, Function&& f,
                                            Operation op, schedule how = static_schedule(),
                                            call_site where = {}) {
    const auto span = span_of(first, last);
    return reduce<Type>(reductions::block_values_of<Type>(span, f, op), false, span.length,
                        std::move(init), op, how, where);
  }
  /// With f of as large parts as for_range has: for kernels that need length. As parallel_reduce(fast, ...).
  template <class Type, class First, class Last, class Function, class Operation>
  if_bounds<First, Last, Type> reduce_range(fast_t, First first, Last last, Type init, Function&& f,
                                            Operation op, schedule how = static_schedule(),
                                            call_site where = {}) {
    const auto span = span_of(first, last);
    return reduce_by_share<Type>(reductions::block_values_of<Type>(span, f, op), false, span.length,
                                 std::move(init), op, how, where);
  }

  /// Calls each of the functions once, on whichever thread comes.
  template <class... Functions>
  bool parallel_invoke(Functions&&... functions) {
    const auto each = [&](std::size_t first, std::size_t last) {
      for (std::size_t k = first; k < last; ++k) loops::call_one(k, functions...);
    };
    return run_scheduled(body_of(each), sizeof...(Functions), dynamic_schedule(), call_site::none(),
                         nullptr);
  }
  bool parallel_invoke() noexcept { return true; }

  /// store(i, op(init, f(first), ..., f(i))) for every i: an inclusive scan. Returns op(init, all f(i)). f is
  /// called twice for each i. The same bits for every team size and run; not those of a left fold (scans.hpp).
  /// Two loops; allocates room for 1024 values.
  template <class Type, class First, class Last, class Function, class Operation, class Store>
  if_bounds<First, Last, Type> parallel_scan(First first, Last last, Type init, Function&& f,
                                             Operation op, Store&& store, call_site where = {}) {
    return parallel_scan(first, last, std::move(init), f, std::move(op), store, static_schedule(),
                         where);
  }
  /// Of the schedule, only a grain (or only_if) has a meaning.
  template <class Type, class First, class Last, class Function, class Operation, class Store>
  if_bounds<First, Last, Type> parallel_scan(First first, Last last, Type init, Function&& f,
                                             Operation op, Store&& store, schedule how,
                                             call_site where = {}) {
    const auto span = span_of(first, last);
    const auto by = reductions::by_offset(span, f);
    const auto to = reductions::store_by_offset(span, store);
    using values = typename std::decay<decltype(by)>::type;
    using stored = typename std::decay<decltype(to)>::type;
    reductions::check_types<Type, decltype(by(std::size_t())), Operation>();
    if (span.length == 0) return init;
    reductions::range_scan<Type, values, Operation, stored> whole(std::move(init), span.length, by,
                                                                  op, to);
    const std::size_t grain = grain_of(how);
    job work;
    work.carry<loop_share>(whole.first());
    bool goes_on =
        team().run_loop({span.length, work.place(), grain, true, false, where}, work, whole.ends());
    if (goes_on && whole.has_more()) {
      work.carry<loop_share>(whole.second());
      goes_on =
          team().run_loop({span.length, work.place(), grain, true, false, where}, work, no_ends());
    }
    if (!goes_on) leave_stopped_region();
    return whole.take();
  }

  // What is wrong with a call that fits none of the above (misplaced.hpp).

  template <class... Arguments>
  if_misplaced<Arguments...> parallel_for(Arguments&&...) {
    return refuse_loop<Arguments...>();
  }
  template <class... Arguments>
  if_misplaced<Arguments...> for_range(Arguments&&...) {
    return refuse_loop<Arguments...>();
  }
  template <class... Arguments>
  if_too_few<5, Arguments...> parallel_reduce(Arguments&&...) {
    return refuse_reduction<Arguments...>();
  }
  template <class... Arguments>
  if_too_few<5, Arguments...> reduce_range(Arguments&&...) {
    return refuse_reduction<Arguments...>();
  }
  template <class... Arguments>
  if_too_few<6, Arguments...> parallel_scan(Arguments&&...) {
    return refuse_reduction<Arguments...>();
  }

 private:
  Team& team() noexcept { return static_cast<Team&>(*this); }

  /// The fewest iterations of a share, where the schedule says so; else 0.
  static std::size_t grain_of(schedule how) noexcept {
    return how.kind() == schedule_kind::static_blocks ? how.chunk() : 0;
  }
  static constexpr loop_ends no_ends() noexcept { return {nullptr, nullptr, nullptr}; }

  /// A leaf that travels with the loop, or a reference to it.
  template <class Leaf>
  typename std::enable_if<carried_blocks<Leaf>::fits, bool>::type run_blocks(const Leaf& leaf,
                                                                             std::size_t length,
                                                                             std::size_t grain,
                                                                             call_site where) {
    const lone_outcome alone = run_alone(leaf, length, grain);
    if (alone != lone_outcome::refused) return alone == lone_outcome::complete;
    job work;
    work.carry<loop_share>(carried_blocks<Leaf>{length, leaf});
    return team().run_loop({length, work.place(), grain, true, false, where, &hint_of<Leaf>::at},
                           work, no_ends());
  }
  template <class Leaf>
  typename std::enable_if<!carried_blocks<Leaf>::fits, bool>::type run_blocks(const Leaf& leaf,
                                                                              std::size_t length,
                                                                              std::size_t grain,
                                                                              call_site where) {
    return run_parts_of(leaf, length, grain == 0 ? static_schedule() : lockstep::grain(grain),
                        where);
  }
  template <class Leaf>
  bool run_parts(const Leaf& leaf, std::size_t length, schedule how, call_site where) {
    if (how.kind() == schedule_kind::static_blocks) {
      return run_blocks(leaf, length, how.chunk(), where);
    }
    return run_parts_of(leaf, length, how, where);
  }
  template <class Leaf>
  bool run_parts_of(const Leaf& leaf, std::size_t length, schedule how, call_site where) {
    const lone_outcome alone = run_alone(leaf, length, grain_of(how), how);
    if (alone != lone_outcome::refused) return alone == lone_outcome::complete;
    return run_scheduled(body_of(leaf), length, how, where, &hint_of<Leaf>::at);
  }
  LOCKSTEP_NOINLINE bool run_scheduled(const range_body& body, std::size_t length, schedule how,
                                       call_site where, lone_hint* hint) {
    const bool is_blocks = how.kind() == schedule_kind::static_blocks;
    job work;
    work.carry<loop_share>(scheduled_parts{length, how, &body});
    return team().run_loop(
        {length, place_of(body.call), grain_of(how), is_blocks, false, where, hint}, work,
        no_ends());
  }
  /// Where the loop needs nobody else: by its place's hint, or by its grain. `how`: none, or the schedule.
  template <class Leaf, class... How>
  lone_outcome run_alone(const Leaf& leaf, std::size_t length, std::size_t grain, How... how) {
    const lone_team of = team().alone();
    const bool needs_nobody =
        team().size() == 1 ||
        (grain == 0 ? hint_of<Leaf>::at.allows(of.number(), length) : length / 2 < grain);
    return needs_nobody ? lone_call::attempt(of, body_of(leaf), length, how...)
                        : lone_outcome::refused;
  }
  bool run_by_weights(const range_body& body, std::size_t length, weighted_schedule& how,
                      call_site where) {
    job work;
    work.carry<loop_share>(weighted_parts{length, &how, &body, run_weighted});
    return team().run_loop({team().size(), nullptr, 0, false, true, where}, work, no_ends());
  }

  template <class Type, class Values, class Operation>
  LOCKSTEP_ALWAYS_INLINE Type reduce(const Values& values, bool in_strips, std::size_t length,
                                     Type&& init, Operation& op, schedule how, call_site where) {
    reductions::check_types<Type, typename Values::value, Operation>();
    if (length == 0) return std::move(init);
    reductions::result_of<Type> result;
    const std::size_t grain = grain_of(how);
    const reductions::operations& what =
        reductions::operations_for<Type, Operation>(values, in_strips);
    if (!run_reduction(what, values, length, grain, result.room(), where)) {
      leave_stopped_region();
      return std::move(init);
    }
    Type& whole =
        result.value_left();  // before init moves, which may throw: now it is destroyed then
    return op(std::move(init), std::move(whole));
  }
  template <class Type, class Values, class Operation>
  LOCKSTEP_ALWAYS_INLINE Type reduce_by_share(const Values& values, bool in_strips,
                                              std::size_t length, Type&& init, Operation& op,
                                              schedule how, call_site where) {
    reductions::check_types<Type, typename Values::value, Operation>();
    reductions::share_reduction<Type, Operation> whole(
        reductions::operations_for<Type, Operation>(values, in_strips), values, length, how,
        std::move(init), op);
    job work;
    work.carry<loop_share>(whole.work());
    const std::size_t grain = grain_of(how);
    const loop_request request(length, nullptr, grain, false, grain == 0, where);
    if (!team().run_loop(request, work, whole.ends())) leave_stopped_region();
    return whole.take();
  }
  /// False if it was stopped.
  LOCKSTEP_NOINLINE bool run_reduction(const reductions::operations& what,
                                       const reductions::operands& of, std::size_t length,
                                       std::size_t grain, void* result, call_site where) {
    reductions::range_reduction whole(what, of, length, result);
    job work;
    work.carry<loop_share>(whole.work());
    return team().run_loop({length, place_of(what.fold), grain, true, false, where}, work,
                           whole.ends()) &&
           whole.has_result();
  }
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_TEAM_LOOPS_HPP
