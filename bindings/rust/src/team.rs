// SPDX-License-Identifier: MIT
//! Threads that start once and run regions and loops together.
use crate::error::{self, Error, Outcome, Result};
use crate::ffi;
use crate::member::Member;
use crate::options::{choice, Binding, Hook, Schedule, TeamOptions};
use crate::panics::{Job, SKIPPED};
use std::ffi::{c_int, c_void, CString};
use std::mem::MaybeUninit;
use std::ops::Range;
use std::ptr::{self, NonNull};
use std::sync::OnceLock;

/// Threads that start once, and then run regions and loops together, the caller among them as member 0.
///
/// Each function returns when all members are done, so closures may borrow from the caller's stack. Several threads may
/// use one team: they are served in turn. Inside a region of the same team a region or loop runs on the caller alone.
///
/// A closure that panics ends its region or loop early: members that wait are released, and parts that have not begun
/// are left out. When all members are done, the panic goes on in the caller. Of several panics, the one of the lowest
/// rank or of the lowest part of a loop goes on. The team stays usable. With `panic = "abort"` the program ends.
///
/// # Errors
/// [`Error::Stopped`] where [`Team::request_stop`] or [`Member::request_stop`] ended the region; [`Error::System`] where
/// threads that [`Team::pause`] has given back cannot be started again. Loops: [`Error::Argument`] for a schedule whose
/// chunk is 0, and for indices above `i64::MAX`.
pub struct Team {
    raw: NonNull<ffi::lockstep_team>,
    is_owned: bool,
    /// What the threads call when they start and end. They live as long as the team.
    _hooks: Option<Box<Hooks>>,
}

// SAFETY: the C interface lets any thread use a team, several at once. Any thread outside of its regions may end it.
unsafe impl Send for Team {}
// SAFETY: as above.
unsafe impl Sync for Team {}

struct Hooks {
    on_start: Option<Hook>,
    on_exit: Option<Hook>,
}

/// A team is as usable after a panic as before.
impl std::panic::RefUnwindSafe for Team {}
impl std::panic::UnwindSafe for Team {}

/// A panic in it ends the program, since it belongs to no region. Rust before 1.81 would let it out of an `extern "C"`
/// function, into C++.
fn call_hook(hook: &Option<Hook>, rank: usize) {
    if let Some(hook) = hook {
        if std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| hook(rank))).is_err() {
            std::process::abort();
        }
    }
}

unsafe extern "C" fn call_on_start(rank: usize, context: *mut c_void) {
    // SAFETY: the context is the Hooks of the team, which lives longer than its threads.
    call_hook(&unsafe { &*context.cast::<Hooks>() }.on_start, rank);
}

unsafe extern "C" fn call_on_exit(rank: usize, context: *mut c_void) {
    // SAFETY: as above.
    call_hook(&unsafe { &*context.cast::<Hooks>() }.on_exit, rank);
}

unsafe extern "C" fn call_region<F, R>(me: *mut ffi::lockstep_member, context: *mut c_void) -> c_int
where
    F: Fn(&Member) -> R,
    R: Outcome,
{
    // SAFETY: the job lives until run() returns, which is after this callback.
    let job = unsafe { Job::<F>::of(context) };
    // SAFETY: `me` is valid on this thread until the callback returns; the Member is dropped before.
    let member = unsafe { Member::new(me) };
    job.panics.catch(member.rank(), || (job.function)(&member))
}

pub(crate) unsafe extern "C" fn call_block<F, R>(first: i64, last: i64, context: *mut c_void) -> c_int
where
    F: Fn(Range<usize>) -> R,
    R: Outcome,
{
    // SAFETY: as in call_region.
    let job = unsafe { Job::<F>::of(context) };
    job.panics.catch(first as usize, || (job.function)(first as usize..last as usize))
}

/// `lockstep_team_reduce` and `lockstep_member_reduce`.
type ReduceFn<Object> = unsafe extern "C" fn(
    *mut Object,
    i64,
    i64,
    usize,
    ffi::lockstep_block_value_fn,
    ffi::lockstep_combine_fn,
    *mut c_void,
    *mut c_void,
) -> c_int;

