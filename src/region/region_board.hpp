// SPDX-License-Identifier: MIT
// src/region/region_board.hpp -- tells the workers of a team what to do, and when all are done (layer: region)
//
// A region is announced on lines (rank_tree.hpp says which member watches which line, and which leader publishes it). A
// member that watches an announced line takes its assignment from it, and reports back on a line of its own. A leader
// reads its own line, publishes the lines of those it leads, and collects their reports before it reports. The parts of a
// loop are claimed on a share_board, below, so that other threads run what a late member leaves.
//
//   ANNOUNCE-1  A region's phase is the same on all lines that announce it, and greater than those before; its lowest
//           bit is the kind of region. A watcher misses no phase of a `run`, since the next one comes only
//           after its report. It may miss phases of loops: then other threads have done its share.
//   ANNOUNCE-2  In a `run` every watcher takes part and reports the phase that it has seen. In a loop the parts of its
//           share are claimed (share_board): the member that claims the first one relays, the one that finishes
//           the last one collects and reports. Either way a report has caught up with the line exactly when the
//           share is done. No report is awaited from a member without announcement, or above the size of a loop.
//   ANNOUNCE-3  What is done for a member in a region, and for those below it in the tree, happens before its
//           report. The report happens before the return of the collect() that collects it.
//   ANNOUNCE-4  A line is not written again before all reports of its phase have been collected. Of a loop's line a
//           member reads only the word until it has claimed a part.
//   ANNOUNCE-5  No line, claim or report is older than 2^31 phases: then the caller renews them all, and announces that
//           there is no region. So no thread mistakes a phase that comes again for the old one.
//   ANNOUNCE-6  A `run` and the end of the team wake all sleepers. A loop may leave them asleep, and end without them.
//
// A worker whose sleep reached its deadline (anticipation.hpp) takes its mark back if no other thread sleeps on it.
//
// Cost   two members: two line transfers in a row; a system call only if a member sleeps. No RMW in a `run`; in a
//        loop one for each member, on a line of its own.
// Source the job on the line of the phase: [LIBOMP] has only a flag there, and fetches a second line.
#ifndef LOCKSTEP_SRC_REGION_REGION_BOARD_HPP
#define LOCKSTEP_SRC_REGION_REGION_BOARD_HPP

#include <cstddef>
#include <cstdint>
#include <utility>

#include <lockstep/detail/platform/cache_line.hpp>
#include <lockstep/detail/region/job.hpp>
#include "../base/rank_tree.hpp"
#include "../platform/fetch_for_writing.hpp"
#include "../platform/system.hpp"
#include "../wait/published_words.hpp"
#include "anticipation.hpp"
#include "team_barrier.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// What a member must know of a region before it starts.
struct region_head {
  std::uint32_t region;  ///< its number, never 0
  std::uint32_t size;    ///< members that take part: ranks below it
};

/// The word that announces a region: a value. It says all that a member needs before it claims a part of a loop
/// (share_board). The member may read the rest of the line only after the claim.
//
//   bits    of the word         set by the member that announces the region
//   63..32  its phase           the lowest bit is the kind of region: 1 for a loop
//   31..16  its size less 1     ranks from the size on have no share of a loop
//   15      1: a seen `run`     its members tell observers of their parts
//   14..0   parts of a share    0 for a `run`
// A word with the kind of a `run` and with parts means that there is no region. Its size is 1 if there was none yet.
class announcement {
 public:
  static constexpr std::uint32_t most_parts = 0x7FFF;

  constexpr explicit announcement(std::uint64_t word = 0) noexcept : word_(word) {}
  /// Requires 0 < size <= 65536; parts is 0 for a `run`, 1 to most_parts for a loop.
  constexpr announcement(std::uint32_t phase, std::uint32_t size, std::uint32_t parts,
                         bool is_seen = false) noexcept
      : word_(std::uint64_t{phase} << 32 | std::uint64_t{size - 1} << 16 |
              (is_seen ? seen_bit : 0u) | parts) {}

  /// Requires: the phase is even. `members`: 1 before the first region.
  static constexpr announcement none(std::uint32_t phase, std::uint32_t members) noexcept {
    return announcement(phase, members, 1);
  }

