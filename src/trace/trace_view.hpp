// SPDX-License-Identifier: MIT
// src/trace/trace_view.hpp -- all records of a trace, in order (layer: trace)
//
// It is a copy of all rings of the trace that runs or ran last, for trace_file.cpp.
//
//   VIEW-1  Each thread has a track. Threads that had the same log one after the other have different tracks.
//   VIEW-2  Events of a track are in the order of their begins, the longer one first if two begin together. So an event
//           comes after those that enclose it.
//   VIEW-3  An arrow goes from a thread that released others to one of them, and never back in time. A wait has one
//           arrow at most, and a region one to each thread.
// Memory order (# marks the line)
//   #  access        order    pairs  why it suffices
//   1  options.load  relaxed  -      under the lock of the trace
//   2  ring.load     acquire  -      a ring is whole before it is seen (6 of recorder.hpp)
#ifndef LOCKSTEP_SRC_TRACE_TRACE_VIEW_HPP
#define LOCKSTEP_SRC_TRACE_TRACE_VIEW_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

#include <lockstep/detail/platform/clock.hpp>
#include "../platform/fork.hpp"
#include "recorder.hpp"

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
    std::uint32_t log;        ///< the track() of its log
    std::size_t first, last;  ///< of its events; the last is past the end
    std::uint64_t lost,
        whole_from;  ///< how many records; those that ended from that tick on are all there
  };
  /// From the thread that released the other one. Times are ticks.
  struct arrow {
    const char* name;
    std::uint32_t from, to;  ///< tracks
    std::uint64_t sent, came;
    bool leaves_end, comes_to_end;  ///< begins, ends at the end of a slice: it must lie inside
  };

  /// Copies what there is.
  trace_view() {
    nanoseconds_a_tick = 1e9 / tick_clock::rate();
    {
      const holding<fork_section> held(process().trace_forks);
      const trace_session* const of = recorder::session();
      if (of == nullptr) return;
      const std::uint32_t number = of->number.load(memory_order_relaxed);  // 1
      begin = of->begin;
      end = of->is_running ? tick_clock::now() : of->end;
      std::vector<const thread_log*> logs;
      for (thread_log* at = thread_log::first(); at != nullptr; at = at->next()) logs.push_back(at);
      for (std::size_t i = logs.size(); i-- > 0;) {  // as they were made
        const record_ring* const ring = logs[i]->ring.load(memory_order_acquire);  // 2
        if (ring != nullptr && ring->trace() == number) read(*logs[i], *ring);
      }
    }
    find_ends();
    join_meetings();
    join_calls();
    join_waits();
  }
  trace_view(const trace_view&) = delete;
  trace_view& operator=(const trace_view&) = delete;

  const trace_record& record_of(const event& of) const noexcept { return records[of.record]; }
  std::uint64_t nanoseconds(std::uint64_t ticks) const noexcept {
    return static_cast<std::uint64_t>(static_cast<double>(ticks) * nanoseconds_a_tick + 0.5);
  }
  /// Nanoseconds since the trace began.
  std::uint64_t time(std::uint64_t tick) const noexcept {
    return tick > begin ? nanoseconds(tick - begin) : 0;
  }

  std::vector<trace_record> records;
  std::vector<event> events;
  std::vector<track> tracks;
  std::vector<arrow> arrows;
  std::uint64_t begin = 0, end = 0;  ///< of the trace, in ticks
  std::uint64_t lost = 0;            ///< records
  std::uint32_t members = 0;         ///< of the largest region
  double nanoseconds_a_tick = 1;

 private:
  /// A point where an arrow may begin or end. Points are sorted by kind, by whom and what, then by time.
  enum class end_kind : std::uint8_t {
    meeting,  ///< whom: team; what: region and phase. A member arrived, until it was let go
    call,     ///< whom: team; what: region. Its caller, or a thread that runs a part of it
    part,     ///< whom: team; what: region and rank. A part began, until it ended
    seat,     ///< whom: team; what: rank. A thread was this member
    node      ///< whom: track. A node ended
  };
  struct end_point {
    end_kind kind;
    bool is_caller;
    std::uint32_t track;
    std::uint64_t whom, what;
    std::uint64_t at, until;

    bool is_of(const end_point& other) const noexcept {
      return kind == other.kind && whom == other.whom && what == other.what;
    }
    bool operator<(const end_point& other) const noexcept {
      if (kind != other.kind) return kind < other.kind;
      if (whom != other.whom) return whom < other.whom;
      if (what != other.what) return what < other.what;
      return at != other.at ? at < other.at : is_caller && !other.is_caller;
    }
  };
  /// The slices around a wait: numbers of events, or none.
  struct open_slices {
    static constexpr std::size_t none = ~std::size_t{0};
    std::size_t region = none, construct = none;  ///< region: or the part of one
  };
  static constexpr std::uint32_t no_track = ~std::uint32_t{0};

  void read(const thread_log& from, const record_ring& ring) {
    const std::size_t before = records.size(), room = ring.held(), first_track = tracks.size();
    records.resize(before + room);
    const std::size_t count = ring.copy(records.data() + before, room);
    records.resize(before + count);
    const std::uint64_t all = ring.count(), lost_here = all > count ? all - count : 0;
    lost += lost_here;
    events.reserve(events.size() + count);
    std::size_t first = events.size();
    std::uint64_t oldest = 0;  // end
    bool has_track = false;
    for (std::size_t i = before; i < records.size(); ++i) {
      const trace_record& at = records[i];
      const bool begins = at.kind == record_kind::begin, is_named = at.detail != 0;
      if (!has_track || (begins && !is_named)) {
        has_track = true;
        if (events.size() > first) sort_events(first);
        first = events.size();
        track made = {thread_name(), 0, from.track(), first, first, 0, begin};
        from.name.read(made.name);
        made.shown_number = from.shown_number();
        name_if_nameless(made);
        tracks.push_back(made);
      }
      if (begins) {
        track& of = tracks.back();
        std::snprintf(of.name.text, sizeof of.name.text, "%s", at.text);
        if (!is_named) of.shown_number = at.number;
        name_if_nameless(of);
      }
      if (oldest == 0) oldest = at.end;
      events.push_back({at.begin, at.end, static_cast<std::uint32_t>(i),
                        static_cast<std::uint32_t>(tracks.size() - 1)});
      tracks.back().last = events.size();
    }
    if (lost_here != 0 && tracks.size() > first_track) {
      // Records are in the order of their ends, and the first ones are lost.
      tracks[first_track].lost = lost_here;
      tracks[first_track].whole_from = oldest;
    }
    if (events.size() > first) sort_events(first);
  }
  /// Gives a track a name if the thread has none, as on systems that keep no names.
  static void name_if_nameless(track& of) noexcept {
    if (of.name.text[0] != 0) return;
    std::snprintf(of.name.text, sizeof of.name.text, "thread %llu",
                  static_cast<unsigned long long>(of.shown_number));
  }
  /// If two events have the same times, the one that was written later encloses the other.
  void sort_events(std::size_t first) {
    std::sort(events.begin() + static_cast<std::ptrdiff_t>(first), events.end(),
              [](const event& a, const event& b) {
                if (a.begin != b.begin) return a.begin < b.begin;
                return a.end != b.end ? a.end > b.end : a.record > b.record;
              });
  }
  static std::uint64_t region_and(std::uint32_t region, std::uint32_t other) noexcept {
    return std::uint64_t{region} << 32 | other;
  }
  void add_end(end_kind kind, const event& of, std::uint64_t whom, std::uint64_t what,
               std::uint64_t at, std::uint64_t until = 0, bool is_caller = false) {
    ends_.push_back({kind, is_caller, of.track, whom, what, at, until});
  }
  void find_ends() {
    for (const event& each : events) {
      const trace_record& at = record_of(each);
      const bool is_part = at.kind == record_kind::part, is_caller = at.kind == record_kind::region;
      if (at.kind == record_kind::node) add_end(end_kind::node, each, each.track, 0, each.end);
      if (at.kind == record_kind::construct) {
        const std::uint64_t where = region_and(at.region, at.phase);
        add_end(end_kind::meeting, each, at.number, where, each.begin + at.more, each.end);
      } else if (is_caller || is_part) {
        add_end(end_kind::call, each, at.number, at.region, each.begin, 0, is_caller);
        if (is_caller && at.size > members) members = at.size;
      }
      if (is_part) {
        const std::uint64_t who = region_and(at.region, at.rank);
        add_end(end_kind::part, each, at.number, who, each.begin, each.end);
      }
      const bool is_members_own = is_part && at.detail == 0;  // not of a loop
      if (is_members_own || at.kind == record_kind::construct) {
        add_end(end_kind::seat, each, at.number, at.rank, each.begin);
      }
    }
    std::sort(ends_.begin(), ends_.end());
  }
  /// The last to arrive lets the others go.
  void join_meetings() {
    for (std::size_t i = 0, next = 0; i < ends_.size(); i = next) {
      if (ends_[i].kind != end_kind::meeting) return;
      // Numbers repeat if members make one sub-team after another. After a member was let go, none arrives in the same
      // meeting any more: an arrival belongs to the next one.
      std::uint64_t over = ends_[i].until;
      for (next = i + 1; next < ends_.size(); ++next) {
        const end_point& at = ends_[next];
        if (!at.is_of(ends_[i]) || at.at > over) break;
        if (at.until < over) over = at.until;
      }
      const end_point& last = ends_[next - 1];
      for (std::size_t k = i; k + 1 < next; ++k) {
        const end_point& other = ends_[k];
        if (other.track == last.track) continue;
        arrows.push_back({"barrier", last.track, other.track, last.at, other.until, false, true});
      }
    }
  }
  /// The caller announces the region to the others: one arrow goes to the first part that each of them runs. A member
  /// takes further parts of a loop by itself.
  void join_calls() {
    std::vector<const end_point*> told(
        tracks.size());  // for each track the last caller that has an arrow to it
    const end_point* caller = nullptr;
    for (const end_point& each : ends_) {
      if (each.is_caller) caller = &each;
      if (caller == nullptr || !each.is_of(*caller)) {
        caller = nullptr;
      } else if (each.track != caller->track && told[each.track] != caller) {
        told[each.track] = caller;
        arrows.push_back({"region", caller->track, each.track, caller->at, each.at, false, false});
      }
    }
  }
  void join_waits() {
    struct open_slice {
      std::uint64_t end;
      open_slices before;
    };
    std::vector<open_slice> open;
    for (const track& at : tracks) {
      open_slices around;
      open.clear();
      for (std::size_t i = at.first; i < at.last; ++i) {
        const event& each = events[i];
        for (; !open.empty() && open.back().end <= each.begin; open.pop_back()) {
          around = open.back().before;
        }
        const record_kind kind = record_of(each).kind;
        if (kind == record_kind::wait) join_wait(each, around);
        const bool is_region = kind == record_kind::region || kind == record_kind::part;
        if (!is_region && kind != record_kind::construct) continue;
        open.push_back({each.end, around});
        (is_region ? around.region : around.construct) = i;
      }
    }
  }
  /// An arrow from the thread that woke this one or let it go, if that thread is known. Else an arrow from the end of
  /// what the awaited member did. No arrow if the meeting or the region has one.
  void join_wait(const event& of, const open_slices& around) {
    const trace_record& at = record_of(of);
    const wait_kind kind = static_cast<wait_kind>(at.detail);
    const bool is_woken = at.is_woken && at.stage == static_cast<std::uint8_t>(wait_stage::sleep);
    if (!is_woken) {
      const event* const in =
          around.construct != open_slices::none ? &events[around.construct] : nullptr;
      const bool meets = in != nullptr && of.begin >= in->begin + record_of(*in).more;
      if (meets || kind == wait_kind::next_region) return;
      if (kind == wait_kind::end_of_part || at.released_by == trace_record::nobody) {
        return join_awaited(of, around);
      }
    }
    const std::uint32_t from = track_of(at.released_by, at.more);
    if (from != no_track) add_arrow(is_woken ? "wake" : "notify", from, of, at.more, false);
  }
  void join_awaited(const event& wait, const open_slices& around) {
    const wait_kind kind = static_cast<wait_kind>(record_of(wait).detail);
    const std::uint32_t awaited = record_of(wait).size;
    if (awaited == wait_subject::nobody) return;
    if (kind == wait_kind::step_of_member) {
      const end_point* const member =
          last_of(end_kind::seat, record_of(wait).number, awaited, wait.end);
      // No record says when the member published.
      if (member != nullptr) add_arrow("step", member->track, wait, wait.end, true);
      return;
    }
    if (around.region == open_slices::none) return;
    const trace_record& region = record_of(events[around.region]);
    const std::uint64_t team = region.number, who = region_and(region.region, awaited);
    const end_point* const part = last_of(end_kind::part, team, who, wait.end);
    if (part == nullptr) return;
    if (kind == wait_kind::end_of_part) {
      add_arrow("end of part", part->track, wait, (std::min)(part->until, wait.end), true);
    } else if (kind == wait_kind::step_of_plan) {
      const end_point* const node = node_of(*part, wait);
      if (node != nullptr) add_arrow("node", node->track, wait, node->at, true);
    }
  }
  /// The last such point at or before `until`; or null.
  const end_point* last_of(end_kind kind, std::uint64_t whom, std::uint64_t what,
                           std::uint64_t until) const {
    const end_point sought = {kind, false, 0, whom, what, until, 0};
    const auto later = std::upper_bound(ends_.begin(), ends_.end(), sought);
    return later != ends_.begin() && later[-1].is_of(sought) ? &later[-1] : nullptr;
  }
  /// The node whose end ended a wait for a step. If the waiter went on at once, that is the last node before. If the
  /// waiter had no CPU meanwhile, it is the first node that ended during the wait.
  const end_point* node_of(const end_point& member, const event& wait) const {
    const std::uint64_t look = static_cast<std::uint64_t>(1000 / nanoseconds_a_tick);
    const end_point* const last = last_of(end_kind::node, member.track, 0, wait.end);
    if (last == nullptr || last->at + look < wait.begin) return nullptr;
    if (last->at + look >= wait.end) return last;
    const end_point* first = last;
    while (first > ends_.data() && first[-1].is_of(*last) && first[-1].at + look >= wait.begin) {
      --first;
    }
    return first;
  }
  /// The track of the thread that had the log at that time.
  std::uint32_t track_of(std::uint32_t log, std::uint64_t at) const {
    std::uint32_t found = no_track;
    for (std::uint32_t i = 0; i < tracks.size(); ++i) {
      const bool is_it = tracks[i].log == log && events[tracks[i].first].begin <= at;
      if (is_it) found = i;  // tracks of a log are in order
    }
    return found;
  }
  void add_arrow(const char* name, std::uint32_t from, const event& to, std::uint64_t sent,
                 bool leaves_end) {
    if (from != to.track) arrows.push_back({name, from, to.track, sent, to.end, leaves_end, true});
  }

  std::vector<end_point> ends_;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_TRACE_TRACE_VIEW_HPP
