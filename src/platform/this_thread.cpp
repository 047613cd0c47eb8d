// SPDX-License-Identifier: MIT
// src/platform/this_thread.cpp -- the slot, the name and the number of the calling thread (layer: platform)
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
#include "this_thread.hpp"

#include <errno.h>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "process.hpp"
#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#include <sched.h>
#elif !defined(_WIN32)
#include <thread>
#endif
#if defined(__linux__)
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "posix.hpp"
#elif defined(__FreeBSD__)
#include <pthread_np.h>
#elif defined(__OpenBSD__)
#include <pthread_np.h>
#include <unistd.h>
#elif defined(__NetBSD__)
#include <lwp.h>
#elif defined(_WIN32)
#include "late_call.hpp"
#include "windows.hpp"
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

#if defined(_WIN32)
/// The names that debuggers show, from Windows 10 of 2016 on. Cut to 63 characters; others than ASCII as they are.
LOCKSTEP_INLINE bool set_windows_name(const char* name) noexcept {
  static late_call<long(__stdcall*)(void*, const wchar_t*)> call{"SetThreadDescription"};
  wchar_t wide[64] = {};
  for (unsigned i = 0; i + 1 < 64 && name[i] != 0; ++i)
    wide[i] = static_cast<wchar_t>(static_cast<unsigned char>(name[i]));
  return call.get() != nullptr && call.get()(GetCurrentThread(), wide) >= 0;
}
LOCKSTEP_INLINE void get_windows_name(char* text, std::size_t size) noexcept {
  static late_call<long(__stdcall*)(void*, wchar_t**)> call{"GetThreadDescription"};
  wchar_t* wide = nullptr;
  if (call.get() == nullptr || call.get()(GetCurrentThread(), &wide) < 0 || wide == nullptr) return;
  std::size_t i = 0;
  for (; i + 1 < size && wide[i] != 0; ++i)
    text[i] = wide[i] < 0x80 ? static_cast<char>(wide[i]) : '?';
  text[i] = 0;
  LocalFree(wide);
}

/// Keys of the system: small numbers, also where their type is wider.
struct thread_keys {
  static bool make(std::uint32_t& made) noexcept { return (made = TlsAlloc()) != 0xffffffff; }
  static void free(std::uint32_t key) noexcept { TlsFree(key); }
  static void* get(std::uint32_t key) noexcept {
    const unsigned long saved = GetLastError();
    void* const found = TlsGetValue(key);
    SetLastError(saved);
    return found;
  }
  static bool put(std::uint32_t key, void* value) noexcept { return TlsSetValue(key, value) != 0; }
};
#elif defined(__unix__) || defined(__APPLE__)
struct thread_keys {
  static bool make(std::uint32_t& made) noexcept {
    pthread_key_t key = 0;
    if (pthread_key_create(&key, nullptr) != 0) return false;
    made = converted<std::uint32_t>(key);
    if (converted<pthread_key_t>(made) == key) return true;
    pthread_key_delete(key);
    return false;
  }
  static void free(std::uint32_t key) noexcept {
    pthread_key_delete(converted<pthread_key_t>(key));
  }
  static void* get(std::uint32_t key) noexcept {
    return pthread_getspecific(converted<pthread_key_t>(key));
  }
  static bool put(std::uint32_t key, void* value) noexcept {
    return pthread_setspecific(converted<pthread_key_t>(key), value) == 0;
  }
};
#else
struct thread_keys {
  static bool make(std::uint32_t&) noexcept { return false; }
  static void free(std::uint32_t) noexcept {}
  static void* get(std::uint32_t) noexcept { return nullptr; }
  static bool put(std::uint32_t, void*) noexcept { return false; }
};
#endif

