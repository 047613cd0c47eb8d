// SPDX-License-Identifier: MIT
// lockstep/detail/wait/phase_board.hpp -- writers publish phases, readers wait for all of them (layer: wait)
//
// The common part of fan_out, fan_in, rendezvous and barrier; use those. Every writer has a phase
// number on a cache line of its own, which it alone advances. Every reader remembers the phase it has
// reached; a wait blocks until *each* writer is beyond it, so that a fast writer cannot stand in for a
// slow one, and a writer may run ahead without losing a notification.
//
// What happens before an advance happens before the return of every wait that needs it.
// Lifetime: guaranteed by structure: destroy only after every call on the board has returned. Waiters are
// registered under the board's address: so the board comes first in its object, whose destructor asks.
//
// Invariants
//   B1  A phase only ever grows by one, by its writer; differences are taken modulo 2^32, so that a
//       writer may be 2^31 - 1 phases ahead of a reader, and wrap-around is harmless.
//   B2  The phase a reader has reached and the phase a writer has published are kept once more as plain
//       data of that thread.
//   B3  terminated_ is set once and never cleared; a wait that finds it set returns false.
//
// Memory order (# marks the line; each weakening must fail a test)
//   #  access             order    pairs  why it suffices
//   1  phase.store        relaxed  -      before the board is given to other threads
//   2  phase.store        release  3      the reader sees what came before the advance
//   3  phase.load         acquire  2      the other half
//   4  terminated.store   release  5      the released waiter sees what came before terminate()
//   5  terminated.load    acquire  4      the other half
//
// The store 2 (or 4) and the look at the mark that follows it are the notifier's side of
// sleeper_mark.hpp, ready() after the announcement is the sleeper's side.
//
// Cost   advance: one store, one load of a read-mostly line; no read-modify-write. Wait for W writers:
//        W line fetches, in parallel where they have all arrived. A published line is never read by its
//        writer, neither for its phase (B2) nor for a mark: a look at it waits until the store before it
//        has claimed the line back from those who poll it. A barrier of 2 takes 1.0 t1 without such a
//        look, 1.3 with one (measured for both, 2 virtual CPUs of an EPYC).
//
// A line has room to spare: a board may carry a Payload beside each phase, written before the advance
// that announces it, so that readers get both with one fetch (team: the job).
#ifndef LOCKSTEP_DETAIL_WAIT_PHASE_BOARD_HPP
#define LOCKSTEP_DETAIL_WAIT_PHASE_BOARD_HPP

#include <cstddef>
#include <cstdint>

#include "../platform/cache_line.hpp"
#include "sleeper_mark.hpp"
#include "word_waiter.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

struct no_payload {};

template <class Payload>
class basic_phase_board {
 public:
  basic_phase_board(std::size_t writers, std::size_t readers, wait_policy policy,
                    std::uint32_t first_phase)
      : lines_(writers), writers_(writers), readers_(readers), marks_(writers), policy_(policy) {
    detail::process_fence::prepare();
    for (std::size_t i = 0; i < writers; ++i) {
      lines_[i].value.phase.store(first_phase, detail::memory_order_relaxed);  // 1
      writers_[i].value = first_phase;
    }
    for (std::size_t i = 0; i < readers; ++i) readers_[i].value.phase = first_phase;
  }

  std::size_t writers() const noexcept { return lines_.size(); }
  std::size_t readers() const noexcept { return readers_.size(); }
  wait_policy policy() const noexcept { return policy_; }

  /// To be written by the writer before it advances, while no reader may read it.
  Payload& payload(std::size_t writer) noexcept { return lines_[writer].value.payload; }

  /// Publishes the writer's next phase.
  void advance(std::size_t writer) {
    const std::uint32_t next = ++writers_[writer].value;
    lines_[writer].value.phase.store(next, detail::memory_order_release);  // 2
    marks_[writer].notify(fence_payer_of(policy_));
  }

  /// Waits until `count` writers from `first` on, modulo writers(), are beyond the reader's phase, then
  /// moves the reader on. Readers that begin with different writers disturb each other less.
  wait_status wait_until(std::size_t reader, std::size_t first, std::size_t count, deadline until) {
    reader_state& self = readers_[reader].value;
    const std::uint32_t target = self.phase + 1;
    for (std::size_t i = 0, writer = first; i < count; ++i, ++writer) {
      if (writer >= writers()) writer = 0;
      phase_reached condition{*this, writer, target};
      if (!wait_watched(condition, this, policy_, self.history, until,
                        wait_engine::shared_yield_time))
        return wait_status::timed_out;
    }
    if (terminated()) return wait_status::terminated;
    self.phase = target;
    return wait_status::ready;
  }

  /// True, and moves the reader on, if a wait would return true at once; never blocks.
  bool try_wait(std::size_t reader) noexcept {
    reader_state& self = readers_[reader].value;
    if (terminated()) return false;
    for (std::size_t writer = 0; writer < writers(); ++writer) {
      if (!reached(writer, self.phase + 1)) return false;
    }
    ++self.phase;
    return true;
  }

  void terminate() {
    terminated_.store(1, detail::memory_order_release);  // 4
    for (std::size_t writer = 0; writer < writers(); ++writer) {
      marks_[writer].notify(fence_payer_of(policy_));
    }
  }
  bool terminated() const noexcept {
    return terminated_.load(detail::memory_order_acquire) != 0;  // 5
  }

 private:
  struct writer_line {
    detail::wait_word phase{0};
    Payload payload;
  };
  struct reader_state {
    std::uint32_t phase = 0;
    wait_history history = {};
  };

  /// What the wait engine looks at.
  struct phase_reached {
    basic_phase_board& board;
    std::size_t writer;
    std::uint32_t target;

    bool ready() const noexcept { return board.reached(writer, target) || board.terminated(); }
    void sleep(deadline until) {
      board.marks_[writer].sleep(*this, until, fence_payer_of(board.policy_));
    }
  };

  bool reached(std::size_t writer, std::uint32_t target) const noexcept {
    const std::uint32_t phase = lines_[writer].value.phase.load(detail::memory_order_acquire);  // 3
    return static_cast<std::int32_t>(phase - target) >= 0;
  }

  detail::line_gap before_;
  detail::aligned_array<detail::padded<writer_line>> lines_;
  detail::aligned_array<detail::padded<std::uint32_t>> writers_;
  detail::aligned_array<detail::padded<reader_state>> readers_;
  detail::aligned_array<sleeper_mark> marks_;
  detail::wait_word terminated_{0};
  wait_policy policy_;
  detail::line_gap after_;
};

using phase_board = basic_phase_board<no_payload>;

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_WAIT_PHASE_BOARD_HPP
