// SPDX-License-Identifier: MIT
// lockstep/team/claim_board.hpp -- who runs which share of a loop: each share is claimed first (layer: team)
//
// A loop's function does not see which member runs which iterations. So the share of a member that has not
// come yet may be run by another one, and nobody waits for a thread that has not begun. One word for each
// rank says for which phase of fork_board.hpp its share was last claimed.
//
// Invariants
//   K1  In every phase a share is claimed once: by a compare-and-swap from what the word was before, which
//       only the first one sees there.
//   K2  A phase ends only when every share of it has been claimed and run. So who claims a share knows that
//       the phase goes on until it reports, and may read the order of the region only then.
//   K3  Who claims a share for a phase has seen the phase on the line of its member, or has put it there. And a member
//       reads its word before its line. So the phase that it finds is never behind its word: it is the
//       same, and the share is gone, or a later one.
//   K4  A member may be stopped between its looks and its claim for as long as it likes: meanwhile the word has
//       changed, and the claim fails. No word is so old that its phase comes again (F5 of fork_board.hpp).
//
// Memory order (# marks the line; each weakening must fail a test)
//   #  access              order    pairs  why it suffices
//   1  word.load           acquire  2      K3: the phase that is read next is not behind
//   2  word.compare_exch   release  1      the other half. What the share needs was ordered by the phase, and what
//                                          it does will be by its report
//   3  word.load           relaxed  -      by who takes part in the phase: all earlier changes are ordered before
//                                          it, and another claim for it lets 2 fail
//   4  word.store          relaxed  -      while no worker lives
//
// Cost   one RMW on a line that only its member touches, 6 ns, while it is in time. A line of its own: the
//        reports are polled by who collects them, and a claim beside them would have to take the line
//        back from there before the share can begin.
#ifndef LOCKSTEP_TEAM_CLAIM_BOARD_HPP
#define LOCKSTEP_TEAM_CLAIM_BOARD_HPP

#include <cstddef>
#include <cstdint>

#include "../platform/atomic.hpp"
#include "../platform/cache_line.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {

class claim_board {
 public:
  explicit claim_board(std::size_t members) : words_(members) {}

  /// For which phase the share was claimed last. By its member, before it looks for the phase.
  std::uint32_t last_claim(std::size_t rank) const noexcept {
    return words_[rank].value.load(platform::memory_order_acquire);  // 1
  }
  /// By its member: claims its share of `phase`, which it has read after last_claim() returned `last`.
  bool try_claim(std::size_t rank, std::uint32_t last, std::uint32_t phase) noexcept {
    return last != phase &&
           words_[rank].value.compare_exchange_strong(last, phase,
                                                      platform::memory_order_release,   // 2
                                                      platform::memory_order_relaxed);  // 3
  }
  /// By a thread that takes part in `phase`: claims the share of a member that has not come.
  bool try_take(std::size_t rank, std::uint32_t phase) noexcept {
    const std::uint32_t last = words_[rank].value.load(platform::memory_order_relaxed);  // 3
    return try_claim(rank, last, phase);
  }

  /// As if all shares had been claimed for `phase`. While no worker lives.
  void reset(std::uint32_t phase) noexcept {
    for (std::size_t rank = 0; rank < words_.size(); ++rank) {
      words_[rank].value.store(phase, platform::memory_order_relaxed);  // 4
    }
  }

 private:
  platform::aligned_array<platform::padded<platform::wait_word>> words_;
};

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_TEAM_CLAIM_BOARD_HPP
