// SPDX-License-Identifier: MIT
#include "neighbours.hpp"

#include <dlfcn.h>
#include <link.h>
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

/// What most libraries of the process find, if it is not this one. No program takes the address of this function.
const char* first_found(const neighbour& of) noexcept {
  Dl_info found;
  void* const function = dlsym(dlopen(nullptr, RTLD_LAZY), "omp_get_max_active_levels");
  if (function == nullptr || dladdr(function, &found) == 0) return nullptr;
  return found.dli_fbase != of.own.dli_fbase ? found.dli_fname : nullptr;
}

int look_at_library(dl_phdr_info* one, std::size_t, void* of) noexcept {
  neighbour& found = *static_cast<neighbour*>(of);
  const char* const slash = std::strrchr(one->dlpi_name, '/');
  const char* const name = slash != nullptr ? slash + 1 : one->dlpi_name;
  const bool is_llvms = std::strncmp(name, "libomp.", 7) == 0 ||
                        std::strncmp(name, "libomp-", 7) == 0 ||
                        std::strncmp(name, "libiomp5", 8) == 0;
  const bool is_own = reinterpret_cast<void*>(one->dlpi_addr) == found.own.dli_fbase;
  if (is_llvms && !is_own) found.file = one->dlpi_name;
  return found.file != nullptr;
}

/// LLVM's or Intel's runtime, once it has started: it is loaded, and has registered the process as its own.
const char* started_libomp(neighbour& of) noexcept {
  char registered[64];
  std::snprintf(registered, sizeof registered, "/dev/shm/__KMP_REGISTERED_LIB_%d_%d",
                static_cast<int>(getpid()), static_cast<int>(getuid()));
  if (access(registered, F_OK) == 0) dl_iterate_phdr(look_at_library, &of);
  return of.file;
}

}  // namespace

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
