// SPDX-License-Identifier: MIT
// A complex transform of n x n, forth and back: fftw lockstep|own THREADS N. The library's own threads are those that it was linked with.
#include <lockstep/adapters/fftw.hpp>

#include <cstdlib>
#include <cstring>

#include <fftw3.h>

#include "sample.hpp"

int main(int, char** arguments) {
  const int threads = std::atoi(arguments[2]);
  const bool is_ours = std::strcmp(arguments[1], "lockstep") == 0;
  lockstep::team team(is_ours ? static_cast<std::size_t>(threads) : 1);
  fftw_init_threads();
  if (is_ours) fftw_threads_set_callback(lockstep::adapters::fftw_loop<lockstep::team>, &team);
  fftw_plan_with_nthreads(threads);
  const int n = std::atoi(arguments[3]);
  fftw_complex* data =
      fftw_alloc_complex(static_cast<std::size_t>(n) * static_cast<std::size_t>(n));
  const fftw_plan forth = fftw_plan_dft_2d(n, n, data, data, FFTW_FORWARD, FFTW_ESTIMATE);
  const fftw_plan back = fftw_plan_dft_2d(n, n, data, data, FFTW_BACKWARD, FFTW_ESTIMATE);
  for (int i = 0; i < n * n; ++i) data[i][0] = data[i][1] = 0;
  print_sample(150, [&] {
    fftw_execute(forth);
    fftw_execute(back);
  });
}
