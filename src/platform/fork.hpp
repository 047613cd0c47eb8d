// SPDX-License-Identifier: MIT
// src/platform/fork.hpp -- what a child process has to put right (layer: platform)
//
// fork() copies the memory, but only the calling thread. In the child, tables of threads must be whole, and must forget
// the other threads. So each table is locked around fork(). The locks must not be held while the program's own handlers
// run: these may use the library, or wait for threads that do. The system calls handlers before fork() in the reverse
// order of their registration, and after it in their order.
//
//   ATFORK-1  A module registers when it is loaded: before its own static objects are initialised, and before the
//       modules that depend on it are loaded. So a handler of the program that uses the library was registered later.
//       It is called before the locks are taken, or after they are freed.
//   ATFORK-2  Every module registers for itself, because a registration ends with its module (dlclose). Only the
//       handlers of the first module in the list do anything: they serve the tables of all modules.
//   ATFORK-3  A fork() in the middle of the first use of a table leaves nothing half done that a child would wait for:
//       the child registers and lists again. The tables of queues and of misuse, which threads use when they start, are
//       listed when the module is loaded. Else a thread could list and lock one between the handlers and the fork().
//
// Other tables call watch_forks() before their first use. Around a fork() the calling thread holds the table's own section, a
// lock of process.hpp. Several modules may list one table: the first one's functions are called.
//
// Memory order (# marks the line)
//   #  access                order    pairs  why it suffices
//   1  has_joined.load and   acquire  2      a thread that sees it set uses the table, whose handlers are listed
//      is_listed.load
//   2  has_joined.store and  release  1      as 1
//      is_listed.store
//   3  module, place loads   relaxed  -      addresses of constants. The list of modules changes under its lock
//   4  module, place stores  relaxed  -      as 3
//
// Cost   watch_forks(): a load and a branch. A fork(): to lock and free the tables that are in use.
#ifndef LOCKSTEP_SRC_PLATFORM_FORK_HPP
#define LOCKSTEP_SRC_PLATFORM_FORK_HPP

#include <initializer_list>

#include <lockstep/detail/platform/atomic.hpp>
#include <lockstep/detail/platform/config.hpp>
#include <lockstep/detail/platform/error.hpp>

#include "process.hpp"

/// When the module is loaded, as with LOCKSTEP_AT_LOAD, but before all its objects are made; when it is unloaded.
#if defined(__GNUC__)
#define LOCKSTEP_FIRST_AT_LOAD __attribute__((constructor(101))) static void
#define LOCKSTEP_AT_UNLOAD __attribute__((destructor)) static void
#else
#define LOCKSTEP_FIRST_AT_LOAD inline void
#define LOCKSTEP_AT_UNLOAD inline void
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// The functions of a table. The thread that forks calls them around every fork(), while it holds the table's section.
struct fork_table {
  fork_section& (*section)();
  void (*lock)();    ///< locks what there is to lock besides the section
  void (*unlock)();  ///< in the parent
  void (
      *in_child)();  ///< instead of unlock(), on the child's only thread: also puts the table right
  bool is_first_in_child;  ///< other tables use it: in_child() comes first, lock() last
};

/// The tables of a module. A place is taken once and never given up.
struct fork_module {
  unseamed_atomic<const fork_table*> tables[12];
  unseamed_atomic<fork_module*> next;  ///< the module that was loaded next
};