impl<F, Op> Job<(F, Op)> {
    /// Reduces by `function` of the C interface, what the first closure gives for parts, by the second. Gives the code, and
    /// the result. The caller finishes the panics.
    ///
    /// # Safety
    /// `object` lives, and `function` waits until all closures have returned.
    pub unsafe fn reduce<Object, T>(
        &self,
        function: ReduceFn<Object>,
        object: *mut Object,
        (first, last): (i64, i64),
        init: T,
    ) -> (c_int, T)
    where
        T: Copy + Send,
        F: Fn(Range<usize>) -> T + Sync,
        Op: Fn(T, T) -> T + Sync,
    {
        const { check_value::<T>() };
        let mut result = init;
        let (fold, combine) = (call_fold::<T, F, Op>, call_combine::<T, F, Op>);
        let value = ptr::from_mut(&mut result).cast();
        // SAFETY: the caller's; the values are T, of which the size is given.
        let code =
            unsafe { function(object, first, last, std::mem::size_of::<T>(), fold, combine, self.context(), value) };
        (code, result)
    }
}

unsafe extern "C" fn call_fold<T, F, Op>(first: i64, last: i64, value: *mut c_void, context: *mut c_void) -> c_int
where
    F: Fn(Range<usize>) -> T,
{
    // SAFETY: as in call_region.
    let job = unsafe { Job::<(F, Op)>::of(context) };
    job.panics.catch(first as usize, || {
        let result = (job.function.0)(first as usize..last as usize);
        // SAFETY: there is room for a T; its alignment was checked by check_value().
        unsafe { value.cast::<T>().write(result) };
    })
}

/// Of reductions, and of values of members, which are numbers.
pub(crate) unsafe extern "C" fn call_combine<T, F, Op>(into: *mut c_void, from: *const c_void, context: *mut c_void)
where
    T: Copy,
    Op: Fn(T, T) -> T,
{
    // SAFETY: as in call_region.
    let job = unsafe { Job::<(F, Op)>::of(context) };
    if job.panics.any() {
        return; // the result is not looked at any more
    }
    // SAFETY: both were written by call_fold or the caller, and copied as bytes, which a `Copy` type allows.
    let (a, b) = unsafe { (into.cast::<T>().read_unaligned(), from.cast::<T>().read_unaligned()) };
    if let Some(value) = job.panics.value(usize::MAX, || (job.function.1)(a, b)) {
        // SAFETY: as above.
        unsafe { into.cast::<T>().write_unaligned(value) };
    }
}

/// Whether the C interface can carry a T: refused when the program is compiled.
const fn check_value<T>() {
    assert!(
        std::mem::size_of::<T>() >= 1 && std::mem::size_of::<T>() <= ffi::LOCKSTEP_LARGEST_VALUE,
        "lockstep: values of reductions have 1 to 65536 bytes"
    );
    assert!(
        std::mem::align_of::<T>() <= 2 * std::mem::size_of::<usize>(),
        "lockstep: values of reductions are aligned as malloc aligns at most"
    );
}

/// The start of a slice that members write to, each in parts of its own.
struct SharedStart<T>(*mut T);
// SAFETY: it stands for a `&mut [T]`, of which each thread gets parts of its own.
unsafe impl<T: Send> Sync for SharedStart<T> {}

impl<T> SharedStart<T> {
    /// # Safety
    /// Within the slice, and of no other part that lives.
    unsafe fn part<'a>(&self, range: Range<usize>) -> &'a mut [T] {
        // SAFETY: as the caller promises.
        unsafe { std::slice::from_raw_parts_mut(self.0.add(range.start), range.end - range.start) }
    }
}

impl Team {
    /// A team of this many members with the caller, 1 to 65536; 0: one for each usable CPU, or as `LOCKSTEP_NUM_THREADS` says.
    /// Starts the threads, some 20 µs each.
    ///
    /// # Errors
    /// [`Error::Argument`] for a number above 65536, [`Error::System`] if a thread cannot be started.
    pub fn new(members: usize) -> Result<Team> {
        TeamOptions::new().members(members).build()
    }

