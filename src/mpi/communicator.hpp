// SPDX-License-Identifier: MIT
// src/mpi/communicator.hpp -- a communicator of our own, and polite waits on it (layer: mpi)
//
// A world, a halo and a graph have one each, so their messages meet no others. Every call of MPI takes the permit of
// calls.hpp. The collectives do not block: ranks that wait for each other poll as polling_nap.hpp says, and leave each
// other the CPU.
#ifndef LOCKSTEP_SRC_MPI_COMMUNICATOR_HPP
#define LOCKSTEP_SRC_MPI_COMMUNICATOR_HPP

#include <cstddef>
#include <cstdint>
#include <string>

#include <lockstep/detail/platform/error.hpp>
#include "calls.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace mpi {

/// One thread of each rank uses it at a time. Only await() and begin() may be called by several at once.
class communicator {
 public:
  /// Collective. `who`: the name of its owner, for messages. Fails unless `of` is a communicator of one group.
  communicator(MPI_Comm of, int level, wait_policy policy, const char* who)
      : level_(level), policy_(policy), who_(who) {
    check_may_call(level, who);
    check_group(of);
    perform("MPI_Comm_idup",
            [&](MPI_Request* request) { return MPI_Comm_idup(of, &comm_, request); });
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    int number = 0;
    checked(MPI_Comm_rank(comm_, &number), "MPI_Comm_rank");
    rank_ = static_cast<std::uint32_t>(number);
    checked(MPI_Comm_size(comm_, &number), "MPI_Comm_size");
    size_ = static_cast<std::uint32_t>(number);
  }
  /// Collective. Does nothing while the stack is unwound, because that may happen on one rank only.
  ~communicator() {
    if (comm_ != MPI_COMM_NULL && is_active() && exceptions_in_flight() == 0) free();
  }
  communicator(const communicator&) = delete;
  communicator& operator=(const communicator&) = delete;

  MPI_Comm comm() const noexcept { return comm_; }
  int level() const noexcept { return level_; }
  const char* who() const noexcept { return who_; }
  std::uint32_t rank() const noexcept { return rank_; }
  std::uint32_t size() const noexcept { return size_; }

  template <class Stop = never_stops>
  bool await(std::size_t count, MPI_Request* requests, const Stop& stop = Stop()) const {
    return await_requests(level_, who_, policy_, static_cast<int>(count), requests, stop);
  }
  void await(MPI_Request& request) const { await(1, &request); }

  /// Begins an operation by give(request), and waits until it is over.
  template <class Give>
  void perform(const char* call, const Give& give) const {
    MPI_Request request = MPI_REQUEST_NULL;
    begin(call, [&] { return give(&request); });
    await(request);
  }
  template <class Give>
  void begin(const char* call, const Give& give) const {
    const call_permit permit(level_, who_);
    checked(give(), call);
  }
  /// The text of rank `root`.
  std::string broadcast(std::uint32_t root, std::string text) const {
    std::int64_t length = static_cast<std::int64_t>(text.size());
    const auto send = [&](void* what, int count, MPI_Datatype type) {
      perform("MPI_Ibcast", [&](MPI_Request* request) {
        return MPI_Ibcast(what, count, type, static_cast<int>(root), comm_, request);
      });
    };
    send(&length, 1, MPI_INT64_T);
    text.resize(static_cast<std::size_t>(length));
    if (length > 0) send(&text[0], static_cast<int>(length), MPI_CHAR);
    return text;
  }

  /// Fails with std::invalid_argument on all ranks if one has a problem. The text is from the lowest such rank.
  void agree(const std::string& problem) {
    std::int64_t first = problem.empty() ? size_ : rank_;
    perform("MPI_Iallreduce", [&](MPI_Request* request) {
      return MPI_Iallreduce(MPI_IN_PLACE, &first, 1, MPI_INT64_T, MPI_MIN, comm_, request);
    });
    if (first == size_) return;
    const std::string text = broadcast(static_cast<std::uint32_t>(first), problem);
    refuse("on rank " + std::to_string(first) + ": " + text);
  }
  /// Collective: all ranks have found the same problem.
  [[noreturn]] void refuse(const std::string& problem) {
    free();
    fail_argument("%s: %s", who_, problem.c_str());
  }

 private:
  void check_group(MPI_Comm of) const {
    int is_between_groups = 0;
    if (of != MPI_COMM_NULL) MPI_Comm_test_inter(of, &is_between_groups);
    if (of != MPI_COMM_NULL && is_between_groups == 0) return;
    fail_argument(of == MPI_COMM_NULL
                      ? "%s: MPI_COMM_NULL given: this rank is in no such communicator, so it "
                        "makes no world"
                      : "%s: a communicator between two groups given: merge them by "
                        "MPI_Intercomm_merge",
                  who_);
  }
  void free() noexcept {
    const call_permit permit(level_, who_);
    MPI_Comm_free(&comm_);
  }

  MPI_Comm comm_ = MPI_COMM_NULL;
  const int level_;
  const wait_policy policy_;
  const char* const who_;
  std::uint32_t rank_ = 0, size_ = 1;
};

}  // namespace mpi
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_MPI_COMMUNICATOR_HPP
