// SPDX-License-Identifier: MIT
//! Graphs: which piece of work comes before which. Plans: which member runs which piece when.
use crate::error::{self, check, Error, Outcome, Result};
use crate::ffi;
use crate::member::Member;
use crate::options::nanoseconds;
use crate::panics::Panics;
use crate::team::Team;
use std::ffi::{c_int, c_void, CString};
use std::marker::PhantomData;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A node of a [`Graph`]. It is valid as long as the graph lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Node {
    graph: u64,
    number: usize,
}

impl Node {
    /// The number of the node, from 0 in the order in which nodes were made.
    #[must_use]
    pub fn number(&self) -> usize {
        self.number
    }
}

/// Nodes, edges between them, loops and feedback. A [`Plan`] runs it.
///
/// What a node does happens before every node that it has an edge to. Two calls of one node never run at the same time, so
/// its closure may change what it has captured. Nodes may run at the same time if no path of edges leads from one to the
/// other. What several nodes change lies in a [`crate::Mutex`], in atomics, or in a channel: the compiler does not know the
/// edges.
///
/// Closures may borrow: the graph cannot outlive what they borrow.
///
/// ```
/// # fn main() -> lockstep_threads::Result<()> {
/// use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
/// let residual = AtomicU32::new(64);
/// let mut graph = lockstep_threads::Graph::new();
/// let halve = graph.node("halve", |_| residual.store(residual.load(Relaxed) / 2, Relaxed))?;
/// let test = graph.test("test", |_| residual.load(Relaxed) > 1)?; // true: again
/// graph.edge(halve, test)?;
/// graph.repeat_while(test, halve)?;
/// let team = lockstep_threads::Team::new(2)?;
/// lockstep_threads::Plan::new(&mut graph, &team)?.run(1)?;
/// assert_eq!(residual.load(Relaxed), 1);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`Error::Argument`] for a name with a zero in it, a node of another graph, an edge from a node to itself, and a channel
/// of depth 0; [`Error::Memory`].
pub struct Graph<'a> {
    raw: NonNull<ffi::lockstep_graph>,
    id: u64,
    /// Boxed, because nodes hold its address.
    panics: Box<Panics>,
    /// The closures of the nodes, by address.
    functions: Vec<Box<dyn Held + 'a>>,
    /// Closures may hold what lives as long as 'a, and change it. So 'a must not be shortened.
    invariant: PhantomData<fn(&'a ()) -> &'a ()>,
}

// SAFETY: all closures are Send, and the C interface lets any thread use a graph, one at a time.
unsafe impl Send for Graph<'_> {}
// SAFETY: a shared graph only gives texts.
unsafe impl Sync for Graph<'_> {}

/// Anything that is kept until the graph ends.
trait Held {}
impl<T> Held for T {}

/// The closure of a node, behind a context pointer.
struct Work<F> {
    function: F,
    panics: *const Panics,
}

unsafe extern "C" fn call_node<F, R>(iteration: usize, context: *mut c_void) -> c_int
where
    F: FnMut(usize) -> R + Send,
    R: Outcome,
{
    // SAFETY: the graph keeps the Work; a node never runs beside itself, and one plan at a time has the graph.
    let work = unsafe { &mut *context.cast::<Work<F>>() };
    // SAFETY: the graph has the panics.
    unsafe { &*work.panics }.catch(0, || (work.function)(iteration))
}

unsafe extern "C" fn call_test<F>(iteration: usize, answer: *mut c_int, context: *mut c_void) -> c_int
where
    F: FnMut(usize) -> bool,
{
    // SAFETY: as in call_node.
    let work = unsafe { &mut *context.cast::<Work<F>>() };
    // SAFETY: as in call_node.
    unsafe { &*work.panics }.catch(0, || {
        let yes = (work.function)(iteration);
        // SAFETY: room for an answer.
        unsafe { *answer = c_int::from(yes) };
    })
}

