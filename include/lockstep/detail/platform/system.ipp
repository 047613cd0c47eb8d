// SPDX-License-Identifier: MIT
// lockstep/detail/platform/system.ipp -- the bodies of system.hpp (layer: platform)
//
// Memory order (# marks the line)
//   #  access         order    pairs  why it suffices
//   1  count.load     relaxed  -      a number that stands for itself
//   2  count changes  relaxed  -      as 1
#ifndef LOCKSTEP_DETAIL_PLATFORM_SYSTEM_IPP
#define LOCKSTEP_DETAIL_PLATFORM_SYSTEM_IPP

#include "system.hpp"

#if !defined(LOCKSTEP_SYSTEM_SEAM)
namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

LOCKSTEP_COLD unsigned usable_cpus() {
  unseamed_atomic<std::uint32_t>& counted = process().usable_cpus;
  std::uint32_t known = counted.load(memory_order_relaxed);  // 1
  if (known != 0) return known;
  const std::uint32_t count = count_usable_cpus();
  const bool is_first = counted.compare_exchange_strong(known, count, memory_order_relaxed,  // 2
                                                        memory_order_relaxed);               // 1
  return is_first ? count : known;
}

LOCKSTEP_COLD unsigned count_cpus_for_waits() noexcept {
  const std::uint32_t affine = process().affine_cpus.load(memory_order_relaxed);  // 1
  if (affine != 0) return affine;
  const std::uint32_t count = count_affine_cpus();
  process().affine_cpus.store(count, memory_order_relaxed);  // 2
  return count;
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
#endif

#endif  // LOCKSTEP_DETAIL_PLATFORM_SYSTEM_IPP
