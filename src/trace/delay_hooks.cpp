// SPDX-License-Identifier: MIT
// src/trace/delay_hooks.cpp -- the bodies of delay_hooks.hpp (layer: trace)
#include "delay_hooks.hpp"

#include <lockstep/detail/platform/clock.hpp>
#include <lockstep/detail/platform/system.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

LOCKSTEP_INLINE void delay_hooks::point(thread_log& log) noexcept {
  const std::uint64_t number = log.delays.load(memory_order_relaxed);          // 2
  log.delays.store(number + 1, memory_order_relaxed);                          // 2
  const std::uint64_t seed = process().delay_seed.load(memory_order_relaxed);  // 1
  const std::uint64_t time = delay_at(seed, log.track(), number);
  if (time == 0) return;
  const std::uint64_t begin = steady_nanoseconds();
  while (steady_nanoseconds() - begin < time) {
    if (time >= 20000) yield_native_thread();
  }
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
