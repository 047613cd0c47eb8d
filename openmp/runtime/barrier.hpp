// SPDX-License-Identifier: MIT
// openmp/runtime/barrier.hpp -- all members of a region wait for all, and run tasks meanwhile
//
// This is the barrier of lockstep's team. A member that waits there is called to help where tasks are ready
// (team_barrier.hpp). When all have arrived, the tasks that were made before are finished (POOL-1 of task_pool.hpp).
#ifndef LOCKSTEP_OPENMP_RUNTIME_BARRIER_HPP
#define LOCKSTEP_OPENMP_RUNTIME_BARRIER_HPP

#include "ompt_types.hpp"
#include "part.hpp"

namespace lockstep::openmp {

/// What observers and tools call a barrier.
struct barrier_kind {
  const char* name;
  ompt::sync_kind told;
};
constexpr barrier_kind of_program = {"barrier", ompt::sync_kind::barrier_explicit},
                       of_loop = {"for", ompt::sync_kind::barrier_implicit_workshare},
                       of_sections = {"sections", ompt::sync_kind::barrier_implicit_workshare},
                       of_copyprivate = {"copyprivate", ompt::sync_kind::barrier_implementation},
                       of_region = {"end of region", ompt::sync_kind::barrier_implicit_parallel};

bool pass_barrier_told(part& self, const barrier_kind& kind) noexcept;
/// For programs without a tool, or barriers that a tool is told of elsewhere.
bool pass_barrier_untold(part& self, const barrier_kind& kind) noexcept;

/// Blocks until all members of the region have called it as often as this one, and all tasks made before have ended.
/// Once the region is cancelled, it returns false without waiting.
inline bool pass_barrier(part& self, const barrier_kind& kind = of_program) noexcept {
  return has_tool() ? pass_barrier_told(self, kind) : pass_barrier_untold(self, kind);
}

/// The same for functions that programs call, as the first thing that they do: with a tool it takes another way.
bool pass_barrier_called(const barrier_kind& kind, ompt::code from, void* frame) noexcept;
[[gnu::always_inline]] inline bool enter_barrier(const barrier_kind& kind = of_program) noexcept {
  if (has_tool())
    return pass_barrier_called(kind, __builtin_return_address(0), __builtin_dwarf_cfa());
  return pass_barrier_untold(here(), kind);
}

/// A task has become ready: members that sleep in the barrier of this region look again (POOL-2).
void wake_barrier(detail::member_state& at) noexcept;

/// Whether `cancel parallel` has ended the region early.
bool is_region_cancelled(const part& self) noexcept;

}  // namespace lockstep::openmp

#endif  // LOCKSTEP_OPENMP_RUNTIME_BARRIER_HPP
