// SPDX-License-Identifier: MIT
// target, target data and teams: there are no devices, so the host runs them, on its own memory. Maps need no copies.
//
// A target region begins as a program does: with an initial part, in no region. teams runs its teams one after another,
// on the encountering thread; each has all threads for its regions.
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "abi.hpp"
#include "api.hpp"
#include "control_variables.hpp"
#include "message.hpp"
#include "parallel.hpp"
#include "part.hpp"
#include "tasks.hpp"

using namespace lockstep::openmp;

OPENMP_API void GOMP_task(outlined_function, void*, copy_function, long, long, bool, unsigned,
                          void**, int, void*);

namespace {

// --- what the compiler passes ---

constexpr unsigned flag_nowait = 1;                      // of a target construct
constexpr unsigned task_has_depend = 8;                  // of a task
constexpr int device_of_false_if = -2;                   // target if(false)
constexpr int invalid_device = -4, default_device = -5;  // as omp.h has them
constexpr char host_name[] = "OMP_INITIAL_DEVICE";
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

/// OMP_TARGET_OFFLOAD=mandatory: only what names the host may run here.
void check_device(int device) noexcept {
  if (process_settings().offload != target_offload::mandatory || device == device_of_false_if)
    return;
  if (device == -1) device = omp_get_default_device();
  if (device != omp_get_initial_device())
    fail("OMP_TARGET_OFFLOAD is MANDATORY, and there is no device %d", device);
}

// --- target regions ---

void run_on_host(outlined_function function, void** variables, int thread_limit) noexcept {
  lone_part alone(here(), nullptr, region_request());
  part& self = alone.self;
  self.level = self.active_level = 0;
  self.team_num = 0;
  self.num_teams = 1;
  self.is_in_teams = false;
  self.implicit.variables = &process_settings().initial;
  if (thread_limit > 0) self.implicit.own_variables().thread_limit = thread_limit;
  function(variables);
}

/// A target region that may run later: with the addresses of its variables, and copies of those that are firstprivate.
struct kept_call {
  outlined_function function;
  void** variables;
  int thread_limit;
};

bool is_firstprivate(unsigned short kind) noexcept {
  return (kind & kind_mask) == kind_firstprivate;
}

/// In one block, to be freed.
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

/// What transfers data has nothing to do, but its place among the tasks that depend on each other.
void transfer(int device, unsigned flags, void** depend) noexcept {
  check_device(device);
  if (depend == nullptr) return;
  if ((flags & flag_nowait) == 0) return wait_for_dependences(here(), depend);
  GOMP_task([](void*) {}, nullptr, nullptr, 0, 1, true, task_has_depend, depend, 0, nullptr);
}

// --- teams ---

/// For the teams construct around its regions: what the part is to the teams' regions.
class league {
 public:
  league(part& of, unsigned teams, int thread_limit) noexcept
      : part_(of),
        team_num_(of.team_num),
        num_teams_(of.num_teams),
        is_in_teams_(of.is_in_teams),
        variables_(of.running->variables),
        own_(*of.running->variables) {
    of.team_num = 0;
    of.num_teams = teams;
    of.is_in_teams = true;
    if (thread_limit > 0) of.running->own_variables().thread_limit = thread_limit;
  }
  ~league() {
    part_.team_num = team_num_;
    part_.num_teams = num_teams_;
    part_.is_in_teams = is_in_teams_;
    part_.running->own = own_;
    part_.running->variables = variables_;
  }
  league(const league&) = delete;
  league& operator=(const league&) = delete;

 private:
  part& part_;
  const unsigned team_num_, num_teams_;
  const bool is_in_teams_;
  const task_variables* const variables_;
  const task_variables own_;
};

int as_limit(unsigned thread_limit) noexcept {
  return thread_limit > INT_MAX ? INT_MAX : static_cast<int>(thread_limit);
}

}  // namespace

