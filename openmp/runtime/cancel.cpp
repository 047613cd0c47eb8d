// SPDX-License-Identifier: MIT
#include "cancel.hpp"

#include "barrier.hpp"
#include "ompt.hpp"
#include "shared_region.hpp"
#include "task_groups.hpp"

namespace lockstep::openmp {
namespace {

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

bool looks_cancelled(part& self, cancel_kind kind) noexcept {
  if (kind == cancel_kind::work) return self.function != nullptr && is_work_cancelled(self);
  // Tasks of a cancelled region are treated like those of a cancelled taskgroup.
  if (kind == cancel_kind::taskgroup && is_taskgroup_cancelled(*self.running)) return true;
  return is_region_cancelled(self);
}

int flags_of(const part& self, cancel_kind kind) noexcept {
  if (kind == cancel_kind::parallel) return ompt::cancel_parallel;
  if (kind == cancel_kind::taskgroup) return ompt::cancel_taskgroup;
  return self.tool->open == ompt::work_kind::sections ? ompt::cancel_sections : ompt::cancel_loop;
}

}  // namespace

bool is_cancelled(part& self, cancel_kind kind) noexcept {
  if (!process_settings().can_cancel) return false;
  const bool yes = looks_cancelled(self, kind);
  if (has_tool() && yes) ompt::tell_cancel(self, flags_of(self, kind) | ompt::cancel_detected);
  return yes;
}

bool cancel(part& self, cancel_kind kind) noexcept {
  if (!process_settings().can_cancel) return false;
  if (has_tool()) ompt::tell_cancel(self, flags_of(self, kind) | ompt::cancel_activated);
  if (kind == cancel_kind::work) {
    cancel_work(self);
  } else if (kind == cancel_kind::taskgroup) {
    static_cast<void>(cancel_taskgroup(*self.running));
  } else if (self.function != nullptr) {
    cancel_region(self);
  }
  return true;
}

}  // namespace lockstep::openmp
