/* SPDX-License-Identifier: MIT
 * Loops and reductions: each index once, each operation, what fails. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "check.h"

enum { length = 10007 };

struct array {
  int64_t first;
  unsigned char* counts; /* by index - first */
  int empty_parts, result;
  int64_t failing; /* the index whose part fails */
  int64_t calls;
};

static int count(int64_t first, int64_t last, void* context) {
  struct array* array = context;
  int64_t i;
  if (first >= last) array->empty_parts = 1;
  for (i = first; i < last; ++i) ++array->counts[i - array->first];
  return 0;
}

static int all_once(const unsigned char* counts, size_t n) {
  size_t i;
  for (i = 0; i < n; ++i) {
    if (counts[i] != 1) return 0;
  }
  return 1;
}

/* Many rounds, so that the loop's cost is learned and all ways are taken. */
static void loops_run_each_index_once(lockstep_team* team) {
  unsigned char* counts = malloc(length);
  struct array array = {0, NULL, 0, 0, 0, 0};
  int schedule, round;
  const int64_t firsts[] = {0, -5000, INT64_MAX - length, INT64_MIN};
  array.counts = counts;
  for (round = 0; round < 40; ++round) {
    array.first = firsts[round % 4];
    memset(counts, 0, length);
    CHECK_OK(lockstep_team_for_range(team, array.first, array.first + length, count, &array));
    CHECK(all_once(counts, length));
  }
  for (schedule = LOCKSTEP_STATIC; schedule <= LOCKSTEP_GUIDED; ++schedule) {
    const size_t chunks[] = {1, 7, 100000};
    for (round = 0; round < 3; ++round) {
      array.first = -3;
      memset(counts, 0, length);
      CHECK_OK(lockstep_team_for_range_by(team, -3, length - 3, schedule, chunks[round], count, &array));
      CHECK(all_once(counts, length));
    }
  }
  CHECK_OK(lockstep_team_for_range_by(team, 0, 0, LOCKSTEP_STATIC, 0, count, &array));
  memset(counts, 0, length);
  CHECK_OK(lockstep_team_for_range(team, 5, 5, count, &array)); /* empty and reversed */
  CHECK_OK(lockstep_team_for_range(team, 5, -5, count, &array));
  CHECK_OK(lockstep_team_for_range(team, INT64_MAX, INT64_MIN, count, &array));
  CHECK(counts[0] == 0 && !array.empty_parts);
  free(counts);
}

static int fail_at(int64_t first, int64_t last, void* context) {
  const struct array* array = context;
  return first <= array->failing && array->failing < last ? array->result : 0;
}

static void loops_hand_results_on(lockstep_team* team) {
  struct array array = {0, NULL, 0, 0, 0, 0};
  int round;
  array.result = 42;
  for (round = 0; round < 20; ++round) {
    array.failing = round * 50;
    CHECK_FAILS(lockstep_team_for_range(team, 0, 1000, fail_at, &array), 42, "a callback has returned 42");
    CHECK_CODE(lockstep_team_for_range_by(team, 0, 1000, LOCKSTEP_DYNAMIC, 10, fail_at, &array), 42);
    CHECK_OK(lockstep_team_for_range(team, 2000, 3000, fail_at, &array));
  }
  array.result = LOCKSTEP_STOPPED;
  CHECK_CODE(lockstep_team_for_range(team, 0, 1000, fail_at, &array), LOCKSTEP_STOPPED);
  CHECK_FAILS(lockstep_team_for_range_by(team, 0, 1, 4, 1, fail_at, &array), LOCKSTEP_ERROR_ARGUMENT, "schedule 4");
  CHECK_FAILS(lockstep_team_for_range_by(team, 0, 1, -1, 1, fail_at, &array), LOCKSTEP_ERROR_ARGUMENT, "schedule -1");
  CHECK_FAILS(lockstep_team_for_range_by(team, 0, 1, LOCKSTEP_DYNAMIC, 0, fail_at, &array), LOCKSTEP_ERROR_ARGUMENT,
              "chunk");
}

/* For each type: the sum of indices, and what a part begins with, which goes to the context. */
#define FUNCTIONS(NAME, TYPE)                                                               \
  static int sum_##NAME(int64_t first, int64_t last, TYPE* value, void* context) {          \
    (void)context;                                                                          \
    for (; first < last; ++first) *value += (TYPE)first;                                    \
    return 0;                                                                               \
  }                                                                                         \
  static int neutral_##NAME(int64_t first, int64_t last, TYPE* value, void* context) {      \
    *(TYPE*)context = *value;                                                               \
    return first < last ? 0 : 1;                                                            \
  }
