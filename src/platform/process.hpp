// SPDX-License-Identifier: MIT
// src/platform/process.hpp -- what a process has once for all its modules (layer: platform)
//
// A waiter may sleep in one module (executable or shared object) and be woken by another. So the process has one set of
// tables for all modules, whatever the visibility of symbols and the flags of dlopen(). The tables are words and locks
// that begin as zeros. They need no guard variables, no order of initialisation and no destruction, and can be used
// before main(), after it, and in a child of fork().
//
//   PROCESS-1  Modules must agree on the layout: a change of it raises LOCKSTEP_PROCESS_LAYOUT.
//   PROCESS-2  The state holds no address of code or of a module's static data, because these end with their module.
//              The only exceptions are addresses that their owner takes out again (fork_listener, fork_module).
//   PROCESS-3  Units with different seams or futexes do not share a state: they could not wake each other.
//
// A word in each module leads to the state of the process. The first module makes the state. How the next module finds
// it depends on the system:
//
// ELF (Linux, BSD)  The linker cannot find it: modules do not see a symbol that an executable does not export, that is
//     hidden, or that is in a module loaded by dlopen(RTLD_LOCAL). So every module with the code of the search has a
//     note with the place of its word, and its program headers lead to the note. A module looks at the notes of all
//     modules, and takes the address that it finds in one of the words. If there is none, it puts one into the first
//     word of all. So two modules that look at the same time agree, even if the walk over the modules takes no lock.
// Apple             The word is a weak definition of default visibility. The dynamic linker makes one of all, also in
//     programs that hide their symbols and in modules loaded by dlopen(RTLD_LOCAL).
// Windows           The address is in names of the process's own table of atoms: bit 17 is set if there is an atom for
//     bit 17. A mutex named after the process lets the modules look one after the other. It holds no data, because
//     another process may have made it.
// Elsewhere         Modules for which the linker makes one symbol share one state.
//
//   PROCESS-4  Modules loaded at the same time have the same state, whatever their visibility and flags.
//   PROCESS-5  The state lies on the heap and is never freed: it stays when the module that made it is unloaded.
//
// Memory order (# marks the line)
//   #  access               order    pairs  why it suffices
//   1  word.load            acquire  -      the state is made before its address is seen: 2 of process.cpp
//   2  holder.load          relaxed  -      only the thread's own number matters, which it wrote itself
//   3  holder.store         relaxed  -      as 2; written under the lock
//
// Cost   process(): a load and a branch. When a module is loaded: about 1 us for each module that there is.
#ifndef LOCKSTEP_SRC_PLATFORM_PROCESS_HPP
#define LOCKSTEP_SRC_PLATFORM_PROCESS_HPP

#include <cstddef>
#include <cstdint>
#include <mutex>

#include <lockstep/detail/platform/atomic.hpp>
#include <lockstep/detail/platform/cache_line.hpp>
#include <lockstep/detail/platform/config.hpp>
#include <lockstep/detail/platform/this_thread.hpp>
#include "intrusive_list.hpp"
#include "once.hpp"
#include "posix.hpp"
#include "windows.hpp"

#if defined(LOCKSTEP_ATOMIC_SEAM) || defined(LOCKSTEP_SYSTEM_SEAM)
#define LOCKSTEP_MODULES_HAVE_NOTES 0
#elif defined(__ELF__) && defined(__GNUC__) &&                                                    \
    (defined(__linux__) || defined(__FreeBSD__) || defined(__NetBSD__) || defined(__OpenBSD__) || \
     defined(__DragonFly__))
#define LOCKSTEP_MODULES_HAVE_NOTES 1
#else
#define LOCKSTEP_MODULES_HAVE_NOTES 0
#endif

// The number of the layout of process_state. Modules of one layout find each other by the kind, or by the word. There is
// one of each for either futex: what sleeps in one is not woken by another.
#define LOCKSTEP_PROCESS_LAYOUT 10
#if LOCKSTEP_FORCE_PORTABLE_FUTEX
#define LOCKSTEP_PROCESS_KIND (2 * LOCKSTEP_PROCESS_LAYOUT)
#define LOCKSTEP_PROCESS_WORD \
  "lockstep_process_" LOCKSTEP_ABI_TEXT_OF(LOCKSTEP_PROCESS_LAYOUT) "_portable"
#else
#define LOCKSTEP_PROCESS_KIND (2 * LOCKSTEP_PROCESS_LAYOUT - 1)
#define LOCKSTEP_PROCESS_WORD \
  "lockstep_process_" LOCKSTEP_ABI_TEXT_OF(LOCKSTEP_PROCESS_LAYOUT) "_native"
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

struct process_state;
using process_word = unseamed_atomic<process_state*>;

#if LOCKSTEP_MODULES_HAVE_NOTES

// A variable of C++, because Clang leaves assembly at file scope out of the object of a C++20 module. The name has no
// namespace: units of different settings share the word, and the note (process.cpp) can name it.
struct module_of_process {
  static __attribute__((visibility("hidden"))) process_word word __asm__(LOCKSTEP_PROCESS_WORD);
};
__attribute__((weak)) process_word module_of_process::word{nullptr};

#elif defined(__APPLE__) && defined(__GNUC__) && !defined(LOCKSTEP_ATOMIC_SEAM) && \
    !defined(LOCKSTEP_SYSTEM_SEAM)

// A name without a namespace, as above.
struct module_of_process {
  static
      __attribute__((visibility("default"))) process_word word __asm__("_" LOCKSTEP_PROCESS_WORD);
};
__attribute__((weak)) process_word module_of_process::word{nullptr};

#else

