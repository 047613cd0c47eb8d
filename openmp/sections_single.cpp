// SPDX-License-Identifier: MIT
// Sections, single, copyprivate, scope. (master and masked call nothing of us.)
#include <cstdint>

#include "barrier.hpp"
#include "loops.hpp"
#include "shared_region.hpp"
#include "task_reductions.hpp"

using namespace lockstep::openmp;

namespace {

/// The number of the section that this member runs next, from 1 on; 0: none is left.
unsigned next_section(part& self) noexcept {
  ull first, last;
  return self.loop.next(first, last) ? static_cast<unsigned>(first) + 1 : 0;
}

bool begins_single(part& self) noexcept {
  if (self.is_alone()) return true;
  return self.shared->begins_single(self.at->region(), self.singles++);
}

}  // namespace

OPENMP_API unsigned GOMP_sections_start(unsigned count) {
  part& self = here();
  begin_loop(self, sections_of(count));
  return next_section(self);
}
OPENMP_API unsigned GOMP_sections2_start(unsigned count, std::uintptr_t* reductions,
                                         void** memory) {
  part& self = here();
  begin_loop_with(self, sections_of(count), reductions, memory);
  return next_section(self);
}
OPENMP_API unsigned GOMP_sections_next() { return next_section(here()); }
OPENMP_API void GOMP_sections_end_nowait() { end_loop(here()); }
OPENMP_API void GOMP_sections_end() {
  part& self = here();
  end_loop(self);
  static_cast<void>(pass_barrier(self, "sections"));
}
OPENMP_API bool GOMP_sections_end_cancel() {
  part& self = here();
  end_loop(self);
  return !pass_barrier(self, "sections");
}

OPENMP_API bool GOMP_single_start() { return begins_single(here()); }

/// Null for the member that runs the single; for the others what that has made, once it has. A barrier comes after the
/// copies were taken.
OPENMP_API void* GOMP_single_copy_start() {
  part& self = here();
  if (begins_single(self)) return nullptr;
  static_cast<void>(pass_barrier(self, "copyprivate"));
  return self.shared->copied;
}
OPENMP_API void GOMP_single_copy_end(void* data) {
  part& self = here();
  if (self.is_alone()) return;
  self.shared->copied = data;
  static_cast<void>(pass_barrier(self, "copyprivate"));
}

OPENMP_API void GOMP_scope_start(std::uintptr_t* reductions) {
  part& self = here();
  // A construct with a record and no iterations.
  const loop_spec none = loop_spec::of(0L, 0L, 1L).with(schedule_kind::fixed, true, 0);
  begin_loop_with(self, none, reductions, nullptr);
  end_loop(self);
}
