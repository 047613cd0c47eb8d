// SPDX-License-Identifier: MIT
// lockstep/detail/team/told_region.hpp -- what the caller of a region and its members tell observers (layer: team)
//
// For team_core.hpp, which calls these functions where observers() was not 0 when the region began. A region may be
// over before they have gone, and a part may have begun before they came.
#ifndef LOCKSTEP_DETAIL_TEAM_TOLD_REGION_HPP
#define LOCKSTEP_DETAIL_TEAM_TOLD_REGION_HPP

#include <cstdint>

#include "../loop/loop_request.hpp"
#include "../region/announcement.hpp"
#include "../region/member_state.hpp"
#include "../region/region_accounts.hpp"
#include "../trace/hooks.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

class told_region {
 public:
  /// `team`: what observers know it by.
  told_region(const void* team, const ledger_slot& ledger) noexcept
      : team_(team), ledger_(ledger) {}

  /// A region is called from inside of one: its caller runs it alone.
  static LOCKSTEP_OBSERVER void alone(bool is_loop) noexcept;

  /// It begins.
  LOCKSTEP_FAST_OBSERVER void begin() noexcept;
  /// Whether others than the ledger see it.
  bool is_timed() const noexcept { return since_ != 0; }
  /// The workers know of it.
  LOCKSTEP_FAST_OBSERVER void announced(const char* kind, source_place where,
                                        const region_head& head, std::uint32_t parts = 0) noexcept;
  LOCKSTEP_FAST_OBSERVER void announced_loop(const loop_request& of, std::uint32_t parts,
                                             const region_head& head) noexcept;
  /// A member begins its part of a `run`; and ends it.
  LOCKSTEP_FAST_OBSERVER void begin_part(member_state& self) noexcept;
  LOCKSTEP_FAST_OBSERVER void end_part(member_state& self) noexcept;
  /// All have reported.
  LOCKSTEP_FAST_OBSERVER void end(const region_head& head) noexcept;

 private:
  const void* const team_;
  const ledger_slot& ledger_;
  std::uint64_t since_ = 0;  ///< when it began, in ticks; 0: only its ledger is kept
  const char* kind_ = nullptr;
  source_place where_ = {nullptr, 0};
  std::uint64_t iterations_ = 0;
  std::uint32_t parts_ = 0;
  region_accounts accounts_;
};

#if LOCKSTEP_HAS_OBSERVERS

LOCKSTEP_OBSERVER void told_region::alone(bool is_loop) noexcept {
  if (is_observed_by(observer::accounts)) ledger_hooks::ran_inline(is_loop);
  note_mark(mark_kind::decision, is_loop ? "loop inline" : "run inline",
            "it was called from inside of a region", 1);
}

LOCKSTEP_FAST_OBSERVER void told_region::begin() noexcept {
  const std::uint32_t on = observers();
  if ((on & observer::accounts) != 0) region_accounts::prepare(ledger_);
  since_ = LOCKSTEP_UNLIKELY(watch_others_than_ledger(on)) ? tick_clock::now() : 0;
}

LOCKSTEP_FAST_OBSERVER void told_region::announced(const char* kind, source_place where,
                                                   const region_head& head,
                                                   std::uint32_t parts) noexcept {
  kind_ = kind;
  where_ = where;
  parts_ = parts;
  iterations_ = 0;
  accounts_.begin(ledger_, kind, where, nullptr, head, false);
}

LOCKSTEP_FAST_OBSERVER void told_region::announced_loop(const loop_request& of, std::uint32_t parts,
                                                        const region_head& head) noexcept {
  kind_ = "loop";
  where_ = of.where;
  parts_ = parts;
  iterations_ = of.iterations;
  accounts_.begin(ledger_, kind_, where_, where_.file == nullptr ? of.place : nullptr, head, true);
}

LOCKSTEP_FAST_OBSERVER void told_region::begin_part(member_state& self) noexcept {
  const auto rank = static_cast<std::uint32_t>(self.rank());
  self.in_construct.kind = nullptr;
  self.part = nullptr;
  if (LOCKSTEP_UNLIKELY(watch_others_than_ledger(observers()))) {
    const auto size = static_cast<std::uint32_t>(self.size());
    self.part = part_begins({team_, self.region(), rank, size}, 0, "part");
  }
  ledger_board* const board = ledger_.if_on();
  if (board == nullptr) return;
  self.accounts = &board->of(rank);
  if (rank != 0) ledger_hooks::work_for(self.accounts);
  self.accounts->begin_part(self.region(), self.next_phase());
}

LOCKSTEP_FAST_OBSERVER void told_region::end_part(member_state& self) noexcept {
  if (self.accounts != nullptr) self.accounts->end_part();
  self.accounts = nullptr;
  if (self.part != nullptr) part_ends(*self.part);
}

LOCKSTEP_FAST_OBSERVER void told_region::end(const region_head& head) noexcept {
  accounts_.end(head.size);
  if (LOCKSTEP_UNLIKELY(since_ != 0 && watch_others_than_ledger(observers()))) {
    region_ended({kind_, team_, head.region, head.size, parts_, iterations_, where_}, since_);
  }
}

#endif

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_TOLD_REGION_HPP
