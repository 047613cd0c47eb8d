// SPDX-License-Identifier: MIT
// target, target data and teams: there are no devices, so the host runs them, on its own memory. Maps need no copies.
//
// A target region begins as a program does, with an initial part that is in no region. `teams` runs its teams one after
// another, on the encountering thread. Each team has all threads for its regions.
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "api/api.hpp"
#include "api/depend.hpp"
#include "runtime/abi.hpp"
#include "runtime/control_variables.hpp"
#include "runtime/message.hpp"
#include "runtime/parallel.hpp"
#include "runtime/part.hpp"
#include "runtime/tasks.hpp"

using namespace lockstep::openmp;

namespace {

// --- what the compiler passes ---

constexpr unsigned flag_nowait = 1;     // of a target construct
constexpr int device_of_false_if = -2;  // target if(false)
constexpr unsigned kind_mask =
    0xff;  // of a map's kind; above it: the binary logarithm of the alignment
constexpr unsigned kind_firstprivate = 12;

// Arguments of a construct: pairs, or words with the value in the upper bits; null at the end.
constexpr std::uintptr_t argument_is_pair = 1u << 7;
constexpr std::uintptr_t argument_id_mask = 0xffu << 8;
constexpr std::uintptr_t argument_thread_limit = 2u << 8;
constexpr unsigned argument_value_shift = 16;

/// thread_limit() of the construct; 0: none.
int thread_limit_in(void** arguments) noexcept {
  if (arguments == nullptr) return 0;
  int limit = 0;
  while (*arguments != nullptr) {
    const std::uintptr_t word = reinterpret_cast<std::uintptr_t>(*arguments++);
    std::intptr_t value = static_cast<std::intptr_t>(word) >> argument_value_shift;
    if ((word & argument_is_pair) != 0) value = reinterpret_cast<std::intptr_t>(*arguments++);
    if ((word & argument_id_mask) != argument_thread_limit || value <= 0) continue;
    limit = value > INT_MAX ? INT_MAX : static_cast<int>(value);
  }
  return limit;
}

/// With OMP_TARGET_OFFLOAD=mandatory only constructs that name the host may run here.
void check_device(int device) noexcept {
  if (process_settings().offload != target_offload::mandatory || device == device_of_false_if)
    return;
  if (device == -1) device = omp_get_default_device();
  if (device != omp_get_initial_device())
    fail("OMP_TARGET_OFFLOAD is MANDATORY, and there is no device %d", device);
}

// --- target regions ---

void run_on_host(outlined_function function, void** variables, int thread_limit) noexcept {
  lone_part self(here(), nullptr, region_request());
  self.level = self.active_level = 0;
  self.team_num = 0;
  self.num_teams = 1;
  self.is_in_teams = false;
  self.implicit.variables = &process_settings().initial;
  if (thread_limit > 0) self.implicit.own_variables().thread_limit = thread_limit;
  function(variables);
}

/// A target region that may run later, with the addresses of its variables and copies of those that are firstprivate.
struct kept_call {
  outlined_function function;
  void** variables;
  int thread_limit;
};

bool is_firstprivate(unsigned short kind) noexcept {
  return (kind & kind_mask) == kind_firstprivate;
}

/// Makes it in one block, which is to be freed.
kept_call* keep(outlined_function function, std::size_t count, void** variables,
                const std::size_t* sizes, const unsigned short* kinds, int thread_limit) noexcept {
  std::size_t total = sizeof(kept_call) + count * sizeof(void*);
  for (std::size_t i = 0; i < count; ++i) {
    if (is_firstprivate(kinds[i])) total += sizes[i] + (std::size_t{1} << (kinds[i] >> 8));
  }
  char* const block = static_cast<char*>(std::malloc(total));
  if (block == nullptr) fail("Out of memory allocating %zu bytes", total);
  void** const addresses = reinterpret_cast<void**>(block + sizeof(kept_call));
  std::uintptr_t next = reinterpret_cast<std::uintptr_t>(addresses + count);
  for (std::size_t i = 0; i < count; ++i) {
    addresses[i] = variables[i];
    if (!is_firstprivate(kinds[i]) || variables[i] == nullptr)
      continue;  // null: an optional argument that is absent
    const std::uintptr_t align = std::uintptr_t{1} << (kinds[i] >> 8);
    next = (next + align - 1) & ~(align - 1);
    addresses[i] = reinterpret_cast<void*>(next);
    std::memcpy(addresses[i], variables[i], sizes[i]);
    next += sizes[i];
  }
  kept_call* const made = reinterpret_cast<kept_call*>(block);
  *made = kept_call{function, addresses, thread_limit};
  return made;
}

void run_kept(void* argument) noexcept {
  kept_call* const call = *static_cast<kept_call**>(argument);
  run_on_host(call->function, call->variables, call->thread_limit);
  std::free(call);
}

/// A transfer of data has nothing to do, but keeps its place among tasks that depend on each other.
void transfer(int device, unsigned flags, void** depend) noexcept {
  check_device(device);
  if (depend == nullptr) return;
  if ((flags & flag_nowait) == 0) return wait_for_dependences(here(), listed(depend));
  make_waiting_task(here(), listed(depend));
}

// --- teams ---

int as_limit(unsigned thread_limit) noexcept {
  return thread_limit > INT_MAX ? INT_MAX : static_cast<int>(thread_limit);
}

}  // namespace

