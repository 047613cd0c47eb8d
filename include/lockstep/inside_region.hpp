// SPDX-License-Identifier: MIT
// lockstep/inside_region.hpp -- threads that a member starts are told which region they work for (layer: team)
//
//   team.run([&](lockstep::member& me) {
//     const lockstep::region_token here = lockstep::this_region();
//     auto half = std::async(std::launch::async, [&, here] {
//       const lockstep::inside_region guest(here);
//       team.parallel_for(0, n, f);              // inline, as in the member itself (T2 of team.hpp)
//     });
//     half.get();
//   });
//
// Without it such a thread is a stranger to the region: its run() of the same team waits for the region's end, and
// the member waits for the thread, for ever. The same goes for the threads of OpenMP, TBB or a pool, and for teams
// from whose regions this one was called.
//
//   G1  While an inside_region lives, the calling thread counts as inside the token's region, and all that this was
//       called from, besides those that it was in before.
//   G2  It is no member: it has no rank, and must not use the member object of the thread that started it.
#ifndef LOCKSTEP_INSIDE_REGION_HPP
#define LOCKSTEP_INSIDE_REGION_HPP

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "detail/platform/config.hpp"
#include "detail/team/nesting.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {

/// Names a region, for as long as that runs. Small, to be copied into the thread.
class region_token {
 public:
  /// Of none: an inside_region of it changes nothing.
  region_token() noexcept = default;

 private:
  friend class inside_region;
  friend region_token this_region() noexcept;

  explicit region_token(const detail::nesting::region* where) noexcept
      : where_(where), number_(where != nullptr ? detail::nesting::number_of(*where) : 0) {}

  const detail::nesting::region* where_ = nullptr;
  std::uint32_t number_ = 0;
};

/// The innermost region that the calling thread is in; that of a region which runs inline is the one around it. Of
/// none outside.
inline region_token this_region() noexcept { return region_token(detail::nesting::innermost()); }

/// Allocates.
class inside_region {
 public:
  /// Requires: the region runs, and goes on while this object lives: a member waits for this thread. Debug builds end
  /// the program with a message where the region is over.
  explicit inside_region(const region_token& of) : before_(detail::nesting::innermost()) {
    if (of.where_ == nullptr) return;
    if (detail::diagnoses_misuse && detail::nesting::number_of(*of.where_) != of.number_) {
      std::fprintf(
          stderr,
          "lockstep::inside_region: the region of this token is over; a member of it has to wait "
          "for the threads that use the token\n");
      std::abort();
    }
    for (const detail::nesting::region* at = of.where_; at != nullptr; at = at->outer) {
      copies_.push_back(*at);
    }
    for (std::size_t i = 0; i < copies_.size(); ++i) {
      copies_[i].outer = i + 1 < copies_.size() ? &copies_[i + 1] : before_;
    }
    detail::nesting::innermost() = copies_.data();
  }
  /// On the thread that made it, the last one first.
  ~inside_region() { detail::nesting::innermost() = before_; }
  inside_region(const inside_region&) = delete;
  inside_region& operator=(const inside_region&) = delete;

 private:
  const detail::nesting::region* before_;
  std::vector<detail::nesting::region> copies_;
};

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_INSIDE_REGION_HPP
