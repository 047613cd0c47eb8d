// SPDX-License-Identifier: MIT
// openmp/runtime/neighbours.hpp -- what the modules of the process tell: other OpenMP runtimes, names of code
#ifndef LOCKSTEP_OPENMP_RUNTIME_NEIGHBOURS_HPP
#define LOCKSTEP_OPENMP_RUNTIME_NEIGHBOURS_HPP

#include <cstring>

namespace lockstep::openmp {

/// A file's path without its directory.
inline const char* file_name(const char* path) noexcept {
  const char* const slash = std::strrchr(path, '/');
  return slash != nullptr ? slash + 1 : path;
}
/// Whether a file of that name is LLVM's or Intel's runtime.
inline bool is_llvms(const char* name) noexcept {
  return std::strncmp(name, "libomp.", 7) == 0 || std::strncmp(name, "libomp-", 7) == 0 ||
         std::strncmp(name, "libiomp5", 8) == 0;
}

/// Whether the first module that asks for an OpenMP runtime (the program, or else one of its libraries) asks for
/// LLVM's.
bool is_asked_for_by_llvm() noexcept;
/// Prints once to stderr if another runtime, or another copy of this one, gets calls of the process that ours does not
/// get.
void tell_of_neighbours() noexcept;

/// A name for the code at an address, for messages: its symbol, or its module and the offset there. It lives as long as
/// the process.
const char* name_of_function(const void* address) noexcept;

}  // namespace lockstep::openmp

#endif  // LOCKSTEP_OPENMP_RUNTIME_NEIGHBOURS_HPP
