// SPDX-License-Identifier: MIT
// tests/stress/disturbance.hpp -- what goes on beside a stress run (Linux)
//
//   one-cpu   every thread is bound to one CPU, after the library has counted more
//   quota     a control group grants 20 % of one CPU (where the groups are writable)
//   signals   random threads get SIGUSR1, with an empty handler and without SA_RESTART
//   freezer   random threads are stopped wherever they are, 8 us to 8 ms, by a handler that sleeps
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace lockstep::stress {

/// It goes on until it is destroyed.
class disturbance {
 public:
  virtual ~disturbance() = default;
};

/// The system does not offer it; the text says why.
struct unavailable : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// "none" first.
const std::vector<std::string>& disturbance_names();

/// Requires a name from that list. Throws `unavailable`.
std::unique_ptr<disturbance> start_disturbance(const std::string& name, std::uint64_t seed);

/// The calling thread is never disturbed: it drives or watches the others.
void exempt_this_thread();

}  // namespace lockstep::stress
