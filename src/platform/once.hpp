// SPDX-License-Identifier: MIT
// src/platform/once.hpp -- what is found out at first use (layer: platform)
//
// It replaces a function-local static. At the guard of a static, a child of fork() would wait for the thread that was
// making the value, which is not there. Threads that ask at the same time may each find out, and one result serves all.
//   found_once  a word that is not its type's zero. In static storage it is initialised before any code runs
//   made_once   a value on the heap. It is never destroyed: destructors of static objects may still use it
//   late_call   a function that not every version of a system has, looked up by name. So a program needs no library for
//               it, and starts on systems without it. All modules of a process find the same function, whatever system
//               they were built on. That matters: a thread that sleeps by one call is not woken by another
//
// Memory order (# marks the line)
//   #  access               order    pairs  why it suffices
//   1  value.load           acquire  2      what the value leads to is made before it is seen
//   2  value.compare_exch   release  1      as 1
//
// Cost   a load and a branch. The first call takes the time to find out, about 1 us for a late_call, in each module.
#ifndef LOCKSTEP_SRC_PLATFORM_ONCE_HPP
#define LOCKSTEP_SRC_PLATFORM_ONCE_HPP

#include <cstdint>

#include <lockstep/detail/platform/atomic.hpp>
#include <lockstep/detail/platform/config.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

template <class Type>
class found_once {
 public:
  /// What find() returned in the call that was first to keep its result.
  template <class Find>
  Type get(Find find) {
    const Type known = value_.load(memory_order_acquire);  // 1
    return LOCKSTEP_UNLIKELY(known == Type()) ? keep(find()) : known;
  }
  /// Zero if nothing is known yet.
  Type known() const noexcept { return value_.load(memory_order_acquire); }  // 1
  Type keep(Type found) noexcept {
    Type known = Type();
    return value_.compare_exchange_strong(known, found, memory_order_acq_rel,  // 1, 2
                                          memory_order_acquire)                // 1
               ? found
               : known;
  }

 private:
  unseamed_atomic<Type> value_{Type()};
};

template <class Type>
class made_once {
 public:
  template <class Make>
  const Type& get(Make make) {
    if (const Type* const known = value_.known()) return *known;
    const Type* const made = new Type(make());
    const Type* const kept = value_.keep(made);
    if (kept != made) delete made;
    return *kept;
  }

 private:
  found_once<const Type*> value_;
};

template <class Type, std::uintptr_t Find(const char* name)>
class late_call {
 public:
  constexpr explicit late_call(const char* name) noexcept : name_(name), known_() {}

  /// Null if this system does not have it.
  Type get() noexcept {
    constexpr std::uintptr_t absent = 1;
    const std::uintptr_t call = known_.get([this] {
      const std::uintptr_t found = Find(name_);
      return found != 0 ? found : absent;
    });
    return call == absent ? nullptr : reinterpret_cast<Type>(call);
  }

 private:
  const char* const name_;
  found_once<std::uintptr_t> known_;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_PLATFORM_ONCE_HPP
