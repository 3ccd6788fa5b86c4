# SPDX-License-Identifier: GPL-2.0
#
# Makefile - what can be done with this tree; the kernel's build reads Kbuild instead

KERNEL ?= debian-6.12
DESTDIR ?=
PREFIX ?= /usr

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-16s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
	@echo
	@echo "  KERNEL=debian-6.12 (modules, shell, install): debian-6.1, debian-6.12, debian-6.12-rt, kunit, debug;"
	@echo "  also clang (modules), running (modules, install)"

all: modules tools ## the modules and the user-space programs

setup: ## installs the Debian packages that are missing, for every target
	scripts/setup.sh all

modules: ## the modules for KERNEL, in build/KERNEL/
	scripts/build.sh $(KERNEL)

tools: ## calloutctl and the tests of the device, in build/user/
	$(MAKE) --no-print-directory -C tools O=$(CURDIR)/build/user
	$(MAKE) --no-print-directory -C selftests O=$(CURDIR)/build/user

install: modules tools ## the module for KERNEL, headers, Module.symvers, calloutctl; DESTDIR=, PREFIX=/usr
	DESTDIR=$(DESTDIR) PREFIX=$(PREFIX) scripts/install.sh $(KERNEL)

demo: ## installs what is missing, boots Debian's 6.12 kernel and shows the facility at work
	@scripts/demo.sh

check: ## every check but check-debug; the last line is "N passed, N failed"
	@scripts/check.sh static kunit late selftests load client hotplug

check-static: ## checkpatch, sparse, warnings, kernel-doc and the house rules
	@scripts/check.sh static

check-kunit: ## KUnit on the KUnit kernel
	@scripts/check.sh kunit

check-late: ## lateness and wake-ups at every distance up to an hour, on the KUnit kernel
	@scripts/check.sh late

check-selftests: ## the tests of the device on Debian's 6.1, 6.12 and 6.12-rt kernels
	@scripts/check.sh selftests

check-load: ## loading, unloading and refusing wrong parameters
	@scripts/check.sh load

check-client: ## a module that is built against what "make install" installs
	@scripts/check.sh client

check-hotplug: ## CPUs that come and go under load
	@scripts/check.sh hotplug

check-debug: ## KUnit and the tests of the device on a kernel with every checker
	@scripts/check.sh debug

bench: ## instructions of each operation and tick beside Linux's timers, in build/bench/
	@scripts/bench.sh

shell: modules tools ## a shell in the machine under KERNEL, the module loaded
	@qemu/boot.sh $(KERNEL) shell

clean: ## removes build/
	rm -rf build

distclean: clean ## removes the cached kernels too
	rm -rf "$${CALLOUT_CACHE:-$${XDG_CACHE_HOME:-$$HOME/.cache}/callout}"

.PHONY: help all setup modules tools install demo check check-static check-kunit check-late check-selftests check-load \
	check-client check-hotplug check-debug \
	bench shell clean distclean
