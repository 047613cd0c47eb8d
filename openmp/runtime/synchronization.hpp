// SPDX-License-Identifier: MIT
// openmp/runtime/synchronization.hpp -- barriers, the lock of atomic operations, and cancellation
//
// A barrier is that of lockstep's team. A member that waits there is called to help where tasks are ready
// (team_barrier.hpp). When all have arrived, the tasks that were made before are finished (POOL-1 of task_pool.hpp).
//
// A cancelled region is a stopped region of lockstep: its barriers release all members. A cancelled loop or sections
// construct has a mark from the cancel to its barrier. Constructs that can be cancelled have no nowait.
#ifndef LOCKSTEP_OPENMP_RUNTIME_SYNCHRONIZATION_HPP
#define LOCKSTEP_OPENMP_RUNTIME_SYNCHRONIZATION_HPP

#include <lockstep/mutex.hpp>

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

// --- atomic operations that the processor does not have ---

/// One for the process: programs of two compilers may change one variable.
inline constinit lockstep::mutex atomic_lock;

// --- cancellation, where OMP_CANCELLATION allows it ---

/// Whether `cancel parallel` has ended the region early.
bool is_region_cancelled(const part& self) noexcept;

/// What `cancel` ends. Loops and sections share a value: a part is in one of them at most.
enum class cancel_kind { parallel, work, taskgroup };

/// A cancellation point: whether it was cancelled.
bool is_cancelled(part& self, cancel_kind kind) noexcept;
/// True: the encountering task has to leave what it has cancelled.
bool cancel(part& self, cancel_kind kind) noexcept;

}  // namespace lockstep::openmp

#endif  // LOCKSTEP_OPENMP_RUNTIME_SYNCHRONIZATION_HPP
