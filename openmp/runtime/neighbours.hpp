// SPDX-License-Identifier: MIT
// openmp/runtime/neighbours.hpp -- other OpenMP runtimes in the process
#ifndef LOCKSTEP_OPENMP_RUNTIME_NEIGHBOURS_HPP
#define LOCKSTEP_OPENMP_RUNTIME_NEIGHBOURS_HPP

#include <link.h>

namespace lockstep::openmp {

/// The loader's data of a module; null if there is none. address_in() reads an address in it: glibc has relocated those
/// of most modules, but not of the vdso; other C libraries relocate none.
inline const ElfW(Dyn) * dynamic_section_of(const dl_phdr_info& module) noexcept {
  for (int i = 0; i < module.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = module.dlpi_phdr[i];
    if (segment.p_type == PT_DYNAMIC)
      return reinterpret_cast<const ElfW(Dyn)*>(module.dlpi_addr + segment.p_vaddr);
  }
  return nullptr;
}
template <class Type>
const Type* address_in(const dl_phdr_info& module, const ElfW(Dyn) & entry) noexcept {
  const ElfW(Addr) at = entry.d_un.d_ptr;
  return reinterpret_cast<const Type*>(at < module.dlpi_addr ? at + module.dlpi_addr : at);
}

/// Whether the first module that asks for an OpenMP runtime (the program, or else one of its libraries) asks for
/// LLVM's.
bool is_asked_for_by_llvm() noexcept;
/// Prints once to stderr if another runtime, or another copy of this one, gets calls of the process that ours does not
/// get.
void tell_of_neighbours() noexcept;

}  // namespace lockstep::openmp

#endif  // LOCKSTEP_OPENMP_RUNTIME_NEIGHBOURS_HPP
