// SPDX-License-Identifier: MIT
// lockstep/stop_source.hpp -- ends a region early: lets everybody go who waits in it (layer: team)
//
// Regions have numbers; a request names the region that it ends. A request that comes late, when its
// region is over, does nothing to the next one. For users: member::request_stop, team::request_stop.
//
//   Q1  The word is the number of the last region that was stopped. It only moves forward (differences
//       modulo 2^32), so that a late request cannot take back one for a later region.
//   Q2  Whoever waits in a region looks at the word after it has announced itself, and every mark on
//       which somebody may sleep is in the list: a request notifies all of them after its change.
//   Q3  begin(region) keeps the word within 2^30 of the region, so that Q1's differences have a meaning, for
//       requests that are late by less than 2^31 regions.
//
// Memory order (# marks the line; each weakening must fail a test)
//   #  access              order    pairs  why it suffices
//   1  word.load           relaxed  -      a guess, which 2 tests; or the caller's own look in Q3
//   2  word.compare_exch   release  3      who is let go sees what came before the request
//   3  word.load           acquire  2      the other half
//   4  word.compare_exch   relaxed  -      between regions: nobody waits
//   5  word.load           relaxed  -      who only asks whether it was stopped reads no other data
//
// Cost   to look: one load of a line that is written when a region is stopped, which is rare.
#ifndef LOCKSTEP_STOP_SOURCE_HPP
#define LOCKSTEP_STOP_SOURCE_HPP

#include <cstdint>
#include <new>

#include "detail/platform/system.hpp"
#include "detail/wait/short_lock.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {

/// Something with marks on which threads sleep. In the list of a stop_source while it lives: a final class
/// that adds itself last, and removes itself before it does anything else at its end.
class sleeping_place {
 public:
  /// To be called after the change that lets the sleepers go.
  virtual void notify_all_sleepers() = 0;

 protected:
  sleeping_place() = default;
  ~sleeping_place() = default;

 private:
  friend class stop_source;
  sleeping_place* next_ = nullptr;
};

class stop_source {
 public:
  stop_source() = default;
  stop_source(const stop_source&) = delete;
  stop_source& operator=(const stop_source&) = delete;

  void add(sleeping_place& place) {
    lock_.lock();
    place.next_ = first_;
    first_ = &place;
    lock_.unlock();
  }
  void remove(sleeping_place& place) {
    lock_.lock();
    sleeping_place** at = &first_;
    while (*at != &place) at = &(*at)->next_;
    *at = place.next_;
    lock_.unlock();
  }

  /// Before the first member of the region starts. Requires region != 0.
  void begin(std::uint32_t region) noexcept {
    std::uint32_t seen = word_.load(detail::memory_order_relaxed);  // 1
    if (region - seen > (std::uint32_t{1} << 30)) {
      word_.compare_exchange_strong(seen, region - 1, detail::memory_order_relaxed,  // 4
                                    detail::memory_order_relaxed);                   // 4
    }
  }

  /// Stops the region, or does nothing if it is over. Any thread may call it.
  void request(std::uint32_t region) {
    std::uint32_t seen = word_.load(detail::memory_order_relaxed);  // 1
    while (static_cast<std::int32_t>(region - seen) > 0 &&
           !word_.compare_exchange_strong(seen, region, detail::memory_order_release,  // 2
                                          detail::memory_order_relaxed)) {             // 1
    }
    lock_.lock();
    for (sleeping_place* at = first_; at != nullptr; at = at->next_) at->notify_all_sleepers();
    lock_.unlock();
  }

  /// In a child process: whoever held the lock is not there.
  void forget_others() noexcept { ::new (static_cast<void*>(&lock_)) detail::short_lock(); }

  /// True once the region was stopped; what came before the request is seen.
  bool requested(std::uint32_t region) const noexcept {
    return word_.load(detail::memory_order_acquire) == region;  // 3
  }
  /// The same for who waits on nothing.
  bool requested_relaxed(std::uint32_t region) const noexcept {
    return word_.load(detail::memory_order_relaxed) == region;  // 5
  }

 private:
  detail::wait_word word_{0};
  detail::short_lock lock_;
  sleeping_place* first_ = nullptr;
};

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_STOP_SOURCE_HPP
