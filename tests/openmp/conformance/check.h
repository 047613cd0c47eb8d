// SPDX-License-Identifier: MIT
// check.h -- what the programs have in common: a check that says where it failed, and a meeting point
//
// A conformance program prints what it found, the same text in every run with the same number of threads: conformance.py
// compares the texts of two runtimes. All also know what OpenMP promises: CHECK says what is not so, and then main()
// returns 1. Those of ../programs print nothing else.
#ifndef CHECK_H
#define CHECK_H

#include <sched.h>
#include <stdio.h>
#include <string.h>

static int failures;

static void failed(const char* file, int line, const char* what) {
  const char* const name = strrchr(file, '/');
  if (__atomic_add_fetch(&failures, 1, __ATOMIC_RELAXED) <= 20) {
    printf("%s:%d: not so: %s\n", name ? name + 1 : file, line, what);
  }
}

#define CHECK(...) ((__VA_ARGS__) ? (void)0 : failed(__FILE__, __LINE__, #__VA_ARGS__))
#define PRAGMA(...) _Pragma(#__VA_ARGS__)

// The members meet without the runtime: a call returns when `all` members have called. Only threads that truly run at
// the same time get past it.
static inline void meet(int* count, int all) {
  __atomic_add_fetch(count, 1, __ATOMIC_ACQ_REL);
  while (__atomic_load_n(count, __ATOMIC_ACQUIRE) < all) sched_yield();
}

static inline int get(const int* from) { return __atomic_load_n(from, __ATOMIC_ACQUIRE); }
static inline void set(int* to, int value) { __atomic_store_n(to, value, __ATOMIC_RELEASE); }
static inline int add(int* to, int value) {
  return __atomic_add_fetch(to, value, __ATOMIC_ACQ_REL);
}
static inline void wait_for(const int* word, int value) {
  while (get(word) < value) sched_yield();
}

// The last line of main(): the first one that failed stands above it in the text.
static inline int result(void) {
  printf("%s\n", failures ? "FAILED" : "done");
  return failures != 0;
}

#endif  // CHECK_H