unsafe extern "C" fn call_wide<F, R>(me: *mut ffi::lockstep_member, iteration: usize, context: *mut c_void) -> c_int
where
    F: Fn(&Member, usize) -> R + Sync,
    R: Outcome,
{
    // SAFETY: as in call_node, but several members share it.
    let work = unsafe { &*context.cast::<Work<F>>() };
    // SAFETY: the member is of this thread until the callback returns.
    let member = unsafe { Member::new(me) };
    // SAFETY: as in call_node.
    unsafe { &*work.panics }.catch(member.rank(), || (work.function)(&member, iteration))
}

impl<'a> Graph<'a> {
    /// A graph without nodes.
    ///
    /// # Panics
    /// If memory is out.
    #[must_use]
    pub fn new() -> Graph<'a> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Graph {
            // SAFETY: room for a pointer.
            raw: error::surely_made(|raw| unsafe { ffi::lockstep_graph_create(raw) }),
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            panics: Box::default(),
            functions: Vec::new(),
            invariant: PhantomData,
        }
    }

    /// How many nodes the graph has.
    #[must_use]
    pub fn len(&self) -> usize {
        // SAFETY: here and below, the graph lives.
        unsafe { ffi::lockstep_graph_size(self.raw.as_ptr()) }
    }

    /// Whether the graph has no nodes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds a node; `f` gets the number of the iteration, from 0 in each run. The name is for messages and pictures.
    pub fn node<F, R>(&mut self, name: &str, f: F) -> Result<Node>
    where
        F: FnMut(usize) -> R + Send + 'a,
        R: Outcome,
    {
        self.add(name, f, |graph, name, context, number| unsafe {
            ffi::lockstep_graph_node(graph, name, call_node::<F, R>, context, number)
        })
    }

    /// Adds a node that decides, for [`Graph::edge_if`], [`Graph::edge_unless`] and [`Graph::repeat_while`].
    pub fn test<F>(&mut self, name: &str, f: F) -> Result<Node>
    where
        F: FnMut(usize) -> bool + Send + 'a,
    {
        self.add(name, f, |graph, name, context, number| unsafe {
            ffi::lockstep_graph_test(graph, name, call_test::<F>, context, number)
        })
    }

    /// Adds a node that `width` members run together, with all constructs of members among them; 0: all members of the plan.
    pub fn wide_node<F, R>(&mut self, name: &str, width: usize, f: F) -> Result<Node>
    where
        F: Fn(&Member, usize) -> R + Send + Sync + 'a,
        R: Outcome,
    {
        self.add(name, f, |graph, name, context, number| unsafe {
            ffi::lockstep_graph_wide_node(graph, name, width, call_wide::<F, R>, context, number)
        })
    }

    fn add<F: Send + 'a>(
        &mut self,
        name: &str,
        function: F,
        make: impl FnOnce(*mut ffi::lockstep_graph, *const std::ffi::c_char, *mut c_void, *mut usize) -> c_int,
    ) -> Result<Node> {
        let name = CString::new(name)
            .map_err(|_| Error::Argument("lockstep_threads::Graph: the name of a node has a zero in it".into()))?;
        let kept = Kept::new(Work { function, panics: ptr::from_ref(&*self.panics) });
        let mut number = 0;
        check(make(self.raw.as_ptr(), name.as_ptr(), kept.0.as_ptr().cast(), &mut number))?;
        self.functions.push(Box::new(kept));
        Ok(Node { graph: self.id, number })
    }

    // --- edges ---

    /// What `from` does happens before `to`.
    pub fn edge(&mut self, from: Node, to: Node) -> Result<&mut Self> {
        self.connect(from, to, |graph, from, to| unsafe { ffi::lockstep_graph_edge(graph, from, to) })
    }

    /// The same, and `to` is skipped where `test` answers false.
    pub fn edge_if(&mut self, test: Node, to: Node) -> Result<&mut Self> {
        self.connect(test, to, |graph, from, to| unsafe { ffi::lockstep_graph_edge_if(graph, from, to) })
    }

    /// The same, and `to` is skipped where `test` answers true.
    pub fn edge_unless(&mut self, test: Node, to: Node) -> Result<&mut Self> {
        self.connect(test, to, |graph, from, to| unsafe { ffi::lockstep_graph_edge_unless(graph, from, to) })
    }

    /// All nodes on ways from `first` to `test` run again while `test` answers true.
    pub fn repeat_while(&mut self, test: Node, first: Node) -> Result<&mut Self> {
        self.connect(test, first, |graph, test, first| unsafe { ffi::lockstep_graph_repeat_while(graph, test, first) })
    }

    /// Iteration i of `to` comes after iteration i - `delay` of `from`.
    pub fn feedback(&mut self, from: Node, to: Node, delay: usize) -> Result<&mut Self> {
        self.connect(from, to, |graph, from, to| unsafe { ffi::lockstep_graph_feedback(graph, from, to, delay) })
    }

    /// An edge that lets iterations overlap: `from` is up to `depth` iterations ahead of `to`. Iteration i of both uses
    /// place i % `depth` of what they share.
    pub fn channel(&mut self, from: Node, to: Node, depth: usize) -> Result<&mut Self> {
        self.connect(from, to, |graph, from, to| unsafe { ffi::lockstep_graph_channel(graph, from, to, depth) })
    }

    /// Iterations overlap as far as feedback and channels allow. Without this call they follow each other.
    pub fn overlap(&mut self) -> Result<&mut Self> {
        check(unsafe { ffi::lockstep_graph_overlap(self.raw.as_ptr()) })?;
        Ok(self)
    }

    // --- hints ---

    /// How long the node takes. Without hints the plan measures.
    pub fn cost(&mut self, node: Node, time: Duration) -> Result<&mut Self> {
        self.connect(node, node, |graph, node, _| unsafe { ffi::lockstep_graph_cost(graph, node, nanoseconds(time)) })
    }

    /// Only the member of this rank runs it.
    pub fn pin(&mut self, node: Node, rank: usize) -> Result<&mut Self> {
        self.connect(node, node, |graph, node, _| unsafe { ffi::lockstep_graph_pin(graph, node, rank) })
    }

    /// The node goes to the same member as `other`, whose data it uses.
    pub fn keep_near(&mut self, node: Node, other: Node) -> Result<&mut Self> {
        self.connect(node, other, |graph, node, other| unsafe { ffi::lockstep_graph_keep_near(graph, node, other) })
    }

    fn connect(
        &mut self,
        a: Node,
        b: Node,
        call: impl FnOnce(*mut ffi::lockstep_graph, usize, usize) -> c_int,
    ) -> Result<&mut Self> {
        if a.graph != self.id || b.graph != self.id {
            return Err(Error::Argument("lockstep_threads::Graph: this node is of another graph".into()));
        }
        check(call(self.raw.as_ptr(), a.number, b.number))?;
        Ok(self)
    }

    /// A text for Graphviz.
    pub fn dot(&self) -> Result<String> {
        error::text_of(|buffer, capacity, length| unsafe {
            ffi::lockstep_graph_dot(self.raw.as_ptr(), buffer, capacity, length)
        })
    }
}

