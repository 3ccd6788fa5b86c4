// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
//! A context, and the handle that makes its timers.

use crate::timer::Node;
use crate::{check, ffi, lock, Fired, Shared, Timer};
use std::ffi::CStr;
use std::marker::PhantomData;
use std::os::raw::{c_int, c_uint};
use std::os::unix::io::{AsRawFd, RawFd};
use std::ptr::NonNull;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use std::{fmt, io};

/// The maximum number of handlers that a turn calls.
const MOST: c_uint = 4096;

/// Timers, and the descriptor that wakes a loop when they are due.
///
/// The timers of a dropped context do not fire, and arming one is an error.
///
/// A handler cannot drop or turn the context whose turn it is in:
///
/// ```compile_fail
/// struct Server { context: callout::Context<Server> }
/// let mut server = Server { context: callout::Context::new().unwrap() };
/// server.context.turn(&mut server);
/// ```
pub struct Context<S = ()> {
    handle: Handle<S>,
    fd: RawFd,
    /// Whether timers may be due that the descriptor does not signal again.
    again: bool,
}

impl<S> Context<S> {
    /// Makes a context on `/dev/callout` or, if the device cannot be used, on a timerfd.
    pub fn new() -> io::Result<Self> {
        Self::create(ffi::callout_ctx_create)
    }

    /// Makes a context on a timerfd.
    pub fn new_on_timerfd() -> io::Result<Self> {
        Self::create(ffi::callout_ctx_create_timerfd)
    }

    fn create(create: ffi::Create) -> io::Result<Self> {
        let mut ctx = std::ptr::null_mut();
        // SAFETY: ctx is valid for writing the pointer.
        check(unsafe { create(&mut ctx, MOST) }, || "make a context of timers".into())?;
        let ctx = NonNull::new(ctx).expect("a context, as there was no error");
        // SAFETY: the context exists.
        let fd = unsafe { ffi::callout_ctx_fd(ctx.as_ptr()) };
        let shared = Shared { ctx: Some(ctx), asleep: false };
        Ok(Context {
            handle: Handle { shared: Arc::new(Mutex::new(shared)), state: PhantomData },
            fd,
            again: false,
        })
    }

    /// Says why the context is on a timerfd, and what to do about it: `None` on the device.
    pub fn why_timerfd(&self) -> Option<String> {
        // SAFETY: the context exists; the text is static, or lives until the next call.
        self.with(|_, ctx| match unsafe { ffi::callout_ctx_on_timerfd(ctx) } {
            0 => None,
            1 => Some("a timerfd was asked for".into()),
            error => {
                let text = unsafe { CStr::from_ptr(ffi::callout_open_strerror(error)) };
                Some(text.to_string_lossy().into())
            }
        })
    }

    /// Returns a handle, which makes timers of this context anywhere.
    pub fn handle(&self) -> Handle<S> {
        self.handle.clone()
    }

    /// As [`Handle::timer()`].
    pub fn timer<F>(&self, handler: F) -> Timer<S>
    where
        F: FnMut(&mut S, Fired) + Send + 'static,
    {
        self.handle.timer(handler)
    }

    /// Tells the kernel when to wake the loop. Returns how long it may sleep: `None` is until the
    /// descriptor is readable, [`Duration::ZERO`] is not at all. mio's `Poll::poll()` takes that.
    pub fn before_sleep(&mut self) -> io::Result<Option<Duration>> {
        let again = self.again;
        self.with(|shared, ctx| {
            // SAFETY: the context exists.
            let left = match unsafe { ffi::callout_ctx_pending(ctx) } {
                true => check(unsafe { ffi::callout_ctx_flush(ctx) }, told)?,
                false => 0,
            };
            shared.asleep = left == 0 && !again;
            Ok(if shared.asleep { None } else { Some(Duration::ZERO) })
        })
    }

    /// Calls the handlers of timers that are due, and returns how many. Does not wait.
    ///
    /// Handlers may arm, make, cancel and drop any timer, their own too. If a handler panics,
    /// the next turn calls the remaining handlers.
    pub fn turn(&mut self, state: &mut S) -> io::Result<usize> {
        // Also after a failure: a callout that was not moved has been signalled.
        self.again = true;
        self.with(|shared, ctx| {
            shared.asleep = false;
            // SAFETY: the context exists.
            check(unsafe { ffi::callout_ctx_turn(ctx, 0) }, told)
        })?;
        let mut called = 0;
        while let Some((node, fired)) = self.next() {
            lock(&node.handler)(state, fired);
            called += 1;
        }
        // SAFETY: the context exists.
        let more = self.with(|_, ctx| unsafe { ffi::callout_ctx_more(ctx) });
        self.again = called > 0 || more;
        Ok(called)
    }

