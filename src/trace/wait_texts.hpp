// SPDX-License-Identifier: MIT
// src/trace/wait_texts.hpp -- what people read for kinds of waits (layer: trace)
#ifndef LOCKSTEP_SRC_TRACE_WAIT_TEXTS_HPP
#define LOCKSTEP_SRC_TRACE_WAIT_TEXTS_HPP

#include <lockstep/detail/observe/wait_kinds.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// Null for of_construct.
const char* text_of(wait_kind kind) noexcept;
/// The same of a wait, or the construct that the thread is in; null: neither is known.
const char* text_of(const wait_subject& what) noexcept;

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_TRACE_WAIT_TEXTS_HPP
