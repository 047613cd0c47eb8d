// SPDX-License-Identifier: MIT
// lockstep/team/one_liners.hpp -- a region with one loop in it (layer: team)
//
// Part of team's and external_team's interface; those that return bool return false if the region was
// stopped. Each costs an empty region and the work: the join is the only wait. Called from inside a region of
// the same team they run on the caller alone.
//
//   O1  A loop does not wait for a member that has not begun: the shares of those that sleep, or have no CPU, are
//       run by the caller, in a crowd by every member that is done with its own. Members that come in time
//       run the same share every time. Not so parallel_scan, nor parallel_reduce with a schedule of
//       chunks: these have steps in which all members meet.
//   O2  Which thread runs an iteration is not said. Iterations of different shares may wait for each other: every
//       member is woken, and comes in the end.
//   O3  Where the loop is stopped, shares that have not begun are left out. Of several exceptions that of the lowest
//       share is thrown.
#ifndef LOCKSTEP_TEAM_ONE_LINERS_HPP
#define LOCKSTEP_TEAM_ONE_LINERS_HPP

#include <cstddef>
#include <type_traits>
#include <utility>

#include "fork_board.hpp"
#include "member.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {

/// The loop of a region by itself, small enough to travel with it (job.hpp): with a closure inside where
/// that may be copied and is small, else with a reference to the function.
template <class Index, class Function>
struct loop_of_blocks final : made_to_travel {
  template <class Given>
  loop_of_blocks(const index_span<Index>& over, Given& of) noexcept : span(over), f(of) {}

  index_span<Index> span;
  Function f;

  void operator()(member& me) const { loops::for_each(me.at(), span, static_schedule(), f); }
};

/// Whether a Function is copied into its loop.
template <class Index, class Function, bool MayBeCopied = may_be_copied<Function>::value>
struct travels_in_loop : std::false_type {};
template <class Index, class Function>
struct travels_in_loop<Index, Function, true> {
  using copied = typename std::remove_const<Function>::type;
  static constexpr bool value = is_callable<const copied&, Index&>::value &&
                                sizeof(Function) <= 24 &&
                                job::travels_as<loop_of_blocks<Index, copied>>();
};

/// Team: has run_then(members, f, finish) and size().
template <class Team>
class one_liners {
 public:
  /// Calls f(i) for every i of [first, last), in contiguous blocks by rank.
  template <class First, class Last, class Function>
  if_bounds<First, Last> parallel_for(First first, Last last, Function&& f) {
    using function = typename std::remove_reference<Function>::type;
    using index = index_between<First, Last>;
    using held =
        typename std::conditional<travels_in_loop<index, function>::value,
                                  typename std::remove_const<function>::type, function&>::type;
    return share(loop_of_blocks<index, held>(span_of(first, last), f));
  }
  template <class First, class Last, class Function>
  if_bounds<First, Last> parallel_for(First first, Last last, Function&& f, schedule how) {
    const auto span = span_of(first, last);
    return share([&](member& me) { loops::for_each(me.at(), span, how, f); });
  }
  /// With blocks by what was measured in the runs before: weighted_schedule.hpp.
  template <class First, class Last, class Function>
  if_bounds<First, Last> parallel_for(First first, Last last, Function&& f,
                                      weighted_schedule& how) {
    const auto span = span_of(first, last);
    return share([&](member& me) {
      how.run_block(me.at().region(), index_range{0, span.length}, me.rank(), me.size(),
                    each_index(span, f));
    });
  }

  /// Calls f(i, j) for every pair, and f(i, j, k) for every triple, as one range; the last index moves fastest.
  template <class Function>
  bool parallel_for_2d(index_range rows, index_range columns, Function&& f,
                       schedule how = static_schedule()) {
    return share(
        [&](member& me) { loops::for_each_nested(me.at(), index_range_2{rows, columns}, how, f); });
  }
  template <class Function>
  bool parallel_for_3d(index_range planes, index_range rows, index_range columns, Function&& f,
                       schedule how = static_schedule()) {
    return share([&](member& me) {
      loops::for_each_nested(me.at(), index_range_3{planes, rows, columns}, how, f);
    });
  }