    pub(crate) fn with_options(options: &TeamOptions) -> Result<Team> {
        let version = unsafe { ffi::lockstep_c_version() };
        if version / 1000 != ffi::LOCKSTEP_C_VERSION_MAJOR {
            return Err(Error::Other(format!(
                "lockstep: the library that is loaded has version {version} of the C interface; this crate needs \
                 {}xxx: build the crate with the library that it runs with",
                ffi::LOCKSTEP_C_VERSION_MAJOR
            )));
        }
        let name = match &options.name {
            None => None,
            Some(text) => Some(CString::new(text.as_str()).map_err(|_| {
                Error::Argument("lockstep_threads::TeamOptions::name: the name has a zero in it".into())
            })?),
        };
        let hooks = if options.on_start.is_some() || options.on_exit.is_some() {
            Some(Box::new(Hooks { on_start: options.on_start.clone(), on_exit: options.on_exit.clone() }))
        } else {
            None
        };
        let mut said = MaybeUninit::<ffi::lockstep_team_options>::zeroed();
        // SAFETY: room for the structure, whose size is given.
        error::check(unsafe {
            ffi::lockstep_team_options_init(said.as_mut_ptr(), std::mem::size_of::<ffi::lockstep_team_options>())
        })?;
        // SAFETY: zeros are a value of each field, and init has said the rest.
        let mut said = unsafe { said.assume_init() };
        said.members = options.members;
        said.policy = options.policy.code();
        said.name = name.as_ref().map_or(ptr::null(), |text| text.as_ptr());
        said.bind = match &options.bind {
            Binding::Unset => ffi::LOCKSTEP_BIND_UNSET,
            Binding::None => ffi::LOCKSTEP_BIND_NONE,
            Binding::Close => ffi::LOCKSTEP_BIND_CLOSE,
            Binding::Cores => ffi::LOCKSTEP_BIND_CORES,
            Binding::Spread => ffi::LOCKSTEP_BIND_SPREAD,
            Binding::Cpus(list) if list.is_empty() => ffi::LOCKSTEP_BIND_NONE,
            Binding::Cpus(list) => {
                said.cpus = list.as_ptr();
                said.cpu_count = list.len();
                ffi::LOCKSTEP_BIND_CPUS
            }
        };
        said.anticipate = choice(options.anticipate);
        said.learn = choice(options.learn);
        said.cpu_separation = choice(options.cpu_separation);
        said.ledger = choice(options.ledger);
        if let Some(hooks) = &hooks {
            said.on_start = hooks.on_start.as_ref().map(|_| call_on_start as _);
            said.on_exit = hooks.on_exit.as_ref().map(|_| call_on_exit as _);
            said.hook_context = ptr::from_ref::<Hooks>(hooks).cast_mut().cast();
        }
        // SAFETY: all pointers in `said` are valid during the call, the hooks as long as the team.
        let raw = error::made(|raw| unsafe { ffi::lockstep_team_create(&said, raw) })?;
        Ok(Team { raw, is_owned: true, _hooks: hooks })
    }

