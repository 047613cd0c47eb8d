// SPDX-License-Identifier: MIT
// lockstep/detail/platform/process_modules.hpp -- how the modules of a process find its one state (layer: platform)
//
// The linker does not do it: a symbol that an executable does not export, that is hidden, or that lies in a
// module loaded by dlopen(RTLD_LOCAL) is not found by others. So on Linux every module carries a note,
// which the program headers lead to, with the place of a word of its own. When a module is loaded it looks at
// the notes of all modules, in a walk that the dynamic linker locks, and takes over the address that it
// finds in one of the words; if there is none, it makes the state. So:
//
//   P1  Modules loaded at the same time have the same state, whatever their visibility and flags.
//   P2  The state lies on the heap and is never freed: it stays when the module that made it is unloaded.
//
// Elsewhere there is one state for all modules that the linker gives one symbol.
//
// Memory order (# marks the line)
//   #  access      order    pairs  why it suffices
//   1  word.load   acquire  2      the state is made before its address is seen
//   2  word.store  release  1      as 1
//   3  unchecked.store relaxed  -  only ever set, before the unit runs; see misuse.hpp
//   4  messages.fetch_or  relaxed  -  hands out the right to print, nothing else
//
// Cost   process(): a load and a branch. Once a module, when it is loaded: about 1 us for each module there is.
#ifndef LOCKSTEP_DETAIL_PLATFORM_PROCESS_MODULES_HPP
#define LOCKSTEP_DETAIL_PLATFORM_PROCESS_MODULES_HPP

#include "atomic.hpp"
#include "config.hpp"
#include "process_state.hpp"

#if defined(__linux__) && defined(__ELF__) && defined(__GNUC__) && \
    !defined(LOCKSTEP_ATOMIC_SEAM) && !defined(LOCKSTEP_SYSTEM_SEAM)
#define LOCKSTEP_MODULES_HAVE_NOTES 1
#include <link.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#else
#define LOCKSTEP_MODULES_HAVE_NOTES 0
#endif

// Of process_state; and a number for each futex, because who sleeps in one is not woken through another.
#define LOCKSTEP_PROCESS_LAYOUT 2
#if defined(LOCKSTEP_FORCE_PORTABLE_FUTEX) && LOCKSTEP_FORCE_PORTABLE_FUTEX
#define LOCKSTEP_PROCESS_KIND "4"
#define LOCKSTEP_PROCESS_WORD "lockstep_process_2_portable"
#else
#define LOCKSTEP_PROCESS_KIND "3"
#define LOCKSTEP_PROCESS_WORD "lockstep_process_2_native"
#endif

#if LOCKSTEP_MODULES_HAVE_NOTES

#if __SIZEOF_POINTER__ == 8
#define LOCKSTEP_PROCESS_ADDRESS ".quad "
#else
#define LOCKSTEP_PROCESS_ADDRESS ".long "
#endif

// The word and the note, once a module: the group is one for all units. The note says how far it is from
// itself to the word, which needs no help from the dynamic linker.
__asm__(".ifndef " LOCKSTEP_PROCESS_WORD
        "\n"
        ".pushsection .bss." LOCKSTEP_PROCESS_WORD ",\"awG\",%nobits," LOCKSTEP_PROCESS_WORD
        ",comdat\n"
        ".balign 8\n"
        ".weak " LOCKSTEP_PROCESS_WORD
        "\n"
        ".hidden " LOCKSTEP_PROCESS_WORD
        "\n"
        ".type " LOCKSTEP_PROCESS_WORD
        ", %object\n"
        ".size " LOCKSTEP_PROCESS_WORD ", 8\n" LOCKSTEP_PROCESS_WORD
        ":\n"
        ".zero 8\n"
        ".popsection\n"
        ".pushsection .note.lockstep,\"aG\",%note," LOCKSTEP_PROCESS_WORD
        ",comdat\n"
        ".balign 4\n"
        ".long 9, 8, " LOCKSTEP_PROCESS_KIND
        "\n"
        ".asciz \"lockstep\"\n"
        ".balign 4\n" LOCKSTEP_PROCESS_ADDRESS LOCKSTEP_PROCESS_WORD
        " - .\n"
        ".balign 8\n"
        ".popsection\n"
        ".endif\n");

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

using process_word = unseamed_atomic<process_state*>;

