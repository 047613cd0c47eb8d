// SPDX-License-Identifier: MIT
// lockstep/detail/loop/loop_place.hpp -- what the library knows of a team's loop at one place of a program (layer: loop)
//
// One object for each type of leaf (leaf_loop.hpp) and module. It has the functions that were compiled for the leaf,
// and what was learned of its loops.
#ifndef LOCKSTEP_DETAIL_LOOP_LOOP_PLACE_HPP
#define LOCKSTEP_DETAIL_LOOP_LOOP_PLACE_HPP

#include <cstddef>
#include <type_traits>

#include <lockstep/detail/loop/leaf_loop.hpp>
#include <lockstep/detail/loop/place_pace.hpp>
#include <lockstep/detail/region/job.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// A loop: the number of iterations, and the leaf that calls the user's function.
template <class Leaf>
struct sized_leaf {
  std::size_t length;
  Leaf leaf;

  static void call(const void* self, std::size_t first, std::size_t last) {
    static_cast<const sized_leaf*>(self)->leaf(first, last);
  }
};

/// The part of [0, length) that a share does.
index_range block_of_share(const loop_share& me, std::size_t length) noexcept;

/// A sized_leaf that travels with the loop, and does one block for each share.
template <class Loop>
struct carried_loop {
  static constexpr bool fits = sizeof(Loop) <= job::closure_size &&
                               alignof(Loop) <= alignof(void*) &&
                               std::is_trivially_copy_constructible<Loop>::value &&
                               std::is_trivially_destructible<Loop>::value;

  static void call(const job& self, loop_share& me) {
    const Loop& own = *static_cast<const Loop*>(self.carried());
    const index_range mine = block_of_share(me, own.length);
    if (mine.first < mine.last) Loop::call(&own, mine.first, mine.last);
  }
};

/// The grain of a schedule; 0 where none was given.
constexpr std::size_t grain_of(schedule how) noexcept {
  return how.kind() == schedule_kind::static_blocks ? how.chunk() : 0;
}

/// How a loop ended that was to run alone. Refused: nothing was run.
enum class lone_outcome { refused, complete, stopped };

struct loop_place {
  void (*call)(const void* loop, std::size_t first, std::size_t last);
  job::caller<loop_share> carried;  ///< null: the loop is called where it is
  std::size_t size;                 ///< bytes that travel
  place_pace pace;

  constexpr loop_place(decltype(call) of, job::caller<loop_share> of_copy, std::size_t bytes)
      : call(of), carried(of_copy), size(bytes) {}
};

template <class Leaf>
struct LOCKSTEP_MODULE_LOCAL loop_place_of {
  using loop = sized_leaf<Leaf>;
  static loop_place at;
};
template <class Leaf>
loop_place loop_place_of<Leaf>::at(loop_place_of<Leaf>::loop::call,
                                   carried_loop<typename loop_place_of<Leaf>::loop>::fits
                                       ? carried_loop<typename loop_place_of<Leaf>::loop>::call
                                       : nullptr,
                                   sizeof(typename loop_place_of<Leaf>::loop));

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_LOOP_LOOP_PLACE_HPP
