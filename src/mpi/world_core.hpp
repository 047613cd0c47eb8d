// SPDX-License-Identifier: MIT
// src/mpi/world_core.hpp -- the ranks of a communicator, by nodes, and how they meet (layer: mpi)
//
// One thread of each rank comes to a meeting. The ranks of a node meet on a node_board. If there are several nodes, one
// rank of each, its leader, meets the other leaders in a node_exchange. So one node alone needs no call of MPI.
//
//   WORLD-1  All ranks come to the same meetings in the same order. In each they learn the same: that all go on, with
//            the fold of all values in the order of ranks; or what kept one of them from going on.
//   WORLD-2  What happens before any rank's arrival at a meeting happens before every return from it, for memory that
//            the processes share.
//   WORLD-3  If the ranks of a node are not neighbours in the world, each rank is a node of its own, because values are
//            combined in the order of ranks.
//   WORLD-4  A rank that sleeps in a meeting moves no messages, and another rank may need them before it can come. So
//            while messages are under way beside the meetings, a rank that waits polls, and lets MPI move them.
//
// Cost   one node of up to 8 ranks: each publishes a line and fetches those of all others, in parallel. Above, or with
//        several nodes: one line to the leader, one back, and the node_exchange between.
//
// node_exchange: the leaders meet by messages. All get the fold of what all bring, in the order of nodes. It is
// recursive doubling: in round k groups of 2^k neighbours exchange what they have. If the number of nodes is no power
// of two, the first nodes form pairs before, and one of each pair gets the result afterwards.
//
//   EXCHANGE-1  Only neighbouring groups are combined, the lower one first: the fold is in the order of nodes.
//   EXCHANGE-2  The brackets depend on the number of nodes alone, and all nodes compute the same ones. So a rounded
//               value has the same bits on all nodes, in every run, with every MPI library.
//
// Not MPI_Iallreduce: the library chooses its brackets, and on one machine it took twice as long as these messages.
//
// Cost   log2(nodes) rounds, each of one message out and one in; two more where the number is no power of two.
// Source recursive doubling [TRG05].
#ifndef LOCKSTEP_SRC_MPI_WORLD_CORE_HPP
#define LOCKSTEP_SRC_MPI_WORLD_CORE_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include <lockstep/detail/mpi/world_values.hpp>

#include "../platform/cpus.hpp"
#include "communicator.hpp"
#include "node_board.hpp"
#include "polling_nap.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace mpi {

/// A record and a value, as they travel.
struct world_message {
  meeting_record record;
  alignas(16) unsigned char value[node_board::most_bytes];

  /// Adds what the ranks that follow bring. Values count only if all ranks go on in the same construct.
  void merge(const meeting_record& next, const void* its_value, const world_combine& combine) {
    record.merge(next);
    if (record.state == rank_state::goes_on && its_value != nullptr) combine(value, its_value);
  }
};

