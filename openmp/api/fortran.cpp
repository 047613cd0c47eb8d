// SPDX-License-Identifier: MIT
// The functions of omp.h as Fortran calls them: arguments by address, names that end with '_', or with '_8_' if the
// program is compiled with integers of 8 bytes. The lengths of texts follow all arguments, and texts are padded with
// blanks instead of an end mark.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "api.hpp"
#include "runtime/abi.hpp"
#include "runtime/display.hpp"
#include "runtime/part.hpp"

using namespace lockstep::openmp;

namespace {

using i32 = std::int32_t;
using i64 = std::int64_t;

/// Limits the value to the range of an int.
int narrow(i64 value) {
  return value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : static_cast<int>(value);
}

/// Blanks at the end belong to the text, as with GCC's runtime.
std::string text_of(const char* text, std::size_t length) { return std::string(text, length); }

/// Copies as much as fits, and fills the rest with blanks.
int fill(char* to, std::size_t size, const std::string& text) {
  const std::size_t copied = text.size() < size ? text.size() : size;
  std::memcpy(to, text.data(), copied);
  std::memset(to + copied, ' ', size - copied);
  return static_cast<int>(text.size());
}

void give(const char** text, std::size_t* length, const char* from) {
  *text = from;
  *length = from != nullptr ? std::strlen(from) : 0;
}

}  // namespace

// --- that take one number ---

