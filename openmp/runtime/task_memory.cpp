// SPDX-License-Identifier: MIT
#include "task_memory.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "neighbours.hpp"

namespace lockstep::openmp {
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
  remember(of, wanted.makes_tasks);
  return wanted.makes_tasks;
}

}  // namespace lockstep::openmp
