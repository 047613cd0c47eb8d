// SPDX-License-Identifier: MIT
// src/platform/binding.cpp -- where a thread may run (layer: platform)
#include "cpus.hpp"

#if defined(__linux__)
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "posix.hpp"
#elif defined(__FreeBSD__)
#include <sys/param.h>
// After what it needs.
#include <sched.h>
#include <sys/cpuset.h>
#elif defined(_WIN32)
#include "windows.hpp"
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

#if defined(__linux__)

LOCKSTEP_INLINE int native_current_cpu() noexcept { return sched_getcpu(); }

LOCKSTEP_INLINE unsigned read_affinity(std::vector<unsigned>* cpus) {
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

LOCKSTEP_INLINE bool pin_this_thread(unsigned cpu) noexcept {
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

LOCKSTEP_INLINE bool is_native_machine_full() noexcept {
  // "0.78 2.47 4.74 3/109 29325": the number before the slash. Read without a stream, which would need the heap.
  char text[64] = {};
  const kept_errno kept;
  const int file = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
  const bool is_read = file >= 0 && read(file, text, sizeof text - 1) > 0;
  if (file >= 0) close(file);
  const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
  const char* const slash = is_read ? std::strchr(text, '/') : nullptr;
  if (slash == nullptr || cpus < 1) return false;
  const char* at = slash;
  while (at != text && at[-1] != ' ') --at;
  return std::strtol(at, nullptr, 10) > cpus;
}

LOCKSTEP_INLINE bool move_off_native_cpu(unsigned cpu) noexcept {
  // The kernel refuses a mask smaller than its own: this is enough for 65536 CPUs.
  constexpr std::size_t size = 8192;
  alignas(cpu_set_t) unsigned char before[size] = {}, without[size] = {}, found[size] = {};
  const auto mask = [](unsigned char* bytes) { return reinterpret_cast<cpu_set_t*>(bytes); };
  const kept_errno kept;
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
  return has_left;
}

#elif defined(_WIN32)

LOCKSTEP_INLINE int native_current_cpu() noexcept { return windows_current_cpu(); }

LOCKSTEP_INLINE unsigned read_affinity(std::vector<unsigned>* cpus) {
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

LOCKSTEP_INLINE bool pin_this_thread(unsigned cpu) noexcept {
  windows_cpus mask;
  return mask.be_only(cpu) && mask.write();
}

LOCKSTEP_INLINE bool is_native_machine_full() noexcept { return false; }

LOCKSTEP_INLINE bool move_off_native_cpu(unsigned cpu) noexcept {
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

LOCKSTEP_INLINE int native_current_cpu() noexcept {
#if __FreeBSD_version >= 1400000
  return sched_getcpu();
#else
  return -1;
#endif
}

LOCKSTEP_INLINE unsigned read_affinity(std::vector<unsigned>* cpus) {
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

LOCKSTEP_INLINE bool pin_this_thread(unsigned cpu) noexcept {
  if (cpu >= CPU_SETSIZE) return false;
  cpuset_t mask;
  CPU_ZERO(&mask);
  CPU_SET(cpu, &mask);
  return cpuset_setaffinity(CPU_LEVEL_WHICH, CPU_WHICH_TID, -1, sizeof mask, &mask) == 0;
}

LOCKSTEP_INLINE bool is_native_machine_full() noexcept { return false; }
LOCKSTEP_INLINE bool move_off_native_cpu(unsigned) noexcept { return false; }

#else

LOCKSTEP_INLINE int native_current_cpu() noexcept { return -1; }
LOCKSTEP_INLINE unsigned read_affinity(std::vector<unsigned>*) { return 0; }
LOCKSTEP_INLINE bool pin_this_thread(unsigned) noexcept { return false; }
LOCKSTEP_INLINE bool is_native_machine_full() noexcept { return false; }
LOCKSTEP_INLINE bool move_off_native_cpu(unsigned) noexcept { return false; }

#endif

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
