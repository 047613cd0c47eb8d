// SPDX-License-Identifier: MIT
// bindings/c/src/support.cpp -- codes and texts of the C interface, version and surroundings
#include "support.hpp"

#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <stdexcept>
#include <system_error>

#include <lockstep/detail/wait/waiters.hpp>

namespace lockstep_c {

namespace {
thread_local char text_of_thread[longest_text];

struct named_code {
  int code;
  const char* name;
};
constexpr named_code codes[] = {
    {LOCKSTEP_OK, "LOCKSTEP_OK"},
    {LOCKSTEP_STOPPED, "LOCKSTEP_STOPPED"},
    {LOCKSTEP_TIMED_OUT, "LOCKSTEP_TIMED_OUT"},
    {LOCKSTEP_TERMINATED, "LOCKSTEP_TERMINATED"},
    {LOCKSTEP_BUSY, "LOCKSTEP_BUSY"},
    {LOCKSTEP_ERROR_ARGUMENT, "LOCKSTEP_ERROR_ARGUMENT"},
    {LOCKSTEP_ERROR_RANK, "LOCKSTEP_ERROR_RANK"},
    {LOCKSTEP_ERROR_USE, "LOCKSTEP_ERROR_USE"},
    {LOCKSTEP_ERROR_GRAPH, "LOCKSTEP_ERROR_GRAPH"},
    {LOCKSTEP_ERROR_MEMORY, "LOCKSTEP_ERROR_MEMORY"},
    {LOCKSTEP_ERROR_SYSTEM, "LOCKSTEP_ERROR_SYSTEM"},
    {LOCKSTEP_ERROR_EXCEPTION, "LOCKSTEP_ERROR_EXCEPTION"},
};

/// Keeps the text. Text that is too long is cut, and ends with dots. `text` may lie in the buffer of the thread.
void keep_text(const char* text) noexcept {
  const std::size_t length = std::strlen(text);
  const std::size_t kept = length < longest_text ? length : longest_text - 1;
  std::memmove(text_of_thread, text, kept);
  text_of_thread[kept] = '\0';
  if (kept < length) std::memcpy(text_of_thread + kept - 3, "...", 3);
}
}  // namespace

char* error_text() noexcept { return text_of_thread; }

int fail(int code, const char* function, const char* text) noexcept {
  char whole[longest_text + 64];
  std::snprintf(whole, sizeof whole, "%s: %s", function, text);
  keep_text(whole);
  return code;
}

int fail_null(const char* function, const char* what) noexcept {
  char text[128];
  std::snprintf(text, sizeof text, "'%s' is a null pointer, and must not be", what);
  return fail(LOCKSTEP_ERROR_ARGUMENT, function, text);
}

int fail_first_null(const char* function, const char* names,
                    std::initializer_list<bool> are_null) noexcept {
  for (const bool is_null : are_null) {
    const std::size_t length = std::strcspn(names, ",");
    if (is_null) return fail_null(function, std::string(names, length).c_str());
    names += length + 2;
  }
  return LOCKSTEP_OK;
}

callback_failure::callback_failure(int with) noexcept : code(with) {
  if (is_failure(with)) {
    std::memcpy(text, text_of_thread, sizeof text);
  } else if (with > 0) {
    std::snprintf(text, sizeof text, "a callback has returned %d", with);
  } else {
    std::snprintf(text, sizeof text, "a callback has returned %s", lockstep_code_name(with));
  }
}

int fail_callback(int code, const char* function) noexcept {
  if (code == LOCKSTEP_OK || code == LOCKSTEP_STOPPED) return code;
  return fail(code, function, callback_failure(code).text);
}

namespace {
bool is_of_name(char c) noexcept { return c == '_' || c == ':' || (c >= 'a' && c <= 'z'); }

/// Turns a text of the library into one for programs in C: removes the C++ function at its beginning, and writes
/// lockstep_team_run for lockstep::team::run.
int fail_as_in_c(int code, const char* function, const char* text) noexcept {
  constexpr char prefix[] = "lockstep::";
  constexpr std::size_t length = sizeof prefix - 1;
  if (std::strncmp(text, prefix, length) == 0) {
    const char* end = text;
    while (is_of_name(*end)) ++end;
    if (*end == ' ' && end[-1] == ':') text = end + 1;
  }
  char in_c[longest_text];
  std::size_t at = 0;
  bool is_name = false;
  for (; *text != '\0' && at + 1 < sizeof in_c; ++at) {
    is_name = (is_name && is_of_name(*text)) || std::strncmp(text, prefix, length) == 0;
    const bool is_part = is_name && text[0] == ':' && text[1] == ':' && is_of_name(text[2]);
    in_c[at] = is_part ? '_' : *text;
    text += is_part ? 2 : 1;
  }
  in_c[at] = '\0';
  return fail(code, function, in_c);
}
}  // namespace

int code_of_exception(const char* function) {
  try {
    throw;
  } catch (const lockstep::detail::forced_unwind&) {
    throw;
  } catch (const callback_failure& of) {
    return of.code == LOCKSTEP_STOPPED ? of.code : fail(of.code, function, of.text);
  } catch (const lockstep::region_stopped&) {
    return LOCKSTEP_STOPPED;
  } catch (const std::invalid_argument& of) {
    return fail_as_in_c(LOCKSTEP_ERROR_ARGUMENT, function, of.what());
  } catch (const std::length_error& of) {
    return fail_as_in_c(LOCKSTEP_ERROR_ARGUMENT, function, of.what());
  } catch (const std::out_of_range& of) {
    return fail_as_in_c(LOCKSTEP_ERROR_RANK, function, of.what());
  } catch (const std::logic_error& of) {
    return fail_as_in_c(LOCKSTEP_ERROR_USE, function, of.what());
  } catch (const std::system_error& of) {
    return fail_as_in_c(LOCKSTEP_ERROR_SYSTEM, function, of.what());
  } catch (const std::bad_alloc&) {
    return fail(LOCKSTEP_ERROR_MEMORY, function, "out of memory");
  } catch (const std::exception& of) {
    return fail_as_in_c(LOCKSTEP_ERROR_EXCEPTION, function, of.what());
  } catch (...) {
    return fail(LOCKSTEP_ERROR_EXCEPTION, function, "an exception that is no std::exception");
  }
}

int code_of_thrown() {
  try {
    throw;
  } catch (const lockstep::detail::forced_unwind&) {
    throw;
  } catch (const lockstep::region_stopped&) {
    return LOCKSTEP_STOPPED;
  } catch (const std::exception& of) {
    return fail(LOCKSTEP_ERROR_EXCEPTION, "a callback has thrown", of.what());
  } catch (...) {
    return fail(LOCKSTEP_ERROR_EXCEPTION, "a callback has thrown",
                "an exception that is no std::exception");
  }
}

int give(const std::string& text, char* buffer, std::size_t capacity,
         std::size_t* length) noexcept {
  if (length != nullptr) *length = text.size();
  if (capacity == 0) return LOCKSTEP_OK;
  const std::size_t kept = text.size() < capacity ? text.size() : capacity - 1;
  std::memcpy(buffer, text.data(), kept);
  buffer[kept] = '\0';
  return LOCKSTEP_OK;
}

lockstep::wait_policy policy_of(std::int64_t policy) {
  if (policy == LOCKSTEP_POLICY_SPIN) return lockstep::wait_policy::spin();
  if (policy == LOCKSTEP_POLICY_BLOCK) return lockstep::wait_policy::block();
  if (policy > 0) return lockstep::wait_policy::hybrid(std::chrono::nanoseconds(policy));
  return lockstep::wait_policy();
}

bool is_policy(const char* function, std::int64_t policy) noexcept {
  if (policy >= LOCKSTEP_POLICY_BLOCK) return true;
  char text[160];
  std::snprintf(text, sizeof text,
                "policy %lld is none: give one of LOCKSTEP_POLICY_..., or nanoseconds to spin",
                static_cast<long long>(policy));
  fail(LOCKSTEP_ERROR_ARGUMENT, function, text);
  return false;
}

int check_schedule(const char* function, int schedule, std::size_t chunk) noexcept {
  if (schedule < LOCKSTEP_STATIC || schedule > LOCKSTEP_GUIDED) {
    char text[160];
    std::snprintf(text, sizeof text,
                  "schedule %d is none: give LOCKSTEP_STATIC, _STATIC_CHUNKS, _DYNAMIC or _GUIDED",
                  schedule);
    return fail(LOCKSTEP_ERROR_ARGUMENT, function, text);
  }
  if (schedule != LOCKSTEP_STATIC && chunk == 0) {
    return fail(LOCKSTEP_ERROR_ARGUMENT, function, "a chunk of 0 iterations, must be 1 or more");
  }
  return LOCKSTEP_OK;
}

int check_operation(const char* function, int operation) noexcept {
  if (operation >= LOCKSTEP_SUM && operation <= LOCKSTEP_MAX) return LOCKSTEP_OK;
  char text[160];
  std::snprintf(text, sizeof text,
                "operation %d is none: give LOCKSTEP_SUM, _PRODUCT, _MIN or _MAX", operation);
  return fail(LOCKSTEP_ERROR_ARGUMENT, function, text);
}

int check_value_size(const char* function, std::size_t size) noexcept {
  if (size >= 1 && size <= LOCKSTEP_LARGEST_VALUE) return LOCKSTEP_OK;
  char text[160];
  std::snprintf(text, sizeof text, "values of %zu bytes, must be 1 to %d", size,
                LOCKSTEP_LARGEST_VALUE);
  return fail(LOCKSTEP_ERROR_ARGUMENT, function, text);
}

lockstep::schedule schedule_of(int schedule, std::size_t chunk) {
  switch (schedule) {
    case LOCKSTEP_STATIC_CHUNKS: return lockstep::static_schedule(chunk);
    case LOCKSTEP_DYNAMIC: return lockstep::dynamic_schedule(chunk);
    case LOCKSTEP_GUIDED: return lockstep::guided_schedule(chunk);
    default: return chunk == 0 ? lockstep::static_schedule() : lockstep::grain(chunk);
  }
}

}  // namespace lockstep_c

