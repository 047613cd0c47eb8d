// SPDX-License-Identifier: MIT
// lockstep/detail/platform/this_thread.hpp -- placing, naming and telling the calling thread (layer: platform)
//
// Placing and naming are wishes: where the system has no such call, or refuses, they return false and nothing changes.
//
// A thread_local of a header is one for each module. this_thread_slot() is one for each thread: found through a key of
// the system, then remembered in a thread_local of the module.
//
//   SLOT-1  Two threads that live at the same time have different slots.
//   SLOT-2  No two threads ever have the same number, in the process, in its children, and after a thread's end.
//           A thread that forks keeps its number and its slot.
//
// The system reuses the memory of threads. A slot belongs to such a place and is used again with it, so that
// there are about as many slots as there were threads at a time. The key has no destructor, which would be
// code of a module that may be gone; it is empty in a new thread, and so tells it from the one before it.
//
// Memory order (# marks the line)
//   #  access             order    pairs  why it suffices
//   1  first.load         acquire  2      a slot is whole before it is in the list
//   2  first.compare_exch release  1      as 1
//   3  threads.fetch_add  relaxed  -      hands out numbers, nothing else
//   4  key.load           relaxed  -      a key is a number that the system gave, ready to be used
//   5  key.compare_exch   relaxed  -      as 4
//
// Cost   this_thread_slot(): a thread_local and a branch. The first time in a thread and module: about 50 ns.
#ifndef LOCKSTEP_DETAIL_PLATFORM_THIS_THREAD_HPP
#define LOCKSTEP_DETAIL_PLATFORM_THIS_THREAD_HPP

#include <cstdint>

#include "config.hpp"
#include "process.hpp"

#if defined(__unix__) || defined(__APPLE__)
#include <sched.h>
#else
#include <thread>
#endif

#if LOCKSTEP_HAS_BODIES
#include <errno.h>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif
#if defined(__linux__)
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// What the calling thread has in all modules: looked up, and made if there is none.
LOCKSTEP_COLD thread_slot* find_thread_slot() noexcept;

inline thread_slot& this_thread_slot() noexcept {
  static thread_local thread_slot* known = nullptr;
  if (known == nullptr) known = find_thread_slot();
  return *known;
}

/// Lets another runnable thread have this CPU.
inline void yield_native_thread() noexcept {
#if defined(__unix__) || defined(__APPLE__)
  sched_yield();
#else
  std::this_thread::yield();
#endif
}

/// Binds the calling thread to one CPU.
LOCKSTEP_COLD bool pin_this_thread(unsigned cpu) noexcept;

