/* SPDX-License-Identifier: MIT
 * Event, mutex, latch, semaphore and barrier: what each function does, returns and refuses. That they keep threads apart and
 * in order is tested of the classes behind them, and of a mutex here. */
#include <pthread.h>

#include "check.h"

enum { rounds = 2000, threads = 4 };

static const int64_t policies[] = {LOCKSTEP_POLICY_UNSET, LOCKSTEP_POLICY_ADAPTIVE, LOCKSTEP_POLICY_BLOCK, 20000};
static const int64_t a_millisecond = 1000000;

/* A function returns NULL where all was right. */
static void run_threads(size_t count, void* (*function)(void*), void* context) {
  pthread_t of[threads];
  void* failed;
  size_t i;
  for (i = 0; i < count; ++i) CHECK(pthread_create(&of[i], NULL, function, context) == 0);
  for (i = 0; i < count; ++i) CHECK(pthread_join(of[i], &failed) == 0 && failed == NULL);
}

/* --- event --- */

static void* notify(void* event) {
  return lockstep_event_notify(event) == LOCKSTEP_OK ? NULL : event;
}
static void events_count(int64_t policy) {
  lockstep_event* event;
  CHECK_OK(lockstep_event_create(policy, &event));
  run_threads(2, notify, event);
  CHECK_OK(lockstep_event_wait(event));
  CHECK_OK(lockstep_event_wait_for(event, LOCKSTEP_FOREVER));
  CHECK_CODE(lockstep_event_try_wait(event), LOCKSTEP_BUSY);
  CHECK_CODE(lockstep_event_wait_for(event, 0), LOCKSTEP_TIMED_OUT);
  CHECK_CODE(lockstep_event_wait_for(event, -1), LOCKSTEP_TIMED_OUT);
  CHECK_CODE(lockstep_event_wait_for(event, a_millisecond), LOCKSTEP_TIMED_OUT);
  CHECK_OK(lockstep_event_notify(event));
  CHECK_OK(lockstep_event_notify(event));
  CHECK_OK(lockstep_event_try_wait(event));
  CHECK_OK(lockstep_event_wait(event));
  CHECK_OK(lockstep_event_terminate(event));
  CHECK_CODE(lockstep_event_wait(event), LOCKSTEP_TERMINATED);
  CHECK_CODE(lockstep_event_wait_for(event, a_millisecond), LOCKSTEP_TERMINATED);
  CHECK_CODE(lockstep_event_try_wait(event), LOCKSTEP_BUSY);
  lockstep_event_destroy(event);
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
};
static void* open_it(void* context) {
  struct opening* opening = context;
  opening->value = 5;
  return lockstep_latch_count_down(opening->latch, 1) == LOCKSTEP_OK ? NULL : context;
}
static void latches_open(int64_t policy) {
  struct opening opening = {NULL, 0};
  lockstep_latch* latch;
  pthread_t other;
  CHECK_OK(lockstep_latch_create(3, policy, &latch));
  CHECK_CODE(lockstep_latch_try_wait(latch), LOCKSTEP_BUSY);
  CHECK_CODE(lockstep_latch_wait_for(latch, a_millisecond), LOCKSTEP_TIMED_OUT);
  CHECK_FAILS(lockstep_latch_count_down(latch, 4), LOCKSTEP_ERROR_ARGUMENT, "more than what is left");
  CHECK_OK(lockstep_latch_count_down(latch, 2));
  CHECK_CODE(lockstep_latch_try_wait(latch), LOCKSTEP_BUSY);
  opening.latch = latch;
  CHECK(pthread_create(&other, NULL, open_it, &opening) == 0);
  CHECK_OK(lockstep_latch_wait(latch));
  CHECK(opening.value == 5);
  pthread_join(other, NULL);
  CHECK_OK(lockstep_latch_try_wait(latch));
  CHECK_OK(lockstep_latch_wait_for(latch, 0));
  CHECK_OK(lockstep_latch_count_down(latch, 0));
  CHECK_FAILS(lockstep_latch_count_down(latch, 1), LOCKSTEP_ERROR_ARGUMENT, "more than what is left");
  lockstep_latch_destroy(latch);
  CHECK_OK(lockstep_latch_create(0, policy, &latch));
  CHECK_OK(lockstep_latch_wait(latch));
  lockstep_latch_destroy(latch);
}
static void latches_refuse(void) {
  lockstep_latch* latch;
  CHECK_FAILS(lockstep_latch_create((size_t)1 << 31, 0, &latch), LOCKSTEP_ERROR_ARGUMENT, "2147483648 arrivals");
  lockstep_latch_destroy(NULL);
}

