// SPDX-License-Identifier: MIT
// openmp/llvm/loops.hpp -- iterations as LLVM's compilers count them: from a first to a last one, by a step
#ifndef LOCKSTEP_OPENMP_LLVM_LOOPS_HPP
#define LOCKSTEP_OPENMP_LLVM_LOOPS_HPP

#include <type_traits>

#include "runtime/loop_cursor.hpp"
#include "runtime/message.hpp"
#include "runtime/part.hpp"

namespace lockstep::openmp::llvm {

template <class Number>
using step_of = std::make_signed_t<Number>;

/// How many iterations there are from `lower` to `upper`, both included. Computed in unsigned numbers of the same size,
/// so nothing overflows.
template <class Number>
ull count_of(Number lower, Number upper, step_of<Number> step) noexcept {
  using bits = std::make_unsigned_t<Number>;
  if (step == 0) fail("a loop whose step is 0");
  if (step > 0 ? upper < lower : lower < upper) return 0;
  const bits distance =
      step > 0 ? static_cast<bits>(static_cast<bits>(upper) - static_cast<bits>(lower))
               : static_cast<bits>(static_cast<bits>(lower) - static_cast<bits>(upper));
  const bits stride =
      step > 0 ? static_cast<bits>(step) : static_cast<bits>(0 - static_cast<bits>(step));
  return ull{static_cast<bits>(distance / stride)} + 1;
}

/// Iteration `index`, as the program counts.
template <class Number>
Number at(Number lower, step_of<Number> step, ull index) noexcept {
  return static_cast<Number>(static_cast<ull>(lower) + index * static_cast<ull>(step));
}

template <class Number>
loop_spec loop_over(Number lower, Number upper, step_of<Number> step) noexcept {
  loop_spec made{};
  made.base = static_cast<ull>(lower);
  made.increment = static_cast<ull>(step);
  made.count = count_of(lower, upper, step);
  made.end = made.base + made.count * made.increment;
  return made;
}

/// Begins the loop that __kmpc_doacross_init() has announced, in which iterations wait for each other. False if it has
/// announced none.
bool begin_announced_doacross(part& self, const loop_spec& loop) noexcept;

}  // namespace lockstep::openmp::llvm

#endif  // LOCKSTEP_OPENMP_LLVM_LOOPS_HPP
