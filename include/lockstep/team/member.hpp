// SPDX-License-Identifier: MIT
// lockstep/team/member.hpp -- what a team's function sees of itself (layer: team)
#pragma once

#include <cstddef>

#include "../sync/barrier.hpp"
#include "schedule.hpp"

namespace lockstep {

class member {
 public:
  member(std::size_t rank, std::size_t size, barrier* common) noexcept
      : rank_(rank), size_(size), common_(common) {}
  member(const member&) = delete;
  member& operator=(const member&) = delete;

  /// 0 to size() - 1; the thread that called run() is 0.
  std::size_t rank() const noexcept { return rank_; }
  std::size_t size() const noexcept { return size_; }

  /// Blocks until every member of the region has called it as often as this one. What happens before
  /// any member's call happens before every member's return. False if another member has left the
  /// region by an exception: leave it too, for nobody waits for anybody any more.
  /// Requires: all members call it equally often.
  bool sync_threads() { return size_ == 1 || common_->arrive_and_wait(rank_); }

  /// Calls f(first, last) once with this member's contiguous block, unless that is empty. No member
  /// waits for another: where the next step reads what others wrote, call sync_threads() in between.
  template <class Function>
  void for_range(std::size_t first, std::size_t last, Function&& f) {
    const index_range block = static_block(first, last, rank_, size_);
    if (block.first < block.last) f(block.first, block.last);
  }

 private:
  const std::size_t rank_;
  const std::size_t size_;
  barrier* const common_;
};

}  // namespace lockstep
