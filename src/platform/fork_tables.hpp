// SPDX-License-Identifier: MIT
// src/platform/fork_tables.hpp -- the tables that are locked around fork(), module by module (layer: platform)
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
#ifndef LOCKSTEP_SRC_PLATFORM_FORK_TABLES_HPP
#define LOCKSTEP_SRC_PLATFORM_FORK_TABLES_HPP

#include <lockstep/detail/platform/atomic.hpp>
#include <lockstep/detail/platform/config.hpp>
#include "fork.hpp"
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

/// In the list of modules, at its end, if it is not there; and out of it.
void join_forks(fork_module& one) noexcept;
void leave_forks(fork_module& one) noexcept;
/// Locks all tables of all modules; frees them, in the child after having put them right.
void lock_for_fork();
void unlock_after_fork(bool is_child);

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
void list_for_forks(fork_module& of, const fork_handlers& what) noexcept;

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

/// Handlers of what only one lock guards. Table::in_child() puts it right in the child, which has the lock.
template <fork_section process_state::* Lock, class Table>
struct locked_around_fork {
  static void before() { (process().*Lock).enter(); }
  static void after() {
    if ((process().*Lock).is_held()) (process().*Lock).leave();
  }
  static void child() {
    if ((process().*Lock).is_held()) Table::in_child();
    after();
  }
};

/// From the return of this call on, Handlers::before(), after() and child() are called at every fork(), once or more
/// often: by a thread that has locked, or frees, the tables of all modules.
template <class Handlers, bool IsFirstInChild = false>
void watch_forks() noexcept {
  using registration = fork_registration<Handlers, IsFirstInChild>;
  if (LOCKSTEP_UNLIKELY(!registration::is_listed.load(memory_order_acquire)))  // 1
    registration::list();
}

// fork_listener: an object that is told when it has been copied into a child. One that owns threads has a fork_listener as its last member; in the child, the function of each is called, while no
// other thread exists yet.
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
  struct all;
  struct entry;

  entry* entry_ = nullptr;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_PLATFORM_FORK_TABLES_HPP
