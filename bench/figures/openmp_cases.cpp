// SPDX-License-Identifier: MIT
// The one unit that is compiled with OpenMP. GCC brings libgomp; its two settings are measured apart.
#include <cstddef>

#include "cases.hpp"
#include "measure.hpp"

namespace figures {
#if defined(_OPENMP)
namespace {

double region(int members, std::size_t operations) {
  return time_per_call(operations, [members] {
#pragma omp parallel num_threads(members)
    {
      asm volatile("" ::: "memory");
    }
  });
}

double barrier(int members, std::size_t operations) {
  double result = 0;
#pragma omp parallel num_threads(members)
  {
    for (std::size_t i = 0; i < warm_up(operations); ++i) {
#pragma omp barrier
    }
    const nanosecond_clock clock;
    for (std::size_t i = 0; i < operations; ++i) {
#pragma omp barrier
    }
#pragma omp master
    result = clock.elapsed() / static_cast<double>(operations);
  }
  return result;
}

}  // namespace

std::vector<measured_case> openmp_cases() {
  std::vector<measured_case> cases;
  struct setting {
    const char* peer;
    const char* environment;
  };
  for (const setting& with :
       {setting{"libgomp", ""}, setting{"libgomp active", "OMP_WAIT_POLICY=active"},
        setting{"libgomp passive", "OMP_WAIT_POLICY=passive"}}) {
    for (const int members : {2, 4, 16, 64}) {
      // Active waiting in a crowd takes milliseconds an operation: nobody would choose it.
      if (members > 2 && std::string(with.peer) == "libgomp active") continue;
      const std::size_t operations =
          members == 2 ? 20000 : 8000 / static_cast<std::size_t>(members);
      const std::string of = " of " + std::to_string(members);
      cases.push_back({"fork/join" + of, with.peer, with.environment,
                       [=] { return region(members, operations); }});
      cases.push_back({"barrier" + of, with.peer, with.environment,
                       [=] { return barrier(members, operations); }});
    }
  }
  return cases;
}

#else
std::vector<measured_case> openmp_cases() { return {}; }
#endif
}  // namespace figures