/// The link that has the address of this module, or null where the list ends.
inline unseamed_atomic<fork_module*>& link_to(const fork_module& one) noexcept {
  unseamed_atomic<fork_module*>* at = &process().first_fork_module;
  while (fork_module* const next = at->load(memory_order_relaxed)) {  // 3
    if (next == &one) break;
    at = &next->next;
  }
  return *at;
}
/// Puts a module at the end of the list of modules, if it is not there. leave_forks() takes it out.
inline void join_forks(fork_module& one) noexcept {
  const holding<fork_section> held(process().forks);
  link_to(one).store(&one, memory_order_relaxed);  // 4
}
inline void leave_forks(fork_module& one) noexcept {
  const holding<fork_section> held(process().forks);
  unseamed_atomic<fork_module*>& link = link_to(one);
  if (link.load(memory_order_relaxed) == &one)                              // 3
    link.store(one.next.load(memory_order_relaxed), memory_order_relaxed);  // 3, 4
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
/// Locks all tables of all modules. unlock_after_fork() frees them; in a child it first puts each right.
inline void lock_for_fork() {
  process().forks.enter();
  for (const bool is_first_in_child : {false, true}) {
    for_each_table(is_first_in_child, [](const fork_table& table) {
      if (table.section().enter()) table.lock();
    });
  }
}
inline void unlock_after_fork(bool is_child) {
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
/// Lists a table with this module, if it is not listed. Takes no lock, for ATFORK-3.
inline void list_for_forks(fork_module& of, const fork_table& what) noexcept {
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

/// This module's own data and handlers. The linker does not merge them with those of other modules.
template <class Name>
struct LOCKSTEP_MODULE_LOCAL forks_of_module {
  static fork_module all;
  static unseamed_atomic<bool> has_joined;

  /// Threads whose first calls meet may each register, and a child once more: more handlers do no harm.
  static void join() {
#if !defined(_WIN32)
    if (has_joined.load(memory_order_acquire)) return;  // 1
    if (pthread_atfork(&before, &after, &child) == 0) join_forks(all);
    has_joined.store(true, memory_order_release);  // 2
#endif
  }
  static void leave() {
    if (has_joined.load(memory_order_acquire)) leave_forks(all);  // 1
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

// ATFORK-1. Where the compiler has no such functions, the first use of a table joins.
LOCKSTEP_FIRST_AT_LOAD join_forks_at_load() { this_module_forks::join(); }
LOCKSTEP_AT_UNLOAD leave_forks_at_unload() { this_module_forks::leave(); }

/// The base of tables that have no lock besides their section, and nothing to put right.
struct guarded_by_section {
  static constexpr bool is_first_in_child = false;
  static void lock() {}
  static void unlock() {}
  static void in_child() {}
};
/// A table that a section of the process guards; Table::in_child() puts it right.
template <fork_section process_state::* Section, class Table>
struct locked_around_fork : guarded_by_section {
  static fork_section& section() { return process().*Section; }
  static void in_child() { Table::in_child(); }
};
template <fork_section& Section>
struct held_around_fork : guarded_by_section {
  static fork_section& section() { return Section; }
};

template <class Table>
struct LOCKSTEP_MODULE_LOCAL fork_registration {
  static const fork_table table;
  static unseamed_atomic<bool> is_listed;

  LOCKSTEP_NOINLINE static void list() noexcept {
    this_module_forks::join();
    list_for_forks(this_module_forks::all, table);
    is_listed.store(true, memory_order_release);  // 2
  }
};
template <class Table>
const fork_table fork_registration<Table>::table = {&Table::section, &Table::lock, &Table::unlock,
                                                    &Table::in_child, Table::is_first_in_child};
template <class Table>
unseamed_atomic<bool> fork_registration<Table>::is_listed{false};

/// From the return of this call on, the table is locked around every fork(), and put right in the child.
template <class Table>
void watch_forks() noexcept {
  using registration = fork_registration<Table>;
  if (LOCKSTEP_UNLIKELY(!registration::is_listed.load(memory_order_acquire)))  // 1
    registration::list();
}

/// In a child, handlers that were registered after this call run when the tables of the futex have been put right.
void prepare_futex_for_fork();

// fork_listener: calls a function when its owner has been copied into a child. An object that owns threads has a
// fork_listener as its last member. In the child each function is called while no other thread exists yet.
//
//   PROCESS-6  The list is locked around every fork(), so that it is whole in the child.
//   PROCESS-7  The process has one list.
//   PROCESS-8  Where the system has no handlers around fork(), in_child() is never called.
//   PROCESS-9  The entries are on the heap, not in their owners. An owner may be on the stack of a thread that the
//              child does not have, and new threads of the child may get that memory for their stacks.
struct told_in_child : list_node<told_in_child> {
  void* const owner;
  void (*const in_child)(void*);

  told_in_child(void* its_owner, void (*f)(void*)) noexcept : owner(its_owner), in_child(f) {}
};
struct fork_listeners {
  static void in_child() {
    const told_in_child* at = process().fork_listeners.first();
    for (; at != nullptr; at = at->next()) at->in_child(at->owner);
  }
};
class fork_listener {
 public:
  /// From now on, until the destructor, in_child(owner) is called in each child before fork() returns there. It must
  /// not start threads or allocate. The owner must be complete all that time: another thread may fork at any moment.
  fork_listener(void* owner, void (*in_child)(void*)) {
    // in_child() may wake threads: the tables which that needs are put right first.
    prepare_futex_for_fork();
    watch_forks<locked_around_fork<&process_state::listener_forks, fork_listeners>>();
    entry_ = new told_in_child(owner, in_child);
    const holding<fork_section> held(process().listener_forks);
    process().fork_listeners.push_front(*entry_);
  }
  ~fork_listener() {
    {
      const holding<fork_section> held(process().listener_forks);
      process().fork_listeners.remove(*entry_);
    }
    delete entry_;
  }
  fork_listener(const fork_listener&) = delete;
  fork_listener& operator=(const fork_listener&) = delete;

 private:
  told_in_child* entry_ = nullptr;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_PLATFORM_FORK_HPP
