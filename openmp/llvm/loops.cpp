// SPDX-License-Identifier: MIT
// Worksharing loops. In one kind the program deals out the iterations itself, from bounds that it asks for once
// (for_static_init, and its forms for distribute). In the other it fetches chunk by chunk (dispatch). Also sections, and
// loops with ordered(n).
#include <cstdint>
#include <cstdlib>
#include <type_traits>

#include "ident.hpp"
#include "runtime/doacross.hpp"
#include "runtime/loops.hpp"
#include "runtime/message.hpp"
#include "runtime/ompt.hpp"

namespace lockstep::openmp::llvm {
namespace {

using i32 = std::int32_t;
using u32 = std::uint32_t;
using i64 = std::int64_t;
using u64 = std::uint64_t;

// --- iterations as LLVM's compilers count them: from a first to a last one, by a step ---

template <class Number>
using step_of = std::make_signed_t<Number>;

/// How many iterations there are from `lower` to `upper`, both included. Computed in unsigned numbers of the same size,
/// so nothing overflows.
template <class Number>
ull count_of(Number lower, Number upper, step_of<Number> step) noexcept {
  using bits = std::make_unsigned_t<Number>;
  if (step == 0) fail("a loop whose step is 0");
  if (step > 0 ? upper < lower : lower < upper) return 0;
  const bits distance =
      step > 0 ? static_cast<bits>(static_cast<bits>(upper) - static_cast<bits>(lower))
               : static_cast<bits>(static_cast<bits>(lower) - static_cast<bits>(upper));
  const bits stride =
      step > 0 ? static_cast<bits>(step) : static_cast<bits>(0 - static_cast<bits>(step));
  return ull{static_cast<bits>(distance / stride)} + 1;
}

/// Iteration `index`, as the program counts.
template <class Number>
Number at(Number lower, step_of<Number> step, ull index) noexcept {
  return static_cast<Number>(static_cast<ull>(lower) + index * static_cast<ull>(step));
}

template <class Number>
loop_spec loop_over(Number lower, Number upper, step_of<Number> step) noexcept {
  loop_spec made{};
  made.base = static_cast<ull>(lower);
  made.increment = static_cast<ull>(step);
  made.count = count_of(lower, upper, step);
  made.end = made.base + made.count * made.increment;
  return made;
}

/// The numbers that the compiler passes. `ordered` is added for an ordered schedule, `nomerge` for a loop whose chunks
/// must not be merged. The two highest bits tell what the program asks of the order.
enum schedule_number : u32 {
  static_chunked = 33,
  static_balanced_chunked = 45,  ///< a block each, of a multiple of `chunk`
  runtime_simd = 47,
  ordered = 32,
  first_ordered = 65,
  distribute_static_chunked = 91,
  distribute_static = 92,
  nomerge = 128,
  first_nomerge = 161,
  monotonic = 1u << 29,
  nonmonotonic = 1u << 30
};

u32 without_modifiers(i32 schedule) noexcept {
  u32 number = static_cast<u32>(schedule) & ~(monotonic | nonmonotonic);
  if (number >= first_nomerge) number -= nomerge;
  return number;
}

/// The kind for each number from 33 on: chunked, plain, dynamic, guided, runtime, auto, trapezoidal, greedy, balanced,
/// guided in two ways, stealing, balanced chunks, guided and runtime of simd loops.
constexpr schedule_kind kinds[] = {
    schedule_kind::fixed,  schedule_kind::fixed,   schedule_kind::dynamic,
    schedule_kind::guided, schedule_kind::runtime, schedule_kind::automatic,
    schedule_kind::guided, schedule_kind::fixed,   schedule_kind::fixed,
    schedule_kind::guided, schedule_kind::guided,  schedule_kind::dynamic,
    schedule_kind::fixed,  schedule_kind::guided,  schedule_kind::runtime};

/// Makes chunks a multiple of `length` iterations. The compiler passes this length as the chunk of a simd loop.
void fit_vectors(loop_spec& loop, ull length, unsigned size) noexcept {
  if (loop.how == schedule_kind::fixed && loop.chunk == 0) {
    const ull even = (loop.count + size - 1) / size;
    loop.chunk = (even + length - 1) / length * length;
    return;
  }
  loop.chunk = loop.least() * length;
  if (loop.how == schedule_kind::guided) loop.how = schedule_kind::dynamic;
}

loop_spec as_asked(const loop_spec& loop, const part& self, i32 schedule, i64 chunk) noexcept {
  u32 number = without_modifiers(schedule);
  const bool has_turns = number >= first_ordered && number < distribute_static_chunked;
  if (has_turns) number -= ordered;
  if (number - static_chunked >= std::size(kinds)) fail("unknown schedule %d of a loop", schedule);
  const schedule_kind how = kinds[number - static_chunked];
  const u32 modifiers = static_cast<u32>(schedule);
  if (how == schedule_kind::runtime) {
    // If the program gives no schedule, it is static, as with LLVM's runtime.
    loop_spec as_said = self.variables().run_schedule.is_given
                            ? as_runtime(loop, self, (modifiers & monotonic) == 0, has_turns)
                            : loop.with(schedule_kind::fixed, true, 0, has_turns);
    if (number == runtime_simd && chunk > 1)
      fit_vectors(as_said, static_cast<ull>(chunk), self.size);
    return as_said;
  }
  if (how == schedule_kind::automatic) return loop.with(schedule_kind::fixed, true, 0, has_turns);
  if (how == schedule_kind::fixed && number != static_chunked) chunk = 0;
  return loop.with(how, (modifiers & nonmonotonic) == 0, chunk, has_turns);
}

// --- loops with ordered(n) ---
//
// The program names the iterations of n loops by its own loop variables. It announces the loops before it tells which
// schedule the loop has, and how many of the n loops are shared as one (collapse): we learn that from the number of
// iterations. Clang announces one iteration more than each loop has.

/// A kmp_dim.
struct announced_loop {
  std::int64_t lower, upper, step;
};

struct loop_of_nest {
  std::int64_t lower, step;
  ull count;

