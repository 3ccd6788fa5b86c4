# SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
"""The event loop; CPython's own tests of it are run by cpython.py"""
import asyncio
import contextlib
import errno
import math
import threading
import unittest
from unittest import mock

import callout
from points import handle_at

PATIENCE = 300


class TestLoop(unittest.TestCase):
    def setUp(self):
        self.loop = callout.EventLoop()
        self.addCleanup(self.loop.close)
        self.called = []

    def run_until(self, condition):
        async def poll():
            # No timer of the loop: it may be what the test finds broken.
            end = self.loop.time() + PATIENCE
            while not condition():
                self.assertLess(self.loop.time(), end)
                await asyncio.sleep(0)

        self.loop.run_until_complete(poll())

    def test_never_early(self):
        """A timer is called when the loop's clock shows its time, or later."""
        def call(when):
            self.called.append(self.loop.time() - when)

        for i in range(200):
            when = self.loop.time() + i * 0.000037
            self.assertEqual(self.loop.call_at(when, call, when).when(), when)
        self.run_until(lambda: len(self.called) == 200)
        self.assertGreaterEqual(min(self.called), 0)

    def test_order(self):
        """Timers are called in the order of their times, and of arming where these are equal."""
        now = self.loop.time()
        for i in 3, 1, 2, 1:
            self.loop.call_at(now + i * 0.001, self.called.append, i)
        self.loop.call_at(now + 0.001, self.called.append, "last of 1")
        self.run_until(lambda: len(self.called) == 5)
        self.assertEqual(self.called, [1, 1, "last of 1", 2, 3])

    def test_cancel(self):
        """A cancelled timer is not called, also if it is due together with the other."""
        now = self.loop.time()
        self.loop.call_at(now, lambda: second.cancel())
        second = self.loop.call_at(now, self.called.append, "cancelled")
        self.loop.call_at(now, self.called.append, "third")
        self.run_until(lambda: self.called)
        self.assertEqual(self.called, ["third"])
        self.assertTrue(second.cancelled())
        second.cancel()

    def test_reuse(self):
        """Neither a cancelled timer nor a called timer keeps memory."""
        for _ in range(1000):
            self.loop.call_later(PATIENCE, print).cancel()
            self.loop.call_soon(self.loop.stop)
            self.loop.call_at(0, self.called.append, 0)
            self.loop.run_forever()
        self.run_until(lambda: len(self.called) == 1000)
        self.assertEqual(len(self.loop._blocks), 1)
        self.assertEqual(self.loop._handles, {})

    def in_call(self, name, finalizer):
        """Call finalizer() in the next call of this function of the library, before the function.

        In Python 3.11 an allocation by ctypes may start the garbage collector there.
        """
        function = getattr(callout._lib, name)
        finalizers = [finalizer]

        def call(*args):
            if finalizers:
                finalizers.pop()()
            return function(*args)

        patch = mock.patch.object(callout._lib, name, call)
        self.addCleanup(patch.stop)
        patch.start()

    def test_cancelled_by_finalizer(self):
        """A finalizer may cancel a timer while another is set."""
        self.in_call("arm_at", self.loop.call_later(PATIENCE, print).cancel)
        for i in range(3):
            self.loop.call_at(0, self.called.append, i)
        self.run_until(lambda: len(self.called) == 3)
        self.assertEqual(self.called, [0, 1, 2])

    def test_set_by_finalizer(self):
        """A finalizer may set a timer while another is set."""
        self.in_call("arm_at", lambda: self.loop.call_at(0, self.called.append, "finalizer's"))
        for i in range(3):
            self.loop.call_at(0, self.called.append, i)
        self.run_until(lambda: len(self.called) == 4)
        self.assertEqual(self.called, ["finalizer's", 0, 1, 2])

    def test_turn_and_finalizer(self):
        """A finalizer may cancel and set timers while the loop takes those that are due."""
        timers = [self.loop.call_at(0, self.called.append, i) for i in range(3)]

        def finalizer():
            timers[2].cancel()
            self.loop.call_at(0, self.called.append, "finalizer's")

        self.in_call("ctx_next", finalizer)
        self.run_until(lambda: "finalizer's" in self.called)
        self.assertEqual(self.called, [0, 1, "finalizer's"])

    def test_many(self):
        """More timers than a turn hands out are all called."""
        for i in range(20000):
            self.loop.call_at(0, self.called.append, i)
        self.run_until(lambda: len(self.called) == 20000)
        self.assertEqual(sorted(self.called), list(range(20000)))

    def test_far(self):
        """A time may be later than the clock's last time."""
        far = self.loop.call_later(math.inf, self.called.append, 0)
        self.assertEqual(far.when(), math.inf)
        self.loop.call_later(1e300, self.called.append, 0)
        self.loop.run_until_complete(asyncio.sleep(0.01))
        self.assertEqual(self.called, [])

    def test_exception(self):
        """An exception goes to the loop's handler, and the other timers are called."""
        self.loop.set_exception_handler(
            lambda loop, context: self.called.append(context["exception"]))
        for error in KeyError("first"), KeyError("second"):
            self.loop.call_at(0, mock.Mock(side_effect=error))
        self.run_until(lambda: len(self.called) == 2)
        self.assertEqual([error.args[0] for error in self.called], ["first", "second"])

    def test_interrupt(self):
        """A loop that a callback has ended calls the timers that are left when it runs again."""
        self.loop.call_at(0, mock.Mock(side_effect=KeyboardInterrupt))
        self.loop.call_at(0, self.called.append, 0)
        with self.assertRaises(KeyboardInterrupt):
            self.loop.run_forever()
        self.loop.call_later(0.01, self.called.append, 1)
        self.run_until(lambda: len(self.called) == 2)
        self.assertEqual(self.called, [0, 1])

    def run_with_signal(self, n, handle):
        """Set, cancel and run timers, with a signal handler at the n-th place."""
        called = []
        loop = callout.EventLoop()
        timers = [loop.call_at(0, called.append, i) for i in range(3)]
        select = loop._selector.select

        def select_in_time(timeout):
            events = select(PATIENCE if timeout is None else timeout)
            self.assertTrue(events or timeout is not None, "nothing wakes the loop")
            return events

        def run():
            loop.call_later(PATIENCE, print).cancel()
            loop.call_at(0, loop.stop)
            loop.run_forever()

        with contextlib.closing(loop), \
             mock.patch.object(loop._selector, "select", select_in_time):
            try:
                reached = handle_at(n, lambda: handle(loop, timers), run)
            except KeyboardInterrupt:
                reached = True
            loop.call_at(0, called.append, "last")
            loop.call_at(0, loop.stop)
            while "last" not in called:
                loop.run_forever()
            free = loop._free
            self.assertEqual(len(free), len(set(free)))
            self.assertFalse(any(map(callout._lib.armed, free)))
            self.assertTrue(loop._handles.keys().isdisjoint(free))
        self.called.append(called)
        return reached

    def test_signal_raises(self):
        """A signal handler that raises an exception, at any place, loses no timer."""
        n = 0
        while self.run_with_signal(n, mock.Mock(side_effect=KeyboardInterrupt)):
            self.assertEqual(self.called.pop(), [0, 1, 2, "last"])
            n += 1

    def test_signal_sets(self):
        """A signal handler, at any place, may set timers and cancel timers."""
        n = 0
        while self.run_with_signal(n, lambda loop, timers: loop.call_at(0, timers.pop().cancel)):
            called = self.called.pop()
            if 2 in called:
                called.remove(2)
            self.assertEqual(called, [0, 1, "last"])
            n += 1

    def test_other_thread(self):
        """A timer that is armed for another thread wakes a loop that sleeps."""
        self.loop.call_later(PATIENCE, self.loop.stop)
        threading.Timer(0.01, self.loop.call_soon_threadsafe,
                        (self.loop.call_later, 0.01, self.stop)).start()
        self.loop.run_forever()
        self.assertEqual(self.called, ["stopped"])

    def stop(self):
        self.called.append("stopped")
        self.loop.stop()

    def fails_once(self, name):
        """The loop reports an error of the kernel and tries again."""
        function = getattr(callout._lib, name)
        results = iter([-errno.ENOSPC])
        errors = []
        self.loop.set_exception_handler(lambda loop, context: errors.append(context["exception"]))
        with mock.patch.object(callout._lib, name,
                               lambda *args: next(results, None) or function(*args)):
            self.loop.call_later(0.001, self.stop)
            self.loop.run_forever()
        self.assertEqual([error.errno for error in errors], [errno.ENOSPC])
        self.assertEqual(self.called, ["stopped"])

    def test_flush_fails(self):
        self.fails_once("ctx_flush")

    def test_turn_fails(self):
        self.fails_once("ctx_turn")

    def keeps_failing(self, name, when):
        """While the kernel refuses, the loop waits for one time to try again. Return its tries."""
        tries = []
        errors = []
        self.loop.set_exception_handler(lambda loop, context: errors.append(context["exception"]))

        def refuse(*args):
            tries.append(args)
            return -errno.EDQUOT

        with mock.patch.object(callout._loop, "_RETRY", PATIENCE), \
             mock.patch.object(callout._lib, name, refuse):
            for _ in range(10):
                self.loop.call_at(when, print)
                self.loop.call_soon(self.loop.stop)
                self.loop.run_forever()
        self.assertEqual([error.errno for error in errors], [errno.EDQUOT])
        self.assertEqual(len(self.loop._scheduled), 1)
        return len(tries)

    def test_flush_keeps_failing(self):
        self.assertEqual(self.keeps_failing("ctx_flush", math.inf), 1)

    def test_turn_keeps_failing(self):
        self.loop.call_at(0, print)
        self.loop._context.flush()
        self.assertTrue(self.loop._selector.select(PATIENCE))
        self.assertGreater(self.keeps_failing("ctx_turn", 0), 1)

    def test_no_context(self):
        """A loop without a context is closed."""
        with mock.patch.object(callout._lib, "ctx_create", lambda *args: -errno.EMFILE):
            with self.assertRaises(OSError) as caught:
                callout.EventLoop()
        self.assertEqual(caught.exception.errno, errno.EMFILE)

    def test_closed(self):
        """A closed loop has no timers; to cancel one does nothing."""
        timer = self.loop.call_later(PATIENCE, print)
        self.loop.close()
        timer.cancel()
        with self.assertRaises(RuntimeError):
            self.loop.call_later(1, print)

    def test_run(self):
        """run() runs a coroutine in this loop."""
        async def main():
            with self.assertRaises(asyncio.TimeoutError):
                await asyncio.wait_for(asyncio.Event().wait(), 0.01)
            return type(asyncio.get_running_loop())

        self.assertIs(callout.run(main()), callout.EventLoop)


if __name__ == "__main__":
    unittest.main()
