// SPDX-License-Identifier: MIT
// src/platform/fork_listener.cpp -- the bodies of fork_listener.hpp (layer: platform)
#include "fork_listener.hpp"

#include <lockstep/detail/platform/system.hpp>

#include "fork_tables.hpp"
#include "process.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

struct fork_listener::entry {
  void* owner;
  void (*in_child)(void*);
  entry *next, *previous;
};

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

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
