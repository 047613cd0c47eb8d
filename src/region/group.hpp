// SPDX-License-Identifier: MIT
// src/region/group.hpp -- what the members of a region or a sub-team share (layer: region)
//
// A group is made once and used by region after region. Each member has a state in it, on lines of its own. The
// boards do the waiting. The caller of the regions calls begin() and come_to_rest(). For users: member.hpp.
//
//   GROUP-1  Between come_to_rest() and begin() every board is at rest: phases equal, constructs empty, steps 0.
//            After a region that was stopped the boards are reset: no member is in it any more.
//   GROUP-2  A member writes its cells of phase p + 1 before it arrives in that phase, and those of p + 3 after all
//            have read them (MEET-1 of team_barrier.hpp). So does a member that runs the share of another
//            (loops.hpp): it has seen all arrive in phase p.
//   GROUP-3  When a region is over, stopped or not, every value that a cell points to has been destroyed. The values of
//            a sub-team end with it, inside the region.
//   GROUP-4  In builds that diagnose misuse, the return of a member from its part, or from its sub-team, is its last
//            construct: it arrives there, and does not wait. So a member that waits in another construct meets it
//            there, and reports which are missing. If the watchdog is on when the region begins, or when the sub-team is
//            made, this is left to the watchdog, which reports more. All members have to do the same, or their phases
//            would differ. A member that waits inside a construct, or for a step, looks now and then where others
//            have arrived (awaits_others).
//
// Memory order (# marks the line; each weakening must fail a test)
//   #  access           order    pairs  why it suffices
//   1  left.load        relaxed  -      the end of the region orders it after 2
//   2  left.fetch_or    relaxed  -      as 1
//   3  users.fetch_sub  acq_rel  3      the last to let go sees all that others did in the sub-team, then destroys it
//   4  left.store       relaxed  -      while no member leaves anything behind
//
// Cost   about 2 KiB a member and 20 KiB, once.
#ifndef LOCKSTEP_SRC_REGION_GROUP_HPP
#define LOCKSTEP_SRC_REGION_GROUP_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <lockstep/detail/region/member_state.hpp>
#include "../platform/intrusive_list.hpp"
#include "../wait/wait_engine.hpp"
#include "loop_board.hpp"
#include "region_board.hpp"
#include "team_barrier.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

struct sub_group;

//   STEP-1  A member publishes the number of the step that it has finished; any other may wait for it, or a later one.
//           What the member does before happens before the return of those waits. Steps begin at 0 in every region and
//           only grow. For wavefronts and halos, where a barrier would wait for more members than needed.
//   STEP-2  The caller of the regions resets the steps after each region in which a member has published one.
//   STEP-3  Members may begin their parts anew within a region (member_state::begin_again()), when all have ended them. Steps
//           then begin at 0: each member has two words, used in turn. A member that begins resets the word that it leaves.
//           Nobody waits for that word any more; and nobody will, before all have ended this part, too.
//
// Cost   to publish a step: one store on one's own line. To wait for it: one line fetch.
class group {
 public:
  /// A sub-team passes the group of the region; nested sub-teams end with that group, too. `separates_cpus`: see
  /// team_barrier.hpp. `most_flags`: regions of up to this many members meet by flags, larger ones by the tree.
  group(std::size_t most, wait_policy policy, stop_source& stop, group* of_region = nullptr,
        bool separates_cpus = false, std::size_t most_flags = team_barrier::usual_most_flags,
        const rank_groups& groups = rank_groups());
  ~group();

  team_barrier barrier;
  loop_board loops;
  share_board shares;          ///< of loops inside a region
  aligned_array<cell> leaves;  ///< of reductions whose leaves are handed out

  group& of_region() noexcept { return of_region_; }
  /// In a child process: a thread that held the lock is not there. Leaves alone the values that another thread was about
  /// to make or destroy.
  void forget_others() noexcept;

  std::size_t most() const noexcept { return members_.size(); }
  member_state& state(std::size_t rank) noexcept { return members_[rank].value; }

