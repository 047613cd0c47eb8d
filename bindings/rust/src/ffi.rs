// SPDX-License-Identifier: MIT
//! The C interface, `bindings/c/lockstep.h`, as far as this crate uses it. For what it lacks, and for the contract of each
//! function, see that header. `tests/header.rs` compares the two.
#![allow(missing_docs, non_camel_case_types)]

use std::ffi::{c_char, c_int, c_uint, c_void};

macro_rules! opaque {
    ($($name:ident),*) => {$(
        #[repr(C)]
        pub struct $name {
            _bytes: [u8; 0],
            _is_neither_send_nor_sync: std::marker::PhantomData<*mut u8>,
        }
    )*};
}
opaque!(
    lockstep_team,
    lockstep_member,
    lockstep_event,
    lockstep_mutex,
    lockstep_barrier,
    lockstep_graph,
    lockstep_plan
);

pub const LOCKSTEP_C_VERSION_MAJOR: c_int = 1;

pub const LOCKSTEP_OK: c_int = 0;
pub const LOCKSTEP_STOPPED: c_int = -1;
pub const LOCKSTEP_TIMED_OUT: c_int = -2;
pub const LOCKSTEP_TERMINATED: c_int = -3;
pub const LOCKSTEP_BUSY: c_int = -4;
pub const LOCKSTEP_ERROR_ARGUMENT: c_int = -16;
pub const LOCKSTEP_ERROR_RANK: c_int = -17;
pub const LOCKSTEP_ERROR_USE: c_int = -18;
pub const LOCKSTEP_ERROR_GRAPH: c_int = -19;
pub const LOCKSTEP_ERROR_MEMORY: c_int = -20;
pub const LOCKSTEP_ERROR_SYSTEM: c_int = -21;
pub const LOCKSTEP_ERROR_EXCEPTION: c_int = -22;

pub const LOCKSTEP_POLICY_UNSET: i64 = 0;
pub const LOCKSTEP_POLICY_ADAPTIVE: i64 = -1;
pub const LOCKSTEP_POLICY_SPIN: i64 = -2;
pub const LOCKSTEP_POLICY_BLOCK: i64 = -3;
pub const LOCKSTEP_FOREVER: i64 = i64::MAX;

pub const LOCKSTEP_UNSET: i32 = 0;
pub const LOCKSTEP_YES: i32 = 1;
pub const LOCKSTEP_NO: i32 = 2;

pub const LOCKSTEP_BIND_UNSET: i32 = 0;
pub const LOCKSTEP_BIND_NONE: i32 = 1;
pub const LOCKSTEP_BIND_CLOSE: i32 = 2;
pub const LOCKSTEP_BIND_SPREAD: i32 = 3;
pub const LOCKSTEP_BIND_CPUS: i32 = 4;
pub const LOCKSTEP_BIND_CORES: i32 = 5;

pub const LOCKSTEP_STATIC: c_int = 0;
pub const LOCKSTEP_STATIC_CHUNKS: c_int = 1;
pub const LOCKSTEP_DYNAMIC: c_int = 2;
pub const LOCKSTEP_GUIDED: c_int = 3;

pub const LOCKSTEP_SUM: c_int = 0;
pub const LOCKSTEP_PRODUCT: c_int = 1;
pub const LOCKSTEP_MIN: c_int = 2;
pub const LOCKSTEP_MAX: c_int = 3;

pub const LOCKSTEP_LARGEST_VALUE: usize = 65536;

pub type lockstep_hook = Option<unsafe extern "C" fn(rank: usize, context: *mut c_void)>;

#[repr(C)]
pub struct lockstep_team_options {
    pub size: usize,
    pub members: usize,
    pub policy: i64,
    pub name: *const c_char,
    pub cpus: *const c_uint,
    pub cpu_count: usize,
    pub bind: i32,
    pub anticipate: i32,
    pub learn: i32,
    pub cpu_separation: i32,
    pub ledger: i32,
    pub reserved: i32,
    pub on_start: lockstep_hook,
    pub on_exit: lockstep_hook,
    pub hook_context: *mut c_void,
}

