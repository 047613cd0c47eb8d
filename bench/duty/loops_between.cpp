// SPDX-License-Identifier: MIT
// bench/duty/loops_between.cpp -- lockstep's loops between other things: through run() and through for_each()
#include <functional>

#include "duty/loops_between.hpp"
#include "team/peers/lockstep_team.hpp"
#include "team/team_entries.hpp"

namespace team_bench {
namespace {

/// Loops as its users write them.
class lockstep_loops : public lockstep_team {
 public:
  using lockstep_team::lockstep_team;
  static constexpr bool learns_by_place = true;

  template <class Kernel>
  void each(std::size_t n, const Kernel& kernel) {
    itself().for_each(0, n, [kernel](std::size_t i) { kernel(i); });
  }
  template <class Kernel>
  double sum_each(std::size_t n, const Kernel& kernel) {
    return itself().reduce_each(
        0, n, 0.0, [kernel](std::size_t i) { return kernel(i); }, std::plus<double>());
  }
};

}  // namespace

void add_lockstep_loops(catalogue& to) {
  add_loops_between<lockstep_team>(to, "lockstep");
  add_loops_between<lockstep_loops>(to, "lockstep-loops");
}

}  // namespace team_bench
