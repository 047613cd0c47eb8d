// SPDX-License-Identifier: MIT
// lockstep/detail/team/parting.hpp -- members that share a CPU with the one they wait for move to another (layer: team)
//
// On a busy machine the system may put two members on one CPU and leave them there for seconds: three runnable
// threads on two CPUs count as balanced. Then each wait costs a switch, 1 us and more, where a member on a
// CPU of its own would be there in 0.1 us. A member whose wait was not over after its spin says here on which CPU it
// runs, and learns whether the member that it waits for does so as well.
//
//   P1  Only a thread that the team has started moves, never that of member 0, and only where the board was told
//       to let it (`moves`): not where the user has bound members.
//   P2  It moves when 64 waits in a row shared their CPU, over 1 ms at least and 2 ms at most: then the switches take
//       most of the time. Members that work for long between their waits gain nothing, for on the
//       other CPU they would get a share of the time only.
//   P3  After a move it stays for 1 ms at least. A move that was in vain doubles that, up to 64 ms.
//   P4  Its affinity is afterwards as it was before (leave_native_cpu() of this_thread.hpp).
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
#ifndef LOCKSTEP_DETAIL_TEAM_PARTING_HPP
#define LOCKSTEP_DETAIL_TEAM_PARTING_HPP

#include <cstddef>
#include <cstdint>

#include "../platform/cache_line.hpp"
#include "../platform/system.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// When to part: P2 and P3. Plain data of one thread.
class parting_pace {
 public:
  static constexpr unsigned enough_waits = 64;
  static constexpr std::uint64_t least_time = 1000000;
  static constexpr std::uint64_t most_rest = 64 * least_time;

  /// A wait at the time `now` shares its CPU with what it waits for. True if it is time to part.
  bool shared(std::uint64_t now) noexcept {
    if (now - first_ > 2 * least_time) {
      first_ = now;
      waits_ = 0;
    }
    if (++waits_ < enough_waits || now - first_ < least_time) return false;
    waits_ = 0;
    if (has_parted_ && now - parted_ < rest_) return false;
    const bool was_in_vain = has_parted_ && now - parted_ < 4 * rest_;
    rest_ = !was_in_vain ? least_time : 2 * rest_ < most_rest ? 2 * rest_ : most_rest;
    has_parted_ = true;
    parted_ = now;
    return true;
  }

 private:
  unsigned waits_ = 0;
  bool has_parted_ = false;
  std::uint64_t first_ = 0, parted_ = 0;
  std::uint64_t rest_ = least_time;
};

class parting_board {
 public:
  parting_board(std::size_t members, bool moves) : places_(members), moves_(moves) {}

  /// To be called by member `rank` in a wait for another one that its spin has not ended. True if that is
  /// known to have run on another CPU when it last said so. False after a move.
  LOCKSTEP_NOINLINE bool is_elsewhere(std::size_t rank, std::size_t other,
                                      std::uint64_t now) noexcept {
    const int cpu = detail::current_cpu();
    if (cpu < 0) return false;
    place& own = places_[rank].value;
    const std::uint32_t here = (static_cast<std::uint32_t>(cpu) + 1) & cpu_bits;
    own.turn += one_turn;
    own.word.store(own.turn | here, detail::memory_order_relaxed);                              // 1
    const std::uint32_t theirs = places_[other].value.word.load(detail::memory_order_relaxed);  // 2
    const std::uint32_t there = theirs & cpu_bits;
    if (there != here) return there != 0;
    const bool is_news = theirs != own.seen;  // else the other one may have left since
    own.seen = theirs;
    if (moves_ && rank != 0 && is_news && own.pace.shared(now)) {
      detail::leave_cpu(static_cast<unsigned>(cpu));
    }
    return false;
  }

 private:
  // word of a member: who may change what
  //   bits     name  meaning                                       set by
  //   0..16    cpu   the CPU that it ran on, and 1; 0: not said    its member
  //   17..31   turn  how often it has said so, modulo 2^15         its member
  // Either may be old: it moves without saying so.
  static constexpr std::uint32_t one_turn = 1u << 17;
  static constexpr std::uint32_t cpu_bits = one_turn - 1;

  struct place {
    detail::wait_word word{0};
    // Its member's own.
    std::uint32_t turn = 0, seen = 0;
    parting_pace pace;
  };

  detail::aligned_array<detail::padded<place>> places_;
  const bool moves_;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_PARTING_HPP
