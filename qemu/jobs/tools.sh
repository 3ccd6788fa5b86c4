#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Job: calloutctl, and the examples: loops with 100 000 timers on libcallout, a server by io_uring.

# shellcheck source=qemu/tap.sh
. /lib/tap.sh
for file in lib commands unwritable top list check; do
	# shellcheck source=/dev/null
	. /lib/tools/$file.sh
done

check "not loaded" fails 1 "load the module, as root" calloutctl info
check "check, not loaded" wrongs "modprobe callout" calloutctl
check "top, not loaded" fails 1 "/dev/callout: No such file" calloutctl top
check "top --kernel, not loaded" fails 1 "load the module, as root" calloutctl top --kernel
check "list, not loaded" fails 1 "/dev/callout: No such file" calloutctl list 1
for parameters in "tick_source=jiffies" "tick_source=hrtimer hz=1000"; do
	load_module
	check_check
	check_calloutctl
	check_top
	check_names
	check_width
	check_keys
	check_list
	check "stat: the module is loaded again" stat_reloads
	for loop in epoll ev uv event; do
		check "100 000 timers in a loop: $loop" idle_$loop
	done
	check "100 000 timers in a loop: asyncio" python3 /bin/idle_asyncio
	check "idle timeouts as commands of io_uring" uring_example
	rmmod callout || wrong "the module did not unload"
done
finish
