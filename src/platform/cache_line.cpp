// SPDX-License-Identifier: MIT
// src/platform/cache_line.cpp -- the bodies of cache_line.hpp (layer: platform)
#include <lockstep/detail/platform/cache_line.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// Enough for the values and a line on each side. A size that overflows becomes one that `new` refuses.
LOCKSTEP_INLINE any_aligned_array::any_aligned_array(const element_type& type, std::size_t room)
    : type_(type) {
  constexpr std::size_t most = static_cast<std::size_t>(-1) / 2;
  const std::size_t line = type.alignment;
  raw_ = ::operator new(room > (most - 2 * line) / type.size ? most : room * type.size + 2 * line);
  const std::uintptr_t mask = line - 1;
  data_ = reinterpret_cast<void*>((reinterpret_cast<std::uintptr_t>(raw_) + mask) & ~mask);
}

LOCKSTEP_INLINE any_aligned_array::any_aligned_array(std::size_t size, const element_type& type)
    : any_aligned_array(type, size) {
  for (; count_ < size; ++count_) type.make(at(count_));
}

LOCKSTEP_INLINE any_aligned_array::~any_aligned_array() {
  while (type_.destroy != nullptr && count_ > 0) type_.destroy(at(--count_));
  ::operator delete(raw_);
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
