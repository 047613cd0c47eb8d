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

/// The name of a type, as the compiler spells it. The type may be incomplete, and type information may be missing.
/// Clang leaves out the function to which a type is local: there only type information tells such types apart.
struct type_name {
  const char* text;
  std::size_t length;
  /// Another module may have a different type of that name: this one is local to a function, in an unnamed namespace,
  /// or the type of a lambda.
  bool is_of_module;
};
/// From what the compiler calls the function, and the name in the type information, which may be null.
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
