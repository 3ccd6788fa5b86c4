#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
"""idle_asyncio.py - 100 000 idle timeouts in asyncio, in an event loop of libcallout

    idle_asyncio.py [CONNECTIONS]

But for its last line it is a program for any loop of asyncio. Connections are simulated, as in
idle.c: data comes for one at random, or it is closed.
"""
import asyncio
import random
import sys

import callout

IDLE = 2.0
MOVES = 2
PATIENCE = 300


class Connection:
    """A connection that is closed when no data has come for IDLE seconds."""

    def __init__(self, server):
        self.server = server
        self.timeout = None
        self.received_data()

    def received_data(self):
        loop = self.server.loop
        if self.timeout:
            self.timeout.cancel()
        self.timeout = loop.call_later(IDLE, self.timed_out)

    def close(self):
        self.timeout.cancel()
        self.server.closed(self)

    def timed_out(self):
        self.server.timed_out(self)
        self.server.closed(self)


class Server:
    """Counts."""

    def __init__(self, loop, n):
        self.loop = loop
        self.done = loop.create_future()
        self.by_peer = self.early = self.wrong = 0
        self.latest = 0
        self.connections = [Connection(self) for _ in range(n)]
        self.open = set(self.connections)

    def timed_out(self, connection):
        late = self.loop.time() - connection.timeout.when()
        self.early += late < 0
        self.latest = max(self.latest, late)

    def closed(self, connection):
        self.wrong += connection not in self.open
        self.open.discard(connection)
        if not self.open:
            self.done.set_result(None)

    async def run(self):
        for i in range(MOVES * len(self.connections)):
            connection = random.choice(self.connections)
            if connection not in self.open:
                continue
            if random.random() < 0.01:
                connection.close()
                self.by_peer += 1
            else:
                connection.received_data()
            if i % 1000 == 0:
                await asyncio.sleep(0)
        await asyncio.wait_for(self.done, PATIENCE)


async def main(n):
    server = Server(asyncio.get_running_loop(), n)
    try:
        await server.run()
    except asyncio.TimeoutError:
        pass
    good = not (server.open or server.early or server.wrong)
    print(f"connections    {n:10}")
    print(f"closed by peer {server.by_peer:10}")
    print(f"latest, in ms  {server.latest * 1e3:10.1f}")
    print(f"early          {server.early:10}")
    print(f"lost           {len(server.open):10}")
    print(f"other errors   {server.wrong:10}")
    print("idle_asyncio:", "ok: each connection was closed once, none early" if good else "FAILED")
    return not good


if __name__ == "__main__":
    sys.exit(callout.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 100000)))