  /// The k-th cell of a member for the phase in which it arrives next, or has arrived.
  cell& cell_of(std::size_t rank, std::uint32_t phase, std::size_t k) noexcept {
    return k == 0 ? barrier.value_of(rank, phase) : state(rank).nodes[phase & 1u][k - 1];
  }

  /// The step that a member has published last: STEP-1. `set`: 0 or 1, STEP-3.
  published_word<std::size_t> step_of(std::size_t rank, std::uint32_t set) const noexcept {
    return steps_[rank + set * most()];
  }

  /// The caller of the regions calls this before a region of `size` members. A region of one member meets nobody, and
  /// changes nothing.
  void begin(std::size_t size) noexcept {
    if (LOCKSTEP_UNLIKELY(size != size_ && size > 1)) {
      // Members that were in no region meanwhile are behind. So is the barrier that was not used since (flags or tree).
      reset_members(state(0).phase, state(0).construct);
      size_ = size;
    }
    if (diagnoses_misuse) tells_returns_ = !is_observed_by(observer::watches);
  }

  /// What members leave behind in a region, as bits of a word.
  enum leavings : std::uint32_t { values = 1, steps = 2 };
  bool has_left(std::uint32_t what) const noexcept {
    return (left_.load(memory_order_relaxed) & what) != 0;  // 1
  }
  void note(leavings what) noexcept {
    if (!has_left(what)) left_.fetch_or(what, memory_order_relaxed);  // 2
  }
  /// After a region, when every member has ended its part: resets what they left behind, and destroys the values that
  /// they keep. No thread reads those any more. Called by the caller of the region, marked as inside (turns.hpp).
  LOCKSTEP_ALWAYS_INLINE void come_to_rest(bool was_stopped) {
    if (was_stopped || left_.load(memory_order_relaxed) != 0) put_to_rest(was_stopped);  // 1
  }

  /// After a phase: checks that all members arrived in it from the same construct. If not, ends the program with a
  /// message that names both constructs. A member may read the others' notes for this phase as it reads their cells:
  /// GROUP-2. In a stopped region others may have written newer notes: then there is no message.
  void check_constructs(const member_state& self) {
    if (!diagnoses_misuse) return;
    const member_state::told_construct& mine = self.told[self.phase & 1u];
    for (std::size_t rank = 0; rank < self.size(); ++rank) {
      const member_state::told_construct& theirs = state(rank).told[self.phase & 1u];
      if (mine.note.kind == nullptr || theirs.note.kind == nullptr) continue;
      if (is_same(mine.note, theirs.note) && mine.without_wait == theirs.without_wait) continue;
      if (self.is_stopped()) return;
      report_difference(self, mine.note, rank, self.phase);
    }
  }

  /// A member has returned: GROUP-4.
  void note_return(member_state& self) noexcept;

 private:
  friend struct sub_group;
  friend class awaits_others;

  static bool is_same(const construct_note& a, const construct_note& b) noexcept {
    return a.extent == b.extent && (a.kind == b.kind || std::strcmp(a.kind, b.kind) == 0);
  }
  /// The member is in `mine`; `rank` has arrived in phase `phase` from another construct. Either may have returned.
  [[noreturn]] void report_difference(const member_state& self, const construct_note& mine,
                                      std::size_t rank, std::uint32_t phase);

  void put_to_rest(bool was_stopped);
  /// No member is in the group; all begin after `phase`, with this construct.
  void reset_members(std::uint32_t phase, std::uint32_t construct) noexcept;
  /// Requires: no other thread uses them.
  void destroy_sub_groups();

  group& of_region_;
  // The sub-teams of the region, at any depth. Members make them together, and the last member to let go destroys them. In
  // a stopped region some members may never let go: the caller of the region destroys the rest.
  short_lock subs_lock_;
  intrusive_list<sub_group> subs_;
  aligned_array<padded<member_state>> members_;
  published_words<std::size_t> steps_;  ///< two of each member
  std::size_t size_ = 1;                ///< of the last region in which members met
  bool tells_returns_ = !is_observed_by(observer::watches);  ///< GROUP-4: the same for all members
  wait_word left_{0};
};

