// SPDX-License-Identifier: MIT
// Worksharing loops, in all forms that compilers call them; sections, which are loops, ordered, and loops with
// ordered(n).
#include "runtime/loops.hpp"

#include <cstdarg>
#include <cstdint>

#include "runtime/doacross.hpp"
#include "runtime/ompt.hpp"
#include "runtime/part.hpp"
#include "runtime/shared_region.hpp"
#include "runtime/synchronization.hpp"

using namespace lockstep::openmp;

namespace {

template <class Number>
[[gnu::always_inline]] inline bool next_of(part& self, Number* istart, Number* iend) noexcept {
  return next_chunk(self, reinterpret_cast<ull*>(istart), reinterpret_cast<ull*>(iend));
}
template <class Number>
[[gnu::always_inline]] inline bool start(part& self, const loop_spec& loop, Number* istart,
                                         Number* iend) noexcept {
  begin_loop(self, loop);
  return next_of(self, istart, iend);
}

/// The schedule is a number. Without `istart` the program computes its iterations by itself.
template <class Number>
bool start_general(part& self, const loop_spec& range, bool has_turns, long number, long chunk,
                   Number* istart, Number* iend, std::uintptr_t* reductions,
                   void** memory) noexcept {
  begin_loop_with(self, as_numbered(range, self, number, chunk, has_turns), reductions, memory);
  return istart == nullptr || next_of(self, istart, iend);
}

/// Ends the construct with a barrier. False if the region is cancelled.
bool meet_at_end(part& self, const barrier_kind& kind) noexcept {
  end_loop(self);
  return pass_barrier(self, kind);
}

}  // namespace

#define LOOP_NEXT(NAME)                                                         \
  OPENMP_IN_BOTH(bool, GOMP_loop_##NAME##_next)(long* istart, long* iend) {     \
    return next_of(entered(), istart, iend);                                    \
  }                                                                             \
  OPENMP_IN_BOTH(bool, GOMP_loop_ull_##NAME##_next)(ull * istart, ull * iend) { \
    return next_of(entered(), istart, iend);                                    \
  }

// A loop that begins with start, of a kind and order.
#define LOOP_OF(NAME, KIND, MONOTONIC, ORDERED)                                                 \
  OPENMP_IN_BOTH(bool, GOMP_loop_##NAME##_start)(long start_at, long end, long increment,       \
                                                 long chunk, long* istart, long* iend) {        \
    const loop_spec range = loop_spec::of(start_at, end, increment);                            \
    return start(entered(), range.with(schedule_kind::KIND, MONOTONIC, chunk, ORDERED), istart, \
                 iend);                                                                         \
  }                                                                                             \
  OPENMP_IN_BOTH(bool, GOMP_loop_ull_##NAME##_start)(                                           \
      bool is_up, ull start_at, ull end, ull increment, ull chunk, ull* istart, ull* iend) {    \
    loop_spec range = loop_spec::of(is_up, start_at, end, increment)                            \
                          .with(schedule_kind::KIND, MONOTONIC, 1, ORDERED);                    \
    range.chunk = chunk;                                                                        \
    return start(entered(), range, istart, iend);                                               \
  }                                                                                             \
  LOOP_NEXT(NAME)

// The same with the schedule in the control variables.
#define LOOP_AT_RUNTIME(NAME, MAY_BE_NONMONOTONIC, ORDERED)                                   \
  OPENMP_IN_BOTH(bool, GOMP_loop_##NAME##_start)(long start_at, long end, long increment,     \
                                                 long* istart, long* iend) {                  \
    part& self = entered();                                                                   \
    const loop_spec range = loop_spec::of(start_at, end, increment);                          \
    return start(self, as_runtime(range, self, MAY_BE_NONMONOTONIC, ORDERED), istart, iend);  \
  }                                                                                           \
  OPENMP_IN_BOTH(bool, GOMP_loop_ull_##NAME##_start)(bool is_up, ull start_at, ull end,       \
                                                     ull increment, ull* istart, ull* iend) { \
    part& self = entered();                                                                   \
    const loop_spec range = loop_spec::of(is_up, start_at, end, increment);                   \
    return start(self, as_runtime(range, self, MAY_BE_NONMONOTONIC, ORDERED), istart, iend);  \
  }                                                                                           \
  LOOP_NEXT(NAME)

