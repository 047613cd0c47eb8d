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
// A word here is a hint: an old or missing one may cost a needless move or poll, but no wake-up is lost.
//
// word of a member: which thread may change what
//   bits     name  meaning                                       set by
//   0..16    cpu   the CPU that it ran on, plus 1; 0: not noted  its member
//   17..31   turn  how often it has noted it, modulo 2^15        its member
// The CPU may be old: the system moves threads without notice.
//
// Memory order (# marks the line)
//   #  access      order    pairs  why it suffices
//   1  word.store  relaxed  -      a hint that stands for itself
//   2  word.load   relaxed  -      as 1
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
#include "../observe/hooks.hpp"
#include "../platform/system.hpp"
#include "../platform/system_texts.hpp"
#include "member_pace.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// What the members of a team have learned of their waits, and who was seen on which CPU.
class cpu_separation {
 public:
  cpu_separation(std::size_t members, bool moves)
      : sightings_(members), paces_(members), moves_(moves) {}

  /// Whether LOCKSTEP_CPU_SEPARATION lets threads move. For boards of objects without team_options.
  static bool may_move_anybody() noexcept {
    const char* const value = obeyed_variable("LOCKSTEP_CPU_SEPARATION");
    return value == nullptr || !is_switched_off(value);
  }

  /// Member `rank` notes its CPU, in a wait for member `other` that outlasts its first poll. True if `other` has noted the
  /// same CPU since `rank` last looked, unless this call moves the thread.
  LOCKSTEP_NOINLINE bool look_for(std::size_t rank, std::size_t other) noexcept {
    const int cpu = current_cpu();
    if (cpu < 0) return false;
    sighting& own = sightings_[rank].value;
    own.turn += sighting::one_turn;
    own.word.store(own.turn | sighting::of(cpu), memory_order_relaxed);  // 1
    const std::uint32_t theirs = sightings_[other].value.noted();
    if (theirs == own.seen) return false;  // the other one may have left since
    own.seen = theirs;
    if ((theirs & sighting::cpu_bits) == own.cpu()) return !shares_cpu(rank);
    pace_of(rank).separation.has_own_cpu();
    return false;
  }
  /// Whether `other` has noted a CPU, and no member the one that `rank` has noted.
  bool is_separated(std::size_t rank, std::size_t other) const noexcept {
    const std::uint32_t here = sightings_[rank].value.cpu();
    for (std::size_t i = 0; i < sightings_.size(); ++i) {
      if (i != rank && sightings_[i].value.cpu() == here) return false;
    }
    return sightings_[other].value.cpu() != 0;
  }
  /// Whether member `other` has noted another CPU than this thread's since member `rank` last looked.
  bool is_apart(std::size_t rank, std::size_t other) const noexcept {
    return sightings_[other].value.noted() != sightings_[rank].value.seen &&
           sightings_[other].value.cpu() != sighting::of(current_cpu());
  }
  /// Member `rank` was found on the CPU of the member that it waits for. True if it moves.
  LOCKSTEP_NOINLINE bool shares_cpu(std::size_t rank) noexcept {
    separation_pace& pace = pace_of(rank).separation;
    const separation_pace::advice what = pace.shares_cpu(monotonic_nanoseconds());
    const int cpu = current_cpu();
    if (what == separation_pace::advice::stay || !moves_ || rank == 0 || cpu < 0) return false;
    if (what == separation_pace::advice::move_if_free && load_of_machine() == machine_load::full)
      return false;
    move_off_cpu(static_cast<unsigned>(cpu));
    pace.moved();
    if (observers() != 0) {
      note_mark(mark_kind::separated, "separated",
                "it shared its CPU with the member that it waited for",
                static_cast<std::uint64_t>(cpu));
    }
    return true;
  }
  /// What one member has learned; only its thread uses it.
  member_pace& pace_of(std::size_t rank) noexcept { return paces_[rank].value; }

 private:
  struct sighting {
    static constexpr std::uint32_t one_turn = 1u << 17, cpu_bits = one_turn - 1;
    /// How a CPU is noted; 0: not known.
    static std::uint32_t of(int cpu) { return (static_cast<std::uint32_t>(cpu) + 1) & cpu_bits; }

    std::uint32_t noted() const noexcept { return word.load(memory_order_relaxed); }  // 2
    std::uint32_t cpu() const noexcept { return noted() & cpu_bits; }

    wait_word word{0};
    std::uint32_t turn = 0, seen = 0;  // only its member uses these
  };

  aligned_array<padded<sighting>> sightings_;
  aligned_array<padded<member_pace>> paces_;
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

  bool is_separated() const noexcept {
    return knows_whom() && !board->look_for(self, other) && board->is_separated(self, other);
  }
  void describe(wait_subject& to) const noexcept {
    to.rank = static_cast<std::uint32_t>(self);
    if (knows_whom()) to.awaited = static_cast<std::uint32_t>(other);
  }

 private:
  bool knows_whom() const noexcept { return board != nullptr && other != everybody; }
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_WAIT_CPU_SEPARATION_HPP
