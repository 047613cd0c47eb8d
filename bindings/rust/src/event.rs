// SPDX-License-Identifier: MIT
//! One thread tells another that something has happened; a fixed number of threads meet.
use crate::error::{last_error, made, surely_made, Result};
use crate::ffi;
use crate::options::{nanoseconds, Policy};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum WaitStatus {
    /// A notification was there, and was taken.
    Ready,
    /// No notification came in time.
    TimedOut,
    /// The event was terminated.
    Terminated,
}

/// One thread notifies, another waits. Notifications are counted: each lets one wait return, before or after it. What
/// happens before a notification happens before the return of the wait that it lets through. A hop between two threads that
/// are awake takes about as long as the transfer of a cache line.
///
/// One thread at a time may notify, and one may wait: further threads panic. Fewer than 2^30 notifications may be
/// pending; more are lost.
///
/// ```
/// let (ready, mut answer) = (lockstep_threads::Event::new(), std::sync::atomic::AtomicU32::new(0));
/// std::thread::scope(|s| {
///     s.spawn(|| { answer.store(42, std::sync::atomic::Ordering::Relaxed); ready.notify(); });
///     assert!(ready.wait());
///     assert_eq!(answer.load(std::sync::atomic::Ordering::Relaxed), 42);
/// });
/// # let _ = &mut answer;
/// ```
pub struct Event {
    raw: NonNull<ffi::lockstep_event>,
    notifies: AtomicBool,
    waits: AtomicBool,
}

// SAFETY: the C interface lets any thread use an event: one notifier and one waiter at a time, which the flags see to.
unsafe impl Send for Event {}
// SAFETY: as above.
unsafe impl Sync for Event {}

/// Holds one of the flags.
struct Only<'a>(&'a AtomicBool);

impl<'a> Only<'a> {
    #[inline]
    fn user(flag: &'a AtomicBool, what: &str) -> Only<'a> {
        // Acquire, with the release of drop(): the flag's holder before has left.
        if flag.swap(true, Ordering::Acquire) {
            panic!("lockstep_threads::Event::{what}: another thread is in it; an event has one at a time: use one for each");
        }
        Only(flag)
    }
}

impl Drop for Only<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

impl Event {
    /// An event with the default policy.
    #[must_use]
    pub fn new() -> Event {
        Event::with_policy(Policy::Unset)
    }

    /// # Panics
    /// If memory is out.
    #[must_use]
    pub fn with_policy(policy: Policy) -> Event {
        // SAFETY: room for a pointer.
        let raw = surely_made(|raw| unsafe { ffi::lockstep_event_create(policy.code(), raw) });
        Event { raw, notifies: AtomicBool::new(false), waits: AtomicBool::new(false) }
    }

    /// Lets one wait return.
    ///
    /// # Panics
    /// If another thread is notifying.
    #[inline]
    pub fn notify(&self) {
        let _only = Only::user(&self.notifies, "notify");
        // SAFETY: here and below, the event lives, and nobody else is in this function.
        unsafe { ffi::lockstep_event_notify(self.raw.as_ptr()) };
    }

    /// Blocks until a notification is there, and takes it; false once the event is terminated.
    ///
    /// # Panics
    /// If another thread is waiting.
    #[inline]
    #[must_use]
    pub fn wait(&self) -> bool {
        let _only = Only::user(&self.waits, "wait");
        unsafe { ffi::lockstep_event_wait(self.raw.as_ptr()) == ffi::LOCKSTEP_OK }
    }

    /// The same for at most `time`.
    ///
    /// # Panics
    /// If another thread is waiting.
    pub fn wait_for(&self, time: Duration) -> WaitStatus {
        let _only = Only::user(&self.waits, "wait_for");
        match unsafe { ffi::lockstep_event_wait_for(self.raw.as_ptr(), nanoseconds(time)) } {
            ffi::LOCKSTEP_OK => WaitStatus::Ready,
            ffi::LOCKSTEP_TIMED_OUT => WaitStatus::TimedOut,
            _ => WaitStatus::Terminated,
        }
    }

    /// Takes a notification if one is there.
    ///
    /// # Panics
    /// If another thread is waiting.
    #[must_use]
    pub fn try_wait(&self) -> bool {
        let _only = Only::user(&self.waits, "try_wait");
        unsafe { ffi::lockstep_event_try_wait(self.raw.as_ptr()) == ffi::LOCKSTEP_OK }
    }

    /// Releases the waiter. From now on every wait returns at once. Any thread may call it.
    pub fn terminate(&self) {
        unsafe { ffi::lockstep_event_terminate(self.raw.as_ptr()) };
    }
}

impl Default for Event {
    fn default() -> Event {
        Event::new()
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: nobody borrows it any more.
        unsafe { ffi::lockstep_event_destroy(self.raw.as_ptr()) };
    }
}

impl std::fmt::Debug for Event {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.debug_struct("Event").finish_non_exhaustive()
    }
}

/// Blocks a fixed number of threads until all have come; again and again. Inside a region use
/// [`crate::Member::sync_threads`], which is faster.
pub struct Barrier {
    raw: NonNull<ffi::lockstep_barrier>,
}

// SAFETY: a barrier is for several threads.
unsafe impl Send for Barrier {}
// SAFETY: as above.
unsafe impl Sync for Barrier {}

impl Barrier {
    /// A barrier for this many threads, 1 to 2^31 - 1.
    ///
    /// # Errors
    /// [`crate::Error::Argument`] for any other number.
    pub fn new(expected: usize) -> Result<Barrier> {
        // SAFETY: room for a pointer.
        let raw = made(|raw| unsafe { ffi::lockstep_barrier_create(expected, ffi::LOCKSTEP_POLICY_UNSET, raw) })?;
        Ok(Barrier { raw })
    }

    /// Blocks until all threads of this phase have come. What happens before an arrival happens before every return.
    ///
    /// # Panics
    /// If as many threads as it expects have come already.
    #[inline]
    pub fn arrive_and_wait(&self) {
        // SAFETY: the barrier lives.
        let code = unsafe { ffi::lockstep_barrier_arrive_and_wait(self.raw.as_ptr()) };
        assert!(code == ffi::LOCKSTEP_OK, "{}", last_error());
    }
}

impl Drop for Barrier {
    fn drop(&mut self) {
        // SAFETY: nobody borrows it any more.
        unsafe { ffi::lockstep_barrier_destroy(self.raw.as_ptr()) };
    }
}

impl std::fmt::Debug for Barrier {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.debug_struct("Barrier").finish_non_exhaustive()
    }
}
