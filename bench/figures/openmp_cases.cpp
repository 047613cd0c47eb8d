// SPDX-License-Identifier: MIT
// The one unit that is compiled with OpenMP. GCC brings libgomp; its two settings are measured apart.
#include <cstddef>

#include "cases.hpp"
#include "measure.hpp"

namespace figures {
#if defined(_OPENMP)
namespace {

constexpr std::size_t operations = 20000;

double region() {
  return time_per_call(operations, [] {
#pragma omp parallel num_threads(2)
    {
      asm volatile("" ::: "memory");
    }
  });
}

double barrier() {
  double result = 0;
#pragma omp parallel num_threads(2)
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
    cases.push_back({"fork/join of 2", with.peer, with.environment, region});
    cases.push_back({"barrier of 2", with.peer, with.environment, barrier});
  }
  return cases;
}

#else
std::vector<measured_case> openmp_cases() { return {}; }
#endif
}  // namespace figures
