// SPDX-License-Identifier: MIT
// Worksharing loops, in all forms that compilers call them.
#include "loops.hpp"

#include <cstddef>

#include "barrier.hpp"
#include "shared_region.hpp"
#include "task_reductions.hpp"

namespace lockstep::openmp {

loop_spec as_runtime(const loop_spec& loop, const part& self, bool may_be_nonmonotonic,
                     bool has_turns) noexcept {
  const schedule& how = self.variables().run_schedule;
  if (how.kind == schedule_kind::automatic)
    return loop.with(schedule_kind::fixed, true, 0, has_turns);
  return loop.with(how.kind, how.is_monotonic || !may_be_nonmonotonic, how.chunk, has_turns);
}

loop_spec as_numbered(const loop_spec& loop, const part& self, long number, long chunk,
                      bool has_turns) noexcept {
  const unsigned bits = static_cast<unsigned>(number);
  const bool is_monotonic = (bits & monotonic_bit) != 0;
  const schedule_kind how = static_cast<schedule_kind>(bits & ~monotonic_bit);
  if (how == schedule_kind::runtime) return as_runtime(loop, self, !is_monotonic, has_turns);
  if (how == schedule_kind::automatic) return loop.with(schedule_kind::fixed, true, 0, has_turns);
  return loop.with(how, is_monotonic, chunk, has_turns);
}

loop_spec sections_of(unsigned count) noexcept {
  loop_spec made =
      loop_spec::of(0L, static_cast<long>(count), 1L).with(schedule_kind::dynamic, true, 1);
  made.is_of_sections = true;
  return made;
}

void begin_loop(part& self, const loop_spec& loop) noexcept {
  self.loop.begin(loop, self.at, self.rank, self.size);
}

void begin_loop_with(part& self, const loop_spec& loop, std::uintptr_t* reductions,
                     void** memory) noexcept {
  if (reductions == nullptr && memory == nullptr) return begin_loop(self, loop);
  loop_spec with_slot = loop;
  with_slot.needs_slot = true;
  begin_loop(self, with_slot);
  // Alone, its constructs have records one after the other. In a cancelled region, where it has no slot, what the record
  // holds is of no use to anybody.
  const std::uint32_t number = self.is_alone() ? self.singles++ : self.loop.construct();
  construct_record& record = shared_of(self).record_of(number);
  record.lock.lock();
  const bool is_first = record.is_first(number);
  if (reductions != nullptr) begin_construct_reductions(self, reductions, record.reductions);
  if (memory != nullptr) {
    if (is_first) record.clear_memory(reinterpret_cast<std::uintptr_t>(*memory));
    *memory = record.memory;
  }
  record.lock.unlock();
  self.loop.holds_memory = memory != nullptr;
}

void end_loop(part& self) noexcept {
  const bool holds = self.loop.holds_memory;
  self.loop.holds_memory = false;
  self.loop.end(holds);
}

}  // namespace lockstep::openmp

using namespace lockstep::openmp;

namespace {

bool start(part& self, const loop_spec& loop, long* istart, long* iend) noexcept {
  begin_loop(self, loop);
  return self.loop.next(reinterpret_cast<ull*>(istart), reinterpret_cast<ull*>(iend));
}
bool start(part& self, const loop_spec& loop, ull* istart, ull* iend) noexcept {
  begin_loop(self, loop);
  return self.loop.next(istart, iend);
}
bool next(long* istart, long* iend) noexcept {
  return here().loop.next(reinterpret_cast<ull*>(istart), reinterpret_cast<ull*>(iend));
}
bool next(ull* istart, ull* iend) noexcept { return here().loop.next(istart, iend); }

/// With a schedule as a number. Without istart: the program computes its iterations by itself.
template <class Number>
bool start_general(const loop_spec& range, bool has_turns, long number, long chunk, Number* istart,
                   Number* iend, std::uintptr_t* reductions, void** memory) noexcept {
  part& self = here();
  begin_loop_with(self, as_numbered(range, self, number, chunk, has_turns), reductions, memory);
  if (istart == nullptr) return true;
  return self.loop.next(reinterpret_cast<ull*>(istart), reinterpret_cast<ull*>(iend));
}

}  // namespace

