// SPDX-License-Identifier: MIT
// lockstep/detail/platform/this_thread.hpp -- placing, naming and telling the calling thread (layer: platform)
//
// Placing and naming are wishes: where the system has no such call, or refuses, they return false and nothing changes.
#ifndef LOCKSTEP_DETAIL_PLATFORM_THIS_THREAD_HPP
#define LOCKSTEP_DETAIL_PLATFORM_THIS_THREAD_HPP

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "thread_slot.hpp"

#if defined(__linux__)
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// Binds the calling thread to one CPU.
inline bool pin_this_thread(unsigned cpu) noexcept {
#if defined(__linux__)
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
#else
  (void)cpu;
  return false;
#endif
}

/// The CPU that the calling thread runs on, or did a moment ago; -1 if unknown.
inline int native_current_cpu() noexcept {
#if defined(__linux__)
  return sched_getcpu();
#else
  return -1;
#endif
}

/// Moves the calling thread to another CPU of its affinity mask, if there is one: takes `cpu` out of the mask for a
/// moment. The mask is then as it was before, or as somebody else has made it meanwhile. False if nothing was changed.
inline bool leave_native_cpu(unsigned cpu) noexcept {
#if defined(__linux__)
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
#else
  (void)cpu;
  return false;
#endif
}

/// Gives the calling thread a name that debuggers and `top -H` show; cut to what the system takes.
inline bool name_this_thread(const char* name) noexcept {
#if defined(__linux__)
  char short_name[16] = {};
  for (std::size_t i = 0; i + 1 < sizeof short_name && name[i] != 0; ++i) short_name[i] = name[i];
  return pthread_setname_np(pthread_self(), short_name) == 0;
#else
  (void)name;
  return false;
#endif
}

/// How late timers of the calling thread may be, in nanoseconds, so that several can come together. set: not 0.
inline void set_native_timer_slack(std::uint64_t nanoseconds) noexcept {
#if defined(__linux__)
  prctl(PR_SET_TIMERSLACK, static_cast<unsigned long>(nanoseconds), 0, 0, 0);
#else
  (void)nanoseconds;
#endif
}
/// Makes it `nanoseconds` if it is longer. What it was before, for set_timer_slack(); 0 if nothing was changed.
inline std::uint64_t shorten_native_timer_slack(std::uint64_t nanoseconds) noexcept {
#if defined(__linux__)
  const int saved = errno;
  const int before = prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);
  const bool is_longer = before > 0 && static_cast<std::uint64_t>(before) > nanoseconds;
  if (is_longer) set_native_timer_slack(nanoseconds);
  errno = saved;
  return is_longer ? static_cast<std::uint64_t>(before) : 0;
#else
  (void)nanoseconds;
  return 0;
#endif
}

/// A number of the calling thread that no other thread of the process or of its children ever has. Not the
/// system's, which a child of fork() in a namespace of its own may meet again. The rest of the library asks
/// number_of_this_thread() of system.hpp.
inline std::uint64_t system_thread_number() noexcept { return this_thread_slot().number; }

/// What debuggers and `top -H` call the calling thread: for messages.
inline std::uint64_t shown_thread_number() noexcept {
#if defined(__linux__)
  return static_cast<std::uint64_t>(syscall(SYS_gettid));
#else
  return system_thread_number();
#endif
}

/// What a message calls a thread: "thread 4711 'lockstep 3'". The number is not the one in the text.
struct thread_label {
  std::uint64_t number;
  char text[48];
};

inline thread_label label_of_this_thread() noexcept {
  thread_label label;
  label.number = system_thread_number();
  char name[16] = {};
#if defined(__linux__)
  pthread_getname_np(pthread_self(), name, sizeof name);
#endif
  std::snprintf(label.text, sizeof label.text, "thread %llu '%s'",
                static_cast<unsigned long long>(shown_thread_number()), name);
  return label;
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_PLATFORM_THIS_THREAD_HPP
