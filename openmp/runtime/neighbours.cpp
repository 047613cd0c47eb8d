// SPDX-License-Identifier: MIT
// What the modules of the process tell: which OpenMP runtime they ask for, and whether one calls for tasks.
#include "neighbours.hpp"

#if defined(__ELF__)

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "message.hpp"
#include "task_memory.hpp"

namespace lockstep::openmp {
namespace {

/// The loader's data of a module; null if there is none. address_in() reads an address in it: glibc has relocated those
/// of most modules, but not of the vdso; other C libraries relocate none.
const ElfW(Dyn) * dynamic_section_of(const dl_phdr_info& module) noexcept {
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

struct neighbour {
  Dl_info own;
  const char* file;
};

/// The function that most libraries of the process find, if it is not ours. No program takes the address of this
/// function.
const char* first_found(const neighbour& of) noexcept {
  Dl_info found;
  void* const function = dlsym(dlopen(nullptr, RTLD_LAZY), "omp_get_max_active_levels");
  if (function == nullptr || dladdr(function, &found) == 0) return nullptr;
  return found.dli_fbase != of.own.dli_fbase ? found.dli_fname : nullptr;
}

/// Tests whether a program or a library needs an OpenMP runtime. `of` points to a bool, which is set if it needs
/// LLVM's.
int look_at_needs(dl_phdr_info* one, std::size_t, void* of) noexcept {
  const ElfW(Dyn)* const entries = dynamic_section_of(*one);
  if (entries == nullptr) return 0;
  const char* names = nullptr;
  for (const ElfW(Dyn)* each = entries; each->d_tag != DT_NULL; ++each) {
    if (each->d_tag == DT_STRTAB) names = address_in<char>(*one, *each);
  }
  for (const ElfW(Dyn)* each = entries; each->d_tag != DT_NULL; ++each) {
    if (each->d_tag != DT_NEEDED) continue;
    const char* const name = names + each->d_un.d_val;
    const bool is_of_llvm = is_llvms(name);
    if (is_of_llvm) *static_cast<bool*>(of) = true;
    if (is_of_llvm || std::strncmp(name, "libgomp", 7) == 0) return 1;
  }
  return 0;
}

int look_at_library(dl_phdr_info* one, std::size_t, void* of) noexcept {
  neighbour& found = *static_cast<neighbour*>(of);
  const bool is_own = reinterpret_cast<void*>(one->dlpi_addr) == found.own.dli_fbase;
  if (is_llvms(file_name(one->dlpi_name)) && !is_own) found.file = one->dlpi_name;
  return found.file != nullptr;
}

/// LLVM's or Intel's runtime, if it has started: it is loaded, and has registered the process as its own.
const char* started_libomp(neighbour& of) noexcept {
  char registered[64];
  std::snprintf(registered, sizeof registered, "/dev/shm/__KMP_REGISTERED_LIB_%d_%d",
                static_cast<int>(getpid()), static_cast<int>(getuid()));
  if (::access(registered, F_OK) == 0) dl_iterate_phdr(look_at_library, &of);
  return of.file;
}

}  // namespace

bool is_asked_for_by_llvm() noexcept {
  bool result = false;
  dl_iterate_phdr(look_at_needs, &result);
  return result;
}

void tell_of_neighbours() noexcept {
  neighbour found{};
  if (dladdr(reinterpret_cast<void*>(&tell_of_neighbours), &found.own) == 0) return;
  const char* file = first_found(found);
  if (file == nullptr) file = started_libomp(found);
  if (file == nullptr) return;
  say("Other calls of this process have the OpenMP runtime %s, and threads of its own; 'lockstep "
      "run' makes it one "
      "runtime",
      file);
}

// --- which regions make tasks: task_memory.hpp ---

namespace {

bool makes_tasks(const char* name) noexcept {
  return std::strcmp(name, "GOMP_task") == 0 || std::strncmp(name, "GOMP_taskloop", 13) == 0 ||
         std::strcmp(name, "GOMP_taskwait_depend_nowait") == 0 ||
         std::strcmp(name, "__kmpc_omp_task_alloc") == 0 ||
         std::strcmp(name, "__kmpc_omp_target_task_alloc") == 0;
}

/// The dynamic symbols that a module has.
struct symbol_table {
  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;
  std::size_t count = 0;
};

symbol_table table_of(const dl_phdr_info& module) noexcept {
  symbol_table found;
  const ElfW(Dyn)* entry = dynamic_section_of(module);
  for (; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
    switch (entry->d_tag) {
      case DT_SYMTAB: found.symbols = address_in<ElfW(Sym)>(module, *entry); break;
      case DT_STRTAB: found.names = address_in<char>(module, *entry); break;
      case DT_HASH: found.count = address_in<std::uint32_t>(module, *entry)[1]; break;
      case DT_GNU_HASH:
        // Symbols without a definition come before all symbols of this table.
        if (found.count == 0) found.count = address_in<std::uint32_t>(module, *entry)[1];
        break;
      default: break;
    }
  }
  return found;
}

struct search {
  std::uint64_t address;
  bool makes_tasks;
};

int look_into(dl_phdr_info* module, std::size_t, void* data) noexcept {
  search& wanted = *static_cast<search*>(data);
  bool is_here = false;
  for (int i = 0; i < module->dlpi_phnum && !is_here; ++i) {
    const ElfW(Phdr)& segment = module->dlpi_phdr[i];
    is_here = segment.p_type == PT_LOAD &&
              wanted.address - module->dlpi_addr - segment.p_vaddr < segment.p_memsz;
  }
  if (!is_here) return 0;
  const symbol_table table = table_of(*module);
  if (table.symbols == nullptr || table.names == nullptr || table.count == 0) return 1;
  wanted.makes_tasks = false;
  for (std::size_t i = 1; i < table.count && !wanted.makes_tasks; ++i) {
    const ElfW(Sym)& symbol = table.symbols[i];
    wanted.makes_tasks = symbol.st_shndx == SHN_UNDEF && makes_tasks(table.names + symbol.st_name);
  }
  return 1;
}

}  // namespace

detail::atomic<std::uint64_t> task_memory::known[places];

[[gnu::noinline, gnu::cold]] bool task_memory::find_out(outlined_function of) noexcept {
  // Code outside of all modules may make tasks.
  search wanted{address_of(of), true};
  dl_iterate_phdr(look_into, &wanted);
  expect(of, wanted.makes_tasks ? guessed : 0);
  return wanted.makes_tasks;
}

}  // namespace lockstep::openmp

#endif
