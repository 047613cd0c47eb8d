// SPDX-License-Identifier: MIT
// src/trace/ledger_hooks.cpp -- what hooks tell the ledger of members, regions and teams (layer: trace)
//
// What is left on is to be fast: in most meetings the ledger only counts, and it does so when the member was let go.
// What is stored before a member arrives delays the others: a few stores cost a barrier 50 ns, in the shadow of the next
// work they cost nothing that could be measured. Of the ways below only those in meetings and regions that the ledger
// has chosen, and where somebody else watches, are cold.
//
// Cost   off: none but the look at observers().
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>
#include <string>

#include <lockstep/ledger.hpp>
#include "../observe/hooks.hpp"
#include "ledger_slot.hpp"

#include "../observe/observers.hpp"
#include "../platform/user_files.hpp"
#include "ledger_board.hpp"
#include "ledger_hooks.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

LOCKSTEP_INLINE void keep_ledger(team_view& of, bool yes) {
  ledger_slot slot(of);
  if (yes) {
    slot.switch_on();
  } else {
    slot.switch_off();
  }
}

LOCKSTEP_INLINE void reset_ledger(team_view& of) noexcept {
  if (ledger_board* const board = ledger_slot::made(of)) board->reset();
}

LOCKSTEP_INLINE void gather_ledger(const team_view& of, ledger& to) {
  const ledger_board* const board = ledger_slot::made(of);
  if (board != nullptr) to = board->gather(to.team.c_str());
}

LOCKSTEP_INLINE void team_ends(team_view& of) noexcept {
  ledger_slot slot(of);
  slot.switch_off();
  delete slot.made();
}

LOCKSTEP_INLINE void print_ledger(const ledger& of, const ledger_output& to) {
  if (of.constructs.empty()) return;
  const calm_writes calm;
  if (to.file[0] == 0) {
    std::fputs(of.table().c_str(), stderr);
    return;
  }
  if (append_to_file(to.file, of.json() + "\n")) return;
  std::fprintf(stderr, "lockstep: %s=%s: the ledger cannot be written there: %s\n", to.name,
               to.given, std::strerror(errno));
}

// In destructors: where there is no memory it says so.
LOCKSTEP_INLINE void show_ledger(const team_view& of, const char* name,
                                 const ledger_output& to) noexcept {
  const ledger_board* const board = ledger_slot::made(of);
  if (board == nullptr || !to.is_wanted) return;
#if LOCKSTEP_HAS_EXCEPTIONS
  try {
#endif
    print_ledger(board->gather(name), to);
#if LOCKSTEP_HAS_EXCEPTIONS
  } catch (const std::bad_alloc&) {
    std::fputs("lockstep: LOCKSTEP_LEDGER: there is no memory for the ledger of a team\n", stderr);
  }
#endif
}

LOCKSTEP_INLINE void worker_ends() noexcept { ledger_hooks::work_for(nullptr); }

/// A meeting that is not only counted.
LOCKSTEP_INLINE meeting_view begin_to_see_meeting(member_view& self, bool arrives,
                                                  std::uint32_t on) noexcept {
  self.meets_in = watch_others_than_ledger(on) ? show_arrival(self, on) : nullptr;
  member_ledger* const own = (on & observer::accounts) != 0 ? self.accounts : nullptr;
  if (own == nullptr) return self.meets_in != nullptr ? meeting_view::all : meeting_view::none;
  own->begin_meeting();
  // Where another arrives for it, others may read by now: the meeting is counted, and not measured.
  if (own->meeting_weight != 0 && arrives) {
    self.segments[self.next_phase() & 1u] = {own->segment_begin, tick_clock::now(), self.region(),
                                             self.next_phase()};
  }
  return meeting_view::all;
}

LOCKSTEP_INLINE meeting_view meeting_begins(member_view& self, const char* kind, source_place where,
                                            bool arrives) noexcept {
  const std::uint32_t on = observers();
  member_ledger* const own = self.accounts;
  if (LOCKSTEP_UNLIKELY(watch_others_than_ledger(on) || own == nullptr ||
                        !own->passes_lightly(self.next_phase()))) {
    if (kind != nullptr) member_comes(self, kind, where, 0);
    return begin_to_see_meeting(self, arrives, on);
  }
  return meeting_view::count;
}

