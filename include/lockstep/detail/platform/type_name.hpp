// SPDX-License-Identifier: MIT
// lockstep/detail/platform/type_name.hpp -- a type as a text, the same in all modules (layer: platform)
#ifndef LOCKSTEP_DETAIL_PLATFORM_TYPE_NAME_HPP
#define LOCKSTEP_DETAIL_PLATFORM_TYPE_NAME_HPP

#include <cstddef>

#include <lockstep/detail/platform/config.hpp>

#if defined(__GXX_RTTI)
#include <typeinfo>
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// The name of a type, as the compiler spells it. For types that may be incomplete, and
/// where there is no type information. Clang spells a type of a function without the function: only type
/// information tells it from others there.
struct type_name {
  const char* text;
  std::size_t length;
  /// Other modules may spell it the same and mean another type: it is of a function, in an unnamed namespace,
  /// or of a lambda.
  bool is_of_module;
};
/// Of what the compiler calls the function, and of the name in the type information, or null.
type_name type_name_in(const char* function, const char* information) noexcept;

template <class Name>
type_name name_of_type() noexcept {
#if defined(__GXX_RTTI)
  const char* const information = typeid(Name*).name();
#else
  const char* const information = nullptr;
#endif
#if defined(_MSC_VER)
  return type_name_in(__FUNCSIG__, information);
#else
  return type_name_in(__PRETTY_FUNCTION__, information);
#endif
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_PLATFORM_TYPE_NAME_HPP
