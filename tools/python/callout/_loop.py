# SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
"""asyncio's event loop, with its timers in libcallout

asyncio's own loop has a heap, and a heap keeps cancelled timers until they are half of
it. Here call_at() arms a timer of libcallout and cancel() disarms it, each in a time that does not
depend on how many there are. And asyncio's loop sleeps in steps of a millisecond; this one is woken
by the context's descriptor.
"""
import asyncio
import ctypes
import itertools
import selectors
import time

from . import _lib
from ._context import Context

_TIMER = bytes(_lib.PublicTimer(clockid=time.CLOCK_MONOTONIC)).ljust(_lib.timer_size, b"\0")
# Number of timers that are allocated together.
_BLOCK = 64
# Delay in seconds after an error of the kernel: a limit or no memory.
_RETRY = 0.1


class TimerHandle(asyncio.TimerHandle):
    __slots__ = ("_address",)


class EventLoop(asyncio.SelectorEventLoop):
    """A loop for asyncio.Runner(loop_factory=callout.EventLoop), or like asyncio.new_event_loop()'s

    Raise OSError if neither the device nor a timerfd is available.
    """

    def __init__(self, selector=None):
        super().__init__(selector)
        try:
            self._context = Context()
        except OSError:
            super().close()
            raise
        # Maps the addresses of armed timers to their handles. An address is in this or in
        # _free, or belongs to the code that has removed it from either: a finalizer or a signal
        # handler may call any method in between.
        self._handles = {}
        self._blocks = []
        self._free = []
        # The number of calls of callout_arm_at(), and how many of these calls the kernel's
        # callout takes into account: None if that is unknown, or timers are left of a turn.
        self._armings = 0
        self._flushed = None
        self._selector.register(self._context, selectors.EVENT_READ, (None, None))

    def close(self):
        super().close()
        self._context.close()
        self._handles.clear()

    def call_at(self, when, callback, *args, context=None):
        """As asyncio's."""
        if when is None:
            raise TypeError("when cannot be None")
        self._check_closed()
        if self._debug:
            self._check_thread()
            self._check_callback(callback, "call_at")
        nanoseconds = _lib.nanoseconds(when)
        handle = TimerHandle(when, callback, args, self, context)
        if handle._source_traceback:
            del handle._source_traceback[-1]
        try:
            address = self._free.pop()
        except IndexError:
            address = self._allocate()
        handle._address = address
        handle._scheduled = True
        self._handles[address] = handle
        self._armings += 1
        _lib.check(_lib.arm_at(self._context._ctx, address, nanoseconds))
        return handle

    def _allocate(self):
        block = ctypes.create_string_buffer(_TIMER * _BLOCK)
        first = ctypes.addressof(block)
        self._blocks.append(block)
        self._free.extend(range(first + len(_TIMER), first + len(_TIMER) * _BLOCK, len(_TIMER)))
        return first

    def _timer_handle_cancelled(self, handle):
        # The address of a handle that was called or cancelled may be another's.
        if (handle._scheduled and self._context._ctx and handle._address in self._handles and
                self._handles[handle._address] is handle):
            del self._handles[handle._address]
            _lib.disarm(self._context._ctx, handle._address)
            self._free.append(handle._address)

    def _run_once(self):
        # asyncio's own heap has only the timer of _failed().
        if self._flushed != self._armings and not self._scheduled:
            self._move(_lib.ctx_flush)
        super()._run_once()

    # asyncio appends timers after all handles that are ready for other reasons.
    def _process_events(self, event_list):
        super()._process_events(event_list)
        for key, _ in event_list:
            if key.fileobj is self._context:
                self._move(_lib.ctx_turn, 0)

    def _move(self, move, *args):
        """Move the kernel's callout by a turn or a flush, and take the timers that are due.

        A flush finds timers where a signal handler has ended the loop in a turn.
        """
        armings, self._flushed = self._armings, None
        ret = move(self._context._open(), *args)
        if ret == 0:
            self._flushed = armings
        elif ret < 0:
            self._failed(_lib.error(ret))
        else:
            fired, addresses = itertools.tee(_lib.due(self._context._open()))
            self._ready.extend(map(self._handles.pop, fired))
            self._free.extend(addresses)

    def _failed(self, error):
        if self._scheduled:
            return
        # Nothing may wake the loop for a timer, so a timer in asyncio's own heap does, to
        # try again.
        super().call_at(self.time() + _RETRY, bool)
        self.call_exception_handler({
            "message": "the callout of the loop could not be moved",
            "exception": error,
        })


def run(main, *, debug=None):
    """asyncio.run(), with this loop."""
    with asyncio.Runner(debug=debug, loop_factory=EventLoop) as runner:
        return runner.run(main)
