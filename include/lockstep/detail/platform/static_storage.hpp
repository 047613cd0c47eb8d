// SPDX-License-Identifier: MIT
// lockstep/detail/platform/static_storage.hpp -- is an object part of a program or library file? (layer: platform)
//
// Objects of static storage are: they are destroyed when the program ends, but their memory stays. What lies
// on the heap, on a stack or in a thread's own storage is not. Systems that do not tell say no.
// Cost   a walk over all loaded files, a microsecond or more: for messages.
#ifndef LOCKSTEP_DETAIL_PLATFORM_STATIC_STORAGE_HPP
#define LOCKSTEP_DETAIL_PLATFORM_STATIC_STORAGE_HPP

#include <cstddef>
#include <cstdint>

#include "config.hpp"

#if defined(__linux__) || defined(__FreeBSD__)
#include <link.h>
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

#if defined(__linux__) || defined(__FreeBSD__)

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

LOCKSTEP_NOINLINE inline bool is_static(const void* object) {
  loaded_files search = {reinterpret_cast<std::uintptr_t>(object)};
  return dl_iterate_phdr(loaded_files::holds, &search) != 0;
}

#else

inline bool is_static(const void*) { return false; }

#endif

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_PLATFORM_STATIC_STORAGE_HPP
