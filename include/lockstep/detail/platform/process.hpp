// SPDX-License-Identifier: MIT
// lockstep/detail/platform/process.hpp -- what a process has once for all its modules (layer: platform)
//
// A waiter may sleep in one module (executable or shared object) and be woken by another. So the tables
// that they meet in are one for the process, whatever the visibility of symbols and the flags of dlopen().
// All of it is words and locks that begin as zeros: no guard variables, no order of initialisation, no
// destruction; usable before main() and after it, and in a child of fork().
//
//   PROCESS-1  The layout is part of what modules agree on: a change of it raises LOCKSTEP_PROCESS_LAYOUT.
//   PROCESS-2  It holds no address of code or of a module's static data, because these end with their module. The only
//              exception is what its owner takes out again (fork_listener, fork_module).
//   PROCESS-3  Units whose seams or futexes differ do not share it: they could not wake each other.
//
// How they find it: process_word.hpp.
//
//   PROCESS-4  Modules loaded at the same time have the same state, whatever their visibility and flags.
//   PROCESS-5  The state lies on the heap and is never freed: it stays when the module that made it is unloaded.
//
// Memory order (# marks the line)
//   #  access               order    pairs  why it suffices
//   1  word.load            acquire  -      the state is made before its address is seen: 2 of the bodies
//   2  unchecked.store      relaxed  -      only ever set, before the unit runs; see misuse.hpp
//
// Cost   process(): a load and a branch. Once a module, when it is loaded: about 1 us for each module there is.
#ifndef LOCKSTEP_DETAIL_PLATFORM_PROCESS_HPP
#define LOCKSTEP_DETAIL_PLATFORM_PROCESS_HPP

#include <cstddef>
#include <cstdint>

#include "atomic.hpp"
#include "cache_line.hpp"
#include "config.hpp"
#include "fork.hpp"
#include "intrusive_list.hpp"
#include "process_word.hpp"

#if LOCKSTEP_HAS_BODIES
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#if defined(__unix__) || defined(__APPLE__)
#include <unistd.h>
#elif defined(_WIN32)
#include "windows.hpp"
#else
#include <chrono>
#include <thread>
#endif
#if defined(__GLIBC__)
#include <errno.h>
#endif
#if LOCKSTEP_MODULES_HAVE_NOTES || defined(__linux__) || defined(__FreeBSD__)
#include <link.h>
#endif
#if defined(__linux__) && !defined(__UCLIBC__)
#include <sys/auxv.h>
#endif
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// A region that a thread is in: detail/region/nesting.hpp.
struct nested_region {
  const void* owner;      ///< the team
  std::uint32_t age;      ///< of the team: later ones have larger numbers
  const void* boards;     ///< the group of its members
  const wait_word* runs;  ///< the number of the team's region that runs, or 0; null: of no region
  const nested_region* outer;  ///< where it was called from
};

/// What a thread has in all modules alike: this_thread.hpp.
struct thread_slot {
  const nested_region* innermost;
  std::uint64_t number;
  std::uintptr_t place;
  thread_slot* next;
  void* log;  ///< what observers know of the thread: detail/trace/thread_log.hpp; null: nothing yet
};

/// For detail/wait/parking_lot.hpp.
class parked_thread;
struct alignas(cache_line_size) parking_bucket {
  wait_word lock;
  intrusive_list<parked_thread> waiting, on_their_way;

  constexpr parking_bucket() noexcept : lock(0), waiting(), on_their_way() {}
};

/// For detail/wait/misuse.hpp: its own kind of list.
struct misuse_bucket {
  system_mutex lock;
  void* entries;

  constexpr misuse_bucket() noexcept : entries(nullptr) {}
};

/// The first of a list that only grows.
struct growing_list {
  unseamed_atomic<void*> first;

  constexpr growing_list() noexcept : first(nullptr) {}
};

/// The same for what observers know.
struct observed_list {
  observer_atomic<void*> first;

  constexpr observed_list() noexcept : first(nullptr) {}
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

  fork_section forks;  // and its lock guards the list of modules
  unseamed_atomic<fork_module*> first_fork_module;

  fork_section parking_forks;
  parking_bucket parking[std::size_t{1} << parking_bits];

  fork_section fork_listeners;  // and its lock guards the list
  void* first_fork_listener;

