# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh disable=SC2154
# Fences of vgem, which their timers end after ten seconds in a handler with interrupts off
# (TIMER_IRQSAFE).

if [ ! -e "$clients/$timers/vgem.ko" ]; then
	echo "# this kernel has no graphics"
	return
fi
fences=1000
check "load vgem.ko" load_client vgem
clear_expired
check "$fences fences, half of them signalled" clients_fence $fences
# A signalled fence stays with its buffer, and so does its timer.
check "all timers expired" expired vgem_fence_timeout $fences
clients_fence $fences > /tmp/said &
fence=$!
sleep 5
kill $fence
clear_expired
sleep 10
check "none is left when their files are closed" expired vgem_fence_timeout 0
check "vgem.ko unloads" rmmod vgem
