// SPDX-License-Identifier: MIT
// lockstep/detail/trace/trace_view.hpp -- all records of a trace, in order (layer: trace)
//
// A copy of all rings of the trace that runs or ran last. For trace_export.hpp.
//
//   VIEW-1  Each thread has a track; threads that had the same log one after the other have different ones.
//   VIEW-2  Events of a track are in order of their begin; of those that begin together, the longer one comes first.
//           So whatever encloses an event comes before it.
//   VIEW-3  An arrow goes from a thread that released others to one of them, and never back in time. A wait has one at
//           most, and a region one to each thread.
#ifndef LOCKSTEP_DETAIL_TRACE_TRACE_VIEW_HPP
#define LOCKSTEP_DETAIL_TRACE_TRACE_VIEW_HPP

#include <cstddef>
#include <cstdint>

#include "../base/growing_array.hpp"
#include "recorder.hpp"

#if LOCKSTEP_HAS_BODIES
#include <cstdio>
#include <cstring>

#include "../platform/clock.hpp"
#include "../platform/fork.hpp"
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

class trace_view {
 public:
  struct event {
    std::uint64_t begin, end;  ///< ticks
    std::uint32_t record, track;
  };
  struct track {
    thread_name name;
    std::uint64_t shown_number;
    std::uint32_t log;        ///< its number
    std::size_t first, last;  ///< of events
    // Of its records: what ended before the one tick, or after the other, is lost.
    std::uint64_t lost, whole_from, whole_until;
  };
  /// From the thread that released the other, in ticks.
  struct arrow {
    const char* name;
    std::uint32_t from, to;  ///< tracks
    std::uint64_t sent, came;
    bool leaves_end, comes_to_end;  ///< of a slice: so it lies inside of that
  };

  /// Copies what there is. For less than all of it, it needs memory for two copies.
  LOCKSTEP_COLD trace_view();
  trace_view(const trace_view&) = delete;
  trace_view& operator=(const trace_view&) = delete;
  LOCKSTEP_COLD ~trace_view();

  const trace_record& record_of(const event& of) const noexcept { return records[of.record]; }
  /// The second record, or null.
  const trace_record* rest_of(const event& of) const noexcept {
    const std::size_t next = std::size_t{of.record} + 1;
    return next < records.size() && records[next].kind() == record_kind::rest ? &records[next]
                                                                              : nullptr;
  }
  /// Where a region was called, or null.
  const trace_record* site_of(const event& of) const noexcept {
    const std::size_t next = std::size_t{of.record} + 2;
    return next < records.size() && records[next].kind() == record_kind::site ? &records[next]
                                                                              : nullptr;
  }
  /// What the program calls the object of a wait, or null.
  const char* label_of(const event& of) const noexcept {
    const std::size_t next = std::size_t{of.record} + 2;
    return next < records.size() && records[next].kind() == record_kind::label
               ? records[next].text()
               : nullptr;
  }
  std::uint64_t nanoseconds(std::uint64_t ticks) const noexcept {
    return static_cast<std::uint64_t>(static_cast<double>(ticks) * nanoseconds_a_tick + 0.5);
  }
  /// Since the trace began.
  std::uint64_t time(std::uint64_t tick) const noexcept {
    return tick > begin ? nanoseconds(tick - begin) : 0;
  }

  growing_array<trace_record> records;
  growing_array<event> events;
  growing_array<track> tracks;
  growing_array<arrow> arrows;
  std::uint64_t begin = 0, end = 0;  ///< of the trace, in ticks
  std::uint64_t lost = 0;            ///< records
  std::uint32_t members = 0;         ///< of the largest region
  bool stops = false;                ///< what did not fit was left out; else the oldest was
  double nanoseconds_a_tick = 1;

 private:
  /// What may be an end of arrows, in one form, for it is sorted: by whom and what, then by time.
  struct end_point {
    std::uint64_t whom;  ///< the team, the word, or the track
    std::uint64_t what;  ///< region and phase, or region and rank, or rank
    std::uint64_t at, until;
    std::uint32_t track;
    bool is_caller;

