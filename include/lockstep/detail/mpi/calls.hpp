// SPDX-License-Identifier: MIT
// lockstep/detail/mpi/calls.hpp -- which thread may call MPI now (layer: mpi)
//
// MPI runs at a thread level that the program has chosen. call_permit is held around each call of ours:
//   FUNNELED    only the thread that initialised MPI may call it: another one is refused
//   SERIALIZED  any thread, one at a time: a lock, one for the process
//   MULTIPLE    any thread at any time: nothing
// The lock keeps our calls apart. The program's own calls have to stay apart from ours: under SERIALIZED it makes none
// while a region of world::run is in progress, but in member 0 outside of what it calls of ours.
//
// Order  what happens before the end of one permit happens before the next one, but with MULTIPLE.
// Cost   FUNNELED and MULTIPLE: a call of MPI_Is_thread_main, or nothing. SERIALIZED: two read-modify-writes.
#ifndef LOCKSTEP_DETAIL_MPI_CALLS_HPP
#define LOCKSTEP_DETAIL_MPI_CALLS_HPP

#include <lockstep/detail/mpi/library.hpp>
#include <lockstep/detail/wait/short_lock.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace mpi {

/// The lock of SERIALIZED. MPI is one for the process, so this is.
inline short_lock& lock_of_calls() noexcept {
  static short_lock lock;
  return lock;
}

/// Fails with std::logic_error where MPI runs at FUNNELED and the calling thread did not initialise it. `what`: in the
/// message, what needs the call.
inline void check_may_call(int level, const char* what) {
  if (level != MPI_THREAD_FUNNELED) return;
  int is_main = 0;
  checked(MPI_Is_thread_main(&is_main), "MPI_Is_thread_main");
  if (is_main != 0) return;
  char message[320];
  std::snprintf(
      message, sizeof message,
      "%s: MPI runs with MPI_THREAD_FUNNELED, so only the thread that initialised it may do this: "
      "initialise MPI by MPI_Init_thread with MPI_THREAD_SERIALIZED or MPI_THREAD_MULTIPLE",
      what);
  fail_use(message);
}

class call_permit {
 public:
  /// Blocks while another thread holds one, with SERIALIZED.
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

}  // namespace mpi
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_MPI_CALLS_HPP
