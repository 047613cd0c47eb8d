// SPDX-License-Identifier: MIT
// src/platform/system.cpp -- the bodies of system.hpp (layer: platform)
#include <lockstep/detail/platform/system.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

// A listener needs both the process's state and the futex, which itself needs that state.
struct fork_listener::all {
  static entry* first() noexcept { return static_cast<entry*>(process().first_fork_listener); }

  static void before() { process().fork_listeners.enter(); }
  static void after() {
    fork_section& section = process().fork_listeners;
    if (section.is_held()) section.leave();
  }
  static void child() {
    fork_section& section = process().fork_listeners;
    if (!section.is_held()) return;
    for (entry* at = first(); at != nullptr; at = at->next) at->in_child(at->owner);
    section.leave();
  }
};

LOCKSTEP_INLINE fork_listener::fork_listener(void* owner, void (*in_child)(void*)) {
  // in_child() may wake: the tables that this needs are put right before.
  native_futex::prepare_for_fork();
  watch_forks<all>();
  entry_ = new entry{owner, in_child, nullptr, nullptr};
  const holding<fork_section> held(process().fork_listeners);
  entry* const next = entry_->next = all::first();
  if (next != nullptr) next->previous = entry_;
  process().first_fork_listener = entry_;
}

LOCKSTEP_INLINE fork_listener::~fork_listener() {
  {
    const holding<fork_section> held(process().fork_listeners);
    entry *const next = entry_->next, *const previous = entry_->previous;
    if (next != nullptr) next->previous = previous;
    if (previous != nullptr) {
      previous->next = next;
    } else {
      process().first_fork_listener = next;
    }
  }
  delete entry_;
}

#if !defined(LOCKSTEP_SYSTEM_SEAM)

LOCKSTEP_INLINE unsigned cpus_of_process::usable() {
  unseamed_atomic<std::uint32_t>& counted = process().usable_cpus;
  std::uint32_t known = counted.load(memory_order_relaxed);  // 1
  if (known != 0) return known;
  const std::uint32_t count = count_usable_cpus();
  const bool is_first = counted.compare_exchange_strong(known, count, memory_order_relaxed,  // 2
                                                        memory_order_relaxed);               // 1
  return is_first ? count : known;
}

LOCKSTEP_INLINE unsigned count_cpus_for_waits() noexcept {
  const std::uint32_t affine = process().affine_cpus.load(memory_order_relaxed);  // 1
  if (affine != 0) return affine;
  const std::uint32_t count = count_affine_cpus();
  process().affine_cpus.store(count, memory_order_relaxed);  // 2
  return count;
}

#endif

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
