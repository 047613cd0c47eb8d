// SPDX-License-Identifier: MIT
// Loops with ordered(n): doacross(source:) and doacross(sink: ...).
//
// The program names the iterations of n loops by its own loop variables. It announces the loops before it tells which
// schedule the loop has, and how many of the n loops are shared as one (collapse): we learn that from the number of
// iterations. Clang announces one iteration more than each loop has.
#include <cstdint>
#include <cstdlib>

#include "ident.hpp"
#include "loops.hpp"
#include "runtime/doacross.hpp"
#include "runtime/loops.hpp"
#include "runtime/ompt.hpp"

namespace lockstep::openmp::llvm {
namespace {

/// A kmp_dim.
struct announced_loop {
  std::int64_t lower, upper, step;
};

struct loop_of_nest {
  std::int64_t lower, step;
  ull count;

  /// The number of an iteration; `count` or more if there is no such iteration.
  ull index_of(std::int64_t value) const noexcept {
    if (step > 0 ? value < lower : value > lower) return count;
    return step == 1 ? static_cast<ull>(value) - static_cast<ull>(lower)
                     : count_of(lower, value, step) - 1;
  }
};

/// The loops of a nest. The `shared` outermost ones are shared as one; 0: they have not begun.
struct loop_nest {
  unsigned dimensions, shared;
  loop_of_nest of[1];  ///< the others follow
};

loop_nest* nest_of(part& self) noexcept { return static_cast<loop_nest*>(self.doacross); }

/// Numbers an iteration as the board does. False if there is no such iteration.
bool number(const loop_nest& nest, const std::int64_t* values, ull* numbers) noexcept {
  ull outermost = 0;
  for (unsigned i = 0; i < nest.dimensions; ++i) {
    const ull index = nest.of[i].index_of(values[i]);
    const ull count = nest.of[i].count;
    if (index >= count) return false;
    if (i < nest.shared) {
      numbers[0] = outermost = outermost * count + index;
    } else {
      numbers[i - nest.shared + 1] = index;
    }
  }
  return true;
}

/// Whether the outermost loops have this many iterations together, if each was announced with `excess` too many. If so,
/// the excess is removed.
bool has_iterations(loop_nest& nest, ull wanted, ull excess) noexcept {
  ull product = 1;
  unsigned shared = 0;
  do {
    product *= nest.of[shared++].count - excess;
  } while (product != wanted && shared < nest.dimensions);
  if (product != wanted) return false;
  nest.shared = shared;
  for (unsigned i = 0; i < nest.dimensions; ++i) nest.of[i].count -= excess;
  return true;
}

}  // namespace

bool begin_announced_doacross(part& self, const loop_spec& loop) noexcept {
  loop_nest& nest = *nest_of(self);
  if (nest.shared != 0) return false;
  if (!has_iterations(nest, loop.count, 1) && !has_iterations(nest, loop.count, 0))
    fail("ordered(%u): the loop has other iterations than it has announced", nest.dimensions);
  ull counts[doacross_board::most_dimensions];
  counts[0] = loop.count;
  for (unsigned i = nest.shared; i < nest.dimensions; ++i)
    counts[i - nest.shared + 1] = nest.of[i].count;
  begin_doacross(self, loop, counts, nest.dimensions - nest.shared + 1, nullptr, nullptr);
  return true;
}

OPENMP_API void __kmpc_doacross_init(ident*, std::int32_t, std::int32_t dimensions,
                                     const announced_loop* of) {
  part& self = entered();
  if (self.is_alone()) return;
  if (dimensions < 1 || static_cast<unsigned>(dimensions) > doacross_board::most_dimensions)
    fail("ordered(%d): more than %u loops", dimensions, doacross_board::most_dimensions);
  end_loop(self);
  std::free(self.doacross);  // a `cancel` may have left one
  const auto count = static_cast<unsigned>(dimensions);
  const std::size_t size = sizeof(loop_nest) + (count - 1) * sizeof(loop_of_nest);
  auto* const nest = static_cast<loop_nest*>(std::malloc(size));
  if (nest == nullptr) fail("Out of memory allocating %zu bytes", size);
  nest->dimensions = count;
  nest->shared = 0;
  for (unsigned i = 0; i < count; ++i)
    nest->of[i] = {of[i].lower, of[i].step, count_of(of[i].lower, of[i].upper, of[i].step)};
  self.doacross = nest;
}
OPENMP_API void __kmpc_doacross_fini(ident*, std::int32_t) {
  part& self = entered();
  if (self.doacross == nullptr) return;
  end_loop(self);
  std::free(self.doacross);
  self.doacross = nullptr;
}
OPENMP_API void __kmpc_doacross_post(ident*, std::int32_t, const std::int64_t* values) {
  part& self = entered();
  doacross_board* const board = self.doacross != nullptr ? doacross_of(self) : nullptr;
  ull numbers[doacross_board::most_dimensions];
  if (board == nullptr || !number(*nest_of(self), values, numbers)) return;
  if (has_tool()) tell_iteration(self, numbers, board->dimensions(), ompt::dependence_type::source);
  board->post(numbers);
}
/// An iteration that does not exist needs no wait.
OPENMP_API void __kmpc_doacross_wait(ident*, std::int32_t, const std::int64_t* values) {
  part& self = entered();
  doacross_board* const board = self.doacross != nullptr ? doacross_of(self) : nullptr;
  ull numbers[doacross_board::most_dimensions];
  if (board == nullptr || !number(*nest_of(self), values, numbers)) return;
  if (has_tool()) tell_iteration(self, numbers, board->dimensions(), ompt::dependence_type::sink);
  board->wait(*self.at, numbers);
}

}  // namespace lockstep::openmp::llvm
