// SPDX-License-Identifier: MIT
// src/platform/windows.hpp -- what the library calls of Windows (layer: platform)
//
// Declared as windows.h declares it, which may be included as well, before or after. The library does not include it: it
// defines min, max, small, near and many other names as macros.
//
// A lock and a condition that begin as zeros and lie in memory that modules share. Those of the C++ library and of
// winpthreads do not: where they are linked statically, each module has its own.
#ifndef LOCKSTEP_SRC_PLATFORM_WINDOWS_HPP
#define LOCKSTEP_SRC_PLATFORM_WINDOWS_HPP

#if defined(_WIN32)

#include <cstdint>

#include <lockstep/detail/platform/clock.hpp>
#include <lockstep/detail/platform/config.hpp>

struct HINSTANCE__;
struct _RTL_SRWLOCK;
struct _RTL_CONDITION_VARIABLE;
struct _SECURITY_ATTRIBUTES;
union _LARGE_INTEGER;
struct _GROUP_AFFINITY;
struct _PROCESSOR_NUMBER;

extern "C" {
__declspec(dllimport) int __stdcall QueryPerformanceCounter(_LARGE_INTEGER*);
__declspec(dllimport) int __stdcall QueryPerformanceFrequency(_LARGE_INTEGER*);
__declspec(dllimport) void __stdcall AcquireSRWLockExclusive(_RTL_SRWLOCK*);
__declspec(dllimport) void __stdcall ReleaseSRWLockExclusive(_RTL_SRWLOCK*);
__declspec(dllimport) int __stdcall SleepConditionVariableSRW(_RTL_CONDITION_VARIABLE*,
                                                              _RTL_SRWLOCK*, unsigned long,
                                                              unsigned long);
__declspec(dllimport) void __stdcall WakeAllConditionVariable(_RTL_CONDITION_VARIABLE*);
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

/// A function of Windows, or null.
inline std::uintptr_t find_windows_call(const char* module, const char* name) noexcept {
  const unsigned long saved = GetLastError();
  HINSTANCE__* const found = GetModuleHandleA(module);
  const std::uintptr_t call =
      found != nullptr ? reinterpret_cast<std::uintptr_t>(GetProcAddress(found, name)) : 0;
  SetLastError(saved);
  return call;
}

/// How long Windows has to wait, in milliseconds, rounded up.
inline unsigned long windows_milliseconds_until(std::uint64_t deadline) noexcept {
  constexpr std::uint64_t millisecond = 1000000, longest = 0x7fffffff;
  constexpr unsigned long without_end = 0xffffffff;
  if (deadline == no_deadline) return without_end;
  const std::uint64_t now = steady_nanoseconds();
  const std::uint64_t rest = deadline > now ? (deadline - now - 1) / millisecond + 1 : 0;
  return static_cast<unsigned long>(rest < longest ? rest : longest);
}

/// CPU n of group g is 64 g + n for us.
constexpr unsigned windows_group_size = 64;

inline int windows_current_cpu() noexcept {
  struct {
    unsigned short group;
    unsigned char number, reserved;
  } cpu = {0, 0, 0};
  GetCurrentProcessorNumberEx(static_cast<_PROCESSOR_NUMBER*>(static_cast<void*>(&cpu)));
  return static_cast<int>(cpu.group * windows_group_size + cpu.number);
}

/// A GROUP_AFFINITY: the CPUs that a thread may run on, all of one group.
struct windows_cpus {
  static constexpr unsigned size = 8 * sizeof(std::uintptr_t);

  std::uintptr_t of_group = 0;
  unsigned short group = 0;
  unsigned short reserved[3] = {};

  /// Of the calling thread, as the next one.
  bool read() noexcept { return GetThreadGroupAffinity(GetCurrentThread(), native()) != 0; }
  bool write() noexcept {
    return SetThreadGroupAffinity(GetCurrentThread(), native(), nullptr) != 0;
  }
  /// False if there cannot be such a CPU.
  bool be_only(unsigned cpu) noexcept {
    if (cpu % windows_group_size >= size || cpu / windows_group_size > 0xffff) return false;
    group = static_cast<unsigned short>(cpu / windows_group_size);
    of_group = std::uintptr_t{1} << cpu % windows_group_size;
    return true;
  }

 private:
  _GROUP_AFFINITY* native() noexcept {
    return static_cast<_GROUP_AFFINITY*>(static_cast<void*>(this));
  }
};

class windows_mutex {
 public:
  constexpr windows_mutex() noexcept = default;
  windows_mutex(const windows_mutex&) = delete;
  windows_mutex& operator=(const windows_mutex&) = delete;

  void lock() noexcept { AcquireSRWLockExclusive(native()); }
  void unlock() noexcept { ReleaseSRWLockExclusive(native()); }

 private:
  friend class windows_condition;
  _RTL_SRWLOCK* native() noexcept {
    return static_cast<_RTL_SRWLOCK*>(static_cast<void*>(&native_));
  }

  void* native_ = nullptr;
};

class windows_condition {
 public:
  constexpr windows_condition() noexcept = default;
  windows_condition(const windows_condition&) = delete;
  windows_condition& operator=(const windows_condition&) = delete;

  /// Until it is notified, until then, or for no reason.
  void wait(windows_mutex& held, std::uint64_t deadline) noexcept {
    const unsigned long time = windows_milliseconds_until(deadline);
    SleepConditionVariableSRW(native(), held.native(), time, 0);
  }
  void notify_all() noexcept { WakeAllConditionVariable(native()); }

 private:
  _RTL_CONDITION_VARIABLE* native() noexcept {
    return static_cast<_RTL_CONDITION_VARIABLE*>(static_cast<void*>(&native_));
  }

  void* native_ = nullptr;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif

#endif  // LOCKSTEP_SRC_PLATFORM_WINDOWS_HPP