  constexpr std::uint64_t word() const noexcept { return word_; }
  constexpr bool is_before_the_first() const noexcept { return size() == 1; }
  constexpr std::uint32_t phase() const noexcept { return static_cast<std::uint32_t>(word_ >> 32); }
  /// In a loop another thread may run the share of a late member. In a `run` every member is needed.
  constexpr bool is_loop() const noexcept { return (phase() & 1u) != 0; }
  constexpr bool is_run() const noexcept { return parts() == 0; }
  constexpr std::uint32_t size() const noexcept {
    return static_cast<std::uint32_t>(word_ >> 16 & 0xFFFF) + 1;
  }
  constexpr std::uint32_t parts() const noexcept {
    return static_cast<std::uint32_t>(word_) & most_parts;
  }
  constexpr bool is_seen() const noexcept { return (word_ & seen_bit) != 0; }

 private:
  static constexpr std::uint32_t seen_bit = most_parts + 1;

  std::uint64_t word_;
};

// The function of a loop does not see which member runs which iterations. So each member has a share of the loop, cut
// into parts, and the thread that claims a part runs it. Usually that is the member itself. Another thread claims it if
// the member is late, has lost its CPU, or is slow. So there is no wait for a thread that has not begun. Two kinds of
// loops are claimed here, each on a board of its own: loops that are a region (region_board), and loops inside a
// region that end with a phase of the barrier (loops.hpp).
//
//   bits of a share's word  name   meaning                                       changed by
//   63..32                  phase  of the loop whose parts were claimed last     the first claim in each loop
//   31..0                   left   how many parts of the share are still         each claim: one less
//                                  unclaimed in that loop
// The word may lag behind: before the first claim in a loop it belongs to an earlier loop. Then all parts are left.
//
//   bits of `finished`      meaning                                              changed by
//   31..0                   how many have finished with the share in this loop;  each of them: one more; the last: 0
//                           0 where one is enough
//
//   PART-1  In every loop each part is claimed once: by a compare-and-swap from the word that was read before. No word
//           comes again (ANNOUNCE-5), so a claim from an old word fails.
//   PART-2  A share is reported when all its parts have been run, and a loop ends when all its shares are reported. So
//           a loop cannot end between the claim of a part and finish() of that part. Only in between may the claiming
//           thread read what belongs to the region.
//   PART-3  A thread that claims reads the word first, and then the line that announces the loop. If the claim
//           succeeds, the word has not changed in between, and the line was that of the loop: if the word has parts
//           left, its loop goes on, and no other loop is announced. If it has none, it is of an earlier loop,
//           or lines were renewed after one.
//   PART-4  The last that finishes with a share reports it. What was done for the share happens before the report.
//   PART-5  Inside a region the phase is the number of the loop, counted by the members, and each share has one part.
//           All members come to the same loops, and none leaves a loop before all have arrived. So each word is of loop
//           n - 1 until the share of loop n is claimed, and a claim succeeds only from that word. A late claimer may
//           find a later loop's word. If a share was taken over, the member finishes with it when it comes, and the
//           other thread when the share is done. The last of the two arrives for the member in the barrier: that is the
//           report. After a region that was stopped or had another size, words lag behind: all words and the members'
//           counts restart at 0 (group.hpp).
//
// Memory order (# marks the line; each weakening must fail a test)
//   #  access              order    pairs  why it suffices
//   1  word.load           acquire  2, 6   PART-3: the line that is read next is not behind the word
//   2  word.compare_exch   release  1      the other half. What the part needs was ordered by the announcement or the
//                                          barrier, and what it does will be by the report
//   3  word.compare_exch   relaxed  -      it failed: 1 comes again
//   4  finished.fetch_add  acq_rel  4      PART-4: the last one sees what all others did
//   5  finished.store      relaxed  -      the report orders it before the next loop's
//   6  word.store          release  1      PART-3, where lines were renewed; else while no member is in a region
//
// Cost   while the member is in time: one RMW, 6 ns, on a line that only this member touches. With several parts: two
//        RMWs a part. The word has a line of its own: the member that collects polls the report's line, and a claim
//        there would have to take that line back before the share can begin.
class share_board {
 public:
  enum class outcome { claimed, none_left, changed };

  explicit share_board(std::size_t members) : shares_(members) {}

