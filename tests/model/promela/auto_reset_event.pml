// SPDX-License-Identifier: MIT
// Three threads wait, one of them with a deadline; the one that takes a notification passes it on with another.
//
// Models: auto_reset_event of include/lockstep/event.hpp (notify, wait_until, take, sleep)
// and word_waiter::sleep of src/wait/wait_engine.hpp; futex: lib/futex.inc. All state is one word, changed by
// read-modify-writes, so one memory for all is exact; orders do not appear.
//
// Checked: AUTO-1, nobody takes what was not pending, or what another has taken; AUTO-2, in the end all
// announcements are gone; AUTO-4, a notification is not lost to a waiter whose time is up (then others would
// sleep for ever); a waiter without deadline returns; every thread ends, if none is forgotten.
// Bounds: 3 waiters, one of which has a deadline; 1 notifier, so that nothing may get lost (2 notifiers,
// whose notifications may merge, nightly); 1 spurious return.
//
//@ variant one -DNOTIFIERS=1
//@ variant merging nightly -DNOTIFIERS=2
//@ bug looks_before_change one end -DBUG_LOOKS_BEFORE_CHANGE
//@ bug sleeps_unannounced one end -DBUG_SLEEPS_UNANNOUNCED
//@ bug sleeps_on_pending one end -DBUG_SLEEPS_ON_PENDING
//@ bug no_look_after_sleep one end -DBUG_NO_LOOK_AFTER_SLEEP
//@ bug takes_in_two_steps one assert -DBUG_TAKES_IN_TWO_STEPS
//@ bug forgets_announcement one assert -DBUG_FORGETS_ANNOUNCEMENT
#define THREADS 3
#define SPURIOUS 1
#define WORD 0
#include "lib/futex.inc"

#define NOTIFIED 1
#define ONE 2

#define MAKE_PENDING \
  if :: (word & NOTIFIED) == 0 -> pending_made++ :: else fi; \
  word = word | NOTIFIED

byte word, pending_made, pending_taken, ended;

inline notify() {
#ifdef BUG_LOOKS_BEFORE_CHANGE
  old = word;
  atomic { MAKE_PENDING };
#else
  atomic { old = word; MAKE_PENDING };
#endif
  if
  :: (old & NOTIFIED) == 0 && old >= ONE -> futex_wake_one(WORD)
  :: else
  fi;
  old = 0
}

inline take() {
#ifdef BUG_TAKES_IN_TWO_STEPS
  if
  :: (word & NOTIFIED) != 0 -> atomic { word = (word & ~NOTIFIED) - announced; taken = true; pending_taken++;
      assert(pending_taken <= pending_made) }
  :: else
  fi
#else
  atomic {
    if
    :: (word & NOTIFIED) != 0 -> word = word - NOTIFIED - announced;
      taken = true; pending_taken++; assert(pending_taken <= pending_made)
    :: else
    fi
  }
#endif
}

inline sleep() {
#ifdef BUG_SLEEPS_UNANNOUNCED
  seen = word;
#else
  atomic { if :: announced == 0 -> word = word + ONE :: else fi; seen = word };
  announced = ONE;
#endif
#ifdef BUG_SLEEPS_ON_PENDING
  futex_wait(word, WORD, seen, timed, past);
#else
  if
  :: (seen & NOTIFIED) == 0 -> futex_wait(word, WORD, seen, timed, past)
  :: else
  fi;
#endif
  seen = 0
}

// wait_engine::wait, with taker: after the deadline one more look.
inline wait_in_engine() {
  do
  :: true ->
    take();
    if
    :: taken -> break
    :: !taken && timed && past ->
      take();
      break
    :: !taken && timed && !past -> past = true  // before it falls asleep
    :: !taken && !past -> sleep()
#ifdef BUG_NO_LOOK_AFTER_SLEEP
      ;
      if :: timed -> break :: true fi  // its time came while it woke up
#endif
    fi
  od
}

proctype waiter(byte me; bool timed) {
  byte seen, announced, old;
  bool past, taken;
  wait_in_engine();
  if
  :: taken -> notify()
  :: else ->
#ifndef BUG_FORGETS_ANNOUNCEMENT
    if
    :: announced != 0 -> atomic { word = word - ONE }
    :: else
    fi
#endif
  fi;
  atomic { announced = 0; taken = false; past = false; ended++ }
}

proctype notifier() {
  byte old;
  notify();
  ended++
}

init {
  atomic {
    run waiter(0, true);
    run waiter(1, false);
    run waiter(2, false);
    run notifier();
#if NOTIFIERS > 1
    run notifier();
#endif
  }
  (ended == THREADS + NOTIFIERS);
  assert(word == NOTIFIED)
}

ltl all_end { <> (ended == THREADS + NOTIFIERS) }
