// SPDX-License-Identifier: MIT
// lockstep/team/fork_board.hpp -- tells the workers of a team what to do, and when all are done (layer: team)
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
//       after its report. It may miss phases of loops: then somebody else has reported for it.
//   F2  In a `run` every watcher takes part and reports the phase that it has seen. In a loop that does who
//       has claimed the watcher's share (claim_board.hpp), for all that the watcher would do: relay, run,
//       collect, report. Either way a report has caught up with the line exactly when the share is
//       done. Members that were not announced to are not looked at.
//   F3  Whatever is done for a member in a region, and below it in the tree, happens before its report, and
//       that before the return of collect() by whoever collects it.
//   F4  A line is not written again before all reports of its phase have been collected. A late watcher reads
//       nothing of it but the phase, until it has claimed its share.
//   F5  No line and no claim is older than 2^30 regions: then an empty loop renews them all. So a phase that comes again
//       is found where nobody takes it for the old one.
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
//   9  line.load      relaxed  -      by who takes part in the phase: it does not change
//   10 line.load      relaxed  -      a look: 3 comes after it
//   11 line.load      relaxed  -      of another member's line: the claim that follows carries the look to that
//                                     member, which then sees this phase there, or a later one
//
// Where the board anticipates, workers may sleep with an end (anticipating_wait.hpp): whoever wakes up by itself
// looks at its line again, and takes its mark back where nobody else sleeps on it.
//
// Stores 2, 4 and 6 and the look at the mark behind them are the notifier's side of sleeper_mark.hpp.
//
// Cost   two members: two line transfers in a row, no system call unless somebody sleeps. No RMW in a `run`; in a
//        loop one for each member, on a line of its own.
// Source the order on the line of the phase: [LIBOMP] keeps a flag only, and a second fetch for the rest.
#ifndef LOCKSTEP_TEAM_FORK_BOARD_HPP
#define LOCKSTEP_TEAM_FORK_BOARD_HPP

#include <cstddef>
#include <cstdint>

#include "../platform/cache_line.hpp"
#include "../wait/sleeper_mark.hpp"
#include "../wait/wait_engine.hpp"
#include "anticipating_wait.hpp"
#include "claim_board.hpp"
#include "fork_tree.hpp"
#include "job.hpp"
#include "parting.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {

/// What a region's members have to know before they start.
struct region_head {
  std::uint32_t region;  ///< its number, never 0
  std::uint32_t size;    ///< members that take part: ranks below it
  std::uint32_t phase;   ///< of the barrier when it begins
};

/// Who comes to a region.
enum class region_kind : std::uint32_t {
  run = 0,  ///< every member
  loop = 1  ///< each share is run by its member, or by one that is there if that has not come
};

/// One cache line: the phase that announces a region, and the region.
struct region_line {
  platform::wait_word announced{0};
  region_head head = {};
  job what;

  /// For who takes part in the region.
  std::uint32_t phase() const noexcept {
    return announced.load(platform::memory_order_relaxed);  // 9
  }
  region_kind kind() const noexcept { return kind_of(phase()); }
  static region_kind kind_of(std::uint32_t phase) noexcept {
    return static_cast<region_kind>(phase & 1u);
  }
};
static_assert(sizeof(region_line) <= 64, "phase, region and job share a cache line");

class fork_board {
 public:
  enum class way { direct, relayed };

  /// After how many phases lines and claims are renewed (F5): half of all that a line tells apart.
  static constexpr std::uint64_t usual_most_age = std::uint64_t{1} << 31;

  /// Tests pass `first_phase` to start next to wrap-around, narrow trees, and lines that are renewed often.
  /// `anticipates` counts for the adaptive policy of a team that is not crowded; `parts`: see parting.hpp.
  fork_board(fork_tree tree, wait_policy policy, way how, std::uint32_t first_phase = 0,
             bool anticipates = false, std::uint64_t most_age = usual_most_age, bool parts = false)
      : tree_(tree),
        lines_(tree_.lines()),
        reports_(tree.members()),
        claims_(tree.members()),
        histories_(tree.members()),
        marks_(tree_.lines() + tree.members()),
        caller_(1),
        parting_(tree.members(), parts),
        policy_(policy),
        how_(how),
        most_age_(most_age),
        anticipates_(anticipates && policy.is_adaptive() && !policy.is_crowded()) {
    platform::process_fence::prepare();
    reset(first_phase);
  }

  bool is_relayed() const noexcept { return how_ == way::relayed; }
  /// Whether this worker tells others of regions, and collects their reports.
  bool is_leader(std::size_t rank) const noexcept {
    return how_ == way::relayed && rank % tree_.width() == 0;
  }

  /// Member 0: announces f(member&) to every worker that the region needs. True if some of them slept.
  /// Requires head.size > 1.
  template <class Function>
  bool announce(const region_head& head, Function& f, region_kind kind = region_kind::run) {
    caller_state& own = caller_[0].value;
    if (own.phase - own.renewed > most_age_) renew(head);
    own.phase = (own.phase | 1u) + 1u + static_cast<std::uint32_t>(kind);
    const std::uint32_t phase = static_cast<std::uint32_t>(own.phase);
    if (lines_.size() == 1) {  // written in place
      lines_[0].value.what.assign(f);
      return publish(0, head, phase);
    }
    job what;
    what.assign(f);
    return announce(0, head, what, phase);
  }

