// SPDX-License-Identifier: MIT
// lockstep/schedule.hpp -- ranges of indices, and how loops hand them out (layer: base)
//
//   schedule      static (blocks or chunks by rank), dynamic and guided (chunks to whichever member asks)
//   static_block  the block of one member, for loops of your own
//   grain         blocks of a least length, for loops of a team
//   only_if       such a loop on the caller alone, unless a condition holds
//   index_range   [first, last); index_range_2 and index_range_3 are nested ranges (OpenMP's collapse)
//   independent   a loop's function whose iterations the compiler need not prove independent
//   nowait        the first argument of a construct of member that is not to wait at its end
//   ordered_turn  the right of an iteration of member::for_ordered() to run a part of itself in order
//
// For blocks by measured speed see weighted_schedule.hpp.
//
// Order  none: these are values. The part of an iteration that runs by its ordered_turn happens before that of the next.
// Errors a range that begins below 0, a chunk or grain of 0: std::invalid_argument. A turn in a stopped region throws
//        region_stopped.
// Cost   values of at most 16 bytes. dynamic and guided: a read-modify-write for each chunk. A turn: one store and one
//        line fetch, 64 ns beyond the loop (docs/performance.md).
// Example
//   lockstep::team two(2);
//   std::vector<double> x(1000);
//   two.for_each(0, x.size(), [&](std::size_t i) { x[i] = 1; }, lockstep::dynamic_schedule(16));
//   const lockstep::index_range mine = lockstep::static_block(0, x.size(), 0, 2);
//   two.run([&](lockstep::member& me) {
//     me.for_ordered(mine.first, mine.last, [&](std::size_t i, lockstep::ordered_turn& in_order) {
//       in_order([&] { std::printf("%zu\n", i); });
//     });
//   });
#ifndef LOCKSTEP_SCHEDULE_HPP
#define LOCKSTEP_SCHEDULE_HPP

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <lockstep/detail/base/closures.hpp>
#include <lockstep/detail/base/index_span.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {

namespace detail {
[[noreturn]] LOCKSTEP_NOINLINE inline std::size_t fail_index_range() {
  fail_argument("lockstep::index_range: begins below 0, must begin at 0 or more");
}
}  // namespace detail

/// The half-open range [first, last). From bounds of any integer types, compared as numbers: {0, -3} is empty.
/// Fails if it holds an index below 0.
struct index_range {
  std::size_t first;
  std::size_t last;

  constexpr index_range() noexcept : first(0), last(0) {}
  constexpr index_range(std::size_t from, std::size_t to) noexcept : first(from), last(to) {}
  template <class First, class Last, class = detail::if_bounds<First, Last>>
  constexpr index_range(First from, Last to)
      : first(!detail::is_below_zero(from)                          ? static_cast<std::size_t>(from)
              : detail::is_below_zero(to) && are_reversed(from, to) ? 0
                                                                    : detail::fail_index_range()),
        last(detail::is_below_zero(to) ? 0 : static_cast<std::size_t>(to)) {
    static_assert(detail::is_index<First>::value && detail::is_index<Last>::value,
                  "lockstep: the bounds of a range are integers (int, std::size_t, ...), not bool, "
                  "characters or floating point");
  }

 private:
  template <class First, class Last>
  static constexpr bool are_reversed(First from, Last to) noexcept {
    return static_cast<detail::index_between<First, Last>>(to) <=
           static_cast<detail::index_between<First, Last>>(from);
  }
};

/// Two nested ranges, the outer one first.
struct index_range_2 {
  index_range rows;
  index_range columns;
};

/// Three nested ranges, the outermost one first.
struct index_range_3 {
  index_range planes;
  index_range rows;
  index_range columns;
};

/// How the iterations of a loop are handed out.
enum class schedule_kind : std::uint8_t {
  static_blocks,  ///< one contiguous block per member: no shared word, best reuse of caches
  static_chunks,  ///< chunks in turn: no shared word, evens out work that grows along the range
  dynamic,        ///< a chunk to each member that asks: one read-modify-write each, for uneven work
  guided          ///< as dynamic, large chunks first: fewer of them
};

/// A value: kind and chunk. Made by the four functions below; OpenMP's schedule clause.
class schedule {
 public:
  constexpr schedule() noexcept : chunk_(0), kind_(schedule_kind::static_blocks) {}
  /// Refuses a chunk of 0, except for static_blocks, where it has no meaning.
  constexpr schedule(schedule_kind kind, std::size_t chunk)
      : chunk_(kind == schedule_kind::static_blocks ? 0 : checked_chunk(chunk)), kind_(kind) {}

  constexpr schedule_kind kind() const noexcept { return kind_; }
  /// Iterations per chunk, the fewest for guided; for static_blocks the grain, 0 if none was given.
  constexpr std::size_t chunk() const noexcept { return chunk_; }

  friend constexpr bool operator==(schedule a, schedule b) noexcept {
    return a.kind_ == b.kind_ && a.chunk_ == b.chunk_;
  }
  friend constexpr bool operator!=(schedule a, schedule b) noexcept { return !(a == b); }

 private:
  friend constexpr schedule grain(std::size_t iterations);
  struct with_grain {};
  constexpr schedule(with_grain, std::size_t iterations)
      : chunk_(checked_chunk(iterations)), kind_(schedule_kind::static_blocks) {}