OPENMP_IN_BOTH(void, GOMP_teams_reg)(outlined_function function, void* data, unsigned teams,
                                     unsigned thread_limit, unsigned) {
  run_teams(here(), function, data, teams, as_limit(thread_limit));
}

// Inside of target: called before each team, until it returns that there are no more.
OPENMP_API bool GOMP_teams4(unsigned least, unsigned, unsigned thread_limit, bool is_first) {
  part& self = here();
  if (is_first) {
    if (thread_limit > 0) self.running->own_variables().thread_limit = as_limit(thread_limit);
    self.num_teams = least > 0 ? least : 1;
    self.team_num = 0;
    self.is_in_teams = true;
    return true;
  }
  if (self.team_num + 1 == self.num_teams) return false;
  ++self.team_num;
  return true;
}
// The form before GCC 12: one team.
OPENMP_IN_BOTH(void, GOMP_teams)(unsigned, unsigned thread_limit) {
  GOMP_teams4(1, 1, thread_limit, true);
}

OPENMP_API void GOMP_target_ext(int device, outlined_function function, std::size_t count,
                                void** variables, std::size_t* sizes, unsigned short* kinds,
                                unsigned flags, void** depend, void** arguments) {
  check_device(device);
  const int limit = thread_limit_in(arguments);
  if ((flags & flag_nowait) != 0) {
    kept_call* call = keep(function, count, variables, sizes, kinds, limit);
    make_task(here(), {run_kept, &call, nullptr, sizeof call, alignof(kept_call*)},
              {false, listed(depend)});
    return;
  }
  if (depend != nullptr) wait_for_dependences(here(), listed(depend));
  bool has_copies = false;
  for (std::size_t i = 0; i < count; ++i) has_copies = has_copies || is_firstprivate(kinds[i]);
  if (!has_copies) return run_on_host(function, variables, limit);
  kept_call* call = keep(function, count, variables, sizes, kinds, limit);
  run_kept(&call);
}
// The form before GCC 5: without firstprivate.
OPENMP_IN_BOTH(void, GOMP_target)(int device, outlined_function function, const void*, std::size_t,
                                  void** variables, std::size_t*, unsigned char*) {
  check_device(device);
  run_on_host(function, variables, 0);
}

OPENMP_API void GOMP_target_data_ext(int device, std::size_t, void**, std::size_t*,
                                     unsigned short*) {
  check_device(device);
}
OPENMP_IN_BOTH(void, GOMP_target_data)(int device, const void*, std::size_t, void**, std::size_t*,
                                       unsigned char*) {
  check_device(device);
}
OPENMP_IN_BOTH(void, GOMP_target_end_data)() {}
OPENMP_API void GOMP_target_update_ext(int device, std::size_t, void**, std::size_t*,
                                       unsigned short*, unsigned flags, void** depend) {
  transfer(device, flags, depend);
}
OPENMP_IN_BOTH(void, GOMP_target_update)(int device, const void*, std::size_t, void**, std::size_t*,
                                         unsigned char*) {
  check_device(device);
}
OPENMP_API void GOMP_target_enter_exit_data(int device, std::size_t, void**, std::size_t*,
                                            unsigned short*, unsigned flags, void** depend) {
  transfer(device, flags, depend);
}

// Programs with code for devices announce it when they start. It is never used here.
OPENMP_API void GOMP_offload_register(const void*, int, const void*) {}
OPENMP_API void GOMP_offload_register_ver(unsigned, const void*, int, const void*) {}
OPENMP_API void GOMP_offload_unregister(const void*, int, const void*) {}
OPENMP_API void GOMP_offload_unregister_ver(unsigned, const void*, int, const void*) {}

// The compiler calls it in code for devices only. There its name for a function is the function.
OPENMP_API void* GOMP_target_map_indirect_ptr(void* function) { return function; }

OPENMP_API void GOMP_interop(int device, int inits, void*** init, const int*, const char**, int,
                             void**, int destroys, void*** destroy, unsigned, void** depend) {
  check_device(device);
  for (int i = 0; i < inits; ++i) *init[i] = nullptr;
  for (int i = 0; i < destroys; ++i) *destroy[i] = nullptr;
  if (depend != nullptr) wait_for_dependences(here(), listed(depend));
}
