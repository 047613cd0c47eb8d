// SPDX-License-Identifier: MIT
// src/mpi/meeting_record.hpp -- what ranks tell each other when they meet (layer: mpi)
//
// A rank brings a note to a meeting. The note says in which construct the rank goes on, with how many bytes and which
// argument; or that its region is over, and how. Notes of ranks in a row are merged to a record, in the order of ranks:
//
//   NOTE-1  merge() is associative. So ranks, nodes and groups of nodes may be merged in any bracketing.
//   NOTE-2  If all ranks bring the same note, the record is that note. Else it names the worst: a rank that has failed,
//             then one that was stopped, then a difference. Among equals it names the lowest rank.
#ifndef LOCKSTEP_SRC_MPI_MEETING_RECORD_HPP
#define LOCKSTEP_SRC_MPI_MEETING_RECORD_HPP

#include <cstdint>

#include <lockstep/detail/mpi/world_construct.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace mpi {

/// What a rank comes for, the worst last.
enum class rank_state : std::uint8_t {
  goes_on,      ///< it is in a construct
  has_ended,    ///< its region has come to its end
  differs,      ///< of a record: ranks came to different constructs
  was_stopped,  ///< request_stop ended its region
  has_failed    ///< an exception did
};

struct meeting_note {
  rank_state state;
  world_construct construct;
  std::uint16_t bytes;     ///< of the value
  std::uint32_t argument;  ///< on which all have to agree: the root of a broadcast, for instance

  friend bool operator==(const meeting_note& a, const meeting_note& b) noexcept {
    return a.state == b.state && a.construct == b.construct && a.bytes == b.bytes &&
           a.argument == b.argument;
  }
};
static_assert(sizeof(meeting_note) == 8, "as it lies in memory that processes share");

struct meeting_record {
  rank_state state;
  std::uint32_t
      rank;  ///< it came with `note`; if state is worse than has_ended, it is the one to blame
  meeting_note note;
  std::uint32_t other;  ///< if state is differs: a rank that came with `others`
  meeting_note others;

  /// The record of one rank.
  static meeting_record of(const meeting_note& note, std::size_t rank) noexcept {
    const std::uint32_t number = static_cast<std::uint32_t>(rank);
    return {note.state, number, note, number, note};
  }
  /// Adds the record of the ranks that follow.
  void merge(const meeting_record& next) noexcept {
    if (next.state > rank_state::differs) {
      if (next.state > state) *this = next;
    } else if (state <= rank_state::has_ended) {
      // All ranks so far came with `note`. The first of the next ranks that did not is `other`.
      const bool is_other = !(next.note == note);
      if (!is_other && next.state != rank_state::differs) return;
      state = rank_state::differs;
      other = is_other ? next.rank : next.other;
      others = is_other ? next.note : next.others;
    }
  }
};

}  // namespace mpi
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_MPI_MEETING_RECORD_HPP
