// SPDX-License-Identifier: MIT
//! Mutual exclusion around a value.
use crate::error::{refuse, surely_made};
use crate::ffi;
use crate::options::{nanoseconds, Policy};
use std::cell::UnsafeCell;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::time::Duration;

/// A value that one thread at a time can reach. How often others may overtake a waiting thread is bounded. A panic while it
/// is locked unlocks it: there is no poisoning.
///
/// ```
/// let total = lockstep_threads::Mutex::new(0);
/// std::thread::scope(|s| {
///     for i in 0..4 { s.spawn({ let total = &total; move || *total.lock() += i }); }
/// });
/// assert_eq!(total.into_inner(), 6);
/// ```
pub struct Mutex<T: ?Sized> {
    lock: Lock,
    value: UnsafeCell<T>,
}

// SAFETY: the value is reached by one thread at a time, which may take it along.
unsafe impl<T: ?Sized + Send> Send for Mutex<T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send> Sync for Mutex<T> {}

struct Lock(NonNull<ffi::lockstep_mutex>);

impl Drop for Lock {
    fn drop(&mut self) {
        // A leaked guard holds the mutex for ever. Then the mutex is leaked, too, since a locked one must not be
        // destroyed.
        // SAFETY: nobody borrows it any more.
        unsafe {
            if ffi::lockstep_mutex_try_lock(self.0.as_ptr()) == ffi::LOCKSTEP_OK {
                ffi::lockstep_mutex_unlock(self.0.as_ptr());
                ffi::lockstep_mutex_destroy(self.0.as_ptr());
            }
        }
    }
}

/// The right to use the value of a [`Mutex`], until it is dropped, on the thread that has locked it.
#[must_use = "the mutex is unlocked where its guard is dropped"]
pub struct MutexGuard<'a, T: ?Sized> {
    of: &'a Mutex<T>,
    is_not_send: PhantomData<*mut ()>,
}

// SAFETY: a shared guard gives shared access to the value only.
unsafe impl<T: ?Sized + Sync> Sync for MutexGuard<'_, T> {}

impl<T> Mutex<T> {
    /// A mutex with the default policy.
    ///
    /// # Panics
    /// If memory is out.
    #[must_use]
    pub fn new(value: T) -> Mutex<T> {
        Mutex::with_policy(value, Policy::Unset)
    }

    /// # Panics
    /// If memory is out.
    #[must_use]
    pub fn with_policy(value: T, policy: Policy) -> Mutex<T> {
        // SAFETY: room for a pointer.
        let raw = surely_made(|raw| unsafe { ffi::lockstep_mutex_create(policy.code(), raw) });
        Mutex { lock: Lock(raw), value: UnsafeCell::new(value) }
    }

    /// The value, of a mutex that nobody uses any more.
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Blocks until no other thread holds it. What happened before an unlock happens before the return of the next lock.
    ///
    /// # Panics
    /// If this thread holds it already.
    #[inline]
    pub fn lock(&self) -> MutexGuard<'_, T> {
        // SAFETY: here and below, the mutex lives.
        if unsafe { ffi::lockstep_mutex_lock(self.lock.0.as_ptr()) } != ffi::LOCKSTEP_OK {
            refuse();
        }
        self.guard()
    }

    /// None if a thread holds it, also this one.
    #[inline]
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        let code = unsafe { ffi::lockstep_mutex_try_lock(self.lock.0.as_ptr()) };
        (code == ffi::LOCKSTEP_OK).then(|| self.guard())
    }

    /// Blocks for at most `time`; None if another thread held it all that time.
    ///
    /// # Panics
    /// If this thread holds it already.
    pub fn try_lock_for(&self, time: Duration) -> Option<MutexGuard<'_, T>> {
        match unsafe { ffi::lockstep_mutex_lock_for(self.lock.0.as_ptr(), nanoseconds(time)) } {
            ffi::LOCKSTEP_OK => Some(self.guard()),
            ffi::LOCKSTEP_TIMED_OUT => None,
            _ => refuse(),
        }
    }

    /// The value, without locking: nobody else can reach it.
    pub fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }

    fn guard(&self) -> MutexGuard<'_, T> {
        MutexGuard { of: self, is_not_send: PhantomData }
    }
}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: the guard holds the mutex.
        unsafe { &*self.of.value.get() }
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the guard holds the mutex, and is borrowed alone.
        unsafe { &mut *self.of.value.get() }
    }
}

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: this thread has locked it, and a guard does not leave its thread.
        unsafe { ffi::lockstep_mutex_unlock(self.of.lock.0.as_ptr()) };
    }
}

impl<T: Default> Default for Mutex<T> {
    fn default() -> Mutex<T> {
        Mutex::new(T::default())
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Mutex<T> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.try_lock() {
            Some(value) => to.debug_struct("Mutex").field("value", &&*value).finish(),
            None => to.debug_struct("Mutex").field("value", &"locked").finish(),
        }
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for MutexGuard<'_, T> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(to)
    }
}
