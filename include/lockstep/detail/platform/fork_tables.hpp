// SPDX-License-Identifier: MIT
// lockstep/detail/platform/fork_tables.hpp -- the tables that are locked around fork(), module by module (layer: platform)
//
// fork.hpp says why, and has the rules ATFORK-1 to ATFORK-3. A table calls watch_forks() before its first use.
//
// Memory order (# marks the line)
//   #  access                order    pairs  why it suffices
//   1  has_joined.load and   acquire  2      who sees it set uses the table: its handlers are listed
//      is_listed.load
//   2  has_joined.store and  release  1      as 1
//      is_listed.store
//   3  module, place loads   relaxed  -      addresses of constants; the list of modules changes under its lock
//   4  module, place stores  relaxed  -      as 3
//
// Cost   watch_forks(): a load and a branch. A fork(): that of the tables which are in use.
#ifndef LOCKSTEP_DETAIL_PLATFORM_FORK_TABLES_HPP
#define LOCKSTEP_DETAIL_PLATFORM_FORK_TABLES_HPP

#include "atomic.hpp"
#include "config.hpp"
#include "fork.hpp"
#include "process.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// In the list of modules, at its end, if it is not there; and out of it.
LOCKSTEP_COLD void join_forks(fork_module& one) noexcept;
LOCKSTEP_COLD void leave_forks(fork_module& one) noexcept;
/// Locks all tables of all modules; frees them, in the child after having put them right.
LOCKSTEP_COLD void lock_for_fork();
LOCKSTEP_COLD void unlock_after_fork(bool is_child);

/// This module, its data and its handlers: none is another's, whatever the linker merges.
template <class Name>
struct LOCKSTEP_MODULE_LOCAL forks_of_module {
  static fork_module all;
  static unseamed_atomic<bool> has_joined;

  /// Threads that come first at the same time may each register, and a child again: more handlers do no harm.
  static void join() {
#if defined(__unix__) || defined(__APPLE__)
    if (has_joined.load(memory_order_acquire)) return;  // 1
    if (pthread_atfork(&before, &after, &child) == 0) join_forks(all);
    has_joined.store(true, memory_order_release);  // 2
#endif
  }
  static void leave() {
#if defined(__unix__) || defined(__APPLE__)
    leave_forks(all);
#endif
  }

 private:
  static bool is_first() noexcept {
    return process().first_fork_module.load(memory_order_relaxed) == &all;  // 3
  }
  static void before() {
    if (is_first()) lock_for_fork();
  }
  static void after() {
    if (is_first()) unlock_after_fork(false);
  }
  static void child() {
    if (is_first()) unlock_after_fork(true);
  }
};
template <class Name>
fork_module forks_of_module<Name>::all;  // zeros
template <class Name>
unseamed_atomic<bool> forks_of_module<Name>::has_joined{false};
using this_module_forks = forks_of_module<struct whole_module>;

// ATFORK-1. Where the compiler does not call it, the first use of a table does.
LOCKSTEP_FIRST_AT_LOAD join_forks_at_load() { this_module_forks::join(); }
LOCKSTEP_AT_UNLOAD leave_forks_at_unload() { this_module_forks::leave(); }

/// Lists the handlers of a table with this module, if they are not: without a lock, ATFORK-3.
LOCKSTEP_COLD void list_for_forks(fork_module& of, const fork_handlers& what) noexcept;

template <class Handlers, bool IsFirstInChild>
struct LOCKSTEP_MODULE_LOCAL fork_registration {
  static const fork_handlers handlers;
  static unseamed_atomic<bool> is_listed;

  LOCKSTEP_NOINLINE static void list() noexcept {
    this_module_forks::join();
    list_for_forks(this_module_forks::all, handlers);
    is_listed.store(true, memory_order_release);  // 2
  }
};
template <class Handlers, bool IsFirstInChild>
const fork_handlers fork_registration<Handlers, IsFirstInChild>::handlers = {
    &Handlers::before, &Handlers::after, &Handlers::child, IsFirstInChild};
template <class Handlers, bool IsFirstInChild>
unseamed_atomic<bool> fork_registration<Handlers, IsFirstInChild>::is_listed{false};

/// From the return of this call on, Handlers::before(), after() and child() are called at every fork(), once or more
/// often: by a thread that has locked, or frees, the tables of all modules.
template <class Handlers, bool IsFirstInChild = false>
void watch_forks() noexcept {
  using registration = fork_registration<Handlers, IsFirstInChild>;
  if (LOCKSTEP_UNLIKELY(!registration::is_listed.load(memory_order_acquire)))  // 1
    registration::list();
}

#if LOCKSTEP_HAS_BODIES

LOCKSTEP_COLD void join_forks(fork_module& one) noexcept {
  const holding<fork_section> held(process().forks);
  unseamed_atomic<fork_module*>* at = &process().first_fork_module;
  while (fork_module* const next = at->load(memory_order_relaxed)) {  // 3
    if (next == &one) return;
    at = &next->next;
  }
  at->store(&one, memory_order_relaxed);  // 4
}

LOCKSTEP_COLD void leave_forks(fork_module& one) noexcept {
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

LOCKSTEP_COLD void list_for_forks(fork_module& of, const fork_handlers& what) noexcept {
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

LOCKSTEP_COLD void lock_for_fork() {
  process().forks.enter();
  for (const bool is_first_in_child : {false, true})
    for_each_table(is_first_in_child, [](const fork_handlers& table) { table.before(); });
}

LOCKSTEP_COLD void unlock_after_fork(bool is_child) {
  if (!process().forks.is_held()) return;  // the module has joined since
  for (const bool is_first_in_child : {true, false})
    for_each_table(is_first_in_child, [is_child](const fork_handlers& table) {
      is_child ? table.child() : table.after();
    });
  process().forks.leave();
}

#endif

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_PLATFORM_FORK_TABLES_HPP
