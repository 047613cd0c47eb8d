// SPDX-License-Identifier: MIT
// lockstep/detail/mpi/node_exchange.hpp -- the nodes of a world meet by messages (layer: mpi)
//
// One rank of each node takes part, in the order of nodes. All get the fold of what all bring: by recursive doubling,
// so that in round k groups of 2^k neighbours exchange what they have. Where the number of nodes is no power of two, the
// first ones form pairs before, and one of each pair gets the result afterwards.
//
//   EXCHANGE-1  Only neighbouring groups are combined, the lower one first: the fold is in the order of nodes.
//   EXCHANGE-2  The brackets depend on the number of nodes alone, and all nodes compute the same ones: a value that is
//               rounded has the same bits on all, and in every run, with every MPI library.
//
// Not MPI_Iallreduce: a user's operation there sees no context, its brackets are the library's choice, and in Open MPI 4.1
// it takes twice as long as these messages.
//
// Cost   log2(nodes) rounds, each of one message out and one in; two more where the number is no power of two.
// Source recursive doubling [TRG05].
#ifndef LOCKSTEP_DETAIL_MPI_NODE_EXCHANGE_HPP
#define LOCKSTEP_DETAIL_MPI_NODE_EXCHANGE_HPP

#include <cstddef>
#include <cstring>

#include "meeting_record.hpp"
#include "node_board.hpp"
#include "requests.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace mpi {

/// Two values in a row become one: *into = *into op *next.
struct world_combine {
  void (*call)(const void* context, void* into, const void* next);
  const void* context;

  void operator()(void* into, const void* next) const {
    if (call != nullptr) call(context, into, next);
  }
};

/// A record and a value, as they travel.
struct world_message {
  meeting_record record;
  alignas(16) unsigned char value[node_board::most_bytes];

  /// This one and that of the ranks after it. Values count only where all ranks go on alike.
  void merge(const world_message& next, const world_combine& combine) {
    record.merge(next.record);
    if (record.state == rank_state::goes_on) combine(value, next.value);
  }
};

class node_exchange {
 public:
  node_exchange() noexcept = default;
  /// `between`: the leaders; of no communicator on other ranks, which do not take part.
  node_exchange(MPI_Comm between, int level) : between_(between), level_(level) {
    if (between == MPI_COMM_NULL) return;
    checked(MPI_Comm_rank(between, &rank_), "MPI_Comm_rank");
    checked(MPI_Comm_size(between, &size_), "MPI_Comm_size");
    while (2 * doubling_ <= size_) doubling_ *= 2;
  }

  /// `mine` becomes the fold of all nodes. `bytes`: of its value.
  void fold(world_message& mine, std::size_t bytes, const world_combine& combine,
            wait_policy policy) {
    const int pairs = size_ - doubling_;
    const std::size_t length = offsetof(world_message, value) + bytes;
    if (rank_ < 2 * pairs && rank_ % 2 == 1) {
      send(mine, length, rank_ - 1, policy);
      return receive(mine, rank_ - 1, policy);
    }
    world_message theirs;
    if (rank_ < 2 * pairs) {
      receive(theirs, rank_ + 1, policy);
      mine.merge(theirs, combine);
    }
    const int number = rank_ < 2 * pairs ? rank_ / 2 : rank_ - pairs;
    for (int width = 1; width < doubling_; width *= 2) {
      const int partner = number ^ width;
      exchange(mine, length, theirs, partner < pairs ? 2 * partner : partner + pairs, policy);
      if (partner > number) {
        mine.merge(theirs, combine);
      } else {
        theirs.merge(mine, combine);
        std::memcpy(&mine, &theirs, length);
      }
    }
    if (rank_ < 2 * pairs) send(mine, length, rank_ + 1, policy);
  }

 private:
  static constexpr int tag = 1;

  void send(const world_message& what, std::size_t length, int to, wait_policy policy) {
    MPI_Request request = MPI_REQUEST_NULL;
    begin_send(what, length, to, request);
    await(1, &request, policy);
  }
  void receive(world_message& into, int from, wait_policy policy) {
    MPI_Request request = MPI_REQUEST_NULL;
    begin_receive(into, from, request);
    await(1, &request, policy);
  }
  void exchange(const world_message& mine, std::size_t length, world_message& theirs, int with,
                wait_policy policy) {
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    begin_receive(theirs, with, requests[0]);
    begin_send(mine, length, with, requests[1]);
    await(2, requests, policy);
  }

  void begin_send(const world_message& what, std::size_t length, int to, MPI_Request& request) {
    const call_permit permit(level_, name_);
    checked(MPI_Isend(&what, static_cast<int>(length), MPI_BYTE, to, tag, between_, &request),
            "MPI_Isend");
  }
  /// What comes may be of another length, where that node is in another construct.
  void begin_receive(world_message& into, int from, MPI_Request& request) {
    const call_permit permit(level_, name_);
    checked(
        MPI_Irecv(&into, static_cast<int>(sizeof into), MPI_BYTE, from, tag, between_, &request),
        "MPI_Irecv");
  }
  void await(int count, MPI_Request* requests, wait_policy policy) {
    await_requests(level_, name_, policy, count, requests);
  }

  static constexpr const char* name_ = "lockstep::mpi::world: a meeting of several nodes";

  MPI_Comm between_ = MPI_COMM_NULL;
  int level_ = MPI_THREAD_FUNNELED;
  int rank_ = 0, size_ = 1;
  int doubling_ = 1;  ///< the greatest power of two that is not above size_
};

}  // namespace mpi
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_MPI_NODE_EXCHANGE_HPP
