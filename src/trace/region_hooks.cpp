// SPDX-License-Identifier: MIT
// src/trace/region_hooks.cpp -- the hooks of observe/hooks.hpp for members, regions and teams (layer: trace)
//
// Programs may leave the ledger on, so it must be fast. In most meetings it only counts, after the member was let go.
// A few stores before a member arrives delay the others: they cost a barrier 50 ns. Stores after the release, beside
// the next work, cost nothing that could be measured. The only cold paths below are those for chosen meetings and
// regions, and for other observers.
//
//   KEEP-1  A board is made when the ledger is first switched on. It lives as long as the team_view: a thread that has
//           seen it may use it until the team ends.
//   KEEP-2  observer::accounts is not 0 as long as a ledger of the process is on.
//
// Memory order (# marks the line)
//   #  access            order    pairs  why it suffices
//   1  made.store        release  -      the board is made before its address is seen (2 of ledger_board.hpp)
//   2  kept.store        release  -      as 1, for a ledger that is on (3 of ledger_board.hpp)
//   3  kept.store        relaxed  -      null: nothing to see there
//
// Cost   off: none but the look at observers().
#include <cerrno>
#include <cstdio>
#include <cstring>

#include <lockstep/ledger.hpp>
#include "../observe/hooks.hpp"

#include "../observe/observers.hpp"
#include "../platform/signals.hpp"
#include "../platform/system_texts.hpp"
#include "../platform/user_files.hpp"
#include "debug_aids.hpp"
#include "ledger_board.hpp"
#include "recorder.hpp"
#include "thread_log.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

// A team and its ledger.

LOCKSTEP_INLINE void leave_ledger(team_view& of) noexcept {
  if (kept_board(of) == nullptr) return;
  of.kept.store(nullptr, memory_order_relaxed);  // 3
  made_board(of)->end_to_keep(tick_clock::now());
  one_ledger_less();
}

LOCKSTEP_INLINE void keep_ledger(team_view& of, bool yes) {
  if (!yes) return leave_ledger(of);
  if (kept_board(of) != nullptr || of.members > ledger_board::most_members) return;
  if (made_board(of) == nullptr) {
    of.made.store(new ledger_board(of.members, tick_clock::rate(), of.cpus),
                  memory_order_release);  // 1
  }
  made_board(of)->begin_to_keep(tick_clock::now());
  of.kept.store(made_board(of), memory_order_release);  // 2
  one_ledger_more();
}

LOCKSTEP_INLINE void reset_ledger(team_view& of) noexcept {
  if (ledger_board* const board = made_board(of)) board->reset();
}

LOCKSTEP_INLINE void gather_ledger(const team_view& of, ledger& to) {
  const ledger_board* const board = made_board(of);
  if (board != nullptr) to = board->gather(to.team.c_str());
}

