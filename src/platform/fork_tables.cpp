// SPDX-License-Identifier: MIT
// src/platform/fork_tables.cpp -- the bodies of fork_tables.hpp (layer: platform)
#include "fork_tables.hpp"

#include <lockstep/detail/platform/error.hpp>
#include <lockstep/detail/platform/system.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

LOCKSTEP_INLINE void join_forks(fork_module& one) noexcept {
  const holding<fork_section> held(process().forks);
  unseamed_atomic<fork_module*>* at = &process().first_fork_module;
  while (fork_module* const next = at->load(memory_order_relaxed)) {  // 3
    if (next == &one) return;
    at = &next->next;
  }
  at->store(&one, memory_order_relaxed);  // 4
}

LOCKSTEP_INLINE void leave_forks(fork_module& one) noexcept {
  const holding<fork_section> held(process().forks);
  unseamed_atomic<fork_module*>* at = &process().first_fork_module;
  while (fork_module* const next = at->load(memory_order_relaxed)) {  // 3
    if (next == &one) {
      at->store(one.next.load(memory_order_relaxed), memory_order_relaxed);  // 3, 4
      return;
    }
    at = &next->next;
  }
}

LOCKSTEP_INLINE void list_for_forks(fork_module& of, const fork_handlers& what) noexcept {
  for (unseamed_atomic<const fork_handlers*>& place : of.tables) {
    const fork_handlers* known = nullptr;
    if (place.compare_exchange_strong(known, &what, memory_order_relaxed,  // 4
                                      memory_order_relaxed) ||             // 3
        known == &what) {
      return;
    }
  }
  end_program("lockstep: more tables than fork_module has room for");
}

/// f(handlers) for those of all modules that are first in the child, or for the others.
template <class Function>
void for_each_table(bool is_first_in_child, Function f) {
  fork_module* at = process().first_fork_module.load(memory_order_relaxed);  // 3
  for (; at != nullptr; at = at->next.load(memory_order_relaxed)) {          // 3
    for (const unseamed_atomic<const fork_handlers*>& place : at->tables) {
      const fork_handlers* const table = place.load(memory_order_relaxed);  // 3
      if (table != nullptr && table->is_first_in_child == is_first_in_child) f(*table);
    }
  }
}

LOCKSTEP_INLINE void lock_for_fork() {
  process().forks.enter();
  for (const bool is_first_in_child : {false, true})
    for_each_table(is_first_in_child, [](const fork_handlers& table) { table.before(); });
}

LOCKSTEP_INLINE void unlock_after_fork(bool is_child) {
  if (!process().forks.is_held()) return;  // the module has joined since
  for (const bool is_first_in_child : {true, false})
    for_each_table(is_first_in_child, [is_child](const fork_handlers& table) {
      is_child ? table.child() : table.after();
    });
  process().forks.leave();
}

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
