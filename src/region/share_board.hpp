// SPDX-License-Identifier: MIT
// src/region/share_board.hpp -- who runs which part of a loop (layer: region)
//
// The function of a loop does not see which member runs which iterations. So each member has a share of the loop, cut
// into parts, and the thread that claims a part runs it. Usually that is the member itself. Another thread claims where
// the member is late, has lost its CPU, or is slow. So there is no wait for a thread that has not begun. Two kinds of
// loops are claimed here, each on a board of its own: loops that are a region (region_board.hpp), and loops inside a
// region that end with a phase of the barrier (loops.hpp).
//
//   bits of a share's word  name   meaning                                       changed by
//   63..32                  phase  of the loop whose parts were claimed last     the first claim in each loop
//   31..0                   left   how many parts of the share are still         each claim: one less
//                                  unclaimed in that loop
// The word may lag behind: before the first claim in a loop it belongs to an earlier loop. Then all parts are left.
//
//   bits of `finished`      meaning                                              changed by
//   31..0                   how many have finished with the share in this loop;  each of them: one more; the last: 0
//                           0 where one is enough
//
//   PART-1  In every loop each part is claimed once: by a compare-and-swap from the word that was read before. No word
//           comes again (ANNOUNCE-5 of region_board.hpp), so a claim from an old word fails.
//   PART-2  A share is reported when all its parts have been run, and a loop ends when all its shares are reported. So
//           a loop cannot end between the claim of a part and finish() of that part. Only in between may the claiming
//           thread read what belongs to the region.
//   PART-3  A thread that claims reads the word first, and then the line that announces the loop. If the claim
//           succeeds, the word has not changed in between, and the line was that of the loop: if the word has parts
//           left, its loop goes on, and no other loop is announced. If it has none, it is of an earlier loop.
//   PART-4  The last that finishes with a share reports it. What was done for the share happens before the report.
//   PART-5  Inside a region the phase is the number of the loop, counted by the members, and each share has one part.
//           All members come to the same loops, and none leaves a loop before all have arrived. So each word is of loop
//           n - 1 until the share of loop n is claimed, and a claim succeeds only from that word. A late claimer may
//           find a later loop's word. If a share was taken over, the member finishes with it when it comes, and the
//           other thread when the share is done. The last of the two arrives for the member in the barrier: that is the
//           report. After a region that was stopped or had another size, words lag behind: all words and the members'
//           counts restart at 0 (group.hpp).
//
// Memory order (# marks the line; each weakening must fail a test)
//   #  access              order    pairs  why it suffices
//   1  word.load           acquire  2      PART-3: the line that is read next is not behind the word
//   2  word.compare_exch   release  1      the other half. What the part needs was ordered by the announcement or the
//                                          barrier, and what it does will be by the report
//   3  word.compare_exch   relaxed  -      it failed: 1 comes again
//   4  finished.fetch_add  acq_rel  4      PART-4: the last one sees what all others did
//   5  finished.store      relaxed  -      the report orders it before the next loop's
//   6  word.store          relaxed  -      while no worker lives; by the caller: for its own between loops, or for all
//                                          before a region
//
// Cost   while the member is in time: one RMW, 6 ns, on a line that only this member touches. With several parts: two
//        RMWs a part. The word has a line of its own: the member that collects polls the report's line, and a claim
//        there would have to take that line back before the share can begin.
#ifndef LOCKSTEP_SRC_REGION_SHARE_BOARD_HPP
#define LOCKSTEP_SRC_REGION_SHARE_BOARD_HPP

#include <cstddef>
#include <cstdint>

#include <lockstep/detail/platform/atomic.hpp>
#include <lockstep/detail/platform/cache_line.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

class share_board {
 public:
  enum class outcome { claimed, none_left, changed };

  explicit share_board(std::size_t members) : shares_(members) {}

  /// The word of a share. Read it before the announcement that the claim uses.
  std::uint64_t look(std::size_t rank) const noexcept {
    return shares_[rank].value.word.load(detail::memory_order_acquire);  // 1
  }
  /// Claims the next part of a share; `part` gets its number. Call look() first, then read the phase of a loop that
  /// has this rank, and how many `parts` its shares have. `changed`: another thread has claimed meanwhile; look again.
  outcome try_claim(std::size_t rank, std::uint64_t seen, std::uint32_t phase, std::uint32_t parts,
                    std::uint32_t& part) noexcept {
    const bool is_first = phase_of(seen) != phase;
    if (!is_first && left_of(seen) == 0) return outcome::none_left;
    const std::uint64_t next = is_first ? word_of(phase, parts - 1) : seen - 1;
    if (!shares_[rank].value.word.compare_exchange_strong(seen, next,
                                                          detail::memory_order_release,     // 2
                                                          detail::memory_order_relaxed)) {  // 3
      return outcome::changed;
    }
    part = parts - 1 - left_of(next);
    return outcome::claimed;
  }

  /// `count` threads finish with a share. True for the last of them: it must report the share.
  bool finish(std::size_t rank, std::uint32_t count) noexcept {
    if (count == 1) return true;
    share& at = shares_[rank].value;
    const std::uint32_t before = at.finished.fetch_add(1, detail::memory_order_acq_rel);  // 4
    if (before + 1 != count) return false;
    at.finished.store(0, detail::memory_order_relaxed);  // 5
    return true;
  }

  /// The word of a share whose parts have all been claimed in `phase`.
  static constexpr std::uint64_t all_claimed(std::uint32_t phase) noexcept {
    return word_of(phase, 0);
  }
  /// Sets the share as if all its parts had been claimed in `phase`.
  void reset(std::size_t rank, std::uint32_t phase) noexcept {
    shares_[rank].value.word.store(all_claimed(phase), detail::memory_order_relaxed);  // 6
    shares_[rank].value.finished.store(0, detail::memory_order_relaxed);               // 5
  }

 private:
  struct share {
    detail::atomic<std::uint64_t> word{0};
    detail::wait_word finished{0};
  };

  static constexpr std::uint64_t word_of(std::uint32_t phase, std::uint32_t left) noexcept {
    return std::uint64_t{phase} << 32 | left;
  }
  static constexpr std::uint32_t phase_of(std::uint64_t word) noexcept {
    return static_cast<std::uint32_t>(word >> 32);
  }
  static constexpr std::uint32_t left_of(std::uint64_t word) noexcept {
    return static_cast<std::uint32_t>(word);
  }

  detail::aligned_array<detail::padded<share>> shares_;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_REGION_SHARE_BOARD_HPP
