// SPDX-License-Identifier: MIT
//! What the closure of a region is given: its rank, and the constructs by which members work together.
use crate::error::Outcome;
use crate::error::{self, goes_on, Stopped};
use crate::ffi;
use crate::options::Schedule;
use crate::panics::{Job, SKIPPED};
use crate::team::{call_block, call_combine};
use std::cell::{Cell, RefCell};
use std::ffi::{c_int, c_void};
use std::ops::Range;
use std::ptr::{self, NonNull};

type InRegion<T> = Result<T, Stopped>;

/// A member of a region: of the thread that runs the closure, until that returns.
///
/// All members of a region come to the constructs that they share ([`Member::sync_threads`], the other `sync_` functions,
/// [`Member::broadcast`], [`Member::single`], [`Member::reduce`] and loops) in the same order, with the same range and
/// schedule. If they do not, values are wrong, or members wait for ever. It is no memory error: only numbers of at most
/// 8 bytes travel between members. A library that diagnoses misuse (the
/// default of this crate's debug builds) ends the program with a message that names both constructs.
///
/// Once the region is stopped no member waits any more: constructs give `Err(Stopped)`.
pub struct Member {
    raw: NonNull<ffi::lockstep_member>,
}

/// Numbers that travel between members: `f64`, `f32`, and integers of 32 and 64 bits. Sums and products of integers wrap
/// around.
pub trait Number: Copy + Send + Sync + 'static + sealed::Number {}

pub(crate) mod sealed {
    use super::{goes_on, InRegion, Member};
    use crate::ffi;
    use std::ffi::c_int;

    pub trait Number: Sized {
        fn sync(me: &Member, operation: c_int, value: Self) -> InRegion<Self>;
    }

    macro_rules! direct {
        ($type:ty, $function:ident) => {
            impl super::Number for $type {}
            impl Number for $type {
                #[inline]
                fn sync(me: &Member, operation: c_int, value: $type) -> InRegion<$type> {
                    let mut result = value;
                    // SAFETY: the member is of this thread; room for a result.
                    goes_on(unsafe { ffi::$function(me.raw(), operation, value, &mut result) })?;
                    Ok(result)
                }
            }
        };
    }
    direct!(f64, lockstep_member_sync_double);
    direct!(f32, lockstep_member_sync_float);
    direct!(i64, lockstep_member_sync_int64);

    /// Passes numbers as i64, which keeps their order; sums and products have the same low bits.
    macro_rules! by_i64 {
        ($type:ty, $to:expr, $from:expr) => {
            impl super::Number for $type {}
            impl Number for $type {
                #[inline]
                fn sync(me: &Member, operation: c_int, value: $type) -> InRegion<$type> {
                    let is_order = operation == ffi::LOCKSTEP_MIN || operation == ffi::LOCKSTEP_MAX;
                    let to: fn($type, bool) -> i64 = $to;
                    let from: fn(i64, bool) -> $type = $from;
                    <i64 as Number>::sync(me, operation, to(value, is_order)).map(|sum| from(sum, is_order))
                }
            }
        };
    }
    by_i64!(i32, |value, _| i64::from(value), |value, _| value as i32);
    by_i64!(u32, |value, _| i64::from(value), |value, _| value as u32);
    by_i64!(isize, |value, _| value as i64, |value, _| value as isize);
    // To keep the order, the sign bit is inverted. So the largest number stays the largest.
    by_i64!(
        u64,
        |value, is_order| if is_order { (value ^ (1 << 63)) as i64 } else { value as i64 },
        |value, is_order| if is_order { value as u64 ^ (1 << 63) } else { value as u64 }
    );
    by_i64!(
        usize,
        |value, is_order| if is_order { (value as u64 ^ (1 << 63)) as i64 } else { value as i64 },
        |value, is_order| if is_order { (value as u64 ^ (1 << 63)) as usize } else { value as usize }
    );
}

unsafe extern "C" fn call_single<F: Fn()>(context: *mut c_void) -> c_int {
    // SAFETY: the job lives until the construct is over.
    let job = unsafe { Job::<F>::of(context) };
    job.panics.catch(0, || (job.function)())
}

impl Member {
    /// # Safety
    /// `raw` is valid on this thread as long as the Member lives.
    pub(crate) unsafe fn new(raw: *mut ffi::lockstep_member) -> Member {
        Member { raw: NonNull::new(raw).expect("lockstep gives each callback a member") }
    }

