// SPDX-License-Identifier: MIT
// src/platform/linux_system.hpp -- Linux (layer: platform)
//
// Its futex and barrier are in linux_calls.hpp. What it tells about the CPUs is read in topology_linux.cpp.
#ifndef LOCKSTEP_SRC_PLATFORM_LINUX_SYSTEM_HPP
#define LOCKSTEP_SRC_PLATFORM_LINUX_SYSTEM_HPP

#if defined(__linux__)

#include <fcntl.h>
#include <sys/prctl.h>
#if !defined(__UCLIBC__)
#include <sys/auxv.h>
#endif

#include <cstdlib>
#include <cstring>

#include "linux_calls.hpp"
#include "posix_system.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

struct linux_system : posix_system {
  static constexpr bool binds_threads = true, names_threads = true, tells_of_quotas = true;

  struct futex {
    static const char* name() noexcept { return "linux futex"; }
    static void wait(const wait_word& word, std::uint32_t expected, std::uint64_t deadline) {
      linux_futex::wait(FUTEX_PRIVATE_FLAG, word, expected, deadline);
    }
    static void wake(const wait_word* word, bool all) {
      linux_futex::wake(FUTEX_PRIVATE_FLAG, word, all ? INT_MAX : 1);
    }
  };
  struct shared_futex {
    static void wait(const wait_word& word, std::uint32_t expected, std::uint64_t deadline) {
      linux_futex::wait(0, word, expected, deadline);
    }
    static void wake_all(const wait_word* word) { linux_futex::wake(0, word, INT_MAX); }
  };
  using barrier = linux_barrier;

  static int current_cpu() noexcept { return sched_getcpu(); }

  static unsigned read_affinity(std::vector<unsigned>* cpus) {
    unsigned count = 0;
    // The kernel refuses a mask smaller than its own. This one is large enough.
    constexpr unsigned bits = 8 * sizeof(unsigned long);
    unsigned long mask[max_cpus / bits] = {};
    if (sched_getaffinity(0, sizeof mask, reinterpret_cast<cpu_set_t*>(mask)) != 0) return 0;
    for (unsigned first = 0; first < max_cpus; first += bits) {
      for (unsigned long rest = mask[first / bits]; rest != 0; rest &= rest - 1, ++count) {
        const unsigned cpu = first + static_cast<unsigned>(__builtin_ctzl(rest));
        if (cpus != nullptr) cpus->push_back(cpu);
      }
    }
    return count;
  }

  static bool pin(unsigned cpu) noexcept {
    // The mask is as large as needed: a machine may have more CPUs than a cpu_set_t.
    if (cpu >= (1u << 20)) return false;
    cpu_set_t* const mask = CPU_ALLOC(cpu + std::size_t{1});
    if (mask == nullptr) return false;
    const std::size_t size = CPU_ALLOC_SIZE(cpu + std::size_t{1});
    CPU_ZERO_S(size, mask);
    CPU_SET_S(cpu, size, mask);
    const bool is_pinned = sched_setaffinity(0, size, mask) == 0;
    CPU_FREE(mask);
    return is_pinned;
  }

  static bool move_off(unsigned cpu) noexcept {
    // The kernel refuses a mask smaller than its own. This one is large enough for 65536 CPUs.
    constexpr std::size_t size = 8192;
    alignas(cpu_set_t) unsigned char before[size] = {}, without[size] = {}, found[size] = {};
    const auto mask = [](unsigned char* bytes) { return reinterpret_cast<cpu_set_t*>(bytes); };
    const kept_error kept;
    bool has_left = sched_getaffinity(0, size, mask(before)) == 0 && cpu < 8 * size &&
                    CPU_ISSET_S(cpu, size, mask(before));
    if (has_left) {
      std::memcpy(without, before, size);
      CPU_CLR_S(cpu, size, mask(without));
      has_left =
          CPU_COUNT_S(size, mask(without)) > 0 && sched_setaffinity(0, size, mask(without)) == 0;
    }
    const bool is_still_ours = has_left && (sched_getaffinity(0, size, mask(found)) != 0 ||
                                            std::memcmp(found, without, size) == 0);
    if (is_still_ours && sched_setaffinity(0, size, mask(before)) != 0) {
      // None of the CPUs of `before` is there any more: any CPU will do.
      std::memset(found, 0xff, size);
      sched_setaffinity(0, size, mask(found));
    }
    return has_left;
  }

  static bool is_machine_full() noexcept {
    // "0.78 2.47 4.74 3/109 29325": 3 threads want to run. Read without a stream, which would need the heap.
    char text[64] = {};
    const kept_error kept;
    const int file = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
    const bool is_read = file >= 0 && read(file, text, sizeof text - 1) > 0;
    if (file >= 0) close(file);
    const long cpus = count_cpus();
    const char* const slash = is_read ? std::strchr(text, '/') : nullptr;
    if (slash == nullptr || cpus < 1) return false;
    const char* at = slash;
    while (at != text && at[-1] != ' ') --at;
    return std::strtol(at, nullptr, 10) > cpus;
  }
  static double quota() { return cgroup::quota(); }

  static bool set_name(const char* name) noexcept {
    return pthread_setname_np(pthread_self(), short_name<16>(name).text) == 0;
  }
  static void get_name(char* text, std::size_t size) noexcept {
    pthread_getname_np(pthread_self(), text, size);
  }
  static std::uint64_t thread_number() noexcept {
    return static_cast<std::uint64_t>(syscall(SYS_gettid));
  }
  static void set_timer_slack(std::uint64_t nanoseconds) noexcept {
    prctl(PR_SET_TIMERSLACK, converted<unsigned long>(nanoseconds), 0, 0, 0);
  }
  static std::uint64_t timer_slack() noexcept {
    const kept_error kept;
    const int known = prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);
    return known > 0 ? static_cast<std::uint64_t>(known) : 0;
  }

#if defined(__GLIBC__) && defined(_GNU_SOURCE)
  static const char* program_name() noexcept { return program_invocation_short_name; }
#endif
#if !defined(__UCLIBC__)
  // The condition of secure_getenv(), which not all C libraries have.
  static bool has_rights_of_others() noexcept { return getauxval(AT_SECURE) != 0; }
#endif
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif

#endif  // LOCKSTEP_SRC_PLATFORM_LINUX_SYSTEM_HPP
