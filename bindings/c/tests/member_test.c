/* SPDX-License-Identifier: MIT
 * What members of a region do together. Callbacks return the number of the line where something was wrong. */
#include <stdlib.h>

#include "check.h"

#define EXPECT(condition)             \
  do {                                \
    if (!(condition)) return __LINE__; \
  } while (0)
/* Hands codes on. */
#define TRY(expression)              \
  do {                               \
    const int try_code = (expression); \
    if (try_code != 0) return try_code; \
  } while (0)

enum { length = 1000, most = 64 };

struct shared {
  int64_t slots[most]; /* by rank */
  int counts[length];
  int singles, firsts;
  int result;
};

static int barriers(lockstep_member* me, void* context) {
  struct shared* shared = context;
  const size_t rank = lockstep_member_rank(me), size = lockstep_member_size(me);
  int64_t round;
  for (round = 1; round < 200; ++round) {
    size_t other;
    shared->slots[rank] = round;
    TRY(lockstep_member_sync_threads(me));
    for (other = 0; other < size; ++other) EXPECT(shared->slots[other] == round);
    TRY(lockstep_member_sync_threads(me));
  }
  return 0;
}

static void keep_longest(void* into, const void* from, void* context) {
  (void)context;
  if (*(const int64_t*)from > *(const int64_t*)into) memcpy(into, from, 40);
}

static int synced_values(lockstep_member* me, void* context) {
  const size_t rank = lockstep_member_rank(me), size = lockstep_member_size(me);
  const int64_t n = (int64_t)size;
  double sum = -1;
  float least = -1;
  int64_t product = -1, most_of_all = -1, wide[5];
  size_t count = 99, k;
  int all = -1, any = -1, round;
  (void)context;
  for (round = 0; round < 50; ++round) {
    TRY(lockstep_member_sync_double(me, LOCKSTEP_SUM, (double)rank + 0.5, &sum));
    EXPECT(sum == (double)(n * (n - 1) / 2) + 0.5 * (double)n);
    TRY(lockstep_member_sync_float(me, LOCKSTEP_MIN, (float)rank - 4.0f, &least));
    EXPECT(least == -4.0f);
    TRY(lockstep_member_sync_int64(me, LOCKSTEP_PRODUCT, rank < 20 ? 2 : 1, &product));
    EXPECT(product == INT64_C(1) << (n < 20 ? n : 20));
    TRY(lockstep_member_sync_int64(me, LOCKSTEP_MAX, (int64_t)rank, &most_of_all));
    EXPECT(most_of_all == n - 1);
    TRY(lockstep_member_sync_count(me, rank % 2 == 0, &count));
    EXPECT(count == (size + 1) / 2);
    TRY(lockstep_member_sync_and(me, 1, &all));
    TRY(lockstep_member_sync_or(me, 0, &any));
    EXPECT(all == 1 && any == 0);
    TRY(lockstep_member_sync_and(me, rank != 0, &all));
    TRY(lockstep_member_sync_or(me, rank == 0, &any));
    EXPECT(all == 0 && any == 1);
    for (k = 0; k < 5; ++k) wide[k] = (int64_t)rank;
    TRY(lockstep_member_sync_reduce(me, sizeof wide, wide, keep_longest, NULL));
    for (k = 0; k < 5; ++k) EXPECT(wide[k] == n - 1);
    for (k = 0; k < 5; ++k) wide[k] = (int64_t)(rank + k);
    TRY(lockstep_member_broadcast(me, size - 1, sizeof wide, wide));
    for (k = 0; k < 5; ++k) EXPECT(wide[k] == (int64_t)(size - 1 + k));
    TRY(lockstep_member_broadcast(me, 0, 3, &all));
  }
  return 0;
}

static int count_single(void* context) {
  ++((struct shared*)context)->singles;
  return 0;
}
static int count_first(void* context) {
  ++((struct shared*)context)->firsts;
  return 0;
}
static int singles(lockstep_member* me, void* context) {
  struct shared* shared = context;
  int round;
  for (round = 1; round <= 50; ++round) {
    TRY(lockstep_member_single(me, count_single, shared));
    EXPECT(shared->singles == round); /* the others have waited */
    TRY(lockstep_member_sync_threads(me));
    TRY(lockstep_member_single_nowait(me, count_first, shared));
    TRY(lockstep_member_sync_threads(me));
    EXPECT(shared->firsts == round);
    TRY(lockstep_member_sync_threads(me));
  }
  return 0;
}

