# SPDX-License-Identifier: GPL-2.0
#
# Makefile - the targets of this tree; the kernel's build reads Kbuild instead

KERNEL ?= debian-6.12
DESTDIR ?=
BUILD := $(abspath $(or $(CALLOUT_BUILD),build))
comma := ,

# The rest of what splits a path the scripts refuse, see scripts/lib.sh.
ifneq ($(words $(subst :, ,$(subst $(comma), ,$(CURDIR)$(BUILD)))),1)
$(error $(CURDIR) or $(BUILD) has a blank, a comma or a colon, which the kernel's build cannot take)
endif
PREFIX ?= /usr
LIBDIR ?= $(PREFIX)/lib

help: ## this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  %-16s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
	@echo
	@echo "  KERNEL=debian-6.12 for modules, shell; or debian-6.1, debian-6.12-rt, kunit, debug,"
	@echo "  clang (modules only), running (modules; install's default); and kcsan for torture (debug"
	@echo "  by default)."

all: modules tools ## build modules and user-space programs

setup: ## install missing Debian packages that most targets need; each installs the others itself
	scripts/setup.sh all

modules: ## build the modules for KERNEL, in build/KERNEL/
	scripts/build.sh $(KERNEL)

tools: ## build libcallout, calloutctl, the examples and the tests of the device, in build/user/
	$(MAKE) --no-print-directory -C tools O=$(BUILD)/user all examples
	$(MAKE) --no-print-directory -C selftests O=$(BUILD)/user

install: KERNEL := $(if $(filter file,$(origin KERNEL)),running,$(KERNEL))
install: modules ## install module, headers, libcallout, calloutctl; DESTDIR=, PREFIX=/usr, LIBDIR=
	$(MAKE) --no-print-directory -C tools O=$(BUILD)/user
	DESTDIR="$(DESTDIR)" PREFIX="$(PREFIX)" LIBDIR="$(LIBDIR)" scripts/install.sh $(KERNEL)

uninstall: ## remove what install has installed, for all kernels; DESTDIR=, PREFIX=/usr
	DESTDIR="$(DESTDIR)" PREFIX="$(PREFIX)" scripts/uninstall.sh

docs: ## the documents and manual pages as HTML, in build/docs/
	@scripts/docs.sh

dist: ## a tarball of what is committed, in build/
	@scripts/dist.sh

intree: ## in a copy of Linux's source: KUnit, tests of the device; LINUX= puts it into that tree
	@$(if $(LINUX),scripts/intree.sh $(LINUX),scripts/intree-check.sh)

deb: ## packages for Debian of what is committed, in build/deb/
	@scripts/deb.sh

deb-check: ## install the packages on a Debian 12 in a machine of its own, boot it, remove them
	@scripts/deb-check.sh

matrix: ## build for, boot and test the newest kernel of each suite of Debian, or KERNELS=
	@scripts/matrix.sh $(KERNELS)

demo: ## install missing packages, boot Debian's 6.12 kernel and show the facility at work
	@scripts/demo.sh

check: ## a part of the checks below, in minutes; ends with "N passed, N failed"
	@scripts/check.sh quick

check-all: ## every check for this processor in full, with bench, bench-user; 90 minutes
	@scripts/check.sh all

check-long: ## what takes longer: other processors, every scheme, lab, replaced, search, fuzz
	@scripts/check.sh long

check-static: ## gcc, clang and sparse warnings, checkpatch, kernel-doc and house rules
	@scripts/check.sh static

check-schemes: ## each scheme against the reference model, in user space with sanitizers
	@scripts/check.sh schemes

check-schemes-all: ## every test of the device on every exact scheme and variant
	@scripts/check.sh schemes-all

check-model: ## every interleaving of small models of the core and the device, by spin; seeded bugs
	@scripts/check.sh model

check-litmus: ## litmus tests of the barriers that comments pair, in the kernel's memory model
	@scripts/check.sh litmus

check-kunit: ## KUnit on the KUnit kernel, and its suites that take locks on the debug kernel
	@scripts/check.sh kunit

check-late: ## lateness and wake-ups at every distance up to an hour, on the KUnit kernel
	@scripts/check.sh late

check-selftests: ## the tests of the device on Debian's 6.1, 6.12 and 6.12-rt kernels
	@scripts/check.sh selftests

check-tools: ## calloutctl, and 100 000 timers in loops of libev, libuv, libevent and asyncio
	@scripts/check.sh tools

check-load: ## load, unload and refuse wrong parameters
	@scripts/check.sh load

check-client: ## modules built against installed files; no priority inversion on 6.12-rt
	@scripts/check.sh client

check-clients: ## WireGuard, the bridge and others of Linux, their timers callouts, on 6.12 and debug
	@scripts/check.sh clients

check-hotplug: ## unplug and plug CPUs under load
	@scripts/check.sh hotplug

check-cpus: ## 64 and 128 CPUs: load, tests of the device, hotplug, and what each operation costs
	@scripts/check.sh cpus

check-suspend: ## suspend, woken by callouts in alarm clocks; none is lost
	@scripts/check.sh suspend

check-debug: ## KUnit, tests of the device, loading, clients and misuses on the debug kernel
	@scripts/check.sh debug

check-torture: ## a short torture on Debian's 6.12 kernel
	@scripts/check.sh torture

search: ## CPUs wait for each other at each pair of points between critical sections; LOADS=some
	@scripts/search.sh $(LOADS)

SECONDS ?= 600
torture: ## stress the kernel API for SECONDS=600, on KERNEL=debug, kcsan or another
	@scripts/torture.sh $(if $(filter file,$(origin KERNEL)),debug,$(KERNEL)) $(SECONDS)

HOURS ?= 2
soak: ## the torture, the fuzzer and tests of the device together, for HOURS=2, on KERNEL=debug
	@scripts/soak.sh $$(($(HOURS) * 3600)) $(if $(filter file,$(origin KERNEL)),debug,$(KERNEL))

fuzz: ## fuzz the device for SECONDS=600, on KERNEL=fuzz (debug, with coverage) or another
	@scripts/fuzz.sh run $(if $(filter file,$(origin KERNEL)),fuzz,$(KERNEL)) $(SECONDS) $(SEED)

fuzz-bugs: ## put mended mistakes back, one at a time: how soon does the fuzzer report each?
	@scripts/fuzz.sh bugs

check-arm64: ## load, tests of the device, hotplug, torture, on Debian's 6.12 for arm64, and KUnit
	@scripts/check.sh arm64

check-riscv64: ## load, tests of the device and KUnit on a 6.12 built for riscv64
	@scripts/check.sh riscv64

check-s390x: ## load, tests of the device and KUnit on a 6.12 built for s390x, which is big-endian
	@scripts/check.sh s390x

check-fuzz: ## the fuzzer of the device for a minute, on the debug kernel
	@scripts/check.sh fuzz

check-faults: ## each allocation and copy fails once, at load, at open, in each call; a full memory cgroup
	@scripts/check.sh faults

bench: ## count instructions of operations and ticks, and of Linux's timers, in build/bench/
	@scripts/bench.sh

bench-user: ## the device against timerfd, POSIX timers and io_uring, in build/bench/
	@scripts/bench-user.sh

bench-loop: ## idle timeouts in loops: libev, libuv, timerfds, libcallout, in build/bench/
	@scripts/bench-loop.sh

SECONDS_FUZZ = $(if $(filter file,$(origin SECONDS)),120,$(SECONDS))
fuzz-user: ## libFuzzer on schemes, table, hash and libcallout, in user space, SECONDS=120
	@scripts/fuzz-user.sh $(SECONDS_FUZZ)

mutants: ## small wrong changes, each of which a check must notice; ONLY=names, or SAMPLE=n SEED=n SCOPE=
	@$(if $(SAMPLE),scripts/mutants/sample.py $(SAMPLE) $(or $(SEED),1) $(SCOPE),scripts/mutants.sh $(ONLY))

replaced: ## boot a kernel whose timer_list is a callout beside one as it was: build/replaced/table.csv
	@scripts/replaced.sh

lab: ## measure every scheme: tables and pictures in build/lab/; up to 30 minutes
	@scripts/lab.sh

pictures: ## draw Documentation/lab/ from its data, copied FROM=build/lab first if that is given
	@scripts/lab.sh pictures $(FROM)

shell: modules ## a shell in the test machine on KERNEL, with the module loaded; ADD= a directory
	$(MAKE) --no-print-directory -C tools O=$(BUILD)/user
	@qemu/boot.sh $(if $(ADD),-d $(ADD)) $(KERNEL) shell

clean: ## remove build/
	rm -rf build

distclean: clean ## also remove the cached kernels
	rm -rf "$${CALLOUT_CACHE:-$${XDG_CACHE_HOME:-$${HOME:-build}/.cache}/callout}"

.PHONY: help all setup modules tools install uninstall docs dist intree deb deb-check matrix demo check check-all check-long check-static check-schemes \
	check-schemes-all check-model check-litmus check-kunit check-late check-selftests check-tools check-load \
	check-client check-clients check-hotplug check-cpus check-suspend check-torture check-debug check-arm64 \
	check-riscv64 check-s390x check-fuzz check-faults search torture soak fuzz fuzz-bugs fuzz-user mutants bench bench-user bench-loop replaced lab pictures \
	shell clean distclean