OPENMP_API void GOMP_teams_reg(outlined_function function, void* data, unsigned teams,
                               unsigned thread_limit, unsigned) {
  const process_variables& all = process_settings();
  if (teams == 0) teams = all.num_teams > 0 ? static_cast<unsigned>(all.num_teams) : 1;
  if (thread_limit == 0) thread_limit = static_cast<unsigned>(all.teams_thread_limit);
  part& self = here();
  const league around(self, teams, as_limit(thread_limit));
  for (self.team_num = 0; self.team_num < teams; ++self.team_num) function(data);
}

// Inside of target: called before each team, until it says that there are no more.
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
// Its form before GCC 12: one team.
OPENMP_API void GOMP_teams(unsigned, unsigned thread_limit) {
  GOMP_teams4(1, 1, thread_limit, true);
}

OPENMP_API void GOMP_target_ext(int device, outlined_function function, std::size_t count,
                                void** variables, std::size_t* sizes, unsigned short* kinds,
                                unsigned flags, void** depend, void** arguments) {
  check_device(device);
  const int limit = thread_limit_in(arguments);
  if ((flags & flag_nowait) != 0) {
    kept_call* call = keep(function, count, variables, sizes, kinds, limit);
    GOMP_task(run_kept, &call, nullptr, sizeof call, alignof(kept_call*), true,
              depend != nullptr ? task_has_depend : 0, depend, 0, nullptr);
    return;
  }
  if (depend != nullptr) wait_for_dependences(here(), depend);
  bool has_copies = false;
  for (std::size_t i = 0; i < count; ++i) has_copies = has_copies || is_firstprivate(kinds[i]);
  if (!has_copies) return run_on_host(function, variables, limit);
  kept_call* call = keep(function, count, variables, sizes, kinds, limit);
  run_kept(&call);
}
// Its form before GCC 5: without firstprivate.
OPENMP_API void GOMP_target(int device, outlined_function function, const void*, std::size_t,
                            void** variables, std::size_t*, unsigned char*) {
  check_device(device);
  run_on_host(function, variables, 0);
}

OPENMP_API void GOMP_target_data_ext(int device, std::size_t, void**, std::size_t*,
                                     unsigned short*) {
  check_device(device);
}
OPENMP_API void GOMP_target_data(int device, const void*, std::size_t, void**, std::size_t*,
                                 unsigned char*) {
  check_device(device);
}
OPENMP_API void GOMP_target_end_data() {}
OPENMP_API void GOMP_target_update_ext(int device, std::size_t, void**, std::size_t*,
                                       unsigned short*, unsigned flags, void** depend) {
  transfer(device, flags, depend);
}
OPENMP_API void GOMP_target_update(int device, const void*, std::size_t, void**, std::size_t*,
                                   unsigned char*) {
  check_device(device);
}
OPENMP_API void GOMP_target_enter_exit_data(int device, std::size_t, void**, std::size_t*,
                                            unsigned short*, unsigned flags, void** depend) {
  transfer(device, flags, depend);
}

// Programs with code for devices announce it when they start. Nobody will want it.
OPENMP_API void GOMP_offload_register(const void*, int, const void*) {}
OPENMP_API void GOMP_offload_register_ver(unsigned, const void*, int, const void*) {}
OPENMP_API void GOMP_offload_unregister(const void*, int, const void*) {}
OPENMP_API void GOMP_offload_unregister_ver(unsigned, const void*, int, const void*) {}

// The compiler asks in code for devices only: what it has there of a function is the function.
OPENMP_API void* GOMP_target_map_indirect_ptr(void* function) { return function; }

// --- interoperability: the host has no foreign runtime, so every object is omp_interop_none ---

namespace {

constexpr int first_property = -9, last_property = -1;
constexpr int result_empty = -1, result_out_of_range = -2;

/// What was asked of omp_interop_none.
void refuse_property(int property, int* result) noexcept {
  if (result == nullptr) return;
  *result =
      property < first_property || property > last_property ? result_out_of_range : result_empty;
}

}  // namespace

