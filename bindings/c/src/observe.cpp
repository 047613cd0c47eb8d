// SPDX-License-Identifier: MIT
// bindings/c/src/observe.cpp -- timeline and watchdog
#include <cstring>
#include <new>

#include "support.hpp"

using namespace lockstep_c;

namespace {

/// The scopes that a thread is in, the innermost last. Scopes that are open when the thread ends stay open. The names
/// are copied: other languages may free theirs before the end.
struct scopes {
  static constexpr std::size_t most = 64, longest_name = 63;

  lockstep::trace_scope* at(std::size_t place) noexcept {
    return std::launder(reinterpret_cast<lockstep::trace_scope*>(rooms[place]));
  }

  alignas(lockstep::trace_scope) unsigned char rooms[most][sizeof(lockstep::trace_scope)];
  char names[most][longest_name + 1];
  std::size_t depth;
};
thread_local scopes scopes_of_thread;

int fail_write(const char* function, const char* file) {
  const std::string text = std::string("the trace cannot be written to '") + file +
                           "': is its directory there, and may it be written?";
  return fail(LOCKSTEP_ERROR_SYSTEM, function, text.c_str());
}

}  // namespace

int lockstep_trace_start(size_t records_per_thread) {
  return result_of(__func__, [=] {
    if (lockstep::is_tracing()) {
      return fail(LOCKSTEP_ERROR_USE, "lockstep_trace_start",
                  "a trace runs already; stop it first");
    }
    const lockstep::trace_options how(
        records_per_thread == 0 ? lockstep::trace_options::default_records : records_per_thread);
    if (lockstep::start_trace(how)) return static_cast<int>(LOCKSTEP_OK);
    return fail(LOCKSTEP_ERROR_MEMORY, "lockstep_trace_start",
                "no memory for so many records; ask for fewer");
  });
}

int lockstep_trace_stop(const char* file) {
  return result_of(__func__, [=] {
    if (!lockstep::is_tracing()) {
      return fail(LOCKSTEP_ERROR_USE, "lockstep_trace_stop", "no trace runs");
    }
    // False also if the file of LOCKSTEP_TRACE cannot be written: then a message says so.
    if (!lockstep::stop_trace()) {
      return fail(LOCKSTEP_ERROR_SYSTEM, "lockstep_trace_stop",
                  "another thread has stopped the trace, or the file of LOCKSTEP_TRACE cannot be "
                  "written");
    }
    if (file == nullptr || lockstep::write_trace(file)) return static_cast<int>(LOCKSTEP_OK);
    return fail_write("lockstep_trace_stop", file);
  });
}

int lockstep_trace_write(const char* file) {
  LOCKSTEP_C_REFUSE_NULL(file);
  return result_of(__func__, [=] {
    return lockstep::write_trace(file) ? static_cast<int>(LOCKSTEP_OK)
                                       : fail_write("lockstep_trace_write", file);
  });
}

int lockstep_trace_summary(char* buffer, size_t capacity, size_t* length) {
  return give_text(__func__, buffer, capacity, length, [] { return lockstep::trace_summary(); });
}

int lockstep_is_tracing(void) { return lockstep::is_tracing() ? 1 : 0; }

int lockstep_trace_mark(const char* name, uint64_t value) {
  LOCKSTEP_C_REFUSE_NULL(name);
  lockstep::trace_mark(name, value);
  return LOCKSTEP_OK;
}

int lockstep_trace_counter(const char* name, double value) {
  LOCKSTEP_C_REFUSE_NULL(name);
  lockstep::trace_counter(name, value);
  return LOCKSTEP_OK;
}

int lockstep_trace_scope_begin(const char* name) {
  LOCKSTEP_C_REFUSE_NULL(name);
  scopes& mine = scopes_of_thread;
  if (mine.depth == scopes::most) {
    return fail(LOCKSTEP_ERROR_USE, __func__, "64 scopes of this thread are open; end one first");
  }
  char* const kept = mine.names[mine.depth];
  if (lockstep::detail::observers() != 0) {  // otherwise nobody reads it
    const std::size_t length = std::strlen(name);
    const std::size_t most = scopes::longest_name;
    std::memcpy(kept, name, length < most ? length : most);
    kept[length < most ? length : most] = '\0';
  }
  ::new (static_cast<void*>(mine.rooms[mine.depth])) lockstep::trace_scope(kept);
  ++mine.depth;
  return LOCKSTEP_OK;
}

int lockstep_trace_scope_end(void) {
  scopes& mine = scopes_of_thread;
  if (mine.depth == 0) {
    return fail(LOCKSTEP_ERROR_USE, __func__, "no scope of this thread is open");
  }
  --mine.depth;
  mine.at(mine.depth)->~trace_scope();
  return LOCKSTEP_OK;
}

int lockstep_name_this_thread(const char* name) {
  lockstep::name_this_thread(name);
  return LOCKSTEP_OK;
}

int lockstep_watchdog_start(int64_t nanoseconds, int aborts) {
  return result_of(__func__, [=] {
    const bool runs = lockstep::start_watchdog(lockstep::watchdog_options()
                                                   .after(std::chrono::nanoseconds(nanoseconds))
                                                   .aborts(aborts != 0));
    return runs ? static_cast<int>(LOCKSTEP_OK)
                : fail(LOCKSTEP_ERROR_SYSTEM, "lockstep_watchdog_start",
                       "the system gives no thread");
  });
}

int lockstep_watchdog_stop(void) {
  return result_of(__func__, [] { lockstep::stop_watchdog(); });
}

int lockstep_who_waits(char* buffer, size_t capacity, size_t* length) {
  return give_text(__func__, buffer, capacity, length, [] { return lockstep::who_waits(); });
}
