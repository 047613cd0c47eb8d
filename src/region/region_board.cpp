// SPDX-License-Identifier: MIT
// src/region/region_board.cpp -- the bodies of region_board.hpp (layer: region)
#include "region_board.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

LOCKSTEP_INLINE region_board::region_board(rank_tree tree, wait_policy policy,
                                           std::uint32_t first_phase, bool anticipates,
                                           std::uint64_t most_age, cpu_separation* separation)
    : tree_(std::move(tree)),
      lines_(tree_.lines(), policy),
      reports_(tree_.members(), policy),
      shares_(tree_.members()),
      histories_(tree_.members()),
      caller_(1),
      missed_(1),
      asleep_(tree_.lines()),
      separation_(separation),
      most_age_(most_age),
      anticipates_(anticipates && policy.is_adaptive() && !policy.is_crowded()) {
  for (std::size_t rank = 0; rank < tree_.members(); ++rank) {
    histories_[rank].value.anticipating.listen_to(missed_[0].value);
  }
  reset(first_phase);
}

LOCKSTEP_INLINE bool region_board::next(std::size_t rank, assignment& out) {
  const std::size_t line = tree_.watched_by(rank);
  private_state& own = histories_[rank].value;
  while (true) {
    if (own.stacked.must_separate() && separation_ != nullptr) separation_->move_to_free_cpu(rank);
    const announcement seen = own.seen;
    watched_line what(lines_[line], is_news{seen.word()}, stops_when_set{closed_},
                      whereabouts{separation_, rank, 0}, asleep_[line].value, members() == 2);
    if (anticipates_) {
      own.anticipating.wait(what, lines_.policy(), own.regions);
    } else {
      wait_engine::wait(what, lines_.policy(), own.regions);
    }
    if (is_closed()) return false;
    if (what.has_slept) own.came.store(monotonic_nanoseconds(), memory_order_relaxed);  // 7
    read_line(line, out);
    // By the time of the claim the loop may have ended, and a `run` begun.
    const bool is_needed = !out.is_loop() || claim(rank, out) || !out.is_loop();
    own.stacked.came(own.anticipating.had_no_cpu());
    own.seen = out.announced;
    // The wait for the first region is not a gap. Nor is a wait in which regions went by unseen.
    if (seen.is_none() || own.seen.phase() - seen.phase() > 3) own.anticipating.forget_gap();
    if (!is_needed) continue;
    own.anticipating.took_part();
    return true;
  }
}

LOCKSTEP_INLINE void region_board::relay(std::size_t rank, const assignment& from, bool wakes) {
  if (!is_leader(rank)) return;
  publish_lines(rank, from.head(), from.line->what, from.announced, wakes);
}

LOCKSTEP_INLINE void region_board::publish_lines(std::size_t rank, const region_head& head,
                                                 const job& what, announcement as, bool wakes) {
  tree_.for_each_led(rank, head.size,
                     [&](const rank_tree::line& at) { publish(at.index, head, what, as, wakes); });
}

LOCKSTEP_INLINE void region_board::collect(std::size_t rank, announcement of) {
  // In place of a leader that waits elsewhere, another thread may collect here, on a CPU of its own.
  cpu_separation* const known = rank == 0 ? separation_ : nullptr;
  for_each_told(rank, of, [&](std::size_t watcher) {
    reports_[watcher].wait(is_phase{of.phase(), static_cast<std::uint32_t>(watcher)}, never_stops(),
                           histories_[rank].value.reports, deadline::never(),
                           whereabouts{known, 0, watcher});
  });
}

LOCKSTEP_INLINE bool region_board::collect_shortly(std::size_t rank, announcement of,
                                                   unsigned polls) {
  bool all = true;
  for_each_told(rank, of, [&](std::size_t at) {
    bool has_come = has_reported(at, of);
    for (; !has_come && polls > 0; --polls) {
      polling_pause();
      has_come = has_reported(at, of);
    }
    all &= has_come;
  });
  return all;
}

LOCKSTEP_INLINE void region_board::wake(std::size_t size) {
  tree_.for_each_needed(size, [&](const rank_tree::line& at) { lines_[at.index].wake(); });
}

LOCKSTEP_INLINE bool region_board::has_sleepers(std::size_t size) const noexcept {
  bool found = false;
  tree_.for_each_needed(size, [&](const rank_tree::line& at) {
    found |= asleep_[at.index].value.load(memory_order_relaxed) != 0;  // 5
  });
  return found;
}

LOCKSTEP_INLINE void region_board::close() {
  closed_.store(1, memory_order_release);  // 2
  lines_.wake_all();
}

LOCKSTEP_INLINE void region_board::reset(std::uint32_t first_phase) noexcept {
  closed_.store(0, memory_order_relaxed);  // 1
  const announcement none = announcement::none(first_phase);
  lines_.reset(none.word(), lines_.size());
  reports_.reset(first_phase, reports_.size());
  for (std::size_t line = 0; line < lines_.size(); ++line) {
    asleep_[line].value.store(0, memory_order_relaxed);  // 6
  }
  caller_[0].value.phase = caller_[0].value.renewed = first_phase;
  caller_[0].value.announced = none.word();
  for (std::size_t rank = 0; rank < tree_.members(); ++rank) {
    shares_.reset(rank, first_phase);
    histories_[rank].value.seen = none;
  }
}

LOCKSTEP_INLINE void region_board::renew() {
  caller_[0].value.renewed = caller_[0].value.phase;
  announce_nothing();
}

LOCKSTEP_INLINE void region_board::announce_nothing() {
  const region_head head{0, static_cast<std::uint32_t>(tree_.members()), 0};
  const auto nothing = [](loop_share&) {};
  job what;
  what.assign<loop_share>(nothing);
  announce(head, what, 1);
  shares_.reset(0, current().phase());
  renew_below(0);
}

LOCKSTEP_INLINE void region_board::renew_below(std::size_t rank) {
  const announcement now = current();
  for_each_told(rank, now, [&](std::size_t at) {
    assignment claimed;
    if (!claim(at, claimed)) return;
    relay(at, claimed, true);
    renew_below(at);
    report(at, claimed.announced);
  });
  collect(rank, now);
}

LOCKSTEP_INLINE bool region_board::claim(std::size_t rank, assignment& out) {
  while (true) {
    const std::uint64_t known = shares_.look(rank);
    read_line(tree_.watched_by(rank), out);
    if (!out.is_loop() || rank >= out.announced.size()) return false;
    if (rank == 0 && out.announced.parts() == 1) return false;  // the caller runs it, unclaimed
    const share_board::outcome how = shares_.try_claim(rank, known, out.announced, out.part);
    if (how != share_board::outcome::changed) return how == share_board::outcome::claimed;
  }
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
