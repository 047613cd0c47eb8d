// SPDX-License-Identifier: MIT
// src/team/region.cpp -- region.hpp (layer: team)
#include <cstdio>
#include <cstdlib>
#include <new>

#include <lockstep/detail/platform/error.hpp>
#include <lockstep/region.hpp>
#include "../region/turns.hpp"
#include "team_core.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {

LOCKSTEP_INLINE started_region::started_region(detail::team_core& core, int in_flight) noexcept
    : core_(&core), number_(core.started()), in_flight_(in_flight) {}

LOCKSTEP_INLINE started_region::operator bool() const noexcept {
  return core_ != nullptr && core_->started() == number_;
}

LOCKSTEP_INLINE started_region& started_region::operator=(started_region&& other) noexcept {
  if (this == &other) return *this;
  let_go();
  core_ = other.core_;
  number_ = other.number_;
  in_flight_ = other.in_flight_;
  other.core_ = nullptr;
  return *this;
}

LOCKSTEP_INLINE started_region::~started_region() { let_go(); }

LOCKSTEP_INLINE bool started_region::join() {
  if (!*this) {
    detail::fail_use(
        "lockstep::started_region::join: there is no region to be joined: it was joined, or moved "
        "to another handle");
  }
  if (!core_->can_join()) detail::fail_use("%s", refusal());
  return join_now();
}

LOCKSTEP_INLINE void started_region::let_go() noexcept {
  if (!*this) {
    core_ = nullptr;
    return;
  }
  if (!core_->can_join()) {
    detail::end_program("%s; its handle was let go, so that it could never end", refusal());
  }
  const bool gives_up = detail::exceptions_in_flight() > in_flight_;
#if LOCKSTEP_HAS_EXCEPTIONS
  try {
    join_now(gives_up);
  } catch (...) {  // START-2
  }
#else
  join_now(gives_up);
#endif
}

LOCKSTEP_INLINE bool started_region::join_now(bool gives_up) {
  detail::team_core& core = *core_;
  core_ = nullptr;
  const detail::caller_turn mine(core.door().callers(), detail::has_begun_t());
  return core.join(gives_up);
}

LOCKSTEP_INLINE const char* started_region::refusal() const noexcept {
  return core_->has_started() ? "lockstep::started_region::join: this thread has started or "
                                "entered another region "
                                "since; join those first"
                              : "lockstep::started_region::join: the region was started by "
                                "another thread, which has "
                                "to join it";
}

LOCKSTEP_INLINE region_token::region_token(const detail::nested_region* where) noexcept
    : where_(where), number_(where != nullptr ? detail::nesting::number_of(*where) : 0) {}

LOCKSTEP_INLINE region_token this_region() noexcept {
  const detail::nesting::region* at = detail::nesting::innermost();
  while (at != nullptr && at->boards == nullptr && at->outer != nullptr) at = at->outer;
  return region_token(at);
}

LOCKSTEP_INLINE inside_region::inside_region(const region_token& of)
    : before_(detail::nesting::innermost()) {
  if (of.where_ == nullptr) return;
  if (detail::diagnoses_misuse && detail::nesting::number_of(*of.where_) != of.number_) {
    detail::end_program(
        "lockstep::inside_region: the region of this token is over; a member of it has to wait "
        "for the threads that use the token");
  }
  std::size_t count = 0;
  for (const detail::nesting::region* at = of.where_; at != nullptr; at = at->outer) ++count;
  copies_ = new detail::nesting::region[count];
  std::size_t i = 0;
  for (const detail::nesting::region* at = of.where_; at != nullptr; at = at->outer, ++i) {
    copies_[i] = *at;
    copies_[i].outer = i + 1 < count ? &copies_[i + 1] : before_;
  }
  detail::nesting::innermost() = copies_;
}

LOCKSTEP_INLINE inside_region::~inside_region() {
  detail::nesting::innermost() = before_;
  delete[] copies_;
}

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