FUNCTIONS(double, double)
FUNCTIONS(float, float)
FUNCTIONS(int64, int64_t)

static int extreme_double(int64_t first, int64_t last, double* value, void* context) {
  const int wants_least = *(const int*)context == LOCKSTEP_MIN;
  int64_t i;
  for (i = first; i < last; ++i) {
    const double x = -3.0 + (double)((i * 31) % 1009);
    if (wants_least ? x < *value : x > *value) *value = x;
  }
  return 0;
}
static int twos(int64_t first, int64_t last, int64_t* value, void* context) {
  (void)context;
  for (; first < last; ++first) *value *= 2;
  return 0;
}
static int fail_double(int64_t first, int64_t last, double* value, void* context) {
  (void)value;
  return first <= 500 && 500 < last ? *(const int*)context : 0;
}

static void reductions_know_their_operations(lockstep_team* team) {
  int operation;
  double least = 1e9, most = -1e9, halved = 0.5, neutral[4];
  float sum = 0, float_neutral = 0;
  int64_t total = 10, power = 1, int_neutral = 0;
  const double expected[] = {0, 1, HUGE_VAL, -HUGE_VAL};
  operation = LOCKSTEP_MIN;
  CHECK_OK(lockstep_team_reduce_double(team, 0, 5000, operation, extreme_double, &operation, &least));
  CHECK(least == -3.0);
  operation = LOCKSTEP_MAX;
  CHECK_OK(lockstep_team_reduce_double(team, 0, 5000, operation, extreme_double, &operation, &most));
  CHECK(most == 1005.0);
  least = -7; /* the initial value counts */
  operation = LOCKSTEP_MIN;
  CHECK_OK(lockstep_team_reduce_double(team, 0, 5000, operation, extreme_double, &operation, &least));
  CHECK(least == -7.0);
  CHECK_OK(lockstep_team_reduce_float(team, 0, 100, LOCKSTEP_SUM, sum_float, NULL, &sum));
  CHECK(sum == 4950.0f);
  CHECK_OK(lockstep_team_reduce_double(team, 0, 1000, LOCKSTEP_SUM, sum_double, NULL, &halved));
  CHECK(halved == 0.5 + 499500); /* exact in any order; the same bits for every team: member_test.c */
  CHECK_OK(lockstep_team_reduce_int64(team, 0, 1001, LOCKSTEP_SUM, sum_int64, NULL, &total));
  CHECK(total == 500510);
  CHECK_OK(lockstep_team_reduce_int64(team, 0, 40, LOCKSTEP_PRODUCT, twos, NULL, &power));
  CHECK(power == INT64_C(1) << 40);
  for (operation = LOCKSTEP_SUM; operation <= LOCKSTEP_MAX; ++operation) {
    double ignored = 1;
    float float_ignored = 1;
    int64_t int_ignored = 1;
    CHECK_OK(lockstep_team_reduce_double(team, 0, 1, operation, neutral_double, &neutral[operation], &ignored));
    CHECK(neutral[operation] == expected[operation]);
    CHECK_OK(lockstep_team_reduce_float(team, 0, 1, operation, neutral_float, &float_neutral, &float_ignored));
    CHECK((double)float_neutral == expected[operation]);
    CHECK_OK(lockstep_team_reduce_int64(team, 0, 1, operation, neutral_int64, &int_neutral, &int_ignored));
    CHECK(int_neutral == (operation == LOCKSTEP_SUM       ? 0
                          : operation == LOCKSTEP_PRODUCT ? 1
                          : operation == LOCKSTEP_MIN     ? INT64_MAX
                                                          : INT64_MIN));
  }
  total = INT64_MAX; /* wraps around */
  CHECK_OK(lockstep_team_reduce_int64(team, 1, 2, LOCKSTEP_SUM, sum_int64, NULL, &total));
  CHECK(total == INT64_MIN);
}

