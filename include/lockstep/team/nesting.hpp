// SPDX-License-Identifier: MIT
// lockstep/team/nesting.hpp -- which regions the calling thread is in (layer: team)
//
// A region and the one it was called from form a list, the same for all its members, so that a way back
// through another team's threads is seen as well.
#pragma once

#include "../platform/system.hpp"

namespace lockstep {
namespace nesting {

struct region {
  const void* owner;    ///< the team
  const region* outer;  ///< where it was called from
};

/// The region the calling thread is in, if any.
inline const region*& innermost() noexcept {
  return platform::per_thread<const region*, struct name_of_innermost>();
}

inline bool is_inside(const void* owner) noexcept {
  const region* at = innermost();
  while (at != nullptr && at->owner != owner) at = at->outer;
  return at != nullptr;
}

/// The calling thread is in a region while this object lives.
class inside {
 public:
  explicit inside(const region& where) noexcept : before_(innermost()) { innermost() = &where; }
  ~inside() { innermost() = before_; }
  inside(const inside&) = delete;
  inside& operator=(const inside&) = delete;

 private:
  const region* before_;
};

}  // namespace nesting
}  // namespace lockstep
