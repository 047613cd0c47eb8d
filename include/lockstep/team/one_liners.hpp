// SPDX-License-Identifier: MIT
// lockstep/team/one_liners.hpp -- a region with one loop in it (layer: team)
//
// Part of team's and external_team's interface; those that return bool return false if the region was
// stopped. Each costs an empty region and the work: the join is the only
// wait. Called from inside a region of the same team they run on the caller alone.
#ifndef LOCKSTEP_TEAM_ONE_LINERS_HPP
#define LOCKSTEP_TEAM_ONE_LINERS_HPP

#include <cstddef>
#include <type_traits>
#include <utility>

#include "fork_board.hpp"
#include "member.hpp"

namespace lockstep {

/// The loop of a region by itself, small enough to travel with it (job.hpp): with the function inside where
/// that is small and trivially copyable, else with a reference to it.
template <class Function>
struct loop_of_blocks {
  Function f;
  std::size_t first, last;

  void operator()(member& me) const {
    me.for_range(first, last, [this](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) f(i);
    });
  }
};

/// Whether a Function is copied into its loop: an object that is small, trivially copyable, and callable
/// while const.
template <class Function, bool IsClass = std::is_class<Function>::value>
struct travels_in_loop : std::false_type {};
template <class Function>
struct travels_in_loop<Function, true> {
  template <class F>
  static auto test(int)
      -> decltype(std::declval<const F&>()(std::declval<std::size_t>()), std::true_type());
  template <class F>
  static std::false_type test(...);
  static constexpr bool value = decltype(test<Function>(0))::value && sizeof(Function) <= 24 &&
                                std::is_trivially_copyable<Function>::value &&
                                job::travels_as<loop_of_blocks<Function>>();
};

/// Team: has run_then(members, f, finish) and size().
template <class Team>
class one_liners {
 public:
  /// Calls f(i) for every i of [first, last), in contiguous blocks by rank.
  template <class Function>
  bool parallel_for(std::size_t first, std::size_t last, Function&& f) {
    using function = typename std::remove_reference<Function>::type;
    using held =
        typename std::conditional<travels_in_loop<function>::value,
                                  typename std::remove_const<function>::type, function&>::type;
    return run_all(loop_of_blocks<held>{f, first, last});
  }
  template <class Function>
  bool parallel_for(std::size_t first, std::size_t last, Function&& f, schedule how) {
    return run_all([&](member& me) { me.for_each(nowait, first, last, f, how); });
  }
  /// With blocks by what was measured in the runs before: weighted_schedule.hpp.
  template <class Function>
  bool parallel_for(std::size_t first, std::size_t last, Function&& f, weighted_schedule& how) {
    return run_all([&](member& me) {
      how.run_block(me.at().region(), index_range{first, last}, me.rank(), me.size(),
                    [&](std::size_t begin, std::size_t end) {
                      for (std::size_t i = begin; i < end; ++i) f(i);
                    });
    });
  }

  /// Calls f(i, j) for every pair, and f(i, j, k) for every triple, as one range; the last index moves fastest.
  template <class Function>
  bool parallel_for_2d(index_range rows, index_range columns, Function&& f,
                       schedule how = static_schedule()) {
    return run_all([&](member& me) { me.for_each(nowait, index_range_2{rows, columns}, f, how); });
  }
  template <class Function>
  bool parallel_for_3d(index_range planes, index_range rows, index_range columns, Function&& f,
                       schedule how = static_schedule()) {
    return run_all(
        [&](member& me) { me.for_each(nowait, index_range_3{planes, rows, columns}, f, how); });
  }

  /// op(init, all f(i)): see member::reduce_each. The same bits for every team size, schedule and run. If the
  /// region is stopped there is no result: throws region_stopped (without exceptions: init).
  /// T needs to be movable only.
  template <class T, class Function, class Op>
  T parallel_reduce(std::size_t first, std::size_t last, T init, Function&& f, Op op) {
    reductions::check_types<T, reductions::value_of<Function>, Op>();
    reductions::outcome<T> out(std::move(init));
    if (length_of(index_range{first, last}) == 0) return out.take();
    // Five words: it travels in the job.
    const auto region = [first, last, &f, &op, &out](member& me) {
      reductions::run_range<T>(me.at(), index_range{first, last}, f, op, static_schedule(), out);
    };
    return reduce_then(out, region, [&](group& shared, const region_head& head) {
      reductions::finish_range<T>(shared, head.size, head.phase, index_range{first, last},
                                  static_schedule(), op, out);
    });
  }
  template <class T, class Function, class Op>
  T parallel_reduce(std::size_t first, std::size_t last, T init, Function&& f, Op op,
                    schedule how) {
    reductions::check_types<T, reductions::value_of<Function>, Op>();
    reductions::outcome<T> out(std::move(init));
    if (length_of(index_range{first, last}) == 0) return out.take();
    const auto region = [&](member& me) {
      reductions::run_range<T>(me.at(), index_range{first, last}, f, op, how, out);
    };
    return reduce_then(out, region, [&](group& shared, const region_head& head) {
      reductions::finish_range<T>(shared, head.size, head.phase, index_range{first, last}, how, op,
                                  out);
    });
  }
  /// Faster by a little; the last bits differ from one team size to another. Requires of op what
  /// member::reduce_range(fast, ...) does.
  template <class T, class Function, class Op>
  T parallel_reduce(fast_t, std::size_t first, std::size_t last, T init, Function&& f, Op op,
                    schedule how = static_schedule()) {
    reductions::check_types<T, reductions::value_of<Function>, Op>();
    reductions::outcome<T> out(std::move(init));
    const auto region = [&](member& me) {
      reductions::run_fast<T>(me.at(), index_range{first, last}, f, op, how, out);
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
        [&](member& me) { me.sections(nowait, functions...); }, nothing());
  }

  /// store(i, op(init, f(first), ..., f(i))) for every i: an inclusive scan. Returns op(init, all f(i)). f is called twice
  /// for each i. The same bits for every team size and run; not those of a left fold (scans.hpp).
  template <class T, class Function, class Op, class Store>
  T parallel_scan(std::size_t first, std::size_t last, T init, Function&& f, Op op, Store&& store) {
    reductions::check_types<T, reductions::value_of<Function>, Op>();
    reductions::outcome<T> out(std::move(init));
    const auto region = [&](member& me) {
      T whole(me.scan_each(first, last, out.init, f, op, store));
      if (me.rank() == 0) out.result.set(std::move(whole));
    };
    return reduce_then(out, region, nothing());
  }

 protected:
  /// For run_then(), where nothing is left to do after the join.
  struct nothing {
    void operator()(group&, const region_head&) const noexcept {}
  };

 private:
  Team& team() noexcept { return static_cast<Team&>(*this); }

  template <class Function>
  bool run_all(Function&& f) {
    return team().run_then(team().size(), f, nothing());
  }

  /// A region that leaves its result in `out`, at the latest by finish().
  template <class T, class Region, class Finish>
  T reduce_then(reductions::outcome<T>& out, const Region& region, Finish finish) {
    if (!team().run_then(team().size(), region, finish)) leave_stopped_region();
    return out.take();
  }
};

}  // namespace lockstep

#endif  // LOCKSTEP_TEAM_ONE_LINERS_HPP
