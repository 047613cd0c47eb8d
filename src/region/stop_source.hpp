// SPDX-License-Identifier: MIT
// src/region/stop_source.hpp -- the early end of a region: by a request, or by an exception (layer: region)
//
// Regions have numbers. A request names the region that it ends; a request that comes after the end of its region
// has no effect on the next one. For users: member::request_stop, team::request_stop.
//
//   STOP-1  The word is the number of the last region that was stopped. It only moves forward (differences
//           modulo 2^32), so that a late request cannot take back one for a later region.
//   STOP-2  A thread that waits in a region announces itself as a sleeper, and then looks at the word. The places
//           (published_words.hpp) hold every mark on which a thread may sleep: a request changes the word, and then
//           notifies all of them.
//   STOP-3  keep_near(region) keeps the word within 2^31 of the region. It is called before each region whose number is a
//           multiple of `stride`. So the differences of STOP-1 have a meaning for requests that are late by less than
//           2^31 regions.
//   STOP-4  If several exceptions are thrown, the caller gets the one with the lowest position: the member's rank, or
//           in a loop the number of the part. Any thread of the region may note one; its report orders that.
//   STOP-5  In the source of a region that its caller runs alone, the word is that region's number from the beginning.
//           A look that finds it asks the lone_region (turns.hpp) whether it was stopped. This makes a look no slower
//           for other regions.
//
// Memory order (# marks the line; each weakening must fail a test)
//   #  access              order    pairs  why it suffices
//   1  word.load           relaxed  -      a guess, which 2 tests; or the caller's own look in STOP-3
//   2  word.compare_exch   release  3      a released thread sees what came before the request
//   3  word.load           acquire  2      the other half
//   4  word.compare_exch   relaxed  -      between regions: nobody waits
//
// Cost   to look: one load of a line that is written only when a region is stopped.
#ifndef LOCKSTEP_SRC_REGION_STOP_SOURCE_HPP
#define LOCKSTEP_SRC_REGION_STOP_SOURCE_HPP

#include <cstdint>
#include <exception>
#include <utility>

#include <lockstep/detail/platform/error.hpp>
#include <lockstep/region_stopped.hpp>
#include "../wait/published_words.hpp"
#include "../wait/wait_engine.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {

namespace detail {

class lone_region;

class stop_source : public sleeping_places {
 public:
  stop_source() = default;
  /// For region number 1, which its caller runs alone: STOP-5.
  explicit stop_source(lone_region& of) noexcept : word_{1}, alone_(&of) {}

  static constexpr std::uint32_t stride = std::uint32_t{1} << 28;  ///< STOP-3
  /// Before the first member of the region starts. Requires region != 0.
  void keep_near(std::uint32_t region) noexcept {
    std::uint32_t seen = word_.load(memory_order_relaxed);  // 1
    if (region - seen > (std::uint32_t{1} << 30)) {
      word_.compare_exchange_strong(seen, region - 1, memory_order_relaxed,  // 4
                                    memory_order_relaxed);                   // 4
    }
  }

  /// Stops the region, or does nothing if it is over. Any thread may call it.
  LOCKSTEP_NOINLINE void request(std::uint32_t region) {
    if (alone_ != nullptr) request_alone();
    std::uint32_t seen = word_.load(memory_order_relaxed);  // 1
    while (static_cast<std::int32_t>(region - seen) > 0 &&
           !word_.compare_exchange_strong(seen, region, memory_order_release,  // 2
                                          memory_order_relaxed)) {             // 1
    }
    wake_all();
  }

  /// True once the region was stopped; what came before the request is seen.
  LOCKSTEP_ALWAYS_INLINE bool requested(std::uint32_t region) const noexcept {
    return word_.load(memory_order_acquire) == region && means_stopped();  // 3
  }

  /// For members: it becomes a region's number when that region is stopped, if means_stopped().
  const wait_word& word() const noexcept { return word_; }
  /// Whether a word that equals the region means that it was stopped: STOP-5.
  bool means_stopped() const noexcept { return alone_ == nullptr || is_stopped_alone(); }

  /// The region that its caller runs alone, or null.
  const lone_region* alone() const noexcept { return alone_; }

 private:
  // Questions to the lone region, compiled once: group.cpp.
  bool is_stopped_alone() const noexcept;
  void request_alone() noexcept;

  wait_word word_{0};
  lone_region* const alone_ = nullptr;
};

/// Keeps the one exception of a region that its caller gets.
class first_error {
 public:
  /// Keeps the exception that is being handled.
  LOCKSTEP_NOINLINE void note(std::uint64_t position) {
    std::exception_ptr now = std::current_exception();
    const holding<short_lock> here(lock_);
    if (error_ && position >= position_) return;
    position_ = position;
    std::swap(error_, now);
  }
  /// Throws the exception that was noted, if any. Requires: the region is over.
  LOCKSTEP_NOINLINE void rethrow() {
    if (!error_) return;
    std::exception_ptr now;
    std::swap(error_, now);
    std::rethrow_exception(std::move(now));
  }

  /// In a child process.
  void forget_others() noexcept { lock_.forget_holder(); }
  void forget() noexcept { error_ = nullptr; }

 private:
  short_lock lock_;
  std::uint64_t position_ = 0;
  std::exception_ptr error_;
};

/// For a worker that has called fork() in a region and returns from its part in the child.
[[noreturn]] LOCKSTEP_NOINLINE inline void end_of_lone_child() {
  end_program(
      "lockstep::team: fork() was called inside a region by a member other than 0; in the "
      "child process that member has nowhere to return to: call exec or _exit there");
}

/// Calls the user's part(with) of a region. An exception that leaves it is noted at `position`, and stops the region.
/// Until one is thrown, nothing is stored for it: other threads wait for this one.
template <class Part, class Argument>
LOCKSTEP_ALWAYS_INLINE void call_guarded(stop_source& stop, std::uint32_t region,
                                         first_error& errors, std::uint64_t position, Part& part,
                                         Argument& with) {
#if LOCKSTEP_HAS_EXCEPTIONS
  try {
    return part(with);
  } catch (const region_stopped&) {
    if (stop.requested(region)) return;
    errors.note(position);  // that of another region
  } catch (const forced_unwind&) {
    end_program(
        "lockstep::team: the thread of a member was cancelled, or called pthread_exit(), inside a "
        "region, which then cannot end; return from the function instead");
  } catch (...) {
    errors.note(position);
  }
  stop.request(region);
#else
  static_cast<void>(stop), static_cast<void>(region), static_cast<void>(errors);
  static_cast<void>(position);
  part(with);
#endif
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_REGION_STOP_SOURCE_HPP