using namespace lockstep_c;

const char* lockstep_last_error(void) { return error_text(); }

const char* lockstep_code_name(int code) {
  for (const named_code& each : codes) {
    if (each.code == code) return each.name;
  }
  return code > 0 ? "callback result" : "unknown code";
}

int lockstep_c_version(void) { return LOCKSTEP_C_VERSION; }

const char* lockstep_version(void) { return LOCKSTEP_VERSION; }

int lockstep_build_info(char* buffer, size_t capacity, size_t* length) {
  return give_text(__func__, buffer, capacity, length,
                   [] { return to_string(lockstep::build_info()); });
}

size_t lockstep_usable_cpus(void) { return lockstep::usable_cpus(); }

int lockstep_poll_while_waiting(int64_t nanoseconds, lockstep_poll_fn poll, void* context) {
  if (poll != nullptr && nanoseconds <= 0) {
    return fail(LOCKSTEP_ERROR_ARGUMENT, __func__,
                "an interval of 0 or less, must be 1 ns or more");
  }
  static thread_local lockstep::detail::wait_pulse own;
  if (poll != nullptr) own = {poll, context, std::chrono::nanoseconds(nanoseconds)};
  lockstep::detail::wait_pulse::of_this_thread() = poll != nullptr ? &own : nullptr;
  return LOCKSTEP_OK;
}
