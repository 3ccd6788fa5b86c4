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

help:
	@sed -nE 's/^## //p; s/^([a-z][a-z0-9 ._-]*):.*## /\1\t/p' $(firstword $(MAKEFILE_LIST)) | \
		awk -F '\t' 'NF > 1 { $$0 = sprintf("  %-16s %s", $$1, $$2) } { print }'

# The kernel, unless KERNEL= names another.
kernel = $(if $(filter file,$(origin KERNEL)),$1,$(KERNEL))

## Everyday. KERNEL= names another kernel: debian-6.12 (for shell), debian-6.1, debian-6.12-rt,
##   kunit, debug, kcsan (for torture), clang (builds only), running (builds, installs)
kunit: ## one suite of KUnit, or one case, on KERNEL=kunit: SUITE=suite[.case]
	@scripts/one.sh kunit "$$SUITE" $(call kernel,kunit)

selftest: ## one test of the device, on KERNEL=debian-6.12: TEST=name
	@scripts/one.sh selftest "$$TEST" $(KERNEL)

gdb: ## the same under gdb, in a machine that is stopped: SUITE=suite[.case] or TEST=name
	@scripts/one.sh -g $(if $(TEST),selftest "$$TEST",kunit "$$SUITE")

shell: modules ## a shell in the test machine, with the module loaded; ADD= what else is in there
	$(MAKE) --no-print-directory -C tools O=$(BUILD)/user
	@qemu/boot.sh $(if $(ADD),-d "$$ADD") $(KERNEL) shell

compile_commands.json: KERNEL := $(call kernel,kunit)
compile_commands.json: modules ## for clangd, in build/, of the sources for KERNEL=kunit
	@eval "$$(qemu/kernel.sh -b $(KERNEL))" && linux=$$(qemu/kernel.sh -s) && \
		ln -sfn "$$linux" $(BUILD)/linux && cd "$$KERNEL_BUILD" && python3 "$$linux/scripts/clang-tools/gen_compile_commands.py" \
			-o $(BUILD)/$@ $(BUILD)/$(KERNEL)/src

check: ## a part of the checks below, in minutes; ends with "N passed, N failed"
	@scripts/check.sh quick

## Checks
# scripts/check.sh has each by this name.
CHECKS := all long static schemes schemes-all model litmus library runtimes rust docs kunit late selftests tools load client \
	  clients criu hotplug cpus suspend debug torture fuzz faults arm64 riscv64 s390x

$(CHECKS:%=check-%): check-%:
	@scripts/check.sh $*

check-all: ## every check for this processor in full, with bench, bench-user; hours
check-long: ## what takes longer: other processors, every scheme, lab, replaced, interleave, fuzz
check-static: ## gcc, clang and sparse warnings, checkpatch, kernel-doc and house rules
check-schemes: ## each scheme against the reference model, in user space with sanitizers
check-schemes-all: ## nearly every test of the device on every exact scheme and variant
check-model: ## every interleaving of small models of the core and the device, by spin; seeded bugs
check-litmus: ## litmus tests of the barriers that comments pair, in the kernel's memory model
check-library: ## libcallout without the module: sanitizers, compilers, installed alone, loops, Python
check-runtimes: ## the timer tests of libuv and of CPython's asyncio, unmodified, on libcallout
check-rust: ## the Rust crate, by Debian's cargo and packaged crates; with and without the module
check-docs: ## the site, and its page that runs the schemes, in a headless Chromium
check-criu: ## processes with callouts that CRIU dumps in one boot and restores in another
check-kunit: ## KUnit on the KUnit kernel, and its suites that take locks on the debug kernel
check-late: ## lateness and wake-ups at every distance up to an hour, on the KUnit kernel
check-selftests: ## the tests of the device on Debian's 6.1, 6.12 and 6.12-rt kernels
check-tools: ## calloutctl, and 100 000 timers in loops of libev, libuv, libevent and asyncio
check-load: ## load, unload and refuse wrong parameters
check-client: ## modules built against installed files; no priority inversion on 6.12-rt
check-clients: ## WireGuard, the bridge and others of Linux, their timers callouts, on 6.12 and debug
check-hotplug: ## unplug and plug CPUs under load
check-cpus: ## 64 and 128 CPUs: load, tests of the device, hotplug, and what each operation costs
check-suspend: ## suspend, woken by callouts in alarm clocks; none is lost
check-debug: ## KUnit, tests of the device, loading, clients and misuses on the debug kernel
check-torture: ## a short torture on Debian's 6.12 kernel
check-fuzz: ## the fuzzer of the device for a minute, on the debug kernel
check-faults: ## each allocation and copy fails once; a full memory cgroup
check-arm64 check-riscv64 check-s390x: ## the same on that processor, in QEMU: load, tests, KUnit

interleave: ## two CPUs meet at each pair of points between critical sections; LOADS=some
	@scripts/check/interleave.sh $(LOADS)

SECONDS ?= 600
torture: ## stress the kernel API for SECONDS=600, on KERNEL=debug, kcsan or another
	@scripts/check/torture.sh $(call kernel,debug) $(SECONDS)

