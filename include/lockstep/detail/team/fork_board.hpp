// SPDX-License-Identifier: MIT
// lockstep/detail/team/fork_board.hpp -- tells the workers of a team what to do, and when all are done (layer: team)
//
// A region is announced on lines (fork_tree.hpp); whoever watches an announced line takes the region's
// order from it, and reports back on a line of its own. Two ways, chosen when the board is made:
//   direct   member 0 publishes every line and collects every report: one hop, for up to `width` members,
//            and for crowds, where a leader that is not running would hold up all behind it
//   relayed  each leader publishes its lines when it has read its own, and collects their reports before
//            it reports: log(members) hops, each of few fetches, for large teams with a CPU each
//
// Invariants
//   F1  A region's phase is the same on all lines that announce it, and greater than those before; its lowest
//       bit is the kind of region. A watcher misses no phase of a `run`, since the next one comes only
//       after its report. It may miss phases of loops: then others have done its share.
//   F2  In a `run` every watcher takes part and reports the phase that it has seen. In a loop the parts of its share
//       are claimed (share_board.hpp); who claims the first one relays, who finishes the last one collects and
//       reports. Either way a report has caught up with the line exactly when the share is done. Members
//       that were not announced to, and in loops those above the size, are not looked at.
//   F3  Whatever is done for a member in a region, and below it in the tree, happens before its report, and
//       that before the return of collect() by whoever collects it.
//   F4  A line is not written again before all reports of its phase have been collected. Of a loop's line nothing but
//       the word that announces it is read by who has not claimed a part.
//   F5  No line and no claim is older than 2^31 phases: then an empty loop renews them all. So a phase that comes again
//       is found where nobody takes it for the old one.
//   F6  A `run` and the end wake all who sleep. A loop may leave them asleep, and end without them.
//
// Memory order (# marks the line; each weakening must fail a test)
//   #  access         order    pairs  why it suffices
//   1  line.store     relaxed  -      while no worker lives (as closed.store)
//   2  line.store     release  3      the watcher reads the job, and what came before the region
//   3  line.load      acquire  2      the other half
//   4  report.store   release  5      F3
//   5  report.load    acquire  4      F3
//   6  closed.store   release  7      who is let go sees what came before close()
//   7  closed.load    acquire  6      the other half
//   8  report.store   relaxed  -      as 1
//   9  line.load      relaxed  -      a look: 3 comes after it
//
// Who wakes up by itself (anticipating_wait.hpp) looks at its line again, and takes its mark back where nobody else
// sleeps on it. Stores 2, 4 and 6 and the look at the mark behind them are the notifier's side of sleeper_mark.hpp.
//
// Cost   two members: two line transfers in a row, no system call unless somebody sleeps. No RMW in a `run`; in a
//        loop one for each member, on a line of its own.
// Source the order on the line of the phase: [LIBOMP] keeps a flag only, and a second fetch for the rest.
#ifndef LOCKSTEP_DETAIL_TEAM_FORK_BOARD_HPP
#define LOCKSTEP_DETAIL_TEAM_FORK_BOARD_HPP

#include <cstddef>
#include <cstdint>

#include "../platform/cache_line.hpp"
#include "../platform/system.hpp"
#include "../wait/sleeper_mark.hpp"
#include "../wait/wait_engine.hpp"
#include "fork_tree.hpp"
#include "parting.hpp"
#include "region_line.hpp"
#include "region_watch.hpp"
#include "share_board.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

class fork_board {
 public:
  enum class way { direct, relayed };

  /// After how many phases lines and claims are renewed (F5): half of all that a line tells apart.
  static constexpr std::uint64_t usual_most_age = std::uint64_t{1} << 31;

  /// Tests pass `first_phase` to start next to wrap-around, narrow trees, and lines that are renewed often.
  /// `anticipates` counts for the adaptive policy of a team that is not crowded; `finds_cpu`: see parting.hpp.
  fork_board(fork_tree tree, wait_policy policy, way how, std::uint32_t first_phase = 0,
             bool anticipates = false, std::uint64_t most_age = usual_most_age,
             bool finds_cpu = false)
      : tree_(tree),
        lines_(tree_.lines()),
        reports_(tree.members()),
        shares_(tree.members()),
        histories_(tree.members()),
        marks_(tree_.lines() + tree.members()),
        caller_(1),
        parting_(tree.members(), finds_cpu),
        policy_(policy),
        how_(how),
        most_age_(most_age),
        anticipates_(anticipates && policy.is_adaptive() && !policy.is_crowded()) {
    detail::process_fence::prepare();
    reset(first_phase);
  }

