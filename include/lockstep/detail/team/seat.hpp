// SPDX-License-Identifier: MIT
// lockstep/detail/team/seat.hpp -- a member's handle on its region: what loops and reductions start from (layer: team)
//
// Small and copyable. For users: member.hpp.
#ifndef LOCKSTEP_DETAIL_TEAM_SEAT_HPP
#define LOCKSTEP_DETAIL_TEAM_SEAT_HPP

#include <cstddef>
#include <cstdint>

#include "../platform/config.hpp"
#include "group.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {}  // namespace detail

/// Thrown by the functions of member in a region that was stopped: by request_stop(), or by the exception of
/// another member. Let it pass: run() catches it. It is no std::exception, so that `catch (const
/// std::exception&)` in a member's loop does not swallow the end of the loop; who writes `catch (...)` there
/// throws it again.
class region_stopped {
 public:
  const char* what() const noexcept { return "lockstep: the region was stopped"; }
};

namespace detail {

/// How often a member looks whether others come before it runs their shares: 1.5 us. One that is in time comes within
/// two line transfers, at most 0.5 us.
constexpr unsigned polls_for_who_comes = 48;

class seat {
 public:
  /// Nobody's.
  seat() noexcept = default;
  /// Of a member that shares its region with nobody; `own` and `stop` live as long as the region.
  seat(member_state& own, stop_source& stop) noexcept
      : own_(&own), shared_(nullptr), stop_(&stop) {}
  seat(member_state& own, group& shared) noexcept
      : own_(&own), shared_(&shared), stop_(&shared.barrier.stop()) {}

  std::size_t rank() const noexcept { return own_->place.rank; }
  std::size_t size() const noexcept { return own_->place.size; }
  bool is_alone() const noexcept { return own_->place.size == 1; }

  /// This member's block of a range.
  index_range block_of(index_range range) const noexcept {
    return static_block(range.first, range.last, rank(), size());
  }

  bool is_nobodys() const noexcept { return own_ == nullptr; }
  /// Requires: !is_alone().
  group& shared() const noexcept { return *shared_; }
  member_state& own() const noexcept { return *own_; }
  place_in_barrier& place() const noexcept { return own_->place; }

  /// True once the region was stopped: see stop_source.hpp.
  bool is_stopped() const noexcept { return stop_->requested(own_->place.region); }
  /// The same for who only wants to get done with its part.
  bool may_stop() const noexcept { return stop_->requested_relaxed(own_->place.region); }
  /// False once this member knows that the region is stopped, so that values of others may be gone.
  bool goes_on() const noexcept { return is_alone() ? !is_stopped() : !own_->place.has_left; }
  void request_stop() const { stop_->request(own_->place.region); }
  std::uint32_t region() const noexcept { return own_->place.region; }

  /// Blocks until all have arrived; false once the region is stopped.
  bool sync() const {
    return is_alone() ? !is_stopped() : shared_->barrier.arrive_and_wait(own_->place);
  }

  /// The phase in which this member arrives next: that of the cells which it writes before.
  std::uint32_t next_phase() const noexcept { return own_->place.phase + 1; }

  /// This member runs a loop by rank, and does not wait at its end: see late_shares.hpp.
  void note_loop_by_rank() const noexcept { own_->last_by_rank = own_->place.phase; }

  /// The number of the next construct that members share.
  std::uint32_t next_construct() const noexcept {
    if (!own_->has_construct) {
      own_->has_construct = true;
      own_->construct = shared_->loops.first_construct();
    }
    return own_->construct++;
  }

 private:
  member_state* own_ = nullptr;
  group* shared_ = nullptr;
  stop_source* stop_ = nullptr;
};

/// Leaves a region that was stopped. Without exceptions it returns: the caller goes on with `false`, or with
/// the value at hand.
#if LOCKSTEP_HAS_EXCEPTIONS
[[noreturn]] LOCKSTEP_NOINLINE inline void leave_stopped_region() { throw region_stopped(); }
#else
inline void leave_stopped_region() noexcept {}
#endif

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_SEAT_HPP
