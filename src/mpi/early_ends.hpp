// SPDX-License-Identifier: MIT
// src/mpi/early_ends.hpp -- a rank whose part ends early tells the others, and no message stays on its way (layer: mpi)
//
// For halos and plans, which have messages beside the meetings of ranks. Messages between two ends go by one way.
//
//   LEAVE-1  A rank whose part ends early sends a word to its peers, the ranks at the other ends. A rank that waits for
//            messages looks for such a word now and then.
//   LEAVE-2  When all ranks know that the end was early, every rank has sent one word to each peer, and receives one
//            from each. So no word is left for a later run. A peer may have sent the word of the next run before
//            another peer's word for this run is here. MPI keeps the words of one peer in order.
//   LEAVE-3  The word says how many messages each way has carried. A rank that has sent it sends no more in this run.
//            So the other end receives those that are still under way, no request is left, and the next run can begin.
//
// Cost   a look: one MPI_Iprobe.
#ifndef LOCKSTEP_SRC_MPI_EARLY_ENDS_HPP
#define LOCKSTEP_SRC_MPI_EARLY_ENDS_HPP

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "communicator.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace mpi {

class early_ends {
 public:
  /// The tags of messages begin here.
  static constexpr int first_tag = 1;

  explicit early_ends(const communicator& ranks) noexcept : ranks_(ranks) {}
  early_ends(const early_ends&) = delete;
  early_ends& operator=(const early_ends&) = delete;

  // Before the first run.

  void add_peer(int rank) { peers_[rank]; }
  /// `key`: the same at both ends, and different for each way between the two ranks. `way`: its number for leave() and
  /// settle().
  void add_way(bool sends, int rank, int key, std::size_t way) {
    (sends ? peers_[rank].to : peers_[rank].from)[key] = way;
  }

  /// Sets `has_left` if a peer has left. One thread at a time. Returns MPI's code.
  int look(bool& has_left) noexcept {
    if (peers_.empty()) return MPI_SUCCESS;
    const call_permit permit(ranks_.level(), ranks_.who());
    int has_come = 0;
    const int code =
        MPI_Iprobe(MPI_ANY_SOURCE, word_tag, ranks_.comm(), &has_come, MPI_STATUS_IGNORE);
    has_left = has_left || has_come != 0;
    return code;
  }

  // For the thread that has run this rank's part.

  /// Tells the peers, once. sent(way): how many messages were sent by it, modulo 2^32.
  template <class Sent>
  void leave(const Sent& sent) {
    if (has_left_) return;
    has_left_ = true;
    words_.clear();
    for (auto& each : peers_) {
      peer& to = each.second;
      to.told.clear();
      for (const auto& way : to.to) to.told.push_back(sent(way.second));
      words_.push_back(MPI_REQUEST_NULL);
      ranks_.begin("MPI_Isend", [&] {
        return MPI_Isend(to.told.data(), static_cast<int>(to.told.size()), MPI_UINT32_T, each.first,
                         word_tag, ranks_.comm(), &words_.back());
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
  /// Ends LEAVE-2 and LEAVE-3, on all ranks, after leave(). take(way, count) receives until `count` messages have come
  /// by the way.
  template <class Take>
  void settle(const Take& take) {
    for (const auto& each : peers_) {
      std::vector<std::uint32_t> counts(each.second.from.size());
      ranks_.perform("MPI_Irecv", [&](MPI_Request* request) {
        return MPI_Irecv(counts.data(), static_cast<int>(counts.size()), MPI_UINT32_T, each.first,
                         word_tag, ranks_.comm(), request);
      });
      std::size_t k = 0;
      for (const auto& way : each.second.from) take(way.second, counts[k++]);
    }
    ranks_.await(words_.size(), words_.data());
    has_left_ = have_gone_ = false;
  }

 private:
  static constexpr int word_tag = 0;

  struct peer {
    std::map<int, std::size_t> to, from;  ///< the ways, by their keys
    std::vector<std::uint32_t> told;      ///< the word to it
  };

  const communicator& ranks_;
  std::map<int, peer> peers_;       ///< by their ranks
  std::vector<MPI_Request> words_;  ///< to each peer
  bool has_left_ = false;           ///< words of this run are on their way
  bool have_gone_ = false;          ///< they have left this rank
};

}  // namespace mpi
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_MPI_EARLY_ENDS_HPP
