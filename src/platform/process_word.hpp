// SPDX-License-Identifier: MIT
// src/platform/process_word.hpp -- how the modules of a process find what they share (layer: platform)
//
// A word in each module leads to the state of the process (process.hpp), from the load of the module on. The first
// module makes the state. How the next one finds it depends on the system:
//
// ELF (Linux, BSD)  The linker does not find it: a symbol that an executable does not export, that is hidden, or that
//     lies in a module loaded by dlopen(RTLD_LOCAL) is not found by others. So every module that has the code of the
//     search carries a note, which the program headers lead to, with the place of its word. A module that is loaded looks
//     at the notes of all modules, takes over the address that it finds in one of the words, and puts one there if there
//     is none: into the first word of all. So two that are loaded at the same time agree also where the walk over the modules takes no lock.
// Apple             The word is a weak definition of default visibility, of which the dynamic linker makes one, also
//     in programs that hide their symbols and in what dlopen(RTLD_LOCAL) loads.
// Windows           The address is in names of the table of atoms, which is the process's own: bit 17 is set if there
//     is an atom for bit 17. A mutex named after the process lets one module after the other look; it gives
//     nothing but the turn, because another process may have made it.
// Elsewhere         There is one state for the modules that the linker gives one symbol.
#ifndef LOCKSTEP_SRC_PLATFORM_PROCESS_WORD_HPP
#define LOCKSTEP_SRC_PLATFORM_PROCESS_WORD_HPP

#include <lockstep/detail/platform/atomic.hpp>
#include <lockstep/detail/platform/config.hpp>

#if defined(LOCKSTEP_ATOMIC_SEAM) || defined(LOCKSTEP_SYSTEM_SEAM)
#define LOCKSTEP_MODULES_HAVE_NOTES 0
#define LOCKSTEP_MODULES_MEET 0
#elif defined(__ELF__) && defined(__GNUC__) &&                                                    \
    (defined(__linux__) || defined(__FreeBSD__) || defined(__NetBSD__) || defined(__OpenBSD__) || \
     defined(__DragonFly__))
#define LOCKSTEP_MODULES_HAVE_NOTES 1
#define LOCKSTEP_MODULES_MEET 1
#elif defined(_WIN32) || (defined(__APPLE__) && defined(__GNUC__))
#define LOCKSTEP_MODULES_HAVE_NOTES 0
#define LOCKSTEP_MODULES_MEET 1
#else
#define LOCKSTEP_MODULES_HAVE_NOTES 0
#define LOCKSTEP_MODULES_MEET 0
#endif

// Of process_state; and a number for each futex, because a sleeper in one cannot be woken through another.
#define LOCKSTEP_PROCESS_LAYOUT 5
#if LOCKSTEP_FORCE_PORTABLE_FUTEX
#define LOCKSTEP_PROCESS_KIND 10
#define LOCKSTEP_PROCESS_WORD "lockstep_process_5_portable"
#else
#define LOCKSTEP_PROCESS_KIND 9
#define LOCKSTEP_PROCESS_WORD "lockstep_process_5_native"
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

struct process_state;
using process_word = unseamed_atomic<process_state*>;

#if LOCKSTEP_MODULES_HAVE_NOTES

// A variable of C++, not of assembly: Clang leaves assembly at file scope out of the object of a C++20 module. The name has
// no namespace, so units of different settings share the word, and the note (process.hpp) names it.
extern __attribute__((visibility("hidden"))) process_word
    process_word_of_note __asm__(LOCKSTEP_PROCESS_WORD);
__attribute__((weak)) process_word process_word_of_note{nullptr};
inline process_word& process_word_of_module() noexcept { return process_word_of_note; }

#elif LOCKSTEP_MODULES_MEET && defined(__APPLE__)

// A name without a namespace, as above.
extern process_word process_word_of_all __asm__("_" LOCKSTEP_PROCESS_WORD);
__attribute__((weak, visibility("default"))) process_word process_word_of_all{nullptr};
inline process_word& process_word_of_module() noexcept { return process_word_of_all; }

#else

template <class Name>
struct process_word_holder {
  static process_word word;
};
template <class Name>
process_word process_word_holder<Name>::word{nullptr};
inline process_word& process_word_of_module() noexcept {
  return process_word_holder<struct whole_module>::word;
}

#endif

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_PLATFORM_PROCESS_WORD_HPP
