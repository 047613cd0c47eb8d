// SPDX-License-Identifier: MIT
// bindings/c/src/member.cpp -- the constructs of members
#include "support.hpp"
#include "values.hpp"

using namespace lockstep_c;

namespace {

/// As result_of, for a construct that calls a callback. The other members do not know of an exception of the callback,
/// so the region is stopped.
template <class Body>
int stop_unless_ok(const char* function, lockstep_member* me, const Body& body) {
  const int code = result_of(function, body);
  if (code != LOCKSTEP_OK && code != LOCKSTEP_STOPPED) member_of(me).request_stop();
  return code;
}

template <class Type>
int sync(const char* name, lockstep_member* me, int operation, Type value, Type* result) {
  if (const int code = check_operation(name, operation)) return code;
  return result_of(name, [&] {
    *result = member_of(me).sync_reduce(value, operation_of<Type>{operation}, nowhere());
  });
}

template <class Type, class Function>
int reduce(const char* name, lockstep_member* me, std::int64_t first, std::int64_t last,
           int operation, Function function, void* context, Type* result) {
  if (const int code = check_operation(name, operation)) return code;
  return stop_unless_ok(name, me, [&] {
    const operation_of<Type> by = {operation};
    const number_block<Type, Function> block = {function, context, by};
    *result = member_of(me).reduce_range(first, last, *result, block, by,
                                         lockstep::static_schedule(), nowhere());
    return LOCKSTEP_OK;
  });
}

int result_of_single(const char* function, int code, bool goes_on) noexcept {
  if (code != LOCKSTEP_OK) return fail_callback(code, function);
  return goes_on ? LOCKSTEP_OK : LOCKSTEP_STOPPED;
}

/// The construct calls what it is given on one member, or on none. Unless the callback's result is LOCKSTEP_OK, the region
/// is stopped.
template <class Construct>
int single(const char* name, lockstep_member* me, lockstep_single_fn function, void* context,
           const Construct& construct) {
  return result_of(name, [&] {
    int code = LOCKSTEP_OK;
    const bool goes_on = construct(member_of(me), [&] {
      code = called(function, context);
      if (code != LOCKSTEP_OK) member_of(me).request_stop();
    });
    return result_of_single(name, code, goes_on);
  });
}

/// The loop of a member, with a wait at its end or without one.
int for_range(const char* name, lockstep_member* me, std::int64_t first, std::int64_t last,
              int schedule, std::size_t chunk, lockstep_block_fn function, void* context,
              bool waits) {
  if (const int refused = check_schedule(name, schedule, chunk)) return refused;
  return result_of(name, [=] {
    lockstep::member& at = member_of(me);
    int code = LOCKSTEP_OK;
    const auto block = [&](std::int64_t from, std::int64_t to) {
      if (code != LOCKSTEP_OK) return;
      code = called(function, from, to, context);
      if (code != LOCKSTEP_OK) at.request_stop();
    };
    const lockstep::schedule how = schedule_of(schedule, chunk);
    const bool goes_on =
        waits ? at.for_range_unless_stopped(first, last, block, how, nowhere())
              : at.for_range_unless_stopped(lockstep::nowait, first, last, block, how);
    return result_of_single(name, code, goes_on);
  });
}

}  // namespace

size_t lockstep_member_rank(const lockstep_member* me) {
  return me != nullptr ? member_of(me).rank() : 0;
}

size_t lockstep_member_size(const lockstep_member* me) {
  return me != nullptr ? member_of(me).size() : 0;
}

int lockstep_member_sync_threads(lockstep_member* me) {
  return LOCKSTEP_C_ON(
      me, member_of(me).sync_threads_unless_stopped(nowhere()) ? LOCKSTEP_OK : LOCKSTEP_STOPPED);
}

#define OF_NUMBERS(NAME, TYPE)                                                                    \
  int lockstep_member_sync_##NAME(lockstep_member* me, int operation, TYPE value, TYPE* result) { \
    LOCKSTEP_C_REFUSE_NULL(me, result);                                                           \
    return sync(__func__, me, operation, value, result);                                          \
  }                                                                                               \
  int lockstep_member_reduce_##NAME(lockstep_member* me, int64_t first, int64_t last,             \
                                    int operation, lockstep_block_##NAME##_fn function,           \
                                    void* context, TYPE* result) {                                \
    LOCKSTEP_C_REFUSE_NULL(me, function, result);                                                 \
    return reduce(__func__, me, first, last, operation, function, context, result);               \
  }
LOCKSTEP_C_NUMBERS(OF_NUMBERS)
#undef OF_NUMBERS

int lockstep_member_sync_count(lockstep_member* me, int condition, size_t* count) {
  LOCKSTEP_C_REFUSE_NULL(me, count);
  return result_of(__func__, [=] { *count = member_of(me).sync_count(condition != 0, nowhere()); });
}

int lockstep_member_sync_and(lockstep_member* me, int condition, int* all) {
  LOCKSTEP_C_REFUSE_NULL(me, all);
  return result_of(__func__,
                   [=] { *all = member_of(me).sync_and(condition != 0, nowhere()) ? 1 : 0; });
}