/* --- semaphore --- */

static void semaphores_let_so_many_through(int64_t policy) {
  lockstep_semaphore* semaphore;
  CHECK_OK(lockstep_semaphore_create(3, policy, &semaphore));
  CHECK_OK(lockstep_semaphore_try_acquire(semaphore));
  CHECK_OK(lockstep_semaphore_acquire(semaphore));
  CHECK_OK(lockstep_semaphore_acquire_for(semaphore, LOCKSTEP_FOREVER));
  CHECK_CODE(lockstep_semaphore_try_acquire(semaphore), LOCKSTEP_BUSY);
  CHECK_CODE(lockstep_semaphore_acquire_for(semaphore, a_millisecond), LOCKSTEP_TIMED_OUT);
  CHECK_OK(lockstep_semaphore_release(semaphore, 2));
  CHECK_OK(lockstep_semaphore_try_acquire(semaphore));
  CHECK_OK(lockstep_semaphore_acquire(semaphore));
  CHECK_CODE(lockstep_semaphore_try_acquire(semaphore), LOCKSTEP_BUSY);
  lockstep_semaphore_destroy(semaphore);
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

static void* pass_phases(void* barrier) {
  int round, failures = 0;
  for (round = 0; round < 600; ++round) failures += lockstep_barrier_arrive_and_wait(barrier) != LOCKSTEP_OK;
  return failures == 0 ? NULL : barrier;
}
static void no_thread_of_a_later_phase_is_one_too_many(int64_t policy) {
  lockstep_barrier* barrier;
  CHECK_OK(lockstep_barrier_create(threads, policy, &barrier));
  run_threads(threads, pass_phases, barrier);
  lockstep_barrier_destroy(barrier);
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
static void barriers_hold_all(int64_t policy) {
  lockstep_barrier* barrier;
  uint64_t first = 0, second = 0;
  CHECK_OK(lockstep_barrier_create(2, policy, &barrier));
  for (int phase = 0; phase < 3; ++phase) {
    CHECK_OK(lockstep_barrier_arrive(barrier, &first));
    CHECK_CODE(lockstep_barrier_wait_for(barrier, first, 0), LOCKSTEP_TIMED_OUT);
    CHECK_CODE(lockstep_barrier_wait_for(barrier, first, a_millisecond), LOCKSTEP_TIMED_OUT);
    CHECK_OK(lockstep_barrier_arrive(barrier, &second));
    CHECK_FAILS(lockstep_barrier_arrive(barrier, &second), LOCKSTEP_ERROR_USE, "one thread more than the 2");
    CHECK_OK(lockstep_barrier_wait_for(barrier, second, LOCKSTEP_FOREVER));
    CHECK_OK(lockstep_barrier_wait_for(barrier, first, 0));
    CHECK_OK(lockstep_barrier_arrive(barrier, &first));
    CHECK_OK(lockstep_barrier_arrive_and_wait(barrier));
    CHECK_OK(lockstep_barrier_wait_for(barrier, first, 0));
    CHECK_OK(lockstep_barrier_arrive(barrier, &second));
    CHECK_OK(lockstep_barrier_arrive(barrier, &second));
    CHECK_OK(lockstep_barrier_wait_for(barrier, first, 0)); /* of the phase before: nobody has left this one */
    CHECK_FAILS(lockstep_barrier_arrive(barrier, &first), LOCKSTEP_ERROR_USE, "one thread more than the 2");
    CHECK_OK(lockstep_barrier_wait_for(barrier, second, LOCKSTEP_FOREVER));
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
    events_count(policies[k]);
    mutexes_exclude(policies[k]);
    latches_open(policies[k]);
    semaphores_let_so_many_through(policies[k]);
    barriers_hold_all(policies[k]);
    no_thread_of_a_later_phase_is_one_too_many(policies[k]);
  }
  events_refuse();
  mutexes_refuse();
  latches_refuse();
  semaphores_refuse();
  barriers_refuse();
  barriers_refuse_a_thread_too_many();
  return check_result();
}