class node_exchange {
 public:
  node_exchange() noexcept = default;
  /// `between`: the communicator of the leaders. Other ranks take no part, and have MPI_COMM_NULL.
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
      transfer(&mine, length, nullptr, rank_ - 1, policy);
      return transfer(nullptr, 0, &mine, rank_ - 1, policy);
    }
    world_message theirs;
    if (rank_ < 2 * pairs) {
      transfer(nullptr, 0, &theirs, rank_ + 1, policy);
      mine.merge(theirs.record, theirs.value, combine);
    }
    const int number = rank_ < 2 * pairs ? rank_ / 2 : rank_ - pairs;
    for (int width = 1; width < doubling_; width *= 2) {
      const int partner = number ^ width;
      transfer(&mine, length, &theirs, partner < pairs ? 2 * partner : partner + pairs, policy);
      if (partner > number) {
        mine.merge(theirs.record, theirs.value, combine);
      } else {
        theirs.merge(mine.record, mine.value, combine);
        std::memcpy(&mine, &theirs, length);
      }
    }
    if (rank_ < 2 * pairs) transfer(&mine, length, nullptr, rank_ + 1, policy);
  }

 private:
  static constexpr int tag = 1;

  /// Sends, receives, or both at once. What comes has another length if that node is in another construct.
  void transfer(const world_message* out, std::size_t length, world_message* in, int with,
                wait_policy policy) {
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    {
      const call_permit permit(level_, name_);
      if (in != nullptr) {
        checked(MPI_Irecv(in, static_cast<int>(sizeof *in), MPI_BYTE, with, tag, between_,
                          &requests[0]),
                "MPI_Irecv");
      }
      if (out != nullptr) {
        checked(
            MPI_Isend(out, static_cast<int>(length), MPI_BYTE, with, tag, between_, &requests[1]),
            "MPI_Isend");
      }
    }
    await_requests(level_, name_, policy, 2, requests);
  }

  static constexpr const char* name_ = "lockstep::mpi::world: a meeting of several nodes";

  MPI_Comm between_ = MPI_COMM_NULL;
  int level_ = MPI_THREAD_FUNNELED;
  int rank_ = 0, size_ = 1;
  int doubling_ = 1;  ///< the greatest power of two that is not above size_
};

/// Messages beside the meetings. Many MPI libraries move them only inside of calls.
class messages_beside {
 public:
  virtual bool is_under_way() const noexcept = 0;
  /// Lets MPI move them.
  virtual void progress() noexcept = 0;

 protected:
  messages_beside() = default;
  ~messages_beside() = default;
};

class world_core {
 public:
  /// Collective. `ranks_per_node`: at most this many ranks count as one node; 0 sets no limit.
  world_core(MPI_Comm of, std::size_t ranks_per_node)
      : all_(of, checked_level(name_), wait_policy(), name_) {
    divide_into_nodes(ranks_per_node);
    share_memory();
    share_cpus();
    exchange_ = node_exchange(leaders_, level());
  }
  /// Collective. Does nothing if MPI has ended, or while the stack is unwound, which may happen on one rank only.
  ~world_core() {
    if (exceptions_in_flight() != 0 || !is_active()) return;
    MPI_Win_unlock_all(memory_);
    MPI_Win_free(&memory_);
    for (MPI_Comm* each : {&leaders_, &node_}) {
      if (*each != MPI_COMM_NULL) MPI_Comm_free(each);
    }
  }
  world_core(const world_core&) = delete;
  world_core& operator=(const world_core&) = delete;

  /// These messages are moved while this rank waits in a meeting: WORLD-4.
  void add(messages_beside& one) { beside_.push_back(&one); }
  void remove(messages_beside& one) {
    beside_.erase(std::find(beside_.begin(), beside_.end(), &one));
  }

  MPI_Comm comm() const noexcept { return all_.comm(); }
  int level() const noexcept { return all_.level(); }
  std::size_t rank() const noexcept { return all_.rank(); }
  std::size_t size() const noexcept { return all_.size(); }
  std::size_t node_rank() const noexcept { return node_rank_; }
  std::size_t node_size() const noexcept { return node_size_; }
  std::size_t nodes() const noexcept { return nodes_; }
  /// This rank's share of the CPUs.
  std::size_t cpus() const noexcept { return cpus_; }

  /// How the ranks of this node wait for each other where each has `members` members.
  wait_policy policy(std::size_t members) const noexcept {
    return wait_policy().when_crowded(members * node_size_ > node_cpus_);
  }