  /// The number of an iteration; `count` or more if there is no such iteration.
  ull index_of(std::int64_t value) const noexcept {
    if (step > 0 ? value < lower : value > lower) return count;
    return step == 1 ? static_cast<ull>(value) - static_cast<ull>(lower)
                     : count_of(lower, value, step) - 1;
  }
};

/// The loops of a nest. The `shared` outermost ones are shared as one; 0: they have not begun.
struct loop_nest {
  unsigned dimensions, shared;
  loop_of_nest of[1];  ///< the others follow
};

loop_nest* nest_of(part& self) noexcept { return static_cast<loop_nest*>(self.doacross); }

/// Numbers an iteration as the board does. False if there is no such iteration.
bool number(const loop_nest& nest, const std::int64_t* values, ull* numbers) noexcept {
  ull outermost = 0;
  for (unsigned i = 0; i < nest.dimensions; ++i) {
    const ull index = nest.of[i].index_of(values[i]);
    const ull count = nest.of[i].count;
    if (index >= count) return false;
    if (i < nest.shared) {
      numbers[0] = outermost = outermost * count + index;
    } else {
      numbers[i - nest.shared + 1] = index;
    }
  }
  return true;
}

/// Whether the outermost loops have this many iterations together, if each was announced with `excess` too many. If so,
/// the excess is removed.
bool has_iterations(loop_nest& nest, ull wanted, ull excess) noexcept {
  ull product = 1;
  unsigned shared = 0;
  do {
    product *= nest.of[shared++].count - excess;
  } while (product != wanted && shared < nest.dimensions);
  if (product != wanted) return false;
  nest.shared = shared;
  for (unsigned i = 0; i < nest.dimensions; ++i) nest.of[i].count -= excess;
  return true;
}

/// Calls use(self, board, numbers) for an iteration of the loop that the part is in. An iteration that does not exist
/// needs neither a post nor a wait.
template <class Use>
void with_iteration(part& self, const std::int64_t* values, ompt::dependence_type told,
                    const Use& use) noexcept {
  doacross_board* const board = self.doacross != nullptr ? doacross_of(self) : nullptr;
  ull numbers[doacross_board::most_dimensions];
  if (board == nullptr || !number(*nest_of(self), values, numbers)) return;
  if (has_tool()) tell_iteration(self, numbers, board->dimensions(), told);
  use(self, *board, numbers);
}

/// Begins the loop that __kmpc_doacross_init() has announced, in which iterations wait for each other. False if it has
/// begun already.
bool begin_announced_doacross(part& self, const loop_spec& loop) noexcept {
  loop_nest& nest = *nest_of(self);
  if (nest.shared != 0) return false;
  if (!has_iterations(nest, loop.count, 1) && !has_iterations(nest, loop.count, 0))
    fail("ordered(%u): the loop has other iterations than it has announced", nest.dimensions);
  ull counts[doacross_board::most_dimensions];
  counts[0] = loop.count;
  for (unsigned i = nest.shared; i < nest.dimensions; ++i)
    counts[i - nest.shared + 1] = nest.of[i].count;
  begin_doacross(self, loop, counts, nest.dimensions - nest.shared + 1, nullptr, nullptr);
  return true;
}

// --- loops that the program deals out ---

/// The share of one of `size` members of a loop: its first chunk, and the distance from each of its chunks to the next.
template <class Number>
struct share {
  Number lower, upper;
  step_of<Number> stride;
  bool has_last;
};

/// Bounds of an empty share. Programs compare them with the loop's last iteration, so they begin after it, unless
/// numbers end there.
template <class Number>
share<Number> no_share(Number upper, step_of<Number> step, step_of<Number> stride) noexcept {
  const Number behind = at<Number>(upper, step > 0 ? 1 : -1, 1);
  if (step > 0 ? behind > upper : behind < upper) return {behind, upper, stride, false};
  return step > 0 ? share<Number>{1, 0, stride, false} : share<Number>{0, 1, stride, false};
}

template <class Number>
share<Number> share_of(u32 schedule, Number lower, Number upper, step_of<Number> step, ull chunk,
                       unsigned rank, unsigned size) noexcept {
  using distance = step_of<Number>;
  const ull count = count_of(lower, upper, step);
  if (count == 0) return {lower, upper, step, false};
  const auto span_of = [step](ull iterations) {
    return static_cast<distance>(iterations * static_cast<ull>(step));
  };
  if (size == 1) {
    const ull span = static_cast<ull>(upper) - static_cast<ull>(lower) + (step > 0 ? 1 : ~ull{0});
    return {lower, upper, static_cast<distance>(span), true};
  }
  if (schedule == static_chunked || schedule == distribute_static_chunked) {
    const ull least = chunk < 1 ? 1 : chunk < count ? chunk : count;
    const ull chunks = (count - 1) / least + 1;
    const distance stride = span_of(chunks < size ? count : least * size);
    if (rank >= chunks) return no_share(upper, step, stride);
    const ull first = rank * least;
    const bool is_short = count - first < least;
    return {at(lower, step, first), is_short ? upper : at(lower, step, first + least - 1), stride,
            rank == (chunks - 1) % size};
  }
  index_range mine = static_block(0, count, rank, size);
  if (schedule == static_balanced_chunked) {
    const ull even = (count - 1) / size + 1;
    const ull least = chunk < 1 ? even : (even + chunk - 1) / chunk * chunk;
    mine.first = rank * least < count ? rank * least : count;
    mine.last = count - mine.first < least ? count : mine.first + least;
  }
  if (mine.first >= mine.last) return no_share(upper, step, span_of(count));
  return {at(lower, step, mine.first), at(lower, step, mine.last - 1), span_of(count),
          mine.last == count};
}

/// Bits of ident::flags: the construct that for_static_init belongs to.
enum : i32 { is_of_sections = 0x400, is_of_distribute = 0x800 };

[[gnu::noinline, gnu::cold]] void tell(part& self, const ident* at, ull count, ull first,
                                       ull iterations) noexcept {
  const i32 flags = at != nullptr ? at->flags : 0;
  const bool is_distribute = (flags & is_of_distribute) != 0;
  const bool is_sections = (flags & is_of_sections) != 0;
  ompt::begin_work(self,
                   is_distribute ? ompt::work_kind::distribute
                   : is_sections ? ompt::work_kind::sections
                                 : ompt::work_kind::loop_static,
                   count);
  if (iterations == 0) return;
  if (is_sections) return ompt::tell_section(self);
  ompt::tell_chunk(
      self, is_distribute ? ompt::dispatch_kind::distribute_chunk : ompt::dispatch_kind::loop_chunk,
      first, iterations);
}

/// Gives the program its share of the loop from *lower to *upper.
template <class Number>
void give(part& self, const ident* where, const share<Number>& mine, i32* last, Number* lower,
          Number* upper, step_of<Number>* stride, step_of<Number> step) noexcept {
  if (has_tool())
    tell(self, where, count_of(*lower, *upper, step), static_cast<ull>(mine.lower),
         count_of(mine.lower, mine.upper, step));
  *lower = mine.lower;
  *upper = mine.upper;
  *stride = mine.stride;
  if (last != nullptr) *last = mine.has_last;
}

template <class Number>
void share_loop(part& self, const ident* where, i32 schedule, i32* last, Number* lower,
                Number* upper, step_of<Number>* stride, step_of<Number> step,
                step_of<Number> chunk) noexcept {
  u32 number = without_modifiers(schedule);
  const bool is_of_teams = number == distribute_static_chunked || number == distribute_static;
  if (number >= first_ordered && !is_of_teams) number -= ordered;
  if (__builtin_expect(self.doacross != nullptr, 0) && !is_of_teams) {
    const loop_spec loop = loop_over(*lower, *upper, step);
    static_cast<void>(begin_announced_doacross(self, as_asked(loop, self, schedule, chunk)));
  }
  const ull least = chunk > 0 ? static_cast<ull>(chunk) : 0;
  const share<Number> mine =
      share_of(number, *lower, *upper, step, least, is_of_teams ? self.team_num : self.rank,
               is_of_teams ? self.num_teams : self.size);
  give(self, where, mine, last, lower, upper, stride, step);
}

/// A team's share of `distribute`, and the member's share of that by `parallel for`.
template <class Number>
void share_among_teams(part& self, const ident* where, i32 schedule, i32* last, Number* lower,
                       Number* upper, Number* team_upper, step_of<Number>* stride,
                       step_of<Number> step, step_of<Number> chunk) noexcept {
  const ull least = chunk > 0 ? static_cast<ull>(chunk) : 0;
  const share<Number> team =
      share_of<Number>(distribute_static, *lower, *upper, step, 0, self.team_num, self.num_teams);
  *team_upper = team.upper;
  share<Number> mine = share_of<Number>(without_modifiers(schedule), team.lower, team.upper, step,
                                        least, self.rank, self.size);
  mine.has_last = mine.has_last && team.has_last;
  give(self, where, mine, last, lower, upper, stride, step);
}

/// The first of the chunks that the team has by distribute with dist_schedule(static, chunk).
template <class Number>
void share_chunks_among_teams(part& self, const ident* where, i32* last, Number* lower,
                              Number* upper, step_of<Number>* stride, step_of<Number> step,
                              step_of<Number> chunk) noexcept {
  share_loop(self, where, distribute_static_chunked, last, lower, upper, stride, step,
             chunk > 0 ? chunk : 1);
}

template <class Number>
void begin_dispatch(part& self, i32 schedule, Number lower, Number upper, step_of<Number> step,
                    step_of<Number> chunk) noexcept {
  const loop_spec loop = as_asked(loop_over(lower, upper, step), self, schedule, chunk);
  end_loop(self);  // a `cancel` may have left one
  if (__builtin_expect(self.doacross != nullptr, 0) && begin_announced_doacross(self, loop)) return;
  begin_loop(self, loop);
}

template <class Number>
void begin_dispatch_of_team(part& self, i32 schedule, i32* last, Number lower, Number upper,
                            step_of<Number> step, step_of<Number> chunk) noexcept {
  const share<Number> team =
      share_of<Number>(distribute_static, lower, upper, step, 0, self.team_num, self.num_teams);
  if (last != nullptr) *last = team.has_last;
  begin_dispatch(self, schedule, team.lower, team.upper, step, chunk);
}

/// The flag tells whether the last chunk that a member had is the loop's last one. When there are no more chunks, it
/// stays.
template <class Number>
int next_of(part& self, i32* last, Number* lower, Number* upper, step_of<Number>* stride) noexcept {
  ull first, behind;
  if (!self.loop.next(first, behind)) {
    end_loop(self);
    return 0;
  }
  const loop_spec& loop = self.loop.spec();
  *lower = static_cast<Number>(loop.base + first * loop.increment);
  *upper = static_cast<Number>(loop.base + (behind - 1) * loop.increment);
  if (last != nullptr) *last = behind == loop.count;
  if (stride != nullptr) *stride = static_cast<step_of<Number>>(loop.increment);
  if (has_tool())
    ompt::tell_chunk(self, ompt::dispatch_kind::loop_chunk, static_cast<ull>(*lower),
                     behind - first);
  return 1;
}

}  // namespace

OPENMP_API void __kmpc_for_static_fini(ident*, i32) {
  if (has_tool()) ompt::end_work(entered());
}
OPENMP_API void __kmpc_dispatch_deinit(ident*, i32) { end_loop(entered()); }

// An ordered loop passes its turn when the next chunk is asked for (CURSOR-2), not with each iteration.
#define LOOPS_OF(SUFFIX, NUMBER, STEP)                                                           \
  OPENMP_API void __kmpc_for_static_init_##SUFFIX(ident* at, i32, i32 schedule, i32* last,       \
                                                  NUMBER* lower, NUMBER* upper, STEP* stride,    \
                                                  STEP step, STEP chunk) {                       \
    share_loop(entered(), at, schedule, last, lower, upper, stride, step, chunk);                \
  }                                                                                              \
  OPENMP_API void __kmpc_dist_for_static_init_##SUFFIX(                                          \
      ident* at, i32, i32 schedule, i32* last, NUMBER* lower, NUMBER* upper, NUMBER* team_upper, \
      STEP* stride, STEP step, STEP chunk) {                                                     \
    share_among_teams(entered(), at, schedule, last, lower, upper, team_upper, stride, step,     \
                      chunk);                                                                    \
  }                                                                                              \
  OPENMP_API void __kmpc_team_static_init_##SUFFIX(ident* at, i32, i32* last, NUMBER* lower,     \
                                                   NUMBER* upper, STEP* stride, STEP step,       \
                                                   STEP chunk) {                                 \
    share_chunks_among_teams(entered(), at, last, lower, upper, stride, step, chunk);            \
  }                                                                                              \
  OPENMP_API void __kmpc_dispatch_init_##SUFFIX(ident*, i32, i32 schedule, NUMBER lower,         \
                                                NUMBER upper, STEP step, STEP chunk) {           \
    begin_dispatch(entered(), schedule, lower, upper, step, chunk);                              \
  }                                                                                              \
  OPENMP_API void __kmpc_dist_dispatch_init_##SUFFIX(                                            \
      ident*, i32, i32 schedule, i32* last, NUMBER lower, NUMBER upper, STEP step, STEP chunk) { \
    begin_dispatch_of_team(entered(), schedule, last, lower, upper, step, chunk);                \
  }                                                                                              \
  OPENMP_API int __kmpc_dispatch_next_##SUFFIX(ident*, i32, i32* last, NUMBER* lower,            \
                                               NUMBER* upper, STEP* stride) {                    \
    return next_of(entered(), last, lower, upper, stride);                                       \
  }                                                                                              \
  OPENMP_API void __kmpc_dispatch_fini_##SUFFIX(ident*, i32) {}