OPENMP_API void GOMP_interop(int device, int inits, void*** init, const int*, const char**, int,
                             void**, int destroys, void*** destroy, unsigned, void** depend) {
  check_device(device);
  for (int i = 0; i < inits; ++i) *init[i] = nullptr;
  for (int i = 0; i < destroys; ++i) *destroy[i] = nullptr;
  if (depend != nullptr) wait_for_dependences(here(), depend);
}
OPENMP_API int omp_get_num_interop_properties(const void*) { return 0; }
OPENMP_API std::intptr_t omp_get_interop_int(const void*, int property, int* result) {
  refuse_property(property, result);
  return 0;
}
OPENMP_API void* omp_get_interop_ptr(const void*, int property, int* result) {
  refuse_property(property, result);
  return nullptr;
}
OPENMP_API const char* omp_get_interop_str(const void*, int property, int* result) {
  refuse_property(property, result);
  return nullptr;
}
OPENMP_API const char* omp_get_interop_name(const void*, int property) {
  static const char* const names[] = {"fr_id",       "fr_name",        "vendor",
                                      "vendor_name", "device_num",     "platform",
                                      "device",      "device_context", "targetsync"};
  return property < first_property || property > last_property ? nullptr
                                                               : names[last_property - property];
}
OPENMP_API const char* omp_get_interop_type_desc(const void*, int) { return nullptr; }
OPENMP_API const char* omp_get_interop_rc_desc(const void*, int result) {
  static const char* const texts[] = {"there is no value",
                                      "success",
                                      "the object is omp_interop_none",
                                      "there is no such property",
                                      "the property is an integer: omp_get_interop_int()",
                                      "the property is a pointer: omp_get_interop_ptr()",
                                      "the property is a text: omp_get_interop_str()"};
  return result > 1 || result < -5 ? nullptr : texts[1 - result];
}

// --- names of devices ---

OPENMP_API const char* omp_get_uid_from_device(int device) {
  if (device == default_device) device = omp_get_default_device();
  return device == 0 || device == -1 ? host_name : nullptr;
}
OPENMP_API int omp_get_device_from_uid(const char* name) {
  return name != nullptr && std::strcmp(name, host_name) == 0 ? -1 : invalid_device;
}

// --- memory of devices ---

namespace {

// omp_initial_device of OpenMP 5.2 is -1.
bool is_host(int device) noexcept { return device == omp_get_initial_device() || device == -1; }

/// Copies a box of `dimensions` dimensions; the sizes of the enclosing boxes are given from the outermost on.
bool copy_box(char* to, const char* from, std::size_t element, int dimensions,
              const std::size_t* volume, const std::size_t* to_start, const std::size_t* from_start,
              const std::size_t* to_sizes, const std::size_t* from_sizes) noexcept {
  std::size_t to_step = element, from_step = element;
  for (int i = 1; i < dimensions; ++i) {
    if (__builtin_mul_overflow(to_step, to_sizes[i], &to_step) ||
        __builtin_mul_overflow(from_step, from_sizes[i], &from_step)) {
      return false;
    }
  }
  to += to_start[0] * to_step;
  from += from_start[0] * from_step;
  if (dimensions == 1) {
    std::size_t length = 0;
    if (__builtin_mul_overflow(element, volume[0], &length)) return false;
    std::memcpy(to, from, length);
    return true;
  }
  for (std::size_t i = 0; i < volume[0]; ++i) {
    if (!copy_box(to + i * to_step, from + i * from_step, element, dimensions - 1, volume + 1,
                  to_start + 1, from_start + 1, to_sizes + 1, from_sizes + 1)) {
      return false;
    }
  }
  return true;
}

/// Waits for what `count` depend objects name.
void wait_for_objects(int count, void** objects) noexcept {
  if (count <= 0) return;
  // As the compiler lays out a depend clause: 0, all, of which out, mutexinoutset and in are none; then the objects.
  void** const depend =
      static_cast<void**>(std::calloc(static_cast<std::size_t>(count) + 5, sizeof(void*)));
  if (depend == nullptr) fail("Out of memory");
  depend[1] = reinterpret_cast<void*>(static_cast<std::uintptr_t>(count));
  constexpr std::size_t size_of_object = 2 * sizeof(void*);
  for (int i = 0; i < count; ++i) {
    depend[5 + i] = reinterpret_cast<char*>(objects) + static_cast<std::size_t>(i) * size_of_object;
  }
  wait_for_dependences(here(), depend);
  std::free(depend);
}

}  // namespace

