// SPDX-License-Identifier: MIT
// lockstep/detail/platform/system.ipp -- the bodies of system.hpp (layer: platform)
//
// Memory order (# marks the line)
//   #  access         order    pairs  why it suffices
//   1  count.load     relaxed  -      a number that stands for itself
//   2  count changes  relaxed  -      as 1
#ifndef LOCKSTEP_DETAIL_PLATFORM_SYSTEM_IPP
#define LOCKSTEP_DETAIL_PLATFORM_SYSTEM_IPP

#include "system.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

// A listener needs both the process's state and the futex, which itself needs that state.
struct fork_listener::all {
  static fork_listener* first() noexcept {
    return static_cast<fork_listener*>(process().first_fork_listener);
  }

  static void before() { process().fork_listeners.enter(); }
  static void after() {
    fork_section& section = process().fork_listeners;
    if (section.is_last()) section.leave();
  }
  static void child() {
    fork_section& section = process().fork_listeners;
    if (!section.is_last()) return;
    for (fork_listener* at = first(); at != nullptr; at = at->next_) at->in_child_(at->owner_);
    section.leave();
  }
};

LOCKSTEP_COLD fork_listener::fork_listener(void* owner, void (*in_child)(void*))
    : owner_(owner), in_child_(in_child) {
  // in_child() may wake: the tables that this needs are put right before.
  native_futex::prepare_for_fork();
  watch_forks<all>();
  const holding<system_mutex> held(process().fork_listeners.lock());
  next_ = all::first();
  if (next_ != nullptr) next_->previous_ = this;
  process().first_fork_listener = this;
}

LOCKSTEP_COLD fork_listener::~fork_listener() {
  const holding<system_mutex> held(process().fork_listeners.lock());
  if (next_ != nullptr) next_->previous_ = previous_;
  if (previous_ != nullptr) {
    previous_->next_ = next_;
  } else {
    process().first_fork_listener = next_;
  }
}

#if !defined(LOCKSTEP_SYSTEM_SEAM)

LOCKSTEP_OUT_OF_LINE unsigned usable_cpus() {
  unseamed_atomic<std::uint32_t>& counted = process().usable_cpus;
  std::uint32_t known = counted.load(memory_order_relaxed);  // 1
  if (known != 0) return known;
  const std::uint32_t count = count_usable_cpus();
  const bool is_first = counted.compare_exchange_strong(known, count, memory_order_relaxed,  // 2
                                                        memory_order_relaxed);               // 1
  return is_first ? count : known;
}

LOCKSTEP_COLD unsigned count_cpus_for_waits() noexcept {
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

#endif  // LOCKSTEP_DETAIL_PLATFORM_SYSTEM_IPP
