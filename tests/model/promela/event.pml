// SPDX-License-Identifier: MIT
// One thread notifies, one waits, with and without a deadline; a third may terminate.
//
// Models: event of include/lockstep/event.hpp and src/sync/event.cpp (notify, wait_until, terminate, sleep, take)
// and word_waiter::sleep of src/wait/wait_engine.hpp; futex: lib/futex.inc. All state that two threads share
// is one word, changed by read-modify-writes, so one memory for all is exact; orders do not appear.
//
// Checked: EVENT-1 as far as 0 <= n - t; no notification is lost, merged or taken twice; nobody sleeps for
// ever; every wait returns, if no thread is forgotten by the scheduler; after terminate() waits say so;
// EVENT-3: the event may be destroyed once the last wait has returned (not with terminate, whose caller must
// know that it lives).
// Bounds: 3 notifications, 2 waits with a deadline, 1 spurious return.
//
//@ variant waits -DNOTIFICATIONS=3
//@ variant terminated -DNOTIFICATIONS=3 -DWITH_TERMINATE
//@ variant waits_long nightly -DNOTIFICATIONS=12
//@ bug looks_before_change waits end -DBUG_LOOKS_BEFORE_CHANGE
//@ bug sleeps_unannounced waits end -DBUG_SLEEPS_UNANNOUNCED
//@ bug announces_blindly waits end -DBUG_ANNOUNCES_BLINDLY
//@ bug touches_after_change waits assert -DBUG_TOUCHES_AFTER_CHANGE
//@ bug clears_without_wake waits end -DBUG_CLEARS_WITHOUT_WAKE
//@ bug takes_at_time_out waits assert -DBUG_TAKES_AT_TIME_OUT
//@ bug terminates_silently terminated end -DBUG_TERMINATES_SILENTLY
#define THREADS 2
#define SPURIOUS 1
#define WORD 0
#include "lib/futex.inc"

#define SLEEPING 1
#define TERMINATED 2
#define ONE 4
#define DONE(w) ((w & TERMINATED) != 0 || (w / ONE) != (taken / ONE))

byte word, taken;
bool destroyed, waiter_ended;

#ifdef BUG_LOOKS_BEFORE_CHANGE
#define CHANGE(wanted) old = word; word = wanted
#else
#define CHANGE(wanted) atomic { assert(!destroyed); old = word; word = wanted }
#endif

inline wake_if_sleeping() {
#ifdef BUG_TOUCHES_AFTER_CHANGE
  atomic { assert(!destroyed); word = word & ~SLEEPING };
#endif
  if
  :: (old & SLEEPING) != 0 -> futex_wake_all(WORD)
  :: else
  fi;
  old = 0
}

proctype notifier() {
  byte old, made;
  do
  :: made == NOTIFICATIONS -> break
  :: else ->
#ifdef BUG_CLEARS_WITHOUT_WAKE
    atomic { old = word; word = (word & ~SLEEPING) + ONE; if :: made % 2 == 0 -> old = 0 :: else fi };
#else
    CHANGE(word + ONE);
#endif
    wake_if_sleeping();
    made++
  od
}

#ifdef WITH_TERMINATE
proctype terminator() {
  byte old;
  CHANGE(word | TERMINATED);
#ifdef BUG_TERMINATES_SILENTLY
  old = 0;
#endif
  wake_if_sleeping()
}
#endif

// state::sleep
inline sleep() {
  seen = word;
  if
  :: DONE(seen)
  :: else ->
    announced = true;
#ifdef BUG_SLEEPS_UNANNOUNCED
    futex_wait(word, WORD, seen, timed, past)
#elif defined(BUG_ANNOUNCES_BLINDLY)
    atomic { word = word | SLEEPING; seen = word };
    futex_wait(word, WORD, seen, timed, past)
#else
    if
    :: atomic { (seen & SLEEPING) == 0 && word == seen -> word = seen | SLEEPING };
       futex_wait(word, WORD, (seen | SLEEPING), timed, past)
    :: atomic { (seen & SLEEPING) == 0 && word != seen }
    :: (seen & SLEEPING) != 0 -> futex_wait(word, WORD, (seen | SLEEPING), timed, past)
    fi
#endif
  fi;
  seen = 0
}

// wait_engine::wait: after the deadline one more look.
inline wait_in_engine() {
  do
  :: DONE(word) -> in_time = true; break
  :: !DONE(word) ->
    if
    :: timed && past -> in_time = DONE(word); break
    :: timed && !past -> past = true  // before it falls asleep
    :: !past -> sleep()
    fi
  od
}

proctype waiter(byte me) {
  byte seen, timed_waits = 2;
  bool announced, timed, past, in_time;
  do
#ifdef WITH_TERMINATE
  :: true ->
#else
  :: taken == NOTIFICATIONS * ONE -> break
  :: else ->
#endif
    if
    :: timed_waits > 0 -> timed_waits--; timed = true
    :: true
    fi;
    wait_in_engine();
    if
    :: announced -> atomic { assert(!destroyed); word = word & ~SLEEPING }
    :: else
    fi;
#ifdef BUG_TAKES_AT_TIME_OUT
    in_time = true;
#endif
    announced = false; timed = false; past = false;
    if
    :: !in_time  // timed_out
    :: in_time ->
      if
      :: (word & TERMINATED) != 0 -> break
      :: else ->
        taken = taken + ONE;
        assert(taken / ONE <= word / ONE)
      fi
    fi
  od;
#ifndef WITH_TERMINATE
  destroyed = true;
#endif
  waiter_ended = true
}

init {
  atomic {
    run waiter(0);
    run notifier();
#ifdef WITH_TERMINATE
    run terminator()
#endif
  }
}

ltl waits_return { <> waiter_ended }