  /// The word of a share. Read it before the announcement that the claim uses.
  std::uint64_t look(std::size_t rank) const noexcept {
    return shares_[rank].value.word.load(memory_order_acquire);  // 1
  }
  /// Claims the next part of a share; `part` gets its number. Call look() first, then read the phase of a loop that
  /// has this rank, and how many `parts` its shares have. `changed`: another thread has claimed meanwhile; look again.
  outcome try_claim(std::size_t rank, std::uint64_t seen, std::uint32_t phase, std::uint32_t parts,
                    std::uint32_t& part) noexcept {
    const bool is_first = phase_of(seen) != phase;
    if (!is_first && left_of(seen) == 0) return outcome::none_left;
    const std::uint64_t next = is_first ? word_of(phase, parts - 1) : seen - 1;
    if (!shares_[rank].value.word.compare_exchange_strong(seen, next,
                                                          memory_order_release,     // 2
                                                          memory_order_relaxed)) {  // 3
      return outcome::changed;
    }
    part = parts - 1 - left_of(next);
    return outcome::claimed;
  }

  /// `count` threads finish with a share. True for the last of them: it must report the share.
  bool finish(std::size_t rank, std::uint32_t count) noexcept {
    if (count == 1) return true;
    share& at = shares_[rank].value;
    const std::uint32_t before = at.finished.fetch_add(1, memory_order_acq_rel);  // 4
    if (before + 1 != count) return false;
    at.finished.store(0, memory_order_relaxed);  // 5
    return true;
  }

  /// The word of a share whose parts have all been claimed in `phase`.
  static constexpr std::uint64_t all_claimed(std::uint32_t phase) noexcept {
    return word_of(phase, 0);
  }
  /// Sets the share as if all its parts had been claimed in `phase`.
  void reset(std::size_t rank, std::uint32_t phase) noexcept {
    shares_[rank].value.word.store(all_claimed(phase), memory_order_release);  // 6
    shares_[rank].value.finished.store(0, memory_order_relaxed);               // 5
  }

 private:
  struct share {
    atomic<std::uint64_t> word{0};
    wait_word finished{0};
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

  aligned_array<padded<share>> shares_;
};

struct announced_region {
  std::uint32_t region = 0;
  job what;
};
static_assert(sizeof(announced_region) <= 64 - sizeof(std::uint64_t),
              "the word, the region and its job share a cache line");

/// What a worker is to do: the region of its line, and in a loop the part of the share. Valid until the worker has
/// reported, or finished the part.
struct assignment {
  announced_region* line;
  announcement announced;
  std::uint32_t part;

  bool is_loop() const noexcept { return announced.is_loop(); }
  region_head head() const noexcept { return {line->region, announced.size()}; }
};

// Memory order (# marks the line; published_words.hpp has that of lines and reports)
//   #  access        order    pairs  why it suffices
//   1  closed.store  relaxed  -      while no worker lives
//   2  closed.store  release  3      a worker that leaves sees what came before close()
//   3  closed.load   acquire  2      the other half
//   4  asleep.add    relaxed  -      a hint: it says how a loop is run, and orders nothing
//   5  asleep.load   relaxed  -      as 4
//   6  asleep.store  relaxed  -      while no worker lives
//   7  came.store    relaxed  -      a time, for statistics
//   8  came.load     relaxed  -      as 7
class region_board {
 public:
  /// After how many phases lines, claims and reports are renewed (ANNOUNCE-5): half of those that a line can tell apart.
  static constexpr std::uint64_t usual_most_age = std::uint64_t{1} << 31;

  /// Phases begin after `first_phase`, and lines are renewed after `most_age` of them. `anticipates`: has an effect
  /// only with the adaptive policy in a team that is not crowded. `separation`: that of the team's barrier.
  region_board(rank_tree tree, wait_policy policy, cpu_separation& separation,
               std::uint32_t first_phase = 0, bool anticipates = false,
               std::uint64_t most_age = usual_most_age)
      : tree_(std::move(tree)),
        lines_(tree_.lines(), wait_engine::for_region(policy, tree_.members())),
        reports_(tree_.members(), lines_.policy()),
        shares_(tree_.members()),
        own_(tree_.members()),
        missed_(1),
        asleep_(tree_.lines()),
        separation_(separation),
        most_age_(most_age),
        anticipates_(anticipates && policy.is_adaptive() && !policy.is_crowded()),
        line_count_(static_cast<std::uint32_t>(tree_.lines())) {
    reset(first_phase);
  }

  /// Whether this worker tells others of regions, and collects their reports.
  bool is_leader(std::size_t rank) const noexcept { return !tree_.told_by(rank).empty(); }

