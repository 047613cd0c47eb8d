/* SPDX-License-Identifier: MIT */
/* Prints where the members of regions are: place(first place of the partition + places in it). */
#include <omp.h>
#include <stdio.h>

#define SHOW(size, how)                                       \
  {                                                           \
    int place[64], first[64], length[64];                     \
    SAY(omp parallel num_threads(size) proc_bind(how)) {      \
      int numbers[64] = {-1};                                 \
      const int rank = omp_get_thread_num();                  \
      omp_get_partition_place_nums(numbers);                  \
      place[rank] = omp_get_place_num();                      \
      first[rank] = numbers[0];                               \
      length[rank] = omp_get_partition_num_places();          \
    }                                                         \
    printf("%d " #how, size);                                 \
    for (int i = 0; i < size; ++i) printf(" %d(%d+%d)", place[i], first[i], length[i]); \
    printf("\n");                                             \
  }
#define SAY(text) _Pragma(#text)

int main(void) {
  omp_set_max_active_levels(2);
  SHOW(5, close) SHOW(8, close) SHOW(13, close) SHOW(3, primary) SHOW(2, spread) SHOW(4, spread) SHOW(7, spread)
#pragma omp parallel num_threads(2) proc_bind(spread)
  if (omp_get_thread_num() == 1) {
    printf("inside of the second of 2: ");
    SHOW(3, close)
    printf("inside of the second of 2: ");
    SHOW(2, spread)
  }
  return 0;
}
