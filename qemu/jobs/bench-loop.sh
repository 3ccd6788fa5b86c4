#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Job: what idle timeouts cost event loops, for bench-loop.sh. For boot.sh -i.

# shellcheck source=qemu/tap.sh
. /lib/tap.sh

high_resolution
quiet_watchdogs
insmod /lib/callout.ko
loop_bench
loop_mixed
rmmod callout
# The program succeeded; bench-loop.sh judges its output.
echo 1 > /run/passed
