// SPDX-License-Identifier: MIT
// openmp/runtime/cancel.hpp -- cancellation, where OMP_CANCELLATION allows it
//
// A cancelled region is a stopped region of lockstep: its barriers release all members. A cancelled loop or sections
// construct has a mark from the cancel to its barrier. Constructs that can be cancelled have no nowait.
#ifndef LOCKSTEP_OPENMP_RUNTIME_CANCEL_HPP
#define LOCKSTEP_OPENMP_RUNTIME_CANCEL_HPP

#include "part.hpp"

namespace lockstep::openmp {

/// What `cancel` ends. Loops and sections share a value: a part is in one of them at most.
enum class cancel_kind { parallel, work, taskgroup };

/// A cancellation point: whether it was cancelled.
bool is_cancelled(part& self, cancel_kind kind) noexcept;
/// True: the encountering task has to leave what it has cancelled.
bool cancel(part& self, cancel_kind kind) noexcept;

}  // namespace lockstep::openmp

#endif  // LOCKSTEP_OPENMP_RUNTIME_CANCEL_HPP
