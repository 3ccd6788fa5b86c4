#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Says whether the outcome of a litmus test is possible in the kernel's memory model.

    scripts/check/litmus.py FILE.litmus...

herd7 does that for whole models; Debian has no package of it. This knows what the tests of
selftests/litmus use, by the definitions of Linux's tools/memory-model/linux-kernel.cat: coherence,
atomicity, happens-before and propagation, of marked accesses, fences and spinlocks. It has no
plain accesses, RCU or SRCU. It builds every candidate execution of a test, and looks whether one
that the model allows has the outcome of the "exists" clause.

Then it makes each barrier weaker, one at a time: the acquire, release or fence is left out, or the
locks of a thread are. A file of this tree says "Needs: NAME" for each of these that makes the
outcome possible; if none does it fails. One TAP line a file; the last line is "N passed, N failed".
"""

import itertools
import re
import sys

# READ_ONCE(*x) has no comment.
COMMENT = re.compile(r'\(\*\s.*?\*\)', re.S)
TOKEN = re.compile(r'\s*(//[^\n]*|/\\|\\/|[A-Za-z_][A-Za-z_0-9]*|-?\d+'
                   r'|==|!=|&&|.)', re.S)

# Functions whose first argument is an lvalue, the others take a pointer; and their orders.
LVALUE = {'READ_ONCE', 'WRITE_ONCE', 'rcu_dereference', 'rcu_assign_pointer', 'smp_store_mb'}
LOADS = {'READ_ONCE': '', 'rcu_dereference': '', 'smp_load_acquire': 'acquire',
         'atomic_read': '', 'atomic_read_acquire': 'acquire'}
STORES = {'WRITE_ONCE': '', 'rcu_assign_pointer': 'release', 'smp_store_release': 'release',
          'smp_store_mb': 'mb', 'atomic_set': '', 'atomic_set_release': 'release'}
FENCES = {'smp_mb': 'mb', 'smp_rmb': 'rmb', 'smp_wmb': 'wmb',
          'smp_mb__after_spinlock': 'after-spinlock'}
WEAKER = {'smp_load_acquire': 'READ_ONCE(*', 'smp_store_release': 'WRITE_ONCE(*',
          'rcu_assign_pointer': 'WRITE_ONCE(', 'smp_store_mb': 'WRITE_ONCE(',
          'xchg_acquire': 'xchg_relaxed(', 'cmpxchg': 'cmpxchg_relaxed(',
          'atomic_read_acquire': 'atomic_read(', 'atomic_inc_return': 'atomic_inc_return_relaxed(',
          'atomic_add_return_release': 'atomic_add_return_relaxed('}


class Event:
    """A read, a write or a fence. Registers carry the numbers of the reads they depend on."""

    def __init__(self, proc, kind, loc=None, val=None, tags=()):
        self.proc, self.kind, self.loc, self.val = proc, kind, loc, val
        self.tags = {tag for tag in tags if tag}
        self.addr, self.data, self.ctrl = set(), set(), set()
        self.rmw = None     # of the write: its read


class Parser:
    """The functions of a test as nested tuples."""

    def __init__(self, text):
        self.tokens = [t for t in TOKEN.findall(text) if t.strip() and not t.startswith('//')]
        self.at = 0

    def peek(self, ahead=0):
        at = self.at + ahead
        return self.tokens[at] if at < len(self.tokens) else None

    def take(self, wanted=None):
        token = self.peek()
        if token is None or wanted and token != wanted:
            raise SyntaxError('%s instead of %s' % (token, wanted))
        self.at += 1
        return token

    def accept(self, token):
        if self.peek() != token:
            return False
        self.at += 1
        return True

    def block(self):
        if not self.accept('{'):
            return [self.statement()]
        found = []
        while not self.accept('}'):
            found.append(self.statement())
        return found

    def statement(self):
        if self.accept('int'):
            while not self.accept(';'):
                self.take()
            return ('nothing',)
        if self.accept('if'):
            self.take('(')
            condition = self.expression()
            self.take(')')
            then = self.block()
            return ('if', condition, then, self.block() if self.accept('else') else [])
        if self.peek(1) == '=':
            name = self.take()
            self.take('=')
            value = self.expression()
            self.take(';')
            return ('set', name, value)
        value = self.expression()
        self.take(';')
        return ('do', value)

    def expression(self):
        left = self.primary()
        while self.peek() in ('==', '!=', '+', '-', '&&'):
            left = ('op', self.take(), left, self.primary())
        return left

    def primary(self):
        if self.accept('('):
            value = self.expression()
            self.take(')')
            return value
        if self.accept('*'):
            return ('star', self.primary())
        if self.accept('&'):
            return ('name', self.take())
        token = self.take()
        if re.match(r'-?\d+$', token):
            return ('number', int(token))
        if not self.accept('('):
            return ('name', token)
        args = []
        while not self.accept(')'):
            args.append(self.expression())
            self.accept(',')
        return ('call', token, args)


class Thread:
    """Runs a function once, with the values of its reads as they are given."""

    def __init__(self, test, proc, values):
        self.test, self.proc, self.values = test, proc, list(values)
        self.events, self.registers, self.control = [], {}, set()
        self.wanted = None      # the location of the first read without a value

    def add(self, kind, loc=None, val=None, *tags):
        event = Event(self.proc, kind, loc, val, tags)
        event.ctrl = set(self.control)
        self.events.append(event)
        return event

    def read(self, loc, addr, *tags):
        if not self.values:
            self.wanted = loc
            raise StopIteration
        event = self.add('R', loc, self.values.pop(0), *tags)
        event.addr = addr
        return event

    def write(self, loc, addr, value, data, *tags):
        event = self.add('W', loc, value, *tags)
        event.addr, event.data = addr, data
        return event

    def location(self, name, arg):
        if name in LVALUE and arg[0] == 'star':
            arg = arg[1]
        return self.value(arg)

    def value(self, e):
        """The value, and the reads that it depends on."""
        if e[0] == 'number':
            return e[1], set()
        if e[0] == 'name':
            return self.registers.get(e[1], (e[1], set()))
        if e[0] == 'op':
            (a, left), (b, right) = self.value(e[2]), self.value(e[3])
            return {'==': lambda: int(a == b), '!=': lambda: int(a != b),
                    '+': lambda: a + b, '-': lambda: a - b,
                    '&&': lambda: int(bool(a and b))}[e[1]](), left | right
        return self.call(e[1], e[2])

    def call(self, name, args):
        if name in FENCES:
            self.add('F', None, None, FENCES[name])
            return 0, set()
        if re.match(r'atomic_(inc|add|xchg|cmpxchg)', name) and 'return' in name:
            args = args if 'add' in name else [('number', 1)] + args
            return self.update(name, args[1], lambda old: old + self.value(args[0])[0], set())
        loc, addr = self.location(name, args[0])
        if name in LOADS:
            event = self.read(loc, addr, LOADS[name])
            return event.val, {event}
        if name in STORES:
            value, data = self.value(args[1])
            tag = STORES[name]
            self.write(loc, addr, value, data, tag if tag != 'mb' else '')
            if tag == 'mb':
                self.add('F', None, None, 'mb')
            return 0, set()
        if name == 'spin_lock':
            event = self.read(loc, addr, 'acquire', 'LKR')
            self.write(loc, addr, 1, set(), 'LKW').rmw = event
            return 0, set()
        if name == 'spin_unlock':
            self.write(loc, addr, 0, set(), 'release', 'UL')
            return 0, set()
        if name.startswith('xchg'):
            value, data = self.value(args[1])
            return self.update(name, args[0], lambda old: value, data)
        if name.startswith('cmpxchg'):
            old, _ = self.value(args[1])
            new, data = self.value(args[2])
            return self.update(name, args[0], lambda now: new if now == old else None, data)
        raise SyntaxError('unknown function ' + name)

    def update(self, name, arg, change, data):
        """A read-modify-write; one without an order in its name is between full barriers."""
        order = re.search(r'_(acquire|release|relaxed)$', name)
        order = order.group(1) if order else 'mb'
        loc, addr = self.value(arg)
        before = self.add('F', None, None, 'mb') if order == 'mb' else None
        event = self.read(loc, addr, 'acquire' if order == 'acquire' else '')
        new = change(event.val)
        if new is None:
            if before:
                self.events.remove(before)
            return event.val, {event}
        write = self.write(loc, addr, new, data, 'release' if order == 'release' else '')
        write.rmw = event
        if order == 'mb':
            self.add('F', None, None, 'mb')
        return (new if 'return' in name else event.val), {event}

    def run(self, statements):
        for s in statements:
            if s[0] == 'set':
                self.registers[s[1]] = self.value(s[2])
            elif s[0] == 'do':
                self.value(s[1])
            elif s[0] == 'if':
                condition, reads = self.value(s[1])
                outer, self.control = self.control, self.control | reads
                self.run(s[2] if condition else s[3])
                self.control = outer
        return self


class Relation:
    """A relation on events 0 to n - 1: of each, the events that follow, as bits."""

    def __init__(self, n, pairs=()):
        self.n, self.rows = n, [0] * n
        for a, b in pairs:
            self.rows[a] |= 1 << b

    def of(self, rows):
        r = Relation(self.n)
        r.rows = rows
        return r

    def __or__(self, other):
        return self.of([a | b for a, b in zip(self.rows, other.rows)])

    def __and__(self, other):
        return self.of([a & b for a, b in zip(self.rows, other.rows)])

    def __mul__(self, other):
        """First this, then the other."""
        rows = []
        for row in self.rows:
            found = 0
            while row:
                low = row & -row
                found |= other.rows[low.bit_length() - 1]
                row ^= low
            rows.append(found)
        return self.of(rows)

    def maybe(self):
        return self.of([row | 1 << i for i, row in enumerate(self.rows)])

    def plus(self):
        rows = list(self.rows)
        for k in range(self.n):
            for i in range(self.n):
                if rows[i] >> k & 1:
                    rows[i] |= rows[k]
        return self.of(rows)

    def acyclic(self):
        return not any(row >> i & 1 for i, row in enumerate(self.plus().rows))


class Model:
    """What the model says of the events of some runs, whatever they read from where."""

    def __init__(self, events):
        self.events = events
        self.n = n = len(events)
        number = {e: i for i, e in enumerate(events)}

        def rel(test):
            return Relation(n, [(a, b) for a in range(n) for b in range(n)
                                if test(events[a], events[b])])

        def only(test):
            return Relation(n, [(a, a) for a in range(n) if test(events[a])])

        def fence(tag):
            return po * only(lambda e: tag in e.tags) * po

        po = rel(lambda a, b: a.proc == b.proc >= 0 and number[a] < number[b])
        self.po = po
        self.internal = rel(lambda a, b: a.proc == b.proc >= 0)
        self.external = rel(lambda a, b: a.proc != b.proc)
        self.po_loc = po & rel(lambda a, b: a.loc == b.loc and a.loc is not None)
        self.rmw = Relation(n, [(number[e.rmw], number[e]) for e in events if e.rmw])
        self.other = rel(lambda a, b: a is not b)
        self.marked = marked = only(lambda e: e.kind in 'RW')
        self.read = read = only(lambda e: e.kind == 'R')
        self.written = written = only(lambda e: e.kind == 'W')
        self.unlock = po * only(lambda e: 'UL' in e.tags)
        self.lock = only(lambda e: 'LKR' in e.tags) * po
        acq_po = only(lambda e: 'acquire' in e.tags) * po * marked
        self.po_rel = marked * po * only(lambda e: 'release' in e.tags)
        self.wmb = written * fence('wmb') * written
        locked = only(lambda e: 'LKW' in e.tags)
        self.strong = marked * fence('mb') * marked | \
            marked * po.maybe() * locked * fence('after-spinlock') * marked
        self.fences = (self.strong | self.po_rel | acq_po | self.wmb |
                       read * fence('rmb') * read) & self.internal
        self.addr = rel(lambda a, b: a in b.addr)
        self.dep = self.addr | rel(lambda a, b: a in b.data)
        self.dep_w = (self.dep | rel(lambda a, b: a in b.ctrl)) * written

    def allows(self, rf, co):
        """rf: of each read, by number, its write; co: the order of the writes of each place."""
        n, marked, external = self.n, self.marked, self.external
        r_rf = Relation(n, [(w, r) for r, w in rf.items()])
        r_co = Relation(n, [(order[i], order[j]) for order in co
                            for i in range(len(order)) for j in range(i + 1, len(order))])
        fr = Relation(n, list(rf.items())) * r_co
        if any((self.rmw & ((fr & external) * (r_co & external))).rows):
            return False
        if not (self.po_loc | r_rf | r_co | fr).acyclic():
            return False
        handover = self.unlock * (self.po | r_rf) * self.lock
        overwrite = r_co | fr
        rfe = r_rf & external
        ppo = self.dep_w | overwrite & self.internal | self.addr * self.read | \
            self.dep * (r_rf & self.internal) | self.fences | handover & self.internal
        cumul = marked * (rfe.maybe() * (self.strong | self.po_rel) | self.wmb | handover) * \
            marked * (r_rf * self.rmw).plus().maybe()
        prop = marked * (overwrite & external).maybe() * cumul.plus().maybe() * marked * \
            rfe.maybe() * marked
        hb = marked * (ppo | rfe | prop & self.other & self.internal) * marked
        if not hb.acyclic():
            return False
        return (prop * self.strong * hb.plus().maybe() * marked).acyclic()


class Test:
    """A test, and all its candidate executions."""

    def __init__(self, text):
        self.text = text
        bare = COMMENT.sub('', text)
        self.init = {}
        for name, value in re.findall(r'(\w+)\s*=\s*(-?\w+);', re.search(r'{(.*?)}', bare,
                                                                         re.S).group(1)):
            self.init[name] = int(value) if re.match(r'-?\d+$', value) else value
        bare, self.exists = bare.split('exists', 1)
        self.has_places = re.search(r'(?<![:\w])[a-zA-Z]\w*\s*=', COMMENT.sub('', self.exists))
        self.functions = []
        for body in re.split(r'^P\d+\s*\(', bare, flags=re.M)[1:]:
            self.functions.append(Parser(body[body.index(')') + 1:]).block())
        names = set(re.findall(r'[*&]\s*(\w+)\s*[,)]', bare))
        self.names = {name for name in names if not re.match(r'r\d', name)}
        numbers = {int(x) for x in re.findall(r'-?\b\d+\b', re.sub(r'P\d+|r\d+', '', bare))}
        numbers |= {v for v in self.init.values() if isinstance(v, int)} | {0, 1}
        self.counts = sorted(numbers | {a + b for a in numbers for b in numbers})
        self.domain = {}

    def initial(self, loc):
        return self.init.get(loc, 0)

    def runs(self, proc):
        """All runs of a function, whatever it reads of what may have been written."""
        todo = [()]
        while todo:
            values = todo.pop()
            thread = Thread(self, proc, values)
            try:
                yield thread.run(self.functions[proc])
            except StopIteration:
                for value in sorted(self.domain.setdefault(thread.wanted,
                                                           {self.initial(thread.wanted)}),
                                    key=str):
                    todo.append(values + (value,))

    def find_domains(self):
        """What may be written to each location: what runs write, until no more is found."""
        size = -1
        while size != sum(map(len, self.domain.values())):
            size = sum(map(len, self.domain.values()))
            for proc in range(len(self.functions)):
                for thread in list(self.runs(proc)):
                    for e in thread.events:
                        if e.kind == 'W' and (not isinstance(e.val, int) or e.val in self.counts):
                            self.domain.setdefault(e.loc,
                                                   {self.initial(e.loc)}).add(e.val)

    def holds(self, threads, last):
        def term(m):
            if m.group(1):
                got = threads[int(m.group(1))].registers.get(m.group(2), (None,))[0]
            else:
                got = last.get(m.group(2), self.initial(m.group(2)))
            return ' True ' if str(got) == m.group(3) else ' False '

        text = COMMENT.sub('', self.exists)
        text = re.sub(r'(?:(\d+):)?\b(\w+)\s*=\s*(-?\w+)', term, text)
        return eval(text.replace('/\\', ' and ').replace('\\/', ' or ').replace('~', ' not '))

    def orders(self, threads):
        """Candidate executions of these runs: events, rf, co and the last value of each place."""
        events = [e for t in threads for e in t.events]
        places = sorted({e.loc for e in events if e.loc})
        first = {loc: Event(-1, 'W', loc, self.initial(loc)) for loc in places}
        events = list(first.values()) + events
        number = {e: i for i, e in enumerate(events)}
        sources, reads = [], [e for e in events if e.kind == 'R']
        for r in reads:
            sources.append([number[w] for w in events if w.kind == 'W' and w.loc == r.loc and
                            w.val == r.val and w.rmw is not r])
        orders = []
        for loc in places:
            later = [number[w] for w in events if w.kind == 'W' and w.loc == loc and
                     w.proc >= 0]
            orders.append([(number[first[loc]],) + p for p in itertools.permutations(later)
                           if not any(events[p[i]].proc == events[p[j]].proc and p[i] > p[j]
                                      for i in range(len(p)) for j in range(i + 1, len(p)))])
        for rf in itertools.product(*sources):
            for co in itertools.product(*orders):
                last = {events[order[-1]].loc: events[order[-1]].val for order in co}
                yield events, dict(zip([number[r] for r in reads], rf)), co, last

    def possible(self):
        """Does the model allow the outcome?"""
        self.find_domains()
        runs = [[t for t in self.runs(p) if not any('LKR' in e.tags and e.val for e in t.events)]
                for p in range(len(self.functions))]
        for threads in itertools.product(*runs):
            model = None
            if not self.has_places and not self.holds(threads, {}):
                continue
            for events, rf, co, last in self.orders(threads):
                if not self.holds(threads, last):
                    continue
                model = model or Model(events)
                if model.allows(rf, co):
                    return True
        return False


def weaker(text):
    """The test with each barrier left out, with the name of the barrier."""
    names = r'\b(' + '|'.join(list(WEAKER) + ['smp_mb', 'smp_rmb', 'smp_wmb']) + r')\('
    start = re.search(r'^P0', text, re.M).start()
    for m in re.finditer(names, text[start:]):
        proc = re.findall(r'^P(\d+)', text[:start + m.end()], re.M)[-1]
        rest = text[start + m.end():]
        if m.group(1) in WEAKER:
            change = WEAKER[m.group(1)] + rest
        else:
            change = rest.split(';', 1)[1]
        arg = re.match(r'\*?(\w*)', rest).group(1)
        yield ('P%s %s %s' % (proc, m.group(1), arg)).strip(), text[:start + m.start()] + change
    for proc in re.findall(r'^P(\d+)', text, re.M):
        part = re.search(r'^P%s\(.*?^}' % proc, text, re.M | re.S)
        bare = re.sub(r'\tspin_(un)?lock\(\w+\);\n', '', part.group(0))
        if bare != part.group(0):
            yield 'P%s spin_lock' % proc, text.replace(part.group(0), bare)


def needed(text):
    return sorted(name for name, changed in weaker(text) if Test(changed).possible())


def check(file):
    with open(file, encoding='utf-8') as f:
        text = f.read()
    expected = re.search(r'Result: (Never|Sometimes)', text).group(1)
    result = 'Sometimes' if Test(text).possible() else 'Never'
    said = sorted(re.findall(r'^ \* Needs: (.*)$', text, re.M))
    wrong = result != expected
    if wrong:
        print('# the outcome is possible %s, not %s' % (result.lower(), expected.lower()))
    if 'SPDX' in text:
        found = needed(text)
        if found != said:
            wrong = True
            print('# needs: %s' % '; '.join(found))
        if not found:
            wrong = True
            print('# no barrier matters: it cannot fail')
    return not wrong


def main():
    passed = failed = 0
    for file in sys.argv[1:]:
        good = check(file)
        passed += good
        failed += not good
        print('%s %d %s' % ('ok' if good else 'not ok', passed + failed,
                            file.rsplit('/', 1)[-1]), flush=True)
    print('1..%d\n%d passed, %d failed' % (passed + failed, passed, failed))
    return failed > 0


if __name__ == '__main__':
    sys.exit(main())
