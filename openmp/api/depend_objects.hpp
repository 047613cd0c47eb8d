// SPDX-License-Identifier: MIT
// openmp/api/depend_objects.hpp -- omp_depend_t, as GCC has it: a pair of an address and a kind
#ifndef LOCKSTEP_OPENMP_API_DEPEND_OBJECTS_HPP
#define LOCKSTEP_OPENMP_API_DEPEND_OBJECTS_HPP

#include <cstddef>
#include <cstdint>

#include "runtime/message.hpp"
#include "runtime/task_pool.hpp"

namespace lockstep::openmp {

/// The kind that is in the second word of an object.
inline dependence_kind kind_of_object(std::uintptr_t number) noexcept {
  switch (number) {
    case 1: return dependence_kind::in;
    case 2:  // out
    case 3:  // inout
    case 4:  // mutexinoutset: DEPEND-3
      return dependence_kind::out;
    case 5: return dependence_kind::inoutset;
    default:
      fail("unknown kind of dependence %zu in an omp_depend_t", static_cast<std::size_t>(number));
  }
}

/// An array of objects.
inline dependence_list listed_objects(int count, void** objects) noexcept {
  if (count <= 0) return {};
  return {static_cast<std::size_t>(count), objects,
          [](const void* written, std::size_t index) noexcept -> dependence {
            void* const* const object = static_cast<void* const*>(written) + 2 * index;
            return {object[0], kind_of_object(reinterpret_cast<std::uintptr_t>(object[1]))};
          }};
}

}  // namespace lockstep::openmp

#endif  // LOCKSTEP_OPENMP_API_DEPEND_OBJECTS_HPP
