// SPDX-License-Identifier: MIT
// lockstep/detail/platform/binding.hpp -- on which CPUs the calling thread may run, and on which it runs (layer: platform)
//
// Binding is a wish: where the system has no such call, or refuses, these return false and nothing changes.
//   Linux    sched_setaffinity
//   Windows  of processor groups, CPU n of group g is 64 g + n. A thread's CPUs are in one group, so a process counts at
//            most 64, as Windows itself does.
//   FreeBSD  cpuset_setaffinity; a thread does not leave its CPU for a moment there
// macOS, OpenBSD, NetBSD and WebAssembly do not let a program bind its threads.
#ifndef LOCKSTEP_DETAIL_PLATFORM_BINDING_HPP
#define LOCKSTEP_DETAIL_PLATFORM_BINDING_HPP

#include <cstddef>
#include <cstdint>
#include <vector>

#include <lockstep/detail/platform/config.hpp>

#if defined(__linux__)
#include <sched.h>
#elif defined(__FreeBSD__)
#include <sys/param.h>
// After what it needs.
#include <sched.h>
#include <sys/cpuset.h>
#elif defined(_WIN32)
#include <lockstep/detail/platform/windows.hpp>
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// The most CPUs of a list, and above the highest number of one.
constexpr unsigned max_cpus = 65536;

#if defined(__linux__) || defined(_WIN32) || defined(__FreeBSD__)
constexpr bool can_bind_threads = true;
#else
constexpr bool can_bind_threads = false;
#endif

/// Counts the CPUs of the affinity mask of the calling thread, and appends them to the list, if there is one. 0 if
/// they are not known.
unsigned read_affinity(std::vector<unsigned>* cpus);

/// Binds the calling thread to one CPU.
bool pin_this_thread(unsigned cpu) noexcept;

/// The CPU that the calling thread runs on, or did a moment ago; -1 if unknown.
inline int native_current_cpu() noexcept {
#if defined(__linux__) || (defined(__FreeBSD__) && __FreeBSD_version >= 1400000)
  return sched_getcpu();
#elif defined(_WIN32)
  return windows_current_cpu();
#else
  return -1;
#endif
}

/// Moves the calling thread to another CPU of its affinity mask, if there is one: takes `cpu` out of the mask for a
/// moment. Then the mask is as before, or as another thread has set it meanwhile. False if nothing was changed.
bool move_off_native_cpu(unsigned cpu) noexcept;

/// Whether more threads want to run on the machine than it has CPUs: then none is free. False where the system does not
/// tell. Takes some 10 us.
bool is_native_machine_full() noexcept;

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_PLATFORM_BINDING_HPP
