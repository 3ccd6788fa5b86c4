# SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
"""Contexts and timers, see callout_ctx_create(3)"""
import ctypes
import errno
import time

from . import _lib

# The maximum number of timers that a turn hands out.
_MOST = 8192


class Context:
    """Timers on one descriptor: of /dev/callout or, where it cannot be used, of a timerfd

    One thread at a time may use a context and its timers.
    """

    def __init__(self):
        # Maps the addresses of armed timers to timers, which also keeps alive the memory
        # that the library points to. Python runs signal handlers after calls, so between a
        # change of this map and its counterpart in the library there is no other call.
        self._armed = {}
        self._ctx = _lib.Ctx()
        _lib.check(_lib.ctx_create(ctypes.byref(self._ctx), _MOST))

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def close(self):
        """Disarm all timers. None can be armed any more."""
        self._ctx = None
        self._armed = {}

    def _open(self):
        if not self._ctx:
            raise ValueError("the context is closed")
        return self._ctx

    def fileno(self):
        """The descriptor. It is readable when turn() has something to do."""
        return _lib.ctx_fd(self._open())

    @property
    def on_timerfd(self):
        """The reason, as text, why the device is not used, or None if it is used."""
        why = _lib.ctx_on_timerfd(self._open())
        return _lib.open_strerror(why).decode() if why else None

    @property
    def pending(self):
        """Whether flush() or turn() has something to do that the descriptor does not signal."""
        return _lib.ctx_pending(self._open())

    def flush(self):
        """Move the kernel's callout: for a loop that watches the descriptor, before it sleeps.

        Return 0, or how many timers are left of a turn that an exception has ended. Then the
        descriptor does not signal them: the loop must call turn() before it sleeps.
        """
        return _lib.check(_lib.ctx_flush(self._open()))

    def turn(self, timeout=0):
        """Call the timers that are due. Wait for one for at most timeout seconds; None is for ever.

        Return how many were called. If a callback raises an exception, the next turn calls
        the remaining timers.
        """
        called = 0
        event = _lib.Event()
        self._wait(timeout)
        for timer in map(self._armed.get, _lib.due(self._open(), ctypes.byref(event))):
            if not self._ctx:
                break
            if not event.flags & event.PERIODIC:
                del self._armed[timer._address]
            called += 1
            timer.callback(timer)
        return called

    def _wait(self, timeout):
        if timeout is not None and timeout <= 0:
            return _lib.check(_lib.ctx_turn(self._open(), 0))
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            left = _lib.FOREVER if end is None else _lib.nanoseconds(end - time.monotonic())
            ret = _lib.ctx_wait(self._open(), left)
            if ret != -errno.EINTR:
                return _lib.check(ret)
            # Python calls the handler of the signal here.


class Timer:
    """A timer of a context, which calls callback(timer) in a turn"""

    def __init__(self, context, callback, clock=time.CLOCK_MONOTONIC):
        self.callback = callback
        self._context = context
        self._memory = ctypes.create_string_buffer(_lib.timer_size)
        self._public = _lib.PublicTimer.from_buffer(self._memory)
        self._public.clockid = clock
        self._address = ctypes.addressof(self._memory)

    def arm(self, seconds, period=0, slack=0):
        """Fire after this time, and then once a period until disarmed.

        It may fire up to slack later, together with other timers. This replaces an earlier
        arming.
        """
        self._arm(_lib.arm, seconds, period, slack)

    def arm_at(self, when, period=0, slack=0):
        """As arm(), but fire when the timer's clock shows this time."""
        self._arm(_lib.arm_at, when, period, slack)

    def _arm(self, arm, seconds, period, slack):
        nanoseconds = _lib.nanoseconds(seconds)
        period = _lib.nanoseconds(period)
        slack = _lib.nanoseconds(slack)
        context = self._context
        ctx = context._open()
        was_armed = self._address in context._armed
        context._armed[self._address] = self
        self._public.period = period
        self._public.slack = slack
        ret = arm(ctx, self._address, nanoseconds)
        if ret < 0 and not was_armed:
            self.disarm()
        _lib.check(ret)

    def disarm(self):
        """Disarm the timer. Return whether it was armed, and so will not fire."""
        context = self._context
        if not context._ctx or self._address not in context._armed:
            return False
        del context._armed[self._address]
        return _lib.disarm(context._ctx, self._address)

    @property
    def armed(self):
        return self._address in self._context._armed
