// SPDX-License-Identifier: MIT
// tests/model/explorer/atomic_seam.hpp -- the atomic seam of a modelled program
//
// For LOCKSTEP_ATOMIC_SEAM (detail/platform/atomic.hpp). Of the size of the standard's atomics; the explorer
// keeps the history beside. Outside of executions, and while constants are initialised, plain values.
#pragma once

#include <cstdint>
#include <type_traits>

#include "model/explorer/explorer.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

template <class T>
class atomic {
  static_assert(std::is_integral<T>::value || std::is_pointer<T>::value,
                "the library's atomics are integers and pointers");
  using order = std::memory_order;

 public:
  constexpr atomic(T value = T()) noexcept : value_(value) {
    if (!std::is_constant_evaluated() && active()) active()->made(this, raw(value));
  }
  constexpr ~atomic() {
    if (!std::is_constant_evaluated() && active()) active()->destroyed(this);
  }
  atomic(const atomic&) = delete;
  atomic& operator=(const atomic&) = delete;

  T load(order by, int line = __builtin_LINE(),
         const char* file = __builtin_FILE()) const noexcept {
    if (!active()) return value_;
    return cooked(active()->load(place(), by, {file, line}));
  }
  void store(T value, order by, int line = __builtin_LINE(),
             const char* file = __builtin_FILE()) noexcept {
    if (!active()) return void(value_ = value);
    active()->store(place(), raw(value), by, {file, line});
  }
  T exchange(T value, order by, int line = __builtin_LINE(),
             const char* file = __builtin_FILE()) noexcept {
    return modify(model::update::exchange, value, by, {file, line});
  }
  T fetch_add(T value, order by, int line = __builtin_LINE(),
              const char* file = __builtin_FILE()) noexcept {
    return modify(model::update::add, value, by, {file, line});
  }
  T fetch_sub(T value, order by, int line = __builtin_LINE(),
              const char* file = __builtin_FILE()) noexcept {
    return modify(model::update::subtract, value, by, {file, line});
  }
  T fetch_or(T value, order by, int line = __builtin_LINE(),
             const char* file = __builtin_FILE()) noexcept {
    return modify(model::update::bit_or, value, by, {file, line});
  }
  T fetch_and(T value, order by, int line = __builtin_LINE(),
              const char* file = __builtin_FILE()) noexcept {
    return modify(model::update::bit_and, value, by, {file, line});
  }
  bool compare_exchange_strong(T& expected, T desired, order success, order failure,
                               int line = __builtin_LINE(),
                               const char* file = __builtin_FILE()) noexcept {
    return compare_exchange(expected, desired, success, failure, false, {file, line});
  }
  bool compare_exchange_weak(T& expected, T desired, order success, order failure,
                             int line = __builtin_LINE(),
                             const char* file = __builtin_FILE()) noexcept {
    return compare_exchange(expected, desired, success, failure, true, {file, line});
  }

  model::atomic_place place() const noexcept { return {const_cast<T*>(&value_), sizeof(T)}; }

 private:
  static model::explorer* active() noexcept { return model::explorer::active(); }
  static std::uint64_t raw(T value) noexcept {
    if constexpr (std::is_pointer<T>::value) {
      return reinterpret_cast<std::uintptr_t>(value);
    } else if constexpr (std::is_same<T, bool>::value) {
      return value;
    } else {
      return static_cast<std::uint64_t>(static_cast<typename std::make_unsigned<T>::type>(value));
    }
  }
  static T cooked(std::uint64_t value) noexcept {
    if constexpr (std::is_pointer<T>::value) {
      return reinterpret_cast<T>(static_cast<std::uintptr_t>(value));
    } else {
      return static_cast<T>(value);
    }
  }

  T modify(model::update how, T value, order by, model::site where) noexcept {
    if (active()) return cooked(active()->modify(place(), how, raw(value), by, where));
    const T old = value_;
    value_ = how == model::update::exchange   ? value
             : how == model::update::add      ? static_cast<T>(old + value)
             : how == model::update::subtract ? static_cast<T>(old - value)
             : how == model::update::bit_or   ? static_cast<T>(old | value)
                                              : static_cast<T>(old & value);
    return old;
  }
  bool compare_exchange(T& expected, T desired, order success, order failure, bool weak,
                        model::site where) noexcept {
    if (!active()) {
      const bool equal = value_ == expected;
      (equal ? value_ : expected) = equal ? desired : value_;
      return equal;
    }
    std::uint64_t found = raw(expected);
    const bool done =
        active()->compare_exchange(place(), found, raw(desired), success, failure, weak, where);
    if (!done) expected = cooked(found);  // what was published may be another's by now
    return done;
  }

  T value_;
};

inline void thread_fence(std::memory_order by, int line = __builtin_LINE(),
                         const char* file = __builtin_FILE()) noexcept {
  if (model::explorer::active()) model::explorer::active()->fence(by, {file, line});
}
/// Order within a thread: the explorer keeps it anyway.
inline void signal_fence(std::memory_order) noexcept {}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
