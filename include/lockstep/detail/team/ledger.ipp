// SPDX-License-Identifier: MIT
// lockstep/detail/team/ledger.ipp -- what members and callers of regions note in a ledger (layer: team)
#ifndef LOCKSTEP_DETAIL_TEAM_LEDGER_IPP
#define LOCKSTEP_DETAIL_TEAM_LEDGER_IPP

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "../../ledger.hpp"
#include "../platform/user_files.hpp"
#include "../region/group.hpp"
#include "../region/region_accounts.hpp"
#include "environment.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

// Of the ways below only those in meetings that the ledger has chosen, and where somebody else watches, are cold.

LOCKSTEP_FAST_OBSERVER void member_state::come_observed(const char* kind, call_site where,
                                                        std::size_t extent) noexcept {
  if (LOCKSTEP_UNLIKELY(watch_others_than_ledger(observers()))) {
    return construct_is_seen(kind, where, extent);
  }
  in_construct.kind = kind;
  in_construct.where = where;
  in_construct.extent = extent;
  in_construct.came = 0;
  if (diagnoses_misuse && !is_alone()) tell_construct();
}

LOCKSTEP_OBSERVER void member_state::construct_is_seen(const char* kind, call_site where,
                                                       std::size_t extent) noexcept {
  in_construct = {kind, where, extent, tick_clock::now()};
  member_comes(observed(), kind, where, extent, in_construct.came);
  if (diagnoses_misuse && !is_alone()) tell_construct();
}

LOCKSTEP_FAST_OBSERVER bool member_state::meeting_begins(bool arrives) noexcept {
  member_ledger* const own = accounts;
  if (LOCKSTEP_UNLIKELY(watch_others_than_ledger(observers()))) return meeting_is_seen(arrives);
  if (own == nullptr) return false;
  if (LOCKSTEP_UNLIKELY(!own->passes_lightly(next_phase()))) return meeting_is_seen(arrives);
  own->count_before(in_construct.kind, in_construct.where, next_phase());
  return false;
}

LOCKSTEP_OBSERVER bool member_state::meeting_is_seen(bool arrives) noexcept {
  const std::uint32_t on = observers();
  meets_in = nullptr;
  if (watch_others_than_ledger(on)) {
    construct_note& note = in_construct;
    const std::uint64_t came = note.came;
    note.came = 0;  // it may meet the others once more
    meets_in = member_arrives(observed(), next_phase(), note.kind, note.where, note.extent, came);
  }
  if (accounts == nullptr || (on & observer::accounts) == 0) return meets_in != nullptr;
  accounts->begin_meeting();
  // Where another arrives for it, others may read by now: the meeting is counted, and not measured.
  if (accounts->meeting_weight != 0 && arrives) {
    segments[next_phase() & 1u] = {accounts->segment_begin, tick_clock::now(), region_,
                                   next_phase()};
  }
  return true;
}

void member_state::count_meeting() noexcept {
  if (accounts == nullptr || !accounts->has_to_count) return;
  member_ledger& own = *accounts;
  own.has_to_count = false;
  const char* const kind = in_construct.kind != nullptr ? in_construct.kind : "barrier";
  own.at = own.accounts.find({kind, in_construct.where, nullptr, own.label});
  own.accounts[own.at].passes.add(1);
  own.stands_for = own.meeting_weight;
  own.meeting_weight = own.paces.meetings.weight_of(phase + 1);
  own.segment_begin = 0;
}

