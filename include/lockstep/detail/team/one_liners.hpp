// SPDX-License-Identifier: MIT
// lockstep/detail/team/one_liners.hpp -- a region with one loop in it (layer: team)
//
// Part of team's and external_team's interface; those that return bool return false if the region was
// stopped. Called from inside a region of the same team they run on the caller alone.
//
//   O1  A loop does not wait for a member that has not begun: its share is run by others (loop_crew.hpp). Members that
//       come in time run the same share every time.
//   O2  Which thread runs an iteration is not said, nor on how many members a loop runs: where it costs more than it
//       gains, on the caller alone (loop_costs.hpp). So iterations must not wait for each other; run() is for that.
//   O3  Where the loop is stopped, parts that have not begun are left out. Of several exceptions that of the lowest
//       part is thrown.
//   O4  What a closure's iteration costs is learned by its type: each place in the program with a lambda of its own is
//       known by itself. grain() says by hand how much a member should get at least.
//
// Cost   on the caller alone: about 20 ns. With members that are awake: an empty region, a claim by each (6 ns), the
//        work. The join is the only wait.
#ifndef LOCKSTEP_DETAIL_TEAM_ONE_LINERS_HPP
#define LOCKSTEP_DETAIL_TEAM_ONE_LINERS_HPP

#include <cstddef>
#include <type_traits>
#include <utility>

#include "../../member.hpp"
#include "job.hpp"
#include "loop_crew.hpp"
#include "loop_reductions.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// The loop of a region by itself, small enough to travel with it (job.hpp): with a closure inside where
/// that may be copied and is small, else with a reference to the function.
template <class Index, class Function>
struct loop_of_blocks final : made_to_travel {
  template <class Given>
  loop_of_blocks(const index_span<Index>& over, Given& of) noexcept : span(over), f(of) {}

  index_span<Index> span;
  Function f;

  void operator()(loop_share& me) const {
    const index_range mine = me.block_of(all_of(span));
    if (mine.first < mine.last) each_index(span, f)(mine.first, mine.last);
  }
};

/// Whether a Function is copied into its loop.
template <class Index, class Function, bool MayBeCopied = may_be_copied<Function>::value>
struct travels_in_loop : std::false_type {};
template <class Index, class Function>
struct travels_in_loop<Index, Function, true> {
  using copied = typename std::remove_const<Function>::type;
  static constexpr bool value = is_callable<const copied&, Index&>::value &&
                                sizeof(Function) <= 24 &&
                                job::travels_as<loop_of_blocks<Index, copied>, loop_share>();
};

/// Team: has run_loop(request, f, prepare, finish) and size().
template <class Team>
class one_liners {
 public:
  /// Calls f(i) for every i of [first, last), in contiguous blocks by rank.
  template <class First, class Last, class Function>
  if_bounds<First, Last> parallel_for(First first, Last last, Function&& f) {
    return blocks(span_of(first, last), f, 0);
  }
  template <class First, class Last, class Function>
  if_bounds<First, Last> parallel_for(First first, Last last, Function&& f, schedule how) {
    const auto span = span_of(first, last);
    if (how.kind() == schedule_kind::static_blocks) return blocks(span, f, how.chunk());
    return share<Function>(span.length, how, [&](loop_share& me) {
      loops::hand_out(me, all_of(span), how, each_index(span, f));
    });
  }
  /// With blocks by what was measured in the runs before: weighted_schedule.hpp. On all members.
  template <class First, class Last, class Function>
  if_bounds<First, Last> parallel_for(First first, Last last, Function&& f,
                                      weighted_schedule& how) {
    const auto span = span_of(first, last);
    const auto each = [&](loop_share& me) {
      how.run_block(me.region(), all_of(span), me.rank(), me.size(), each_index(span, f));
    };
    return team().run_loop({team().size(), nullptr, 0, false, true}, each, nothing(), nothing());
  }

  /// Calls f(i, j) for every pair, and f(i, j, k) for every triple, as one range; the last index moves fastest.
  template <class Function>
  bool parallel_for_2d(index_range rows, index_range columns, Function&& f,
                       schedule how = static_schedule()) {
    return nested(index_range_2{rows, columns}, f, how);
  }
  template <class Function>
  bool parallel_for_3d(index_range planes, index_range rows, index_range columns, Function&& f,
                       schedule how = static_schedule()) {
    return nested(index_range_3{planes, rows, columns}, f, how);
  }

