// SPDX-License-Identifier: MIT
// src/toolbox/phase_board.cpp -- phases on lines of their writers (layer: toolbox)
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
#include <lockstep/detail/toolbox/phase_board.hpp>

#include <lockstep/detail/platform/cache_line.hpp>
#include <lockstep/detail/platform/system.hpp>
#include "../wait/published_words.hpp"

#include "../wait/misuse_registry.hpp"
#include "../wait/word_waiter.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

struct phase_board::state {
  struct reader_state {
    std::uint32_t phase = 0;
    wait_history history = {};
  };

  line_gap before;
  const wait_kind kind;
  published_words<std::uint32_t> phases;
  aligned_array<padded<std::uint32_t>> written;
  aligned_array<padded<reader_state>> readers;
  wait_word terminated{0};
  line_gap after;

  state(std::size_t writers, std::size_t how_many_readers, wait_policy policy,
        std::uint32_t first_phase, wait_kind its_kind)
      : kind(its_kind),
        phases(writers, policy.when_crowded(writers + how_many_readers > usable_cpus())),
        written(writers),
        readers(how_many_readers) {
    phases.reset(first_phase, writers);
    for (std::size_t i = 0; i < writers; ++i) written[i].value = first_phase;
    for (std::size_t i = 0; i < how_many_readers; ++i) readers[i].value.phase = first_phase;
  }
};

/// A wait for one of the writers.
struct phase_board::next_phase final : awaited_word<std::uint32_t, phase_reached, stops_when_set> {
  const phase_board& of;
  const phase_reached next;
  const source_place where;

  next_phase(const phase_board& board, std::size_t writer, phase_reached phase,
             call_site from) noexcept
      : awaited_word(board.state_->phases[writer], phase, {board.state_->terminated}),
        of(board),
        next(phase),
        where(from) {}

  void describe(wait_subject& to) const noexcept override {
    awaited_word::describe(to);
    to.kind = of.state_->kind;
    to.object = &of;
    to.where = where;
    to.rank = wait_subject::nobody;
    if (of.writers() == 1) return;  // no need to say which one
    to.expected = static_cast<std::uint32_t>(of.writers());
    for (std::size_t writer = 0; writer < of.writers() && writer < 64; ++writer) {
      if (next(of.state_->phases[writer].peek())) to.come |= std::uint64_t{1} << writer;
    }
  }
};

LOCKSTEP_INLINE phase_board::phase_board(std::size_t writers, std::size_t readers,
                                         wait_policy policy, std::uint32_t first_phase,
                                         wait_kind kind)
    : state_(new state(writers, readers, policy, first_phase, kind)) {}
LOCKSTEP_INLINE phase_board::~phase_board() { delete state_; }

LOCKSTEP_INLINE std::size_t phase_board::writers() const noexcept { return state_->written.size(); }
LOCKSTEP_INLINE std::size_t phase_board::readers() const noexcept { return state_->readers.size(); }
LOCKSTEP_INLINE wait_policy phase_board::policy() const noexcept { return state_->phases.policy(); }

LOCKSTEP_INLINE void phase_board::advance(std::size_t writer) {
  state_->phases[writer].publish(++state_->written[writer].value);
}

LOCKSTEP_INLINE wait_status phase_board::wait_until(std::size_t reader, std::size_t first,
                                                    deadline until, call_site where) {
  state& all = *state_;
  state::reader_state& self = all.readers[reader].value;
  const phase_reached next{self.phase + 1};
  for (std::size_t i = 0, writer = first; i < writers(); ++i, ++writer) {
    if (writer == writers()) writer = 0;
    if (next(all.phases[writer].value())) continue;
    next_phase what(*this, writer, next, where);
    if (!wait_watched(what, this, policy(), self.history, until, wait_engine::shared_yield_time)) {
      return wait_status::timed_out;
    }
  }
  if (terminated()) return wait_status::terminated;
  self.phase = next.target;
  return wait_status::ready;
}

LOCKSTEP_INLINE bool phase_board::try_wait(std::size_t reader) noexcept {
  state::reader_state& self = state_->readers[reader].value;
  const phase_reached next{self.phase + 1};
  if (terminated()) return false;
  for (std::size_t writer = 0; writer < writers(); ++writer) {
    if (!next(state_->phases[writer].value())) return false;
  }
  self.phase = next.target;
  return true;
}

LOCKSTEP_INLINE void phase_board::terminate() {
  state_->terminated.store(1, memory_order_release);  // 1
  state_->phases.wake_all();
}
LOCKSTEP_INLINE bool phase_board::terminated() const noexcept {
  return state_->terminated.load(memory_order_acquire) != 0;  // 2
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
