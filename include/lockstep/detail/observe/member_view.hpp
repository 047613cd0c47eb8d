// SPDX-License-Identifier: MIT
// lockstep/detail/observe/member_view.hpp -- what observers read of a member, and what it tells them (layer: observe)
//
// These hooks are called by templates, which users compile. src/observe/hooks.hpp has the rules, and all other hooks.
#ifndef LOCKSTEP_DETAIL_OBSERVE_MEMBER_VIEW_HPP
#define LOCKSTEP_DETAIL_OBSERVE_MEMBER_VIEW_HPP

#include <cstddef>
#include <cstdint>

#include <lockstep/call_site.hpp>
#include <lockstep/detail/observe/wait_kinds.hpp>
#include <lockstep/detail/platform/config.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

class group;          ///< what the members of a region share (detail/region)
class thread_log;     ///< src/trace has these three: what observers keep of a thread,
struct open_part;     ///< of a part that a thread runs,
class member_ledger;  ///< and of a member: its accounts of waits

/// The construct that a member is in.
struct construct_note {
  const char* kind;  ///< the name of its function; null: not known
  source_place where;
  std::size_t extent;  ///< tells ranges or sizes of values apart: the same on all members
  std::uint64_t came;  ///< tick, if an observer needs it; 0 after the construct's first meeting
};

/// The segment that a member ends when it meets the others, for the ledger. Times are ticks.
struct segment_note {
  std::uint64_t begin, arrival;
  std::uint32_t region, phase;
};

/// What observers read of a member, and what they keep with it. The base of member_state.
class member_view {
 public:
  static constexpr std::size_t no_rank = ~std::size_t{0};

  std::size_t rank() const noexcept { return rank_; }
  /// The number of members of the region.
  std::size_t size() const noexcept { return size_; }
  /// The number of the region.
  std::uint32_t region() const noexcept { return region_; }
  /// The rank in the region of the whole team, also for a member of a sub-team. no_rank for a member that runs alone
  /// inside another region.
  std::size_t rank_in_team() const noexcept { return rank_in_team_; }
  /// The phase in which this member arrives next. The cells that it writes before belong to it.
  std::uint32_t next_phase() const noexcept { return phase + 1; }
  observed_member observed() const noexcept {
    return {shared_, region_, static_cast<std::uint32_t>(rank_), static_cast<std::uint32_t>(size_)};
  }
  /// Another member of the same group.
  const member_view& member_of(std::size_t rank) const noexcept;

 protected:
  /// Sets only what is read of a member that runs alone: each nested region makes one.
  member_view() noexcept { in_construct.kind = nullptr; }

  group* shared_ = nullptr;
  std::size_t rank_ = 0, size_ = 1;
  std::uint32_t region_ = 0;

 public:
  std::uint32_t phase = 0;  ///< the last phase this member has arrived in
  bool has_left = false;    ///< released because the region is stopped: it meets the others no more

 protected:
  std::size_t rank_in_team_ = no_rank;

 public:
  construct_note in_construct;
  // What observers keep.
  thread_log* meets_in = nullptr;     ///< the thread's log, in a meeting that is shown; else null
  member_ledger* accounts = nullptr;  ///< null: none are kept
  open_part* part = nullptr;          ///< the part of a region that it runs; null: not shown
  segment_note segments[2];           ///< of the last two phases, for the others to read
};

/// The member has come to a construct, which it notes in `in_construct`.
void member_comes(member_view& self, const char* kind, source_place where,
                  std::size_t extent) noexcept;

/// What observers want of a meeting: nothing, to count it when it is over, or all.
enum class meeting_view : std::uint8_t { none, count, all };
/// The member is about to meet all others, in its next phase. `kind`: the construct, or null if member_comes() was
/// called for it. `arrives`: the member itself arrives, so the others do not read its notes yet.
meeting_view meeting_begins(member_view& self, const char* kind, source_place where,
                            bool arrives) noexcept;
/// The member goes on. Not called if a combination throws: a guard object would cost a sum 20 ns.
void meeting_ends(member_view& self, meeting_view seen, const char* kind,
                  source_place where) noexcept;

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_OBSERVE_MEMBER_VIEW_HPP