  /// A worker waits for the next region that it is needed for: a `run`, or a loop whose share of this rank
  /// it has claimed. nullptr once closed.
  region_line* next(std::size_t rank) {
    const std::size_t line = tree_.watched_by(rank).index;
    private_state& own = histories_[rank].value;
    while (true) {
      announced condition{*this, line, rank, own.seen, has_one_worker()};
      if (anticipates_) {
        own.anticipating.wait(condition, policy_, own.announcements);
        if (!own.has_begun) own.anticipating.forget_gap();
        own.has_begun = true;
      } else {
        wait_engine::wait(condition, policy_, own.announcements);
      }
      if (is_closed()) return nullptr;
      const std::uint32_t claimed = claims_.last_claim(rank);
      own.seen = lines_[line].value.announced.load(platform::memory_order_acquire);  // 3
      if (region_line::kind_of(own.seen) == region_kind::run ||
          claims_.try_claim(rank, claimed, own.seen)) {
        return &lines_[line].value;
      }
    }
  }

  /// A leader tells those it leads; nothing for the others. Before it runs its own part. True if some slept.
  bool relay(std::size_t rank, const region_line& from) {
    return is_leader(rank) && announce(rank, from.head, from.what, from.phase());
  }

  /// Waits for the reports of all to whom this member has announced the region.
  void collect(std::size_t rank, std::size_t size) {
    const std::uint32_t phase = phase_of(rank);
    for_each_watcher_told(rank, size, [&](std::size_t watcher, const region_line&) {
      reported condition{*this, watcher, phase, rank == 0};
      wait_engine::wait(condition, policy_, histories_[rank].value.reports);
    });
  }

  /// Calls run(watcher, line) for the shares of those whom this member has told of a loop and who have not come.
  /// After it every such share has been claimed. Before it polls a moment, for members that are just coming,
  /// unless `at_once` or that has been in vain lately.
  template <class Run>
  void take_shares(std::size_t rank, std::size_t size, bool at_once, Run run) {
    stage_trust& patience = histories_[rank].value.patience;
    unsigned polls = at_once || !patience.asks() ? 0 : polls_for_who_comes;
    const std::uint32_t polled = phase_of(rank);
    for_each_watcher_told(rank, size, [&](std::size_t watcher, const region_line&) {
      const reported condition{*this, watcher, polled, false};
      for (; !condition.ready() && polls > 0; --polls) platform::polling_pause();
    });
    bool took = false;
    if (polls == 0) {
      for_each_watcher_told(rank, size, [&](std::size_t watcher, region_line& line) {
        const std::uint32_t phase = phase_of(rank);  // a share may have called fork(): see reset()
        const reported condition{*this, watcher, phase, false};
        if (condition.ready() || !claims_.try_take(watcher, phase)) return;
        took = true;
        run(watcher, line);
      });
    }
    if (took) {
      patience.failed();
    } else {
      patience.paid();
    }
  }

  /// Calls run(other) for all shares of the loop that nobody has claimed, where the line of the other member has been
  /// written. For a worker of a crowd, before it reports.
  template <class Run>
  void take_others(std::size_t rank, const region_line& order, Run run) {
    const std::size_t size = order.head.size;
    for (std::size_t i = 1, other = rank + 1; i < size; ++i, ++other) {
      if (other >= size) other = 1;
      const std::uint32_t phase = order.phase();  // as in take_shares()
      if (is_announced(other, phase) && claims_.try_take(other, phase)) run(other);
    }
  }

  /// A worker, or who has taken its share, is done with the region.
  void report(std::size_t rank, const region_line& of) {
    reports_[rank].value.store(of.phase(), platform::memory_order_release);  // 4
    marks_[tree_.lines() + rank].notify(fence_payer_of(policy_));
  }

  /// Lets all workers go: next() returns nullptr.
  void close() {
    closed_.store(1, platform::memory_order_release);  // 6
    for (std::size_t i = 0; i < tree_.lines(); ++i) marks_[i].notify(fence_payer_of(policy_));
  }

  /// For tests: worker `rank` begins as if its last regions had come after gaps of so many nanoseconds.
  void expect(std::size_t rank, std::uint64_t gap) noexcept {
    histories_[rank].value.anticipating.expect(gap);
  }

  bool is_closed() const noexcept {
    return closed_.load(platform::memory_order_acquire) != 0;  // 7
  }