pub type lockstep_region_fn = unsafe extern "C" fn(me: *mut lockstep_member, context: *mut c_void) -> c_int;
pub type lockstep_block_fn = unsafe extern "C" fn(first: i64, last: i64, context: *mut c_void) -> c_int;
/// A loop of a member over blocks.
pub type MemberLoop = unsafe extern "C" fn(
    me: *mut lockstep_member,
    first: i64,
    last: i64,
    schedule: c_int,
    chunk: usize,
    function: lockstep_block_fn,
    context: *mut c_void,
) -> c_int;
pub type lockstep_block_value_fn =
    unsafe extern "C" fn(first: i64, last: i64, value: *mut c_void, context: *mut c_void) -> c_int;
pub type lockstep_combine_fn = unsafe extern "C" fn(into: *mut c_void, from: *const c_void, context: *mut c_void);
pub type lockstep_single_fn = unsafe extern "C" fn(context: *mut c_void) -> c_int;
pub type lockstep_node_fn = unsafe extern "C" fn(iteration: usize, context: *mut c_void) -> c_int;
pub type lockstep_test_fn = unsafe extern "C" fn(iteration: usize, answer: *mut c_int, context: *mut c_void) -> c_int;
pub type lockstep_wide_fn =
    unsafe extern "C" fn(me: *mut lockstep_member, iteration: usize, context: *mut c_void) -> c_int;

