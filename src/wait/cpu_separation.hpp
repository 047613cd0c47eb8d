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
//   SEPARATE-2  A member moves after 64 waits on the CPU of the awaited member within 1 to 2 ms: then switches take
//               most of the time. Members that work for long between their waits gain nothing where no CPU is free:
//               on the other CPU they would get only a share of the time.
//   SEPARATE-3  The next such move comes 1 ms later at the earliest. A move in vain doubles that, up to 64 ms.
//   SEPARATE-4  After a move its affinity is as before (move_off_native_cpu() of detail/platform/system.hpp).
//   SEPARATE-5  A worker polls when its region is due. If it does not run when the region comes, 4 times in a row, it
//               shares its CPU with the caller, which slept before: the worker moves. Each time doubles the 4, up to
//               256. Each region that finds the worker running takes back one of them. The worker stays where no CPU
//               is free: elsewhere it would wait for the end of a stranger's time slice, 4 ms, while the caller's CPU
//               runs it at once.
//   SEPARATE-6  The same holds for a member that finds the awaited one on its CPU in 4 waits in a row, at any distance
//               in time. On an idle machine of two CPUs, Linux 6.18 begins most threads on the CPU of their maker and
//               leaves them there for 4 to 20 ms: short regions took 6 us instead of 0.2, and loops twice their time.
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

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// When a thread leaves a CPU that it shares, because it did not run when it was needed: SEPARATE-5, SEPARATE-6. Plain
/// data of one thread.
class stacked_starts {
 public:
  static constexpr unsigned enough = 4, most = 256;

  /// A region came, or a wait outlasted its spin. `is_stacked`: the thread shares its CPU with the awaited one.
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

  /// Whether LOCKSTEP_CPU_SEPARATION lets threads move. For boards of objects without team_options.
  static bool may_move_anybody() noexcept;

  /// Called by member `rank` in a wait for member `other` that outlasts its spin. True if `other` last noted another
  /// CPU. False if it noted none, or if this call moves the thread.
  bool is_separated(std::size_t rank, std::size_t other, std::uint64_t now) noexcept;
  /// As move_away(), but only if a CPU may be free. SEPARATE-5, SEPARATE-6.
  void move_to_free_cpu(std::size_t rank) noexcept;
  /// Moves the calling thread, which is member `rank`, to another CPU.
  void move_away(std::size_t rank) noexcept;

 private:
  const any_aligned_array sightings_;
  const bool moves_;
};

/// For waits: whether the awaited member runs on another CPU. Without a board this is not known.
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