  /// As new. While no worker lives: before they are started, or where a fork() has left them behind. There the
  /// caller may be in a share: it finds that all shares have been reported.
  void reset(std::uint32_t first_phase = 0) noexcept {
    closed_.store(0, platform::memory_order_relaxed);  // 1
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      lines_[i].value.announced.store(first_phase, platform::memory_order_relaxed);  // 1
    }
    claims_.reset(first_phase);
    caller_[0].value.phase = caller_[0].value.renewed = first_phase;
    for (std::size_t rank = 0; rank < tree_.members(); ++rank) {
      reports_[rank].value.store(first_phase, platform::memory_order_relaxed);  // 8
      histories_[rank].value.seen = first_phase;
      histories_[rank].value.has_begun = false;
    }
  }

 private:
  /// How often take_shares() looks for reports first: 1.5 us. A member that polls begins within two line
  /// transfers, at most 0.5 us.
  static constexpr unsigned polls_for_who_comes = 48;

  /// A member's own.
  struct private_state {
    std::uint32_t seen = 0;  ///< the last phase on its line
    bool has_begun = false;  ///< it has seen a region: what it waits for next comes after a gap
    wait_history announcements = {};
    anticipating_wait anticipating = {};
    wait_history reports = {};
    stage_trust patience = {};  ///< whether late members come while it polls for them
  };

  /// Of the caller of regions. More bits than a line has: phases come again there, here they do not.
  struct caller_state {
    std::uint64_t phase = 0;  ///< the last one announced
    std::uint64_t renewed = 0;
  };

  struct announced {
    fork_board& board;
    std::size_t line, rank;
    std::uint32_t seen;
    bool is_only_one;  ///< who watches this line
    bool is_elsewhere(std::uint64_t now) noexcept {
      return board.parting_.is_elsewhere(rank, 0, now);
    }

    bool ready() const noexcept {
      const platform::wait_word& word = board.lines_[line].value.announced;
      return word.load(platform::memory_order_relaxed) != seen ||  // 10
             board.is_closed();
    }
    void sleep(deadline until) {
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
      return board.reports_[rank].value.load(platform::memory_order_acquire) == target;  // 5
    }
    void sleep(deadline until) {
      board.marks_[board.tree_.lines() + rank].sleep(*this, until, fence_payer_of(board.policy_));
    }
  };

  /// A loop in which nothing is done, announced to all.
  LOCKSTEP_NOINLINE void renew(region_head head) {
    caller_[0].value.renewed = caller_[0].value.phase;
    head.size = static_cast<std::uint32_t>(tree_.members());
    const auto nothing = [](member&) {};
    announce(head, nothing, region_kind::loop);
    take_nothing(0);
  }
  void take_nothing(std::size_t rank) {
    take_shares(rank, tree_.members(), true, [this](std::size_t late, region_line& line) {
      relay(late, line);
      take_nothing(late);
      report(late, line);
    });
    collect(rank, tree_.members());
  }

  /// The phase of the region that this member takes part in. Member 0 has announced it: it does not look at a
  /// line just published, which is on its way to the others.
  std::uint32_t phase_of(std::size_t rank) const noexcept {
    return rank == 0 ? static_cast<std::uint32_t>(caller_[0].value.phase)
                     : lines_[tree_.watched_by(rank).index].value.phase();
  }

  bool is_announced(std::size_t rank, std::uint32_t phase) const noexcept {
    return lines_[tree_.watched_by(rank).index].value.announced.load(
               platform::memory_order_relaxed) == phase;  // 11
  }

  template <class Function>
  void for_each_published(std::size_t rank, std::size_t size, Function f) const {
    if (how_ == way::relayed) {
      tree_.for_each_led(rank, size, f);
    } else if (rank == 0) {
      tree_.for_each_needed(size, f);
    }
  }
  /// f(watcher, line) for those that this member has announced the region to.
  template <class Function>
  void for_each_watcher_told(std::size_t rank, std::size_t size, Function f) {
    for_each_published(rank, size, [&](const fork_tree::line& at) {
      tree_.for_each_watcher(at, [&](std::size_t watcher) { f(watcher, lines_[at.index].value); });
    });
  }

  bool announce(std::size_t rank, const region_head& head, const job& what, std::uint32_t phase) {
    bool woke = false;
    for_each_published(rank, head.size, [&](const fork_tree::line& at) {
      lines_[at.index].value.what = what;
      woke |= publish(at.index, head, phase);
    });
    return woke;
  }
  bool publish(std::size_t line, const region_head& head, std::uint32_t phase) {
    lines_[line].value.head = head;
    lines_[line].value.announced.store(phase, platform::memory_order_release);  // 2
    return marks_[line].notify(fence_payer_of(policy_));
  }
  bool has_one_worker() const noexcept { return tree_.members() == 2; }

  platform::line_gap before_;
  const fork_tree tree_;
  platform::aligned_array<platform::padded<region_line>> lines_;
  platform::aligned_array<platform::padded<platform::wait_word>> reports_;
  claim_board claims_;
  platform::aligned_array<platform::padded<private_state>> histories_;
  platform::aligned_array<sleeper_mark> marks_;
  platform::aligned_array<platform::padded<caller_state>> caller_;
  parting_board parting_;
  platform::wait_word closed_{0};
  const wait_policy policy_;
  const way how_;
  const std::uint64_t most_age_;
  const bool anticipates_;
  platform::line_gap after_;
};

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_TEAM_FORK_BOARD_HPP
