// SPDX-License-Identifier: MIT
// src/toolbox/fan.cpp -- phases on lines of their notifiers (layer: toolbox)
//
// Every notifier has a phase number that it alone advances. Every waiter remembers the phase that it has reached, and
// waits until each notifier is beyond it.
//
//   BOARD-1  A phase only ever grows by one, by its notifier. Differences are taken modulo 2^32: a notifier may be
//            2^31 - 1 phases ahead of a waiter, and wrap-around is harmless.
//   BOARD-2  The phase that a notifier has published is kept once more as plain data of that notifier, which therefore
//            never reads its published line.
//   BOARD-3  terminated_ is set once and never cleared; a wait that finds it set returns `terminated`.
//
// Memory order (# marks the line; published_words.hpp has the rest)
//   #  access            order    pairs  why it suffices
//   1  terminated.store  release  2      the released waiter sees what came before terminate()
//   2  terminated.load   acquire  1      the other half
#include <lockstep/fan.hpp>

#include <lockstep/detail/platform/cache_line.hpp>
#include <lockstep/detail/platform/error.hpp>
#include <lockstep/detail/wait/misuse.hpp>
#include "../platform/system.hpp"
#include "../wait/published_words.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
struct fan_in_out::state {
  struct waiter_state {
    std::uint32_t phase = 0;
    detail::wait_history history = {};
  };

  detail::line_gap before;
  const char* const name;
  const detail::wait_kind kind;
  detail::published_words<std::uint32_t> phases;
  detail::aligned_array<detail::padded<std::uint32_t>> written;
  detail::aligned_array<detail::padded<waiter_state>> waiters;
  detail::wait_word terminated{0};
  detail::line_gap after;

  state(const char* its_name, detail::wait_kind its_kind, std::size_t notifiers,
        std::size_t how_many_waiters, wait_policy policy, std::uint32_t first_phase)
      : name(its_name),
        kind(its_kind),
        phases(notifiers,
               policy.when_crowded(notifiers + how_many_waiters > detail::usable_cpus())),
        written(notifiers),
        waiters(how_many_waiters) {
    phases.reset(first_phase, notifiers);
    for (std::size_t i = 0; i < notifiers; ++i) written[i].value = first_phase;
    for (std::size_t i = 0; i < how_many_waiters; ++i) waiters[i].value.phase = first_phase;
  }
  waiter_state& waiter(std::size_t rank) {
    return waiters[detail::checked_rank(name, "waiter", rank, waiters.size())].value;
  }
};

/// The predicate of a wait for one of the notifiers.
struct fan_in_out::next_phase {
  const fan_in_out* of;
  detail::phase_reached next;

  bool operator()(std::uint32_t phase) const noexcept { return next(phase); }
  void describe(detail::wait_subject& to) const noexcept {
    next.describe(to);
    to.kind = of->state_->kind;
    to.object = of;
    to.rank = detail::wait_subject::nobody;
    if (of->notifiers() == 1) return;  // no need to say which one
    to.expected = static_cast<std::uint32_t>(of->notifiers());
    to.come = of->state_->phases.those_that(next);
  }
};

LOCKSTEP_INLINE fan_in_out::fan_in_out(detail::first_phase first, std::size_t notifiers,
                                       std::size_t waiters, wait_policy policy, const char* name,
                                       detail::wait_kind kind)
    : state_(new state(name, kind, detail::checked_count(name, "notifiers", notifiers),
                       detail::checked_count(name, "waiters", waiters), policy, first.value)) {}
LOCKSTEP_INLINE fan_in_out::~fan_in_out() {
  detail::misuse::destroying(this, state_->name);
  delete state_;
}

LOCKSTEP_INLINE std::size_t fan_in_out::notifiers() const noexcept {
  return state_->written.size();
}
LOCKSTEP_INLINE std::size_t fan_in_out::waiters() const noexcept { return state_->waiters.size(); }

LOCKSTEP_INLINE void fan_in_out::notify(std::size_t rank) {
  detail::checked_rank(state_->name, "notifier", rank, notifiers());
  state_->phases[rank].publish(++state_->written[rank].value);
}

LOCKSTEP_INLINE wait_status fan_in_out::wait_until(std::size_t rank, deadline until,
                                                   call_site where) {
  state& all = *state_;
  state::waiter_state& self = all.waiter(rank);
  const detail::phase_reached next{self.phase + 1};
  // Waiters that begin with different notifiers disturb each other less.
  for (std::size_t i = 0, from = rank % notifiers(); i < notifiers(); ++i, ++from) {
    if (from == notifiers()) from = 0;
    if (next(all.phases[from].value())) continue;
    detail::awaited_word<std::uint32_t, next_phase, detail::stops_when_set> what(
        all.phases[from], {this, next}, {all.terminated}, {}, where);
    if (!detail::wait_watched(what, this, all.phases.policy(), self.history, until.nanoseconds())) {
      return wait_status::timed_out;
    }
  }
  if (terminated()) return wait_status::terminated;
  self.phase = next.target;
  return wait_status::ready;
}

LOCKSTEP_INLINE bool fan_in_out::try_wait(std::size_t rank) {
  state::waiter_state& self = state_->waiter(rank);
  const detail::phase_reached next{self.phase + 1};
  if (terminated()) return false;
  for (std::size_t from = 0; from < notifiers(); ++from) {
    if (!next(state_->phases[from].value())) return false;
  }
  self.phase = next.target;
  return true;
}

LOCKSTEP_INLINE void fan_in_out::terminate() {
  state_->terminated.store(1, detail::memory_order_release);  // 1
  state_->phases.wake_all();
}
LOCKSTEP_INLINE bool fan_in_out::terminated() const noexcept {
  return state_->terminated.load(detail::memory_order_acquire) != 0;  // 2
}

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