/// Rank 0 looks at the times of all, which they have told for this phase.
LOCKSTEP_INLINE void look_at_segment(const member_view& self, std::uint64_t over) noexcept {
  member_ledger& own = *self.accounts;
  busy_time* const times = own.times();
  for (std::size_t rank = 0; rank < self.size(); ++rank) {
    const segment_note& of = self.member_of(rank).segments[self.phase & 1u];
    // One that keeps no accounts, or did not when it came.
    if (of.region != self.region() || of.phase != self.phase || of.begin == 0) return;
    times[rank] = {of.begin, of.arrival};
  }
  own.note_segment(own.at, self.size(), over, own.stands_for,
                   [&](std::size_t rank) { return self.member_of(rank).rank_in_team(); });
}

/// The ledger has seen the meeting.
LOCKSTEP_INLINE void leave_meeting(member_view& self, member_ledger& own) noexcept {
  if (!self.has_left) {
    const construct_note& in = self.in_construct;
    const char* const kind = in.kind != nullptr ? in.kind : "barrier";
    own.at = own.accounts.find({kind, in.where, nullptr, own.label});
    own.accounts[own.at].passes.add(1);
    own.stands_for = own.meeting_weight;
    own.meeting_weight = own.paces.meetings.weight_of(self.next_phase());
    own.segment_begin = 0;
  }
  if ((own.stands_for | own.meeting_weight | own.known_releases) == 0 && own.long_wait == 0) return;
  const std::uint64_t now = tick_clock::now();
  const bool is_last_known = own.known_releases > 0 && --own.known_releases == 0;
  own.segment_begin = is_last_known && own.meeting_weight == 0 ? 0 : now;
  if (self.has_left) return;
  const segment_note& mine = self.segments[self.phase & 1u];
  if (mine.phase != self.phase || mine.region != self.region()) own.stands_for = 0;
  own.note_wait(own.accounts[own.at], now - mine.arrival, own.stands_for);
  if (own.stands_for == 0 || self.rank() != 0 || mine.begin == 0) return;
  if (self.rank_in_team() == 0) own.paces.meetings.took(now - mine.begin);
  look_at_segment(self, now);
}

LOCKSTEP_INLINE void end_to_see_meeting(member_view& self) noexcept {
  if (self.accounts != nullptr && self.accounts->is_meeting) {
    self.accounts->is_meeting = false;
    leave_meeting(self, *self.accounts);
  }
  if (self.meets_in != nullptr) show_release(*self.meets_in);
}

LOCKSTEP_INLINE void meeting_ends(member_view& self, meeting_view seen, const char* kind,
                                  source_place where) noexcept {
  if (LOCKSTEP_UNLIKELY(seen == meeting_view::all)) return end_to_see_meeting(self);
  if (kind != nullptr) self.in_construct = {kind, where, 0, 0};
  self.accounts->count_light(self.in_construct.kind, self.in_construct.where);
}

/// Members read it when they begin their parts.
LOCKSTEP_INLINE void name_region(const char*& label, const char* name) noexcept {
  if (name == nullptr) {
    label = nullptr;
  } else if (label == nullptr || std::strcmp(label, name) != 0) {
    label = keep_text(name);
  }
}

LOCKSTEP_INLINE void region_comes(region_view& of) noexcept {
  const std::uint32_t on = observers();
  of.since = LOCKSTEP_UNLIKELY(watch_others_than_ledger(on)) ? tick_clock::now() : 0;
  ledger_board* const board =
      (on & observer::accounts) != 0 ? ledger_slot::if_on(of.team) : nullptr;
  const thread_log* const log = board != nullptr ? log_of_this_thread() : nullptr;
  if (log == nullptr) return;
  // No store, where the user has no regions: it would delay the announcement.
  const char*& label = board->of(0).paces.label;
  if (LOCKSTEP_UNLIKELY(log->region_name != nullptr || label != nullptr)) {
    name_region(label, log->region_name);
  }
}

LOCKSTEP_INLINE void region_begins(region_view& of, const observed_region& what) noexcept {
  of.what = what;
  of.own = nullptr;
  ledger_board* const board = ledger_slot::if_on(of.team);
  of.log = board != nullptr ? log_of_this_thread() : nullptr;
  if (of.log == nullptr) return;
  member_ledger* const own = of.own = &board->of(0);
  of.board = board;
  of.before = ledger_hooks::work_for(own, *of.log);
  const void* const place = what.where.file == nullptr ? what.place : nullptr;
  of.account = own->accounts.find({what.kind, what.where, place, own->paces.label});
  own->accounts[of.account].passes.add(1);
  of.needs_all = !what.is_loop && what.size > 1;
  of.is_after_loop = of.needs_all && own->came_from_loop;
  own->came_from_loop = what.is_loop;
  if (of.is_after_loop) own->accounts[of.account].after_loops.add(1);
  if (what.is_loop) own->loops_on(what.size).add(1);
  if (what.size > own->paces.cpus) own->count(ledger_count::crowded);
  of.weight = static_cast<std::uint16_t>(own->paces.regions.weight_of(what.region));
  if (LOCKSTEP_UNLIKELY(of.weight != 0)) of.begin = tick_clock::now();
}

