// SPDX-License-Identifier: MIT
// Two threads wait for a token each, one of them with a deadline; a third brings the tokens.
//
// Models: condition_variable of src/sync/condition_variable.cpp (wait_slowly, leave, notify_slowly) with
// lockstep::mutex (adopt, finish; see lib/mutex.inc): notified threads move to the mutex's queue. The queue
// of each has its own lock, as they have when their buckets differ.
//
// One thread waits for a token without a deadline. Another waits once, with a deadline: if it was
// notified it passes the notification on; if its time was up it goes. A third brings the token and notifies, after it
// has given the mutex up (nightly: or before).
//
// Checked: CONDITION-1; CONDITION-2, a notification and a time-out never both count for one thread, and no
// notification is lost to a thread that timed out (the other would sleep for ever); mutual exclusion where
// wait() has returned; MUTEX-2; every thread ends, if no thread is forgotten by the scheduler.
// Bounds: 3 threads, 1 token, 1 wait with a deadline, bypass_limit 1, no spurious return (1 nightly).
// `ones`: notify_one; `all`: notify_all (nightly).
//
//@ variant ones -DMOST=1
//@ variant ones_long nightly -DMOST=1 -DWITH_MUTEX_TOO -DSPURIOUS=1
//@ variant all_long nightly -DMOST=3 -DWITH_MUTEX_TOO -DSPURIOUS=1
//@ bug adopts_silently ones end -DBUG_ADOPTS_SILENTLY
//@ bug counts_after_unlock ones end -DBUG_COUNTS_AFTER_UNLOCK
//@ bug time_out_eats_notification ones assert -DBUG_TIME_OUT_EATS_NOTIFICATION
//@ bug stays_in_queue_at_time_out ones assert -DBUG_STAYS_IN_QUEUE_AT_TIME_OUT
//@ bug unlock_looks_first ones end -DBUG_UNLOCK_LOOKS_FIRST
//@ unreached . (what has a deadline in the mutex, which mutex.pml reaches)
#define THREADS 3
#define LIMIT 1
#ifndef SPURIOUS
#define SPURIOUS 0
#endif
#define ACQUIRED holders++
#define QUEUED
byte holders;
#include "lib/mutex.inc"

byte waiters;        // word_
bool waiters_lock;
chan waiting = [THREADS] of { byte };
byte tokens, ended;  // tokens are what the predicate looks at, under the mutex
byte notified_threads, returned_notified;

inline release_mutex() {
  assert(holders == 1);
  atomic { assert(queue_lock || QUEUE_IS_MARKED); holders-- };
  taken = false;
  unlock()
}

// block; timed_out, if so
inline block() {
#ifdef BUG_COUNTS_AFTER_UNLOCK
  release_mutex();
#endif
  lock_queue(waiters_lock);
  atomic { waiters++; waiting ! me };
  unlock_queue(waiters_lock);
#ifndef BUG_COUNTS_AFTER_UNLOCK
  release_mutex();
#endif
  wait_parked();
  if
  :: notified
  :: else -> leave_waiting()
  fi;
  timed = false;  // notified threads have no deadline any more (CONDITION-3)
  past = false;
  notified = false;
  if
  :: !timed_out -> finish(); returned_notified++
  :: timed_out -> node[me] = UNPARKED; step = TO_LOCK
  fi
}

inline leave_waiting() {
  lock_queue(waiters_lock);
  if
  :: waiting ?? [eval(me)] ->
#ifdef BUG_STAYS_IN_QUEUE_AT_TIME_OUT
    timed_out = true
#else
    atomic { waiting ?? eval(me); waiters--; timed_out = true }
#endif
  :: else
#ifdef BUG_TIME_OUT_EATS_NOTIFICATION
    -> (node[me] == NOTIFIED); timed_out = true
#endif
  fi;
  unlock_queue(waiters_lock)
}

// notify(most), for one target
inline notify(most) {
  there = waiters;
  if
  :: there == 0
  :: else ->
    lock_queue(waiters_lock);
    if
    :: there > most -> there = most
    :: else
    fi;
    atomic {
      do
      :: there > 0 && nempty(waiting) ->
        waiting ? next; moved ! next; waiters--; there--; notified_threads++
      :: there == 0 || empty(waiting) -> break
      od;
      next = 0; there = 0
    };
    assert(waiters == len(waiting));
    unlock_queue(waiters_lock);
    if
    :: nempty(moved) -> adopt()
    :: empty(moved)
    fi
  fi
}

inline adopt() {
  lock_queue(queue_lock);
  atomic {
    do
    :: nempty(moved) -> moved ? next; queue ! next
    :: empty(moved) -> break
    od;
    next = 0
  };
  atomic { seen = word; word = word | WAITING };
  idle = (seen & (LOCKED | WAKING)) == 0;
  seen = 0;
  unlock_queue(queue_lock);
#ifndef BUG_ADOPTS_SILENTLY
  if
  :: idle -> idle = false; wake_next()
  :: else
  fi
#else
  idle = false
#endif
}

// What each thread does, with one copy of each operation.
#define WAITS_FOR_TOKEN (me == 0)
#define WAITS_A_WHILE (me == 1)
#define BRINGS_TOKEN (me == 2)
mtype = { TO_LOCK, LOCKED_IT, TO_NOTIFY, TO_UNLOCK };

inline decide() {
  if
  :: WAITS_FOR_TOKEN && tokens > 0 -> tokens--; step = TO_UNLOCK
  :: WAITS_FOR_TOKEN && tokens == 0 -> step = 0
  :: WAITS_A_WHILE && !waited && tokens > 0 -> step = TO_UNLOCK
  :: WAITS_A_WHILE && !waited && tokens == 0 -> waited = true; timed = true; step = 0
  :: WAITS_A_WHILE && waited && timed_out -> step = TO_UNLOCK
  :: WAITS_A_WHILE && waited && !timed_out -> step = TO_NOTIFY
  :: BRINGS_TOKEN ->
    tokens++;
    if
#ifdef WITH_MUTEX_TOO
    :: step = TO_NOTIFY
#endif
    :: notifies_later = true; step = TO_UNLOCK
    fi
  fi
}

proctype thread(byte me) {
  MUTEX_LOCALS;
  mtype step = TO_LOCK;
  byte there;
  bool timed_out, idle, waited, notifies_later;
  chan moved = [THREADS] of { byte };
  do
  :: step == TO_LOCK -> lock(); step = LOCKED_IT
  :: step == LOCKED_IT -> decide()
  :: step == 0 -> step = LOCKED_IT; block()
  :: step == TO_NOTIFY ->
    notify((BRINGS_TOKEN -> MOST : 1));
    if
    :: notifies_later -> break
    :: else -> step = TO_UNLOCK
    fi
  :: step == TO_UNLOCK ->
    release_mutex();
    if
    :: notifies_later -> step = TO_NOTIFY
    :: else -> break
    fi
  od;
  ended++
}

init {
  atomic { run thread(0); run thread(1); run thread(2) }
  (ended == THREADS);
  assert(notified_threads == returned_notified && waiters == 0 && (word & LOCKED) == 0)
}

ltl all_end { <> (ended == THREADS) }
