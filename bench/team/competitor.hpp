// SPDX-License-Identifier: MIT
// bench/team/competitor.hpp -- another process that wants a CPU all the time
#pragma once

#include <sys/types.h>

namespace team_bench {

/// Ends with the object, and with the process that made it however that ends.
/// Requires that the process has no other threads yet.
class competitor {
 public:
  /// Throws std::runtime_error if there can be no process.
  explicit competitor(bool is_bound_to_first_cpu);
  ~competitor();
  competitor(const competitor&) = delete;
  competitor& operator=(const competitor&) = delete;

 private:
  pid_t process_;
};

}  // namespace team_bench
