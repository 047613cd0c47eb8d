// SPDX-License-Identifier: MIT
// src/platform/windows_system.hpp -- Windows, from Windows 8 on (layer: platform)
//
// It has run on Wine. posix_system.hpp says what each system has.
//
// Threads sleep in WaitOnAddress, also with LOCKSTEP_FORCE_PORTABLE_FUTEX. Deadlines end on a tick of the system's
// timer, up to 15.6 ms late.
//
// Cost   a wait that must sleep: one call and a context switch. A wake: one call, which stays out of the kernel if no
//        thread sleeps.
#ifndef LOCKSTEP_SRC_PLATFORM_WINDOWS_SYSTEM_HPP
#define LOCKSTEP_SRC_PLATFORM_WINDOWS_SYSTEM_HPP

#if defined(_WIN32)

#include <cstddef>
#include <cstdint>
#include <vector>

#include <lockstep/detail/platform/clock.hpp>
#include <lockstep/detail/platform/this_thread.hpp>

#include "cgroup.hpp"
#include "cpus.hpp"
#include "topology.hpp"
#include "windows.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// The library's number of CPU n in group g is 64 g + n.
constexpr unsigned windows_group_size = 64;

/// A GROUP_AFFINITY: the CPUs that a thread may run on, all in one group.
struct windows_cpus {
  static constexpr unsigned size = 8 * sizeof(std::uintptr_t);

  std::uintptr_t of_group = 0;
  unsigned short group = 0;
  unsigned short reserved[3] = {};

  /// Reads and writes the mask of the calling thread.
  bool read() noexcept { return GetThreadGroupAffinity(GetCurrentThread(), native()) != 0; }
  bool write() noexcept {
    return SetThreadGroupAffinity(GetCurrentThread(), native(), nullptr) != 0;
  }
  /// Makes it the mask of one CPU. False if there cannot be such a CPU.
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

struct windows_system {
  static constexpr bool binds_threads = true, names_threads = true, tells_of_quotas = false,
                        has_fine_timers = false;

  struct futex {
    static const char* name() noexcept { return "WaitOnAddress"; }
    static void wait(const wait_word& word, std::uint32_t expected, std::uint64_t deadline) {
      static windows_call<int(__stdcall*)(volatile void*, void*, std::size_t, unsigned long)> call{
          "WaitOnAddress"};
      const kept_error kept;
      call.get()(const_cast<wait_word*>(&word), &expected, sizeof expected,
                 windows_milliseconds_until(deadline));
    }
    static void wake(const wait_word* word, bool all) {
      static windows_call<void(__stdcall*)(void*)> wake_one{"WakeByAddressSingle"},
          wake_all{"WakeByAddressAll"};
      (all ? wake_all : wake_one).get()(const_cast<wait_word*>(word));
    }
  };
  struct shared_futex {
    static void wait(const wait_word&, std::uint32_t, std::uint64_t) noexcept { ::Sleep(1); }
    static void wake_all(const wait_word*) noexcept {}
  };

  /// Not on Wine: in many versions its FlushProcessWriteBuffers does nothing.
  struct barrier {
    static bool is_granted() noexcept {
      return find_windows_call("ntdll.dll", "wine_get_version") == 0;
    }
    static bool pass() noexcept {
      FlushProcessWriteBuffers();
      return true;
    }
    static const char* name() noexcept { return "FlushProcessWriteBuffers, the sleeper pays"; }
  };

