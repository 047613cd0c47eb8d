// SPDX-License-Identifier: MIT
// src/region/member_state.cpp -- the bodies of member_state.hpp (layer: region)
#include <lockstep/detail/region/member_state.hpp>

#include "stop_source.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

LOCKSTEP_INLINE const member_state* member_state::returned_member(std::size_t rank) const noexcept {
  if (shared_ == nullptr || rank == rank_ || is_observed_by(observer::watches)) return nullptr;
  const member_state& other = static_cast<const member_state&>(member_of(rank));
  return stop_->has_returned(region_, other.returned_from) ? &other : nullptr;
}

LOCKSTEP_INLINE void member_state::check_returned() const noexcept {
  for (std::size_t rank = 0; rank < size_; ++rank) {
    const member_state* const other = returned_member(rank);
    if (other == nullptr || static_cast<std::int32_t>(other->phase - phase) >= 0) continue;
    if (!is_stopped()) report_returned(*other);
  }
}

[[noreturn]] LOCKSTEP_INLINE void member_state::report_returned(
    const member_state& missing) const noexcept {
  const auto name = [](const construct_note& of, char(&to)[300]) {
    const char* const kind = of.kind != nullptr ? of.kind : "no construct";
    if (of.where.file == nullptr) {
      std::snprintf(to, sizeof to, "%s", kind);
    } else {
      std::snprintf(to, sizeof to, "%s (%s:%u)", kind, of.where.file, of.where.line);
    }
  };
  char here[300], there[300];
  name(in_construct, here);
  name(missing.in_construct, there);
  end_program(
      "lockstep::member: rank %zu of %zu waits in %s, phase %u; missing: rank %zu, which has "
      "returned from its part; it was last in %s, phase %u; all members come to the same "
      "constructs in the same order",
      rank_, size_, here, static_cast<unsigned>(phase), missing.rank(), there,
      static_cast<unsigned>(missing.phase));
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
