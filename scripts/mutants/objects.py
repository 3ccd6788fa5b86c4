# SPDX-License-Identifier: GPL-2.0
"""Which mutants compile, and to other code than without them."""
import os
import re
import shutil
import subprocess
import threading

import sites

TOP = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
BUILD = os.environ.get("CALLOUT_BUILD") or os.path.join(TOP, "build")

# A change of a header that is none in so many sources counts as none.
HEADER_USERS = 12


class Objects:
    """
    Compiles single files with a mutant and without: of the module, as the KUnit kernel's build did,
    or of the library. files are the sample's, texts their contents, out a name for copies.
    """
    def __init__(self, files, texts, out, library):
        self.texts, self.out = texts, out
        self.base = {}
        self.local = threading.local()
        self.users = {}             # of a file: the sources that are compiled with it
        self.commands = {}
        self.src = TOP
        self.kernel = TOP
        self.parts = ["Kbuild", "VERSION", "module", "kunit", "tools/lib",
                      "selftests/mutants/mutant.h"]
        self.trees = []
        if library:
            self.library(files)
        else:
            self.modules()

    def library(self, files):
        sources = [f for f in files if f.endswith(".c")]
        for name in sources:
            self.commands[name] = "gcc -O2 -std=gnu11 -D_GNU_SOURCE -I%s -I%s -o x -c %s" % tuple(
                os.path.join(TOP, f) for f in ("module/include/uapi", "tools/lib", name))
        for file in files:
            self.users[file] = [file] if file in sources else sources

    def modules(self):
        subprocess.check_call(["scripts/build.sh", "kunit"], cwd=TOP, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL)
        self.src = os.path.join(BUILD, "kunit/src")
        text = subprocess.check_output(["qemu/kernel.sh", "-b", "kunit"], cwd=TOP, text=True)
        self.kernel = re.search(r"KERNEL_BUILD='(.*)'", text).group(1)
        for folder, _, files in list(os.walk(os.path.join(self.src, "module"))) + \
                list(os.walk(os.path.join(self.src, "kunit"))):
            for file in files:
                if re.fullmatch(r"\.(?!callout\.o).*(?<!\.mod)\.o\.cmd", file):
                    self.note(os.path.join(folder, file))

    def note(self, cmd):
        with open(cmd) as f:
            text = f.read()
        m = re.search(r"^savedcmd_(\S+) := (.*?)(?: ;.*)?$", text, re.M)
        if not m or " -c " not in m.group(2):
            return
        source = re.search(r"^source_\S+ := (\S+)", text, re.M).group(1)
        name = os.path.relpath(source, self.src)
        self.commands[name] = m.group(2)
        for header in set(re.findall(r"%s/(\S+\.[ch])" % re.escape(self.src), text)):
            self.users.setdefault(header, []).append(name)

    def tree(self):
        """A copy of the sources for each thread."""
        if not hasattr(self.local, "tree"):
            self.local.tree = "%s-%d" % (self.out, threading.get_ident())
            shutil.rmtree(self.local.tree, ignore_errors=True)
            os.makedirs(self.local.tree)
            self.trees.append(self.local.tree)
            for part in self.parts:
                to = os.path.join(self.local.tree, part)
                os.makedirs(os.path.dirname(to), exist_ok=True)
                copy = shutil.copytree if os.path.isdir(os.path.join(TOP, part)) else shutil.copy
                copy(os.path.join(TOP, part), to)
        return self.local.tree

    def end(self):
        for tree in self.trees:
            shutil.rmtree(tree)

    def compile(self, name, number):
        """The object code, or None."""
        tree = self.tree()
        command = self.commands[name]
        command = re.sub(r"-Wp,-MMD,\S+", "", command)
        command = command.replace(self.src + "/", tree + "/")
        command = re.sub(r" -o \S+", " -o %s/it.o" % tree, command)
        command += " -g0 -Werror=incompatible-pointer-types -Werror=int-conversion" \
                   " -Werror=discarded-qualifiers -Werror=implicit-function-declaration" \
                   " -DMUTANT_IS=%d -include %s/selftests/mutants/mutant.h" % (number, tree)
        if subprocess.call(command, shell=True, cwd=self.kernel, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL):
            return None
        # Paths are not code.
        subprocess.check_call(["objcopy", "--strip-debug", "-O", "elf64-x86-64",
                               os.path.join(tree, "it.o")])
        with open(os.path.join(tree, "it.o"), "rb") as f:
            return f.read().replace(tree.encode(), b"")

    def tried(self, m):
        """
        The sources to compile: its own; of a header some, first the sources with the name of the
        function or macro that it is in. Most sources have none of its code.
        """
        users = sorted(self.users.get(m.file, []))
        if m.file in users:
            return [m.file]
        above = "\n".join(self.texts[m.file].split("\n")[:m.line])
        names = re.findall(r"^(?:#define |[a-z_][^(]*[ *])?(\w+)\(", above, re.M)
        users.sort(key=lambda n: not names or names[-1] not in self.text(n))
        return users[:HEADER_USERS]

    def text(self, name):
        with open(os.path.join(TOP, name)) as f:
            return f.read()

    def judge(self, m):
        tree = self.tree()
        verdict = "unused"
        file = os.path.join(tree, m.file)
        for name in self.tried(m):
            key = (tree, name)
            if key not in self.base:
                self.base[key] = self.compile(name, 0)
            with open(file, "w") as f:
                f.write(sites.planted(self.texts[m.file], [(1, m)]))
            code = self.compile(name, 1)
            with open(file, "w") as f:
                f.write(self.texts[m.file])
            if code is None:
                return "no"
            if code != self.base[key]:
                return "other"
            verdict = "same"
        return verdict