  static constexpr std::size_t checked_chunk(std::size_t chunk) {
    return chunk != 0 ? chunk : refuse_chunk();
  }
  [[noreturn]] LOCKSTEP_NOINLINE static std::size_t refuse_chunk() {
    detail::fail_argument("lockstep::schedule: a chunk of 0 iterations given, must be 1 or more");
  }

  std::size_t chunk_;
  schedule_kind kind_;
};

/// One contiguous block per member; the default of every loop.
constexpr schedule static_schedule() noexcept { return schedule(); }
/// Blocks of `iterations` or more, on fewer members if there are not enough iterations. For the loops of a team;
/// without it they learn by themselves how many members pay. Inside a region it is static_schedule(). Refuses 0.
constexpr schedule grain(std::size_t iterations) {
  return schedule(schedule::with_grain(), iterations);
}
/// `how` if the condition holds; else the loop runs on the caller alone, as a serial loop: OpenMP's `if`. For the loops
/// of a team: team.for_each(0, n, f, lockstep::only_if(n > 500)).
constexpr schedule only_if(bool condition, schedule how = static_schedule()) {
  return condition ? how : grain(~std::size_t{0});
}
/// Chunks of `chunk` iterations, dealt out in turn. Refuses 0.
constexpr schedule static_schedule(std::size_t chunk) {
  return schedule(schedule_kind::static_chunks, chunk);
}
/// Chunks of `chunk` iterations, one to each member that asks. Refuses 0.
constexpr schedule dynamic_schedule(std::size_t chunk = 1) {
  return schedule(schedule_kind::dynamic, chunk);
}
/// Chunks that shrink with what is left: `least` iterations or more, except the last chunk. Refuses 0.
constexpr schedule guided_schedule(std::size_t least = 1) {
  return schedule(schedule_kind::guided, least);
}

/// The contiguous block of member `rank` of `size`: blocks cover [first, last) in rank order without
/// gap or overlap, and their lengths differ by one at most, the longer ones first. Empty if last <= first.
/// Requires rank < size.
constexpr index_range static_block(std::size_t first, std::size_t last, std::size_t rank,
                                   std::size_t size) noexcept {
  // One expression, as C++11 wants it: quotient * rank + min(rank, remainder) after the start.
  return last <= first
             ? index_range{first, first}
             : index_range{
                   first + (last - first) / size * rank +
                       (rank < (last - first) % size ? rank : (last - first) % size),
                   first + (last - first) / size * (rank + 1) +
                       (rank + 1 < (last - first) % size ? rank + 1 : (last - first) % size)};
}

// The author of a function decides whether an int may become its unsigned argument.
LOCKSTEP_BEGIN_SIGN_CONVERSIONS

/// A function of a loop with the promise of independent(), which makes it.
template <class Function>
class independent_iterations {
 public:
  explicit independent_iterations(Function of) : f_(std::move(of)) {}

  template <class... Arguments>
  auto operator()(Arguments&&... with) const
      -> decltype(std::declval<const Function&>()(std::forward<Arguments>(with)...)) {
    return f_(std::forward<Arguments>(with)...);
  }

 private:
  Function f_;
};

LOCKSTEP_END_SIGN_CONVERSIONS

/// f with the promise that no iteration reads or writes what another one writes. So the compiler may run several at
/// once (SIMD) without a proof: GCC's ivdep, OpenMP's simd.
///   team.for_each(0, n, lockstep::independent([=](std::size_t i) { y[i] = a * x[i + k]; }));
/// Every parallel loop demands this of iterations on different threads; here it is promised of those on one thread, too.
/// It counts in loops that call f(i), with every schedule. Elsewhere it only calls the function.
///   INDEPENDENT-1  Calls the function as the caller would, through a const operator.
///   INDEPENDENT-2  Is copied where the function would be (closures.hpp).
template <class Function>
independent_iterations<typename std::decay<Function>::type> independent(Function&& f) {
  return independent_iterations<typename std::decay<Function>::type>(std::forward<Function>(f));
}

namespace detail {

template <class Function>
struct has_independent_iterations : std::false_type {};
template <class Function>
struct has_independent_iterations<const Function> : has_independent_iterations<Function> {};
template <class Function>
struct has_independent_iterations<independent_iterations<Function>> : std::true_type {};

template <class Function>
struct may_be_copied<independent_iterations<Function>, true> : may_be_copied<Function> {};

/// The turns of an ordered loop, for one member.
class ordered_iterations;
bool take_turn(ordered_iterations& of);
void pass_turn(ordered_iterations& of);

}  // namespace detail

/// First argument of a construct that is not to wait at its end: me.for_each(lockstep::nowait, 0, n, f).
struct nowait_t {};
LOCKSTEP_CONSTANT nowait_t nowait = {};

/// The second argument of the function of member::for_ordered(): the right of an iteration to run a part of itself after
/// that part of all iterations before it.
class ordered_turn {
 public:
  /// Calls f() when it is this iteration's turn; at most once an iteration. Once the region is stopped it does not call
  /// it: it throws region_stopped, or returns false in for_ordered_unless_stopped().
  template <class Function>
  bool operator()(Function&& f) {
    if (!detail::take_turn(of_)) return false;
    f();
    detail::pass_turn(of_);
    return true;
  }

  ordered_turn(const ordered_turn&) = delete;
  ordered_turn& operator=(const ordered_turn&) = delete;

 private:
  friend class detail::ordered_iterations;

  explicit ordered_turn(detail::ordered_iterations& of) noexcept : of_(of) {}

  detail::ordered_iterations& of_;
};

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SCHEDULE_HPP