LOCKSTEP_INLINE void team_ends(team_view& of) noexcept {
  leave_ledger(of);
  delete made_board(of);
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

// Destructors call it: it prints a message if there is no memory.
LOCKSTEP_INLINE void show_ledger(const team_view& of, const char* name,
                                 const ledger_output& to) noexcept {
  const ledger_board* const board = made_board(of);
  if (board == nullptr || !to.is_wanted) return;
  if (has_memory_for([&] { print_ledger(board->gather(name), to); })) return;
  std::fputs("lockstep: LOCKSTEP_LEDGER: there is no memory for the ledger of a team\n", stderr);
}

/// From now on the calling thread adds to these accounts; null: to none.
inline void work_for(member_ledger* own) noexcept {
  if (thread_log* const log = log_of_this_thread()) log->accounts = own;
}
LOCKSTEP_INLINE void worker_ends() noexcept { work_for(nullptr); }

// Members and their meetings.

/// From now on the thread of that log is in the construct that the member has noted.
LOCKSTEP_INLINE void enter_construct(thread_log& log, const member_view& self) noexcept {
  const construct_note& in = self.in_construct;
  const observed_member who = self.observed();
  log.here = {log.texts.kept(in.kind),
              log.texts.kept(in.where),
              who.team,
              who.region,
              who.rank,
              who.size,
              0 /*phase*/,
              in.came,
              0 /*arrived*/,
              0 /*released*/};
}

LOCKSTEP_INLINE void member_comes(member_view& self, const char* kind, source_place where,
                                  std::size_t extent) noexcept {
  const std::uint32_t on = observers();
  const bool is_shown = watch_others_than_ledger(on);
  self.in_construct = {kind, where, extent, LOCKSTEP_UNLIKELY(is_shown) ? tick_clock::now() : 0};
  thread_log* const log = LOCKSTEP_UNLIKELY(is_shown) ? log_of_this_thread() : nullptr;
  if (log == nullptr) return;
  enter_construct(*log, self);
  if ((on & observer::watches) != 0) log->show_visit();
}

/// The member begins to wait for all others. member_comes() may not have been called for the construct. Returns null if
/// there is no log.
LOCKSTEP_INLINE thread_log* show_arrival(member_view& self, std::uint32_t on) noexcept {
  thread_log* const log = log_of_this_thread();
  if (log != nullptr) {
    delay_if_on(*log, on);
    construct_note& in = self.in_construct;
    const bool is_known = in.kind != nullptr;
    if (!is_known) in.where = source_place{nullptr, 0};  // it is of another construct, as `came` is
    enter_construct(*log, self);
    construct_visit& here = log->here;
    if (!is_known) here.kind = log->texts.kept("a barrier of the team");
    here.phase = self.next_phase();
    here.arrived = tick_clock::now();
    if (!is_known || here.came == 0) here.came = here.arrived;
    if ((on & observer::watches) != 0) log->show_visit();
  }
  self.in_construct.came = 0;  // the construct may meet once more
  return log;
}

LOCKSTEP_INLINE void show_release(thread_log& log) noexcept {
  construct_visit& here = log.here;
  here.released = tick_clock::now();
  const std::uint32_t on = observers();
  delay_if_on(log, on);
  if ((on & observer::watches) != 0) log.show_visit();
  if ((on & observer::records) == 0) return;
  trace_record made = recorder::record_of(log, record_kind::construct, here.came, here.released,
                                          here.kind, reinterpret_cast<std::uintptr_t>(here.team));
  made.more = here.arrived - here.came;
  made.file = log.texts.kept(here.where.file);
  made.line = static_cast<std::uint32_t>(here.where.line);
  made.region = here.region;
  made.phase = here.phase;
  made.rank = here.rank;
  made.size = here.size;
  recorder::put(log, made);
}

/// The begin of a meeting that is not only counted.
LOCKSTEP_INLINE meeting_view begin_to_see_meeting(member_view& self, bool arrives,
                                                  std::uint32_t on) noexcept {
  self.meets_in = watch_others_than_ledger(on) ? show_arrival(self, on) : nullptr;
  member_ledger* const own = (on & observer::accounts) != 0 ? self.accounts : nullptr;
  if (own == nullptr) return self.meets_in != nullptr ? meeting_view::all : meeting_view::none;
  own->begin_meeting();
  // If another member arrives for this one, others may read the notes now: the meeting is counted, but not measured.
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

/// Rank 0 looks at the times that all members have left for this phase.
LOCKSTEP_INLINE void look_at_segment(const member_view& self, std::uint64_t over) noexcept {
  member_ledger& own = *self.accounts;
  busy_time* const times = own.times();
  for (std::size_t rank = 0; rank < self.size(); ++rank) {
    const segment_note& of = self.member_of(rank).segments[self.phase & 1u];
    // The member keeps no accounts, or did not when it came.
    if (of.region != self.region() || of.phase != self.phase || of.begin == 0) return;
    times[rank] = {of.begin, of.arrival, self.member_of(rank).rank_in_team()};
  }
  own.note_segment(own.at, self.size(), over, own.stands_for);
}

/// The end of a meeting whose begin the ledger has seen.
LOCKSTEP_INLINE void leave_meeting(member_view& self, member_ledger& own) noexcept {
  if (!self.has_left) {
    own.count_meeting(self.in_construct.kind, self.in_construct.where);
    own.stands_for = own.meeting_weight;
    own.meeting_weight = own.paces.meetings.weight_of(self.next_phase());
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

// Regions.

/// Sets the label of a region, which members read when they begin their parts.
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
  ledger_board* const board = (on & observer::accounts) != 0 ? kept_board(of.team) : nullptr;
  const thread_log* const log = board != nullptr ? log_of_this_thread() : nullptr;
  if (log == nullptr) return;
  // No store if the user has no regions: it would delay the announcement.
  const char*& label = board->of(0).paces.label;
  if (LOCKSTEP_UNLIKELY(log->region_name != nullptr || label != nullptr)) {
    name_region(label, log->region_name);
  }
}

LOCKSTEP_INLINE void region_begins(region_view& of, const observed_region& what) noexcept {
  of.what = what;
  of.own = nullptr;
  ledger_board* const board = kept_board(of.team);
  of.log = board != nullptr ? log_of_this_thread() : nullptr;
  if (of.log == nullptr) return;
  member_ledger* const own = of.own = &board->of(0);
  of.board = board;
  of.before = of.log->accounts;
  of.log->accounts = own;
  const void* const place = what.where.file == nullptr ? what.place : nullptr;
  of.account = own->accounts.find({what.kind, what.where, place, own->paces.label});
  own->accounts[of.account].passes.add(1);
  if (what.is_loop) own->loops_on(what.size).add(1);
  if (what.size > own->paces.cpus) own->count(ledger_count::crowded);
  of.weight = static_cast<std::uint16_t>(own->paces.regions.weight_of(what.region));
  if (LOCKSTEP_UNLIKELY(of.weight != 0)) of.begin = tick_clock::now();
}

/// The caller looks at the times that the members left before they reported.
LOCKSTEP_INLINE void look_at_parts(const region_view& of, std::uint64_t over) noexcept {
  member_ledger& own = *of.own;
  busy_time* const times = own.times();
  std::size_t came = 0;
  std::uint64_t first = ~std::uint64_t{0}, last = 0;
  for (std::size_t rank = 0; rank < of.what.size; ++rank) {
    const member_ledger& other = of.board->of(rank);
    // Not every member comes to a loop.
    if (other.part_of_region.get() != of.what.region) continue;
    const std::uint64_t begin = other.part_begin.get(), end = other.part_end.get();
    if (begin < first) first = begin;
    if (begin > last) last = begin;
    const std::uint64_t segment = other.part_segment.get();
    times[came++] = {segment != 0 ? segment : end, end, rank};
  }
  own.note_segment(of.account, came, over, of.weight);
  own.note_skew(of.account, last - first, of.weight);
}

/// Notes a region that was chosen, or in which its caller had a long wait.
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

LOCKSTEP_INLINE void record_region(const region_view& of) noexcept {
  thread_log* const log = log_of_this_thread();
  if (log == nullptr || !is_observed_by(observer::records)) return;
  const observed_region& what = of.what;
  trace_record made =
      recorder::record_of(*log, record_kind::region, of.since, tick_clock::now(), what.kind,
                          reinterpret_cast<std::uintptr_t>(of.team.team));
  made.label = log->texts.kept(log->region_name);
  made.file = log->texts.kept(what.where.file);
  made.line = static_cast<std::uint32_t>(what.where.line);
  made.more = what.iterations;
  made.region = what.region;
  made.phase = what.parts;
  made.size = what.size;
  recorder::put(*log, made);
}

LOCKSTEP_INLINE void region_ends(region_view& of) noexcept {
  if (of.own != nullptr) {
    of.log->accounts = of.before;
    if (LOCKSTEP_UNLIKELY((of.weight | of.own->long_wait) != 0)) finish_account(of);
    of.own = nullptr;
  }
  if (LOCKSTEP_UNLIKELY(of.since != 0 && watch_others_than_ledger(observers()))) record_region(of);
}

LOCKSTEP_INLINE void region_runs_inline(bool is_loop) noexcept {
  const thread_log* const log = log_of_this_thread();
  if (is_observed_by(observer::accounts) && log != nullptr && log->accounts != nullptr) {
    log->accounts->count(is_loop ? ledger_count::inline_loops : ledger_count::inline_runs);
  }
  note_mark(mark_kind::decision, is_loop ? "loop inline" : "run inline",
            "it was called from inside of a region", 1);
}

// Parts of regions and of loops.

LOCKSTEP_INLINE open_part* show_part(const observed_member& who, std::uint32_t part,
                                     bool is_of_loop) noexcept {
  const std::uint32_t on = observers();
  thread_log* const log = log_of_this_thread();
  if (log == nullptr) return nullptr;
  delay_if_on(*log, on);
  return log->part_begins(
      {who.team, who.region, who.rank, who.size, tick_clock::now(), 0, part, is_of_loop},
      (on & observer::watches) != 0);
}

LOCKSTEP_INLINE open_part* loop_part_begins(const observed_member& who,
                                            std::uint32_t part) noexcept {
  return watch_others_than_ledger(observers()) ? show_part(who, part, true) : nullptr;
}

LOCKSTEP_INLINE void loop_part_ends(open_part& what) noexcept {
  const std::uint64_t now = tick_clock::now();
  thread_log* const log = log_of_this_thread();
  if (log == nullptr) return;
  const std::uint32_t on = observers();
  log->part_ends(what, now, (on & observer::watches) != 0);
  delay_if_on(*log, on);
  if ((on & observer::records) == 0) return;
  trace_record made = recorder::record_of(*log, record_kind::part, what.began, now,
                                          what.is_of_loop ? "part of a loop" : "part",
                                          reinterpret_cast<std::uintptr_t>(what.team));
  made.detail = what.is_of_loop ? 1 : 0;
  made.region = what.region;
  made.phase = what.part;
  made.rank = what.rank;
  made.size = what.size;
  recorder::put(*log, made);
}

LOCKSTEP_INLINE void part_begins(const team_view& team, member_view& self) noexcept {
  self.in_construct.kind = nullptr;
  self.part = nullptr;
  self.accounts = nullptr;
  if (LOCKSTEP_UNLIKELY(watch_others_than_ledger(observers()))) {
    self.part = show_part(self.observed(), 0, false);
  }
  ledger_board* const board = kept_board(team);
  if (board == nullptr) return;
  self.accounts = &board->of(self.rank());
  if (self.rank() != 0) work_for(self.accounts);
  self.accounts->begin_part(self.region(), self.next_phase());
}

LOCKSTEP_INLINE void part_ends(member_view& self) noexcept {
  if (self.accounts != nullptr) self.accounts->end_part();
  self.accounts = nullptr;
  if (LOCKSTEP_UNLIKELY(self.part != nullptr)) loop_part_ends(*self.part);
}

LOCKSTEP_INLINE member_ledger* share_begins(const team_view& team, std::size_t self,
                                            std::uint32_t region) noexcept {
  ledger_board* const board = kept_board(team);
  if (board == nullptr) return nullptr;
  member_ledger* const own = &board->of(self);
  if (self != 0) work_for(own);
  if (own->loop != region) own->begin_loop(region);
  return own;
}

LOCKSTEP_INLINE void share_ends(member_ledger& of) noexcept { of.end_part(); }

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
