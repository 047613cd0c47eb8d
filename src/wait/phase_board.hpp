// SPDX-License-Identifier: MIT
// lockstep/detail/wait/phase_board.hpp -- writers publish phases, readers wait for all of them (layer: wait)
//
// The common part of fan_out, fan_in and fan_in_out; use those. Every writer has a phase number that it alone
// advances. Every reader remembers the phase that it has reached. A wait blocks until *each* writer is beyond
// that phase: a fast writer cannot stand in for a slow one, and may run ahead without losing a notification.
//
// What happens before an advance happens before the return of every wait that needs it.
// Lifetime: destroy only after every call on the board has returned. Waiters are registered under the board's
// address (misuse.hpp): the object that holds the board asks for it in its destructor.
//
//   BOARD-1  A phase only ever grows by one, by its writer. Differences are taken modulo 2^32: a writer may be
//            2^31 - 1 phases ahead of a reader, and wrap-around is harmless.
//   BOARD-2  The phase that a writer has published is kept once more as plain data of that writer, which therefore
//            never reads its published line.
//   BOARD-3  terminated_ is set once and never cleared; a wait that finds it set returns `terminated`.
//
// Memory order (# marks the line; published_words.hpp has the rest)
//   #  access            order    pairs  why it suffices
//   1  terminated.store  release  2      the released waiter sees what came before terminate()
//   2  terminated.load   acquire  1      the other half
//
// Cost   advance: one store, one load of a read-mostly line. Wait for W writers: W line fetches, in parallel
//        where they have all arrived.
#ifndef LOCKSTEP_DETAIL_WAIT_PHASE_BOARD_HPP
#define LOCKSTEP_DETAIL_WAIT_PHASE_BOARD_HPP

#include <cstddef>
#include <cstdint>

#include <lockstep/detail/platform/cache_line.hpp>
#include <lockstep/detail/wait/published_words.hpp>
#include <lockstep/detail/wait/word_waiter.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

class phase_board {
 public:
  /// `kind`: what observers know it by.
  phase_board(std::size_t writers, std::size_t readers, wait_policy policy,
              std::uint32_t first_phase, wait_kind kind = wait_kind::of_construct)
      : kind_(kind), phases_(writers, policy), written_(writers), readers_(readers) {
    phases_.reset(first_phase, writers);
    for (std::size_t i = 0; i < writers; ++i) written_[i].value = first_phase;
    for (std::size_t i = 0; i < readers; ++i) readers_[i].value.phase = first_phase;
  }

  std::size_t writers() const noexcept { return written_.size(); }
  std::size_t readers() const noexcept { return readers_.size(); }
  wait_policy policy() const noexcept { return phases_.policy(); }

  /// Publishes the writer's next phase.
  void advance(std::size_t writer) { phases_[writer].publish(++written_[writer].value); }

  /// Waits until every writer is beyond the reader's phase, then moves the reader on. Begins with writer `first`:
  /// readers that begin with different writers disturb each other less.
  wait_status wait_until(std::size_t reader, std::size_t first, deadline until,
                         call_site where = call_site::none()) {
    reader_state& self = readers_[reader].value;
    const phase_reached next{self.phase + 1};
    for (std::size_t i = 0, writer = first; i < writers(); ++i, ++writer) {
      if (writer == writers()) writer = 0;
      if (next(phases_[writer].value())) continue;
      auto what =
          phases_[writer].awaited(next, stops_when_set{terminated_}, notifiers{*this, next, where});
      if (!wait_watched(what, this, policy(), self.history, until, wait_engine::shared_yield_time))
        return wait_status::timed_out;
    }
    if (terminated()) return wait_status::terminated;
    self.phase = next.target;
    return wait_status::ready;
  }

  /// True, and moves the reader on, if a wait would return at once; never blocks.
  bool try_wait(std::size_t reader) noexcept {
    reader_state& self = readers_[reader].value;
    const phase_reached next{self.phase + 1};
    if (terminated()) return false;
    for (std::size_t writer = 0; writer < writers(); ++writer) {
      if (!next(phases_[writer].value())) return false;
    }
    self.phase = next.target;
    return true;
  }

  void terminate() {
    terminated_.store(1, detail::memory_order_release);  // 1
    phases_.wake_all();
  }
  bool terminated() const noexcept {
    return terminated_.load(detail::memory_order_acquire) != 0;  // 2
  }

 private:
  /// For observers.
  struct notifiers {
    const phase_board& of;
    phase_reached next;
    source_place where;

    void describe(wait_subject& to) const noexcept {
      to.kind = of.kind_;
      to.object = &of;
      to.where = where;
      to.rank = wait_subject::nobody;
      if (of.writers() == 1) return;  // which one that is needs no telling
      to.expected = static_cast<std::uint32_t>(of.writers());
      for (std::size_t writer = 0; writer < of.writers() && writer < 64; ++writer) {
        if (next(of.phases_[writer].peek())) to.come |= std::uint64_t{1} << writer;
      }
    }
  };

  struct reader_state {
    std::uint32_t phase = 0;
    wait_history history = {};
  };

  detail::line_gap before_;
  const wait_kind kind_;
  published_words<std::uint32_t> phases_;
  detail::aligned_array<detail::padded<std::uint32_t>> written_;
  detail::aligned_array<detail::padded<reader_state>> readers_;
  detail::wait_word terminated_{0};
  detail::line_gap after_;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_WAIT_PHASE_BOARD_HPP
