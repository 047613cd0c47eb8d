/* SPDX-License-Identifier: MIT
 * Event, mutex, latch, semaphore and barrier between threads, and what they refuse. */
#include <pthread.h>

#include "check.h"

enum { rounds = 2000, threads = 4 };

static const int64_t policies[] = {LOCKSTEP_POLICY_UNSET, LOCKSTEP_POLICY_ADAPTIVE, LOCKSTEP_POLICY_BLOCK, 20000};
static const int64_t a_millisecond = 1000000;

static void run_threads(size_t count, void* (*function)(void*), void* context) {
  pthread_t of[threads];
  size_t i;
  for (i = 0; i < count; ++i) CHECK(pthread_create(&of[i], NULL, function, context) == 0);
  for (i = 0; i < count; ++i) CHECK(pthread_join(of[i], NULL) == 0);
}

/* --- event --- */

struct ping {
  lockstep_event *there, *back;
  int64_t value; /* plain: what orders it is the events */
  int failures;
};
static void* answer(void* context) {
  struct ping* ping = context;
  int64_t round;
  for (round = 1; round <= rounds; ++round) {
    if (lockstep_event_wait(ping->there) != 0 || ping->value != round) ++ping->failures;
    ping->value = -round;
    if (lockstep_event_notify(ping->back) != 0) ++ping->failures;
  }
  return NULL;
}
static void events_hand_values_over(int64_t policy) {
  struct ping ping = {NULL, NULL, 0, 0};
  pthread_t other;
  int64_t round;
  CHECK_OK(lockstep_event_create(policy, &ping.there));
  CHECK_OK(lockstep_event_create(policy, &ping.back));
  CHECK(pthread_create(&other, NULL, answer, &ping) == 0);
  for (round = 1; round <= rounds; ++round) {
    ping.value = round;
    CHECK_OK(lockstep_event_notify(ping.there));
    CHECK_OK(lockstep_event_wait_for(ping.back, LOCKSTEP_FOREVER));
    CHECK(ping.value == -round);
  }
  pthread_join(other, NULL);
  CHECK(ping.failures == 0);
  CHECK_CODE(lockstep_event_try_wait(ping.there), LOCKSTEP_BUSY);
  CHECK_CODE(lockstep_event_wait_for(ping.there, 0), LOCKSTEP_TIMED_OUT);
  CHECK_CODE(lockstep_event_wait_for(ping.there, -1), LOCKSTEP_TIMED_OUT);
  CHECK_CODE(lockstep_event_wait_for(ping.there, a_millisecond), LOCKSTEP_TIMED_OUT);
  CHECK_OK(lockstep_event_notify(ping.there));
  CHECK_OK(lockstep_event_notify(ping.there));
  CHECK_OK(lockstep_event_try_wait(ping.there));
  CHECK_OK(lockstep_event_wait(ping.there)); /* they count */
  CHECK_OK(lockstep_event_terminate(ping.there));
  CHECK_CODE(lockstep_event_wait(ping.there), LOCKSTEP_TERMINATED);
  CHECK_CODE(lockstep_event_wait_for(ping.there, a_millisecond), LOCKSTEP_TERMINATED);
  CHECK_CODE(lockstep_event_try_wait(ping.there), LOCKSTEP_BUSY);
  lockstep_event_destroy(ping.there);
  lockstep_event_destroy(ping.back);
}
static void events_refuse(void) {
  lockstep_event* event = (lockstep_event*)&policies;
  CHECK_FAILS(lockstep_event_create(-9, &event), LOCKSTEP_ERROR_ARGUMENT, "policy -9");
  CHECK(event == NULL);
  lockstep_event_destroy(NULL);
}

/* --- mutex --- */

