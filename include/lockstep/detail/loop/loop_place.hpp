// SPDX-License-Identifier: MIT
// lockstep/detail/loop/loop_place.hpp -- what the library knows of a team's loop at one place of a program (layer: loop)
//
// One object for each type of leaf (leaf_loop.hpp) and module. It has the functions that were compiled for the leaf, and
// what was learned of its loops. Its address is the place: loop_costs.hpp.
//
//   bits of a hint  meaning
//   63..40          which team has learned it; 0: none
//   39..16          loops of up to so many iterations run alone
//   15..0           how many loops may still do so
// What it is for: LONE-4 of lone_loops.hpp.
//
// Memory order (# marks the line)
//   #  access      order    pairs  why it suffices
//   1  word.load   relaxed  -      LONE-4: it says how a loop is run, and orders nothing
//   2  word.store  relaxed  -      as 1
#ifndef LOCKSTEP_DETAIL_LOOP_LOOP_PLACE_HPP
#define LOCKSTEP_DETAIL_LOOP_LOOP_PLACE_HPP

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <lockstep/detail/loop/leaf_loop.hpp>
#include <lockstep/detail/platform/atomic.hpp>
#include <lockstep/detail/region/job.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

class lone_hint {
 public:
  static constexpr std::size_t most_iterations = (std::size_t{1} << 24) - 1;
  static constexpr std::uint32_t most_loops = 0xFFFF;

  /// Whether a loop of the team may run alone; counts it.
  bool allows(std::uint32_t team, std::size_t iterations) noexcept {
    const std::uint64_t seen = word_.load(memory_order_relaxed);  // 1
    if ((seen >> 40) != team || iterations > (seen >> 16 & most_iterations)) return false;
    if ((seen & most_loops) == 0) return false;
    word_.store(seen - 1, memory_order_relaxed);  // 2
    return true;
  }
  void set(std::uint32_t team, double iterations, std::uint32_t loops) noexcept {
    constexpr double most = static_cast<double>(most_iterations);
    const std::uint64_t limit =
        iterations < most ? static_cast<std::uint64_t>(iterations) : std::uint64_t{most_iterations};
    word_.store(std::uint64_t{team} << 40 | limit << 16 | loops, memory_order_relaxed);  // 2
  }
  /// Whether the team's hint is used up: the next loop is to be measured.
  bool is_spent(std::uint32_t team) const noexcept {
    const std::uint64_t seen = word_.load(memory_order_relaxed);  // 1
    return (seen >> 40) == team && (seen & most_loops) == 0;
  }

 private:
  unseamed_atomic<std::uint64_t> word_{0};
};

/// A loop: how many iterations, and what calls the user's function.
template <class Leaf>
struct sized_leaf {
  std::size_t length;
  Leaf leaf;

  static void call(const void* self, std::size_t first, std::size_t last) {
    static_cast<const sized_leaf*>(self)->leaf(first, last);
  }
};

/// The part of a share of [0, length).
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

/// What became of a loop that was to run alone. Refused: nothing was run.
enum class lone_outcome { refused, complete, stopped };

struct loop_place {
  void (*call)(const void* loop, std::size_t first, std::size_t last);
  job::caller<loop_share> carried;  ///< null: the loop is called where it is
  std::size_t size;                 ///< of what travels
  lone_hint hint;

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
