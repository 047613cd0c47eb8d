// SPDX-License-Identifier: MIT
// openmp/llvm/ident.hpp -- what LLVM's compilers pass with each call: its place in the source, and the thread's number
#ifndef LOCKSTEP_OPENMP_LLVM_IDENT_HPP
#define LOCKSTEP_OPENMP_LLVM_IDENT_HPP

#include <cstdint>

#include "runtime/abi.hpp"
#include "runtime/part.hpp"

namespace lockstep::openmp::llvm {

/// ident_t: a construct in the source.
struct ident {
  std::int32_t reserved_1;
  std::int32_t flags;
  std::int32_t reserved_2;
  std::int32_t reserved_3;
  const char* place;  ///< ";file;function;line;column;;"
};

/// The bits of `flags`.
enum ident_flag : std::int32_t {
  has_atomic_reduction = 0x10,
  barrier_bits = 0x1C0,
  barrier_of_loop = 0x40,
  barrier_of_sections = 0xC0,
  barrier_of_single = 0x140
};

/// A value of `severity()`.
constexpr int severity_fatal = 2;

/// The number of the calling thread, from 0. The thread keeps it as long as it lives. The compiler passes it back with
/// most calls, but we find the thread's record without it.
inline std::int32_t thread_id() noexcept { return static_cast<std::int32_t>(thread_number() - 1); }

}  // namespace lockstep::openmp::llvm

#endif  // LOCKSTEP_OPENMP_LLVM_IDENT_HPP
