// SPDX-License-Identifier: MIT
// src/platform/posix_system.hpp -- any POSIX system; the base of all systems but Windows (layer: platform)
//
// A system that has more has a file of its own, such as linux_system.hpp, with a struct that hides what is here.
// native_system.hpp chooses the struct. Each has:
//   futex          with the contract of system.hpp; shared_futex is for memory that several processes have mapped
//   barrier        the process-wide one of process_fence.hpp. is_granted() asks for it, pass() makes all threads fence
//   CPUs           read_affinity(), pin(), ...: cpus.hpp and system.hpp
//   keys           to data that each thread has: small numbers, even if their type is wider
//   names, number  of the calling thread, as debuggers and `top -H` show them. A name is cut to what the system takes
//   process        its number, the name of its program without directories, and has_rights_of_others(): whether the
//                  program has more rights than its caller, as with set-user-ID
// Where there is no such call, or the system refuses, nothing changes and the answer is false, -1 or nothing.
#ifndef LOCKSTEP_SRC_PLATFORM_POSIX_SYSTEM_HPP
#define LOCKSTEP_SRC_PLATFORM_POSIX_SYSTEM_HPP

#if !defined(_WIN32)

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include <lockstep/detail/platform/clock.hpp>
#include <lockstep/detail/platform/this_thread.hpp>

#include "cgroup.hpp"
#include "cpus.hpp"
#include "futex_portable.hpp"
#include "posix.hpp"
#include "topology.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

struct posix_system {
  static constexpr bool binds_threads = false, names_threads = false, tells_of_quotas = false,
                        has_fine_timers = true;

  using futex = portable_futex;
  /// A wait is a nap.
  struct shared_futex {
    static void wait(const wait_word&, std::uint32_t, std::uint64_t) noexcept { nap(); }
    static void wake_all(const wait_word*) noexcept {}
  };
  struct barrier {
    static bool is_granted() noexcept { return false; }
    static bool pass() noexcept { return false; }
    static const char* name() noexcept { return "none"; }
  };

  static int current_cpu() noexcept { return -1; }
  static unsigned read_affinity(std::vector<unsigned>*) { return 0; }
  static bool pin(unsigned) noexcept { return false; }
  static bool move_off(unsigned) noexcept { return false; }
  static machine_load load_of_machine() noexcept { return machine_load::unknown; }
  /// Zero or less: not known.
  static long count_cpus() noexcept { return sysconf(_SC_NPROCESSORS_ONLN); }
  /// The quota of CPU time, in CPUs.
  static double quota() { return cgroup::unlimited; }
  static cpu_topology read_machine() { return cpu_topology(); }

  static bool make_key(std::uint32_t& made) noexcept {
    pthread_key_t key = 0;
    if (pthread_key_create(&key, nullptr) != 0) return false;
    made = converted<std::uint32_t>(key);
    if (converted<pthread_key_t>(made) == key) return true;
    pthread_key_delete(key);
    return false;
  }
  static void free_key(std::uint32_t key) noexcept {
    pthread_key_delete(converted<pthread_key_t>(key));
  }
  static void* at_key(std::uint32_t key) noexcept {
    return pthread_getspecific(converted<pthread_key_t>(key));
  }
  static bool put_at_key(std::uint32_t key, void* value) noexcept {
    return pthread_setspecific(converted<pthread_key_t>(key), value) == 0;
  }

  static void yield() noexcept { sched_yield(); }
  static bool set_name(const char*) noexcept { return false; }
  static void get_name(char*, std::size_t) noexcept {}
  static std::uint64_t thread_number() noexcept { return system_thread_number(); }
  static void set_timer_slack(std::uint64_t) noexcept {}
  static std::uint64_t timer_slack() noexcept { return 0; }

  static std::uint64_t process_number() noexcept { return static_cast<std::uint64_t>(getpid()); }
  static const char* program_name() noexcept { return "lockstep"; }
  static bool has_rights_of_others() noexcept {
    return getuid() != geteuid() || getgid() != getegid();
  }
};

/// A name cut to Size bytes, with the zero at its end: for systems that refuse longer ones.
template <std::size_t Size>
struct short_name {
  char text[Size];
  explicit short_name(const char* name) noexcept : text() {
    for (std::size_t i = 0; i + 1 < Size && name[i] != 0; ++i) text[i] = name[i];
  }
};

/// What the BSDs and macOS have in common. OpenBSD and NetBSD have futexes, too, but nobody has run the library on
/// those systems. So it uses the portable one there.
struct bsd_system : posix_system {
#if defined(__NetBSD__) || defined(__OpenBSD__)
  static constexpr bool has_fine_timers = false;  // sleeps end on a tick; ticks are 10 ms apart
#endif
#if defined(__APPLE__) || defined(__FreeBSD__) || defined(__NetBSD__) || defined(__OpenBSD__)
  static const char* program_name() noexcept { return getprogname(); }
  static bool has_rights_of_others() noexcept { return issetugid() != 0; }
#endif
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif

#endif  // LOCKSTEP_SRC_PLATFORM_POSIX_SYSTEM_HPP
