// SPDX-License-Identifier: MIT
// lockstep/detail/team/loop_claims.hpp -- who runs which share of a loop: each is claimed first (layer: team)
//
// A loop's function does not see which member runs which iterations. So every member has a share of the loop, and
// the thread that claims a share runs it: the member itself as long as it is in time, others where it is late, has
// lost its CPU, or is slow. Nobody waits for a thread that has not begun. Two protocols:
//   share_board   loops that are regions of their own: shares are cut into parts, and each part is claimed
//   share_claims  loops inside a region, which end with a phase of the barrier: whole shares are claimed
#ifndef LOCKSTEP_DETAIL_TEAM_LOOP_CLAIMS_HPP
#define LOCKSTEP_DETAIL_TEAM_LOOP_CLAIMS_HPP

#include <cstddef>
#include <cstdint>

#include "../platform/atomic.hpp"
#include "../platform/cache_line.hpp"
#include "fork_lines.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

// The parts of loops that are regions.
//
//   bits    of a share's word   changed by claims alone
//   63..32  phase               of the loop in which the share was claimed last (fork_lines.hpp)
//   15..0   parts left          that nobody has claimed yet in that loop
//
//   PART-1  In every loop each part is claimed once: by a compare-and-swap from what the word was before. No word
//           comes again (FORK-5 of fork_board.hpp), so a claim from an old one fails.
//   PART-2  A loop ends only when each of its shares was reported. A share is reported when all its parts have been
//           run. So a thread that has claimed a part knows that the loop goes on until it has said that the part is
//           finished, and may read the region only in between.
//   PART-3  A thread that claims has read the word before the line that announces the loop. If the word is of that
//           loop, or of one before it, and has not changed until the claim, the line was that of the loop. If the
//           word still has parts, its loop goes on, and the line is of no other.
//   PART-4  The thread that finishes the last part of a share reports the share, with all that was done for it before.
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
//   word of a rank: the number of a loop, times four, and a state
//   state    meaning                                       set by                            from
//   settled  the member has claimed the share itself, or   the member, or the one that runs  settled of the loop
//            it is done                                    it in its place                   before, taken, awaited
//   taken    another member runs it                        that one, before it begins        settled of the loop before
//   awaited  the same, and its member has come             the member                        taken
//
//   SHARE-1  Before the phase at the end of loop n every word is settled for n: its member arrives after it has found
//            the word so, or the member that took the share arrives for it when the share is done.
//   SHARE-2  While a member is in loop n, words are settled for n - 1 or are of n, since nobody leaves loop n before
//            all have arrived. So a change from `settled for n - 1` happens once, and exact values are enough: a word
//            is never old, and numbers may wrap.
//   SHARE-3  Regions of another size, and those that were stopped, leave words that lag behind. Then all words, and
//            the counts of all members, begin at 0 again (group.hpp).
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

#endif  // LOCKSTEP_DETAIL_TEAM_LOOP_CLAIMS_HPP
