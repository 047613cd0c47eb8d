// SPDX-License-Identifier: MIT
// src/mpi/halo_transport.hpp -- the persistent requests of a halo (layer: mpi)
//
// For each neighbour a send and a receive, made once by MPI_Send_init and MPI_Recv_init and started in each exchange.
// Their blocks have MPI's datatypes, so nothing is packed here. halo_protocol.hpp decides who calls what when.
//
// A rank whose region ends early sends no more. So that its neighbours do not wait for it, it sends each of them one
// notice. Once all ranks know that the region has ended early, each neighbour has sent one notice, early or then:
//
//   LEAVE-1  A notice says how many exchanges of each pair the rank has started. Partners differ by one at most (HALO-3),
//       so the one that is behind starts one more, and all that is under way ends. What arrives in ghosts then is of
//       no use, but no request is left, and all halos go on with the next region.
//   LEAVE-2  Each rank sends each of its neighbouring ranks one notice for every region that ended early, and receives one.
//       So no notice is left for a later region.
//
// Cost   an exchange: two MPI_Start and, while any is under way, one MPI_Testsome for all neighbours at each look. A look
//        for notices: another MPI_Testsome, once in 16 looks.
#ifndef LOCKSTEP_SRC_MPI_HALO_TRANSPORT_HPP
#define LOCKSTEP_SRC_MPI_HALO_TRANSPORT_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <lockstep/mpi/halo_block.hpp>
#include "calls.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace mpi {

class halo_transport {
 public:
  /// On a communicator of its own, whose errors come back as codes; MATCH-1 holds.
  halo_transport(MPI_Comm own, int level,
                 const std::vector<lockstep::mpi::halo_neighbour>& neighbours)
      : comm_(own),
        level_(level),
        requests_(2 * neighbours.size(), MPI_REQUEST_NULL),
        ended_(2 * neighbours.size()),
        under_way_(neighbours.size(), 0),
        last_looked_after_(neighbours.size()) {
    int rank = 0;
    checked(MPI_Comm_rank(comm_, &rank), "MPI_Comm_rank");
    for (std::size_t i = 0; i < neighbours.size(); ++i) {
      const auto& one = neighbours[i];
      const int other = static_cast<int>(one.rank);
      checked(MPI_Recv_init(one.receive.first, one.receive.count, one.receive.type, other,
                            first_tag + one.receive_tag, comm_, &requests_[2 * i]),
              "MPI_Recv_init");
      checked(MPI_Send_init(one.send.first, one.send.count, one.send.type, other,
                            first_tag + one.send_tag, comm_, &requests_[2 * i + 1]),
              "MPI_Send_init");
      side_of(one, rank).pairs.push_back({i, one.send_tag, one.receive_tag});
    }
    receives_.assign(sides_.size(), MPI_REQUEST_NULL);
    sends_.assign(sides_.size(), MPI_REQUEST_NULL);
    indices_.resize(sides_.size());
    for (side& each : sides_) {
      each.sent.resize(each.pairs.size());
      each.received.resize(each.pairs.size());
    }
    expect_notices();
  }
  /// Nothing is under way but the receives of notices.
  ~halo_transport() {
    if (!is_active()) return;
    for (MPI_Request& each : requests_) {
      if (each != MPI_REQUEST_NULL) MPI_Request_free(&each);
    }
    for (MPI_Request& each : receives_) {
      if (each == MPI_REQUEST_NULL) continue;
      MPI_Cancel(&each);
      MPI_Wait(&each, MPI_STATUS_IGNORE);
    }
  }
  halo_transport(const halo_transport&) = delete;
  halo_transport& operator=(const halo_transport&) = delete;

  // For halo_protocol.

  int start(std::size_t i) {
    const call_permit permit(level_of_exchanges(), "lockstep::mpi::halo");
    under_way_[i] = 2;
    return MPI_Startall(2, &requests_[2 * i]);
  }
  /// The poller looks after one neighbour after the other. The first of a round looks after all: MPI makes progress, and may
  /// give the CPU to another rank, in every call.
  int look(std::size_t i, bool& has_ended) {
    const call_permit permit(level_of_exchanges(), "lockstep::mpi::halo");
    const bool is_new_round = i <= last_looked_after_;
    last_looked_after_ = i;
    const int code = is_new_round ? look_after_all() : MPI_SUCCESS;
    has_ended = under_way_[i] == 0;
    return code;
  }
  int look_for_leavers(bool& has_left) {
    if (receives_.empty() || ++looks_ % looks_per_notice != 0) return MPI_SUCCESS;
    const call_permit permit(level_, "lockstep::mpi::halo");
    int count = 0;
    const int code = MPI_Testsome(static_cast<int>(receives_.size()), receives_.data(), &count,
                                  indices_.data(), MPI_STATUSES_IGNORE);
    if (count != MPI_UNDEFINED && count > 0) has_left = true;
    return code;
  }
  bool may_be_used_by(std::size_t rank) const noexcept {
    return rank == 0 || level_ != MPI_THREAD_FUNNELED;
  }
  [[noreturn]] void fail(int code) const { fail_call("an exchange of a halo", code); }

  // When a region has ended early, by the thread that has run it.

