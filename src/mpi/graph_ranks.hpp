// SPDX-License-Identifier: MIT
// src/mpi/graph_ranks.hpp -- a communicator of its own for a graph, and polite waits on it (layer: mpi)
//
// Every call of MPI takes the permit of calls.hpp, and collectives begin without waiting: ranks that wait for each other
// poll as polling_nap.hpp says, instead of taking each other's CPU in a blocking call.
#ifndef LOCKSTEP_SRC_MPI_GRAPH_RANKS_HPP
#define LOCKSTEP_SRC_MPI_GRAPH_RANKS_HPP

#include <cstddef>
#include <cstdint>
#include <string>

#include <lockstep/detail/platform/error.hpp>
#include "calls.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace mpi {

/// A communicator of its own for a graph, and polite waits on it. One thread of each rank at a time, but for await().
class graph_ranks {
 public:
  graph_ranks(MPI_Comm of, int level, wait_policy policy) : level_(level), policy_(policy) {
    check_may_call(level, who());
    perform("MPI_Comm_idup",
            [&](MPI_Request* request) { return MPI_Comm_idup(of, &comm_, request); });
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    int number = 0;
    checked(MPI_Comm_rank(comm_, &number), "MPI_Comm_rank");
    rank_ = static_cast<std::uint32_t>(number);
    checked(MPI_Comm_size(comm_, &number), "MPI_Comm_size");
    size_ = static_cast<std::uint32_t>(number);
  }
  ~graph_ranks() {
    if (comm_ != MPI_COMM_NULL && is_active() && exceptions_in_flight() == 0) free();
  }
  graph_ranks(const graph_ranks&) = delete;
  graph_ranks& operator=(const graph_ranks&) = delete;

  /// Collective.
  void free() noexcept {
    const call_permit permit(level_, who());
    MPI_Comm_free(&comm_);
  }

  static const char* who() noexcept { return "lockstep::mpi::world_plan"; }
  MPI_Comm comm() const noexcept { return comm_; }
  int level() const noexcept { return level_; }
  wait_policy policy() const noexcept { return policy_; }
  std::uint32_t rank() const noexcept { return rank_; }
  std::uint32_t size() const noexcept { return size_; }

  template <class Stop = never_stops>
  bool await(int count, MPI_Request* requests, const Stop& stop = Stop()) const {
    return await_requests(level_, who(), policy_, count, requests, stop);
  }
  void await(MPI_Request& request) const { await(1, &request); }

  /// Begins what give(request) begins, and waits until it is over.
  template <class Give>
  void perform(const char* call, const Give& give) const {
    MPI_Request request = MPI_REQUEST_NULL;
    begin(call, [&] { return give(&request); });
    await(request);
  }
  template <class Give>
  void begin(const char* call, const Give& give) const {
    const call_permit permit(level_, who());
    checked(give(), call);
  }
  /// The least, or the sum, of each value over all ranks.
  void combine(std::int64_t* values, int count, MPI_Op operation) const {
    perform("MPI_Iallreduce", [&](MPI_Request* request) {
      return MPI_Iallreduce(MPI_IN_PLACE, values, count, MPI_INT64_T, operation, comm_, request);
    });
  }
  /// The text of rank `root`.
  std::string broadcast(std::uint32_t root, std::string text) const {
    std::int64_t length = static_cast<std::int64_t>(text.size());
    perform("MPI_Ibcast", [&](MPI_Request* request) {
      return MPI_Ibcast(&length, 1, MPI_INT64_T, static_cast<int>(root), comm_, request);
    });
    text.resize(static_cast<std::size_t>(length));
    if (text.empty()) return text;
    perform("MPI_Ibcast", [&](MPI_Request* request) {
      return MPI_Ibcast(&text[0], static_cast<int>(text.size()), MPI_CHAR, static_cast<int>(root),
                        comm_, request);
    });
    return text;
  }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
  const int level_;
  const wait_policy policy_;
  std::uint32_t rank_ = 0, size_ = 1;
};

}  // namespace mpi
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_MPI_GRAPH_RANKS_HPP
