// SPDX-License-Identifier: MIT
//! Panics must not unwind through C++. Each callback catches its own, and the function that began the region, loop or run
//! lets the panic go on when all members are done.
use crate::error::{self, Outcome};
use crate::ffi;
use std::any::Any;
use std::ffi::{c_int, c_void};
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Mutex;

type Payload = Box<dyn Any + Send>;

/// What a callback returns after a panic: a positive number ends the region.
const PANICKED: c_int = 1;

/// The panics of one region, loop or run. It keeps the one of the lowest place.
#[derive(Default)]
pub(crate) struct Panics {
    lowest: Mutex<Option<(usize, Payload)>>,
    any: AtomicBool,
}

impl Panics {
    /// Calls `f`, and returns its result as a code. `place`: a rank, or the first index of a part.
    #[inline]
    pub fn catch<R: Outcome>(&self, place: usize, f: impl FnOnce() -> R) -> c_int {
        // Unwind safety: before the panic goes on in the caller, nobody sees the state that `f` leaves.
        match catch_unwind(AssertUnwindSafe(f)) {
            Ok(outcome) => outcome.code(),
            Err(payload) => self.keep(place, payload),
        }
    }

    /// The same for a function that gives a value and cannot end anything: None after a panic.
    #[inline]
    pub fn value<T>(&self, place: usize, f: impl FnOnce() -> T) -> Option<T> {
        match catch_unwind(AssertUnwindSafe(f)) {
            Ok(value) => Some(value),
            Err(payload) => {
                self.keep(place, payload);
                None
            }
        }
    }

    /// Whether there was a panic: then the rest may be skipped. Relaxed: the end of the region orders.
    pub fn any(&self) -> bool {
        self.any.load(Ordering::Relaxed)
    }

    #[cold]
    fn keep(&self, place: usize, payload: Payload) -> c_int {
        let mut lowest = self.lowest.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let dropped = match &*lowest {
            Some((known, _)) if *known <= place => Some(payload),
            _ => lowest.replace((place, payload)).map(|(_, other)| other),
        };
        drop(lowest);
        self.any.store(true, Ordering::Relaxed);
        // The destructor of a payload is a user's, and may panic as well.
        if let Err(another) = catch_unwind(AssertUnwindSafe(|| drop(dropped))) {
            std::mem::forget(another);
        }
        PANICKED
    }

    /// Lets the panic go on, if there was one.
    #[inline]
    pub fn resume(&self) {
        if self.any() {
            self.resume_now();
        }
    }

    #[cold]
    fn resume_now(&self) {
        self.any.store(false, Ordering::Relaxed);
        let kept = self.lowest.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take();
        if let Some((_, payload)) = kept {
            resume_unwind(payload);
        }
    }

    /// After a call from outside of a region that has returned `code`.
    #[inline]
    pub fn finish(&self, code: c_int) -> error::Result<()> {
        self.resume();
        error::check(code)
    }

    /// The same after a construct of a member.
    #[inline]
    pub fn finish_in_region(&self, code: c_int) -> std::result::Result<(), error::Stopped> {
        self.resume();
        if code > 0 {
            // A callback that is not ours has failed: the region is stopped.
            return Err(error::Stopped);
        }
        error::goes_on(code)
    }
}

/// A closure, or several, behind a context pointer, and its panics. Callbacks only read it: those of a team run on several
/// threads at once.
pub(crate) struct Job<F> {
    pub function: F,
    pub panics: Panics,
}

impl<F> Job<F> {
    pub fn new(function: F) -> Job<F> {
        Job { function, panics: Panics::default() }
    }

    pub fn context(&self) -> *mut c_void {
        ptr::from_ref(self).cast_mut().cast()
    }

    /// # Safety
    /// The context is that of a `Job<F>` which lives until the callback has returned.
    #[inline]
    pub unsafe fn of<'a>(context: *mut c_void) -> &'a Job<F> {
        // SAFETY: the caller's.
        unsafe { &*context.cast() }
    }
}

/// For callbacks that have nothing left to run.
pub(crate) const SKIPPED: c_int = ffi::LOCKSTEP_OK;
