// SPDX-License-Identifier: MIT
// openmp/runtime/shared_region.hpp -- what the members of a region share, besides lockstep's own boards
//
// Each pool has one, used by region after region. A region of one has none until it needs one, for tasks.
//
//   SHARED-1  Records of constructs belong to the slots of lockstep's loop_board. Members in a slot are all in the same
//             construct (CHUNK-1 of loop_board.hpp). The first member that needs a construct's record makes it, under
//             its lock. The construct's number tells the member that there is none yet.
//   SHARED-2  Words contain the number of their region. So no region has to reset what the last one has left.
//
// Memory order (# marks the line)
//   #  access                   order    pairs  why it suffices
//   1  winners.load             relaxed  -      a guess, which 2 tests; a member that loses reads nothing of the winner's
//   2  winners.compare_exch     relaxed  -      elects one, nothing else: the construct ends with a barrier, or says
//                                               nowait
//   3  cancelled_work.load      relaxed  -      a hint to leave early; the barrier behind orders the rest
//   4  cancelled_work.store     relaxed  -      as 3
#ifndef LOCKSTEP_OPENMP_RUNTIME_SHARED_REGION_HPP
#define LOCKSTEP_OPENMP_RUNTIME_SHARED_REGION_HPP

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include <lockstep/detail/platform/atomic.hpp>
#include <lockstep/detail/platform/cache_line.hpp>
#include "wait/wait_engine.hpp"

#include "doacross.hpp"
#include "message.hpp"
#include "ompt.hpp"
#include "part.hpp"
#include "task_pool.hpp"

namespace lockstep::openmp {

/// What a construct has besides its iterations. It is kept for the next construct in the slot.
struct construct_record {
  detail::short_lock lock;         ///< guards all that follows, while members come
  std::uint64_t made_for = 0;      ///< the construct's number plus 1; 0: none
  std::uint64_t doacross_for = 0;  ///< the same of `doacross`
  void* memory = nullptr;
  std::size_t capacity = 0;
  std::uintptr_t* reductions =
      nullptr;  ///< the array that the first member has registered (task_groups.cpp)
  doacross_board doacross;

  construct_record() noexcept = default;
  construct_record(const construct_record&) = delete;
  construct_record& operator=(const construct_record&) = delete;
  ~construct_record() { std::free(memory); }

  /// Requires the lock. True for the first member of the construct.
  bool is_first(std::uint32_t construct) noexcept {
    const std::uint64_t number = std::uint64_t{construct} + 1;
    if (made_for == number) return false;
    made_for = number;
    reductions = nullptr;
    return true;
  }
  bool is_first_in_doacross(std::uint32_t construct) noexcept {
    const std::uint64_t number = std::uint64_t{construct} + 1;
    if (doacross_for == number) return false;
    doacross_for = number;
    return true;
  }
  /// Zeroed memory for all members.
  void clear_memory(std::size_t size) noexcept {
    if (size > capacity) {
      std::free(memory);
      capacity = (size + 63) / 64 * 64;
      memory = std::aligned_alloc(64, capacity);
      if (memory == nullptr) fail("Out of memory allocating %zu bytes", capacity);
    }
    std::memset(memory, 0, size);
  }
};

class shared_region {
 public:
  shared_region() noexcept = default;
  shared_region(const shared_region&) = delete;
  shared_region& operator=(const shared_region&) = delete;

  task_pool tasks;
  void* copied = nullptr;  ///< copyprivate: the data of the member that ran the single
  construct_record records[detail::loop_board::usual_slots];

  construct_record& record_of(std::uint32_t construct) noexcept {
    return records[construct % detail::loop_board::usual_slots];
  }

  /// Whether the calling member, as the first to come, runs the single number `single` (0, 1, ...) of the region.
  //
  //   bits of winners   meaning
  //   63..32            the region that the count is of
  //   31..0             how many singles of it have begun
  bool begins_single(std::uint32_t region, std::uint32_t single) noexcept {
    std::uint64_t seen = winners_.load(detail::memory_order_relaxed);  // 1
    const std::uint64_t mine = std::uint64_t{region} << 32 | (single + 1);
    const bool is_open =
        seen >> 32 == region ? static_cast<std::uint32_t>(seen) == single : single == 0;
    return is_open &&
           winners_.compare_exchange_strong(seen, mine, detail::memory_order_relaxed,  // 2
                                            detail::memory_order_relaxed);             // 1
  }

  /// `cancel for` and `cancel sections` cancel the constructs between two barriers.
  void cancel_work(std::uint32_t region, std::uint32_t phase) noexcept {
    cancelled_work_.store(number_of(region, phase), detail::memory_order_relaxed);  // 4
  }
  bool is_work_cancelled(std::uint32_t region, std::uint32_t phase) const noexcept {
    return cancelled_work_.load(detail::memory_order_relaxed) == number_of(region, phase);  // 3
  }

  /// Called between regions when numbers of regions and constructs begin anew: for another team, or after a stop.
  void reset() noexcept {
    winners_.store(0, detail::memory_order_relaxed);         // 2
    cancelled_work_.store(0, detail::memory_order_relaxed);  // 4
    for (construct_record& each : records) each.made_for = each.doacross_for = 0;
  }

 private:
  static std::uint64_t number_of(std::uint32_t region, std::uint32_t phase) noexcept {
    return std::uint64_t{region} << 32 | phase;
  }

  detail::line_gap before_;
  detail::atomic<std::uint64_t> winners_{0};
  detail::line_gap between_;
  detail::atomic<std::uint64_t> cancelled_work_{0};
  detail::line_gap after_;
};

/// The shared_region of the part's region. Made if the region is one of one that has none yet.
shared_region& make_shared_of(part& self) noexcept;
inline shared_region& shared_of(part& self) noexcept {
  return __builtin_expect(self.shared != nullptr, 1) ? *self.shared : make_shared_of(self);
}

/// Whether the calling member, as the first to come, runs the region's next single.
inline bool begins_single(part& self) noexcept {
  const bool is_mine =
      self.is_alone() || self.shared->begins_single(self.at->region(), self.singles++);
  return has_tool() ? ompt::begin_single(self, is_mine) : is_mine;
}

}  // namespace lockstep::openmp

#endif  // LOCKSTEP_OPENMP_RUNTIME_SHARED_REGION_HPP