#define TAKES_NUMBER(RESULT, NAME)                                                       \
  OPENMP_IN_BOTH(RESULT, omp_##NAME##_)(const i32* value) { return omp_##NAME(*value); } \
  OPENMP_API RESULT omp_##NAME##_8_(const i64* value) { return omp_##NAME(narrow(*value)); }
TAKES_NUMBER(void, set_num_threads)
TAKES_NUMBER(void, set_dynamic)
TAKES_NUMBER(void, set_nested)
TAKES_NUMBER(void, set_max_active_levels)
TAKES_NUMBER(void, set_default_device)
TAKES_NUMBER(void, set_num_teams)
TAKES_NUMBER(void, set_teams_thread_limit)
TAKES_NUMBER(void, display_env)
TAKES_NUMBER(i32, get_ancestor_thread_num)
TAKES_NUMBER(i32, get_team_size)
TAKES_NUMBER(i32, get_place_num_procs)

OPENMP_IN_BOTH(i32, omp_pause_resource_)(const i32* kind, const i32* device) {
  return omp_pause_resource(*kind, *device);
}
OPENMP_IN_BOTH(i32, omp_pause_resource_all_)(const i32* kind) {
  return omp_pause_resource_all(*kind);
}
OPENMP_IN_BOTH(void, omp_fulfill_event_)(std::intptr_t event) {  // omp_lib says `value`
  omp_fulfill_event(static_cast<std::uintptr_t>(event));
}

// --- schedules ---

OPENMP_IN_BOTH(void, omp_set_schedule_)(const i32* kind, const i32* chunk) {
  omp_set_schedule(static_cast<unsigned>(*kind), *chunk);
}
OPENMP_API void omp_set_schedule_8_(const i32* kind, const i64* chunk) {
  omp_set_schedule(static_cast<unsigned>(*kind), narrow(*chunk));
}
OPENMP_IN_BOTH(void, omp_get_schedule_)(i32* kind, i32* chunk) {
  unsigned found = 0;
  omp_get_schedule(&found, chunk);
  *kind = static_cast<i32>(found);
}
OPENMP_API void omp_get_schedule_8_(i32* kind, i64* chunk) {
  i32 narrow_chunk = 0;
  omp_get_schedule_(kind, &narrow_chunk);
  *chunk = narrow_chunk;
}

// --- places ---

OPENMP_IN_BOTH(void, omp_get_place_proc_ids_)(const i32* place, i32* cpus) {
  omp_get_place_proc_ids(*place, cpus);
}
OPENMP_IN_BOTH(void, omp_get_partition_place_nums_)(i32* places) {
  omp_get_partition_place_nums(places);
}

// Numbers of 4 bytes were written to the array of 8-byte numbers. They are widened from the last to the first.
namespace {

void widen(i64* numbers, int count) {
  for (int i = count - 1; i >= 0; --i) {
    i32 narrow_number = 0;
    std::memcpy(&narrow_number,
                reinterpret_cast<const char*>(numbers) + 4 * static_cast<std::size_t>(i), 4);
    numbers[i] = narrow_number;
  }
}

}  // namespace

OPENMP_API void omp_get_place_proc_ids_8_(const i64* place, i64* cpus) {
  omp_get_place_proc_ids(narrow(*place), reinterpret_cast<int*>(cpus));
  widen(cpus, omp_get_place_num_procs(narrow(*place)));
}
OPENMP_API void omp_get_partition_place_nums_8_(i64* places) {
  omp_get_partition_place_nums(reinterpret_cast<int*>(places));
  widen(places, omp_get_partition_num_places());
}

// --- texts ---

OPENMP_IN_BOTH(void, omp_set_affinity_format_)(const char* format, std::size_t length) {
  display::set_affinity_format(text_of(format, length).c_str());
}
OPENMP_IN_BOTH(i32, omp_get_affinity_format_)(char* to, std::size_t size) {
  return fill(to, size, display::affinity_format());
}
OPENMP_IN_BOTH(void, omp_display_affinity_)(const char* format, std::size_t length) {
  omp_display_affinity(text_of(format, length).c_str());
}
OPENMP_IN_BOTH(i32, omp_capture_affinity_)(char* to, const char* format, std::size_t size,
                                           std::size_t length) {
  return fill(to, size, display::filled_in(text_of(format, length).c_str(), here()));
}

// --- texts as results: a pointer and a length, which are given first; arguments by value ---

OPENMP_API i32 omp_get_num_interop_properties_(const void* of) {
  return omp_get_num_interop_properties(of);
}
OPENMP_API std::intptr_t omp_get_interop_int_(const void* of, const i32* property, i32* result) {
  return omp_get_interop_int(of, *property, result);
}
OPENMP_API void* omp_get_interop_ptr_(const void* of, const i32* property, i32* result) {
  return omp_get_interop_ptr(of, *property, result);
}
OPENMP_IN_BOTH(void, omp_get_interop_str_)(const char** text, std::size_t* length, const void* of,
                                           int property, int* result) {
  give(text, length, omp_get_interop_str(of, property, result));
}
OPENMP_IN_BOTH(void, omp_get_interop_name_)(const char** text, std::size_t* length, const void* of,
                                            int property) {
  give(text, length, omp_get_interop_name(of, property));
}
OPENMP_IN_BOTH(void, omp_get_interop_type_desc_)(const char** text, std::size_t* length,
                                                 const void* of, int property) {
  give(text, length, omp_get_interop_type_desc(of, property));
}
OPENMP_IN_BOTH(void, omp_get_interop_rc_desc_)(const char** text, std::size_t* length,
                                               const void* of, int result) {
  give(text, length, omp_get_interop_rc_desc(of, result));
}
OPENMP_API void omp_get_uid_from_device_(const char** text, std::size_t* length, i32 device) {
  give(text, length, omp_get_uid_from_device(device));
}
OPENMP_API void omp_get_uid_from_device_8_(const char** text, std::size_t* length, i64 device) {
  give(text, length, omp_get_uid_from_device(narrow(device)));
}
OPENMP_API i32 omp_get_device_from_uid_(const char* name, std::size_t length) {
  return omp_get_device_from_uid(text_of(name, length).c_str());
}

// --- tools ---

OPENMP_API i32 omp_control_tool_(const i32* command, const i32* modifier, void* argument) {
  return omp_control_tool(*command, *modifier, argument);
}

// --- allocators ---

OPENMP_IN_BOTH(std::intptr_t, omp_init_allocator_)(const std::intptr_t* space, const i32* count,
                                                   const allocators::trait* traits) {
  return static_cast<std::intptr_t>(
      omp_init_allocator(static_cast<std::uintptr_t>(*space), *count, traits));
}
OPENMP_API std::intptr_t omp_init_allocator_8_(const std::intptr_t* space, const i64* count,
                                               const allocators::trait* traits) {
  return static_cast<std::intptr_t>(
      omp_init_allocator(static_cast<std::uintptr_t>(*space), narrow(*count), traits));
}
OPENMP_IN_BOTH(void, omp_destroy_allocator_)(const std::intptr_t* which) {
  omp_destroy_allocator(static_cast<std::uintptr_t>(*which));
}
OPENMP_IN_BOTH(void, omp_set_default_allocator_)(const std::intptr_t* which) {
  omp_set_default_allocator(static_cast<std::uintptr_t>(*which));
}
OPENMP_IN_BOTH(std::intptr_t, omp_get_default_allocator_)() {
  return static_cast<std::intptr_t>(omp_get_default_allocator());
}
