// SPDX-License-Identifier: MIT
//! What can go wrong, and how callbacks say that they end early.
use crate::ffi;
use std::ffi::{c_char, c_int, CStr};
use std::fmt;
use std::ptr::{self, NonNull};

/// The region, loop or run was ended early: by a request to stop, or because another member has panicked.
///
/// A member that gets it should return soon. `?` does that in a closure that returns `Result<(), Stopped>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stopped;

impl fmt::Display for Stopped {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("lockstep: the region was stopped")
    }
}

impl std::error::Error for Stopped {}

/// Why a function has failed. The texts name cause and remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The region, loop or run was ended early by a request to stop.
    Stopped,
    /// A number that is out of range, or a text with a zero in it.
    Argument(String),
    /// Not allowed here or now, for instance inside a region.
    Use(String),
    /// The graph makes no sense, or needs more members than the team has; the text names the nodes.
    Graph(String),
    /// Out of memory.
    Memory(String),
    /// The system refused, for instance to start a thread.
    System(String),
    /// Anything else that the library reports.
    Other(String),
}

impl fmt::Display for Error {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Stopped => Stopped.fmt(to),
            Error::Argument(text)
            | Error::Use(text)
            | Error::Graph(text)
            | Error::Memory(text)
            | Error::System(text)
            | Error::Other(text) => to.write_str(text),
        }
    }
}

impl std::error::Error for Error {}

impl From<Stopped> for Error {
    fn from(_: Stopped) -> Error {
        Error::Stopped
    }
}

/// The result of a function that may fail.
pub type Result<T> = std::result::Result<T, Error>;

/// What a closure of a region, loop or node may return: nothing, or `Result<(), Stopped>`, so that it can use `?`.
/// `Err(Stopped)` ends the region.
pub trait Outcome: sealed::Sealed {
    #[doc(hidden)]
    fn code(self) -> c_int;
}

impl Outcome for () {
    fn code(self) -> c_int {
        ffi::LOCKSTEP_OK
    }
}

impl Outcome for std::result::Result<(), Stopped> {
    fn code(self) -> c_int {
        match self {
            Ok(()) => ffi::LOCKSTEP_OK,
            Err(Stopped) => ffi::LOCKSTEP_STOPPED,
        }
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for () {}
    impl Sealed for std::result::Result<(), super::Stopped> {}
}

/// The text of the last failure on this thread.
#[cold]
pub(crate) fn last_error() -> String {
    // SAFETY: never null, and valid until the next failure on this thread.
    unsafe { CStr::from_ptr(ffi::lockstep_last_error()) }.to_string_lossy().into_owned()
}

/// What a code of the C interface means to a caller outside of a region.
pub(crate) fn check(code: c_int) -> Result<()> {
    if code == ffi::LOCKSTEP_OK {
        Ok(())
    } else {
        Err(error_of(code))
    }
}

#[cold]
fn error_of(code: c_int) -> Error {
    match code {
        ffi::LOCKSTEP_STOPPED => Error::Stopped,
        ffi::LOCKSTEP_ERROR_ARGUMENT | ffi::LOCKSTEP_ERROR_RANK => Error::Argument(last_error()),
        ffi::LOCKSTEP_ERROR_USE => Error::Use(last_error()),
        ffi::LOCKSTEP_ERROR_GRAPH => Error::Graph(last_error()),
        ffi::LOCKSTEP_ERROR_MEMORY => Error::Memory(last_error()),
        ffi::LOCKSTEP_ERROR_SYSTEM => Error::System(last_error()),
        _ => Error::Other(format!("lockstep: code {code}: {}", last_error())),
    }
}

/// What a code means to a member: it goes on, or the region is stopped. All else is a mistake of the program.
pub(crate) fn goes_on(code: c_int) -> std::result::Result<(), Stopped> {
    match code {
        ffi::LOCKSTEP_OK => Ok(()),
        ffi::LOCKSTEP_STOPPED => Err(Stopped),
        _ => refuse(),
    }
}

/// Panics with the text of the last failure.
#[cold]
pub(crate) fn refuse() -> ! {
    panic!("{}", last_error())
}

/// What a function of the library makes.
pub(crate) fn made<T>(create: impl FnOnce(*mut *mut T) -> c_int) -> Result<NonNull<T>> {
    let mut raw = ptr::null_mut();
    check(create(&mut raw))?;
    Ok(NonNull::new(raw).expect("not null where it succeeds"))
}

/// The same for objects that nothing but a lack of memory can keep from being made.
pub(crate) fn surely_made<T>(create: impl FnOnce(*mut *mut T) -> c_int) -> NonNull<T> {
    made(create).unwrap_or_else(|error| panic!("{error}"))
}

/// A text that the library writes into a buffer, in as many tries as it takes: it may grow in between.
pub(crate) fn text_of(write: impl Fn(*mut c_char, usize, *mut usize) -> c_int) -> Result<String> {
    let mut buffer: Vec<u8> = vec![0; 1024];
    loop {
        let mut length = 0;
        check(write(buffer.as_mut_ptr().cast(), buffer.len(), &mut length))?;
        if length < buffer.len() {
            buffer.truncate(length);
            return Ok(String::from_utf8_lossy(&buffer).into_owned());
        }
        buffer.resize(length + 1, 0);
    }
}

/// For the C interface, whose indices are signed.
pub(crate) fn bounds_of(range: &std::ops::Range<usize>) -> Result<(i64, i64)> {
    match (i64::try_from(range.start), i64::try_from(range.end)) {
        (Ok(first), Ok(last)) => Ok((first, last)),
        _ => Err(Error::Argument("lockstep: an index above i64::MAX".into())),
    }
}
