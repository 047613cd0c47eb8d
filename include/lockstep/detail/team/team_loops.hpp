// SPDX-License-Identifier: MIT
// lockstep/detail/team/team_loops.hpp -- a region that is one loop: behind the loops of team.hpp, TEAMLOOP-1 to TEAMLOOP-4 (layer: team)
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

#include <lockstep/detail/loop/lone_hint.hpp>
#include <lockstep/detail/loop/loop_share.hpp>
#include <lockstep/detail/reduce/team_reductions.hpp>
#include <lockstep/detail/region/job.hpp>
#include <lockstep/detail/team/team_host.hpp>
#include <lockstep/member.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// What the job of a loop carries: one block for each share, and a leaf that travels with it.
index_range block_of_loop(const loop_share& me, std::size_t length) noexcept;
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
/// What the functions of a team are made of.
class team_loops {
 public:
  explicit team_loops(team_host& on) noexcept : on_(on) {}

  /// f(i), or f(first, last), of a leaf. `how`: none, or the schedule.
  template <class Leaf>
  bool run(const Leaf& leaf, std::size_t length, call_site where) const {
    return run_blocks(leaf, length, 0, where);
  }
  template <class Leaf>
  bool run(const Leaf& leaf, std::size_t length, schedule how, call_site where) const {
    if (how.kind() == schedule_kind::static_blocks) {
      return run_blocks(leaf, length, how.chunk(), where);
    }
    return run_parts(leaf, length, how, where);
  }
  /// Leaf: outlives the loop.
  template <class Leaf>
  bool run(const Leaf& leaf, std::size_t length, weighted_schedule& how, call_site where) const {
    return run_by_weights(body_of(leaf), length, how, where);
  }
  template <class... Functions>
  bool invoke(Functions&... functions) const {
    const auto each = [&](std::size_t first, std::size_t last) {
      for (std::size_t k = first; k < last; ++k) loops::call_one(k, functions...);
    };
    return run_scheduled(body_of(each), sizeof...(Functions), dynamic_schedule(), call_site::none(),
                         nullptr);
  }

  /// op(init, the tree over the values).
  template <class Type, class Values, class Operation>
  LOCKSTEP_ALWAYS_INLINE Type reduce(const Values& values, bool in_strips, std::size_t length,
                                     Type&& init, Operation& op, schedule how,
                                     call_site where) const {
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
  /// One value for each share.
  template <class Type, class Values, class Operation>
  LOCKSTEP_ALWAYS_INLINE Type reduce_by_share(const Values& values, bool in_strips,
                                              std::size_t length, Type&& init, Operation& op,
                                              schedule how, call_site where) const {
    reductions::check_types<Type, typename Values::value, Operation>();
    reductions::share_reduction<Type, Operation> whole(
        reductions::operations_for<Type, Operation>(values, in_strips), values, length, how,
        std::move(init), op);
    job work;
    work.carry<loop_share>(whole.work());
    const std::size_t grain = grain_of(how);
    const loop_request request(length, nullptr, grain, false, grain == 0, where);
    if (!on_.run_loop(request, work, whole.ends())) leave_stopped_region();
    return whole.take();
  }
  /// By, Store: f(i) and store(i, value) by the offset of i.
  template <class Type, class By, class Operation, class Store>
  Type scan(const By& by, std::size_t length, Type&& init, Operation& op, const Store& store,
            schedule how, call_site where) const {
    reductions::check_types<Type, decltype(by(std::size_t())), Operation>();
    if (length == 0) return std::move(init);
    reductions::range_scan<Type, By, Operation, Store> whole(std::move(init), length, by, op,
                                                             store);
    const std::size_t grain = grain_of(how);
    job work;
    work.carry<loop_share>(whole.first());
    bool goes_on =
        on_.run_loop({length, work.place(), grain, true, false, where}, work, whole.ends());
    if (goes_on && whole.has_more()) {
      work.carry<loop_share>(whole.second());
      goes_on = on_.run_loop({length, work.place(), grain, true, false, where}, work, no_ends());
    }
    if (!goes_on) leave_stopped_region();
    return whole.take();
  }

 private:
  /// The fewest iterations of a share, where the schedule says so; else 0.
  static std::size_t grain_of(schedule how) noexcept {
    return how.kind() == schedule_kind::static_blocks ? how.chunk() : 0;
  }
  static constexpr loop_ends no_ends() noexcept { return {nullptr, nullptr, nullptr}; }

  /// A leaf that travels with the loop, or a reference to it.
  template <class Leaf>
  typename std::enable_if<carried_blocks<Leaf>::fits, bool>::type run_blocks(
      const Leaf& leaf, std::size_t length, std::size_t grain, call_site where) const {
    const lone_outcome alone = run_alone(leaf, length, grain);
    if (alone != lone_outcome::refused) return alone == lone_outcome::complete;
    job work;
    work.carry<loop_share>(carried_blocks<Leaf>{length, leaf});
    return on_.run_loop({length, work.place(), grain, true, false, where, &hint_of<Leaf>::at}, work,
                        no_ends());
  }
  template <class Leaf>
  typename std::enable_if<!carried_blocks<Leaf>::fits, bool>::type run_blocks(
      const Leaf& leaf, std::size_t length, std::size_t grain, call_site where) const {
    return run_parts(leaf, length, grain == 0 ? static_schedule() : lockstep::grain(grain), where);
  }
  template <class Leaf>
  bool run_parts(const Leaf& leaf, std::size_t length, schedule how, call_site where) const {
    const lone_outcome alone = run_alone(leaf, length, grain_of(how), how);
    if (alone != lone_outcome::refused) return alone == lone_outcome::complete;
    return run_scheduled(body_of(leaf), length, how, where, &hint_of<Leaf>::at);
  }
  bool run_scheduled(const range_body& body, std::size_t length, schedule how, call_site where,
                     lone_hint* hint) const;
  bool run_by_weights(const range_body& body, std::size_t length, weighted_schedule& how,
                      call_site where) const;
  /// Where the loop needs nobody else: by its place's hint, or by its grain. `how`: none, or the schedule.
  template <class Leaf, class... How>
  lone_outcome run_alone(const Leaf& leaf, std::size_t length, std::size_t grain,
                         How... how) const {
    const bool needs_nobody =
        on_.size() == 1 ||
        (grain == 0 ? hint_of<Leaf>::at.allows(on_.number(), length) : length / 2 < grain);
    return needs_nobody ? on_.run_lone_loop(body_of(leaf), length, how...) : lone_outcome::refused;
  }
  /// False if it was stopped.
  bool run_reduction(const reductions::operations& what, const reductions::operands& of,
                     std::size_t length, std::size_t grain, void* result, call_site where) const;

  team_host& on_;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_TEAM_LOOPS_HPP
