// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
//! A timer: the memory of C, and the handler.

use crate::{check, ffi, lock, nanos, Clock, Fired, Shared, LAST};
use std::alloc::{alloc_zeroed, dealloc, handle_alloc_error, Layout};
use std::os::raw::c_int;
use std::ptr::{addr_of_mut, NonNull};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use std::{fmt, io};

/// The memory of a timer of C. Its user must hold the lock of the context.
struct Raw(NonNull<ffi::Timer>);

// SAFETY: any thread may use a timer, one at a time.
unsafe impl Send for Raw {}
// SAFETY: a reference gives access to the address only.
unsafe impl Sync for Raw {}

impl Raw {
    fn layout() -> Layout {
        // SAFETY: it has no arguments.
        let size = unsafe { ffi::callout_timer_size() };
        Layout::from_size_align(size, std::mem::align_of::<ffi::Timer>()).expect("a small size")
    }

    /// All 0, as the library asks for.
    fn new() -> Self {
        let layout = Self::layout();
        // SAFETY: a timer is larger than nothing.
        let memory = unsafe { alloc_zeroed(layout) };
        match NonNull::new(memory.cast()) {
            Some(memory) => Raw(memory),
            None => handle_alloc_error(layout),
        }
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        // SAFETY: it was allocated so. It is not armed: drop() of its Timer has seen to that.
        unsafe { dealloc(self.0.as_ptr().cast(), Self::layout()) };
    }
}

pub(crate) type Handler<S> = dyn FnMut(&mut S, Fired) + Send;

/// The data to which a timer of C points.
pub(crate) struct Node<S> {
    raw: Raw,
    shared: Arc<Mutex<Shared>>,
    pub(crate) handler: Mutex<Box<Handler<S>>>,
}

/// A timer, which is cancelled when it is dropped.
///
/// While its handler runs in another thread, cancelling or dropping a timer does not wait for the
/// handler; it is not called again. A timer that is forgotten ([`std::mem::forget()`]) fires.
///
/// ```
/// use callout::{Clock, Context};
/// use std::time::Duration;
///
/// # fn main() -> std::io::Result<()> {
/// let mut context = Context::new()?;
/// let beat = context
///     .timer(|beats: &mut u64, fired| *beats += 1 + fired.overrun)
///     .clock(Clock::Boottime)
///     .period(Duration::from_millis(10))
///     .slack(Duration::from_millis(2));
/// beat.arm(Duration::ZERO)?;
/// let mut beats = 0;
/// while beats < 3 {
///     context.wait(&mut beats, None)?;
/// }
/// assert!(beat.cancel());
/// # Ok(())
/// # }
/// ```
pub struct Timer<S = ()> {
    node: Arc<Node<S>>,
    clock: Clock,
}

impl<S> Timer<S> {
    pub(crate) fn new(shared: Arc<Mutex<Shared>>, handler: Box<Handler<S>>) -> Self {
        let node = Arc::new(Node { raw: Raw::new(), shared, handler: Mutex::new(handler) });
        // SAFETY: the timer is not armed, and nothing else has it.
        unsafe { addr_of_mut!((*node.raw.0.as_ptr()).data).write(Arc::as_ptr(&node) as *mut _) };
        Timer { node, clock: Clock::Realtime }.clock(Clock::Monotonic)
    }

    /// Uses this clock from the next arming on. The default is [`Clock::Monotonic`].
    pub fn clock(mut self, clock: Clock) -> Self {
        // SAFETY: the lock is held; the member is the caller's.
        self.locked(|_, raw| unsafe { addr_of_mut!((*raw).clockid).write(clock as c_int) });
        self.clock = clock;
        self
    }

    /// Fires again after each period, from the next arming on. [`Duration::ZERO`]
    /// means once.
    pub fn period(self, period: Duration) -> Self {
        // SAFETY: as above.
        self.locked(|_, raw| unsafe { addr_of_mut!((*raw).period).write(nanos(period)) });
        self
    }

    /// Fires up to this much later, together with other timers, from the next
    /// arming on.
    pub fn slack(self, slack: Duration) -> Self {
        // SAFETY: as above.
        self.locked(|_, raw| unsafe { addr_of_mut!((*raw).slack).write(nanos(slack)) });
        self
    }

    /// Arms the timer, to fire after this time; if it is armed, moves it.
    ///
    /// The time counts from the next turn or sleep of the loop; from now after
    /// [`Context::before_sleep()`](crate::Context::before_sleep) and until the turn. More than 292
    /// years are 292 years. After an error the timer is not armed. The first timer of a
    /// clock may fail for lack of memory or descriptors, or of the right to an alarm clock.
    pub fn arm(&self, after: Duration) -> io::Result<()> {
        self.arm_by(ffi::callout_arm, after)
    }

    /// Arms or moves the timer, to fire when its clock shows this time.
    ///
    /// ```
    /// # use callout::{Clock, Context};
    /// # use std::time::Duration;
    /// # fn main() -> std::io::Result<()> {
    /// # let context: Context = Context::new()?;
    /// let timer = context.timer(|_, _| println!("tomorrow")).clock(Clock::Realtime);
    /// timer.arm_at(Clock::Realtime.now() + Duration::from_secs(24 * 3600))?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn arm_at(&self, time: Duration) -> io::Result<()> {
        self.arm_by(ffi::callout_arm_at, time)
    }

    fn arm_by(&self, arm: ffi::Arm, time: Duration) -> io::Result<()> {
        self.locked(|shared, raw| {
            let ctx = shared.ctx.ok_or_else(|| {
                io::Error::new(io::ErrorKind::NotConnected, "the timer's context was dropped")
            })?;
            // SAFETY: the context exists, and the lock is held.
            let mut ret = unsafe { arm(ctx.as_ptr(), raw, nanos(time)) };
            if ret == 0 && shared.asleep {
                // SAFETY: as above.
                ret = unsafe { ffi::callout_ctx_flush(ctx.as_ptr()) };
            }
            if ret < 0 {
                // SAFETY: as above.
                unsafe { ffi::callout_disarm(ctx.as_ptr(), raw) };
            }
            check(ret, || format!("arm a timer of the clock {:?}", self.clock)).map(drop)
        })
    }

    /// Cancels the timer, and returns whether it was armed: then its handler is not called.
    pub fn cancel(&self) -> bool {
        self.locked(|shared, raw| match shared.ctx {
            // SAFETY: the context exists, and the lock is held.
            Some(ctx) => unsafe { ffi::callout_disarm(ctx.as_ptr(), raw) },
            None => false,
        })
    }

    /// How long it is until the timer is due; `None` if it is not armed.
    pub fn remaining(&self) -> Option<Duration> {
        self.locked(|shared, raw| {
            shared.ctx?;
            // SAFETY: the context exists, and the lock is held.
            let left = unsafe { ffi::callout_remaining(raw) };
            (left <= LAST).then(|| Duration::from_nanos(left))
        })
    }

    /// Whether the timer is armed: it waits, or is due and its handler has not been called.
    pub fn is_armed(&self) -> bool {
        self.remaining().is_some()
    }

    fn locked<R>(&self, f: impl FnOnce(&mut Shared, *mut ffi::Timer) -> R) -> R {
        f(&mut lock(&self.node.shared), self.node.raw.0.as_ptr())
    }
}

impl<S> Drop for Timer<S> {
    fn drop(&mut self) {
        self.cancel();
    }
}

impl<S> fmt::Debug for Timer<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut timer = f.debug_struct("Timer");
        timer.field("clock", &self.clock).field("remaining", &self.remaining()).finish()
    }
}