extern process_word process_word_of_module __asm__(LOCKSTEP_PROCESS_WORD)
    __attribute__((visibility("hidden")));

/// The walk over the modules.
class process_modules {
 public:
  /// The state of the process, which this module knows from now on.
  static process_state* find() noexcept {
    dl_iterate_phdr(find_or_make, nullptr);
    process_state* const found = process_word_of_module.load(memory_order_acquire);  // 1
    if (found == nullptr) fail();
    return found;
  }

 private:
  // Within a walk nothing is loaded or unloaded, and no other thread walks. So the search and what is made
  // if it finds nothing are one step.
  static int find_or_make(dl_phdr_info*, std::size_t, void*) noexcept {
    process_state* found = nullptr;
    dl_iterate_phdr(look_into, &found);
    if (found == nullptr) found = make();
    process_word_of_module.store(found, memory_order_release);  // 2
    return 1;
  }

  static process_state* make() noexcept {
    constexpr std::size_t line = alignof(process_state);
    void* const raw = std::calloc(1, sizeof(process_state) + line);
    if (raw == nullptr) return nullptr;
    const std::uintptr_t aligned = (reinterpret_cast<std::uintptr_t>(raw) + line - 1) / line * line;
    return ::new (reinterpret_cast<void*>(aligned)) process_state();
  }

  [[noreturn]] static void fail() noexcept {
    std::fputs("lockstep: no memory for the state of the process\n", stderr);
    std::abort();
  }

  static int look_into(dl_phdr_info* module, std::size_t, void* found) noexcept {
    process_state*& result = *static_cast<process_state**>(found);
    for (unsigned i = 0; i < module->dlpi_phnum && result == nullptr; ++i) {
      const ElfW(Phdr)& part = module->dlpi_phdr[i];
      if (part.p_type != PT_NOTE) continue;
      const char* const notes = reinterpret_cast<const char*>(module->dlpi_addr + part.p_vaddr);
      result = read_notes(notes, part.p_memsz, part.p_align == 8 ? 8 : 4);
    }
    return result != nullptr ? 1 : 0;
  }

  static process_state* read_notes(const char* notes, std::size_t size,
                                   std::size_t alignment) noexcept {
    const auto rounded = [alignment](std::size_t n) {
      return (n + alignment - 1) / alignment * alignment;
    };
    constexpr char name[] = "lockstep";
    for (std::size_t at = 0; at + sizeof(ElfW(Nhdr)) <= size;) {
      ElfW(Nhdr) head;
      std::memcpy(&head, notes + at, sizeof head);
      const std::size_t text = at + sizeof head, description = rounded(text + head.n_namesz);
      if (head.n_type == LOCKSTEP_PROCESS_KIND[0] - '0' && head.n_namesz == sizeof name &&
          description + sizeof(std::intptr_t) <= size &&
          std::memcmp(notes + text, name, sizeof name) == 0) {
        std::intptr_t distance = 0;
        std::memcpy(&distance, notes + description, sizeof distance);
        const auto* const word =
            reinterpret_cast<const process_word*>(notes + description + distance);
        if (process_state* const found = word->load(memory_order_acquire)) return found;  // 1
      }
      at = rounded(description + head.n_descsz);
    }
    return nullptr;
  }
};

inline process_state& process() noexcept {
  process_state* const known = process_word_of_module.load(memory_order_acquire);  // 1
  return known != nullptr ? *known : *process_modules::find();
}

// When the module is loaded, so that no wait has to walk. A unit that diagnoses nothing says so: it may lock
// what others unlock.
__attribute__((constructor)) static void find_process_at_load() {
  process_state& all = process();
  if (!diagnoses_misuse) all.unchecked_units.store(1, memory_order_relaxed);  // 3
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#else

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

template <class Name>
struct process_holder {
  static process_state instance;
};
template <class Name>
process_state process_holder<Name>::instance;

inline process_state& process() noexcept { return process_holder<struct whole_process>::instance; }

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// True for the first that asks about this message.
inline bool is_first_to_print(message which) noexcept {
  const std::uint32_t bit = static_cast<std::uint32_t>(which);
  return (process().messages.fetch_or(bit, memory_order_relaxed) & bit) == 0;  // 4
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_PLATFORM_PROCESS_MODULES_HPP