    fn raw(&self) -> *mut ffi::lockstep_member {
        self.raw.as_ptr()
    }

    /// 0 to `size() - 1`; the caller of `run` is 0.
    #[inline]
    pub fn rank(&self) -> usize {
        // SAFETY: here and below, the member is of this thread and its region runs.
        unsafe { ffi::lockstep_member_rank(self.raw()) }
    }

    /// How many members the region has.
    #[inline]
    pub fn size(&self) -> usize {
        unsafe { ffi::lockstep_member_size(self.raw()) }
    }

    // --- all wait for all ---

    /// Blocks until every member has called it as often as this one. What happens before any member's call happens before
    /// every return. Two members with a CPU each: 50 ns.
    #[inline]
    pub fn sync_threads(&self) -> InRegion<()> {
        goes_on(unsafe { ffi::lockstep_member_sync_threads(self.raw()) })
    }

    /// A barrier that gives every member the sum of all values, added in the order of ranks.
    #[inline]
    pub fn sync_sum<T: Number>(&self, value: T) -> InRegion<T> {
        T::sync(self, ffi::LOCKSTEP_SUM, value)
    }

    /// The same with the product.
    #[inline]
    pub fn sync_product<T: Number>(&self, value: T) -> InRegion<T> {
        T::sync(self, ffi::LOCKSTEP_PRODUCT, value)
    }

    /// The same with the least value; of equal ones the first.
    #[inline]
    pub fn sync_min<T: Number>(&self, value: T) -> InRegion<T> {
        T::sync(self, ffi::LOCKSTEP_MIN, value)
    }

    /// The same with the greatest value; of equal ones the first.
    #[inline]
    pub fn sync_max<T: Number>(&self, value: T) -> InRegion<T> {
        T::sync(self, ffi::LOCKSTEP_MAX, value)
    }

    /// How many members passed true.
    #[inline]
    pub fn sync_count(&self, condition: bool) -> InRegion<usize> {
        let mut count = 0;
        goes_on(unsafe { ffi::lockstep_member_sync_count(self.raw(), c_int::from(condition), &mut count) })?;
        Ok(count)
    }

    /// Whether all members passed true.
    #[inline]
    pub fn sync_all(&self, condition: bool) -> InRegion<bool> {
        Ok(self.sync_count(condition)? == self.size())
    }

    /// Whether a member passed true.
    #[inline]
    pub fn sync_any(&self, condition: bool) -> InRegion<bool> {
        Ok(self.sync_count(condition)? != 0)
    }

    /// The values of all members, combined by your own operation in the order of ranks. The result is the same on each
    /// member.
    pub fn sync_reduce<T, Op>(&self, value: T, combine: Op) -> InRegion<T>
    where
        T: Number,
        Op: Fn(T, T) -> T + Sync,
    {
        let job = Job::new(((), combine));
        let (mut result, combine) = (value, call_combine::<T, (), Op>);
        let (size, bytes) = (std::mem::size_of::<T>(), ptr::from_mut(&mut result).cast());
        let code = unsafe { ffi::lockstep_member_sync_reduce(self.raw(), size, bytes, combine, job.context()) };
        job.panics.finish_in_region(code)?;
        Ok(result)
    }

    /// The value of member `root`, on every member.
    ///
    /// # Panics
    /// If there is no such member.
    #[inline]
    pub fn broadcast<T: Number>(&self, root: usize, value: T) -> InRegion<T> {
        let mut result = value;
        goes_on(unsafe {
            ffi::lockstep_member_broadcast(
                self.raw(),
                root,
                std::mem::size_of::<T>(),
                ptr::from_mut(&mut result).cast(),
            )
        })?;
        Ok(result)
    }

    /// Member 0 calls `f`, which may be before the others have come; they wait until it has returned.
    pub fn single<F: FnOnce()>(&self, f: F) -> InRegion<()> {
        let once = Cell::new(Some(f));
        self.call_single(|| {
            if let Some(f) = once.take() {
                f();
            }
        })
    }

    fn call_single<F: Fn()>(&self, f: F) -> InRegion<()> {
        let job = Job::new(f);
        let code = unsafe { ffi::lockstep_member_single(self.raw(), call_single::<F>, job.context()) };
        job.panics.finish_in_region(code)
    }

    // --- loops ---

