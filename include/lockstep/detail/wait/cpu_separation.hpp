// SPDX-License-Identifier: MIT
// lockstep/detail/wait/cpu_separation.hpp -- a thread on the CPU of the one it waits for moves to another (layer: wait)
//
// On a busy machine the system may put two threads that wait for each other on one CPU and leave them there for
// seconds: three runnable threads on two CPUs count as balanced. Then each wait costs a switch, 1 us and more, where a
// thread on a CPU of its own would answer in 0.1 us. So a thread whose wait outlasts its spin, a member of a team or a
// participant of a ranked_barrier, notes on which CPU it runs, and learns whether the one that it waits for runs there as
// well.
//
//   SEPARATE-1  Threads move only if the board may move threads (`moves`). Rank 0 never moves: in a team it is the
//               user's thread. None move if the user has bound members, or with LOCKSTEP_CPU_SEPARATION=0.
//   SEPARATE-2  A member moves after 64 waits in a row on the CPU of the awaited member, within 1 to 2 ms: then
//               switches take most of the time. Members that work for long between their waits gain nothing where
//               no CPU is free: on the other CPU they would get a share of the time only.
//   SEPARATE-3  After a move it stays for 1 ms at least. A move that was in vain doubles that, up to 64 ms.
//   SEPARATE-4  Its affinity is afterwards as it was before (move_off_native_cpu() of this_thread.hpp).
//   SEPARATE-5  A worker that polls when its region is due, but does not run when it comes, for 4 regions in a row,
//               shares its CPU with the caller of the regions, which slept before: it moves. A move that was in vain
//               doubles the 4, up to 256; each region that finds it running takes back one of them. It stays where
//               no CPU is free: elsewhere it would wait for the end of a stranger's time slice, 4 ms, where
//               the caller's CPU has it at once.
//   SEPARATE-6  The same holds for a member that finds the awaited one on its CPU in 4 waits in a row, however long lie
//               between them. Linux 6.18 begins most threads of an idle machine of two CPUs on the CPU of their maker,
//               and leaves them there for 4 to 20 ms: short regions took 6 us in place of 0.2, loops twice their time.
//
// A word here is a hint: one that is old or missing costs a needless move or a poll, never a wake-up.
//
// Memory order (# marks the line)
//   #  access      order    pairs  why it suffices
//   1  word.store  relaxed  -      a hint that stands for itself
//   2  word.load   relaxed  -      as 1
//
// Cost   nothing for waits that end while they spin. Else one store and one load on lines that nobody else looks at,
//        3 ns alone. A move takes some 10 us.
#ifndef LOCKSTEP_DETAIL_WAIT_CPU_SEPARATION_HPP
#define LOCKSTEP_DETAIL_WAIT_CPU_SEPARATION_HPP

#include <cstddef>
#include <cstdint>

#include <lockstep/detail/observe/hooks.hpp>
#include <lockstep/detail/platform/cache_line.hpp>
#include <lockstep/detail/platform/config.hpp>
#include <lockstep/detail/platform/system.hpp>
#include <lockstep/detail/platform/system_texts.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// When to move: SEPARATE-2 and SEPARATE-3. Plain data of one thread.
class separation_pace {
 public:
  static constexpr unsigned enough_waits = 64;
  static constexpr std::uint64_t least_time = 1000000;
  static constexpr std::uint64_t most_rest = 64 * least_time;

  /// Notes a wait, at the time `now`, on the CPU of the awaited thread. True if it is time to move.
  bool shared(std::uint64_t now) noexcept {
    if (now - first_ > 2 * least_time) {
      first_ = now;
      waits_ = 0;
    }
    if (++waits_ < enough_waits || now - first_ < least_time) return false;
    waits_ = 0;
    if (has_separated_ && now - separated_at_ < rest_) return false;
    const bool was_in_vain = has_separated_ && now - separated_at_ < 4 * rest_;
    rest_ = !was_in_vain ? least_time : 2 * rest_ < most_rest ? 2 * rest_ : most_rest;
    has_separated_ = true;
    separated_at_ = now;
    return true;
  }

 private:
  unsigned waits_ = 0;
  bool has_separated_ = false;
  std::uint64_t first_ = 0, separated_at_ = 0;
  std::uint64_t rest_ = least_time;
};

