// SPDX-License-Identifier: MIT
// src/wait/cpu_separation.hpp -- when a thread moves to another CPU (layer: wait)
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
#ifndef LOCKSTEP_SRC_WAIT_CPU_SEPARATION_HPP
#define LOCKSTEP_SRC_WAIT_CPU_SEPARATION_HPP

#include <cstdint>

#include <lockstep/detail/wait/cpu_separation.hpp>

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

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_WAIT_CPU_SEPARATION_HPP
