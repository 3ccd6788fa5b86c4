# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh disable=SC2034,SC2154
# WireGuard between two network namespaces: as many interfaces in each, each a peer of each, so that
# the pairs of peers that keep sessions are the square. A peer has five timers. The functions, for
# the tests.
#
# Interface wgR of a has 10.R.C.1, and wgC of b has 10.R.C.2, for their session.

peers=${CLIENTS_PEERS:-1024}
side=1
while [ $((side * side)) -lt "$peers" ]; do side=$((side + 1)); done
peers=$((side * side))

in_a() { ip netns exec a "$@"; }
in_b() { ip netns exec b "$@"; }

make_keys() {
	for host in a b; do
		for i in $(seq $side); do
			/sbin/wg genkey > "/tmp/$host$i.key"
			/sbin/wg pubkey < "/tmp/$host$i.key" > "/tmp/$host$i.pub"
		done
	done
}

# configuration HOST NUMBER: only a knows the address of b.
configuration() {
	echo "[Interface]"
	echo "PrivateKey = $(cat "/tmp/$1$2.key")"
	case $1 in
	a)
		echo "ListenPort = $((10000 + $2))"
		for c in $(seq $side); do
			echo "[Peer]"
			echo "PublicKey = $(cat "/tmp/b$c.pub")"
			echo "AllowedIPs = 10.$2.$c.2/32"
			echo "Endpoint = 192.168.0.2:$((20000 + c))"
		done ;;
	b)
		echo "ListenPort = $((20000 + $2))"
		for r in $(seq $side); do
			echo "[Peer]"
			echo "PublicKey = $(cat "/tmp/a$r.pub")"
			echo "AllowedIPs = 10.$r.$2.1/32"
		done ;;
	esac
}

# commands HOST: what ip does there
commands() {
	awk -v host="$1" -v side=$side 'BEGIN {
		for (i = 1; i <= side; i++) {
			print "link add wg" i " type wireguard"
			print "link set wg" i " up"
			for (k = 1; k <= side; k++) {
				pair = host == "a" ? "10." i "." k : "10." k "." i
				mine = pair (host == "a" ? ".1" : ".2")
				its = pair (host == "a" ? ".2" : ".1")
				print "address add " mine "/32 dev wg" i
				print "route add " its "/32 dev wg" i " src " mine
			}
		}
	}'
}

connect() {
	ip netns add a && ip netns add b &&
		ip link add va netns a type veth peer name vb netns b &&
		ip -n a address add 192.168.0.1/24 dev va &&
		ip -n b address add 192.168.0.2/24 dev vb &&
		ip -n a link set lo up && ip -n b link set lo up &&
		ip -n a link set va up && ip -n b link set vb up || return 1
	make_keys
	for host in a b; do
		commands $host > /tmp/commands
		ip -n $host -batch /tmp/commands || return 1
		for i in $(seq $side); do
			configuration $host "$i" > /tmp/configuration
			ip netns exec $host /sbin/wg setconf "wg$i" /tmp/configuration || return 1
		done
	done
}

echoes() { in_a clients_udp send $side $side 30; }

# persist SECONDS: the peers of one interface
persist() {
	for c in $(seq $side); do
		in_a /sbin/wg set wg1 peer "$(cat "/tmp/b$c.pub")" persistent-keepalive "$1" ||
			return 1
	done
}

start_wireguard() {
	check "load wireguard.ko" load_client wireguard
	check "two namespaces, $peers pairs of peers" quietly connect
	/sbin/ip netns exec b clients_udp echo &
	echo=$!
	sleep 1
}
