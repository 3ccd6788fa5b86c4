#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Checks the table of the documents' promises, Documentation/promises.csv: a row for each sentence
# of api.rst, design.rst and the manual pages that has one of the words always, never, at most,
# until. Prints a line for each fault, and fails if there was one. Code is left out.
#
#   promises.py              checks
#   promises.py -l           prints these sentences, and how many each file has
#
# A row is the file, words of the sentence that occur once in the file, a test that fails if the
# promise is broken, and a mutant that this test notices. The test is
#
#   callout_core.core_reset  a suite and a case of KUnit
#   device_key:unread        a program of selftests/ and a test
#   schemes:hashed_wheel     a scheme in the harness
#   fuzz:lib                 a fuzzer of selftests/fuzz/user
#   misuse:zeroed            an item of qemu/jobs/misuse.sh
#   tools:sleep              an item of qemu/jobs/tools/
#
# and the mutant's check names the suite or program, of schemes, fuzz and misuse both parts, or is
# "tools". In place of the mutant there may be "none: REASON". A sentence with "-" as its test is no
# promise, and one without a test has none yet: the last column says why.
import csv
import pathlib
import re
import subprocess
import sys

WORDS = re.compile(r"\b(always|never|at most|until)\b", re.I)
TABLE = "Documentation/promises.csv"


def rst(text):
    """Paragraphs, items and rows, without what is indented below "::"."""
    below = None
    for part in re.split(r"\n\s*\n|\n(?=\s*(?:- |[0-9]\. |===|[-0-9]+  ))", text):
        column = len(part) - len(part.lstrip())
        if below is None or column <= below:
            below = column if part.rstrip().endswith("::") else None
            yield part


def man(text):
    """Paragraphs, without requests, fonts and examples."""
    text = re.sub(r"^\.EX\n.*?^\.EE\n", "\n", text, flags=re.M | re.S)
    text = re.sub(r"^\.(?:\\|(?:PP|TP|IP|RS|RE|SH|SS|TH|nf|fi|in|ta)\b).*$", "\n", text, flags=re.M)
    text = re.sub(r"^\.(BR|RB|IR|RI|BI|IB) (.*)$",
                  lambda line: "".join(w.strip('"') for w in re.findall(r'"[^"]*"|\S+', line[2])),
                  text, flags=re.M)
    for old, new in ((r"^\.[BI] ", ""), (r"\\f.", ""), (r"\\-", "-"), (r"\\\(ha", "^"),
                     (r"\\[~ ]", " "), (r"\\&", "")):
        text = re.sub(old, new, text, flags=re.M)
    return re.split(r"\n\s*\n", text)


def sentences(path):
    for part in (rst if path.suffix == ".rst" else man)(path.read_text()):
        for sentence in re.split(r"(?<=[.?!])\s", " ".join(part.split())):
            if WORDS.search(sentence):
                yield sentence


def matches(pattern, *files):
    return {match for file in files for match in re.findall(pattern, file.read_text(), re.M)}


def tests():
    """The names of all tests."""
    sources, module = pathlib.Path("selftests"), pathlib.Path("module")
    program = {"device": "device_", "library": "libcallout_"}
    found = {f"{program.get(file.parent.name, '')}{file.stem}:{name}"
             for file in sources.rglob("*.c") for name in matches(r"^TEST(?:_F\w*\(\w+, |\()(\w+)", file)}
    found |= {f"fuzz:{file.stem[:-5]}" for file in sources.glob("fuzz/user/*_fuzz.c")}
    for kind, pattern, files in (
            ("schemes", r'^\t\.name\t+= "(\w+)"', module.glob("*/*.c")),
            ("misuse", r"^expect (\w+) ", [pathlib.Path("qemu/jobs/misuse.sh")]),
            ("tools", r'^\t+check "([^"]+)"', pathlib.Path("qemu/jobs").glob("tools/*.sh"))):
        found |= {f"{kind}:{name}" for name in matches(pattern, *files)}
    for file in pathlib.Path("kunit").rglob("*.c"):
        text = file.read_text()
        # Two suites have one table of cases.
        if '#include "cases.h"' in text:
            text += file.with_name("cases.h").read_text()
        for suite, table in re.findall(r'\.name\s*= "(callout_\w+)",.*?\.test_cases\s*= (\w+)',
                                       text, re.S):
            cases = re.search(rf"struct kunit_case {table}\[\] = {{(.*?)^}};", text, re.M | re.S)[1]
            found |= {f"{suite}.{case}" for case in re.findall(r"KUNIT_CASE\w*\((\w+)", cases)}
    return found


def mutants():
    """The checks of all mutants, by name."""
    lists = sorted(pathlib.Path("selftests/mutants").glob("*.list"))
    out = subprocess.run(["scripts/mutants/mutate.pl", "list", *lists], check=True, capture_output=True,
                         text=True).stdout
    return {name: checks for name, _, checks in (line.split("\t") for line in out.splitlines())}


def is_for(checks, test):
    """Do the checks of a mutant run the test?"""
    first, second = re.split(r"[.:]", test, maxsplit=1)
    if first in ("schemes", "fuzz", "misuse"):
        first += " " + second
    return re.search(rf"\b{re.escape(first)}\b", checks)


def main():
    paths = [pathlib.Path("Documentation/api.rst"), pathlib.Path("Documentation/design.rst"),
             *sorted(pathlib.Path("Documentation/man").glob("*.[1-9]"))]
    said = {path.name: list(sentences(path)) for path in paths}
    if sys.argv[1:] == ["-l"]:
        for name, all_of_it in said.items():
            print(f"{name}: {len(all_of_it)}", *all_of_it, sep="\n  ")
        return 0
    known, checks = tests(), mutants()
    wrong = []
    covered = {name: set() for name in said}
    with open(TABLE, encoding="utf-8", newline="") as table:
        for row in csv.DictReader(table):
            where = f"{TABLE}: {row['file']}, \"{row['words']}\""
            found = [s for s in said.get(row["file"], []) if row["words"] in s]
            if len(found) != 1 or found[0].count(row["words"]) != 1:
                wrong.append(f"{where}: {len(found)} sentences have these words")
                continue
            covered[row["file"]].add(found[0])
            test, mutant = row["test"], row["mutant"]
            if test in ("", "-"):
                if not mutant:
                    wrong.append(f"{where}: no reason")
            elif test not in known:
                wrong.append(f"{where}: there is no test {test}")
            elif mutant.startswith("none: "):
                pass
            elif mutant not in checks:
                wrong.append(f"{where}: there is no mutant {mutant}")
            elif not is_for(checks[mutant], test):
                wrong.append(f"{where}: {mutant} is not for {test}: {checks[mutant]}")
    for name, all_of_it in said.items():
        wrong += [f"{TABLE} has no row for {name}: {sentence}" for sentence in all_of_it
                  if sentence not in covered[name]]
    print(*wrong, sep="\n", end="\n" if wrong else "")
    return bool(wrong)


sys.exit(main())
