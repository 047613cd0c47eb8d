// SPDX-License-Identifier: MIT
// openmp/runtime/neighbours.hpp -- other OpenMP runtimes in the process
#ifndef LOCKSTEP_OPENMP_RUNTIME_NEIGHBOURS_HPP
#define LOCKSTEP_OPENMP_RUNTIME_NEIGHBOURS_HPP

#include <link.h>

namespace lockstep::openmp {

/// What the loader has of a module; null: nothing. And an address that stands there: glibc has made addresses of most of
/// them, but not of the vdso's; others of none.
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

/// Whether the first that asks for an OpenMP runtime (the program, else a library of its) asks for LLVM's.
bool is_asked_for_by_llvm() noexcept;
/// Says once on stderr if another runtime, or another copy of this one, has calls of the process that ours does not get.
void tell_of_neighbours() noexcept;

}  // namespace lockstep::openmp

#endif  // LOCKSTEP_OPENMP_RUNTIME_NEIGHBOURS_HPP
