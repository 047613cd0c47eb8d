// SPDX-License-Identifier: MIT
// lockstep/detail/loop/leaf_loop.hpp -- the innermost loop: all that is compiled for each closure (layer: loop)
//
// The code that hands out parts of a range is compiled once for the program. It calls a leaf through one function
// pointer, once for each part. The leaf calls the user's function for every index of the part.
//
// A user's iteration is to run as fast as in a serial loop. In the middle of other code the compiler must assume that
// each store of the iteration may change what the closure holds. So GCC keeps neither constants nor addresses in
// registers: with g++ -O2 daxpy took 1.5 to 2 times as long. The leaf therefore has its own copy of the closure, which
// nothing else can change.
//
//   LEAF-1  f is called with first, first + 1, ... before last, in order; no index beyond last is computed.
//   LEAF-2  A closure is copied if it is small and the copy cannot be noticed (closures.hpp). Any other function is
//           called where it is. What a closure holds by reference is read anew after each store that could change it,
//           as the language demands: capture numbers and pointers by value.
//   LEAF-3  For nested ranges f is called once per tuple, in row-major order. Calls for consecutive parts together do
//           what one call for all of them does. Each part costs one division per nesting. After that the indices
//           step with carry; the innermost range is a plain loop that the compiler may vectorise.
//
// There is one place of the program for each closure type in each module. It knows the functions that were compiled for
// its leaf, and what was learned of its loops. The cost of an iteration holds for every team. The number of iterations
// from which on a loop pays holds for one team. Rules: src/loop/loop_pace.hpp.
//
//   bits of `alone`  meaning
//   63..40           the team that has learned it; 0: none
//   39..16           the most iterations of a loop that runs alone
//   15..0            how many more loops may run alone
// Its use: LONE-4 of src/team/team_host.cpp. `cost` has the bits of a place_pace::cost.
//
// Memory order (# marks the line)
//   #  access       order    pairs  why it suffices
//   1  alone.load   relaxed  -      LONE-4: it says how a loop is run, and orders nothing
//   2  alone.store  relaxed  -      as 1
//   3  cost.load    relaxed  -      as 1
//   4  cost.store   relaxed  -      as 1
//
// Cost   a call, 1 to 2 ns a part.
#ifndef LOCKSTEP_DETAIL_LOOP_LEAF_LOOP_HPP
#define LOCKSTEP_DETAIL_LOOP_LEAF_LOOP_HPP

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <lockstep/call_site.hpp>
#include <lockstep/detail/base/closures.hpp>
#include <lockstep/detail/base/index_span.hpp>
#include <lockstep/detail/base/range_parts.hpp>
#include <lockstep/detail/platform/atomic.hpp>
#include <lockstep/detail/platform/config.hpp>
#include <lockstep/detail/region/job.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// A function for the parts of a range of offsets.
using range_body = function_ref<void(std::size_t first, std::size_t last)>;

// The author of a function decides whether its unsigned argument may come from an int.
LOCKSTEP_BEGIN_SIGN_CONVERSIONS
LOCKSTEP_BEGIN_ATTEMPTS

/// Calls f(i) for the offsets [begin, end) from `first` on. IsIndependent: the compiler may run several at once.
template <class Index, bool IsIndependent>
struct each_index {
  Index first;

  template <class Function>
  using held = held_function<Function, Index&>;
  template <class Function>
  void operator()(std::size_t begin, std::size_t end, Function& f) const {
    const Index last = index_at(first, end);
    if (IsIndependent) {
      LOCKSTEP_INDEPENDENT_ITERATIONS
      for (Index i = index_at(first, begin); i < last; ++i) f(i);
    } else {
      for (Index i = index_at(first, begin); i < last; ++i) f(i);
    }
  }
};

/// Calls f(first, last) once, for the offsets [begin, end) from `first` on.
template <class Index>
struct each_block {
  Index first;

  template <class Function>
  using held = held_function<Function, Index, Index>;
  template <class Function>
  void operator()(std::size_t begin, std::size_t end, Function& f) const {
    f(index_at(first, begin), index_at(first, end));
  }
};

/// Calls f(i, j), or f(i, j, k), for the iterations number [begin, end) of nested ranges. Requires end <=
/// iterations_of(ranges).
template <class Ranges>
struct each_tuple;
template <>
struct each_tuple<index_range_2> {
  index_range_2 ranges;

