// SPDX-License-Identifier: MIT
// lockstep/detail/wait/cpu_separation.hpp -- a thread on the CPU of the one it waits for moves to another (layer: wait)
//
// On a busy machine the system may put two threads that wait for each other on one CPU and leave them there for
// seconds: three runnable threads on two CPUs count as balanced. Then each wait costs a switch, 1 us and more, where a
// thread on a CPU of its own would answer in 0.1 us. So a thread whose wait outlasts its spin, a member of a team or a
// participant of a ranked_barrier, notes on which CPU it runs, and learns whether the one that it waits for runs there as
// well. When it moves: src/wait/cpu_separation.hpp.
//
// Cost   nothing for waits that end while they spin. Else one store and one load on lines that nobody else looks at,
//        3 ns alone. A move takes some 10 us.
#ifndef LOCKSTEP_DETAIL_WAIT_CPU_SEPARATION_HPP
#define LOCKSTEP_DETAIL_WAIT_CPU_SEPARATION_HPP

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

#endif  // LOCKSTEP_DETAIL_WAIT_CPU_SEPARATION_HPP
