// SPDX-License-Identifier: MIT
// lockstep/detail/team/late_shares.hpp -- a loop that ends with a barrier: who waits there runs what is late (layer: team)
//
// A member claims its share, runs it, and arrives, as it would without claims. Then, while it waits, it takes the
// shares of members that have not come to the loop: those that are asleep or have no CPU. When such a member comes
// it finds its share done and arrives, or finds it running; then who runs it arrives for it.
//
//   Y1  Each share is run once, and its member's arrival comes after it and after the member has come. So the barrier
//       is none the weaker: no member is passed by, and the cells of a phase are read before they are written
//       again (A2 of group.hpp), whoever writes them.
//   Y2  A member that has run a loop by rank in this phase, without a wait after it, takes nothing: what it has done is
//       the shape of what a late member does, whose share may need that member's own part.
//   Y3  In a stopped region no share is taken. A share that was taken and ends with an exception stops the region: its
//       member will never have arrived.
//
// A look at the claim of a member that is in time takes the line away from it for its next loop. So a member polls the
// barrier for a moment first, as it would anyway; and where looks find nothing it stops looking, but for one loop
// in 64. In a crowd, and where waits sleep at once, it looks at once.
//
// Cost   in step: one RMW on a line of one's own (loop_claims.hpp), one look at the barrier.
#ifndef LOCKSTEP_DETAIL_TEAM_LATE_SHARES_HPP
#define LOCKSTEP_DETAIL_TEAM_LATE_SHARES_HPP

#include <cstddef>
#include <cstdint>

#include "group.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// What a member does at the end of a loop. Shares: shares(rank) runs a share, shares.is_empty(rank) says that there is
/// nothing to run. Combine: as that of team_barrier::meet().
template <class Shares, class Combine>
class late_shares {
 public:
  late_shares(member_state& at, std::uint32_t loop, bool arrives, const Shares& shares,
              Combine& combine) noexcept
      : at_(at), loop_(loop), arrives_(arrives), shares_(shares), combine_(combine) {}

  /// For team_barrier: whether this member arrives by itself.
  bool arrives() const noexcept { return arrives_; }
  /// For team_barrier, after the arrival.
  void meanwhile() {
    if (!barrier().have_all_arrived(at_)) take_when_late();
  }

 private:
  LOCKSTEP_NOINLINE void take_when_late() {
    member_state& own = at_;
    if (own.last_by_rank + 1 == own.phase || !own.looks.asks() || come_in_time()) return;
    if (take_all()) {
      own.looks.paid();
    } else {
      own.looks.failed();
    }
  }

  bool come_in_time() {
    const wait_policy policy = barrier().policy();
    stage_trust& patience = at_.patience;
    if (policy.is_crowded() || policy.is_block() || detail::cpus_for_waits() == 1) return false;
    if (!patience.asks()) return false;
    for (unsigned polls = polls_for_late_members; polls > 0; --polls) {
      detail::polling_pause();
      if (barrier().have_all_arrived(at_)) {
        patience.paid();
        return true;
      }
    }
    patience.failed();
    return false;
  }

  bool take_all() {
    bool took = false;
    for (std::size_t i = 1, other = at_.rank(); i < at_.size() && !at_.may_stop(); ++i) {
      if (++other == at_.size()) other = 0;
      if (barrier().has_arrived(at_, other) || shares_.is_empty(other)) continue;
      if (!at_.shared().claims.try_take(other, loop_)) continue;
      took = true;
      run_for(other);
    }
    return took;
  }
  void run_for(std::size_t late) {
    struct watch {
      member_state& at;
      bool is_done;
      ~watch() {
        if (!is_done) at.request_stop();
      }
    } share = {at_, false};
    shares_(late);
    share.is_done = true;
    if (at_.shared().claims.finish(late, loop_)) {
      barrier().arrive_for(at_, late, combine_);
    }
  }

  team_barrier& barrier() const noexcept { return at_.shared().barrier; }

  member_state& at_;
  const std::uint32_t loop_;
  const bool arrives_;
  const Shares& shares_;
  Combine& combine_;
};

/// Runs this member's share unless another has, and meets the others; `out` gets what combine(out) makes. Requires:
/// this member is not alone. False once the region is stopped.
template <class Shares, class Combine>
bool run_claimed(member_state& at, const Shares& shares, cell& out, Combine combine) {
  const std::uint32_t loop = ++at.loops;
  const share_claims::found mine = at.shared().claims.claim(at.rank(), loop);
  if (mine == share_claims::found::free) shares(at.rank());
  late_shares<Shares, Combine> late(at, loop, mine != share_claims::found::running, shares,
                                    combine);
  return at.meet(out, combine, late);
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_LATE_SHARES_HPP
