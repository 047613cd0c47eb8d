// SPDX-License-Identifier: MIT
// src/wait/cpu_separation.hpp -- a thread on the CPU of the one it waits for moves to another (layer: wait)
//
// On a busy machine the system may put two threads that wait for each other on one CPU and leave them there for
// seconds: three runnable threads on two CPUs count as balanced. Then each wait costs a switch, 1 us and more. A thread
// on a CPU of its own would answer in 0.1 us. So members of teams and participants of ranked_barriers note their CPU
// when a wait outlasts its spin, and check whether the awaited member runs there as well.
//
//   SEPARATE-1  Threads move only if the board may move threads (`moves`). Rank 0 never moves: in a team it is the
//               user's thread. No thread moves if the user has bound members, or with LOCKSTEP_CPU_SEPARATION=0.
//   SEPARATE-4  After a move its affinity is as before (move_off_cpu() of system.hpp).
//   The other rules are those of member_pace.hpp, which decides when to move.
//
// Cost   nothing for waits that end while they spin. Other waits: one store and one load on lines that no other code
//        uses, 3 ns alone. A move takes some 10 us.
#ifndef LOCKSTEP_SRC_WAIT_CPU_SEPARATION_HPP
#define LOCKSTEP_SRC_WAIT_CPU_SEPARATION_HPP

#include <cstddef>
#include <cstdint>

#include <lockstep/detail/observe/wait_kinds.hpp>
#include <lockstep/detail/platform/cache_line.hpp>
#include <lockstep/detail/platform/config.hpp>
#include "member_pace.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// What the members of a team have learned of their waits, and who was seen on which CPU.
class cpu_separation {
 public:
  cpu_separation(std::size_t members, bool moves);

  /// Whether LOCKSTEP_CPU_SEPARATION lets threads move. For boards of objects without team_options.
  static bool may_move_anybody() noexcept;

  /// Called by member `rank` in a wait for member `other` that outlasts its spin. True if `other` last noted another
  /// CPU. False if it noted none, or if this call moves the thread.
  bool is_separated(std::size_t rank, std::size_t other, std::uint64_t now) noexcept;
  /// Member `rank` was found on the CPU of the member that it waits for: it may move.
  void shares_cpu(std::size_t rank, std::uint64_t now) noexcept;
  /// What one member has learned; only its thread uses it.
  member_pace& pace_of(std::size_t rank) noexcept {
    return static_cast<padded<member_pace>*>(paces_.data())[rank].value;
  }

 private:
  const any_aligned_array sightings_, paces_;
  const bool moves_;
};

/// For a wait: which member waits, for which other member, and whether that one runs on another CPU. Without a board
/// this is not known.
struct whereabouts {
  /// As `other`: no single member, but the last of all.
  static constexpr std::size_t everybody = static_cast<std::size_t>(-1);

  cpu_separation* board;
  std::size_t self, other;
  round_pace* rounds;  ///< of the caller of a crowd

  bool is_for_everybody() const noexcept { return other == everybody; }
  bool is_separated() const noexcept;
  void describe(wait_subject& to) const noexcept {
    to.rank = static_cast<std::uint32_t>(self);
    if (knows_whom()) to.awaited = static_cast<std::uint32_t>(other);
  }

 private:
  bool knows_whom() const noexcept { return board != nullptr && !is_for_everybody(); }
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_WAIT_CPU_SEPARATION_HPP