    bool is_before(const end_point& other) const noexcept {
      if (whom != other.whom) return whom < other.whom;
      if (what != other.what) return what < other.what;
      return at != other.at ? at < other.at : is_caller && !other.is_caller;
    }
  };
  using end_points = growing_array<end_point>;
  /// What a wait lies in: numbers of events, or none.
  struct open_slices {
    static constexpr std::size_t none = ~std::size_t{0};
    std::size_t region = none, construct = none;  ///< region: or part
  };

  LOCKSTEP_COLD void read(const thread_log& from, const record_ring& ring);
  LOCKSTEP_COLD static void name_if_nameless(track& of) noexcept;
  LOCKSTEP_COLD void sort_events(std::size_t first);
  LOCKSTEP_COLD void find_arrows();
  LOCKSTEP_COLD static void sort(end_points& all);
  LOCKSTEP_COLD void join_meetings(const end_points& all);
  LOCKSTEP_COLD void join_regions(const end_points& all);
  /// The last of `all` that is of those, and at or before `until`; or null.
  LOCKSTEP_COLD static const end_point* last_of(const end_points& all, std::uint64_t whom,
                                                std::uint64_t what, std::uint64_t until);
  static constexpr std::uint32_t no_track = ~std::uint32_t{0};
  LOCKSTEP_COLD std::uint32_t track_of(std::uint32_t log, std::uint64_t at) const;
  static std::uint64_t region_and_rank(std::uint32_t region, std::uint32_t rank) noexcept {
    return std::uint64_t{region} << 32 | rank;
  }
  struct known_ends;
  LOCKSTEP_COLD void join_waits(const known_ends& known);
  LOCKSTEP_COLD void join_wait(const event& of, const open_slices& around, const known_ends& known);
  LOCKSTEP_COLD void join_awaited(const event& wait, const open_slices& around,
                                  const known_ends& known);
  LOCKSTEP_COLD void add_arrow(const char* name, std::uint32_t from, const event& to,
                               std::uint64_t sent, bool leaves_end);
  LOCKSTEP_COLD const end_point* node_of(const end_point& member, const event& wait,
                                         const known_ends& known) const;

  growing_array<event> scratch_;
};

#if LOCKSTEP_HAS_BODIES

// Memory order (# marks the line)
//   #  access        order    pairs  why it suffices
//   1  options.load  relaxed  -      under the lock of the trace
//   2  ring.load     acquire  -      a ring is whole before it is seen (6 of recorder.hpp)

LOCKSTEP_COLD trace_view::trace_view() {
  nanoseconds_a_tick = 1e9 / tick_clock::rate();
  {
    const holding<fork_section> held(process().trace_forks);
    const trace_session* const of = recorder::session();
    if (of == nullptr) return;
    const std::uint32_t number = of->number.load(memory_order_relaxed);  // 1
    begin = of->begin;
    end = of->is_running ? tick_clock::now() : of->end;
    stops = of->stops.load(memory_order_relaxed) != 0;  // 1
    growing_array<const thread_log*> logs;
    for (thread_log* at = thread_logs::first(); at != nullptr; at = at->next()) logs.push_back(at);
    for (std::size_t i = logs.size(); i-- > 0;) {  // as they were made
      const record_ring* const ring = logs[i]->ring.load(memory_order_acquire);  // 2
      if (ring != nullptr && ring->trace() == number) read(*logs[i], *ring);
    }
  }
  find_arrows();
}

LOCKSTEP_COLD trace_view::~trace_view() = default;

/// Where the system keeps no names.
LOCKSTEP_COLD void trace_view::name_if_nameless(track& of) noexcept {
  if (of.name.text[0] != 0) return;
  std::snprintf(of.name.text, sizeof of.name.text, "thread %llu",
                static_cast<unsigned long long>(of.shown_number));
}

