// SPDX-License-Identifier: MIT
// src/platform/process.cpp -- the bodies of process.hpp (layer: platform)
#include "process.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "native_system.hpp"

#if LOCKSTEP_MODULES_HAVE_NOTES || defined(__linux__) || defined(__FreeBSD__)
#include <link.h>
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

// Memory order (# marks the line)
//   #  access             order    pairs  why it suffices
//   1  word.load          acquire  2      the state is made before its address is seen
//   2  word changes       release  1      as 1
//   3  messages.fetch_or  relaxed  -      hands out the right to print, nothing else

/// The state that `word` leads to, made if there is none; null without memory.
LOCKSTEP_INLINE process_state* make_process(process_word& word) noexcept {
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

// The note of this module. It holds the distance from itself to the word, which needs no help from the dynamic linker.
// The note is in the section group ("?") of the function that contains it, so --gc-sections does not remove it.
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

/// A walk over the modules, which reads their notes.
struct process_modules {
  struct note_head {
    std::uint32_t name_size, description_size, type;
  };

  process_state* found;
  process_word* first;  ///< the word of the first module that has one

  // On most systems no module is loaded or unloaded during a walk. So the first module stays until its word is set.
  static int find_or_make(dl_phdr_info*, std::size_t, void* to) noexcept {
    process_word& word = *static_cast<process_word*>(to);
    process_modules all = {nullptr, nullptr};
    dl_iterate_phdr(look_into, &all);
    if (all.found == nullptr) all.found = make_process(all.first != nullptr ? *all.first : word);
    word.store(all.found, memory_order_release);  // 2
    return 1;
  }

  static int look_into(dl_phdr_info* module, std::size_t, void* to) noexcept {
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

  void read_notes(const char* notes, std::size_t size, std::size_t alignment) noexcept {
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

LOCKSTEP_INLINE void look_for_process(process_word& word) noexcept {
  dl_iterate_phdr(process_modules::find_or_make, &word);
}

#elif defined(_WIN32) && !defined(LOCKSTEP_ATOMIC_SEAM) && !defined(LOCKSTEP_SYSTEM_SEAM)

/// Reads and writes the address of the state in the table of atoms.
class process_atoms {
 public:
  process_atoms() noexcept {
    char name[64];
    std::snprintf(name, sizeof name, "Local\\%s_%lu", LOCKSTEP_PROCESS_WORD, GetCurrentProcessId());
    turn_ = CreateMutexA(nullptr, 0, name);
    // A turn is short. If another process keeps it for 10 s, this one goes on without it.
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
  /// The name of a bit of the address. Number `bits` names the mark that says that the address is complete.
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

LOCKSTEP_INLINE void look_for_process(process_word& word) noexcept {
  const kept_error kept;
  const process_atoms atoms;
  if (process_state* const found = process_atoms::read()) {
    word.store(found, memory_order_release);  // 2
  } else if (process_state* const made = make_process(word)) {
    if (!process_atoms::write(made))
      std::fputs("lockstep: modules cannot meet: no atoms are left\n", stderr);
  }
}

#else

LOCKSTEP_INLINE void look_for_process(process_word& word) noexcept { make_process(word); }

#endif

LOCKSTEP_INLINE process_state& find_process(process_word& word) noexcept {
  look_for_process(word);
  process_state* const found = word.load(memory_order_acquire);  // 1
  if (found == nullptr) {
    std::fputs("lockstep: no memory for the state of the process\n", stderr);
    std::abort();
  }
  return *found;
}

LOCKSTEP_INLINE bool is_first_to_print(message which) noexcept {
  const std::uint32_t bit = static_cast<std::uint32_t>(which);
  return (process().messages.fetch_or(bit, memory_order_relaxed) & bit) == 0;  // 3
}

LOCKSTEP_INLINE const char* obeyed_variable(const char* name) noexcept {
  return native_system::has_rights_of_others() ? nullptr : std::getenv(name);
}

#if LOCKSTEP_MODULES_HAVE_NOTES || defined(__linux__) || defined(__FreeBSD__)

struct loaded_files {
  std::uintptr_t address;

  /// Not 0 if the address is in one of the file's parts in memory. This ends the walk.
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

LOCKSTEP_INLINE bool is_static(const void* object) noexcept {
  loaded_files search = {reinterpret_cast<std::uintptr_t>(object)};
  return dl_iterate_phdr(loaded_files::holds, &search) != 0;
}

#else

LOCKSTEP_INLINE bool is_static(const void*) noexcept { return false; }

#endif

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
