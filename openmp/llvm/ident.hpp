// SPDX-License-Identifier: MIT
// openmp/llvm/ident.hpp -- what LLVM's compilers pass with each call: where it stands, and the thread's number
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

/// The number of the calling thread, from 0 on, as long as it lives. It is passed back to us with most calls, where the
/// thread's record is found without it.
inline std::int32_t thread_id() noexcept { return static_cast<std::int32_t>(thread_number() - 1); }

}  // namespace lockstep::openmp::llvm

#endif  // LOCKSTEP_OPENMP_LLVM_IDENT_HPP