class thread_slot_table {
 public:
  /// Of the calling thread.
  static thread_slot* find() noexcept {
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
  static constexpr bool reuses = !LOCKSTEP_HAS_TSAN;

  /// And 1: 0 if the system has no more.
  static std::uint32_t key_of(process_state& all) noexcept {
    std::uint32_t known = all.thread_key.load(memory_order_relaxed), made = 0;  // 4
    if (known != 0 || !thread_keys::make(made)) return known;
    if (made + 1 != 0 &&
        all.thread_key.compare_exchange_strong(known, made + 1, memory_order_relaxed,  // 5
                                               memory_order_relaxed)) {                // 4
      return made + 1;
    }
    thread_keys::free(made);
    return known;
  }
  static thread_slot* in_key(process_state& all) noexcept {
    const std::uint32_t key = key_of(all);
    return key == 0 ? nullptr : static_cast<thread_slot*>(thread_keys::get(key - 1));
  }
  static bool put_in_key(process_state& all, thread_slot* slot) noexcept {
    const std::uint32_t key = key_of(all);
    return key != 0 && thread_keys::put(key - 1, slot);
  }
};

LOCKSTEP_INLINE thread_slot* find_thread_slot() noexcept { return thread_slot_table::find(); }

LOCKSTEP_INLINE void yield_native_thread() noexcept {
#if defined(__unix__) || defined(__APPLE__)
  sched_yield();
#elif defined(_WIN32)
  SwitchToThread();
#else
  std::this_thread::yield();
#endif
}

LOCKSTEP_INLINE bool name_this_thread(const char* name) noexcept {
#if defined(__linux__) || defined(__APPLE__) || defined(__NetBSD__)
  // These refuse longer names.
#if defined(__linux__)
  char short_name[16] = {};
#elif defined(__APPLE__)
  char short_name[64] = {};
#else
  char short_name[PTHREAD_MAX_NAMELEN_NP] = {};
#endif
  for (std::size_t i = 0; i + 1 < sizeof short_name && name[i] != 0; ++i) short_name[i] = name[i];
#endif
#if defined(__linux__)
  return pthread_setname_np(pthread_self(), short_name) == 0;
#elif defined(__APPLE__)
  return pthread_setname_np(short_name) == 0;
#elif defined(__FreeBSD__) || defined(__OpenBSD__)
  pthread_set_name_np(pthread_self(), name);
  return true;
#elif defined(__NetBSD__)
  return pthread_setname_np(pthread_self(), "%s", short_name) == 0;
#elif defined(_WIN32)
  return set_windows_name(name);
#else
  (void)name;
  return false;
#endif
}

LOCKSTEP_INLINE void set_native_timer_slack(std::uint64_t nanoseconds) noexcept {
#if defined(__linux__)
  prctl(PR_SET_TIMERSLACK, converted<unsigned long>(nanoseconds), 0, 0, 0);
#else
  (void)nanoseconds;
#endif
}

LOCKSTEP_INLINE std::uint64_t shorten_native_timer_slack(std::uint64_t nanoseconds) noexcept {
#if defined(__linux__)
  const kept_errno kept;
  const int before = prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);
  const bool is_longer = before > 0 && static_cast<std::uint64_t>(before) > nanoseconds;
  if (is_longer) set_native_timer_slack(nanoseconds);
  return is_longer ? static_cast<std::uint64_t>(before) : 0;
#else
  (void)nanoseconds;
  return 0;
#endif
}

LOCKSTEP_INLINE std::uint64_t shown_thread_number() noexcept {
#if defined(__linux__)
  return static_cast<std::uint64_t>(syscall(SYS_gettid));
#elif defined(__APPLE__)
  std::uint64_t number = 0;
  return pthread_threadid_np(nullptr, &number) == 0 ? number : system_thread_number();
#elif defined(__FreeBSD__)
  return static_cast<std::uint64_t>(pthread_getthreadid_np());
#elif defined(__OpenBSD__)
  return static_cast<std::uint64_t>(getthrid());
#elif defined(__NetBSD__)
  return static_cast<std::uint64_t>(_lwp_self());
#elif defined(_WIN32)
  return GetCurrentThreadId();
#else
  return system_thread_number();
#endif
}

LOCKSTEP_INLINE thread_label label_of_this_thread() noexcept {
  thread_label label;
  label.number = system_thread_number();
  char name[16] = {};
#if defined(__linux__) || defined(__APPLE__) || defined(__NetBSD__)
  pthread_getname_np(pthread_self(), name, sizeof name);
#elif defined(__FreeBSD__) || defined(__OpenBSD__)
  pthread_get_name_np(pthread_self(), name, sizeof name);
#elif defined(_WIN32)
  get_windows_name(name, sizeof name);
#endif
  std::snprintf(label.text, sizeof label.text, "thread %llu '%s'",
                static_cast<unsigned long long>(shown_thread_number()), name);
  return label;
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
