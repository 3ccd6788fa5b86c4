# SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
"""libcallout by ctypes, and its times and errors in Python's"""
import ctypes
import functools
import math
import os
from ctypes import c_bool, c_char_p, c_int, c_size_t, c_uint, c_uint32, c_uint64, c_void_p

_NAME = "libcallout.so.1"

# A call that may wait releases the GIL. The other calls take less time than a release
# does.
try:
    _waiting = ctypes.CDLL(_NAME)
except OSError as error:
    message = f"{error}: install libcallout, or name its directory in LD_LIBRARY_PATH"
    raise ImportError(message) from None
_quick = ctypes.PyDLL(_NAME)

FOREVER = 2 ** 64 - 1
_LAST = 2 ** 63 - 1


class PublicTimer(ctypes.Structure):
    """The first members of struct callout_timer; timer_size is the size of all of it."""

    _fields_ = [("data", c_void_p), ("period", c_uint64), ("slack", c_uint64), ("clockid", c_int)]


class Ctx(ctypes.c_void_p):
    """A struct callout_ctx, destroyed when nothing refers to it any more, also no call"""

    def __del__(self):
        ctx, self.value = self.value, None
        ctx_destroy(ctx)


class Event(ctypes.Structure):
    """A struct callout_event"""

    _fields_ = [("type", c_uint32), ("flags", c_uint32), ("_rest", c_uint64 * 7)]
    PERIODIC = 1


def _function(library, name, restype, *argtypes):
    function = library["callout_" + name]
    function.restype = restype
    function.argtypes = argtypes
    return function


open_strerror = _function(_quick, "open_strerror", c_char_p, c_int)
ctx_create = _function(_quick, "ctx_create", c_int, c_void_p, c_uint)
ctx_on_timerfd = _function(_quick, "ctx_on_timerfd", c_int, c_void_p)
ctx_destroy = _function(_quick, "ctx_destroy", None, c_void_p)
ctx_fd = _function(_quick, "ctx_fd", c_int, c_void_p)
ctx_pending = _function(_quick, "ctx_pending", c_bool, c_void_p)
ctx_flush = _function(_quick, "ctx_flush", c_int, c_void_p)
ctx_turn = _function(_quick, "ctx_turn", c_int, c_void_p, c_uint64)
ctx_wait = _function(_waiting, "ctx_turn", c_int, c_void_p, c_uint64)
ctx_next = _function(_quick, "ctx_next", c_void_p, c_void_p, c_void_p)
arm = _function(_quick, "arm", c_int, c_void_p, c_void_p, c_uint64)
arm_at = _function(_quick, "arm_at", c_int, c_void_p, c_void_p, c_uint64)
disarm = _function(_quick, "disarm", c_bool, c_void_p, c_void_p)
armed = _function(_quick, "armed", c_bool, c_void_p)
timer_size = _function(_quick, "timer_size", c_size_t)()


def error(ret):
    return OSError(-ret, os.strerror(-ret))


def check(ret):
    if ret < 0:
        raise error(ret)
    return ret


def due(ctx, event=None):
    """The addresses of the timers that the last turn has found, each of which next() takes.

    It has no bytecode. So an iterator of C that adds them to a container does so in one step:
    no signal handler runs while a timer is in neither.
    """
    return iter(functools.partial(ctx_next, ctx, event), None)


def nanoseconds(seconds):
    """The ns of a time in seconds: not less, 0 if it has passed, and at most the last time.

    A product of floats could be less.
    """
    if seconds <= 0:
        return 0
    if seconds >= _LAST // 10 ** 9:
        return _LAST
    whole = int(seconds)
    return whole * 10 ** 9 + math.ceil((seconds - whole) * 1e9)
