// SPDX-License-Identifier: MIT
// src/wait/cpu_separation.hpp -- a thread on the CPU of the one it waits for moves to another (layer: wait)
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
// Cost   nothing for waits that end while they spin. Else one store and one load on lines that nobody else looks at,
//        3 ns alone. A move takes some 10 us.
#ifndef LOCKSTEP_SRC_WAIT_CPU_SEPARATION_HPP
#define LOCKSTEP_SRC_WAIT_CPU_SEPARATION_HPP

#include <cstddef>
#include <cstdint>

#include <lockstep/detail/observe/wait_kinds.hpp>
#include <lockstep/detail/platform/cache_line.hpp>
#include <lockstep/detail/platform/config.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

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

class cpu_separation {
 public:
  cpu_separation(std::size_t members, bool moves);

  /// Whether LOCKSTEP_CPU_SEPARATION lets threads move: for boards of objects that know no team_options.
  static bool may_move_anybody() noexcept;

  /// Called by member `rank` in a wait for member `other` that outlasts its spin. True if `other` ran on another CPU
  /// when it last said so. False if that is not known, and after a move.
  bool is_separated(std::size_t rank, std::size_t other, std::uint64_t now) noexcept;
  /// As move_away(), where a CPU may be free. SEPARATE-5, SEPARATE-6.
  void move_to_free_cpu(std::size_t rank) noexcept;
  /// Moves the calling thread, that of member `rank`, to another CPU.
  void move_away(std::size_t rank) noexcept;

 private:
  const any_aligned_array sightings_;
  const bool moves_;
};

/// For waits: whether the member that is awaited runs elsewhere. Without a board that is not known.
struct whereabouts {
  cpu_separation* board;
  std::size_t self, other;

  bool is_separated() const noexcept;
  void describe(wait_subject& to) const noexcept {
    to.rank = static_cast<std::uint32_t>(self);
    if (board != nullptr) to.awaited = static_cast<std::uint32_t>(other);
  }
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_WAIT_CPU_SEPARATION_HPP
