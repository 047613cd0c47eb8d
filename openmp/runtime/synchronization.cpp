// SPDX-License-Identifier: MIT
#include "synchronization.hpp"

#include "ompt.hpp"
#include "shared_region.hpp"
#include "task_groups.hpp"

namespace lockstep::openmp {
namespace {

/// What a member does while it waits: it runs tasks. For team_barrier.
struct task_arrival : detail::usual_arrival {
  static constexpr bool may_be_called = true;

  part& self;
  task_pool& tasks;
  unsigned looks = 0;

  bool is_called() const noexcept { return tasks.has_ready(); }
  /// A member that waits for a short time only needs no help: it would disturb the owners of deques. In a crowd each
  /// look is put off, too: a member that takes the hint back is woken by the next task, which costs the maker of that
  /// task time.
  void help() noexcept {
    const bool is_crowded = self.at->shared().barrier.policy().is_crowded();
    if (looks++ < short_wait) {
      if (is_crowded) {
        detail::yield_thread();
      } else {
        detail::polling_pause();
      }
    } else {
      tasks.run_ready(self);
      if (is_crowded) looks = 0;
    }
  }
  static constexpr unsigned short_wait = 8;
};

[[gnu::noinline]] bool pass_alone(part& self) noexcept {
  const std::uint32_t parity = self.barriers & 1u;
  if (self.tasks != nullptr) self.shared->tasks.run_own(self);
  if (self.shared != nullptr && !self.is_cancelled && self.shared->tasks.has_unfinished(parity)) {
    self.shared->tasks.finish(self, parity);
  }
  ++self.barriers;
  return !self.is_cancelled;
}

[[gnu::noinline]] bool pass_observed(part& self, const char* name) noexcept {
  detail::member_state& at = *self.at;
  const detail::meeting_view seen = detail::meeting_begins(at, name, call_site::none(), true);
  task_arrival arrival{{}, self, self.shared->tasks};
  const bool goes_on = at.shared().barrier.arrive_and_wait(at, arrival);
  if (seen != detail::meeting_view::none) detail::meeting_ends(at, seen, name, call_site::none());
  return goes_on;
}

}  // namespace

bool pass_barrier_told(part& self, const barrier_kind& kind) noexcept {
  ompt::end_work(self);
  const ompt::sync_scope told(self, kind.told);
  return pass_barrier_untold(self, kind);
}

[[gnu::cold]] bool pass_barrier_called(const barrier_kind& kind, ompt::code from,
                                       void* frame) noexcept {
  ompt::note_call(from, frame);
  return pass_barrier_told(here(), kind);
}

bool pass_barrier_untold(part& self, const barrier_kind& kind) noexcept {
  if (self.is_alone()) return pass_alone(self);
  detail::member_state& at = *self.at;
  task_pool& tasks = self.shared->tasks;
  if (__builtin_expect(self.tasks != nullptr, 0)) tasks.run_own(self);
  bool goes_on;
  if (__builtin_expect(detail::observers() != 0, 0)) {
    goes_on = pass_observed(self, kind.name);
  } else {
    task_arrival arrival{{}, self, tasks};
    goes_on = at.shared().barrier.arrive_and_wait(at, arrival);
  }
  const std::uint32_t parity = self.barriers & 1u;
  if (goes_on && __builtin_expect(tasks.has_unfinished(parity), 0)) {
    tasks.finish(self, parity);
    goes_on = !at.is_stopped();
  }
  ++self.barriers;  // tasks that are made in finish() still have this parity
  return goes_on;
}

void wake_barrier(detail::member_state& at) noexcept { at.shared().barrier.wake_all(); }

bool is_region_cancelled(const part& self) noexcept {
  return self.is_alone() ? self.is_cancelled : self.at->is_stopped();
}

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
    cancel_taskgroup(*self.running);
  } else if (self.function != nullptr) {
    cancel_region(self);
  }
  return true;
}

}  // namespace lockstep::openmp