  /// Blocks until all ranks have come, and returns what they came for. If all go on, `value` is the fold of all values.
  /// One thread of each rank at a time. Requires: bytes <= node_board::most_bytes.
  meeting_record meet(const meeting_note& note, void* value, const world_combine& combine,
                      wait_policy policy) {
    world_message folded;
    folded.record = meeting_record::of(note, rank());
    if (size() == 1) return folded.record;
    ++number_;
    const std::size_t bytes = note.bytes, result = board_.result();
    const bool is_flat = nodes_ == 1 && node_size_ <= most_flat, leads = node_rank_ == 0;
    if (is_flat || !leads) board_.publish(node_rank_, number_, folded.record, value, bytes);
    if (is_flat || leads) {
      for (std::size_t i = 1, at = node_rank_; i < node_size_; ++i) {
        if (++at == node_size_) at = 0;
        wait(at, policy);
      }
      if (!leads) folded.record = board_.record_of(0, number_, first_);
      if (bytes != 0) {
        std::memcpy(folded.value, leads ? value : board_.value_of(0, number_, bytes), bytes);
      }
      for (std::size_t at = 1; at < node_size_; ++at) {
        folded.merge(board_.record_of(at, number_, first_ + at),
                     bytes != 0 ? board_.value_of(at, number_, bytes) : nullptr, combine);
      }
      if (!is_flat) {
        if (nodes_ > 1) exchange_.fold(folded, bytes, combine, policy);
        board_.publish(result, number_, folded.record, folded.value, bytes);
      }
    } else {
      wait(result, policy);
      folded.record = board_.record_of(result, number_, 0);
      if (bytes != 0) std::memcpy(folded.value, board_.value_of(result, number_, bytes), bytes);
    }
    if (folded.record.state == rank_state::goes_on && bytes != 0) {
      std::memcpy(value, folded.value, bytes);
    }
    return folded.record;
  }

 private:
  static constexpr std::size_t most_flat = 8;

  static std::size_t rank_in(MPI_Comm of) {
    int rank = 0;
    checked(MPI_Comm_rank(of, &rank), "MPI_Comm_rank");
    return static_cast<std::size_t>(rank);
  }
  static std::size_t size_of(MPI_Comm of) {
    int size = 0;
    checked(MPI_Comm_size(of, &size), "MPI_Comm_size");
    return static_cast<std::size_t>(size);
  }
  void divide_into_nodes(std::size_t ranks_per_node) {
    const int key = static_cast<int>(rank());
    checked(MPI_Comm_split_type(comm(), MPI_COMM_TYPE_SHARED, key, MPI_INFO_NULL, &node_),
            "MPI_Comm_split_type");
    if (ranks_per_node != 0) {
      const int part = static_cast<int>(rank_in(node_) / ranks_per_node);
      split_node(part);
    }
    const int first_and_size[2] = {first_of_node(), static_cast<int>(size_of(node_))};
    const bool are_neighbours = key - first_and_size[0] == static_cast<int>(rank_in(node_));
    int all_are = are_neighbours ? 1 : 0;
    checked(MPI_Allreduce(MPI_IN_PLACE, &all_are, 1, MPI_INT, MPI_MIN, comm()), "MPI_Allreduce");
    if (all_are == 0) split_node(key);  // WORLD-3
    node_rank_ = rank_in(node_);
    node_size_ = size_of(node_);
    first_ = rank() - node_rank_;
    checked(MPI_Comm_split(comm(), node_rank_ == 0 ? 0 : MPI_UNDEFINED, key, &leaders_),
            "MPI_Comm_split");
    int leads = node_rank_ == 0 ? 1 : 0;
    checked(MPI_Allreduce(MPI_IN_PLACE, &leads, 1, MPI_INT, MPI_SUM, comm()), "MPI_Allreduce");
    nodes_ = static_cast<std::size_t>(leads);
    if (leaders_ != MPI_COMM_NULL) MPI_Comm_set_errhandler(leaders_, MPI_ERRORS_RETURN);
  }
  void split_node(int part) {
    MPI_Comm smaller = MPI_COMM_NULL;
    checked(MPI_Comm_split(node_, part, static_cast<int>(rank()), &smaller), "MPI_Comm_split");
    MPI_Comm_free(&node_);
    node_ = smaller;
  }
  int first_of_node() const {
    int first = static_cast<int>(rank());
    checked(MPI_Bcast(&first, 1, MPI_INT, 0, node_), "MPI_Bcast");
    return first;
  }

