#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Finds what can be changed in C code of the kernel's style, and makes mutants of it.

  sites.py list FILE...    one a line: FILE:LINE:COLUMN:KIND, and what is changed

A mutant is a set of insertions into its file. All mutants of a sample are in one build, and a
parameter at run time says which of them it is: MUTANT(n) is true in one of them only, see
mutant.h. So each keeps its line, and insertions nest.

The kinds:

  drop         a statement is left out
  late, early  a lock is taken after the next statement, or released before the last
  negate       a condition, or a comparison or negation in it
  ignore       one side of && or ||
  bound        a comparison, or a shift, by one
  number       a number, by one
  sign         - for +, + for -
  bit          a bit that is not set
  return       NULL, 0 or 1 instead of what is returned
  once         a plain access instead of READ_ONCE() and the like
  alike        another variable of the function that has the same type
  swap         two arguments of a call, not of min() and max()
  other        list_add() for list_add_tail(), min() for max() and the like; prev for next

What does not compile, and what compiles to the same, is for others to find: see sample.py.
"""
import re
import sys

TOKEN = re.compile(r"""
    (?P<space>[ \t\n\f]+|\\\n)
  | (?P<comment>/\*.*?\*/|//[^\n]*)
  | (?P<directive>^[ \t]*\#(?:[^\n\\]|\\\n|\\.)*)
  | (?P<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
  | (?P<number>\.?[0-9][0-9A-Za-z_.]*)
  | (?P<name>[A-Za-z_]\w*)
  | (?P<mark><<=|>>=|\.\.\.|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|.)
""", re.X | re.S | re.M)

TYPES = set("""struct union enum const static volatile unsigned signed int long short char void bool
    float double u8 u16 u32 u64 s8 s16 s32 s64 __u8 __u16 __u32 __u64 __s32 __s64 size_t ssize_t
    ktime_t typeof register extern inline cpumask_var_t DECLARE_BITMAP DEFINE_WAIT LIST_HEAD
    HLIST_HEAD gfp_t spinlock_t __maybe_unused DECLARE_WAITQUEUE uint32_t uint64_t int64_t
    """.split())
ASSIGN = set("= += -= *= /= %= &= |= ^= <<= >>=".split())
COMPARE = set("== != < > <= >=".split())
# By what precedence a side of a comparison, or of && and ||, ends.
COMPARE_ENDS = ASSIGN | COMPARE | set("&& || ? : , ; & | ^".split())
AND_ENDS = ASSIGN | set("&& || ? : , ;".split())
COND_ENDS = ASSIGN | set("? : , ;".split())
SHIFT_ENDS = COMPARE_ENDS | {"<<", ">>"}
SUM_ENDS = SHIFT_ENDS | {"+", "-"}
ONCE = {"READ_ONCE", "WRITE_ONCE", "smp_load_acquire", "smp_store_release",
        "atomic_read_acquire"}
MOVED = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "+": "-", "-": "+"}
COMMUTE = {"min", "max", "min_t", "max_t"}
LOCK = re.compile(r"(^|_)(try)?lock(_|$)")
UNLOCK = re.compile(r"(^|_)unlock(_|$)")
OTHERS = [("list_add", "list_add_tail"), ("list_move", "list_move_tail"), ("min", "max"),
          ("list_splice_init", "list_splice_tail_init"), ("list_first_entry", "list_last_entry"),
          ("ktime_add_ns", "ktime_sub_ns"), ("time_before", "time_after"),
          ("time_before_eq", "time_after_eq"), ("local_irq_save", "local_save_flags"),
          ("round_up", "round_down"), ("DIV_ROUND_UP", "DIV_ROUND_DOWN_ULL"),
          ("test_and_set_bit", "test_and_clear_bit"), ("set_bit", "clear_bit"),
          ("__set_bit", "__clear_bit"), ("atomic_inc", "atomic_dec"),
          ("hlist_add_before", "hlist_add_behind"), ("ffs", "fls")]
OTHER = {a: b for pair in OTHERS for a, b in (pair, pair[::-1])}
MEMBERS = {"next": "prev", "prev": "next", "head": "tail", "tail": "head", "first": "last",
           "last": "first", "min": "max", "max": "min"}


class Token:
    __slots__ = ("text", "start", "end", "sort", "match")

    def __init__(self, text, start, end, sort):
        self.text, self.start, self.end, self.sort, self.match = text, start, end, sort, None


def tokens_of(text):
    """The tokens that are code, and for each bracket the number of its partner."""
    out, open_at = [], []
    for m in TOKEN.finditer(text):
        sort = m.lastgroup
        if sort in ("space", "comment", "directive"):
            continue
        token = Token(m.group(), m.start(), m.end(), sort)
        if token.text in "([{" and sort == "mark":
            open_at.append(len(out))
        elif token.text in ")]}" and sort == "mark" and open_at:
            token.match = open_at.pop()
            out[token.match].match = len(out)
        out.append(token)
    return out


class Mutant:
    """One change: insertions are (position, rank, text), see planted()."""
    def __init__(self, kind, at, insertions, what):
        self.kind, self.at, self.insertions, self.what = kind, at, insertions, what


class Function:
    """Finds the mutants in a function's body, the tokens from first to last."""
    def __init__(self, text, tokens, first, last, names):
        self.text, self.tokens = text, tokens
        self.names = names          # of variables: their types
        self.found = []
        self.block(first, last)

    # Insertions. Openings of what is longer come first, and its closings last.
    def wrap(self, kind, i, j, before, after, what=None):
        """Of the tokens i to j, which is not included."""
        start, end = self.tokens[i].start, self.tokens[j - 1].end
        self.found.append(Mutant(kind, start, [(start, (2, -end), before),
                                               (end, (0, -start), after)],
                                 what or self.source(i, j)))

    def insert(self, kind, at, before, what, rank=1):
        self.found.append(Mutant(kind, at, [(at, (rank, 0), before)], what))

    def source(self, i, j):
        return " ".join(self.text[self.tokens[i].start:self.tokens[j - 1].end].split())

    # Statements. Each function takes the number of its first token, and returns the next one's.
    def block(self, i, end):
        """The statements between two braces; i is the opening one."""
        i += 1
        before = None
        while i < end:
            start = i
            i = self.statement(i, end)
            simple = self.call_at(start, i)
            if before and simple and UNLOCK.search(simple):
                self.move("early", before, (start, i))
            if before and self.call_at(*before) and LOCK.search(self.call_at(*before)) and \
               not UNLOCK.search(self.call_at(*before)) and self.tokens[start].text != "{" and \
               self.is_simple(start, i):
                self.move("late", before, (start, i))
            before = (start, i) if self.is_simple(start, i) else None
        return end + 1

    def move(self, kind, a, b):
        """The statement b before a as well (early), or a after b as well (late)."""
        call, other = (b, a) if kind == "early" else (a, b)
        text = self.text[self.tokens[call[0]].start:self.tokens[call[1] - 1].end]
        drop = self.tokens[call[0]].start
        copy = self.tokens[a[0]].start if kind == "early" else self.tokens[b[1] - 1].end
        self.found.append(Mutant(kind, drop, [
            (copy, (0, 0), " if (MUTANT(@)) %s " % text), (drop, (1, 0), "if (MUTANT(@)) ; else ")],
            self.source(*call)))

    def call_at(self, i, j):
        """The name of the function, if the statement is a call."""
        t = self.tokens
        if t[i].sort == "name" and i + 1 < j and t[i + 1].text == "(" and \
           t[i + 1].match == j - 2 and t[j - 1].text == ";":
            return t[i].text
        return None

    def is_simple(self, i, j):
        t = self.tokens
        return t[j - 1].text == ";" and t[i].text not in \
            ("if", "for", "while", "do", "switch", "return", "goto", "break", "continue", "case",
             "default") and not self.is_declaration(i) and \
            not (t[i].sort == "name" and t[i + 1].text == ":")

    def is_declaration(self, i):
        t = self.tokens
        if t[i].sort != "name":
            return False
        if t[i].text in TYPES:
            return True
        if t[i + 1].sort == "name":
            return True
        return t[i + 1].text == "*" and t[i + 2].sort == "name" and \
            t[i + 3].text in (";", ",", "=", "[")

    def statement(self, i, end):
        t = self.tokens
        text = t[i].text
        if text == "{":
            self.block(i, t[i].match)
            return t[i].match + 1
        if text == ";":
            return i + 1
        if text in ("if", "while", "switch"):
            close = t[i + 1].match
            if text != "switch":
                self.condition(i + 2, close)
            self.expression(i + 2, close)
            i = self.statement(close + 1, end)
            if text == "if" and i < end and t[i].text == "else":
                i = self.statement(i + 1, end)
            return i
        if text == "do":
            i = self.statement(i + 1, end)
            close = t[i + 1].match
            self.condition(i + 2, close)
            self.expression(i + 2, close)
            return close + 2
        if text == "for":
            close = t[i + 1].match
            parts = [k for k in range(i + 2, close) if t[k].text == ";"]
            if len(parts) == 2:
                if parts[1] > parts[0] + 1:
                    self.condition(parts[0] + 1, parts[1])
                self.expression(i + 2, parts[0])
                self.expression(parts[0] + 1, parts[1])
            return self.statement(close + 1, end)
        if text in ("case", "default"):
            while t[i].text != ":":
                i += 1
            return i + 1
        if t[i].sort == "name" and t[i + 1].text == ":":
            return i + 2
        if t[i].sort == "name" and t[i + 1].text == "(":
            after = t[i + 1].match + 1
            # A loop by a macro, or scoped_guard().
            if t[after].text == "{" or (t[after].sort == "name" and "for_each" in text):
                return self.statement(after, end)
        j = i
        while t[j].text != ";":
            j = t[j].match if t[j].text in "([{" and t[j].match else j
            j += 1
        if text == "return":
            if j > i + 1:
                self.wrap("return", i + 1, j, "MUTANT_VALUE(@, ", ")")
                self.expression(i + 1, j)
            else:
                self.insert("drop", t[i].start, "if (MUTANT(@)) ; else ", self.source(i, j))
        elif text in ("goto", "break", "continue"):
            self.insert("drop", t[i].start, "if (MUTANT(@)) ; else ", self.source(i, j))
        elif self.is_declaration(i):
            self.declaration(i, j)
        else:
            self.insert("drop", t[i].start, "if (MUTANT(@)) ; else ", self.source(i, j))
            self.expression(i, j)
        return j + 1

    def declaration(self, i, j):
        t = self.tokens
        if t[i].text in ("static", "extern", "typedef"):
            return
        k = i
        while k < j:
            if t[k].text == "=":
                stop = k + 1
                while stop < j and t[stop].text != ",":
                    stop = t[stop].match if t[stop].text in "([{" else stop
                    stop += 1
                if t[k + 1].text != "{":
                    self.expression(k + 1, stop)
                k = stop
            k += 1

    def condition(self, i, j):
        """Comparisons and negations in it are the expression's."""
        if not self.whole_comparison(i, j):
            self.wrap("negate", i, j, "MUTANT(@) ^ !!(", ")")

    def whole_comparison(self, i, j):
        t = self.tokens
        return any(self.side(k, i, j, -1, COMPARE_ENDS) == i and
                   self.side(k, i, j, 1, COMPARE_ENDS) == j
                   for k in range(i, j) if t[k].text in COMPARE)

    def side(self, k, i, j, step, ends):
        """The other end of the operand of the operator k, in that direction."""
        t = self.tokens
        k += step
        while i <= k < j:
            if t[k].text in (")]}" if step < 0 else "([{") and t[k].match is not None:
                k = t[k].match
            elif t[k].text in ("([{" if step < 0 else ")]}") or t[k].text == "return" or \
                    (t[k].text in ends and (t[k].text not in "&+-" or self.binary(k))):
                break
            k += step
        return k + 1 if step < 0 else k

    def binary(self, k):
        """Whether an operator that may have one operand has two."""
        before = self.tokens[k - 1]
        return before.sort in ("number",) or before.text in (")", "]") or \
            (before.sort == "name" and before.text not in ("return", "case", "sizeof", "typeof"))

    def is_cast(self, k):
        """Whether the bracket before the token k closes a cast."""
        t = self.tokens
        if t[k - 1].text != ")":
            return False
        inside = t[t[k - 1].match + 1]
        return inside.sort == "name" and inside.text in TYPES

    def expression(self, i, j):
        t = self.tokens
        k = i
        while k < j:
            text = t[k].text
            if text in ("sizeof", "typeof", "offsetof", "container_of", "BUILD_BUG_ON",
                        "static_assert", "_Generic", "list_for_each_entry") and \
               t[k + 1].text == "(":
                k = t[k + 1].match + 1
                continue
            if t[k].sort == "mark":
                self.operator(k, i, j)
            elif t[k].sort == "number" and re.fullmatch(r"(0[xX][0-9a-fA-F]+|[0-9]+)[uUlL]*", text):
                self.wrap("number", k, k + 1, "(", " + MUTANT(@))")
            elif t[k].sort == "name":
                self.name(k, i, j)
            k += 1

    def operator(self, k, i, j):
        t, text = self.tokens, self.tokens[k].text
        if text in COMPARE:
            left, right = self.side(k, i, j, -1, COMPARE_ENDS), self.side(k, i, j, 1, COMPARE_ENDS)
            if right <= k + 1 or left >= k:
                return
            self.wrap("negate", left, right, "(MUTANT(@) ^ (", "))")
            if text in MOVED:
                self.choose("bound", left, k, right)
        elif text in ("&&", "||"):
            for step in (-1, 1):
                end = self.side(k, i, j, step, AND_ENDS)
                a, b = (end, k) if step < 0 else (k + 1, end)
                if b > a:
                    self.wrap("ignore", a, b,
                              "(MUTANT(@) || (" if text == "&&" else "(!MUTANT(@) && (", "))")
        elif text == "!":
            end = self.unary(k + 1, j)
            self.wrap("negate", k, end, "(MUTANT(@) ^ ", ")")
        elif text == "?" and t[k + 1].text != ":":
            left = self.side(k, i, j, -1, COND_ENDS)
            if left < k:
                self.wrap("negate", left, k, "(MUTANT(@) ^ !!(", "))")
        elif text in ("+", "-") and self.binary(k) and not self.is_cast(k):
            left, right = self.side(k, i, j, -1, SHIFT_ENDS), self.side(k, i, j, 1, SUM_ENDS)
            if left < k < right - 1:
                self.choose("sign", left, k, right)
        elif text == "|" and self.binary(k):
            self.insert("bit", t[k].end, " !MUTANT(@) *", self.around(k))
        elif text in ("<<", ">>"):
            self.insert("bound", t[k].end, " MUTANT(@) +", self.around(k))

    def choose(self, kind, left, k, right):
        """Another operator at k, between the operands that begin and end there."""
        text = self.text
        self.wrap(kind, left, right, "(MUTANT(@) ? %s%s%s : " % (
            text[self.tokens[left].start:self.tokens[k].start], MOVED[self.tokens[k].text],
            text[self.tokens[k].end:self.tokens[right - 1].end]), ")")

    def around(self, k):
        return self.source(max(k - 1, 0), k + 2)

    def unary(self, k, j):
        """The end of the operand of a unary operator that begins at k."""
        t = self.tokens
        while k < j and t[k].text in ("!", "*", "&", "-", "~", "++", "--"):
            k += 1
        if t[k].text == "(":
            k = t[k].match + 1
        else:
            k += 1
        while k < j and t[k].text in ("(", "[", ".", "->"):
            k = t[k].match + 1 if t[k].text in "([" else k + 2
        return k

    def postfix(self, k):
        """The first token of what ends with the member k."""
        t = self.tokens
        while t[k - 1].text in ("->", "."):
            k -= 2
            while t[k].text in (")", "]"):
                k = t[k].match
                if t[k - 1].sort == "name" or t[k - 1].text in (")", "]"):
                    k -= 1
                else:
                    break
        return k

    def name(self, k, i, j):
        t, text = self.tokens, self.tokens[k].text
        if k + 1 < len(t) and t[k + 1].text == "(" and t[k + 1].match is not None:
            close = t[k + 1].match
            if text in ONCE:
                self.found.append(Mutant("once", t[k].start, [
                    (t[k].start, (3, 0), "MUTANT_"), (t[k + 1].end, (0, 0), "@, ")],
                    self.source(k, close + 1)))
            if text in OTHER:
                call = self.text[t[k + 1].start:t[close].end]
                self.wrap("other", k, close + 1, "(MUTANT(@) ? %s%s : " % (OTHER[text], call), ")")
            self.arguments(k)
            return
        if t[k - 1].text in ("->", "."):
            if text in MEMBERS and (k + 1 >= len(t) or t[k + 1].text != "("):
                first = self.postfix(k)
                if first >= i and t[first].sort == "name":
                    front = self.text[t[first].start:t[k].start]
                    self.wrap("other", first, k + 1,
                              "(*(MUTANT(@) ? &%s%s : &" % (front, MEMBERS[text]), "))")
            return
        for other, kind in self.names.items():
            if text in self.names and other != text and kind == self.names[text]:
                self.wrap("alike", k, k + 1, "(*(MUTANT(@) ? &%s : &" % other, "))",
                          "%s for %s" % (other, text))

    def arguments(self, k):
        """Two neighbours in the call of the function k change places."""
        t = self.tokens
        if t[k].text in COMMUTE:
            return
        close = t[k + 1].match
        parts, start, n = [], k + 2, k + 2
        while n <= close:
            if n == close or t[n].text == ",":
                if n > start:
                    parts.append((start, n))
                start = n + 1
            elif t[n].text in "([{" and t[n].match is not None:
                n = t[n].match
            n += 1
        sources = [self.text[t[a].start:t[b - 1].end] for a, b in parts]
        for n in range(len(parts) - 1):
            if sources[n] == sources[n + 1] or \
               any(re.match(r"struct |\d|\"", s) for s in sources[n:n + 2]):
                continue
            changed = sources[:]
            changed[n], changed[n + 1] = changed[n + 1], changed[n]
            self.wrap("swap", k, close + 1,
                      "(MUTANT(@) ? %s(%s) : " % (t[k].text, ", ".join(changed)), ")")


def header_of(tokens, first):
    """The bracket that closes the parameters of the function whose body begins at first."""
    header = tokens[first - 1]
    # Behind it there may be what sparse reads: __must_hold(...).
    while header.text == ")" and tokens[header.match - 1].text.startswith("__"):
        header = tokens[header.match - 2]
    return header


def variables(text, tokens, first, last):
    """The parameters and variables of the function whose body is first to last, with types."""
    names = {}
    header = header_of(tokens, first)
    if header.text == ")":
        inside = text[tokens[header.match].end:header.start]
        for part in re.split(r",(?![^(]*\))", inside):
            m = re.fullmatch(r"\s*((?:const |struct |unsigned |enum )*\w+[\s*]+)(\w+)\s*", part)
            if m:
                names[m.group(2)] = re.sub(r"\s+|const ", "", m.group(1))
    body = text[tokens[first].end:tokens[last].start]
    body = re.sub(r"/\*.*?\*/", "", body, flags=re.S)
    for m in re.finditer(r"^\t+((?:const |struct |unsigned |enum )*\w+ )"
                         r"((?:\**\w+(?: = [^,;(]*(?:\([^()]*\))?[^,;(]*)?, )*\**\w+(?: = [^;]*)?);",
                         body, re.M):
        kind = re.sub(r"\s+|const ", "", m.group(1))
        if kind in ("return", "goto", "else", "case"):
            continue
        for part in re.split(r",(?![^(]*\))", m.group(2)):
            v = re.match(r"\s*(\**)(\w+)", part)
            if v:
                names[v.group(2)] = kind + v.group(1)
    return names


def mutants(text):
    """All mutants of a file."""
    tokens = tokens_of(text)
    found = []
    i = 0
    while i < len(tokens):
        token = tokens[i]
        if token.text == "{" and token.sort == "mark" and token.match is not None:
            begins_line = text[token.start - 1] == "\n"
            if begins_line and tokens[i - 1].text == ")":
                names = variables(text, tokens, i, token.match)
                some = Function(text, tokens, i, token.match, names).found
                for m in some:
                    m.function = tokens[header_of(tokens, i).match - 1].text
                found += some
            # extern "C" {
            if tokens[i - 1].sort != "string":
                i = token.match
        i += 1
    for m in found:
        m.line = text.count("\n", 0, m.at) + 1
        m.column = m.at - text.rfind("\n", 0, m.at)
    return found


def name_all(file, found):
    """Names them: FILE:LINE:COLUMN:KIND, and a number where that is not enough."""
    seen = {}
    for m in found:
        name = "%s:%d:%d:%s" % (file, m.line, m.column, m.kind)
        seen[name] = seen.get(name, 0) + 1
        m.name = name + (":%d" % seen[name] if seen[name] > 1 else "")
    return found


def of_file(file):
    with open(file) as f:
        text = f.read()
    return text, name_all(file, mutants(text))


def planted(text, chosen):
    """The text with mutants: chosen has pairs of a number and a mutant."""
    places = sorted((at, rank, n, put) for n, m in chosen for at, rank, put in m.insertions)
    out, done = [], 0
    for at, _, n, put in places:
        out.append(text[done:at])
        out.append(put.replace("@", str(n)))
        done = at
    return "".join(out) + text[done:]


def main():
    if len(sys.argv) < 3 or sys.argv[1] != "list":
        sys.exit("usage: sites.py list FILE...")
    for file in sys.argv[2:]:
        for m in of_file(file)[1]:
            print("%s\t%s" % (m.name, m.what))


if __name__ == "__main__":
    main()