    /// Waits until timers are due or, if there is one, the timeout has passed; then
    /// does as [`Context::turn()`]. For programs without another loop.
    ///
    /// A signal ends the wait with an error of the kind
    /// [`io::ErrorKind::Interrupted`].
    pub fn wait(&mut self, state: &mut S, timeout: Option<Duration>) -> io::Result<usize> {
        let end = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        let left = || end.map(|end| end.saturating_duration_since(Instant::now()));
        loop {
            let sleep = self.before_sleep()?.or_else(left);
            poll(self.fd, sleep)?;
            let called = self.turn(state)?;
            if called > 0 || left() == Some(Duration::ZERO) {
                return Ok(called);
            }
        }
    }

    fn with<R>(&self, f: impl FnOnce(&mut Shared, *mut ffi::Ctx) -> R) -> R {
        let mut shared = lock(&self.handle.shared);
        let ctx = shared.ctx.expect("only drop() takes it").as_ptr();
        f(&mut shared, ctx)
    }

    /// The next timer of the turn. It is alive while its handler runs, whoever drops it.
    fn next(&mut self) -> Option<(Arc<Node<S>>, Fired)> {
        let mut event = ffi::Event::default();
        self.with(|_, ctx| {
            // SAFETY: the context exists. The timer was armed, so it is in a Node<S>, to which data
            // points, and which has not been dropped: that would have disarmed the timer, with the
            // lock that is held here.
            unsafe {
                let timer = NonNull::new(ffi::callout_ctx_next(ctx, &mut event))?;
                let node = (*timer.as_ptr()).data as *const Node<S>;
                Arc::increment_strong_count(node);
                let fired = Fired {
                    due: Duration::from_nanos(event.due),
                    at: Duration::from_nanos(event.fired),
                    overrun: event.overrun,
                };
                Some((Arc::from_raw(node), fired))
            }
        })
    }
}

fn told() -> String {
    "tell the kernel when timers are due".into()
}

impl<S> AsRawFd for Context<S> {
    fn as_raw_fd(&self) -> RawFd {
        self.fd
    }
}

impl<S> Drop for Context<S> {
    fn drop(&mut self) {
        if let Some(ctx) = lock(&self.handle.shared).ctx.take() {
            // SAFETY: nothing refers to the context.
            unsafe { ffi::callout_ctx_destroy(ctx.as_ptr()) };
        }
    }
}

/// Waits until the descriptor is readable, or for that time, rounded up.
fn poll(fd: RawFd, timeout: Option<Duration>) -> io::Result<()> {
    let ms = timeout.map_or(-1, |time| {
        let ms = (time.as_nanos() + 999_999) / 1_000_000;
        c_int::try_from(ms).unwrap_or(c_int::MAX)
    });
    let mut fd = ffi::PollFd { fd, events: ffi::POLLIN, revents: 0 };
    // SAFETY: poll is one struct pollfd.
    match unsafe { ffi::poll(&mut fd, 1, ms) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// Makes timers of a [`Context`] where the context is not at hand, as in handlers and other
/// threads.
pub struct Handle<S = ()> {
    shared: Arc<Mutex<Shared>>,
    /// Invariant in `S`: the value that a turn hands to a handler must live as long as the
    /// handler expects.
    ///
    /// ```compile_fail
    /// # use callout::Handle;
    /// fn shorter<'a>(handle: Handle<&'static str>) -> Handle<&'a str> { handle }
    /// ```
    ///
    /// ```compile_fail
    /// # use callout::Handle;
    /// fn longer<'a>(handle: Handle<&'a str>) -> Handle<&'static str> { handle }
    /// ```
    state: PhantomData<fn(&mut S)>,
}

impl<S> Handle<S> {
    /// Makes a timer, which calls the handler each time that it fires.
    ///
    /// The handler owns the values that it uses, as the timer may be forgotten, and
    /// is `Send`:
    ///
    /// ```compile_fail
    /// let context = callout::Context::new().unwrap();
    /// let mut count = 0;
    /// let timer = context.timer(|_: &mut (), _| count += 1);
    /// ```
    ///
    /// ```compile_fail
    /// let context = callout::Context::new().unwrap();
    /// let shared = std::rc::Rc::new(0);
    /// let timer = context.timer(move |_: &mut (), _| println!("{shared}"));
    /// ```
    pub fn timer<F>(&self, handler: F) -> Timer<S>
    where
        F: FnMut(&mut S, Fired) + Send + 'static,
    {
        Timer::new(self.shared.clone(), Box::new(handler))
    }
}

impl<S> Clone for Handle<S> {
    fn clone(&self) -> Self {
        Handle { shared: self.shared.clone(), state: PhantomData }
    }
}

impl<S> fmt::Debug for Context<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context").field("fd", &self.fd).finish_non_exhaustive()
    }
}

impl<S> fmt::Debug for Handle<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").finish_non_exhaustive()
    }
}
