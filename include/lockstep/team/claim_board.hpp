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
//   K3  A member reads its word before it reads the phase on its line. If the phase has ended in between,
//       the word has changed, and the claim fails: however long the member was stopped at that point,
//       unless exactly 2^31 phases have passed, or a multiple.
//
// Memory order (# marks the line; each weakening must fail a test)
//   #  access              order    pairs  why it suffices
//   1  word.load           acquire  2      the phase that is read next is that of the last claim, or a later one: K3
//   2  word.compare_exch   release  1      the other half. What the claim gives access to was ordered by the phase
//   3  word.load           relaxed  -      by a thread that knows the phase: the word was not changed since but
//                                          by claims for the same phase, which let 2 fail
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
  bool try_claim_own(std::size_t rank, std::uint32_t last, std::uint32_t phase) noexcept {
    return last != phase && replace(rank, last, phase);
  }
  /// By a thread that takes part in `phase`: claims the share of a member that has not come.
  bool try_take(std::size_t rank, std::uint32_t phase) noexcept {
    const std::uint32_t last = words_[rank].value.load(platform::memory_order_relaxed);  // 3
    return last != phase && replace(rank, last, phase);
  }

  /// As new. While no worker lives.
  void reset(std::uint32_t first_phase) noexcept {
    for (std::size_t rank = 0; rank < words_.size(); ++rank) {
      words_[rank].value.store(first_phase, platform::memory_order_relaxed);  // 4
    }
  }

 private:
  bool replace(std::size_t rank, std::uint32_t last, std::uint32_t phase) noexcept {
    return words_[rank].value.compare_exchange_strong(last, phase,
                                                      platform::memory_order_release,   // 2
                                                      platform::memory_order_relaxed);  // 3
  }

  platform::aligned_array<platform::padded<platform::wait_word>> words_;
};

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_TEAM_CLAIM_BOARD_HPP
