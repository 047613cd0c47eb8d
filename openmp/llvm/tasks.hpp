// SPDX-License-Identifier: MIT
// openmp/llvm/tasks.hpp -- tasks as LLVM's compilers lay them out
//
// The program asks for memory, fills it in, and then tells what should happen to the task. Our memory of a task
// (explicit_task) is followed by three things: what else we know of it, the compiler's part (kmp_task_t with the
// variables that are private to the task), and the addresses of the variables that it shares.
#ifndef LOCKSTEP_OPENMP_LLVM_TASKS_HPP
#define LOCKSTEP_OPENMP_LLVM_TASKS_HPP

#include <cstddef>
#include <cstdint>

#include "ident.hpp"
#include "runtime/part.hpp"
#include "runtime/task_pool.hpp"

namespace lockstep::openmp::llvm {

struct task_data;
using task_routine = std::int32_t (*)(std::int32_t thread, task_data* of);

/// kmp_task_t. Variables follow.
struct task_data {
  void* shared;
  task_routine routine;
  std::int32_t part;  ///< of an untied task: where it goes on. The program sets it
  union {
    task_routine destructors;  ///< if task_has_destructors
    std::int32_t unused;
  };
  union {
    std::int32_t priority;  ///< if task_has_priority
    task_routine unused_too;
  };
};
static_assert(sizeof(task_data) == 40, "as compilers have it");

/// The bits of __kmpc_omp_task_alloc()'s flags that have a meaning here.
enum task_flag : std::uint32_t {
  task_is_tied = 1,
  task_is_final = 2,
  task_is_mergeable = 4,
  task_has_destructors = 8,
  task_is_proxy = 0x10,  ///< it ends with a call of __kmpc_proxy_task_completed()
  task_has_priority = 0x20
};

/// What lies before the compiler's part.
struct alignas(16) task_front {
  std::uint32_t flags;
  std::uint32_t size;  ///< of all that follows
  std::uint16_t at;    ///< bytes from the begin of the explicit_task
  bool is_running;     ///< it is untied, and runs
  bool goes_on;        ///< it has another part to run

  task_data* data() noexcept { return reinterpret_cast<task_data*>(this + 1); }
  /// The explicit_task whose memory this is in.
  explicit_task& task() noexcept {
    return *reinterpret_cast<explicit_task*>(reinterpret_cast<char*>(this) - at);
  }
  const char* end() noexcept { return reinterpret_cast<const char*>(this + 1) + size; }
};
static_assert((sizeof(explicit_task) + sizeof(task_front)) % 64 == 0,
              "a task's variables begin on a line");

inline task_front& front_of(task_data* of) noexcept {
  return *(reinterpret_cast<task_front*>(of) - 1);
}

/// The outlined function of all tasks. `argument`: a task_front.
void run_task(void* argument) noexcept;
/// Makes a task. All its memory but the variables is set.
task_front& make_task(part& self, std::uint32_t flags, std::size_t size) noexcept;
/// Ends a task that is not to run.
void drop_task(part& self, task_front& of) noexcept;
/// Starts a task, which runs now or later.
void start(part& self, task_front& of, bool is_undeferred, const dependence_list& depend) noexcept;

}  // namespace lockstep::openmp::llvm

#endif  // LOCKSTEP_OPENMP_LLVM_TASKS_HPP
