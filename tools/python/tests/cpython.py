#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
"""CPython's own tests of asyncio, unmodified, on callout.EventLoop

    cpython.py [MODULE]...

Wherever they make an event loop they get this one, with their selector. Debian has them in
libpython3.11-testsuite. The last line says how many timers of libcallout were armed.
"""
import asyncio
import sys
import unittest

import callout

MODULES = (
    "base_events buffered_proto context events futures futures2 locks pep492 protocols queues "
    "runners selector_events sendfile server sock_lowlevel sslproto ssl streams subprocess "
    "taskgroups tasks threads timeouts transports unix_events waitfor"
)

armed = 0
arm_at = callout._lib.arm_at


def counted(*args):
    global armed
    armed += 1
    return arm_at(*args)


if __name__ == "__main__":
    callout._lib.arm_at = counted
    for module in asyncio, asyncio.unix_events:
        module.SelectorEventLoop = callout.EventLoop
    asyncio.DefaultEventLoopPolicy._loop_factory = callout.EventLoop
    names = sys.argv[1:] or MODULES.split()
    suite = unittest.defaultTestLoader.loadTestsFromNames(
        f"test.test_asyncio.test_{name}" for name in names)
    result = unittest.TextTestRunner(buffer=True).run(suite)
    print(f"{armed} timers of libcallout", file=sys.stderr)
    sys.exit(not result.wasSuccessful() or not armed)