    /// One team for all parts of the process, with C and C++ code too: made by the first call as the environment says, and
    /// never ended.
    ///
    /// # Errors
    /// [`Error::System`] if a thread cannot be started; the next call tries again.
    pub fn global() -> Result<&'static Team> {
        static GLOBAL: OnceLock<Team> = OnceLock::new();
        if let Some(team) = GLOBAL.get() {
            return Ok(team);
        }
        // SAFETY: room for a pointer.
        let raw = error::made(|raw| unsafe { ffi::lockstep_default_team(raw) })?;
        Ok(GLOBAL.get_or_init(|| Team { raw, is_owned: false, _hooks: None }))
    }

    /// How many members the team has, the caller among them.
    pub fn size(&self) -> usize {
        // SAFETY: the team lives.
        unsafe { ffi::lockstep_team_size(self.raw()) }
    }

    pub(crate) fn raw(&self) -> *mut ffi::lockstep_team {
        self.raw.as_ptr()
    }

    // --- regions ---

    /// Calls `f` once on every member. What happens before the call happens before every call of `f`, and those before the
    /// return. An empty region of two members that are awake takes some 0.1 µs; nothing is allocated.
    ///
    /// ```
    /// # fn main() -> lockstep_threads::Result<()> {
    /// let team = lockstep_threads::Team::new(2)?;
    /// let (n, sums) = (1000, lockstep_threads::Mutex::new(Vec::new()));
    /// team.run(|me| {
    ///     let mine: usize = me.block(0..n).sum();
    ///     let all = me.sync_sum(mine)?; // barrier, sum and broadcast in one
    ///     sums.lock().push(all);
    ///     Ok(())
    /// })?;
    /// assert_eq!(sums.into_inner(), vec![499500; 2]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn run<F, R>(&self, f: F) -> Result<()>
    where
        F: Fn(&Member) -> R + Sync,
        R: Outcome,
    {
        let job = Job::new(f);
        // SAFETY: the job lives until the call returns, when all callbacks have returned.
        let code = unsafe { ffi::lockstep_team_run(self.raw(), call_region::<F, R>, job.context()) };
        job.panics.finish(code)
    }

    /// The same on the first `members` members. [`Error::Argument`] if that is 0 or more than the team has.
    pub fn run_on<F, R>(&self, members: usize, f: F) -> Result<()>
    where
        F: Fn(&Member) -> R + Sync,
        R: Outcome,
    {
        let job = Job::new(f);
        // SAFETY: as in run().
        let code = unsafe { ffi::lockstep_team_run_on(self.raw(), members, call_region::<F, R>, job.context()) };
        job.panics.finish(code)
    }

    /// Ends the region or loop that runs, if one does. Any thread may call it.
    pub fn request_stop(&self) {
        // SAFETY: the team lives.
        unsafe { ffi::lockstep_team_request_stop(self.raw()) };
    }

    /// Gives the threads back to the system until [`Team::resume`] or the next region. [`Error::Use`] inside a region.
    pub fn pause(&self) -> Result<()> {
        // SAFETY: the team lives.
        error::check(unsafe { ffi::lockstep_team_pause(self.raw()) })
    }

    /// Starts the threads again at once. [`Error::Use`] inside a region.
    pub fn resume(&self) -> Result<()> {
        // SAFETY: the team lives.
        error::check(unsafe { ffi::lockstep_team_resume(self.raw()) })
    }

    // --- loops ---

    /// Calls `f` with blocks that make up the range, on as many members as pay: what iterations cost is learned, for each
    /// closure by itself. A loop that is too short for two members runs on the caller alone, for 10 to 20 ns.
    ///
    /// Blocks must not wait for each other; [`Team::run`] is for that.
    pub fn for_blocks<F, R>(&self, range: Range<usize>, f: F) -> Result<()>
    where
        F: Fn(Range<usize>) -> R + Sync,
        R: Outcome,
    {
        let (first, last) = error::bounds_of(&range)?;
        let job = Job::new(f);
        // SAFETY: as in run().
        let code = unsafe { ffi::lockstep_team_for_range(self.raw(), first, last, call_block::<F, R>, job.context()) };
        job.panics.finish(code)
    }

    /// The same with a schedule.
    pub fn for_blocks_by<F, R>(&self, range: Range<usize>, how: Schedule, f: F) -> Result<()>
    where
        F: Fn(Range<usize>) -> R + Sync,
        R: Outcome,
    {
        let (first, last) = error::bounds_of(&range)?;
        let (schedule, chunk) = how.code();
        let job = Job::new(f);
        // SAFETY: as in run().
        let code = unsafe {
            ffi::lockstep_team_for_range_by(self.raw(), first, last, schedule, chunk, call_block::<F, R>, job.context())
        };
        job.panics.finish(code)
    }

    /// Calls `f` for each index.
    pub fn for_each<F>(&self, range: Range<usize>, f: F) -> Result<()>
    where
        F: Fn(usize) + Sync,
    {
        self.for_blocks(range, |part| part.for_each(&f))
    }

    /// Calls `f` with blocks that make up the slice, and the index of the first element of each.
    ///
    /// ```
    /// # fn main() -> lockstep_threads::Result<()> {
    /// let team = lockstep_threads::Team::new(2)?;
    /// let old = vec![1.0; 1000];
    /// let mut new = vec![0.0; 1000];
    /// team.for_blocks_mut(&mut new, |first, block| {
    ///     for (k, x) in block.iter_mut().enumerate() {
    ///         *x = 2.0 * old[first + k];
    ///     }
    /// })?;
    /// assert!(new.iter().all(|&x| x == 2.0));
    /// # Ok(())
    /// # }
    /// ```
    pub fn for_blocks_mut<T, F, R>(&self, slice: &mut [T], f: F) -> Result<()>
    where
        T: Send,
        F: Fn(usize, &mut [T]) -> R + Sync,
        R: Outcome,
    {
        self.for_blocks_mut_by(slice, Schedule::Static, f)
    }

    /// The same with a schedule.
    pub fn for_blocks_mut_by<T, F, R>(&self, slice: &mut [T], how: Schedule, f: F) -> Result<()>
    where
        T: Send,
        F: Fn(usize, &mut [T]) -> R + Sync,
        R: Outcome,
    {
        let start = SharedStart(slice.as_mut_ptr());
        let start = &start;
        self.for_blocks_by(0..slice.len(), how, |part: Range<usize>| {
            // SAFETY: parts lie in the range and have no index in common, and `slice` is borrowed until all are done.
            f(part.start, unsafe { start.part(part) })
        })
    }

    /// Calls `f` for each element. Rows, or slices that change together, are elements once they are collected.
    ///
    /// ```
    /// # fn main() -> lockstep_threads::Result<()> {
    /// let team = lockstep_threads::Team::new(2)?;
    /// let (width, mut x, mut v) = (100, vec![1.0; 1000], vec![2.0; 1000]);
    /// let mut rows: Vec<_> = x.chunks_mut(width).zip(v.chunks_mut(width)).enumerate().collect();
    /// team.for_each_mut(&mut rows, |(row, (x, v))| {
    ///     v[0] += *row as f64;
    ///     x[0] += v[0];
    /// })?;
    /// assert_eq!(x[900], 12.0);
    /// # Ok(())
    /// # }
    /// ```
    pub fn for_each_mut<T, F>(&self, slice: &mut [T], f: F) -> Result<()>
    where
        T: Send,
        F: Fn(&mut T) + Sync,
    {
        self.for_blocks_mut(slice, |_, block: &mut [T]| block.iter_mut().for_each(&f))
    }

    // --- reductions ---

    /// `init`, combined with what `fold` gives for parts of the range, in order. The parts depend on the length alone, and
    /// are combined along a fixed tree: the same bits for every team size and run. `combine` has to be associative.
    ///
    /// ```
    /// # fn main() -> lockstep_threads::Result<()> {
    /// let team = lockstep_threads::Team::new(2)?;
    /// let (x, y) = (vec![0.5; 1000], vec![2.0; 1000]);
    /// let dot = team.reduce(0..1000, 0.0,
    ///     |part| part.map(|i| x[i] * y[i]).sum::<f64>(), |a, b| a + b)?;
    /// assert_eq!(dot, 1000.0);
    /// # Ok(())
    /// # }
    /// ```
    pub fn reduce<T, F, Op>(&self, range: Range<usize>, init: T, fold: F, combine: Op) -> Result<T>
    where
        T: Copy + Send,
        F: Fn(Range<usize>) -> T + Sync,
        Op: Fn(T, T) -> T + Sync,
    {
        let bounds = error::bounds_of(&range)?;
        let job = Job::new((fold, combine));
        // SAFETY: as in run().
        let (code, result) = unsafe { job.reduce(ffi::lockstep_team_reduce, self.raw(), bounds, init) };
        job.panics.finish(code)?;
        Ok(result)
    }

    /// `init`, combined with what `f` gives for each index, in order.
    pub fn reduce_each<T, F, Op>(&self, range: Range<usize>, init: T, f: F, combine: Op) -> Result<T>
    where
        T: Copy + Send,
        F: Fn(usize) -> T + Sync,
        Op: Fn(T, T) -> T + Sync,
    {
        self.reduce(
            range,
            init,
            |part: Range<usize>| {
                let first = f(part.start); // no part is empty
                (part.start + 1..part.end).fold(first, |sum, i| combine(sum, f(i)))
            },
            &combine,
        )
    }

    // --- the ledger ---

    /// Switches the ledger on or off. [`Error::Use`] inside a region.
    pub fn keep_ledger(&self, yes: bool) -> Result<()> {
        // SAFETY: the team lives.
        error::check(unsafe { ffi::lockstep_team_keep_ledger(self.raw(), c_int::from(yes)) })
    }

    /// Who waited where, how long, and for whom, as a table for terminals.
    pub fn ledger_table(&self) -> Result<String> {
        error::text_of(|buffer, capacity, length| {
            // SAFETY: the team lives; the buffer has that capacity.
            unsafe { ffi::lockstep_team_ledger_table(self.raw(), buffer, capacity, length) }
        })
    }
}

impl Drop for Team {
    fn drop(&mut self) {
        if !self.is_owned {
            return;
        }
        // SAFETY: nobody borrows the team any more, so no region runs. If it is refused all the same, the team is left.
        let code = unsafe { ffi::lockstep_team_destroy(self.raw()) };
        if code != SKIPPED {
            std::mem::forget(self._hooks.take());
        }
    }
}

impl std::fmt::Debug for Team {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.debug_struct("Team").field("size", &self.size()).finish_non_exhaustive()
    }
}