extern "C" {
    pub fn lockstep_last_error() -> *const c_char;
    pub fn lockstep_c_version() -> c_int;
    pub fn lockstep_version() -> *const c_char;
    pub fn lockstep_build_info(buffer: *mut c_char, capacity: usize, length: *mut usize) -> c_int;
    pub fn lockstep_usable_cpus() -> usize;

    pub fn lockstep_team_options_init(options: *mut lockstep_team_options, size: usize) -> c_int;
    pub fn lockstep_team_create(options: *const lockstep_team_options, team: *mut *mut lockstep_team) -> c_int;
    pub fn lockstep_team_destroy(team: *mut lockstep_team) -> c_int;
    pub fn lockstep_default_team(team: *mut *mut lockstep_team) -> c_int;
    pub fn lockstep_team_size(team: *const lockstep_team) -> usize;
    pub fn lockstep_team_run(team: *mut lockstep_team, function: lockstep_region_fn, context: *mut c_void) -> c_int;
    pub fn lockstep_team_run_on(
        team: *mut lockstep_team,
        members: usize,
        function: lockstep_region_fn,
        context: *mut c_void,
    ) -> c_int;
    pub fn lockstep_team_request_stop(team: *mut lockstep_team) -> c_int;
    pub fn lockstep_team_pause(team: *mut lockstep_team) -> c_int;
    pub fn lockstep_team_resume(team: *mut lockstep_team) -> c_int;
    pub fn lockstep_team_for_range(
        team: *mut lockstep_team,
        first: i64,
        last: i64,
        function: lockstep_block_fn,
        context: *mut c_void,
    ) -> c_int;
    pub fn lockstep_team_for_range_by(
        team: *mut lockstep_team,
        first: i64,
        last: i64,
        schedule: c_int,
        chunk: usize,
        function: lockstep_block_fn,
        context: *mut c_void,
    ) -> c_int;
    pub fn lockstep_team_reduce(
        team: *mut lockstep_team,
        first: i64,
        last: i64,
        value_size: usize,
        function: lockstep_block_value_fn,
        combine: lockstep_combine_fn,
        context: *mut c_void,
        result: *mut c_void,
    ) -> c_int;

    pub fn lockstep_member_rank(me: *const lockstep_member) -> usize;
    pub fn lockstep_member_size(me: *const lockstep_member) -> usize;
    pub fn lockstep_member_sync_threads(me: *mut lockstep_member) -> c_int;
    pub fn lockstep_member_sync_double(
        me: *mut lockstep_member,
        operation: c_int,
        value: f64,
        result: *mut f64,
    ) -> c_int;
    pub fn lockstep_member_sync_float(
        me: *mut lockstep_member,
        operation: c_int,
        value: f32,
        result: *mut f32,
    ) -> c_int;
    pub fn lockstep_member_sync_int64(
        me: *mut lockstep_member,
        operation: c_int,
        value: i64,
        result: *mut i64,
    ) -> c_int;
    pub fn lockstep_member_sync_count(me: *mut lockstep_member, condition: c_int, count: *mut usize) -> c_int;
    pub fn lockstep_member_sync_reduce(
        me: *mut lockstep_member,
        value_size: usize,
        value: *mut c_void,
        combine: lockstep_combine_fn,
        context: *mut c_void,
    ) -> c_int;
    pub fn lockstep_member_broadcast(
        me: *mut lockstep_member,
        root: usize,
        value_size: usize,
        value: *mut c_void,
    ) -> c_int;
    pub fn lockstep_member_single(
        me: *mut lockstep_member,
        function: lockstep_single_fn,
        context: *mut c_void,
    ) -> c_int;
    pub fn lockstep_member_block(
        me: *const lockstep_member,
        first: i64,
        last: i64,
        block_first: *mut i64,
        block_last: *mut i64,
    ) -> c_int;
    pub fn lockstep_member_for_range(
        me: *mut lockstep_member,
        first: i64,
        last: i64,
        schedule: c_int,
        chunk: usize,
        function: lockstep_block_fn,
        context: *mut c_void,
    ) -> c_int;
    pub fn lockstep_member_for_range_nowait(
        me: *mut lockstep_member,
        first: i64,
        last: i64,
        schedule: c_int,
        chunk: usize,
        function: lockstep_block_fn,
        context: *mut c_void,
    ) -> c_int;
    pub fn lockstep_member_reduce(
        me: *mut lockstep_member,
        first: i64,
        last: i64,
        value_size: usize,
        function: lockstep_block_value_fn,
        combine: lockstep_combine_fn,
        context: *mut c_void,
        result: *mut c_void,
    ) -> c_int;
    pub fn lockstep_member_publish(me: *mut lockstep_member, step: usize) -> c_int;
    pub fn lockstep_member_await_step(me: *mut lockstep_member, rank: usize, step: usize) -> c_int;
    pub fn lockstep_member_stop_requested(me: *const lockstep_member) -> c_int;
    pub fn lockstep_member_request_stop(me: *mut lockstep_member) -> c_int;

    pub fn lockstep_event_create(policy: i64, event: *mut *mut lockstep_event) -> c_int;
    pub fn lockstep_event_destroy(event: *mut lockstep_event);
    pub fn lockstep_event_notify(event: *mut lockstep_event) -> c_int;
    pub fn lockstep_event_wait(event: *mut lockstep_event) -> c_int;
    pub fn lockstep_event_wait_for(event: *mut lockstep_event, nanoseconds: i64) -> c_int;
    pub fn lockstep_event_try_wait(event: *mut lockstep_event) -> c_int;
    pub fn lockstep_event_terminate(event: *mut lockstep_event) -> c_int;

    pub fn lockstep_mutex_create(policy: i64, mutex: *mut *mut lockstep_mutex) -> c_int;
    pub fn lockstep_mutex_destroy(mutex: *mut lockstep_mutex);
    pub fn lockstep_mutex_lock(mutex: *mut lockstep_mutex) -> c_int;
    pub fn lockstep_mutex_try_lock(mutex: *mut lockstep_mutex) -> c_int;
    pub fn lockstep_mutex_lock_for(mutex: *mut lockstep_mutex, nanoseconds: i64) -> c_int;
    pub fn lockstep_mutex_unlock(mutex: *mut lockstep_mutex) -> c_int;

    pub fn lockstep_barrier_create(expected: usize, policy: i64, barrier: *mut *mut lockstep_barrier) -> c_int;
    pub fn lockstep_barrier_destroy(barrier: *mut lockstep_barrier);
    pub fn lockstep_barrier_arrive_and_wait(barrier: *mut lockstep_barrier) -> c_int;
    pub fn lockstep_barrier_arrive(barrier: *mut lockstep_barrier, arrival: *mut u64) -> c_int;
    pub fn lockstep_barrier_wait_for(barrier: *mut lockstep_barrier, arrival: u64, nanoseconds: i64) -> c_int;

    pub fn lockstep_graph_create(graph: *mut *mut lockstep_graph) -> c_int;
    pub fn lockstep_graph_destroy(graph: *mut lockstep_graph) -> c_int;
    pub fn lockstep_graph_node(
        graph: *mut lockstep_graph,
        name: *const c_char,
        function: lockstep_node_fn,
        context: *mut c_void,
        node: *mut usize,
    ) -> c_int;
    pub fn lockstep_graph_test(
        graph: *mut lockstep_graph,
        name: *const c_char,
        function: lockstep_test_fn,
        context: *mut c_void,
        node: *mut usize,
    ) -> c_int;
    pub fn lockstep_graph_wide_node(
        graph: *mut lockstep_graph,
        name: *const c_char,
        width: usize,
        function: lockstep_wide_fn,
        context: *mut c_void,
        node: *mut usize,
    ) -> c_int;
    pub fn lockstep_graph_size(graph: *const lockstep_graph) -> usize;
    pub fn lockstep_graph_edge(graph: *mut lockstep_graph, from: usize, to: usize) -> c_int;
    pub fn lockstep_graph_edge_if(graph: *mut lockstep_graph, test: usize, to: usize) -> c_int;
    pub fn lockstep_graph_edge_unless(graph: *mut lockstep_graph, test: usize, to: usize) -> c_int;
    pub fn lockstep_graph_repeat_while(graph: *mut lockstep_graph, test: usize, first: usize) -> c_int;
    pub fn lockstep_graph_feedback(graph: *mut lockstep_graph, from: usize, to: usize, delay: usize) -> c_int;
    pub fn lockstep_graph_channel(graph: *mut lockstep_graph, from: usize, to: usize, depth: usize) -> c_int;
    pub fn lockstep_graph_overlap(graph: *mut lockstep_graph) -> c_int;
    pub fn lockstep_graph_cost(graph: *mut lockstep_graph, node: usize, nanoseconds: i64) -> c_int;
    pub fn lockstep_graph_pin(graph: *mut lockstep_graph, node: usize, rank: usize) -> c_int;
    pub fn lockstep_graph_keep_near(graph: *mut lockstep_graph, node: usize, other: usize) -> c_int;
    pub fn lockstep_graph_dot(
        graph: *const lockstep_graph,
        buffer: *mut c_char,
        capacity: usize,
        length: *mut usize,
    ) -> c_int;

    pub fn lockstep_plan_create(
        graph: *const lockstep_graph,
        team: *mut lockstep_team,
        members: usize,
        plan: *mut *mut lockstep_plan,
    ) -> c_int;
    pub fn lockstep_plan_destroy(plan: *mut lockstep_plan) -> c_int;
    pub fn lockstep_plan_run(plan: *mut lockstep_plan, iterations: usize) -> c_int;
    pub fn lockstep_plan_run_until(plan: *mut lockstep_plan, stop: lockstep_test_fn, context: *mut c_void) -> c_int;
    pub fn lockstep_plan_measure(plan: *mut lockstep_plan, iterations: usize) -> c_int;
    pub fn lockstep_plan_refine(plan: *mut lockstep_plan) -> c_int;
    pub fn lockstep_plan_members(plan: *const lockstep_plan) -> usize;
    pub fn lockstep_plan_text(
        plan: *const lockstep_plan,
        buffer: *mut c_char,
        capacity: usize,
        length: *mut usize,
    ) -> c_int;
    pub fn lockstep_plan_report(
        plan: *const lockstep_plan,
        buffer: *mut c_char,
        capacity: usize,
        length: *mut usize,
    ) -> c_int;

    pub fn lockstep_team_keep_ledger(team: *mut lockstep_team, yes: c_int) -> c_int;
    pub fn lockstep_team_ledger_table(
        team: *const lockstep_team,
        buffer: *mut c_char,
        capacity: usize,
        length: *mut usize,
    ) -> c_int;
}