  bool is_relayed() const noexcept { return how_ == way::relayed; }
  bool anticipates() const noexcept { return anticipates_; }
  /// Whether this worker tells others of regions, and collects their reports.
  bool is_leader(std::size_t rank) const noexcept {
    return how_ == way::relayed && rank % tree_.width() == 0;
  }

  /// Member 0: announces f(member&) to every worker that the region needs. Requires head.size > 1.
  template <class Function>
  void announce(const region_head& head, Function& f) {
    announce<member>(head, f, 0, true);
  }
  /// The same for a loop, f(loop_share&), in so many parts a share. Those that sleep are woken now, or by wake(), or not at
  /// all: a loop needs nobody.
  void announce_loop(const region_head& head, const job& what, std::uint32_t parts, bool wakes) {
    const announcement now = begin(head, parts);
    publish_all(head, what, now, wakes);
  }
  /// Wakes those who hear of regions of this size.
  void wake(std::size_t size) {
    tree_.for_each_needed(size, [this](const fork_tree::line& at) { notify(at.index); });
  }
  /// Whether some of them may sleep.
  bool has_sleepers(std::size_t size) const noexcept {
    bool found = false;
    tree_.for_each_needed(
        size, [&](const fork_tree::line& at) { found |= marks_[at.index].has_sleeper(); });
    return found;
  }

  /// A worker waits for the next region that it is needed for: a `run`, or a loop in which it has claimed a part
  /// of its share. False once closed.
  bool next(std::size_t rank, order& out) {
    const std::size_t line = tree_.watched_by(rank).index;
    region_watch& own = histories_[rank].value.regions;
    while (true) {
      announced condition{*this, line, rank, own.seen, has_one_worker(), false};
      own.wait(condition, policy_, anticipates_);
      if (is_closed()) return false;
      if (condition.has_slept) shares_.note_coming(rank, detail::monotonic_nanoseconds());
      read_line(line, out);
      // Meanwhile the loop may have ended, and a `run` have begun.
      const bool is_needed = !out.is_loop() || claim_on(line, rank, out) || !out.is_loop();
      own.note(out.announced);
      if (is_needed) return true;
    }
  }

  /// Claims the next part of a share in the loop that runs, if there is one. By any thread of the team. Where shares have
  /// one part, the caller runs its own, and nobody claims that.
  bool claim(std::size_t rank, order& out) {
    return claim_on(rank == 0 ? 0 : tree_.watched_by(rank).index, rank, out);
  }
  /// A claimed part was run. True for who must now complete the share, and report it.
  bool finish_part(std::size_t rank, const order& of) { return shares_.finish(rank, of.announced); }

  /// A leader tells those it leads; nothing for the others. Before the first part of its own.
  void relay(std::size_t rank, const order& from, bool wakes) {
    if (!is_leader(rank)) return;
    for_each_published(rank, from.announced.size(), [&](const fork_tree::line& at) {
      lines_[at.index].value.what = from.line->what;
      publish(at.index, from.head(), from.announced, wakes);
    });
  }

  /// Waits for the reports of all to whom this member has announced the region, as far as the region needs them.
  void collect(std::size_t rank, announcement of) {
    for_each_told(rank, of, [&](std::size_t watcher) {
      reported condition{*this, watcher, of.phase(), rank == 0};
      wait_engine::wait(condition, policy_, histories_[rank].value.reports);
    });
  }
  /// The same for at most `polls` looks: whether all have come.
  bool collect_shortly(std::size_t rank, announcement of, unsigned polls) {
    bool all = true;
    for_each_told(rank, of, [&](std::size_t watcher) {
      const reported condition{*this, watcher, of.phase(), false};
      bool has_come = condition.ready();
      for (; !has_come && polls > 0; --polls) {
        detail::polling_pause();
        has_come = condition.ready();
      }
      all &= has_come;
    });
    return all;
  }
  /// f(rank) for those to whom this member has announced the region, as far as the region needs them; of a loop whose
  /// shares have several parts, for the caller's share as well.
  template <class Function>
  void for_each_told(std::size_t rank, announcement of, Function f) const {
    const std::size_t end = of.is_loop() ? of.size() : tree_.members();
    if (rank == 0 && of.parts() > 1) f(std::size_t{0});
    for_each_published(rank, of.size(), [&](const fork_tree::line& at) {
      tree_.for_each_watcher(at, [&](std::size_t watcher) {
        if (watcher < end) f(watcher);
      });
    });
  }
  /// By who takes part: whether a share was reported.
  bool has_reported(std::size_t rank, announcement of) {
    return reported{*this, rank, of.phase(), false}.ready();
  }
  /// For the caller: it does not look at a line just published, which is on its way to the others.
  announcement current() const noexcept { return announcement(caller_[0].value.announced); }