  /// Member 0 announces a region to every worker that the region needs. Without `parts` it is a `run`, what(member&).
  /// With `parts` it is a loop, what(loop_share&), whose shares have this many parts. A loop needs no worker: `wakes`
  /// says whether its sleepers are woken now; wake() can do it later. `is_seen`: observers see the `run`. Requires
  /// head.size > 1.
  LOCKSTEP_ALWAYS_INLINE void announce(const region_head& head, const job& what,
                                       std::uint32_t parts = 0, bool wakes = true,
                                       bool is_seen = false) {
    if (phase_ - renewed_ > most_age_) announce_nothing();
    phase_ = (phase_ | 1u) + 1u + (parts > 0 ? 1u : 0u);
    const announcement now(static_cast<std::uint32_t>(phase_), head.size, parts, is_seen);
    announced_ = now;
    if (line_count_ == 1) {
      publish(0, head.region, what, now, wakes);
    } else {
      publish_lines(0, head.region, what, now, wakes);
    }
  }
  /// Wakes the members that a region of this size is announced to.
  LOCKSTEP_NOINLINE void wake(std::size_t size) {
    for (std::size_t line = 0; line < line_count_; ++line)
      if (tree_.first_watcher(line) < size) lines_[line].wake();
  }
  /// The caller has run a loop while the workers slept, and has woken none of them for it.
  void note_missed(std::uint64_t begin, std::uint64_t end) noexcept {
    missed_[0].value.note(begin, end);
  }
  /// Between regions: tells all members that there is none. It wakes the workers that missed loops, and renews all lines,
  /// and then all claims (PART-3) and reports.
  LOCKSTEP_NOINLINE void announce_nothing() {
    phase_ = renewed_ = (phase_ | 1u) + 1u;
    announced_ = announcement::none(static_cast<std::uint32_t>(phase_),
                                    static_cast<std::uint32_t>(members()));
    for (std::size_t line = 0; line < line_count_; ++line) lines_[line].publish(announced_.word());
    for (std::size_t rank = 0; rank < members(); ++rank) {
      shares_.reset(rank, announced_.phase());
      reports_[rank].reset(announced_.phase());
    }
  }
  /// Whether a member that a region of this size needs may be asleep.
  LOCKSTEP_HOT bool has_sleepers(std::size_t size) const noexcept {
    for (std::size_t line = 0; line < line_count_; ++line) {
      const bool is_asleep = asleep_[line].value.load(memory_order_relaxed) != 0;  // 5
      if (is_asleep && tree_.first_watcher(line) < size) return true;
    }
    return false;
  }

  /// A worker waits for the next region in which it has work: a `run`, or a loop in which it has claimed a part
  /// of its share. False once closed.
  LOCKSTEP_HOT bool next(std::size_t rank, assignment& out) {
    const std::size_t line = tree_.watched_by(rank);
    private_state& own = own_[rank].value;
    member_pace& pace = separation_.pace_of(rank);
    while (true) {
      const announcement seen = own.seen;
      watched_line what(*this, rank, line, seen);
      if (anticipates_) {
        if (!what.ready() && !wait_engine::poll(what)) {
          wait_for_region(what, lines_.policy(), separation_, rank, missed_[0].value, own.heard,
                          seen.phase());
        }
      } else {
        wait_engine::wait(what, lines_.policy(), pace.regions);
      }
      if (is_closed()) return false;
      if (what.has_slept) own.came.store(monotonic_nanoseconds(), memory_order_relaxed);  // 7
      out = on_line(line);
      // By the time of the claim the loop may have ended, and a `run` begun.
      const bool is_needed = out.announced.is_run() || claim(rank, out) || out.announced.is_run();
      own.seen = out.announced;
      // The wait for the first region is not a gap. Nor is a wait in which regions went by unseen.
      if (seen.is_before_the_first() || own.seen.phase() - seen.phase() > 3) pace.forget_gap();
      if (is_needed) return true;
    }
  }

