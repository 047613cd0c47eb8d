// SPDX-License-Identifier: MIT
// The functions kmp_... of LLVM's omp.h, and allocators as its compilers call them. Settings that only tune LLVM's
// runtime are accepted and ignored: the number of dispatch buffers, warnings.
#include <pthread.h>

#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "platform/cpus.hpp"

#include "api/api.hpp"
#include "ident.hpp"
#include "runtime/affinity.hpp"
#include "runtime/allocators.hpp"
#include "runtime/control_variables.hpp"
#include "runtime/message.hpp"
#include "runtime/parallel.hpp"
#include "runtime/pool.hpp"
#include "runtime/synchronization.hpp"
#include "runtime/task_groups.hpp"

namespace lockstep::openmp::llvm {
namespace {

// --- stacks ---

std::size_t default_stack_size() noexcept {
  pthread_attr_t usual;
  std::size_t size = 0;
  if (pthread_attr_init(&usual) != 0) return 0;
  pthread_attr_getstacksize(&usual, &size);
  pthread_attr_destroy(&usual);
  return size;
}

// --- how threads wait: 1 serial, 2 turnaround, 3 throughput ---

enum library : int { serial = 1, turnaround = 2, throughput = 3 };
int chosen_library = throughput;

// --- masks of CPUs ---

/// One bit for each CPU.
using mask_word = unsigned long;
constexpr unsigned word_bits = 8 * sizeof(mask_word);
constexpr std::size_t mask_bytes = detail::max_cpus / 8;

mask_word& word_of(void** mask, unsigned cpu) noexcept {
  return static_cast<mask_word*>(*mask)[cpu / word_bits];
}
mask_word bit_of(unsigned cpu) noexcept { return mask_word{1} << cpu % word_bits; }
bool has(void** mask, unsigned cpu) noexcept { return (word_of(mask, cpu) & bit_of(cpu)) != 0; }

/// -1 if there is no such CPU, -2 if the process may not use it.
int refusal_of(int cpu) noexcept {
  if (cpu < 0 || cpu >= static_cast<int>(detail::max_cpus)) return -1;
  return affinity::may_use(static_cast<unsigned>(cpu)) ? 0 : -2;
}

}  // namespace

OPENMP_API std::size_t kmp_get_stacksize_s() {
  const std::size_t size = called_settings().stack_size;
  return size != 0 ? size : default_stack_size();
}
OPENMP_API int kmp_get_stacksize() {
  const std::size_t size = kmp_get_stacksize_s();
  return size < INT_MAX ? static_cast<int>(size) : INT_MAX;
}
/// For threads that are made from now on.
OPENMP_API void kmp_set_stacksize_s(std::size_t size) {
  constexpr std::size_t least = 16384;  // PTHREAD_STACK_MIN
  called_settings().stack_size = size < least ? least : size;
}
OPENMP_API void kmp_set_stacksize(int size) {
  kmp_set_stacksize_s(size > 0 ? static_cast<std::size_t>(size) : 0);
}

OPENMP_API int kmp_get_blocktime() { return called_settings().blocktime; }
OPENMP_API void kmp_set_blocktime(int milliseconds) {
  const int wanted = milliseconds > 0 ? milliseconds : 0;
  if (wanted == called_settings().blocktime && process_settings().has_waiting) return;
  set_blocktime(wanted);
  pool::renew_teams(this_record);
}
OPENMP_API void kmp_set_library(int which) {
  if (which < serial || which > throughput) return;
  chosen_library = which;
  if (which == serial) omp_set_num_threads(1);
  if (which == turnaround) kmp_set_blocktime(INT_MAX);
}
OPENMP_API int kmp_get_library() { return chosen_library; }
OPENMP_API void kmp_set_library_serial() { kmp_set_library(serial); }
OPENMP_API void kmp_set_library_turnaround() { kmp_set_library(turnaround); }
OPENMP_API void kmp_set_library_throughput() { kmp_set_library(throughput); }

/// "NAME=VALUE|NAME=VALUE": sets variables, as if they were in the environment.
OPENMP_API void kmp_set_defaults(const char* text) {
  while (text != nullptr && *text != 0) {
    const std::size_t length = std::strcspn(text, "|");
    char* const one = strndup(text, length);
    if (one == nullptr) fail("Out of memory");
    if (char* const equals = std::strchr(one, '=')) {
      *equals = 0;
      setenv(one, equals + 1, 1);
    }
    std::free(one);
    text += length + (text[length] == '|' ? 1 : 0);
  }
  read_environment_again();
}
OPENMP_API void kmp_set_disp_num_buffers(int) {}
OPENMP_API void kmp_set_warnings_on() { quiet(false); }
OPENMP_API void kmp_set_warnings_off() { quiet(true); }

/// How many threads there are for the calling one, itself included.
OPENMP_API int kmp_get_num_known_threads() { return pool::count_threads(this_record); }
/// Whether the region (1), loop (2), sections (3) or taskgroup (4) that the thread is in is cancelled.
OPENMP_API int kmp_get_cancellation_status(int kind) {
  const part& self = here();
  if (kind == 4) return is_taskgroup_cancelled(*self.running) ? 1 : 0;
  return kind == 1 && self.function != nullptr && is_region_cancelled(self) ? 1 : 0;
}

OPENMP_API void* kmp_malloc(std::size_t size) { return std::malloc(size); }
OPENMP_API void* kmp_calloc(std::size_t count, std::size_t size) {
  return std::calloc(count, size);
}
OPENMP_API void* kmp_realloc(void* block, std::size_t size) { return std::realloc(block, size); }
OPENMP_API void kmp_free(void* block) { std::free(block); }
OPENMP_API void* kmp_aligned_malloc(std::size_t size, std::size_t align) {
  void* block = nullptr;
  if (align < sizeof(void*)) align = sizeof(void*);
  return posix_memalign(&block, align, size) == 0 ? block : nullptr;
}

// --- affinity. Functions return 0 where they have done it ---

OPENMP_API int kmp_get_affinity_max_proc() { return static_cast<int>(detail::max_cpus); }
OPENMP_API void kmp_create_affinity_mask(void** mask) { *mask = std::calloc(1, mask_bytes); }
OPENMP_API void kmp_destroy_affinity_mask(void** mask) {
  std::free(*mask);
  *mask = nullptr;
}
OPENMP_API int kmp_set_affinity_mask_proc(int number, void** mask) {
  const unsigned cpu = static_cast<unsigned>(number);
  const int refusal = refusal_of(number);
  if (refusal == 0) word_of(mask, cpu) |= bit_of(cpu);
  return refusal;
}
OPENMP_API int kmp_unset_affinity_mask_proc(int number, void** mask) {
  const unsigned cpu = static_cast<unsigned>(number);
  const int refusal = refusal_of(number);
  if (refusal == 0) word_of(mask, cpu) &= ~bit_of(cpu);
  return refusal;
}
OPENMP_API int kmp_get_affinity_mask_proc(int number, void** mask) {
  const int refusal = refusal_of(number);
  if (refusal != 0) return refusal == -1 ? -1 : 0;
  return has(mask, static_cast<unsigned>(number)) ? 1 : 0;
}
/// The thread stays where it is set until its next region places it again.
OPENMP_API int kmp_set_affinity(void** mask) {
  std::vector<unsigned> cpus;
  for (unsigned cpu = 0; cpu < detail::max_cpus; ++cpu) {
    if (has(mask, cpu)) cpus.push_back(cpu);
  }
  this_record.bound_place = -1;
  return affinity::bind_to(cpus) ? 0 : -1;
}
OPENMP_API int kmp_get_affinity(void** mask) {
  std::memset(*mask, 0, mask_bytes);
  const std::vector<unsigned> cpus = detail::affinity();
  for (const unsigned cpu : cpus) word_of(mask, cpu) |= bit_of(cpu);
  return cpus.empty() ? -1 : 0;
}
OPENMP_API int kmp_set_thread_affinity_mask_initial() {
  affinity::bind_this_thread(-1);
  return 0;
}

// --- the same with arguments by value, or by address: of Fortran, and of languages without omp.h ---

OPENMP_API void kmp_set_stacksize_(const int* size) { kmp_set_stacksize(*size); }
OPENMP_API void kmp_set_stacksize_s_(const std::size_t* size) { kmp_set_stacksize_s(*size); }
OPENMP_API void kmp_set_blocktime_(const int* milliseconds) { kmp_set_blocktime(*milliseconds); }
OPENMP_API void kmp_set_library_(const int* which) { kmp_set_library(*which); }
OPENMP_API void kmp_set_defaults_(const char* text, int length) {
  char* const copy = strndup(text, static_cast<std::size_t>(length));
  kmp_set_defaults(copy);
  std::free(copy);
}
OPENMP_API void kmp_set_disp_num_buffers_(const int*) {}
OPENMP_API int kmp_get_cancellation_status_(const int* kind) {
  return kmp_get_cancellation_status(*kind);
}
OPENMP_API void* kmp_malloc_(const std::size_t* size) { return kmp_malloc(*size); }
OPENMP_API void* kmp_calloc_(const std::size_t* count, const std::size_t* size) {
  return kmp_calloc(*count, *size);
}
OPENMP_API void* kmp_realloc_(void** block, const std::size_t* size) {
  return kmp_realloc(*block, *size);
}
OPENMP_API void kmp_free_(void** block) { kmp_free(*block); }
OPENMP_API void* kmp_aligned_malloc_(const std::size_t* size, const std::size_t* align) {
  return kmp_aligned_malloc(*size, *align);
}
OPENMP_API int kmp_set_affinity_mask_proc_(const int* cpu, void** mask) {
  return kmp_set_affinity_mask_proc(*cpu, mask);
}
OPENMP_API int kmp_unset_affinity_mask_proc_(const int* cpu, void** mask) {
  return kmp_unset_affinity_mask_proc(*cpu, mask);
}
OPENMP_API int kmp_get_affinity_mask_proc_(const int* cpu, void** mask) {
  return kmp_get_affinity_mask_proc(*cpu, mask);
}
ALSO_IN_FORTRAN(
    "kmp_get_stacksize, kmp_get_stacksize_s, kmp_get_blocktime, kmp_get_library, "
    "kmp_set_library_serial, kmp_set_library_turnaround, kmp_set_library_throughput, "
    "kmp_set_warnings_on, kmp_set_warnings_off, kmp_get_num_known_threads, "
    "kmp_get_affinity_max_proc, kmp_create_affinity_mask, kmp_destroy_affinity_mask, "
    "kmp_set_affinity, kmp_get_affinity");
ALSO_AS("kmpc_", "kmp_",
        "set_stacksize, set_stacksize_s, set_blocktime, set_library, set_defaults, "
        "set_disp_num_buffers, set_affinity_mask_proc, unset_affinity_mask_proc, "
        "get_affinity_mask_proc, malloc, calloc, realloc, free, aligned_malloc");

// --- allocators: as in omp.h, behind the thread's number ---

using allocators::handle;

OPENMP_API handle __kmpc_init_allocator(int, std::uintptr_t space, int count,
                                        const allocators::trait* traits) {
  return allocators::make(space, count, traits);
}
OPENMP_API void __kmpc_destroy_allocator(int, handle which) { allocators::destroy(which); }
OPENMP_API void __kmpc_set_default_allocator(int, handle which) {
  omp_set_default_allocator(which);
}
OPENMP_API handle __kmpc_get_default_allocator(int) { return omp_get_default_allocator(); }
OPENMP_API void* __kmpc_alloc(int, std::size_t size, handle from) {
  return allocators::allocate(1, size, from, false);
}
OPENMP_API void* __kmpc_aligned_alloc(int, std::size_t align, std::size_t size, handle from) {
  return allocators::allocate(align, size, from, false);
}
OPENMP_API void* __kmpc_calloc(int, std::size_t count, std::size_t size, handle from) {
  return omp_calloc(count, size, from);
}
OPENMP_API void* __kmpc_realloc(int, void* block, std::size_t size, handle from, handle) {
  return allocators::reallocate(block, size, from);
}
OPENMP_API void __kmpc_free(int, void* block, handle) { allocators::release(block); }

// Constants of Fortran's modules, for C compilers from before allocators were numbers.
#define CONSTANT(name, value)                                                \
  extern "C" __attribute__((visibility("default"))) const handle omp_##name; \
  const handle omp_##name = value
CONSTANT(null_allocator, 0);
CONSTANT(default_mem_alloc, 1);
CONSTANT(large_cap_mem_alloc, 2);
CONSTANT(const_mem_alloc, 3);
CONSTANT(high_bw_mem_alloc, 4);
CONSTANT(low_lat_mem_alloc, 5);
CONSTANT(cgroup_mem_alloc, 6);
CONSTANT(pteam_mem_alloc, 7);
CONSTANT(thread_mem_alloc, 8);
CONSTANT(default_mem_space, 0);
CONSTANT(large_cap_mem_space, 1);
CONSTANT(const_mem_space, 2);
CONSTANT(high_bw_mem_space, 3);
CONSTANT(low_lat_mem_space, 4);

// --- devices: there are none ---

OPENMP_API int __kmpc_get_target_offload() {
  // 0 disabled, 1 default, 2 mandatory.
  const target_offload how = called_settings().offload;
  return how == target_offload::mandatory ? 2 : how == target_offload::usual ? 1 : 0;
}
OPENMP_API int __kmpc_pause_resource(int kind) { return omp_pause_resource_all(kind); }

}  // namespace lockstep::openmp::llvm