// A loop that begins with start, of a kind and order.
#define LOOP_OF(NAME, KIND, MONOTONIC, ORDERED)                                                    \
  OPENMP_API bool GOMP_loop_##NAME##_start(long start_at, long end, long increment, long chunk,    \
                                           long* istart, long* iend) {                             \
    const loop_spec range = loop_spec::of(start_at, end, increment);                               \
    return start(here(), range.with(schedule_kind::KIND, MONOTONIC, chunk, ORDERED), istart,       \
                 iend);                                                                            \
  }                                                                                                \
  OPENMP_API bool GOMP_loop_##NAME##_next(long* istart, long* iend) { return next(istart, iend); } \
  OPENMP_API bool GOMP_loop_ull_##NAME##_start(bool is_up, ull start_at, ull end, ull increment,   \
                                               ull chunk, ull* istart, ull* iend) {                \
    loop_spec range = loop_spec::of(is_up, start_at, end, increment)                               \
                          .with(schedule_kind::KIND, MONOTONIC, 1, ORDERED);                       \
    range.chunk = chunk;                                                                           \
    return start(here(), range, istart, iend);                                                     \
  }                                                                                                \
  OPENMP_API bool GOMP_loop_ull_##NAME##_next(ull* istart, ull* iend) { return next(istart, iend); }

// The same with the schedule that the control variables say.
#define LOOP_AT_RUNTIME(NAME, MAY_BE_NONMONOTONIC, ORDERED)                                        \
  OPENMP_API bool GOMP_loop_##NAME##_start(long start_at, long end, long increment, long* istart,  \
                                           long* iend) {                                           \
    part& self = here();                                                                           \
    const loop_spec range = loop_spec::of(start_at, end, increment);                               \
    return start(self, as_runtime(range, self, MAY_BE_NONMONOTONIC, ORDERED), istart, iend);       \
  }                                                                                                \
  OPENMP_API bool GOMP_loop_##NAME##_next(long* istart, long* iend) { return next(istart, iend); } \
  OPENMP_API bool GOMP_loop_ull_##NAME##_start(bool is_up, ull start_at, ull end, ull increment,   \
                                               ull* istart, ull* iend) {                           \
    part& self = here();                                                                           \
    const loop_spec range = loop_spec::of(is_up, start_at, end, increment);                        \
    return start(self, as_runtime(range, self, MAY_BE_NONMONOTONIC, ORDERED), istart, iend);       \
  }                                                                                                \
  OPENMP_API bool GOMP_loop_ull_##NAME##_next(ull* istart, ull* iend) { return next(istart, iend); }

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

OPENMP_API bool GOMP_loop_start(long start_at, long end, long increment, long number, long chunk,
                                long* istart, long* iend, std::uintptr_t* reductions,
                                void** memory) {
  return start_general(loop_spec::of(start_at, end, increment), false, number, chunk, istart, iend,
                       reductions, memory);
}
OPENMP_API bool GOMP_loop_ordered_start(long start_at, long end, long increment, long number,
                                        long chunk, long* istart, long* iend,
                                        std::uintptr_t* reductions, void** memory) {
  return start_general(loop_spec::of(start_at, end, increment), true, number, chunk, istart, iend,
                       reductions, memory);
}
OPENMP_API bool GOMP_loop_ull_start(bool is_up, ull start_at, ull end, ull increment, long number,
                                    ull chunk, ull* istart, ull* iend, std::uintptr_t* reductions,
                                    void** memory) {
  return start_general(loop_spec::of(is_up, start_at, end, increment), false, number,
                       static_cast<long>(chunk), istart, iend, reductions, memory);
}
OPENMP_API bool GOMP_loop_ull_ordered_start(bool is_up, ull start_at, ull end, ull increment,
                                            long number, ull chunk, ull* istart, ull* iend,
                                            std::uintptr_t* reductions, void** memory) {
  return start_general(loop_spec::of(is_up, start_at, end, increment), true, number,
                       static_cast<long>(chunk), istart, iend, reductions, memory);
}

OPENMP_API void GOMP_loop_end_nowait() { end_loop(here()); }
OPENMP_API void GOMP_loop_end() {
  part& self = here();
  end_loop(self);
  static_cast<void>(pass_barrier(self, "for"));
}
OPENMP_API bool GOMP_loop_end_cancel() {
  part& self = here();
  end_loop(self);
  return !pass_barrier(self, "for");
}
