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
  trace_view();
  trace_view(const trace_view&) = delete;
  trace_view& operator=(const trace_view&) = delete;

  const trace_record& record_of(const event& of) const noexcept { return records[of.record]; }
  /// The record of that kind that follows the event's own record and belongs to it; or null.
  const trace_record* behind(const event& of, record_kind kind) const noexcept {
    for (std::size_t at = std::size_t{of.record} + 1;
         at < records.size() && is_behind(records[at].kind()); ++at) {
      if (records[at].kind() == kind) return &records[at];
    }
    return nullptr;
  }
  const trace_record* rest_of(const event& of) const noexcept {
    return behind(of, record_kind::rest);
  }
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
    part,     ///< whom: team; what: region and rank. A part ended
    share,    ///< whom: team; what: region and rank. A part began
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

  static bool is_behind(record_kind kind) noexcept {
    return kind == record_kind::rest || kind == record_kind::label || kind == record_kind::site ||
           kind == record_kind::let_go;
  }
  void read(const thread_log& from, const record_ring& ring);
  static void name_if_nameless(track& of) noexcept;
  void sort_events(std::size_t first);
  static std::uint64_t region_and_rank(std::uint32_t region, std::uint32_t rank) noexcept {
    return std::uint64_t{region} << 32 | rank;
  }
  void add_end(end_kind kind, const event& of, std::uint64_t whom, std::uint64_t what,
               std::uint64_t at, std::uint64_t until = 0, bool is_caller = false) {
    ends_.push_back({kind, is_caller, of.track, whom, what, at, until});
  }
  void find_ends();
  void join_meetings();
  void join_calls();
  void join_waits();
  void join_wait(const event& of, const open_slices& around);
  void join_awaited(const event& wait, const open_slices& around);
  /// The last such point at or before `until`; or null.
  const end_point* last_of(end_kind kind, std::uint64_t whom, std::uint64_t what,
                           std::uint64_t until) const;
  const end_point* node_of(const end_point& member, const event& wait) const;
  std::uint32_t track_of(std::uint32_t log, std::uint64_t at) const;
  void add_arrow(const char* name, std::uint32_t from, const event& to, std::uint64_t sent,
                 bool leaves_end);

  std::vector<end_point> ends_;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_TRACE_TRACE_VIEW_HPP