LOCKSTEP_COLD void trace_view::read(const thread_log& from, const record_ring& ring) {
  const std::size_t before = records.size(), room = ring.held(), first_track = tracks.size();
  records.resize(before + room);
  const std::size_t count = ring.copy(records.data() + before, room);
  records.resize(before + count);
  const std::uint64_t all = ring.count(), lost_here = all > count ? all - count : 0;
  lost += lost_here;
  events.reserve(events.size() + count);
  std::size_t first = events.size();
  std::uint64_t oldest = 0, newest = 0;  // ends
  bool has_track = false;
  for (std::size_t i = before; i < records.size(); ++i) {
    const trace_record& at = records[i];
    if (at.kind() == record_kind::rest || at.kind() == record_kind::label ||
        at.kind() == record_kind::site) {
      if (!has_track) records[i].words[1] = 0;  // of a record that is lost
      continue;
    }
    if (at.kind() == record_kind::let_go) {
      if (i == before) records[i].words[1] = 0;  // of a wait that is lost
      continue;
    }
    const bool begins = at.kind() == record_kind::begin, is_named = at.detail() != 0;
    if (!has_track || (begins && !is_named)) {
      has_track = true;
      if (events.size() > first) sort_events(first);
      first = events.size();
      track made = {thread_name(), 0, from.track(), first, first, 0, begin, end};
      from.name.read(made.name);
      made.shown_number = from.shown_number();
      name_if_nameless(made);
      tracks.push_back(made);
    }
    if (begins) {
      track& of = tracks.back();
      std::snprintf(of.name.text, sizeof of.name.text, "%s", at.text());
      if (!is_named) of.shown_number = at.number();
      name_if_nameless(of);
    }
    if (oldest == 0) oldest = at.end();
    newest = at.end();
    events.push_back({at.begin(), at.end(), static_cast<std::uint32_t>(i),
                      static_cast<std::uint32_t>(tracks.size() - 1)});
    tracks.back().last = events.size();
  }
  if (lost_here != 0 && tracks.size() > first_track) {
    // Records come in the order of their ends: of a ring that overwrites the first threads have lost some, else the last.
    track& whose = stops ? tracks.back() : tracks[first_track];
    whose.lost = lost_here;
    if (stops) whose.whole_until = newest;
    if (!stops) whose.whole_from = oldest;
  }
  if (events.size() > first) sort_events(first);
}

/// Merges runs that are in order already: what threads write is nearly so. Of events that are equal, the one that was
/// written later encloses the other.
LOCKSTEP_COLD void trace_view::sort_events(std::size_t first) {
  const auto is_before = [](const event& a, const event& b) {
    if (a.begin != b.begin) return a.begin < b.begin;
    return a.end != b.end ? a.end > b.end : a.record > b.record;
  };
  const std::size_t count = events.size() - first;
  event* const all = events.data() + first;
  scratch_.resize(count);
  for (std::size_t width = 1; width < count; width *= 2) {
    for (std::size_t low = 0; low + width < count; low += 2 * width) {
      const std::size_t middle = low + width;
      const std::size_t high = middle + width < count ? middle + width : count;
      if (!is_before(all[middle], all[middle - 1])) continue;
      std::size_t left = low, right = middle, to = 0;
      while (left < middle && right < high) {
        scratch_[to++] = is_before(all[right], all[left]) ? all[right++] : all[left++];
      }
      while (left < middle) scratch_[to++] = all[left++];
      for (std::size_t i = 0; i < to; ++i) all[low + i] = scratch_[i];
    }
  }
}

LOCKSTEP_COLD void trace_view::sort(end_points& all) {
  sort_by(all, [](const end_point& a, const end_point& b) { return a.is_before(b); });
}

/// What may have let a wait end.
struct trace_view::known_ends {
  end_points wakes;   ///< of words
  end_points parts;   ///< of teams: the ends, by region and rank
  end_points shares;  ///< of teams: the begins, by region and rank
  end_points seats;   ///< of teams: who is which rank, by what it did
  end_points nodes;   ///< of tracks: the ends
};

