// SPDX-License-Identifier: MIT
// src/platform/fork.hpp -- what a child process has to put right (layer: platform)
//
// fork() copies the memory, but only the calling thread: tables of threads must be whole in the child, and forget the
// others there. So each table is locked around fork(). The locks must not be held while handlers of the program run:
// these may use the library, and may wait for threads that do. The system calls handlers before fork() in the reverse
// order of their registration, and after it in their order.
//
//   ATFORK-1  A module registers when it is loaded, before its own static objects are initialised and before the modules
//       that depend on it are loaded. So whoever uses the library in a handler of its own has registered later:
//       that handler is called before the locks are taken, or after they are freed.
//   ATFORK-2  Every module registers for itself, because a registration ends with its module (dlclose). Only that of the
//       first module there is does anything, for the tables of all modules.
//   ATFORK-3  A fork() in the middle of the first use of a table leaves nothing half done that a child would wait for: the
//       child lists its handlers again. The tables that are used while threads start, of queues and of misuse, are listed
//       when the module is loaded: else a thread could list one, and lock it, between the handlers and the fork().
//
// A table calls watch_forks() before its first use. Around a fork() the calling thread holds the table's section, a lock of
// process.hpp. Several modules may list one table: the first one's functions are called. No two tables have one section.
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
#ifndef LOCKSTEP_SRC_PLATFORM_FORK_HPP
#define LOCKSTEP_SRC_PLATFORM_FORK_HPP

#include <lockstep/detail/platform/atomic.hpp>
#include <lockstep/detail/platform/config.hpp>

#include "process.hpp"

/// As LOCKSTEP_AT_LOAD, before all objects of the module; and when it is unloaded.
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

/// What is called around every fork() for a table, by the thread that holds its section.
struct fork_table {
  fork_section& (*section)();
  void (*lock)();    ///< what there is to lock beside the section
  void (*unlock)();  ///< in the parent
  void (
      *in_child)();  ///< in place of unlock(), on the child's only thread: puts the table right as well
  bool is_first_in_child;  ///< others use it; it is the last to be locked
};

/// The tables of a module. A place is taken once and never given up.
struct fork_module {
  unseamed_atomic<const fork_table*> tables[12];
  unseamed_atomic<fork_module*> next;  ///< that was loaded later
};

/// In the list of modules, at its end, if it is not there; and out of it.
void join_forks(fork_module& one) noexcept;
void leave_forks(fork_module& one) noexcept;
/// Locks all tables of all modules; frees them, in the child after having put them right.
void lock_for_fork();
void unlock_after_fork(bool is_child);
/// Lists a table with this module, if it is not: without a lock, ATFORK-3.
void list_for_forks(fork_module& of, const fork_table& what) noexcept;

/// This module, its data and its handlers: none is another's, whatever the linker merges.
template <class Name>
struct LOCKSTEP_MODULE_LOCAL forks_of_module {
  static fork_module all;
  static unseamed_atomic<bool> has_joined;

  /// Threads that come first at the same time may each register, and a child again: more handlers do no harm.
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

// ATFORK-1. Where the compiler does not call it, the first use of a table does.
LOCKSTEP_FIRST_AT_LOAD join_forks_at_load() { this_module_forks::join(); }
LOCKSTEP_AT_UNLOAD leave_forks_at_unload() { this_module_forks::leave(); }

/// The base of tables that their section alone guards, which have nothing to put right.
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

// fork_listener: an object that is told when it has been copied into a child. One that owns threads has a fork_listener as
// its last member; in the child, the function of each is called, while no other thread exists yet.
//
//   PROCESS-6  The list is locked around every fork(), so that it is whole in the child.
//   PROCESS-7  The list is one for the process.
//   PROCESS-8  Where the system has no such call, in_child() is never called.
//   PROCESS-9  The list is on the heap, not in its owners. These may be on the stack of a thread that the child does not
//              have; new threads of the child get that memory for their own stacks, and the list must not reach into it.
class fork_listener {
 public:
  /// From now on, until its destructor, in_child(owner) is called in each child, before fork() returns there. It must
  /// not start threads or allocate. The owner must be complete that long: another thread may fork at any time.
  fork_listener(void* owner, void (*in_child)(void*));
  ~fork_listener();
  fork_listener(const fork_listener&) = delete;
  fork_listener& operator=(const fork_listener&) = delete;

 private:
  told_in_child* entry_ = nullptr;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_PLATFORM_FORK_HPP
