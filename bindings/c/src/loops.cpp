// SPDX-License-Identifier: MIT
// bindings/c/src/loops.cpp -- loops and reductions that are a region by themselves
//
// The team learns what iterations cost by the type of the closure, but all callbacks of C have the same types. So each
// loop exists several times, as different types, and the address of the callback chooses one. The library learns one
// cost for callbacks that share a type: that costs time, and changes no result.
#include "support.hpp"
#include "values.hpp"

using namespace lockstep_c;

namespace {

/// A number from 0 to 2^Bits - 1, made of the address of a callback.
template <unsigned Bits, class Function>
std::size_t place_of(Function* callback) noexcept {
  const std::uint64_t address = reinterpret_cast<std::uintptr_t>(callback);
  return static_cast<std::size_t>(address * UINT64_C(0x9E3779B97F4A7C15) >> (64 - Bits));
}

constexpr unsigned loop_bits = 5, reduction_bits = 3;

/// A loop over blocks, as the caller asks for it.
struct loop {
  lockstep::team* team;
  std::int64_t first, last;
  lockstep::schedule how;
  lockstep_block_fn function;
  void* context;
};

void run_block(lockstep_block_fn function, std::int64_t first, std::int64_t last, void* context) {
  const int code = called(function, first, last, context);
  if (code != LOCKSTEP_OK) throw callback_failure(code);
}

template <std::size_t Place>
bool run_loop(const loop& of) {
  const lockstep_block_fn function = of.function;
  void* const context = of.context;
  const auto block = [=](std::int64_t first, std::int64_t last) {
    run_block(function, first, last, context);
  };
  return of.team->for_range(of.first, of.last, block, of.how, nowhere());
}

template <std::size_t... Places>
bool run_loop_at(std::size_t place, const loop& of, std::index_sequence<Places...>) {
  static constexpr bool (*all[])(const loop&) = {run_loop<Places>...};
  return all[place](of);
}

int run(const char* function, const loop& of) {
  return result_of(function, [&] {
    const bool is_complete = run_loop_at(place_of<loop_bits>(of.function), of,
                                         std::make_index_sequence<(1u << loop_bits)>());
    return is_complete ? LOCKSTEP_OK : LOCKSTEP_STOPPED;
  });
}

/// The leaves of a reduction at one of several places.
template <class Block, std::size_t Place>
struct block_at : Block {
  explicit block_at(const Block& of) : Block(of) {}
};

template <class Value, class Block, class Operation, std::size_t Place>
Value reduce_at(lockstep::team& team, std::int64_t first, std::int64_t last, Value init,
                const Block& block, Operation operation) {
  const block_at<Block, Place> here(block);
  return team.reduce_range(first, last, std::move(init), here, operation,
                           lockstep::static_schedule(), nowhere());
}

template <class Value, class Block, class Operation, std::size_t... Places>
Value reduce_by_place(std::size_t place, lockstep::team& team, std::int64_t first,
                      std::int64_t last, Value init, const Block& block, Operation operation,
                      std::index_sequence<Places...>) {
  static constexpr Value (*all[])(lockstep::team&, std::int64_t, std::int64_t, Value, const Block&,
                                  Operation) = {reduce_at<Value, Block, Operation, Places>...};
  return all[place](team, first, last, std::move(init), block, operation);
}

template <class Value, class Block, class Operation>
Value reduce(lockstep_team* team, std::int64_t first, std::int64_t last, Value init,
             const Block& block, Operation operation) {
  return reduce_by_place(place_of<reduction_bits>(block.function), team->at, first, last,
                         std::move(init), block, operation,
                         std::make_index_sequence<(1u << reduction_bits)>());
}

template <class Type, class Function>
int reduce_numbers(const char* name, lockstep_team* team, std::int64_t first, std::int64_t last,
                   int operation, Function function, void* context, Type* result) {
  if (const int code = check_operation(name, operation)) return code;
  return result_of(name, [&] {
    const operation_of<Type> by = {operation};
    const number_block<Type, Function> block = {function, context, by};
    *result = reduce(team, first, last, *result, block, by);
  });
}

}  // namespace

int lockstep_team_for_range(lockstep_team* team, int64_t first, int64_t last,
                            lockstep_block_fn function, void* context) {
  LOCKSTEP_C_REFUSE_NULL(team, function);
  return run(__func__, {&team->at, first, last, lockstep::static_schedule(), function, context});
}

int lockstep_team_for_range_by(lockstep_team* team, int64_t first, int64_t last, int schedule,
                               size_t chunk, lockstep_block_fn function, void* context) {
  LOCKSTEP_C_REFUSE_NULL(team, function);
  if (const int code = check_schedule(__func__, schedule, chunk)) return code;
  return run(__func__, {&team->at, first, last, schedule_of(schedule, chunk), function, context});
}

#define REDUCE(NAME, TYPE)                                                                         \
  int lockstep_team_reduce_##NAME(lockstep_team* team, int64_t first, int64_t last, int operation, \
                                  lockstep_block_##NAME##_fn function, void* context,              \
                                  TYPE* result) {                                                  \
    LOCKSTEP_C_REFUSE_NULL(team, function, result);                                                \
    return reduce_numbers(__func__, team, first, last, operation, function, context, result);      \
  }
LOCKSTEP_C_NUMBERS(REDUCE)
#undef REDUCE

int lockstep_team_reduce(lockstep_team* team, int64_t first, int64_t last, size_t value_size,
                         lockstep_block_value_fn function, lockstep_combine_fn combine,
                         void* context, void* result) {
  LOCKSTEP_C_REFUSE_NULL(team, function, combine, result);
  if (const int code = check_value_size(__func__, value_size)) return code;
  return result_of(__func__, [&] {
    return with_value(result, value_size, [&](auto init) {
      using value = decltype(init);
      const value_block<value> block = {function, context, value_size};
      const value whole =
          reduce(team, first, last, std::move(init), block, combine_by{combine, context});
      std::memcpy(result, whole.data(), value_size);
      return LOCKSTEP_OK;
    });
  });
}
