// SPDX-License-Identifier: MIT
// src/platform/windows.hpp -- what the library calls of Windows (layer: platform)
//
// The declarations are those of windows.h, which may be included as well, before or after. The library does not include
// it, because it defines min, max, small, near and many other names as macros.
//
// The lock begins as zeros, and modules share it. Locks of the C++ library and of winpthreads cannot be shared: where
// these are linked statically, each module has its own.
//
// Time limits end on a tick of the system's timer. Ticks are 15.6 ms apart unless a program asks for shorter ones.
#ifndef LOCKSTEP_SRC_PLATFORM_WINDOWS_HPP
#define LOCKSTEP_SRC_PLATFORM_WINDOWS_HPP

#if defined(_WIN32)

#include <errno.h>
#include <process.h>

#include <cstdint>
#include <new>

#include <lockstep/detail/platform/clock.hpp>
#include <lockstep/detail/platform/config.hpp>

#include "once.hpp"

struct HINSTANCE__;
struct _RTL_SRWLOCK;
struct _SECURITY_ATTRIBUTES;
union _LARGE_INTEGER;
struct _GROUP_AFFINITY;
struct _PROCESSOR_NUMBER;

extern "C" {
__declspec(dllimport) int __stdcall QueryPerformanceCounter(_LARGE_INTEGER*);
__declspec(dllimport) int __stdcall QueryPerformanceFrequency(_LARGE_INTEGER*);
__declspec(dllimport) void __stdcall AcquireSRWLockExclusive(_RTL_SRWLOCK*);
__declspec(dllimport) void __stdcall ReleaseSRWLockExclusive(_RTL_SRWLOCK*);
__declspec(dllimport) unsigned long __stdcall TlsAlloc();
__declspec(dllimport) int __stdcall TlsFree(unsigned long);
__declspec(dllimport) void* __stdcall TlsGetValue(unsigned long);
__declspec(dllimport) int __stdcall TlsSetValue(unsigned long, void*);
__declspec(dllimport) unsigned long __stdcall GetLastError();
__declspec(dllimport) void __stdcall SetLastError(unsigned long);
__declspec(dllimport) unsigned long __stdcall GetCurrentProcessId();
__declspec(dllimport) void* __stdcall CreateMutexA(_SECURITY_ATTRIBUTES*, int, const char*);
__declspec(dllimport) unsigned long __stdcall WaitForSingleObject(void*, unsigned long);
__declspec(dllimport) int __stdcall ReleaseMutex(void*);
__declspec(dllimport) int __stdcall CloseHandle(void*);
__declspec(dllimport) unsigned short __stdcall FindAtomA(const char*);
__declspec(dllimport) unsigned short __stdcall AddAtomA(const char*);
__declspec(dllimport) HINSTANCE__* __stdcall GetModuleHandleA(const char*);
__declspec(dllimport) std::intptr_t(__stdcall* __stdcall GetProcAddress(HINSTANCE__*,
                                                                        const char*))();
__declspec(dllimport) void __stdcall FlushProcessWriteBuffers();
__declspec(dllimport) int __stdcall SwitchToThread();
__declspec(dllimport) void __stdcall Sleep(unsigned long);
__declspec(dllimport) void* __stdcall GetCurrentThread();
__declspec(dllimport) unsigned long __stdcall GetCurrentThreadId();
__declspec(dllimport) void* __stdcall LocalFree(void*);
__declspec(dllimport) int __stdcall GetThreadGroupAffinity(void*, _GROUP_AFFINITY*);
__declspec(dllimport) int __stdcall SetThreadGroupAffinity(void*, const _GROUP_AFFINITY*,
                                                           _GROUP_AFFINITY*);
__declspec(dllimport) void __stdcall GetCurrentProcessorNumberEx(_PROCESSOR_NUMBER*);
}

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// Restores the system's last error at its end, whatever is called while it lives.
class kept_error {
 public:
  kept_error() noexcept : saved_(GetLastError()) {}
  ~kept_error() { SetLastError(saved_); }
  kept_error(const kept_error&) = delete;
  kept_error& operator=(const kept_error&) = delete;

 private:
  const unsigned long saved_;
};

/// A function of Windows, or null.
inline std::uintptr_t find_windows_call(const char* module, const char* name) noexcept {
  const kept_error kept;
  HINSTANCE__* const found = GetModuleHandleA(module);
  return found != nullptr ? reinterpret_cast<std::uintptr_t>(GetProcAddress(found, name)) : 0;
}
/// A function of the module that every process has loaded.
inline std::uintptr_t find_kernel_call(const char* name) noexcept {
  return find_windows_call("kernelbase.dll", name);
}
template <class Type>
using windows_call = late_call<Type, &find_kernel_call>;

/// The time until the deadline in milliseconds, rounded up, as calls of Windows take it.
inline unsigned long windows_milliseconds_until(std::uint64_t deadline) noexcept {
  constexpr std::uint64_t millisecond = 1000000, longest = 0x7fffffff;
  constexpr unsigned long without_end = 0xffffffff;
  if (deadline == no_deadline) return without_end;
  const std::uint64_t now = native::monotonic_nanoseconds();
  const std::uint64_t rest = deadline > now ? (deadline - now - 1) / millisecond + 1 : 0;
  return static_cast<unsigned long>(rest < longest ? rest : longest);
}

class system_mutex {
 public:
  constexpr system_mutex() noexcept = default;
  system_mutex(const system_mutex&) = delete;
  system_mutex& operator=(const system_mutex&) = delete;

  void lock() noexcept { AcquireSRWLockExclusive(native()); }
  void unlock() noexcept { ReleaseSRWLockExclusive(native()); }

 private:
  _RTL_SRWLOCK* native() noexcept {
    return static_cast<_RTL_SRWLOCK*>(static_cast<void*>(&native_));
  }

  void* native_ = nullptr;
};

#if !defined(LOCKSTEP_SYSTEM_SEAM)
/// A std::thread, without its headers. It is part of the seam of system.hpp.
class plain_thread {
 public:
  /// Starts a thread that calls f(of). Returns 0, or the number of an error.
  int start(void* (*f)(void*), void* of) noexcept {
    call* const what = new (std::nothrow) call{f, of};
    if (what == nullptr) return ENOMEM;
    native_ = reinterpret_cast<void*>(_beginthreadex(nullptr, 0, run, what, 0, nullptr));
    if (native_ != nullptr) return 0;
    delete what;
    return EAGAIN;
  }
  void join() noexcept {
    WaitForSingleObject(native_, 0xffffffff);
    CloseHandle(native_);
  }

 private:
  struct call {
    void* (*f)(void*);
    void* of;
  };
  static unsigned __stdcall run(void* of) {
    const call what = *static_cast<call*>(of);
    delete static_cast<call*>(of);
    what.f(what.of);
    return 0;
  }

  void* native_ = nullptr;
};
#endif

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif

#endif  // LOCKSTEP_SRC_PLATFORM_WINDOWS_HPP