static void reductions_that_fail_change_nothing(lockstep_team* team) {
  double sum = 3;
  int result = 9;
  CHECK_FAILS(lockstep_team_reduce_double(team, 0, 1000, LOCKSTEP_SUM, fail_double, &result, &sum), 9,
              "a callback has returned 9");
  CHECK(sum == 3);
  result = LOCKSTEP_STOPPED;
  CHECK_CODE(lockstep_team_reduce_double(team, 0, 1000, LOCKSTEP_SUM, fail_double, &result, &sum), LOCKSTEP_STOPPED);
  CHECK(sum == 3);
  CHECK_OK(lockstep_team_reduce_double(team, 8, 8, LOCKSTEP_SUM, fail_double, &result, &sum)); /* empty */
  CHECK(sum == 3);
  CHECK_FAILS(lockstep_team_reduce_double(team, 0, 1, 4, sum_double, NULL, &sum), LOCKSTEP_ERROR_ARGUMENT,
              "operation 4");
}

/* Values of `words` words: the first and last index of a range, and how many there were. Combining checks that parts come
 * in order; what is in between is filled, so that a byte that is lost shows. */
enum { most_words = 300 };
struct piece {
  size_t words;
};
static void fill(int64_t* piece, size_t words, int64_t first, int64_t last) {
  size_t k;
  for (k = 0; k < words; ++k) piece[k] = last;
  piece[0] = first;
}
static int make_piece(int64_t first, int64_t last, void* value, void* context) {
  const struct piece* of = context;
  const unsigned char* bytes = value;
  size_t k;
  for (k = 0; k < of->words * sizeof(int64_t); ++k) {
    if (bytes[k] != 0) return 1;
  }
  fill(value, of->words, first, last);
  return 0;
}
static void join_pieces(void* into, const void* from, void* context) {
  const struct piece* of = context;
  int64_t a[most_words], b[most_words];
  memcpy(a, into, of->words * sizeof(int64_t));
  memcpy(b, from, of->words * sizeof(int64_t));
  /* Not neighbours: marked for good. */
  if (a[of->words - 1] != b[0] || a[0] == -1 || b[0] == -1) {
    fill(a, of->words, -1, -1);
  } else {
    fill(a, of->words, a[0], b[of->words - 1]);
  }
  memcpy(into, a, of->words * sizeof(int64_t));
}

static void reductions_of_any_size_combine_in_order(lockstep_team* team) {
  const size_t sizes[] = {2, 3, 4, 5, most_words};
  size_t k;
  int64_t result[most_words];
  char byte = 0;
  for (k = 0; k < sizeof sizes / sizeof sizes[0]; ++k) {
    struct piece of;
    of.words = sizes[k];
    fill(result, of.words, 0, 0);
    CHECK_OK(lockstep_team_reduce(team, 0, length, of.words * sizeof(int64_t), make_piece, join_pieces, &of, result));
    CHECK(result[0] == 0 && result[1] == length && result[of.words - 1] == length);
  }
  CHECK_FAILS(lockstep_team_reduce(team, 0, 1, 0, make_piece, join_pieces, NULL, &byte), LOCKSTEP_ERROR_ARGUMENT,
              "0 bytes");
  CHECK_FAILS(lockstep_team_reduce(team, 0, 1, LOCKSTEP_LARGEST_VALUE + 1, make_piece, join_pieces, NULL, &byte),
              LOCKSTEP_ERROR_ARGUMENT, "65537 bytes");
}

/* A byte, so that the value is smaller than any cell. */
static int parity_of(int64_t first, int64_t last, void* value, void* context) {
  (void)context;
  *(unsigned char*)value = (unsigned char)((last - first) & 1);
  return 0;
}
static void exclusive_or(void* into, const void* from, void* context) {
  (void)context;
  *(unsigned char*)into = (unsigned char)(*(unsigned char*)into ^ *(const unsigned char*)from);
}

int main(void) {
  const size_t sizes[] = {1, 2, 5};
  size_t k;
  for (k = 0; k < 3; ++k) {
    lockstep_team* team = check_team(sizes[k]);
    unsigned char parity = 0;
    loops_run_each_index_once(team);
    loops_hand_results_on(team);
    reductions_know_their_operations(team);
    reductions_that_fail_change_nothing(team);
    reductions_of_any_size_combine_in_order(team);
    CHECK_OK(lockstep_team_reduce(team, 0, length, 1, parity_of, exclusive_or, NULL, &parity));
    CHECK(parity == 1);
    CHECK_OK(lockstep_team_destroy(team));
  }
  return check_result();
}
