// SPDX-License-Identifier: MIT
// lockstep/detail/team/region_watch.hpp -- how a worker watches for regions: what it has seen, and learned of waiting (layer: team)
#ifndef LOCKSTEP_DETAIL_TEAM_REGION_WATCH_HPP
#define LOCKSTEP_DETAIL_TEAM_REGION_WATCH_HPP

#include <cstdint>

#include "anticipating_wait.hpp"
#include "region_line.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

struct region_watch {
  std::uint64_t seen = 0;  ///< the last word on the line
  bool has_begun = false;  ///< it has seen a region: what it waits for next comes after a gap
  wait_history history = {};
  anticipating_wait anticipating = {};

  template <class Waitable>
  void wait(Waitable& next, wait_policy policy, bool anticipates) {
    if (!anticipates) {
      wait_engine::wait(next, policy, history);
      return;
    }
    anticipating.wait(next, policy, history);
    if (!has_begun) anticipating.forget_gap();
    has_begun = true;
  }
  /// Where regions went by unseen, the wait was longer than a gap.
  void note(announcement now) noexcept {
    if (now.phase() - announcement(seen).phase() > 3) anticipating.forget_gap();
    seen = now.word();
  }
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_REGION_WATCH_HPP
