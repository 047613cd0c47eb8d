// SPDX-License-Identifier: MIT
// src/platform/freebsd_system.hpp -- FreeBSD (layer: platform)
//
// Compiled and linked. Its futex has only run on a stand-in of the call (tests/platform/other_systems.hpp). Newer
// FreeBSDs have membarrier. It is not used, because modules that were built on an older one would not take part.
#ifndef LOCKSTEP_SRC_PLATFORM_FREEBSD_SYSTEM_HPP
#define LOCKSTEP_SRC_PLATFORM_FREEBSD_SYSTEM_HPP

#if defined(__FreeBSD__)

#include <sys/param.h>
#include <sys/types.h>
// These come after what they need.
#include <pthread_np.h>
#include <sys/cpuset.h>
#include <sys/umtx.h>

#include "posix_system.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

struct freebsd_system : bsd_system {
  static constexpr bool binds_threads = true, names_threads = true;

  /// Deadlines are times of CLOCK_MONOTONIC, which is std::chrono::steady_clock on FreeBSD.
  struct futex {
    static const char* name() noexcept { return "_umtx_op"; }
    static void wait(const wait_word& word, std::uint32_t expected, std::uint64_t deadline) {
      _umtx_time until;
      const std::uint64_t second = 1000000000;
      until._timeout.tv_sec =
          static_cast<time_t>(std::min<std::uint64_t>(deadline / second, INT_MAX));
      until._timeout.tv_nsec = static_cast<long>(deadline % second);
      until._flags = UMTX_ABSTIME;
      until._clockid = CLOCK_MONOTONIC;
      const bool is_timed = deadline != no_deadline;
      // The size of the time goes where a pointer would.
      void* const size = reinterpret_cast<void*>(std::uintptr_t{sizeof until});
      const kept_error kept;
      _umtx_op(const_cast<wait_word*>(&word), UMTX_OP_WAIT_UINT_PRIVATE, expected,
               is_timed ? size : nullptr, is_timed ? &until : nullptr);
    }
    static void wake(const wait_word* word, bool all) {
      const kept_error kept;
      _umtx_op(const_cast<wait_word*>(word), UMTX_OP_WAKE_PRIVATE, all ? INT_MAX : 1, nullptr,
               nullptr);
    }
  };

#if __FreeBSD_version >= 1400000
  static int current_cpu() noexcept { return sched_getcpu(); }
#endif
  static unsigned read_affinity(std::vector<unsigned>* cpus) {
    cpuset_t mask;
    CPU_ZERO(&mask);
    if (cpuset_getaffinity(CPU_LEVEL_WHICH, CPU_WHICH_TID, -1, sizeof mask, &mask) != 0) return 0;
    unsigned count = 0;
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (!CPU_ISSET(cpu, &mask)) continue;
      ++count;
      if (cpus != nullptr) cpus->push_back(cpu);
    }
    return count;
  }
  static bool pin(unsigned cpu) noexcept {
    if (cpu >= CPU_SETSIZE) return false;
    cpuset_t mask;
    CPU_ZERO(&mask);
    CPU_SET(cpu, &mask);
    return cpuset_setaffinity(CPU_LEVEL_WHICH, CPU_WHICH_TID, -1, sizeof mask, &mask) == 0;
  }

  static bool set_name(const char* name) noexcept {
    pthread_set_name_np(pthread_self(), name);
    return true;
  }
  static void get_name(char* text, std::size_t size) noexcept {
    pthread_get_name_np(pthread_self(), text, size);
  }
  static std::uint64_t thread_number() noexcept {
    return static_cast<std::uint64_t>(pthread_getthreadid_np());
  }
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif

#endif  // LOCKSTEP_SRC_PLATFORM_FREEBSD_SYSTEM_HPP
