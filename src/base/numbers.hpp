// SPDX-License-Identifier: MIT
// src/base/numbers.hpp -- the lesser and the larger of two values, and a value kept between limits (layer: base)
//
// The functions take values. std::min and std::max take references, for which a static constant needs a definition.
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
