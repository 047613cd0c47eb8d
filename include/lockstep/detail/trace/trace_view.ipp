// SPDX-License-Identifier: MIT
// lockstep/detail/trace/trace_view.ipp -- the bodies of trace_view.hpp (layer: trace)
//
// Memory order (# marks the line)
//   #  access        order    pairs  why it suffices
//   1  options.load  relaxed  -      under the lock of the trace
//   2  ring.load     acquire  -      a ring is whole before it is seen (6 of recorder.hpp)
#ifndef LOCKSTEP_DETAIL_TRACE_TRACE_VIEW_IPP
#define LOCKSTEP_DETAIL_TRACE_TRACE_VIEW_IPP

#include <cstdio>

#include "../platform/clock.hpp"
#include "../platform/fork.hpp"
#include "trace_view.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

LOCKSTEP_OBSERVER trace_view::trace_view() {
  nanoseconds_a_tick = 1e9 / tick_clock::rate();
  {
    const holding<system_mutex> held(process().trace_forks.lock());
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

LOCKSTEP_OBSERVER trace_view::~trace_view() = default;

LOCKSTEP_OBSERVER void trace_view::read(const thread_log& from, const record_ring& ring) {
  const std::size_t before = records.size(), room = ring.room();
  records.resize(before + room);
  const std::size_t count = ring.copy(records.data() + before, room);
  records.resize(before + count);
  const std::uint64_t all = ring.count();
  lost += all > count ? all - count : 0;
  events.reserve(events.size() + count);
  std::size_t first = events.size();
  bool has_track = false;
  for (std::size_t i = before; i < records.size(); ++i) {
    const trace_record& at = records[i];
    if (at.kind() == record_kind::rest || at.kind() == record_kind::label) {
      if (!has_track) records[i].words[1] = 0;  // of a record that is lost
      continue;
    }
    const bool begins = at.kind() == record_kind::begin, is_named = at.detail() != 0;
    if (!has_track || (begins && !is_named)) {
      has_track = true;
      if (events.size() > first) sort_events(first);
      first = events.size();
      track made = {thread_name(), 0, first, first};
      from.name.read(made.name);
      made.shown_number = from.shown_number();
      tracks.push_back(made);
    }
    if (begins) {
      track& of = tracks.back();
      std::snprintf(of.name.text, sizeof of.name.text, "%s", at.text());
      if (!is_named) of.shown_number = at.number();
    }
    events.push_back({at.begin(), at.end(), static_cast<std::uint32_t>(i),
                      static_cast<std::uint32_t>(tracks.size() - 1)});
    tracks.back().last = events.size();
  }
  if (events.size() > first) sort_events(first);
}

/// Merges runs that are in order already: what threads write is nearly so. Of events that are equal, the one that was
/// written later encloses the other.
LOCKSTEP_OBSERVER void trace_view::sort_events(std::size_t first) {
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

LOCKSTEP_OBSERVER void trace_view::sort(end_points& all) {
  sort_by(all, [](const end_point& a, const end_point& b) { return a.is_before(b); });
}

LOCKSTEP_OBSERVER void trace_view::find_arrows() {
  end_points meetings, parts, wakes;
  for (const event& each : events) {
    const trace_record& at = record_of(each);
    const record_kind kind = at.kind();
    if (kind == record_kind::wake) {
      wakes.push_back({at.number(), 0, each.begin, 0, each.track, false});
    }
    const trace_record* const rest = rest_of(each);
    if (rest == nullptr) continue;
    if (kind == record_kind::construct) {
      const std::uint64_t arrived = each.begin + (rest->rest_number() >> 24);
      meetings.push_back({at.number(), rest->words[3], arrived, each.end, each.track, false});
    } else if (kind == record_kind::region || kind == record_kind::part) {
      const bool is_caller = kind == record_kind::region;
      parts.push_back({at.number(), rest->high(), each.begin, 0, each.track, is_caller});
      if (is_caller && rest->size() > members) members = rest->size();
    }
  }
  sort(meetings);
  sort(parts);
  sort(wakes);
  join_meetings(meetings);
  join_regions(parts);
  join_wakes(wakes);
}

/// The last to arrive lets the others go.
LOCKSTEP_OBSERVER void trace_view::join_meetings(const end_points& all) {
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
      arrows.push_back({"barrier", last.track, all[k].track, last.at, all[k].until});
    }
  }
}

/// The caller announces the region to the others.
LOCKSTEP_OBSERVER void trace_view::join_regions(const end_points& all) {
  const end_point* caller = nullptr;
  for (const end_point& each : all) {
    if (each.is_caller) caller = &each;
    if (caller == nullptr || caller->whom != each.whom || caller->what != each.what) {
      caller = nullptr;
    } else if (each.track != caller->track) {
      arrows.push_back({"region", caller->track, each.track, caller->at, each.at});
    }
  }
}

/// The last wake of a word before a sleep on it was over.
LOCKSTEP_OBSERVER void trace_view::join_wakes(const end_points& all) {
  for (const event& each : events) {
    const trace_record& at = record_of(each);
    const trace_record* const rest = rest_of(each);
    if (at.kind() != record_kind::wait || rest == nullptr) continue;
    if (static_cast<wait_stage>(at.detail()) != wait_stage::sleep) continue;
    const std::uint64_t word = rest->rest_number();
    std::size_t low = 0, high = all.size();  // the first that is later
    while (low < high) {
      const std::size_t middle = (low + high) / 2;
      if (all[middle].whom < word || (all[middle].whom == word && all[middle].at <= each.end)) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    if (low == 0) continue;
    const end_point& by = all[low - 1];
    if (by.whom != word || by.at < each.begin || by.track == each.track) continue;
    arrows.push_back({"wake", by.track, each.track, by.at, each.end});
  }
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TRACE_TRACE_VIEW_IPP