  template <class Function>
  using calls = is_callable<Function&, std::size_t&, std::size_t&>;
  template <class Function>
  using held = held_function<Function, std::size_t&, std::size_t&>;
  template <class Function>
  void operator()(std::size_t begin, std::size_t end, Function& f) const {
    if (begin >= end) return;
    const std::size_t first = ranges.columns.first, last = ranges.columns.last;
    std::size_t i = ranges.rows.first + begin / (last - first);
    std::size_t j = first + begin % (last - first);
    for (std::size_t left = end - begin; left > 0; ++i, j = first) {
      const std::size_t stop = left < last - j ? j + left : last;
      left -= stop - j;
      for (; j < stop; ++j) f(i, j);
    }
  }
};
template <>
struct each_tuple<index_range_3> {
  index_range_3 ranges;

  template <class Function>
  using calls = is_callable<Function&, std::size_t&, std::size_t&, std::size_t&>;
  template <class Function>
  using held = held_function<Function, std::size_t&, std::size_t&, std::size_t&>;
  template <class Function>
  void operator()(std::size_t begin, std::size_t end, Function& f) const {
    if (begin >= end) return;
    const std::size_t first = ranges.columns.first, last = ranges.columns.last;
    const std::size_t line = begin / (last - first), lines = length_of(ranges.rows);
    std::size_t i = ranges.planes.first + line / lines;
    std::size_t j = ranges.rows.first + line % lines;
    std::size_t k = first + begin % (last - first);
    for (std::size_t left = end - begin; left > 0; k = first) {
      const std::size_t stop = left < last - k ? k + left : last;
      left -= stop - k;
      for (; k < stop; ++k) f(i, j, k);
      if (++j == ranges.rows.last) {
        j = ranges.rows.first;
        ++i;
      }
    }
  }
};

LOCKSTEP_END_ATTEMPTS
LOCKSTEP_END_SIGN_CONVERSIONS

/// A loop and its function, held as Loop says. Calls loop(first, last, f).
template <class Loop, class Function>
class leaf {
 public:
  leaf(const Loop& loop, Function& f) : loop_(loop), f_(f) {}
  void operator()(std::size_t first, std::size_t last) const {
    const leaf own(*this);
    own.loop_(first, last, own.f_);
  }

 private:
  const Loop loop_;
  typename Loop::template held<Function> f_;
};

/// The leaf of a loop that calls f(i).
template <class Index, class Function>
using leaf_of_each = leaf<each_index<Index, has_independent_iterations<Function>::value>, Function>;
template <class Index, class Function>
leaf_of_each<Index, Function> each_of(const index_span<Index>& span, Function& f) {
  static_assert(is_callable<Function&, Index&>::value,
                "lockstep: the function of for_each must be callable with one "
                "index, f(i): of the common type of the bounds, or the iterator, not what it "
                "points to");
  return {{span.first}, f};
}

/// The leaf of a loop that calls f(first, last) for each part.
template <class Index, class Function>
leaf<each_block<Index>, Function> blocks_of(const index_span<Index>& span, Function& f) {
  static_assert(is_callable<Function&, Index, Index>::value,
                "lockstep: the function of for_range must be callable with two indices, "
                "f(first, last): of the common type of the bounds, or iterators");
  return {{span.first}, f};
}

/// Whether a type is one of the nested ranges; the leaf of a loop over them.
template <class Type, class Plain = typename std::decay<Type>::type>
struct is_nested : std::integral_constant<bool, std::is_same<Plain, index_range_2>::value ||
                                                    std::is_same<Plain, index_range_3>::value> {};
template <class Ranges>
using if_nested = typename std::enable_if<is_nested<Ranges>::value, bool>::type;
template <class Ranges, class Function>
leaf<each_tuple<Ranges>, Function> each_of_nested(const Ranges& ranges, Function& f) {
  static_assert(each_tuple<Ranges>::template calls<Function>::value,
                "lockstep: the function of this loop must be callable with two indices, f(i, j), "
                "or f(i, j, k) for three ranges, of type std::size_t");
  return {{ranges}, f};
}

// --- a team's loop at one place of a program ---

/// The grain of a schedule; 0 where none was given.
constexpr std::size_t grain_of(schedule how) noexcept {
  return how.kind() == schedule_kind::static_blocks ? how.chunk() : 0;
}

/// How a loop ended that was to run alone. Refused: nothing has run.
enum class lone_outcome { refused, complete, stopped };

class place_pace {
 public:
  static constexpr std::size_t most_iterations = (std::size_t{1} << 24) - 1;
  static constexpr std::uint32_t most_loops = 0xFFFF;