  /// op(init, all f(i)): see member::reduce_each. The same bits for every team size, schedule and run. If the
  /// region is stopped there is no result: throws region_stopped (without exceptions: init).
  /// T needs to be movable only.
  template <class T, class First, class Last, class Function, class Op>
  if_bounds<First, Last, T> parallel_reduce(First first, Last last, T init, Function&& f, Op op) {
    const auto span = span_of(first, last);
    const auto by = by_offset(span, f);
    reductions::check_types<T, reductions::value_of<decltype(by)>, Op>();
    reductions::outcome<T> out(std::move(init));
    const index_range range = all_of(span);
    if (range.last == 0) return out.take();
    // Five words: it travels in the job.
    const auto region = [range, &by, &op, &out](member& me) {
      reductions::run_range<T>(me.at(), range, by, op, static_schedule(), out);
    };
    return reduce_then(out, region, [&](group& shared, const region_head& head) {
      reductions::finish_range<T>(shared, head.size, head.phase, range, static_schedule(), op, out);
    });
  }
  template <class T, class First, class Last, class Function, class Op>
  if_bounds<First, Last, T> parallel_reduce(First first, Last last, T init, Function&& f, Op op,
                                            schedule how) {
    const auto span = span_of(first, last);
    const auto by = by_offset(span, f);
    reductions::check_types<T, reductions::value_of<decltype(by)>, Op>();
    reductions::outcome<T> out(std::move(init));
    const index_range range = all_of(span);
    if (range.last == 0) return out.take();
    const auto region = [&](member& me) {
      reductions::run_range<T>(me.at(), range, by, op, how, out);
    };
    return reduce_then(
        out, region,
        [&](group& shared, const region_head& head) {
          reductions::finish_range<T>(shared, head.size, head.phase, range, how, op, out);
        },
        how.kind() == schedule_kind::static_blocks ? region_kind::loop : region_kind::run);
  }
  /// Faster by a little; the last bits differ from one team size to another. Requires of op what
  /// member::reduce_range(fast, ...) does.
  template <class T, class First, class Last, class Function, class Op>
  if_bounds<First, Last, T> parallel_reduce(fast_t, First first, Last last, T init, Function&& f,
                                            Op op, schedule how = static_schedule()) {
    const auto span = span_of(first, last);
    const auto by = by_offset(span, f);
    reductions::check_types<T, reductions::value_of<decltype(by)>, Op>();
    reductions::outcome<T> out(std::move(init));
    const auto region = [&](member& me) {
      reductions::run_fast<T>(me.at(), all_of(span), by, op, how, out);
    };
    return reduce_then(out, region, [&](group& shared, const region_head& head) {
      reductions::finish_fast<T>(shared, head.size, head.phase, op, out);
    });
  }

  /// Calls each of the functions once, on whoever comes.
  template <class... Functions>
  bool parallel_invoke(Functions&&... functions) {
    const std::size_t wanted = sizeof...(Functions);
    return team().run_then(
        wanted < team().size() ? wanted : team().size(),
        [&](member& me) { loops::first_come_each(me.at(), functions...); }, nothing(),
        region_kind::loop);
  }
  bool parallel_invoke() noexcept { return true; }

  /// store(i, op(init, f(first), ..., f(i))) for every i: an inclusive scan. Returns op(init, all f(i)). f is
  /// called twice for each i. The same bits for every team size and run; not those of a left fold (scans.hpp).
  template <class T, class First, class Last, class Function, class Op, class Store>
  if_bounds<First, Last, T> parallel_scan(First first, Last last, T init, Function&& f, Op op,
                                          Store&& store) {
    reductions::outcome<T> out(std::move(init));
    const auto region = [&](member& me) {
      T whole(me.scan_each(first, last, out.init, f, op, store));
      if (me.rank() == 0) out.result.set(std::move(whole));
    };
    return reduce_then(out, region, nothing(), region_kind::run);
  }

 protected:
  /// For run_then(), where nothing is left to do after the join.
  struct nothing {
    void operator()(group&, const region_head&) const noexcept {}
  };

 private:
  Team& team() noexcept { return static_cast<Team&>(*this); }

  /// Shares that wait for nobody.
  template <class Function>
  bool share(Function&& f) {
    return team().run_then(team().size(), f, nothing(), region_kind::loop);
  }

  /// A region that leaves its result in `out`, at the latest by finish().
  template <class T, class Region, class Finish>
  T reduce_then(reductions::outcome<T>& out, const Region& region, Finish finish,
                region_kind kind = region_kind::loop) {
    if (!team().run_then(team().size(), region, finish, kind)) leave_stopped_region();
    return out.take();
  }
};

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_TEAM_ONE_LINERS_HPP