  /// A worker, or who has taken its share, is done with the region.
  void report(std::size_t rank, announcement of) {
    reports_[rank].value.phase.store(of.phase(), detail::memory_order_release);  // 4
    marks_[tree_.lines() + rank].notify(fence_payer_of(policy_));
  }

  /// Travels with a report: 16 bytes for whoever makes it, before it, and for the caller after it.
  cell& beside_report(std::size_t rank) noexcept { return reports_[rank].value.beside; }
  /// When a member last came out of a sleep to a region.
  std::uint64_t last_coming(std::size_t rank) const noexcept { return shares_.last_coming(rank); }

  /// Lets all workers go: next() returns false.
  void close() {
    closed_.store(1, detail::memory_order_release);  // 6
    for (std::size_t i = 0; i < tree_.lines(); ++i) notify(i);
  }

  /// For tests: worker `rank` begins as if its last regions had come after gaps of so many nanoseconds.
  void expect(std::size_t rank, std::uint64_t gap) noexcept {
    histories_[rank].value.regions.anticipating.expect(gap);
  }

  bool is_closed() const noexcept {
    return closed_.load(detail::memory_order_acquire) != 0;  // 7
  }

  /// As new. While no worker lives: before they are started, or where a fork() has left them behind. There the
  /// caller may be in a share: it finds that all shares have been claimed and reported.
  void reset(std::uint32_t first_phase = 0) noexcept {
    closed_.store(0, detail::memory_order_relaxed);  // 1
    const announcement none(first_phase, 1, 1);
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      lines_[i].value.announced.store(none.word(), detail::memory_order_relaxed);  // 1
    }
    caller_[0].value.phase = caller_[0].value.renewed = first_phase;
    caller_[0].value.announced = none.word();
    for (std::size_t rank = 0; rank < tree_.members(); ++rank) {
      shares_.reset(rank, first_phase);
      reports_[rank].value.phase.store(first_phase, detail::memory_order_relaxed);  // 8
      histories_[rank].value.regions.seen = none.word();
      histories_[rank].value.regions.has_begun = false;
    }
  }

 private:
  /// A member's own.
  struct private_state {
    region_watch regions = {};
    wait_history reports = {};
  };

  /// Of the caller of regions. More bits than a line has: phases come again there, here they do not.
  struct caller_state {
    std::uint64_t phase = 0;  ///< the last one announced
    std::uint64_t renewed = 0;
    std::uint64_t announced = 0;
  };

  struct announced {
    fork_board& board;
    std::size_t line, rank;
    std::uint64_t seen;
    bool is_only_one;  ///< who watches this line
    bool has_slept;

    bool is_elsewhere(std::uint64_t now) noexcept {
      return board.parting_.is_elsewhere(rank, 0, now);
    }

    bool ready() const noexcept {
      const detail::atomic<std::uint64_t>& word = board.lines_[line].value.announced;
      return word.load(detail::memory_order_relaxed) != seen ||  // 9
             board.is_closed();
    }
    void sleep(deadline until) {
      has_slept = true;
      board.marks_[line].sleep(*this, until, fence_payer_of(board.policy_));
      if (!until.is_never() && is_only_one) board.marks_[line].withdraw();
    }
  };
  struct reported {
    fork_board& board;
    std::size_t rank;
    std::uint32_t target;
    bool is_for_caller;  ///< others may wait for reports in place of a member that waits elsewhere

    bool is_elsewhere(std::uint64_t now) noexcept {
      return is_for_caller && board.parting_.is_elsewhere(0, rank, now);
    }
    bool ready() const noexcept {
      return board.reports_[rank].value.phase.load(detail::memory_order_acquire) == target;  // 5
    }
    void sleep(deadline until) {
      board.marks_[board.tree_.lines() + rank].sleep(*this, until, fence_payer_of(board.policy_));
    }
  };

  void read_line(std::size_t line, order& out) noexcept {
    out.line = &lines_[line].value;
    out.announced = announcement(out.line->announced.load(detail::memory_order_acquire));  // 3
  }
  /// Looks at the announcement on a line, and claims a part of a share if it is a loop that has one left for it.
  bool claim_on(std::size_t line, std::size_t rank, order& out) {
    while (true) {
      const std::uint64_t known = shares_.look(rank);
      read_line(line, out);
      if (!out.is_loop() || rank >= out.announced.size()) return false;
      if (rank == 0 && out.announced.parts() == 1) return false;  // the caller runs it, unclaimed
      const share_board::outcome how = shares_.try_claim(rank, known, out.announced, out.part);
      if (how != share_board::outcome::changed) return how == share_board::outcome::claimed;
    }
  }

  template <class Argument, class Function>
  void announce(const region_head& head, Function& f, std::uint32_t parts, bool wakes) {
    const announcement now = begin(head, parts);
    if (lines_.size() == 1) {  // written in place
      lines_[0].value.what.template assign<Argument>(f);
      publish(0, head, now, wakes);
      return;
    }
    job what;
    what.template assign<Argument>(f);
    publish_all(head, what, now, wakes);
  }
  announcement begin(const region_head& head, std::uint32_t parts) {
    caller_state& own = caller_[0].value;
    if (own.phase - own.renewed > most_age_) renew();
    own.phase = (own.phase | 1u) + 1u + (parts > 0 ? 1u : 0u);
    const announcement now(static_cast<std::uint32_t>(own.phase), head.size, parts);
    own.announced = now.word();
    return now;
  }
  void publish_all(const region_head& head, const job& what, announcement as, bool wakes) {
    for_each_published(0, head.size, [&](const fork_tree::line& at) {
      lines_[at.index].value.what = what;
      publish(at.index, head, as, wakes);
    });
  }

  /// A loop in which nothing is done, of which all hear, and whose shares are claimed here.
  LOCKSTEP_NOINLINE void renew() {
    caller_[0].value.renewed = caller_[0].value.phase;
    const region_head head{0, static_cast<std::uint32_t>(tree_.members()), 0};
    const auto nothing = [](loop_share&) {};
    announce<loop_share>(head, nothing, 1, true);
    shares_.reset(0, current().phase());
    renew_below(0);
  }
  void renew_below(std::size_t rank) {
    for_each_told(rank, current(), [this](std::size_t watcher) {
      order claimed;
      if (!claim(watcher, claimed)) return;
      relay(watcher, claimed, true);
      renew_below(watcher);
      report(watcher, claimed.announced);
    });
    collect(rank, current());
  }

  template <class Function>
  void for_each_published(std::size_t rank, std::size_t size, Function f) const {
    if (how_ == way::relayed) {
      tree_.for_each_led(rank, size, f);
    } else if (rank == 0) {
      tree_.for_each_needed(size, f);
    }
  }
  void publish(std::size_t line, const region_head& head, announcement as, bool wakes) {
    region_line& at = lines_[line].value;
    at.region = head.region;
    at.barrier_phase = head.phase;
    at.announced.store(as.word(), detail::memory_order_release);  // 2
    if (wakes) notify(line);
  }
  void notify(std::size_t line) { marks_[line].notify(fence_payer_of(policy_)); }
  bool has_one_worker() const noexcept { return tree_.members() == 2; }

  detail::line_gap before_;
  const fork_tree tree_;
  detail::aligned_array<detail::padded<region_line>> lines_;
  detail::aligned_array<detail::padded<report_line>> reports_;
  share_board shares_;
  detail::aligned_array<detail::padded<private_state>> histories_;
  detail::aligned_array<sleeper_mark> marks_;
  detail::aligned_array<detail::padded<caller_state>> caller_;
  parting_board parting_;
  detail::wait_word closed_{0};
  const wait_policy policy_;
  const way how_;
  const std::uint64_t most_age_;
  const bool anticipates_;
  detail::line_gap after_;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_FORK_BOARD_HPP
