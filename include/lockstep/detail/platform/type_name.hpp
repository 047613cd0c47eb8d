// SPDX-License-Identifier: MIT
// lockstep/detail/platform/type_name.hpp -- a type as a text that is the same in all modules (layer: platform)
//
// As the compiler spells it. For types that may be incomplete, and where there is no type information.
// Clang spells a type of a function without the function: only type information tells it from others there.
#ifndef LOCKSTEP_DETAIL_PLATFORM_TYPE_NAME_HPP
#define LOCKSTEP_DETAIL_PLATFORM_TYPE_NAME_HPP

#include <cstddef>
#include <string>

#include "config.hpp"

#if defined(__GXX_RTTI)
#include <typeinfo>
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

struct type_name {
  std::string text;
  /// Other modules may spell it the same and mean another type: it is of a function, in an unnamed namespace,
  /// or of a lambda.
  bool is_of_module;
};

template <class Name>
type_name name_of_type() {
  type_name result = {std::string(), false};
#if defined(__GNUC__)
  const std::string all = __PRETTY_FUNCTION__;
  const std::size_t start = all.find("Name = ");
  std::size_t end = all.find_first_of(";]", start);
  result.text = start < end ? all.substr(start + 7, end - start - 7) : all;
#elif defined(_MSC_VER)
  result.text = __FUNCSIG__;
#else
  result.text = __func__;
  result.is_of_module = true;
#endif
#if defined(__GXX_RTTI)
  result.is_of_module = typeid(Name*).name()[1] == 'Z';
#endif
  const char* const signs[] = {"anonymous", "unnamed", "lambda", ")::"};
  for (const char* sign : signs) {
    if (result.text.find(sign) != std::string::npos) result.is_of_module = true;
  }
  return result;
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_PLATFORM_TYPE_NAME_HPP
