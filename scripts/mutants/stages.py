# SPDX-License-Identifier: GPL-2.0
"""On which kernels, and with which checks, sample.py tries a mutant."""
import math
import os

from objects import TOP


class Stage:
    """
    Checks that are run on one kernel with the same parameters. after is the name of a stage with
    the same checks. Checks that take more than longest seconds are left out. A boot is for a batch
    of mutants, until one of them is killed.
    """
    def __init__(self, name, kernel, parameters, checks, after=None, longest=math.inf, batch=8):
        self.name, self.kernel, self.parameters, self.checks = name, kernel, parameters, checks
        self.after, self.longest, self.batch = after, longest, batch


def suites(run=None, without=None):
    """The names of KUnit's suites: of a run of qemu/suites or all, without another's."""
    out = []
    with open(os.path.join(TOP, "qemu/suites")) as f:
        for line in f:
            words = line.split()
            if words and not line.startswith("#") and (run is None or run in words[1:]) \
                    and without not in words[1:]:
                out.append(words[0])
    return out


def programs(folder, name):
    """The tests of a folder of selftests/, as they are called there."""
    out = []
    for file in sorted(os.listdir(os.path.join(TOP, "selftests", folder))):
        if file != "suspend_alarm.c":
            out.append("/selftests/%s_%s" % (name, file[:-2]))
    return out


# Each allocation and copy fails once, where the kernel can do that.
FAULTS = ["/faults_op", "/faults_file"]

UML = Stage("uml", "uml-debug", "tick_source=jiffies", suites(without="qemu"))
# The slowest suites take longer than all others, and notice nothing more.
KUNIT = Stage("kunit", "kunit", "tick_source=jiffies", suites(), "uml", longest=10)
# Jobs that load the module as they want, and the programs that they need.
JOBS = {"job_hotplug": ["hotplug_storm", "calloutctl"], "job_load": ["calloutctl"],
        "job_unload": [], "job_misuse": [], "job_faults": ["faults_load"], "job_torture": []}
LOADS = ["job_hotplug", "job_load", "job_unload"]
# Reports of a kernel with checkers, of which it makes only some in a boot.
UML_JOBS = Stage("uml-jobs", "uml-debug", "tick_source=jiffies", ["job_misuse", "job_faults"],
                 batch=1)

STAGES = {
    "device": [
        UML,
        KUNIT,
        Stage("device", "debian-6.12", "device_hz=250000", programs("device", "device") + LOADS),
        # For the alarms of this kernel. The slowest programs take five times as long as the rest.
        Stage("uml-device", "uml-debug", "device_hz=250000", programs("device", "device") + FAULTS,
              longest=10),
    ],
    "module": [
        UML,
        Stage("uml-hrtimer", "uml-debug", "tick_source=hrtimer+hz=10000",
              suites("tick", without="qemu")),
        # untimeout() without the hash.
        Stage("uml-search", "uml-debug", "scheme=sorted_list", suites("search")),
        UML_JOBS,
        Stage("uml-faults", "uml-debug", "device_hz=250000", FAULTS),
        KUNIT,
        # The module's own part of the device: debugfs.
        Stage("loads", "debian-6.12", "device_hz=250000",
              ["/selftests/device_counters", "/selftests/device_follow"] + LOADS),
        Stage("kunit-hrtimer", "kunit", "tick_source=hrtimer+hz=10000", suites("tick"),
              "uml-hrtimer", longest=10),
        # Four CPUs and lockdep, for the locks of CPU hotplug.
        Stage("debug", "debug", "tick_source=jiffies",
              ["callout_class", "callout_hotplug", "callout_refill"]),
        # All calls at random, on a kernel that reports data races.
        Stage("kcsan", "kcsan", "tick_source=jiffies", ["job_torture"]),
    ],
    "library": [
        Stage("fuzzer", None, "", ["lib_fuzz"]),
        Stage("uml-device", "uml-debug", "device_hz=250000", programs("library", "libcallout")),
        Stage("device", "debian-6.12", "device_hz=250000", programs("library", "libcallout"),
              "uml-device"),
    ],
}
