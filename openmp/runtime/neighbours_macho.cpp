// SPDX-License-Identifier: MIT
// neighbours.cpp where files are Mach-O. There each library finds its names in the file that it was linked with. Linked,
// but nobody has run it.
#include "neighbours.hpp"

#if defined(__APPLE__)

#include <dlfcn.h>
#include <mach-o/dyld.h>

#include <cstdint>
#include <cstring>

#include "message.hpp"
#include "task_memory.hpp"

namespace lockstep::openmp {

bool is_asked_for_by_llvm() noexcept { return true; }

void tell_of_neighbours() noexcept {
  Dl_info own{};
  if (dladdr(reinterpret_cast<void*>(&tell_of_neighbours), &own) == 0) return;
  for (std::uint32_t i = 0; i < _dyld_image_count(); ++i) {
    const char* const file = _dyld_get_image_name(i);
    if (file == nullptr || _dyld_get_image_header(i) == own.dli_fbase) continue;
    const char* const name = file_name(file);
    if (is_llvms(name) || std::strncmp(name, "libgomp.", 8) == 0) {
      return say("Other calls of this process have the OpenMP runtime %s, and threads of its own",
                 file);
    }
  }
}

detail::atomic<std::uint64_t> task_memory::known[places];

/// Any code may make tasks.
[[gnu::noinline, gnu::cold]] bool task_memory::find_out(outlined_function of) noexcept {
  expect(of, guessed);
  return true;
}

}  // namespace lockstep::openmp

#endif
