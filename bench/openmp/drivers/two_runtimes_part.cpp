// SPDX-License-Identifier: MIT
// bench/openmp/drivers/two_runtimes_part.cpp -- the part of two_runtimes.cpp that is compiled twice: PART is its name.
extern "C" double PART(const double* numbers, int count) {
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < count; ++i) sum += numbers[i];
  return sum;
}
