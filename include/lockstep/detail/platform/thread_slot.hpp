// SPDX-License-Identifier: MIT
// lockstep/detail/platform/thread_slot.hpp -- what the calling thread has in all modules alike (layer: platform)
//
// A thread_local of a header is one for each module. This is one for each thread: found through a key of the
// system, then remembered in a thread_local of the module.
//
//   N1  Two threads that live at the same time have different slots.
//   N2  No two threads ever have the same number, in the process, in its children, and after a thread's end.
//       A thread that forks keeps its number and its slot.
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
// Cost   a thread_local and a branch. The first time in a thread and module: about 50 ns.
#ifndef LOCKSTEP_DETAIL_PLATFORM_THREAD_SLOT_HPP
#define LOCKSTEP_DETAIL_PLATFORM_THREAD_SLOT_HPP

#include <errno.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "config.hpp"
#include "process_state.hpp"

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

class thread_slot_table {
 public:
  /// Of the calling thread.
  LOCKSTEP_NOINLINE static thread_slot* find() noexcept {
    process_state& all = process();
    if (thread_slot* const mine = in_key(all)) return mine;
    thread_slot* slot = at_this_place(all);
    if (slot == nullptr) slot = add(all);
    if (slot != nullptr && put_in_key(all, slot)) {
      // The thread is new, the slot perhaps not: whoever had it is gone.
      slot->innermost = nullptr;
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
    return all.thread_slots[static_cast<std::size_t>(product >> 32) % process_state::slots_size];
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
        thread_slot{nullptr, next_number(all), place(), static_cast<thread_slot*>(next)};
    while (!first.compare_exchange_weak(next, slot, memory_order_release,  // 2
                                        memory_order_acquire)) {           // 1
      slot->next = static_cast<thread_slot*>(next);
    }
    return slot;
  }

  /// Without memory: not shared with other modules, but right within this one.
  static thread_slot* of_module(process_state& all) noexcept {
    static thread_local thread_slot spare = {nullptr, 0, 0, nullptr};
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
    static_assert(sizeof(pthread_key_t) <= sizeof(std::uint32_t), "a key fits");
    std::uint32_t known = all.thread_key.load(memory_order_relaxed);  // 4
    pthread_key_t made = 0;
    if (known != 0 || pthread_key_create(&made, nullptr) != 0) return known;
    const std::uint32_t mine = static_cast<std::uint32_t>(made) + 1;
    if (all.thread_key.compare_exchange_strong(known, mine, memory_order_relaxed,  // 5
                                               memory_order_relaxed)) {            // 4
      return mine;
    }
    pthread_key_delete(made);
    return known;
  }
  static thread_slot* in_key(process_state& all) noexcept {
    const std::uint32_t key = key_of(all);
    if (key == 0) return nullptr;
    return static_cast<thread_slot*>(pthread_getspecific(static_cast<pthread_key_t>(key - 1)));
  }
  static bool put_in_key(process_state& all, thread_slot* slot) noexcept {
    const std::uint32_t key = key_of(all);
    return key != 0 && pthread_setspecific(static_cast<pthread_key_t>(key - 1), slot) == 0;
  }
#else
  static thread_slot* in_key(process_state&) noexcept { return nullptr; }
  static bool put_in_key(process_state&, thread_slot*) noexcept { return false; }
#endif
};

inline thread_slot& this_thread_slot() noexcept {
  static thread_local thread_slot* known = nullptr;
  if (known == nullptr) known = thread_slot_table::find();
  return *known;
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_PLATFORM_THREAD_SLOT_HPP