impl Default for Graph<'_> {
    fn default() -> Self {
        Graph::new()
    }
}

impl Drop for Graph<'_> {
    fn drop(&mut self) {
        // SAFETY: no plan of it lives, since plans borrow it. If a plan was leaked, this is refused, and the closures
        // are leaked, too.
        if unsafe { ffi::lockstep_graph_destroy(self.raw.as_ptr()) } != ffi::LOCKSTEP_OK {
            std::mem::forget(std::mem::take(&mut self.functions));
        }
    }
}

impl std::fmt::Debug for Graph<'_> {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.debug_struct("Graph").field("nodes", &self.len()).finish_non_exhaustive()
    }
}

/// A box whose contents the C interface has the address of. Only callbacks make references to them.
struct Kept<T>(NonNull<T>);

impl<T> Kept<T> {
    fn new(value: T) -> Kept<T> {
        Kept(NonNull::from(Box::leak(Box::new(value))))
    }
}

impl<T> Drop for Kept<T> {
    fn drop(&mut self) {
        // SAFETY: made from a box, and dropped once.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

/// A graph on a team: which member runs which node when. A run allocates nothing, and has no queue.
///
/// A plan borrows its graph alone, since closures of nodes may change what they have captured.
///
/// # Errors
/// When it is made: [`Error::Graph`], with a text that names the nodes, if the graph makes no sense or needs more members than
/// there are; [`Error::Argument`] if the team has not so many members. Runs: [`Error::Stopped`] where a node gave
/// `Err(Stopped)`; [`Error::System`] as [`Team::run`]. All: [`Error::Memory`].
pub struct Plan<'g, 'a> {
    raw: NonNull<ffi::lockstep_plan>,
    panics: &'g Panics,
    of: PhantomData<&'g mut Graph<'a>>,
}

// SAFETY: one thread at a time uses a plan; the closures are Send.
unsafe impl Send for Plan<'_, '_> {}

impl<'g, 'a> Plan<'g, 'a> {
    /// A plan for all members of the team.
    pub fn new(graph: &'g mut Graph<'a>, team: &'g Team) -> Result<Plan<'g, 'a>> {
        Plan::on(graph, team, 0)
    }

    /// A plan for the first `members` members; 0: all.
    pub fn on(graph: &'g mut Graph<'a>, team: &'g Team, members: usize) -> Result<Plan<'g, 'a>> {
        let of = graph.raw.as_ptr();
        // SAFETY: graph and team are borrowed as long as the plan lives.
        let raw = error::made(|raw| unsafe { ffi::lockstep_plan_create(of, team.raw(), members, raw) })?;
        Ok(Plan { raw, panics: &graph.panics, of: PhantomData })
    }

    /// Runs this many iterations. Inside a region of the same team they run on the caller alone.
    ///
    /// # Panics
    /// If a node panics: nodes that have begun end, the others do not begin, and the panic goes on here. The plan can be run
    /// again.
    pub fn run(&mut self, iterations: usize) -> Result<()> {
        // SAFETY: here and below, the plan lives.
        let code = unsafe { ffi::lockstep_plan_run(self.raw.as_ptr(), iterations) };
        self.panics.finish(code)
    }

    /// Runs iterations until `stop` gives true. The calling thread calls it before each iteration, with its number.
    ///
    /// # Panics
    /// As [`Plan::run`]; and where `stop` panics.
    pub fn run_until<F: FnMut(usize) -> bool>(&mut self, stop: F) -> Result<()> {
        let work = Kept::new(Work { function: stop, panics: self.panics });
        let code = unsafe { ffi::lockstep_plan_run_until(self.raw.as_ptr(), call_test::<F>, work.0.as_ptr().cast()) };
        drop(work);
        self.panics.finish(code)
    }

    /// As [`Plan::run`], with a look at the clock at each node, for [`Plan::refine`] and [`Plan::report`].
    pub fn measure(&mut self, iterations: usize) -> Result<()> {
        let code = unsafe { ffi::lockstep_plan_measure(self.raw.as_ptr(), iterations) };
        self.panics.finish(code)
    }

    /// Makes the plan anew with the times that were measured.
    pub fn refine(&mut self) -> Result<()> {
        check(unsafe { ffi::lockstep_plan_refine(self.raw.as_ptr()) })
    }

    /// How many members the plan uses: the first of the team.
    #[must_use]
    pub fn members(&self) -> usize {
        unsafe { ffi::lockstep_plan_members(self.raw.as_ptr()) }
    }

    /// The plan, line by line: for each member its nodes and waits.
    pub fn text(&self) -> Result<String> {
        error::text_of(|buffer, capacity, length| unsafe {
            ffi::lockstep_plan_text(self.raw.as_ptr(), buffer, capacity, length)
        })
    }

    /// What is predicted and measured, and where time is lost.
    pub fn report(&self) -> Result<String> {
        error::text_of(|buffer, capacity, length| unsafe {
            ffi::lockstep_plan_report(self.raw.as_ptr(), buffer, capacity, length)
        })
    }
}

impl Drop for Plan<'_, '_> {
    fn drop(&mut self) {
        // SAFETY: nobody borrows it, so it does not run.
        unsafe { ffi::lockstep_plan_destroy(self.raw.as_ptr()) };
    }
}

impl std::fmt::Debug for Plan<'_, '_> {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.debug_struct("Plan").field("members", &self.members()).finish_non_exhaustive()
    }
}
