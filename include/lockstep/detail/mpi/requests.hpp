// SPDX-License-Identifier: MIT
// lockstep/detail/mpi/requests.hpp -- waiting for MPI as for anything else (layer: mpi)
//
// MPI_Wait polls until it is done, and takes the CPU from the rank that it waits for. await_requests polls MPI_Testall on
// the ladder of the wait engine: it polls, then yields, and then naps between looks (polling_nap.hpp). Each look also lets
// the MPI library make progress.
//
// The permit to call MPI (calls.hpp) is taken for each look, not for the wait: under SERIALIZED other members send and
// receive meanwhile.
//
// Cost   complete already: one MPI_Testall, some 50 ns.
#ifndef LOCKSTEP_DETAIL_MPI_REQUESTS_HPP
#define LOCKSTEP_DETAIL_MPI_REQUESTS_HPP

#include <lockstep/detail/mpi/calls.hpp>
#include <lockstep/detail/mpi/polling_nap.hpp>
#include <lockstep/detail/wait/published_words.hpp>
#include <lockstep/detail/wait/wait_engine.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace mpi {

/// What the wait engine looks at. Stop: bool requested(), after which nobody waits any more.
template <class Stop>
class awaited_requests : public waitable {
 public:
  awaited_requests(int level, const char* what, int count, MPI_Request* requests,
                   const Stop& stop) noexcept
      : level_(level), what_(what), count_(count), requests_(requests), stop_(stop) {}

  /// Also after an error, which is kept: the engine's looks do not throw.
  bool ready() noexcept {
    if (is_complete_ != 0 || code_ != MPI_SUCCESS || stop_.requested()) return true;
    const call_permit permit(level_, what_);
    code_ = MPI_Testall(count_, requests_, &is_complete_, MPI_STATUSES_IGNORE);
    return is_complete_ != 0 || code_ != MPI_SUCCESS;
  }
  void sleep(deadline) { nap_.take(); }

  /// Whether all are complete; false where it was stopped. Fails with what MPI said.
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

/// Blocks until all requests are complete; false if a stop was requested before. `what`: for messages, what waits. `level`:
/// that of MPI. With FUNNELED it is called by the thread that initialised MPI: else it fails with std::logic_error.
template <class Stop = never_stops>
bool await_requests(int level, const char* what, wait_policy policy, int count,
                    MPI_Request* requests, const Stop& stop = Stop()) {
  check_may_call(level, what);
  awaited_requests<Stop> all(level, what, count, requests, stop);
  wait_engine::wait(all, policy, this_thread_history());
  return all.result();
}

}  // namespace mpi
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_MPI_REQUESTS_HPP