  fork_section misuse_forks;
  misuse_bucket misuse[misuse_size];

  fork_section futex_forks;
  unseamed_atomic<void*> portable_futex;  // its table, once made
  void* futex_held;                       // of the thread that forks

  growing_list thread_slots[slots_size];
  unseamed_atomic<std::uint64_t> threads;     // the last number that was given
  unseamed_atomic<std::uint32_t> thread_key;  // the key plus one; zero: not made yet

  atomic<void*> critical_names;                             // the first of a list that only grows
  unseamed_atomic<std::uint32_t> usable_cpus, affine_cpus;  // zero: not counted yet
  unseamed_atomic<std::uint32_t> messages;
  unseamed_atomic<std::uint32_t> unchecked_units;
  wait_word team_ages;
  atomic<void*> default_team;  // once made

  // For detail/trace: who watches (observers.hpp), what is known of each thread, and the trace that is recorded.
  observer_atomic<std::uint32_t> observers;
  observer_atomic<void*> thread_logs;  // the first of a list that only grows
  fork_section trace_forks;            // and its lock guards the trace
  observer_atomic<void*> trace;
  observer_atomic<void*> trace_texts;
  fork_section watchdog_forks;  // and its lock guards the watchdog
  void* watchdog;
  observer_atomic<std::uint64_t> delay_seed;
  fork_section name_forks;  // and its lock guards changes of the names
  observed_list object_names[object_names_size];

  constexpr process_state() noexcept
      : first_fork_module(nullptr),
        first_fork_listener(nullptr),
        portable_futex(nullptr),
        futex_held(nullptr),
        threads(0),
        thread_key(0),
        critical_names(nullptr),
        usable_cpus(0),
        affine_cpus(0),
        messages(0),
        unchecked_units(0),
        team_ages(0),
        default_team(nullptr),
        observers(0),
        thread_logs(nullptr),
        trace(nullptr),
        trace_texts(nullptr),
        watchdog(nullptr),
        delay_seed(0) {}
};

/// The state of the process, which the module of `word` knows from now on.
LOCKSTEP_COLD process_state& find_process(process_word& word) noexcept;

#if LOCKSTEP_MODULES_MEET

inline process_state& process() noexcept {
  process_word& word = process_word_of_module();
  process_state* const known = word.load(memory_order_acquire);  // 1
  return known != nullptr ? *known : find_process(word);
}

// When the module is loaded, so that no wait has to walk. A unit that diagnoses nothing says so: it may lock
// what others unlock. The library's own units lock nothing of the user's.
LOCKSTEP_AT_LOAD find_process_at_load() {
  process_state& all = process();
  if (!diagnoses_misuse && !builds_library)
    all.unchecked_units.store(1, memory_order_relaxed);  // 2
}

#else

template <class Name>
struct process_holder {
  static process_state instance;
};
template <class Name>
process_state process_holder<Name>::instance;

inline process_state& process() noexcept { return process_holder<struct whole_process>::instance; }

#endif

/// True for the first that asks about this message.
LOCKSTEP_COLD bool is_first_to_print(message which) noexcept;

/// Prints a line, in one piece, and aborts. Where several threads come here, as members do that make the same mistake,
/// the first one does so, and the others wait for the end.
[[noreturn]] LOCKSTEP_COLD void end_program(const char* format, ...) noexcept;

/// What the system calls this process: its number, and the name of its program without directories.
LOCKSTEP_COLD std::uint64_t process_number() noexcept;
LOCKSTEP_COLD const char* program_name() noexcept;

/// Whether the program has more rights than its caller: it is set-user-ID or the like. Then it takes nothing from the
/// environment: a file named there could be anybody's, a delay anything.
LOCKSTEP_COLD bool has_rights_of_others() noexcept;
/// A variable of the environment, null if it is not set: if it is to be obeyed; and as it was given, for messages.
LOCKSTEP_COLD const char* obeyed_variable(const char* name) noexcept;
LOCKSTEP_COLD const char* given_variable(const char* name) noexcept;

/// Is an object part of a program or library file? Objects of static storage are: they are destroyed when the
/// program ends, but their memory stays. What lies on the heap, on a stack or in a thread's own storage is not.
/// Systems that do not tell say no. A walk over all loaded files, a microsecond or more: for messages.
LOCKSTEP_COLD bool is_static(const void* object) noexcept;

