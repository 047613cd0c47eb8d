// SPDX-License-Identifier: MIT
// src/platform/fork.cpp -- the bodies of fork.hpp (layer: platform)
#include "fork.hpp"

#include <initializer_list>

#include <lockstep/detail/platform/error.hpp>
#include <lockstep/detail/platform/system.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// The link that has the address of this module, or null where the list ends.
LOCKSTEP_INLINE unseamed_atomic<fork_module*>& link_to(const fork_module& one) noexcept {
  unseamed_atomic<fork_module*>* at = &process().first_fork_module;
  while (fork_module* const next = at->load(memory_order_relaxed)) {  // 3
    if (next == &one) break;
    at = &next->next;
  }
  return *at;
}

LOCKSTEP_INLINE void join_forks(fork_module& one) noexcept {
  const holding<fork_section> held(process().forks);
  link_to(one).store(&one, memory_order_relaxed);  // 4
}

LOCKSTEP_INLINE void leave_forks(fork_module& one) noexcept {
  const holding<fork_section> held(process().forks);
  unseamed_atomic<fork_module*>& link = link_to(one);
  if (link.load(memory_order_relaxed) == &one)                              // 3
    link.store(one.next.load(memory_order_relaxed), memory_order_relaxed);  // 3, 4
}

LOCKSTEP_INLINE void list_for_forks(fork_module& of, const fork_table& what) noexcept {
  for (unseamed_atomic<const fork_table*>& place : of.tables) {
    const fork_table* known = nullptr;
    if (place.compare_exchange_strong(known, &what, memory_order_relaxed,  // 4
                                      memory_order_relaxed) ||             // 3
        known == &what) {
      return;
    }
  }
  end_program("lockstep: more tables than fork_module has room for");
}

/// Calls f(table) for the tables of all modules that are first in the child, or for all others.
template <class Function>
void for_each_table(bool is_first_in_child, Function f) {
  fork_module* at = process().first_fork_module.load(memory_order_relaxed);  // 3
  for (; at != nullptr; at = at->next.load(memory_order_relaxed)) {          // 3
    for (const unseamed_atomic<const fork_table*>& place : at->tables) {
      const fork_table* const table = place.load(memory_order_relaxed);  // 3
      if (table != nullptr && table->is_first_in_child == is_first_in_child) f(*table);
    }
  }
}

LOCKSTEP_INLINE void lock_for_fork() {
  process().forks.enter();
  for (const bool is_first_in_child : {false, true}) {
    for_each_table(is_first_in_child, [](const fork_table& table) {
      if (table.section().enter()) table.lock();
    });
  }
}

LOCKSTEP_INLINE void unlock_after_fork(bool is_child) {
  if (!process().forks.is_held()) return;  // the module has joined since lock_for_fork()
  for (const bool is_first_in_child : {true, false}) {
    for_each_table(is_first_in_child, [is_child](const fork_table& table) {
      if (!table.section().is_held()) return;
      is_child ? table.in_child() : table.unlock();
      table.section().leave();
    });
  }
  process().forks.leave();
}

struct told_in_child : list_node<told_in_child> {
  void* const owner;
  void (*const in_child)(void*);

  told_in_child(void* its_owner, void (*f)(void*)) noexcept : owner(its_owner), in_child(f) {}
};

struct fork_listeners {
  using around_fork = locked_around_fork<&process_state::listener_forks, fork_listeners>;

  static void in_child() {
    const told_in_child* at = process().fork_listeners.first();
    for (; at != nullptr; at = at->next()) at->in_child(at->owner);
  }
};

LOCKSTEP_INLINE fork_listener::fork_listener(void* owner, void (*in_child)(void*)) {
  // in_child() may wake threads: the tables which that needs are put right first.
  native_futex::prepare_for_fork();
  watch_forks<fork_listeners::around_fork>();
  entry_ = new told_in_child(owner, in_child);
  const holding<fork_section> held(process().listener_forks);
  process().fork_listeners.push_front(*entry_);
}

LOCKSTEP_INLINE fork_listener::~fork_listener() {
  {
    const holding<fork_section> held(process().listener_forks);
    process().fork_listeners.remove(*entry_);
  }
  delete entry_;
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
