// SPDX-License-Identifier: MIT
// src/trace/trace_view.hpp -- all records of a trace, in order (layer: trace)
//
// A copy of all rings of the trace that runs or ran last. For trace_export.hpp.
//
//   VIEW-1  Each thread has a track; threads that had the same log one after the other have different ones.
//   VIEW-2  Events of a track are in order of their begin; of those that begin together, the longer one comes first.
//           So whatever encloses an event comes before it.
//   VIEW-3  An arrow goes from a thread that released others to one of them, and never back in time. A wait has one at
//           most, and a region one to each thread.
#ifndef LOCKSTEP_SRC_TRACE_TRACE_VIEW_HPP
#define LOCKSTEP_SRC_TRACE_TRACE_VIEW_HPP

#include <cstddef>
#include <cstdint>
#include <vector>

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

  /// Copies what there is.
  trace_view();
  trace_view(const trace_view&) = delete;
  trace_view& operator=(const trace_view&) = delete;

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

  std::vector<trace_record> records;
  std::vector<event> events;
  std::vector<track> tracks;
  std::vector<arrow> arrows;
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
  };
  static bool is_before(const end_point& a, const end_point& b) noexcept {
    if (a.whom != b.whom) return a.whom < b.whom;
    if (a.what != b.what) return a.what < b.what;
    return a.at != b.at ? a.at < b.at : a.is_caller && !b.is_caller;
  }
  using end_points = std::vector<end_point>;
  /// What a wait lies in: numbers of events, or none.
  struct open_slices {
    static constexpr std::size_t none = ~std::size_t{0};
    std::size_t region = none, construct = none;  ///< region: or part
  };

  void read(const thread_log& from, const record_ring& ring);
  static void name_if_nameless(track& of) noexcept;
  void sort_events(std::size_t first);
  void find_arrows();
  void join_meetings(const end_points& all);
  void join_regions(const end_points& all);
  /// The last of `all` that is of those, and at or before `until`; or null.
  static const end_point* last_of(const end_points& all, std::uint64_t whom, std::uint64_t what,
                                  std::uint64_t until);
  static constexpr std::uint32_t no_track = ~std::uint32_t{0};
  std::uint32_t track_of(std::uint32_t log, std::uint64_t at) const;
  static std::uint64_t region_and_rank(std::uint32_t region, std::uint32_t rank) noexcept {
    return std::uint64_t{region} << 32 | rank;
  }
  struct known_ends;
  void join_waits(const known_ends& known);
  void join_wait(const event& of, const open_slices& around, const known_ends& known);
  void join_awaited(const event& wait, const open_slices& around, const known_ends& known);
  void add_arrow(const char* name, std::uint32_t from, const event& to, std::uint64_t sent,
                 bool leaves_end);
  const end_point* node_of(const end_point& member, const event& wait,
                           const known_ends& known) const;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_TRACE_TRACE_VIEW_HPP
