#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Job: a part of what replaced.sh compares the kernel whose timer_list is a callout by with
# its origin, in REPLACED:
#
#   net      TCP over loopback and over a lossy link, WireGuard, block devices, CPUs unplugged
#   tests    the kernel's own selftests of timers, WireGuard's long times; for boot.sh -i
#   counts   a load whose timers are counted by handler; for boot.sh -i
#   costs    instructions of operations; for boot.sh -i
#   late     lateness by distance; for boot.sh -i
#   idle     an hour in which nothing is to do; for boot.sh -i
#
# Lines "replaced-KIND: ..." are results.

# shellcheck source=qemu/tap.sh
. /lib/tap.sh

export PATH="$PATH:/usr/sbin"
tracing=/sys/kernel/tracing

# The shell would run its own.
ip() { /usr/sbin/ip "$@"; }
tc() { /usr/sbin/tc "$@"; }

which_kernel() {
	if [ "${CALLOUT_KERNEL#unreplaced}" = "$CALLOUT_KERNEL" ]; then
		[ -d $tracing/events/callout ]
	else
		[ ! -d $tracing/events/callout ]
	fi
}

# Two namespaces, a and b, with a link between them that has a delay and loses packets.
make_link() {
	mkdir -p /var/run
	ip netns add a && ip netns add b &&
	ip link add va netns a type veth peer name vb netns b &&
	ip -n a addr add 10.0.0.1/24 dev va && ip -n b addr add 10.0.0.2/24 dev vb &&
	ip -n a link set lo up && ip -n b link set lo up &&
	ip -n a link set va up && ip -n b link set vb up &&
	tc -n a qdisc add dev va root netem delay 5ms loss "$1" &&
	tc -n b qdisc add dev vb root netem delay 5ms loss "$1"
}

# serve ADDRESS [COMMAND PREFIX]: a server, which stays
serve() {
	address=$1
	shift
	"$@" net_load serve "$address" 5000 &
	server=$!
	sleep 1
}

unserve() {
	# Connections' processes may be ending.
	killall net_load || :
	wait "$server" || :
}

# net_works ADDRESS CONNECTIONS REQUESTS BYTES [COMMAND PREFIX]
net_works() {
	to=$1 connections=$2 requests=$3 bytes=$4
	shift 4
	"$@" net_load ask "$to" 5000 "$connections" "$requests" "$bytes" | tee /tmp/asked
	grep -q "^ok $connections " /tmp/asked
}

make_wireguard() {
	umask 077
	wg genkey > /tmp/key.a && wg genkey > /tmp/key.b
	wg pubkey < /tmp/key.a > /tmp/public.a && wg pubkey < /tmp/key.b > /tmp/public.b
	for one in a b; do
		ip -n $one link add wg0 type wireguard || return 1
	done
	ip -n a addr add 10.1.0.1/24 dev wg0 && ip -n b addr add 10.1.0.2/24 dev wg0 &&
	ip netns exec a wg set wg0 private-key /tmp/key.a listen-port 5001 peer \
		"$(cat /tmp/public.b)" allowed-ips 10.1.0.2/32 endpoint 10.0.0.2:5002 \
		persistent-keepalive "$1" &&
	ip netns exec b wg set wg0 private-key /tmp/key.b listen-port 5002 peer \
		"$(cat /tmp/public.a)" allowed-ips 10.1.0.1/32 endpoint 10.0.0.1:5001 &&
	ip -n a link set wg0 up && ip -n b link set wg0 up
}

handshake() { ip netns exec a wg show wg0 latest-handshakes | cut -f 2; }

# The peer vanishes for 8 s, longer than a handshake's first retry, and is back.
peer_vanishes() {
	ip -n b link set vb down
	if ip netns exec a ping -c 2 -W 4 10.1.0.2 > /dev/null; then return 1; fi
	sleep 8
	ip -n b link set vb up
	ip netns exec a ping -c 30 -W 2 10.1.0.2 | grep -q ' [1-9][0-9]* packets received'
}

