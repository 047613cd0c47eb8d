// SPDX-License-Identifier: MIT
//! The C interface, `bindings/c/lockstep.h`, which has the contract of each function.
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
    lockstep_latch,
    lockstep_semaphore,
    lockstep_barrier,
    lockstep_graph,
    lockstep_plan
);

pub const LOCKSTEP_C_VERSION_MAJOR: c_int = 1;
pub const LOCKSTEP_FOREVER: i64 = i64::MAX;
pub const LOCKSTEP_LARGEST_VALUE: usize = 65536;

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
    pub on_start: Option<lockstep_hook>,
    pub on_exit: Option<lockstep_hook>,
    pub hook_context: *mut c_void,
}

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

// Constants, callbacks and functions, as build.rs finds them in the header.
include!(concat!(env!("OUT_DIR"), "/ffi.rs"));
