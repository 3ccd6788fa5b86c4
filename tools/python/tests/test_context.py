# SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
"""Contexts and timers without asyncio"""
import errno
import gc
import importlib.util
import math
import random
import select
import signal
import sys
import time
import unittest
from fractions import Fraction
from unittest import mock

from callout import Context, Timer, _lib
from callout._lib import nanoseconds
from points import handle_at

PATIENCE = 300


class TestContext(unittest.TestCase):
    def setUp(self):
        self.context = Context()
        self.addCleanup(self.context.close)
        self.called = []

    def timer(self, *args):
        return Timer(self.context, self.called.append, *args)

    def test_never_early(self):
        """A turn calls a timer once, and not before its time."""
        timer = self.timer()
        start = time.monotonic()
        timer.arm(0.02)
        self.assertTrue(timer.armed)
        self.assertEqual(self.context.turn(PATIENCE), 1)
        self.assertGreaterEqual(time.monotonic(), start + 0.02)
        self.assertEqual(self.called, [timer])
        self.assertFalse(timer.armed)
        self.assertEqual(self.context.turn(0.01), 0)

    def test_rearm(self):
        """A timer that is armed again has only the last time."""
        timer = self.timer()
        timer.arm(0)
        timer.arm(PATIENCE)
        self.assertEqual(self.context.turn(0.01), 0)
        timer.arm(-1)
        self.assertEqual(self.context.turn(), 1)

    def test_period(self):
        """A periodic timer is called until it is disarmed, also by its callback."""
        timer = Timer(self.context, lambda timer: beats.append(timer) or len(beats) < 3 or
                      timer.disarm())
        beats = []
        timer.arm(0, 0.001)
        while timer.armed:
            self.context.turn(PATIENCE)
        self.assertEqual(beats, [timer] * 3)
        self.assertEqual(self.context.turn(0.01), 0)

    def test_slack(self):
        """Two timers that slack lets meet are called in one turn."""
        # They meet at a multiple of the greatest power of two within the slack.
        power = 2 ** 24
        base = (time.monotonic_ns() // power + 1) * power / 1e9
        for delay in 0.001, 0.002:
            self.timer().arm_at(base + delay, slack=0.01)
        self.assertEqual(self.context.turn(PATIENCE), 2)

    def test_disarm(self):
        """A timer that is disarmed is not called, also if it is due together with the other."""
        first, second = self.timer(), self.timer()
        first.callback = lambda timer: self.called.append(second.disarm())
        now = time.monotonic()
        first.arm_at(now)
        second.arm_at(now)
        self.assertEqual(self.context.turn(), 1)
        self.assertEqual(self.called, [True])
        self.assertFalse(second.disarm())

    def test_clock(self):
        """Each timer has its clock; a clock that the library does not have is refused."""
        timer = self.timer(time.CLOCK_REALTIME)
        end = time.time() + 0.01
        timer.arm_at(end)
        while not self.called:
            self.context.turn(PATIENCE)
        self.assertGreaterEqual(time.time(), end)
        timer = self.timer(time.CLOCK_PROCESS_CPUTIME_ID)
        with self.assertRaises(OSError):
            timer.arm(1)
        self.assertFalse(timer.armed)

    def test_exception(self):
        """An exception leaves the other timers to the next turn."""
        def fail(timer):
            raise KeyError(timer)

        failing, other = Timer(self.context, fail), self.timer()
        now = time.monotonic()
        failing.arm_at(now)
        other.arm_at(now)
        with self.assertRaises(KeyError):
            self.context.turn()
        self.assertEqual(self.called, [])
        self.assertEqual(self.context.turn(PATIENCE), 1)

    def test_kept_alive(self):
        """An armed timer needs no other reference."""
        self.timer().arm(0)
        gc.collect()
        self.assertEqual(self.context.turn(PATIENCE), 1)

    def test_freed(self):
        """A context that nothing refers to is freed with its armed timers."""
        context = Context()
        fd = context.fileno()
        Timer(context, print).arm(PATIENCE)
        del context
        gc.collect()
        with self.assertRaises(OSError):
            select.select([fd], [], [], 0)

    def test_loop(self):
        """The descriptor is readable when a timer is due, if the context was flushed."""
        self.timer().arm(0.01)
        self.assertTrue(self.context.pending)
        self.context.flush()
        self.assertFalse(self.context.pending)
        self.assertEqual(select.select([self.context], [], [], PATIENCE)[0], [self.context])
        self.assertEqual(self.context.turn(), 1)
        self.assertEqual(select.select([self.context], [], [], 0)[0], [])

    def test_loop_after_exception(self):
        """A loop that goes on after an exception sleeps with no timer left of that turn."""
        failing = Timer(self.context, mock.Mock(side_effect=KeyError))
        now = time.monotonic()
        failing.arm_at(now)
        self.timer().arm_at(now)
        self.assertRaises(KeyError, self.context.turn)
        self.timer().arm(0.01)
        # As in python.rst.
        while len(self.called) < 2:
            left = self.context.pending and self.context.flush()
            readable, _, _ = select.select([self.context], [], [], 0 if left else PATIENCE)
            self.assertTrue(left or readable)
            self.context.turn()

    def test_signal(self):
        """A signal is handled while a turn waits. The wait continues unless the handler raises."""
        signals = []

        def handler(*args):
            signals.append(args)
            if len(signals) == 2:
                raise InterruptedError

        old = signal.signal(signal.SIGALRM, handler)
        self.addCleanup(signal.signal, signal.SIGALRM, old)
        signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
        self.addCleanup(signal.setitimer, signal.ITIMER_REAL, 0)
        self.timer().arm(PATIENCE)
        with self.assertRaises(InterruptedError):
            self.context.turn(None)

    def run_with_signal(self, n, function, handle):
        """Call function(timers), with handle(timers) at the n-th place, and then a turn."""
        with Context() as context:
            timers = [Timer(context, self.called.append) for _ in range(2)]
            now = time.monotonic()
            timers[0].arm_at(now)
            timers[1].arm_at(now, period=PATIENCE)
            try:
                reached = handle_at(n, lambda: handle(timers), lambda: function(timers))
            except KeyboardInterrupt:
                reached = True
            except ValueError as error:
                self.assertRegex(str(error), "closed")
                reached = True
            if context._ctx:
                for timer in timers:
                    self.assertEqual(timer._address in context._armed, _lib.armed(timer._address))
                context.turn()
                self.assertFalse(timers[0].armed)
        return reached

    def test_signals(self):
        """A signal handler may do anything to timers at any place: armed timers are kept alive."""
        def interrupt(timers):
            raise KeyboardInterrupt

        def arm(timers):
            for timer in timers:
                timer.arm_at(0)

        def disarm(timers):
            for timer in timers:
                timer.disarm()

        def turn(timers):
            timers[0]._context.turn()

        def close(timers):
            timers[0]._context.close()

        for function in arm, disarm, turn, close:
            for handle in interrupt, arm, disarm, turn, close:
                # A finalizer cannot raise what a handler does in it.
                with self.subTest(function=function.__name__, handle=handle.__name__), \
                     mock.patch.object(sys, "unraisablehook"):
                    n = 0
                    while self.run_with_signal(n, function, handle):
                        n += 1

    def test_arm_interrupted(self):
        """A timer that was armed when a signal handler raised an exception is kept alive."""
        def interrupted(*args):
            arm(*args)
            raise KeyboardInterrupt

        arm = _lib.arm
        with mock.patch.object(_lib, "arm", interrupted), self.assertRaises(KeyboardInterrupt):
            self.timer().arm(0)
        gc.collect()
        self.assertEqual(self.context.turn(PATIENCE), 1)

    def test_arm_fails(self):
        """A timer that cannot be armed is as before."""
        timer = self.timer()
        for armed in False, True:
            with mock.patch.object(_lib, "arm", lambda *args: -errno.ENOMEM):
                self.assertRaises(OSError, timer.arm, 0)
            self.assertEqual(timer.armed, armed)
            timer.arm_at(0, PATIENCE)
        self.assertEqual(self.context.turn(PATIENCE), 1)
        self.assertTrue(timer.armed)

    def test_closed(self):
        """No timer of a closed context can be armed; to close it again does nothing."""
        timer = self.timer()
        timer.arm(0)
        self.context.close()
        self.context.close()
        self.assertFalse(timer.armed)
        self.assertFalse(timer.disarm())
        for call in self.context.turn, self.context.flush, self.context.fileno:
            self.assertRaises(ValueError, call)
        with self.assertRaises(ValueError):
            timer.arm(1)

    def test_closed_by_callback(self):
        """A callback may close the context: no other is called."""
        for _ in range(2):
            Timer(self.context, lambda timer: self.context.close()).arm(0)
        self.assertEqual(self.context.turn(PATIENCE), 1)

    def test_closed_once(self):
        """A context is destroyed once, also if a signal handler interrupts close() at any place."""
        def interrupt():
            raise KeyboardInterrupt

        n = 0
        reached = True
        while reached:
            context = Context()
            with mock.patch.object(_lib, "ctx_destroy", mock.Mock()) as destroy, \
                 mock.patch.object(sys, "unraisablehook"):
                try:
                    reached = handle_at(n, interrupt, context.close)
                except KeyboardInterrupt:
                    pass
                context.close()
                del context
                gc.collect()
            self.assertLessEqual(destroy.call_count, 1)
            for call in destroy.call_args_list:
                _lib.ctx_destroy(*call.args)
            n += 1
        self.assertEqual(destroy.call_count, 1)

    def test_where(self):
        """A context says what to do where it is not on the device."""
        why = self.context.on_timerfd
        self.assertTrue(why is None or "/dev/callout" in why)

    def test_no_library(self):
        """An import without the library fails as an import, and says what to do."""
        spec = importlib.util.find_spec("callout._lib")
        missing = OSError("libcallout.so.1: cannot open shared object file")
        with mock.patch("ctypes.CDLL", side_effect=missing):
            with self.assertRaisesRegex(ImportError, "so.1: .*LD_LIBRARY_PATH"):
                spec.loader.exec_module(importlib.util.module_from_spec(spec))

    def test_nanoseconds(self):
        """A time is never rounded down, and is at most the library's last time."""
        generator = random.Random(1)
        for _ in range(10000):
            seconds = generator.random() * 10 ** generator.randrange(-9, 9)
            exact = Fraction(seconds) * 10 ** 9
            self.assertIn(nanoseconds(seconds), (math.ceil(exact), math.ceil(exact) + 1))
        self.assertEqual(nanoseconds(-1), 0)
        self.assertEqual(nanoseconds(math.inf), 2 ** 63 - 1)
        self.assertEqual(nanoseconds(1e10), 2 ** 63 - 1)


if __name__ == "__main__":
    unittest.main()
