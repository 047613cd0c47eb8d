// SPDX-License-Identifier: MIT
// openmp/runtime/teams.hpp -- teams run one after another, on the encountering thread; each has all threads for its regions
#ifndef LOCKSTEP_OPENMP_RUNTIME_TEAMS_HPP
#define LOCKSTEP_OPENMP_RUNTIME_TEAMS_HPP

#include "part.hpp"

namespace lockstep::openmp {

/// `teams` and `thread_limit` are 0 if the program gives none.
void run_teams(part& self, outlined_function function, void* data, unsigned teams,
               int thread_limit) noexcept;

}  // namespace lockstep::openmp

#endif  // LOCKSTEP_OPENMP_RUNTIME_TEAMS_HPP
