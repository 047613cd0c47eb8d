// SPDX-License-Identifier: MIT
// lockstep/detail/region/region_accounts.hpp -- what the caller of a region notes in the ledger of the team (layer: region)
//
// The end of a region is a construct at which all members meet: its caller waits for the others, and looks at their
// times, which they leave before they report. For team_core.hpp.
#ifndef LOCKSTEP_DETAIL_REGION_REGION_ACCOUNTS_HPP
#define LOCKSTEP_DETAIL_REGION_REGION_ACCOUNTS_HPP

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <new>

#include "../trace/ledger_hooks.hpp"
#include "../trace/ledger_slot.hpp"
#include "announcement.hpp"
#include "member_state.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// Whether LOCKSTEP_LEDGER asks for it.
LOCKSTEP_OBSERVER bool is_ledger_shown_at_end();
/// Prints it, or adds it to a file, as LOCKSTEP_LEDGER says.
LOCKSTEP_OBSERVER void show_ledger_at_end(const ledger& of);
/// The same in destructors, if asked for: where there is no memory it says so, and throws nothing. gather(): the ledger.
template <class Gather>
void show_gathered_at_end(const Gather& gather) noexcept {
#if LOCKSTEP_HAS_EXCEPTIONS
  try {
#endif
    if (is_ledger_shown_at_end()) show_ledger_at_end(gather());
#if LOCKSTEP_HAS_EXCEPTIONS
  } catch (const std::bad_alloc&) {
    std::fputs("lockstep: LOCKSTEP_LEDGER: there is no memory for the ledger of a team\n", stderr);
  }
#endif
}

class region_accounts {
 public:
  /// A region is about to begin: nobody knows of it. Nothing if no ledger is kept.
  LOCKSTEP_FAST_OBSERVER static void prepare(const ledger_slot& slot) noexcept;
  /// It has begun, and the others know: they come meanwhile.
  LOCKSTEP_FAST_OBSERVER void begin(const ledger_slot& slot, const char* kind, call_site where,
                                    const void* place, const region_head& head,
                                    bool is_loop) noexcept;
  /// Every member has reported.
  void end(std::size_t size) noexcept {
    if (own_ == nullptr) return;
    ledger_hooks::work_for(before_, *log_);
    if (LOCKSTEP_UNLIKELY((weight_ | own_->long_wait) != 0)) finish(size);
    own_ = nullptr;
  }

 private:
  LOCKSTEP_OBSERVER static void name_region(const char*& label, const char* name) noexcept;
  LOCKSTEP_OBSERVER void finish(std::size_t size) noexcept;
  LOCKSTEP_OBSERVER void look_at_parts(member_ledger& own, std::size_t size,
                                       std::uint64_t over) const noexcept;

  member_ledger* own_ = nullptr;     ///< of member 0; null: none are kept
  member_ledger* before_ = nullptr;  ///< of a region around this one
  thread_log* log_ = nullptr;        ///< of the caller
  const ledger_board* board_ = nullptr;
  std::size_t account_ = 0;
  std::uint64_t begin_ = 0;
  std::uint32_t region_ = 0;
  std::uint16_t weight_ = 0;
  bool needs_all_ = false, is_after_loop_ = false;  ///< all members come; after a loop
};

/// A worker, as long as its thread serves a team. It has accounts from the first region on in which they are kept: what
/// it finds out between regions is counted, too.
class worker_accounts {
 public:
  worker_accounts() noexcept = default;
  ~worker_accounts() {
    if (LOCKSTEP_UNLIKELY(this_thread_slot().log != nullptr) && has_observers()) {
      ledger_hooks::work_for(nullptr);
    }
  }
  worker_accounts(const worker_accounts&) = delete;
  worker_accounts& operator=(const worker_accounts&) = delete;
};

/// The parts of loops that one thread of a team runs.
class loop_accounts {
 public:
  /// `slot` may be null.
  loop_accounts(const ledger_slot* slot, std::size_t rank, std::uint32_t region) noexcept {
    if (LOCKSTEP_UNLIKELY(observers() != 0) && slot != nullptr) begin(*slot, rank, region);
  }
  /// A part is done, before others can know.
  void end_part() const noexcept {
    if (LOCKSTEP_UNLIKELY(own_ != nullptr)) own_->end_part();
  }

 private:
  LOCKSTEP_NOINLINE void begin(const ledger_slot& slot, std::size_t rank,
                               std::uint32_t region) noexcept {
    ledger_board* const board = slot.if_on();
    if (board == nullptr) return;
    own_ = &board->of(rank);
    if (rank != 0) ledger_hooks::work_for(own_);
    if (own_->loop != region) own_->begin_loop(region);
  }

  member_ledger* own_ = nullptr;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_REGION_REGION_ACCOUNTS_HPP
