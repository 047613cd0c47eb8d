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
//   F1  A line's phase grows by one with each announcement, by its publisher; a watcher misses none, since
//       the next one comes only after its report.
//   F2  A watcher reports the phase that it has seen: the report has caught up with the line exactly when
//       the watcher is done. Members that were not announced to are not looked at.
//   F3  Whatever a member does in a region, and below it in the tree, happens before its report, and that
//       before the return of collect() by whoever collects it.
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
//
// Where the board anticipates, workers may sleep with an end (anticipating_wait.hpp): whoever wakes up by itself
// looks at its line again, and takes its mark back where nobody else sleeps on it.
//
// Stores 2, 4 and 6 and the look at the mark behind them are the notifier's side of sleeper_mark.hpp.
//
// Cost   two members: two line transfers in a row, no RMW, no system call unless somebody sleeps.
// Source the order on the line of the phase: [LIBOMP] keeps a flag only, and a second fetch for the rest.
#ifndef LOCKSTEP_TEAM_FORK_BOARD_HPP
#define LOCKSTEP_TEAM_FORK_BOARD_HPP

#include <cstddef>
#include <cstdint>

#include "../platform/cache_line.hpp"
#include "../wait/sleeper_mark.hpp"
#include "../wait/wait_engine.hpp"
#include "anticipating_wait.hpp"
#include "fork_tree.hpp"
#include "job.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {

/// What a region's members have to know before they start.
struct region_head {
  std::uint32_t region;  ///< its number, never 0
  std::uint32_t size;    ///< members that take part: ranks below it
  std::uint32_t phase;   ///< of the barrier when it begins
};

/// One cache line: the phase that announces a region, and the region.
struct region_line {
  platform::wait_word announced{0};
  region_head head = {};
  job what;
};
static_assert(sizeof(region_line) <= 64, "phase, region and job share a cache line");

class fork_board {
 public:
  enum class way { direct, relayed };

  /// Tests pass `first_phase` to start next to wrap-around, and narrow trees. `anticipates` counts for the adaptive
  /// policy of a team that is not crowded.
  fork_board(fork_tree tree, wait_policy policy, way how, std::uint32_t first_phase = 0,
             bool anticipates = false)
      : tree_(tree),
        lines_(tree_.lines()),
        counts_(tree_.lines()),
        reports_(tree.members()),
        histories_(tree.members()),
        marks_(tree_.lines() + tree.members()),
        policy_(policy),
        how_(how),
        anticipates_(anticipates && policy.is_adaptive() && !policy.is_crowded()) {
    platform::process_fence::prepare();
    reset(first_phase);
  }

  bool is_relayed() const noexcept { return how_ == way::relayed; }

  /// Member 0: announces f(member&) to every worker that the region needs. Requires head.size > 1.
  template <class Function>
  void announce(const region_head& head, Function& f) {
    if (lines_.size() == 1) {  // written in place
      lines_[0].value.what.assign(f);
      publish(0, head);
    } else {
      job what;
      what.assign(f);
      announce(0, head, what);
    }
  }

  /// A worker waits for the next announcement on its line. nullptr once closed.
  region_line* next(std::size_t rank) {
    const std::size_t line = tree_.watched_by(rank).index;
    const std::uint32_t target = seen(rank) + 1;
    announced condition{*this, line, target, has_one_worker()};
    private_state& mine = histories_[rank].value;
    if (anticipates_) {
      mine.anticipating.wait(condition, policy_, mine.announcements);
      if (!mine.has_begun) mine.anticipating.forget_gap();
      mine.has_begun = true;
    } else {
      wait_engine::wait(condition, policy_, mine.announcements);
    }
    if (is_closed()) return nullptr;
    mine.seen = target;
    return &lines_[line].value;
  }

  /// A leader tells those it leads; nothing for the others. Before it runs its own part.
  void relay(std::size_t rank, const region_line& from) {
    if (how_ == way::relayed && rank % tree_.width() == 0) announce(rank, from.head, from.what);
  }

  /// Waits for the reports of all to whom this member has announced the region.
  void collect(std::size_t rank, std::size_t size) {
    for_each_published(rank, size, [&](const fork_tree::line& at) {
      tree_.for_each_watcher(at, [&](std::size_t watcher) {
        reported condition{*this, watcher, counts_[at.index].value};
        wait_engine::wait(condition, policy_, histories_[rank].value.reports);
      });
    });
  }

  /// A worker is done with the announcement that it has seen.
  void report(std::size_t rank) {
    reports_[rank].value.store(seen(rank), platform::memory_order_release);  // 4
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

  /// As new. While no worker lives: before they are started, or where a fork() has left them behind.
  void reset(std::uint32_t first_phase = 0) noexcept {
    closed_.store(0, platform::memory_order_relaxed);  // 1
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      lines_[i].value.announced.store(first_phase, platform::memory_order_relaxed);  // 1
      counts_[i].value = first_phase;
    }
    for (std::size_t rank = 0; rank < tree_.members(); ++rank) {
      reports_[rank].value.store(first_phase, platform::memory_order_relaxed);  // 8
      histories_[rank].value.seen = first_phase;
      histories_[rank].value.has_begun = false;
    }
  }

 private:
  /// A member's own.
  struct private_state {
    std::uint32_t seen = 0;
    bool has_begun = false;  ///< it has seen a region: what it waits for next comes after a gap
    wait_history announcements = {};
    anticipating_wait anticipating = {};
    wait_history reports = {};
  };

  // What the wait engine looks at.
  struct announced {
    fork_board& board;
    std::size_t line;
    std::uint32_t target;
    bool is_only_one;  ///< who watches this line

    bool ready() const noexcept {
      const platform::wait_word& word = board.lines_[line].value.announced;
      return word.load(platform::memory_order_acquire) == target ||  // 3
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

    bool ready() const noexcept {
      return board.reports_[rank].value.load(platform::memory_order_acquire) == target;  // 5
    }
    void sleep(deadline until) {
      board.marks_[board.tree_.lines() + rank].sleep(*this, until, fence_payer_of(board.policy_));
    }
  };

  std::uint32_t seen(std::size_t rank) const noexcept { return histories_[rank].value.seen; }

  template <class Function>
  void for_each_published(std::size_t rank, std::size_t size, Function f) const {
    if (how_ == way::relayed) {
      tree_.for_each_led(rank, size, f);
    } else if (rank == 0) {
      tree_.for_each_needed(size, f);
    }
  }

  void announce(std::size_t rank, const region_head& head, const job& what) {
    for_each_published(rank, head.size, [&](const fork_tree::line& at) {
      lines_[at.index].value.what = what;
      publish(at.index, head);
    });
  }
  void publish(std::size_t line, const region_head& head) {
    const std::uint32_t next = ++counts_[line].value;
    lines_[line].value.head = head;
    lines_[line].value.announced.store(next, platform::memory_order_release);  // 2
    marks_[line].notify(fence_payer_of(policy_));
  }
  bool has_one_worker() const noexcept { return tree_.members() == 2; }

  platform::line_gap before_;
  const fork_tree tree_;
  platform::aligned_array<platform::padded<region_line>> lines_;
  platform::aligned_array<platform::padded<std::uint32_t>> counts_;
  platform::aligned_array<platform::padded<platform::wait_word>> reports_;
  platform::aligned_array<platform::padded<private_state>> histories_;
  platform::aligned_array<sleeper_mark> marks_;
  platform::wait_word closed_{0};
  const wait_policy policy_;
  const way how_;
  const bool anticipates_;
  platform::line_gap after_;
};

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_TEAM_FORK_BOARD_HPP