static int count_part(int64_t first, int64_t last, void* context) {
  int* counts = context;
  for (; first < last; ++first) ++counts[first];
  return 0;
}
static int loops(lockstep_member* me, void* context) {
  struct shared* shared = context;
  int schedule;
  int64_t first, last, i;
  TRY(lockstep_member_block(me, 0, length, &first, &last));
  for (i = first; i < last; ++i) shared->counts[i] = 0;
  TRY(lockstep_member_sync_threads(me));
  for (schedule = LOCKSTEP_STATIC; schedule <= LOCKSTEP_GUIDED; ++schedule) {
    TRY(lockstep_member_for_range(me, 0, length, schedule, 3, count_part, shared->counts));
    for (i = 0; i < length; ++i) EXPECT(shared->counts[i] == 2 * schedule + 1);
    TRY(lockstep_member_sync_threads(me));
    TRY(lockstep_member_for_range_nowait(me, 0, length, schedule, 3, count_part, shared->counts));
    TRY(lockstep_member_sync_threads(me));
    for (i = 0; i < length; ++i) EXPECT(shared->counts[i] == 2 * schedule + 2);
    TRY(lockstep_member_sync_threads(me));
  }
  return 0;
}

static int blocks(lockstep_member* me, void* context) {
  struct shared* shared = context;
  const size_t rank = lockstep_member_rank(me);
  int64_t first = 0, last = 0, after;
  TRY(lockstep_member_block(me, INT64_MIN, INT64_MAX, &first, &last));
  if (rank == 0) EXPECT(first == INT64_MIN);
  if (rank == lockstep_member_size(me) - 1) EXPECT(last == INT64_MAX);
  shared->slots[rank] = first;
  TRY(lockstep_member_sync_threads(me));
  after = rank + 1 < lockstep_member_size(me) ? shared->slots[rank + 1] : INT64_MAX;
  EXPECT(last == after);
  TRY(lockstep_member_block(me, 5, -5, &first, &last));
  EXPECT(first == last);
  return 0;
}

static int sum_double(int64_t first, int64_t last, double* value, void* context) {
  (void)context;
  for (; first < last; ++first) *value += 1.0 / (1.0 + (double)first);
  return 0;
}
static int sum_float(int64_t first, int64_t last, float* value, void* context) {
  (void)context;
  *value += (float)(last - first);
  return 0;
}
static int sum_int64(int64_t first, int64_t last, int64_t* value, void* context) {
  (void)context;
  for (; first < last; ++first) *value += first;
  return 0;
}
static int pair_of(int64_t first, int64_t last, void* value, void* context) {
  int64_t* pair = value;
  (void)context;
  pair[0] = first;
  pair[1] = last;
  return 0;
}
static void join_pairs(void* into, const void* from, void* context) {
  int64_t* a = into;
  const int64_t* b = from;
  (void)context;
  if (a[1] != b[0]) a[0] = -1;
  a[1] = b[1];
}
static int reductions(lockstep_member* me, void* context) {
  double* sums = context; /* by rank */
  double sum = 0;
  float count = 1;
  int64_t total = 0, pair[2] = {0, 0};
  TRY(lockstep_member_reduce_double(me, 0, length, LOCKSTEP_SUM, sum_double, NULL, &sum));
  sums[lockstep_member_rank(me)] = sum;
  TRY(lockstep_member_reduce_float(me, 0, length, LOCKSTEP_SUM, sum_float, NULL, &count));
  EXPECT(count == (float)length + 1);
  TRY(lockstep_member_reduce_int64(me, 0, length, LOCKSTEP_SUM, sum_int64, NULL, &total));
  EXPECT(total == (int64_t)length * (length - 1) / 2);
  TRY(lockstep_member_reduce(me, 0, length, sizeof pair, pair_of, join_pairs, NULL, pair));
  EXPECT(pair[0] == 0 && pair[1] == length);
  return 0;
}

/* A chain: each member takes step k after the one before it. */
static int steps(lockstep_member* me, void* context) {
  struct shared* shared = context;
  const size_t rank = lockstep_member_rank(me);
  size_t step;
  for (step = 1; step < 50; ++step) {
    if (rank > 0) {
      TRY(lockstep_member_await_step(me, rank - 1, step));
      EXPECT(shared->slots[rank - 1] >= (int64_t)step);
    }
    shared->slots[rank] = (int64_t)step;
    TRY(lockstep_member_publish(me, step));
    TRY(lockstep_member_sync_threads(me));
  }
  return 0;
}