/// When a thread that has no CPU while it is needed has to leave the one it shares: SEPARATE-5, SEPARATE-6. Plain data of
/// one thread.
class stacked_starts {
 public:
  static constexpr unsigned enough = 4, most = 256;

  /// A region came, or a wait outlasted its spin; `is_stacked`: the thread shared its CPU with the one that it waits for.
  void came(bool is_stacked) noexcept {
    if (!is_stacked) {
      stacked_ = 0;
      if (wanted_ > enough) --wanted_;
    } else {
      ++stacked_;
    }
  }
  /// True if it is time to move.
  bool must_separate() noexcept {
    if (stacked_ < wanted_) return false;
    stacked_ = 0;
    if (wanted_ < most) wanted_ *= 2;
    return true;
  }

 private:
  unsigned stacked_ = 0, wanted_ = enough;
};

class cpu_separation {
 public:
  cpu_separation(std::size_t members, bool moves) : sightings_(members), moves_(moves) {}

  /// Whether LOCKSTEP_CPU_SEPARATION lets threads move: for boards of objects that know no team_options.
  static bool may_move_anybody() noexcept;

  /// Called by member `rank` in a wait for member `other` that outlasts its spin. True if `other` ran on another CPU
  /// when it last said so. False if that is not known, and after a move.
  LOCKSTEP_NOINLINE bool is_separated(std::size_t rank, std::size_t other,
                                      std::uint64_t now) noexcept {
    const int cpu = current_cpu();
    if (cpu < 0) return false;
    sighting& own = sightings_[rank].value;
    const std::uint32_t here = (static_cast<std::uint32_t>(cpu) + 1) & cpu_bits;
    own.turn += one_turn;
    own.word.store(own.turn | here, memory_order_relaxed);                                 // 1
    const std::uint32_t theirs = sightings_[other].value.word.load(memory_order_relaxed);  // 2
    const std::uint32_t there = theirs & cpu_bits;
    if (there != here) {
      own.stacked.came(false);
      return there != 0;
    }
    const bool is_news = theirs != own.seen;  // else the other one may have left since
    own.seen = theirs;
    if (!is_news) return false;
    own.stacked.came(true);
    if (own.pace.shared(now)) {
      move_away(rank);
    } else if (own.stacked.must_separate()) {
      move_to_free_cpu(rank);
    }
    return false;
  }
  /// As move_away(), where a CPU may be free. SEPARATE-5, SEPARATE-6.
  void move_to_free_cpu(std::size_t rank) noexcept {
    if (moves_ && rank != 0 && !is_machine_full()) move_away(rank);
  }
  /// Moves the calling thread, that of member `rank`, to another CPU.
  void move_away(std::size_t rank) noexcept {
    const int cpu = current_cpu();
    if (!moves_ || rank == 0 || cpu < 0) return;
    move_off_cpu(static_cast<unsigned>(cpu));
    if (observers() != 0) {
      note_mark(mark_kind::separated, "separated",
                "it shared its CPU with the member that it waited for",
                static_cast<std::uint64_t>(cpu));
    }
  }

 private:
  // word of a member: who may change what
  //   bits     name  meaning                                       set by
  //   0..16    cpu   the CPU that it ran on, and 1; 0: not said    its member
  //   17..31   turn  how often it has said so, modulo 2^15         its member
  // Either may be old: the system moves threads without a word.
  static constexpr std::uint32_t one_turn = 1u << 17;
  static constexpr std::uint32_t cpu_bits = one_turn - 1;

  struct sighting {
    wait_word word{0};
    // Its member's own.
    std::uint32_t turn = 0, seen = 0;
    separation_pace pace;
    stacked_starts stacked;
  };

  aligned_array<padded<sighting>> sightings_;
  const bool moves_;
};

/// For waits: whether the member that is awaited runs elsewhere. Without a board that is not known.
struct whereabouts {
  cpu_separation* board;
  std::size_t self, other;

  bool is_separated(std::uint64_t now) noexcept {
    return board != nullptr && board->is_separated(self, other, now);
  }
  void describe(wait_subject& to) const noexcept {
    to.rank = static_cast<std::uint32_t>(self);
    if (board != nullptr) to.awaited = static_cast<std::uint32_t>(other);
  }
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_WAIT_CPU_SEPARATION_HPP