# What is written to a loop device comes back.
block() {
	truncate -s 8M /tmp/image
	loop=$(losetup -f)
	losetup "$loop" /tmp/image
	dd if=/dev/urandom of=/tmp/data bs=1M count=4 2> /tmp/dd
	dd if=/tmp/data of="$loop" bs=64k conv=fsync 2> /tmp/dd
	dd if="$loop" bs=64k count=64 2> /tmp/dd | cmp - /tmp/data
	status=$?
	losetup -d "$loop"
	return $status
}

# CPUs come and go, in each order, while TCP and WireGuard run.
hotplug_under_load() {
	net_works 10.1.0.2 8 200 2000 ip netns exec a > /tmp/load &
	load=$!
	for round in 1 2 3 4 5; do
		for cpu in 1 2 3; do
			echo 0 > /sys/devices/system/cpu/cpu"$cpu"/online || return 1
		done
		sleep 1
		for cpu in $([ $((round % 2)) = 0 ] && echo 1 2 3 || echo 3 2 1); do
			echo 1 > /sys/devices/system/cpu/cpu"$cpu"/online || return 1
		done
	done
	wait $load
}

net() {
	check "4 CPUs" [ "$(nproc)" -eq 4 ]
	ip link set lo up
	serve 127.0.0.1
	check "TCP over loopback" net_works 127.0.0.1 16 200 2000
	unserve
	check "a lossy link" make_link 3%
	serve 10.0.0.2 ip netns exec b
	check "TCP with loss" net_works 10.0.0.2 16 60 4000 ip netns exec a
	check "TCP with loss, bulk" net_works 10.0.0.2 4 2 1000000 ip netns exec a
	unserve
	check "WireGuard" make_wireguard 1
	serve 10.1.0.2 ip netns exec b
	check "TCP over WireGuard with loss" net_works 10.1.0.2 8 30 2000 ip netns exec a
	check "a peer that vanishes" peer_vanishes
	check "hotplug under load" hotplug_under_load
	unserve
	check "block devices" block
	check "CPUs are back" [ "$(nproc)" -eq 4 ]
}

# selftest NAME [ARGUMENTS]: the result of one of the kernel's, and of its parts, if it tells. Those
# of 6.12 do not all pass on 6.12: scripts/measure/replaced.sh compares the two kernels.
selftest() {
	status=ok
	PATH=/timers:$PATH timeout 600 "$@" > /tmp/selftest 2>&1 || status="not ok ($?)"
	[ "$status" = ok ] || tail -n 20 /tmp/selftest
	echo "replaced-selftest: $*,$status"
	sed -nE "s/^(ok|not ok) [0-9]+ (.*)/replaced-selftest: $1: \2,\1/p" /tmp/selftest
}

# A quarter of an hour of WireGuard: keys are renewed every two minutes.
wireguard_for_long() {
	ip netns exec a ping -c 5 10.1.0.2 > /dev/null
	renewed=0
	last=$(handshake)
	for _ in $(seq 15); do
		sleep 60
		ip netns exec a ping -c 2 10.1.0.2 > /dev/null
		now=$(handshake)
		[ "$now" = "$last" ] || renewed=$((renewed + 1))
		last=$now
	done
	echo "replaced-wireguard: renewed,$renewed"
	[ "$renewed" -ge 5 ] && [ "$renewed" -le 8 ]
}

tests() {
	high_resolution
	selftest nanosleep
	selftest nsleep-lat
	selftest set-timer-lat
	selftest mqueue-lat
	selftest posix_timers
	selftest inconsistency-check -t 1 -c 1
	selftest threadtest -t 2 -n 4
	selftest valid-adjtimex
	selftest set-tz
	selftest leap-a-day -i 1
	check "a link" make_link 0%
	check "WireGuard" make_wireguard 25
	check "WireGuard renews its keys" wireguard_for_long
}

# count_begin EVENT KEY; count_end KIND EVENT: how often, by that key
count_begin() { echo "hist:keys=$2" > "$tracing/events/$1/trigger"; }

