// SPDX-License-Identifier: MIT
// src/mpi/node_exchange.hpp -- the nodes of a world meet by messages (layer: mpi)
//
// One rank of each node takes part, in the order of nodes. All get the fold of what all bring: by recursive doubling,
// so that in round k groups of 2^k neighbours exchange what they have. Where the number of nodes is no power of two, the
// first ones form pairs before, and one of each pair gets the result afterwards.
//
//   EXCHANGE-1  Only neighbouring groups are combined, the lower one first: the fold is in the order of nodes.
//   EXCHANGE-2  The brackets depend on the number of nodes alone, and all nodes compute the same ones: a value that is
//               rounded has the same bits on all, and in every run, with every MPI library.
//
//   EXCHANGE-3  By the library, if the world is made so: MPI_Iallreduce finds out whether all nodes come with the same note.
//               If so, a second one combines values that are numbers, by MPI's own operation. It does no other values: an
//               operation of the user's sees no context there. These, and notes that differ, go by messages.
//
// Not the library otherwise: its brackets are its own choice, and one machine's libraries take twice as long as these messages.
//
// Cost   log2(nodes) rounds, each of one message out and one in; two more where the number is no power of two. By the library:
//        one MPI_Iallreduce of 16 bytes, and one of the value.
// Source recursive doubling [TRG05].
#ifndef LOCKSTEP_SRC_MPI_NODE_EXCHANGE_HPP
#define LOCKSTEP_SRC_MPI_NODE_EXCHANGE_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <lockstep/detail/mpi/world_values.hpp>

#include "calls.hpp"
#include "meeting_record.hpp"
#include "node_board.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace mpi {

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
  node_exchange(MPI_Comm between, int level, bool by_library)
      : between_(between), level_(level), is_by_library_(by_library) {
    if (between == MPI_COMM_NULL) return;
    checked(MPI_Comm_rank(between, &rank_), "MPI_Comm_rank");
    checked(MPI_Comm_size(between, &size_), "MPI_Comm_size");
    while (2 * doubling_ <= size_) doubling_ *= 2;
  }

  /// `mine` becomes the fold of all nodes. `bytes`: of its value.
  void fold(world_message& mine, std::size_t bytes, const world_combine& combine,
            wait_policy policy) {
    if (is_by_library_ && fold_by_library(mine, bytes, combine, policy)) return;
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

  /// EXCHANGE-3. False, on all nodes, if messages have to do it.
  bool fold_by_library(world_message& mine, std::size_t bytes, const world_combine& combine,
                       wait_policy policy) {
    meeting_note note = mine.record.note;
    note.state = mine.record.state;
    std::uint64_t key = 0;
    std::memcpy(&key, &note, sizeof key);
    // The greatest note and, inverted, the least one.
    std::uint64_t ends[2] = {key, ~key};
    reduce(ends, 2, MPI_UINT64_T, MPI_MAX, policy);
    if (ends[0] != ~ends[1] || note.state > rank_state::has_ended) return false;
    if (bytes == 0) return true;
    const MPI_Op op = operation_of(note.construct);
    if (op == MPI_OP_NULL || combine.numbers == MPI_DATATYPE_NULL) return false;
    reduce(mine.value, 1, combine.numbers, op, policy);
    return true;
  }
  static MPI_Op operation_of(world_construct construct) noexcept {
    return construct == world_construct::sync_sum || construct == world_construct::sync_count
               ? MPI_SUM
           : construct == world_construct::sync_min ? MPI_MIN
           : construct == world_construct::sync_max ? MPI_MAX
                                                    : MPI_OP_NULL;
  }
  void reduce(void* values, int count, MPI_Datatype type, MPI_Op op, wait_policy policy) {
    MPI_Request request = MPI_REQUEST_NULL;
    {
      const call_permit permit(level_, name_);
      checked(MPI_Iallreduce(MPI_IN_PLACE, values, count, type, op, between_, &request),
              "MPI_Iallreduce");
    }
    await(1, &request, policy);
  }

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
  bool is_by_library_ = false;
  int rank_ = 0, size_ = 1;
  int doubling_ = 1;  ///< the greatest power of two that is not above size_
};

}  // namespace mpi
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_MPI_NODE_EXCHANGE_HPP
