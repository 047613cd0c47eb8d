// SPDX-License-Identifier: MIT
// Cancellation, where OMP_CANCELLATION allows it.
//
// A cancelled region is a stopped region of lockstep: its barriers let go of all. A cancelled loop or sections construct
// is one with a mark, from the cancel to its barrier; constructs that can be cancelled do not say nowait.
#include "abi.hpp"
#include "barrier.hpp"
#include "shared_region.hpp"
#include "task_groups.hpp"

using namespace lockstep::openmp;

namespace {

constexpr int loop_or_sections =
    static_cast<int>(cancel_kind::loop) | static_cast<int>(cancel_kind::sections);

bool is_work(int kind) noexcept { return (kind & loop_or_sections) != 0; }
bool is_taskgroup(int kind) noexcept {
  return (kind & static_cast<int>(cancel_kind::taskgroup)) != 0;
}

void cancel_work(part& self) noexcept {
  if (self.is_alone()) {
    self.work_cancelled_at = self.barriers;
  } else {
    self.shared->cancel_work(self.at->region(), self.at->phase);
  }
}
bool is_work_cancelled(const part& self) noexcept {
  if (self.is_alone()) return self.work_cancelled_at == self.barriers;
  return self.shared->is_work_cancelled(self.at->region(), self.at->phase);
}

void cancel_region(part& self) noexcept {
  if (self.is_alone()) {
    self.is_cancelled = true;
  } else {
    self.at->request_stop();
  }
}

bool is_cancelled(part& self, int kind) noexcept {
  if (!process_settings().can_cancel) return false;
  if (is_work(kind)) return self.function != nullptr && is_work_cancelled(self);
  // Tasks of a cancelled region are as those of a cancelled taskgroup.
  if (is_taskgroup(kind) && is_taskgroup_cancelled(*self.running)) return true;
  return is_region_cancelled(self);
}

}  // namespace

OPENMP_API bool GOMP_cancellation_point(int kind) { return is_cancelled(here(), kind); }

OPENMP_API bool GOMP_cancel(int kind, bool does) {
  if (!process_settings().can_cancel) return false;
  part& self = here();
  if (!does) return is_cancelled(self, kind);
  if (is_work(kind)) {
    cancel_work(self);
  } else if (is_taskgroup(kind)) {
    static_cast<void>(cancel_taskgroup(*self.running));
  } else if (self.function != nullptr) {
    cancel_region(self);
  }
  return true;
}

OPENMP_API bool GOMP_barrier_cancel() { return !pass_barrier(here()); }
