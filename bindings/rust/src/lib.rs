// SPDX-License-Identifier: MIT
#![doc = include_str!("../README.md")]
//!
//! # What the compiler refuses
//!
//! Two members must not change the same variable:
//! ```compile_fail,E0594
//! let team = lockstep_threads::Team::new(2).unwrap();
//! let mut sum = 0;
//! team.run(|me| sum += me.rank()).unwrap();
//! ```
//! Nor may a loop's closure use what the loop changes:
//! ```compile_fail,E0502
//! let team = lockstep_threads::Team::new(2).unwrap();
//! let mut x = vec![0.0; 100];
//! team.for_blocks_mut(&mut x, |first, block| block[0] = x[first + 1]).unwrap();
//! ```
//! What members share has to be `Sync`:
//! ```compile_fail,E0277
//! let team = lockstep_threads::Team::new(2).unwrap();
//! let count = std::cell::Cell::new(0);
//! team.run(|_| count.set(count.get() + 1)).unwrap();
//! ```
//! ```compile_fail,E0277
//! let team = lockstep_threads::Team::new(2).unwrap();
//! let shared = std::rc::Rc::new(1);
//! team.for_each(0..10, |_| { let _mine = shared.clone(); }).unwrap();
//! ```
//! What moves to other threads has to be `Send`:
//! ```compile_fail,E0277
//! let team = lockstep_threads::Team::new(2).unwrap();
//! let mut x = vec![std::rc::Rc::new(1); 100];
//! team.for_each_mut(&mut x, |x| *x = std::rc::Rc::new(2)).unwrap();
//! ```
//! A member must not leave its region:
//! ```compile_fail,E0521
//! let team = lockstep_threads::Team::new(2).unwrap();
//! let kept = std::sync::Mutex::new(Vec::new());
//! team.run(|me| kept.lock().unwrap().push(me)).unwrap();
//! ```
//! Nor its thread:
//! ```compile_fail,E0277
//! let team = lockstep_threads::Team::new(2).unwrap();
//! team.run(|me| {
//!     std::thread::scope(|s| { s.spawn(|| me.rank()); });
//! }).unwrap();
//! ```
//! A graph does not outlive what its closures borrow:
//! ```compile_fail,E0597
//! let mut graph = lockstep_threads::Graph::new();
//! {
//!     let mut count = 0;
//!     graph.node("count", |_| count += 1).unwrap();
//! }
//! graph.len();
//! ```
//! A plan does not outlive its team, and has its graph for itself:
//! ```compile_fail,E0505
//! let team = lockstep_threads::Team::new(2).unwrap();
//! let mut graph = lockstep_threads::Graph::new();
//! graph.node("one", |_| ()).unwrap();
//! let mut plan = lockstep_threads::Plan::new(&mut graph, &team).unwrap();
//! drop(team);
//! plan.run(1).unwrap();
//! ```
//! ```compile_fail,E0499
//! let team = lockstep_threads::Team::new(2).unwrap();
//! let mut graph = lockstep_threads::Graph::new();
//! graph.node("one", |_| ()).unwrap();
//! let mut first = lockstep_threads::Plan::new(&mut graph, &team).unwrap();
//! let mut second = lockstep_threads::Plan::new(&mut graph, &team).unwrap();
//! first.run(1).unwrap();
//! ```
//! The guard of a mutex stays on its thread:
//! ```compile_fail,E0277
//! let total = lockstep_threads::Mutex::new(0);
//! let guard = total.lock();
//! std::thread::scope(|s| { s.spawn(move || drop(guard)); });
//! ```
//! A member must not keep what it read in one step into the next, in which others write it:
//! ```compile_fail,E0499
//! let team = lockstep_threads::Team::new(2).unwrap();
//! let (mut x, mut y) = (vec![0; 8], vec![0; 8]);
//! let buffer = lockstep_threads::DoubleBuffer::new(2, &mut x, &mut y);
//! team.run(|me| {
//!     let mut part = buffer.part(me);
//!     let (now, _) = part.get();
//!     part.publish(|| me.sync_threads())?;
//!     assert_eq!(now[0], 0);
//!     Ok(())
//! }).unwrap();
//! ```
//! Nor may its part leave its thread, and nobody else may use what the members share:
//! ```compile_fail,E0277
//! let team = lockstep_threads::Team::new(2).unwrap();
//! let (mut x, mut y) = (vec![0; 8], vec![0; 8]);
//! let buffer = lockstep_threads::DoubleBuffer::new(2, &mut x, &mut y);
//! team.run(|me| {
//!     let mut part = buffer.part(me);
//!     std::thread::scope(|s| { s.spawn(|| part.get().1[0] = 1); });
//! }).unwrap();
//! ```
//! ```compile_fail,E0502
//! let team = lockstep_threads::Team::new(2).unwrap();
//! let (mut x, mut y) = (vec![0; 8], vec![0; 8]);
//! let buffer = lockstep_threads::DoubleBuffer::new(2, &mut x, &mut y);
//! assert_eq!(x[0], 0);
//! team.run(|me| buffer.part(me).get().1[0] = 1).unwrap();
//! ```
//! ```compile_fail,E0277
//! let team = lockstep_threads::Team::new(2).unwrap();
//! let (mut x, mut y) = (vec![std::cell::Cell::new(0); 8], vec![std::cell::Cell::new(0); 8]);
//! let buffer = lockstep_threads::DoubleBuffer::new(2, &mut x, &mut y);
//! team.run(|me| buffer.part(me).get().0[0].set(1)).unwrap();
//! ```
//! Values of reductions have to be `Copy`:
//! ```compile_fail,E0277
//! let team = lockstep_threads::Team::new(2).unwrap();
//! team.reduce_each(0..10, String::new(), |i| i.to_string(), |a, b| a + &b).unwrap();
//! ```

mod buffer;
mod error;
mod event;
pub mod ffi;
mod graph;
mod member;
mod mutex;
mod options;
mod panics;
mod team;

pub use buffer::{BufferPart, DoubleBuffer};
pub use error::{Error, Outcome, Result, Stopped};
pub use event::{Barrier, Event, WaitStatus};
pub use graph::{Graph, Node, Plan};
pub use member::{Member, Number};
pub use mutex::{Mutex, MutexGuard};
pub use options::{Binding, Policy, Schedule, TeamOptions};
pub use team::Team;

/// The version of the lockstep library that the program runs with.
#[must_use]
pub fn version() -> &'static str {
    // SAFETY: a text that lives for ever.
    unsafe { std::ffi::CStr::from_ptr(ffi::lockstep_version()) }.to_str().unwrap_or("")
}

/// How the library was built and what it found here: lines `name: value`.
///
/// # Errors
/// [`Error::Memory`].
pub fn build_info() -> Result<String> {
    // SAFETY: the buffer has that capacity.
    error::text_of(|buffer, capacity, length| unsafe { ffi::lockstep_build_info(buffer, capacity, length) })
}

/// On how many CPUs the process may run: affinity, cut by a container's quota.
#[must_use]
pub fn usable_cpus() -> usize {
    // SAFETY: no arguments.
    unsafe { ffi::lockstep_usable_cpus() }
}
