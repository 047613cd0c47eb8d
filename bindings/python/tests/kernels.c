/* SPDX-License-Identifier: MIT
 * Native functions for the tests. */
#include <lockstep.h>
#include <stdatomic.h>

struct counts {
  double* values;
  int64_t fail_at;
  atomic_int calls;
};

/* A region: each member adds its rank to its own value; the sum comes back to all by a barrier. */
int region(lockstep_member* me, void* context) {
  struct counts* of = context;
  double sum = 0;
  const size_t rank = lockstep_member_rank(me);
  atomic_fetch_add(&of->calls, 1);
  const int code = lockstep_member_sync_double(me, LOCKSTEP_SUM, (double)rank, &sum);
  if (code != LOCKSTEP_OK) return code;
  of->values[rank] = sum;
  return of->fail_at == (int64_t)rank ? 7 : LOCKSTEP_OK;
}

int empty_region(lockstep_member* me, void* context) {
  (void)me, (void)context;
  return LOCKSTEP_OK;
}

int scale(int64_t first, int64_t last, void* context) {
  double* x = context;
  for (int64_t i = first; i < last; ++i) x[i] *= 2;
  return LOCKSTEP_OK;
}

int fail(int64_t first, int64_t last, void* context) {
  (void)first, (void)last, (void)context;
  return 5;
}

int sum_block(int64_t first, int64_t last, double* value, void* context) {
  const double* x = context;
  for (int64_t i = first; i < last; ++i) *value += x[i];
  return LOCKSTEP_OK;
}

int count_block(int64_t first, int64_t last, int64_t* value, void* context) {
  (void)context;
  *value += last - first;
  return LOCKSTEP_OK;
}

int node(size_t iteration, void* context) {
  *(int64_t*)context += (int64_t)iteration;
  return LOCKSTEP_OK;
}
