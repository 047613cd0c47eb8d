// SPDX-License-Identifier: MIT
// lockstep/detail/team/first_error.hpp -- of the exceptions of a region, the one that its caller gets (layer: team)
//
// The one with the lowest position: a member's rank, or in a loop the share and its part. Any thread of the region may
// note one; the region's end is ordered after that by the reports.
#ifndef LOCKSTEP_DETAIL_TEAM_FIRST_ERROR_HPP
#define LOCKSTEP_DETAIL_TEAM_FIRST_ERROR_HPP

#include <cstdint>
#include <exception>
#include <new>
#include <utility>

#include "../wait/short_lock.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

class first_error {
 public:
  static constexpr std::uint64_t position_of(std::size_t rank, std::uint32_t part) noexcept {
    return std::uint64_t{rank} << 16 | part;
  }

  /// Keeps the exception that is being handled.
  void note(std::uint64_t position) {
    std::exception_ptr now = std::current_exception();
    lock_.lock();
    if (!error_ || position < position_) {
      position_ = position;
      std::swap(error_, now);
    }
    lock_.unlock();
  }
  /// Throws what was noted, if anything was. When the region is over.
  void rethrow() {
    if (!error_) return;
    std::exception_ptr now;
    std::swap(error_, now);
    std::rethrow_exception(std::move(now));
  }

  /// In a child process: whoever held the lock is not there.
  void forget_others() noexcept { ::new (static_cast<void*>(&lock_)) short_lock(); }
  void forget() noexcept { error_ = nullptr; }

 private:
  short_lock lock_;
  std::uint64_t position_ = 0;
  std::exception_ptr error_;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_FIRST_ERROR_HPP
