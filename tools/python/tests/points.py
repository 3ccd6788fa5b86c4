# SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
"""The places of the package at which Python may run a signal handler, one by one"""
import dis
import gc
import os
import sys

import callout

_PACKAGE = os.path.dirname(callout.__file__)


def handle_at(n, handler, function):
    """Call function(), and handler() at the n-th place in it. Return whether it has the place.

    Python runs signal handlers, and since 3.12 the garbage collector, where a function begins,
    after a call, and where a loop jumps back.
    """
    left = n + 1

    def arrive():
        nonlocal left
        left -= 1
        if not left:
            handler()

    def trace(frame, event, _):
        if event != "call" or not frame.f_code.co_filename.startswith(_PACKAGE):
            return None
        frame.f_trace_opcodes = True
        last = ""

        def trace_opcode(frame, event, _):
            nonlocal last
            if event == "opcode":
                if last.startswith(("CALL", "JUMP_BACKWARD")):
                    arrive()
                last = dis.opname[frame.f_code.co_code[frame.f_lasti]]
            return trace_opcode

        arrive()
        return trace_opcode

    # Garbage of an earlier test has finalizers in the package.
    gc.disable()
    old = sys.gettrace()
    sys.settrace(trace)
    try:
        function()
    finally:
        sys.settrace(old)
        gc.enable()
    return left <= 0
