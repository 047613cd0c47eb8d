// SPDX-License-Identifier: MIT
//! Two slices that members of a region read as a whole and write in parts, in turns.
//!
//! Why it is sound, whatever members call: a part is used in turn t only after its member has seen that all others have
//! come to turn t (`publish`, `DoubleBuffer::part`). A member that has come to turn t uses nothing of turn t - 1 any
//! more, because `publish` borrows the whole part. It uses nothing of turn t + 1 before it has seen all others there.
//! So all members that use the slices at one time do so in the same turn. In a turn one half is only read, and each
//! member writes its own part of the other half. The constructs by which members wait only wait: if they did not wait
//! for all, `publish` panics.
use crate::error::Stopped;
use crate::member::Member;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Two slices of one length for a region of many steps: in each step all members read the one, and each writes its own part
/// of the other; then they change places. Plain numbers, without atomics.
///
/// ```
/// # fn main() -> lockstep_threads::Result<()> {
/// let team = lockstep_threads::Team::new(2)?;
/// let (mut x, mut y) = (vec![0.0; 1000], vec![0.0; 1000]);
/// let mut rod = lockstep_threads::DoubleBuffer::new(team.size(), &mut x, &mut y);
/// team.run(|me| {
///     let mut part = rod.part(me);
///     for _ in 0..100 {
///         let own = part.range();
///         let (now, next) = part.get(); // all of this step, and this member's part of the next one
///         for (i, x) in own.zip(next) {
///             let left = if i == 0 { 1.0 } else { now[i - 1] };
///             let right = if i + 1 == now.len() { 0.0 } else { now[i + 1] };
///             *x = 0.5 * (left + right);
///         }
///         part.publish(|| me.sync_threads())?; // from here on `next` is what all read
///     }
///     Ok(())
/// })?;
/// assert!(rod.current()[0] > 0.5);
/// # Ok(())
/// # }
/// ```
pub struct DoubleBuffer<'a, T> {
    halves: [*mut T; 2],
    length: usize,
    parts: Vec<State>,
    borrows: PhantomData<&'a mut [T]>,
}

/// The state of a part, on lines of its own.
#[repr(align(128))]
#[derive(Default)]
struct State {
    /// The turn that its member has come to: it only grows, except in reset().
    turn: AtomicUsize,
    is_taken: AtomicBool,
}

// SAFETY: it stands for two `&mut [T]`, of which each thread gets parts of its own, or all to read.
unsafe impl<T: Send + Sync> Sync for DoubleBuffer<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Send for DoubleBuffer<'_, T> {}

impl<'a, T> DoubleBuffer<'a, T> {
    /// For regions of `members`; the first step reads `current`, and writes `next`.
    ///
    /// # Panics
    /// If the lengths differ, or `members` is 0.
    #[must_use]
    pub fn new(members: usize, current: &'a mut [T], next: &'a mut [T]) -> Self {
        assert!(current.len() == next.len(), "lockstep_threads::DoubleBuffer: the slices have different lengths");
        assert!(members > 0, "lockstep_threads::DoubleBuffer: for no member");
        DoubleBuffer {
            length: current.len(),
            halves: [current.as_mut_ptr(), next.as_mut_ptr()],
            parts: (0..members).map(|_| State::default()).collect(),
            borrows: PhantomData,
        }
    }