  /// op(init, all f(i)): see member::reduce_each. The same bits for every team size, schedule and run. If the
  /// region is stopped there is no result: throws region_stopped (without exceptions: init).
  /// T needs to be movable only. Of the schedule, only a grain has a meaning: the values come from a tree of blocks.
  template <class T, class First, class Last, class Function, class Op>
  if_bounds<First, Last, T> parallel_reduce(First first, Last last, T init, Function&& f, Op op,
                                            schedule how = static_schedule()) {
    const auto span = span_of(first, last);
    const auto by = by_offset(span, f);
    reductions::check_types<T, reductions::value_of<decltype(by)>, Op>();
    if (span.length == 0) return init;
    using reduction = reductions::range_reduction<T, typename std::decay<decltype(by)>::type, Op>;
    reduction whole(std::move(init), by, op);
    const typename reduction::loop loop(whole);
    const std::size_t grain = how.kind() == schedule_kind::static_blocks ? how.chunk() : 0;
    const bool goes_on = team().run_loop(
        request_for<reduction>(span.length, grain, true), loop,
        [&](const loop_plan& plan, loop_cells& cells) { whole.prepare(plan, cells); },
        [&](const loop_plan& plan, const loop_values& values) { whole.finish(plan, values); });
    if (!goes_on) leave_stopped_region();
    return whole.take();
  }
  /// Faster by a little; the last bits differ from one team size to another. Requires of op what
  /// member::reduce_range(fast, ...) does. On all members.
  template <class T, class First, class Last, class Function, class Op>
  if_bounds<First, Last, T> parallel_reduce(fast_t, First first, Last last, T init, Function&& f,
                                            Op op, schedule how = static_schedule()) {
    const auto span = span_of(first, last);
    const auto by = by_offset(span, f);
    reductions::check_types<T, reductions::value_of<decltype(by)>, Op>();
    const auto each = [&](loop_share& me, maybe<T>& sum) {
      reductions::fold_each<T>(me, all_of(span), by, op, how, sum);
    };
    reductions::share_reduction<T, decltype(each), Op> whole(std::move(init), each, op);
    const bool goes_on = team().run_loop(
        {span.length, nullptr, 0, false, true}, whole,
        [&](const loop_plan& plan, loop_cells& cells) { whole.prepare(plan, cells); },
        [&](const loop_plan& plan, const loop_values&) { whole.finish(plan); });
    if (!goes_on) leave_stopped_region();
    return whole.take();
  }

  /// Calls each of the functions once, on whoever comes.
  template <class... Functions>
  bool parallel_invoke(Functions&&... functions) {
    const auto each = [&](loop_share& me) { loops::first_come_each(me, functions...); };
    return share<decltype(each)>(sizeof...(Functions), dynamic_schedule(), each);
  }
  bool parallel_invoke() noexcept { return true; }

  /// store(i, op(init, f(first), ..., f(i))) for every i: an inclusive scan. Returns op(init, all f(i)). f is
  /// called twice for each i. The same bits for every team size and run; not those of a left fold (scans.hpp).
  /// Two loops; allocates room for 1024 values.
  template <class T, class First, class Last, class Function, class Op, class Store>
  if_bounds<First, Last, T> parallel_scan(First first, Last last, T init, Function&& f, Op op,
                                          Store&& store) {
    const auto span = span_of(first, last);
    const auto by = by_offset(span, f);
    const auto to = store_by_offset(span, store);
    reductions::check_types<T, reductions::value_of<decltype(by)>, Op>();
    if (span.length == 0) return init;
    using scan = reductions::range_scan<T, typename std::decay<decltype(by)>::type, Op,
                                        typename std::decay<decltype(to)>::type>;
    scan whole(std::move(init), by, op, to);
    bool has_more = false;
    auto sums = whole.first();
    bool goes_on = team().run_loop(
        request_for<decltype(sums)>(span.length, 0, true), sums,
        [&](const loop_plan& plan, loop_cells& cells) { whole.prepare(plan, cells); },
        [&](const loop_plan& plan, const loop_values&) { has_more = whole.hand_on(plan); });
    if (goes_on && has_more) {
      auto stores = whole.second();
      goes_on = team().run_loop(request_for<decltype(stores)>(span.length, 0, true), stores,
                                nothing(), nothing());
    }
    if (!goes_on) leave_stopped_region();
    return whole.take();
  }

 private:
  /// Where nothing is left to do before or after a loop.
  struct nothing {
    void operator()(const loop_plan&, loop_cells&) const noexcept {}
    void operator()(const loop_plan&, const loop_values&) const noexcept {}
  };

  Team& team() noexcept { return static_cast<Team&>(*this); }

  template <class Place>
  static loop_request request_for(std::size_t iterations, std::size_t grain,
                                  bool can_split) noexcept {
    return {iterations, &type_number<Place>::here, grain, can_split, false};
  }

  template <class Index, class Function>
  bool blocks(const index_span<Index>& span, Function& f, std::size_t grain) {
    using held =
        typename std::conditional<travels_in_loop<Index, Function>::value,
                                  typename std::remove_const<Function>::type, Function&>::type;
    loop_of_blocks<Index, held> loop(span, f);
    return team().run_loop(request_for<Function>(span.length, grain, true), loop, nothing(),
                           nothing());
  }
  /// Place: what is known by itself.
  template <class Place, class Loop>
  bool share(std::size_t iterations, schedule how, const Loop& loop) {
    const bool is_blocks = how.kind() == schedule_kind::static_blocks;
    return team().run_loop(request_for<Place>(iterations, is_blocks ? how.chunk() : 0, is_blocks),
                           loop, nothing(), nothing());
  }
  template <class Ranges, class Function>
  bool nested(const Ranges& ranges, Function& f, schedule how) {
    return share<Function>(iterations_of(ranges), how, [&](loop_share& me) {
      loops::hand_out(me, index_range{0, iterations_of(ranges)}, how,
                      loops::part_of_nested<Ranges, Function>{ranges, f});
    });
  }
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_ONE_LINERS_HPP