/// The caller looks at the times of the members, which they have left before they reported.
LOCKSTEP_INLINE void look_at_parts(const region_view& of, std::uint64_t over) noexcept {
  member_ledger& own = *of.own;
  busy_time* const times = own.times();
  std::size_t* const ranks = own.ranks();
  std::size_t came = 0;
  std::uint64_t first = ~std::uint64_t{0}, last = 0;
  for (std::size_t rank = 0; rank < of.what.size; ++rank) {
    const member_ledger& other = of.board->of(rank);
    // In a loop members may not have come.
    if (other.part_of_region.get() != of.what.region) continue;
    const std::uint64_t begin = other.part_begin.get(), end = other.part_end.get();
    if (begin < first) first = begin;
    if (begin > last) last = begin;
    const std::uint64_t segment = other.part_segment.get();
    times[came] = {segment != 0 ? segment : end, end};
    ranks[came++] = rank;
  }
  own.note_segment(of.account, came, over, of.weight, [ranks](std::size_t i) { return ranks[i]; });
  own.note_skew(of.account, last - first, of.weight);
  if (of.needs_all && last > of.begin)
    own.note_coming(of.account, last - of.begin, of.weight, of.is_after_loop);
}

/// A region that was chosen, or that its caller has waited for.
LOCKSTEP_INLINE void finish_account(const region_view& of) noexcept {
  member_ledger& own = *of.own;
  construct_account& to = own.accounts[of.account];
  if (of.weight == 0) {
    if (of.what.size > 1) own.note_wait(to, 0, 0);
    return;
  }
  const std::uint64_t now = tick_clock::now();
  to.regions_time.add(of.weight * (now - of.begin));
  own.paces.regions.took(now - of.begin);
  if (of.what.size == 1) {
    own.accounts.busy(of.account, 1).add(of.weight * (now - of.begin));
  } else if (own.part_of_region.get() == of.what.region) {
    own.note_wait(to, now - own.part_end.get(), of.weight);
    look_at_parts(of, now);
  }
}

LOCKSTEP_INLINE void region_ends(region_view& of) noexcept {
  if (of.own != nullptr) {
    ledger_hooks::work_for(of.before, *of.log);
    if (LOCKSTEP_UNLIKELY((of.weight | of.own->long_wait) != 0)) finish_account(of);
    of.own = nullptr;
  }
  if (LOCKSTEP_UNLIKELY(of.since != 0 && watch_others_than_ledger(observers()))) record_region(of);
}

LOCKSTEP_INLINE void region_runs_inline(bool is_loop) noexcept {
  if (is_observed_by(observer::accounts)) ledger_hooks::ran_inline(is_loop);
  note_mark(mark_kind::decision, is_loop ? "loop inline" : "run inline",
            "it was called from inside of a region", 1);
}

LOCKSTEP_INLINE void part_begins(const team_view& team, member_view& self) noexcept {
  self.in_construct.kind = nullptr;
  self.part = nullptr;
  self.accounts = nullptr;
  if (LOCKSTEP_UNLIKELY(watch_others_than_ledger(observers()))) {
    self.part = show_part(self.observed(), 0, false);
  }
  ledger_board* const board = ledger_slot::if_on(team);
  if (board == nullptr) return;
  self.accounts = &board->of(self.rank());
  if (self.rank() != 0) ledger_hooks::work_for(self.accounts);
  self.accounts->begin_part(self.region(), self.next_phase());
}

LOCKSTEP_INLINE void part_ends(member_view& self) noexcept {
  if (self.accounts != nullptr) self.accounts->end_part();
  self.accounts = nullptr;
  if (LOCKSTEP_UNLIKELY(self.part != nullptr)) loop_part_ends(*self.part);
}

LOCKSTEP_INLINE member_ledger* share_begins(const team_view& team, std::size_t self,
                                            std::uint32_t region) noexcept {
  ledger_board* const board = ledger_slot::if_on(team);
  if (board == nullptr) return nullptr;
  member_ledger* const own = &board->of(self);
  if (self != 0) ledger_hooks::work_for(own);
  if (own->loop != region) own->begin_loop(region);
  return own;
}

LOCKSTEP_INLINE void share_ends(member_ledger& of) noexcept { of.end_part(); }

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
