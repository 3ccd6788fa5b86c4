// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
//! Timers for event loops: any number of them on one descriptor, by `libcallout`.
//!
//! The timers wait in the program, in a timing wheel. Arming, moving and cancelling one takes the
//! same time with ten timers or a million, and a system call only if it becomes the first that is
//! due. One callout of `/dev/callout` wakes the loop or, where the module is not loaded, one
//! timerfd. A timer never fires early.
//!
//! A [`Context`] has a descriptor, and runs the handlers of its [`Timer`]s. A handler gets a
//! reference to whatever [`Context::turn()`] was given, so handlers need no `Rc` or `Mutex`:
//!
//! ```
//! use callout::{Context, Timer};
//! use std::{collections::HashMap, time::Duration};
//!
//! struct Connection {
//!     idle: Timer<Server>,
//! }
//!
//! #[derive(Default)]
//! struct Server {
//!     connections: HashMap<u32, Connection>,
//! }
//!
//! # fn main() -> std::io::Result<()> {
//! let mut context = Context::new()?;
//! let mut server = Server::default();
//! for id in 0..1000 {
//!     let idle = context.timer(move |server: &mut Server, _| {
//!         server.connections.remove(&id); // drops the timer, too
//!     });
//!     idle.arm(Duration::from_millis(20))?;
//!     server.connections.insert(id, Connection { idle });
//! }
//! server.connections[&7].idle.arm(Duration::from_millis(40))?; // moves it
//!
//! while !server.connections.is_empty() {
//!     context.wait(&mut server, None)?;
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # In a loop
//!
//! A loop watches the descriptor ([`AsRawFd`](std::os::unix::io::AsRawFd), or with the feature
//! `mio` as an event source). It asks [`Context::before_sleep()`] how long it may sleep. When it
//! wakes up it looks at its sockets, and then calls [`Context::turn()`]: data that has come moves a
//! timer before the timer fires, however late the loop is. It may watch edges, as mio and tokio do.
//!
//! ```no_run
//! # #[cfg(feature = "mio")]
//! # fn main() -> std::io::Result<()> {
//! # struct Server;
//! # let mut server = Server;
//! use callout::Context;
//! use mio::{Events, Interest, Poll, Token};
//! use std::io::ErrorKind;
//!
//! let mut poll = Poll::new()?;
//! let mut events = Events::with_capacity(1024);
//! let mut context: Context<Server> = Context::new()?;
//! poll.registry().register(&mut context, Token(0), Interest::READABLE)?;
//! loop {
//!     match poll.poll(&mut events, context.before_sleep()?) {
//!         Err(error) if error.kind() == ErrorKind::Interrupted => continue,
//!         other => other?,
//!     }
//!     for event in &events { /* sockets */ }
//!     context.turn(&mut server)?;
//! }
//! # }
//! # #[cfg(not(feature = "mio"))]
//! # fn main() {}
//! ```
//!
//! # Threads
//!
//! Contexts, handles and timers are `Send` and `Sync`: any thread may arm, cancel and drop a timer,
//! and wakes the loop if necessary. Handlers are `Send`, and run one at a time in the thread that
//! calls [`Context::turn()`]. The value that this thread hands to them need not be `Send`.

#![deny(missing_docs, unsafe_op_in_unsafe_fn)]

mod context;
mod ffi;
#[cfg(feature = "mio")]
mod mio;
mod timer;

pub use context::{Context, Handle};
pub use timer::Timer;

use std::io;
use std::os::raw::c_int;
use std::ptr::NonNull;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The longest time: 292 years.
const LAST: u64 = u64::MAX >> 1;

/// A clock. Its time is a [`Duration`] since its epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Clock {
    /// Time since boot, without suspend, as [`std::time::Instant`].
    Monotonic = 1,
    /// Time since boot.
    Boottime = 7,
    /// Time since 1970, as [`std::time::SystemTime`]. A time of [`Timer::arm_at()`] follows
    /// settings of the clock, a time of [`Timer::arm()`] does not.
    Realtime = 0,
    /// As `Boottime`, and wakes the system from suspend, with the capability `CAP_WAKE_ALARM`.
    BoottimeAlarm = 9,
    /// As `Realtime`, and wakes the system from suspend, with the capability `CAP_WAKE_ALARM`.
    RealtimeAlarm = 8,
}

impl Clock {
    /// Returns the clock's time.
    pub fn now(self) -> Duration {
        // SAFETY: any number is allowed.
        Duration::from_nanos(unsafe { ffi::callout_now(self as c_int) })
    }
}

/// The arguments of a handler call.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Fired {
    /// When the timer was due, in its clock. For several periods, when the first was
    /// due. A time of [`Timer::arm()`] counts in `Monotonic` for `Realtime`, in
    /// `BoottimeAlarm` for `RealtimeAlarm`.
    pub due: Duration,
    /// When the turn began, in [`Clock::Monotonic`].
    pub at: Duration,
    /// Periods that have passed since `due` without a separate call.
    pub overrun: u64,
}

/// The context of C, until it is dropped.
struct Shared {
    ctx: Option<NonNull<ffi::Ctx>>,
    /// Whether a loop sleeps, so that arming a timer must move the kernel's
    /// callout.
    asleep: bool,
}

// SAFETY: the library lets any thread use a context, one at a time: Shared is in a Mutex.
unsafe impl Send for Shared {}

/// The data is whole after a panic: only a handler panics, and a handler is called
/// again.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Converts a negative error number of C. The text says which call has failed.
fn check(ret: c_int, what: impl FnOnce() -> String) -> io::Result<c_int> {
    if ret >= 0 {
        return Ok(ret);
    }
    let error = io::Error::from_raw_os_error(-ret);
    Err(io::Error::new(error.kind(), format!("{}: {error}", what())))
}

fn nanos(time: Duration) -> u64 {
    time.as_nanos().min(LAST.into()) as u64
}
