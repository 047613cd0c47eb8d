// SPDX-License-Identifier: MIT
// src/observe/observers.hpp -- switches observers on and off (layer: observe)
//
// Memory order (# marks the line)
//   #  access              order    pairs  why it suffices
//   1  observers changes   relaxed  -      a hint, as 1 of observers.hpp
#ifndef LOCKSTEP_SRC_OBSERVE_OBSERVERS_HPP
#define LOCKSTEP_SRC_OBSERVE_OBSERVERS_HPP

#include <lockstep/detail/observe/observers.hpp>

#include "../platform/process.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

inline void begin_to_observe(observer::bit one) noexcept {
  process().observers.fetch_or(one, memory_order_relaxed);  // 1
}
inline void end_to_observe(observer::bit one) noexcept {
  process().observers.fetch_and(~std::uint32_t{one}, memory_order_relaxed);  // 1
}
inline void one_ledger_more() noexcept {
  process().observers.fetch_add(observer::one_ledger, memory_order_relaxed);  // 1
}
inline void one_ledger_less() noexcept {
  process().observers.fetch_sub(observer::one_ledger, memory_order_relaxed);  // 1
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_OBSERVE_OBSERVERS_HPP
