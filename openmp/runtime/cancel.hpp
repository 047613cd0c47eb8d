// SPDX-License-Identifier: MIT
// openmp/runtime/cancel.hpp -- cancellation, where OMP_CANCELLATION allows it
//
// A cancelled region is a stopped region of lockstep: its barriers let go of all. A cancelled loop or sections construct
// is one with a mark, from the cancel to its barrier; constructs that can be cancelled do not say nowait.
#ifndef LOCKSTEP_OPENMP_RUNTIME_CANCEL_HPP
#define LOCKSTEP_OPENMP_RUNTIME_CANCEL_HPP

#include "part.hpp"

namespace lockstep::openmp {

/// What `cancel` ends. Loops and sections are one: a part is in one of them at most.
enum class cancel_kind { parallel, work, taskgroup };

/// A cancellation point: whether it was cancelled.
bool is_cancelled(part& self, cancel_kind kind) noexcept;
/// True: the encountering task is to leave what it has cancelled.
bool cancel(part& self, cancel_kind kind) noexcept;

}  // namespace lockstep::openmp

#endif  // LOCKSTEP_OPENMP_RUNTIME_CANCEL_HPP
