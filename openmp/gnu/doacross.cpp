// SPDX-License-Identifier: MIT
// Loops with ordered(n), depend(source) and depend(sink: ...).
#include <cstdarg>
#include <cstdint>

#include "runtime/doacross.hpp"
#include "runtime/loops.hpp"
#include "runtime/part.hpp"
#include "runtime/shared_region.hpp"

using namespace lockstep::openmp;

namespace {

template <class Number>
bool start(unsigned dimensions, const Number* counts, const loop_spec& loop, Number* istart,
           Number* iend, std::uintptr_t* reductions, void** memory) noexcept {
  part& self = here();
  begin_doacross(self, loop, reinterpret_cast<const ull*>(counts), dimensions, reductions, memory);
  if (istart == nullptr) return true;
  return self.loop.next(reinterpret_cast<ull*>(istart), reinterpret_cast<ull*>(iend));
}

/// The outermost loop counts from 0 in steps of 1.
loop_spec range_of(ull count) noexcept { return loop_spec::of(true, 0, count, 1); }
loop_spec range_of(long count) noexcept { return loop_spec::of(0L, count, 1L); }

template <class Number>
bool start_as(schedule_kind how, unsigned dimensions, const Number* counts, Number chunk,
              Number* istart, Number* iend) noexcept {
  loop_spec range = range_of(counts[0]).with(how, true, 1);
  range.chunk = static_cast<ull>(chunk);
  return start(dimensions, counts, range, istart, iend, nullptr, nullptr);
}
template <class Number>
bool start_at_runtime(unsigned dimensions, const Number* counts, Number* istart,
                      Number* iend) noexcept {
  return start(dimensions, counts, as_runtime(range_of(counts[0]), here(), false), istart, iend,
               nullptr, nullptr);
}

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

}  // namespace

#define DOACROSS_OF(PREFIX, NUMBER, NAME, KIND)                                       \
  OPENMP_IN_BOTH(bool, GOMP_loop_##PREFIX##doacross_##NAME##_start)                   \
  (unsigned dimensions, NUMBER* counts, NUMBER chunk, NUMBER* istart, NUMBER* iend) { \
    return start_as(schedule_kind::KIND, dimensions, counts, chunk, istart, iend);    \
  }
#define DOACROSS(PREFIX, NUMBER)                                                                   \
  DOACROSS_OF(PREFIX, NUMBER, static, fixed)                                                       \
  DOACROSS_OF(PREFIX, NUMBER, dynamic, dynamic)                                                    \
  DOACROSS_OF(PREFIX, NUMBER, guided, guided)                                                      \
  OPENMP_IN_BOTH(bool, GOMP_loop_##PREFIX##doacross_runtime_start)                                 \
  (unsigned dimensions, NUMBER* counts, NUMBER* istart, NUMBER* iend) {                            \
    return start_at_runtime(dimensions, counts, istart, iend);                                     \
  }                                                                                                \
  OPENMP_IN_BOTH(bool, GOMP_loop_##PREFIX##doacross_start)                                         \
  (unsigned dimensions, NUMBER* counts, long number, NUMBER chunk, NUMBER* istart, NUMBER* iend,   \
   std::uintptr_t* reductions, void** memory) {                                                    \
    const loop_spec range = range_of(counts[0]);                                                   \
    return start(dimensions, counts, as_numbered(range, here(), number, static_cast<long>(chunk)), \
                 istart, iend, reductions, memory);                                                \
  }

DOACROSS(, long)
DOACROSS(ull_, ull)

#undef DOACROSS

namespace {

template <class Number>
void post(part& self, const Number* at) noexcept {
  doacross_board* const board = doacross_of(self);
  if (board == nullptr) return;
  if (has_tool()) tell_iteration(self, at, board->dimensions(), ompt::dependence_type::source);
  board->post(at);
}

}  // namespace

OPENMP_IN_BOTH(void, GOMP_doacross_post)(long* at) { post(entered(), at); }
OPENMP_IN_BOTH(void, GOMP_doacross_ull_post)(ull* at) { post(entered(), at); }
OPENMP_IN_BOTH(void, GOMP_doacross_wait)(long first, ...) {
  std::va_list others;
  va_start(others, first);
  wait_for(first, others);
  va_end(others);
}
OPENMP_IN_BOTH(void, GOMP_doacross_ull_wait)(ull first, ...) {
  std::va_list others;
  va_start(others, first);
  wait_for(first, others);
  va_end(others);
}
