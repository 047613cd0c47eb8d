/* SPDX-License-Identifier: MIT
 * What the page on OpenMP calls program. */
int main(void) {
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 1000; ++i) sum += i;
  return sum == 499500 ? 0 : 1;
}
