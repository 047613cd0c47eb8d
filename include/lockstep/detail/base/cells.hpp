// SPDX-License-Identifier: MIT
// lockstep/detail/base/cells.hpp -- 16 bytes by which members hand values to each other (layer: base)
//
// A small value lies in the cell itself. For any other value the cell holds the address, and a kept_values owns the
// value. How values of any type get there: reduction_operations.hpp.
#ifndef LOCKSTEP_DETAIL_BASE_CELLS_HPP
#define LOCKSTEP_DETAIL_BASE_CELLS_HPP

#include <cstddef>

#include <lockstep/detail/platform/config.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

struct cell {
  static constexpr std::size_t size = 16;
  alignas(8) unsigned char bytes[size];
};

/// Owns the values that cells point to.
struct kept_values {
  virtual ~kept_values() = default;
};

/// How many values have cells: those of one member in one phase, and those of a loop's parts (reduction_tree.hpp).
constexpr std::size_t most_values_of_member = 18, most_values_of_loop = 1024;

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_BASE_CELLS_HPP