  void share_memory() {
    const std::size_t bytes = node_board::bytes_for(node_size_) + alignment;
    void* memory = nullptr;
    checked(MPI_Win_allocate_shared(node_rank_ == 0 ? static_cast<MPI_Aint>(bytes) : 0, 1,
                                    MPI_INFO_NULL, node_, &memory, &memory_),
            "MPI_Win_allocate_shared");
    MPI_Aint size = 0;
    int unit = 1;
    checked(MPI_Win_shared_query(memory_, 0, &size, &unit, &memory), "MPI_Win_shared_query");
    // All processes map whole pages, so they agree on what is aligned.
    const std::size_t off = reinterpret_cast<std::uintptr_t>(memory) % alignment;
    memory = static_cast<unsigned char*>(memory) + (off == 0 ? 0 : alignment - off);
    if (node_rank_ == 0) node_board::make(memory, node_size_);
    checked(MPI_Win_lock_all(MPI_MODE_NOCHECK, memory_), "MPI_Win_lock_all");
    checked(MPI_Barrier(node_), "MPI_Barrier");
    board_ = node_board(memory, node_size_);
  }

  /// A CPU on which k ranks of the node may run counts 1/k for each. Whole CPUs are given in the order of ranks.
  void share_cpus() {
    std::vector<unsigned char> mine(most_cpus, 0), all(most_cpus * node_size_, 0);
    for (const unsigned cpu : affinity()) {
      if (cpu < most_cpus) mine[cpu] = 1;
    }
    checked(MPI_Allgather(mine.data(), most_cpus, MPI_BYTE, all.data(), most_cpus, MPI_BYTE, node_),
            "MPI_Allgather");
    double before = 0, until = 0;
    for (std::size_t cpu = 0; cpu < most_cpus; ++cpu) {
      std::size_t users = 0, up_to_here = 0;
      for (std::size_t at = 0; at < node_size_; ++at) {
        users += all[at * most_cpus + cpu];
        if (at < node_rank_) up_to_here = users;
      }
      if (users == 0) continue;
      ++node_cpus_;
      before += static_cast<double>(up_to_here) / static_cast<double>(users);
      until += static_cast<double>(up_to_here + mine[cpu]) / static_cast<double>(users);
    }
    const std::size_t usable = count_usable_cpus();
    if (node_cpus_ == 0 || node_cpus_ > usable * node_size_) node_cpus_ = usable;
    constexpr double rounding = 1e-6;
    const std::size_t share =
        static_cast<std::size_t>(until + rounding) - static_cast<std::size_t>(before + rounding);
    cpus_ = share < usable ? share : usable;
    if (cpus_ == 0) cpus_ = 1;
  }

  bool are_under_way() const noexcept {
    for (const messages_beside* each : beside_) {
      if (each->is_under_way()) return true;
    }
    return false;
  }
  /// WORLD-4: it does not sleep while messages are under way.
  void wait(std::size_t at, wait_policy policy) {
    polling_nap nap;
    while (LOCKSTEP_UNLIKELY(are_under_way()) && !board_.has_come(at, number_)) {
      for (messages_beside* each : beside_) each->progress();
      nap.take();
    }
    board_.wait(at, number_, policy, history_);
  }

  static constexpr const char* name_ = "lockstep::mpi::world";
  static constexpr std::size_t alignment = 128;
  static constexpr int most_cpus = 1024;

  communicator all_;
  MPI_Comm node_ = MPI_COMM_NULL, leaders_ = MPI_COMM_NULL;
  MPI_Win memory_ = MPI_WIN_NULL;
  std::size_t node_rank_ = 0, node_size_ = 1, nodes_ = 1;
  std::size_t first_ = 0;  ///< the lowest rank of the node, in the world
  std::size_t cpus_ = 1, node_cpus_ = 0;
  node_board board_;
  node_exchange exchange_;
  std::uint32_t number_ = 0;  ///< of the last meeting
  std::vector<messages_beside*> beside_;
  wait_history history_ = {};
};

}  // namespace mpi
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_MPI_WORLD_CORE_HPP