/// The member goes on after a meeting.
inline void leave_meeting(member_state& self, member_ledger& own) noexcept {
  if (own.has_to_count) {
    own.has_to_count = !self.has_left;
    self.count_meeting();
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
  self.shared().look_at_segment(self, own.at, now, own.stands_for);
}

void member_state::meeting_ends() noexcept {
  if (accounts != nullptr && accounts->is_meeting) {
    accounts->is_meeting = false;
    leave_meeting(*this, *accounts);
  }
  if (meets_in != nullptr) member_leaves(*meets_in);
}

/// Arrives by itself, and counts while it waits.
struct counted_arrival {
  member_state& self;

  static constexpr bool arrives() noexcept { return true; }
  void meanwhile() const noexcept { self.count_meeting(); }
};

// What is counted is counted when the member was let go. What it stores before it arrives delays the arrival: a few
// stores cost a barrier 50 ns, in the shadow of the next work they cost nothing that could be measured.

LOCKSTEP_FAST_OBSERVER bool member_state::sync_in_observed(const char* kind, call_site where) {
  member_ledger* const own = accounts;
  if (LOCKSTEP_UNLIKELY(watch_others_than_ledger(observers()) || is_alone() || own == nullptr ||
                        !own->passes_lightly(next_phase()))) {
    return sync_in_seen(kind, where);
  }
  if (diagnoses_misuse) in_construct = {kind, where, 0, 0};
  const bool goes_on = sync_unobserved();
  own->count_light(kind, where);
  if (!diagnoses_misuse) in_construct = {kind, where, 0, 0};
  return goes_on;
}

LOCKSTEP_FAST_OBSERVER bool member_state::sync_observed() {
  member_ledger* const own = accounts;
  if (LOCKSTEP_UNLIKELY(watch_others_than_ledger(observers()) || own == nullptr ||
                        !own->passes_lightly(next_phase()))) {
    return sync_seen();
  }
  const bool goes_on = sync_unobserved();
  own->count_light(in_construct.kind, in_construct.where);
  return goes_on;
}

LOCKSTEP_OBSERVER bool member_state::sync_in_seen(const char* kind, call_site where) {
  come_observed(kind, where, 0);
  return is_alone() ? !is_stopped() : sync_seen();
}

LOCKSTEP_OBSERVER bool member_state::sync_seen() {
  if (!meeting_is_seen(true)) return sync_unobserved();
  tell_construct();
  counted_arrival arrival{*this};
  const bool goes_on = shared_->barrier.arrive_and_wait(*this, arrival);
  meeting_ends();
  if (goes_on) shared_->check_constructs(*this);
  return goes_on;
}

LOCKSTEP_OBSERVER void group::look_at_segment(const member_state& self, std::size_t account,
                                              std::uint64_t over, std::uint64_t weight) noexcept {
  busy_time* const times = self.accounts->times();
  for (std::size_t rank = 0; rank < self.size(); ++rank) {
    const segment_note& of = state(rank).segments[self.phase & 1u];
    // One that keeps no accounts, or did not when it came.
    if (of.region != self.region() || of.phase != self.phase || of.begin == 0) return;
    times[rank] = {of.begin, of.arrival};
  }
  self.accounts->note_segment(account, self.size(), over, weight,
                              [this](std::size_t rank) { return state(rank).rank_in_team(); });
}

// No store, where the user has no regions: it would delay the announcement.
LOCKSTEP_FAST_OBSERVER void region_accounts::prepare(const ledger_slot& slot) noexcept {
  ledger_board* const board = slot.if_on();
  const thread_log* const log = board != nullptr ? log_of_this_thread() : nullptr;
  if (log == nullptr) return;
  const char*& label = board->of(0).paces.label;
  if (LOCKSTEP_UNLIKELY(log->region_name != nullptr || label != nullptr)) {
    name_region(label, log->region_name);
  }
}

/// Members read it when they begin their parts.
LOCKSTEP_OBSERVER void region_accounts::name_region(const char*& label, const char* name) noexcept {
  if (name == nullptr) {
    label = nullptr;
  } else if (label == nullptr || std::strcmp(label, name) != 0) {
    label = keep_text(name);
  }
}

LOCKSTEP_FAST_OBSERVER void region_accounts::begin(const ledger_slot& slot, const char* kind,
                                                   call_site where, const void* place,
                                                   const region_head& head, bool is_loop) noexcept {
  ledger_board* const board = slot.if_on();
  log_ = board != nullptr ? log_of_this_thread() : nullptr;
  own_ = nullptr;
  if (log_ == nullptr) return;
  member_ledger* const own = own_ = &board->of(0);
  board_ = board;
  before_ = ledger_hooks::work_for(own, *log_);
  region_ = head.region;
  account_ = own->accounts.find({kind, where, place, own->paces.label});
  own->accounts[account_].passes.add(1);
  needs_all_ = !is_loop && head.size > 1;
  is_after_loop_ = needs_all_ && own->came_from_loop;
  own->came_from_loop = is_loop;
  if (is_after_loop_) own->accounts[account_].after_loops.add(1);
  if (is_loop) own->loops_on(head.size).add(1);
  if (head.size > own->paces.cpus) own->count(ledger_count::crowded);
  weight_ = static_cast<std::uint16_t>(own->paces.regions.weight_of(head.region));
  if (LOCKSTEP_UNLIKELY(weight_ != 0)) begin_ = tick_clock::now();
}

void region_accounts::finish(std::size_t size) noexcept {
  member_ledger& own = *own_;
  construct_account& to = own.accounts[account_];
  if (weight_ == 0) {
    if (size > 1) own.note_wait(to, 0, 0);
    return;
  }
  const std::uint64_t now = tick_clock::now();
  to.regions_time.add(weight_ * (now - begin_));
  own.paces.regions.took(now - begin_);
  if (size == 1) {
    own.accounts.busy(account_, 1).add(weight_ * (now - begin_));
  } else if (own.part_of_region.get() == region_) {
    own.note_wait(to, now - own.part_end.get(), weight_);
    look_at_parts(own, size, now);
  }
}

LOCKSTEP_OBSERVER void region_accounts::look_at_parts(member_ledger& own, std::size_t size,
                                                      std::uint64_t over) const noexcept {
  busy_time* const times = own.times();
  std::size_t* const ranks = own.ranks();
  std::size_t came = 0;
  std::uint64_t first = ~std::uint64_t{0}, last = 0;
  for (std::size_t rank = 0; rank < size; ++rank) {
    const member_ledger& of = board_->of(rank);
    // In a loop members may not have come.
    if (of.part_of_region.get() != region_) continue;
    const std::uint64_t begin = of.part_begin.get(), end = of.part_end.get();
    if (begin < first) first = begin;
    if (begin > last) last = begin;
    const std::uint64_t segment = of.part_segment.get();
    times[came] = {segment != 0 ? segment : end, end};
    ranks[came++] = rank;
  }
  own.note_segment(account_, came, over, weight_, [ranks](std::size_t i) { return ranks[i]; });
  own.note_skew(account_, last - first, weight_);
  if (needs_all_ && last > begin_)
    own.note_coming(account_, last - begin_, weight_, is_after_loop_);
}

LOCKSTEP_OBSERVER bool is_ledger_shown_at_end() { return environment::of_process().ledger.value; }

LOCKSTEP_OBSERVER void show_ledger_at_end(const ledger& of) {
  const environment& variables = environment::of_process();
  if (of.constructs.empty()) return;
  if (variables.ledger_file.empty()) {
    std::fputs(of.table().c_str(), stderr);
    return;
  }
  if (append_to_file(variables.ledger_file.c_str(), of.json() + "\n")) return;
  std::fprintf(stderr, "lockstep: %s=%s: the ledger cannot be written there: %s\n",
               variables.ledger.name, variables.ledger.given.text, std::strerror(errno));
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_LEDGER_IPP