LOCKSTEP_COLD void trace_view::find_arrows() {
  end_points meetings, parts;
  known_ends known;
  for (const event& each : events) {
    const trace_record& at = record_of(each);
    const record_kind kind = at.kind();
    if (kind == record_kind::wake) {
      known.wakes.push_back({at.number(), 0, each.begin, 0, each.track, false});
    } else if (kind == record_kind::node) {
      known.nodes.push_back({each.track, 0, each.end, 0, each.track, false});
    }
    const trace_record* const rest = rest_of(each);
    if (rest == nullptr) continue;
    const bool is_part = kind == record_kind::part, is_caller = kind == record_kind::region;
    if (kind == record_kind::construct) {
      const std::uint64_t arrived = each.begin + (rest->rest_number() >> 24);
      meetings.push_back({at.number(), rest->words[3], arrived, each.end, each.track, false});
    } else if (is_caller || is_part) {
      parts.push_back({at.number(), rest->high(), each.begin, 0, each.track, is_caller});
      if (is_caller && rest->size() > members) members = rest->size();
    }
    if (is_part) {
      known.parts.push_back({at.number(), region_and_rank(rest->high(), rest->rank()), each.end, 0,
                             each.track, false});
    }
    if (is_part) {
      known.shares.push_back({at.number(), region_and_rank(rest->high(), rest->rank()), each.begin,
                              0, each.track, false});
    }
    const bool is_members_own = is_part && at.detail() == 0;  // not of a loop
    if (is_members_own || kind == record_kind::construct) {
      known.seats.push_back({at.number(), rest->rank(), each.begin, 0, each.track, false});
    }
  }
  sort(meetings);
  sort(parts);
  sort(known.wakes);
  sort(known.parts);
  sort(known.shares);
  sort(known.seats);
  sort(known.nodes);
  join_meetings(meetings);
  join_regions(parts);
  join_waits(known);
}

/// The last to arrive lets the others go.
LOCKSTEP_COLD void trace_view::join_meetings(const end_points& all) {
  for (std::size_t i = 0, next = 0; i < all.size(); i = next) {
    // The numbers come again, where members make one sub-team after another. Nobody arrives in a meeting from which
    // somebody was let go: then it is the next one.
    std::uint64_t over = all[i].until;
    for (next = i + 1; next < all.size(); ++next) {
      const end_point& at = all[next];
      if (at.whom != all[i].whom || at.what != all[i].what || at.at > over) break;
      if (at.until < over) over = at.until;
    }
    const end_point& last = all[next - 1];
    for (std::size_t k = i; k + 1 < next; ++k) {
      if (all[k].track == last.track) continue;
      arrows.push_back({"barrier", last.track, all[k].track, last.at, all[k].until, false, true});
    }
  }
}

/// The caller announces the region to the others: to the first part that each of them runs. What else a member runs of
/// a loop it takes by itself.
LOCKSTEP_COLD void trace_view::join_regions(const end_points& all) {
  growing_array<const end_point*> told;  // for each track the last caller that has told it
  told.resize(tracks.size());
  const end_point* caller = nullptr;
  for (const end_point& each : all) {
    if (each.is_caller) caller = &each;
    if (caller == nullptr || caller->whom != each.whom || caller->what != each.what) {
      caller = nullptr;
    } else if (each.track != caller->track && told[each.track] != caller) {
      told[each.track] = caller;
      arrows.push_back({"region", caller->track, each.track, caller->at, each.at, false, false});
    }
  }
}

LOCKSTEP_COLD const trace_view::end_point* trace_view::last_of(const end_points& all,
                                                               std::uint64_t whom,
                                                               std::uint64_t what,
                                                               std::uint64_t until) {
  const end_point sought = {whom, what, until, 0, 0, false};
  std::size_t low = 0, high = all.size();  // the first that is later
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (sought.is_before(all[middle])) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  if (low == 0 || all[low - 1].whom != whom || all[low - 1].what != what) return nullptr;
  return &all[low - 1];
}

/// Of the thread that had the log at that time.
LOCKSTEP_COLD std::uint32_t trace_view::track_of(std::uint32_t log, std::uint64_t at) const {
  std::uint32_t found = no_track;
  for (std::uint32_t i = 0; i < tracks.size(); ++i) {
    const bool is_it = tracks[i].log == log && events[tracks[i].first].begin <= at;
    if (is_it) found = i;  // tracks of a log are in order
  }
  return found;
}

LOCKSTEP_COLD void trace_view::join_waits(const known_ends& known) {
  struct open_slice {
    std::uint64_t end;
    open_slices before;
  };
  growing_array<open_slice> open;
  for (const track& at : tracks) {
    open_slices around;
    open.resize(0);
    for (std::size_t i = at.first; i < at.last; ++i) {
      const event& each = events[i];
      while (open.size() > 0 && open[open.size() - 1].end <= each.begin) {
        around = open[open.size() - 1].before;
        open.resize(open.size() - 1);
      }
      const record_kind kind = record_of(each).kind();
      if (kind == record_kind::wait) join_wait(each, around, known);
      const bool is_region = kind == record_kind::region || kind == record_kind::part;
      if ((!is_region && kind != record_kind::construct) || rest_of(each) == nullptr) continue;
      open.push_back({each.end, around});
      (is_region ? around.region : around.construct) = i;
    }
  }
}