  static int current_cpu() noexcept {
    struct {
      unsigned short group;
      unsigned char number, reserved;
    } cpu = {0, 0, 0};
    GetCurrentProcessorNumberEx(static_cast<_PROCESSOR_NUMBER*>(static_cast<void*>(&cpu)));
    return static_cast<int>(cpu.group * windows_group_size + cpu.number);
  }
  static unsigned read_affinity(std::vector<unsigned>* cpus) {
    windows_cpus mask;
    if (!mask.read()) return 0;
    unsigned count = 0;
    for (unsigned i = 0; i < windows_cpus::size; ++i) {
      if ((mask.of_group >> i & 1) == 0) continue;
      ++count;
      if (cpus != nullptr) cpus->push_back(mask.group * windows_group_size + i);
    }
    return count;
  }
  static bool pin(unsigned cpu) noexcept {
    windows_cpus mask;
    return mask.be_only(cpu) && mask.write();
  }
  static bool move_off(unsigned cpu) noexcept {
    windows_cpus before, without, one, found;
    if (!before.read() || !one.be_only(cpu) || one.group != before.group) return false;
    without = before;
    without.of_group &= ~one.of_group;
    if (without.of_group == before.of_group || without.of_group == 0 || !without.write())
      return false;
    const bool is_still_ours =
        !found.read() || (found.group == without.group && found.of_group == without.of_group);
    if (is_still_ours) before.write();
    return true;
  }
  static machine_load load_of_machine() noexcept { return machine_load::unknown; }
  static long count_cpus() noexcept { return 0; }
  static double quota() { return cgroup::unlimited; }
  static cpu_topology read_machine() {
    using information = int(__stdcall*)(int, void*, unsigned long*);
    const information ask = reinterpret_cast<information>(
        find_windows_call("kernel32.dll", "GetLogicalProcessorInformationEx"));
    if (ask == nullptr) return cpu_topology();
    constexpr int all_relations = 0xffff;
    unsigned long size = 0;
    ask(all_relations, nullptr, &size);
    std::vector<unsigned char> records(size);
    if (size == 0 || ask(all_relations, records.data(), &size) == 0) return cpu_topology();
    return windows_records::read(records.data(), size);
  }

  static bool make_key(std::uint32_t& made) noexcept { return (made = TlsAlloc()) != 0xffffffff; }
  static void free_key(std::uint32_t key) noexcept { TlsFree(key); }
  static void* at_key(std::uint32_t key) noexcept {
    const kept_error kept;
    return TlsGetValue(key);
  }
  static bool put_at_key(std::uint32_t key, void* value) noexcept {
    return TlsSetValue(key, value) != 0;
  }

  static void yield() noexcept { SwitchToThread(); }
  /// From Windows 10 of 2016 on. The name is cut to 63 characters. Each byte becomes one character.
  static bool set_name(const char* name) noexcept {
    static windows_call<long(__stdcall*)(void*, const wchar_t*)> call{"SetThreadDescription"};
    wchar_t wide[64] = {};
    for (unsigned i = 0; i + 1 < 64 && name[i] != 0; ++i)
      wide[i] = static_cast<wchar_t>(static_cast<unsigned char>(name[i]));
    return call.get() != nullptr && call.get()(GetCurrentThread(), wide) >= 0;
  }
  static void get_name(char* text, std::size_t size) noexcept {
    static windows_call<long(__stdcall*)(void*, wchar_t**)> call{"GetThreadDescription"};
    wchar_t* wide = nullptr;
    if (call.get() == nullptr || call.get()(GetCurrentThread(), &wide) < 0 || wide == nullptr)
      return;
    std::size_t i = 0;
    for (; i + 1 < size && wide[i] != 0; ++i)
      text[i] = wide[i] < 0x80 ? static_cast<char>(wide[i]) : '?';
    text[i] = 0;
    LocalFree(wide);
  }
  static std::uint64_t thread_number() noexcept { return GetCurrentThreadId(); }
  static void set_timer_slack(std::uint64_t) noexcept {}
  static std::uint64_t timer_slack() noexcept { return 0; }

  static std::uint64_t process_number() noexcept { return GetCurrentProcessId(); }
  static const char* program_name() noexcept { return "lockstep"; }
  static bool has_rights_of_others() noexcept { return false; }
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif

#endif  // LOCKSTEP_SRC_PLATFORM_WINDOWS_SYSTEM_HPP