  /// Claims the next part of a share in the current loop, if one is left. Any thread of the team may call it. If shares
  /// have one part, the caller runs its own without a claim.
  LOCKSTEP_HOT bool claim(std::size_t rank, assignment& out) {
    while (true) {
      const std::uint64_t known = shares_.look(rank);
      out = on_line(tree_.watched_by(rank));
      if (!out.is_loop() || rank >= out.announced.size()) return false;
      if (rank == 0 && out.announced.parts() == 1) return false;  // the caller runs it, unclaimed
      const share_board::outcome how =
          shares_.try_claim(rank, known, out.announced.phase(), out.announced.parts(), out.part);
      if (how != share_board::outcome::changed) return how == share_board::outcome::claimed;
    }
  }
  /// A claimed part was run. True if the caller must now complete the share, and report it.
  bool finish_part(std::size_t rank, const assignment& of) {
    return shares_.finish(rank, of.announced.parts());
  }

  /// A leader announces the region to those it leads, before its own first part. No effect for other members.
  void relay(std::size_t rank, const assignment& from, bool wakes) {
    if (!is_leader(rank)) return;
    publish_lines(rank, from.line->region, from.line->what, from.announced, wakes);
  }

  /// Waits for the reports of all to whom this member has announced the region, as far as the region needs them.
  LOCKSTEP_HOT void collect(std::size_t rank, announcement of) {
    // In place of a leader that waits elsewhere, another thread may collect here, on a CPU of its own.
    cpu_separation* const known = rank == 0 ? &separation_ : nullptr;
    member_pace& pace = separation_.pace_of(rank);
    round_pace* const round = rank == 0 && reports_.policy().is_crowded() ? &pace.rounds : nullptr;
    if (round != nullptr) round->announced();
    for_each_told(rank, of, [&](std::size_t watcher) {
      reports_[watcher].wait(word_is<std::uint32_t>(of.phase(), wait_kind::end_of_part, 0,
                                                    static_cast<std::uint32_t>(watcher)),
                             never_stops(), pace.reports, whereabouts{known, 0, watcher, round});
    });
  }
  /// Whether all of them have come.
  bool have_reported(std::size_t rank, announcement of) const noexcept {
    bool all = true;
    for_each_told(rank, of, [&](std::size_t at) { all = all && has_reported(at, of); });
    return all;
  }
  /// Calls f(watcher) for the members to which `rank` has announced the region, as far as the region needs them. In a
  /// loop whose shares have several parts, calls it for the caller first.
  template <class Function>
  void for_each_told(std::size_t rank, announcement of, const Function& f) const {
    if (rank == 0 && of.parts() > 1) f(rank);
    for (const rank_tree::told& at : tree_.told_by(rank)) {
      // All watchers of an announced line hear of the region. Those that a loop does not need do not report.
      if ((of.is_loop() ? at.rank : at.first_of_line) < of.size()) f(std::size_t{at.rank});
    }
  }
  std::size_t members() const noexcept { return tree_.members(); }

  /// Called by a member that takes part: whether a share was reported.
  bool has_reported(std::size_t rank, announcement of) const noexcept {
    return reports_[rank].value() == of.phase();
  }
  /// For the caller, which does not look at a line that it has just published.
  announcement current() const noexcept { return announced_; }

  // Before its next write, a line that others poll is fetched back early, while the thread still has other work to do.
  // On a machine where a line takes 30 ns, a `run` of two takes 0.85 of the time with both calls; one alone gains
  // hardly anything.

  /// For the caller of a `run`, once all have reported: it ends the region, and may begin the next one.
  void expect_next() noexcept {
    if (line_count_ == 1) fetch_for_writing(&lines_.beside(0));
  }
  /// For a worker in a `run`, before its part.
  void expect_report(std::size_t rank) noexcept { fetch_for_writing(&reports_.beside(rank)); }

  /// A worker, or the thread that has completed its share, is done with the region. True if it has woken the caller.
  bool report(std::size_t rank, announcement of) { return reports_[rank].publish(of.phase()); }
  /// The worker has woken the caller of a `run`, and has time to see whether they share a CPU. On a shared CPU the next
  /// region is often there before the worker waits for it: then no wait would see that.
  LOCKSTEP_NOINLINE void look_for_caller(std::size_t rank, announcement of) {
    if (!anticipates_) return;
    separation_.pace_of(rank).region_ends(monotonic_nanoseconds(), of.phase());
    separation_.look_for(rank, 0);
  }

  /// 16 bytes that travel with a report. Before the report the reporting thread may use them, after it the caller.
  cell& beside_report(std::size_t rank) noexcept { return reports_.beside(rank); }
  /// When a member last woke up to a region.
  std::uint64_t last_coming(std::size_t rank) const noexcept {
    return own_[rank].value.came.load(memory_order_relaxed);  // 8
  }

