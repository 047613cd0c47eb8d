// SPDX-License-Identifier: MIT
// Devices: there is only the host. Interoperability, names of devices, their memory.
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "api.hpp"
#include "depend.hpp"
#include "runtime/message.hpp"
#include "runtime/tasks.hpp"

using namespace lockstep::openmp;

// --- interoperability: the host has no foreign runtime, so every object is omp_interop_none ---

namespace {

constexpr int first_property = -9, last_property = -1;
constexpr int result_empty = -1, result_out_of_range = -2;

/// Answers a question about omp_interop_none.
void refuse_property(int property, int* result) noexcept {
  if (result == nullptr) return;
  *result =
      property < first_property || property > last_property ? result_out_of_range : result_empty;
}

}  // namespace

OPENMP_IN_BOTH(int, omp_get_num_interop_properties)(const void*) { return 0; }
OPENMP_IN_BOTH(std::intptr_t, omp_get_interop_int)(const void*, int property, int* result) {
  refuse_property(property, result);
  return 0;
}
OPENMP_IN_BOTH(void*, omp_get_interop_ptr)(const void*, int property, int* result) {
  refuse_property(property, result);
  return nullptr;
}
OPENMP_IN_BOTH(const char*, omp_get_interop_str)(const void*, int property, int* result) {
  refuse_property(property, result);
  return nullptr;
}
OPENMP_IN_BOTH(const char*, omp_get_interop_name)(const void*, int property) {
  static const char* const names[] = {"fr_id",       "fr_name",        "vendor",
                                      "vendor_name", "device_num",     "platform",
                                      "device",      "device_context", "targetsync"};
  return property < first_property || property > last_property ? nullptr
                                                               : names[last_property - property];
}
OPENMP_IN_BOTH(const char*, omp_get_interop_type_desc)(const void*, int) { return nullptr; }
OPENMP_IN_BOTH(const char*, omp_get_interop_rc_desc)(const void*, int result) {
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

namespace {

constexpr int invalid_device = -4, default_device = -5;  // as omp.h has them
constexpr char host_name[] = "OMP_INITIAL_DEVICE";

}  // namespace

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

/// Copies a box of `dimensions` dimensions. The sizes of the enclosing boxes begin with the outermost.
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
  wait_for_dependences(here(), listed_objects(objects, object_list));
  return omp_target_memcpy(to, from, length, to_offset, from_offset, to_device, from_device);
}
OPENMP_API int omp_target_memcpy_rect_async(void* to, const void* from, std::size_t element,
                                            int dimensions, const std::size_t* volume,
                                            const std::size_t* to_start,
                                            const std::size_t* from_start,
                                            const std::size_t* to_sizes,
                                            const std::size_t* from_sizes, int to_device,
                                            int from_device, int objects, void** object_list) {
  wait_for_dependences(here(), listed_objects(objects, object_list));
  return omp_target_memcpy_rect(to, from, element, dimensions, volume, to_start, from_start,
                                to_sizes, from_sizes, to_device, from_device);
}

// All memory is the host's, whatever device is named.
OPENMP_API void* omp_target_memset(void* block, int value, std::size_t size, int) {
  return size == 0 ? block : std::memset(block, value, size);
}
OPENMP_API void* omp_target_memset_async(void* block, int value, std::size_t size, int device,
                                         int objects, void** object_list) {
  wait_for_dependences(here(), listed_objects(objects, object_list));
  return omp_target_memset(block, value, size, device);
}

// Memory of the host cannot be associated with other memory of the host.
OPENMP_API int omp_target_associate_ptr(const void*, const void*, std::size_t, std::size_t, int) {
  return EINVAL;
}
OPENMP_API int omp_target_disassociate_ptr(const void*, int) { return EINVAL; }
