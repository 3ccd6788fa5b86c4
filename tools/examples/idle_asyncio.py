#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
"""idle_asyncio.py - timers of libcallout in an asyncio loop, and 100 000 idle timeouts

    idle_asyncio.py [CONNECTIONS]

Timers is what a program needs; the rest is its test, as in idle.c.
"""
import asyncio
import ctypes
import os
import random
import sys
import time
from ctypes import byref, c_bool, c_int, c_uint, c_uint64, c_void_p


class callout_timer(ctypes.Structure):
    """What a program may know of it: callout_timer_size() says how long it is."""

    _fields_ = [
        ("data", c_void_p),
        ("period", c_uint64),
        ("slack", c_uint64),
        ("clockid", c_int),
    ]


def load():
    lib = ctypes.CDLL("libcallout.so.1")
    lib.callout_arm.argtypes = [c_void_p, c_void_p, c_uint64]
    lib.callout_disarm.argtypes = [c_void_p, c_void_p]
    lib.callout_disarm.restype = c_bool
    lib.callout_timer_size.restype = ctypes.c_size_t
    lib.callout_ctx_create.argtypes = [c_void_p, c_uint]
    lib.callout_ctx_destroy.argtypes = [c_void_p]
    lib.callout_ctx_destroy.restype = None
    lib.callout_ctx_fd.argtypes = [c_void_p]
    lib.callout_ctx_flush.argtypes = [c_void_p]
    lib.callout_ctx_turn.argtypes = [c_void_p, c_uint64]
    lib.callout_ctx_pending.argtypes = [c_void_p]
    lib.callout_ctx_pending.restype = c_bool
    lib.callout_ctx_next.argtypes = [c_void_p, c_void_p]
    lib.callout_ctx_next.restype = c_void_p
    return lib


FOREVER = 2 ** 63 - 1
RETRY = 0.1


def check(ret, path=None):
    if ret < 0:
        raise OSError(-ret, os.strerror(-ret), path)
    return ret


def nanoseconds(seconds):
    """As the library has them: ctypes would take them modulo 2^64."""
    return int(min(max(seconds * 1e9, 0), FOREVER))