int lockstep_member_sync_or(lockstep_member* me, int condition, int* any) {
  LOCKSTEP_C_REFUSE_NULL(me, any);
  return result_of(__func__,
                   [=] { *any = member_of(me).sync_or(condition != 0, nowhere()) ? 1 : 0; });
}

int lockstep_member_sync_reduce(lockstep_member* me, size_t value_size, void* value,
                                lockstep_combine_fn combine, void* context) {
  LOCKSTEP_C_REFUSE_NULL(me, value, combine);
  if (const int code = check_value_size(__func__, value_size)) return code;
  return stop_unless_ok(__func__, me, [=] {
    return with_value(value, value_size, [=](const auto& mine) {
      const auto all = member_of(me).sync_reduce(mine, combine_by{combine, context}, nowhere());
      std::memcpy(value, all.data(), value_size);
      return LOCKSTEP_OK;
    });
  });
}

int lockstep_member_broadcast(lockstep_member* me, size_t root, size_t value_size, void* value) {
  LOCKSTEP_C_REFUSE_NULL(me, value);
  if (const int code = check_value_size(__func__, value_size)) return code;
  return result_of(__func__, [=] {
    return with_value(value, value_size, [=](const auto& mine) {
      const auto theirs = member_of(me).broadcast(root, mine, nowhere());
      std::memcpy(value, theirs.data(), value_size);
      return LOCKSTEP_OK;
    });
  });
}

int lockstep_member_single(lockstep_member* me, lockstep_single_fn function, void* context) {
  LOCKSTEP_C_REFUSE_NULL(me, function);
  return single(__func__, me, function, context, [](lockstep::member& at, const auto& f) {
    return at.single_unless_stopped(f, nowhere());
  });
}

int lockstep_member_single_nowait(lockstep_member* me, lockstep_single_fn function, void* context) {
  LOCKSTEP_C_REFUSE_NULL(me, function);
  return single(__func__, me, function, context, [](lockstep::member& at, const auto& f) {
    return at.single_unless_stopped(lockstep::nowait, f);
  });
}

int lockstep_member_block(const lockstep_member* me, int64_t first, int64_t last,
                          int64_t* block_first, int64_t* block_last) {
  LOCKSTEP_C_REFUSE_NULL(me, block_first, block_last);
  // Unsigned, because then the difference of any two bounds fits.
  const std::uint64_t from = static_cast<std::uint64_t>(first);
  const std::uint64_t length = last > first ? static_cast<std::uint64_t>(last) - from : 0;
  if (length > SIZE_MAX) {
    return fail(LOCKSTEP_ERROR_ARGUMENT, __func__, "more iterations than size_t has numbers");
  }
  const lockstep::index_range mine = lockstep::static_block(
      0, static_cast<std::size_t>(length), member_of(me).rank(), member_of(me).size());
  *block_first = static_cast<std::int64_t>(from + mine.first);
  *block_last = static_cast<std::int64_t>(from + mine.last);
  return LOCKSTEP_OK;
}

int lockstep_member_for_range(lockstep_member* me, int64_t first, int64_t last, int schedule,
                              size_t chunk, lockstep_block_fn function, void* context) {
  LOCKSTEP_C_REFUSE_NULL(me, function);
  return for_range(__func__, me, first, last, schedule, chunk, function, context, true);
}

int lockstep_member_for_range_nowait(lockstep_member* me, int64_t first, int64_t last, int schedule,
                                     size_t chunk, lockstep_block_fn function, void* context) {
  LOCKSTEP_C_REFUSE_NULL(me, function);
  return for_range(__func__, me, first, last, schedule, chunk, function, context, false);
}

int lockstep_member_reduce(lockstep_member* me, int64_t first, int64_t last, size_t value_size,
                           lockstep_block_value_fn function, lockstep_combine_fn combine,
                           void* context, void* result) {
  LOCKSTEP_C_REFUSE_NULL(me, function, combine, result);
  if (const int code = check_value_size(__func__, value_size)) return code;
  return stop_unless_ok(__func__, me, [=] {
    return with_value(result, value_size, [=](auto init) {
      using value = decltype(init);
      const value_block<value> block = {function, context, value_size};
      const value whole = member_of(me).reduce_range(first, last, std::move(init), block,
                                                     combine_by{combine, context},
                                                     lockstep::static_schedule(), nowhere());
      std::memcpy(result, whole.data(), value_size);
      return LOCKSTEP_OK;
    });
  });
}

int lockstep_member_publish(lockstep_member* me, size_t step) {
  return LOCKSTEP_C_ON(me, member_of(me).publish(step));
}

int lockstep_member_await_step(lockstep_member* me, size_t rank, size_t step) {
  return LOCKSTEP_C_ON(
      me, member_of(me).await_step_unless_stopped(rank, step) ? LOCKSTEP_OK : LOCKSTEP_STOPPED);
}

int lockstep_member_stop_requested(const lockstep_member* me) {
  return me == nullptr || member_of(me).stop_requested() ? 1 : 0;
}

int lockstep_member_request_stop(lockstep_member* me) {
  return LOCKSTEP_C_ON(me, member_of(me).request_stop());
}