/* --- failures inside of constructs --- */

static int fail_single(void* context) { return ((struct shared*)context)->result; }
static int single_fails(lockstep_member* me, void* context) {
  return lockstep_member_single(me, fail_single, context);
}
static int fail_part(int64_t first, int64_t last, void* context) {
  return first <= 500 && 500 < last ? ((struct shared*)context)->result : 0;
}
static int for_range_fails(lockstep_member* me, void* context) {
  TRY(lockstep_member_for_range(me, 0, length, LOCKSTEP_DYNAMIC, 10, fail_part, context));
  return lockstep_member_sync_threads(me);
}
static int fail_value(int64_t first, int64_t last, double* value, void* context) {
  *value = 1;
  return fail_part(first, last, context);
}
static int reduce_fails(lockstep_member* me, void* context) {
  double sum = 0;
  return lockstep_member_reduce_double(me, 0, length, LOCKSTEP_SUM, fail_value, context, &sum);
}
/* The construct has a text by itself; the region's is another one. */
static int says(int code, int expected, const char* text) {
  return code == expected && strcmp(lockstep_last_error(), text) == 0;
}
static int texts_of_constructs(lockstep_member* me, void* context) {
  EXPECT(says(lockstep_member_single(me, fail_single, context), 5,
              "lockstep_member_single: a callback has returned 5"));
  return 0;
}
static int texts_of_loops(lockstep_member* me, void* context) {
  EXPECT(says(lockstep_member_for_range(me, 0, length, LOCKSTEP_STATIC, 0, fail_part, context), 5,
              "lockstep_member_for_range: a callback has returned 5"));
  return 0;
}
/* A member that ignores the code of a construct that has failed finds the region stopped. */
static int ignores(lockstep_member* me, void* context) {
  (void)lockstep_member_single(me, fail_single, context);
  return lockstep_member_sync_threads(me) == LOCKSTEP_STOPPED ? 0 : __LINE__;
}

static int bad_arguments(lockstep_member* me, void* context) {
  double d = 0;
  int64_t i = 0;
  (void)context;
  EXPECT(lockstep_member_rank(NULL) == 0 && lockstep_member_size(NULL) == 0);
  EXPECT(lockstep_member_stop_requested(NULL) == 1);
  EXPECT(lockstep_member_sync_double(me, 9, 0, &d) == LOCKSTEP_ERROR_ARGUMENT);
  EXPECT(lockstep_member_sync_reduce(me, 0, &i, keep_longest, NULL) == LOCKSTEP_ERROR_ARGUMENT);
  EXPECT(lockstep_member_broadcast(me, 0, 0, &i) == LOCKSTEP_ERROR_ARGUMENT);
  EXPECT(lockstep_member_broadcast(me, 77, 8, &i) == LOCKSTEP_ERROR_RANK);
  EXPECT(strstr(lockstep_last_error(), "rank 77") != NULL);
  EXPECT(lockstep_member_for_range(me, 0, 1, 4, 1, count_part, NULL) == LOCKSTEP_ERROR_ARGUMENT);
  EXPECT(lockstep_member_for_range(me, 0, 1, LOCKSTEP_GUIDED, 0, count_part, NULL) == LOCKSTEP_ERROR_ARGUMENT);
  EXPECT(lockstep_member_reduce_double(me, 0, 1, -1, sum_double, NULL, &d) == LOCKSTEP_ERROR_ARGUMENT);
  EXPECT(lockstep_member_reduce(me, 0, 1, 0, pair_of, join_pairs, NULL, &i) == LOCKSTEP_ERROR_ARGUMENT);
  EXPECT(lockstep_member_await_step(me, 77, 1) == LOCKSTEP_ERROR_RANK);
  EXPECT(lockstep_member_await_step(me, lockstep_member_rank(me), 1) == LOCKSTEP_ERROR_USE);
  /* None of it has stopped the region. */
  return lockstep_member_sync_threads(me);
}

/* What a thread polls for while it waits. */
struct polled {
  lockstep_team* team;
  size_t returns; /* the rank that returns at once; all others wait for it, for ever */
  int polls;
};

