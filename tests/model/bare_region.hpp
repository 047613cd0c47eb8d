// SPDX-License-Identifier: MIT
// tests/model/bare_region.hpp -- regions whose members are threads of the scenario: no team, no region_board
#pragma once

#include <lockstep/sub_team.hpp>

#include <functional>
#include <vector>

#include "model/scenario.hpp"
#include "region/group.hpp"

namespace lockstep::model {

/// For scenarios of regions: the marks that their boards are made of are explored with all policies and
/// fences elsewhere.
inline std::vector<setting> sleeping_policies() {
  return {{"block", wait_policy::block()}, {"adaptive", wait_policy()}};
}

class bare_region {
 public:
  bare_region(std::size_t members, wait_policy policy,
              std::size_t most_flags = team_barrier::usual_most_flags)
      : shared_(members, policy, stop_, nullptr, false, most_flags) {}

  stop_source& stop() noexcept { return stop_; }
  group& shared() noexcept { return shared_; }
  std::uint32_t next_region() const noexcept { return number_ + 1; }

  /// f(member&) on each member, as team's run().
  template <class Function>
  bool run(Function f) {
    return run_beside(f, nullptr);
  }
  /// On the first `size` members only.
  template <class Function>
  bool run_first(std::size_t size, Function f) {
    return run_region(size, f, nullptr);
  }
  /// The same while another thread calls `outside`, unless that is null.
  template <class Function>
  bool run_beside(Function f, std::function<void()> outside) {
    return run_region(shared_.most(), f, std::move(outside));
  }

 private:
  template <class Function>
  bool run_region(std::size_t size, Function& f, std::function<void()> outside) {
    const std::uint32_t region = ++number_;
    stop_.keep_near(region);
    shared_.begin(size);
    std::vector<std::function<void()>> bodies;
    if (outside) bodies.push_back(std::move(outside));
    for (std::size_t rank = 0; rank < size; ++rank) {
      bodies.push_back([this, &f, rank, size, region] {
        member_state& self = shared_.state(rank);
        self.enter(size, region);
        member_access here(self);
        try {
          f(here.self);
        } catch (const region_stopped&) {
          check(stop_.requested(region), "thrown where the region is stopped only");
        }
      });
    }
    threads(bodies);
    const bool was_stopped = stop_.requested(region);
    shared_.come_to_rest(was_stopped);
    return !was_stopped;
  }

  stop_source stop_;
  group shared_;
  std::uint32_t number_ = 0;
};

}  // namespace lockstep::model