// Declared here: a struct that is first named inside a function is one of that function, and so another one elsewhere.
struct whole_module;
template <class Name>
struct process_word_holder {
  static process_word word;
};
template <class Name>
process_word process_word_holder<Name>::word{nullptr};
using module_of_process = process_word_holder<whole_module>;

#endif

template <class Lock>
using holding = std::lock_guard<Lock>;

/// A lock that a thread holds while it forks. Its handlers may be called more than once.
class fork_section {
 public:
  /// For other uses of the data that it guards. Does nothing if the calling thread holds it because it forks.
  void lock() noexcept {
    if (!is_held()) lock_.lock();
  }
  void unlock() noexcept {
    if (!is_held()) lock_.unlock();
  }

  /// In before(): true in the first call.
  bool enter() {
    if (is_held()) return false;
    lock_.lock();
    holder_.store(self(), memory_order_relaxed);  // 3
    return true;
  }
  /// In after() and child(): true until leave().
  bool is_held() const noexcept { return holder_.load(memory_order_relaxed) == self(); }  // 2
  void leave() {
    holder_.store(0, memory_order_relaxed);  // 3
    lock_.unlock();
  }

 private:
  /// A value that no other living thread has; the same in every module, and in the child.
  static std::uintptr_t self() noexcept { return reinterpret_cast<std::uintptr_t>(&errno); }

  system_mutex lock_;
  unseamed_atomic<std::uintptr_t> holder_{0};
};

/// fork.hpp has them.
struct fork_module;
struct told_in_child;

/// A region that a thread is in: turns.hpp.
struct nested_region {
  const void* owner;      ///< the team
  std::uint32_t age;      ///< of the team: later ones have larger numbers
  const void* boards;     ///< the group of its members
  const wait_word* runs;  ///< the number of the team's region that runs, or 0; null: of no region
  const nested_region* outer;  ///< the region from which it was called
};

/// For src/wait/parking_lot.hpp.
class parked_thread;
struct alignas(cache_line_size) parking_bucket {
  wait_word lock{0};
  intrusive_list<parked_thread> waiting;
};

/// For src/wait/misuse.cpp.
struct misuse_entry;
struct misuse_bucket {
  system_mutex lock;
  intrusive_list<misuse_entry> entries;
};

/// Messages that are printed once.
enum class message : std::uint32_t {
  environment = 1,
  unusable_cpus = 2,
  first_team = 4,
  trace = 8,
  debug_aids = 16,
  last_words = 32
};

struct process_state {
  static constexpr unsigned parking_bits = 8;
  static constexpr std::size_t misuse_size = 64, slots_size = 64, object_names_size = 64;

  fork_section forks;  // its lock also guards the list of modules
  unseamed_atomic<fork_module*> first_fork_module{nullptr};

  fork_section parking_forks;
  parking_bucket parking[std::size_t{1} << parking_bits];

  fork_section listener_forks;  // its lock also guards the list
  intrusive_list<told_in_child> fork_listeners;

  fork_section misuse_forks;
  misuse_bucket misuse[misuse_size];

  fork_section futex_forks;
  unseamed_atomic<void*> portable_futex{nullptr};  // its table, once made

  unseamed_atomic<void*> thread_slots[slots_size] = {};  // the first ones of lists that only grow
  unseamed_atomic<std::uint64_t> threads{0};     // the last number that was given to a thread
  unseamed_atomic<std::uint32_t> thread_key{0};  // the key plus one; zero: not made yet

  atomic<void*> critical_names{nullptr};  // the first of a list that only grows
  unseamed_atomic<std::uint32_t> usable_cpus{0}, cpus_for_waits{0};  // zero: not counted yet
  unseamed_atomic<std::uint32_t> messages{0};
  unseamed_atomic<std::uint32_t> unchecked_units{0};
  wait_word team_ages{0};
  found_once<void*> default_team;

  // For src/trace: which observers are on (observers.hpp), what is known of each thread, the trace, and so on.
  observer_atomic<std::uint32_t> observers{0};
  observer_atomic<void*> thread_logs{nullptr};  // the first of a list that only grows
  fork_section log_forks;                       // for the owners of the logs
  fork_section trace_forks;                     // its lock also guards the trace
  observer_atomic<void*> trace{nullptr};
  observer_atomic<void*> trace_texts{nullptr};
  fork_section watchdog_forks;  // its lock also guards the watchdog
  void* watchdog{nullptr};
  observer_atomic<std::uint64_t> delay_seed{0};
  fork_section name_forks;  // its lock also guards changes of the names
  observer_atomic<void*> object_names[object_names_size] = {};  // as thread_slots

  constexpr process_state() noexcept = default;
};

/// Finds or makes the state of the process. From now on `word` leads to it.
process_state& find_process(process_word& word) noexcept;

inline process_state& process() noexcept {
  process_state* const known = module_of_process::word.load(memory_order_acquire);  // 1
  return known != nullptr ? *known : find_process(module_of_process::word);
}

/// True for the first call for this message in the process.
bool is_first_to_print(message which) noexcept;

/// Gives the calling thread a name that debuggers and `top -H` show, cut to what the system takes. False, and nothing
/// changes, where the system has no such call, or refuses.
bool name_this_thread(const char* name) noexcept;
/// A variable of the environment. Null if it is not set, or if the program has more rights than its caller (it is
/// set-user-ID or the like): the caller wrote the environment, and a file named there could be anybody's.
const char* obeyed_variable(const char* name) noexcept;

/// Whether an object is part of a program or library file. Objects in static storage are: they are destroyed when the
/// program ends, but their memory stays. Objects on the heap, on a stack or in a thread's own storage are not. No on
/// systems that do not tell. It walks over all loaded files, which takes a microsecond or more: for messages.
bool is_static(const void* object) noexcept;

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_PLATFORM_PROCESS_HPP