LOOPS_OF(4, i32, i32)
LOOPS_OF(4u, u32, i32)
LOOPS_OF(8, i64, i64)
LOOPS_OF(8u, u64, i64)

#undef LOOPS_OF

// Sections of compilers that do not make them a static loop. Each call for the next section passes the number of
// sections.

OPENMP_API i32 __kmpc_sections_init(ident*, i32) {
  part& self = entered();
  end_loop(self);
  begin_loop(self, sections_of(0x7fffffffu));
  return self.is_alone() ? 0 : 1;
}
/// The number of the next section, from 0; `count` if there is none.
OPENMP_API i32 __kmpc_next_section(ident*, i32, i32 count) {
  part& self = entered();
  ull first, behind;
  if (self.loop.next(first, behind) && first < static_cast<ull>(count)) {
    if (has_tool()) ompt::tell_section(self);
    return static_cast<i32>(first);
  }
  end_loop(self);
  return count;
}
OPENMP_API void __kmpc_end_sections(ident*, i32) {}

// --- doacross(source:) and doacross(sink: ...) ---

OPENMP_API void __kmpc_doacross_init(ident*, std::int32_t, std::int32_t dimensions,
                                     const announced_loop* of) {
  part& self = entered();
  if (self.is_alone()) return;
  if (dimensions < 1 || static_cast<unsigned>(dimensions) > doacross_board::most_dimensions)
    fail("ordered(%d): more than %u loops", dimensions, doacross_board::most_dimensions);
  end_loop(self);
  std::free(self.doacross);  // a `cancel` may have left one
  const auto count = static_cast<unsigned>(dimensions);
  const std::size_t size = sizeof(loop_nest) + (count - 1) * sizeof(loop_of_nest);
  auto* const nest = static_cast<loop_nest*>(std::malloc(size));
  if (nest == nullptr) fail("Out of memory allocating %zu bytes", size);
  nest->dimensions = count;
  nest->shared = 0;
  for (unsigned i = 0; i < count; ++i)
    nest->of[i] = {of[i].lower, of[i].step, count_of(of[i].lower, of[i].upper, of[i].step)};
  self.doacross = nest;
}
OPENMP_API void __kmpc_doacross_fini(ident*, std::int32_t) {
  part& self = entered();
  if (self.doacross == nullptr) return;
  end_loop(self);
  std::free(self.doacross);
  self.doacross = nullptr;
}
OPENMP_API void __kmpc_doacross_post(ident*, std::int32_t, const std::int64_t* values) {
  with_iteration(entered(), values, ompt::dependence_type::source,
                 [](part&, doacross_board& board, const ull* at) { board.post(at); });
}
OPENMP_API void __kmpc_doacross_wait(ident*, std::int32_t, const std::int64_t* values) {
  with_iteration(
      entered(), values, ompt::dependence_type::sink,
      [](part& self, doacross_board& board, const ull* at) { board.wait(*self.at, at); });
}

}  // namespace lockstep::openmp::llvm
