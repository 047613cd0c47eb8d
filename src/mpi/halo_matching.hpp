// SPDX-License-Identifier: MIT
// src/mpi/halo_matching.hpp -- whether the neighbours of all ranks fit each other (layer: mpi)
//
// When a halo is made, each rank tells its neighbours once what it will send them and what it expects. So lists that do
// not fit each other are found there, on all ranks, and not as a wait that never ends.
//
//   MATCH-1  Every neighbour has one partner: on the other rank, the neighbour whose receive_tag is this one's send_tag,
//       and the other way round. Blocks that meet have as many bytes.
//   MATCH-2  An error on one rank is thrown on all: the text of the lowest rank that has one, which it names.
//
// Cost   two meetings of the world and an alltoall of one number a rank, once; a message to each neighbour.
#ifndef LOCKSTEP_SRC_MPI_HALO_MATCHING_HPP
#define LOCKSTEP_SRC_MPI_HALO_MATCHING_HPP

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <lockstep/mpi/halo_block.hpp>
#include <lockstep/mpi/world.hpp>
#include "calls.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace mpi {

/// What a rank says of one of its neighbours.
struct halo_description {
  std::int32_t send_tag, receive_tag;
  std::uint64_t sent;  ///< bytes
};

class halo_matching {
 public:
  /// Collective. Fails on all ranks with std::invalid_argument unless their lists fit each other. `own`: a communicator of
  /// the world's ranks, on which nothing else is under way.
  static void check(lockstep::mpi::world& of, MPI_Comm own,
                    const std::vector<lockstep::mpi::halo_neighbour>& neighbours) {
    const halo_matching all(of, own, neighbours);
    all.agree(all.own_error());
    all.agree(all.error_in(all.told_by_others()));
  }

 private:
  using neighbour_list = std::vector<lockstep::mpi::halo_neighbour>;
  static constexpr int most_tag = 16383;
  struct message {
    char text[480];
  };

  halo_matching(lockstep::mpi::world& of, MPI_Comm own, const neighbour_list& neighbours)
      : world_(of),
        comm_(own),
        neighbours_(neighbours),
        rank_(static_cast<int>(of.rank())),
        size_(static_cast<int>(of.size())) {}

  void wait(std::vector<MPI_Request>& all) const {
    await_requests(world_.thread_level(), "lockstep::mpi::halo", world_.policy(1),
                   static_cast<int>(all.size()), all.data());
  }

  template <class... Values>
  std::string text(const char* format, Values... values) const {
    char what[400];
    std::snprintf(what, sizeof what, format, values...);
    char whole[480];
    std::snprintf(whole, sizeof whole, "lockstep::mpi::halo: on rank %d, %s", rank_, what);
    return whole;
  }

  /// What is wrong without a look at others, or nothing.
  std::string own_error() const {
    for (std::size_t i = 0; i < neighbours_.size(); ++i) {
      const auto& one = neighbours_[i];
      if (one.rank >= static_cast<std::size_t>(size_)) {
        return text("neighbour %zu is rank %zu, but there are ranks 0 to %d only", i, one.rank,
                    size_ - 1);
      }
      if (one.send_tag < 0 || one.send_tag > most_tag || one.receive_tag < 0 ||
          one.receive_tag > most_tag) {
        return text("neighbour %zu has the tags %d and %d; give tags from 0 to %d", i, one.send_tag,
                    one.receive_tag, most_tag);
      }
      if (one.send.bytes() == 0 || one.receive.bytes() == 0) {
        return text("neighbour %zu has a block without elements; make blocks by block_of()", i);
      }
      for (std::size_t before = 0; before < i; ++before) {
        const auto& other = neighbours_[before];
        if (other.rank != one.rank ||
            (other.send_tag != one.send_tag && other.receive_tag != one.receive_tag)) {
          continue;
        }
        return text(
            "neighbours %zu and %zu are both rank %zu and have the same tag; give each block a tag "
            "of "
            "its own",
            before, i, one.rank);
      }
    }
    return "";
  }

