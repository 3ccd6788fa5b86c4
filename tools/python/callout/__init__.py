# SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
"""Timers of libcallout: an event loop for asyncio, and timers without asyncio

An asyncio program takes the loop by one line, callout.run(main()) in place of
asyncio.run(main()). Any number of timers wait in the program; one callout of
/dev/callout, or one timerfd where the device cannot be used, wakes it.
"""
from ._context import Context, Timer
from ._loop import EventLoop, run

__all__ = ["Context", "EventLoop", "Timer", "run"]