struct counter {
  lockstep_mutex* mutex;
  int64_t count;
};
static void* add_up(void* context) {
  struct counter* counter = context;
  int round;
  for (round = 0; round < rounds; ++round) {
    int code = round % 3 == 0   ? lockstep_mutex_lock(counter->mutex)
               : round % 3 == 1 ? lockstep_mutex_lock_for(counter->mutex, LOCKSTEP_FOREVER)
                                : LOCKSTEP_BUSY;
    while (code == LOCKSTEP_BUSY) code = lockstep_mutex_try_lock(counter->mutex);
    if (code == LOCKSTEP_OK) {
      ++counter->count;
      lockstep_mutex_unlock(counter->mutex);
    }
  }
  return NULL;
}
static void* use_held_by_other(void* context) {
  struct counter* counter = context;
  counter->count = lockstep_mutex_unlock(counter->mutex) == LOCKSTEP_ERROR_USE &&
                   lockstep_mutex_try_lock(counter->mutex) == LOCKSTEP_BUSY &&
                   lockstep_mutex_lock_for(counter->mutex, a_millisecond) == LOCKSTEP_TIMED_OUT;
  return NULL;
}
static void mutexes_exclude(int64_t policy) {
  struct counter counter = {NULL, 0};
  CHECK_OK(lockstep_mutex_create(policy, &counter.mutex));
  run_threads(threads, add_up, &counter);
  CHECK(counter.count == (int64_t)threads * rounds);
  CHECK_OK(lockstep_mutex_lock(counter.mutex));
  CHECK_FAILS(lockstep_mutex_lock(counter.mutex), LOCKSTEP_ERROR_USE, "holds the mutex already");
  CHECK_FAILS(lockstep_mutex_lock_for(counter.mutex, 5), LOCKSTEP_ERROR_USE, "holds the mutex already");
  CHECK_CODE(lockstep_mutex_try_lock(counter.mutex), LOCKSTEP_BUSY);
  run_threads(1, use_held_by_other, &counter);
  CHECK(counter.count == 1);
  CHECK_OK(lockstep_mutex_unlock(counter.mutex));
  CHECK_FAILS(lockstep_mutex_unlock(counter.mutex), LOCKSTEP_ERROR_USE, "does not hold the mutex");
  lockstep_mutex_destroy(counter.mutex);
}
static void mutexes_refuse(void) {
  lockstep_mutex* mutex;
  CHECK_FAILS(lockstep_mutex_create(-9, &mutex), LOCKSTEP_ERROR_ARGUMENT, "policy");
  lockstep_mutex_destroy(NULL);
}

/* --- latch --- */

struct opening {
  lockstep_latch* latch;
  int64_t value;
  int failures;
};
static void* open_it(void* context) {
  struct opening* opening = context;
  opening->value = 5;
  if (lockstep_latch_count_down(opening->latch, 2) != 0) ++opening->failures;
  if (lockstep_latch_count_down(opening->latch, 1) != 0) ++opening->failures;
  return NULL;
}
static void latches_open(int64_t policy) {
  struct opening opening = {NULL, 0, 0};
  pthread_t other;
  CHECK_OK(lockstep_latch_create(3, policy, &opening.latch));
  CHECK_CODE(lockstep_latch_try_wait(opening.latch), LOCKSTEP_BUSY);
  CHECK_CODE(lockstep_latch_wait_for(opening.latch, a_millisecond), LOCKSTEP_TIMED_OUT);
  CHECK_FAILS(lockstep_latch_count_down(opening.latch, 4), LOCKSTEP_ERROR_ARGUMENT, "more than what is left");
  CHECK(pthread_create(&other, NULL, open_it, &opening) == 0);
  CHECK_OK(lockstep_latch_wait(opening.latch));
  CHECK(opening.value == 5);
  pthread_join(other, NULL);
  CHECK(opening.failures == 0);
  CHECK_OK(lockstep_latch_try_wait(opening.latch));
  CHECK_OK(lockstep_latch_wait_for(opening.latch, 0));
  CHECK_OK(lockstep_latch_count_down(opening.latch, 0));
  CHECK_FAILS(lockstep_latch_count_down(opening.latch, 1), LOCKSTEP_ERROR_ARGUMENT, "more than what is left");
  lockstep_latch_destroy(opening.latch);
  CHECK_OK(lockstep_latch_create(0, policy, &opening.latch));
  CHECK_OK(lockstep_latch_wait(opening.latch));
  lockstep_latch_destroy(opening.latch);
}
static void latches_refuse(void) {
  lockstep_latch* latch;
  CHECK_FAILS(lockstep_latch_create((size_t)1 << 31, 0, &latch), LOCKSTEP_ERROR_ARGUMENT, "2147483648 arrivals");
  lockstep_latch_destroy(NULL);
}

