// SPDX-License-Identifier: MIT
// src/graph/plan_stop.hpp -- a request that ends the run of one plan, and nothing else (layer: graph)
//
// Most runs are a region of the team. The region's number is known once a member is in it. A run inside a region or
// another plan is on one thread, and has a number and a source of its own. One word says which it is.
//
//   kind     meaning                                              set by
//   idle     there is no run                                      end()
//   begun    there is one, and its number is not known yet        begin()
//   asked    the same, and the run is to end once it is known     request()
//   in_team  the run is this region of the team                   enter()
//   alone    the run is this number of the plan's own source      enter_alone()
//
//   PSTOP-1  request() ends a run that goes on at some moment of the call. If there is none, it ends nothing. It may
//            use a number that is out of date by then: that stops nothing (STOP-1 of stop_source.hpp).
//   PSTOP-2  The thread that runs the plan calls begin(), enter_alone() and end(). Member 0 calls enter() in the
//            region, and so does start() when it knows the region. A node's request() may come before both: then it
//            calls enter() with the region of part_of_plan. So a stop that a node requests holds at once on its thread.
//
// Memory order (# marks the line; each weakening must fail a test)
//   #  access              order    pairs  why it suffices
//   1  word.store          relaxed  -      the number is all that a request needs
//   2  word.load           relaxed  -      a guess, which 3 tests; or a number, PSTOP-1
//   3  word.compare_exch   release  4      the nodes that are released see what came before the request
//   4  word.compare_exch   acquire  3      the other half, where it fails; stop_source passes it on. Before C++17
//                                          success may not have a weaker order than failure
//
// Cost   a run: one RMW and two stores, on a line that only its caller uses unless there is a request.
#ifndef LOCKSTEP_SRC_GRAPH_PLAN_STOP_HPP
#define LOCKSTEP_SRC_GRAPH_PLAN_STOP_HPP

#include <cstdint>

#include "../platform/system.hpp"
#include "../region/stop_source.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

class plan_stop;

/// While it lives, the calling thread runs steps of a plan, in this region of its team.
class part_of_plan {
 public:
  part_of_plan(const plan_stop& of, std::uint32_t region) noexcept
      : of_(of), region_(region), outer_(innermost()) {
    innermost() = this;
  }
  ~part_of_plan() { innermost() = outer_; }
  part_of_plan(const part_of_plan&) = delete;
  part_of_plan& operator=(const part_of_plan&) = delete;

  /// The region, or 0 where the calling thread is in no part of that plan.
  static std::uint32_t region_of(const plan_stop& of) noexcept {
    const part_of_plan* at = innermost();
    while (at != nullptr && &at->of_ != &of) at = at->outer_;
    return at != nullptr ? at->region_ : 0;
  }

 private:
  static const part_of_plan*& innermost() noexcept {
    return per_thread<const part_of_plan*, part_of_plan>();
  }

  const plan_stop& of_;
  const std::uint32_t region_;
  const part_of_plan* const outer_;
};

class plan_stop {
 public:
  void begin() noexcept { word_.store(begun, memory_order_relaxed); }  // 1
  void end() noexcept { word_.store(idle, memory_order_relaxed); }     // 1

  /// The run is this region of its team. `of_team`: the source of the team.
  void enter(stop_source& of_team, std::uint32_t region) { enter(of_team, region, in_team); }
  /// The run is on one thread. Returns its number in alone_source().
  std::uint32_t enter_alone() {
    if (++number_ == 0) number_ = 1;
    alone_.keep_near(number_);
    enter(alone_, number_, alone);
    return number_;
  }
  stop_source& alone_source() noexcept { return alone_; }

  /// Ends the run, if there is one. Any thread.
  void request(stop_source& of_team) {
    const std::uint32_t here = part_of_plan::region_of(*this);
    if (here != 0) enter(of_team, here);
    std::uint64_t seen = word_.load(memory_order_relaxed);  // 2
    while (seen == begun) {
      if (word_.compare_exchange_weak(seen, asked, memory_order_release,  // 3
                                      memory_order_relaxed)) {            // 2
        return;
      }
    }
    if (kind_of(seen) == in_team) of_team.request(region_of(seen));
    if (kind_of(seen) == alone) alone_.request(region_of(seen));
  }

  /// The region of the team that the run is or was, or 0 if it is not known.
  std::uint32_t region() const noexcept {
    const std::uint64_t seen = word_.load(memory_order_relaxed);  // 2
    return kind_of(seen) == in_team ? region_of(seen) : 0;
  }

 private:
  enum : std::uint64_t { idle, begun, asked, in_team, alone };

  static std::uint64_t kind_of(std::uint64_t word) noexcept { return word & 7u; }
  static std::uint32_t region_of(std::uint64_t word) noexcept {
    return static_cast<std::uint32_t>(word >> 3);
  }
  void enter(stop_source& source, std::uint32_t region, std::uint64_t kind) {
    std::uint64_t seen = begun;
    const std::uint64_t known = std::uint64_t{region} << 3 | kind;
    if (word_.compare_exchange_strong(seen, known, memory_order_acquire,  // 4
                                      memory_order_acquire)) {            // 4
      return;
    }
    if (seen == asked) source.request(region);
  }

  atomic<std::uint64_t> word_{idle};
  stop_source alone_;
  std::uint32_t number_ = 0;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_GRAPH_PLAN_STOP_HPP
