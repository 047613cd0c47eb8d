// SPDX-License-Identifier: MIT
// src/trace/named_object.cpp -- the bodies of named_object.hpp (layer: trace)
#include <lockstep/named_object.hpp>

#include "object_names.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {

LOCKSTEP_INLINE bool name_object(const void* object, const char* name) noexcept {
  return detail::object_names::set(object, name);
}

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
