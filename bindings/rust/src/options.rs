// SPDX-License-Identifier: MIT
//! How a team is made, and how it waits and hands out work: values.
use crate::ffi;
use std::ffi::c_int;
use std::sync::Arc;
use std::time::Duration;

/// How a waiting thread waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Policy {
    /// Not set: for a team the environment decides (`LOCKSTEP_WAIT_POLICY`), or else it is adaptive.
    #[default]
    Unset,
    /// Spins for at most 2 µs where that pays, then yields, then sleeps.
    Adaptive,
    /// Never enters the kernel: for one thread on each CPU that you own alone.
    Spin,
    /// Sleeps at once.
    Block,
    /// Spins for this time before it sleeps, at most 0.53 s.
    SpinFor(Duration),
}

impl Policy {
    pub(crate) fn code(self) -> i64 {
        match self {
            Policy::Unset => ffi::LOCKSTEP_POLICY_UNSET,
            Policy::Adaptive => ffi::LOCKSTEP_POLICY_ADAPTIVE,
            Policy::Spin => ffi::LOCKSTEP_POLICY_SPIN,
            Policy::Block => ffi::LOCKSTEP_POLICY_BLOCK,
            Policy::SpinFor(time) if time.is_zero() => ffi::LOCKSTEP_POLICY_BLOCK,
            Policy::SpinFor(time) => nanoseconds(time),
        }
    }
}

/// A time as the C interface takes it: the largest number means for ever.
pub(crate) fn nanoseconds(time: Duration) -> i64 {
    i64::try_from(time.as_nanos()).unwrap_or(ffi::LOCKSTEP_FOREVER)
}

/// How iterations are handed out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Schedule {
    /// One block for each member. A team's loop learns on how many members it pays.
    #[default]
    Static,
    /// The same, with the least length of a block that is worth a member.
    Grain(usize),
    /// Chunks of this length, to the members in turn.
    Chunks(usize),
    /// A chunk of this length to each member that asks: for uneven work.
    Dynamic(usize),
    /// Chunks that shrink, of this length or more.
    Guided(usize),
}

impl Schedule {
    pub(crate) fn code(self) -> (c_int, usize) {
        match self {
            Schedule::Static => (ffi::LOCKSTEP_STATIC, 0),
            Schedule::Grain(least) => (ffi::LOCKSTEP_STATIC, least),
            Schedule::Chunks(length) => (ffi::LOCKSTEP_STATIC_CHUNKS, length),
            Schedule::Dynamic(length) => (ffi::LOCKSTEP_DYNAMIC, length),
            Schedule::Guided(least) => (ffi::LOCKSTEP_GUIDED, least),
        }
    }
}

/// Where the members of a team run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Binding {
    /// Not set: the environment decides, or else the system.
    #[default]
    Unset,
    /// Where the system puts them.
    None,
    /// As near to each other as possible, a core's hyper-threads first: for members that share data.
    Close,
    /// On neighbouring cores, one member on each before any has two.
    Cores,
    /// As far apart as possible: for members that need memory bandwidth.
    Spread,
    /// Rank i on the i-th of these CPUs; more members than CPUs take them in turns.
    Cpus(Vec<u32>),
}

pub(crate) type Hook = Arc<dyn Fn(usize) + Send + Sync>;

/// What a program sets about a team before it is made. What is not set is taken from the environment (`LOCKSTEP_...`),
/// or else has its default.
///
/// ```
/// # fn main() -> lockstep_threads::Result<()> {
/// let team = lockstep_threads::TeamOptions::new().members(2).name("solver").build()?;
/// assert_eq!(team.size(), 2);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
#[must_use]
pub struct TeamOptions {
    pub(crate) members: usize,
    pub(crate) policy: Policy,
    pub(crate) name: Option<String>,
    pub(crate) bind: Binding,
    pub(crate) anticipate: Option<bool>,
    pub(crate) learn: Option<bool>,
    pub(crate) cpu_separation: Option<bool>,
    pub(crate) ledger: Option<bool>,
    pub(crate) on_start: Option<Hook>,
    pub(crate) on_exit: Option<Hook>,
}

impl TeamOptions {
    /// Options that set nothing.
    pub fn new() -> TeamOptions {
        TeamOptions::default()
    }
    /// The number of members with the caller, 1 to 65536; 0: one for each usable CPU.
    pub fn members(mut self, count: usize) -> Self {
        self.members = count;
        self
    }
    /// How members wait.
    pub fn policy(mut self, how: Policy) -> Self {
        self.policy = how;
        self
    }
    /// What debuggers and messages call the team.
    pub fn name(mut self, text: impl Into<String>) -> Self {
        self.name = Some(text.into());
        self
    }
    /// Where members run.
    pub fn bind(mut self, to: Binding) -> Self {
        self.bind = to;
        self
    }
    /// Whether workers learn when the next region is due, and poll shortly before it. Yes by default.
    pub fn anticipate(mut self, yes: bool) -> Self {
        self.anticipate = Some(yes);
        self
    }
    /// Whether loops learn what they cost, and run on as many members as pay. Yes by default.
    pub fn learn(mut self, yes: bool) -> Self {
        self.learn = Some(yes);
        self
    }
    /// Whether a worker moves if it shares its CPU with a member that it waits for. Yes by default.
    pub fn cpu_separation(mut self, yes: bool) -> Self {
        self.cpu_separation = Some(yes);
        self
    }
    /// Whether the team counts who waits where and for whom ([`crate::Team::ledger_table`]). No by default.
    pub fn ledger(mut self, yes: bool) -> Self {
        self.ledger = Some(yes);
        self
    }
    /// Called with the rank on each thread that the team starts, before its first region. A panic in it ends the program.
    pub fn on_start(mut self, f: impl Fn(usize) + Send + Sync + 'static) -> Self {
        self.on_start = Some(Arc::new(f));
        self
    }
    /// The same after the thread's last region.
    pub fn on_exit(mut self, f: impl Fn(usize) + Send + Sync + 'static) -> Self {
        self.on_exit = Some(Arc::new(f));
        self
    }
    /// Makes the team and starts its threads, some 20 µs each.
    ///
    /// # Errors
    /// [`crate::Error::Argument`] for a bad number or a name with a zero in it, [`crate::Error::System`] if a thread cannot
    /// be started.
    pub fn build(&self) -> crate::Result<crate::Team> {
        crate::Team::with_options(self)
    }
}

pub(crate) fn choice(said: Option<bool>) -> i32 {
    match said {
        None => ffi::LOCKSTEP_UNSET,
        Some(true) => ffi::LOCKSTEP_YES,
        Some(false) => ffi::LOCKSTEP_NO,
    }
}
