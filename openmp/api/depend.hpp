// SPDX-License-Identifier: MIT
// openmp/api/depend.hpp -- what GCC's programs pass for depend(): objects (omp_depend_t), and arrays of addresses
//
// An object is a pair of an address and a kind. Arrays:
//   n, outs, addresses: outs, ins                                            until GCC 8, and where it suffices
//   0, n, outs, mutexinoutsets, ins, addresses: outs, mutexinoutsets, ins, objects   since GCC 9
// n: how many addresses follow.
#ifndef LOCKSTEP_OPENMP_API_DEPEND_HPP
#define LOCKSTEP_OPENMP_API_DEPEND_HPP

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

/// An array of addresses, or null.
inline dependence_list listed(void** depend) noexcept {
  if (depend == nullptr) return {};
  return {reinterpret_cast<std::size_t>(depend[0] != nullptr ? depend[0] : depend[1]), depend,
          [](const void* written, std::size_t index) noexcept -> dependence {
            void* const* const array = static_cast<void* const*>(written);
            const auto at = [array](int i) { return reinterpret_cast<std::size_t>(array[i]); };
            const bool is_old = at(0) != 0;
            void* const address = array[(is_old ? 2 : 5) + index];
            const std::size_t outs = is_old ? at(1) : at(2) + at(3);  // DEPEND-3
            if (index < outs) return {address, dependence_kind::out, !is_old && index >= at(2)};
            if (is_old || index < outs + at(4)) return {address, dependence_kind::in};
            void* const* const object = static_cast<void* const*>(address);
            return {object[0], kind_of_object(reinterpret_cast<std::uintptr_t>(object[1]))};
          }};
}

}  // namespace lockstep::openmp

#endif  // LOCKSTEP_OPENMP_API_DEPEND_HPP