/// An object that is told when it has been copied into a child. One that owns threads has a fork_listener as its last
/// member; in the child, the function of each is called, while no other thread exists yet.
///
///   PROCESS-6  The list is locked around every fork(), so that it is whole in the child.
///   PROCESS-7  The list is one for the process.
///   PROCESS-8  Where the system has no such call, in_child() is never called.
///   PROCESS-9  The list is on the heap, not in its owners. These may be on the stack of a thread that the child does not
///              have; new threads of the child get that memory for their own stacks, and the list must not reach into it.
class fork_listener {
 public:
  /// From now on, until its destructor, in_child(owner) is called in each child, before fork() returns there. It must
  /// not start threads or allocate. The owner must be complete that long: another thread may fork at any time.
  LOCKSTEP_COLD fork_listener(void* owner, void (*in_child)(void*));
  LOCKSTEP_COLD ~fork_listener();
  fork_listener(const fork_listener&) = delete;
  fork_listener& operator=(const fork_listener&) = delete;

 private:
  struct all;
  struct entry {
    void* owner;
    void (*in_child)(void*);
    entry *next, *previous;
  };

  entry* entry_ = nullptr;
};

#if LOCKSTEP_HAS_BODIES

// Memory order (# marks the line)
//   #  access             order    pairs  why it suffices
//   1  word.load          acquire  2      the state is made before its address is seen
//   2  word changes       release  1      as 1
//   3  messages.fetch_or  relaxed  -      hands out the right to print, nothing else

#if LOCKSTEP_MODULES_MEET

/// The state for `word`, made if it has none; null without memory.
LOCKSTEP_COLD process_state* make_process(process_word& word) noexcept {
  constexpr std::size_t line = alignof(process_state);
  void* const raw = std::calloc(1, sizeof(process_state) + line);
  if (raw == nullptr) return nullptr;
  const std::uintptr_t aligned = (reinterpret_cast<std::uintptr_t>(raw) + line - 1) / line * line;
  process_state* const made = ::new (reinterpret_cast<void*>(aligned)) process_state();
  process_state* known = nullptr;
  if (word.compare_exchange_strong(known, made, memory_order_release,  // 2
                                   memory_order_acquire)) {            // 1
    return made;
  }
  std::free(raw);
  return known;
}

#if LOCKSTEP_MODULES_HAVE_NOTES

// The note of this module. It says how far it is from itself to the word, which needs no help from the dynamic linker. It
// lies in the group ("?") of the function that it stands in, so that it stays where --gc-sections removes what is not used.
#if __SIZEOF_POINTER__ == 8
#define LOCKSTEP_PROCESS_ADDRESS ".quad "
#else
#define LOCKSTEP_PROCESS_ADDRESS ".long "
#endif
#define LOCKSTEP_PROCESS_NOTE \
  __asm__ volatile(                                                \
      ".pushsection .note.lockstep,\"a?\",%note\n"                 \
      ".balign 4\n"                                                \
      ".long 9, 8, " LOCKSTEP_ABI_TEXT_OF(LOCKSTEP_PROCESS_KIND)   \
      "\n"                                                         \
      ".asciz \"lockstep\"\n"                                      \
      ".balign 4\n" LOCKSTEP_PROCESS_ADDRESS LOCKSTEP_PROCESS_WORD \
      " - .\n"                                                     \
      ".balign 8\n"                                                \
      ".popsection\n")

/// The walk over the modules.
struct process_modules {
  struct note_head {
    std::uint32_t name_size, description_size, type;
  };

  process_state* found;
  process_word* first;  ///< the word of the first module that has one

  // On most systems nothing is loaded or unloaded within a walk. So the first module is there until it has the address.
  LOCKSTEP_COLD static int find_or_make(dl_phdr_info*, std::size_t, void* to) noexcept {
    process_word& word = *static_cast<process_word*>(to);
    process_modules all = {nullptr, nullptr};
    dl_iterate_phdr(look_into, &all);
    if (all.found == nullptr) all.found = make_process(all.first != nullptr ? *all.first : word);
    word.store(all.found, memory_order_release);  // 2
    return 1;
  }

