// SPDX-License-Identifier: MIT
//! Events, barriers, mutexes.
use lockstep_threads::{Barrier, Error, Event, Mutex, Policy, WaitStatus};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

const SHORT: Duration = Duration::from_millis(2);

#[test]
fn notifications_are_counted() {
    for policy in [Policy::Unset, Policy::Adaptive, Policy::Block, Policy::SpinFor(Duration::from_micros(5))] {
        let event = Event::with_policy(policy);
        assert_eq!(event.wait_for(SHORT), WaitStatus::TimedOut);
        std::thread::scope(|s| {
            s.spawn(|| event.notify());
            assert!(event.wait());
        });
        event.notify();
        event.notify();
        assert!(event.try_wait() && event.wait() && !event.try_wait());
        event.terminate();
        assert!(!event.wait());
        assert_eq!(event.wait_for(SHORT), WaitStatus::Terminated);
    }
}

#[test]
fn a_second_waiter_is_refused() {
    let event = Event::new();
    let refused = AtomicUsize::new(0);
    std::thread::scope(|s| {
        for _ in 0..2 {
            s.spawn(|| {
                let waits = catch_unwind(AssertUnwindSafe(|| event.wait()));
                if waits.is_err() {
                    refused.fetch_add(1, Relaxed);
                    event.terminate(); // lets the other go
                }
            });
        }
    });
    assert_eq!(refused.into_inner(), 1);
}

/// A barrier of one, and threads that come to it until one is refused: the barrier would be undefined with it.
#[test]
fn a_thread_too_many_is_refused() {
    let barrier = Barrier::new(1).unwrap();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|s| {
        for _ in 0..4 {
            s.spawn(|| {
                while !is_over.load(Relaxed) {
                    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| barrier.arrive_and_wait())) {
                        let text = payload.downcast_ref::<String>().unwrap();
                        assert!(text.contains("more than the 1"), "{text}");
                        is_over.store(true, Relaxed);
                    }
                }
            });
        }
    });
    barrier.arrive_and_wait();
    assert!(matches!(Barrier::new(0), Err(Error::Argument(_))));
}

#[test]
fn a_locked_mutex_is_not_to_be_had() {
    let mut mutex = Mutex::new(String::from("a"));
    {
        let mut held = mutex.lock();
        held.push('b');
        assert!(mutex.try_lock().is_none());
        std::thread::scope(|s| {
            s.spawn(|| assert!(mutex.try_lock().is_none() && mutex.try_lock_for(SHORT).is_none()));
        });
        assert_eq!(format!("{mutex:?}"), "Mutex { value: \"locked\" }");
        // To lock it again would wait for ever: it is refused.
        assert!(catch_unwind(AssertUnwindSafe(|| mutex.lock().len())).is_err());
    }
    assert_eq!(*mutex.try_lock_for(SHORT).unwrap(), "ab");
    mutex.get_mut().push('c');
    assert_eq!(format!("{mutex:?}"), "Mutex { value: \"abc\" }");
}

#[test]
fn a_panic_unlocks() {
    let mutex = Mutex::new(1);
    let _ = catch_unwind(AssertUnwindSafe(|| {
        let _held = mutex.lock();
        panic!("while it is locked");
    }));
    assert_eq!(*mutex.lock(), 1);
}

#[test]
fn a_guard_that_is_leaked_leaks_the_lock() {
    let mutex = Mutex::new(1);
    std::mem::forget(mutex.lock());
    assert!(mutex.try_lock().is_none());
    drop(mutex);
}

/// The system gives the numbers of ended threads to new ones.
#[test]
fn a_thread_that_is_new_does_not_hold_what_an_ended_one_has_leaked() {
    let mutex = Mutex::new(0);
    std::thread::scope(|s| s.spawn(|| std::mem::forget(mutex.lock())).join().expect("it ends"));
    for _ in 0..50 {
        std::thread::scope(|s| {
            s.spawn(|| assert!(mutex.try_lock_for(Duration::from_micros(1)).is_none())).join().expect("no panic");
        });
    }
}
