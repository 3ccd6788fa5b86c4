# SPDX-License-Identifier: GPL-2.0
#
# Makefile - what can be done with this tree; the kernel's build reads Kbuild instead

KERNEL ?= debian-6.12
DESTDIR ?=
PREFIX ?= /usr
LIBDIR ?= $(PREFIX)/lib

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-16s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
	@echo
	@echo "  KERNEL=debian-6.12 (modules, shell, install): debian-6.1, debian-6.12, debian-6.12-rt, kunit, debug;"
	@echo "  also clang (modules), running (modules, install). For torture, where the default is debug, also kcsan"

all: modules tools ## the modules and the user-space programs

setup: ## installs the Debian packages that are missing, for every target
	scripts/setup.sh all

modules: ## the modules for KERNEL, in build/KERNEL/
	scripts/build.sh $(KERNEL)

tools: ## libcallout, calloutctl, the examples and the tests of the device, in build/user/
	$(MAKE) --no-print-directory -C tools O=$(CURDIR)/build/user all examples
	$(MAKE) --no-print-directory -C selftests O=$(CURDIR)/build/user

install: modules ## the module for KERNEL, headers, libcallout, calloutctl; DESTDIR=, PREFIX=/usr, LIBDIR=
	$(MAKE) --no-print-directory -C tools O=$(CURDIR)/build/user
	DESTDIR=$(DESTDIR) PREFIX=$(PREFIX) LIBDIR=$(LIBDIR) scripts/install.sh $(KERNEL)

demo: ## installs what is missing, boots Debian's 6.12 kernel and shows the facility at work
	@scripts/demo.sh

check: ## the checks below but check-debug, check-schemes-all; the last line is "N passed, N failed"
	@scripts/check.sh builds static selftests kunit hotplug schemes torture load client tools late

check-all: ## everything there is, whole, with long tortures, bench, bench-user, lab; hours
	@scripts/check.sh all

check-static: ## warnings of gcc, clang and sparse, checkpatch, kernel-doc and the house rules
	@scripts/check.sh static

check-schemes: ## each scheme beside the reference model, in user space under sanitizers
	@scripts/check.sh schemes

check-schemes-all: ## every test of the device on every exact scheme and variant; not in check
	@scripts/check.sh schemes-all

check-kunit: ## KUnit on the KUnit kernel, and its part with the locks on the debug kernel
	@scripts/check.sh kunit

check-late: ## lateness and wake-ups at every distance up to an hour, on the KUnit kernel
	@scripts/check.sh late

check-selftests: ## the tests of the device on Debian's 6.1, 6.12 and 6.12-rt kernels
	@scripts/check.sh selftests

check-tools: ## calloutctl, and 100 000 timers in a libev loop
	@scripts/check.sh tools

check-load: ## loading, unloading and refusing wrong parameters
	@scripts/check.sh load

check-client: ## modules that are built against what "make install" installs; priority inversion on 6.12-rt
	@scripts/check.sh client

check-hotplug: ## CPUs that come and go under load
	@scripts/check.sh hotplug

check-debug: ## KUnit, the tests of the device, loading, clients and misuses on a kernel with every checker
	@scripts/check.sh debug

check-torture: ## a short torture, on Debian's 6.12
	@scripts/check.sh torture

SECONDS ?= 600
torture: ## everything at the same time for SECONDS=600, on KERNEL=debug, kcsan or another
	@scripts/torture.sh $(if $(filter file,$(origin KERNEL)),debug,$(KERNEL)) $(SECONDS)

bench: ## instructions of each operation and tick beside Linux's timers, in build/bench/
	@scripts/bench.sh

bench-user: ## instructions and memory of the device beside timerfd, POSIX timers and io_uring, in build/bench/
	@scripts/bench-user.sh

lab: ## every scheme measured, tables and pictures in build/lab/; up to 30 minutes
	@scripts/lab.sh

pictures: ## draws Documentation/lab/ from the data there, or first copied there FROM=build/lab
	@scripts/lab.sh pictures $(FROM)

shell: modules tools ## a shell in the machine under KERNEL, the module loaded
	@qemu/boot.sh $(KERNEL) shell

clean: ## removes build/
	rm -rf build

distclean: clean ## removes the cached kernels too
	rm -rf "$${CALLOUT_CACHE:-$${XDG_CACHE_HOME:-$$HOME/.cache}/callout}"

.PHONY: help all setup modules tools install demo check check-all check-static check-schemes check-schemes-all check-kunit check-late check-selftests \
	check-tools check-load check-client check-hotplug check-torture check-debug \
	torture bench bench-user lab pictures shell clean distclean
