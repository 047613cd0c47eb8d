// SPDX-License-Identifier: MIT
// src/region/share_claims.hpp -- who runs which share of a loop inside a region: each is claimed first (layer: region)
//
// All members come to the same loops in the same order, and each loop ends with a phase of the barrier. So the share of a
// member that has not come yet may be run by one that waits there. One word for each rank says how far its shares are.
// Loops are counted, and each moves each word on by one. For loops that are regions see share_board.hpp.
//
//   bits of a rank's word  meaning
//   31..2                  the number of a loop, modulo 2^30
//   1..0                   the state in that loop:
//
//   state    bits  meaning                                set by                             from
//   settled  00    the member has claimed the share, or   the member, or the one that has    settled of the loop
//                  the share is done                      run the share in its place         before, taken, awaited
//   taken    01    another member runs the share          that member, before it begins      settled of the loop before
//   awaited  10    another member runs it, and the        the member that comes late         taken
//                  member itself has come
// A word may be of the loop before: then nobody has claimed the share in this one. It is never older (SHARE-2).
//
//   SHARE-1  When the phase at the end of loop n is over, every word is settled for n. Either the member has found its
//            word settled, and has arrived; or another member took the share, and has arrived for it when the share
//            was done.
//   SHARE-2  While any member is in loop n, each word is settled for n - 1 or is of n, because nobody leaves loop n
//            before all have arrived. So the change from `settled for n - 1` happens once in each loop. Words are
//            compared for equality only, so their numbers may wrap.
//   SHARE-3  A region of another size, or one that was stopped, leaves words that lag behind. Then all words, and the
//            counts of all members, begin at 0 again (group.hpp).
//
// Memory order (# marks the line; each weakening must fail a test)
//   #  access              order    pairs  why it suffices
//   1  word.compare_exch   relaxed  -      a claim hands over nothing: what a share needs, and what its member wrote in
//                                          earlier phases, is ordered by the barrier
//   2  word.compare_exch   release  5      what the member did before is in the arrival that another makes for it
//   3  word.load           acquire  4      what was done in the share is in the arrival of its member
//   4  word.compare_exch   release  3      the other half
//   5  word.load           acquire  2      the other half
//   6  word.store          relaxed  -      the arrival that follows publishes it, or the next region
//   7  word.load           relaxed  -      a look, so that a claim in vain does not take the line away
//
// Cost   one RMW on a line that only its member touches, 6 ns, while it is in time.
#ifndef LOCKSTEP_SRC_REGION_SHARE_CLAIMS_HPP
#define LOCKSTEP_SRC_REGION_SHARE_CLAIMS_HPP

#include <cstddef>
#include <cstdint>

#include <lockstep/detail/platform/atomic.hpp>
#include <lockstep/detail/platform/cache_line.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

class share_claims {
 public:
  explicit share_claims(std::size_t members) : words_(members) {}

  /// What a member finds of its share when it comes: nobody has it, so that it is its own now; it is done; or
  /// another runs it and will arrive for this member.
  enum class found { free, done, running };

  /// By the member, once a loop.
  found claim(std::size_t rank, std::uint32_t loop) noexcept {
    detail::wait_word& word = words_[rank].value;
    std::uint32_t seen = settled(loop - 1);
    if (word.compare_exchange_strong(seen, settled(loop), detail::memory_order_relaxed,  // 1
                                     detail::memory_order_relaxed)) {                    // 1
      return found::free;
    }
    seen = taken(loop);
    if (word.compare_exchange_strong(seen, awaited(loop), detail::memory_order_release,  // 2
                                     detail::memory_order_relaxed)) {                    // 1
      return found::running;
    }
    static_cast<void>(word.load(detail::memory_order_acquire));  // 3
    return found::done;
  }

  /// By another member, in the loop. If true it runs the share, and calls finish().
  bool try_take(std::size_t rank, std::uint32_t loop) noexcept {
    detail::wait_word& word = words_[rank].value;
    std::uint32_t seen = settled(loop - 1);
    return word.load(detail::memory_order_relaxed) == seen &&                             // 7
           word.compare_exchange_strong(seen, taken(loop), detail::memory_order_relaxed,  // 1
                                        detail::memory_order_relaxed);                    // 1
  }
  /// The share that was taken is done. True if its member has come meanwhile: the caller has to arrive for it.
  bool finish(std::size_t rank, std::uint32_t loop) noexcept {
    detail::wait_word& word = words_[rank].value;
    std::uint32_t seen = taken(loop);
    if (word.compare_exchange_strong(seen, settled(loop), detail::memory_order_release,  // 4
                                     detail::memory_order_relaxed)) {                    // 1
      return false;
    }
    static_cast<void>(word.load(detail::memory_order_acquire));  // 5
    word.store(settled(loop), detail::memory_order_relaxed);     // 6
    return true;
  }

  /// The next loop is number 1. Between regions.
  void reset() noexcept {
    for (std::size_t rank = 0; rank < words_.size(); ++rank) {
      words_[rank].value.store(settled(0), detail::memory_order_relaxed);  // 6
    }
  }

 private:
  static constexpr std::uint32_t settled(std::uint32_t loop) noexcept { return loop << 2; }
  static constexpr std::uint32_t taken(std::uint32_t loop) noexcept { return loop << 2 | 1u; }
  static constexpr std::uint32_t awaited(std::uint32_t loop) noexcept { return loop << 2 | 2u; }

  detail::aligned_array<detail::padded<detail::wait_word>> words_;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_REGION_SHARE_CLAIMS_HPP
