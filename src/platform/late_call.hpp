// SPDX-License-Identifier: MIT
// src/platform/late_call.hpp -- functions that not every version of a system has (layer: platform)
//
// They are looked up by name when they are first asked for. So a program needs no library for them, starts on systems
// without them, and all modules of a process find the same, whatever they were built on: what sleeps in one way is not
// woken in another.
//   Windows  in kernelbase.dll, which each process has from Windows 7 on
//   Apple    in all that the program has loaded
//
// Memory order (# marks the line)
//   #  access       order    pairs  why it suffices
//   1  known.load   relaxed  -      an address of code, which was there before the program was
//   2  known.store  relaxed  -      as 1; whoever looks it up finds the same
//
// Cost   a load and a branch; the first time in each module about 1 us.
#ifndef LOCKSTEP_SRC_PLATFORM_LATE_CALL_HPP
#define LOCKSTEP_SRC_PLATFORM_LATE_CALL_HPP

#if defined(_WIN32) || defined(__APPLE__)

#include <cstdint>

#include <lockstep/detail/platform/atomic.hpp>
#include <lockstep/detail/platform/config.hpp>

#if defined(_WIN32)
#include "windows.hpp"
#else
#include <dlfcn.h>
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

inline std::uintptr_t find_call(const char* name) noexcept {
#if defined(_WIN32)
  return find_windows_call("kernelbase.dll", name);
#else
  return reinterpret_cast<std::uintptr_t>(dlsym(RTLD_DEFAULT, name));
#endif
}

/// The function of that type and name. Of static storage: initialised before any code runs.
template <class Type>
class late_call {
 public:
  constexpr explicit late_call(const char* name) noexcept : name_(name) {}

  /// Null if this system does not have it.
  Type get() noexcept {
    std::uintptr_t call = known_.load(memory_order_relaxed);  // 1
    if (LOCKSTEP_UNLIKELY(call == not_asked)) {
      call = find_call(name_);
      known_.store(call, memory_order_relaxed);  // 2
    }
    return reinterpret_cast<Type>(call);
  }

 private:
  static constexpr std::uintptr_t not_asked = 1;

  const char* const name_;
  unseamed_atomic<std::uintptr_t> known_{not_asked};
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif

#endif  // LOCKSTEP_SRC_PLATFORM_LATE_CALL_HPP