  LOCKSTEP_COLD static int look_into(dl_phdr_info* module, std::size_t, void* to) noexcept {
    LOCKSTEP_PROCESS_NOTE;
    process_modules& result = *static_cast<process_modules*>(to);
    for (unsigned i = 0; i < module->dlpi_phnum && result.found == nullptr; ++i) {
      const auto& part = module->dlpi_phdr[i];
      if (part.p_type != PT_NOTE) continue;
      const char* const notes = reinterpret_cast<const char*>(module->dlpi_addr + part.p_vaddr);
      result.read_notes(notes, part.p_memsz, part.p_align == 8 ? 8 : 4);
    }
    return result.found != nullptr ? 1 : 0;
  }

  LOCKSTEP_COLD void read_notes(const char* notes, std::size_t size,
                                std::size_t alignment) noexcept {
    const auto rounded = [alignment](std::size_t n) {
      return (n + alignment - 1) / alignment * alignment;
    };
    constexpr char name[] = "lockstep";
    for (std::size_t at = 0; at + sizeof(note_head) <= size;) {
      note_head head;
      std::memcpy(&head, notes + at, sizeof head);
      const std::size_t text = at + sizeof head, description = rounded(text + head.name_size);
      if (head.type == LOCKSTEP_PROCESS_KIND && head.name_size == sizeof name &&
          description + sizeof(std::intptr_t) <= size &&
          std::memcmp(notes + text, name, sizeof name) == 0) {
        std::intptr_t distance = 0;
        std::memcpy(&distance, notes + description, sizeof distance);
        void* const place = const_cast<char*>(notes + description + distance);
        process_word* const word = static_cast<process_word*>(place);
        if (first == nullptr) first = word;
        found = word->load(memory_order_acquire);  // 1
        if (found != nullptr) return;
      }
      at = rounded(description + head.description_size);
    }
  }
};

LOCKSTEP_COLD void look_for_process(process_word& word) noexcept {
  dl_iterate_phdr(process_modules::find_or_make, &word);
}

#elif defined(_WIN32)

/// The address of the state in the table of atoms.
class process_atoms {
 public:
  process_atoms() noexcept {
    char name[64];
    std::snprintf(name, sizeof name, "Local\\%s_%lu", LOCKSTEP_PROCESS_WORD, GetCurrentProcessId());
    turn_ = CreateMutexA(nullptr, 0, name);
    // Who has the turn needs no time. Another process that keeps it must not stop this one.
    has_turn_ = turn_ != nullptr && WaitForSingleObject(turn_, 10000) <= abandoned;
  }
  ~process_atoms() {
    if (has_turn_) ReleaseMutex(turn_);
    if (turn_ != nullptr) CloseHandle(turn_);
  }
  process_atoms(const process_atoms&) = delete;
  process_atoms& operator=(const process_atoms&) = delete;

  static process_state* read() noexcept {
    if (FindAtomA(name(bits).text) == 0) return nullptr;
    std::uintptr_t address = 0;
    for (unsigned bit = 0; bit < bits; ++bit) {
      if (FindAtomA(name(bit).text) != 0) address |= std::uintptr_t{1} << bit;
    }
    return reinterpret_cast<process_state*>(address);
  }
  static bool write(process_state* state) noexcept {
    const std::uintptr_t address = reinterpret_cast<std::uintptr_t>(state);
    for (unsigned bit = 0; bit < bits; ++bit) {
      if ((address >> bit & 1) != 0 && AddAtomA(name(bit).text) == 0) return false;
    }
    return AddAtomA(name(bits).text) != 0;
  }

 private:
  /// Of a bit of the address; of its end, that says that it is whole.
  struct atom_name {
    char text[64];
  };
  static atom_name name(unsigned bit) noexcept {
    atom_name made;
    std::snprintf(made.text, sizeof made.text, "%s_%u", LOCKSTEP_PROCESS_WORD, bit);
    return made;
  }

  static constexpr unsigned bits = sizeof(void*) * 8;
  static constexpr unsigned long abandoned = 0x80;

  void* turn_;
  bool has_turn_;
};

LOCKSTEP_COLD void look_for_process(process_word& word) noexcept {
  const unsigned long saved = GetLastError();
  {
    const process_atoms atoms;
    if (process_state* const found = process_atoms::read()) {
      word.store(found, memory_order_release);  // 2
    } else if (process_state* const made = make_process(word)) {
      if (!process_atoms::write(made))
        std::fputs("lockstep: modules cannot meet: no atoms\n", stderr);
    }
  }
  SetLastError(saved);
}