  /// Whether a loop of the team may run alone; counts it.
  bool allows(std::uint32_t team, std::size_t iterations) noexcept {
    const std::uint64_t seen = alone_.load(memory_order_relaxed);  // 1
    if ((seen >> 40) != team || iterations > (seen >> 16 & most_iterations)) return false;
    if ((seen & most_loops) == 0) return false;
    alone_.store(seen - 1, memory_order_relaxed);  // 2
    return true;
  }
  void allow(std::uint32_t team, double iterations, std::uint32_t loops) noexcept {
    constexpr double most = static_cast<double>(most_iterations);
    const auto limit = static_cast<std::uint64_t>(iterations < most ? iterations : most);
    alone_.store(std::uint64_t{team} << 40 | limit << 16 | loops, memory_order_relaxed);  // 2
  }
  /// Whether the team has used up its loops that may run alone: the next one is to be measured.
  bool is_spent(std::uint32_t team) const noexcept {
    const std::uint64_t seen = alone_.load(memory_order_relaxed);  // 1
    return (seen >> 40) == team && (seen & most_loops) == 0;
  }

  struct cost {
    float iteration;  ///< nanoseconds; 0: unknown
    std::uint8_t samples, steady;
    std::uint16_t skipped;  ///< loops since the last sample
  };
  static_assert(sizeof(cost) == 8, "one word, which a load reads whole");
  cost look() const noexcept { return cost_.load(memory_order_relaxed); }              // 3
  void keep(const cost& known) noexcept { cost_.store(known, memory_order_relaxed); }  // 4

 private:
  unseamed_atomic<std::uint64_t> alone_{0};
  unseamed_atomic<cost> cost_{cost{0, 0, 0, 0}};
};

/// What the library knows of the loops with one type of leaf in one module.
struct loop_place {
  void (*call)(const void* loop, std::size_t first, std::size_t last);
  job::caller<loop_share> carried;  ///< null: the loop is called where it is
  std::size_t size;                 ///< bytes that travel
  place_pace pace;
};

/// The part of [0, length) that a share does.
index_range block_of_share(const loop_share& me, std::size_t length) noexcept;

/// A loop: the number of iterations, and the leaf that calls the user's function.
template <class Leaf>
struct LOCKSTEP_MODULE_LOCAL sized_leaf {
  std::size_t length;
  Leaf leaf;

  static void call(const void* self, std::size_t first, std::size_t last) {
    static_cast<const sized_leaf*>(self)->leaf(first, last);
  }
  /// Whether it travels with the announcement; then a share calls its block of the copy.
  static constexpr bool travels() noexcept {
    return sizeof(sized_leaf) <= job::closure_size && alignof(sized_leaf) <= alignof(void*) &&
           std::is_trivially_copy_constructible<sized_leaf>::value &&
           std::is_trivially_destructible<sized_leaf>::value;
  }
  static void call_copy(const job& self, loop_share& me) {
    const sized_leaf& own = *static_cast<const sized_leaf*>(self.carried());
    const index_range mine = block_of_share(me, own.length);
    if (mine.first < mine.last) own.leaf(mine.first, mine.last);
  }
  static loop_place place;
};
template <class Leaf>
loop_place sized_leaf<Leaf>::place = {
    call, travels() ? call_copy : nullptr, sizeof(sized_leaf), {}};

/// Whether a loop on a team_host may run on the caller alone: the grain of the loop says so, or what is known of its place.
template <class Host>
bool may_run_alone(const Host& on, place_pace& pace, std::size_t length, std::size_t grain) {
  return on.size() == 1 || (grain == 0 ? pace.allows(on.number(), length) : length / 2 < grain);
}

/// Calls f(i), or f(first, last), of a leaf on a team_host.
template <class Host, class Leaf>
bool run_leaf(Host& on, const Leaf& leaf, std::size_t length, schedule how, source_place where) {
  const sized_leaf<Leaf> loop = {length, leaf};
  loop_place& place = sized_leaf<Leaf>::place;
  if (may_run_alone(on, place.pace, length, grain_of(how))) {
    const range_body body(loop.call, &loop);
    const lone_outcome alone = how.kind() == schedule_kind::static_blocks
                                   ? on.run_alone(body, length)
                                   : on.run_alone(body, length, how);
    if (alone != lone_outcome::refused) return alone == lone_outcome::complete;
  }
  return on.run_place(place, &loop, length, how, where);
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_LOOP_LEAF_LOOP_HPP
