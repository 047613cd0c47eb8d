// SPDX-License-Identifier: MIT
// src/mpi/early_ends.hpp -- a rank whose part ends early tells the others, and no message stays on its way (layer: mpi)
//
// For halos and plans, which have messages beside the meetings of ranks. Messages between two ends go by one way.
//
//   LEAVE-1  A rank whose part ends early sends a word to its peers, the ranks at the other ends. A rank that waits for
//            messages looks for such a word now and then.
//   LEAVE-2  When all ranks know that the end was early, every rank has sent one word to each peer, and receives one
//            from each. So no word is left for a later run.
//   LEAVE-3  Then peers exchange how many messages each way has carried, and receive those that are still under way. So
//            no request is left, and the next run can begin.
//
// Cost   a look: one MPI_Testany.
#ifndef LOCKSTEP_SRC_MPI_EARLY_ENDS_HPP
#define LOCKSTEP_SRC_MPI_EARLY_ENDS_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "communicator.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace mpi {

class early_ends {
 public:
  /// The tags of messages begin here.
  static constexpr int first_tag = 2;

  explicit early_ends(const communicator& ranks) noexcept : ranks_(ranks) {}
  ~early_ends() {
    if (!is_active() || exceptions_in_flight() != 0) return;
    const call_permit permit(ranks_.level(), ranks_.who());
    for (MPI_Request& each : told_) {
      MPI_Cancel(&each);
      MPI_Wait(&each, MPI_STATUS_IGNORE);
      MPI_Request_free(&each);
    }
  }
  early_ends(const early_ends&) = delete;
  early_ends& operator=(const early_ends&) = delete;

  // Before open().

  void add_peer(int rank) { static_cast<void>(peer_of(rank)); }
  /// `key`: the same at both ends, and different for each way between the two ranks. `way`: its number for settle().
  void add_way_to(int rank, int key, std::size_t way) { peer_of(rank).to.push_back({key, way}); }
  void add_way_from(int rank, int key, std::size_t way) {
    peer_of(rank).from.push_back({key, way});
  }
  void open() {
    words_.assign(peers_.size(), MPI_REQUEST_NULL);
    std::vector<MPI_Request> told(peers_.size(), MPI_REQUEST_NULL);
    for (peer& each : peers_) {
      for (std::vector<end_of_way>* ends : {&each.to, &each.from}) {
        std::sort(ends->begin(), ends->end());
      }
    }
    for (std::size_t p = 0; p < peers_.size(); ++p) {
      ranks_.begin("MPI_Recv_init", [&] {
        return MPI_Recv_init(nullptr, 0, MPI_BYTE, peers_[p].rank, word_tag, ranks_.comm(),
                             &told[p]);
      });
    }
    told_ = std::move(told);
    expect_words();
  }

  /// Sets `has_left` if a peer has left since the last look. One thread at a time. Returns MPI's code.
  int look(bool& has_left) noexcept {
    if (peers_.empty()) return MPI_SUCCESS;
    const call_permit permit(ranks_.level(), ranks_.who());
    int which = 0, has_come = 0;
    const int code = MPI_Testany(static_cast<int>(told_.size()), told_.data(), &which, &has_come,
                                 MPI_STATUS_IGNORE);
    has_left = has_left || has_come != 0;
    return code;
  }

  // By the thread that has run this rank's part.

  /// Tells the peers, once.
  void leave() {
    if (has_left_) return;
    has_left_ = true;
    for (std::size_t p = 0; p < peers_.size(); ++p) {
      ranks_.begin("MPI_Isend", [&] {
        return MPI_Isend(nullptr, 0, MPI_BYTE, peers_[p].rank, word_tag, ranks_.comm(), &words_[p]);
      });
    }
  }
  /// Whether words may still be under way. They may be behind large messages, which others wait for.
  bool is_leaving() const noexcept { return has_left_ && !have_gone_; }
  void push_words() noexcept {
    if (!is_leaving()) return;
    const call_permit permit(ranks_.level(), ranks_.who());
    int flag = 0;
    MPI_Testall(static_cast<int>(words_.size()), words_.data(), &flag, MPI_STATUSES_IGNORE);
    have_gone_ = flag != 0;
  }
  /// LEAVE-2 and LEAVE-3, on all ranks. sent(way): how many messages were sent by it. take(way, count): receives until
  /// `count` messages have come by it. Counts are modulo 2^32.
  template <class Sent, class Take>
  void settle(const Sent& sent, const Take& take) {
    leave();
    std::vector<MPI_Request> requests(2 * peers_.size(), MPI_REQUEST_NULL);
    std::vector<std::vector<std::uint32_t>> out(peers_.size()), in(peers_.size());
    for (std::size_t p = 0; p < peers_.size(); ++p) {
      for (const end_of_way& each : peers_[p].to) out[p].push_back(sent(each.way));
      in[p].resize(peers_[p].from.size());
      exchange(peers_[p].rank, out[p], in[p], &requests[2 * p]);
    }
    ranks_.await(told_.size(), told_.data());
    expect_words();
    ranks_.await(requests.size(), requests.data());
    for (std::size_t p = 0; p < peers_.size(); ++p) {
      for (std::size_t k = 0; k < in[p].size(); ++k) take(peers_[p].from[k].way, in[p][k]);
    }
    ranks_.await(words_.size(), words_.data());
    has_left_ = have_gone_ = false;
  }

 private:
  static constexpr int word_tag = 0, count_tag = 1;

  struct end_of_way {
    int key;
    std::size_t way;
    bool operator<(const end_of_way& other) const noexcept { return key < other.key; }
  };
  struct peer {
    int rank;
    std::vector<end_of_way> to, from;
  };

  peer& peer_of(int rank) {
    for (peer& each : peers_) {
      if (each.rank == rank) return each;
    }
    peers_.push_back({rank, {}, {}});
    return peers_.back();
  }
  /// A request for each peer. A peer may leave the next region before another one's word for this one is here.
  void expect_words() {
    if (told_.empty()) return;  // Open MPI refuses to start no requests
    ranks_.begin("MPI_Startall",
                 [&] { return MPI_Startall(static_cast<int>(told_.size()), told_.data()); });
  }
  void exchange(int with, const std::vector<std::uint32_t>& out, std::vector<std::uint32_t>& in,
                MPI_Request* requests) const {
    ranks_.begin("MPI_Irecv", [&] {
      return MPI_Irecv(in.data(), static_cast<int>(in.size()), MPI_UINT32_T, with, count_tag,
                       ranks_.comm(), &requests[0]);
    });
    ranks_.begin("MPI_Isend", [&] {
      return MPI_Isend(out.data(), static_cast<int>(out.size()), MPI_UINT32_T, with, count_tag,
                       ranks_.comm(), &requests[1]);
    });
  }

  const communicator& ranks_;
  std::vector<peer> peers_;
  std::vector<MPI_Request> words_;  ///< to each peer
  std::vector<MPI_Request> told_;   ///< a word from each
  bool has_left_ = false;           ///< words of this run are on their way
  bool have_gone_ = false;          ///< they have left this rank
};

}  // namespace mpi
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_MPI_EARLY_ENDS_HPP
