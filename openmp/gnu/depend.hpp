// SPDX-License-Identifier: MIT
// openmp/gnu/depend.hpp -- arrays of addresses in depend(), as GCC makes them
//
//   n, outs, addresses: outs, ins                                            until GCC 8, and where it suffices
//   0, n, outs, mutexinoutsets, ins, addresses: outs, mutexinoutsets, ins, objects   since GCC 9
// n: how many addresses follow. Objects: api/depend_objects.hpp.
#ifndef LOCKSTEP_OPENMP_GNU_DEPEND_HPP
#define LOCKSTEP_OPENMP_GNU_DEPEND_HPP

#include <cstddef>
#include <cstdint>

#include "api/depend_objects.hpp"
#include "runtime/task_pool.hpp"

namespace lockstep::openmp::gnu {

/// `depend`: an array, or null.
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

}  // namespace lockstep::openmp::gnu

#endif  // LOCKSTEP_OPENMP_GNU_DEPEND_HPP
