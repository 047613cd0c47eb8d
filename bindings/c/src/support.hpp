// SPDX-License-Identifier: MIT
// bindings/c/src/support.hpp -- codes, texts and handles of the C interface
//
// How a failure travels. In a C function it is an exception of the library, or a code. In a callback it is the code
// that the callback returns, or an exception that it throws; called() makes one code of both. If the library called the
// callback, the code goes on as a callback_failure, which the library treats like any exception: the region ends, and
// run() throws the one of the lowest rank. There result_of() turns it into a code again.
//
// Each thread keeps a text. A callback_failure carries the text of the thread where it began.
#ifndef LOCKSTEP_BINDINGS_C_SUPPORT_HPP
#define LOCKSTEP_BINDINGS_C_SUPPORT_HPP

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <lockstep/lockstep.hpp>

#include "../lockstep.h"

struct lockstep_team {
  explicit lockstep_team(const lockstep::team_options& how)
      : own(new lockstep::team(how)), at(*own) {}
  explicit lockstep_team(lockstep::team& of) : at(of) {}

  const std::unique_ptr<lockstep::team> own;  ///< null for the default team
  lockstep::team& at;
  std::atomic<std::size_t> plans{0};  ///< that live
};

struct lockstep_graph {
  lockstep::graph at;
  std::vector<lockstep::graph_node> nodes;
  mutable std::atomic<std::size_t> plans{0};  ///< that live
};

namespace lockstep_c {

constexpr std::size_t longest_text = 1024;

/// The buffer for the text of the calling thread.
char* error_text() noexcept;
/// Keeps the text "function: text", and returns the code.
int fail(int code, const char* function, const char* text) noexcept;
int fail_null(const char* function, const char* what) noexcept;
/// Refuses the first that is null. `names`: those of all pointers, with ", " between them.
int fail_first_null(const char* function, const char* names,
                    std::initializer_list<bool> are_null) noexcept;
template <class... Pointers>
int check_pointers(const char* function, const char* names, Pointers... pointers) noexcept {
  if (((pointers != nullptr) && ...)) return LOCKSTEP_OK;
  return fail_first_null(function, names, {(pointers == nullptr)...});
}
/// Larger codes are no failures.
constexpr bool is_failure(int code) noexcept { return code <= LOCKSTEP_ERROR_ARGUMENT; }

/// What a callback ended with, on its way through the library.
struct callback_failure {
  /// Copies the text of the calling thread, if the code has one.
  explicit callback_failure(int with) noexcept;

  int code;
  char text[longest_text];
};

/// Returns the code of a callback that failed in a construct of a member. Keeps the text that run() would keep.
int fail_callback(int code, const char* function) noexcept;

/// In a catch block: returns the code of the exception, and keeps its text. Passes on what ends a thread.
int code_of_exception(const char* function);
/// The same for an exception of a callback.
int code_of_thrown();

/// The code that a callback returns or throws.
template <class Callback, class... Arguments>
int called(Callback callback, Arguments... arguments) {
  try {
    return callback(arguments...);
  } catch (...) {
    return code_of_thrown();
  }
}

/// The result of a C function: that of `body`, LOCKSTEP_OK where it has none, or the code of what it throws.
template <class Body>
int result_of(const char* function, const Body& body) {
  try {
    if constexpr (std::is_void_v<decltype(body())>) {
      body();
      return LOCKSTEP_OK;
    } else {
      return body();
    }
  } catch (...) {
    return code_of_exception(function);
  }
}

/// The same for a function with a handle, which must not be null.
template <class Handle, class Body>
int result_on(const char* function, const char* name, Handle* handle, const Body& body) {
  return handle == nullptr ? fail_null(function, name) : result_of(function, body);
}

/// Writes a text to a buffer of the caller.
int give(const std::string& text, char* buffer, std::size_t capacity, std::size_t* length) noexcept;
template <class Make>
int give_text(const char* function, char* buffer, std::size_t capacity, std::size_t* length,
              const Make& make) {
  if (buffer == nullptr && capacity != 0) return fail_null(function, "buffer");
  return result_of(function, [&] { return give(make(), buffer, capacity, length); });
}

lockstep::wait_policy policy_of(std::int64_t policy);
/// False, with a text, if the number is no policy.
bool is_policy(const char* function, std::int64_t policy) noexcept;
inline lockstep::deadline deadline_of(std::int64_t nanoseconds) {
  return nanoseconds == LOCKSTEP_FOREVER
             ? lockstep::deadline::never()
             : lockstep::deadline::after(std::chrono::nanoseconds(nanoseconds));
}
inline int status_code(lockstep::wait_status status) noexcept {
  return status == lockstep::wait_status::ready       ? LOCKSTEP_OK
         : status == lockstep::wait_status::timed_out ? LOCKSTEP_TIMED_OUT
                                                      : LOCKSTEP_TERMINATED;
}

/// LOCKSTEP_OK, or a failure with a text.
int check_schedule(const char* function, int schedule, std::size_t chunk) noexcept;
int check_operation(const char* function, int operation) noexcept;
int check_value_size(const char* function, std::size_t size) noexcept;
/// Requires: check_schedule() returned LOCKSTEP_OK. For LOCKSTEP_STATIC the chunk is a grain.
lockstep::schedule schedule_of(int schedule, std::size_t chunk);

inline lockstep::member& member_of(lockstep_member* me) noexcept {
  return *reinterpret_cast<lockstep::member*>(me);
}
inline const lockstep::member& member_of(const lockstep_member* me) noexcept {
  return *reinterpret_cast<const lockstep::member*>(me);
}
inline lockstep_member* handle_of(lockstep::member& me) noexcept {
  return reinterpret_cast<lockstep_member*>(&me);
}

/// The place of a call for observers: C has none. The name of a LOCKSTEP scope takes its place.
constexpr lockstep::call_site nowhere() noexcept { return lockstep::call_site::none(); }

}  // namespace lockstep_c

/// At the beginning of a C function: refuses null pointers by their names.
#define LOCKSTEP_C_REFUSE_NULL(...)                                                          \
  if (const int refused = ::lockstep_c::check_pointers(__func__, #__VA_ARGS__, __VA_ARGS__)) \
  return refused

/// What a C function returns that does one thing with a handle. The rest: an expression, without a value or with a code.
#define LOCKSTEP_C_ON(handle, ...) \
  ::lockstep_c::result_on(__func__, #handle, handle, [=] { return __VA_ARGS__; })
/// The same for a text, which goes to `buffer` of `capacity`.
#define LOCKSTEP_C_TEXT_ON(handle, ...)             \
  (handle == nullptr                                \
       ? ::lockstep_c::fail_null(__func__, #handle) \
       : ::lockstep_c::give_text(__func__, buffer, capacity, length, [=] { return __VA_ARGS__; }))

/// The types of numbers that C has functions for: what names them there, and what they are.
#define LOCKSTEP_C_NUMBERS(OF) OF(double, double) OF(float, float) OF(int64, int64_t)

#endif  // LOCKSTEP_BINDINGS_C_SUPPORT_HPP