LOOP_OF(static, fixed, true, false)
LOOP_OF(dynamic, dynamic, true, false)
LOOP_OF(guided, guided, true, false)
LOOP_OF(nonmonotonic_dynamic, dynamic, false, false)
LOOP_OF(nonmonotonic_guided, guided, false, false)
LOOP_OF(ordered_static, fixed, true, true)
LOOP_OF(ordered_dynamic, dynamic, true, true)
LOOP_OF(ordered_guided, guided, true, true)
LOOP_AT_RUNTIME(runtime, false, false)
LOOP_AT_RUNTIME(nonmonotonic_runtime, true, false)
LOOP_AT_RUNTIME(maybe_nonmonotonic_runtime, true, false)
LOOP_AT_RUNTIME(ordered_runtime, false, true)

#undef LOOP_OF
#undef LOOP_AT_RUNTIME
#undef LOOP_NEXT

// The same with the schedule as a number, which the compiler passes.
#define LOOP_AS_NUMBERED(NAME, ORDERED)                                                            \
  OPENMP_IN_BOTH(bool, GOMP_loop_##NAME##start)(long start_at, long end, long increment,           \
                                                long number, long chunk, long* istart, long* iend, \
                                                std::uintptr_t* reductions, void** memory) {       \
    return start_general(entered(), loop_spec::of(start_at, end, increment), ORDERED, number,      \
                         chunk, istart, iend, reductions, memory);                                 \
  }                                                                                                \
  OPENMP_IN_BOTH(bool, GOMP_loop_ull_##NAME##start)(                                               \
      bool is_up, ull start_at, ull end, ull increment, long number, ull chunk, ull* istart,       \
      ull* iend, std::uintptr_t* reductions, void** memory) {                                      \
    return start_general(entered(), loop_spec::of(is_up, start_at, end, increment), ORDERED,       \
                         number, static_cast<long>(chunk), istart, iend, reductions, memory);      \
  }
LOOP_AS_NUMBERED(, false)
LOOP_AS_NUMBERED(ordered_, true)
#undef LOOP_AS_NUMBERED

OPENMP_IN_BOTH(void, GOMP_loop_end_nowait)() { end_loop(entered()); }
OPENMP_IN_BOTH(void, GOMP_loop_end)() { static_cast<void>(meet_at_end(entered(), of_loop)); }
OPENMP_IN_BOTH(bool, GOMP_loop_end_cancel)() { return !meet_at_end(entered(), of_loop); }

// --- sections, and scope: a construct with a record and no iterations ---

namespace {

/// The number of the section that this member runs next, from 1 on; 0: none is left.
unsigned next_section(part& self) noexcept {
  ull first, last;
  if (!self.loop.next(first, last)) return 0;
  if (has_tool()) ompt::tell_section(self);
  return static_cast<unsigned>(first) + 1;
}

}  // namespace

OPENMP_IN_BOTH(unsigned, GOMP_sections_start)(unsigned count) {
  part& self = entered();
  begin_loop(self, sections_of(count));
  return next_section(self);
}
OPENMP_IN_BOTH(unsigned, GOMP_sections2_start)(unsigned count, std::uintptr_t* reductions,
                                               void** memory) {
  part& self = entered();
  begin_loop_with(self, sections_of(count), reductions, memory);
  return next_section(self);
}
OPENMP_IN_BOTH(unsigned, GOMP_sections_next)() { return next_section(entered()); }
OPENMP_IN_BOTH(void, GOMP_sections_end_nowait)() { end_loop(entered()); }
OPENMP_IN_BOTH(void, GOMP_sections_end)() {
  static_cast<void>(meet_at_end(entered(), of_sections));
}
OPENMP_IN_BOTH(bool, GOMP_sections_end_cancel)() { return !meet_at_end(entered(), of_sections); }

OPENMP_API void GOMP_scope_start(std::uintptr_t* reductions) {
  part& self = entered();
  loop_spec nothing = loop_spec::of(0L, 0L, 1L).with(schedule_kind::fixed, true, 0);
  nothing.is_scope = true;
  begin_loop_with(self, nothing, reductions, nullptr);
  self.loop.end();
}