  /// What every rank says of its neighbours that are this rank: by ranks, in the order of neighbours_.
  std::vector<std::vector<halo_description>> told_by_others() const {
    const std::size_t size = static_cast<std::size_t>(size_);
    std::vector<std::vector<halo_description>> told(size), heard(size);
    for (const auto& one : neighbours_) {
      told[one.rank].push_back({one.send_tag, one.receive_tag, one.send.bytes()});
    }
    std::vector<int> to(size), from(size);
    for (std::size_t rank = 0; rank < size; ++rank) to[rank] = static_cast<int>(told[rank].size());
    std::vector<MPI_Request> requests(1, MPI_REQUEST_NULL);
    checked(MPI_Ialltoall(to.data(), 1, MPI_INT, from.data(), 1, MPI_INT, comm_, requests.data()),
            "MPI_Ialltoall");
    wait(requests);
    for (std::size_t rank = 0; rank < size; ++rank) {
      heard[rank].resize(static_cast<std::size_t>(from[rank]));
      if (from[rank] != 0) {
        requests.push_back(MPI_REQUEST_NULL);
        checked(MPI_Irecv(heard[rank].data(), bytes_of(heard[rank]), MPI_BYTE,
                          static_cast<int>(rank), 0, comm_, &requests.back()),
                "MPI_Irecv");
      }
      if (to[rank] != 0) {
        requests.push_back(MPI_REQUEST_NULL);
        checked(MPI_Isend(told[rank].data(), bytes_of(told[rank]), MPI_BYTE, static_cast<int>(rank),
                          0, comm_, &requests.back()),
                "MPI_Isend");
      }
    }
    wait(requests);
    return heard;
  }
  static int bytes_of(const std::vector<halo_description>& of) noexcept {
    return static_cast<int>(of.size() * sizeof(halo_description));
  }

  /// MATCH-1, as far as this rank is concerned; the other side finds the rest.
  std::string error_in(const std::vector<std::vector<halo_description>>& heard) const {
    for (std::size_t i = 0; i < neighbours_.size(); ++i) {
      const auto& mine = neighbours_[i];
      const halo_description* partner = nullptr;
      for (const halo_description& theirs : heard[mine.rank]) {
        if (theirs.send_tag == mine.receive_tag && theirs.receive_tag == mine.send_tag) {
          partner = &theirs;
        }
      }
      if (partner == nullptr) {
        return text(
            "neighbour %zu is rank %zu with send_tag %d and receive_tag %d, but rank %zu has no "
            "neighbour that is rank %d with send_tag %d and receive_tag %d; neighbours come in "
            "pairs, "
            "one on each side",
            i, mine.rank, mine.send_tag, mine.receive_tag, mine.rank, rank_, mine.receive_tag,
            mine.send_tag);
      }
      if (partner->sent == mine.receive.bytes()) continue;
      return text(
          "neighbour %zu is to receive %zu bytes, but rank %zu sends %llu; make both blocks from "
          "the "
          "same extents and types",
          i, mine.receive.bytes(), mine.rank, static_cast<unsigned long long>(partner->sent));
    }
    return "";
  }

  /// MATCH-2: `mine` is empty where all is well.
  void agree(const std::string& mine) const {
    const int first = world_.sync_min(mine.empty() ? size_ : rank_);
    if (first == size_) return;
    message all = {};
    if (first == rank_) std::snprintf(all.text, sizeof all.text, "%s", mine.c_str());
    all = world_.broadcast(static_cast<std::size_t>(first), all);
    fail_argument(all.text);
  }

  lockstep::mpi::world& world_;
  const MPI_Comm comm_;
  const neighbour_list& neighbours_;
  const int rank_, size_;
};

}  // namespace mpi
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_MPI_HALO_MATCHING_HPP