class Timer:
    """A timer that calls callback(timer) when it has fired; see Timers.timer()."""

    def __init__(self, timers, callback):
        self.timers = timers
        self.callback = callback
        self.memory = (c_uint64 * (timers.size // 8))()
        self.c = callout_timer.from_buffer(self.memory)
        self.address = ctypes.addressof(self.memory)
        self.periodic = False

    def arm(self, seconds, period=0):
        """Have it fire in this time, and again after each period until it is disarmed.

        Replaces what it was armed for before. A time that has passed is now.
        """
        timers = self.timers
        if not timers.ctx:
            raise RuntimeError("the timers are closed")
        self.c.period = nanoseconds(period)
        check(timers.lib.callout_arm(timers.ctx, self.address, nanoseconds(seconds)))
        self.periodic = self.c.period != 0
        # The library has its address: keep it alive.
        timers.armed[self.address] = self
        timers.queued()

    def disarm(self):
        timers = self.timers
        if timers.ctx and timers.lib.callout_disarm(timers.ctx, self.address):
            del timers.armed[self.address]
            timers.queued()


class Timers:
    """The timers of a loop, on the device or a timerfd. Raises OSError if neither is possible."""

    def __init__(self, loop, events=8192):
        self.lib = load()
        self.size = self.lib.callout_timer_size()
        self.loop = loop
        self.armed = {}
        self.flushes = False
        ctx = c_void_p()
        check(self.lib.callout_ctx_create(byref(ctx), events))
        self.ctx = ctx
        loop.add_reader(self.lib.callout_ctx_fd(ctx), self.readable)

    def timer(self, callback):
        return Timer(self, callback)

    def close(self):
        """Disarm all. A timer cannot be armed any more."""
        if not self.ctx:
            return
        self.loop.remove_reader(self.lib.callout_ctx_fd(self.ctx))
        self.lib.callout_ctx_destroy(self.ctx)
        self.ctx = None
        self.armed.clear()

    def queued(self):
        # asyncio runs what is to be called soon before it sleeps.
        if not self.flushes:
            self.flushes = True
            self.loop.call_soon(self.flush)

    def flush(self):
        self.flushes = False
        if self.ctx and self.lib.callout_ctx_pending(self.ctx):
            try:
                n = check(self.lib.callout_ctx_flush(self.ctx))
            except OSError:
                # A limit, or no memory: others may give some back.
                self.loop.call_later(RETRY, self.queued)
                raise
            self.hand_out(n)
            # While some were left to hand out, it flushed nothing.
            if self.ctx and self.lib.callout_ctx_pending(self.ctx):
                self.queued()

    def readable(self):
        self.hand_out(check(self.lib.callout_ctx_turn(self.ctx, 0)))

    def hand_out(self, n):
        """Call what has fired. An exception goes where those of asyncio's own timers go."""
        while n and self.ctx:
            address = self.lib.callout_ctx_next(self.ctx, None)
            if not address:
                break
            timer = self.armed[address]
            if not timer.periodic:
                del self.armed[address]
            try:
                timer.callback(timer)
            except (SystemExit, KeyboardInterrupt):
                # Those that are left come if the loop runs again.
                self.queued()
                raise
            except BaseException as error:
                self.loop.call_exception_handler({
                    "message": f"exception in {timer.callback!r}",
                    "exception": error,
                })


IDLE = 2.0
MOVES = 2
PATIENCE = 300


class Server:
    def __init__(self, loop, n):
        self.loop = loop
        self.timers = Timers(loop)
        self.conns = [self.timers.timer(self.timed_out) for i in range(n)]
        self.left = n
        self.last = {}
        self.early = self.wrong = self.closed = 0
        self.latest = 0
        self.done = loop.create_future()

    def active(self, timer):
        self.last[timer] = time.clock_gettime(time.CLOCK_MONOTONIC)
        timer.arm(IDLE)

    def close(self, timer):
        if self.last.pop(timer, None) is None:
            self.wrong += 1
        self.left -= 1
        if not self.left:
            self.done.set_result(None)

    def timed_out(self, timer):
        late = time.clock_gettime(time.CLOCK_MONOTONIC) - self.last[timer] - IDLE
        self.early += late < 0
        self.latest = max(self.latest, late)
        self.close(timer)

    async def run(self):
        for conn in self.conns:
            self.active(conn)
        for i in range(MOVES * len(self.conns)):
            conn = random.choice(self.conns)
            if conn not in self.last:
                continue
            if random.random() < 0.01:
                conn.disarm()
                self.closed += 1
                self.close(conn)
            else:
                self.active(conn)
            if i % 1000 == 0:
                await asyncio.sleep(0)
        await asyncio.wait_for(self.done, PATIENCE)


async def failures(loop):
    """All that fire together are called, although each raises; none is armed once it is closed.

    A time may be longer than the clock, or have passed. A periodic timer fires until it is disarmed.
    Closing again does nothing.
    """
    reported = []
    called = []
    timers = Timers(loop)
    done = loop.create_future()

    def raises(timer):
        called.append(timer)
        if len(called) == 3:
            done.set_result(None)
        raise ValueError

    loop.set_exception_handler(lambda loop, context: reported.append(context["exception"]))
    three = [timers.timer(raises) for i in range(3)]
    for timer in three:
        timer.arm(0.01)
    await asyncio.wait_for(done, PATIENCE)
    loop.set_exception_handler(None)
    three[0].arm(sys.maxsize)
    beats = []
    beat = timers.timer(lambda timer: beats.append(timer) or len(beats) < 3 or timer.disarm())
    beat.arm(-1, 0.01)
    while beat.address in timers.armed:
        await asyncio.sleep(0.01)
    timers.close()
    timers.close()
    three[0].disarm()
    try:
        three[1].arm(60)
    except RuntimeError:
        return (sorted(called, key=id) == sorted(three, key=id) and len(reported) == 3 and
                beats == [beat] * 3)
    return False


def interrupted():
    """A loop that a callback has ended, and that runs again, calls those left and those armed."""
    loop = asyncio.new_event_loop()
    timers = Timers(loop)
    called = []

    def fired(timer):
        called.append(timer)
        if len(called) == 1:
            later.arm(0.01)
            raise KeyboardInterrupt
        if timer is later:
            loop.stop()

    two = [timers.timer(fired) for i in range(2)]
    later = timers.timer(fired)
    for timer in two:
        timer.arm(0.01)
    try:
        loop.run_forever()
    except KeyboardInterrupt:
        loop.call_later(PATIENCE, loop.stop)
        loop.run_forever()
    timers.close()
    loop.close()
    return sorted(called, key=id) == sorted(two + [later], key=id) and called[2] is later


async def main(n, robust=True):
    loop = asyncio.get_running_loop()
    try:
        robust = await failures(loop) and robust
    except asyncio.TimeoutError:
        robust = False
    server = Server(loop, n)
    try:
        await server.run()
    except asyncio.TimeoutError:
        pass
    good = robust and not (server.left or server.early or server.wrong or server.timers.armed)
    print(f"connections    {n:10}")
    print(f"closed by peer {server.closed:10}")
    print(f"latest, in ms  {server.latest * 1e3:10.1f}")
    print(f"early          {server.early:10}")
    print(f"lost           {server.left:10}")
    print(f"other errors   {server.wrong + (not robust):10}")
    print("idle_asyncio:", "ok: each connection was closed once, none early" if good else "FAILED")
    server.timers.close()
    return not good


if __name__ == "__main__":
    connections = int(sys.argv[1]) if len(sys.argv) > 1 else 100000
    sys.exit(asyncio.run(main(connections, interrupted())))