HOURS ?= 2
soak: ## torture, fuzzer and tests of the device together, for HOURS=2, on KERNEL=debug
	@scripts/check/soak.sh $$(($(HOURS) * 3600)) $(call kernel,debug)

fuzz: ## fuzz the device for SECONDS=600, on KERNEL=fuzz (debug, with coverage) or another
	@scripts/fuzz/device.sh run $(call kernel,fuzz) $(SECONDS) $(SEED)

fuzz-bugs: ## put mended mistakes back, one at a time: how soon does the fuzzer report each?
	@scripts/fuzz/device.sh bugs

SECONDS_FUZZ = $(if $(filter file,$(origin SECONDS)),120,$(SECONDS))
fuzz-user: ## libFuzzer on schemes, table, hash and libcallout, in user space, SECONDS=120
	@scripts/fuzz/user.sh $(SECONDS_FUZZ)

mutants: ## small wrong changes that a check must notice; ONLY=names, or SAMPLE=n SEED=n SCOPE=
	@$(if $(SAMPLE),scripts/mutants/sample.py $(SAMPLE) $(or $(SEED),1) $(SCOPE),scripts/mutants/list.sh $(ONLY))

replaced: ## a kernel whose timer_list is a callout beside one as it was: build/replaced/table.csv
	@scripts/measure/replaced.sh

intree: ## in a copy of Linux's source: KUnit, tests of the device; LINUX= puts it into that tree
	@$(if $(LINUX),scripts/package/intree.sh $(LINUX),scripts/package/intree-check.sh)

matrix: ## build for, boot and test the newest kernel of each suite of Debian, or KERNELS=
	@scripts/check/matrix.sh $(KERNELS)

deb-check: ## install the packages on a Debian 12 in a machine of its own, boot it, remove them
	@scripts/package/deb-check.sh

## Measure
bench: ## count instructions of operations and ticks, and of Linux's timers, in build/bench/
	@scripts/measure/bench.sh $(call kernel)

bench-latency: ## lateness of callouts and Linux's timers under loads; KERNELS=, build/bench/
	@scripts/measure/latency.sh $(KERNELS)

bench-user: ## the device against timerfd, POSIX timers and io_uring, in build/bench/
	@scripts/measure/bench-user.sh $(call kernel)

bench-loop: ## idle timeouts in loops: libev, libuv, timerfds, libcallout, in build/bench/
	@scripts/measure/bench-loop.sh

lab: ## measure every scheme: tables and pictures in build/lab/; ONLY=scheme, KERNEL=unstable
	@scripts/measure/lab.sh $(addprefix -s ,$(call kernel,)) $(if $(ONLY),only $(ONLY))

pictures: ## draw Documentation/lab/ from its data, copied FROM=build/lab first if that is given
	@scripts/measure/lab.sh pictures $(FROM)

demo: ## install missing packages, boot Debian's 6.12 kernel and show the facility at work
	@scripts/demo.sh

## Build and package
setup: ## install missing Debian packages that most targets need; checks install the others
	scripts/setup.sh all

all: modules tools ## build modules and user-space programs

modules: ## build the modules for KERNEL=debian-6.12, in build/KERNEL/
	scripts/build.sh $(KERNEL)

tools: ## build libcallout, calloutctl, the examples and the tests of the device, in build/user/
	$(MAKE) --no-print-directory -C tools O=$(BUILD)/user all examples
	$(MAKE) --no-print-directory -C selftests O=$(BUILD)/user

install: KERNEL := $(call kernel,running)
install: modules ## install module, headers, libcallout, calloutctl; DESTDIR=, PREFIX=/usr, LIBDIR=
	$(MAKE) --no-print-directory -C tools O=$(BUILD)/user
	DESTDIR="$(DESTDIR)" PREFIX="$(PREFIX)" LIBDIR="$(LIBDIR)" scripts/package/install.sh $(KERNEL)

uninstall: ## remove what install has installed, for all kernels; DESTDIR=, PREFIX=/usr
	DESTDIR="$(DESTDIR)" PREFIX="$(PREFIX)" scripts/package/uninstall.sh

docs: ## the documents and manual pages as HTML, in build/docs/
	@scripts/package/docs.sh

dist: ## a tarball of what is committed, in build/
	@scripts/package/dist.sh

deb: ## packages for Debian of what is committed, in build/deb/
	@scripts/package/deb.sh

clean distclean: ## remove build/; distclean also removes the cached kernels
	rm -rf build
	$(if $(filter distclean,$@),rm -rf "$${CALLOUT_CACHE:-$${XDG_CACHE_HOME:-$${HOME:-build}/.cache}/callout}")

.PHONY: help kunit selftest gdb shell compile_commands.json check $(CHECKS:%=check-%) interleave torture soak fuzz fuzz-bugs \
	fuzz-user mutants replaced intree matrix deb-check bench bench-latency bench-user bench-loop lab \
	pictures demo setup all modules tools install uninstall docs dist deb clean distclean
