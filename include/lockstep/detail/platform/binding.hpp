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

#include "config.hpp"

#if defined(__linux__)
#include <sched.h>
#elif defined(__FreeBSD__)
#include <sys/param.h>
// After what it needs.
#include <sched.h>
#include <sys/cpuset.h>
#elif defined(_WIN32)
#include "windows.hpp"
#endif

#if LOCKSTEP_HAS_BODIES && defined(__linux__)
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
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
LOCKSTEP_COLD unsigned read_affinity(std::vector<unsigned>* cpus);

/// Binds the calling thread to one CPU.
LOCKSTEP_COLD bool pin_this_thread(unsigned cpu) noexcept;

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
LOCKSTEP_COLD bool move_off_native_cpu(unsigned cpu) noexcept;

/// Whether more threads want to run on the machine than it has CPUs: then none is free. False where the system does not
/// tell. Takes some 10 us.
LOCKSTEP_COLD bool is_native_machine_full() noexcept;

#if LOCKSTEP_HAS_BODIES

#if defined(__linux__)

LOCKSTEP_COLD unsigned read_affinity(std::vector<unsigned>* cpus) {
  unsigned count = 0;
  // The kernel refuses a mask smaller than its own: this is enough.
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

LOCKSTEP_COLD bool pin_this_thread(unsigned cpu) noexcept {
  // A mask as large as needed: a machine may have more CPUs than the fixed one.
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

LOCKSTEP_COLD bool is_native_machine_full() noexcept {
  // "0.78 2.47 4.74 3/109 29325": the number before the slash. Read without a stream, which would need the heap.
  char text[64] = {};
  const int saved = errno;
  const int file = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
  const bool is_read = file >= 0 && read(file, text, sizeof text - 1) > 0;
  if (file >= 0) close(file);
  const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
  errno = saved;
  const char* const slash = is_read ? std::strchr(text, '/') : nullptr;
  if (slash == nullptr || cpus < 1) return false;
  const char* at = slash;
  while (at != text && at[-1] != ' ') --at;
  return std::strtol(at, nullptr, 10) > cpus;
}

LOCKSTEP_COLD bool move_off_native_cpu(unsigned cpu) noexcept {
  // The kernel refuses a mask smaller than its own: this is enough for 65536 CPUs.
  constexpr std::size_t size = 8192;
  alignas(cpu_set_t) unsigned char before[size] = {}, without[size] = {}, found[size] = {};
  const auto mask = [](unsigned char* bytes) { return reinterpret_cast<cpu_set_t*>(bytes); };
  const int saved = errno;
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
    // None of its CPUs is there any more: then any will do.
    std::memset(found, 0xff, size);
    sched_setaffinity(0, size, mask(found));
  }
  errno = saved;
  return has_left;
}

#elif defined(_WIN32)

LOCKSTEP_COLD unsigned read_affinity(std::vector<unsigned>* cpus) {
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

LOCKSTEP_COLD bool pin_this_thread(unsigned cpu) noexcept {
  windows_cpus mask;
  return mask.be_only(cpu) && mask.write();
}

LOCKSTEP_COLD bool is_native_machine_full() noexcept { return false; }

LOCKSTEP_COLD bool move_off_native_cpu(unsigned cpu) noexcept {
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

#elif defined(__FreeBSD__)

LOCKSTEP_COLD unsigned read_affinity(std::vector<unsigned>* cpus) {
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

LOCKSTEP_COLD bool pin_this_thread(unsigned cpu) noexcept {
  if (cpu >= CPU_SETSIZE) return false;
  cpuset_t mask;
  CPU_ZERO(&mask);
  CPU_SET(cpu, &mask);
  return cpuset_setaffinity(CPU_LEVEL_WHICH, CPU_WHICH_TID, -1, sizeof mask, &mask) == 0;
}

LOCKSTEP_COLD bool is_native_machine_full() noexcept { return false; }
LOCKSTEP_COLD bool move_off_native_cpu(unsigned) noexcept { return false; }

#else

LOCKSTEP_COLD unsigned read_affinity(std::vector<unsigned>*) { return 0; }
LOCKSTEP_COLD bool pin_this_thread(unsigned) noexcept { return false; }
LOCKSTEP_COLD bool is_native_machine_full() noexcept { return false; }
LOCKSTEP_COLD bool move_off_native_cpu(unsigned) noexcept { return false; }

#endif

#endif

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_PLATFORM_BINDING_HPP
