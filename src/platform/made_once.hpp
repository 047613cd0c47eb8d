// SPDX-License-Identifier: MIT
// src/platform/made_once.hpp -- a value that is found out at first use (layer: platform)
//
// Memory order (# marks the line)
//   #  access               order    pairs  why it suffices
//   1  value.load           acquire  2      the value is made before its address is seen
//   2  value.compare_exch   release  1      as 1
#ifndef LOCKSTEP_SRC_PLATFORM_MADE_ONCE_HPP
#define LOCKSTEP_SRC_PLATFORM_MADE_ONCE_HPP

#include <lockstep/detail/platform/atomic.hpp>
#include <lockstep/detail/platform/config.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// In place of a function-local static, whose guard a child of fork() would
/// wait for if the thread that made the value is not there. Threads that come first at the same time may each make
/// it; one of them is used by all. Never destroyed: a static object's destructor may still want it.
template <class Type>
class made_once {
 public:
  /// The value that make() returned to the first.
  template <class Make>
  const Type& get(Make make) {
    const Type* known = value_.load(memory_order_acquire);  // 1
    if (known != nullptr) return *known;
    const Type* const made = new Type(make());
    if (value_.compare_exchange_strong(known, made, memory_order_acq_rel,  // 1, 2
                                       memory_order_acquire)) {            // 1
      return *made;
    }
    delete made;
    return *known;
  }

 private:
  unseamed_atomic<const Type*> value_{nullptr};
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_PLATFORM_MADE_ONCE_HPP
