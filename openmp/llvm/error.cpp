// SPDX-License-Identifier: MIT
// `#pragma omp error`, in the form of LLVM's runtime, which programs and their tests read.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "ident.hpp"
#include "runtime/ompt.hpp"

namespace lockstep::openmp::llvm {
namespace {

/// "file:line:column" of a place.
std::string text_of(const ident* at) {
  if (at == nullptr || at->place == nullptr) return "unknown:0:0";
  std::string parts[4];
  std::size_t which = 0;
  for (const char* each = at->place[0] == ';' ? at->place + 1 : at->place; *each != 0; ++each) {
    if (*each != ';') {
      parts[which] += *each;
    } else if (++which == 4) {
      break;
    }
  }
  return parts[0] + ":" + parts[2] + ":" + parts[3];
}

}  // namespace

OPENMP_API void __kmpc_error(ident* at, int severity, const char* message) {
  note_call();
  const bool is_fatal = severity == severity_fatal;
  const std::string text = message != nullptr ? std::string(": ") + message : std::string();
  if (has_tool()) {
    ompt::tell_error(is_fatal ? ompt::severity::fatal : ompt::severity::warning, message,
                     message != nullptr ? std::strlen(message) : 0);
  }
  std::fprintf(stderr, "OMP: %s: %s: Encountered user-directed %s%s.\n",
               is_fatal ? "Error #282" : "Warning #283", text_of(at).c_str(),
               is_fatal ? "error" : "warning", text.c_str());
  if (is_fatal) std::abort();
}

}  // namespace lockstep::openmp::llvm
