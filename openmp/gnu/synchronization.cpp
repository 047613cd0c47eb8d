// SPDX-License-Identifier: MIT
// barrier, single, copyprivate, critical, atomic and cancel. (master and masked do not call us.)
#include <lockstep/mutex.hpp>

#include "runtime/abi.hpp"
#include "runtime/ompt.hpp"
#include "runtime/shared_region.hpp"
#include "runtime/synchronization.hpp"

using namespace lockstep::openmp;

OPENMP_IN_BOTH(void, GOMP_barrier)() { static_cast<void>(enter_barrier()); }

OPENMP_IN_BOTH(bool, GOMP_single_start)() { return begins_single(entered()); }

/// Null for the member that runs the single. The other members get what that member offers, once it has. A barrier
/// comes after they have copied it.
OPENMP_IN_BOTH(void*, GOMP_single_copy_start)() {
  part& self = entered();
  if (begins_single(self)) return nullptr;
  static_cast<void>(pass_barrier(self, of_copyprivate));
  return self.shared->copied;
}
OPENMP_IN_BOTH(void, GOMP_single_copy_end)(void* data) {
  part& self = entered();
  if (self.is_alone()) return;
  self.shared->copied = data;
  static_cast<void>(pass_barrier(self, of_copyprivate));
}

// --- critical sections, with a name and without; and atomic operations that the processor does not have ---

namespace {

constinit lockstep::mutex critical_lock;

/// The program has a word for each name, zero at first. A mutex of lockstep begins as zeros, too, and fits in it.
static_assert(sizeof(lockstep::mutex) <= sizeof(void*) &&
                  alignof(lockstep::mutex) <= alignof(void*),
              "it fits");
lockstep::mutex& lock_of(void** name) noexcept { return *reinterpret_cast<lockstep::mutex*>(name); }

}  // namespace

OPENMP_IN_BOTH(void, GOMP_critical_start)() {
  lock_told(ompt::mutex_kind::critical, critical_lock);
}
OPENMP_IN_BOTH(void, GOMP_critical_end)() {
  unlock_told(ompt::mutex_kind::critical, critical_lock);
}
OPENMP_IN_BOTH(void, GOMP_critical_name_start)(void** name) {
  lock_told(ompt::mutex_kind::critical, lock_of(name));
}
OPENMP_IN_BOTH(void, GOMP_critical_name_end)(void** name) {
  unlock_told(ompt::mutex_kind::critical, lock_of(name));
}
OPENMP_IN_BOTH(void, GOMP_atomic_start)() { lock_told(ompt::mutex_kind::atomic, atomic_lock); }
OPENMP_IN_BOTH(void, GOMP_atomic_end)() { unlock_told(ompt::mutex_kind::atomic, atomic_lock); }

// --- cancellation, where OMP_CANCELLATION allows it ---

namespace {

/// The numbers that the compiler passes: 1 parallel, 2 loop, 4 sections, 8 taskgroup.
cancel_kind kind_of(int number) noexcept {
  if ((number & (2 | 4)) != 0) return cancel_kind::work;
  return (number & 8) != 0 ? cancel_kind::taskgroup : cancel_kind::parallel;
}

}  // namespace

OPENMP_IN_BOTH(bool, GOMP_cancellation_point)(int kind) {
  return is_cancelled(entered(), kind_of(kind));
}
OPENMP_IN_BOTH(bool, GOMP_cancel)(int kind, bool does) {
  part& self = entered();
  return does ? cancel(self, kind_of(kind)) : is_cancelled(self, kind_of(kind));
}
OPENMP_IN_BOTH(bool, GOMP_barrier_cancel)() { return !enter_barrier(); }