  /// Lets all workers go: next() returns false.
  void close() {
    closed_.store(1, memory_order_release);  // 2
    lines_.wake_all();
  }

  bool is_closed() const noexcept {
    return closed_.load(memory_order_acquire) != 0;  // 3
  }

  /// Resets the board while no worker lives: before the workers start, or in a child of fork(). In the child the
  /// caller may be in a share: it finds that all shares have been claimed and reported.
  void reset(std::uint32_t first_phase = 0) noexcept {
    closed_.store(0, memory_order_relaxed);  // 1
    const announcement none = announcement::none(first_phase & ~1u, 1);
    lines_.reset(none.word(), line_count_);
    reports_.reset(first_phase, reports_.size());
    for (std::size_t line = 0; line < line_count_; ++line) {
      asleep_[line].value.store(0, memory_order_relaxed);  // 6
    }
    phase_ = renewed_ = first_phase;
    announced_ = none;
    for (std::size_t rank = 0; rank < tree_.members(); ++rank) {
      shares_.reset(rank, first_phase);
      own_[rank].value.seen = none;
    }
  }

 private:
  /// A member's own.
  struct private_state {
    announcement seen{};            ///< the last one
    std::uint32_t heard = 0;        ///< of missed_
    atomic<std::uint64_t> came{0};  ///< by the clock
  };

  struct is_news {
    announcement seen;
    bool operator()(std::uint64_t word) const noexcept { return word != seen.word(); }
    void describe(wait_subject& to) const noexcept { to.kind = wait_kind::next_region; }
  };

  /// What a worker waits for: a new word on its line, or the end of the team.
  struct watched_line final : awaited_word<std::uint64_t, is_news, stops_when_set> {
    /// Constructed in place: a copy on the stack would be read before the report has left the store buffer.
    watched_line(region_board& board, std::size_t rank, std::size_t line,
                 announcement seen) noexcept
        : awaited_word(board.lines_[line], is_news{seen}, stops_when_set{board.closed_},
                       whereabouts{&board.separation_, rank, 0, nullptr}),
          of(board),
          asleep(board.asleep_[line].value) {}

    const region_board& of;
    wait_word& asleep;
    bool has_slept = false;

    void sleep(std::uint64_t until) override {
      has_slept = true;
      asleep.fetch_add(1, memory_order_relaxed);  // 4
      awaited_word::sleep(until);
      asleep.fetch_sub(1, memory_order_relaxed);                                // 4
      if (until != no_deadline && of.members() == 2) awaited_word::withdraw();  // the only watcher
    }
  };

  assignment on_line(std::size_t line) noexcept {
    return {&lines_.beside(line), announcement(lines_[line].value()), 0};
  }
  /// The lines that are published by this member.
  LOCKSTEP_NOINLINE void publish_lines(std::size_t rank, std::uint32_t region, const job& what,
                                       announcement as, bool wakes) {
    tree_.for_each_led(rank, as.size(), [&](const rank_tree::line& at) {
      publish(at.index, region, what, as, wakes);
    });
  }

  LOCKSTEP_ALWAYS_INLINE void publish(std::size_t line, std::uint32_t region, const job& what,
                                      announcement as, bool wakes) {
    announced_region& beside = lines_.beside(line);
    beside.what = what;
    beside.region = region;
    lines_[line].publish_quietly(as.word());
    if (wakes) lines_[line].wake();
  }

  line_gap before_;
  const rank_tree tree_;
  published_words<std::uint64_t, announced_region> lines_;
  published_words<std::uint32_t, cell> reports_;
  share_board shares_;
  aligned_array<padded<private_state>> own_;
  aligned_array<padded<missed_loops>> missed_;
  /// How many sleep on each line. The mark of a line cannot say this: it stays when a sleep ends by its deadline.
  aligned_array<padded<wait_word>> asleep_;
  cpu_separation& separation_;
  wait_word closed_{0};
  const std::uint64_t most_age_;
  const bool anticipates_;
  const std::uint32_t line_count_;  ///< of tree_; the announcement does not read that
  line_gap callers_apart_;
  // The caller's own. It has more bits than a line: phases recur on a line, but not here.
  std::uint64_t phase_ = 0;  ///< the last one announced
  std::uint64_t renewed_ = 0;
  announcement announced_;
  line_gap after_;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_REGION_REGION_BOARD_HPP
