// SPDX-License-Identifier: MIT
// Internal names of LLVM's runtime: its parts call each other by them, or its debugger looks at them. No compiler calls
// them. They are here so that a program that refers to them loads. A call ends the program with one sentence.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "runtime/abi.hpp"
#include "runtime/message.hpp"

namespace lockstep::openmp::llvm {

#define MISSING(name) \
  OPENMP_API void name() { fail("a call of %s, a function inside of LLVM's runtime", #name); }
MISSING(__kmp_acquire_drdpa_lock)
MISSING(__kmp_acquire_nested_drdpa_lock)
MISSING(__kmp_acquire_nested_queuing_lock)
MISSING(__kmp_acquire_nested_tas_lock)
MISSING(__kmp_acquire_nested_ticket_lock)
MISSING(__kmp_acquire_queuing_lock)
MISSING(__kmp_acquire_tas_lock)
MISSING(__kmp_acquire_ticket_lock)
MISSING(__kmp_fork_call)
MISSING(__kmp_get_reduce_method)
MISSING(__kmp_invoke_microtask)
MISSING(__kmp_itt_fini_ittlib)
MISSING(__kmp_itt_init_ittlib)
MISSING(__kmp_reap_monitor)
MISSING(__kmp_reap_worker)
MISSING(__kmp_release_64)
MISSING(__kmp_reset_stats)
MISSING(__kmp_wait_4)
MISSING(__kmp_wait_64)
MISSING(__kmpc_calc_original_ivs_rectang)
MISSING(__kmpc_for_collapsed_init)
MISSING(__kmpc_get_parent_taskid)
MISSING(__kmpc_get_taskid)
MISSING(__kmpc_invoke_task_func)
MISSING(__kmpc_process_loop_nest_rectang)
MISSING(__kmpc_task_get_depnode)
MISSING(__kmpc_task_get_successors)
MISSING(kmp_threadprivate_insert)
MISSING(kmp_threadprivate_insert_private_data)

// The library for devices asks whether a task may wait for it later. The answer is no, so the task waits at once.
OPENMP_API bool __kmpc_omp_has_task_team(std::int32_t) { return false; }
OPENMP_API void** __kmpc_omp_get_target_async_handle_ptr(std::int32_t) { return nullptr; }
/// The library for devices asks whether a tool wants to be told of devices.
OPENMP_API void ompt_libomp_connect(void*) {}

OPENMP_API void* ___kmp_allocate(std::size_t size) { return std::calloc(1, size); }
OPENMP_API void ___kmp_free(void* block) { std::free(block); }

#define UNUSED_DATA(type, name)                                \
  extern "C" __attribute__((visibility("default"))) type name; \
  type name {}
UNUSED_DATA(int, kmp_a_debug);
UNUSED_DATA(int, kmp_b_debug);
UNUSED_DATA(int, kmp_c_debug);
UNUSED_DATA(int, kmp_d_debug);
UNUSED_DATA(int, kmp_e_debug);
UNUSED_DATA(int, kmp_f_debug);
UNUSED_DATA(int, kmp_diag);
UNUSED_DATA(int, __kmp_debugging);
UNUSED_DATA(int, __kmp_omp_debug_struct_info);
UNUSED_DATA(void*, __kmp_thread_pool);
UNUSED_DATA(std::size_t, kmp_max_mem_alloc);
extern "C" __attribute__((visibility("default"))) const char* kmp_mutex_impl_info[8];
const char* kmp_mutex_impl_info[8] = {};

}  // namespace lockstep::openmp::llvm
