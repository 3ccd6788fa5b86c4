# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh disable=SC2154
# The sessions of WireGuard's peers, by its own times: when keys are renewed, keepalives sent, peers
# that vanish given up, keys forgotten. Without load each of these has an exact number of expiries.

# shellcheck source=qemu/jobs/clients/peers.sh
. /lib/clients/peers.sh

# How often the timer of a peer expires that hears nothing: MAX_TIMER_HANDSHAKES of messages.h and
# one more try again, and then one gives up.
attempts=20

# handshakes HOST SINCE: how many of its peers had one then or later
handshakes() {
	ip netns exec "$1" /sbin/wg show all latest-handshakes |
		awk -v since="$2" '$3 > 0 && $3 >= since { n++ } END { print n + 0 }'
}

all_shook_hands() {
	in_both="$(handshakes a "$1") $(handshakes b "$1")"
	echo "# peers with a handshake: $in_both"
	[ "$in_both" = "$peers $peers" ]
}

# A row at a time: it takes a while.
check_handshakes() {
	check "$peers pairs of peers answer" echoes
	check "each had a handshake" all_shook_hands 1
	# On a slow kernel an answer can wait for seconds behind the others' handshakes, and its
	# peer have another handshake.
	sleep 20
	clear_expired
	check "answers without handshakes" echoes
	# Each had an answer, and had nothing more to say for ten seconds.
	sleep 15
	check "keepalives" expired wg_expired_send_keepalive "$peers"
	# A sender that is preempted before it sets this timer may have its answer by then, and
	# nothing more comes that would end the timer: on the debug kernel so it is for one or two,
	# also with Linux's own timers.
	check "none, or few, gave another up" expired wg_expired_new_handshake 0 $((peers / 32))
}

# The next datagram with a key of two minutes asks for a new one.
check_rekeys() {
	sleep 120
	then=$(date +%s)
	check "answers with old keys" echoes
	sleep 10
	check "each had another handshake" all_shook_hands "$then"
}

check_persistence() {
	clear_expired
	check "persistent keepalives" persist 25
	sleep 101
	check "one each 25 seconds" \
		expired wg_expired_send_persistent_keepalive $((3 * side)) $((4 * side))
	check "no more of them" persist 0
	sleep 30
	clear_expired
	sleep 60
	check "none came" expired wg_expired_send_persistent_keepalive 0
}

# Few are sent to, since sending takes time, and the first may not ask before the last check.
check_first_to_ask() {
	check "fresh keys" echoes
	sleep 30
	clear_expired
	ip -n b link set vb down
	then=$(date +%s)
	check "send to one interface's peers" in_a clients_udp send 1 $side 0
	# KEEPALIVE_TIMEOUT + REKEY_TIMEOUT, and less than a second.
	sleep $((then + 13 - $(date +%s)))
	check "too early to ask" expired wg_expired_new_handshake 0
	sleep 5
	check "each asks where the other is" expired wg_expired_new_handshake $side
	ip -n b link set vb up
	# REKEY_TIMEOUT: the next attempt of each has an answer.
	sleep 10
}

check_vanishing() {
	check "fresh keys" echoes
	sleep 30
	clear_expired
	ip -n b link set vb down
	check "send into the void" in_a clients_udp send $side $side 0
	sleep 20
	check "all ask" expired wg_expired_new_handshake "$peers"
	# REKEY_TIMEOUT and up to a third of a second, for each attempt. An attempt sooner than
	# REKEY_TIMEOUT after the last one sends nothing and is the last: a callout without any of
	# that third can be so soon. See begins_at_expires in timers.rst.
	sleep 130
	least=$((attempts * peers))
	[ "$timers" = linux ] || least=$peers
	check "and gives up" \
		expired wg_expired_retransmit_handshake "$least" $((attempts * peers))
	sleep 420
	check "keys are forgotten, on both sides" \
		expired wg_expired_zero_key_material $((2 * peers))
	ip -n b link set vb up
	then=$(date +%s)
	check "they come back" echoes
	check "and had a handshake" all_shook_hands "$then"
}

# An interface of the initial namespace goes with its other end, which is in a namespace that goes,
# when all of that one's are stopped: the kernel does that some time later, and all in one step.
add_witness() { ip link add "witness_$1" type veth peer name witness netns "$1"; }

witnesses_go() {
	for _ in $(seq 600); do
		[ -e /sys/class/net/witness_a ] || [ -e /sys/class/net/witness_b ] || return 0
		sleep 1
	done
	return 1
}

remove_some() {
	for c in $(seq 2 $side); do
		in_a /sbin/wg set wg1 peer "$(cat "/tmp/b$c.pub")" remove || return 1
		in_b /sbin/wg set "wg$c" peer "$(cat /tmp/a1.pub)" remove || return 1
	done
}

# All have their keys to forget pending, and the peers of the void a handshake.
check_removal() {
	ip -n b link set vb down
	in_a clients_udp send $side $side 0
	sleep 17
	check "remove peers that have timers" remove_some
	check "witnesses" eval 'add_witness a && add_witness b'
	check "the others" ip netns delete a
	check "on both sides" ip netns delete b
	check "their interfaces go" witnesses_go
	clear_expired
	sleep 600
	check "no timer is left" expired "wg_expired_.*" 0
	check "wireguard.ko unloads" rmmod wireguard
}

start_wireguard
check_handshakes
check_rekeys
check_persistence
check_first_to_ask
check_vanishing
kill "$echo"
check_removal