count_end() {
	tr -s ' ' < "$tracing/events/$2/hist" |
		sed -n "s/^{ [a-z]*: \[[0-9a-f]*\] \([^ ]*\) .*hitcount: \([0-9]*\).*/\1,\2/p" |
		while read -r line; do echo "replaced-$1: $line"; done
	echo "replaced-$1: total,$(sed -n 's/^ *Hits: //p' "$tracing/events/$2/hist")"
}

load_to_count() {
	net_works 127.0.0.1 8 100 2000 &&
		net_works 10.0.0.2 8 50 4000 ip netns exec a && sleep 60
}

counts() {
	quiet_watchdogs
	ip link set lo up
	make_link 3%
	if [ -d $tracing/events/callout ]; then
		begin=callout/callout_start end=callout/callout_expire_entry
		cancel=callout/callout_cancel
	else
		begin=timer/timer_start end=timer/timer_expire_entry
		cancel=timer/timer_cancel
	fi
	net_load serve 127.0.0.1 5000 &
	ip netns exec b net_load serve 10.0.0.2 5000 &
	sleep 1
	# Tracing costs instructions.
	hostname load
	check "the load" load_to_count
	hostname end
	count_begin $begin function.sym
	count_begin $end function.sym
	count_begin $cancel common_cpu
	check "the load, traced" load_to_count
	count_end armed $begin
	count_end expired $end
	echo "replaced-dequeued: total,$(sed -n 's/^ *Hits: //p' "$tracing/events/$cancel/hist")"
}

# probe KIND [PARAMETERS]: what timer_probe.ko measures
probe() {
	dmesg -c > /dev/null
	insmod /lib/timer_probe.ko "$@" || return 1
	dmesg | sed -n 's/.*probe-\([a-z]*: .*\)/replaced-\1/p' | tee /tmp/probed
	[ -s /tmp/probed ]
}

# Requests over loopback, of one connection: a CPU that is never idle. Marked for count_plugin.so.
requests() {
	ip link set lo up
	serve 127.0.0.1
	net_works 127.0.0.1 1 200 100
	hostname requests
	check "requests" net_works 127.0.0.1 1 2000 100
	hostname end
	unserve
}

costs() {
	high_resolution
	quiet_watchdogs
	check "costs" probe
	requests
}

late() {
	high_resolution
	quiet_watchdogs
	check "lateness" probe late=1
	check "none is early" [ "$(awk -F, '/late/ { sum += $4 } END { print sum }' \
		/tmp/probed)" = 0 ]
	check "no sleep is shorter" grep -q '^replaced-sleep: [1-9][0-9]*,0$' /tmp/probed
}

interrupts() { awk '/^intr/ { print $2 }' /proc/stat; }

bases=/sys/kernel/debug/callout/bases

# counted COLUMN: by all bases of the facility
counted() {
	awk -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i; next }
		{ sum += $at } END { print sum + 0 }' $bases
}

idle() {
	high_resolution
	quiet_watchdogs
	sleep 5
	if [ -e $bases ]; then
		hops=$(counted hops)
		wakeups=$(counted wakeups)
	fi
	before=$(interrupts)
	start=$(cut -d ' ' -f 1 /proc/uptime)
	hostname idle
	sleep 3600
	hostname end
	echo "replaced-idle: interrupts,$(($(interrupts) - before))"
	if [ -e $bases ]; then
		hops=$(($(counted hops) - hops))
		echo "replaced-idle: hops,$hops"
		echo "replaced-idle: wake-ups for what is due,$(($(counted wakeups) - wakeups))"
	fi
	echo "replaced-idle: seconds,$(echo "$(cut -d ' ' -f 1 /proc/uptime) $start" |
		awk '{ printf "%.2f", $1 - $2 }')"
	[ ! -e $bases ] || check "no wake-up before a far tick" [ "$hops" = 0 ]
	check "an hour" [ "$(cut -d . -f 1 /proc/uptime)" -ge 3600 ]
}

check "the kernel's timers are the kind that its name says" which_kernel
$REPLACED
finish
