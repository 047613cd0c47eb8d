/* SPDX-License-Identifier: MIT */
/* CHECK(condition): says on stdout what does not hold. A program that says nothing is right. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>

static int complaints;

#define CHECK(condition)                                             \
  do {                                                               \
    if (!(condition)) {                                              \
      printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      __atomic_add_fetch(&complaints, 1, __ATOMIC_RELAXED);          \
    }                                                                \
  } while (0)

#endif
