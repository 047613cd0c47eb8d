// SPDX-License-Identifier: MIT
// src/base/numbers.hpp -- the lesser, the larger, and what lies between (layer: base)
//
// By value: std::min and std::max take references, and so would need definitions of constants.
#ifndef LOCKSTEP_SRC_BASE_NUMBERS_HPP
#define LOCKSTEP_SRC_BASE_NUMBERS_HPP

#include <lockstep/detail/platform/config.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

template <class Type>
constexpr Type lesser(Type a, Type b) noexcept {
  return b < a ? b : a;
}
template <class Type>
constexpr Type larger(Type a, Type b) noexcept {
  return a < b ? b : a;
}
constexpr double between(double least, double value, double most) noexcept {
  return value < least ? least : value > most ? most : value;
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_BASE_NUMBERS_HPP
