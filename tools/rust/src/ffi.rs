// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
//! The parts of `libcallout.h` that the crate uses, and poll(2).

use std::os::raw::{c_char, c_int, c_short, c_uint, c_ulong, c_void};

#[repr(C)]
pub struct Ctx {
    _private: [u8; 0],
}

/// The members of `struct callout_timer` that are the caller's: [`callout_timer_size()`] says how
/// long the structure is.
#[repr(C)]
pub struct Timer {
    pub data: *mut c_void,
    pub period: u64,
    pub slack: u64,
    pub clockid: c_int,
}

/// `struct callout_event`, which does not grow.
#[repr(C)]
#[derive(Default)]
pub struct Event {
    pub kind: u32,
    pub flags: u32,
    pub handle: u64,
    pub cookie: u64,
    pub func: u64,
    pub due: u64,
    pub fired: u64,
    pub overrun: u64,
    pub clockid: c_int,
    pub reserved: u32,
}

pub type Create = unsafe extern "C" fn(*mut *mut Ctx, c_uint) -> c_int;
pub type Arm = unsafe extern "C" fn(*mut Ctx, *mut Timer, u64) -> c_int;

#[link(name = "callout")]
extern "C" {
    pub fn callout_now(clockid: c_int) -> u64;
    pub fn callout_open_strerror(error: c_int) -> *const c_char;
    pub fn callout_timer_size() -> usize;
    pub fn callout_ctx_create(ctx: *mut *mut Ctx, nr_events: c_uint) -> c_int;
    pub fn callout_ctx_create_timerfd(ctx: *mut *mut Ctx, nr_events: c_uint) -> c_int;
    pub fn callout_ctx_on_timerfd(ctx: *const Ctx) -> c_int;
    pub fn callout_ctx_destroy(ctx: *mut Ctx);
    pub fn callout_ctx_fd(ctx: *const Ctx) -> c_int;
    pub fn callout_ctx_pending(ctx: *const Ctx) -> bool;
    pub fn callout_ctx_more(ctx: *const Ctx) -> bool;
    pub fn callout_ctx_turn(ctx: *mut Ctx, timeout: u64) -> c_int;
    pub fn callout_ctx_flush(ctx: *mut Ctx) -> c_int;
    pub fn callout_ctx_next(ctx: *mut Ctx, event: *mut Event) -> *mut Timer;
    pub fn callout_arm(ctx: *mut Ctx, timer: *mut Timer, time: u64) -> c_int;
    pub fn callout_arm_at(ctx: *mut Ctx, timer: *mut Timer, time: u64) -> c_int;
    pub fn callout_disarm(ctx: *mut Ctx, timer: *mut Timer) -> bool;
    pub fn callout_remaining(timer: *const Timer) -> u64;
}

#[repr(C)]
pub struct PollFd {
    pub fd: c_int,
    pub events: c_short,
    pub revents: c_short,
}

pub const POLLIN: c_short = 1;

extern "C" {
    pub fn poll(fds: *mut PollFd, nfds: c_ulong, timeout: c_int) -> c_int;
}