// --- ordered ---

OPENMP_IN_BOTH(void, GOMP_ordered_start)() { begin_ordered(entered()); }
OPENMP_IN_BOTH(void, GOMP_ordered_end)() { end_ordered(entered()); }

// --- loops with ordered(n), depend(source) and depend(sink: ...) ---

namespace {

template <class Number>
bool start(part& self, unsigned dimensions, const Number* counts, const loop_spec& loop,
           Number* istart, Number* iend, std::uintptr_t* reductions = nullptr,
           void** memory = nullptr) noexcept {
  begin_doacross(self, loop, reinterpret_cast<const ull*>(counts), dimensions, reductions, memory);
  return istart == nullptr || next_of(self, istart, iend);
}

/// The outermost loop counts from 0 in steps of 1.
loop_spec range_of(ull count) noexcept { return loop_spec::of<ull>(true, 0, count, 1); }
loop_spec range_of(long count) noexcept { return loop_spec::of(0L, count, 1L); }

template <class Number>
void wait_for(Number first, std::va_list others) noexcept {
  part& self = here();
  doacross_board* const board = doacross_of(self);
  if (board == nullptr) return;
  Number at[doacross_board::most_dimensions];
  at[0] = first;
  for (unsigned i = 1; i < board->dimensions(); ++i) at[i] = va_arg(others, Number);
  if (has_tool()) tell_iteration(self, at, board->dimensions(), ompt::dependence_type::sink);
  board->wait(*self.at, at);
}

template <class Number>
void post(part& self, const Number* at) noexcept {
  doacross_board* const board = doacross_of(self);
  if (board == nullptr) return;
  if (has_tool()) tell_iteration(self, at, board->dimensions(), ompt::dependence_type::source);
  board->post(at);
}

}  // namespace

#define DOACROSS_OF(PREFIX, NUMBER, NAME, KIND)                                       \
  OPENMP_IN_BOTH(bool, GOMP_loop_##PREFIX##doacross_##NAME##_start)                   \
  (unsigned dimensions, NUMBER* counts, NUMBER chunk, NUMBER* istart, NUMBER* iend) { \
    loop_spec range = range_of(counts[0]).with(schedule_kind::KIND, true, 1);         \
    range.chunk = static_cast<ull>(chunk);                                            \
    return start(entered(), dimensions, counts, range, istart, iend);                 \
  }
#define DOACROSS(PREFIX, NUMBER)                                                                   \
  DOACROSS_OF(PREFIX, NUMBER, static, fixed)                                                       \
  DOACROSS_OF(PREFIX, NUMBER, dynamic, dynamic)                                                    \
  DOACROSS_OF(PREFIX, NUMBER, guided, guided)                                                      \
  OPENMP_IN_BOTH(bool, GOMP_loop_##PREFIX##doacross_runtime_start)                                 \
  (unsigned dimensions, NUMBER* counts, NUMBER* istart, NUMBER* iend) {                            \
    part& self = entered();                                                                        \
    return start(self, dimensions, counts, as_runtime(range_of(counts[0]), self, false), istart,   \
                 iend);                                                                            \
  }                                                                                                \
  OPENMP_IN_BOTH(bool, GOMP_loop_##PREFIX##doacross_start)                                         \
  (unsigned dimensions, NUMBER* counts, long number, NUMBER chunk, NUMBER* istart, NUMBER* iend,   \
   std::uintptr_t* reductions, void** memory) {                                                    \
    part& self = entered();                                                                        \
    return start(self, dimensions, counts,                                                         \
                 as_numbered(range_of(counts[0]), self, number, static_cast<long>(chunk)), istart, \
                 iend, reductions, memory);                                                        \
  }                                                                                                \
  OPENMP_IN_BOTH(void, GOMP_doacross_##PREFIX##post)(NUMBER * at) { post(entered(), at); }         \
  OPENMP_IN_BOTH(void, GOMP_doacross_##PREFIX##wait)(NUMBER first, ...) {                          \
    std::va_list others;                                                                           \
    va_start(others, first);                                                                       \
    wait_for(first, others);                                                                       \
    va_end(others);                                                                                \
  }

DOACROSS(, long)
DOACROSS(ull_, ull)

#undef DOACROSS
