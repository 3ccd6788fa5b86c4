#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Draws mutants at random and finds out which of them the checks notice.

  sample.py SAMPLE SEED [SCOPE]

SCOPE is "module", all but the device, the laboratory and the tests' hooks, "device" or "library".
The sample is drawn over lines: each line that can be changed is as likely as any other, then each
kind of change of it. What does not compile, or compiles to the same code, is not counted.

All mutants of a sample are in one build of the modules for each kernel, see sites.py. A run without
a mutant tells for each check, a suite of KUnit or a program, which of them it reaches, and how long
it takes. A mutant is then tried on the checks that reach it: KUnit's suites on User Mode Linux with
lockdep, KASAN and kmemleak, where sleep takes no time; then, if it survives, the job "misuse"
there, and suites, programs and jobs on kernels with four CPUs, as stages.py has them; in each the
quickest first. Not again on suites that have as many results and skipped cases there as on the one
CPU of User Mode Linux.

All is in build/mutants/SCOPE-SAMPLE-SEED; an interrupted run continues there. If a test has
changed since, what has survived is tried again; if the code has, all begins again. survivors.tsv
of selftests/mutants has reasons for mutants that no check can notice: these are tried on the first
stage alone. The last line is "N passed, N failed": killed, and survived without a reason. lines.csv
there has the lines that most checks run, and that fewest notice: how many have passed with the
mutant before one has failed, if any.
"""
import collections
import concurrent.futures
import glob
import hashlib
import itertools
import math
import os
import random
import re
import shutil
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import sites  # noqa: E402
from objects import BUILD, TOP, Objects  # noqa: E402
from stages import JOBS, STAGES  # noqa: E402

WORKERS = os.cpu_count()

SCOPES = {
    "device": r"module/device/[a-z_]+\.[ch]",
    "library": r"tools/lib/.*\.[ch]",
    # Without what the next changes of the tree cut or rewrite, and what only tests use.
    "module": r"module/(?!probe/|device/|lab/|handles/search|core/trace\.c|.*/debug\.)"
              r"(?:[a-z]+/)?[a-z_]+\.[ch]|module/include/linux/.*\.h",
}


# Functions of these files that only tests call.
ONLY_TESTS = {"ring_check", "wheel_check"}


def digest(files):
    total = hashlib.sha256()
    for file in sorted(files):
        if os.path.isfile(os.path.join(TOP, file)):
            with open(os.path.join(TOP, file), "rb") as f:
                total.update(file.encode() + b"\n" + f.read())
    return total.hexdigest()


# As boot.sh has it.
ALARM = subprocess.check_output(["bash", "-c", '. scripts/lib.sh; printf %s "$alarm"'], cwd=TOP,
                                text=True)


def die(text):
    sys.exit("sample.py: " + text)


class Sample:
    def __init__(self, size, seed, scope):
        self.size, self.seed, self.scope = size, seed, scope
        self.dir = os.path.join(BUILD, "mutants", "%s-%d-%d" % (scope, size, seed))
        self.tree = os.path.join(self.dir, "tree")
        self.out = os.path.join(self.dir, "build")
        os.makedirs(self.dir, exist_ok=True)
        self.chosen = []            # the first is number 1
        self.lock = threading.Lock()

    def path(self, name):
        return os.path.join(self.dir, name)

    def remove(self, *patterns):
        for pattern in patterns:
            for file in glob.glob(self.path(pattern)):
                if os.path.isdir(file):
                    shutil.rmtree(file)
                else:
                    os.unlink(file)

    def begin(self):
        """Forgets what follows from files that have changed."""
        scope = self.files()
        tests = subprocess.check_output(
            ["git", "ls-files", "-co", "--exclude-standard", "module", "kunit", "selftests",
             "tools", "qemu", "scripts/mutants", "scripts/build.sh"], cwd=TOP, text=True).split()
        code = digest(scope + ["scripts/mutants/sites.py", "selftests/mutants/mutant.h"])
        rest = digest(f for f in tests if f not in scope and not f.endswith(".list"))
        old = ["", ""]
        if os.path.exists(self.path("digests")):
            with open(self.path("digests")) as f:
                old = f.read().split()
        if old[0] != code:
            self.remove("*")
        elif old[1] != rest:
            self.remove("planted", "built-*", "map-*", "root-*")
            kept = [line for line in self.lines("verdicts") if "\tkilled\t" in line]
            with open(self.path("verdicts"), "w") as f:
                f.writelines(kept)
        with open(self.path("digests"), "w") as f:
            f.write("%s %s\n" % (code, rest))

    def lines(self, name):
        if not os.path.exists(self.path(name)):
            return []
        with open(self.path(name)) as f:
            return f.readlines()

    # The draw.

    def files(self):
        listed = subprocess.check_output(["git", "ls-files"], cwd=TOP, text=True).split()
        return [f for f in listed if re.fullmatch(SCOPES[self.scope], f)]

    def draw(self):
        os.chdir(TOP)
        self.texts, self.places, by_line, names = {}, collections.Counter(), {}, {}
        for file in self.files():
            self.texts[file], found = sites.of_file(file)
            for m in found:
                m.file = file
                if m.function in ONLY_TESTS:
                    continue
                names[m.name] = m
                self.places[self.place(m)] += 1
                by_line.setdefault((file, m.line), {}).setdefault(m.kind, []).append(m)
        if os.path.exists(self.path("drawn")):
            self.chosen = [names[line.split("\t")[0]] for line in self.lines("drawn")]
            return
        rng = random.Random(self.seed)
        order = []
        # Of each line all, in the order in which they are tried: one of each kind, then the rest.
        for line in sorted(by_line):
            kinds = sorted(by_line[line])
            rng.shuffle(kinds)
            of_line = [rng.sample(by_line[line][kind], len(by_line[line][kind])) for kind in kinds]
            order.append([m for row in itertools.zip_longest(*of_line) for m in row if m])
        rng.shuffle(order)
        objects = Objects(self.files(), self.texts, self.out, self.scope == "library")
        refused = {"same": 0, "no": 0, "unused": 0}
        judged = dict(line.split() for line in self.lines("judged"))

        def judge(m):
            """As Objects.judge(), but once, also if the draw is interrupted."""
            if m.name not in judged:
                judged[m.name] = objects.judge(m)
                with self.lock, open(self.path("judged"), "a") as f:
                    f.write("%s %s\n" % (m.name, judged[m.name]))
            return judged[m.name]

        def first(of_line):
            """The first of a line that counts, and what the others were."""
            verdicts = []
            for m in of_line[:6]:
                verdicts.append(judge(m))
                if verdicts[-1] == "other":
                    return m, verdicts[:-1]
            return None, verdicts

        started = time.time()
        with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
            at = 0
            while len(self.chosen) < self.size and at < len(order):
                part = order[at:at + 2 * WORKERS]
                at += len(part)
                for m, verdicts in pool.map(first, part):
                    for verdict in verdicts:
                        refused[verdict] += 1
                    if m and len(self.chosen) < self.size:
                        self.chosen.append(m)
        with open(self.path("drawn.new"), "w") as f:
            for m in self.chosen:
                f.write("%s\t%s\n" % (m.name, m.what))
        os.rename(self.path("drawn.new"), self.path("drawn"))
        print("drawn: %d of %d lines that can be changed, in %d s; not counted: %d do not compile, "
              "%d compile to the same, %d are compiled nowhere" %
              (len(self.chosen), len(order), time.time() - started, refused["no"],
               refused["same"], refused["unused"]), flush=True)
        objects.end()

    # The tree, and its builds.

    def plant(self):
        if os.path.exists(self.path("planted")):
            return
        shutil.rmtree(self.tree, ignore_errors=True)
        listed = subprocess.check_output(["git", "ls-files", "-co", "--exclude-standard"], cwd=TOP,
                                         text=True).splitlines()
        for file in listed:
            if not os.path.exists(os.path.join(TOP, file)):
                continue
            to = os.path.join(self.tree, file)
            os.makedirs(os.path.dirname(to), exist_ok=True)
            shutil.copy2(os.path.join(TOP, file), to, follow_symlinks=False)
        by_file = {}
        for n, m in enumerate(self.chosen, 1):
            by_file.setdefault(m.file, []).append((n, m))
        for file, some in by_file.items():
            with open(os.path.join(self.tree, file), "w") as f:
                f.write(sites.planted(self.texts[file], some))
        if self.scope == "library":
            self.plant_library()
        else:
            shutil.copy(os.path.join(self.tree, "selftests/mutants/mutant.c"),
                        os.path.join(self.tree, "module"))
            with open(os.path.join(self.tree, "module/Kbuild"), "a") as f:
                f.write("obj-m += mutant.o\nCFLAGS_mutant.o := -DMUTANTS=%d\n" %
                        len(self.chosen))
        open(self.path("planted"), "w").close()

    def plant_library(self):
        """Each file includes mutant.h, and one mutant_user.c. A mutant may have a warning."""
        folder = os.path.join(self.tree, "tools/lib")
        for file in ("mutant.h", "mutant_user.c"):
            shutil.copy(os.path.join(self.tree, "selftests/mutants", file), folder)
        for file in os.listdir(folder):
            if re.fullmatch(r"(?!mutant).*\.[ch]", file):
                with open(os.path.join(folder, file), "r+") as f:
                    text = f.read()
                    f.seek(0)
                    f.write('#include "mutant.h"\n' + text)
                    if file == "ctx.c":
                        f.write('#define MUTANTS %d\n#include "mutant_user.c"\n' %
                                len(self.chosen))
        for file in ("selftests/Makefile", "selftests/fuzz/user/Makefile"):
            with open(os.path.join(self.tree, file), "r+") as f:
                text = f.read().replace("-Wall -Wextra -Werror", "-w")
                f.seek(0)
                f.truncate()
                f.write(text)

    def build(self, what, command):
        if os.path.exists(self.path("built-" + what)):
            return
        started = time.time()
        with open(self.path("build-%s.log" % what), "w") as log:
            status = subprocess.call(command, cwd=self.tree, stdout=log, stderr=subprocess.STDOUT,
                                     env=dict(os.environ, CALLOUT_BUILD=self.out))
        if status:
            die("the build of %s failed, see %s" % (what, log.name))
        print("built %s in %d s" % (what, time.time() - started), flush=True)
        open(self.path("built-" + what), "w").close()

    def build_stage(self, stage):
        if not stage.kernel:
            self.build("fuzzers", ["make", "-C", "selftests/fuzz/user", "TREE=" + self.tree,
                                   "O=" + self.path("user"),
                                   self.path("user/fuzzers/lib_fuzz")])
            corpus = self.path("corpus")
            os.makedirs(corpus, exist_ok=True)
            subprocess.check_call(
                ["scripts/fuzz/corpus.pl", "unpack", corpus] +
                sorted(glob.glob(os.path.join(TOP, "selftests/fuzz/user/corpus/lib*.hex"))),
                cwd=TOP)
            return
        header = "-include %s/selftests/mutants/mutant.h" % self.tree
        command = ["scripts/build.sh", stage.kernel, "C=0", "W=", "CONFIG_CALLOUT_LAB_BENCH="]
        if any(check.startswith("callout_") for check in stage.checks):
            command.append("CONFIG_CALLOUT_KUNIT_TEST=m")
        if self.scope != "library":
            # Without the laboratory, the compiler leaves calls of it out, but not of a mutant.
            command += ["CONFIG_CALLOUT_LAB=y", "KCFLAGS=" + header]
        self.build(stage.kernel, command)
        user = self.path("user")
        made = [user + c for c in stage.checks if c.startswith("/")]
        if made:
            self.build("programs-" + stage.name, ["make", "-C", "selftests", "-j%d" % WORKERS,
                                                  "O=" + user] + made)
        of_jobs = {program for check in stage.checks for program in JOBS.get(check, [])}
        if "calloutctl" in of_jobs:
            self.build("tools", ["make", "-C", "tools", "O=" + user, user + "/calloutctl"])
        of_jobs.discard("calloutctl")
        if of_jobs:
            self.build("jobs-" + stage.name, ["make", "-C", "selftests", "O=" + user] +
                       ["%s/%s" % (user, program) for program in sorted(of_jobs)])

    # Boots.

    def counts(self, name):
        """How many results and skipped cases each check of a stage has."""
        return {row[0]: row[2] for row in (r.split("\t") for r in self.lines("map-%s" % name))}

    def boot(self, stage, name, plan, costs):
        """Runs a plan, and yields what the job prints, then how it ended."""
        if not stage.kernel:
            yield from self.fuzz(name, plan)
            return
        root = self.path("root-" + name)
        os.makedirs(os.path.join(root, "lib"), exist_ok=True)
        links = {root + c: self.path("user") + c for c in stage.checks if c.startswith("/")}
        for job in JOBS.keys() & set(stage.checks):
            for file in ("jobs/%s.sh" % job[4:], "tap.sh", "ktap.awk"):
                links[os.path.join(root, "lib", file)] = os.path.join(self.tree, "qemu", file)
            for program in JOBS[job]:
                links["%s/bin/%s" % (root, program)] = self.path("user/" + program)
        for to, file in links.items():
            os.makedirs(os.path.dirname(to), exist_ok=True)
            if not os.path.exists(to):
                os.link(file, to)
        with open(os.path.join(root, "lib/alarm"), "w") as f:
            f.write(ALARM + "\n")
        counts = self.counts(stage.name)
        with open(os.path.join(root, "lib/plan"), "w") as f:
            for n, checks in plan:
                f.write("%d %s %s\n" % (n, stage.parameters, " ".join(
                    "%s:%s" % (c, counts.get(c, "")) for c in checks)))
        if stage.kernel == "uml-debug":
            command = ["qemu/uml.sh", "-k", stage.kernel, "-n", name, "-d", root, "-t", "3600",
                       "-a", "time-travel kunit.enable=1", "mutants"]
            log = os.path.join(self.out, "log", "uml-" + name)
        else:
            command = ["qemu/boot.sh", "-n", name, "-d", root, "-t", "3600", stage.kernel,
                       "mutants"]
            log = os.path.join(self.out, "log", "%s-%s" % (stage.kernel, name))
        console = log + ".console"
        follow = console if stage.kernel == "uml-debug" else log + ".out"
        for old in (console, follow):
            if os.path.exists(old):
                os.unlink(old)
        os.makedirs(os.path.dirname(log), exist_ok=True)
        process = subprocess.Popen(command, cwd=self.tree, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
                                   env=dict(os.environ, CALLOUT_BUILD=self.out))
        at, rest, heard, limit = 0, "", time.time(), 120
        while True:
            ended = process.poll() is not None
            try:
                with open(follow, "rb") as f:
                    f.seek(at)
                    new = f.read()
            except FileNotFoundError:
                new = b""
            # boot.sh tries again if QEMU or the host has failed.
            if os.path.exists(follow) and os.path.getsize(follow) < at:
                at, rest = 0, ""
                yield "again"
                continue
            at += len(new)
            lines = (rest + new.decode(errors="replace").replace("\r", "")).split("\n")
            rest = lines.pop()
            for line in lines:
                m = re.match(r"(run|killed|survived|reached) (\S+)(?: (\S+))?", line)
                if m:
                    heard = time.time()
                    limit = min(30 + 15 * costs.get(m.group(3), 1), 240)
                yield line
            if ended:
                break
            if time.time() - heard > limit:
                process.terminate()
                process.wait()
                yield "hung"
                return
            time.sleep(0.05)
        try:
            with open(console, errors="replace") as f:
                found = re.search(".*(?:%s).*" % ALARM, f.read())
            yield "ended " + (found.group().strip() if found else "without an alarm")
        except FileNotFoundError:
            yield "ended without an alarm"

    def fuzz(self, name, plan):
        """As boot(), for the inputs of the corpus in a fuzzer of this machine."""
        reached = self.path("reached-" + name)
        for n, checks in plan:
            for check in checks:
                yield "run %d %s" % (n, check)
                env = dict(os.environ, CALLOUT_MUTANT=str(n), CALLOUT_REACHED=reached,
                           LLVM_PROFILE_FILE="/dev/null")
                try:
                    status = subprocess.call(
                        [self.path("user/fuzzers/" + check), "-runs=0", "-timeout=60",
                         "-artifact_prefix=%s/" % self.dir, self.path("corpus")],
                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=env, timeout=600)
                except subprocess.TimeoutExpired:
                    status = "timeout"
                if status:
                    yield "killed %d %s" % (n, check)
                    break
                if not n:
                    with open(reached, "rb") as f:
                        yield "reached %s 1:0 %s" % (check, "".join(map(str, f.read())))
            else:
                yield "run %d rmmod" % n
                yield "survived %d" % n

    def map(self, stage):
        """What each check reaches, and how long it takes: {check: (seconds, {number})}"""
        if not os.path.exists(self.path("map-" + stage.name)):
            self.build_stage(stage)
            self.make_map(stage)
        out = {}
        for line in self.lines("map-" + stage.name):
            check, seconds, _, digits = line.split("\t")
            out[check] = (float(seconds), {n for n, d in enumerate(digits) if d == "1"})
        print("%s: %d checks take %d s" % (stage.name, len(out), sum(c for c, _ in out.values())),
              flush=True)
        return out

    def make_map(self, stage):
        rows = {}
        with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
            for job in [pool.submit(self.map_some, stage, w, stage.checks[w::WORKERS], rows)
                        for w in range(min(WORKERS, len(stage.checks)))]:
                job.result()
        with open(self.path("new"), "w") as f:
            for check, row in rows.items():
                f.write("%s\t%.2f\t%s\t%s\n" % (check, *row))
        os.rename(self.path("new"), self.path("map-" + stage.name))

    def map_some(self, stage, worker, checks, rows):
        begun = {}
        # Again from where a check has ended the boot.
        while checks:
            now, said = None, ""
            for line in self.boot(stage, "map-%s-%d" % (stage.name, worker), [(0, checks)],
                                  dict.fromkeys(checks, 60)):
                words = line.split()
                if line.startswith("run 0 "):
                    now = words[2]
                    begun[now] = time.time()
                elif line.startswith("reached ") and len(words) == 4:
                    rows[words[1]] = (time.time() - begun[words[1]], words[2], words[3])
                elif re.match(r" *not ok |alarm: |ended|hung", line):
                    said = said or line.strip()
            if now == "rmmod":
                break
            if now not in checks:
                die("%s: no check has run: %s" % (stage.name, said))
            print("%s: %s fails without a mutant, and is left out: %s" % (stage.name, now, said),
                  flush=True)
            checks = checks[checks.index(now) + 1:]

    # Verdicts: a line each, NUMBER, stage, "killed" or "survived", by which check.

    def verdicts(self):
        out = {}
        for line in self.lines("verdicts"):
            n, stage, verdict, why = line.rstrip("\n").split("\t")
            out.setdefault(int(n), {})[stage] = (verdict, why)
        return out

    def note(self, n, stage, verdict, why):
        with self.lock:
            with open(self.path("verdicts"), "a") as f:
                f.write("%d\t%s\t%s\t%s\n" % (n, stage.name, verdict, why))
            print("%-9s %-55s %s" % (verdict, self.chosen[n - 1].name, why), flush=True)

    def stage(self, stage):
        known = self.verdicts()
        # The first stage tries all: there a wrong reason can show.
        reasons = {} if stage is STAGES[self.scope][0] else self.reasons()
        left = [n for n, m in enumerate(self.chosen, 1) if stage.name not in known.get(n, {})
                and not any(v == "killed" for v, _ in known.get(n, {}).values())
                and not self.reason(m, reasons)]
        if not left:
            return
        reach = {check: row for check, row in self.map(stage).items() if row[0] <= stage.longest}
        costs = {check: cost for check, (cost, _) in reach.items()}
        at_load = reach.pop("insmod", (0, set()))[1]
        counts, before = self.counts(stage.name), self.counts(stage.after)
        by_cost = [c for c in sorted(reach, key=costs.get) if counts[c] != before.get(c)]
        queue = []
        for n in left:
            checks = [c for c in by_cost if n in reach[c][1] or n in at_load]
            # What only the unloading reaches, if anything does, needs no check.
            if checks or stage is STAGES[self.scope][0]:
                queue.append((n, checks))
        queue.sort(key=lambda row: sum(costs[c] for c in row[1]))
        tries = {}

        def work(worker):
            while True:
                with self.lock:
                    # No worker takes the last of them while another has none.
                    size = min(stage.batch, math.ceil(len(queue) / WORKERS))
                    batch = [queue.pop(0) for _ in range(size)]
                if not batch:
                    return
                rest = self.run(stage, "%s-%d" % (stage.name, worker), batch, costs, tries)
                with self.lock:
                    queue[:0] = rest

        with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
            for job in [pool.submit(work, w) for w in range(WORKERS)]:
                job.result()

    def run(self, stage, name, batch, costs, tries):
        """Runs a batch until one is killed; returns the rest."""
        doing, said, done, first, heard = None, "", set(), True, False
        for line in self.boot(stage, name, batch, costs):
            m = re.match(r"(run|killed|survived) (\d+)(?: (\S+))?$", line)
            if m and m.group(1) == "run":
                doing, heard = (int(m.group(2)), m.group(3)), True
            elif m and m.group(1) == "survived":
                n = int(m.group(2))
                self.note(n, stage, "survived", "%d checks" % len(dict(batch)[n]))
                done.add(n)
                doing, said, first = None, "", False
            elif doing and (m or line.startswith(("ended", "hung"))):
                n, check = doing
                doing, said = None, said if m and said else line
                if self.certain(stage, name, n, check, said, first, costs):
                    self.note(n, stage, "killed", self.why(batch, n, check, said))
                    done.add(n)
                elif tries.setdefault(n, 0) == 2:
                    self.note(n, stage, "survived", "%d checks, unless %s fails for it" %
                              (len(dict(batch)[n]), check))
                    done.add(n)
                else:
                    tries[n] += 1
                said = ""
                if not m:
                    break
            elif line == "again":
                doing = None
            elif re.match(r" *not ok |alarm: |counts: ", line):
                said = said or re.sub(r" *not ok \d+ -? *", "", line)
        if not heard:
            tries[name] = tries.get(name, 0) + 1
            if tries[name] > 2:
                die("%s: a boot without a verdict, see the logs in %s/log" % (stage.name, self.out))
        return [row for row in batch if row[0] not in done]

    def certain(self, stage, name, n, check, said, first, costs):
        """
        Whether a check that has failed tells of the mutant. Another of the same boot may have done
        it, or the host; so it must fail again, alone, and pass without a mutant. Else all of the
        mutant's checks run again, twice at most.
        """
        if not stage.kernel or (stage.kernel == "uml-debug" and first and not said.startswith(
                ("hung", "ended without"))):
            return True
        plan = [check] if check in stage.checks else []
        return not self.passes(stage, name + "-again", n, plan, costs) and \
            self.passes(stage, name + "-without", 0, plan, costs)

    def passes(self, stage, name, n, plan, costs):
        return "survived %d" % n in list(self.boot(stage, name, [(n, plan)], costs))

    def why(self, batch, n, check, said):
        """By which check, and how many ran before it, of how many."""
        checks = dict(batch)[n]
        at = checks.index(check) if check in checks else len(checks)
        return "%s (%d/%d): %s" % (check, at, len(checks), said)

    def lines_table(self, known):
        rows = []
        for n, m in enumerate(self.chosen, 1):
            passed = 0
            for verdict, why in known.get(n, {}).values():
                count = r"\((\d+)/" if verdict == "killed" else r"(\d+)"
                passed += int(re.search(count, why).group(1))
            dead = any(v == "killed" for v, _ in known.get(n, {}).values())
            rows.append((-passed, m.file, m.line, "killed" if dead else "survived", m.what))
        with open(self.path("lines.csv"), "w") as f:
            f.write("file,line,passed,end,change\n")
            for passed, file, line, end, what in sorted(rows)[:100]:
                f.write('%s,%d,%d,%s,"%s"\n' % (file, line, -passed, end, what.replace('"', "'")))

    def reasons(self):
        """Why no check can notice a mutant, by its place."""
        out = {}
        with open(os.path.join(TOP, "selftests/mutants/survivors.tsv")) as f:
            for row in (line.rstrip("\n").split("\t") for line in f):
                if row[0].startswith("#"):
                    continue
                if len(row) != 3:
                    die("survivors.tsv: not three columns: %s" % row)
                out[row[0], row[1]] = row[2]
        return out

    def place(self, m, lines=1):
        """A mutant's place in survivors.tsv, with its last lines."""
        above = [line.strip() for line in self.texts[m.file].split("\n")[:m.line] if line.strip()]
        return "%s %s: %s" % (m.file, m.kind, m.what), " ".join(above[-lines:])

    def reason(self, m, reasons):
        """Why no check can notice a mutant, or None. The line before tells it from one alike."""
        return reasons.get(self.place(m, 2 if self.places[self.place(m)] > 1 else 1))

    def report(self):
        known = self.verdicts()
        reasons = self.reasons()
        reached = set()
        for stage in STAGES[self.scope]:
            for line in self.lines("map-" + stage.name):
                reached |= {n for n, d in enumerate(line.split("\t")[3]) if d == "1"}
        killed = equivalent = 0
        for n, m in enumerate(self.chosen, 1):
            if any(v == "killed" for v, _ in known.get(n, {}).values()):
                killed += 1
            elif why := self.reason(m, reasons):
                equivalent += 1
                print("equivalent: %s: %s: %s" % (m.name, m.what, why))
            else:
                print("survived: %s: %s%s" % (m.name, m.what, "" if n in reached else
                                              " (no check reaches it)"))
        self.lines_table(known)
        failed = len(self.chosen) - killed - equivalent
        print("sample of %d, seed %d: %d killed, %d equivalent, %d survived; %.0f %% of those not "
              "equivalent" % (len(self.chosen), self.seed, killed, equivalent, failed,
                                      100 * killed / max(1, killed + failed)))
        print("%d passed, %d failed" % (killed, failed))
        return failed


def main():
    if len(sys.argv) not in (3, 4) or not sys.argv[1].isdigit() or not sys.argv[2].isdigit():
        die("usage: sample.py SAMPLE SEED [SCOPE]")
    scope = sys.argv[3] if len(sys.argv) > 3 else "module"
    if scope not in SCOPES:
        die("there is no scope %s: %s" % (scope, ", ".join(SCOPES)))
    for packages in ("all", "fuzz-user"):
        if subprocess.call(["scripts/setup.sh", packages], cwd=TOP):
            die("the packages could not be installed")
    sample = Sample(int(sys.argv[1]), int(sys.argv[2]), scope)
    sample.begin()
    sample.draw()
    sample.plant()
    for stage in STAGES[scope]:
        sample.stage(stage)
    sys.exit(1 if sample.report() else 0)


if __name__ == "__main__":
    main()