/// The member waits inside a construct for what others do there, or for a step of the member `awaited`. Where misuse is
/// diagnosed, a long wait looks now and then whether one of them has arrived in the next phase from another construct, and
/// so never does it: GROUP-4. Not on a thread with a pulse of its own.
class awaits_others {
 public:
  static constexpr std::size_t nobody = ~std::size_t{0};

  awaits_others(member_state& self, const construct_note& in,
                std::size_t awaited = nobody) noexcept {
    if (diagnoses_misuse) begin(self, in, awaited);
  }
  ~awaits_others() {
    if (diagnoses_misuse) wait_pulse::of_this_thread() = before_;
  }
  awaits_others(const awaits_others&) = delete;
  awaits_others& operator=(const awaits_others&) = delete;

 private:
  void begin(member_state& self, const construct_note& in, std::size_t awaited) noexcept;
  static void look(void* of);

  member_state* self_;
  construct_note in_;
  std::size_t awaited_, missing_;
  wait_pulse pulse_;
  const wait_pulse* before_;
};

/// What the members of a sub-team share; made by `new`, by the member that is to have rank 0.
struct sub_group : list_node<sub_group> {
  sub_group(std::size_t size, group& of)
      : shared(size, of.barrier.policy(), of.barrier.stop(), &of.of_region()),
        users(static_cast<std::uint32_t>(size)) {
    const holding<short_lock> here(shared.of_region().subs_lock_);
    shared.of_region().subs_.push_front(*this);
  }
  ~sub_group() {
    const holding<short_lock> here(shared.of_region().subs_lock_);
    shared.of_region().subs_.remove(*this);
  }

  /// A member lets go: the last one destroys the group.
  void let_go() {
    if (users.fetch_sub(1, memory_order_acq_rel) == 1) delete this;  // 3
  }

  group shared;
  wait_word users;
};

inline void member_state::enter(std::size_t size, std::uint32_t region) noexcept {
  size_ = size;
  region_ = region;
  last_by_rank = last_without_wait = phase - 1;  // in no phase of this region
  if (!diagnoses_misuse) return;
  in_construct.kind = told[0].note.kind = told[1].note.kind = nullptr;
  without_wait = 0;
  inside = nullptr;
  thread_ = number_of_this_thread();
}

template <class Pass>
LOCKSTEP_ALWAYS_INLINE bool meet_unseen(member_state& self, bool arrives, const Pass& pass) {
  if (arrives) self.tell_construct();
  const bool goes_on = pass();
  if (goes_on) self.shared().check_constructs(self);
  return goes_on;
}
template <class Pass>
LOCKSTEP_NOINLINE bool meet_seen(member_state& self, bool arrives, const Pass& pass,
                                 const char* kind, call_site where) {
  const meeting_view seen = meeting_begins(self, kind, where, arrives);
  const bool goes_on = meet_unseen(self, arrives, pass);
  if (seen != meeting_view::none) meeting_ends(self, seen, kind, where);
  return goes_on;
}
/// A meeting, checked. pass() blocks until all have arrived; false once the region is stopped. If another member
/// arrives for this one (`arrives` is false), others may already read its note: the one that come_to() wrote stays.
/// `kind`: begins this construct for observers, too. Meetings that observers see are a function of their own, so that
/// others keep no values over the wait.
template <class Pass>
LOCKSTEP_ALWAYS_INLINE bool meet(member_state& self, bool arrives, const Pass& pass,
                                 const char* kind = nullptr, call_site where = call_site::none()) {
  if (LOCKSTEP_UNLIKELY(observers() != 0)) return meet_seen(self, arrives, pass, kind, where);
  return meet_unseen(self, arrives, pass);
}
/// The same as team_barrier::meet(). First checks that all members are in the same construct: otherwise cells may hold
/// anything. Requires: !is_alone().
template <class Combine, class Arrival = usual_arrival>
LOCKSTEP_ALWAYS_INLINE bool meet(member_state& self, cell& out, const Combine& combine,
                                 Arrival&& arrival = Arrival()) {
  return meet(self, arrival.arrives(), [&] {
    const auto checked = [&](cell& into) {
      self.shared().check_constructs(self);
      combine(into);
    };
    return self.shared().barrier.meet(self, out, checked, arrival);
  });
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_REGION_GROUP_HPP
