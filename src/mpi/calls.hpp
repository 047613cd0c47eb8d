// SPDX-License-Identifier: MIT
// src/mpi/calls.hpp -- calls of MPI: their errors, which thread may make them, waiting for them (layer: mpi)
//
// All of lockstep's own calls of MPI are on a communicator whose errors come back as codes. checked() turns the codes
// into exceptions. If MPI must not be called at all, functions fail before they call it.
//
// MPI runs at a thread level that the program has chosen. call_permit is held around each call of ours:
//   FUNNELED    only the thread that initialised MPI may call it: another one is refused
//   SERIALIZED  any thread, one at a time: a lock, one for the process
//   MULTIPLE    any thread at any time: nothing
// The lock keeps our calls apart. The program has to keep its own calls apart from ours. Under SERIALIZED, while a
// region of world::run is in progress, only member 0 calls MPI for the program, and not inside a call of lockstep.
//
// MPI_Wait polls until it is done, and takes the CPU from the rank that it waits for. await_requests polls MPI_Testall
// on the ladder of the wait engine: it polls, then yields, and then naps between looks (polling_nap.hpp). Each look
// also lets the MPI library make progress. The permit is taken for each look, not for the wait: under SERIALIZED other
// members send and receive meanwhile.
//
// Order  what happens before the end of one permit happens before the next one, except with MULTIPLE.
// Cost   a permit: a call of MPI_Is_thread_main with FUNNELED, two read-modify-writes with SERIALIZED, nothing with
//        MULTIPLE. A wait for a complete request: one MPI_Testall, some 50 ns.
#ifndef LOCKSTEP_SRC_MPI_CALLS_HPP
#define LOCKSTEP_SRC_MPI_CALLS_HPP

#include <cstdio>
#include <stdexcept>

#include <lockstep/detail/mpi/library.hpp>
#include <lockstep/detail/platform/error.hpp>
#include "../wait/published_words.hpp"
#include "../wait/wait_engine.hpp"

#include "polling_nap.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace mpi {

[[noreturn]] LOCKSTEP_NOINLINE inline void fail_call(const char* call, int code) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  if (MPI_Error_string(code, text, &length) != MPI_SUCCESS) text[0] = '\0';
  char message[MPI_MAX_ERROR_STRING + 160];
  std::snprintf(message, sizeof message, "lockstep::mpi: %s failed: %s", call, text);
  fail<std::runtime_error>(message);
}

/// Fails with std::runtime_error if an MPI call returned an error. `call`: the name of the call.
inline void checked(int code, const char* call) {
  if (LOCKSTEP_UNLIKELY(code != MPI_SUCCESS)) fail_call(call, code);
}

/// Whether MPI can be called: it has begun, and has not ended.
inline bool is_active() {
  int has_begun = 0, has_ended = 0;
  MPI_Initialized(&has_begun);
  if (has_begun != 0) MPI_Finalized(&has_ended);
  return has_begun != 0 && has_ended == 0;
}

/// Fails with std::logic_error unless MPI can be called.
inline void check_active(const char* who) {
  if (is_active()) return;
  int has_begun = 0;
  MPI_Initialized(&has_begun);
  fail_use(has_begun == 0
               ? "%s: MPI is not initialised: call MPI_Init_thread(&argc, &argv, "
                 "MPI_THREAD_SERIALIZED, &provided) before, or make the world from argc and argv"
               : "%s: MPI has ended: make worlds before MPI_Finalize, and let them end before it",
           who);
}

/// The level at which MPI runs. Fails with std::logic_error if MPI cannot be called, or the level is below FUNNELED.
inline int checked_level(const char* who) {
  check_active(who);
  int level = MPI_THREAD_SINGLE;
  checked(MPI_Query_thread(&level), "MPI_Query_thread");
  if (level < MPI_THREAD_FUNNELED) {
    fail_use(
        "%s: MPI runs with MPI_THREAD_SINGLE, which forbids other threads: initialise it by "
        "MPI_Init_thread with MPI_THREAD_FUNNELED at least, better MPI_THREAD_SERIALIZED",
        who);
  }
  return level;
}

/// The lock of SERIALIZED. A process has one MPI, so it has one lock.
inline short_lock& lock_of_calls() noexcept {
  static short_lock lock;
  return lock;
}

/// Fails with std::logic_error if MPI runs at FUNNELED and the calling thread did not initialise it. `what`: for the
/// message, what needs the call.
inline void check_may_call(int level, const char* what) {
  if (level != MPI_THREAD_FUNNELED) return;
  int is_main = 0;
  checked(MPI_Is_thread_main(&is_main), "MPI_Is_thread_main");
  if (is_main != 0) return;
  fail_use(
      "%s: MPI runs with MPI_THREAD_FUNNELED, so only the thread that initialised it may do this: "
      "initialise MPI by MPI_Init_thread with MPI_THREAD_SERIALIZED or MPI_THREAD_MULTIPLE",
      what);
}

class call_permit {
 public:
  /// With SERIALIZED, blocks while another thread holds a permit.
  call_permit(int level, const char* what) : is_locked_(level == MPI_THREAD_SERIALIZED) {
    if (is_locked_) {
      lock_of_calls().lock();
    } else {
      check_may_call(level, what);
    }
  }
  ~call_permit() {
    if (is_locked_) lock_of_calls().unlock();
  }
  call_permit(const call_permit&) = delete;
  call_permit& operator=(const call_permit&) = delete;

 private:
  const bool is_locked_;
};

/// What the wait engine looks at. Stop has bool requested(): true ends the wait.
template <class Stop>
class awaited_requests final : public waitable {
 public:
  awaited_requests(int level, const char* what, int count, MPI_Request* requests,
                   const Stop& stop) noexcept
      : level_(level), what_(what), count_(count), requests_(requests), stop_(stop) {}

  /// True also after an error. The error is kept, because a look of the engine must not throw.
  bool ready() noexcept override {
    if (is_complete_ != 0 || code_ != MPI_SUCCESS || stop_.requested()) return true;
    const call_permit permit(level_, what_);
    code_ = MPI_Testall(count_, requests_, &is_complete_, MPI_STATUSES_IGNORE);
    return is_complete_ != 0 || code_ != MPI_SUCCESS;
  }
  void sleep(std::uint64_t) override { nap_.take(); }

  /// Whether all are complete; false if the wait was stopped. Fails with MPI's error.
  bool result() const {
    checked(code_, "MPI_Testall");
    return is_complete_ != 0;
  }

 private:
  const int level_;
  const char* const what_;
  const int count_;
  MPI_Request* const requests_;
  const Stop& stop_;
  int is_complete_ = 0, code_ = MPI_SUCCESS;
  polling_nap nap_;
};

/// Blocks until all requests are complete; false if a stop was requested before. `what`: what waits, for messages.
/// `level`: that of MPI. With FUNNELED it fails with std::logic_error unless the calling thread initialised MPI.
template <class Stop = never_stops>
bool await_requests(int level, const char* what, wait_policy policy, int count,
                    MPI_Request* requests, const Stop& stop = Stop()) {
  check_may_call(level, what);
  awaited_requests<Stop> all(level, what, count, requests, stop);
  wait_engine::wait(all, policy, this_thread_history().on_words);
  return all.result();
}

}  // namespace mpi
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_MPI_CALLS_HPP
