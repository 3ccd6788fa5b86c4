# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh disable=SC2154
# WireGuard's peers are removed and added, its interfaces and the link go down and up, on all CPUs
# at once, while their timers expire and are moved. Not for boot.sh -i.

# shellcheck source=qemu/jobs/clients/peers.sh
. /lib/clients/peers.sh

# repeat COMMAND...: until the end
repeat() {
	while [ ! -e /tmp/end ]; do
		"$@" || { echo "$*" >> /tmp/churn_failed; return; }
		echo . >> /tmp/churned
	done
}

# It ends each peer of an interface and makes another with its key, which sends at once.
renew() {
	in_a /sbin/wg setconf "wg$1" "/tmp/busy$1"
}

# Of an interface that is down no timer is set. Its routes go.
interface_flaps() {
	ip -n b link set wg1 down && ip -n b link set wg1 up
}

link_flaps() {
	ip -n b link set vb down && sleep 0.3 && ip -n b link set vb up && sleep 1
}

keep_sending() {
	in_a clients_udp send $side $side 0 && sleep 0.2
}

routes_return() {
	for r in $(seq $side); do
		ip -n b route replace "10.$r.1.1/32" dev wg1 src "10.$r.1.2" || return 1
	done
}

# Persistent keepalives a second: each peer of a has a timer that expires all the time.
churn() {
	rm -f /tmp/end /tmp/churn_failed /tmp/churned
	jobs=
	for i in $(seq $side); do
		configuration a "$i" |
			sed 's/^AllowedIPs.*/&\nPersistentKeepalive = 1/' > "/tmp/busy$i"
		repeat renew "$i" &
		jobs="$jobs $!"
	done
	for command in interface_flaps link_flaps keep_sending; do
		repeat $command &
		jobs="$jobs $!"
	done
	sleep "$1"
	touch /tmp/end
	for job in $jobs; do
		wait "$job"
	done
	echo "# $(wc -l < /tmp/churned) changes"
	[ ! -e /tmp/churn_failed ] || { cat /tmp/churn_failed; return 1; }
}

# Under load WireGuard loses a datagram of a handshake now and then, also with Linux's timers: only
# a peer that never answers is at fault.
answers() {
	for try in 1 2 3; do
		echo "# try $try"
		! echoes || return 0
	done
	return 1
}

start_wireguard
check "answers before" echoes
check "change everything all the time" churn "${CLIENTS_SECONDS:-20}"
check "routes" quietly routes_return
# The keys that the last peers have made are older than REKEY_TIMEOUT.
sleep 6
check "answers afterwards" answers
in_a clients_udp send $side $side 0
sleep 1
check "timers expired" expired wg_expired_send_persistent_keepalive "$peers" 1000000
kill "$echo"
check "end one side" ip netns delete a
check "and the other" ip netns delete b
check "wireguard.ko unloads" rmmod wireguard