/// The last wake of a word before a sleep on it was over; who let it go, if the thread itself has found that; else what
/// the member has ended that was awaited. None where a meeting or a region has its arrow.
LOCKSTEP_COLD void trace_view::join_wait(const event& of, const open_slices& around,
                                         const known_ends& known) {
  const trace_record& at = record_of(of);
  const trace_record* const rest = rest_of(of);
  if (rest == nullptr) return;
  if (at.wait_stage_of() == wait_stage::sleep) {
    const end_point* const by = last_of(known.wakes, rest->rest_number(), 0, of.end);
    if (by != nullptr && by->at >= of.begin && by->track != of.track) {
      return add_arrow("wake", by->track, of, by->at, false);
    }
  }
  if (around.construct != open_slices::none) {
    const event& visit = events[around.construct];
    if (of.begin >= visit.begin + (rest_of(visit)->rest_number() >> 24)) return;
  }
  if (at.wait_kind_of() == wait_kind::next_region) return;
  if (at.wait_kind_of() == wait_kind::end_of_part) return join_awaited(of, around, known);
  const trace_record* next = rest + 1;
  if (next != records.end() && next->kind() == record_kind::label) ++next;
  if (next == records.end() || next->kind() != record_kind::let_go) {
    return join_awaited(of, around, known);
  }
  const std::uint32_t from = track_of(static_cast<std::uint32_t>(next->number()), next->begin());
  if (from != no_track) add_arrow("notify", from, of, next->begin(), false);
}

LOCKSTEP_COLD void trace_view::join_awaited(const event& wait, const open_slices& around,
                                            const known_ends& known) {
  const wait_kind kind = record_of(wait).wait_kind_of();
  const std::uint32_t awaited = rest_of(wait)->size();
  if (awaited == (wait_subject::nobody & 0xFFFFFF)) return;
  if (kind == wait_kind::step_of_member) {
    const end_point* const member =
        last_of(known.seats, record_of(wait).number(), awaited, wait.end);
    // It published at a moment that nobody has recorded.
    if (member != nullptr) add_arrow("step", member->track, wait, wait.end, true);
    return;
  }
  if (around.region == open_slices::none) return;
  const event& region = events[around.region];
  const std::uint64_t team = record_of(region).number(),
                      who = region_and_rank(rest_of(region)->high(), awaited);
  if (kind == wait_kind::end_of_part) {
    const end_point* const part = last_of(known.parts, team, who, wait.end);
    if (part != nullptr) add_arrow("end of part", part->track, wait, part->at, true);
  } else if (kind == wait_kind::step_of_plan) {
    const end_point* const member = last_of(known.shares, team, who, wait.end);
    const end_point* const node = member != nullptr ? node_of(*member, wait, known) : nullptr;
    if (node != nullptr) add_arrow("node", node->track, wait, node->at, true);
  }
}

LOCKSTEP_COLD void trace_view::add_arrow(const char* name, std::uint32_t from, const event& to,
                                         std::uint64_t sent, bool leaves_end) {
  if (from != to.track) arrows.push_back({name, from, to.track, sent, to.end, leaves_end, true});
}

/// The node whose end a wait for a step was for: the last one before the waiter went on, if that was at once. A waiter
/// that had no CPU meanwhile has waited for the first one that ended.
LOCKSTEP_COLD const trace_view::end_point* trace_view::node_of(const end_point& member,
                                                               const event& wait,
                                                               const known_ends& known) const {
  const std::uint64_t look = static_cast<std::uint64_t>(1000 / nanoseconds_a_tick);
  const end_point* const last = last_of(known.nodes, member.track, 0, wait.end);
  if (last == nullptr || last->at + look < wait.begin || last->at + look >= wait.end) {
    return last == nullptr || last->at + look < wait.begin ? nullptr : last;
  }
  const end_point* first = last;
  while (first > known.nodes.data() && first[-1].whom == last->whom &&
         first[-1].at + look >= wait.begin)
    --first;
  return first;
}

#endif

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TRACE_TRACE_VIEW_HPP