#else

LOCKSTEP_COLD void look_for_process(process_word& word) noexcept { make_process(word); }

#endif

LOCKSTEP_COLD process_state& find_process(process_word& word) noexcept {
  look_for_process(word);
  process_state* const found = word.load(memory_order_acquire);  // 1
  if (found == nullptr) {
    std::fputs("lockstep: no memory for the state of the process\n", stderr);
    std::abort();
  }
  return *found;
}

#endif

LOCKSTEP_COLD bool is_first_to_print(message which) noexcept {
  const std::uint32_t bit = static_cast<std::uint32_t>(which);
  return (process().messages.fetch_or(bit, memory_order_relaxed) & bit) == 0;  // 3
}

[[noreturn]] LOCKSTEP_COLD void end_program(const char* format, ...) noexcept {
  if (!is_first_to_print(message::last_words)) {
    // Not for ever: the first may be this thread, in a handler of the signal.
#if defined(__unix__) || defined(__APPLE__)
    ::sleep(2);
#elif defined(_WIN32)
    ::Sleep(2000);
#else
    std::this_thread::sleep_for(std::chrono::seconds(2));
#endif
    std::abort();
  }
  char text[1024];
  std::va_list arguments;
  va_start(arguments, format);
  const int length = std::vsnprintf(text, sizeof text - 1, format, arguments);
  va_end(arguments);
  std::size_t size = length < 0 ? 0 : static_cast<std::size_t>(length);
  if (size > sizeof text - 2) size = sizeof text - 2;
  text[size] = '\n';
  std::fwrite(text, 1, size + 1, stderr);
  std::fflush(stderr);
  std::abort();
}

LOCKSTEP_COLD std::uint64_t process_number() noexcept {
#if defined(__unix__) || defined(__APPLE__)
  return static_cast<std::uint64_t>(getpid());
#elif defined(_WIN32)
  return GetCurrentProcessId();
#else
  return 1;
#endif
}

LOCKSTEP_COLD const char* program_name() noexcept {
#if defined(__GLIBC__) && defined(_GNU_SOURCE)
  return program_invocation_short_name;
#elif defined(__APPLE__) || defined(__FreeBSD__) || defined(__NetBSD__) || defined(__OpenBSD__)
  return getprogname();
#else
  return "lockstep";
#endif
}

LOCKSTEP_COLD bool has_rights_of_others() noexcept {
#if defined(__linux__) && !defined(__UCLIBC__)
  return getauxval(AT_SECURE) != 0;  // as secure_getenv() has it, which not all C libraries have
#elif defined(__APPLE__) || defined(__FreeBSD__) || defined(__NetBSD__) || defined(__OpenBSD__) || \
    defined(__DragonFly__) || defined(__sun)
  return issetugid() != 0;
#elif defined(__unix__)
  return getuid() != geteuid() || getgid() != getegid();
#else
  return false;
#endif
}

LOCKSTEP_COLD const char* obeyed_variable(const char* name) noexcept {
  return has_rights_of_others() ? nullptr : given_variable(name);
}
LOCKSTEP_COLD const char* given_variable(const char* name) noexcept { return std::getenv(name); }

#if LOCKSTEP_MODULES_HAVE_NOTES || defined(__linux__) || defined(__FreeBSD__)

struct loaded_files {
  std::uintptr_t address;

  /// Not 0 if the address is in one of the file's parts in memory: then no other file is looked at.
  static int holds(dl_phdr_info* file, std::size_t, void* search) {
    const std::uintptr_t address = static_cast<const loaded_files*>(search)->address;
    for (int i = 0; i < file->dlpi_phnum; ++i) {
      const auto& part = file->dlpi_phdr[i];
      if (part.p_type != PT_LOAD) continue;
      if (address - (file->dlpi_addr + part.p_vaddr) < part.p_memsz) return 1;
    }
    return 0;
  }
};

LOCKSTEP_COLD bool is_static(const void* object) noexcept {
  loaded_files search = {reinterpret_cast<std::uintptr_t>(object)};
  return dl_iterate_phdr(loaded_files::holds, &search) != 0;
}

#else

LOCKSTEP_COLD bool is_static(const void*) noexcept { return false; }

#endif

#endif

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_PLATFORM_PROCESS_HPP