  /// Tells the neighbours, once for each region. `started(i)`: how many exchanges were started with neighbour i.
  template <class Started>
  void leave(const Started& started) {
    if (has_left_) return;
    has_left_ = true;
    const call_permit permit(level_, "lockstep::mpi::halo");
    for (std::size_t s = 0; s < sides_.size(); ++s) {
      side& to = sides_[s];
      sort(to, &pair::send_tag);
      for (std::size_t k = 0; k < to.pairs.size(); ++k) to.sent[k] = started(to.pairs[k].neighbour);
      checked(MPI_Isend(to.sent.data(), static_cast<int>(to.sent.size()), MPI_UINT32_T, to.rank,
                        notice_tag, comm_, &sends_[s]),
              "MPI_Isend");
    }
  }
  /// Whether the notices are made: nothing may be started any more, for they say how much was.
  bool has_left() const noexcept { return has_left_; }
  /// Whether notices may not have gone yet. They may stand behind large messages, so others wait for what this rank sends.
  bool is_leaving() const noexcept { return has_left_ && !have_gone_; }
  void push_notices() noexcept {
    if (!is_leaving()) return;
    const call_permit permit(level_, "lockstep::mpi::halo");
    int flag = 0;
    MPI_Testall(static_cast<int>(sends_.size()), sends_.data(), &flag, MPI_STATUSES_IGNORE);
    have_gone_ = flag != 0;
  }
  /// Ends all that is under way: LEAVE-1. All ranks have left, or are about to.
  template <class Started>
  void settle(const Started& started, wait_policy policy) {
    leave(started);
    wait(receives_.data(), receives_.size(), policy);
    for (side& from : sides_) {
      sort(from, &pair::receive_tag);  // the order in which the other side has sent them
      for (std::size_t k = 0; k < from.pairs.size(); ++k) {
        const std::size_t i = from.pairs[k].neighbour;
        if (static_cast<std::int32_t>(from.received[k] - started(i)) > 0) catch_up(i, policy);
      }
    }
    for (const pair& each : own_pairs_.pairs) settle_own(each, started, policy);
    wait(requests_.data(), requests_.size(), policy);
    wait(sends_.data(), sends_.size(), policy);
    has_left_ = have_gone_ = false;
    expect_notices();
  }

 private:
  static constexpr int notice_tag = 0, first_tag = 1;
  static constexpr unsigned looks_per_notice = 16;

  struct pair {
    std::size_t neighbour;
    int send_tag, receive_tag;
  };
  /// A neighbouring rank, and what is exchanged with it.
  struct side {
    int rank;
    std::vector<pair> pairs;
    std::vector<std::uint32_t> sent, received;
  };

  /// One member starts an exchange while another looks after all of them: with MULTIPLE, too, one at a time.
  int level_of_exchanges() const noexcept {
    return level_ == MPI_THREAD_MULTIPLE ? MPI_THREAD_SERIALIZED : level_;
  }
  int look_after_all() {
    int count = 0;
    const int code = MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &count,
                                  ended_.data(), MPI_STATUSES_IGNORE);
    if (code != MPI_SUCCESS || count == MPI_UNDEFINED) return code;
    for (int k = 0; k < count; ++k)
      --under_way_[static_cast<std::size_t>(ended_[static_cast<std::size_t>(k)]) / 2];
    return code;
  }
  side& side_of(const lockstep::mpi::halo_neighbour& of, int own_rank) {
    const int rank = static_cast<int>(of.rank);
    if (rank == own_rank) return own_pairs_;
    for (side& each : sides_) {
      if (each.rank == rank) return each;
    }
    sides_.push_back({rank, {}, {}, {}});
    return sides_.back();
  }
  static void sort(side& of, int pair::* by) {
    std::sort(of.pairs.begin(), of.pairs.end(),
              [by](const pair& a, const pair& b) { return a.*by < b.*by; });
  }
  /// A rank that is its own neighbour has both partners.
  template <class Started>
  void settle_own(const pair& one, const Started& started, wait_policy policy) {
    for (const pair& other : own_pairs_.pairs) {
      if (other.send_tag != one.receive_tag || other.receive_tag != one.send_tag) continue;
      const std::uint32_t ahead = started(other.neighbour) - started(one.neighbour);
      if (static_cast<std::int32_t>(ahead) > 0) catch_up(one.neighbour, policy);
    }
  }
  /// Starts the exchange that the partner has started. It has done so after the end of the one before, which therefore
  /// ends here too.
  void catch_up(std::size_t i, wait_policy policy) {
    wait(&requests_[2 * i], 2, policy);
    checked(start(i), "MPI_Startall");
  }
  void expect_notices() {
    const call_permit permit(level_, "lockstep::mpi::halo");
    for (std::size_t s = 0; s < sides_.size(); ++s) {
      side& from = sides_[s];
      checked(MPI_Irecv(from.received.data(), static_cast<int>(from.received.size()), MPI_UINT32_T,
                        from.rank, notice_tag, comm_, &receives_[s]),
              "MPI_Irecv");
    }
  }
  void wait(MPI_Request* first, std::size_t count, wait_policy policy) {
    await_requests(level_, "lockstep::mpi::halo", policy, static_cast<int>(count), first);
  }

  const MPI_Comm comm_;
  const int level_;
  std::vector<MPI_Request> requests_;  ///< of neighbour i: the receive at 2 i, the send at 2 i + 1
  std::vector<int> ended_;             ///< of them, in one look
  std::vector<unsigned char> under_way_;  ///< of each neighbour's two
  std::size_t last_looked_after_;
  std::vector<side> sides_;  ///< other ranks
  side own_pairs_ = {};
  std::vector<MPI_Request> receives_, sends_;  ///< of notices, one a side
  std::vector<int> indices_;
  unsigned looks_ = 0;
  bool has_left_ = false;   ///< notices of this region are on their way
  bool have_gone_ = false;  ///< they have left this rank
};

}  // namespace mpi
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_MPI_HALO_TRANSPORT_HPP