/* --- semaphore --- */

struct permits {
  lockstep_semaphore* semaphore;
  lockstep_mutex* mutex;
  int inside, most_inside, failures;
};
static void* use_permits(void* context) {
  struct permits* permits = context;
  int round;
  for (round = 0; round < 200; ++round) {
    if (round % 2 == 0 ? lockstep_semaphore_acquire(permits->semaphore)
                       : lockstep_semaphore_acquire_for(permits->semaphore, LOCKSTEP_FOREVER)) {
      ++permits->failures;
    }
    lockstep_mutex_lock(permits->mutex);
    if (++permits->inside > permits->most_inside) permits->most_inside = permits->inside;
    lockstep_mutex_unlock(permits->mutex);
    lockstep_mutex_lock(permits->mutex);
    --permits->inside;
    lockstep_mutex_unlock(permits->mutex);
    lockstep_semaphore_release(permits->semaphore, 1);
  }
  return NULL;
}
static void semaphores_let_so_many_through(int64_t policy) {
  struct permits permits = {NULL, NULL, 0, 0, 0};
  CHECK_OK(lockstep_semaphore_create(2, policy, &permits.semaphore));
  CHECK_OK(lockstep_mutex_create(policy, &permits.mutex));
  run_threads(threads, use_permits, &permits);
  CHECK(permits.most_inside >= 1 && permits.most_inside <= 2 && permits.failures == 0);
  CHECK_OK(lockstep_semaphore_try_acquire(permits.semaphore));
  CHECK_OK(lockstep_semaphore_acquire(permits.semaphore));
  CHECK_CODE(lockstep_semaphore_try_acquire(permits.semaphore), LOCKSTEP_BUSY);
  CHECK_CODE(lockstep_semaphore_acquire_for(permits.semaphore, a_millisecond), LOCKSTEP_TIMED_OUT);
  CHECK_OK(lockstep_semaphore_release(permits.semaphore, 3));
  CHECK_OK(lockstep_semaphore_try_acquire(permits.semaphore));
  lockstep_mutex_destroy(permits.mutex);
  lockstep_semaphore_destroy(permits.semaphore);
}
static void semaphores_refuse(void) {
  const size_t most = 0x3FFFFFFF;
  lockstep_semaphore* semaphore;
  CHECK_FAILS(lockstep_semaphore_create(most + 1, 0, &semaphore), LOCKSTEP_ERROR_ARGUMENT, "1073741824 permits");
  CHECK_OK(lockstep_semaphore_create(most, 0, &semaphore));
  CHECK_FAILS(lockstep_semaphore_release(semaphore, 1), LOCKSTEP_ERROR_ARGUMENT, "at most 1073741823");
  CHECK_FAILS(lockstep_semaphore_release(semaphore, most + 1), LOCKSTEP_ERROR_ARGUMENT, "permits");
  lockstep_semaphore_destroy(semaphore);
  lockstep_semaphore_destroy(NULL);
}

/* --- barrier --- */

struct phases {
  lockstep_barrier* barrier;
  lockstep_mutex* mutex;
  size_t next;
  int64_t slots[threads];
  int failures[threads];
};
static void* pass_phases(void* context) {
  struct phases* phases = context;
  size_t mine, other;
  int64_t round;
  lockstep_mutex_lock(phases->mutex);
  mine = phases->next++;
  lockstep_mutex_unlock(phases->mutex);
  for (round = 1; round <= 300; ++round) {
    phases->slots[mine] = round;
    if (lockstep_barrier_arrive_and_wait(phases->barrier) != 0) ++phases->failures[mine];
    for (other = 0; other < threads; ++other) {
      if (phases->slots[other] != round) ++phases->failures[mine];
    }
    if (lockstep_barrier_arrive_and_wait(phases->barrier) != 0) ++phases->failures[mine];
  }
  return NULL;
}
static void barriers_hold_all(int64_t policy) {
  struct phases phases = {NULL, NULL, 0, {0}, {0}};
  size_t i;
  CHECK_OK(lockstep_barrier_create(threads, policy, &phases.barrier));
  CHECK_OK(lockstep_mutex_create(policy, &phases.mutex));
  run_threads(threads, pass_phases, &phases);
  for (i = 0; i < threads; ++i) CHECK(phases.failures[i] == 0);
  lockstep_barrier_destroy(phases.barrier);
  lockstep_mutex_destroy(phases.mutex);
}

