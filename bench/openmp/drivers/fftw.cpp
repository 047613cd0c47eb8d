// SPDX-License-Identifier: MIT
// bench/openmp/drivers/fftw.cpp -- transforms of FFTW with its OpenMP threads.
#include <fftw3.h>

#include "openmp_case.hpp"

namespace {

void measure(const char* name, std::vector<int> shape, int repetitions) {
  int size = 1;
  for (const int n : shape) size *= n;
  const auto numbers = static_cast<std::size_t>(size);
  fftw_complex* const in = fftw_alloc_complex(numbers);
  fftw_complex* const out = fftw_alloc_complex(numbers);
  // Estimated plans are the same in each process.
  const fftw_plan plan = fftw_plan_dft(static_cast<int>(shape.size()), shape.data(), in, out,
                                       FFTW_FORWARD, FFTW_ESTIMATE);
  std::uint32_t seed = 1;
  for (std::size_t i = 0; i < numbers; ++i) {
    for (double& part : in[i]) {
      seed = seed * 1664525u + 1013904223u;
      part = static_cast<double>(seed >> 8) * 0x1p-24;
    }
  }
  const openmp_case::times each = openmp_case::mean_of(repetitions, [&] { fftw_execute(plan); });
  std::vector<double> result;
  for (std::size_t i = 0; i < numbers; ++i) result.insert(result.end(), out[i], out[i] + 2);
  openmp_case::print(name, openmp_case::bits_of(result), each);
  fftw_destroy_plan(plan);
  fftw_free(in);
  fftw_free(out);
}

}  // namespace

int main() {
  fftw_init_threads();
  fftw_plan_with_nthreads(omp_get_max_threads());
  measure("1-d 4096", {4096}, 400);
  measure("1-d 65536", {65536}, 40);
  measure("2-d 64 x 64", {64, 64}, 400);
  measure("2-d 256 x 256", {256, 256}, 40);
  measure("3-d 16 x 16 x 16", {16, 16, 16}, 400);
  measure("3-d 32 x 32 x 32", {32, 32, 32}, 60);
  openmp_case::print_runtime();
}
