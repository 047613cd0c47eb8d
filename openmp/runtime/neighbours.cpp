// SPDX-License-Identifier: MIT
#include "neighbours.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "message.hpp"

namespace lockstep::openmp {
namespace {

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

bool is_llvms(const char* name) noexcept {
  return std::strncmp(name, "libomp.", 7) == 0 || std::strncmp(name, "libomp-", 7) == 0 ||
         std::strncmp(name, "libiomp5", 8) == 0;
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
  const char* const slash = std::strrchr(one->dlpi_name, '/');
  const char* const name = slash != nullptr ? slash + 1 : one->dlpi_name;
  const bool is_own = reinterpret_cast<void*>(one->dlpi_addr) == found.own.dli_fbase;
  if (is_llvms(name) && !is_own) found.file = one->dlpi_name;
  return found.file != nullptr;
}

/// LLVM's or Intel's runtime, if it has started: it is loaded, and has registered the process as its own.
const char* started_libomp(neighbour& of) noexcept {
  char registered[64];
  std::snprintf(registered, sizeof registered, "/dev/shm/__KMP_REGISTERED_LIB_%d_%d",
                static_cast<int>(getpid()), static_cast<int>(getuid()));
  if (access(registered, F_OK) == 0) dl_iterate_phdr(look_at_library, &of);
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

}  // namespace lockstep::openmp