/// The CPU that the calling thread runs on, or did a moment ago; -1 if unknown.
inline int native_current_cpu() noexcept {
#if defined(__linux__)
  return sched_getcpu();
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

/// Gives the calling thread a name that debuggers and `top -H` show; cut to what the system takes.
LOCKSTEP_COLD bool name_this_thread(const char* name) noexcept;

/// How late timers of the calling thread may be, in nanoseconds, so that several can come together. set: not 0.
LOCKSTEP_COLD void set_native_timer_slack(std::uint64_t nanoseconds) noexcept;
/// Makes it `nanoseconds` if it is longer. What it was before, for set_timer_slack(); 0 if nothing was changed.
LOCKSTEP_COLD std::uint64_t shorten_native_timer_slack(std::uint64_t nanoseconds) noexcept;

/// A number of the calling thread that no other thread of the process or of its children ever has. Not the
/// system's, which a child of fork() in a namespace of its own may meet again. The rest of the library asks
/// number_of_this_thread() of system.hpp.
inline std::uint64_t system_thread_number() noexcept { return this_thread_slot().number; }

/// What debuggers and `top -H` call the calling thread: for messages.
LOCKSTEP_COLD std::uint64_t shown_thread_number() noexcept;

/// What a message calls a thread: "thread 4711 'lockstep 3'". The number is not the one in the text.
struct thread_label {
  std::uint64_t number;
  char text[48];
};

LOCKSTEP_COLD thread_label label_of_this_thread() noexcept;

#if LOCKSTEP_HAS_BODIES

class thread_slot_table {
 public:
  /// Of the calling thread.
  LOCKSTEP_COLD static thread_slot* find() noexcept {
    process_state& all = process();
    if (thread_slot* const mine = in_key(all)) return mine;
    thread_slot* slot = at_this_place(all);
    if (slot == nullptr) slot = add(all);
    if (slot != nullptr && put_in_key(all, slot)) {
      // The thread is new, the slot perhaps not: whoever had it is gone.
      slot->innermost = nullptr;
      slot->log = nullptr;
      slot->number = next_number(all);
    }
    return slot != nullptr ? slot : of_module(all);
  }

 private:
  static std::uintptr_t place() noexcept { return reinterpret_cast<std::uintptr_t>(&errno); }

  static std::uint64_t next_number(process_state& all) noexcept {
    return all.threads.fetch_add(1, memory_order_relaxed) + 1;  // 3
  }

  static growing_list& list_of(process_state& all, std::uintptr_t place) noexcept {
    const std::uint64_t product = std::uint64_t{place} * 0x9E3779B97F4A7C15u;
    return all.thread_slots[converted<std::size_t>(product >> 32) % process_state::slots_size];
  }

  static thread_slot* at_this_place(process_state& all) noexcept {
    if (!reuses) return nullptr;
    void* const first = list_of(all, place()).first.load(memory_order_acquire);  // 1
    thread_slot* slot = static_cast<thread_slot*>(first);
    while (slot != nullptr && slot->place != place()) slot = slot->next;
    return slot;
  }

  static thread_slot* add(process_state& all) noexcept {
    void* const raw = std::malloc(sizeof(thread_slot));
    if (raw == nullptr) return nullptr;
    unseamed_atomic<void*>& first = list_of(all, place()).first;
    void* next = first.load(memory_order_acquire);  // 1
    thread_slot* const slot = ::new (raw)
        thread_slot{nullptr, next_number(all), place(), static_cast<thread_slot*>(next), nullptr};
    while (!first.compare_exchange_weak(next, slot, memory_order_release,  // 2
                                        memory_order_acquire)) {           // 1
      slot->next = static_cast<thread_slot*>(next);
    }
    return slot;
  }

  /// Without memory: not shared with other modules, but right within this one.
  static thread_slot* of_module(process_state& all) noexcept {
    static thread_local thread_slot spare = {nullptr, 0, 0, nullptr, nullptr};
    if (spare.number == 0) spare.number = next_number(all);
    return &spare;
  }

  // ThreadSanitizer does not know that a thread's memory is used again only after its end.
#if defined(__SANITIZE_THREAD__)
  static constexpr bool reuses = false;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
  static constexpr bool reuses = false;
#else
  static constexpr bool reuses = true;
#endif
#else
  static constexpr bool reuses = true;
#endif

#if defined(__unix__) || defined(__APPLE__)
  /// 0 if the system has no more.
  static std::uint32_t key_of(process_state& all) noexcept {
    std::uint32_t known = all.thread_key.load(memory_order_relaxed);  // 4
    pthread_key_t made = 0;
    if (known != 0 || pthread_key_create(&made, nullptr) != 0) return known;
    const std::uint32_t mine = converted<std::uint32_t>(made) + 1;
    // Keys are small numbers, also where their type is wider.
    if (mine != 0 && converted<pthread_key_t>(mine - 1) == made &&
        all.thread_key.compare_exchange_strong(known, mine, memory_order_relaxed,  // 5
                                               memory_order_relaxed)) {            // 4
      return mine;
    }
    pthread_key_delete(made);
    return known;
  }
  static thread_slot* in_key(process_state& all) noexcept {
    const std::uint32_t key = key_of(all);
    if (key == 0) return nullptr;
    return static_cast<thread_slot*>(pthread_getspecific(converted<pthread_key_t>(key - 1)));
  }
  static bool put_in_key(process_state& all, thread_slot* slot) noexcept {
    const std::uint32_t key = key_of(all);
    return key != 0 && pthread_setspecific(converted<pthread_key_t>(key - 1), slot) == 0;
  }
#elif defined(_WIN32)
  static std::uint32_t key_of(process_state& all) noexcept {
    std::uint32_t known = all.thread_key.load(memory_order_relaxed);  // 4
    if (known != 0) return known;
    const unsigned long made = TlsAlloc();
    const std::uint32_t mine = static_cast<std::uint32_t>(made) + 1;
    const bool are_there_more = mine != 0;
    if (are_there_more &&
        all.thread_key.compare_exchange_strong(known, mine, memory_order_relaxed,  // 5
                                               memory_order_relaxed)) {            // 4
      return mine;
    }
    if (are_there_more) TlsFree(made);
    return known;
  }
  static thread_slot* in_key(process_state& all) noexcept {
    const std::uint32_t key = key_of(all);
    if (key == 0) return nullptr;
    const unsigned long saved = GetLastError();
    void* const found = TlsGetValue(key - 1);
    SetLastError(saved);
    return static_cast<thread_slot*>(found);
  }
  static bool put_in_key(process_state& all, thread_slot* slot) noexcept {
    const std::uint32_t key = key_of(all);
    return key != 0 && TlsSetValue(key - 1, slot) != 0;
  }
#else
  static thread_slot* in_key(process_state&) noexcept { return nullptr; }
  static bool put_in_key(process_state&, thread_slot*) noexcept { return false; }
#endif
};

LOCKSTEP_COLD thread_slot* find_thread_slot() noexcept { return thread_slot_table::find(); }

LOCKSTEP_COLD bool pin_this_thread(unsigned cpu) noexcept {
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

LOCKSTEP_COLD bool is_native_machine_full() noexcept {
#if defined(__linux__)
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
#else
  return false;
#endif
}

LOCKSTEP_COLD bool move_off_native_cpu(unsigned cpu) noexcept {
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

LOCKSTEP_COLD bool name_this_thread(const char* name) noexcept {
#if defined(__linux__)
  char short_name[16] = {};
  for (std::size_t i = 0; i + 1 < sizeof short_name && name[i] != 0; ++i) short_name[i] = name[i];
  return pthread_setname_np(pthread_self(), short_name) == 0;
#elif defined(__APPLE__)
  return pthread_setname_np(name) == 0;
#else
  (void)name;
  return false;
#endif
}

LOCKSTEP_COLD void set_native_timer_slack(std::uint64_t nanoseconds) noexcept {
#if defined(__linux__)
  prctl(PR_SET_TIMERSLACK, converted<unsigned long>(nanoseconds), 0, 0, 0);
#else
  (void)nanoseconds;
#endif
}

LOCKSTEP_COLD std::uint64_t shorten_native_timer_slack(std::uint64_t nanoseconds) noexcept {
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

LOCKSTEP_COLD std::uint64_t shown_thread_number() noexcept {
#if defined(__linux__)
  return static_cast<std::uint64_t>(syscall(SYS_gettid));
#else
  return system_thread_number();
#endif
}

LOCKSTEP_COLD thread_label label_of_this_thread() noexcept {
  thread_label label;
  label.number = system_thread_number();
  char name[16] = {};
#if defined(__linux__) || defined(__APPLE__)
  pthread_getname_np(pthread_self(), name, sizeof name);
#endif
  std::snprintf(label.text, sizeof label.text, "thread %llu '%s'",
                static_cast<unsigned long long>(shown_thread_number()), name);
  return label;
}

#endif

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_PLATFORM_THIS_THREAD_HPP
