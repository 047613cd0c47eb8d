// SPDX-License-Identifier: MIT
// src/platform/this_thread.cpp -- the slot, the name and the number of the calling thread (layer: platform)
//
// The system reuses the memory of threads. A slot belongs to such a place: a later thread at the place uses it again.
// So there are about as many slots as there were threads at one time. The key is empty in a new thread, which tells it
// from an earlier thread at the place. The key has no destructor: that would be code of a module that may be gone.
//
// Memory order (# marks the line)
//   #  access             order    pairs  why it suffices
//   1  first.load         acquire  2      a slot is whole before it is in the list
//   2  first.compare_exch release  1      as 1
//   3  threads.fetch_add  relaxed  -      hands out numbers, nothing else
//   4  key.load           relaxed  -      a key is a number from the system, ready to be used
//   5  key.compare_exch   relaxed  -      as 4
#include <lockstep/detail/platform/this_thread.hpp>

#include <errno.h>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <new>

#include "native_system.hpp"
#include "process.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

class thread_slot_table {
 public:
  /// The slot of the calling thread.
  static thread_slot* find() noexcept {
    process_state& all = process();
    if (thread_slot* const mine = in_key(all)) return mine;
    thread_slot* slot = at_this_place(all);
    if (slot == nullptr) slot = add(all);
    if (slot != nullptr && put_in_key(all, slot)) {
      // The thread is new. The slot may be that of a thread that has ended.
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

  static unseamed_atomic<void*>& list_of(process_state& all, std::uintptr_t place) noexcept {
    const std::uint64_t product = std::uint64_t{place} * 0x9E3779B97F4A7C15u;
    return all.thread_slots[converted<std::size_t>(product >> 32) % process_state::slots_size];
  }

  static thread_slot* at_this_place(process_state& all) noexcept {
    if (!reuses) return nullptr;
    void* const first = list_of(all, place()).load(memory_order_acquire);  // 1
    thread_slot* slot = static_cast<thread_slot*>(first);
    while (slot != nullptr && slot->place != place()) slot = slot->next;
    return slot;
  }

  static thread_slot* add(process_state& all) noexcept {
    void* const raw = std::malloc(sizeof(thread_slot));
    if (raw == nullptr) return nullptr;
    unseamed_atomic<void*>& first = list_of(all, place());
    void* next = first.load(memory_order_acquire);  // 1
    thread_slot* const slot = ::new (raw)
        thread_slot{nullptr, next_number(all), place(), static_cast<thread_slot*>(next), nullptr};
    while (!first.compare_exchange_weak(next, slot, memory_order_release,  // 2
                                        memory_order_acquire)) {           // 1
      slot->next = static_cast<thread_slot*>(next);
    }
    return slot;
  }

  /// For threads that get no memory: not shared with other modules, but right within this one.
  static thread_slot* of_module(process_state& all) noexcept {
    static thread_local thread_slot spare = {nullptr, 0, 0, nullptr, nullptr};
    if (spare.number == 0) spare.number = next_number(all);
    return &spare;
  }

  // ThreadSanitizer does not know that the memory of a thread is used again only after the thread has ended.
  static constexpr bool reuses = !LOCKSTEP_HAS_TSAN;

  /// The key plus one; 0 if the system has no key left.
  static std::uint32_t key_of(process_state& all) noexcept {
    std::uint32_t known = all.thread_key.load(memory_order_relaxed), made = 0;  // 4
    if (known != 0 || !native_system::make_key(made)) return known;
    if (made + 1 != 0 &&
        all.thread_key.compare_exchange_strong(known, made + 1, memory_order_relaxed,  // 5
                                               memory_order_relaxed)) {                // 4
      return made + 1;
    }
    native_system::free_key(made);
    return known;
  }
  static thread_slot* in_key(process_state& all) noexcept {
    const std::uint32_t key = key_of(all);
    return key == 0 ? nullptr : static_cast<thread_slot*>(native_system::at_key(key - 1));
  }
  static bool put_in_key(process_state& all, thread_slot* slot) noexcept {
    const std::uint32_t key = key_of(all);
    return key != 0 && native_system::put_at_key(key - 1, slot);
  }
};

LOCKSTEP_INLINE thread_slot* find_thread_slot() noexcept { return thread_slot_table::find(); }

LOCKSTEP_INLINE thread_label label_of_this_thread() noexcept {
  thread_label label = {};
  label.number = system_thread_number();
  native_system::get_name(label.name, sizeof label.name);
  std::snprintf(label.text, sizeof label.text, "thread %llu '%s'",
                static_cast<unsigned long long>(native_system::thread_number()), label.name);
  return label;
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
