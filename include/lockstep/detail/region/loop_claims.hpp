// SPDX-License-Identifier: MIT
// lockstep/detail/region/loop_claims.hpp -- who runs which share of a loop: each is claimed first (layer: region)
//
// The function of a loop does not see which member runs which iterations. So each member has a share of the loop, and
// the thread that claims a share runs it: the member itself as long as it is in time, another thread where the member is
// late, has lost its CPU, or is slow. Nobody waits for a thread that has not begun. There are two protocols:
//   share_board   for loops that are regions of their own: shares are cut into parts, and each part is claimed
//   share_claims  for loops inside a region, which end with a phase of the barrier: whole shares are claimed
#ifndef LOCKSTEP_DETAIL_REGION_LOOP_CLAIMS_HPP
#define LOCKSTEP_DETAIL_REGION_LOOP_CLAIMS_HPP

#include <cstddef>
#include <cstdint>

#include "../platform/atomic.hpp"
#include "../platform/cache_line.hpp"
#include "announcement.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

// The parts of loops that are regions.
//
//   bits of a share's word  name   meaning                                       changed by
//   63..32                  phase  of the loop whose parts were claimed last     the first claim in each loop
//   31..0                   left   how many parts of the share nobody has        each claim: one less
//                                  claimed yet in that loop
// Both may lag behind: before the first claim in a loop the word is still of an earlier one. Then all parts are left.
//
//   bits of `finished`      meaning                                              changed by
//   31..0                   how many parts of the share have been run in this    each finished part: one more; the last
//                           loop; 0 where shares have one part                   one of the share: 0
//
//   PART-1  In every loop each part is claimed once: by a compare-and-swap from the word that was read before. No word
//           comes again (ANNOUNCE-5 of region_board.hpp), so a claim from an old word fails.
//   PART-2  A loop ends only when all its shares were reported. A share is reported when all its parts have been run.
//           So a loop goes on from the claim of a part until finish() of that part. In between its thread may read
//           what belongs to the region, and at no other time.
//   PART-3  A thread that claims reads the word first, and then the line that announces the loop. If the claim
//           succeeds, the word has not changed in between, and the line was that of the loop. For if the word has
//           parts left, its loop goes on, and no other loop is announced. If it has none, it is of a loop before.
//   PART-4  The thread that finishes the last part of a share reports the share. What was done for the share before
//           happens before the report.
//
// Memory order (# marks the line; each weakening must fail a test)
//   #  access              order    pairs  why it suffices
//   1  word.load           acquire  2      PART-3: the line that is read next is not behind the word
//   2  word.compare_exch   release  1      the other half. What the part needs was ordered by the announcement, and
//                                          what it does will be by the report
//   3  word.compare_exch   relaxed  -      it failed: 1 comes again
//   4  finished.fetch_add  acq_rel  4      PART-4: the last comes after all others
//   5  finished.store      relaxed  -      the report orders it before the next loop's
//   6  word.store          relaxed  -      while no worker lives, or by the caller for its own, between loops
//   7  came.store          relaxed  -      a time, for statistics
//   8  came.load           relaxed  -      as 7
//
// Cost   one RMW on a line that only its member touches, 6 ns, while it is in time; two for each part where there
//        are several. The word has a line of its own: reports are polled by the member that collects them, and a
//        claim beside a report would have to take the line back from there before the share can begin.
class share_board {
 public:
  enum class outcome { claimed, none_left, changed };

  explicit share_board(std::size_t members) : shares_(members) {}

  /// The word of a share. To be read before the announcement that it is claimed by.
  std::uint64_t look(std::size_t rank) const noexcept {
    return shares_[rank].value.word.load(detail::memory_order_acquire);  // 1
  }
  /// Claims the next part of a share, after look() and the announcement of a loop that has this rank: `part` is its
  /// number. `changed`: another thread has claimed meanwhile; look again.
  outcome try_claim(std::size_t rank, std::uint64_t seen, announcement of,
                    std::uint32_t& part) noexcept {
    const bool is_first = phase_of(seen) != of.phase();
    if (!is_first && left_of(seen) == 0) return outcome::none_left;
    const std::uint64_t next = is_first ? word_of(of.phase(), of.parts() - 1) : seen - 1;
    if (!shares_[rank].value.word.compare_exchange_strong(seen, next,
                                                          detail::memory_order_release,     // 2
                                                          detail::memory_order_relaxed)) {  // 3
      return outcome::changed;
    }
    part = of.parts() - 1 - left_of(next);
    return outcome::claimed;
  }

  /// After a claimed part was run. True for the thread that finishes the share: it must report it.
  bool finish(std::size_t rank, announcement of) noexcept {
    if (of.parts() == 1) return true;
    share& at = shares_[rank].value;
    const std::uint32_t before = at.finished.fetch_add(1, detail::memory_order_acq_rel);  // 4
    if (before + 1 != of.parts()) return false;
    at.finished.store(0, detail::memory_order_relaxed);  // 5
    return true;
  }

  /// As if the share had been claimed in `phase`. While no worker lives, or by the caller of loops for rank 0.
  void reset(std::size_t rank, std::uint32_t phase) noexcept {
    shares_[rank].value.word.store(word_of(phase, 0), detail::memory_order_relaxed);  // 6
    shares_[rank].value.finished.store(0, detail::memory_order_relaxed);              // 5
  }

  /// When the member last came out of a sleep to a region, by the clock.
  void note_coming(std::size_t rank, std::uint64_t now) noexcept {
    shares_[rank].value.came.store(now, detail::memory_order_relaxed);  // 7
  }
  std::uint64_t last_coming(std::size_t rank) const noexcept {
    return shares_[rank].value.came.load(detail::memory_order_relaxed);  // 8
  }

 private:
  struct share {
    detail::atomic<std::uint64_t> word{0};
    detail::atomic<std::uint64_t> came{0};
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

// The shares of loops inside a region. All members come to the same loops in the same order, and each loop ends with a
// phase of the barrier. So the share of a member that has not come yet may be run by one that waits there. One word
// for each rank says how far its shares are. Loops are counted, and each moves each word on by one.
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

#endif  // LOCKSTEP_DETAIL_REGION_LOOP_CLAIMS_HPP
