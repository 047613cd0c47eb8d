// SPDX-License-Identifier: MIT
// openmp/runtime/loops.hpp -- begins loops, also for constructs that combine them with something else
#ifndef LOCKSTEP_OPENMP_RUNTIME_LOOPS_HPP
#define LOCKSTEP_OPENMP_RUNTIME_LOOPS_HPP

#include <cstdint>

#include "loop_cursor.hpp"
#include "part.hpp"

namespace lockstep::openmp {

/// The loop with schedule(runtime). `may_be_nonmonotonic`: the program does not ask for the order of iterations.
loop_spec as_runtime(const loop_spec& loop, const part& self, bool may_be_nonmonotonic,
                     bool has_turns = false) noexcept;
/// The loop with a schedule given by its number, as the compiler passes it with general loops.
loop_spec as_numbered(const loop_spec& loop, const part& self, long number, long chunk,
                      bool has_turns = false) noexcept;
/// The sections of a construct as a loop, 0 to count - 1.
loop_spec sections_of(unsigned count) noexcept;

/// Tells a tool that the loop has begun.
void tell_loop(part& self, const loop_spec& loop) noexcept;

/// Begins a construct on this member.
void begin_loop(part& self, const loop_spec& loop) noexcept;
/// The same with what members share beside the iterations: arrays of task reductions, or null; and memory, or null.
/// `*memory` is its size before the call, and its address after it.
void begin_loop_with(part& self, const loop_spec& loop, std::uintptr_t* reductions,
                     void** memory) noexcept;
/// The next chunk of this member, as the program counts.
bool next_chunk_told(part& self, ull* start, ull* end) noexcept;
[[gnu::always_inline]] inline bool next_chunk(part& self, ull* start, ull* end) noexcept {
  return has_tool() ? next_chunk_told(self, start, end) : self.loop.next(start, end);
}
/// Ends it without a barrier.
void end_loop(part& self) noexcept;

/// An ordered region. It begins when the ordered regions of all iterations before the member's chunk are over. The turn
/// passes when the member asks for its next chunk (CURSOR-2 of loop_cursor.hpp).
void begin_ordered(part& self) noexcept;
void end_ordered(part& self) noexcept;

}  // namespace lockstep::openmp

#endif  // LOCKSTEP_OPENMP_RUNTIME_LOOPS_HPP
