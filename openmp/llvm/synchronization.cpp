// SPDX-License-Identifier: MIT
// barrier, single, copyprivate, master, masked, critical, ordered, flush, reductions, cancel.
#include <cstddef>
#include <cstdint>

#include <lockstep/mutex.hpp>

#include "ident.hpp"
#include "runtime/loops.hpp"
#include "runtime/ompt.hpp"
#include "runtime/shared_region.hpp"
#include "runtime/synchronization.hpp"

namespace lockstep::openmp::llvm {
namespace {

constexpr barrier_kind of_single = {"single", ompt::sync_kind::barrier_implicit_workshare},
                       of_reduction = {"reduction", ompt::sync_kind::barrier_implementation};

const barrier_kind& kind_of_barrier(const ident* at) noexcept {
  if (at == nullptr) return of_program;
  switch (at->flags & barrier_bits) {
    case barrier_of_loop: return of_loop;
    case barrier_of_sections: return of_sections;
    case barrier_of_single: return of_single;
    default: return of_program;
  }
}

/// The compiler's memory for a name: 32 bytes, zero at first. A mutex of lockstep begins as zeros, too, and fits in it.
using critical_name = std::int32_t[8];
lockstep::mutex& lock_of(critical_name* name) noexcept {
  static_assert(sizeof(lockstep::mutex) <= sizeof *name, "it fits");
  return *reinterpret_cast<lockstep::mutex*>(name);
}

}  // namespace

OPENMP_API void __kmpc_barrier(ident* at, std::int32_t) {
  static_cast<void>(enter_barrier(kind_of_barrier(at)));
}
OPENMP_API std::int32_t __kmpc_cancel_barrier(ident* at, std::int32_t) {
  return enter_barrier(kind_of_barrier(at)) ? 0 : 1;
}

/// True for member 0, once all have come. The others wait until it calls __kmpc_end_barrier_master().
OPENMP_API std::int32_t __kmpc_barrier_master(ident*, std::int32_t) {
  part& self = entered();
  static_cast<void>(pass_barrier(self));
  if (self.rank == 0) return 1;
  static_cast<void>(pass_barrier(self));
  return 0;
}
OPENMP_API void __kmpc_end_barrier_master(ident*, std::int32_t) {
  static_cast<void>(pass_barrier(entered()));
}
OPENMP_API std::int32_t __kmpc_barrier_master_nowait(ident*, std::int32_t) {
  part& self = entered();
  static_cast<void>(pass_barrier(self));
  return self.rank == 0 ? 1 : 0;
}

OPENMP_API std::int32_t __kmpc_single(ident*, std::int32_t) {
  return begins_single(entered()) ? 1 : 0;
}
OPENMP_API void __kmpc_end_single(ident*, std::int32_t) {
  if (has_tool()) ompt::end_work(entered());
}

/// `has_run`: the calling member has run the single, and `data` belongs to it.
OPENMP_API void __kmpc_copyprivate(ident*, std::int32_t, std::size_t, void* data,
                                   copy_function copy, std::int32_t has_run) {
  part& self = entered();
  if (self.is_alone()) return;
  if (has_run != 0) self.shared->copied = data;
  static_cast<void>(pass_barrier(self, of_copyprivate));
  if (has_run == 0) copy(data, self.shared->copied);
  static_cast<void>(pass_barrier(self, of_copyprivate));
}
/// The same without the copies and the last barrier: the compiler makes both.
OPENMP_API void* __kmpc_copyprivate_light(ident*, std::int32_t, void* data) {
  part& self = entered();
  if (self.is_alone()) return data;
  if (data != nullptr) self.shared->copied = data;
  static_cast<void>(pass_barrier(self, of_copyprivate));
  return self.shared->copied;
}

namespace {

std::int32_t begin_masked(part& self, std::int32_t filter) noexcept {
  if (static_cast<std::int32_t>(self.rank) != filter) return 0;
  if (has_tool()) ompt::tell_masked(self, ompt::endpoint::begin);
  return 1;
}
void end_masked(part& self) noexcept {
  if (has_tool()) ompt::tell_masked(self, ompt::endpoint::end);
}

}  // namespace

OPENMP_API std::int32_t __kmpc_master(ident*, std::int32_t) { return begin_masked(entered(), 0); }
OPENMP_API void __kmpc_end_master(ident*, std::int32_t) { end_masked(entered()); }
OPENMP_API std::int32_t __kmpc_masked(ident*, std::int32_t, std::int32_t filter) {
  return begin_masked(entered(), filter);
}
OPENMP_API void __kmpc_end_masked(ident*, std::int32_t) { end_masked(entered()); }

OPENMP_API void __kmpc_scope(ident*, std::int32_t, void*) {
  if (has_tool()) ompt::begin_work(entered(), ompt::work_kind::scope, 1);
}
OPENMP_API void __kmpc_end_scope(ident*, std::int32_t, void*) {
  if (has_tool()) ompt::end_work(entered());
}

OPENMP_API void __kmpc_critical(ident*, std::int32_t, critical_name* name) {
  lock_told(ompt::mutex_kind::critical, lock_of(name));
}
OPENMP_API void __kmpc_critical_with_hint(ident*, std::int32_t, critical_name* name,
                                          std::uint32_t) {
  lock_told(ompt::mutex_kind::critical, lock_of(name));
}
OPENMP_API void __kmpc_end_critical(ident*, std::int32_t, critical_name* name) {
  unlock_told(ompt::mutex_kind::critical, lock_of(name));
}

OPENMP_API void __kmpc_ordered(ident*, std::int32_t) { begin_ordered(entered()); }
OPENMP_API void __kmpc_end_ordered(ident*, std::int32_t) { end_ordered(entered()); }

OPENMP_API void __kmpc_flush(ident*) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  // Programs wait in loops with flush, and the awaited thread may be on the same CPU. In NPB's LU beside a busy
  // process, such a loop kept the CPU for whole time slices: 136 ms instead of 23. A yield takes 0.4 us.
  note_call();
  part* const self = this_record.current;  // flush is no reason to become a thread of OpenMP
  if (self != nullptr && ++self->flushes == 0) detail::yield_thread();
  if (has_tool()) ompt::tell_flush();
}