    /// This member's part, as long as it keeps it. Parts cover the slices in the order of ranks; their lengths differ by one
    /// at most.
    ///
    /// # Panics
    /// If the region has not as many members as [`DoubleBuffer::new`] was told; if this part is in use, in this region or
    /// another; or if an earlier region ended between two steps: [`DoubleBuffer::reset`] mends that.
    #[must_use]
    pub fn part(&self, me: &Member) -> BufferPart<'_, T> {
        assert!(
            me.size() == self.parts.len(),
            "lockstep_threads::DoubleBuffer: made for {} members, used by {}",
            self.parts.len(),
            me.size()
        );
        let rank = me.rank();
        let state = &self.parts[rank];
        // Acquire, with the release of drop(): the part's user before has left.
        if state.is_taken.swap(true, Ordering::Acquire) {
            panic!("lockstep_threads::DoubleBuffer: part {rank} is in use");
        }
        let turn = state.turn.load(Ordering::Relaxed); // only this part's user changes it
        let part = BufferPart { of: self, rank, turn, is_usable: true, is_not_send: PhantomData };
        assert!(
            self.have_all_come_to(turn),
            "lockstep_threads::DoubleBuffer: a region was ended between two steps; call reset()"
        );
        part
    }

    /// Acquire, with the release of publish(): members that have come have finished all reads and writes of the turn
    /// before.
    fn have_all_come_to(&self, turn: usize) -> bool {
        self.parts.iter().all(|each| each.turn.load(Ordering::Acquire).wrapping_sub(turn) <= 1)
    }

    /// What the next step reads; after a region, what its last step has written.
    pub fn current(&mut self) -> &mut [T] {
        let half = self.halves[*self.parts[0].turn.get_mut() % 2];
        // SAFETY: the slice is borrowed here, and no member has a part.
        unsafe { std::slice::from_raw_parts_mut(half, self.length) }
    }

    /// After a region that was stopped, or has panicked: the next step reads what [`DoubleBuffer::current`] gives.
    pub fn reset(&mut self) {
        let turn = *self.parts[0].turn.get_mut() % 2;
        for each in &mut self.parts {
            *each = State { turn: AtomicUsize::new(turn), is_taken: AtomicBool::new(false) };
        }
    }
}

/// A member's part of a [`DoubleBuffer`].
pub struct BufferPart<'b, T> {
    of: &'b DoubleBuffer<'b, T>,
    rank: usize,
    turn: usize,
    is_usable: bool,
    is_not_send: PhantomData<*mut ()>,
}

impl<T> BufferPart<'_, T> {
    /// The indices of this member's part.
    #[inline]
    #[must_use]
    pub fn range(&self) -> Range<usize> {
        let (length, parts) = (self.of.length, self.of.parts.len());
        let (each, longer) = (length / parts, length % parts);
        let first = self.rank * each + self.rank.min(longer);
        first..first + each + usize::from(self.rank < longer)
    }

    /// All that this step reads, and this member's part of what it writes.
    ///
    /// # Panics
    /// After [`BufferPart::publish`] has failed.
    #[inline]
    pub fn get(&mut self) -> (&[T], &mut [T]) {
        assert!(self.is_usable, "lockstep_threads::BufferPart: the region was stopped between two steps");
        let (own, length) = (self.range(), self.of.length);
        // SAFETY: all threads that use the slices are in this turn, see the top of the file. They read this half, and write
        // the other one in parts, of which each has one user.
        unsafe {
            (
                std::slice::from_raw_parts(self.of.halves[self.turn % 2], length),
                std::slice::from_raw_parts_mut(self.of.halves[(self.turn + 1) % 2].add(own.start), own.len()),
            )
        }
    }

    /// Ends this step: `wait` waits for all members, by [`Member::sync_threads`] or a construct with a value, whose result
    /// this gives. Then the slices change places. All members call it for each step.
    ///
    /// # Errors
    /// [`Stopped`], as `wait` gives it. The part is of no use then.
    ///
    /// # Panics
    /// If `wait` has returned before all members have come, or does not wait.
    #[inline]
    pub fn publish<R>(&mut self, wait: impl FnOnce() -> Result<R, Stopped>) -> Result<R, Stopped> {
        assert!(self.is_usable, "lockstep_threads::BufferPart: the region was stopped between two steps");
        self.is_usable = false;
        let next = self.turn.wrapping_add(1);
        self.of.parts[self.rank].turn.store(next, Ordering::Release);
        let result = wait()?;
        assert!(
            self.of.have_all_come_to(next),
            "lockstep_threads::BufferPart::publish: not all members have come; all call it, with a construct that waits"
        );
        self.turn = next;
        self.is_usable = true;
        Ok(result)
    }
}

impl<T> Drop for BufferPart<'_, T> {
    fn drop(&mut self) {
        self.of.parts[self.rank].is_taken.store(false, Ordering::Release);
    }
}