/* A barrier of one, and several threads that come to it until one is refused. */
struct too_many {
  lockstep_barrier* barrier;
  lockstep_mutex* mutex;
  int is_refused, others;
};
static void* come_anyway(void* context) {
  struct too_many* at = context;
  int is_over = 0;
  while (!is_over) {
    const int code = lockstep_barrier_arrive_and_wait(at->barrier);
    const int is_refused = code == LOCKSTEP_ERROR_USE && strstr(lockstep_last_error(), "more than the 1") != NULL;
    lockstep_mutex_lock(at->mutex);
    if (is_refused) at->is_refused = 1;
    if (code != LOCKSTEP_OK && !is_refused) ++at->others;
    is_over = at->is_refused;
    lockstep_mutex_unlock(at->mutex);
  }
  return NULL;
}
static void barriers_refuse_a_thread_too_many(void) {
  struct too_many at = {NULL, NULL, 0, 0};
  CHECK_OK(lockstep_barrier_create(1, LOCKSTEP_POLICY_UNSET, &at.barrier));
  CHECK_OK(lockstep_mutex_create(LOCKSTEP_POLICY_UNSET, &at.mutex));
  run_threads(threads, come_anyway, &at);
  CHECK(at.others == 0);
  CHECK_OK(lockstep_barrier_arrive_and_wait(at.barrier));
  lockstep_barrier_destroy(at.barrier);
  lockstep_mutex_destroy(at.mutex);
}
static void barriers_in_two_halves(void) {
  lockstep_barrier* barrier;
  uint64_t first = 0, second = 0;
  CHECK_OK(lockstep_barrier_create(2, LOCKSTEP_POLICY_UNSET, &barrier));
  for (int phase = 0; phase < 3; ++phase) {
    CHECK_OK(lockstep_barrier_arrive(barrier, &first));
    CHECK_CODE(lockstep_barrier_wait_for(barrier, first, 0), LOCKSTEP_TIMED_OUT);
    CHECK_CODE(lockstep_barrier_wait_for(barrier, first, 1000000), LOCKSTEP_TIMED_OUT);
    CHECK_OK(lockstep_barrier_arrive(barrier, &second));
    CHECK_FAILS(lockstep_barrier_arrive(barrier, &second), LOCKSTEP_ERROR_USE, "one thread more than the 2");
    CHECK_OK(lockstep_barrier_wait_for(barrier, second, LOCKSTEP_FOREVER));
    CHECK_OK(lockstep_barrier_wait_for(barrier, first, 0));
  }
  lockstep_barrier_destroy(barrier);
}

static void barriers_refuse(void) {
  lockstep_barrier* barrier;
  CHECK_FAILS(lockstep_barrier_create(0, 0, &barrier), LOCKSTEP_ERROR_ARGUMENT, "0 participants");
  lockstep_barrier_destroy(NULL);
}

int main(void) {
  size_t k;
  for (k = 0; k < sizeof policies / sizeof policies[0]; ++k) {
    events_hand_values_over(policies[k]);
    mutexes_exclude(policies[k]);
    latches_open(policies[k]);
    semaphores_let_so_many_through(policies[k]);
    barriers_hold_all(policies[k]);
  }
  events_refuse();
  mutexes_refuse();
  latches_refuse();
  semaphores_refuse();
  barriers_refuse();
  barriers_in_two_halves();
  barriers_refuse_a_thread_too_many();
  return check_result();
}
