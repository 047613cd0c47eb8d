// SPDX-License-Identifier: MIT
// src/trace/trace_view.hpp -- all records of a trace, in order (layer: trace)
//
// A copy of all rings of the trace that runs or ran last. For trace_file.cpp.
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
  /// The record of that kind that belongs to it, behind its own; or null.
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
  /// What an event may be to arrows, in one form, for it is sorted: by kind, by whom and what, then by time.
  enum class end_kind : std::uint8_t {
    meeting,  ///< of a team; region and phase: who arrived, until it was let go
    call,     ///< of a team; region: its caller, and who runs a part of it
    part,     ///< of a team; region and rank: a part ended
    share,    ///< of a team; region and rank: a part began
    seat,     ///< of a team; rank: who it is, by what it did
    node      ///< of a track: a node ended
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
  /// What a wait lies in: numbers of events, or none.
  struct open_slices {
    static constexpr std::size_t none = ~std::size_t{0};
    std::size_t region = none, construct = none;  ///< region: or part
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
  /// The last one of those, at or before `until`; or null.
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
