/* SPDX-License-Identifier: MIT
 * bindings/c/tests/check.h -- what the tests have in common. CHECK is for the main thread; callbacks write to places of
 * their own, and the main thread looks at them. */
#ifndef LOCKSTEP_C_CHECK_H
#define LOCKSTEP_C_CHECK_H

#include <stdio.h>
#include <string.h>

#include <lockstep.h>

static int check_failures = 0;

#define CHECK(condition)                                                           \
  do {                                                                             \
    if (!(condition)) {                                                            \
      ++check_failures;                                                            \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);              \
    }                                                                              \
  } while (0)

/* A code, and the name of the other one where it differs. */
#define CHECK_CODE(expression, expected)                                           \
  do {                                                                             \
    const int check_got = (expression);                                            \
    if (check_got != (expected)) {                                                 \
      ++check_failures;                                                            \
      fprintf(stderr, "%s:%d: %s is %d (%s), not %s; %s\n", __FILE__, __LINE__,    \
              #expression, check_got, lockstep_code_name(check_got), #expected,    \
              lockstep_last_error());                                              \
    }                                                                              \
  } while (0)
#define CHECK_OK(expression) CHECK_CODE(expression, LOCKSTEP_OK)

/* A failure, and a word that its text must have. It names functions of C. */
#define CHECK_FAILS(expression, expected, word)                                    \
  do {                                                                             \
    CHECK_CODE(expression, expected);                                              \
    if (strstr(lockstep_last_error(), (word)) == NULL) {                           \
      ++check_failures;                                                            \
      fprintf(stderr, "%s:%d: the text of %s has no '%s': %s\n", __FILE__,         \
              __LINE__, #expression, (word), lockstep_last_error());               \
    }                                                                              \
    CHECK(strstr(lockstep_last_error(), "lockstep::") == NULL);                    \
  } while (0)

static inline lockstep_team* check_team(size_t members) {
  lockstep_team_options options = LOCKSTEP_TEAM_OPTIONS_INIT;
  lockstep_team* team = NULL;
  options.members = members;
  CHECK_OK(lockstep_team_create(&options, &team));
  return team;
}

static inline int check_result(void) {
  if (check_failures == 0) return 0;
  fprintf(stderr, "%d checks failed\n", check_failures);
  return 1;
}

#endif