// --- reductions ---
//
// Each member combines its own values with the variables. It uses atomic operations if the compiler has made code with
// them; otherwise one member after the other does it under a lock. A member waits for no other, and reads no other
// member's values.

namespace {

enum : std::int32_t { reduce_under_lock = 1, reduce_by_atomics = 2 };

/// A tool is told of reductions under the lock. It is not told of atomic operations, which have no order.
bool is_under_lock(const ident* at) noexcept {
  return (at->flags & has_atomic_reduction) == 0 || has_tool() ||
         process_settings().reduces_in_order;
}

/// KMP_DETERMINISTIC_REDUCTION: a member reduces when those with lower ranks have done so. Each turn costs a barrier.
/// So it is slow, but other reductions need not look for it.
void pass_turns(part& self, unsigned first, unsigned last) noexcept {
  if (!process_settings().reduces_in_order) return;
  for (unsigned turn = first; turn < last; ++turn)
    static_cast<void>(pass_barrier_untold(self, of_reduction));
}

std::int32_t begin_reduction(part& self, const ident* at, critical_name* name) noexcept {
  if (!self.is_alone()) {
    if (!is_under_lock(at)) return reduce_by_atomics;
    pass_turns(self, 0, self.rank);
    lock_of(name).lock();
  }
  if (has_tool()) ompt::tell_reduction(self, ompt::endpoint::begin);
  return reduce_under_lock;
}
void end_reduction(part& self, const ident* at, critical_name* name) noexcept {
  if (has_tool()) ompt::tell_reduction(self, ompt::endpoint::end);
  if (self.is_alone() || !is_under_lock(at)) return;
  lock_of(name).unlock();
  pass_turns(self, self.rank, self.size);
}

}  // namespace

OPENMP_API std::int32_t __kmpc_reduce_nowait(ident* at, std::int32_t, std::int32_t, std::size_t,
                                             void*, copy_function, critical_name* name) {
  return begin_reduction(entered(), at, name);
}
OPENMP_API void __kmpc_end_reduce_nowait(ident* at, std::int32_t, critical_name* name) {
  end_reduction(entered(), at, name);
}
OPENMP_API std::int32_t __kmpc_reduce(ident* at, std::int32_t, std::int32_t, std::size_t, void*,
                                      copy_function, critical_name* name) {
  return begin_reduction(entered(), at, name);
}
OPENMP_API void __kmpc_end_reduce(ident* at, std::int32_t, critical_name* name) {
  part& self = entered();
  end_reduction(self, at, name);
  static_cast<void>(pass_barrier(self, of_reduction));
}

// --- cancellation ---

namespace {

/// The numbers that the compiler passes: 1 parallel, 2 loop, 3 sections, 4 taskgroup.
cancel_kind kind_of(std::int32_t number) noexcept {
  if (number == 1) return cancel_kind::parallel;
  return number == 4 ? cancel_kind::taskgroup : cancel_kind::work;
}

}  // namespace

OPENMP_API std::int32_t __kmpc_cancel(ident*, std::int32_t, std::int32_t kind) {
  return cancel(entered(), kind_of(kind)) ? 1 : 0;
}
OPENMP_API std::int32_t __kmpc_cancellationpoint(ident*, std::int32_t, std::int32_t kind) {
  return is_cancelled(entered(), kind_of(kind)) ? 1 : 0;
}

}  // namespace lockstep::openmp::llvm
