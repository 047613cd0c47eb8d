// SPDX-License-Identifier: MIT
// src/platform/type_name.cpp -- the body of type_name.hpp (layer: platform)
#include <lockstep/detail/platform/type_name.hpp>

#include <cstring>
#include <initializer_list>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

LOCKSTEP_INLINE type_name type_name_in(const char* function, const char* information) noexcept {
  type_name result = {function, std::strlen(function),
                      information != nullptr && information[1] == 'Z'};
  if (const char* const start = std::strstr(function, "Name = ")) {
    result.text = start + 7;
    result.length = std::strcspn(result.text, ";]");
  }
  for (const char* sign : {"anonymous", "unnamed", "lambda", ")::"}) {
    const char* const found = std::strstr(result.text, sign);
    if (found != nullptr && found + std::strlen(sign) <= result.text + result.length)
      result.is_of_module = true;
  }
  return result;
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
