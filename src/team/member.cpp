// SPDX-License-Identifier: MIT
// src/team/member.cpp -- member.hpp (layer: team)
#include <lockstep/member.hpp>

#include <cstdio>
#include <stdexcept>

#include <lockstep/detail/platform/error.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {

LOCKSTEP_INLINE bool member::await_step_unless_stopped(std::size_t rank, std::size_t step) {
  detail::checked_rank("lockstep::member::await_step", "members", rank, size());
  if (rank != this->rank()) return at_.wait_for_step(rank, step);
  if (step <= published_) return !at_.is_stopped();
  char message[160];
  std::snprintf(message, sizeof message,
                "lockstep::member::await_step: this member would wait for ever: for its own step "
                "%zu, while it has published %zu",
                step, published_);
  detail::fail<std::logic_error>(message);
}

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