static void stop_at_third_poll(void* context) {
  struct polled* polled = context;
  if (++polled->polls == 3) CHECK_OK(lockstep_team_request_stop(polled->team));
}

static int waits_for_ever(lockstep_member* me, void* context) {
  const struct polled* polled = context;
  return lockstep_member_rank(me) == polled->returns ? 0 : lockstep_member_sync_threads(me);
}

/* The caller waits in the region, or for the region's end. */
static void polls_while_it_waits(size_t members, int64_t policy, size_t returns) {
  lockstep_team_options options = LOCKSTEP_TEAM_OPTIONS_INIT;
  struct polled polled = {NULL, returns, 0};
  options.members = members;
  options.policy = policy;
  CHECK_OK(lockstep_team_create(&options, &polled.team));
  CHECK_OK(lockstep_poll_while_waiting(1000000, stop_at_third_poll, &polled));
  CHECK_CODE(lockstep_team_run(polled.team, waits_for_ever, &polled), LOCKSTEP_STOPPED);
  CHECK(polled.polls >= 3);
  CHECK_OK(lockstep_poll_while_waiting(0, NULL, NULL));
  CHECK_OK(lockstep_team_destroy(polled.team));
}

static void polls(void) {
  const int64_t policies[] = {LOCKSTEP_POLICY_UNSET, LOCKSTEP_POLICY_SPIN, LOCKSTEP_POLICY_BLOCK, 100000};
  size_t k, returns;
  for (k = 0; k < sizeof policies / sizeof policies[0]; ++k) {
    for (returns = 0; returns < 2; ++returns) polls_while_it_waits(2, policies[k], returns);
  }
  polls_while_it_waits(3, LOCKSTEP_POLICY_UNSET, 2);
  polls_while_it_waits(9, LOCKSTEP_POLICY_UNSET, 0);
  CHECK_FAILS(lockstep_poll_while_waiting(0, stop_at_third_poll, NULL), LOCKSTEP_ERROR_ARGUMENT, "interval");
}

int main(void) {
  const size_t sizes[] = {1, 2, 5, 9};
  static struct shared shared;
  double sums[most], first_sum = 0;
  size_t k, rank;
  for (k = 0; k < sizeof sizes / sizeof sizes[0]; ++k) {
    lockstep_team* team = check_team(sizes[k]);
    memset(&shared, 0, sizeof shared);
    CHECK_OK(lockstep_team_run(team, barriers, &shared));
    CHECK_OK(lockstep_team_run(team, synced_values, &shared));
    CHECK_OK(lockstep_team_run(team, singles, &shared));
    CHECK_OK(lockstep_team_run(team, loops, &shared));
    CHECK_OK(lockstep_team_run(team, blocks, &shared));
    CHECK_OK(lockstep_team_run(team, steps, &shared));
    CHECK_OK(lockstep_team_run(team, bad_arguments, NULL));
    CHECK_OK(lockstep_team_run(team, reductions, sums));
    if (k == 0) first_sum = sums[0];
    for (rank = 0; rank < sizes[k]; ++rank) CHECK(memcmp(&sums[rank], &first_sum, sizeof first_sum) == 0);

    shared.result = 5;
    CHECK_FAILS(lockstep_team_run(team, single_fails, &shared), 5, "returned 5");
    CHECK_FAILS(lockstep_team_run(team, for_range_fails, &shared), 5, "returned 5");
    CHECK_FAILS(lockstep_team_run(team, reduce_fails, &shared), 5, "returned 5");
    CHECK_CODE(lockstep_team_run(team, ignores, &shared), LOCKSTEP_STOPPED);
    CHECK_CODE(lockstep_team_run_on(team, 1, texts_of_constructs, &shared), LOCKSTEP_STOPPED);
    CHECK_CODE(lockstep_team_run_on(team, 1, texts_of_loops, &shared), LOCKSTEP_STOPPED);
    shared.result = LOCKSTEP_STOPPED;
    CHECK_CODE(lockstep_team_run(team, single_fails, &shared), LOCKSTEP_STOPPED);
    CHECK_CODE(lockstep_team_run(team, for_range_fails, &shared), LOCKSTEP_STOPPED);
    CHECK_CODE(lockstep_team_run(team, reduce_fails, &shared), LOCKSTEP_STOPPED);
    CHECK_OK(lockstep_team_run(team, barriers, &shared));
    CHECK_OK(lockstep_team_destroy(team));
  }
  polls();
  return check_result();
}