OPENMP_API void* omp_target_alloc(std::size_t size, int device) {
  return is_host(device) ? std::malloc(size) : nullptr;
}
OPENMP_API void omp_target_free(void* block, int device) {
  if (is_host(device)) std::free(block);
}
OPENMP_API int omp_target_is_present(const void* address, int device) {
  return address == nullptr || is_host(device) ? 1 : 0;
}
OPENMP_API int omp_target_is_accessible(const void*, std::size_t, int device) {
  return is_host(device) ? 1 : 0;
}
OPENMP_API void* omp_get_mapped_ptr(const void* address, int device) {
  return is_host(device) ? const_cast<void*>(address) : nullptr;
}

OPENMP_API int omp_target_memcpy(void* to, const void* from, std::size_t length,
                                 std::size_t to_offset, std::size_t from_offset, int to_device,
                                 int from_device) {
  if (!is_host(to_device) || !is_host(from_device)) return EINVAL;
  std::memcpy(static_cast<char*>(to) + to_offset, static_cast<const char*>(from) + from_offset,
              length);
  return 0;
}
OPENMP_API int omp_target_memcpy_rect(void* to, const void* from, std::size_t element,
                                      int dimensions, const std::size_t* volume,
                                      const std::size_t* to_start, const std::size_t* from_start,
                                      const std::size_t* to_sizes, const std::size_t* from_sizes,
                                      int to_device, int from_device) {
  if (to == nullptr && from == nullptr) return INT_MAX;  // how many dimensions there may be
  if (!is_host(to_device) || !is_host(from_device) || dimensions < 1) return EINVAL;
  return copy_box(static_cast<char*>(to), static_cast<const char*>(from), element, dimensions,
                  volume, to_start, from_start, to_sizes, from_sizes)
             ? 0
             : EINVAL;
}
// The asynchronous forms wait for what they depend on, and copy at once.
OPENMP_API int omp_target_memcpy_async(void* to, const void* from, std::size_t length,
                                       std::size_t to_offset, std::size_t from_offset,
                                       int to_device, int from_device, int objects,
                                       void** object_list) {
  wait_for_objects(objects, object_list);
  return omp_target_memcpy(to, from, length, to_offset, from_offset, to_device, from_device);
}
OPENMP_API int omp_target_memcpy_rect_async(void* to, const void* from, std::size_t element,
                                            int dimensions, const std::size_t* volume,
                                            const std::size_t* to_start,
                                            const std::size_t* from_start,
                                            const std::size_t* to_sizes,
                                            const std::size_t* from_sizes, int to_device,
                                            int from_device, int objects, void** object_list) {
  wait_for_objects(objects, object_list);
  return omp_target_memcpy_rect(to, from, element, dimensions, volume, to_start, from_start,
                                to_sizes, from_sizes, to_device, from_device);
}

// All memory is the host's, whatever device is named.
OPENMP_API void* omp_target_memset(void* block, int value, std::size_t size, int) {
  return size == 0 ? block : std::memset(block, value, size);
}
OPENMP_API void* omp_target_memset_async(void* block, int value, std::size_t size, int device,
                                         int objects, void** object_list) {
  wait_for_objects(objects, object_list);
  return omp_target_memset(block, value, size, device);
}

// The host's memory is not to be associated with other memory of the host.
OPENMP_API int omp_target_associate_ptr(const void*, const void*, std::size_t, std::size_t, int) {
  return EINVAL;
}
OPENMP_API int omp_target_disassociate_ptr(const void*, int) { return EINVAL; }
