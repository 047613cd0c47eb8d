// SPDX-License-Identifier: MIT
// src/platform/fetch_for_writing.hpp -- a hint to the processor (layer: platform)
#ifndef LOCKSTEP_SRC_PLATFORM_FETCH_FOR_WRITING_HPP
#define LOCKSTEP_SRC_PLATFORM_FETCH_FOR_WRITING_HPP

#include <lockstep/detail/platform/config.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// A hint: the calling thread is about to write to this line, which others read. On x86 the builtin fetches for reading
/// unless the compiler knows the processor, so PREFETCHW is written out. Processors without it ignore it.
inline void fetch_for_writing(const void* line) noexcept {
#if defined(__GNUC__) && defined(__x86_64__)
  __asm__ volatile("prefetchw %0" : : "m"(*static_cast<const unsigned char*>(line)));
#elif defined(__GNUC__)
  __builtin_prefetch(line, 1);
#else
  static_cast<void>(line);
#endif
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_PLATFORM_FETCH_FOR_WRITING_HPP
