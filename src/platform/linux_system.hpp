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

/// The CPUs that a thread may run on. The kernel refuses a mask smaller than its own. This one is large enough.
struct linux_cpus {
  static constexpr unsigned bits = 8 * sizeof(unsigned long);

  unsigned long words[max_cpus / bits];

  /// Reads the mask of the calling thread: how many words the system has, 0 if it does not say. The others stay as they
  /// are. By sched_getaffinity() of the C library, which clears them, omp_get_num_procs() took 1270 ns.
  unsigned read() noexcept {
    const long bytes = syscall(SYS_sched_getaffinity, 0, sizeof words, words);
    return bytes > 0 ? static_cast<unsigned>(bytes) / unsigned{sizeof words[0]} : 0;
  }
  /// Writes it.
  bool write() const noexcept {
    return sched_setaffinity(0, sizeof words, reinterpret_cast<const cpu_set_t*>(words)) == 0;
  }
  void add(unsigned cpu) noexcept { words[cpu / bits] |= bit_of(cpu); }
  static unsigned long bit_of(unsigned cpu) noexcept { return 1ul << cpu % bits; }
};

struct linux_system : posix_system {
  static constexpr bool binds_threads = true, names_threads = true, tells_of_quotas = true;

  using futex = linux_futex<FUTEX_PRIVATE_FLAG>;
  struct shared_futex : linux_futex<0> {
    static void wake_all(const wait_word* word) { wake(word, true); }
  };
  using barrier = linux_barrier;

  static int current_cpu() noexcept { return sched_getcpu(); }

  static unsigned read_affinity(std::vector<unsigned>* cpus) {
    linux_cpus mask = {};
    const unsigned words = mask.read();
    unsigned count = 0;
    for (unsigned i = 0; i < words; ++i) {
      for (unsigned long rest = mask.words[i]; rest != 0; rest &= rest - 1, ++count) {
        const unsigned first = i * linux_cpus::bits;
        if (cpus != nullptr) cpus->push_back(first + static_cast<unsigned>(__builtin_ctzl(rest)));
      }
    }
    return count;
  }

  static bool pin(unsigned cpu) noexcept {
    if (cpu >= max_cpus) return false;
    linux_cpus mask = {};
    mask.add(cpu);
    return mask.write();
  }

  static bool move_off(unsigned cpu) noexcept {
    const kept_error kept;
    linux_cpus before = {}, found = {};
    if (cpu >= max_cpus || !before.read()) return false;
    linux_cpus without = before;
    without.words[cpu / linux_cpus::bits] &= ~linux_cpus::bit_of(cpu);
    if (is_same(without, before) || is_same(without, found) || !without.write()) return false;
    const bool is_still_ours = !found.read() || is_same(found, without);
    if (is_still_ours && !before.write()) {
      // None of the CPUs of `before` is there any more: any CPU will do.
      std::memset(found.words, 0xff, sizeof found.words);
      found.write();
    }
    return true;
  }
  static bool is_same(const linux_cpus& a, const linux_cpus& b) noexcept {
    return std::memcmp(a.words, b.words, sizeof a.words) == 0;
  }

  static machine_load load_of_machine() noexcept {
    // "0.78 2.47 4.74 3/109 29325": 3 threads want to run. Read without a stream, which would need the heap.
    char text[64] = {};
    const kept_error kept;
    const int file = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
    const bool is_read = file >= 0 && read(file, text, sizeof text - 1) > 0;
    if (file >= 0) close(file);
    const long cpus = count_cpus();
    const char* const slash = is_read ? std::strchr(text, '/') : nullptr;
    if (slash == nullptr || cpus < 1) return machine_load::unknown;
    const char* at = slash;
    while (at != text && at[-1] != ' ') --at;
    return std::strtol(at, nullptr, 10) > cpus ? machine_load::full : machine_load::has_room;
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