    /// The contiguous block of this member: blocks cover the range in the order of ranks, and their lengths differ by one at
    /// most. Waits for nobody.
    ///
    /// # Panics
    /// For indices above `i64::MAX`.
    #[inline]
    pub fn block(&self, range: Range<usize>) -> Range<usize> {
        let (first, last) = checked_bounds(&range);
        let (mut from, mut to) = (first, first);
        let code = unsafe { ffi::lockstep_member_block(self.raw(), first, last, &mut from, &mut to) };
        if code != ffi::LOCKSTEP_OK {
            error::refuse();
        }
        from as usize..to as usize
    }

    /// Calls `f` for this member's parts of the range: none, one or several; then waits for all.
    ///
    /// # Panics
    /// For a schedule with a chunk of 0, and for indices above `i64::MAX`; and where `f` panics.
    pub fn for_blocks<F, R>(&self, range: Range<usize>, how: Schedule, f: F) -> InRegion<()>
    where
        F: FnMut(Range<usize>) -> R,
        R: Outcome,
    {
        let f = RefCell::new(f);
        self.blocks(ffi::lockstep_member_for_range, &range, how, |part| (*f.borrow_mut())(part))
    }

    /// The same without the wait: before the next step reads what others wrote, call [`Member::sync_threads`].
    pub fn for_blocks_nowait<F, R>(&self, range: Range<usize>, how: Schedule, f: F) -> InRegion<()>
    where
        F: FnMut(Range<usize>) -> R,
        R: Outcome,
    {
        let f = RefCell::new(f);
        self.blocks(ffi::lockstep_member_for_range_nowait, &range, how, |part| (*f.borrow_mut())(part))
    }

    fn blocks<F, R>(&self, call: ffi::MemberLoop, range: &Range<usize>, how: Schedule, f: F) -> InRegion<()>
    where
        F: Fn(Range<usize>) -> R,
        R: Outcome,
    {
        let (first, last) = checked_bounds(range);
        let (schedule, chunk) = how.code();
        let job = Job::new(f);
        // SAFETY: the member lives in this region, and the job until the call returns: nobody else calls its parts.
        let code = unsafe { call(self.raw(), first, last, schedule, chunk, call_block::<F, R>, job.context()) };
        job.panics.finish_in_region(code)
    }

    /// As [`crate::Team::reduce`], by all members of the region together; each gets the result. `init` is the same on all.
    /// Waits for all.
    pub fn reduce<T, F, Op>(&self, range: Range<usize>, init: T, fold: F, combine: Op) -> InRegion<T>
    where
        T: Number,
        F: Fn(Range<usize>) -> T + Sync,
        Op: Fn(T, T) -> T + Sync,
    {
        let bounds = checked_bounds(&range);
        let job = Job::new((fold, combine));
        // SAFETY: the member lives in this region, and all wait.
        let (code, result) = unsafe { job.reduce(ffi::lockstep_member_reduce, self.raw(), bounds, init) };
        job.panics.finish_in_region(code)?;
        Ok(result)
    }

    // --- step by step ---

    /// This member has finished `step`, and all before it. Steps only grow; they begin at 0 in every region.
    #[inline]
    pub fn publish(&self, step: usize) {
        if unsafe { ffi::lockstep_member_publish(self.raw(), step) } != SKIPPED {
            error::refuse();
        }
    }

    /// Blocks until member `rank` has published `step` or more; what happened before that happens before the return.
    ///
    /// # Panics
    /// If there is no such member, and for a step of this member's own that it has not published.
    #[inline]
    pub fn await_step(&self, rank: usize, step: usize) -> InRegion<()> {
        goes_on(unsafe { ffi::lockstep_member_await_step(self.raw(), rank, step) })
    }

    // --- the early end ---

    /// Whether the region is stopped. Then return soon.
    #[inline]
    pub fn stop_requested(&self) -> bool {
        unsafe { ffi::lockstep_member_stop_requested(self.raw()) != 0 }
    }

    /// Ends the region: `run` gives [`crate::Error::Stopped`].
    pub fn request_stop(&self) {
        unsafe { ffi::lockstep_member_request_stop(self.raw()) };
    }
}

impl std::fmt::Debug for Member {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.debug_struct("Member").field("rank", &self.rank()).field("size", &self.size()).finish()
    }
}

fn checked_bounds(range: &Range<usize>) -> (i64, i64) {
    error::bounds_of(range).unwrap_or_else(|error| panic!("{error}"))
}
